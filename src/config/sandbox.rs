//! What the person says about the sandbox of builds, as settings.
//!
//! Must not know how it is built.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::origin::Sourced;
use super::source::{ConfigSource, LayerKind};
use super::spanned::Spanned;
use crate::model::UserError;

/// Whether builds run in the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BuildSwitch {
    /// Where the machine can do it.
    On,
    /// With all rights of the person.
    Off,
}

impl BuildSwitch {
    /// Name in a configuration file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SandboxLayer {
    /// Whether builds of ESP-IDF, PlatformIO and Arduino run in the sandbox, where the machine can do it.
    pub builds: Option<Spanned<BuildSwitch>>,
    /// Files and folders that builds may write besides; relative paths are the project's.
    pub writable: Option<Spanned<Vec<PathBuf>>>,
}

/// The sandbox of builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxUse {
    /// Whether builds run in it.
    pub builds: Sourced<BuildSwitch>,
    /// Files and folders that builds write besides; relative paths are the project's.
    pub writable: Sourced<Vec<PathBuf>>,
}

impl Default for SandboxUse {
    fn default() -> Self {
        Self { builds: Sourced::default(BuildSwitch::On), writable: Sourced::default(Vec::new()) }
    }
}

impl SandboxUse {
    pub(super) fn take(
        &mut self,
        source: &ConfigSource<'_>,
        layer: &SandboxLayer,
    ) -> Result<(), UserError> {
        if let Some(builds) = &layer.builds {
            if *builds.get_ref() == BuildSwitch::Off {
                only_of_person(source, builds)?;
            }
            self.builds = source.sourced(builds);
        }
        if let Some(writable) = &layer.writable {
            only_of_person(source, writable)?;
            self.writable = source.sourced(writable);
        }
        Ok(())
    }
}

/// Agents write to a project's configuration: it takes nothing away from the sandbox.
fn only_of_person<T>(source: &ConfigSource<'_>, value: &Spanned<T>) -> Result<(), UserError> {
    if source.kind != LayerKind::Project {
        return Ok(());
    }
    let why = "a project's own configuration may not widen the sandbox, because agents write to it";
    let mut error = source.wrong(value.span(), why);
    error.fix = "Move the line to your own configuration.".into();
    Err(error)
}
