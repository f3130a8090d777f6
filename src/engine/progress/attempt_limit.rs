//! How many attempts a phase has, and what comes when they are used up.

use super::stage::RunStage;
use crate::engine::concern::{Concern, END_RUN, failure};
use crate::engine::setup::{AttemptsUsedUp, EngineLimits};
use crate::engine::team::{Phase, Team};
use crate::model::SessionOutcome;

/// How many attempts a phase has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AttemptLimit {
    /// `None`: as the team's file says.
    most: Option<u32>,
    /// What the person allowed on top for the present phase.
    more: u32,
    used_up: AttemptsUsedUp,
}

impl AttemptLimit {
    pub const fn of(limits: &EngineLimits) -> Self {
        Self { most: limits.max_attempts, more: 0, used_up: limits.used_up }
    }

    /// Attempts of a phase before the person allows more.
    fn usual(&self, phase: &Phase) -> u32 {
        match self.most {
            Some(max) if phase.limits.attempts > 1 => max.max(1),
            Some(_) | None => phase.limits.attempts,
        }
    }

    /// Attempts of a phase.
    pub fn of_phase(&self, phase: &Phase) -> u32 {
        self.usual(phase).saturating_add(self.more)
    }

    /// Attempts of a phase as they stand when the attempt of that number begins: what was allowed on
    /// top for the phase before counts no more with the first one.
    pub fn at_attempt(&self, phase: &Phase, number: u32) -> u32 {
        if number == 1 { self.usual(phase) } else { self.of_phase(phase) }
    }

    /// An attempt begins; what was allowed on top is for one phase.
    pub const fn begin(&mut self, number: u32) {
        if number == 1 {
            self.more = 0;
        }
    }

    /// Whether the person is asked for more when they are used up.
    pub fn asks(&self) -> bool {
        self.used_up == AttemptsUsedUp::Ask
    }

    /// Takes the answer to that question; tells whether there are as many attempts again.
    pub fn answered(
        &mut self,
        (concern, answer): (&Concern, &str),
        stage: &mut RunStage,
        team: &Team,
    ) -> bool {
        let Concern::AttemptsUsedUp(title, attempts, why) = concern else { return false };
        if answer == END_RUN {
            *stage = RunStage::Over(SessionOutcome::Failed(failure(title, *attempts, why)));
            return false;
        }
        if let RunStage::At(lanes) = stage
            && let Some(phase) = team.phases.get(lanes.phase)
        {
            self.more = self.more.saturating_add(self.usual(phase));
        }
        true
    }
}
