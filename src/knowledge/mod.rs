//! Documentation that ships with the program, and the search over it.
//!
//! Owns the index over texts that are handed in, and the list of names the framework has taken.
//! Must not read files.

mod index;
mod names;

pub use index::{Chunk, Knowledge, PassageKind};
pub use names::{NameConflict, NameList};
