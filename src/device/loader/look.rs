//! What a chip says of itself and of its flash before anything is done to it.
//!
//! Writes nothing: sums are asked for, a few bytes are read, and the board is started anew. Must not
//! choose what is compared.

use super::talk::{ChipSecurity, Talk};
use super::words::{FlashState, Trouble};
use super::{FlashPiece, SAFE_BAUD};
use crate::model::{BoardInfo, UserError};

/// What is asked.
#[derive(Debug, Clone)]
pub struct ChipQuery {
    /// What cannot be done when something goes wrong.
    pub what: &'static str,
    /// The board; another chip is refused.
    pub board: BoardInfo,
    /// Bytes that the flash may hold already.
    pub pieces: Vec<FlashPiece>,
    /// The address and the number of bytes that are read.
    pub table: (u32, u32),
}

/// What a chip answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChipReply {
    /// For each piece whether the flash holds exactly that.
    pub same: Vec<bool>,
    /// The bytes that were read; none when they lie beyond the flash.
    pub table: Vec<u8>,
    /// Bytes of its flash.
    pub flash_bytes: Option<u64>,
    /// E.g. `v3.1`.
    pub revision: String,
    pub mac: String,
    /// How it is protected; `None` when it does not say.
    pub security: Option<ChipSecurity>,
}

/// Asks a chip, then starts the board.
///
/// # Errors
/// No port, busy, another chip, or no answer.
pub async fn look(question: ChipQuery) -> Result<ChipReply, UserError> {
    let (what, port) = (question.what, question.board.port.clone());
    let asked = tokio::task::spawn_blocking(move || ask(&question)).await;
    let answer = asked.unwrap_or_else(|error| Err(Trouble::Port(error.into())));
    answer.map_err(|trouble| trouble.tell(what, &port, FlashState::Untouched))
}

fn ask(question: &ChipQuery) -> Result<ChipReply, Trouble> {
    // The bytes that are read are few: nothing is gained by a faster rate.
    Talk::with(&question.board, SAFE_BAUD, |talk| answer(talk, question))
}

fn answer(talk: &mut Talk, question: &ChipQuery) -> Result<ChipReply, Trouble> {
    let flash_bytes = talk.flash_bytes();
    let (revision, mac) = talk.identity();
    let security = talk.security();
    let is_inside =
        |offset: u32, bytes: u64| flash_bytes.is_none_or(|all| u64::from(offset) + bytes <= all);
    let mut same = Vec::with_capacity(question.pieces.len());
    for piece in &question.pieces {
        let is_there = is_inside(piece.offset, piece.content.len() as u64);
        same.push(is_there && talk.holds(piece)?);
    }
    let (offset, bytes) = question.table;
    let table = match is_inside(offset, u64::from(bytes)) {
        true => talk.read(offset, bytes)?,
        false => Vec::new(),
    };
    Ok(ChipReply { same, table, flash_bytes, revision, mac, security })
}
