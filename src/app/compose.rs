//! Puts a run together: settings, team, model, toolchain, session folder, gate, tools, engine.
//!
//! The one place that knows every part. Owns the order in which they are made, so that whatever
//! is wrong with the wish is said before a session exists.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio_util::sync::CancellationToken;

use super::keyring::Keyring;
use super::leftovers::{clear_up, tell_all};
use super::parts::{RunParts, RunRequest};
use super::past::Past;
use super::project_folder::{begin_with, check_trust, project_folder};
use super::trust::{Trust, is_untouched};
use crate::config::{Assets, Dirs, Settings};
use crate::device::{Adapters, Programs, SerialHub, adapters};
use crate::engine::{
    Budgets, Engine, EngineHandle, EngineLimits, EngineSetup, Recorder, Supervision, Team, toolbox,
};
use crate::gate::{ApprovalQueue, Gate, GateParts, NextNumbers};
use crate::journal::{LogLimits, SessionDir};
use crate::knowledge::{Knowledge, NameList};
use crate::model::event::{SessionParts, SessionStart};
use crate::model::{Document, Examiner, Ledger, Timestamp, ToolName, UserError};
use crate::provider::Pacing;
use crate::text::secrets::Secrets;
use crate::toolchain::Toolchain;
use crate::tools::{self, Registry, ToolContext};
use crate::workspace::Sandbox;

/// What a person wants to have run.
#[derive(Debug, Clone)]
pub struct Order {
    /// The task in the person's words.
    pub task: String,
    /// Name of the team.
    pub team: String,
    /// Folder of the project; `None`: one inside the session's own folder.
    pub project: Option<PathBuf>,
    /// Model and toolchain.
    pub parts: SessionParts,
    /// How fast a recorded model types.
    pub pacing: Pacing,
    /// Where the model's answers are written down as a script.
    pub record: Option<PathBuf>,
    /// Whether plans and files for the context wait for the person.
    pub supervision: Supervision,
    /// Documents that come with the task.
    pub documents: Vec<Document>,
    /// Project of `assets/projects` that an empty folder begins with.
    pub starter: Option<String>,
}

/// What every run on this machine shares.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Where settings and sessions are.
    pub dirs: Dirs,
    /// Shipped data and the person's own.
    pub assets: Assets,
    /// Settings in force.
    pub settings: Settings,
    /// Keys of the desktop's keyring.
    pub keyring: Keyring,
    /// What must never be repeated: keys, passwords, values of headers.
    pub secrets: Secrets,
}

/// A session whose engine runs.
pub struct Running {
    /// Its folder.
    pub dir: SessionDir,
    /// Its writer.
    pub recorder: Arc<Recorder>,
    /// Its engine.
    pub engine: EngineHandle,
    /// Where decisions go; kept, because a desk that is dropped denies everything.
    pub desk: ApprovalQueue,
    /// Looks at what the person would write instead of what was proposed.
    pub examiner: Arc<dyn Examiner>,
    /// Board and open ports; kept, so that the board runs on and is listened to after the run.
    pub bench: RunServices,
}

/// What goes on when the run is over, as long as somebody looks.
pub struct RunServices {
    _toolchain: Arc<dyn Toolchain>,
    serial: Arc<SerialHub>,
}

impl RunServices {
    /// The ports that are listened to.
    #[must_use]
    pub fn serial(&self) -> Arc<SerialHub> {
        Arc::clone(&self.serial)
    }
}

impl Running {
    /// Leaves the run as it stands: what waits goes on waiting in the journal.
    pub async fn leave(self) {
        self.desk.detach();
        self.engine.detach().await;
        drop(self.bench);
    }
}

/// Begins a new session. Must be called on a runtime.
///
/// # Errors
/// When a part cannot be made; names the part and what to do.
pub fn start(world: &Machine, order: Order) -> Result<Running, UserError> {
    let team = load_team(world, &order.team)?;
    let now = Timestamp(now_millis());
    // Both fail before a folder is made: a wish that cannot be met leaves nothing behind.
    let wanted = RunRequest::check(world, &order, &Vec::new())?;
    let team = team.briefed(&world.assets, &wanted.parts.toolchain)?;
    let trust = Trust::of(&world.dirs.data);
    let begins_here = order.project.as_deref().is_some_and(is_untouched);
    if !begins_here {
        check_trust(&trust, &wanted, order.project.as_deref())?;
    }
    let dir = SessionDir::create(&world.dirs.data, &order.task, now)?;
    let project = project_folder(&dir, order.project.as_deref())?;
    // Every file of a project that begins here passes the person. Should it not be noted, the person
    // is asked to trust it when the session is taken up again.
    if begins_here {
        let _ = trust.add(project.root());
    }
    if let Some(starter) = &order.starter {
        begin_with(&world.assets, starter, &project)?;
    }
    let reopen = wanted.parts.clone();
    let parts = wanted.make(&dir);
    let session = SessionStart {
        id: dir.id().clone(),
        task: order.task,
        team: order.team,
        project: project.root().display().to_string(),
        model: parts.provider.label(),
        toolchain: parts.toolchain.label(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        parts: reopen,
    };
    let left = clear_up(&world.dirs.data, &dir, &project);
    let recorder = Recorder::create(dir.clone())?.keeping(log_limits(&world.settings));
    let recorder = Arc::new(recorder.guarded_by(&world.secrets));
    let desk = ApprovalQueue::default();
    let (setup, examiner, bench) = assemble(
        world,
        Assembly {
            session,
            team,
            parts,
            project: Arc::new(project),
            recorder: Arc::clone(&recorder),
            desk: desk.clone(),
            numbers: NextNumbers::after([]),
            supervision: order.supervision,
            documents: order.documents,
        },
    )?;
    recorder.spawn_ticks();
    let engine = Engine::start(setup)?;
    tell_all(recorder.as_ref(), left)?;
    Ok(Running { dir, recorder, engine, desk, examiner, bench })
}

/// Goes on with a session, and writes all of its model's answers down if a file is named. Must be
/// called on a runtime.
///
/// # Errors
/// When it has ended, is in use, cannot be read, or a part cannot be made again.
pub fn resume(
    world: &Machine,
    dir: SessionDir,
    pacing: Pacing,
    record: Option<PathBuf>,
) -> Result<Running, UserError> {
    let (recorder, _) = Recorder::reopen(dir.clone())?;
    let recorder = recorder.keeping(log_limits(&world.settings)).guarded_by(&world.secrets);
    let recorder = Arc::new(recorder);
    let past = Past::of(&dir, &recorder)?;
    let Some(session) = past.session else {
        return Err(UserError::new(
            format!("Cannot resume {}", dir.id()),
            "its journal does not begin with the start of a session",
            "Start a new session with `firmhand new`.",
        ));
    };
    let order = Order {
        task: session.task.clone(),
        team: session.team.clone(),
        project: Some(PathBuf::from(&session.project)),
        parts: SessionParts {
            provider: past.provider.unwrap_or_else(|| session.parts.provider.clone()),
            ..session.parts.clone()
        },
        pacing,
        record,
        supervision: Supervision::Ask,
        documents: Vec::new(),
        starter: None,
    };
    let team = load_team(world, &order.team)?;
    let wanted = RunRequest::check(world, &order, &dir)?;
    let team = team.briefed(&world.assets, &wanted.parts.toolchain)?;
    check_trust(&Trust::of(&world.dirs.data), &wanted, order.project.as_deref())?;
    let parts = wanted.make(&dir);
    let project = Sandbox::open(Path::new(&session.project))?;
    let left = clear_up(&world.dirs.data, &dir, &project);
    let desk = ApprovalQueue::default();
    let (setup, examiner, bench) = assemble(
        world,
        Assembly {
            session: *session,
            team,
            parts,
            project: Arc::new(project),
            recorder: Arc::clone(&recorder),
            desk: desk.clone(),
            numbers: past.numbers,
            supervision: order.supervision,
            documents: order.documents,
        },
    )?;
    recorder.spawn_ticks();
    let engine = Engine::resume(setup, &dir)?;
    tell_all(recorder.as_ref(), left)?;
    Ok(Running { dir, recorder, engine, desk, examiner, bench })
}

struct Assembly {
    session: SessionStart,
    team: Arc<Team>,
    parts: RunParts,
    project: Arc<Sandbox>,
    recorder: Arc<Recorder>,
    desk: ApprovalQueue,
    numbers: NextNumbers,
    supervision: Supervision,
    documents: Vec<Document>,
}

fn assemble(
    world: &Machine,
    assembly: Assembly,
) -> Result<(EngineSetup, Arc<dyn Examiner>, RunServices), UserError> {
    let Assembly { session, team, parts, project, recorder, desk, numbers, supervision, documents } =
        assembly;
    let stop = CancellationToken::new();
    let ledger: Arc<dyn Ledger> = Arc::clone(&recorder) as Arc<dyn Ledger>;
    let limits = &world.settings.limits;
    let programs = Programs::of_project(project.root());
    let hub = SerialHub::new(Arc::clone(&ledger));
    let serial = Arc::new(hub.knowing(load_adapters(&world.assets)?, programs));
    let names = Arc::new(load_names(&world.assets, parts.toolchain.as_ref())?);
    let gate = Arc::new(Gate::new(
        GateParts {
            ledger: Arc::clone(&ledger),
            blobs: Arc::new(recorder.blobs().clone()),
            sandbox: Arc::clone(&project),
            toolchain: Arc::clone(&parts.toolchain),
            serial: Arc::clone(&serial),
            policy: Arc::new(world.settings.policy.clone()),
            names: Some(Arc::clone(&names)),
            cancel: stop.clone(),
        },
        &desk,
        numbers,
    ));
    let examiner: Arc<dyn Examiner> = Arc::new(gate.examiner());
    let context = ToolContext {
        sandbox: Arc::clone(&project),
        ledger: Arc::clone(&ledger),
        state: recorder.state(),
        knowledge: Arc::new(load_knowledge(&world.assets)?),
        names,
        assets: world.assets.clone(),
        toolchain: Arc::clone(&parts.toolchain),
        serial: Arc::clone(&serial),
        limits: tools::AnswerLimits {
            build_seconds: u64::from(limits.build_seconds.value),
            ..tools::AnswerLimits::default()
        },
        cancel: stop.clone(),
    };
    let bench = RunServices { _toolchain: Arc::clone(&parts.toolchain), serial };
    let setup = EngineSetup {
        session,
        documents,
        team,
        ledger,
        gate,
        desk,
        tools: toolbox(&Registry::new(&context)),
        state: recorder.state(),
        provider: parts.provider,
        project,
        stop,
        limits: EngineLimits { supervision, ..limits_of(&world.settings) },
    };
    Ok((setup, examiner, bench))
}

/// How much of each raw log the settings keep.
pub(super) fn log_limits(settings: &Settings) -> LogLimits {
    let keep = u64::from(settings.logs.keep_mib.value) << 20;
    LogLimits { keep, segment: (u64::from(settings.logs.segment_mib.value) << 20).min(keep / 2) }
}

/// The bounds of a run that the settings give.
fn limits_of(settings: &Settings) -> EngineLimits {
    let models = &settings.models;
    EngineLimits {
        max_attempts: settings.limits.max_attempts.value,
        budgets: Budgets {
            turn: models.turn.value,
            phase: models.phase.value,
            session: models.session.value,
        },
        ..EngineLimits::default()
    }
}

/// A team by its name, checked against the tools that there are.
///
/// # Errors
/// When there is none of that name, or its files are wrong; says file and line.
pub fn load_team(world: &Machine, name: &str) -> Result<Arc<Team>, UserError> {
    Team::load(&world.assets, name, &|tool: &ToolName| tools::known(tool))
}

/// The names of the framework that is built with, else those of the shipped list.
///
/// # Errors
/// When the list is wrong, which only a person's own copy of it can be.
pub fn load_names(assets: &Assets, toolchain: &dyn Toolchain) -> Result<NameList, UserError> {
    if let Some(text) = toolchain.taken_names()
        && let Ok(list) = NameList::parse("the installed framework", &text)
    {
        return Ok(list);
    }
    let file = assets.text("assets/names/esp-idf.txt")?;
    NameList::parse(&file.origin.to_string(), &file.text)
}

/// Reads the table of USB adapters.
///
/// # Errors
/// When it is wrong, which only a person's own copy of it can be.
pub fn load_adapters(assets: &Assets) -> Result<Adapters, UserError> {
    let file = assets.text(adapters::FILE)?;
    Adapters::parse(&file.origin.to_string(), &file.text)
}

/// Reads what `retrieve_docs` searches.
///
/// # Errors
/// When a file of it is wrong, which only a person's own copy can be.
pub fn load_knowledge(assets: &Assets) -> Result<Knowledge, UserError> {
    let mut files = Vec::new();
    for path in assets.list("assets/knowledge") {
        let file = assets.text(&path)?;
        files.push((file.origin.to_string(), file.text));
    }
    Knowledge::new(files.iter().map(|(origin, text)| (origin.as_str(), text.as_ref())))
}

/// The time now, in milliseconds since 1970.
#[must_use]
pub fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
