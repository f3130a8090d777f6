//! `scan_i2c`: who answers on the I2C bus, by a scan of a simulated board's bus, else by what the
//! running firmware tells.
//!
//! Must not send anything to the board, nor change what it runs: where the firmware does not scan,
//! the answer brings a scanner that an agent can propose.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{TimeLimit, ToolEntry};
use super::{Reply, ToolContext, ToolError, Unkept, answer, args, serial, serial_send};
use crate::device::{
    DEFAULT_BAUD, LineKind, LineSplitter, Listener, Scan, ScanReader, SerialHub, last_reset,
};
use crate::toolchain::sketch::Sketch;

/// Name of the tool.
pub const NAME: &str = "scan_i2c";

/// Folder of the scanners.
const SCANNERS: &str = "assets/scanner";

const DEFAULT_SECONDS: u32 = 4;
const MAX_SECONDS: u32 = 60;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScanI2cArgs {
    /// The port, e.g. `/dev/ttyUSB0`; the connected board's when left out.
    #[serde(default)]
    port: Option<String>,
    /// Seconds to wait for a scan that has not been printed yet, 1 to 60; 4 when left out.
    #[serde(default)]
    timeout: Option<u32>,
}

/// What the board printed since it started, as far as it was read.
#[derive(Default)]
struct ScanOutput {
    reader: ScanReader,
    splitter: LineSplitter,
    position: u64,
    has_console: bool,
    has_reset: bool,
}

impl ScanOutput {
    /// Begins at the last reset that is known of, else with the oldest that is held.
    fn new(listener: &Listener) -> Self {
        let (start, bytes) = listener.since(0);
        let reset = last_reset(&bytes);
        let position = start + reset.unwrap_or(0) as u64;
        Self { position, has_reset: reset.is_some(), ..Self::default() }
    }

    fn take(&mut self, listener: &Listener) {
        let (start, bytes) = listener.since(self.position);
        self.position = start + bytes.len() as u64;
        for line in self.splitter.push(&bytes) {
            if let LineKind::Reset { .. } = line.kind {
                // What was found before may be on other pins, or gone.
                *self = Self {
                    splitter: std::mem::take(&mut self.splitter),
                    position: self.position,
                    has_reset: true,
                    ..Self::default()
                };
            }
            // The words of the example of ESP-IDF that scans on demand.
            self.has_console |= line.text.contains("i2cdetect") || line.text.contains("i2c-tools>");
            self.reader.push(&line.text);
        }
    }
}

async fn scan(context: &ToolContext, args: ScanI2cArgs) -> Result<Value, ToolError> {
    let seconds = args.timeout.unwrap_or(DEFAULT_SECONDS);
    let seconds = args::seconds(seconds, MAX_SECONDS, "Call again for more.")?;
    let named = args.port.as_deref().filter(|port| *port != "virtual");
    if named.is_none()
        && let Some(answer) = simulated(context, None, seconds).await
    {
        return answer;
    }
    let named = named.map(str::to_owned);
    let serves = |listener: &Listener| {
        listener.closed().is_none() || listener.subscribe().borrow().bytes > 0
    };
    let listener = serial::listener(context, named.clone(), None, serves).await?;
    let mut captured = ScanOutput::new(&listener);
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => {}
        () = tokio::time::sleep(Duration::from_secs(seconds.into())) => {}
        () = until_over(&listener, &mut captured) => {}
    }
    let since =
        if captured.has_reset { "the last reset" } else { "the start of the recorded output" };
    match captured.reader.best() {
        Some(scan) => Ok(answer(&scan, &listener.port, since)),
        None => match simulated(context, named.as_deref(), seconds).await {
            Some(answer) => answer,
            None => Ok(none(context, captured.has_console, &listener)),
        },
    }
}

/// The scan of a simulated board's bus by a firmware of its own; `None` for a real board, and for
/// a port that is not the simulated board's.
async fn simulated(
    context: &ToolContext,
    port: Option<&str>,
    seconds: u32,
) -> Option<Result<Value, ToolError>> {
    let board = context.state.snapshot().board;
    let own = board.filter(|board| board.simulated).map(|board| board.port);
    if port.is_some_and(|port| own.as_deref() != Some(port)) {
        return None;
    }
    let scanner = context.assets.text(&format!("{SCANNERS}/i2c_scanner.c")).ok()?;
    let run = match context.toolchain.scan_simulated_bus(&scanner.text).await? {
        Ok(run) => run,
        Err(error) => return Some(Err(ToolError::from_user_error("no_scan", &error))),
    };
    // What it prints is not the board's own output, so that no log keeps it.
    let hub = SerialHub::new(Arc::new(Unkept));
    let listener = match hub.open(&run.port, DEFAULT_BAUD, 0).await {
        Ok(listener) => listener,
        Err(error) => return Some(Err(ToolError::from_user_error("no_scan", &error))),
    };
    let mut captured = ScanOutput::new(&listener);
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => {}
        () = tokio::time::sleep(Duration::from_secs(seconds.max(DEFAULT_SECONDS).into())) => {}
        () = until_over(&listener, &mut captured) => {}
    }
    let Some(scan) = captured.reader.best() else {
        let hint = "Try again; the build of the scanner may have taken all the time.";
        return Some(Err(ToolError::new("no_scan", "the scanner reported nothing", hint)));
    };
    let port = own.unwrap_or_else(|| "virtual".to_owned());
    let mut fields = answer(&scan, &port, "the start of the scanner");
    fields["by"] = json!("a scanner on the simulated board; its own firmware ran on");
    Some(Ok(fields))
}

/// The refusal, with a scanner for the project's framework.
fn none(context: &ToolContext, has_console: bool, listener: &Listener) -> Value {
    let is_sketch = Sketch::read(context.project_dir.root());
    let (file, goes_to, build, flash) = match &is_sketch {
        Some(sketch) => {
            ("i2c_scanner.ino", format!("{}.ino", sketch.name), "build_arduino", "flash_arduino")
        }
        None => ("i2c_scanner.c", "main/main.c".to_owned(), "build_project", "flash_project"),
    };
    let hint = if has_console {
        format!(
            "The firmware has a console that scans on the command `i2cdetect` (after \
             `i2cconfig` with the pins): propose to send it with `{}`, then call `{NAME}` \
             again.",
            serial_send::NAME
        )
    } else {
        format!(
            "Propose the firmware in `scanner`: set its pins to the board's wiring, save it as \
             `{goes_to}` (the current content can be restored), `{build}`, `{flash}`, then \
             call `{NAME}` again. The person decides on each step. It takes the place of the \
             firmware on the board, which is not put back by itself: afterwards restore the file, \
             build and flash again."
        )
    };
    let received = listener.subscribe().borrow().bytes;
    let message = match received {
        0 => format!("{} has printed nothing", listener.port),
        _ => "the running firmware does not report which devices answer on the I2C bus".to_owned(),
    };
    let mut refusal = ToolError::new("no_scan", message, hint).to_answer();
    refusal["port"] = json!(listener.port);
    // A data file of one's own that cannot be read is no reason to say nothing.
    if let Ok(code) = context.assets.text(&format!("{SCANNERS}/{file}")) {
        refusal["scanner"] = json!({ "file_name": goes_to, "code": code.text });
    }
    refusal
}

fn answer(scan: &Scan, port: &str, since: &str) -> Value {
    let hex = |addresses: &std::collections::BTreeSet<u8>| -> Vec<String> {
        addresses.iter().map(|address| format!("0x{address:02X}")).collect()
    };
    let mut fields = json!({
        "devices": hex(&scan.devices),
        "complete": scan.is_over,
        "port": port,
        "since": since,
        "evidence": scan.evidence,
    });
    if !scan.busy.is_empty() {
        fields["busy"] = json!(hex(&scan.busy));
    }
    if scan.devices.is_empty() {
        fields["advice"] = json!(
            "No device answered: check the power supply of the devices, SDA and SCL (swapped, or other pins \
             than in the source), a common ground, and pull-ups of 2.2 to 10 kOhm on both lines."
        );
    }
    answer::ok(fields)
}

/// Reads until a scan is over or the port is closed.
async fn until_over(listener: &Listener, captured: &mut ScanOutput) {
    let mut received = listener.subscribe();
    loop {
        let is_closed = received.borrow_and_update().closed.is_some();
        captured.take(listener);
        if captured.reader.finished().is_some() || is_closed || received.changed().await.is_err() {
            return;
        }
    }
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: NAME,
    about: "Lists the 7-bit addresses that answer on the board's I2C bus: on a simulated board by a \
         scan, on a real one from what the running firmware has printed since it started. If that \
         does not scan, the answer contains the source of a scanner to propose.",
    schema: args::schema::<ScanI2cArgs>,
    time: TimeLimit::Of(Duration::from_secs(MAX_SECONDS as u64 + 10)),
    call: |call| Box::pin(async move { scan(call.context, call.args()?).await.map(Reply::Answer) }),
    ..ToolEntry::USUAL
};
