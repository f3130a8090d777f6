//! What linkers print.
//!
//! Owns which of their lines are errors: what a linker says counts as an error only if it is known to
//! be one, or if the linker failed.

use std::collections::HashMap;

use super::finding::{Place, placed, unplaced};
use super::paths::Paths;
use super::patterns::{self, captures, group, number};
use crate::model::{Diagnostic, Severity};

/// What only errors contain.
const ERRORS: [&str; 22] = [
    "undefined reference to ",
    "multiple definition of ",
    "undefined symbol",
    "duplicate symbol",
    "cannot find ",
    "cannot open ",
    "overflowed by ",
    "will not fit in ",
    "is not within region",
    " overlaps section",
    "syntax error",
    "final link failed",
    "relocation truncated to fit",
    "dangerous relocation",
    "file not recognized",
    "file format not recognized",
    "unrecognized option",
    "incompatible with ",
    "is not defined",
    "undefined section",
    "cannot move location counter",
    "No space left on device",
];

/// What explains another line, or asks for nothing.
const SILENT: [&str; 6] = [
    "use the --help option",
    "skipping incompatible ",
    "supported targets:",
    "supported emulations:",
    "removing unused section",
    "disabling relaxation",
];

/// What a line of a linker is.
pub(super) enum Linked {
    /// A finding for sure.
    Found(Diagnostic),
    /// One that another names better when both are there: the same symbol with a line.
    Vague(Diagnostic),
    /// An error if the linker failed.
    Perhaps(Diagnostic),
    /// Nothing.
    Nothing,
}

/// Where objects come from, as far as the log says.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// Folders of components by name.
    folders: HashMap<String, String>,
    /// Sources below their component's folder, by component and name.
    sources: HashMap<(String, String), String>,
}

impl Objects {
    /// Takes a line that names components or objects.
    pub(super) fn take(&mut self, line: &str, paths: &Paths) {
        if let Some(folders) = line.strip_prefix("-- Component paths: ") {
            for folder in folders.split(' ').filter(|folder| paths.is_own(folder)) {
                let name = folder.rsplit('/').next().unwrap_or(folder);
                self.folders.insert(name.to_owned(), paths.relative(folder));
            }
        } else if let Some(found) = captures(&patterns::OBJECT_OF, line) {
            let (component, source) = (group(&found, 1), group(&found, 2));
            let name = source.rsplit('/').next().unwrap_or(source);
            let key = (component.to_owned(), name.to_owned());
            self.sources.insert(key, source.to_owned());
        }
    }

    /// The source of an object in an archive of one of the project's components.
    fn source(&self, component: &str, object: &str) -> Option<String> {
        let folder = match self.folders.get(component) {
            Some(folder) => folder.as_str(),
            None if component == "main" => "main",
            None => return None,
        };
        let key = (component.to_owned(), object.to_owned());
        let below = self.sources.get(&key).map_or(object, String::as_str);
        Some(format!("{folder}/{below}"))
    }
}

/// What a line says when it is a linker's; `None` when it is not.
pub(super) fn linked(line: &str, objects: &Objects, paths: &Paths) -> Option<Linked> {
    let (stated, by_linker) = match captures(&patterns::LINKER, line) {
        Some(found) => (group(&found, 1), true),
        None => (line, false),
    };
    if let Some(found) = captures(&patterns::LINKER_LINE, stated) {
        let place = Place::line(paths.relative(group(&found, 1)), number(&found, 2));
        let (severity, stated) = severity_of(group(&found, 3));
        return Some(Linked::Found(placed(severity, stated, place)));
    }
    if let Some(found) = captures(&patterns::LINKER_OBJECT, stated) {
        let (severity, stated) = severity_of(group(&found, 2));
        return Some(Linked::Vague(in_object(group(&found, 1), severity, stated, objects, paths)));
    }
    if !by_linker {
        return None;
    }
    let is_place = stated.ends_with(':') && stated.contains(": in function ");
    if stated.is_empty() || is_place || SILENT.iter().any(|silent| stated.contains(silent)) {
        return Some(Linked::Nothing);
    }
    if let Some(note) = stated.strip_prefix("NOTE: ") {
        return Some(Linked::Found(unplaced(Severity::Note, note)));
    }
    let (severity, text) = match stated.split_once("warning: ") {
        Some((before, warning)) if before.is_empty() || before.ends_with(": ") => {
            (Severity::Warning, warning)
        }
        Some(_) | None => severity_of(stated),
    };
    let place = captures(&patterns::LINKER_PLACE, text);
    let found = match &place {
        Some(place) => {
            let at = Place::line(paths.relative(group(place, 1)), number(place, 2));
            placed(severity, group(place, 3), at)
        }
        None => unplaced(severity, text),
    };
    let is_sure = severity != Severity::Error
        || stated.starts_with("error: ")
        || ERRORS.iter().any(|error| stated.contains(error));
    Some(if is_sure { Linked::Found(found) } else { Linked::Perhaps(found) })
}

fn severity_of(stated: &str) -> (Severity, &str) {
    match stated.strip_prefix("warning: ") {
        Some(warning) => (Severity::Warning, warning),
        None => {
            let stated = stated.strip_prefix("error: ").unwrap_or(stated);
            (Severity::Error, stated.strip_prefix("fatal: ").unwrap_or(stated))
        }
    }
}

/// A finding of which only the object is known.
fn in_object(
    object: &str,
    severity: Severity,
    stated: &str,
    objects: &Objects,
    paths: &Paths,
) -> Diagnostic {
    let name = object.rsplit('/').next().unwrap_or(object);
    let is_source = [".c", ".cpp", ".cc", ".cxx", ".S"].iter().any(|end| object.ends_with(end));
    let archived = captures(&patterns::ARCHIVED, object);
    let source = match archived {
        Some(found) if found.get(1).is_some() => objects.source(group(&found, 1), group(&found, 2)),
        Some(_) | None => is_source.then(|| paths.relative(object)),
    };
    match source {
        Some(file) => placed(severity, stated, Place::line(file, None)),
        None => unplaced(severity, &format!("{stated} (in {name})")),
    }
}

/// Where LLD found the symbol of the error before this line.
pub(super) fn place_of_symbol(line: &str, paths: &Paths) -> Option<Place> {
    let found = captures(&patterns::LLD_PLACE, line)?;
    Some(Place::line(paths.relative(group(&found, 1)), number(&found, 2)))
}
