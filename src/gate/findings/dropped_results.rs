//! Results of what stores or activates something that were looked at and no longer are:
//! `nvs_commit(h);` where it was `err = nvs_commit(h);`.
//!
//! Owns which functions tell whether something is stored. Results that a function turns into success are
//! told by [`error_results`](super::error_results).

use std::cell::LazyCell;
use std::collections::HashSet;

use super::source::{SourceText, raw};
use super::{Subject, beyond_task};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::{Token, TokenKind};

/// Beginnings of such functions. Sources: the headers of ESP-IDF v5.5.
const TELLING: [&str; 8] = [
    "nvs_set_",
    "nvs_commit",
    "esp_ota_write",
    "esp_ota_end",
    "esp_ota_set_boot_partition",
    "esp_partition_write",
    "esp_partition_erase",
    "esp_flash_write",
];

/// What is to be said of a result that nothing looks at any longer.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let new = subject.source().filter(|_| beyond_task::is_code(path))?;
    if let Some(finding) = unasked(subject) {
        return Some(finding);
    }
    let given_up = given_up(new);
    let tells =
        |name: &str| TELLING.iter().any(|start| name.starts_with(start)) || given_up.contains(name);
    let is_silent = given_up.is_empty() && !TELLING.iter().any(|name| new.text.contains(name));
    if path.extension() == Some("py") || is_silent {
        return None;
    }
    let added = &subject.changed().added;
    let ignored: Vec<(String, u32)> = calls(new, &tells)
        .into_iter()
        .filter(|call| !call.is_checked)
        .map(|call| (call.name, call.line))
        .filter(|(_, line)| subject.base.is_none() || added.contains(line))
        .collect();
    if ignored.is_empty() {
        return None;
    }
    let mut was = Vec::new();
    for changed in subject.context.proposed.paths() {
        if let Some(text) = subject.text_before(changed.as_str()) {
            was.extend(calls(&SourceText::new(changed, &text), &tells));
        }
    }
    let (name, line) = ignored.into_iter().find(|(name, _)| {
        let mut before = was.iter().filter(|call| call.name == *name).peekable();
        before.peek().is_some() && before.all(|call| call.is_checked)
    })?;
    let text = format!("no longer looks at whether `{name}` failed");
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
    Some(finding.advice("Make sure that a failure is still noticed."))
}

/// A call of which a condition asked whether it worked, and that stands alone now.
fn unasked(subject: &Subject<'_>) -> Option<Finding> {
    let (old, new) = subject.versions_of_code()?;
    let added = &subject.changed().added;
    if subject.changed().removed.is_empty() || added.is_empty() {
        return None;
    }
    let (tokens, closes) = (new.tokens(), new.closes());
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token: &Token<'_>| token.is(mark));
    let asked = asked(old);
    new.functions().iter().find_map(|function| {
        let name = tokens.get(function.name)?.raw;
        let was = LazyCell::new(|| old.body(name));
        let mut begins = function.body.clone().filter(|at| {
            let before = at.checked_sub(1);
            before.is_some_and(|at| [";", "{", "}"].iter().any(|mark| is(at, mark)))
        });
        begins.find_map(|start| {
            let line = new.number_at(tokens.get(start)?.start);
            let is_word = |at: usize| tokens.get(at).is_some_and(|it| it.kind == TokenKind::Word);
            // `pump.start(`, `pump->start(`
            let is_of_name =
                |at: &usize| is_word(*at) || [".", "-", ">", ":"].iter().any(|mark| is(*at, mark));
            let open = (start..start + 12).find(|at| !is_of_name(at))?;
            let close = closes.get(open).copied().flatten().filter(|_| is(open, "("))?;
            if !added.contains(&line) || !is_word(start) || !is(close + 1, ";") || open == start {
                return None;
            }
            if !asked.contains(tokens.get(start)?.raw) {
                return None;
            }
            let name = raw(tokens.get(start..open)?);
            let asked = [format!("if ( ! {name} ("), format!("if ( {name} (")];
            let is_asked = asked.iter().any(|asked| was.contains(asked.as_str()));
            let was_alone =
                [";", "{", "}"].iter().any(|it| was.contains(&format!("{it} {name} (")));
            let shown = tokens.get(start..open)?.iter().map(|token| token.raw).collect::<String>();
            let text = format!("no longer looks at what `{shown}` returns");
            let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
            let advice = "Make sure that a failure is still noticed.";
            (is_asked && !was_alone).then(|| finding.advice(advice))
        })
    })
}

/// The first words of what the conditions of a source ask: `pump` of `if (!pump.start(v))`.
fn asked<'a>(source: &SourceText<'a>) -> HashSet<&'a str> {
    let tokens = source.tokens();
    let asking = tokens.iter().enumerate().filter(|(_, token)| token.is_word("if"));
    let first = asking.filter_map(|(at, _)| {
        let begin = if tokens.get(at + 2)?.is("!") { at + 3 } else { at + 2 };
        tokens.get(begin).map(|token| token.raw)
    });
    first.collect()
}

struct Call {
    name: String,
    /// Its line, from 1.
    line: u32,
    is_checked: bool,
}

/// The functions whose result a source gives up on purpose: `(void)i2c_master_transmit(`.
fn given_up<'a>(source: &SourceText<'a>) -> HashSet<&'a str> {
    let tokens = source.tokens();
    let is_given_up = |at: usize| is_given_up(tokens, at);
    let names = (0..tokens.len()).filter(|at| is_given_up(*at));
    names.filter_map(|at| tokens.get(at)).map(|token| token.raw).collect()
}

/// Whether `(void)` stands before the call of the name at `at`.
fn is_given_up(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(3).and_then(|start| tokens.get(start..at)).unwrap_or_default();
    let is_void = matches!(before, [open, void, close] if open.is("(") && void.is_word("void") && close.is(")"));
    is_void
        && tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word)
        && tokens.get(at + 1).is_some_and(|token| token.is("("))
}

/// The calls of functions that are `wanted`.
fn calls(source: &SourceText<'_>, wanted: &dyn Fn(&str) -> bool) -> Vec<Call> {
    let tokens = source.tokens();
    let closes = source.closes();
    let is = |at: usize, mark: &str| tokens.get(at).is_some_and(|token: &Token<'_>| token.is(mark));
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word)
    {
        if !is(at + 1, "(") || !wanted(token.raw) {
            continue;
        }
        let Some(close) = closes.get(at + 1).copied().flatten() else { continue };
        let begins = at.checked_sub(1).is_none_or(|before| {
            is(before, ";") || is(before, "{") || is(before, "}") || is(before, ":")
        });
        let is_checked = !((begins || is_given_up(tokens, at)) && is(close + 1, ";"));
        let line = source.number_at(token.start);
        found.push(Call { name: token.raw.to_owned(), line, is_checked });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use crate::model::CheckKind;

    const OLD: &str = "esp_err_t save(void)\n{\n    esp_err_t err = nvs_set_blob(h, \"cal\", &c, 4);\n    \
                       if (err == ESP_OK) {\n        err = nvs_commit(h);\n    }\n    return err;\n}\n";

    fn found(changes: &[(&str, Option<&str>)]) -> Vec<String> {
        let files = [("main/a.c", OLD)];
        let all = TestProject { files: &files, task: "Use one helper", chip: None }
            .reported(CheckKind::Safeguards, changes);
        all.into_iter().filter(|found| found.contains("looks at")).collect()
    }

    #[test]
    fn a_result_that_nothing_looks_at_is_reported() {
        let bare = OLD.replace("        err = nvs_commit(h);", "        nvs_commit(h);");
        let wanted = "main/a.c Warning: no longer looks at whether `nvs_commit` failed";
        assert_eq!(found(&[("main/a.c", Some(&bare))]), [wanted]);
        let helper =
            "esp_err_t put(void)\n{\n    nvs_set_blob(h, k, d, n);\n    return nvs_commit(h);\n}\n";
        let moved = [("main/a.c", Some("int a;\n")), ("main/store.c", Some(helper))];
        let wanted = "main/store.c Warning: no longer looks at whether `nvs_set_blob` failed";
        assert_eq!(found(&moved), [wanted]);
        let unused = "void put(void) { nvs_set_u8(h, k, 1); }\n";
        assert_eq!(found(&[("main/b.c", Some(unused))]), [] as [String; 0], "it never was");
        let same = OLD.replace("\"cal\"", "\"calibration\"");
        assert_eq!(found(&[("main/a.c", Some(&same))]), [] as [String; 0]);
    }

    #[test]
    fn a_result_that_is_given_up_on_purpose_is_reported() {
        let old = "esp_err_t get(void)\n{\n    ESP_RETURN_ON_ERROR(i2c_receive(d, b, 2), TAG, \"x\");\n    return ESP_OK;\n}\n";
        let found = |new: &str| {
            let all = TestProject { files: &[("a.c", old)], task: "Read both", chip: None }
                .reported(CheckKind::Safeguards, &[("a.c", Some(new))]);
            all.into_iter().filter(|found| found.contains("looks at")).collect::<Vec<_>>()
        };
        let checked = "ESP_RETURN_ON_ERROR(i2c_receive(d, b, 2), TAG, \"x\");";
        let new = old.replace(checked, "(void)i2c_receive(d, b, 2);");
        assert_eq!(found(&new), ["a.c Warning: no longer looks at whether `i2c_receive` failed"]);
        let other = old.replace("    return", "    (void)log_it(d);\n    return");
        assert_eq!(found(&other), [] as [String; 0], "it never was");
    }

    #[test]
    fn a_call_of_which_no_condition_asks_any_longer_is_reported() {
        let old = "void on(int v) {\n    if (!pump.start(v)) {\n        publish(\"no\");\n    }\n    draw();\n}\n";
        let found = |new: &str| {
            let all = TestProject { files: &[("a.cpp", old)], task: "Name the topic", chip: None }
                .reported(CheckKind::Safeguards, &[("a.cpp", Some(new))]);
            all.into_iter().filter(|found| found.contains("returns")).collect::<Vec<_>>()
        };
        let new = "void on(int v) {\n    pump.start(v);\n    draw();\n}\n";
        assert_eq!(found(new), ["a.cpp Warning: no longer looks at what `pump.start` returns"]);
        let old = old.replace("    draw();", "    pump.start(v);\n    draw();");
        let all = TestProject { files: &[("a.cpp", &old)], task: "Name the topic", chip: None }
            .reported(CheckKind::Safeguards, &[("a.cpp", Some(new))]);
        assert!(
            !all.iter().any(|found| found.contains("returns")),
            "it stood alone before: {all:?}"
        );
        let kept = new.replace("pump.start(v);", "ok = pump.start(v);");
        assert_eq!(found(&kept), [] as [String; 0]);
        assert_eq!(found(&new.replace("on(", "off(")), [] as [String; 0]);
    }
}
