//! What can be typed after `firmhand`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A full-screen desk from which you supervise teams of model-backed agents writing ESP32
/// firmware. Nothing is saved, deleted or flashed without your approval.
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
    /// How things look: a file of `themes/`, your own or one that ships with the program.
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Which key does what: default, vim, emacs, or a file of your own in `keymaps/`.
    #[arg(long, global = true, value_name = "NAME")]
    pub keymap: Option<String>,
    /// Line by line instead of on the full screen: for screen readers and simple terminals. Also
    /// what a terminal with TERM=dumb gets.
    #[arg(long, global = true)]
    pub plain: bool,
    /// What to do; without it, the start screen: recent sessions, projects, the demo.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Watch and decide a recorded run: real files, a real build, a virtual board.
    Demo(DemoArgs),
    /// Start a team on a task.
    New(NewArgs),
    /// Start a team that changes an existing project.
    Edit(EditArgs),
    /// List the tasks that ship as examples.
    Examples {
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Go on with a session that was left or interrupted.
    Resume(ResumeArgs),
    /// Watch a saved session from its file; nothing is run.
    Replay(SessionArg),
    /// List saved sessions, newest first.
    Sessions {
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Run a team without a screen; a policy file decides. Events go to standard output.
    ///
    /// Exit codes: 0 completed; 1 could not run; 2 wrong usage; 3 the team failed; 4 stopped
    /// because something would have needed a person; 130 interrupted.
    Run(RunArgs),
    /// Print the script with which a shell completes commands and options.
    ///
    /// E.g. `firmhand completions bash > ~/.local/share/bash-completion/completions/firmhand`.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Check what a run depends on: toolchain, terminal, and for each model its key, address,
    /// streaming and tool calling; says how to mend what is wrong.
    Doctor(DoctorArgs),
    /// List the models that a profile's service offers.
    Models {
        /// The profile; the usual one when left out.
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
    /// Listen to a board: its output, coloured by level, with panics looked up.
    Monitor(MonitorArgs),
    /// Call one tool and print its answer, a JSON object.
    ///
    /// Exit codes: 0 for `"ok": true`, 1 for `"ok": false`, 2 wrong usage.
    Tool(ToolArgs),
    /// Let a project's own scripts run when ESP-IDF or arduino-cli builds it; without a folder, list
    /// the projects that may.
    Trust {
        /// The project's folder; what is below is trusted with it.
        dir: Option<PathBuf>,
        /// Trust it no longer.
        #[arg(long, requires = "dir")]
        forget: bool,
    },
    /// Show every setting and where its value comes from.
    Config {
        /// Take the settings of this project into account.
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Explain a command, or one of the topics keys, review, teams, models, config, boards, sessions,
    /// plain.
    Help {
        /// A command or a topic; all of them when left out.
        topic: Option<String>,
    },
    /// Answer the text of a PDF document in JSON, within bounds of memory and time: the program
    /// starts this for itself.
    #[command(hide = true, name = crate::app::pdf_apart::COMMAND)]
    PdfText {
        /// The document.
        path: PathBuf,
    },
}

/// How fast a recorded model types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Speed {
    /// As a model would.
    Real,
    /// Without any waiting.
    Max,
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
    /// Recorded conversation to play instead of the one that fits the task.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// How fast the recorded model types.
    #[arg(long, value_enum, default_value_t = Speed::Real)]
    pub speed: Speed,
    /// Document that comes with the task: .md, .txt, .csv or .pdf; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// Whether the plan, and the files chosen for the context, wait for you.
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
    /// Another model of that profile's service.
    #[arg(long, value_name = "NAME", conflicts_with = "script")]
    pub model: Option<String>,
    /// Write the model's answers down as a script that `--script` plays.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Most tokens of the session.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_tokens: Option<u64>,
    /// Most US dollars of the session.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub max_cost: Option<f64>,
    /// Most minutes that models and tools work in the session.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_minutes: Option<u64>,
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 => Ok(dollars),
        Ok(_) | Err(_) => Err("an amount of dollars such as 0.50 is expected".to_owned()),
    }
}

impl RunOptions {
    /// As when nothing but the project is named.
    pub fn usual(project: Option<PathBuf>) -> Self {
        Self {
            team: None,
            project,
            toolchain: None,
            script: None,
            speed: Speed::Real,
            attach: Vec::new(),
            supervise: None,
            model: ModelArgs::default(),
        }
    }
}

/// Whether plans and files for the context wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SuperviseArg {
    /// They wait until you let the run go on, and can be changed until then.
    Ask,
    /// They are shown, and the run goes on.
    Show,
}

/// Which toolchain builds and flashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolchainArg {
    /// The virtual board: the system C compiler and a simulated ESP32, whose firmware is a program
    /// on this computer with your rights.
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

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Where the run takes place; without a folder, the project lies in the session's own.
    #[command(flatten)]
    pub options: RunOptions,
}

/// Arguments of `new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// What the team shall do, in your words.
    #[arg(required_unless_present = "example")]
    pub task: Option<String>,
    /// Takes task and team from an example; `firmhand examples` lists them.
    #[arg(long, value_name = "NAME", conflicts_with = "task")]
    pub example: Option<String>,
    /// Where the run takes place.
    #[command(flatten)]
    pub options: RunOptions,
}

/// Arguments of `edit`.
#[derive(Debug, Args)]
pub struct EditArgs {
    /// What shall change, in your words.
    pub task: String,
    /// Where the run takes place.
    #[command(flatten)]
    pub options: RunOptions,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// What the team shall do, in your words.
    pub task: String,
    /// Where the run takes place.
    #[command(flatten)]
    pub options: RunOptions,
    /// TOML file with the `[[policy]]` rules that decide; whatever they leave to a person is
    /// denied.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Print every event as one JSON object a line; without it only what matters, as text.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `monitor`.
#[derive(Debug, Args)]
pub struct MonitorArgs {
    /// The port: `/dev/ttyUSB0`, `rfc2217://host:4000` or `tcp://host:4000`. Among several of them,
    /// and among those of this machine when left out, you choose; the only board needs no choice,
    /// and a port that is not there yet is waited for.
    #[arg(value_name = "PORT")]
    pub ports: Vec<String>,
    /// Bits per second; when left out, those of the project's console, else 115200.
    #[arg(long)]
    pub baud: Option<u32>,
    /// Print lines to standard output instead of a full screen.
    #[arg(long)]
    pub plain: bool,
    /// Program (.elf) to look panics up in, besides those below the project's `build` folder.
    #[arg(long, value_name = "FILE")]
    pub elf: Option<PathBuf>,
    /// Folder of the project; the current one when left out.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Log lines to show, e.g. `*:W wifi:V`; everything is kept all the same.
    #[arg(long, value_name = "TAG:LEVEL", default_value = "")]
    pub filter: String,
}

/// Arguments of `tool`.
#[derive(Debug, Args)]
pub struct ToolArgs {
    /// Name of the tool, e.g. `list_boards`; without one, all are listed.
    pub name: Option<String>,
    /// Its arguments, a JSON object.
    #[arg(long, default_value = "{}", value_name = "JSON")]
    pub args: String,
    /// Folder of the project; the current one when left out.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
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
    /// Write all of the model's answers, those before too, down as a script that `--script` plays.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Check only this profile.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Ask no service anything.
    #[arg(long)]
    pub offline: bool,
}

/// Names one session.
#[derive(Debug, Args)]
pub struct SessionArg {
    /// Its name, or a unique beginning of it; the newest when left out.
    pub id: Option<String>,
}
