//! The steps of ninja and make: which of them failed, and what it printed if nobody else knows.

use std::collections::VecDeque;

use super::finding::{ToolPlace, placed, unplaced};
use super::paths::Paths;
use super::patterns::{self, group, number};
use crate::model::{Diagnostic, Severity};

/// Lines of a step's output that are kept.
const MOST_PRINTED: usize = 20;

/// A step that failed, while its output is read.
#[derive(Debug, Default)]
pub(super) struct FailedStep {
    open: Option<Step>,
    /// How many errors were found before the current step.
    before: usize,
}

#[derive(Debug)]
struct Step {
    command: Option<String>,
    /// The last lines that it printed.
    printed: VecDeque<String>,
    /// How many errors were found before it.
    before: usize,
}

impl FailedStep {
    /// Takes a line of which nothing else is known; returns an error if a step ended for which none
    /// was found. `errors` is how many were found so far.
    pub(super) fn take(&mut self, line: &str, errors: usize, paths: &Paths) -> Option<Diagnostic> {
        if patterns::STEP.is_match(line) || line.starts_with("ninja: build stopped") {
            let ended = self.end(errors, paths);
            self.before = errors;
            return ended;
        }
        if line.starts_with("FAILED: ") {
            let ended = self.end(errors, paths);
            self.open = Some(Step { command: None, printed: VecDeque::new(), before: self.before });
            return ended;
        }
        if let Some(step) = &mut self.open
            && !line.trim().is_empty()
        {
            match step.command {
                None => step.command = Some(line.to_owned()),
                Some(_) => {
                    if step.printed.len() >= MOST_PRINTED {
                        step.printed.pop_front();
                    }
                    step.printed.push_back(line.trim().to_owned());
                }
            }
        }
        None
    }

    /// Whether a step that failed is still printing.
    pub(super) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The output ended, or another step begins.
    pub(super) fn end(&mut self, errors: usize, paths: &Paths) -> Option<Diagnostic> {
        let step = self.open.take()?;
        self.before = errors;
        let command = step.command.unwrap_or_default();
        // A build within the build has said what failed, and CMake as well.
        let is_inner = command.contains("--build ") || command.contains("--regenerate");
        if step.before != errors || is_inner {
            return None;
        }
        of_table(step.printed.iter().map(String::as_str), &command, paths).or_else(|| {
            let message = step.printed.back().filter(|line| line.len() > 2)?;
            Some(at_place(Severity::Error, message, paths))
        })
    }
}

/// What is wrong with a partition table, when the command makes one.
pub(super) fn of_table<'t>(
    mut printed: impl Iterator<Item = &'t str>,
    command: &str,
    paths: &Paths,
) -> Option<Diagnostic> {
    let is_it = command.contains("gen_esp32part.py");
    let table = command.split(' ').find(|word| is_it && word.ends_with(".csv"))?;
    let message = printed.find(|line| is_of_table(line))?;
    let line = patterns::CSV_LINE.captures(message).and_then(|at| number(&at, 1));
    Some(placed(Severity::Error, message, ToolPlace::line(paths.relative(table), line)))
}

/// What a program said about a line of a file of the project, e.g. of a script.
pub(super) fn at_place(severity: Severity, message: &str, paths: &Paths) -> Diagnostic {
    let found = patterns::SCRIPT.captures(message);
    match found.filter(|found| is_file(group(found, 1)) && paths.is_own(group(found, 1))) {
        Some(found) => placed(severity, group(&found, 3), ToolPlace::named(&found, paths)),
        None => unplaced(severity, message),
    }
}

/// Whether a name is that of a file rather than of a program.
fn is_file(name: &str) -> bool {
    name.contains('/') || name.trim_start_matches('.').contains('.')
}

/// What ninja says of the description of a build, or why it cannot begin. That it cannot make or load
/// the description is a consequence.
pub(super) fn of_ninja(line: &str, paths: &Paths) -> Option<Diagnostic> {
    let Some(found) = patterns::NINJA_FILE.captures(line) else {
        let stated =
            line.strip_prefix("ninja: error: ").or_else(|| line.strip_prefix("ninja: fatal: "))?;
        let is_vague = stated.starts_with("rebuilding ") || stated.starts_with("loading ");
        return (!is_vague).then(|| unplaced(Severity::Error, line));
    };
    Some(placed(Severity::Error, group(&found, 3), ToolPlace::named(&found, paths)))
}

/// `idf.py` says better than ninja that a command is unknown.
pub(super) fn drop_unknown_targets(found: &mut Vec<Diagnostic>) {
    if found.iter().any(|one| one.message.ends_with(" is not a Ninja target")) {
        found.retain(|one| !one.message.starts_with("ninja: error: unknown target "));
    }
}

/// Whether a line says what is wrong with a partition table, rather than where to look it up.
pub(super) fn is_of_table(line: &str) -> bool {
    let is_title = line.starts_with("Partition table ");
    patterns::CSV_LINE.is_match(line)
        || (!is_title && line.starts_with("Partition"))
        || ["Found multiple ", "unknown variable "].iter().any(|text| line.starts_with(text))
        || line.contains("otadata partition must ")
}

/// The name of the build within the build that a step of the outer one starts, and the outer number
/// of steps.
pub(super) fn inner_build(line: &str) -> Option<(String, u32)> {
    let step = patterns::STEP.captures(line)?;
    let name = patterns::SUBPROJECT.captures(group(&step, 3))?;
    Some((group(&name, 1).to_owned(), number(&step, 2)?))
}

/// The number of steps that a step's line names.
pub(super) fn total(line: &str) -> Option<u32> {
    number(&patterns::STEP.captures(line)?, 2)
}
