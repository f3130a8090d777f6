//! `firmhand` alone: the start screen, and what is chosen there.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::app::compose::Machine;
use crate::app::event_loop::Left;
use crate::app::terminal::{self, Screen, Uses};
use crate::app::{doctor, model_doctor, models, parts, start};
use crate::config::Example;
use crate::journal::{SessionDir, SessionState, list_sessions};
use crate::model::UserError;
use crate::provider::Pacing;
use crate::ui::start::{
    Draft, ExampleGround, SessionAccess, Start, StartChoice, StartExample, StartFacts, StartSession,
};
use crate::ui::{Depth, Keymap, Theme};

use super::args::RunOptions;
use super::{Face, full_screen, orders, sessions};

/// Shows the start screen, then what is chosen. What cannot be done comes back to the screen as a
/// word; a session that was shown ends the program.
///
/// # Errors
/// When there is no terminal or the settings are wrong.
pub fn run(world: &Machine) -> Result<ExitCode, UserError> {
    terminal::require()?;
    let mut failed = None;
    loop {
        let chosen = choose(world, failed.take())?;
        let draft = match &chosen {
            Ok(StartChoice::New(draft)) => Some(draft.clone()),
            _ => None,
        };
        let result = match chosen {
            Err(left) => return Ok(full_screen::exit_code(left)),
            Ok(StartChoice::Demo) => orders::demo(world, RunOptions::usual(None))
                .and_then(|order| full_screen::live(world, order, Face::Screen)),
            Ok(StartChoice::New(Draft { task, project, model, example })) => {
                let mut options = RunOptions::usual(project.map(PathBuf::from));
                options.model.profile = model;
                orders::new(world, Some(task), example.as_deref(), options)
                    .and_then(|order| full_screen::live(world, order, Face::Screen))
            }
            Ok(StartChoice::Resume(name)) => {
                SessionDir::find(&world.dirs.data, &name).map_err(UserError::from).and_then(|dir| {
                    let wanted = full_screen::ResumeAs { pacing: Pacing::Real, record: None };
                    full_screen::resume(world, dir, wanted, Face::Screen)
                })
            }
            Ok(StartChoice::Replay(name)) => SessionDir::find(&world.dirs.data, &name)
                .map_err(UserError::from)
                .and_then(|dir| full_screen::replay(world, &dir, Face::Screen)),
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

/// Why what was chosen could not be done, and the task that was written.
type StartError = (String, Option<Draft>);

fn choose(
    world: &Machine,
    failed: Option<StartError>,
) -> Result<Result<StartChoice, Left>, UserError> {
    let env = |name: &str| std::env::var(name).ok();
    let depth = Depth::detect(env);
    let theme = Theme::load(&world.assets, &world.settings.theme.value, depth)?;
    let keymap = Keymap::load(&world.assets, &world.settings.keymap.value)?;
    let mut start = Start::new(theme, keymap, facts(world, failed)?);
    let mut screen = Screen::take(Uses::of(&world.settings.terminal, env))?;
    full_screen::screen_runtime()?.block_on(start::choose(&mut screen, &mut start))
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

fn facts(world: &Machine, failed: Option<StartError>) -> Result<StartFacts, UserError> {
    let (error, draft) = failed.map_or((None, None), |(words, draft)| (Some(words), draft));
    let data = &world.dirs.data;
    let all = list_sessions(data)?;
    let mut projects: Vec<String> = Vec::new();
    for start in all.iter().filter_map(|session| session.start.as_ref()) {
        let is_own = PathBuf::from(&start.project).starts_with(data.join("sessions"));
        if !is_own && !projects.contains(&start.project) {
            projects.push(start.project.clone());
        }
    }
    let session = |summary: &crate::journal::SessionSummary| StartSession {
        name: summary.id.to_string(),
        task: summary.start.as_ref().map_or("(unreadable)", |start| start.task.as_str()).to_owned(),
        state: sessions::state_with_waiting(summary),
        when: sessions::local(summary.last_at),
        open: match summary.state {
            SessionState::Unfinished => SessionAccess::ResumeOrReplay,
            SessionState::Running(_) | SessionState::Ended(_) | SessionState::Unreadable(_) => {
                SessionAccess::Replay
            }
        },
    };
    Ok(StartFacts {
        demo: parts::recording(&world.assets, None)?.task,
        models: full_screen::offers(world),
        model: draft
            .as_ref()
            .and_then(|draft| draft.model.clone())
            .or_else(|| models::usual(world)),
        sessions: all.iter().map(session).collect(),
        projects,
        examples: Example::all(&world.assets)?.into_iter().map(example).collect(),
        findings: {
            let mut findings = doctor::look(data, |name| std::env::var(name).ok());
            findings.extend(model_doctor::here(world));
            findings
        },
        error,
        draft,
    })
}
