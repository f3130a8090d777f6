//! The readings of a source of C: what is left of it when the preprocessor has decided.
//!
//! Owns the conditions and which of them exclude each other. Every reading keeps the length and the
//! lines of the source. Must not know what the code means.

use std::collections::HashMap;
use std::ops::Range;

use super::c_balance::{self, Turn};
use super::c_tokens::{self, Token, TokenKind};
use super::lines::blanked;

/// Most readings of one source.
const MAX_READINGS: usize = 24;

/// One decision on all conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Each condition holds where it is met first.
    First,
    /// No condition holds.
    Last,
    /// Of each chain the alternative with this number.
    Nth(usize),
    /// One chain, by its number, has its first alternative; no other has.
    Only(usize),
}

/// A source with its directives.
#[derive(Debug)]
pub(super) struct Branches<'a> {
    source: &'a str,
    is_cpp: bool,
    directives: Vec<Directive>,
}

#[derive(Debug)]
struct Directive {
    range: Range<usize>,
    name: String,
    /// What follows the name, without blanks.
    rest: String,
    /// The words of it.
    first: String,
}

/// A text of the same length as its source, and what of the source it leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Branch {
    /// Code without directives.
    pub(super) text: String,
    dead: Vec<Range<usize>>,
}

impl Branch {
    /// Whether the place, in bytes, is code of this reading.
    pub(super) fn has(&self, at: usize) -> bool {
        !self.dead.iter().any(|range| range.contains(&at))
    }
}

struct BranchChain {
    number: usize,
    index: usize,
    is_live: bool,
    is_taken: bool,
    /// It stands in code that is read.
    is_read: bool,
}

impl<'a> Branches<'a> {
    /// Finds the directives of a source.
    pub(super) fn of(source: &'a str, is_cpp: bool) -> Self {
        let tokens = c_tokens::with_excluded(source);
        let mut directives = Vec::new();
        let mut rest = tokens.as_slice();
        while let Some(start) = rest.iter().position(|token| token.in_directive) {
            rest = rest.get(start..).unwrap_or_default();
            let end = rest.iter().position(|token| token.kind == TokenKind::DirectiveEnd);
            let end = end.unwrap_or(rest.len().saturating_sub(1));
            directives.extend(directive(rest.get(..=end).unwrap_or_default()));
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Self { source, is_cpp, directives }
    }

    /// The names that the source defines as macros, with whether they need no `;`.
    pub(super) fn macros(&self) -> HashMap<String, bool> {
        let defines = self.directives.iter().filter(|directive| directive.name == "define");
        defines.map(|define| (define.first.clone(), is_whole(&define.rest))).collect()
    }

    /// A condition without end, or an end or alternative without condition.
    pub(super) fn lone_directive(&self) -> Option<(usize, String)> {
        let mut open = Vec::new();
        for Directive { range, name, .. } in &self.directives {
            match name.as_str() {
                "if" | "ifdef" | "ifndef" => open.push((range.start, name)),
                "elif" | "else" | "elifdef" | "elifndef" if open.is_empty() => {
                    return Some((range.start, format!("`#{name}` has no `#if`")));
                }
                "endif" if open.pop().is_none() => {
                    return Some((range.start, "`#endif` has no `#if`".to_owned()));
                }
                _ => {}
            }
        }
        open.first().map(|(at, name)| (*at, format!("`#{name}` has no `#endif`")))
    }

    /// Whether two different conditions speak of the same name, so that not every reading can be.
    pub(super) fn are_related(&self) -> bool {
        let mut known: HashMap<&str, &str> = HashMap::new();
        let is_condition = |name: &str| name.starts_with("if") || name.starts_with("elif");
        self.directives.iter().filter(|directive| is_condition(&directive.name)).any(|directive| {
            let (condition, _) = condition(directive);
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let mut words = condition.split(|c| !is_part(c));
            words.any(|word| {
                let is_name = word.starts_with(|c: char| !c.is_ascii_digit()) && word != "defined";
                is_name && *known.entry(word).or_insert(condition) != condition
            })
        })
    }

    /// A bracket in a part of the source that no choice of the conditions makes up for.
    pub(super) fn unbalanced(&self) -> Option<(usize, String)> {
        let turn = |directive: &Directive| {
            let turn = match directive.name.as_str() {
                "if" | "ifdef" | "ifndef" => {
                    let (condition, is_negated) = condition(directive);
                    let is_constant = |values: [&str; 2]| values.contains(&condition);
                    let (no, yes) = (is_constant(["0", "false"]), is_constant(["1", "true"]));
                    let is_dead = if is_negated { yes } else { no };
                    Turn::If { is_dead, is_sure: if is_negated { no } else { yes } }
                }
                "elif" | "elifdef" | "elifndef" => Turn::Part { is_last: false },
                "else" => Turn::Part { is_last: true },
                "endif" => Turn::End,
                _ => return None,
            };
            Some((directive.range.start, turn))
        };
        let turns: Vec<(usize, Turn)> = self.directives.iter().filter_map(turn).collect();
        c_balance::find(&c_tokens::with_excluded(self.source), &turns)
    }

    /// The reading in which each condition holds where it is met first.
    pub(super) fn first_reading(&self) -> Branch {
        self.reading(Choice::First)
    }

    /// The different readings: first conditions, last ones, further alternatives, each chain alone.
    pub(super) fn readings(&self) -> Vec<Branch> {
        let chains = self.directives.iter().filter(|directive| directive.name.starts_with("if"));
        let most = self.directives.iter().filter(|directive| directive.name.starts_with("elif"));
        let mut choices = vec![Choice::First, Choice::Last];
        choices.extend((1..=most.count().min(4)).map(Choice::Nth));
        choices.extend((0..chains.count()).map(Choice::Only).take(2 * MAX_READINGS));
        let mut found: Vec<Branch> = Vec::new();
        for choice in choices {
            if found.len() >= MAX_READINGS {
                break;
            }
            let branch = self.reading(choice);
            if !found.iter().any(|known| known.dead == branch.dead) {
                found.push(branch);
            }
        }
        found
    }

    fn reading(&self, choice: Choice) -> Branch {
        let mut known: HashMap<&str, bool> = HashMap::new();
        let mut chains: Vec<BranchChain> = Vec::new();
        let mut dead: Vec<Range<usize>> = Vec::new();
        let (mut from, mut number) = (0, 0);
        for (at, directive) in self.directives.iter().enumerate() {
            if chains.last().is_some_and(|chain| !chain.is_live) {
                dead.push(from..directive.range.start);
            }
            from = directive.range.end;
            match directive.name.as_str() {
                "if" | "ifdef" | "ifndef" => {
                    let is_read = chains.last().is_none_or(|chain| chain.is_live);
                    let mut chain =
                        BranchChain { number, index: 0, is_live: false, is_taken: false, is_read };
                    chain.is_live = is_read && self.holds(at, choice, &chain, &mut known);
                    chain.is_taken = chain.is_live;
                    chains.push(chain);
                    number += 1;
                }
                "elif" | "elifdef" | "elifndef" | "else" => {
                    let Some(mut chain) = chains.pop() else { continue };
                    chain.index += 1;
                    let may = chain.is_read && !chain.is_taken;
                    let is_else = directive.name == "else";
                    chain.is_live = may && (is_else || self.holds(at, choice, &chain, &mut known));
                    chain.is_taken |= chain.is_live;
                    chains.push(chain);
                }
                "endif" => drop(chains.pop()),
                _ => {}
            }
        }
        let directives = self.directives.iter().map(|directive| directive.range.clone());
        let text = blanked(self.source, dead.iter().cloned().chain(directives));
        Branch { text, dead }
    }

    fn holds<'s>(
        &'s self,
        at: usize,
        choice: Choice,
        chain: &BranchChain,
        known: &mut HashMap<&'s str, bool>,
    ) -> bool {
        let Some(directive) = self.directives.get(at) else { return false };
        let (condition, is_negated) = condition(directive);
        match condition {
            "0" | "false" => return is_negated,
            "1" | "true" => return !is_negated,
            "__cplusplus" => return self.is_cpp != is_negated,
            _ => {}
        }
        // `#ifndef X` before `#define X` guards a header, or gives a value where there is none.
        let next = self.directives.get(at + 1);
        if is_negated && next.is_some_and(|next| next.name == "define" && next.first == condition) {
            return true;
        }
        let wanted = match choice {
            Choice::First => true,
            Choice::Last => false,
            Choice::Nth(index) => chain.index == index,
            Choice::Only(number) => chain.number == number,
        };
        *known.entry(condition).or_insert(wanted != is_negated) != is_negated
    }
}

/// Whether a line, from 1, stands in a condition, the guard of a header left out.
#[must_use]
pub fn is_conditional(source: &str, line: u32) -> bool {
    let mut depth = 0_u32;
    let mut guard = None;
    let mut lines = (1..).zip(source.lines());
    for (number, text) in lines.by_ref().take_while(|(number, _)| *number <= line) {
        let Some(rest) = text.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        let mut words = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        match (words.next().unwrap_or_default(), depth) {
            ("ifndef", 0) if guard.is_none() => guard = Some(number),
            ("if" | "ifdef" | "ifndef", _) => {
                guard = guard.or(Some(0));
                depth += 1;
            }
            ("endif", _) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth > 0
}

/// Whether the text of a macro is a statement, or the head of one, or nothing.
fn is_whole(text: &str) -> bool {
    let body = text.split_once(')').map_or(text, |(_, body)| body);
    let is_loop = body.starts_with("for(") || body.starts_with("while(") || body.starts_with("if(");
    body.is_empty() || body.ends_with([';', '}']) && !body.starts_with('{') || is_loop
}

/// The condition without its negation.
fn condition(directive: &Directive) -> (&str, bool) {
    let mut text = directive.rest.as_str();
    let mut is_negated = directive.name.ends_with("ndef");
    if let Some(rest) = text.strip_prefix('!').filter(|rest| !rest.contains(['&', '|', '='])) {
        (text, is_negated) = (rest, !is_negated);
    }
    let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let inner = text.strip_prefix("defined").unwrap_or(text);
    let bare = inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(inner);
    (if is_name(bare) { bare } else { text }, is_negated)
}

fn directive(tokens: &[Token<'_>]) -> Option<Directive> {
    let (hash, end) = (tokens.first()?, tokens.last()?);
    let name = tokens.get(1).and_then(Token::word).unwrap_or_default().into_owned();
    let words = tokens.get(2..).unwrap_or_default();
    let first = words.first().and_then(Token::word).unwrap_or_default().into_owned();
    let rest = words.iter().map(|token| token.raw).collect();
    Some(Directive { range: hash.start..end.range().end, name, rest, first })
}
