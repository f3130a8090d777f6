//! The command line: arguments to modes, errors to words, exit codes.

mod args;
mod check_change;
mod checks;
mod full_screen;
mod headless;
mod help;
mod lines;
mod monitor;
mod orders;
mod plain_monitor;
mod report;
pub mod run;
mod sessions;
mod start;
mod tool;
mod trust;
mod usage;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::CommandFactory;

use crate::app::compose::Machine;
use crate::app::keyring::Keyring;
use crate::app::models;
use crate::app::pdf_apart;
use crate::app::terminal;
use crate::config::{Assets, Dirs, EnvOverrides, Origin, Overrides, Settings};
use crate::model::{Cost, UserError};
use crate::provider::Pacing;
use crate::toolchain::process::hide_variables;
use args::{
    Cli, CliCommand, DemoArgs, EditArgs, ModelArgs, NewArgs, ResumeArgs, RunArgs, SessionArg,
    Speed, ToolArgs,
};

/// Runs what the arguments say. Exit codes: 0 done; 1 could not be done; 2 wrong usage; those of
/// `firmhand run` are told by its help.
#[must_use]
pub fn main() -> ExitCode {
    report::crashes();
    let cli = match usage::read() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    run(cli).unwrap_or_else(|error| {
        report::error(&error);
        ExitCode::FAILURE
    })
}

#[expect(clippy::too_many_lines, reason = "one arm for each command")]
fn run(cli: Cli) -> Result<ExitCode, UserError> {
    if let Some(CliCommand::PdfText { path }) = &cli.command {
        let (code, answer) = pdf_apart::answer(path);
        report::raw(answer.as_bytes());
        return Ok(code);
    }
    let is_dumb = env::var("TERM").is_ok_and(|term| term == "dumb");
    let face = if cli.plain || is_dumb { Face::Lines } else { Face::Screen };
    let place = CommandDirs { dirs: Dirs::from_env()?, theme: cli.theme, keymap: cli.keymap };
    let dirs = &place.dirs;
    let Some(command) = cli.command else {
        // Where nobody can choose, what there is is printed.
        if face == Face::Lines || terminal::require().is_err() {
            sessions::print_overview(&dirs.data)?;
            return Ok(ExitCode::SUCCESS);
        }
        return start::run(&place.world(None, None)?);
    };
    match command {
        CliCommand::Demo(DemoArgs { options }) => {
            let world = bounded(place.world(options.project.as_deref(), None)?, &options.model);
            full_screen::live(&world, orders::demo(&world, options)?, face)
        }
        CliCommand::New(NewArgs { task, example, options }) => {
            let world = bounded(place.world(options.project.as_deref(), None)?, &options.model);
            full_screen::live(&world, orders::new(&world, task, example.as_deref(), options)?, face)
        }
        CliCommand::Edit(EditArgs { task, options }) => {
            let world = bounded(place.world(options.project.as_deref(), None)?, &options.model);
            full_screen::live(&world, orders::edit(&world, task, options)?, face)
        }
        CliCommand::Examples { json } => {
            let assets = Assets::with_user_folder(&dirs.config);
            let form = if json { run::EventFormat::Json } else { run::EventFormat::Text };
            orders::print_examples(&assets, form)?;
            Ok(ExitCode::SUCCESS)
        }
        CliCommand::Run(RunArgs { task, options, policy, json }) => {
            let world = bounded(place.world(options.project.as_deref(), policy)?, &options.model);
            let form = if json { run::EventFormat::Json } else { run::EventFormat::Text };
            headless::run(&world, orders::headless(&world, task, options)?, form)
        }
        CliCommand::Resume(ResumeArgs { session, speed, record }) => {
            let dir = full_screen::find(&dirs.data, session.id.as_deref())?;
            let project = full_screen::project_of(&dir);
            let wanted = full_screen::ResumeAs { pacing: pacing(speed), record };
            full_screen::resume(&place.world(project.as_deref(), None)?, dir, wanted, face)
        }
        CliCommand::Replay(SessionArg { id }) => {
            let dir = full_screen::find(&dirs.data, id.as_deref())?;
            full_screen::replay(&place.world(None, None)?, &dir, face)
        }
        CliCommand::Sessions { json } => {
            if json {
                sessions::print_json(&dirs.data)?;
            } else {
                sessions::print_table(&dirs.data)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        CliCommand::Completions { shell } => completions(shell),
        CliCommand::Help { topic } => {
            let page = help::page(topic.as_deref(), || place.world(None, None))?;
            report::line(page.trim_end());
            Ok(ExitCode::SUCCESS)
        }
        CliCommand::Doctor(args) => checks::doctor(&place.world(None, None)?, &args),
        CliCommand::Models { profile } => {
            checks::models(&place.world(None, None)?, profile.as_deref())
        }
        CliCommand::Monitor(args) => {
            monitor::run(&place.world(args.project.as_deref(), None)?, args)
        }
        CliCommand::Tool(ToolArgs { name, args, project }) => {
            let project = project.unwrap_or_else(|| PathBuf::from("."));
            let world = place.world(Some(&project), None)?;
            match name {
                Some(name) => tool::call(&world, &name, &args, &project),
                None => tool::list(&world, &project),
            }
        }
        CliCommand::Trust { dir: Some(dir), forget: true } => trust::forget(&dirs.data, &dir),
        CliCommand::Trust { dir, .. } => trust::add_or_list(&dirs.data, dir.as_deref()),
        CliCommand::Config { project } => config(&place.world(project.as_deref(), None)?),
        // Answered above, before anything of a person's place is looked at.
        CliCommand::PdfText { .. } => Ok(ExitCode::FAILURE),
    }
}

fn config(world: &Machine) -> Result<ExitCode, UserError> {
    for row in world.settings.rows() {
        report::line(&format!("{} = {}  # {}", row.key, row.value, row.origin));
    }
    Ok(ExitCode::SUCCESS)
}

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, UserError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "firmhand", &mut script);
    report::raw(&script);
    Ok(ExitCode::SUCCESS)
}

/// With the limits of the command line, which go before those of any file.
fn bounded(mut world: Machine, args: &ModelArgs) -> Machine {
    let session = &mut world.settings.models.session;
    let limits = [
        (args.max_tokens.is_some(), "--max-tokens"),
        (args.max_cost.is_some(), "--max-cost"),
        (args.max_minutes.is_some(), "--max-minutes"),
    ];
    if let Some((_, flag)) = limits.into_iter().find(|(is_given, _)| *is_given) {
        session.origin = Origin::Flag(flag);
    }
    let budget = &mut session.value;
    budget.tokens = args.max_tokens.or(budget.tokens);
    budget.cost = args.max_cost.map(Cost::from_dollars).or(budget.cost);
    budget.seconds = args.max_minutes.map(|minutes| minutes.saturating_mul(60)).or(budget.seconds);
    world
}

const fn pacing(speed: Speed) -> Pacing {
    match speed {
        Speed::Real => Pacing::Real,
        Speed::Max => Pacing::Instant,
    }
}

/// How a session is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Face {
    /// On the full screen.
    Screen,
    /// Line by line.
    Lines,
}

/// What every command begins with: the folders, and the flags that all commands know.
struct CommandDirs {
    dirs: Dirs,
    theme: Option<String>,
    keymap: Option<String>,
}

impl CommandDirs {
    fn world(
        &self,
        project: Option<&Path>,
        policy_file: Option<PathBuf>,
    ) -> Result<Machine, UserError> {
        let env = EnvOverrides::read(|name| env::var_os(name));
        let (theme, keymap) = (self.theme.clone(), self.keymap.clone());
        let overrides = Overrides { theme, keymap, policy_file, env };
        let settings = Settings::load(&self.dirs, project, &overrides)?;
        let assets = Assets::with_user_folder(&self.dirs.config);
        let profiles = settings.models.profiles.values();
        hide_variables(profiles.filter_map(|entry| entry.says.key.env.clone()).collect());
        let (keyring, secrets) = (Keyring::default(), models::secrets(&settings));
        report::keep(&secrets);
        Ok(Machine { dirs: self.dirs.clone(), assets, settings, keyring, secrets })
    }
}
