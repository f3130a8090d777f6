//! What a launch plan is decided from: the project's folder, profiles, recordings, documents.
//!
//! Owns looking it up. Must not decide anything, nor write.

use std::path::Path;

use super::choice;
use super::documents;
use super::launch_request::{LaunchRequest, Work};
use super::machine::Machine;
use super::recordings::{Recording, Recordings};
use super::trust::is_untouched;
use crate::config::Example;
use crate::model::{Document, Ground, UserError};
use crate::toolchain::{ToolchainKind, fitting, platformio};

/// What a launch plan is decided from.
#[derive(Debug, Clone)]
pub struct LaunchFacts {
    /// What the project's folder holds.
    pub ground: Ground,
    /// Whether there is nothing at all in it, or no folder yet.
    pub is_untouched: bool,
    /// Toolchains that build what it holds, the fittest first.
    pub fitting: &'static [ToolchainKind],
    /// Whether PlatformIO builds it.
    pub is_platformio: bool,
    /// The profile that answers by default.
    pub default_profile: Option<String>,
    /// The recordings that ship.
    pub recordings: Recordings,
    /// The recording in the file that a demo is to play.
    pub script: Option<Recording>,
    /// The example that was asked for.
    pub example: Option<Example>,
    /// The documents that come with the task.
    pub documents: Vec<Document>,
}

impl LaunchFacts {
    /// Looks up what a request is about.
    ///
    /// # Errors
    /// When there is no such example, or a document or a recording cannot be read.
    pub fn of_request(machine: &Machine, request: &LaunchRequest) -> Result<Self, UserError> {
        let example = match &request.work {
            Work::New { example: Some(name), .. } => Some(Example::find(&machine.assets, name)?),
            Work::New { example: None, .. } | Work::Demo | Work::Edit(_) | Work::Unattended(_) => {
                None
            }
        };
        let documents = request.attach.iter().map(|path| documents::read(path));
        let documents = documents.collect::<Result<_, _>>()?;
        let script = request.model.script.as_ref().filter(|_| matches!(request.work, Work::Demo));
        let script = script
            .map(|path| Recording::load(&machine.assets, &path.display().to_string()))
            .transpose()?;
        let facts = Self::of_project(machine, request.project.as_deref())?;
        Ok(Self { example, documents, script, ..facts })
    }

    /// Looks up what a project's folder and this machine offer.
    ///
    /// # Errors
    /// When a recording cannot be read, which only a person's own copy can be.
    pub fn of_project(machine: &Machine, project: Option<&Path>) -> Result<Self, UserError> {
        Ok(Self {
            ground: choice::ground(project),
            is_untouched: project.is_none_or(is_untouched),
            fitting: project.map_or(&[ToolchainKind::Idf], fitting),
            is_platformio: project.is_some_and(platformio::is_at),
            default_profile: machine.profiles.default_name(),
            recordings: Recordings::load(&machine.assets)?,
            script: None,
            example: None,
            documents: Vec::new(),
        })
    }
}
