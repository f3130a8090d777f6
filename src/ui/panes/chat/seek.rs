//! Ways through the conversation: to things that unfold, to hits, to an agent's turns, proposals
//! and errors.
//!
//! Owns where such a walk begins and what it finds. Must not scroll nor draw.

use std::sync::Arc;

use regex::Regex;

use crate::model::AgentName;
use crate::ui::pane::Cx;
use crate::view::ChatEntry;

use super::anchor::Anchor;
use super::jump::JumpTarget;
use super::layouts::Layouts;
use super::row::FoldItem;

/// Entries that are searched for the next thing to take hold of.
pub(super) const MAX_SEARCHED: usize = 1_000;

/// Which way a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To what is newer.
    Forward,
    /// To what is older.
    Back,
}

/// A walk through the conversation.
pub(super) struct Seek<'a, 'c> {
    /// The rows of entries.
    pub layouts: &'a mut Layouts,
    /// What is looked at.
    pub cx: &'a Cx<'c>,
    /// Which way it goes.
    pub way: Way,
    /// Where it begins.
    pub from: Anchor,
    /// Whether the row it begins at was gone to before, and is not meant again.
    pub is_taken: bool,
}

impl Seek<'_, '_> {
    fn is_beyond(&self, at: Anchor) -> bool {
        let is_here = at == self.from && !self.is_taken;
        is_here
            || match self.way {
                Way::Forward => at > self.from,
                Way::Back => at < self.from,
            }
    }

    /// Places of entries from here on, the nearest first.
    fn places(&self) -> Vec<usize> {
        let count = self.cx.view.chat.entries.len();
        match self.way {
            Way::Forward => (self.from.entry..count).collect(),
            Way::Back => (0..count.min(self.from.entry + 1)).rev().collect(),
        }
    }

    /// The first of some rows that lies beyond where the walk begins.
    fn first(
        &mut self,
        places: impl IntoIterator<Item = usize>,
        mut rows: impl FnMut(&mut Layouts, usize) -> Vec<usize>,
    ) -> Option<Anchor> {
        for entry in places {
            let mut rows = rows(self.layouts, entry);
            if self.way == Way::Back {
                rows.reverse();
            }
            let mut anchors = rows.into_iter().map(|row| Anchor { entry, row });
            if let Some(found) = anchors.find(|at| self.is_beyond(*at)) {
                return Some(found);
            }
        }
        None
    }

    /// The next thing that can be taken hold of, after `taken` where that is in the entry it begins
    /// in: a row may hold several.
    pub fn item(&mut self, taken: Option<FoldItem>) -> Option<(Anchor, FoldItem)> {
        let places: Vec<usize> = self.places().into_iter().take(MAX_SEARCHED).collect();
        for entry in places {
            let mut items = self.layouts.items(entry, self.cx);
            if self.way == Way::Back {
                items.reverse();
            }
            let is_from = entry == self.from.entry && self.is_taken;
            let before = items.iter().position(|(_, item)| is_from && Some(*item) == taken);
            let from = before.map_or(0, |before| before + 1);
            let mut rest =
                items.into_iter().skip(from).map(|(row, item)| (Anchor { entry, row }, item));
            let found = rest.find(|(at, _)| before.is_some() || self.is_beyond(*at));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The next place of a kind.
    pub fn target(&mut self, target: &JumpTarget) -> Option<Anchor> {
        let cx = self.cx;
        let entries = &cx.view.chat.entries;
        let is_meant = |place: &usize| {
            entries.get(*place).is_some_and(|entry| {
                target.is_entry(entry) || !target.calls(entry, cx.view).is_empty()
            })
        };
        // What is meant in the entry it begins in may lie behind.
        let places: Vec<usize> = self.places().into_iter().filter(is_meant).take(2).collect();
        self.first(places, |layouts, place| {
            let Some(entry) = entries.get(place) else { return Vec::new() };
            let calls = target.calls(entry, cx.view);
            let of_call = |(row, item): (usize, FoldItem)| match item {
                FoldItem::Call(call) if calls.contains(&call) => Some(row),
                _ => None,
            };
            let mut rows = Vec::new();
            if target.is_entry(entry) {
                rows.push(layouts.first_row(place, cx));
            }
            rows.extend(layouts.items(place, cx).into_iter().filter_map(of_call));
            rows
        })
    }

    /// The next row that matches, round the end; `hits` are the entries that hold a match.
    pub fn hit(&mut self, hits: &[usize], pattern: &Regex) -> Option<Anchor> {
        let (cx, way, from) = (self.cx, self.way, self.from.entry);
        let places: Vec<usize> = match way {
            Way::Forward => hits.iter().copied().filter(|hit| *hit >= from).collect(),
            Way::Back => hits.iter().rev().copied().filter(|hit| *hit <= from).collect(),
        };
        let rows = |layouts: &mut Layouts, place| layouts.rows_matching(place, pattern, cx);
        if let Some(found) = self.first(places, rows) {
            return Some(found);
        }
        let end = |all: &[usize]| match way {
            Way::Forward => all.first().copied(),
            Way::Back => all.last().copied(),
        };
        let entry = end(hits)?;
        let row = end(&self.layouts.rows_matching(entry, pattern, cx))?;
        Some(Anchor { entry, row })
    }

    /// The agent whose turn this is, or was last before.
    pub fn agent(&self) -> Option<AgentName> {
        let agent = |entry: &Arc<ChatEntry>| entry.turn().map(|turn| turn.agent.clone());
        let entries = &self.cx.view.chat.entries;
        let before = entries.iter().take(self.from.entry + 1).rev().find_map(agent);
        before.or_else(|| entries.iter().find_map(agent))
    }
}
