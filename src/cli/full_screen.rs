//! The full-screen modes: a live run, a resumed one, a replay.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::args::ReplayAt;
use super::{Display, lines, report, runtime, trusted_start};
use crate::app::assemble::{self, Running};
use crate::app::copies::Chores;
use crate::app::event_loop::{Left, Session};
use crate::app::history::InputHistory;
use crate::app::launch_request::ResumeRequest;
use crate::app::machine::Machine;
use crate::app::memory::ScreenMemory;
use crate::app::monitor::{self, MonitorOptions};
use crate::app::plan::LaunchPlan;
use crate::app::profiles::Profiles;
use crate::app::serial_commands;
use crate::app::terminal::{self, Screen, Uses};
use crate::app::themes::Themes;
use crate::app::{Feed, Live, Timeline};
use crate::config::Origin;
use crate::device::SerialHub;
use crate::engine::{BreakOff, Recorder};
use crate::journal::{JournalEvents, SessionDir, summary};
use crate::model::{
    Examiner, FileSource, Intent, Ledger, SerialCommand, TeamOffers, TimelineCommand, UserError,
};
use crate::text::esp_log::TagFilter;
use crate::ui::layout::PaneId;
use crate::ui::{Arrangement, Depth, Keymap, Mode, ModelOffer, ThemeState, Ui, UiSetup};
use crate::view::{RunState, SessionView};
use crate::workspace::ProjectDir;

/// How long a run that was told to stop may take to record its end.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// Begins a session and shows it.
///
/// # Errors
/// When there is no terminal, or the session cannot be begun.
pub(super) fn live(
    machine: &Machine,
    plan: LaunchPlan,
    display: Display,
) -> Result<ExitCode, UserError> {
    begin(machine, display, plan.project.folder(), || assemble::start(machine, plan.clone()))
}

/// Resumes a session and shows it.
///
/// # Errors
/// When there is no terminal, no such session, or it cannot go on.
pub(super) fn resume(
    machine: &Machine,
    dir: SessionDir,
    request: ResumeRequest,
    display: Display,
) -> Result<ExitCode, UserError> {
    begin(machine, display, project_of(&dir).as_deref(), || {
        assemble::resume(machine, dir.clone(), request.clone())
    })
}

/// Begins to run in a project, and shows it.
fn begin(
    machine: &Machine,
    display: Display,
    project: Option<&Path>,
    run: impl Fn() -> Result<Running, UserError>,
) -> Result<ExitCode, UserError> {
    let setup = ScreenSetup::set(machine, display)?;
    let engine = runtime::engine()?;
    let project = project.filter(|_| display == Display::Screen);
    let running = trusted_start::begin(machine, project, || {
        let _on = engine.enter();
        run()
    })?;
    supervise(machine, &engine, running, setup)
}

/// Shows a saved session; nothing is run.
///
/// # Errors
/// When there is no terminal, no such session, or it cannot be read.
pub(super) fn replay(
    machine: &Machine,
    dir: &SessionDir,
    at: ReplayAt,
    display: Display,
) -> Result<ExitCode, UserError> {
    if display == Display::Lines {
        return lines::replay(dir);
    }
    let setup = ScreenSetup::of(machine)?;
    let mut timeline = Timeline::open(dir)?;
    if at == ReplayAt::Start {
        timeline.command(TimelineCommand::Start, Instant::now())?;
    }
    let mut feed = Feed::Replay(Box::new(timeline));
    let project = project_of(dir).unwrap_or_else(|| dir.project());
    let memory = ScreenMemory::of(&machine.dirs.data, &project);
    let left = show(machine, setup, dir, &memory, (&mut feed, Channels::default()))?;
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
    fn set(machine: &Machine, display: Display) -> Result<Option<Self>, UserError> {
        match display {
            Display::Screen => Self::of(machine).map(Some),
            Display::Lines => lines::require().map(|()| None),
        }
    }

    fn of(machine: &Machine) -> Result<Self, UserError> {
        terminal::require()?;
        let keymap = Keymap::load(&machine.assets, &machine.settings.keymap.value)?;
        let depth = Depth::detect(|name| std::env::var(name).ok());
        let themes = Themes::new(machine.assets.clone(), &machine.dirs.config, depth);
        themes.load(&machine.settings.theme.value)?;
        Ok(Self { keymap, themes })
    }
}

/// Shows one serial port on the full screen, without a team.
///
/// # Errors
/// When there is no terminal, or the port cannot be opened.
pub fn monitor(
    machine: &Machine,
    options: MonitorOptions,
    filter: TagFilter,
) -> Result<ExitCode, UserError> {
    let setup = ScreenSetup::of(machine)?;
    let engine = runtime::engine()?;
    let project = options.project.clone();
    let monitor = engine.block_on(monitor::start(machine, options))?;
    let dir = monitor.dir.clone();
    let mut feed = Feed::Live(Box::new(Live::open(&dir, monitor.recorder.subscribe())?));
    let memory = ScreenMemory::of(&machine.dirs.data, &project);
    let serial = Some(serial_of(&engine, Arc::clone(&monitor.hub), &monitor.recorder));
    let channels = Channels { serial, filter, ..Channels::default() };
    let left = show(machine, setup, &dir, &memory, (&mut feed, channels));
    engine.block_on(monitor.end());
    let name = dir.id();
    report::line(&format!("Session {name} is kept. Look at it: firmhand replay {name}"));
    Ok(exit_code(left?))
}

fn supervise(
    machine: &Machine,
    engine: &Runtime,
    running: Running,
    setup: Option<ScreenSetup>,
) -> Result<ExitCode, UserError> {
    let dir = running.dir.clone();
    let Some(setup) = setup else {
        let (code, view) = runtime::screen()?.block_on(lines::follow(&running))?;
        engine.block_on(end(running, &view));
        farewell(&dir, &view);
        return match view.head.state {
            RunState::BrokenOff(why) => Err(why),
            _ => Ok(code),
        };
    };
    let live = Live::open(&dir, running.recorder.subscribe())?;
    let live = live.with_open_calls(running.engine.open_calls.clone());
    let mut feed = Feed::Live(Box::new(live));
    let project = feed.view().head.start.as_ref().map(|start| PathBuf::from(&start.project));
    let memory = ScreenMemory::of(&machine.dirs.data, &project.unwrap_or_else(|| dir.project()));
    let intents = Some(running.engine.intents.clone());
    let serial = Some(serial_of(engine, running.services.serial(), &running.recorder));
    let break_off = Some(running.engine.break_off());
    let examiner = Some(Arc::clone(&running.examiner));
    let teams = Some(Arc::clone(&running.teams));
    let filter = TagFilter::default();
    let channels = Channels { intents, break_off, examiner, serial, filter, teams };
    let left = show(machine, setup, &dir, &memory, (&mut feed, channels));
    engine.block_on(end(running, feed.view()));
    // What the engine recorded last is no longer on the screen, but belongs in the farewell.
    let _ = feed.advance(Instant::now());
    let left = left?;
    farewell(&dir, feed.view());
    match &feed.view().head.state {
        RunState::BrokenOff(why) => Err(why.clone()),
        _ => Ok(exit_code(left)),
    }
}

/// Takes the person's wishes for serial ports while `engine` runs.
fn serial_of(
    engine: &Runtime,
    hub: Arc<SerialHub>,
    recorder: &Arc<Recorder>,
) -> mpsc::Sender<SerialCommand> {
    let _on = engine.enter();
    serial_commands::start(hub, Arc::clone(recorder) as Arc<dyn Ledger>, recorder.state())
}

/// Where the person's intents go; a replay has neither, a monitor no run.
#[derive(Default)]
struct Channels {
    intents: Option<mpsc::Sender<Intent>>,
    break_off: Option<BreakOff>,
    examiner: Option<Arc<dyn Examiner>>,
    serial: Option<mpsc::Sender<SerialCommand>>,
    /// Teams that the next run could have.
    teams: Option<Arc<dyn TeamOffers>>,
    /// Which lines of ports show at first.
    filter: TagFilter,
}

/// Shows a session until the person leaves it, and remembers how the screen was arranged.
fn show(
    machine: &Machine,
    ScreenSetup { keymap, mut themes }: ScreenSetup,
    dir: &SessionDir,
    memory: &ScreenMemory,
    (feed, channels): (&mut Feed, Channels),
) -> Result<Left, UserError> {
    let mode = match feed {
        Feed::Live(_) => Mode::Live,
        Feed::Replay(_) => Mode::Replay,
    };
    let mut ui = Ui::new(ui_setup(machine, mode, dir, (memory.recall(), keymap, &themes))?);
    ui.set_marks(feed.marks());
    ui.set_title(dir.title().unwrap_or_default());
    ui.filter_tags(channels.filter);
    if let Some(examiner) = channels.examiner {
        ui.examine_by(examiner);
    }
    if let Some(teams) = channels.teams {
        ui.choose_teams_from(teams);
    }
    if feed.view().head.start.as_ref().is_some_and(|start| start.team == monitor::TEAM) {
        ui.show_serial();
    }
    let uses = Uses::of(&machine.settings.terminal, |name| std::env::var(name).ok());
    let mut screen = Screen::take(uses)?;
    let session = Session {
        screen: &mut screen,
        ui: &mut ui,
        feed,
        intents: channels.intents,
        break_off: channels.break_off,
        serial: channels.serial,
        themes: &mut themes,
        ui_due: None,
        outside: None,
        chores: Chores::new(dir.clone(), history_of(machine, dir)),
        machine,
    };
    let left = runtime::screen()?.block_on(session.run());
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
    // The person may have named it while it ran.
    let title = dir.title().map_or_else(String::new, |title| format!(" “{title}”"));
    let waiting = view.review.waiting.len();
    match &view.head.state {
        RunState::Ended(_) => {
            report::line(&format!(
                "Session {name}{title} is over. Look at it: firmhand replay {name}"
            ));
            report::line(&format!("Ask for more: firmhand resume {name}"));
        }
        _ => {
            let waits = match waiting {
                0 => String::new(),
                1 => " 1 proposal waits for your decision.".to_owned(),
                n => format!(" {n} proposals wait for your decision."),
            };
            report::line(&format!("Session {name}{title} is kept as it is.{waits}"));
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

/// The project of a session, as its first record names it.
pub fn project_of(dir: &SessionDir) -> Option<PathBuf> {
    summary(dir).facts.start.map(|start| PathBuf::from(start.project))
}

fn ui_setup(
    machine: &Machine,
    mode: Mode,
    dir: &SessionDir,
    (mut arrangement, keymap, themes): (Arrangement, Keymap, &Themes),
) -> Result<UiSetup, UserError> {
    let set = &machine.settings.theme;
    // A flag or the environment says what is wanted now; it is not what the person chose here.
    let is_wanted = matches!(set.origin, Origin::Flag(_) | Origin::Env(_));
    let chosen = arrangement.theme.clone().filter(|_| !is_wanted);
    // A chosen theme may have lost its file since.
    let chosen = chosen.and_then(|name| Some((themes.load(&name).ok()?, name)));
    let (theme, name) = match chosen {
        Some(chosen) => chosen,
        None => (themes.load(&set.value)?, set.value.clone()),
    };
    let looks = ThemeState { theme, name, names: themes.names() };
    if mode == Mode::Live {
        // A run begins with what it says; the review comes to the front by itself, and the logs
        // have nothing new to show.
        let is_kept = |front: &PaneId| !matches!(front, PaneId::Review | PaneId::Logs);
        arrangement.front = arrangement.front.filter(is_kept);
    }
    let project = project_of(dir).and_then(|project| ProjectDir::open(&project).ok());
    Ok(UiSetup {
        looks,
        keymap,
        arrangement,
        mode,
        size: terminal::size()?,
        blobs: Arc::new(dir.blobs()),
        logs: Arc::new(dir.logs()),
        events: Arc::new(JournalEvents::new(dir.journal())),
        models: if mode == Mode::Live { offers(&machine.profiles) } else { Vec::new() },
        history: history_of(machine, dir).map_or_else(Vec::new, |history| history.read()),
        files: project.map(|project| Arc::new(project) as Arc<dyn FileSource>),
    })
}

/// The models that can be chosen; what is wrong with the others is the doctor's to say.
pub(super) fn offers(profiles: &Profiles) -> Vec<ModelOffer> {
    let offer = |profile: String| {
        let label = profiles.find(&profile, None).ok()?.label();
        Some(ModelOffer { profile, label })
    };
    profiles.names().into_iter().filter_map(offer).collect()
}

/// What was said before in the project of a session.
fn history_of(machine: &Machine, dir: &SessionDir) -> Option<InputHistory> {
    Some(InputHistory::of(&machine.dirs.data, &project_of(dir)?))
}
