//! Logs of builds that failed, and of some that passed: each error must be found with its place and its
//! words, and nothing else. The logs are in `tests/data/logs`, with what is true of each in
//! `truth.txt`.

use std::collections::BTreeMap;
use std::path::Path;

use firmhand::model::{Diagnostic, Severity};
use firmhand::toolchain::diagnostics;

const PROJECT: &str = "/home/me/blink";

/// `severity file:line:column message`
fn short(one: &Diagnostic) -> String {
    let severity = match one.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let file = one.file.as_deref().unwrap_or_default();
    let (line, column) = (one.line.unwrap_or(0), one.column.unwrap_or(0));
    format!("{severity} {file}:{line}:{column} {}", one.message)
}

/// What is true of each log.
fn truth(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(folder.join("truth.txt")).unwrap();
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut log = String::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        match line.strip_prefix("== ") {
            Some(name) => {
                name.clone_into(&mut log);
                all.insert(log.clone(), Vec::new());
            }
            None => all.get_mut(&log).unwrap().push(line.to_owned()),
        }
    }
    all
}

#[test]
fn every_error_of_every_log_is_found_at_its_place_and_no_other() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/logs");
    let truth = truth(&folder);
    let logs = std::fs::read_dir(&folder).unwrap().count() - 1;
    assert_eq!(logs, truth.len(), "a log without truth, or truth without a log");
    assert!(logs >= 395, "{logs}");
    let (mut errors, mut wrong) = (0, Vec::new());
    for (name, expected) in &truth {
        let log = std::fs::read(folder.join(name).with_extension("txt")).unwrap();
        let found = diagnostics::parse(Path::new(PROJECT), &log);
        let is_note = |one: &&Diagnostic| one.severity == Severity::Note;
        let found: Vec<String> = found.iter().filter(|one| !is_note(one)).map(short).collect();
        let is_error = |line: &&String| line.starts_with("error ");
        errors += expected.iter().filter(is_error).count();
        wrong.extend(
            found
                .iter()
                .filter(|one| !expected.contains(one))
                .map(|one| format!("{name}: not true: {one}")),
        );
        wrong.extend(
            expected
                .iter()
                .filter(|one| !found.contains(one))
                .map(|one| format!("{name}: not found: {one}")),
        );
    }
    assert!(errors >= 240, "{errors}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_log_of_another_machine_names_its_own_project() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/logs");
    for (name, project) in
        [("container", Some("/project")), ("passed", Some(PROJECT)), ("make", None)]
    {
        let log = std::fs::read_to_string(folder.join(name).with_extension("txt")).unwrap();
        assert_eq!(diagnostics::project_in(&log).as_deref(), project.map(Path::new), "{name}");
    }
}

#[test]
fn a_failed_build_always_has_an_error() {
    let project = Path::new(PROJECT);
    let found = diagnostics::parse_failed(project, b"some words\nsomething nobody knows\n\n");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].message, "something nobody knows");
    assert!(diagnostics::parse(project, b"some words\n").is_empty());
}
