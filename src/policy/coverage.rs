//! How often the interval of an estimate holds the truth, and how often a worse table is taken.
//!
//! Owns a measurement of exactly what `firmhand policy learn` does, over many rounds of simulated
//! sessions: a new table learned from one half of them, and judged by the other half. What a table
//! really reaches in that work is calculated exactly. The long form prints each line below:
//!
//! ```text
//! cargo test --release --lib policy::coverage -- --ignored --nocapture
//! ```

pub(super) mod tests {
    use rand::{Rng, RngExt};

    use super::super::exact::evaluate;
    use super::super::experience::{End, Session, Step};
    use super::super::file::Trained;
    use super::super::file::tests::trained;
    use super::super::model::{Model, Next};
    use super::super::revision::{Judgement, revise};
    use super::super::train::{act, generator, start};

    /// One kind of rounds.
    struct Rounds {
        /// What the sessions are about; the present table is trained on simple tasks otherwise.
        work: &'static str,
        /// Simulated tasks that the present table was trained on; of several, each in turn.
        episodes: &'static [u64],
        /// Share of choices of the sessions that are made at random.
        random: f64,
        sessions: u64,
        rounds: u64,
    }

    /// What came out: counts, and the mean width of the interval of the new table.
    #[derive(Debug, Default)]
    struct Outcome {
        known: u64,
        covered: u64,
        present_known: u64,
        present_covered: u64,
        width: f64,
        taken: u64,
        /// New tables that were taken and are worse, or worse by more than 1 %.
        worse: u64,
        much_worse: u64,
        /// New tables that are better, and those of them that were taken.
        better: u64,
        better_taken: u64,
    }

    /// The simulated work of these tasks.
    pub fn model_of(tasks: &str) -> Model {
        trained(tasks, tasks == "mixed", 1, 0).model
    }

    /// A session in the work of `model`, of a policy that takes any agent in a share of its actions, and
    /// the best of `by` otherwise.
    pub fn session(model: &Model, by: &Trained, share: f64, random: &mut impl Rng) -> Session {
        let mut situation = start(model, random);
        let mut steps = Vec::new();
        loop {
            let set = model.available[situation as usize];
            let state = model.state(situation);
            let best =
                by.table.best(state, set).map_or(set.trailing_zeros() as usize, |it| it.agent);
            let able: Vec<usize> = (0..model.agents.len()).filter(|a| set >> a & 1 == 1).collect();
            let agent = match random.random::<f64>() < share {
                true => able[random.random_range(0..able.len())],
                false => best,
            };
            let any = share / able.len() as f64;
            let chance = if agent == best { 1.0 - share + any } else { any };
            let (reward, next) = act(model, situation, agent, random);
            steps.push(Step { state, agent, reward, chance: Some(chance) });
            match next {
                Next::Situation(next) => situation = next,
                Next::Success => return Session { steps, end: End::Success },
                Next::Timeout => return Session { steps, end: End::Timeout },
            }
        }
    }

    fn measure(of: &Rounds) -> Outcome {
        let tasks = if of.work == "mixed" { "mixed" } else { "simple" };
        let model = model_of(of.work);
        let mut outcome = Outcome::default();
        for round in 0..of.rounds {
            let episodes = of.episodes[round as usize % of.episodes.len()];
            let present = trained(tasks, tasks == "mixed", round, episodes);
            let mut random = generator(4242, round);
            let mut sessions = || -> Vec<Session> {
                (0..of.sessions / 2)
                    .map(|_| session(&model, &present, of.random, &mut random))
                    .collect()
            };
            let (lessons, judges) = (sessions(), sessions());
            let revision = revise(&present, &lessons, &judges, 10);
            let before = evaluate(&model, &present.table).value;
            let after = evaluate(&model, &revision.new.table).value;
            if let Some(estimate) = revision.before {
                outcome.present_known += 1;
                let holds = estimate.low <= before && before <= estimate.high;
                outcome.present_covered += u64::from(holds);
            }
            if let Some(estimate) = revision.after {
                outcome.known += 1;
                outcome.covered += u64::from(estimate.low <= after && after <= estimate.high);
                outcome.width += estimate.high - estimate.low;
            }
            let is_taken = revision.judgement == Judgement::NoWorse;
            let is_better = after > before + 1e-9;
            outcome.taken += u64::from(is_taken);
            outcome.worse += u64::from(is_taken && after < before - 1e-9);
            outcome.much_worse += u64::from(is_taken && after < before - 0.01 * before.abs());
            outcome.better += u64::from(is_better);
            outcome.better_taken += u64::from(is_better && is_taken);
        }
        outcome
    }

    #[test]
    fn the_interval_of_a_new_table_covers_the_truth_in_93_of_100_rounds_and_no_worse_one_is_taken()
    {
        for (episodes, sessions) in [(&[60][..], 400), (&[60], 100), (&[5000], 200)] {
            let rounds = 60;
            let outcome =
                measure(&Rounds { work: "simple", episodes, random: 0.3, sessions, rounds });
            assert!(outcome.known >= 40, "{outcome:?}");
            assert!(outcome.covered * 100 >= outcome.known * 93, "{episodes:?}: {outcome:?}");
            let present = (outcome.present_covered, outcome.present_known);
            assert!(present.0 * 100 >= present.1 * 93, "{episodes:?}: {outcome:?}");
            assert!(outcome.much_worse == 0 && outcome.worse <= 1, "{episodes:?}: {outcome:?}");
        }
    }

    #[test]
    #[ignore = "a measurement of some minutes, which prints what it finds"]
    fn coverage_over_many_rounds() {
        for (work, episodes, random, sessions) in [
            ("simple", &[60][..], 0.3, 400),
            ("simple", &[60], 0.3, 100),
            ("simple", &[20], 0.3, 400),
            ("simple", &[300], 0.3, 400),
            ("simple", &[5000], 0.3, 400),
            ("simple", &[20, 60, 300, 5000], 0.3, 400),
            ("simple", &[60], 0.1, 400),
            ("mixed", &[60], 0.3, 400),
            ("mixed", &[5000], 0.3, 400),
            ("complex", &[60], 0.3, 400),
            ("complex", &[5000], 0.3, 400),
        ] {
            let found = measure(&Rounds { work, episodes, random, sessions, rounds: 1000 });
            let share = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
            println!(
                "{work} work, tables of {episodes:?} tasks, {random} at random, {sessions} sessions: \
                 {:.1} % of {} new tables (width {:.2}), {:.1} % of {} present ones; {} taken, {} of them \
                 worse, {} by more than 1 %; {} of {} better ones taken",
                share(found.covered, found.known),
                found.known,
                found.width / found.known.max(1) as f64,
                share(found.present_covered, found.present_known),
                found.present_known,
                found.taken,
                found.worse,
                found.much_worse,
                found.better_taken,
                found.better,
            );
        }
    }
}
