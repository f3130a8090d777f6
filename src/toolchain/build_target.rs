//! What firmware of a project is built with and for: framework with its version, chip, board.
//!
//! Owns how that is said to agents. Must not find anything out: each toolchain does that.

use serde::Serialize;

/// What firmware of a project is built with and for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuildTarget {
    /// With the version that was found, e.g. `ESP-IDF v5.4.1`; else that it was not found, and what
    /// is used instead.
    pub framework: String,
    /// E.g. `esp32s3`; else why there is none yet.
    pub chip: String,
    /// The board by its name or its port; else that none is known.
    pub board: String,
}

/// What is said where no chip was chosen.
pub(super) const NO_CHIP: &str = "not chosen yet";

/// What is said where no board is known.
pub(super) const NO_BOARD: &str = "none is connected";

impl BuildTarget {
    /// A framework for which neither chip nor board is known.
    #[must_use]
    pub fn of_framework(framework: impl Into<String>) -> Self {
        let (chip, board) = (NO_CHIP.to_owned(), NO_BOARD.to_owned());
        Self { framework: framework.into(), chip, board }
    }

    /// The lines that every agent is told.
    #[must_use]
    pub fn in_words(&self) -> String {
        let Self { framework, chip, board } = self;
        format!(
            "Firmware of this project is built with and for:\n\
             - framework: {framework}\n- chip: {chip}\n- board: {board}\n\
             In firmware, use only functions that this version has, and pins and peripherals that \
             this chip has."
        )
    }
}

/// The chip that a board of Arduino has, by its name, e.g. of `esp32:esp32:esp32s3:PSRAM=opi`;
/// `None` when the name does not tell.
#[must_use]
pub fn chip_of_fqbn(fqbn: &str) -> Option<&str> {
    let mut parts = fqbn.split(':');
    let (_, architecture, board) = (parts.next()?, parts.next()?, parts.next()?);
    let is_chip = CHIPS.contains(&board);
    (architecture == "esp32" && is_chip).then_some(board)
}

/// The chips after which the Arduino core names its plain boards.
const CHIPS: &[&str] = &[
    "esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32c61",
    "esp32h2", "esp32p4",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_boards_of_arduino_are_named_after_their_chip() {
        for (fqbn, chip) in [
            ("esp32:esp32:esp32", Some("esp32")),
            ("esp32:esp32:esp32s3:PSRAM=opi,CPUFreq=80", Some("esp32s3")),
            ("esp32:esp32:esp32c3", Some("esp32c3")),
            ("esp32:esp32:m5stack_core2", None),
            ("arduino:avr:esp32", None),
            ("esp32", None),
            ("", None),
        ] {
            assert_eq!(chip_of_fqbn(fqbn), chip, "{fqbn}");
        }
    }

    #[test]
    fn everything_that_is_not_known_is_said_to_be_so() {
        let words = BuildTarget::of_framework("ESP-IDF v5.4.1").in_words();
        for part in ["framework: ESP-IDF v5.4.1\n", "chip: not chosen yet", "board: none is"] {
            assert!(words.contains(part), "{words}");
        }
    }
}
