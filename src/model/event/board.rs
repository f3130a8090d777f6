//! Facts of boards and serial ports.

use serde::{Deserialize, Serialize};

use crate::model::board::BoardInfo;
use crate::model::ids::LogId;
use crate::model::serial::PortChange;

/// Which boards are there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum BoardEvent {
    /// A board is there.
    #[serde(rename = "board_connected")]
    Connected(BoardInfo),
    /// A board is gone.
    #[serde(rename = "board_lost")]
    Lost { port: String, why: String },
}

/// What happens at serial ports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PortEvent {
    /// Bytes from a port now go to a log.
    #[serde(rename = "serial_opened")]
    Opened {
        port: String,
        /// Where its bytes go.
        log: LogId,
        /// Bits per second; 0 where it means nothing.
        baud: u32,
    },
    /// No more bytes come from that port.
    #[serde(rename = "serial_closed")]
    Closed {
        /// The log that is complete now.
        log: LogId,
        why: String,
    },
    /// Something happened to an open port.
    #[serde(rename = "port")]
    Changed { log: LogId, event: PortChange },
}
