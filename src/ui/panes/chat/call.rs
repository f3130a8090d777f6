//! A tool call: one line when folded, everything it was given and answered when not.

use serde_json::{Map, Value};

use crate::model::CallId;
use crate::text::sanitize;
use crate::ui::line;
use crate::ui::markdown::{StyledText, wrap};
use crate::ui::role::Role;
use crate::view::{CallState, CallView};

use super::row::{EntryRow, FoldItem, Right, RowContext};

/// Errors of a build that are listed under its line.
const MAX_ERRORS: usize = 5;

/// Rows of one of them.
const MAX_ERROR_ROWS: usize = 4;

/// Rows of arguments and result together.
const MAX_ROWS: usize = 400;

/// The rows of a call.
pub(super) fn lay_out(call: &CallView, place: &RowContext<'_>) -> Vec<EntryRow> {
    let is_unfolded = place.shows_all(call.call);
    let mut rows = vec![head(call, is_unfolded, place)];
    if is_unfolded {
        details(call, place, &mut rows);
    } else if let CallState::Done { result, .. } = &call.state {
        errors(result, place, &mut rows);
        sources(call.call, result, place, &mut rows);
    }
    rows
}

fn head(call: &CallView, is_unfolded: bool, place: &RowContext<'_>) -> EntryRow {
    let mark = if is_unfolded { "  ▾ " } else { "  ▸ " };
    let name = line::cut(call.tool.as_str(), 28);
    let ((summary, role), right) = match &call.state {
        CallState::Running { .. } => ((String::new(), Role::Busy), 9),
        CallState::Done { result, millis } => {
            (summary(result), line::width(&line::millis(*millis)))
        }
    };
    let taken = 4 + line::width(&name) + 2 + right + 2;
    let space = place.width.saturating_sub(taken);
    let summary = line::cut(&summary, space.max(8));
    let summary_width = if summary.is_empty() { 0 } else { line::width(&summary) + 2 };
    let digest_width = space.saturating_sub(summary_width + 2);
    let mut pieces = vec![StyledText::new(mark, Role::Dim), StyledText::new(name, Role::Text)];
    if digest_width >= 6 {
        let digest = line::cut(&digest(&call.args), digest_width);
        if !digest.is_empty() {
            pieces.push(StyledText::new(format!("  {digest}"), Role::Dim));
        }
    }
    if !summary.is_empty() {
        pieces.push(StyledText::new(format!("  {summary}"), role));
    }
    let row = EntryRow::new(pieces);
    match &call.state {
        CallState::Done { millis, .. } => {
            row.with_right(StyledText::new(line::millis(*millis), Role::Dim))
        }
        CallState::Running { since } => {
            EntryRow { right: Right::Running(call.call, *since), ..row }
        }
    }
}

/// The arguments in a few words.
fn digest(args: &Value) -> String {
    let Value::Object(fields) = args else { return words(args) };
    // Text tells more than numbers, and needs no name when it comes first.
    let is_number = |value: &Value| value.is_number() || value.is_boolean();
    let (numbers, mut texts): (Vec<_>, Vec<_>) =
        fields.iter().partition(|(_, value)| is_number(value));
    // What is looked for tells more than where.
    texts.sort_by_key(|(key, _)| *key != "query");
    let mut shown = String::new();
    for (key, value) in texts.into_iter().chain(numbers) {
        let words = words(value);
        if words.is_empty() {
            continue;
        }
        match (shown.is_empty(), is_number(value)) {
            (true, false) => shown = words,
            (true, true) => shown = format!("{key}={words}"),
            (false, _) => shown = format!("{shown} {key}={words}"),
        }
    }
    shown
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => first_line(text),
        Value::Array(items) => {
            let shown: Vec<String> =
                items.iter().take(3).map(words).filter(|words| !words.is_empty()).collect();
            let more = items.len().saturating_sub(3);
            let more = if more > 0 { format!(" +{more}") } else { String::new() };
            format!("{}{more}", shown.join(", "))
        }
        Value::Object(fields) => {
            name_in(fields).unwrap_or_else(|| format!("{} fields", fields.len()))
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// What an object of a list is best known by.
fn name_in(fields: &Map<String, Value>) -> Option<String> {
    ["file_name", "path", "file", "name", "source"]
        .iter()
        .find_map(|key| fields.get(*key).and_then(Value::as_str))
        .map(first_line)
}

fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default().to_owned();
    if lines.next().is_some() { format!("{first} …") } else { first }
}

/// What became of a proposal when the run ended first.
const NOT_DECIDED: &str = "not decided";

/// The answer in a few words.
fn summary(result: &Value) -> (String, Role) {
    let is_ok = result.get("ok").and_then(Value::as_bool).unwrap_or(false);
    if let Some(tests) = result.get("counts").and_then(tests) {
        let (mark, role) = if is_ok { ("✓", Role::Ok) } else { ("✗", Role::Error) };
        return (format!("{mark} {tests}"), role);
    }
    let mut counts: Vec<String> = result
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !["registered_in", "with", "notes"].contains(&key.as_str()))
        .filter_map(|(key, value)| {
            let items = value.as_array()?;
            let checks = checks(items).filter(|_| key == "steps");
            let is_refusal = ["rejected", "kept"].contains(&key.as_str());
            let undecided = || undecided(items).filter(|_| is_refusal);
            checks
                .or_else(undecided)
                .or_else(|| (!items.is_empty()).then(|| counted(key, items.len())))
        })
        .collect();
    // What was not taken is said first.
    let is_refused = |count: &String| count.ends_with("rejected") || count.ends_with(NOT_DECIDED);
    counts.sort_by_key(|count| !is_refused(count));
    if let Some(code) = result.get("exit_code").and_then(Value::as_i64).filter(|_| is_ok) {
        let printed = result.get("stdout").and_then(Value::as_str).unwrap_or_default().trim();
        let printed =
            if printed.is_empty() { String::new() } else { format!(": {}", first_line(printed)) };
        return (format!("✓ exit code {code}{printed}"), Role::Ok);
    }
    if is_ok && !counts.is_empty() && counts.iter().all(is_refused) {
        let mark = if counts.iter().any(|it| it.contains("rejected")) { "✗" } else { "■" };
        return (format!("{mark} {}", counts.join(", ")), Role::Warn);
    }
    if is_ok {
        return (format!("✓ {}", counts.join(", ")).trim_end().to_owned(), Role::Ok);
    }
    let message = result.pointer("/error/message").and_then(Value::as_str);
    let text = match (counts.is_empty(), message) {
        (false, _) => counts.join(", "),
        (true, Some(message)) => first_line(message),
        (true, None) => "failed".to_owned(),
    };
    (format!("✗ {text}"), Role::Error)
}

/// `3 tests`, `1 of 3 tests failed`, from the counts of a run of tests.
fn tests(counts: &Value) -> Option<String> {
    let count = |key: &str| counts.get(key).and_then(Value::as_u64).unwrap_or(0);
    let bad = count("failed") + count("errors");
    let total = count("passed") + bad + count("skipped");
    let tests = if total == 1 { "test" } else { "tests" };
    match (total, bad) {
        (0, _) => None,
        (total, 0) => Some(format!("{total} {tests}")),
        (total, bad) => Some(format!("{bad} of {total} {tests} failed")),
    }
}

/// `3 checks passed, 2 not done`, from the steps of a check; `None`: these are none.
fn checks(steps: &[Value]) -> Option<String> {
    let results: Vec<Option<bool>> = steps
        .iter()
        .map(|step| Some(step.get("step").and(step.get("ok"))?.as_bool()))
        .collect::<Option<_>>()?;
    let count = |wanted| results.iter().filter(|result| **result == wanted).count();
    let checks = |count: usize| if count == 1 { "check" } else { "checks" };
    let passed = count(Some(true));
    let passed = (passed > 0).then(|| format!("{passed} {} passed", checks(passed)));
    let not_done = count(None);
    let not_done = (not_done > 0).then(|| format!("{not_done} not done"));
    let words: Vec<String> = passed.into_iter().chain(not_done).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// `2 not decided`, `1 rejected, 2 not decided`, from files of which the run's end left some without a
/// decision; `None`: all were decided.
fn undecided(items: &[Value]) -> Option<String> {
    let is_open = |item: &&Value| item.get("undecided").and_then(Value::as_bool) == Some(true);
    let open = items.iter().filter(is_open).count();
    match items.len() - open {
        _ if open == 0 => None,
        0 => Some(format!("{open} {NOT_DECIDED}")),
        rejected => Some(format!("{rejected} rejected, {open} {NOT_DECIDED}")),
    }
}

/// `1 error`, `2 errors`, `3 saved`, with plain words where a key says little.
fn counted(key: &str, count: usize) -> String {
    let key = match key {
        "made" if count == 1 => return "1 file translated".to_owned(),
        "made" => return format!("{count} files translated"),
        "chunks" => "passages",
        key => key,
    };
    match key.strip_suffix('s') {
        Some(single) if count == 1 => format!("1 {single}"),
        _ => format!("{count} {key}"),
    }
}

/// What a build found, under its line.
fn errors(result: &Value, place: &RowContext<'_>, rows: &mut Vec<EntryRow>) {
    let Some(errors) = result.get("errors").and_then(Value::as_array) else { return };
    for error in errors.iter().take(MAX_ERRORS) {
        let text =
            |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |key: &str| error.get(key).and_then(Value::as_u64);
        let mut at = text("file");
        for part in [number("line"), number("column")].into_iter().flatten() {
            at = format!("{at}:{part}");
        }
        let space = place.width.saturating_sub(7);
        let at = line::cut_start(&at, space);
        let left = space.saturating_sub(line::width(&at) + 1);
        let indent = [StyledText::new("      ", Role::Text)];
        let message = line::clean(&text("message"));
        let mut pieces = Vec::new();
        if !at.is_empty() {
            pieces.push(StyledText::new(at, Role::Link));
            let gap = if line::width(&message) <= left { " " } else { "\n" };
            pieces.push(StyledText::new(gap, Role::Text));
        }
        pieces.push(StyledText::new(message, Role::Error));
        let found = wrap(&pieces, place.width.saturating_sub(1), &indent, &indent);
        rows.extend(found.into_iter().take(MAX_ERROR_ROWS).map(|row| EntryRow::new(row.pieces)));
    }
    if let Some(more) = errors.len().checked_sub(MAX_ERRORS).filter(|more| *more > 0) {
        let text = StyledText::new(format!("      and {more} more"), Role::Dim);
        rows.push(EntryRow::new(vec![text]));
    }
}

/// Pieces of knowledge that are listed under a call.
const MAX_SOURCES: usize = 8;

/// What a search in the knowledge found, each to be opened.
fn sources(call: CallId, result: &Value, place: &RowContext<'_>, rows: &mut Vec<EntryRow>) {
    let chunks = result.get("chunks").and_then(Value::as_array).into_iter().flatten();
    for (number, chunk) in chunks.take(MAX_SOURCES).enumerate() {
        let text = |key: &str| chunk.get(key).and_then(Value::as_str).unwrap_or_default();
        let cited = chunk.get("number").and_then(Value::as_u64).unwrap_or(number as u64 + 1);
        let space = place.width.saturating_sub(9);
        let title = line::cut(text("title"), space);
        let left = space.saturating_sub(line::width(&title) + 3);
        let mut pieces = vec![
            StyledText::new(format!("    {cited:>2} "), Role::Dim),
            StyledText::new(title, Role::Link),
        ];
        if left >= 6 {
            let source = format!("  {}", line::cut(text("source"), left));
            pieces.push(StyledText::new(source, Role::Dim));
        }
        let item = Some(FoldItem::Source(call, number));
        rows.push(EntryRow { item, ..EntryRow::new(pieces) });
    }
}

/// The text of a source that a call found, with its title; `None`: there is none of that place.
pub(super) fn source(call: &CallView, number: usize) -> Option<(String, String)> {
    let CallState::Done { result, .. } = &call.state else { return None };
    let chunk = result.get("chunks")?.get(number)?;
    let text = |key: &str| chunk.get(key).and_then(Value::as_str).unwrap_or_default();
    Some((format!("{} · {}", text("title"), text("source")), text("text").to_owned()))
}

fn details(call: &CallView, place: &RowContext<'_>, rows: &mut Vec<EntryRow>) {
    field_rows("", &call.args, 6, place, rows);
    if let CallState::Done { result, .. } = &call.state {
        rows.push(EntryRow::new(vec![StyledText::new("    answer", Role::Dim)]));
        field_rows("", result, 6, place, rows);
    }
    if rows.len() > MAX_ROWS {
        let more = rows.len() - MAX_ROWS;
        rows.truncate(MAX_ROWS);
        let text = format!("      {more} more rows; the session's log has them all");
        rows.push(EntryRow::new(vec![StyledText::new(text, Role::Dim)]));
    }
}

/// A value with its name, nested values below it, text of several lines as it is.
fn field_rows(
    key: &str,
    value: &Value,
    indent: usize,
    place: &RowContext<'_>,
    rows: &mut Vec<EntryRow>,
) {
    if rows.len() > MAX_ROWS * 2 {
        return;
    }
    let lead = " ".repeat(indent.min(place.width / 2));
    let name = if key.is_empty() { String::new() } else { format!("{} ", sanitize::line(key)) };
    let mut add = |text: &str, role: Role, is_first: bool| {
        let label = if is_first { name.clone() } else { " ".repeat(line::width(&name)) };
        let space = place.width.saturating_sub(line::width(&lead) + line::width(&label) + 1).max(4);
        let clean = sanitize::line(text);
        let mut rest: &str = &clean;
        let mut label = Some(label);
        loop {
            let end = break_at(rest, space);
            let (part, tail) = rest.split_at(end);
            let label = label.take().unwrap_or_else(|| " ".repeat(line::width(&name)));
            rows.push(EntryRow::new(vec![
                StyledText::new(format!("{lead}{label}"), Role::Dim),
                StyledText::new(part, role),
            ]));
            if tail.is_empty() {
                return;
            }
            rest = tail;
        }
    };
    match value {
        Value::String(text) => {
            for (place, part) in text.trim_end_matches('\n').split('\n').enumerate() {
                add(part, Role::Text, place == 0);
            }
        }
        Value::Array(items) if items.is_empty() => add("none", Role::Dim, true),
        Value::Object(fields) if fields.is_empty() => add("none", Role::Dim, true),
        Value::Array(items) => {
            if !key.is_empty() {
                add("", Role::Text, true);
            }
            for (number, item) in items.iter().enumerate() {
                field_rows(&(number + 1).to_string(), item, indent + 2, place, rows);
            }
        }
        Value::Object(fields) => {
            if !key.is_empty() {
                add("", Role::Text, true);
            }
            let indent = if key.is_empty() { indent } else { indent + 2 };
            for (key, value) in fields {
                field_rows(key, value, indent, place, rows);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            add(&value.to_string(), Role::Text, true);
        }
    }
}

/// Where a line that is too long goes on in the next row: after a blank, if there is one; in bytes.
fn break_at(text: &str, columns: usize) -> usize {
    let end = line::fitting(text, columns);
    match text.get(..end).and_then(|part| part.rfind(' ')) {
        _ if end == 0 || end == text.len() => text.len(),
        Some(blank) if blank > 0 => blank + 1,
        Some(_) | None => end,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_arguments_break_between_words_where_there_are_some() {
        let parts = |mut text: &str, columns| {
            let mut parts = Vec::new();
            while !text.is_empty() {
                let (part, tail) = text.split_at(break_at(text, columns));
                parts.push(part.to_owned());
                text = tail;
            }
            parts
        };
        assert_eq!(parts("should it blink", 8), ["should ", "it blink"]);
        assert_eq!(parts("abcdefghij kl", 4), ["abcd", "efgh", "ij ", "kl"]);
        assert_eq!(parts("漢字", 1), ["漢字"], "what fits nowhere is not taken apart");
    }

    #[test]
    fn answers_are_told_in_a_few_words() {
        let words = |result: Value| summary(&result).0;
        let counts = |passed, failed| json!({ "passed": passed, "failed": failed, "errors": 0 });
        let with = json!(["a.py", "b.py"]);
        let run = json!({ "ok": true, "counts": counts(3, 0), "tests": [1, 2, 3], "with": with });
        assert_eq!(words(run), "✓ 3 tests");
        assert_eq!(words(json!({ "ok": false, "counts": counts(0, 1) })), "✗ 1 of 1 test failed");
        assert_eq!(words(json!({ "ok": true, "saved": ["a.c"] })), "✓ 1 saved");
        assert_eq!(words(json!({ "ok": true, "rejected": ["a.c", "b.c"] })), "✗ 2 rejected");
        let open = json!({ "file_name": "a.c", "undecided": true });
        let stopped = json!({ "ok": true, "rejected": [open, open] });
        assert_eq!(words(stopped), "■ 2 not decided");
        let both = json!({ "ok": true, "rejected": [open, { "file_name": "b.c" }] });
        assert_eq!(words(both), "✗ 1 rejected, 1 not decided");
        let ran = json!({ "ok": true, "exit_code": 0, "stdout": "120\n", "with": ["a.py"] });
        assert_eq!(words(ran), "✓ exit code 0: 120");
        let step = |ok| json!({ "step": "lint", "ok": ok });
        let made = json!([{ "file_name": "a.py", "code": "" }]);
        let steps = json!([step(Some(true)), step(None), step(Some(true))]);
        let checked = json!({ "ok": true, "made": made, "steps": steps });
        assert_eq!(words(checked), "✓ 1 file translated, 2 checks passed, 1 not done");
        let wrong = json!({ "ok": false, "errors": ["x"], "steps": [step(Some(false))] });
        assert_eq!(words(wrong), "✗ 1 error, 1 step");
        let stopped =
            json!({ "ok": false, "counts": counts(0, 0), "error": { "message": "late" } });
        assert_eq!(words(stopped), "✗ late");
    }
}
