//! New functions and calls that go without the check that all others of their kind have.
//!
//! Owns what counts as such a check and which functions are of a kind. Checks that were there and are
//! gone are told by [`removed_checks`](super::removed_checks).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

use super::limit_names::words;
use super::source::{SourceText, is_c};
use super::{Subject, beyond_task};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_calls::parts;
use crate::text::c_tokens::{Token, TokenKind};
use crate::text::shipped::shipped_table;

/// The words of `assets/findings/checks.toml`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct CheckWords {
    persons: Vec<String>,
    states: Vec<String>,
    open: Vec<String>,
    wishes: Vec<String>,
    verbs: Vec<String>,
    libraries: Vec<String>,
    protecting: Vec<String>,
    dangers: Vec<String>,
    outputs: Vec<String>,
    inputs: Vec<String>,
}

static WORDS: LazyLock<CheckWords> = LazyLock::new(|| {
    shipped_table(include_str!("../../../assets/findings/checks.toml")).unwrap_or_default()
});

/// What is to be said of new code in a file that has its check everywhere else.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = (subject.base_source()?, subject.source()?);
    let names = |source: &SourceText<'_>| {
        let mut tokens = source.tokens().iter();
        tokens.any(|token| token.kind == TokenKind::Word && is_check(token.raw))
    };
    if !is_c(path) || !beyond_task::is_code(path) || !names(old) {
        return None;
    }
    let (old, new) = (Bodies::of(old), Bodies::of(new));
    let task = subject.context.person_words();
    let wants_without = WORDS.wishes.iter().any(|wish| task.contains(wish.as_str()));
    let added = &subject.changed().added;
    unlike_others(&old, &new).filter(|_| !wants_without).or_else(|| call_without(&old, &new, added))
}

/// Whether a pin is that of an input that protects, by its name.
pub(super) fn is_input(name: &str) -> bool {
    has_word(name, &WORDS.inputs)
}

/// Whether a function protects, by its name.
pub(super) fn protects(name: &str) -> bool {
    has_word(name, &WORDS.protecting)
}

/// Whether a condition asks for danger, by the words of its names.
pub(super) fn is_danger(condition: &str) -> bool {
    let mut names = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
    names.any(|name| has_word(name, &WORDS.dangers))
}

/// Whether a function sets an output of the board, by its name.
pub(super) fn sets_output(name: &str) -> bool {
    WORDS.outputs.iter().any(|known| known == name)
}

/// A new function whose like all begin with a check that it does not have.
fn unlike_others(old: &Bodies<'_, '_>, new: &Bodies<'_, '_>) -> Option<Finding> {
    let was: BTreeSet<&str> = old.all.iter().map(|body| body.name.as_str()).collect();
    let is_open = |body: &Body| {
        let name = body.name.to_ascii_lowercase().replace('_', "");
        WORDS.open.iter().any(|part| name.contains(part.as_str()))
    };
    let came = new.all.iter().filter(|body| !was.contains(body.name.as_str()) && !is_open(body));
    came.filter(|body| !body.kind.is_empty()).find_map(|body| {
        let like = old.all.iter().filter(|other| other.kind == body.kind && !is_open(other));
        let checks: Vec<BTreeSet<&str>> =
            like.map(|other| old.checks_before(other, other.tokens.end, &WORDS.persons)).collect();
        let check =
            checks.first()?.iter().find(|name| checks.iter().all(|all| all.contains(*name)));
        let check = check.filter(|check| checks.len() >= 2 && !new.asks(body, check))?;
        let count = checks.len();
        let text = format!(
            "`{}` goes without `{check}`, which the other {count} functions of its kind ask",
            body.name
        );
        Some(finding(text, new.source.number_at(new.start(body))))
    })
}

/// A new call of what is called nowhere else without a check.
fn call_without(
    old: &Bodies<'_, '_>,
    new: &Bodies<'_, '_>,
    added: &BTreeSet<u32>,
) -> Option<Finding> {
    let mut known: BTreeMap<&str, Vec<BTreeSet<&str>>> = BTreeMap::new();
    for (name, at, body) in old.calls() {
        let persons = old.checks_before(body, at, &WORDS.persons);
        let states = old.checks_before(body, at, &WORDS.states);
        known.entry(name).or_default().push(persons.into_iter().chain(states).collect());
    }
    new.calls().find_map(|(name, at, body)| {
        let line = new.source.number_at(new.source.tokens().get(at)?.start);
        let sites = known.get(name).filter(|_| added.contains(&line))?;
        let needed = |check: &str| if has_word(check, &WORDS.persons) { 1 } else { 2 };
        let mut shared = sites.first()?.iter();
        let check = shared.find(|check| {
            sites.len() >= needed(check) && sites.iter().all(|all| all.contains(*check))
        })?;
        let text = format!("calls `{name}` without `{check}`, which its other calls ask before");
        (!new.asks(body, check)).then(|| finding(text, line))
    })
}

fn finding(text: String, line: u32) -> Finding {
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
    finding.advice("Make sure that it needs no check, or let it ask, too.")
}

fn has_word(name: &str, known: &[String]) -> bool {
    words(name).any(|word| known.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Whether a name, or one in a condition, asks who somebody is or whether something may be done.
pub(super) fn is_check(text: &str) -> bool {
    let mut names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    names.any(|name| has_word(name, &WORDS.persons) || has_word(name, &WORDS.states))
}

/// A function, or one without a name that is handed to a call.
struct Body {
    name: String,
    /// The types of its parameters, or the call that it is handed to; empty where that says nothing.
    kind: String,
    /// From its first bracket to its last, by the places of tokens.
    tokens: Range<usize>,
}

/// The functions of a source.
struct Bodies<'s, 'a> {
    source: &'s SourceText<'a>,
    all: Vec<Body>,
}

impl<'s, 'a> Bodies<'s, 'a> {
    fn of(source: &'s SourceText<'a>) -> Self {
        let (tokens, closes) = (source.tokens(), source.closes());
        let mut all = Vec::new();
        for function in source.functions() {
            let name = tokens.get(function.name).map_or("", |token| token.raw).to_owned();
            let kind = kind(source, function.name);
            all.push(Body { name, kind, tokens: function.body.clone() });
        }
        // `server.on("/open", HTTP_POST, []() { … })`
        for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.is_word("on")) {
            let parts = parts(tokens, closes, at + 1);
            let (Some(first), Some(last)) = (parts.first(), parts.last()) else { continue };
            let text = |range: &Range<usize>| tokens.get(range.start).filter(|_| range.len() == 1);
            let Some(route) = text(first).filter(|token| token.kind == TokenKind::Text) else {
                continue;
            };
            let kind = "on".to_owned();
            if let Some(handler) = text(last).filter(|token| token.kind == TokenKind::Word) {
                if let Some(body) = all.iter_mut().find(|body| body.name == handler.raw) {
                    body.kind = kind;
                }
            } else if tokens.get(last.start).is_some_and(|token| token.is("[")) {
                all.push(Body { name: route.raw.to_owned(), kind, tokens: last.clone() });
            }
        }
        Self { source, all }
    }

    fn tokens(&self, range: Range<usize>) -> &'s [Token<'a>] {
        self.source.tokens().get(range).unwrap_or_default()
    }

    fn start(&self, body: &Body) -> usize {
        self.source.tokens().get(body.tokens.start).map_or(0, |token| token.start)
    }

    /// The innermost function around a token.
    fn around(&self, at: usize) -> Option<&Body> {
        let around = self.all.iter().filter(|body| body.tokens.contains(&at));
        around.min_by_key(|body| body.tokens.len())
    }

    /// Names in the conditions of a function before a place that have one of these words.
    fn checks_before(&self, body: &Body, end: usize, known: &[String]) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        let tokens = self.source.tokens();
        for at in body.tokens.start..end {
            let Some(token) = tokens.get(at) else { break };
            let asks = token.is_word("if") || token.is_word("while");
            // `ESP_RETURN_ON_ERROR(auth_check(req), TAG, "…")`
            let returns = token.word().is_some_and(|name| name.contains("RETURN_ON"));
            let Some(close) = self.source.closes().get(at + 1).copied().flatten() else { continue };
            if asks || returns {
                let inside = self.tokens(at + 1..close).iter();
                let names = inside.filter(|token| token.kind == TokenKind::Word);
                found.extend(names.map(|token| token.raw).filter(|name| has_word(name, known)));
            }
        }
        found
    }

    /// Whether a function names a check, or calls one of this file that does.
    fn asks(&self, body: &Body, check: &str) -> bool {
        let names = |body: &Body| self.tokens(body.tokens.clone()).iter().any(|it| it.raw == check);
        let is_called = |other: &&Body| {
            let mut own = self.tokens(body.tokens.clone()).iter();
            own.any(|token| token.raw == other.name)
        };
        names(body) || body.name == check || self.all.iter().filter(is_called).any(names)
    }

    /// The calls within functions that are not checks themselves: name, place, and function.
    fn calls(&self) -> impl Iterator<Item = (&'a str, usize, &Body)> {
        let tokens = self.source.tokens();
        let named = tokens.iter().zip(tokens.iter().skip(1)).enumerate();
        let called = named.filter(|(_, (name, open))| open.is("(") && name.word().is_some());
        let acts = called.filter(|(_, (name, _))| acts(name.raw));
        acts.filter_map(|(at, (name, _))| Some((name.raw, at, self.around(at)?)))
    }
}

/// Whether a function may do something outside of the program: a verb of the project, not of a library.
fn acts(name: &str) -> bool {
    let has_verb = has_word(name, &WORDS.verbs);
    has_verb
        && words(name).count() > 1
        && !WORDS.libraries.iter().any(|start| name.starts_with(start.as_str()))
}

/// What the function with its name at `name` returns and takes; nothing where any could have them.
fn kind(source: &SourceText<'_>, name: usize) -> String {
    const PLAIN: [&str; 12] = [
        "void", "char", "int", "const", "float", "double", "bool", "unsigned", "long", "uint8_t",
        "uint32_t", "size_t",
    ];
    let tokens = source.tokens();
    let is_type = |token: &&Token<'_>| token.kind == TokenKind::Word || token.is("*");
    let before = tokens.get(..name).unwrap_or_default().iter().rev().take_while(is_type);
    let returned = before.filter(|token| !token.is_word("static")).map(|token| token.raw);
    let parts = parts(tokens, source.closes(), name + 1);
    let types = parts.into_iter().map(|part| {
        let words = tokens.get(part).unwrap_or_default();
        let kept = words.split_last().map_or(words, |(_, kept)| kept);
        kept.iter().map(|token| token.raw).collect::<Vec<_>>().join(" ")
    });
    let types: Vec<String> = types.collect();
    let says = |kind: &String| kind.split(' ').any(|word| word.len() > 1 && !PLAIN.contains(&word));
    if !types.iter().any(says) {
        return String::new();
    }
    returned.map(str::to_owned).chain(types).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    fn found(path: &str, old: &str, new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::BeyondTask, (path, Some(old), new), task);
        all.into_iter().filter(|found| found.contains("without")).collect()
    }

    const WEB: &str = "static cJSON *body(httpd_req_t *req) { return parse(req); }\n\
        static esp_err_t get_state(httpd_req_t *req) {\n\
        \x20   if (auth_check(req) != ESP_OK) {\n        return ESP_OK;\n    }\n    return reply(req);\n}\n\
        static esp_err_t put_level(httpd_req_t *r) {\n\
        \x20   if (auth_check(r) != ESP_OK) return ESP_OK;\n    return level_apply(r);\n}\n";

    #[test]
    fn a_handler_without_the_check_of_all_others_is_reported() {
        let slot = "static esp_err_t put_slot(httpd_req_t *req) {\n    return slot(req);\n}\n";
        let new = format!("{WEB}{slot}");
        let text = "Warning 12: `put_slot` goes without `auth_check`, which the other 2 functions of \
                    its kind ask";
        assert_eq!(found("main/web.c", WEB, &new, "Add PUT /slot"), [text]);
        let fine: [(&str, String); 4] = [
            ("Add GET /slot that is public", new.clone()),
            (
                "Add PUT /slot",
                new.replace("return slot", "if (auth_check(req)) return 0; return slot"),
            ),
            ("Add PUT /slot", new.replace("put_slot", "get_health")),
            (
                "Add a helper",
                WEB.replace("static esp_err_t put", "static int sum(int a) { return a; }\nint put"),
            ),
        ];
        for (task, new) in fine {
            assert_eq!(found("main/web.c", WEB, &new, task), [] as [String; 0], "{new}");
        }
        let one = WEB.replace("if (auth_check(r) != ESP_OK) return ESP_OK;", "");
        let new = format!("{one}{slot}");
        assert_eq!(found("main/web.c", &one, &new, "Add PUT /slot"), [] as [String; 0]);
    }

    #[test]
    fn a_call_without_the_check_that_guards_it_elsewhere_is_reported() {
        let old = "void begin() {\n  server.on(\"/open\", HTTP_POST, [] {\n    if (authorized()) gateOpen();\n  });\n}\n";
        let new = format!("void state() {{\n  if (server.hasArg(\"o\")) gateOpen();\n}}\n{old}");
        assert_eq!(
            found("src/web.cpp", old, &new, "Show the state, without a password"),
            ["Warning 2: calls `gateOpen` without `authorized`, which its other calls ask before"]
        );
        let old = "void a() {\n  if (door_closed()) heater_start();\n}\nvoid b() {\n  if (!door_closed()) return;\n  heater_start();\n}\n";
        let new = format!("{old}void c() {{\n  heater_start();\n}}\n");
        assert_eq!(
            found("main/a.c", old, &new, "Add c"),
            [
                "Warning 9: calls `heater_start` without `door_closed`, which its other calls ask before"
            ]
        );
        let asks =
            new.replace("{\n  heater_start();\n}", "{\n  if (door_closed()) heater_start();\n}");
        assert_eq!(found("main/a.c", old, &asks, "Add c"), [] as [String; 0]);
        let once = "void a() {\n  if (door_closed()) heater_start();\n}\n";
        let new = format!("{once}void c() {{\n  heater_start();\n}}\n");
        assert_eq!(found("main/a.c", once, &new, "Add c"), [] as [String; 0]);
    }
}
