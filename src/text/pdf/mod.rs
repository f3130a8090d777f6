//! The text of PDF documents, page by page.
//!
//! Owns what fonts mean, where text stands on a page, and how it becomes lines; the file's own
//! syntax is the library's. Pure: bytes come in. A document can be made to cost any amount of time
//! and memory, and the library may give up on one by panicking, so whoever reads a stranger's
//! document does so in a process of its own (see `app::documents`).

mod encoding;
mod font;
mod lines;
mod page;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use serde::{Deserialize, Serialize};

/// Pages that are read of one document.
const MOST_PAGES: usize = 2_000;

/// Bytes of text after which no further page is read.
const MOST_TEXT: usize = 4 << 20;

/// Letters without a meaning, in percent, from which on a text is worth nothing.
const MOST_UNKNOWN: usize = 30;

/// What a document says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PdfText {
    /// The text of each page that was read, in their order; empty where there is none.
    pub pages: Vec<String>,
    /// How many pages the document has.
    pub of: usize,
}

/// Why a document cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PdfFault {
    /// It cannot be opened without a password.
    Locked,
    /// It is encrypted in a way that nobody here knows.
    UnknownCipher,
    /// It is no PDF, or too damaged to find its pages.
    Damaged,
    /// It has this many pages, and none holds text.
    NoText(usize),
    /// Its fonts do not say which letters they draw.
    NoLetters,
}

/// Reads a document; pages beyond what is sensible are counted and not read.
///
/// # Errors
/// When it holds no text that can be read.
pub fn read(bytes: Vec<u8>) -> Result<PdfText, PdfFault> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => PdfFault::Locked,
        LoadPdfError::Decryption(
            DecryptionError::UnsupportedAlgorithm
            | DecryptionError::InvalidEncryption
            | DecryptionError::MissingIDEntry,
        ) => PdfFault::UnknownCipher,
        LoadPdfError::Invalid => PdfFault::Damaged,
    })?;
    let of = pdf.pages().len();
    if of == 0 {
        return Err(PdfFault::Damaged);
    }
    let mut pages = Vec::new();
    let (mut total, mut letters, mut unknown) = (0, 0, 0);
    let mut fonts = page::Fonts::default();
    for page in pdf.pages().iter().take(MOST_PAGES) {
        let text = page::text(page, &mut fonts);
        letters += text.chars().filter(|c| !c.is_whitespace()).count();
        unknown += text.matches(encoding::UNKNOWN).count();
        total += text.len();
        pages.push(text);
        if total > MOST_TEXT {
            break;
        }
    }
    if letters == 0 {
        return Err(PdfFault::NoText(of));
    }
    if unknown * 100 > letters * MOST_UNKNOWN {
        return Err(PdfFault::NoLetters);
    }
    Ok(PdfText { pages, of })
}

#[cfg(test)]
mod tests;
