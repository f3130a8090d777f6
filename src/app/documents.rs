//! Documents that come with a task: read, bounded, made text.

use std::path::Path;

use super::pdf_apart;
use crate::files;
use crate::model::{Document, UserError};
use crate::text::pdf::PdfText;
use crate::text::{encoding, sanitize};

/// Longest text file that is read, in bytes.
const MOST_BYTES: u64 = 8 << 20;

/// Longest text that is given to the team, in bytes.
const MOST_TEXT: usize = 96 << 10;

/// Kinds of files that are text.
const KINDS: [&str; 3] = ["md", "txt", "csv"];

/// Reads a document.
///
/// # Errors
/// When it cannot be read, is too long, is of another kind, or holds no text.
pub fn read(path: &Path) -> Result<Document, UserError> {
    let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase());
    match kind.as_deref() {
        Some("pdf") => {
            let bytes = length(path, pdf_apart::MOST_BYTES)?;
            let text = pdf_apart::read(path).map_err(|(why, fix)| cannot(path, why, fix))?;
            let pages = u32::try_from(text.of).unwrap_or(u32::MAX);
            Ok(Document { pages: Some(pages), ..document(path, bytes, &numbered(&text)) })
        }
        Some(kind) if KINDS.contains(&kind) => read_text(path),
        _ => {
            let why = format!("only {} and pdf files can be read", KINDS.join(", "));
            Err(cannot(path, why, "Save it as plain text, Markdown or PDF and attach that."))
        }
    }
}

fn cannot(path: &Path, why: impl Into<String>, fix: impl Into<String>) -> UserError {
    UserError::new(format!("Cannot attach {}", path.display()), why, fix)
}

fn length(path: &Path, most: u64) -> Result<u64, UserError> {
    let there = std::fs::metadata(path)
        .map_err(|error| cannot(path, error.to_string(), "Check that the file exists."))?;
    if !there.is_file() {
        return Err(cannot(path, "it is not a file", "Name the document itself."));
    }
    let bytes = there.len();
    if bytes > most {
        let why = format!("it has {bytes} bytes; the limit is {most}");
        return Err(cannot(path, why, "Attach the part that matters for the task."));
    }
    Ok(bytes)
}

fn read_text(path: &Path) -> Result<Document, UserError> {
    let bytes = length(path, MOST_BYTES)?;
    let content = files::read(path, MOST_BYTES)
        .map_err(|error| cannot(path, error.to_string(), "Check that you can read it."))?;
    let Some(text) = encoding::decode(content) else {
        let fix = "Save it as text in UTF-8 and attach it again.";
        return Err(cannot(path, "its content is not text", fix));
    };
    if text.trim().is_empty() {
        return Err(cannot(path, "it is empty", "Attach a file with content."));
    }
    Ok(document(path, bytes, &text))
}

/// The document with as much of its text as a team is given.
fn document(path: &Path, bytes: u64, text: &str) -> Document {
    let clean = sanitize::block(text).into_owned();
    let end = (0..=MOST_TEXT.min(clean.len())).rev().find(|&at| clean.is_char_boundary(at));
    let kept = clean.get(..end.unwrap_or(0)).unwrap_or_default().to_owned();
    let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let omitted = (clean.len() - kept.len()) as u64;
    Document { name, bytes, text: kept, omitted, pages: None }
}

/// The text of all pages, each below its number, so that the team can say where something stands.
fn numbered(text: &PdfText) -> String {
    let mut all = String::new();
    for (number, page) in (1..).zip(&text.pages) {
        let page = if page.is_empty() { "(no text on this page)" } else { page };
        all.push_str(&format!("[page {number} of {}]\n{page}\n\n", text.of));
    }
    if text.pages.len() < text.of {
        let first = text.pages.len() + 1;
        all.push_str(&format!("[pages {first} to {} were not read]\n", text.of));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attach(name: &str, content: &[u8]) -> Result<Document, UserError> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(name);
        std::fs::write(&path, content).unwrap();
        read(&path)
    }

    #[test]
    fn text_comes_clean_and_bounded() {
        let document = attach("spec.MD", "It \u{1b}[31mblinks.\n".as_bytes()).unwrap();
        assert_eq!((document.name.as_str(), document.omitted), ("spec.MD", 0));
        assert!(!document.text.contains('\u{1b}') && document.text.contains("blinks"));
        let latin = attach("a.txt", b"Gr\xF6\xDFe und Gewicht\n").unwrap();
        assert_eq!(latin.text, "Größe und Gewicht\n");
        let long = attach("a.txt", "ä".repeat(MOST_TEXT).as_bytes()).unwrap();
        assert_eq!(long.text.len() as u64 + long.omitted, 2 * MOST_TEXT as u64);
    }

    #[test]
    fn what_cannot_be_read_says_why_and_what_to_do() {
        for (name, content, why) in [
            ("a.exe", &b"x"[..], "only md, txt, csv"),
            ("a.txt", &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], "not text"),
            ("a.txt", &b" \n"[..], "empty"),
        ] {
            let error = attach(name, content).unwrap_err();
            assert!(error.why.contains(why) && !error.fix.is_empty(), "{error:?}");
        }
        for name in ["/nowhere/a.md", "/nowhere/a.pdf"] {
            assert!(read(Path::new(name)).unwrap_err().why.contains("No such file"));
        }
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder.pdf");
        std::fs::create_dir(&folder).unwrap();
        assert!(read(&folder).unwrap_err().why.contains("not a file"));
        let giant = place.path().join("giant.pdf");
        std::fs::File::create(&giant).unwrap().set_len(pdf_apart::MOST_BYTES + 1).unwrap();
        assert!(read(&giant).unwrap_err().why.contains("the limit is"));
    }

    #[test]
    fn pages_are_numbered_and_those_left_out_are_named() {
        let text = PdfText { pages: vec!["One.".into(), String::new()], of: 4 };
        let expected = "[page 1 of 4]\nOne.\n\n[page 2 of 4]\n(no text on this page)\n\n\
                        [pages 3 to 4 were not read]\n";
        assert_eq!(numbered(&text), expected);
    }
}
