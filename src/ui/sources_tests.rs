//! Tests of the list of sources: what is shown, and what its keys send.

use serde_json::json;

use super::fixture::UiBench;
use super::tests::intents;
use super::*;
use crate::model::{CallId, Event, Intent, MarkedPassage, PassageMark, TeamEvent, TurnEvent};

fn searched(mode: Mode) -> UiBench {
    let mut desk = match mode {
        Mode::Live => UiBench::at_work(100, 32),
        Mode::Replay => UiBench::new(100, 32, Mode::Replay),
    };
    if mode == Mode::Replay {
        desk.begin();
        desk.work();
    }
    let query = "how do I probe\u{1b}[31m an address?";
    desk.call(2, 90, "retrieve_docs", json!({ "query": query, "k": 2 }));
    let chunks = json!([
        {
            "title": "I2C master: Probing", "source": "docs/en/i2c.rst#probing", "score": 21.5,
            "kind": "guide", "why": "probe (title), address", "version": "esp-idf 5.4", "number": 1,
            "text": "Call `i2c_master_probe` for each address.\n\n```c\n    i2c_master_probe(bus, 0x3c, 50);\n```",
        },
        {
            "title": "GPIO: Levels\u{202e}", "source": "gpio.md#levels", "score": 3.25, "number": 2,
            "kind": "note", "why": "address", "text": "Levels.",
        },
    ]);
    let result = json!({ "ok": true, "chunks": chunks });
    desk.record(20, Event::Turn(TurnEvent::ToolAnswered { call: CallId(90), result, millis: 4 }));
    desk.sync();
    desk
}

fn marked(desk: &mut UiBench, passage: MarkedPassage) {
    desk.record(10, Event::Team(TeamEvent::PassageMarked(Box::new(passage))));
    desk.sync();
}

#[test]
fn what_was_found_is_listed_unfolded_pinned_and_muted() {
    let mut desk = searched(Mode::Live);
    desk.press("D enter");
    insta::assert_snapshot!("sources", desk.screen());
    assert!(!desk.screen().contains(['\u{202e}', '\u{1b}']));
    let sent = intents(&desk.press("p"));
    let [Intent::MarkPassage(pinned)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(
        (pinned.mark, pinned.source.as_str()),
        (PassageMark::Pinned, "docs/en/i2c.rst#probing")
    );
    assert!(pinned.text.contains("i2c_master_probe(bus"), "the whole passage goes along");
    let pinned = MarkedPassage::clone(pinned);
    marked(&mut desk, pinned);
    assert!(desk.screen().contains("Sources · 1 pinned") && desk.screen().contains("✓ [1]"));
    let sent = intents(&desk.press("p"));
    assert!(matches!(&sent[..], [Intent::MarkPassage(it)] if it.mark == PassageMark::None));
    let sent = intents(&desk.press("down m"));
    assert!(matches!(&sent[..], [Intent::MarkPassage(it)] if it.mark == PassageMark::Muted));
    let commands = desk.press("up o");
    let [UiCommand::EditSource(place)] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!(
        (place.source.as_str(), place.documents.as_str(), place.kind.as_str()),
        ("docs/en/i2c.rst#probing", "esp-idf 5.4", "guide")
    );
    assert!(place.text.contains("i2c_master_probe(bus"));
    desk.press("esc");
    assert!(!desk.screen().contains("Sources"), "{}", desk.screen());
}

#[test]
fn nothing_is_marked_in_a_replay_and_a_mark_of_before_is_listed() {
    let mut desk = searched(Mode::Replay);
    let (source, title) = ("docs/uart.rst".to_owned(), "UART".to_owned());
    marked(
        &mut desk,
        MarkedPassage { source, title, text: String::new(), mark: PassageMark::Muted },
    );
    desk.press("D");
    assert!(desk.screen().contains("✗ UART · docs/uart.rst"), "{}", desk.screen());
    assert!(!desk.screen().contains("p pin"), "{}", desk.screen());
    assert!(intents(&desk.press("p m")).is_empty());
}

#[test]
fn without_a_search_the_key_says_why_there_is_nothing() {
    let mut desk = UiBench::new(100, 32, Mode::Live);
    desk.begin();
    desk.press("D");
    assert!(desk.screen().contains("nothing was looked up"), "{}", desk.screen());
}

#[test]
fn an_unfolded_passage_is_read_to_its_end_with_its_whole_path() {
    let mut desk = UiBench::new(80, 24, Mode::Live);
    desk.begin();
    desk.work();
    desk.call(2, 90, "retrieve_docs", json!({ "query": "sleep" }));
    let path =
        format!("docs/en/{}/esp_timer.rst#sleep-mode-considerations", "api-reference/".repeat(6));
    let item =
        format!("1. First:\n\n   {}zebra\n", "This makes deep sleep use more current. ".repeat(5));
    let text = format!("{item}{}the end\n", "One more line.\n".repeat(30));
    let chunk = json!({ "title": "ESP Timer (High Resolution Timer): Sleep Mode Considerations", "source": path, "number": 1, "text": text });
    let result = json!({ "ok": true, "chunks": [chunk] });
    desk.record(20, Event::Turn(TurnEvent::ToolAnswered { call: CallId(90), result, millis: 4 }));
    desk.sync();
    desk.press("D enter");
    let rows = |desk: &UiBench| -> String {
        let screen = desk.screen();
        let rows = screen.lines().filter_map(|row| row.split('│').nth(1));
        rows.map(str::trim).collect::<Vec<_>>().join("\n")
    };
    let seen = rows(&desk);
    assert!(seen.replace('\n', "").contains(&path), "{seen}");
    assert!(seen.contains("zebra"), "{seen}");
    assert!(!seen.contains("the end"), "{seen}");
    desk.press("pagedown pagedown pagedown");
    assert!(rows(&desk).contains("the end"), "{}", desk.screen());
    desk.press("pageup pageup pageup pageup");
    assert_eq!(rows(&desk), seen);
}
