//! The mouse: what a press, a drag or a turn of the wheel is about.
//!
//! Owns telling clicks from selections and from borders that are drawn. Must not change a pane.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::layout::{Layout, PaneId};
use super::resize;
use super::sizes::{Border, Sizes};

/// What the mouse asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointed {
    /// A click into a pane's body, from its upper left corner.
    Body(PaneId, Position),
    /// A click into a pane's title, in columns from its start.
    Title(PaneId, u16),
    /// A click into the composer or the timeline, counted from its first column and row.
    Bottom(Position),
    /// The wheel over a pane, or over none.
    Wheel(Option<PaneId>, WheelTurn),
    /// A border was moved.
    Resize(Sizes),
    /// Text is being selected.
    Select(TextSelection),
    /// The selection is complete: copy it.
    Copy(TextSelection),
}

/// Which way the wheel turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WheelTurn {
    /// Towards the start.
    Up,
    /// Towards the end.
    Down,
}

/// Text between two places of a pane, in the order it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextSelection {
    /// The pane's body.
    pub area: Rect,
    from: Position,
    to: Position,
}

impl TextSelection {
    /// Its rows as rectangles, from the top.
    pub fn rows(self) -> impl Iterator<Item = Rect> {
        let key = |at: &Position| (at.y, at.x);
        let (first, last) = if key(&self.from) <= key(&self.to) {
            (self.from, self.to)
        } else {
            (self.to, self.from)
        };
        let area = self.area;
        (first.y..=last.y).map(move |y| {
            let start = if y == first.y { first.x } else { area.x };
            let end = if y == last.y { last.x + 1 } else { area.right() };
            Rect { x: start, y, width: end.saturating_sub(start), height: 1 }.intersection(area)
        })
    }
}

/// The mouse from one event to the next.
#[derive(Debug, Default)]
pub struct Pointer {
    held: Option<Held>,
}

/// What the button was pressed on.
#[derive(Debug, Clone, Copy)]
enum Held {
    Border(Border),
    /// The title of the logs: a click, or the border above them.
    LogsTitle,
    Text(Rect, Position),
}

impl Pointer {
    /// Deals with one event.
    pub fn on(&mut self, mouse: MouseEvent, layout: &Layout, sizes: Sizes) -> Option<Pointed> {
        let at = Position::new(mouse.column, mouse.row);
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => self.press(at, layout),
            MouseEventKind::Drag(MouseButton::Left) => self.drag(at, layout, sizes),
            MouseEventKind::Up(MouseButton::Left) => match self.held.take() {
                Some(Held::Text(area, from)) if from != clamp(at, area) => {
                    Some(Pointed::Copy(TextSelection { area, from, to: clamp(at, area) }))
                }
                _ => None,
            },
            MouseEventKind::ScrollUp => Some(Pointed::Wheel(pane_at(at, layout), WheelTurn::Up)),
            MouseEventKind::ScrollDown => {
                Some(Pointed::Wheel(pane_at(at, layout), WheelTurn::Down))
            }
            _ => None,
        }
    }

    fn press(&mut self, at: Position, layout: &Layout) -> Option<Pointed> {
        self.held = layout.border_at(at).map(Held::Border);
        if self.held.is_some() {
            return None;
        }
        if layout.bottom.contains(at) {
            let inside = Position::new(at.x - layout.bottom.x, at.y - layout.bottom.y);
            return Some(Pointed::Bottom(inside));
        }
        let area = layout.pane_at(at)?;
        if area.title.contains(at) {
            if area.id == PaneId::Logs {
                self.held = Some(Held::LogsTitle);
            }
            return Some(Pointed::Title(area.id, at.x.saturating_sub(area.title.x + 2)));
        }
        self.held = Some(Held::Text(area.body, at));
        let inside = Position::new(at.x - area.body.x, at.y - area.body.y);
        Some(Pointed::Body(area.id, inside))
    }

    fn drag(&mut self, at: Position, layout: &Layout, sizes: Sizes) -> Option<Pointed> {
        match self.held? {
            Held::Border(border) => Some(Pointed::Resize(resize::moved(sizes, border, at, layout))),
            Held::LogsTitle => {
                let is_moved = layout.pane(PaneId::Logs).is_some_and(|logs| logs.title.y != at.y);
                is_moved.then(|| Pointed::Resize(resize::moved(sizes, Border::Logs, at, layout)))
            }
            Held::Text(area, from) => {
                let to = clamp(at, area);
                (to != from).then_some(Pointed::Select(TextSelection { area, from, to }))
            }
        }
    }
}

fn pane_at(at: Position, layout: &Layout) -> Option<PaneId> {
    layout.pane_at(at).map(|area| area.id)
}

/// The nearest place within `area`.
fn clamp(at: Position, area: Rect) -> Position {
    Position {
        x: at.x.clamp(area.x, area.right().saturating_sub(1).max(area.x)),
        y: at.y.clamp(area.y, area.bottom().saturating_sub(1).max(area.y)),
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::super::layout::{LayoutInput, LogsWish, StripWish};
    use super::*;

    fn layout(sizes: Sizes) -> Layout {
        let screen = Rect::new(0, 0, 120, 40);
        let (front, logs) = (PaneId::Chat, LogsWish::Full);
        let strip = StripWish::None;
        let bottom_rows = 1;
        Layout::new(&LayoutInput { screen, front, zoom: None, bottom_rows, logs, strip, sizes })
    }

    fn mouse(kind: MouseEventKind, column: u16, row: u16) -> MouseEvent {
        MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }
    }

    const DOWN: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
    const DRAG: MouseEventKind = MouseEventKind::Drag(MouseButton::Left);
    const UP: MouseEventKind = MouseEventKind::Up(MouseButton::Left);

    #[test]
    fn a_border_goes_where_it_is_dragged_and_stays_there() {
        let mut sizes = Sizes::default();
        let mut pointer = Pointer::default();
        let border = layout(sizes).pane(PaneId::Chat).unwrap().body.right();
        assert_eq!(pointer.on(mouse(DOWN, border, 9), &layout(sizes), sizes), None);
        for column in [border + 5, border + 9, border - 7] {
            let moved = pointer.on(mouse(DRAG, column, 12), &layout(sizes), sizes);
            let Some(Pointed::Resize(new)) = moved else { panic!("{moved:?}") };
            sizes = new;
            assert_eq!(layout(sizes).pane(PaneId::Chat).unwrap().body.right(), column);
        }
        assert_eq!(pointer.on(mouse(UP, border, 12), &layout(sizes), sizes), None);
        assert_eq!(pointer.on(mouse(DRAG, border, 12), &layout(sizes), sizes), None, "let go");
    }

    #[test]
    fn the_logs_are_made_higher_by_their_title_which_still_can_be_clicked() {
        let sizes = Sizes::default();
        let mut pointer = Pointer::default();
        let title = layout(sizes).pane(PaneId::Logs).unwrap().title;
        let clicked = pointer.on(mouse(DOWN, 7, title.y), &layout(sizes), sizes);
        assert_eq!(clicked, Some(Pointed::Title(PaneId::Logs, 5)));
        assert_eq!(pointer.on(mouse(DRAG, 9, title.y), &layout(sizes), sizes), None);
        let moved = pointer.on(mouse(DRAG, 9, title.y - 6), &layout(sizes), sizes);
        let Some(Pointed::Resize(new)) = moved else { panic!("{moved:?}") };
        assert_eq!(layout(new).pane(PaneId::Logs).unwrap().title.y, title.y - 6);
    }

    #[test]
    fn text_is_selected_within_its_pane_only() {
        let sizes = Sizes::default();
        let mut pointer = Pointer::default();
        let body = layout(sizes).pane(PaneId::Chat).unwrap().body;
        let from = (body.x + 4, body.y + 2);
        pointer.on(mouse(DOWN, from.0, from.1), &layout(sizes), sizes);
        assert_eq!(pointer.on(mouse(UP, from.0, from.1), &layout(sizes), sizes), None, "a click");
        pointer.on(mouse(DOWN, from.0, from.1), &layout(sizes), sizes);
        let selected = pointer.on(mouse(UP, 0, from.1 + 1), &layout(sizes), sizes);
        let Some(Pointed::Copy(selection)) = selected else { panic!("{selected:?}") };
        let rows: Vec<Rect> = selection.rows().collect();
        assert_eq!(rows[0], Rect { x: from.0, y: from.1, width: body.width - 4, height: 1 });
        assert_eq!(rows[1], Rect { x: body.x, y: from.1 + 1, width: 1, height: 1 });
    }
}
