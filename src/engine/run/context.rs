//! Makes a conversation fit into a model: what is least useful is left out first, whole messages
//! at a time, and it is said what was left out.
//!
//! Never left out: the instructions, the task, and what the agent is to answer now. Must not ask a
//! model or record anything.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{LeftOut, Message, MessageRole, ModelEvent, ToolSpec, TurnId, UserError};
use crate::provider::{Meter, Request, TokenCounter};

/// How much of the room is filled once something has to be left out, in per cent: not to have to
/// leave out more with every message.
const FILL: u64 = 85;

/// Bytes of a token, as few as text and code ever have on average.
const FEWEST_BYTES: u64 = 2;

/// Messages at the end that stay.
const TAIL: usize = 2;

/// A conversation that fits.
pub(in crate::engine) struct Fitted {
    /// What to send.
    pub messages: Arc<[Arc<Message>]>,
    /// What was left out, if anything.
    pub trimmed: Option<Trimmed>,
}

/// What was left out of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct Trimmed {
    left_out: Vec<LeftOut>,
    tokens: u64,
    window: u64,
}

impl Trimmed {
    pub fn into_event(self, turn: TurnId) -> ModelEvent {
        let Self { left_out, tokens, window } = self;
        ModelEvent::Trimmed { turn, left_out, tokens, window }
    }
}

/// Messages that only make sense together: an answer with its calls and what came of them.
struct MessageGroup {
    range: std::ops::Range<usize>,
    tokens: u64,
    /// `None`: stays whatever happens.
    rank: Option<Rank>,
}

/// How useful something is; the least useful first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A result that a newer one of the same tool replaces.
    Outdated,
    /// Words of other agents.
    OtherWords,
    /// The agent's own words, calls and their results.
    Own,
    /// The newest results of tools that others have called.
    Result,
    /// What the person or the program said.
    Person,
}

/// Leaves out what does not fit.
///
/// # Errors
/// When what must stay does not fit.
pub(in crate::engine) fn fit(
    messages: &Arc<[Arc<Message>]>,
    tools: &[ToolSpec],
    meter: Option<&Meter>,
) -> Result<Fitted, UserError> {
    let whole = || Fitted { messages: Arc::clone(messages), trimmed: None };
    let Some(meter) = meter else { return Ok(whole()) };
    let space = meter.window.saturating_sub(meter.answer);
    if is_surely_within(messages, tools, space) {
        return Ok(whole());
    }
    let counter = &meter.counter;
    let declared: u64 = tools.iter().map(|spec| counter.tool(spec)).sum();
    let mut groups = groups(messages, counter);
    let mut tokens = declared + groups.iter().map(|group| group.tokens).sum::<u64>();
    if tokens <= space {
        return Ok(whole());
    }
    let target = space * FILL / 100;
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&at| groups.get(at).and_then(|group| group.rank));
    let mut gone = BTreeSet::new();
    for at in order {
        let Some(group) = groups.get_mut(at).filter(|group| group.rank.is_some()) else { continue };
        if tokens <= target {
            break;
        }
        tokens -= group.tokens;
        gone.insert(at);
    }
    if tokens > space {
        return Err(too_long(tokens, space, meter.window));
    }
    let left_out = gone.iter().filter_map(|&at| Some(left_out(messages, groups.get(at)?)));
    let left_out: Vec<LeftOut> = left_out.collect();
    let messages = without(messages, &groups, &gone, &left_out);
    Ok(Fitted {
        messages: messages.into(),
        trimmed: Some(Trimmed { left_out, tokens, window: meter.window }),
    })
}

/// Holds a conversation to the tokens that its agent may be given, as well as to the model's.
pub(in crate::engine) fn within(most: Option<u64>, meter: Option<Meter>) -> Option<Meter> {
    let Some(most) = most else { return meter };
    let meter = meter.unwrap_or_else(unbounded);
    Some(Meter { window: meter.window.min(most.saturating_add(meter.answer)), ..meter })
}

/// A window of which nothing is known.
fn unbounded() -> Meter {
    Meter { window: u64::MAX, answer: 0, counter: TokenCounter::unknown() }
}

/// A smaller window for a model that refused what was to fit; `None` when nothing is known.
pub(in crate::engine) fn smaller(
    request: &Request,
    meter: Option<&Meter>,
    limit: Option<u64>,
) -> Option<Meter> {
    let meter = meter.cloned().unwrap_or_else(unbounded);
    let counted = |counter: &TokenCounter| -> u64 {
        let messages = request.messages.iter().map(|message| counter.message(message));
        messages.chain(request.tools.iter().map(|spec| counter.tool(spec))).sum()
    };
    let sent = counted(&meter.counter);
    // The service counts otherwise, so its limit alone may not be enough.
    let window = limit.unwrap_or(meter.window).min(sent * 3 / 4 + meter.answer);
    (window > 0).then(|| Meter { answer: meter.answer.min(window / 4), window, ..meter })
}

/// Whether a conversation has no more than so many tokens, however they are counted.
pub(in crate::engine) fn is_surely_within(
    messages: &[Arc<Message>],
    tools: &[ToolSpec],
    most: u64,
) -> bool {
    bytes(messages, tools) / FEWEST_BYTES <= most
}

fn bytes(messages: &[Arc<Message>], tools: &[ToolSpec]) -> u64 {
    let messages = messages.iter().map(|message| {
        let calls = message.calls.iter().map(|call| call.args.to_string().len());
        message.text.len() + calls.sum::<usize>() + 16
    });
    let tools = tools.iter().map(|spec| spec.description.len() + spec.schema.to_string().len());
    messages.chain(tools).sum::<usize>() as u64
}

fn groups(messages: &[Arc<Message>], counter: &TokenCounter) -> Vec<MessageGroup> {
    let mut groups: Vec<MessageGroup> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let tokens = counter.message(message);
        match groups.last_mut() {
            Some(group) if message.role == MessageRole::Tool => {
                group.range.end = at + 1;
                group.tokens += tokens;
            }
            _ => groups.push(MessageGroup { range: at..at + 1, tokens, rank: None }),
        }
    }
    let mut has_task = false;
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let ranks: Vec<Option<Rank>> = groups
        .iter()
        .map(|group| {
            let message = messages.get(group.range.start)?;
            let is_task = message.role == MessageRole::User && message.agent.is_none() && !has_task;
            has_task |= is_task;
            let stays = is_task || message.role == MessageRole::System;
            (!stays).then(|| rank(message))
        })
        .collect();
    for (group, rank) in groups.iter_mut().zip(ranks) {
        group.rank = rank;
    }
    let tail = groups.len().saturating_sub(TAIL);
    for (at, group) in groups.iter_mut().enumerate().rev() {
        if at >= tail {
            group.rank = None;
        }
        let Some(message) = messages.get(group.range.start) else { continue };
        if let Some((agent, tool)) = result_in_words(message)
            && !seen.insert((agent, tool))
            && group.rank.is_some()
        {
            group.rank = Some(Rank::Outdated);
        }
    }
    groups
}

fn rank(message: &Message) -> Rank {
    match message.role {
        MessageRole::Assistant | MessageRole::Tool => Rank::Own,
        MessageRole::User if message.agent.is_none() => Rank::Person,
        MessageRole::User if result_in_words(message).is_some() => Rank::Result,
        MessageRole::User | MessageRole::System => Rank::OtherWords,
    }
}

/// The agent and the tool of a result that others are told of.
fn result_in_words(message: &Message) -> Option<(&str, &str)> {
    let agent = message.agent.as_ref().filter(|_| message.role == MessageRole::User)?;
    let (tool, _) = message.text.strip_prefix('`')?.split_once("` answered me: ")?;
    Some((agent.as_str(), tool))
}

fn left_out(messages: &[Arc<Message>], group: &MessageGroup) -> LeftOut {
    let message = messages.get(group.range.start);
    let agent =
        message.and_then(|message| message.agent.as_ref()).map_or("", |agent| agent.as_str());
    let what = match (message.map(|message| &**message), group.rank) {
        (Some(message), _) if result_in_words(message).is_some() => {
            let (agent, tool) = result_in_words(message).unwrap_or_default();
            format!("what `{tool}` answered {agent}")
        }
        (Some(message), Some(Rank::Own)) => match message.calls.first() {
            Some(call) => format!("{agent}'s own call of `{}` and its answer", call.tool),
            None => format!("{agent}'s own words “{}”", begin(&message.text)),
        },
        (Some(message), _) if agent.is_empty() => format!("“{}”", begin(&message.text)),
        (Some(message), _) => format!("{agent}: “{}”", begin(&message.text)),
        (None, _) => String::new(),
    };
    LeftOut { what, tokens: group.tokens }
}

/// The first words of a text.
fn begin(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

fn without(
    messages: &[Arc<Message>],
    groups: &[MessageGroup],
    gone: &BTreeSet<usize>,
    left_out: &[LeftOut],
) -> Vec<Arc<Message>> {
    let mut kept = Vec::with_capacity(messages.len() + 1);
    let first = gone.first().copied();
    for (at, group) in groups.iter().enumerate() {
        if Some(at) == first {
            let list: Vec<&str> = left_out.iter().map(|piece| piece.what.as_str()).collect();
            let text = format!(
                "(Left out here and below, because the conversation is too long for you: {}. \
                 Ask for what you need of it.)",
                list.join("; ")
            );
            kept.push(Arc::new(Message::of(MessageRole::User, None, text)));
        }
        if !gone.contains(&at) {
            kept.extend(messages.get(group.range.clone()).into_iter().flatten().cloned());
        }
    }
    kept
}

fn too_long(tokens: u64, space: u64, window: u64) -> UserError {
    UserError::new(
        "The conversation does not fit into the model",
        format!(
            "after leaving out all that is possible it has {tokens} tokens; {space} of the window of {window} are free for it"
        ),
        "Choose a model with a larger window, set `context_window` if it has one, or raise the \
         agent's `context_tokens`.",
    )
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
