//! Tests of the whole screen: what it shows, and what keys may and may not do.

use std::time::Duration;

use crossterm::event::Event as TerminalEvent;

use super::fixture::UiBench;
use super::focus::TYPING_TIME;
use super::layout::PaneId;
use super::*;
use crate::model::event::RunStart;
use crate::model::{
    Event, Intent, PersonEvent, QuestionId, SessionEvent, SessionOutcome, Shown, TimelineCommand,
    UserError, Verdict,
};

pub(super) fn intents(commands: &[UiCommand]) -> Vec<Intent> {
    let intent = |command: &UiCommand| match command {
        UiCommand::Intent(intent) => Some(intent.clone()),
        _ => None,
    };
    commands.iter().filter_map(intent).collect()
}

#[test]
fn screens_at_work() {
    for (width, height) in [(80, 24), (100, 32), (120, 40), (200, 60)] {
        let desk = UiBench::at_work(width, height);
        insta::assert_snapshot!(format!("work_{width}x{height}"), desk.screen());
    }
}

#[test]
fn screens_while_a_proposal_waits() {
    for (width, height) in [(80, 24), (100, 32), (120, 40), (200, 60)] {
        let mut desk = UiBench::at_work(width, height);
        desk.propose(1);
        desk.pass(20);
        desk.pass(400);
        insta::assert_snapshot!(format!("waiting_{width}x{height}"), desk.screen());
    }
}

#[test]
fn screens_of_questions_and_ends() {
    let mut desk = UiBench::at_work(80, 24);
    desk.ask();
    desk.sync();
    insta::assert_snapshot!("question", desk.screen());
    let mut desk = UiBench::at_work(80, 24);
    let failure = UserError::new("the build failed", "10 attempts were not enough", "look at it");
    desk.end(SessionOutcome::Failed(failure));
    desk.sync();
    insta::assert_snapshot!("failed", desk.screen());
    let mut desk = UiBench::at_work(120, 40);
    desk.press("?");
    insta::assert_snapshot!("help", desk.screen());
    desk.press("esc q");
    insta::assert_snapshot!("quit", desk.screen());
    let mut desk = UiBench::at_work(120, 40);
    desk.record(10, Event::Person(PersonEvent::Paused));
    desk.sync();
    desk.press("q");
    assert!(desk.screen().contains("The run is paused."), "{}", desk.screen());
}

#[test]
fn a_small_terminal_says_what_it_needs() {
    let mut desk = UiBench::at_work(59, 15);
    desk.propose(1);
    desk.pass(1000);
    let screen = desk.screen();
    assert_eq!(screen.trim(), "firmhand needs 60×16, this is 59×15 · 1 waiting");
    assert_eq!(desk.press("a ctrl-a enter"), []);
    let size = TerminalEvent::Resize(80, 24);
    assert_eq!(desk.event(&size), []);
    assert!(desk.screen().lines().count() > 15);
}

#[test]
fn the_header_drops_whole_parts() {
    for width in 60..160 {
        let mut desk = UiBench::at_work(width, 24);
        desk.propose(1);
        desk.pass(10);
        let screen = desk.screen();
        let header = screen.lines().next().unwrap();
        assert!(header.contains("1 waiting") && !header.contains('…'), "{header}");
    }
}

#[test]
fn the_header_names_the_team_of_the_run_that_goes_on() {
    let mut desk = UiBench::at_work(120, 40);
    let outcome = SessionOutcome::Completed;
    desk.record(10, Event::Session(SessionEvent::Ended { outcome }));
    let start = RunStart {
        number: 2,
        task: "warn".into(),
        team: "edit-generated".into(),
        why: String::new(),
        changed: Vec::new(),
    };
    desk.record(10, Event::Session(SessionEvent::RunStarted(Box::new(start))));
    desk.sync();
    let screen = desk.screen();
    let header = screen.lines().next().unwrap();
    assert!(header.contains("edit-generated"), "{header}");
    // The head of the chat is about what is in sight below it, at once.
    desk.event(&TerminalEvent::Resize(80, 24));
    desk.press("2");
    assert!(desk.screen().contains("\nRequest 2 warn"), "{}", desk.screen());
    desk.press("g g");
    assert!(desk.screen().contains("\nRequest 1 Scan the I2C bus"), "{}", desk.screen());
    desk.press("G");
    assert!(desk.screen().contains("\nRequest 2 warn"), "{}", desk.screen());
}

#[test]
fn a_key_without_a_meaning_says_so() {
    let mut desk = UiBench::at_work(80, 24);
    assert_eq!(desk.press("x"), []);
    assert!(desk.last_row().starts_with("`x` does nothing here · ? help"), "{}", desk.last_row());
    desk.press("g");
    assert!(desk.last_row().starts_with("g …"), "{}", desk.last_row());
    desk.press("x");
    assert!(desk.last_row().starts_with("`g x` does nothing"), "{}", desk.last_row());
    desk.pass(10_000);
    assert!(!desk.last_row().contains("does nothing"), "{}", desk.last_row());
}

#[test]
fn every_key_of_every_pane_changes_something_or_says_why_not() {
    for pane in ["1", "2", "3", "4"] {
        for key in "abcdefghjklmnoprstuvwxyABCDEFGHIJKLMNOPQRSTUVWXYZ056789[]{}<>.,;:+-$!".chars() {
            let mut desk = UiBench::at_work(120, 40);
            desk.press(pane);
            desk.press("G");
            let before = (desk.screen(), desk.last_row());
            let commands = desk.press(&key.to_string());
            // At the end of something a movement towards it has nothing left to do.
            let is_movement = "jGFlkh+-".contains(key);
            assert!(
                is_movement || !commands.is_empty() || before != (desk.screen(), desk.last_row()),
                "`{key}` in pane {pane} did nothing"
            );
        }
    }
}

#[test]
fn a_proposal_calls_the_person_and_lets_go_again() {
    let mut desk = UiBench::at_work(80, 24);
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Chat);
    let proposal = desk.propose(1);
    desk.pass(10);
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Review);
    let decision = crate::model::Decision {
        verdict: Verdict::Approve,
        by: crate::model::DecidedBy::Person,
        shown: proposal.change.hash(),
        unseen: 0,
        stops: 0,
    };
    desk.record(
        10,
        Event::Proposal(crate::model::ProposalEvent::Decided {
            proposal: proposal.id,
            decision: Box::new(decision),
        }),
    );
    desk.pass(10);
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Chat);
}

#[test]
fn approval_takes_one_deliberate_key() {
    let mut desk = UiBench::at_work(120, 40);
    let proposal = desk.propose(1);
    desk.sync();
    assert_eq!(desk.press_after("a", 299), []);
    assert!(desk.last_row().contains("not decided"), "{}", desk.last_row());
    let expected = Intent::Decide {
        shown: Shown::whole(proposal.id, proposal.change.hash()),
        verdict: Verdict::Approve,
    };
    assert_eq!(desk.press_after("a", 1000), [], "something might follow");
    assert_eq!(intents(&desk.rest()), [expected]);
}

#[test]
fn a_key_that_is_held_or_pasted_never_decides() {
    let mut desk = UiBench::at_work(120, 40);
    desk.propose(1);
    desk.pass(1000);
    desk.event(&TerminalEvent::Paste("aaaa\n".into()));
    desk.press("esc");
    for key in ["x", "a", "a", "a"] {
        assert_eq!(intents(&desk.press_after(key, 1)), []);
    }
    for _ in 0..40 {
        assert_eq!(intents(&desk.press_after("a", 33)), []);
    }
}

#[test]
fn while_writing_no_key_decides_and_nothing_jumps() {
    let mut desk = UiBench::at_work(80, 24);
    desk.press("i");
    desk.type_text("approve ");
    desk.propose(1);
    desk.sync();
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Chat);
    assert_eq!(desk.type_text("all of it, a A r"), []);
    let wake = desk.ui.next_wake(&desk.view, desk.now).unwrap();
    assert!(wake <= desk.now + TYPING_TIME);
    desk.pass(1100);
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Review);
    assert_eq!(desk.type_text("a"), []);
    assert!(desk.screen().contains("approve all of it, a A ra"));
    desk.press("esc");
    assert_eq!(desk.press_after("a", 100), []);
    assert_eq!(intents(&desk.press("a")).len(), 1);
}

#[test]
fn typing_and_pasting_decide_nothing_and_the_screen_says_so_once() {
    let mut desk = UiBench::at_work(120, 40);
    desk.type_text("no");
    desk.propose(1);
    desk.sync();
    // A sentence that goes on while the proposal appears.
    for key in "but rather all of a sudden a".replace(' ', "").chars() {
        assert_eq!(intents(&desk.press_after(&key.to_string(), 100)), []);
        if key == 'a' {
            assert!(desk.last_row().contains("you were typing"), "{}", desk.last_row());
        }
    }
    assert_eq!(desk.press_after("O", 100), []);
    assert!(desk.last_row().contains("you were typing"), "{}", desk.last_row());
    assert_eq!(intents(&desk.rest()), []);
    assert_eq!(desk.press("O"), []);
    assert!(desk.last_row().contains("does nothing here"), "{}", desk.last_row());
    // Text without a frame around it, at once and in pieces.
    for (text, pause) in [("aaaa", 0), ("ab", 4), ("aa", 9)] {
        desk.press("O");
        for (place, key) in text.chars().enumerate() {
            let gap = if place == 0 { 1_000 } else { pause };
            assert_eq!(intents(&desk.press_after(&key.to_string(), gap)), []);
        }
        assert_eq!(intents(&desk.rest()), []);
        assert!(desk.last_row().contains("as if pasted"), "{}", desk.last_row());
    }
    // Pasted text that comes just after a key takes it back.
    assert_eq!(desk.press_after("a", 1_000), []);
    assert_eq!(desk.event(&TerminalEvent::Paste("aa".into())), []);
    assert_eq!(intents(&desk.rest()), []);
    desk.press("esc");
    assert_eq!(intents(&desk.press("a")).len(), 1);
}

#[test]
fn a_change_between_the_key_and_its_effect_takes_it_back() {
    let mut desk = UiBench::at_work(120, 40);
    let proposal = desk.propose(1);
    desk.sync();
    assert_eq!(desk.press_after("a", 1_000), []);
    let content = desk.store_blob(
        "int other;
",
    );
    let path = crate::model::ProjectPath::new("main/src/i2c_scan.c").unwrap();
    let change = crate::model::Change::Save { path, base: None, content };
    desk.record(
        1,
        Event::Proposal(crate::model::ProposalEvent::Restated {
            proposal: proposal.id,
            change: Box::new(change),
            checks: Vec::new(),
            why: "it changed on disk".into(),
        }),
    );
    desk.pass(5);
    assert_eq!(intents(&desk.rest()), []);
    assert!(desk.last_row().contains("just changed"), "{}", desk.last_row());
    assert_eq!(intents(&desk.press("a")).len(), 1);
}

#[test]
fn a_list_to_decide_together_has_to_be_looked_at_like_a_proposal() {
    let mut desk = UiBench::at_work(120, 40);
    desk.propose(1);
    desk.pass(1_000);
    desk.press("!");
    assert!(desk.screen().contains("Rules for this session"));
    assert_eq!(desk.press_after("enter", 350), []);
    assert_eq!(intents(&desk.rest()), []);
    assert!(desk.last_row().contains("just appeared"), "{}", desk.last_row());
    assert_eq!(intents(&desk.press("enter")).len(), 1);
}

#[test]
fn hints_name_only_keys_that_work() {
    let mut desk = UiBench::at_work(120, 40);
    assert!(desk.last_row().ends_with("? help"), "{}", desk.last_row());
    desk.press("i");
    assert!(desk.last_row().ends_with("f1 help"), "{}", desk.last_row());
    desk.press("?");
    assert_eq!(desk.ui.bench.panes.composer.text(), "?");
}

#[test]
fn leaving_asks_while_a_run_goes_on() {
    let mut desk = UiBench::at_work(80, 24);
    assert_eq!(desk.press("q"), []);
    assert_eq!(desk.press("enter"), []);
    assert_eq!(desk.press("ctrl-c down enter"), [UiCommand::Quit]);
    assert_eq!(intents(&desk.press("q down down enter")), [Intent::Stop]);
    desk.end(SessionOutcome::Completed);
    desk.sync();
    assert_eq!(desk.press("q"), [UiCommand::Quit]);
}

#[test]
fn an_idle_screen_sleeps() {
    let mut desk = UiBench::at_work(80, 24);
    assert!(desk.ui.next_wake(&desk.view, desk.now).is_some());
    desk.propose(1);
    desk.pass(10);
    // Once to note what was on screen, once when the keys come alive.
    for _ in 0..3 {
        if let Some(wake) = desk.ui.next_wake(&desk.view, desk.now) {
            desk.now = wake.max(desk.now);
            desk.sync();
        }
    }
    assert!(!desk.screen().contains("unseen"), "{}", desk.screen());
    assert_eq!(desk.ui.next_wake(&desk.view, desk.now), None);
    desk.end(SessionOutcome::Completed);
    desk.pass(10);
    assert_eq!(desk.ui.next_wake(&desk.view, desk.now), None);
    desk.press("x");
    let wake = desk.ui.next_wake(&desk.view, desk.now).unwrap();
    desk.now = wake;
    desk.sync();
    assert_eq!(desk.ui.next_wake(&desk.view, desk.now), None);
}

#[test]
fn the_spinner_turns_with_time_only() {
    let mut desk = UiBench::at_work(120, 40);
    let before = desk.screen();
    assert_eq!(before, desk.screen());
    let wake = desk.ui.next_wake(&desk.view, desk.now).unwrap();
    desk.now = wake.max(desk.now + Duration::from_millis(1));
    desk.sync();
    assert_ne!(before, desk.screen());
}

#[test]
fn panes_zoom_and_take_turns() {
    let mut desk = UiBench::at_work(120, 40);
    assert!(desk.screen().contains("─ Project") && desk.screen().contains("─ Chat"));
    desk.press("z");
    assert!(!desk.screen().contains("─ Project") && desk.screen().contains("─ Chat"));
    desk.press("tab");
    assert_eq!(desk.ui.bench.areas.layout.panes.len(), 1);
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Review);
    desk.press("esc");
    assert_eq!(desk.ui.bench.areas.layout.panes.len(), 4);
    desk.press("shift-tab shift-tab");
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Project);
}

#[test]
fn in_a_replay_nothing_is_decided_or_said() {
    let mut desk = UiBench::new(120, 40, Mode::Replay);
    desk.begin();
    desk.work();
    desk.propose(1);
    desk.ask();
    desk.pass(1000);
    desk.press("3");
    for key in ["a", "A", "r", "ctrl-a", "i", ";"] {
        assert_eq!(desk.press(key), [], "{key}");
    }
    desk.press("2");
    assert_eq!(desk.press("space"), [UiCommand::Timeline(TimelineCommand::TogglePlay)]);
    assert_eq!(desk.press("$"), [UiCommand::Timeline(TimelineCommand::End)]);
    assert_eq!(desk.press("q"), [UiCommand::Quit]);
}

#[test]
fn nothing_foreign_reaches_the_terminal_as_it_is() {
    let mut desk = UiBench::at_work(200, 60);
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\r";
    let turn = crate::model::TurnId(2);
    desk.record(1, Event::Turn(crate::model::TurnEvent::TextAdded { turn, text: evil.into() }));
    desk.call(2, 9, evil, serde_json::json!({ "path": evil, evil: [evil] }));
    desk.record(
        1,
        Event::Turn(crate::model::TurnEvent::SpeakerChosen {
            choice: None,
            agent: evil.into(),
            reason: evil.into(),
            step: None,
        }),
    );
    desk.record(
        1,
        Event::Turn(crate::model::TurnEvent::Started {
            turn: crate::model::TurnId(3),
            agent: evil.into(),
            step: None,
        }),
    );
    desk.record(
        1,
        Event::Person(PersonEvent::Asked {
            question: QuestionId(1),
            agent: Some(evil.into()),
            text: evil.into(),
            options: vec![evil.into()],
            step: None,
        }),
    );
    desk.record(
        1,
        Event::Person(PersonEvent::Noticed {
            level: crate::model::event::Level::Error,
            notice: UserError::new(evil, evil, evil),
        }),
    );
    desk.sync();
    for keys in ["", "enter", "g g", "?"] {
        desk.press(keys);
        let screen = desk.screen();
        assert!(
            !screen.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{screen}"
        );
    }
}

#[test]
fn when_nothing_goes_on_nothing_is_drawn_whatever_is_shown() {
    let mut desk = UiBench::at_work(120, 40);
    desk.end(SessionOutcome::Completed);
    desk.sync();
    for keys in [
        "1",
        "2",
        "3",
        "4",
        "]",
        "]",
        "w",
        "2 /",
        "h e a d e r enter",
        "4",
        "& a enter",
        "1 G enter",
    ] {
        desk.press(keys);
        let deadline = Instant::now() + Duration::from_secs(20);
        // Searches and files that are read come to an end; then nothing changes by itself.
        while desk.ui.next_wake(&desk.view, desk.now).is_some() {
            assert!(Instant::now() < deadline, "after {keys} it never comes to rest");
            desk.pass(5_000);
        }
    }
    assert!(desk.screen().contains("on disk now"), "{}", desk.screen());
}
