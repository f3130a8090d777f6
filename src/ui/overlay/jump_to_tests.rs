//! Tests of where "go to" leads.

use std::ops::Range;

use super::*;
use crate::model::{
    BlobSource, ContentHash, Event, EventSource, LogEvent, LogId, LogKind, LogSource, Record,
    TurnEvent, TurnId, UserError,
};
use crate::ui::layout::PaneId;

/// A session of so many records: two agents write words in parts, and a board prints a line.
struct Session {
    last: u64,
    /// The record that completes the last word.
    needle: u64,
}

/// What the board prints: the second half of the first line comes later.
const PRINTED: &str = "I (12) bme280: chip id 0x60\nW (13) scan: nothing at 0x76\n";

const HALF: usize = 20;

fn log() -> LogId {
    LogId { kind: LogKind::Serial, number: 1 }
}

impl EventSource for Session {
    fn records(&self, range: Range<u64>) -> Result<Vec<Record>, UserError> {
        let words = |turn, text: &str| {
            Event::Turn(TurnEvent::TextAdded { turn: TurnId(turn), text: text.into() })
        };
        let grew = |bytes| {
            let bytes = u64::try_from(bytes).unwrap();
            Event::Log(LogEvent::Grew { log: log(), bytes, lines: 0 })
        };
        let event = |seq| match seq {
            2 => words(1, "the bus has a nee"),
            3 => words(2, "hay and"),
            4 => words(1, "dle in it\nand more"),
            5 => grew(HALF),
            6 => grew(PRINTED.len()),
            10 => words(3, "{\"main.c\":\"int a;\\nint before_the_long_line_of_the_"),
            11 => words(3, "zebra;\\n\"}"),
            seq if seq == self.needle => words(2, " a Needle at the end\n"),
            _ => Event::Person(crate::model::PersonEvent::Paused),
        };
        let record = |seq| Record { v: 1, seq: Seq(seq), at: Timestamp(0), event: event(seq) };
        Ok(range.filter(|seq| *seq <= self.last).map(record).collect())
    }
}

impl LogSource for Session {
    fn read_log(&self, _log: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        let at = |place: u64| usize::try_from(place).unwrap().min(PRINTED.len());
        Ok(PRINTED.as_bytes()[at(range.start)..at(range.end)].to_vec())
    }
}

impl BlobSource for Session {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        Err(UserError::new("no content", hash.to_string(), ""))
    }
}

fn jump(needle: u64, last: u64) -> (JumpTo, TimelineView) {
    let session = || Arc::new(Session { last, needle });
    let recorded = Recorded { events: session(), logs: session(), blobs: session() };
    let timeline = TimelineView { last: Seq(last), position: Seq(1), ..Default::default() };
    (JumpTo::new(recorded, Seq(last)), timeline)
}

/// The record that the first enter goes to.
fn first(jump: &mut JumpTo, words: &str, timeline: &TimelineView) -> (u64, Option<PaneId>) {
    jump.on_paste(words);
    let mut effects = jump.go(words, timeline, Way::Forward);
    for _ in 0..2_000 {
        if !effects.is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
        jump.prepare();
        effects = jump.go_found(timeline);
    }
    let pane = effects.iter().find_map(|effect| match effect {
        Effect::Focus(pane) => Some(*pane),
        _ => None,
    });
    match effects.last() {
        Some(Effect::Command(UiCommand::Timeline(TimelineCommand::Seek(seq)))) => (seq.0, pane),
        other => panic!("{other:?}: {}", jump.state()),
    }
}

#[test]
fn the_first_enter_goes_to_what_matches_however_long_the_search_takes() {
    for (needle, last) in [(7, 40), (9_000, 10_000)] {
        let (mut jump, timeline) = jump(needle, last);
        assert_eq!(first(&mut jump, "/Needle", &timeline), (needle, Some(PaneId::Chat)));
        assert!(jump.go_found(&timeline).is_empty(), "it goes there once");
    }
}

#[test]
fn words_that_came_in_parts_are_found_where_they_are_whole_and_each_match_is_numbered() {
    let (mut jump, mut timeline) = jump(30, 40);
    assert_eq!(first(&mut jump, "/needle", &timeline), (4, Some(PaneId::Chat)));
    assert_eq!(jump.state(), "match 1 of 2 · event 4");
    assert_eq!(jump.words(), "the bus has a needle in it");
    timeline.position = Seq(4);
    jump.go("/needle", &timeline, Way::Forward);
    assert_eq!(jump.state(), "match 2 of 2 · event 30");
    assert_eq!(jump.words(), "hay and a Needle at the end");
}

#[test]
fn lines_that_a_board_printed_are_found() {
    let (mut jump, timeline) = jump(30, 40);
    assert_eq!(first(&mut jump, "/chip id 0x", &timeline), (6, Some(PaneId::Logs)));
    assert_eq!(jump.words(), "I (12) bme280: chip id 0x60");
}

#[test]
fn an_answer_in_json_is_looked_through_line_by_line() {
    let (mut jump, timeline) = jump(30, 40);
    assert_eq!(first(&mut jump, "/int .*zebra", &timeline), (40, Some(PaneId::Chat)));
    assert_eq!(jump.words(), "int before_the_long_line_of_the_zebra;");
}

#[test]
fn how_many_matches_there_are_shows_while_words_are_typed() {
    let (mut jump, _) = jump(7, 40);
    jump.on_paste("/chip i");
    assert_eq!(jump.state(), "1 match · enter goes to the next");
    jump.on_paste("[");
    assert_eq!(jump.state(), "", "what is not finished is not wrong yet");
    let (mut none, _) = self::jump(7, 40);
    none.on_paste("/giraffe");
    assert_eq!(none.state(), "not found in chat, logs, proposed files and events");
}

#[test]
fn times_events_and_shares_are_understood_and_nothing_else_is() {
    let timeline = TimelineView { last: Seq(200), from: Timestamp(5_000), ..Default::default() };
    let at = |text: &str| place(text, &timeline);
    assert_eq!(at("1:23"), Ok(TimelineCommand::SeekTime(Timestamp(88_000))));
    assert_eq!(at("1:00:01"), Ok(TimelineCommand::SeekTime(Timestamp(3_606_000))));
    assert_eq!(at("7"), Ok(TimelineCommand::SeekTime(Timestamp(12_000))));
    assert_eq!(at("#120"), Ok(TimelineCommand::Seek(Seq(120))));
    assert_eq!(at("50%"), Ok(TimelineCommand::Seek(Seq(100))));
    for text in ["", "x", "1:", "#", "%", "1:2:3:4", "-3", "99999999999"] {
        assert!(at(text).is_err(), "{text}");
    }
}
