//! How important a line of a log is, as told from its text.
//!
//! Must not look at anything but the line.

use crate::model::LogKind;
use crate::text::esp_log::{self, LogLevel};

/// What a line of such a log says about itself; `None`: nothing.
#[must_use]
pub fn level(kind: LogKind, text: &str) -> Option<LogLevel> {
    match kind {
        LogKind::Serial => serial_level(text),
        LogKind::Build | LogKind::Test => build_level(text),
    }
}

/// What the lines of a failure begin with.
const FAILURES: [&str; 6] = [
    "Guru Meditation Error",
    "Backtrace:",
    "abort() was called",
    "assert failed:",
    "***ERROR***",
    "Brownout detector was triggered",
];

/// The level of a line of ESP-IDF's or Arduino's log, or of a failure.
fn serial_level(text: &str) -> Option<LogLevel> {
    let is_failure = || FAILURES.iter().any(|start| text.starts_with(start));
    let stated = esp_log::parse(text).map(|log| log.level);
    stated.or_else(|| is_failure().then_some(LogLevel::Error))
}

/// What a line of a build says about itself.
fn build_level(text: &str) -> Option<LogLevel> {
    Some(
        if text.contains("error:") || text.starts_with("FAILED:") || text.contains("CMake Error") {
            LogLevel::Error
        } else if text.contains("warning:") || text.contains("CMake Warning") {
            LogLevel::Warning
        } else if text.contains("note:") {
            LogLevel::Info
        } else if text.starts_with('[') && text.split(']').next().is_some_and(|s| s.contains('/')) {
            LogLevel::Verbose
        } else {
            return None;
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_told_from_the_text() {
        assert_eq!(serial_level("E (31) bus: timeout"), Some(LogLevel::Error));
        assert_eq!(serial_level("Every word"), None);
        assert_eq!(serial_level("Backtrace: 0x4008:0x3ffb"), Some(LogLevel::Error));
        assert_eq!(serial_level("W main_task: low on stack"), Some(LogLevel::Warning));
        assert_eq!(serial_level("[  99][E][Wire.cpp:4] requestFrom(): no"), Some(LogLevel::Error));
        assert_eq!(build_level("a.c:3:1: error: no"), Some(LogLevel::Error));
        assert_eq!(build_level("[3/9] Building C object"), Some(LogLevel::Verbose));
    }
}
