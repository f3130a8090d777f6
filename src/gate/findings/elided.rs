//! A comment that stands where code was: `/* ... rest unchanged ... */`.
//!
//! Owns the words of such comments. Whether code went is told by the lines of both versions.

use std::sync::LazyLock;

use regex::Regex;

use super::Subject;
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};

/// Lines of code that have to be gone for a placeholder to stand for them.
const FEWEST: usize = 2;

/// The text of a comment that has its line for itself.
static COMMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*[{}]?\s*(?://+|/\*+|#+|;+|--+|<!--|\*)\s*(.*?)\s*(?:\*/|-->)?\s*[{}]?\s*$")
        .ok()
});

/// Words that stand for code which is not there.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        ^\W*(?:the\s+)?(?:rest|remainder|remaining|all\s+other|other|existing|previous|original|old)\b
            .*\b(?:unchanged|code|functions?|methods?|implementation|file|body|same|here|omitted
            |content|contents|logic|lines|handlers?|cases|includes|definitions|stays?|remains?)\b
        |^\W*(?:code|everything(?:\s+else)?|all\s+else|rest|the\s+rest|no\s+changes?|unchanged
            |same\s+code|same\s+implementation)
            (?:\s+(?:is|are|stays?|remains?|below|above|here|from|in|code|as|the|same|before|unchanged
            |omitted|original|identical|to|for|brevity|of|this|file|function))*\W*$
        |^\W*(?:same|identical|unchanged|as)\s+(?:code\s+)?(?:as\s+)?(?:before|above|in\s+the\s+original|previously)\W*$
        |^\W*(?:\.{3}|…)\W*$
        |^\W*(?:\.{3}|…)\s*(?:the\s+)?(?:snip|omitted|etc|same|code|unchanged|existing|rest|remaining|previous|other|more)\b
        |\b(?:omitted|truncated|elided|skipped)\s+for\s+brevity\b
        |\b(?:keep|insert|put|paste|leave)\s+(?:the\s+|your\s+|all\s+)?(?:rest|remaining|existing|original|previous|other)\b
        |\brest\s+of\s+(?:the\s+|your\s+|this\s+)?(?:\w+\s+)?(?:code|file|function|implementation|class|module|program)\b",
    )
    .ok()
});

/// Placeholders in the new lines: a stop where they replace code, else a note.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let text = subject.text()?;
    if !is_code(path) {
        return None;
    }
    let added = |number: &u32| subject.base.is_none() || subject.changed().added.contains(number);
    let mut lines = (1..).zip(text.lines());
    let (number, _) = lines.find(|(number, line)| added(number) && is_placeholder(line))?;
    let at = FindingPlace::line(number);
    let gone = gone(subject);
    if gone < FEWEST {
        let text = "has a comment in place of code";
        let advice = "Write the code, or say in the comment what is missing.";
        return Some(Finding::new(FindingLevel::Note, text).at(at).advice(advice));
    }
    let text = format!("leaves out code: a placeholder is in place of {gone} lines");
    let advice = "Ask for the whole file, or for a change of single lines.";
    Some(Finding::new(FindingLevel::Stop, text).at(at).advice(advice))
}

/// Lines of code that the file held and that are gone for good.
fn gone(subject: &Subject<'_>) -> usize {
    let (Some(base), Some(text)) = (subject.base_text(), subject.text()) else { return 0 };
    let is_code = |line: &str| line.chars().any(char::is_alphanumeric);
    let count = |text: &str, numbers: &std::collections::BTreeSet<u32>| {
        let lines = (1..).zip(text.lines());
        lines.filter(|(number, line)| numbers.contains(number) && is_code(line)).count()
    };
    let changed = subject.changed();
    count(base, &changed.removed).saturating_sub(count(text, &changed.added).saturating_sub(1))
}

/// Whether a line is a comment that stands for code.
fn is_placeholder(line: &str) -> bool {
    let start = line.trim_start();
    let start = start.strip_prefix(['{', '}']).unwrap_or(start).trim_start();
    let marks = ["//", "/*", "#", ";", "--", "<!--", "*"];
    if !marks.iter().any(|mark| start.starts_with(mark)) {
        return false;
    }
    // No letter stands around the words: what they match the whole line matches, and it does seldom.
    if !PLACEHOLDER.as_ref().is_some_and(|pattern| pattern.is_match(line)) {
        return false;
    }
    let found = COMMENT.as_ref().and_then(|pattern| pattern.captures(line));
    let words = found.and_then(|found| found.get(1)).map_or("", |words| words.as_str());
    words.len() > 2 && PLACEHOLDER.as_ref().is_some_and(|pattern| pattern.is_match(words))
}

fn is_code(path: &ProjectPath) -> bool {
    let other = ["md", "rst", "txt", "adoc", "csv", "html", "svg"];
    let is_list = path.file_name().eq_ignore_ascii_case("cmakelists.txt");
    is_list || path.extension().is_none_or(|ending| !other.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_no_ordinary_comments() {
        for line in [
            "    /* ... rest unchanged ... */",
            "    // ... existing code ...",
            "// (same as before)",
            "    # ... rest of the function ...",
            "// ...",
            "/* rest of the file stays as it is */",
            "// TODO: rest of the implementation here",
            "// remaining functions unchanged",
            "/* unchanged */",
            "// … unchanged …",
            "# existing code here",
            "// Keep the existing handlers",
            "// [rest of code]",
            "/* code omitted for brevity */",
            "    // other cases remain the same",
        ] {
            assert!(is_placeholder(line), "{line}");
        }
        for line in [
            "int rest = 0; // ... rest unchanged ...",
            "// The rest time between two pumps, in seconds",
            "// same pins as on the old board",
            "// previous value, to find an edge",
            "// code for the I2C bus",
            "/* everything is in seconds */",
            "#include \"rest.h\"",
            "// other tasks may hold the lock",
            "// remaining bytes in the buffer",
            "// existing connections are closed first",
            "# unchanged since v1.2: see the datasheet",
            "----",
            "// -----------------------------",
        ] {
            assert!(!is_placeholder(line), "{line}");
        }
    }
}
