//! The demo over HTTP: a server of each dialect says what the recording says, and the run comes to
//! the same end as with the recording itself.

use std::sync::Arc;

use firmhand::config::Assets;
use firmhand::model::{Event, SessionOutcome, UserError};
use firmhand::provider::{
    Delta, Pacing, Provider, Recording, Remote, Request, Script, Scripted, Service,
};
use firmhand::toolchain::{Kit, Toolchain, VirtualToolchain};
use futures::stream::{BoxStream, StreamExt};

use super::stage::{Nobody, Stage, recording};
use super::wire::Server;
use super::wire::speak::{self, DIALECTS, Say};

/// Says over HTTP what a recording says.
struct Wired {
    script: Scripted,
    remote: Remote,
    server: Arc<Server>,
    service: Service,
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
    let make = |folder: &std::path::Path| {
        Arc::new(VirtualToolchain::new(kit, folder.join("board"))) as Arc<dyn Toolchain>
    };
    Stage::with(make).allowing_all()
}

/// What was said, called, decided and built, in order, without times and counts.
fn course(events: &[Event]) -> Vec<String> {
    let mut course: Vec<String> = Vec::new();
    let mut said = String::new();
    for event in events {
        if let Event::TextAdded { text, .. } = event {
            said.push_str(text);
            continue;
        }
        if !said.is_empty() {
            course.push(std::mem::take(&mut said).trim_end().to_owned());
        }
        course.extend(match event {
            Event::SpeakerChosen { agent, reason } => Some(format!("{agent}: {reason}")),
            Event::ToolCalled { tool, args, .. } => Some(format!("{tool} {args}")),
            Event::Proposed(proposal) => Some(format!("{:?}", proposal.change.path())),
            Event::Settled { outcome, .. } => Some(format!("{outcome:?}")),
            Event::BuildEnded { outcome, diagnostics, .. } => {
                Some(format!("{outcome:?} {diagnostics:?}"))
            }
            Event::PhaseEnded { outcome, .. } => Some(format!("{outcome:?}")),
            Event::SessionEnded { outcome } => Some(format!("{outcome:?}")),
            _ => None,
        });
    }
    course
}

const FILES: [&str; 4] =
    ["CMakeLists.txt", "main/main.c", "main/src/i2c_scan.c", "main/include/i2c_bus.h"];

#[test]
fn the_demo_over_http_comes_to_the_same_end_as_the_recording() {
    let plain = stage();
    assert_eq!(plain.play(Nobody), SessionOutcome::Completed);
    let meant = course(&plain.events());
    assert!(meant.len() > 60, "{}", meant.len());
    for service in DIALECTS {
        let server = Arc::new(Server::new());
        let remote = Remote::new(speak::profile(service, &server.url("")));
        let script = Scripted::new(recording("i2c-scan"), Pacing::Instant);
        let wired = Wired { script, remote, server: Arc::clone(&server), service };
        let stage = stage().answered_by(Arc::new(wired));
        assert_eq!(stage.play(Nobody), SessionOutcome::Completed, "{service}");
        assert_eq!(course(&stage.events()), meant, "{service}");
        for file in FILES {
            assert_eq!(stage.file(file), plain.file(file), "{service}: {file}");
        }
        let seen = server.seen();
        assert!(seen.len() > 20 && server.left() == 0, "{service}: {}", seen.len());
        let last = seen.last().unwrap().body.to_string();
        assert!(last.contains("Generate an I2C driver for the ESP32"), "{service}");
    }
}

#[test]
fn a_run_that_was_recorded_plays_again_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.toml");
    let script: Arc<dyn Provider> = Arc::new(Scripted::new(recording("i2c-scan"), Pacing::Instant));
    let recording = Recording::new(script, &file, recording("i2c-scan").task()).unwrap();
    let first = stage().answered_by(Arc::new(recording));
    assert_eq!(first.play(Nobody), SessionOutcome::Completed);
    let text = std::fs::read_to_string(&file).unwrap();
    let script = Script::parse("run.toml", &text, &|name| panic!("needs {name}")).unwrap();
    let again = stage().answered_by(Arc::new(Scripted::new(Arc::new(script), Pacing::Instant)));
    assert_eq!(again.play(Nobody), SessionOutcome::Completed);
    assert_eq!(course(&again.events()), course(&first.events()));
}
