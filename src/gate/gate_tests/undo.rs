//! Taking applied changes back.

use super::*;
use crate::model::ProposalEvent;
use crate::model::{Amended, DecisionNote, Record};

impl GateBench {
    fn records(&self) -> Vec<Record> {
        let record = |(seq, event)| Record { v: 1, seq: Seq(seq), at: Timestamp(0), event };
        (1..).zip(self.events()).map(record).collect()
    }

    /// The same session after the program was started anew.
    fn restarted(self) -> Self {
        let (folder, ledger) = (self.folder.path(), &self.ledger);
        let proposals = self.proposals();
        let (desk, parts) = (ApprovalQueue::default(), GateParts::clone(&self.gate.parts));
        let gate = Arc::new(Gate::new(parts, &desk, NextNumbers::after(&proposals)));
        gate.recall(&self.records()).unwrap();
        let _ = (folder, ledger);
        Self { desk, gate, ..self }
    }

    fn undo(&self, id: u32) -> Outcome {
        self.gate.undo(ProposalId(id)).unwrap().0.outcome
    }
}

#[tokio::test]
async fn every_file_change_can_be_undone_and_the_undo_too() {
    let world = GateBench::asking();
    world.write("edit.c", "old\r\n");
    world.write("del.c", "kept\0");
    let before = world.everything();
    let drafts = vec![
        save("new/made.c", None, "made"),
        save("edit.c", Some("old\r\n"), "new\n"),
        delete("del.c", "kept\0"),
    ];
    assert!(world.approved(drafts).await.iter().all(|outcome| *outcome == Outcome::Applied));
    let after = world.everything();
    let world = world.restarted();
    for id in 1..=3 {
        assert_eq!(world.undo(id), Outcome::Applied);
    }
    // A folder that was made for a file stays.
    let files = |all: Vec<(PathBuf, Option<Vec<u8>>)>| -> Vec<_> {
        all.into_iter().filter(|(_, content)| content.is_some()).collect()
    };
    assert_eq!(files(world.everything()), files(before));
    let world = world.restarted();
    for id in 4..=6 {
        assert_eq!(world.undo(id), Outcome::Applied);
    }
    assert_eq!(files(world.everything()), files(after));
    let undoes: Vec<_> = world.proposals().iter().map(|p| p.facts.undoes.map(|id| id.0)).collect();
    assert_eq!(undoes[3..], [Some(1), Some(2), Some(3), Some(4), Some(5), Some(6)]);
}

#[tokio::test]
async fn what_the_disk_no_longer_holds_is_not_overwritten() {
    let world = GateBench::asking();
    world.write("a.c", "old");
    world.approved(vec![save("a.c", Some("old"), "new"), save("b.c", None, "b")]).await;
    world.write("a.c", "mine");
    fs::remove_file(world.path("b.c")).unwrap();
    assert_eq!(world.undo(1), Outcome::Stale { found: Some(ContentHash::of(b"mine")) });
    assert_eq!(world.undo(2), Outcome::Stale { found: None });
    assert_eq!((world.read("a.c").as_deref(), world.read("b.c")), (Some("mine"), None));
    world.write("a.c", "new");
    assert_eq!(world.undo(1), Outcome::Applied, "a conflict does not use the undo up");
    assert_eq!(world.read("a.c").as_deref(), Some("old"));
}

#[tokio::test]
async fn an_amended_change_is_undone_from_what_was_written() {
    let world = GateBench::asking();
    world.write("a.c", "old");
    let task = world.submit(vec![save("a.c", Some("old"), "theirs")]);
    world.on_desk(1).await;
    let content = world.ledger.store(b"mine").unwrap();
    let note = DecisionNote::default();
    world.decide(1, Verdict::ApproveAmended { how: Amended::Edit, content, note, phrase: None });
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
    assert_eq!(world.undo(1), Outcome::Applied);
    assert_eq!(world.read("a.c").as_deref(), Some("old"));
}

#[tokio::test]
async fn what_was_not_carried_out_or_was_undone_cannot_be_undone() {
    let world = GateBench::asking();
    world.approved(vec![save("a.c", None, "a")]).await;
    let task = world.submit(vec![save("b.c", None, "b"), flash(true, false)]);
    world.on_desk(2).await;
    world.decide(2, reject(""));
    world.decide(3, Verdict::Approve);
    task.await.unwrap().unwrap();
    for id in [2, 3, 99] {
        let error = world.gate.undo(ProposalId(id)).unwrap_err();
        assert!(error.what.contains(&id.to_string()), "{error}");
    }
    assert_eq!(world.undo(1), Outcome::Applied);
    let again = world.gate.undo(ProposalId(1)).unwrap_err();
    assert!(again.why.contains("proposal 4") && again.fix.contains("Undo proposal 4"), "{again:?}");
}

#[tokio::test]
async fn an_undo_that_a_kill_cut_off_is_settled_from_the_disk() {
    for (events_left, content, expected) in [
        (2, "old", Outcome::Applied),
        (2, "new", Outcome::Interrupted(String::new())),
        (1, "new", Outcome::Denied),
    ] {
        let world = GateBench::asking();
        world.write("a.c", "old");
        world.approved(vec![save("a.c", Some("old"), "new")]).await;
        let before = world.events().len();
        world.undo(1);
        world.ledger.events.lock().unwrap().truncate(before + events_left);
        world.write("a.c", content);
        let world = world.restarted();
        let last = world.events().pop();
        let Some(Event::Proposal(ProposalEvent::Settled { proposal: ProposalId(2), outcome })) =
            last
        else {
            panic!("{last:?}")
        };
        let kind = std::mem::discriminant::<Outcome>;
        assert_eq!(kind(&outcome), kind(&expected), "{outcome:?}");
        assert_eq!(world.read("a.c").as_deref(), Some(content));
        let settled = world.events().len();
        assert_eq!(world.restarted().events().len(), settled, "it is settled once");
    }
}

#[tokio::test]
async fn what_the_configuration_denies_stays_denied() {
    let world = GateBench::asking();
    world.approved(vec![save("a.c", None, "a")]).await;
    let origin = RuleOrigin::User { file: "config.toml".into(), line: 1 };
    let (kind, tool, agent, path) = (None, None, None, None);
    let deny = PolicyRule { decide: Ruling::Deny, kind, tool, agent, path, origin };
    let mut parts = GateParts::clone(&world.gate.parts);
    parts.policy = Arc::new(Policy::new(vec![deny]));
    let gate = Gate::new(parts, &world.desk, NextNumbers::after(&world.proposals()));
    gate.recall(&world.records()).unwrap();
    assert_eq!(gate.undo(ProposalId(1)).unwrap().0.outcome, Outcome::Denied);
    assert_eq!(world.read("a.c").as_deref(), Some("a"));
}
