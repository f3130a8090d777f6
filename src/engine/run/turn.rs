//! One model call: asking, listening, and recording what comes as it comes.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::Value;
use tokio::time::Instant;

use super::open_calls::OpenCalls;
use super::shared::Shared;
use crate::engine::progress::RunProgress;
use crate::engine::progress::lanes::{Lane, LaneId};
use crate::engine::setup::AgentSlots;
use crate::engine::setup::EngineLimits;
use crate::model::event::Level;
use crate::model::{Event, ModelEvent, ToolName, TurnEvent, TurnId, UserError};
use crate::provider::{Delta, ModelOptions, Request};
use crate::text::recover;

/// How long pieces of text are gathered before they are recorded together.
const GATHER: Duration = Duration::from_millis(50);

/// A model call that is under way.
pub(in crate::engine) struct Asking<'a> {
    shared: &'a Shared,
    turn: TurnId,
    /// Text that is not recorded yet, of which kind, and by when it must be.
    gathered: String,
    kind: TextKind,
    /// Calls that are not whole yet; never recorded.
    open_calls: OpenCalls<'a>,
    due: Option<Instant>,
    /// Bytes that may still come, and that may come in all.
    remaining: usize,
    most: usize,
}

/// What a model's text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Wrote,
    Thought,
}

/// How listening to a model ended, unless it failed.
pub(in crate::engine) enum AnswerEnd {
    /// The answer is complete, or the run is stopped.
    All,
    /// The model cannot take the conversation, but perhaps one of so many tokens.
    TooLong(Option<u64>, UserError),
}

impl<'a> Asking<'a> {
    /// Makes the request of the open turn of a chat, and tells how many tokens it may hold at most; `None`
    /// without a turn.
    pub fn new(
        (progress, id): (&RunProgress, LaneId),
        slots: &AgentSlots,
        shared: &'a Shared,
        limits: &EngineLimits,
    ) -> Option<(Self, Request, Option<u64>)> {
        let (Lane { attempt, board_chat, model_state, .. }, phase) = progress.lane(id)?;
        let turn = attempt.turn.as_ref()?;
        let slot = slots.get(attempt.phase, &turn.agent)?;
        let needed = progress.board().needed(*board_chat, &slot.needs);
        let rules = slot.rules_after(|agent| progress.board().answer(*board_chat, agent));
        let messages = attempt.chat.messages(&turn.agent, &rules, needed);
        let request = Request {
            agent: turn.agent.clone(),
            phase: phase.name.clone(),
            attempt: attempt.number,
            step: id.step(),
            messages: messages.into(),
            tools: slot.tools.clone(),
            options: ModelOptions {
                max_tokens: progress.budget_meter().allowed_answer(id, slot.options.max_tokens),
                ..slot.options.clone()
            },
            form: slot.form.clone(),
            state: model_state.clone(),
        };
        let gathered = String::new();
        let (turn, kind, due) = (turn.id, TextKind::Wrote, None);
        let (left, most) = (limits.answer_bytes, limits.answer_bytes);
        let open_calls = OpenCalls::new(&shared.open_calls, turn, progress.next_call());
        Some((
            Self { shared, turn, gathered, kind, open_calls, due, remaining: left, most },
            request,
            slot.context_tokens,
        ))
    }

    /// The turn that asks.
    pub const fn turn(&self) -> TurnId {
        self.turn
    }

    /// Takes the answer to its end, or until the run is stopped. The inner error is the model's,
    /// the outer one the recorder's.
    pub async fn listen(
        mut self,
        mut answer: BoxStream<'static, Result<Delta, UserError>>,
    ) -> Result<Result<AnswerEnd, UserError>, UserError> {
        let mut too_long = None;
        let stop = self.shared.stop.clone();
        let mut stopped = std::pin::pin!(stop.cancelled());
        loop {
            let due = self.due;
            let delta = tokio::select! {
                biased;
                () = &mut stopped => {
                    self.flush()?;
                    return Ok(Ok(AnswerEnd::All));
                }
                delta = answer.next() => delta,
                () = at(due), if due.is_some() && self.has_waiting() => {
                    self.flush()?;
                    self.tell_open_calls();
                    continue;
                }
            };
            let error = match delta {
                Some(Ok(delta)) => match self.take(delta)? {
                    Taken::More => continue,
                    Taken::Done => return Ok(Ok(AnswerEnd::All)),
                    Taken::TooMuch => too_much(),
                    Taken::TooLong(limit) => {
                        too_long = Some(limit);
                        continue;
                    }
                },
                Some(Err(error)) => match too_long {
                    Some(limit) => return Ok(Ok(AnswerEnd::TooLong(limit, error))),
                    None => error,
                },
                None => broken_off(),
            };
            self.flush()?;
            return Ok(Err(error));
        }
    }

    fn take(&mut self, delta: Delta) -> Result<Taken, UserError> {
        match delta {
            Delta::Text(text) => return self.gather(&text, TextKind::Wrote),
            Delta::Reasoning(text) => return self.gather(&text, TextKind::Thought),
            Delta::Model(model) => self.shared.record_with(|progress| {
                let is_new = progress.model() != Some(&model);
                is_new.then_some(Event::Model(ModelEvent::Named { model }))
            })?,
            Delta::Note(notice) => {
                self.flush()?;
                self.shared.notice(Level::Warning, notice)?;
            }
            Delta::CallPart { place, tool, args } => {
                self.flush()?;
                self.open_calls.grow(place, tool, &args);
                if self.due.is_none_or(|due| Instant::now() >= due) {
                    self.tell_open_calls();
                }
            }
            Delta::Again { attempt, most, wait_millis, fault } => {
                self.gathered.clear();
                self.open_calls.forget();
                self.remaining = self.most;
                let turn = self.turn;
                let faulted = ModelEvent::Faulted { turn, attempt, most, wait_millis, fault };
                self.shared.record(Event::Model(faulted))?;
            }
            Delta::TooLong { limit } => return Ok(Taken::TooLong(limit)),
            Delta::Call { tool, args } => {
                let Some(left) = self.remaining.checked_sub(args.len()) else {
                    return Ok(Taken::TooMuch);
                };
                self.remaining = left;
                self.flush()?;
                self.call(tool, args)?;
                self.open_calls.end_first();
            }
            Delta::Done { usage, state } => {
                self.flush()?;
                self.shared.record(Event::Turn(TurnEvent::ModelAnswered {
                    turn: self.turn,
                    usage,
                    state,
                }))?;
                return Ok(Taken::Done);
            }
        }
        Ok(Taken::More)
    }

    /// The first piece is recorded at once, later ones together.
    fn gather(&mut self, text: &str, kind: TextKind) -> Result<Taken, UserError> {
        let Some(left) = self.remaining.checked_sub(text.len()) else { return Ok(Taken::TooMuch) };
        self.remaining = left;
        if self.kind != kind {
            self.flush()?;
            self.kind = kind;
        }
        self.gathered.push_str(text);
        if self.due.is_none_or(|due| Instant::now() >= due) {
            self.flush()?;
        }
        Ok(Taken::More)
    }

    fn flush(&mut self) -> Result<(), UserError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.gathered);
        self.due = Some(Instant::now() + GATHER);
        let turn = self.turn;
        self.shared.record(match self.kind {
            TextKind::Wrote => Event::Turn(TurnEvent::TextAdded { turn, text }),
            TextKind::Thought => Event::Model(ModelEvent::Reasoned { turn, text }),
        })
    }

    /// Whether something has come that was not passed on yet.
    fn has_waiting(&self) -> bool {
        !self.gathered.is_empty() || self.open_calls.has_news()
    }

    fn tell_open_calls(&mut self) {
        if self.open_calls.has_news() {
            self.open_calls.tell();
            self.due = Some(Instant::now() + GATHER);
        }
    }

    fn call(&mut self, tool: ToolName, args: String) -> Result<(), UserError> {
        let args = arguments(args);
        let turn = self.turn;
        self.shared.record_with(|progress| {
            Some(Event::Turn(TurnEvent::ToolCalled {
                turn,
                call: progress.next_call(),
                tool,
                args,
            }))
        })
    }
}

enum Taken {
    More,
    Done,
    TooMuch,
    TooLong(Option<u64>),
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Arguments as JSON; as plain text where they are none, which no tool accepts.
fn arguments(text: String) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    recover::structured(&text).unwrap_or(Value::String(text))
}

fn too_much() -> UserError {
    UserError::new(
        "The model's answer was cut off",
        "it is longer than any answer may be",
        "Try again, or tell the team to write shorter answers.",
    )
}

fn broken_off() -> UserError {
    UserError::new(
        "The model's answer was interrupted",
        "the stream ended before its end",
        "Try again.",
    )
}
