//! What every command on this machine shares: folders, shipped data, settings, profiles.
//!
//! Owns reading them in the right order. Must not know what is to be run.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::profiles::Profiles;
use crate::config::{Assets, BuildSwitch, Dirs, Overrides, Settings};
use crate::model::{Budget, Timestamp, UserError};
use crate::sandbox::Runner;
use crate::toolchain::process::hide_variables;
use crate::toolchain::{BuildSandbox, BuildWalls};

/// What every command on this machine shares.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Where settings and sessions are.
    pub dirs: Dirs,
    /// Shipped data and the person's own.
    pub assets: Assets,
    /// Settings in force.
    pub settings: Settings,
    /// Models that can be used, with their keys.
    pub profiles: Profiles,
    /// Runs what agents wrote.
    pub runner: Runner,
}

impl Machine {
    /// Reads the settings, those of a project too if one is named, and hides the variables that hold
    /// keys from every program that is started from now on.
    ///
    /// # Errors
    /// When a configuration file is wrong; names file and line.
    pub fn load(
        dirs: &Dirs,
        project: Option<&Path>,
        overrides: &Overrides,
    ) -> Result<Self, UserError> {
        let settings = Settings::load(dirs, project, overrides)?;
        let of_models = settings.models.profiles.values().map(|entry| &entry.says.key);
        let of_remotes = settings.search.remotes.values().map(|entry| &entry.says.key);
        let keys = of_models.chain(of_remotes);
        hide_variables(keys.filter_map(|key| key.env.clone()).collect());
        let assets = Assets::with_user_folder(&dirs.config);
        let (models, remotes) = (settings.models.clone(), settings.search.remotes.clone());
        let profiles = Profiles::new(models, remotes, assets.clone(), &dirs.config);
        let runner = Runner::of_this_program();
        Ok(Self { dirs: dirs.clone(), assets, settings, profiles, runner })
    }

    /// What builds run in, as the settings say.
    #[must_use]
    pub fn build_sandbox(&self, runner: Runner) -> BuildSandbox {
        let walls = match self.settings.sandbox.builds.value {
            BuildSwitch::On => BuildWalls::On,
            BuildSwitch::Off => BuildWalls::Off,
        };
        let private = vec![self.dirs.config.clone(), self.dirs.data.clone()];
        let writable = self.settings.sandbox.writable.value.clone();
        BuildSandbox { runner, walls, private, writable }
    }

    /// The same for one session that may use so much, with that temperature of all agents; `None`
    /// leaves each as it is.
    #[must_use]
    pub fn for_session(&self, budget: &Budget, temperature: Option<f64>) -> Self {
        let mut machine = self.clone();
        let models = &mut machine.settings.models;
        models.session.value = budget.or(models.session.value);
        models.temperature = temperature.or(models.temperature);
        let (models, assets) = (models.clone(), machine.assets.clone());
        let remotes = machine.settings.search.remotes.clone();
        machine.profiles = Profiles::new(models, remotes, assets, &machine.dirs.config);
        machine
    }
}

/// The time now.
#[must_use]
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
