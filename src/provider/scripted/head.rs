//! What a script is about, read without its steps and files.
//!
//! A list of recordings needs no more. Must not promise that the rest can be played: [`parse_script`]
//! does.
//!
//! [`parse_script`]: super::parse_script

use serde::Deserialize;
use toml::Spanned;

use super::load::{ScriptSource, TEAM};
use crate::model::UserError;

/// What a script is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptHead {
    /// The person's request that it answers.
    pub task: String,
    /// The team that was recorded.
    pub team: String,
    /// The project it begins with, a folder of `assets/projects`; `None`: an empty one.
    pub project: Option<String>,
}

#[derive(Deserialize)]
struct HeadTable {
    task: String,
    team: Option<String>,
    project: Option<Spanned<String>>,
}

/// Reads what the script in `text` is about; `origin` is its file in messages.
///
/// # Errors
/// When these entries are missing or wrong; the error names file and line.
pub fn script_head(origin: &str, text: &str) -> Result<ScriptHead, UserError> {
    // Entries of the script itself can only stand before the first table. A text of several lines
    // that is cut here does not parse.
    let start = ScriptSource { file: origin, text: before_tables(text) };
    let table: HeadTable = match start.parse() {
        Ok(table) => table,
        Err(_) => ScriptSource { file: origin, text }.parse()?,
    };
    Ok(ScriptHead {
        project: start.project(table.project.as_ref())?,
        task: table.task,
        team: table.team.unwrap_or_else(|| TEAM.to_owned()),
    })
}

fn before_tables(text: &str) -> &str {
    let end = match text.starts_with('[') {
        true => Some(0),
        false => text.find("\n["),
    };
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_enough_and_a_text_with_brackets_is_read_whole() {
        let head = script_head("x", "task = \"a\"\nproject = \"p-1\"\n[timing]\nnot toml").unwrap();
        let project = Some("p-1".to_owned());
        assert_eq!(head, ScriptHead { task: "a".into(), team: TEAM.into(), project });
        let text = "task = \"\"\"a\n[b]\nc\"\"\"\nteam = \"t\"\n[timing]\nthink_ms = 1\n";
        let head = script_head("x", text).unwrap();
        assert_eq!((head.task.as_str(), head.team.as_str()), ("a\n[b]\nc", "t"));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named_with_its_line() {
        assert!(script_head("x", "[timing]\nthink_ms = 1\n").unwrap_err().why.contains("task"));
        let wrong = script_head("file.toml", "task = \"a\"\nproject = \"../b\"\n").unwrap_err();
        assert!(wrong.what.contains("file.toml, line 2"), "{}", wrong.what);
    }
}
