//! What a task wants of a partition table: which entries may move or shrink, and what may be lost.
//!
//! Owns how a task is read for that; the words are those of `assets/findings/layout_words.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::task_kind;
use crate::model::{Finding, FindingLevel};
use crate::text::shipped::shipped_table;
use crate::toolchain::partition_csv::{CsvEntry, is_app};

/// Words of tasks that change a partition table.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct TaskWords {
    layout: Vec<String>,
    space: Vec<String>,
    files: Vec<String>,
    given_up: Vec<String>,
    smaller: Vec<String>,
    kept: Vec<String>,
}

static WORDS: LazyLock<TaskWords> = LazyLock::new(|| {
    shipped_table(include_str!("../../../assets/findings/layout_words.toml")).unwrap_or_default()
});

/// Whether a part of a sentence says that stored data may go.
fn gives_data_up(task: &str) -> bool {
    let mut parts = task.split(['.', ',', ';', ':', '(', ')', '\n']);
    let is_kept = |part: &str| {
        let mut words = part.split(|c: char| !c.is_alphanumeric());
        words.any(|word| WORDS.kept.iter().any(|kept| kept == word))
    };
    parts.any(|part| {
        WORDS.given_up.iter().any(|words| part.contains(words.as_str())) && !is_kept(part)
    })
}

/// Whether a task, in small letters, lets a partition get smaller: "nvs may shrink to 16 KB", "shrink
/// nvs".
fn may_shrink(label: &str, task: &str) -> bool {
    /// Words between the name and what becomes of it.
    const NEAR: usize = 6;
    /// What follows where nothing else is to get smaller.
    const BEHIND: [&str; 8] = ["to", "by", "from", "auf", "um", "werden", "sein", "a"];
    let is_smaller =
        |word: &&str| WORDS.smaller.iter().any(|start| word.starts_with(start.as_str()));
    // "Take 64 KB for it from the end of \"scratch\"".
    let takes = |part: &str| {
        let words = part.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let from = words.iter().position(|word| matches!(*word, "from" | "von" | "aus" | "de"));
        let takes =
            words.iter().any(|word| matches!(*word, "take" | "taken" | "nimm" | "prends" | "toma"));
        let behind = from.and_then(|at| words.get(at + 1..)).unwrap_or_default();
        let is_amount = |word: &&str| {
            let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let unit = word.get(digits.len()..).unwrap_or_default();
            let is_unit =
                |unit: &str| matches!(unit, "k" | "kb" | "kib" | "m" | "mb" | "mib" | "bytes");
            is_unit(unit) || word.starts_with("0x")
        };
        takes && words.iter().any(is_amount) && behind.iter().take(5).any(|word| *word == label)
    };
    if !label.is_empty() && task.split(['.', ';', '\n']).any(takes) {
        return true;
    }
    !label.is_empty()
        && task.split(['.', ',', ';', '\n']).any(|part| {
            let words = part.split(|c: char| !c.is_alphanumeric() && c != '_');
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            let places = (0..words.len()).filter(|at| words.get(*at).is_some_and(is_smaller));
            let is_of_label = |at: usize| {
                let before = words.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
                let next = words.get(at + 1);
                let is_all = next.is_none_or(|word| BEHIND.contains(word));
                let orders = [next, words.get(at + 2).filter(|_| next == Some(&"the"))];
                before.contains(&label) && is_all || orders.contains(&Some(&label))
            };
            let is_kept = words.iter().any(|word| WORDS.kept.iter().any(|kept| kept == word));
            !is_kept && places.into_iter().any(is_of_label)
        })
}

/// Whether a task, in small letters, gives a partition another name: a sentence with the old and, behind
/// it, the new one.
fn may_rename(old: &str, new: &str, task: &str) -> bool {
    let (old, new) = (old.to_lowercase(), new.to_lowercase());
    !old.is_empty()
        && !new.is_empty()
        && task.split(['.', ';', '\n']).any(|part| {
            let words = part.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'));
            let mut words = words.filter(|word| !word.is_empty());
            let is_kept = |word: &str| WORDS.kept.iter().any(|kept| kept == word);
            let has_kept = words.clone().any(is_kept);
            !has_kept && words.any(|word| word == old) && words.any(|word| word == new)
        })
}

/// What moves because the task makes room is only a note; settings are always reported.
pub(super) fn as_asked_for(
    mut findings: Vec<Finding>,
    rows: &[CsvEntry],
    task: &str,
) -> Vec<Finding> {
    let has = |words: &[String]| words.iter().any(|word| task.contains(word.as_str()));
    for finding in &mut findings {
        let mut labels = finding.text.split('`').skip(1).step_by(2);
        let (label, other) = (labels.next().unwrap_or_default(), labels.next().unwrap_or_default());
        if finding.text.starts_with("shrinks") && may_shrink(label, task)
            || finding.text.starts_with("renames") && may_rename(label, other, task)
        {
            finding.level = FindingLevel::Note;
        }
    }
    let may_move = has(&WORDS.space) || gives_data_up(task);
    if !has(&WORDS.layout) || !may_move || task_kind::of(task).is_some() {
        return findings;
    }
    for finding in &mut findings {
        let Some(label) = finding.text.split('`').nth(1) else { continue };
        let row = rows.iter().find(|row| row.partition.label == label);
        let is_app = row.is_some_and(|row| is_app(&row.partition.kind));
        let holds_files = row.is_some_and(|row| {
            ["spiffs", "littlefs", "fat"].contains(&row.partition.subtype.as_str())
        });
        let moves = ["moves", "shrinks"].iter().any(|verb| finding.text.starts_with(verb));
        let is_named = holds_files && (has(&WORDS.files) || task.contains(label));
        if moves && (is_app || is_named) {
            finding.level = FindingLevel::Note;
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{gives_data_up, may_rename, may_shrink};

    #[test]
    fn a_partition_gets_another_name_where_the_task_gives_it() {
        let renames = |task: &str| may_rename("storage", "trace", task);
        assert!(renames("die partition \"storage\" heißt künftig \"trace\" (tabelle, code)"));
        assert!(renames("rename the storage partition to trace"));
        for task in [
            "",
            "trace what is written to storage",
            "storage must not become trace",
            "keep storage. write a trace",
            "rename storage to log",
        ] {
            assert!(!renames(task), "{task}");
        }
        assert!(!may_rename("", "trace", "trace"));
    }

    #[test]
    fn a_partition_may_shrink_where_the_task_says_so_of_it() {
        assert!(may_shrink("nvs", "nvs stays at 0x9000 but may shrink to 16 kb, nothing shipped"));
        assert!(may_shrink("nvs", "die nvs darf kleiner werden"));
        assert!(may_shrink("nvs", "shrink the nvs to make room"));
        for task in [
            "shrink storage, nvs stays",
            "nvs must not shrink",
            "nvs_keys may shrink",
            "shrink the app so that nvs fits",
            "nvs fits if we shrink factory",
            "two slots in 4 mb",
        ] {
            assert!(!may_shrink("nvs", task), "{task}");
        }
    }

    #[test]
    fn data_is_given_up_only_by_a_task_that_says_so() {
        for task in [
            "ota with two slots (storage may be erased, nvs must stay)",
            "los registros actuales se pueden borrar",
            "die aufzeichnungen dürfen gelöscht werden",
        ] {
            assert!(gives_data_up(task), "{task}");
        }
        for task in [
            "",
            "nothing may be lost",
            "no recording can be erased",
            "los registros no se pueden borrar",
            "storage is erased at each start: find out why",
        ] {
            assert!(!gives_data_up(task), "{task}");
        }
    }
}
