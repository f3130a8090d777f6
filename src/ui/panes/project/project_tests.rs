//! Tests of the project at a desk.

use crossterm::event::KeyModifiers;
use insta::assert_snapshot;

use super::super::pane_bench::PaneBench;
use super::*;
use crate::model::event::ProjectFile;
use crate::model::*;
use crate::model::{FilesEvent, TurnEvent};

fn path(text: &str) -> ProjectPath {
    ProjectPath::new(text).unwrap()
}

fn listed(paths: &[&str]) -> Event {
    let files = paths.iter().map(|name| ProjectFile { path: path(name), bytes: 1_240 }).collect();
    Event::Files(FilesEvent::Listed { files, omitted: 0, signatures: Vec::new() })
}

fn edited(add: &[&str], remove: &[&str]) -> Event {
    let paths = |names: &[&str]| names.iter().map(|name| path(name)).collect();
    Event::Team(TeamEvent::ContextEdited { add: paths(add), remove: paths(remove) })
}

const PATHS: [&str; 6] = [
    "CMakeLists.txt",
    "main/CMakeLists.txt",
    "main/include/i2c_scan.h",
    "main/src/i2c_scan.c",
    "main/src/温度センサー.c",
    "sdkconfig.defaults",
];

/// A project in which everything happens that has a mark.
fn desk() -> PaneBench {
    let mut desk = PaneBench::new();
    desk.record(listed(&PATHS));
    desk.record(edited(&["main/include/i2c_scan.h"], &[]));
    let files = vec![
        OutsideChange { path: path("sdkconfig.defaults"), bytes: Some(77) },
        OutsideChange { path: path("main/src/new.c"), bytes: Some(5) },
    ];
    desk.record(Event::Files(FilesEvent::Disk(FileEvent::ChangedOutside { files })));
    desk.record(Event::Turn(TurnEvent::ToolAnswered {
        call: CallId(9),
        result: serde_json::json!({
            "ok": true, "files": [{ "path": "main/CMakeLists.txt", "content": "x".repeat(800) }]
        }),
        millis: 1,
    }));
    desk.record(edited(&[], &["CMakeLists.txt"]));
    desk.propose_save("main/src/i2c_scan.c", Some("old\n"), "new\n");
    desk
}

fn typed(desk: &PaneBench, pane: &mut ProjectPane, text: &str) {
    for c in text.chars() {
        pane.on_text(&KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), &desk.cx());
        desk.show(pane, 34, 12);
    }
}

#[test]
fn every_mark_is_shown_and_explained() {
    let desk = desk();
    let mut pane = ProjectPane::default();
    let mut shown = vec![desk.show(&mut pane, 34, 12), desk.show(&mut pane, 26, 12)];
    pane.selected = Some("main/include/i2c_scan.h".into());
    shown.push(desk.show(&mut pane, 60, 12));
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_filter_finds_files_as_they_are_typed_and_leads_to_them() {
    let desk = desk();
    let mut pane = ProjectPane::default();
    desk.show(&mut pane, 34, 12);
    desk.press(&mut pane, Action::Search);
    typed(&desk, &mut pane, "scanc");
    let shown = desk.show(&mut pane, 34, 12);
    assert!(shown.lines().nth(1).unwrap().contains("main/src/i2c_scan.c"), "{shown}");
    let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
    let effects = pane.on_text(&enter, &desk.cx());
    let wanted = FilePlace { path: path("main/src/i2c_scan.c"), line: None };
    assert!(matches!(&effects[..], [Effect::Preview(place)] if *place == wanted));
    // The file stays selected when the filter is left.
    desk.press(&mut pane, Action::Back);
    desk.show(&mut pane, 34, 12);
    assert_eq!(pane.selected.as_deref(), Some("main/src/i2c_scan.c"));
    desk.press(&mut pane, Action::Search);
    typed(&desk, &mut pane, "nothing like it");
    assert!(desk.show(&mut pane, 34, 12).contains("no file matches"));
    let effects = pane.on_text(&enter, &desk.cx());
    assert!(matches!(&effects[..], [Effect::Notice(_)]), "there is nothing to open");
}

#[test]
fn a_file_is_pinned_and_unpinned_and_a_folder_is_not() {
    let mut desk = desk();
    let mut pane = ProjectPane::default();
    desk.show(&mut pane, 34, 12);
    pane.selected = Some("CMakeLists.txt".into());
    let wanted = Intent::EditContext { add: vec![path("CMakeLists.txt")], remove: vec![] };
    let effects = desk.press(&mut pane, Action::Pin);
    assert!(matches!(&effects[0], Effect::Command(UiCommand::Intent(intent)) if *intent == wanted));
    desk.record(edited(&["CMakeLists.txt"], &[]));
    let wanted = Intent::EditContext { add: vec![], remove: vec![path("CMakeLists.txt")] };
    let effects = desk.press(&mut pane, Action::Pin);
    assert!(matches!(&effects[0], Effect::Command(UiCommand::Intent(intent)) if *intent == wanted));
    pane.selected = Some("main".into());
    assert!(matches!(&desk.press(&mut pane, Action::Pin)[..], [Effect::Notice(_)]));
}

#[test]
fn many_files_begin_folded_save_where_something_happens() {
    let mut desk = PaneBench::new();
    let names: Vec<String> = (0..300).map(|n| format!("components/c{n}/a.c")).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.push("main/main.c");
    desk.record(listed(&names));
    desk.propose_save("main/main.c", Some("old\n"), "new\n");
    let mut pane = ProjectPane::default();
    let shown = desk.show(&mut pane, 34, 12);
    assert!(shown.contains("▸ components") && shown.contains("main.c"), "{shown}");
}
