//! The gate: the one way from a draft to an effect.
//!
//! Puts its parts together and passes each wish on to the part that answers it; must hold no state
//! of its own.

use std::sync::{Arc, Mutex, Weak};

use serde_json::Value;

use super::admission;
use super::boards::Boards;
use super::deciding::Deciding;
use super::edited::{EditedVersions, VersionExaminer};
use super::effect_time::WorkTime;
use super::examinations::Examinations;
use super::execution::Execution;
use super::feedback::AgentFeedback;
use super::history::ChangeHistory;
use super::parts::{GateError, GateParts, NextNumbers, ProposalOrigin, lock};
use super::proposing::Proposing;
use super::queue::ApprovalQueue;
use super::restate::Restatements;
use super::resume::{Recorded, Recovery};
use super::rulings::Rulings;
use super::set_changes::SetChanges;
use super::undo::Undo;
use crate::model::{
    BlobSource, Draft, Event, Proposal, ProposalId, Record, RecordSource, RuleId, SessionRule,
    Settlement, UserError,
};
use crate::sandbox::Runner;
use crate::toolchain::StopSwitch;

/// The one way from a draft to an effect.
pub struct Gate {
    pub(super) parts: Arc<GateParts>,
    pub(super) examinations: Arc<Examinations>,
    pub(super) versions: Arc<EditedVersions>,
    rulings: Arc<Rulings>,
    proposing: Arc<Proposing>,
    pub(super) deciding: Arc<Deciding>,
    recovery: Arc<Recovery>,
    undo: Undo,
    boards: Arc<Boards>,
    feedback: Arc<AgentFeedback>,
    history: Arc<Mutex<ChangeHistory>>,
}

impl Gate {
    /// Puts a gate before `desk`; it does not keep the desk alive.
    #[must_use]
    pub fn new(parts: GateParts, desk: &ApprovalQueue, numbers: NextNumbers) -> Self {
        let parts = Arc::new(parts);
        let examinations = Arc::new(Examinations::new(&parts));
        let rulings = Arc::new(Rulings::new(&parts, &examinations, desk));
        let changes = Arc::new(SetChanges::new(&parts, &examinations, &rulings));
        let versions = Arc::new(EditedVersions::new(&parts, &examinations, &rulings));
        let proposing = Proposing::new(&parts, &examinations, (&rulings, &changes), numbers);
        let proposing = Arc::new(proposing);
        let boards = Arc::new(Boards::new(&parts));
        let feedback = Arc::new(AgentFeedback::new(&parts.blobs));
        let history = Arc::default();
        let execution = Arc::new(Execution {
            parts: Arc::clone(&parts),
            examinations: Arc::clone(&examinations),
            versions: Arc::clone(&versions),
            changes: Arc::clone(&changes),
            boards: Arc::clone(&boards),
            feedback: Arc::clone(&feedback),
            history: Arc::clone(&history),
        });
        let deciding = Arc::new(Deciding {
            parts: Arc::clone(&parts),
            examinations: Arc::clone(&examinations),
            rulings: Arc::clone(&rulings),
            versions: Arc::clone(&versions),
            changes: Arc::clone(&changes),
            restatements: Restatements::new(&parts, &examinations, &history),
            execution: Arc::clone(&execution),
            feedback: Arc::clone(&feedback),
        });
        let recovery = Arc::new(Recovery {
            parts: Arc::clone(&parts),
            examinations: Arc::clone(&examinations),
            rulings: Arc::clone(&rulings),
            changes,
            proposing: Arc::clone(&proposing),
            deciding: Arc::clone(&deciding),
            execution: Arc::clone(&execution),
            feedback: Arc::clone(&feedback),
        });
        let undo = Undo {
            parts: Arc::clone(&parts),
            rulings: Arc::clone(&rulings),
            proposing: Arc::clone(&proposing),
            execution,
            recovery: Arc::clone(&recovery),
            history: Arc::clone(&history),
        };
        Self {
            parts,
            examinations,
            versions,
            rulings,
            proposing,
            deciding,
            recovery,
            undo,
            boards,
            feedback,
            history,
        }
    }

    /// Effects on boards take no longer from here on than there is time. Counts once.
    pub fn bound_by(&self, time: Weak<dyn WorkTime>) {
        self.boards.bound_by(time);
    }

    /// Whether a board is being written or read.
    #[must_use]
    pub fn is_at_board(&self) -> bool {
        self.boards.is_under_way()
    }

    /// Work on a board that goes on until what this gives is dropped.
    #[cfg(test)]
    pub fn work_on_board(&self) -> impl Sized + '_ {
        self.boards.begin()
    }

    /// Ends what is under way in the run.
    #[must_use]
    pub fn stop_switch(&self) -> StopSwitch {
        self.parts.cancel.clone()
    }

    /// Where contents of recorded proposals are read from.
    #[must_use]
    pub fn contents(&self) -> &dyn BlobSource {
        self.parts.blobs.as_ref()
    }

    /// Where there is no sandbox for what agents wrote, no rule approves anything from here on. Counts
    /// once.
    pub fn sandboxed_by(&self, runner: Runner) {
        self.examinations.sandboxed_by(runner);
    }

    /// Takes note of an event of the run that findings take into account.
    pub fn observe(&self, event: &Event) {
        self.examinations.observe(event);
    }

    /// Whether drafts may be put before a person at all.
    ///
    /// # Errors
    /// For the agent: a change that could not be carried out if it were approved, or a name that
    /// means another file on another system.
    pub fn admit(&self, drafts: &[Draft]) -> Result<(), UserError> {
        admission::admit(&self.parts.project_dir, drafts)
    }

    /// Brings a batch to its end: records every proposal, waits for every verdict, performs what is
    /// approved in the order of the verdicts, and tells how each ended, in the order of `drafts`.
    ///
    /// # Errors
    /// When the program leaves, or something could not be recorded.
    pub async fn submit(
        &self,
        origin: &ProposalOrigin,
        drafts: Vec<Draft>,
    ) -> Result<Vec<Settlement>, GateError> {
        let batch = self.proposing.new_batch(drafts.len());
        let waiting = self.proposing.propose(origin, batch, drafts).await?;
        self.deciding.settle_all(waiting).await
    }

    /// As [`Gate::submit`] for a call some of whose drafts are proposals already. `recorded` and
    /// `drafts` are matched by position; a recorded proposal goes before its draft, which may have
    /// been made from files that have changed since.
    ///
    /// - What was settled stays settled.
    /// - What was decided without an outcome is looked up on the disk and never done again.
    /// - What waits is put on the desk again, unchanged, under its number. If its contents are lost,
    ///   that is told on it, and it can only be rejected.
    /// - Drafts that were not recorded yet are proposed now.
    ///
    /// # Errors
    /// As [`Gate::submit`].
    pub async fn resubmit(
        &self,
        origin: &ProposalOrigin,
        recorded: Vec<Recorded>,
        drafts: Vec<Draft>,
    ) -> Result<Vec<Settlement>, GateError> {
        self.recovery.resubmit(origin, recorded, drafts).await
    }

    /// A proposal that waits for the person, as it was stated last.
    #[must_use]
    pub fn waiting(&self, proposal: ProposalId) -> Option<Proposal> {
        self.rulings.waiting(proposal)
    }

    /// Looks at versions of the person for as long as the run goes on, and keeps nothing of it
    /// alive. Called on the runtime of the run.
    #[must_use]
    pub fn examiner(&self) -> VersionExaminer {
        self.versions.examiner()
    }

    /// Makes a rule of the session; it also decides what waits and fits it.
    ///
    /// # Errors
    /// When the rule may not be made, or could not be recorded; then it does not hold.
    pub fn add_rule(&self, rule: SessionRule) -> Result<RuleId, UserError> {
        self.rulings.add_rule(rule)
    }

    /// Ends a rule of the session.
    ///
    /// # Errors
    /// When it does not hold, or could not be recorded.
    pub fn revoke_rule(&self, id: RuleId) -> Result<(), UserError> {
        self.rulings.revoke_rule(id)
    }

    /// What the agent is to be told about these decisions beside their outcomes: words, comments,
    /// and each difference between what was proposed and what was done. Given once.
    #[must_use]
    pub fn take_feedback(&self, settlements: &[Settlement]) -> Vec<Value> {
        self.feedback.take(settlements)
    }

    /// Takes the change that proposal `id` made back. The events that were recorded are given too,
    /// in order, for whoever folds them.
    ///
    /// # Errors
    /// When there is nothing to take back under that number, or it could not be recorded.
    pub fn undo(&self, id: ProposalId) -> Result<(Settlement, Vec<Event>), UserError> {
        self.undo.undo(id)
    }

    /// Folds the records of an earlier start of the program in: the rules of the session, and what
    /// was carried out. An undo that was cut off is looked up on the disk and settled.
    ///
    /// # Errors
    /// When that cannot be recorded.
    pub fn recall(&self, records: &dyn RecordSource) -> Result<(), UserError> {
        records.each(&mut |record| self.learn(record))?;
        self.settle_unfinished()
    }

    /// Folds one record of an earlier start of the program in.
    pub fn learn(&self, record: &Record) {
        self.examinations.observe(&record.event);
        lock(&self.history).recall(record);
        self.rulings.recall(record);
    }

    /// Looks up on the disk what became of undos that were cut off, and settles them.
    ///
    /// # Errors
    /// When that cannot be recorded.
    pub fn settle_unfinished(&self) -> Result<(), UserError> {
        self.undo.settle_unfinished()
    }
}
