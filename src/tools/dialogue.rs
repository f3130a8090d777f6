//! `ask_user` and `hand_off`: calls that the run itself answers.
//!
//! Owns their arguments. Called outside a run they refuse, because nobody is there to ask.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::entry::ToolEntry;
use super::{Reply, ToolError, args};

/// Name of the tool that asks the person.
pub const ASK: &str = "ask_user";

/// Name of the tool that gives the word to another agent.
pub const HAND_OFF: &str = "hand_off";

/// Most answers to choose from.
const MOST_OPTIONS: usize = 9;

/// What is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskArgs {
    /// The question, in one or two sentences.
    pub question: String,
    /// Answers to choose from, at most nine; leave out for a free answer.
    #[serde(default)]
    pub options: Vec<String>,
}

impl AskArgs {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// When they do not fit, or nothing is asked.
    pub fn read(value: &Value) -> Result<Self, ToolError> {
        let asked: Self = args::parse(value.clone())?;
        if asked.question.trim().is_empty() {
            return Err(ToolError::new("bad_arguments", "question: empty", "Ask something."));
        }
        if asked.options.len() > MOST_OPTIONS || asked.options.iter().any(|o| o.trim().is_empty()) {
            let hint = "Offer one to nine answers, none of them empty, or none at all.";
            return Err(ToolError::new("bad_arguments", "options: too many, or empty", hint));
        }
        Ok(asked)
    }
}

/// Who goes on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandOffArgs {
    /// Name of the agent who shall go on.
    pub agent: String,
    /// What it shall do, so that it can be done from the chat alone.
    pub task: String,
}

impl HandOffArgs {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn read(value: &Value) -> Result<Self, ToolError> {
        args::parse(value.clone())
    }
}

pub(super) const ASK_TOOL: ToolEntry = ToolEntry {
    name: ASK,
    about: "Asks the person a question and waits for the answer. Only for facts that neither the project nor the documentation gives.",
    schema: args::schema::<AskArgs>,
    call: |call| refused(AskArgs::read(&call.args).map(drop)),
    ..ToolEntry::USUAL
};

pub(super) const HAND_OFF_TOOL: ToolEntry = ToolEntry {
    name: HAND_OFF,
    about: "Hands over to another agent of this chat.",
    schema: args::schema::<HandOffArgs>,
    call: |call| refused(HandOffArgs::read(&call.args).map(drop)),
    ..ToolEntry::USUAL
};

fn refused(read: Result<(), ToolError>) -> BoxFuture<'static, Result<Reply, ToolError>> {
    let why = "this call needs a run, and there is none here";
    let error = read.err().unwrap_or_else(|| ToolError::new("no_run", why, ""));
    Box::pin(std::future::ready(Err(error)))
}
