//! Writing an ESP-IDF build to a board.
//!
//! Owns what `flasher_args.json` means and how `esptool` tells its progress. Writes nothing but a
//! temporary copy of the images, so that exactly what was approved reaches the board, whatever
//! happens in the build folder meanwhile.
#![expect(
    clippy::disallowed_methods,
    reason = "approved images are copied aside before they are written to the board"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde::Deserialize;

use super::IdfToolchain;
use super::route::{self, BUILD};
use crate::model::{BoardInfo, ContentHash, FlashImage, FlashPlan, UserError};
use crate::text::sanitize;
use crate::toolchain::FlashOrder;
use crate::toolchain::process::{self, Ended};

/// A flash that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Bits per second while writing.
const FLASH_BAUD: &str = "460800";

/// What `esptool` says once for each image that reads back as written.
const VERIFIED: &str = "Hash of data verified";

/// The end of the output that is kept to tell why something failed.
const TAIL_BYTES: usize = 64 * 1024;

/// `build/flasher_args.json`, which every build for a chip leaves.
#[derive(Debug, Deserialize)]
struct FlasherArgs {
    #[serde(default)]
    write_flash_args: Vec<String>,
    flash_files: BTreeMap<String, String>,
    #[serde(default)]
    bootloader: Option<Part>,
    #[serde(default, rename = "partition-table")]
    partition_table: Option<Part>,
    extra_esptool_args: EsptoolArgs,
}

#[derive(Debug, Deserialize)]
struct Part {
    file: String,
}

#[derive(Debug, Deserialize)]
struct EsptoolArgs {
    chip: String,
    #[serde(default)]
    before: Option<String>,
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    stub: Option<bool>,
}

const WHAT: &str = "Cannot flash the project";

fn read_args(project: &Path) -> Result<FlasherArgs, UserError> {
    let path = project.join(BUILD).join("flasher_args.json");
    let text = std::fs::read_to_string(&path).map_err(|error| {
        UserError::new(
            WHAT,
            format!("the build left no `{BUILD}/flasher_args.json`: {error}"),
            "Build the project for a chip; a build for the target `linux` cannot be flashed.",
        )
    })?;
    serde_json::from_str(&text).map_err(|error| {
        let why = format!("`{BUILD}/flasher_args.json`: {error}");
        UserError::new(WHAT, why, "Build the project again.")
    })
}

/// The chip, what would be written by rising offset, and whether what the chip boots from is
/// among it.
///
/// # Errors
/// When the build left nothing to write, or names files outside of its folder.
pub(super) fn images(project: &Path) -> Result<(String, Vec<FlashImage>, bool), UserError> {
    let args = read_args(project)?;
    let boot: Vec<&str> =
        [&args.bootloader, &args.partition_table].into_iter().flatten().map(|p| &*p.file).collect();
    let mut images = Vec::with_capacity(args.flash_files.len());
    for (offset, file) in &args.flash_files {
        let wrong = |why: &str| {
            let why = format!("`{BUILD}/flasher_args.json` names {offset}: `{file}`, {why}");
            UserError::new(WHAT, why, "Build the project again.")
        };
        let digits = offset.strip_prefix("0x").unwrap_or_default();
        let offset = u32::from_str_radix(digits, 16).map_err(|_| wrong("which is no address"))?;
        if !Path::new(file).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(wrong("which is outside of the build folder"));
        }
        let relative = format!("{BUILD}/{file}");
        let content = std::fs::read(project.join(&relative)).map_err(|e| wrong(&e.to_string()))?;
        let (bytes, hash) = (content.len() as u64, ContentHash::of(&content));
        images.push(FlashImage { file: relative, offset, bytes, hash });
    }
    if images.is_empty() {
        return Err(UserError::new(WHAT, "the build made no images", "Build the project again."));
    }
    images.sort_by_key(|image| image.offset);
    let touches_boot = args.flash_files.values().any(|file| boot.contains(&file.as_str()));
    Ok((args.extra_esptool_args.chip, images, touches_boot))
}

/// The program that a build for the target `linux` left.
///
/// # Errors
/// When there is none.
pub(super) fn host_image(project: &Path) -> Result<FlashImage, UserError> {
    let none = |why: String| UserError::new(WHAT, why, "Build the project first.");
    let app = route::description(project).map(|found| found.app_elf).unwrap_or_default();
    let is_inside = Path::new(&app).components().all(|part| matches!(part, Component::Normal(_)));
    if app.is_empty() || !is_inside {
        return Err(none(format!("`{BUILD}/project_description.json` names no program")));
    }
    let file = format!("{BUILD}/{app}");
    let content =
        std::fs::read(project.join(&file)).map_err(|error| none(format!("`{file}`: {error}")))?;
    let (bytes, hash) = (content.len() as u64, ContentHash::of(&content));
    Ok(FlashImage { file, offset: 0, bytes, hash })
}

/// The first port, by name, that a board may be at, among the devices in `folder`.
///
/// # Errors
/// When there is none.
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

/// Writes exactly the images of the plan and starts the board.
///
/// # Errors
/// When an image is not the planned one any more, or `esptool` fails.
pub(super) async fn flash(idf: &IdfToolchain, order: FlashOrder) -> Result<BoardInfo, UserError> {
    let FlashOrder { project, plan, progress, cancel } = order;
    let args = read_args(&project)?;
    let copies = tempfile::tempdir().map_err(|error| UserError::from_cause(WHAT, &error))?;
    let files = copy_aside(&project, &plan, copies.path())?;
    let all = esptool_args(&args, &plan, &files);
    let total = plan.total_bytes();
    progress(0, total);
    let mut writing = Writing::default();
    let job = idf.python(all, copies.path(), TIMEOUT, &cancel).await?;
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

fn copy_aside(project: &Path, plan: &FlashPlan, folder: &Path) -> Result<Vec<PathBuf>, UserError> {
    let copy = |(index, image): (usize, &FlashImage)| {
        let cause = |e: std::io::Error| UserError::new(WHAT, format!("`{}`: {e}", image.file), "");
        let content = std::fs::read(project.join(&image.file)).map_err(cause)?;
        if ContentHash::of(&content) != image.hash {
            let why = format!("`{}` was changed after it was approved", image.file);
            return Err(UserError::new(WHAT, why, "Build and propose the flash again."));
        }
        let path = folder.join(format!("{index}.bin"));
        std::fs::write(&path, content).map_err(cause)?;
        Ok(path)
    };
    plan.images.iter().enumerate().map(copy).collect()
}

fn esptool_args(args: &FlasherArgs, plan: &FlashPlan, files: &[PathBuf]) -> Vec<OsString> {
    let esptool = &args.extra_esptool_args;
    let mut all: Vec<OsString> = Vec::new();
    let mut add = |word: &str| all.push(word.into());
    for word in ["-m", "esptool", "--chip", &plan.board.chip, "-p", &plan.board.port] {
        add(word);
    }
    for word in ["-b", FLASH_BAUD, "--before", esptool.before.as_deref().unwrap_or("default_reset")]
    {
        add(word);
    }
    add("--after");
    add(esptool.after.as_deref().unwrap_or("hard_reset"));
    if esptool.stub == Some(false) {
        add("--no-stub");
    }
    add("write_flash");
    args.write_flash_args.iter().for_each(|word| add(word));
    for (image, file) in plan.images.iter().zip(files) {
        all.push(format!("0x{:x}", image.offset).into());
        all.push(file.into());
    }
    all
}

/// Follows what `esptool` prints while it writes.
#[derive(Debug, Default)]
struct Writing {
    tail: Vec<u8>,
    line: Vec<u8>,
    done: u64,
    verified: usize,
}

impl Writing {
    /// Takes more output; returns the bytes written so far when that has changed.
    fn push(&mut self, bytes: &[u8], images: &[FlashImage]) -> Option<u64> {
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
    fn cause(&self) -> String {
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

#[cfg(test)]
#[path = "flash_tests.rs"]
mod tests;
