//! Questions of the person about a waiting proposal, answered by the agent that made it.
//!
//! A model call beside the run: the agent is given its own conversation, the proposal and the
//! question, and can only answer in words. The proposal goes on waiting, and the run's own calls
//! know nothing of it. Must not decide anything.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::time::Instant;

use super::shared::Shared;
use crate::engine::progress::RunProgress;
use crate::engine::progress::lanes::Lane;
use crate::engine::setup::AgentSlots;
use crate::model::{
    Event, Excerpt, InquiryId, Message, MessageRole, Proposal, ProposalEvent, Side, ToolCall,
    Usage, UserError,
};
use crate::provider::{Delta, Provider, Request};

/// How long pieces of an answer are gathered before they are recorded together.
const GATHER: Duration = Duration::from_millis(50);

/// What is asked.
pub(in crate::engine) struct InquiryRequest {
    /// About which proposal.
    pub proposal: Proposal,
    /// About which of its lines.
    pub excerpt: Option<Excerpt>,
    /// The person's words.
    pub text: String,
}

impl InquiryRequest {
    /// Records the question and makes the request; `None` when the agent is not in its seat.
    ///
    /// # Errors
    /// When it could not be recorded.
    pub fn put(
        &self,
        shared: &Shared,
        slots: &AgentSlots,
    ) -> Result<Option<(InquiryId, Request)>, UserError> {
        let mut made = None;
        shared.record_with(|progress| {
            let request = self.request(progress, slots)?;
            let inquiry = progress.side_work().next_inquiry();
            made = Some((inquiry, request));
            Some(Event::Proposal(ProposalEvent::Inquired {
                inquiry,
                proposal: self.proposal.id,
                agent: self.proposal.agent.clone(),
                turn: Some(self.proposal.turn),
                excerpt: self.excerpt.clone(),
                text: self.text.clone(),
            }))
        })?;
        Ok(made)
    }

    fn request(&self, progress: &RunProgress, slots: &AgentSlots) -> Option<Request> {
        let of_turn = progress.lane_of_turn(self.proposal.turn);
        let id = of_turn.or_else(|| progress.lanes().next().map(|(id, ..)| id))?;
        let (Lane { attempt, board_chat, .. }, phase) = progress.lane(id)?;
        let agent = &self.proposal.agent;
        let slot = slots.get(attempt.phase, agent)?;
        let needed = progress.board().needed(*board_chat, &slot.needs);
        let mut messages = attempt.chat.messages(agent, &slot.rules, needed);
        close_open_calls(&mut messages);
        messages.push(Arc::new(Message::of(MessageRole::User, None, self.words())));
        Some(Request {
            agent: agent.clone(),
            phase: phase.name.clone(),
            attempt: attempt.number,
            step: id.step(),
            messages: messages.into(),
            tools: Arc::from([]),
            options: slot.options.clone(),
            form: None,
            state: None,
        })
    }

    /// The question as the agent reads it.
    fn words(&self) -> String {
        let Proposal { id, change, tool, .. } = &self.proposal;
        let subject = change.path().map_or_else(|| "the board".to_owned(), |p| format!("`{p}`"));
        let mut words = format!(
            "Your proposal {id} ({} {subject}, made with `{tool}`) still waits for the person, who \
             asks about it before deciding. Answer in words, briefly; you cannot call tools now.\n",
            change.kind()
        );
        if let Some(Excerpt { side, first, last, text }) = &self.excerpt {
            let version = match side {
                Side::Old => "the file as it is",
                Side::New => "the file as proposed",
            };
            words.push_str(&format!(
                "\nIt is about lines {first} to {last} of {version}:\n```diff\n{}\n```\n",
                text.trim_end_matches('\n')
            ));
        }
        words.push_str(&format!("\n{}", self.text.trim()));
        words
    }
}

/// No service takes a question while a call has no answer, so the open calls become words.
fn close_open_calls(messages: &mut [Arc<Message>]) {
    let Some(at) = messages.iter().rposition(|message| message.role == MessageRole::Assistant)
    else {
        return;
    };
    let (before, rest) = messages.split_at_mut(at);
    let Some((asked, after)) = rest.split_first_mut() else { return };
    let _ = before;
    let is_answered = |call: &ToolCall| after.iter().any(|answer| answer.answers == Some(call.id));
    if asked.calls.iter().all(is_answered) {
        return;
    }
    let mut message = Message::clone(asked);
    let (answered, open): (Vec<_>, Vec<_>) = message.calls.into_iter().partition(is_answered);
    message.calls = answered;
    for call in open {
        let args = call.args.to_string();
        message.text.push_str(&format!("\n\n(I call `{}` with {args}.)", call.tool));
    }
    *asked = Arc::new(message);
}

/// Takes the answer to its end and records it as it comes.
///
/// # Errors
/// When it could not be recorded; what goes wrong with the model is recorded instead.
pub(in crate::engine) async fn listen(
    shared: Arc<Shared>,
    provider: Arc<dyn Provider>,
    inquiry: InquiryId,
    request: Request,
    most: usize,
) -> Result<(), UserError> {
    let mut answer = provider.ask_aside(request);
    let mut gathered = Gathered { shared: &shared, inquiry, text: String::new(), since: None };
    let mut left = most;
    let ended = loop {
        let due = gathered.due();
        let delta = tokio::select! {
            biased;
            () = shared.stop.cancelled() => break Err(inquiry_error("the run was stopped")),
            delta = answer.next() => delta,
            () = tokio::time::sleep_until(due), if !gathered.text.is_empty() => {
                gathered.flush()?;
                continue;
            }
        };
        match delta {
            Some(Ok(Delta::Text(text))) => {
                let Some(rest) = left.checked_sub(text.len()) else {
                    break Err(inquiry_error("the answer is longer than any answer may be"));
                };
                left = rest;
                gathered.push(&text)?;
            }
            // Nobody is told it, but it must not go on for ever either.
            Some(Ok(Delta::Reasoning(text))) => {
                let Some(rest) = left.checked_sub(text.len()) else {
                    break Err(inquiry_error("the model thinks longer than it may"));
                };
                left = rest;
            }
            Some(Ok(Delta::Done { usage, .. })) => break Ok(usage),
            // No tool was offered; whatever is called is not done.
            Some(Ok(_)) => {}
            Some(Err(error)) => break Err(error),
            None => break Err(inquiry_error("the answer was interrupted")),
        }
    };
    gathered.flush()?;
    let (usage, failed) = match ended {
        Ok(usage) => (usage, None),
        Err(error) => (Usage::default(), Some(error)),
    };
    shared.record(Event::Proposal(ProposalEvent::InquiryEnded { inquiry, usage, failed }))
}

/// Closes questions whose answers the program's end has cut off.
///
/// # Errors
/// When that cannot be recorded.
pub(in crate::engine) fn close(shared: &Shared) -> Result<(), UserError> {
    let open = shared.progress().side_work().open_inquiries();
    for inquiry in open {
        let failed = Some(inquiry_error("the program ended before it was there"));
        shared.record(Event::Proposal(ProposalEvent::InquiryEnded {
            inquiry,
            usage: Usage::default(),
            failed,
        }))?;
    }
    Ok(())
}

fn inquiry_error(why: &str) -> UserError {
    UserError::new("Cannot get a complete answer to the question", why, "Ask again.")
}

struct Gathered<'a> {
    shared: &'a Shared,
    inquiry: InquiryId,
    text: String,
    since: Option<Instant>,
}

impl Gathered<'_> {
    fn due(&self) -> Instant {
        self.since.unwrap_or_else(Instant::now) + GATHER
    }

    fn push(&mut self, text: &str) -> Result<(), UserError> {
        self.text.push_str(text);
        if self.since.is_some_and(|since| since.elapsed() < GATHER) {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), UserError> {
        if self.text.is_empty() {
            return Ok(());
        }
        self.since = Some(Instant::now());
        let text = std::mem::take(&mut self.text);
        self.shared.record(Event::Proposal(ProposalEvent::InquiryTextAdded {
            inquiry: self.inquiry,
            text,
        }))
    }
}
