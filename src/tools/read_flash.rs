//! `read_flash`: proposes to read a part of the board's flash into a new file.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{TimeLimit, ToolEntry};
use super::flash_regions::{Aim, flash_of, region};
use super::recorded::OutcomeReport;
use super::{Finish, Reply, ToolContext, ToolError, args, recorded};
use crate::model::{Change, DraftChange, FlashRegion, ProjectPath, ReadPlan};

/// Read at once, at most: the largest flash that is common.
const MAX_BYTES: u32 = 16 * 1024 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFlashArgs {
    /// The file to make, which must not exist, e.g. `build/nvs-backup.bin`.
    path: String,
    /// The partition to read, e.g. `nvs`; or give `offset` and `bytes`.
    #[serde(default)]
    partition: Option<String>,
    /// The address of the first byte.
    #[serde(default)]
    offset: Option<u32>,
    /// How many bytes.
    #[serde(default)]
    bytes: Option<u32>,
    /// The port of the board, e.g. `/dev/ttyUSB0`; the connected board when left out.
    #[serde(default)]
    port: Option<String>,
    /// Why, in a sentence for the person.
    #[serde(default)]
    reason: String,
}

fn propose(context: &ToolContext, args: ReadFlashArgs) -> Result<Reply, ToolError> {
    let ReadFlashArgs { path, partition, offset, bytes, port, reason } = args;
    let wrong = |message: String, hint: &str| ToolError::new("bad_arguments", message, hint);
    let path = ProjectPath::new(&path)
        .map_err(|error| wrong(format!("path: {error}"), "Name a file inside the project."))?;
    let there = context.project_dir.read_if_there(&path);
    if !matches!(there, Ok(None)) {
        let hint = "Name a file that does not exist yet.";
        return Err(wrong(format!("path: `{path}` exists or cannot be made"), hint));
    }
    let board = flash_of(context, port, Aim::Read)?;
    let region = match (partition, offset, bytes) {
        (Some(label), None, None) => region(context, &label)?,
        (None, Some(offset), Some(bytes)) => FlashRegion { label: String::new(), offset, bytes },
        _ => {
            let message = "either `partition`, or `offset` and `bytes`, must be given";
            return Err(wrong(message.to_owned(), ""));
        }
    };
    let ends = region.offset.checked_add(region.bytes);
    if region.bytes == 0 || region.bytes > MAX_BYTES || ends.is_none() {
        let message = format!("bytes: {} are not 1 to {MAX_BYTES}", region.bytes);
        return Err(wrong(message, "Read it in several parts."));
    }
    let (bytes, file) = (region.bytes, path.clone());
    let change = DraftChange::Read(ReadPlan { board, region, path });
    Ok(Reply::propose(change, reason, finish(file, bytes)))
}

fn finish(file: ProjectPath, bytes: u32) -> Finish {
    let report = OutcomeReport {
        code: "not_read",
        done: json!({ "saved": file.as_str(), "bytes": bytes, "verified": true }),
        refused: json!({ "saved": Value::Null }),
        stale: format!("`{file}` was created in the meantime"),
        again: "Propose to read it into another file.",
    };
    report.finish()
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "read_flash",
    about: "Proposes to read a partition of the board's flash, or a range of addresses, into a \
         new file of the project, checked against the chip's own digest. A person decides; \
         a real board is restarted for it.",
    schema: args::schema::<ReadFlashArgs>,
    time: TimeLimit::Of(Duration::from_secs(15)),
    call: |call| Box::pin(async move { propose(call.context, call.args()?) }),
    finish: |done| match done.change() {
        Some(Change::Read(plan)) => recorded::ready(finish(plan.path.clone(), plan.region.bytes)),
        _ => recorded::ready(recorded::plain_finish(done.proposals)),
    },
};
