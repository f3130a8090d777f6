//! Finds errors and warnings in what a build printed.
//!
//! Owns the knowledge of the forms in which GCC, Clang, linkers, CMake, ninja and `idf.py` tell
//! them. Pure: bytes in, findings out.

mod gather;
mod patterns;
mod progress;

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use crate::model::{Diagnostic, Severity};
use crate::text::sanitize;

pub use gather::Gather;
use patterns::{PATTERNS, captures, group, number};
pub use progress::NinjaProgress;

/// More findings than this help nobody; errors are kept first.
const MAX_DIAGNOSTICS: usize = 500;

/// A message or hint is cut after this many bytes.
const MAX_MESSAGE_BYTES: usize = 2000;

/// How `idf.py` begins its advice.
const YELLOW: &str = "\u{1b}[0;33m";

/// How `idf.py` tells that ninja or CMake did not succeed; what they printed says why.
const COMMAND_FAILED: &str = " failed with exit code ";

/// Finds what went wrong in `output`, the raw bytes of a build of the project at the absolute
/// path `project`: each finding once, errors first, then warnings, then notes, otherwise in the
/// order they came; at most 500.
#[must_use]
pub fn parse(project: &Path, output: &[u8]) -> Vec<Diagnostic> {
    let text = sanitize::decode(output);
    let lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let includes = Vec::new();
    let mut finder = Finder { project, found: Vec::new(), includes, fallback: None };
    let mut rest = lines.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let used = finder.hint(rest).or_else(|| finder.cmake(rest));
        let used = used.or_else(|| finder.too_small(rest));
        rest = match used {
            Some(used) => rest.get(used.max(1)..).unwrap_or_default(),
            None => {
                finder.line(&sanitize::strip_sequences(first));
                after
            }
        };
    }
    finder.finish()
}

struct Finder<'a> {
    project: &'a Path,
    found: Vec<Diagnostic>,
    /// The lines that include the file of the next finding, the nearest first.
    includes: Vec<(String, Option<u32>)>,
    /// What is told when nothing better was found.
    fallback: Option<String>,
}

impl Finder<'_> {
    fn finish(self) -> Vec<Diagnostic> {
        let Self { mut found, fallback, .. } = self;
        if let (Some(message), false) = (fallback, found.iter().any(is_error)) {
            found.push(diagnostic(Severity::Error, &message));
        }
        found.iter_mut().for_each(advise);
        tidy(&mut found);
        found
    }

    fn line(&mut self, line: &str) {
        if let Some(found) = captures(PATTERNS.included.as_ref(), line) {
            if line.starts_with("In") {
                self.includes.clear();
            }
            self.includes.push((group(&found, 1).to_owned(), number(&found, 2)));
            return;
        }
        let finding = self.compiler(line).or_else(|| self.kconfig(line));
        let finding =
            finding.or_else(|| program(line)).or_else(|| self.linker(line)).or_else(|| {
                captures(PATTERNS.plain.as_ref(), line)
                    .filter(|_| !line.contains(COMMAND_FAILED))
                    .map(|c| diagnostic(Severity::Error, group(&c, 1)))
            });
        if let Some(finding) = finding {
            self.includes.clear();
            self.found.push(finding);
        } else if self.fallback.is_none()
            && (line.starts_with("FAILED: ")
                || line.starts_with("ninja: error: ")
                || line.contains(COMMAND_FAILED)
                || line.starts_with("collect2: error: "))
        {
            self.fallback = Some(line.to_owned());
        }
    }

    fn compiler(&self, line: &str) -> Option<Diagnostic> {
        let found = captures(PATTERNS.compiler.as_ref(), line)?;
        let severity = match group(&found, 4) {
            "warning" | "Warning" => Severity::Warning,
            "note" => Severity::Note,
            _ => Severity::Error,
        };
        let finding = diagnostic(severity, group(&found, 5));
        let file = group(&found, 1);
        // What is wrong in a header from elsewhere is mended where the project includes it.
        let include = self.includes.iter().find(|(by, _)| !self.is_own(file) && self.is_own(by));
        Some(match include {
            Some((by, line)) => {
                Diagnostic { file: Some(self.relative(by)), line: *line, ..finding }
            }
            None => Diagnostic {
                file: Some(self.relative(file)),
                line: number(&found, 2),
                // Old compilers say column 0 when they know none.
                column: number(&found, 3).filter(|&column| column > 0),
                ..finding
            },
        })
    }

    fn kconfig(&self, line: &str) -> Option<Diagnostic> {
        let found = captures(PATTERNS.kconfig.as_ref(), line)?;
        let (severity, message, file, at) = match found.get(4) {
            None => (Severity::Error, group(&found, 3), group(&found, 1), number(&found, 2)),
            Some(stated) => {
                (Severity::Warning, stated.as_str(), group(&found, 5), number(&found, 6))
            }
        };
        let file = Some(self.relative(file));
        Some(Diagnostic { file, line: at, ..diagnostic(severity, message) })
    }

    /// An image that does not fit into its partitions, with the lines that name them; returns how
    /// many lines that were.
    fn too_small(&mut self, lines: &[&str]) -> Option<usize> {
        let first = sanitize::strip_sequences(lines.first()?);
        let (severity, stated) = match captures(PATTERNS.partition.as_ref(), &first) {
            Some(found) => (Severity::Warning, group(&found, 1).to_owned()),
            None => {
                let found = captures(PATTERNS.plain.as_ref(), &first)?;
                let stated = group(&found, 1);
                let is_it = stated.contains(" too small for binary ");
                (Severity::Error, is_it.then(|| stated.to_owned())?)
            }
        };
        let parts = lines.iter().skip(1).map(|line| sanitize::strip_sequences(line));
        let parts: Vec<String> = parts
            .map_while(|line| Some(line.trim_start().strip_prefix("- ")?.trim_end().to_owned()))
            .collect();
        let message = format!("{stated} {}", parts.join("; "));
        self.found.push(diagnostic(severity, &message));
        Some(1 + parts.len())
    }

    fn linker(&self, line: &str) -> Option<Diagnostic> {
        let (severity, stated, by_linker) = match captures(PATTERNS.linker.as_ref(), line) {
            Some(found) => {
                let is_warning = found.get(1).is_some();
                let severity = if is_warning { Severity::Warning } else { Severity::Error };
                (severity, found.get(2).map_or("", |stated| stated.as_str()), true)
            }
            None => (Severity::Error, line, false),
        };
        if let Some(found) = captures(PATTERNS.linker_line.as_ref(), stated) {
            return Some(Diagnostic {
                file: Some(self.relative(group(&found, 1))),
                line: number(&found, 2),
                ..diagnostic(severity, group(&found, 3))
            });
        }
        if let Some(found) = captures(PATTERNS.linker_object.as_ref(), stated) {
            let object = group(&found, 1).rsplit('/').next().unwrap_or_default();
            let message = format!("{} (in {object})", group(&found, 2));
            return Some(diagnostic(severity, &message));
        }
        let is_place = stated.ends_with(':') && stated.contains(": in function ");
        (by_linker && !stated.is_empty() && !is_place).then(|| diagnostic(severity, stated))
    }

    /// `CMake Error at file:line (command):` with the indented lines after it and the stack of
    /// calls; returns how many lines that were.
    fn cmake(&mut self, lines: &[&str]) -> Option<usize> {
        let first = sanitize::strip_sequences(lines.first()?);
        let found = captures(PATTERNS.cmake.as_ref(), &first)?;
        let is_error = group(&found, 1) == "Error";
        let mut message = vec![group(&found, 4).trim().to_owned()];
        let mut used = 1;
        for line in lines.iter().skip(1) {
            let line = sanitize::strip_sequences(line);
            if !line.is_empty() && !line.starts_with(' ') {
                break;
            }
            message.push(line.trim().to_owned());
            used += 1;
        }
        let mut place = found.get(2).map(|file| (file.as_str().to_owned(), number(&found, 3)));
        if lines.get(used).is_some_and(|line| line.starts_with("Call Stack")) {
            used += 1;
            while let Some(line) = lines.get(used)
                && let Some(call) = captures(PATTERNS.call.as_ref(), line)
            {
                used += 1;
                // The framework's scripts report; the project's line is where to look.
                if place.as_ref().is_some_and(|(file, _)| !self.is_inside(file))
                    && self.is_inside(group(&call, 1))
                {
                    place = Some((group(&call, 1).to_owned(), number(&call, 2)));
                }
            }
        }
        message.retain(|part| !part.is_empty());
        let severity = if is_error { Severity::Error } else { Severity::Warning };
        let mut finding = diagnostic(severity, &message.join(" "));
        if let Some((file, line)) = place {
            finding.file = Some(self.relative(&file));
            finding.line = line;
        }
        self.found.push(finding);
        Some(used)
    }

    /// Advice of `idf.py` after an error; returns how many lines it was.
    fn hint(&mut self, lines: &[&str]) -> Option<usize> {
        let first = lines.first()?;
        let is_yellow = first.starts_with(YELLOW);
        let start = sanitize::strip_sequences(first);
        let is_other = start.starts_with("WARNING:") || start.starts_with("NOTE:");
        if !start.starts_with("HINT:") && (!is_yellow || is_other) {
            return None;
        }
        let error = self.found.iter_mut().rev().find(|d| is_error(d))?;
        let mut parts = Vec::new();
        for line in lines {
            let stripped = sanitize::strip_sequences(line);
            let is_next = !parts.is_empty()
                && (stripped.starts_with("HINT:")
                    || stripped.is_empty()
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

    /// Whether a file is the project's own, neither made by a build nor fetched.
    fn is_own(&self, file: &str) -> bool {
        let relative = self.relative(file);
        Path::new(&relative).is_relative()
            && !["build/", "managed_components/", ".pio/"]
                .iter()
                .any(|made| relative.starts_with(made))
    }

    fn is_inside(&self, file: &str) -> bool {
        Path::new(file).is_relative() || Path::new(file).starts_with(self.project)
    }

    /// The path as the project's files are called, if it lies in the project.
    fn relative(&self, file: &str) -> String {
        let path = Path::new(file);
        // Compilers run in the build folder, one below the project.
        let path = path.strip_prefix("..").unwrap_or(path);
        let mut clean = PathBuf::new();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir if clean.file_name().is_some() => {
                    clean.pop();
                }
                other => clean.push(other),
            }
        }
        let inside = clean.strip_prefix(self.project).unwrap_or(&clean);
        sanitize::line(&inside.to_string_lossy()).into_owned()
    }
}

/// An error without a place.
fn program(line: &str) -> Option<Diagnostic> {
    let found = captures(PATTERNS.program.as_ref(), line)?;
    let stated = group(&found, 1);
    // What failed was told before.
    (!stated.starts_with("ld returned")).then(|| diagnostic(Severity::Error, stated))
}

/// Adds what to do where the framework says nothing.
fn advise(found: &mut Diagnostic) {
    if !found.hint.is_empty() {
        return;
    }
    let stated = &found.message;
    let hint = if stated.contains(" too small for binary ") || stated.contains("nearly full") {
        "give the application a larger partition in partitions.csv, or make the program smaller, \
         e.g. by CONFIG_COMPILER_OPTIMIZATION_SIZE"
    } else if stated.contains("overflowed by") && stated.contains("iram") {
        "too much code is in IRAM: look at IRAM_ATTR, and at the options that put drivers there"
    } else if stated.contains("overflowed by")
        && (stated.contains("dram") || stated.contains("sram"))
    {
        "there is too much static data: make buffers smaller, or allocate them when they are needed"
    } else if stated.contains("No space left on device") {
        "the disk is full: free some space and build again"
    } else {
        return;
    };
    found.hint = hint.to_owned();
}

/// Each once, errors first, no more than anyone reads.
fn tidy(found: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    found.retain(|d| seen.insert((d.file.clone(), d.line, d.column, d.message.clone())));
    found.sort_by_key(|d| d.severity);
    found.truncate(MAX_DIAGNOSTICS);
}

const fn is_error(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.severity, Severity::Error)
}

fn diagnostic(severity: Severity, message: &str) -> Diagnostic {
    Diagnostic::new(severity, bounded(message.trim()))
}

fn bounded(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_MESSAGE_BYTES);
    sanitize::line(text.get(..end).unwrap_or_default()).into_owned()
}

#[cfg(test)]
#[path = "diagnostics_tests.rs"]
mod tests;
