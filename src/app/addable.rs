//! What may be added to the documents that are searched.
//!
//! Owns which paths are refused before anything is read, and the words for it. Must not know where
//! the list of documents is.

use std::env;
use std::path::{Path, PathBuf};

use crate::files;
use crate::knowledge::is_document;
use crate::model::UserError;
use crate::text::sanitize;

/// What can be read, in words.
const KINDS: &str = "Texts (.txt, .md, .rst, .csv, .log), PDF documents, and sources and headers of \
     C, C++, Python and Rust can be read.";

fn what(path: &Path) -> String {
    format!("Cannot add {}", sanitize::line(&path.display().to_string()))
}

/// What cannot be added, and why.
pub(super) fn refused(path: &Path, why: impl Into<String>, fix: impl Into<String>) -> UserError {
    UserError::new(what(path), why, fix)
}

/// The real path of a folder or a file that may be added.
///
/// # Errors
/// When nothing is there, it is neither a folder nor a file that can be read, or it is a folder with
/// everything that the person has.
pub(super) fn addable(named: &Path) -> Result<PathBuf, UserError> {
    let path = named.canonicalize().map_err(|error| {
        UserError::from_cause(what(named), &error).fix("Name a folder or a file that exists.")
    })?;
    if path.is_dir() {
        let home = env::var_os("HOME").and_then(|home| PathBuf::from(home).canonicalize().ok());
        if let Some(why) = too_wide(&path, home.as_deref()) {
            return Err(refused(named, why, "Name the folder in which the documents are."));
        }
        return Ok(path);
    }
    if let Err(error) = files::open(&path) {
        return Err(refused(named, error.to_string(), "Name a file or a folder that can be read."));
    }
    if !is_document(&path) {
        let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase());
        let (why, fix) = match kind.as_deref() {
            Some("html" | "htm" | "xhtml") => (
                "pages in HTML are not read".to_owned(),
                "Save it as text, or print it to a PDF document, and add that.".to_owned(),
            ),
            Some(kind) => (format!("files of the kind .{kind} are not read"), KINDS.to_owned()),
            None => ("its name does not tell what kind of file it is".to_owned(), KINDS.to_owned()),
        };
        return Err(refused(named, why, fix));
    }
    Ok(path)
}

/// Why a folder holds too much to be meant.
fn too_wide(path: &Path, home: Option<&Path>) -> Option<&'static str> {
    if path.parent().is_none() {
        return Some("that is everything on this machine");
    }
    match home {
        Some(home) if home == path => {
            Some("that is your whole home folder, with all that is private")
        }
        Some(home) if home.starts_with(path) => Some("your home folder is in it, and more"),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_everything_are_refused() {
        let home = Some(Path::new("/home/ada"));
        for path in ["/", "/home", "/home/ada"] {
            assert!(too_wide(Path::new(path), home).is_some(), "{path}");
        }
        for path in ["/home/ada/docs", "/home/eve", "/srv"] {
            assert_eq!(too_wide(Path::new(path), home), None, "{path}");
        }
        assert!(addable(Path::new("/")).unwrap_err().why.contains("everything"));
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_its_kind() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "Words.").unwrap();
            addable(&path)
        };
        let html = of("p.HTML").unwrap_err();
        assert!(html.why.contains("HTML") && html.fix.contains("PDF"), "{html:?}");
        assert!(of("a.docx").unwrap_err().why.contains(".docx"));
        assert!(of("LICENCE").unwrap_err().fix.contains(".md"));
        assert!(addable(Path::new("/dev/null")).unwrap_err().why.contains("device"));
        assert!(addable(&folder.path().join("none.md")).unwrap_err().fix.contains("exists"));
        for name in ["a.md", "b.PDF", "c.h"] {
            assert!(of(name).is_ok(), "{name}");
        }
        assert!(addable(folder.path()).is_ok());
    }
}
