//! Secrets that a source puts together as it runs: by a format, by texts that are appended one after
//! another, and by texts that are joined.
//!
//! Owns what such statements make of literals and constants. Must not judge single literals.

use std::collections::BTreeMap;
use std::ops::Range;

use super::key_names::{is_key_name, is_mixed};
use super::labels::is_label;
use super::secret::{Secret, finding_text, known_in};
use super::values::{NameSays, Randomness, is_stand_in, looks, name_says};
use crate::text::c_calls::parts;
use crate::text::c_tokens::{Token, TokenKind, closes};

/// Functions that fill a format, with whether their first argument takes the result.
const FORMATS: [(&str, bool); 6] = [
    ("sprintf", true),
    ("snprintf", true),
    ("asprintf", true),
    ("format", false),
    ("printf", false),
    ("StringPrintf", false),
];

/// Functions that begin a text, and functions that append to one.
const BEGINS: [&str; 3] = ["strcpy", "strncpy", "strlcpy"];
const APPENDS: [&str; 3] = ["strcat", "strncat", "strlcat"];
const METHODS: [&str; 4] = ["concat", "append", "push_str", "write_str"];

/// Arguments of a call that are read.
const MOST_ARGUMENTS: usize = 24;

/// Longest text that is put together.
const LONGEST: usize = 1_024;

/// The texts of constants by their names.
pub(super) type KnownTexts<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// A text that statements put together.
struct Composed {
    /// What takes it; empty where nothing tells.
    name: String,
    text: String,
    range: Range<usize>,
    pieces: usize,
}

/// The secrets that are put together of two pieces and more.
pub(super) fn find(tokens: &[Token<'_>], known: &KnownTexts<'_>) -> Vec<Secret> {
    let code = Composing { tokens, closes: closes(tokens), known };
    let mut all = Vec::new();
    let mut open: BTreeMap<String, Composed> = BTreeMap::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Word if token.raw == "join" => all.extend(code.joined(at)),
            TokenKind::Word => {
                all.extend(code.formatted(at));
                all.extend(code.added(at));
                let Some((piece, is_first)) = code.appended(at) else { continue };
                match open.get_mut(&piece.name).filter(|_| !is_first) {
                    Some(known) if known.text.len() < LONGEST => {
                        known.text.push_str(&piece.text);
                        known.range.end = piece.range.end;
                        known.pieces += piece.pieces;
                    }
                    Some(_) => {}
                    None => all.extend(open.insert(piece.name.clone(), piece)),
                }
            }
            TokenKind::Number | TokenKind::Text | TokenKind::Mark | TokenKind::DirectiveEnd => {}
        }
    }
    all.extend(open.into_values());
    all.into_iter().filter(|composed| composed.pieces > 1).filter_map(secret).collect()
}

fn secret(composed: Composed) -> Option<Secret> {
    let Composed { name, text, range, .. } = composed;
    if let Some(what) = known_in(&text) {
        return Some(Secret { range, what, is_sure: true });
    }
    let says = name_says(&name);
    let is_one_word = !text.contains([' ', '/', '%', '\n']);
    let mixes = text.bytes().any(|byte| byte.is_ascii_digit());
    let is_named = !matches!(says, NameSays::Nothing | NameSays::Public);
    if is_named && is_one_word && mixes && !is_stand_in(&text) && !is_label(&name, &text) {
        return Some(Secret::named(range, says, &name));
    }
    if is_key_name(&name) && is_mixed(&text) {
        return Some(Secret { range, what: finding_text(NameSays::Key, &name), is_sure: false });
    }
    (looks(&text) == Randomness::Random).then(|| Secret::random(range))
}

struct Composing<'a> {
    tokens: &'a [Token<'a>],
    /// For each bracket the place of what closes it.
    closes: Vec<Option<usize>>,
    known: &'a KnownTexts<'a>,
}

impl Composing<'_> {
    fn is(&self, at: usize, mark: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }

    fn raw(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.raw)
    }

    fn range(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let (first, last) =
            (self.tokens.get(part.start)?, self.tokens.get(part.end.checked_sub(1)?)?);
        Some(first.start..last.range().end)
    }

    /// The arguments of the call of what stands at `at`; `None` where it is none.
    fn arguments(&self, at: usize) -> Option<Vec<Range<usize>>> {
        let found = parts(self.tokens, &self.closes, at + 1);
        (self.is(at + 1, "(") && found.len() <= MOST_ARGUMENTS).then_some(found)
    }

    /// What a part of the source says: literals and constants, one after another or added.
    fn text(&self, part: &Range<usize>) -> Option<(String, usize)> {
        if let Some(text) = self.element(part) {
            return Some((text, 1));
        }
        let (mut text, mut pieces) = (String::new(), 0);
        for at in part.clone() {
            let token = self.tokens.get(at)?;
            match token.kind {
                TokenKind::Text => text.push_str(&token.text()?),
                TokenKind::Word => text.push_str(&(self.known)(&token.word()?)?),
                TokenKind::Mark if token.is("+") && at > part.start => continue,
                TokenKind::Mark | TokenKind::Number | TokenKind::DirectiveEnd => return None,
            }
            pieces += 1;
        }
        (pieces > 0 && text.len() <= LONGEST).then_some((text, pieces))
    }

    /// The text that `NAME[1]` is of `NAME[] = { "…", "…" }`.
    fn element(&self, part: &Range<usize>) -> Option<String> {
        let (name, index) = (self.raw(part.start), self.tokens.get(part.start + 2)?.number()?);
        if part.len() != 4 || !self.is(part.start + 1, "[") {
            return None;
        }
        let open = (0..part.start).find_map(|at| {
            let close = self.closes.get(at + 1).copied().flatten()?;
            let is_list =
                self.is(at + 1, "[") && self.is(close + 1, "=") && self.is(close + 2, "{");
            (is_list && self.raw(at) == name).then_some(close + 2)
        })?;
        let parts = parts(self.tokens, &self.closes, open);
        let element = parts.get(usize::try_from(index).ok()?).filter(|part| part.len() == 1)?;
        self.tokens.get(element.start)?.text()
    }

    /// A number as a format writes it: `%02x`.
    fn number(&self, part: &Range<usize>, spec: &str) -> Option<String> {
        let token = self.tokens.get(part.start).filter(|_| part.len() == 1)?;
        if let Some(text) = token.text() {
            return Some(text);
        }
        let value = token.number()?;
        Some(match spec.ends_with(['x', 'X']) {
            true => format!("{value:02x}"),
            false => value.to_string(),
        })
    }

    /// The name at the end of a part: `self->token` is `token`.
    fn name(&self, part: &Range<usize>) -> String {
        let mut words = part.clone().rev().filter_map(|at| self.tokens.get(at)?.word());
        words.next().map_or_else(String::new, |word| word.into_owned())
    }

    /// `snprintf(token, size, "%s%s", FIRST, SECOND)`.
    fn formatted(&self, at: usize) -> Option<Composed> {
        let function = self.raw(at);
        let (_, has_target) = FORMATS.iter().find(|(name, _)| function.ends_with(name))?;
        let arguments = self.arguments(at)?;
        let is_format = |part: &Range<usize>| {
            part.clone().all(|at| self.tokens.get(at).is_some_and(|t| t.kind == TokenKind::Text))
                && !part.is_empty()
        };
        // Python has the format in front of the call.
        let before = at.checked_sub(2).filter(|before| self.is(before + 1, "."));
        let before = before.map(|before| before..before + 1);
        let (format, arguments_from) = match before.filter(|before| is_format(before)) {
            Some(before) => (before, 0),
            None => {
                let format_at = arguments.iter().position(is_format)?;
                (arguments.get(format_at)?.clone(), format_at + 1)
            }
        };
        let (format, _) = self.text(&format)?;
        let mut rest = arguments.get(arguments_from..)?.iter();
        let mut pieces = 0;
        let mut text = String::new();
        let mut format = format.as_str();
        while let Some(hole) = format.find(['%', '{']) {
            let (before, behind) = format.split_at(hole);
            text.push_str(before);
            let length = match behind.starts_with('{') {
                true => behind.find('}').filter(|end| *end < 8)? + 1,
                false => {
                    behind.find(['s', 'x', 'X', 'd', 'u', 'c', 'i']).filter(|end| *end < 5)? + 1
                }
            };
            // `%.*s` takes the number of characters first.
            if behind.get(..length)?.contains('*') {
                rest.next()?;
            }
            let spec = behind.get(..length)?;
            let argument = rest.next()?;
            let (piece, count) = match spec.ends_with(['x', 'X', 'd', 'u', 'c', 'i']) {
                true => (self.number(argument, spec)?, 0),
                false => self.text(argument)?,
            };
            text.push_str(&piece);
            pieces += count;
            format = behind.get(length..)?;
        }
        text.push_str(format);
        let name = match has_target {
            true => self.name(arguments.first()?),
            false => self.assigned(at),
        };
        let range = self.range(&(at..arguments.last()?.end))?;
        Some(Composed { name, text, range, pieces })
    }

    /// The name that gets what is called at `at`: `NAME = String::format(…)`.
    fn assigned(&self, at: usize) -> String {
        let is_path = |at: &usize| {
            self.tokens.get(*at).is_some_and(|token| token.kind == TokenKind::Word)
                || self.is(*at, ":")
                || self.is(*at, ".")
        };
        let equal = (0..at).rev().take(8).find(|at| !is_path(at));
        let equal = equal.filter(|at| self.is(*at, "=")).and_then(|at| at.checked_sub(1));
        equal.map_or_else(String::new, |at| self.name(&(at..at + 1)))
    }

    /// `"".join([FIRST, SECOND])` of Python.
    fn joined(&self, at: usize) -> Option<Composed> {
        let between = at.checked_sub(2).and_then(|at| self.tokens.get(at))?.text()?;
        let is_call = self.is(at - 1, ".") && self.is(at + 1, "(");
        let open = if self.is(at + 2, "[") || self.is(at + 2, "(") { at + 2 } else { return None };
        if !is_call {
            return None;
        }
        let parts = parts(self.tokens, &self.closes, open);
        let texts = parts.iter().map(|part| Some(self.text(part)?.0));
        let texts = texts.collect::<Option<Vec<_>>>()?;
        let equal = at.checked_sub(3).filter(|at| self.is(*at, "=")).unwrap_or(at);
        let name = equal.checked_sub(1).map_or_else(String::new, |at| self.name(&(at..at + 1)));
        let range = self.range(&(at..open + 1))?;
        Some(Composed { name, text: texts.join(&between), range, pieces: texts.len() })
    }

    /// Constants that are added where they are used: `header("Bearer " + FIRST + SECOND)`.
    fn added(&self, at: usize) -> Option<Composed> {
        let is_piece = |at: usize| {
            self.tokens.get(at).is_some_and(|it| it.kind == TokenKind::Text)
                || (self.known)(self.raw(at)).is_some()
        };
        let follows = at > 1 && self.is(at - 1, "+") && is_piece(at - 2);
        if follows || !is_piece(at) || !self.is(at + 1, "+") {
            return None;
        }
        let ends = |at: &usize| !self.is(at - 1, "+") || !is_piece(*at);
        let last =
            (at + 2..at + 2 * MOST_ARGUMENTS).step_by(2).take_while(|at| !ends(at)).last()?;
        self.piece(String::new(), &(at..last + 1))
    }

    /// What a statement begins or appends, and whether it begins it.
    fn appended(&self, at: usize) -> Option<(Composed, bool)> {
        let word = self.raw(at);
        let (begins, appends) = (BEGINS.contains(&word), APPENDS.contains(&word));
        if begins || appends {
            let arguments = self.arguments(at)?;
            let [target, piece, ..] = arguments.as_slice() else { return None };
            return self.piece(self.name(target), piece).map(|piece| (piece, begins));
        }
        if METHODS.contains(&word) && self.is(at + 1, "(") {
            let owner = at.checked_sub(2).filter(|_| self.is(at - 1, "."))?;
            let arguments = self.arguments(at)?;
            let piece = arguments.first().filter(|_| arguments.len() == 1)?;
            return Some((self.piece(self.name(&(owner..owner + 1)), piece)?, false));
        }
        let (value, is_first) = match (self.is(at + 1, "+"), self.is(at + 1, "=")) {
            (true, _) if self.is(at + 2, "=") => (at + 3, false),
            (_, true) if !self.is(at + 2, "=") => (at + 2, true),
            _ => return None,
        };
        let end = (value..=self.tokens.len()).take(40).find(|at| self.ends(*at, value))?;
        Some((self.piece(word.to_owned(), &(value..end))?, is_first))
    }

    /// Whether a statement ends before the token at `at`: at its mark, or in Python with its line.
    fn ends(&self, at: usize, from: usize) -> bool {
        let follows = |token: &Token<'_>| {
            at > from
                && token.kind == TokenKind::Word
                && (self.known)(token.raw).is_none()
                && !self.is(at - 1, "+")
        };
        self.is(at, ";") || self.is(at, "}") || self.tokens.get(at).is_none_or(follows)
    }

    fn piece(&self, name: String, part: &Range<usize>) -> Option<Composed> {
        let (text, pieces) = self.text(part)?;
        Some(Composed { name, text, range: self.range(part)?, pieces })
    }
}

#[cfg(test)]
mod tests {
    use super::super::secrets;

    fn found(path: &str, source: &str) -> Vec<(usize, String)> {
        let line = |at: usize| source[..at].matches('\n').count() + 1;
        let all = secrets(path, source).into_iter();
        all.map(|secret| (line(secret.range.start), secret.what)).collect()
    }

    #[test]
    fn a_token_in_pieces_is_found_where_it_is_put_together() {
        let pieces = "#define A \"ghp_9aKd7\"\n#define B \"Qm2xLr8TzVb3Nc\"\n\
                      static const char *C = \"5Hj1Wp6Ys4Ufe0Go7Rt\";\n";
        for statement in [
            "void f(char *out) { snprintf(out, 64, \"%s%s%s\", A, B, C); }",
            "void f(char *out) { strcpy(out, A); strcat(out, B); strcat(out, C); }",
            "void f(char *out) { strlcpy(out, A, 64);\n strlcat(out, B, 64); strlcat(out, C, 64); }",
            "String f() { String out = A; out += B; out += C; return out; }",
            "String f() { String out; out.concat(A); out.concat(B); out.concat(C); return out; }",
            "String f() { String out = String(A) + B; out = A + B + C; return out; }",
        ] {
            let source = format!("{pieces}{statement}\n");
            let all = found("a.cpp", &source);
            let wanted = (4, "a GitHub token".to_owned());
            assert!(all.contains(&wanted), "{statement}: {all:?}");
        }
        let python = "A = 'ghp_9aKd7'\nB = 'Qm2xLr8TzVb3Nc5Hj1Wp6Ys4Ufe0Go7Rt'\n";
        for line in ["T = ''.join([A, B])", "T = A\nT += B\n", "T = '{}{}'.format(A, B)"] {
            let all = found("a.py", &format!("{python}{line}\n"));
            assert!(all.iter().any(|(_, what)| what == "a GitHub token"), "{line}: {all:?}");
        }
    }

    #[test]
    fn a_password_in_pieces_is_told_by_the_name_of_what_takes_it() {
        let pieces = "#define SEASON \"winter\"\n#define YEAR \"2031!\"\n";
        let source = format!(
            "{pieces}void f(void) {{ snprintf(cfg.password, 64, \"%s-%s\", SEASON, YEAR); }}\n"
        );
        let all = found("a.c", &source);
        assert!(!all.is_empty(), "{all:?}");
        assert!(all.iter().all(|(_, what)| what == "a password in `password`"), "{all:?}");
        let added = "static const char T1[] = \"mto_Mj4szRFhhnCkNG\";\nstatic const char T2[] = \"Sk8wKGAYvyxkKYL\";\n\
                     void f() { http.addHeader(\"Authorization\", String(\"Bearer \") + T1 + T2); }\n";
        assert_eq!(found("a.cpp", added).len(), 1);
        let list = "static const char *const s_parts[] = { \"twk_live_\", \"9fQe2LrT\", \"x7VbnK40\" };\n\
                    void f(void) { snprintf(auth, 64, \"Bearer %s%s%s\", s_parts[0], s_parts[1], s_parts[2]); }\n";
        assert_eq!(found("a.c", list).len(), 1);
        let formats = "#define A \"winter\"\n#define B \"2031!\"\nvoid f(void) { String pass = format(\"%s-%s\", A, B); }\n";
        assert_eq!(found("a.c", formats), [(3, "a password in `pass`".to_owned())]);
        let key = "void f(uint8_t key[32]) {\n    const char *tail = \"vR4t!m0\";\n    snprintf((char *)key, 32, \"%s%02x%s-%s\", \"Kq9z\", 0xd7, \"Lw8xHb2e\", tail);\n}\n";
        assert_eq!(found("a.c", key), [(3, "a secret key in `key`".to_owned())]);
    }

    #[test]
    fn ordinary_texts_that_are_put_together_are_not_secrets() {
        for source in [
            "#define BASE \"site/7\"\n#define END \"/state\"\nvoid f(void) { snprintf(topic, 64, \"%s%s\", BASE, END); }\n",
            "#define A \"key\"\n#define B \"7\"\nvoid f(char *k) { snprintf(k, 9, \"%s_%s\", A, B); }\n",
            "void f(char *token) { snprintf(token, 64, \"%s%s\", first(), second()); }\n",
            "#define A \"/spiffs\"\nvoid f(char *key_path) { strcpy(key_path, A); strcat(key_path, \"/client1.key\"); }\n",
            "#define FW \"2.1\"\nvoid f(void) { snprintf(agent, 40, \"pump/%s (%s)\", FW, FW); }\n",
        ] {
            assert_eq!(found("a.c", source), [], "{source}");
        }
    }

    #[test]
    fn names_of_formats_without_a_call_are_read_like_all_others() {
        for source in ["snprintf)", "a(printf)", "strcpy]", "format", "{ strcat }", "''.join)"] {
            assert_eq!(found("a.c", source), [], "{source}");
            assert_eq!(found("a.py", source), [], "{source}");
        }
    }
}
