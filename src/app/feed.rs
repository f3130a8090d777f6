//! Where the records on screen come from: a running session, or a recorded one.
//!
//! Owns the fold of records into the view; both kinds use the same one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::journal::{self, JournalReader, ReadItem, SessionDir};
use crate::model::{OpenCall, Seq, TimelineView, UserError};
use crate::view::{Mark, SessionView};

use super::timeline::{FeedChange, Timeline};

/// The records of one session.
#[derive(Debug)]
pub enum Feed {
    /// As they are made.
    Live(Box<Live>),
    /// As they were made.
    Replay(Box<Timeline>),
}

impl Feed {
    /// The session as it is to be shown.
    #[must_use]
    pub fn view(&self) -> &SessionView {
        match self {
            Self::Live(live) => live.view(),
            Self::Replay(timeline) => timeline.view(),
        }
    }

    /// Notes that the run stopped unexpectedly; nothing in a replay does.
    pub fn break_off(&mut self, why: UserError) {
        if let Self::Live(live) = self {
            live.view.break_off(why);
        }
    }

    /// Takes in what is due by `now`, a bounded amount at a time.
    ///
    /// # Errors
    /// When the journal can no longer be read.
    pub fn advance(&mut self, now: Instant) -> Result<FeedChange, UserError> {
        match self {
            Self::Live(live) => live.pull(),
            Self::Replay(timeline) => timeline.advance(now),
        }
    }

    /// How long a replay stays as it is, counted from the last [`Feed::advance`]; `None` when it
    /// does not change by itself.
    ///
    /// # Errors
    /// When the journal can no longer be read.
    pub fn wait(&mut self) -> Result<Option<Duration>, UserError> {
        match self {
            Self::Live(_) => Ok(None),
            Self::Replay(timeline) => timeline.wait(),
        }
    }

    /// Resolves when a running session has new records; never for a replay, and never again once
    /// the run is gone. Safe to drop and call again.
    pub async fn changed(&mut self) {
        match self {
            Self::Live(live) => live.changed().await,
            Self::Replay(_) => std::future::pending().await,
        }
    }

    /// The timeline of a replay.
    #[must_use]
    pub fn timeline(&self) -> Option<TimelineView> {
        match self {
            Self::Live(_) => None,
            Self::Replay(timeline) => Some(timeline.state()),
        }
    }

    /// Moments worth a mark: those so far, or for a replay those of the whole session.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        match self {
            Self::Live(live) => live.view().marks.all(),
            Self::Replay(timeline) => timeline.marks(),
        }
    }
}

/// A running session's records, read from its journal as the recorder writes them.
#[derive(Debug)]
pub struct Live {
    reader: JournalReader,
    view: SessionView,
    published: watch::Receiver<Seq>,
    /// Calls that models are still writing; `None` where no run goes on.
    open_calls: Option<watch::Receiver<Arc<[OpenCall]>>>,
}

/// Records folded in one go; together with [`BATCH_BYTES`] some milliseconds of work.
const BATCH: usize = 2_000;

/// Bytes of journal folded in one go.
const BATCH_BYTES: u64 = 1024 * 1024;

impl Live {
    /// Takes in all there is. `published` is the recorder's
    /// [`subscribe`](crate::engine::Recorder::subscribe).
    ///
    /// # Errors
    /// When the journal cannot be read, or a newer program wrote it.
    pub fn open(dir: &SessionDir, published: watch::Receiver<Seq>) -> Result<Self, UserError> {
        let path = dir.journal();
        let mut view = SessionView::default();
        let end = journal::scan(&path, |item, _| fold(item, &mut view))?;
        let reader = JournalReader::open_at(&path, end)?;
        Ok(Self { reader, view, published, open_calls: None })
    }

    /// Also shows what models are still writing.
    #[must_use]
    pub fn with_open_calls(self, open_calls: watch::Receiver<Arc<[OpenCall]>>) -> Self {
        Self { open_calls: Some(open_calls), ..self }
    }

    /// The session so far.
    #[must_use]
    pub const fn view(&self) -> &SessionView {
        &self.view
    }

    /// Takes in what was published since the last call, a bounded amount at a time.
    ///
    /// # Errors
    /// When the journal can no longer be read.
    pub fn pull(&mut self) -> Result<FeedChange, UserError> {
        let has_open = self.look_at_open_calls();
        let published = *self.published.borrow_and_update();
        let start = self.reader.position();
        for _ in 0..BATCH {
            let position = self.reader.position();
            let is_full = position.offset - start.offset >= BATCH_BYTES;
            if is_full && position.seq < published {
                return Ok(FeedChange::ChangedAndMore);
            }
            match self.reader.next_published(published)? {
                Some(item) => fold(item, &mut self.view),
                None => break,
            }
        }
        let end = self.reader.position();
        Ok(match (end.line > start.line || has_open, end.line - start.line == BATCH as u64) {
            (false, _) => FeedChange::Unchanged,
            (true, false) => FeedChange::Changed,
            (true, true) => FeedChange::ChangedAndMore,
        })
    }

    /// Takes over what is being written; tells whether that has changed.
    fn look_at_open_calls(&mut self) -> bool {
        let Some(open_calls) = &mut self.open_calls else { return false };
        let now = Arc::clone(&open_calls.borrow_and_update());
        let has_changed = !Arc::ptr_eq(&now, &self.view.open_calls);
        self.view.open_calls = now;
        has_changed
    }

    async fn changed(&mut self) {
        tokio::select! {
            published = self.published.changed() => {
                if published.is_err() {
                    std::future::pending().await
                }
            }
            () = grown(&mut self.open_calls) => {}
        }
    }
}

/// Resolves when more of a call has come.
async fn grown(open_calls: &mut Option<watch::Receiver<Arc<[OpenCall]>>>) {
    let changed = match open_calls {
        Some(open_calls) => open_calls.changed().await.is_ok(),
        None => false,
    };
    if !changed {
        std::future::pending().await
    }
}

fn fold(item: ReadItem, view: &mut SessionView) {
    if let ReadItem::Record(record) = item {
        view.apply(&record);
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Recorder;
    use crate::model::{Event, Ledger, Timestamp, TurnId};
    use crate::model::{PersonEvent, TurnEvent};

    use super::*;

    fn session() -> (tempfile::TempDir, Recorder) {
        let data = tempfile::tempdir().unwrap();
        let dir = SessionDir::create(data.path(), "test", Timestamp(0)).unwrap();
        (data, Recorder::create(dir).unwrap())
    }

    #[test]
    fn a_flood_is_taken_in_by_bounded_pieces() {
        let (_data, recorder) = session();
        let mut live = Live::open(recorder.dir(), recorder.subscribe()).unwrap();
        for _ in 0..4_500 {
            recorder.record(Event::Person(PersonEvent::Paused)).unwrap();
        }
        let mut places = vec![];
        while live.pull().unwrap() == FeedChange::ChangedAndMore {
            places.push(live.view().seq.0);
        }
        assert_eq!(places, [2_000, 4_000]);
        assert_eq!(live.view().seq, Seq(4_500));
        let long = Event::Turn(TurnEvent::TextAdded { turn: TurnId(1), text: "x".repeat(700_000) });
        for _ in 0..4 {
            recorder.record(long.clone()).unwrap();
        }
        assert_eq!(live.pull().unwrap(), FeedChange::ChangedAndMore);
        assert_eq!(live.view().seq, Seq(4_502), "a megabyte is enough for one go");
        assert_eq!(live.pull().unwrap(), FeedChange::Changed);
        assert_eq!(live.view().seq, Seq(4_504));
        assert_eq!(live.pull().unwrap(), FeedChange::Unchanged);
    }

    #[test]
    fn what_is_not_published_is_not_shown() {
        let (_data, recorder) = session();
        let (publish, published) = watch::channel(Seq(0));
        let mut live = Live::open(recorder.dir(), published).unwrap();
        recorder.record(Event::Person(PersonEvent::Paused)).unwrap();
        assert_eq!(live.pull().unwrap(), FeedChange::Unchanged);
        publish.send_replace(Seq(1));
        assert_eq!(live.pull().unwrap(), FeedChange::Changed);
    }

    #[tokio::test]
    async fn waiting_ends_with_a_record_and_survives_the_end_of_the_run() {
        let (_data, recorder) = session();
        let live = Live::open(recorder.dir(), recorder.subscribe()).unwrap();
        let mut feed = Feed::Live(Box::new(live));
        recorder.record(Event::Person(PersonEvent::Paused)).unwrap();
        feed.changed().await;
        assert_eq!(feed.advance(Instant::now()).unwrap(), FeedChange::Changed);
        assert!(futures::poll!(std::pin::pin!(feed.changed())).is_pending());
        drop(recorder);
        assert!(futures::poll!(std::pin::pin!(feed.changed())).is_pending());
        assert_eq!(feed.view().seq, Seq(1));
    }
}
