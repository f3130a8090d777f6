//! Policies that learn nothing: at random, in turn, and fixed pipelines.
//!
//! Owns what a learned policy is compared with. An agent that cannot act is skipped.

use super::exact::{Choice, Performance, Policy, evaluate};
use super::file::Trained;
use super::model::Model;
use super::process::Role;

/// Every agent that can act, with the same chance.
#[derive(Debug, Clone, Copy)]
pub struct Random;

impl Policy for Random {
    fn choices(&self, model: &Model, situation: u32, memory: usize) -> Vec<Choice> {
        let available = model.available[situation as usize];
        let chance = 1.0 / f64::from(available.count_ones().max(1));
        let can_act = |agent: &usize| available >> agent & 1 == 1;
        let agents = (0..model.agents.len()).filter(can_act);
        agents.map(|agent| Choice { chance, agent, memory }).collect()
    }
}

/// The agents of a list in order, again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    agents: Vec<usize>,
    start: PipelineStart,
}

/// Where a pipeline begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PipelineStart {
    First,
    /// Each place with the same chance: where the task before ended.
    Anywhere,
}

impl Pipeline {
    /// A pipeline of these agents, which begins with the first.
    #[must_use]
    pub const fn new(agents: Vec<usize>) -> Self {
        Self { agents, start: PipelineStart::First }
    }

    /// All agents of a team in turn; a task begins with the agent after the last of the task before.
    #[must_use]
    pub fn round_robin(model: &Model) -> Self {
        Self { agents: (0..model.agents.len()).collect(), start: PipelineStart::Anywhere }
    }

    /// Its agents' names.
    #[must_use]
    pub fn words(&self, model: &Model) -> String {
        let names: Vec<&str> =
            self.agents.iter().map(|agent| model.agents[*agent].as_str()).collect();
        names.join(" → ")
    }
}

impl Policy for Pipeline {
    fn memories(&self) -> usize {
        self.agents.len()
    }

    fn starts(&self) -> Vec<(f64, usize)> {
        match self.start {
            PipelineStart::First => vec![(1.0, 0)],
            PipelineStart::Anywhere => {
                let chance = 1.0 / f64::from(u32::try_from(self.agents.len()).unwrap_or(1));
                (0..self.agents.len()).map(|place| (chance, place)).collect()
            }
        }
    }

    fn choices(&self, model: &Model, situation: u32, memory: usize) -> Vec<Choice> {
        let available = model.available[situation as usize];
        let count = self.agents.len();
        let mut places = (0..count).map(|step| (memory + step) % count);
        let place = places.find(|place| available >> self.agents[*place] & 1 == 1);
        // Where none can act, the agent that is due is called without effect.
        let place = place.unwrap_or(memory);
        vec![Choice { chance: 1.0, agent: self.agents[place], memory: (place + 1) % count }]
    }
}

/// Length of the pipelines that are searched, at most.
pub const LONGEST: u32 = 4;

/// The pipeline with the highest value of all of up to [`LONGEST`] agents, and what it reaches: the
/// baseline "best single fixed pipeline". Agents of one role do the same in the simulation, so that the
/// first of each role stands for all of it, and teams of any size are searched completely.
#[must_use]
pub fn best_pipeline(policy: &Trained) -> (Pipeline, Performance) {
    let model = &policy.model;
    let roles: Vec<Role> = (0..model.agents.len()).map(|agent| policy.role(agent)).collect();
    let first = |agent: &usize| !roles[..*agent].contains(&roles[*agent]);
    let agents_searched: Vec<usize> = (0..roles.len()).filter(first).collect();
    let count = agents_searched.len();
    let mut best = (Pipeline::round_robin(model), Performance::default());
    best.1.value = f64::NEG_INFINITY;
    for length in 1..=LONGEST {
        for number in 0..count.pow(length) {
            let mut rest = number;
            let mut agents = Vec::new();
            for _ in 0..length {
                agents.push(agents_searched[rest % count]);
                rest /= count;
            }
            // One whose first agent cannot begin is a rotation of another.
            let begins =
                |(_, start): &(f64, u32)| model.available[*start as usize] >> agents[0] & 1;
            if model.starts.first().map(begins) != Some(1) {
                continue;
            }
            let pipeline = Pipeline::new(agents);
            let reached = evaluate(model, &pipeline);
            if reached.value > best.1.value {
                best = (pipeline, reached);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::trained;
    use super::super::process::Agent;
    use super::*;

    #[test]
    fn the_best_pipeline_of_a_large_team_is_that_of_its_roles() {
        let small = trained("simple", false, 1, 0);
        let mut large = small.clone();
        for number in 0..8 {
            let name = format!("helper{number}");
            large.origin.process.agents.push(Agent { name, role: Role::Other });
        }
        let large = Trained::new(large.origin).unwrap();
        let (best, reached) = best_pipeline(&large);
        assert_eq!(best.words(&large.model), "coder → tester → debugger → tester");
        let (same, value) = best_pipeline(&small);
        assert_eq!((same, value.value), (best, reached.value));
    }
}
