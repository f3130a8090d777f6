//! Which rows of the conversation are on screen.
//!
//! A place is an entry and a row in it, never a count of all rows above: those need not be known.

use crate::ui::pane::{Cx, Effect};
use crate::view::ChatEntry;

use super::ChatPane;
use super::anchor::Anchor;

/// With more entries than this since the person left the end, their rows are not counted.
const MAX_COUNTED: usize = 256;

impl ChatPane {
    /// From now on the screen stays where it is.
    pub(super) fn leave_bottom(&mut self, cx: &Cx<'_>) {
        if self.scroll.follows() {
            let entry = cx.view.chat.entries.len().saturating_sub(1);
            let row = self.rows(entry, cx);
            self.scroll.left_at = Some(Anchor { entry, row });
        }
    }

    pub(super) fn go_to(&mut self, anchor: Anchor, cx: &Cx<'_>) {
        self.leave_bottom(cx);
        self.scroll.top = anchor;
    }

    /// Scrolls by some rows, up when negative.
    pub(super) fn move_by(&mut self, rows: isize, cx: &Cx<'_>) {
        if rows > 0 && self.scroll.follows() {
            return;
        }
        self.leave_bottom(cx);
        let mut top = self.scroll.top;
        let mut left = rows.unsigned_abs();
        if rows < 0 {
            while left > top.row && top.entry > 0 {
                left -= top.row + 1;
                top.entry -= 1;
                top.row = self.rows(top.entry, cx).saturating_sub(1);
            }
            top.row = top.row.saturating_sub(left);
        } else {
            let last = cx.view.chat.entries.len().saturating_sub(1);
            loop {
                let below = self.rows(top.entry, cx).saturating_sub(top.row + 1);
                if left <= below || top.entry >= last {
                    top.row += left.min(below);
                    break;
                }
                left -= below + 1;
                top = Anchor { entry: top.entry + 1, row: 0 };
            }
        }
        self.scroll.top = top;
    }

    /// Finds the rows on screen, and sticks to the end again once it is in sight.
    pub(super) fn find_visible(&mut self, cx: &Cx<'_>) {
        let entries = cx.view.chat.entries.len();
        self.visible.clear();
        if entries == 0 {
            self.scroll.follow();
            return;
        }
        if self.scroll.top.entry >= entries {
            self.scroll.follow();
        }
        if !self.scroll.follows() {
            let is_full = self.fill_from_top(entries, cx);
            if is_full {
                self.count_new(entries, cx);
                return;
            }
            self.scroll.follow();
        }
        self.fill_from_bottom(entries, cx);
        self.scroll.top = self.visible.first().copied().unwrap_or_default();
    }

    /// Tells whether there is more below the screen.
    fn fill_from_top(&mut self, entries: usize, cx: &Cx<'_>) -> bool {
        let height = usize::from(self.height);
        let mut anchor = self.scroll.top;
        while anchor.entry < entries {
            let rows = self.rows(anchor.entry, cx);
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

    fn fill_from_bottom(&mut self, entries: usize, cx: &Cx<'_>) {
        let height = usize::from(self.height);
        self.visible.clear();
        for entry in (0..entries).rev() {
            let rows = self.rows(entry, cx);
            for row in (0..rows).rev() {
                if self.visible.len() == height {
                    self.visible.reverse();
                    return;
                }
                self.visible.push(Anchor { entry, row });
            }
        }
        self.visible.reverse();
    }

    fn count_new(&mut self, entries: usize, cx: &Cx<'_>) {
        let Some(left) = self.scroll.left_at else { return };
        if left.entry >= entries {
            self.scroll.left_at = Some(Anchor { entry: entries - 1, row: usize::MAX });
            self.scroll.new_rows = 0;
            return;
        }
        let mut rows = self.rows(left.entry, cx).saturating_sub(left.row);
        for entry in (left.entry + 1..entries).take(MAX_COUNTED) {
            rows += self.rows(entry, cx);
        }
        self.scroll.new_rows = rows;
    }

    pub(super) fn next_turn(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        let entries = &cx.view.chat.entries;
        let from = self.scroll.top.entry + 1;
        match entries.iter().skip(from).position(|entry| is_turn(entry)) {
            Some(ahead) if !self.scroll.follows() => {
                self.go_to(Anchor { entry: from + ahead, row: 0 }, cx);
                Vec::new()
            }
            _ => {
                self.scroll.follow();
                Effect::info("this is the last turn")
            }
        }
    }

    pub(super) fn previous_turn(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        let top = self.scroll.top;
        let until = if top.row > 0 { top.entry + 1 } else { top.entry };
        match cx.view.chat.entries.iter().take(until).rposition(|entry| is_turn(entry)) {
            Some(entry) => {
                self.go_to(Anchor { entry, row: 0 }, cx);
                Vec::new()
            }
            None => {
                self.go_to(Anchor::default(), cx);
                Effect::info("this is the first turn")
            }
        }
    }
}

fn is_turn(entry: &ChatEntry) -> bool {
    matches!(entry, ChatEntry::Turn(_) | ChatEntry::Person { .. } | ChatEntry::Question { .. })
}
