//! What a board says when its firmware fails, understood.
//!
//! Owns the words in which a panic is recorded, shown and told to agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blob::BlobRef;

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PanicKind {
    /// The processor refused an instruction or an access.
    Exception,
    /// `abort()` was called.
    Abort,
    /// An assertion did not hold.
    Assert,
    /// `ESP_ERROR_CHECK` met an error.
    ErrorCheck,
    /// A task used more stack than it has.
    StackOverflow,
    /// A task did not report to its watchdog.
    TaskWatchdog,
    /// Interrupts were off for too long.
    InterruptWatchdog,
    /// Flash was accessed while its cache was off.
    CacheError,
    /// The supply voltage fell too low.
    Brownout,
    /// The heap's bookkeeping was overwritten.
    HeapCorruption,
    /// The chip starts over and over without getting anywhere.
    BootLoop,
}

impl PanicKind {
    /// In words for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Exception => "exception",
            Self::Abort => "abort",
            Self::Assert => "assertion failed",
            Self::ErrorCheck => "error check failed",
            Self::StackOverflow => "stack overflow",
            Self::TaskWatchdog => "task watchdog",
            Self::InterruptWatchdog => "interrupt watchdog",
            Self::CacheError => "cache error",
            Self::Brownout => "brownout",
            Self::HeapCorruption => "heap corruption",
            Self::BootLoop => "boot loop",
        }
    }
}

/// A register and what it held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanicRegister {
    /// Its name, e.g. `MEPC`.
    pub name: String,
    /// What it held.
    pub value: u64,
}

/// One function on the way to the failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanicFrame {
    /// Address of the instruction.
    pub pc: u64,
    /// The function, demangled; `None` when nothing is known of the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Its source file: relative to the project where it lies in it, else as the compiler saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Whether the compiler has put the function into the next one of the list.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inlined: bool,
}

impl PanicFrame {
    /// `file:line`, as far as it is known; empty when nothing is.
    #[must_use]
    pub fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => file.clone(),
            (None, _) => String::new(),
        }
    }
}

/// The calls that led to the failure, on one core or in one task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PanicTrace {
    /// Which core; `None` when it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<u8>,
    /// Innermost first.
    pub frames: Vec<PanicFrame>,
    /// Whether the board could not follow its stack to the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_corrupted: bool,
}

/// Whether the program that was looked into is the one that runs on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElfMatch {
    /// The board named the same hash.
    Same,
    /// The board named another hash: the functions may be wrong.
    Different,
    /// The board did not name a hash.
    Unknown,
}

/// The program in which addresses were looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanicElf {
    /// The file, relative to the project where it lies in it.
    pub file: String,
    /// Whether it runs on the board.
    pub matches: ElfMatch,
}

/// A core dump that was found in the output and kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreDump {
    /// Its name, e.g. `core-1.elf`.
    pub name: String,
    pub content: BlobRef,
}

/// A failure, as far as it could be understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanicReport {
    /// What went wrong.
    pub kind: PanicKind,
    /// The board's own line on it.
    #[serde(rename = "said")]
    pub message: String,
    /// Which task, when it is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Which core, when it is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<u8>,
    /// What else the board said on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// As printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<PanicRegister>,
    /// The calls that led there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<PanicTrace>,
    /// The program in which addresses were looked up; `None` when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elf: Option<PanicElf>,
    /// Why something is missing, and what it may mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl PanicReport {
    /// The frames of all traces.
    pub fn frames(&self) -> impl Iterator<Item = &PanicFrame> {
        self.traces.iter().flat_map(|trace| &trace.frames)
    }

    /// It as lines to read: what failed, and the calls that led there.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let task = self.task.as_ref().map(|task| format!(" in task {task}")).unwrap_or_default();
        let mut lines = vec![format!("--- {}{task} ---", self.kind.words())];
        for trace in &self.traces {
            if let Some(core) = trace.core.filter(|_| self.traces.len() > 1) {
                lines.push(format!("    core {core}:"));
            }
            for frame in &trace.frames {
                let function = frame.function.as_deref().unwrap_or("??");
                let place = frame.place();
                let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
                lines.push(if frame.inlined {
                    format!("                {function}{at} (inlined into the next)")
                } else {
                    format!("    0x{:08x}  {function}{at}", frame.pc)
                });
            }
            if trace.is_corrupted {
                lines.push("    the stack is damaged from here on".to_owned());
            }
        }
        if let Some(elf) = self.elf.as_ref().filter(|elf| elf.matches == ElfMatch::Same) {
            lines.push(format!("    looked up in {}", elf.file));
        }
        lines.extend(self.notes.iter().map(|note| format!("    {note}")));
        lines
    }
}
