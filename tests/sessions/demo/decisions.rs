//! The demo under a person who says more than yes or no.

use std::collections::BTreeSet;

use firmhand::model::{
    AfterReject, Change, ChangeKind, DecidedBy, Event, Intent, LineComment, Outcome, PersonEvent,
    Proposal, ProposalEvent, ProposalId, RuleSays, SessionEvent, SessionOutcome, SessionRule, Side,
    TurnEvent, Verdict,
};
use serde_json::Value;

use super::stage::{Person, Stage, approve, subject};
use super::workbench::{Compiler, Workbench};

fn stage() -> Stage {
    Stage::new(Workbench::with(Compiler::Looks))
}

/// What agents were told beside the outcomes.
fn reviews(stage: &Stage) -> Vec<Value> {
    let review = |event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => result.get("review").cloned(),
        _ => None,
    };
    let all = stage.events().into_iter().filter_map(review);
    all.flat_map(|review| review.as_array().cloned().unwrap_or_default()).collect()
}

/// Puts a line of their own at the top of `main/main.c`.
struct Editor;

impl Person for Editor {
    fn decide(&mut self, _: &Proposal, _: usize) -> Verdict {
        approve()
    }

    fn edits(&mut self, proposal: &Proposal, text: &str) -> Option<String> {
        (subject(proposal) == "main/main.c").then(|| format!("// mine\n{text}"))
    }
}

#[test]
fn an_edited_file_is_built_as_the_person_left_it() {
    let stage = stage();
    assert_eq!(stage.play(Editor), SessionOutcome::Completed);
    assert!(stage.file("main/main.c").starts_with("// mine\n"));
    let reviews = reviews(&stage);
    let [review] = reviews.as_slice() else { panic!("{reviews:?}") };
    assert_eq!(
        (&review["file_name"], &review["words"]),
        (&"main/main.c".into(), &"my own hand".into())
    );
    assert!(review["diff_from_proposed_to_saved"].as_str().unwrap().contains("\n+// mine\n"));
}

#[test]
fn comments_on_lines_go_back_with_the_rejection_and_the_file_comes_again() {
    let stage = stage();
    let outcome = stage.play(|proposal: &Proposal, before| match subject(proposal).as_str() {
        "main/main.c" if before == 0 => Verdict::Reject {
            reason: "see the line".into(),
            comments: vec![LineComment { side: Side::New, line: 1, text: "say why".into() }],
            then: AfterReject::GoOn,
        },
        _ => approve(),
    });
    assert_eq!(outcome, SessionOutcome::Completed);
    let reviews = reviews(&stage);
    assert_eq!(reviews[0]["comments"][0]["at"], "main/main.c:1");
    assert_eq!(reviews[0]["comments"][0]["comment"], "say why");
    assert!(stage.file("main/main.c").starts_with("/* Reviewed again: see the line */"));
}

/// Asks about the first proposal and decides only when the answer is there.
#[derive(Default)]
struct Asker {
    asked: bool,
}

impl Person for Asker {
    fn decide(&mut self, _: &Proposal, _: usize) -> Verdict {
        approve()
    }

    fn wishes(&mut self, event: &Event) -> Vec<Intent> {
        match event {
            Event::Proposal(ProposalEvent::Made(proposal))
                if !std::mem::replace(&mut self.asked, true) =>
            {
                let (proposal, excerpt) = (proposal.id, None);
                let ask = |text: &str| Intent::Inquire {
                    proposal,
                    excerpt: excerpt.clone(),
                    text: text.to_owned(),
                };
                vec![ask("Are the Pull-ups strong enough?"), ask("Why?")]
            }
            _ => Vec::new(),
        }
    }
}

#[test]
fn the_recording_answers_questions_and_goes_on_where_it_was() {
    let stage = stage();
    assert_eq!(stage.play(Asker::default()), SessionOutcome::Completed);
    let mut answers = String::new();
    let mut ended = 0;
    for event in stage.events() {
        match event {
            Event::Proposal(ProposalEvent::InquiryTextAdded { text, .. }) => {
                answers.push_str(&text)
            }
            Event::Proposal(ProposalEvent::InquiryEnded { failed: None, .. }) => ended += 1,
            _ => {}
        }
    }
    assert_eq!(ended, 2);
    assert!(answers.contains("45 kΩ") && answers.contains("as it was planned"), "{answers}");
}

/// Makes a rule for saves, leaves them to it, and decides the rest.
#[derive(Default)]
struct Ruler {
    left_to_the_rule: BTreeSet<ProposalId>,
    decided: Vec<String>,
}

impl Person for &mut Ruler {
    fn decide(&mut self, proposal: &Proposal, _: usize) -> Verdict {
        self.decided.push(subject(proposal));
        approve()
    }

    fn is_ready(&self) -> bool {
        self.left_to_the_rule.is_empty()
    }

    fn wishes(&mut self, event: &Event) -> Vec<Intent> {
        match event {
            Event::Proposal(ProposalEvent::Made(proposal))
                if matches!(proposal.change, Change::Save { .. }) =>
            {
                self.left_to_the_rule.insert(proposal.id);
            }
            Event::Proposal(ProposalEvent::Decided { proposal, .. }) => {
                _ = self.left_to_the_rule.remove(proposal)
            }
            _ => {}
        }
        if !matches!(event, Event::Session(SessionEvent::Started(_))) {
            return Vec::new();
        }
        let rule = SessionRule {
            says: RuleSays::Always,
            kind: Some(ChangeKind::Save),
            path: Some("**".into()),
            tool: Some("generate_code".into()),
            agent: None,
        };
        vec![Intent::AddRule { rule }]
    }
}

#[test]
fn a_rule_decides_the_saves_and_leaves_the_flash_to_the_person() {
    let stage = stage();
    let mut ruler = Ruler::default();
    assert_eq!(stage.play(&mut ruler), SessionOutcome::Completed);
    assert_eq!(ruler.decided, ["flash"]);
    let words = "always save ** by generate_code (session rule 1)";
    let by_rule = stage.events().into_iter().filter(|event| {
        matches!(event, Event::Proposal(ProposalEvent::Decided { decision, .. }) if decision.by == DecidedBy::Policy(words.into()))
    });
    assert_eq!(by_rule.count(), 8);
}

/// Takes the first file back as soon as it is saved, and takes that back as well; in between a wish
/// that names nothing.
#[derive(Default)]
struct Undoer {
    undo: Option<ProposalId>,
}

impl Person for Undoer {
    fn decide(&mut self, _: &Proposal, _: usize) -> Verdict {
        approve()
    }

    // The reviewer may have to save again what was taken back under its hands.
    fn answer(&mut self, _: &str) -> String {
        "go on".to_owned()
    }

    fn wishes(&mut self, event: &Event) -> Vec<Intent> {
        let undo = |proposal| Intent::Undo { proposal };
        match event {
            Event::Proposal(ProposalEvent::Made(proposal))
                if proposal.facts.undoes == Some(ProposalId(1)) =>
            {
                self.undo = Some(proposal.id);
                Vec::new()
            }
            Event::Proposal(ProposalEvent::Settled { proposal, outcome: Outcome::Applied }) => {
                if *proposal == ProposalId(1) {
                    vec![undo(ProposalId(1)), undo(ProposalId(999))]
                } else if self.undo == Some(*proposal) {
                    vec![undo(*proposal)]
                } else {
                    Vec::new()
                }
            }
            _ => Vec::new(),
        }
    }
}

#[test]
fn undo_and_undo_of_undo_leave_the_project_whole() {
    let stage = stage();
    assert_eq!(stage.play(Undoer::default()), SessionOutcome::Completed);
    let undoes: Vec<(u32, u32)> = stage
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Proposal(ProposalEvent::Made(p)) => Some((p.id.0, p.facts.undoes?.0)),
            _ => None,
        })
        .collect();
    // How many saves were proposed by then depends on the moment; what is taken back does not.
    let &[(first, undone), (_, undone_again)] = undoes.as_slice() else {
        panic!("two undos, not {undoes:?}");
    };
    assert_eq!((undone, undone_again), (1, first));
    assert!(stage.project("CMakeLists.txt").exists());
    assert!(
        stage
            .events()
            .iter()
            .any(|event| matches!(event, Event::Person(PersonEvent::Noticed { .. })))
    );
}
