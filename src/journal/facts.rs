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
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JournalFacts {
    /// What it is about; `None` when the first records cannot be read.
    pub start: Option<SessionStart>,
    /// What was asked for later, as far as the latest records tell, oldest first.
    pub later: Vec<LaterRequest>,
    /// When it began; 0 when unknown.
    pub started_at: Timestamp,
    /// When the last record was made; 0 when unknown.
    pub last_at: Timestamp,
    /// Number of the last record.
    pub last: Seq,
    /// Length of the journal in bytes.
    pub bytes: u64,
    /// How the last run ended; `None`: it has not.
    pub outcome: Option<SessionOutcome>,
    /// Proposals and questions that wait for the person, among the latest records.
    pub waiting: usize,
    /// How many of them are questions.
    pub questions: usize,
}
