//! Where a run stands among the phases of its team.
//!
//! Owns which phase or step of the plan comes next. Must not know chats or turns.

use super::memory::PhaseMemory;
use super::plan_track::PlanTrack;
use crate::engine::attempt::Attempt;
use crate::engine::concern;
use crate::engine::team::{ForEach, NestedTeam, Phase, Team};
use crate::model::{Event, PhaseEvent, PhaseOutcome, SessionOutcome};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum RunStage {
    /// This attempt of this phase begins.
    Before {
        phase: usize,
        attempt: u32,
        /// Of the plan, counted from 0.
        step: Option<usize>,
    },
    Running(Box<Attempt>),
    Over(SessionOutcome),
}

impl RunStage {
    /// What comes after a step of the plan: the next open one, or the next phase.
    pub(super) fn after_step(team: &Team, plan: &PlanTrack, phase: usize) -> Self {
        match plan.next_open() {
            Some(step) => Self::Before { phase, attempt: 1, step: Some(step) },
            None => Self::before(team, plan, phase + 1),
        }
    }

    /// The beginning of a phase, or the end behind the last one.
    pub(super) fn before(team: &Team, plan: &PlanTrack, place: usize) -> Self {
        let Some(phase) = team.phases.get(place) else {
            let failed = plan.attention().map(|why| concern::unfinished(&why));
            return Self::Over(failed.map_or(SessionOutcome::Completed, SessionOutcome::Failed));
        };
        let step = match phase.steps.for_each {
            ForEach::Once => None,
            ForEach::PlanStep => plan.next_open(),
        };
        Self::Before { phase: place, attempt: 1, step }
    }
}

/// What comes after a phase, or the step that it was about, that has reached its goal.
pub(super) fn after_success(
    team: &Team,
    memory: &mut PhaseMemory,
    (place, step): (usize, Option<usize>),
) -> RunStage {
    match step {
        Some(step) => {
            memory.plan.done(step);
            RunStage::after_step(team, &memory.plan, place)
        }
        None => after_phase(team, memory, place),
    }
}

/// Steps that a phase sends back, or the next phase.
fn after_phase(team: &Team, memory: &mut PhaseMemory, place: usize) -> RunStage {
    let rules = team.phases.get(place).and_then(|phase| phase.steps.send_back.as_ref());
    let back = rules.filter(|rules| memory.send_back(rules));
    RunStage::before(team, &memory.plan, back.map_or(place + 1, |rules| rules.to))
}

/// Puts up what the nested teams came to whose last phase, at `place`, has now been left.
pub(super) fn leave_teams(
    team: &Team,
    memory: &mut PhaseMemory,
    stage: &RunStage,
    (place, outcome, words): (usize, &PhaseOutcome, &str),
) {
    let RunStage::Before { phase: next, .. } = stage else { return };
    let outcome = match outcome {
        PhaseOutcome::Succeeded(why) | PhaseOutcome::Failed(why) => why.as_str(),
        PhaseOutcome::Stopped => "stopped",
    };
    let is_left =
        |nested: &&NestedTeam| nested.phases.contains(&place) && nested.phases.end <= *next;
    for nested in team.nested.iter().filter(is_left) {
        memory.board.team_ended(&nested.name, outcome, words);
    }
}

/// The record with which an attempt at a phase, or at a step of the plan, begins.
pub(super) fn start(
    phase: &Phase,
    (attempt, max_attempts): (u32, u32),
    step: Option<usize>,
    plan: &PlanTrack,
) -> Event {
    let title = match step {
        Some(step) => plan.title(&phase.title, step),
        None => phase.title.clone(),
    };
    let step = step.and_then(|step| u32::try_from(step + 1).ok());
    let phase = phase.name.clone();
    Event::Phase(PhaseEvent::Started { phase, title, attempt, max_attempts, step })
}
