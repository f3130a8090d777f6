//! Goes through the output of a build and asks each reader in turn.

use std::path::Path;

use super::compiler::{self, Trail};
use super::finding::{advise, is_error, tidy, unplaced};
use super::kconfig::{self, Values};
use super::languages::Language;
use super::linker::{self, Linked};
use super::make::Make;
use super::objects::Objects;
use super::paths::Paths;
use super::patterns;
use super::step::{self, FailedStep};
use super::{cmake, encoding, framework, programs, python, structured, unfinished};
use crate::model::{Diagnostic, Severity};
use crate::text::sanitize;

/// Text within a value is searched so deep.
const DEEPEST: u8 = 1;

/// Finds what went wrong in `output`, the raw bytes of a build of the project at the absolute
/// path `project`: each finding once, errors first, then warnings, then notes, otherwise in the
/// order they came; at most 500.
#[must_use]
pub fn parse(project: &Path, output: &[u8]) -> Vec<Diagnostic> {
    parse_in(&[project], output)
}

/// As [`parse`], for a project of which parts are in several folders.
#[must_use]
pub fn parse_in(projects: &[&Path], output: &[u8]) -> Vec<Diagnostic> {
    let output = encoding::utf8(output);
    let text = sanitize::decode(&output);
    let mut search = Search::new(Paths::new(projects, &text), Make::new(&text));
    search.read(&text, DEEPEST);
    search.finish()
}

/// As [`parse`], for a build that failed: when no error is found, the last line of the output is one.
#[must_use]
pub fn parse_failed(project: &Path, output: &[u8]) -> Vec<Diagnostic> {
    let mut found = parse(project, output);
    if !found.iter().any(is_error) {
        found.splice(0..0, last_line(output));
    }
    found
}

/// The last line of an output as an error; `None` when it has none.
pub(super) fn last_line(output: &[u8]) -> Option<Diagnostic> {
    let text = sanitize::decode(output);
    let text = sanitize::strip_sequences(&text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(unplaced(Severity::Error, last))
}

#[derive(Default)]
struct Search {
    paths: Paths,
    found: Vec<Diagnostic>,
    trail: Trail,
    values: Values,
    objects: Objects,
    failed: FailedStep,
    make: Make,
    /// Positions in `found` of what another finding may say better.
    vague: Vec<usize>,
    /// Positions in `found` of errors only if the linker failed.
    perhaps: Vec<usize>,
    /// How many steps the build has around the one within it.
    outer: Option<u32>,
    /// What is reported when nothing better was found.
    failure: Failure,
    /// What was read before the current line.
    before: Before,
}

/// That something failed.
#[derive(Debug, Default)]
struct Failure {
    /// The first line that says so.
    fallback: Option<String>,
    /// The last line before that with words of an error.
    suspect: Option<String>,
}

/// What lines before say about the ones that follow.
#[derive(Debug, Default)]
struct Before {
    /// The last command that makes a table of partitions.
    table: Option<String>,
    /// Whether the linker named a function in the line before.
    in_object: bool,
}

impl Search {
    fn new(paths: Paths, make: Make) -> Self {
        Self { paths, make, ..Self::default() }
    }

    fn read(&mut self, text: &str, depth: u8) {
        // On a terminal ninja overwrites its line.
        let visible = |line: &'_ str| -> usize {
            let line = line.trim_end_matches('\r');
            line.rfind('\r').map_or(0, |at| at + 1)
        };
        let raw: Vec<&str> = text
            .split('\n')
            .map(|line| line.get(visible(line)..).unwrap_or_default().trim_end_matches('\r'))
            .collect();
        let language = Language::of(text);
        let plain = raw.iter().map(|line| language.english(sanitize::strip_sequences(line)));
        let plain: Vec<_> = plain.collect();
        let plain: Vec<&str> = plain.iter().map(|line| &**line).collect();
        let mut at = 0;
        while at < raw.len() {
            let (lines, printed) =
                (plain.get(at..).unwrap_or_default(), raw.get(at..).unwrap_or_default());
            let used = self.value(text, printed, depth).or_else(|| self.block(lines, printed));
            at += match used {
                Some(used) => used.max(1),
                None => {
                    self.line(lines);
                    1
                }
            };
        }
    }

    /// A value in JSON that begins at a line; returns how many lines it was.
    fn value(&mut self, text: &str, lines: &[&str], depth: u8) -> Option<usize> {
        let first = lines.first()?;
        let depth = depth.checked_sub(1)?;
        if !first.starts_with(['[', '{']) {
            return None;
        }
        let start = (first.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
        let rest = text.get(start..)?;
        let answer = structured::value(rest, &self.paths)?;
        self.found.extend(answer.found);
        if let Some(text) = answer.text {
            self.read(&text, depth);
        }
        let value = rest.get(..answer.bytes).unwrap_or_default();
        Some(value.matches('\n').count() + 1)
    }

    /// What takes several lines; returns how many.
    fn block(&mut self, lines: &[&str], printed: &[&str]) -> Option<usize> {
        if let Some(used) = framework::hint(printed, &mut self.found) {
            return Some(used);
        }
        if let Some(block) = cmake::block(lines, &self.paths) {
            for one in block.found {
                self.take_cmake(one);
            }
            return Some(block.used);
        }
        if let Some(traceback) = python::traceback(lines, &self.paths) {
            self.found.extend(traceback.found);
            return Some(traceback.used);
        }
        // What a step says that failed is judged when it ends.
        let table = || programs::table(lines, self.before.table.as_deref(), &self.paths);
        let by_hand = (!self.failed.is_open()).then(table).flatten();
        let found = by_hand
            .or_else(|| programs::block(lines, &self.paths))
            .or_else(|| framework::too_small(lines))
            .or_else(|| framework::manifest(lines, &self.paths))
            .or_else(|| framework::boxed(lines))?;
        self.found.push(found.0);
        Some(found.1)
    }

    fn take_cmake(&mut self, mut one: Diagnostic) {
        if is_error(&one) && cmake::is_consequence(&one, &self.found) {
            return;
        }
        // The component manager says why before.
        let stated = one.message.strip_prefix("ERROR: ").unwrap_or(&one.message).to_owned();
        if stated.starts_with("Manifest is not valid")
            && let Some(why) = self.found.pop_if(|last| is_error(last))
        {
            let message = format!("{stated}: {}", why.message);
            let (file, line) = (why.file, why.line);
            one = Diagnostic { file, line, ..unplaced(Severity::Error, &message) };
        }
        if is_error(&one) && stated.to_lowercase().contains("manifest") {
            let named = stated.split_whitespace().find(|word| word.ends_with("idf_component.yml"));
            if let Some(file) = named.filter(|file| self.paths.is_own(file)) {
                (one.file, one.line) = (Some(self.paths.relative(file)), None);
            }
        }
        self.found.push(one);
    }

    fn line(&mut self, lines: &[&str]) {
        let Some(&line) = lines.first() else { return };
        self.steps(lines);
        if line.contains("gen_esp32part.py") {
            self.before.table = Some(line.to_owned());
        }
        let is_continued =
            std::mem::replace(&mut self.before.in_object, linker::names_function(line));
        self.objects.take(line, &self.paths);
        if self.trail.take(line, &self.paths) {
            return;
        }
        if let Some(found) = self.values.finding(line, &self.paths) {
            self.found.push(found);
        } else if let Some(found) = step::of_ninja(line, &self.paths) {
            self.found.push(found);
        } else if let Some(found) = compiler::finding(lines, &mut self.trail, &self.paths) {
            self.found.extend(found);
        } else if let Some(found) = compiler::program(line, &self.paths) {
            self.found.push(found);
        } else if let Some(found) = programs::line(line) {
            self.found.push(found);
        } else if let Some(linked) = linker::linked(line, &self.objects, &self.paths, is_continued)
        {
            self.before.in_object |= is_continued;
            self.take_linked(linked);
        } else if let Some(place) = linker::place_of_symbol(line, &self.paths) {
            if let Some(last) = self.found.last_mut()
                && last.message.contains("symbol")
                && (last.file.is_none() || line.contains("defined at"))
            {
                (last.file, last.line) = (Some(place.file), place.line);
            }
        } else if let Some((found, _)) = framework::refusal(lines, &self.found, &self.paths) {
            self.found.push(found);
        } else {
            self.remember_failure(line);
        }
    }

    /// Takes note of the step that a line begins or ends.
    fn steps(&mut self, lines: &[&str]) {
        let Some(&line) = lines.first() else { return };
        if line.starts_with("FAILED: ") || patterns::STEP.is_match(line) {
            self.trail.clear();
        }
        if let Some((name, total)) = step::inner_build(line) {
            self.paths.enter(Some(name));
            self.outer = Some(total);
        } else if self.outer.is_some() && step::total(line) == self.outer {
            self.paths.enter(None);
            self.outer = None;
        }
        let errors = self.errors();
        self.found.extend(self.failed.take(line, errors, &self.paths));
        self.found.extend(self.make.take(lines, errors, &mut self.paths));
    }

    fn take_linked(&mut self, linked: Linked) {
        let linked = match linked {
            Linked::Found(found) | Linked::Perhaps(found)
                if linker::is_consequence(&found, self.found.last()) =>
            {
                Linked::Nothing
            }
            linked => linked,
        };
        match linked {
            Linked::Found(found) => self.found.push(found),
            Linked::Vague(found) => {
                self.vague.push(self.found.len());
                self.found.push(found);
            }
            Linked::Perhaps(found) => {
                self.perhaps.push(self.found.len());
                if found.line.is_none() {
                    self.vague.push(self.found.len());
                }
                self.found.push(found);
            }
            Linked::Nothing => {}
        }
    }

    fn remember_failure(&mut self, line: &str) {
        // What the linker said before was an error.
        let is_linker = linker::has_failed(line);
        if is_linker {
            self.perhaps.clear();
        }
        let is_failure = line.starts_with("FAILED: ")
            || line.starts_with("ninja: error: ")
            || (line.starts_with("make: *** ") || line.starts_with("make[1]: *** "))
            || line.contains(framework::COMMAND_FAILED)
            || line.starts_with("collect2: error: ")
            || is_linker
            || programs::is_end(line)
            || line.starts_with("lto-wrapper: fatal error: ")
            || line.starts_with("exit status ");
        // Rebuilding the rules fails because of CMake.
        let is_vague = line.starts_with("FAILED: build.ninja") || line.contains(" rebuilding ");
        if self.failure.fallback.is_none() && is_failure && !is_vague {
            self.failure.fallback = Some(line.to_owned());
        }
        let may_tell = patterns::FAULT.is_match(line) && !patterns::NO_FAULT.is_match(line);
        if !is_failure && self.failure.fallback.is_none() && may_tell {
            self.failure.suspect = Some(line.to_owned());
        }
    }

    fn errors(&self) -> usize {
        self.found.iter().filter(|one| is_error(one)).count()
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        let errors = self.errors();
        self.found.extend(self.failed.end(errors, &self.paths));
        // Something failed of which nobody else says why.
        let is_alone = self.failure.fallback.is_some() && self.errors() == self.perhaps.len();
        for &at in self.perhaps.iter().filter(|_| !is_alone) {
            if let Some(one) = self.found.get_mut(at) {
                one.severity = Severity::Warning;
            }
        }
        let Self { mut found, vague, failure, trail, .. } = self;
        // A symbol that is missing at a line is not reported without one as well.
        let symbol =
            |one: &Diagnostic| one.message.split(" (in ").next().unwrap_or_default().to_owned();
        let with = |is_placed: fn(&Diagnostic) -> bool| -> Vec<String> {
            found.iter().filter(|one| is_placed(one)).map(symbol).collect()
        };
        let (exact, in_files) = (with(|one| one.line.is_some()), with(|one| one.file.is_some()));
        let mut at = 0;
        found.retain(|one| {
            at += 1;
            let better = if one.file.is_some() { &exact } else { &in_files };
            !(vague.contains(&(at - 1)) && better.contains(&symbol(one)))
        });
        kconfig::locate_number(&mut found);
        unfinished::condense(&mut found, &trail.moved());
        linker::merge_overflows(&mut found);
        step::drop_unknown_targets(&mut found);
        if let (Some(message), false) = (failure.fallback, found.iter().any(is_error)) {
            found.push(unplaced(Severity::Error, &failure.suspect.unwrap_or(message)));
        }
        found.iter_mut().for_each(advise);
        tidy(&mut found);
        found
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
