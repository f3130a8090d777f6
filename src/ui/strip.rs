//! The row below the header: how far the run is, who works how long, what it costs and how long it
//! waited for the person. The dialog [`RunOverview`](super::overlay::RunOverview) has it all.
//!
//! A small screen has no such row; there [`draw_short`] takes the place of an empty composer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::model::{AgentName, BuildOutcome};
use crate::text::sanitize;
use crate::view::{PlanView, Progress, RunState, SessionView, StepState, duration};

use super::action::{Action, KeyContext};
use super::line::{self, LineParts};
use super::pane::Cx;
use super::role::Role;

/// Cells of the bar.
const BAR: usize = 10;

/// Agents that are named with their time, where there is some room and where there is much.
const NAMED: (usize, usize) = (2, 4);

/// Columns of the task in one row, at least, and of other words there.
const LEAST_TASK: usize = 46;
const LEAST_WORDS: usize = 38;

/// Columns of the phase and the key there, at least.
const LEAST_STATE: usize = 32;

/// Columns of the session's name there, at most.
const TITLE: usize = 20;

/// Columns of a phase's title behind that, at most.
const PHASE: usize = 20;

/// Columns from which on there is much room.
const ROOMY: u16 = 160;

/// Draws the row; what does not fit is dropped from the least important part on.
pub(super) fn draw(area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    if area.is_empty() || !has_run(cx.view) {
        return;
    }
    let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let separator = cx.span(" · ", Role::Faint);
    let (left, right) =
        line::fit_halves(left(cx, area.width), right(cx), &separator, usize::from(inside.width));
    line::draw_split(&left, &right, inside, buf);
}

fn left(cx: &Cx<'_>, columns: u16) -> LineParts {
    let mut parts = LineParts::default();
    if let (Some(phase), Some(build)) = (&cx.view.head.phase, attempt(cx)) {
        let text = format!("attempt {}/{}", phase.attempt, phase.max_attempts);
        let mut spans = vec![cx.span(text, Role::Text)];
        if !build.is_empty() {
            spans.push(cx.span(" · ", Role::Faint));
        }
        spans.extend(build);
        parts.push(9, spans);
    } else if let Some(words) = all_done(cx) {
        parts.push(9, vec![cx.span(words, Role::Text)]);
    } else if let Some(progress) = cx.view.progress() {
        let (done, open) = line::bar(progress.done, progress.total, BAR);
        parts.push(
            9,
            vec![
                cx.span(done, Role::Ok),
                cx.span(open, Role::Faint),
                cx.span(
                    format!(" {}/{} {}", progress.done, progress.total, progress.unit),
                    Role::Text,
                ),
            ],
        );
    }
    if let Some(run) = cx.view.work.run() {
        let most = if columns < ROOMY { NAMED.0 } else { NAMED.1 };
        let forms = (1..=most.min(run.agents.len())).rev().map(|named| {
            // The first one stays longest.
            (if named == 1 { 7 } else { 5 }, agents(cx, named))
        });
        parts.push_forms(forms.collect());
    }
    if let Some((weight, next)) = next(cx) {
        parts.push(weight, vec![cx.span(next, Role::Dim)]);
    }
    parts
}

/// That all of the plan is done while the run goes on: a full bar would say that nothing is to come.
fn all_done(cx: &Cx<'_>) -> Option<String> {
    let view = cx.view;
    let progress = view.progress().filter(|it| it.done == it.total && it.total > 0)?;
    if view.head.state.is_over() {
        return None;
    }
    let Progress { total, unit, .. } = progress;
    let phase =
        view.head.phase.as_ref().map_or_else(String::new, |phase| {
            format!(" · now: {}", short_title(&phase.title, PHASE))
        });
    Some(format!("{total}/{total} {unit} done{phase}"))
}

/// The title of a phase in so many columns: without what follows a colon, where it is too long.
pub(super) fn short_title(title: &str, columns: usize) -> String {
    let title = sanitize::line(title);
    let short = match title.split_once(": ") {
        Some((short, _)) if line::width(&title) > columns => short,
        _ => &title,
    };
    line::cut(short, columns).to_string()
}

/// How the build stands in a phase that tries until it passes, once all files of the plan are written.
/// Empty before the first build.
fn attempt(cx: &Cx<'_>) -> Option<Vec<Span<'static>>> {
    let view = cx.view;
    view.head.phase.as_ref().filter(|phase| phase.max_attempts > 1)?;
    let files = view.progress().filter(|progress| progress.unit == "files")?;
    if files.done < files.total || view.head.state.is_over() {
        return None;
    }
    let mut spans = Vec::new();
    if let Some(build) = view.logs.builds.last() {
        let (words, role) = match &build.outcome {
            None => ("building", Role::Busy),
            Some(BuildOutcome::Passed) if build.has_changed_since => ("not built again", Role::Dim),
            Some(BuildOutcome::Passed) => ("build passed", Role::Ok),
            Some(BuildOutcome::Cancelled) => ("build stopped", Role::Dim),
            Some(_) => ("build failed", Role::Error),
        };
        spans.push(cx.span(words, role));
    }
    Some(spans)
}

/// So many agents with their time, and how many others spoke.
fn agents(cx: &Cx<'_>, most: usize) -> Vec<Span<'static>> {
    let after = cx.clock.millis_since(cx.view.work.counted_until());
    let separator = || cx.span(" · ", Role::Faint);
    let names = named(cx, most);
    let all = cx.view.work.run().map_or(0, |run| run.agents.len());
    let mut spans = Vec::new();
    for name in &names {
        if !spans.is_empty() {
            spans.push(separator());
        }
        let clean = sanitize::line(name.as_str()).into_owned();
        let millis = cx.view.work.spoke(name, after);
        spans.push(cx.span(clean, cx.agents.role(name)));
        spans.push(cx.span(format!(" {}", duration(millis)), Role::Dim));
    }
    let others = all.saturating_sub(names.len());
    if others > 0 {
        spans.push(separator());
        spans.push(cx.span(format!("{others} more"), Role::Faint));
    }
    spans
}

/// What is worked on next, and how much that matters. It comes and goes, so that it stands last.
fn next(cx: &Cx<'_>) -> Option<(u8, String)> {
    let progress = cx.view.progress().filter(|progress| !progress.current.is_empty())?;
    if cx.view.head.state.is_over() {
        return None;
    }
    Some(match progress.side_by_side.as_slice() {
        [] => {
            let plan = cx.view.team.plan.as_ref().filter(|_| progress.unit == "steps");
            let is_active =
                |plan: &PlanView| plan.steps.iter().any(|(_, it)| *it == StepState::Active);
            let lead = if plan.is_some_and(is_active) { "now" } else { "next" };
            (3, format!("{lead}: {}", line::cut(&sanitize::line(&progress.current), 36)))
        }
        several => {
            let numbers: Vec<String> = several.iter().map(ToString::to_string).collect();
            (7, format!("now: plan steps {}", numbers.join(", ")))
        }
    })
}

/// Agents in the order they first spoke, so that none changes places; whoever speaks now or spoke
/// last has the last place where not all fit.
fn named<'a>(cx: &Cx<'a>, most: usize) -> Vec<&'a AgentName> {
    let Some(run) = cx.view.work.run() else { return Vec::new() };
    let mut names: Vec<&AgentName> = run.agents.iter().map(|(name, _)| name).take(most).collect();
    let newest = run.agents.iter().max_by_key(|(_, work)| work.last_turn).map(|(name, _)| name);
    if let (Some(newest), Some(last)) = (newest, most.checked_sub(1))
        && !names.contains(&newest)
    {
        names.truncate(last);
        names.push(newest);
    }
    names
}

/// What was asked, the phase and how far it is, in one row of a small screen; `words` stand there
/// where the task stands elsewhere.
pub(super) fn draw_short(area: Rect, words: Option<&str>, buf: &mut Buffer, cx: &Cx<'_>) {
    let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let separator = cx.span(" · ", Role::Faint);
    let mut parts = short_state(cx);
    if let Some(key) = cx.keymap.key_of(&[KeyContext::Global], Action::ShowRun) {
        let key = cx.span(key, Role::Key);
        parts.push(7, vec![key, cx.span(" details", Role::KeyHelp)]);
    }
    let request = cx.view.head.run().map_or("", |run| run.task.as_str());
    let needed = line::width(&task_label(cx)) + line::width(&sanitize::line(request)) + 2;
    let least = if words.is_some() { LEAST_WORDS } else { needed.min(LEAST_TASK) };
    let columns = usize::from(inside.width);
    let most = columns - least.min(columns.saturating_sub(LEAST_STATE));
    let (right, _) = line::fit_halves(parts, LineParts::default(), &separator, most);
    let space = usize::from(inside.width).saturating_sub(right.width() + 2);
    let (label, task) =
        words.map_or_else(|| (task_label(cx), request), |words| (String::new(), words));
    let most = space.saturating_sub(line::width(&label));
    let words = line::cut(&sanitize::line(task), most).to_string();
    let task = vec![cx.span(label, Role::Title), cx.span(words, Role::Dim)];
    line::draw_split(&Line::from(task), &right, inside, buf);
}

/// How the run stands in few words: its phase and how far it is, or that it is over and what helps then.
fn short_state(cx: &Cx<'_>) -> LineParts {
    let mut parts = LineParts::default();
    let compose = cx.keymap.key_of(&[KeyContext::Global], Action::Compose);
    if let (RunState::Ended(_), Some(key)) = (&cx.view.head.state, compose) {
        parts.push(9, vec![cx.span("the run is over", Role::Text)]);
        let key = cx.span(key, Role::Key);
        parts.push(8, vec![key, cx.span(" asks for more", Role::KeyHelp)]);
        return parts;
    }
    // The header of a small screen has no place for it.
    let phase = cx.view.head.phase.as_ref();
    let phase = phase.map_or_else(String::new, |phase| match phase.max_attempts {
        0 | 1 => short_title(&phase.title, PHASE),
        most => format!("{} {}/{most}", short_title(&phase.title, PHASE), phase.attempt),
    });
    parts.push(9, vec![cx.span(phase, Role::Text)]);
    match (attempt(cx), cx.view.progress()) {
        (Some(build), _) => parts.push(8, build),
        (None, Some(progress)) => {
            let text = format!("{}/{} {}", progress.done, progress.total, progress.unit);
            parts.push(8, vec![cx.span(text, Role::Text)]);
        }
        (None, None) => {}
    }
    parts
}

/// Stands before what was asked in one row: the name that the person gave the session, as the header of
/// a small screen has no place for it, and which request it is.
pub(super) fn task_label(cx: &Cx<'_>) -> String {
    let request = match cx.view.head.runs.len() {
        0 | 1 if cx.title.is_empty() => "Task ".to_owned(),
        0 | 1 => String::new(),
        requests => format!("Request {requests} "),
    };
    match cx.title {
        "" => request,
        title => format!("{} · {request}", line::cut(title, TITLE)),
    }
}

/// Whether there is a run of which [`draw_short`] can tell.
pub(super) fn has_task(view: &SessionView) -> bool {
    let is_shown =
        matches!(view.head.state, RunState::Running | RunState::Paused | RunState::Ended(_));
    is_shown && view.head.question.is_none() && view.head.run().is_some()
}

fn right(cx: &Cx<'_>) -> LineParts {
    let mut parts = LineParts::default();
    let (all, waited) = cx.view.work.times(cx.clock.millis_since(cx.view.work.counted_until()));
    if waited >= 1_000 {
        let role = if cx.view.work.is_waiting() { Role::Warn } else { Role::Dim };
        let text = format!("waited for you {}", duration(waited));
        parts.push(8, vec![cx.span(text, role)]);
    }
    // Of a session with several requests this is the time of the last one.
    let what = match cx.view.head.runs.len() {
        0 | 1 => "run".to_owned(),
        number => format!("request {number}"),
    };
    parts.push(7, vec![cx.span(format!("{what} {}", duration(all)), Role::Dim)]);
    if let Some(key) = cx.keymap.key_of(&[KeyContext::Global], Action::ShowRun) {
        parts.push(5, vec![cx.span(key, Role::Key), cx.span(" details", Role::KeyHelp)]);
    }
    parts
}

/// Whether there is anything to tell.
fn has_run(view: &SessionView) -> bool {
    view.work.run().is_some_and(|run| !run.agents.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::ui::fixture::UiBench;

    fn row(bench: &UiBench) -> String {
        bench.screen().lines().nth(1).unwrap_or_default().to_owned()
    }

    #[test]
    fn the_strip_counts_while_agents_work_and_while_the_person_is_waited_for() {
        let mut bench = UiBench::at_work(120, 40);
        bench.pass(10_000);
        let shown = row(&bench);
        assert!(shown.contains("CodeFixerAgent 10 s"), "{shown}");
        assert!(shown.contains("BuildAgent 3 s") && !shown.contains("waited"), "{shown}");
        bench.propose(1);
        bench.sync();
        bench.pass(65_000);
        let shown = row(&bench);
        assert!(shown.contains("waited for you 1:05"), "{shown}");
        assert!(shown.contains("CodeFixerAgent 1 s"), "the session has a time of its own: {shown}");
    }

    #[test]
    fn a_small_screen_tells_task_and_phase_in_place_of_an_empty_composer() {
        for (width, height) in [(80, 24), (60, 16)] {
            let mut bench = UiBench::at_work(width, height);
            bench.propose(1);
            bench.sync();
            let screen = bench.screen();
            assert!(!row(&bench).contains("run "), "{screen}");
            let last = screen.lines().nth(usize::from(height) - 2).unwrap_or_default();
            assert!(last.trim_start().starts_with("Task "), "{screen}");
            assert!(last.contains("build & fix"), "{screen}");
            bench.press("i");
            let screen = bench.screen();
            assert!(!screen.contains("Task "), "one writes there: {screen}");
        }
    }

    #[test]
    fn a_long_title_of_a_phase_leaves_the_task_its_place() {
        use crate::model::{Event, PhaseEvent};
        let mut bench = UiBench::at_work(80, 24);
        let title = "step 1 of 3: Storage: tasks are kept in a JSON file that survives a crash";
        let (phase, title) = ("step".into(), title.to_owned());
        let started =
            PhaseEvent::Started { phase, title, attempt: 1, max_attempts: 1, step: Some(1) };
        bench.record(5, Event::Phase(started));
        bench.propose(1);
        bench.sync();
        let screen = bench.screen();
        let last = screen.lines().nth(22).unwrap_or_default();
        assert!(last.contains("Task Scan the I2C bus"), "{screen}");
        assert!(last.contains("step 1 of 3") && !last.contains("Storage"), "{screen}");
    }

    #[test]
    fn agents_keep_their_places_while_they_speak() {
        let mut bench = UiBench::at_work(120, 40);
        let order = |bench: &UiBench| {
            let row = row(bench);
            ["CodeFixerAgent", "BuildAgent"].map(|name| row.find(name).is_some())
        };
        let places = |bench: &UiBench| {
            let row = row(bench);
            row.find("CodeFixerAgent") > row.find("BuildAgent")
        };
        let (shown, first) = (order(&bench), places(&bench));
        for _ in 0..5 {
            bench.pass(30_000);
            assert_eq!((order(&bench), places(&bench)), (shown, first), "{}", row(&bench));
        }
    }

    #[test]
    fn what_comes_next_stands_behind_the_agents_and_moves_none_of_them() {
        use crate::model::{CallId, Event, TurnEvent};
        let mut bench = UiBench::at_work(120, 40);
        let files = serde_json::json!([{ "file_name": "main/main.c", "description": "entry" }]);
        bench.call(2, 9, "file_name_checker", serde_json::json!({ "files": files }));
        let result = serde_json::json!({ "ok": true });
        let answered = TurnEvent::ToolAnswered { call: CallId(9), result, millis: 1 };
        bench.record(5, Event::Turn(answered));
        bench.sync();
        let row = row(&bench);
        let at = |words: &str| row.find(words);
        assert!(at("next: main/main.c").is_some(), "{row}");
        assert!(at("next: ") > at("CodeFixerAgent"), "{row}");
    }

    #[test]
    fn once_all_files_are_written_the_strip_tells_how_the_build_goes() {
        use crate::model::{CallId, Event, Outcome, ProposalEvent, ProposalId, TurnEvent};
        for (width, height) in [(80, 24), (120, 40)] {
            let mut bench = UiBench::at_work(width, height);
            let file = serde_json::json!({ "file_name": "main/src/i2c_scan.c", "description": "" });
            let files = serde_json::json!({ "files": [file] });
            bench.call(2, 9, "file_name_checker", files);
            let result = serde_json::json!({ "ok": true });
            let answered = TurnEvent::ToolAnswered { call: CallId(9), result, millis: 1 };
            bench.record(5, Event::Turn(answered));
            bench.propose(1);
            bench.sync();
            assert!(bench.screen().contains("0/1 files"), "{}", bench.screen());
            let (proposal, outcome) = (ProposalId(1), Outcome::Applied);
            bench.record(5, Event::Proposal(ProposalEvent::Settled { proposal, outcome }));
            bench.sync();
            let shown = bench.screen();
            let what = if width == 80 { "build & fix" } else { "attempt" };
            assert!(shown.contains(&format!("{what} 2/10 · build failed")), "{shown}");
            assert!(!shown.contains("1/1 files"), "{shown}");
        }
    }

    #[test]
    fn a_build_that_passed_is_outdated_once_a_file_has_changed() {
        use crate::model::{
            BuildEvent, BuildId, BuildOutcome, Event, LogId, LogKind, Outcome, ProposalEvent,
            ProposalId,
        };
        let mut bench = UiBench::at_work(120, 40);
        let (build, log) = (BuildId(2), LogId { kind: LogKind::Build, number: 2 });
        let command = "idf.py build".to_owned();
        bench.record(5, Event::Build(BuildEvent::Started { build, log, command }));
        let (outcome, diagnostics, size) = (BuildOutcome::Passed, Vec::new(), None);
        let ended = BuildEvent::Ended { build, outcome, diagnostics, millis: 9, size };
        bench.record(5, Event::Build(ended));
        bench.sync();
        assert!(bench.screen().contains("Build ✓ ─"), "{}", bench.screen());
        bench.propose(1);
        let (proposal, outcome) = (ProposalId(1), Outcome::Applied);
        bench.record(5, Event::Proposal(ProposalEvent::Settled { proposal, outcome }));
        bench.sync();
        let shown = bench.screen();
        assert!(shown.contains("Build ✓ outdated"), "{shown}");
        assert!(shown.contains("passed, files changed since"), "{shown}");
    }

    #[test]
    fn how_many_others_spoke_is_told_where_not_all_are_named() {
        use crate::model::{Event, TurnEvent, TurnId};
        let mut bench = UiBench::at_work(120, 40);
        for number in 3..6 {
            let (turn, agent) = (TurnId(number), format!("WriterOfTests{number}").as_str().into());
            bench.record(1_000, Event::Turn(TurnEvent::Started { turn, agent, step: None }));
        }
        bench.pass(70_000);
        bench.sync();
        let row = row(&bench);
        assert!(row.contains("BuildAgent 3 s · WriterOfTests5"), "{row}");
        assert!(row.contains(" · 3 more"), "{row}");
    }
}
