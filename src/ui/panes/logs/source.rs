//! Where the lines of a log come from when all of it is looked through: a raw log, or the
//! session's own records.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::model::{EventSource, LogId, LogSource, LogStart, Record, UserError};

use super::digest::digest;
use crate::view::line_scan::LineSource;

/// Bytes read at once.
const BLOCK: u64 = 256 << 10;

/// Records read at once.
const RECORDS: u64 = 2_000;

/// A log to look through.
#[derive(Clone)]
pub enum LogSourceView {
    /// A raw log; it is measured in bytes.
    Raw(Arc<dyn LogSource>, LogId),
    /// The session's records, a line each; they are counted.
    Records(Arc<dyn EventSource>),
}

impl fmt::Debug for LogSourceView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raw(_, log) => f.debug_tuple("Raw").field(log).finish(),
            Self::Records(_) => f.write_str("Records"),
        }
    }
}

/// Gives the first of these records to `take` as lines, `most` of them; tells how many it were.
pub(in crate::ui) fn scan_records(
    source: &dyn EventSource,
    range: Range<u64>,
    most: u64,
    take: &mut dyn FnMut(&[u8]),
    mut line: impl FnMut(&Record) -> String,
) -> Result<u64, UserError> {
    let end = range.end.min(range.start + most);
    // Lines count from 0, records from 1.
    let records = source.records(range.start + 1..end + 1)?;
    let mut next = range.start + 1;
    // A record that cannot be read is an empty line, so that the numbers fit.
    let gap = |count: u64| "\n".repeat(usize::try_from(count).unwrap_or(0));
    for record in &records {
        take(gap(record.seq.0 - next).as_bytes());
        take(format!("{}\n", line(record)).as_bytes());
        next = record.seq.0 + 1;
    }
    take(gap(end + 1 - next).as_bytes());
    Ok(end - range.start)
}

impl LineSource for LogSourceView {
    fn at_once(&self, bytes: u64) -> u64 {
        match self {
            Self::Raw(..) => bytes,
            Self::Records(_) => 500,
        }
    }

    fn start(&self) -> Result<LogStart, UserError> {
        match self {
            Self::Raw(source, log) => source.start(*log),
            // Records are all kept.
            Self::Records(_) => Ok(LogStart::default()),
        }
    }

    fn scan(&self, range: Range<u64>, take: &mut dyn FnMut(&[u8])) -> Result<u64, UserError> {
        match self {
            Self::Raw(source, log) => {
                let bytes =
                    source.read_log(*log, range.start..range.end.min(range.start + BLOCK))?;
                take(&bytes);
                Ok(bytes.len() as u64)
            }
            Self::Records(source) => scan_records(&**source, range, RECORDS, take, |record| {
                let digest = digest(record);
                format!("{} {}", digest.kind, digest.text)
            }),
        }
    }
}
