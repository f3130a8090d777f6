//! The demo over HTTP: a server of each dialect says what the recording says, and the run comes to
//! the same end as with the recording itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use firmhand::config::Assets;
use firmhand::model::{
    BuildEvent, Event, PhaseEvent, ProposalEvent, Record, SessionEvent, SessionOutcome, TurnEvent,
    UserError,
};
use firmhand::provider::{
    Delta, Pacing, Provider, Recording, Remote, Request, Scripted, Service, parse_script, retell,
};
use firmhand::toolchain::{Kit, Toolchain, VirtualToolchain};
use futures::stream::{BoxStream, StreamExt};

use super::stage::{Nobody, Stage, recording};
use crate::wire::Server;
use crate::wire::speak::{self, DIALECTS, Say};

/// Says over HTTP what a recording says.
struct Wired {
    script: Scripted,
    remote: Remote,
    server: Arc<Server>,
    service: Service,
    /// Every answer, in order.
    said: Arc<Mutex<Vec<Say>>>,
}

impl Provider for Wired {
    fn label(&self) -> String {
        self.remote.label()
    }

    fn ask(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        let answer = self.script.ask(request.clone());
        let deltas: Vec<_> = futures::executor::block_on(answer.collect());
        let mut say = Say { usage: (10, 5, 0), ..Say::default() };
        let mut place = None;
        for delta in deltas {
            match delta {
                Ok(Delta::Text(text)) => say.text.push(text),
                Ok(Delta::Call { tool, args }) => {
                    say.calls.push((tool.to_string(), serde_json::from_str(&args).unwrap()));
                }
                Ok(Delta::Done { state, .. }) => place = state,
                Ok(other) => panic!("{other:?}"),
                Err(error) => return futures::stream::iter([Err(error)]).boxed(),
            }
        }
        self.server.then(speak::reply(self.service, &say));
        self.said.lock().unwrap().push(say);
        let heard = self.remote.ask(request).map(move |delta| match delta {
            // The place in the recording travels with the run as it does without the wire.
            Ok(Delta::Done { usage, .. }) => Ok(Delta::Done { usage, state: place.clone() }),
            other => other,
        });
        heard.boxed()
    }
}

fn stage() -> Stage {
    let assets = Assets::built_in();
    let files = assets.list("assets/virtual").into_iter().map(|path| {
        let (content, _) = assets.bytes(&path).unwrap();
        (path.trim_start_matches("assets/virtual/").to_owned(), content)
    });
    let kit = Kit::new(files).unwrap();
    let make = |folder: &Path| {
        Arc::new(VirtualToolchain::new(kit, folder.join("board"), crate::sandbox_runner()))
            as Arc<dyn Toolchain>
    };
    Stage::with(make).allowing_all()
}

/// What was said, called, decided and built, in order, without times and counts.
fn course(events: &[Event]) -> Vec<String> {
    let mut course: Vec<String> = Vec::new();
    let mut said = String::new();
    for event in events {
        if let Event::Turn(TurnEvent::TextAdded { text, .. }) = event {
            said.push_str(text);
            continue;
        }
        if !said.is_empty() {
            course.push(std::mem::take(&mut said).trim_end().to_owned());
        }
        course.extend(match event {
            Event::Turn(TurnEvent::SpeakerChosen { agent, reason, .. }) => {
                Some(format!("{agent}: {reason}"))
            }
            Event::Turn(TurnEvent::ToolCalled { tool, args, .. }) => Some(format!("{tool} {args}")),
            Event::Proposal(ProposalEvent::Made(proposal)) => {
                Some(format!("{:?}", proposal.change.path()))
            }
            Event::Proposal(ProposalEvent::Settled { outcome, .. }) => Some(format!("{outcome:?}")),
            Event::Build(BuildEvent::Ended { outcome, diagnostics, .. }) => {
                Some(format!("{outcome:?} {diagnostics:?}"))
            }
            Event::Phase(PhaseEvent::Ended { outcome, .. }) => Some(format!("{outcome:?}")),
            Event::Session(SessionEvent::Ended { outcome }) => Some(format!("{outcome:?}")),
            _ => None,
        });
    }
    course
}

/// Every file of a project with its text; what a build has made names folders of this machine.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path == folder.join("build") {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

/// Plays the demo over HTTP within this process; gives back what the model said.
fn wired(service: Service, meant: &[String], made: &BTreeMap<String, String>) -> Vec<Say> {
    let server = Arc::new(Server::new());
    let remote = Remote::new(speak::profile(service, &server.url("")));
    let script = Scripted::new(recording("i2c-scan"), Pacing::Instant);
    let said = Arc::default();
    let model =
        Wired { script, remote, server: Arc::clone(&server), service, said: Arc::clone(&said) };
    let stage = stage().answered_by(Arc::new(model));
    assert_eq!(stage.play(Nobody), SessionOutcome::Completed, "{service}");
    assert_eq!(course(&stage.events()), meant, "{service}");
    assert_eq!(files(&stage.project("")), *made, "{service}");
    let seen = server.seen();
    assert!(seen.len() > 20 && server.left() == 0, "{service}: {}", seen.len());
    let last = seen.last().unwrap().body.to_string();
    assert!(last.contains("Generate an I2C driver for the ESP32"), "{service}");
    let is_formed = |body: &str| body.contains("json_schema") || body.contains("\"format\":{");
    let formed = seen.iter().map(|seen| seen.body.to_string()).filter(|body| is_formed(body));
    let formed: Vec<String> = formed.collect();
    assert!(!formed.is_empty(), "{service}: the generator's answer has a form");
    let generator = "You write the code of an ESP-IDF project in C.";
    assert!(formed.iter().all(|body| body.contains(generator)), "{service}");
    said.lock().unwrap().clone()
}

/// Runs the program itself without a screen, with everything allowed; what came of it, and the
/// files.
fn run(profile: Option<(Service, &Server)>) -> (Vec<Event>, BTreeMap<String, String>) {
    let place = tempfile::tempdir().unwrap();
    let own = |below: &str| place.path().join(below);
    for folder in ["home", "config", "data"] {
        fs::create_dir(own(folder)).unwrap();
    }
    fs::write(own("rules.toml"), "[[policy]]\ndecide = \"allow\"\n").unwrap();
    let task = recording("i2c-scan").task().to_owned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_firmhand"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", own("home"));
    command.env("FIRMHAND_CONFIG_DIR", own("config")).env("FIRMHAND_DATA_DIR", own("data"));
    command.args(["run", &task, "--speed", "max", "--json"]).current_dir(own("home"));
    command.arg("--policy").arg(own("rules.toml")).arg("--project").arg(own("project"));
    if let Some((service, server)) = profile {
        let url = speak::profile(service, &server.url("")).wire.base_url;
        let config = format!(
            "[profiles.wired]\nprovider = \"{service}\"\nmodel = \"test-model\"\n\
             key.env = \"WIRED_KEY\"\nwire.base_url = \"{url}\"\ncontext_window = 200000\n"
        );
        fs::write(own("config/config.toml"), config).unwrap();
        command.env("WIRED_KEY", speak::KEY).args(["--profile", "wired"]);
    }
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let records = String::from_utf8(output.stdout).unwrap();
    let event = |line| serde_json::from_str::<Record>(line).unwrap().event;
    (records.lines().map(event).collect(), files(&own("project")))
}

#[test]
fn the_demo_over_http_comes_to_the_same_end_as_the_recording() {
    let plain = stage();
    assert_eq!(plain.play(Nobody), SessionOutcome::Completed);
    let meant = course(&plain.events());
    let made = files(&plain.project(""));
    assert!(meant.len() > 60 && made.len() >= 6, "{} {:?}", meant.len(), made.keys());
    let said = DIALECTS.map(|service| wired(service, &meant, &made));
    // The program as it ships, with the same answers behind a profile of each dialect.
    let (events, made) = run(None);
    let meant = course(&events);
    for (service, said) in DIALECTS.into_iter().zip(said) {
        let server = Server::new();
        for say in &said {
            server.then(speak::reply(service, say));
        }
        let (events, files) = run(Some((service, &server)));
        assert_eq!(course(&events), meant, "{service}");
        assert_eq!(files, made, "{service}");
        assert_eq!((server.left(), server.seen().len()), (0, said.len()), "{service}");
        let named = format!("test-model ({service})");
        let is_named = |event: &Event| matches!(event, Event::Session(SessionEvent::Started(start)) if start.model == named);
        assert!(events.iter().any(is_named), "{service}: it says who answers");
    }
}

#[test]
fn a_run_that_was_recorded_plays_again_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.toml");
    let script: Arc<dyn Provider> = Arc::new(Scripted::new(recording("i2c-scan"), Pacing::Instant));
    let recording =
        Recording::new(script, &file, recording("i2c-scan").task(), Vec::new()).unwrap();
    let first = stage().answered_by(Arc::new(recording));
    assert_eq!(first.play(Nobody), SessionOutcome::Completed);
    assert_eq!(course(&played(&file)), course(&first.events()));
}

/// Plays a run that was recorded.
fn played(file: &Path) -> Vec<Event> {
    let text = fs::read_to_string(file).unwrap();
    let script = parse_script("run.toml", &text, &|name| panic!("needs {name}")).unwrap();
    let again = stage().answered_by(Arc::new(Scripted::new(Arc::new(script), Pacing::Instant)));
    assert_eq!(again.play(Nobody), SessionOutcome::Completed);
    again.events()
}

#[test]
fn a_run_that_is_recorded_from_its_middle_on_is_recorded_whole() {
    let folder = tempfile::tempdir().unwrap();
    let whole = stage();
    assert_eq!(whole.play(Nobody), SessionOutcome::Completed);
    for (number, records) in [40, 120].into_iter().enumerate() {
        let file = folder.path().join(format!("run{number}.toml"));
        let stage = stage();
        stage.leave_after(records);
        let earlier = retell(&stage.records()).unwrap();
        assert!(!earlier.is_empty());
        let script: Arc<dyn Provider> =
            Arc::new(Scripted::new(recording("i2c-scan"), Pacing::Instant));
        let task = recording("i2c-scan").task().to_owned();
        let recording = Recording::new(script, &file, &task, earlier).unwrap();
        let stage = stage.answered_by(Arc::new(recording));
        assert_eq!(stage.go_on(Nobody), SessionOutcome::Completed);
        assert_eq!(course(&played(&file)), course(&whole.events()), "left after {records}");
    }
}
