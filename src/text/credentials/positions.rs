//! Secrets that a structure holds by their places: `{ "name of the network", "its password" }`.
//!
//! Owns the order of the fields of structures: those of the source, and of ESP-IDF's Wi-Fi.

use std::collections::HashMap;

use super::secret::{Secret, finding_text};
use super::values::{NameSays, is_stand_in, name_says};
use crate::text::c_tokens::{Token, TokenKind, tokens};

/// Tokens of one initialiser that are read.
const LONGEST: usize = 2_000;

/// Secrets by their places in a source of C or C++.
pub(super) fn find(source: &str) -> Vec<Secret> {
    if !source.contains("struct") && !source.contains("wifi_") {
        return Vec::new();
    }
    let tokens = tokens(source, crate::text::c_tokens::Style::C);
    let code = Initialisers { tokens: &tokens };
    let structures = code.structures();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word)
    {
        let Some(kind) = token.word() else { continue };
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

struct Initialisers<'a> {
    tokens: &'a [Token<'a>],
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
                TokenKind::Text if groups.last() == Some(&(field.place, false)) => {
                    let text = token.text().unwrap_or_default();
                    if !is_stand_in(&text) {
                        let says = match name_says(&field.name) {
                            NameSays::Nothing | NameSays::Public => NameSays::Password,
                            says => says,
                        };
                        let what = finding_text(says, &field.name);
                        found.push(Secret { range: token.range(), what, is_sure: true });
                    }
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
                "struct Net { int ssid; int pass; };\nvoid f(struct Net n) { log(\"a\", \"b2c3d4e5\"); }",
                0,
            ),
        ] {
            assert_eq!(find(source).len(), wanted, "{source}");
        }
    }
}
