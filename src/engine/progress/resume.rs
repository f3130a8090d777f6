//! Rebuilds a run from its records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::RunProgress;
use crate::engine::setup::EngineSetup;
use crate::engine::team::Team;
use crate::gate::Recorded;
use crate::model::event::SessionChoices;
use crate::model::{
    CallId, Event, LogId, PortEvent, ProposalEvent, ProposalId, Record, RecordSource, SessionEvent,
    TurnEvent, UserError,
};

/// A run as it was when the program ended.
pub(in crate::engine) struct Rebuilt {
    /// How far it had come.
    pub progress: RunProgress,
    /// Proposals of the calls that have no answer yet.
    pub proposals: BTreeMap<CallId, Vec<Recorded>>,
    /// Logs of ports that were open when the program ended.
    pub open_ports: BTreeSet<LogId>,
    /// What the person had set for the session.
    pub choices: SessionChoices,
}

/// Folds the records, one after the other; the gate learns of each, too.
pub(in crate::engine) fn rebuild(
    setup: &EngineSetup,
    records: &dyn RecordSource,
) -> Result<Rebuilt, UserError> {
    let cannot = |why: String, fix: &str| {
        UserError::new(format!("Cannot resume {}", setup.session.id), why, fix)
    };
    let mut progress = RunProgress::new(Arc::clone(&setup.team), &setup.limits);
    let mut proposals = Proposals::default();
    let mut open_ports = BTreeSet::new();
    let mut first: Option<Event> = None;
    let mut last_team = String::new();
    let mut choices = SessionChoices::default();
    records.each(&mut |record: &Record| {
        if let Event::Session(SessionEvent::RunStarted(start)) = &record.event {
            // The team of an earlier run may be gone; what counts is the last one.
            if let Some(team) = team_of(setup, &start.team) {
                progress.expect_run(team);
            }
            last_team.clone_from(&start.team);
        }
        progress.apply(&record.event);
        proposals.apply(&record.event);
        if let Event::Session(event) = &record.event
            && let Some(set) = event.choices()
        {
            choices = set.clone();
        }
        follow_ports(&mut open_ports, &record.event);
        setup.gate.learn(record);
        first.get_or_insert_with(|| record.event.clone());
    })?;
    let Some(Event::Session(SessionEvent::Started(start))) = first else {
        let why = "its journal does not begin with the start of a session".to_owned();
        return Err(cannot(why, "Start a new session with `firmhand new`."));
    };
    let team = if last_team.is_empty() { &start.team } else { &last_team };
    // A session that has ended goes on with whatever team the next run is given.
    if progress.ended().is_none() && *team != setup.team.name {
        let why = format!("it was run by the team `{team}`, not `{}`", setup.team.name);
        return Err(cannot(why, "Resume it with its own team."));
    }
    Ok(Rebuilt { progress, proposals: proposals.by_call, open_ports, choices })
}

fn follow_ports(open: &mut BTreeSet<LogId>, event: &Event) {
    match event {
        Event::Port(PortEvent::Opened { log, .. }) => _ = open.insert(*log),
        Event::Port(PortEvent::Closed { log, .. }) => _ = open.remove(log),
        Event::Session(SessionEvent::Resumed { .. }) => open.clear(),
        _ => {}
    }
}

fn team_of(setup: &EngineSetup, name: &str) -> Option<Arc<Team>> {
    if setup.team.name == name {
        return Some(Arc::clone(&setup.team));
    }
    setup.next_runs.team(name).ok()
}

#[derive(Default)]
struct Proposals {
    by_call: BTreeMap<CallId, Vec<Recorded>>,
    calls: BTreeMap<ProposalId, CallId>,
}

impl Proposals {
    fn apply(&mut self, event: &Event) {
        if let Event::Turn(TurnEvent::ToolAnswered { call, .. }) = event {
            for answered in self.by_call.remove(call).unwrap_or_default() {
                self.calls.remove(&answered.proposal.id);
            }
        }
        // An undo belongs to no call; the gate itself knows how it ended.
        if let Event::Proposal(ProposalEvent::Made(proposal)) = event
            && proposal.facts.undoes.is_none()
        {
            self.calls.insert(proposal.id, proposal.call);
            let recorded = Recorded {
                proposal: (**proposal).clone(),
                made: None,
                decision: None,
                outcome: None,
            };
            self.by_call.entry(proposal.call).or_default().push(recorded);
        }
        if let Event::Proposal(ProposalEvent::Restated { proposal, change, checks, .. }) = event
            && let Some(recorded) = self.find(*proposal)
        {
            let before = std::mem::replace(&mut recorded.proposal.change, (**change).clone());
            recorded.made.get_or_insert(before);
            recorded.proposal.checks.clone_from(checks);
        }
        if let Event::Proposal(ProposalEvent::Decided { proposal, decision }) = event
            && let Some(recorded) = self.find(*proposal)
        {
            recorded.decision = Some((**decision).clone());
        }
        if let Event::Proposal(ProposalEvent::Settled { proposal, outcome }) = event
            && let Some(recorded) = self.find(*proposal)
        {
            recorded.outcome = Some(outcome.clone());
        }
    }

    fn find(&mut self, id: ProposalId) -> Option<&mut Recorded> {
        let call = self.calls.get(&id)?;
        self.by_call.get_mut(call)?.iter_mut().find(|recorded| recorded.proposal.id == id)
    }
}
