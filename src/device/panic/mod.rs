//! Panics: recognised in a board's output and looked up in the program that runs on it.
//!
//! Owns reading ELF files. Must not start a process, act on what a board prints, or draw.

mod core_dump;
mod elf;
mod parse;
mod raw;
mod report;
mod unwind;
mod watch;

pub use core_dump::{CoreDumpParser, FoundDump};
pub use elf::Program;
pub use parse::PanicParser;
pub use raw::{RawPanic, RawTrace};
pub use report::Programs;
pub use unwind::Registers;
pub use watch::{PanicEvent, Watch};
