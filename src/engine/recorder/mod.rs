//! The sole writer of a session: gives facts their number and time, and tells readers.
//!
//! Owns the clock of the journal. Must not judge or change what it is given.

mod growth;
mod raw_logs;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use self::growth::Growth;
use self::raw_logs::RawLogs;
use crate::journal::{
    Blobs, JournalError, JournalWriter, LogFiles, LogLength, LogLimits, Reopened, SessionDir,
};
use crate::model::event::Level;
use crate::model::{
    BlobRef, BuildEvent, Event, Ledger, LogEvent, LogId, PersonEvent, PortEvent, Record, Seq,
    SessionEvent, Timestamp, UserError,
};
use crate::text::secrets::Secrets;
use crate::tools::SharedState;

/// Writes a session. All clones of an `Arc` of it write the same one; dropping the last one
/// releases the session's lock.
#[derive(Debug)]
pub struct Recorder {
    dir: SessionDir,
    blobs: Blobs,
    logs: Arc<LogFiles>,
    journal: Mutex<RecorderJournal>,
    growth: Mutex<BTreeMap<LogId, Growth>>,
    raw_logs: RawLogs,
    /// What tools know of the session; folded under the journal's lock, so always in order.
    state: SharedState,
    published: watch::Sender<Seq>,
    /// Told whenever a log has grown without a record of it.
    is_behind: Arc<Notify>,
}

#[derive(Debug)]
struct RecorderJournal {
    writer: JournalWriter,
    last_at: Timestamp,
}

/// What may be the beginning of a secret is held back for so long when nothing follows.
const HELD: Duration = Duration::from_millis(250);

/// A failure that goes on is said again after so long.
const SAY_AGAIN: Duration = Duration::from_secs(60);

/// Which logs get their growth recorded.
#[derive(Clone, Copy)]
enum Which {
    /// Those whose turn it is.
    Due,
    /// All that have grown.
    All,
    One(LogId),
}

impl Recorder {
    /// Starts the journal of a new session.
    ///
    /// # Errors
    /// When it cannot be made or another program has it.
    pub fn create(dir: SessionDir) -> Result<Self, UserError> {
        let writer = JournalWriter::create(&dir)?;
        Ok(Self::new(dir, writer, Timestamp(0), Seq(0)))
    }

    /// Opens a session to go on, and tells what was found.
    ///
    /// # Errors
    /// When it cannot be opened, another program has it, or a newer one wrote it.
    pub fn reopen(dir: SessionDir) -> Result<(Self, Reopened), UserError> {
        let (writer, reopened) = JournalWriter::reopen(&dir)?;
        Ok((Self::new(dir, writer, reopened.last_at, reopened.last), reopened))
    }

    fn new(dir: SessionDir, writer: JournalWriter, last_at: Timestamp, last: Seq) -> Self {
        Self {
            blobs: writer.blobs().clone(),
            logs: Arc::new(dir.logs()),
            dir,
            journal: Mutex::new(RecorderJournal { writer, last_at }),
            growth: Mutex::default(),
            raw_logs: RawLogs::default(),
            state: SharedState::default(),
            published: watch::Sender::new(last),
            is_behind: Arc::default(),
        }
    }

    /// Records none of these secrets.
    #[must_use]
    pub fn guarded_by(mut self, secrets: &Secrets) -> Self {
        lock(&self.journal).writer.guard(secrets);
        self.raw_logs.secrets = secrets.clone();
        self
    }

    /// The session's folder.
    #[must_use]
    pub const fn dir(&self) -> &SessionDir {
        &self.dir
    }

    /// What tools know of the session. A reopened recorder's state is empty until the records of
    /// the journal have been folded into it.
    #[must_use]
    pub fn state(&self) -> SharedState {
        self.state.clone()
    }

    /// The session's content store.
    #[must_use]
    pub const fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// The session's raw logs.
    #[must_use]
    pub fn logs(&self) -> Arc<LogFiles> {
        Arc::clone(&self.logs)
    }

    /// The number of the last record, now and whenever it changes.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Seq> {
        self.published.subscribe()
    }

    /// Records the growth of those logs whose turn it is.
    ///
    /// # Errors
    /// When it could not be recorded.
    pub fn tick(&self) -> Result<(), UserError> {
        Ok(self.record_growth(Which::Due)?)
    }

    /// Starts a task that calls [`Recorder::tick`] after a log has grown, so that readers see the
    /// last bytes of a port that fell silent. It sleeps while nothing grows, and ends with the
    /// recorder. Needs a tokio runtime.
    pub fn spawn_ticks(self: &Arc<Self>) -> JoinHandle<()> {
        let (recorder, is_behind) = (Arc::downgrade(self), Arc::clone(&self.is_behind));
        tokio::spawn(tick_while_it_lives(recorder, is_behind))
    }

    /// When the next growth is to be recorded that is not yet.
    fn due_at(&self) -> Option<Instant> {
        let growth = lock(&self.growth);
        let behind = growth.values().filter(|growth| growth.is_behind());
        behind.map(|growth| growth.due_at().unwrap_or_else(Instant::now)).min()
    }

    fn append(&self, event: Event) -> Result<Seq, JournalError> {
        self.append_by(|writer, at| writer.append(at, event))
    }

    fn append_by(
        &self,
        append: impl FnOnce(&mut JournalWriter, Timestamp) -> Result<Record, JournalError>,
    ) -> Result<Seq, JournalError> {
        let mut journal = lock(&self.journal);
        // A clock set back must not make a record older than the one before it.
        let at = now().max(journal.last_at);
        let record = append(&mut journal.writer, at)?;
        journal.last_at = at;
        self.state.fold(&record);
        self.published.send_replace(record.seq);
        Ok(record.seq)
    }

    /// The same recorder, which keeps so much of each raw log.
    #[must_use]
    pub fn keeping(mut self, limits: LogLimits) -> Self {
        self.logs = Arc::new(self.dir.logs().keeping(limits));
        self
    }

    /// Says once that the oldest output of a log is given up from now on.
    fn say_given_up(&self, log: LogId) -> Result<(), JournalError> {
        if self.logs.given_up(log) == 0
            || std::mem::replace(&mut lock(&self.growth).entry(log).or_default().gives_up, true)
        {
            return Ok(());
        }
        let notice = UserError::new(
            format!("{log} is longer than what is kept of it"),
            format!(
                "its newest {} MiB are kept; what is older is given up from now on",
                self.logs.limits().keep >> 20
            ),
            "To keep more, raise `logs.keep_mib`.",
        );
        self.append(Event::Person(PersonEvent::Noticed { level: Level::Info, notice })).map(drop)
    }

    /// Says, once a minute, that output cannot be written.
    fn say_failed(&self, log: LogId, error: &UserError) {
        let reported_at = lock(&self.growth).entry(log).or_default().failure_reported_at;
        if reported_at.is_some_and(|at| at.elapsed() < SAY_AGAIN) {
            return;
        }
        let notice = UserError::new(
            format!("The output of {log} cannot be written"),
            format!("{}; what comes meanwhile is missing from the log", error.why),
            error.fix.clone(),
        );
        // A disk that takes no output may take no record either: then it is said later.
        if self
            .append(Event::Person(PersonEvent::Noticed { level: Level::Warning, notice }))
            .is_ok()
        {
            lock(&self.growth).entry(log).or_default().failure_reported_at = Some(Instant::now());
        }
    }

    fn record_growth(&self, which: Which) -> Result<(), JournalError> {
        let mut growth = lock(&self.growth);
        let now = Instant::now();
        for (log, growth) in growth.iter_mut().filter(|(_, growth)| growth.is_behind()) {
            let wanted = match which {
                Which::Due => growth.is_due(now),
                Which::All => true,
                Which::One(one) => one == *log,
            };
            if wanted {
                let LogLength { bytes, lines } = growth.length;
                self.append(Event::Log(LogEvent::Grew { log: *log, bytes, lines }))?;
                growth.recorded(now);
            }
        }
        Ok(())
    }
}

impl Ledger for Recorder {
    fn record(&self, event: Event) -> Result<Seq, UserError> {
        let which = match &event {
            // Whoever sees these may look at the whole log at once.
            Event::Build(BuildEvent::Ended { .. })
            | Event::Port(PortEvent::Closed { .. })
            | Event::Port(PortEvent::Changed { .. })
            | Event::Session(SessionEvent::Ended { .. }) => Which::All,
            _ => Which::Due,
        };
        self.record_growth(which)?;
        Ok(self.append(event)?)
    }

    fn record_meanwhile(
        &self,
        event: Event,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Seq, UserError> {
        self.record_growth(Which::Due)?;
        Ok(self.append_by(|writer, at| writer.append_meanwhile(at, event, meanwhile))?)
    }

    fn store(&self, content: &[u8]) -> Result<BlobRef, UserError> {
        Ok(self.blobs.store(content)?)
    }

    fn sync_contents(&self) {
        // What fails here is told by the record that needs the content.
        let _ = self.blobs.sync();
    }

    fn append_log(&self, log: LogId, bytes: &[u8]) -> Result<(), UserError> {
        let written = self.raw_logs.pass(log, bytes, |clean| self.write_log(log, clean));
        if self.raw_logs.has_rest() {
            self.is_behind.notify_one();
        }
        written
    }

    fn flush_log(&self, log: LogId) -> Result<(), UserError> {
        let written = self.raw_logs.end(log, |rest| self.write_log(log, rest).err());
        self.record_growth(Which::One(log))?;
        written.map_or(Ok(()), Err)
    }
}

impl Recorder {
    /// Writes what was held back while nothing followed.
    fn write_held(&self) {
        // What is not written is told, and has its place as a gap.
        self.raw_logs.rest(|log, rest| drop(self.write_log(log, rest)));
    }

    fn write_log(&self, log: LogId, bytes: &[u8]) -> Result<(), UserError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let length = self.logs.append(log, bytes, now()).map_err(|error| {
            let error = UserError::from(error);
            self.say_failed(log, &error);
            error
        })?;
        self.say_given_up(log)?;
        let mut growth = lock(&self.growth);
        let grown = growth.entry(log).or_default();
        // Two threads may come here in another order than they appended.
        if length.bytes > grown.length.bytes {
            grown.length = length;
        }
        let is_due = grown.is_due(Instant::now());
        drop(growth);
        if is_due {
            self.record_growth(Which::One(log))?;
        } else {
            self.is_behind.notify_one();
        }
        Ok(())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.is_behind.notify_one();
    }
}

async fn tick_while_it_lives(recorder: Weak<Recorder>, is_behind: Arc<Notify>) {
    loop {
        is_behind.notified().await;
        loop {
            let Some((due_at, is_held)) =
                recorder.upgrade().map(|it| (it.due_at(), it.raw_logs.has_rest()))
            else {
                return;
            };
            match due_at {
                Some(due_at) => tokio::time::sleep_until(due_at.into()).await,
                None if is_held => tokio::time::sleep(HELD).await,
                None => break,
            }
            let Some(recorder) = recorder.upgrade() else { return };
            if due_at.is_none() {
                recorder.write_held();
            }
            // What fails here fails again, and is told, with the next record.
            if recorder.tick().is_err() {
                break;
            }
        }
    }
}

/// The wall clock. Before 1970 it counts as 1970.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A panic elsewhere leaves the state whole: every change is made after its write.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
