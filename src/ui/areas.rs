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
    size: Size,
    sizes: Sizes,
    layout: Layout,
}

/// What the parts of a screen need of its space.
struct Wishes {
    bottom_rows: u16,
    logs: LogsWish,
    strip: StripWish,
}

impl Areas {
    /// A screen of that size on which nothing happens yet.
    pub(super) fn new(size: Size, sizes: Sizes, focus: &Focus) -> Self {
        let wishes = Wishes { bottom_rows: 1, logs: LogsWish::Quiet, strip: strip_wish(focus) };
        let layout = arranged(size, sizes, focus, wishes);
        Self { size, sizes, layout }
    }

    /// Arranges everything for what there is in the session.
    pub(super) fn arrange(&mut self, focus: &Focus, bottom_rows: u16, view: &SessionView) {
        let is_quiet = view.logs.builds.is_empty() && view.logs.serials.is_empty();
        let logs = if is_quiet { LogsWish::Quiet } else { LogsWish::Full };
        let wishes = Wishes { bottom_rows, logs, strip: strip_wish(focus) };
        self.layout = arranged(self.size, self.sizes, focus, wishes);
    }

    pub(super) const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Size of the screen.
    pub(super) const fn size(&self) -> Size {
        self.size
    }

    /// The screen has another size; it is used when everything is arranged next.
    pub(super) const fn resize(&mut self, size: Size) {
        self.size = size;
    }

    /// What was made larger or smaller.
    pub(super) const fn sizes(&self) -> Sizes {
        self.sizes
    }

    pub(super) const fn set_sizes(&mut self, sizes: Sizes) {
        self.sizes = sizes;
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

/// Only a team has runs of which there is something to tell.
fn strip_wish(focus: &Focus) -> StripWish {
    match focus.kind() == ScreenKind::Team {
        true => StripWish::Kept,
        false => StripWish::None,
    }
}

fn arranged(size: Size, sizes: Sizes, focus: &Focus, wishes: Wishes) -> Layout {
    let Wishes { bottom_rows, logs, strip } = wishes;
    let screen = Rect::new(0, 0, size.width, size.height);
    let (front, zoom) = (focus.front(), focus.zoom());
    Layout::new(&LayoutInput { screen, front, zoom, bottom_rows, logs, strip, sizes })
}
