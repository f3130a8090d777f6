//! How a person who looks elsewhere is called, as a setting.
//!
//! Must not know how a terminal does it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a person who looks elsewhere is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Notify {
    /// By what the terminal is known to understand, else by the bell.
    Auto,
    /// By the bell.
    Bell,
    /// By a desktop notification, OSC 9.
    Osc9,
    /// By a desktop notification with a title, OSC 777.
    Osc777,
    /// Not at all.
    Off,
}
