//! Tests of the review at a desk.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use insta::assert_snapshot;

use super::board_tests::flash_plan;
use super::*;
use crate::model::ProposalEvent;
use crate::model::Shown as ShownHash;
use crate::model::event::RunStart;
use crate::model::*;
use crate::ui::overlay::Overlay;
use crate::ui::pane::{Mode, UiCommand};
use crate::ui::panes::pane_bench::{PaneBench, SessionStore};

const OLD: &str = "#include \"i2c_scan.h\"\n#include \"driver/gpio.h\"\n#include \"esp_log.h\"\n\n\
    static const char *TAG = \"scan\";\n";
const NEW: &str = "#include \"i2c_scan.h\"\n#include \"driver/i2c_master.h\"\n#include \"esp_log.h\"\n\n\
    static const char *TAG = \"scan\";\n";

pub(super) fn pane(desk: &PaneBench) -> ReviewPane {
    ReviewPane::new(Arc::<SessionStore>::clone(&desk.store))
}

/// What a key asked of the engine.
fn intents(effects: Vec<Effect>) -> Vec<Intent> {
    let intent = |effect| match effect {
        Effect::Command(UiCommand::Intent(intent)) => Some(intent),
        _ => None,
    };
    effects.into_iter().filter_map(intent).collect()
}

fn words(effects: &[Effect]) -> String {
    let words = effects.iter().map(|effect| match effect {
        Effect::Notice(notice) => notice.text.clone(),
        other => format!("{other:?}"),
    });
    words.collect()
}

#[test]
fn an_edit_at_three_widths() {
    let mut desk = PaneBench::new();
    desk.propose_save("main/src/i2c_scan.c", Some(OLD), NEW);
    let mut pane = pane(&desk);
    desk.show(&mut pane, 60, 20);
    desk.wait(400);
    assert_snapshot!("edit_44", desk.show(&mut pane, 44, 20));
    assert_snapshot!("edit_80", desk.show(&mut pane, 80, 18));
    assert_snapshot!("edit_120", desk.show(&mut pane, 120, 18));
}

#[test]
fn each_kind_of_change() {
    let mut desk = PaneBench::new();
    let mut pane = pane(&desk);
    let mut shown = vec![desk.show(&mut pane, 70, 4)];
    desk.propose_save("main/new.h", None, "#pragma once\nint scan(void);\n");
    shown.push(desk.show(&mut pane, 70, 12));
    let base = desk.store(b"int old;\n");
    let path = ProjectPath::new("main/old.c").unwrap();
    desk.propose(Change::Delete { path, base }, (1, 1));
    desk.press(&mut pane, Action::NextProposal);
    shown.push(desk.show(&mut pane, 70, 12));
    desk.propose(Change::Flash(flash_plan()), (1, 1));
    desk.press(&mut pane, Action::NextProposal);
    shown.push(desk.show(&mut pane, 70, 18));
    assert_snapshot!(shown.join("\n"));
}

/// A file with a changed word, a block that moves, and a call that gets an `if` around it.
fn versions() -> (String, String) {
    let moved = "static void print_bus(const bus_t *bus)\n{\n    ESP_LOGI(TAG, \"bus %d\", bus->port);\n}\n\n";
    let filler: String = (0..14).map(|n| format!("static int unused_{n};\n")).collect();
    let scan = "int scan(bus_t *bus)\n{\n    int found = 0;\n    probe(bus, 0x3c);\n    return found;\n}\n";
    let better = "int scan(bus_t *bus)\n{\n    int found = 1;\n    if (bus) {\n        probe(bus, 0x3c);\n    }\n    return found;\n}\n";
    (format!("{moved}{filler}{scan}"), format!("{filler}{better}\n{moved}"))
}

#[test]
fn ways_to_read() {
    let mut desk = PaneBench::new();
    let (old, new) = versions();
    desk.propose_save("main/src/i2c_scan.c", Some(&old), &new);
    let mut pane = pane(&desk);
    desk.show(&mut pane, 60, 20);
    desk.wait(400);
    assert_snapshot!("read_unified", desk.show(&mut pane, 80, 40));
    desk.press(&mut pane, Action::ToggleBlanks);
    assert_snapshot!("read_blanks_folded", desk.show(&mut pane, 80, 40));
    desk.press(&mut pane, Action::ToggleBlanks);
    desk.press(&mut pane, Action::ToggleSideBySide);
    assert_snapshot!("read_beside", desk.show(&mut pane, 118, 36));
    desk.press(&mut pane, Action::WholeFile);
    assert_snapshot!("read_whole", desk.show(&mut pane, 118, 36));
    desk.press(&mut pane, Action::ToggleWrap);
    desk.press(&mut pane, Action::ToggleSideBySide);
    desk.press(&mut pane, Action::Right);
    assert_snapshot!("read_scrolled", desk.show(&mut pane, 44, 24));
}

#[test]
fn what_is_folded_or_cut_still_has_to_be_seen() {
    let mut desk = PaneBench::new();
    desk.propose_save("main/z.c", None, "z();\n");
    let mut pane = pane(&desk);
    desk.show(&mut pane, 80, 18);
    desk.press(&mut pane, Action::ToggleBlanks);
    desk.propose_save("main/a.c", Some("  a();\n"), "a();\n");
    desk.press(&mut pane, Action::NextProposal);
    let shown = desk.show(&mut pane, 80, 18);
    assert!(shown.contains("~ a();") && shown.contains("show 1 unseen"), "{shown}");
    desk.wait(400);
    assert_eq!(intents(desk.press(&mut pane, Action::Approve)), []);
    let shown = desk.show(&mut pane, 80, 18);
    assert!(shown.contains("−   a();") && shown.contains("a approve"), "{shown}");

    let long = format!("int a; // {}\n", "x".repeat(100));
    desk.propose_save("main/b.c", None, &long);
    desk.press(&mut pane, Action::NextProposal);
    desk.press(&mut pane, Action::ToggleWrap);
    let shown = desk.show(&mut pane, 60, 18);
    assert!(shown.contains('›') && shown.contains("show 1 unseen"), "{shown}");
    desk.wait(400);
    assert_eq!(intents(desk.press(&mut pane, Action::Approve)), []);
    let shown = desk.show(&mut pane, 60, 18);
    assert!(shown.contains("show 1 unseen"), "the start is not enough: {shown}");
    assert_eq!(intents(desk.press(&mut pane, Action::Approve)), []);
    assert!(desk.show(&mut pane, 60, 18).contains("a approve"));
}

#[test]
fn what_cannot_be_shown_is_never_approved_by_the_plain_key() {
    let mut desk = PaneBench::new();
    let text = format!("int a;\nchar x[] = \"{}\";\n", "y".repeat(300_000));
    desk.propose_save("main/a.c", None, &text);
    let mut pane = pane(&desk);
    for _ in 0..400 {
        desk.show(&mut pane, 80, 18);
        if pane.own().is_some_and(|shown| !shown.change.load.is_busy()) {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    desk.wait(400);
    desk.press(&mut pane, Action::ToggleWrap);
    let mut message = String::new();
    for _ in 0..6_000 {
        desk.show(&mut pane, 80, 18);
        let effects = desk.press(&mut pane, Action::Approve);
        message = words(&effects);
        assert_eq!(intents(effects), []);
        if !message.is_empty() {
            break;
        }
    }
    assert_eq!(message, "1 changed line is too long or too many to be shown here");
    let unseen = intents(desk.press(&mut pane, Action::ApproveUnseen));
    assert!(
        matches!(unseen[..], [Intent::Decide { shown: ShownHash { unseen: 1, .. }, .. }]),
        "{unseen:?}"
    );
}

#[test]
fn what_came_of_it_in_words() {
    let mut desk = PaneBench::new();
    let mut pane = pane(&desk);
    let mut feet = Vec::new();
    let mut foot = |desk: &PaneBench, pane: &mut ReviewPane| {
        let shown = desk.show(pane, 90, 14);
        feet.push(shown.trim_end().lines().last().unwrap_or_default().to_owned());
    };
    let error = UserError::new("cannot write a.c", "the disk is full", "make room");
    let outcomes = [
        Outcome::Applied,
        Outcome::Stale { found: None },
        Outcome::Failed(error),
        Outcome::Interrupted("the file holds the old content".into()),
    ];
    for outcome in outcomes {
        let id = desk.propose_save("a.c", None, "int a;\n");
        desk.decide(id, Verdict::Approve, DecidedBy::Person, 3);
        foot(&desk, &mut pane);
        desk.record(Event::Proposal(ProposalEvent::Settled { proposal: id, outcome }));
        foot(&desk, &mut pane);
    }
    let id = desk.propose_save("a.c", None, "int a;\n");
    let reason = "too much".to_owned();
    desk.decide(id, Verdict::reject(reason), DecidedBy::Policy("no a.c".into()), 0);
    desk.record(Event::Proposal(ProposalEvent::Settled { proposal: id, outcome: Outcome::Denied }));
    foot(&desk, &mut pane);
    let id = desk.propose(Change::Flash(flash_plan()), (1, 1));
    desk.decide(id, Verdict::Approve, DecidedBy::Person, 0);
    foot(&desk, &mut pane);
    desk.record(Event::Proposal(ProposalEvent::FlashProgress {
        proposal: id,
        done: 52_000,
        total: 208_000,
    }));
    foot(&desk, &mut pane);
    assert_snapshot!(feet.join("\n"));
}

#[test]
fn a_decision_binds_to_what_is_shown() {
    let mut desk = PaneBench::new();
    let id = desk.propose_save("main/a.c", Some(OLD), NEW);
    let mut pane = pane(&desk);
    assert_eq!(intents(desk.press(&mut pane, Action::Approve)), [], "nothing was shown");
    assert!(desk.show(&mut pane, 80, 18).contains("your decision"));
    let shown = desk.view.review.get(id).unwrap().proposal.change.hash();
    let subject =
        |waits| Some((Subject::Proposal { id, hash: shown, waits, is_read: true }, false));
    assert_eq!(pane.subject(&desk.view), subject(true));
    let approve = Intent::Decide { shown: ShownHash::whole(id, shown), verdict: Verdict::Approve };
    assert_eq!(intents(desk.press(&mut pane, Action::Approve)), [approve]);
    pane.queue.send(id, desk.now());
    assert!(desk.show(&mut pane, 80, 18).contains("sending your decision"));
    assert!(words(&desk.press(&mut pane, Action::Approve)).contains("being sent"));
    assert_eq!(pane.subject(&desk.view), subject(false));
}

#[test]
fn unseen_lines_are_shown_before_they_are_approved() {
    let mut desk = PaneBench::new();
    let text: String = (0..40).map(|n| format!("int line_{n};\n")).collect();
    desk.propose_save("main/a.c", None, &text);
    let mut pane = pane(&desk);
    let shown = desk.show(&mut pane, 80, 18);
    assert!(shown.contains("a show 26 unseen"), "{shown}");
    desk.wait(400);
    let unseen = intents(desk.press(&mut pane, Action::ApproveUnseen));
    assert!(
        matches!(unseen[..], [Intent::Decide { shown: ShownHash { unseen: 26, .. }, .. }]),
        "{unseen:?}"
    );
    desk.wait(6_000);
    let mut presses = 0;
    let intents = loop {
        desk.show(&mut pane, 80, 18);
        desk.wait(400);
        let intents = intents(desk.press(&mut pane, Action::Approve));
        if !intents.is_empty() {
            break intents;
        }
        presses += 1;
        assert!(presses < 10);
    };
    assert!(matches!(intents[..], [Intent::Decide { shown: ShownHash { unseen: 0, .. }, .. }]));
    assert_eq!(presses, 2);
}

/// The keys that come once all was seen do not cover a line of it.
#[test]
fn what_counts_as_seen_stays_on_screen() {
    for (lines, width) in (40..100).flat_map(|width| [(20, width), (31, width)]) {
        let mut desk = PaneBench::new();
        let text: String = (1..=lines).map(|n| format!("int line_{n};\n")).collect();
        desk.propose_save("main/a.c", None, &text);
        let mut pane = pane(&desk);
        let rows = |text: &str| text.lines().filter(|row| row.contains("int line_")).count();
        desk.show(&mut pane, width, 18);
        while !desk.show(&mut pane, width, 18).contains("your decision") {
            desk.wait(400);
            assert!(intents(desk.press(&mut pane, Action::Approve)).is_empty());
            let (moved, later) = (desk.show(&mut pane, width, 18), desk.show(&mut pane, width, 18));
            assert_eq!(rows(&moved), rows(&later), "{lines}: {moved}\n{later}");
        }
        let shown = desk.show(&mut pane, width, 18);
        assert!(shown.contains("your decision"), "{shown}");
        assert!(shown.contains(&format!("int line_{lines};")), "{lines}: {shown}");
    }
}

#[test]
fn a_narrow_pane_never_hides_a_part_of_a_changed_line() {
    let mut desk = PaneBench::new();
    let text = format!("int a; // {}\n", "long ".repeat(60));
    desk.propose_save("main/a.c", None, &text);
    let mut pane = pane(&desk);
    let shown = desk.show(&mut pane, 40, 12);
    assert!(shown.contains('↪') && shown.contains("show 1 unseen"), "{shown}");
    assert!(!shown.lines().any(|row| row.contains("long…")));
}

#[test]
fn a_replay_decides_nothing() {
    let mut desk = PaneBench::new();
    desk.propose_save("main/a.c", Some(OLD), NEW);
    desk.mode = Mode::Replay;
    let mut pane = pane(&desk);
    assert!(desk.show(&mut pane, 80, 18).contains("nothing can be decided"));
    desk.wait(1_000);
    for action in [Action::Approve, Action::ApproveUnseen, Action::ApproveRest, Action::Reject] {
        let message = words(&desk.press(&mut pane, action));
        assert_eq!(message, "this is a replay; nothing can be decided");
    }
}

#[test]
fn the_rest_of_a_batch_is_listed_with_what_was_not_seen() {
    let mut desk = PaneBench::new();
    for (index, path) in (1..).zip(["main/a.c", "main/b.c"]) {
        let change = Change::Save {
            path: ProjectPath::new(path).unwrap(),
            base: None,
            content: desk.store(format!("int {index};\nint more;\n").as_bytes()),
        };
        desk.propose_checked(change, (index, 2), Facts::default(), Vec::new());
    }
    desk.propose_save("main/other.c", None, "int other;\n");
    let mut pane = pane(&desk);
    assert!(desk.show(&mut pane, 80, 18).contains("A list all 2 of this batch"));
    desk.wait(400);
    let mut effects = desk.press(&mut pane, Action::ApproveRest);
    let Some(Effect::Open(mut overlay)) = effects.pop() else { panic!("{effects:?}") };
    let intents = intents(overlay.on_action(Action::ApproveAll, &desk.cx()));
    assert_eq!(intents, [], "lines that were not on screen take another key");
    let intents = self::intents(overlay.on_action(Action::AcceptUnseen, &desk.cx()));
    let [Intent::DecideAll { shown, verdict: Verdict::Approve }] = intents.as_slice() else {
        panic!("{intents:?}")
    };
    let unseen: Vec<_> = shown.iter().map(|shown| (shown.proposal.0, shown.unseen)).collect();
    assert_eq!(unseen, [(1, 0), (2, 2)]);
}

#[test]
fn the_rest_of_a_batch_is_rejected_with_the_same_words() {
    let mut desk = PaneBench::new();
    for (index, path) in (1..).zip(["main/a.c", "main/b.c"]) {
        let content = desk.store(format!("int {index};\n").as_bytes());
        let path = ProjectPath::new(path).unwrap();
        desk.propose(Change::Save { path, base: None, content }, (index, 2));
    }
    let mut pane = pane(&desk);
    desk.show(&mut pane, 80, 18);
    desk.wait(400);
    let Some(Effect::Open(mut list)) = desk.press(&mut pane, Action::ApproveRest).pop() else {
        panic!("no list")
    };
    let Some(Effect::Open(mut words)) = list.on_action(Action::RejectAll, &desk.cx()).pop() else {
        panic!("no words")
    };
    for c in "no".chars() {
        words.on_text(&KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
    }
    let intents = intents(words.on_action(Action::Accept, &desk.cx()));
    let [Intent::DecideAll { shown, verdict }] = intents.as_slice() else { panic!("{intents:?}") };
    assert_eq!(*verdict, Verdict::reject("no"));
    let mut ids: Vec<_> = shown.iter().map(|shown| shown.proposal.0).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
}

#[test]
fn a_rejected_change_stays_readable() {
    let mut desk = PaneBench::new();
    let id = desk.propose_save("main/a.c", Some(OLD), NEW);
    let mut pane = pane(&desk);
    desk.show(&mut pane, 80, 18);
    desk.wait(400);
    let effects = desk.press(&mut pane, Action::Reject);
    assert!(
        matches!(&effects[..], [Effect::Open(overlay)] if matches!(**overlay, Overlay::Words(_)))
    );
    let verdict = Verdict::reject("keep gpio.h");
    desk.decide(id, verdict, DecidedBy::Person, 0);
    desk.record(Event::Proposal(ProposalEvent::Settled { proposal: id, outcome: Outcome::Denied }));
    desk.propose_save("main/b.c", None, "int b;\n");
    assert!(desk.show(&mut pane, 80, 18).contains("main/b.c"));
    desk.press(&mut pane, Action::PreviousProposal);
    let shown = desk.show(&mut pane, 80, 18);
    assert!(shown.contains("driver/i2c_master.h") && shown.contains("“keep gpio.h”"), "{shown}");
    assert!(shown.contains("1 waiting"), "{shown}");
    desk.wait(1_000);
    assert!(words(&desk.press(&mut pane, Action::Approve)).contains("decided already"));
    desk.press(&mut pane, Action::Back);
    assert!(desk.show(&mut pane, 80, 18).contains("main/b.c"));
}

#[test]
fn a_change_that_cannot_be_read_can_only_be_rejected() {
    let mut desk = PaneBench::new();
    let content = BlobRef { hash: ContentHash::of(b"gone"), bytes: 4 };
    let path = ProjectPath::new("main/a.c").unwrap();
    desk.propose(Change::Save { path, base: None, content }, (1, 1));
    let mut pane = pane(&desk);
    assert!(desk.show(&mut pane, 80, 18).contains("cannot show the change"));
    desk.wait(1_000);
    assert!(words(&desk.press(&mut pane, Action::Approve)).contains("cannot be approved"));
    assert!(matches!(desk.press(&mut pane, Action::Reject)[..], [Effect::Open(_)]));
}

#[test]
fn deciding_a_later_one_goes_on_with_the_oldest() {
    let mut desk = PaneBench::new();
    desk.propose_save("main/a.c", None, "int a;\n");
    let second = desk.propose_save("main/b.c", None, "int b;\n");
    let mut pane = pane(&desk);
    desk.show(&mut pane, 80, 18);
    desk.press(&mut pane, Action::NextProposal);
    assert!(desk.show(&mut pane, 80, 18).contains("Review 2/2 · save main/b.c"));
    let verdict = Verdict::reject("");
    desk.decide(second, verdict, DecidedBy::Person, 0);
    assert!(desk.show(&mut pane, 80, 18).contains("Review 1/1 · save main/a.c"));
}

#[test]
fn what_an_earlier_run_decided_leaves_the_review_when_the_next_one_begins() {
    let mut desk = PaneBench::new();
    let id = desk.propose_save("main/a.c", None, "int a;\n");
    desk.decide(id, Verdict::Approve, DecidedBy::Person, 0);
    let mut pane = pane(&desk);
    assert!(desk.show(&mut pane, 80, 18).contains("int a;"));
    begin_request(&mut desk, 2);
    let shown = desk.show(&mut pane, 80, 18);
    assert!(shown.contains("Nothing to review yet"), "{shown}");
    // It can still be looked at, and what comes next is shown by itself.
    desk.press(&mut pane, Action::PreviousProposal);
    assert!(desk.show(&mut pane, 80, 18).contains("int a;"));
    desk.propose_save("main/b.c", None, "int b;\n");
    pane.queue.back();
    assert!(desk.show(&mut pane, 80, 18).contains("int b;"));
}

#[test]
fn a_replay_shows_no_change_of_an_earlier_request_as_if_it_was_of_this_one() {
    let mut desk = PaneBench::new();
    let id = desk.propose_save("main/a.c", None, "int a;\n");
    desk.decide(id, Verdict::Approve, DecidedBy::Person, 0);
    let (proposal, outcome) = (id, Outcome::Applied);
    desk.record(Event::Proposal(ProposalEvent::Settled { proposal, outcome }));
    let mut pane = pane(&desk);
    pane.on_request(ReviewRequest::Follow { newest: true }, &desk.view.review);
    let shown = desk.show(&mut pane, 80, 18);
    assert!(shown.contains("Review · #1 done · save main/a.c"), "{shown}");
    begin_request(&mut desk, 2);
    let shown = desk.show(&mut pane, 80, 18);
    assert!(!shown.contains("int a;") && shown.contains("Changed before"), "{shown}");
    assert!(shown.contains("Review · no change waits"), "{shown}");
    desk.propose_save("main/b.c", None, "int b;\n");
    assert!(desk.show(&mut pane, 80, 18).contains("int b;"));
}

fn begin_request(desk: &mut PaneBench, number: u32) {
    let start = RunStart {
        number,
        task: "more".into(),
        team: "generate".into(),
        why: String::new(),
        changed: Vec::new(),
    };
    desk.record(Event::Session(SessionEvent::RunStarted(Box::new(start))));
}

#[test]
fn a_step_to_a_proposal_in_a_replay_shows_it() {
    let mut desk = PaneBench::new();
    desk.propose_save("main/a.c", None, "int a;\n");
    desk.propose_save("main/b.c", None, "int b;\n");
    let mut pane = pane(&desk);
    assert!(desk.show(&mut pane, 80, 18).contains("int a;"), "the oldest that waits");
    pane.on_request(ReviewRequest::Follow { newest: true }, &desk.view.review);
    assert!(desk.show(&mut pane, 80, 18).contains("int b;"));
    pane.on_request(ReviewRequest::Follow { newest: false }, &desk.view.review);
    assert!(desk.show(&mut pane, 80, 18).contains("int a;"));
}
