//! Reads the list of sessions again while the start screen shows it.
//!
//! Owns when that is done. The sessions are read on a thread of their own, so that no key waits.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::ui::start::StartSession;

/// How long the list may be old while nobody does anything.
const IDLE: Duration = Duration::from_secs(5);

/// How long it may be old when the person does something.
const ACTIVE: Duration = Duration::from_secs(2);

type Read = dyn Fn(RequestScope) -> Option<Vec<StartSession>> + Send + Sync;

/// Which requests of the sessions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestScope {
    /// Those that the end of a journal tells.
    Last,
    /// All of them, for a search.
    All,
}

/// Tells which sessions there are; `None`: they cannot be read now.
#[derive(Clone)]
pub struct SessionReader(Arc<Read>);

impl SessionReader {
    /// Sessions as `read` tells them; it may take its time.
    pub fn new(
        read: impl Fn(RequestScope) -> Option<Vec<StartSession>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(read))
    }
}

/// When the list is read again, and the reading that is under way.
pub(super) struct SessionRefresh {
    reader: SessionReader,
    /// When the list was read last.
    read_at: Instant,
    /// How old it may become.
    most_age: Duration,
    /// Which requests are read from now on.
    scope: RequestScope,
    reading: Option<oneshot::Receiver<Option<Vec<StartSession>>>>,
}

impl SessionRefresh {
    /// For a list that has just been read.
    pub fn new(reader: SessionReader) -> Self {
        let (read_at, scope) = (Instant::now(), RequestScope::Last);
        Self { reader, read_at, most_age: IDLE, scope, reading: None }
    }

    /// The person does something, or comes back: an old list is read at once.
    pub const fn hurry(&mut self) {
        self.most_age = ACTIVE;
    }

    /// All requests are looked for: they are read at once.
    pub fn read_all_requests(&mut self) {
        if self.scope == RequestScope::Last {
            (self.scope, self.reading, self.most_age) = (RequestScope::All, None, Duration::ZERO);
        }
    }

    /// Forgets what is being read: the list was changed here meanwhile.
    pub fn discard(&mut self) {
        (self.reading, self.read_at, self.most_age) = (None, Instant::now(), IDLE);
    }

    /// The sessions, when they were read again, and with which requests. Nothing is lost when it is
    /// not waited for to its end.
    pub async fn next(&mut self) -> (Vec<StartSession>, RequestScope) {
        loop {
            let reading = match &mut self.reading {
                Some(reading) => reading,
                None => {
                    tokio::time::sleep_until(self.read_at + self.most_age).await;
                    let (done, reading) = oneshot::channel();
                    let (reader, scope) = (self.reader.clone(), self.scope);
                    thread::spawn(move || done.send((reader.0)(scope)));
                    self.reading.insert(reading)
                }
            };
            let read = reading.await.ok().flatten();
            self.discard();
            if let Some(sessions) = read {
                return (sessions, self.scope);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list that was read so long ago.
    fn refresh(age: Duration) -> SessionRefresh {
        let mut refresh = SessionRefresh::new(SessionReader::new(|_| Some(Vec::new())));
        refresh.read_at = Instant::now().checked_sub(age).unwrap();
        refresh
    }

    async fn is_read_at_once(refresh: &mut SessionRefresh) -> bool {
        tokio::time::timeout(Duration::from_millis(900), refresh.next()).await.is_ok()
    }

    #[tokio::test]
    async fn an_old_list_is_read_again_and_sooner_when_the_person_is_there() {
        assert!(!is_read_at_once(&mut refresh(Duration::from_secs(3))).await);
        assert!(is_read_at_once(&mut refresh(Duration::from_secs(6))).await);
        let mut hurried = refresh(Duration::from_secs(3));
        hurried.hurry();
        assert!(is_read_at_once(&mut hurried).await);
        hurried.hurry();
        assert!(!is_read_at_once(&mut hurried).await, "not with each key");
        hurried.read_all_requests();
        assert!(is_read_at_once(&mut hurried).await, "a search begins");
        assert_eq!(hurried.scope, RequestScope::All);
        hurried.read_all_requests();
        assert!(!is_read_at_once(&mut hurried).await, "once");
    }
}
