//! What the person says about the sandbox of builds, as settings.
//!
//! Must not know how it is built.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::origin::Sourced;
use super::source::{ConfigSource, MOVE_LINE};
use super::spanned::Spanned;
use crate::model::UserError;

/// Whether builds run in the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BuildSwitch {
    /// Where the machine can do it.
    On,
    /// With all rights of the person.
    Off,
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
        let off = layer.builds.as_ref().filter(|builds| *builds.get_ref() == BuildSwitch::Off);
        let wider =
            off.map(Spanned::span).into_iter().chain(layer.writable.as_ref().map(Spanned::span));
        for span in wider {
            source.only_of_person(span, "not widen the sandbox", MOVE_LINE)?;
        }
        source.set(&layer.builds, &mut self.builds);
        source.set(&layer.writable, &mut self.writable);
        Ok(())
    }
}
