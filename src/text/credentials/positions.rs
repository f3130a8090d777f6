//! Secrets by their places: in a structure, `{ "name of the network", "its password" }`, in a call of
//! a function that the source declares, and in the rows of a list of macros.
//!
//! Owns the order of the fields of structures, those of the source and of ESP-IDF's Wi-Fi, and of
//! parameters.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::secret::Secret;
use super::values::{NameSays, is_stand_in, name_says};
use crate::text::c_calls::{functions, parts};
use crate::text::c_tokens::{Token, TokenKind, closes};

/// Tokens of one initialiser that are read.
const LONGEST: usize = 2_000;

/// Secrets by their places in a source of C or C++.
pub(super) fn find(source: &str, tokens: &[Token<'_>]) -> Vec<Secret> {
    let hints = ["pass", "psk", "pwd", "pw", "key", "token", "secret", "cred", "wifi_"];
    if !hints.iter().any(|hint| source.contains(hint)) {
        return Vec::new();
    }
    let code = Initialisers { tokens, closes: closes(tokens) };
    let structures = code.structures();
    let functions = code.functions();
    let columns = code.columns();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word)
    {
        let Some(kind) = token.word() else { continue };
        if let Some(field) = functions.get(&*kind).filter(|_| code.is(at + 1, "(")) {
            found.extend(code.argument(at + 1, field, !token.in_directive));
        } else if token.in_directive && code.is(at + 1, "(") && code.is_row(at) {
            let fields = columns.iter().filter_map(|field| code.argument(at + 1, field, false));
            found.extend(fields.take(1));
        }
        let Some(secret) = structures.get(&*kind) else { continue };
        if let Some(open) = code.initialiser(at) {
            code.secrets(open, secret, &mut found);
        }
    }
    found
}

/// The place of a field that is a secret, and how it is called.
struct SecretField {
    place: usize,
    name: String,
}

impl SecretField {
    fn secret(&self, range: Range<usize>) -> Secret {
        Secret::named(range, name_says(&self.name).or_password(), &self.name)
    }
}

struct Initialisers<'a> {
    tokens: &'a [Token<'a>],
    /// For each bracket the place of what closes it.
    closes: Vec<Option<usize>>,
}

impl Initialisers<'_> {
    fn is(&self, at: usize, mark: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }

    /// The structures with a secret, by their names.
    fn structures(&self) -> HashMap<String, SecretField> {
        let of_wifi = || SecretField { place: 1, name: "password".to_owned() };
        let mut found: HashMap<String, SecretField> =
            ["wifi_config_t", "wifi_sta_config_t", "wifi_ap_config_t"]
                .map(|name| (name.to_owned(), of_wifi()))
                .into();
        for at in 0..self.tokens.len() {
            if !self.tokens.get(at).is_some_and(|token| token.is_word("struct")) {
                continue;
            }
            let tag = self.tokens.get(at + 1).and_then(Token::word);
            let open = if tag.is_some() { at + 2 } else { at + 1 };
            if !self.is(open, "{") {
                continue;
            }
            let close = (open + 1..self.tokens.len()).take(400).find(|at| self.is(*at, "}"));
            let Some(close) = close else { continue };
            let fields = self.fields(open + 1, close);
            let named = [tag, self.tokens.get(close + 1).and_then(Token::word)];
            for name in named.into_iter().flatten() {
                if let Some(field) = secret_field(&fields) {
                    found.insert(name.into_owned(), field);
                }
            }
        }
        found
    }

    /// The functions that the source declares with a parameter that is a secret, by their names.
    fn functions(&self) -> HashMap<String, SecretField> {
        let mut found = HashMap::new();
        for at in 1..self.tokens.len() {
            let Some(name) = self.word(at).filter(|_| self.is(at + 1, "(")) else { continue };
            let is_typed = self.word(at - 1).is_some_and(|word| word != "return")
                || self.is(at - 1, "*")
                || self.is(at - 1, "&");
            let Some(parts) = self.parts(at + 1).filter(|_| is_typed) else { continue };
            // A parameter has a type and a name.
            let names = parts.iter().map(|part| {
                let is_declared = part.len() > 1 && part.clone().all(|at| !self.is_text(at));
                part.end.checked_sub(1).filter(|_| is_declared).and_then(|at| self.word(at))
            });
            let Some(names) = names.collect::<Option<Vec<String>>>() else { continue };
            if names.len() > 1
                && let Some(field) = secret_field(&names)
            {
                found.insert(name, field);
            }
        }
        found.extend(self.joining());
        found
    }

    /// Functions that hand a parameter on as a password: `WiFi.begin(name, key)`.
    fn joining(&self) -> Vec<(String, SecretField)> {
        let mut found = Vec::new();
        if !self.tokens.iter().any(|token| token.is_word("WiFi")) {
            return found;
        }
        for function in functions(self.tokens, &self.closes) {
            let Some(name) = self.word(function.name) else { continue };
            let names: Vec<Option<String>> = parts(self.tokens, &self.closes, function.name + 1)
                .into_iter()
                .map(|part| part.end.checked_sub(1).and_then(|at| self.word(at)))
                .collect();
            let joins = |at: &usize| {
                self.tokens.get(*at).is_some_and(|token| token.is_word("begin"))
                    && at.checked_sub(2).and_then(|at| self.word(at)).as_deref() == Some("WiFi")
            };
            let given = function.body.into_iter().find(joins).and_then(|at| {
                let password = parts(self.tokens, &self.closes, at + 1).into_iter().nth(1)?;
                self.word(password.start).filter(|_| password.len() == 1)
            });
            let place =
                given.and_then(|given| names.iter().position(|it| it.as_ref() == Some(&given)));
            if let Some(place) = place {
                found.push((name, SecretField { place, name: "password".to_owned() }));
            }
        }
        found
    }

    /// The places of secrets among the parameters of macros that make something of a row:
    /// `#define AS_ROW(id, s, k) { .ssid = s, .wpa_key = k },`.
    fn columns(&self) -> Vec<SecretField> {
        let mut found = Vec::new();
        for at in 0..self.tokens.len() {
            let is_define =
                self.tokens.get(at).is_some_and(|t| t.in_directive && t.is_word("define"));
            let Some(parts) = self.parts(at + 2).filter(|_| is_define && self.is(at + 2, "("))
            else {
                continue;
            };
            let end = parts.last().map_or(at + 3, |part| part.end);
            let is_end = |at: &usize| {
                self.tokens.get(*at).is_none_or(|token| token.kind == TokenKind::DirectiveEnd)
            };
            let body = end + 1..(end + 1..end + 200).find(is_end).unwrap_or(end + 1);
            for (place, part) in parts.iter().enumerate() {
                let Some(parameter) = self.word(part.start) else { continue };
                let given = body.clone().find(|at| {
                    self.is(*at, "=") && self.word(*at + 1).as_ref() == Some(&parameter)
                });
                let given = given.and_then(|at| self.word(at.checked_sub(1)?));
                let is_secret = |name: &String| {
                    matches!(name_says(name), NameSays::Password | NameSays::Token | NameSays::Key)
                };
                if let Some(name) = [Some(parameter), given].into_iter().flatten().find(is_secret) {
                    found.push(SecretField { place, name });
                }
            }
        }
        found
    }

    /// Whether the name at `at`, in a macro, is that of its parameter: `#define SITES(X) X(…) X(…)`.
    fn is_row(&self, at: usize) -> bool {
        let Some(name) = self.word(at) else { return false };
        let is_define = |at: &usize| self.tokens.get(*at).is_some_and(|t| t.is_word("define"));
        let define = (0..at).rev().take(LONGEST).find(is_define);
        let parameters = define.and_then(|define| self.parts(define + 2));
        parameters.is_some_and(|all| {
            all.iter().any(|part| part.end <= at && self.word(part.start).as_ref() == Some(&name))
        })
    }

    /// The text at the place of the secret in the brackets that open at `open`.
    fn argument(&self, open: usize, field: &SecretField, is_call: bool) -> Option<Secret> {
        let parts = self.parts(open)?;
        let part = parts.get(field.place)?;
        let text = self.tokens.get(part.start)?.text().filter(|_| part.len() == 1)?;
        let is_secret = !is_stand_in(&text) && (is_call || text.len() >= 6);
        is_secret.then_some(field.secret(self.tokens.get(part.start)?.range()))
    }

    /// The parts between the commas of the brackets that open at `open`, where they hold no statement.
    fn parts(&self, open: usize) -> Option<Vec<Range<usize>>> {
        let close = self.closes.get(open).copied().flatten().filter(|_| self.is(open, "("))?;
        let is_short = close < open + 120 && !(open..close).any(|at| self.is(at, ";"));
        is_short.then(|| parts(self.tokens, &self.closes, open))
    }

    fn word(&self, at: usize) -> Option<String> {
        self.tokens.get(at)?.word().map(Cow::into_owned)
    }

    fn is_text(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Text)
    }

    /// The names of fields, in their order.
    fn fields(&self, start: usize, end: usize) -> Vec<String> {
        let mut found = Vec::new();
        for at in start..end {
            let ends = [",", ";", "[", "="].iter().any(|mark| self.is(at + 1, mark));
            let before = at.checked_sub(1).is_some_and(|at| self.is(at, "["));
            if let Some(name) =
                self.tokens.get(at).and_then(Token::word).filter(|_| ends && !before)
            {
                found.push(name.into_owned());
            }
        }
        found
    }

    /// Where the initialiser opens of the variable that is declared behind a type.
    fn initialiser(&self, kind: usize) -> Option<usize> {
        let open = (kind + 1..kind + 12).find(|at| {
            self.is(*at, "{") || [";", "(", ")", ","].iter().any(|mark| self.is(*at, mark))
        })?;
        let is_value = self.is(open, "{") && open > kind + 1;
        is_value.then_some(open)
    }

    /// The texts at the place of the secret, in each group of an initialiser that holds no other.
    fn secrets(&self, open: usize, field: &SecretField, found: &mut Vec<Secret>) {
        // For each open bracket: the place of the entry, and whether one of them has a name.
        let mut groups: Vec<(usize, bool)> = Vec::new();
        for at in open..self.tokens.len().min(open + LONGEST) {
            let Some(token) = self.tokens.get(at) else { return };
            match token.kind {
                TokenKind::Mark if token.is("{") || token.is("(") => {
                    groups.push((0, token.is("(")))
                }
                TokenKind::Mark if token.is("}") || token.is(")") => {
                    groups.pop();
                    if groups.is_empty() {
                        return;
                    }
                }
                TokenKind::Mark if token.is(",") => {
                    if let Some(group) = groups.last_mut() {
                        group.0 += 1;
                    }
                }
                TokenKind::Mark if token.is(".") => {
                    if let Some(group) = groups.last_mut() {
                        group.1 = true;
                    }
                }
                TokenKind::Text
                    if groups.last() == Some(&(field.place, false))
                        && !is_stand_in(&token.text().unwrap_or_default()) =>
                {
                    found.push(field.secret(token.range()));
                }
                _ => {}
            }
        }
    }
}

/// The field that is a secret: by its name, or `key` beside that of a network or a user.
fn secret_field(fields: &[String]) -> Option<SecretField> {
    let has_other = fields.iter().any(|name| {
        let lower = name.to_ascii_lowercase();
        ["ssid", "user", "login", "network"].iter().any(|part| lower.contains(part))
    });
    let is_pair = matches!(fields, [first, second] if first == "name" && second == "key");
    let place = fields.iter().position(|name| {
        let is_key = (has_other || is_pair) && matches!(name.as_str(), "key" | "pass");
        is_key || matches!(name_says(name), NameSays::Password | NameSays::Token | NameSays::Key)
    })?;
    fields.get(place).map(|name| SecretField { place, name: name.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::c_tokens::{Style, tokens};

    #[test]
    fn places_tell_secrets_where_names_do_not() {
        for (source, wanted) in [
            ("wifi_config_t c = { .sta = { \"Hofladen\", \"gruene.Gurke_31\" } };", 1),
            ("wifi_sta_config_t c = {\"Hofladen\", \"gruene.Gurke_31\"};", 1),
            (
                "struct Net { const char *ssid; const char *key; };\nNet n[] = {{\"a1b2\", \"gruene.Gurke_31\"}, {\"cd34\", \"rote.Rübe_8\"}};",
                2,
            ),
            (
                "typedef struct { char host[32]; char token[40]; } up_t;\nstatic const up_t u = { \"h.example\", \"Qm7xW2rT9z\" };",
                1,
            ),
            ("wifi_config_t c = { .sta = { \"Hofladen\", \"your-password\" } };", 0),
            ("wifi_config_t c = { .sta = { .ssid = SSID, .channel = 3 } };", 0),
            ("struct Row { const char *name, *unit; };\nRow r[] = {{\"temp\", \"Celsius2\"}};", 0),
            (
                "struct Item { const char *label; const char *key; };\nItem i[] = {{\"Speed\", \"motor_speed1\"}};",
                0,
            ),
            (
                "void add(const char *ssid, const char *password);\nvoid f(void) { add(\"halle\", \"rote.Rube_8\"); add(SSID, PASS); }",
                1,
            ),
            (
                "#define SITES(X) X(A, \"nord\", \"t9#Lk2!vQz4\") X(B, \"sued\", \"\")\nstruct s { const char *ssid, *wpa_key; };\n#define ROW(id, s, k) { .ssid = s, .wpa_key = k },\n",
                1,
            ),
            (
                "#define KEYS(X) X(UP, \"arrow up\") X(DOWN, \"arrow down\")\n#define ROW(id, key) { #id, key },\n",
                0,
            ),
            (
                "void show(const char *label, const char *text);\nvoid f(void) { show(\"key\", \"Spaten77\"); }",
                0,
            ),
            (
                "struct Net { int ssid; int pass; };\nvoid f(struct Net n) { log(\"a\", \"b2c3d4e5\"); }",
                0,
            ),
        ] {
            let all = tokens(source, Style::C);
            assert_eq!(find(source, &all).len(), wanted, "{source}");
        }
    }
}
