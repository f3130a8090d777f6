//! What bringing firmware to a real board has in common, whoever calls `esptool`.
//!
//! Owns the choice of a port, the copies of approved images, and the words with which `esptool`
//! tells its progress. Writes nothing but temporary copies.
#![expect(
    clippy::disallowed_methods,
    reason = "approved images are copied aside before they are written to the board"
)]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use super::process::{self, Ended, Job};
use crate::model::{BoardInfo, ContentHash, FlashImage, FlashPlan, UserError};
use crate::text::sanitize;

/// Names the port of the board, as for `idf.py` itself.
const PORT: &str = "ESPPORT";

/// A flash that takes longer hangs.
pub(super) const TIMEOUT: Duration = Duration::from_secs(300);

/// What cannot be done when something here goes wrong.
pub(super) const WHAT: &str = "Cannot flash the project";

/// What `esptool` says once for each image that reads back as written.
const VERIFIED: &str = "Hash of data verified";

/// The end of the output that is kept to tell why something failed.
const TAIL_BYTES: usize = 64 * 1024;

/// The port that the person has named in [`PORT`], if any.
pub(super) fn named_port() -> Option<String> {
    std::env::var(PORT).ok().filter(|port| !port.is_empty())
}

/// The named port, or else the first one that a board may be at.
///
/// # Errors
/// When there is none.
pub(super) fn port(named: Option<&String>) -> Result<String, UserError> {
    named.cloned().map_or_else(|| first_port(Path::new("/dev")), Ok)
}

/// The first port, by name, that a board may be at, among the devices in `folder`.
pub(super) fn first_port(folder: &Path) -> Result<String, UserError> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let ports = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_port = ["ttyUSB", "ttyACM", "cu.usb", "cu.wchusb", "cu.SLAB"]
            .iter()
            .any(|start| name.starts_with(start));
        is_port.then(|| folder.join(name).to_string_lossy().into_owned())
    });
    ports.min().ok_or_else(|| {
        UserError::new(
            WHAT,
            "no board was found: there is no serial port",
            "Connect a board with a cable that carries data, or name its port in `ESPPORT`.",
        )
    })
}

/// Copies the images of a plan to `folder` under the names that `name` gives, so that exactly what
/// was approved reaches the board, whatever happens in the build folder meanwhile.
///
/// # Errors
/// When an image is gone or is not the planned one any more.
pub(super) fn copy_aside(
    project: &Path,
    plan: &FlashPlan,
    folder: &Path,
    name: impl Fn(usize, &FlashImage) -> String,
) -> Result<Vec<PathBuf>, UserError> {
    let copy = |(index, image): (usize, &FlashImage)| {
        let cause = |e: std::io::Error| UserError::new(WHAT, format!("`{}`: {e}", image.file), "");
        let content = std::fs::read(project.join(&image.file)).map_err(cause)?;
        if ContentHash::of(&content) != image.hash {
            let why = format!("`{}` was changed after it was approved", image.file);
            return Err(UserError::new(WHAT, why, "Build and propose the flash again."));
        }
        let path = folder.join(name(index, image));
        std::fs::write(&path, content).map_err(cause)?;
        Ok(path)
    };
    plan.images.iter().enumerate().map(copy).collect()
}

/// Follows what `esptool` prints while it writes.
#[derive(Debug, Default)]
pub(super) struct Writing {
    tail: Vec<u8>,
    line: Vec<u8>,
    done: u64,
    /// How many images read back as they were written.
    pub(super) verified: usize,
}

impl Writing {
    /// Takes more output; returns the bytes written so far when that has changed.
    pub(super) fn push(&mut self, bytes: &[u8], images: &[FlashImage]) -> Option<u64> {
        let before = self.done;
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > TAIL_BYTES {
            self.tail.drain(..TAIL_BYTES / 2);
        }
        for &byte in bytes {
            if matches!(byte, b'\n' | b'\r') {
                let line = sanitize::log_line(&self.line).into_owned();
                self.line.clear();
                self.verified += usize::from(line.contains(VERIFIED));
                if let Some(done) = written(&line, images) {
                    self.done = self.done.max(done);
                }
            } else if self.line.len() < 4096 {
                self.line.push(byte);
            }
        }
        (self.done != before).then_some(self.done)
    }

    /// The tool's own words for what went wrong.
    pub(super) fn cause(&self) -> String {
        let text = sanitize::decode(&self.tail);
        let lines: Vec<&str> = text.split(['\n', '\r']).map(str::trim).collect();
        let fatal = lines.iter().rev().find(|line| line.contains("fatal error"));
        let last = fatal.or_else(|| lines.iter().rev().find(|line| !line.is_empty()));
        last.map_or_else(
            || "esptool failed without a word".to_owned(),
            |line| sanitize::log_line(line.as_bytes()).into_owned(),
        )
    }
}

/// Lets `job` write the images of a plan and follows what it says.
///
/// # Errors
/// When it cannot be started, fails, takes too long or is stopped, or has not verified every image.
pub(super) async fn write(
    job: Job,
    plan: FlashPlan,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> Result<BoardInfo, UserError> {
    let total = plan.total_bytes();
    progress(0, total);
    let mut writing = Writing::default();
    let ended = process::run(job, |bytes| {
        if let Some(done) = writing.push(bytes, &plan.images) {
            progress(done, total);
        }
    })
    .await
    .map_err(|error| UserError::from_cause(WHAT, &error))?;
    let fix = "Check the cable, hold BOOT while connecting, and flash again.";
    match ended {
        Ended::Well if writing.verified >= plan.images.len() => {
            progress(total, total);
            Ok(plan.board)
        }
        Ended::Well => Err(UserError::new(WHAT, "what was written was not verified", fix)),
        Ended::Badly(_) => Err(UserError::new(WHAT, writing.cause(), fix)),
        Ended::TimedOut => Err(UserError::new(WHAT, "the board took too long", fix)),
        Ended::Cancelled => {
            let fix = "Flash again: the board may hold half of the firmware.";
            Err(UserError::new(WHAT, "the flash was stopped", fix))
        }
    }
}

static WRITING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^Writing at 0x([0-9a-fA-F]+)\b.*?(\d+)(?:\.\d+)? ?%").ok());

/// `Writing at 0x00010000... (12 %)`: all images before that address and a part of this one.
fn written(line: &str, images: &[FlashImage]) -> Option<u64> {
    let found = WRITING.as_ref()?.captures(line)?;
    let address = u32::from_str_radix(found.get(1)?.as_str(), 16).ok()?;
    let percent: u64 = found.get(2)?.as_str().parse().ok()?;
    let index = images.iter().rposition(|image| image.offset <= address)?;
    let before: u64 = images.iter().take(index).map(|image| image.bytes).sum();
    Some(before + images.get(index)?.bytes * percent.min(100) / 100)
}
