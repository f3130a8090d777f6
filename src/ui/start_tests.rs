//! Tests of the start screen.

use crossterm::event::{KeyModifiers, MouseEvent};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::config::Assets;
use crate::model::{Budget, Health, HealthLine};
use crate::ui::Depth;
use crate::ui::overlay::ModelOffer;

use super::*;

fn facts() -> StartFacts {
    let session = |name: &str, open, state: &str| StartSession {
        name: name.into(),
        title: String::new(),
        project: "/home/me/blinky".into(),
        task: format!("Scan the I2C bus and print what answers ({name})"),
        earlier: Vec::new(),
        requests: 1,
        team: "generate".into(),
        state: state.into(),
        when: "2026-01-02 03:04".into(),
        open,
    };
    StartFacts {
        demo: "Scan the I2C bus and print what answers".into(),
        models: Vec::new(),
        model: None,
        sessions: vec![
            session("b", SessionAccess::ResumeOrReplay, "unfinished, 1 waiting"),
            session("a", SessionAccess::Replay, "completed"),
        ],
        teams: vec!["generate".into(), "mesh".into()],
        outlooks: Outlooks::default(),
        projects: vec!["/home/me/blinky".into()],
        findings: vec![
            HealthLine::new("toolchain", "ESP-IDF", Health::Absent, "idf.py is not found")
                .fix("run the export script of ESP-IDF"),
            HealthLine::new("terminal", "terminal", Health::Good, "24-bit colours"),
        ],
        examples: vec![
            StartExample {
                name: "i2c-driver".into(),
                title: "An I2C driver".into(),
                team: "generate".into(),
                task: "Generate an I2C driver\nfor the ESP32".into(),
                note: "runs without a model".into(),
                ground: ExampleGround::Own,
            },
            StartExample {
                name: "led".into(),
                title: "Blink an LED".into(),
                team: "edit-generated".into(),
                task: "Blink".into(),
                note: "changes what `i2c-driver` made".into(),
                ground: ExampleGround::Project,
            },
        ],
        news: vec![
            "The review shows a plan while nothing waits.".into(),
            "Questions are answered in a dialog.".into(),
        ],
        error: None,
        draft: None,
    }
}

fn start(facts: StartFacts) -> Start {
    let assets = Assets::built_in();
    let theme = Theme::load(&assets, "dark", Depth::True).unwrap();
    Start::new(theme, Keymap::load(&assets, "default").unwrap(), facts)
}

fn screen(start: &Start, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| start.draw(frame)).unwrap();
    terminal.backend().to_string()
}

fn press(start: &mut Start, keys: &[KeyCode]) -> Option<StartChoice> {
    let mut last = None;
    for code in keys {
        last = start.on_event(&Event::Key(KeyEvent::new(*code, KeyModifiers::NONE)));
    }
    last
}

use KeyCode::{Char, Down, End, Enter, Esc, Left, Right, Tab};

#[test]
fn screens_of_the_start() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        insta::assert_snapshot!(
            format!("start_{width}x{height}"),
            screen(&start(facts()), width, height)
        );
    }
    let empty = StartFacts { demo: "Scan".into(), ..StartFacts::default() };
    insta::assert_snapshot!("start_empty", screen(&start(empty), 80, 24));
    assert!(screen(&start(facts()), 59, 15).contains("firmhand needs 60×16, this is 59×15"));
}

#[test]
fn a_new_task_has_a_team_a_limit_and_a_temperature_to_choose() {
    let mut start = start(facts());
    press(&mut start, &[Char('i'), Char('x')]);
    let shown = screen(&start, 80, 24);
    for words in [
        "the team that fits",
        "no token limit",
        "no cost limit",
        "no time limit",
        "usual temperature",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let mut control = |letter| {
        let key = KeyEvent::new(Char(letter), KeyModifiers::CONTROL);
        start.on_event(&Event::Key(key));
    };
    ['t', 't', 'l', 'g', 'g', 'n', 'e', 'e', 'e', 'u'].into_iter().for_each(&mut control);
    let shown = screen(&start, 80, 24);
    assert!(shown.contains("› what should the team do?"), "ctrl-u clears: {shown}");
    let alt = KeyEvent::new(Char('e'), KeyModifiers::ALT);
    start.on_event(&Event::Key(alt));
    press(&mut start, &[Char('x')]);
    let shown = screen(&start, 80, 24);
    for words in [
        "team mesh",
        "ask after 50,000 tokens",
        "ask after $0.50",
        "ask after 5 min",
        "temperature 0.2",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let draft = Draft {
        task: "x".into(),
        team: Some("mesh".into()),
        budget: Budget {
            tokens: Some(50_000),
            cost: Some(crate::model::Cost(500_000_000)),
            seconds: Some(300),
            turns: None,
        },
        temperature: Some(2),
        ..Draft::default()
    };
    assert_eq!(press(&mut start, &[Enter]), Some(StartChoice::New(draft)));
}

#[test]
fn everything_can_be_chosen_by_keys() {
    let mut start = start(facts());
    assert_eq!(press(&mut start, &[Enter]), Some(StartChoice::Demo));
    assert_eq!(
        press(&mut start, &[Down, Down, Down, Enter]),
        Some(StartChoice::Resume("b".into()))
    );
    assert_eq!(press(&mut start, &[Right, Enter]), Some(StartChoice::Replay("b".into())));
    let from_start = Some(StartChoice::ReplayFromStart("b".into()));
    assert_eq!(press(&mut start, &[Right, Enter]), from_start);
    assert_eq!(press(&mut start, &[Right, Enter]), from_start, "there is no other way");
    assert_eq!(press(&mut start, &[Left, Enter]), Some(StartChoice::Replay("b".into())));
    assert_eq!(press(&mut start, &[Down, Enter]), Some(StartChoice::Replay("a".into())));
    assert_eq!(press(&mut start, &[Down, Enter, Char('h'), Char('i')]), None);
    let project = Some("/home/me/blinky".into());
    assert_eq!(press(&mut start, &[Enter]), Some(new("hi", project, None)));
    assert_eq!(press(&mut start, &[Esc]), None, "the text is left first");
    assert_eq!(press(&mut start, &[Char('q')]), Some(StartChoice::Quit));
}

fn new(task: &str, project: Option<String>, model: Option<&str>) -> StartChoice {
    StartChoice::New(Draft {
        task: task.into(),
        project,
        model: model.map(Into::into),
        example: None,
        ..Draft::default()
    })
}

#[test]
fn the_model_that_answers_is_chosen_by_keys_and_by_the_mouse() {
    let offer = |profile: &str, label: &str| ModelOffer {
        profile: profile.into(),
        label: format!("{label} (openai)"),
    };
    let models = vec![offer("strong", "gpt-5"), offer("cheap", "gpt-5-mini")];
    let with = StartFacts { models, model: Some("strong".into()), ..facts() };
    let mut start = start(with);
    insta::assert_snapshot!("start_models_80x24", screen(&start, 80, 24));
    press(&mut start, &[Down, Down, Down, Down, Enter]);
    assert!(screen(&start, 80, 24).contains("● gpt-5-mini"), "{}", screen(&start, 80, 24));
    let chosen = press(&mut start, &[Char('i'), Char('h'), Char('i')]);
    assert_eq!(chosen, None);
    let shown = screen(&start, 120, 40);
    assert!(shown.contains("gpt-5-mini (openai) ctrl-o"), "{shown}");
    assert!(shown.contains("in a new folder › hi"), "{shown}");
    assert_eq!(press(&mut start, &[Enter]), Some(new("hi", None, Some("cheap"))));
    // It can still be changed while the task is written, and nothing of that is cut.
    let control = KeyEvent::new(Char('o'), KeyModifiers::CONTROL);
    start.on_event(&Event::Key(control));
    let shown = screen(&start, 80, 24);
    for words in ["usual temperature ctrl-e", "gpt-5 (openai) ctrl-o"] {
        let row =
            shown.lines().find(|row| row.contains(words)).unwrap_or_else(|| panic!("{shown}"));
        assert!(!row.contains('…'), "{row}");
    }
    assert_eq!(press(&mut start, &[Enter]), Some(new("hi", None, Some("strong"))));
    start.on_event(&Event::Key(control));
    press(&mut start, &[Esc]);
    let shown = screen(&start, 80, 24);
    let row = shown.lines().position(|line| line.contains("gpt-5 (")).unwrap();
    let click = Event::Mouse(MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 9,
        row: u16::try_from(row).unwrap(),
        modifiers: KeyModifiers::NONE,
    });
    assert_eq!((start.on_event(&click), start.on_event(&click)), (None, None));
    let chosen = press(&mut start, &[Char('i'), Char('h'), Enter]);
    assert_eq!(chosen, Some(new("hih", None, Some("strong"))));
}

#[test]
fn a_doctors_line_tells_the_fix() {
    let mut start = start(facts());
    press(&mut start, &[End, Char('k')]);
    assert!(screen(&start, 80, 24).contains("fix: run the export script of ESP-IDF"));
    press(&mut start, &[Enter]);
    assert!(screen(&start, 80, 24).contains("run the export script"));
}

#[test]
fn a_task_is_never_empty_and_pasted_text_stays_on_one_line() {
    let mut start = start(facts());
    press(&mut start, &[Char('i'), Enter]);
    assert!(screen(&start, 80, 24).contains("write what the team should do"));
    start.on_event(&Event::Paste("blink\nthe LED".into()));
    let chosen = press(&mut start, &[Enter]);
    assert_eq!(chosen, Some(new("blink the LED", None, None)));
}

#[test]
fn a_task_that_could_not_be_begun_is_not_lost() {
    let draft = Some(Draft { task: "blink".into(), ..Draft::default() });
    let mut start = start(StartFacts { error: Some("no model".into()), draft, ..facts() });
    assert!(
        screen(&start, 80, 24).contains("blink") && screen(&start, 80, 24).contains("no model")
    );
    let chosen = press(&mut start, &[Char('s'), Enter]);
    assert_eq!(chosen, Some(new("blinks", None, None)));
}

#[test]
fn a_click_turns_to_a_row_and_a_second_one_opens_it() {
    let mut start = start(facts());
    let shown = screen(&start, 80, 24);
    let row = shown.lines().position(|line| line.contains("blinky  completed")).unwrap();
    let row = u16::try_from(row).unwrap();
    let click = Event::Mouse(MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 9,
        row,
        modifiers: KeyModifiers::NONE,
    });
    assert_eq!(start.on_event(&click), None);
    assert_eq!(start.on_event(&click), Some(StartChoice::Replay("a".into())));
}

#[test]
fn foreign_words_are_clean() {
    let mut facts = facts();
    facts.sessions[0].task = "x\x1b]0;owned\x07\x1b[2J".into();
    facts.error = Some("y\x1b[2J".into());
    let shown = screen(&start(facts), 120, 40);
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
}

#[test]
fn an_example_brings_its_task_and_team_and_can_be_changed_before_it_begins() {
    let mut start = start(facts());
    assert!(!screen(&start, 80, 24).contains("An I2C driver"));
    press(&mut start, &[Down, Down, Enter]);
    insta::assert_snapshot!("start_examples", screen(&start, 120, 40));
    assert_eq!(press(&mut start, &[Down, Enter]), None);
    let shown = screen(&start, 120, 40);
    assert!(shown.contains("generate · in a new folder › Generate an I2C driver for"), "{shown}");
    let of = |task: &str, project: Option<&str>, name: &str| {
        let (task, project) = (task.to_owned(), project.map(str::to_owned));
        let example = Some(name.to_owned());
        Some(StartChoice::New(Draft { task, project, example, ..Draft::default() }))
    };
    let task = "Generate an I2C driver for the ESP32";
    assert_eq!(press(&mut start, &[Enter]), of(task, None, "i2c-driver"));
    let changed = press(&mut start, &[Tab, Char('!'), Enter]);
    assert_eq!(changed, of(&format!("{task}!"), Some("/home/me/blinky"), "i2c-driver"));
    assert_eq!(
        press(&mut start, &[Esc, Down, Enter, Enter]),
        of("Blink", Some("/home/me/blinky"), "led")
    );
    press(&mut start, &[Esc, Left]);
    assert!(!screen(&start, 80, 24).contains("An I2C driver"), "left folds the list");
}

#[test]
fn an_example_that_could_not_be_begun_is_there_again_with_its_team() {
    let draft = Draft {
        task: "Blink twice".into(),
        example: Some("led".into()),
        project: Some("/home/me/blinky".into()),
        model: None,
        ..Draft::default()
    };
    let again = StartFacts { draft: Some(draft.clone()), ..facts() };
    let mut start = start(again);
    assert!(screen(&start, 120, 40).contains("edit-generated · /home/me/blinky › Blink twice"));
    assert_eq!(press(&mut start, &[Enter]), Some(StartChoice::New(draft)));
}

#[test]
fn an_example_that_changes_a_project_says_so_where_none_is_known() {
    let mut start = start(StartFacts { projects: Vec::new(), ..facts() });
    assert_eq!(press(&mut start, &[Down, Down, Enter, Down, Down, Enter]), None);
    let shown = screen(&start, 120, 40);
    assert!(shown.contains("firmhand new --example led --project DIR"), "{shown}");
}

#[test]
fn sessions_are_searched_renamed_and_deleted_after_a_question() {
    let mut start = start(facts());
    press(&mut start, &[Char('/'), Char('u'), Char('n'), Char('f')]);
    let shown = screen(&start, 160, 24);
    assert!(shown.contains("(b)") && !shown.contains("(a)"), "{shown}");
    press(&mut start, &[Enter, Char('e'), Char('L'), Char('a'), Char('m'), Char('p')]);
    assert!(screen(&start, 160, 24).contains("name of b › Lamp"));
    let rename = StartChoice::Rename { name: "b".into(), title: "Lamp".into() };
    assert_eq!(press(&mut start, &[Enter]), Some(rename));
    start.renamed("b", "Lamp");
    assert!(screen(&start, 160, 24).contains("Lamp · Scan"), "{}", screen(&start, 160, 24));
    assert_eq!(press(&mut start, &[Char('d'), Enter]), None, "enter does not confirm");
    assert_eq!(press(&mut start, &[Char('d'), Char('y')]), Some(StartChoice::Delete("b".into())));
    start.deleted("b");
    press(&mut start, &[Esc]);
    let shown = screen(&start, 160, 24);
    assert!(shown.contains("(a)") && !shown.contains("(b)"), "{shown}");
}

#[test]
fn a_list_of_many_sessions_takes_the_free_rows_and_leaves_some_to_the_other_blocks() {
    let first = facts().sessions.swap_remove(0);
    let of = |number| StartSession { task: format!("Task {number:03}"), ..first.clone() };
    let health = |_| HealthLine::new("tool", "tool", Health::Good, "it is there");
    let facts = StartFacts {
        sessions: (0..500).map(of).collect(),
        findings: (0..8).map(health).collect(),
        ..facts()
    };
    let mut start = start(facts);
    let count = |shown: &str, words: &str| shown.lines().filter(|row| row.contains(words)).count();
    let wide = screen(&start, 200, 60);
    assert!(count(&wide, "Task ") > 25, "{wide}");
    assert_eq!(count(&wide, "it is there"), 8, "{wide}");
    let small = screen(&start, 80, 24);
    assert!(small.contains("What is new") && count(&small, "it is there") >= 3, "{small}");
    press(&mut start, &[Tab, Tab, Tab]);
    assert!(start.rows[start.selected] == StartRow::HealthLine(0), "tab goes on by blocks");
    start.act(Action::FocusPrevious);
    start.act(Action::FocusPrevious);
    (0..60).for_each(|_| start.step(1));
    assert!(screen(&start, 80, 24).contains("Task 060"), "{}", screen(&start, 80, 24));
}

#[test]
fn news_that_do_not_fit_end_in_an_ellipsis() {
    let news = (0..9).map(|number| format!("{number} {}", "something is new here. ".repeat(9)));
    let start = start(StartFacts { news: news.collect(), ..facts() });
    let shown = screen(&start, 80, 24);
    let last = shown.lines().rfind(|row| row.contains("something")).unwrap();
    assert!(last.trim_end_matches([' ', '"']).ends_with('…'), "{shown}");
    let shown = screen(&start, 200, 60);
    assert!(shown.contains("8 something") && !shown.contains("here…"), "{shown}");
}

#[test]
fn a_session_tells_what_was_asked_last_and_how_many_requests_there_are() {
    let mut facts = facts();
    let session = &mut facts.sessions[0];
    session.task = "Why does it fail?".into();
    session.earlier = vec!["Generate an I2C driver".into()];
    session.requests = 5;
    let mut start = start(facts);
    let shown = screen(&start, 160, 40);
    let row = shown.lines().find(|row| row.contains("unfinished")).unwrap();
    assert!(row.contains("Generate an I2C driver · Why does it fail?"), "{shown}");
    press(&mut start, &[Down, Down, Down]);
    let shown = screen(&start, 160, 40);
    for words in ["last request Why does it fail?", "requests     5", "Generate an I2C driver"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn a_session_that_is_turned_to_keeps_its_date_and_the_place_of_its_state() {
    let mut start = start(facts());
    let column = |shown: &str| {
        let row = shown.lines().find(|row| row.contains("completed")).unwrap_or_default();
        assert!(row.contains("2026-01-02 03:04"), "{shown}");
        row.find("completed").map(|at| row[..at].chars().count())
    };
    let before = column(&screen(&start, 80, 24));
    press(&mut start, &[Down, Down, Down, Down]);
    let shown = screen(&start, 80, 24);
    assert!(shown.contains("[replay]"), "{shown}");
    assert_eq!(column(&shown), before, "{shown}");
}

#[test]
fn a_new_task_names_the_team_that_fits_and_what_answers_without_a_model() {
    let outlooks = Outlooks::new(|task, project| TaskOutlook {
        team: if project.is_some() { "mesh" } else { "generate" }.to_owned(),
        answered: Some(format!("nothing answers {task}")),
    });
    let mut start = start(StartFacts { outlooks, ..facts() });
    press(&mut start, &[Char('i')]);
    assert!(screen(&start, 120, 40).contains("the team that fits"));
    press(&mut start, &[Char('x')]);
    let shown = screen(&start, 120, 40);
    assert!(shown.contains("team generate fits ctrl-t"), "{shown}");
    assert!(shown.contains("nothing answers x"), "{shown}");
    press(&mut start, &[Tab]);
    assert!(screen(&start, 120, 40).contains("team mesh fits"));
    let offer = ModelOffer { profile: "a".into(), label: "gpt-5".into() };
    start.facts.models = vec![offer];
    assert!(!screen(&start, 120, 40).contains("nothing answers"), "a model is there");
}

#[test]
fn a_search_is_offered_only_where_there_are_sessions() {
    assert!(screen(&start(facts()), 80, 24).contains("search sessions"));
    let empty = StartFacts { demo: "Scan".into(), ..StartFacts::default() };
    assert!(!screen(&start(empty), 80, 24).contains("search sessions"));
}

#[test]
fn five_hundred_sessions_are_searched_renamed_and_deleted_right() {
    let session = |number: usize| StartSession {
        name: format!("2026-01-{number:03}"),
        title: String::new(),
        project: format!("/home/me/project-{number}"),
        task: format!("Task of session {number:03}"),
        earlier: Vec::new(),
        requests: 1,
        team: "generate".into(),
        state: "completed".into(),
        when: "2026-01-02 03:04".into(),
        open: SessionAccess::ResumeOrReplay,
    };
    let mut start = start(StartFacts { sessions: (0..500).map(session).collect(), ..facts() });
    start.know_all_requests();
    let shown = screen(&start, 120, 40);
    assert!(shown.contains("of 500 · / searches all"), "{shown}");
    // More than are listed at once are counted, and it says that there are more.
    press(&mut start, &[Char('/'), Char('t'), Char('a'), Char('s'), Char('k')]);
    assert!(screen(&start, 120, 40).contains("Sessions found 500"), "{}", screen(&start, 120, 40));
    press(&mut start, &[Enter]);
    start.act(Action::Bottom);
    assert!(screen(&start, 120, 40).contains("more words find fewer sessions"));
    // The oldest one of all is found, named and deleted; its neighbours stay.
    press(&mut start, &[Esc, Char('/'), Char('4'), Char('9'), Char('8'), Enter]);
    let shown = screen(&start, 120, 40);
    assert!(shown.contains("Sessions found 1") && shown.contains("session 498"), "{shown}");
    let rename = press(&mut start, &[Char('e'), Char('P'), Char('u'), Char('m'), Char('p'), Enter]);
    let title = "Pump".to_owned();
    assert_eq!(rename, Some(StartChoice::Rename { name: "2026-01-498".into(), title }));
    start.renamed("2026-01-498", "Pump");
    press(&mut start, &[Esc, Char('/'), Char('p'), Char('u'), Char('m'), Char('p'), Enter]);
    assert!(screen(&start, 120, 40).contains("Pump · Task of session 498"));
    let delete = press(&mut start, &[Char('d'), Char('y')]);
    assert_eq!(delete, Some(StartChoice::Delete("2026-01-498".into())));
    start.deleted("2026-01-498");
    assert!(screen(&start, 120, 40).contains("no session has these words"));
    assert_eq!(press(&mut start, &[Enter, Char('d'), Char('y')]), None, "nothing is selected");
    press(&mut start, &[Esc, Char('/'), Char('4'), Char('9'), Enter]);
    let shown = screen(&start, 120, 40);
    for kept in ["session 497", "session 499", "session 049"] {
        assert!(shown.contains(kept), "{kept}: {shown}");
    }
    assert!(!shown.contains("session 498") && shown.contains("Sessions found 14"), "{shown}");
}

#[test]
fn help_opens_and_a_long_reason_shows_whole() {
    let mut start = start(facts());
    press(&mut start, &[Char('?')]);
    let shown = screen(&start, 80, 24);
    assert!(shown.contains("rename the session") && shown.contains("quit"), "{shown}");
    assert_eq!(press(&mut start, &[Char('q')]), None, "it closes the help");
    start.refuse(format!("{} fix: set a profile", "No model is configured. ".repeat(8)));
    assert!(screen(&start, 80, 24).contains("fix: set a profile"));
}

#[test]
fn one_escape_does_not_leave() {
    let mut start = start(facts());
    assert_eq!(press(&mut start, &[Esc]), None);
    assert!(screen(&start, 80, 24).contains("press esc again"));
    assert_eq!(press(&mut start, &[Down, Esc]), None);
    assert_eq!(press(&mut start, &[Esc]), Some(StartChoice::Quit));
}

#[test]
fn the_selected_session_keeps_its_title_at_every_size() {
    for (width, height) in [(60, 16), (80, 24), (120, 40)] {
        for state in ["completed", "unfinished, 5 waiting", "running (process 26210)"] {
            let mut all = facts();
            all.sessions.iter_mut().for_each(|session| session.state = state.into());
            let title = all.sessions[0].title.clone();
            let start_of: String = title.chars().take(10).collect();
            let mut start = start(all);
            let mut found = false;
            for _ in 0..30 {
                press(&mut start, &[Down]);
                let shown = screen(&start, width, height);
                if let Some(row) = shown.lines().find(|row| row.contains('[')) {
                    found = true;
                    assert!(row.contains(&start_of), "{width} {state}: {shown}");
                }
            }
            assert!(found, "{width} {state}");
        }
    }
}

#[test]
fn the_list_shows_what_sessions_come_to_and_keeps_what_is_selected() {
    let mut start = start(facts());
    start.select_session("a");
    let mut sessions = start.facts.sessions.clone();
    assert!(!start.list_sessions(sessions.clone()), "nothing is drawn again for the same list");
    sessions[0].state = "stopped".into();
    let new = StartSession { name: "c".into(), state: "running".into(), ..sessions[0].clone() };
    sessions.insert(0, new);
    assert!(start.list_sessions(sessions.clone()));
    assert_eq!(start.selected_session().map(|session| session.name.as_str()), Some("a"));
    let shown = screen(&start, 120, 40);
    assert!(shown.contains("running") && !shown.contains("1 waiting"), "{shown}");
    press(&mut start, &[Char('/'), Char('z'), Char('z')]);
    start.list_sessions(sessions.into_iter().skip(1).collect());
    assert!(screen(&start, 120, 40).contains("older requests of long sessions are still being"));
    assert!(start.know_all_requests() && !start.know_all_requests());
    assert!(screen(&start, 120, 40).contains("no session has these words"));
}

#[test]
fn a_long_task_is_readable_while_it_is_written_and_escape_keeps_it() {
    let mut start = start(facts());
    press(&mut start, &[Char('i')]);
    let task = "Read the BME280 at 0x76 every five seconds, print temperature, humidity and \
                pressure, and blink the LED on GPIO 2 twice when a reading fails";
    start.on_event(&Event::Paste(task.into()));
    let shown = screen(&start, 80, 24);
    let joined = shown.replace('"', " ");
    let joined = joined.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(task), "{shown}");
    assert!(shown.contains("esc back, keeps the text"), "{shown}");
    assert_eq!(press(&mut start, &[Esc]), None);
    assert!(screen(&start, 80, 24).contains("go on with: Read the BME280"));
    let chosen = press(&mut start, &[Char('i'), Char('!'), Enter]);
    assert_eq!(chosen, Some(new(&format!("{task}!"), None, None)));
    // Of a text that is longer than its place the end shows, where one writes.
    start.on_event(&Event::Paste("more words ".repeat(90)));
    let shown = screen(&start, 80, 24);
    assert!(shown.contains("… ") && shown.contains("Sessions"), "{shown}");
    assert!(start.unsent().is_some_and(|unsent| unsent.task.contains("more words more")));
    // An example leaves what the person wrote as it is.
    press(&mut start, &[Esc, KeyCode::Home, Down, Down, Enter, Down, Enter, Esc]);
    assert!(screen(&start, 80, 24).contains("go on with: Read the BME280"));
}

#[test]
fn a_small_screen_shows_the_whole_task_of_the_session_that_is_turned_to() {
    let mut facts = facts();
    facts.sessions[0].task = "Scan the bus, print every address that answers with the name of the \
                              device where it is known, and repeat that each minute"
        .into();
    let mut start = start(facts);
    press(&mut start, &[Down, Down, Down]);
    let shown = screen(&start, 80, 24);
    let joined = shown.replace('"', " ");
    let joined = joined.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("device where it is known, and repeat that each minute"), "{shown}");
    let row = shown.lines().find(|row| row.contains("Scan the bus, print")).unwrap();
    assert!(!row.contains("[resume]"), "the row of the list has its space: {row}");
    assert!(shown.contains("[resume]  replay"), "{shown}");
}
