//! Which board's flash a tool means, and which part of it.
//!
//! Owns looking that up in the project. Must not touch a board.

use super::{ToolContext, ToolError};
use crate::model::{BoardInfo, FlashRegion, Partition, ProjectPath, UserError};
use crate::toolchain::partitions;

/// What is to be done to the flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    Erase,
    Read,
    /// Changing entries in it.
    Edit,
}

impl Aim {
    /// What cannot be done, for the tool's error: its code and in words.
    const fn hindered(self) -> (&'static str, &'static str) {
        match self {
            Self::Erase => ("cannot_erase", "Cannot erase the board's flash"),
            Self::Read => ("cannot_read", "Cannot read the board's flash"),
            Self::Edit => ("cannot_edit", "Cannot change the board's flash"),
        }
    }
}

/// The board at that port, or the one that is connected.
pub(super) fn flash_of(
    context: &ToolContext,
    port: Option<String>,
    aim: Aim,
) -> Result<BoardInfo, ToolError> {
    let mut board = context.toolchain.erasable(context.project_dir.root()).map_err(|error| {
        let (code, what) = aim.hindered();
        // Toolchains tell whose flash can be had, not what for.
        ToolError::from_user_error(code, &UserError { what: what.to_owned(), ..error })
    })?;
    use_port(&mut board, port)?;
    Ok(board)
}

/// Takes the port that was named; only that of a real board can differ from what is known.
pub(super) fn use_port(board: &mut BoardInfo, port: Option<String>) -> Result<(), ToolError> {
    let Some(port) = port.filter(|port| *port != board.port) else { return Ok(()) };
    if board.simulated {
        let message = format!("port: `{port}` is not the port of the {}", board.label);
        return Err(ToolError::new("bad_arguments", message, "Leave `port` out."));
    }
    board.port = port;
    Ok(())
}

/// The place of a partition on the board: in the table of the project, save where the board is
/// divided in a way of its own.
pub(super) fn region(context: &ToolContext, label: &str) -> Result<FlashRegion, ToolError> {
    let Partition { offset, bytes, .. } = partition(context, label)?;
    Ok(FlashRegion { label: label.to_owned(), offset, bytes })
}

/// As [`region`], with what the partition is for.
pub(super) fn partition(context: &ToolContext, label: &str) -> Result<Partition, ToolError> {
    let own = context.toolchain.partitions();
    let known = match own.is_empty() {
        true => {
            let read = |file: &str| context.project_dir.read(&ProjectPath::new(file).ok()?).ok();
            partitions::of_project("", read).map(|(_, table)| table).unwrap_or_default()
        }
        false => own,
    };
    if let Some(found) = known.iter().find(|partition| partition.label == label) {
        return Ok(found.clone());
    }
    let names: Vec<&str> = known.iter().map(|partition| partition.label.as_str()).collect();
    let hint = match names.as_slice() {
        [] => "Build the project first: its partition table is not known.".to_owned(),
        names => format!("Use one of: {}.", names.join(", ")),
    };
    Err(ToolError::new("bad_arguments", format!("partition: there is no `{label}`"), hint))
}
