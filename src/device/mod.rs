//! Serial ports: listening, line splitting and recognising what a board prints; and the pins of
//! chips.
//!
//! Owns the open ports and the tasks that empty them, and the reading of the pin tables. Must not
//! decide anything: what is sent to a board was asked for by a person.

pub mod adapters;
mod findings;
mod i2c_scan;
mod lines;
mod link;
pub mod loader;
pub mod panic;
mod pinout;
pub mod ports;
mod pty;
mod pump;
mod received;
mod refusal;
mod reset;
mod rfc2217;
mod serial;
mod tail;

pub use adapters::{Adapter, Adapters, ResetStyle};
pub use i2c_scan::{Scan, ScanReader};
pub use lines::{LineKind, LineSplitter, SerialLine, last_reset, recognise, reset_cause};
pub use link::{Address, Identity, identity, is_free};
pub use panic::Programs;
pub use pinout::{AdcInput, Caution, FOLDER as PINOUTS, JtagSignal, Pin, Pinout, Roles, UsbLine};
pub use ports::{PortInfo, UsbId};
pub use pty::Pty;
pub use refusal::refused;
#[doc(hidden)]
pub use rfc2217::{Decoder as Rfc2217Decoder, escape as rfc2217_escape};
pub use serial::{DEFAULT_BAUD, Listener, Loan, Received, SerialHub};
