//! What can be typed after `firmhand sessions`.

use clap::{Args, Subcommand};

use super::format_args::FormatArgs;

/// Arguments of `sessions`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SessionsArgs {
    /// What to do; without a command, the sessions are listed.
    #[command(subcommand)]
    pub command: Option<SessionsCommand>,
    /// How they are listed.
    #[command(flatten)]
    pub list: ListArgs,
}

/// Which sessions are listed, and how.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// List only sessions whose name, task, team, project or state has all of these words.
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,
    /// How they are printed.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// What can be done with saved sessions. SESSION is a name, the one that you gave it, or a part of
/// its name that no other session has.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List saved sessions, newest first.
    List(ListArgs),
    /// Show what a session came to: files, decisions, builds, tests, cost and time.
    Show {
        /// The session; the newest one if it is not given.
        session: Option<String>,
        /// How it is printed.
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Give a session a name of your own; also while it runs. An empty name takes it away.
    Rename {
        /// The session.
        session: String,
        /// Its new name.
        name: String,
        /// How the answer is printed.
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Delete a session, with its record of all that happened, permanently.
    Delete {
        /// The session.
        session: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// How the answer is printed.
        #[command(flatten)]
        format: FormatArgs,
    },
}
