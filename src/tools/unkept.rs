//! A ledger that keeps nothing, for what has no session: a single call, a port of one scan.
//!
//! Owns nothing. Must not stand behind anything that is to be replayed or resumed.

use crate::model::{BlobRef, ContentHash, Event, Ledger, LogId, Seq, UserError};

/// Takes facts that nobody asks for later.
#[derive(Debug, Clone, Copy)]
pub struct Unkept;

impl Ledger for Unkept {
    fn record(&self, _: Event) -> Result<Seq, UserError> {
        Ok(Seq(0))
    }

    fn store(&self, content: &[u8]) -> Result<BlobRef, UserError> {
        Ok(BlobRef { hash: ContentHash::of(content), bytes: content.len() as u64 })
    }

    fn append_log(&self, _: LogId, _: &[u8]) -> Result<(), UserError> {
        Ok(())
    }

    fn flush_log(&self, _: LogId) -> Result<(), UserError> {
        Ok(())
    }
}
