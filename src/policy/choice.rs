//! Who speaks next in a run, by a table as sessions record it.
//!
//! Owns the choice from recorded values: it needs the table, what is seen of the run and a number,
//! so that a run that goes on chooses as it would have. Simulated training chooses in `train.rs`.

use rand::RngExt;

use crate::model::{
    AgentName, AgentValue, ChosenHow, PolicyAgent, PolicyChoice, PolicyRow, PolicyTable,
    PolicyValue, UserError,
};

use super::file::Trained;
use super::model::{can_act, reason_against};
use super::process::Role;
use super::state::{BUCKETS, Facts, State, bucket};
use super::train::generator;

/// Share of choices that are drawn among the agents that may still be the best. A run costs more than
/// a simulated task; where one agent is separated from all others, nothing is drawn.
const EXPLORED: f64 = 0.1;

/// Halves of 95 % intervals by which values must be apart for the lower one not to be tried: about
/// three standard errors of each, as in training.
const SEPARATED: f64 = 1.5;

/// What is seen of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    pub facts: Facts,
    pub actions: u32,
    /// The class of the task, where one was found.
    pub class: Option<String>,
}

/// The table of a policy, as sessions record it.
///
/// # Errors
/// When a value cannot be written.
pub fn snapshot(policy: &Trained) -> Result<PolicyTable, UserError> {
    let classes: Vec<String> = policy.classes().into_iter().map(str::to_owned).collect();
    let agents = policy.origin.process.agents.iter();
    let agents = agents
        .map(|agent| PolicyAgent { name: AgentName::from(agent.name.as_str()), role: agent.role });
    let row = |state: State| {
        let columns = 0..policy.table.agents();
        let values: Vec<Option<PolicyValue>> =
            columns.map(|agent| policy.table.known(state, agent)).collect();
        let class = classes.get(state.class()).cloned();
        let is_known = values.iter().any(Option::is_some);
        is_known.then(|| PolicyRow { class, state: state.to_string(), values })
    };
    Ok(PolicyTable {
        team: policy.origin.team.clone(),
        hash: policy.hash()?,
        seed: policy.origin.seed.clone(),
        episodes: policy.origin.episodes,
        sessions: policy.origin.sessions,
        buckets: policy.origin.process.buckets,
        agents: agents.collect(),
        rows: (0..policy.table.states()).map(State::from_index).filter_map(row).collect(),
        classes,
    })
}

/// Who speaks next; `number` differs from choice to choice. `None` when no agent can act.
#[must_use]
pub fn choose(
    table: &PolicyTable,
    seen: &Observed,
    number: u64,
) -> Option<(AgentName, PolicyChoice)> {
    let looked = Looked::at(table, seen);
    let able = looked.able();
    let Some((_, row)) = looked.row else {
        let role = |agent: usize| table.agents.get(agent).map(|it| it.role);
        let first = usual(seen.facts, &able, role)?;
        let agent = table.agents.get(first)?.name.clone();
        return Some((agent, looked.choice(ChosenHow::Unknown, Some(1.0))));
    };
    let known = able.iter().filter_map(|agent| Some((*agent, (*row.values.get(*agent)?)?)));
    let known: Vec<(usize, PolicyValue)> = known.collect();
    let (best, top) =
        *known.iter().reduce(|one, other| if other.1.value > one.1.value { other } else { one })?;
    // One try tells nothing of how far it is off.
    let reach = |value: &PolicyValue| match value.visits {
        0 | 1 => f64::INFINITY,
        _ => SEPARATED * value.spread,
    };
    let floor = top.value - reach(&top);
    let may_be_best = |agent: &usize| match row.values.get(*agent) {
        Some(Some(value)) => *agent == best || value.value + reach(value) >= floor,
        Some(None) | None => true,
    };
    let candidates: Vec<usize> = able.iter().copied().filter(may_be_best).collect();
    let mut random = generator(table.seed.parse().unwrap_or_default(), number);
    let mut chosen = best;
    let mut chance = 1.0;
    if candidates.len() > 1 {
        let share = EXPLORED / candidates.len() as f64;
        if random.random::<f64>() < EXPLORED {
            let place = random.random_range(0..candidates.len());
            chosen = candidates.get(place).copied().unwrap_or(best);
        }
        let exact = if chosen == best { 1.0 - EXPLORED + share } else { share };
        // So few digits are read again exactly as they were written.
        chance = (exact * 1e4).round() / 1e4;
    }
    let how = if chosen == best { ChosenHow::Best } else { ChosenHow::Explored };
    let agent = table.agents.get(chosen)?.name.clone();
    Some((agent, looked.choice(how, Some(chance))))
}

/// Who speaks where nothing is known: who can do what is due, in the order plan, code, test, fix.
pub(super) fn usual(
    facts: Facts,
    able: &[usize],
    role: impl Fn(usize) -> Option<Role>,
) -> Option<usize> {
    let due = match facts {
        Facts { has_error: true, .. } => Role::Fix,
        Facts { has_code: true, .. } => Role::Test,
        Facts { has_plan: true, .. } => Role::Code,
        _ => Role::Plan,
    };
    let is_due = |agent: &&usize| role(**agent) == Some(due);
    able.iter().find(is_due).or_else(|| able.first()).copied()
}

/// What a table says where the person names the speaker.
#[must_use]
pub fn overruled(table: &PolicyTable, seen: &Observed) -> PolicyChoice {
    Looked::at(table, seen).choice(ChosenHow::Person, None)
}

/// A state with the row whose values are used.
struct Looked<'a> {
    table: &'a PolicyTable,
    state: State,
    class: Option<String>,
    row: Option<(State, &'a PolicyRow)>,
}

impl<'a> Looked<'a> {
    fn at(table: &'a PolicyTable, seen: &Observed) -> Self {
        let state = State::new(seen.facts, bucket(&table.buckets, seen.actions), 0);
        let class = match table.classes.as_slice() {
            [] => None,
            [first, ..] => {
                let known = seen.class.as_ref().filter(|class| table.classes.contains(class));
                Some(known.unwrap_or(first).clone())
            }
        };
        let mut looked = Self { table, state, class, row: None };
        let able = looked.able();
        let mut buckets: Vec<usize> = (0..BUCKETS).collect();
        buckets.sort_by_key(|other| (other.abs_diff(state.bucket()), *other));
        looked.row = buckets.into_iter().find_map(|bucket| {
            let state = state.in_bucket(bucket);
            let words = state.to_string();
            let row = table.rows.iter().find(|row| row.state == words && row.class == looked.class);
            let is_known = |row: &&PolicyRow| {
                able.iter().any(|agent| row.values.get(*agent).is_some_and(Option::is_some))
            };
            Some((state, row.filter(is_known)?))
        });
        looked
    }

    /// Numbers of the agents that can act.
    fn able(&self) -> Vec<usize> {
        let facts = self.state.facts();
        let agents = self.table.agents.iter().enumerate();
        agents.filter(|(_, agent)| can_act(agent.role, facts)).map(|(number, _)| number).collect()
    }

    fn choice(&self, how: ChosenHow, chance: Option<f64>) -> PolicyChoice {
        let agents = self.table.agents.iter().enumerate();
        let mut values: Vec<AgentValue> = agents
            .map(|(number, agent)| {
                let reason = reason_against(agent.role, self.state.facts()).map(str::to_owned);
                let known = self.row.and_then(|(_, row)| *row.values.get(number)?);
                let known = known.filter(|_| reason.is_none());
                AgentValue {
                    agent: agent.name.clone(),
                    value: known.map(|known| known.value),
                    spread: known.map(|known| known.spread),
                    visits: known.map_or(0, |known| known.visits),
                    reason,
                }
            })
            .collect();
        let rank = |value: &AgentValue| value.value.unwrap_or(f64::NEG_INFINITY);
        values.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
        let from = self.row.map(|(state, _)| state).filter(|from| *from != self.state);
        PolicyChoice {
            table: self.table.hash.clone(),
            state: self.state.to_string(),
            class: self.class.clone(),
            instead: from.map(|state| state.to_string()),
            how,
            chance,
            values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::trained;
    use super::*;

    fn table(episodes: u64) -> PolicyTable {
        snapshot(&trained("simple", false, 1, episodes)).unwrap()
    }

    fn seen(code: bool, error: bool, actions: u32) -> Observed {
        let facts = Facts { has_code: code, has_error: error, ..Facts::default() };
        Observed { facts, actions, class: None }
    }

    #[test]
    fn a_recorded_table_chooses_as_the_policy_does_and_the_same_after_it_was_read_again() {
        let policy = trained("simple", false, 1, 5000);
        let table = snapshot(&policy).unwrap();
        let text = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<PolicyTable>(&text).unwrap(), table);
        assert!(text.len() < 20_000, "{} bytes", text.len());
        for (seen, agent) in [
            (seen(false, false, 0), "coder"),
            (seen(true, false, 1), "tester"),
            (seen(true, true, 2), "debugger"),
            (seen(true, false, 3), "tester"),
        ] {
            let (chosen, choice) = choose(&table, &seen, 7).unwrap();
            assert_eq!(chosen.as_str(), agent, "{}", choice.line(&chosen));
            assert_eq!((choice.how, choice.chance), (ChosenHow::Best, Some(1.0)), "{choice:?}");
            let state = State::parse(&choice.state, &[]).unwrap();
            let explained = super::super::explain(&policy, state);
            assert_eq!(explained.agent.as_deref(), Some(agent));
        }
    }

    #[test]
    fn an_unseparated_agent_is_drawn_now_and_then_with_its_chance() {
        let mut table = table(5000);
        let row = table.rows.iter_mut().find(|row| row.state == "start,0").unwrap();
        row.values[0] =
            row.values[1].map(|coder| PolicyValue { value: coder.value - 0.01, ..coder });
        let start = seen(false, false, 0);
        let drawn: Vec<_> = (0..2000).map(|n| choose(&table, &start, n).unwrap()).collect();
        let explored = drawn
            .iter()
            .filter(|(_, choice)| choice.how == ChosenHow::Explored)
            .collect::<Vec<_>>();
        assert!((50..150).contains(&explored.len()), "{}", explored.len());
        assert!(explored.iter().all(|(_, choice)| choice.chance == Some(0.05)));
        assert_eq!(choose(&table, &start, 5), choose(&table, &start, 5));
        let best = drawn.iter().find(|(_, choice)| choice.how == ChosenHow::Best).unwrap();
        assert_eq!(best.1.chance, Some(0.95));
    }

    #[test]
    fn a_state_that_was_never_visited_is_chosen_as_a_similar_one_and_says_so() {
        let mut table = table(5000);
        table.rows.retain(|row| row.state == "code,1");
        let (agent, choice) = choose(&table, &seen(true, false, 9), 1).unwrap();
        assert_eq!((agent.as_str(), choice.instead.as_deref()), ("tester", Some("code,1")));
        let (agent, choice) = choose(&table, &seen(false, false, 0), 1).unwrap();
        assert_eq!((agent.as_str(), choice.how), ("planner", ChosenHow::Unknown));
        let line = choice.line(&agent);
        assert!(line.contains("nothing is known"), "{line}");
    }

    #[test]
    fn each_class_has_its_own_values_and_a_person_overrules() {
        let table = snapshot(&trained("mixed", true, 1, 5000)).unwrap();
        let of = |class: &str| Observed { class: Some(class.to_owned()), ..seen(false, false, 0) };
        assert_eq!(choose(&table, &of("complex"), 1).unwrap().0.as_str(), "planner");
        assert_eq!(choose(&table, &of("trivial"), 1).unwrap().0.as_str(), "coder");
        let choice = overruled(&table, &of("trivial"));
        assert_eq!((choice.how, choice.chance), (ChosenHow::Person, None));
        assert_eq!(choice.values[0].agent.as_str(), "coder");
    }
}
