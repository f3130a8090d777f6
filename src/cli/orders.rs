//! From what was typed to what is run: task, team, project, model, documents.

use std::path::Path;

use super::args::{ModelArgs, RunOptions, SuperviseArg, ToolchainArg};
use super::run::EventFormat;
use super::{pacing, report};
use crate::app::choice;
use crate::app::compose::{self, Machine, Order};
use crate::app::documents;
use crate::app::parts::{self, Recording};
use crate::config::{Assets, Example};
use crate::engine::Supervision;
use crate::model::event::SessionParts;
use crate::model::{Ground, UserError};
use crate::toolchain::{ToolchainKind, fitting};

/// The order of `demo`: the recording of a team.
///
/// # Errors
/// When the team has none, or an option is wrong.
pub fn demo(world: &Machine, options: RunOptions) -> Result<Order, UserError> {
    // The plain demo shows its plan and goes on; one that is asked for by team waits for it.
    let supervision = if options.team.is_some() { Supervision::Ask } else { Supervision::Show };
    let recording = parts::recording(&world.assets, options.team.as_deref())?;
    let (task, provider) = (recording.task.clone(), recording.provider.clone());
    let mut order = make(world, task, Some(recording), None, supervision, options)?;
    if order.parts.provider.is_empty() {
        order.parts.provider = provider;
    }
    Ok(order)
}

/// The order of `new`: a task in the person's words, or an example; with both, the person's words
/// for the example's team.
///
/// # Errors
/// When there is no such example, or team and project do not fit.
pub fn new(
    world: &Machine,
    task: Option<String>,
    example: Option<&str>,
    mut options: RunOptions,
) -> Result<Order, UserError> {
    let mut starter = None;
    let task = match example {
        Some(name) => {
            let example = Example::find(&world.assets, name)?;
            options.team = options.team.or(Some(example.team));
            starter = example.project.filter(|_| options.project.is_none());
            task.filter(|task| !is_said_by(task, &example.task)).unwrap_or(example.task)
        }
        None => task.unwrap_or_default(),
    };
    let recording = parts::recorded(&world.assets, &task)?;
    make(world, task, recording, starter, Supervision::Ask, options)
}

/// Whether two tasks are the same but for blanks and line ends.
fn is_said_by(task: &str, example: &str) -> bool {
    task.split_whitespace().eq(example.split_whitespace())
}

/// The order of `edit`: a change of a project that is there.
///
/// # Errors
/// When there is no project, or the team does not fit it.
pub fn edit(world: &Machine, task: String, mut options: RunOptions) -> Result<Order, UserError> {
    let ground = choice::ground(options.project.as_deref());
    if ground == Ground::Empty {
        choice::check(&*compose::load_team(world, "edit-existing")?, ground)?;
    }
    let team = options.team.take().unwrap_or_else(|| choice::usual_team(ground).to_owned());
    options.team = Some(team);
    let recording = parts::recorded(&world.assets, &task)?;
    make(world, task, recording, None, Supervision::Ask, options)
}

/// The order of `run`: nobody is there to look at a plan.
///
/// # Errors
/// When team and project do not fit, or an option is wrong.
pub fn headless(world: &Machine, task: String, options: RunOptions) -> Result<Order, UserError> {
    let recording = parts::recorded(&world.assets, &task)?;
    make(world, task, recording, None, Supervision::Show, options)
}

/// The virtual board builds projects of ESP-IDF and sketches, and nothing of PlatformIO's alone.
fn usual_toolchain(project: Option<&Path>) -> ToolchainArg {
    match project {
        Some(project) if fitting(project) == [ToolchainKind::Platformio] => {
            ToolchainArg::Platformio
        }
        _ => ToolchainArg::Virtual,
    }
}

fn make(
    world: &Machine,
    task: String,
    recording: Option<Recording>,
    starter: Option<String>,
    supervision: Supervision,
    options: RunOptions,
) -> Result<Order, UserError> {
    let ground = choice::ground(options.project.as_deref());
    let recorded_team = recording.as_ref().map(|recording| recording.team.clone());
    let team =
        options.team.or(recorded_team).unwrap_or_else(|| choice::usual_team(ground).to_owned());
    let starter = starter.or_else(|| {
        recording.filter(|recording| recording.team == team).and_then(|recording| recording.starter)
    });
    if starter.is_none() {
        choice::check(&*compose::load_team(world, &team)?, ground)?;
    }
    let ModelArgs { profile, model, record, .. } = options.model;
    let provider = match (options.script, profile, model) {
        (Some(file), ..) => {
            format!("script:{}", std::path::absolute(&file).unwrap_or(file).display())
        }
        (None, None, None) => String::new(),
        (None, profile, None) => format!("profile:{}", profile.unwrap_or_default()),
        (None, profile, Some(model)) => {
            format!("profile:{}/{model}", profile.unwrap_or_default())
        }
    };
    let toolchain =
        options.toolchain.unwrap_or_else(|| usual_toolchain(options.project.as_deref()));
    let toolchain = match toolchain {
        ToolchainArg::Virtual => "virtual",
        ToolchainArg::Idf => "idf",
        ToolchainArg::Arduino => "arduino",
        ToolchainArg::Platformio => "platformio",
        ToolchainArg::Auto => "auto",
    };
    let documents = options.attach.iter().map(|path| documents::read(path));
    Ok(Order {
        task,
        team,
        project: options.project,
        parts: SessionParts { provider, toolchain: toolchain.to_owned() },
        pacing: pacing(options.speed),
        record,
        supervision: match options.supervise {
            Some(SuperviseArg::Ask) => Supervision::Ask,
            Some(SuperviseArg::Show) => Supervision::Show,
            None => supervision,
        },
        documents: documents.collect::<Result<_, _>>()?,
        starter,
    })
}

/// Prints the example library.
///
/// # Errors
/// When one of its files is wrong.
pub fn print_examples(assets: &Assets, form: EventFormat) -> Result<(), UserError> {
    for example in Example::all(assets)? {
        match form {
            EventFormat::Json => report::json(&serde_json::json!({
                "name": example.name,
                "title": example.title,
                "team": example.team,
                "task": example.task,
                "needs": example.needs,
                "after": example.after,
                "recorded": example.is_recorded,
            }))?,
            EventFormat::Text => {
                let note = example.note();
                let note = if note.is_empty() { note } else { format!("  ({note})") };
                let (name, team, title) = (example.name, example.team, example.title);
                report::line(&format!("{name:<20} {team:<16} {title}{note}"));
            }
        }
    }
    Ok(())
}
