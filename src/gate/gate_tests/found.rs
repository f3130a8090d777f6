//! What is said about a change: what is new in it weighs, what was so before is a note.

use super::*;
use crate::gate::{FindingsContext, examine};
use crate::model::PersonEvent;
use crate::model::{Check, Finding as Found};
use crate::workspace::ProjectDir;

fn looked_at(base: Option<&str>, content: &str) -> Proposal {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("main")).unwrap();
    if let Some(base) = base {
        fs::write(folder.path().join("main/a.c"), base).unwrap();
    }
    let project_dir = ProjectDir::open(folder.path()).unwrap();
    let draft = save("main/a.c", base, content);
    examine(&project_dir, vec![draft], &FindingsContext::default()).remove(0)
}

fn of(kind: CheckKind, proposal: &Proposal) -> Vec<Found> {
    let check: Option<&Check> = proposal.checks.iter().find(|check| check.kind == kind);
    check.map(|check| check.findings.clone()).unwrap_or_default()
}

fn levels(found: &[Found]) -> Vec<FindingLevel> {
    found.iter().map(|finding| finding.level).collect()
}

const BIDI: &str = "int a; /* \u{202e} */\n";

#[test]
fn a_letter_that_turns_text_around_weighs_on_a_new_line_and_is_a_note_on_an_old_one() {
    let new = of(CheckKind::Text, &looked_at(None, BIDI));
    let heaviest = new.iter().map(|finding| finding.level).max();
    assert!(heaviest > Some(FindingLevel::Note), "{new:?}");
    assert!(new.iter().all(|finding| !finding.text.ends_with(", unchanged")), "{new:?}");

    let edited = looked_at(Some(BIDI), &format!("{BIDI}int b;\n"));
    let old = of(CheckKind::Text, &edited);
    assert!(!old.is_empty() && old.iter().all(|f| f.level == FindingLevel::Note), "{old:?}");
    assert!(old.iter().all(|finding| finding.text.ends_with(", unchanged")), "{old:?}");

    let changed = looked_at(Some(BIDI), &BIDI.replace('a', "c"));
    let touched = of(CheckKind::Text, &changed);
    assert_eq!(levels(&touched), levels(&new), "{touched:?}");
}

/// A pump's source of 20 lines, with this limit.
fn pump(name: &str, limit: u32) -> String {
    let line = |number| format!("void {name}_step_{number}(void);\n");
    let lines: String = (1..20).map(line).collect();
    format!("{lines}int {name}_limit_s = {limit};\n")
}

#[tokio::test]
async fn a_file_that_was_moved_tells_the_line_that_changed_on_the_way() {
    let reported = |world: &GateBench, at: usize| {
        let found = of(CheckKind::Origin, &world.proposals()[at]);
        let line = |finding: &Found| finding.place.as_ref().map(|place| place.line);
        found.iter().map(|it| (it.level, it.text.clone(), line(it))).collect::<Vec<_>>()
    };
    for (limit, wanted) in [
        (30, (FindingLevel::Note, "holds what `main/pump.c` held", None)),
        (31, (FindingLevel::Warning, "holds what `main/pump.c` held, 1 line differs", Some(20))),
    ] {
        let wanted = [(wanted.0, wanted.1.to_owned(), wanted.2)];
        let world = GateBench::asking();
        world.write("main/pump.c", &pump("pump", 30));
        // In one set.
        let drafts = || {
            let moved = save("main/relay.c", None, &pump("relay", limit));
            vec![delete("main/pump.c", &pump("pump", 30)), moved]
        };
        let task = world.submit(drafts());
        world.on_desk(2).await;
        assert_eq!(reported(&world, 1), wanted);
        world.decide(1, Verdict::Approve);
        world.decide(2, reject("later"));
        task.await.unwrap().unwrap();
        // And later in the session.
        let task = world.submit(drafts().split_off(1));
        world.on_desk(1).await;
        assert_eq!(reported(&world, 2), wanted);
        world.decide(3, reject("no"));
        task.await.unwrap().unwrap();
    }
}

#[test]
fn a_copy_of_a_file_that_stays_is_told_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("main")).unwrap();
    fs::write(folder.path().join("main/pump.c"), pump("pump", 30)).unwrap();
    let project_dir = ProjectDir::open(folder.path()).unwrap();
    let found = |content: &str| {
        let draft = save("main/relay.c", None, content);
        let made = examine(&project_dir, vec![draft], &FindingsContext::default()).remove(0);
        let found = of(CheckKind::Origin, &made);
        found.into_iter().map(|finding| finding.text).collect::<Vec<_>>()
    };
    assert_eq!(found(&pump("relay", 30)), ["is a copy of `main/pump.c` under another name"]);
    assert_eq!(found(&pump("relay", 31)), ["is a copy of `main/pump.c`, 1 line differs"]);
    assert_eq!(found(&pump("relay", 30).replace("step", "do")), [] as [String; 0]);
}

/// Texts that are surely secrets, each of its own.
fn secrets(count: usize) -> String {
    let line = |number| format!("#define WIFI_PASSWORD_{number} \"Tr0ub4dor&{number}x9Q\"\n");
    (1..=count).map(line).collect()
}

#[test]
fn of_many_secrets_the_first_five_are_named_and_the_others_counted() {
    let found = |count| of(CheckKind::Secrets, &looked_at(None, &secrets(count)));
    assert_eq!(found(5).len(), 5);
    assert_eq!(found(6).len(), 6);
    assert!(found(6).iter().all(|finding| finding.place.is_some()));
    let many = found(8);
    assert_eq!(many.len(), 6);
    assert_eq!(many[5].text, "3 more findings of this kind");
    assert_eq!(many[5].level, many[4].level);
}

#[test]
fn each_secret_that_was_there_before_excuses_one() {
    let two = format!("{0}{0}", secrets(1));
    let found = of(CheckKind::Secrets, &looked_at(Some(&secrets(1)), &two));
    let levels = levels(&found);
    assert_eq!(levels.len(), 2, "{found:?}");
    assert!(levels[0] > FindingLevel::Note && levels[1] == FindingLevel::Note, "{found:?}");
}

#[test]
fn the_consequence_names_the_value_that_changes() {
    let limit = |value| format!("#define PUMP_LIMIT {value}\n");
    let proposal = looked_at(Some(&limit(30)), &limit(3600));
    let line = "writes 1 file, rebuilds 1 unit, pump limit 30 → 3600";
    assert_eq!(proposal.facts.consequence, line);
}

#[tokio::test]
async fn what_is_said_about_the_run_reaches_the_findings() {
    let world = GateBench::asking();
    assert_eq!(world.gate.examinations.context().chip, None);
    world.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32s3\"\n");
    assert_eq!(world.gate.examinations.context().chip.as_deref(), Some("esp32s3"));
    let text = "let the pump run longer".to_owned();
    world.gate.observe(&Event::Person(PersonEvent::Wrote { text: text.clone(), to: None }));
    assert_eq!(world.gate.examinations.context().messages, [text]);
}

#[test]
fn what_could_not_be_carried_out_is_refused_before_anybody_is_asked() {
    let world = GateBench::asking();
    assert!(world.gate.admit(&[save("main/a.c", None, "int a;\n")]).is_ok());
    assert!(world.gate.admit(&[save("main/nul", None, "int a;\n")]).is_err());
}

#[tokio::test]
async fn proposals_of_a_call_are_counted() {
    let world = GateBench::ruled(Ruling::Allow);
    let drafts = vec![save("a.txt", None, "a"), save("b.txt", None, "b"), save("c.txt", None, "c")];
    world.gate.submit(&origin(), drafts).await.unwrap();
    let placed = world.proposals().into_iter().map(|p| (p.batch.index, p.batch.of));
    assert_eq!(placed.collect::<Vec<_>>(), [(1, 3), (2, 3), (3, 3)]);
}

#[tokio::test]
async fn a_rule_that_may_not_approve_what_was_found_is_named() {
    let world = GateBench::ruled(Ruling::Allow);
    let task = world.submit(vec![save("main/a.c", None, &secrets(1))]);
    world.on_desk(1).await;
    assert!(world.proposals()[0].facts.held_rule.contains("config.toml"));
    world.decide(1, reject(""));
    task.await.unwrap().unwrap();
    world.gate.submit(&origin(), vec![save("main/b.c", None, "int b;\n")]).await.unwrap();
    assert_eq!(world.proposals()[1].facts.held_rule, "");
}

#[tokio::test]
async fn a_key_for_what_a_rule_decided_is_told_that_it_is_decided() {
    let world = GateBench::ruled(Ruling::Allow);
    world.gate.submit(&origin(), vec![save("a.txt", None, "a")]).await.unwrap();
    let shown = Shown::whole(ProposalId(1), world.proposals()[0].change.hash());
    let answer = world.desk.decide(shown, Verdict::Approve);
    assert_eq!(answer, Err(QueueError::Decided(ProposalId(1))));
}
