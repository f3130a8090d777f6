//! The shared chat of one attempt, and what each agent is given of it.
//!
//! Every message is made once and shared by all requests; an agent sees its own words and tool
//! calls as its own, and those of others as messages to it.

use std::sync::Arc;

use serde_json::Value;

use crate::model::event::ProjectFile;
use crate::model::{AgentName, CallId, Document, Message, Role, ToolCall, ToolName};

/// One message, as its author and as the others see it.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    of: Option<AgentName>,
    /// `None`: everyone sees it.
    to: Option<AgentName>,
    own: Option<Arc<Message>>,
    other: Option<Arc<Message>>,
}

/// Who hears what an agent says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// Everyone in the chat.
    ByAll,
    /// Nobody but itself.
    ByItself,
}

/// The chat.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Chat {
    lines: Vec<Line>,
}

impl Chat {
    /// Adds the task, the person's words, or a note of the program.
    pub fn tell(&mut self, to: Option<AgentName>, text: String) {
        let message = Arc::new(user(None, text));
        self.lines.push(Line { of: None, to, own: None, other: Some(message) });
    }

    /// Adds one complete answer of a model.
    pub fn said(&mut self, agent: &AgentName, text: &str, calls: Vec<ToolCall>, heard: Heard) {
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let is_heard = heard == Heard::ByAll && !text.is_empty();
        let other = is_heard.then(|| Arc::new(user(Some(agent.clone()), text.to_owned())));
        let own = Arc::new(Message {
            role: Role::Assistant,
            agent: Some(agent.clone()),
            text: text.to_owned(),
            calls,
            answers: None,
        });
        self.lines.push(Line { of: Some(agent.clone()), to: None, own: Some(own), other });
    }

    /// Adds a tool's answer to a call of `agent`.
    pub fn answered(&mut self, agent: &AgentName, call: CallId, tool: &ToolName, result: &Value) {
        let json = result.to_string();
        let told = format!("`{tool}` answered me: {json}");
        let own = Arc::new(Message {
            role: Role::Tool,
            agent: None,
            text: json,
            calls: Vec::new(),
            answers: Some(call),
        });
        let other = Some(Arc::new(user(Some(agent.clone()), told)));
        self.lines.push(Line { of: Some(agent.clone()), to: None, own: Some(own), other });
    }

    /// What `agent` is given: its instructions, the task, what it needs from the blackboard, and
    /// the rest of the chat.
    pub fn messages(
        &self,
        agent: &AgentName,
        instructions: &Arc<Message>,
        needed: Vec<String>,
    ) -> Vec<Arc<Message>> {
        let mut messages = Vec::with_capacity(self.lines.len() + needed.len() + 1);
        messages.push(Arc::clone(instructions));
        for line in &self.lines {
            if line.to.as_ref().is_some_and(|to| to != agent) {
                continue;
            }
            let is_own = line.of.as_ref() == Some(agent);
            messages.extend(if is_own { line.own.clone() } else { line.other.clone() });
        }
        let needed = needed.into_iter().map(|text| Arc::new(user(None, text)));
        let task = messages.len().min(2);
        messages.splice(task..task, needed);
        messages
    }
}

/// The project's files as a message; `None` without any.
pub(super) fn file_list(files: &[ProjectFile]) -> Option<String> {
    const MOST: usize = 300;
    if files.is_empty() {
        return None;
    }
    let mut text = "Files of the project:\n".to_owned();
    for file in files.iter().take(MOST) {
        text.push_str(&format!("- {} ({} bytes)\n", file.path, file.bytes));
    }
    if files.len() > MOST {
        text.push_str(&format!("and {} more\n", files.len() - MOST));
    }
    Some(text)
}

/// A document that came with the task, as a message.
pub(super) fn document(document: &Document) -> String {
    let cut = match document.omitted {
        0 => String::new(),
        bytes => format!("\n[{bytes} more bytes of it were left out]"),
    };
    format!("Document `{}` that came with the task:\n{}{cut}", document.name, document.text)
}

/// The errors of the last build as a message.
pub(super) fn build_errors(errors: &str) -> String {
    format!("The last build failed:\n{errors}")
}

/// The errors of a `build_project` answer, one a line; `None` if the build passed.
pub(super) fn errors_of(result: &Value) -> Option<String> {
    let errors = result.get("errors").and_then(Value::as_array);
    let errors: Vec<String> =
        errors.map_or_else(Vec::new, |errors| errors.iter().map(error_line).collect());
    let is_ok = result.get("ok").and_then(Value::as_bool).unwrap_or(false);
    match (errors.is_empty(), is_ok) {
        (true, true) => None,
        (true, false) => Some(result.get("error").map_or_else(String::new, error_line)),
        (false, _) => Some(errors.join("\n")),
    }
}

fn error_line(error: &Value) -> String {
    let Some(message) = error.get("message").and_then(Value::as_str) else {
        return error.to_string();
    };
    let file = error.get("file").and_then(Value::as_str);
    let line = error.get("line").and_then(Value::as_u64);
    match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}: {message}"),
        (Some(file), None) => format!("{file}: {message}"),
        (None, _) => message.to_owned(),
    }
}

/// Makes an agent's instructions a message.
pub(super) fn system(text: String) -> Arc<Message> {
    let calls = Vec::new();
    Arc::new(Message { role: Role::System, agent: None, text, calls, answers: None })
}

fn user(agent: Option<AgentName>, text: String) -> Message {
    Message { role: Role::User, agent, text, calls: Vec::new(), answers: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_agent_sees_its_own_calls_and_the_others_see_what_came_of_them() {
        let mut chat = Chat::default();
        let (a, b) = (AgentName::from("A"), AgentName::from("B"));
        chat.tell(None, "the task".into());
        let call = ToolCall { id: CallId(1), tool: "build_project".into(), args: json!({}) };
        chat.said(&a, "", vec![call], Heard::ByAll);
        chat.answered(&a, CallId(1), &"build_project".into(), &json!({ "ok": true }));
        chat.tell(Some(b.clone()), "only for B".into());
        let rules = system("rules".into());
        let for_a = chat.messages(&a, &rules, Vec::new());
        let roles: Vec<Role> = for_a.iter().map(|m| m.role).collect();
        assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::Tool]);
        assert_eq!(for_a[3].answers, Some(CallId(1)));
        let for_b = chat.messages(&b, &rules, Vec::new());
        assert_eq!(for_b.len(), 4);
        assert_eq!(for_b[2].agent, Some(a));
        assert!(for_b[2].text.contains(r#"{"ok":true}"#));
        assert_eq!(for_b[3].text, "only for B");
    }
}
