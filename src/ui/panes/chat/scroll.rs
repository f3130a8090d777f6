//! Which rows of the conversation are on screen.
//!
//! A place is an entry and a row in it, never a count of all rows above: those need not be known.

use crate::ui::pane::{Cx, Effect};
use crate::view::ChatEntry;

use super::anchor::Anchor;
use super::layouts::Layouts;

/// With more entries than this since the person left the end, their rows are not counted.
const MAX_COUNTED: usize = 256;

/// Where the pane is scrolled to, and the rows on screen that come of it.
#[derive(Debug, Default)]
pub(super) struct Scroll {
    /// Rows of the screen.
    height: u16,
    /// The first row on screen.
    top: Anchor,
    /// Where the end was when the person left it; `None`: it sticks to the end.
    left_at: Option<Anchor>,
    /// Rows that came since.
    new_rows: usize,
    /// Rows on screen.
    visible: Vec<Anchor>,
}

impl Scroll {
    pub const fn follows(&self) -> bool {
        self.left_at.is_none()
    }

    /// Sticks to the end.
    pub const fn follow(&mut self) {
        self.left_at = None;
        self.new_rows = 0;
    }

    /// Rows that came since the person left the end.
    pub const fn new_rows(&self) -> usize {
        self.new_rows
    }

    /// Rows of the screen.
    pub const fn height(&self) -> u16 {
        self.height
    }

    pub const fn set_height(&mut self, rows: u16) {
        self.height = rows;
    }

    /// Rows on screen, as of the last [`Self::find_visible`].
    pub fn visible(&self) -> &[Anchor] {
        &self.visible
    }

    pub fn is_in_sight(&self, anchor: Anchor) -> bool {
        self.visible.contains(&anchor)
    }

    /// Brings a row on screen unless it is there, one `share`th of the screen below its top.
    pub fn reveal(&mut self, anchor: Anchor, share: u16, layouts: &mut Layouts, cx: &Cx<'_>) {
        if !self.is_in_sight(anchor) {
            self.go_to(anchor, layouts, cx);
            let above = isize::try_from(self.height / share.max(1)).unwrap_or(0);
            self.move_by(-above, layouts, cx);
        }
    }

    /// From now on the screen stays where it is.
    pub(super) fn leave_bottom(&mut self, layouts: &mut Layouts, cx: &Cx<'_>) {
        if self.follows() {
            let entry = cx.view.chat.entries.len().saturating_sub(1);
            let row = layouts.rows(entry, cx);
            self.left_at = Some(Anchor { entry, row });
        }
    }

    pub(super) fn go_to(&mut self, anchor: Anchor, layouts: &mut Layouts, cx: &Cx<'_>) {
        self.leave_bottom(layouts, cx);
        self.top = anchor;
    }

    /// Scrolls by some rows, up when negative.
    pub(super) fn move_by(&mut self, rows: isize, layouts: &mut Layouts, cx: &Cx<'_>) {
        if rows > 0 && self.follows() {
            return;
        }
        self.leave_bottom(layouts, cx);
        let mut top = self.top;
        let mut left = rows.unsigned_abs();
        if rows < 0 {
            while left > top.row && top.entry > 0 {
                left -= top.row + 1;
                top.entry -= 1;
                top.row = layouts.rows(top.entry, cx).saturating_sub(1);
            }
            top.row = top.row.saturating_sub(left);
        } else {
            let last = cx.view.chat.entries.len().saturating_sub(1);
            loop {
                let below = layouts.rows(top.entry, cx).saturating_sub(top.row + 1);
                if left <= below || top.entry >= last {
                    top.row += left.min(below);
                    break;
                }
                left -= below + 1;
                top = Anchor { entry: top.entry + 1, row: 0 };
            }
        }
        self.top = top;
    }

    /// Finds the rows on screen, and sticks to the end again once it is in sight.
    pub(super) fn find_visible(&mut self, layouts: &mut Layouts, cx: &Cx<'_>) {
        let entries = cx.view.chat.entries.len();
        self.visible.clear();
        if !self.follows() && self.top.entry < entries && self.fill_from_top(entries, layouts, cx) {
            self.count_new(entries, layouts, cx);
            return;
        }
        self.follow();
        if entries == 0 {
            return;
        }
        self.fill_from_bottom(entries, layouts, cx);
        self.top = self.visible.first().copied().unwrap_or_default();
    }

    /// Tells whether there is more below the screen.
    fn fill_from_top(&mut self, entries: usize, layouts: &mut Layouts, cx: &Cx<'_>) -> bool {
        let height = usize::from(self.height);
        let mut anchor = self.top;
        while anchor.entry < entries {
            let rows = layouts.rows(anchor.entry, cx);
            while anchor.row < rows {
                if self.visible.len() == height {
                    return true;
                }
                self.visible.push(anchor);
                anchor.row += 1;
            }
            anchor = Anchor { entry: anchor.entry + 1, row: 0 };
        }
        false
    }

    fn fill_from_bottom(&mut self, entries: usize, layouts: &mut Layouts, cx: &Cx<'_>) {
        let height = usize::from(self.height);
        self.visible.clear();
        for entry in (0..entries).rev() {
            let rows = layouts.rows(entry, cx);
            let space = height - self.visible.len();
            self.visible.extend((0..rows).rev().take(space).map(|row| Anchor { entry, row }));
            if self.visible.len() == height {
                break;
            }
        }
        self.visible.reverse();
    }

    fn count_new(&mut self, entries: usize, layouts: &mut Layouts, cx: &Cx<'_>) {
        let Some(left) = self.left_at else { return };
        if left.entry >= entries {
            self.left_at = Some(Anchor { entry: entries - 1, row: usize::MAX });
            self.new_rows = 0;
            return;
        }
        let mut rows = layouts.rows(left.entry, cx).saturating_sub(left.row);
        for entry in (left.entry + 1..entries).take(MAX_COUNTED) {
            rows += layouts.rows(entry, cx);
        }
        self.new_rows = rows;
    }

    pub(super) fn next_turn(&mut self, layouts: &mut Layouts, cx: &Cx<'_>) -> Vec<Effect> {
        let entries = &cx.view.chat.entries;
        let from = self.top.entry + 1;
        match entries.iter().skip(from).position(|entry| is_turn(entry)) {
            Some(ahead) if !self.follows() => {
                self.go_to(Anchor { entry: from + ahead, row: 0 }, layouts, cx);
                Vec::new()
            }
            _ => {
                self.follow();
                Effect::info("this is the last turn")
            }
        }
    }

    pub(super) fn previous_turn(&mut self, layouts: &mut Layouts, cx: &Cx<'_>) -> Vec<Effect> {
        let top = self.top;
        let until = if top.row > 0 { top.entry + 1 } else { top.entry };
        match cx.view.chat.entries.iter().take(until).rposition(|entry| is_turn(entry)) {
            Some(entry) => {
                self.go_to(Anchor { entry, row: 0 }, layouts, cx);
                Vec::new()
            }
            None => {
                self.go_to(Anchor::default(), layouts, cx);
                Effect::info("this is the first turn")
            }
        }
    }
}

fn is_turn(entry: &ChatEntry) -> bool {
    matches!(entry, ChatEntry::Turn(_) | ChatEntry::Person { .. } | ChatEntry::Question { .. })
}
