//! The first row: what runs, who speaks, on what, and what waits.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::model::{BoardInfo, SandboxLevel, SessionOutcome};
use crate::text::sanitize;
use crate::view::{RunState, SessionView, Speaker};

use super::line::{self, LineParts};
use super::pane::{Cx, Mode};
use super::role::Role;

/// Columns that the project's name may take, fewer where the screen is no wider than [`ROOMY`], and
/// fewest where it is no wider than [`WIDE`].
const NAME: usize = 28;
const SHORT_NAME: usize = 20;
const SHORTEST_NAME: usize = 14;

/// A model that is a recording, as sessions name it.
const SCRIPTED: &str = "scripted model";

/// The board that is a process, as sessions name it and its toolchain.
const VIRTUAL: &str = "virtual board";

/// Columns of what waits.
const WAITING: u16 = 11;

/// Columns of an agent's name at most where there is little room, some and much, and where there is
/// hardly any; of how long it has worked, and of the tokens.
const AGENT_MOST: (usize, usize, usize) = (16, 24, 40);
const AGENT_LEAST: usize = 12;
const ELAPSED: usize = 7;
const TOKENS: usize = 9;

/// Columns that are kept for who works, however short the names are.
const STATE: usize = 14;

/// Columns of the screen from which on everything has space.
const ROOMY: u16 = 140;

/// Columns of the screen from which on a rule is given more room.
const WIDE: u16 = 100;

/// Columns that the words of a rule may take.
const RULE: usize = 44;

/// Columns that the name of a model may take where there is some room.
const SHORT_MODEL: usize = 24;

/// Draws the header; what does not fit is dropped from the least important part on.
pub(super) fn draw(area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let separator = Span::styled(" · ", cx.style(Role::Faint));
    // The place of what waits stays free, so that nothing else moves when something does.
    let row_area = Rect { width: inside.width.saturating_sub(WAITING + 1), ..inside };
    let (left, right) = line::fit_halves(
        left_side(cx, area.width),
        right(cx, area.width),
        &separator,
        usize::from(row_area.width),
    );
    line::draw_split(&left, &right, row_area, buf);
    if let Some(waiting) = waiting(cx) {
        let width = u16::try_from(waiting.width()).unwrap_or(WAITING).min(inside.width);
        let x = inside.right() - width;
        line::draw(&Line::from(waiting), Rect { x, width, ..inside }, buf);
    }
}

/// How many proposals and questions wait for the person; a question alone is called one.
fn waiting_words(view: &SessionView) -> Option<String> {
    let has_question = view.head.question.is_some();
    match view.review.waiting.len() {
        0 => has_question.then(|| "question".to_owned()),
        proposals => Some(format!("{} waiting", proposals + usize::from(has_question))),
    }
}

/// What waits for the person.
fn waiting(cx: &Cx<'_>) -> Option<Span<'static>> {
    let words = waiting_words(cx.view)?;
    // In a replay nothing waits for anybody any more.
    Some(match cx.mode {
        Mode::Live => Span::styled(format!(" {words} "), cx.style(Role::Waiting)),
        Mode::Replay => Span::styled(words, cx.style(Role::Warn)),
    })
}

/// Spans with blanks behind them, as many columns as that at least.
fn padded(mut spans: Vec<Span<'static>>, columns: usize) -> Vec<Span<'static>> {
    let used: usize = spans.iter().map(Span::width).sum();
    spans.push(Span::raw(" ".repeat(columns.saturating_sub(used))));
    spans
}

/// The title for the terminal's window or tab.
pub(super) fn terminal_title(view: &SessionView, mode: Mode) -> String {
    let mut title = "firmhand".to_owned();
    if let Some(start) = &view.head.start {
        title.push_str(&format!(" · {}", line::cut(project_name(&start.project), 40)));
    }
    match (mode, waiting_words(view), &view.head.state) {
        (Mode::Replay, ..) => title.push_str(" · replay"),
        (Mode::Live, _, RunState::BrokenOff(_)) => title.push_str(" · stopped unexpectedly"),
        (Mode::Live, None, RunState::Ended(_)) => title.push_str(" · over"),
        (Mode::Live, None, _) => {}
        (Mode::Live, Some(words), _) => title.push_str(&format!(" · {words}")),
    }
    title.chars().filter(|c| !c.is_control()).collect()
}

/// Foreign text on one line.
fn clean(text: &str) -> String {
    sanitize::line(text).into_owned()
}

fn left_side(cx: &Cx<'_>, columns: u16) -> LineParts {
    let head = &cx.view.head;
    let mut parts = LineParts::default();
    parts.push(1, vec![Span::styled("firmhand", cx.style(Role::Accent))]);
    if cx.mode == Mode::Replay {
        parts.push(line::KEPT, vec![Span::styled("replay", cx.style(Role::Busy))]);
    }
    if let Some(start) = &head.start {
        let name = clean(project_name(&start.project));
        let most = match columns {
            ..WIDE => SHORTEST_NAME,
            WIDE..ROOMY => SHORT_NAME,
            ROOMY.. => NAME,
        };
        let name = line::cut(&name, most).to_string();
        // Where there is little room, what goes on counts more than where.
        parts.push(
            if columns < ROOMY { 4 } else { 6 },
            vec![Span::styled(name, cx.style(Role::Strong))],
        );
        // A later run may have another team.
        let team = head.run().map_or(&start.team, |run| &run.team);
        parts.push(3, vec![Span::styled(clean(team), cx.style(Role::Dim))]);
        if let Some(view) = &head.phase {
            let mut phase = vec![Span::styled(clean(&view.title), cx.style(Role::Text))];
            if view.max_attempts > 1 {
                let attempt = match columns {
                    ..WIDE => format!(" {}", view.attempt),
                    _ => format!(" {}/{}", view.attempt, view.max_attempts),
                };
                phase.push(Span::styled(attempt, cx.style(Role::Dim)));
            }
            parts.push(6, phase);
        }
    }
    parts.push_forms(state(cx, columns));
    // Rules come and go: what stands before them keeps its place.
    parts.push(5, rules(cx, columns));
    parts
}

/// The rules in force, the newest in its own words.
fn rules(cx: &Cx<'_>, columns: u16) -> Vec<Span<'static>> {
    let mut holding: Vec<String> =
        cx.view.review.rules().map(|view| view.rule.to_string()).collect();
    let Some(newest) = holding.pop() else { return Vec::new() };
    let count = match holding.len() {
        0 => "1 rule".to_owned(),
        others => format!("{} rules", others + 1),
    };
    // Where there is little room, what goes on counts more than the words.
    let text = match columns {
        ..WIDE => count,
        WIDE.. => format!("{count}: {}", line::cut(&newest, RULE)),
    };
    vec![Span::styled(text, cx.style(Role::Warn))]
}

/// The last folder of a path, or the one around it where that is just called `project`, as it is
/// within a session's own folder; of that the date is left out.
fn project_name(path: &str) -> &str {
    let mut folders = path.rsplit('/').filter(|folder| !folder.is_empty());
    match folders.next() {
        Some("project") => folders.next().map_or("project", undated),
        Some(folder) => folder,
        None => path,
    }
}

/// The name of a session without the date and the time that it begins with.
fn undated(name: &str) -> &str {
    let rest = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    if rest.is_empty() { name } else { rest }
}

/// Who speaks, or why nobody does: with the columns kept that any name, or the names so far, need, so
/// that nothing else moves or is dropped when another one speaks; as it is; as short as it can be.
fn state(cx: &Cx<'_>, columns: u16) -> Vec<(u8, Vec<Span<'static>>)> {
    let most = longest_agent(columns);
    let full = state_within(cx, most, Part::WithTime);
    let short = state_within(cx, most.min(AGENT_LEAST), Part::NameAlone);
    let names = cx.agents.names().iter().map(|name| line::width(name.as_str()).min(most));
    let kept = match &cx.view.head.state {
        // Nothing moves after the end.
        state if state.is_over() && columns < WIDE => 0,
        _ => names.max().unwrap_or(0).max(STATE) + ELAPSED,
    };
    let mut forms = vec![(8, padded(full.clone(), kept)), (8, full.clone()), (line::KEPT, short)];
    if columns >= WIDE {
        forms.insert(0, (2, padded(full, most + ELAPSED)));
    }
    forms
}

/// How much of who speaks is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Also for how long.
    WithTime,
    NameAlone,
}

fn state_within(cx: &Cx<'_>, most: usize, part: Part) -> Vec<Span<'static>> {
    let word = |text: &'static str, role| vec![Span::styled(text, cx.style(role))];
    match &cx.view.head.state {
        RunState::Empty => word("starting", Role::Dim),
        RunState::Paused => word(" paused ", Role::Paused),
        RunState::Stopping => word("stopping", Role::Warn),
        RunState::Ended(SessionOutcome::Completed) => word("✓ completed", Role::Ok),
        RunState::Ended(SessionOutcome::Failed(_)) => word("✗ failed", Role::Error),
        RunState::Ended(SessionOutcome::Stopped) => word("stopped", Role::Warn),
        RunState::BrokenOff(_) => word("✗ stopped", Role::Error),
        RunState::Running => running(cx, most, part),
    }
}

/// Columns that the name of an agent may take at most.
const fn longest_agent(columns: u16) -> usize {
    match columns {
        ..WIDE => AGENT_MOST.0,
        WIDE..ROOMY => AGENT_MOST.1,
        ROOMY.. => AGENT_MOST.2,
    }
}

fn running(cx: &Cx<'_>, most: usize, part: Part) -> Vec<Span<'static>> {
    let head = &cx.view.head;
    let is_held_up = !cx.view.review.waiting.is_empty() || head.question.is_some();
    let Some(speaker) = head.speaker() else {
        let words = if is_held_up { "waits for you" } else { "next agent …" };
        return vec![Span::styled(words, cx.style(Role::Dim))];
    };
    let name = line::cut(speaker.agent.as_str(), most);
    let mut spans = vec![Span::styled(name, cx.style(cx.agents.role(&speaker.agent)))];
    if part == Part::NameAlone {
        return spans;
    }
    let others = head.speakers.len() - 1;
    if others > 0 {
        spans.push(Span::styled(format!(" +{others}"), cx.style(Role::Dim)));
    }
    spans.push(match is_held_up {
        true => Span::styled(" waits", cx.style(Role::Dim)),
        false => {
            let spinner = cx.clock.spinner(speaker.since);
            let busy = format!(" {spinner} {}", elapsed(cx, speaker));
            Span::styled(busy, cx.style(Role::Busy))
        }
    });
    spans
}

/// How long the turn has taken, without the time in which it waited for the person.
fn elapsed(cx: &Cx<'_>, speaker: &Speaker) -> String {
    let after = cx.clock.millis_since(cx.view.work.counted_until());
    match cx.view.work.turn(speaker.turn, after) / 1_000 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{}:{:02}", seconds / 60, seconds % 60),
    }
}

/// How what was used is shown: louder when most of its limit is gone.
fn spending(used: u64, most: Option<u64>) -> Role {
    match most {
        Some(most) if used >= most => Role::Error,
        Some(most) if used.saturating_mul(10) >= most.saturating_mul(8) => Role::Warn,
        Some(_) | None => Role::Dim,
    }
}

/// Whether a board is there: what its port told last.
fn presence(cx: &Cx<'_>, board: &BoardInfo) -> (&'static str, Role) {
    let port = cx.view.logs.serials.iter().rfind(|serial| serial.port == board.port);
    match port.map(|port| (port.closed.is_some(), port.away.is_some())) {
        None | Some((false, false)) => (" ●", Role::Ok),
        Some((false, true)) => (" ○", Role::Warn),
        Some((true, _)) => (" ○", Role::Faint),
    }
}

/// What stands around programs of agents, louder the less it is.
const fn sandbox(level: SandboxLevel, columns: u16) -> (u8, &'static str, Role) {
    match level {
        SandboxLevel::Namespaces if columns < ROOMY => (7, "sandbox", Role::Dim),
        SandboxLevel::Namespaces => (7, "sandboxed", Role::Dim),
        SandboxLevel::Landlock if columns < ROOMY => (7, "Landlock", Role::Warn),
        SandboxLevel::Landlock => (7, "sandboxed (Landlock)", Role::Warn),
        SandboxLevel::None => (8, "no sandbox", Role::Warn),
    }
}

/// The board, or else the toolchain, and how much it matters; what is simulated matters more.
fn device(cx: &Cx<'_>) -> Option<(Vec<Span<'static>>, u8)> {
    let head = &cx.view.head;
    let weight = |is_simulated| if is_simulated { 7 } else { 4 };
    if let Some(board) = &head.board {
        let role = if board.simulated { Role::Simulated } else { Role::Text };
        let (dot, dot_role) = presence(cx, board);
        let label = Span::styled(clean(&board.label), cx.style(role));
        let spans = vec![label, Span::styled(dot, cx.style(dot_role))];
        return Some((spans, weight(board.simulated)));
    }
    let start = head.start.as_ref().filter(|start| !start.toolchain.is_empty())?;
    let label = Span::styled(clean(&start.toolchain), cx.style(Role::Dim));
    let spans = vec![label, Span::styled(" ○", cx.style(Role::Faint))];
    Some((spans, weight(start.toolchain == VIRTUAL)))
}

fn right(cx: &Cx<'_>, columns: u16) -> LineParts {
    let head = &cx.view.head;
    let mut parts = LineParts::default();
    let model = head.start.as_ref().map(|start| head.model.as_ref().unwrap_or(&start.model));
    let is_scripted = model.is_some_and(|model| model == SCRIPTED);
    let device = device(cx);
    // What is simulated says so in one word each where there is little room.
    let is_short = columns < ROOMY && is_scripted && device.as_ref().is_some_and(|of| of.1 == 7);
    if let Some((spans, weight)) = device.filter(|_| !is_short) {
        parts.push(weight, spans);
    }
    if let Some(level) = head.sandbox {
        let (weight, text, role) = sandbox(level, columns);
        parts.push(weight, vec![Span::styled(text, cx.style(role))]);
    }
    if let Some(model) = model {
        // What is simulated says so before anything else gets room.
        let (weight, role) =
            if model.contains("script") { (8, Role::Simulated) } else { (4, Role::Text) };
        let label = match is_scripted {
            true if is_short => "virtual, scripted".to_owned(),
            true if columns < ROOMY => "scripted".to_owned(),
            false if columns < ROOMY => line::cut(&clean(model), SHORT_MODEL).to_string(),
            true | false => clean(model),
        };
        parts.push(weight, vec![Span::styled(label, cx.style(role))]);
    }
    // Whoever has set a limit wants to see it.
    let weight = if head.budget.is_open() && columns < WIDE { 2 } else { 5 };
    let tokens = head.usage.total();
    if head.start.is_some() {
        let most = head.budget.tokens;
        let of = most.map_or_else(String::new, |most| format!("/{}", line::count(most)));
        let role = spending(tokens, most);
        let text = format!("{:>TOKENS$}", format!("{}{of} tok", line::count(tokens)));
        parts.push(weight, vec![Span::styled(text, cx.style(role))]);
    }
    let cost = head.usage.cost;
    if !cost.is_zero() {
        let most = head.budget.cost;
        let of = most.map_or_else(String::new, |most| format!("/{most}"));
        let role = spending(cost.0, most.map(|most| most.0));
        parts.push(
            weight,
            vec![Span::styled(format!("{}{of}", head.usage.cost_in_words()), cx.style(role))],
        );
    }
    parts
}

#[cfg(test)]
#[path = "header_tests.rs"]
mod tests;
