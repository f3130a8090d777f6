//! An answer without the person's secrets, whatever the service repeats of them.
//!
//! The one way of what a service says to the run and to a recording. A secret may be spread over
//! several pieces of text: what may be its beginning waits for what follows.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};

use super::Delta;
use crate::model::{ToolName, UserError};
use crate::text::redact::{Pieces, Redactor};
use crate::text::secrets::Secrets;

type RedactedStream = BoxStream<'static, Result<Delta, UserError>>;

/// The answer without secrets. They are asked for with each piece, as a key may be read only when
/// the first request goes out.
pub(super) fn answer(secrets: Secrets, answer: RedactedStream) -> RedactedStream {
    let listener = Listener {
        secrets,
        text: Pieces::default(),
        thought: Pieces::default(),
        args: (0, Pieces::default()),
    };
    let received = stream::unfold((answer, Some(listener)), |(mut answer, listener)| async move {
        let mut listener = listener?;
        match answer.next().await {
            Some(delta) => {
                let clean = listener.take(delta);
                Some((clean, (answer, Some(listener))))
            }
            None => Some((listener.rest(), (answer, None))),
        }
    });
    received.flat_map(stream::iter).boxed()
}

struct Listener {
    secrets: Secrets,
    text: Pieces,
    thought: Pieces,
    /// Of the arguments that came last, with the place of their call.
    args: (usize, Pieces),
}

impl Listener {
    /// What can be passed on, now that this came.
    fn take(&mut self, delta: Result<Delta, UserError>) -> Vec<Result<Delta, UserError>> {
        let redactor: Arc<Redactor> = self.secrets.redactor();
        let clean = |text: &str| redactor.clean(text).into_owned();
        let delta = match delta {
            Ok(Delta::Text(piece)) => {
                let text = self.text.push(&redactor, &piece);
                return some(text, Delta::Text);
            }
            Ok(Delta::Reasoning(piece)) => {
                let text = self.thought.push(&redactor, &piece);
                return some(text, Delta::Reasoning);
            }
            // What is held back at the end is not missed: the whole call follows.
            Ok(Delta::CallPart { place, tool, args }) => {
                if self.args.0 != place {
                    self.args = (place, Pieces::default());
                }
                let tool = ToolName::new(clean(tool.as_str()));
                let args = self.args.1.push(&redactor, &args);
                return vec![Ok(Delta::CallPart { place, tool, args })];
            }
            Ok(Delta::Again { attempt, most, wait_millis, fault }) => {
                self.text.forget();
                self.thought.forget();
                self.args.1.forget();
                let fault = without(&redactor, fault);
                return vec![Ok(Delta::Again { attempt, most, wait_millis, fault })];
            }
            // Says nothing about where the text ends.
            Ok(Delta::Model(model)) => return vec![Ok(Delta::Model(clean(&model)))],
            Ok(Delta::Note(note)) => return vec![Ok(Delta::Note(without(&redactor, note)))],
            Ok(Delta::TooLong { limit }) => return vec![Ok(Delta::TooLong { limit })],
            Ok(Delta::Call { tool, args }) => {
                let tool = ToolName::new(clean(tool.as_str()));
                Ok(Delta::Call { tool, args: redactor.clean_json(&args).into_owned() })
            }
            Ok(Delta::Done { usage, state }) => {
                let state = state.map(|state| redactor.clean_json(&state).into_owned());
                Ok(Delta::Done { usage, state })
            }
            Err(error) => Err(without(&redactor, error)),
        };
        let mut all = self.rest();
        all.push(delta);
        all
    }

    /// What was held back, once no more text follows.
    fn rest(&mut self) -> Vec<Result<Delta, UserError>> {
        let redactor = self.secrets.redactor();
        let mut all = some(self.thought.end(&redactor), Delta::Reasoning);
        all.extend(some(self.text.end(&redactor), Delta::Text));
        all
    }
}

fn some(text: String, kind: fn(String) -> Delta) -> Vec<Result<Delta, UserError>> {
    if text.is_empty() { Vec::new() } else { vec![Ok(kind(text))] }
}

fn without(redactor: &Redactor, error: UserError) -> UserError {
    let clean = |text: String| redactor.clean(&text).into_owned();
    UserError { what: clean(error.what), why: clean(error.why), fix: clean(error.fix) }
}
