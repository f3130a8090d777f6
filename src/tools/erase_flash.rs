//! `erase_flash`: proposes to erase the board's flash, or one partition of it.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::generate_code::words;
use super::{Finish, Reply, Tool, ToolContext, ToolError, answer, args};
use crate::model::{
    BoardInfo, Draft, DraftChange, ErasePlan, FlashRegion, Outcome, ProjectPath, Settlement,
    ToolSpec,
};
use crate::toolchain::partitions;

/// Name of the tool.
pub const NAME: &str = "erase_flash";

/// Where ESP-IDF puts the settings unless a table says otherwise.
const USUAL_NVS: (u32, u32) = (0x9000, 0x6000);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
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

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(EraseFlash { context: context.clone() })
}

struct EraseFlash {
    context: ToolContext,
}

impl EraseFlash {
    fn propose(&self, args: Args) -> Result<Reply, ToolError> {
        let Args { partition, port, reason } = args;
        let root = self.context.sandbox.root();
        let mut board = self
            .context
            .toolchain
            .erasable(root)
            .map_err(|error| ToolError::from_user_error("cannot_erase", &error))?;
        if let Some(port) = port.filter(|port| *port != board.port) {
            if board.simulated {
                let message = format!("port: `{port}` is not the port of the {}", board.label);
                return Err(ToolError::new("bad_arguments", message, "Leave `port` out."));
            }
            board.port = port;
        }
        let region = partition.map(|label| self.region(&label, &board)).transpose()?;
        let plan = ErasePlan { board, region };
        let erased = plan.name();
        let change = DraftChange::Erase(plan);
        let draft = Draft { change, reason, checks: Vec::new() };
        let finish: Finish = Box::new(move |settlements| {
            Box::pin(std::future::ready(outcome(&erased, settlements.first())))
        });
        Ok(Reply::Propose { drafts: vec![draft], finish })
    }

    /// The place of a partition in the table of the project.
    fn region(&self, label: &str, board: &BoardInfo) -> Result<FlashRegion, ToolError> {
        let read = |file: &str| self.context.sandbox.read(&ProjectPath::new(file).ok()?).ok();
        let table = partitions::of_project("", read);
        let known = table.map(|(_, partitions)| partitions).unwrap_or_default();
        if let Some(found) = known.iter().find(|partition| partition.label == label) {
            let (offset, bytes) = (found.offset, found.bytes);
            return Ok(FlashRegion { label: label.to_owned(), offset, bytes });
        }
        // A simulated board has no table, and keeps its settings aside.
        if board.simulated && label == "nvs" {
            let (offset, bytes) = USUAL_NVS;
            return Ok(FlashRegion { label: label.to_owned(), offset, bytes });
        }
        let names: Vec<&str> = known.iter().map(|partition| partition.label.as_str()).collect();
        let hint = match names.as_slice() {
            [] if board.simulated => "Erase `nvs`, or leave `partition` out.".to_owned(),
            [] => "Build the project first: its partition table is not known.".to_owned(),
            names => format!("Use one of: {}.", names.join(", ")),
        };
        let message = format!("partition: there is no `{label}`");
        Err(ToolError::new("bad_arguments", message, hint))
    }
}

/// What became of the erasing.
fn outcome(erased: &str, settlement: Option<&Settlement>) -> Result<Value, ToolError> {
    let Some(Settlement { decision, outcome, .. }) = settlement else {
        return Err(ToolError::new("not_erased", "nothing became of the proposal", ""));
    };
    match outcome {
        Outcome::Applied => Ok(answer::ok(json!({ "erased": erased }))),
        Outcome::Denied => {
            Ok(answer::ok(json!({ "erased": Value::Null, "rejected": words(decision) })))
        }
        Outcome::Failed(error) => Err(ToolError::from_user_error("not_erased", error)),
        Outcome::Interrupted(why) => Err(ToolError::new("not_erased", why.clone(), "")),
        Outcome::Stale { .. } => Err(ToolError::new("not_erased", "it was changed", "")),
    }
}

impl Tool for EraseFlash {
    fn spec(&self) -> ToolSpec {
        args::spec::<Args>(
            NAME,
            "Proposes to erase one partition of the board's flash, such as `nvs` with its stored \
             settings, or the whole flash. A person has to type a phrase to agree: what is erased \
             is gone.",
        )
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(15)
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.propose(args::parse(args)?) })
    }
}
