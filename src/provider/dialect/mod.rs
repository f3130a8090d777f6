//! The protocols of model services: how a request is written and how an answer is read.
//!
//! Each dialect is two pure functions, from a request to JSON and from messages to [`AnswerPiece`]s.
//! Must not connect, wait or try again.

mod anthropic;
mod chat;
mod conversation;
mod ollama;
mod responses;

use serde_json::Value;

use super::AnswerForm;
use super::fault::Fault;
use super::profile::Profile;
use super::service::Service;
use super::wire::Framing;
use crate::model::{Cost, Message, Usage};
pub(super) use conversation::{Conversation, ConversationTurn, join};
pub(super) use ollama::WINDOW as OLLAMA_WINDOW;

/// Bytes of a refusal, about which more is not gathered.
const MOST_REFUSAL: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Chat,
    Responses,
    Anthropic,
    Ollama,
}

/// A piece of an answer, in the order it came.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AnswerPiece {
    Text(String),
    Reasoning(String),
    /// Part of a tool call: the calls of an answer are told apart by `slot`.
    Call {
        slot: Slot,
        name: String,
        args: String,
    },
    /// The name of the model that answers.
    Model(String),
    /// Tokens so far; what comes later replaces what came before.
    Usage(Usage),
    /// Something that must be given back with the next request as it is.
    Keep(Value),
    /// Why the answer ends.
    Stop(Stop),
}

/// Which call of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slot {
    /// By its place.
    Place(u64),
    /// By its place, and by a name that tells it from another one at the same place.
    Named(u64, String),
    /// A call of its own.
    New,
}

/// Why an answer ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// It is complete.
    End,
    /// The limit of its length was reached.
    Length,
    /// The model or a filter refused.
    Refused(String),
}

/// What a request asks, ready to be written in any dialect.
pub(super) struct RequestBody<'a> {
    pub profile: &'a Profile,
    pub conversation: &'a Conversation<'a>,
    /// What the service kept for itself in earlier answers of this tool loop, for the last
    /// assistant messages, oldest first.
    pub kept: &'a [Vec<Value>],
    /// The form of the answer, where the service is to hold the model to one.
    pub form: Option<&'a AnswerForm>,
    pub without: Without,
    pub max_tokens: Option<u32>,
    pub temperature: Option<f64>,
}

/// What a service turned out not to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Without {
    pub tools: bool,
    pub temperature: bool,
    pub stream_usage: bool,
    pub old_limit: bool,
    pub reasoning: bool,
    pub form: bool,
}

/// Reads the messages of one answer.
pub(super) trait DialectReader: Send {
    /// Takes one message of the stream.
    fn read(
        &mut self,
        message: &str,
        profile: &Profile,
        out: &mut Vec<AnswerPiece>,
    ) -> Result<(), Fault>;

    /// Takes an answer that came in one piece although a stream was asked for.
    fn read_whole(
        &mut self,
        whole: &Value,
        profile: &Profile,
        out: &mut Vec<AnswerPiece>,
    ) -> Result<(), Fault>;
}

impl Dialect {
    pub const fn of(service: Service) -> Self {
        match service {
            Service::Responses => Self::Responses,
            Service::Anthropic => Self::Anthropic,
            Service::Ollama => Self::Ollama,
            Service::OpenAi
            | Service::Azure
            | Service::GitHub
            | Service::OpenRouter
            | Service::LlamaCpp
            | Service::LmStudio
            | Service::Vllm
            | Service::Compatible => Self::Chat,
        }
    }

    pub const fn framing(self) -> Framing {
        match self {
            Self::Ollama => Framing::Lines,
            Self::Chat | Self::Responses | Self::Anthropic => Framing::Events,
        }
    }

    /// Where requests go, below the base URL.
    pub fn path(self, profile: &Profile) -> String {
        match self {
            Self::Chat if profile.service == Service::Azure => {
                let version = profile.wire.api_version.as_deref().unwrap_or(AZURE_VERSION);
                let model = &profile.model;
                format!("/openai/deployments/{model}/chat/completions?api-version={version}")
            }
            Self::Chat => "/chat/completions".to_owned(),
            Self::Responses => "/responses".to_owned(),
            Self::Anthropic => "/v1/messages".to_owned(),
            Self::Ollama => "/api/chat".to_owned(),
        }
    }

    /// Where the models of the service are listed.
    pub fn models_path(self, profile: &Profile) -> String {
        match (self, profile.service) {
            (_, Service::Azure) => {
                let version = profile.wire.api_version.as_deref().unwrap_or(AZURE_VERSION);
                format!("/openai/models?api-version={version}")
            }
            // The catalogue of GitHub Models lies beside the address for requests.
            (_, Service::GitHub) => "/../catalog/models".to_owned(),
            (Self::Chat | Self::Responses, _) => "/models".to_owned(),
            (Self::Anthropic, _) => "/v1/models?limit=1000".to_owned(),
            (Self::Ollama, _) => "/api/tags".to_owned(),
        }
    }

    /// Writes a request.
    pub fn write(self, asked: &RequestBody<'_>) -> Value {
        match self {
            Self::Chat => chat::write(asked),
            Self::Responses => responses::write(asked),
            Self::Anthropic => anthropic::write(asked),
            Self::Ollama => ollama::write(asked),
        }
    }

    pub fn reader(self) -> Box<dyn DialectReader> {
        match self {
            Self::Chat => Box::new(chat::ChatReader::default()),
            Self::Responses => Box::new(responses::ResponsesReader::default()),
            Self::Anthropic => Box::new(anthropic::AnthropicReader::default()),
            Self::Ollama => Box::new(ollama::OllamaReader),
        }
    }

    /// The names in a list of models.
    pub fn model_names(self, list: &Value) -> Vec<String> {
        let entries = ["/data", "/models", ""].iter().find_map(|at| list.pointer(at)?.as_array());
        let name = |entry: &Value| {
            let fields = ["id", "name", "model"];
            let found = fields.iter().find_map(|field| entry.get(field)?.as_str());
            found.map(str::to_owned)
        };
        let mut names: Vec<String> = entries.into_iter().flatten().filter_map(name).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// The API version of Azure that is asked for unless the profile names another.
const AZURE_VERSION: &str = "2024-10-21";

/// A message of the stream as JSON.
fn json(message: &str, profile: &Profile) -> Result<Value, Fault> {
    serde_json::from_str(message)
        .map_err(|error| Fault::garbled(profile, &format!("no JSON ({error})"), message))
}

/// A failure that is told in the stream instead of an answer.
fn service_fault(error: &Value, profile: &Profile) -> Fault {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let code = ["code", "type"].iter().filter_map(|field| error.get(field)).map(text);
    // A number, or a word that is known, says more than one that is not.
    let codes: Vec<String> = code.filter(|code| !code.is_empty()).collect();
    let message = match error.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None if error.is_string() => text(error),
        None => error.to_string(),
    };
    let code = codes.iter().find(|code| code.parse::<u16>().is_ok()).or(codes.first());
    Fault::from_service(profile, code.map_or("", String::as_str), &message)
}

/// A count of tokens; what is negative or no number counts as none.
fn count(value: Option<&Value>) -> u64 {
    let Some(value) = value else { return 0 };
    // `as` saturates.
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64)).unwrap_or(0)
}

/// Usage as services of the OpenAI family count it.
fn usage(value: &Value, input: &str, output: &str, details: &str) -> Usage {
    let cached = value.pointer(&format!("/{details}/cached_tokens"));
    Usage {
        input: count(value.get(input)),
        output: count(value.get(output)),
        cached: count(cached),
        // Some services say what a call cost them.
        cost: value.get("cost").and_then(Value::as_f64).map_or(Cost::ZERO, Cost::from_dollars),
        is_estimated: false,
    }
}

/// The id under which a call is known to services.
fn call_id(id: crate::model::CallId) -> String {
    format!("call_{}", id.0)
}

/// Arguments as a JSON object, which every service takes, even where the model wrote none.
fn arguments(args: &Value) -> Value {
    match args {
        Value::Object(_) => args.clone(),
        other => serde_json::json!({ "malformed": other }),
    }
}

/// Whether a message says nothing.
fn is_silent(message: &Message) -> bool {
    message.text.trim().is_empty() && message.calls.is_empty() && message.answers.is_none()
}
