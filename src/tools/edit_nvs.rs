//! `edit_nvs`: proposes to change what a board keeps in its non-volatile storage.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{TimeLimit, ToolEntry};
use super::flash_regions::{Aim, flash_of, partition};
use super::recorded::OutcomeReport;
use super::{Finish, Reply, ToolContext, ToolError, args, files, nvs_csv, recorded};
use crate::model::{
    Change, DraftChange, FlashRegion, NvsEdit, NvsPlan, Outcome, Partition, ProjectPath,
};
use crate::toolchain::nvs::{self, EntryChange, NvsError, Planned, WhyNot};

/// The partition that ESP-IDF's own functions use.
const USUAL: &str = "nvs";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditNvsArgs {
    /// The file that `read_flash` has read the partition into, e.g. `build/nvs.bin`.
    base: String,
    /// What to set and to remove; or give `csv`.
    #[serde(default)]
    entries: Vec<EntryArgs>,
    /// A file of the project with entries to set, in the CSV of ESP-IDF's partition generator. The
    /// files it names are files of the project, too.
    #[serde(default)]
    csv: Option<String>,
    /// The partition; `nvs` when left out.
    #[serde(default)]
    partition: Option<String>,
    /// The port of the board, e.g. `/dev/ttyUSB0`; the connected board when left out.
    #[serde(default)]
    port: Option<String>,
    /// Why, in a sentence for the person.
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EntryArgs {
    /// The namespace, at most 15 bytes.
    namespace: String,
    /// The key, at most 15 bytes.
    key: String,
    /// `u8` to `i64`, `string`, or for bytes `hex2bin` or `base64`.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// The value: a number, or a text in the form that `type` says.
    #[serde(default)]
    value: Option<Literal>,
    /// Removes the entry.
    #[serde(default)]
    delete: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Literal {
    Number(serde_json::Number),
    Text(String),
}

fn propose(context: &ToolContext, args: EditNvsArgs) -> Result<Reply, ToolError> {
    let EditNvsArgs { base, entries, csv, partition, port, reason } = args;
    let wishes = match csv {
        Some(csv) if entries.is_empty() => listed(context, &csv)?,
        None if !entries.is_empty() => wishes(entries)?,
        Some(_) | None => {
            let message = "either `entries` or `csv` must be given";
            return Err(wrong(message.to_owned(), "Name at least one entry."));
        }
    };
    let board = flash_of(context, port, Aim::Edit)?;
    let region = region(context, partition.as_deref().unwrap_or(USUAL))?;
    let held = read_base(context, &base, region.bytes as usize)?;
    let planned = nvs::plan(&held, wishes).map_err(|error| not_planned(&base, &error))?;
    let Planned { base, image, edits, space } = planned;
    let names: Vec<String> = edits.iter().map(NvsEdit::name).collect();
    let change = DraftChange::Nvs(NvsPlan { board, region, base, image, edits, space });
    Ok(Reply::propose(change, reason, finish(names)))
}

/// The place of a partition that holds settings: erased, one of another kind looks like it.
fn region(context: &ToolContext, label: &str) -> Result<FlashRegion, ToolError> {
    let Partition { label, kind, subtype, offset, bytes } = partition(context, label)?;
    match (kind.as_str(), subtype.as_str()) {
        // In CSV types may be numbers, too.
        ("data" | "1" | "0x01", "nvs" | "2" | "0x02") => Ok(FlashRegion { label, offset, bytes }),
        _ => {
            let message = format!("partition: `{label}` is of the type {kind}/{subtype}");
            Err(wrong(message, "Name one of the type data/nvs."))
        }
    }
}

/// The partition as it was read back.
fn read_base(context: &ToolContext, base: &str, bytes: usize) -> Result<Vec<u8>, ToolError> {
    let again = "Call `read_flash` with the partition and a new file, then name that file.";
    let path = ProjectPath::new(base)
        .map_err(|error| wrong(format!("base: {error}"), "Name a file of the project."))?;
    let held = context.project_dir.read_if_there(&path).map_err(files::unreadable)?;
    let Some(held) = held else {
        return Err(wrong(format!("base: there is no `{path}`"), again));
    };
    if held.len() != bytes {
        let message = format!("base: `{path}` has {} bytes; the partition has {bytes}", held.len());
        return Err(wrong(message, again));
    }
    Ok(held)
}

/// The entries of a file.
fn listed(context: &ToolContext, csv: &str) -> Result<Vec<EntryChange>, ToolError> {
    let read = |file: &str| {
        let path = ProjectPath::new(file).map_err(|error| error.to_string())?;
        context.project_dir.read(&path).map_err(|error| error.to_string())
    };
    let reported = |why: String| wrong(format!("csv: `{csv}`: {why}"), "Correct the file.");
    let content = read(csv).map_err(reported)?;
    let text = String::from_utf8(content).map_err(|_| reported("it is not text".to_owned()))?;
    let wishes = nvs_csv::parse(&text, read).map_err(reported)?;
    match wishes.is_empty() {
        true => Err(reported("it names no entry".to_owned())),
        false => Ok(wishes),
    }
}

fn finish(names: Vec<String>) -> Finish {
    Box::new(move |settlements| {
        let is_stale =
            settlements.first().is_some_and(|of| matches!(of.outcome, Outcome::Stale { .. }));
        let again = "Read the partition into a new file and propose the change again.";
        let report = OutcomeReport {
            code: "not_edited",
            done: json!({ "edited": names, "verified": true }),
            refused: json!({ "edited": Value::Null }),
            stale: "the board's content there has changed since it was shown".to_owned(),
            again: if is_stale { again } else { "" },
        };
        Box::pin(std::future::ready(report.of(&settlements)))
    })
}

fn wrong(message: String, hint: &str) -> ToolError {
    ToolError::new("bad_arguments", message, hint)
}

/// The wishes that the arguments tell.
fn wishes(entries: Vec<EntryArgs>) -> Result<Vec<EntryChange>, ToolError> {
    entries.into_iter().enumerate().map(|(number, entry)| wish(number, entry)).collect()
}

fn wish(number: usize, entry: EntryArgs) -> Result<EntryChange, ToolError> {
    let EntryArgs { namespace, key, kind, value, delete } = entry;
    let at = |field: &str, why: String| {
        wrong(format!("entries[{number}].{field}: {why}"), "Correct the entry.")
    };
    nvs::name(&namespace).map_err(|why| at("namespace", why))?;
    nvs::name(&key).map_err(|why| at("key", why))?;
    let value = match (delete, kind, value) {
        (true, _, None) => None,
        (true, _, Some(_)) => {
            return Err(at("value", "an entry to delete has no value".to_owned()));
        }
        (false, Some(kind), Some(value)) => {
            let text = match value {
                Literal::Number(number) => number.to_string(),
                Literal::Text(text) => text,
            };
            Some(nvs::value(&kind, &text).map_err(|why| at("value", why))?)
        }
        (false, None, _) => return Err(at("type", "it is missing".to_owned())),
        (false, _, None) => return Err(at("value", "it is missing".to_owned())),
    };
    Ok(EntryChange { namespace, key, value })
}

fn not_planned(base: &str, error: &WhyNot) -> ToolError {
    match error {
        WhyNot::Nvs(error) => {
            let hint = match error {
                NvsError::Full { .. } | NvsError::Namespaces => {
                    "Remove entries that are not needed, or make the partition larger."
                }
                NvsError::Length(_)
                | NvsError::NoPages
                | NvsError::Encrypted
                | NvsError::Version(_)
                | NvsError::Name(..)
                | NvsError::Kind(..) => {
                    "Only the firmware can change it; `erase_flash` erases it as a whole."
                }
            };
            ToolError::new("cannot_edit", format!("`{base}`: {error}"), hint)
        }
        WhyNot::Nothing => ToolError::new("nothing_to_change", error.to_string(), ""),
        WhyNot::Missing(_) | WhyNot::Twice(_) | WhyNot::Several(_) => {
            wrong(format!("entries: {error}"), "Correct the entry.")
        }
    }
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "edit_nvs",
    about: "Proposes to set or remove entries of the board's non-volatile storage (NVS), such as \
         `wifi:ssid`. First read the partition into a file with `read_flash`: its other \
         entries stay as they are. A person has to type a phrase to agree.",
    schema: args::schema::<EditNvsArgs>,
    time: TimeLimit::Of(Duration::from_secs(15)),
    call: |call| Box::pin(async move { propose(call.context, call.args()?) }),
    finish: |done| match done.change() {
        Some(Change::Nvs(plan)) => {
            recorded::ready(finish(plan.edits.iter().map(NvsEdit::name).collect()))
        }
        _ => recorded::ready(recorded::plain_finish(done.proposals)),
    },
};
