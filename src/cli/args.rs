//! What can be typed after `firmhand`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::app::launch_request::{
    LaunchRequest, ModelRequest, ResumeRequest, ToolchainChoice, Work,
};
use crate::engine::Supervision;
use crate::model::{Budget, Cost};
use crate::provider::Pacing;
use crate::toolchain::ToolchainKind;
use crate::{config, engine, ui};

use super::format_args::FormatArgs;
use super::index_args::{IndexArgs, SearchArgs};
use super::limit_args::{self, NamedLimit};
use super::policy_args::PolicyArgs;
use super::session_args::SessionsArgs;

/// Supervise teams of model-backed agents that write ESP32 firmware, on the full screen of a
/// terminal. Nothing is saved, deleted or flashed without your approval.
#[derive(Debug, Parser)]
#[command(
    name = "firmhand",
    version,
    about,
    max_term_width = 100,
    subcommand_help_heading = "Commands",
    disable_help_subcommand = true
)]
pub struct Cli {
    /// Theme: a file of `themes/`, your own or one that ships with the program.
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Keymap: default, vim, emacs, or a file of your own in `keymaps/`.
    #[arg(long, global = true, value_name = "NAME")]
    pub keymap: Option<String>,
    /// Work line by line instead of on the full screen: for screen readers and simple terminals.
    /// A terminal with TERM=dumb always gets this.
    #[arg(long, global = true)]
    pub plain: bool,
    /// What to do; without a command, the start screen opens: recent sessions, projects, the demo.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Try a recorded run, with real files, a real build and a virtual board.
    Demo(RunOptions),
    /// Start a team on a task.
    New(NewArgs),
    /// Start a team that changes an existing project.
    Edit(EditArgs),
    /// List the tasks that ship as examples.
    Examples(FormatArgs),
    /// Continue a session that was closed or interrupted.
    Resume(ResumeArgs),
    /// Replay a saved session; nothing is run.
    Replay(ReplayArgs),
    /// List saved sessions, newest first; show, rename or delete one.
    Sessions(SessionsArgs),
    /// Run a team without a screen; a policy file decides. Events go to standard output.
    ///
    /// Exit codes: 0 completed; 1 could not run; 2 wrong usage; 3 the team failed; 4 stopped
    /// because something would have needed a person; 130 interrupted.
    Run(RunArgs),
    /// Print the completion script for a shell.
    ///
    /// E.g. `firmhand completions bash > ~/.local/share/bash-completion/completions/firmhand`.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Check what a run depends on: toolchain, terminal, and for each model its key, address,
    /// streaming and tool calling; shows how to fix problems.
    Doctor(DoctorArgs),
    /// List the models that a profile's service offers.
    Models {
        /// The profile; the default one if it is not given.
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
    /// Read the log of a build and list what is wrong, each with file, line and message.
    ///
    /// E.g. `idf.py build 2>&1 | firmhand diagnose`. Reads what GCC, Clang, linkers, CMake, Kconfig,
    /// ninja, Python, idf.py and arduino-cli print, as text, JSON or SARIF. Exit codes: 0 no errors,
    /// 1 errors, 2 wrong usage.
    Diagnose(DiagnoseArgs),
    /// Listen to a board: its output, coloured by level, with panics looked up.
    Monitor(MonitorArgs),
    /// Call one tool and print its answer, a JSON object.
    ///
    /// Exit codes: 0 for `"ok": true`, 1 for `"ok": false`, 2 wrong usage.
    Tool(ToolArgs),
    /// Check, translate and run programs in Reverty, a mirrored Python.
    Reverty {
        /// What to do.
        #[command(subcommand)]
        command: RevertyCommand,
    },
    /// Let a project's own scripts run when ESP-IDF or arduino-cli builds it; without a folder, list
    /// the projects that may.
    Trust {
        /// The project's folder; folders in it are trusted too.
        dir: Option<PathBuf>,
        /// Stop trusting the project.
        #[arg(long, requires = "dir")]
        forget: bool,
        /// Let what agents write for the project run where there is no sandbox; asks for a phrase.
        #[arg(long, requires = "dir", conflicts_with = "forget")]
        without_sandbox: bool,
    },
    /// Search the documentation of the installed ESP-IDF, your own documents and the program's notes.
    Search(SearchArgs),
    /// List, add, remove, build and check the documents that are searched.
    Index(IndexArgs),
    /// Train, show, compare and explain the learned policy that chooses which agent speaks next.
    Policy(PolicyArgs),
    /// Show every setting and where its value comes from.
    Config {
        /// Include the settings of this project.
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// Print the JSON schema of such a file instead, with which editors complete it.
        #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "config",
              conflicts_with = "project")]
        schema: Option<SchemaOf>,
    },
    /// Explain a command, or one of the topics keys, review, teams, models, config, boards, sessions,
    /// plain, reverty.
    Help {
        /// A command or a topic; all of them if it is not given.
        topic: Option<String>,
        /// Write manual pages of all commands and topics to this folder.
        #[arg(long, value_name = "DIR", conflicts_with = "topic")]
        man: Option<PathBuf>,
    },
    /// Answer the text of a PDF document in JSON, within bounds of memory and time: the program
    /// starts this for itself.
    #[command(hide = true, name = crate::app::pdf_apart::COMMAND)]
    PdfText {
        /// The document.
        path: PathBuf,
    },
}

/// A kind of file with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// `config.toml`, and files of rules.
    Config,
    /// Files in `prompts/teams/`.
    Team,
    /// Files in `themes/`.
    Theme,
    /// Files in `keymaps/`.
    Keymap,
}

impl SchemaOf {
    /// The schema, as it is shipped in `assets/schemas/`.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn text(self) -> serde_json::Result<String> {
        let schema = match self {
            Self::Config => config::schema().to_value(),
            Self::Team => engine::team_schema().to_value(),
            Self::Theme => ui::schema::theme(),
            Self::Keymap => ui::schema::keymap(),
        };
        Ok(serde_json::to_string_pretty(&schema)? + "\n")
    }
}

/// How fast a recorded model types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Speed {
    /// At the speed of a real model.
    Real,
    /// Without pauses.
    Max,
}

impl Speed {
    /// As the recorded model knows it.
    pub const fn pacing(self) -> Pacing {
        match self {
            Self::Real => Pacing::Real,
            Self::Max => Pacing::Instant,
        }
    }
}

/// Where a run takes place and what plays its parts.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// The team, a file of `prompts/teams`; without it the one that fits the task and the project.
    #[arg(long)]
    pub team: Option<String>,
    /// Folder of the project; created if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Toolchain that builds and flashes; without it the virtual board, and PlatformIO in a folder
    /// with a platformio.ini.
    #[arg(long, value_enum)]
    pub toolchain: Option<ToolchainArg>,
    /// Recording to play instead of the one for the task.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// How fast the recorded model types.
    #[arg(long, value_enum, default_value_t = Speed::Real)]
    pub speed: Speed,
    /// Document for the task: .md, .txt, .csv or .pdf; can be given several times.
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// Whether the plan and the files for the context wait for your decision.
    #[arg(long, value_enum)]
    pub supervise: Option<SuperviseArg>,
    /// Which model answers, and what it may use.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Which model answers, and what it may use.
#[derive(Debug, Default, Args)]
pub struct ModelArgs {
    /// Profile of the model that answers: one of your configuration, or one found in the
    /// environment such as `openai`, `anthropic` or `ollama`.
    #[arg(long, value_name = "NAME", conflicts_with = "script")]
    pub profile: Option<String>,
    /// Model of that profile's service to use instead.
    #[arg(long, value_name = "NAME", conflicts_with = "script")]
    pub model: Option<String>,
    /// Record the model's answers in a script for `--script`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Maximum number of tokens for the session.
    #[arg(long, value_name = "NUMBER", value_parser = limit_args::number)]
    pub max_tokens: Option<u64>,
    /// Maximum cost of the session in US dollars.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub max_cost: Option<f64>,
    /// Maximum working time of models and tools in the session, in minutes.
    #[arg(long, value_name = "NUMBER", value_parser = limit_args::number)]
    pub max_minutes: Option<u64>,
    /// A limit by its name: tokens, cost, minutes, turns, attempts, build-seconds, tool-seconds,
    /// monitor-seconds, or one of `[limits]` in the team's file such as max_reviews, with the name of its
    /// phase for one of a nested team, such as fix/max_debug; can be given several times. At the end of
    /// the first five you are asked.
    #[arg(long, value_name = "NAME=N", value_parser = limit_args::limit)]
    pub limit: Vec<NamedLimit>,
    /// Sampling temperature of all agents, from 0 to 2.
    #[arg(long, value_name = "NUMBER", value_parser = limit_args::temperature)]
    pub temperature: Option<f64>,
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && !Cost::from_dollars(dollars).is_zero() => Ok(dollars),
        Ok(_) | Err(_) => Err("expected an amount of dollars such as 0.50".to_owned()),
    }
}

impl RunOptions {
    /// What is asked for with these options.
    pub fn request(self, work: Work) -> LaunchRequest {
        let absolute = |file: PathBuf| std::path::absolute(&file).unwrap_or(file);
        LaunchRequest {
            work,
            team: self.team,
            project: self.project,
            toolchain: self.toolchain.map(ToolchainArg::choice),
            model: ModelRequest {
                script: self.script.map(absolute),
                profile: self.model.profile,
                model: self.model.model,
            },
            pacing: self.speed.pacing(),
            record: self.model.record,
            attach: self.attach,
            team_limits: limit_args::of_team(&self.model.limit),
            supervision: self.supervise.map(|supervise| match supervise {
                SuperviseArg::Ask => Supervision::Ask,
                SuperviseArg::Show => Supervision::Show,
            }),
        }
    }
}

impl ModelArgs {
    /// What the session may use, and the first flag that says so.
    pub fn session_budget(&self) -> Option<(&'static str, Budget)> {
        let flags = [
            (self.max_tokens.is_some(), "--max-tokens"),
            (self.max_cost.is_some(), "--max-cost"),
            (self.max_minutes.is_some(), "--max-minutes"),
        ];
        let flag = flags.into_iter().find(|(is_given, _)| *is_given).map(|(_, flag)| flag);
        let budget = Budget {
            tokens: self.max_tokens,
            cost: self.max_cost.map(Cost::from_dollars),
            seconds: self.max_minutes.map(|minutes| minutes.saturating_mul(60)),
            turns: None,
        };
        let budget = limit_args::budget(&self.limit, budget);
        (!budget.is_open()).then_some((flag.unwrap_or("--limit"), budget))
    }
}

/// Whether plans and files for the context wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SuperviseArg {
    /// They wait until you continue the run, and can be changed until then.
    Ask,
    /// They are shown, and the run continues.
    Show,
}

/// Which toolchain builds and flashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolchainArg {
    /// The virtual board: the system C compiler and a simulated ESP32, whose firmware is a program
    /// on this computer, in the sandbox.
    Virtual,
    /// The installed ESP-IDF (`idf.py`).
    Idf,
    /// The installed `arduino-cli`, for sketches.
    Arduino,
    /// The installed PlatformIO (`pio`), for folders with a platformio.ini.
    Platformio,
    /// What is installed for the project, ESP-IDF, `arduino-cli` for a sketch, or PlatformIO; the
    /// virtual board otherwise.
    Auto,
}

impl ToolchainArg {
    const fn choice(self) -> ToolchainChoice {
        match self {
            Self::Virtual => ToolchainChoice::Virtual,
            Self::Idf => ToolchainChoice::Installed(ToolchainKind::Idf),
            Self::Arduino => ToolchainChoice::Installed(ToolchainKind::Arduino),
            Self::Platformio => ToolchainChoice::Installed(ToolchainKind::Platformio),
            Self::Auto => ToolchainChoice::Auto,
        }
    }
}

/// Arguments of `new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// What the team should do, in your words.
    #[arg(required_unless_present = "example")]
    pub task: Option<String>,
    /// Take task and team from an example; `firmhand examples` lists them.
    #[arg(long, value_name = "NAME", conflicts_with = "task")]
    pub example: Option<String>,
    /// Where the run takes place.
    #[command(flatten)]
    pub options: RunOptions,
}

/// Arguments of `edit`.
#[derive(Debug, Args)]
pub struct EditArgs {
    /// What should change, in your words.
    pub task: String,
    /// Where the run takes place.
    #[command(flatten)]
    pub options: RunOptions,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// What the team should do, in your words.
    pub task: String,
    /// Where the run takes place.
    #[command(flatten)]
    pub options: RunOptions,
    /// TOML file with the `[[policy]]` rules that decide; everything else is denied.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Print every event as one JSON object per line; without it, a summary as text.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `monitor`.
#[derive(Debug, Args)]
pub struct MonitorArgs {
    /// Port: `/dev/ttyUSB0`, `rfc2217://host:4000` or `tcp://host:4000`. With several ports, you choose
    /// one on the screen. Without a port, the ports of this machine are used. A port that does not
    /// exist yet is waited for.
    #[arg(value_name = "PORT")]
    pub ports: Vec<String>,
    /// Bits per second; without it, the rate of the project's console, or 115200.
    #[arg(long)]
    pub baud: Option<u32>,
    /// Print lines to standard output instead of a full screen.
    #[arg(long)]
    pub plain: bool,
    /// Program (.elf) to look panics up in, in addition to those in the project's `build` folder.
    #[arg(long, value_name = "FILE")]
    pub elf: Option<PathBuf>,
    /// Folder of the project; the current one if it is not given.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Log lines to show by tag and level, e.g. `*:W wifi:V`; everything is recorded anyway.
    #[arg(long, value_name = "TAG:LEVEL", default_value = "")]
    pub filter: String,
}

/// Arguments of `diagnose`.
#[derive(Debug, Args)]
pub struct DiagnoseArgs {
    /// The log; `-` or nothing for the standard input.
    #[arg(value_name = "LOG", default_value = "-")]
    pub log: PathBuf,
    /// Folder of the project as the log names it, which need not exist here; without it, the one
    /// that the log says it is for, or the current one.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Print one JSON object: `ok`, which is true when the log was read, whatever is in it, and
    /// `errors`, `warnings` and `notes`, each with `file`, `line`, `column`, `severity`, `message`
    /// and `hint`.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `tool`.
#[derive(Debug, Args)]
pub struct ToolArgs {
    /// Name of the tool, e.g. `list_boards`; without one, all are listed.
    pub name: Option<String>,
    /// Its arguments, a JSON object.
    #[arg(long, default_value = "{}", value_name = "JSON")]
    pub args: String,
    /// Folder of the project; the current one if it is not given.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// TOML file with the `[[policy]]` rules that decide on changes; everything else is denied.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

/// What can be done with a program in Reverty. FILE is `-` for the standard input.
#[derive(Debug, Subcommand)]
pub enum RevertyCommand {
    /// Report what is wrong with a program; exit code 1 if there is anything.
    Check {
        /// The program.
        file: PathBuf,
        /// Print one JSON object: `ok`, and `errors` with `line`, `column`, `message` and `hint`.
        #[arg(long)]
        json: bool,
    },
    /// Print the syntax tree of a program.
    Ast {
        /// The program.
        file: PathBuf,
        /// Print one JSON object: `kind`, `text`, `line` and `children`.
        #[arg(long)]
        json: bool,
    },
    /// Print a program in Python.
    Py {
        /// The program.
        file: PathBuf,
    },
    /// Print a program in canonical form.
    Fmt {
        /// The program.
        file: PathBuf,
    },
    /// Run a program with Python, in the sandbox. Errors name the lines of the program.
    Run {
        /// The program.
        file: PathBuf,
    },
    /// Run statements one by one, and print their values. A block ends with an empty line.
    Repl,
    /// Print a program in Python as Reverty.
    FromPython {
        /// The program, in Python.
        file: PathBuf,
    },
}

/// Arguments of `resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Which session.
    #[command(flatten)]
    pub session: SessionArg,
    /// How fast the recorded model types.
    #[arg(long, value_enum, default_value_t = Speed::Real)]
    pub speed: Speed,
    /// Record all answers of the model, earlier ones too, in a script for `--script`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Change a limit for the rest of the session, by its name as in `firmhand new`; can be given several
    /// times.
    #[arg(long, value_name = "NAME=N", value_parser = limit_args::limit)]
    pub limit: Vec<NamedLimit>,
}

impl ResumeArgs {
    /// What is asked for with these arguments.
    pub fn request(self) -> ResumeRequest {
        ResumeRequest {
            pacing: self.speed.pacing(),
            record: self.record,
            budget: limit_args::budget(&self.limit, Budget::default()),
            team_limits: limit_args::of_team(&self.limit),
        }
    }
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Check only this profile.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Send no requests to services.
    #[arg(long)]
    pub offline: bool,
}

/// Which session is replayed, and where it opens.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The session.
    #[command(flatten)]
    pub session: SessionArg,
    /// Where it opens.
    #[arg(long, value_enum, default_value_t = ReplayAt::End, value_name = "PLACE")]
    pub at: ReplayAt,
}

/// Where a replay opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReplayAt {
    /// At its first event.
    Start,
    /// At its last event.
    End,
}

/// Names one session.
#[derive(Debug, Args)]
pub struct SessionArg {
    /// Name of the session, or the start of it. If it is not given: the newest one; `resume` takes the
    /// newest that is not over and not open elsewhere
    pub id: Option<String>,
}
