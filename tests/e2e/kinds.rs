//! Each kind of change at the desk: what is stale, deleted, inserted and taken back.

use std::fs;
use std::thread;
use std::time::Duration;

use firmhand::model::{Change, Event, Outcome, PersonEvent, Proposal, ProposalEvent, SessionEvent};

use crate::desk::{Desk, LOOK, Next};
use crate::place::Place;
use crate::terminal::{PATIENCE, Size};

/// The demo of a team.
fn demo<'a>(place: &'a Place, team: &str, size: Size) -> Desk<'a> {
    let args = place.demo_args();
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.extend(["--team", team]);
    Desk { place, terminal: place.open(&args, size) }
}

/// Approves everything up to the first change that is wanted; questions get their first answer.
#[track_caller]
fn go_to(desk: &mut Desk<'_>, is_wanted: impl Fn(&Change) -> bool) -> Proposal {
    loop {
        answer(desk);
        match desk.next() {
            Next::Waits(proposal) if is_wanted(&proposal.change) => return proposal,
            Next::Waits(proposal) => desk.approve(&proposal),
            Next::Ended(outcome) => desk.fail(&format!("the session ended: {outcome:?}")),
        }
    }
}

/// Answers questions until a proposal waits or the session is over.
#[track_caller]
fn answer(desk: &mut Desk<'_>) {
    loop {
        let place = desk.place;
        let open = place.within(PATIENCE, || {
            let events = place.events();
            let is_over = events.iter().any(|event| matches!(event, Event::Session(SessionEvent::Ended { .. })));
            if is_over || !place.waiting().is_empty() {
                return Some(None);
            }
            let answered = |id| {
                events.iter().any(
                    |event| matches!(event, Event::Person(PersonEvent::Answered { question, .. }) if *question == id),
                )
            };
            events.iter().rev().find_map(|event| match event {
                Event::Person(PersonEvent::Asked { question, .. }) if !answered(*question) => Some(Some(*question)),
                _ => None,
            })
        });
        let Some(open) = open else { desk.fail("neither a question nor a proposal nor an end") };
        let Some(id) = open else { return };
        desk.terminal.press("esc 2");
        thread::sleep(LOOK);
        desk.terminal.press("a");
        thread::sleep(LOOK);
        for _ in 0..5 {
            desk.terminal.press("1");
            thread::sleep(LOOK);
            desk.terminal.press("enter");
            let answered = place.event_within(Duration::from_secs(3), |event| match event {
                Event::Person(PersonEvent::Answered { question, .. }) if *question == id => {
                    Some(())
                }
                _ => None,
            });
            if answered.is_some() {
                break;
            }
        }
    }
}

#[test]
fn a_deletion_shows_what_goes_and_can_be_taken_back_and_made_again() {
    let place = Place::new();
    let mut desk = demo(&place, "edit-generated", Size::LARGE);
    let proposal = go_to(&mut desk, |change| matches!(change, Change::Delete { .. }));
    let path = place.project().join(proposal.change.path().unwrap().as_str());
    let content = fs::read_to_string(&path).unwrap();
    desk.turn_to(&proposal);
    let first = content.lines().find(|line| !line.trim().is_empty()).unwrap();
    desk.terminal.wait_for(&regex::escape(first.trim()));
    assert!(path.exists(), "gone before it was approved");
    desk.approve(&proposal);
    assert_eq!(desk.settled(&proposal), Outcome::Applied);
    assert!(!path.exists());
    // Both ways back.
    for is_back in [true, false] {
        // A proposal that comes meanwhile turns the review to itself.
        let is_done = (0..4).any(|_| {
            go_to_last_applied(&mut desk, &proposal, is_back);
            desk.terminal.press("u");
            let seen = || (path.exists() == is_back).then_some(());
            place.within(Duration::from_secs(8), seen).is_some()
        });
        if !is_done {
            desk.fail("not taken back");
        }
        if is_back {
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
    }
}

/// Turns to the change of that file that was applied last.
#[track_caller]
fn go_to_last_applied(desk: &mut Desk<'_>, proposal: &Proposal, is_first: bool) {
    let path = proposal.change.path().map_or("", |path| path.as_str());
    // Taking a deletion back is a change like any other: it saves the file.
    let name = format!("{} {path}", if is_first { proposal.change.kind() } else { "save" });
    desk.terminal.press("esc 3");
    for _ in 0..40 {
        thread::sleep(Duration::from_millis(80));
        let screen = desk.terminal.screen();
        let is_title = |line: &str| line.contains("Review") && line.contains(&name);
        if screen.contains("undoes it") && screen.lines().take(4).any(is_title) {
            thread::sleep(LOOK);
            return;
        }
        desk.terminal.press(if is_first { "K" } else { "J" });
    }
    desk.fail("the applied change is not found again");
}

#[test]
fn a_file_that_changes_while_its_proposal_waits_is_compared_anew() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    let proposal = desk.next_proposal();
    desk.turn_to(&proposal);
    desk.leaf_through();
    let path = place.project().join(proposal.change.path().unwrap().as_str());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "# written by somebody else\n").unwrap();
    let restated = place.event_within(PATIENCE, |event| match event {
        Event::Proposal(ProposalEvent::Restated { proposal: id, .. }) if *id == proposal.id => {
            Some(())
        }
        _ => None,
    });
    assert!(restated.is_some(), "{}", desk.terminal.screen());
    assert_eq!(fs::read_to_string(&path).unwrap(), "# written by somebody else\n");
    desk.terminal.wait_for("written by somebody else");
    desk.leaf_through();
    thread::sleep(LOOK);
    desk.terminal.press("a");
    desk.terminal.wait_for("not decided");
    thread::sleep(LOOK);
    for _ in 0..5 {
        desk.terminal.press("X");
        if desk.decided(proposal.id, Duration::from_secs(4)).is_some() {
            break;
        }
    }
    assert_eq!(desk.settled(&proposal), Outcome::Applied);
    assert!(!fs::read_to_string(&path).unwrap().contains("somebody else"));
}

#[test]
fn an_insertion_stands_in_its_file_and_leaves_the_rest_alone() {
    let place = Place::new();
    let mut desk = demo(&place, "extend-existing", Size::LARGE);
    let proposal = go_to(&mut desk, |change| {
        let is_source = change.path().is_some_and(|path| path.as_str().ends_with(".c"));
        matches!(change, Change::Insert { .. }) && is_source
    });
    let path = place.project().join(proposal.change.path().unwrap().as_str());
    let before = fs::read_to_string(&path).unwrap();
    desk.approve(&proposal);
    assert_eq!(desk.settled(&proposal), Outcome::Applied);
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.len() > before.len());
    let mut rest = after.lines();
    for line in before.lines() {
        assert!(rest.any(|other| other == line), "`{line}` is gone");
    }
}

#[test]
fn a_whole_batch_is_rejected_with_the_same_words() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    let first = desk.next_proposal();
    desk.reject_batch(&first, "not now");
}
