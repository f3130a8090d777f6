//! How far a run has come: a fold of its own events, and the one place that says what comes next.
//!
//! The live run applies each event it records, a resumed run those of the journal: both know the
//! same afterwards. Must not read a clock, wait or record anything itself.

mod fold;

use std::sync::Arc;
use std::time::Duration;

use super::attempt::{Attempt, Move};
use super::blackboard::Blackboard;
use super::budget_meter::BudgetMeter;
use super::concern::Concern;
use super::guard::Guard;
use super::handle::{EngineLimits, Supervision};
use super::memory::PhaseMemory;
use super::side_work::SideWork;
use super::step::{self, Hold, LastNumbers, RunStep, Words};
use super::team::{Phase, Team};
use crate::model::{
    CallId, ChosenBy, Event, ModelEvent, PersonEvent, PhaseEvent, ProjectPath, QuestionId,
    SessionEvent, SessionOutcome, TeamEvent, TurnEvent, TurnId, TurnStop,
};

#[derive(Debug, Clone, PartialEq)]
enum RunStage {
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
pub(super) struct RunProgress {
    team: Arc<Team>,
    max_attempts: Option<u32>,
    supervision: Supervision,
    task: String,
    stage: RunStage,
    ended: Option<SessionOutcome>,
    hold: Hold,
    concern: Option<Concern>,
    numbers: LastNumbers,
    guard: Guard,
    memory: PhaseMemory,
    budget_meter: BudgetMeter,
}

impl RunProgress {
    pub fn new(team: Arc<Team>, limits: &EngineLimits) -> Self {
        Self {
            team,
            max_attempts: limits.max_attempts,
            supervision: limits.supervision,
            task: String::new(),
            stage: RunStage::Before { phase: 0, attempt: 1 },
            ended: None,
            hold: Hold::default(),
            concern: None,
            numbers: LastNumbers::default(),
            guard: Guard::default(),
            memory: PhaseMemory::default(),
            budget_meter: BudgetMeter::new(limits.budgets),
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
    pub const fn side_work(&self) -> &SideWork {
        &self.memory.side_work
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
            RunStage::Running(attempt) => Some((attempt, self.team.phases.get(attempt.phase)?)),
            RunStage::Before { .. } | RunStage::Over(_) => None,
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
    pub fn budget_meter(&self) -> &BudgetMeter {
        &self.budget_meter
    }

    /// Why the open turn ends before its agent is done: the budget that is used up.
    pub fn cut(&self) -> Option<String> {
        let (attempt, phase) = self.running()?;
        matches!(attempt.next(phase), Move::AskModel).then(|| self.budget_meter.cut()).flatten()
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
        self.budget_meter.worked(millis);
        if let RunStage::Running(attempt) = &mut self.stage {
            attempt.facts.worked += millis;
        }
        let spent = self.budget_meter.session_reached().map(Concern::Spent);
        self.concern = self.concern.take().or(spent);
    }

    /// How long the open turn may work on; `None`: as long as it takes.
    pub fn time_left(&self) -> Option<Duration> {
        let condition =
            self.running().and_then(|(attempt, phase)| phase.terminate.time_left(&attempt.facts));
        self.budget_meter.time_left().into_iter().chain(condition).min()
    }

    /// Which time is over, and how the open turn ends for it.
    pub fn time_over(&self) -> (String, TurnStop) {
        if let Some(what) = self.budget_meter.session_reached() {
            let why = format!("the budget of the session is used up: {what}");
            return (why, TurnStop::Interrupted);
        }
        let met =
            || self.running().and_then(|(attempt, phase)| phase.terminate.met(&attempt.facts));
        if let Some(why) = self.budget_meter.phase_reached().or_else(met) {
            return (why.clone(), TurnStop::Terminated(why));
        }
        (self.budget_meter.cut().unwrap_or_else(|| "its time is over".to_owned()), TurnStop::Done)
    }

    fn attempts(&self, phase: &Phase) -> u32 {
        match self.max_attempts {
            Some(max) if phase.attempts > 1 => max.max(1),
            Some(_) | None => phase.attempts,
        }
    }

    /// What comes next.
    pub fn next(&self) -> RunStep {
        if let Some(outcome) = &self.ended {
            return RunStep::Finish(outcome.clone());
        }
        if self.hold.is_stopping {
            return RunStep::Record(step::of_stop(self.running()));
        }
        if let Some(event) = self.memory.board.due() {
            return RunStep::Record(event);
        }
        if self.hold.is_paused {
            return RunStep::Wait;
        }
        // A list that the person has changed is shown anew although a question waits.
        if let Some((attempt, phase)) = self.running()
            && let Move::ListContext(call) = attempt.next(phase)
        {
            return RunStep::ListContext(call);
        }
        if self.hold.question.is_some() {
            return RunStep::Wait;
        }
        if let Some(raised) = self.budget_meter.raised {
            return RunStep::Record(Event::Model(ModelEvent::Budgeted(raised)));
        }
        if let Some(concern) = &self.concern {
            let (text, options) = concern.question();
            let question = self.numbers.question.next();
            return RunStep::Record(Event::Person(PersonEvent::Asked {
                question,
                agent: None,
                text,
                options,
            }));
        }
        match &self.stage {
            RunStage::Before { phase, attempt } => self.next_phase(*phase, *attempt),
            RunStage::Running(attempt) => self.next_in(attempt),
            RunStage::Over(outcome) => {
                RunStep::Record(Event::Session(SessionEvent::Ended { outcome: outcome.clone() }))
            }
        }
    }

    fn next_phase(&self, phase: usize, attempt: u32) -> RunStep {
        let Some(phase) = self.team.phases.get(phase) else {
            return RunStep::Record(Event::Session(SessionEvent::Ended {
                outcome: SessionOutcome::Completed,
            }));
        };
        RunStep::Record(Event::Phase(PhaseEvent::Started {
            phase: phase.name.clone(),
            title: phase.title.clone(),
            attempt,
            max_attempts: self.attempts(phase),
        }))
    }

    fn next_in(&self, attempt: &Attempt) -> RunStep {
        // A running attempt always belongs to a phase of its team.
        let Some(phase) = self.team.phases.get(attempt.phase) else { return RunStep::Wait };
        let turn = attempt.turn.as_ref().map(|turn| turn.id);
        let next = match attempt.next(phase) {
            // A turn ends early between model calls only, so that every call has its answer.
            Move::AskModel if self.budget_meter.cut().is_some() => Move::EndTurn(TurnStop::Done),
            Move::Choose(..) | Move::Begin(_) if self.budget_meter.phase_reached().is_some() => {
                Move::End(self.budget_meter.phase_reached().unwrap_or_default())
            }
            next => next,
        };
        match next {
            Move::Choose(agent, reason) => {
                RunStep::Record(Event::Turn(TurnEvent::SpeakerChosen { agent, reason }))
            }
            Move::Begin(agent) => {
                RunStep::Record(Event::Turn(TurnEvent::Started { turn: self.next_turn(), agent }))
            }
            Move::AskModel => RunStep::AskModel,
            Move::RunCall(call) => RunStep::RunCall(call),
            Move::ListContext(call) => RunStep::ListContext(call),
            Move::Answer(call, result) => {
                RunStep::Record(Event::Turn(TurnEvent::ToolAnswered { call, result, millis: 0 }))
            }
            Move::ShowPlan(agent, items) => {
                RunStep::Record(Event::Team(TeamEvent::PlanMade { by: Some(agent), items }))
            }
            Move::EndTurn(stop) => RunStep::Record(Event::Turn(TurnEvent::Ended {
                turn: turn.unwrap_or_default(),
                stop,
            })),
            Move::End(why) => RunStep::Judge(why),
        }
    }
}
