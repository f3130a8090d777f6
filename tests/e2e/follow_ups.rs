//! A session lives on: what is typed when a run is over begins the next one in the same session.

use std::fs;

use firmhand::model::event::RunStart;
use firmhand::model::{Event, PersonEvent, SessionEvent};
use rustix::process::Signal;

use crate::place::Place;
use crate::terminal::{PATIENCE, Size, Terminal};

const SCRIPT: &str = r#"
format = 1
title = "Four questions"
task = "What is I2C?"
team = "single"
start = "one"
verbatim = true

[[steps]]
id = "one"
agent = "AnswerAgent"
say = "I2C has two wires."
next = [{ goto = "two" }]

[[steps]]
id = "two"
agent = "AnswerAgent"
expect = { mentions = ["What is I2C?"] }
say = "SPI has four wires."
next = [{ goto = "three" }]

[[steps]]
id = "three"
agent = "AnswerAgent"
say = "CAN has two wires as well."
next = [{ goto = "four" }]

[[steps]]
id = "four"
agent = "AnswerAgent"
say = "Ethernet has eight wires."
end = true
"#;

fn begin(place: &Place, size: Size) -> Terminal {
    let script = place.path("four.toml");
    fs::write(&script, SCRIPT).unwrap();
    let script = script.display().to_string();
    let args = ["new", "What is I2C?", "--team", "single", "--script", &script, "--speed", "max"];
    place.open(&args, size)
}

fn ask(terminal: &mut Terminal, task: &str, answer: &str) {
    terminal.press("i");
    terminal.wait_for("what is next");
    terminal.type_text("/team single\r");
    terminal.wait_for("single: One agent answers");
    terminal.press("i");
    terminal.type_text(task);
    terminal.press("enter");
    terminal.wait_for(answer);
    terminal.wait_for("the run is over");
}

fn runs(place: &Place) -> Vec<RunStart> {
    let started = place.events().into_iter().filter_map(|event| match event {
        Event::Session(SessionEvent::RunStarted(start)) => Some(*start),
        _ => None,
    });
    started.collect()
}

#[test]
fn three_more_requests_are_one_session_and_one_story() {
    let place = Place::new();
    let mut terminal = begin(&place, Size::LARGE);
    terminal.wait_for("the run is over");
    ask(&mut terminal, "And SPI?", "SPI has four wires");
    ask(&mut terminal, "And CAN?", "CAN has two wires");
    terminal.press("esc q");
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    terminal.wait_for_after_exit("Ask for more: firmhand resume");
    // It is taken up again after its end.
    let mut terminal = place.open(&["resume", "--speed", "max"], Size::LARGE);
    terminal.wait_for("the run is over");
    ask(&mut terminal, "And Ethernet?", "Ethernet has eight");
    terminal.press("esc q");
    terminal.wait_exit();
    let reported: Vec<(u32, String)> =
        runs(&place).into_iter().map(|run| (run.number, run.task)).collect();
    let wanted = [(2, "And SPI?"), (3, "And CAN?"), (4, "And Ethernet?")];
    assert_eq!(reported, wanted.map(|(number, task)| (number, task.to_owned())));
    assert!(place.journal_is_whole());
    let story = place.run(&["replay", "--plain"]);
    let story = String::from_utf8(story.stdout).unwrap();
    let places = ["What is I2C?", "two wires", "And SPI?", "four wires", "And CAN?", "And Eth"];
    let found: Vec<Option<usize>> = places.iter().map(|words| story.find(words)).collect();
    assert!(found.is_sorted() && found.iter().all(Option::is_some), "{found:?}\n{story}");
    let mut terminal = place.open(&["replay"], Size::LARGE);
    terminal.press("G");
    terminal.wait_for("request 4");
    terminal.press("q");
    terminal.wait_exit();
}

#[test]
fn an_ended_session_goes_on_line_by_line() {
    let place = Place::new();
    let mut terminal = begin(&place, Size::LARGE);
    terminal.wait_for("the run is over");
    terminal.press("q");
    terminal.wait_exit();
    // Opened again and killed, it is as over as before.
    let mut terminal = place.open(&["resume", "--plain"], Size::LARGE);
    terminal.wait_for("Type: task WORDS, or quit");
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    let resumptions = || {
        let events = place.events().into_iter();
        events.filter(|e| matches!(e, Event::Session(SessionEvent::Resumed { .. }))).count()
    };
    assert_eq!(resumptions(), 0);
    let mut terminal = place.open(&["resume", "--plain"], Size::LARGE);
    terminal.wait_for("Type: task WORDS, or quit");
    // No model knows it: the person is reported, and the session stays.
    terminal.type_text("task Write about SPI\r");
    place.wait_for_event(&terminal, "the next run", |event| match event {
        Event::Session(SessionEvent::RunStarted(start)) => Some(start.team.clone()),
        _ => None,
    });
    terminal.wait_for("Try again");
    terminal.type_text("stop\r");
    let ended = place.within(PATIENCE, || {
        let events = place.events();
        let over =
            events.iter().filter(|e| matches!(e, Event::Session(SessionEvent::Ended { .. })));
        (over.count() == 2).then_some(())
    });
    assert_eq!(ended, Some(()));
    assert_eq!(resumptions(), 1);
    terminal.type_text("quit\r");
    terminal.wait_exit();
}

#[test]
fn a_session_whose_project_is_gone_says_so() {
    let place = Place::new();
    let mut terminal = begin(&place, Size::LARGE);
    terminal.wait_for("the run is over");
    let start = place.events().into_iter().find_map(|event| match event {
        Event::Session(SessionEvent::Started(start)) => Some(start.project),
        _ => None,
    });
    fs::remove_dir_all(start.unwrap()).unwrap();
    terminal.press("i");
    terminal.type_text("And SPI?\r");
    let reported = place.event_within(PATIENCE, |event| match event {
        Event::Person(PersonEvent::Noticed { notice, .. }) => {
            notice.why.contains("is gone").then(|| notice.why.clone())
        }
        _ => None,
    });
    assert!(reported.is_some());
    terminal.press("esc q");
    terminal.wait_exit();
    let mut terminal = place.open(&["resume"], Size::LARGE);
    assert_ne!(terminal.wait_exit().exit_code(), 0);
    terminal.wait_for_after_exit("Cannot resume");
    assert_eq!(runs(&place), []);
}

#[test]
fn an_ended_session_of_another_version_says_what_cannot_be_read_and_goes_on() {
    let place = Place::new();
    let mut terminal = begin(&place, Size::LARGE);
    terminal.wait_for("the run is over");
    terminal.press("q");
    terminal.wait_exit();
    let journal = place.session().join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let other = |(at, line): (usize, &str)| match line.contains("\"session_sandboxed\"") {
        true => format!(
            "{{\"v\":1,\"seq\":{},\"at\":{},\"event\":{{\"mood_changed\":{{}}}}}}\n",
            at + 1,
            1_700_000_000_000_u64,
        ),
        false => format!("{line}\n"),
    };
    let older: String = text.lines().enumerate().map(other).collect();
    assert!(older.contains("mood_changed"), "{text}");
    fs::write(&journal, older).unwrap();
    let mut terminal = place.open(&["resume", "--speed", "max"], Size::LARGE);
    terminal.wait_for("1 line of this session's journal cannot be read");
    terminal.wait_for("unknown event `mood_changed`");
    ask(&mut terminal, "And SPI?", "SPI has four wires.");
    terminal.press("q");
    terminal.wait_exit();
    // A journal whose start is unknown cannot go on, and says why.
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("\"session_started\"", "\"dream_started\"", 1)).unwrap();
    let mut refused = place.open(&["resume"], Size::LARGE);
    refused.wait_for("unknown event `dream_started`");
    assert!(!refused.wait_exit().success());
}

#[test]
fn a_session_can_be_renamed_while_it_runs() {
    let place = Place::new();
    let mut terminal = begin(&place, Size::LARGE);
    terminal.wait_for("the run is over");
    let id = place.session_name();
    let renamed = place.run(&["sessions", "rename", &id, "Bus questions"]);
    assert_eq!(renamed.status.code(), Some(0), "{}", String::from_utf8_lossy(&renamed.stderr));
    let listed = String::from_utf8(place.run(&["sessions"]).stdout).unwrap();
    assert!(listed.contains("Bus questions") && listed.contains("open (process"), "{listed}");
    ask(&mut terminal, "And SPI?", "SPI has four wires.");
    terminal.press("q");
    terminal.wait_exit();
    terminal.wait_for_after_exit("Bus questions");
    assert_eq!(runs(&place).len(), 1, "nothing is lost");
    let mut terminal = place.open(&["replay", "bus questions"], Size::LARGE);
    terminal.wait_for("SPI has four wires.");
    terminal.press("q");
    terminal.wait_exit();
}

#[test]
fn what_was_stopped_before_it_wrote_a_file_goes_on_with_its_own_team() {
    let place = Place::new();
    let mut terminal = place.open(&["demo", "--team", "mesh"], Size::LARGE);
    terminal.wait_for("Planner");
    terminal.press("i");
    terminal.type_text("/stop\r");
    terminal.wait_for("the run is over");
    terminal.press("i");
    terminal.wait_for("team mesh");
    terminal.press("esc q");
    terminal.wait_exit();
}

#[test]
fn a_recorded_task_is_not_played_with_a_team_that_it_was_not_recorded_with() {
    let place = Place::new();
    let mut terminal = begin(&place, Size::LARGE);
    terminal.wait_for("the run is over");
    terminal.press("i");
    terminal.type_text("/team single\r");
    terminal.wait_for("single: One agent answers");
    terminal.press("i");
    terminal.type_text("Warn when it is warmer than 20 degrees\r");
    let reported = place.event_within(PATIENCE, |event| match event {
        Event::Person(PersonEvent::Noticed { notice, .. }) => {
            notice.why.contains("plays the team `pair`").then(|| notice.clone())
        }
        _ => None,
    });
    let notice = reported.unwrap();
    assert!(notice.fix.contains("/team pair"), "{notice:?}");
    assert_eq!(runs(&place), []);
    terminal.press("esc q");
    terminal.wait_exit();
}
