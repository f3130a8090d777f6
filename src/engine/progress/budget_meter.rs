//! What a turn, a phase and the session have used, and what they may use.
//!
//! A fold like the run itself; only the time is not known again after a restart.

use std::collections::BTreeMap;
use std::time::Duration;

use super::lanes::LaneId;
use crate::engine::setup::Budgets;
use crate::model::{Budget, Cost, Spent, Usage};

/// With more left than this an answer is not bounded: models refuse a bound that they cannot reach.
const PLENTY: u64 = 8_192;

/// The fewest tokens an answer is given, however little is left.
const FEWEST: u64 = 256;

/// What was used.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct BudgetMeter {
    budgets: Budgets,
    /// What the session may use, as recorded.
    pub budget: Budget,
    /// What the person allows on top each time.
    allowance: Budget,
    /// What the person has just allowed, until it is recorded.
    pub raised: Option<Budget>,
    /// By the open turn of each chat.
    pub turns: BTreeMap<LaneId, Spent>,
    pub phase: Spent,
    session: Spent,
}

impl BudgetMeter {
    pub fn new(budgets: Budgets) -> Self {
        Self { budgets, ..Self::default() }
    }

    /// Adds a model call of a chat; tells what is used up of the session's budget, if anything.
    pub fn used(&mut self, lane: Option<LaneId>, usage: Usage) -> Option<String> {
        let turn = lane.map(|lane| self.turns.entry(lane).or_default());
        for spent in turn.into_iter().chain([&mut self.phase, &mut self.session]) {
            spent.tokens = spent.tokens.saturating_add(usage.total());
            spent.cost += usage.cost;
            spent.is_estimated |= usage.is_estimated;
        }
        self.budget.reached(&self.session)
    }

    /// A turn begins in a chat; tells what is used up of the session's budget, if anything.
    pub fn turn_begun(&mut self, lane: LaneId) -> Option<String> {
        self.turns.insert(lane, Spent::default());
        self.session.turns = self.session.turns.saturating_add(1);
        self.budget.reached(&self.session)
    }

    /// Adds time that models and tools worked in a chat; `None`: in every open chat.
    pub fn worked(&mut self, lane: Option<LaneId>, millis: u64) {
        let is_it = |known: &LaneId| lane.is_none_or(|lane| lane == *known);
        let turns = self.turns.iter_mut().filter(|(known, _)| is_it(known)).map(|(_, spent)| spent);
        for spent in turns.chain([&mut self.phase, &mut self.session]) {
            spent.millis = spent.millis.saturating_add(millis);
        }
    }

    /// What is used up of the session's budget, if anything.
    pub fn session_reached(&self) -> Option<String> {
        self.budget.reached(&self.session)
    }

    /// How long the open turn of a chat may work on until the time of a budget is over.
    pub fn time_left(&self, lane: LaneId) -> Option<Duration> {
        let limits = [
            (self.budgets.turn.seconds, self.turn(lane).millis),
            (self.budgets.phase.seconds, self.phase.millis),
            (self.budget.seconds, self.session.millis),
        ];
        let left = limits.into_iter().filter_map(|(most, used)| {
            Some(Duration::from_secs(most?).saturating_sub(Duration::from_millis(used)))
        });
        left.min()
    }

    /// A budget of the session was recorded.
    pub fn set(&mut self, budget: Budget) {
        if self.raised.take().is_none() {
            self.allowance = budget;
        }
        self.budget = budget;
    }

    /// The person allows as much again, from what is used by now.
    pub fn raise(&mut self) {
        let Budget { tokens, cost, seconds, turns } = self.allowance;
        let session = &self.session;
        self.raised = Some(Budget {
            tokens: tokens.map(|more| session.tokens.saturating_add(more)),
            cost: cost.map(|more| Cost(session.cost.0.saturating_add(more.0))),
            seconds: seconds.map(|more| (session.millis / 1_000).saturating_add(more)),
            // The turn that is open has not been taken yet.
            turns: turns.map(|more| session.turns.saturating_sub(1).saturating_add(more)),
        });
    }

    fn turn(&self, lane: LaneId) -> Spent {
        self.turns.get(&lane).copied().unwrap_or_default()
    }

    /// Why the open turn of a chat may ask its model no more.
    pub fn cut(&self, lane: LaneId) -> Option<String> {
        let turn = self.budgets.turn.reached(&self.turn(lane));
        let turn = turn.map(|what| format!("the budget of a turn is used up: {what}"));
        turn.or_else(|| self.phase_reached())
    }

    pub fn phase_reached(&self) -> Option<String> {
        let what = self.budgets.phase.reached(&self.phase)?;
        Some(format!("the budget of the phase is used up: {what}"))
    }

    /// Tokens an answer in a chat may have; `wanted`: what the agent asks for.
    pub fn allowed_answer(&self, lane: LaneId, wanted: Option<u32>) -> Option<u32> {
        let limits = [
            (self.budgets.turn.tokens, self.turn(lane).tokens),
            (self.budgets.phase.tokens, self.phase.tokens),
            (self.budget.tokens, self.session.tokens),
        ];
        let left = limits.into_iter().filter_map(|(most, used)| Some(most?.saturating_sub(used)));
        let Some(left) = left.min().filter(|left| *left < PLENTY) else { return wanted };
        let left = u32::try_from(left.max(FEWEST)).unwrap_or(u32::MAX);
        Some(wanted.map_or(left, |wanted| wanted.min(left)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(most: u64) -> Budget {
        Budget { tokens: Some(most), ..Budget::default() }
    }

    const ONLY: LaneId = LaneId::ONLY;

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    #[test]
    fn allowing_as_much_again_counts_from_what_is_used() {
        let mut meter = BudgetMeter::new(Budgets::default());
        meter.set(tokens(100));
        assert_eq!(meter.used(Some(ONLY), usage(60, 39)), None);
        assert!(
            meter.used(Some(ONLY), usage(30, 1)).is_some_and(|what| what.contains("130 of 100"))
        );
        meter.raise();
        let raised = meter.raised.unwrap();
        assert_eq!(raised, tokens(230));
        meter.set(raised);
        assert_eq!((meter.raised, meter.used(Some(ONLY), usage(99, 0))), (None, None));
        assert!(meter.used(Some(ONLY), usage(1, 0)).is_some());
        meter.raise();
        assert_eq!(meter.raised, Some(tokens(330)), "the same allowance again");
    }

    #[test]
    fn an_answer_may_not_go_far_beyond_the_budget() {
        let mut meter = BudgetMeter::new(Budgets { turn: tokens(5_000), ..Budgets::default() });
        assert_eq!(meter.allowed_answer(ONLY, Some(900)), Some(900));
        assert_eq!(meter.allowed_answer(ONLY, None), Some(5_000));
        meter.used(Some(ONLY), usage(4_000, 0));
        assert_eq!(meter.allowed_answer(ONLY, Some(9_000)), Some(1_000));
        meter.used(Some(ONLY), usage(4_000, 0));
        assert_eq!(meter.allowed_answer(ONLY, None), Some(256));
        assert_eq!(BudgetMeter::default().allowed_answer(ONLY, None), None);
        let rich = BudgetMeter::new(Budgets { turn: tokens(100_000), ..Budgets::default() });
        assert_eq!(rich.allowed_answer(ONLY, None), None, "no model could write that much at once");
    }
}
