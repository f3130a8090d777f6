//! The review while nothing was proposed yet: the plan with how far it is, and the last build.
//!
//! Draws only; what the team laid out is the view's.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::model::{BuildOutcome, Outcome, Severity};
use crate::text::sanitize;
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::panes::wrap::wrap_words;
use crate::ui::role::Role;
use crate::view::{BuildView, PlannedState, RunState, SessionView, StepState};

/// What will stand here.
const WORDS: &str =
    "Nothing to review yet. What the agents want to write or flash is shown here first.";

/// What stands here when another request was worked on before.
const WORDS_AGAIN: &str = "Nothing to review yet for this request.";

/// Files that were changed for earlier requests are named up to this many.
const MOST_EARLIER: usize = 8;

/// A row of the plan: its sign, and the words.
type PlanRow = (&'static str, Role, String);

/// Draws what helps while nothing waits.
pub(super) fn draw(area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let width = usize::from(area.width).max(3) - 2;
    let mut rows: Vec<Line<'static>> = Vec::new();
    let earlier = earlier(cx.view);
    let paragraph = |text: &str, role| {
        wrap_words(text, width).into_iter().map(move |words| cx.line(format!(" {words}"), role))
    };
    if let Some(now) = now(cx) {
        rows.extend(paragraph(&now, Role::Text));
        rows.push(Line::default());
    }
    let words = if earlier.is_empty() { WORDS } else { WORDS_AGAIN };
    rows.extend(paragraph(words, Role::Dim));
    if let Some((title, plan)) = plan(cx.view) {
        rows.push(Line::default());
        let done = plan.iter().filter(|(sign, ..)| *sign == DONE).count();
        // Of steps that nobody reports on nothing is counted.
        let is_counted = plan.iter().any(|(sign, ..)| *sign != UNTOLD);
        let count = if is_counted { format!("  {done}/{}", plan.len()) } else { String::new() };
        rows.push(cx.line(format!(" {title}{count}"), Role::Heading));
        let space = usize::from(area.height).saturating_sub(rows.len() + 4).max(1);
        rows.extend(plan_rows(&plan, space, width, cx));
    }
    if !earlier.is_empty() {
        rows.push(Line::default());
        rows.push(cx.line(" Changed before", Role::Heading));
        let names = earlier.iter().take(MOST_EARLIER);
        rows.extend(
            names.map(|name| cx.line(format!(" {}", line::cut_start(name, width)), Role::Dim)),
        );
        if let Some(more) = earlier.len().checked_sub(MOST_EARLIER).filter(|more| *more > 0) {
            rows.push(cx.line(format!(" and {more} more"), Role::Dim));
        }
    }
    if let Some(build) = cx.view.logs.builds.last() {
        rows.push(Line::default());
        let (words, role) = build_words(build);
        rows.push(cx.line(format!(" Last build  {words}"), role));
    }
    for (text, row) in rows.iter().zip(area.rows()) {
        line::draw(text, row, buf);
    }
}

/// Who works now, and in which phase; `None` while nobody does, e.g. because the team asks something.
fn now(cx: &Cx<'_>) -> Option<String> {
    let head = &cx.view.head;
    let is_at_work = head.state == RunState::Running && !cx.view.work.is_waiting();
    let speaker = head.speaker().filter(|_| is_at_work)?;
    let agent = line::clean(speaker.agent.as_str());
    let phase = head.phase.as_ref().map_or_else(String::new, |phase| {
        let title = line::clean(&phase.title);
        match phase.max_attempts {
            0 | 1 => format!(": {title}"),
            most => format!(": {title}, attempt {} of {most}", phase.attempt),
        }
    });
    Some(format!("{agent} is working{phase}"))
}

/// Files that were changed in this session, the newest first.
fn earlier(view: &SessionView) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for proposal in view.review.proposals.iter().rev() {
        let path = proposal.proposal.change.path().filter(|_| {
            proposal.outcome == Some(Outcome::Applied) && proposal.undone_by.is_empty()
        });
        let name = path.map(|path| line::clean(path.as_str()));
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// The sign of a step that nobody reports on.
const UNTOLD: &str = "·";

/// The sign of what is done.
const DONE: &str = "✓";

/// The plan in force, or the files that the team set out to write.
fn plan(view: &SessionView) -> Option<(&'static str, Vec<PlanRow>)> {
    if let Some(plan) = &view.team.plan {
        let row = |(item, state): &(crate::model::PlanItem, StepState)| {
            let (sign, role) = match state {
                StepState::Untold => (UNTOLD, Role::Text),
                StepState::Open => ("☐", Role::Text),
                StepState::Active => ("▸", Role::Busy),
                StepState::NeedsAttention => ("!", Role::Warn),
                StepState::Done => (DONE, Role::Ok),
            };
            (sign, role, item.task.clone())
        };
        return Some(("The plan", plan.steps.iter().map(row).collect()));
    }
    let plan = view.chat.file_plan()?;
    let rows = plan.files.iter().map(|file| {
        let role = match file.state {
            PlannedState::Open => Role::Text,
            PlannedState::Proposed => Role::Warn,
            PlannedState::Refused => Role::Error,
            PlannedState::Done => Role::Ok,
        };
        (file.state.sign(), role, file.path.as_str().to_owned())
    });
    Some(("Files of the plan", rows.collect()))
}

/// As many rows as there are, around what is done next.
fn plan_rows(plan: &[PlanRow], space: usize, width: usize, cx: &Cx<'_>) -> Vec<Line<'static>> {
    let next = plan.iter().position(|(sign, ..)| *sign != DONE).unwrap_or(0);
    let first = next.saturating_sub(space / 3).min(plan.len().saturating_sub(space));
    let inner = width.saturating_sub(3);
    let row = |lead: &str, (sign, role, _): &PlanRow, words: String| {
        let text = if *sign == DONE { Role::Dim } else { Role::Text };
        Line::from(vec![cx.span(format!(" {lead} "), *role), cx.span(words, text)])
    };
    // Where there is room, each step is whole.
    let whole: Vec<Line<'static>> = plan
        .iter()
        .flat_map(|step| {
            let words = wrap_words(&sanitize::line(&step.2), inner).into_iter().enumerate();
            words.map(move |(nth, words)| row(if nth == 0 { step.0 } else { " " }, step, words))
        })
        .collect();
    if whole.len() <= space {
        return whole;
    }
    let cut = |step: &PlanRow| row(step.0, step, line::cut(&sanitize::line(&step.2), inner));
    let mut rows: Vec<_> = plan.iter().skip(first).take(space).map(cut).collect();
    let left = plan.len().saturating_sub(first + space);
    if left > 0
        && let Some(last) = rows.last_mut()
    {
        *last = cx.line(format!(" … {} more", left + 1), Role::Dim);
    }
    rows
}

fn build_words(build: &BuildView) -> (String, Role) {
    match &build.outcome {
        None => ("is running".to_owned(), Role::Busy),
        Some(BuildOutcome::Passed) if build.has_changed_since => {
            ("passed, files changed since".to_owned(), Role::Dim)
        }
        Some(BuildOutcome::Passed) => ("passed".to_owned(), Role::Ok),
        Some(BuildOutcome::Cancelled) => ("was stopped".to_owned(), Role::Dim),
        Some(_) => match build.count(Severity::Error) {
            0 => ("failed".to_owned(), Role::Error),
            1 => ("failed with 1 error".to_owned(), Role::Error),
            errors => (format!("failed with {errors} errors"), Role::Error),
        },
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::fixture::UiBench;

    #[test]
    fn nobody_is_said_to_work_while_the_team_asks_something() {
        let mut bench = UiBench::at_work(120, 40);
        assert!(bench.screen().contains("CodeFixerAgent is working"), "{}", bench.screen());
        bench.ask();
        bench.sync();
        bench.press("esc");
        let shown = bench.screen();
        assert!(!shown.contains("is working"), "{shown}");
        assert!(shown.contains("no change waits") && shown.contains("question"), "{shown}");
    }
}
