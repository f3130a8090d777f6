//! What can be typed after `firmhand index` and `firmhand search`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::knowledge::PassageKind;

/// Arguments of `index`.
#[derive(Debug, Args)]
pub struct IndexArgs {
    /// What to do; without a command, the documents are listed.
    #[command(subcommand)]
    pub command: Option<IndexCommand>,
    /// Folder of the project whose own documents count too; the current one if it is not given.
    #[arg(long, value_name = "DIR", global = true)]
    pub project: Option<PathBuf>,
}

/// What to do with the documents that are searched.
#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    /// List what is searched: name, version, licence, passages, folder.
    List {
        /// Print one JSON object per line.
        #[arg(long)]
        json: bool,
    },
    /// Add a folder, a file or a PDF document, and index it.
    Add {
        /// The folder or the file.
        path: PathBuf,
        /// Only for the project in this folder, not for all.
        #[arg(long)]
        here: bool,
    },
    /// Remove what was added, and its index.
    Remove {
        /// The folder or the file.
        path: PathBuf,
    },
    /// Build what is missing, and read again what changed.
    Build,
    /// Check that every index can be read; exit code 1 if not.
    Check,
}

/// Arguments of `search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// A question, an error message, or the name of a function or an option.
    #[arg(required = true, num_args = 1..)]
    pub query: Vec<String>,
    /// Print one JSON object: `ok` and `results`.
    #[arg(long)]
    pub json: bool,
    /// Maximum number of results.
    #[arg(short, long = "number", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub k: u16,
    /// Kind of text; can be given several times.
    #[arg(long, value_parser = kinds())]
    pub kind: Vec<PassageKind>,
    /// Chip that it must apply to, e.g. esp32c3.
    #[arg(long, value_name = "CHIP")]
    pub chip: Option<String>,
    /// Component of the framework.
    #[arg(long, value_name = "NAME")]
    pub component: Option<String>,
    /// Name of the documents to search, as `firmhand index` lists it.
    #[arg(long, value_name = "NAME")]
    pub corpus: Option<String>,
    /// Version of the framework, or its start.
    #[arg(long, value_name = "VERSION")]
    pub idf: Option<String>,
    /// Folder of the project whose own documents count too; the current one if it is not given.
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}

/// Reads the name of a kind.
fn kinds() -> impl TypedValueParser<Value = PassageKind> {
    let value = |kind: PassageKind| PossibleValue::new(kind.name()).help(kind.about());
    PossibleValuesParser::new(PassageKind::ALL.map(value))
        .map(|name| PassageKind::from_name(&name).unwrap_or(PassageKind::Guide))
}
