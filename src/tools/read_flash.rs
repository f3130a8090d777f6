//! `read_flash`: proposes to read a part of the board's flash into a new file.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::flash_regions::{Aim, flash_of, region};
use super::{Finish, Reply, Tool, ToolContext, ToolError, answer, args, recorded};
use crate::model::{
    BlobSource, Change, Draft, DraftChange, FlashRegion, ProjectPath, Proposal, ReadPlan, ToolSpec,
};

/// Name of the tool.
pub const NAME: &str = "read_flash";

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

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(ReadFlash { context: context.clone() })
}

struct ReadFlash {
    context: ToolContext,
}

impl ReadFlash {
    fn propose(&self, args: ReadFlashArgs) -> Result<Reply, ToolError> {
        let ReadFlashArgs { path, partition, offset, bytes, port, reason } = args;
        let wrong = |message: String, hint: &str| ToolError::new("bad_arguments", message, hint);
        let path = ProjectPath::new(&path)
            .map_err(|error| wrong(format!("path: {error}"), "Name a file inside the project."))?;
        let there = self.context.project_dir.read_if_there(&path);
        if !matches!(there, Ok(None)) {
            let hint = "Name a file that does not exist yet.";
            return Err(wrong(format!("path: `{path}` exists or cannot be made"), hint));
        }
        let board = flash_of(&self.context, port, Aim::Read)?;
        let region = match (partition, offset, bytes) {
            (Some(label), None, None) => region(&self.context, &label)?,
            (None, Some(offset), Some(bytes)) => {
                FlashRegion { label: String::new(), offset, bytes }
            }
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
        let draft = Draft { change, reason, checks: Vec::new() };
        Ok(Reply::Propose { drafts: vec![draft], finish: finish(file, bytes) })
    }
}

fn finish(file: ProjectPath, bytes: u32) -> Finish {
    Box::new(move |settlements| {
        let reported = answer::OutcomeReport {
            code: "not_read",
            done: json!({ "saved": file.as_str(), "bytes": bytes, "verified": true }),
            refused: json!({ "saved": Value::Null }),
            stale: &format!("`{file}` was created in the meantime"),
            again: "Propose to read it into another file.",
        };
        Box::pin(std::future::ready(reported.of(&settlements)))
    })
}

impl Tool for ReadFlash {
    fn spec(&self) -> ToolSpec {
        args::spec::<ReadFlashArgs>(
            NAME,
            "Proposes to read a partition of the board's flash, or a range of addresses, into a \
             new file of the project, checked against the chip's own digest. A person decides; \
             a real board is restarted for it.",
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
            Some(Change::Read(plan)) => {
                recorded::ready(finish(plan.path.clone(), plan.region.bytes))
            }
            _ => recorded::ready(recorded::plain_finish(recorded)),
        }
    }
}
