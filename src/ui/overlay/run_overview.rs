//! A run at a glance: its task, phase and plan, what each agent did, and what all of it came to.
//!
//! Owns where one looks in it; every figure is the view's.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::pick;
use crate::model::{AgentName, SessionOutcome};
use crate::text::sanitize;
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::panes::wrap_words;
use crate::ui::role::Role;
use crate::view::{FileNames, StepState, duration, summary};

/// Widest that the dialog gets.
const WIDTH: u16 = 92;

/// Columns of an agent's name.
const NAME: usize = 30;

/// Columns of the figures beside it, where there is room.
const FIGURES: usize = 43;

/// The run that goes on or was the last one.
#[derive(Debug, Default)]
pub struct RunOverview {
    top: usize,
}

/// Pieces of a row with their roles.
type Row = Vec<(String, Role)>;

impl RunOverview {
    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        pick::paged(action, &mut self.top, usize::MAX / 2, 10);
        match action {
            Action::Accept | Action::Cancel => vec![Effect::Close],
            _ => Vec::new(),
        }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let width = WIDTH.min(screen.width.saturating_sub(6));
        let rows = rows(cx, usize::from(width));
        let size = (width, super::rows_for(rows.len()));
        let inside = super::frame("Run", " ↑↓ scroll · esc back ", size, screen, buf, cx);
        let top = self.top.min(rows.len().saturating_sub(usize::from(inside.height)));
        let ground = cx.style(Role::Dialog).bg;
        for (row, at) in rows.iter().skip(top).zip(inside.rows()) {
            let span = |(text, role): &(String, Role)| {
                Span::styled(text.clone(), Style { bg: ground, ..cx.style(*role) })
            };
            line::draw(&Line::from(row.iter().map(span).collect::<Vec<_>>()), at, buf);
        }
    }
}

fn rows(cx: &Cx<'_>, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    if !cx.title.is_empty() {
        let title = line::clean(cx.title);
        rows.push(vec![("name  ".to_owned(), Role::Dim), (title, Role::Strong)]);
    }
    if let Some(run) = cx.view.head.run() {
        let team = line::clean(&run.team);
        rows.push(vec![("team  ".to_owned(), Role::Dim), (team, Role::Text)]);
        requests(cx, width, &mut rows);
        let task = run.task.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = wrap_words(&sanitize::line(&task), width.saturating_sub(6));
        for (nth, words) in words.into_iter().take(4).enumerate() {
            let lead = if nth == 0 { "task  " } else { "      " };
            rows.push(vec![(lead.to_owned(), Role::Dim), (words, Role::Strong)]);
        }
    }
    if let Some(phase) = &cx.view.head.phase {
        let attempt = match phase.max_attempts {
            0 | 1 => String::new(),
            most => format!(", attempt {} of {most}", phase.attempt),
        };
        let title = line::clean(&phase.title);
        rows.push(vec![
            ("phase ".to_owned(), Role::Dim),
            (title, Role::Text),
            (attempt, Role::Dim),
        ]);
    }
    plan(cx, width, &mut rows);
    agents(cx, width, &mut rows);
    rows.push(Row::new());
    for (about, text) in totals(cx) {
        for (nth, words) in wrap_words(&text, width.saturating_sub(11)).into_iter().enumerate() {
            let lead = if nth == 0 { about } else { "" };
            rows.push(vec![(format!("{lead:<11}"), Role::Dim), (words, Role::Text)]);
        }
    }
    rows
}

/// Each request of a session that had several, and how it ended; the last one is told in full below.
fn requests(cx: &Cx<'_>, width: usize, rows: &mut Vec<Row>) {
    let runs = &cx.view.head.runs;
    if runs.len() < 2 {
        return;
    }
    for (nth, run) in runs.iter().enumerate() {
        let (mark, role) = match &run.ended {
            None => ("▸", Role::Busy),
            Some((SessionOutcome::Completed, _)) => ("✓", Role::Ok),
            Some((SessionOutcome::Failed(_), _)) => ("✗", Role::Error),
            Some((SessionOutcome::Stopped, _)) => ("■", Role::Warn),
        };
        let number = format!("request {} ", nth + 1);
        let task = run.task.split_whitespace().collect::<Vec<_>>().join(" ");
        let space = width.saturating_sub(line::width(&number) + 3);
        let task = line::cut(&sanitize::line(&task), space);
        rows.push(vec![(number, Role::Dim), (format!("{mark} "), role), (task, Role::Text)]);
    }
    rows.push(Row::new());
}

fn plan(cx: &Cx<'_>, width: usize, rows: &mut Vec<Row>) {
    let Some(progress) = cx.view.progress() else { return };
    let (done, open) = line::bar(progress.done, progress.total, 20);
    let count = format!(" {} of {} {}", progress.done, progress.total, progress.unit);
    rows.push(Row::new());
    rows.push(vec![
        ("plan  ".to_owned(), Role::Dim),
        (done, Role::Ok),
        (open, Role::Faint),
        (count, Role::Text),
    ]);
    let Some(plan) = &cx.view.team.plan else { return };
    for (item, state) in &plan.steps {
        let (mark, role) = match state {
            StepState::Done => ("✓", Role::Ok),
            StepState::NeedsAttention => ("!", Role::Warn),
            StepState::Active => ("▸", Role::Busy),
            StepState::Open => ("☐", Role::Dim),
            // Nothing tells when it is done.
            StepState::Untold => ("·", Role::Dim),
        };
        let agent = item.agent.as_ref().map_or_else(String::new, |agent| format!("{agent}: "));
        let lead = if *state == StepState::NeedsAttention { "needs attention: " } else { "" };
        let text = line::cut(&format!("{lead}{agent}{}", item.task), width.saturating_sub(10));
        rows.push(vec![(format!("      {mark} "), role), (text, Role::Text)]);
    }
}

fn agents(cx: &Cx<'_>, width: usize, rows: &mut Vec<Row>) {
    let Some(run) = cx.view.work.run().filter(|run| !run.agents.is_empty()) else { return };
    rows.push(Row::new());
    // Where there is little room the name gives way, and no figure is left out.
    let (calls, wide, columns) =
        if width >= NAME + FIGURES { (7, 10, NAME) } else { (6, 8, width.saturating_sub(36)) };
    let head = format!(
        "{:<columns$}{:>6}{:>calls$}{:>wide$}{:>wide$}{:>wide$}",
        "agent", "turns", "calls", "spoke", "tokens", "cost"
    );
    rows.push(vec![(head, Role::Dim)]);
    let after = cx.clock.millis_since(cx.view.work.counted_until());
    let speaks =
        |name: &AgentName| cx.view.head.speakers.iter().any(|speaker| speaker.agent == *name);
    for (name, work) in &run.agents {
        let mark = if speaks(name) { "▸ " } else { "  " };
        let shown = line::cut(name.as_str(), columns.saturating_sub(3));
        let pad = " ".repeat(columns.saturating_sub(2 + line::width(&shown)));
        let is_free = work.usage.cost.is_zero();
        let cost = if is_free { "–".to_owned() } else { work.usage.cost_in_words() };
        let figures = format!(
            "{:>6}{:>calls$}{:>wide$}{:>wide$}{cost:>wide$}",
            work.turns,
            work.tool_calls,
            duration(cx.view.work.spoke(name, after)),
            line::count(work.usage.total()),
        );
        rows.push(vec![
            (mark.to_owned(), Role::Busy),
            (format!("{shown}{pad}"), cx.agents.role(name)),
            (figures, Role::Text),
        ]);
    }
}

/// What all of it came to, with times that run on.
fn totals(cx: &Cx<'_>) -> Vec<(&'static str, String)> {
    let Some(run) = cx.view.work.run() else {
        return vec![("run", "nothing has run yet".to_owned())];
    };
    let mut run = crate::view::RunWork::clone(run);
    (run.millis, run.waited_millis) =
        cx.view.work.times(cx.clock.millis_since(cx.view.work.counted_until()));
    let mut lines = summary(&run, FileNames::All);
    // The header counts all of the session.
    let (runs, used) = (cx.view.head.runs.len(), &cx.view.head.usage);
    if runs > 1 {
        let mut text = format!("{} tokens in {runs} runs", line::count(used.total()));
        if !used.cost.is_zero() {
            text.push_str(&format!(", {}", used.cost_in_words()));
        }
        lines.push(("session", text));
    }
    lines
}

#[cfg(test)]
mod tests {
    use crate::ui::fixture::UiBench;

    #[test]
    fn every_figure_is_there_on_a_small_screen_and_only_leaving_closes() {
        let mut bench = UiBench::at_work(60, 16);
        bench.press("I l right");
        let mut seen = bench.screen();
        for _ in 0..12 {
            bench.press("down");
            seen.push_str(&bench.screen());
        }
        let head = seen.lines().find(|line| line.contains("agent ")).unwrap();
        assert!(head.contains("tokens") && head.contains("cost"), "{seen}");
        let agent = seen.lines().find(|line| line.contains("BuildAgent ")).unwrap();
        assert!(agent.contains("41.2k"), "{seen}");
    }

    #[test]
    fn a_run_at_a_glance_tells_what_each_agent_did_and_closes() {
        for (width, height) in [(80, 24), (120, 40)] {
            let mut bench = UiBench::at_work(width, height);
            bench.pass(10_000);
            bench.press("I");
            let shown = bench.screen();
            let agent = shown.lines().find(|line| line.contains("  BuildAgent")).unwrap();
            assert!(agent.contains("3 s") && agent.contains("41.2k"), "{shown}");
            assert!(shown.contains("build & fix, attempt 2 of 10"), "{shown}");
            assert!(shown.contains("▸ CodeFixerAgent"), "{shown}");
            bench.press("esc");
            assert!(!bench.screen().contains("attempt 2 of 10"), "{}", bench.screen());
        }
    }
}
