//! A panic as a board printed it: numbers without a meaning yet.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::model::{PanicKind, PanicRegister};

/// A panic as it was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawPanic {
    /// What went wrong.
    pub kind: PanicKind,
    /// The board's own line on it.
    pub message: String,
    /// Which task, when it is said.
    pub task: Option<String>,
    /// Which core, when it is said.
    pub core: Option<u8>,
    /// Lines that are neither registers nor addresses.
    pub details: Vec<String>,
    /// Registers of the core that failed.
    pub registers: Vec<PanicRegister>,
    /// Backtraces as printed.
    pub traces: Vec<RawTrace>,
    /// Single addresses that sentences name.
    pub pcs: Vec<u64>,
    /// Stack memory, word by word.
    pub stack: BTreeMap<u64, u32>,
    /// The beginning of the program's hash.
    pub sha256: Option<String>,
    /// Numbers of its lines.
    pub lines: Range<u64>,
}

/// Calls as printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawTrace {
    pub core: Option<u8>,
    /// The innermost call first.
    pub pcs: Vec<u64>,
    /// Whether the board gave up on its stack.
    pub is_corrupted: bool,
}

impl RawPanic {
    /// One of which only the kind is known.
    #[must_use]
    pub const fn new(kind: PanicKind) -> Self {
        Self {
            kind,
            message: String::new(),
            task: None,
            core: None,
            details: Vec::new(),
            registers: Vec::new(),
            traces: Vec::new(),
            pcs: Vec::new(),
            stack: BTreeMap::new(),
            sha256: None,
            lines: 0..0,
        }
    }

    /// What a register held.
    #[must_use]
    pub fn register(&self, name: &str) -> Option<u64> {
        self.registers.iter().find(|register| register.name == name).map(|register| register.value)
    }
}
