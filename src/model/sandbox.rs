//! How strong the sandbox around agents' programs is, in the words of records and of the screen.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What stands around a program that an agent wrote, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// Namespaces of its own, Landlock and seccomp.
    Namespaces,
    /// Landlock and seccomp.
    Landlock,
    None,
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespaces => "namespaces, Landlock, seccomp",
            Self::Landlock => "Landlock, seccomp",
            Self::None => "none",
        })
    }
}
