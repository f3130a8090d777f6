//! What the person wants of the engine.

use serde::{Deserialize, Serialize};

use super::blob::ContentHash;
use super::decision::{Amended, DecisionNote, Side, Verdict};
use super::ids::{AgentName, ProposalId, QuestionId, RuleId};
use super::passage::MarkedPassage;
use super::path::ProjectPath;
use super::rule::SessionRule;
use super::team::PlanItem;

/// A proposal as it was on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub proposal: ProposalId,
    /// [`Change::hash`](super::proposal::Change::hash) of what was on screen.
    pub hash: ContentHash,
    /// Changed lines of it that had not been on screen.
    #[serde(default)]
    pub unseen: u32,
    /// Findings of level stop that the person approves in spite of; see
    /// [`Proposal::stops`](super::proposal::Proposal::stops).
    #[serde(default)]
    pub stops: u32,
}

impl Shown {
    /// All of it was on screen, and nothing was found.
    #[must_use]
    pub const fn whole(proposal: ProposalId, hash: ContentHash) -> Self {
        Self { proposal, hash, unseen: 0, stops: 0 }
    }
}

/// Lines of a proposal that the person asks about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// Which version the lines are counted in.
    pub side: Side,
    /// First line, from 1.
    pub first: u32,
    pub last: u32,
    /// Those lines, in the unified form of a diff.
    pub text: String,
}

/// A wish of the person, on its way from the screen to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Decides one proposal.
    Decide {
        /// What was on screen.
        shown: Shown,
        /// What the person says.
        verdict: Verdict,
    },
    /// Approves one proposal with another content than the one proposed: some of its lines, or the
    /// person's own text.
    Amend {
        /// What was on screen.
        shown: Shown,
        /// How the content came about.
        how: Amended,
        /// What shall be written: the whole file, byte by byte.
        content: Vec<u8>,
        /// Why, and whatever else the agent is told.
        #[serde(default)]
        note: DecisionNote,
        /// The phrase that was typed, where the content asks for one.
        #[serde(default)]
        phrase: Option<String>,
    },
    /// Says the same to several proposals, all of which were listed on screen.
    DecideAll {
        /// What was listed.
        shown: Vec<Shown>,
        /// What the person says to each.
        verdict: Verdict,
    },
    /// Asks the agent about its proposal, which goes on waiting.
    Inquire {
        proposal: ProposalId,
        /// The lines it is about; `None`: the whole.
        excerpt: Option<Excerpt>,
        text: String,
    },
    /// Takes an applied change back. That is a proposal of its own, approved by this wish; it
    /// touches nothing when the file no longer holds what was applied.
    Undo { proposal: ProposalId },
    /// Makes a rule for the session; it also decides what waits and fits it.
    AddRule { rule: SessionRule },
    /// Ends a rule of the session. What it decided stays decided.
    RevokeRule { rule: RuleId },
    /// Says something to the team, or to one agent.
    Say {
        /// `None`: to all agents.
        to: Option<AgentName>,
        text: String,
    },
    /// Begins the next run of the session, once none is under way.
    StartRun {
        /// What is to be done.
        task: String,
        /// Name of a team; `None`: the one that fits.
        team: Option<String>,
    },
    /// Names the agent that speaks next, where a learned policy would choose.
    NameSpeaker { agent: AgentName },
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
    /// Pins or mutes a passage of the documentation for the session, or takes that back.
    MarkPassage(Box<MarkedPassage>),
    /// Answers a question.
    Answer {
        question: QuestionId,
        /// The words, or one of the options.
        answer: String,
    },
    /// Lets another model answer from the next request on: a profile, with a model after a slash if
    /// it is to be another one.
    UseModel { profile: String },
    /// Holds the run before its next step.
    Pause,
    /// Goes on after a pause.
    Resume,
    /// Ends the run in order.
    Stop,
}

impl Intent {
    /// The proposals that it decides.
    #[must_use]
    pub fn decides(&self) -> Vec<ProposalId> {
        match self {
            Self::Decide { shown, .. } => vec![shown.proposal],
            Self::Amend { shown, .. } => vec![shown.proposal],
            Self::DecideAll { shown, .. } => shown.iter().map(|shown| shown.proposal).collect(),
            _ => Vec::new(),
        }
    }
}
