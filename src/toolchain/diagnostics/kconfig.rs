//! What Kconfig prints about option files and about the values that a project gives to options.
//!
//! Values are read from a copy of the project's file; the project's file is named, with the copy's line.

use super::finding::{ToolPlace, placed, unplaced};
use super::paths::Paths;
use super::patterns::{self, group, number};
use super::phrases::{PHRASES, begins_with_any, has_any};
use crate::model::{Diagnostic, Severity};

/// How the copies of files with values are called.
const COPY: &str = "kconfgen_tmp";

/// Remembers the file whose values are read.
#[derive(Debug, Default)]
pub(super) struct Values {
    file: Option<String>,
}

impl Values {
    /// A finding in a line, when it is Kconfig's.
    pub(super) fn finding(&mut self, line: &str, paths: &Paths) -> Option<Diagnostic> {
        if let Some(found) = patterns::KCONFIG_FILE.captures(line) {
            self.file = Some(group(&found, 1).to_owned());
            return None;
        }
        error(line, paths).or_else(|| self.warning(line, paths))
    }

    fn warning(&self, line: &str, paths: &Paths) -> Option<Diagnostic> {
        let (text, is_note) = match patterns::KCONFIG_WARNING.captures(line) {
            Some(found) => {
                let is_note = group(&found, 1) != "warning";
                (found.get(2)?.as_str(), is_note)
            }
            // Older releases begin with the place.
            None => (line.starts_with('/') && line.contains(COPY)).then_some((line, false))?,
        };
        if begins_with_any(text, &PHRASES.kconfig_silent) {
            return None;
        }
        let warning = |message: &str, place| Some(placed(Severity::Warning, message, place));
        if let Some(found) = patterns::ASSIGNED_IN.captures(text) {
            return warning(text, ToolPlace::named(&found, paths));
        }
        if let Some(found) = patterns::KCONFIG_PLACE.captures(text) {
            let (file, message) = (group(&found, 1), group(&found, 3));
            if begins_with_any(message, &PHRASES.kconfig_silent) {
                return None;
            }
            let is_copy = file.contains(COPY);
            let file = if is_copy { self.file.as_deref().unwrap_or(file) } else { file };
            let is_ours = is_copy || paths.is_own(file);
            let message = self.without_copy(message, paths);
            let place = ToolPlace::line(paths.relative(file), number(&found, 2));
            return is_ours.then(|| placed(Severity::Warning, &message, place));
        }
        if let Some(found) = patterns::DEFINED_AT.captures(text) {
            return warning(text, ToolPlace::named(&found, paths));
        }
        let is_topic = has_any(text, &PHRASES.kconfig_topics);
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
    if let Some(found) = patterns::KCONFIG.captures(line) {
        return Some(placed(Severity::Error, group(&found, 3), ToolPlace::named(&found, paths)));
    }
    let found = patterns::KCONFIG_END.captures(line)?;
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
    patterns::KCONFIG.is_match(line) || patterns::KCONFIG_END.is_match(line)
}
