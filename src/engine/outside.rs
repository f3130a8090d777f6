//! Records what others change in the project while the run goes on.
//!
//! Owns when it is looked for. What the gate itself writes is no such change: it is told apart by
//! what the session's records say it wrote.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::run::Shared;
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

/// Looks for changes until the run is over or gone.
pub(super) async fn watch(shared: Weak<Shared>, project: Arc<Sandbox>, state: SharedState) {
    let started = tokio::task::spawn_blocking({
        let project = Arc::clone(&project);
        move || Watch::new(project, LIMIT)
    });
    let Ok(mut watch) = started.await else { return };
    let mut pause = INTERVAL;
    loop {
        tokio::time::sleep(pause).await;
        let (project, state) = (Arc::clone(&project), state.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let start = Instant::now();
            let changed = look(&mut watch, &project, &state);
            (watch, changed, start.elapsed())
        });
        let Ok((back, files, took)) = looked.await else { return };
        watch = back;
        pause = INTERVAL.max(took * SHARE);
        let Some(shared) = shared.upgrade() else { return };
        if shared.progress().ended().is_some() {
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
