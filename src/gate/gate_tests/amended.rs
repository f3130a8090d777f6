//! Decisions that say more than yes or no.

use super::super::effects;
use super::*;
use crate::model::ProposalEvent;
use crate::model::{AfterReject, Amended, DecisionNote, LineComment, Side};

impl GateBench {
    fn amend(&self, id: u32, how: Amended, content: &str, words: &str) -> Result<(), QueueError> {
        let content = self.ledger.store(content.as_bytes()).unwrap();
        let note = DecisionNote::new(words);
        self.try_decide(id, Verdict::ApproveAmended { how, content, note, phrase: None })
    }

    fn try_decide(&self, id: u32, verdict: Verdict) -> Result<(), QueueError> {
        let proposal = self.gate.waiting(ProposalId(id)).unwrap();
        self.desk.decide(
            Shown { stops: u32::MAX, ..Shown::whole(ProposalId(id), proposal.change.hash()) },
            verdict,
        )
    }
}

#[tokio::test]
async fn a_part_is_written_and_the_agent_is_told_which_lines_were_refused_and_why() {
    let world = GateBench::asking();
    world.write("a.c", "a\r\nb\r\nc");
    let task = world.submit(vec![save("a.c", Some("a\r\nb\r\nc"), "A\r\nb\r\nC")]);
    world.on_desk(1).await;
    world.amend(1, Amended::Lines, "A\r\nb\r\nc", "c stays").unwrap();
    let settled = task.await.unwrap().unwrap();
    assert_eq!(settled[0].outcome, Outcome::Applied);
    assert_eq!(fs::read(world.path("a.c")).unwrap(), b"A\r\nb\r\nc");
    let answers = world.gate.take_feedback(&settled);
    assert_eq!(answers[0]["words"], "c stays");
    assert_eq!(answers[0]["refused_lines"][0]["text"], "C");
    assert_eq!(answers[0]["kept_lines"][0]["text"], "c");
    assert!(world.gate.take_feedback(&settled).is_empty(), "it is told once");
}

#[tokio::test]
async fn an_edited_text_is_bound_to_what_was_shown() {
    let world = GateBench::asking();
    let task = world.submit(vec![save("a.c", None, "theirs\n")]);
    world.on_desk(1).await;
    let content = world.ledger.store(b"mine\n").unwrap();
    let verdict = Verdict::ApproveAmended {
        how: Amended::Edit,
        content,
        note: DecisionNote::default(),
        phrase: None,
    };
    let wrong = world.desk.decide(
        Shown { stops: u32::MAX, ..Shown::whole(ProposalId(1), ContentHash::of(b"x")) },
        verdict,
    );
    assert_eq!(wrong, Err(QueueError::HashMismatch(ProposalId(1))));
    assert_eq!(world.read("a.c"), None);
    world.amend(1, Amended::Edit, "mine\n", "").unwrap();
    let settled = task.await.unwrap().unwrap();
    assert_eq!(world.read("a.c").as_deref(), Some("mine\n"));
    let answers = world.gate.take_feedback(&settled);
    let unified = answers[0]["diff_from_proposed_to_saved"].as_str().unwrap();
    assert!(unified.contains("-theirs\n+mine\n"), "{unified}");
}

#[tokio::test]
async fn what_has_no_content_cannot_be_amended() {
    let world = GateBench::asking();
    world.write("a.c", "a");
    let task = world.submit(vec![delete("a.c", "a")]);
    world.on_desk(1).await;
    let refused = world.amend(1, Amended::Edit, "b", "");
    assert_eq!(refused, Err(QueueError::NoContent(ProposalId(1))));
    world.decide(1, reject(""));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
}

#[tokio::test]
async fn content_that_is_not_what_was_decided_is_never_written() {
    let world = GateBench::asking();
    let task = world.submit(vec![save("a.c", None, "a")]);
    world.on_desk(1).await;
    world.amend(1, Amended::Edit, "mine", "").unwrap();
    // Damage in the store between the decision at the desk and its record.
    world.ledger.damage(ContentHash::of(b"mine"), b"evil");
    assert!(matches!(task.await.unwrap(), Err(GateError::Record(_))));
    assert_eq!(world.read("a.c"), None);
    assert!(
        !world
            .events()
            .iter()
            .any(|event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. })))
    );
}

#[tokio::test]
async fn words_and_comments_go_back_with_the_answer() {
    let world = GateBench::asking();
    let task = world.submit(vec![save("a.c", None, "one\ntwo\n"), save("b.c", None, "b")]);
    world.on_desk(2).await;
    let comments = vec![LineComment { side: Side::New, line: 2, text: "too late".into() }];
    let (words, then) = ("see the comment".to_owned(), AfterReject::GoOn);
    world.decide(1, Verdict::Reject { reason: words, comments, then });
    world.decide(2, Verdict::ApproveAndTell { note: DecisionNote::new("now the header") });
    let settled = task.await.unwrap().unwrap();
    let answers = world.gate.take_feedback(&settled);
    assert_eq!(answers[0]["comments"][0]["at"], "a.c:2");
    assert_eq!(answers[0]["comments"][0]["line"], "two");
    assert_eq!(
        (&answers[1]["decision"], &answers[1]["words"]),
        (&"approved".into(), &"now the header".into())
    );
    assert_eq!((world.read("a.c"), world.read("b.c").as_deref()), (None, Some("b")));
}

#[tokio::test]
async fn a_flash_that_touches_the_boot_asks_for_its_phrase() {
    let world = GateBench::asking();
    let task = world.submit(vec![flash(false, true)]);
    world.on_desk(1).await;
    for verdict in [
        Verdict::Approve,
        Verdict::ApproveAndTell { note: DecisionNote::new("go") },
        Verdict::ApproveConfirmed { phrase: "flash".into() },
    ] {
        let refused = world.try_decide(1, verdict);
        assert!(matches!(refused, Err(QueueError::Unconfirmed(..))), "{refused:?}");
    }
    let phrase = world.gate.waiting(ProposalId(1)).unwrap().phrase().unwrap();
    world.try_decide(1, Verdict::ApproveConfirmed { phrase }).unwrap();
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
    assert_eq!(*world.bench.flashes.lock().unwrap(), 1);
}

#[tokio::test]
async fn five_hundred_proposals_at_once_are_decided_one_by_one() {
    let world = GateBench::asking();
    let drafts = (0..500).map(|n| save(&format!("f{n}.c"), None, "int a;\n")).collect();
    let task = world.submit(drafts);
    world.on_desk(500).await;
    for id in 1..=500 {
        world.decide(id, if id % 2 == 0 { Verdict::Approve } else { reject("odd") });
    }
    let settled = outcomes(task.await.unwrap());
    assert_eq!(settled.iter().filter(|outcome| **outcome == Outcome::Applied).count(), 250);
    assert_eq!(fs::read_dir(world.folder.path()).unwrap().count(), 250);
}

#[tokio::test]
async fn an_edit_takes_the_phrase_that_its_own_text_asks_for() {
    const FOR_GOOD: &str = "CONFIG_SECURE_BOOT=y\nCONFIG_SECURE_FLASH_ENC_ENABLED=y\n\
                            CONFIG_SECURE_FLASH_ENCRYPTION_MODE_RELEASE=y\n";
    let world = GateBench::asking();
    let task = world.submit(vec![save("sdkconfig.defaults", None, "CONFIG_LWIP_IPV6=y\n")]);
    world.on_desk(1).await;
    let content = world.ledger.store(FOR_GOOD.as_bytes()).unwrap();
    let verdict = |phrase: Option<String>| Verdict::ApproveAmended {
        how: Amended::Edit,
        content,
        note: DecisionNote::default(),
        phrase,
    };
    let waiting = world.gate.waiting(ProposalId(1)).unwrap();
    assert_eq!(waiting.phrase(), None);
    let phrase =
        world.gate.versions.with_content(&waiting, FOR_GOOD.as_bytes()).unwrap().phrase().unwrap();
    for typed in [None, Some("yes".to_owned())] {
        world.try_decide(1, verdict(typed)).unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        world.on_desk(1).await;
        assert_eq!(world.read("sdkconfig.defaults"), None);
    }
    world.try_decide(1, verdict(Some(phrase))).unwrap();
    assert_eq!(task.await.unwrap().unwrap()[0].outcome, Outcome::Applied);
    assert_eq!(world.read("sdkconfig.defaults").as_deref(), Some(FOR_GOOD));
}

#[tokio::test]
async fn an_edit_without_the_cause_takes_no_phrase() {
    let world = GateBench::asking();
    let text = "CONFIG_SECURE_FLASH_ENC_ENABLED=y\nCONFIG_SECURE_FLASH_ENCRYPTION_MODE_RELEASE=y\n";
    let task = world.submit(vec![save("sdkconfig.defaults", None, text)]);
    world.on_desk(1).await;
    assert!(world.gate.waiting(ProposalId(1)).unwrap().phrase().is_some());
    world.amend(1, Amended::Edit, "CONFIG_LWIP_IPV6=y\n", "").unwrap();
    assert_eq!(task.await.unwrap().unwrap()[0].outcome, Outcome::Applied);
    assert_eq!(world.read("sdkconfig.defaults").as_deref(), Some("CONFIG_LWIP_IPV6=y\n"));
}

#[tokio::test]
async fn an_edit_with_a_finding_that_was_not_named_is_not_written() {
    let world = GateBench::asking();
    let task = world.submit(vec![save("main/a.c", None, "int a;\n")]);
    world.on_desk(1).await;
    let secret = "#define WIFI_PASSWORD \"Tr0ub4dor&3x9Q\"\n";
    let content = world.ledger.store(secret.as_bytes()).unwrap();
    let (how, note) = (Amended::Edit, DecisionNote::default());
    let verdict = Verdict::ApproveAmended { how, content, note, phrase: None };
    let shown = || Shown::whole(ProposalId(1), world.proposals()[0].change.hash());
    world.desk.decide(shown(), verdict.clone()).unwrap();
    let is_reported = |event: &Event| {
        let Event::Proposal(ProposalEvent::Restated { why, .. }) = event else { return false };
        why.contains("your version contains")
    };
    let waiting = async {
        while !world.events().iter().any(is_reported) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("it is not held back");
    world.on_desk(1).await;
    assert_eq!(world.read("main/a.c"), None);
    world.desk.decide(Shown { stops: 1, ..shown() }, verdict).unwrap();
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
    assert_eq!(world.read("main/a.c").as_deref(), Some(secret));
}

#[tokio::test]
async fn what_is_decided_waits_no_more() {
    let world = GateBench::asking();
    let task = world.submit(vec![save("a.c", None, "int a;\n")]);
    world.on_desk(1).await;
    assert!(world.gate.waiting(ProposalId(1)).is_some());
    world.decide(1, Verdict::Approve);
    let settled = task.await.unwrap().unwrap();
    assert!(world.gate.waiting(ProposalId(1)).is_none());
    // What may be lost in a power cut is told to the person and to the agent.
    let notice = crate::model::UserError::new("`a.c` was changed", "the disk is slow", "Look.");
    let done = effects::EffectResult { outcome: Outcome::Applied, doubt: Some(notice.clone()) };
    let proposal = world.proposals().remove(0);
    let again =
        world.gate.deciding.execution.done(&proposal, settled[0].decision.clone(), done).unwrap();
    let answers = world.gate.take_feedback(&[again]);
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["uncertain"], notice.to_string());
    assert_eq!(answers[0]["file_name"], "a.c");
}
