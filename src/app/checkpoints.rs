//! Views kept along a session, so that going back need not start over.
//!
//! Owns which views are kept; their number is bounded however long the session is.

use crate::journal::Position;
use crate::model::{Seq, Timestamp};
use crate::view::{KEPT, SessionView};

/// A view without its marks, and where the record after it starts. The marks are the first ones
/// of the whole session; a copy with each view would be most of the memory. So would be the older
/// entries of its chat.
#[derive(Debug, Clone, Default)]
pub(super) struct Checkpoint {
    pub position: Position,
    packed: SessionView,
    /// Entries of the chat that were taken out.
    older: usize,
    /// Whether the chat lacks entries that the view would show.
    is_thin: bool,
}

impl Checkpoint {
    fn new(position: Position, view: &mut SessionView, kept: usize) -> Self {
        let marks = std::mem::take(&mut view.marks);
        let mut packed = view.clone();
        view.marks = marks;
        let is_thin = kept < KEPT;
        if is_thin {
            packed.thin_out();
        }
        let older = packed.chat.pack(kept);
        Self { position, packed, older, is_thin }
    }

    pub fn view(&self) -> SessionView {
        let mut view = self.packed.clone();
        view.chat.unpack(self.older);
        view
    }
}

/// Entries of the chat that each of the views along a long session keeps.
const THIN: usize = 256;

/// Most views kept along the whole session.
const MAX_COARSE: u64 = 32;

/// Least bytes of journal between two of them, about two thousand records.
const LEAST_SPACING: u64 = 320_000;

/// Most views kept near the place last gone to, and of a long session, each of which is larger.
const MAX_FINE: usize = 20;
const MAX_FINE_LONG: usize = 3;

/// Records between two of those.
pub(super) const FINE_SPACING: u64 = 256;

/// Views along the whole session, and denser ones near the place last gone to.
#[derive(Debug)]
pub(super) struct Checkpoints {
    coarse: Vec<Checkpoint>,
    /// Bytes of journal between two of those.
    spacing: u64,
    fine: Vec<Checkpoint>,
}

impl Checkpoints {
    /// Room for those of a journal of `bytes`. Their spacing is set beforehand: a copy of a view
    /// that is thrown away later costs as much as one that is kept.
    pub fn along(bytes: u64) -> Self {
        let spacing = (bytes / MAX_COARSE + 1).max(LEAST_SPACING);
        Self { coarse: vec![Checkpoint::default()], spacing, fine: Vec::new() }
    }

    /// Keeps the view if the last one kept is far enough behind. Positions must rise.
    pub fn offer(&mut self, position: Position, view: &mut SessionView) {
        let last = self.coarse.last().map_or(0, |kept| kept.position.offset);
        if position.offset >= last + self.spacing {
            let kept = if view.is_long() { THIN } else { KEPT };
            self.coarse.push(Checkpoint::new(position, view, kept));
        }
    }

    /// Keeps the view for short steps back from `target`, if it is near enough to it.
    pub fn offer_fine(&mut self, position: Position, view: &mut SessionView, target: Seq) {
        let most = if view.is_long() { MAX_FINE_LONG } else { MAX_FINE };
        let reach = FINE_SPACING * most as u64;
        let after_last = self
            .fine
            .last()
            .is_none_or(|kept| position.seq.0 >= kept.position.seq.0 + FINE_SPACING);
        if !after_last || target.0.saturating_sub(position.seq.0) >= reach {
            return;
        }
        self.fine.drain(..(self.fine.len() + 1).saturating_sub(most));
        self.fine.push(Checkpoint::new(position, view, KEPT));
    }

    /// Drops the dense views that are not near `seq`, or behind it: those to come are gathered on the
    /// way, and each holds a conversation of its own.
    pub fn keep_fine_near(&mut self, seq: Seq) {
        let reach = FINE_SPACING * MAX_FINE as u64;
        let is_near = |at: Seq| at <= seq && seq.0.saturating_sub(at.0) <= reach;
        self.fine.retain(|kept| is_near(kept.position.seq));
    }

    /// The last view kept that is not after `target`.
    pub fn before(&self, target: Seq) -> &Checkpoint {
        self.nearest(|kept| kept.position.seq <= target)
    }

    /// The view to go on from to `target`: one from which the chat is whole again on the way.
    pub fn way_to(&self, target: Seq) -> &Checkpoint {
        let nearest = self.before(target);
        if !nearest.is_thin {
            return nearest;
        }
        let before = self.coarse.partition_point(|kept| kept.position.seq < nearest.position.seq);
        before.checked_sub(1).and_then(|place| self.coarse.get(place)).unwrap_or(nearest)
    }

    /// The last view kept that is not after that moment.
    pub fn before_time(&self, target: Timestamp) -> &Checkpoint {
        self.nearest(|kept| kept.position.seq == Seq(0) || kept.packed.at <= target)
    }

    fn nearest(&self, is_before: impl Fn(&Checkpoint) -> bool) -> &Checkpoint {
        static EMPTY: std::sync::LazyLock<Checkpoint> =
            std::sync::LazyLock::new(Checkpoint::default);
        let last = |all: &'_ [Checkpoint]| all.partition_point(&is_before).checked_sub(1);
        let coarse = last(&self.coarse).and_then(|place| self.coarse.get(place));
        let fine = last(&self.fine).and_then(|place| self.fine.get(place));
        coarse.into_iter().chain(fine).max_by_key(|kept| kept.position.seq).unwrap_or(&EMPTY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seq: u64) -> Position {
        Position { offset: seq * 100, line: seq, seq: Seq(seq) }
    }

    #[test]
    fn their_number_is_bounded_and_they_cover_the_session() {
        for (records, number) in [(1_000, 1), (20_000, 7), (1_000_000, MAX_COARSE as usize)] {
            let mut kept = Checkpoints::along(records * 100);
            let mut view = SessionView::default();
            for seq in 1..=records {
                kept.offer(at(seq), &mut view);
            }
            assert_eq!(kept.coarse.len(), number);
            for target in [0, 1, records / 3, records / 2, records - 1, records] {
                let found = kept.before(Seq(target)).position.seq.0;
                assert!(
                    found <= target && (target - found) * 100 <= kept.spacing + 100,
                    "{target}"
                );
            }
        }
    }

    #[test]
    fn dense_ones_lie_just_before_the_target() {
        let mut kept = Checkpoints::along(10_000_000);
        let mut view = SessionView::default();
        for seq in 1..=100_000 {
            kept.offer_fine(at(seq), &mut view, Seq(100_000));
        }
        assert!(kept.fine.len() <= MAX_FINE);
        let found = kept.before(Seq(99_999)).position.seq.0;
        assert!(99_999 - found < FINE_SPACING, "{found}");
        kept.keep_fine_near(Seq(95_000));
        assert!(kept.before(Seq(99_999)).position.seq.0 <= 95_000);
    }
}
