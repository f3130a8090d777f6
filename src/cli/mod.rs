//! The command line: arguments to modes, errors to words, exit codes.

mod args;
mod check_change;
mod diagnose;
mod doctor;
mod examples;
mod format_args;
mod full_screen;
mod headless;
mod help;
mod index;
mod index_args;
mod input;
mod last_reply;
mod limit_args;
mod lines;
mod man;
mod models;
mod monitor;
mod plain_monitor;
mod policy;
mod policy_args;
mod policy_learn;
mod program_ends;
mod remote_list;
mod report;
mod reverty;
mod reverty_repl;
pub mod run;
mod runtime;
mod search_filter;
mod session_args;
mod session_report;
mod session_words;
mod sessions;
mod start;
mod tool;
mod tool_effects;
mod trust;
mod trusted_start;
mod usage;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::CommandFactory;

use crate::app::launch_request::Work;
use crate::app::machine::Machine;
use crate::app::plan::LaunchPlan;
use crate::app::{assemble, pdf_apart, terminal};
use crate::config::{Assets, Dirs, EnvOverrides, Overrides};
use crate::model::UserError;
pub use args::SchemaOf;
use args::{Cli, CliCommand, EditArgs, NewArgs, ReplayArgs, RunArgs, RunOptions, ToolArgs};
use run::EventFormat;
use tool::Effects;

/// Runs what the arguments say. Exit codes: 0 done; 1 could not be done; 2 wrong usage; those of
/// `firmhand run` are told by its help.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = crate::sandbox::enter(env::args_os().skip(1)) {
        return code;
    }
    report::crashes();
    let cli = match usage::read() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let code = run(cli).unwrap_or_else(|error| {
        report::error(&error);
        ExitCode::FAILURE
    });
    report::ended(code)
}

#[expect(clippy::too_many_lines, reason = "one arm for each command")]
fn run(cli: Cli) -> Result<ExitCode, UserError> {
    if let Some(CliCommand::PdfText { path }) = &cli.command {
        let (code, answer) = pdf_apart::answer(path);
        report::raw(answer.as_bytes());
        return Ok(code);
    }
    let start_up = StartUp::of(&cli)?;
    let StartUp { dirs, display, .. } = &start_up;
    let Some(command) = cli.command else {
        // Where nobody can choose, what there is is printed.
        if *display == Display::Lines || terminal::require().is_err() {
            sessions::print_overview(&dirs.data)?;
            return Ok(ExitCode::SUCCESS);
        }
        return start::run(&start_up.machine(None)?);
    };
    match command {
        CliCommand::Demo(options) => start_up.session(Work::Demo, options),
        CliCommand::New(NewArgs { task, example, options }) => {
            start_up.session(Work::New { task, example }, options)
        }
        CliCommand::Edit(EditArgs { task, options }) => start_up.session(Work::Edit(task), options),
        CliCommand::Examples(args) => {
            examples::print(&Assets::with_user_folder(&dirs.config), args.format())?;
            Ok(ExitCode::SUCCESS)
        }
        CliCommand::Run(args) => {
            let RunArgs { task, options, policy, json } = args;
            let (machine, plan) = start_up.plan(Work::Unattended(task), options, policy)?;
            headless::run(&machine, plan, if json { EventFormat::Json } else { EventFormat::Text })
        }
        CliCommand::Resume(args) => {
            let dir = sessions::find_to_resume(&dirs.data, args.session.id.as_deref())?;
            let overrides = Overrides {
                limits: limit_args::overrides(&args.limit),
                ..start_up.overrides.clone()
            };
            let project = full_screen::project_of(&dir);
            let machine = machine(dirs, project.as_deref(), &overrides)?;
            full_screen::resume(&machine, dir, args.request(), *display)
        }
        CliCommand::Replay(ReplayArgs { session, at }) => {
            let dir = sessions::find(&dirs.data, session.id.as_deref())?;
            full_screen::replay(&start_up.machine(None)?, &dir, at, *display)
        }
        CliCommand::Sessions(args) => sessions::run(&dirs.data, args),
        CliCommand::Completions { shell } => completions(shell),
        CliCommand::Help { man: Some(folder), .. } => {
            let number = man::write(&folder, &start_up.machine(None)?)?;
            report::line(&format!("{number} manual pages are in {}", folder.display()));
            Ok(ExitCode::SUCCESS)
        }
        CliCommand::Help { topic, .. } => {
            let page = help::page(topic.as_deref(), || start_up.machine(None))?;
            report::line(page.trim_end());
            Ok(ExitCode::SUCCESS)
        }
        CliCommand::Doctor(args) => doctor::run(&start_up.machine(None)?, &args),
        CliCommand::Diagnose(args) => diagnose::run(&args),
        CliCommand::Models { profile } => {
            models::run(&start_up.machine(None)?.profiles, profile.as_deref())
        }
        CliCommand::Monitor(args) => {
            monitor::run(&start_up.machine(args.project.as_deref())?, args)
        }
        CliCommand::Tool(ToolArgs { name, args, project, policy }) => {
            let project = project.or_else(|| tool::project_in(&args));
            let project = project.unwrap_or_else(|| PathBuf::from("."));
            let effects = if policy.is_some() { Effects::ByPolicy } else { Effects::Refused };
            let machine = start_up.machine_under(Some(&project), policy)?;
            match name {
                Some(name) => tool::call(&machine, (&name, effects), &args, &project),
                None => tool::list(&machine, &project),
            }
        }
        CliCommand::Reverty { command } => reverty::run(&command, &dirs.data),
        CliCommand::Trust { dir: Some(dir), forget: true, .. } => trust::forget(&dirs.data, &dir),
        CliCommand::Trust { dir: Some(dir), without_sandbox: true, .. } => {
            trust::without_sandbox(&dirs.data, &dir)
        }
        CliCommand::Trust { dir, .. } => trust::add_or_list(&dirs.data, dir.as_deref()),
        CliCommand::Policy(args) => policy::run(dirs, args),
        CliCommand::Index(args) => {
            let project = args.project.clone().unwrap_or_else(|| PathBuf::from("."));
            index::run(&start_up.machine(Some(&project))?, args, &project)
        }
        CliCommand::Search(args) => {
            let project = args.project.clone().unwrap_or_else(|| PathBuf::from("."));
            index::search(&start_up.machine(Some(&project))?, &args, &project)
        }
        CliCommand::Config { schema: Some(file), .. } => schema(file),
        CliCommand::Config { project, .. } => config(&start_up.machine(project.as_deref())?),
        // Answered above, before the person's folders are looked at.
        CliCommand::PdfText { .. } => Ok(ExitCode::FAILURE),
    }
}

fn config(machine: &Machine) -> Result<ExitCode, UserError> {
    for row in machine.settings.rows() {
        report::line(&format!("{} = {}  # {}", row.key, row.value, row.origin));
    }
    Ok(ExitCode::SUCCESS)
}

fn schema(file: SchemaOf) -> Result<ExitCode, UserError> {
    let text =
        file.text().map_err(|error| UserError::from_cause("Cannot print a schema", &error))?;
    report::raw(text.as_bytes());
    Ok(ExitCode::SUCCESS)
}

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, UserError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "firmhand", &mut script);
    report::raw(&script);
    Ok(ExitCode::SUCCESS)
}

/// How a session is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Display {
    /// On the full screen.
    Screen,
    /// Line by line.
    Lines,
}

/// What every command begins with: the folders, and what goes before the settings of any file.
struct StartUp {
    dirs: Dirs,
    display: Display,
    overrides: Overrides,
}

impl StartUp {
    fn of(cli: &Cli) -> Result<Self, UserError> {
        let is_dumb = env::var("TERM").is_ok_and(|term| term == "dumb");
        let display = if cli.plain || is_dumb { Display::Lines } else { Display::Screen };
        let env = EnvOverrides::read(|name| env::var_os(name));
        let (theme, keymap) = (cli.theme.clone(), cli.keymap.clone());
        let overrides = Overrides { theme, keymap, env, ..Overrides::default() };
        Ok(Self { dirs: Dirs::from_env()?, display, overrides })
    }

    /// The settings in force, with those of a project if one is named.
    fn machine(&self, project: Option<&Path>) -> Result<Machine, UserError> {
        machine(&self.dirs, project, &self.overrides)
    }

    /// The same, with the rules of a policy file if one is named.
    fn machine_under(
        &self,
        project: Option<&Path>,
        policy_file: Option<PathBuf>,
    ) -> Result<Machine, UserError> {
        machine(&self.dirs, project, &Overrides { policy_file, ..self.overrides.clone() })
    }

    /// The plan of a session, and the settings that it was made with.
    fn plan(
        &self,
        work: Work,
        options: RunOptions,
        policy_file: Option<PathBuf>,
    ) -> Result<(Machine, LaunchPlan), UserError> {
        let session_budget = options.model.session_budget();
        let limits = limit_args::overrides(&options.model.limit);
        let temperature = options.model.temperature;
        let own = self.overrides.clone();
        let overrides = Overrides { policy_file, session_budget, limits, temperature, ..own };
        let machine = machine(&self.dirs, options.project.as_deref(), &overrides)?;
        let plan = assemble::plan(&machine, options.request(work))?;
        Ok((machine, plan))
    }

    /// Begins a session and shows it.
    fn session(&self, work: Work, options: RunOptions) -> Result<ExitCode, UserError> {
        let (machine, plan) = self.plan(work, options, None)?;
        full_screen::live(&machine, plan, self.display)
    }
}

fn machine(
    dirs: &Dirs,
    project: Option<&Path>,
    overrides: &Overrides,
) -> Result<Machine, UserError> {
    let machine = Machine::load(dirs, project, overrides)?;
    report::keep(machine.profiles.secrets());
    Ok(machine)
}
