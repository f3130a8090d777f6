//! The project, the logs, the composer and a replay's timeline, by keys.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use firmhand::model::{Event, FileEvent, FilesEvent, PersonEvent, ProposalEvent, TeamEvent};

use crate::place::Place;
use crate::terminal::{Size, Terminal};

/// A session that is over, to look at.
fn finished(place: &Place) {
    let policy = place.config().join("rules.toml");
    fs::write(&policy, "[[policy]]\ndecide = \"allow\"\n").unwrap();
    let project = place.project().to_str().unwrap().to_owned();
    let policy = policy.to_str().unwrap().to_owned();
    let task = "Generate an I2C driver for the ESP32";
    let run = ["run", task, "--speed", "max", "--json", "--policy", &policy, "--project", &project];
    assert!(place.run(&run).status.success());
}

/// Waits until the demo's first proposal is on screen.
fn waiting(place: &Place, terminal: &mut Terminal) {
    place.wait_for_event(terminal, "a proposal", |event| match event {
        Event::Proposal(ProposalEvent::Made(proposal)) => Some(proposal.id),
        _ => None,
    });
    terminal.wait_for("approve");
}

#[test]
fn what_others_change_is_recorded_shown_and_opened() {
    let place = Place::new();
    let mut terminal = place.demo(Size::LARGE);
    waiting(&place, &mut terminal);
    fs::write(place.project().join("notes.txt"), "wire SDA to 21\n\x1b]0;owned\x07\n").unwrap();
    place.wait_for_event(&terminal, "the change", |event| match event {
        Event::Files(FilesEvent::Disk(FileEvent::ChangedOutside { files })) => {
            files.iter().any(|file| file.path.as_str() == "notes.txt").then_some(())
        }
        _ => None,
    });
    terminal.wait_for("notes.txt +outside");
    terminal.press("1 /");
    terminal.type_text("notes");
    terminal.press("enter");
    terminal.wait_for("wire SDA to 21");
    terminal.press("esc esc p");
    place.wait_for_event(&terminal, "the pin", |event| match event {
        Event::Team(TeamEvent::ContextEdited { add, .. }) => {
            add.iter().any(|path| path.as_str() == "notes.txt").then_some(())
        }
        _ => None,
    });
    terminal.wait_for("◈ notes.txt");
    terminal.press("p");
    terminal.wait_gone("◈ notes.txt");
    // Nothing of it decided anything.
    assert!(
        !place
            .events()
            .iter()
            .any(|event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. })))
    );
}

#[test]
fn what_the_session_writes_itself_is_no_change_from_outside() {
    let place = Place::new();
    finished(&place);
    let written = place
        .events()
        .into_iter()
        .filter(|event| matches!(event, Event::Proposal(ProposalEvent::Settled { .. })));
    assert!(written.count() > 5);
    let outside = |event: &Event| {
        matches!(event, Event::Files(FilesEvent::Disk(FileEvent::ChangedOutside { .. })))
    };
    assert!(!place.events().iter().any(outside));
}

#[test]
fn a_file_is_edited_in_the_persons_own_editor_and_the_screen_comes_back() {
    let place = Place::new();
    let editor = place.config().join("editor");
    let script =
        "#!/bin/sh\nenv > \"$0.env\"\necho editing \"$1\"\nread key\necho \"$key\" >> \"$1\"\n";
    fs::write(&editor, script).unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let profile = "[profiles.mine]\nprovider = \"openai\"\nkey.env = \"MY_OWN_KEY\"\n";
    fs::write(place.config().join("config.toml"), profile).unwrap();
    let keys = "OPENAI_API_KEY=sk-e2e-secret ANTHROPIC_API_KEY=sk-e2e-secret \
                GITHUB_TOKEN=sk-e2e-secret MY_OWN_KEY=sk-e2e-secret";
    let script = format!("{keys} EDITOR={} exec \"$0\" \"$@\"", editor.display());
    let args = place.demo_args();
    let mut terminal = place.shell(&script, &args.each_ref().map(String::as_str), Size::LARGE);
    waiting(&place, &mut terminal);
    fs::write(place.project().join("mine.txt"), "one\n").unwrap();
    terminal.wait_for("mine.txt +outside");
    terminal.press("1 /");
    terminal.type_text("mine");
    terminal.press("enter");
    terminal.wait_for("on disk now");
    terminal.press("o");
    terminal.wait_for("editing .*mine.txt");
    // What is typed now belongs to the editor alone: `a` approves nothing.
    terminal.type_text("a");
    terminal.press("enter");
    terminal.wait_for("Project");
    assert_eq!(fs::read_to_string(place.project().join("mine.txt")).unwrap(), "one\na\n");
    // The editor has the person's environment, but for the keys of models.
    let environment = fs::read_to_string(place.config().join("editor.env")).unwrap();
    assert!(environment.contains("EDITOR=") && environment.contains("HOME="), "{environment}");
    assert!(!environment.contains("sk-e2e-secret"), "{environment}");
    assert!(
        !place
            .events()
            .iter()
            .any(|event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. })))
    );
    // An editor that fails is told of.
    fs::write(&editor, "#!/bin/sh\nexit 3\n").unwrap();
    terminal.press("o");
    terminal.wait_for("status 3");
}

#[test]
fn a_log_is_filtered_searched_and_saved() {
    let place = Place::new();
    finished(&place);
    let mut terminal = place.open(&["replay"], Size::LARGE);
    terminal.press("4 z &");
    terminal.type_text("ESP-ROM|cpu_start|scan");
    terminal.press("enter");
    terminal.wait_for("only ESP-ROM");
    terminal.press("/");
    terminal.type_text("(");
    terminal.press("enter");
    terminal.wait_for("unclosed group");
    terminal.press("esc");
    terminal.wait_gone("unclosed group");
    terminal.press("S");
    terminal.wait_for("save to ");
    terminal.press("enter");
    terminal.wait_for(r"saved \d+ bytes");
    let home = place.project().parent().unwrap().join("home");
    let saved: Vec<_> = fs::read_dir(&home)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "log"))
        .collect();
    let [saved] = saved.as_slice() else { panic!("{saved:?}") };
    let name = saved.file_name().unwrap();
    let raw = fs::read(place.session().join("logs").join(name)).unwrap();
    assert_eq!(fs::read(saved).unwrap(), raw, "byte for byte");
    terminal.press("S");
    terminal.wait_for("save to ");
    terminal.press("enter");
    terminal.wait_for("nothing is overwritten");
}

#[test]
fn a_replay_goes_to_a_time_an_event_and_a_match() {
    let place = Place::new();
    finished(&place);
    let mut terminal = place.open(&["replay"], Size::LARGE);
    terminal.wait_for("at the end");
    terminal.press("t");
    terminal.type_text("#5");
    terminal.press("enter");
    terminal.wait_for("event 5 /");
    terminal.press("t");
    terminal.type_text("nonsense");
    terminal.press("enter");
    terminal.wait_for("not a time, event or percentage");
    terminal.press("esc t");
    terminal.type_text("/build_ended");
    terminal.wait_for("2 matches");
    terminal.press("enter");
    terminal.wait_gone("event 5 /");
    terminal.press("esc t");
    terminal.type_text("0:00");
    terminal.press("enter");
    terminal.wait_for(r"0:00 /");
}

#[test]
fn a_message_is_completed_and_remembered_for_the_next_session() {
    let place = Place::new();
    let mut terminal = place.demo(Size::LARGE);
    waiting(&place, &mut terminal);
    terminal.press("i");
    terminal.type_slowly("look at this, @Plan");
    terminal.wait_for("@PlanningAgent +agent");
    terminal.press("tab");
    terminal.wait_for("look at this, @PlanningAgent");
    terminal.press("enter");
    place.wait_for_event(&terminal, "the message", |event| match event {
        Event::Person(PersonEvent::Wrote { text, .. }) => {
            text.contains("@PlanningAgent").then_some(())
        }
        _ => None,
    });
    std::thread::sleep(Duration::from_millis(300));
    terminal.press("ctrl-c j enter");
    terminal.wait_exit();
    let mut terminal = place.open(&["resume", "--speed", "max"], Size::LARGE);
    terminal.wait_for("approve");
    terminal.press("i ctrl-p");
    terminal.wait_for("› look at this, @PlanningAgent");
}
