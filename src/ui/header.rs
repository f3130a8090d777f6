//! The first row: what runs, who speaks, on what, and what waits.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::model::{BoardInfo, SandboxLevel, SessionOutcome};
use crate::text::sanitize;
use crate::view::{RunState, SessionView, Speaker, plural};

use super::line::{self, LineParts};
use super::pane::{Cx, Mode};
use super::role::Role;
use super::strip;

/// The board that is a process, as sessions name it and its toolchain.
const VIRTUAL: &str = "virtual board";

/// Columns of what waits.
const WAITING: u16 = 11;

/// Columns of an agent's name where there is hardly any room, of how long it has worked, and of the
/// tokens.
const AGENT_LEAST: usize = 12;
const ELAPSED: usize = 7;
const TOKENS: usize = 9;

/// Columns of the screen from which on everything has space.
const ROOMY: u16 = 140;

/// Columns of the screen from which on there is some space.
const WIDE: u16 = 100;

/// Columns of a phase from which on it is told how many attempts there may be.
const WITH_MOST: usize = 16;

/// Columns of a team and of a model where other parts need the space, and how much the longer forms
/// matter.
const SHORT: usize = 8;
const SHORT_MODEL: usize = 9;
const LONGER: u8 = 2;

/// How much it matters that all of an agent's name is there: more than a project that is new.
const WHOLE: u8 = 5;

/// Columns that the words of a rule may take.
const RULE: usize = 44;

/// Columns of the screen up to which a row at the bottom tells the phase while a session goes on.
const WITH_ROW_BELOW: u16 = 90;

/// Columns of the usual names of agents, where there is some space.
const LONGER_AGENT: usize = 18;

/// Columns of the longest names of agents that come with the program.
const WHOLE_AGENT: usize = 25;

/// Columns of what changes in the course of a session, and most of what does not. They depend on the
/// width of the screen alone, so that nothing moves, comes or goes when something else changes.
struct Slots {
    /// Most columns of the project's name.
    name: usize,
    team: usize,
    /// Of the phase and its attempt, where there is hardly any space and where there is more.
    phase: (usize, usize),
    /// Of the name of an agent.
    agent: usize,
    model: usize,
    /// Tokens and cost together, of a model that may cost something.
    usage: usize,
}

impl Slots {
    const fn of(columns: u16) -> Self {
        match columns {
            ..WIDE => Self { name: 14, team: 14, phase: (13, 13), agent: 14, model: 10, usage: 9 },
            WIDE..ROOMY => {
                Self { name: 14, team: 14, phase: (13, 16), agent: 16, model: 14, usage: 9 }
            }
            ROOMY.. => {
                Self { name: 28, team: 15, phase: (24, 24), agent: 24, model: 40, usage: 21 }
            }
        }
    }
}

/// How much each part matters where not all have room: the ones that matter least are left out first.
struct Weights {
    project: u8,
    team: u8,
    phase: u8,
    usage: u8,
}

impl Weights {
    fn of(columns: u16, cx: &Cx<'_>) -> Self {
        // Whoever has set a limit wants to see it, and a recording costs nothing.
        let usage = match (cx.view.head.budget.is_open(), cx.view.head.is_scripted()) {
            (false, _) => 5,
            (true, true) => 1,
            (true, false) if columns < WIDE => 2,
            (true, false) => 4,
        };
        match columns {
            ..WIDE if cx.view.head.is_scripted() => Self { project: 4, team: 3, phase: 6, usage },
            ..WIDE => Self { project: 6, team: 3, phase: 4, usage },
            WIDE.. if cx.view.head.is_scripted() => Self { project: 6, team: 5, phase: 3, usage },
            WIDE.. => Self { project: 6, team: 3, phase: 5, usage },
        }
    }
}

/// Draws the header; what does not fit is dropped from the least important part on.
pub(super) fn draw(area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let separator = cx.span(" · ", Role::Faint);
    // The place of what waits stays free, so that nothing else moves when something does.
    let row_area = Rect { width: inside.width.saturating_sub(WAITING + 1), ..inside };
    let (left, right) = line::fit_halves(
        left_side(cx, area.width),
        right(cx, area.width),
        &separator,
        usize::from(row_area.width),
    );
    line::draw_split(&left, &right, row_area, buf);
    if let Some(waiting) = waiting(cx).or_else(|| rule_count(cx)) {
        let width = u16::try_from(waiting.width()).unwrap_or(WAITING).min(inside.width);
        let x = inside.right() - width;
        line::draw(&Line::from(waiting), Rect { x, width, ..inside }, buf);
    }
}

/// How many proposals and questions wait for the person; a question alone is called one.
fn waiting_words(view: &SessionView, mode: Mode) -> Option<String> {
    let has_question = view.head.question.is_some();
    match view.review.waiting.len() {
        0 => has_question.then(|| "question".to_owned()),
        proposals => {
            let verb = if mode == Mode::Live { "waiting" } else { "waited" };
            Some(format!("{} {verb}", proposals + usize::from(has_question)))
        }
    }
}

/// What waits for the person.
fn waiting(cx: &Cx<'_>) -> Option<Span<'static>> {
    let words = waiting_words(cx.view, cx.mode)?;
    // In a replay nothing waits for anybody any more.
    Some(match cx.mode {
        Mode::Live => cx.span(format!(" {words} "), Role::Waiting),
        Mode::Replay => cx.span(words, Role::Dim),
    })
}

/// How many rules decide for the person, in the place of what waits while nothing does.
fn rule_count(cx: &Cx<'_>) -> Option<Span<'static>> {
    let rules = cx.view.review.rules().count();
    (rules > 0).then(|| cx.span(plural(rules, "rule"), Role::Warn))
}

/// Spans with blanks behind them, as many columns as that at least.
fn padded(mut spans: Vec<Span<'static>>, columns: usize) -> Vec<Span<'static>> {
    let used: usize = spans.iter().map(Span::width).sum();
    spans.push(Span::raw(" ".repeat(columns.saturating_sub(used))));
    spans
}

/// The title for the terminal's window or tab.
pub(super) fn terminal_title(view: &SessionView, own: &str, mode: Mode) -> String {
    let mut title = "firmhand".to_owned();
    if let Some(start) = &view.head.start {
        title.push_str(&format!(" · {}", line::cut(name(&start.project, own), 40)));
    }
    match (mode, waiting_words(view, mode), &view.head.state) {
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

/// Words in a place of as many columns, whether there are fewer or more.
fn slot(words: &str, columns: usize, style: ratatui::style::Style) -> Span<'static> {
    let words = line::cut(words, columns);
    let blanks = " ".repeat(columns.saturating_sub(line::width(&words)));
    Span::styled(format!("{words}{blanks}"), style)
}

fn left_side(cx: &Cx<'_>, columns: u16) -> LineParts {
    let head = &cx.view.head;
    let (slots, weights) = (Slots::of(columns), Weights::of(columns, cx));
    let mut parts = LineParts::default();
    parts.push(1, vec![cx.span("firmhand", Role::Accent)]);
    if cx.mode == Mode::Replay {
        parts.push(line::KEPT, vec![cx.span("replay", Role::Busy)]);
    }
    if let Some(start) = &head.start {
        let name = line::cut(&clean(name(&start.project, cx.title)), slots.name);
        parts.push(weights.project, vec![cx.span(name, Role::Strong)]);
        // A later run may have another team.
        let team = head.run().map_or(&start.team, |run| &run.team);
        let team = |columns: usize| vec![slot(team, columns, cx.style(Role::Dim))];
        let short = (weights.team, team(slots.team.min(SHORT)));
        parts.push_forms(match columns {
            WIDE..ROOMY if !cx.view.head.is_scripted() => vec![(LONGER, team(slots.team)), short],
            _ => vec![(weights.team, team(slots.team))],
        });
        let phase = |columns: usize| vec![slot(&phase(cx, columns), columns, cx.style(Role::Text))];
        let has_row = columns < WITH_ROW_BELOW && cx.mode == Mode::Live;
        parts.push_forms(match slots.phase {
            _ if has_row => Vec::new(),
            (short, long) if short < long => {
                vec![(LONGER, phase(long)), (weights.phase, phase(short))]
            }
            (_, long) => vec![(weights.phase, phase(long))],
        });
    }
    parts.push_forms(state(cx, &slots, columns));
    // Rules come and go, and nothing else gives way to their words.
    parts.push(0, rule_words(cx));
    parts
}

/// The phase and its attempt in so many columns; empty between phases.
fn phase(cx: &Cx<'_>, columns: usize) -> String {
    let Some(view) = &cx.view.head.phase else { return String::new() };
    let attempt = match view.max_attempts {
        0 | 1 => String::new(),
        _ if columns < WITH_MOST => format!(" {}", view.attempt),
        most => format!(" {}/{most}", view.attempt),
    };
    let space = columns.saturating_sub(line::width(&attempt));
    format!("{}{attempt}", strip::short_title(&view.title, space))
}

/// The newest of the rules in force, in its own words.
fn rule_words(cx: &Cx<'_>) -> Vec<Span<'static>> {
    let Some(newest) = cx.view.review.rules().last() else { return Vec::new() };
    let words = format!("rule: {}", line::cut(&newest.rule.to_string(), RULE));
    vec![cx.span(words, Role::Warn)]
}

/// What a session is called: by the name that the person gave it, else by its project.
fn name<'a>(project: &'a str, title: &'a str) -> &'a str {
    if title.is_empty() { project_name(project) } else { title }
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

/// Who speaks, or why nobody does, in as many columns as any agent takes; where these are too many,
/// without its time.
fn state(cx: &Cx<'_>, slots: &Slots, columns: u16) -> Vec<(u8, Vec<Span<'static>>)> {
    let full = |most: usize| padded(state_within(cx, most, Part::WithTime), most + ELAPSED);
    let least = slots.agent.min(AGENT_LEAST);
    let short = padded(state_within(cx, least, Part::NameAlone), least);
    let mut forms = vec![(8, full(slots.agent)), (line::KEPT, short)];
    if (WIDE..ROOMY).contains(&columns) {
        forms.insert(0, (LONGER, full(LONGER_AGENT)));
    }
    if columns < WITH_ROW_BELOW && cx.mode == Mode::Live {
        let weight = if cx.view.head.is_scripted() { WHOLE } else { LONGER };
        forms.insert(0, (weight, full(WHOLE_AGENT)));
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
    let word = |text: &'static str, role| vec![cx.span(text, role)];
    match &cx.view.head.state {
        RunState::Empty => word("starting", Role::Dim),
        // The step that is under way is finished first.
        RunState::Paused if cx.view.head.speaker().is_some() && !is_held_up(cx) => {
            word(" pausing ", Role::Paused)
        }
        RunState::Paused => word(" paused ", Role::Paused),
        RunState::Stopping => word("stopping", Role::Warn),
        RunState::Ended(SessionOutcome::Completed) => match left_undone(cx) {
            0 => word("✓ completed", Role::Ok),
            1.. if part == Part::NameAlone => word("! not all", Role::Warn),
            count => vec![cx.span(format!("! {count} not done"), Role::Warn)],
        },
        RunState::Ended(SessionOutcome::Failed(_)) => word("✗ failed", Role::Error),
        RunState::Ended(SessionOutcome::Stopped) => word("stopped", Role::Warn),
        RunState::BrokenOff(_) => word("✗ stopped", Role::Error),
        RunState::Running => running(cx, most, part),
    }
}

/// How much of what was approved could not be done.
fn left_undone(cx: &Cx<'_>) -> usize {
    cx.view.work.run().map_or(0, |run| run.left_undone().count())
}

fn running(cx: &Cx<'_>, most: usize, part: Part) -> Vec<Span<'static>> {
    let head = &cx.view.head;
    let is_held_up = is_held_up(cx);
    let Some(speaker) = head.speaker() else {
        // After a session was opened again its turn has yet to begin.
        let waiting = cx.view.review.waiting().next().filter(|_| cx.mode == Mode::Live);
        if let Some(proposal) = waiting.map(|view| &view.proposal) {
            let name = line::cut(proposal.agent.as_str(), most);
            let role = cx.agents.role(&proposal.agent);
            return waiting_agent(name.to_string(), role, part, cx);
        }
        let words = match cx.mode {
            _ if is_held_up => "waits for you",
            Mode::Live => "next agent …",
            Mode::Replay if has_no_turn(cx.view) => "no agent yet",
            Mode::Replay => "between turns",
        };
        return vec![cx.span(words, Role::Dim)];
    };
    let name = |columns: usize| {
        let name = line::cut(speaker.agent.as_str(), columns);
        cx.span(name, cx.agents.role(&speaker.agent))
    };
    if part == Part::NameAlone {
        return vec![name(most)];
    }
    let others = match head.speakers.len() - 1 {
        0 => String::new(),
        others => format!(" +{others}"),
    };
    let (does, role) = match is_held_up {
        true => (" waits".to_owned(), Role::Dim),
        false => {
            let spinner = cx.clock.spinner(speaker.since);
            (format!(" {spinner} {}", elapsed(cx, speaker)), Role::Busy)
        }
    };
    // The name gives way to the rest, so that all of it stays in its columns.
    let space = (most + ELAPSED).saturating_sub(line::width(&others) + line::width(&does));
    vec![name(space.min(most)), cx.span(others, Role::Dim), cx.span(does, role)]
}

/// An agent of which a proposal waits.
fn waiting_agent(name: String, role: Role, part: Part, cx: &Cx<'_>) -> Vec<Span<'static>> {
    let mut spans = vec![cx.span(name, role)];
    if part == Part::WithTime {
        spans.push(cx.span(" waits", Role::Dim));
    }
    spans
}

/// Whether the person has to decide or answer something.
fn is_held_up(cx: &Cx<'_>) -> bool {
    !cx.view.review.waiting.is_empty() || cx.view.head.question.is_some()
}

/// Whether no agent has spoken for this request.
fn has_no_turn(view: &SessionView) -> bool {
    view.work.run().is_none_or(|run| run.agents.is_empty())
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

/// How much a device matters that is simulated.
const SIMULATED: u8 = 7;

/// The board, or else the toolchain, and how much it matters; what is simulated matters more.
fn device(cx: &Cx<'_>, columns: u16) -> Option<(Vec<Span<'static>>, u8)> {
    let head = &cx.view.head;
    let weight = |is_simulated| if is_simulated { SIMULATED } else { 4 };
    let short = |label: &str| match label {
        VIRTUAL if columns < ROOMY => "virtual".to_owned(),
        _ => clean(label),
    };
    if let Some(board) = &head.board {
        let role = if board.simulated { Role::Simulated } else { Role::Text };
        let (dot, dot_role) = presence(cx, board);
        let label = cx.span(short(&board.label), role);
        let spans = vec![label, cx.span(dot, dot_role)];
        return Some((spans, weight(board.simulated)));
    }
    let start = head.start.as_ref().filter(|start| !start.toolchain.is_empty())?;
    let label = cx.span(short(&start.toolchain), Role::Dim);
    let spans = vec![label, cx.span(" ○", Role::Faint)];
    Some((spans, weight(start.toolchain == VIRTUAL)))
}

fn right(cx: &Cx<'_>, columns: u16) -> LineParts {
    let head = &cx.view.head;
    let mut parts = LineParts::default();
    let device = device(cx, columns);
    // What is simulated says so in one word each where there is little room.
    let is_simulated = device.as_ref().is_some_and(|(_, weight)| *weight == SIMULATED);
    let is_short = columns < ROOMY && cx.view.head.is_scripted() && is_simulated;
    if let Some((spans, weight)) = device.filter(|_| !is_short) {
        parts.push(weight, spans);
    }
    if let Some(level) = head.sandbox {
        let (weight, text, role) = sandbox(level, columns);
        parts.push(weight, vec![cx.span(text, role)]);
    }
    if let Some(model) = head.model_now() {
        // What is simulated says so before anything else gets room.
        let role = if model.contains("script") { Role::Simulated } else { Role::Text };
        let most = Slots::of(columns).model;
        // Another model may be chosen at any time.
        let other = |most: usize| format!("{:<most$}", model_label(model, most));
        let forms = match cx.view.head.is_scripted() {
            true if is_short => vec![(8, "virtual, scripted".to_owned())],
            true if columns < ROOMY => vec![(8, "scripted".to_owned())],
            true => vec![(8, clean(model))],
            false if columns < WIDE => vec![(8, other(most))],
            false => vec![(LONGER, other(most)), (8, other(SHORT_MODEL))],
        };
        let styled = |(weight, text): (u8, String)| (weight, vec![cx.span(text, role)]);
        parts.push_forms(forms.into_iter().map(styled).collect());
    }
    if head.start.is_some() {
        parts.push(Weights::of(columns, cx).usage, usage(cx, columns));
    }
    parts
}

/// The name of a model in so many columns; who provides it, in brackets, gives way first.
fn model_label(model: &str, columns: usize) -> String {
    let model = clean(model);
    let name = model.split(" (").next().unwrap_or_default();
    if line::width(&model) <= columns { model } else { line::cut(name, columns) }
}

/// Tokens and cost, in the same columns from the first request on; where there is little room, what
/// was paid takes the place of the tokens.
fn usage(cx: &Cx<'_>, columns: u16) -> Vec<Span<'static>> {
    let (used, budget) = (&cx.view.head.usage, &cx.view.head.budget);
    let of = |limit: Option<String>| limit.map_or_else(String::new, |limit| format!("/{limit}"));
    let total = used.total();
    let tokens = format!("{}{} tok", line::count(total), of(budget.tokens.map(line::count)));
    let tokens_role = spending(total, budget.tokens);
    let cost = format!("{}{}", used.cost_in_words(), of(budget.cost.map(|most| most.to_string())));
    let cost_role = spending(used.cost.0, budget.cost.map(|most| most.0));
    if cx.view.head.is_scripted() && used.cost.is_zero() {
        return vec![cx.span(format!("{tokens:>TOKENS$}"), tokens_role)];
    }
    let slot = Slots::of(columns).usage;
    let right = |words: &str, role| vec![cx.span(format!("{words:>slot$}"), role)];
    if used.cost.is_zero() {
        return right(&tokens, tokens_role);
    }
    if columns < ROOMY {
        return right(&cost, cost_role);
    }
    let space = slot.saturating_sub(line::width(&cost) + 3);
    vec![
        cx.span(format!("{tokens:>space$}"), tokens_role),
        cx.span(" · ", Role::Faint),
        cx.span(cost, cost_role),
    ]
}

#[cfg(test)]
#[path = "header_tests.rs"]
mod tests;
