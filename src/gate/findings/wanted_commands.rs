//! Whether a task wants something to run on the developer's machine.
//!
//! Owns how a task is read for that; the words are those of `assets/findings/wanted_commands.toml`.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct CommandWords {
    words: HashSet<String>,
    phrases: Vec<String>,
}

static WORDS: LazyLock<CommandWords> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../assets/findings/wanted_commands.toml"))
        .unwrap_or_default()
});

/// Whether a task, in small letters, wants something to run on the machine.
pub(super) fn are_wanted(task: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | ':' | ';');
    let words = task.split(ends).map(|word| word.trim_end_matches('.'));
    words.into_iter().any(|word| WORDS.words.contains(word))
        || WORDS.phrases.iter().any(|phrase| task.contains(phrase.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_wants_commands_by_its_words() {
        for task in ["write a script for it", "add host tests", "show the version (git)."] {
            assert!(are_wanted(task), "{task}");
        }
        for task in ["", "make the light blink", "describe the cities"] {
            assert!(!are_wanted(task), "{task}");
        }
    }
}
