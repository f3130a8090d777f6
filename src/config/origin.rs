//! Where a setting came from.

use std::fmt;
use std::path::PathBuf;

/// Where a setting came from; later variants go before earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// The program's own default.
    #[default]
    Default,
    /// The person's configuration file.
    User {
        file: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// The project's configuration file.
    Project {
        file: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// An environment variable.
    Env(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
    /// A file that a flag of the command line names.
    FlagFile {
        file: PathBuf,
        /// Counted from 1.
        line: usize,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User { file, line }
            | Self::Project { file, line }
            | Self::FlagFile { file, line } => write!(f, "{}:{line}", file.display()),
            Self::Env(name) => write!(f, "${name}"),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sourced<T> {
    pub value: T,
    /// Where it came from.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    /// A value that nobody set.
    pub const fn default(value: T) -> Self {
        Self { value, origin: Origin::Default }
    }

    /// Takes over a value that is given there.
    pub(super) fn set(&mut self, given: Option<impl Into<T>>, origin: &Origin) {
        if let Some(value) = given {
            *self = Self { value: value.into(), origin: origin.clone() };
        }
    }
}
