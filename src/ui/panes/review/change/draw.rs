//! How the lines of a change look.
//!
//! Owns their grounds, signs and marks. Whatever it draws of a changed line is all of what the
//! layout says is in that row; nothing is cut here.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text::diff::LineKind;
use crate::text::line_pairs::LinePair;
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;

use super::super::findings::{self, FindingMarks, LineMarks};
use super::ChangeView;
use super::body::{ReviewBody, Surroundings};
use super::items::DiffItem;
use super::layout::{Cell, Layout};
use super::line::{BodyLine, Emphasis, Ink, LinePiece, LineRole};
use super::picking::PickedLines;

/// Stands before lines that the person wrote.
pub const MARK: &str = "✎";

/// What stands before a line of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gutter {
    /// Nothing but a blank.
    #[default]
    None,
    /// One number of that many digits, and a sign.
    One(usize),
    /// Two of them, and a sign.
    Two(usize),
}

impl Gutter {
    /// What fits before the lines of `body` in a pane of that many columns.
    #[must_use]
    pub fn of(body: &ReviewBody, width: usize) -> Self {
        let (mut has_old, mut has_new) = (false, false);
        for line in &body.lines {
            if let LineRole::Diff(_, old, new) = line.role {
                has_old |= old.is_some();
                has_new |= new.is_some();
            }
            if has_old && has_new {
                break;
            }
        }
        match (has_old, has_new) {
            (false, false) => Self::None,
            (true, true) if width >= 44 + 2 * body.digits => Self::Two(body.digits),
            (true | false, true | false) => Self::One(body.digits),
        }
    }

    #[must_use]
    pub const fn width(self) -> usize {
        match self {
            Self::None => 1,
            Self::One(digits) => digits + 4,
            Self::Two(digits) => 2 * digits + 5,
        }
    }

    /// Its text: a mark, the numbers, a sign. Rows after a line's first have no numbers.
    #[must_use]
    pub fn text(self, mark: &str, numbers: [Option<usize>; 2], sign: &str) -> String {
        let number = |number: Option<usize>, digits: usize| match number {
            Some(number) => format!("{number:>digits$}"),
            None => " ".repeat(digits),
        };
        let [old, new] = numbers;
        match self {
            Self::None => mark.to_owned(),
            Self::One(digits) => format!("{mark}{} {sign} ", number(new.or(old), digits)),
            Self::Two(digits) => {
                format!("{mark}{} {} {sign} ", number(old, digits), number(new, digits))
            }
        }
    }
}

/// Whose numbers stand before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Old,
    New,
    Both,
}

/// What is marked on the lines.
#[derive(Clone, Copy)]
pub struct Marks<'a> {
    pub picked: Option<&'a PickedLines>,
    pub found: &'a FindingMarks,
    /// Lines of the new version, from 1, that the person wrote.
    pub own: Option<&'a BTreeSet<usize>>,
}

/// Everything that a row needs.
struct Canvas<'a> {
    change: &'a ChangeView,
    body: &'a ReviewBody,
    layout: &'a Layout,
    marks: Marks<'a>,
    gutter: Gutter,
    cx: &'a Cx<'a>,
}

/// Draws what of the change is in sight.
pub fn draw(
    change: &ChangeView,
    marks: Marks<'_>,
    gutter: Gutter,
    area: Rect,
    buf: &mut Buffer,
    cx: &Cx<'_>,
) {
    let (Some(body), Some(layout)) = (change.body(), change.layout()) else {
        let row = Rect { height: area.height.min(1), ..area };
        let (text, role) = match change.load.error() {
            Some(error) => (format!(" {error}"), Role::Error),
            None => (" reading and comparing…".to_owned(), Role::Busy),
        };
        let text = line::cut(&text, usize::from(area.width));
        line::draw(&cx.line(text, role), row, buf);
        return;
    };
    draw_position(change, area, buf, cx);
    let canvas = Canvas { change, body, layout, marks, gutter, cx };
    for (row, at) in change.rows().zip(area.rows()) {
        canvas.row(row, at, buf);
    }
}

impl Canvas<'_> {
    fn row(&self, row: usize, at: Rect, buf: &mut Buffer) {
        let Some((item, nth)) = self.layout.item_at(row) else { return };
        let [first, second] = self.layout.cells(row);
        // The last column tells where in the change one is.
        let wide = Rect { width: at.width.saturating_sub(1), ..at };
        match item {
            DiffItem::One(place) => {
                let before = (self.gutter, Version::Both);
                self.cell(*place, first.as_ref(), nth, before, wide, buf)
            }
            DiffItem::Blank(old, new) => self.blank(*old, *new, first.as_ref(), nth, wide, buf),
            DiffItem::Two(old, new) => {
                let half = at.width / 2;
                let left = Rect { width: half.saturating_sub(1), ..at };
                let right = Rect { x: at.x + half, width: wide.width - half, ..at };
                buf.set_string(left.right(), at.y, "│", self.cx.style(Role::Faint));
                let gutter = Gutter::One(self.body.digits);
                let sides = [(old, first, left, Version::Old), (new, second, right, Version::New)];
                for (place, cell, area, version) in sides {
                    if let Some(place) = place {
                        self.cell(*place, cell.as_ref(), nth, (gutter, version), area, buf);
                    }
                }
            }
            DiffItem::Fold(lines) => {
                let text = match lines.len() {
                    1 => "⋯ 1 line".to_owned(),
                    count => format!("⋯ {} lines", line::grouped(count as u64)),
                };
                self.fold(&text, lines.end, wide, buf);
            }
            DiffItem::Gap(next) => self.fold("⋯ further lines of the file", *next, wide, buf),
            DiffItem::Remark(place) => {
                let words = self.layout.remark(*place).into_iter().nth(nth).unwrap_or_default();
                let indent = " ".repeat(self.gutter.width().saturating_sub(2));
                let words = format!("{indent}┃ {words}");
                line::draw(&self.cx.line(words, Role::Person), wide, buf);
            }
        }
    }

    /// Unchanged lines that do not show, and what the next ones belong to.
    fn fold(&self, text: &str, next: usize, at: Rect, buf: &mut Buffer) {
        let indent = " ".repeat(self.gutter.width().saturating_sub(2));
        let mut spans = vec![self.cx.span(format!("{indent}{text}"), Role::DiffSign)];
        if let Some(name) = self.home_of(next) {
            let space = usize::from(at.width).saturating_sub(line::width(text) + indent.len() + 4);
            spans.push(self.cx.span(format!("  {}", line::cut(&name, space)), Role::DiffSign));
        }
        line::draw(&Line::from(spans), at, buf);
    }

    /// The head of the function or section that a line is in.
    fn home_of(&self, line: usize) -> Option<String> {
        let own = self.body.lines.get(line)?;
        if is_head(own.source()) {
            return None;
        }
        let before = self.body.lines.get(line.saturating_sub(2_000)..line)?;
        let head = before
            .iter()
            .rev()
            .find(|line| line.change() != Some(LineKind::Removed) && is_head(line.source()))?;
        Some(head.source().trim_end().trim_end_matches('{').trim_end().to_owned())
    }

    fn blank(
        &self,
        old: usize,
        new: usize,
        cell: Option<&Cell>,
        nth: usize,
        at: Rect,
        buf: &mut Buffer,
    ) {
        let number = |place: usize| match self.body.lines.get(place).map(|line| line.role) {
            Some(LineRole::Diff(_, old, new)) => old.or(new),
            Some(LineRole::Fact | LineRole::Note) | None => None,
        };
        let numbers = if nth == 0 { [number(old), number(new)] } else { [None, None] };
        let sign = if nth == 0 { "~" } else { "↪" };
        let text = self.gutter.text(" ", numbers, sign);
        let mut spans = vec![self.cx.span(text, Role::DiffSign)];
        let (Some(line), Some(cell)) = (self.body.lines.get(new), cell) else { return };
        let pieces = line.part(&cell.part, self.change.colours_of(line), &[]);
        let dim = self.cx.style(Role::Dim);
        spans.extend(pieces.into_iter().map(|piece| Span::styled(piece.text, dim)));
        line::draw(&Line::from(spans), at, buf);
    }

    /// One row of one line, in the room for it.
    fn cell(
        &self,
        place: usize,
        cell: Option<&Cell>,
        nth: usize,
        before: (Gutter, Version),
        at: Rect,
        buf: &mut Buffer,
    ) {
        let Some(line) = self.body.lines.get(place) else { return };
        let ground = self.ground(place, line);
        let base = self.cx.style(ground);
        if ground != Role::Text {
            line::tint(at, base, buf);
        }
        let found = self.marks.found.on(line.role);
        let mut spans = self.before(place, line, nth, before, (base, &found));
        if let Some(cell) = cell {
            spans.extend(self.pieces(line, cell, ground, &found));
            if nth == 0
                && let LinePair::Moved(no) = line.pair
                && self.begins_block(place, no)
            {
                let from = match line.change() {
                    Some(LineKind::Removed) => "moved to",
                    _ => "moved from",
                };
                // Only where there is room; the line itself comes first.
                let used: usize = spans.iter().map(Span::width).sum();
                let words = format!("  {from} {no}");
                if used + words.len() <= usize::from(at.width) {
                    spans.push(Span::styled(
                        words,
                        Style { bg: base.bg, ..self.cx.style(Role::DiffSign) },
                    ));
                }
            }
            let is_cut = cell.part.columns.end < line.width && self.layout.is_scrolled();
            if is_cut {
                let style = self.cx.style(Role::Accent);
                buf.set_string(at.right(), at.y, "›", style);
            }
        }
        line::draw(&Line::from(spans), at, buf);
    }

    /// Whether a moved line is the first of its block.
    fn begins_block(&self, place: usize, no: usize) -> bool {
        let before = place.checked_sub(1).and_then(|before| self.body.lines.get(before));
        let own = self.body.lines.get(place).and_then(BodyLine::change);
        before.is_none_or(|before| {
            before.pair != LinePair::Moved(no.saturating_sub(1)) || before.change() != own
        })
    }

    /// The ground of a line. A line that moved, or was not picked, stands back.
    fn ground(&self, place: usize, line: &BodyLine) -> Role {
        let stands_back = matches!(line.pair, LinePair::Moved(_))
            || self.marks.picked.is_some_and(|selection| !selection.is_picked(place));
        match line.change() {
            Some(_) if stands_back => Role::Text,
            Some(LineKind::Added) => Role::DiffAdded,
            Some(LineKind::Removed) => Role::DiffRemoved,
            Some(LineKind::Context) | None => Role::Text,
        }
    }

    fn pieces(
        &self,
        line: &BodyLine,
        cell: &Cell,
        ground: Role,
        found: &LineMarks,
    ) -> Vec<Span<'static>> {
        let base = self.cx.style(ground);
        let is_dim = match line.change() {
            Some(_) => ground == Role::Text,
            None => {
                self.body.surroundings == Surroundings::Dimmed
                    && matches!(line.role, LineRole::Diff(..))
            }
        };
        let word = match ground {
            Role::DiffAdded => Some(Role::DiffAddedWord),
            Role::DiffRemoved => Some(Role::DiffRemovedWord),
            _ => None,
        };
        let pieces = line.part(&cell.part, self.change.colours_of(line), &found.characters);
        let look = |ink: Ink| match ink {
            _ if is_dim => Role::Dim,
            Ink::Plain => ground,
            Ink::Dim => Role::Dim,
            Ink::Warning => Role::Warn,
            Ink::Syntax(kind) => Role::syntax(kind),
        };
        let span = |piece: LinePiece| {
            let style = match (piece.emphasis, word) {
                (Emphasis::Changed, Some(word)) => self.cx.style(word),
                (Emphasis::Found, _) => self.cx.style(Role::Match),
                (Emphasis::Changed, None) | (Emphasis::None, _) => {
                    Style { bg: base.bg, ..self.cx.style(look(piece.ink)) }
                }
            };
            Span::styled(piece.text, style)
        };
        pieces.into_iter().map(span).collect()
    }

    fn before(
        &self,
        place: usize,
        line: &BodyLine,
        nth: usize,
        (gutter, version): (Gutter, Version),
        (base, found): (Style, &LineMarks),
    ) -> Vec<Span<'static>> {
        let mut style = Style { bg: base.bg, ..self.cx.style(Role::DiffSign) };
        let LineRole::Diff(kind, old, new) = line.role else {
            return vec![Span::styled(if nth > 0 { "↪" } else { " " }, style)];
        };
        let sign = match (nth, kind) {
            (1.., _) => "↪",
            (0, LineKind::Added) => "+",
            (0, LineKind::Removed) => "−",
            (0, LineKind::Context) => " ",
        };
        let mark = match self.marks.picked {
            Some(selection) if nth == 0 && line.change().is_some() => {
                if selection.is_picked(place) { "●" } else { "○" }
            }
            None if nth == 0 && found.level.is_some() => findings::look(found.level).0,
            Some(_) | None => " ",
        };
        if self.marks.picked.is_some_and(|selection| selection.cursor() == place) {
            style = self.cx.selection();
        }
        let numbers = match (nth, version, kind) {
            (1.., ..) => [None, None],
            (0, Version::Old, _) | (0, Version::Both, LineKind::Removed) => [old, None],
            (0, Version::New, _) => [None, new],
            (0, Version::Both, _) => [old, new],
        };
        let mut text = gutter.text(mark, numbers, sign);
        let own = self.marks.own.zip(new.filter(|_| nth == 0));
        if own.is_some_and(|(own, line)| own.contains(&line)) {
            // In the blank between the numbers and the sign.
            let before = text.strip_suffix(&format!(" {sign} "));
            text = before.map_or(text.clone(), |before| format!("{before}{MARK}{sign} "));
        }
        match (self.marks.picked, text.strip_prefix(mark)) {
            (None, Some(rest)) if mark != " " => {
                let role = findings::look(found.level).1;
                let look = Style { bg: base.bg, ..self.cx.style(role) };
                vec![Span::styled(mark, look), Span::styled(rest.to_owned(), style)]
            }
            (Some(_), _) | (_, _) => vec![Span::styled(text, style)],
        }
    }
}

/// Whether a line names what the lines below it belong to: it begins at the margin with a letter.
fn is_head(line: &str) -> bool {
    let starts = line.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '[');
    starts && line.len() > 2 && !line.trim_end().ends_with([':', ';'])
}

/// A mark in the last column tells which part of a long change is in sight.
fn draw_position(change: &ChangeView, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let (total, height) = (change.total(), usize::from(area.height));
    if total <= height || height == 0 {
        return;
    }
    let size = (height * height / total).max(1);
    let start = change.rows().start * (height - size) / (total - height).max(1);
    for (place, row) in area.rows().enumerate() {
        let is_in_sight = (start..start + size).contains(&place);
        let (mark, role) = if is_in_sight { ("┃", Role::Dim) } else { ("│", Role::Faint) };
        buf.set_string(row.right().saturating_sub(1), row.y, mark, cx.style(role));
    }
}
