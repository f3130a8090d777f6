//! Decisions by keys, from the first proposal to the board's serial output.

use std::thread;
use std::time::Duration;

use firmhand::model::{
    BuildEvent, BuildOutcome, Change, DecidedBy, Event, ProposalEvent, SessionOutcome, TurnEvent,
    Verdict,
};

use crate::desk::{Desk, LOOK, Next};
use crate::place::Place;
use crate::terminal::{PATIENCE, Size};

/// Approves the whole demo at one size and looks at what the board prints.
fn approve_everything(size: Size) {
    let place = Place::new();
    let mut desk = Desk::demo(&place, size);
    let decided = desk.approve_everything();
    assert!(decided >= 6, "only {decided} proposals");

    let events = place.events();
    let builds: Vec<&BuildOutcome> = events
        .iter()
        .filter_map(|event| match event {
            Event::Build(BuildEvent::Ended { outcome, .. }) => Some(outcome),
            _ => None,
        })
        .collect();
    assert_eq!(builds, [&BuildOutcome::Failed, &BuildOutcome::Passed]);
    let flashes = events.iter().filter(|event| match event {
        Event::Proposal(ProposalEvent::Made(proposal)) => {
            matches!(proposal.change, Change::Flash(_))
        }
        _ => false,
    });
    assert_eq!(flashes.count(), 1);
    for event in &events {
        if let Event::Proposal(ProposalEvent::Decided { decision, .. }) = event {
            assert_eq!(decision.by, DecidedBy::Person);
        }
    }

    desk.terminal.press("esc 4");
    for _ in 0..6 {
        if desk.terminal.screen().contains("0x76") {
            break;
        }
        desk.terminal.press("]");
        thread::sleep(Duration::from_millis(300));
    }
    desk.terminal.wait_for("0x3[cC]");
    desk.terminal.wait_for("0x76");
    desk.terminal.wait_for("virtual board");
    let name = place.session_name();
    let mut terminal = desk.quit();
    terminal.wait_for_after_exit(&format!("firmhand replay {name}"));
}

#[test]
fn everything_is_approved_on_a_small_screen() {
    approve_everything(Size::SMALL);
}

#[test]
fn everything_is_approved_on_a_large_screen() {
    approve_everything(Size::LARGE);
}

#[test]
fn a_rejected_file_is_made_again_with_the_reason_in_mind() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::SMALL);
    let first = desk.next_proposal();
    desk.approve(&first);
    let refused = desk.next_proposal();
    let path = refused.change.path().expect("a file").clone();
    let words = "Say in a comment why the bus is slow.";
    desk.reject(&refused, words);
    assert!(!place.project().join(path.as_str()).exists());

    let mut again = false;
    loop {
        match desk.next() {
            Next::Waits(proposal) => {
                if proposal.change.path() == Some(&path) && !again {
                    again = true;
                    assert_ne!(proposal.change.hash(), refused.change.hash(), "the same again");
                }
                desk.approve(&proposal);
            }
            Next::Ended(outcome) => {
                assert_eq!(outcome, SessionOutcome::Completed);
                break;
            }
        }
    }
    assert!(again, "{path} was not proposed again");
    let heard = place.events().iter().any(|event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => result.to_string().contains(words),
        _ => false,
    });
    assert!(heard, "the reason did not reach the agent");
}

#[test]
fn pasted_text_never_decides() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    let proposal = desk.next_proposal();
    desk.turn_to(&proposal);
    desk.leaf_through();
    thread::sleep(LOOK);
    desk.terminal.paste("aaaa");
    assert_eq!(desk.decided(proposal.id, Duration::from_secs(1)), None);
    // Terminals without brackets send the same keys in one go.
    desk.terminal.press("esc");
    desk.terminal.type_text("aaaa");
    assert_eq!(desk.decided(proposal.id, Duration::from_secs(1)), None);
    // The same key, pressed by a person, is taken.
    desk.approve(&proposal);
}

#[test]
fn typing_while_proposals_wait_decides_nothing_however_long_it_goes_on() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    desk.terminal.wait_for("firmhand");
    // The keys go on from before the first proposal comes until long after.
    let mut came = None;
    for round in 0.. {
        for key in ["a", "n", "a", "r", "a"] {
            desk.terminal.press(key);
            thread::sleep(Duration::from_millis(if round % 2 == 0 { 100 } else { 200 }));
        }
        came = came.or_else(|| place.waiting().first().map(|_| round));
        if came.is_some_and(|came| round > came + 4) {
            break;
        }
        assert!(round < 100, "no proposal came");
    }
    let decided = |event: &Event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. }));
    assert!(!place.events().iter().any(decided), "{}", desk.terminal.screen());
    desk.terminal.wait_for("you were typing");
    // After a look the first key counts.
    let proposal = desk.next_proposal();
    desk.approve(&proposal);
}

#[test]
fn text_sent_in_pieces_does_not_decide() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    let proposal = desk.next_proposal();
    desk.turn_to(&proposal);
    desk.leaf_through();
    for pieces in [["ab", "aa"], ["and then ", "do this"], ["aa", "a\r"]] {
        thread::sleep(LOOK);
        for piece in pieces {
            desk.terminal.type_text(piece);
            thread::sleep(Duration::from_millis(40));
        }
        // On a busy machine the pieces may come as keys one after the other.
        desk.terminal.wait_for("not decided: ");
        assert_eq!(desk.decided(proposal.id, Duration::from_millis(700)), None);
    }
    desk.approve(&proposal);
}

#[test]
fn a_key_in_the_first_moment_does_not_decide() {
    const DEAD_MILLIS: i64 = 400;
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    let proposal = desk.next_proposal();
    desk.terminal.press("a");
    desk.decided(proposal.id, Duration::from_millis(600));
    desk.approve(&proposal);
    let journal = place.journal();
    let at = |wanted: &dyn Fn(&Event) -> bool| {
        journal.iter().find(|record| wanted(&record.event)).expect("recorded").at.0
    };
    let proposed = at(
        &|event| matches!(event, Event::Proposal(ProposalEvent::Made(p)) if p.id == proposal.id),
    );
    let decided = at(
        &|event| matches!(event, Event::Proposal(ProposalEvent::Decided { proposal: id, .. }) if *id == proposal.id),
    );
    assert!(decided - proposed >= DEAD_MILLIS, "decided {} ms after it came", decided - proposed);
}

#[test]
fn the_rest_of_a_batch_is_listed_before_it_is_approved() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    let first = desk.next_proposal();
    let waiting = place
        .within(PATIENCE, || {
            let waiting = place.waiting();
            (waiting.len() == first.batch.of as usize).then_some(waiting)
        })
        .unwrap_or_else(|| desk.fail("the batch is not complete"));
    assert!(waiting.len() > 1, "the first batch holds one proposal only");
    desk.turn_to(&first);
    thread::sleep(LOOK);
    desk.terminal.press("A");
    for event in place.events() {
        if let Event::Proposal(ProposalEvent::Made(proposal)) = event {
            let path = proposal.change.path().expect("a file").clone();
            desk.terminal.wait_for(&regex::escape(path.as_str()));
        }
    }
    assert_eq!(place.waiting(), waiting, "decided before it was confirmed");
    thread::sleep(LOOK);
    // Most of it was never on screen, so the plain key does not decide.
    desk.terminal.press("A");
    desk.terminal.wait_for("approves them anyway");
    assert_eq!(place.waiting(), waiting, "decided by the plain key");
    thread::sleep(LOOK);
    desk.terminal.press("ctrl-a");
    for id in waiting {
        let decision = desk.decided(id, PATIENCE).unwrap_or_else(|| desk.fail("not approved"));
        assert_eq!(decision.verdict, Verdict::Approve);
    }
}
