//! `serial_send`: proposes to send text to the board.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::entry::{TimeLimit, ToolEntry};
use super::recorded::OutcomeReport;
use super::{Finish, Reply, ToolContext, ToolError, args, recorded, serial};
use crate::model::{BoardInfo, Change, DraftChange, LineEnding, SendPlan};

/// Name of the tool.
pub const NAME: &str = "serial_send";

/// Text in one call, so that a person can read all of it.
const MAX_BYTES: usize = 4096;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SerialSendArgs {
    /// What to send; the line end is added.
    text: String,
    /// The port, e.g. `/dev/ttyUSB0`; the connected board's when left out.
    #[serde(default)]
    port: Option<String>,
    /// How the line ends: `lf` when left out, which ESP-IDF's console expects; `none` adds nothing.
    #[serde(default)]
    line_end: Option<LineEnd>,
    /// Bits per second, when the port is not listened to yet; those of the project's console when
    /// left out, else 115200.
    #[serde(default)]
    baud: Option<u32>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LineEnd {
    Lf,
    Cr,
    Crlf,
    None,
}

impl LineEnd {
    const fn ending(self) -> LineEnding {
        match self {
            Self::Lf => LineEnding::Lf,
            Self::Cr => LineEnding::Cr,
            Self::Crlf => LineEnding::CrLf,
            Self::None => LineEnding::None,
        }
    }
}

async fn propose(context: &ToolContext, args: SerialSendArgs) -> Result<Reply, ToolError> {
    let SerialSendArgs { text, port, line_end, baud } = args;
    let text = text + line_end.unwrap_or(LineEnd::Lf).ending().text();
    if text.is_empty() || text.len() > MAX_BYTES {
        let message = format!("text: {} bytes are not 1 to {MAX_BYTES}", text.len());
        return Err(ToolError::new("bad_arguments", message, "Send it in several calls."));
    }
    let state = context.state.snapshot();
    let board = match (port, state.board) {
        (Some(port), Some(board)) if port == board.port => board,
        (Some(port), _) => {
            BoardInfo { label: port.clone(), chip: String::new(), port, simulated: false }
        }
        (None, Some(board)) => board,
        (None, None) => {
            let hint = "Call `flash_project` first, or name the port.";
            return Err(ToolError::new("no_board", "no board is connected", hint));
        }
    };
    // Listened to from here on, so that the reply is heard by `monitor_serial`.
    let open = serial::open(context, &board.port, baud).await;
    open.map_err(|error| ToolError::from_user_error("cannot_send", &error))?;
    let (bytes, port) = (text.len(), board.port.clone());
    let change = DraftChange::Send(SendPlan { board, text });
    Ok(Reply::propose(change, String::new(), finish(bytes, port)))
}

fn finish(bytes: usize, port: String) -> Finish {
    let report = OutcomeReport {
        code: "not_sent",
        done: json!({ "sent": true, "bytes": bytes, "port": port }),
        refused: json!({ "sent": false }),
        stale: "it was changed".to_owned(),
        again: "Send it again.",
    };
    report.finish()
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: NAME,
    about: "Proposes to send a line of text to the board's serial port, e.g. a command for its \
         console. A person decides on exactly what is sent; `monitor_serial` then reads what \
         the board replies.",
    schema: args::schema::<SerialSendArgs>,
    time: TimeLimit::Of(Duration::from_secs(15)),
    call: |call| Box::pin(async move { propose(call.context, call.args()?).await }),
    finish: |done| {
        Box::pin(async move {
            let Some(Change::Send(plan)) = done.change() else {
                return recorded::plain_finish(done.proposals);
            };
            // Listened to again, as it was when the proposal was made. A port that cannot be had
            // is told by the effect, with its cause.
            let baud = done.args_again::<SerialSendArgs>().and_then(|args| args.baud);
            let _ = serial::open(done.context, &plan.board.port, baud).await;
            finish(plan.text.len(), plan.board.port.clone())
        })
    },
};
