//! Tests of what runs come to.

use super::*;
use crate::model::event::RunStart;
use crate::model::{
    Batch, BatchId, BlobRef, BuildId, CallId, ContentHash, Cost, Facts, QuestionId, Seq,
    SessionOutcome, TurnStop, Verdict,
};
use crate::view::{FileNames, SessionView, summary};

/// Records with the second of each.
#[derive(Default)]
struct Log(SessionView);

impl Log {
    fn at(&mut self, second: i64, event: Event) -> &mut Self {
        let seq = self.0.seq.next();
        self.0.apply(&Record { v: 1, seq, at: Timestamp(second * 1_000), event });
        self
    }

    fn start(&mut self) -> &mut Self {
        let start = RunStart {
            number: 1,
            task: "t".into(),
            team: "x".into(),
            why: String::new(),
            changed: vec![],
        };
        let at = self.0.at.0 / 1_000;
        self.at(at, Event::Session(SessionEvent::RunStarted(Box::new(start))))
    }

    fn turn(&mut self, second: i64, turn: u32, agent: &str) -> &mut Self {
        let (turn, agent) = (TurnId(turn), agent.into());
        self.at(second, Event::Turn(TurnEvent::Started { turn, agent, step: None }))
    }

    fn ended(&mut self, second: i64, turn: u32) -> &mut Self {
        let turn = TurnId(turn);
        self.at(second, Event::Turn(TurnEvent::Ended { turn, stop: TurnStop::Done }))
    }

    fn proposed(&mut self, second: i64, id: u32, change: Change) -> &mut Self {
        self.at(
            second,
            Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
                id: ProposalId(id),
                turn: TurnId(1),
                call: CallId(1),
                agent: "A".into(),
                tool: "generate_code".into(),
                reason: String::new(),
                batch: Batch { id: BatchId(1), index: 1, of: 1 },
                change,
                checks: vec![],
                facts: Facts::default(),
            }))),
        )
    }

    fn decided(&mut self, second: i64, id: u32, verdict: Verdict, unseen: u32) -> &mut Self {
        let (proposal, by) = (ProposalId(id), DecidedBy::Person);
        let shown = ContentHash::of(b"");
        let outcome = if verdict.is_approval() { Outcome::Applied } else { Outcome::Denied };
        let decision = Box::new(Decision { verdict, by, shown, unseen, stops: 0 });
        self.at(second, Event::Proposal(ProposalEvent::Decided { proposal, decision }));
        self.at(second, Event::Proposal(ProposalEvent::Settled { proposal, outcome }))
    }
}

fn blob() -> BlobRef {
    BlobRef { hash: ContentHash::of(b"a"), bytes: 1 }
}

fn other_blob() -> BlobRef {
    BlobRef { hash: ContentHash::of(b"b"), bytes: 1 }
}

fn save(path: &str, base: Option<BlobRef>) -> Change {
    Change::Save { path: ProjectPath::new(path).unwrap(), base, content: blob() }
}

fn end() -> Event {
    Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Completed })
}

#[test]
fn the_time_of_an_agent_is_without_the_persons() {
    let mut log = Log::default();
    log.start().turn(10, 1, "A").proposed(14, 1, save("a.c", None));
    log.decided(44, 1, Verdict::Approve, 0).ended(45, 1).turn(45, 2, "B");
    let work = &log.0.work;
    assert_eq!(work.run().unwrap().agent(&"A".into()).unwrap().millis, 5_000);
    assert_eq!(work.times(0), (45_000, 30_000));
    assert_eq!(work.times(2_000), (47_000, 30_000));
    assert_eq!(work.spoke(&"A".into(), 2_000), 5_000, "it does not speak any more");
    assert_eq!(work.spoke(&"B".into(), 2_000), 2_000);
    let question = QuestionId(1);
    let asked =
        PersonEvent::Asked { question, agent: None, text: "?".into(), options: vec![], step: None };
    log.at(50, Event::Person(asked));
    assert_eq!(log.0.work.times(3_000), (53_000, 33_000));
    assert_eq!(log.0.work.spoke(&"B".into(), 3_000), 5_000, "it waits");
}

#[test]
fn time_while_nobody_works_counts_for_nothing() {
    let mut log = Log::default();
    log.start().turn(10, 1, "A");
    log.at(1_000, Event::Session(SessionEvent::Resumed { program: "0".into(), choices: None }));
    log.turn(1_001, 2, "A").ended(1_004, 2).at(1_005, end());
    assert_eq!(log.0.work.times(60_000), (15_000, 0));
    assert_eq!(log.0.work.run().unwrap().agent(&"A".into()).unwrap().millis, 3_000);
    log.at(5_000, Event::Person(PersonEvent::Unpaused));
    log.start().at(5_002, end());
    assert_eq!(log.0.work.times(0), (2_000, 0));
    assert_eq!(log.0.work.total().millis, 17_000);
}

#[test]
fn files_are_told_by_what_became_of_them_from_the_start_to_now() {
    let mut log = Log::default();
    let delete =
        |path: &str| Change::Delete { path: ProjectPath::new(path).unwrap(), base: blob() };
    log.start();
    let changes = [
        save("new.c", None),
        save("new.c", Some(other_blob())),
        save("old.c", Some(other_blob())),
        save("same.c", Some(blob())),
        save("brief.c", None),
        delete("brief.c"),
        delete("gone.c"),
    ];
    for (id, change) in (1..).zip(changes) {
        log.proposed(1, id, change).decided(2, id, Verdict::Approve, 0);
    }
    log.proposed(3, 9, save("refused.c", None)).decided(4, 9, Verdict::reject("no"), 0);
    let total = log.0.work.total();
    let files: Vec<_> = total.files().map(|(path, fate)| (path.as_str(), fate.word())).collect();
    assert_eq!(files, [("gone.c", "deleted"), ("new.c", "created"), ("old.c", "changed")]);
    assert_eq!((total.decisions.approved, total.decisions.rejected), (7, 1));
}

#[test]
fn what_could_not_be_done_stays_so_until_the_same_is_done() {
    let mut log = Log::default();
    log.start();
    let settled =
        |id, outcome| Event::Proposal(ProposalEvent::Settled { proposal: ProposalId(id), outcome });
    for (id, path) in [(1, "a.c"), (2, "b.c")] {
        log.proposed(1, id, save(path, None));
        log.at(2, settled(id, Outcome::Stale { found: None }));
    }
    log.proposed(3, 3, save("c.c", None)).at(4, settled(3, Outcome::Denied));
    let (path, base) = (ProjectPath::new("a.c").unwrap(), blob());
    let insert = Change::Insert { path, base, content: other_blob() };
    log.proposed(5, 4, insert).decided(6, 4, Verdict::Approve, 0);
    let run = log.0.work.run().unwrap();
    let undone: Vec<String> = run.left_undone().map(NotDone::what).collect();
    assert_eq!(undone, ["save b.c"]);
    assert_eq!(run.decisions.not_done, 2);
}

#[test]
fn a_summary_says_what_was_not_seen_and_what_it_cost() {
    let mut log = Log::default();
    log.start().turn(1, 1, "A");
    log.proposed(2, 1, save("a.c", None)).decided(62, 1, Verdict::Approve, 26);
    log.proposed(62, 2, save("b.c", None)).decided(63, 2, Verdict::Approve, 0);
    let usage = Usage { input: 40_000, output: 1_200, cost: Cost(20_000_000), ..Usage::default() };
    log.at(64, Event::Turn(TurnEvent::ModelAnswered { turn: TurnId(1), usage, state: None }));
    let build = BuildId(1);
    for outcome in [BuildOutcome::Failed, BuildOutcome::Passed] {
        let ended =
            BuildEvent::Ended { build, outcome, diagnostics: vec![], millis: 20_000, size: None };
        log.at(64, Event::Build(ended));
    }
    log.at(65, end());
    let lines = summary(log.0.work.run().unwrap(), FileNames::Few);
    let text: Vec<String> =
        lines.into_iter().map(|(about, text)| format!("{about}: {text}")).collect();
    assert_eq!(
        text,
        [
            "files: 2 created: a.c, b.c",
            "decisions: 2 approved",
            "read: 26 lines approved without being on screen; 1 of 2 approvals were seen whole",
            "builds: 1 passed, 1 failed, 40 s",
            "cost: 41.2k tokens in 1 turn, $0.02",
            "time: 1:05, of which 1:01 waiting for you",
        ]
    );
    assert_eq!(log.0.seq, Seq(12));
}
