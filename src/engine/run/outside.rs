//! Records what others change in the project while the run goes on.
//!
//! Owns when it is looked for, on a thread of its own and by the real clock: looking is no step of
//! the run. What the gate itself writes is no such change: it is told apart by what the session's
//! records say it wrote.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::shared::Shared;
use crate::model::{Event, FileEvent, FilesEvent, OutsideChange, ProjectPath};
use crate::tools::SharedState;
use crate::workspace::{Looked, Next, ProjectDir, SETTLE, Watch};

/// Shortest time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// A look may take this part of the time, so that a large project on a slow disk is looked at less
/// often.
const SHARE: u32 = 50;

/// Longest time between two looks where the system says when to look.
const RARELY: Duration = Duration::from_secs(60);

/// The part of the time that those looks may take.
const RARE_SHARE: u32 = 2_000;

/// Files that are watched.
const LIMIT: usize = 5_000;

/// Looks for changes as long as it is kept.
#[derive(Debug)]
pub(in crate::engine) struct Lookout {
    bell: Arc<Bell>,
}

impl Lookout {
    /// Begins to look. Without a thread nothing is noticed; the gate still compares every file
    /// before it writes.
    pub fn begin(shared: Weak<Shared>, project: Arc<ProjectDir>, state: SharedState) -> Self {
        let bell = Arc::new(Bell::default());
        let signal = Arc::clone(&bell);
        let work = move || watch(&signal, &shared, &project, &state);
        let _ = thread::Builder::new().name("outside".to_owned()).spawn(work);
        Self { bell }
    }
}

impl Drop for Lookout {
    fn drop(&mut self) {
        self.bell.end();
    }
}

/// Wakes the thread that looks.
#[derive(Debug, Default)]
struct Bell {
    rung: Mutex<Rung>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Rung {
    /// When something may have changed for the first time since the last look.
    reported_at: Option<Instant>,
    /// Nobody wants to know any more.
    is_over: bool,
}

impl Bell {
    /// Something may have changed. Of many in a row only the first one wakes anybody.
    fn ring(&self) {
        let mut rung = self.lock();
        if rung.reported_at.is_none() {
            rung.reported_at = Some(Instant::now());
            self.changed.notify_all();
        }
    }

    fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    fn is_over(&self) -> bool {
        self.lock().is_over
    }

    fn lock(&self) -> MutexGuard<'_, Rung> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `until`, or, once something may have changed, for a moment, but not before
    /// `earliest`; `false` when it is over.
    fn wait(&self, earliest: Instant, until: Instant) -> bool {
        let mut rung = self.lock();
        loop {
            let now = Instant::now();
            let end = rung.reported_at.map_or(until, |reported| earliest.max(reported + SETTLE));
            if rung.is_over || now >= end {
                rung.reported_at = None;
                return !rung.is_over;
            }
            let waited = self.changed.wait_timeout(rung, end - now);
            rung = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn watch(bell: &Arc<Bell>, shared: &Weak<Shared>, project: &Arc<ProjectDir>, state: &SharedState) {
    let reported = Arc::downgrade(bell);
    let tell = move || {
        if let Some(bell) = reported.upgrade() {
            bell.ring();
        }
    };
    let mut watch = Watch::new(Arc::clone(project), LIMIT, tell);
    let mut earliest = Instant::now() + INTERVAL;
    let mut until = earliest;
    while bell.wait(earliest, until) {
        let start = Instant::now();
        let Looked { changed, next } = look(&mut watch, project, state);
        let cost = start.elapsed();
        let Some(shared) = shared.upgrade() else { return };
        if shared.progress().ended().is_some() || bell.is_over() {
            return;
        }
        if !changed.is_empty() {
            // What cannot be recorded ends the run elsewhere.
            let _ = shared.record(Event::Files(FilesEvent::Disk(FileEvent::ChangedOutside {
                files: changed,
            })));
        }
        earliest = start + INTERVAL.max(cost * SHARE);
        until = match next {
            Next::Soon | Next::NowAndThen => earliest,
            Next::WhenNotified => start + RARELY.max(cost * RARE_SHARE),
        };
    }
}

/// What others changed.
fn look(watch: &mut Watch, project: &ProjectDir, state: &SharedState) -> Looked {
    // Taken before the look: what is written after it is seen as changed only next time.
    let before = state.snapshot();
    let is_being_written = |path: &ProjectPath| before.is_being_written(path);
    let mut looked = watch.look(is_being_written);
    let after = state.snapshot();
    let is_own = |change: &OutsideChange| {
        after.is_being_written(&change.path)
            || after
                .written(&change.path)
                .is_some_and(|own| project.hash(&change.path).is_ok_and(|hash| hash == *own))
    };
    looked.changed.retain(|change| !is_own(change));
    looked
}
