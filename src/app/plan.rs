//! From what was asked for to what is run: every default and every conflict is decided here.
//!
//! Owns the decisions only. They need neither files nor the environment: what has to be looked up is
//! in `LaunchFacts`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::choice;
use super::launch_facts::LaunchFacts;
use super::launch_request::{LaunchRequest, ModelRequest, ToolchainChoice, Work};
use super::recordings::{Recording, Recordings};
use super::session_choices;
use crate::config::{Policy, Settings};
use crate::engine::{AttemptsUsedUp, Budgets, EngineLimits, Supervision, Team};
use crate::journal::LogLimits;
use crate::model::event::{SessionChoices, SessionStart};
use crate::model::{Budget, Document, Ground, UserError};
use crate::provider::Pacing;
use crate::toolchain::ToolchainKind;

/// What a session is made of, with nothing left open.
#[derive(Debug, Clone)]
pub struct LaunchPlan {
    /// The task in the person's words.
    pub task: String,
    /// The team; its file has been read.
    pub team: Arc<Team>,
    /// Where the project is.
    pub project: ProjectPlan,
    /// Project of `assets/projects` that an empty folder begins with.
    pub starter: Option<String>,
    /// What answers for the agents.
    pub model: ModelSource,
    /// What builds and flashes.
    pub toolchain: ToolchainPlan,
    /// How fast a recorded model types.
    pub pacing: Pacing,
    /// Where the model's answers are written down as a script.
    pub record: Option<PathBuf>,
    /// Documents that come with the task.
    pub documents: Vec<Document>,
    /// Bounds on the run.
    pub limits: LaunchLimits,
    /// Rules that decide for the person.
    pub policy: Policy,
    /// What the person has set for the session.
    pub choices: SessionChoices,
}

/// Where the project is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectPlan {
    /// In the folder of the session.
    InSession,
    /// A folder that is empty or not there: every file of it will pass the person.
    Begins(PathBuf),
    /// A folder that holds something.
    Existing(PathBuf),
}

impl ProjectPlan {
    /// The folder that the person named.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::InSession => None,
            Self::Begins(folder) | Self::Existing(folder) => Some(folder),
        }
    }
}

/// What answers for the agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSource {
    /// A recording: a file, or the name of one that ships with the program.
    Script(String),
    /// A profile, with another model of its service if one is named. An empty name: there is none.
    Profile { name: String, model: Option<String> },
}

impl ModelSource {
    /// As [`Display`](fmt::Display) writes it; `None` for everything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(name) = text.strip_prefix("script:") {
            return Some(Self::Script(name.to_owned()));
        }
        let profile = text.strip_prefix("profile:")?;
        Some(match profile.split_once('/') {
            Some((name, model)) => {
                Self::Profile { name: name.to_owned(), model: Some(model.to_owned()) }
            }
            None => Self::Profile { name: profile.to_owned(), model: None },
        })
    }

    /// With the default profile where none is named; without any profile, the recording that fits
    /// the task.
    fn resolve(asked: Option<Self>, task: &str, facts: &LaunchFacts) -> Result<Self, UserError> {
        let default = facts.default_profile.clone();
        match (asked, default) {
            (Some(Self::Profile { name, model }), default) if name.is_empty() => {
                Ok(Self::Profile { name: default.unwrap_or_default(), model })
            }
            (Some(asked), _) => Ok(asked),
            (None, Some(name)) => Ok(Self::Profile { name, model: None }),
            (None, None) => match facts.recordings.of_task(task) {
                Some(recording) => Ok(Self::Script(recording.name.clone())),
                None => Err(no_model(&facts.recordings)),
            },
        }
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script(name) => write!(f, "script:{name}"),
            Self::Profile { name, model: None } => write!(f, "profile:{name}"),
            Self::Profile { name, model: Some(model) } => write!(f, "profile:{name}/{model}"),
        }
    }
}

/// What builds and flashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolchainPlan {
    Virtual,
    /// The first of these that is installed.
    Installed(&'static [ToolchainKind]),
    /// The first of these that is installed, else the virtual board.
    InstalledOrVirtual(&'static [ToolchainKind]),
}

impl ToolchainPlan {
    fn resolve(
        choice: ToolchainChoice,
        team: &str,
        folder: Option<&Path>,
        facts: &LaunchFacts,
    ) -> Result<Self, UserError> {
        Ok(match choice {
            ToolchainChoice::Virtual => Self::Virtual,
            ToolchainChoice::Installed(ToolchainKind::Platformio) if !facts.is_platformio => {
                return Err(no_platformio(folder));
            }
            ToolchainChoice::Installed(ToolchainKind::Platformio) => {
                Self::Installed(&[ToolchainKind::Platformio])
            }
            ToolchainChoice::Installed(ToolchainKind::Idf) => {
                Self::Installed(&[ToolchainKind::Idf])
            }
            ToolchainChoice::Installed(ToolchainKind::Arduino) => {
                Self::Installed(&[ToolchainKind::Arduino])
            }
            ToolchainChoice::Auto => {
                // A sketch may have to be made yet.
                let kinds =
                    if team == "arduino" { &[ToolchainKind::Arduino] } else { facts.fitting };
                // Nothing else builds what is PlatformIO's.
                match facts.is_platformio {
                    true => Self::Installed(kinds),
                    false => Self::InstalledOrVirtual(kinds),
                }
            }
        })
    }
}

/// Bounds on a session.
#[derive(Debug, Clone)]
pub struct LaunchLimits {
    /// Of the run.
    pub engine: EngineLimits,
    /// Of each raw log.
    pub logs: LogLimits,
    /// Of a build, in seconds.
    pub build_seconds: u64,
    /// Seconds a board is listened to when an agent does not say.
    pub monitor_seconds: u32,
}

impl LaunchLimits {
    fn of(settings: &Settings, supervision: Supervision, used_up: AttemptsUsedUp) -> Self {
        let models = &settings.models;
        // A limit of the command line counts before the setting.
        let turns = models.session.value.turns.or(settings.limits.max_turns.value);
        let budgets = Budgets {
            turn: models.turn.value,
            phase: models.phase.value,
            session: Budget { turns, ..models.session.value },
        };
        let tool = settings.limits.tool_seconds.value;
        Self {
            engine: EngineLimits {
                max_attempts: settings.limits.max_attempts.value,
                used_up,
                tool: tool.map(|seconds| Duration::from_secs(u64::from(seconds))),
                budgets,
                supervision,
                ..EngineLimits::default()
            },
            logs: log_limits(settings),
            build_seconds: u64::from(settings.limits.build_seconds.value),
            monitor_seconds: settings.limits.monitor_seconds.value,
        }
    }
}

/// How much of each raw log the settings keep.
#[must_use]
pub fn log_limits(settings: &Settings) -> LogLimits {
    let keep = u64::from(settings.logs.keep_mib.value) << 20;
    LogLimits { keep, segment: (u64::from(settings.logs.segment_mib.value) << 20).min(keep / 2) }
}

/// Reads a team by its name.
pub type LoadTeam<'a> = &'a dyn Fn(&str) -> Result<Arc<Team>, UserError>;

/// What the kind of work decides unless the person says otherwise.
struct WorkDefaults {
    task: String,
    team: Option<String>,
    recording: Option<Recording>,
    starter: Option<String>,
    model: Option<ModelSource>,
    supervision: Supervision,
}

impl LaunchPlan {
    /// Decides what is left open, and checks that it fits together.
    ///
    /// # Errors
    /// When team and project do not fit, the demo has no such team, or there is no model.
    pub fn resolve(
        request: LaunchRequest,
        facts: LaunchFacts,
        settings: &Settings,
        load_team: LoadTeam<'_>,
    ) -> Result<Self, UserError> {
        let defaults = WorkDefaults::of(&request, &facts, load_team)?;
        let WorkDefaults { task, recording, .. } = defaults;
        let recorded_team = recording.as_ref().map(|recording| recording.team.clone());
        let name = request.team.or(defaults.team).or(recorded_team);
        let name = name.unwrap_or_else(|| {
            let project = request.project.as_deref().unwrap_or(Path::new(""));
            choice::team_for(&task, facts.ground, project).0.to_owned()
        });
        let team = load_team(&name)?;
        let starter = defaults.starter.or_else(|| {
            recording.filter(|recording| recording.team == name).and_then(|known| known.starter)
        });
        if starter.is_none() {
            choice::check(&team, facts.ground)?;
        }
        let asked = asked_model(request.model).or(defaults.model);
        let toolchain = request.toolchain.unwrap_or_else(|| usual_toolchain(&facts));
        let folder = request.project.as_deref();
        let toolchain = ToolchainPlan::resolve(toolchain, &name, folder, &facts)?;
        let supervision = request.supervision.unwrap_or(defaults.supervision);
        // Only this start is without a screen: the session may be opened again on one.
        let kept_supervision = match (request.supervision, &request.work) {
            (None, Work::Unattended(_)) => Supervision::Ask,
            _ => supervision,
        };
        // Where nobody can be asked, the run fails.
        let used_up = match request.work {
            Work::Unattended(_) => AttemptsUsedUp::Fail,
            Work::Demo | Work::New { .. } | Work::Edit(_) => AttemptsUsedUp::Ask,
        };
        Ok(Self {
            model: ModelSource::resolve(asked, &task, &facts)?,
            task,
            team,
            project: match request.project {
                None => ProjectPlan::InSession,
                Some(folder) if facts.is_untouched => ProjectPlan::Begins(folder),
                Some(folder) => ProjectPlan::Existing(folder),
            },
            starter,
            toolchain,
            pacing: request.pacing,
            record: request.record,
            documents: facts.documents,
            limits: LaunchLimits::of(settings, supervision, used_up),
            policy: settings.policy.clone(),
            choices: session_choices::of_start(settings, request.team_limits, kept_supervision),
        })
    }

    /// The plan of a session that goes on; `chosen` is the model that was chosen last in it.
    ///
    /// # Errors
    /// When its team no longer exists, or there is no model.
    pub fn of_session(
        session: &SessionStart,
        chosen: Option<&str>,
        facts: LaunchFacts,
        settings: &Settings,
        load_team: LoadTeam<'_>,
    ) -> Result<Self, UserError> {
        let project = PathBuf::from(&session.project);
        let asked = ModelSource::parse(chosen.unwrap_or(&session.parts.provider));
        let toolchain = ToolchainChoice::named(&session.parts.toolchain);
        let team = load_team(&session.team)?;
        Ok(Self {
            task: session.task.clone(),
            model: ModelSource::resolve(asked, &session.task, &facts)?,
            toolchain: ToolchainPlan::resolve(toolchain, &session.team, Some(&project), &facts)?,
            team,
            project: ProjectPlan::Existing(project),
            starter: None,
            pacing: Pacing::default(),
            record: None,
            documents: facts.documents,
            limits: LaunchLimits::of(
                settings,
                session_choices::supervision(&session.parts.choices),
                AttemptsUsedUp::Ask,
            ),
            policy: settings.policy.clone(),
            choices: session.parts.choices.clone(),
        })
    }
}

impl WorkDefaults {
    fn of(
        request: &LaunchRequest,
        facts: &LaunchFacts,
        load_team: LoadTeam<'_>,
    ) -> Result<Self, UserError> {
        let usual = |task: &str| Self {
            task: task.to_owned(),
            team: None,
            recording: facts.recordings.of_task(task).cloned(),
            starter: None,
            model: None,
            supervision: Supervision::Ask,
        };
        Ok(match &request.work {
            Work::Demo => {
                let script = facts.script.as_ref().filter(|script| !script.task.is_empty());
                let recording = match script {
                    Some(script) => script.clone(),
                    None => facts.recordings.of_team(request.team.as_deref())?.clone(),
                };
                // The plain demo shows its plan and goes on; one that is asked for by team waits.
                let is_named = request.team.is_some();
                let usual = usual(&recording.task);
                Self {
                    model: Some(ModelSource::Script(recording.name.clone())),
                    recording: Some(recording),
                    supervision: if is_named { Supervision::Ask } else { Supervision::Show },
                    ..usual
                }
            }
            Work::New { task, .. } => {
                let example = facts.example.as_ref();
                let own = task.clone().filter(|task| {
                    !example.is_some_and(|example| has_same_words(task, &example.task))
                });
                let task = own.or_else(|| example.map(|example| example.task.clone()));
                let task = task.unwrap_or_default();
                let starter = example.and_then(|example| example.project.clone());
                Self {
                    team: example.map(|example| example.team.clone()),
                    starter: starter.filter(|_| request.project.is_none()),
                    ..usual(&task)
                }
            }
            Work::Edit(task) => {
                if facts.ground == Ground::Empty {
                    choice::check(&*load_team("edit-existing")?, facts.ground)?;
                }
                Self { team: Some(choice::usual_team(facts.ground).to_owned()), ..usual(task) }
            }
            Work::Unattended(task) => Self { supervision: Supervision::Show, ..usual(task) },
        })
    }
}

fn asked_model(request: ModelRequest) -> Option<ModelSource> {
    match request {
        ModelRequest { script: Some(file), .. } => {
            Some(ModelSource::Script(file.display().to_string()))
        }
        ModelRequest { profile: None, model: None, .. } => None,
        ModelRequest { profile, model, .. } => {
            Some(ModelSource::Profile { name: profile.unwrap_or_default(), model })
        }
    }
}

/// The virtual board builds projects of ESP-IDF and sketches, and nothing of PlatformIO's alone.
fn usual_toolchain(facts: &LaunchFacts) -> ToolchainChoice {
    match facts.fitting {
        [ToolchainKind::Platformio] => ToolchainChoice::Installed(ToolchainKind::Platformio),
        _ => ToolchainChoice::Virtual,
    }
}

/// Whether two tasks are the same but for blanks and line ends.
fn has_same_words(task: &str, other: &str) -> bool {
    task.split_whitespace().eq(other.split_whitespace())
}

/// Recorded tasks that are named when no model answers.
const NAMED: usize = 3;

/// Nothing answers for the agents. What can be done about it comes before what is long.
pub(super) fn no_model(recordings: &Recordings) -> UserError {
    no_model_for(recordings.all().collect(), None)
}

/// As [`no_model`], where that team would work on: first the tasks that were recorded with it, of
/// those that can be played here.
pub(super) fn no_model_for(mut playable: Vec<&Recording>, team: Option<&str>) -> UserError {
    let continues = |it: &Recording| team == Some(it.team.as_str());
    playable.sort_by_key(|it| (!continues(it), it.task.len()));
    let tasks = playable.into_iter().map(|recording| recording.task.as_str());
    let tasks: Vec<String> = tasks.take(NAMED).map(|task| format!("“{task}”")).collect();
    let recorded = match tasks.is_empty() {
        true => "start a session of its own with a recorded task: `firmhand examples` lists them"
            .to_owned(),
        false => {
            let tasks = tasks.join(", ");
            format!("use a recorded task such as {tasks}; `firmhand examples` lists more")
        }
    };
    UserError::new(
        "Cannot start: no model can do this task",
        "no profile is configured, the environment holds no key, and no recording answers it",
        format!(
            "Set OPENAI_API_KEY, ANTHROPIC_API_KEY, AZURE_OPENAI_API_KEY, GITHUB_TOKEN or \
             OLLAMA_HOST; see `firmhand doctor`. Without a model, {recorded}."
        ),
    )
}

fn no_platformio(folder: Option<&Path>) -> UserError {
    let why = folder.map_or_else(
        || "no project folder is named".to_owned(),
        |folder| format!("there is no platformio.ini in {}", folder.display()),
    );
    UserError::new(
        "Cannot build with PlatformIO",
        why,
        "Name the folder of a PlatformIO project with `--project DIR`.",
    )
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
