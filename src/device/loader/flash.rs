//! The flash as every step of the loader sees it: sectors, pieces, and the rate to begin with.

/// Flash is erased in pieces of this many bytes.
pub const SECTOR: u32 = 4096;

/// The rate that every connection begins with, and the one that is left when a faster one fails, in
/// bits per second.
pub const SAFE_BAUD: u32 = 115_200;

/// Bytes for an address of flash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlashPiece {
    /// The address of the first.
    pub offset: u32,
    pub content: Vec<u8>,
}
