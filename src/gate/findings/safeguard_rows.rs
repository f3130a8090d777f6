//! The rows of `assets/findings/safeguards.toml`: what turns a protection off, and what asks for that.
//!
//! Must not know what a change holds.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::wishes;
use crate::model::ProjectPath;
use crate::text::shipped::shipped_table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SafeguardFile {
    safeguard: Vec<SafeguardRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SafeguardRow {
    #[serde(default)]
    new: Option<String>,
    #[serde(default)]
    old: Option<String>,
    text: String,
    words: Vec<String>,
    #[serde(default)]
    wishes: Vec<String>,
    /// Endings of the files that are read, or their names; all where there are none.
    #[serde(default)]
    files: Vec<String>,
    /// Whether a new file is warned of too, which takes nothing away.
    #[serde(default)]
    also_new: bool,
    /// Whether one more, or one less, counts although the file has others.
    #[serde(default)]
    each: bool,
    /// What makes it usual where it stands in one of the lines before.
    #[serde(default)]
    usual_behind: Option<String>,
    /// What may go where something else comes that does the same.
    #[serde(default)]
    same: Vec<[String; 2]>,
}

/// A way in which a protection is turned off.
pub(super) struct Safeguard {
    /// What turns it off; `None` where it only goes.
    pub(super) new: Option<Regex>,
    /// What stood there before, where the new text alone says nothing.
    pub(super) old: Option<Regex>,
    pub(super) text: String,
    /// What it is called.
    pub(super) words: Vec<String>,
    /// Words that alone ask for it.
    pub(super) wishes: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) also_new: bool,
    pub(super) each: bool,
    pub(super) usual_behind: Option<Regex>,
    /// What may go, and what does the same in a line that comes.
    pub(super) same: Vec<(Regex, Regex)>,
}

pub(super) static SAFEGUARDS: LazyLock<Vec<Safeguard>> = LazyLock::new(|| {
    load(include_str!("../../../assets/findings/safeguards.toml")).unwrap_or_default()
});

/// All that turns a protection off.
pub(super) static ANY_OFF: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let all = SAFEGUARDS.iter().filter_map(|guard| guard.new.as_ref());
    let all: Vec<String> = all.map(|off| format!("(?:{off})")).collect();
    RegexBuilder::new(&all.join("|")).multi_line(true).build().ok()
});

fn load(text: &str) -> Option<Vec<Safeguard>> {
    let file: SafeguardFile = shipped_table(text)?;
    let all = file.safeguard.into_iter().map(|entry| {
        let regex = |pattern: &Option<String>| match pattern {
            Some(pattern) => load_regex(pattern).map(Some),
            None => Some(None),
        };
        let (old, new) = (regex(&entry.old)?, regex(&entry.new)?);
        let usual_behind = regex(&entry.usual_behind)?;
        let SafeguardRow { text, words, wishes, files, also_new, each, same, .. } = entry;
        let pair = |[was, is]: [String; 2]| Some((load_regex(&was)?, load_regex(&is)?));
        let same = same.into_iter().map(pair).collect::<Option<_>>()?;
        Some(Safeguard { new, old, text, words, wishes, files, also_new, each, usual_behind, same })
    });
    all.collect()
}

fn load_regex(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).multi_line(true).build().ok()
}

impl Safeguard {
    pub(super) fn is_asked_for(&self, task: &str) -> bool {
        self.wishes.iter().any(|wish| task.contains(wish.as_str()))
            || wishes::wants_gone(task, &self.words)
    }

    /// Whether one of the three lines before a line makes it usual.
    pub(super) fn is_usual(&self, text: &str, line: u32) -> bool {
        let Some(usual) = &self.usual_behind else { return false };
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        text.lines().take(line).skip(line.saturating_sub(4)).any(|before| usual.is_match(before))
    }

    pub(super) fn is_for(&self, path: &ProjectPath) -> bool {
        let is = |of: &String| path.file_name() == of || path.extension() == Some(of.as_str());
        self.files.is_empty() || self.files.iter().any(is)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_read() {
        let all = load(include_str!("../../../assets/findings/safeguards.toml"));
        assert!(all.is_some_and(|all| all.len() >= 7));
    }
}
