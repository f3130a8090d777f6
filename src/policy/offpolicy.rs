//! What a table would have reached in sessions that another policy chose.
//!
//! Owns weighted importance sampling: a session counts with the product, over its actions, of the
//! chance with which the table chooses it and the inverse of the chance with which it was chosen. A
//! table chooses its best agent, so a session counts where every action was that. The interval is
//! the linearised one of a ratio, with residuals corrected for the weight that each session has in its
//! own estimate (HC3) and a quantile of Student's t for the effective number of sessions. Failures are
//! rare and long, so that they weigh much where they were chosen and are missing where not: each bound
//! also takes in half of one more session, of the largest weight seen and the worst (or best) value.

use super::experience::{End, Session, available};
use super::file::Trained;

/// An estimate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Sessions that count, in units of one with full weight.
    pub effective: f64,
}

/// How much of one more session the bounds take in. In simulations half of one keeps the coverage of
/// 95 % intervals between 95 and 100 %; without it, it is 66 to 84 %.
const UNSEEN: f64 = 0.5;

/// Fewest effective sessions from which something is estimated.
pub const FEWEST: f64 = 5.0;

/// Estimates the value that the table of `policy` would have reached; `None` with too few sessions
/// that chose as it does.
#[must_use]
pub fn estimate(policy: &Trained, sessions: &[Session]) -> Option<Estimate> {
    let weighted: Vec<(f64, f64)> =
        sessions.iter().filter_map(|session| weigh(policy, session)).collect();
    let total: f64 = weighted.iter().map(|(weight, _)| weight).sum();
    let squares: f64 = weighted.iter().map(|(weight, _)| weight * weight).sum();
    if total <= 0.0 || total * total / squares < FEWEST {
        return None;
    }
    let effective = total * total / squares;
    let value = weighted.iter().map(|(weight, value)| weight * value).sum::<f64>() / total;
    let residual = |(weight, reached): &(f64, f64)| {
        let share = weight / total;
        let corrected = share * (reached - value) / (1.0 - share).max(1e-9);
        corrected * corrected
    };
    let error = weighted.iter().map(residual).sum::<f64>().sqrt();
    let width = student(effective - 1.0) * error;
    let [lowest, highest] = policy.model.value_range;
    let largest = weighted.iter().map(|(weight, _)| *weight).fold(0.0, f64::max);
    let unseen = largest / (total + largest);
    let low = value - width - unseen * (value - lowest).max(0.0) * UNSEEN;
    let high = value + width + unseen * (highest - value).max(0.0) * UNSEEN;
    Some(Estimate { value, low, high, effective })
}

/// Weight and discounted reward of a session; `None` where a person chose, or nothing is known of
/// its end.
fn weigh(policy: &Trained, session: &Session) -> Option<(f64, f64)> {
    if session.end == End::Stopped {
        return None;
    }
    let (mut weight, mut value, mut discount) = (1.0, 0.0, 1.0);
    for step in &session.steps {
        let chance = step.chance?;
        let best = policy.table.best(step.state, available(policy, step.state));
        let is_best = best.is_some_and(|best| best.agent == step.agent);
        weight *= if is_best { 1.0 / chance } else { 0.0 };
        value += discount * step.reward;
        discount *= policy.model.discount;
    }
    Some((weight, value))
}

/// The 97.5 % quantile of Student's t (Cornish and Fisher's expansion; within 1 % from 3 degrees of
/// freedom on).
fn student(freedom: f64) -> f64 {
    const NORMAL: f64 = 1.959_964;
    let (z, n) = (NORMAL, freedom.max(1.0));
    let first = (z.powi(3) + z) / (4.0 * n);
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n);
    let third =
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * n.powi(3));
    z + first + second + third
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt};

    use super::super::exact::evaluate;
    use super::super::experience::Step;
    use super::super::file::tests::trained;
    use super::super::model::Next;
    use super::super::train::{act, generator, start};
    use super::*;

    /// A session of a policy that takes the best agent of `by` in 7 of 10 actions, any otherwise.
    fn session(policy: &Trained, by: &Trained, random: &mut impl Rng) -> Session {
        let model = &policy.model;
        let mut situation = start(model, random);
        let mut steps = Vec::new();
        loop {
            let set = model.available[situation as usize];
            let state = model.state(situation);
            let best = by.table.best(state, set).unwrap().agent;
            let able: Vec<usize> = (0..model.agents.len()).filter(|a| set >> a & 1 == 1).collect();
            let agent = match random.random::<f64>() < 0.7 {
                true => best,
                false => able[random.random_range(0..able.len())],
            };
            let any = 0.3 / able.len() as f64;
            let chance = if agent == best { 0.7 + any } else { any };
            let (reward, next) = act(model, situation, agent, random);
            steps.push(Step { state, agent, reward, chance: Some(chance) });
            match next {
                Next::Situation(next) => situation = next,
                Next::Success => return Session { steps, end: End::Success },
                Next::Timeout => return Session { steps, end: End::Timeout },
            }
        }
    }

    #[test]
    fn the_interval_covers_the_truth_in_93_of_100_simulations() {
        let behaviour = trained("simple", false, 2, 300);
        let mut reports = Vec::new();
        for (policy, count) in
            [(trained("simple", false, 1, 5000), 200), (trained("simple", false, 3, 60), 400)]
        {
            let truth = evaluate(&policy.model, &policy.table).value;
            let (mut covered, mut known) = (0, 0);
            for round in 0..150 {
                let mut random = generator(77, round);
                let sessions: Vec<Session> =
                    (0..count).map(|_| session(&policy, &behaviour, &mut random)).collect();
                if let Some(estimate) = estimate(&policy, &sessions) {
                    known += 1;
                    covered += i32::from(estimate.low <= truth && truth <= estimate.high);
                }
            }
            reports.push((count, truth, covered, known));
        }
        for (count, truth, covered, known) in reports {
            assert!(
                known > 135 && covered * 100 >= known * 93,
                "{count} {truth}: {covered} of {known}"
            );
        }
    }

    #[test]
    fn too_few_sessions_are_not_estimated_from() {
        let policy = trained("simple", false, 1, 500);
        let mut random = generator(1, 1);
        let mut sessions = vec![session(&policy, &policy, &mut random)];
        assert_eq!(estimate(&policy, &sessions), None);
        while sessions.len() < 50 {
            sessions.push(session(&policy, &policy, &mut random));
        }
        assert!(estimate(&policy, &sessions).is_some());
        for session in &mut sessions {
            session.steps[0].chance = None;
        }
        assert_eq!(estimate(&policy, &sessions), None);
    }

    #[test]
    fn quantiles_are_those_of_students_t() {
        for (freedom, quantile) in [(4.0, 2.776), (10.0, 2.228), (30.0, 2.042), (1e6, 1.960)] {
            assert!((student(freedom) - quantile).abs() < 0.02, "{freedom}: {}", student(freedom));
        }
    }
}
