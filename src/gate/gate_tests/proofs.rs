//! What is done is what was approved, whoever fills the orders in.

use super::super::approved::{Ruled, decide};
use super::super::effects;
use super::world::proposal;
use super::*;
use crate::model::{
    Change, Check, Finding as Found, FlashPlan, FlashRegion, NvsEdit, NvsPlan, NvsSpace, NvsValue,
    ReadPlan,
};
use crate::toolchain::{EraseOrder, FlashOrder, RewriteOrder};
use tokio_util::sync::CancellationToken;

fn board(port: &str) -> BoardInfo {
    let (label, chip) = ("board".to_owned(), "esp32".to_owned());
    BoardInfo { label, chip, port: port.to_owned(), simulated: false }
}

fn flash_plan(port: &str) -> FlashPlan {
    FlashPlan::new(board(port), Vec::new(), crate::model::BuildId(1), Timestamp(0))
}

fn decision(proposal: &Proposal, verdict: Verdict) -> Decision {
    let (by, shown) = (DecidedBy::Person, proposal.change.hash());
    Decision { verdict, by, shown, unseen: 0, stops: proposal.stops() }
}

fn confirmed(proposal: &Proposal) -> Decision {
    let verdict = match proposal.phrase() {
        Some(phrase) => Verdict::ApproveConfirmed { phrase },
        None => Verdict::Approve,
    };
    decision(proposal, verdict)
}

fn rule(ledger: &MemoryLedger, proposal: &Proposal, decision: &Decision) -> Option<Ruled> {
    decide(ledger, (proposal, proposal), decision, Vec::new(), &mut |_| {}).ok()
}

#[test]
fn a_decision_that_was_made_on_something_else_allows_nothing() {
    let ledger = MemoryLedger::default();
    let proposal = proposal(1, Change::Flash(flash_plan("/dev/a")));
    let other = Change::Flash(flash_plan("/dev/b")).hash();
    let wrong = Decision { shown: other, ..confirmed(&proposal) };
    assert!(rule(&ledger, &proposal, &wrong).is_none());
    assert_eq!(ledger.events.lock().unwrap().len(), 0, "it was recorded");
    assert!(matches!(rule(&ledger, &proposal, &confirmed(&proposal)), Some(Ruled::Flash(_))));
}

#[test]
fn a_decision_without_the_typed_phrase_allows_nothing() {
    let ledger = MemoryLedger::default();
    let plan = ErasePlan { board: board("/dev/a"), region: None };
    let proposal = proposal(1, Change::Erase(plan));
    for verdict in [
        Verdict::Approve,
        Verdict::ApproveConfirmed { phrase: String::new() },
        Verdict::ApproveConfirmed { phrase: "erase esp32 al".into() },
        Verdict::ApproveConfirmed { phrase: "Erase esp32 all".into() },
    ] {
        let ruled = rule(&ledger, &proposal, &decision(&proposal, verdict.clone()));
        assert!(ruled.is_none(), "{verdict:?}");
    }
    assert_eq!(ledger.events.lock().unwrap().len(), 0, "it was recorded");
    assert!(matches!(rule(&ledger, &proposal, &confirmed(&proposal)), Some(Ruled::Erase(_))));
}

#[test]
fn terms_name_the_first_finding_that_stops() {
    let found = |level, text: &str| Found::new(level, text.to_owned());
    let mut proposal = proposal(1, Change::Flash(flash_plan("/dev/a")));
    proposal.checks = vec![
        Check::with(CheckKind::Size, vec![found(FindingLevel::Warning, "a warning")]),
        Check::with(CheckKind::Images, vec![found(FindingLevel::Stop, "a stop")]),
    ];
    let desk = ApprovalQueue::default();
    desk.leave_unattended("nobody is there");
    let mut ticket = desk.queue().put(proposal.id, queue::DecisionTerms::of(&proposal));
    let spoken = futures::executor::block_on(ticket.wait());
    let queue::QueueAnswer::Verdict { by: DecidedBy::Nobody(why), .. } = spoken else {
        panic!("{spoken:?}")
    };
    assert_eq!(why, "refused: a stop");
}

#[test]
fn an_approval_that_does_not_name_what_was_found_allows_nothing() {
    let ledger = MemoryLedger::default();
    let found = |text: &str| Found::new(FindingLevel::Stop, text.to_owned());
    let mut proposal = proposal(
        1,
        Change::Read(ReadPlan {
            board: board("/dev/a"),
            region: FlashRegion { label: String::new(), offset: 0, bytes: 0x1000 },
            path: path("dump.bin"),
        }),
    );
    proposal.checks = vec![Check::with(CheckKind::Images, vec![found("one"), found("two")])];
    assert_eq!(proposal.stops(), 2);
    for stops in [0, 1] {
        let decision = Decision { stops, ..confirmed(&proposal) };
        assert!(rule(&ledger, &proposal, &decision).is_none(), "{stops}");
    }
    assert_eq!(ledger.events.lock().unwrap().len(), 0, "it was recorded");
    let Some(Ruled::Read(approved)) = rule(&ledger, &proposal, &confirmed(&proposal)) else {
        panic!("it is approved")
    };
    assert_eq!(approved.proposal(), proposal.id);
}

#[tokio::test]
async fn what_is_flashed_and_erased_is_what_was_approved_and_not_what_the_order_says() {
    let (world, project) = (GateBench::asking(), PathBuf::from("/nowhere"));
    let flash = proposal(1, Change::Flash(flash_plan("/dev/approved")));
    let Some(Ruled::Flash(approved)) = rule(&world.ledger, &flash, &confirmed(&flash)) else {
        panic!("it is approved")
    };
    let order = |_: &_| FlashOrder {
        project: project.clone(),
        plan: flash_plan("/dev/other"),
        progress: Arc::new(|_, _| {}),
        notice: Arc::new(|_| {}),
        cancel: CancellationToken::new(),
    };
    effects::flash(&approved, world.bench.as_ref(), order).await.unwrap();
    let flashed = world.bench.flashed.lock().unwrap().take().unwrap();
    assert_eq!(flashed, flash_plan("/dev/approved"));

    let plan = |port| ErasePlan { board: board(port), region: None };
    let erase = proposal(1, Change::Erase(plan("/dev/approved")));
    let Some(Ruled::Erase(approved)) = rule(&world.ledger, &erase, &confirmed(&erase)) else {
        panic!("it is approved")
    };
    let order = |_: &_| EraseOrder {
        project: project.clone(),
        plan: plan("/dev/other"),
        cancel: CancellationToken::new(),
    };
    effects::erase(&approved, world.bench.as_ref(), order).await.unwrap();
    assert_eq!(*world.bench.erased.lock().unwrap(), [plan("/dev/approved")]);
}

#[tokio::test]
async fn what_is_stored_is_what_was_approved_and_not_what_the_order_says() {
    let world = GateBench::asking();
    let region = |offset| FlashRegion { label: "nvs".into(), offset, bytes: 0x3000 };
    let empty = vec![0xff; 0x3000];
    let plan = NvsPlan {
        board: board("/dev/approved"),
        region: region(0x9000),
        edits: vec![NvsEdit {
            namespace: "wifi".into(),
            key: "channel".into(),
            before: None,
            after: Some(NvsValue { kind: crate::model::NvsKind::U8, text: "6".into() }),
            shown: "6".into(),
        }],
        base: ContentHash::of(&empty),
        image: ContentHash::of(b"what it becomes"),
        space: NvsSpace { used: 0, of: 0, damaged: 0 },
    };
    let edit = proposal(1, Change::Nvs(plan));
    let Some(Ruled::Nvs(approved)) = rule(&world.ledger, &edit, &confirmed(&edit)) else {
        panic!("it is approved")
    };
    *world.bench.memory.lock().unwrap() = empty.clone();
    let order = |_: &_| RewriteOrder {
        project: PathBuf::from("/nowhere"),
        board: board("/dev/other"),
        region: region(0x1_0000),
        remake: Arc::new(|_| Some(b"something else".to_vec())),
        progress: Arc::new(|_, _| {}),
        cancel: CancellationToken::new(),
    };
    // The image that was shown cannot come of it, so that nothing is written.
    let done = effects::edit_nvs(&approved, world.bench.as_ref(), order).await;
    assert!(done.is_err());
    assert_eq!(*world.bench.memory.lock().unwrap(), empty);
    let order = world.bench.rewritten.lock().unwrap().take().unwrap();
    assert_eq!((order.board.port.as_str(), order.region), ("/dev/approved", region(0x9000)));
}
