//! What a gate is built from, and what it answers its callers with.
//!
//! Holds no state of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::Policy;
use crate::device::SerialHub;
use crate::knowledge::{Knowledge, NameList};
use crate::model::event::Level;
use crate::model::{
    AgentName, BatchId, BlobSource, CallId, Event, Ledger, PersonEvent, Proposal, ProposalId,
    ToolName, TurnId, UserError,
};
use crate::toolchain::{StopSwitch, Toolchain};
use crate::workspace::ProjectDir;

/// Where drafts come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalOrigin {
    pub turn: TurnId,
    /// The tool call.
    pub call: CallId,
    /// Who called it.
    pub agent: AgentName,
    pub tool: ToolName,
}

/// Why a batch came to no end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// The program closes; what was not decided goes on waiting in the journal.
    #[error("the program closes while proposals wait")]
    Detached,
    /// Something could not be recorded or read back, so nothing that relies on it was done.
    #[error(transparent)]
    Record(#[from] UserError),
}

impl From<GateError> for UserError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Record(error) => error,
            GateError::Detached => Self::new("The program closes", "", ""),
        }
    }
}

/// What a gate works with.
#[derive(Clone)]
pub struct GateParts {
    pub ledger: Arc<dyn Ledger>,
    /// Gives contents back after a restart.
    pub blobs: Arc<dyn BlobSource>,
    pub project_dir: Arc<ProjectDir>,
    /// Flashes and erases.
    pub toolchain: Arc<dyn Toolchain>,
    /// Sends, and lends the board's port to whoever flashes or erases.
    pub serial: Arc<SerialHub>,
    /// Rules that decide for the person.
    pub policy: Arc<Policy>,
    /// Names that the framework has taken; `None` where they are not known.
    pub names: Option<Arc<NameList>>,
    /// Where the names that the framework declares are looked up.
    pub knowledge: Option<Arc<Knowledge>>,
    /// Ends a running flash at once.
    pub cancel: StopSwitch,
}

impl GateParts {
    /// Records what the person is warned of.
    pub(super) fn warn(&self, notice: UserError) -> Result<(), UserError> {
        let noticed = PersonEvent::Noticed { level: Level::Warning, notice };
        self.ledger.record(Event::Person(noticed)).map(drop)
    }
}

/// The numbers that come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextNumbers {
    /// For a proposal.
    pub proposal: ProposalId,
    /// For a batch.
    pub batch: BatchId,
}

impl NextNumbers {
    /// The numbers that follow those of a session's proposals, or the first ones.
    pub fn after<'a>(proposals: impl IntoIterator<Item = &'a Proposal>) -> Self {
        let mut numbers = Self { proposal: ProposalId(1), batch: BatchId(1) };
        proposals.into_iter().for_each(|known| numbers.pass(known));
        numbers
    }

    /// Goes behind the numbers of a proposal.
    pub fn pass(&mut self, known: &Proposal) {
        self.proposal = self.proposal.max(known.id.next());
        self.batch = self.batch.max(known.batch.id.next());
    }

    /// Takes the number of a batch.
    pub(super) fn take_batch(&mut self) -> BatchId {
        let batch = self.batch;
        self.batch = batch.next();
        batch
    }

    /// Takes the number of a proposal.
    pub(super) fn take_proposal(&mut self) -> ProposalId {
        let proposal = self.proposal;
        self.proposal = proposal.next();
        proposal
    }
}

/// Locks what the parts of a gate share.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change leaves the state whole, so a panic elsewhere does not make it wrong.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
