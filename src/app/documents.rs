//! Documents that come with a task: read, bounded, made text.

use std::path::Path;

use crate::model::{Document, UserError};
use crate::text::sanitize;

/// Longest file that is read, in bytes.
const MOST_BYTES: u64 = 8 << 20;

/// Longest text that is given to the team, in bytes.
const MOST_TEXT: usize = 96 << 10;

/// Kinds of files that are text.
const KINDS: [&str; 3] = ["md", "txt", "csv"];

/// Reads a document.
///
/// # Errors
/// When it cannot be read, is too long, is of another kind, or is no text.
pub fn read(path: &Path) -> Result<Document, UserError> {
    let shown = path.display();
    let cannot =
        |why: String, fix: &str| UserError::new(format!("cannot attach {shown}"), why, fix);
    let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase());
    if !kind.as_deref().is_some_and(|kind| KINDS.contains(&kind)) {
        let why = format!("only {} files can be read", KINDS.join(", "));
        return Err(cannot(why, "save it as plain text or Markdown and attach that"));
    }
    let bytes = std::fs::metadata(path)
        .map_err(|error| cannot(error.to_string(), "see that the file exists"))?
        .len();
    if bytes > MOST_BYTES {
        let why = format!("it has {bytes} bytes, and {MOST_BYTES} are the most");
        return Err(cannot(why, "attach the part that matters for the task"));
    }
    let content =
        std::fs::read(path).map_err(|error| cannot(error.to_string(), "see that it is a file"))?;
    let Ok(text) = String::from_utf8(content) else {
        let why = "it is no text in UTF-8".to_owned();
        return Err(cannot(why, "save it as UTF-8 and attach it again"));
    };
    if text.trim().is_empty() {
        return Err(cannot("it is empty".to_owned(), "attach a file that says something"));
    }
    let clean = sanitize::block(&text).into_owned();
    let end = (0..=MOST_TEXT.min(clean.len())).rev().find(|&at| clean.is_char_boundary(at));
    let kept = clean.get(..end.unwrap_or(0)).unwrap_or_default().to_owned();
    let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let omitted = (clean.len() - kept.len()) as u64;
    Ok(Document { name, bytes, text: kept, omitted })
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
        let long = attach("a.txt", "ä".repeat(MOST_TEXT).as_bytes()).unwrap();
        assert_eq!(long.text.len() as u64 + long.omitted, 2 * MOST_TEXT as u64);
    }

    #[test]
    fn what_cannot_be_read_says_why_and_what_to_do() {
        for (name, content, why) in [
            ("a.exe", &b"x"[..], "only md, txt, csv"),
            ("a.txt", &b"\xff\xfe"[..], "UTF-8"),
            ("a.txt", &b" \n"[..], "empty"),
        ] {
            let error = attach(name, content).unwrap_err();
            assert!(error.why.contains(why) && !error.fix.is_empty(), "{error:?}");
        }
        assert!(read(Path::new("/nowhere/a.md")).unwrap_err().why.contains("No such file"));
    }
}
