//! Boards and what gets written to them.

use serde::{Deserialize, Serialize};

use super::blob::ContentHash;
use super::ids::BuildId;
use super::path::ProjectPath;
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
    /// Whether the board holds exactly this already, so that it is not written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same: bool,
}

/// Everything a flash would write: what the person decides on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashPlan {
    pub board: BoardInfo,
    /// What gets written, by rising offset.
    pub images: Vec<FlashImage>,
    /// In earlier journals: whether bootloader or partition table were among the images, by their
    /// names. Now the findings tell, and it is never set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touches_boot: Option<bool>,
    /// What the project wants the loader to be told beside the images, e.g. `--encrypt`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The build the images come from.
    pub build: BuildId,
    /// When that build ended.
    pub built_at: Timestamp,
}

/// A part of a board's flash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashRegion {
    /// Name of the partition; empty where it is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Address of its first byte.
    pub offset: u32,
    /// Length in bytes.
    pub bytes: u32,
}

impl FlashRegion {
    /// E.g. `nvs`, or `0x9000` where it has no name that can be typed.
    #[must_use]
    pub fn name(&self) -> String {
        let is_name =
            |label: &str| !label.is_empty() && label.chars().all(|c| c.is_ascii_graphic());
        match is_name(&self.label) {
            true => self.label.clone(),
            false => format!("0x{:x}", self.offset),
        }
    }
}

/// Everything that would be erased: what the person decides on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasePlan {
    pub board: BoardInfo,
    /// What is erased; `None`: the whole flash.
    pub region: Option<FlashRegion>,
}

impl ErasePlan {
    /// What is erased, in a word: the name of the region, or `all`.
    #[must_use]
    pub fn name(&self) -> String {
        self.region.as_ref().map_or_else(|| "all".to_owned(), FlashRegion::name)
    }
}

/// What would be read from a board into a new file: what the person decides on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPlan {
    pub board: BoardInfo,
    /// What is read.
    pub region: FlashRegion,
    /// The file that is made of it, which must not exist.
    pub path: ProjectPath,
}

/// What would be sent to a board: what the person decides on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendPlan {
    /// Target; its port is the one that is sent to.
    pub board: BoardInfo,
    /// Exactly what is sent, with its line end.
    pub text: String,
}

impl SendPlan {
    /// The lines of the text, each with its end, in characters that can be seen: `help\\n`.
    #[must_use]
    pub fn visible(&self) -> Vec<String> {
        let escape = |line: &str| {
            line.chars().fold(String::new(), |mut shown, c| {
                match c {
                    '\\' => shown.push_str("\\\\"),
                    c if c.is_control() => shown.extend(c.escape_default()),
                    c => shown.push(c),
                }
                shown
            })
        };
        self.text.split_inclusive('\n').map(escape).collect()
    }
}

impl FlashPlan {
    /// Writes these images, with no options.
    #[must_use]
    pub const fn new(
        board: BoardInfo,
        images: Vec<FlashImage>,
        build: BuildId,
        built_at: Timestamp,
    ) -> Self {
        Self { board, images, touches_boot: None, options: Vec::new(), build, built_at }
    }

    /// The images that are written: those that the board does not hold already.
    pub fn written(&self) -> impl Iterator<Item = &FlashImage> {
        self.images.iter().filter(|image| !image.same)
    }

    /// All bytes to be written.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.written().map(|image| image.bytes).sum()
    }
}
