//! What `idf.py`, its scripts and `arduino-cli` print besides compilers: refusals, images that do not
//! fit, components that do not come, and advice.

use super::finding::{ToolPlace, bounded, diagnostic, is_error, unplaced};
use super::paths::Paths;
use super::patterns::{self, group};
use crate::model::{Diagnostic, Severity};
use crate::text::sanitize;

/// How `idf.py` begins its advice.
const YELLOW: &str = "\u{1b}[0;33m";

/// How `idf.py` reports that ninja or CMake did not succeed; what they printed says why.
pub(super) const COMMAND_FAILED: &str = " failed with exit code ";

/// How the component manager says that a manifest is wrong, before CMake says so without a reason.
const MANIFEST: [&str; 2] = ["Cannot parse the manifest file. Please check that", "Invalid field "];

/// How `arduino-cli` says that a sketch does not fit, before it says so for the section.
const TOO_BIG: [&str; 2] = ["Sketch too big", "Not enough memory"];

/// What programs write behind `Error: ` when there is none.
const NOTHING: [&str; 8] = ["0", "none", "no", "no error", "no errors", "null", "ok", "success"];

/// A finding of several lines, and how many they were.
pub(super) type Lines = (Diagnostic, usize);

/// An image that does not fit into its partitions, with the lines that name them.
pub(super) fn too_small(lines: &[&str]) -> Option<Lines> {
    let first = lines.first()?;
    let (severity, stated) = match patterns::PARTITION.captures(first) {
        Some(found) => (Severity::Warning, group(&found, 1).to_owned()),
        None => {
            let found = patterns::PLAIN.captures(first)?;
            let stated = group(&found, 1);
            let is_it = stated.contains(" too small for binary ");
            (Severity::Error, is_it.then(|| stated.to_owned())?)
        }
    };
    let parts = lines.iter().skip(1);
    let parts: Vec<&str> =
        parts.map_while(|line| Some(line.trim_start().strip_prefix("- ")?.trim_end())).collect();
    let message = format!("{stated} {}", parts.join("; "));
    Some((unplaced(severity, &message), 1 + parts.len()))
}

/// What ends `idf.py`, a script of it, or `arduino-cli`.
pub(super) fn refusal(lines: &[&str], found: &[Diagnostic], paths: &Paths) -> Option<Lines> {
    let line = lines.first()?;
    let is_too_big = |one: &Diagnostic| TOO_BIG.iter().any(|text| one.message.starts_with(text));
    if line.contains("section exceeds available space in board")
        && found.last().is_some_and(is_too_big)
    {
        return None;
    }
    if let Some(found) = patterns::PLAIN.captures(line) {
        let stated = group(&found, 1);
        let is_known = line.contains(COMMAND_FAILED)
            || stated.starts_with("exit status ")
            || NOTHING.contains(&stated.trim_end().trim_end_matches('.').to_lowercase().as_str());
        return (!is_known).then(|| (unplaced(Severity::Error, stated), 1));
    }
    if patterns::FATAL.is_match(line) {
        let requirements = lines.iter().skip(1).map(|line| line.trim());
        let requirements: Vec<&str> = requirements
            .take_while(|text| line.ends_with(':') && text.starts_with("Requirement "))
            .collect();
        let message = format!("{line} {}", requirements.join(" "));
        let place = line
            .strip_prefix("Project sdkconfig '")
            .and_then(|rest| rest.split('\'').next())
            .map(|file| ToolPlace::line(paths.relative(file), None));
        return Some((diagnostic(Severity::Error, &message, place), 1 + requirements.len()));
    }
    if let Some(found) = patterns::NAMED_EXCEPTION.captures(line) {
        return Some((unplaced(Severity::Error, group(&found, 1)), 1));
    }
    let found = patterns::ARDUINO.captures(line)?;
    let stated = group(&found, 1);
    (!stated.contains("exit status ")).then(|| (unplaced(Severity::Error, stated), 1))
}

/// Why a manifest of components is wrong, and how many lines say so; CMake's error follows.
pub(super) fn manifest(lines: &[&str], paths: &Paths) -> Option<Lines> {
    let first = lines.first()?;
    if !MANIFEST.iter().any(|text| first.starts_with(text)) {
        return None;
    }
    let more = lines.iter().skip(1).take_while(|line| {
        let text = line.trim();
        first.starts_with(MANIFEST[0]) && !text.is_empty() && !text.starts_with("CMake ")
    });
    let more: Vec<&str> = more.map(|line| line.trim()).collect();
    let message = format!("{} {}", first.trim_end(), more.join(" "));
    let file = more.iter().find(|line| line.ends_with(".yml") || line.ends_with(".yaml"));
    let place = file.map(|file| ToolPlace::line(paths.relative(file), None));
    Some((diagnostic(Severity::Error, &message, place), 1 + more.len()))
}

/// An error in a frame, as esptool and other programs draw it.
pub(super) fn boxed(lines: &[&str]) -> Option<Lines> {
    let first = lines.first()?;
    first.strip_prefix("╭─ Error ─")?;
    let inside = lines.iter().skip(1).map_while(|line| line.strip_prefix('│'));
    let inside: Vec<&str> = inside.map(|line| line.trim_end_matches('│').trim()).collect();
    Some((unplaced(Severity::Error, &inside.join(" ")), 2 + inside.len()))
}

/// Advice of `idf.py` after an error; returns how many lines it was. `raw` are the lines as printed,
/// whose colour says where advice ends.
pub(super) fn hint(raw: &[&str], found: &mut [Diagnostic]) -> Option<usize> {
    let first = raw.first()?;
    let is_yellow = first.starts_with(YELLOW);
    let start = sanitize::strip_sequences(first);
    let is_other = start.starts_with("WARNING:") || start.starts_with("NOTE:");
    if !start.starts_with("HINT:") && (!is_yellow || is_other) {
        return None;
    }
    let error = found.iter_mut().rev().find(|one| is_error(one))?;
    let mut parts = Vec::new();
    for line in raw {
        let stripped = sanitize::strip_sequences(line);
        let is_next = !parts.is_empty()
            && (stripped.starts_with("HINT:")
                || stripped.is_empty()
                || stripped.starts_with("CMake ")
                || stripped.contains(COMMAND_FAILED));
        if is_next {
            break;
        }
        parts.push(stripped.trim().trim_start_matches("HINT:").trim().to_owned());
        if is_yellow && line.contains("\u{1b}[0m") {
            break;
        }
    }
    let hint = bounded(&parts.join(" "));
    if !error.hint.contains(&hint) {
        let joint = if error.hint.is_empty() { "" } else { " " };
        error.hint = bounded(&format!("{}{joint}{hint}", error.hint));
    }
    Some(parts.len())
}
