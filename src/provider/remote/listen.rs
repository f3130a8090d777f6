//! Reads an answer as it comes and gives on what can be shown of it.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::super::assembly::{Assembly, AssemblyProgress};
use super::super::dialect::{AnswerPiece, Dialect, Received};
use super::super::fault::Fault;
use super::super::profile::Profile;
use super::super::wire::{Frames, HttpReply, TooBig};
use super::out::{Broken, Out};

/// How long the count of tokens may come after the answer.
pub(super) const AFTERMATH: Duration = Duration::from_secs(3);

/// Reads an answer as it comes.
pub(super) struct Listening<'a> {
    pub(super) profile: &'a Profile,
    pub(super) dialect: Dialect,
    pub(super) out: &'a Out,
}

impl Listening<'_> {
    /// Reads an answer to its end and gives on what can be shown.
    pub(super) async fn read(
        &self,
        answer: &mut HttpReply,
        assembly: &mut Assembly,
    ) -> Result<(), Broken> {
        let Self { profile, out, .. } = *self;
        let mut reader = self.dialect.reader();
        match answer.content_type().as_str() {
            "text/html" => {
                let what = "it is a web page, not the answer of a model";
                let fault = Fault::garbled(profile, what, "text/html");
                return Err(Fault::lasting(fault.error).into());
            }
            // Some services do not stream although they were asked to.
            "application/json" if self.dialect != Dialect::Ollama => {
                let whole = answer.whole_of().await?;
                let mut received = Received::of(profile);
                reader.read_whole(&whole, &mut received)?;
                return give(received, assembly, out).await.map(drop);
            }
            _ => {}
        }
        let mut frames = Frames::new(self.dialect.framing());
        let mut count_by: Option<Instant> = None;
        loop {
            let chunk = next_chunk(answer, count_by).await?;
            let is_end = chunk.is_none();
            let too_big = |TooBig| Fault::excess(profile, "a single message of many megabytes");
            match chunk {
                Some(bytes) => frames.push(&bytes).map_err(too_big)?,
                None => frames.finish(),
            }
            let mut received = Received::of(profile);
            while let Some(message) = frames.pop() {
                match reader.read(&message, &mut received) {
                    Ok(()) => {}
                    Err(_) if is_stopped(assembly, &received.pieces) => {}
                    Err(fault) => return Err(fault.into()),
                }
            }
            let is_count = |piece: &AnswerPiece| matches!(piece, AnswerPiece::Usage(_));
            let counted = received.pieces.iter().any(is_count);
            if give(received, assembly, out).await? == AssemblyProgress::Content {
                answer.content_came();
            }
            if assembly.stop.is_some() && count_by.is_none() {
                count_by = Some(Instant::now() + AFTERMATH);
            }
            let is_over =
                assembly.stop.is_some() && (self.dialect != Dialect::Chat || counted || is_end);
            match (is_over, is_end) {
                (true, _) => return Ok(()),
                (false, true) => {
                    let why = "the connection ended before the answer";
                    return Err(Fault::cut(profile, why).into());
                }
                (false, false) => {}
            }
        }
    }
}

/// The next bytes of an answer. Once it is complete, only the count of tokens is awaited until
/// `count_by`: whatever goes wrong then costs no more than that.
async fn next_chunk(
    answer: &mut HttpReply,
    count_by: Option<Instant>,
) -> Result<Option<Bytes>, Broken> {
    match count_by {
        None => Ok(answer.next().await?),
        Some(by) if Instant::now() >= by => Ok(None),
        Some(by) => match tokio::time::timeout_at(by, answer.next()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(_)) | Err(_) => Ok(None),
        },
    }
}

fn is_stopped(assembly: &Assembly, pieces: &[AnswerPiece]) -> bool {
    assembly.stop.is_some() || pieces.iter().any(|piece| matches!(piece, AnswerPiece::Stop(_)))
}

/// Gives on what can be shown of these pieces, and tells whether there is content among them.
async fn give(
    received: Received<'_>,
    assembly: &mut Assembly,
    out: &Out,
) -> Result<AssemblyProgress, Broken> {
    let mut deltas = Vec::new();
    let mut progress = AssemblyProgress::Nothing;
    for piece in received.pieces {
        if assembly.take(piece, received.profile, &mut deltas)? == AssemblyProgress::Content {
            progress = AssemblyProgress::Content;
        }
    }
    for delta in deltas {
        out.send(delta).await?;
    }
    Ok(progress)
}
