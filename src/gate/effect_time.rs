//! How long an effect on a board may take: as long as the run has time for its work.
//!
//! Owns that an effect whose time is over is asked to end, and awaited: what writes to a board stops
//! between two blocks. Must not know how time is counted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::model::{BoardInfo, Outcome, UserError};

/// The time that a run has for its work.
pub trait WorkTime: Send + Sync {
    /// How much is left; `None`: no limit.
    fn left(&self) -> Option<Duration>;

    /// Takes note of time that was worked.
    fn worked(&self, time: Duration);
}

/// The work on boards: what time it has, and how much of it is under way.
#[derive(Default)]
pub(super) struct BoardWork {
    /// The time that the run has; empty while none runs.
    time: OnceLock<Weak<dyn WorkTime>>,
    under_way: AtomicUsize,
}

impl BoardWork {
    /// It takes no longer from here on than there is time. Counts once.
    pub(super) fn bound_by(&self, time: Weak<dyn WorkTime>) {
        // A gate serves one session.
        let _ = self.time.set(time);
    }

    /// Whether a board is being written or read.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) > 0
    }

    fn time(&self) -> Option<Arc<dyn WorkTime>> {
        self.time.get().and_then(Weak::upgrade)
    }

    pub(super) fn begin(&self) -> BoardWorkGuard<'_> {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        BoardWorkGuard(self)
    }
}

/// One of them; over when it is dropped.
pub(super) struct BoardWorkGuard<'a>(&'a BoardWork);

impl Drop for BoardWorkGuard<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What became of an effect.
pub(super) struct Ended<T> {
    pub(super) result: T,
    /// Whether it was asked to end because its time was over.
    pub(super) is_out_of_time: bool,
}

/// Waits for an effect that ends when `cancel` is cancelled, and cancels it when the time of the
/// run is over.
pub(super) async fn in_time<T>(
    board: &BoardWork,
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> Ended<T> {
    let _under_way = board.begin();
    let time = board.time();
    let left = time.as_ref().and_then(|time| time.left());
    let started = Instant::now();
    let mut work = std::pin::pin!(work);
    let in_time = match left {
        Some(left) => tokio::time::timeout(left, &mut work).await.ok(),
        None => Some(work.as_mut().await),
    };
    let ended = match in_time {
        Some(result) => Ended { result, is_out_of_time: false },
        None => {
            cancel.cancel();
            Ended { result: work.await, is_out_of_time: true }
        }
    };
    if let Some(time) = time {
        time.worked(started.elapsed());
    }
    ended
}

/// What is told of an effect that failed because its time was over.
pub(super) fn out_of_time(act: &str, board: &BoardInfo, error: &UserError) -> Outcome {
    Outcome::Interrupted(format!(
        "The time of the run was over, and the {act} was ended between two blocks ({}); what {} \
         holds now is unknown.",
        error.why, board.label
    ))
}
