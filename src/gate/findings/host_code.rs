//! What a change makes run on the developer's machine, and what it fetches from elsewhere.
//!
//! Owns which kind of file is read how. The programs and hosts are judged in
//! [`commands`](super::commands).

use std::ops::Range;

use super::Subject;
use super::host_code_place::{HostCode, HostDeed};
use super::novelty;
use super::plain_values;
use super::source::SourceText;
use super::wanted_commands;
use super::wanted_deletions;
use super::{commands, host_cmake, host_files, host_includes, host_rules, host_uploads};
use crate::model::{Check, CheckKind, Finding, FindingLevel, ProjectPath};

/// Modules that a program takes in which are looked at.
const MOST_MODULES: usize = 32;

/// The check of a text; `None` for what is not text.
pub(super) fn find(subject: &Subject<'_>) -> Option<Check> {
    let words = subject.context.person_words();
    let base = subject.base_text().unwrap_or_default();
    let wants_target = wanted_commands::wants_target(&words, subject.text().unwrap_or_default());
    let is_asked_for = wanted_commands::are_wanted(&words) || wants_target;
    let runs_at_build = subject.source().is_some_and(|source| {
        let name = source.path.file_name().to_ascii_lowercase();
        name == "cmakelists.txt" || name.ends_with(".cmake")
    });
    let is_of_board = is_micropython(subject);
    let has_network = is_of_board
        && subject.source().is_some_and(|source| {
            is_of_board_alone(source.path, source.text)
                || is_program_of_board(subject) && !needs_computer(source.text)
        });
    novelty::check(CheckKind::HostCode, subject, |source| {
        let all = in_source(source).into_iter();
        let all = all.filter(|found| match found.deed {
            HostDeed::TouchesFiles => !is_of_board,
            // New addresses in what runs on a board are the business of `addresses`.
            HostDeed::Talks => !has_network,
            HostDeed::Runs(_) | HostDeed::Does(_) | HostDeed::Fetches | HostDeed::Other => true,
        });
        let found = all.map(|mut found| {
            let changes_board = found.deed.words().is_some_and(|words| words.contains("erase"));
            if changes_board && runs_at_build {
                found.level = found.level.max(FindingLevel::Warning);
            }
            let part = source.text.get(found.range.clone()).unwrap_or_default();
            let is_allowed = match &found.deed {
                HostDeed::Fetches => wanted_commands::names_source(part, (&words, base)),
                HostDeed::Runs(command)
                    if is_named_upload(source, (command, &found.range), &words) =>
                {
                    true
                }
                HostDeed::Runs(command)
                    if wants_target && wanted_deletions::are_named(command, subject, &words) =>
                {
                    true
                }
                HostDeed::Runs(command) | HostDeed::Does(command) if is_asked_for => {
                    // What such marks run is not among the words.
                    let is_whole = !part.contains('`') && !changes_board;
                    let is_light = found.level == FindingLevel::Warning;
                    let is_named = || wanted_commands::is_named(command, subject, &words);
                    wanted_commands::is_export(command, source.text)
                        || is_whole && wanted_commands::gives_variable(command, &words)
                        || is_whole
                            && wanted_commands::is_known(command, subject)
                            && (is_light || is_named())
                }
                _ => false,
            };
            if is_allowed {
                found.level = FindingLevel::Note;
            }
            finding(source, found)
        });
        found.collect()
    })
}

/// Whether a command sends what the task names, with the words of the script that it stands in.
fn is_named_upload(
    source: &SourceText<'_>,
    (command, range): (&str, &Range<usize>),
    task: &str,
) -> bool {
    if !command.contains("curl") {
        return false;
    }
    // `printf … |` on the line before hands it something.
    let before = source.text.get(..range.start).unwrap_or_default();
    let before = before.trim_end().rsplit('\n').next().unwrap_or_default().trim();
    let input = before.strip_suffix('|').filter(|input| input.starts_with("printf "));
    let piped = input.map(|input| format!("{} | {command}", input.trim()));
    let command = piped.as_deref().unwrap_or(command);
    host_uploads::is_named(&plain_values::of_shell(command, source.text), task)
}

/// Whether Python imports what only a board has.
fn runs_there(text: &str) -> bool {
    const ONLY_THERE: [&str; 7] = [
        "import machine",
        "from machine import",
        "import uasyncio",
        "import esp32",
        "import network",
        "from umqtt",
        "import neopixel",
    ];
    let is_there = |line: &str| {
        line.trim_end() == "import esp" || ONLY_THERE.iter().any(|start| line.starts_with(start))
    };
    text.lines().any(|line| is_there(line.trim_start()))
}

/// Whether Python takes in what only a computer has.
fn needs_computer(text: &str) -> bool {
    const ONLY_HERE: [&str; 8] = [
        "urllib.request",
        "http.client",
        "httpx",
        "ftplib",
        "paramiko",
        "smtplib",
        "telnetlib",
        "xmlrpc",
    ];
    ONLY_HERE.iter().any(|name| text.contains(name))
}

/// Whether Python can run on a board and nowhere else: it is started there or imports what only a board
/// has, and nothing that only a computer has.
fn is_of_board_alone(path: &ProjectPath, text: &str) -> bool {
    (matches!(path.as_str(), "main.py" | "boot.py") || runs_there(text)) && !needs_computer(text)
}

/// Whether a file of Python runs on the board, as MicroPython does.
pub(super) fn is_micropython(subject: &Subject<'_>) -> bool {
    let is_python = subject.source().is_some_and(|it| it.path.extension() == Some("py"));
    // The program runs there when it or a module of the project that it takes in does.
    let is_of_board = |file: &str| {
        subject.text_after(file).is_some_and(|text| {
            let imported = |name: &str| {
                subject.text_after(&format!("{name}.py")).is_some_and(|text| runs_there(&text))
            };
            runs_there(&text) || modules(&text).take(MOST_MODULES).any(imported)
        })
    };
    // Tools of the project, and what only a computer has.
    let is_of_computer = |text: &str| {
        ["subprocess", "argparse", "sys.argv", "shutil", "pathlib", "expanduser", "\"~", "'~"]
            .iter()
            .any(|part| text.contains(part))
    };
    let is_tool = |path: &ProjectPath| {
        let folders = path.parent().unwrap_or_default().split('/');
        folders.into_iter().any(|it| matches!(it, "tools" | "scripts" | "test" | "tests" | "ci"))
    };
    is_python
        && subject.source().is_some_and(|it| !is_tool(it.path) && !is_of_computer(it.text))
        && (["main.py", "boot.py"].iter().any(|file| is_of_board(file))
            || is_program_of_board(subject))
}

/// Whether a project was nothing but a program in Python for a board: `main.py` at its top takes in a
/// module that only boards have, and nothing there builds or packs for a computer.
fn is_program_of_board(subject: &Subject<'_>) -> bool {
    const FOR_COMPUTERS: [&str; 7] = [
        "CMakeLists.txt",
        "platformio.ini",
        "pyproject.toml",
        "setup.py",
        "requirements.txt",
        "Makefile",
        "Cargo.toml",
    ];
    const OF_BOARDS: [&str; 12] = [
        "wifi", "display", "wlan", "hw", "board", "pins", "sensors", "relay", "ssd1306", "ntptime",
        "umqtt", "leds",
    ];
    let main = subject.text_before("main.py");
    let own = subject.source().map_or("", |it| it.path.as_str().trim_end_matches(".py"));
    let takes = |text: String| {
        let mut modules = modules(&text).take(MOST_MODULES).collect::<Vec<_>>().into_iter();
        let is_taken = own == "main" || modules.clone().any(|name| name == own);
        is_taken
            && modules.any(|name| OF_BOARDS.contains(&name))
            && text.lines().any(|line| line.starts_with("while True"))
    };
    subject.context.chip.is_some()
        && main.is_some_and(takes)
        && !FOR_COMPUTERS.iter().any(|file| subject.text_before(file).is_some())
}

/// The names that a text of Python takes in at the start of a line, `import a` or `from a import b`.
fn modules(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.strip_prefix("import ").or_else(|| line.strip_prefix("from "))?;
        rest.split([' ', ',', '\t', '#']).next().filter(|name| !name.is_empty())
    })
}

/// The part of a range from its first line that the file did not hold before; all of it where it held
/// them, or none.
fn newest_line(source: &SourceText<'_>, range: Range<usize>) -> Range<usize> {
    let (first, last) = (source.line_at(range.start), source.line_at(range.end));
    let mut behind = first + 1..=last;
    match behind.find(|line| !source.is_new_line(first) && source.is_new_line(*line)) {
        Some(line) => source.line_range(line).start.min(range.end)..range.end,
        None => range,
    }
}

fn finding(source: &SourceText<'_>, found: HostCode) -> Finding {
    let advice = match found.level {
        FindingLevel::Stop => "Leave it out, or read every line of what runs first.",
        FindingLevel::Warning => "Check that this is intended.",
        FindingLevel::Note => "",
    };
    let text = commands::shown_sentence(&found.text);
    Finding::new(found.level, text)
        .at(source.place(&newest_line(source, found.range)))
        .advice(advice)
}

/// Everything in a text, in the order of its places; a place is told once.
pub(super) fn in_source(source: &SourceText<'_>) -> Vec<HostCode> {
    let path = source.path.as_str();
    let name = source.path.file_name();
    let mut found = host_rules::find(source);
    let lower = name.to_ascii_lowercase();
    let ends = [".cmake", ".cmake.in"];
    if lower == "cmakelists.txt" || ends.iter().any(|end| lower.ends_with(end)) {
        found.extend(host_cmake::find(path, source.text));
    }
    if host_includes::is_code(name) {
        found.extend(host_includes::find(source));
    }
    found.extend(host_files::find(source));
    found.sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.level)));
    let mut reported = 0;
    found.retain(|found| {
        let is_new = found.range.start >= reported || found.level == FindingLevel::Stop;
        reported = reported.max(found.range.end);
        is_new
    });
    found.dedup_by(|a, b| a.range.start == b.range.start);
    found
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "host_place_tests.rs"]
mod place_tests;
