//! One model call: asking, listening, and recording what comes as it comes.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::Value;
use tokio::time::Instant;

use super::budget;
use super::handle::Limits;
use super::progress::Progress;
use super::run::Shared;
use super::seat::Seats;
use crate::model::{Event, ModelEvent, ToolName, TurnId, UserError};
use crate::provider::{Delta, Request};

/// How long pieces of text are gathered before they are recorded together.
const GATHER: Duration = Duration::from_millis(50);

/// A model call that is under way.
pub(super) struct Asking<'a> {
    shared: &'a Shared,
    turn: TurnId,
    /// Text that is not recorded yet, and by when it must be.
    gathered: String,
    due: Option<Instant>,
    /// Bytes that may still come.
    left: usize,
}

impl<'a> Asking<'a> {
    /// Makes the request of the open turn, and tells what of the chat it leaves out; `None`
    /// without a turn.
    pub fn new(
        progress: &Progress,
        seats: &Seats,
        shared: &'a Shared,
        limits: &Limits,
    ) -> Option<(Self, Request, Option<ModelEvent>)> {
        let (attempt, phase) = progress.running()?;
        let turn = attempt.turn.as_ref()?;
        let seat = seats.get(attempt.phase, &turn.agent)?;
        let needed = progress.board().needed(&seat.needs);
        let messages = attempt.chat.messages(&turn.agent, &seat.rules, needed);
        let (messages, cut) = match seat.context_tokens {
            Some(budget) => budget::fit(messages, budget),
            None => (messages, None),
        };
        let cut = cut.map(|cut| cut.told(turn.id));
        let request = Request {
            agent: turn.agent.clone(),
            phase: phase.name.clone(),
            attempt: attempt.number,
            messages,
            tools: seat.tools.clone(),
            options: seat.options.clone(),
            state: progress.provider_state(),
        };
        let gathered = String::new();
        let left = limits.answer_bytes;
        Some((Self { shared, turn: turn.id, gathered, due: None, left }, request, cut))
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
    ) -> Result<Result<(), UserError>, UserError> {
        let stop = self.shared.stop.clone();
        let mut stopped = std::pin::pin!(stop.cancelled());
        loop {
            let due = self.due;
            let delta = tokio::select! {
                biased;
                () = &mut stopped => {
                    self.flush()?;
                    return Ok(Ok(()));
                }
                delta = answer.next() => delta,
                () = at(due), if due.is_some() && !self.gathered.is_empty() => {
                    self.flush()?;
                    continue;
                }
            };
            let error = match delta {
                Some(Ok(delta)) => match self.take(delta)? {
                    Taken::More => continue,
                    Taken::Done => return Ok(Ok(())),
                    Taken::TooMuch => too_long(),
                },
                Some(Err(error)) => error,
                None => broken_off(),
            };
            self.flush()?;
            return Ok(Err(error));
        }
    }

    fn take(&mut self, delta: Delta) -> Result<Taken, UserError> {
        match delta {
            Delta::Text(text) => {
                let Some(left) = self.left.checked_sub(text.len()) else {
                    return Ok(Taken::TooMuch);
                };
                self.left = left;
                self.gather(&text)?;
            }
            Delta::Call { tool, args } => {
                let Some(left) = self.left.checked_sub(args.len()) else {
                    return Ok(Taken::TooMuch);
                };
                self.left = left;
                self.flush()?;
                self.call(tool, args)?;
            }
            Delta::Done { usage, state } => {
                self.flush()?;
                self.shared.record(Event::ModelAnswered { turn: self.turn, usage, state })?;
                return Ok(Taken::Done);
            }
        }
        Ok(Taken::More)
    }

    /// The first piece is recorded at once, later ones together.
    fn gather(&mut self, text: &str) -> Result<(), UserError> {
        self.gathered.push_str(text);
        match self.due {
            Some(due) if Instant::now() < due => Ok(()),
            Some(_) | None => self.flush(),
        }
    }

    fn flush(&mut self) -> Result<(), UserError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.gathered);
        self.due = Some(Instant::now() + GATHER);
        self.shared.record(Event::TextAdded { turn: self.turn, text })
    }

    fn call(&mut self, tool: ToolName, args: String) -> Result<(), UserError> {
        let args = arguments(args);
        let turn = self.turn;
        self.shared.record_with(|progress| {
            Some(Event::ToolCalled { turn, call: progress.next_call(), tool, args })
        })
    }
}

enum Taken {
    More,
    Done,
    TooMuch,
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
    super::guard::recovered(&text).unwrap_or(Value::String(text))
}

fn too_long() -> UserError {
    UserError::new(
        "The model's answer was cut off",
        "it is longer than any answer may be",
        "Try again, or tell the team to write shorter answers.",
    )
}

fn broken_off() -> UserError {
    UserError::new("The model's answer broke off", "the stream ended before its end", "Try again.")
}
