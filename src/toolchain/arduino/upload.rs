//! Writing a sketch's build to a board with `arduino-cli upload`.
//!
//! Owns what a build leaves behind for that: which board it was for, and its images. `upload` is
//! given a copy of the approved images and nothing else.

use std::ffi::OsString;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::compiled::{self, BUILD, CompiledSketch};
use crate::files;
use crate::model::{BoardInfo, BuildId, FlashPlan, Timestamp, UserError};
use crate::toolchain::FlashOrder;
use crate::toolchain::chip::{EsptoolOptions, FlashAccess, NoEsptool};
use crate::toolchain::esp_image::Chip;
use crate::toolchain::esptool::{self, WHAT, copy_aside};
use crate::toolchain::output_folder::{self, Use};
use crate::toolchain::process::ProcessSpec;

/// Where a build notes what it was for; beside its folder, which `arduino-cli` empties.
const NOTE: &str = "build/arduino.json";

/// The image that chooses between two applications; `upload` takes it from the boards' files.
const BOOT_APP: &str = "boot_app0.bin";

/// What a build was for.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct BuildNote {
    fqbn: String,
    sketch: String,
    chip: String,
}

/// Notes what was built, and copies what `upload` takes from elsewhere beside it, so that the plan
/// can show it.
///
/// # Errors
/// When the answer does not tell the board, or the build folder cannot be written.
pub(super) fn remember(
    project: &Path,
    sketch: &str,
    fqbn: Option<String>,
    compiled: &CompiledSketch,
) -> Result<(), UserError> {
    let fqbn = fqbn.or_else(|| compiled.property("build.fqbn").map(str::to_owned));
    let Some(fqbn) = fqbn else {
        let fix = "Write `default_fqbn: …` into sketch.yaml next to the sketch.";
        return Err(UserError::new(compiled::WHAT, "arduino-cli does not name the board", fix));
    };
    let named = fqbn.split(':').nth(2).unwrap_or("esp32").to_owned();
    let chip = compiled.property("build.mcu").map_or(named, str::to_owned);
    let note = BuildNote { fqbn, sketch: sketch.to_owned(), chip };
    let write = || -> std::io::Result<()> {
        let text = serde_json::to_string_pretty(&note)?;
        output_folder::write(project, Path::new(NOTE), text.as_bytes(), Use::Data)
    };
    write().map_err(|error| {
        let why = format!("{NOTE}: {error}");
        UserError::new(compiled::WHAT, why, "Make the build folder writable.")
    })?;
    if let Some(platform) = compiled.platform() {
        let from = Path::new(platform).join("tools/partitions").join(BOOT_APP);
        // Boards without it write none.
        if let Ok(image) = files::read(&from, files::IMAGE) {
            let _ =
                output_folder::write(project, &Path::new(BUILD).join(BOOT_APP), &image, Use::Data);
        }
    }
    Ok(())
}

fn read_note(project: &Path) -> Result<BuildNote, UserError> {
    let wrong = |error: &dyn std::error::Error, fix: &str| {
        UserError::new(WHAT, format!("{NOTE}: {error}"), fix)
    };
    let text = files::read_text(&project.join(NOTE), files::SETTINGS)
        .map_err(|error| wrong(&error, "Build the sketch first."))?;
    serde_json::from_str(&text).map_err(|error| wrong(&error, "Build the sketch again."))
}

/// What an upload of the last build would write, to that port.
///
/// # Errors
/// When there is no build, or no port to write it to.
pub(super) fn plan(
    project: &Path,
    build: BuildId,
    built_at: Timestamp,
    port: &dyn Fn() -> Result<String, UserError>,
) -> Result<FlashPlan, UserError> {
    let BuildNote { sketch, chip, .. } = read_note(project)?;
    let parts = [
        (format!("{sketch}.ino.bootloader.bin"), Chip::named(&chip).map_or(0, |chip| chip.boot)),
        (format!("{sketch}.ino.partitions.bin"), 0x8000),
        (BOOT_APP.to_owned(), 0xe000),
        (format!("{sketch}.ino.bin"), 0x1_0000),
    ];
    let mut images = Vec::new();
    for (name, offset) in parts {
        let file = format!("{BUILD}/{name}");
        let content = match files::read(&project.join(&file), files::IMAGE) {
            Ok(content) => content,
            Err(error) if offset == 0x1_0000 => {
                let why = format!("{file}: {error}");
                return Err(UserError::new(WHAT, why, "Build the sketch again."));
            }
            // Some boards have fewer parts.
            Err(_) => continue,
        };
        images.push(esptool::image(file, offset, &content));
    }
    images.sort_by_key(|image| image.offset);
    let port = port()?;
    let board = BoardInfo { label: format!("{chip} board"), chip, port, simulated: false };
    Ok(FlashPlan::new(board, images, build, built_at))
}

/// The way to the flash of the chip without `arduino-cli`.
pub(super) fn reach() -> FlashAccess<'static> {
    FlashAccess { esptool: &NoEsptool, asked: EsptoolOptions::default(), loader: None }
}

/// Has exactly the images of the plan written, by `arduino-cli` as `job` starts it.
///
/// # Errors
/// When an image is no longer the planned one, or `arduino-cli` fails.
pub(super) async fn flash(
    job: impl FnOnce(Vec<OsString>, &CancellationToken) -> ProcessSpec,
    order: FlashOrder,
) -> Result<BoardInfo, UserError> {
    if order.plan.images.iter().any(|image| image.same) {
        // `upload` would write all of them.
        return reach().write(order).await;
    }
    let FlashOrder { project, plan, progress, cancel, .. } = order;
    let note = read_note(&project)?;
    esptool::is_free(WHAT, &plan.board.port)?;
    let copies = tempfile::tempdir().map_err(|error| UserError::from_cause(WHAT, &error))?;
    copy_aside(&project, &plan, copies.path(), |_, image| {
        image.file.rsplit('/').next().unwrap_or(&image.file).to_owned()
    })?;
    let mut args: Vec<OsString> = ["upload", "--fqbn"].map(OsString::from).to_vec();
    args.push(note.fqbn.into());
    args.extend(["--port".into(), OsString::from(&plan.board.port)]);
    args.extend(["--input-dir".into(), copies.path().as_os_str().to_owned()]);
    args.push("--verbose".into());
    args.push(project.as_os_str().to_owned());
    let job = job(args, &cancel);
    esptool::write(job, &plan, progress.as_ref()).await.map_err(|trouble| trouble.error)
}
