//! Asks a model for a summary of the oldest part of a conversation once it nears what fits.
//!
//! A model call of its own, without tools; what comes of it is recorded, and the fold of the chat
//! puts the summary in the place of what it replaces. When it fails the conversation stays as it
//! is. Must not leave anything out itself.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;

use super::context;
use super::shared::Shared;
use crate::engine::attempt::chat::{self, OlderPart};
use crate::engine::progress::lanes::{Lane, LaneId};
use crate::model::{ChatSummary, Event, Message, MessageRole, ModelEvent, Usage, UserError};
use crate::provider::{Delta, Meter, Request, TokenCounter};

/// What the model is told to do.
const INSTRUCTIONS: &str = include_str!("summary.md");

/// A conversation that fills more of the room than this is summarised, in per cent.
const NEAR: u64 = 80;

/// How much of the room the messages after the summary may fill, in per cent.
const KEPT: u64 = 40;

/// What a summary must make free at least, in per cent of the room: less is not worth a request.
const WORTH: u64 = 10;

/// How much of the room the part to be summarised may fill, in per cent.
const SENT: u64 = 75;

/// Bytes of a message that the summary is made from, at most and at least.
const LONGEST: usize = 16 << 10;
const SHORTEST: usize = 512;

/// Bytes of a summary; a longer one is none.
const MOST_BYTES: usize = 64 << 10;

/// What is to be summarised, and how it is asked for.
pub(in crate::engine) struct SummaryRequest {
    older: OlderPart,
    request: Request,
    counter: TokenCounter,
}

impl SummaryRequest {
    /// What `request` needs for its conversation to stay well within the room; `None`: nothing.
    pub fn of(
        (shared, id): (&Shared, LaneId),
        request: &Request,
        meter: Option<&Meter>,
    ) -> Option<Self> {
        let Meter { window, answer, counter } = meter?;
        let space = window.saturating_sub(*answer);
        let near = space.saturating_mul(NEAR) / 100;
        if context::is_surely_within(&request.messages, &request.tools, near) {
            return None;
        }
        let messages = request.messages.iter().map(|message| counter.message(message));
        let tools = request.tools.iter().map(|spec| counter.tool(spec));
        if messages.chain(tools).sum::<u64>() <= near {
            return None;
        }
        let older = {
            let progress = shared.progress();
            let (lane, _) = progress.lane(id)?;
            let turn = lane.attempt.turn.as_ref()?;
            let kept = space * KEPT / 100;
            lane.attempt.chat.older_part((turn.id, &turn.agent), kept, |it| counter.message(it))
        };
        if older.turns.is_empty() || older.tokens < space * WORTH / 100 {
            return None;
        }
        let (mut most, mut text) = (LONGEST, String::new());
        while most >= SHORTEST {
            text = older.messages.iter().map(|it| shortened(it, most) + "\n\n").collect();
            if counter.text(&text) <= space * SENT / 100 {
                break;
            }
            most /= 2;
        }
        let task = Message::of(MessageRole::User, None, text);
        let rules = chat::system(INSTRUCTIONS.trim().to_owned());
        let messages: Arc<[Arc<Message>]> = Arc::from([rules, Arc::new(task)]);
        let (tools, form, state) = (Arc::from([]), None, None);
        let request = Request { messages, tools, form, state, ..request.clone() };
        Some(Self { older, request, counter: counter.clone() })
    }

    /// Asks for the summary and records it, or why there is none.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub async fn carry_out(self, (shared, id): (&Shared, LaneId)) -> Result<(), UserError> {
        let Self { older, request, counter } = self;
        let open = |(lane, _): (&Lane, _)| Some(lane.attempt.turn.as_ref()?.id);
        let Some(turn) = shared.progress().lane(id).and_then(open) else { return Ok(()) };
        let answer = shared.provider().ask_aside(request);
        let (text, usage, failed) = tokio::select! {
            biased;
            () = shared.stop.cancelled() => return Ok(()),
            (text, ended) = listen(answer) => match ended {
                Ok(usage) if text.is_empty() => (text, usage, Some(failure("its answer is empty"))),
                Ok(usage) if counter.text(&text) >= older.tokens => {
                    let why = "its answer is longer than what it was to replace";
                    (String::new(), usage, Some(failure(why)))
                }
                Ok(usage) => (text, usage, None),
                Err(error) => (String::new(), Usage::default(), Some(error)),
            },
        };
        let (replaces, tokens) = (older.turns, older.tokens);
        let summary = ChatSummary { turn, replaces, tokens, text, usage, failed };
        shared.record(Event::Model(ModelEvent::Summarised(Box::new(summary))))
    }
}

/// The whole answer, and what it cost or why it did not come to its end.
async fn listen(
    mut answer: BoxStream<'static, Result<Delta, UserError>>,
) -> (String, Result<Usage, UserError>) {
    let mut text = String::new();
    let mut thought = 0;
    let ended = loop {
        match answer.next().await {
            Some(Ok(Delta::Text(more))) => text.push_str(&more),
            Some(Ok(Delta::Reasoning(more))) => thought += more.len(),
            Some(Ok(Delta::Again { .. })) => text.clear(),
            Some(Ok(Delta::Done { usage, .. })) => break Ok(usage),
            // No tool was offered; whatever is called is not done.
            Some(Ok(_)) => {}
            Some(Err(error)) => break Err(error),
            None => break Err(failure("its answer was interrupted")),
        }
        if text.len() > MOST_BYTES || thought > 16 * MOST_BYTES {
            break Err(failure("its answer is longer than a summary may be"));
        }
    };
    (text.trim().to_owned(), ended)
}

/// A text with its middle left out where it is longer than `most` bytes.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let start = text.floor_char_boundary(most * 2 / 3);
    let end = text.ceil_char_boundary(text.len() - most / 3);
    let (before, after) = (text.get(..start), text.get(end..));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    format!("{before}\n[{} bytes are left out here]\n{after}", end - start)
}

fn failure(why: &str) -> UserError {
    UserError::new(
        "The model wrote no summary",
        why,
        "No action is needed: where the conversation is too long, parts of it are left out instead.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_loses_its_middle_and_no_letter_is_cut() {
        let text = format!("begin {} end", "ä".repeat(900));
        let short = shortened(&text, 600);
        assert!(short.starts_with("begin ") && short.ends_with(" end"), "{short}");
        assert!(short.contains(" bytes are left out here]") && short.len() < 650, "{short}");
        assert_eq!(shortened("short", 600), "short");
    }
}
