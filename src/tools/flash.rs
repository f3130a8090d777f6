//! `flash_project`: proposes to write the last build to the board.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Finish, Reply, Tool, ToolContext, ToolError, answer, args, recorded};
use crate::device::{DEFAULT_BAUD, Listener, last_reset};
use crate::model::{
    BlobSource, Change, Check, CheckKind, Draft, DraftChange, FlashPlan, LogId, Proposal, ToolSpec,
};
use crate::toolchain::console_baud;

/// Name of the tool.
pub const NAME: &str = "flash_project";

const RESET_WAIT: Duration = Duration::from_millis(500);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FlashArgs {
    /// The port of the board, e.g. `/dev/ttyUSB0`; the connected board when left out.
    #[serde(default)]
    pub(super) port: Option<String>,
    /// Bits per second to listen with after the flash; those of the project's console when left
    /// out, else 115200.
    #[serde(default)]
    pub(super) baud: Option<u32>,
}

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(FlashProject { context: context.clone() })
}

pub(super) struct FlashProject {
    /// What it works with.
    pub(super) context: ToolContext,
}

impl FlashProject {
    /// Proposes to write the last build.
    pub(super) async fn propose(&self, args: FlashArgs) -> Result<Reply, ToolError> {
        let plan = self.plan(args.port)?;
        let before = self.context.serial.get(&plan.board.port);
        let before = before.map(|listener| (listener.log, listener.since(u64::MAX).0));
        let reason = format!("to run build {} on {}", plan.build, plan.board.label);
        let bytes = plan.total_bytes();
        let checks = checks();
        let draft = Draft { change: DraftChange::Flash(plan), reason, checks };
        Ok(Reply::Propose { drafts: vec![draft], finish: self.finish(bytes, args.baud, before) })
    }

    /// The answer once `bytes` are written or not; `before` is how far the port had come, if it was
    /// open.
    fn finish(&self, bytes: u64, baud: Option<u32>, before: Option<(LogId, u64)>) -> Finish {
        let context = self.context.clone();
        let baud = baud.or_else(|| console_baud(context.project_dir.root()));
        Box::new(move |settlements| {
            Box::pin(async move {
                let reported = answer::OutcomeReport {
                    code: "not_flashed",
                    done: json!({ "flashed": true, "bytes": bytes, "verified": true }),
                    refused: json!({ "flashed": false }),
                    stale: "the images were changed after they were shown",
                    again: "Build and propose the flash again.",
                };
                let mut answer = reported.of(&settlements)?;
                if answer["flashed"] == true {
                    listen(&context, baud, before, &mut answer).await?;
                }
                Ok(answer)
            })
        })
    }

    /// As [`Tool::finish_recorded`].
    fn finish_of(&self, args: &Value, recorded: &[Proposal]) -> Finish {
        let baud = args::parse::<FlashArgs>(args.clone()).ok().and_then(|args| args.baud);
        self.finish_at(baud, recorded)
    }

    /// As [`Tool::finish_recorded`], listening at that rate.
    pub(super) fn finish_at(&self, baud: Option<u32>, recorded: &[Proposal]) -> Finish {
        let Some(Change::Flash(plan)) = recorded.first().map(|proposal| &proposal.change) else {
            return recorded::plain_finish(recorded);
        };
        self.finish(plan.total_bytes(), baud, None)
    }

    fn plan(&self, port: Option<String>) -> Result<FlashPlan, ToolError> {
        let state = self.context.state.snapshot();
        let Some(last) = state.last_build.filter(super::LastBuild::is_fresh_success) else {
            return Err(ToolError::new(
                "not_built",
                "there is no passed build of the files as they are now",
                "Call `build_project` first.",
            ));
        };
        let mut plan = self
            .context
            .toolchain
            .plan_flash(self.context.project_dir.root(), last.build, last.at)
            .map_err(|error| ToolError::from_user_error("cannot_flash", &error))?;
        if let Some(port) = port.filter(|port| *port != plan.board.port) {
            if plan.board.simulated {
                let message = format!("port: `{port}` is not the port of the {}", plan.board.label);
                let hint = "Leave `port` out.";
                return Err(ToolError::new("bad_arguments", message, hint));
            }
            plan.board.port = port;
        }
        Ok(plan)
    }
}

fn checks() -> Vec<Check> {
    vec![Check::clean(CheckKind::BuildFresh)]
}

/// Listens to the flashed board, at the rate its firmware talks with if that is known. `before` is
/// how far its port had come, if it was open.
async fn listen(
    context: &ToolContext,
    baud: Option<u32>,
    before: Option<(LogId, u64)>,
    answer: &mut Value,
) -> Result<(), ToolError> {
    let state = context.state.snapshot();
    let Some(board) = state.board else {
        let message = "the board was flashed and is no longer connected";
        return Err(ToolError::new("board_lost", message, "Ask the person to connect the board."));
    };
    answer["board"] = json!(board.label);
    answer["port"] = json!(board.port);
    let number = state.serial_logs + 1;
    match context.serial.open(&board.port, baud.unwrap_or(DEFAULT_BAUD), number).await {
        Ok(listener) => {
            // The port may be open from before, for what another firmware said.
            if let Some(baud) = baud
                && let Err(error) = context.serial.retune(&board.port, baud).await
            {
                answer["not_retuned"] = json!(error.to_string());
            }
            answer["serial_log"] = json!(listener.log);
            let start = before.filter(|(log, _)| *log == listener.log).map(|(_, end)| end);
            skip_old_firmware(&listener, start.unwrap_or(0)).await;
        }
        Err(error) => answer["not_listening"] = json!(error.to_string()),
    }
    Ok(())
}

/// What the board printed before it started anew was not the flashed firmware's: `monitor_serial`
/// goes on at the last reset after `position`, or there when the board does not tell its resets.
async fn skip_old_firmware(listener: &Listener, position: u64) {
    let reset = || {
        let (start, bytes) = listener.since(position);
        last_reset(&bytes).map(|at| start + at as u64)
    };
    let mut received = listener.subscribe();
    // The board is running already, so this is a matter of milliseconds.
    let seen = received.wait_for(|now| now.closed.is_some() || reset().is_some());
    // Without a reset within that time there is none to wait for.
    let _ = tokio::time::timeout(RESET_WAIT, seen).await;
    listener.set_reported(reset().unwrap_or(position));
}

impl Tool for FlashProject {
    fn spec(&self) -> ToolSpec {
        args::spec::<FlashArgs>(
            NAME,
            "Proposes to write the last passed build to the board. A person decides; afterwards the board runs it, and its serial output is recorded.",
        )
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(15)
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.propose(args::parse(args)?).await })
    }

    fn finish_recorded<'a>(
        &'a self,
        args: &'a Value,
        recorded: &'a [Proposal],
        _: &'a dyn BlobSource,
    ) -> BoxFuture<'a, Finish> {
        recorded::ready(self.finish_of(args, recorded))
    }
}
