//! The rows of every entry that was looked at.
//!
//! Owns what is laid out and what is unfolded; forgets what is far from sight. Must not know where
//! one looks.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use regex::Regex;

use crate::ui::pane::Cx;
use crate::view::ChatEntry;

use super::anchor::Anchor;
use super::entry::EntryLayout;
use super::row::{FoldItem, RowContext};

/// Layouts that are kept although nobody looks at them.
const KEPT: usize = 200;

/// Layouts by the place of their entry.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    width: u16,
    /// One for each entry; `None`: not laid out.
    layouts: Vec<Option<EntryLayout>>,
    /// Calls and code that show everything, with the place of their entry.
    unfolded: BTreeSet<(usize, FoldItem)>,
}

impl Layouts {
    /// Makes room for so many entries at that width.
    pub fn resize(&mut self, width: u16, entries: usize) {
        if width != self.width {
            self.layouts.clear();
            self.width = width;
        }
        self.layouts.truncate(entries);
        self.layouts.resize_with(entries, || None);
    }

    /// Rows of an entry; lays it out if need be.
    pub fn rows(&mut self, index: usize, cx: &Cx<'_>) -> usize {
        let entries = &cx.view.chat.entries;
        let Some(entry) = entries.get(index) else { return 0 };
        let before = index.checked_sub(1).and_then(|before| entries.get(before));
        let place = RowContext {
            before: before.map(AsRef::as_ref),
            width: usize::from(self.width),
            started_at: cx.view.started_at,
            entry: index,
            unfolded: &self.unfolded,
            agents: cx.agents,
            open_calls: &cx.view.open_calls,
        };
        let Some(slot) = self.layouts.get_mut(index) else { return 0 };
        let layout = slot.get_or_insert_with(EntryLayout::default);
        layout.update(entry, &place);
        layout.rows()
    }

    /// What was laid out of an entry.
    pub fn get(&self, entry: usize) -> Option<&EntryLayout> {
        self.layouts.get(entry)?.as_ref()
    }

    /// Makes a row ready to be drawn. Whether colours of it are still to come.
    pub fn prepare_row(&mut self, anchor: Anchor, entry: &ChatEntry) -> bool {
        let layout = self.layouts.get_mut(anchor.entry).and_then(Option::as_mut);
        layout.is_some_and(|layout| layout.prepare_row(entry, anchor.row))
    }

    /// Forgets layouts far from what is on screen.
    pub fn forget(&mut self, seen: &RangeInclusive<usize>) {
        let keep = seen.start().saturating_sub(KEPT / 2)..=seen.end() + KEPT / 2;
        let known = self.layouts.iter().filter(|layout| layout.is_some()).count();
        if known > KEPT * 2 {
            let far =
                self.layouts.iter_mut().enumerate().filter(|(index, _)| !keep.contains(index));
            far.for_each(|(_, layout)| *layout = None);
        }
    }

    /// Everything in an entry that can be taken hold of, with its row.
    pub fn items(&mut self, entry: usize, cx: &Cx<'_>) -> Vec<(usize, FoldItem)> {
        self.rows(entry, cx);
        self.get(entry).map_or_else(Vec::new, EntryLayout::items)
    }

    /// What can be taken hold of at a row.
    pub fn item_at(&self, anchor: Anchor) -> Option<(usize, FoldItem)> {
        let item = self.get(anchor.entry)?.item_at(anchor.row)?;
        Some((anchor.entry, item))
    }

    /// Whether something can be taken hold of at a row.
    pub fn has_item(&self, anchor: Anchor, wanted: (usize, FoldItem)) -> bool {
        let layout = self.get(anchor.entry).filter(|_| anchor.entry == wanted.0);
        layout.is_some_and(|layout| layout.items_at(anchor.row).contains(&wanted.1))
    }

    /// What is meant by a column of a row: the nearest number of a source, or what the row is.
    pub fn item_near(&self, anchor: Anchor, column: u16) -> Option<(usize, FoldItem)> {
        let layout = self.get(anchor.entry)?;
        let cited = layout.cited_at(anchor.row).into_iter();
        let far = |at: &Range<u16>| {
            at.start.saturating_sub(column).max((column + 1).saturating_sub(at.end))
        };
        let nearest = cited.min_by_key(|(_, columns)| far(columns)).map(|(item, _)| item);
        Some((anchor.entry, nearest.or_else(|| layout.item_at(anchor.row))?))
    }

    /// Unfolds or folds something.
    pub fn toggle(&mut self, item: (usize, FoldItem)) {
        if !self.unfolded.remove(&item) {
            self.unfolded.insert(item);
        }
    }

    /// The first row of an entry that is not empty.
    pub fn first_row(&mut self, place: usize, cx: &Cx<'_>) -> usize {
        let rows = self.rows(place, cx);
        let Some(entry) = cx.view.chat.entries.get(place) else { return 0 };
        let Some(layout) = self.get(place) else { return 0 };
        let is_text = |row: &usize| !layout.row_text(entry, *row).0.is_empty();
        (0..rows).find(is_text).unwrap_or(0)
    }

    /// Rows of an entry with a match in them; its first row when the match is folded away.
    pub fn rows_matching(&mut self, place: usize, pattern: &Regex, cx: &Cx<'_>) -> Vec<usize> {
        let count = self.rows(place, cx);
        let Some(entry) = cx.view.chat.entries.get(place) else { return Vec::new() };
        let Some(layout) = self.get(place) else { return Vec::new() };
        let is_match = |row: &usize| pattern.is_match(&layout.row_text(entry, *row).0);
        let rows: Vec<usize> = (0..count).filter(is_match).collect();
        if rows.is_empty() { vec![self.first_row(place, cx)] } else { rows }
    }
}
