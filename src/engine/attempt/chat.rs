//! The shared chat of one attempt, and what each agent is given of it.
//!
//! Every message is made once and shared by all requests; an agent sees its own words and tool
//! calls as its own, and those of others as messages to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::model::event::{FileSignatures, ProjectFile};
use crate::model::{
    AgentName, CallId, ChatSummary, Document, Message, MessageRole, SummarisedTurn, ToolCall,
    ToolName, TurnId,
};

/// One message, as its author and as the others see it.
#[derive(Debug, Clone, PartialEq, Default)]
struct ChatLine {
    of: Option<AgentName>,
    /// `None`: everyone sees it.
    to: Option<AgentName>,
    own: Option<Arc<Message>>,
    other: Option<Arc<Message>>,
    /// The turn whose answer, or whose tool's answer, it is.
    turn: Option<TurnId>,
    /// Whether it is a summary of what was there before.
    is_summary: bool,
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

    /// What `agent` is given of it.
    fn seen_by(&self, agent: &AgentName) -> Option<&Arc<Message>> {
        if self.to.as_ref().is_some_and(|to| to != agent) {
            return None;
        }
        if self.of.as_ref() == Some(agent) { self.own.as_ref() } else { self.other.as_ref() }
    }

    /// What a summary of it is made from, as `agent` knows it.
    fn in_words(&self, agent: &AgentName) -> Option<String> {
        let seen = self.seen_by(agent)?;
        let text = match &self.other {
            // The answer of a tool, with the name of the tool.
            Some(other) if seen.role == MessageRole::Tool => &other.text,
            _ => &seen.text,
        };
        let calls = seen.calls.iter().map(|call| format!("(calls `{}`: {})", call.tool, call.args));
        let text = Some(text.clone()).filter(|text| !text.is_empty());
        let words = text.into_iter().chain(calls).collect::<Vec<_>>().join("\n");
        Some(match &self.of {
            Some(of) => format!("{of}: {words}"),
            None => words,
        })
    }
}

/// The older part of a chat, as one agent knows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) struct OlderPart {
    /// Whose messages it holds, oldest first.
    pub turns: Vec<SummarisedTurn>,
    /// Its messages in words, after the summary of what was before them.
    pub messages: Vec<String>,
    /// How many tokens the agent is given of it.
    pub tokens: u64,
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

#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct Chat {
    lines: Vec<ChatLine>,
    /// About how long they are together.
    bytes: usize,
    /// Whether the oldest part was given up.
    is_cut: bool,
    /// What the person said while tools ran: a model wants the answers to its calls first.
    held: Vec<(Option<AgentName>, String)>,
    /// The turn in which the last summary failed; it is not tried twice.
    failed_summary: Option<TurnId>,
}

/// Most bytes of a chat; many times what any model can be given at once.
const MOST_BYTES: usize = 32 << 20;

impl Chat {
    /// Adds the task, the person's words, or a note of the program.
    pub fn tell(&mut self, to: Option<AgentName>, text: String) {
        let message = Arc::new(user(None, text));
        self.push(ChatLine { to, other: Some(message), ..ChatLine::default() });
    }

    /// Adds a note of the program on what came of a call that it made itself in that turn.
    pub fn report(&mut self, turn: TurnId, to: Option<AgentName>, text: String) {
        let message = Arc::new(user(None, text));
        let turn = Some(turn);
        self.push(ChatLine { to, other: Some(message), turn, ..ChatLine::default() });
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
            self.lines.insert(first, ChatLine { other, ..ChatLine::default() });
            self.is_cut = true;
        }
    }

    /// The part that a summary may replace so that no more than `kept` tokens come after it: what
    /// models and tools answered, save the newest answer.
    pub fn older_part(
        &self,
        (turn, agent): (TurnId, &AgentName),
        kept: u64,
        count: impl Fn(&Message) -> u64,
    ) -> OlderPart {
        let mut older = OlderPart::default();
        if self.failed_summary == Some(turn) {
            return older;
        }
        let (mut end, mut after, mut has_newest) = (0, 0_u64, false);
        for (place, line) in self.lines.iter().enumerate().rev() {
            after += line.seen_by(agent).map_or(0, |message| count(message));
            if has_newest && after > kept {
                break;
            }
            if line.is_answer() {
                (end, has_newest) = (place, true);
            }
        }
        for line in self.lines.iter().take(end) {
            let is_hidden = line.to.as_ref().is_some_and(|to| to != agent);
            let Some(turn) = line.turn.filter(|_| !is_hidden) else {
                if line.is_summary {
                    older.messages.extend(line.in_words(agent));
                }
                continue;
            };
            match older.turns.last_mut().filter(|last| last.turn == turn) {
                Some(last) => last.messages += 1,
                None => older.turns.push(SummarisedTurn { turn, messages: 1 }),
            }
            older.tokens += line.seen_by(agent).map_or(0, |message| count(message));
            older.messages.extend(line.in_words(agent));
        }
        older
    }

    /// Puts a summary in the place of what it replaces, and of the summary before it.
    pub fn summarised(&mut self, summary: &ChatSummary) {
        if summary.failed.is_some() {
            self.failed_summary = Some(summary.turn);
            return;
        }
        let mut left: BTreeMap<TurnId, u32> = BTreeMap::new();
        for SummarisedTurn { turn, messages } in &summary.replaces {
            *left.entry(*turn).or_default() += messages;
        }
        let mut first = None;
        for line in std::mem::take(&mut self.lines) {
            let of_turn = line.turn.and_then(|turn| left.get_mut(&turn));
            let is_replaced = of_turn.is_some_and(|left| {
                let is_one = *left > 0;
                *left = left.saturating_sub(1);
                is_one
            });
            if is_replaced || line.is_summary {
                first = first.or(Some(self.lines.len()));
                self.bytes = self.bytes.saturating_sub(line.bytes());
            } else {
                self.lines.push(line);
            }
        }
        let text = format!("Summary of the earlier part of this conversation:\n{}", summary.text);
        let other = Some(Arc::new(user(None, text)));
        let line = ChatLine { other, is_summary: true, ..ChatLine::default() };
        self.bytes += line.bytes();
        self.lines.insert(first.unwrap_or(self.lines.len()), line);
    }

    /// The newest answer that everyone was given; empty without one.
    pub fn last_words(&self) -> &str {
        let answers = self.lines.iter().rev().filter(|line| line.is_answer());
        let mut texts = answers.filter_map(|line| Some(line.other.as_ref()?.text.as_str()));
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// Adds one complete answer of a model.
    pub fn add_answer(
        &mut self,
        (turn, agent): (TurnId, &AgentName),
        text: &str,
        calls: Vec<ToolCall>,
        audience: Audience,
    ) {
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let has_events = audience == Audience::ByAll && !text.is_empty();
        let other = has_events.then(|| Arc::new(user(Some(agent.clone()), text.to_owned())));
        let own = Message::of(MessageRole::Assistant, Some(agent.clone()), text.to_owned());
        let own = Arc::new(Message { calls, ..own });
        self.push_of((turn, agent), own, other);
    }

    fn push_of(
        &mut self,
        (turn, agent): (TurnId, &AgentName),
        own: Arc<Message>,
        other: Option<Arc<Message>>,
    ) {
        let (of, own, turn) = (Some(agent.clone()), Some(own), Some(turn));
        self.push(ChatLine { of, own, other, turn, ..ChatLine::default() });
    }

    /// Adds a tool's answer to a call of `agent`, as it is written for models.
    pub fn answered(
        &mut self,
        (turn, agent): (TurnId, &AgentName),
        call: CallId,
        tool: &ToolName,
        result: String,
    ) {
        let text_of_result = format!("`{tool}` answered me: {result}");
        let own = Message::of(MessageRole::Tool, None, result);
        let own = Arc::new(Message { answers: Some(call), ..own });
        let other = Some(Arc::new(user(Some(agent.clone()), text_of_result)));
        self.push_of((turn, agent), own, other);
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
        messages.extend(self.lines.iter().filter_map(|line| line.seen_by(agent)).cloned());
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
    Arc::new(Message::of(MessageRole::System, None, text))
}

fn user(agent: Option<AgentName>, text: String) -> Message {
    Message::of(MessageRole::User, agent, text)
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
