//! Tests of the chat at a desk.

use crossterm::event::KeyModifiers;
use insta::assert_snapshot;
use serde_json::json;

use super::super::pane_bench::PaneBench;
use super::*;
use crate::model::*;
use crate::model::{ProposalEvent, TurnEvent};
use crate::text::growing_json::GrowingJson;
use crate::ui::pane::UiCommand;

fn turn(desk: &mut PaneBench, id: u32, agent: &str, text: &str) {
    let turn = TurnId(id);
    desk.record(Event::Turn(TurnEvent::Started { turn, agent: agent.into(), step: None }));
    desk.record(Event::Turn(TurnEvent::TextAdded { turn, text: text.into() }));
}

fn end(desk: &mut PaneBench, id: u32) {
    let usage = Usage { input: 1_200, output: 80, ..Usage::default() };
    desk.record(Event::Turn(TurnEvent::ModelAnswered { turn: TurnId(id), usage, state: None }));
    desk.record(Event::Turn(TurnEvent::Ended { turn: TurnId(id), stop: TurnStop::Done }));
}

fn call(desk: &mut PaneBench, turn: u32, call: u32, tool: &str, args: serde_json::Value) {
    let (turn, call) = (TurnId(turn), CallId(call));
    desk.record(Event::Turn(TurnEvent::ToolCalled { turn, call, tool: tool.into(), args }));
}

fn answer(desk: &mut PaneBench, call: u32, result: serde_json::Value) {
    desk.record(Event::Turn(TurnEvent::ToolAnswered { call: CallId(call), result, millis: 12 }));
}

/// A conversation with a plan, sources, a proposal and an error.
fn desk() -> PaneBench {
    let mut desk = PaneBench::new();
    turn(&mut desk, 1, "FileOrganizerAgent", "Two files.");
    let files = json!([
        { "file_name": "main/main.c", "description": "entry point" },
        { "file_name": "main/温度.c", "description": "the sensor" },
    ]);
    call(&mut desk, 1, 11, "file_name_checker", json!({ "files": files }));
    answer(&mut desk, 11, json!({ "ok": true }));
    end(&mut desk, 1);
    turn(&mut desk, 2, "CodeExampleRetrieverAgent", "I look it up.");
    call(&mut desk, 2, 12, "retrieve_docs", json!({ "query": "i2c" }));
    let chunks = json!([
        { "title": "I2C: Probing", "source": "esp-idf/i2c", "score": 2.5, "text": "Call `probe`." },
        { "title": "GPIO: Levels", "source": "esp-idf/gpio", "score": 1.0, "text": "Levels." },
    ]);
    answer(&mut desk, 12, json!({ "ok": true, "chunks": chunks }));
    end(&mut desk, 2);
    turn(&mut desk, 3, "CodeGeneratorAgent", "Written:\n```c\nint probe(void);\n```\nThat is it.");
    end(&mut desk, 3);
    turn(&mut desk, 4, "CodeReviewerAgent", "I save it.");
    call(&mut desk, 4, 1, "generate_code", json!({ "path": "main/main.c" }));
    let id = desk.propose_save("main/main.c", None, "int x;\n");
    desk.decide(id, Verdict::Approve, DecidedBy::Person, 0);
    desk.record(Event::Proposal(ProposalEvent::Settled {
        proposal: id,
        outcome: Outcome::Applied,
    }));
    answer(&mut desk, 1, json!({ "ok": true }));
    end(&mut desk, 4);
    turn(&mut desk, 5, "BuildAgent", "I build.");
    call(&mut desk, 5, 15, "build_project", json!({}));
    answer(&mut desk, 15, json!({ "ok": false, "error": { "message": "no toolchain" } }));
    end(&mut desk, 5);
    desk
}

fn type_in(desk: &PaneBench, pane: &mut ChatPane, text: &str) {
    desk.press(pane, Action::Search);
    for c in text.chars() {
        pane.on_text(&KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), &desk.cx());
    }
    pane.on_text(&KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE), &desk.cx());
}

fn copied(effects: &[Effect]) -> String {
    match effects {
        [Effect::Command(UiCommand::Copy(text)), ..] => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn marked(desk: &PaneBench, pane: &ChatPane) -> String {
    let mark = pane.mark.unwrap();
    let layout = pane.layouts.get(mark.entry).unwrap();
    layout.row_text(&desk.view.chat.entries[mark.entry], mark.row).0.trim().to_owned()
}

#[test]
fn the_plan_ticks_and_sources_are_listed() {
    let desk = desk();
    let mut pane = ChatPane::default();
    assert_snapshot!(desk.show(&mut pane, 60, 36));
}

#[test]
fn a_search_goes_to_each_match_and_round() {
    let desk = desk();
    let mut pane = ChatPane::default();
    desk.show(&mut pane, 60, 8);
    type_in(&desk, &mut pane, "probe");
    desk.show(&mut pane, 60, 8);
    assert!(marked(&desk, &pane).contains("int probe(void)"));
    desk.press(&mut pane, Action::PreviousMatch);
    desk.show(&mut pane, 60, 8);
    // It is in the text of a source, which is folded away.
    assert!(marked(&desk, &pane).contains("CodeExampleRetrieverAgent"));
    desk.press(&mut pane, Action::PreviousMatch);
    assert_snapshot!(desk.show(&mut pane, 60, 8));
    type_in(&desk, &mut pane, "(");
    assert!(desk.show(&mut pane, 60, 8).contains("unclosed group"));
    pane.on_text(&KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE), &desk.cx());
    type_in(&desk, &mut pane, "nothing like it");
    assert!(desk.show(&mut pane, 60, 8).contains("not found"));
    assert_eq!(pane.next_wake(Instant::now()), None);
}

#[test]
fn jumps_lead_to_agents_proposals_and_errors() {
    let desk = desk();
    let mut pane = ChatPane::default();
    desk.show(&mut pane, 60, 8);
    desk.press(&mut pane, Action::PreviousError);
    desk.show(&mut pane, 60, 8);
    assert!(marked(&desk, &pane).contains("build_project"), "{}", marked(&desk, &pane));
    desk.press(&mut pane, Action::PreviousChange);
    desk.show(&mut pane, 60, 8);
    assert!(marked(&desk, &pane).contains("generate_code"));
    let effects = desk.press(&mut pane, Action::PreviousChange);
    assert!(
        matches!(&effects[..], [Effect::Notice(notice)] if notice.text.contains("no proposal before"))
    );
    let effects = desk.press(&mut pane, Action::NextOfAgent);
    assert!(
        matches!(&effects[..], [Effect::Notice(notice)] if notice.text.contains("CodeReviewerAgent"))
    );
}

#[test]
fn messages_code_and_sources_are_copied_and_opened() {
    let desk = desk();
    let mut pane = ChatPane::default();
    desk.show(&mut pane, 60, 40);
    assert_eq!(copied(&desk.press(&mut pane, Action::Copy)), "I build.");
    assert_eq!(copied(&desk.press(&mut pane, Action::CopyCode)), "int probe(void);");
    desk.press(&mut pane, Action::Top);
    desk.show(&mut pane, 60, 40);
    for _ in 0..3 {
        desk.press(&mut pane, Action::NextFold);
        desk.show(&mut pane, 60, 40);
    }
    assert_eq!(copied(&desk.press(&mut pane, Action::Copy)), "Call `probe`.");
    let effects = desk.press(&mut pane, Action::Open);
    assert!(
        matches!(&effects[..], [Effect::Open(overlay)] if matches!(**overlay, Overlay::Sources(_)))
    );
}

#[test]
fn foreign_text_is_copied_without_anything_a_terminal_obeys() {
    let mut desk = PaneBench::new();
    turn(&mut desk, 1, "A", "one\x1b]0;title\x07 \u{202e}two");
    let mut pane = ChatPane::default();
    desk.show(&mut pane, 60, 8);
    let text = copied(&desk.press(&mut pane, Action::Copy));
    assert!(!text.contains(['\x1b', '\x07', '\u{202e}']), "{text:?}");
}

#[test]
fn a_number_in_an_answer_opens_the_source_it_names() {
    let mut desk = PaneBench::new();
    let mut pane = ChatPane::default();
    turn(&mut desk, 1, "AnswerAgent", "");
    call(&mut desk, 1, 7, "retrieve_docs", json!({ "query": "probe" }));
    let chunk = |number: u64, title: &str| json!({ "title": title, "source": "s", "score": 1.0, "text": "t", "number": number });
    let chunks = json!([chunk(1, "I2C: Probing"), chunk(2, "GPIO: Levels")]);
    answer(&mut desk, 7, json!({ "ok": true, "chunks": chunks }));
    let text = "Call `probe` for `a[1]` of each.\n\nThe level is low [2].\n".to_owned();
    desk.record(Event::Turn(TurnEvent::TextAdded { turn: TurnId(1), text }));
    end(&mut desk, 1);
    desk.show(&mut pane, 60, 20);
    let effects = desk.press(&mut pane, Action::Open);
    let [Effect::Open(overlay)] = &effects[..] else { panic!("{effects:?}") };
    let Overlay::Sources(list) = &**overlay else { panic!("{overlay:?}") };
    let here = SourceList::at((CallId(7), 1), desk.cx().view).unwrap();
    assert_eq!(format!("{list:?}"), format!("{here:?}"), "the source with the number 2");
    assert!(SourceList::at((CallId(7), 2), desk.cx().view).is_none());
}

/// A turn that was given five passages and answered with that text.
fn answered(text: &str) -> PaneBench {
    let mut desk = PaneBench::new();
    turn(&mut desk, 1, "AnswerAgent", "");
    call(&mut desk, 1, 7, "retrieve_docs", json!({ "query": "probe" }));
    let chunk = |number: u64| json!({ "title": "T", "source": "s", "text": "t", "number": number });
    let chunks: Vec<_> = (1..=5).map(chunk).collect();
    answer(&mut desk, 7, json!({ "ok": true, "chunks": chunks }));
    let text = text.to_owned();
    desk.record(Event::Turn(TurnEvent::TextAdded { turn: TurnId(1), text }));
    end(&mut desk, 1);
    desk
}

/// The numbers of the passages that the key stops at after the rows of the list, until there is
/// no more.
fn stops(desk: &PaneBench, pane: &mut ChatPane, way: Action) -> Vec<usize> {
    let mut stops = Vec::new();
    for _ in 0..30 {
        let before = pane.selected;
        desk.press(pane, way);
        desk.show(pane, 60, 12);
        if pane.selected == before {
            break;
        }
        if let Some((_, FoldItem::Cited((_, place), _))) = pane.selected {
            stops.push(place + 1);
        }
    }
    stops
}

#[test]
fn each_citation_is_a_stop_of_its_own_in_both_directions() {
    for (text, wanted) in [
        ("First [1].\n\nSecond [2].\n\nFirst again [1].\n\nThird [3].", vec![1, 2, 1, 3]),
        ("It is that [1][2].\n\nOr other [3, 4].", vec![1, 2, 3, 4]),
        ("```c\nint a[3] = {0};\n```\n\nSo `b[2]` it is [Source 5] and [1-3].", vec![5, 1, 2, 3]),
    ] {
        let desk = answered(text);
        let mut pane = ChatPane::default();
        desk.show(&mut pane, 60, 12);
        desk.press(&mut pane, Action::Top);
        desk.show(&mut pane, 60, 12);
        assert_eq!(stops(&desk, &mut pane, Action::NextFold), wanted, "{text}");
        let back: Vec<usize> = wanted.iter().rev().skip(1).copied().collect();
        assert_eq!(stops(&desk, &mut pane, Action::PreviousFold), back, "{text}");
    }
}

#[test]
fn a_click_opens_the_citation_it_hits() {
    let desk = answered("It is that [1][2].");
    let mut pane = ChatPane::default();
    let shown = desk.show(&mut pane, 60, 20);
    // The title stands before the rows of the pane.
    let mut rows = shown.lines().skip(1).enumerate();
    let (y, row) = rows.find(|(_, row)| row.contains("[1][2]")).unwrap();
    let x = row.find("[2]").unwrap();
    for (x, place) in [(x - 3, 0), (x + 1, 1), (50, 1), (3, 0)] {
        pane.on_click(Position::new(x as u16, y as u16), &desk.cx());
        let (_, item) = pane.selected.unwrap();
        assert!(matches!(item, FoldItem::Cited((_, at), _) if at == place), "{x}: {item:?}");
    }
}

/// What a model has written so far of the arguments of a call.
fn open_call(number: u32, tool: &str, json: &str) -> OpenCall {
    let mut args = GrowingJson::default();
    args.push(json);
    let (bytes, args) = (args.bytes(), args.values());
    OpenCall { turn: TurnId(6), call: CallId(number), tool: tool.into(), bytes, args }
}

#[test]
fn a_call_shows_while_it_is_written_and_the_whole_one_takes_its_place() {
    let mut desk = desk();
    let mut pane = ChatPane::default();
    turn(&mut desk, 6, "CodeReviewerAgent", "I write it.");
    let code = "#include <stdio.h>\n\nvoid app_main(void)\n{\n    puts(\"a\\u001b[31mb\");\n";
    let files = json!([
        { "file_name": "main/first.c", "code": "int a;\nint b;\n" },
        { "file_name": "main/main.c", "code": code },
    ]);
    let reason = "adds the entry point that the build asked for, with the pins of the board";
    let whole = json!({ "reason": reason, "attempt": 2, "files": files }).to_string();
    let (cut, _) = whole.rsplit_once('"').unwrap();
    let second = open_call(31, "read\x1b[31m_files", "{\"paths\": [\"a.c\", \"b");
    desk.view.open_calls = [open_call(30, "generate_code", cut), second].into();
    let shown = desk.show(&mut pane, 60, 24);
    assert_snapshot!("open_call", shown);
    assert!(!shown.contains('{') || shown.contains("    {"), "no JSON: {shown}");
    assert!(!shown.contains("\\n") && !shown.contains('\u{1b}'), "{shown}");
    // It grows.
    desk.view.open_calls = [open_call(30, "generate_code", &format!("{cut}}}\\n"))].into();
    assert!(desk.show(&mut pane, 60, 24).contains("6 lines so far"));
    // The whole one is recorded before the open one goes.
    call(&mut desk, 6, 30, "generate_code", serde_json::from_str(&whole).unwrap());
    let shown = desk.show(&mut pane, 60, 24);
    assert!(shown.contains("▸ generate_code") && !shown.contains("so far"), "{shown}");
    // What a turn was writing when it ended is gone.
    desk.view.open_calls = [open_call(32, "read_files", "{\"paths\"")].into();
    assert!(desk.show(&mut pane, 60, 24).contains("read_files"));
    end(&mut desk, 6);
    assert!(!desk.show(&mut pane, 60, 24).contains("read_files"));
}

#[test]
fn a_long_argument_shows_its_newest_words_whole() {
    let mut desk = desk();
    let mut pane = ChatPane::default();
    turn(&mut desk, 6, "CodeReviewerAgent", "I ask.");
    let text = "the configuration register ".repeat(400);
    let json = json!({ "question": text.trim_end() }).to_string();
    desk.view.open_calls = [open_call(30, "ask_user", json.trim_end_matches("\"}"))].into();
    let shown = desk.show(&mut pane, 44, 20);
    let rows: Vec<&str> = shown.lines().filter(|row| row.starts_with("      ")).collect();
    assert!((3..=10).contains(&rows.len()), "{shown}");
    assert!(shown.contains("question: …"), "{shown}");
    let words = rows.iter().flat_map(|row| row.split_whitespace());
    for word in words.filter(|word| *word != "…" && *word != "question:") {
        assert!(["the", "configuration", "register"].contains(&word), "{word} in {shown}");
    }
}

#[test]
fn a_plan_that_the_message_before_tells_is_not_told_again() {
    let steps = ["Write `main.c`", "Build it"];
    let items: Vec<PlanItem> =
        steps.iter().map(|task| PlanItem { task: task.replace('`', ""), agent: None }).collect();
    for (message, times) in [("1. **Write** `main.c`\n2. Build it\n", 1), ("Here it is.", 1)] {
        let mut desk = PaneBench::new();
        turn(&mut desk, 1, "PlanningAgent", message);
        end(&mut desk, 1);
        let by = Some("PlanningAgent".into());
        desk.record(Event::Team(TeamEvent::PlanMade { by, items: items.clone() }));
        let shown = desk.show(&mut ChatPane::default(), 60, 20);
        assert_eq!(shown.matches("Build it").count(), times, "{shown}");
        assert!(shown.contains("plan of PlanningAgent"), "{shown}");
    }
}

#[test]
fn a_turn_that_only_chooses_who_speaks_has_no_row() {
    let mut desk = PaneBench::new();
    turn(&mut desk, 1, "SelectorAgent", "{\"next\": \"BuildAgent\", \"why\": \"it is saved\"}");
    end(&mut desk, 1);
    let (agent, reason) = ("BuildAgent".into(), "SelectorAgent chose BuildAgent".into());
    let chosen = TurnEvent::SpeakerChosen { agent, reason, choice: None, step: None };
    desk.record(Event::Turn(chosen));
    let mut pane = ChatPane::default();
    let shown = desk.show(&mut pane, 60, 12);
    assert!(!shown.contains("◆ SelectorAgent"), "{shown}");
    assert!(shown.contains("→ SelectorAgent chose BuildAgent"), "{shown}");
    for action in [Action::Up, Action::PreviousTurn, Action::Top, Action::NextTurn] {
        desk.press(&mut pane, action);
        desk.show(&mut pane, 60, 3);
    }
}

#[test]
fn a_call_that_has_asked_the_person_waits() {
    let mut desk = PaneBench::new();
    turn(&mut desk, 1, "WriterAgent", "I ask.");
    call(&mut desk, 1, 1, "ask_user", json!({ "question": "Should it blink?" }));
    let (question, agent) = (QuestionId(1), Some("WriterAgent".into()));
    let (text, options) = ("Should it blink?".to_owned(), Vec::new());
    desk.record(Event::Person(PersonEvent::Asked { question, agent, text, options, step: None }));
    let shown = desk.show(&mut ChatPane::default(), 60, 12);
    let row = shown.lines().find(|row| row.contains("ask_user")).unwrap();
    assert!(row.contains("waiting"), "{shown}");
}

#[test]
fn a_retry_tells_why_also_where_there_is_little_room() {
    let mut desk = PaneBench::new();
    turn(&mut desk, 1, "WriterAgent", "");
    let fault = UserError::new(
        "The model of this profile did not answer as it should have done",
        "429 too many requests",
        "",
    );
    let (turn, wait_millis) = (TurnId(1), 0);
    let faulted = ModelEvent::Faulted { turn, attempt: 2, most: 6, wait_millis, fault };
    desk.record(Event::Model(faulted));
    let shown = desk.show(&mut ChatPane::default(), 60, 12);
    assert!(shown.contains("429 too many"), "{shown}");
}
