//! How long a log is, and how much of it is kept.

/// How long a log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogLength {
    /// Size in bytes.
    pub bytes: u64,
    /// Line feeds among them.
    pub lines: u64,
}

/// How much of each log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLimits {
    /// Bytes on disk; the oldest output beyond them is given up.
    pub keep: u64,
    /// Bytes of one file, and so of what is given up at once.
    pub segment: u64,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self { keep: 256 << 20, segment: 16 << 20 }
    }
}
