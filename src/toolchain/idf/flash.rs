//! Writing an ESP-IDF build to a board.
//!
//! Owns what `flasher_args.json` means. Must not write anything itself.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::Deserialize;

use super::route::{self, BUILD};
use crate::files;
use crate::model::{FlashImage, UserError};
use crate::toolchain::chip::EsptoolOptions;
use crate::toolchain::esptool::{WHAT, image};

/// `build/flasher_args.json`, which every build for a chip leaves.
#[derive(Debug, Deserialize)]
struct FlasherArgs {
    #[serde(default)]
    write_flash_args: Vec<String>,
    flash_files: BTreeMap<String, String>,
    extra_esptool_args: EsptoolArgs,
}

#[derive(Debug, Default, Deserialize)]
struct EsptoolArgs {
    chip: String,
    before: Option<String>,
    after: Option<String>,
    stub: Option<bool>,
}

/// What the project asks of `esptool`; nothing special for one that was never built.
pub(super) fn asked(project: &Path) -> EsptoolOptions {
    let Ok(args) = read_args(project) else { return EsptoolOptions::default() };
    let EsptoolArgs { chip: _, before, after, stub } = args.extra_esptool_args;
    EsptoolOptions { before, after, stub, write: args.write_flash_args, baud: None }
}

fn read_args(project: &Path) -> Result<FlasherArgs, UserError> {
    let path = project.join(BUILD).join("flasher_args.json");
    let text = files::read_text(&path, files::SETTINGS).map_err(|error| {
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

/// What a flash of the last build writes.
#[derive(Debug)]
pub(super) struct Written {
    /// As `esptool` calls it.
    pub(super) chip: String,
    /// By rising offset.
    pub(super) images: Vec<FlashImage>,
    /// What the loader is told besides.
    pub(super) options: Vec<String>,
}

/// What would be written.
///
/// # Errors
/// When the build left nothing to write, or names files outside of its folder.
pub(super) fn images(project: &Path) -> Result<Written, UserError> {
    let args = read_args(project)?;
    let mut images = Vec::with_capacity(args.flash_files.len());
    for (offset, file) in &args.flash_files {
        let wrong = |why: &str| {
            let why = format!("`{BUILD}/flasher_args.json` names {offset}: `{file}`, {why}");
            UserError::new(WHAT, why, "Build the project again.")
        };
        let digits = offset.strip_prefix("0x").unwrap_or_default();
        let offset =
            u32::from_str_radix(digits, 16).map_err(|_| wrong("which is not an address"))?;
        if !Path::new(file).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(wrong("which is outside of the build folder"));
        }
        let relative = format!("{BUILD}/{file}");
        let content = files::read(&project.join(&relative), files::IMAGE)
            .map_err(|e| wrong(&e.to_string()))?;
        images.push(image(relative, offset, &content));
    }
    if images.is_empty() {
        return Err(UserError::new(WHAT, "the build made no images", "Build the project again."));
    }
    images.sort_by_key(|image| image.offset);
    Ok(Written { chip: args.extra_esptool_args.chip, images, options: args.write_flash_args })
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
    let content = files::read(&project.join(&file), files::PROGRAM)
        .map_err(|error| none(format!("`{file}`: {error}")))?;
    Ok(image(file, 0, &content))
}

#[cfg(test)]
#[path = "flash_tests.rs"]
mod tests;
