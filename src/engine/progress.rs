//! How far a run has come: a fold of its own events, and the one place that says what comes next.
//!
//! The live run applies each event it records, a resumed run those of the journal: both know the
//! same afterwards. Must not read a clock, wait or record anything itself.

mod fold;

use std::sync::Arc;
use std::time::Duration;

use super::attempt::{Attempt, Move};
use super::beside::Beside;
use super::blackboard::Blackboard;
use super::concern::Concern;
use super::guard::Guard;
use super::handle::{Limits, Supervision};
use super::memory::Memory;
use super::purse::Purse;
use super::step::{self, Hold, Numbers, Step, Words};
use super::team::{Phase, Team};
use crate::model::{
    CallId, ChosenBy, Event, ModelEvent, PersonEvent, PhaseEvent, ProjectPath, QuestionId,
    SessionEvent, SessionOutcome, TeamEvent, TurnEvent, TurnId, TurnStop,
};

#[derive(Debug, Clone, PartialEq)]
enum Stage {
    /// This attempt of this phase begins.
    Before {
        phase: usize,
        attempt: u32,
    },
    Running(Box<Attempt>),
    Over(SessionOutcome),
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Progress {
    team: Arc<Team>,
    max_attempts: Option<u32>,
    supervision: Supervision,
    task: String,
    stage: Stage,
    ended: Option<SessionOutcome>,
    hold: Hold,
    concern: Option<Concern>,
    numbers: Numbers,
    guard: Guard,
    memory: Memory,
    purse: Purse,
}

impl Progress {
    pub fn new(team: Arc<Team>, limits: &Limits) -> Self {
        Self {
            team,
            max_attempts: limits.max_attempts,
            supervision: limits.supervision,
            task: String::new(),
            stage: Stage::Before { phase: 0, attempt: 1 },
            ended: None,
            hold: Hold::default(),
            concern: None,
            numbers: Numbers::default(),
            guard: Guard::default(),
            memory: Memory::default(),
            purse: Purse::new(limits.budgets),
        }
    }

    pub fn next_turn(&self) -> TurnId {
        self.numbers.turn.next()
    }

    pub fn next_call(&self) -> CallId {
        self.numbers.call.next()
    }

    pub fn next_question(&self) -> QuestionId {
        self.numbers.question.next()
    }

    /// What the person does beside the run.
    pub const fn beside(&self) -> &Beside {
        &self.memory.beside
    }

    /// What was produced so far.
    pub const fn board(&self) -> &Blackboard {
        &self.memory.board
    }

    /// The files the open call is about to read, and who wants each.
    pub fn listed(&self, id: CallId) -> Vec<(ProjectPath, ChosenBy)> {
        let turn = self.running().and_then(|(attempt, _)| attempt.turn.as_ref());
        let open = turn.and_then(|turn| Some((turn.open_call()?, turn)));
        let open = open.filter(|(call, _)| call.id == id);
        open.map_or_else(Vec::new, |(call, turn)| self.memory.pins.list(call, &turn.agent))
    }

    /// Why a file was found relevant; empty when nothing said so.
    pub fn reason(&self, path: &ProjectPath) -> String {
        self.memory.pins.reason(path)
    }

    /// The attempt that runs, and its phase.
    pub fn running(&self) -> Option<(&Attempt, &Phase)> {
        match &self.stage {
            Stage::Running(attempt) => Some((attempt, self.team.phases.get(attempt.phase)?)),
            Stage::Before { .. } | Stage::Over(_) => None,
        }
    }

    pub fn provider_state(&self) -> Option<String> {
        self.memory.state.clone()
    }

    /// The model that answered last.
    pub fn model(&self) -> Option<&String> {
        self.memory.model.as_ref()
    }

    /// What was used, and what may be.
    pub fn purse(&self) -> &Purse {
        &self.purse
    }

    /// Why the open turn ends before its agent is done: the budget that is used up.
    pub fn cut(&self) -> Option<String> {
        let (attempt, phase) = self.running()?;
        matches!(attempt.next(phase), Move::AskModel).then(|| self.purse.cut()).flatten()
    }

    pub fn ended(&self) -> Option<&SessionOutcome> {
        self.ended.as_ref()
    }

    pub fn is_paused(&self) -> bool {
        self.hold.is_paused
    }

    pub fn is_stopping(&self) -> bool {
        self.hold.is_stopping
    }

    /// The question that waits, the answers offered, and who gets a free one.
    pub fn question(&self) -> Option<(QuestionId, Vec<String>, Words)> {
        let options = self.concern.as_ref().map(|concern| concern.question().1);
        self.hold.question.map(|id| (id, options.unwrap_or_default(), self.hold.words))
    }

    /// Adds to the time that models and tools have worked; what that uses up of the session's
    /// budget is a matter for the person.
    pub fn worked(&mut self, millis: u64) {
        self.purse.worked(millis);
        if let Stage::Running(attempt) = &mut self.stage {
            attempt.facts.worked += millis;
        }
        let spent = self.purse.session_reached().map(Concern::Spent);
        self.concern = self.concern.take().or(spent);
    }

    /// How long the open turn may work on; `None`: as long as it takes.
    pub fn time_left(&self) -> Option<Duration> {
        let condition =
            self.running().and_then(|(attempt, phase)| phase.terminate.time_left(&attempt.facts));
        self.purse.time_left().into_iter().chain(condition).min()
    }

    /// Which time is over, and how the open turn ends for it.
    pub fn time_over(&self) -> (String, TurnStop) {
        if let Some(what) = self.purse.session_reached() {
            let why = format!("the budget of the session is used up: {what}");
            return (why, TurnStop::Interrupted);
        }
        let met =
            || self.running().and_then(|(attempt, phase)| phase.terminate.met(&attempt.facts));
        if let Some(why) = self.purse.phase_reached().or_else(met) {
            return (why.clone(), TurnStop::Terminated(why));
        }
        (self.purse.cut().unwrap_or_else(|| "its time is over".to_owned()), TurnStop::Done)
    }

    fn attempts(&self, phase: &Phase) -> u32 {
        match self.max_attempts {
            Some(max) if phase.attempts > 1 => max.max(1),
            Some(_) | None => phase.attempts,
        }
    }

    /// What comes next.
    pub fn next(&self) -> Step {
        if let Some(outcome) = &self.ended {
            return Step::Finish(outcome.clone());
        }
        if self.hold.is_stopping {
            return Step::Record(step::of_stop(self.running()));
        }
        if let Some(event) = self.memory.board.due() {
            return Step::Record(event);
        }
        if self.hold.is_paused {
            return Step::Wait;
        }
        // A list that the person has changed is shown anew although a question waits.
        if let Some((attempt, phase)) = self.running()
            && let Move::ListContext(call) = attempt.next(phase)
        {
            return Step::ListContext(call);
        }
        if self.hold.question.is_some() {
            return Step::Wait;
        }
        if let Some(raised) = self.purse.raised {
            return Step::Record(Event::Model(ModelEvent::Budgeted(raised)));
        }
        if let Some(concern) = &self.concern {
            let (text, options) = concern.question();
            let question = self.numbers.question.next();
            return Step::Record(Event::Person(PersonEvent::Asked {
                question,
                agent: None,
                text,
                options,
            }));
        }
        match &self.stage {
            Stage::Before { phase, attempt } => self.next_phase(*phase, *attempt),
            Stage::Running(attempt) => self.next_in(attempt),
            Stage::Over(outcome) => {
                Step::Record(Event::Session(SessionEvent::Ended { outcome: outcome.clone() }))
            }
        }
    }

    fn next_phase(&self, phase: usize, attempt: u32) -> Step {
        let Some(phase) = self.team.phases.get(phase) else {
            return Step::Record(Event::Session(SessionEvent::Ended {
                outcome: SessionOutcome::Completed,
            }));
        };
        Step::Record(Event::Phase(PhaseEvent::Started {
            phase: phase.name.clone(),
            title: phase.title.clone(),
            attempt,
            max_attempts: self.attempts(phase),
        }))
    }

    fn next_in(&self, attempt: &Attempt) -> Step {
        // A running attempt always belongs to a phase of its team.
        let Some(phase) = self.team.phases.get(attempt.phase) else { return Step::Wait };
        let turn = attempt.turn.as_ref().map(|turn| turn.id);
        let next = match attempt.next(phase) {
            // A turn ends early between model calls only, so that every call has its answer.
            Move::AskModel if self.purse.cut().is_some() => Move::EndTurn(TurnStop::Done),
            Move::Choose(..) | Move::Begin(_) if self.purse.phase_reached().is_some() => {
                Move::End(self.purse.phase_reached().unwrap_or_default())
            }
            next => next,
        };
        match next {
            Move::Choose(agent, reason) => {
                Step::Record(Event::Turn(TurnEvent::SpeakerChosen { agent, reason }))
            }
            Move::Begin(agent) => {
                Step::Record(Event::Turn(TurnEvent::Started { turn: self.next_turn(), agent }))
            }
            Move::AskModel => Step::AskModel,
            Move::RunCall(call) => Step::RunCall(call),
            Move::ListContext(call) => Step::ListContext(call),
            Move::Answer(call, result) => {
                Step::Record(Event::Turn(TurnEvent::ToolAnswered { call, result, millis: 0 }))
            }
            Move::ShowPlan(agent, items) => {
                Step::Record(Event::Team(TeamEvent::PlanMade { by: Some(agent), items }))
            }
            Move::EndTurn(stop) => {
                Step::Record(Event::Turn(TurnEvent::Ended { turn: turn.unwrap_or_default(), stop }))
            }
            Move::End(why) => Step::Judge(why),
        }
    }
}
