//! Writing an ESP-IDF build to a board.
//!
//! Owns what `flasher_args.json` means. Must not write anything itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use futures::future::BoxFuture;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::IdfToolchain;
use super::route::{self, BUILD};
use crate::model::{BoardInfo, ContentHash, FlashImage, FlashPlan, UserError};
use crate::toolchain::FlashOrder;
use crate::toolchain::chip_memory::{After, Esptool};
use crate::toolchain::esptool::{self, FLASH_BAUD, SAFE_BAUD, TIMEOUT, WHAT, copy_aside};
use crate::toolchain::process::Job;

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

#[derive(Debug, Clone, Default, Deserialize)]
struct EsptoolArgs {
    chip: String,
    #[serde(default)]
    before: Option<String>,
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    stub: Option<bool>,
}

/// The `esptool` of an installation, for what a project asks of it.
pub(super) struct OfProject<'a> {
    idf: &'a IdfToolchain,
    /// Nothing special for one that was never built.
    asked: EsptoolArgs,
}

impl<'a> OfProject<'a> {
    pub(super) fn new(idf: &'a IdfToolchain, project: &Path) -> Self {
        let asked = read_args(project).map(|args| args.extra_esptool_args).unwrap_or_default();
        Self { idf, asked }
    }
}

impl Esptool for OfProject<'_> {
    fn words(&self, board: &BoardInfo, baud: &str, after: After) -> Vec<OsString> {
        let halted = || EsptoolArgs { after: Some("no_reset".to_owned()), ..self.asked.clone() };
        match after {
            After::Start => common_args(&self.asked, board, baud),
            After::Wait => common_args(&halted(), board, baud),
        }
    }

    fn job<'a>(
        &'a self,
        words: Vec<OsString>,
        folder: &'a Path,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Job, UserError>> {
        Box::pin(self.idf.python(words, folder, TIMEOUT, cancel))
    }
}

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

/// The ELF file that the last configuration makes, relative to the project.
pub(super) fn program(project: &Path) -> Option<String> {
    let app = route::description(project)?.app_elf;
    let is_inside = Path::new(&app).components().all(|part| matches!(part, Component::Normal(_)));
    (!app.is_empty() && is_inside).then(|| format!("{BUILD}/{app}"))
}

/// The program that a build for the target `linux` left.
///
/// # Errors
/// When there is none.
pub(super) fn host_image(project: &Path) -> Result<FlashImage, UserError> {
    let none = |why: String| UserError::new(WHAT, why, "Build the project first.");
    let Some(file) = program(project) else {
        return Err(none(format!("`{BUILD}/project_description.json` names no program")));
    };
    let content =
        std::fs::read(project.join(&file)).map_err(|error| none(format!("`{file}`: {error}")))?;
    let (bytes, hash) = (content.len() as u64, ContentHash::of(&content));
    Ok(FlashImage { file, offset: 0, bytes, hash })
}

/// Writes exactly the images of the plan and starts the board. Where the chip stops answering at
/// the usual rate, it is tried once more at one that every cable carries.
///
/// # Errors
/// When the port cannot be had, an image is not the planned one any more, or `esptool` fails.
pub(super) async fn flash(idf: &IdfToolchain, order: FlashOrder) -> Result<BoardInfo, UserError> {
    let FlashOrder { project, plan, progress, notice, cancel } = order;
    let args = read_args(&project)?;
    esptool::is_free(WHAT, &plan.board.port)?;
    let copies = tempfile::tempdir().map_err(|error| UserError::from_cause(WHAT, &error))?;
    let files = copy_aside(&project, &plan, copies.path(), |index, _| format!("{index}.bin"))?;
    let mut baud = FLASH_BAUD;
    loop {
        let all = esptool_args(&args, &plan, &files, baud);
        let job = idf.python(all, copies.path(), TIMEOUT, &cancel).await?;
        match esptool::write(job, &plan, progress.as_ref()).await {
            Err(trouble) if trouble.may_be_the_rate && baud != SAFE_BAUD => {
                baud = SAFE_BAUD;
                let what = format!("Trying again with {SAFE_BAUD} baud");
                notice(UserError::new(what, trouble.error.why, ""));
            }
            done => return done.map_err(|trouble| trouble.error),
        }
    }
}

fn esptool_args(
    args: &FlasherArgs,
    plan: &FlashPlan,
    files: &[PathBuf],
    baud: &str,
) -> Vec<OsString> {
    let mut all = common_args(&args.extra_esptool_args, &plan.board, baud);
    all.push("write_flash".into());
    all.extend(args.write_flash_args.iter().map(OsString::from));
    for (image, file) in plan.images.iter().zip(files) {
        all.push(format!("0x{:x}", image.offset).into());
        all.push(file.into());
    }
    all
}

/// What every call of `esptool` for that board begins with.
fn common_args(esptool: &EsptoolArgs, board: &BoardInfo, baud: &str) -> Vec<OsString> {
    let port = &board.port;
    let reset = |asked: &Option<String>, usual: &'static str| match esptool::has_lines(port) {
        true => asked.clone().unwrap_or_else(|| usual.to_owned()),
        false => "no_reset".to_owned(),
    };
    let mut all: Vec<OsString> = Vec::new();
    let mut add = |word: &str| all.push(word.into());
    for word in ["-m", "esptool", "--chip", &board.chip, "-p", port, "-b", baud] {
        add(word);
    }
    for word in ["--before", &reset(&esptool.before, "default_reset")] {
        add(word);
    }
    for word in ["--after", &reset(&esptool.after, "hard_reset")] {
        add(word);
    }
    if esptool.stub == Some(false) {
        add("--no-stub");
    }
    all
}

#[cfg(test)]
#[path = "flash_tests.rs"]
mod tests;
