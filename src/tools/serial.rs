//! `monitor_serial`: reads what the board prints.

use std::sync::Arc;
use std::time::Duration;

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{TimeLimit, ToolEntry};
use super::serial_capture::SerialCapture;
use super::{Reply, ToolContext, ToolError, answer, args, panics};
use crate::device::panic::RawPanic;
use crate::device::{DEFAULT_BAUD, Listener};
use crate::model::UserError;
use crate::toolchain::console_baud;

const MAX_SECONDS: u32 = 120;

/// Text of the log in one answer, at most.
const LOG_BYTES: usize = 16 * 1024;

/// A port that is away longer than this ends listening.
const AWAY_TIME: Duration = Duration::from_millis(2500);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SerialArgs {
    /// The port, e.g. `/dev/ttyUSB0`; the connected board's when left out.
    #[serde(default)]
    port: Option<String>,
    /// Bits per second, when the port is not listened to yet; those of the project's console when
    /// left out, else 115200.
    #[serde(default)]
    baud: Option<u32>,
    /// Seconds to listen, 1 to 120; 10 when left out, unless the person's settings say otherwise.
    #[serde(default)]
    timeout: Option<u32>,
    /// A regular expression; listening ends with the first line that matches.
    #[serde(default)]
    until: Option<String>,
}

async fn monitor(context: &ToolContext, args: SerialArgs) -> Result<Value, ToolError> {
    let usual = context.limits.monitor_seconds.clamp(1, MAX_SECONDS);
    let seconds =
        args::seconds(args.timeout.unwrap_or(usual), MAX_SECONDS, "Listen again for more.")?;
    let until = args.until.as_deref().map(pattern).transpose()?;
    // What was received since the last call is heard first, even if the port is gone by now.
    let serves = |listener: &Listener| {
        let received = listener.subscribe().borrow().clone();
        received.closed.is_none() || received.bytes > listener.reported()
    };
    let listener = listener(context, args.port, args.baud, serves).await?;
    let mut captured = SerialCapture::new(context.limits.answer_bytes.min(LOG_BYTES), until);
    let mut position = listener.reported();
    let losses = listener.subscribe().borrow().losses;
    let end = listen(&listener, &mut position, &mut captured);
    let disconnected = tokio::select! {
        biased;
        () = context.cancel.cancelled() => None,
        done = tokio::time::timeout(Duration::from_secs(seconds.into()), end) => {
            done.unwrap_or_default()
        }
    };
    listener.set_reported(position);
    let raw = captured.take_panics();
    let mut fields = captured.finish();
    fields["panics"] = panics(context, raw).await;
    fields["port"] = json!(listener.port);
    fields["disconnected"] = json!(disconnected);
    let losses = listener.subscribe().borrow().losses - losses;
    answer::set(&mut fields, "disconnects", (losses > 0).then_some(losses));
    Ok(answer::ok(fields))
}

/// Looks panics up in the program, which reads files.
async fn panics(context: &ToolContext, raw: Vec<RawPanic>) -> Value {
    let hub = Arc::clone(&context.serial);
    let printed = tokio::task::spawn_blocking(move || {
        raw.iter().map(|raw| panics::json_of(&hub.report(raw))).collect::<Vec<_>>()
    });
    printed.await.map_or_else(|_| json!([]), Value::from)
}

/// How the port of a simulated board may be called.
const SIMULATED: &str = "virtual";

/// Listens to a port, that of the connected board when none is named. One that was opened before
/// stays as it is where it `serves`; any other is opened at [`baud`].
///
/// # Errors
/// `no_board` without a port, `cannot_listen` when it cannot be opened.
pub(super) async fn listener(
    context: &ToolContext,
    port: Option<String>,
    asked: Option<u32>,
    serves: impl Fn(&Listener) -> bool,
) -> Result<Listener, ToolError> {
    let cannot = |error: UserError| ToolError::from_user_error("cannot_listen", &error);
    let state = context.state.snapshot();
    let Some(port) = port.filter(|port| port != SIMULATED).or(state.board.map(|board| board.port))
    else {
        if let Some(started) = context.toolchain.switch_on(context.project_dir.root()) {
            return open(context, &started.map_err(cannot)?.port, asked).await.map_err(cannot);
        }
        return Err(ToolError::new(
            "no_board",
            "no board is connected",
            "Call `flash_project` first, or name the port.",
        ));
    };
    match context.serial.get(&port).filter(|listener| serves(listener)) {
        Some(listener) => Ok(listener),
        None => open(context, &port, asked).await.map_err(cannot),
    }
}

/// Opens a port with the rate that is asked for, or else that of the project's console.
pub(super) async fn open(
    context: &ToolContext,
    port: &str,
    asked: Option<u32>,
) -> Result<Listener, UserError> {
    let baud = asked.or_else(|| console_baud(context.project_dir.root())).unwrap_or(DEFAULT_BAUD);
    let log = context.state.snapshot().serial_logs + 1;
    context.serial.open(port, baud, log).await
}

fn pattern(text: &str) -> Result<Regex, ToolError> {
    RegexBuilder::new(text).size_limit(1 << 20).build().map_err(|error| {
        let message = format!("until: not a regular expression: {error}");
        ToolError::new("bad_arguments", message, "Escape characters such as ( and [ with \\.")
    })
}

/// Listens until a line matches or the port ends; returns why it ended.
async fn listen(
    listener: &Listener,
    position: &mut u64,
    captured: &mut SerialCapture,
) -> Option<String> {
    let mut received = listener.subscribe();
    loop {
        let now = received.borrow_and_update().clone();
        if now.bytes > *position {
            let (start, bytes) = listener.since(*position);
            captured.skipped_bytes += start - *position;
            *position = start + bytes.len() as u64;
            captured.take(&bytes);
            if captured.matched.is_some() {
                return None;
            }
        }
        if now.closed.is_some() {
            return now.closed;
        }
        let changed = received.changed();
        let changed = match now.away {
            // A board that starts anew is back in a moment.
            Some(why) => match tokio::time::timeout(AWAY_TIME, changed).await {
                Ok(changed) => changed,
                Err(_) => return Some(why),
            },
            None => changed.await,
        };
        if changed.is_err() {
            return Some("the port is closed".to_owned());
        }
    }
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "monitor_serial",
    about: "Reads what the board printed since the last call and what it prints until the \
         timeout or until a line matches; reports panics (with functions and lines of the call chain), resets and disconnects.",
    schema: args::schema::<SerialArgs>,
    time: TimeLimit::Of(Duration::from_secs(MAX_SECONDS as u64 + 10)),
    call: |call| {
        Box::pin(async move { monitor(call.context, call.args()?).await.map(Reply::Answer) })
    },
    ..ToolEntry::USUAL
};
