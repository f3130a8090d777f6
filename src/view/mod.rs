//! The session as the screen knows it: a fold of records, and the lines of its raw logs.
//!
//! Owns [`SessionView::apply`], and the index and the scan of lines. Must not read a clock, a file or the environment: the same records
//! give the same view, live, resumed or replayed.

mod analyses;
mod blackboard;
mod chat;
mod context;
mod entry;
mod head;
mod kept;
pub mod line_index;
pub mod line_scan;
mod logs;
mod marks;
mod plan;
mod project;
mod review;
mod ruled;
mod team;
mod test_runs;
mod waits;
mod work;
mod work_words;

pub use analyses::{Analyses, AnalysisRow, AnalysisView};
pub use blackboard::{Blackboard, PostedArtifact};
pub use chat::{Chat, KEPT};
pub use entry::{
    CallState, CallView, ChatEntry, RetryView, SummarisedView, SummaryView, TrimView, TurnPart,
    TurnView,
};
pub use head::{Head, PersonQuestion, PhaseView, RunState, RunView, Speaker};
pub use logs::{BuildView, Logs, PanicView, SerialView};
pub use marks::{Mark, MarkKind, Marks, mark_of};
pub use plan::{FilePlan, PlannedFile, PlannedState};
pub use project::{ContextWish, FileMark, FileView, Project};
pub use review::{InquiryState, InquiryView, ProposalView, Restatement, Review, RuleView};
pub use ruled::{Ruled, RuledView, against, rule_words};
pub use team::{ContextView, PendingList, PlanView, PolicyView, Progress, StepState, TeamView};
pub use test_runs::{TestRunView, TestRuns};
pub use work::{AgentWork, DecisionCounts, FileFate, NotDone, PassCounts, RunWork, Work};
pub use work_words::{FileNames, duration, plural, summary};

use std::sync::Arc;

use crate::model::{
    ContentHash, Event, OpenCall, Outcome, ProjectPath, ProposalEvent, QuestionId, READ_FILES,
    Record, START_PLAN, Seq, Timestamp, UserError,
};

/// Settled proposals, builds and connections that [`SessionView::thin_out`] leaves.
const THIN: usize = 16;

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
    pub marks: Marks,
    /// What each run came to.
    pub work: Work,
    /// Calls that models are still writing, of which no record tells: empty in a replay.
    pub open_calls: Arc<[OpenCall]>,
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
        let review = &self.review;
        self.work.apply(record, |id| review.get(id).map(|view| &view.proposal));
        self.chat.apply(record, &self.review, &self.work);
        self.project.apply(record, &self.review);
        self.team.apply(record);
        self.logs.apply(record);
        if self.has_changed_file(record) {
            self.logs.note_changed_file();
        }
        self.marks.apply(record);
    }

    /// Whether a change of a file was applied, or taken back.
    fn has_changed_file(&self, record: &Record) -> bool {
        let Event::Proposal(ProposalEvent::Settled { proposal, outcome: Outcome::Applied }) =
            &record.event
        else {
            return false;
        };
        let view = self.review.get(*proposal);
        view.is_some_and(|view| view.proposal.change.board().is_none())
    }

    /// Notes that the run stopped unexpectedly, which no record can say.
    pub fn break_off(&mut self, why: UserError) {
        self.head.speakers.clear();
        self.head.question = None;
        self.head.state = RunState::BrokenOff(why.clone());
        self.chat.break_off(why);
    }

    /// Whether an older part of the session is not in it any more.
    #[must_use]
    pub fn is_long(&self) -> bool {
        let older = [self.review.older, self.logs.older_builds, self.logs.older_serials];
        self.chat.entries.len() > KEPT || older.iter().any(|count| *count > 0)
    }

    /// How far the team is with its plan, or with the files that it set out to write; `None`: there
    /// is neither, or nothing tells how far it is.
    #[must_use]
    pub fn progress(&self) -> Option<Progress> {
        let plan = self.team.plan.as_ref().and_then(PlanView::progress);
        plan.or_else(|| self.chat.file_plan().map(FilePlan::progress))
    }

    /// Gives up what the newest part of a session does not need: a view that is kept beside others
    /// takes little memory.
    pub fn thin_out(&mut self) {
        self.review.shed(THIN);
        self.logs.shed(THIN, THIN);
    }

    /// What the question that waits lays before the person; `None`: it is any other question, or
    /// none waits.
    #[must_use]
    pub fn pending_list(&self) -> Option<(QuestionId, PendingList<'_>)> {
        let question = self.head.question.as_ref().filter(|question| question.agent.is_none())?;
        let first = question.options.first().map(String::as_str);
        let what = match (first, &self.team.plan, &self.team.context) {
            (Some(START_PLAN), Some(plan), _) => PendingList::Plan(plan),
            (Some(READ_FILES), _, Some(context)) => PendingList::Context(context),
            _ => return None,
        };
        Some((question.id, what))
    }

    /// What the session last wrote to a file, if it did and the file was not removed since.
    #[must_use]
    pub fn kept(&self, path: &ProjectPath) -> Option<ContentHash> {
        self.review.written(path)
    }
}

#[cfg(test)]
mod ruled_tests;
