//! A program in Reverty three times: its source, its syntax tree and its Python, each with the
//! selection where the others have it.
//!
//! Owns what is selected; the three are linked by the lines of the source. Must not change the program.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::text::colouring::Colouring;
use crate::text::{reverty, sanitize};
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::role::Role;

use super::pick;
use super::preview::{self, Pieces};

/// Narrower screens have the three views below each other.
const WIDE: u16 = 100;

/// Rows of the heading of a view.
const HEADING: u16 = 1;

/// Rows that one step of a page goes.
const PAGE: usize = 10;

/// A row of a view, and the line of the source that it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ViewRow {
    text: String,
    /// The text in colours.
    pieces: Pieces,
    /// Counted from 1; `None`: nothing of the source.
    line: Option<u32>,
}

/// One of the three.
#[derive(Debug)]
struct LinkedView {
    title: &'static str,
    rows: Vec<ViewRow>,
}

/// The three views of a program.
#[derive(Debug)]
pub struct RevertyViews {
    /// The path of the program.
    title: String,
    views: Vec<LinkedView>,
    /// The view that has the keys, and its selected row.
    focus: usize,
    row: usize,
}

impl RevertyViews {
    /// The views of a program.
    ///
    /// # Errors
    /// What is wrong with its form, in a sentence.
    pub fn new(path: &str, text: &str) -> Result<Self, String> {
        let first = |faults: Vec<reverty::Fault>| match faults.first() {
            Some(fault) => format!(
                "line {}, column {}: {}",
                fault.line,
                fault.column,
                sanitize::line(&fault.message)
            ),
            None => "it is not a program in Reverty".to_owned(),
        };
        let tree = reverty::tree(text).map_err(first)?;
        let mut nodes = Vec::new();
        add_nodes(&tree, 0, &mut nodes);
        let python = match reverty::to_python(text) {
            Ok(python) => rows_of(&python.text, "python", |number| python.line_of(number)),
            Err(faults) => vec![ViewRow::plain(first(faults), None)],
        };
        let source = rows_of(text, "reverty", |number| u32::try_from(number).ok());
        let view = |title, rows| LinkedView { title, rows };
        Ok(Self {
            title: line::clean(path),
            views: vec![
                view("Reverty", source),
                view("Syntax tree", nodes),
                view("Python", python),
            ],
            focus: 0,
            row: 0,
        })
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        let last = self.focused().map_or(0, |view| view.rows.len().saturating_sub(1));
        match action {
            Action::Left => self.turn_to((self.focus + self.views.len() - 1) % self.views.len()),
            Action::Right => self.turn_to((self.focus + 1) % self.views.len()),
            _ if pick::paged(action, &mut self.row, last, PAGE) => {}
            _ => return vec![Effect::Close],
        }
        Vec::new()
    }

    fn focused(&self) -> Option<&LinkedView> {
        self.views.get(self.focus)
    }

    /// The line of the source that is selected.
    fn line(&self) -> Option<u32> {
        self.focused()?.rows.get(self.row)?.line
    }

    /// Gives another view the keys; its row is the one that was selected there anyway.
    fn turn_to(&mut self, place: usize) {
        let line = self.line();
        let row = self.views.get(place).and_then(|view| view.first_of(line));
        (self.focus, self.row) = (place, row.unwrap_or(0));
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let hint = " ↑↓ move · ←→ view · esc back ";
        let size = (screen.width.saturating_sub(6), screen.height.saturating_sub(4));
        let inside = super::frame(&self.title, hint, size, screen, buf, cx);
        for (place, area) in areas(inside, screen.width).into_iter().enumerate() {
            if let Some(view) = self.views.get(place) {
                self.draw_view((place, view), area, buf, cx);
            }
        }
    }

    fn draw_view(
        &self,
        (place, view): (usize, &LinkedView),
        area: Rect,
        buf: &mut Buffer,
        cx: &Cx<'_>,
    ) {
        let is_focused = place == self.focus;
        let (mark, role) = if is_focused { ("▸", Role::Dialog) } else { (" ", Role::DialogDim) };
        let head = format!("{mark} {}", view.title);
        line::draw(&cx.line(head, role), Rect { height: 1, ..area }, buf);
        let below =
            Rect { y: area.y + HEADING, height: area.height.saturating_sub(HEADING), ..area };
        let selected = self.line();
        let row = if is_focused { Some(self.row) } else { view.first_of(selected) };
        let height = usize::from(below.height);
        let top = row.unwrap_or(0).saturating_sub(height / 2);
        let top = top.min(view.rows.len().saturating_sub(height));
        for ((number, row), at) in view.rows.iter().enumerate().skip(top).zip(below.rows()) {
            let is_here = is_focused && number == self.row;
            let lead = if is_here { "› " } else { "  " };
            let lead = cx.span(lead, Role::Accent);
            let pieces = row.pieces.iter();
            let pieces = pieces.map(|(text, role)| cx.span(text.as_str(), *role));
            let spans: Vec<Span<'_>> = std::iter::once(lead).chain(pieces).collect();
            line::draw(&Line::from(spans), at, buf);
            let is_linked = selected.is_some() && row.line == selected;
            if is_linked || is_here {
                buf.set_style(at, cx.selection());
            }
        }
    }
}

impl ViewRow {
    fn plain(text: String, line: Option<u32>) -> Self {
        let pieces = vec![(text.clone(), Role::Dialog)];
        Self { text, pieces, line }
    }
}

/// Longest program that is coloured, in bytes: it must not be waited for.
const MOST_COLOURED: usize = 64 << 10;

/// The lines of a text in a language that Markdown has a name for, each with the line of the source
/// that it comes from.
fn rows_of(text: &str, language: &str, line_of: impl Fn(usize) -> Option<u32>) -> Vec<ViewRow> {
    let colouring = Colouring::named(language).filter(|_| text.len() <= MOST_COLOURED);
    let coloured = preview::lines(text, colouring).into_iter().chain(std::iter::repeat(Vec::new()));
    let rows = (1..).zip(text.lines()).zip(coloured);
    rows.map(|((number, text), pieces)| ViewRow {
        text: clean(text),
        pieces,
        line: line_of(number),
    })
    .collect()
}

impl LinkedView {
    /// The first row that comes from this line of the source, or else the last one before it.
    fn first_of(&self, line: Option<u32>) -> Option<usize> {
        let line = line?;
        let exact = self.rows.iter().position(|row| row.line == Some(line));
        exact.or_else(|| self.rows.iter().rposition(|row| row.line.is_some_and(|own| own < line)))
    }
}

/// Where the three views are: side by side, or below each other on a narrow screen.
fn areas(inside: Rect, columns: u16) -> [Rect; 3] {
    if columns >= WIDE {
        let width = inside.width.saturating_sub(2) / 3;
        return [0, 1, 2].map(|place| Rect { x: inside.x + place * (width + 1), width, ..inside });
    }
    let height = inside.height / 3;
    [0, 1, 2].map(|place| {
        let rest = if place == 2 { inside.height - 3 * height } else { 0 };
        Rect { y: inside.y + place * height, height: height + rest, ..inside }
    })
}

/// The nodes of a tree as indented rows.
fn add_nodes(node: &reverty::Node, depth: usize, rows: &mut Vec<ViewRow>) {
    let text = format!("{}{} {}", "  ".repeat(depth), node.kind, node.text);
    let line = (depth > 0).then_some(node.line);
    let text = clean(text.trim_end());
    let (kind, rest) = text.split_at_checked(2 * depth + node.kind.len()).unwrap_or((&text, ""));
    let pieces = vec![(kind.to_owned(), Role::SynKeyword), (rest.to_owned(), Role::Dialog)];
    rows.push(ViewRow { pieces, line, text });
    node.children.iter().for_each(|child| add_nodes(child, depth + 1, rows));
}

/// A line as it may be drawn.
fn clean(text: &str) -> String {
    line::clean(&text.replace('\t', "    "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = ":tni -> (tni: n) twice fed\n    nruter n * 2\n\n:enoN -> () main fed\n    print(twice(4))\n";

    fn views() -> RevertyViews {
        RevertyViews::new("program.rev", PROGRAM).unwrap()
    }

    fn selected(views: &RevertyViews) -> Vec<String> {
        let line = views.line();
        let row = |view: &LinkedView| {
            view.first_of(line).map(|row| view.rows[row].text.trim().to_owned())
        };
        views.views.iter().filter_map(row).collect()
    }

    #[test]
    fn moving_in_one_view_moves_in_the_others() {
        let mut views = views();
        views.on_action(Action::Down);
        assert_eq!(selected(&views), ["nruter n * 2", "return", "return n * 2"]);
        views.on_action(Action::Right);
        views.on_action(Action::Right);
        assert_eq!(views.line(), Some(2), "the view of Python begins where the others are");
        views.on_action(Action::Bottom);
        assert_eq!(views.line(), Some(4), "the call of `main` comes from its definition");
        views.on_action(Action::Left);
        assert_eq!(selected(&views)[0], ":enoN -> () main fed");
        views.on_action(Action::Top);
        assert_eq!(views.line(), None, "the whole program is no line");
    }

    #[test]
    fn what_does_not_parse_is_told_with_its_place() {
        let fault = RevertyViews::new("a.rev", ":tni -> (tni: n) twice fed\n    return n\n");
        assert!(fault.unwrap_err().starts_with("line 2, column 5: "));
    }

    #[test]
    fn three_views_fit_on_every_screen() {
        for (columns, rows) in [(80, 20), (120, 36), (40, 8)] {
            let inside = Rect::new(2, 1, columns - 6, rows);
            for area in areas(inside, columns) {
                assert_eq!(area.intersection(inside), area, "{columns}");
            }
        }
    }
}
