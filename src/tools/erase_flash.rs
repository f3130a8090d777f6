//! `erase_flash`: proposes to erase the board's flash, or one partition of it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{TimeLimit, ToolEntry};
use super::flash_regions::{Aim, flash_of, region};
use super::recorded::OutcomeReport;
use super::{Finish, Reply, ToolContext, ToolError, args, recorded};
use crate::model::{Change, DraftChange, ErasePlan};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EraseFlashArgs {
    /// The partition to erase, e.g. `nvs` for the stored settings; the whole flash when left out.
    #[serde(default)]
    partition: Option<String>,
    /// The port of the board, e.g. `/dev/ttyUSB0`; the connected board when left out.
    #[serde(default)]
    port: Option<String>,
    /// Why, in a sentence for the person.
    #[serde(default)]
    reason: String,
}

fn propose(context: &ToolContext, args: EraseFlashArgs) -> Result<Reply, ToolError> {
    let EraseFlashArgs { partition, port, reason } = args;
    let board = flash_of(context, port, Aim::Erase)?;
    let region = partition.map(|label| region(context, &label)).transpose()?;
    let plan = ErasePlan { board, region };
    let erased = plan.name();
    Ok(Reply::propose(DraftChange::Erase(plan), reason, finish(erased)))
}

fn finish(erased: String) -> Finish {
    let report = OutcomeReport {
        code: "not_erased",
        done: json!({ "erased": erased }),
        refused: json!({ "erased": Value::Null }),
        stale: "it was changed".to_owned(),
        again: "",
    };
    report.finish()
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "erase_flash",
    about: "Proposes to erase one partition of the board's flash, such as `nvs` with its stored \
         settings, or the whole flash. A person has to type a phrase to agree: what is erased \
         is gone.",
    schema: args::schema::<EraseFlashArgs>,
    time: TimeLimit::Of(Duration::from_secs(15)),
    call: |call| Box::pin(async move { propose(call.context, call.args()?) }),
    finish: |done| match done.change() {
        Some(Change::Erase(plan)) => recorded::ready(finish(plan.name())),
        _ => recorded::ready(recorded::plain_finish(done.proposals)),
    },
};
