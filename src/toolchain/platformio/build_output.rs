//! What a build by PlatformIO leaves behind: which environment it was for, how it compiles, and the
//! images that an upload would write.
//!
//! Owns `idedata.json`, which `pio run --target idedata` writes for editors, and a note beside the
//! builds. What of it is outside of the project is copied beside the note, so that a plan can show
//! it; only what PlatformIO has installed is.

use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::project::{Config, Environment, FILE};
use crate::files;
use crate::model::{FlashImage, UserError};
use crate::toolchain::esp_image::{Chip, ImageHeader};
use crate::toolchain::esptool::{self, WHAT};
use crate::toolchain::output_folder::{self, Use};

/// Where a build notes what it was for.
const NOTE: &str = ".pio/firmhand.json";

/// Where images lie that come with a framework.
const COPIES: &str = ".pio/firmhand";

/// What PlatformIO tells about an environment, in the environment's build folder.
const REPORTED: &str = "idedata.json";

/// The table of partitions, in the environment's build folder and among the copies.
const TABLE: &str = "partitions.bin";

/// A longer one is none, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Where an application lies unless the environment says otherwise.
const APPLICATION: u32 = 0x1_0000;

/// What a build was for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BuildNote {
    pub(super) environment: String,
    /// Build folder of the environment, relative to the project where it lies in it.
    pub(super) folder: PathBuf,
    /// The project's own sources, likewise.
    pub(super) sources: PathBuf,
    /// The port that the project names.
    pub(super) port: Option<String>,
    /// Bits per second of writing that the project names.
    pub(super) upload_speed: Option<u32>,
    /// Bits per second of the console, likewise.
    pub(super) monitor_speed: Option<u32>,
    /// Whether every source there is compiled.
    #[serde(default)]
    pub(super) takes_all: bool,
}

/// The part of `idedata.json` that matters here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct IdeData {
    prog_path: PathBuf,
    pub(super) cc_path: String,
    pub(super) cxx_path: String,
    pub(super) cc_flags: Vec<String>,
    pub(super) cxx_flags: Vec<String>,
    pub(super) defines: Vec<String>,
    pub(super) includes: Includes,
    extra: Extra,
}

/// Folders of headers, by what they belong to; those of the compiler are left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Includes {
    pub(super) build: Vec<String>,
    /// Of installed libraries, which are used once a source includes them.
    pub(super) compatlib: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Extra {
    flash_images: Vec<ImagePart>,
    application_offset: Option<Offset>,
}

#[derive(Debug, Deserialize)]
struct ImagePart {
    offset: Offset,
    path: PathBuf,
}

/// Platforms tell addresses as text, projects also as numbers.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Offset {
    Number(u32),
    Text(String),
}

impl Offset {
    fn get(&self) -> Option<u32> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => match text.trim().strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => text.trim().parse().ok(),
            },
        }
    }
}

/// Bits per second at which the console of what was built last talks, where the project says so.
pub(in crate::toolchain) fn monitor_speed(project: &Path) -> Option<u32> {
    BuildNote::read(project)?.monitor_speed
}

/// The images of a build.
#[derive(Debug)]
pub(super) struct Images {
    /// As `esptool` calls it.
    pub(super) chip: String,
    /// By rising offset.
    pub(super) all: Vec<FlashImage>,
}

impl BuildNote {
    pub(super) fn of(project: &Path, config: &Config, environment: &Environment) -> Self {
        Self {
            environment: environment.name.clone(),
            folder: inside(project, &config.build.join(&environment.name)),
            sources: inside(project, &config.sources),
            port: environment.port.clone(),
            upload_speed: environment.upload_speed,
            monitor_speed: environment.monitor_speed,
            takes_all: environment.takes_all,
        }
    }

    /// That of the last build; `None` before the first one.
    pub(super) fn read(project: &Path) -> Option<Self> {
        serde_json::from_str(&files::read_text(&project.join(NOTE), files::SETTINGS).ok()?).ok()
    }

    /// Keeps it for whoever flashes, with the images that come with a framework.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(super) fn keep(&self, project: &Path, packages: &Path) -> std::io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        let copies = Path::new(COPIES);
        output_folder::make_folder(project, copies)?;
        output_folder::write(project, Path::new(NOTE), text.as_bytes(), Use::Data)?;
        let copy = |from: &Path, to: &Path| {
            let content = files::read(from, files::IMAGE)?;
            output_folder::write(project, to, &content, Use::Data)
        };
        // Where the table lies for who asks after partitions; one of another build is none of this.
        let (made, kept) = (self.table(project), copies.join(TABLE));
        if made.is_file() {
            copy(&made, &kept)?;
        } else {
            output_folder::remove(project, &kept)?;
        }
        let reported = IdeData::read(&project.join(&self.folder));
        for part in reported.iter().flat_map(|reported| &reported.extra.flash_images) {
            if let (true, Some(name)) =
                (part.is_installed(project, packages), part.path.file_name())
            {
                copy(&part.path, &copies.join(name))?;
            }
        }
        Ok(())
    }

    /// The program of the last build.
    pub(super) fn program(&self, project: &Path) -> Option<PathBuf> {
        let reported = IdeData::read(&project.join(&self.folder))?;
        Some(reported.prog_path).filter(|path| path.is_file())
    }

    /// The table of partitions that the last build made.
    pub(super) fn table(&self, project: &Path) -> PathBuf {
        project.join(&self.folder).join(TABLE)
    }

    /// The program as the one image of a board that is a process of this machine.
    ///
    /// # Errors
    /// When it is gone.
    pub(super) fn host_image(project: &Path, program: &Path) -> Result<FlashImage, UserError> {
        image(project, program, 0).map(|(image, _)| image)
    }

    /// What an upload of the last build would write.
    ///
    /// # Errors
    /// When the build left nothing to write, or something that is no image of an ESP32.
    pub(super) fn images(&self, project: &Path) -> Result<Images, UserError> {
        let again = |why: String| UserError::new(WHAT, why, "Build the project again.");
        let folder = project.join(&self.folder);
        let reported = IdeData::read(&folder).ok_or_else(|| {
            again(format!("PlatformIO left no {REPORTED} in `{}`", self.folder.display()))
        })?;
        let app = reported.prog_path.with_extension("bin");
        is_plain(&app)?;
        let offset = match &reported.extra.application_offset {
            None => APPLICATION,
            Some(offset) => offset
                .get()
                .ok_or_else(|| again(format!("the application's address is {offset:?}")))?,
        };
        let (app, content) = image(project, &app, offset)?;
        let chip = chip(&content, &reported).ok_or_else(|| {
            let why = format!("`{}` is not an application for an ESP32", app.file);
            let fix =
                "Upload it with `pio run --target upload`; only ESP32 chips are supported here.";
            UserError::new(WHAT, why, fix)
        })?;
        let mut all = vec![app];
        for part in &reported.extra.flash_images {
            let offset = part
                .offset
                .get()
                .ok_or_else(|| again(format!("an image's address is {:?}", part.offset)))?;
            all.push(image(project, &part.place(project), offset)?.0);
        }
        all.sort_by_key(|image| image.offset);
        Ok(Images { chip, all })
    }
}

impl IdeData {
    /// `None` before the first time.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let file = folder.join(REPORTED);
        serde_json::from_slice(&files::read(&file, MAX_BYTES).ok()?).ok()
    }
}

impl ImagePart {
    /// Whether it comes with something that PlatformIO has installed.
    fn is_installed(&self, project: &Path, packages: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        let (Some(file), Some(packages)) = (real(&self.path), real(packages)) else { return false };
        !self.path.starts_with(project) && file.starts_with(packages)
    }

    /// Where it lies within the project.
    fn place(&self, project: &Path) -> PathBuf {
        match (self.path.starts_with(project), self.path.file_name()) {
            (false, Some(name)) => project.join(COPIES).join(name),
            _ => self.path.clone(),
        }
    }
}

/// A path relative to the project, where it lies in it.
fn inside(project: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(project).unwrap_or(path).to_owned()
}

/// Reads a file as an image at that offset.
fn image(project: &Path, file: &Path, offset: u32) -> Result<(FlashImage, Vec<u8>), UserError> {
    let shown = inside(project, file);
    let wrong = |why: &str| {
        let why = format!("`{}`: {why}", shown.display());
        UserError::new(WHAT, why, "Build the project again.")
    };
    if !shown.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(wrong("it is outside of the project"));
    }
    let content = files::read(file, files::PROGRAM).map_err(|error| wrong(&error.to_string()))?;
    Ok((esptool::image(shown.to_string_lossy().into_owned(), offset, &content), content))
}

/// An upload of signed or encrypted images writes other files.
///
/// # Errors
/// When the build made such.
fn is_plain(app: &Path) -> Result<(), UserError> {
    let name = app.file_stem().unwrap_or_default().to_string_lossy();
    for kind in ["signed", "encrypted"] {
        if app.with_file_name(format!("{name}-{kind}.bin")).exists() {
            let why = format!("the environment makes {kind} images");
            let fix = "Upload it with `pio run --target upload`.";
            return Err(UserError::new(WHAT, why, fix));
        }
    }
    Ok(())
}

/// The chip that an application is for, as its own head says.
fn chip(content: &[u8], reported: &IdeData) -> Option<String> {
    let header = ImageHeader::read(content)?;
    // An ESP8266's image begins alike and has no number there.
    let is_older = reported.cc_path.contains("lx106");
    Some(Chip::with_id(header.chip).filter(|_| !is_older)?.name.to_owned())
}

/// Whether PlatformIO has to be asked anew how an environment compiles: it was not yet, or what it
/// goes by has changed since.
pub(super) fn is_stale(project: &Path, note: &BuildNote, packages: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    let folder = project.join(&note.folder);
    let Some(at) = modified(&folder.join(REPORTED)) else { return true };
    let is_newer = |path: &Path| modified(path).is_none_or(|changed: SystemTime| changed > at);
    // A library that is used for the first time gets a folder here.
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut libraries = entries(&folder).filter(|entry| {
        entry.file_name().to_string_lossy().starts_with("lib") && entry.path().is_dir()
    });
    // Tables of partitions, settings and scripts lie beside the project's file or in its `boards`.
    let mut around = entries(project).chain(entries(&project.join("boards"))).filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        !name.starts_with('.') && entry.path().is_file()
    });
    is_newer(&project.join(FILE))
        || (packages.exists() && is_newer(packages))
        || libraries.any(|entry| is_newer(&entry.path()))
        || around.any(|entry| is_newer(&entry.path()))
}

#[cfg(test)]
#[path = "left_tests.rs"]
mod tests;
