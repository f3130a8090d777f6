//! The conversation: turns as they stream, tool calls folded to a line, questions, phases.
//!
//! Only what is looked at is laid out, and of a growing text only its end; scrolling costs the
//! rows on screen, not those of the session.

mod aside;
mod call;
mod card;
mod entry;
mod fact;
mod paint;
mod scroll;

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use crate::ui::action::{Action, Context};
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, Keys, Pane};
use crate::ui::role::Role;

use entry::{EntryLayout, Item, Place};
use scroll::{Anchor, Scroll};

/// Entries that are searched for the next thing to unfold.
const MAX_SEARCHED: usize = 1_000;

/// Layouts that are kept although nobody looks at them.
const KEPT: usize = 200;

/// The chat pane.
#[derive(Debug, Default)]
pub struct ChatPane {
    width: u16,
    height: u16,
    /// One for each entry; `None`: not laid out.
    layouts: Vec<Option<EntryLayout>>,
    scroll: Scroll,
    /// Calls and code that show everything, with the place of their entry.
    unfolded: BTreeSet<(usize, Item)>,
    selected: Option<(usize, Item)>,
    /// Rows on screen.
    visible: Vec<Anchor>,
}

impl ChatPane {
    /// Rows of an entry; lays it out if need be.
    fn rows(&mut self, index: usize, cx: &Cx<'_>) -> usize {
        let entries = &cx.view.chat.entries;
        let Some(entry) = entries.get(index) else { return 0 };
        let before = index.checked_sub(1).and_then(|before| entries.get(before));
        let place = Place {
            before: before.map(AsRef::as_ref),
            width: usize::from(self.width),
            started_at: cx.view.started_at,
            entry: index,
            unfolded: &self.unfolded,
            agents: cx.agents,
        };
        let Some(slot) = self.layouts.get_mut(index) else { return 0 };
        let layout = slot.get_or_insert_with(EntryLayout::default);
        layout.update(entry, &place);
        layout.rows()
    }

    /// Forgets layouts far from what is on screen.
    fn forget(&mut self) {
        let (Some(first), Some(last)) = (self.visible.first(), self.visible.last()) else { return };
        let keep = first.entry.saturating_sub(KEPT / 2)..=last.entry + KEPT / 2;
        let known = self.layouts.iter().filter(|layout| layout.is_some()).count();
        if known > KEPT * 2 {
            for (index, layout) in self.layouts.iter_mut().enumerate() {
                if !keep.contains(&index) {
                    *layout = None;
                }
            }
        }
    }

    /// The item after or before the selected one, or the first or last on screen when the
    /// selected one is out of sight.
    fn find_item(&mut self, forward: bool, cx: &Cx<'_>) -> Option<(Anchor, Item)> {
        let first = self.visible.first().copied()?;
        let last = self.visible.last().copied()?;
        let here = self.selected.and_then(|(entry, item)| {
            let rows = self.items(entry, cx);
            let (row, _) = rows.into_iter().find(|(_, known)| *known == item)?;
            Some(Anchor { entry, row })
        });
        let here = here.filter(|here| (first..=last).contains(here));
        let is_beyond = |at: Anchor| match (here, forward) {
            (Some(here), true) => at > here,
            (Some(here), false) => at < here,
            (None, true) => at >= first,
            (None, false) => at <= last,
        };
        let start = here.unwrap_or(if forward { first } else { last }).entry;
        let mut entries: Vec<usize> = if forward {
            (start..cx.view.chat.entries.len()).collect()
        } else {
            (0..=start).rev().collect()
        };
        entries.truncate(MAX_SEARCHED);
        for entry in entries {
            let mut items = self.items(entry, cx);
            if !forward {
                items.reverse();
            }
            let mut anchors = items.into_iter().map(|(row, item)| (Anchor { entry, row }, item));
            if let Some(found) = anchors.find(|(at, _)| is_beyond(*at)) {
                return Some(found);
            }
        }
        None
    }

    fn items(&mut self, entry: usize, cx: &Cx<'_>) -> Vec<(usize, Item)> {
        self.rows(entry, cx);
        self.layouts.get(entry).and_then(Option::as_ref).map_or_else(Vec::new, EntryLayout::items)
    }

    fn select_item(&mut self, forward: bool, cx: &Cx<'_>) -> Vec<Effect> {
        let Some((anchor, item)) = self.find_item(forward, cx) else {
            let words =
                if forward { "nothing to unfold further on" } else { "nothing to unfold before" };
            return Effect::info(words);
        };
        self.selected = Some((anchor.entry, item));
        if !self.visible.contains(&anchor) {
            self.leave_bottom(cx);
            self.scroll.top = anchor;
            self.move_by(-isize::try_from(self.height / 3).unwrap_or(0), cx);
        }
        Vec::new()
    }

    /// Unfolds or folds the selected item, or else the last one on screen.
    fn toggle_item(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        let on_screen = |wanted: &(usize, Item)| {
            self.visible.iter().any(|anchor| self.item_at(*anchor) == Some(*wanted))
        };
        let selected = self.selected.filter(on_screen);
        let last = || self.visible.iter().rev().find_map(|anchor| self.item_at(*anchor));
        let Some(item) = selected.or_else(last) else {
            return Effect::info("nothing to unfold is on screen");
        };
        self.toggle(item, cx);
        Vec::new()
    }

    fn toggle(&mut self, item: (usize, Item), cx: &Cx<'_>) {
        self.selected = Some(item);
        // What is unfolded grows downwards, from where it is.
        self.leave_bottom(cx);
        if !self.unfolded.remove(&item) {
            self.unfolded.insert(item);
        }
    }

    fn item_at(&self, anchor: Anchor) -> Option<(usize, Item)> {
        let item = self.layouts.get(anchor.entry)?.as_ref()?.item_at(anchor.row)?;
        Some((anchor.entry, item))
    }

    fn draw_marker(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        if self.scroll.follows() {
            return;
        }
        let text = match self.scroll.new_rows {
            0 => format!(" ↓ {} ", cx.key(Context::Chat, Action::Follow)),
            1 => " ↓ 1 new line ".to_owned(),
            rows => format!(" ↓ {rows} new lines "),
        };
        let width = u16::try_from(line::width(&text)).unwrap_or(area.width).min(area.width);
        let corner =
            Rect { x: area.right() - width, y: area.bottom().saturating_sub(1), width, height: 1 };
        line::draw(&Line::styled(text, cx.style(Role::Notice)), corner, buf);
    }
}

impl Pane for ChatPane {
    fn title(&self, _cx: &Cx<'_>) -> Line<'static> {
        Line::raw("Chat")
    }

    fn hints(&self, _cx: &Cx<'_>) -> Vec<Action> {
        let mut hints = vec![Action::NextTurn, Action::NextFold, Action::Open];
        if !self.scroll.follows() {
            hints.insert(0, Action::Follow);
        }
        hints
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let page = isize::try_from(self.height.saturating_sub(2).max(1)).unwrap_or(1);
        match action {
            Action::Up => self.move_by(-1, cx),
            Action::Down => self.move_by(1, cx),
            Action::HalfPageUp => self.move_by(-(page / 2).max(1), cx),
            Action::HalfPageDown => self.move_by((page / 2).max(1), cx),
            Action::PageUp => self.move_by(-page, cx),
            Action::PageDown => self.move_by(page, cx),
            Action::Top => self.go_to(Anchor::default(), cx),
            Action::Bottom | Action::Follow => self.scroll.follow(),
            Action::NextTurn => return self.next_turn(cx),
            Action::PreviousTurn => return self.previous_turn(cx),
            Action::NextFold => return self.select_item(true, cx),
            Action::PreviousFold => return self.select_item(false, cx),
            Action::Open => return self.toggle_item(cx),
            Action::Back if self.selected.is_some() => self.selected = None,
            Action::Back if !self.scroll.follows() => self.scroll.follow(),
            Action::Back => return Effect::info("nothing is open here"),
            Action::Left | Action::Right => {
                return Effect::info("long lines are wrapped here: there is nothing to the side");
            }
            _ => return Effect::refuse(format!("`{}` does nothing in the chat", action.name())),
        }
        Vec::new()
    }

    fn prepare(&mut self, area: Rect, cx: &Cx<'_>) {
        let entries = cx.view.chat.entries.len();
        if area.width != self.width {
            self.layouts.clear();
            self.width = area.width;
        }
        self.height = area.height;
        self.layouts.truncate(entries);
        self.layouts.resize_with(entries, || None);
        self.find_visible(cx);
        for anchor in &self.visible {
            let Some(entry) = cx.view.chat.entries.get(anchor.entry) else { continue };
            if let Some(Some(layout)) = self.layouts.get_mut(anchor.entry) {
                layout.prepare_row(entry, anchor.row);
            }
        }
        self.forget();
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        if cx.view.chat.entries.is_empty() {
            let text = Line::styled("  the team is about to begin", cx.style(Role::Dim));
            line::draw(&text, area, buf);
            return;
        }
        for (anchor, row) in self.visible.iter().zip(area.rows()) {
            let Some(entry) = cx.view.chat.entries.get(anchor.entry) else { continue };
            let Some(Some(layout)) = self.layouts.get(anchor.entry) else { continue };
            layout.draw_row(entry, anchor.row, row, buf, cx);
            let item = layout.item_at(anchor.row).map(|item| (anchor.entry, item));
            if item.is_some() && item == self.selected && cx.keys == Keys::Here {
                buf.set_style(row, cx.style(Role::Selection));
            }
        }
        self.draw_marker(area, buf, cx);
    }

    fn on_click(&mut self, at: Position, cx: &Cx<'_>) -> Vec<Effect> {
        let anchor = self.visible.get(usize::from(at.y)).copied();
        if let Some(item) = anchor.and_then(|anchor| self.item_at(anchor)) {
            self.toggle(item, cx);
        }
        Vec::new()
    }
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
