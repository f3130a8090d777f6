//! Model and toolchain of a run: found as the plan says, then made for a session.

use std::sync::Arc;

use super::machine::Machine;
use super::plan::{LaunchPlan, ModelSource, ToolchainPlan};
use super::recordings::load_script;
use crate::config::Assets;
use crate::journal::SessionDir;
use crate::model::event::SessionParts;
use crate::model::{RecordSource, UserError};
use crate::provider::{Provider, Recording, Scripted, retell};
use crate::sandbox::Runner;
use crate::toolchain::{
    ArduinoToolchain, BuildSandbox, IdfToolchain, Kit, PlatformioToolchain, Toolchain,
    ToolchainKind, VirtualToolchain,
};
use crate::tools::load_kit;

/// Model and toolchain of a run, found and ready to be made.
pub struct FoundParts {
    /// How the same parts can be had again.
    pub names: SessionParts,
    provider: Arc<dyn Provider>,
    toolchain: FoundToolchain,
}

/// What a toolchain is made from.
enum FoundToolchain {
    Idf(IdfToolchain),
    Arduino(ArduinoToolchain),
    Platformio(PlatformioToolchain),
    Virtual(Kit),
}

/// Model and toolchain of a run.
pub struct RunParts {
    /// Answers for the agents.
    pub provider: Arc<dyn Provider>,
    /// Builds and flashes.
    pub toolchain: Arc<dyn Toolchain>,
    /// Runs what agents wrote.
    pub runner: Runner,
    /// What builds run in that run what the project brings; `None`: none does.
    pub builds: Option<BuildSandbox>,
}

impl FoundParts {
    /// Finds the parts of a plan. What the session has recorded before belongs to a recording of
    /// it.
    ///
    /// # Errors
    /// When a profile, a script or a file of the virtual board is wrong, or the toolchain is not
    /// there.
    pub fn find(
        machine: &Machine,
        plan: &LaunchPlan,
        before: &dyn RecordSource,
    ) -> Result<Self, UserError> {
        let provider: Arc<dyn Provider> = match &plan.model {
            ModelSource::Script(name) => {
                let script = Arc::new(load_script(&machine.assets, name)?);
                Arc::new(Scripted::new(script, plan.pacing))
            }
            ModelSource::Profile { name, model } => {
                Arc::new(machine.profiles.panel(name, model.as_deref())?)
            }
        };
        let provider: Arc<dyn Provider> = match &plan.record {
            None => provider,
            Some(file) => Arc::new(Recording::new(provider, file, &plan.task, retell(before)?)?),
        };
        let toolchain = FoundToolchain::find(plan.toolchain, &machine.assets)?;
        let names = SessionParts {
            provider: plan.model.to_string(),
            toolchain: toolchain.name().to_owned(),
            choices: plan.choices.clone(),
        };
        Ok(Self { names, provider, toolchain })
    }

    /// Whether a build runs what the project brings: real toolchains do. The virtual board only
    /// compiles its sources; what a flash to it runs is proposed first, and runs in the sandbox.
    #[must_use]
    pub const fn runs_project_scripts(&self) -> bool {
        !matches!(self.toolchain, FoundToolchain::Virtual(_))
    }

    /// Makes them for the session in `dir`; what agents wrote is run by the runner of `builds`.
    #[must_use]
    pub fn make(self, dir: &SessionDir, builds: BuildSandbox) -> RunParts {
        let walled = match self.runs_project_scripts() {
            true => Some(builds.clone()),
            false => None,
        };
        let runner = builds.runner.clone();
        let board = dir.root().join("board");
        let toolchain: Arc<dyn Toolchain> = match self.toolchain {
            FoundToolchain::Idf(idf) => {
                Arc::new(idf.with_host_folder(board, runner.clone()).with_build_sandbox(builds))
            }
            FoundToolchain::Arduino(arduino) => Arc::new(arduino.with_build_sandbox(builds)),
            FoundToolchain::Platformio(pio) => {
                Arc::new(pio.with_host_folder(board, runner.clone()).with_build_sandbox(builds))
            }
            FoundToolchain::Virtual(kit) => {
                Arc::new(VirtualToolchain::new(kit, board, runner.clone()))
            }
        };
        RunParts { provider: self.provider, toolchain, runner, builds: walled }
    }
}

impl FoundToolchain {
    /// The first of the plan that is installed.
    fn find(plan: ToolchainPlan, assets: &Assets) -> Result<Self, UserError> {
        let installed = |kinds: &[ToolchainKind]| {
            kinds.iter().map(|kind| Self::installed(*kind)).reduce(Result::or)
        };
        let found = match plan {
            ToolchainPlan::Virtual => None,
            ToolchainPlan::Installed(kinds) => installed(kinds),
            ToolchainPlan::InstalledOrVirtual(kinds) => installed(kinds).filter(Result::is_ok),
        };
        found.unwrap_or_else(|| Ok(Self::Virtual(load_kit(assets)?)))
    }

    fn installed(kind: ToolchainKind) -> Result<Self, UserError> {
        Ok(match kind {
            ToolchainKind::Idf => Self::Idf(IdfToolchain::find()?),
            ToolchainKind::Arduino => Self::Arduino(ArduinoToolchain::find()?),
            ToolchainKind::Platformio => Self::Platformio(PlatformioToolchain::find()?),
        })
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Idf(_) => "idf",
            Self::Arduino(_) => "arduino",
            Self::Platformio(_) => "platformio",
            Self::Virtual(_) => "virtual",
        }
    }
}
