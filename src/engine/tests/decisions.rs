//! Each kind of decision, from the person's wish to what the agent is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::fixture::*;
use crate::engine::EngineHandle;
use crate::model::event::Level;
use crate::model::*;
use crate::model::{PersonEvent, ProposalEvent, SessionEvent, TurnEvent};
use crate::provider::{Delta, Request};

/// The proposal as it was stated last.
fn stated(world: &SessionBench, id: u32) -> Option<Proposal> {
    let mut found: Option<Proposal> = None;
    for event in world.events() {
        match event {
            Event::Proposal(ProposalEvent::Made(proposal)) if proposal.id.0 == id => {
                found = Some(*proposal)
            }
            Event::Proposal(ProposalEvent::Restated { proposal, change, .. })
                if proposal.0 == id =>
            {
                found.as_mut().unwrap().change = *change;
            }
            _ => {}
        }
    }
    found
}

async fn proposed(world: &SessionBench, id: u32) -> Shown {
    until(world, |event| matches!(event, Event::Proposal(ProposalEvent::Made(p)) if p.id.0 == id))
        .await;
    let hash = stated(world, id).unwrap().change.hash();
    Shown { stops: u32::MAX, ..Shown::whole(ProposalId(id), hash) }
}

/// The usual team, whose writer does not save again when the person has done or asked something.
fn attentive(request: &Request) -> Vec<Result<Delta, UserError>> {
    let last = request.messages.last().unwrap();
    let is_note = last.role == MessageRole::User && last.text.starts_with("The person ");
    if request.agent.as_str() == "Writer" && is_note { say("I see.") } else { usual(request) }
}

async fn send(handle: &EngineHandle, intent: Intent) {
    handle.intents.send(intent).await.unwrap();
}

fn decide(shown: Shown, verdict: Verdict) -> Intent {
    Intent::Decide { shown, verdict }
}

fn amend(shown: Shown, text: &str) -> Intent {
    let (how, note) = (Amended::Edit, DecisionNote::new("mine is better"));
    Intent::Amend { shown, how, content: text.as_bytes().to_vec(), note, phrase: None }
}

/// The answers of the tool that saves.
fn answers(world: &SessionBench) -> Vec<serde_json::Value> {
    let answer = |event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) if result.get("saved").is_some() => {
            Some(result)
        }
        _ => None,
    };
    world.events().into_iter().filter_map(answer).collect()
}

#[tokio::test]
async fn an_edited_text_is_saved_and_the_agent_learns_of_every_difference() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    let shown = proposed(&world, 1).await;
    send(&handle, amend(shown, "no fault")).await;
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Completed);
    assert_eq!(world.file().unwrap(), "no fault");
    let review = &answers(&world)[0]["review"][0];
    assert_eq!(review["decision"], "edited and approved");
    assert_eq!(review["words"], "mine is better");
    let unified = review["diff_from_proposed_to_saved"].as_str().unwrap();
    assert!(unified.contains("-a bug") && unified.contains("+no fault"), "{unified}");
}

#[tokio::test]
async fn words_with_an_approval_reach_the_agent_in_the_same_answer() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    let shown = proposed(&world, 1).await;
    let note = DecisionNote::new("next time with a comment");
    send(&handle, decide(shown, Verdict::ApproveAndTell { note })).await;
    world.supervise(handle, "stop").await.unwrap();
    let answer = &answers(&world)[0];
    assert_eq!(answer["saved"][0], "main.txt");
    assert_eq!(answer["review"][0]["words"], "next time with a comment");
}

#[tokio::test]
async fn rejecting_can_stop_the_run() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    let shown = proposed(&world, 1).await;
    let (reason, comments) = ("all wrong".to_owned(), Vec::new());
    let verdict = Verdict::Reject { reason, comments, then: AfterReject::Stop };
    send(&handle, decide(shown, verdict.clone())).await;
    assert_eq!(handle.join().await.unwrap(), SessionOutcome::Stopped);
    assert_eq!(world.file(), None);
    let decided = world.events().into_iter().find_map(|event| match event {
        Event::Proposal(ProposalEvent::Decided { decision, .. }) => {
            Some((decision.verdict, decision.by))
        }
        _ => None,
    });
    assert_eq!(decided, Some((verdict, DecidedBy::Person)));
}

#[tokio::test]
async fn a_question_is_answered_while_the_proposal_waits_and_the_agent_remembers_it() {
    let world = SessionBench::new(TEAM);
    let asked: Arc<Mutex<Vec<Request>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let model = move |request: &Request| {
        seen.lock().unwrap().push(request.clone());
        if request.messages.last().is_some_and(|m| m.text.contains("why a bug?")) {
            return say("Because it was asked for.");
        }
        usual(request)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let shown = proposed(&world, 1).await;
    let text = "+a bug".to_owned();
    let excerpt = Some(Excerpt { side: Side::New, first: 1, last: 1, text });
    let text = "why a bug?".to_owned();
    send(&handle, Intent::Inquire { proposal: shown.proposal, excerpt, text }).await;
    until(&world, |event| {
        matches!(event, Event::Proposal(ProposalEvent::InquiryEnded { failed: None, .. }))
    })
    .await;
    let events = world.events();
    assert!(events.contains(&Event::Proposal(ProposalEvent::InquiryTextAdded {
        inquiry: InquiryId(1),
        text: "Because it was asked for.".into(),
    })));
    assert!(
        !events.iter().any(|event| matches!(event, Event::Proposal(ProposalEvent::Decided { .. })))
    );
    {
        let asked = asked.lock().unwrap();
        let aside = asked.last().unwrap();
        assert_eq!((aside.agent.as_str(), aside.tools.len()), ("Writer", 0));
        let question = &aside.messages.last().unwrap().text;
        assert!(question.contains("save `main.txt`") && question.contains("```diff\n+a bug\n```"));
        // A service refuses a conversation with a call that has no answer.
        assert!(aside.messages.iter().all(|message| message.calls.is_empty()));
        assert!(aside.messages.iter().any(|m| m.text.contains("I call `generate_code`")));
    }
    send(&handle, decide(shown, Verdict::Approve)).await;
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Completed);
    let remembers = |request: &Request| {
        request.messages.iter().any(|m| m.text.starts_with("The person asked about your proposal"))
    };
    let asked = asked.lock().unwrap();
    let received: Vec<&str> =
        asked.iter().filter(|r| remembers(r)).map(|r| r.agent.as_str()).collect();
    assert!(
        !received.is_empty() && received.iter().all(|agent| *agent == "Writer"),
        "{received:?}"
    );
}

#[tokio::test]
async fn a_question_that_cannot_be_answered_says_why() {
    let world = SessionBench::new(TEAM);
    let model = |request: &Request| -> Vec<Result<Delta, UserError>> {
        if request.messages.last().is_some_and(|m| m.text.contains("why?")) {
            return vec![Err(UserError::new("no", "the service is down", ""))];
        }
        usual(request)
    };
    let handle = world.begin(u64::MAX, Arc::new(model)).unwrap();
    let shown = proposed(&world, 1).await;
    let ask = |id: u32| {
        let (proposal, excerpt) = (ProposalId(id), None);
        Intent::Inquire { proposal, excerpt, text: "why?".into() }
    };
    send(&handle, ask(1)).await;
    until(&world, |event| {
        matches!(event, Event::Proposal(ProposalEvent::InquiryEnded { failed: Some(_), .. }))
    })
    .await;
    send(&handle, ask(7)).await;
    until(&world, |event| {
        matches!(event, Event::Person(PersonEvent::Noticed { level: Level::Warning, .. }))
    })
    .await;
    send(&handle, decide(shown, Verdict::Approve)).await;
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Completed);
}

#[tokio::test]
async fn a_listed_batch_is_decided_with_one_wish_and_a_wrong_entry_decides_nothing() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(usual)).unwrap();
    let right = proposed(&world, 1).await;
    let wrong = Shown { hash: ContentHash::of(b"other"), ..right };
    send(&handle, Intent::DecideAll { shown: vec![wrong], verdict: Verdict::Approve }).await;
    until(&world, |event| {
        matches!(event, Event::Person(PersonEvent::Noticed { level: Level::Warning, .. }))
    })
    .await;
    assert_eq!(world.file(), None);
    send(&handle, Intent::DecideAll { shown: vec![right], verdict: Verdict::Approve }).await;
    until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Settled { .. }))).await;
    assert_eq!(world.file().unwrap(), "a bug");
    handle.detach().await;
}

#[tokio::test]
async fn changes_are_undone_after_the_run_and_during_it() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(attentive)).unwrap();
    let first = proposed(&world, 1).await;
    send(&handle, decide(first, Verdict::Approve)).await;
    proposed(&world, 2).await;
    send(&handle, Intent::Undo { proposal: ProposalId(1) }).await;
    let settled = |number, outcome: Outcome| {
        let proposal = ProposalId(number);
        let wanted = Event::Proposal(ProposalEvent::Settled { proposal, outcome });
        until(&world, move |event| *event == wanted)
    };
    // What waited was a change of what is no longer there.
    settled(2, Outcome::Denied).await;
    assert_eq!(world.file(), None);
    let asked =
        until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
    let Event::Person(PersonEvent::Asked { question, .. }) = asked else { unreachable!() };
    send(&handle, Intent::Answer { question, answer: "stop".into() }).await;
    until(&world, |event| matches!(event, Event::Session(SessionEvent::Ended { .. }))).await;
    send(&handle, Intent::Undo { proposal: ProposalId(3) }).await;
    settled(4, Outcome::Applied).await;
    assert_eq!(world.file().unwrap(), "a bug");
    send(&handle, Intent::Undo { proposal: ProposalId(3) }).await;
    until(&world, |event| {
        matches!(event, Event::Person(PersonEvent::Noticed { level: Level::Warning, .. }))
    })
    .await;
    assert_eq!(handle.join().await.unwrap(), SessionOutcome::Stopped);
}

#[tokio::test]
async fn a_rule_of_the_session_holds_after_a_restart_until_it_is_revoked() {
    let asked = SessionBench::new(TEAM);
    let handle = asked.begin(u64::MAX, Arc::new(usual)).unwrap();
    proposed(&asked, 1).await;
    handle.detach().await;
    let world = SessionBench::new(TEAM);
    // The program ends with the first save: rule, decision and outcome are its last records.
    let life = asked.events().len() as u64 + 3;
    let handle = world.begin(life, Arc::new(usual)).unwrap();
    proposed(&world, 1).await;
    let path = Some("main.txt".to_owned());
    let rule = SessionRule {
        says: RuleSays::Always,
        kind: Some(ChangeKind::Save),
        path,
        tool: None,
        agent: None,
    };
    send(&handle, Intent::AddRule { rule }).await;
    assert!(handle.join().await.is_err());
    assert!(matches!(world.events().last(), Some(Event::Proposal(ProposalEvent::Settled { .. }))));
    let handle = world.resume(Arc::new(usual)).unwrap();
    // Nobody decides any more.
    assert_eq!(handle.join().await.unwrap(), SessionOutcome::Completed);
    let by_rule = world.events().into_iter().filter(|event| {
        matches!(event, Event::Proposal(ProposalEvent::Decided { decision, .. }) if matches!(decision.by, DecidedBy::Policy(_)))
    });
    assert_eq!(by_rule.count(), 2);
}

#[tokio::test]
async fn what_was_restated_waits_after_a_restart_as_it_was_stated_last() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(attentive)).unwrap();
    let before = proposed(&world, 1).await;
    send(&handle, Intent::Inquire { proposal: ProposalId(1), excerpt: None, text: "?".into() })
        .await;
    std::fs::write(world.project().join("main.txt"), "by hand").unwrap();
    until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Restated { .. }))).await;
    handle.detach().await;
    let handle = world.resume(Arc::new(attentive)).unwrap();
    send(&handle, decide(before, Verdict::Approve)).await;
    until(&world, |event| {
        matches!(event, Event::Person(PersonEvent::Noticed { level: Level::Warning, .. }))
    })
    .await;
    assert_eq!(world.file().unwrap(), "by hand");
    let now = proposed(&world, 1).await;
    assert_ne!(now.hash, before.hash);
    send(&handle, decide(now, Verdict::Approve)).await;
    assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Completed);
    assert_eq!(world.file().unwrap(), "mended");
}

/// A person who edits every proposal.
async fn edit_all(world: &SessionBench, handle: EngineHandle) -> Result<SessionOutcome, UserError> {
    while !handle.is_finished() {
        let decided = |id: ProposalId| {
            world
                .events()
                .iter()
                .any(|e| matches!(e, Event::Proposal(ProposalEvent::Decided { proposal, .. }) if *proposal == id))
        };
        for id in 1..=2 {
            if let Some(proposal) = stated(world, id).filter(|p| !decided(p.id)) {
                let hash = proposal.change.hash();
                let shown = Shown { stops: u32::MAX, ..Shown::whole(proposal.id, hash) };
                let text = if id == 1 { "still a bug" } else { "mended by hand" };
                let _ = handle.intents.send(amend(shown, text)).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    handle.join().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_run_cut_off_at_any_record_comes_to_the_same_end() {
    let whole = SessionBench::new(TEAM);
    let handle = whole.begin(u64::MAX, Arc::new(usual)).unwrap();
    assert_eq!(edit_all(&whole, handle).await.unwrap(), SessionOutcome::Completed);
    assert_eq!(whole.file().unwrap(), "mended by hand");
    let around: Vec<u64> = (1..)
        .zip(whole.events())
        .filter(|(_, e)| {
            matches!(
                e,
                Event::Proposal(ProposalEvent::Made(_))
                    | Event::Proposal(ProposalEvent::Decided { .. })
                    | Event::Proposal(ProposalEvent::Settled { .. })
            )
        })
        .flat_map(|(seq, _)| [seq - 1, seq])
        .collect();
    for life in around {
        let world = SessionBench::new(TEAM);
        let handle = world.begin(life, Arc::new(usual)).unwrap();
        edit_all(&world, handle).await.unwrap_err();
        let handle = world.resume(Arc::new(usual)).unwrap();
        let outcome = edit_all(&world, handle).await.unwrap();
        assert_eq!(outcome, SessionOutcome::Completed, "cut off after {life}");
        let file = world.file().unwrap();
        // Cut off between the first decision and its effect, the fault was never written.
        assert!(file == "mended by hand" || file == "still a bug", "cut off after {life}: {file}");
    }
}

/// As [`usual`], but at first the writer wants to save where nothing may be saved.
fn led_astray(request: &Request) -> Vec<Result<Delta, UserError>> {
    let was_refused = request.messages.iter().any(|message| message.text.contains("refused"));
    match request.agent.as_str() {
        "Writer" if !was_refused => {
            call("generate_code", r#"{"code": "exit 0", "path": ".git/hooks/pre-commit"}"#)
        }
        "Writer" if request.messages.last().is_some_and(|last| last.text.contains("refused")) => {
            call("generate_code", r#"{"code": "a bug"}"#)
        }
        _ => usual(request),
    }
}

#[tokio::test]
async fn what_could_not_be_saved_is_refused_to_the_agent_and_never_put_before_the_person() {
    let world = SessionBench::new(TEAM);
    let handle = world.begin(u64::MAX, Arc::new(led_astray)).unwrap();
    let shown = proposed(&world, 1).await;
    let proposal = stated(&world, 1).unwrap();
    assert_eq!(proposal.change.path().unwrap().as_str(), "main.txt");
    let refused = world.events().into_iter().find_map(|event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) if result["ok"] == false => {
            Some(result)
        }
        _ => None,
    });
    let error = refused.unwrap()["error"].clone();
    assert_eq!(error["code"], "refused");
    assert!(error["message"].as_str().unwrap().contains("version control"), "{error}");
    send(&handle, decide(shown, Verdict::Approve)).await;
    until(&world, |event| matches!(event, Event::Proposal(ProposalEvent::Settled { .. }))).await;
    world.supervise(handle, "stop").await.unwrap();
    assert!(world.file().is_some() && !world.project().join(".git").exists());
}
