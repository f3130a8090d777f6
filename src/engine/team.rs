//! Teams and agents as they are once checked: everything a name stands for is there.

use std::collections::BTreeMap;

use super::condition::Condition;
use crate::model::{AgentName, ToolName};
use crate::provider::ModelOptions;
use crate::tools::PhaseGoal;

/// An agent, from its file in `prompts/agents`.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Its name.
    pub name: AgentName,
    /// One line for planners and people.
    pub description: String,
    /// What it may call.
    pub tools: Vec<ToolName>,
    /// What it asks of the model.
    pub options: ModelOptions,
    /// Its instructions.
    pub prompt: String,
}

/// A team, from its file in `prompts/teams`.
#[derive(Debug, Clone, PartialEq)]
pub struct Team {
    /// Its name, which is its file's name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is for, in a sentence.
    pub description: String,
    /// Everyone who takes part in some phase.
    pub agents: BTreeMap<AgentName, Agent>,
    /// In the order they run.
    pub phases: Vec<Phase>,
}

/// A phase of a team: one shared chat, or one for each attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Who takes part, in the order of the file.
    pub participants: Vec<AgentName>,
    /// Who speaks next.
    pub selection: Selection,
    /// What the chat of an attempt begins with, after the task.
    pub context: Vec<ContextPart>,
    /// How many attempts there may be.
    pub attempts: u32,
    /// When an attempt is over.
    pub terminate: Condition,
    /// What it wants to reach.
    pub goal: PhaseGoal,
    /// Model calls one turn may take.
    pub max_rounds: u32,
    /// What some agents are told on top of their own instructions.
    pub instructions: BTreeMap<AgentName, String>,
}

/// Who speaks next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// The planner speaks first and after every other agent; its lines `<Agent> : <task>` name
    /// the others.
    Planner(AgentName),
    /// Everyone in the order of the file, over and over.
    RoundRobin,
}

/// Something the chat of an attempt begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextPart {
    /// The list of the project's files.
    Files,
    /// The errors of the last build.
    BuildErrors,
}
