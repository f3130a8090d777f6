//! Where a run stands among the phases of its team.
//!
//! Owns which phase or step of the plan comes next. Must not know chats or turns.

use std::collections::BTreeSet;

use super::lanes::{DueAttempt, Lanes};
use super::memory::PhaseMemory;
use super::plan_track::PlanTrack;
use crate::engine::concern;
use crate::engine::team::{ForEach, NestedTeam, Phase, Team};
use crate::model::{Event, PhaseEvent, PhaseOutcome, SessionOutcome};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum RunStage {
    /// At a phase, with the attempts that are open or are to begin.
    At(Lanes),
    Over(SessionOutcome),
}

impl RunStage {
    /// Where it is at a phase, its attempts.
    pub(super) const fn lanes(&self) -> Option<&Lanes> {
        match self {
            Self::At(lanes) => Some(lanes),
            Self::Over(_) => None,
        }
    }

    /// What comes after a step of the plan beside those that go on: the next ones, or the next phase.
    pub(super) fn after_step(team: &Team, plan: &PlanTrack, mut lanes: Lanes) -> Self {
        let most = team.phases.get(lanes.phase).map_or(1, |phase| phase.steps.parallel);
        let ready = plan.ready(&lanes.steps(), most).into_iter();
        lanes.due.extend(ready.map(|step| DueAttempt::first(Some(step))));
        if lanes.is_empty() && lanes.due.is_empty() {
            return Self::before(team, plan, lanes.phase + 1);
        }
        Self::At(lanes)
    }

    /// The beginning of a phase, or the end behind the last one.
    pub(super) fn before(team: &Team, plan: &PlanTrack, place: usize) -> Self {
        let Some(phase) = team.phases.get(place) else {
            let failed = plan.attention().map(|why| concern::unfinished(&why));
            return Self::Over(failed.map_or(SessionOutcome::Completed, SessionOutcome::Failed));
        };
        let steps = match phase.steps.for_each {
            ForEach::Once => Vec::new(),
            ForEach::PlanStep => plan.ready(&BTreeSet::new(), phase.steps.parallel),
        };
        // Without a step it is about the whole.
        let steps =
            if steps.is_empty() { vec![None] } else { steps.into_iter().map(Some).collect() };
        Self::At(Lanes::before(place, steps.into_iter().map(DueAttempt::first).collect()))
    }
}

/// An attempt that has ended.
pub(super) struct EndedAttempt {
    /// Counted from 1.
    pub number: u32,
    /// Of the plan, counted from 0.
    pub step: Option<usize>,
    /// How many there may be.
    pub most: u32,
    /// What the provider wants back in its chat.
    pub model_state: Option<String>,
}

/// What comes after an attempt.
pub(super) enum AfterAttempt {
    At(RunStage),
    /// No attempt is left, for this reason; should the person allow more, the next one is due.
    GivenUp(String, Lanes),
}

impl EndedAttempt {
    /// The person stopped it; `lanes` are those that go on, here and below.
    pub fn stopped(self, lanes: Lanes) -> AfterAttempt {
        AfterAttempt::At(match lanes.is_empty() {
            true => RunStage::Over(SessionOutcome::Stopped),
            false => RunStage::At(lanes),
        })
    }

    /// It has not reached its goal: the next attempt, or what comes after the step.
    pub fn failed(
        self,
        team: &Team,
        memory: &mut PhaseMemory,
        mut lanes: Lanes,
        why: &str,
    ) -> AfterAttempt {
        match self.step {
            _ if self.number < self.most => {
                lanes.due.push(self.again(why));
                AfterAttempt::At(RunStage::At(lanes))
            }
            Some(step) => {
                memory.plan.failed(step, why);
                AfterAttempt::At(RunStage::after_step(team, &memory.plan, lanes))
            }
            None => self.given_up(lanes, why),
        }
    }

    /// It has not reached its goal, and the phase has used what it may. Chats beside it end for the same
    /// reason, and the last of them gives the phase up.
    pub fn used_up(self, memory: &mut PhaseMemory, mut lanes: Lanes, why: &str) -> AfterAttempt {
        match self.step {
            Some(step) if !lanes.is_empty() => {
                memory.plan.failed(step, why);
                lanes.due.clear();
                AfterAttempt::At(RunStage::At(lanes))
            }
            _ => self.given_up(lanes, why),
        }
    }

    fn given_up(self, mut lanes: Lanes, why: &str) -> AfterAttempt {
        lanes.due = vec![self.again(why)];
        AfterAttempt::GivenUp(why.to_owned(), lanes)
    }

    fn again(self, why: &str) -> DueAttempt {
        DueAttempt {
            number: self.number + 1,
            step: self.step,
            failed: Some(why.to_owned()),
            model_state: Some(self.model_state),
        }
    }
}

/// What comes after a phase, or the step that it was about, that has reached its goal; `lanes` are those
/// that go on.
pub(super) fn after_success(
    team: &Team,
    memory: &mut PhaseMemory,
    step: Option<usize>,
    lanes: Lanes,
) -> RunStage {
    match step {
        Some(step) => {
            memory.plan.done(step);
            RunStage::after_step(team, &memory.plan, lanes)
        }
        None => after_phase(team, memory, lanes.phase),
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
    let RunStage::At(Lanes { phase: next, .. }) = stage else { return };
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
