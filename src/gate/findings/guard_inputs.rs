//! Functions that protect something and get another value now: `protect(filtered(i))` where it was
//! `protect(cell(i))`.
//!
//! Owns how such functions are called. Limits that they compare with are told by
//! [`changed_limits`](super::changed_limits).

use super::limit_names::words;
use super::source::SourceText;
use super::{Subject, beyond_task, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_calls::parts;
use crate::text::c_tokens::TokenKind;

/// Words of names of functions that protect.
const PROTECTING: [&str; 10] = [
    "protect",
    "protection",
    "guard",
    "safety",
    "cutoff",
    "trip",
    "interlock",
    "overtemp",
    "overcurrent",
    "failsafe",
];

/// Longest value that is compared, in tokens.
const LONGEST: usize = 24;

/// A call: the function, what it gets, and its line, from 1.
struct Call {
    name: String,
    values: Vec<String>,
    line: u32,
}

/// What is to be said of a function that gets another value.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    if !beyond_task::is_code(path) {
        return None;
    }
    let (old, new) = (subject.base_source()?, subject.source()?);
    let changed = subject.changed();
    let is_of = |line: &u32| {
        let text = new.line(usize::try_from(line - 1).unwrap_or(usize::MAX)).to_lowercase();
        PROTECTING.iter().any(|word| text.contains(word))
    };
    if changed.removed.is_empty() || !changed.added.iter().any(is_of) {
        return None;
    }
    let task = subject.context.person_words();
    let (was, is) = (calls(old), calls(new));
    for now in is.iter().filter(|call| changed.added.contains(&call.line)) {
        let of = |all: &[Call]| all.iter().filter(|call| call.name == now.name).count();
        let Some(before) = was.iter().find(|call| call.name == now.name) else { continue };
        if of(&was) != 1 || of(&is) != 1 || before.values.len() != now.values.len() {
            continue;
        }
        let mut other = before.values.iter().zip(&now.values).filter(|(was, is)| was != is);
        let (Some((was, is)), None) = (other.next(), other.next()) else { continue };
        let names: Vec<String> = words(&now.name).map(str::to_lowercase).collect();
        // Another way to the same value, as `s->temp` for `temp`, has its name in it.
        let is_same = is.ends_with(was.as_str()) || was.ends_with(is.as_str());
        let is_number = is.chars().all(|c| c.is_ascii_digit() || c == '.');
        if task.is_empty() || wishes::names(&task, &names) || is_same || is_number {
            continue;
        }
        let text = format!("`{}` gets `{is}` where it got `{was}`", now.name);
        let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(now.line));
        return Some(finding.advice("Make sure that it protects as soon and as surely as before."));
    }
    None
}

fn calls(source: &SourceText<'_>) -> Vec<Call> {
    let tokens = source.tokens();
    let closes = source.closes();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word)
    {
        let protects =
            words(token.raw).any(|word| PROTECTING.contains(&word.to_lowercase().as_str()));
        if !protects || !tokens.get(at + 1).is_some_and(|next| next.is("(")) {
            continue;
        }
        // What stands behind a type is a declaration.
        let is_declared =
            at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|it| {
                it.kind == TokenKind::Word && !it.is_word("return") && !it.is_word("else")
            });
        let values: Vec<String> = parts(tokens, closes, at + 1)
            .into_iter()
            .filter_map(|part| tokens.get(part).filter(|part| part.len() <= LONGEST))
            .map(|part| part.iter().map(|token| token.raw).collect())
            .collect();
        if !is_declared {
            let line = source.number_at(token.start);
            found.push(Call { name: token.raw.to_owned(), values, line });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "void protect_check(uint32_t mv, int i);\n\nvoid loop(void)\n{\n    \
                       protect_check(cell_mv(i), i);\n    show(cell_mv(i));\n}\n";

    fn found(new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::Safeguards, ("main/a.c", Some(OLD), new), task);
        all.into_iter().filter(|found| found.contains("where it got")).collect()
    }

    #[test]
    fn another_value_for_what_protects_is_told() {
        let new = OLD.replace("cell_mv(i)", "cell_mv_filtered(i)");
        let wanted =
            "Warning 5: `protect_check` gets `cell_mv_filtered(i)` where it got `cell_mv(i)`";
        assert_eq!(found(&new, "Smooth the display"), [wanted]);
        assert_eq!(found(&new, "Smooth what the protection gets"), [] as [String; 0]);
        for (from, to) in [
            ("protect_check(cell_mv(i), i)", "protect_check(cell_mv(i), i, true)"),
            ("protect_check(cell_mv(i), i)", "protect_check(s->cell_mv(i), i)"),
            ("show(cell_mv(i))", "show(cell_mv_filtered(i))"),
        ] {
            assert_eq!(found(&OLD.replace(from, to), "Smooth"), [] as [String; 0], "{to}");
        }
    }
}
