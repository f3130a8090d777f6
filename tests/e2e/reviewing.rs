//! Every way to decide, and every guard, by keys on the real program.

use std::fs;
use std::thread;
use std::time::Duration;

use firmhand::model::{
    AfterReject, Amended, ContentHash, Decision, Event, Outcome, Proposal, ProposalEvent, RuleSays,
    SessionEvent, SessionOutcome, Side, Verdict,
};
use rustix::process::Signal;

use crate::desk::{Desk, NEVER};
use crate::place::Place;
use crate::terminal::{PATIENCE, Size};

/// How long a person looks before a key decides.
const LOOK: Duration = Duration::from_millis(450);
/// After this long a key that did not decide may be pressed again.
const AGAIN: Duration = Duration::from_secs(4);

/// The first proposal of the demo, all of it seen.
fn first<'a>(place: &'a Place, size: Size) -> (Desk<'a>, Proposal) {
    seen(Desk::demo(place, size))
}

fn seen(mut desk: Desk<'_>) -> (Desk<'_>, Proposal) {
    let proposal = desk.next_proposal();
    desk.turn_to(&proposal);
    desk.leaf_through();
    desk.terminal.press("home");
    thread::sleep(LOOK);
    (desk, proposal)
}

/// Presses the key that decides, again when a guard asks for it: on a busy machine the moment
/// in which no key decides comes late.
#[track_caller]
fn decision(desk: &mut Desk<'_>, key: &str, proposal: &Proposal) -> Decision {
    for _ in 0..5 {
        desk.terminal.press(key);
        if let Some(decision) = desk.decided(proposal.id, AGAIN) {
            assert_eq!(decision.shown, proposal.change.hash());
            return decision;
        }
    }
    desk.fail("no decision was recorded")
}

/// Waits until the change is on disk, and checks that it holds what was decided.
#[track_caller]
fn on_disk(desk: &Desk<'_>, proposal: &Proposal, decision: &Decision) -> String {
    assert_eq!(desk.settled(proposal), Outcome::Applied);
    let path = proposal.change.path().expect("a file");
    let bytes = fs::read(desk.place.project().join(path.as_str())).unwrap();
    let written = decision.written(&proposal.change).expect("a content");
    assert_eq!(ContentHash::of(&bytes), written.hash);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn only_the_picked_lines_are_written() {
    let place = Place::new();
    let (mut desk, proposal) = first(&place, Size::LARGE);
    desk.terminal.press("l");
    desk.terminal.wait_for("approves 0 of");
    desk.terminal.press("space");
    desk.terminal.wait_for("approves 1 of");
    thread::sleep(LOOK);
    let decision = decision(&mut desk, "a", &proposal);
    assert!(matches!(decision.verdict, Verdict::ApproveAmended { how: Amended::Lines, .. }));
    let whole = place.content(&proposal);
    let written = on_disk(&desk, &proposal, &decision);
    assert_eq!(written.lines().next(), whole.lines().next());
    assert_eq!(written.lines().count(), 1);
}

#[test]
fn an_edit_in_place_survives_a_resize_and_is_what_is_written() {
    let place = Place::new();
    let (mut desk, proposal) = first(&place, Size::LARGE);
    desk.terminal.press_until("e", "before the decision");
    desk.terminal.type_slowly("# mine");
    desk.terminal.resize(Size::SMALL);
    desk.terminal.press("enter");
    desk.terminal.wait_for("your edit");
    // The end of the edit shows what it would write, and sends nothing.
    desk.terminal.press("ctrl-s");
    desk.terminal.wait_for("✎ your edit: 1 line differs from the proposal");
    desk.terminal.wait_for("✎\\+ # mine");
    assert_eq!(desk.decided(proposal.id, NEVER), None);
    // At once on to the editor and back: the text is as it was left.
    desk.terminal.press("e");
    desk.terminal.wait_for("before the decision");
    desk.terminal.press("ctrl-s");
    desk.terminal.wait_for("approve your edit");
    desk.leaf_through();
    thread::sleep(LOOK);
    let decision = decision(&mut desk, "a", &proposal);
    assert!(matches!(decision.verdict, Verdict::ApproveAmended { how: Amended::Edit, .. }));
    let written = on_disk(&desk, &proposal, &decision);
    assert!(written.starts_with("# mine\n"), "{written}");
}

#[test]
fn a_password_that_the_person_types_is_found_before_it_is_sent() {
    let place = Place::new();
    let (mut desk, proposal) = first(&place, Size::LARGE);
    desk.terminal.press_until("e", "before the decision");
    desk.terminal.type_slowly("set(WIFI_PASSWORD \"Regen-auf-7-Dächern\")");
    desk.terminal.press("enter");
    desk.terminal.press("ctrl-s");
    desk.terminal.wait_for("X approve although it contains");
    desk.leaf_through();
    thread::sleep(LOOK);
    desk.terminal.press("a");
    desk.terminal.wait_for("not decided");
    assert_eq!(desk.decided(proposal.id, NEVER), None);
    // Put aside it is kept, and the proposal itself is on screen again.
    desk.terminal.press("esc");
    desk.terminal.wait_for("your edit is set aside");
    thread::sleep(LOOK);
    desk.terminal.press("e");
    desk.terminal.wait_for("Regen-auf-7");
    desk.terminal.press("ctrl-s");
    desk.terminal.wait_for("X approve although it contains");
    desk.leaf_through();
    thread::sleep(LOOK);
    let decision = decision(&mut desk, "X", &proposal);
    assert_eq!(decision.stops, 1);
    assert!(on_disk(&desk, &proposal, &decision).starts_with("set(WIFI_PASSWORD"));
}

/// Starts the demo with an editor that is a shell script.
fn with_editor<'a>(place: &'a Place, script: &str) -> Desk<'a> {
    let editor = place.config().join("editor.sh");
    fs::write(&editor, script).unwrap();
    let start = format!("EDITOR='sh {}' exec \"$0\" \"$@\"", editor.display());
    let args = place.demo_args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    Desk { place, terminal: place.shell(&start, &args, Size::LARGE) }
}

#[test]
fn the_own_editor_edits_and_nothing_is_decided_before_the_key() {
    let place = Place::new();
    let (mut desk, proposal) = seen(with_editor(&place, "printf '# outside\\n' >> \"$1\"\n"));
    desk.terminal.press("E");
    desk.terminal.wait_for("your edit: 1 line differs");
    assert_eq!(desk.decided(proposal.id, NEVER), None);
    desk.leaf_through();
    thread::sleep(LOOK);
    let decision = decision(&mut desk, "a", &proposal);
    let written = on_disk(&desk, &proposal, &decision);
    assert!(written.ends_with("# outside\n"), "{written}");
}

#[test]
fn an_editor_that_fails_is_said_and_loses_nothing() {
    let place = Place::new();
    let (mut desk, proposal) = seen(with_editor(&place, "exit 3\n"));
    desk.terminal.press("E");
    desk.terminal.wait_for("nothing was decided");
    assert!(desk.terminal.look(vt100::Screen::alternate_screen));
    assert_eq!(desk.decided(proposal.id, NEVER), None);
    desk.approve(&proposal);
}

#[test]
fn approving_can_tell_the_agent_something() {
    let place = Place::new();
    let (mut desk, proposal) = first(&place, Size::SMALL);
    desk.terminal.press("t");
    desk.terminal.wait_for("Approve with a message");
    desk.terminal.type_slowly("Keep it short.");
    thread::sleep(LOOK);
    let decision = decision(&mut desk, "enter", &proposal);
    assert_eq!(decision.verdict.words(), "Keep it short.");
    on_disk(&desk, &proposal, &decision);
}

#[test]
fn a_comment_on_a_line_goes_back_with_the_rejection_that_stops_the_run() {
    let place = Place::new();
    let (mut desk, proposal) = first(&place, Size::LARGE);
    desk.terminal.press("l");
    desk.terminal.wait_for("approves 0 of");
    desk.terminal.press("c");
    desk.terminal.wait_for("Comment on a line");
    desk.terminal.type_slowly("not this");
    desk.terminal.press("enter");
    desk.terminal.wait_for("┃ not this");
    thread::sleep(LOOK);
    desk.terminal.press("R");
    desk.terminal.wait_for("Reject and stop");
    desk.terminal.wait_for("with your comment");
    let verdict = decision(&mut desk, "enter", &proposal).verdict;
    let Verdict::Reject { comments, then, .. } = &verdict else { panic!("{verdict:?}") };
    assert_eq!((comments.len(), *then), (1, AfterReject::Stop));
    assert_eq!((comments[0].side, comments[0].text.as_str()), (Side::New, "not this"));
    let ended = place.event_within(PATIENCE, |event| match event {
        Event::Session(SessionEvent::Ended { outcome }) => Some(outcome.clone()),
        _ => None,
    });
    assert_eq!(ended, Some(SessionOutcome::Stopped));
}

#[test]
fn a_question_is_answered_while_the_proposal_waits() {
    let place = Place::new();
    let (mut desk, proposal) = first(&place, Size::LARGE);
    desk.terminal.press("y");
    desk.terminal.wait_for("Ask the agent");
    desk.terminal.press("down");
    desk.terminal.wait_for("Why is this needed");
    desk.terminal.press("enter");
    desk.terminal.wait_for("you asked: Why is this needed");
    let asked = place.event_within(PATIENCE, |event| match event {
        Event::Proposal(ProposalEvent::InquiryEnded { failed, .. }) => Some(failed.clone()),
        _ => None,
    });
    assert_eq!(asked, Some(None));
    assert_eq!(desk.decided(proposal.id, NEVER), None);
}

#[test]
fn a_rule_names_its_scope_before_it_decides_anything() {
    let place = Place::new();
    let (mut desk, proposal) = first(&place, Size::LARGE);
    desk.terminal.press("!");
    desk.terminal.wait_for("Rules for this session");
    desk.terminal.wait_for("decides 1 now");
    assert_eq!(desk.decided(proposal.id, NEVER), None);
    desk.terminal.press("enter");
    let rule = place.wait_for_event(&desk.terminal, "the rule", |event| match event {
        Event::Proposal(ProposalEvent::RuleAdded { says, .. }) => Some(says.clone()),
        _ => None,
    });
    assert_eq!(rule.says, RuleSays::Always);
    assert_eq!(rule.path.as_deref(), proposal.change.path().map(|path| path.as_str()));
    let decision = desk.decided(proposal.id, PATIENCE).unwrap();
    assert_eq!(decision.verdict, Verdict::Approve);
}

#[test]
fn an_applied_change_is_taken_back() {
    let place = Place::new();
    let (mut desk, proposal) = first(&place, Size::LARGE);
    desk.approve(&proposal);
    let path = place.project().join(proposal.change.path().unwrap().as_str());
    place.within(PATIENCE, || path.exists().then_some(())).expect("written");
    for _ in 0..12 {
        desk.terminal.press("K");
    }
    desk.terminal.wait_for("undoes it");
    thread::sleep(LOOK);
    desk.terminal.press("u");
    place.within(PATIENCE, || (!path.exists()).then_some(())).unwrap_or_else(|| desk.fail("there"));
    desk.terminal.wait_for("undone by");
}

#[test]
fn a_key_that_is_held_down_decides_once() {
    let decided = || {
        let place = Place::new();
        let (mut desk, _) = first(&place, Size::LARGE);
        for _ in 0..90 {
            desk.terminal.type_text("a");
            thread::sleep(Duration::from_millis(33));
        }
        place
            .events()
            .into_iter()
            .filter(|e| matches!(e, Event::Proposal(ProposalEvent::Decided { .. })))
            .count()
    };
    // Where the machine stands still for a moment, a key that is held was let go.
    assert!((0..3).any(|_| decided() <= 1), "many decisions by one key that was held");
}

#[test]
fn no_layout_lets_unseen_lines_be_approved() {
    for keys in ["s", "w", "b", "l esc"] {
        let place = Place::new();
        let mut desk = Desk::demo(&place, Size::LEAST);
        let first = desk.next_proposal();
        desk.approve(&first);
        let long = loop {
            let proposal = desk.next_proposal();
            if place.content(&proposal).lines().count() > 30 {
                break proposal;
            }
            desk.approve(&proposal);
        };
        desk.turn_to(&long);
        desk.terminal.press(keys);
        thread::sleep(LOOK);
        desk.terminal.press("a");
        assert_eq!(desk.decided(long.id, NEVER), None, "after {keys}");
    }
}

#[test]
fn typing_is_never_taken_for_a_decision() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    desk.terminal.wait_for("firmhand");
    desk.terminal.press("i");
    // While proposals come, the person writes, with every key that decides among the letters.
    for _ in 0..30 {
        desk.terminal.type_slowly("ar");
        thread::sleep(Duration::from_millis(60));
    }
    assert!(!place.waiting().is_empty(), "nothing was proposed meanwhile");
    assert!(
        !place
            .events()
            .iter()
            .any(|event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. })))
    );
    desk.terminal.wait_for("arararar");
    let first = desk.next_proposal();
    desk.terminal.press("esc");
    desk.approve(&first);
}

#[test]
fn a_killed_session_has_its_proposal_with_all_its_lines_again() {
    let place = Place::new();
    let (mut desk, waiting) = first(&place, Size::LARGE);
    desk.terminal.press("l space");
    desk.terminal.signal(Signal::KILL);
    desk.terminal.wait_exit();
    let mut desk = Desk::resume(&place, Size::LARGE);
    assert_eq!(desk.next_proposal(), waiting);
    desk.turn_to(&waiting);
    thread::sleep(LOOK);
    let shown = desk.leaf_through().join("\n");
    for line in place.content(&waiting).lines().filter(|line| !line.trim().is_empty()) {
        assert!(shown.contains(line.trim()), "{line}");
    }
    desk.approve(&waiting);
}
