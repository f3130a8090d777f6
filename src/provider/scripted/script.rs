//! A recorded conversation, checked.
//!
//! Must not read files nor answer.

use serde::Deserialize;

use super::condition::When;
use super::pace::Timing;
use crate::model::{AgentName, ToolName};

/// A recorded conversation, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// Its file, for messages.
    pub(super) file: String,
    pub(super) title: String,
    pub(super) task: String,
    pub(super) team: String,
    pub(super) project: Option<String>,
    pub(super) timing: Timing,
    /// Whether everything is said as it stands, without the person's words in it.
    pub(super) verbatim: bool,
    pub(super) files: Vec<RecordedFile>,
    pub(super) steps: Vec<ScriptStep>,
    pub(super) start: usize,
    /// Other first steps, by what holds at the first request.
    pub(super) starts: Vec<NextStep>,
    pub(super) asides: Vec<Aside>,
}

impl Script {
    /// What the recording shows, in a few words.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The person's request that it answers.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.task
    }

    /// The team that was recorded.
    #[must_use]
    pub fn team(&self) -> &str {
        &self.team
    }

    /// The project it begins with, a folder of `assets/projects`; `None`: an empty one.
    #[must_use]
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }
}

/// A file of the project with the versions the recording has of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordedFile {
    pub(super) path: String,
    /// Holds at least one.
    pub(super) versions: Vec<String>,
}

/// One model answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptStep {
    pub(super) id: String,
    /// Where it begins in the script's file.
    pub(super) line: usize,
    pub(super) agent: AgentName,
    pub(super) expect: Expect,
    pub(super) say: String,
    pub(super) list: Option<AnswerFiles>,
    pub(super) calls: Vec<Call>,
    /// Empty at the end of the recording.
    pub(super) next: Vec<NextStep>,
}

/// What a step requires of the request it answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub(super) phase: Option<String>,
    pub(super) attempt: Option<u32>,
    pub(super) step: Option<u32>,
    #[serde(default)]
    pub(super) tools: Vec<String>,
    #[serde(default)]
    pub(super) mentions: Vec<String>,
    #[serde(default)]
    pub(super) last_mentions: Vec<String>,
}

/// Which files an answer holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerFiles {
    /// These, by their place in [`Script::files`].
    Named(Vec<usize>),
    /// Those the last tool answer says were refused, in their next versions.
    Rejected,
}

/// A tool call of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: ToolName,
    pub(super) args: serde_json::Map<String, serde_json::Value>,
    /// The arguments as text, instead of `args` and `files`.
    pub(super) raw: Option<String>,
    pub(super) files: Option<AnswerFiles>,
}

/// A way on from a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NextStep {
    /// `None`: it always holds.
    pub(super) when: Option<When>,
    pub(super) goto: usize,
}

/// A recorded answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Aside {
    /// Who is asked; `None`: anyone.
    pub agent: Option<AgentName>,
    /// What the question mentions, capitals aside; `None`: anything.
    pub mentions: Option<String>,
    pub say: String,
}

impl Aside {
    pub(super) fn fits(&self, agent: &AgentName, question: &str) -> bool {
        self.agent.as_ref().is_none_or(|wanted| wanted == agent)
            && self.mentions.as_ref().is_none_or(|words| question.contains(&words.to_lowercase()))
    }
}
