//! The whole demo with a compiler, the virtual board and its serial port: nothing is made up but
//! the model's words.

use std::sync::Arc;

use firmhand::config::Assets;
use firmhand::model::{
    BuildEvent, BuildOutcome, Check, CheckKind, Event, FindingLevel, LogId, LogKind, PhaseEvent,
    PhaseOutcome, PortEvent, Proposal, ProposalEvent, Record, SessionOutcome, Severity, TurnEvent,
};
use firmhand::toolchain::{Kit, Toolchain, VirtualToolchain};
use firmhand::view::SessionView;

use super::stage::{Nobody, Stage, approve, reject, subject};

/// The virtual board as it ships, with the machine's compiler; its flash lies in the stage.
pub fn stage() -> Stage {
    let assets = Assets::built_in();
    let files = assets.list("assets/virtual").into_iter().map(|path| {
        let (content, _) = assets.bytes(&path).unwrap();
        (path.trim_start_matches("assets/virtual/").to_owned(), content)
    });
    let kit = Kit::new(files).unwrap();
    Stage::with(|folder| {
        Arc::new(VirtualToolchain::new(kit, folder.join("board"), crate::sandbox_runner()))
            as Arc<dyn Toolchain>
    })
}

fn said(events: &[Event]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        Event::Turn(TurnEvent::TextAdded { text, .. }) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn assert_built_twice(events: &[Event]) {
    let builds = events.iter().filter_map(|event| match event {
        Event::Build(BuildEvent::Ended { outcome, diagnostics, .. }) => {
            Some((outcome, diagnostics))
        }
        _ => None,
    });
    let builds: Vec<_> = builds.collect();
    assert_eq!(builds.len(), 2, "{builds:#?}");
    let (first, found) = builds[0];
    assert_eq!(*first, BuildOutcome::Failed);
    let error = found.iter().find(|one| one.severity == Severity::Error).unwrap();
    assert_eq!(error.file.as_deref(), Some("main/src/i2c_scan.c"));
    assert_eq!(error.line, Some(16));
    assert!(error.message.contains("ESP_LOGI"), "{}", error.message);
    assert_eq!(*builds[1].0, BuildOutcome::Passed, "{:#?}", builds[1].1);
    assert!(builds[1].1.is_empty(), "the mended project has no warnings: {:#?}", builds[1].1);
}

/// Before a first build how a file is compiled is a guess, so an error is a note; afterwards the
/// compiler takes what is proposed, unless the machine was too busy to ask it.
fn assert_compiler_asked(events: &[Event]) {
    let built = events
        .iter()
        .position(|event| matches!(event, Event::Build(BuildEvent::Ended { .. })))
        .unwrap();
    let said = |events: &[Event]| -> Vec<(String, Option<FindingLevel>)> {
        let proposals = events.iter().filter_map(|event| match event {
            Event::Proposal(ProposalEvent::Made(proposal)) => Some(proposal),
            _ => None,
        });
        let checks = proposals.flat_map(|proposal| {
            let is_compiler = |check: &&Check| check.kind == CheckKind::Compiles;
            let checks = proposal.checks.iter().filter(is_compiler);
            checks.map(move |check| (subject(proposal), check.level()))
        });
        checks.collect()
    };
    let (before, after) = events.split_at(built);
    let before = said(before);
    let is_note = |level: &Option<FindingLevel>| level.is_none_or(|it| it == FindingLevel::Note);
    assert!(before.iter().all(|(_, level)| is_note(level)), "{before:?}");
    let after = said(after);
    assert!(after.iter().all(|(_, level)| level.is_none()), "{after:?}");
}

fn replayed(records: &[Record]) -> SessionView {
    let mut view = SessionView::default();
    for record in records {
        view.apply(record);
    }
    view
}

#[test]
fn the_recording_runs_by_itself_from_the_task_to_the_serial_output() {
    let stage = stage().allowing_all();
    assert_eq!(stage.play(Nobody), SessionOutcome::Completed);
    let records = stage.records();
    let events = stage.events();
    assert_built_twice(&events);
    assert_compiler_asked(&events);

    let serial = stage.log(LogId { kind: LogKind::Serial, number: 1 });
    assert!(serial.contains("found a device at 0x3C"), "{serial}");
    assert!(serial.contains("found a device at 0x76"), "{serial}");
    assert!(serial.contains("chip id of 0x76 (register 0xD0): 0x60"), "{serial}");
    assert!(serial.contains("temp=2"), "{serial}");
    assert!(said(&events).contains("The scan found **0x3C** and **0x76**"));

    let failed = |event: &&Event| {
        matches!(event, Event::Phase(PhaseEvent::Ended { outcome: PhaseOutcome::Failed(_), .. }))
    };
    assert_eq!(events.iter().filter(failed).count(), 1, "the first attempt to build");
    let seqs: Vec<u64> = records.iter().map(|record| record.seq.0).collect();
    assert!(seqs.iter().copied().eq(1..=records.len() as u64), "{seqs:?}");
    let view = replayed(&records);
    assert_eq!(view, replayed(&stage.records()));
    assert!(stage.file("main/src/i2c_scan.c").contains("#include \"esp_log.h\""));
}

#[test]
fn a_file_that_was_refused_once_is_in_the_project_with_the_words() {
    let stage = stage();
    let outcome = stage.play(|proposal: &Proposal, before| {
        match subject(proposal) == "main/src/i2c_bus.c" && before == 0 {
            true => reject("the pins need */ a comment"),
            false => approve(),
        }
    });
    assert_eq!(outcome, SessionOutcome::Completed);
    assert_built_twice(&stage.events());
    let file = stage.file("main/src/i2c_bus.c");
    assert!(file.starts_with("/* Reviewed again: the pins need * / a comment */\n"), "{file}");
    let serial = stage.log(LogId { kind: LogKind::Serial, number: 1 });
    assert!(serial.contains("found a device at 0x76"), "{serial}");
}

#[test]
fn a_refused_flash_leaves_the_board_as_it_was() {
    let stage = stage();
    let outcome = stage.play(|proposal: &Proposal, _| match subject(proposal).as_str() {
        "flash" => reject("not today"),
        _ => approve(),
    });
    assert_eq!(outcome, SessionOutcome::Completed);
    let events = stage.events();
    assert_built_twice(&events);
    assert!(said(&events).contains("The board was not written: not today."));
    assert!(!events.iter().any(|event| matches!(event, Event::Port(PortEvent::Opened { .. }))));
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::Proposal(ProposalEvent::FlashProgress { .. })))
    );
}
