//! Splits documents into passages, each form by its own rules.
//!
//! Pure: text in, passages out. Whatever is broken in a text becomes plain text; nothing is an
//! error here.

mod document;
mod error_codes;
mod header;
mod hints;
mod kconfig;
mod markdown;
mod rst;
mod source;
mod substitutions;
mod window;

use super::passage::Passage;
pub use document::{Document, SplitContext};
pub use header::names as names_in_header;
pub use kconfig::names as options_in;
pub use window::{Piece, WindowSize, cut};

/// The forms of documents that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Rst,
    Markdown,
    Header,
    Source,
    Kconfig,
    Hints,
    ErrorCodes,
    Text,
}

impl Form {
    /// The form of a file by its name; `None` for what is not read.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if name == "hints.yml" {
            return Some(Self::Hints);
        }
        if name == "esp_err_to_name.c" {
            return Some(Self::ErrorCodes);
        }
        if name.starts_with("Kconfig") && !name.ends_with(".py") {
            return Some(Self::Kconfig);
        }
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "rst" | "inc" => Some(Self::Rst),
            "md" | "markdown" => Some(Self::Markdown),
            "h" | "hpp" | "hh" => Some(Self::Header),
            "c" | "cpp" | "cc" | "cxx" | "ino" | "py" | "rs" => Some(Self::Source),
            "txt" | "csv" | "log" => Some(Self::Text),
            _ => None,
        }
    }
}

/// Splits a document.
#[must_use]
pub fn split(document: Document<'_>, form: Form, context: &SplitContext<'_>) -> Vec<Passage> {
    match form {
        Form::Rst => rst::split(document, context),
        Form::Markdown => markdown::split(document, context),
        Form::Header => header::split(document, context),
        Form::Source => source::split(document, context),
        Form::Kconfig => kconfig::split(document, context),
        Form::Hints => hints::split(document),
        Form::ErrorCodes => error_codes::split(document),
        Form::Text => plain(document, context),
    }
}

/// A text without structure, in windows that are named by their first line.
fn plain(document: Document<'_>, context: &SplitContext<'_>) -> Vec<Passage> {
    let title = document.path.rsplit('/').next().unwrap_or(document.path);
    document.windows(title, document.text, context.window)
}
