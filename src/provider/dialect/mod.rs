//! The protocols of model services: how a request is written and how an answer is read.
//!
//! Each dialect is two pure functions, from a request to JSON and from messages to [`AnswerPiece`]s.
//! Must not connect, wait or try again.

mod anthropic;
mod chat;
mod conversation;
mod ollama;
mod parts;
mod responses;

use serde_json::Value;

use super::fault::Fault;
use super::profile::Profile;
use super::service::Service;
use super::wire::Framing;
pub(super) use conversation::{Conversation, ConversationTurn, join};
pub(super) use ollama::WINDOW as OLLAMA_WINDOW;
pub(super) use parts::{AnswerPiece, DialectReader, Received, RequestBody, Slot, Stop, Without};
use parts::{MOST_REFUSAL, arguments, call_id, count, json, service_fault, usage};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Chat,
    Responses,
    Anthropic,
    Ollama,
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
pub(super) const AZURE_VERSION: &str = "2024-10-21";
