//! `flash_project`: proposes to write the last build to the board.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{TimeLimit, ToolEntry};
use super::flash_regions::use_port;
use super::{Finish, Reply, ToolContext, ToolError, args, recorded};
use crate::device::{DEFAULT_BAUD, Listener, last_reset};
use crate::model::{Change, Check, CheckKind, Draft, DraftChange, FlashPlan, LogId, Proposal};
use crate::toolchain::console_baud;

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

/// Proposes to write the last build.
pub(super) async fn propose(context: &ToolContext, args: FlashArgs) -> Result<Reply, ToolError> {
    let plan = plan(context, args.port)?;
    let before = context.serial.get(&plan.board.port);
    let before = before.map(|listener| (listener.log, listener.since(u64::MAX).0));
    let reason = format!("to run build {} on {}", plan.build, plan.board.label);
    let bytes = plan.total_bytes();
    let checks = vec![Check::clean(CheckKind::BuildFresh)];
    let draft = Draft { change: DraftChange::Flash(plan), reason, checks };
    Ok(Reply::Propose { drafts: vec![draft], finish: finish(context, bytes, args.baud, before) })
}

/// The answer once `bytes` are written or not; `before` is how far the port had come, if it was
/// open.
fn finish(
    context: &ToolContext,
    bytes: u64,
    baud: Option<u32>,
    before: Option<(LogId, u64)>,
) -> Finish {
    let context = context.clone();
    let baud = baud.or_else(|| console_baud(context.project_dir.root()));
    Box::new(move |settlements| {
        Box::pin(async move {
            let reported = recorded::OutcomeReport {
                code: "not_flashed",
                done: json!({ "flashed": true, "bytes": bytes, "verified": true }),
                refused: json!({ "flashed": false }),
                stale: "the images were changed after they were shown".to_owned(),
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

/// As [`super::Tool::finish_recorded`], listening at that rate.
pub(super) fn finish_at(context: &ToolContext, baud: Option<u32>, recorded: &[Proposal]) -> Finish {
    let Some(Change::Flash(plan)) = recorded.first().map(|proposal| &proposal.change) else {
        return recorded::plain_finish(recorded);
    };
    finish(context, plan.total_bytes(), baud, None)
}

fn plan(context: &ToolContext, port: Option<String>) -> Result<FlashPlan, ToolError> {
    let state = context.state.snapshot();
    let Some(last) = state.last_build.filter(super::LastBuild::is_fresh_success) else {
        return Err(ToolError::new(
            "not_built",
            "there is no passed build of the files as they are now",
            "Call `build_project` first.",
        ));
    };
    let mut plan = context
        .toolchain
        .plan_flash(context.project_dir.root(), last.build, last.at)
        .map_err(|error| ToolError::from_user_error("cannot_flash", &error))?;
    use_port(&mut plan.board, port)?;
    Ok(plan)
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

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "flash_project",
    about: "Proposes to write the last passed build to the board. A person decides; afterwards the board runs it, and its serial output is recorded.",
    schema: args::schema::<FlashArgs>,
    time: TimeLimit::Of(Duration::from_secs(15)),
    call: |call| Box::pin(async move { propose(call.context, call.args()?).await }),
    finish: |done| {
        let baud = done.args_again::<FlashArgs>().and_then(|args| args.baud);
        recorded::ready(finish_at(done.context, baud, done.proposals))
    },
};
