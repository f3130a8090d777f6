//! Why an agent speaks next in a state.
//!
//! Owns the words. Decides nothing.

use std::fmt::Write;

use serde::Serialize;

use super::choice::usual;
use super::experience::available;
use super::file::Trained;
use super::model::{can_act, reason_against};
use super::state::State;
use crate::model::policy::{grouped, state_words};

/// What a table says of an agent in a state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Opinion {
    pub agent: String,
    /// Estimated value; `None` when it was never tried, or cannot act.
    pub value: Option<f64>,
    /// 1.96 standard errors of the average that the value is; `None` when it was tried once only.
    pub spread: Option<f64>,
    pub visits: u64,
    /// Share of the value that is not learned yet.
    pub unlearned: f64,
    /// Why it cannot act.
    pub reason: Option<&'static str>,
}

/// Why an agent is chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    pub state: String,
    pub class: Option<String>,
    /// The choice; `None` when no agent can act.
    pub agent: Option<String>,
    /// Whether nothing is known, so that the usual order decides.
    pub usual: bool,
    /// The state whose values were used, when this one was never visited.
    pub instead: Option<String>,
    pub opinions: Vec<Opinion>,
}

/// Explains the choice in a state.
#[must_use]
pub fn explain(policy: &Trained, state: State) -> Explanation {
    let set = available(policy, state);
    let best = policy.table.best(state, set);
    let from = best.map_or(state, |best| best.from);
    let name = |agent: usize| policy.model.agents[agent].clone();
    let due = || {
        let able: Vec<usize> = (0..policy.model.agents.len())
            .filter(|agent| can_act(policy.role(*agent), state.facts()))
            .collect();
        usual(state.facts(), &able, |agent| Some(policy.role(agent)))
    };
    let mut opinions: Vec<Opinion> = (0..policy.model.agents.len())
        .map(|agent| {
            let entry = policy.table.entry(from, agent);
            let reason = reason_against(policy.role(agent), state.facts());
            let is_known = entry.visits > 0 && reason.is_none();
            Opinion {
                agent: name(agent),
                value: is_known.then_some(entry.estimate),
                spread: (is_known && entry.visits > 1).then(|| 1.96 * entry.standard_error()),
                visits: entry.visits,
                unlearned: entry.estimate_unlearned,
                reason,
            }
        })
        .collect();
    let rank = |opinion: &Opinion| opinion.value.unwrap_or(f64::NEG_INFINITY);
    opinions.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
    Explanation {
        state: state.to_string(),
        class: policy.classes().get(state.class()).map(|class| (*class).to_owned()),
        agent: best.map(|best| best.agent).or_else(due).map(name),
        usual: best.is_none(),
        instead: (from != state).then(|| from.to_string()),
        opinions,
    }
}

impl Explanation {
    /// Several lines for a person: who speaks and why, then every agent.
    #[must_use]
    pub fn text(&self) -> String {
        let class = self.class.as_deref().map_or(String::new(), |class| format!(" ({class} task)"));
        let mut text = format!("State {}{class}: {}.\n", self.state, state_words(&self.state));
        match (&self.agent, &self.instead) {
            (None, _) => text += "It was never visited, and no agent can act.\n",
            (Some(agent), _) if self.usual => {
                let _ = writeln!(
                    text,
                    "It was never visited, nor was a similar one.\n{agent} speaks next, by the usual order."
                );
            }
            (Some(agent), None) => {
                let _ = writeln!(text, "{agent} speaks next: it has the highest value.");
            }
            (Some(agent), Some(instead)) => {
                let _ = writeln!(
                    text,
                    "It was never visited; these are the values of {instead} ({}).\n{agent} speaks \
                     next: it has the highest of them.",
                    state_words(instead)
                );
            }
        }
        let longest = self.opinions.iter().map(|one| one.agent.chars().count()).max();
        let width = longest.unwrap_or(0);
        for opinion in &self.opinions {
            let _ = writeln!(text, "  {:<width$}  {}", opinion.agent, opinion.words());
        }
        text + MEANING
    }
}

/// What the figures are.
const MEANING: &str = "Value: points of reward that a task is still worth when this agent speaks;
±: how far its average may be off by chance. More in `firmhand policy --help`.";

impl Opinion {
    fn words(&self) -> String {
        let visits = grouped(self.visits);
        match (self.value, self.spread, self.reason) {
            (_, _, Some(reason)) => format!("cannot act: {reason}"),
            (Some(value), Some(spread), None) => {
                format!("{value:.2} ± {spread:.2}, tried {visits} times")
            }
            (Some(value), None, None) => format!("{value:.2}, tried once only"),
            (None, _, None) => "never tried".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::trained;
    use super::*;

    #[test]
    fn a_choice_is_explained_with_values_visits_and_reasons() {
        let policy = trained("simple", false, 1, 5000);
        let start = explain(&policy, State::from_index(0));
        assert_eq!(start.agent.as_deref(), Some("coder"));
        let text = start.text();
        assert!(text.contains("coder speaks next: it has the highest value."), "{text}");
        assert!(text.contains("no plan or code, at the start") && text.contains(" ± 0."), "{text}");
        assert!(text.contains("  tester    cannot act: no code yet"), "{text}");
        assert!(text.contains("points of reward"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn one_trial_says_nothing_of_the_spread() {
        let policy = trained("simple", false, 1, 1);
        let start = explain(&policy, State::from_index(0));
        assert_eq!((start.opinions[0].visits, start.opinions[0].spread), (1, None));
        assert!(start.text().contains(", tried once only"), "{}", start.text());
    }

    #[test]
    fn a_state_that_was_never_visited_says_so() {
        let policy = trained("trivial", false, 1, 300);
        let classes = [];
        let late = State::parse("start,3", &classes).unwrap();
        let explained = explain(&policy, late);
        assert!(explained.instead.is_some(), "{explained:?}");
        assert!(explained.text().contains("never visited; these are the values of"));
        let unknown = explain(&trained("simple", false, 1, 0), late);
        assert_eq!((unknown.agent.as_deref(), unknown.usual), (Some("planner"), true));
        assert!(unknown.text().contains("never visited, nor was a similar one"));
        let failed = State::parse("plan,code,error,1", &classes).unwrap();
        let unknown = explain(&trained("simple", false, 1, 0), failed);
        assert_eq!(unknown.agent.as_deref(), Some("debugger"));
        assert!(unknown.text().contains("coder     never tried"), "{}", unknown.text());
    }
}
