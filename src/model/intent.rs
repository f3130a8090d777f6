//! What the person wants of the engine.

use serde::{Deserialize, Serialize};

use super::blob::ContentHash;
use super::ids::{AgentName, ProposalId, QuestionId};
use super::path::ProjectPath;
use super::proposal::Verdict;
use super::team::PlanItem;

/// A wish of the person, on its way from the screen to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Decides one proposal.
    Decide {
        /// Which.
        proposal: ProposalId,
        /// [`Change::hash`](super::proposal::Change::hash) of what was on screen.
        shown: ContentHash,
        /// Changed lines of it that had not been on screen.
        #[serde(default)]
        unseen: u32,
        /// What the person says.
        verdict: Verdict,
    },
    /// Says something to the team, or to one agent.
    Say {
        /// `None`: everyone.
        to: Option<AgentName>,
        /// The words.
        text: String,
    },
    /// Replaces the plan; who is named in it speaks in that order.
    EditPlan {
        /// The whole plan as it shall be.
        items: Vec<PlanItem>,
    },
    /// Puts files into the context, or keeps them out of it.
    EditContext {
        /// Files the team shall read.
        add: Vec<ProjectPath>,
        /// Files it shall not.
        remove: Vec<ProjectPath>,
    },
    /// Answers a question.
    Answer {
        /// Which.
        question: QuestionId,
        /// The words, or one of the options.
        answer: String,
    },
    /// Lets another model answer from the next request on: a profile, with a model after a slash if
    /// it is to be another one.
    UseModel {
        /// The profile.
        profile: String,
    },
    /// Holds the run before its next step.
    Pause,
    /// Goes on after a pause.
    Resume,
    /// Ends the run in order.
    Stop,
}
