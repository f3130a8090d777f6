//! What stands before each line of a port: when it came.
//!
//! Owns the forms of that. Must not read a clock.

use jiff::tz::TimeZone;

use crate::model::{LogId, LogSource, Timestamp};
use crate::text::esp_log;

/// What stands before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stamps {
    #[default]
    Off,
    /// The time of day at which it came.
    Wall,
    /// How long after the line before it came.
    Delta,
    /// The board's own time, as it stands in the line, in hours, minutes and seconds.
    Board,
}

/// Columns of every form but none.
const WIDTH: usize = 12;

impl Stamps {
    /// The next one, round the end.
    pub const fn next(self) -> Self {
        match self {
            Self::Off => Self::Wall,
            Self::Wall => Self::Delta,
            Self::Delta => Self::Board,
            Self::Board => Self::Off,
        }
    }

    /// What is on, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Off => "no times before the lines",
            Self::Wall => "before each line: the time of day it came",
            Self::Delta => "before each line: how long after the line before it came",
            Self::Board => "before each line: the board's own time",
        }
    }

    /// One word for it; empty when nothing is on.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "",
            Self::Wall => "wall time",
            Self::Delta => "delta",
            Self::Board => "board time",
        }
    }

    /// Columns that it takes before a line, the gap after it included.
    pub const fn columns(self) -> usize {
        match self {
            Self::Off => 0,
            Self::Wall | Self::Delta | Self::Board => WIDTH + 1,
        }
    }

    /// What stands before the line `text` that begins at `start` of a log. Empty where it is not
    /// known.
    pub fn before(self, text: &str, start: u64, log: LogId, source: &dyn LogSource) -> String {
        let came = |offset| source.arrived(log, offset);
        match self {
            Self::Off => String::new(),
            Self::Wall => came(start).map_or_else(String::new, |at| wall(at, TimeZone::system())),
            Self::Delta => {
                let before = start.checked_sub(1).and_then(came);
                match (before, came(start)) {
                    (Some(before), Some(at)) => delta(at.millis_since(before)),
                    (None, Some(_)) if start == 0 => delta(0),
                    (_, _) => String::new(),
                }
            }
            Self::Board => {
                let log = esp_log::parse(text);
                let millis = log.and_then(|log| log.time.parse::<u64>().ok());
                // Other forms are for people already.
                millis
                    .map_or_else(|| log.map_or_else(String::new, |log| log.time.to_owned()), clock)
            }
        }
    }
}

fn wall(at: Timestamp, zone: TimeZone) -> String {
    jiff::Timestamp::from_millisecond(at.0).map_or_else(
        |_| String::new(),
        |moment| moment.to_zoned(zone).strftime("%H:%M:%S%.3f").to_string(),
    )
}

fn delta(millis: u64) -> String {
    match millis {
        0..1_000_000 => format!("+{}.{:03}", millis / 1000, millis % 1000),
        _ => format!("+{}", clock(millis)),
    }
}

/// `12:05.250`, `1:02:09.250`
fn clock(millis: u64) -> String {
    format!("{}.{:03}", crate::ui::line::clock(millis), millis % 1000)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::model::{LogKind, UserError};

    /// A line of ten bytes every 250 ms.
    struct Steady;

    impl LogSource for Steady {
        fn read_log(&self, _: LogId, _: Range<u64>) -> Result<Vec<u8>, UserError> {
            Ok(Vec::new())
        }

        fn arrived(&self, _: LogId, offset: u64) -> Option<Timestamp> {
            (offset < 30)
                .then(|| Timestamp(1_700_000_000_000 + 250 * i64::try_from(offset / 10).unwrap()))
        }
    }

    #[test]
    fn each_form_tells_what_is_known_and_nothing_else() {
        let log = LogId { kind: LogKind::Serial, number: 1 };
        let before = |stamps: Stamps, text: &str, start| stamps.before(text, start, log, &Steady);
        assert_eq!(before(Stamps::Delta, "x", 0), "+0.000");
        assert_eq!(before(Stamps::Delta, "x", 20), "+0.250");
        assert_eq!(before(Stamps::Delta, "x", 40), "");
        assert_eq!(before(Stamps::Wall, "x", 40), "");
        assert_eq!(before(Stamps::Board, "I (3729250) app: x", 0), "1:02:09.250");
        assert_eq!(before(Stamps::Board, "I (12:00:01.123) app: x", 0), "12:00:01.123");
        assert_eq!(before(Stamps::Board, "ets Jul 29 2019", 0), "");
        let at = Timestamp(1_700_000_000_250);
        assert_eq!(wall(at, TimeZone::UTC), "22:13:20.250");
        assert_eq!(delta(7_200_000), "+2:00:00.000");
        let mut all = vec![Stamps::Off];
        while let Some(next) =
            all.last().map(|last| last.next()).filter(|next| *next != Stamps::Off)
        {
            all.push(next);
        }
        assert_eq!(all.len(), 4);
    }
}
