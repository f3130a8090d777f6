//! What a build tells.

use serde::{Deserialize, Serialize};

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The build cannot succeed with it.
    Error,
    /// It builds, but look.
    Warning,
    /// Explains another diagnostic.
    Note,
}

/// One finding of a compiler, linker, CMake or ninja.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Relative to the project where the file lies in it; `None` when no file is named.
    pub file: Option<String>,
    /// From 1; `None` when unknown.
    pub line: Option<u32>,
    /// In bytes from 1, as GCC counts; `None` when unknown.
    pub column: Option<u32>,
    /// How bad it is.
    pub severity: Severity,
    /// One line of text.
    pub message: String,
    /// The framework's or our own advice; empty when there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

impl Diagnostic {
    /// One without a place and advice.
    #[must_use]
    pub const fn new(severity: Severity, message: String) -> Self {
        Self { file: None, line: None, column: None, severity, message, hint: String::new() }
    }
}

/// How a build ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BuildOutcome {
    /// There is something to flash.
    Passed,
    /// The project has errors.
    Failed,
    /// It ran into the time limit and was ended.
    TimedOut,
    /// The person stopped it.
    Cancelled,
    /// The build could not even start; the text says why.
    NotRun(super::error::UserError),
}

/// A memory that a program takes some of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// All that is stored: what a flash writes.
    Flash,
    /// A chip's memory for code.
    Iram,
    /// A chip's memory for data.
    Dram,
    /// Memory that keeps its content in deep sleep.
    Rtc,
    /// Memory beside the chip.
    Psram,
    /// Code and constants of a program on this computer.
    Text,
    /// Its variables with a value to begin with.
    Data,
    /// Its variables that begin as zero.
    Bss,
}

impl Memory {
    /// What the screen and the tools call it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Flash => "flash",
            Self::Iram => "iram",
            Self::Dram => "dram",
            Self::Rtc => "rtc",
            Self::Psram => "psram",
            Self::Text => "text",
            Self::Data => "data",
            Self::Bss => "bss",
        }
    }
}

/// How much of a memory a program takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    pub memory: Memory,
    /// How many bytes.
    pub bytes: u64,
    /// Bytes that there are; `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
}

/// How much memory a program takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramSize {
    /// File name of the program.
    pub program: String,
    /// Where it runs when that is no chip, e.g. `virtual board`: then its sizes are no measure for
    /// one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Each memory once.
    pub uses: Vec<MemoryUse>,
}

impl ProgramSize {
    /// Bytes more than `before` in one memory; `None` when they cannot be compared.
    #[must_use]
    pub fn growth(&self, before: &Self, memory: Memory) -> Option<i64> {
        if self.host != before.host || self.program != before.program {
            return None;
        }
        let bytes = |size: &Self| {
            let used = size.uses.iter().find(|used| used.memory == memory);
            used.map_or(Some(0), |used| i64::try_from(used.bytes).ok())
        };
        bytes(self)?.checked_sub(bytes(before)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(program: &str, host: &str, memory: Memory, bytes: u64) -> ProgramSize {
        let uses = vec![MemoryUse { memory, bytes, of: None }];
        ProgramSize { program: program.into(), host: host.into(), uses }
    }

    #[test]
    fn only_the_same_program_at_the_same_place_has_grown() {
        let before = size("a.elf", "", Memory::Flash, 100);
        let now = size("a.elf", "", Memory::Flash, 90);
        assert_eq!(now.growth(&before, Memory::Flash), Some(-10));
        let other = size("a.elf", "", Memory::Iram, 90);
        assert_eq!(other.growth(&before, Memory::Flash), Some(-100), "none of it is used any more");
        for stranger in [size("b.elf", "", Memory::Flash, 1), size("a.elf", "x", Memory::Flash, 1)]
        {
            assert_eq!(stranger.growth(&before, Memory::Flash), None);
        }
    }
}
