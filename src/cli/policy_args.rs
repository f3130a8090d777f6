//! What can be typed after `firmhand policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What the figures and words of every `policy` command mean.
const WORDS: &str = include_str!("../../assets/help/policy.md").trim_ascii_end();

/// A whole number that is not negative, of 64 bits.
fn count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("it is not a whole number from 0 to {}", u64::MAX))
}

/// The number of an older table.
fn table_number(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("it is not a whole number from 1 to {}", u32::MAX))
}

/// How much a session counts.
fn weight(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| "it is not a whole number from 1 to 10000".to_owned())
}

/// Arguments of `policy`.
#[derive(Debug, Args)]
#[command(after_long_help = WORDS)]
pub struct PolicyArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub command: PolicyCommand,
}

/// What to do with a policy.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Train a policy on simulated tasks and save it.
    Train(PolicyTrainArgs),
    /// Show the table of values and its heat map.
    Show(PolicyShowArgs),
    /// Train a policy and compare it, and the saved one, with others and with the optimum; nothing is
    /// saved.
    Compare(PolicyCompareArgs),
    /// Explain which agent speaks next in a state.
    Explain(PolicyExplainArgs),
    /// Learn from past sessions; the new table is used if they show that it is no worse.
    Learn(PolicyLearnArgs),
    /// Remove the policy, or restore an older table.
    Reset(PolicyResetArgs),
}

/// Options of every `policy` command.
#[derive(Debug, Args)]
pub struct PolicyOptions {
    /// The team whose policy it is.
    #[arg(long, default_value = "learned")]
    pub team: String,
    /// Start of all random numbers; 1 if it is not given. `show` and `explain` train a policy for this
    /// once instead of using the saved one; `learn` does where none is saved.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Simulated tasks to train on. If it is not given: 5000, and 5000 more for each agent beyond four.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub episodes: Option<u64>,
    /// Class of tasks to train on, e.g. simple; `mixed` for all, with the class as part of the state.
    #[arg(long, value_name = "CLASS")]
    pub tasks: Option<String>,
    /// Parameters of the simulation, instead of `assets/policy/process.toml` (of the configuration folder,
    /// or the one that ships with the program). `learn` takes what sessions earn from there.
    #[arg(long, value_name = "FILE")]
    pub parameters: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `policy train`.
#[derive(Debug, Args)]
pub struct PolicyTrainArgs {
    /// How it is trained.
    #[command(flatten)]
    pub options: PolicyOptions,
    /// Continue the saved training exactly where it stopped.
    #[arg(long)]
    pub resume: bool,
}

/// Arguments of `policy show`.
#[derive(Debug, Args)]
pub struct PolicyShowArgs {
    /// Which policy.
    #[command(flatten)]
    pub options: PolicyOptions,
    /// Write the heat map as an SVG picture.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Show the older table with this number; without one, list them.
    #[arg(long, value_name = "NUMBER", value_parser = table_number, allow_negative_numbers = true)]
    #[expect(clippy::option_option, reason = "the option may have no number")]
    pub older: Option<Option<u32>>,
}

/// Arguments of `policy compare`.
#[derive(Debug, Args)]
pub struct PolicyCompareArgs {
    /// How it is trained.
    #[command(flatten)]
    pub options: PolicyOptions,
    /// Write the chart as an SVG picture.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Run the recorded answers of all tasks of `assets/policy/tasks.toml`, not of the first five only.
    #[arg(long)]
    pub all_tasks: bool,
}

/// Arguments of `policy explain`.
#[derive(Debug, Args)]
pub struct PolicyExplainArgs {
    /// The state, e.g. `start,0` or `plan,code,error,2`: what is true of the work, and the bucket 0 to 3
    /// of the actions taken.
    #[arg(default_value = "start,0")]
    pub state: String,
    /// Which policy.
    #[command(flatten)]
    pub options: PolicyOptions,
}

/// Arguments of `policy learn`.
#[derive(Debug, Args)]
pub struct PolicyLearnArgs {
    /// Sessions of a file instead of the recorded ones of this team; a table learns once from a file. Each
    /// line is one session:
    /// {"team":"learned","agents":["planner","coder","tester","debugger"],"end":"success","steps":
    /// [{"state":"start,0","agent":"coder","reward":0.2,"chance":0.9}]}. All agents of the team are
    /// named in order; `end` is success, timeout or stopped; a step without `chance` was chosen by a
    /// person; `"class":"simple"` may say what the task was.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Learn from recorded sessions of this project only.
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    pub project: Option<PathBuf>,
    /// Which policy.
    #[command(flatten)]
    pub options: PolicyOptions,
    /// How many simulated tasks one session counts for.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = weight, allow_negative_numbers = true)]
    pub weight: u32,
    /// Use the new table even if nothing shows that it is no worse.
    #[arg(long)]
    pub take: bool,
}

/// Arguments of `policy reset`.
#[derive(Debug, Args)]
pub struct PolicyResetArgs {
    /// Which policy.
    #[command(flatten)]
    pub options: PolicyOptions,
    /// Restore the older table with this number.
    #[arg(long, value_name = "NUMBER", value_parser = table_number, allow_negative_numbers = true)]
    pub to: Option<u32>,
}
