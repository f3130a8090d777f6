//! What a team lays out for its own work: plans, files for the context, artifacts, documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::{AgentName, CallId};
use super::passage::MarkedPassage;
use super::path::ProjectPath;

/// What a project folder holds when a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    Empty,
    /// A project that this program generated.
    Generated,
    /// An Arduino sketch.
    Sketch,
    /// Any other project.
    Existing,
}

/// A team that could take a task on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamOffer {
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is for, in a sentence.
    pub description: String,
}

/// What would take a task on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NextSuggestion {
    /// The team of its recording, or the one that its words suggest; `None`: the first offer.
    pub team: Option<String>,
    /// The profile whose model would answer, where a recording has answered so far; `None`: what answers
    /// now goes on, or another recording does.
    pub profile: Option<String>,
}

/// Knows the teams that can work on a project as it is now.
pub trait TeamOffers: Send + Sync {
    /// The one that fits best comes first.
    fn offers(&self) -> Vec<TeamOffer>;

    /// What would take this task on, where `provider`, as sessions name it, answers now.
    fn suggested(&self, task: &str, provider: &str) -> NextSuggestion;
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done.
    pub task: String,
    /// Who does it; `None` where the plan does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
}

/// A file that is about to go into the team's chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextFile {
    /// Where it is.
    pub path: ProjectPath,
    /// Its length; `None` when there is no such file.
    pub bytes: Option<u64>,
    /// About how many tokens it takes.
    pub tokens: u64,
    /// Who wants it there.
    pub by: ChosenBy,
    /// Why it was found relevant, in a few words; empty where nothing said so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// How a question names the answer that goes on with another model.
pub const MODEL_ANSWER: &str = "model NAME";

/// What a question that takes it says at its end.
pub const MODEL_HINT: &str = " To go on with another model, type “model NAME”.";

/// The answer that has a plan carried out.
pub const START_PLAN: &str = "start";

/// The answer that has listed files read.
pub const READ_FILES: &str = "read them";

/// Who put a file on the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChosenBy {
    Agent(AgentName),
    Person,
}

/// What an artifact on the blackboard is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// The person's request, and the documents that came with it.
    Task,
    /// Steps and who does them.
    Plan,
    /// What has to hold: the list of files the project is checked against.
    Contract,
    Code,
    Tests,
    /// What a tool found out.
    Result,
    /// What went wrong.
    Error,
    /// What the person said to it.
    Feedback,
}

impl ArtifactKind {
    /// All of them, in the order agents are given them.
    pub const ALL: [Self; 8] = [
        Self::Task,
        Self::Plan,
        Self::Contract,
        Self::Code,
        Self::Tests,
        Self::Result,
        Self::Error,
        Self::Feedback,
    ];

    /// Its name in agents' files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Plan => "plan",
            Self::Contract => "contract",
            Self::Code => "code",
            Self::Tests => "tests",
            Self::Result => "result",
            Self::Error => "error",
            Self::Feedback => "feedback",
        }
    }
}

/// An entry of the blackboard; when it was put there is the time of its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// From 1 within a session.
    pub number: u32,
    /// What it is.
    pub kind: ArtifactKind,
    /// What it holds, in a few words.
    pub title: String,
    /// Who made it; `None`: the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AgentName>,
    /// About how many tokens it takes.
    pub tokens: u64,
}

/// Stands between an agent and what is wrong with its answer, in the title of an artifact.
const ASKED_AGAIN: &str = " is asked again: ";

impl Artifact {
    /// The title of the artifact that says why an agent is asked again.
    #[must_use]
    pub fn refusal_title(agent: &AgentName, fault: &str) -> String {
        format!("{agent}{ASKED_AGAIN}{fault}")
    }

    /// Who is asked again and why, if it says that.
    #[must_use]
    pub fn refusal(&self) -> Option<(&str, &str)> {
        let is_own = self.kind == ArtifactKind::Feedback && self.by.is_none();
        self.title.split_once(ASKED_AGAIN).filter(|_| is_own)
    }
}

/// A document that came with the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its file's name.
    pub name: String,
    /// Its length on disk.
    pub bytes: u64,
    /// Its text as the team is given it.
    pub text: String,
    /// Bytes of text that were left out because there is more than fits.
    #[serde(default)]
    pub omitted: u64,
    /// How many pages it has, if it has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
}

/// A fact of the team's own work; the body of [`Event::Team`](super::Event::Team).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TeamEvent {
    /// A document came with the task.
    Attached(Document),
    /// The plan is now this; it replaces the one before.
    PlanMade {
        /// Who made it; `None`: the person has changed it.
        by: Option<AgentName>,
        /// In the order of use.
        items: Vec<PlanItem>,
    },
    /// A call is about to bring these files into the chat; it replaces the list before it.
    ContextListed {
        call: CallId,
        /// In the order of use.
        files: Vec<ContextFile>,
    },
    /// The person wants files in the context, or out of it; holds until it is changed again.
    ContextEdited { add: Vec<ProjectPath>, remove: Vec<ProjectPath> },
    /// The person pinned or muted a passage of the documentation, or took that back.
    PassageMarked(Box<MarkedPassage>),
    /// Something was put on the blackboard.
    ArtifactPosted(Artifact),
}

/// Bytes that make about one token.
const BYTES_PER_TOKEN: u64 = 4;

/// About how many tokens so many bytes of text take.
#[must_use]
pub const fn estimated_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}
