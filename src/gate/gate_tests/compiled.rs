//! What the compiler says of a proposal before anybody is asked.

use std::collections::BTreeSet;

use super::world::Submitted;
use super::*;
use crate::model::{Amended, Check, DecisionNote, Diagnostic, Examiner, ProposalEvent, Severity};

/// What the bench's compiler does.
#[derive(Debug, Clone, Default)]
pub(super) enum TestCompiler {
    /// Has no answer.
    #[default]
    Silent,
    /// Finds these errors in each file called like that, and nothing in others.
    Finds(&'static str, Vec<Diagnostic>),
    /// Is content with just these files, in whatever order.
    Together(&'static [&'static str]),
    /// Finds an error in every file unless this one is among them.
    Needs(&'static str),
    Stuck,
}

impl TestCompiler {
    pub(super) async fn say(&self, job: &SyntaxJob) -> Vec<Finding> {
        match self {
            Self::Silent => no_answer(job),
            Self::Finds(name, errors) => {
                let found = job.files.iter().map(|file| match file.path.as_str() == *name {
                    true => Some(errors.clone()),
                    false => Some(Vec::new()),
                });
                found.collect()
            }
            Self::Together(names) => {
                let asked: BTreeSet<&str> =
                    job.files.iter().map(|file| file.path.as_str()).collect();
                let is_all = asked == names.iter().copied().collect();
                let found = if is_all { Vec::new() } else { vec![error("x", 1, "not all")] };
                vec![Some(found); job.files.len()]
            }
            Self::Needs(name) => {
                let is_there = job.files.iter().any(|file| file.path.as_str() == *name);
                let found = job.files.iter().map(|file| match is_there {
                    true => Some(Vec::new()),
                    false => Some(vec![error(file.path.as_str(), 1, "no such file: pump.h")]),
                });
                found.collect()
            }
            Self::Stuck => std::future::pending().await,
        }
    }
}

fn error(file: &str, line: u32, message: &str) -> Diagnostic {
    Diagnostic {
        file: Some(file.to_owned()),
        line: Some(line),
        column: Some(5),
        severity: Severity::Error,
        message: message.to_owned(),
        hint: String::new(),
    }
}

/// A project that was built before.
fn built() -> GateBench {
    let world = GateBench::asking();
    fs::create_dir(world.folder.path().join("build")).unwrap();
    world
}

fn chip(proposal: &Proposal) -> Option<&Check> {
    proposal.checks.iter().find(|check| check.kind == CheckKind::Compiles)
}

/// The proposals of `drafts`, which are then rejected.
async fn proposed(world: &GateBench, drafts: Vec<Draft>) -> Vec<Proposal> {
    let count = drafts.len();
    let task = world.submit(drafts);
    world.on_desk(count).await;
    let proposals = world.proposals();
    for proposal in &proposals {
        world.decide(proposal.id.0, reject(""));
    }
    task.await.unwrap().unwrap();
    proposals
}

#[tokio::test]
async fn the_compilers_word_on_each_file_of_a_batch_is_a_check_of_it() {
    let world = built();
    world.write("old.c", "int a;\n");
    let errors = vec![error("b.c", 3, "unknown type name 'led_t'"), error("b.c", 9, "x")];
    *world.bench.compiler.lock().unwrap() = TestCompiler::Finds("b.c", errors);
    let drafts = vec![
        save("a.c", None, "int a;\n"),
        delete("old.c", "int a;\n"),
        save("b.c", None, "\n\nled_t b;\n"),
    ];
    let proposals = proposed(&world, drafts).await;
    let status = |place: usize| chip(&proposals[place]).map(|check| check.level());
    assert_eq!(status(0), Some(None));
    assert_eq!(status(1), None, "a deletion is not compiled");
    assert_eq!(status(2), Some(Some(FindingLevel::Stop)));
    let note = &chip(&proposals[2]).unwrap().findings[0].text;
    assert_eq!(note, "does not compile: unknown type name 'led_t'; and another error");
}

#[tokio::test]
async fn before_the_first_build_an_error_is_a_note() {
    let world = GateBench::asking();
    *world.bench.compiler.lock().unwrap() = TestCompiler::Finds("a.c", vec![error("a.c", 3, "x")]);
    let proposals = proposed(&world, vec![save("a.c", None, "\n\nled_t b;\n")]).await;
    let check = chip(&proposals[0]).unwrap();
    assert_eq!(check.level(), Some(FindingLevel::Note));
    assert_eq!(check.findings[0].text, "does not compile: x");
}

#[tokio::test]
async fn an_error_in_another_file_is_worth_a_look_and_names_it() {
    let world = built();
    let errors = vec![error("main/a.c", 14, "too few arguments")];
    *world.bench.compiler.lock().unwrap() = TestCompiler::Finds("bus.h", errors);
    let proposals = proposed(&world, vec![save("bus.h", None, "int f(int);\n")]).await;
    let check = chip(&proposals[0]).unwrap();
    assert_eq!(check.level(), Some(FindingLevel::Warning));
    assert_eq!(check.findings[0].text, "does not compile: `main/a.c`:14:5: too few arguments");
}

#[tokio::test]
async fn without_an_answer_there_is_no_check() {
    let world = built();
    let proposals = proposed(&world, vec![save("a.c", None, "int a;\n")]).await;
    assert_eq!(chip(&proposals[0]), None);
}

#[tokio::test]
async fn what_was_said_of_an_older_text_is_not_said_of_a_merged_one() {
    let world = built();
    let base = "1\n2\n3\n4\n5\n6\n";
    world.write("a.c", base);
    *world.bench.compiler.lock().unwrap() = TestCompiler::Finds("none", Vec::new());
    let task = world.submit(vec![save("a.c", Some(base), &base.replace("1\n", "one\n"))]);
    world.on_desk(1).await;
    assert!(chip(&world.gate.waiting(ProposalId(1)).unwrap()).is_some());
    let hash = world.proposals()[0].change.hash();
    world.write("a.c", &base.replace("6\n", "six\n"));
    let restated = async {
        while world.gate.waiting(ProposalId(1)).unwrap().change.hash() == hash {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), restated).await.unwrap();
    let now = world.gate.waiting(ProposalId(1)).unwrap();
    assert_eq!(chip(&now), None, "{:?}", now.checks);
    world
        .desk
        .decide(
            Shown { stops: u32::MAX, ..Shown::whole(ProposalId(1), now.change.hash()) },
            reject(""),
        )
        .unwrap();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stop_ends_the_asking() {
    let world = built();
    *world.bench.compiler.lock().unwrap() = TestCompiler::Stuck;
    let task = world.submit(vec![save("a.c", None, "int a;\n")]);
    world.gate.parts.cancel.cancel();
    world.on_desk(1).await;
    let proposal = world.proposals().remove(0);
    assert_eq!(chip(&proposal), None);
    world.decide(1, reject(""));
    task.await.unwrap().unwrap();
}

/// Rejects what waits, and ends the batch.
async fn end(world: &GateBench, task: tokio::task::JoinHandle<Submitted>) {
    world.decide(1, reject(""));
    task.await.unwrap().unwrap();
}

/// How the person's version of the first proposal looks to the compiler and everyone else.
async fn version(world: &GateBench, text: &'static str) -> Proposal {
    version_of(world, 1, text).await
}

/// The same of the proposal with this number.
async fn version_of(world: &GateBench, id: u32, text: &'static str) -> Proposal {
    let proposal = world.gate.waiting(ProposalId(id)).unwrap();
    let examiner = world.gate.examiner();
    // Looking blocks the thread.
    let look = move || examiner.examine(&proposal, text.as_bytes()).unwrap();
    tokio::task::spawn_blocking(look).await.unwrap()
}

fn amended(world: &GateBench, text: &str) -> Verdict {
    let content = world.ledger.store(text.as_bytes()).unwrap();
    let (how, note) = (Amended::Edit, DecisionNote::default());
    Verdict::ApproveAmended { how, content, note, phrase: None }
}

#[tokio::test]
async fn the_persons_version_is_compiled_like_a_proposal() {
    let world = built();
    *world.bench.compiler.lock().unwrap() = TestCompiler::Finds("b.c", vec![error("b.c", 3, "no")]);
    let task = world.submit(vec![save("b.c", None, "int b;\n")]);
    world.on_desk(1).await;
    let edited = version(&world, "int mine;\n").await;
    assert_eq!(chip(&edited).map(|check| check.level()), Some(Some(FindingLevel::Stop)));
    *world.bench.compiler.lock().unwrap() = TestCompiler::Finds("other", Vec::new());
    let edited = version(&world, "int mine;\n").await;
    assert_eq!(chip(&edited).map(|check| check.level()), Some(None), "each look asks anew");
    *world.bench.compiler.lock().unwrap() = TestCompiler::Silent;
    assert_eq!(chip(&version(&world, "int mine;\n").await), None);
    end(&world, task).await;
}

#[tokio::test]
async fn a_version_is_compiled_together_with_what_waits_of_its_batch() {
    let world = built();
    let drafts = vec![save("a.c", None, "int a;\n"), save("b.h", None, "int b;\n")];
    let task = world.submit(drafts);
    world.on_desk(2).await;
    let elsewhere = world.submit(vec![save("c.h", None, "int c;\n")]);
    world.on_desk(3).await;
    *world.bench.compiler.lock().unwrap() = TestCompiler::Together(&["a.c", "b.h"]);
    let edited = version(&world, "int mine;\n").await;
    assert_eq!(chip(&edited).map(|check| check.level()), Some(None), "{:?}", chip(&edited));
    for id in 1..=3 {
        world.decide(id, reject(""));
    }
    task.await.unwrap().unwrap();
    elsewhere.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_version_that_does_not_compile_is_written_only_by_a_decision_that_says_so() {
    let world = built();
    *world.bench.compiler.lock().unwrap() = TestCompiler::Finds("b.c", vec![error("b.c", 3, "no")]);
    let task = world.submit(vec![save("b.c", None, "int b;\n")]);
    world.on_desk(1).await;
    let shown = || Shown::whole(ProposalId(1), world.proposals()[0].change.hash());
    // Sent without a look at it.
    world.desk.decide(shown(), amended(&world, "int mine;\n")).unwrap();
    let held = |event: &Event| match event {
        Event::Proposal(ProposalEvent::Restated { why, .. }) => {
            why == "your version does not compile: no (line 3)"
        }
        _ => false,
    };
    let waiting = async {
        while !world.events().iter().any(held) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("it is not held back");
    world.on_desk(1).await;
    assert_eq!(world.read("b.c"), None);
    world.desk.decide(Shown { stops: 1, ..shown() }, amended(&world, "int mine;\n")).unwrap();
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
    assert_eq!(world.read("b.c").as_deref(), Some("int mine;\n"));
}

#[tokio::test]
async fn what_was_on_screen_of_a_version_holds_when_it_is_decided() {
    let world = built();
    let task = world.submit(vec![save("b.c", None, "int b;\n")]);
    world.on_desk(1).await;
    // The compiler had no answer in time; a later one must not take the decision back.
    version(&world, "int mine;\n").await;
    *world.bench.compiler.lock().unwrap() = TestCompiler::Finds("b.c", vec![error("b.c", 3, "no")]);
    let shown = Shown::whole(ProposalId(1), world.proposals()[0].change.hash());
    world.desk.decide(shown, amended(&world, "int mine;\n")).unwrap();
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Applied]);
}

#[tokio::test]
async fn a_version_is_not_looked_at_when_the_run_is_over() {
    let world = built();
    let task = world.submit(vec![save("b.c", None, "int b;\n")]);
    world.on_desk(1).await;
    let proposal = world.gate.waiting(ProposalId(1)).unwrap();
    let examiner = world.gate.examiner();
    end(&world, task).await;
    drop(world);
    let error = examiner.examine(&proposal, b"int mine;\n").unwrap_err();
    assert_eq!(error.why, "the run is over");
}

/// A header and a source that includes it, proposed together; the source alone does not compile.
async fn header_and_source(world: &GateBench) -> tokio::task::JoinHandle<Submitted> {
    *world.bench.compiler.lock().unwrap() = TestCompiler::Needs("main/pump.h");
    let source = save("main/pump.c", None, "#include \"pump.h\"\nint limit = LIMIT;\n");
    let task = world.submit(vec![save("main/pump.h", None, "#define LIMIT 30\n"), source]);
    world.on_desk(2).await;
    let source = world.proposals().remove(1);
    assert_eq!(chip(&source).and_then(Check::level), None);
    task
}

fn restated(world: &GateBench) -> Option<Vec<Check>> {
    world.events().into_iter().find_map(|event| match event {
        Event::Proposal(ProposalEvent::Restated { proposal: ProposalId(2), checks, .. }) => {
            Some(checks)
        }
        _ => None,
    })
}

#[tokio::test]
async fn a_source_is_judged_again_when_the_header_it_was_proposed_with_is_rejected() {
    let world = built();
    let task = header_and_source(&world).await;
    world.decide(1, reject("no"));
    let checks = loop {
        match restated(&world) {
            Some(checks) => break checks,
            None => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    let compiles = checks.iter().find(|check| check.kind == CheckKind::Compiles);
    assert_eq!(compiles.and_then(Check::level), Some(FindingLevel::Stop));
    world.decide(2, reject("no"));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied, Outcome::Denied]);
}

#[tokio::test]
async fn an_approval_that_was_quicker_than_that_does_not_count() {
    let world = built();
    let task = header_and_source(&world).await;
    world.decide(1, reject("no"));
    let shown = Shown::whole(ProposalId(2), world.proposals()[1].change.hash());
    world.desk.decide(shown, Verdict::Approve).unwrap();
    while restated(&world).is_none() {
        tokio::task::yield_now().await;
    }
    world.on_desk(1).await;
    assert_eq!(world.read("main/pump.c"), None);
    world.decide(2, reject("no"));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied, Outcome::Denied]);
}

#[tokio::test]
async fn a_version_of_the_person_counts_whatever_was_found_about_the_original_meanwhile() {
    let world = built();
    let task = header_and_source(&world).await;
    // Looked at while the header was still there to be included.
    version_of(&world, 2, "int limit = 30;\n").await;
    world.decide(1, reject("no"));
    let shown = Shown::whole(ProposalId(2), world.proposals()[1].change.hash());
    world.desk.decide(shown, amended(&world, "int limit = 30;\n")).unwrap();
    let settled = tokio::time::timeout(Duration::from_secs(30), task).await;
    let settled = settled.expect("the version is held back").unwrap();
    assert_eq!(outcomes(settled), [Outcome::Denied, Outcome::Applied]);
    assert!(restated(&world).is_some(), "the original was not judged again");
    assert_eq!(world.read("main/pump.c").as_deref(), Some("int limit = 30;\n"));
}

#[tokio::test]
async fn what_rests_on_nothing_else_is_not_stated_anew() {
    let world = built();
    *world.bench.compiler.lock().unwrap() = TestCompiler::Together(&["main/a.c", "main/b.c"]);
    let task =
        world.submit(vec![save("main/a.c", None, "int a;\n"), save("main/b.c", None, "int b;\n")]);
    world.on_desk(2).await;
    world.decide(1, reject("no"));
    world.decide(2, Verdict::Approve);
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied, Outcome::Applied]);
    assert!(restated(&world).is_none());
}
