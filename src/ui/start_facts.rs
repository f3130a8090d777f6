//! What the start screen shows, and what can be chosen there.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::model::{Budget, HealthLine};

use super::overlay::ModelOffer;

/// A saved session as the list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartSession {
    pub name: String,
    /// The name that the person gave it; empty: none.
    pub title: String,
    /// The folder that it worked in.
    pub project: String,
    /// What was asked last.
    pub task: String,
    /// What was asked before that, the first request first, as far as it is known.
    pub earlier: Vec<String>,
    /// How many requests it has had.
    pub requests: u32,
    /// The team of the last request.
    pub team: String,
    /// How it stands, in words: that is how the last request came out.
    pub state: String,
    /// When it was last used, in words.
    pub when: String,
    /// Whether it can go on.
    pub open: SessionAccess,
}

impl StartSession {
    /// Whether its project lies in its own folder.
    #[must_use]
    pub fn has_own_project(&self) -> bool {
        let own = std::path::Path::new(&self.name).join("project");
        std::path::Path::new(&self.project).ends_with(own)
    }
}

/// What can be done with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionAccess {
    /// It goes on, or is looked at.
    ResumeOrReplay,
    /// It is over, or another program has it: it can be looked at.
    Replay,
}

/// A task as it was written, with where and by whom it is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    /// The person's words.
    pub task: String,
    /// The folder; `None`: a new one.
    pub project: Option<String>,
    /// Profile of the model that answers; `None`: there is none to choose.
    pub model: Option<String>,
    /// Name of the example it comes from, which says the team and what to begin with.
    pub example: Option<String>,
    /// The team; `None`: the one that fits.
    pub team: Option<String>,
    /// What may be used before the person is asked.
    pub budget: Budget,
    /// Sampling temperature of all agents, in tenths; `None`: their own.
    pub temperature: Option<u8>,
    /// Limits of the team that are other than in its file.
    pub limits: BTreeMap<String, u32>,
}

/// A task of the example library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartExample {
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// The team that takes it on.
    pub team: String,
    pub task: String,
    /// What it needs, or that it runs without a model.
    pub note: String,
    /// Where it takes place.
    pub ground: ExampleGround,
}

/// Where an example takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleGround {
    /// It brings what it begins with.
    Own,
    /// A project that is there.
    Project,
}

/// What would become of a task if it were begun now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskOutlook {
    /// The team that would take it on where none is chosen.
    pub team: String,
    /// What answers for the agents where no model is set up; `None`: there is one.
    pub answered: Option<String>,
}

type OutlookOf = dyn Fn(&str, Option<&str>) -> TaskOutlook + Send + Sync;

type LimitsOf = dyn Fn(&str) -> Vec<(String, u32)> + Send + Sync;

/// Tells the outlook of a task in a project, or in a new folder, and the limits that a team has in its
/// file; nothing by default.
#[derive(Clone, Default)]
pub struct Outlooks {
    of: Option<Arc<OutlookOf>>,
    limits: Option<Arc<LimitsOf>>,
}

impl Outlooks {
    /// As `of` tells them from the words of a task and the folder of its project.
    pub fn new(of: impl Fn(&str, Option<&str>) -> TaskOutlook + Send + Sync + 'static) -> Self {
        Self { of: Some(Arc::new(of)), limits: None }
    }

    /// The same, with what tells the limits of the team of that name.
    #[must_use]
    pub fn with_limits(
        self,
        of: impl Fn(&str) -> Vec<(String, u32)> + Send + Sync + 'static,
    ) -> Self {
        Self { limits: Some(Arc::new(of)), ..self }
    }

    pub(super) fn of(&self, task: &str, project: Option<&str>) -> Option<TaskOutlook> {
        self.of.as_ref().map(|of| of(task, project))
    }

    pub(super) fn limits(&self, team: &str) -> Vec<(String, u32)> {
        self.limits.as_ref().map_or_else(Vec::new, |of| of(team))
    }
}

impl fmt::Debug for Outlooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outlooks").field(&self.of.is_some()).finish()
    }
}

/// All facts of the screen.
#[derive(Debug, Clone, Default)]
pub struct StartFacts {
    /// What the demo is about.
    pub demo: String,
    /// The models that can answer.
    pub models: Vec<ModelOffer>,
    /// Profile of the one that answers unless another is chosen.
    pub model: Option<String>,
    /// The newest first.
    pub sessions: Vec<StartSession>,
    /// Names of the teams that a task can be given to.
    pub teams: Vec<String>,
    /// What becomes of a task.
    pub outlooks: Outlooks,
    /// Folders that sessions worked in, the newest first.
    pub projects: Vec<String>,
    /// Tasks to begin with.
    pub examples: Vec<StartExample>,
    /// What the doctor says.
    pub findings: Vec<HealthLine>,
    /// What is new in this version, the newest first.
    pub news: Vec<String>,
    /// Why what was chosen before could not be done.
    pub error: Option<String>,
    /// The task that could not be begun; it is there to be mended.
    pub draft: Option<Draft>,
}

/// What the person chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartChoice {
    /// Watch the demo.
    Demo,
    /// Start a team on a task.
    New(Draft),
    /// Go on with the session of that name.
    Resume(String),
    /// Look at the session of that name, as it ended.
    Replay(String),
    /// Look at the session of that name from its first event on.
    ReplayFromStart(String),
    /// Give the session of that name a title; an empty one takes it away.
    Rename {
        name: String,
        title: String,
    },
    /// Delete the session of that name; the person has confirmed it.
    Delete(String),
    Quit,
    /// Back to the shell until continued.
    Suspend,
}
