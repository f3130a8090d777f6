//! What every dialect is made of: a request to write, the pieces of an answer, and how both say the
//! same things.

use serde_json::Value;

use super::conversation::{Conversation, ConversationTurn};
use crate::model::{CallId, Cost, Usage};
use crate::provider::fault::Fault;
use crate::provider::form::AnswerForm;
use crate::provider::profile::Profile;

/// Bytes of a refusal, about which more is not gathered.
pub(super) const MOST_REFUSAL: usize = 64 << 10;

/// A piece of an answer, in the order it came.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::provider) enum AnswerPiece {
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
pub(in crate::provider) enum Slot {
    /// By its place.
    Place(u64),
    /// By its place, and by a name that tells it from another one at the same place.
    Named(u64, String),
    /// A call of its own.
    New,
}

/// Why an answer ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::provider) enum Stop {
    /// It is complete.
    End,
    /// The limit of its length was reached.
    Length,
    /// The model or a filter refused.
    Refused(String),
}

/// What a request asks, ready to be written in any dialect.
pub(in crate::provider) struct RequestBody<'a> {
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

impl RequestBody<'_> {
    /// The sealed thoughts for each turn of the model, in order: the last turns have those that
    /// were kept.
    pub fn thoughts(&self) -> impl Iterator<Item = &[Value]> {
        let is_own = |turn: &&ConversationTurn<'_>| matches!(turn, ConversationTurn::Own { .. });
        let own = self.conversation.turns.iter().filter(is_own).count();
        let without: &[Value] = &[];
        let first = std::iter::repeat_n(without, own.saturating_sub(self.kept.len()));
        let kept = if self.without.reasoning { &[] } else { self.kept };
        first.chain(kept.iter().map(Vec::as_slice))
    }
}

/// What a service turned out not to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::provider) struct Without {
    pub tools: bool,
    pub temperature: bool,
    pub stream_usage: bool,
    pub old_limit: bool,
    pub reasoning: bool,
    pub form: bool,
}

/// What was read of an answer, and of which model.
pub(in crate::provider) struct Received<'a> {
    pub profile: &'a Profile,
    pub pieces: Vec<AnswerPiece>,
}

impl<'a> Received<'a> {
    pub const fn of(profile: &'a Profile) -> Self {
        Self { profile, pieces: Vec::new() }
    }

    pub fn push(&mut self, piece: AnswerPiece) {
        self.pieces.push(piece);
    }

    pub fn extend(&mut self, pieces: impl IntoIterator<Item = AnswerPiece>) {
        self.pieces.extend(pieces);
    }
}

/// Reads the messages of one answer.
pub(in crate::provider) trait DialectReader: Send {
    /// Takes one message of the stream.
    fn read(&mut self, message: &str, out: &mut Received<'_>) -> Result<(), Fault>;

    /// Takes an answer that came in one piece although a stream was asked for.
    fn read_whole(&mut self, whole: &Value, out: &mut Received<'_>) -> Result<(), Fault>;
}

/// A message of the stream as JSON.
pub(super) fn json(message: &str, profile: &Profile) -> Result<Value, Fault> {
    serde_json::from_str(message)
        .map_err(|error| Fault::garbled(profile, &format!("no JSON ({error})"), message))
}

/// A failure that is told in the stream instead of an answer.
pub(super) fn service_fault(error: &Value, profile: &Profile) -> Fault {
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
pub(super) fn count(value: Option<&Value>) -> u64 {
    let Some(value) = value else { return 0 };
    // `as` saturates.
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64)).unwrap_or(0)
}

/// Usage as services of the OpenAI family count it.
pub(super) fn usage(value: &Value, input: &str, output: &str, details: &str) -> Usage {
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
pub(super) fn call_id(id: CallId) -> String {
    format!("call_{}", id.0)
}

/// Arguments as a JSON object, which every service takes, even where the model wrote none.
pub(super) fn arguments(args: &Value) -> Value {
    match args {
        Value::Object(_) => args.clone(),
        other => serde_json::json!({ "malformed": other }),
    }
}
