//! The full-screen modes: a live run, a resumed one, a replay.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

use super::{Face, lines, report};
use crate::app::compose::{self, Machine, Order, Running};
use crate::app::copies::Chores;
use crate::app::event_loop::{Left, Session};
use crate::app::history::InputHistory;
use crate::app::memory::ScreenMemory;
use crate::app::models;
use crate::app::monitor::{self, MonitorOptions};
use crate::app::serial_commands;
use crate::app::terminal::{self, Screen, Uses};
use crate::app::themes::Themes;
use crate::app::{Feed, Live, Timeline};
use crate::config::Origin;
use crate::engine::BreakOff;
use crate::journal::{JournalEvents, SessionDir, list_sessions, summary};
use crate::model::{Examiner, FileSource, Intent, Ledger, SerialCommand, UserError};
use crate::provider::Pacing;
use crate::text::esp_log::TagFilter;
use crate::ui::layout::PaneId;
use crate::ui::{Arrangement, Depth, Keymap, Mode, ModelOffer, ThemeState, Ui, UiSetup};
use crate::view::{RunState, SessionView};
use crate::workspace::Sandbox;

/// How long a run that was told to stop may take to record its end.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// Begins a session and shows it.
///
/// # Errors
/// When there is no terminal, or the session cannot be begun.
pub(super) fn live(world: &Machine, order: Order, face: Face) -> Result<ExitCode, UserError> {
    let stage = ScreenSetup::set(world, face)?;
    let engine = engine_runtime()?;
    let running = {
        let _on = engine.enter();
        compose::start(world, order)?
    };
    supervise(world, &engine, running, stage)
}

/// How a session is taken up again.
pub(super) struct ResumeAs {
    /// How fast a recorded model types.
    pub pacing: Pacing,
    /// Where the model's answers are written down.
    pub record: Option<PathBuf>,
}

/// Takes a session up again and shows it.
///
/// # Errors
/// When there is no terminal, no such session, or it cannot go on.
pub(super) fn resume(
    world: &Machine,
    dir: SessionDir,
    args: ResumeAs,
    face: Face,
) -> Result<ExitCode, UserError> {
    let stage = ScreenSetup::set(world, face)?;
    let engine = engine_runtime()?;
    let running = {
        let _on = engine.enter();
        compose::resume(world, dir, args.pacing, args.record)?
    };
    supervise(world, &engine, running, stage)
}

/// Shows a saved session; nothing is run.
///
/// # Errors
/// When there is no terminal, no such session, or it cannot be read.
pub(super) fn replay(world: &Machine, dir: &SessionDir, face: Face) -> Result<ExitCode, UserError> {
    if face == Face::Lines {
        return lines::replay(dir);
    }
    let stage = ScreenSetup::of(world)?;
    let mut feed = Feed::Replay(Box::new(Timeline::open(dir)?));
    let project = project_of(dir).unwrap_or_else(|| dir.project());
    let memory = ScreenMemory::of(&world.dirs.data, &project);
    let left = show(world, stage, dir, &memory, (&mut feed, Wishes::default()))?;
    Ok(exit_code(left))
}

/// What the screen needs, found before a session is begun: a wish that cannot be met leaves nothing
/// behind.
struct ScreenSetup {
    keymap: Keymap,
    themes: Themes,
}

impl ScreenSetup {
    /// `None`: there is no screen, but lines.
    fn set(world: &Machine, face: Face) -> Result<Option<Self>, UserError> {
        match face {
            Face::Screen => Self::of(world).map(Some),
            Face::Lines => lines::require().map(|()| None),
        }
    }

    fn of(world: &Machine) -> Result<Self, UserError> {
        terminal::require()?;
        let keymap = Keymap::load(&world.assets, &world.settings.keymap.value)?;
        let depth = Depth::detect(|name| std::env::var(name).ok());
        let themes = Themes::new(world.assets.clone(), &world.dirs.config, depth);
        themes.load(&world.settings.theme.value)?;
        Ok(Self { keymap, themes })
    }
}

/// Shows one serial port on the full screen, without a team.
///
/// # Errors
/// When there is no terminal, or the port cannot be opened.
pub fn monitor(
    world: &Machine,
    wish: MonitorOptions,
    filter: TagFilter,
) -> Result<ExitCode, UserError> {
    let stage = ScreenSetup::of(world)?;
    let engine = engine_runtime()?;
    let project = wish.project.clone();
    let monitor = engine.block_on(monitor::start(world, wish))?;
    let dir = monitor.dir.clone();
    let mut feed = Feed::Live(Box::new(Live::open(&dir, monitor.recorder.subscribe())?));
    let memory = ScreenMemory::of(&world.dirs.data, &project);
    let serial = {
        let _on = engine.enter();
        let ledger = Arc::clone(&monitor.recorder) as Arc<dyn Ledger>;
        serial_commands::start(Arc::clone(&monitor.hub), ledger, monitor.recorder.state())
    };
    let wishes = Wishes { serial: Some(serial), filter, ..Wishes::default() };
    let left = show(world, stage, &dir, &memory, (&mut feed, wishes));
    engine.block_on(monitor.end());
    let name = dir.id();
    report::line(&format!("Session {name} is kept. Look at it: firmhand replay {name}"));
    Ok(exit_code(left?))
}

fn supervise(
    world: &Machine,
    engine: &Runtime,
    running: Running,
    stage: Option<ScreenSetup>,
) -> Result<ExitCode, UserError> {
    let dir = running.dir.clone();
    let Some(stage) = stage else {
        let (code, view) = screen_runtime()?.block_on(lines::follow(&running))?;
        engine.block_on(end(running, &view));
        farewell(&dir, &view);
        return match view.head.state {
            RunState::BrokenOff(why) => Err(why),
            _ => Ok(code),
        };
    };
    let mut feed = Feed::Live(Box::new(Live::open(&dir, running.recorder.subscribe())?));
    let project = feed.view().head.start.as_ref().map(|start| PathBuf::from(&start.project));
    let memory = ScreenMemory::of(&world.dirs.data, &project.unwrap_or_else(|| dir.project()));
    let intents = Some(running.engine.intents.clone());
    let serial = {
        let _on = engine.enter();
        let ledger = Arc::clone(&running.recorder) as Arc<dyn Ledger>;
        Some(serial_commands::start(running.bench.serial(), ledger, running.recorder.state()))
    };
    let break_off = Some(running.engine.break_off());
    let examiner = Some(Arc::clone(&running.examiner));
    let wishes = Wishes { intents, break_off, examiner, serial, filter: TagFilter::default() };
    let left = show(world, stage, &dir, &memory, (&mut feed, wishes));
    engine.block_on(end(running, feed.view()));
    // What the engine recorded last is not on screen any more, but belongs into the farewell.
    let _ = feed.advance(std::time::Instant::now());
    let left = left?;
    farewell(&dir, feed.view());
    match &feed.view().head.state {
        RunState::BrokenOff(why) => Err(why.clone()),
        _ => Ok(exit_code(left)),
    }
}

/// Where the person's wishes go; a replay has neither, a monitor no run.
#[derive(Default)]
struct Wishes {
    intents: Option<mpsc::Sender<Intent>>,
    break_off: Option<BreakOff>,
    examiner: Option<Arc<dyn Examiner>>,
    serial: Option<mpsc::Sender<SerialCommand>>,
    /// Which lines of ports show at first.
    filter: TagFilter,
}

/// Shows a session until the person leaves it, and remembers how the screen was arranged.
fn show(
    world: &Machine,
    ScreenSetup { keymap, mut themes }: ScreenSetup,
    dir: &SessionDir,
    memory: &ScreenMemory,
    (feed, wishes): (&mut Feed, Wishes),
) -> Result<Left, UserError> {
    let mode = match feed {
        Feed::Live(_) => Mode::Live,
        Feed::Replay(_) => Mode::Replay,
    };
    let mut ui = Ui::new(ui_setup(world, mode, dir, (memory.recall(), keymap, &themes))?);
    ui.set_marks(feed.marks());
    ui.filter_tags(wishes.filter);
    if let Some(examiner) = wishes.examiner {
        ui.examine_by(examiner);
    }
    if feed.view().head.start.as_ref().is_some_and(|start| start.team == monitor::TEAM) {
        ui.show_serial();
    }
    let uses = Uses::of(&world.settings.terminal, |name| std::env::var(name).ok());
    let mut screen = Screen::take(uses)?;
    let session = Session {
        screen: &mut screen,
        ui: &mut ui,
        feed,
        intents: wishes.intents,
        break_off: wishes.break_off,
        serial: wishes.serial,
        themes: &mut themes,
        ui_due: None,
        outside: None,
        chores: Chores::new(dir.clone(), history_of(world, dir)),
    };
    let left = screen_runtime()?.block_on(session.run());
    drop(screen);
    // Not worth a word at the end of a session: the next one has the usual arrangement.
    let _ = memory.keep(ui.arrangement());
    left
}

/// Gives a run that is stopping the time to record its end; leaves any other as it stands.
async fn end(mut running: Running, view: &SessionView) {
    if matches!(view.head.state, RunState::Stopping | RunState::Ended(_)) {
        let _ = tokio::time::timeout(STOP_PATIENCE, running.engine.finished()).await;
    }
    running.leave().await;
}

fn farewell(dir: &SessionDir, view: &SessionView) {
    let name = dir.id();
    let waiting = view.review.waiting.len();
    match &view.head.state {
        RunState::Ended(_) => {
            report::line(&format!(
                "Session {name} is complete. Look at it: firmhand replay {name}"
            ));
        }
        RunState::Empty
        | RunState::Running
        | RunState::Paused
        | RunState::Stopping
        | RunState::BrokenOff(_) => {
            let waits = match waiting {
                0 => String::new(),
                1 => " 1 proposal waits for your decision.".to_owned(),
                n => format!(" {n} proposals wait for your decision."),
            };
            report::line(&format!("Session {name} is kept as it is.{waits}"));
            report::line(&format!("Continue: firmhand resume {name}"));
        }
    }
    if let Some(start) = &view.head.start {
        report::line(&format!("Project: {}", start.project));
    }
}

pub(super) fn exit_code(left: Left) -> ExitCode {
    match left {
        Left::Quit => ExitCode::SUCCESS,
        Left::Signalled(signal) => ExitCode::from(signal.exit_status()),
        Left::TerminalLost => ExitCode::from(129),
    }
}

/// The session of that name, or the newest.
///
/// # Errors
/// When there is none of that name, or none at all.
pub fn find(data: &Path, id: Option<&str>) -> Result<SessionDir, UserError> {
    if let Some(id) = id {
        return Ok(SessionDir::find(data, id)?);
    }
    match list_sessions(data)?.first() {
        Some(newest) => Ok(SessionDir::find(data, newest.id.as_str())?),
        None => Err(UserError::new(
            "Cannot open a session",
            "no session was saved here yet",
            "Start one with `firmhand demo`.",
        )),
    }
}

/// The project of a session, as its first record names it.
pub fn project_of(dir: &SessionDir) -> Option<PathBuf> {
    summary(dir).start.map(|start| PathBuf::from(start.project))
}

fn ui_setup(
    world: &Machine,
    mode: Mode,
    dir: &SessionDir,
    (mut arrangement, keymap, themes): (Arrangement, Keymap, &Themes),
) -> Result<UiSetup, UserError> {
    let set = &world.settings.theme;
    // A flag or the environment says what is wanted now; it is not what the person chose here.
    let is_wanted = matches!(set.origin, Origin::Flag(_) | Origin::Env(_));
    let chosen = arrangement.theme.clone().filter(|_| !is_wanted);
    // A chosen theme may have lost its file since.
    let looks = match chosen.and_then(|name| Some((themes.load(&name).ok()?, name))) {
        Some((theme, name)) => ThemeState { theme, name, names: themes.names() },
        None => {
            let (theme, name) = (themes.load(&set.value)?, set.value.clone());
            ThemeState { theme, name, names: themes.names() }
        }
    };
    if mode == Mode::Live {
        // A run begins with what it says; the review comes to the front by itself, and the logs
        // have nothing new to show.
        let is_kept = |front: &PaneId| !matches!(front, PaneId::Review | PaneId::Logs);
        arrangement.front = arrangement.front.filter(is_kept);
    }
    Ok(UiSetup {
        looks,
        keymap,
        arrangement,
        mode,
        size: terminal::size()?,
        blobs: Arc::new(dir.blobs()),
        logs: Arc::new(dir.logs()),
        events: Arc::new(JournalEvents::new(dir.journal())),
        models: if mode == Mode::Live { offers(world) } else { Vec::new() },
        history: history_of(world, dir).map_or_else(Vec::new, |history| history.read()),
        files: project_of(dir).and_then(|project| {
            Sandbox::open(&project).ok().map(|sandbox| Arc::new(sandbox) as Arc<dyn FileSource>)
        }),
    })
}

/// The models that can be chosen; what is wrong with the others is the doctor's to say.
pub(super) fn offers(world: &Machine) -> Vec<ModelOffer> {
    let offer = |profile: String| {
        let label = models::find(world, &profile, None).ok()?.label();
        Some(ModelOffer { profile, label })
    };
    models::names(world).into_iter().filter_map(offer).collect()
}

/// What was said before in the project of a session.
fn history_of(world: &Machine, dir: &SessionDir) -> Option<InputHistory> {
    Some(InputHistory::of(&world.dirs.data, &project_of(dir)?))
}

/// Where the engine runs: apart from the screen, so that neither waits for the other.
fn engine_runtime() -> Result<Runtime, UserError> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| UserError::from_cause("Cannot start the engine", &error))
}

pub(super) fn screen_runtime() -> Result<Runtime, UserError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| UserError::from_cause("Cannot start the screen", &error))
}
