//! Tests of the way from draft to outcome, on a real folder.

mod amended;
mod boards;
mod compiled;
mod flashes;
mod found;
mod interrupted;
mod looked_at;
mod moved;
mod of_files;
mod on_way;
mod out_of_time;
mod outside;
mod partition_tables;
mod proofs;
mod rules;
mod undo;
pub(super) mod world;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::config::{Origin as RuleOrigin, Policy, PolicyRule, Ruling};
use crate::model::{
    BatchId, BoardEvent, BoardInfo, CheckKind, ContentHash, DecidedBy, Decision, Draft,
    DraftChange, ErasePlan, Event, FindingLevel, Ledger, Outcome, ProjectPath, Proposal,
    ProposalEvent, ProposalId, Seq, Shown, Timestamp, Verdict,
};
use crate::toolchain::syntax::{Finding, SyntaxJob, no_answer};
use world::{GateBench, MemoryLedger, delete, flash, gate, origin, outcomes, path, reject, save};

#[tokio::test]
async fn an_approved_file_is_written_after_its_decision_is_recorded() {
    let world = GateBench::asking();
    let applied = world.approved(vec![save("main/src/a.c", None, "int a;\n")]).await;
    assert_eq!(applied, [Outcome::Applied]);
    assert_eq!(world.read("main/src/a.c").as_deref(), Some("int a;\n"));
    let events = world.events();
    assert!(matches!(
        events.as_slice(),
        [
            Event::Proposal(ProposalEvent::Made(_)),
            Event::Proposal(ProposalEvent::Decided { .. }),
            Event::Proposal(ProposalEvent::Settled { .. })
        ]
    ));
}

#[tokio::test]
async fn a_new_folder_has_the_usual_rights() {
    let world = GateBench::asking();
    fs::create_dir(world.path("usual")).unwrap();
    let applied = world.approved_one(save("made/deep/a.c", None, "int a;\n")).await;
    assert_eq!(applied, Outcome::Applied);
    let rights = |path: &str| fs::metadata(world.path(path)).unwrap().permissions().mode();
    assert_eq!([rights("made"), rights("made/deep")], [rights("usual"), rights("usual")]);
}

#[tokio::test]
async fn nothing_is_written_when_the_decision_cannot_be_recorded() {
    let world = GateBench::ruled(Ruling::Allow);
    *world.ledger.broken_at.lock().unwrap() = Some(1);
    let before = world.everything();
    let result = world.gate.submit(&origin(), vec![save("a.txt", None, "x")]).await;
    assert!(matches!(result, Err(GateError::Record(_))));
    assert_eq!(world.everything(), before);
}

#[tokio::test]
async fn the_whole_batch_is_proposed_first_and_decided_in_any_order() {
    let world = GateBench::asking();
    let task =
        world.submit(vec![save("a.c", None, "a"), save("b.c", None, "b"), save("c.c", None, "c")]);
    world.on_desk(3).await;
    assert_eq!(world.events().len(), 3);
    world.decide(3, Verdict::Approve);
    while world.read("c.c").is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.desk.waiting(), [ProposalId(1), ProposalId(2)]);
    world.decide(1, reject("not this one"));
    world.decide(2, Verdict::Approve);
    let settled = task.await.unwrap().unwrap();
    let ids: Vec<u32> = settled.iter().map(|settlement| settlement.proposal.0).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(settled[0].decision.verdict, reject("not this one"));
    assert_eq!((world.read("a.c"), world.read("b.c").as_deref()), (None, Some("b")));
}

#[tokio::test]
async fn a_decision_on_something_else_is_refused() {
    let world = GateBench::asking();
    let task = world.submit(vec![save("a.c", None, "a")]);
    world.on_desk(1).await;
    let wrong = world.desk.decide(
        Shown { stops: u32::MAX, ..Shown::whole(ProposalId(1), ContentHash::of(b"other")) },
        Verdict::Approve,
    );
    assert_eq!(wrong, Err(QueueError::HashMismatch(ProposalId(1))));
    world.decide(1, reject(""));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    assert_eq!(world.read("a.c"), None);
}

#[tokio::test]
async fn every_kind_of_denial_leaves_the_disk_as_it_was() {
    for end in ["reject", "close", "lost", "policy"] {
        let mut world =
            if end == "policy" { GateBench::ruled(Ruling::Deny) } else { GateBench::asking() };
        world.write("old.c", "old");
        let before = world.everything();
        let drafts = vec![
            save("new/deep/a.c", None, "a"),
            save("old.c", Some("old"), "new"),
            delete("old.c", "old"),
        ];
        let task = world.submit(drafts);
        if end != "policy" {
            world.on_desk(3).await;
        }
        match end {
            "reject" => (1..=3).for_each(|id| world.decide(id, reject("no"))),
            "close" => world.desk.close("the run was stopped"),
            "lost" => world.desk = ApprovalQueue::default(),
            _ => {}
        }
        let settled = task.await.unwrap().unwrap();
        assert!(settled.iter().all(|settled| settled.outcome == Outcome::Denied), "{end}");
        let nobody = settled.iter().all(|s| matches!(s.decision.by, DecidedBy::Nobody(_)));
        assert_eq!(nobody, end == "close" || end == "lost", "{end}");
        assert_eq!(world.everything(), before, "{end}");
    }
}

#[tokio::test]
async fn leaving_records_nothing_and_writes_nothing() {
    let world = GateBench::asking();
    let task = world.submit(vec![save("a.c", None, "a")]);
    world.on_desk(1).await;
    world.desk.detach();
    assert_eq!(task.await.unwrap(), Err(GateError::Detached));
    assert_eq!(world.events().len(), 1);
    assert_eq!(world.read("a.c"), None);
}

#[tokio::test]
async fn a_failed_write_keeps_the_old_file_and_leaves_nothing_behind() {
    let world = GateBench::asking();
    world.write("main/a.c", "old");
    world.write("plain", "file");
    fs::create_dir(world.path("main/folder.c")).unwrap();
    let before = world.everything();
    for draft in [save("plain/x.c", None, "x"), save("main/folder.c", None, "x")] {
        let outcome = world.approved_one(draft).await;
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
        assert_eq!(world.everything(), before);
    }
}

#[tokio::test]
async fn a_read_only_folder_is_told_plainly() {
    let world = GateBench::asking();
    world.write("main/a.c", "old");
    let folder = world.path("main");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write anywhere; then the file is expected to be written instead.
    let is_superuser = fs::write(folder.join("probe"), "").is_ok();
    let outcome = world.approved_one(save("main/a.c", Some("old"), "new")).await;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    if is_superuser {
        assert_eq!(outcome, Outcome::Applied);
        return;
    }
    let Outcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert!(error.fix.contains("writable"), "{error:?}");
    assert_eq!(world.read("main/a.c").as_deref(), Some("old"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[tokio::test]
async fn permissions_survive_an_edit_and_a_leftover_is_no_obstacle() {
    let world = GateBench::asking();
    world.write("tool.sh", "old");
    fs::set_permissions(world.path("tool.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    let leftover = format!(".firmhand-1-{}.tmp", ContentHash::of(b"new").short());
    world.write(&leftover, "half");
    let outcome = world.approved_one(save("tool.sh", Some("old"), "new")).await;
    assert_eq!(outcome, Outcome::Applied);
    let mode = fs::metadata(world.path("tool.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    assert_eq!(world.read(&leftover), None);
}

#[tokio::test]
async fn no_rule_approves_a_flash_of_a_real_board() {
    let world = GateBench::ruled(Ruling::Allow);
    for draft in [flash(false, false), flash(true, true), flash(false, true)] {
        let task = world.submit(vec![draft]);
        world.on_desk(1).await;
        let id = world.desk.waiting()[0];
        world.decide(id.0, reject("no"));
        assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    }
    assert_eq!(*world.bench.flashes.lock().unwrap(), 0);
    let settled = world.gate.submit(&origin(), vec![flash(true, false)]).await;
    assert_eq!(outcomes(settled), [Outcome::Applied]);
    assert_eq!(*world.bench.flashes.lock().unwrap(), 1);
    let events = world.events();
    assert!(events.iter().any(|event| matches!(event, Event::Board(BoardEvent::Connected(_)))));
    assert!(events.iter().any(|e| matches!(
        e,
        Event::Proposal(ProposalEvent::FlashProgress { done: 2, total: 2, .. })
    )));
}
