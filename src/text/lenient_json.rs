//! JSON with commas behind the last entry, as editors read their settings.
//!
//! Owns which files are read like that. Must not parse.

use std::borrow::Cow;

use super::lines::blanked;
use crate::model::ProjectPath;

/// Files, by their names, whose readers accept such a comma.
const NAMES: [&str; 4] =
    ["devcontainer.json", ".devcontainer.json", "tsconfig.json", "jsconfig.json"];

/// Whether the reader of a file accepts a comma behind the last entry.
pub(super) fn is_for(path: &ProjectPath) -> bool {
    let text = path.as_str();
    text.starts_with(".vscode/") || text.contains("/.vscode/") || NAMES.contains(&path.file_name())
}

/// The same text with blanks in place of such commas.
pub(super) fn strict(text: &str) -> Cow<'_, str> {
    let commas = last_commas(text);
    if commas.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(blanked(text, commas.into_iter().map(|comma| comma..comma + 1)))
}

/// Commas between an entry and the bracket that closes its list, comments left out.
fn last_commas(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let (mut found, mut comma, mut at) = (Vec::new(), None, 0);
    // Whether a comma would follow an entry.
    let mut has_entry = false;
    while let Some(byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'/', Some(b'/')) => {
                at = memchr::memchr(b'\n', bytes.get(at..).unwrap_or_default())
                    .map_or(bytes.len(), |length| at + length);
                continue;
            }
            (b'/', Some(b'*')) => {
                let rest = text.get(at + 2..).unwrap_or_default();
                at = rest.find("*/").map_or(bytes.len(), |length| at + length + 4);
                continue;
            }
            (b'"', _) => {
                at = end_of_text(bytes, at);
                (comma, has_entry) = (None, true);
                continue;
            }
            (b',', _) => {
                comma = has_entry.then_some(at);
                has_entry = false;
            }
            (b'}' | b']', _) => {
                found.extend(comma.take());
                has_entry = true;
            }
            (b' ' | b'\t' | b'\r' | b'\n', _) => {}
            (byte, _) => {
                has_entry = !matches!(byte, b'{' | b'[' | b':');
                comma = None;
            }
        }
        at += 1;
    }
    found
}

/// The byte behind the text in quotes that begins at `at`.
fn end_of_text(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' | b'\n' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commas_behind_last_entries_go() {
        for (text, wanted) in [
            ("{\"a\": 1,}", "{\"a\": 1 }"),
            ("[1, 2, // last\n]", "[1, 2  // last\n]"),
            ("{\"a\": [true,], /* b */ }", "{\"a\": [true ]  /* b */ }"),
            ("{\"a\": \",}\"}", "{\"a\": \",}\"}"),
            ("[1,,]", "[1,,]"),
            ("[,]", "[,]"),
            ("{\"a\":,}", "{\"a\":,}"),
            ("[1 2,", "[1 2,"),
        ] {
            assert_eq!(strict(text), wanted);
        }
    }

    #[test]
    fn editors_and_not_programs_read_such_files() {
        for (path, is) in [
            (".vscode/settings.json", true),
            ("app/.vscode/tasks.json", true),
            (".devcontainer/devcontainer.json", true),
            ("package.json", false),
            ("main/data.json", false),
        ] {
            assert_eq!(is_for(&ProjectPath::new(path).unwrap()), is, "{path}");
        }
    }
}
