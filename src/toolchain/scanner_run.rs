//! A firmware that scans a simulated bus, as long as it runs. Must not know how it was made.

use std::any::Any;
use std::fmt;

/// A scanner that runs until this is dropped.
pub struct ScannerRun {
    /// Where it reports.
    pub port: String,
    _board: Box<dyn Any + Send + Sync>,
}

impl ScannerRun {
    /// One that `board` runs.
    pub(super) fn new(port: String, board: impl Any + Send + Sync) -> Self {
        Self { port, _board: Box::new(board) }
    }
}

impl fmt::Debug for ScannerRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScannerRun").field("port", &self.port).finish_non_exhaustive()
    }
}
