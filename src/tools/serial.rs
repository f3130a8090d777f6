//! `monitor_serial`: reads what the board prints.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Reply, Tool, ToolContext, ToolError, answer, args};
use crate::device::{DEFAULT_BAUD, Line, LineKind, LineSplitter, Listener};
use crate::model::ToolSpec;

/// Name of the tool.
pub const NAME: &str = "monitor_serial";

const DEFAULT_SECONDS: u32 = 10;
const MAX_SECONDS: u32 = 120;

/// Text of the log in one answer, at most.
const LOG_BYTES: usize = 16 * 1024;

/// Panics and resets in one answer, at most.
const MAX_FINDINGS: usize = 10;

/// Lines of one panic's report, at most.
const PANIC_LINES: usize = 30;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The port, e.g. `/dev/ttyUSB0`; the connected board's when left out.
    #[serde(default)]
    port: Option<String>,
    /// Bits per second, when the port is not listened to yet; 115200 when left out.
    #[serde(default)]
    baud: Option<u32>,
    /// Seconds to listen, 1 to 120; 10 when left out.
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
    async fn monitor(&self, args: Args) -> Result<Value, ToolError> {
        let seconds = args.timeout.unwrap_or(DEFAULT_SECONDS);
        if !(1..=MAX_SECONDS).contains(&seconds) {
            let message = format!("timeout: {seconds} is not between 1 and {MAX_SECONDS}");
            return Err(ToolError::new("bad_arguments", message, "Listen again for more."));
        }
        let until = args.until.as_deref().map(pattern).transpose()?;
        let listener = self.listener(args.port, args.baud.unwrap_or(DEFAULT_BAUD))?;
        let mut heard = Heard::new(self.context.limits.answer_bytes.min(LOG_BYTES), until);
        let mut position = listener.reported();
        let end = listen(&listener, &mut position, &mut heard);
        let disconnected = tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => None,
            done = tokio::time::timeout(Duration::from_secs(seconds.into()), end) => {
                done.unwrap_or_default()
            }
        };
        listener.set_reported(position);
        let mut fields = heard.finish();
        fields["port"] = json!(listener.port);
        fields["disconnected"] = json!(disconnected);
        Ok(answer::ok(fields))
    }

    /// What was received since the last call is heard first, even if the port is gone by now.
    fn listener(&self, port: Option<String>, baud: u32) -> Result<Listener, ToolError> {
        let state = self.context.state.snapshot();
        let Some(port) = port.or(state.board.map(|board| board.port)) else {
            return Err(ToolError::new(
                "no_board",
                "no board is connected",
                "Call `flash_project` first, or name the port.",
            ));
        };
        let unheard = self.context.serial.get(&port).filter(|listener| {
            let received = listener.subscribe().borrow().clone();
            received.closed.is_none() || received.bytes > listener.reported()
        });
        match unheard {
            Some(listener) => Ok(listener),
            None => self
                .context
                .serial
                .open(&port, baud, state.serial_logs + 1)
                .map_err(|error| ToolError::from_user_error("cannot_listen", &error)),
        }
    }
}

fn pattern(text: &str) -> Result<Regex, ToolError> {
    RegexBuilder::new(text).size_limit(1 << 20).build().map_err(|error| {
        let message = format!("until: not a regular expression: {error}");
        ToolError::new("bad_arguments", message, "Escape characters such as ( and [ with \\.")
    })
}

/// Listens until a line matches or the port ends; returns why it ended.
async fn listen(listener: &Listener, position: &mut u64, heard: &mut Heard) -> Option<String> {
    let mut received = listener.subscribe();
    loop {
        let now = received.borrow_and_update().clone();
        if now.bytes > *position {
            let (start, bytes) = listener.since(*position);
            heard.skipped_bytes += start - *position;
            *position = start + bytes.len() as u64;
            heard.take(&bytes);
            if heard.matched.is_some() {
                return None;
            }
        }
        if now.closed.is_some() {
            return now.closed;
        }
        if received.changed().await.is_err() {
            return Some("the port is closed".to_owned());
        }
    }
}

/// What was heard so far, within bounds.
struct Heard {
    limit: usize,
    until: Option<Regex>,
    splitter: LineSplitter,
    lines: VecDeque<String>,
    bytes: usize,
    omitted_lines: u64,
    skipped_bytes: u64,
    matched: Option<String>,
    panics: Vec<Vec<String>>,
    in_panic: bool,
    resets: Vec<String>,
}

impl Heard {
    fn new(limit: usize, until: Option<Regex>) -> Self {
        Self {
            limit,
            until,
            splitter: LineSplitter::default(),
            lines: VecDeque::new(),
            bytes: 0,
            omitted_lines: 0,
            skipped_bytes: 0,
            matched: None,
            panics: Vec::new(),
            in_panic: false,
            resets: Vec::new(),
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        for line in self.splitter.push(bytes) {
            self.line(line);
        }
        // A prompt has no line end.
        if let Some(line) = self.splitter.partial() {
            self.compare(&line.text);
        }
    }

    fn line(&mut self, line: Line) {
        self.compare(&line.text);
        let room = self.panics.len() < MAX_FINDINGS;
        match line.kind {
            LineKind::Reset { cause } => {
                self.in_panic = false;
                if self.resets.len() < MAX_FINDINGS {
                    self.resets.push(cause);
                }
            }
            LineKind::PanicStart if !self.in_panic => {
                self.in_panic = room;
                if room {
                    self.panics.push(vec![line.text.clone()]);
                }
            }
            LineKind::PanicStart | LineKind::Backtrace | LineKind::Plain | LineKind::Log { .. } => {
                if self.in_panic
                    && let Some(panic) = self.panics.last_mut()
                    && panic.len() < PANIC_LINES
                    && !line.text.is_empty()
                {
                    panic.push(line.text.clone());
                }
            }
        }
        self.keep(line.text);
    }

    fn keep(&mut self, text: String) {
        self.bytes += text.len() + 1;
        self.lines.push_back(text);
        while self.bytes > self.limit
            && self.lines.len() > 1
            && let Some(oldest) = self.lines.pop_front()
        {
            self.bytes -= oldest.len() + 1;
            self.omitted_lines += 1;
        }
    }

    fn compare(&mut self, text: &str) {
        if self.matched.is_none() && self.until.as_ref().is_some_and(|until| until.is_match(text)) {
            self.matched = Some(text.to_owned());
        }
    }

    fn finish(mut self) -> Value {
        if let Some(line) = self.splitter.partial() {
            self.line(line);
        }
        let log: Vec<String> = self.lines.into();
        let mut fields = json!({ "log": log.join("\n") });
        if self.until.is_some() {
            fields["matched"] = json!(self.matched.is_some());
            if let Some(line) = self.matched {
                fields["matched_line"] = json!(line);
            }
        }
        fields["panics"] = json!(self.panics);
        fields["resets"] = json!(self.resets);
        if self.omitted_lines > 0 {
            fields["omitted_lines"] = json!(self.omitted_lines);
        }
        if self.skipped_bytes > 0 {
            fields["skipped_bytes"] = json!(self.skipped_bytes);
        }
        fields
    }
}

impl Tool for MonitorSerial {
    fn spec(&self) -> ToolSpec {
        args::spec::<Args>(
            NAME,
            "Reads what the board printed since the last call and what it prints until the \
             timeout or until a line matches; tells panics and resets.",
        )
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(MAX_SECONDS) + 10)
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.monitor(args::parse(args)?).await.map(Reply::Answer) })
    }
}
