//! How DTR and RTS start a chip, into its program or into its boot loader.
//!
//! Owns the sequences and their times. Must not touch a port.

use std::time::Duration;

use super::adapters::ResetStyle;

/// Where DTR and RTS are set to; `true` asserts the line, which pulls it low.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlLines {
    /// Pulls IO0 low on most boards.
    pub dtr: bool,
    /// Pulls EN low on most boards.
    pub rts: bool,
}

/// One step: lines, and how long they stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResetStep {
    /// What the lines are set to.
    pub lines: ControlLines,
    /// For how long.
    pub wait: Duration,
}

/// What the chip shall start into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Into {
    Program,
    /// The boot loader in its ROM.
    BootLoader,
}

const fn step(dtr: bool, rts: bool, millis: u64) -> ResetStep {
    ResetStep { lines: ControlLines { dtr, rts }, wait: Duration::from_millis(millis) }
}

/// EN low, then high.
const CLASSIC_PROGRAM: &[ResetStep] = &[step(false, true, 100), step(false, false, 0)];

/// EN low; then IO0 low while EN rises. Both lines pass through the idle state first, which the
/// transistors of common boards need when the lines cannot be set at once ("tight" reset).
const CLASSIC_LOADER: &[ResetStep] = &[
    step(false, false, 0),
    step(true, true, 0),
    step(false, true, 100),
    step(true, false, 50),
    step(false, false, 0),
];

/// The chip's own USB block watches for RTS alone.
const JTAG_PROGRAM: &[ResetStep] =
    &[step(false, false, 50), step(false, true, 200), step(false, false, 200)];

/// IO0 is remembered while DTR is set; the chip starts when RTS falls.
const JTAG_LOADER: &[ResetStep] = &[
    step(false, false, 100),
    step(true, false, 100),
    step(true, true, 0),
    step(false, true, 100),
    step(false, false, 0),
];

/// The steps for a chip.
#[must_use]
pub const fn steps(style: ResetStyle, into: Into) -> &'static [ResetStep] {
    match (style, into) {
        (ResetStyle::Classic, Into::Program) => CLASSIC_PROGRAM,
        (ResetStyle::Classic, Into::BootLoader) => CLASSIC_LOADER,
        (ResetStyle::UsbJtag, Into::Program) => JTAG_PROGRAM,
        (ResetStyle::UsbJtag, Into::BootLoader) => JTAG_LOADER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_holds_reset_and_lets_go_of_both_lines() {
        for style in [ResetStyle::Classic, ResetStyle::UsbJtag] {
            for into in [Into::Program, Into::BootLoader] {
                let steps = steps(style, into);
                let last = steps.last().unwrap();
                assert_eq!(
                    last.lines,
                    ControlLines { dtr: false, rts: false },
                    "{style:?} {into:?}"
                );
                let held: Duration = steps.iter().filter(|s| s.lines.rts).map(|s| s.wait).sum();
                assert!(held >= Duration::from_millis(100), "{style:?} {into:?}");
                // Only the boot loader has IO0 low when the chip starts.
                assert_eq!(steps.iter().any(|s| s.lines.dtr), into == Into::BootLoader);
            }
        }
    }
}
