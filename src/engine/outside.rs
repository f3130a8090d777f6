//! Records what others change in the project while the run goes on.
//!
//! Owns when it is looked for, on a thread of its own and by the real clock: looking is no step of
//! the run. What the gate itself writes is no such change: it is told apart by what the session's
//! records say it wrote.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::shared::Shared;
use crate::model::{Event, FileEvent, OutsideChange, ProjectPath};
use crate::tools::SharedState;
use crate::workspace::{Sandbox, Watch};

/// Shortest time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// A look may take this part of the time, so that a large project on a slow disk is looked at less
/// often.
const SHARE: u32 = 50;

/// Files that are watched.
const LIMIT: usize = 5_000;

/// Looks for changes as long as it is kept.
#[derive(Debug)]
pub(super) struct Lookout {
    _stop: Sender<()>,
}

impl Lookout {
    /// Begins to look. Without a thread nothing is noticed; the gate still compares every file
    /// before it writes.
    pub fn begin(shared: Weak<Shared>, project: Arc<Sandbox>, state: SharedState) -> Self {
        let (stop, stopped) = channel();
        let work = move || watch(&stopped, &shared, &project, &state);
        let _ = thread::Builder::new().name("outside".to_owned()).spawn(work);
        Self { _stop: stop }
    }
}

fn watch(
    stopped: &Receiver<()>,
    shared: &Weak<Shared>,
    project: &Arc<Sandbox>,
    state: &SharedState,
) {
    let mut watch = Watch::new(Arc::clone(project), LIMIT);
    let mut pause = INTERVAL;
    while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let start = Instant::now();
        let files = look(&mut watch, project, state);
        pause = INTERVAL.max(start.elapsed() * SHARE);
        let Some(shared) = shared.upgrade() else { return };
        let is_over = shared.progress().ended().is_some();
        if is_over || stopped.try_recv() != Err(TryRecvError::Empty) {
            return;
        }
        if !files.is_empty() {
            // What cannot be recorded ends the run elsewhere.
            let _ = shared.record(Event::Files(FileEvent::ChangedOutside { files }));
        }
    }
}

/// What others changed.
fn look(watch: &mut Watch, project: &Sandbox, state: &SharedState) -> Vec<OutsideChange> {
    // Taken before the look: what is written after it is seen as changed only next time.
    let before = state.snapshot();
    let is_being_written = |path: &ProjectPath| before.is_being_written(path);
    let mut changed = watch.look(is_being_written);
    let after = state.snapshot();
    let is_own = |change: &OutsideChange| {
        after.is_being_written(&change.path)
            || after
                .written(&change.path)
                .is_some_and(|own| project.hash(&change.path).is_ok_and(|hash| hash == *own))
    };
    changed.retain(|change| !is_own(change));
    changed
}
