//! How a person who looks elsewhere is called, as a setting.
//!
//! Must not know how a terminal does it.

use schemars::JsonSchema;
use serde::Deserialize;

/// How a person who looks elsewhere is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
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

impl Notify {
    /// Name in a configuration file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Bell => "bell",
            Self::Osc9 => "osc9",
            Self::Osc777 => "osc777",
            Self::Off => "off",
        }
    }
}
