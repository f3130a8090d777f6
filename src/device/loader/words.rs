//! What can go wrong between this program and a chip's loader, in plain words.
//!
//! Owns the words alone.

use std::io;

use espflash::Error;

use super::flash::SECTOR;
use crate::device::refused;
use crate::model::UserError;

/// How far it had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoaderStage {
    /// Nothing has been written or erased.
    Connecting,
    /// At that address.
    Writing(u32),
    /// Sectors are being erased.
    Erasing,
    /// At that address.
    Reading(u32),
    /// Everything is done but starting the board.
    Starting,
}

/// What has become of the flash until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlashState {
    /// Nothing was written or erased.
    Untouched,
    /// Writing or erasing had begun.
    Begun,
}

impl FlashState {
    /// What the person has to know about the board.
    const fn words(self) -> &'static str {
        match self {
            Self::Untouched => "Nothing was written.",
            Self::Begun => "The board may hold half of what was written.",
        }
    }
}

/// Why it went wrong.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The port cannot be opened.
    Port(io::Error),
    /// The board was disconnected.
    Gone,
    /// The person stopped it.
    Stopped,
    /// The library has no loader for such a chip.
    UnknownChip(String),
    /// The chip answers, but the library does not know it or its flash.
    Unrecognized(String),
    /// An address or a length is not a multiple of a sector.
    Uneven,
    /// Another chip than the one that was approved: (approved, found).
    OtherChip(String, String),
    /// What the chip holds differs from what was sent.
    Differs(LoaderStage),
    /// What shall stay on the board is not what was shown, from that address on.
    OtherContent(u32),
    /// The flash is too small.
    TooSmall {
        /// The address behind the last byte.
        end: u64,
        /// Bytes of the flash.
        bytes: u64,
    },
    /// The chip refused a command.
    Refused(LoaderStage, String),
    /// The chip does not answer, or not in a way that can be read.
    Silent(LoaderStage, String),
}

impl Trouble {
    pub(super) fn at(stage: LoaderStage) -> impl FnOnce(Error) -> Self {
        move |error| match error {
            Error::ChipMismatch(approved, found) => Self::OtherChip(approved, found),
            Error::VerifyFailed | Error::DigestMismatch(..) => Self::Differs(stage),
            Error::RomError(cause) => {
                Self::Refused(stage, cause.source().map_or(cause.to_string(), |c| c.to_string()))
            }
            Error::Connection(cause) | Error::Flashing(cause) => {
                Self::Silent(stage, cause.to_string())
            }
            Error::ChipDetectError(why) => Self::Unrecognized(why),
            Error::UnsupportedFlash(_)
            | Error::UnsupportedFeature { .. }
            | Error::UnsupportedChipRevision { .. } => Self::Unrecognized(error.to_string()),
            Error::FlashConnect => Self::Refused(stage, error.to_string()),
            other => Self::Silent(stage, other.to_string()),
        }
    }

    /// Whether a lower rate may help: the chip had answered at the first one.
    pub(super) const fn may_be_the_rate(&self) -> bool {
        use LoaderStage::{Erasing, Reading, Writing};
        matches!(self, Self::Silent(Writing(_) | Erasing | Reading(_), _))
    }

    /// Whether the chip did not answer at all.
    pub(super) const fn is_no_sync(&self) -> bool {
        matches!(self, Self::Silent(LoaderStage::Connecting, _))
    }

    /// The words for the person; `flash` tells what may be on the board now.
    pub(super) fn tell(&self, what: &str, port: &str, flash: FlashState) -> UserError {
        let reported = |why: String, fix: &str| UserError::new(what, why, fix);
        let with_rest = |advice: &str| format!("Try again. {} {advice}", flash.words());
        match self {
            Self::Port(error) => refused(what.to_owned(), port, error),
            Self::Stopped => {
                reported("it was stopped".to_owned(), &format!("Try again. {}", flash.words()))
            }
            Self::UnknownChip(chip) => {
                reported(format!("there is no loader for `{chip}` in this program"), ESPTOOL)
            }
            Self::Unrecognized(why) => reported(
                format!("the chip at `{port}` answers, but this program does not know it: {why}"),
                ESPTOOL,
            ),
            Self::Uneven => reported(
                format!("the region does not begin and end at a multiple of {SECTOR} bytes"),
                "Choose a region of whole sectors.",
            ),
            Self::OtherChip(approved, found) => reported(
                format!(
                    "wrong chip: `{port}` has an {found}, and what was approved is for {approved}"
                ),
                "Connect the other board or name its port, or build for this chip.",
            ),
            Self::Differs(stage) => reported(
                format!("the chip's MD5 of its flash differs from what was sent{}", place(*stage)),
                &with_rest(
                    "If that does not help, the flash chip is worn out or has too little power.",
                ),
            ),
            Self::OtherContent(offset) => reported(
                format!(
                    "the board's flash changed from 0x{offset:x} on since it was compared; nothing was written"
                ),
                "Propose the flash again; the board is then compared again.",
            ),
            Self::TooSmall { end, bytes } => reported(
                format!(
                    "the images end at 0x{end:x}, and the board's flash at 0x{bytes:x}; nothing \
                     was written"
                ),
                "Choose the flash size and the partition table of this board and build again.",
            ),
            Self::Refused(stage, why) => reported(
                format!("the chip refused the command{}: {why}", place(*stage)),
                &with_rest(
                    "If that does not help, its flash is protected, damaged or has too little \
                     power.",
                ),
            ),
            Self::Gone => reported(
                format!("`{port}` is gone: the board was disconnected"),
                &format!("Connect the board and try again. {}", flash.words()),
            ),
            Self::Silent(stage, why) => silence(what, (port, flash), *stage, why),
        }
    }
}

/// Words about a chip that does not answer.
fn silence(
    what: &str,
    (port, flash): (&str, FlashState),
    stage: LoaderStage,
    why: &str,
) -> UserError {
    let again = format!("Check the cable and the power, then try again. {}", flash.words());
    let (why, fix) = match stage {
        LoaderStage::Connecting => (
            format!("no sync: the chip at `{port}` does not answer ({why})"),
            "Hold BOOT, press and release RESET (EN), release BOOT and try again. Also check that the cable carries data and that this is the board's port.",
        ),
        LoaderStage::Starting => (
            format!("everything was written, but the board could not be started: {why}"),
            "Press RESET (EN) on the board.",
        ),
        LoaderStage::Writing(_) | LoaderStage::Erasing | LoaderStage::Reading(_) => {
            (format!("the chip stopped answering{} ({why})", place(stage)), again.as_str())
        }
    };
    UserError::new(what, why, fix)
}

const ESPTOOL: &str = "Install the tool that supports it: `pip install esptool`.";

fn place(stage: LoaderStage) -> String {
    match stage {
        LoaderStage::Connecting | LoaderStage::Starting => String::new(),
        LoaderStage::Writing(offset) => format!(" while writing from 0x{offset:x} on"),
        LoaderStage::Erasing => " while erasing".to_owned(),
        LoaderStage::Reading(offset) => format!(" while reading from 0x{offset:x} on"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(trouble: &Trouble) -> String {
        reported(trouble, FlashState::Untouched)
    }

    fn reported(trouble: &Trouble, flash: FlashState) -> String {
        let error = trouble.tell("Cannot flash", "/dev/ttyUSB0", flash);
        format!("{}. {}", error.why, error.fix)
    }

    #[test]
    fn a_chip_that_answers_is_not_said_to_be_silent() {
        let unknown = Error::ChipDetectError("Unrecognized magic value: 0x12".to_owned());
        for error in [unknown, Error::UnsupportedFlash(0x77)] {
            let trouble = Trouble::at(LoaderStage::Connecting)(error);
            let words = words_of(&trouble);
            assert!(words.contains("answers, but this program does not know it"), "{words}");
            assert!(!trouble.is_no_sync() && !trouble.may_be_the_rate(), "{trouble:?}");
        }
    }

    #[test]
    fn what_may_be_half_written_is_said_once_writing_had_begun_and_not_before() {
        let half = "may hold half of what was written";
        let refused = |stage| Trouble::Refused(stage, "0x105".to_owned());
        let silent = |stage| Trouble::Silent(stage, "timeout".to_owned());
        for stage in [LoaderStage::Writing(0x1_0000), LoaderStage::Erasing] {
            let differs = Trouble::Differs(stage);
            for trouble in [refused(stage), silent(stage), differs, Trouble::Gone, Trouble::Stopped]
            {
                assert!(reported(&trouble, FlashState::Begun).contains(half), "{trouble:?}");
                let words = reported(&trouble, FlashState::Untouched);
                assert!(!words.contains(half) && words.contains("Nothing was written"), "{words}");
            }
        }
    }
}
