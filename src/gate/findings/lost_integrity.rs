//! Sources that compared a checksum or a signature and no longer do, in any language.
//!
//! Owns the words by which they are known. Single checks are told by
//! [`removed_checks`](super::removed_checks).

use super::limit_names::words;
use super::source::SourceText;
use super::{Subject, beyond_task, unchecked_limits, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// What is compared, and the words of names for it.
const KINDS: [(&str, &[&str]); 2] = [
    ("a checksum", &["sha", "digest", "hash", "crc", "checksum", "md"]),
    ("a signature", &["verify", "verifies", "verified", "signature", "hmac", "ecdsa", "rsa"]),
];

/// Fewest names that a source has that really compares one.
const FEWEST: usize = 3;

/// What is to be said of a source that compares one no longer.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    if !beyond_task::is_code(path) {
        return None;
    }
    let (old, new) = (subject.base_source()?, subject.source()?);
    let changed = subject.changed();
    let task = subject.context.person_words();
    if changed.removed.is_empty() || task.is_empty() || wishes::may_want_another(&task) {
        return None;
    }
    for (what, names) in KINDS {
        let is_of = |word: &str| {
            let word = word.to_lowercase();
            names.iter().any(|name| word == *name)
        };
        let count = |source: &SourceText<'_>| {
            let all = source.tokens().iter().filter_map(|token| token.word());
            all.filter(|name| words(name).any(is_of)).count()
        };
        let removed = changed.removed.iter().find(|line| {
            let text = old.line(usize::try_from(**line - 1).unwrap_or(usize::MAX));
            words(text).any(is_of)
        });
        let Some(went) = removed.filter(|_| count(old) >= FEWEST && count(new) == 0) else {
            continue;
        };
        let is_moved = subject.context.proposed.texts().any(|(other, text)| {
            other != path && beyond_task::is_code(other) && count(&SourceText::new(other, text)) > 0
        });
        if is_moved
            || wishes::names(&task, &names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
        {
            continue;
        }
        let text = format!("no longer compares {what}");
        let mut finding = Finding::new(FindingLevel::Warning, text).advice(
            "The task does not ask for it. Make sure that damaged or foreign data is refused.",
        );
        finding.place = unchecked_limits::near(*went, subject).map(FindingPlace::line);
        return Some(finding);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "fn install(m: &Manifest) -> Result<()> {\n    let mut hash = Sha256::new();\n    \
                       hash.update(&buf);\n    let digest = hex(hash.finalize());\n    \
                       if total != m.size || digest != m.sha256 {\n        bail!(\"no\");\n    }\n    \
                       Ok(())\n}\n";
    const NEW: &str = "fn install(m: &Manifest) -> Result<()> {\n    if total != m.size {\n        \
                       bail!(\"no\");\n    }\n    Ok(())\n}\n";

    fn found(new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::Safeguards, ("src/ota.rs", Some(OLD), new), task);
        all.into_iter().filter(|found| found.contains("no longer compares")).collect()
    }

    #[test]
    fn a_checksum_that_is_compared_no_longer_is_told() {
        assert_eq!(found(NEW, "Try three times"), ["Warning 2: no longer compares a checksum"]);
        for task in ["Drop the checksum", "Compare no digest", ""] {
            assert_eq!(found(NEW, task), [] as [String; 0], "{task}");
        }
        let other = OLD.replace("Sha256", "Sha512").replace("sha256", "sha512");
        assert_eq!(found(&other, "Try three times"), [] as [String; 0]);
    }
}
