//! Leaving in the middle: stopped, detached, killed; and coming back.

use std::time::Duration;

use firmhand::model::{
    Budget, Cost, Event, ModelEvent, ProposalEvent, SessionEvent, SessionOutcome,
};
use rustix::process::Signal;

use crate::desk::Desk;
use crate::place::Place;
use crate::terminal::Size;

#[test]
fn a_session_taken_up_again_is_recorded_from_its_beginning() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::SMALL);
    desk.next_proposal();
    desk.terminal.press("ctrl-c");
    desk.terminal.wait_for("continue later");
    desk.terminal.press("down enter");
    desk.terminal.wait_exit();
    let file = place.config().join("run.toml");
    let args = ["resume", "--speed", "max", "--record", file.to_str().unwrap()];
    let mut terminal = place.open(&args, Size::SMALL);
    // It is written before anything is shown.
    terminal.wait_for("─ Review");
    let recorded = std::fs::read_to_string(&file).unwrap();
    for agent in ["PlanningAgent", "FileOrganizerAgent", "CodeGeneratorAgent"] {
        assert!(recorded.contains(&format!("agent = \"{agent}\"")), "{agent}: {recorded}");
    }
}

#[test]
fn stopped_in_the_middle_the_journal_is_whole() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::SMALL);
    let first = desk.next_proposal();
    desk.approve(&first);
    desk.next_proposal();
    desk.terminal.press("esc q");
    desk.terminal.wait_for("Stop the run");
    desk.terminal.press("down down enter");
    place.wait_for_event(&desk.terminal, "the end", |event| match event {
        Event::Session(SessionEvent::Ended { .. }) => Some(()),
        _ => None,
    });
    desk.quit();
    assert!(place.journal_is_whole());
    let journal = place.journal();
    let last = &journal.last().expect("records").event;
    assert_eq!(*last, Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Stopped }));
    let listed = String::from_utf8(place.run(&["sessions"]).stdout).unwrap();
    assert!(listed.contains("stopped"), "{listed}");
}

#[test]
fn killed_with_a_proposal_waiting_it_waits_again_with_its_full_diff() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::SMALL);
    let first = desk.next_proposal();
    desk.approve(&first);
    let waiting = desk.next_proposal();
    desk.turn_to(&waiting);
    desk.terminal.signal(Signal::KILL);
    desk.terminal.wait_exit();
    let before = place.journal();

    let mut desk = Desk::resume(&place, Size::SMALL);
    let again = desk.next_proposal();
    assert_eq!(again, waiting);
    desk.turn_to(&again);
    let shown = desk.leaf_through().join("\n");
    let content = place.content(&again);
    for line in content.lines().map(str::trim).filter(|line| !line.is_empty()) {
        // Long lines are wrapped.
        let start: String = line.chars().take(50).collect();
        assert!(shown.contains(&start), "not on screen: {line}\n{shown}");
    }
    desk.approve_everything();
    desk.quit();
    let after = place.journal();
    assert_eq!(after[..before.len()], before[..], "the past was changed");
    let proposed = |event: &&Event| matches!(event, Event::Proposal(ProposalEvent::Made(p)) if p.id == waiting.id);
    assert_eq!(place.events().iter().filter(proposed).count(), 1, "proposed twice");
}

#[test]
fn left_for_later_it_is_there_again() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::SMALL);
    let waiting = desk.next_proposal();
    desk.turn_to(&waiting);
    desk.terminal.press("q");
    desk.terminal.wait_for("continue later");
    desk.terminal.press("down enter");
    assert_eq!(desk.terminal.wait_exit().exit_code(), 0);
    let resume = format!("firmhand resume {}", place.session_name());
    desk.terminal.wait_for_after_exit(&resume);
    assert_eq!(place.waiting()[0], waiting.id);

    let mut desk = Desk::resume(&place, Size::LARGE);
    let again = desk.next_proposal();
    assert_eq!(again, waiting);
    desk.approve(&again);
    let next = desk.next_proposal();
    assert_ne!(next.id, waiting.id);
}

#[test]
fn two_programs_cannot_run_one_session() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::SMALL);
    let waiting = desk.next_proposal();
    let mut second = place.open(&["resume"], Size::SMALL);
    assert_eq!(second.wait_exit().exit_code(), 1);
    second.wait_for_after_exit("open in another firmhand");
    // The first is not disturbed.
    desk.approve(&waiting);
}

#[test]
fn terminated_it_can_be_resumed() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::SMALL);
    let waiting = desk.next_proposal();
    desk.turn_to(&waiting);
    desk.terminal.signal(Signal::TERM);
    assert_eq!(desk.terminal.wait_exit().exit_code(), 143);
    assert!(place.journal_is_whole());
    let desk = Desk::resume(&place, Size::SMALL);
    assert_eq!(desk.next_proposal(), waiting);
}

#[test]
fn replayed_it_is_seen_again_step_by_step() {
    let place = Place::new();
    let mut desk = Desk::demo(&place, Size::LARGE);
    desk.approve_everything();
    desk.quit();
    let journal = place.journal();
    let count = journal.len();

    let mut replay = place.open(&["replay"], Size::LARGE);
    replay.press("$");
    replay.wait_for(&format!(r"\b{count}\b"));
    replay.wait_for("completed|Completed");
    replay.press("}");
    replay.wait_for("there is no later proposal");
    replay.press("0");
    replay.wait_gone("completed|Completed");
    replay.press(",");
    replay.wait_for("this is the start of the session");
    replay.press("}");
    let first = journal.iter().find_map(|record| match &record.event {
        Event::Proposal(ProposalEvent::Made(proposal)) => proposal.change.path().cloned(),
        _ => None,
    });
    let first = first.expect("a file was proposed");
    replay.wait_for(&format!("save {}", regex::escape(first.as_str())));
    // Nothing can be decided in the past.
    replay.press("3 a");
    std::thread::sleep(Duration::from_millis(300));
    replay.press("esc q");
    assert_eq!(replay.wait_exit().exit_code(), 0);
    assert_eq!(place.journal(), journal);
}

#[test]
fn a_journal_that_takes_no_more_ends_the_run_in_plain_words_and_nothing_is_lost() {
    let place = Place::new();
    // No file may grow beyond some kilobytes: to the journal that is a full disk.
    let script = r#"trap '' XFSZ; ulimit -f 48; exec "$0" "$@""#;
    let args = place.demo_args();
    let mut terminal = place.shell(script, &args.each_ref().map(String::as_str), Size::SMALL);
    terminal.wait_for("✗ stopped");
    terminal.wait_for("the run stopped: .* · q leaves");
    terminal.press("q");
    assert_eq!(terminal.wait_exit().exit_code(), 1);
    terminal
        .wait_for_after_exit("Continue: firmhand resume .*Cannot record an event.*why: .*fix: ");
    assert!(place.journal_is_whole());
    let desk = Desk::resume(&place, Size::SMALL);
    desk.next_proposal();
}

/// What is said now goes before what the session was given, and that before the configuration.
#[test]
fn limits_are_changed_for_the_rest_of_a_session() {
    let place = Place::new();
    let iterations = "max-orchestrator-iterations";
    let limit = |number: u32| format!("{iterations}={number}");
    let (first, project) = (limit(2), place.project().display().to_string());
    let begin = ["demo", "--team", "contract", "--speed", "max", "--project", &project];
    let begin = [&begin[..], &["--max-cost", "5", "--limit", &first]].concat();
    let mut desk = Desk { place: &place, terminal: place.open(&begin, Size::SMALL) };
    desk.next_proposal();
    desk.terminal.signal(Signal::KILL);
    desk.terminal.wait_exit();

    let budget = "[budget.session]\ntokens = 77\ndollars = 1.0\nminutes = 90.0\n";
    std::fs::write(place.config().join("config.toml"), budget).unwrap();
    let more = ["resume", "--speed", "max", "--limit", &limit(9), "--limit", "tokens=900000"];
    let mut desk = Desk { place: &place, terminal: place.open(&more, Size::SMALL) };
    let set = place.wait_for_event(&desk.terminal, "what was set", |event| match event {
        Event::Session(SessionEvent::Resumed { choices, .. }) => choices.clone(),
        _ => None,
    });
    assert_eq!(
        set.team_limits.into_iter().collect::<Vec<_>>(),
        [(iterations.replace('-', "_"), 9)]
    );
    let wanted = Budget {
        tokens: Some(900_000),
        cost: Some(Cost::from_dollars(5.0)),
        seconds: Some(90 * 60),
        turns: None,
    };
    let is_it = |event: &Event| *event == Event::Model(ModelEvent::Budgeted(wanted));
    place.wait_for_event(&desk.terminal, "the budget", |event| is_it(event).then_some(()));
    desk.approve_everything();
    desk.quit();

    // Nothing more is recorded where nothing more is said.
    let before = place.events().len();
    let mut desk = Desk::resume(&place, Size::SMALL);
    desk.terminal.wait_for("completed");
    desk.quit();
    let is_set = |event: &Event| matches!(event, Event::Model(ModelEvent::Budgeted(_)));
    assert!(!place.events()[before..].iter().any(is_set));
}
