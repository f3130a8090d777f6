//! A recorded session, played: the place in it, and how it moves.
//!
//! Owns no clock: whoever calls tells what time it is.

use std::time::{Duration, Instant};

use crate::journal::{self, Damage, JournalReader, Position, ReadItem, SessionDir};
use crate::model::{
    Direction, Playback, Record, Seq, Speed, TimelineCommand, TimelineView, Timestamp, UserError,
};
use crate::view::{Mark, MarkKind, SessionView};

use super::checkpoints::Checkpoints;
use super::milestones::Milestones;

/// Longer pauses between two records are played as if they lasted this long.
const MAX_GAP: Duration = Duration::from_secs(1);

/// Records folded in one go while playing, so that drawing is not held up.
const BATCH: usize = 4_000;

/// Damaged lines that are remembered; all are counted.
const MAX_DAMAGE: usize = 100;

/// What one call changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedChange {
    Unchanged,
    /// The view; it is up to date.
    Changed,
    /// The view, and there is more that is due already: draw, then call again.
    ChangedAndMore,
}

/// A recorded session and a place in it.
#[derive(Debug)]
pub struct Timeline {
    reader: JournalReader,
    /// Everything up to `here`.
    view: SessionView,
    here: Position,
    /// The record after `here`, when it was read already, and the place after it.
    ahead: Option<(Record, Position)>,
    checkpoints: Checkpoints,
    milestones: Milestones,
    whole: Whole,
    clock: Clock,
}

/// Details of the session to its end.
#[derive(Debug)]
struct Whole {
    end: Position,
    view: SessionView,
    first: Seq,
    damage: Vec<Damage>,
    damaged: u64,
}

/// How the place moves by itself.
#[derive(Debug, Default)]
struct Clock {
    speed: Speed,
    /// When playing: up to when the viewer's time was used.
    playing: Option<Instant>,
    /// Recorded time, in microseconds, that may pass before the next record is due.
    credit: u64,
}

impl Timeline {
    /// Reads the whole session and stands at its end.
    ///
    /// # Errors
    /// When it cannot be read, or a newer program wrote it.
    pub fn open(dir: &SessionDir) -> Result<Self, UserError> {
        let path = dir.journal();
        // A journal that cannot be measured cannot be read either, and that is told below.
        let bytes = std::fs::metadata(&path).map_or(0, |it| it.len());
        let mut checkpoints = Checkpoints::along(bytes);
        let mut milestones = Milestones::along(&path, bytes);
        let mut view = SessionView::default();
        let (mut first, mut damage, mut damaged) = (Seq(0), Vec::new(), 0);
        let end = journal::scan(&path, |item, after| match item {
            ReadItem::Record(record) => {
                if first == Seq(0) {
                    first = record.seq;
                }
                view.apply(&record);
                milestones.note(&record, after);
                checkpoints.offer(after, &mut view);
            }
            ReadItem::Damaged(line) => {
                damaged += 1;
                if damage.len() < MAX_DAMAGE {
                    damage.push(line);
                }
            }
        })?;
        Ok(Self {
            reader: JournalReader::open_at(&path, end)?,
            view: view.clone(),
            here: end,
            ahead: None,
            checkpoints,
            milestones,
            whole: Whole { end, view, first, damage, damaged },
            clock: Clock::default(),
        })
    }

    /// The session up to the current place.
    #[must_use]
    pub const fn view(&self) -> &SessionView {
        &self.view
    }

    /// Moments worth a mark, of the whole session.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        self.whole.view.marks.all()
    }

    /// The first hundred lines that cannot be read.
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.whole.damage
    }

    /// What the timeline shows.
    #[must_use]
    pub fn state(&self) -> TimelineView {
        TimelineView {
            position: self.here.seq,
            last: self.whole.end.seq,
            at: self.view.at,
            from: self.whole.view.started_at,
            until: self.whole.view.at,
            playback: match self.clock.playing {
                Some(_) => Playback::Playing,
                None => Playback::Held,
            },
            speed: self.clock.speed,
            damaged: self.whole.damaged,
        }
    }

    /// Does as the person wishes.
    ///
    /// # Errors
    /// When the journal can no longer be read.
    pub fn command(&mut self, command: TimelineCommand, now: Instant) -> Result<(), UserError> {
        match command {
            TimelineCommand::TogglePlay => self.toggle(now),
            TimelineCommand::Faster => {
                self.clock.speed = self.clock.speed.faster();
                Ok(())
            }
            TimelineCommand::Slower => {
                self.clock.speed = self.clock.speed.slower();
                Ok(())
            }
            TimelineCommand::StepEvent(direction) => {
                self.hold();
                self.step_event(direction)
            }
            TimelineCommand::StepTurn(direction) => self.step_mark(MarkKind::Turn, direction),
            TimelineCommand::StepProposal(direction) => {
                self.step_mark(MarkKind::Proposal, direction)
            }
            TimelineCommand::Start => self.go(self.whole.first),
            TimelineCommand::End => self.go(self.whole.end.seq),
            TimelineCommand::Seek(seq) => self.go(seq),
            TimelineCommand::SeekTime(at) => self.go_time(at),
        }
    }

    /// Goes on as far as the time since the last call allows; at the end it holds.
    ///
    /// # Errors
    /// When the journal can no longer be read.
    pub fn advance(&mut self, now: Instant) -> Result<FeedChange, UserError> {
        let Some(since) = self.clock.playing else { return Ok(FeedChange::Unchanged) };
        let elapsed = now.saturating_duration_since(since);
        self.clock.playing = Some(now.max(since));
        self.clock.credit =
            self.clock.credit.saturating_add(self.clock.speed.scale(micros(elapsed)));
        for folded in 0..BATCH {
            let Some(gap) = self.gap()? else {
                self.hold();
                return Ok(FeedChange::Changed);
            };
            if gap > self.clock.credit {
                return Ok(if folded == 0 { FeedChange::Unchanged } else { FeedChange::Changed });
            }
            self.clock.credit -= gap;
            self.fold_next()?;
        }
        // More than can be shown is due: the surplus must not be made up for later.
        self.clock.credit = self.clock.credit.min(micros(MAX_GAP));
        Ok(FeedChange::ChangedAndMore)
    }

    /// How long nothing changes by itself, counted from the last [`Timeline::advance`]; `None`
    /// while held.
    ///
    /// # Errors
    /// When the journal can no longer be read.
    pub fn wait(&mut self) -> Result<Option<Duration>, UserError> {
        if self.clock.playing.is_none() {
            return Ok(None);
        }
        let left = self.gap()?.unwrap_or(0).saturating_sub(self.clock.credit);
        let per_milli = self.clock.speed.scale(1000).max(1);
        Ok(Some(Duration::from_millis(left.div_ceil(per_milli))))
    }

    fn toggle(&mut self, now: Instant) -> Result<(), UserError> {
        if self.clock.playing.is_some() {
            self.hold();
            return Ok(());
        }
        if self.here.seq >= self.whole.end.seq {
            self.go(self.whole.first)?;
        }
        self.clock.playing = Some(now);
        Ok(())
    }

    fn hold(&mut self) {
        self.clock.playing = None;
        self.clock.credit = 0;
    }

    fn step_event(&mut self, direction: Direction) -> Result<(), UserError> {
        match direction {
            Direction::Forward => self.fold_next().map(|_| ()),
            Direction::Back => {
                self.go(Seq(self.here.seq.0.saturating_sub(1)).max(self.whole.first))
            }
        }
    }

    /// Goes to the neighbouring mark of that kind; stays where there is none.
    fn step_mark(&mut self, kind: MarkKind, direction: Direction) -> Result<(), UserError> {
        let found = self.milestones.next(kind, direction, self.here.seq)?;
        self.hold();
        found.map_or(Ok(()), |seq| self.go(seq))
    }

    /// Goes to the last record that is not after `target`.
    fn go(&mut self, target: Seq) -> Result<(), UserError> {
        self.clock.credit = 0;
        if target >= self.whole.end.seq {
            self.jump_to_end();
            return Ok(());
        }
        let nearest = self.checkpoints.before(target).position.seq;
        if self.here.seq > target || self.here.seq < nearest {
            self.restore(target);
        }
        while self.peek()?.is_some_and(|next| next.seq <= target) {
            self.fold_next()?;
            self.checkpoints.offer_fine(self.here, &mut self.view, target);
        }
        Ok(())
    }

    /// Goes to the last record before the first one that was made after `target`.
    fn go_time(&mut self, target: Timestamp) -> Result<(), UserError> {
        if target >= self.whole.view.at {
            return self.go(self.whole.end.seq);
        }
        let nearest = self.checkpoints.before_time(target).position.seq;
        self.go(nearest.max(self.whole.first))?;
        while self.peek()?.is_some_and(|next| next.at <= target) {
            self.fold_next()?;
        }
        Ok(())
    }

    fn jump_to_end(&mut self) {
        self.view = self.whole.view.clone();
        self.here = self.whole.end;
        self.ahead = None;
        self.reader.seek(self.here);
    }

    fn restore(&mut self, target: Seq) {
        self.checkpoints.keep_fine_near(target);
        let nearest = self.checkpoints.way_to(target);
        self.view = nearest.view();
        self.here = nearest.position;
        self.view.marks = self.whole.view.marks.until(self.here.seq);
        self.ahead = None;
        self.reader.seek(self.here);
    }

    /// Recorded time until the next record, long pauses shortened, in microseconds.
    fn gap(&mut self) -> Result<Option<u64>, UserError> {
        let (from, is_first) = (self.view.at, self.here.seq == Seq(0));
        Ok(self.peek()?.map(|next| {
            let gap = Duration::from_millis(next.at.millis_since(from)).min(MAX_GAP);
            if is_first { 0 } else { micros(gap) }
        }))
    }

    /// The record after the current place, which is not folded yet.
    fn peek(&mut self) -> Result<Option<&Record>, UserError> {
        while self.ahead.is_none() && self.reader.position().seq < self.whole.end.seq {
            match self.reader.next_item()? {
                Some(ReadItem::Record(record)) => {
                    self.ahead = Some((record, self.reader.position()));
                }
                Some(ReadItem::Damaged(_)) => {}
                None => break,
            }
        }
        Ok(self.ahead.as_ref().map(|(record, _)| record))
    }

    fn fold_next(&mut self) -> Result<(), UserError> {
        self.peek()?;
        if let Some((record, after)) = self.ahead.take() {
            self.view.apply(&record);
            self.here = after;
        }
        Ok(())
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
