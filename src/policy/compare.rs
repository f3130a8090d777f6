//! A learned policy next to others, and to the best that is possible.
//!
//! Owns which policies are compared, and what is reported of each. Success, calls and value are exact;
//! the interval says how far the mean of simulated tasks is from the value: the 95 % interval of the
//! bootstrap over so many simulated tasks, around the exact value.

use rand::{Rng, RngExt};
use serde::Serialize;

use super::baselines::{LONGEST, Pipeline, Random, best_pipeline};
use super::exact::{Optimum, Performance, Policy, evaluate};
use super::file::Trained;
use super::model::{ClassFeature, Model, Next};
use super::process::Role;
use super::selector::RecordedSelector;
use super::table::Table;
use super::train::{Trainer, act, generator, start};

/// Means that the bootstrap draws.
const RESAMPLES: usize = 400;

/// Tasks that are simulated for an interval, at most.
const MOST_TASKS: u64 = 20_000;

/// One policy of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub name: String,
    pub success: f64,
    pub calls: f64,
    pub value: f64,
    pub interval: [f64; 2],
    /// The exact optimum of its own tasks, where these are others than those of the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimum: Option<f64>,
}

/// Agent calls for five small tasks whose recorded answers were really run; `None`: they could not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct FiveTasks {
    pub learned: Option<u32>,
    pub fixed: Option<u32>,
}

/// A comparison, as `--json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub policies: Vec<Row>,
    pub optimum: f64,
    pub five_tasks: FiveTasks,
    pub episodes_per_second: f64,
}

/// Compares a policy with the others, and with the `saved` one if there is one; `episodes` tasks are
/// simulated for each interval. The `selector` is left out where it names agents that the team lacks.
///
/// # Errors
/// When the policy's tasks do not exist.
pub fn compare(
    policy: &Trained,
    saved: Option<&Trained>,
    episodes: u64,
    episodes_per_second: f64,
    five_tasks: FiveTasks,
    selector: &RecordedSelector,
) -> Result<Comparison, crate::model::UserError> {
    let model = &policy.model;
    let optimum = Optimum::solve(model);
    let seed = policy.origin.seed_number();
    let rows = Rows { model, seed, tasks: episodes.clamp(1, MOST_TASKS) };
    let (best, _) = best_pipeline(policy);
    let mut policies = vec![rows.row("learned", &policy.table)];
    policies.extend(saved.map(|saved| rows.saved(policy, saved)));
    if policy.origin.knows_classes {
        let (blind_model, blind) = without_classes(policy)?;
        let blind_rows = Rows { model: &blind_model, ..rows };
        policies.push(blind_rows.row("learned without classes", &blind));
    }
    policies.push(rows.row("optimum", &optimum));
    policies.push(
        rows.row(&format!("best fixed pipeline of up to {LONGEST}: {}", best.words(model)), &best),
    );
    let fixed = source_pipeline(policy);
    policies.push(rows.row(&format!("fixed pipeline: {}", fixed.words(model)), &fixed));
    if let Some(selector) = selector.of(policy) {
        policies.push(rows.row("model selector (recorded)", &selector));
    }
    policies.push(rows.row("round robin", &Pipeline::round_robin(model)));
    policies.push(rows.row("random", &Random));
    let optimum = evaluate(model, &optimum).value;
    Ok(Comparison { policies, optimum, five_tasks, episodes_per_second })
}

/// The same training with states that do not hold the class.
fn without_classes(policy: &Trained) -> Result<(Model, Table), crate::model::UserError> {
    let origin = &policy.origin;
    let model = Model::new(&origin.process, &origin.tasks, ClassFeature::Off)?;
    let mut table = Table::new(&model, origin.process.learning.rate);
    Trainer::new(&model, origin.seed_number(), 0).train(&mut table, origin.episodes);
    Ok((model, table))
}

/// One agent of each role in the usual order.
fn source_pipeline(policy: &Trained) -> Pipeline {
    let of = |role| (0..policy.model.agents.len()).find(|agent| policy.role(*agent) == role);
    Pipeline::new(
        [Role::Plan, Role::Code, Role::Test, Role::Fix].into_iter().filter_map(of).collect(),
    )
}

#[derive(Clone, Copy)]
struct Rows<'a> {
    model: &'a Model,
    seed: u64,
    tasks: u64,
}

impl Rows<'_> {
    fn row(&self, name: &str, policy: &dyn Policy) -> Row {
        let Performance { success, calls, value } = evaluate(self.model, policy);
        let reached: Vec<f64> = (0..self.tasks)
            .map(|task| simulate(self.model, policy, &mut generator(!self.seed, task)))
            .collect();
        let [low, high] = bootstrap(&reached, &mut generator(self.seed, u64::MAX));
        let interval = [value + low, value + high];
        Row { name: name.to_owned(), success, calls, value, interval, optimum: None }
    }

    /// The saved table, in the work that it was trained for.
    fn saved(&self, compared: &Trained, saved: &Trained) -> Row {
        let is_same = saved.origin.tasks == compared.origin.tasks
            && saved.origin.process.is_same_work(&compared.origin.process);
        if is_same {
            return self.row("saved", &saved.table);
        }
        let own = Rows { model: &saved.model, ..*self };
        let optimum = evaluate(&saved.model, &Optimum::solve(&saved.model)).value;
        Row { optimum: Some(optimum), ..own.row("saved", &saved.table) }
    }
}

/// Discounted reward of one simulated task.
pub fn simulate(model: &Model, policy: &dyn Policy, random: &mut impl Rng) -> f64 {
    let mut situation = start(model, random);
    let mut memory =
        pick(policy.starts().iter().map(|(chance, memory)| (*chance, *memory)), random);
    let (mut value, mut discount) = (0.0, 1.0);
    loop {
        let choices = policy.choices(model, situation, memory);
        let place = pick(choices.iter().enumerate().map(|(place, c)| (c.chance, place)), random);
        let (reward, next) = act(model, situation, choices[place].agent, random);
        memory = choices[place].memory;
        value += discount * reward;
        discount *= model.discount;
        match next {
            Next::Situation(next) => situation = next,
            Next::Success | Next::Timeout => return value,
        }
    }
}

fn pick(options: impl Iterator<Item = (f64, usize)>, random: &mut impl Rng) -> usize {
    let mut left: f64 = random.random();
    let mut last = 0;
    for (chance, option) in options {
        last = option;
        left -= chance;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// The 2.5 % and 97.5 % quantiles of how far a resampled mean is from the mean.
fn bootstrap(values: &[f64], random: &mut impl Rng) -> [f64; 2] {
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let sum: f64 = (0..count).map(|_| values[random.random_range(0..count)]).sum();
            sum / count as f64 - mean
        })
        .collect();
    means.sort_by(f64::total_cmp);
    [means[RESAMPLES / 40].min(0.0), means[RESAMPLES - 1 - RESAMPLES / 40].max(0.0)]
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::trained;
    use super::*;

    fn distance(tasks: &str, knows_classes: bool, seed: u64) -> (f64, Performance, Trained) {
        let policy = trained(tasks, knows_classes, seed, 5000);
        let reached = evaluate(&policy.model, &policy.table);
        let best = evaluate(&policy.model, &Optimum::solve(&policy.model)).value;
        (1.0 - reached.value / best, reached, policy)
    }

    #[test]
    fn every_one_of_twenty_seeds_comes_within_one_percent_of_the_optimum() {
        for (tasks, knows_classes) in [("simple", false), ("trivial", false), ("mixed", true)] {
            let mut distances = Vec::new();
            for seed in 1..=20 {
                let (distance, reached, _) = distance(tasks, knows_classes, seed);
                assert!(distance <= 0.01, "{tasks}, seed {seed}: {distance}");
                assert!(reached.success >= 0.97, "{tasks}, seed {seed}: {reached:?}");
                distances.push(distance);
            }
            distances.sort_by(f64::total_cmp);
            println!("{tasks}: median {:.5}, worst {:.5}", distances[10], distances[19]);
        }
    }

    #[test]
    fn complex_tasks_alone_are_planned_first_and_the_class_helps() {
        for seed in 1..=20 {
            let (_, reached, policy) = distance("mixed", true, seed);
            let first = |class: usize| {
                let (_, start) = policy.model.starts[class];
                let set = policy.model.available[start as usize];
                policy.table.best(policy.model.state(start), set).unwrap().agent
            };
            let complex = policy.classes().iter().position(|class| *class == "complex").unwrap();
            assert_eq!(first(complex), 0, "seed {seed}");
            let (blind_model, blind) = without_classes(&policy).unwrap();
            assert!(reached.value > evaluate(&blind_model, &blind).value, "seed {seed}");
            assert!(reached.value > best_pipeline(&policy).1.value, "seed {seed}");
        }
    }

    #[test]
    fn a_comparison_holds_every_policy_with_its_interval_and_none_is_above_the_optimum() {
        let policy = trained("mixed", true, 3, 2000);
        let selector = include_str!("../../assets/policy/selector.toml");
        let selector = RecordedSelector::parse("selector.toml", selector).unwrap();
        let comparison = compare(
            &policy,
            None,
            1000,
            1.0,
            FiveTasks { learned: Some(10), fixed: Some(23) },
            &selector,
        )
        .unwrap();
        let names: Vec<&str> = comparison.policies.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names.len(), 8, "{names:?}");
        assert!(names.contains(&"model selector (recorded)"), "{names:?}");
        for row in &comparison.policies {
            assert!(row.value <= comparison.optimum + 1e-9, "{row:?}");
            assert!(row.interval[0] < row.value && row.value < row.interval[1], "{row:?}");
            assert!((0.0..=1.0).contains(&row.success) && row.calls >= 2.0, "{row:?}");
        }
        let json = serde_json::to_value(&comparison).unwrap();
        let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 4, "{keys:?}");
        assert_eq!(json["five_tasks"]["fixed"], 23);
    }

    #[test]
    fn the_saved_table_is_compared_with_the_optimum_of_its_own_tasks() {
        let policy = trained("simple", false, 3, 2000);
        let selector = include_str!("../../assets/policy/selector.toml");
        let selector = RecordedSelector::parse("selector.toml", selector).unwrap();
        let compared = |saved: &Trained| {
            let five = FiveTasks::default();
            compare(&policy, Some(saved), 100, 1.0, five, &selector).unwrap()
        };
        let mut weak = trained("simple", false, 5, 10);
        weak.origin.process.reward.rejection = -1.0;
        let comparison = compared(&weak);
        let row = &comparison.policies[1];
        assert_eq!((row.name.as_str(), row.optimum), ("saved", None));
        assert!((row.value - evaluate(&policy.model, &weak.table).value).abs() < 1e-12);
        assert!(row.value < 0.95 * comparison.optimum, "{row:?}");
        let mixed = compared(&trained("mixed", true, 1, 3000));
        let (value, optimum) = (mixed.policies[1].value, mixed.policies[1].optimum.unwrap());
        assert!(optimum != mixed.optimum && value > 0.97 * optimum && value <= optimum);
        let json = serde_json::to_value(&comparison).unwrap();
        assert!(json["policies"][1].get("optimum").is_none(), "{json}");
    }

    #[test]
    fn exact_values_agree_with_simulated_means() {
        let policy = trained("simple", false, 4, 5000);
        let model = &policy.model;
        let round_robin = Pipeline::round_robin(model);
        for compared in [&policy.table as &dyn Policy, &Random, &round_robin] {
            let tasks = 40_000_u32;
            let sum: f64 = (0..tasks)
                .map(|task| simulate(model, compared, &mut generator(9, u64::from(task))))
                .sum();
            let mean = sum / f64::from(tasks);
            let exact = evaluate(model, compared).value;
            assert!((mean - exact).abs() < 0.1, "{mean} {exact}");
        }
    }

    #[test]
    fn a_team_of_twelve_learns_too() {
        let mut policy = trained("simple", false, 1, 0);
        for number in 0..8 {
            let agent =
                super::super::process::Agent { name: format!("a{number}"), role: Role::Other };
            policy.origin.process.agents.push(agent);
        }
        let mut policy = Trained::new(policy.origin).unwrap();
        Trainer::new(&policy.model, 1, 0).train(&mut policy.table, 20_000);
        assert_eq!(policy.table.agents(), 12);
        let best = evaluate(&policy.model, &Optimum::solve(&policy.model)).value;
        let reached = evaluate(&policy.model, &policy.table);
        assert!(reached.value > 0.98 * best, "{reached:?} {best}");
    }
}
