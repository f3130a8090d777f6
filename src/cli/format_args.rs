//! How answers are printed: as text for people, or as JSON for programs.

use clap::Args;

use super::run::EventFormat;

/// How a list is printed.
#[derive(Debug, Args)]
pub struct FormatArgs {
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

impl FormatArgs {
    /// The format that was asked for.
    pub const fn format(&self) -> EventFormat {
        if self.json { EventFormat::Json } else { EventFormat::Text }
    }
}
