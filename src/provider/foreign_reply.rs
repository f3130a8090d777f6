//! The answers of model services read from bytes alone, without a connection.
//!
//! For the tests that feed every reader with foreign bytes; the program itself reads answers as
//! they come, in `remote`. Must not connect or wait.

use super::Delta;
use super::assembly::Assembly;
use super::dialect::{Dialect, Received};
use super::fault::Fault;
use super::profile::{Profile, Wire};
use super::service::Service;
use super::wire::{Frames, TooBig};
use super::worded_stream::WordedStream;
use crate::model::{ToolSpec, UserError};

/// What came of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignOutcome {
    /// What can be shown, with neighbouring pieces of text joined, and the calls behind it.
    pub deltas: Vec<Delta>,
    /// Whether the service said that the answer is complete.
    pub is_complete: bool,
}

/// Reads a streamed answer that comes in `chunks`.
///
/// # Errors
/// When a message is no part of an answer of that service, or the answer exceeds a limit.
pub fn streamed(service: Service, chunks: &[&[u8]]) -> Result<ForeignOutcome, UserError> {
    let profile = profile(service);
    let dialect = Dialect::of(service);
    let (mut frames, mut reader) = (Frames::new(dialect.framing()), dialect.reader());
    let mut answer = ForeignReply::default();
    for chunk in chunks.iter().map(Some).chain([None]) {
        let too_big = |TooBig| Fault::excess(&profile, "a single message").error;
        match chunk {
            Some(bytes) => frames.push(bytes).map_err(too_big)?,
            None => frames.finish(),
        }
        while let Some(message) = frames.pop() {
            let mut received = Received::of(&profile);
            reader.read(&message, &mut received).map_err(|fault| fault.error)?;
            answer.take(received)?;
        }
    }
    Ok(answer.end())
}

/// Reads an answer that comes in one piece although a stream was asked for.
///
/// # Errors
/// As [`streamed`].
pub fn whole(service: Service, bytes: &[u8]) -> Result<ForeignOutcome, UserError> {
    let profile = profile(service);
    let dialect = Dialect::of(service);
    let no_json = |error: serde_json::Error| UserError::new("No JSON", error.to_string(), "");
    let value = serde_json::from_slice(bytes).map_err(no_json)?;
    let mut received = Received::of(&profile);
    dialect.reader().read_whole(&value, &mut received).map_err(|fault| fault.error)?;
    let mut answer = ForeignReply::default();
    answer.take(received)?;
    dialect.model_names(&value);
    Ok(answer.end())
}

/// What a service says that failed, in words for people.
#[must_use]
pub fn failed(service: Service, status: u16, body: &str) -> UserError {
    Fault::status(&profile(service), status, None, body).error
}

/// What is shown of the text of a model without tools that comes in `pieces`, and the calls in it.
#[must_use]
pub fn worded(pieces: &[&str], tools: &[ToolSpec]) -> (String, Vec<(String, String)>) {
    let (mut stream, mut deltas) = (WordedStream::new(), Vec::new());
    pieces.iter().for_each(|piece| stream.pass(piece, &mut deltas));
    let (rest, calls) = stream.end(tools);
    let texts = deltas.into_iter().map(|delta| match delta {
        Delta::Text(text) => text,
        _ => String::new(),
    });
    (texts.chain([rest]).collect(), calls)
}

fn profile(service: Service) -> Profile {
    Profile::new("foreign", service, "model", Wire::new("http://127.0.0.1:1"))
}

/// An answer and what of it can be shown.
#[derive(Default)]
struct ForeignReply {
    assembly: Assembly,
    deltas: Vec<Delta>,
}

impl ForeignReply {
    fn take(&mut self, received: Received<'_>) -> Result<(), UserError> {
        for piece in received.pieces {
            let taken = self.assembly.take(piece, received.profile, &mut self.deltas);
            taken.map_err(|fault| fault.error)?;
        }
        Ok(())
    }

    fn end(mut self) -> ForeignOutcome {
        let (rest, calls) = self.assembly.close(&[]);
        self.deltas.extend(rest.into_iter().chain(calls));
        ForeignOutcome { deltas: self.deltas, is_complete: self.assembly.stop.is_some() }
    }
}
