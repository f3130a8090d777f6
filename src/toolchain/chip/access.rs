//! The way to the flash of a chip: by which loader, and what the project asks of it.

use std::ffi::OsString;
use std::path::Path;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::device::loader;
use crate::model::{BoardInfo, UserError};
use crate::toolchain::process::ProcessSpec;

/// Names the loader for those who want another than this program would take.
const VARIABLE: &str = "FIRMHAND_LOADER";

/// By what the flash of a chip is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loader {
    /// The one within where it serves, else `esptool`.
    #[default]
    Fitting,
    /// The one within this program, `espflash`'s. It needs no Python, but knows ports of this machine
    /// only, and not every chip.
    Within,
    /// `esptool`.
    Esptool,
}

impl Loader {
    /// The one that the person has named in `FIRMHAND_LOADER`, else the fitting one.
    ///
    /// # Errors
    /// When that names none.
    pub(super) fn named() -> Result<Self, UserError> {
        Self::read(&std::env::var(VARIABLE).unwrap_or_default())
    }

    pub(super) fn read(name: &str) -> Result<Self, UserError> {
        match name {
            "" => Ok(Self::Fitting),
            "espflash" => Ok(Self::Within),
            "esptool" => Ok(Self::Esptool),
            other => Err(UserError::new(
                "Cannot choose how boards are flashed",
                format!("`{VARIABLE}` names `{other}`, which is not a loader"),
                "Set it to `espflash` (within this program) or `esptool`, or unset it.",
            )),
        }
    }

    /// Whether the one within this program is used for a board.
    pub(super) fn is_within(self, board: &BoardInfo, asked: &EsptoolOptions) -> bool {
        match self {
            Self::Fitting => {
                !board.port.contains("://") && loader::knows(&board.chip) && asked.is_usual()
            }
            Self::Within => true,
            Self::Esptool => false,
        }
    }
}

/// Bits per second while writing and reading much, unless the project or the person names others.
const FLASH_BAUD: u32 = 460_800;

/// What a project asks of `esptool`, in its words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::toolchain) struct EsptoolOptions {
    /// How the chip is started into its boot loader.
    pub(in crate::toolchain) before: Option<String>,
    /// How it is started afterwards.
    pub(in crate::toolchain) after: Option<String>,
    /// Whether a helping program is put into its memory.
    pub(in crate::toolchain) stub: Option<bool>,
    /// Options of writing.
    pub(in crate::toolchain) write: Vec<String>,
    /// Bits per second while writing and reading much.
    pub(in crate::toolchain) baud: Option<u32>,
}

impl EsptoolOptions {
    /// Bits per second while writing and reading much.
    pub(super) fn baud(&self) -> u32 {
        self.baud.unwrap_or(FLASH_BAUD)
    }

    /// Whether it is nothing but to write the images as they are, to a chip that is started as
    /// always and helped by a program in its memory.
    pub(super) fn is_usual(&self) -> bool {
        let message = |word: &Option<String>| word.as_deref().map(|word| word.replace('_', "-"));
        let before = message(&self.before).is_none_or(|word| word == "default-reset");
        let after = message(&self.after).is_none_or(|word| word == "hard-reset");
        before && after && self.stub != Some(false) && self.write.chunks(2).all(is_in_header)
    }
}

/// Whether an option tells what the build has put into the headers of the images already, which is
/// all but what only the chip knows.
fn is_in_header(pair: &[String]) -> bool {
    let [option, value] = pair else { return false };
    let option = option.replace('_', "-");
    let part = option.strip_prefix("--flash-").unwrap_or_default();
    ["mode", "freq", "size"].contains(&part) && value != "detect"
}

/// How a toolchain calls `esptool`.
pub(in crate::toolchain) trait Esptool: Sync {
    /// A job of it with these arguments, in that folder.
    ///
    /// # Errors
    /// When the toolchain cannot be used at all.
    fn job<'a>(
        &'a self,
        args: Vec<OsString>,
        folder: &'a Path,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ProcessSpec, UserError>>;
}

/// For toolchains that bring no `esptool` that could be called.
pub(in crate::toolchain) struct NoEsptool;

impl Esptool for NoEsptool {
    fn job<'a>(
        &'a self,
        _args: Vec<OsString>,
        _folder: &'a Path,
        _cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ProcessSpec, UserError>> {
        let why = "this toolchain has no `esptool` of its own";
        let error =
            UserError::new(crate::toolchain::esptool::WHAT, why, "Unset `FIRMHAND_LOADER`.");
        Box::pin(std::future::ready(Err(error)))
    }
}

/// The way to the flash of a project's chip.
pub(in crate::toolchain) struct FlashAccess<'a> {
    /// The toolchain's own `esptool`.
    pub(in crate::toolchain) esptool: &'a dyn Esptool,
    /// What the project asks of it.
    pub(in crate::toolchain) asked: EsptoolOptions,
    /// By what; `None`: as the environment says.
    pub(in crate::toolchain) loader: Option<Loader>,
}
