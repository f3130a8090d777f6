//! Answers to questions beside the conversation: about something that waits for the person.
//!
//! Owns which recorded answer fits. It never moves the recording on.

use super::answer::usage;
use super::pace::ScriptedReply;
use super::script::Script;
use crate::provider::{Delta, Request};

/// What is said when the recording has nothing to say: nobody shall believe that it was understood.
const NOTHING: &str = "scripted model: the recording holds no answer to this question. It is \
                       noted with the proposal, which goes on waiting.";

/// Answers a question.
pub(super) fn answer(script: &Script, request: &Request) -> ScriptedReply {
    let question = request.messages.last().map_or("", |message| message.text.as_str());
    let question = question.to_lowercase();
    let fitting = script.asides.iter().find(|aside| aside.fits(&request.agent, &question));
    let text = fitting.map_or(NOTHING, |aside| aside.say.as_str()).to_owned();
    let usage = usage(request, &text, &[]);
    ScriptedReply { text, calls: Vec::new(), done: Delta::Done { usage, state: None } }
}
