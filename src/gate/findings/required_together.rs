//! Conditions each of which was enough and that have to hold together now: `hot || open` that becomes
//! `hot && open`, also in a function of its own.
//!
//! Owns the operands of `&&` and `||`. Parts that a condition loses are told by
//! [`lost_conditions`](super::lost_conditions).

use std::collections::BTreeSet;
use std::ops::Range;

use super::removed_checks::shown;
use super::source::{SourceText, raw};
use super::{Subject, beyond_task, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::{Token, TokenKind};

/// Longest operand that is compared, in tokens.
const LONGEST: usize = 16;

/// Words before which no operand goes on.
const ENDS: [&str; 12] =
    ["if", "elif", "while", "until", "return", "else", "and", "or", "not", "match", "assert", "in"];

/// How operands are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    And,
    Or,
}

/// Operands that are joined in one way, and the line of the first joint, from 1.
struct Chain {
    operands: BTreeSet<String>,
    line: u32,
}

/// What is to be said of two conditions that have to hold together now.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = (subject.base_source()?, subject.source()?);
    let changed = subject.changed();
    let joins = |line: &u32| {
        let text = new.line(usize::try_from(line - 1).unwrap_or(usize::MAX));
        ["&&", "||", " and ", " or "].iter().any(|joint| text.contains(joint))
            || ["and ", "or "].iter().any(|joint| text.trim_start().starts_with(joint))
    };
    let task = subject.context.person_words();
    if !beyond_task::is_code(path)
        || changed.removed.is_empty()
        || !subject.context.has_task()
        || !changed.added.iter().any(joins)
        || wishes::may_want_less_checked(&task)
    {
        return None;
    }
    if let Some(finding) = negated((old, new), subject) {
        return Some(finding);
    }
    joined((old, new), &task, subject)
}

/// Two conditions that have to hold together now, and one of which was enough.
fn joined(
    (old, new): (&SourceText<'_>, &SourceText<'_>),
    task: &str,
    subject: &Subject<'_>,
) -> Option<Finding> {
    let (was, is) = (ConditionsOf::read(old), ConditionsOf::read(new));
    let changed = &subject.changed().added;
    let is_new = |chain: &&Chain| changed.contains(&chain.line);
    let unspoken = |pair: &[&str; 2]| !pair.iter().any(|part| is_spoken_of(task, part));
    let both = is.all.iter().filter(is_new).flat_map(|chain| chain.pairs());
    let both = both
        .filter(|(pair, _)| was.needs_one(*pair) && !has(&was.all, *pair) && !has(&is.any, *pair));
    let mut both =
        both.filter(|(pair, _)| !pair.iter().any(|part| is.has_alone(part)) && unspoken(pair));
    if let Some(([one, other], line)) = both.next() {
        let text =
            format!("asks for both `{}` and `{}`, where one was enough", shown(one), shown(other));
        return Some(finding(text, line));
    }
    let either = is.any.iter().filter(is_new).flat_map(|chain| chain.pairs());
    let mut either = either.filter(|(pair, _)| {
        was.needs_both(*pair) && !has(&was.any, *pair) && !has(&is.all, *pair) && unspoken(pair)
    });
    let ([one, other], line) = either.next()?;
    let text = format!(
        "is satisfied by one of `{}` and `{}`, where it asked for both",
        shown(one),
        shown(other)
    );
    Some(finding(text, line))
}

fn finding(text: String, line: u32) -> Finding {
    Finding::new(FindingLevel::Warning, text)
        .at(FindingPlace::line(line))
        .advice("The task does not ask for it. Make sure that it still protects.")
}

/// Whether one of some chains joins two conditions.
fn has(all: &[Chain], pair: [&str; 2]) -> bool {
    all.iter().any(|chain| pair.iter().all(|part| chain.operands.contains(*part)))
}

impl Chain {
    /// Each two of its operands, with its line.
    fn pairs(&self) -> impl Iterator<Item = ([&str; 2], u32)> {
        let operands: Vec<&str> = self.operands.iter().map(String::as_str).collect();
        let mut pairs = Vec::new();
        for (at, one) in operands.iter().enumerate() {
            pairs.extend(operands.iter().skip(at + 1).map(|other| ([*one, *other], self.line)));
        }
        pairs.into_iter()
    }
}

/// The conditions of a source.
struct ConditionsOf {
    all: Vec<Chain>,
    any: Vec<Chain>,
    alone: Vec<Alone>,
}

impl ConditionsOf {
    fn read(source: &SourceText<'_>) -> Self {
        let (all, any) = (chains(source, Joint::And), chains(source, Joint::Or));
        Self { all, any, alone: alone(source) }
    }

    fn has_alone(&self, part: &str) -> bool {
        self.alone.iter().any(|it| it.condition == part)
    }

    /// Whether two conditions decide one by one, and neither within what the other leads to.
    fn are_apart(&self, pair: [&str; 2]) -> bool {
        let [one, other] =
            pair.map(|part| self.alone.iter().filter(move |it| it.condition == part));
        let is_within = |inner: &Alone, outer: &Alone| outer.body.contains(&inner.at);
        one.clone()
            .any(|one| other.clone().any(|other| !is_within(one, other) && !is_within(other, one)))
    }

    /// Whether one of two conditions is enough.
    fn needs_one(&self, pair: [&str; 2]) -> bool {
        has(&self.any, pair) || self.are_apart(pair)
    }

    /// Whether both of two conditions have to hold: they are joined so, or each of their opposites ends it.
    fn needs_both(&self, pair: [&str; 2]) -> bool {
        let [one, other] = pair.map(opposite);
        has(&self.all, pair) || self.are_apart([&one, &other])
    }
}

/// What is to be said of conditions that are negated one by one and are still joined in the same way:
/// the opposite of `!wet || hot` is `wet && !hot`.
fn negated(
    (old, new): (&SourceText<'_>, &SourceText<'_>),
    subject: &Subject<'_>,
) -> Option<Finding> {
    for (joint, sign) in [(Joint::Or, "||"), (Joint::And, "&&")] {
        let (was, is) = (chains(old, joint), chains(new, joint));
        let stays = |chain: &Chain| is.iter().any(|it| it.operands == chain.operands);
        let opposite = |chain: &Chain| -> BTreeSet<String> {
            chain.operands.iter().map(|part| opposite(part)).collect()
        };
        let is_new = |chain: &&Chain| subject.changed().added.contains(&chain.line);
        for gone in was.iter().filter(|chain| !stays(chain)) {
            let turned = opposite(gone);
            let Some(now) = is.iter().filter(is_new).find(|it| it.operands == turned) else {
                continue;
            };
            let parts: Vec<String> = now.operands.iter().map(|part| shown(part)).collect();
            let text =
                format!("negates `{}`, and still joins them with `{sign}`", parts.join("`, `"));
            let finding =
                Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(now.line));
            let advice = "The opposite of conditions that are joined by `||` joins theirs by `&&`.";
            return Some(finding.advice(advice));
        }
    }
    None
}

/// The opposite of a condition, as [`raw`].
fn opposite(part: &str) -> String {
    const SIGNS: [(&str, &str); 4] =
        [(" < = ", " > "), (" > = ", " < "), (" = = ", " ! = "), (" ! = ", " = = ")];
    if let Some(rest) = part.strip_prefix("! ").or_else(|| part.strip_prefix("not ")) {
        return rest.to_owned();
    }
    for (sign, other) in SIGNS {
        if part.matches(sign).count() == 1 {
            return part.replace(sign, other);
        }
    }
    for (sign, other) in [(" < ", " > = "), (" > ", " < = ")] {
        if part.matches(sign).count() == 1 && !part.contains("- >") {
            return part.replace(sign, other);
        }
    }
    format!("! {part}")
}

/// Whether a task has a name of a condition.
fn is_spoken_of(task: &str, part: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = part.split(|c: char| !is_of_name(c)).filter(|name| name.len() > 3);
    let mut words = task.split(|c: char| !is_of_name(c));
    names.any(|name| words.any(|word| word == name.to_lowercase()))
}

/// A condition that decides alone, the place of its `if`, and the statements that it leads to.
struct Alone {
    condition: String,
    at: usize,
    body: Range<usize>,
}

/// The conditions of C and Rust that are not joined with others.
fn alone(source: &SourceText<'_>) -> Vec<Alone> {
    let (tokens, closes) = (source.tokens(), source.closes());
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token| token.is(mark));
    let close = |at: usize| closes.get(at).copied().flatten();
    if source.path.extension() == Some("py") {
        return alone_in_python(source);
    }
    let mut found = Vec::new();
    for at in (0..tokens.len()).filter(|at| tokens.get(*at).is_some_and(|it| it.is_word("if"))) {
        let (condition, start) = match close(at + 1).filter(|_| is(at + 1, "(")) {
            // Of Rust brackets are a part.
            Some(end) if is(end + 1, "{") || !is(end + 1, ".") => (at + 2..end, end + 1),
            _ => match (at + 1..at + LONGEST).find(|at| is(*at, "{")) {
                Some(open) => (at + 1..open, open),
                None => continue,
            },
        };
        let end = match is(start, "{") {
            true => close(start),
            false => (start..tokens.len()).find(|at| is(*at, ";")),
        };
        if let (Some(end), Some(part)) = (end, tokens.get(condition)) {
            found.push(Alone { condition: raw(part), at, body: start..end });
        }
    }
    found
}

/// The same of Python.
fn alone_in_python(source: &SourceText<'_>) -> Vec<Alone> {
    let tokens = source.tokens();
    let line = |at: usize| tokens.get(at).map_or(usize::MAX, |token| source.line_at(token.start));
    let indent = |at: usize| {
        let text = source.line(line(at));
        text.len() - text.trim_start().len()
    };
    let begins = |at: usize| at.checked_sub(1).is_none_or(|before| line(before) != line(at));
    let mut found = Vec::new();
    for at in (0..tokens.len()).filter(|at| begins(*at)) {
        let is_if = |word: &str| tokens.get(at).is_some_and(|token| token.is_word(word));
        if !is_if("if") && !is_if("elif") {
            continue;
        }
        let end = (at + 1..tokens.len()).take_while(|other| line(*other) == line(at)).last();
        let Some(end) = end.filter(|end| tokens.get(*end).is_some_and(|token| token.is(":")))
        else {
            continue;
        };
        let inside =
            (end + 1..tokens.len()).take_while(|other| indent(*other) > indent(at)).count();
        if let Some(part) = tokens.get(at + 1..end) {
            found.push(Alone { condition: raw(part), at, body: end..end + 1 + inside });
        }
    }
    found
}

/// The operands of all conditions of a source that are joined in one way.
fn chains(source: &SourceText<'_>, joint: Joint) -> Vec<Chain> {
    let (tokens, closes) = (source.tokens(), source.closes());
    let mut opens = vec![None; tokens.len()];
    for (open, close) in closes.iter().enumerate() {
        if let Some(place) = close.and_then(|close| opens.get_mut(close)) {
            *place = Some(open);
        }
    }
    let code = Operands { tokens, closes, opens };
    let mut found: Vec<(Range<usize>, Chain)> = Vec::new();
    for at in 0..tokens.len() {
        let Some(length) = code.joint(at, joint) else { continue };
        let before = code.before(at);
        let behind = code.behind(at + length);
        let text = |part: &Range<usize>| {
            tokens
                .get(part.clone())
                .filter(|part| !part.is_empty() && part.len() <= LONGEST)
                .map(raw)
        };
        let (Some(one), Some(other)) = (text(&before), text(&behind)) else { continue };
        match found.last_mut().filter(|(last, _)| *last == before) {
            Some((last, chain)) => {
                chain.operands.insert(other);
                *last = behind;
            }
            None => {
                let line = tokens.get(at).map_or(0, |token| source.number_at(token.start));
                found.push((behind, Chain { operands: BTreeSet::from([one, other]), line }));
            }
        }
    }
    found.into_iter().map(|(_, chain)| chain).collect()
}

struct Operands<'s, 'a> {
    tokens: &'s [Token<'a>],
    closes: &'s [Option<usize>],
    /// For each bracket that closes the place of what opens it.
    opens: Vec<Option<usize>>,
}

impl Operands<'_, '_> {
    fn is(&self, at: usize, mark: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }

    /// How many tokens the joint at a place has; `None` where there is none.
    fn joint(&self, at: usize, joint: Joint) -> Option<usize> {
        let (mark, word) = match joint {
            Joint::And => ("&", "and"),
            Joint::Or => ("|", "or"),
        };
        let is_first = at.checked_sub(1).is_none_or(|before| !self.is(before, mark));
        if self.is(at, mark) && self.is(at + 1, mark) && is_first {
            return Some(2);
        }
        self.tokens.get(at).is_some_and(|token| token.is_word(word)).then_some(1)
    }

    /// Whether an operand ends in front of a token, or behind it.
    fn ends(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else { return true };
        let is_of_comparison =
            |at: usize| ["=", "!", "<", ">"].iter().any(|mark| self.is(at, mark));
        let is_near = |at: Option<usize>| at.is_some_and(is_of_comparison);
        match token.raw {
            ";" | "," | "{" | "}" | "?" => true,
            "=" => !is_near(at.checked_sub(1)) && !is_near(Some(at + 1)),
            ":" => !self.is(at + 1, ":") && !at.checked_sub(1).is_some_and(|at| self.is(at, ":")),
            "&" | "|" => {
                self.is(at + 1, token.raw)
                    || at.checked_sub(1).is_some_and(|before| self.is(before, token.raw))
            }
            word => {
                token.kind == TokenKind::DirectiveEnd
                    || token.kind == TokenKind::Word && ENDS.contains(&word)
            }
        }
    }

    /// The operand in front of a place.
    fn before(&self, end: usize) -> Range<usize> {
        let mut start = end;
        while let Some(at) = start.checked_sub(1) {
            if ["(", "["].iter().any(|mark| self.is(at, mark)) || self.ends(at) {
                break;
            }
            start = self.opens.get(at).copied().flatten().unwrap_or(at);
        }
        start..end
    }

    /// The operand from a place on.
    fn behind(&self, start: usize) -> Range<usize> {
        let mut end = start;
        while end < self.tokens.len() {
            if [")", "]"].iter().any(|mark| self.is(end, mark)) || self.ends(end) {
                break;
            }
            end = self.closes.get(end).copied().flatten().unwrap_or(end) + 1;
        }
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    fn found(path: &str, old: &str, new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::Safeguards, (path, Some(old), new), task);
        all.into_iter().filter(|found| found.contains("where one was enough")).collect()
    }

    #[test]
    fn conditions_that_have_to_hold_together_now_are_reported() {
        let rust = "fn check(i: &I) -> V {\n    if i.nan() || i.hatch_open || i.shell > MAX {\n        return \
                    Stop;\n    }\n    Run\n}\n";
        let split = "fn check(i: &I) -> V {\n    if trips(i) { Stop } else { Run }\n}\nfn trips(i: &I) -> bool \
                     {\n    i.nan() || (i.hatch_open && i.shell > MAX)\n}\n";
        let wanted =
            "Warning 5: asks for both `i.hatch_open` and `i.shell > MAX`, where one was enough";
        let task = "Split it, behaviour stays";
        assert_eq!(found("src/a.rs", rust, split, task), [wanted]);
        assert_eq!(
            found("src/a.rs", rust, split, "Trip when hatch_open and too hot"),
            [] as [String; 0]
        );
        let alone = "int check(void)\n{\n    if (hatch) {\n        return STOP;\n    } else {\n        if (curtain) \
                     return STOP;\n    }\n    return RUN;\n}\n";
        let both = "int check(void)\n{\n    if (hatch && curtain) {\n        return STOP;\n    }\n    return RUN;\n}\n";
        assert_eq!(found("main/a.c", alone, both, task).len(), 1);
        let python = "def run():\n    if hatch_open or is_hot():\n        stop()\n";
        let other = python.replace(" or ", " and ");
        assert_eq!(found("main.py", python, &other, task).len(), 1);
        let chosen = "def must():\n    if low():\n        return True\n    elif dry():\n        return True\n    return \
                      False\n";
        let joined = "def must():\n    return low() and dry() or late()\n";
        assert_eq!(found("main.py", chosen, joined, task).len(), 1);
        let method = "class V:\n    def must(self):\n        if self.low():\n            return True\n        elif \
                      self.dry():\n            return True\n        else:\n            return False\n";
        let one = "class V:\n    def must(self):\n        ms = diff(self.a)\n        return self.low() and self.dry() \
                   or ms > MAX\n";
        let task = "must() is hard to read, simplify it, without changing what it does";
        assert_eq!(found("main.py", method, one, task).len(), 1);
        let early = "bool may() {\n    if (!closed()) {\n        return false;\n    }\n    if (!fan()) {\n        return \
                     false;\n    }\n    return true;\n}\n";
        let all = "bool may() {\n    return wanted && (closed() || fan());\n}\n";
        let found_either = |new: &str| {
            let found =
                reported(CheckKind::Safeguards, ("src/a.cpp", Some(early), new), "One expression");
            found
                .into_iter()
                .filter(|found| found.contains("is satisfied by one"))
                .collect::<Vec<_>>()
        };
        let wanted =
            "Warning 2: is satisfied by one of `closed()` and `fan()`, where it asked for both";
        assert_eq!(found_either(all), [wanted]);
        assert_eq!(found_either(&all.replace("||", "&&")), [] as [String; 0]);
        let nested = "def must():\n    if low():\n        if dry():\n            return True\n    return False\n";
        assert_eq!(found("main.py", nested, joined, task), [] as [String; 0]);
    }

    #[test]
    fn conditions_that_are_negated_have_to_be_joined_the_other_way() {
        let old = "void loop() {\n  if (!hasWater() || temp > MAX) {\n    stop();\n  } else {\n    run();\n  }\n}\n";
        let new = |joint: &str| {
            format!(
                "static bool mayRun() {{\n  return hasWater() {joint} temp <= MAX;\n}}\nvoid loop() {{\n  if \
                 (mayRun()) {{\n    run();\n  }} else {{\n    stop();\n  }}\n}}\n"
            )
        };
        let found = |new: &str| {
            let all =
                reported(CheckKind::Safeguards, ("src/a.cpp", Some(old), new), "A function for it");
            all.into_iter().filter(|found| found.contains("negates")).collect::<Vec<_>>()
        };
        let wanted =
            "Warning 2: negates `hasWater()`, `temp <= MAX`, and still joins them with `||`";
        assert_eq!(found(&new("||")), [wanted]);
        assert_eq!(found(&new("&&")), [] as [String; 0]);
        assert_eq!(super::opposite("a < = b"), "a > b");
        assert_eq!(super::opposite("p - > n"), "! p - > n");
    }

    #[test]
    fn conditions_within_each_other_and_those_that_stay_are_not_reported() {
        let nested = "void a(void)\n{\n    if (hatch) {\n        if (curtain) {\n            stop();\n        }\n    \
                      }\n}\n";
        let flat = "void a(void)\n{\n    if (hatch && curtain) {\n        stop();\n    }\n}\n";
        let any = "void a(void)\n{\n    if (hatch || curtain) {\n        stop();\n    }\n}\n";
        let more = any.replace("}\n}", "}\n    if (hatch && curtain) {\n        warn();\n    }\n}");
        let negated = any.replace("hatch || curtain", "!(!hatch && !curtain)");
        for (old, new) in
            [(nested, flat), (any, more.as_str()), (any, negated.as_str()), (flat, any)]
        {
            assert_eq!(found("main/a.c", old, new, "Tidy"), [] as [String; 0], "{new}");
        }
    }
}
