//! A conversation in the form that all services can be given: who says what, in turns.
//!
//! Neighbouring messages from outside the model are joined, because many services want the two
//! sides to alternate; an agent's words to another are marked with its name.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::{CallId, Message, MessageRole, ToolCall, ToolSpec};

/// A conversation and the tools in it.
#[derive(Debug)]
pub struct Conversation<'a> {
    pub system: String,
    /// What was said since.
    pub turns: Vec<ConversationTurn<'a>>,
    /// What may be called.
    pub tools: &'a [ToolSpec],
}

#[derive(Debug, Clone, PartialEq)]
pub enum ConversationTurn<'a> {
    /// From outside: the person, another agent, the program.
    Outside(String),
    /// The model's own words and calls.
    Own { text: Cow<'a, str>, calls: &'a [ToolCall] },
    /// The answer to a call.
    Result { call: CallId, tool: &'a str, json: &'a str },
}

/// What a model is told that would have to answer to itself.
const GO_ON: &str = "Go on.";

impl<'a> Conversation<'a> {
    /// Reads the messages of a request.
    pub fn new(messages: &'a [Arc<Message>], tools: &'a [ToolSpec]) -> Self {
        let mut system = String::new();
        let mut turns: Vec<ConversationTurn<'a>> = Vec::with_capacity(messages.len());
        let mut calls: &[ToolCall] = &[];
        for message in messages.iter().filter(|message| !is_silent(message)) {
            match message.role {
                MessageRole::System => {
                    if !system.is_empty() {
                        system.push_str("\n\n");
                    }
                    system.push_str(&message.text);
                }
                MessageRole::User => join(&mut turns, outside(message)),
                MessageRole::Assistant => {
                    calls = &message.calls;
                    let text = Cow::Borrowed(message.text.as_str());
                    turns.push(ConversationTurn::Own { text, calls });
                }
                MessageRole::Tool => {
                    let call = message.answers.unwrap_or_default();
                    let known = calls.iter().find(|known| known.id == call);
                    match known {
                        Some(known) => {
                            let (tool, json) = (known.tool.as_str(), message.text.as_str());
                            turns.push(ConversationTurn::Result { call, tool, json });
                        }
                        // Services refuse an answer to a call they were not told of.
                        None => join(&mut turns, format!("A tool answered: {}", message.text)),
                    }
                }
            }
        }
        if !matches!(
            turns.last(),
            Some(ConversationTurn::Outside(_) | ConversationTurn::Result { .. })
        ) {
            turns.push(ConversationTurn::Outside(GO_ON.to_owned()));
        }
        Self { system, turns, tools }
    }
}

pub fn join(turns: &mut Vec<ConversationTurn<'_>>, text: String) {
    match turns.last_mut() {
        Some(ConversationTurn::Outside(so_far)) => {
            so_far.push_str("\n\n");
            so_far.push_str(&text);
        }
        _ => turns.push(ConversationTurn::Outside(text)),
    }
}

fn outside(message: &Message) -> String {
    match &message.agent {
        Some(agent) => format!("[{agent}]\n{}", message.text),
        None => message.text.clone(),
    }
}

/// Whether a message says nothing.
fn is_silent(message: &Message) -> bool {
    message.text.trim().is_empty() && message.calls.is_empty() && message.answers.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AgentName;

    fn message(role: MessageRole, agent: Option<&str>, text: &str) -> Arc<Message> {
        let agent = agent.map(AgentName::from);
        Arc::new(Message { role, agent, text: text.into(), calls: vec![], answers: None })
    }

    #[test]
    fn the_two_sides_alternate_and_agents_are_told_apart() {
        let messages = [
            message(MessageRole::System, None, "rules"),
            message(MessageRole::User, None, "task"),
            message(MessageRole::User, Some("Planner"), "Coder : write"),
            message(MessageRole::User, None, " "),
            message(MessageRole::Assistant, Some("Coder"), "done"),
        ];
        let conversation = Conversation::new(&messages, &[]);
        assert_eq!(conversation.system, "rules");
        let outside = "task\n\n[Planner]\nCoder : write".to_owned();
        let own = ConversationTurn::Own { text: "done".into(), calls: &[] };
        assert_eq!(
            conversation.turns,
            [ConversationTurn::Outside(outside), own, ConversationTurn::Outside(GO_ON.into())]
        );
    }

    #[test]
    fn an_answer_without_its_call_is_told_in_words() {
        let orphan = Message {
            role: MessageRole::Tool,
            agent: None,
            text: "{}".into(),
            calls: vec![],
            answers: Some(CallId(3)),
        };
        let messages = [Arc::new(orphan)];
        let conversation = Conversation::new(&messages, &[]);
        assert_eq!(conversation.turns, [ConversationTurn::Outside("A tool answered: {}".into())]);
    }
}
