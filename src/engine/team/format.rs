//! Files of teams and agents as they are written, before anything is checked beyond its shape.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::answer_form::Exchange;
use super::condition::CallResult;
use super::field_test::FieldTestFile;
use super::fields::Field;
use super::log_signs::LogSign;
use crate::config::Spanned;
use crate::config::spanned::schema_of;
use crate::model::{ArtifactKind, Ground};
use crate::tools::PhaseGoal;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct AgentFile {
    pub name: Spanned<String>,
    pub description: String,
    #[serde(default)]
    pub tools: Vec<Spanned<String>>,
    pub model: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u32>,
    #[serde(default)]
    pub needs: Vec<ArtifactKind>,
    #[serde(default)]
    pub makes: Vec<ArtifactKind>,
    pub context_tokens: Option<Spanned<u32>>,
    pub answer: Option<FormWord>,
    #[serde(default)]
    pub turn: WorkFile,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct TeamFile {
    pub name: Spanned<String>,
    pub title: String,
    pub description: String,
    #[serde(default)]
    pub works_on: Vec<Ground>,
    #[serde(default)]
    pub limits: BTreeMap<String, Spanned<u32>>,
    pub phases: Spanned<Vec<Spanned<PhaseFile>>>,
}

/// The schema of files in `prompts/teams/`.
#[must_use]
pub fn schema() -> Schema {
    schema_of::<TeamFile>("Team of firmhand")
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct PhaseFile {
    pub name: Spanned<String>,
    /// A team whose phases run in its place, with their own chats; nothing else but a title goes with it.
    pub team: Option<Spanned<String>>,
    pub title: Option<String>,
    pub participants: Option<Spanned<Vec<Spanned<String>>>>,
    pub selection: Option<Spanned<SelectionWord>>,
    pub planner: Option<Spanned<String>>,
    pub selector: Option<Spanned<String>>,
    pub first: Option<Spanned<String>>,
    pub order: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(default)]
    pub rework: Vec<Spanned<ReworkFile>>,
    #[serde(default)]
    pub review_plan: bool,
    #[serde(default)]
    pub context: Vec<ContextPart>,
    pub attempts: Option<Spanned<LimitWord>>,
    /// How often in a row an agent is asked again for an answer that cannot be read.
    #[serde(default)]
    pub retries: BTreeMap<Spanned<String>, Spanned<LimitWord>>,
    /// How often in a row an answer may fail its check.
    #[serde(default)]
    pub checks: BTreeMap<Spanned<String>, Spanned<LimitWord>>,
    pub for_each: Option<Spanned<ForEachWord>>,
    /// How many steps of the plan may be carried out side by side, 1 to 8: each in a chat and a copy of
    /// the project of its own. A step waits for those that its line names, `(after 1, 3)`, for none with
    /// `(after nothing)`, and for all before it when its line does not say.
    pub parallel: Option<Spanned<LimitWord>>,
    /// Steps of the plan that are carried out again because of an answer in this phase.
    pub send_back: Option<Spanned<SendBackFile>>,
    pub terminate: Option<Spanned<ConditionFile>>,
    pub goal: Option<Spanned<PhaseGoal>>,
    pub max_rounds: Option<Spanned<LimitWord>>,
    #[serde(default)]
    pub instructions: BTreeMap<Spanned<String>, String>,
}

impl PhaseFile {
    /// A key that a phase which is a team cannot have.
    pub fn key_next_to_team(&self) -> Option<&'static str> {
        let keys = [
            ("participants", self.participants.is_some()),
            ("selection", self.selection.is_some()),
            ("planner", self.planner.is_some()),
            ("selector", self.selector.is_some()),
            ("first", self.first.is_some()),
            ("order", self.order.is_some()),
            ("rework", !self.rework.is_empty()),
            ("review_plan", self.review_plan),
            ("context", !self.context.is_empty()),
            ("attempts", self.attempts.is_some()),
            ("retries", !self.retries.is_empty()),
            ("checks", !self.checks.is_empty()),
            ("for_each", self.for_each.is_some()),
            ("parallel", self.parallel.is_some()),
            ("send_back", self.send_back.is_some()),
            ("terminate", self.terminate.is_some()),
            ("goal", self.goal.is_some()),
            ("max_rounds", self.max_rounds.is_some()),
            ("instructions", !self.instructions.is_empty()),
        ];
        keys.into_iter().find(|(_, is_there)| *is_there).map(|(key, _)| key)
    }
}

/// A number, or the name of one in the team's `limits`.
#[derive(Deserialize, Clone, JsonSchema)]
#[serde(untagged)]
pub(in crate::engine) enum LimitWord {
    Number(u32),
    Name(String),
}

/// The table `turn` of an agent's file.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct WorkFile {
    #[serde(default)]
    pub form: Vec<Field>,
    #[serde(default)]
    pub exchange: Exchange,
    pub look_up: Option<FixedCallFile>,
    pub first: Option<FixedCallFile>,
    pub check: Option<FixedCallFile>,
    /// Tools one of which the agent must have called in its turn before its answer counts.
    #[serde(default)]
    pub needs_call: Vec<Spanned<String>>,
    #[serde(default)]
    pub saves_files: bool,
    pub saves_answer_as: Option<Spanned<String>>,
    #[serde(default)]
    pub variants: Vec<Spanned<VariantFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct FixedCallFile {
    pub tool: Spanned<String>,
    #[serde(default)]
    pub args: Map<String, Value>,
    /// Whether the files at hand are among its arguments.
    #[serde(default = "with_files")]
    pub files: bool,
    /// What follows when it fails.
    #[serde(default)]
    pub on_failure: AfterFailure,
}

/// What follows when the first call of a turn fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterFailure {
    /// The model is asked.
    #[default]
    Ask,
    /// The turn is over; a rework tells who goes on.
    End,
}

const fn with_files() -> bool {
    true
}

/// The keys of a test, with whose answer is tested and what is told.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct VariantFile {
    pub of: String,
    pub field: String,
    pub filled: Option<bool>,
    pub equals: Option<Value>,
    pub at_least: Option<i64>,
    pub at_most: Option<i64>,
    #[serde(default)]
    pub text: String,
    pub file: Option<String>,
}

/// What a phase runs once for each of.
#[derive(Deserialize, Clone, Copy, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::engine) enum ForEachWord {
    /// The steps of the plan.
    Plan,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::engine) enum SelectionWord {
    Planner,
    RoundRobin,
    Pipeline,
    Selector,
    HandOff,
    Policy,
}

impl SelectionWord {
    /// As it is written.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::RoundRobin => "round_robin",
            Self::Pipeline => "pipeline",
            Self::Selector => "selector",
            Self::HandOff => "hand_off",
            Self::Policy => "policy",
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct ReworkFile {
    pub after: Spanned<String>,
    pub failed: Option<Spanned<String>>,
    pub says: Option<String>,
    /// Tests that all hold for its answer.
    #[serde(default)]
    pub answer: Vec<FieldTestFile>,
    /// What the serial output calls for.
    pub log: Option<LogSign>,
    pub through: Vec<Spanned<String>>,
    pub most: Option<Spanned<LimitWord>>,
}

/// The answer's field is a list of objects with the number of a `step` and a `reason`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct SendBackFile {
    /// The phase before this one that carries the steps out.
    pub to: Spanned<String>,
    /// Whose answer names them.
    pub after: Spanned<String>,
    pub field: Spanned<String>,
    /// Another field of the answer: a list of objects with a `point` and its `state`. A point that is
    /// `missing` in the last answer leaves the run unfinished.
    pub report: Option<Spanned<String>>,
    /// How often in a run.
    pub most: Option<Spanned<LimitWord>>,
}

/// What an agent's whole answer is.
#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum FormWord {
    /// A list of files with their content.
    Files,
}

// Something the chat of an attempt begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ContextWord")]
pub enum ContextPart {
    // The list of the project's files.
    Files,
    // The errors of the last build.
    BuildErrors,
    // The plan, and how far it is.
    Plan,
    // What the sources in C, C++ and Python have for each other.
    Signatures,
}

/// Exactly one of the conditions must be there; `answer` goes with `tool`, `agent` with `text`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct ConditionFile {
    pub any: Option<Vec<Spanned<ConditionFile>>>,
    pub all: Option<Vec<Spanned<ConditionFile>>>,
    pub tool: Option<Spanned<String>>,
    pub answer: Option<CallResult>,
    pub text: Option<String>,
    pub agent: Option<Spanned<String>>,
    pub max_messages: Option<u32>,
    pub max_tokens: Option<u64>,
    pub max_seconds: Option<u64>,
    pub max_cost: Option<Spanned<f64>>,
    pub spoke: Option<Spanned<String>>,
    pub hand_off: Option<Spanned<String>>,
    pub files_saved: Option<bool>,
    pub tests_passed: Option<bool>,
    pub stable_seconds: Option<u64>,
}
