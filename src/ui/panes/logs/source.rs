//! Where the lines of a log come from when all of it is looked through: a raw log, or the
//! session's own records.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::model::{EventSource, LogId, LogSource, LogStart, UserError};

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
            Self::Records(source) => {
                let end = range.end.min(range.start + RECORDS);
                // Lines count from 0, records from 1.
                let records = source.records(range.start + 1..end + 1)?;
                let mut next = range.start + 1;
                for record in &records {
                    // A record that cannot be read is an empty line, so that the numbers fit.
                    take("\n".repeat(usize::try_from(record.seq.0 - next).unwrap_or(0)).as_bytes());
                    let digest = digest(record);
                    take(format!("{} {}\n", digest.kind, digest.text).as_bytes());
                    next = record.seq.0 + 1;
                }
                take("\n".repeat(usize::try_from(end + 1 - next).unwrap_or(0)).as_bytes());
                Ok(end - range.start)
            }
        }
    }
}
