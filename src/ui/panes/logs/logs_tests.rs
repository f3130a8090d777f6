//! Tests of the logs at a desk.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use insta::assert_snapshot;

use super::super::pane_bench::{PaneBench, SessionStore};
use super::*;
use crate::model::*;
use crate::model::{BoardEvent, BuildEvent, PortEvent};
use crate::ui::action::Action;
use crate::ui::pane::{Effect, FilePlace, Pane as _, Saved, TextMode, UiCommand};

const BUILD: LogId = LogId { kind: LogKind::Build, number: 1 };
const SERIAL: LogId = LogId { kind: LogKind::Serial, number: 1 };

fn pane(desk: &PaneBench) -> LogsPane {
    let store = Arc::clone(&desk.store);
    LogsPane::new(Arc::<SessionStore>::clone(&store), store)
}

fn with_build() -> PaneBench {
    let mut desk = PaneBench::new();
    desk.record(Event::Build(BuildEvent::Started {
        build: BuildId(1),
        log: BUILD,
        command: "idf.py build".into(),
    }));
    desk.record(Event::Build(BuildEvent::Progress { build: BuildId(1), done: 3, total: 9 }));
    desk.log(BUILD, "[1/9] Generating\n[2/9] Building C object main.c.obj\n");
    desk
}

fn fail(desk: &mut PaneBench) {
    desk.log(
        BUILD,
        "FAILED: i2c_scan.c.obj\nmain/src/i2c_scan.c:14:5: error: implicit declaration of function \
         'i2c_master_probe'\nninja: build stopped\n",
    );
    let diagnostic = |severity, line, message: &str, hint: &str| Diagnostic {
        file: Some("main/src/i2c_scan.c".into()),
        line: Some(line),
        column: Some(5),
        severity,
        message: message.into(),
        hint: hint.into(),
    };
    desk.record(Event::Build(BuildEvent::Ended {
        build: BuildId(1),
        outcome: BuildOutcome::Failed,
        diagnostics: vec![
            diagnostic(
                Severity::Error,
                14,
                "implicit declaration of function 'i2c_master_probe'",
                "include driver/i2c_master.h",
            ),
            diagnostic(Severity::Warning, 20, "unused variable 'x'", ""),
        ],
        millis: 3_210,
        size: None,
    }));
}

#[test]
fn a_build_runs_and_fails() {
    let mut desk = with_build();
    let mut pane = pane(&desk);
    let mut shown = vec![desk.show(&mut pane, 78, 6)];
    fail(&mut desk);
    shown.push(desk.show(&mut pane, 78, 12));
    shown.push(desk.show(&mut pane, 44, 8));
    assert_snapshot!(shown.join("\n"));
}

/// A build that passes with a program of that size.
fn passed(desk: &mut PaneBench, build: u32, host: &str, uses: Vec<MemoryUse>, warnings: u32) {
    let log = LogId { kind: LogKind::Build, number: build };
    let build = BuildId(build);
    desk.record(Event::Build(BuildEvent::Started { build, log, command: "ninja -C build".into() }));
    desk.log(log, "[9/9] Linking C executable scan.elf\n");
    let diagnostics = (0..warnings).map(|line| Diagnostic {
        file: Some("main/a.c".into()),
        line: Some(line + 1),
        column: None,
        severity: Severity::Warning,
        message: "unused variable 'x'".into(),
        hint: String::new(),
    });
    desk.record(Event::Build(BuildEvent::Ended {
        build,
        outcome: BuildOutcome::Passed,
        diagnostics: diagnostics.collect(),
        millis: 910,
        size: Some(Box::new(ProgramSize { program: "scan.elf".into(), host: host.into(), uses })),
    }));
}

#[test]
fn the_size_of_a_program_stands_under_its_build_with_what_it_has_grown_by() {
    let mut desk = PaneBench::new();
    let mut pane = pane(&desk);
    let used = |memory, bytes, of| MemoryUse { memory, bytes, of };
    let chip = |flash, dram| {
        vec![used(Memory::Flash, flash, Some(1 << 20)), used(Memory::Dram, dram, None)]
    };
    passed(&mut desk, 1, "", chip(182_304, 12_288), 0);
    let mut shown = vec![desk.show(&mut pane, 78, 4)];
    passed(&mut desk, 2, "", chip(1_046_000, 12_240), 1);
    shown.push(desk.show(&mut pane, 78, 6));
    shown.push(desk.show(&mut pane, 40, 4));
    let host = vec![used(Memory::Text, 41_200, None), used(Memory::Bss, 3_400, None)];
    passed(&mut desk, 3, "virtual board", host, 0);
    shown.push(desk.show(&mut pane, 78, 4));
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn opening_a_finding_goes_to_its_line_in_the_log() {
    let mut desk = with_build();
    desk.log(BUILD, &"[3/9] noise\n".repeat(300));
    fail(&mut desk);
    desk.log(BUILD, &"[4/9] noise\n".repeat(300));
    let mut pane = pane(&desk);
    assert!(!desk.show(&mut pane, 78, 14).contains("14:5: error"));
    desk.press(&mut pane, Action::NextError);
    desk.press(&mut pane, Action::PreviousError);
    settle(&desk, &mut pane);
    assert!(desk.show(&mut pane, 78, 14).contains("14:5: error"));
    let place =
        FilePlace { path: ProjectPath::new("main/src/i2c_scan.c").unwrap(), line: Some(14) };
    assert!(
        matches!(&desk.press(&mut pane, Action::Open)[..], [Effect::Preview(at)] if *at == place)
    );
    let effects = desk.press(&mut pane, Action::EditFile);
    assert!(matches!(&effects[..], [Effect::Command(UiCommand::Edit(at))] if *at == place));
}

/// Waits until searches and filters are through.
fn settle(desk: &PaneBench, pane: &mut LogsPane) {
    desk.show(pane, 78, 8);
    while pane.next_wake(&desk.view, Instant::now()).is_some() {
        std::thread::yield_now();
        desk.show(pane, 78, 8);
    }
}

#[test]
fn a_port_says_what_is_no_longer_kept_and_shows_what_is() {
    let mut desk = with_serial(100);
    let before = desk.view.clone();
    let mut pane = pane(&desk);
    desk.log(SERIAL, &"I (500) scan: found 0xff\r\n".repeat(20));
    let whole = desk.show(&mut pane, 100, 8);
    assert!(!whole.contains("not kept"), "{whole}");
    let moment = |text: &str| {
        regex::Regex::new(r"1\.0 kB before \d\d:\d\d:\d\d not kept").unwrap().is_match(text)
    };
    // Lines of 35 bytes, from the tenth on of 36: of line 30 only the end is left.
    desk.give_up(1_090);
    let shown = desk.show(&mut pane, 100, 8);
    assert!(moment(&shown) && shown.contains("found 0xff"), "{shown}");
    let reported = desk.press(&mut pane, Action::Top);
    assert!(format!("{reported:?}").contains("not kept"), "{reported:?}");
    let shown = desk.show(&mut pane, 100, 8);
    assert!(shown.contains("found 0x1f") && !shown.contains("found 0x1d"), "{shown}");
    // Standing still at a place that goes.
    desk.give_up(1_862);
    let shown = desk.show(&mut pane, 100, 8);
    assert!(!shown.contains("found 0x1f") && shown.contains("found 0x34"), "{shown}");
    // Bytes, a filter, a search and values of what is there.
    desk.press(&mut pane, Action::LogHex);
    assert!(desk.show(&mut pane, 100, 8).contains("000"));
    desk.press(&mut pane, Action::Top);
    let shown = desk.show(&mut pane, 100, 8);
    assert!(shown.contains(" 00000750  "), "{shown}");
    desk.press(&mut pane, Action::LogHex);
    desk.press(&mut pane, Action::LogValues);
    typed_for(&desk, &mut pane, Action::FilterLog, "0x[0-9]4");
    settle(&desk, &mut pane);
    desk.press(&mut pane, Action::Top);
    let shown = desk.show(&mut pane, 100, 14);
    assert!(shown.contains("found 0x34") && !shown.contains("found 0x24"), "{shown}");
    desk.give_up(2_438);
    let shown = desk.show(&mut pane, 100, 14);
    assert!(!shown.contains("found 0x34") && shown.contains("found 0x44"), "{shown}");
    desk.press(&mut pane, Action::Back);
    // A replay at a moment of which nothing is left.
    desk.give_up(3_600);
    desk.view = before;
    settle(&desk, &mut pane);
    let shown = desk.show(&mut pane, 100, 8);
    assert!(shown.contains("the output before this is no longer kept"), "{shown}");
}

#[test]
fn a_filter_shows_what_passes_in_raw_logs_and_in_events() {
    let mut desk = with_serial(40);
    let mut pane = pane(&desk);
    desk.show(&mut pane, 78, 8);
    typed_for(&desk, &mut pane, Action::FilterLog, "^W");
    settle(&desk, &mut pane);
    let mut shown = vec![desk.show(&mut pane, 78, 8)];
    desk.log(SERIAL, "W (99) scan: and one more\r\nI (100) scan: not this one\r\n");
    shown.push(desk.show(&mut pane, 78, 8));
    typed_for(&desk, &mut pane, Action::Search, "more");
    settle(&desk, &mut pane);
    shown.push(desk.show(&mut pane, 78, 8));
    desk.press(&mut pane, Action::NextTab);
    typed_for(&desk, &mut pane, Action::FilterLog, "board|opened");
    settle(&desk, &mut pane);
    shown.push(desk.show(&mut pane, 78, 8));
    assert_snapshot!(shown.join("\n"));
    // Escape takes the filter away before anything else.
    desk.press(&mut pane, Action::Back);
    settle(&desk, &mut pane);
    assert!(desk.show(&mut pane, 78, 8).contains("log_grew"));
    // With nothing going on nothing is asked for.
    assert_eq!(pane.next_wake(&desk.view, Instant::now()), None);
}

#[test]
fn long_lines_are_wrapped_on_demand_and_the_end_stays_in_sight() {
    let mut desk = with_serial(30);
    desk.log(SERIAL, &format!("E (1) 温度: {}end\n", "0123456789".repeat(9)));
    let mut pane = pane(&desk);
    desk.show(&mut pane, 40, 8);
    desk.press(&mut pane, Action::WrapLog);
    let mut shown = vec![desk.show(&mut pane, 40, 8)];
    desk.press(&mut pane, Action::PageUp);
    shown.push(desk.show(&mut pane, 40, 8));
    assert!(matches!(&desk.press(&mut pane, Action::Right)[..], [Effect::Notice(_)]));
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_log_is_saved_where_the_person_says_and_copied_clean() {
    let mut desk = with_serial(2);
    desk.log(SERIAL, "\x1b]52;c;aGk=\x07x\n");
    let mut pane = pane(&desk);
    desk.show(&mut pane, 78, 8);
    let effects = typed_for(&desk, &mut pane, Action::SaveLog, ".txt");
    let bytes = desk.view.logs.serials[0].bytes;
    let Effect::Command(UiCommand::Save { what, to }) = &effects[0] else { panic!("{effects:?}") };
    assert_eq!((*what, to.as_str()), (Saved::Log(SERIAL, bytes), "serial-1.log.txt"));
    let effects = desk.press(&mut pane, Action::Copy);
    let Effect::Command(UiCommand::Copy(text)) = &effects[0] else { panic!("{effects:?}") };
    assert!(text.contains("found 0x01\nx") && !text.contains('\x1b'), "{text:?}");
}

fn with_serial(lines: u32) -> PaneBench {
    let mut desk = PaneBench::new();
    desk.record(Event::Board(BoardEvent::Connected(BoardInfo {
        label: "virtual board".into(),
        chip: "esp32".into(),
        port: "/dev/pts/3".into(),
        simulated: true,
    })));
    desk.record(Event::Port(PortEvent::Opened {
        port: "/dev/pts/3".into(),
        log: SERIAL,
        baud: 115_200,
    }));
    for number in 0..lines {
        let level = if number % 5 == 4 { 'W' } else { 'I' };
        desk.log(
            SERIAL,
            &format!("\x1b[0;32m{level} ({number}) scan: found 0x{number:02x}\x1b[0m\r\n"),
        );
    }
    desk
}

fn typed(desk: &PaneBench, pane: &mut LogsPane, text: &str) {
    typed_for(desk, pane, Action::Search, text);
}

fn typed_for(desk: &PaneBench, pane: &mut LogsPane, action: Action, text: &str) -> Vec<Effect> {
    desk.press(pane, action);
    assert_eq!(pane.text_mode(), TextMode::On);
    for c in text.chars() {
        pane.on_text(&KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), &desk.cx());
    }
    pane.on_text(&KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE), &desk.cx())
}

#[test]
fn serial_output_follows_until_held_and_is_searched() {
    let mut desk = with_serial(40);
    let mut pane = pane(&desk);
    let mut shown = vec![desk.show(&mut pane, 78, 8)];
    desk.press(&mut pane, Action::PageUp);
    desk.log(SERIAL, "E (99) scan: lost the bus\r\n");
    shown.push(desk.show(&mut pane, 78, 8));
    typed(&desk, &mut pane, "0x0[12]");
    desk.show(&mut pane, 78, 8);
    shown.push(desk.show(&mut pane, 78, 8));
    typed(&desk, &mut pane, "(");
    shown.push(desk.show(&mut pane, 78, 8));
    desk.record(Event::Port(PortEvent::Closed {
        log: SERIAL,
        why: "the board was unplugged".into(),
    }));
    pane.on_text(&KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE), &desk.cx());
    for _ in 0..2 {
        desk.press(&mut pane, Action::Back);
    }
    shown.push(desk.show(&mut pane, 78, 8));
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_replay_shows_the_log_of_its_moment() {
    let mut desk = with_serial(3);
    let early = desk.view.clone();
    desk.log(SERIAL, "I (9) scan: later\r\n");
    let mut pane = pane(&desk);
    assert!(desk.show(&mut pane, 60, 10).contains("later"));
    desk.view = early;
    let shown = desk.show(&mut pane, 60, 10);
    assert!(shown.contains("0x02") && !shown.contains("later"), "{shown}");
}

#[test]
fn long_lines_are_marked_where_they_are_cut() {
    let mut desk = with_serial(0);
    desk.log(SERIAL, &format!("{}end\n", "0123456789".repeat(5)));
    let mut pane = pane(&desk);
    let row = |shown: &str| shown.lines().nth(2).unwrap().to_owned();
    assert_eq!(row(&desk.show(&mut pane, 20, 6)), " 012345678901234567…");
    desk.press(&mut pane, Action::Right);
    assert_eq!(row(&desk.show(&mut pane, 20, 6)), "…678901234567890123…");
    for _ in 0..2 {
        desk.press(&mut pane, Action::Right);
    }
    assert_eq!(row(&desk.show(&mut pane, 20, 6)), "…89end");
}

#[test]
fn events_are_a_line_each() {
    let mut desk = with_build();
    fail(&mut desk);
    let mut pane = pane(&desk);
    desk.press(&mut pane, Action::PreviousTab);
    assert_snapshot!(desk.show(&mut pane, 90, 9));
}

#[test]
fn a_click_on_a_title_turns_to_that_tab() {
    let desk = with_serial(1);
    let mut pane = pane(&desk);
    let title = pane.title(&desk.cx()).to_string();
    assert_eq!(title, "Build ─ Serial ● ─ Events");
    for (word, tab) in [("Events", Tab::Events), ("Serial", Tab::Serial), ("Build", Tab::Build)] {
        let column = title.chars().take(title.find(word).unwrap()).count();
        let column = title[..title.find(word).unwrap()].chars().count().min(column);
        pane.on_title_click(u16::try_from(column).unwrap(), &desk.cx());
        assert_eq!(pane.tab(), tab, "{word}");
    }
}

#[test]
fn what_began_last_shows_until_the_person_picks() {
    let mut desk = with_build();
    let mut pane = pane(&desk);
    desk.show(&mut pane, 60, 10);
    assert_eq!(pane.tab(), Tab::Build);
    desk.record(Event::Port(PortEvent::Opened { port: "/dev/pts/3".into(), log: SERIAL, baud: 0 }));
    desk.log(SERIAL, "boot\n");
    desk.show(&mut pane, 60, 10);
    assert_eq!(pane.tab(), Tab::Serial);
    desk.press(&mut pane, Action::PreviousTab);
    desk.show(&mut pane, 60, 10);
    assert_eq!(pane.tab(), Tab::Build);
    desk.press(&mut pane, Action::Back);
    desk.show(&mut pane, 60, 10);
    assert_eq!(pane.tab(), Tab::Serial);
}

/// A port whose firmware has several tags, and prints a failure.
fn with_tags() -> PaneBench {
    let mut desk = with_serial(0);
    desk.log(SERIAL, "ets Jul 29 2019 12:21:46\r\nrst:0x1 (POWERON_RESET)\r\n");
    for number in 0..24_u32 {
        let (level, tag) = match number % 6 {
            0 => ('W', "wifi"),
            1 | 2 => ('I', "wifi"),
            3 => ('D', "app"),
            4 => ('E', "i2c"),
            _ => ('V', "app"),
        };
        desk.log(SERIAL, &format!("{level} ({}) {tag}: line {number}\r\n", 1000 + number * 250));
    }
    desk.log(SERIAL, "plain words\r\n");
    desk
}

#[test]
fn levels_are_left_out_and_come_back_and_other_lines_always_show() {
    let desk = with_tags();
    let mut pane = pane(&desk);
    desk.show(&mut pane, 78, 10);
    for _ in 0..3 {
        desk.press(&mut pane, Action::LogLess);
    }
    settle(&desk, &mut pane);
    let mut shown = vec![desk.show(&mut pane, 78, 10)];
    desk.press(&mut pane, Action::LogLess);
    let effects = desk.press(&mut pane, Action::LogLess);
    assert!(
        matches!(&effects[..], [Effect::Notice(reported)] if reported.text.contains("only errors"))
    );
    typed_for(&desk, &mut pane, Action::FilterLog, "line (4|10|11)|words");
    settle(&desk, &mut pane);
    shown.push(desk.show(&mut pane, 78, 10));
    // What is saved is all of it.
    let effects = typed_for(&desk, &mut pane, Action::SaveLog, "");
    let bytes = desk.view.logs.serials[0].bytes;
    let save = |effect: &Effect| matches!(effect, Effect::Command(UiCommand::Save { what, .. }) if *what == Saved::Log(SERIAL, bytes));
    assert!(save(&effects[0]), "{effects:?}");
    // Escape takes the typed filter away, then the levels.
    desk.press(&mut pane, Action::Back);
    settle(&desk, &mut pane);
    shown.push(desk.show(&mut pane, 78, 10));
    desk.press(&mut pane, Action::Back);
    settle(&desk, &mut pane);
    assert!(desk.show(&mut pane, 78, 10).contains("V (6750) app: line 23"));
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn paused_output_stands_still_while_everything_is_kept() {
    let mut desk = with_tags();
    let mut pane = pane(&desk);
    desk.show(&mut pane, 78, 8);
    desk.press(&mut pane, Action::HoldLog);
    desk.log(SERIAL, "I (9000) app: came later\r\nI (9001) app: and later\r\n");
    let mut shown = vec![desk.show(&mut pane, 78, 8)];
    // One can look around in what there was, and it still does not run away.
    desk.press(&mut pane, Action::PageUp);
    desk.press(&mut pane, Action::Bottom);
    assert!(!desk.show(&mut pane, 78, 8).contains("came later"));
    desk.press(&mut pane, Action::HoldLog);
    shown.push(desk.show(&mut pane, 78, 8));
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn times_stand_before_lines_in_every_form() {
    let mut desk = with_tags();
    desk.log(SERIAL, &format!("E (9000) i2c: {}\r\n", "long ".repeat(20)));
    let mut pane = pane(&desk);
    desk.show(&mut pane, 60, 8);
    for _ in 0..3 {
        desk.press(&mut pane, Action::LogTimes);
    }
    let mut shown = vec![desk.show(&mut pane, 60, 8)];
    desk.press(&mut pane, Action::WrapLog);
    shown.push(desk.show(&mut pane, 60, 8));
    assert_snapshot!(shown.join("\n"));
    desk.press(&mut pane, Action::LogTimes);
    assert!(desk.show(&mut pane, 60, 8).contains("\n E (9000) i2c: long"));
}

#[test]
fn bytes_show_as_they_came_and_are_left_again() {
    let mut desk = with_serial(0);
    desk.log(SERIAL, "\x1b[0;32mI (1) app: hi\x1b[0m\r\n\u{1}\u{2}\u{fffd}\u{0}");
    let mut pane = pane(&desk);
    desk.show(&mut pane, 80, 8);
    desk.press(&mut pane, Action::LogHex);
    let shown = [desk.show(&mut pane, 80, 8), desk.show(&mut pane, 60, 8)];
    let effects = desk.press(&mut pane, Action::Search);
    assert!(
        matches!(&effects[..], [Effect::Notice(reported)] if reported.text.contains("`x` shows lines"))
    );
    let effects = desk.press(&mut pane, Action::Copy);
    assert!(
        matches!(&effects[0], Effect::Command(UiCommand::Copy(text)) if text.contains("1b 5b 30"))
    );
    desk.press(&mut pane, Action::Back);
    assert!(desk.show(&mut pane, 80, 8).contains("I (1) app: hi"));
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn errors_are_gone_through_one_by_one() {
    let desk = with_tags();
    let mut pane = pane(&desk);
    desk.show(&mut pane, 78, 8);
    let mut seen = Vec::new();
    for _ in 0..3 {
        desk.press(&mut pane, Action::PreviousError);
        settle(&desk, &mut pane);
        let here = pane.log_view(&desk.view).unwrap().here();
        let row = pane.text(&desk.view).unwrap().rows().iter().find(|row| row.number == here);
        seen.push(row.unwrap().text.clone());
    }
    assert_eq!(seen, ["E (6500) i2c: line 22", "E (5000) i2c: line 16", "E (3500) i2c: line 10"]);
    assert!(desk.show(&mut pane, 78, 8).contains("errors  2/4"));
}
