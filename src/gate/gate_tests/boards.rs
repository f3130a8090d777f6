//! What is sent to a board and what is erased on it.

use std::io::Read;

use super::*;
use crate::device::{DEFAULT_BAUD, Pty, SerialHub};
use crate::model::{BoardEvent, PortEvent, ProposalEvent};
use crate::model::{
    Change, ChangeKind, FlashRegion, NvsPlan, PortChange, ReadPlan, RuleSays, SendPlan, SessionRule,
};
use crate::toolchain::nvs::{self, EntryChange, Planned};

const PATIENCE: Duration = Duration::from_secs(60);

fn board(port: &str, simulated: bool) -> BoardInfo {
    BoardInfo { label: "board".into(), chip: "esp32".into(), port: port.into(), simulated }
}

fn draft(change: DraftChange) -> Draft {
    Draft { change, reason: String::new(), checks: Vec::new() }
}

fn send(port: &str, text: &str, simulated: bool) -> Draft {
    draft(DraftChange::Send(SendPlan { board: board(port, simulated), text: text.into() }))
}

fn erase(label: Option<&str>, simulated: bool) -> Draft {
    let region =
        label.map(|label| FlashRegion { label: label.into(), offset: 0x9000, bytes: 0x6000 });
    draft(DraftChange::Erase(ErasePlan { board: board("/dev/x", simulated), region }))
}

/// A pseudo-terminal: the board's end and the path of the other one.
fn port() -> (fs::File, String) {
    let Pty { board, port, .. } = Pty::open().unwrap();
    (board, port)
}

/// A gate whose hub has that port open.
async fn world_with(port: &str) -> GateBench {
    let mut world = GateBench::asking();
    let serial = Arc::new(SerialHub::new(Arc::<MemoryLedger>::clone(&world.ledger)));
    serial.open(port, DEFAULT_BAUD, 1).await.unwrap();
    let parts = GateParts { serial, ..GateParts::clone(&world.gate.parts) };
    world.gate = Arc::new(Gate::new(parts, &world.desk, NextNumbers::after([])));
    world
}

#[tokio::test]
async fn exactly_the_approved_text_is_sent_after_its_decision_is_recorded() {
    let (mut master, port) = port();
    let world = world_with(&port).await;
    let task = world.submit(vec![send(&port, "wifi ssid\r\n", false)]);
    world.on_desk(1).await;
    let proposal = world.proposals()[0].clone();
    assert_eq!((proposal.change.kind(), proposal.change.phrase()), ("send", None));
    world.decide(1, Verdict::Approve);
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
    let mut got = [0; 11];
    master.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"wifi ssid\r\n");
    let events = world.events();
    let decided = events
        .iter()
        .position(|event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. })))
        .unwrap();
    let sent = events.iter().position(|event| {
        matches!(event, Event::Port(PortEvent::Changed { event: PortChange::Sent { text, by: Some(by) }, .. })
            if text == "wifi ssid\r\n" && by.as_str() == "CodeReviewerAgent")
    });
    assert!(sent.is_some_and(|sent| sent > decided), "{events:?}");
    let error = world.gate.undo(ProposalId(1)).unwrap_err();
    assert!(error.why.contains("cannot be undone"), "{error:?}");
}

#[tokio::test]
async fn nothing_is_sent_when_it_is_refused_or_the_port_is_closed() {
    let (_master, port) = port();
    let world = world_with(&port).await;
    let task = world.submit(vec![send(&port, "a\n", false), send("/dev/other", "b\n", false)]);
    world.on_desk(2).await;
    world.decide(1, reject("no"));
    world.decide(2, Verdict::Approve);
    let outcomes = outcomes(task.await.unwrap());
    assert_eq!(outcomes[0], Outcome::Denied);
    let Outcome::Failed(error) = &outcomes[1] else { panic!("{outcomes:?}") };
    assert!(error.what.contains("/dev/other") && !error.fix.is_empty(), "{error:?}");
    let is_sent = |event: &Event| matches!(event, Event::Port(PortEvent::Changed { .. }));
    assert!(!world.events().iter().any(is_sent));
}

#[tokio::test]
async fn no_rule_sends_to_hardware_or_erases_anything() {
    let world = GateBench::ruled(Ruling::Allow);
    for kind in [ChangeKind::Send, ChangeKind::Erase] {
        let says = RuleSays::Always;
        let rule = SessionRule { says, kind: Some(kind), path: None, tool: None, agent: None };
        world.gate.add_rule(rule).unwrap();
    }
    let drafts = [send("/dev/x", "a\n", false), erase(None, false), erase(Some("nvs"), true)];
    for (id, draft) in (1..).zip(drafts) {
        let task = world.submit(vec![draft]);
        world.on_desk(1).await;
        world.decide(id, reject("no"));
        assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    }
    assert_eq!(*world.bench.erased.lock().unwrap(), []);
    // On a simulated board a rule may: there it fails for want of an open port.
    let sent = world.gate.submit(&origin(), vec![send("/dev/x", "a\n", true)]).await;
    assert!(matches!(outcomes(sent)[0], Outcome::Failed(_)));
}

#[tokio::test]
async fn erasing_takes_the_typed_phrase_and_no_other() {
    let world = GateBench::asking();
    let task = world.submit(vec![erase(Some("nvs"), false)]);
    world.on_desk(1).await;
    let change = world.proposals()[0].change.clone();
    assert_eq!(change.phrase().as_deref(), Some("erase esp32 nvs"));
    for verdict in [
        Verdict::Approve,
        Verdict::ApproveConfirmed { phrase: "erase esp32 all".into() },
        Verdict::ApproveConfirmed { phrase: "flash esp32 boot".into() },
    ] {
        let refused = world.desk.decide(Shown::whole(ProposalId(1), change.hash()), verdict);
        assert!(matches!(refused, Err(QueueError::Unconfirmed(..))), "{refused:?}");
    }
    world.decide(1, Verdict::ApproveConfirmed { phrase: "erase esp32 nvs".into() });
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
    let erased = world.bench.erased.lock().unwrap();
    assert_eq!(erased.len(), 1);
    assert_eq!(erased[0].region.as_ref().unwrap().label, "nvs");
    assert!(
        world.events().iter().any(|event| matches!(event, Event::Board(BoardEvent::Connected(_))))
    );
}

#[tokio::test]
async fn an_erasing_names_the_partitions_that_lose_what_they_hold() {
    let world = GateBench::asking();
    world.write(
        "partitions.csv",
        "nvs, data, nvs, 0x9000, 0x6000,\nfactory, app, factory, 0x10000, 1M,\n",
    );
    let task = world.submit(vec![erase(Some("nvs"), false)]);
    world.on_desk(1).await;
    let facts = world.proposals()[0].facts.flash.clone().unwrap();
    assert_eq!((facts.source.as_str(), facts.partitions.len()), ("partitions.csv", 2));
    assert_eq!(facts.landings[0].place, "nvs");
    world.decide(1, reject("no"));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
}

#[tokio::test]
async fn the_port_of_a_real_board_is_free_while_it_is_erased_and_listened_to_afterwards() {
    let (mut master, port) = port();
    let world = world_with(&port).await;
    let plan = ErasePlan { board: board(&port, false), region: None };
    let task = world.submit(vec![draft(DraftChange::Erase(plan))]);
    world.on_desk(1).await;
    world.decide(1, Verdict::ApproveConfirmed { phrase: "erase esp32 all".into() });
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
    let listener = world.gate.parts.serial.get(&port).unwrap();
    let mut received = listener.subscribe();
    let back = received.wait_for(|now| now.losses == 1 && now.away.is_none());
    tokio::time::timeout(PATIENCE, back).await.unwrap().unwrap();
    std::io::Write::write_all(&mut master, b"hello").unwrap();
    let all_received = received.wait_for(|now| now.bytes == 5);
    tokio::time::timeout(PATIENCE, all_received).await.unwrap().unwrap();
    let lost = world.events().into_iter().find_map(|event| match event {
        Event::Port(PortEvent::Changed { event: PortChange::Lost { why }, .. }) => Some(why),
        _ => None,
    });
    assert_eq!(lost.as_deref(), Some("it is being erased"));
}

fn read(file: &str) -> Draft {
    let region = FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x2000 };
    let board = board("/dev/x", false);
    draft(DraftChange::Read(ReadPlan { board, region, path: path(file) }))
}

#[tokio::test]
async fn a_read_that_fails_or_runs_out_of_time_writes_nothing_and_says_which() {
    for left in [None, Some(Duration::from_millis(50))] {
        let world = GateBench::asking();
        let _run = out_of_time::run(&world, left);
        *world.bench.is_slow.lock().unwrap() = true;
        let task = world.submit(vec![read("taken.bin")]);
        world.on_desk(1).await;
        world.decide(1, Verdict::Approve);
        if left.is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
            world.gate.parts.cancel.cancel();
        }
        let settled = tokio::time::timeout(PATIENCE, task).await.expect("it went on").unwrap();
        match &outcomes(settled)[..] {
            [Outcome::Failed(_)] => assert_eq!(left, None),
            [Outcome::Interrupted(words)] => {
                assert!(left.is_some() && words.contains("`taken.bin` was not written"), "{words}");
            }
            other => panic!("{left:?}: {other:?}"),
        }
        assert_eq!(world.read("taken.bin"), None);
    }
}

#[tokio::test]
async fn what_is_read_lands_in_a_new_file_and_in_no_other() {
    let world = GateBench::asking();
    let task = world.submit(vec![read("build/nvs.bin"), read("taken.bin")]);
    world.on_desk(2).await;
    fs::write(world.folder.path().join("taken.bin"), "mine").unwrap();
    world.decide(1, Verdict::Approve);
    world.decide(2, Verdict::Approve);
    let outcomes = outcomes(task.await.unwrap());
    assert_eq!(outcomes[0], Outcome::Applied);
    assert!(matches!(outcomes[1], Outcome::Stale { found: Some(_) }), "{outcomes:?}");
    let file = fs::read(world.folder.path().join("build/nvs.bin")).unwrap();
    assert_eq!(file, vec![0xa5; 0x2000]);
    assert_eq!(world.read("taken.bin").as_deref(), Some("mine"));
    let error = world.gate.undo(ProposalId(1)).unwrap_err();
    assert!(error.why.contains("cannot be undone"), "{error:?}");
}

/// A change of the settings that `held` has: it sets one entry.
fn set(held: &[u8], key: &str, text: &str) -> Draft {
    let value = Some(nvs::value("string", text).unwrap());
    let wish = EntryChange { namespace: "wifi".into(), key: key.into(), value };
    let Planned { base, image, edits, space } = nvs::plan(held, vec![wish]).unwrap();
    let region = FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x6000 };
    let board = board("/dev/x", false);
    draft(DraftChange::Nvs(NvsPlan { board, region, base, image, edits, space }))
}

fn confirmed() -> Verdict {
    Verdict::ApproveConfirmed { phrase: "edit esp32 nvs".into() }
}

#[tokio::test]
async fn settings_are_changed_after_a_typed_phrase_if_they_are_what_was_shown() {
    let world = GateBench::ruled(Ruling::Allow);
    let erased = vec![0xff; 0x6000];
    (*world.bench.memory.lock().unwrap()).clone_from(&erased);
    let task = world.submit(vec![set(&erased, "ssid", "one")]);
    world.on_desk(1).await;
    let change = world.proposals()[0].change.clone();
    assert_eq!(change.phrase().as_deref(), Some("edit esp32 nvs"));
    let refused = world.desk.decide(Shown::whole(ProposalId(1), change.hash()), Verdict::Approve);
    assert!(matches!(refused, Err(QueueError::Unconfirmed(..))), "{refused:?}");
    assert_eq!(*world.bench.memory.lock().unwrap(), erased, "changed before it was approved");
    world.decide(1, confirmed());
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
    let now = world.bench.memory.lock().unwrap().clone();
    let Change::Nvs(plan) = &change else { panic!("{change:?}") };
    assert_eq!(ContentHash::of(&now), plan.image);
    assert!(
        world.events().iter().any(|event| matches!(event, Event::Board(BoardEvent::Connected(_))))
    );

    // It was planned before the first one was carried out: what it was shown is so no more.
    let task = world.submit(vec![set(&erased, "ssid", "two"), set(&erased, "other", "three")]);
    world.on_desk(2).await;
    world.decide(2, confirmed());
    world.decide(3, confirmed());
    let outcomes = outcomes(task.await.unwrap());
    assert_eq!(outcomes[0], Outcome::Stale { found: Some(ContentHash::of(&now)) });
    // The other key is not there yet, as it was shown.
    assert_eq!(outcomes[1], Outcome::Applied);
    let both = world.bench.memory.lock().unwrap().clone();
    assert!(both.windows(3).any(|part| part == b"one") && both.windows(5).any(|p| p == b"three"));
    let error = world.gate.undo(ProposalId(1)).unwrap_err();
    assert!(error.why.contains("cannot be undone"), "{error:?}");
}

#[tokio::test]
async fn settings_that_cannot_be_read_are_left_alone() {
    let world = GateBench::asking();
    *world.bench.memory.lock().unwrap() = vec![0x5a; 0x6000];
    let task = world.submit(vec![set(&[0xff; 0x6000], "ssid", "one")]);
    world.on_desk(1).await;
    world.decide(1, confirmed());
    let Outcome::Failed(error) = outcomes(task.await.unwrap()).remove(0) else { panic!("done") };
    assert!(error.why.contains("encrypted") && !error.fix.is_empty(), "{error:?}");
    assert_eq!(*world.bench.memory.lock().unwrap(), vec![0x5a; 0x6000]);
}
