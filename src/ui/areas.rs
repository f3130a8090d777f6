//! Where everything is on the screen: its size, the sizes of panes that the person chose, and the
//! rectangles that come of both.

use ratatui::layout::{Rect, Size};

use crate::view::SessionView;

use super::action::Action;
use super::focus::Focus;
use super::layout::{Layout, LayoutInput, LogsWish, PaneId, Shape, StripWish};
use super::resize;
use super::screen_kind::ScreenKind;
use super::sizes::Sizes;

/// The places of the panes, as they were last arranged.
pub(super) struct Areas {
    /// Size of the screen; another one is used when everything is arranged next.
    pub size: Size,
    /// What was made larger or smaller.
    pub sizes: Sizes,
    pub layout: Layout,
}

impl Areas {
    /// A screen of that size on which nothing happens yet.
    pub(super) fn new(size: Size, sizes: Sizes, focus: &Focus) -> Self {
        let layout = arranged((size, sizes), focus, 1, LogsWish::Quiet);
        Self { size, sizes, layout }
    }

    /// Arranges everything for what there is in the session.
    pub(super) fn arrange(&mut self, focus: &Focus, bottom_rows: u16, view: &SessionView) {
        let is_quiet = view.logs.builds.is_empty() && view.logs.serials.is_empty();
        let logs = if is_quiet { LogsWish::Quiet } else { LogsWish::Full };
        self.layout = arranged((self.size, self.sizes), focus, bottom_rows, logs);
    }

    /// Makes a pane larger or smaller.
    ///
    /// # Errors
    /// Why that makes no sense now.
    pub(super) fn nudge(&mut self, id: PaneId, action: Action) -> Result<(), &'static str> {
        self.sizes = resize::nudged(self.sizes, id, action, &self.layout)?;
        Ok(())
    }

    /// Whether the terminal is large enough to decide anything in it.
    pub(super) fn is_usable(&self) -> bool {
        self.layout.shape != Shape::TooSmall
    }

    /// Whether a pane is on the screen.
    pub(super) fn shows(&self, id: PaneId) -> bool {
        self.layout.pane(id).is_some()
    }
}

fn arranged(
    (size, sizes): (Size, Sizes),
    focus: &Focus,
    bottom_rows: u16,
    logs: LogsWish,
) -> Layout {
    let screen = Rect::new(0, 0, size.width, size.height);
    let (front, zoom) = (focus.front(), focus.zoom());
    // Only a team has runs of which there is something to tell.
    let is_of_team = focus.kind() == ScreenKind::Team;
    let strip = if is_of_team { StripWish::Kept } else { StripWish::None };
    Layout::new(&LayoutInput { screen, front, zoom, bottom_rows, logs, strip, sizes })
}
