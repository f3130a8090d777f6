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

use serde::Deserialize;

use super::diagnostics::{begins_with_any, has_any};

use super::process::{self, ProcessEnd, ProcessSpec};
use crate::device;
use crate::files;
use crate::model::{BoardInfo, ContentHash, FlashImage, FlashPlan, UserError};
use crate::text::pattern::Pattern;
use crate::text::sanitize;
use crate::text::shipped::shipped_table;

/// Names the port of the board, as for `idf.py` itself.
const PORT: &str = "ESPPORT";

/// Names the bits per second of writing, as for `idf.py` itself.
const BAUD: &str = "ESPBAUD";

/// A flash that takes longer hangs.
pub(super) const TIMEOUT: Duration = Duration::from_secs(300);

/// What cannot be done when something here goes wrong.
pub(super) const WHAT: &str = "Cannot flash the project";

/// What `esptool` says once for each image that reads back as written.
const VERIFIED: &str = "Hash of data verified";

/// The rate that is left when a faster one fails.
pub(super) const SAFE_BAUD: u32 = device::loader::SAFE_BAUD;

/// Where its words for a failure turn into advice to read a page.
const ADVICE: [&str; 2] = ["This can have many causes", "For troubleshooting steps visit"];

/// The end of the output that is kept to tell why something failed.
const TAIL_BYTES: usize = 64 * 1024;

/// The port that the person has named in [`PORT`], if any.
pub(super) fn named_port() -> Option<String> {
    std::env::var(PORT).ok().filter(|port| !port.is_empty())
}

/// The bits per second that the person has named in [`BAUD`], if any.
pub(super) fn named_baud() -> Option<u32> {
    std::env::var(BAUD).ok()?.parse().ok().filter(|baud| *baud > 0)
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
/// When an image is gone or is no longer the planned one.
pub(super) fn copy_aside(
    project: &Path,
    plan: &FlashPlan,
    folder: &Path,
    name: impl Fn(usize, &FlashImage) -> String,
) -> Result<Vec<PathBuf>, UserError> {
    let contents = approved(project, plan)?;
    let copy = |((index, image), content): ((usize, &FlashImage), Vec<u8>)| {
        let path = folder.join(name(index, image));
        std::fs::write(&path, content).map_err(|error| unread(image, &error))?;
        Ok(path)
    };
    plan.images.iter().enumerate().zip(contents).map(copy).collect()
}

/// The contents of a plan's images, in their order.
///
/// # Errors
/// When an image is gone or is no longer the planned one.
pub(super) fn approved(project: &Path, plan: &FlashPlan) -> Result<Vec<Vec<u8>>, UserError> {
    let read = |image: &FlashImage| {
        let content = files::read(&project.join(&image.file), files::IMAGE)
            .map_err(|error| unread(image, &error))?;
        if ContentHash::of(&content) != image.hash {
            let why = format!("`{}` was changed after it was approved", image.file);
            return Err(UserError::new(WHAT, why, "Build and propose the flash again."));
        }
        Ok(content)
    };
    plan.images.iter().map(read).collect()
}

/// An image with that content, which is to be written.
pub(super) fn image(file: String, offset: u32, content: &[u8]) -> FlashImage {
    let (bytes, hash) = (content.len() as u64, ContentHash::of(content));
    FlashImage { file, offset, bytes, hash, same: false }
}

fn unread(image: &FlashImage, error: &std::io::Error) -> UserError {
    UserError::new(WHAT, format!("`{}`: {error}", image.file), "")
}

/// Puts what is written to the board into a temporary file.
///
/// # Errors
/// When it cannot be written.
pub(super) fn put_aside(file: &Path, content: &[u8]) -> std::io::Result<()> {
    std::fs::write(file, content)
}

/// Follows what `esptool` prints while it writes.
#[derive(Debug, Default)]
pub(super) struct Writing {
    tail: Vec<u8>,
    line: Vec<u8>,
    done: u64,
    /// Whether it has said that it erases or writes.
    has_begun: bool,
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
                self.has_begun |= begins_with_any(&line, &WORDS.begins);
                if let Some(done) = written(&line, images) {
                    self.done = self.done.max(done);
                }
            } else if self.line.len() < 4096 {
                self.line.push(byte);
            }
        }
        (self.done != before).then_some(self.done)
    }

    /// What the person has to know about the board when it goes no further.
    const fn rest(&self) -> &'static str {
        match self.has_begun {
            true => "The board may hold half of what was written.",
            false => "Nothing was written.",
        }
    }

    /// The tool's own words for what went wrong.
    pub(super) fn cause(&self) -> String {
        let text = sanitize::decode(&self.tail);
        let plain = |line: &'_ str| ADVICE.iter().find_map(|words| line.find(words));
        let lines = text.split(['\n', '\r']);
        let lines = lines.map(|line| line.get(..plain(line).unwrap_or(line.len())));
        // Newer releases draw a box around their errors.
        let is_frame = |c: char| c.is_whitespace() || ('\u{2500}'..='\u{257f}').contains(&c);
        let lines: Vec<&str> = lines.flatten().map(|line| line.trim_matches(is_frame)).collect();
        let is_fatal = |line: &&&str| line.contains("fatal error") || line.contains(SERIAL_ERROR);
        let fatal = lines.iter().rev().find(is_fatal);
        let last = fatal.or_else(|| lines.iter().rev().find(|line| !line.is_empty()));
        last.map_or_else(
            || "esptool failed without a message".to_owned(),
            |line| {
                let line = line.split_once("error occurred: ").map_or(*line, |(_, why)| why);
                sanitize::log_line(line.as_bytes()).into_owned()
            },
        )
    }
}

/// Why a board was not written.
#[derive(Debug)]
pub(super) struct Trouble {
    /// For the person.
    pub(super) error: UserError,
    /// Whether a lower rate may help: the chip had answered at the first one.
    pub(super) may_be_the_rate: bool,
}

impl Trouble {
    fn new(why: impl Into<String>, fix: &str) -> Self {
        Self { error: UserError::new(WHAT, why, fix), may_be_the_rate: false }
    }

    /// With what may be on the board now.
    fn with_rest(mut self, writing: &Writing) -> Self {
        self.error.fix = format!("{} {}", self.error.fix, writing.rest());
        self
    }

    /// What the tool's own words mean. `is_there`: whether the port still is.
    fn of(writing: &Writing, is_there: bool) -> Self {
        let cause = writing.cause();
        Self::of_words(&cause, (writing.done, is_there)).with_rest(writing)
    }

    fn of_words(cause: &str, (written, is_there): (u64, bool)) -> Self {
        let fits = |row: &&TroubleRow| {
            has_any(cause, &row.has)
                || (written == 0 && has_any(cause, &row.before_writing))
                || (!is_there && row.if_gone)
        };
        match WORDS.troubles.iter().find(fits) {
            Some(TroubleRow { may_be_the_rate, why, fix, .. }) => {
                let trouble = Self::new(format!("{why}: {cause}"), fix);
                Self { may_be_the_rate: *may_be_the_rate, ..trouble }
            }
            None => Self::new(cause, AGAIN),
        }
    }
}

/// What `esptool.toml` holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EsptoolWords {
    begins: Vec<String>,
    troubles: Vec<TroubleRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TroubleRow {
    has: Vec<String>,
    #[serde(default)]
    before_writing: Vec<String>,
    #[serde(default)]
    if_gone: bool,
    #[serde(default)]
    may_be_the_rate: bool,
    why: String,
    fix: String,
}

static WORDS: LazyLock<EsptoolWords> =
    LazyLock::new(|| shipped_table(include_str!("esptool.toml")).unwrap_or_default());

const AGAIN: &str = "Check the cable and the power, then try again.";

/// How `esptool` begins to tell of the port itself; advice follows on lines of their own.
const SERIAL_ERROR: &str = "serial exception error occurred";

/// Whether the board's port can be had: the tool's own words do not tell why it cannot.
///
/// # Errors
/// No port, no permission, or another program has it, which is named.
pub(super) fn is_free(what: &str, port: &str) -> Result<(), UserError> {
    match port.contains("://") {
        true => Ok(()),
        false => device::is_free(Path::new(port))
            .map_err(|error| device::refused(what.to_owned(), port, &error)),
    }
}

/// Lets `job` write the images of a plan and follows what it says.
///
/// # Errors
/// When it cannot be started, fails, takes too long or is stopped, or has not verified every image.
pub(super) async fn write(
    job: ProcessSpec,
    plan: &FlashPlan,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> Result<BoardInfo, Trouble> {
    let total = plan.total_bytes();
    let port = device::identity(&plan.board.port);
    progress(0, total);
    let mut writing = Writing::default();
    let ended = process::run(job, |bytes| {
        if let Some(done) = writing.push(bytes, &plan.images) {
            progress(done, total);
        }
    })
    .await
    .map_err(|error| Trouble::new(error.to_string(), "Install it: `pip install esptool`."))?;
    match ended {
        ProcessEnd::Well if writing.verified >= plan.images.len() => {
            progress(total, total);
            Ok(plan.board.clone())
        }
        ProcessEnd::Well => {
            Err(Trouble::new("what was written was not verified", AGAIN).with_rest(&writing))
        }
        ProcessEnd::Badly(_) => {
            Err(Trouble::of(&writing, device::identity(&plan.board.port) == port))
        }
        ProcessEnd::TimedOut => {
            Err(Trouble::new("the board took too long", AGAIN).with_rest(&writing))
        }
        ProcessEnd::Cancelled => {
            Err(Trouble::new("the flash was stopped", "Try again.").with_rest(&writing))
        }
    }
}

/// Lets `job` do something with the flash of a board; `what` cannot be done when it fails.
///
/// # Errors
/// When it cannot be started, fails, takes too long or is stopped.
pub(super) async fn run(what: &str, job: ProcessSpec, board: &BoardInfo) -> Result<(), UserError> {
    let mut writing = Writing::default();
    let port = device::identity(&board.port);
    let ended = process::run(job, |bytes| {
        writing.push(bytes, &[]);
    })
    .await;
    let reported =
        |why: &str| UserError::new(what, why, format!("Try it again. {}", writing.rest()));
    match ended {
        Ok(ProcessEnd::Well) => Ok(()),
        Ok(ProcessEnd::Badly(_)) => {
            let is_there = device::identity(&board.port) == port;
            let trouble = Trouble::of(&writing, is_there);
            Err(UserError { what: what.to_owned(), ..trouble.error })
        }
        Ok(ProcessEnd::TimedOut) => Err(reported("the board took too long")),
        Ok(ProcessEnd::Cancelled) => Err(reported("it was stopped")),
        Err(error) => Err(reported(&error.to_string()).fix("Install it: `pip install esptool`.")),
    }
}

static WRITING: Pattern = Pattern::new(r"^Writing at 0x([0-9a-fA-F]+)\b.*?(\d+)(?:\.\d+)? ?%");

/// `Writing at 0x00010000... (12 %)`: all images before that address and a part of this one.
fn written(line: &str, images: &[FlashImage]) -> Option<u64> {
    let found = WRITING.captures(line)?;
    let address = u32::from_str_radix(found.get(1)?.as_str(), 16).ok()?;
    let percent: u64 = found.get(2)?.as_str().parse().ok()?;
    let index = images.iter().rposition(|image| image.offset <= address)?;
    let before: u64 = images.iter().take(index).map(|image| image.bytes).sum();
    Some(before + images.get(index)?.bytes * percent.min(100) / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(output: &str, is_there: bool) -> Trouble {
        let image = FlashImage {
            file: "a.bin".to_owned(),
            offset: 0x1_0000,
            bytes: 100,
            hash: ContentHash::of(b""),
            same: false,
        };
        let mut writing = Writing::default();
        writing.push(output.as_bytes(), &[image]);
        Trouble::of(&writing, is_there)
    }

    #[test]
    fn what_cannot_be_read_while_writing_may_be_the_rate() {
        let words = "A fatal error occurred: Invalid head of packet (0x46): Possible serial noise";
        let before = trouble(words, true);
        assert!(before.error.why.contains("not as its boot loader does"), "{before:?}");
        assert!(!before.may_be_the_rate);
        let amid = trouble(&format!("Writing at 0x00010000... (50 %)\n{words}"), true);
        assert!(amid.may_be_the_rate, "{amid:?}");
    }

    #[test]
    fn a_board_that_may_be_half_written_is_told_once_and_others_are_told_too() {
        let half = "half of what was written";
        for begun in ["Flash will be erased from 0x0 to 0x1fff...", "Erasing region (may be slow)"]
        {
            let words = format!("{begun}\nA fatal error occurred: No serial data received.");
            assert_eq!(trouble(&words, true).error.fix.matches(half).count(), 1, "{begun}");
        }
        let before = trouble("A fatal error occurred: Failed to connect", true).error.fix;
        assert!(before.ends_with("Nothing was written."), "{before}");
        for (words, is_there) in [
            ("Writing at 0x00010000... (50 %)\nserial exception error occurred: x", false),
            ("Writing at 0x00010000... (50 %)\nA fatal error occurred: Wrong chip argument", true),
        ] {
            let fix = trouble(words, is_there).error.fix;
            assert_eq!(fix.matches(half).count(), 1, "{fix}");
        }
    }
}
