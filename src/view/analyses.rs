//! What tools found in the sources: issues of linters, and how complex functions are.
//!
//! A fold of the answers that are in the journal anyway. Must not judge them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::model::{CallId, Event, Record, Timestamp, ToolName, TurnEvent};

/// Analyses that are kept.
const KEPT: usize = 40;

/// Lines of one analysis that are kept.
const ROWS: usize = 1_000;

/// The tools whose answers are shown.
const TOOLS: [&str; 2] = ["run_static_analysis", "analyze_complexity"];

#[derive(Debug, Clone, PartialEq)]
pub struct AnalysisView {
    pub tool: ToolName,
    /// When it was answered.
    pub at: Timestamp,
    pub millis: u64,
    /// What was found, the most important first.
    pub rows: Vec<AnalysisRow>,
    /// How many more there were.
    pub omitted: u64,
    /// What is missing, or why there was no answer.
    pub notes: Vec<String>,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysisRow {
    /// Relative to the project; `None` when unknown.
    pub file: Option<String>,
    pub line: Option<u32>,
    pub text: String,
    /// 2: an error, or far too complex; 1: a warning, or complex; 0: anything else.
    pub weight: u8,
}

/// The newest analyses, the oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Analyses {
    pub all: Vec<Arc<AnalysisView>>,
    open: BTreeMap<CallId, ToolName>,
}

impl Analyses {
    pub(super) fn apply(&mut self, record: &Record) {
        let Event::Turn(event) = &record.event else { return };
        if let TurnEvent::ToolCalled { call, tool, .. } = event
            && TOOLS.contains(&tool.as_str())
        {
            self.open.insert(*call, tool.clone());
        }
        if let TurnEvent::ToolAnswered { call, result, millis } = event
            && let Some(tool) = self.open.remove(call)
        {
            if self.all.len() >= KEPT {
                self.all.remove(0);
            }
            self.all.push(Arc::new(view(tool, result, record.at, *millis)));
        }
    }
}

fn view(tool: ToolName, result: &Value, at: Timestamp, millis: u64) -> AnalysisView {
    let list = |key: &str| result.get(key).and_then(Value::as_array).into_iter().flatten();
    let mut rows: Vec<AnalysisRow> = list("issues").map(issue).collect();
    rows.extend(list("functions").map(function));
    rows.sort_by_key(|row| std::cmp::Reverse(row.weight));
    let beyond = rows.len().saturating_sub(ROWS) as u64;
    rows.truncate(ROWS);
    let number = |key: &str| result.get(key).and_then(Value::as_u64).unwrap_or(0);
    let mut notes: Vec<String> = Vec::new();
    if let Some(message) = result.pointer("/error/message").and_then(Value::as_str) {
        notes.push(message.to_owned());
    }
    for missing in list("missing") {
        notes.push(format!("{} is missing: {}", text(missing, "tool"), text(missing, "install")));
    }
    for skipped in list("skipped") {
        notes.push(format!("{} was skipped: {}", text(skipped, "path"), text(skipped, "why")));
    }
    AnalysisView { tool, at, millis, rows, omitted: number("omitted") + beyond, notes }
}

fn issue(value: &Value) -> AnalysisRow {
    let (severity, rule) = (text(value, "severity"), text(value, "rule"));
    let rule = if rule.is_empty() { String::new() } else { format!(" [{rule}]") };
    let weight = match severity {
        "error" => 2,
        "warning" => 1,
        _ => 0,
    };
    let text = format!("{severity}: {}{rule} · {}", text(value, "message"), text(value, "tool"));
    row(value, "file", text, weight)
}

fn function(value: &Value) -> AnalysisRow {
    let number = |key: &str| value.get(key).and_then(Value::as_u64).unwrap_or(0);
    let (cyclomatic, cognitive) = (number("cyclomatic"), number("cognitive"));
    let weight = match cyclomatic.max(cognitive) {
        0..=10 => 0,
        11..=25 => 1,
        _ => 2,
    };
    let text = format!(
        "{}: cyclomatic {cyclomatic}, cognitive {cognitive}, {} lines, nesting {}",
        text(value, "function"),
        number("lines"),
        number("nesting"),
    );
    row(value, "path", text, weight)
}

fn row(value: &Value, file: &str, text: String, weight: u8) -> AnalysisRow {
    let line = value.get("line").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
    let file = value.get(file).and_then(Value::as_str).map(str::to_owned);
    AnalysisRow { file, line, text, weight }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{Seq, TurnId};

    fn shown(tool: &str, result: Value) -> Option<Arc<AnalysisView>> {
        let mut analyses = Analyses::default();
        let (turn, call, args) = (TurnId(1), CallId(1), json!({}));
        for event in [
            TurnEvent::ToolCalled { turn, call, tool: tool.into(), args },
            TurnEvent::ToolAnswered { call, result, millis: 3 },
        ] {
            let event = Event::Turn(event);
            analyses.apply(&Record { v: 1, seq: Seq(1), at: Timestamp(0), event });
        }
        analyses.all.last().cloned()
    }

    #[test]
    fn what_weighs_most_comes_first_with_its_place() {
        let function = |name: &str, cognitive: u32| {
            json!({ "path": "main/a.c", "function": name, "line": 7, "lines": 3,
                    "cyclomatic": 2, "cognitive": cognitive, "nesting": 1 })
        };
        let result =
            json!({ "ok": true, "functions": [function("plain", 1), function("knot", 40)] });
        let found = shown("analyze_complexity", result).unwrap();
        assert!(found.rows[0].text.starts_with("knot: cyclomatic 2, cognitive 40"), "{found:?}");
        assert_eq!((found.rows[0].weight, found.rows[0].line), (2, Some(7)));
        assert_eq!(found.rows[1].weight, 0);
    }

    #[test]
    fn missing_linters_and_errors_are_notes_and_other_tools_are_not_shown() {
        let result = json!({ "ok": false, "error": { "message": "none of the linters is installed" },
                             "missing": [{ "tool": "cppcheck", "install": "apt install cppcheck" }] });
        let found = shown("run_static_analysis", result).unwrap();
        assert_eq!(found.notes.len(), 2);
        assert!(found.notes[1].contains("apt install"), "{:?}", found.notes);
        assert!(shown("read_project_files", json!({ "issues": [{}] })).is_none());
    }
}
