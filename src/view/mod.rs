//! The session as the screen knows it: a fold of records, and nothing else.
//!
//! Owns [`SessionView::apply`]. Must not read a clock, a file or the environment: the same records
//! give the same view, live, resumed or replayed.

mod chat;
mod head;
mod logs;
mod marks;
mod project;
mod review;
mod team;

pub use chat::{CallState, CallView, Chat, Entry, Part, RetryView, TrimView, TurnView};
pub use head::{Head, PhaseView, Question, RunState, Speaker};
pub use logs::{BuildView, Logs, PanicView, SerialView};
pub use marks::{Mark, MarkKind};
pub use project::{FileMark, FileView, Project};
pub use review::{InquiryState, InquiryView, ProposalView, Restatement, Review, RuleView};
pub use team::{ContextView, PlanView, StepState, TeamView};

use crate::model::{Record, Seq, Timestamp};

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
        self.chat.apply(record);
        self.review.apply(record);
        self.project.apply(record, &self.review);
        self.team.apply(record);
        self.logs.apply(record);
        self.marks.extend(marks::mark_of(record));
    }
}
