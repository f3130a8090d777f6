//! What comes next in a run, by how far it has come.
//!
//! Must not change anything.

use std::collections::BTreeSet;

use super::lanes::{DueAttempt, Lane, LaneId};
use super::run_progress::RunProgress;
use super::stage::{self, RunStage};
use super::step::{self, RunStep};
use crate::engine::attempt::{Attempt, Move};
use crate::engine::concern::Concern;
use crate::engine::team::Phase;
use crate::model::{
    Event, ModelEvent, PhaseEvent, SessionEvent, SessionOutcome, TeamEvent, TurnEvent, TurnStop,
};

/// What comes next, while something is under way in the chats that are `busy`.
pub(in crate::engine) fn next(run: &RunProgress, busy: &BTreeSet<LaneId>) -> RunStep {
    if let Some(outcome) = &run.ended {
        return RunStep::Finish(outcome.clone());
    }
    let idle = || run.lanes().filter(|(id, ..)| !busy.contains(id));
    if run.hold.is_stopping {
        return match idle().next() {
            None if !busy.is_empty() => RunStep::Wait,
            open => RunStep::Record(step::of_stop(open)),
        };
    }
    if let Some(event) = run.memory.board.due() {
        return RunStep::Record(event);
    }
    if run.hold.is_paused {
        return RunStep::Wait;
    }
    // A list that the person has changed is shown again although a question waits.
    let to_list = |(_, lane, phase): (LaneId, &Lane, &Phase)| match lane.attempt.next(phase) {
        Move::ListContext(call) => Some(call),
        _ => None,
    };
    if let Some(call) = idle().find_map(to_list) {
        return RunStep::ListContext(call);
    }
    if run.hold.question.is_some() {
        return RunStep::Wait;
    }
    if let Some(raised) = run.budget_meter.raised {
        return RunStep::Record(Event::Model(ModelEvent::Budgeted(raised)));
    }
    let question = run.numbers.question.next();
    let models = run.memory.model.others;
    let step = after_concerns(run, idle().next());
    // What ends by itself needs no more than was used.
    let holds = |concern: &&Concern| !matches!(concern, Concern::Spent(_)) || uses_more(&step);
    if let Some(concern) = run.concern.as_ref().filter(holds) {
        return step::of_concern(concern, question, None, models);
    }
    if let Some((concern, id)) = idle().find_map(|(id, lane, _)| Some((lane.concern.as_ref()?, id)))
    {
        return step::of_concern(concern, question, Some(id), models);
    }
    step
}

/// What comes next if the person has nothing to say about it; `idle`: the first open chat in which
/// nothing is under way.
fn after_concerns(run: &RunProgress, idle: Option<(LaneId, &Lane, &Phase)>) -> RunStep {
    match &run.stage {
        RunStage::At(lanes) => match (lanes.due.first(), idle) {
            (Some(due), _) => next_phase(run, lanes.phase, due),
            (None, Some((id, lane, phase))) => next_in(run, id, &lane.attempt, phase),
            (None, None) => RunStep::Wait,
        },
        RunStage::Over(outcome) => {
            RunStep::Record(Event::Session(SessionEvent::Ended { outcome: outcome.clone() }))
        }
    }
}

/// Whether models or tools are at work after a step.
const fn uses_more(step: &RunStep) -> bool {
    matches!(
        step,
        RunStep::AskModel(_)
            | RunStep::RunCall(..)
            | RunStep::Record(
                Event::Phase(PhaseEvent::Started { .. })
                    | Event::Turn(
                        TurnEvent::SpeakerChosen { .. }
                            | TurnEvent::Started { .. }
                            | TurnEvent::ToolCalled { .. }
                    )
            )
    )
}

fn next_phase(run: &RunProgress, phase: usize, due: &DueAttempt) -> RunStep {
    let Some(phase) = run.team.phases.get(phase) else {
        let outcome = SessionOutcome::Completed;
        return RunStep::Record(Event::Session(SessionEvent::Ended { outcome }));
    };
    if let Some(event) = run.memory.team.due(phase) {
        return RunStep::Record(event);
    }
    let attempt = (due.number, run.attempt_limit.at_attempt(phase, due.number));
    RunStep::Record(stage::start(phase, attempt, due.step, &run.memory.plan))
}

fn next_in(run: &RunProgress, id: LaneId, attempt: &Attempt, phase: &Phase) -> RunStep {
    let (turn, step) = (attempt.turn.as_ref().map(|turn| turn.id), id.step());
    let next = match attempt.next(phase) {
        // A turn ends early between model calls only, so that every call has its answer.
        Move::AskModel if run.budget_meter.cut(id).is_some() => Move::EndTurn(TurnStop::Done),
        Move::Choose(..) | Move::Begin(_) if run.budget_meter.phase_reached().is_some() => {
            Move::End(run.budget_meter.phase_reached().unwrap_or_default())
        }
        next => next,
    };
    match next {
        Move::Choose(agent, reason, choice) => {
            RunStep::Record(Event::Turn(TurnEvent::SpeakerChosen { agent, reason, choice, step }))
        }
        Move::Begin(agent) => {
            let turn = run.next_turn();
            RunStep::Record(Event::Turn(TurnEvent::Started { turn, agent, step }))
        }
        Move::AskModel => RunStep::AskModel(id),
        Move::RunCall(call) => RunStep::RunCall(id, call),
        Move::ListContext(call) => RunStep::ListContext(call),
        Move::Call(tool, args) => step::of_call(turn, run.next_call(), (tool, args)),
        Move::Answer(call, result) => {
            RunStep::Record(Event::Turn(TurnEvent::ToolAnswered { call, result, millis: 0 }))
        }
        Move::ShowPlan(agent, items) => {
            RunStep::Record(Event::Team(TeamEvent::PlanMade { by: Some(agent), items }))
        }
        Move::EndTurn(stop) => {
            RunStep::Record(Event::Turn(TurnEvent::Ended { turn: turn.unwrap_or_default(), stop }))
        }
        Move::End(why) => RunStep::Judge(id, why),
    }
}
