//! Choosing the model that answers: on the start screen, and in a session.

use std::fs;
use std::time::Instant;

use firmhand::model::{Event, ModelEvent, PersonEvent};
use firmhand::provider::Service;

use crate::place::Place;
use crate::terminal::{PATIENCE, Size, Terminal};
use crate::wire::Server;
use crate::wire::speak::{self, say};

/// Two profiles of one server.
fn profiles(place: &Place, server: &Server) {
    let profile = |name: &str| {
        format!(
            "[profiles.{name}]\nprovider = \"openai-compatible\"\nmodel = \"{name}-model\"\n\
             wire.base_url = \"{}\"\n",
            server.url("/v1")
        )
    };
    let config = [profile("cheap"), profile("strong")].concat();
    fs::write(place.config().join("config.toml"), config).unwrap();
}

/// The models that were asked, once there are so many.
fn asked(terminal: &Terminal, server: &Server, count: usize) -> Vec<String> {
    let since = Instant::now();
    while server.seen().len() < count {
        if since.elapsed() > PATIENCE {
            terminal.fail("the model was not asked");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    server.seen().iter().map(|seen| seen.body["model"].as_str().unwrap().to_owned()).collect()
}

/// Lets the plan be carried out. Keys that decide are dead for a moment after a dialog has closed,
/// so they are pressed until one counts.
fn start(place: &Place, terminal: &mut Terminal) {
    let since = Instant::now();
    let is_answered = |event: &Event| matches!(event, Event::Person(PersonEvent::Answered { .. }));
    while !place.events().iter().any(is_answered) {
        if since.elapsed() > PATIENCE {
            terminal.fail("the question was not answered");
        }
        for key in ["2", "a", "1", "enter"] {
            terminal.press(key);
            std::thread::sleep(std::time::Duration::from_millis(600));
        }
    }
}

/// A planner's answer under the model's own name.
fn plan(server: &Server, text: &str) {
    server.then(speak::reply(Service::OpenAi, &say(text)));
}

#[test]
fn the_model_chosen_on_the_start_screen_answers_and_another_takes_over_in_the_session() {
    let place = Place::new();
    let server = Server::new();
    profiles(&place, &server);
    plan(&server, "1. FileOrganizerAgent : list the files\n2. CodeGeneratorAgent : write them");
    plan(&server, "main.c");
    let mut terminal = place.open(&[], Size::LARGE);
    terminal.wait_for("● cheap-model");
    terminal.press("down down down down enter");
    terminal.wait_for("● strong-model");
    terminal.press("i");
    terminal.type_slowly("Blink an LED");
    terminal.wait_for("strong-model .openai-compatible. ctrl-o");
    terminal.wait_for("in a new folder › Blink an LED");
    terminal.press("enter");
    // The plan waits, so that nothing is asked meanwhile.
    terminal.wait_for("PlanningAgent has planned the work");
    assert_eq!(asked(&terminal, &server, 1), ["strong-model"]);
    // By the palette, turned to the one that answers.
    terminal.press(":");
    terminal.type_slowly("choose-model");
    terminal.press("enter");
    terminal.wait_for("╭ Model");
    terminal.wait_for("● strong-model");
    terminal.press("up enter");
    terminal.wait_for("virtual board .*· cheap-model .openai-compatible.");
    let chosen = place.wait_for_event(&terminal, "a choice", |event| match event {
        Event::Model(ModelEvent::Chosen { provider, .. }) => Some(provider.clone()),
        _ => None,
    });
    assert_eq!(chosen, "profile:cheap");
    // The list knows it; leaving it changes nothing.
    terminal.press(";");
    terminal.type_slowly("model");
    terminal.press("enter");
    terminal.wait_for("╭ Model");
    terminal.wait_for("● cheap-model");
    terminal.press("esc");
    terminal.wait_gone("╭ Model");
    start(&place, &mut terminal);
    assert_eq!(asked(&terminal, &server, 2)[..2], ["strong-model", "cheap-model"]);
}

#[test]
fn a_profile_that_is_not_there_changes_nothing_and_is_told() {
    let place = Place::new();
    let server = Server::new();
    profiles(&place, &server);
    plan(&server, "1. FileOrganizerAgent : list the files\n2. CodeGeneratorAgent : write them");
    let project = place.project().to_str().unwrap().to_owned();
    let args = ["new", "Blink an LED", "--profile", "strong", "--project", &project];
    let mut terminal = place.open(&args, Size::LARGE);
    terminal.wait_for("PlanningAgent has planned the work");
    terminal.press(";");
    terminal.type_slowly("model wrong");
    terminal.press("enter");
    place.wait_for_event(&terminal, "a word", |event| match event {
        Event::Person(PersonEvent::Noticed { notice, .. }) => {
            notice.why.contains("cheap").then_some(())
        }
        _ => None,
    });
    terminal.wait_for("Cannot find the profile `wrong`");
    let chosen = |event: &Event| matches!(event, Event::Model(ModelEvent::Chosen { .. }));
    assert!(!place.events().iter().any(chosen));
}

#[test]
fn the_start_screen_tells_how_strong_the_sandbox_is_once_it_was_tried() {
    let place = Place::new();
    let mut terminal = place.open(&[], Size::LARGE);
    terminal.wait_for("agents' programs");
}
