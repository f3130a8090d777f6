//! The one door to models.
//!
//! Owns the wire to a model service, or the script that plays one. Must not know teams, tools'
//! insides or the screen.

mod assembly;
mod catalogue;
mod dialect;
mod discreet;
mod fault;
#[doc(hidden)]
pub mod foreign_reply;
mod form;
mod index;
mod keep;
mod options;
mod panel;
mod profile;
mod record;
mod remote;
mod retell;
mod scripted;
mod search_model;
mod service;
mod tokens;
mod wire;
mod worded_stream;
mod words;

use std::sync::Arc;

use futures::stream::BoxStream;

pub use catalogue::Catalogue;
pub use form::AnswerForm;
pub use index::{IndexAbout, IndexFields, IndexKind, RemoteIndex};
pub use options::ModelOptions;
pub use panel::{FindProfile, Panel};
pub use profile::{AgentChoice, KeyForm, KeySource, Prices, Profile, ReadKey, ToolUse, Wire};
pub use record::Recording;
pub use remote::Remote;
pub use retell::{ReplayedAnswers, retell};
pub use scripted::{Pacing, Script, ScriptHead, Scripted, Sibling, parse_script, script_head};
pub use search_model::SearchModel;
pub use service::Service;
pub use tokens::{Meter, TokenCounter};

use crate::model::{AgentName, Message, ToolName, ToolSpec, Usage, UserError};

/// One model call.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub agent: AgentName,
    /// Name of the phase it asks in.
    pub phase: String,
    /// Attempt of that phase, from 1.
    pub attempt: u32,
    /// The step of the plan that the conversation is about, from 1; `None`: the whole.
    pub step: Option<u32>,
    /// The conversation, oldest first; the first message holds the agent's instructions. Each message
    /// is shared, because it goes out again with every request; the list, because it is asked anew
    /// after a fault.
    pub messages: Arc<[Arc<Message>]>,
    /// The tools the agent may call.
    pub tools: Arc<[ToolSpec]>,
    /// What the agent's file asks of the model.
    pub options: ModelOptions,
    /// The form that the answer shall have, if a program reads it.
    pub form: Option<Arc<AnswerForm>>,
    /// What the provider gave with its last [`Delta::Done`] in this session, if anything.
    pub state: Option<String>,
}

/// A piece of a model's answer, in the order it arrives.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    Text(String),
    /// More of a tool call that the model is still writing, for those who look on: the whole call
    /// follows as [`Delta::Call`].
    CallPart {
        /// Which call of the answer, from 0.
        place: usize,
        tool: ToolName,
        /// The next piece of the JSON text of its arguments; empty when only the name has come.
        args: String,
    },
    /// A complete tool call; the arguments are the model's own text, which may be malformed.
    Call {
        tool: ToolName,
        /// JSON text of its arguments.
        args: String,
    },
    /// More of what the model thought; nobody else is told.
    Reasoning(String),
    /// The model that answers, as its service names it.
    Model(String),
    /// Something about the answer that the person should know.
    Note(UserError),
    /// The answer failed, and what had come of it counts for nothing; it is asked for again.
    Again {
        /// The try that comes next, from 2.
        attempt: u32,
        /// How many there may be.
        most: u32,
        /// The pause before it.
        wait_millis: u64,
        /// What went wrong.
        fault: UserError,
    },
    /// The conversation does not fit into the model. An error follows, for those who cannot ask
    /// with less.
    TooLong {
        /// How many tokens would fit, if the service said so.
        limit: Option<u64>,
    },
    /// The answer is complete. Always the last.
    Done {
        /// Tokens it cost.
        usage: Usage,
        /// To be given back with the next request, see [`Request::state`].
        state: Option<String>,
    },
}

/// A model that was chosen in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenModel {
    /// How to get it again.
    pub provider: String,
    /// What the screen calls it.
    pub label: String,
}

/// Something that answers like a model.
pub trait Provider: Send + Sync {
    /// What the screen calls it; a scripted model says so.
    fn label(&self) -> String;

    /// Lets another model answer from the next request on: a profile, with a model after a slash if
    /// it is to be another one.
    ///
    /// # Errors
    /// When the profile does not exist, or nothing can be chosen; then all stays as it is.
    fn choose(&self, wanted: &str) -> Result<ChosenModel, UserError> {
        Err(UserError::new(
            format!("Cannot let `{wanted}` answer"),
            format!("a {} cannot be replaced", self.label()),
            "Start a session with `--profile`.",
        ))
    }

    /// Takes the model's key out of a text.
    fn redact(&self, text: &str) -> String {
        text.to_owned()
    }

    /// How much fits into the model that would answer; `None`: as much as anybody likes, or
    /// nobody knows.
    fn meter(&self, request: &Request) -> Option<Meter> {
        let _ = request;
        None
    }

    /// Asks. Dropping the stream cancels the call at once.
    fn ask(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>>;

    /// Asks beside the run: a question about something that waits, without tools. The answer must
    /// not move the conversation on, so [`Request::state`] is neither given nor kept.
    fn ask_aside(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        self.ask(request)
    }
}
