//! Work that is too long for a frame, done on a thread of its own.
//!
//! Owns the thread's way back. A job that nobody waits for now ends by itself; whoever starts
//! one that takes long looks at a flag of their own.

use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

/// How often somebody who waits for a job looks for it.
pub const LOOK: Duration = Duration::from_millis(15);

/// Work under way.
#[derive(Debug)]
pub struct BackgroundJob<T>(Receiver<T>);

/// How a job is.
#[derive(Debug, PartialEq, Eq)]
pub enum JobState<T> {
    /// Not done yet.
    Running,
    /// Done; it can be taken once.
    Done(T),
    /// It will never be done.
    Lost,
}

impl<T: Send + 'static> BackgroundJob<T> {
    #[must_use]
    pub fn start(work: impl FnOnce() -> T + Send + 'static) -> Self {
        let (send, receive) = sync_channel(1);
        // Without a thread the sender is dropped, and the job counts as lost. A receiver that is
        // gone wants no answer.
        let _ = thread::Builder::new().name("pane".to_owned()).spawn(move || send.send(work()));
        Self(receive)
    }

    /// Looks for it; never waits.
    #[must_use]
    pub fn look(&self) -> JobState<T> {
        match self.0.try_recv() {
            Ok(done) => JobState::Done(done),
            Err(TryRecvError::Empty) => JobState::Running,
            Err(TryRecvError::Disconnected) => JobState::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_done_once_and_one_that_broke_is_lost() {
        let wait = |job: &BackgroundJob<u8>| {
            loop {
                match job.look() {
                    JobState::Running => thread::yield_now(),
                    done => return done,
                }
            }
        };
        let job = BackgroundJob::start(|| 7);
        assert_eq!(wait(&job), JobState::Done(7));
        assert_eq!(wait(&job), JobState::Lost, "the thread may not be quite over yet");
    }
}
