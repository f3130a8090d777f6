//! What is read of the output of tools and of what builds leave, from bytes alone.
//!
//! For the tests that feed every reader with foreign bytes; the program itself reads them where it
//! runs the tools. Must not run anything or write.

use std::path::Path;

use super::esptool::Writing;
use super::size::{self, Home};
use crate::model::{FlashImage, ProgramSize};

pub use super::analysis::issues_in as linter_issues;
pub use super::arduino::messages_in as arduino_messages;
pub use super::platformio::messages_in as platformio_messages;
pub use super::virtual_board::{Recurse, project_name, registration};

/// Bytes written so far as `esptool` tells them in chunks of its output, and its own words for what
/// went wrong.
#[must_use]
pub fn esptool_messages(chunks: &[&[u8]], images: &[FlashImage]) -> (Vec<u64>, String) {
    let mut writing = Writing::default();
    let done = chunks.iter().filter_map(|chunk| writing.push(chunk, images)).collect();
    (done, writing.cause())
}

/// How much memory the program `file` takes on a chip whose partition table is the file `table`.
#[must_use]
pub fn program_size(file: &Path, table: &Path) -> Option<ProgramSize> {
    let _is_for_host = size::is_for_host(file);
    let _on_host = size::of(file, &Home::Host("host"));
    size::of(file, &Home::Chip(table.to_owned()))
}
