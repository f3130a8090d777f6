//! Builds a session from its plan: toolchain, session folder, gate, tools, engine.
//!
//! The one place that knows every part. Owns the order in which they are made, so that whatever
//! is wrong is said before a session exists. Decides nothing; that is done in `plan`.

use std::path::Path;
use std::sync::Arc;

use super::choice;
use super::documentation;
use super::launch_facts::LaunchFacts;
use super::launch_request::{LaunchRequest, ResumeRequest};
use super::learned;
use super::leftovers::{clear_up, tell_all};
use super::machine::{Machine, now};
use super::monitor;
use super::next_runs::SessionRuns;
use super::parts::{FoundParts, RunParts};
use super::past::Past;
use super::plan::{LaunchLimits, LaunchPlan, ProjectPlan, log_limits};
use super::project_folder::{begin_with, project_folder};
use super::session_choices;
use super::shipped::{load_adapters, load_limited_team, load_names, load_team};
use super::trust::Trust;
use crate::device::{Programs, SerialHub};
use crate::engine::{Engine, EngineHandle, EngineSetup, NextRuns, Recorder, toolbox};
use crate::gate::{ApprovalQueue, Gate, GateParts, NextNumbers};
use crate::journal::SessionDir;
use crate::model::event::SessionStart;
use crate::model::{Event, Examiner, Ledger, SessionEvent, TeamOffers, UserError};
use crate::sandbox::Runner;
use crate::toolchain::BuildSandbox;
use crate::toolchain::build_sandbox::without_walls;
use crate::toolchain::{StopSwitch, Toolchain};
use crate::tools::{self, Registry, ToolContext};
use crate::workspace::ProjectDir;

/// A session whose engine runs.
pub struct Running {
    pub dir: SessionDir,
    pub recorder: Arc<Recorder>,
    pub engine: EngineHandle,
    /// Where decisions go; kept, because a queue that is dropped denies everything.
    pub queue: ApprovalQueue,
    /// Looks at what the person would write instead of what was proposed.
    pub examiner: Arc<dyn Examiner>,
    /// Teams that the next run could have.
    pub teams: Arc<dyn TeamOffers>,
    /// Board and open ports; kept, so that the board runs on and is listened to after the run.
    pub services: RunServices,
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
        self.queue.detach();
        self.engine.detach().await;
        drop(self.services);
    }
}

/// Decides what a request comes to on this machine.
///
/// # Errors
/// When it does not fit together; see [`LaunchPlan::resolve`].
pub fn plan(machine: &Machine, request: LaunchRequest) -> Result<LaunchPlan, UserError> {
    let facts = LaunchFacts::of_request(machine, &request)?;
    let limits = request.team_limits.clone();
    let load = |name: &str| load_limited_team(&machine.assets, name, &limits);
    LaunchPlan::resolve(request, facts, &machine.settings, &load)
}

/// Begins a new session. Must be called on a runtime.
///
/// # Errors
/// When a part cannot be made; names the part and what to do.
pub fn start(machine: &Machine, plan: LaunchPlan) -> Result<Running, UserError> {
    // Both fail before a folder is made: a plan that cannot be met leaves nothing behind.
    let found = FoundParts::find(machine, &plan, &Vec::new())?;
    check_trust(machine, &plan, &found)?;
    let team = Arc::clone(&plan.team).briefed(&machine.assets, &found.names.toolchain)?;
    let team = learned::with_policy(&machine.assets, &machine.dirs.data, team)?;
    let dir = SessionDir::create(&machine.dirs.data, &plan.task, now())?;
    let project = project_folder(&dir, plan.project.folder())?;
    // Every file of a project that begins here passes the person. Should it not be noted, the person
    // is asked to trust it when the session is resumed.
    if matches!(plan.project, ProjectPlan::Begins(_)) {
        let _ = Trust::of(&machine.dirs.data).add(project.root());
    }
    if let Some(starter) = &plan.starter {
        begin_with(&machine.assets, starter, &project)?;
    }
    let names = found.names.clone();
    let parts = found.make(&dir, builds(machine, &project)?);
    let session = SessionStart {
        id: dir.id().clone(),
        task: plan.task.clone(),
        team: plan.team.name.clone(),
        project: project.root().display().to_string(),
        model: parts.provider.label(),
        toolchain: parts.toolchain.label(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        parts: names,
    };
    let recorder = Recorder::create(dir.clone())?;
    let recorder = recorder.keeping(plan.limits.logs).guarded_by(machine.profiles.secrets());
    let numbers = NextNumbers::after([]);
    let recorder = Arc::new(recorder);
    launch(
        machine,
        LaunchPlan { team, ..plan },
        Opened { dir, session, project: Arc::new(project), parts, recorder, numbers },
        Engine::start,
    )
}

/// Goes on with a session, and writes all of its model's answers down if a file is named. Must be
/// called on a runtime.
///
/// # Errors
/// When its project is gone, it is in use, cannot be read, or a part cannot be made again.
pub fn resume(
    machine: &Machine,
    dir: SessionDir,
    request: ResumeRequest,
) -> Result<Running, UserError> {
    let (recorder, reopened) = Recorder::reopen(dir.clone())?;
    let recorder = recorder.keeping(log_limits(&machine.settings));
    let recorder = Arc::new(recorder.guarded_by(machine.profiles.secrets()));
    let past = Past::of(&dir, &recorder)?;
    let unread = past.unread_lines();
    let Some(mut session) = past.session.clone() else {
        return Err(no_start(&dir, unread));
    };
    if session.team == monitor::TEAM {
        let why = "it only listened to a port; no team has worked in it";
        let fix = format!("Look at it with `firmhand replay {}`.", dir.id());
        return Err(cannot_resume(&dir, why, fix));
    }
    let project = Path::new(&session.project);
    if !project.is_dir() {
        let why = format!("its project folder {} is gone", project.display());
        let fix = "Restore the folder, or look at the session with `firmhand replay";
        return Err(cannot_resume(&dir, why, format!("{fix} {}`.", dir.id())));
    }
    let machine = &session_choices::machine_for(machine, &past.choices);
    let run = past.run_to_go_on(&session);
    let limits = (run.team.as_str(), &request.team_limits);
    session.parts.choices =
        session_choices::of_resume(&machine.settings, &past.choices, limits, &session.team);
    let plan = plan_of_past(machine, &past, &session, request)?;
    let found = FoundParts::find(machine, &plan, &dir)?;
    let team = Arc::clone(&plan.team).briefed(&machine.assets, &found.names.toolchain)?;
    // A run that has chosen goes on with the table of its journal, whatever became of the file.
    let team = match learned::with_policy(&machine.assets, &machine.dirs.data, Arc::clone(&team)) {
        Err(_) if past.has_policy => team,
        found => found?,
    };
    check_trust(machine, &plan, &found)?;
    let project = ProjectDir::open(project)?;
    let builds = builds(machine, &project)?;
    let opened = Opened {
        project: Arc::new(project),
        parts: found.make(&dir, builds),
        session: *session,
        recorder,
        numbers: past.numbers,
        dir: dir.clone(),
    };
    let plan = LaunchPlan { team, ..plan };
    let running = launch(machine, plan, opened, |setup| Engine::resume(setup, &dir))?;
    let damage = reopened.torn.map(|kept| {
        UserError::new(
            "The journal of this session was damaged at the end",
            format!("its last line is not whole; it is kept in {}", kept.display()),
            "Look at the last changes before you go on.",
        )
    });
    tell_all(running.recorder.as_ref(), damage.into_iter().chain(unread).collect())?;
    Ok(running)
}

/// Decides what a session that goes on comes to on this machine.
fn plan_of_past(
    machine: &Machine,
    past: &Past,
    session: &SessionStart,
    request: ResumeRequest,
) -> Result<LaunchPlan, UserError> {
    let facts = LaunchFacts::of_project(machine, Some(Path::new(&session.project)))?;
    let usual = choice::usual_team(facts.ground);
    let has_new_limits = !request.team_limits.is_empty();
    let load = |name: &str| {
        let limits = session.parts.choices.limits_of(name, &session.team);
        match load_limited_team(&machine.assets, name, &limits) {
            // The next run of a session that has ended is given a team that fits.
            Err(_) if past.has_ended && !has_new_limits => load_team(&machine.assets, usual),
            loaded => loaded,
        }
    };
    let (run, provider) = (past.run_to_go_on(session), past.provider.as_deref());
    let mut plan = LaunchPlan::of_session(&run, provider, facts, &machine.settings, &load)?;
    (plan.pacing, plan.record) = (request.pacing, request.record);
    // What was recorded counts before the configuration, so that more that was allowed stays allowed.
    let session = &mut plan.limits.engine.budgets.session;
    *session = request.budget.or(past.budget).or(*session);
    Ok(plan)
}

fn no_start(dir: &SessionDir, unread: Option<UserError>) -> UserError {
    let why = "its journal does not begin with the start of a session";
    let why = unread.map_or(why.to_owned(), |unread| format!("{why}: {}", unread.why));
    cannot_resume(dir, why, "Start a new session with `firmhand new`.")
}

fn cannot_resume(dir: &SessionDir, why: impl Into<String>, fix: impl Into<String>) -> UserError {
    UserError::new(format!("Cannot resume {}", dir.id()), why, fix)
}

/// Checks that the project's own scripts may run, if a build would run them.
fn check_trust(machine: &Machine, plan: &LaunchPlan, found: &FoundParts) -> Result<(), UserError> {
    match &plan.project {
        ProjectPlan::Existing(folder) if found.runs_project_scripts() => {
            Trust::of(&machine.dirs.data).check(folder)
        }
        ProjectPlan::Existing(_) | ProjectPlan::Begins(_) | ProjectPlan::InSession => Ok(()),
    }
}

/// Runs what agents wrote for that project, and its builds, with what the person has said about it.
fn builds(machine: &Machine, project: &ProjectDir) -> Result<BuildSandbox, UserError> {
    let consent = Trust::of(&machine.dirs.data).consent(project.root())?;
    Ok(machine.build_sandbox(machine.runner.with_consent(consent)))
}

/// Records how strong the sandbox is. It is tried when it is first asked for, which takes a moment.
fn tell_sandbox(recorder: &Arc<Recorder>, runner: Runner, builds: Option<BuildSandbox>) {
    let recorder = Arc::clone(recorder);
    tokio::task::spawn_blocking(move || {
        let found = runner.protection();
        let missing = found.missing.iter().map(|one| one.what.clone());
        let missing = missing.chain(builds.as_ref().and_then(without_walls)).collect();
        let event = SessionEvent::Sandboxed { level: found.level, missing };
        // A journal that cannot be written ends the run elsewhere.
        let _ = recorder.record(Event::Session(event));
    });
}

fn answer_limits(limits: &LaunchLimits) -> tools::AnswerLimits {
    let LaunchLimits { build_seconds, monitor_seconds, .. } = *limits;
    tools::AnswerLimits { build_seconds, monitor_seconds, ..tools::AnswerLimits::default() }
}

/// What is open before the parts are put together.
struct Opened {
    dir: SessionDir,
    session: SessionStart,
    project: Arc<ProjectDir>,
    parts: RunParts,
    recorder: Arc<Recorder>,
    numbers: NextNumbers,
}

/// Puts the parts together and starts the engine.
fn launch(
    machine: &Machine,
    plan: LaunchPlan,
    opened: Opened,
    begin: impl FnOnce(EngineSetup) -> Result<EngineHandle, UserError>,
) -> Result<Running, UserError> {
    let Opened { dir, session, project, parts, recorder, numbers } = opened;
    let notices = clear_up(&machine.dirs.data, &dir, &project);
    let (stop, queue) = (StopSwitch::default(), ApprovalQueue::default());
    let ledger: Arc<dyn Ledger> = Arc::clone(&recorder) as _;
    let (hub, adapters) = (SerialHub::new(Arc::clone(&ledger)), load_adapters(&machine.assets)?);
    let serial = Arc::new(hub.knowing(adapters, Programs::of_project(project.root())));
    let names = Arc::new(load_names(&machine.assets, parts.toolchain.as_ref())?);
    let knowledge = documentation::for_session(machine, project.root())?;
    let gate = Arc::new(Gate::new(
        GateParts {
            ledger: Arc::clone(&ledger),
            blobs: Arc::new(recorder.blobs().clone()),
            project_dir: Arc::clone(&project),
            toolchain: Arc::clone(&parts.toolchain),
            serial: Arc::clone(&serial),
            policy: Arc::new(plan.policy),
            names: Some(Arc::clone(&names)),
            knowledge: Some(Arc::clone(&knowledge)),
            cancel: stop.clone(),
        },
        &queue,
        numbers,
    ));
    gate.sandboxed_by(parts.runner.clone());
    let examiner: Arc<dyn Examiner> = Arc::new(gate.examiner());
    let context = ToolContext {
        project_dir: Arc::clone(&project),
        ledger: Arc::clone(&ledger),
        state: recorder.state(),
        knowledge,
        names,
        assets: machine.assets.clone(),
        toolchain: Arc::clone(&parts.toolchain),
        runner: parts.runner.clone(),
        contents: Some(Arc::new(recorder.blobs().clone())),
        serial: Arc::clone(&serial),
        limits: answer_limits(&plan.limits),
        cancel: stop.clone(),
    };
    let runs = SessionRuns::new(machine, &project, &session, (&parts.toolchain, plan.pacing));
    let setup = EngineSetup {
        session,
        documents: plan.documents,
        team: runs.for_target(plan.team),
        ledger,
        gate,
        desk: queue.clone(),
        tools: toolbox(&Registry::new(&context)),
        state: recorder.state(),
        provider: parts.provider,
        project,
        limits: plan.limits.engine,
        next_runs: Arc::clone(&runs) as Arc<dyn NextRuns>,
    };
    recorder.spawn_ticks();
    let engine = begin(setup)?;
    tell_all(recorder.as_ref(), notices)?;
    tell_sandbox(&recorder, parts.runner, parts.builds);
    let services = RunServices { _toolchain: parts.toolchain, serial };
    Ok(Running { dir, recorder, engine, queue, examiner, services, teams: runs })
}
