//! How the review looks.
//!
//! Owns its rows: what and who, checks, the change, and what can be decided or came of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{Change, Check, CheckStatus};
use crate::text::diff::LineKind;
use crate::text::sanitize;
use crate::ui::line;
use crate::ui::pane::{Cx, Keys};
use crate::ui::role::Role;
use crate::view::ProposalView;

use super::review::ReviewPane;
use super::review_body::{Body, BodyLine, Emphasis, Ink, LineRole, Piece};
use super::review_foot;
use super::review_shown::Shown;
use super::wrap::wrap_words;

/// Most rows for the agent's reason.
const MAX_REASON: usize = 3;

/// Where the parts of the pane are.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// What and who.
    head: Vec<Row>,
    /// The change.
    pub body: Rect,
    /// What can be decided, or came of it.
    foot: Vec<Line<'static>>,
    /// Columns for the text of the change.
    pub text_width: usize,
    /// Columns before it.
    gutter: Gutter,
}

/// A row with something at its right end.
#[derive(Debug, Clone, Default)]
struct Row {
    left: Line<'static>,
    right: Line<'static>,
}

/// What stands before a line of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Gutter {
    /// Nothing but a blank.
    #[default]
    None,
    /// One number of that many digits, and a sign.
    One(usize),
    /// Two of them, and a sign.
    Two(usize),
}

impl Gutter {
    fn of(body: &Body, width: u16) -> Self {
        let (mut has_old, mut has_new) = (false, false);
        for line in &body.lines {
            if let LineRole::Diff(_, old, new) = line.role {
                has_old |= old.is_some();
                has_new |= new.is_some();
            }
        }
        match (has_old, has_new) {
            (false, false) => Self::None,
            (true, true) if usize::from(width) >= 44 + 2 * body.digits => Self::Two(body.digits),
            (true | false, true | false) => Self::One(body.digits),
        }
    }

    const fn width(self) -> usize {
        match self {
            Self::None => 1,
            Self::One(digits) => digits + 4,
            Self::Two(digits) => 2 * digits + 5,
        }
    }
}

/// What stands in the title rule.
pub(super) fn title(pane: &ReviewPane, cx: &Cx<'_>) -> Line<'static> {
    let look = cx.style(match cx.keys {
        Keys::Here => Role::TitleFocus,
        Keys::Elsewhere => Role::Title,
    });
    let review = &cx.view.review;
    let waiting = review.waiting.len();
    let Some(view) = pane.on_screen.and_then(|id| review.get(id)) else {
        return Line::styled("Review", look);
    };
    let id = view.proposal.id;
    let place = review.waiting.iter().position(|waiting| *waiting == id);
    let place = match place {
        Some(place) => format!(" {}/{waiting}", place + 1),
        None => format!(" #{id}"),
    };
    let mut spans = vec![
        Span::styled(format!("Review{place}"), look),
        Span::styled(" · ", cx.style(Role::Dim)),
        Span::styled(what(&view.proposal.change), look),
    ];
    if !review.waiting.contains(&id) && waiting > 0 {
        spans.push(Span::styled(" ", look));
        spans.push(Span::styled(format!(" {waiting} waiting "), cx.style(Role::Waiting)));
    }
    Line::from(spans)
}

/// A change in a few words, e.g. `save main/main.c`.
pub(super) fn what(change: &Change) -> String {
    match change {
        Change::Flash(plan) => format!("flash {}", sanitize::line(&plan.board.label)),
        Change::Save { path, .. } | Change::Delete { path, .. } | Change::Insert { path, .. } => {
            format!("{} {}", change.kind(), sanitize::line(path.as_str()))
        }
    }
}

/// How many lines change, e.g. `+1 −1 · 1 hunk`.
pub(super) fn counts(body: &Body) -> String {
    match body.hunks.len() {
        0 => String::new(),
        1 => format!("+{} −{} · 1 hunk", body.added, body.removed),
        hunks => format!("+{} −{} · {hunks} hunks", body.added, body.removed),
    }
}

/// Divides the area, and makes ready what stands above and below the change.
pub(super) fn parts(pane: &ReviewPane, area: Rect, cx: &Cx<'_>) -> Parts {
    let view = pane.on_screen.and_then(|id| cx.view.review.get(id));
    let (Some(view), true) = (view, area.width > 12 && area.height > 3) else {
        return Parts { body: area, ..Parts::default() };
    };
    let shown = pane.shown(view.proposal.id);
    let body = shown.and_then(Shown::body);
    let width = usize::from(area.width);
    let mut foot = review_foot::foot(pane, view, shown, width, cx);
    foot.truncate(usize::from(area.height / 3).max(1));
    let mut head = head(view, body.map(AsRef::as_ref), width, cx);
    let room = (usize::from(area.height) - foot.len()) / 2;
    if head.len() > room.max(1) {
        head.truncate(room.max(1));
        if let Some(last) = head.last_mut() {
            last.right = Line::styled("… more when zoomed", cx.style(Role::Warn));
        }
    } else if area.height > 14 {
        head.push(Row::default());
    }
    let head_rows = u16::try_from(head.len()).unwrap_or(area.height).min(area.height);
    let foot_rows = u16::try_from(foot.len()).unwrap_or(1).min(area.height - head_rows);
    let body_area =
        Rect { y: area.y + head_rows, height: area.height - head_rows - foot_rows, ..area };
    let gutter = body.map_or(Gutter::None, |body| Gutter::of(body, area.width));
    // The last column is for the mark that tells where in the change one is.
    let text_width = width.saturating_sub(gutter.width() + 1);
    Parts { head, body: body_area, foot, text_width, gutter }
}

fn head(view: &ProposalView, body: Option<&Body>, width: usize, cx: &Cx<'_>) -> Vec<Row> {
    let proposal = &view.proposal;
    let dim = cx.style(Role::Dim);
    let agent = sanitize::line(proposal.agent.as_str()).into_owned();
    let tool = sanitize::line(proposal.tool.as_str()).into_owned();
    let left = vec![
        Span::raw(" "),
        Span::styled(agent, cx.style(cx.agents.role(&proposal.agent))),
        Span::styled(" via ", dim),
        Span::styled(tool, cx.style(Role::Text)),
    ];
    let right = body.map_or_else(Line::default, |body| counts_line(view, body, cx));
    let mut rows = vec![Row { left: Line::from(left), right }];
    let reason = sanitize::line(proposal.reason.trim());
    if !reason.is_empty() {
        let mut words = wrap_words(&format!("“{reason}”"), width.saturating_sub(2));
        if words.len() > MAX_REASON {
            words.truncate(MAX_REASON);
            if let Some(last) = words.last_mut() {
                *last = format!("{}…", line::cut(last, width.saturating_sub(4)));
            }
        }
        rows.extend(words.into_iter().map(|row| plain(format!(" {row}"), cx.style(Role::Text))));
    }
    rows.extend(checks(&proposal.checks, width, cx));
    rows
}

fn counts_line(view: &ProposalView, body: &Body, cx: &Cx<'_>) -> Line<'static> {
    let added = Span::styled(format!("+{}", body.added), cx.style(Role::FileNew));
    let removed = Span::styled(format!("−{}", body.removed), cx.style(Role::FileDelete));
    let hunks = match body.hunks.len() {
        1 => " · 1 hunk ".to_owned(),
        hunks => format!(" · {hunks} hunks "),
    };
    let hunks = Span::styled(hunks, cx.style(Role::Dim));
    let spans = match &view.proposal.change {
        Change::Save { base: None, .. } => {
            vec![Span::styled("new file  ", cx.style(Role::FileNew)), added, Span::raw(" ")]
        }
        Change::Delete { .. } => {
            let words = Span::styled("the whole file goes  ", cx.style(Role::FileDelete));
            vec![words, removed, Span::raw(" ")]
        }
        Change::Insert { .. } => {
            let words = Span::styled("insertion  ", cx.style(Role::FileEdit));
            vec![words, added, Span::raw(" "), removed, hunks]
        }
        Change::Save { .. } => vec![added, Span::raw(" "), removed, hunks],
        Change::Flash(plan) => {
            let (count, bytes) = (plan.images.len(), line::bytes(plan.total_bytes()));
            let images = if count == 1 { "image" } else { "images" };
            let mut text = format!("{count} {images} · {bytes} ");
            if view.decision.is_none() {
                let age = cx.clock.since(plan.built_at).as_millis();
                let age = line::millis(u64::try_from(age).unwrap_or(u64::MAX));
                text.push_str(&format!("· built {age} ago "));
            }
            vec![Span::styled(text, cx.style(Role::Dim))]
        }
    };
    Line::from(spans)
}

fn plain(text: String, style: Style) -> Row {
    Row { left: Line::styled(text, style), right: Line::default() }
}

/// A chip for each check, then the notes of those that did not pass.
fn checks(checks: &[Check], width: usize, cx: &Cx<'_>) -> Vec<Row> {
    let mut rows: Vec<Vec<Span<'static>>> = Vec::new();
    let mut used = width;
    for check in checks {
        let (mark, role) = look(check.status);
        let label = format!("{mark} {}", check.kind.label());
        let columns = line::width(&label) + 2;
        if used + columns > width {
            rows.push(vec![Span::raw(" ")]);
            used = 1;
        }
        used += columns;
        let text = if check.status == CheckStatus::Passed { Role::Dim } else { role };
        if let Some(row) = rows.last_mut() {
            row.push(Span::styled(mark, cx.style(role)));
            row.push(Span::styled(format!(" {}  ", check.kind.label()), cx.style(text)));
        }
    }
    let mut rows: Vec<Row> = rows
        .into_iter()
        .map(|spans| Row { left: Line::from(spans), right: Line::default() })
        .collect();
    for check in checks.iter().filter(|check| check.status != CheckStatus::Passed) {
        let (mark, role) = look(check.status);
        let note = sanitize::line(check.note.trim());
        let text = format!("{}: {note}", check.kind.label());
        for (place, row) in wrap_words(&text, width.saturating_sub(4)).into_iter().enumerate() {
            let lead = if place == 0 { format!(" {mark} ") } else { "   ".to_owned() };
            rows.push(plain(format!("{lead}{row}"), cx.style(role)));
        }
    }
    rows
}

const fn look(status: CheckStatus) -> (&'static str, Role) {
    match status {
        CheckStatus::Passed => ("✓", Role::Ok),
        CheckStatus::Warned => ("!", Role::Warn),
        CheckStatus::Failed => ("✗", Role::Error),
    }
}

/// Draws the pane as it was prepared.
pub(super) fn draw(pane: &ReviewPane, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let parts = &pane.parts;
    let view = pane.on_screen.and_then(|id| cx.view.review.get(id));
    let Some(view) = view else {
        let text =
            " Nothing to review yet. What the agents want to write or flash is shown here first.";
        for (row, text) in
            area.rows().zip(wrap_words(text.trim(), usize::from(area.width).max(3) - 2))
        {
            line::draw(&Line::styled(format!(" {text}"), cx.style(Role::Dim)), row, buf);
        }
        return;
    };
    for (row, at) in parts.head.iter().zip(area.rows()) {
        line::draw_split(&row.left, &row.right, at, buf);
    }
    if let Some(shown) = pane.shown(view.proposal.id) {
        draw_body(shown, parts, buf, cx);
    }
    let below = Rect {
        y: parts.body.bottom(),
        height: area.bottom().saturating_sub(parts.body.bottom()),
        ..area
    };
    for (row, at) in parts.foot.iter().zip(below.rows()) {
        line::draw(row, at, buf);
    }
}

fn draw_body(shown: &Shown, parts: &Parts, buf: &mut Buffer, cx: &Cx<'_>) {
    let area = parts.body;
    let Some(body) = shown.body() else {
        let row = Rect { height: area.height.min(1), ..area };
        let (text, role) = match shown.error() {
            Some(error) => (format!(" {error}"), Role::Error),
            None => (" reading and comparing…".to_owned(), Role::Busy),
        };
        let text = line::cut(&text, usize::from(area.width));
        line::draw(&Line::styled(text, cx.style(role)), row, buf);
        return;
    };
    for ((place, part), at) in shown.rows().zip(area.rows()) {
        let Some(line) = body.lines.get(place) else { continue };
        draw_row(line, part, &shown.pieces(place, part), parts, at, buf, cx);
    }
    draw_position(shown, area, buf, cx);
}

fn draw_row(
    line: &BodyLine,
    part: usize,
    pieces: &[Piece],
    parts: &Parts,
    at: Rect,
    buf: &mut Buffer,
    cx: &Cx<'_>,
) {
    let (ground, word) = match line.role {
        LineRole::Diff(LineKind::Added, ..) => (Role::DiffAdded, Role::DiffAddedWord),
        LineRole::Diff(LineKind::Removed, ..) => (Role::DiffRemoved, Role::DiffRemovedWord),
        LineRole::Diff(LineKind::Context, ..)
        | LineRole::Hunk
        | LineRole::Fact
        | LineRole::Note => (Role::Text, Role::Text),
    };
    let base = cx.style(ground);
    let mut spans = vec![gutter(line, part, parts.gutter, base, cx)];
    for piece in pieces {
        let own = cx.style(match piece.ink {
            Ink::Plain => ground,
            Ink::Dim => Role::Dim,
            Ink::Warning => Role::Warn,
            Ink::Syntax(kind) => Role::syntax(kind),
        });
        let style = match piece.emphasis {
            Emphasis::Changed => cx.style(word),
            Emphasis::None => Style { bg: base.bg, ..own },
        };
        spans.push(Span::styled(piece.text.clone(), style));
    }
    if ground != Role::Text {
        let wide = Rect { width: at.width.saturating_sub(1), ..at };
        line::tint(wide, base, buf);
    }
    line::draw(&Line::from(spans), at, buf);
}

fn gutter(line: &BodyLine, part: usize, gutter: Gutter, base: Style, cx: &Cx<'_>) -> Span<'static> {
    let numbers = Style { bg: base.bg, ..cx.style(Role::DiffSign) };
    let LineRole::Diff(kind, old, new) = line.role else {
        return Span::styled(if part > 0 { "↪" } else { " " }, numbers);
    };
    let number = |number: Option<usize>, digits: usize| match number {
        Some(number) if part == 0 => format!("{number:>digits$}"),
        Some(_) | None => " ".repeat(digits),
    };
    let sign = match (part, kind) {
        (1.., _) => "↪",
        (0, LineKind::Added) => "+",
        (0, LineKind::Removed) => "−",
        (0, LineKind::Context) => " ",
    };
    let text = match gutter {
        Gutter::None => " ".to_owned(),
        Gutter::One(digits) => format!(" {} {sign} ", number(new.or(old), digits)),
        Gutter::Two(digits) => {
            format!(" {} {} {sign} ", number(old, digits), number(new, digits))
        }
    };
    Span::styled(text, numbers)
}

/// A mark in the last column tells which part of a long change is in sight.
fn draw_position(shown: &Shown, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let (total, height) = (shown.total(), usize::from(area.height));
    if total <= height || height == 0 {
        return;
    }
    let size = (height * height / total).max(1);
    let start = shown.top() * (height - size) / (total - height).max(1);
    for (place, row) in area.rows().enumerate() {
        let is_in_sight = (start..start + size).contains(&place);
        let (mark, role) = if is_in_sight { ("┃", Role::Dim) } else { ("│", Role::Faint) };
        buf.set_string(row.right().saturating_sub(1), row.y, mark, cx.style(role));
    }
}
