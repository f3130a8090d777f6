//! Boards and what gets written to them.

use serde::{Deserialize, Serialize};

use super::blob::ContentHash;
use super::ids::BuildId;
use super::time::Timestamp;

/// A board as the person knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardInfo {
    /// What the screen calls it, e.g. `virtual board`; a simulated board says so here.
    pub label: String,
    /// Chip, e.g. `esp32`.
    pub chip: String,
    /// Port, e.g. `/dev/ttyUSB0` or a pseudo-terminal.
    pub port: String,
    /// Whether no hardware is behind it.
    pub simulated: bool,
}

/// One image and where it goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashImage {
    /// File, relative to the project.
    pub file: String,
    /// Flash address of its first byte.
    pub offset: u32,
    /// Length in bytes.
    pub bytes: u64,
    /// Hash of its content when the plan was made.
    pub hash: ContentHash,
}

/// Everything a flash would write: what the person decides on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashPlan {
    /// Target.
    pub board: BoardInfo,
    /// What gets written, by rising offset.
    pub images: Vec<FlashImage>,
    /// Whether bootloader or partition table are among the images.
    pub touches_boot: bool,
    /// The build the images come from.
    pub build: BuildId,
    /// When that build ended.
    pub built_at: Timestamp,
}

impl FlashPlan {
    /// All bytes to be written.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.images.iter().map(|image| image.bytes).sum()
    }
}
