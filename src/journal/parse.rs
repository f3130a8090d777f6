//! One line of the journal, read.

use serde::Deserialize;

use crate::model::{Record, Seq};
use crate::text::sanitize;

/// A line that could not be read. Nothing else is lost with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Counted from 1.
    pub line: u64,
    /// What is wrong.
    pub why: String,
    /// How the line begins, safe to show.
    pub preview: String,
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadItem {
    /// A record; their numbers rise.
    Record(Record),
    /// A line that is none.
    Damaged(Damage),
}

/// Why a line gives no record.
#[derive(Debug)]
pub(super) enum BadLine {
    /// A newer program wrote it: no use in going on.
    Newer(u16),
    Damaged {
        why: String,
        preview: String,
    },
}

/// The part of a record that every version has.
#[derive(Deserialize)]
struct Versioned {
    v: u16,
}

/// Bytes of a damaged line that are shown.
const PREVIEW: usize = 120;

pub(super) fn parse_line(line: &[u8]) -> Result<Record, BadLine> {
    match serde_json::from_slice::<Record>(line) {
        Ok(record) if record.v <= Record::VERSION => Ok(record),
        Ok(record) => Err(BadLine::Newer(record.v)),
        Err(error) => match serde_json::from_slice::<Versioned>(line) {
            Ok(Versioned { v }) if v > Record::VERSION => Err(BadLine::Newer(v)),
            Ok(_) | Err(_) if line.is_empty() => Err(damaged("the line is empty", line)),
            Ok(_) | Err(_) => Err(damaged(&format!("not a record: {error}"), line)),
        },
    }
}

/// A record whose number does not rise is a copy or a forgery; the first one counts.
pub(super) fn check_order(record: &Record, line: &[u8], last: Seq) -> Result<(), BadLine> {
    if record.seq > last {
        return Ok(());
    }
    let why = format!("record {} comes after record {last}", record.seq);
    Err(damaged(&why, line))
}

fn damaged(why: &str, line: &[u8]) -> BadLine {
    let start = line.get(..line.len().min(PREVIEW)).unwrap_or_default();
    let preview = sanitize::log_line(start).into_owned();
    BadLine::Damaged { why: why.to_owned(), preview }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_record_a_newer_one_or_damaged() {
        let why = |line: &str| match parse_line(line.as_bytes()) {
            Err(BadLine::Damaged { why, .. }) => why,
            Err(BadLine::Newer(version)) => format!("newer {version}"),
            Ok(record) => format!("record {}", record.seq),
        };
        let current = Record::VERSION;
        let with =
            |v: u16, event: &str| format!("{{\"v\":{v},\"seq\":4,\"at\":0,\"event\":{event}}}");
        assert_eq!(why(&with(1, "\"paused\"")), "record 4");
        assert_eq!(why(&with(current + 1, "\"paused\"")), format!("newer {}", current + 1));
        assert_eq!(
            why(&with(current + 1, "\"nobody knows it\"")),
            format!("newer {}", current + 1)
        );
        assert!(why(&with(current, "\"nobody knows it\"")).starts_with("not a record: "));
        assert!(why("{").starts_with("not a record: "));
        assert_eq!(why(""), "the line is empty");
    }

    #[test]
    fn numbers_rise() {
        let line = b"{\"v\":1,\"seq\":4,\"at\":0,\"event\":\"paused\"}";
        let Ok(record) = parse_line(line) else { panic!("it is a record") };
        assert!(check_order(&record, line, Seq(3)).is_ok());
        for last in [4, 5] {
            let Err(BadLine::Damaged { why, preview }) = check_order(&record, line, Seq(last))
            else {
                panic!("{last}")
            };
            assert_eq!(why, format!("record 4 comes after record {last}"));
            assert!(preview.starts_with("{\"v\":1,"));
        }
    }
}
