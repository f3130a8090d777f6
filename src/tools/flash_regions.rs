//! Which board's flash a tool means, and which part of it.
//!
//! Owns looking that up in the project. Must not touch a board.

use super::{ToolContext, ToolError};
use crate::model::{BoardInfo, FlashRegion, ProjectPath};
use crate::toolchain::partitions;

/// Where ESP-IDF puts the settings unless a table says otherwise.
const USUAL_NVS: (u32, u32) = (0x9000, 0x6000);

/// The board at that port, or the one that is connected; a failure is told under `code`.
pub(super) fn flash_of(
    context: &ToolContext,
    port: Option<String>,
    code: &'static str,
) -> Result<BoardInfo, ToolError> {
    let board = context.toolchain.erasable(context.sandbox.root());
    let mut board = board.map_err(|error| ToolError::from_user_error(code, &error))?;
    if let Some(port) = port.filter(|port| *port != board.port) {
        if board.simulated {
            let message = format!("port: `{port}` is not the port of the {}", board.label);
            return Err(ToolError::new("bad_arguments", message, "Leave `port` out."));
        }
        board.port = port;
    }
    Ok(board)
}

/// The place of a partition in the table of the project.
pub(super) fn region(
    context: &ToolContext,
    label: &str,
    board: &BoardInfo,
) -> Result<FlashRegion, ToolError> {
    let read = |file: &str| context.sandbox.read(&ProjectPath::new(file).ok()?).ok();
    let table = partitions::of_project("", read);
    let known = table.map(|(_, partitions)| partitions).unwrap_or_default();
    if let Some(found) = known.iter().find(|partition| partition.label == label) {
        let (offset, bytes) = (found.offset, found.bytes);
        return Ok(FlashRegion { label: label.to_owned(), offset, bytes });
    }
    // A simulated board has no table, and keeps its settings aside.
    if board.simulated && label == "nvs" {
        let (offset, bytes) = USUAL_NVS;
        return Ok(FlashRegion { label: label.to_owned(), offset, bytes });
    }
    let names: Vec<&str> = known.iter().map(|partition| partition.label.as_str()).collect();
    let hint = match names.as_slice() {
        [] if board.simulated => "Name `nvs`.".to_owned(),
        [] => "Build the project first: its partition table is not known.".to_owned(),
        names => format!("Use one of: {}.", names.join(", ")),
    };
    Err(ToolError::new("bad_arguments", format!("partition: there is no `{label}`"), hint))
}
