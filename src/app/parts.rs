//! Model and toolchain of a run: what was asked for, checked, and made.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compose::{Machine, Order};
use super::models;
use crate::config::Assets;
use crate::files;
use crate::journal::SessionDir;
use crate::model::event::SessionParts;
use crate::model::{RecordSource, UserError};
use crate::provider::Recording as RecordedModel;
use crate::provider::{Pacing, Provider, Script, Scripted, retell};
use crate::toolchain::{
    ArduinoToolchain, IdfToolchain, Kit, PlatformioToolchain, Toolchain, ToolchainKind,
    VirtualToolchain, fitting, platformio,
};

/// Folder of the recorded conversations that ship with the program.
const SCRIPTS: &str = "assets/demo";

/// Folder of the virtual board's headers and runtime.
const KIT: &str = "assets/virtual";

/// The recorded conversation of `firmhand demo`.
const DEMO: &str = "i2c-scan";

/// The parts of a run that differ from run to run, checked and ready to be made.
pub struct RunRequest {
    /// How the same parts can be had again.
    pub parts: SessionParts,
    voice: Voice,
    pacing: Pacing,
    builder: Builder,
}

/// What answers for the agents.
enum Voice {
    Script(Arc<Script>),
    Model(Arc<dyn Provider>),
}

/// What a toolchain is made from.
enum Builder {
    Idf(IdfToolchain),
    Arduino(ArduinoToolchain),
    Platformio(PlatformioToolchain),
    Virtual(Kit),
}

/// The parts of a run.
pub struct RunParts {
    /// Answers for the agents.
    pub provider: Arc<dyn Provider>,
    /// Builds and flashes.
    pub toolchain: Arc<dyn Toolchain>,
}

impl RunRequest {
    /// Finds out whether the parts of `order` can be had. An empty provider stands for the usual
    /// profile, or without any for the recording that fits the task. What the session has
    /// recorded before belongs to a recording of it.
    ///
    /// # Errors
    /// When there is no model and no recording fits, a profile, script or kit file is wrong, or the toolchain is not there.
    pub fn check(
        world: &Machine,
        order: &Order,
        before: &dyn RecordSource,
    ) -> Result<Self, UserError> {
        let assets = &world.assets;
        let (provider, voice) = voice(world, order)?;
        let voice = match &order.record {
            None => voice,
            Some(file) => {
                let model = voice.into_provider(order.pacing);
                Voice::Model(Arc::new(RecordedModel::new(
                    model,
                    file,
                    &order.task,
                    retell(before)?,
                )?))
            }
        };
        let builder = Builder::wanted(order, assets)?;
        Ok(Self {
            parts: SessionParts { provider, toolchain: builder.name().to_owned() },
            voice,
            pacing: order.pacing,
            builder,
        })
    }

    /// Makes them for the session in `dir`.
    #[must_use]
    pub fn make(self, dir: &SessionDir) -> RunParts {
        let provider = self.voice.into_provider(self.pacing);
        let board = dir.root().join("board");
        let toolchain: Arc<dyn Toolchain> = match self.builder {
            Builder::Idf(idf) => Arc::new(idf.with_host_folder(board)),
            Builder::Arduino(arduino) => Arc::new(arduino),
            Builder::Platformio(pio) => Arc::new(pio.with_host_folder(board)),
            Builder::Virtual(kit) => Arc::new(VirtualToolchain::new(kit, board)),
        };
        RunParts { provider, toolchain }
    }
}

impl Builder {
    /// The one that the order names; where it leaves that open, the fittest that is installed.
    fn wanted(order: &Order, assets: &Assets) -> Result<Self, UserError> {
        let named = match order.parts.toolchain.as_str() {
            "idf" => Some(ToolchainKind::Idf),
            "arduino" => Some(ToolchainKind::Arduino),
            "platformio" => Some(ToolchainKind::Platformio),
            _ => None,
        };
        let of_platformio = order.project.as_deref().is_some_and(platformio::is_at);
        match named {
            Some(ToolchainKind::Platformio) if !of_platformio => Err(no_platformio(order)),
            Some(kind) => Self::find(kind),
            None if order.parts.toolchain != "auto" => Ok(Self::Virtual(load_kit(assets)?)),
            None => {
                let found = kinds(order).iter().map(|kind| Self::find(*kind));
                match found.reduce(Result::or) {
                    Some(Ok(builder)) => Ok(builder),
                    // Nothing else understands such a project.
                    Some(Err(error)) if of_platformio => Err(error),
                    _ => Ok(Self::Virtual(load_kit(assets)?)),
                }
            }
        }
    }

    fn find(kind: ToolchainKind) -> Result<Self, UserError> {
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

/// The toolchains that fit what the order is about; a sketch may have to be made yet.
fn kinds(order: &Order) -> &'static [ToolchainKind] {
    match order.project.as_deref() {
        _ if order.team == "arduino" => &[ToolchainKind::Arduino],
        Some(project) => fitting(project),
        None => &[ToolchainKind::Idf],
    }
}

fn no_platformio(order: &Order) -> UserError {
    let folder = order.project.as_ref().map_or_else(
        || "no project folder is named".to_owned(),
        |folder| format!("there is no platformio.ini in {}", folder.display()),
    );
    UserError::new(
        "Cannot build with PlatformIO",
        folder,
        "Name the folder of a PlatformIO project with `--project DIR`.",
    )
}

impl Voice {
    fn into_provider(self, pacing: Pacing) -> Arc<dyn Provider> {
        match self {
            Self::Script(script) => Arc::new(Scripted::new(script, pacing)),
            Self::Model(model) => model,
        }
    }
}

/// What answers, and how it can be had again.
fn voice(world: &Machine, order: &Order) -> Result<(String, Voice), UserError> {
    let wanted = order.parts.provider.as_str();
    if let Some(name) = wanted.strip_prefix("script:") {
        let script = load_script(&world.assets, name)?;
        return Ok((wanted.to_owned(), Voice::Script(Arc::new(script))));
    }
    let wanted = wanted.strip_prefix("profile:");
    let (name, model) = match wanted.and_then(|wanted| wanted.split_once('/')) {
        Some((name, model)) => (name, Some(model)),
        None => (wanted.unwrap_or_default(), None),
    };
    let usual = models::usual(world);
    if wanted.is_none() && usual.is_none() {
        let (provider, script) = fitting_script(&world.assets, &order.task)?;
        return Ok((provider, Voice::Script(Arc::new(script))));
    }
    let panel = models::panel(world, name, model)?;
    let name = if name.is_empty() { usual.unwrap_or_default() } else { name.to_owned() };
    let provider = match model {
        Some(model) => format!("profile:{name}/{model}"),
        None => format!("profile:{name}"),
    };
    Ok((provider, Voice::Model(Arc::new(panel))))
}

/// A recording that ships with the program.
pub struct Recording {
    /// How to get it again.
    pub provider: String,
    /// What it is about.
    pub task: String,
    pub team: String,
    /// The project it begins with.
    pub starter: Option<String>,
}

/// The recording of a team; without a team, that of the demo.
///
/// # Errors
/// When a recording is wrong, which only a person's own copy can be, or the team has none.
pub fn recording(assets: &Assets, team: Option<&str>) -> Result<Recording, UserError> {
    let Some(team) = team else {
        return Ok(Recording::of(DEMO, &load_script(assets, DEMO)?));
    };
    let mut teams = Vec::new();
    for name in scripts(assets) {
        let script = load_script(assets, &name)?;
        if script.team() == team {
            return Ok(Recording::of(&name, &script));
        }
        teams.push(script.team().to_owned());
    }
    Err(UserError::new(
        format!("Cannot play the team `{team}`"),
        "a demo plays a recorded conversation, and this team has none",
        format!("Use one of: {}.", teams.join(", ")),
    ))
}

/// The recording that answers `task`, if there is one.
///
/// # Errors
/// When a recording is wrong.
pub fn recorded(assets: &Assets, task: &str) -> Result<Option<Recording>, UserError> {
    for name in scripts(assets) {
        let script = load_script(assets, &name)?;
        if is_same(task, script.task()) {
            return Ok(Some(Recording::of(&name, &script)));
        }
    }
    Ok(None)
}

impl Recording {
    fn of(name: &str, script: &Script) -> Self {
        Self {
            provider: format!("script:{name}"),
            task: script.task().to_owned(),
            team: script.team().to_owned(),
            starter: script.project().map(str::to_owned),
        }
    }
}

/// Names of the recordings that ship.
fn scripts(assets: &Assets) -> Vec<String> {
    let files = assets.list(SCRIPTS).into_iter();
    let name = |path: String| {
        let below = path.strip_prefix(SCRIPTS)?.trim_start_matches('/');
        below.strip_suffix("/script.toml").map(str::to_owned)
    };
    files.filter_map(name).collect()
}

/// Whether two tasks have the same words.
fn is_same(task: &str, other: &str) -> bool {
    let words = |text: &str| {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    words(task) == words(other)
}

/// The recording that answers `task`.
fn fitting_script(assets: &Assets, task: &str) -> Result<(String, Script), UserError> {
    let words = |text: &str| {
        let lower = text.to_lowercase();
        lower.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>()
    };
    let is_same = |other: &str| {
        let (mut a, mut b) = (words(task), words(other));
        a.retain(|word| !word.is_empty());
        b.retain(|word| !word.is_empty());
        a == b
    };
    let mut tasks = Vec::new();
    for path in assets.list(SCRIPTS) {
        let Some(name) = path
            .strip_prefix(SCRIPTS)
            .and_then(|path| path.trim_start_matches('/').strip_suffix("/script.toml"))
        else {
            continue;
        };
        let script = load_script(assets, name)?;
        if is_same(script.task()) {
            return Ok((format!("script:{name}"), script));
        }
        tasks.push(format!("“{}”", script.task()));
    }
    Err(UserError::new(
        "Cannot start: no model can do this task",
        format!(
            "no profile is configured, the environment holds no key, and recordings answer only {}",
            tasks.join(", ")
        ),
        "Set OPENAI_API_KEY, ANTHROPIC_API_KEY, AZURE_OPENAI_API_KEY, GITHUB_TOKEN or OLLAMA_HOST; \
         see `firmhand doctor`.",
    ))
}

/// The recording in a file, or the one of that name that ships with the program.
fn load_script(assets: &Assets, name: &str) -> Result<Script, UserError> {
    let file = Path::new(name);
    if file.is_absolute() {
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        let text = read_text(file)?;
        return Script::parse(name, &text, &|sibling| read_text(&folder.join(sibling)));
    }
    let folder = format!("{SCRIPTS}/{name}");
    let script = assets.text(&format!("{folder}/script.toml"))?;
    Script::parse(&script.origin.to_string(), &script.text, &|sibling| {
        Ok(assets.text(&format!("{folder}/{sibling}"))?.text.into_owned())
    })
}

fn read_text(path: &Path) -> Result<String, UserError> {
    files::read_text(path, files::SOURCE).map_err(|error| {
        UserError::new(
            format!("Cannot read {}", path.display()),
            error.to_string(),
            "Check that the file exists and is text.",
        )
    })
}

/// Reads the headers and the runtime of the virtual board.
///
/// # Errors
/// When a part of it is wrong, which only a person's own copy can be.
pub fn load_kit(assets: &Assets) -> Result<Kit, UserError> {
    let mut files: Vec<(String, Cow<'static, [u8]>)> = Vec::new();
    for path in assets.list(KIT) {
        let (content, _) = assets.bytes(&path)?;
        let below = PathBuf::from(&path);
        let below = below.strip_prefix(KIT).unwrap_or(&below).display().to_string();
        files.push((below, content));
    }
    Kit::new(files)
}
