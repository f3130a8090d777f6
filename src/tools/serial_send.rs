//! `serial_send`: proposes to send text to the board.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Finish, Reply, Tool, ToolContext, ToolError, answer, args, recorded, serial};
use crate::model::{
    BlobSource, BoardInfo, Change, Draft, DraftChange, LineEnding, Proposal, SendPlan, ToolSpec,
};

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

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(SerialSend { context: context.clone() })
}

struct SerialSend {
    context: ToolContext,
}

impl SerialSend {
    async fn propose(&self, args: SerialSendArgs) -> Result<Reply, ToolError> {
        let SerialSendArgs { text, port, line_end, baud } = args;
        let text = text + line_end.unwrap_or(LineEnd::Lf).ending().text();
        if text.is_empty() || text.len() > MAX_BYTES {
            let message = format!("text: {} bytes are not 1 to {MAX_BYTES}", text.len());
            return Err(ToolError::new("bad_arguments", message, "Send it in several calls."));
        }
        let state = self.context.state.snapshot();
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
        let number = state.serial_logs + 1;
        let open = self.context.serial.open(&board.port, serial::baud(&self.context, baud), number);
        open.await.map_err(|error| ToolError::from_user_error("cannot_send", &error))?;
        let (bytes, port) = (text.len(), board.port.clone());
        let change = DraftChange::Send(SendPlan { board, text });
        let draft = Draft { change, reason: String::new(), checks: Vec::new() };
        Ok(Reply::Propose { drafts: vec![draft], finish: finish(bytes, port) })
    }

    /// Listens to the port again, as it was when the proposal was made.
    async fn listen_again(&self, port: &str, args: &Value) {
        let baud = args::parse::<SerialSendArgs>(args.clone()).ok().and_then(|args| args.baud);
        let number = self.context.state.snapshot().serial_logs + 1;
        let open = self.context.serial.open(port, serial::baud(&self.context, baud), number);
        // A port that cannot be had is told by the effect, with its cause.
        let _ = open.await;
    }
}

fn finish(bytes: usize, port: String) -> Finish {
    Box::new(move |settlements| {
        let reported = answer::OutcomeReport {
            code: "not_sent",
            done: json!({ "sent": true, "bytes": bytes, "port": port }),
            refused: json!({ "sent": false }),
            stale: "it was changed",
            again: "Send it again.",
        };
        Box::pin(std::future::ready(reported.of(&settlements)))
    })
}

impl Tool for SerialSend {
    fn spec(&self) -> ToolSpec {
        args::spec::<SerialSendArgs>(
            NAME,
            "Proposes to send a line of text to the board's serial port, e.g. a command for its \
             console. A person decides on exactly what is sent; `monitor_serial` then reads what \
             the board replies.",
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
        let Some(Change::Send(plan)) = recorded.first().map(|proposal| &proposal.change) else {
            return recorded::ready(recorded::plain_finish(recorded));
        };
        Box::pin(async move {
            self.listen_again(&plan.board.port, args).await;
            finish(plan.text.len(), plan.board.port.clone())
        })
    }
}
