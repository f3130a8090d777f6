//! New sources that no list of CMake builds, and sources that a list builds no longer.
//!
//! Which list builds a source is known to [`registration`]. PlatformIO and sketches find sources
//! by where they lie.

use std::collections::BTreeSet;

use super::test_expectations::is_test;
use super::{Subject, unchecked_limits, wishes};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::workspace::{Registration, is_compiled, registration};

/// Sources of a list that are judged one by one.
const MOST_JUDGED: usize = 60;

/// The check of a new source; `None` for all others, and where no list is understood.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    if !is_compiled(path) || subject.base.is_some() || is_found_by_place(subject) {
        return None;
    }
    let found = registration(path, &|list| subject.text_after(list.as_str()));
    let (list, is_built) = match found {
        Registration::In(list) => (list, true),
        Registration::NotIn(list) => (list, false),
        Registration::Unclear(..) | Registration::Nowhere => return None,
    };
    // Tests are built in many ways, if not by a list of their own.
    if is_test(path) && list.parent() != path.parent() {
        return None;
    }
    if is_built || is_included(path, subject) {
        return Some(Check::clean(CheckKind::InCmake));
    }
    let text = format!("`{list}` does not list it, so it is not compiled");
    let finding = Finding::new(FindingLevel::Warning, text)
        .advice("Add it to the sources of the component, or leave it out.");
    Some(Check::with(CheckKind::InCmake, vec![finding]))
}

/// The check of a list that changes: sources that it built, that are still there, and that nothing
/// builds now.
pub(super) fn dropped(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    if path.file_name() != "CMakeLists.txt" || is_found_by_place(subject) {
        return None;
    }
    let base = subject.base_text()?;
    let before = |list: &ProjectPath| match list == path {
        true => Some(base.to_owned()),
        false => subject.text_after(list.as_str()),
    };
    let now = subject.text()?;
    let after = |list: &ProjectPath| match list == path {
        true => Some(now.to_owned()),
        false => subject.text_after(list.as_str()),
    };
    let is_dropped = |file: &&ProjectPath| {
        registration(file, &before) == Registration::In(path.clone())
            && registration(file, &after) == Registration::NotIn(path.clone())
            && subject.text_after(file.as_str()).is_some()
            && !is_included(file, subject)
    };
    let near = judged_apart(path, subject, (base, now)).into_iter();
    let gone: Vec<&str> = near.filter(is_dropped).map(ProjectPath::as_str).collect();
    let (first, rest) = gone.split_first()?;
    let others = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let task = subject.context.person_words();
    let name = first.rsplit('/').next().unwrap_or(first).to_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    let is_asked_for = wishes::wants_something_gone(&task) || task.contains(stem);
    let level = if is_asked_for { FindingLevel::Note } else { FindingLevel::Warning };
    let mut finding = Finding::new(level, format!("no longer builds `{first}`{others}"))
        .advice("The file is still there. List it, or delete it if nothing needs it.");
    finding.place = place_of_list(subject);
    Some(Check::with(CheckKind::InCmake, vec![finding]))
}

/// The sources below a list of which each may be judged in another way by its two versions: those that
/// one of them names, and of the others one for each folder.
fn judged_apart<'s>(
    path: &ProjectPath,
    subject: &'s Subject<'_>,
    (base, now): (&str, &str),
) -> Vec<&'s ProjectPath> {
    let has_patterns = base.contains('*') || now.contains('*');
    let mut folders = BTreeSet::new();
    let files = subject.files().iter().map(|file| &file.path);
    let near = files.filter(|file| is_compiled(file) && file.as_str().starts_with(folder_of(path)));
    let apart = near.filter(|file| {
        let name = file.file_name();
        let is_named = base.contains(name) || now.contains(name);
        is_named || has_patterns || folders.insert((file.parent(), file.extension()))
    });
    apart.take(MOST_JUDGED).collect()
}

fn folder_of(path: &ProjectPath) -> &str {
    path.as_str().strip_suffix("CMakeLists.txt").unwrap_or_default()
}

/// The first line that the change wrote in the list, or that of what stood where it took some away.
fn place_of_list(subject: &Subject<'_>) -> Option<FindingPlace> {
    let changed = subject.changed();
    let near = || unchecked_limits::near(*changed.removed.first()?, subject);
    changed.added.first().copied().or_else(near).map(FindingPlace::line)
}

fn is_found_by_place(subject: &Subject<'_>) -> bool {
    let at_top = |file: &ProjectPath| !file.as_str().contains('/');
    subject.text_after("platformio.ini").is_some()
        || subject
            .files()
            .iter()
            .any(|file| at_top(&file.path) && file.path.extension() == Some("ino"))
}

/// Whether another source takes it in: `#include "table.c"`.
fn is_included(path: &ProjectPath, subject: &Subject<'_>) -> bool {
    let name = path.file_name();
    let takes_in = |text: &str| {
        let mut lines = text.lines().map(str::trim_start).filter(|line| line.starts_with('#'));
        lines
            .any(|line| line.contains("include") && line.trim_end().ends_with(&format!("{name}\"")))
    };
    let others = subject.files().iter().map(|file| file.path.as_str());
    let others = others.filter(|other| *other != path.as_str() && other.contains('.'));
    let is_source =
        |other: &&str| [".c", ".h", ".cpp", ".hpp", ".cc"].iter().any(|e| other.ends_with(e));
    others
        .filter(is_source)
        .take(200)
        .any(|other| subject.text_after(other).is_some_and(|text| takes_in(&text)))
        || subject.context.proposed.texts().any(|(other, text)| other != path && takes_in(text))
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use crate::model::CheckKind;

    fn found(list: &str, changes: &[(&str, Option<&str>)]) -> Vec<String> {
        let files = [("main/CMakeLists.txt", list), ("main/main.c", "int a;\n")];
        TestProject { files: &files, task: "Blink", chip: None }
            .reported(CheckKind::InCmake, changes)
    }

    #[test]
    fn a_source_that_no_list_names_is_told() {
        let list = "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \".\")\n";
        let led = ("main/led.c", Some("int b;\n"));
        let wanted =
            "main/led.c Warning: `main/CMakeLists.txt` does not list it, so it is not compiled";
        assert_eq!(found(list, &[led]), [wanted]);
        let named = list.replace("\"main.c\"", "\"main.c\" \"led.c\"");
        assert_eq!(found(&named, &[led]), [] as [String; 0]);
        let with_list = [led, ("main/CMakeLists.txt", Some(named.as_str()))];
        assert_eq!(found(list, &with_list), [] as [String; 0], "it comes with the change");
        let taken_in = [led, ("main/main.c", Some("#include \"led.c\"\n"))];
        assert_eq!(found(list, &taken_in), [] as [String; 0]);
    }

    #[test]
    fn a_source_that_a_list_builds_no_longer_is_told() {
        let all = "idf_component_register(SRC_DIRS \".\" INCLUDE_DIRS \".\")\n";
        let files =
            [("main/CMakeLists.txt", all), ("main/main.c", "int a;\n"), ("main/b.c", "int b;\n")];
        let project = TestProject { files: &files, task: "List the sources", chip: None };
        let found = |list: &str| {
            project.reported(CheckKind::InCmake, &[("main/CMakeLists.txt", Some(list))])
        };
        let listed = |names: &str| {
            found(&format!("idf_component_register(SRCS {names} INCLUDE_DIRS \".\")\n"))
        };
        let wanted = "main/CMakeLists.txt Warning: no longer builds `main/b.c`";
        assert_eq!(listed("\"main.c\""), [wanted]);
        assert_eq!(listed("\"main.c\" \"b.c\""), [] as [String; 0]);
        assert_eq!(found(&all.replace("INCLUDE", "EXCLUDE_SRCS \"b.c\" INCLUDE")), [wanted]);
        assert_eq!(found("idf_component_register(INCLUDE_DIRS \".\")\n").len(), 1);
        let changes = [
            ("main/CMakeLists.txt", Some("idf_component_register(SRCS \"main.c\")\n")),
            ("main/b.c", None),
        ];
        assert_eq!(project.reported(CheckKind::InCmake, &changes), [] as [String; 0]);
    }

    #[test]
    fn a_folder_that_is_not_among_those_of_the_sources_is_not_compiled() {
        let list = "idf_component_register(SRC_DIRS \".\" INCLUDE_DIRS \".\")\n";
        let inner = ("main/src/led.c", Some("int b;\n"));
        assert_eq!(found(list, &[inner]).len(), 1);
        assert_eq!(found(list, &[("main/led.c", Some("int b;\n"))]), [] as [String; 0]);
        let both = list.replace("\".\" INCLUDE", "\".\" \"src\" INCLUDE");
        assert_eq!(found(&both, &[inner]), [] as [String; 0]);
    }

    #[test]
    fn what_is_found_by_its_place_or_is_a_test_is_not() {
        let list = "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \".\")\n";
        let files = [("platformio.ini", "[env:a]\n"), ("src/CMakeLists.txt", list)];
        let project = TestProject { files: &files, task: "Blink", chip: None };
        let all = project.reported(CheckKind::InCmake, &[("src/led.c", Some("int b;\n"))]);
        assert_eq!(all, [] as [String; 0]);
        assert_eq!(found(list, &[("main/test/test_led.c", Some("int b;\n"))]), [] as [String; 0]);
        assert_eq!(found(list, &[("host/led.c", Some("int b;\n"))]), [] as [String; 0]);
    }
}
