//! A conversation in the form that all services can be given: who says what, in turns.
//!
//! Neighbouring messages from outside the model are joined, because many services want the two
//! sides to alternate; an agent's words to another are marked with its name.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::{CallId, Message, Role, ToolCall, ToolSpec};

/// A conversation and the tools in it.
#[derive(Debug)]
pub struct Gist<'a> {
    pub system: String,
    /// What was said since.
    pub turns: Vec<Turn<'a>>,
    /// What may be called.
    pub tools: &'a [ToolSpec],
}

#[derive(Debug, Clone, PartialEq)]
pub enum Turn<'a> {
    /// From outside: the person, another agent, the program.
    Outside(String),
    /// The model's own words and calls.
    Own { text: Cow<'a, str>, calls: &'a [ToolCall] },
    /// The answer to a call.
    Result { call: CallId, tool: &'a str, json: &'a str },
}

/// What a model is told that would have to answer to itself.
const GO_ON: &str = "Go on.";

impl<'a> Gist<'a> {
    /// Reads the messages of a request.
    pub fn new(messages: &'a [Arc<Message>], tools: &'a [ToolSpec]) -> Self {
        let mut system = String::new();
        let mut turns: Vec<Turn<'a>> = Vec::with_capacity(messages.len());
        let mut calls: &[ToolCall] = &[];
        for message in messages.iter().filter(|message| !super::is_silent(message)) {
            match message.role {
                Role::System => {
                    if !system.is_empty() {
                        system.push_str("\n\n");
                    }
                    system.push_str(&message.text);
                }
                Role::User => join(&mut turns, outside(message)),
                Role::Assistant => {
                    calls = &message.calls;
                    let text = Cow::Borrowed(message.text.as_str());
                    turns.push(Turn::Own { text, calls });
                }
                Role::Tool => {
                    let call = message.answers.unwrap_or_default();
                    let known = calls.iter().find(|known| known.id == call);
                    match known {
                        Some(known) => {
                            let (tool, json) = (known.tool.as_str(), message.text.as_str());
                            turns.push(Turn::Result { call, tool, json });
                        }
                        // Services refuse an answer to a call they were not told of.
                        None => join(&mut turns, format!("A tool answered: {}", message.text)),
                    }
                }
            }
        }
        if !matches!(turns.last(), Some(Turn::Outside(_) | Turn::Result { .. })) {
            turns.push(Turn::Outside(GO_ON.to_owned()));
        }
        Self { system, turns, tools }
    }
}

pub fn join(turns: &mut Vec<Turn<'_>>, text: String) {
    match turns.last_mut() {
        Some(Turn::Outside(so_far)) => {
            so_far.push_str("\n\n");
            so_far.push_str(&text);
        }
        _ => turns.push(Turn::Outside(text)),
    }
}

fn outside(message: &Message) -> String {
    match &message.agent {
        Some(agent) => format!("[{agent}]\n{}", message.text),
        None => message.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AgentName;

    fn message(role: Role, agent: Option<&str>, text: &str) -> Arc<Message> {
        let agent = agent.map(AgentName::from);
        Arc::new(Message { role, agent, text: text.into(), calls: vec![], answers: None })
    }

    #[test]
    fn the_two_sides_alternate_and_agents_are_told_apart() {
        let messages = [
            message(Role::System, None, "rules"),
            message(Role::User, None, "task"),
            message(Role::User, Some("Planner"), "Coder : write"),
            message(Role::User, None, " "),
            message(Role::Assistant, Some("Coder"), "done"),
        ];
        let gist = Gist::new(&messages, &[]);
        assert_eq!(gist.system, "rules");
        let outside = "task\n\n[Planner]\nCoder : write".to_owned();
        let own = Turn::Own { text: "done".into(), calls: &[] };
        assert_eq!(gist.turns, [Turn::Outside(outside), own, Turn::Outside(GO_ON.into())]);
    }

    #[test]
    fn an_answer_without_its_call_is_told_in_words() {
        let orphan = Message {
            role: Role::Tool,
            agent: None,
            text: "{}".into(),
            calls: vec![],
            answers: Some(CallId(3)),
        };
        let messages = [Arc::new(orphan)];
        let gist = Gist::new(&messages, &[]);
        assert_eq!(gist.turns, [Turn::Outside("A tool answered: {}".into())]);
    }
}
