//! Exact values: of the best policy, and of any policy in a model.
//!
//! Owns value iteration. A situation only leads to ones with more actions taken, so that one sweep
//! from the last situation to the first gives the exact values; no limit of iterations is needed.

use super::model::{Model, Next, Outcome};

/// What a policy reaches from the start, averaged over the classes of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Performance {
    /// Chance that the tests pass.
    pub success: f64,
    /// Agents called per task.
    pub calls: f64,
    /// Expected discounted reward.
    pub value: f64,
}

/// One possible choice of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    pub chance: f64,
    pub agent: usize,
    /// What the policy remembers next, below [`Policy::memories`].
    pub memory: usize,
}

/// Something that chooses who speaks next.
pub trait Policy {
    /// How many things it can remember from one choice to the next.
    fn memories(&self) -> usize {
        1
    }

    /// What it remembers at the start: (chance, memory).
    fn starts(&self) -> Vec<(f64, usize)> {
        vec![(1.0, 0)]
    }

    /// What it chooses in the situation; the chances sum up to 1.
    fn choices(&self, model: &Model, situation: u32, memory: usize) -> Vec<Choice>;
}

/// The values of every situation for a policy, and of the start.
#[must_use]
pub fn evaluate(model: &Model, policy: &dyn Policy) -> Performance {
    let memories = policy.memories();
    let mut known = vec![Performance::default(); model.situations() * memories];
    for situation in (0..to_u32(model.situations())).rev() {
        for memory in 0..memories {
            let mut sum = Performance::default();
            for choice in policy.choices(model, situation, memory) {
                let action = model.action(situation, choice.agent);
                let chances = [action.chance, 1.0 - action.chance];
                for (chance, outcome) in chances.into_iter().zip(&action.outcomes) {
                    let after = |next: u32| known[next as usize * memories + choice.memory];
                    sum.add(choice.chance * chance, follow(model, outcome, after));
                }
            }
            known[situation as usize * memories + memory] = sum;
        }
    }
    let mut total = Performance::default();
    for (share, start) in &model.starts {
        for (chance, memory) in policy.starts() {
            total.add(share * chance, known[*start as usize * memories + memory]);
        }
    }
    total
}

/// The best policy of a model, which knows the whole situation.
#[derive(Debug, Clone)]
pub struct Optimum {
    /// The best agent in each situation.
    agents: Vec<usize>,
    /// Values by situation, then by agent.
    values: Vec<f64>,
}

impl Optimum {
    /// Solves the model by value iteration.
    #[must_use]
    pub fn solve(model: &Model) -> Self {
        let mut best = vec![Performance::default(); model.situations()];
        let mut agents = vec![0; model.situations()];
        let count = model.agents.len();
        let mut values = vec![f64::NEG_INFINITY; model.situations() * count];
        for situation in (0..to_u32(model.situations())).rev() {
            let index = situation as usize;
            best[index].value = f64::NEG_INFINITY;
            for agent in (0..count).filter(|agent| model.available[index] >> agent & 1 == 1) {
                let action = model.action(situation, agent);
                let chances = [action.chance, 1.0 - action.chance];
                let mut sum = Performance::default();
                for (chance, outcome) in chances.into_iter().zip(&action.outcomes) {
                    sum.add(chance, follow(model, outcome, |next| best[next as usize]));
                }
                values[index * count + agent] = sum.value;
                if sum.value > best[index].value {
                    best[index] = sum;
                    agents[index] = agent;
                }
            }
        }
        Self { agents, values }
    }

    /// The exact value of an agent in a situation when the best follows.
    #[must_use]
    pub fn value(&self, model: &Model, situation: u32, agent: usize) -> f64 {
        self.values[situation as usize * model.agents.len() + agent]
    }
}

impl Policy for Optimum {
    fn choices(&self, _: &Model, situation: u32, memory: usize) -> Vec<Choice> {
        vec![Choice { chance: 1.0, agent: self.agents[situation as usize], memory }]
    }
}

impl Performance {
    fn add(&mut self, weight: f64, other: Self) {
        self.success += weight * other.success;
        self.calls += weight * other.calls;
        self.value += weight * other.value;
    }
}

fn follow(model: &Model, outcome: &Outcome, after: impl Fn(u32) -> Performance) -> Performance {
    let (success, rest) = match outcome.next {
        Next::Success => (1.0, Performance::default()),
        Next::Timeout => (0.0, Performance::default()),
        Next::Situation(next) => (0.0, after(next)),
    };
    Performance {
        success: success + rest.success,
        calls: 1.0 + rest.calls,
        value: outcome.reward + model.discount * rest.value,
    }
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
