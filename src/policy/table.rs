//! The table of a policy: what each agent is worth in each observed state.
//!
//! Owns the update of Q-learning, the estimate with its uncertainty, and the greedy choice. Draws no
//! random numbers.
//!
//! Q is the bootstrap of the textbook: Q ← Q + α(r + γ max Q′ − Q), from 0. With a constant α it never
//! comes to rest: its noise, about a quarter of that of a single target, is larger than the distance
//! of many agents. So choices use the *estimate*, an average of the same targets in which later ones
//! weigh more (the kth of n about as k³; Shamir and Zhang, 2013, "polynomial-decay averaging"), which
//! forgets the beginning and comes to rest.
//!
//! How far an estimate can be from the truth has two parts. Chance: `WIDTH` standard errors. And what
//! is left of the initial 0: Q is linear in its initial values, and the *unlearned share* u follows by
//! the same update, u ← u + α(γu′ − u), from 1; times the range of values, it bounds that part.

use crate::model::PolicyValue;

use super::exact::{Choice, Policy};
use super::model::{AgentSet, Model};
use super::state::{BUCKETS, State};

/// Standard errors within which a value is taken to be. Targets are correlated by the values that they
/// share, so it is wider than the 1.96 of independent ones.
const WIDTH: f64 = 3.0;

/// Power of the average: the kth of n targets weighs about as k to this.
const POWER: f64 = 3.0;

/// Trials that a Beta distribution remembers. What an action leads to changes while later actions are
/// learned, so older trials fade; and where nearly all succeed, a count without limit would never let
/// an agent be tried again.
const MEMORY: f64 = 4.0;

/// What is known of one agent in one state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The estimated value (Q).
    pub value: f64,
    /// Share of Q that is still its initial value.
    pub unlearned: f64,
    /// Average of the targets.
    pub estimate: f64,
    /// Average of their squares.
    pub square: f64,
    /// Unlearned share of the estimate.
    pub estimate_unlearned: f64,
    pub visits: u64,
    /// Tasks that succeeded after this choice, and that did not; older ones fade.
    pub successes: f64,
    pub failures: f64,
}

impl Entry {
    const NEW: Self = Self {
        value: 0.0,
        unlearned: 1.0,
        estimate: 0.0,
        square: 0.0,
        estimate_unlearned: 1.0,
        visits: 0,
        successes: 0.0,
        failures: 0.0,
    };

    /// Standard error of the estimate.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        let variance = (self.square - self.estimate * self.estimate).max(0.0);
        let visits = self.visits.max(1) as f64;
        let weight = (POWER + 1.0) * (POWER + 1.0) / (2.0 * POWER + 1.0);
        (variance * (weight / visits).min(1.0)).sqrt()
    }
}

/// The bounds between which the value of an agent is taken to be.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    low: f64,
    high: f64,
}

/// The table; its size follows from the states and the agents.
#[derive(Debug, Clone)]
pub struct Table {
    agents: usize,
    rate: f64,
    discount: f64,
    range: [f64; 2],
    entries: Vec<Entry>,
    bounds: Vec<Bounds>,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

/// Where an action led in the observed states.
#[derive(Debug, Clone, Copy)]
pub enum Successor {
    /// The task ended.
    End,
    /// To this state, in which these agents can act.
    State(State, AgentSet),
}

impl Table {
    /// A table that knows nothing yet.
    #[must_use]
    pub fn new(model: &Model, rate: f64) -> Self {
        let size = model.states * model.agents.len();
        let mut table = Self {
            agents: model.agents.len(),
            rate,
            discount: model.discount,
            range: model.value_range,
            entries: vec![Entry::NEW; size],
            bounds: Vec::new(),
        };
        table.bounds = table.entries.iter().map(|entry| table.bounds_of(entry)).collect();
        table
    }

    /// Number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.entries.len() / self.agents.max(1)
    }

    /// Number of agents.
    #[must_use]
    pub const fn agents(&self) -> usize {
        self.agents
    }

    /// What is known of an agent in a state.
    #[must_use]
    pub fn entry(&self, state: State, agent: usize) -> &Entry {
        &self.entries[state.index() * self.agents + agent]
    }

    /// What sessions record of an agent in a state, rounded; `None` where it was never tried.
    #[must_use]
    pub fn known(&self, state: State, agent: usize) -> Option<PolicyValue> {
        let entry = self.entry(state, agent);
        // So few digits are read again exactly as they were written.
        let rounded = |number: f64| (number * 1e4).round() / 1e4;
        (entry.visits > 0).then(|| PolicyValue {
            value: rounded(entry.estimate),
            spread: rounded(1.96 * entry.standard_error()),
            visits: entry.visits,
        })
    }

    /// Puts an entry back, as a file holds it; false if the table has no such place.
    #[must_use]
    pub fn restore(&mut self, state: State, agent: usize, entry: Entry) -> bool {
        let place = state.index() * self.agents + agent;
        if agent >= self.agents || place >= self.entries.len() {
            return false;
        }
        self.entries[place] = entry;
        self.bounds[place] = self.bounds_of(&entry);
        true
    }

    /// Learns from one action.
    pub fn update(&mut self, state: State, agent: usize, reward: f64, successor: Successor) {
        let (target, unlearned) = match successor {
            Successor::End => (reward, 0.0),
            Successor::State(next, available) => {
                let (value, unlearned) = self.value_of(next, available);
                (reward + self.discount * value, self.discount * unlearned)
            }
        };
        let place = state.index() * self.agents + agent;
        let rate = self.rate;
        let entry = &mut self.entries[place];
        entry.value += rate * (target - entry.value);
        entry.unlearned += rate * (unlearned - entry.unlearned);
        entry.visits += 1;
        let weight = (POWER + 1.0) / (entry.visits as f64 + POWER);
        entry.estimate += weight * (target - entry.estimate);
        entry.square += weight * (target * target - entry.square);
        entry.estimate_unlearned += weight * (unlearned - entry.estimate_unlearned);
        let entry = *entry;
        self.bounds[place] = self.bounds_of(&entry);
    }

    /// Notes how a task ended in which the agent was chosen in the state.
    pub fn credit(&mut self, state: State, agent: usize, ending: Ending) {
        let entry = &mut self.entries[state.index() * self.agents + agent];
        // While later choices are not learned, how a task ends says little about this one.
        let weight = 1.0 - entry.unlearned;
        match ending {
            Ending::Success => entry.successes += weight,
            Ending::Timeout => entry.failures += weight,
        }
        let trials = entry.successes + entry.failures;
        if trials > MEMORY {
            entry.successes *= MEMORY / trials;
            entry.failures *= MEMORY / trials;
        }
    }

    /// The agents of `available` that may still be the best: whose value is not yet separated from
    /// that of another.
    #[must_use]
    pub fn candidates(&self, state: State, available: AgentSet) -> AgentSet {
        let row = &self.bounds[state.index() * self.agents..][..self.agents];
        let among = |agent: usize| available >> agent & 1 == 1;
        let mut floor = f64::NEG_INFINITY;
        for (agent, bounds) in row.iter().enumerate() {
            if among(agent) && bounds.low > floor {
                floor = bounds.low;
            }
        }
        let mut found = 0;
        for (agent, bounds) in row.iter().enumerate() {
            if among(agent) && bounds.high >= floor {
                found |= 1 << agent;
            }
        }
        found
    }

    /// The agent with the highest estimate in the state, or in the nearest bucket that was visited.
    #[must_use]
    pub fn best(&self, state: State, available: AgentSet) -> Option<Best> {
        if let Some(agent) = self.best_visited(state, available) {
            return Some(Best { agent, from: state });
        }
        let bucket = state.bucket();
        let distance = |other: &usize| (other.abs_diff(bucket), *other);
        let mut buckets: Vec<usize> = (0..BUCKETS).collect();
        buckets.sort_by_key(distance);
        buckets.into_iter().find_map(|bucket| {
            let from = state.in_bucket(bucket);
            let agent = self.best_visited(from, available)?;
            Some(Best { agent, from })
        })
    }

    /// How often the state was visited.
    #[must_use]
    pub fn visits(&self, state: State) -> u64 {
        let row = &self.entries[state.index() * self.agents..][..self.agents];
        row.iter().map(|entry| entry.visits).sum()
    }

    /// The agent with the highest estimate in exactly this state, of those that were tried.
    #[must_use]
    pub fn best_visited(&self, state: State, available: AgentSet) -> Option<usize> {
        let row = &self.entries[state.index() * self.agents..][..self.agents];
        let mut best = None;
        let mut highest = f64::NEG_INFINITY;
        for (agent, entry) in row.iter().enumerate() {
            let can_act = available >> agent & 1 == 1;
            if can_act && entry.visits > 0 && entry.estimate > highest {
                (best, highest) = (Some(agent), entry.estimate);
            }
        }
        best
    }

    /// The highest Q of a state, and the largest unlearned share of an agent that may be its best.
    fn value_of(&self, state: State, available: AgentSet) -> (f64, f64) {
        let candidates = self.candidates(state, available);
        let row = &self.entries[state.index() * self.agents..][..self.agents];
        let (mut value, mut unlearned) = (f64::NEG_INFINITY, 0.0);
        for (agent, entry) in row.iter().enumerate() {
            if available >> agent & 1 == 1 && entry.value > value {
                value = entry.value;
            }
            if candidates >> agent & 1 == 1 && entry.unlearned > unlearned {
                unlearned = entry.unlearned;
            }
        }
        (if value.is_finite() { value } else { 0.0 }, unlearned)
    }

    fn bounds_of(&self, entry: &Entry) -> Bounds {
        if entry.visits == 0 {
            return Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let width = WIDTH * entry.standard_error();
        let [lowest, highest] = self.range;
        Bounds {
            low: entry.estimate - width + entry.estimate_unlearned * lowest,
            high: entry.estimate + width + entry.estimate_unlearned * highest,
        }
    }
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Success,
    Timeout,
}

/// The best agent of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Best {
    pub agent: usize,
    /// The state whose estimates were used: another bucket where this one was never visited.
    pub from: State,
}

impl Policy for Table {
    fn choices(&self, model: &Model, situation: u32, memory: usize) -> Vec<Choice> {
        let available = model.available[situation as usize];
        let best = self.best(model.state(situation), available);
        // Where nothing is known at all, the first agent that can act.
        let agent = best.map_or(available.trailing_zeros() as usize, |best| best.agent);
        vec![Choice { chance: 1.0, agent, memory }]
    }
}
