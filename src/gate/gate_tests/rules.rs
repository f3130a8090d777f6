//! Rules that the person makes for the session.

use super::*;
use crate::model::{ChangeKind, Record, RuleId, RuleSays, SessionRule};
use crate::sandbox::Runner;

fn rule(says: RuleSays, path: Option<&str>) -> SessionRule {
    let path = path.map(str::to_owned);
    SessionRule { says, kind: None, path, tool: None, agent: None }
}

fn always_flash() -> SessionRule {
    SessionRule { kind: Some(ChangeKind::Flash), ..rule(RuleSays::Always, None) }
}

#[tokio::test]
async fn a_rule_decides_what_comes_and_what_waits_and_fits() {
    let world = GateBench::asking();
    let task = world.submit(vec![save("main/a.txt", None, "a"), save("b.txt", None, "b")]);
    world.on_desk(2).await;
    world.gate.add_rule(rule(RuleSays::Always, Some("main/**"))).unwrap();
    while world.read("main/a.txt").is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.desk.waiting(), [ProposalId(2)]);
    world.decide(2, reject(""));
    let settled = task.await.unwrap().unwrap();
    let by = DecidedBy::Policy("always main/** (session rule 1)".into());
    assert_eq!(settled[0].decision.by, by);
    let more = world.gate.submit(&origin(), vec![save("main/c.txt", None, "c")]).await;
    assert_eq!(outcomes(more), [Outcome::Applied]);
}

#[tokio::test]
async fn never_wins_over_always_and_a_revoked_rule_is_gone() {
    let world = GateBench::asking();
    world.gate.add_rule(rule(RuleSays::Always, Some("main/"))).unwrap();
    world.gate.add_rule(rule(RuleSays::Never, Some("**/secret.h"))).unwrap();
    let drafts = vec![save("main/a.txt", None, "a"), save("main/secret.h", None, "s")];
    let settled = world.gate.submit(&origin(), drafts).await;
    assert_eq!(outcomes(settled), [Outcome::Applied, Outcome::Denied]);
    world.gate.revoke_rule(RuleId(1)).unwrap();
    assert!(world.gate.revoke_rule(RuleId(1)).is_err());
    let task = world.submit(vec![save("main/b.txt", None, "b")]);
    world.on_desk(1).await;
    world.decide(3, reject(""));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
}

#[tokio::test]
async fn no_rule_approves_the_flash_of_a_real_board_or_a_touched_boot() {
    let world = GateBench::asking();
    world.gate.add_rule(always_flash()).unwrap();
    let by_tool =
        SessionRule { tool: Some("generate_code".into()), ..rule(RuleSays::Always, None) };
    world.gate.add_rule(by_tool).unwrap();
    for (id, draft) in (1..).zip([flash(false, false), flash(true, true), flash(false, true)]) {
        let task = world.submit(vec![draft]);
        world.on_desk(1).await;
        world.decide(id, reject("no"));
        assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    }
    assert_eq!(*world.bench.flashes.lock().unwrap(), 0);
    let settled = world.gate.submit(&origin(), vec![flash(true, false)]).await;
    assert_eq!(outcomes(settled), [Outcome::Applied]);
}

#[tokio::test]
async fn no_rule_approves_anything_where_there_is_no_sandbox() {
    // Allowed by the configuration, and by a rule of the session.
    for world in [GateBench::ruled(Ruling::Allow), GateBench::asking()] {
        // No walls can be built with a program that does not exist.
        world.gate.sandboxed_by(Runner::new("/nothing".into()));
        world.gate.add_rule(rule(RuleSays::Always, Some("main/**"))).unwrap();
        let task = world.submit(vec![save("main/a.txt", None, "a")]);
        world.on_desk(1).await;
        assert_eq!(world.read("main/a.txt"), None);
        world.decide(1, reject("no"));
        assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    }
    // What a rule forbids stays forbidden without asking.
    let world = GateBench::ruled(Ruling::Deny);
    world.gate.sandboxed_by(Runner::new("/nothing".into()));
    let settled = world.gate.submit(&origin(), vec![save("main/a.txt", None, "a")]).await;
    assert_eq!(outcomes(settled), [Outcome::Denied]);
}

#[test]
fn a_rule_holds_for_its_kind_its_tool_and_its_agent_alone() {
    let world = GateBench::asking();
    let of = |change| {
        let draft = Draft { change, reason: String::new(), checks: Vec::new() };
        let project_dir = &world.gate.parts.project_dir;
        let mut made = examine(project_dir, vec![draft], &FindingsContext::default()).remove(0);
        (made.agent, made.tool) = ("Writer".into(), "save_file".into());
        made
    };
    let saving = of(save("a.txt", None, "a").change);
    let deleting = of(delete("b.txt", "b").change);
    let always = || rule(RuleSays::Always, None);
    for (wanted, holds) in [
        (SessionRule { kind: Some(ChangeKind::Save), ..always() }, [true, false]),
        (SessionRule { kind: Some(ChangeKind::Delete), ..always() }, [false, true]),
        (SessionRule { tool: Some("save_file".into()), ..always() }, [true, true]),
        (SessionRule { tool: Some("other".into()), ..always() }, [false, false]),
        (SessionRule { agent: Some("Writer".into()), ..always() }, [true, true]),
        (SessionRule { agent: Some("Reader".into()), ..always() }, [false, false]),
    ] {
        let mut rules = session_rules::SessionRules::default();
        rules.add(RuleId(1), &wanted);
        let message = [&saving, &deleting].map(|proposal| rules.says(proposal).is_some());
        assert_eq!(message, holds, "{wanted:?}");
    }
}

#[tokio::test]
async fn a_denial_of_the_configuration_is_final() {
    let world = GateBench::ruled(Ruling::Deny);
    world.gate.add_rule(rule(RuleSays::Always, Some("**"))).unwrap();
    let settled = world.gate.submit(&origin(), vec![save("a.txt", None, "a")]).await;
    assert_eq!(outcomes(settled), [Outcome::Denied]);
}

#[test]
fn rules_about_everything_or_nothing_are_refused_and_not_recorded() {
    let world = GateBench::asking();
    let on_path = SessionRule { path: Some("build/x".into()), ..always_flash() };
    for bad in [
        rule(RuleSays::Always, None),
        rule(RuleSays::Always, Some("/etc/**")),
        rule(RuleSays::Never, Some("../x")),
        on_path,
    ] {
        let error = world.gate.add_rule(bad.clone()).unwrap_err();
        assert!(!error.why.is_empty() && !error.fix.is_empty(), "{bad}: {error:?}");
    }
    assert!(world.events().is_empty());
}

#[tokio::test]
async fn rules_hold_on_after_a_restart_and_revoked_ones_do_not() {
    let world = GateBench::asking();
    world.gate.add_rule(rule(RuleSays::Always, Some("a.txt"))).unwrap();
    world.gate.add_rule(rule(RuleSays::Always, Some("b.txt"))).unwrap();
    world.gate.revoke_rule(RuleId(2)).unwrap();
    let records: Vec<Record> = (1..)
        .zip(world.events())
        .map(|(seq, event)| Record { v: 1, seq: Seq(seq), at: Timestamp(0), event })
        .collect();
    let (folder, ledger) = (world.folder.path(), &world.ledger);
    let again = gate(folder, ledger, &world.bench, Policy::default(), &world.desk);
    again.recall(&records).unwrap();
    let settled = again.submit(&origin(), vec![save("a.txt", None, "a")]).await;
    assert_eq!(outcomes(settled), [Outcome::Applied]);
    assert_eq!(again.add_rule(rule(RuleSays::Never, Some("c.txt"))).unwrap(), RuleId(3));
    let task =
        tokio::spawn(async move { again.submit(&origin(), vec![save("b.txt", None, "b")]).await });
    world.on_desk(1).await;
    world.desk.close("done");
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
}

const BIG: &str = "nvs,data,nvs,0x9000,0x6000\nfactory,app,factory,0x10000,0x500000\n";

/// A flash size that goes with [`BIG`], and that table.
fn size_and_table() -> Vec<Draft> {
    let size = save("sdkconfig.defaults", Some(SMALL), &SMALL.replace('4', "8"));
    vec![size, save("partitions.csv", None, BIG)]
}

const SMALL: &str = "CONFIG_ESPTOOLPY_FLASHSIZE_4MB=y\n";

#[tokio::test]
async fn a_rule_does_not_approve_what_rests_on_a_change_that_waits() {
    let world = GateBench::asking();
    world.write("sdkconfig.defaults", SMALL);
    world.gate.add_rule(rule(RuleSays::Always, Some("*.csv"))).unwrap();
    let task = world.submit(size_and_table());
    world.on_desk(2).await;
    assert_eq!(world.read("partitions.csv"), None);
    world.decide(1, reject("no"));
    world.decide(2, reject("no"));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied, Outcome::Denied]);
    // What rules approve altogether stands together.
    world.gate.add_rule(rule(RuleSays::Always, Some("sdkconfig.defaults"))).unwrap();
    let settled = world.gate.submit(&origin(), size_and_table()).await;
    assert_eq!(outcomes(settled), [Outcome::Applied, Outcome::Applied]);
}

#[tokio::test]
async fn what_was_made_and_rested_on_a_rejected_change_is_told() {
    let world = GateBench::asking();
    world.write("sdkconfig.defaults", SMALL);
    let task = world.submit(size_and_table());
    world.on_desk(2).await;
    world.decide(2, Verdict::Approve);
    world.decide(1, reject("no"));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied, Outcome::Applied]);
    let reported = world.events().into_iter().find_map(|event| match event {
        Event::Person(crate::model::PersonEvent::Noticed { notice, .. }) => Some(notice.what),
        _ => None,
    });
    assert!(reported.unwrap().contains("beyond the 4 MB of flash"));
}
