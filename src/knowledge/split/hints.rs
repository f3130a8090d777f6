//! Splits the framework's list of hints on build errors (`hints.yml`).
//!
//! Reads the few forms that the list has, not YAML. Pure.

use super::document::Document;
use crate::knowledge::passage::{Passage, PassageKind};

/// A hint as it is read.
#[derive(Default)]
struct Entry {
    line: usize,
    pattern: String,
    hint: String,
    variables: Vec<String>,
}

/// Splits the list.
pub(super) fn split(document: Document<'_>) -> Vec<Passage> {
    let mut entries: Vec<Entry> = Vec::new();
    for (number, line) in document.text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with('#') {
            continue;
        }
        let field = trimmed.strip_prefix("- ").unwrap_or(trimmed);
        if let Some(pattern) = field.strip_prefix("re:") {
            let pattern = unquoted(pattern);
            entries.push(Entry { line: number + 1, pattern, ..Entry::default() });
        } else if let Some(entry) = entries.last_mut() {
            if let Some(hint) = field.strip_prefix("hint:") {
                entry.hint = unquoted(hint);
            } else if let Some(values) = field
                .strip_prefix("re_variables:")
                .or_else(|| field.strip_prefix("hint_variables:"))
            {
                entry.variables.push(values.trim().trim_matches(['[', ']']).to_owned());
            } else if !trimmed.is_empty()
                && !entry.hint.is_empty()
                && !field.contains(": ")
                && !field.ends_with(':')
                && field != "-"
            {
                entry.hint.push(' ');
                entry.hint.push_str(&unquoted(field));
            }
        }
    }
    entries.into_iter().map(|entry| passage(document, entry)).collect()
}

fn passage(document: Document<'_>, entry: Entry) -> Passage {
    let mut text = format!("Error: {}\nHint: {}", entry.pattern, entry.hint);
    for values in entry.variables.chunks(2) {
        text.push_str(&format!("\n{}", values.join(" → ")));
    }
    let mut title: String = entry.pattern.chars().take(80).collect();
    if title.len() < entry.pattern.len() {
        title.push('…');
    }
    Passage {
        anchor: format!("L{}", entry.line),
        headings: vec![title],
        kind: PassageKind::Hint,
        ..document.passage("Build error", text)
    }
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inside = ['"', '\'']
        .iter()
        .find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark))
        .unwrap_or(text);
    inside.replace("\\\"", "\"").replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::chips::ChipSet;

    #[test]
    fn each_hint_is_a_passage_with_its_variables() {
        let text = "# re: \"no\"\n-\n    re: \"error: implicit declaration of function '{}'\"\n    \
            hint: \"Function '{}' was removed. Use {}.\"\n    variables:\n        -\n            \
            re_variables: ['old_get']\n            hint_variables: ['old_get()', 'new_get()']\n-\n    \
            re: \"fatal error: (spiram.h)\"\n    hint: 'Include \"psram.h\".'\n    match_to_output: True\n";
        let (kind, chips) = (PassageKind::Hint, ChipSet::ALL);
        let path = "tools/idf_py_actions/hints.yml";
        let found = split(Document { path, text, kind, chips });
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].anchor, "L3");
        assert_eq!(
            found[0].text,
            "Error: error: implicit declaration of function '{}'\nHint: Function '{}' was removed. \
             Use {}.\n'old_get' → 'old_get()', 'new_get()'"
        );
        assert_eq!(found[1].text, "Error: fatal error: (spiram.h)\nHint: Include \"psram.h\".");
    }
}
