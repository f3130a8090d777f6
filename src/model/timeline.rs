//! What a person can ask of a replay, and what the screen shows of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ids::Seq;
use super::time::Timestamp;

/// Which way a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Towards the start.
    Back,
    /// Towards the end.
    Forward,
}

/// A person's wish on a replay's timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimelineCommand {
    /// Plays when held, holds when playing; at the end it plays from the start.
    TogglePlay,
    /// Doubles the speed, up to [`Speed::MAX`].
    Faster,
    /// Halves the speed, down to [`Speed::MIN`].
    Slower,
    /// Goes to the neighbouring record.
    StepEvent(Direction),
    /// Goes to the neighbouring start of a turn.
    StepTurn(Direction),
    /// Goes to the neighbouring proposal.
    StepProposal(Direction),
    /// Goes to the first record.
    Start,
    /// Goes to the last record.
    End,
    /// Goes to that record, or to the last one before it where it is missing.
    Seek(Seq),
    /// Goes to the last record made at that moment or before.
    SeekTime(Timestamp),
}

/// Whether a replay moves by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Playback {
    /// It stands still.
    #[default]
    Held,
    /// It goes on by itself.
    Playing,
}

/// How fast a replay plays: a power of two from 0.5 to 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Speed {
    doublings: i8,
}

impl Speed {
    /// Half of the recorded speed.
    pub const MIN: Self = Self { doublings: -1 };
    /// As it was recorded.
    pub const NORMAL: Self = Self { doublings: 0 };
    /// 64 times the recorded speed.
    pub const MAX: Self = Self { doublings: 6 };

    /// Twice as fast.
    #[must_use]
    pub fn faster(self) -> Self {
        Self { doublings: self.doublings.saturating_add(1) }.min(Self::MAX)
    }

    /// Half as fast.
    #[must_use]
    pub fn slower(self) -> Self {
        Self { doublings: self.doublings.saturating_sub(1) }.max(Self::MIN)
    }

    /// Recorded time that passes in `elapsed` of the viewer's time, both in microseconds.
    #[must_use]
    pub fn scale(self, elapsed: u64) -> u64 {
        match u32::try_from(self.doublings) {
            Ok(doublings) => elapsed.saturating_mul(1 << doublings.min(6)),
            Err(_) => elapsed / 2,
        }
    }
}

impl Default for Speed {
    fn default() -> Self {
        Self::NORMAL
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match u32::try_from(self.doublings) {
            Ok(doublings) => write!(f, "{}×", 1_u32 << doublings.min(6)),
            Err(_) => f.write_str("0.5×"),
        }
    }
}

/// Where a replay is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimelineView {
    /// The last record shown; 0 before the first.
    pub position: Seq,
    /// The last record there is.
    pub last: Seq,
    /// When the record at `position` was made.
    pub at: Timestamp,
    /// When the first record was made.
    pub from: Timestamp,
    /// When the last record was made.
    pub until: Timestamp,
    /// Whether it moves by itself.
    pub playback: Playback,
    pub speed: Speed,
    /// How many lines of the journal cannot be read.
    pub damaged: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_goes_from_a_half_to_64() {
        let mut speed = Speed::MIN;
        let mut shown = vec![speed.to_string()];
        while speed.faster() != speed {
            speed = speed.faster();
            shown.push(speed.to_string());
        }
        assert_eq!(shown, ["0.5×", "1×", "2×", "4×", "8×", "16×", "32×", "64×"]);
        assert_eq!((Speed::MIN.scale(1000), Speed::MAX.scale(1000)), (500, 64_000));
        assert_eq!(Speed::MIN.slower(), Speed::MIN);
    }
}
