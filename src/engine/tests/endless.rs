//! Models that never come to an end by themselves, and agents that want the same file.

use std::sync::Arc;

use super::fixture::*;
use crate::model::*;
use crate::model::{PersonEvent, ProposalEvent, TurnEvent};
use crate::provider::{Delta, Request};

fn team(lines: &str) -> String {
    format!(
        "name = \"small\"\ntitle = \"Small\"\ndescription = \"x\"\n[[phases]]\nname = \"work\"\n\
         title = \"work\"\n{lines}\n"
    )
}

#[tokio::test]
async fn an_agent_that_only_calls_tools_is_ended_by_its_rounds_and_then_by_the_limit() {
    let lines = "participants = [\"Reader\"]\nselection = \"round_robin\"\ngoal = \"build_passed\"\n\
                 max_rounds = 4\nterminate = { any = [{ max_messages = 3 }, { max_seconds = 9000 }] }";
    let world = SessionBench::new(&team(lines));
    let model = |request: &Request| {
        let args = format!(r#"{{"paths": ["main{}.c"]}}"#, request.messages.len());
        call("read_project_files", &args)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let SessionOutcome::Failed(error) = world.supervise(handle, "read them").await.unwrap() else {
        panic!("it never ends")
    };
    assert!(error.why.contains("the limit of 3 messages"), "{error:?}");
    let calls = world
        .events()
        .into_iter()
        .filter(|e| matches!(e, Event::Turn(TurnEvent::ToolCalled { .. })))
        .count();
    assert_eq!(calls, 12, "three turns of four rounds");
}

#[tokio::test]
async fn an_answer_that_never_ends_is_cut_off_and_the_person_is_asked() {
    let world = SessionBench::new(TEAM);
    // Far more than any answer may hold, and no end.
    let model = |_: &Request| (0..64).map(|_| Ok(Delta::Text("x".repeat(1 << 17)))).collect();
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Stopped);
    let events = world.events();
    let reported: usize = events
        .iter()
        .filter_map(|event| match event {
            Event::Turn(TurnEvent::TextAdded { text, .. }) => Some(text.len()),
            _ => None,
        })
        .sum();
    assert!(reported <= 4 << 20, "{reported} bytes were recorded");
    let ended = events.iter().any(|event| match event {
        Event::Turn(TurnEvent::Ended { stop: TurnStop::Failed(error), .. }) => {
            error.why.contains("longer than")
        }
        _ => false,
    });
    assert!(
        ended
            && events.iter().any(|event| matches!(event, Event::Person(PersonEvent::Asked { .. })))
    );
}

const BOTH: &str = r#"
participants = ["Writer", "Second"]
selection = "round_robin"
goal = "answered"
terminate = { any = [{ spoke = "Second" }, { max_messages = 6 }] }
"#;

#[tokio::test]
async fn of_two_agents_that_claim_a_file_the_second_changes_what_the_first_saved() {
    let world = SessionBench::new(&team(BOTH));
    let model = |request: &Request| match request.messages.last() {
        Some(last) if last.role == MessageRole::Tool => say("saved"),
        _ => {
            let code = format!(r#"{{"code": "by {}"}}"#, request.agent.as_str());
            call("generate_code", &code)
        }
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    assert_eq!(world.supervise(handle, "go on").await.unwrap(), SessionOutcome::Completed);
    let proposals: Vec<Proposal> = world
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Proposal(ProposalEvent::Made(proposal)) => Some(*proposal),
            _ => None,
        })
        .collect();
    let bases: Vec<Option<ContentHash>> = proposals
        .iter()
        .map(|proposal| match &proposal.change {
            Change::Save { base, .. } => base.as_ref().map(|blob| blob.hash),
            _ => panic!("{proposal:?}"),
        })
        .collect();
    // Nothing is lost without being seen: the second is shown as a change of the first.
    assert_eq!(bases, [None, Some(ContentHash::of(b"by Writer"))]);
    assert_eq!(world.file().as_deref(), Some("by Second"));
}
