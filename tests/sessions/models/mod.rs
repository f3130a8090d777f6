//! Every dialect behaves the same, whatever its service does: one suite, run for each.

mod broken;
mod faults;
mod foreign;
mod forms;
mod gateway;
mod hygiene;
mod keep_alive;
mod keyring;
mod place;
mod secrets;
mod talk;

use std::sync::Arc;

use crate::wire::Server;
use crate::wire::speak::profile;
use firmhand::model::{CallId, Message, MessageRole, ToolCall, ToolSpec, Usage, UserError};
use firmhand::provider::{Delta, ModelOptions, Provider, Remote, Request, Service};
use futures::StreamExt;
use serde_json::{Value, json};

/// What came of a call.
#[derive(Debug, Default)]
struct Heard {
    text: String,
    reasoning: String,
    calls: Vec<(String, String)>,
    /// Calls as they came in pieces, by their place.
    parts: Vec<(String, Vec<String>)>,
    models: Vec<String>,
    notes: Vec<UserError>,
    /// Faults with the pause after each, in milliseconds.
    faults: Vec<(UserError, u64)>,
    too_long: Option<Option<u64>>,
    usage: Option<Usage>,
    state: Option<String>,
    error: Option<UserError>,
}

impl Heard {
    fn take(&mut self, delta: Result<Delta, UserError>) {
        assert!(self.usage.is_none() && self.error.is_none(), "something came after the end");
        match delta {
            Ok(Delta::Text(text)) => self.text.push_str(&text),
            Ok(Delta::Reasoning(text)) => self.reasoning.push_str(&text),
            Ok(Delta::Call { tool, args }) => self.calls.push((tool.to_string(), args)),
            Ok(Delta::CallPart { place, tool, args }) => {
                if self.parts.len() <= place {
                    self.parts.resize_with(place + 1, Default::default);
                }
                self.parts[place].0 = tool.to_string();
                self.parts[place].1.push(args);
            }
            Ok(Delta::Model(model)) => self.models.push(model),
            Ok(Delta::Note(note)) => self.notes.push(note),
            Ok(Delta::Again { wait_millis, fault, .. }) => {
                self.faults.push((fault, wait_millis));
                self.text.clear();
                self.reasoning.clear();
                self.calls.clear();
                self.parts.clear();
            }
            Ok(Delta::TooLong { limit }) => self.too_long = Some(limit),
            Ok(Delta::Done { usage, state }) => {
                self.usage = Some(usage);
                self.state = state;
            }
            Err(error) => self.error = Some(error),
        }
    }

    /// The error, which must be there.
    fn failed(self) -> UserError {
        self.error.unwrap_or_else(|| panic!("it did not fail: {:?}", self.text))
    }
}

/// Asks and listens to the end.
async fn ask(remote: &Remote, request: Request) -> Heard {
    let mut heard = Heard::default();
    let mut answer = remote.ask(request);
    while let Some(delta) = answer.next().await {
        heard.take(delta);
    }
    assert!(heard.usage.is_some() || heard.error.is_some(), "it ended without an end: {heard:?}");
    heard
}

fn remote(service: Service, server: &Server) -> Remote {
    Remote::new(profile(service, &server.url("")))
}

fn message(role: MessageRole, agent: Option<&str>, text: &str) -> Message {
    let agent = agent.map(Into::into);
    Message { role, agent, text: text.into(), calls: Vec::new(), answers: None }
}

/// A conversation in which the agent has called a tool and has its answer.
fn request() -> Request {
    let call = |id, tool: &str, args: Value| ToolCall { id: CallId(id), tool: tool.into(), args };
    let mut own = message(MessageRole::Assistant, Some("Coder"), "I look first.");
    own.calls = vec![
        call(7, "read_file", json!({ "path": "main/main.c" })),
        call(8, "read_file", Value::String("{broken".into())),
    ];
    let result = |id, text: &str| {
        let mut result = message(MessageRole::Tool, None, text);
        result.answers = Some(CallId(id));
        result
    };
    let messages = vec![
        message(MessageRole::System, None, "You write firmware."),
        message(MessageRole::User, None, "Blink an LED."),
        message(MessageRole::User, Some("Planner"), "Coder : write main.c"),
        own,
        result(7, r#"{"ok":true,"content":"int main;"}"#),
        result(8, r#"{"ok":false}"#),
    ];
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: format!("The tool {name}."),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    };
    Request {
        step: None,
        agent: "Coder".into(),
        phase: "generate".into(),
        attempt: 1,
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::from([tool("read_file"), tool("generate_code")]),
        options: ModelOptions::default(),
        form: None,
        state: None,
    }
}

/// The same before anything was called.
fn first_request() -> Request {
    let mut request = request();
    request.messages = request.messages.get(..3).unwrap().into();
    request
}
