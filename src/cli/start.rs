//! `firmhand` alone: the start screen, and what is chosen there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use crate::app::assemble;
use crate::app::event_loop::Left;
use crate::app::launch_request::{LaunchRequest, ModelRequest, ResumeRequest, Work};
use crate::app::machine::Machine;
use crate::app::recordings::Recordings;
use crate::app::shipped::load_team;
use crate::app::start_refresh::{RequestScope, SessionReader};
use crate::app::terminal::{self, Screen, Uses};
use crate::app::{choice, doctor, model_doctor, monitor, news, start};
use crate::config::{Assets, Example};
use crate::engine::Team;
use crate::journal::{KnownRequests, SessionDir, SessionState, SessionSummary, list_sessions};
use crate::model::UserError;
use crate::ui::start::{
    Draft, ExampleGround, Outlooks, SessionAccess, Start, StartChoice, StartExample, StartFacts,
    StartSession, TaskOutlook,
};
use crate::ui::{Depth, Keymap, Theme};

use super::args::ReplayAt;
use super::{Display, full_screen, runtime, session_words};

/// Lines about what is new.
const NEWS: usize = 6;

/// Shows the start screen, then what is chosen. What cannot be done comes back to the screen as a
/// word; a session that was shown ends the program.
///
/// # Errors
/// When there is no terminal or the settings are wrong.
pub fn run(machine: &Machine) -> Result<ExitCode, UserError> {
    terminal::require()?;
    let (mut failed, mut opened) = (None, None);
    loop {
        let chosen = choose(machine, failed.take(), opened.take())?;
        opened = match &chosen {
            Ok(
                StartChoice::Resume(name)
                | StartChoice::Replay(name)
                | StartChoice::ReplayFromStart(name),
            ) => Some(name.clone()),
            _ => None,
        };
        let draft = match &chosen {
            Ok(StartChoice::New(draft)) => Some(draft.clone()),
            _ => None,
        };
        let result = match chosen {
            Err(left) => return Ok(full_screen::exit_code(left)),
            Ok(StartChoice::Demo) => live(machine, LaunchRequest::default()),
            Ok(StartChoice::New(draft)) => {
                let Draft { task, project, model, example, team, budget, temperature, limits } =
                    draft;
                let temperature = temperature.map(|tenths| f64::from(tenths) / 10.0);
                let machine = machine.for_session(&budget, temperature);
                let request = LaunchRequest {
                    work: Work::New { task: Some(task), example },
                    team,
                    project: project.map(PathBuf::from),
                    model: ModelRequest { profile: model, ..ModelRequest::default() },
                    team_limits: limits,
                    ..LaunchRequest::default()
                };
                live(&machine, request)
            }
            Ok(StartChoice::Resume(name)) => SessionDir::find(&machine.dirs.data, &name)
                .map_err(UserError::from)
                .and_then(|dir| {
                    full_screen::resume(machine, dir, ResumeRequest::default(), Display::Screen)
                }),
            Ok(StartChoice::Replay(name)) => replay(machine, &name, ReplayAt::End),
            Ok(StartChoice::ReplayFromStart(name)) => replay(machine, &name, ReplayAt::Start),
            // Done while the screen was shown.
            Ok(StartChoice::Rename { .. } | StartChoice::Delete(_)) => continue,
            Ok(StartChoice::Quit | StartChoice::Suspend) => return Ok(ExitCode::SUCCESS),
        };
        match result {
            Ok(code) => return Ok(code),
            Err(error) => {
                let words = format!("{}: {} · {}", error.what, error.why, error.fix);
                failed = Some((words, draft));
            }
        }
    }
}

fn replay(machine: &Machine, name: &str, at: ReplayAt) -> Result<ExitCode, UserError> {
    let dir = SessionDir::find(&machine.dirs.data, name).map_err(UserError::from)?;
    full_screen::replay(machine, &dir, at, Display::Screen)
}

fn live(machine: &Machine, request: LaunchRequest) -> Result<ExitCode, UserError> {
    full_screen::live(machine, assemble::plan(machine, request)?, Display::Screen)
}

/// Why what was chosen could not be done, and the task that was written.
type StartError = (String, Option<Draft>);

fn choose(
    machine: &Machine,
    failed: Option<StartError>,
    opened: Option<String>,
) -> Result<Result<StartChoice, Left>, UserError> {
    let env = |name: &str| std::env::var(name).ok();
    let depth = Depth::detect(env);
    let theme = Theme::load(&machine.assets, &machine.settings.theme.value, depth)?;
    let keymap = Keymap::load(&machine.assets, &machine.settings.keymap.value)?;
    let mut start = Start::new(theme, keymap, facts(machine, failed)?);
    if let Some(session) = opened {
        start.select_session(&session);
    }
    let mut screen = Screen::take(Uses::of(&machine.settings.terminal, env))?;
    let data = machine.dirs.data.clone();
    let known = Mutex::new(KnownRequests::default());
    let read = move |scope| {
        let mut sessions = list_sessions(&data).ok()?;
        if scope == RequestScope::All {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.complete(&data, &mut sessions);
        }
        Some(listed(&sessions))
    };
    let shown = start::choose(&mut screen, &mut start, machine, SessionReader::new(read));
    runtime::screen()?.block_on(shown)
}

/// An example as the list shows it.
fn example(example: Example) -> StartExample {
    let note = example.note();
    let brings = example.project.is_some() || !example.changes_project();
    StartExample {
        name: example.name,
        title: example.title,
        team: example.team,
        task: example.task,
        note,
        ground: if brings { ExampleGround::Own } else { ExampleGround::Project },
    }
}

/// Whether it only listened to a port.
fn is_monitor(session: &SessionSummary) -> bool {
    session.start.as_ref().is_some_and(|start| start.team == monitor::TEAM)
}

/// The choices that the start of a session makes for a task, without a team that is named.
fn outlook(recordings: &Recordings, task: &str, project: Option<&str>) -> TaskOutlook {
    let folder = project.map(Path::new);
    let recording = recordings.of_task(task);
    let team = || choice::team_for(task, choice::ground(folder), folder.unwrap_or(Path::new(""))).0;
    let answered = match recording {
        Some(_) => "answered by a recording",
        None => "no model is set up, so nothing answers",
    };
    TaskOutlook {
        team: recording.map_or_else(|| team().to_owned(), |recording| recording.team.clone()),
        answered: Some(answered.to_owned()),
    }
}

/// Tells the limits that teams have in their files; each file is read once.
fn team_limits(assets: Assets) -> impl Fn(&str) -> Vec<(String, u32)> + Send + Sync {
    let known = Mutex::new(BTreeMap::<String, Vec<(String, u32)>>::new());
    move |team| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            load_team(&assets, team)
                .map_or_else(|_| Vec::new(), |it| it.limits.clone().into_iter().collect())
        };
        known.entry(team.to_owned()).or_insert_with(read).clone()
    }
}

/// The sessions as the list shows them.
fn listed(sessions: &[SessionSummary]) -> Vec<StartSession> {
    session_words::waiting_first(sessions).into_iter().map(start_session).collect()
}

/// A session as the list shows it.
fn start_session(summary: &SessionSummary) -> StartSession {
    StartSession {
        name: summary.id.to_string(),
        title: summary.title.clone().unwrap_or_default(),
        project: summary.start.as_ref().map_or_else(String::new, |start| start.project.clone()),
        task: session_words::last_task(summary).to_owned(),
        earlier: earlier_tasks(summary),
        requests: summary.requests(),
        team: summary.last_request().map_or_else(String::new, |(_, team)| team.to_owned()),
        state: session_words::state_in_short(summary),
        when: session_words::local(summary.last_at),
        open: match summary.state {
            // No team has worked in it.
            SessionState::Ended(_) if is_monitor(summary) => SessionAccess::Replay,
            SessionState::Unfinished | SessionState::Ended(_) => SessionAccess::ResumeOrReplay,
            _ => SessionAccess::Replay,
        },
    }
}

/// What was asked before the last request, the first one first, as far as it is known.
fn earlier_tasks(session: &SessionSummary) -> Vec<String> {
    let Some((_, later)) = session.later.split_last() else { return Vec::new() };
    let first = session.start.as_ref().map(|start| start.task.clone());
    first.into_iter().chain(later.iter().map(|request| request.task.clone())).collect()
}

fn facts(machine: &Machine, failed: Option<StartError>) -> Result<StartFacts, UserError> {
    let (error, draft) = failed.map_or((None, None), |(words, draft)| (Some(words), draft));
    let data = &machine.dirs.data;
    let all = list_sessions(data)?;
    let mut projects: Vec<String> = Vec::new();
    for start in all.iter().filter_map(|session| session.start.as_ref()) {
        let is_own = PathBuf::from(&start.project).starts_with(data.join("sessions"));
        if !is_own && !projects.contains(&start.project) {
            projects.push(start.project.clone());
        }
    }
    let recordings = Recordings::load(&machine.assets)?;
    Ok(StartFacts {
        demo: recordings.of_team(None)?.task.clone(),
        outlooks: Outlooks::new(move |task, project| outlook(&recordings, task, project))
            .with_limits(team_limits(machine.assets.clone())),
        models: full_screen::offers(&machine.profiles),
        model: draft
            .as_ref()
            .and_then(|draft| draft.model.clone())
            .or_else(|| machine.profiles.default_name()),
        sessions: listed(&all),
        projects,
        teams: Team::names(&machine.assets),
        examples: Example::all(&machine.assets)?.into_iter().map(example).collect(),
        findings: {
            let mut findings = doctor::look(data, |name| std::env::var(name).ok());
            findings.extend(model_doctor::here(&machine.profiles));
            findings
        },
        news: news::newest(NEWS),
        error,
        draft,
    })
}
