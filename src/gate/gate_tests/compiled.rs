//! What the compiler says of a proposal before anybody is asked.

use super::*;
use crate::model::{Check, Diagnostic, Severity};

/// What the bench's compiler does.
#[derive(Debug, Clone, Default)]
pub(super) enum Compiler {
    /// Has no answer.
    #[default]
    Silent,
    /// Finds these errors in each file called like that, and nothing in others.
    Finds(&'static str, Vec<Diagnostic>),
    Stuck,
}

impl Compiler {
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
    let world = GateBench::asking();
    world.write("old.c", "int a;\n");
    let errors = vec![error("b.c", 3, "unknown type name 'led_t'"), error("b.c", 9, "x")];
    *world.bench.compiler.lock().unwrap() = Compiler::Finds("b.c", errors);
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
    assert_eq!(note, "3:5: unknown type name 'led_t'; and another error");
}

#[tokio::test]
async fn an_error_in_another_file_is_worth_a_look_and_names_it() {
    let world = GateBench::asking();
    let errors = vec![error("main/a.c", 14, "too few arguments")];
    *world.bench.compiler.lock().unwrap() = Compiler::Finds("bus.h", errors);
    let proposals = proposed(&world, vec![save("bus.h", None, "int f(int);\n")]).await;
    let check = chip(&proposals[0]).unwrap();
    assert_eq!(check.level(), Some(FindingLevel::Warning));
    assert_eq!(check.findings[0].text, "`main/a.c`:14:5: too few arguments");
}

#[tokio::test]
async fn without_an_answer_there_is_no_check() {
    let world = GateBench::asking();
    let proposals = proposed(&world, vec![save("a.c", None, "int a;\n")]).await;
    assert_eq!(chip(&proposals[0]), None);
}

#[tokio::test]
async fn what_was_said_of_an_older_text_is_not_said_of_a_merged_one() {
    let world = GateBench::asking();
    let base = "1\n2\n3\n4\n5\n6\n";
    world.write("a.c", base);
    *world.bench.compiler.lock().unwrap() = Compiler::Finds("none", Vec::new());
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
    let world = GateBench::asking();
    *world.bench.compiler.lock().unwrap() = Compiler::Stuck;
    let task = world.submit(vec![save("a.c", None, "int a;\n")]);
    world.gate.parts.cancel.cancel();
    world.on_desk(1).await;
    let proposal = world.proposals().remove(0);
    assert_eq!(chip(&proposal), None);
    world.decide(1, reject(""));
    task.await.unwrap().unwrap();
}
