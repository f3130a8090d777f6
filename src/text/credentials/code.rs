//! Secrets in sources: named literals, texts put together from pieces, and arrays of characters.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::calls::{ArgumentName, call, credential};
use super::composed;
use super::key_names::{form_says, is_key_array, is_key_name, is_mixed, is_random_key};
use super::key_uses::becomes_key;
use super::labels::is_label;
use super::plain::{is_explained, is_explained_key};
use super::secret::{Secret, finding_text, known_in, lines_around};
use super::values::{NameSays, is_like_password, is_secret_word, is_stand_in, name_says, parts};
use super::values::{Randomness, is_alphabet, is_sequence, looks};
use crate::text::c_tokens::{Token, TokenKind};

/// Functions that compare texts.
const COMPARISONS: [&str; 7] =
    ["strcmp", "strncmp", "memcmp", "strcasecmp", "bcmp", "equals", "compare"];

/// A text as the compiler joins it.
struct Literal {
    text: String,
    range: Range<usize>,
    /// Its first token.
    first: usize,
}

/// Texts of constants by their names, each with its place; an empty place is in another file.
type Constants = foldhash::HashMap<String, (String, Range<usize>)>;

/// The texts that a source gives names to.
pub(super) fn constants(source: &str, tokens: &[Token<'_>]) -> HashMap<String, String> {
    let known = CodeLiterals { tokens, source }.constants();
    known.into_iter().map(|(name, (text, _))| (name, text)).collect()
}

/// The secrets in the code of a source; `outer` are texts of constants in other files.
pub(super) fn find(
    source: &str,
    tokens: &[Token<'_>],
    outer: &HashMap<String, String>,
) -> Vec<Secret> {
    let code = CodeLiterals { tokens, source };
    let mut constants = code.constants();
    for (name, text) in outer {
        constants.entry(name.clone()).or_insert_with(|| (text.clone(), 0..0));
    }
    let mut found = Vec::new();
    for literal in code.literals(&constants) {
        found.extend(code.literal(&literal));
    }
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Word => {
                found.extend(code.use_of(at, &constants));
                found.extend(code.passkey(at));
            }
            TokenKind::Mark if token.is("{") || token.is("[") => found.extend(code.array(at)),
            _ => {}
        }
    }
    let known = |name: &str| constants.get(name).map(|(text, _)| text.clone());
    // The pieces of a secret may be told already.
    let is_new = |secret: &Secret| found.iter().all(|known: &Secret| known.what != secret.what);
    let composed: Vec<Secret> = composed::find(tokens, &known).into_iter().filter(is_new).collect();
    found.extend(composed);
    found
}

struct CodeLiterals<'a> {
    tokens: &'a [Token<'a>],
    source: &'a str,
}

impl<'a> CodeLiterals<'a> {
    fn is(&self, at: usize, mark: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }

    fn word(&self, at: usize) -> Option<Cow<'a, str>> {
        self.tokens.get(at)?.word()
    }

    /// The names of constant texts, with the texts.
    fn constants(&self) -> Constants {
        let mut known = Constants::default();
        // Twice, so that a constant may be made of others that come later.
        for _ in 0..2 {
            for literal in self.literals(&known) {
                let Some(before) = literal.first.checked_sub(1) else { continue };
                let before = self.before_cast(before);
                let name = match self.defined(before) {
                    Some(name) => name,
                    None if self.is(before, "=") => match self.assigned(before) {
                        Some(name) => name,
                        None => continue,
                    },
                    None => continue,
                };
                known.insert(name.into_owned(), (literal.text, literal.range));
            }
        }
        for at in 0..self.tokens.len() {
            known.extend(self.spelled(at));
        }
        known
    }

    /// The place before a cast that ends at `at`: `= (const char *)"…"`.
    fn before_cast(&self, at: usize) -> usize {
        if !self.is(at, ")") {
            return at;
        }
        let is_type = |at: &usize| self.word(*at).is_some() || self.is(*at, "*");
        let open = (0..at).rev().take(6).find(|at| !is_type(at));
        let open = open.filter(|open| self.is(*open, "(") && open + 1 < at);
        open.and_then(|open| open.checked_sub(1)).unwrap_or(at)
    }

    /// `NAME[] = {'a', 'b', …}`: the name, and the text that its characters make.
    fn spelled(&self, open: usize) -> Option<(String, (String, Range<usize>))> {
        let before = open.checked_sub(1).filter(|before| self.is(*before, "="))?;
        if !self.is(open, "{") {
            return None;
        }
        let mut text = String::new();
        for at in open + 1..open + 512 {
            let token = self.tokens.get(at)?;
            match token.kind {
                TokenKind::Text if token.raw.starts_with('\'') => text.push_str(&token.text()?),
                TokenKind::Number if token.raw == "0" => {}
                TokenKind::Mark if token.is(",") => {}
                TokenKind::Mark if token.is("}") && text.len() >= 4 => {
                    let range = self.tokens.get(open)?.start..token.range().end;
                    let text = text.trim_matches('\0').to_owned();
                    return Some((self.assigned(before)?.into_owned(), (text, range)));
                }
                _ => return None,
            }
        }
        None
    }

    /// A number that is a passkey for pairing: `setPasskey(482913)`, `passkey = 482913`.
    fn passkey(&self, at: usize) -> Option<Secret> {
        let name = self.word(at)?;
        let value = match (self.is(at + 1, "("), self.is(at + 1, "=")) {
            (true, _) if self.is(at + 3, ")") => at + 2,
            (_, true) if !self.is(at + 2, "=") => at + 2,
            _ => return None,
        };
        let token = self.tokens.get(value).filter(|token| token.kind == TokenKind::Number)?;
        let digits = token.raw.trim_end_matches(['u', 'U', 'l', 'L']);
        let is_passkey = name.to_ascii_lowercase().contains("passkey")
            && (4..=6).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_passkey.then(|| Secret::named(token.range(), NameSays::Key, &name))
    }

    /// Runs of texts, and of constants between them.
    fn literals(&self, constants: &Constants) -> Vec<Literal> {
        let mut found: Vec<Literal> = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let first = at;
            let mut text = String::new();
            let mut range: Option<Range<usize>> = None;
            while let Some(token) = self.tokens.get(at) {
                let piece = match token.kind {
                    TokenKind::Text => token.text(),
                    TokenKind::Word if !constants.is_empty() => {
                        let name = token.word().unwrap_or_default();
                        let known = constants.get(&*name).filter(|_| self.is_piece(at, constants));
                        known.map(|(text, _)| text.clone())
                    }
                    _ => None,
                };
                let Some(piece) = piece else { break };
                text.push_str(&piece);
                let start = range.map_or(token.start, |range| range.start);
                range = Some(start..token.range().end);
                at += 1;
                // `"a" + "b"` in Python and in sketches.
                if self.is(at, "+")
                    && self.tokens.get(at + 1).is_some_and(|t| t.kind == TokenKind::Text)
                {
                    at += 1;
                }
            }
            match range {
                Some(range) => found.push(Literal { text, range, first }),
                None => at += 1,
            }
        }
        found
    }

    /// Whether the constant at `at` stands beside a text or another constant, to which it is joined.
    fn is_piece(&self, at: usize, constants: &Constants) -> bool {
        let near = |at: Option<usize>| {
            let token = at.and_then(|at| self.tokens.get(at));
            token.is_some_and(|token| {
                token.kind == TokenKind::Text
                    || token.word().is_some_and(|word| constants.contains_key(&*word))
            })
        };
        self.defined(at).is_none()
            && !self.is(at + 1, "=")
            && (near(at.checked_sub(1)) || near(at.checked_add(1)))
    }

    fn literal(&self, literal: &Literal) -> Option<Secret> {
        let secret = |what: String, is_sure: bool| {
            Some(Secret { range: literal.range.clone(), what, is_sure })
        };
        if let Some(what) = known_in(&literal.text) {
            return secret(what, true);
        }
        if let Some((name, says)) = self.name_of(literal.first, &literal.text)
            && says != NameSays::Public
        {
            return match is_stand_in(&literal.text) || is_label(&name, &literal.text) {
                true => None,
                false => secret(finding_text(says, &name), true),
            };
        }
        let named = self.given(literal.first);
        if named.as_deref().is_some_and(is_key_name) && is_mixed(&literal.text) {
            return secret(finding_text(NameSays::Key, &named.unwrap_or_default()), false);
        }
        if self.is_compared(literal.first) && is_like_password(&literal.text) {
            return secret("a text that may be a password".to_owned(), false);
        }
        let inner = inner_setting(&literal.text);
        if let Some(what) = inner {
            return secret(what, true);
        }
        let is_random = looks(&literal.text) == Randomness::Random;
        let random = is_random && !is_explained(lines_around(self.source, &literal.range, 2));
        random.then(|| Secret::random(literal.range.clone()))
    }

    /// The name that is given the value at `first`.
    fn given(&self, first: usize) -> Option<Cow<'a, str>> {
        let before = first.checked_sub(1)?;
        self.defined(before).or_else(|| self.is(before, "=").then(|| self.assigned(before))?)
    }

    /// Whether the text at `first` is compared: `strcmp(given, "…")`, `given == "…"`.
    fn is_compared(&self, first: usize) -> bool {
        let is =
            |back: usize, mark: &str| first.checked_sub(back).is_some_and(|at| self.is(at, mark));
        if is(1, "=") && (is(2, "=") || is(2, "!")) {
            return true;
        }
        let open = (0..first).rev().take(12).find(|at| self.is(*at, "("));
        let function = open.and_then(|at| at.checked_sub(1)).and_then(|at| self.word(at));
        let mut between = open.map_or(0..0, |open| open..first);
        let is_one_call = !between.any(|at| self.is(at, ";") || self.is(at, "{"));
        is_one_call && function.is_some_and(|name| COMPARISONS.contains(&&*name))
    }

    /// A constant where a secret is expected.
    fn use_of(&self, at: usize, constants: &Constants) -> Option<Secret> {
        if constants.is_empty() {
            return None;
        }
        let name = self.word(at)?;
        let (text, range) = constants.get(&*name)?;
        let before = at.checked_sub(1)?;
        let is_definition = self.defined(before).is_some() || self.defined_here(at);
        // A character that is picked from it is not it.
        if is_definition || self.is(at + 1, "[") {
            return None;
        }
        let (named, says) = self.name_of(at, text)?;
        if is_stand_in(text) || is_alphabet(text) {
            return None;
        }
        let is_other =
            |part: &String| matches!(part.as_str(), "ssid" | "user" | "username" | "host");
        if parts(&name).iter().any(is_other) {
            return None;
        }
        if is_label(&name, text) || is_label(&named, text) {
            return None;
        }
        let is_secret = says != NameSays::Public && name_says(&name) == NameSays::Nothing;
        let here = self.tokens.get(at)?.range();
        let range = if range.is_empty() { here } else { range.clone() };
        is_secret.then(|| Secret::named(range, says, &named))
    }

    fn defined_here(&self, at: usize) -> bool {
        at.checked_sub(1).and_then(|at| self.word(at)).is_some_and(|word| word == "define")
    }

    /// `NAME` when the tokens up to `at` are `#define NAME`.
    fn defined(&self, at: usize) -> Option<Cow<'a, str>> {
        let token = self.tokens.get(at).filter(|token| token.in_directive)?;
        let define = self.tokens.get(at.checked_sub(1)?)?;
        define.is_word("define").then(|| token.word()).flatten()
    }

    /// The name before the `=` at `at`.
    fn assigned(&self, at: usize) -> Option<Cow<'a, str>> {
        let mut at = at.checked_sub(1)?;
        if self.is(at, ":") {
            at = at.checked_sub(1)?;
        }
        while self.is(at, "]") {
            at = (0..at).rev().take(12).find(|at| self.is(*at, "["))?.checked_sub(1)?;
        }
        // `NAME: [u8; 16] = …`, `NAME: &[u8] = …`
        if self.is(at, ":") || self.is(at, "&") {
            let colon = (0..=at).rev().take(2).find(|at| self.is(*at, ":"))?;
            return self.word(colon.checked_sub(1)?);
        }
        // `let name: Vec<u8> = …`
        if self.is(at, ">") {
            let is_declared = |colon: &usize| {
                let kind = colon.checked_sub(2).and_then(|at| self.word(at));
                let kinds = ["let", "mut", "const", "static"];
                self.is(*colon, ":") && kind.is_some_and(|word| kinds.contains(&&*word))
            };
            let colon = (0..at).rev().take(12).find(is_declared)?;
            return self.word(colon.checked_sub(1)?);
        }
        let word = self.word(at);
        // `NAME: &'static str = …`
        if word.as_deref().is_some_and(|word| matches!(word, "str" | "String" | "u8")) {
            let colon = (0..at).rev().take(8).find(|at| self.is(*at, ":"))?;
            return self.word(colon.checked_sub(1)?);
        }
        match self.tokens.get(at)?.text() {
            Some(key) => Some(Cow::Owned(key)),
            None => word,
        }
    }

    /// The name of what is given the value at `first`, when it speaks of a secret.
    fn name_of(&self, first: usize, literal: &str) -> Option<(String, NameSays)> {
        let name = |name: Cow<'_, str>| match name_says(&name) {
            NameSays::Nothing => None,
            says => Some((name.into_owned(), says)),
        };
        let before = first.checked_sub(1)?;
        if let Some(defined) = self.defined(before) {
            return name(defined);
        }
        if let Some(variable) = self.variable_before(first) {
            return name(variable.into());
        }
        let mut at = before;
        // Casts and braces between.
        while self.is(at, "{") || self.is(at, "&") || self.is(at, ")") {
            if self.is(at, ")") {
                let open = (0..at).rev().take(6).find(|at| self.is(*at, "("))?;
                at = open.checked_sub(1)?;
            } else {
                at = at.checked_sub(1)?;
            }
        }
        if self.is(at, "=") || self.is(at, ":") {
            let of = if self.is(at, ":") { self.key_before(at) } else { self.assigned(at) };
            return name(of?);
        }
        self.argument(first, literal).and_then(|(named, says)| name(named.into()).or(says))
    }

    /// The variable of the environment for which the text at `first` stands where it is not set:
    /// `option_env!("KEY").unwrap_or("…")`, `match option_env!("KEY") { …, None => "…" }`.
    fn variable_before(&self, first: usize) -> Option<String> {
        let back = |count: usize| first.checked_sub(count);
        let is_word =
            |at: usize, words: &[&str]| self.word(at).is_some_and(|it| words.contains(&&*it));
        let is_arm =
            self.is(back(1)?, ">") && self.is(back(2)?, "=") && is_word(back(3)?, &["None"]);
        let is_default = self.is(back(1)?, "(") && is_word(back(2)?, &["unwrap_or"]);
        if !is_arm && !is_default {
            return None;
        }
        let read =
            (0..first).rev().take(40).find(|at| is_word(*at, &["option_env", "var", "env"]))?;
        (read..first).find_map(|at| self.tokens.get(at)?.text())
    }

    /// `key` of `key: value`.
    fn key_before(&self, at: usize) -> Option<Cow<'a, str>> {
        let before = self.tokens.get(at.checked_sub(1)?)?;
        let Some(text) = before.text() else { return before.word() };
        // `fails ? "wrong password" : "no network"` gives no name.
        let is_text = |at: &usize| self.tokens.get(*at).is_some_and(|t| t.kind == TokenKind::Text);
        let start = (0..at).rev().find(|at| !is_text(at));
        (!start.is_some_and(|at| self.is(at, "?"))).then_some(Cow::Owned(text))
    }

    /// The name that says what the argument at `first` is, and what its place in the call says.
    fn argument(&self, first: usize, literal: &str) -> Option<ArgumentName> {
        let (mut depth, mut commas) = (0_usize, 0_usize);
        let mut words: Vec<Cow<'_, str>> = Vec::new();
        let mut texts: Vec<String> = Vec::new();
        for at in (0..first).rev().take(80) {
            let token = self.tokens.get(at)?;
            match token.kind {
                TokenKind::Mark => match token.raw {
                    ")" | "}" | "]" => depth += 1,
                    "(" | "{" if depth == 0 => {
                        let opener = at.checked_sub(1)?;
                        if token.is("{") {
                            if self.is(opener, "{") || self.is(opener, ",") {
                                continue;
                            }
                            let name = match self.is(opener, "=") {
                                true => self.assigned(opener),
                                false => self.word(opener),
                            };
                            return name.map(|name| (name.into_owned(), None));
                        }
                        let function = self.word(opener)?;
                        let owner = opener.checked_sub(2).filter(|_| self.is(opener - 1, "."));
                        let owner = owner.and_then(|at| self.word(at)).unwrap_or_default();
                        let joins_paths = function == "join"
                            && (matches!(&*owner, "path" | "posixpath" | "ntpath" | "Path")
                                || !is_secret_word(literal) && !is_like_password(literal));
                        if !joins_paths
                            && let Some(says) = credential(&function, (commas, &texts), literal)
                        {
                            return Some((String::new(), Some((String::new(), says))));
                        }
                        return Some(call(&function, commas, &words, &texts));
                    }
                    "(" | "{" | "[" => depth = depth.saturating_sub(1),
                    "," if depth == 0 => commas += 1,
                    ";" => return None,
                    _ => {}
                },
                TokenKind::Word if commas > 0 => words.push(token.word()?),
                TokenKind::Text if commas > 0 && depth == 0 => texts.extend(token.text()),
                TokenKind::DirectiveEnd => return None,
                _ => {}
            }
        }
        None
    }

    /// An array of characters or bytes that spells a secret.
    fn array(&self, open: usize) -> Option<Secret> {
        let mut spelled = String::new();
        let mut bytes: Vec<u8> = Vec::new();
        let (mut at, mut depth) = (open + 1, 0_usize);
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                TokenKind::Text if token.raw.starts_with('\'') => {
                    let piece = token.text().filter(|text| text.chars().count() <= 1)?;
                    bytes.extend(piece.bytes().filter(|byte| *byte != 0));
                    spelled.push_str(piece.trim_matches('\0'));
                }
                TokenKind::Number => bytes.push(u8::try_from(token.number()?).ok()?),
                TokenKind::Mark if token.is(",") => {}
                TokenKind::Mark if token.is("{") => depth += 1,
                TokenKind::Mark if token.is("}") && depth > 0 => depth -= 1,
                TokenKind::Mark if token.is("}") || token.is("]") => break,
                _ => return None,
            }
            at += 1;
            if at > open + 2_048 {
                return None;
            }
        }
        if bytes.len() < 4 {
            return None;
        }
        let name = self.array_name(open)?;
        let end = self.tokens.get(at)?.range().end;
        let range = self.tokens.get(open)?.start..end;
        let printable = bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        if let Some(what) = known_in(&text) {
            return Some(Secret { range, what, is_sure: true });
        }
        let says = match name_says(&name) {
            NameSays::Public => return None,
            NameSays::Nothing if is_key_array(&name, &bytes) => NameSays::Key,
            NameSays::Nothing if is_secret_word(&text) => form_says(&name)?,
            NameSays::Nothing if is_random_key(&bytes) && becomes_key(self.tokens, &name) => {
                NameSays::Key
            }
            NameSays::Nothing => return None,
            says => says,
        };
        let is_secret = match printable && (spelled.len() >= 4 || bytes.len() < 16) {
            true => !is_stand_in(&text),
            false => !is_sequence(&bytes) && bytes.len() >= 8,
        };
        // What the name says of the key itself does not explain it.
        let around = lines_around(self.source, &range, 4).replace(&*name, "");
        let is_test = is_explained_key(&around);
        let secret = Secret::named(range, says, &name);
        (is_secret && (printable || !is_test)).then_some(secret)
    }

    /// What an array is called that begins at `open`.
    fn array_name(&self, open: usize) -> Option<Cow<'a, str>> {
        let mut before = open.checked_sub(1)?;
        if self.is(before, "&") {
            before = before.checked_sub(1).filter(|at| self.is(*at, "="))?;
        }
        if self.is(before, "=") {
            return self.assigned(before);
        }
        if let Some(name) = self.defined(before) {
            return Some(name);
        }
        // `bytes([…])`, `(const uint8_t[]){…}`, `std::array<uint8_t, 4>{…}` behind `=`.
        let is_type = |at: &usize| {
            let marks = ["(", ")", "[", "]", "<", ">", ",", ":", "*", "&", "!"];
            let of = self.tokens.get(*at);
            of.is_some_and(|token| matches!(token.kind, TokenKind::Word | TokenKind::Number))
                || marks.iter().any(|mark| self.is(*at, mark))
        };
        let start = (0..=before).rev().take(16).find(|at| !is_type(at));
        if let Some(equal) = start.filter(|at| self.is(*at, "=")) {
            let words = equal + 1..open;
            let calls = ["bytes", "bytearray", "array", "vec"];
            let is_made = words.clone().any(|at| {
                self.is(at, ">")
                    || self.is(at, "[")
                    || self.word(at).is_some_and(|w| calls.contains(&&*w))
            });
            return is_made.then(|| self.assigned(equal)).flatten();
        }
        // `uint8_t name{…}`, `std::array<uint8_t, 4> name{…}`, `uint8_t name[4]{…}`.
        let mut at = before;
        while self.is(at, "]") {
            at = (0..at).rev().take(12).find(|at| self.is(*at, "["))?.checked_sub(1)?;
        }
        let kind = at.checked_sub(1)?;
        let is_declared = self.is(kind, ">") || self.word(kind).is_some();
        self.word(at).filter(|_| is_declared && self.is(open, "{"))
    }
}

/// A setting within a text, such as `{"password":"…"}`.
fn inner_setting(text: &str) -> Option<String> {
    if text.len() < 8 || !text.contains([':', '=']) {
        return None;
    }
    let is_marked = text.contains(['"', '&', '{']) || !text.contains(' ');
    let found = if is_marked { super::plain::settings(text) } else { Vec::new() };
    let is_page =
        ["<script", "<form", "<input", "function", "=>"].iter().any(|part| text.contains(part));
    // In the code of a page, what stands without quotes is an expression.
    let is_value = |secret: &Secret| {
        let before = secret.range.start.checked_sub(1).and_then(|at| text.get(at..=at));
        !is_page || before.is_some_and(|before| matches!(before, "\"" | "'" | "`"))
    };
    found.into_iter().find(|secret| secret.is_sure && is_value(secret)).map(|secret| secret.what)
}
