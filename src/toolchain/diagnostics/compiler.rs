//! What compilers and assemblers print: findings, and the lines that say how they were come to.
//!
//! Owns the choice of the place: of the macros, inlined functions, templates and headers that lead to a
//! finding in a file from elsewhere, the nearest that the project itself wrote.

use std::collections::{HashMap, HashSet};

use super::finding::{ToolPlace, placed, unplaced};
use super::linker;
use super::objects;
use super::paths::{self, Paths};
use super::patterns::{self, group, number};
use super::phrases::{PHRASES, begins_with_any};
use super::step;
use crate::model::{Diagnostic, Severity};

/// Lines after a finding that are searched for the macros it comes from.
const MOST_AHEAD: usize = 200;

/// Lists of includes that continue each other.
const MOST_LISTS: usize = 20;

/// What leads to the next finding.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// The lines that include the file of the next finding, the nearest first.
    includes: Vec<ToolPlace>,
    /// The same for each file that was reported already: compilers do not repeat them.
    known: HashMap<String, Vec<ToolPlace>>,
    /// Where the template of the next finding is needed, the nearest first.
    required: Vec<ToolPlace>,
    /// Where its function is inlined, the nearest first.
    inlined: Vec<ToolPlace>,
    /// Whether the last line was one of includes that ended its list.
    is_listed: bool,
    /// Whether nothing was reported since the last line of includes.
    is_fresh: bool,
    /// Lines of the project at which errors of headers from elsewhere were reported so far.
    moved: Moved,
}

/// Lines of the project with an include, as file and line.
pub(super) type Moved = HashSet<(String, Option<u32>)>;

impl Trail {
    /// Another program speaks.
    pub(super) fn clear(&mut self) {
        *self = Self { moved: std::mem::take(&mut self.moved), ..Self::default() };
    }

    /// The lines at which errors of headers from elsewhere were reported.
    pub(super) fn moved(self) -> Moved {
        self.moved
    }

    /// Takes a line that says how the next finding was come to; whether it was one.
    pub(super) fn take(&mut self, line: &str, paths: &Paths) -> bool {
        if let Some(found) = patterns::INCLUDED.captures(line) {
            let place = ToolPlace::line(group(&found, 1).to_owned(), number(&found, 2));
            if !line.starts_with("In") {
                self.includes.push(place);
            } else if self.is_listed {
                // Clang lists the outermost file first.
                self.includes.insert(0, place);
            } else {
                (self.required, self.inlined) = (Vec::new(), Vec::new());
                self.includes = vec![place];
            }
            self.is_listed = line.ends_with(':');
            self.is_fresh = true;
            return true;
        }
        self.is_listed = false;
        if let Some(found) = patterns::REQUIRED.captures(line) {
            self.required.push(at(&found, group(&found, 1).to_owned()));
            return true;
        }
        if let Some(found) = patterns::INLINED.captures(line) {
            self.inlined.push(at(&found, group(&found, 1).to_owned()));
            return true;
        }
        if let Some(found) = patterns::CONTEXT.captures(line) {
            (self.required, self.inlined) = (Vec::new(), Vec::new());
            self.keep(group(&found, 1), paths);
            return true;
        }
        false
    }

    /// The includes that were listed lead to this file, and to each file that they name.
    fn keep(&mut self, file: &str, paths: &Paths) {
        // A list is about the file that is named next.
        if file.is_empty() || !std::mem::take(&mut self.is_fresh) || paths.is_own(file) {
            return;
        }
        self.known.insert(file.to_owned(), self.includes.clone());
        for (at, include) in self.includes.iter().enumerate() {
            let outer = self.includes.get(at + 1..).unwrap_or_default();
            if !outer.is_empty() && !self.known.contains_key(&include.file) {
                self.known.insert(include.file.clone(), outer.to_vec());
            }
        }
    }

    /// Where the project uses the function or template of a finding elsewhere.
    fn used(&self, paths: &Paths) -> Option<ToolPlace> {
        self.inlined.iter().chain(&self.required).find_own(paths)
    }

    /// Where the project includes `file`, which is not its own.
    fn included(&mut self, file: &str, paths: &Paths) -> Option<ToolPlace> {
        let mut includes = self.known.get(file).unwrap_or(&self.includes);
        // A list ends at a file whose own list was printed before.
        for _ in 0..MOST_LISTS {
            if let Some(own) = includes.iter().find_own(paths) {
                self.moved.insert((own.file.clone(), own.line));
                return Some(own);
            }
            includes = self.known.get(&includes.last()?.file)?;
        }
        None
    }
}

/// Choosing among places.
trait FindOwn {
    fn find_own(self, paths: &Paths) -> Option<ToolPlace>;
}

impl<'a, T: Iterator<Item = &'a ToolPlace>> FindOwn for T {
    fn find_own(mut self, paths: &Paths) -> Option<ToolPlace> {
        let found = self.find(|place| paths.is_own(&place.file))?;
        Some(ToolPlace { file: paths.relative(&found.file), ..found.clone() })
    }
}

/// A finding in the first of `lines`; `None` when it is none. `Some(None)`: one that only leads to
/// another.
pub(super) fn finding(
    lines: &[&str],
    trail: &mut Trail,
    paths: &Paths,
) -> Option<Option<Diagnostic>> {
    let line = lines.first()?;
    let found = reported(line)?;
    let severity = match group(&found, 4) {
        "warning" | "Warning" => Severity::Warning,
        "note" => Severity::Note,
        _ => Severity::Error,
    };
    let (file, message) = (group(&found, 1), group(&found, 5));
    trail.keep(file, paths);
    if is_step(severity, message) {
        return Some(None);
    }
    let is_elsewhere = severity != Severity::Note && !paths.is_own(file);
    let mut own = None;
    if is_elsewhere {
        own = expanded(lines, paths).or_else(|| trail.used(paths));
        // Who includes what the build made did not write it, and sees in it what is wrong.
        if own.is_none() && !paths.is_generated(file) {
            own = trail.included(file, paths);
        }
    }
    let place = own.unwrap_or_else(|| at(&found, paths.relative(file)));
    // A line of what the compiler gave to the assembler is no line of the source.
    Some(Some(match paths::is_for_assembler(file) {
        true if paths.is_own(&place.file) => {
            placed(severity, message, ToolPlace::line(place.file, None))
        }
        true => unplaced(severity, message),
        false => placed(severity, message, place),
    }))
}

/// The place that a line names, in a file.
fn at(found: &regex::Captures<'_>, file: String) -> ToolPlace {
    ToolPlace { file, line: number(found, 2), column: number(found, 3) }
}

/// The parts of a line that reports something: file, line, column, severity and message.
fn reported(line: &str) -> Option<regex::Captures<'_>> {
    patterns::COMPILER.captures(line).or_else(|| patterns::COMPILER_OTHER.captures(line))
}

fn is_step(severity: Severity, message: &str) -> bool {
    severity == Severity::Note && begins_with_any(message, &PHRASES.compiler_steps)
}

/// The first place of the project among the notes that follow a finding and say where its macro is
/// used.
fn expanded(lines: &[&str], paths: &Paths) -> Option<ToolPlace> {
    for line in lines.iter().skip(1).take(MOST_AHEAD) {
        if patterns::STEP.is_match(line) || line.starts_with("FAILED: ") {
            return None;
        }
        let Some(found) = reported(line) else { continue };
        if group(&found, 4) != "note" || !is_step(Severity::Note, group(&found, 5)) {
            return None;
        }
        if paths.is_own(group(&found, 1)) {
            return Some(at(&found, paths.relative(group(&found, 1))));
        }
    }
    None
}

/// What a program of the compiler says without a place.
pub(super) fn program(line: &str, paths: &Paths) -> Option<Diagnostic> {
    if let Some(found) = patterns::TOOL.captures(line) {
        let severity = if line.contains("warning: ") { Severity::Warning } else { Severity::Error };
        let stated = format!("{}: {}", group(&found, 1), group(&found, 2));
        return Some(unplaced(severity, &stated));
    }
    let found = patterns::PROGRAM.captures(line)?;
    let stated = group(&found, 2);
    // What failed was reported before.
    let is_consequence = linker::has_failed(line)
        || stated.starts_with("linker command failed")
        || stated.contains(" command failed with exit code ")
        || (stated.contains(" returned ") && stated.ends_with(" exit status"));
    let severity = if group(&found, 1) == "warning" { Severity::Warning } else { Severity::Error };
    if is_consequence {
        return None;
    }
    // A source that is not there, or a line of a file with settings.
    let file = stated
        .split_once(": ")
        .map(|(file, _)| file)
        .filter(|file| !file.contains(' ') && objects::is_source(file));
    Some(match file {
        Some(file) => placed(severity, stated, ToolPlace::line(paths.relative(file), None)),
        None => step::at_place(severity, stated, paths),
    })
}
