//! What a finding is made of, and the order in which findings are reported.

use std::collections::HashSet;

use super::paths::Paths;
use super::patterns::{group, number};
use super::phrases::PHRASES;
use crate::model::{Diagnostic, Severity};
use crate::text::sanitize;

/// More findings than this help nobody; errors are kept first.
pub(super) const MAX_DIAGNOSTICS: usize = 500;

/// A message or hint is cut after this many bytes.
const MAX_MESSAGE_BYTES: usize = 2000;

/// Where something is: a file as the project calls it, its line, and its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolPlace {
    pub(super) file: String,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
}

impl ToolPlace {
    /// That line, without a column.
    pub(super) const fn line(file: String, line: Option<u32>) -> Self {
        Self { file, line, column: None }
    }

    /// The file and the line in the first two parts of what was found.
    pub(super) fn named(found: &regex::Captures<'_>, paths: &Paths) -> Self {
        Self::line(paths.relative(group(found, 1)), number(found, 2))
    }
}

/// One without a place.
pub(super) fn unplaced(severity: Severity, message: &str) -> Diagnostic {
    Diagnostic::new(severity, bounded(message.trim()))
}

/// One at a place.
pub(super) fn placed(severity: Severity, message: &str, place: ToolPlace) -> Diagnostic {
    let ToolPlace { file, line, column } = place;
    // Old compilers write column 0 when they know none.
    let column = column.filter(|&column| column > 0);
    Diagnostic { file: Some(file), line, column, ..unplaced(severity, message) }
}

/// One at a place, if that is known.
pub(super) fn diagnostic(
    severity: Severity,
    message: &str,
    place: Option<ToolPlace>,
) -> Diagnostic {
    match place {
        Some(place) => placed(severity, message, place),
        None => unplaced(severity, message),
    }
}

/// Cuts a text and makes it one harmless line.
pub(super) fn bounded(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_MESSAGE_BYTES);
    sanitize::line(text.get(..end).unwrap_or_default()).into_owned()
}

pub(super) const fn is_error(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.severity, Severity::Error)
}

/// Each once, errors first, no more than anyone reads.
pub(super) fn tidy(found: &mut Vec<Diagnostic>) {
    // What is an error in one place of the output may be a warning in another.
    found.sort_by_key(|d| d.severity);
    let mut seen = HashSet::new();
    found.retain(|d| seen.insert((d.file.clone(), d.line, d.column, d.message.clone())));
    found.truncate(MAX_DIAGNOSTICS);
}

/// Adds what to do where the framework says nothing.
pub(super) fn advise(found: &mut Diagnostic) {
    if !found.hint.is_empty() {
        return;
    }
    if let Some(fitting) = PHRASES.hints.iter().find(|hint| hint.fits(&found.message)) {
        found.hint.clone_from(&fitting.hint);
    }
}
