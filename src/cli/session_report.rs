//! What one session came to, as text or as a JSON object.
//!
//! Every figure is that of the view, a fold of the session's records.

use serde_json::{Value, json};

use super::report;
use super::run::EventFormat;
use super::session_words::{local, state_with_waiting, state_words};
use crate::journal::{SessionDir, SessionSummary, summary};
use crate::model::{RecordSource, SessionOutcome, Usage, UserError};
use crate::text::sanitize;
use crate::view::{self, FileNames, RunView, RunWork, SessionView, duration};

/// Prints what the session came to.
///
/// # Errors
/// When it cannot be read.
pub fn print(dir: &SessionDir, format: EventFormat) -> Result<(), UserError> {
    let mut folded = SessionView::default();
    dir.each(&mut |record| folded.apply(record))?;
    let about = summary(dir);
    match format {
        EventFormat::Json => report::json(&object(&about, &folded)),
        EventFormat::Text => {
            text(&about, &folded).iter().for_each(|row| report::line(row));
            Ok(())
        }
    }
}

fn text(about: &SessionSummary, folded: &SessionView) -> Vec<String> {
    let clean = |text: &str| {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        sanitize::line(&words).into_owned()
    };
    let row = |name: &str, text: &str| format!("{name:<11}{}", clean(text));
    let mut rows = vec![row("session", about.id.as_str())];
    rows.extend(about.title.as_deref().map(|title| row("name", title)));
    rows.push(row("state", &state_with_waiting(about)));
    if let Some(start) = &about.start {
        rows.push(row("project", &start.project));
        let model = folded.head.model.as_ref().unwrap_or(&start.model);
        rows.push(row("model", &format!("{model}, {}", start.toolchain)));
    }
    rows.push(row("began", &local(about.started_at)));
    let runs = &folded.head.runs;
    for (number, run) in (1..).zip(runs) {
        rows.push(String::new());
        let name = if runs.len() == 1 { "task".to_owned() } else { format!("request {number}") };
        rows.push(row(&name, &run.task));
        rows.push(row("team", &format!("{}, {}", run.team, outcome(run))));
        if let Some(work) = folded.work.runs().get(number - 1) {
            let lines = view::summary(work, FileNames::All);
            rows.extend(lines.iter().map(|(name, text)| row(name, text)));
        }
    }
    let total = folded.work.total();
    if runs.len() > 1 {
        rows.extend([String::new(), "all requests together".to_owned()]);
        let lines = view::summary(&total, FileNames::All);
        rows.extend(lines.iter().map(|(name, text)| row(name, text)));
    }
    if !total.agents.is_empty() {
        rows.push(String::new());
    }
    for (name, work) in &total.agents {
        let cost = match work.usage.cost.is_zero() {
            true => String::new(),
            false => format!(", {}", work.usage.cost_in_words()),
        };
        rows.push(format!(
            "{:<30} turns {:>3}  calls {:>3}  spoke {:>8}  tokens {:>9}{cost}",
            clean(name.as_str()),
            work.turns,
            work.tool_calls,
            duration(work.millis),
            work.usage.total(),
        ));
    }
    rows
}

fn outcome(run: &RunView) -> &'static str {
    match &run.ended {
        Some((SessionOutcome::Completed, _)) => "completed",
        Some((SessionOutcome::Failed(_), _)) => "failed",
        Some((SessionOutcome::Stopped, _)) => "stopped",
        None => "not ended",
    }
}

fn object(about: &SessionSummary, folded: &SessionView) -> Value {
    let start = about.start.as_ref();
    let works = folded.work.runs().iter();
    let runs: Vec<Value> = folded
        .head
        .runs
        .iter()
        .zip(works)
        .map(|(run, own)| {
            json!({
                "task": run.task,
                "team": run.team,
                "began_at": run.began_at,
                "ended_at": run.ended.as_ref().map(|(_, at)| at),
                "outcome": outcome(run),
                "work": work(own),
            })
        })
        .collect();
    json!({
        "id": about.id,
        "title": about.title,
        "state": state_words(&about.state),
        "project": start.map(|start| &start.project),
        "model": folded.head.model.as_ref().or(start.map(|start| &start.model)),
        "started_at": about.started_at,
        "last_at": about.last_at,
        "records": about.last,
        "waiting": about.waiting,
        "runs": runs,
        "total": work(&folded.work.total()),
    })
}

fn work(work: &RunWork) -> Value {
    let files: Vec<Value> =
        work.files().map(|(path, fate)| json!({"path": path, "fate": fate.word()})).collect();
    let agents: Vec<Value> = work
        .agents
        .iter()
        .map(|(name, own)| {
            json!({
                "name": name,
                "turns": own.turns,
                "tool_calls": own.tool_calls,
                "millis": own.millis,
                "usage": usage(own.usage),
            })
        })
        .collect();
    json!({
        "files": files,
        "decisions": work.decisions,
        "builds": {
            "passed": work.builds.passed,
            "failed": work.builds.failed,
            "millis": work.build_millis,
        },
        "tests": work.tests,
        "boards": work.flashes,
        "usage": usage(work.usage),
        "millis": work.millis,
        "waited_millis": work.waited_millis,
        "agents": agents,
    })
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cached_tokens": usage.cached,
        "cost_usd": usage.cost.0 as f64 / 1e9,
        "cost_is_estimated": usage.is_estimated,
    })
}
