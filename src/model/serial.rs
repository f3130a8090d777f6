//! What happens to a serial port, and what a person does with it.

use serde::{Deserialize, Serialize};

use super::ids::AgentName;
use super::panic::{CoreDump, PanicReport};

/// How a line that is sent ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineEnding {
    /// `\n`, which ESP-IDF's console expects.
    #[default]
    Lf,
    /// `\r`
    Cr,
    /// `\r\n`
    CrLf,
    None,
}

impl LineEnding {
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Cr => "\r",
            Self::CrLf => "\r\n",
            Self::None => "",
        }
    }

    /// Its name on screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lf => "LF",
            Self::Cr => "CR",
            Self::CrLf => "CR LF",
            Self::None => "no end",
        }
    }

    /// The next one, round the end.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Lf => Self::Cr,
            Self::Cr => Self::CrLf,
            Self::CrLf => Self::None,
            Self::None => Self::Lf,
        }
    }
}

/// A change of how a port runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SerialControl {
    /// Other bits per second.
    Baud(u32),
    /// The chip starts its program anew.
    Reset,
    /// The chip starts its boot loader.
    BootLoader,
}

/// Something that happened to an open port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortChange {
    /// It has gone away and is looked for; its log goes on when it comes back.
    Lost { why: String },
    /// It is back.
    Back {
        /// How long it was away.
        millis: u64,
    },
    /// Something was sent to it.
    Sent {
        /// What, with line ends.
        text: String,
        /// Who sent it; `None`: the person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<AgentName>,
    },
    /// The person changed how it runs.
    Controlled(SerialControl),
    /// The firmware on the board has failed.
    Panicked {
        /// Number of its first line in the log, from 0.
        line: u64,
        /// The line after its last one.
        end: u64,
        /// What could be understood.
        report: Box<PanicReport>,
    },
    /// A core dump was printed and kept.
    CoreDumped(CoreDump),
}

/// A wish of the person for a serial port: their own act, done at once and recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SerialCommand {
    /// Begins to listen.
    Open {
        port: String,
        /// Bits per second.
        baud: u32,
    },
    Close {
        port: String,
    },
    Send {
        port: String,
        /// What, with its line end.
        text: String,
    },
    /// Changes how it runs.
    Control {
        port: String,
        /// What to do.
        control: SerialControl,
    },
}
