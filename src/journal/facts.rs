//! What a journal alone tells of its session, for the list of sessions.
//!
//! Must not tell whether a program runs the session: only its lock does.

use serde::{Deserialize, Serialize};

use crate::model::event::SessionStart;
use crate::model::{Seq, SessionOutcome, Timestamp};

/// What was asked for in a session after its first request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterRequest {
    /// Counted from 1 over the whole session, so that the first of these is 2.
    pub number: u32,
    pub task: String,
    /// The team that worked on it.
    pub team: String,
}

/// What a journal alone tells of its session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct JournalFacts {
    pub start: Option<SessionStart>,
    pub later: Vec<LaterRequest>,
    pub started_at: Timestamp,
    pub last_at: Timestamp,
    pub last: Seq,
    pub bytes: u64,
    /// How the last run ended; `None`: it has not.
    pub outcome: Option<SessionOutcome>,
    /// Proposals and questions that wait for the person, and how many of them are questions.
    pub waiting: usize,
    pub questions: usize,
}
