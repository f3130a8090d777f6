//! Teams and agents as they are once checked: everything a name stands for is there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::condition::Condition;
use super::field_test::FieldTest;
use super::format::ContextPart;
use super::log_signs::LogSign;
use super::work::AgentWork;
use serde_json::Value;

use crate::model::{AgentName, AgentRole, ArtifactKind, Ground, PolicyTable, ToolName};
use crate::provider::ModelOptions;
use crate::tools::PhaseGoal;

/// An agent, from its file in `prompts/agents`.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub name: AgentName,
    /// One line for planners and people.
    pub description: String,
    /// What it may call.
    pub tools: Vec<ToolName>,
    /// What it asks of the model.
    pub options: ModelOptions,
    /// What it is given from the blackboard, newest of each kind.
    pub needs: Vec<ArtifactKind>,
    /// What it makes for the others.
    pub makes: Vec<ArtifactKind>,
    /// Most tokens one of its requests may hold; `None`: as set for the run.
    pub context_tokens: Option<u64>,
    /// What its turns consist of besides asking the model.
    pub work: AgentWork,
    pub prompt: String,
}

impl Agent {
    /// What it does for the work, by what it makes and needs: whoever makes code because of an error
    /// fixes it.
    #[must_use]
    pub fn role(&self) -> AgentRole {
        let makes = |kind| self.makes.contains(&kind);
        if makes(ArtifactKind::Plan) {
            AgentRole::Plan
        } else if makes(ArtifactKind::Code) {
            let fixes = self.needs.contains(&ArtifactKind::Error);
            if fixes { AgentRole::Fix } else { AgentRole::Code }
        } else if makes(ArtifactKind::Tests) {
            AgentRole::Test
        } else {
            AgentRole::Other
        }
    }
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
    /// What a project folder may hold when it begins; nothing here: anything.
    pub works_on: Vec<Ground>,
    /// Numbers that its phases go by, with the names that people change them by.
    pub limits: BTreeMap<String, u32>,
    /// Everyone who takes part in some phase.
    pub agents: BTreeMap<AgentName, Agent>,
    /// In the order they run.
    pub phases: Vec<Phase>,
    /// The teams among them.
    pub nested: Vec<NestedTeam>,
}

/// A team whose phases run within another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestedTeam {
    /// The name of the phase that it is.
    pub name: String,
    /// Places of its phases.
    pub phases: Range<usize>,
}

/// A phase of a team: one shared chat, or one for each attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Who takes part, in the order of the file.
    pub participants: Vec<AgentName>,
    /// Who speaks next.
    pub selection: SpeakerSelection,
    /// What the chat of an attempt begins with, after the task.
    pub context: Vec<ContextPart>,
    /// What it has to do with the steps of the plan.
    pub steps: StepRules,
    pub limits: PhaseLimits,
    /// When an attempt is over.
    pub terminate: Condition,
    /// What it wants to reach.
    pub goal: PhaseGoal,
    /// What the turns of its participants consist of.
    pub work: BTreeMap<AgentName, AgentWork>,
    /// Who plans, and who sees the plan.
    pub plan: Planning,
    /// What some agents are told on top of their own instructions.
    pub instructions: BTreeMap<AgentName, String>,
}

impl Phase {
    /// Adds words to the instructions of each of its agents.
    pub(super) fn instruct_all(&mut self, words: &str) {
        for agent in &self.participants {
            let instructions = self.instructions.entry(agent.clone()).or_default();
            let joint = if instructions.is_empty() { "" } else { "\n\n" };
            *instructions = format!("{}{joint}{words}", instructions.trim_end());
        }
    }
}

/// How long a phase may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseLimits {
    /// How many attempts there may be.
    pub attempts: u32,
    /// Model calls one turn may take.
    pub rounds: u32,
}

/// Who speaks next.
#[derive(Debug, Clone, PartialEq)]
pub enum SpeakerSelection {
    /// The planner speaks first and after every other agent; its lines `<Agent> : <task>` name
    /// the others.
    Planner(AgentName),
    /// Everyone in the order of the file, over and over.
    RoundRobin,
    /// A fixed order, once; a failure brings some agents back before it goes on.
    Pipeline {
        /// Who speaks, one after the other.
        order: Vec<AgentName>,
        /// What happens on failures.
        reworks: Vec<Rework>,
    },
    /// An agent that does nothing else names each speaker; the others do not hear it.
    Selector(AgentName),
    /// This agent begins; whoever speaks hands over by calling `hand_off`.
    HandOff(AgentName),
    /// Whom a learned table chooses by the state of the run; `None` until there is one.
    Policy(Option<Arc<PolicyTable>>),
}

impl SpeakerSelection {
    /// The agent who decides on the others and has to know who they are.
    #[must_use]
    pub const fn leader(&self) -> Option<&AgentName> {
        match self {
            Self::Planner(agent) | Self::Selector(agent) | Self::HandOff(agent) => Some(agent),
            Self::RoundRobin | Self::Pipeline { .. } | Self::Policy(_) => None,
        }
    }
}

/// A way back in a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rework {
    /// After this agent's turn.
    pub after: AgentName,
    /// When it failed.
    pub when: Failure,
    /// These speak, and then it is that agent's turn again.
    pub through: Vec<AgentName>,
    /// How often in a row before the person is asked.
    pub most: u32,
}

/// What counts as a failure of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The last answer of this tool was not `ok`.
    Tool(ToolName),
    /// The agent said this.
    Text(String),
    /// All of this holds for its answer.
    Answer(Vec<FieldTest>),
    /// The serial output that it brought calls for this.
    Log(LogSign),
}

/// What a phase runs once for each of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForEach {
    /// It runs once.
    #[default]
    Once,
    /// Each step of the plan.
    PlanStep,
}

/// What a phase has to do with the steps of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRules {
    /// What it runs once for each of, every time with its own chat and attempts.
    pub for_each: ForEach,
    /// How many of them at most side by side.
    pub parallel: usize,
    /// Which steps are carried out again when it has ended.
    pub send_back: Option<SendBack>,
}

/// Steps of the plan that are carried out again because of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendBack {
    /// Place of the phase that carries them out.
    pub to: usize,
    /// Whose answer names them.
    pub after: AgentName,
    /// The field of the answer: a list of objects with `step` and `reason`.
    pub field: String,
    /// The field that says what of the request is missing: a list of objects with `point` and `state`.
    pub report: Option<String>,
    /// How often in a run.
    pub most: u32,
}

impl SendBack {
    /// Whether an answer names steps of a plan with so many only.
    ///
    /// # Errors
    /// Which one there is not.
    pub fn fits(&self, answer: &Value, steps: usize) -> Result<(), String> {
        let entries = answer.get(&self.field).and_then(Value::as_array).into_iter().flatten();
        let mut numbers = entries.filter_map(|entry| entry.get("step")?.as_u64());
        match numbers.find(|number| *number == 0 || *number > steps as u64) {
            Some(number) => {
                Err(format!("`{}` names step {number}, and the plan has {steps}", self.field))
            }
            None => Ok(()),
        }
    }
}

/// How a phase plans.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Planning {
    /// Whose numbered list is the plan.
    pub planner: Option<AgentName>,
    /// Whether the person sees the plan before anybody carries it out.
    pub review: PlanReview,
}

/// Whether a phase's plan is put before the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlanReview {
    /// It is carried out at once.
    #[default]
    None,
    /// The first plan of the phase waits for the person.
    First,
}
