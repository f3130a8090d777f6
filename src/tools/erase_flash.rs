//! `erase_flash`: proposes to erase the board's flash, or one partition of it.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::flash_regions::{Aim, flash_of, region};
use super::{Finish, Reply, Tool, ToolContext, ToolError, answer, args, recorded};
use crate::model::{BlobSource, Change, Draft, DraftChange, ErasePlan, Proposal, ToolSpec};

/// Name of the tool.
pub const NAME: &str = "erase_flash";

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

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(EraseFlash { context: context.clone() })
}

struct EraseFlash {
    context: ToolContext,
}

impl EraseFlash {
    fn propose(&self, args: EraseFlashArgs) -> Result<Reply, ToolError> {
        let EraseFlashArgs { partition, port, reason } = args;
        let board = flash_of(&self.context, port, Aim::Erase)?;
        let region = partition.map(|label| region(&self.context, &label)).transpose()?;
        let plan = ErasePlan { board, region };
        let erased = plan.name();
        let change = DraftChange::Erase(plan);
        let draft = Draft { change, reason, checks: Vec::new() };
        Ok(Reply::Propose { drafts: vec![draft], finish: finish(erased) })
    }
}

fn finish(erased: String) -> Finish {
    Box::new(move |settlements| {
        let reported = answer::OutcomeReport {
            code: "not_erased",
            done: json!({ "erased": erased }),
            refused: json!({ "erased": Value::Null }),
            stale: "it was changed",
            again: "",
        };
        Box::pin(std::future::ready(reported.of(&settlements)))
    })
}

impl Tool for EraseFlash {
    fn spec(&self) -> ToolSpec {
        args::spec::<EraseFlashArgs>(
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

    fn finish_recorded<'a>(
        &'a self,
        _args: &'a Value,
        recorded: &'a [Proposal],
        _: &'a dyn BlobSource,
    ) -> BoxFuture<'a, Finish> {
        match recorded.first().map(|proposal| &proposal.change) {
            Some(Change::Erase(plan)) => recorded::ready(finish(plan.name())),
            _ => recorded::ready(recorded::plain_finish(recorded)),
        }
    }
}
