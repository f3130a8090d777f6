//! The person's own editor on a text of a proposal.
//!
//! Owns the temporary file, which lies outside of every project and is gone afterwards. Must not
//! touch the project: what comes back is only a text.

#![expect(
    clippy::disallowed_methods,
    reason = "a temporary copy is made for the person's own editor, which the person starts"
)]

use std::fs;
use std::io::Write;
use std::process::Command;

use crate::ui::OutsideEdit;

/// Starts the editor on the text, waits for its end, and reads what it left. The terminal must
/// have been given back before.
///
/// # Errors
/// In words for the person: when there is no editor, it cannot be started, it fails, or what it
/// left cannot be read.
pub fn edit(edit: &OutsideEdit) -> Result<String, String> {
    let line = editor(|name| std::env::var(name).ok())?;
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or_default();
    // The whole name goes at the end, so that the editor knows the language by its ending.
    let suffix = format!("-{}", edit.name);
    let mut file = tempfile::Builder::new()
        .prefix("firmhand-")
        .suffix(&suffix)
        .tempfile()
        .map_err(|error| format!("cannot make a temporary file for the editor: {error}"))?;
    file.write_all(edit.text.as_bytes())
        .and_then(|()| file.flush())
        .map_err(|error| format!("cannot write the temporary file for the editor: {error}"))?;
    let status = Command::new(program)
        .args(words)
        .arg(file.path())
        .status()
        .map_err(|error| format!("cannot start `{line}`: {error} · set $VISUAL or $EDITOR"))?;
    if !status.success() {
        return Err(format!("`{line}` ended with {status}; nothing was decided, nothing is lost"));
    }
    // Editors may replace the file, so it is read by its name.
    let bytes = fs::read(file.path())
        .map_err(|error| format!("cannot read back what `{line}` wrote: {error}"))?;
    String::from_utf8(bytes)
        .map_err(|_| format!("`{line}` left no UTF-8 text; nothing was decided"))
}

/// The person's editor with its arguments.
fn editor(variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(variable)
        .map(|line| line.trim().to_owned())
        .find(|line| !line.is_empty())
        .ok_or_else(|| "no editor is set: set $VISUAL or $EDITOR, or edit here instead".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visual_goes_before_editor_and_none_is_said() {
        let both = |name: &str| Some(if name == "VISUAL" { "code -w" } else { "vi" }.to_owned());
        assert_eq!(editor(both).unwrap(), "code -w");
        let empty = |name: &str| Some(if name == "VISUAL" { " " } else { "vi" }.to_owned());
        assert_eq!(editor(empty).unwrap(), "vi");
        assert!(editor(|_| None).unwrap_err().contains("$EDITOR"));
    }
}
