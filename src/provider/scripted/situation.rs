//! What a request tells: who asks, what tools answered, what the person said.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{ContentHash, Message, MessageRole};
use crate::provider::Request;
use crate::text::toon;

/// Beginning of a message about a call that the program made itself.
const CALLED: &str = "The program called `";

/// Beginnings of messages that the program itself puts into a chat in the person's place.
const PROGRAM_NOTES: [&str; 17] = [
    "Files of the project:\n",
    "The last build failed:\n",
    "Nobody was named to go on.",
    "Nobody here is called ",
    "Document `",
    "From the blackboard, ",
    "I changed the plan. It is now:\n",
    "Earlier requests in this session, ",
    "The person took back the change of ",
    "The person asked about your proposal: ",
    "Your answer cannot be used: ",
    "The plan, and how far it is:\n",
    "This chat is about step ",
    "The team of the phase `",
    "Signatures in the sources of the project:\n",
    "The attempt before this one failed: ",
    CALLED,
];

/// A file that was refused, and the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RefusedFile {
    pub path: String,
    pub reason: String,
}

/// A request with what can be read out of it.
pub(super) struct Situation<'a> {
    pub request: &'a Request,
    /// What the person said since the last call, oldest first.
    pub written: Vec<&'a str>,
    /// All the person's messages in this chat, counted by a short hash.
    pub requests: BTreeMap<String, u32>,
    /// Answers to the agent's own last calls, in order.
    answers: Vec<(&'a str, Value)>,
}

impl<'a> Situation<'a> {
    /// Reads a request; `heard` are the messages of the person known before.
    pub fn new(request: &'a Request, received: Option<&BTreeMap<String, u32>>) -> Self {
        let (written, requests) = spoken(&request.messages, received);
        Self { request, written, requests, answers: answers(request) }
    }

    /// The text of the newest message.
    pub fn last_message(&self) -> &'a str {
        self.request.messages.last().map_or("", |message| message.text.as_str())
    }

    /// What a tool answered in this turn; without a name, what the last one did.
    pub fn answer(&self, tool: Option<&str>) -> Option<&Value> {
        let mut answers = self.answers.iter().rev();
        answers.find(|(name, _)| tool.is_none_or(|tool| tool == *name)).map(|(_, answer)| answer)
    }

    /// The files that were refused in this turn.
    pub fn refusals(&self) -> Vec<RefusedFile> {
        let mut refusals: Vec<RefusedFile> = Vec::new();
        for (_, answer) in &self.answers {
            for entry in answer.get("rejected").and_then(Value::as_array).into_iter().flatten() {
                let text = |key| entry.get(key).and_then(Value::as_str).map(str::to_owned);
                let Some(path) = text("file_name") else { continue };
                refusals.retain(|known| known.path != path);
                refusals.push(RefusedFile { path, reason: text("reason").unwrap_or_default() });
            }
        }
        refusals
    }

    /// Why the last thing was refused: the words given for files, or else for the call.
    pub fn reason(&self) -> String {
        let mut reasons: Vec<String> = Vec::new();
        for RefusedFile { reason, .. } in self.refusals() {
            if !reason.is_empty() && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        if reasons.is_empty()
            && let Some(answer) = self.answer(None)
        {
            let places = ["/rejected", "/reason", "/errors/0/message", "/error/message"];
            let given = places.iter().find_map(|at| answer.pointer(at)?.as_str());
            reasons.extend(given.map(str::to_owned));
        }
        match reasons.is_empty() {
            true => "no reason was given".to_owned(),
            false => reasons.join("; "),
        }
    }

    /// Tool answers and the last message in a few words, for messages about a run off the track.
    pub fn in_words(&self) -> String {
        let request = self.request;
        let mut words = format!(
            "{} asks in phase `{}`, attempt {}",
            request.agent, request.phase, request.attempt
        );
        for (tool, answer) in &self.answers {
            words.push_str(&format!("; `{tool}` answered {}", shortened(&answer.to_string())));
        }
        words
    }
}

/// Cuts a text to what fits into a sentence.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 160;
    let mut short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn spoken<'a>(
    messages: &'a [std::sync::Arc<Message>],
    before: Option<&BTreeMap<String, u32>>,
) -> (Vec<&'a str>, BTreeMap<String, u32>) {
    let mut received: BTreeMap<String, u32> = BTreeMap::new();
    let mut written = Vec::new();
    let of_nobody = messages.iter().filter(|m| m.role == MessageRole::User && m.agent.is_none());
    // The first one is the task.
    for message in of_nobody.skip(1) {
        let text = message.text.as_str();
        if PROGRAM_NOTES.iter().any(|note| text.starts_with(note)) {
            continue;
        }
        let hash = ContentHash::of(text.as_bytes()).short();
        let known = before.and_then(|before| before.get(&hash)).copied().unwrap_or(0);
        let count = received.entry(hash).or_default();
        *count += 1;
        if *count > known {
            written.push(text);
        }
    }
    // What was said to one agent is not in the chats of the others, and stays known.
    for (hash, known) in before.into_iter().flatten() {
        let count = received.entry(hash.clone()).or_default();
        *count = (*count).max(*known);
    }
    (written, received)
}

fn answers(request: &Request) -> Vec<(&str, Value)> {
    let own = request.messages.iter().rposition(|message| message.role == MessageRole::Assistant);
    let rest = own.map_or(0, |at| at + 1);
    let asked = own.and_then(|at| request.messages.get(at));
    let answers = request.messages.iter().skip(rest).filter_map(|message| {
        if message.role == MessageRole::User {
            return called_by_program(&message.text);
        }
        let call = message.answers.filter(|_| message.role == MessageRole::Tool)?;
        let call = asked?.calls.iter().find(|made| made.id == call)?;
        let answer = read(&message.text).unwrap_or(Value::Null);
        Some((call.tool.as_str(), answer))
    });
    answers.collect()
}

/// The tool that the program called itself, and its answer.
fn called_by_program(text: &str) -> Option<(&str, Value)> {
    let (tool, rest) = text.strip_prefix(CALLED)?.split_once('`')?;
    let (_, answer) = rest.split_once(": ")?;
    Some((tool, read(answer)?))
}

/// A tool's answer in either notation.
fn read(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| toon::decode(text).ok())
}
