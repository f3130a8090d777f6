//! What programs print that a build runs besides compilers and linkers: `gen_esp32part.py`, `ldgen`,
//! SCons, `arduino-cli`, and what any of them says when memory is out.

use super::finding::{ToolPlace, placed, unplaced};
use super::paths::Paths;
use super::patterns::{self, group, number};
use super::step;
use crate::model::{Diagnostic, Severity};
use crate::text::pattern::Pattern;

/// How `gen_esp32part.py` begins.
const TABLE: &str = "Parsing CSV input";

/// The table of partitions when no command names another.
const TABLE_NAME: &str = "partitions.csv";

/// Lines after the beginning in which `gen_esp32part.py` says what is wrong.
const MOST_OF_TABLE: usize = 6;

/// Lines in which `arduino-cli` says how large a sketch is, before it says that it is too large.
const MOST_SIZES: usize = 3;

/// Memory is out, whichever program says so.
static NO_MEMORY: Pattern = Pattern::new(
    r"^(?:(?:[A-Za-z]:[\\/])?[^\s:]+: )?(?:(?:virtual )?memory exhausted|out of memory allocating \d+ bytes|LLVM ERROR: out of memory|[Cc]annot allocate memory)",
);

/// A file of `ldgen` that cannot be read, and its place in the next line.
static FRAGMENT: Pattern =
    Pattern::new(r"failed to parse (?:<[^>]*\bname='([^']+)'[^>]*>|(\S+))\s*$");
static FRAGMENT_PLACE: Pattern =
    Pattern::new(r"^(.*?)(?:,? *\(at char \d+\),? *)?\(line: ?(\d+), col: ?(\d+)\)");

/// A target that SCons could not make, and why.
static SCONS: Pattern = Pattern::new(r"^(?:scons: )?\*\*\* \[([^\]]+)\] (.+)$");

/// What SCons says when a program failed or a script ended it, which was told before.
static SCONS_VAGUE: Pattern = Pattern::new(r"^(?:Error -?\d+|Explicit exit, status -?\d+)$");

/// How much of the program memory a sketch takes, in any language: used, percent, and what there is.
static SIZE: Pattern = Pattern::new(r"^\D+(\d+)\D+?\((\d+)%\).*\D(\d+)\D*$");

/// A finding, and how many lines it took.
type Lines = (Diagnostic, usize);

/// What a program says in several lines.
pub(super) fn block(lines: &[&str], paths: &Paths) -> Option<Lines> {
    fragment(lines, paths).or_else(|| too_large(lines))
}

/// What a program says in one line.
pub(super) fn line(line: &str) -> Option<Diagnostic> {
    if NO_MEMORY.is_match(line) {
        return Some(unplaced(Severity::Error, line));
    }
    if let Some(stated) = line.strip_prefix("Warning! ")
        && stated.starts_with("Ignore unknown configuration option ")
    {
        let place = ToolPlace::line("platformio.ini".to_owned(), None);
        return Some(placed(Severity::Warning, stated, place));
    }
    let found = SCONS.captures(line)?;
    let stated = group(&found, 2).trim_end();
    (!SCONS_VAGUE.is_match(stated)).then(|| unplaced(Severity::Error, stated))
}

/// Whether a line only says that something failed: why is to be found before it.
pub(super) fn is_end(line: &str) -> bool {
    let is_scons = SCONS.captures(line).is_some();
    is_scons
        || (line.starts_with('=') && line.contains(" [FAILED] Took "))
        || line.starts_with("Error compiling for board ")
        || line.starts_with("Compilation error: ")
}

/// What is wrong with a table of partitions, when its tool is run by hand. `command` is the last one
/// that made such a table.
pub(super) fn table(lines: &[&str], command: Option<&str>, paths: &Paths) -> Option<Lines> {
    if !lines.first()?.starts_with(TABLE) {
        return None;
    }
    let after = lines.iter().skip(1).take(MOST_OF_TABLE);
    let (at, message) = after.enumerate().find(|(_, line)| step::is_of_table(line))?;
    let named = command.and_then(|command| step::of_table([*message].into_iter(), command, paths));
    let found = named.unwrap_or_else(|| {
        let line = patterns::CSV_LINE.captures(message).and_then(|at| number(&at, 1));
        placed(Severity::Error, message, ToolPlace::line(TABLE_NAME.to_owned(), line))
    });
    Some((found, at + 2))
}

/// A file of `ldgen` that cannot be read.
fn fragment(lines: &[&str], paths: &Paths) -> Option<Lines> {
    let first = FRAGMENT.captures(lines.first()?)?;
    let file = if group(&first, 1).is_empty() { group(&first, 2) } else { group(&first, 1) };
    let found = FRAGMENT_PLACE.captures(lines.get(1)?)?;
    let place = ToolPlace {
        file: paths.relative(file),
        line: number(&found, 2),
        column: number(&found, 3),
    };
    Some((placed(Severity::Error, group(&found, 1), place), 2))
}

/// A sketch that is too large, as `arduino-cli` says it in the person's language.
fn too_large(lines: &[&str]) -> Option<Lines> {
    let first = lines.first()?;
    let is_over = |line: &str| {
        SIZE.captures(line).is_some_and(|found| {
            let used = number(&found, 1).zip(number(&found, 3));
            number(&found, 2).is_some_and(|percent| percent > 100)
                && used.is_some_and(|(used, most)| used > most)
        })
    };
    // In English its own words are known.
    let is_english = first.starts_with("Sketch uses ") || first.starts_with("Global variables ");
    if is_english || !is_over(first) {
        return None;
    }
    let sizes = lines.iter().take(MOST_SIZES).take_while(|line| SIZE.is_match(line)).count();
    let reason = lines.get(sizes).filter(|line| !line.trim().is_empty());
    Some(match reason {
        Some(reason) => (unplaced(Severity::Error, reason), sizes + 1),
        None => (unplaced(Severity::Error, first), sizes),
    })
}
