//! Which part of the screen shows what, for every size of terminal.
//!
//! Pure arithmetic on rectangles; must not know what panes hold.

use ratatui::layout::{Position, Rect};
use serde::{Deserialize, Serialize};

use super::sizes::{Border, Sizes, part};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaneId {
    /// The project's files.
    Project,
    Chat,
    Review,
    /// Build, serial and event logs.
    Logs,
}

impl PaneId {
    /// All of them, in the order of their keys.
    pub const ALL: [Self; 4] = [Self::Project, Self::Chat, Self::Review, Self::Logs];

    /// Name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Project => "Project",
            Self::Chat => "Chat",
            Self::Review => "Review",
            Self::Logs => "Logs",
        }
    }

    /// The pane after it, around the corner.
    #[must_use]
    pub const fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// The pane before it, around the corner.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self::ALL[(self as usize + Self::ALL.len() - 1) % Self::ALL.len()]
    }
}

/// How much room there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// All panes side by side.
    Wide,
    /// One pane above the logs.
    Medium,
    /// One pane at a time.
    Narrow,
    /// Not enough for anything.
    TooSmall,
}

/// Least width and height of each shape.
const WIDE: (u16, u16) = (120, 36);
const MEDIUM: (u16, u16) = (90, 30);
/// The smallest terminal that is of use.
pub const LEAST: (u16, u16) = (60, 16);

impl Shape {
    /// The shape for a terminal of that size.
    #[must_use]
    pub const fn of(width: u16, height: u16) -> Self {
        if width >= WIDE.0 && height >= WIDE.1 {
            Self::Wide
        } else if width >= MEDIUM.0 && height >= MEDIUM.1 {
            Self::Medium
        } else if width >= LEAST.0 && height >= LEAST.1 {
            Self::Narrow
        } else {
            Self::TooSmall
        }
    }
}

/// What a layout depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutInput {
    /// The whole screen.
    pub screen: Rect,
    /// The pane that the person is turned to.
    pub front: PaneId,
    /// The pane that has the whole screen, if one has.
    pub zoom: Option<PaneId>,
    /// Rows that the composer or the timeline needs.
    pub bottom_rows: u16,
    /// Whether there is anything in the logs yet.
    pub logs: LogsWish,
    /// Whether a row tells about the run.
    pub strip: StripWish,
    /// What the person made larger or smaller.
    pub sizes: Sizes,
}

/// Least columns and rows of a pane beside others.
const LEAST_PANE: (u16, u16) = (14, 3);

/// Least columns of chat and review.
const LEAST_TEXT: u16 = 30;

/// How much room the logs need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogsWish {
    /// There is nothing in them yet.
    Quiet,
    Full,
}

/// Whether a row below the header tells about the run. It is kept free before there is anything to
/// tell, so that the panes do not move when the run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StripWish {
    /// There are no runs on this screen.
    None,
    Kept,
}

/// Columns of a review that shows two versions beside each other.
const SIDE_BY_SIDE: u16 = 86;

/// Columns of the screen from which on it does so by itself.
pub const WIDE_ENOUGH: u16 = 160;

/// Least columns of the chat beside it.
const LEAST_CHAT: u16 = 44;

/// Rows of logs with nothing in them, the title included.
const QUIET_ROWS: u16 = 3;

/// A pane's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaneArea {
    pub id: PaneId,
    /// One row for its title.
    pub title: Rect,
    pub body: Rect,
}

/// Every part's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// How much room there is.
    pub shape: Shape,
    /// One row at the top.
    pub header: Rect,
    /// One row below it about the run; empty where there is no room.
    pub strip: Rect,
    /// Panes that show.
    pub panes: Vec<PaneArea>,
    /// The composer, or the timeline of a replay.
    pub bottom: Rect,
    /// One row of hints.
    pub hints: Rect,
}

impl Layout {
    /// Lays the screen out.
    #[must_use]
    pub fn new(wish: &LayoutInput) -> Self {
        let screen = wish.screen;
        let shape = Shape::of(screen.width, screen.height);
        if shape == Shape::TooSmall {
            let none = Rect::default();
            let panes = Vec::new();
            return Self { shape, header: screen, strip: none, panes, bottom: none, hints: none };
        }
        let bottom_rows = wish.bottom_rows.min(screen.height / 3);
        let [header, rest] = split_top(screen, 1);
        let strip_rows = match (wish.strip, shape) {
            (StripWish::Kept, Shape::Wide | Shape::Medium) => 1,
            (StripWish::Kept, Shape::Narrow | Shape::TooSmall) | (StripWish::None, _) => 0,
        };
        let [strip, rest] = split_top(rest, strip_rows);
        let [rest, hints] = split_bottom(rest, 1);
        let [main, bottom] = split_bottom(rest, bottom_rows);
        let panes = match (wish.zoom, shape) {
            (Some(id), _) => vec![pane(id, main)],
            (None, Shape::Wide) => wide(main, wish),
            (None, Shape::Medium) => medium(main, wish),
            (None, Shape::Narrow | Shape::TooSmall) => vec![pane(wish.front, main)],
        };
        Self { shape, header, strip, panes, bottom, hints }
    }

    /// Where `id` is, if it shows.
    #[must_use]
    pub fn pane(&self, id: PaneId) -> Option<&PaneArea> {
        self.panes.iter().find(|pane| pane.id == id)
    }

    /// The room of all panes together.
    #[must_use]
    pub fn main(&self) -> Rect {
        let areas = self.panes.iter().flat_map(|pane| [pane.title, pane.body]);
        areas.reduce(Rect::union).unwrap_or_default()
    }

    /// The border between two panes beside each other at a place of the screen.
    #[must_use]
    pub fn border_at(&self, at: Position) -> Option<Border> {
        let is_right_of = |id: PaneId| {
            self.pane(id).is_some_and(|pane| {
                at.x == pane.body.right() && (pane.title.y..pane.body.bottom()).contains(&at.y)
            })
        };
        match self.shape {
            Shape::Wide if self.panes.len() > 1 && is_right_of(PaneId::Project) => {
                Some(Border::Project)
            }
            Shape::Wide if self.panes.len() > 1 && is_right_of(PaneId::Chat) => Some(Border::Chat),
            Shape::Wide | Shape::Medium | Shape::Narrow | Shape::TooSmall => None,
        }
    }

    /// The pane at a place of the screen.
    #[must_use]
    pub fn pane_at(&self, at: Position) -> Option<&PaneArea> {
        self.panes.iter().find(|pane| pane.title.contains(at) || pane.body.contains(at))
    }
}

fn wide(main: Rect, wish: &LayoutInput) -> Vec<PaneArea> {
    let front = wish.front;
    let rows = match (front, wish.logs) {
        _ if wish.sizes.logs.is_some() => logs_rows(main, wish),
        (PaneId::Logs, _) => (main.height * 2 / 5).min(24),
        (_, LogsWish::Quiet) => QUIET_ROWS,
        (_, LogsWish::Full) => (main.height / 4).clamp(7, 24),
    };
    let [top, logs] = split_bottom(main, rows);
    let project_width = match wish.sizes.project {
        Some(share) => {
            let most = main.width.saturating_sub(2 * LEAST_TEXT + 2).min(main.width / 2);
            part(share, main.width, LEAST_PANE.0, most)
        }
        None => (main.width / 6).clamp(26, 34),
    };
    let [project, rest] = split_left(top, project_width);
    let rest = without_left(rest, 1);
    let chat_width = match wish.sizes.chat {
        Some(share) => {
            let most = rest.width.saturating_sub(LEAST_TEXT + 1);
            part(share, rest.width, LEAST_TEXT, most)
        }
        None => usual_chat(main.width, rest.width),
    };
    let [chat, review] = split_left(rest, chat_width);
    vec![
        pane(PaneId::Project, project),
        pane(PaneId::Chat, chat),
        pane(PaneId::Review, without_left(review, 1)),
        pane(PaneId::Logs, logs),
    ]
}

/// Columns of the chat, of a hundred that it shares with the review.
const CHAT_SHARE: u32 = 42;

/// Columns of the chat; they depend on nothing that happens in the session, as text that one reads
/// must not be wrapped again by a proposal that comes.
fn usual_chat(screen: u16, rest: u16) -> u16 {
    let usual = u16::try_from(u32::from(rest) * CHAT_SHARE / 100).unwrap_or(rest / 2);
    if screen < WIDE_ENOUGH {
        return usual;
    }
    usual.min(rest.saturating_sub(SIDE_BY_SIDE + 1).max(LEAST_CHAT))
}

/// Rows of the logs as the person wants them; what is above them stays of use.
fn logs_rows(main: Rect, wish: &LayoutInput) -> u16 {
    let most = main.height.saturating_sub(8);
    part(wish.sizes.logs.unwrap_or(0), main.height, LEAST_PANE.1, most)
}

fn medium(main: Rect, wish: &LayoutInput) -> Vec<PaneArea> {
    let (upper, rows) = match (wish.front, wish.logs) {
        (PaneId::Logs, _) if wish.sizes.logs.is_some() => (PaneId::Chat, logs_rows(main, wish)),
        (upper, _) if wish.sizes.logs.is_some() => (upper, logs_rows(main, wish)),
        (PaneId::Logs, _) => (PaneId::Chat, main.height / 2),
        (upper, LogsWish::Quiet) => (upper, QUIET_ROWS),
        (upper, LogsWish::Full) => (upper, (main.height / 4).max(6)),
    };
    let [top, logs] = split_bottom(main, rows);
    vec![pane(upper, top), pane(PaneId::Logs, logs)]
}

fn pane(id: PaneId, area: Rect) -> PaneArea {
    let [title, body] = split_top(area, 1);
    PaneArea { id, title, body }
}

fn split_top(area: Rect, rows: u16) -> [Rect; 2] {
    let rows = rows.min(area.height);
    let top = Rect { height: rows, ..area };
    [top, Rect { y: area.y + rows, height: area.height - rows, ..area }]
}

fn split_bottom(area: Rect, rows: u16) -> [Rect; 2] {
    split_top(area, area.height.saturating_sub(rows))
}

fn split_left(area: Rect, columns: u16) -> [Rect; 2] {
    let columns = columns.min(area.width);
    let left = Rect { width: columns, ..area };
    [left, Rect { x: area.x + columns, width: area.width - columns, ..area }]
}

/// `area` without some columns at its left.
fn without_left(area: Rect, columns: u16) -> Rect {
    let [_, rest] = split_left(area, columns);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(width: u16, height: u16, front: PaneId) -> Layout {
        let screen = Rect::new(0, 0, width, height);
        Layout::new(&LayoutInput {
            screen,
            front,
            zoom: None,
            bottom_rows: 1,
            logs: LogsWish::Full,
            strip: StripWish::None,
            sizes: Sizes::default(),
        })
    }

    fn shown(layout: &Layout) -> Vec<PaneId> {
        layout.panes.iter().map(|pane| pane.id).collect()
    }

    #[test]
    fn panes_come_and_go_with_the_size() {
        assert_eq!(shown(&layout(120, 36, PaneId::Chat)), PaneId::ALL);
        assert_eq!(shown(&layout(119, 36, PaneId::Review)), [PaneId::Review, PaneId::Logs]);
        assert_eq!(shown(&layout(119, 36, PaneId::Logs)), [PaneId::Chat, PaneId::Logs]);
        assert_eq!(shown(&layout(80, 24, PaneId::Logs)), [PaneId::Logs]);
        assert_eq!(layout(59, 24, PaneId::Chat).shape, Shape::TooSmall);
    }

    #[test]
    fn columns_stay_where_they_are_whoever_has_the_keys() {
        let widths = |front| {
            let layout = layout(120, 40, front);
            [PaneId::Chat, PaneId::Review].map(|id| layout.pane(id).unwrap().body.width)
        };
        assert_eq!(widths(PaneId::Chat), widths(PaneId::Review));
        assert_eq!(usual_chat(120, 93), 39);
        for width in 160..=240 {
            let review = layout(width, 50, PaneId::Review).pane(PaneId::Review).unwrap().body;
            assert!(review.width >= SIDE_BY_SIDE, "{width}: {review:?}");
        }
    }

    #[test]
    fn a_zoomed_pane_has_the_screen_to_itself() {
        let screen = Rect::new(0, 0, 200, 60);
        let wish = LayoutInput {
            screen,
            front: PaneId::Chat,
            zoom: Some(PaneId::Logs),
            bottom_rows: 1,
            logs: LogsWish::Full,
            strip: StripWish::None,
            sizes: Sizes::default(),
        };
        let layout = Layout::new(&wish);
        assert_eq!(shown(&layout), [PaneId::Logs]);
        assert_eq!(layout.panes[0].body, Rect::new(0, 2, 200, 56));
    }

    #[test]
    fn parts_never_overlap_nor_leave_the_screen() {
        let shares = [None, Some(0), Some(333), Some(1_000)];
        let all = shares.map(|share| Sizes { project: share, chat: share, logs: share });
        let sizes = [(60, 16), (80, 24), (95, 31), (120, 36), (200, 60), (400, 150)];
        for (width, height) in sizes {
            for (front, sizes) in PaneId::ALL.into_iter().flat_map(|id| all.map(|all| (id, all))) {
                let screen = Rect::new(0, 0, width, height);
                let (logs, strip) = (LogsWish::Full, StripWish::Kept);
                let wish =
                    LayoutInput { screen, front, zoom: None, bottom_rows: 1, logs, strip, sizes };
                let layout = Layout::new(&wish);
                let mut parts = vec![layout.header, layout.bottom, layout.hints];
                parts.extend(Some(layout.strip).filter(|strip| !strip.is_empty()));
                parts.extend(layout.panes.iter().flat_map(|pane| [pane.title, pane.body]));
                for (place, part) in parts.iter().enumerate() {
                    assert!(part.area() > 0, "{width}x{height} {front:?}: {part:?}");
                    assert!(part.right() <= width && part.bottom() <= height);
                    for other in &parts[place + 1..] {
                        assert!(!part.intersects(*other), "{part:?} {other:?}");
                    }
                }
            }
        }
    }
}
