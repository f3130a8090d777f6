//! What linkers print.
//!
//! Owns which of their lines are errors: what a linker says counts as an error only if it is known to
//! be one, or if the linker failed.

use super::finding::{ToolPlace, is_error, placed, unplaced};
use super::objects::Objects;
use super::paths::Paths;
use super::patterns::{self, group, number};
use super::phrases::{PHRASES, has_any};
use crate::model::{Diagnostic, Severity};

/// What a line of a linker is.
pub(super) enum Linked {
    /// A finding for sure.
    Found(Diagnostic),
    /// One that another names better when both are there: the same symbol with a line.
    Vague(Diagnostic),
    /// An error if the linker failed.
    Perhaps(Diagnostic),
    Nothing,
}

/// Whether a line names the function of an object that the linker's next lines are about.
pub(super) fn names_function(line: &str) -> bool {
    patterns::IN_OBJECT.is_match(line)
}

/// Whether a line says that a linker failed; why was said before.
pub(super) fn has_failed(line: &str) -> bool {
    patterns::LINK_FAILED.is_match(line)
}

/// What a line says when it is a linker's; `None` when it is not. `is_continued`: the linker named a
/// function before it.
pub(super) fn linked(
    line: &str,
    objects: &Objects,
    paths: &Paths,
    is_continued: bool,
) -> Option<Linked> {
    let (stated, by_linker) = match patterns::LINKER.captures(line) {
        Some(found) => (group(&found, 1), true),
        None => (line, false),
    };
    if let Some(found) = patterns::LINKER_LINE.captures(stated) {
        let (severity, stated) = severity_of(group(&found, 3));
        // Code that the linker made itself comes from no file.
        let Some(file) = file_of(line, group(&found, 1)) else {
            return Some(Linked::Vague(unplaced(severity, stated)));
        };
        let place = ToolPlace::line(objects.full(paths.relative(&file)), number(&found, 2));
        return Some(Linked::Found(placed(severity, stated, place)));
    }
    if let Some(found) = patterns::LINKER_OBJECT.captures(stated) {
        let (severity, stated) = severity_of(group(&found, 2));
        return Some(Linked::Vague(in_object(group(&found, 1), severity, stated, objects, paths)));
    }
    if stated.starts_with('`') && stated.contains(": defined in discarded section") {
        return Some(Linked::Found(unplaced(Severity::Error, stated)));
    }
    if names_function(stated) {
        return Some(Linked::Nothing);
    }
    let is_known = has_any(stated, &PHRASES.linker_errors);
    let has_place = is_continued || (by_linker && !is_known);
    if let Some(found) = in_any_language(stated, has_place, objects, paths) {
        return Some(Linked::Perhaps(found));
    }
    if !by_linker {
        let found = patterns::LINKER_SCRIPT.captures(stated)?;
        let (severity, text) = severity_of(group(&found, 3));
        let place = ToolPlace::named(&found, paths);
        return Some(Linked::Found(placed(severity, text, place)));
    }
    Some(of_itself(stated, is_known, paths))
}

/// What a linker says at a place, by its form.
fn in_any_language(
    stated: &str,
    has_place: bool,
    objects: &Objects,
    paths: &Paths,
) -> Option<Diagnostic> {
    if let Some(found) = patterns::LINKER_OBJECT_ANY.captures(stated) {
        let (severity, stated) = severity_of(group(&found, 2));
        return Some(in_object(group(&found, 1), severity, stated, objects, paths));
    }
    let found = patterns::LINKER_LINE_ANY.captures(stated).filter(|_| has_place)?;
    let (severity, stated) = severity_of(group(&found, 3));
    let file = objects.full(paths.relative(group(&found, 1)));
    let place = ToolPlace::line(file, number(&found, 2).filter(|&line| line > 0));
    Some(placed(severity, stated, place))
}

/// What a linker says under its own name. `is_known`: it has words that only errors have.
fn of_itself(stated: &str, is_known: bool, paths: &Paths) -> Linked {
    // What failed was reported before.
    if stated.ends_with("lto-wrapper failed") {
        return Linked::Nothing;
    }
    let is_place = stated.ends_with(':') && stated.contains(": in function ");
    if stated.is_empty() || is_place || has_any(stated, &PHRASES.linker_silent) {
        return Linked::Nothing;
    }
    if let Some(note) = stated.strip_prefix("NOTE: ") {
        return Linked::Found(unplaced(Severity::Note, note));
    }
    let (severity, text) = severity_of(stated);
    let found = match patterns::LINKER_PLACE.captures(text) {
        Some(place) => placed(severity, group(&place, 3), ToolPlace::named(&place, paths)),
        None => unplaced(severity, text),
    };
    let is_sure = severity != Severity::Error || stated.starts_with("error: ") || is_known;
    if is_sure { Linked::Found(found) } else { Linked::Perhaps(found) }
}

fn severity_of(stated: &str) -> (Severity, &str) {
    match patterns::LINKER_WARNING.captures(stated) {
        Some(found) => (Severity::Warning, found.get(1).map_or(stated, |text| text.as_str())),
        None => {
            let stated = stated.strip_prefix("error: ").unwrap_or(stated);
            (Severity::Error, stated.strip_prefix("fatal: ").unwrap_or(stated))
        }
    }
}

/// The file that a linker names in `line`, with the drive that it may begin with; `None` when it is
/// none.
fn file_of(line: &str, file: &str) -> Option<String> {
    if file.rsplit('/').next().is_some_and(|name| name.starts_with('<')) {
        return None;
    }
    let before = line.split_once(file).map_or("", |(before, _)| before);
    let drive = before.strip_suffix(':').and_then(|before| before.chars().last());
    let is_drive = file.starts_with(['/', '\\'])
        && before.len() < 3
        && drive.is_some_and(|letter| letter.is_ascii_alphabetic());
    Some(if is_drive { format!("{before}{file}") } else { file.to_owned() })
}

/// A finding of which only the object is known.
fn in_object(
    object: &str,
    severity: Severity,
    stated: &str,
    objects: &Objects,
    paths: &Paths,
) -> Diagnostic {
    match objects.source(object, paths) {
        Some(file) => placed(severity, stated, ToolPlace::line(file, None)),
        None => {
            let name = object.rsplit('/').next().unwrap_or(object);
            unplaced(severity, &format!("{stated} (in {name})"))
        }
    }
}

/// Whether an error says of an object that it is not a linker script, after the linker has said that it
/// is none of its objects either.
pub(super) fn is_consequence(found: &Diagnostic, before: Option<&Diagnostic>) -> bool {
    let Some(object) = before.and_then(|before| before.message.split_once(": ")) else {
        return false;
    };
    found.file.as_deref() == Some(object.0)
        && found.line.is_none_or(|line| line == 0)
        && is_error(found)
}

/// Where LLD found the symbol of the error before this line.
pub(super) fn place_of_symbol(line: &str, paths: &Paths) -> Option<ToolPlace> {
    patterns::LLD_PLACE.captures(line).map(|found| ToolPlace::named(&found, paths))
}

/// Leaves one error for each memory region that is too small: what else the linker says of it becomes a
/// note.
pub(super) fn merge_overflows(found: &mut [Diagnostic]) {
    let region = |one: &Diagnostic| -> Option<String> {
        let (_, rest) = one.message.split_once("region `")?;
        Some(rest.split('\'').next().unwrap_or(rest).to_owned())
    };
    let is_overflow = |one: &&Diagnostic| one.message.contains("' overflowed by ");
    let full: Vec<String> = found.iter().filter(is_overflow).filter_map(region).collect();
    for one in found.iter_mut().filter(|one| is_error(one)) {
        let is_known = match one.message.contains("' will not fit in region `") {
            true => region(one).is_some_and(|name| full.contains(&name)),
            // The framework's linker scripts say it a third time.
            false => !full.is_empty() && one.message.ends_with(" segment data does not fit."),
        };
        if is_known {
            one.severity = Severity::Note;
        }
    }
}
