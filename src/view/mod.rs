//! The session as the screen knows it: a fold of records, and nothing else.
//!
//! Owns [`SessionView::apply`]. Must not read a clock, a file or the environment: the same records
//! give the same view, live, resumed or replayed.

mod chat;
mod context;
mod entry;
mod head;
mod logs;
mod marks;
mod plan;
mod project;
mod review;
mod ruled;
mod team;
mod waits;

pub use chat::{Chat, KEPT};
pub use entry::{CallState, CallView, Entry, Part, RetryView, TrimView, TurnView};
pub use head::{Head, PhaseView, Question, RunState, Speaker};
pub use logs::{BuildView, Logs, PanicView, SerialView};
pub use marks::{Mark, MarkKind};
pub use plan::{FilePlan, PlannedFile, PlannedState};
pub use project::{FileMark, FileView, Project, Wanted};
pub use review::{InquiryState, InquiryView, ProposalView, Restatement, Review, RuleView};
pub use ruled::{Ruled, RuledView, against, rule_words};
pub use team::{ContextView, LaidOut, PlanView, StepState, TeamView};

use std::sync::Arc;

use crate::model::{
    ContentHash, Outcome, ProjectPath, QuestionId, READ_FILES, Record, START_PLAN, Seq, Timestamp,
    UserError,
};

/// Everything the panes show. Cheap to clone: finished parts are shared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionView {
    /// The last record folded in.
    pub seq: Seq,
    /// When that record was made.
    pub at: Timestamp,
    /// When the first record was made.
    pub started_at: Timestamp,
    /// What the header shows.
    pub head: Head,
    /// What was said and done, in order.
    pub chat: Chat,
    /// The project's files.
    pub project: Project,
    /// Proposals, decided and waiting.
    pub review: Review,
    /// The team's plan, context and blackboard.
    pub team: TeamView,
    /// Builds and serial connections.
    pub logs: Logs,
    /// Moments worth a mark on the timeline.
    pub marks: Vec<Mark>,
}

impl SessionView {
    /// Folds one record in. Records that name something unknown (after a damaged line) are
    /// taken as far as they make sense.
    pub fn apply(&mut self, record: &Record) {
        if self.seq == Seq(0) {
            self.started_at = record.at;
        }
        self.seq = record.seq;
        self.at = record.at;
        self.head.apply(record);
        self.review.apply(record);
        self.chat.apply(record, &self.review);
        self.project.apply(record, &self.review);
        self.team.apply(record);
        self.logs.apply(record);
        self.marks.extend(marks::mark_of(record));
    }

    /// Notes that the run broke off, which no record can say.
    pub fn break_off(&mut self, why: UserError) {
        self.head.speaker = None;
        self.head.question = None;
        self.head.state = RunState::BrokenOff(why.clone());
        self.chat.break_off(why);
    }

    /// What the question that waits lays before the person; `None`: it is any other question, or
    /// none waits.
    #[must_use]
    pub fn laid_out(&self) -> Option<(QuestionId, LaidOut<'_>)> {
        let question = self.head.question.as_ref().filter(|question| question.agent.is_none())?;
        let first = question.options.first().map(String::as_str);
        let what = match (first, &self.team.plan, &self.team.context) {
            (Some(START_PLAN), Some(plan), _) => LaidOut::Plan(plan),
            (Some(READ_FILES), _, Some(context)) => LaidOut::Context(context),
            _ => return None,
        };
        Some((question.id, what))
    }

    /// What the session last wrote to a file, if it did and the file was not removed since.
    #[must_use]
    pub fn kept(&self, path: &ProjectPath) -> Option<ContentHash> {
        let applied = |view: &&Arc<ProposalView>| {
            view.outcome == Some(Outcome::Applied) && view.proposal.change.path() == Some(path)
        };
        let found = self.review.proposals.iter().rev().find(applied)?;
        let change = &found.proposal.change;
        let decision = found.decision.as_ref().map(|(decision, _)| decision);
        let written = decision.and_then(|decision| decision.written(change));
        written.or_else(|| change.after()).map(|content| content.hash)
    }
}

#[cfg(test)]
mod ruled_tests;
