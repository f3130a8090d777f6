//! Files that change on disk while a proposal waits.

use super::*;
use crate::model::{PersonEvent, ProposalEvent, RuleSays, SessionRule};

impl GateBench {
    fn restated(&self) -> Vec<(Vec<crate::model::Check>, String)> {
        let restated = |event| match event {
            Event::Proposal(ProposalEvent::Restated { checks, why, .. }) => Some((checks, why)),
            _ => None,
        };
        self.events().into_iter().filter_map(restated).collect()
    }

    async fn until_restated(&self, count: usize) {
        let waiting = async {
            while self.restated().len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("never restated");
    }

    fn hash_now(&self) -> ContentHash {
        self.gate.waiting(ProposalId(1)).unwrap().change.hash()
    }
}

#[tokio::test]
async fn a_change_elsewhere_in_the_file_is_merged_and_the_old_statement_is_void() {
    let world = GateBench::asking();
    let base = "1\n2\n3\n4\n5\n6\n7\n8\n";
    world.write("a.c", base);
    let task = world.submit(vec![save("a.c", Some(base), &base.replace("2\n", "two\n"))]);
    world.on_desk(1).await;
    let old = world.hash_now();
    world.write("a.c", &base.replace("7\n", "seven\n"));
    world.until_restated(1).await;
    let stale = world
        .desk
        .decide(Shown { stops: u32::MAX, ..Shown::whole(ProposalId(1), old) }, Verdict::Approve);
    assert_eq!(stale, Err(QueueError::HashMismatch(ProposalId(1))));
    let (checks, why) = world.restated().remove(0);
    let merged = checks.iter().find(|check| check.kind == CheckKind::Merged).unwrap();
    assert_eq!((merged.level(), why.contains("merged")), (Some(FindingLevel::Warning), true));
    let unchanged = checks.iter().find(|check| check.kind == CheckKind::BaseUnchanged).unwrap();
    assert_eq!(unchanged.level(), None);
    world
        .desk
        .decide(
            Shown { stops: u32::MAX, ..Shown::whole(ProposalId(1), world.hash_now()) },
            Verdict::Approve,
        )
        .unwrap();
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
    let expected = base.replace("2\n", "two\n").replace("7\n", "seven\n");
    assert_eq!(world.read("a.c"), Some(expected));
}

#[tokio::test]
async fn changes_that_meet_are_told_and_nothing_is_overwritten_unseen() {
    let world = GateBench::asking();
    world.write("a.c", "1\n2\n3\n");
    let task = world.submit(vec![save("a.c", Some("1\n2\n3\n"), "1\ntwo\n3\n")]);
    world.on_desk(1).await;
    world.write("a.c", "1\nmine\n3\n");
    world.until_restated(1).await;
    let (checks, why) = world.restated().remove(0);
    let merged = checks.iter().find(|check| check.kind == CheckKind::Merged).unwrap();
    assert_eq!(merged.level(), Some(FindingLevel::Stop));
    assert!(why.contains("line 2"), "{why}");
    world
        .desk
        .decide(
            Shown { stops: u32::MAX, ..Shown::whole(ProposalId(1), world.hash_now()) },
            reject("mine stays"),
        )
        .unwrap();
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    assert_eq!(world.read("a.c").as_deref(), Some("1\nmine\n3\n"));
}

#[tokio::test]
async fn an_approval_that_comes_too_late_is_not_taken() {
    let world = GateBench::asking();
    world.write("a.c", "old");
    let task = world.submit(vec![save("a.c", Some("old"), "new")]);
    world.on_desk(1).await;
    // Within one look: the desk still knows the old statement.
    world.write("a.c", "changed by hand");
    world.decide(1, Verdict::Approve);
    world.until_restated(1).await;
    world.on_desk(1).await;
    assert_eq!(world.read("a.c").as_deref(), Some("changed by hand"));
    let is_notice = |event: &Event| matches!(event, Event::Person(PersonEvent::Noticed { .. }));
    assert!(world.events().iter().any(is_notice));
    assert!(
        !world
            .events()
            .iter()
            .any(|event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. })))
    );
    world
        .desk
        .decide(
            Shown { stops: u32::MAX, ..Shown::whole(ProposalId(1), world.hash_now()) },
            Verdict::Approve,
        )
        .unwrap();
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
    assert_eq!(world.read("a.c").as_deref(), Some("new"));
}

#[tokio::test]
async fn a_file_that_appears_or_goes_changes_what_is_asked() {
    let world = GateBench::asking();
    world.write("gone.c", "was");
    world.write("del.c", "short");
    let task = world.submit(vec![
        save("made.c", None, "made"),
        save("gone.c", Some("was"), "new"),
        delete("del.c", "short"),
    ]);
    world.on_desk(3).await;
    world.write("made.c", "somebody else's");
    fs::remove_file(world.path("gone.c")).unwrap();
    world.write("del.c", "longer now");
    world.until_restated(3).await;
    let whys: String = world.restated().into_iter().map(|(_, why)| why + "\n").collect();
    for words in ["has appeared", "was removed", "what would be deleted"] {
        assert!(whys.contains(words), "{whys}");
    }
    for id in 1..=3 {
        let hash = world.gate.waiting(ProposalId(id)).unwrap().change.hash();
        world
            .desk
            .decide(Shown { stops: u32::MAX, ..Shown::whole(ProposalId(id), hash) }, reject(""))
            .unwrap();
    }
    task.await.unwrap().unwrap();
    assert_eq!(world.read("made.c").as_deref(), Some("somebody else's"));
    assert_eq!(world.read("del.c").as_deref(), Some("longer now"));
}

#[tokio::test]
async fn a_rule_never_approves_what_was_made_for_another_file() {
    let world = GateBench::ruled(Ruling::Allow);
    world.write("a.txt", "mine");
    let task = world.submit(vec![save("a.txt", Some("other"), "new")]);
    world.on_desk(1).await;
    assert_eq!(world.proposals()[0].stops(), 1);
    world.desk.close("nobody is there");
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    assert_eq!(world.read("a.txt").as_deref(), Some("mine"));
}

#[tokio::test]
async fn a_deletion_of_a_file_that_is_gone_ends_as_stale() {
    let world = GateBench::asking();
    world.write("a.c", "a");
    let task = world.submit(vec![delete("a.c", "a")]);
    world.on_desk(1).await;
    fs::remove_file(world.path("a.c")).unwrap();
    world.decide(1, Verdict::Approve);
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Stale { found: None }]);
}

#[tokio::test]
async fn a_file_that_grew_beyond_what_is_handled_is_left_alone() {
    let world = GateBench::asking();
    world.write("a.c", "old");
    let task = world.submit(vec![save("a.c", Some("old"), "new")]);
    world.on_desk(1).await;
    let file = fs::File::create(world.path("a.c")).unwrap();
    file.set_len(50 * 1024 * 1024).unwrap();
    world.decide(1, Verdict::Approve);
    let settled = outcomes(task.await.unwrap());
    let [Outcome::Failed(error)] = settled.as_slice() else { panic!("{settled:?}") };
    assert!(error.why.contains("52428800 bytes"), "{error:?}");
    assert_eq!(fs::metadata(world.path("a.c")).unwrap().len(), 50 * 1024 * 1024);
}

#[tokio::test]
async fn what_builds_on_a_change_that_the_person_took_back_is_denied() {
    let world = GateBench::asking();
    assert_eq!(world.approved_one(save("a.c", None, "first")).await, Outcome::Applied);
    let task = world.submit(vec![save("a.c", Some("first"), "second")]);
    world.on_desk(1).await;
    world.gate.undo(ProposalId(1)).unwrap();
    let settled = task.await.unwrap().unwrap().remove(0);
    assert_eq!(settled.outcome, Outcome::Denied);
    let DecidedBy::Nobody(why) = &settled.decision.by else { panic!("{:?}", settled.decision) };
    assert!(why.contains("took back proposal 1") && why.contains("a.c"), "{why}");
    assert_eq!(world.read("a.c"), None, "it is there again");
}

#[tokio::test]
async fn what_somebody_else_changed_after_an_undo_still_asks() {
    let world = GateBench::asking();
    assert_eq!(world.approved_one(save("a.c", None, "first")).await, Outcome::Applied);
    world.gate.undo(ProposalId(1)).unwrap();
    let task = world.submit(vec![save("a.c", None, "second")]);
    world.on_desk(1).await;
    world.write("a.c", "theirs");
    world.until_restated(1).await;
    let (checks, _) = world.restated().pop().unwrap();
    let merged = checks.iter().find(|check| check.kind == CheckKind::Merged).unwrap();
    assert_eq!(merged.level(), Some(FindingLevel::Stop));
    let (kind, path, tool, agent) = (None, Some("**".to_owned()), None, None);
    let always = SessionRule { says: RuleSays::Always, kind, path, tool, agent };
    world.gate.add_rule(always).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(world.desk.waiting().len(), 1, "the rule decided");
    assert_eq!(world.read("a.c").as_deref(), Some("theirs"));
    task.abort();
}

#[tokio::test]
async fn what_a_tool_found_stays_and_the_last_change_on_disk_alone_is_told() {
    let world = GateBench::asking();
    world.write("a.c", "1\n2\n3\n");
    let mut draft = save("a.c", Some("1\n2\n3\n"), "1\ntwo\n3\n");
    let fits = crate::model::Check::of(CheckKind::Fits, FindingLevel::Warning, "is nearly full");
    draft.checks.push(fits.clone());
    let task = world.submit(vec![draft]);
    world.on_desk(1).await;
    for (count, line) in [(1, "mine"), (2, "mine as well")] {
        world.write("a.c", &format!("1\n{line}\n3\n"));
        world.until_restated(count).await;
        let (checks, _) = world.restated().remove(count - 1);
        assert!(checks.contains(&fits), "{checks:?}");
        let merged = checks.iter().filter(|check| check.kind == CheckKind::Merged).count();
        assert_eq!(merged, 1, "{checks:?}");
    }
    world.desk.close("the run was stopped");
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
}

#[tokio::test]
async fn a_file_that_holds_the_proposed_content_by_now_stops_nobody() {
    let world = GateBench::asking();
    let task = world.submit(vec![save("a.c", None, "int a;\n")]);
    world.on_desk(1).await;
    world.write("a.c", "int a;\n");
    world.until_restated(1).await;
    let (checks, why) = world.restated().remove(0);
    let merged = checks.iter().find(|check| check.kind == CheckKind::Merged).unwrap();
    assert_eq!(merged.level(), Some(FindingLevel::Warning));
    assert!(why.contains("holds the proposed content already"), "{why}");
    world.desk.close("the run was stopped");
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
}
