//! What the start screen is told, and what it answers.
//!
//! Owns these words only; must not draw or do anything.

use crate::model::Finding;

/// A saved session as the list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartSession {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub task: String,
    /// How it stands, in words.
    pub state: String,
    /// When it was last used, in words.
    pub when: String,
    /// Whether it can go on.
    pub open: Open,
}

/// What can be done with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// It goes on, or is looked at.
    ResumeOrReplay,
    /// It is over, or another program has it: it can be looked at.
    Replay,
}

/// All facts of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StartFacts {
    /// What the demo is about.
    pub demo: String,
    /// The newest first.
    pub sessions: Vec<StartSession>,
    /// Folders that sessions worked in, the newest first.
    pub projects: Vec<String>,
    /// Tasks to begin with.
    pub examples: Vec<StartExample>,
    /// What the doctor says.
    pub findings: Vec<Finding>,
    /// Why what was chosen before could not be done.
    pub error: Option<String>,
    /// What could not be begun; it is there to be mended.
    pub draft: Option<StartChoice>,
}

/// What the person chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartChoice {
    /// Watch the demo.
    Demo,
    /// Start a team on a task, in a project if one was chosen.
    New {
        /// The person's words.
        task: String,
        /// The folder.
        project: Option<String>,
        /// The example it comes from, which says the team and what to begin with.
        example: Option<String>,
    },
    /// Go on with the session of that name.
    Resume(String),
    /// Look at the session of that name.
    Replay(String),
    /// Leave.
    Quit,
    /// Back to the shell until continued.
    Suspend,
}

/// A task of the example library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartExample {
    /// Its name.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// The team that takes it on.
    pub team: String,
    /// The task.
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
