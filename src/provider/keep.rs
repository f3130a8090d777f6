//! What a service wants to be given back within a tool loop, e.g. its signed thoughts.
//!
//! Travels in [`Request::state`], so that a loop goes on after a restart. Counts for the agent,
//! the model and the loop it came from, and for nothing else.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Request;
use super::profile::Profile;
use crate::model::MessageRole;

/// The state as it travels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredState {
    agent: String,
    service: String,
    model: String,
    /// For the last assistant messages, oldest first.
    answers: Vec<Vec<Value>>,
}

/// What belongs to the request's last assistant messages.
pub(super) fn kept(request: &Request, profile: &Profile) -> Vec<Vec<Value>> {
    let loop_length = loop_length(request);
    let Some(state) = request.state.as_deref().filter(|_| loop_length > 0) else {
        return Vec::new();
    };
    // The state of another service, or of a recording, is none of ours.
    let Ok(kept) = serde_json::from_str::<StoredState>(state) else { return Vec::new() };
    let is_ours = kept.agent == request.agent.as_str()
        && kept.service == profile.service.name()
        && kept.model == profile.model;
    if is_ours && kept.answers.len() <= loop_length { kept.answers } else { Vec::new() }
}

/// The state after an answer.
pub(super) fn state(
    request: &Request,
    profile: &Profile,
    mut answers: Vec<Vec<Value>>,
    new: Vec<Value>,
) -> Option<String> {
    if new.is_empty() && answers.is_empty() {
        return None;
    }
    answers.push(new);
    let kept = StoredState {
        agent: request.agent.to_string(),
        service: profile.service.name().to_owned(),
        model: profile.model.clone(),
        answers,
    };
    // Texts and JSON values always serialise.
    serde_json::to_string(&kept).ok()
}

/// How many of the agent's answers lie in the tool loop at the end of the conversation.
pub(super) fn loop_length(request: &Request) -> usize {
    let mut back =
        request.messages.iter().rev().skip_while(|message| message.role == MessageRole::User);
    let mut length = 0;
    let mut has_result = false;
    for message in &mut back {
        match message.role {
            MessageRole::Tool => has_result = true,
            MessageRole::Assistant if has_result && !message.calls.is_empty() => length += 1,
            MessageRole::Assistant | MessageRole::User | MessageRole::System => break,
        }
    }
    length
}
