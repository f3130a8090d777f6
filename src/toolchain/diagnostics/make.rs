//! What make prints: the folders it works in, makefiles that are wrong, and programs that failed
//! without anyone else saying why.

use std::collections::VecDeque;

use super::finding::{ToolPlace, diagnostic, placed};
use super::paths::Paths;
use super::patterns::{self, group};
use super::step;
use crate::model::{Diagnostic, Severity};

/// Lines of a program's output that are kept.
const MOST_PRINTED: usize = 20;

/// A run of make, while its output is read.
#[derive(Debug, Default)]
pub(super) struct Make {
    /// Whether a program failed at all.
    has_failed: bool,
    /// The folders that are open, with the level of the make that works there.
    folders: Vec<(String, String)>,
    /// The last lines since a program failed.
    printed: VecDeque<String>,
    /// How many errors had been found when a program failed last.
    before: usize,
    /// A file that a makefile includes and that is not there: its name, and where it is included.
    missing: Option<(String, ToolPlace)>,
    /// What make has named as missing in a line of its own.
    reported: Vec<String>,
}

impl Make {
    /// For a build with that output.
    pub(super) fn new(log: &str) -> Self {
        let has_failed = log.contains(": *** [") || log.contains(": ••• [");
        Self { has_failed, ..Self::default() }
    }

    /// Takes the first of `lines`; returns an error when make says what is wrong, or when a program
    /// failed of which only its own output is known. `errors` is how many were found so far.
    pub(super) fn take(
        &mut self,
        lines: &[&str],
        errors: usize,
        paths: &mut Paths,
    ) -> Option<Diagnostic> {
        let line = *lines.first()?;
        if let Some(found) = patterns::MAKE_FAILED.captures(line) {
            let is_first = self.before == errors;
            let printed: Vec<String> = self.printed.drain(..).collect();
            let found = is_first.then(|| reason(&printed, group(&found, 1), paths)).flatten();
            self.before = errors + usize::from(found.is_some());
            return found;
        }
        if let Some(found) = patterns::MAKE_STOPPED.captures(line) {
            return self.stopped(&found, lines, paths);
        }
        if let Some(found) = patterns::MAKE_INCLUDE.captures(line) {
            // Make may know how to make it.
            self.missing = Some((group(&found, 3).to_owned(), ToolPlace::named(&found, paths)));
            return None;
        }
        if let Some(found) = patterns::MAKE_FOLDER.captures(line) {
            let entry = (group(&found, 1).to_owned(), group(&found, 2).to_owned());
            match self.folders.iter().rposition(|open| *open == entry) {
                Some(at) => drop(self.folders.remove(at)),
                None => self.folders.push(entry),
            }
            paths.work_in(self.folder());
            return None;
        }
        let own = patterns::MAKE_SAYS.captures(line);
        let program = own.as_ref().map(|own| group(own, 1));
        if let Some(name) = program.filter(|name| !name.is_empty())
            && patterns::TOOL.is_match(line)
        {
            self.reported.push(name.to_owned());
        }
        // That a target is not made again explains nothing.
        let is_vain = program.is_some_and(str::is_empty);
        if self.has_failed && !is_vain && !line.trim().is_empty() {
            if self.printed.len() >= MOST_PRINTED {
                self.printed.pop_front();
            }
            self.printed.push_back(line.to_owned());
        }
        None
    }

    /// Make cannot go on.
    fn stopped(
        &mut self,
        found: &regex::Captures<'_>,
        lines: &[&str],
        paths: &Paths,
    ) -> Option<Diagnostic> {
        let line = lines.first()?.trim_end();
        let stated = sentence(group(found, 3), lines);
        if found.get(1).is_some() {
            return Some(placed(Severity::Error, &stated, ToolPlace::named(found, paths)));
        }
        let names = quoted(&stated);
        // A file that is removed is one name; a target and what needs it are two.
        let is_it = line.ends_with("Stop.")
            || stated.starts_with("No rule to make target")
            || names.len() > 1
            || patterns::MAKE_STOP_WORD.is_match(line);
        let missing = self.missing.take().filter(|(name, _)| stated.contains(name.as_str()));
        let is_reported = names.iter().any(|name| self.reported.contains(name));
        let place = missing.map(|(_, place)| place);
        (is_it && !is_reported).then(|| diagnostic(Severity::Error, &stated, place))
    }

    /// The folder that programs work in; `None` when several of one level are open at once.
    fn folder(&self) -> Option<String> {
        let (level, folder) = self.folders.last()?;
        let same = self.folders.iter().filter(|(other, _)| other == level).count();
        (same == 1).then(|| folder.clone())
    }
}

/// What make says, without the word with which it stops. Some languages need a second line for it.
fn sentence(first: &str, lines: &[&str]) -> String {
    let first = first.trim_end();
    let next = lines.get(1).filter(|next| first.ends_with(',') && next.starts_with("  "));
    let whole = next.map_or(first.to_owned(), |next| format!("{first} {}", next.trim()));
    let stop = patterns::MAKE_STOP_WORD.get().and_then(|word| word.find(&whole));
    let end = stop.filter(|_| !quoted(&whole).is_empty()).map_or(whole.len(), |stop| stop.start());
    whole.get(..end).unwrap_or(&whole).trim_end_matches(['.', '。', ' ']).to_owned()
}

/// The names that a text quotes.
fn quoted(text: &str) -> Vec<String> {
    let Some(pattern) = patterns::QUOTED.get() else { return Vec::new() };
    pattern.captures_iter(text).map(|found| group(&found, 1).to_owned()).collect()
}

/// Why the program that makes `target` failed, by what it printed.
fn reason(printed: &[String], target: &str, paths: &Paths) -> Option<Diagnostic> {
    let is_stated = |line: &&String| patterns::FAULT.is_match(line);
    let command = printed.iter().rev().find(|line| line.contains("gen_esp32part.py"));
    if let Some(found) = command
        .and_then(|command| step::of_table(printed.iter().map(String::as_str), command, paths))
    {
        return Some(found);
    }
    let is_named = |line: &&String| patterns::STATED_BY.is_match(line);
    let stated = printed.iter().rev().find(is_stated);
    let stated = stated.or_else(|| printed.last().filter(is_named))?;
    // The command itself may name the target, or contain such a word.
    let is_command = stated.contains(target) && !stated.contains(": ");
    (!is_command).then(|| step::at_place(Severity::Error, stated, paths))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::parse;
    use super::*;

    fn found(output: &str) -> Vec<String> {
        let text = |one: &Diagnostic| {
            let file = one.file.as_deref().unwrap_or_default();
            format!("{file}:{} {}", one.line.unwrap_or(0), one.message)
        };
        parse(Path::new("/p"), output.as_bytes()).iter().map(text).collect()
    }

    #[test]
    fn names_are_below_the_folder_that_make_works_in() {
        let inside = "make[1]: Entering directory '/p/lib'\nx.c:3:1: error: no\n";
        assert_eq!(found(inside), ["lib/x.c:3 no"]);
        let left = format!("{inside}make[1]: Leaving directory '/p/lib'\nx.c:4:1: error: no\n");
        assert_eq!(found(&left), ["lib/x.c:3 no", "x.c:4 no"]);
        let both = "make[1]: Entering directory '/p/a'\nmake[1]: Entering directory '/p/b'\n\
                    x.c:3:1: error: no\n";
        assert_eq!(found(both), ["x.c:3 no"], "nobody knows which of them");
        let build = "-- Build files have been written to: /p/out\n\
                     make: Entering directory '/p/out'\nmain/x.c:3:1: error: no\n";
        assert_eq!(found(build), ["main/x.c:3 no"]);
    }

    #[test]
    fn a_program_that_failed_gives_its_reason_once() {
        let tool = "mkbin t.csv\nmkbin: cannot read t.csv\nmake[1]: *** [Makefile:2: t] Error 1\n\
                    make: *** [Makefile:9: all] Error 2\n";
        assert_eq!(found(tool), [":0 mkbin: cannot read t.csv"]);
        let script = "sh gen.sh\ngen.sh: 2: mkbin: not found\nmake: *** [t] Fehler 127\n";
        assert_eq!(found(script), ["gen.sh:2 mkbin: not found"]);
        let silent = "false\nmake: *** [Makefile:2: all] Error 1\n";
        assert_eq!(found(silent), [":0 make: *** [Makefile:2: all] Error 1"]);
        let known = "x.c:1:1: error: no\nmake: *** [x.o] Error 1\nmake: *** Waiting for \
                     unfinished jobs....\n";
        assert_eq!(found(known), ["x.c:1 no"]);
    }

    #[test]
    fn makefiles_are_named_with_their_line() {
        assert_eq!(
            found("Makefile:3: *** missing separator.  Stop.\n"),
            ["Makefile:3 missing separator"]
        );
        let missing = "Makefile:1: board.mk: No such file or directory\n\
                       make: *** No rule to make target 'board.mk'.  Stop.\n";
        assert_eq!(found(missing), ["Makefile:1 No rule to make target 'board.mk'"]);
    }
}
