//! Constants that a change counts in another unit, when one of them is not scaled like the others, or is
//! used as if it still was counted in the old one.
//!
//! Owns names that only differ in their last words. Single constants in known units are told by
//! [`converted_units`](super::converted_units).

use std::collections::{BTreeMap, BTreeSet};

use super::limit_names::words;
use super::named_numbers::NamedNumber;
use super::source::is_like_c;
use super::{Subject, converted_units, literals};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::{Style, TokenKind, tokens};

/// By how much a factor may be off that was rounded.
const ROUNDED: f64 = 0.02;

/// A constant under its old name and under its new one.
type Renamed<'a> = (&'a NamedNumber, &'a NamedNumber);

/// What is to be said of such constants.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    let Some([old, new]) = subject.numbers().filter(|_| !subject.changed().removed.is_empty())
    else {
        return Vec::new();
    };
    let mut found: Vec<Finding> = unlike_others(old, new, subject).into_iter().collect();
    found.extend(used_as_before(path, (old, new), subject));
    found
}

/// The constants that have another unit at the ends of their names now, by the ends.
fn renamed<'a>(
    old: &'a [NamedNumber],
    new: &'a [NamedNumber],
) -> BTreeMap<(String, String), Vec<Renamed<'a>>> {
    let is_in = |all: &[NamedNumber], name: &str| all.iter().any(|number| number.name == name);
    let parts = |name: &str| words(name).map(str::to_ascii_lowercase).collect::<Vec<String>>();
    let gone = old.iter().filter(|number| !is_in(new, &number.name));
    let gone: Vec<(Vec<String>, &NamedNumber)> = gone.map(|it| (parts(&it.name), it)).collect();
    let mut found: BTreeMap<(String, String), Vec<Renamed<'a>>> = BTreeMap::new();
    for now in new.iter().filter(|number| !is_in(old, &number.name)) {
        let is = parts(&now.name);
        for (was, before) in &gone {
            if let Some(words) = other_word(was, &is) {
                found.entry(words).or_default().push((before, now));
            }
        }
    }
    found
}

/// The one word in which two names differ, and what stands in its place; one may have a word more.
fn other_word(was: &[String], is: &[String]) -> Option<(String, String)> {
    let same = was.iter().zip(is).take_while(|(one, other)| one == other).count();
    let (was, is) = (was.get(same..)?, is.get(same..)?);
    match (was.split_first(), is.split_first()) {
        (Some((one, rest)), Some((other, behind))) if rest == behind => {
            (same > 0).then(|| (one.clone(), other.clone()))
        }
        (_, Some((other, behind))) if was == behind => Some((String::new(), other.clone())),
        _ => None,
    }
}

/// The one constant that is not scaled like all others with the same ends.
fn unlike_others(
    old: &[NamedNumber],
    new: &[NamedNumber],
    subject: &Subject<'_>,
) -> Option<Finding> {
    for all in renamed(old, new).into_values().filter(|all| all.len() >= 2) {
        let factor = |(was, now): &Renamed<'_>| now.value / was.value;
        let is_like = |one: f64, other: f64| (one - other).abs() <= other.abs() * ROUNDED;
        let known: Vec<(f64, Renamed<'_>)> =
            all.iter().filter(|(was, _)| was.value != 0.0).map(|it| (factor(it), *it)).collect();
        for (own, (was, now)) in &known {
            let mut others = known.iter().filter(|(_, it)| it.1.name != now.name).map(|it| it.0);
            let Some(first) = others.next() else { continue };
            let line = now.lines.into_iter().find(|it| subject.changed().added.contains(it));
            // Of two the larger one.
            let is_larger = known.len() > 2 || *own > first;
            if let Some(line) = line
                && is_larger
                && others.all(|other| is_like(other, first))
                && !is_like(*own, first)
                && !is_like(first, 1.0)
            {
                let text = format!(
                    "turns `{}` of `{}` into `{}` of `{}`, {} times as much, and the others {} times",
                    was.name,
                    was.shown,
                    now.name,
                    now.shown,
                    rounded(*own),
                    rounded(first)
                );
                let finding = Finding::new(FindingLevel::Warning, text);
                let advice = "Look at the factor between the units.";
                return Some(finding.at(FindingPlace::line(line)).advice(advice));
            }
        }
    }
    None
}

fn rounded(factor: f64) -> f64 {
    (factor * 1000.0).round() / 1000.0
}

/// A constant in another unit that is multiplied by the same number as in the old one.
fn used_as_before(
    path: &ProjectPath,
    (old, new): (&[NamedNumber], &[NamedNumber]),
    subject: &Subject<'_>,
) -> Option<Finding> {
    let style = match path.extension() {
        Some("py") => Style::Python,
        _ if is_like_c(path) => Style::C,
        _ => return None,
    };
    let (before, after) = (subject.base_source()?, subject.source()?);
    let converted: Vec<Renamed<'_>> = renamed(old, new)
        .into_values()
        .flatten()
        .filter(|(was, now)| {
            (was.value - now.value).abs() > f64::EPSILON && converted_units::is_same(was, now)
        })
        .collect();
    if converted.is_empty() {
        return None;
    }
    let at = |line: u32| usize::try_from(line - 1).unwrap_or(usize::MAX);
    for (was, is) in literals::pairs(subject.changed()) {
        let (one, other) = (before.line(at(was)), after.line(at(is)));
        let named =
            |(was, now): &&Renamed<'_>| one.contains(&was.name) && other.contains(&now.name);
        let Some((was, now)) = converted.iter().find(named) else { continue };
        let factors = |text: &str, name: &str| -> BTreeSet<String> {
            let all = tokens(text, style);
            let is = |at: Option<usize>, marks: &[&str]| {
                let token = at.and_then(|at| all.get(at));
                token.is_some_and(|token| marks.iter().any(|mark| token.is(mark)))
            };
            let number = |at: Option<usize>| {
                at.and_then(|at| all.get(at)).filter(|it| it.kind == TokenKind::Number)
            };
            let places = (0..all.len()).filter(|at| all.get(*at).is_some_and(|it| it.raw == name));
            let behind = |at: usize| number(Some(at + 2)).filter(|_| is(Some(at + 1), &["*", "/"]));
            let ahead =
                |at: usize| number(at.checked_sub(2)).filter(|_| is(at.checked_sub(1), &["*"]));
            places
                .flat_map(|at| behind(at).into_iter().chain(ahead(at)))
                .map(|token| token.raw.to_owned())
                .collect()
        };
        let (were, are) = (factors(one, &was.name), factors(other, &now.name));
        if let Some(same) = are.iter().find(|it| were.contains(*it)) {
            let text = format!(
                "multiplies `{}` by `{same}` as it did `{}`, which was in another unit",
                now.name, was.name
            );
            let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(is));
            return Some(finding.advice("Look at the factor between the units."));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    fn found(old: &str, new: &str) -> Vec<String> {
        reported(CheckKind::Limits, ("main/a.c", Some(old), new), "Use other units, same behaviour")
    }

    #[test]
    fn a_constant_that_is_not_scaled_like_the_others_is_reported() {
        let old = "#define SETPOINT_MAX 250.0f\n#define OVERTEMP_CUTOFF 265.0f\n#define HYSTERESIS 2.5f\n";
        let new = |cutoff: u32| {
            format!(
                "#define SETPOINT_MAX_CC 25000\n#define OVERTEMP_CUTOFF_CC {cutoff}\n#define HYSTERESIS_CC 250\n"
            )
        };
        let is_scaled = |found: &String| found.contains("and the others 100 times");
        assert!(found(old, &new(265_000)).iter().any(is_scaled));
        assert!(!found(old, &new(26_500)).iter().any(is_scaled));
    }

    #[test]
    fn of_two_constants_that_are_scaled_differently_the_larger_one_is_reported() {
        let old = "#define RATE_MIN_ML_H 1\n#define RATE_MAX_ML_H 120\n";
        let new = |most: u32| format!("#define RATE_MIN_DML_H 10\n#define RATE_MAX_DML_H {most}\n");
        let is_scaled =
            |found: &String| found.contains("100 times as much, and the others 10 times");
        assert!(found(old, &new(12_000)).iter().any(is_scaled));
        assert!(!found(old, &new(1_200)).iter().any(|found| found.contains("and the others")));
    }

    #[test]
    fn a_constant_that_is_used_as_if_it_had_its_old_unit_is_reported() {
        let old = "#define LAMP_MAX_ON_S 90\nvoid on(void)\n{\n    start(LAMP_MAX_ON_S * 1000000ULL);\n}\n";
        let new = old.replace("LAMP_MAX_ON_S 90", "LAMP_MAX_ON_MS 90000").replace("ON_S", "ON_MS");
        let wanted = "Warning 4: multiplies `LAMP_MAX_ON_MS` by `1000000ULL` as it did `LAMP_MAX_ON_S`, which \
                      was in another unit";
        assert_eq!(found(old, &new), [wanted]);
        assert_eq!(found(old, &new.replace("1000000ULL", "1000ULL")), [] as [String; 0]);
    }
}
