//! What compiles in C and C++ but does not parse before preprocessing, made palatable for a grammar.
//!
//! Owns the idioms: macros in place of attributes, types, heads of loops and texts, and extensions
//! of compilers. Every change keeps the length and the lines. Must not judge what is left.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

use super::c_gaps;
use super::c_scope::{Scope, Scopes};
use super::c_tokens::TokenKind;
use crate::text::shipped::shipped_table;

/// Tokens of a statement that are looked at.
const STATEMENT: usize = 512;

/// The words of `assets/syntax/c_words.toml`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct CWords {
    keywords: HashSet<String>,
    types: HashSet<String>,
    qualifiers: HashSet<String>,
    like_functions: Vec<String>,
}

static WORDS: LazyLock<CWords> = LazyLock::new(|| {
    shipped_table(include_str!("../../assets/syntax/c_words.toml")).unwrap_or_default()
});

/// The names of macros that a text itself defines, with whether they need no `;`.
pub(super) type Macros = HashMap<String, bool>;

/// The places to replace, each with what stands there instead, before blanks.
pub(super) type Edits = Vec<(Range<usize>, &'static str)>;

/// A look at the tokens of one text.
pub(super) struct Idioms<'a> {
    pub(super) scopes: &'a Scopes<'a>,
    pub(super) macros: &'a Macros,
}

/// Whether a name is written as those of macros are.
pub(super) fn is_capital(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_uppercase())
        && !name.bytes().any(|byte| byte.is_ascii_lowercase())
        || ["PRI", "SCN"].iter().any(|start| name.starts_with(start) && name.len() < 12)
}

impl Idioms<'_> {
    /// All of them, as edits.
    pub(super) fn edits(&self) -> Edits {
        let mut edits = Edits::new();
        for at in 0..self.scopes.tokens.len() {
            self.extension(at, &mut edits);
            if let Some(tokens) = c_gaps::find(self.scopes, at) {
                self.blank(tokens, &mut edits);
            }
            if self.scopes.word(at).is_some() {
                self.words(at, &mut edits);
                self.texts(at, &mut edits);
            }
            if self.scopes.is(at, "(") {
                self.arguments(at, &mut edits);
                self.called(at, &mut edits);
            }
        }
        edits
    }

    /// Whether a name is surely or most likely that of a macro.
    pub(super) fn is_macro(&self, name: &str) -> bool {
        is_capital(name) || self.macros.contains_key(name)
    }

    /// Whether the name is that of a macro that is written like a function.
    pub(super) fn is_function(name: &str) -> bool {
        WORDS.like_functions.iter().any(|start| name.starts_with(start))
    }

    /// Whether a call of this name is a statement that needs its `;`.
    pub(super) fn is_plain_call(&self, name: &str) -> bool {
        !WORDS.keywords.contains(name) && !name.starts_with("__") && !self.needs_no_end(name)
    }

    /// Whether a macro of this name may stand without `;`.
    fn needs_no_end(&self, name: &str) -> bool {
        match self.macros.get(name) {
            Some(is_whole) => *is_whole,
            None => {
                let lower = name.to_ascii_lowercase();
                lower.contains("foreach")
                    || lower.contains("for_each")
                    || is_capital(name) && !Self::is_function(name)
            }
        }
    }

    /// Whether a call or name is nothing but a macro there, without `;`.
    fn stands_alone(&self, at: usize, name: &str) -> bool {
        let is_call = self.scopes.is(at + 1, "(");
        let is_outer = match self.scopes.scope(at) {
            Scope::File => is_call,
            Scope::Members => true,
            Scope::Body | Scope::Enum | Scope::List => false,
        };
        !WORDS.keywords.contains(name)
            && !WORDS.types.contains(name)
            && (is_outer || self.needs_no_end(name))
    }

    /// Whether a statement may start here, also behind a macro that stands without `;`.
    fn starts(&self, at: usize) -> bool {
        let scopes = self.scopes;
        let mut at = at;
        while !scopes.starts_statement(at) {
            let Some(before) = at.checked_sub(1) else { return true };
            let name = match scopes.is(before, ")") {
                true => scopes.pair(before).checked_sub(1),
                false => Some(before),
            };
            let Some(name) = name.filter(|name| *name < at && scopes.ends_line(before)) else {
                return false;
            };
            if !scopes.word(name).is_some_and(|word| self.stands_alone(name, word)) {
                return false;
            }
            at = name;
        }
        true
    }

    fn blank(&self, tokens: Range<usize>, edits: &mut Edits) {
        edits.push((self.scopes.bytes(&tokens), ""));
    }

    fn is_dots(&self, at: usize) -> bool {
        (at..at + 3).all(|at| self.scopes.is(at, "."))
    }

    /// Attributes, ranges of `case`, computed `goto`, expanded `using`.
    fn extension(&self, at: usize, edits: &mut Edits) {
        let scopes = self.scopes;
        let until = |mark: &str| {
            let is_inside = |at: &usize| !scopes.is_one_of(*at, &["{", "}"]);
            let inside = (at + 1..scopes.tokens.len()).take(STATEMENT).take_while(is_inside);
            inside.into_iter().find(|at| scopes.is(*at, mark))
        };
        match scopes.word(at) {
            Some("__attribute__" | "__attribute" | "__declspec") if scopes.is(at + 1, "(") => {
                self.blank(at..scopes.pair(at + 1) + 1, edits);
            }
            Some("__extension__" | "__restrict" | "__restrict__" | "__inline" | "__inline__") => {
                self.blank(at..at + 1, edits);
            }
            Some("case") => {
                let Some(end) = until(":") else { return };
                let dots = (at..end).find(|at| self.is_dots(*at));
                if let Some(dots) = dots {
                    self.blank(dots..end, edits);
                }
            }
            Some("goto") if scopes.is(at + 1, "*") => {
                let Some(end) = until(";") else { return };
                edits.push((self.scopes.bytes(&(at + 1..end)), "x"));
            }
            Some("using") => {
                let Some(end) = until(";") else { return };
                if let Some(at) = (at..end).find(|at| scopes.word(*at) == Some("operator")) {
                    edits.push((self.scopes.bytes(&(at..end)), "f"));
                }
            }
            _ => {}
        }
        let opens = scopes.is(at, "[") && scopes.is(at + 1, "[");
        if opens && scopes.pair(at) == scopes.pair(at + 1) + 1 {
            self.blank(at..scopes.pair(at) + 1, edits);
        }
        if scopes.is(at, "&") && scopes.is(at + 1, "&") && scopes.word(at + 2).is_some() {
            let is_value = at.checked_sub(1).is_some_and(|before| {
                scopes.is_one_of(before, &["(", ",", "=", "{", "[", "?"])
                    || scopes.word(before) == Some("return")
            });
            if is_value && scopes.scope(at) != Scope::File {
                self.blank(at..at + 2, edits);
            }
        }
    }

    /// Macros among the words of a declaration.
    fn words(&self, at: usize, edits: &mut Edits) {
        let scopes = self.scopes;
        let Some(word) = scopes.word(at) else { return };
        if matches!(word, "class" | "struct" | "union") {
            let mut name = at + 1;
            let is_named = |at: usize| scopes.word(at).is_some_and(|word| word != "final");
            while is_named(name) {
                let after = match scopes.is(name + 1, "(") {
                    true => scopes.pair(name + 1) + 1,
                    false => name + 1,
                };
                let opens =
                    |at: usize| scopes.is_one_of(at, &["{", ":", "<"]) || scopes.word(at).is_some();
                if !is_named(after) || !opens(after + 1) {
                    break;
                }
                let heads = (after..).take_while(|at| scopes.get(*at).is_some());
                let mut heads = heads.skip_while(|at| scopes.word(*at).is_some());
                if !heads.next().is_some_and(|at| scopes.is_one_of(at, &["{", ":", "<"])) {
                    break;
                }
                self.blank(name..after, edits);
                name = after;
            }
            return;
        }
        let is_alone =
            scopes.ends_line(at) && !scopes.is(at + 1, "(") && self.stands_alone(at, word);
        let is_followed =
            scopes.get(at + 1).is_none_or(|next| next.is("}")) || scopes.word(at + 1).is_some();
        let is_statement =
            !matches!(scopes.scope(at), Scope::Enum | Scope::List) && self.starts(at);
        if is_alone && is_followed && is_statement {
            return self.blank(at..at + 1, edits);
        }
        let is_first = at.checked_sub(1).and_then(|before| scopes.word(before)).is_none();
        if is_first && !matches!(scopes.scope(at), Scope::Enum | Scope::List) {
            self.declaration(at, edits);
        }
    }

    /// A run of words: of those that may be macros, as many as a declaration can do without.
    fn declaration(&self, first: usize, edits: &mut Edits) {
        let scopes = self.scopes;
        let run = (first..).take_while(|at| scopes.word(*at).is_some());
        let run: Vec<(usize, &str)> = run.filter_map(|at| Some((at, scopes.word(at)?))).collect();
        let Some((last, _)) = run.last().copied() else { return };
        if self.joined(first).is_some_and(|joined| joined.end > last) {
            return;
        }
        self.behind_name(&run, edits);
        let follows_head = first.checked_sub(1).is_some_and(|before| scopes.is(before, ")"));
        if follows_head && scopes.scope(first) != Scope::Body {
            if run.iter().all(|(_, word)| is_capital(word)) && !scopes.is(last + 1, "(") {
                self.blank(first..last + 1, edits);
            }
            return;
        }
        let is_pointer = scopes.is_one_of(last + 1, &["*", "&"]);
        let needed = if is_pointer { 1 } else { 2 };
        let is_qualifier = |word: &str| WORDS.qualifiers.contains(word);
        let mut counted = run.iter().filter(|(_, word)| !is_qualifier(word)).count();
        let has_unsigned =
            run.iter().any(|(_, word)| matches!(*word, "unsigned" | "signed" | "long" | "short"));
        let needed = if has_unsigned { needed - 1 } else { needed };
        let after_star = first.checked_sub(1).is_some_and(|before| scopes.is(before, "*"));
        let needed = if after_star { 1 } else { needed };
        for (at, word) in &run {
            let may = *at != last || is_pointer;
            if may && counted > needed && is_capital(word) {
                self.blank(*at..*at + 1, edits);
                counted -= 1;
            }
        }
    }

    /// Attributes behind a declared name: `logo[] PROGMEM = {…}`, `static int boots RTC_DATA_ATTR;`.
    fn behind_name(&self, run: &[(usize, &str)], edits: &mut Edits) {
        let scopes = self.scopes;
        let (Some((first, _)), Some((last, _))) = (run.first(), run.last()) else { return };
        let before = first.checked_sub(1);
        let follows = |mark: &str| before.is_some_and(|before| scopes.is(before, mark));
        let ends = scopes.is_one_of(last + 1, &["=", ";", ",", "{"]);
        let is_statement = run.first().is_some_and(|(_, word)| {
            WORDS.keywords.contains(*word)
                && !WORDS.qualifiers.contains(*word)
                && !WORDS.types.contains(*word)
        });
        if !ends || is_statement || scopes.scope(*first) == Scope::List {
            return;
        }
        let is_attribute = |word: &str| {
            !WORDS.keywords.contains(word) && (self.is_macro(word) || word.starts_with("__"))
        };
        // The words that a declaration needs: its type and its name.
        let kept = match (follows("]"), follows("*")) {
            (true, _) => 0,
            (_, true) => 1,
            _ => run.iter().filter(|(_, word)| WORDS.qualifiers.contains(*word)).count() + 2,
        };
        let behind = run.iter().skip(kept);
        if behind.clone().all(|(_, word)| is_attribute(word)) {
            for (at, _) in behind {
                self.blank(*at..*at + 1, edits);
            }
        }
    }

    /// A run of texts and macros where a text is expected.
    fn joined(&self, at: usize) -> Option<Range<usize>> {
        let scopes = self.scopes;
        let before = at.checked_sub(1)?;
        if matches!(scopes.scope(at), Scope::Enum | Scope::Members) {
            return None;
        }
        let is_text = |at: usize| scopes.is_text(at);
        let is_name = |at: usize| scopes.word(at).is_some_and(|word| self.is_macro(word));
        let opens = ["(", ",", "=", "{", "?", ":", "[", "+", "<", ">", "!"];
        let starts = scopes.is_one_of(before, &opens)
            || scopes.word(before) == Some("return")
            || is_text(before);
        if !starts || !is_name(at) {
            return None;
        }
        let mut end = at;
        let mut texts = 0;
        let is_joined =
            |at: usize| !scopes.is(at + 1, "(") || !scopes.ends_line(at - 1) || is_text(at - 1);
        let is_part = |at: usize| {
            is_name(at) && is_joined(at) && !scopes.word(at).is_some_and(Self::is_function)
        };
        while is_text(end) || is_part(end) {
            texts += usize::from(is_text(end));
            end = match is_name(end) && scopes.is(end + 1, "(") {
                true => scopes.pair(end + 1) + 1,
                false => end + 1,
            };
        }
        let ends = scopes.is_one_of(end, &[")", ",", ";", "}", "]", ":"]);
        (ends && (end >= at + 2 || texts > 0)).then_some(at..end)
    }

    /// Names of macros beside texts, or beside each other where a text is expected.
    fn texts(&self, at: usize, edits: &mut Edits) {
        let scopes = self.scopes;
        let (Some(before), Some(joined)) = (at.checked_sub(1), self.joined(at)) else { return };
        let (at, end) = (joined.start, joined.end);
        let is_text = |at: usize| scopes.is_text(at);
        // One of them stays.
        let kept = (at..end).find(|at| is_text(*at)).unwrap_or(at);
        let first_end = kept + 1;
        if is_text(before) {
            self.blank(at..end, edits);
        } else {
            self.blank(at..kept, edits);
            let is_call = !is_text(kept) && scopes.is(first_end, "(");
            let first_end = if is_call { scopes.pair(first_end) + 1 } else { first_end };
            self.blank(first_end..end, edits);
        }
    }

    /// Types and operators in place of arguments.
    fn arguments(&self, open: usize, edits: &mut Edits) {
        let scopes = self.scopes;
        let Some(name) = open.checked_sub(1) else { return };
        let Some(called) = scopes.word(name).filter(|word| !WORDS.keywords.contains(*word)) else {
            return;
        };
        if matches!(
            called,
            "offsetof" | "alignof" | "_Alignof" | "_Generic" | "typeof" | "__typeof__"
        ) {
            return;
        }
        let is_declared = name.checked_sub(1).is_some_and(|before| {
            scopes
                .word(before)
                .is_some_and(|word| !matches!(word, "return" | "case" | "else" | "do"))
                || scopes.is_one_of(before, &[")", "*", "&", ">", "~", ":"])
        });
        let close = scopes.pair(open);
        let is_member = matches!(scopes.scope(name), Scope::File | Scope::Members)
            && scopes.starts_statement(name);
        if is_declared || (is_member || scopes.is(close + 1, "{")) && !self.is_macro(called) {
            return;
        }
        let mut from = open + 1;
        while from < close {
            let mut end = from;
            while end < close && !scopes.is(end, ",") {
                end = scopes.pair(end).max(end) + 1;
            }
            if end > from && (self.is_type(from..end) || self.is_operator(from..end, called)) {
                let instead = if called == "va_arg" { "int" } else { "0" };
                edits.push((self.scopes.bytes(&(from..end)), instead));
            }
            from = end + 1;
        }
    }

    fn is_type(&self, tokens: Range<usize>) -> bool {
        let scopes = self.scopes;
        let is_part = |at: usize| {
            scopes.word(at).is_some() || scopes.is_one_of(at, &["*", "&", "<", ">", ":"])
        };
        let has_word =
            tokens.clone().any(|at| scopes.word(at).is_some_and(|word| WORDS.types.contains(word)));
        let last = tokens.end - 1;
        let is_pointer = scopes.word(tokens.start).is_some() && scopes.is(last, "*");
        let is_declared = tokens.len() > 1 && scopes.word(last).is_some();
        (has_word || is_pointer) && tokens.clone().all(is_part) && (has_word || !is_declared)
    }

    /// Marks alone, or a keyword, as the argument of what may be a macro.
    fn is_operator(&self, tokens: Range<usize>, called: &str) -> bool {
        let mut marks = tokens.clone().map(|at| {
            self.scopes.get(at).is_some_and(|token| {
                token.kind == TokenKind::Mark
                    && !matches!(token.raw, "(" | ")" | "[" | "]" | "{" | "}" | ";" | "'")
            })
        });
        let is_keyword = tokens.len() == 1
            && self.scopes.word(tokens.start).is_some_and(|word| WORDS.keywords.contains(word));
        self.is_macro(called) && (marks.all(|is_mark| is_mark) || is_keyword)
    }

    /// Calls that are heads or whole statements, and those in declarations.
    fn called(&self, open: usize, edits: &mut Edits) {
        let scopes = self.scopes;
        let Some(name) = open.checked_sub(1) else { return };
        let Some(called) = scopes.word(name).filter(|word| !WORDS.keywords.contains(*word)) else {
            return;
        };
        let (scope, after) = (scopes.scope(name), scopes.pair(open) + 1);
        let whole = name..after;
        let before = name.checked_sub(1);
        let opens_list = before.is_some_and(|before| scopes.is_one_of(before, &["{", ","]));
        if scope == Scope::Enum && opens_list && self.is_macro(called) && !scopes.is(after, ",") {
            return self.blank(whole, edits);
        }
        let is_next_line = scopes.ends_line(after - 1);
        let starts = self.starts(name);
        if starts && scopes.is(after, "{") && scope == Scope::Body {
            return self.blank(whole, edits);
        }
        if starts && scopes.is(after, "{") && scope == Scope::File && self.is_macro(called) {
            return edits.push((self.scopes.bytes(&whole), "F()"));
        }
        let goes_on = scopes.get(after).is_some_and(|next| {
            next.kind == TokenKind::Mark
                && !matches!(next.raw, "}" | "{" | "*" | "+" | "-" | "~")
                && !(next.is("(") && is_next_line)
        });
        let has_body = scopes.is(after, "{") && scope != Scope::Body;
        let may_end = !has_body && (is_next_line || scopes.is(after, "}"));
        if starts && !goes_on && may_end && self.stands_alone(name, called) {
            return self.blank(whole, edits);
        }
        self.called_in_declaration(name, (starts, is_next_line), edits);
    }

    /// Calls that are types or attributes; `starts`: a statement starts with it, `is_last`: its line
    /// ends with it.
    fn called_in_declaration(
        &self,
        name: usize,
        (starts, is_last): (bool, bool),
        edits: &mut Edits,
    ) {
        let scopes = self.scopes;
        let called = scopes.word(name).filter(|word| !word.starts_with("__attribute"));
        let Some(called) = called.filter(|word| *word != "alignas") else { return };
        let (scope, after) = (scopes.scope(name), scopes.pair(name + 1) + 1);
        let (whole, before) = (name..after, name.checked_sub(1));
        let follows_bracket = before.is_some_and(|before| scopes.is_one_of(before, &[")", "]"]));
        let is_outer = matches!(scope, Scope::File | Scope::Members);
        let qualified = before.and_then(|before| scopes.word(before));
        let is_qualified = qualified.is_some_and(|word| WORDS.qualifiers.contains(word));
        let names_follow = scopes.word(after).is_some() || scopes.is(after, "*");
        let may_be_type = self.is_macro(called) || scope == Scope::File;
        if (starts || is_qualified) && names_follow && may_be_type && !is_last {
            return edits.push((self.scopes.bytes(&whole), "int"));
        }
        // An attribute behind a head or a declared name.
        let ends = scopes.is_one_of(after, &[";", "{", "=", ","]);
        let is_behind_name =
            qualified.is_some() && !is_qualified && !starts && !scopes.is(after, "{");
        let is_attribute = follows_bracket || is_behind_name;
        if is_outer
            && self.is_macro(called)
            && is_attribute
            && (ends || scopes.word(after).is_some())
        {
            self.blank(whole, edits);
        }
    }
}
