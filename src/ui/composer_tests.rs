//! Tests of the message field: whom it goes to, commands, history, completion.

use std::sync::Arc;

use crossterm::event::Event as TerminalEvent;

use super::fixture::UiBench;
use super::tests::intents;
use crate::model::event::{self, RunStart};
use crate::model::{
    AgentName, Event, Intent, ModelEvent, NextSuggestion, PersonEvent, SessionEvent,
    SessionOutcome, TeamOffer, TeamOffers, UserError,
};

#[test]
fn messages_go_to_the_team_or_to_one_agent() {
    let mut desk = UiBench::at_work(80, 24);
    desk.press("i");
    desk.type_text("keep it small");
    let message = |to, text: &str| Intent::Say { to, text: text.into() };
    assert_eq!(intents(&desk.press("enter")), [message(None, "keep it small")]);
    desk.press("i");
    desk.type_text("not that");
    desk.press("ctrl-u");
    desk.type_text("@codef use the new driver");
    let agent = AgentName::from("CodeFixerAgent");
    assert_eq!(intents(&desk.press("enter")), [message(Some(agent), "use the new driver")]);
    desk.press("i");
    desk.type_text("@nobody hello");
    assert_eq!(desk.press("enter"), []);
    assert!(desk.last_row().contains("@BuildAgent"), "{}", desk.last_row());
}

#[test]
fn commands_are_known_or_refused_with_those_there_are() {
    for (text, expected) in
        [("/pause", Intent::Pause), ("/resume", Intent::Resume), ("/stop", Intent::Stop)]
    {
        let mut desk = UiBench::at_work(80, 24);
        desk.press("i");
        desk.type_text(text);
        assert_eq!(intents(&desk.press("enter")), [expected]);
    }
    let mut over = UiBench::at_work(80, 24);
    over.end(SessionOutcome::Completed);
    over.sync();
    for text in ["/pause", "/resume", "/stop"] {
        over.press("i");
        over.press("ctrl-u");
        over.type_text(text);
        assert_eq!(intents(&over.press("enter")), []);
        assert!(over.last_row().contains("the run is over"), "{}", over.last_row());
    }
    let mut desk = UiBench::at_work(80, 24);
    desk.press(";");
    desk.type_text("stpo");
    assert_eq!(desk.press("enter"), []);
    assert!(desk.last_row().contains("/stop"), "{}", desk.last_row());
    assert!(desk.screen().contains("/stpo"));
}

#[test]
fn the_history_brings_messages_back() {
    let mut desk = UiBench::at_work(80, 24);
    for text in ["first", "second"] {
        desk.press("i");
        desk.type_text(text);
        desk.press("enter");
    }
    desk.press("i");
    desk.type_text("draft");
    desk.press("ctrl-p ctrl-p");
    assert_eq!(desk.ui.bench.panes.composer.text(), "first");
    desk.press("ctrl-n ctrl-n");
    assert_eq!(desk.ui.bench.panes.composer.text(), "draft");
}

#[test]
fn pasted_lines_stay_in_the_message() {
    let mut desk = UiBench::at_work(80, 24);
    assert_eq!(desk.event(&TerminalEvent::Paste("one\r\ntwo\na\n".into())), []);
    assert_eq!(desk.ui.bench.panes.composer.text(), "one\ntwo\na\n");
}

#[test]
fn a_message_is_completed_from_agents_files_and_commands() {
    let mut desk = UiBench::at_work(120, 40);
    desk.press("i");
    desk.type_text("look at @i2csc");
    let screen = desk.screen();
    assert!(screen.contains("@main/src/i2c_scan.c"), "{screen}");
    desk.press("tab");
    assert!(desk.screen().contains("› look at @main/"), "{}", desk.screen());
    // The file that is named is given to every agent.
    let sent = intents(&desk.press("enter"));
    assert!(
        matches!(&sent[0], Intent::EditContext { add, .. } if add[0].as_str().starts_with("main/")),
        "{sent:?}"
    );
    assert!(
        matches!(&sent[1], Intent::Say { to: None, text } if text.starts_with("look at @main/"))
    );
    desk.press("i");
    desk.type_text("/st");
    assert!(desk.screen().contains("ends the run"));
    // Escape closes the list before it leaves the message.
    desk.press("esc");
    assert!(!desk.screen().contains("ends the run"));
    desk.type_text("o");
    desk.press("tab enter");
    assert!(desk.screen().contains("/stop") || desk.screen().contains("message the team"));
}

/// One team for what is there, and another for one recorded task.
struct Offers;

impl TeamOffers for Offers {
    fn offers(&self) -> Vec<TeamOffer> {
        let offer = |name: &str| TeamOffer {
            name: name.into(),
            title: name.into(),
            description: String::new(),
        };
        vec![offer("edit-generated"), offer("single")]
    }

    fn suggested(&self, task: &str, provider: &str) -> NextSuggestion {
        let team = (task == "How is a register read?").then(|| "single".to_owned());
        let is_new = task == "Add a button" && provider.starts_with("script:");
        NextSuggestion { team, profile: is_new.then(|| "mine".to_owned()) }
    }
}

/// A run has ended, and the person begins to write.
fn writing_the_next_task(width: u16, height: u16) -> UiBench {
    let mut desk = UiBench::at_work(width, height);
    desk.ui.bench.panes.composer.choose_teams_from(Arc::new(Offers));
    let outcome = SessionOutcome::Completed;
    desk.record(10, Event::Session(SessionEvent::Ended { outcome }));
    desk.sync();
    desk.press("i");
    desk
}

#[test]
fn the_team_that_is_shown_is_the_one_that_will_run_and_a_refused_task_comes_back() {
    let mut desk = writing_the_next_task(120, 40);
    desk.type_text("How is a register read");
    assert!(desk.screen().contains(" edit-generated "), "{}", desk.screen());
    desk.type_text("?");
    assert!(desk.screen().contains(" single "), "{}", desk.screen());
    let sent = intents(&desk.press("enter"));
    let task = "How is a register read?";
    assert_eq!(sent, [Intent::StartRun { task: task.into(), team: None }]);
    desk.sync();
    assert_eq!(desk.ui.bench.panes.composer.text(), "");
    let notice = UserError::new("Cannot start the task", "a board is being written", "Wait.");
    let level = event::Level::Warning;
    desk.record(10, Event::Person(PersonEvent::Noticed { level, notice: notice.clone() }));
    desk.sync();
    assert_eq!(desk.ui.bench.panes.composer.text(), task);
    // Once it has begun, no later warning brings it back.
    desk.press("i");
    assert_eq!(intents(&desk.press("enter")).len(), 1);
    let start = RunStart {
        number: 2,
        task: task.into(),
        team: "single".into(),
        why: String::new(),
        changed: Vec::new(),
    };
    desk.record(10, Event::Session(SessionEvent::RunStarted(Box::new(start))));
    desk.record(10, Event::Person(PersonEvent::Noticed { level, notice }));
    desk.sync();
    assert_eq!(desk.ui.bench.panes.composer.text(), "");
}

/// A service answers: the team that is shown is found for it as well.
#[test]
fn the_team_is_also_suggested_where_a_service_answers() {
    let mut desk = writing_the_next_task(120, 40);
    let chosen = ModelEvent::Chosen { provider: "profile:mine".into(), label: "mine".into() };
    desk.record(10, Event::Model(chosen));
    desk.sync();
    desk.type_text("How is a register read?");
    assert!(desk.screen().contains(" single "), "{}", desk.screen());
}

/// A recording costs nothing, and a model may: the person is asked before it answers for the first time.
#[test]
fn a_task_without_a_recording_names_the_model_and_asks_before_it_is_sent() {
    let mut desk = writing_the_next_task(80, 24);
    let chosen =
        ModelEvent::Chosen { provider: "script:scan".into(), label: "scripted model".into() };
    desk.record(10, Event::Model(chosen));
    desk.sync();
    desk.type_text("Add a button");
    assert!(desk.screen().contains(" model mine · team edit-generated "), "{}", desk.screen());
    assert_eq!(desk.press("enter"), []);
    assert_eq!(desk.ui.bench.panes.composer.text(), "Add a button");
    let shown = desk.screen();
    assert!(shown.contains("your model `mine` would answer"), "{shown}");
    let sent = intents(&desk.press("enter"));
    assert_eq!(sent, [Intent::StartRun { task: "Add a button".into(), team: None }]);
}

/// What comes of a request is in the chat, wherever it was written.
#[test]
fn a_request_turns_to_the_chat_where_the_screen_shows_one_pane() {
    let mut desk = writing_the_next_task(80, 24);
    desk.press("esc 3 i");
    assert!(!desk.screen().contains("─ Chat ─"), "{}", desk.screen());
    desk.type_text("How is a register read?");
    assert_eq!(intents(&desk.press("enter")).len(), 1);
    desk.sync();
    assert!(desk.screen().contains("─ Chat ─"), "{}", desk.screen());
}

#[test]
fn teams_are_walked_through_both_ways() {
    let mut desk = writing_the_next_task(120, 40);
    assert!(desk.screen().contains(" edit-generated ctrl-t other team"), "{}", desk.screen());
    desk.press("alt-t");
    assert!(desk.screen().contains(" single "), "the last one: {}", desk.screen());
    desk.press("ctrl-t");
    assert!(desk.screen().contains(" edit-generated "), "{}", desk.screen());
}

#[test]
fn what_is_next_is_asked_with_an_ellipsis_where_there_is_little_room() {
    let desk = writing_the_next_task(60, 16);
    let screen = desk.screen();
    let row = screen.lines().find(|row| row.contains("what is next?")).unwrap();
    assert!(row.contains('…') || row.contains("in this session"), "{screen}");
}

/// A request that takes two rows at 80 columns and more than three with `times`.
fn request(times: usize) -> String {
    "Print the address of each device found on the bus, ".repeat(times)
}

#[test]
fn a_message_that_is_wrapped_shows_all_its_rows_or_says_where_it_is_cut() {
    for (width, height, most) in [(80, 24, 3), (120, 40, 5)] {
        let mut desk = UiBench::at_work(width, height);
        desk.press("i");
        desk.event(&TerminalEvent::Paste(format!("BEGINS {}ENDS", request(3))));
        desk.sync();
        let screen = desk.screen();
        assert!(screen.contains("› BEGINS") && screen.contains("ENDS"), "{screen}");
        desk.event(&TerminalEvent::Paste(request(20)));
        desk.event(&TerminalEvent::Paste("LAST".into()));
        desk.sync();
        let screen = desk.screen();
        let first = screen.lines().position(|row| row.starts_with(" ›…")).expect(&screen);
        let last = screen.lines().position(|row| row.contains("LAST")).expect(&screen);
        assert_eq!(last - first + 1, most, "{screen}");
        desk.press("esc");
        desk.sync();
        let screen = desk.screen();
        assert!(screen.contains("› not sent: BEGINS") && !screen.contains("LAST"), "{screen}");
        let end = screen.lines().nth(usize::from(height) - 2).unwrap_or_default();
        assert!(end.ends_with('…'), "{screen}");
    }
}

#[test]
fn why_a_task_cannot_start_is_on_the_screen_wherever_the_person_looked() {
    let what = "Cannot start: no model can do this task";
    let (why, fix) = ("the recording knows other tasks", "Set up a model, see firmhand doctor.");
    for (width, height) in [(80, 24), (120, 40)] {
        for keys in ["2 home", "4", "1"] {
            let mut desk = writing_the_next_task(width, height);
            desk.press("esc");
            desk.press(keys);
            desk.press("i");
            desk.type_text("Blink twice");
            desk.press("enter");
            let (level, notice) = (event::Level::Warning, UserError::new(what, why, fix));
            desk.record(10, Event::Person(PersonEvent::Noticed { level, notice }));
            desk.sync();
            desk.sync();
            let screen = desk.screen().split_whitespace().collect::<Vec<_>>().join(" ");
            for words in ["no model can", "other tasks", "Set up a model"] {
                assert!(screen.contains(words), "{keys}: {words}: {}", desk.screen());
            }
        }
    }
}
