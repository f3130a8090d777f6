//! Facts of a session as a whole: its beginning, its phases and its end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ids::SessionId;
use crate::model::outcome::{PhaseOutcome, SessionOutcome};
use crate::model::path::ProjectPath;
use crate::model::sandbox::SandboxLevel;

/// What a session is about; the body of [`SessionEvent::Started`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// Name of the session.
    pub id: SessionId,
    /// The person's request.
    pub task: String,
    /// Name of the team.
    pub team: String,
    /// Absolute path of the project folder.
    pub project: String,
    /// What the screen calls the model, e.g. `scripted model`.
    pub model: String,
    /// What the screen calls the toolchain, e.g. `virtual board`.
    pub toolchain: String,
    /// Version of the program that wrote this.
    pub program: String,
    /// How to get the same model and toolchain again.
    #[serde(default)]
    pub parts: SessionParts,
}

/// What a session runs with, in a form that can be opened again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionParts {
    /// What answers for the agents, e.g. `script:i2c-scan` or `script:/home/me/own/script.toml`.
    pub provider: String,
    /// What builds and flashes: `virtual` or `idf`.
    pub toolchain: String,
    /// What the person has set for it.
    #[serde(default, skip_serializing_if = "SessionChoices::is_usual")]
    pub choices: SessionChoices,
}

/// What the person has set for one session, where it is other than usual; the budget of the session
/// has a record of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionChoices {
    /// Sampling temperature of all agents, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<u32>,
    /// Limits of a team that are other than in its file; `PHASE/NAME` for those of a nested team.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub team_limits: BTreeMap<String, u32>,
    /// The team whose limits these are; empty: the one that the session began with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub limited_team: String,
    /// Attempts of each phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Seconds of a build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_seconds: Option<u32>,
    /// Seconds of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_seconds: Option<u32>,
    /// Seconds that a board is listened to when an agent does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor_seconds: Option<u32>,
    /// Plans, and files for the context, are shown and do not wait for the person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plans_go_on: bool,
}

impl SessionChoices {
    /// Whether nothing was set.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// What was set for a team of the session that began with the team `first`.
    #[must_use]
    pub fn limits_of(&self, team: &str, first: &str) -> BTreeMap<String, u32> {
        let limited = if self.limited_team.is_empty() { first } else { &self.limited_team };
        if team == limited { self.team_limits.clone() } else { BTreeMap::new() }
    }
}

/// A run that follows in a session; the body of [`SessionEvent::RunStarted`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStart {
    /// Counted from 1; the first run of a session is begun by [`SessionEvent::Started`].
    pub number: u32,
    /// The person's request.
    pub task: String,
    /// Name of the team.
    pub team: String,
    /// Why this team, in a few words.
    #[serde(default)]
    pub why: String,
    /// Files that the run before has changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ProjectPath>,
}

/// How a session begins, goes on and ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum SessionEvent {
    /// The first record of every journal.
    #[serde(rename = "session_started")]
    Started(Box<SessionStart>),
    /// The program opened the session again to go on.
    #[serde(rename = "session_resumed")]
    Resumed {
        /// Version of the program.
        program: String,
        /// What the person has set from here on, where that is other than before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choices: Option<Box<SessionChoices>>,
    },
    /// The person asked for more after a run was over.
    #[serde(rename = "run_started")]
    RunStarted(Box<RunStart>),
    /// How strong the sandbox around agents' programs is on this machine.
    #[serde(rename = "session_sandboxed")]
    Sandboxed {
        level: SandboxLevel,
        /// What would make it stronger.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<String>,
    },
    /// The run is over.
    #[serde(rename = "session_ended")]
    Ended {
        /// How it ended.
        outcome: SessionOutcome,
    },
}

impl SessionEvent {
    /// What the person has set for the session, where this says it.
    #[must_use]
    pub fn choices(&self) -> Option<&SessionChoices> {
        match self {
            Self::Started(start) => Some(&start.parts.choices),
            Self::Resumed { choices, .. } => choices.as_deref(),
            Self::RunStarted(_) | Self::Sandboxed { .. } | Self::Ended { .. } => None,
        }
    }
}

/// How the phases of a run begin and end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PhaseEvent {
    /// A phase, or one attempt of it, begins with an empty chat.
    #[serde(rename = "phase_started")]
    Started {
        /// Its name in the team's file, e.g. `generate`.
        phase: String,
        /// Its name for people, e.g. `build & fix`.
        title: String,
        /// Counted from 1.
        attempt: u32,
        /// How many there may be.
        max_attempts: u32,
        /// The step of the plan that it is about, counted from 1; `None`: all of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<u32>,
    },
    /// That attempt is over.
    #[serde(rename = "phase_ended")]
    Ended {
        /// Name of the phase.
        phase: String,
        attempt: u32,
        /// How it ended.
        outcome: PhaseOutcome,
        /// The step of the plan that it was about, counted from 1; `None`: the only one that ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<u32>,
    },
}
