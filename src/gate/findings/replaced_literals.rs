//! Numbers of code that give way to a name with another value: `2.5` that becomes `MAX_ML`, which is 25.
//!
//! Owns the comparison of both lines. The values of names are read by
//! [`named_numbers`](super::named_numbers).

use super::named_numbers::{self, NamedNumber};
use super::source::{SourceText, is_like_c};
use super::{Subject, literals};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::{Style, Token, TokenKind, tokens};

/// Files of the change in which a name is looked for.
const MOST_FILES: usize = 16;

/// What is to be said of a number whose new name has another value.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = (subject.base_source()?, subject.source()?);
    let style = match path.extension() {
        Some("py") => Style::Python,
        _ if is_like_c(path) => Style::C,
        _ => return None,
    };
    let task = subject.context.person_words();
    let changed = subject.changed();
    if changed.removed.is_empty() || !subject.context.has_task() {
        return None;
    }
    let line = |source: &SourceText<'_>, line: u32| {
        source.line(usize::try_from(line - 1).unwrap_or(usize::MAX)).to_owned()
    };
    for (was, is) in literals::pairs(changed) {
        let (before, after) = (line(old, was), line(new, is));
        for (literal, name) in replaced(&before, &after, style) {
            let Some((value, _)) = named_numbers::number(&literal) else { continue };
            let Some(now) = value_of(&name, subject) else { continue };
            let is_other = (now.value - value).abs() > f64::EPSILON;
            let is_asked_for = task.contains(&now.shown.to_lowercase());
            if is_other && now.unit.is_empty() && !is_asked_for {
                let text = format!("puts `{name}`, which is {}, where `{literal}` was", now.shown);
                let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(is));
                return Some(finding.advice("Make sure that another value is meant."));
            }
        }
    }
    None
}

/// The numbers of a line in the place of which another line has a name, if nothing else differs.
fn replaced(before: &str, after: &str, style: Style) -> Vec<(String, String)> {
    let (old, new) = (tokens(before, style), tokens(after, style));
    let mut found = Vec::new();
    let (mut was, mut is) = (old.iter().peekable(), new.iter().peekable());
    loop {
        match (was.next(), is.next()) {
            (None, None) => return found,
            (Some(one), Some(other)) if one.raw == other.raw => {}
            (Some(one), Some(other))
                if one.kind == TokenKind::Number && other.kind == TokenKind::Word =>
            {
                let mut last = other;
                let is_joint = |token: &Token<'_>| token.is(":") || token.is(".");
                while is.next_if(|token| is_joint(token)).is_some() {
                    while is.next_if(|token| is_joint(token)).is_some() {}
                    match is.next_if(|token| token.kind == TokenKind::Word) {
                        Some(next) => last = next,
                        None => return Vec::new(),
                    }
                }
                found.push((one.raw.to_owned(), last.raw.to_owned()));
            }
            _ => return Vec::new(),
        }
    }
}

/// The one number that the change gives to a name, in this file or another.
fn value_of(name: &str, subject: &Subject<'_>) -> Option<NamedNumber> {
    let own = subject.source()?;
    let mut all = named_numbers::find(own, |it| it == name);
    let others = subject.context.proposed.texts().filter(|(other, _)| *other != own.path);
    for (other, text) in others.take(MOST_FILES) {
        all.extend(named_numbers::find(&SourceText::new(other, text), |it| it == name));
    }
    let first = all.pop()?;
    all.iter().all(|it| (it.value - first.value).abs() < f64::EPSILON).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use crate::model::CheckKind;

    #[test]
    fn a_name_with_another_value_than_the_number_it_replaces_is_reported() {
        let old = "int give(float ml)\n{\n    if (ml > 2.5f) {\n        return -1;\n    }\n    run(ml * 412.0f, \
                   180);\n    return 0;\n}\n";
        let new = old
            .replace("2.5f", "limits::kMaxMl")
            .replace("412.0f", "kStepsPerMl")
            .replace("180", "kRate");
        let found = |most: &str, task: &str| {
            let header = format!(
                "#pragma once\nconstexpr float kMaxMl = {most};\nconstexpr float kStepsPerMl = 412.0f;\n\
                 constexpr int kRate = 180;\n"
            );
            let files = [("main/a.cpp", old)];
            let all = TestProject { files: &files, task, chip: None }.reported(
                CheckKind::Limits,
                &[("main/limits.hpp", Some(header.as_str())), ("main/a.cpp", Some(new.as_str()))],
            );
            all.into_iter().filter(|found| found.contains("puts")).collect::<Vec<_>>()
        };
        let wanted = "main/a.cpp Warning: puts `kMaxMl`, which is 25.0f, where `2.5f` was";
        assert_eq!(found("25.0f", "Name the numbers"), [wanted]);
        assert_eq!(found("2.5f", "Name the numbers"), [] as [String; 0]);
        assert_eq!(found("2.50f", "Name the numbers"), [] as [String; 0]);
        assert_eq!(found("3.0f", "Name the numbers and allow 3.0f"), [] as [String; 0]);
    }
}
