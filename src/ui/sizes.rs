//! Sizes of panes that the person chose, by keys or by moving a border.

use serde::{Deserialize, Serialize};

/// Sizes that the person chose, in thousandths of the room there is; `None`: as is usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    /// Width of the project.
    pub project: Option<u16>,
    /// Width of the chat, of what the project leaves.
    pub chat: Option<u16>,
    /// Height of the logs.
    pub logs: Option<u16>,
}

/// A border that can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    /// Between project and chat.
    Project,
    /// Between chat and review.
    Chat,
    /// Above the logs.
    Logs,
}

/// A part of `whole`, as a share in thousandths, kept between two bounds.
pub(super) fn part(share: u16, whole: u16, least: u16, most: u16) -> u16 {
    let part = (u32::from(share) * u32::from(whole) + 500) / 1_000;
    u16::try_from(part).unwrap_or(whole).clamp(least.min(most), most)
}
