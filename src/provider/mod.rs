//! The one door to models.
//!
//! Owns the wire to a model service, or the script that plays one. Must not know teams, tools'
//! insides or the screen.

mod scripted;

use std::sync::Arc;

use futures::stream::BoxStream;

pub use scripted::{Pacing, Script, Scripted, Sibling};

use crate::model::{AgentName, Message, ToolName, ToolSpec, Usage, UserError};

/// One model call.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Who asks.
    pub agent: AgentName,
    /// Name of the phase it asks in.
    pub phase: String,
    /// Attempt of that phase, from 1.
    pub attempt: u32,
    /// The conversation, oldest first; the first message holds the agent's instructions. Shared,
    /// because the same messages go out again with every request.
    pub messages: Vec<Arc<Message>>,
    /// The tools the agent may call.
    pub tools: Arc<[ToolSpec]>,
    /// What the agent's file asks of the model.
    pub options: ModelOptions,
    /// What the provider gave with its last [`Delta::Done`] in this session, if anything.
    pub state: Option<String>,
}

/// What an agent's file may ask of the model; `None`: as configured for all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelOptions {
    /// Name of the model.
    pub model: Option<String>,
    /// Sampling temperature, from 0.
    pub temperature: Option<f64>,
    /// Most tokens of one answer.
    pub max_tokens: Option<u32>,
}

/// A piece of a model's answer, in the order it arrives.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// A complete tool call; the arguments are the model's own text, which may be malformed.
    Call {
        /// The tool.
        tool: ToolName,
        /// JSON text of its arguments.
        args: String,
    },
    /// The answer is complete. Always the last.
    Done {
        /// Tokens it cost.
        usage: Usage,
        /// To be given back with the next request, see [`Request::state`].
        state: Option<String>,
    },
}

/// Something that answers like a model.
pub trait Provider: Send + Sync {
    /// What the screen calls it; a scripted model says so.
    fn label(&self) -> String;

    /// Asks. Dropping the stream cancels the call at once.
    fn ask(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>>;
}
