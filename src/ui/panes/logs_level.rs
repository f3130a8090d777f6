//! How important a line of a log is, as told from its text.
//!
//! Must not look at anything but the line.

use crate::model::LogKind;
use crate::text::esp_log;

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// `E`, or a compiler's error.
    Error,
    /// `W`, or a compiler's warning.
    Warning,
    /// `I`.
    Info,
    /// `D`.
    Debug,
    /// `V`, or a build's progress.
    Verbose,
    /// None is stated.
    Plain,
}

/// What a line of such a log says about itself.
#[must_use]
pub fn level(kind: LogKind, text: &str) -> LogLevel {
    match kind {
        LogKind::Serial => serial_level(text),
        LogKind::Build => build_level(text),
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
fn serial_level(text: &str) -> LogLevel {
    match esp_log::parse(text).map(|log| log.level) {
        Some(esp_log::LogLevel::Error) => LogLevel::Error,
        Some(esp_log::LogLevel::Warning) => LogLevel::Warning,
        Some(esp_log::LogLevel::Info) => LogLevel::Info,
        Some(esp_log::LogLevel::Debug) => LogLevel::Debug,
        Some(esp_log::LogLevel::Verbose) => LogLevel::Verbose,
        None if FAILURES.iter().any(|start| text.starts_with(start)) => LogLevel::Error,
        None => LogLevel::Plain,
    }
}

/// What a line of a build says about itself.
fn build_level(text: &str) -> LogLevel {
    if text.contains("error:") || text.starts_with("FAILED:") || text.contains("CMake Error") {
        LogLevel::Error
    } else if text.contains("warning:") || text.contains("CMake Warning") {
        LogLevel::Warning
    } else if text.contains("note:") {
        LogLevel::Info
    } else if text.starts_with('[') && text.split(']').next().is_some_and(|s| s.contains('/')) {
        LogLevel::Verbose
    } else {
        LogLevel::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_told_from_the_text() {
        assert_eq!(serial_level("E (31) bus: timeout"), LogLevel::Error);
        assert_eq!(serial_level("Every word"), LogLevel::Plain);
        assert_eq!(serial_level("Backtrace: 0x4008:0x3ffb"), LogLevel::Error);
        assert_eq!(serial_level("W main_task: low on stack"), LogLevel::Warning);
        assert_eq!(serial_level("[  99][E][Wire.cpp:4] requestFrom(): no"), LogLevel::Error);
        assert_eq!(build_level("a.c:3:1: error: no"), LogLevel::Error);
        assert_eq!(build_level("[3/9] Building C object"), LogLevel::Verbose);
    }
}
