//! What a person asks for before anything is decided: from the command line or the start screen.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::engine::Supervision;
use crate::model::Budget;
use crate::provider::Pacing;
use crate::toolchain::ToolchainKind;

/// What a person asks for, as it was typed or chosen; `None` where nothing was said.
#[derive(Debug, Clone, Default)]
pub struct LaunchRequest {
    /// What is to be done.
    pub work: Work,
    /// Name of a team.
    pub team: Option<String>,
    /// Folder of the project.
    pub project: Option<PathBuf>,
    /// What builds and flashes.
    pub toolchain: Option<ToolchainChoice>,
    /// What answers for the agents.
    pub model: ModelRequest,
    /// How fast a recorded model types.
    pub pacing: Pacing,
    /// Where the model's answers are written down as a script.
    pub record: Option<PathBuf>,
    /// Documents that come with the task.
    pub attach: Vec<PathBuf>,
    /// Limits of the team that are other than in its file.
    pub team_limits: BTreeMap<String, u32>,
    /// Whether plans and files for the context wait for the person.
    pub supervision: Option<Supervision>,
}

/// How a session goes on, as it was typed; nothing set where it stays as it was.
#[derive(Debug, Clone, Default)]
pub struct ResumeRequest {
    /// How fast a recorded model types.
    pub pacing: Pacing,
    /// Where the model's answers are written down.
    pub record: Option<PathBuf>,
    /// What the session may use.
    pub budget: Budget,
    /// Limits of its team.
    pub team_limits: BTreeMap<String, u32>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Work {
    /// A recorded run, that of the team if one is named.
    #[default]
    Demo,
    /// A task in the person's words, or an example; with both, the person's words for the example's
    /// team.
    New { task: Option<String>, example: Option<String> },
    /// A change of a project that is there.
    Edit(String),
    /// A task that nobody watches.
    Unattended(String),
}

/// What answers for the agents, as it was asked for. A script goes before a profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelRequest {
    /// A recording, a file.
    pub script: Option<PathBuf>,
    pub profile: Option<String>,
    /// A model of the profile's service.
    pub model: Option<String>,
}

/// What builds and flashes, as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolchainChoice {
    Virtual,
    Installed(ToolchainKind),
    /// The fittest that is installed.
    Auto,
}

impl ToolchainChoice {
    /// By its name in a journal; the virtual board for every other name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "idf" => Self::Installed(ToolchainKind::Idf),
            "arduino" => Self::Installed(ToolchainKind::Arduino),
            "platformio" => Self::Installed(ToolchainKind::Platformio),
            "auto" => Self::Auto,
            _ => Self::Virtual,
        }
    }
}
