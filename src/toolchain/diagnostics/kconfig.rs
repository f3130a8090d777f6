//! What Kconfig prints about option files and about the values that a project gives to options.
//!
//! Values are read from a copy of the project's file; the project's file is named, with the copy's line.

use super::finding::{ToolPlace, placed, unplaced};
use super::paths::Paths;
use super::patterns::{self, captures, group, is_match, number};
use crate::model::{Diagnostic, Severity};

/// How the copies of files with values are called.
const COPY: &str = "kconfgen_tmp";

/// What begins a note that asks for nothing.
const SILENT: [&str; 7] = [
    "Kconfig parser version",
    "Kconfig defaults policy",
    "Status: ",
    "Symbols parsed",
    "Deprecation notice",
    "ESP-IDF v",
    "Git version",
];

/// What only Kconfig says.
const TOPICS: [&str; 10] = [
    "kconfig symbol",
    " symbol ",
    " is invalid for ",
    "assignment ignored",
    "Assignment ignored",
    "assigned multiple times",
    "has user-set value",
    "was assigned the value",
    "multiple active selections",
    "(defined at ",
];

/// Remembers the file whose values are read.
#[derive(Debug, Default)]
pub(super) struct Values {
    file: Option<String>,
}

impl Values {
    /// A finding in a line, when it is Kconfig's.
    pub(super) fn finding(&mut self, line: &str, paths: &Paths) -> Option<Diagnostic> {
        if let Some(found) = captures(&patterns::KCONFIG_FILE, line) {
            self.file = Some(group(&found, 1).to_owned());
            return None;
        }
        error(line, paths).or_else(|| self.warning(line, paths))
    }

    fn warning(&self, line: &str, paths: &Paths) -> Option<Diagnostic> {
        let (text, is_note) = match captures(&patterns::KCONFIG_WARNING, line) {
            Some(found) => {
                let is_note = group(&found, 1) != "warning";
                (found.get(2)?.as_str(), is_note)
            }
            // Older releases begin with the place.
            None => (line.starts_with('/') && line.contains(COPY)).then_some((line, false))?,
        };
        if SILENT.iter().any(|silent| text.starts_with(silent)) {
            return None;
        }
        let warning = |message: &str, place| Some(placed(Severity::Warning, message, place));
        if let Some(found) = captures(&patterns::ASSIGNED_IN, text) {
            return warning(text, ToolPlace::line(paths.relative(group(&found, 1)), None));
        }
        if let Some(found) = captures(&patterns::KCONFIG_PLACE, text) {
            let (file, message) = (group(&found, 1), group(&found, 3));
            if SILENT.iter().any(|silent| message.starts_with(silent)) {
                return None;
            }
            let is_copy = file.contains(COPY);
            let file = if is_copy { self.file.as_deref().unwrap_or(file) } else { file };
            let is_ours = is_copy || paths.is_own(file);
            let message = self.without_copy(message, paths);
            let place = ToolPlace::line(paths.relative(file), number(&found, 2));
            return is_ours.then(|| placed(Severity::Warning, &message, place));
        }
        if let Some(found) = captures(&patterns::DEFINED_AT, text) {
            let place = ToolPlace::line(paths.relative(group(&found, 1)), number(&found, 2));
            return warning(text, place);
        }
        let is_topic = TOPICS.iter().any(|topic| text.contains(topic));
        (is_topic || !is_note).then(|| unplaced(Severity::Warning, text))
    }

    /// The message with the project's file in place of its copy.
    fn without_copy(&self, message: &str, paths: &Paths) -> String {
        let Some(file) = &self.file else { return message.to_owned() };
        let words = message.split(' ').map(|word| match word.contains(COPY) {
            true => paths.relative(file),
            false => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// An error in an option file.
fn error(line: &str, paths: &Paths) -> Option<Diagnostic> {
    if let Some(found) = captures(&patterns::KCONFIG, line) {
        let place = ToolPlace::line(paths.relative(group(&found, 1)), number(&found, 2));
        return Some(placed(Severity::Error, group(&found, 3), place));
    }
    let found = captures(&patterns::KCONFIG_END, line)?;
    let place = ToolPlace::line(paths.relative(group(&found, 2)), None);
    Some(placed(Severity::Error, group(&found, 1), place))
}

/// Gives the number that Kconfig could not read the place of the option with that value, which Kconfig
/// named before.
pub(super) fn locate_number(found: &mut [Diagnostic]) {
    let is_crash = |one: &Diagnostic| {
        one.file.is_none() && one.message.starts_with("invalid literal for int() with base ")
    };
    let Some(at) = found.iter().position(is_crash) else { return };
    let value = found.get(at).and_then(|one| one.message.split_once(": '")?.1.strip_suffix('\''));
    let value = value.unwrap_or_default();
    let is_it = |one: &&Diagnostic| {
        one.file.is_some() && one.message.contains(" has a non-") && one.message.ends_with(value)
    };
    let Some(cause) = found.iter().find(is_it).cloned() else { return };
    if let Some(one) = found.get_mut(at) {
        one.message = format!("{}: {}", one.message, cause.message);
        (one.file, one.line, one.column) = (cause.file, cause.line, cause.column);
    }
}

/// Whether the exception that ends a traceback is about an option file.
pub(super) fn is_exception(line: &str) -> bool {
    is_match(&patterns::KCONFIG, line) || is_match(&patterns::KCONFIG_END, line)
}
