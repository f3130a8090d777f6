//! The chats of a phase that are open side by side: one, or one for each step of the plan that is
//! carried out now.
//!
//! Owns which chat an event belongs to, and which attempts are to begin. Must not know what comes
//! next in a chat.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::attempt::Attempt;
use crate::engine::attempt::repetition::Guard;
use crate::engine::concern::Concern;
use crate::model::{CallId, TurnId};

/// Which of the open chats: that of a step of the plan, or the only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(in crate::engine) struct LaneId(Option<u32>);

impl LaneId {
    /// The only chat.
    #[cfg(test)]
    pub const ONLY: Self = Self(None);

    /// The chat of a step, counted from 0.
    pub fn of_step(step: Option<usize>) -> Self {
        Self(step.and_then(|step| u32::try_from(step + 1).ok()))
    }

    /// The step as records name it, counted from 1.
    pub const fn step(self) -> Option<u32> {
        self.0
    }
}

/// An attempt that is to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DueAttempt {
    /// Counted from 1.
    pub number: u32,
    /// Of the plan, counted from 0.
    pub step: Option<usize>,
    /// Why the attempt before it failed.
    pub failed: Option<String>,
    /// What the provider wants back in it; `None`: what it wants in a chat that begins.
    pub model_state: Option<Option<String>>,
}

impl DueAttempt {
    /// The first one.
    pub const fn first(step: Option<usize>) -> Self {
        Self { number: 1, step, failed: None, model_state: None }
    }
}

/// A chat that is open.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct Lane {
    pub attempt: Attempt,
    pub guard: Guard,
    /// Why it cannot go on without the person.
    pub concern: Option<Concern>,
    /// What the provider wants back.
    pub model_state: Option<String>,
    /// Its number on the blackboard.
    pub board_chat: u32,
}

impl Lane {
    /// The first concern counts until it was put before the person.
    pub fn worry(&mut self, concern: Option<Concern>) {
        self.concern = self.concern.take().or(concern);
    }
}

/// The attempts of a phase that are open or are to begin.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Lanes {
    /// Place of the phase in the team.
    pub phase: usize,
    pub due: Vec<DueAttempt>,
    open: BTreeMap<LaneId, Lane>,
    /// What the provider wanted back when the phase began.
    began_with: Option<Option<String>>,
}

impl Lanes {
    /// Before these attempts at a phase.
    pub const fn before(phase: usize, due: Vec<DueAttempt>) -> Self {
        Self { phase, due, open: BTreeMap::new(), began_with: None }
    }

    /// Those that are open, in the order of their steps.
    pub fn open(&self) -> impl Iterator<Item = (LaneId, &Lane)> {
        self.open.iter().map(|(id, lane)| (*id, lane))
    }

    pub fn open_mut(&mut self) -> impl Iterator<Item = (LaneId, &mut Lane)> {
        self.open.iter_mut().map(|(id, lane)| (*id, lane))
    }

    pub fn get_mut(&mut self, id: LaneId) -> Option<&mut Lane> {
        self.open.get_mut(&id)
    }

    /// The chat of a step as a record names it. Records without one are about the only chat.
    pub fn of_step(&self, step: Option<u32>) -> Option<LaneId> {
        let id = LaneId(step);
        if self.open.contains_key(&id) {
            return Some(id);
        }
        let only = self.open.keys().next().filter(|_| self.open.len() == 1);
        only.filter(|_| step.is_none()).copied()
    }

    /// The chat in which that turn is open.
    pub fn of_turn(&self, turn: TurnId) -> Option<LaneId> {
        let is_it = |lane: &Lane| lane.attempt.turn.as_ref().is_some_and(|open| open.id == turn);
        self.open().find(|(_, lane)| is_it(lane)).map(|(id, _)| id)
    }

    /// The chat in whose open turn that call was made.
    pub fn of_call(&self, call: CallId) -> Option<LaneId> {
        let is_it = |lane: &Lane| {
            let turn = lane.attempt.turn.as_ref();
            turn.is_some_and(|turn| turn.calls.iter().any(|(made, _)| made.id == call))
        };
        self.open().find(|(_, lane)| is_it(lane)).map(|(id, _)| id)
    }

    /// Takes the attempt that begins now off the list.
    pub fn take_due(&mut self, number: u32, step: Option<usize>) -> DueAttempt {
        let place = self.due.iter().position(|due| due.step == step);
        let known = place.map(|place| self.due.remove(place)).filter(|due| due.number == number);
        known.unwrap_or(DueAttempt { number, ..DueAttempt::first(step) })
    }

    /// What the provider wants back in a chat that begins. `now` is what it wanted back last: a chat
    /// beside others must not go on from one of those.
    pub fn begin_with(&mut self, now: Option<&String>) -> Option<String> {
        self.began_with.get_or_insert_with(|| now.cloned()).clone()
    }

    /// Another model answers, which wants nothing back.
    pub fn forget_model(&mut self) {
        self.began_with = self.began_with.take().map(|_| None);
        self.due.iter_mut().for_each(|due| due.model_state = None);
        self.open.values_mut().for_each(|lane| lane.model_state = None);
    }

    pub fn insert(&mut self, id: LaneId, lane: Lane) {
        self.open.insert(id, lane);
    }

    /// Closes a chat.
    pub fn close(&mut self, id: LaneId) -> Option<Lane> {
        self.open.remove(&id)
    }

    /// Whether no chat is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The steps whose chats are open or are to begin, counted from 0.
    pub fn steps(&self) -> BTreeSet<usize> {
        let open = self.open.values().filter_map(|lane| lane.attempt.step);
        open.chain(self.due.iter().filter_map(|due| due.step)).collect()
    }
}
