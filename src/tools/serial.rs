//! `monitor_serial`: reads what the board prints.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::serial_capture::SerialCapture;
use super::{Reply, Tool, ToolContext, ToolError, answer, args, panics};
use crate::device::panic::RawPanic;
use crate::device::{DEFAULT_BAUD, Listener};
use crate::model::ToolSpec;
use crate::toolchain::console_baud;

/// Name of the tool.
pub const NAME: &str = "monitor_serial";

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

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(MonitorSerial { context: context.clone() })
}

struct MonitorSerial {
    context: ToolContext,
}

impl MonitorSerial {
    async fn monitor(&self, args: SerialArgs) -> Result<Value, ToolError> {
        let usual = self.context.limits.monitor_seconds.clamp(1, MAX_SECONDS);
        let seconds = args.timeout.unwrap_or(usual);
        if !(1..=MAX_SECONDS).contains(&seconds) {
            let message = format!("timeout: {seconds} is not between 1 and {MAX_SECONDS}");
            return Err(ToolError::new("bad_arguments", message, "Listen again for more."));
        }
        let until = args.until.as_deref().map(pattern).transpose()?;
        let listener = self.listener(args.port, args.baud).await?;
        let mut captured =
            SerialCapture::new(self.context.limits.answer_bytes.min(LOG_BYTES), until);
        let mut position = listener.reported();
        let losses = listener.subscribe().borrow().losses;
        let end = listen(&listener, &mut position, &mut captured);
        let disconnected = tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => None,
            done = tokio::time::timeout(Duration::from_secs(seconds.into()), end) => {
                done.unwrap_or_default()
            }
        };
        listener.set_reported(position);
        let raw = captured.take_panics();
        let mut fields = captured.finish();
        fields["panics"] = self.panics(raw).await;
        fields["port"] = json!(listener.port);
        fields["disconnected"] = json!(disconnected);
        let losses = listener.subscribe().borrow().losses - losses;
        if losses > 0 {
            fields["disconnects"] = json!(losses);
        }
        Ok(answer::ok(fields))
    }

    /// Looks panics up in the program, which reads files.
    async fn panics(&self, raw: Vec<RawPanic>) -> Value {
        let hub = Arc::clone(&self.context.serial);
        let printed = tokio::task::spawn_blocking(move || {
            raw.iter().map(|raw| panics::json_of(&hub.report(raw))).collect::<Vec<_>>()
        });
        printed.await.map_or_else(|_| json!([]), Value::from)
    }

    /// What was received since the last call is heard first, even if the port is gone by now.
    async fn listener(
        &self,
        port: Option<String>,
        baud: Option<u32>,
    ) -> Result<Listener, ToolError> {
        listener(&self.context, port, baud, |listener| {
            let received = listener.subscribe().borrow().clone();
            received.closed.is_none() || received.bytes > listener.reported()
        })
        .await
    }
}

/// How the port of a simulated board may be called.
const SIMULATED: &str = "virtual";

/// Bits per second at which a port is opened: those that were asked for, else those of the
/// project's console, else the usual ones.
pub(super) fn baud(context: &ToolContext, asked: Option<u32>) -> u32 {
    asked.or_else(|| console_baud(context.project_dir.root())).unwrap_or(DEFAULT_BAUD)
}

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
    let state = context.state.snapshot();
    let Some(port) = port.filter(|port| port != SIMULATED).or(state.board.map(|board| board.port))
    else {
        if let Some(started) = context.toolchain.switch_on(context.project_dir.root()) {
            let board =
                started.map_err(|error| ToolError::from_user_error("cannot_listen", &error))?;
            return open(context, &board.port, asked).await;
        }
        return Err(ToolError::new(
            "no_board",
            "no board is connected",
            "Call `flash_project` first, or name the port.",
        ));
    };
    match context.serial.get(&port).filter(|listener| serves(listener)) {
        Some(listener) => Ok(listener),
        None => open(context, &port, asked).await,
    }
}

async fn open(
    context: &ToolContext,
    port: &str,
    asked: Option<u32>,
) -> Result<Listener, ToolError> {
    let log = context.state.snapshot().serial_logs + 1;
    let opened = context.serial.open(port, baud(context, asked), log).await;
    opened.map_err(|error| ToolError::from_user_error("cannot_listen", &error))
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

impl Tool for MonitorSerial {
    fn spec(&self) -> ToolSpec {
        args::spec::<SerialArgs>(
            NAME,
            "Reads what the board printed since the last call and what it prints until the \
             timeout or until a line matches; reports panics (with functions and lines of the call chain), resets and disconnects.",
        )
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(MAX_SECONDS) + 10)
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.monitor(args::parse(args)?).await.map(Reply::Answer) })
    }
}
