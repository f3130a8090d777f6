//! What CMake prints: blocks of indented lines with the stack of calls behind them.
//!
//! Owns the choice of the place: a block within a block, as ESP-IDF prints what went wrong in a
//! component's list, before the block around it; the project's own call before the framework's.

use super::finding::{ToolPlace, diagnostic, placed};
use super::paths::Paths;
use super::patterns::{self, group, number};
use super::phrases::{PHRASES, has_any};
use crate::model::{Diagnostic, Severity};

/// Blocks within blocks are read so deep.
const DEEPEST: usize = 3;

/// Lists that scripts of the framework make for themselves.
const MADE_LIST: &str = ".temp.cmake";

/// The script that starts esptool.
const SERIAL_SCRIPT: &str = "run_serial_tool.cmake";

/// What keeps CMake from looking for compilers.
const STOPS: [&str; 2] =
    ["CMake was unable to find a build program", "Could not find toolchain file"];

/// Findings, and how many lines they took.
pub(super) struct CMakeBlock {
    pub(super) found: Vec<Diagnostic>,
    pub(super) used: usize,
}

/// The block that `lines` begin with; `None` when they do not.
pub(super) fn block(lines: &[&str], paths: &Paths) -> Option<CMakeBlock> {
    read(lines, paths, DEEPEST)
}

fn read(lines: &[&str], paths: &Paths, depth: usize) -> Option<CMakeBlock> {
    if let Some(block) = presets(lines, paths) {
        return Some(block);
    }
    let (first, mut used) = head(lines)?;
    let found = patterns::CMAKE.captures(&first)?;
    let severity =
        if group(&found, 1).ends_with("Error") { Severity::Error } else { Severity::Warning };
    let mut text = Vec::new();
    let stated = group(&found, 4);
    let mut place = found.get(2).map(|file| (file.as_str().to_owned(), number(&found, 3)));
    let body = lines.iter().skip(used).take_while(|line| {
        line.trim().is_empty() || line.starts_with(' ') || line.starts_with('\t')
    });
    let body: Vec<&str> = body.copied().collect();
    used += body.len();
    if stated == "Error in cmake code at" {
        // Old releases write the place and the message below, not indented.
        let below = patterns::LINKER_PLACE.captures(lines.get(used).unwrap_or(&""));
        let header = lines.get(used).and_then(|line| line.strip_suffix(':')?.rsplit_once(':'));
        if let (None, Some((file, line))) = (below, header) {
            place = Some((file.to_owned(), line.parse().ok()));
            text.push(lines.get(used + 1).copied().unwrap_or_default());
            used += 2;
        }
    } else {
        text.push(stated);
    }
    if let Some(found) = inner(&body, paths, depth) {
        used += stack(lines, used, paths).1;
        return Some(CMakeBlock { found, used });
    }
    text.extend(body.iter().map(|line| line.trim()));
    let (own_call, calls) = stack(lines, used, paths);
    used += calls;
    let is_own = place.as_ref().is_some_and(|(file, _)| paths.is_own_list(file));
    if !is_own && let Some(call) = own_call {
        place = Some(call);
    }
    text.retain(|part| !part.is_empty());
    let message = text.join(" ");
    let place = place.map(|(file, line)| ToolPlace::line(paths.of_cmake(&file), line));
    Some(CMakeBlock { found: vec![diagnostic(severity, &message, place)], used })
}

/// What is wrong in a file of presets, with the places.
fn presets(lines: &[&str], paths: &Paths) -> Option<CMakeBlock> {
    lines.first()?.strip_prefix("CMake Error: Could not read presets from ")?;
    let mut block = CMakeBlock { found: Vec::new(), used: 1 };
    let mut name = "CMakePresets.json".to_owned();
    while let Some(line) = lines.get(block.used) {
        block.used += 1;
        if let Some(file) = line.trim().strip_suffix(".json:") {
            name = format!("{}.json", file.trim_start_matches("JSON Parse Error: "));
        } else if let Some(found) = patterns::PRESET_PLACE.captures(line) {
            let mut stated = group(&found, 3).trim();
            if stated.is_empty() {
                stated = lines.get(block.used).map_or("", |line| line.trim());
                block.used += 1;
            }
            let (line, column) = (number(&found, 1), number(&found, 2));
            let place = ToolPlace { file: paths.of_cmake(&name), line, column };
            block.found.push(placed(Severity::Error, stated, place));
        } else if !line.starts_with(' ') {
            block.used -= 1;
            break;
        }
    }
    (!block.found.is_empty()).then_some(block)
}

/// The first line of a block, with what was wrapped behind its place, and how many lines it took.
fn head(lines: &[&str]) -> Option<(String, usize)> {
    // The component manager prints dots while it waits, and does not end their line.
    let first = lines.first()?.trim_end().trim_start_matches('.');
    if !first.starts_with("CMake ") {
        return None;
    }
    if patterns::CMAKE_WRAPPED.is_match(first) {
        let rest = lines.get(1).map_or("", |line| line.trim());
        return Some((format!("{first} {rest}"), 2));
    }
    Some((first.to_owned(), 1))
}

/// The errors of the blocks within a block, with the warnings among them; `None` when there is no
/// error.
fn inner(body: &[&str], paths: &Paths, depth: usize) -> Option<Vec<Diagnostic>> {
    let depth = depth.checked_sub(1)?;
    let body: Vec<&str> = body.iter().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    let mut rest = body.as_slice();
    let mut all = Vec::new();
    while let Some((_, after)) = rest.split_first() {
        match read(rest, paths, depth) {
            Some(CMakeBlock { found, used }) => {
                all.extend(found);
                rest = rest.get(used.max(1)..).unwrap_or_default();
            }
            None => rest = after,
        }
    }
    let is_made = |one: &Diagnostic| {
        one.severity == Severity::Warning
            && one.file.as_ref().is_some_and(|file| file.ends_with(MADE_LIST))
    };
    all.retain(|one| !is_made(one));
    all.iter().any(|one| one.severity == Severity::Error).then_some(all)
}

/// The nearest call of the project in the stack that begins at line `at`, and how many lines the
/// stack is.
fn stack(lines: &[&str], at: usize, paths: &Paths) -> (Option<(String, Option<u32>)>, usize) {
    if !lines.get(at).is_some_and(|line| line.starts_with("Call Stack")) {
        return (None, 0);
    }
    let (mut own, mut used) = (None, 1);
    for line in lines.iter().skip(at + 1) {
        if line.trim().is_empty() && own.is_none() && used == 1 {
            used += 1;
            continue;
        }
        let Some(call) = patterns::CALL.captures(line) else { break };
        used += 1;
        let file = group(&call, 1);
        if own.is_none() && paths.is_own_list(file) {
            own = Some((file.to_owned(), number(&call, 2)));
        }
    }
    (own, used)
}

/// Whether an error only says that a step failed which was reported before it.
pub(super) fn is_consequence(error: &Diagnostic, before: &[Diagnostic]) -> bool {
    let stated = error.message.as_str();
    let is_there = |text: &str| before.iter().any(|one| one.message.contains(text));
    let last_is_error = before.last().is_some_and(|one| one.severity == Severity::Error);
    // What a script of the framework ran has said why it failed.
    let is_script = error.file.as_ref().is_some_and(|file| file.ends_with(SERIAL_SCRIPT));
    let is_configuration =
        stated.starts_with("Failed to run kconfgen") || stated.starts_with("Failed to run confgen");
    let is_broken_off = before.iter().any(|one| {
        one.severity == Severity::Error && STOPS.iter().any(|stop| one.message.starts_with(stop))
    });
    (last_is_error && (stated.is_empty() || is_configuration || is_script))
        || (is_broken_off && (is_compiler(stated) || stated.starts_with(STOPS[0])))
        || (is_compiler(stated) && before.iter().any(names_compiler))
        || (stated.starts_with("No SOURCES given to target") && is_there("Cannot find source file"))
        || (stated.contains("_COMPILER") && is_there("_COMPILER") && is_compiler(stated))
}

/// Whether an error says that the compiler that somebody chose is not there.
fn names_compiler(one: &Diagnostic) -> bool {
    one.severity == Severity::Error
        && one.message.starts_with("Could not find compiler set in environment variable ")
}

/// Whether a compiler is missing, of which there are several for one toolchain.
fn is_compiler(stated: &str) -> bool {
    has_any(stated, &PHRASES.cmake_compiler)
}
