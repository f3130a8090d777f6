//! What becomes of proposals when the program was killed.

use super::*;
use crate::model::ProposalEvent;

fn recorded(world: &GateBench, decision: Option<Verdict>) -> Vec<Recorded> {
    let record = |proposal: Proposal| {
        let shown = proposal.change.hash();
        let by = DecidedBy::Person;
        let decision =
            decision.clone().map(|verdict| Decision { verdict, by, shown, unseen: 0, stops: 0 });
        Recorded { proposal, made: None, decision, outcome: None }
    };
    world.proposals().into_iter().map(record).collect()
}

/// The world after the program was killed while these drafts waited.
async fn killed(drafts: Vec<Draft>) -> GateBench {
    let mut world = GateBench::asking();
    let count = drafts.len();
    let task = world.submit(drafts);
    world.on_desk(count).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(world.desk.waiting().is_empty());
    world.desk = ApprovalQueue::default();
    let (folder, ledger) = (world.folder.path(), &world.ledger);
    world.gate = gate(folder, ledger, &world.bench, Policy::default(), &world.desk);
    world
}

#[tokio::test]
async fn what_waited_waits_again_under_its_number() {
    let world = killed(vec![save("a.c", None, "a")]).await;
    let known = recorded(&world, None);
    let gate = Arc::clone(&world.gate);
    // Left by an approval whose record was lost in a power cut.
    let leftover = format!(".firmhand-1-{}.tmp", ContentHash::of(b"a").short());
    world.write(&leftover, "a");
    let again = vec![save("a.c", None, "a"), save("b.c", None, "b")];
    let numbered = Arc::new(Gate::new(
        GateParts::clone(&gate.parts),
        &world.desk,
        NextNumbers::after(known.iter().map(|known| &known.proposal)),
    ));
    let task = tokio::spawn(async move { numbered.resubmit(&origin(), known, again).await });
    world.on_desk(2).await;
    assert_eq!(world.read(&leftover), None);
    let proposals = world.proposals();
    assert_eq!(proposals.len(), 2);
    assert_eq!((proposals[1].id, proposals[1].batch.id), (ProposalId(2), BatchId(1)));
    assert_eq!(proposals[1].batch.index, 2);
    world.decide(2, Verdict::Approve);
    world.decide(1, Verdict::Approve);
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied, Outcome::Applied]);
    assert_eq!(world.read("a.c").as_deref(), Some("a"));
}

#[tokio::test]
async fn what_was_decided_is_looked_up_and_never_done_again() {
    let drafts = || vec![save("a.c", Some("old"), "new"), delete("b.c", "old")];
    let stale = Outcome::Stale { found: Some(ContentHash::of(b"third")) };
    let cases: [(Option<&str>, Option<&str>, [Outcome; 2]); 2] = [
        (Some("new"), None, [Outcome::Applied, Outcome::Applied]),
        (Some("third"), Some("third"), [stale.clone(), stale]),
    ];
    for (a, b, expected) in cases {
        let world = killed(drafts()).await;
        [("a.c", a), ("b.c", b)].into_iter().for_each(|(file, content)| {
            if let Some(content) = content {
                world.write(file, content);
            }
        });
        let before = world.everything();
        let known = recorded(&world, Some(Verdict::Approve));
        let settled = world.gate.resubmit(&origin(), known, drafts()).await;
        assert_eq!(outcomes(settled), expected);
        assert_eq!(world.everything(), before);
    }
    let world = killed(drafts()).await;
    world.write("a.c", "old");
    world.write("b.c", "old");
    let before = world.everything();
    // What a kill in the middle of writing leaves behind is tidied up.
    world.write(&format!(".firmhand-1-{}.tmp", ContentHash::of(b"new").short()), "ne");
    let known = recorded(&world, Some(Verdict::Approve));
    let settled = outcomes(world.gate.resubmit(&origin(), known, drafts()).await);
    assert!(settled.iter().all(|outcome| matches!(outcome, Outcome::Interrupted(_))));
    assert_eq!(world.everything(), before);
}

#[tokio::test]
async fn what_has_lost_its_content_waits_damaged_and_can_only_be_rejected() {
    let world = killed(vec![save("a.c", None, "a"), save("b.c", Some("old"), "b")]).await;
    let known = recorded(&world, None);
    world.ledger.forget(b"a");
    // The file itself still holds it.
    world.write("b.c", "old");
    world.ledger.forget(b"old");
    let gate = Arc::clone(&world.gate);
    let again = known.clone();
    let task = tokio::spawn(async move { gate.resubmit(&origin(), again, Vec::new()).await });
    world.on_desk(2).await;
    let restated = |event| match event {
        Event::Proposal(ProposalEvent::Restated { proposal, checks, .. }) => {
            Some((proposal, checks))
        }
        _ => None,
    };
    let reported: Vec<(ProposalId, Vec<crate::model::Check>)> =
        world.events().into_iter().filter_map(restated).collect();
    assert_eq!(reported.len(), 1, "{reported:?}");
    let (damaged, checks) = &reported[0];
    let check = checks.iter().find(|check| check.kind == CheckKind::Stored).unwrap();
    assert_eq!((*damaged, check.level()), (known[0].proposal.id, Some(FindingLevel::Stop)));
    assert!(check.findings[0].text.contains("content is lost"), "{check:?}");
    let shown = Shown {
        proposal: *damaged,
        hash: known[0].proposal.change.hash(),
        unseen: 0,
        stops: u32::MAX,
    };
    let refused = world.desk.decide(shown, Verdict::Approve);
    assert!(matches!(refused, Err(QueueError::Damaged(..))), "{refused:?}");
    world.desk.decide(shown, reject("it is lost")).unwrap();
    world.decide(2, Verdict::Approve);
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied, Outcome::Applied]);
    assert_eq!((world.read("a.c"), world.read("b.c").as_deref()), (None, Some("b")));
}

#[tokio::test]
async fn a_rule_cannot_approve_what_has_lost_its_content() {
    let mut world = killed(vec![save("notes.txt", None, "a")]).await;
    let known = recorded(&world, None);
    world.ledger.forget(b"a");
    let allow = GateBench::ruled(Ruling::Allow).gate.parts.policy.as_ref().clone();
    world.gate = gate(world.folder.path(), &world.ledger, &world.bench, allow, &world.desk);
    let settled = world.gate.resubmit(&origin(), known, Vec::new()).await.unwrap();
    assert_eq!(settled[0].outcome, Outcome::Denied);
    let by = &settled[0].decision.by;
    assert!(matches!(by, DecidedBy::Nobody(why) if why.contains("lost")), "{by:?}");
}

#[tokio::test]
async fn a_rule_that_denies_decides_what_has_lost_its_content_as_well() {
    let mut world = killed(vec![save("notes.txt", None, "a")]).await;
    let known = recorded(&world, None);
    world.ledger.forget(b"a");
    let deny = GateBench::ruled(Ruling::Deny).gate.parts.policy.as_ref().clone();
    world.gate = gate(world.folder.path(), &world.ledger, &world.bench, deny, &world.desk);
    let settled = world.gate.resubmit(&origin(), known, Vec::new()).await.unwrap();
    assert_eq!(settled[0].outcome, Outcome::Denied);
    let by = &settled[0].decision.by;
    assert!(matches!(by, DecidedBy::Policy(_)), "{by:?}");
}

#[tokio::test]
async fn what_waits_again_keeps_what_was_found() {
    let world = killed(vec![save("a.c", None, "#define WIFI_PASSWORD \"Tr0ub4dor&3x9Q\"\n")]).await;
    let known = recorded(&world, None);
    let checks = known[0].proposal.checks.clone();
    assert!(known[0].proposal.stops() > 0, "{checks:?}");
    let gate = Arc::clone(&world.gate);
    let task = tokio::spawn(async move { gate.resubmit(&origin(), known, Vec::new()).await });
    world.on_desk(1).await;
    assert_eq!(world.gate.waiting(ProposalId(1)).unwrap().checks, checks);
    world.decide(1, reject("no"));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
}

#[tokio::test]
async fn an_interrupted_flash_is_not_done_again() {
    let world = killed(vec![flash(false, false)]).await;
    let known = recorded(&world, Some(Verdict::Approve));
    let settled = world.gate.resubmit(&origin(), known, vec![flash(false, false)]).await;
    assert!(matches!(outcomes(settled).as_slice(), [Outcome::Interrupted(_)]));
    assert_eq!(*world.bench.flashes.lock().unwrap(), 0);
}

#[tokio::test]
async fn what_was_settled_stays_so() {
    let world = killed(vec![save("a.c", None, "a")]).await;
    let mut known = recorded(&world, Some(reject("no")));
    known[0].outcome = Some(Outcome::Denied);
    let events = world.events().len();
    let settled = world.gate.resubmit(&origin(), known, vec![save("a.c", None, "a")]).await;
    assert_eq!(outcomes(settled), [Outcome::Denied]);
    assert_eq!(world.events().len(), events);
}

#[tokio::test]
async fn a_kill_in_the_middle_of_an_exchange_loses_nothing() {
    let drafts = || vec![save("a.c", Some("old"), "new"), delete("b.c", "old")];
    let world = killed(drafts()).await;
    // The place had been exchanged, and what came out was saved by another program.
    world.write("a.c", "new");
    let aside = |id, hash: &[u8]| format!(".firmhand-{id}-{}.old", ContentHash::of(hash).short());
    world.write(&aside(1, b"new"), "theirs");
    world.write(&aside(2, b"old"), "theirs too");
    let known = recorded(&world, Some(Verdict::Approve));
    let settled = outcomes(world.gate.resubmit(&origin(), known, drafts()).await);
    let stale = |content: &[u8]| Outcome::Stale { found: Some(ContentHash::of(content)) };
    assert_eq!(settled, [stale(b"theirs"), stale(b"theirs too")]);
    assert_eq!(world.read("a.c").as_deref(), Some("theirs"));
    assert_eq!(world.read("b.c").as_deref(), Some("theirs too"));
    assert_eq!(fs::read_dir(world.folder.path()).unwrap().count(), 2);
}
