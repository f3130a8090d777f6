//! Tests of the conversation's fold.

use super::*;
use crate::model::Seq;
use crate::model::{PersonEvent, ProposalEvent, TurnEvent};

fn chat(events: Vec<Event>) -> Chat {
    let mut chat = Chat::default();
    for (seq, event) in (1..).zip(events) {
        chat.apply(
            &Record { v: 1, seq: Seq(seq), at: Timestamp(1_000), event },
            &Review::default(),
            &Work::default(),
        );
    }
    chat
}

#[test]
fn a_call_that_is_made_again_leaves_nothing_of_what_it_had_said() {
    let (turn, agent) = (TurnId(1), AgentName::from("A"));
    let text = |text: &str| Event::Turn(TurnEvent::TextAdded { turn, text: text.into() });
    let call = |id| {
        Event::Turn(TurnEvent::ToolCalled {
            turn,
            call: CallId(id),
            tool: "read_file".into(),
            args: Value::Null,
        })
    };
    let answered =
        Event::Turn(TurnEvent::ModelAnswered { turn, usage: Usage::default(), state: None });
    let fault = UserError::new("The model broke off", "the connection was lost", "");
    let faulted = |attempt| {
        Event::Model(ModelEvent::Faulted {
            turn,
            attempt,
            most: 5,
            wait_millis: 500,
            fault: fault.clone(),
        })
    };
    let result =
        Event::Turn(TurnEvent::ToolAnswered { call: CallId(1), result: Value::Null, millis: 1 });
    let chat = chat(vec![
        Event::Turn(TurnEvent::Started { turn, agent, step: None }),
        text("I read it."),
        call(1),
        answered,
        result,
        text("It is a dri"),
        call(2),
        faulted(2),
        text("It"),
        faulted(3),
        text("It is a driver."),
    ]);
    let Some(ChatEntry::Turn(view)) = chat.entries.first().map(AsRef::as_ref) else { panic!() };
    let message: Vec<String> = view
        .parts
        .iter()
        .map(|part| match part {
            TurnPart::Text(text) | TurnPart::Reasoning(text) => text.clone(),
            TurnPart::Call(call) => format!("call {}", call.call),
            TurnPart::Retry(retry) => format!("try {} at {}", retry.attempt, retry.due.0),
            TurnPart::Refused(fault) => format!("refused: {fault}"),
            TurnPart::Trimmed(_) => "trimmed".into(),
            TurnPart::Summary(_) => "summary".into(),
        })
        .collect();
    let call = format!("call {}", CallId(1));
    assert_eq!(message, ["I read it.", &call, "try 3 at 1500", "It is a driver."]);
}

fn planned(call: u32, names: &[&str]) -> Event {
    let file = |name: &&str| serde_json::json!({ "file_name": name, "description": "why" });
    let files: Vec<Value> = names.iter().map(file).collect();
    Event::Turn(TurnEvent::ToolCalled {
        turn: TurnId(1),
        call: CallId(call),
        tool: plan::TOOL.into(),
        args: serde_json::json!({ "files": files }),
    })
}

#[test]
fn the_plan_is_ticked_off_as_files_are_written_and_goes_on_in_a_new_one() {
    use crate::model::{
        Batch, BatchId, BlobRef, Change, ContentHash, Outcome, Proposal, ProposalId,
    };
    let (turn, agent) = (TurnId(1), AgentName::from("A"));
    let answered = |call, ok: bool| {
        Event::Turn(TurnEvent::ToolAnswered {
            call: CallId(call),
            result: serde_json::json!({ "ok": ok }),
            millis: 1,
        })
    };
    let proposed = |id, path: &str| {
        let content = BlobRef { hash: ContentHash::of(b"x"), bytes: 1 };
        Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
            id: ProposalId(id),
            turn,
            call: CallId(9),
            agent: agent.clone(),
            tool: "generate_code".into(),
            reason: String::new(),
            batch: Batch { id: BatchId(1), index: 1, of: 1 },
            change: Change::Save { path: ProjectPath::new(path).unwrap(), base: None, content },
            checks: vec![],
            facts: crate::model::Facts::default(),
        })))
    };
    let settled =
        |id, outcome| Event::Proposal(ProposalEvent::Settled { proposal: ProposalId(id), outcome });
    let mut events = vec![
        Event::Turn(TurnEvent::Started { turn, agent: agent.clone(), step: None }),
        planned(1, &["refused.c"]),
        answered(1, false),
        planned(2, &["a.c", "b.c", "c.c"]),
        answered(2, true),
        proposed(1, "a.c"),
        settled(1, Outcome::Applied),
        proposed(2, "b.c"),
        settled(2, Outcome::Denied),
        proposed(3, "c.c"),
    ];
    let states = |chat: &Chat| -> Vec<Vec<PlannedState>> {
        let plan = |entry: &Arc<ChatEntry>| match &**entry {
            ChatEntry::FilePlan(plan) => Some(plan.files.iter().map(|file| file.state).collect()),
            _ => None,
        };
        chat.entries.iter().filter_map(plan).collect()
    };
    use PlannedState::{Done, Open, Proposed, Refused};
    assert_eq!(states(&chat(events.clone())), [vec![Done, Refused, Proposed]]);
    events.extend([planned(3, &["c.c", "a.c", "new.c"]), answered(3, true)]);
    events.push(settled(3, Outcome::Applied));
    let found = states(&chat(events));
    assert_eq!(found[1], [Done, Done, Open]);
}

#[test]
fn a_very_long_conversation_keeps_its_newest_part_and_every_place() {
    let mut chat = Chat::default();
    let message =
        |number: usize| Event::Person(PersonEvent::Wrote { to: None, text: format!("{number}") });
    let record = |number: usize, event| Record {
        v: 1,
        seq: Seq(number as u64 + 1),
        at: Timestamp(0),
        event,
    };
    let open = Event::Turn(TurnEvent::Started { turn: TurnId(1), agent: "A".into(), step: None });
    chat.apply(&record(0, open), &Review::default(), &Work::default());
    for number in 1..=KEPT * 2 {
        chat.apply(&record(number, message(number)), &Review::default(), &Work::default());
    }
    assert_eq!(chat.entries.len(), KEPT * 2 + 1);
    assert!(chat.entries[0].turn().is_some(), "a turn that goes on stays");
    let text = |place: usize| match &*chat.entries[place] {
        ChatEntry::Person { text, .. } => Some(text.clone()),
        _ => None,
    };
    assert_eq!(text(KEPT), None);
    assert_eq!(text(KEPT + 1), Some((KEPT + 1).to_string()));
    let mut packed = chat.clone();
    let older = packed.pack(KEPT);
    packed.unpack(older);
    assert_eq!(packed, chat);
}

#[test]
fn a_reason_is_told_once_and_an_order_stands_where_it_was_given() {
    let chosen = |agent: &str, reason: &str| {
        let (agent, reason, choice) = (agent.into(), reason.into(), None);
        Event::Turn(TurnEvent::SpeakerChosen { agent, reason, choice, step: None })
    };
    let turn = |turn, agent: &str, text: &str| {
        let turn = TurnId(turn);
        [
            Event::Turn(TurnEvent::Started { turn, agent: agent.into(), step: None }),
            Event::Turn(TurnEvent::TextAdded { turn, text: text.into() }),
            Event::Turn(TurnEvent::Ended { turn, stop: TurnStop::Done }),
        ]
    };
    let after = "Planner speaks after every other agent";
    let mut events = vec![chosen("Planner", "Planner opens the chat")];
    events.extend(turn(1, "Planner", "Reviewer : check the\n  change"));
    events.push(chosen("Reviewer", "Planner asked Reviewer to “check the change”"));
    events.push(chosen("Planner", after));
    events.extend(turn(2, "Planner", "Builder: build"));
    events.push(chosen("Builder", "Planner asked Builder to “flash the board”"));
    events.push(chosen("Planner", after));
    let chat = chat(events);
    let reasons: Vec<&str> = chat
        .entries
        .iter()
        .filter_map(|entry| match &**entry {
            ChatEntry::Choice { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    let order = "Planner asked Builder to “flash the board”";
    assert_eq!(reasons, ["Planner opens the chat", after, order]);
}

#[test]
fn refused_answers_are_marked_and_what_comes_after_a_question_stands_below_it() {
    use crate::model::{Artifact, ArtifactKind};
    let (turn, agent) = (TurnId(1), AgentName::from("Judge"));
    let text = |text: &str| Event::Turn(TurnEvent::TextAdded { turn, text: text.into() });
    let answered =
        || Event::Turn(TurnEvent::ModelAnswered { turn, usage: Usage::default(), state: None });
    let refused = Event::Team(TeamEvent::ArtifactPosted(Artifact {
        number: 4,
        kind: ArtifactKind::Feedback,
        title: Artifact::refusal_title(&agent, "complexity: 12 instead of 1 to 10"),
        by: None,
        tokens: 9,
    }));
    let question = Event::Person(PersonEvent::Asked {
        question: QuestionId(1),
        agent: None,
        text: "Ask it again?".into(),
        options: vec![],
        step: None,
    });
    let chat = chat(vec![
        Event::Turn(TurnEvent::Started { turn, agent: agent.clone(), step: None }),
        text("complexity: "),
        text("12"),
        answered(),
        refused.clone(),
        text("complexity: easy"),
        answered(),
        refused,
        question,
        text("complexity: 3"),
        answered(),
    ]);
    let shown: Vec<String> = chat
        .entries
        .iter()
        .map(|entry| match &**entry {
            ChatEntry::Turn(view) => format!("{:?} {}", view.parts, view.ended.is_some()),
            ChatEntry::Question { text, .. } => text.clone(),
            _ => "other".to_owned(),
        })
        .collect();
    let refusal = "Refused(\"complexity: 12 instead of 1 to 10\")";
    let first = format!(
        "[Text(\"complexity: 12\"), {refusal}, Text(\"complexity: easy\"), {refusal}] true"
    );
    assert_eq!(shown, [&first, "Ask it again?", "[Text(\"complexity: 3\")] false"]);
}

/// A session that is opened again asks once more: only the newest copy waits.
#[test]
fn a_question_that_is_asked_again_waits_at_one_place() {
    let asked = |id, text: &str| {
        Event::Person(PersonEvent::Asked {
            question: QuestionId(id),
            agent: None,
            text: text.into(),
            options: vec!["go on".into(), "stop".into()],
            step: None,
        })
    };
    let answered = |id| {
        let (question, answer) = (QuestionId(id), "go on".to_owned());
        Event::Person(PersonEvent::Answered { question, answer })
    };
    let chat = chat(vec![
        asked(1, "Allow more?"),
        answered(1),
        asked(2, "Allow more?"),
        asked(3, "Start?"),
        Event::Session(SessionEvent::Resumed { program: "1".into(), choices: None }),
        asked(4, "Allow more?"),
        asked(5, "Allow more?"),
    ]);
    let shown = chat.entries.iter().map(|entry| match &**entry {
        ChatEntry::Question { id, answer, .. } => format!("{} {}", id.0, answer.is_some()),
        ChatEntry::Notice { notice, .. } => notice.why.clone(),
        _ => "other".to_owned(),
    });
    // Two steps of a plan may ask the same.
    let expected = ["1 true", "it is asked again below", "3 false", "other", "4 false", "5 false"];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn a_model_is_chosen_by_the_person_or_for_a_request() {
    let chosen = || {
        let (provider, label) = ("profile:m".to_owned(), "m".to_owned());
        Event::Model(ModelEvent::Chosen { provider, label })
    };
    let start = RunStart {
        number: 2,
        task: "more".into(),
        team: "single".into(),
        why: String::new(),
        changed: Vec::new(),
    };
    let started = Event::Session(SessionEvent::RunStarted(Box::new(start)));
    let chat = chat(vec![started, chosen(), chosen()]);
    let why = chat.entries.iter().filter_map(|entry| match &**entry {
        ChatEntry::Notice { notice, .. } => Some(notice.why.as_str()),
        _ => None,
    });
    let expected = ["the model before has no answer to this request", "you chose it"];
    assert_eq!(why.collect::<Vec<_>>(), expected);
}
