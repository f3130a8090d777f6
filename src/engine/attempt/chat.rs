//! The shared chat of one attempt, and what each agent is given of it.
//!
//! Every message is made once and shared by all requests; an agent sees its own words and tool
//! calls as its own, and those of others as messages to it.

use std::sync::Arc;

use serde_json::Value;

use crate::model::event::{FileSignatures, ProjectFile};
use crate::model::{AgentName, CallId, Document, Message, MessageRole, ToolCall, ToolName};

/// One message, as its author and as the others see it.
#[derive(Debug, Clone, PartialEq)]
struct ChatLine {
    of: Option<AgentName>,
    /// `None`: everyone sees it.
    to: Option<AgentName>,
    own: Option<Arc<Message>>,
    other: Option<Arc<Message>>,
}

impl ChatLine {
    /// About how long it is.
    fn bytes(&self) -> usize {
        let both = [&self.own, &self.other];
        let text = both.into_iter().flatten().map(|message| message.text.len()).sum::<usize>();
        let calls = self.own.iter().flat_map(|message| &message.calls);
        size_of::<Self>() + text + calls.map(|call| length(&call.args)).sum::<usize>()
    }

    /// Whether it is what a model answered.
    fn is_answer(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.role == MessageRole::Assistant)
    }
}

/// About how long a value is.
fn length(value: &Value) -> usize {
    let inner: usize = match value {
        Value::String(text) => text.len(),
        Value::Array(all) => all.iter().map(length).sum(),
        Value::Object(all) => all.iter().map(|(key, value)| key.len() + length(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + inner
}

/// Who hears what an agent says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Audience {
    /// Everyone in the chat.
    ByAll,
    /// Nobody but itself.
    ByItself,
}

/// The chat.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct Chat {
    lines: Vec<ChatLine>,
    /// About how long they are together.
    bytes: usize,
    /// Whether the oldest part was given up.
    is_cut: bool,
    /// What the person said while tools ran: a model wants the answers to its calls first.
    held: Vec<(Option<AgentName>, String)>,
}

/// Most bytes of a chat; many times what any model can be given at once.
const MOST_BYTES: usize = 32 << 20;

impl Chat {
    /// Adds the task, the person's words, or a note of the program.
    pub fn tell(&mut self, to: Option<AgentName>, text: String) {
        let message = Arc::new(user(None, text));
        self.push(ChatLine { of: None, to, own: None, other: Some(message) });
    }

    /// Keeps words back until [`Chat::tell_held`].
    pub fn hold(&mut self, to: Option<AgentName>, text: String) {
        self.held.push((to, text));
    }

    /// Adds what was kept back.
    pub fn tell_held(&mut self) {
        for (to, text) in std::mem::take(&mut self.held) {
            self.tell(to, text);
        }
    }

    fn push(&mut self, line: ChatLine) {
        self.bytes += line.bytes();
        self.lines.push(line);
        if self.bytes > MOST_BYTES {
            self.cut(MOST_BYTES / 4 * 3);
        }
    }

    /// Gives up the oldest answers of models, each with the answers of its tools, until no more
    /// than so many bytes are left. What the program and the person said stays, and so does the
    /// newest answer.
    fn cut(&mut self, most: usize) {
        let newest = self.lines.iter().rposition(ChatLine::is_answer).unwrap_or(0);
        let lines = std::mem::take(&mut self.lines);
        let (mut goes, mut first) = (false, None);
        for (place, line) in lines.into_iter().enumerate() {
            if line.is_answer() {
                goes = self.bytes > most && place < newest;
            }
            if goes && line.of.is_some() {
                self.bytes = self.bytes.saturating_sub(line.bytes());
                first = first.or(Some(self.lines.len()));
            } else {
                self.lines.push(line);
            }
        }
        if let Some(first) = first.filter(|_| !self.is_cut) {
            let note = "An older part of this conversation was left out here.".to_owned();
            let other = Some(Arc::new(user(None, note)));
            self.lines.insert(first, ChatLine { of: None, to: None, own: None, other });
            self.is_cut = true;
        }
    }

    /// Adds one complete answer of a model.
    pub fn add_answer(
        &mut self,
        agent: &AgentName,
        text: &str,
        calls: Vec<ToolCall>,
        heard: Audience,
    ) {
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let has_events = heard == Audience::ByAll && !text.is_empty();
        let other = has_events.then(|| Arc::new(user(Some(agent.clone()), text.to_owned())));
        let own = Arc::new(Message {
            role: MessageRole::Assistant,
            agent: Some(agent.clone()),
            text: text.to_owned(),
            calls,
            answers: None,
        });
        self.push(ChatLine { of: Some(agent.clone()), to: None, own: Some(own), other });
    }

    /// Adds a tool's answer to a call of `agent`, as it is written for models.
    pub fn answered(&mut self, agent: &AgentName, call: CallId, tool: &ToolName, result: String) {
        let told = format!("`{tool}` answered me: {result}");
        let own = Arc::new(Message {
            role: MessageRole::Tool,
            agent: None,
            text: result,
            calls: Vec::new(),
            answers: Some(call),
        });
        let other = Some(Arc::new(user(Some(agent.clone()), told)));
        self.push(ChatLine { of: Some(agent.clone()), to: None, own: Some(own), other });
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
pub(in crate::engine) fn file_list(files: &[ProjectFile]) -> Option<String> {
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

/// What the sources have for each other, as a message; `None` when they have nothing.
pub(in crate::engine) fn signatures(files: &[FileSignatures]) -> Option<String> {
    let files = files.iter().map(|file| format!("{}:\n{}", file.path, file.lines.join("\n")));
    let text = files.collect::<Vec<_>>().join("\n\n");
    (!text.is_empty()).then(|| format!("Signatures in the sources of the project:\n{text}"))
}

/// A document that came with the task, as a message.
pub(in crate::engine) fn document(document: &Document) -> String {
    let cut = match document.omitted {
        0 => String::new(),
        bytes => format!("\n[{bytes} more bytes of it were left out]"),
    };
    format!("Document `{}` that came with the task:\n{}{cut}", document.name, document.text)
}

/// The errors of the last build as a message.
pub(in crate::engine) fn build_errors(errors: &str) -> String {
    format!("The last build failed:\n{errors}")
}

/// The errors of a `build_project` answer, one a line; `None` if the build passed.
pub(in crate::engine) fn errors_of(result: &Value) -> Option<String> {
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
pub(in crate::engine) fn system(text: String) -> Arc<Message> {
    let calls = Vec::new();
    Arc::new(Message { role: MessageRole::System, agent: None, text, calls, answers: None })
}

fn user(agent: Option<AgentName>, text: String) -> Message {
    Message { role: MessageRole::User, agent, text, calls: Vec::new(), answers: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_very_long_chat_loses_its_oldest_answers_and_no_answer_of_a_tool_loses_its_call() {
        let mut chat = Chat::default();
        let a = AgentName::from("A");
        chat.tell(None, "the task".into());
        let size = 1 << 20;
        for number in 1..=100 {
            let args = json!({ "code": "x".repeat(size) });
            let call = ToolCall { id: CallId(number), tool: "read_file".into(), args };
            chat.add_answer(&a, "", vec![call], Audience::ByAll);
            if number == 50 {
                chat.tell(None, "the person's words".into());
            }
            chat.answered(
                &a,
                CallId(number),
                &"read_file".into(),
                json!({ "ok": true }).to_string(),
            );
        }
        let kept = chat.messages(&a, &system("rules".into()), Vec::new());
        let texts: Vec<&str> = kept.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts[1], "the task");
        assert_eq!(texts[2], "An older part of this conversation was left out here.");
        assert_eq!(texts.iter().filter(|text| text.starts_with("An older")).count(), 1);
        assert!(texts.contains(&"the person's words"));
        let called: Vec<CallId> = kept.iter().flat_map(|it| &it.calls).map(|it| it.id).collect();
        let answered: Vec<CallId> = kept.iter().filter_map(|it| it.answers).collect();
        assert_eq!(called, answered);
        assert_eq!(called.last(), Some(&CallId(100)));
        assert!((16..33).contains(&called.len()), "{}", called.len());
        assert!(chat.bytes <= MOST_BYTES);
    }

    #[test]
    fn an_agent_sees_its_own_calls_and_the_others_see_what_came_of_them() {
        let mut chat = Chat::default();
        let (a, b) = (AgentName::from("A"), AgentName::from("B"));
        chat.tell(None, "the task".into());
        let call = ToolCall { id: CallId(1), tool: "build_project".into(), args: json!({}) };
        chat.add_answer(&a, "", vec![call], Audience::ByAll);
        chat.answered(&a, CallId(1), &"build_project".into(), json!({ "ok": true }).to_string());
        chat.tell(Some(b.clone()), "only for B".into());
        let rules = system("rules".into());
        let for_a = chat.messages(&a, &rules, Vec::new());
        let roles: Vec<MessageRole> = for_a.iter().map(|m| m.role).collect();
        assert_eq!(
            roles,
            [MessageRole::System, MessageRole::User, MessageRole::Assistant, MessageRole::Tool]
        );
        assert_eq!(for_a[3].answers, Some(CallId(1)));
        let for_b = chat.messages(&b, &rules, Vec::new());
        assert_eq!(for_b.len(), 4);
        assert_eq!(for_b[2].agent, Some(a));
        assert!(for_b[2].text.contains(r#"{"ok":true}"#));
        assert_eq!(for_b[3].text, "only for B");
    }
}
