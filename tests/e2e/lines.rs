//! The line mode: the same decisions without a screen, under the same guards.

use std::thread;
use std::time::Duration;

use firmhand::model::{Decision, Event, ProposalEvent, SessionOutcome, Verdict};

use crate::desk::{Desk, Next};
use crate::place::Place;
use crate::terminal::Size;

/// Longer than no line decides after a proposal was printed.
const LOOK: Duration = Duration::from_millis(500);

/// What comes at once on an idle machine comes within this on a busy one.
const PATIENCE: Duration = Duration::from_secs(60);

fn demo(place: &Place) -> Desk<'_> {
    let args = place.demo_args();
    let mut all = vec!["--plain"];
    all.extend(args.iter().map(String::as_str));
    Desk { place, terminal: place.open(&all, Size::LARGE) }
}

#[test]
fn a_whole_run_is_decided_line_by_line() {
    let place = Place::new();
    let mut desk = demo(&place);
    let mut decided = 0;
    let outcome = loop {
        match desk.next() {
            Next::Waits(proposal) => {
                desk.terminal.wait_for(&format!("approve {},", proposal.id));
                let decision = decide(&mut desk, proposal.id, &format!("approve {}", proposal.id));
                assert_eq!(decision.verdict, Verdict::Approve);
                assert_eq!(decision.shown, proposal.change.hash());
                decided += 1;
            }
            Next::Ended(outcome) => break outcome,
        }
    };
    assert_eq!(outcome, SessionOutcome::Completed);
    assert!(decided > 5, "{decided}");
    assert_eq!(desk.terminal.wait_exit().exit_code(), 0);
    assert!(!desk.terminal.look(vt100::Screen::alternate_screen));
    desk.terminal.wait_for_after_exit("decisions: ");
    desk.terminal.wait_for_after_exit("Session .* is over");
}

#[test]
fn pasted_unclear_and_early_lines_decide_nothing() {
    let place = Place::new();
    let mut desk = demo(&place);
    // Typed ahead, before anything was shown.
    desk.terminal.type_text("approve 1\r");
    let waiting = desk.next_proposal();
    let id = waiting.id;
    desk.terminal.wait_for(&format!("approve {id},"));
    thread::sleep(LOOK);
    for lines in [format!("approve {id}\rapprove {id}\r"), "a\r".into(), "y\r".into(), "\r".into()]
    {
        desk.terminal.type_text(&lines);
        assert_eq!(desk.decided(id, Duration::from_millis(700)), None, "{lines:?}");
    }
    desk.terminal.type_text("approve 999\r");
    desk.terminal.wait_for("not decided: the waiting proposal is");
    desk.terminal.type_text(&format!("reject {id} keep the old driver\r"));
    let decision = desk.decided(id, PATIENCE).unwrap();
    assert_eq!(decision.verdict, Verdict::reject("keep the old driver"));
    desk.next_proposal();
    desk.terminal.type_text("quit\r");
    assert_eq!(desk.terminal.wait_exit().exit_code(), 0);
    desk.terminal.wait_for_after_exit("firmhand resume");
    let mut desk =
        Desk { place: &place, terminal: place.open(&["resume", "--plain"], Size::SMALL) };
    desk.terminal.wait_for("Type: approve");
    assert!(!desk.terminal.screen().contains("keep the old driver"), "the past is told again");
}

#[test]
fn a_pipe_is_no_person() {
    let place = Place::new();
    let args = place.demo_args();
    let mut all = vec!["--plain"];
    all.extend(args.iter().map(String::as_str));
    let output = place.run(&all);
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("standard input is not a terminal"), "{words}");
    assert!(!place.project().exists(), "nothing was begun");
}

#[test]
fn a_saved_session_is_told_line_by_line() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::SMALL);
    let waiting = desk.next_proposal();
    desk.turn_to(&waiting);
    desk.terminal.press("q");
    desk.terminal.wait_for("continue later");
    desk.terminal.press("down enter");
    desk.terminal.wait_exit();
    let output = place.run(&["replay", "--plain"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let proposed = place
        .events()
        .iter()
        .filter(|e| matches!(e, Event::Proposal(ProposalEvent::Made(_))))
        .count();
    assert!(proposed > 0 && text.contains("session "), "{text}");
    assert_eq!(text.matches(" proposed by ").count(), proposed, "{text}");
    assert!(!text.contains('\u{1b}'));
}

fn verdict_of(desk: &mut Desk<'_>, id: firmhand::model::ProposalId, line: &str) -> Verdict {
    decide(desk, id, line).verdict
}

/// Types a line that decides, again when it came too early, and returns what was decided.
fn decide(desk: &mut Desk<'_>, id: firmhand::model::ProposalId, line: &str) -> Decision {
    for _ in 0..5 {
        thread::sleep(LOOK);
        desk.terminal.type_text(&format!("{line}\r"));
        if let Some(decision) = desk.decided(id, Duration::from_secs(8)) {
            return decision;
        }
    }
    desk.fail(&format!("`{line}` decides nothing"))
}

fn written(desk: &Desk<'_>, proposal: &firmhand::model::Proposal) -> String {
    desk.settled(proposal);
    let path = desk.place.project().join(proposal.change.path().unwrap().as_str());
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn parts_edits_words_and_comments_are_decided_line_by_line_too() {
    let place = Place::new();
    let editor = place.config().join("editor.sh");
    std::fs::write(&editor, "echo '# mine' >> \"$1\"\n").unwrap();
    let start = format!("EDITOR='sh {}' exec \"$0\" \"$@\"", editor.display());
    let args = place.demo_args();
    let mut all = vec!["--plain"];
    all.extend(args.iter().map(String::as_str));
    let mut desk = Desk { place: &place, terminal: place.shell(&start, &all, Size::LARGE) };

    let first = desk.next_proposal();
    desk.terminal.wait_for(&format!("approve {},", first.id));
    thread::sleep(LOOK);
    desk.terminal.type_text(&format!("approve {} lines 1-999\r", first.id));
    desk.terminal.wait_for("changed lines have the numbers 1 to");
    let verdict = verdict_of(&mut desk, first.id, &format!("approve {} lines 1,3-4", first.id));
    assert_eq!(verdict.label(), "approved in part");
    assert_eq!(written(&desk, &first).lines().count(), 3);

    let second = desk.next_proposal();
    desk.terminal.wait_for(&format!("approve {},", second.id));
    desk.terminal.type_text(&format!("edit {}\r", second.id));
    desk.terminal.wait_for("Nothing is decided yet");
    let verdict = verdict_of(&mut desk, second.id, &format!("approve {} edited", second.id));
    assert_eq!(verdict.label(), "edited and approved");
    assert!(written(&desk, &second).ends_with("# mine\n"));

    let third = desk.next_proposal();
    desk.terminal.wait_for(&format!("approve {},", third.id));
    desk.terminal.type_text(&format!("comment {} 2 why so\r", third.id));
    desk.terminal.wait_for("kept; it goes to the agent");
    let verdict = verdict_of(&mut desk, third.id, &format!("tell {} keep it short", third.id));
    assert_eq!(verdict.words(), "keep it short");
    assert_eq!(verdict.comments().len(), 1);

    let fourth = desk.next_proposal();
    desk.terminal.wait_for(&format!("approve {},", fourth.id));
    thread::sleep(LOOK);
    desk.terminal.type_text(&format!("rest {}\r", fourth.id));
    desk.terminal.wait_for("for these 4");
    thread::sleep(LOOK);
    desk.terminal.type_text(&format!("approve-rest {}\r", fourth.id));
    desk.terminal.wait_for("were not printed");
    assert_eq!(place.waiting().len(), 4, "decided although not all was printed");
    let verdict = verdict_of(&mut desk, fourth.id, &format!("reject-rest {} not now", fourth.id));
    assert_eq!(verdict, Verdict::reject("not now"));
    let last = firmhand::model::ProposalId(fourth.id.0 + 3);
    assert!(desk.decided(last, PATIENCE).is_some());
    desk.terminal.type_text(&format!("undo {}\r", second.id));
    let path = place.project().join(second.change.path().unwrap().as_str());
    let gone = place.within(PATIENCE, || (!path.exists()).then_some(()));
    assert!(gone.is_some(), "not taken back");
}
