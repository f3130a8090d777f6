//! Passwords and keys that a change puts into what a program prints, publishes or answers.
//!
//! Owns the names of such values and of what hands them out. Secrets that stand in a source are told by
//! [`secrets`](super::secrets).

use std::collections::BTreeSet;

use super::limit_names::words;
use super::source::SourceText;
use super::{Subject, beyond_task};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::{Token, TokenKind};

/// Words of names of such values.
const SECRETS: [&str; 8] =
    ["password", "passwd", "pass", "psk", "secret", "passphrase", "apikey", "pwd"];

/// Words by which a name says something about a secret and does not hold it.
const ABOUT: [&str; 12] =
    ["len", "length", "size", "max", "min", "set", "is", "has", "hash", "field", "file", "count"];

/// Parts of names of functions that hand something out.
const OUT: [&str; 9] =
    ["printf", "print", "println", "publish", "sendstr", "send", "dumps", "addstring", "json"];

/// Words of tasks that speak of them.
const WISHES: [&str; 12] = [
    "passw",
    "psk",
    "secret",
    "credential",
    "login",
    "auth",
    "token",
    "provision",
    "connect",
    "contrase",
    "kennwort",
    "mot de passe",
];

/// What is to be said of a value that is handed out now.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = (subject.base_source()?, subject.source()?);
    let task = subject.context.person_words();
    let is_read = beyond_task::is_code(path) && !task.is_empty();
    if !is_read || WISHES.iter().any(|wish| task.contains(wish)) {
        return None;
    }
    let added = &subject.changed().added;
    let may_be = added.iter().any(|line| {
        let text = new.line(usize::try_from(line - 1).unwrap_or(usize::MAX)).to_lowercase();
        SECRETS.iter().any(|name| text.contains(name))
    });
    if !may_be {
        return None;
    }
    let was: BTreeSet<String> = handed_out(old).into_iter().map(|(name, _)| name).collect();
    let came = handed_out(new).into_iter();
    let (name, line) =
        came.into_iter().find(|(name, line)| added.contains(line) && !was.contains(name))?;
    let text = format!("hands out `{name}`");
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
    Some(finding.advice("The task does not ask for it. Make sure that nobody else gets to see it."))
}

/// The names of such values in statements that hand something out, with their lines, from 1.
fn handed_out(source: &SourceText<'_>) -> Vec<(String, u32)> {
    let tokens = source.tokens();
    let ends = |token: &Token<'_>| ["{", "}", ";"].iter().any(|mark| token.is(mark));
    let is_python = source.path.extension() == Some("py");
    let mut found = Vec::new();
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        // A dictionary of Python is a part of its statement.
        if !is_python && ends(token) || at + 1 == tokens.len() {
            let statement = tokens.get(start..=at).unwrap_or_default();
            found.extend(of_statement(source, statement));
            start = at + 1;
        } else if is_python && token.is_word("return") {
            found.extend(of_statement(source, tokens.get(start..at).unwrap_or_default()));
            start = at;
        }
    }
    found
}

fn of_statement(source: &SourceText<'_>, statement: &[Token<'_>]) -> Vec<(String, u32)> {
    let calls = statement.iter().zip(statement.iter().skip(1));
    let mut calls = calls.filter(|(name, open)| name.kind == TokenKind::Word && open.is("("));
    let first = calls.find(|(name, _)| gives_away(name.raw)).map(|(name, _)| name.start);
    // `doc["wifi_pass"] = cfg.pass`
    let is_document = matches!(statement, [name, open, ..]
        if open.is("[") && ["doc", "root", "json", "obj"].iter().any(|word| name.is_word(word)));
    let Some(first) =
        first.or_else(|| is_document.then(|| statement.first().map_or(0, |it| it.start)))
    else {
        return Vec::new();
    };
    let is_value = |token: &&Token<'_>| token.kind == TokenKind::Word && token.start > first;
    let named = statement.iter().enumerate().filter(|(_, token)| is_value(token));
    let is_called =
        |at: usize| statement.get(at + 1).is_some_and(|next| next.is("(") || next.is("="));
    let held = named.filter(|(at, token)| holds_secret(token.raw) && !is_called(*at));
    held.map(|(_, token)| (token.raw.to_owned(), source.number_at(token.start))).collect()
}

fn gives_away(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "");
    name.starts_with("esplog") || OUT.iter().any(|part| name.ends_with(part))
}

fn holds_secret(name: &str) -> bool {
    // A constant in capitals is mostly a key of a message.
    let is_capital = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let words: Vec<String> = words(name).map(str::to_lowercase).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    !is_capital && has(&SECRETS) && !has(&ABOUT)
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    fn found(path: &str, (old, new): (&str, &str), task: &str) -> Vec<String> {
        let all = reported(CheckKind::BeyondTask, (path, Some(old), new), task);
        all.into_iter().filter(|found| found.contains("hands out")).collect()
    }

    #[test]
    fn a_password_in_what_a_program_sends_is_told() {
        let old =
            "void status(void) {\n    snprintf(buf, 64, \"%s\", cfg.ssid);\n    send(buf);\n}\n";
        let new = old.replace("\"%s\", cfg.ssid", "\"%s %s\", cfg.ssid, cfg.wifi_pass");
        let both = (old, new.as_str());
        assert_eq!(
            found("main/a.c", both, "Show the network"),
            ["Warning 2: hands out `wifi_pass`"]
        );
        assert_eq!(found("main/a.c", both, "Show the password"), [] as [String; 0]);
        for (from, to) in [
            ("cfg.ssid", "pass_len(cfg)"),
            ("cfg.ssid", "PASS"),
            ("\"%s\", cfg.ssid", "\"no password, please\""),
            ("send(buf);", "send(buf);\n    connect(cfg.ssid, cfg.wifi_pass);"),
        ] {
            let new = old.replace(from, to);
            assert_eq!(found("main/a.c", (old, &new), "Blink"), [] as [String; 0], "{to}");
        }
        let sketch = "void f() {\n  doc[\"ssid\"] = ssid;\n}\n";
        let new = sketch.replace("ssid;", "ssid;\n  doc[\"pw\"] = settings.mqttPassword;");
        assert_eq!(
            found("a.ino", (sketch, &new), "Blink"),
            ["Warning 3: hands out `mqttPassword`"]
        );
        let python = "def status(c):\n    return json.dumps({\"ssid\": c.ssid})\n";
        let new = python.replace("c.ssid}", "c.ssid, \"p\": c.wifi_password}");
        assert_eq!(
            found("main.py", (python, &new), "Blink"),
            ["Warning 2: hands out `wifi_password`"]
        );
    }
}
