//! What a table would have reached in sessions that another policy chose.
//!
//! Owns a stratified importance sampling. Sessions are followed as long as they chose what the table
//! chooses, and count with the inverse chance of each choice. At each place, sessions in the same state
//! form a group, and those of it that go on as the table chooses stand for the whole group: their
//! weights are scaled to sum up to its weight. Without groups, a table that acts badly where few
//! sessions follow it loses these, and is judged by tasks that went well.
//!
//! The interval is a bootstrap with random weights (Dirichlet), in which bounds also reckon with what
//! no session shows. One more session of the worst (or best) value takes part, as in the bound of
//! Learned-Miller and Thomas (2019); in each group one more follower of the worst (or best) value
//! counts [`UNSEEN`] times the share that left; and a group that none follows has that value at all.
//!
//! A difference of two tables follows both through the same sessions. As long as both choose the same,
//! what is not known is the same for both and cancels; from where they part, it is the worst for the
//! one and the best for the other.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};

use super::experience::{End, Session, available};
use super::file::Trained;
use super::state::State;
use super::train::generator;

/// An estimate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// Sessions that count to their end, in units of one with full weight.
    pub effective: f64,
}

/// Weight of the unseen follower of a group, per share of the group that left. Found by simulation
/// (`cargo test --release --lib policy::coverage -- --ignored --nocapture`): with 0 the interval covers
/// 81 to 97 %, with 1 nearly always and is half as wide again.
const UNSEEN: f64 = 0.4;

/// Fewest effective sessions from which something is estimated.
pub const FEWEST: f64 = 5.0;

/// Draws of the bootstrap; [`TAIL`] of them are below the interval, and as many above.
const DRAWS: u64 = 400;
const TAIL: usize = 10;

/// What is assumed of what no session shows.
#[derive(Debug, Clone, Copy)]
enum Unseen {
    /// Nothing; a group that none follows has the value that the table says.
    AsTable,
    Worst,
    Best,
}

/// Sessions in one state at the same place, which chose as the table until then.
struct Group {
    /// What a reward at this place is worth at the start.
    discount: f64,
    sessions: Vec<usize>,
    followers: Vec<Follower>,
    /// Both tables of a difference chose the same so far, and do so here.
    is_shared: bool,
    /// What the table says of the state.
    worth: f64,
}

/// A session that goes on as the table chooses.
struct Follower {
    session: usize,
    /// Inverse chance of its choice.
    inverse: f64,
    reward: f64,
}

/// Estimates the value that the table of `policy` would have reached; `None` with too few sessions
/// that chose as it does.
#[must_use]
pub fn estimate(policy: &Trained, sessions: &[Session]) -> Option<Estimate> {
    let count = sessions.len();
    let groups = groups(policy, None, sessions);
    let limits = limits(policy, sessions);
    let mut weights = vec![1.0 / count.max(1) as f64; count];
    let value = value(&groups, &mut weights, limits, Unseen::AsTable, &mut generator(0, 0));
    let effective = effective(&weights).filter(|effective| *effective >= FEWEST)?;
    let bound = |unseen, draw| {
        let (mut random, mut weights, more) = drawn(count, draw);
        value_of_more(unseen, more, limits)
            + self::value(&groups, &mut weights, limits, unseen, &mut random)
    };
    let low = quantile(|draw| bound(Unseen::Worst, draw), TAIL);
    let high = quantile(|draw| bound(Unseen::Best, draw), DRAWS as usize - 1 - TAIL);
    Some(Estimate { value, low: low.min(value), high: high.max(value), effective })
}

/// Estimates how much more the table of `new` would have reached than that of `present`.
#[must_use]
pub fn difference(new: &Trained, present: &Trained, sessions: &[Session]) -> Estimate {
    let count = sessions.len();
    let limits = limits(new, sessions);
    let (ours, theirs) =
        (groups(new, Some(present), sessions), groups(present, Some(new), sessions));
    let even = vec![1.0 / count.max(1) as f64; count];
    let mut followed = even.clone();
    let mut least = generator(0, 0);
    let value = value(&ours, &mut followed, limits, Unseen::AsTable, &mut least)
        - value(&theirs, &mut even.clone(), limits, Unseen::AsTable, &mut least);
    let bound = |one, other, draw| {
        let (mut random, weights, _) = drawn(count, draw);
        self::value(&ours, &mut weights.clone(), limits, one, &mut random)
            - self::value(&theirs, &mut weights.clone(), limits, other, &mut random)
    };
    let low = quantile(|draw| bound(Unseen::Worst, Unseen::Best, draw), TAIL);
    let last = DRAWS as usize - 1 - TAIL;
    let high = quantile(|draw| bound(Unseen::Best, Unseen::Worst, draw), last);
    let effective = effective(&followed).unwrap_or(0.0);
    Estimate { value, low: low.min(value), high: high.max(value), effective }
}

/// The groups of the sessions, in the order of their places.
fn groups(policy: &Trained, other: Option<&Trained>, sessions: &[Session]) -> Vec<Group> {
    let choice = |policy: &Trained, state| policy.table.best(state, available(policy, state));
    let mut found = Vec::new();
    let mut discount = 1.0;
    // Sessions that chose as the table until now, each with whether the other table did, too.
    let mut open: Vec<(usize, bool)> =
        (0..sessions.len()).map(|session| (session, other.is_some())).collect();
    for place in 0.. {
        open.retain(|(session, _)| sessions[*session].steps.len() > place);
        if open.is_empty() {
            break;
        }
        let mut together: BTreeMap<(State, bool), Vec<usize>> = BTreeMap::new();
        for (session, was_shared) in open.drain(..) {
            let state = sessions[session].steps[place].state;
            together.entry((state, was_shared)).or_default().push(session);
        }
        for ((state, was_shared), members) in together {
            let best = choice(policy, state);
            let agent = best.map(|best| best.agent);
            let theirs = other.filter(|_| was_shared).map(|other| choice(other, state));
            let is_shared = theirs.is_some_and(|best| best.map(|best| best.agent) == agent);
            let followers: Vec<Follower> = members
                .iter()
                .filter_map(|session| follower(*session, &sessions[*session], place, agent?))
                .collect();
            open.extend(followers.iter().map(|follower| (follower.session, is_shared)));
            let worth = best.map_or(0.0, |best| policy.table.entry(best.from, best.agent).estimate);
            found.push(Group { discount, sessions: members, followers, is_shared, worth });
        }
        discount *= policy.model.discount;
    }
    found
}

/// The session as a follower; `None` where it or a person chose otherwise, or nothing is known of what
/// its last action led to.
fn follower(session: usize, of: &Session, place: usize, agent: usize) -> Option<Follower> {
    let step = of.steps[place];
    let is_known = of.end != End::Stopped || place + 1 < of.steps.len();
    let chance = step.chance.filter(|_| is_known && step.agent == agent)?;
    Some(Follower { session, inverse: 1.0 / chance, reward: step.reward })
}

/// The value of the sessions with these weights, which become those at the end of each; a session that
/// left has none.
fn value(
    groups: &[Group],
    weights: &mut [f64],
    limits: [f64; 2],
    unseen: Unseen,
    random: &mut impl Rng,
) -> f64 {
    let mut value = 0.0;
    for group in groups {
        let arrived: f64 = group.sessions.iter().map(|session| weights[*session]).sum();
        let of_followers = |one: &Follower| weights[one.session] * one.inverse;
        let followed: f64 = group.followers.iter().map(of_followers).sum();
        let bound = match unseen {
            Unseen::AsTable => group.worth,
            Unseen::Worst => limits[0],
            Unseen::Best => limits[1],
        };
        let mut more = 0.0;
        if !group.is_shared {
            let followers = group.followers.len() as f64;
            let left = 1.0 - followers / group.sessions.len() as f64;
            if !matches!(unseen, Unseen::AsTable) && followed > 0.0 {
                more = UNSEEN * left * exponential(random) * followed / followers;
            }
            let missing = if followed > 0.0 { more / (followed + more) } else { 1.0 };
            value += group.discount * arrived * missing * bound;
        }
        let scale = if followed > 0.0 { arrived / (followed + more) } else { 0.0 };
        let kept: Vec<f64> = group.followers.iter().map(|one| of_followers(one) * scale).collect();
        group.sessions.iter().for_each(|session| weights[*session] = 0.0);
        for (follower, weight) in group.followers.iter().zip(kept) {
            weights[follower.session] = weight;
            value += group.discount * weight * follower.reward;
        }
    }
    value
}

/// The random numbers of a draw, and the weights of the sessions and of one more, which sum up to 1.
fn drawn(count: usize, draw: u64) -> (impl Rng, Vec<f64>, f64) {
    const SEED: u64 = 0x6f66_6670;
    let mut random = generator(SEED, draw);
    let mut weights: Vec<f64> = (0..=count).map(|_| exponential(&mut random)).collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    let more = weights.pop().unwrap_or_default();
    (random, weights, more)
}

fn exponential(random: &mut impl Rng) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}

/// What one more session with this weight adds.
fn value_of_more(unseen: Unseen, weight: f64, [lowest, highest]: [f64; 2]) -> f64 {
    match unseen {
        Unseen::AsTable => 0.0,
        Unseen::Worst => weight * lowest,
        Unseen::Best => weight * highest,
    }
}

/// The value at this place of the sorted draws.
fn quantile(of: impl Fn(u64) -> f64, place: usize) -> f64 {
    let mut values: Vec<f64> = (0..DRAWS).map(of).collect();
    values.sort_by(f64::total_cmp);
    values[place]
}

/// The smallest and the largest value that a session can have; rewards of sessions may go beyond what
/// the simulation knows.
fn limits(policy: &Trained, sessions: &[Session]) -> [f64; 2] {
    let [mut lowest, mut highest] = policy.model.value_range;
    for session in sessions {
        let mut rest = 0.0;
        for step in session.steps.iter().rev() {
            rest = step.reward + policy.model.discount * rest;
            (lowest, highest) = (rest.min(lowest), rest.max(highest));
        }
    }
    [lowest, highest]
}

/// The number of equal weights that tell as much; `None` without any.
fn effective(weights: &[f64]) -> Option<f64> {
    let total: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
    (total > 0.0).then(|| total * total / squares)
}

#[cfg(test)]
mod tests {
    use super::super::coverage::tests::{model_of, session};
    use super::super::file::tests::trained;
    use super::*;

    #[test]
    fn too_few_sessions_are_not_estimated_from() {
        let policy = trained("simple", false, 1, 500);
        let mut random = generator(1, 1);
        let mut next = || session(&policy.model, &policy, 0.3, &mut random);
        let mut sessions = vec![next()];
        assert_eq!(estimate(&policy, &sessions), None);
        while sessions.len() < 50 {
            sessions.push(next());
        }
        assert!(estimate(&policy, &sessions).is_some());
        for session in &mut sessions {
            session.steps[0].chance = None;
        }
        assert_eq!(estimate(&policy, &sessions), None);
    }

    #[test]
    fn a_table_does_not_differ_from_itself_and_a_clearly_better_one_is_seen() {
        let good = trained("simple", false, 1, 5000);
        let mut bad = good.clone();
        // It plans again and again instead of testing.
        for bucket in 0..4 {
            let state = State::parse(&format!("code,{bucket}"), &[]).unwrap();
            let entry = *bad.table.entry(state, 2);
            let low = super::super::table::Entry { estimate: -4.0, ..entry };
            assert!(entry.visits == 0 || bad.table.restore(state, 2, low));
        }
        let mut random = generator(3, 3);
        let by_bad: Vec<Session> =
            (0..200).map(|_| session(&bad.model, &bad, 0.3, &mut random)).collect();
        let same = difference(&bad, &bad, &by_bad);
        assert_eq!((same.value, same.low, same.high), (0.0, 0.0, 0.0));
        let better = difference(&good, &bad, &by_bad);
        assert!(better.low > 0.0 && better.low < better.value, "{better:?}");
        let worse = difference(&bad, &good, &by_bad);
        assert!(worse.high < 0.0, "{worse:?}");
    }

    #[test]
    fn what_no_session_follows_makes_the_interval_wide() {
        // In complex work the first tests fail often; no session shows what the table does then.
        let policy = trained("simple", false, 1, 5000);
        let mut random = generator(5, 5);
        let model = model_of("complex");
        let mut sessions: Vec<Session> =
            (0..100).map(|_| session(&model, &policy, 0.0, &mut random)).collect();
        let known = estimate(&policy, &sessions).unwrap();
        for session in &mut sessions {
            if let Some(step) = session.steps.get_mut(2) {
                step.agent = 0;
            }
        }
        let unknown = estimate(&policy, &sessions).unwrap();
        assert!(
            unknown.high - unknown.low > 2.0 * (known.high - known.low),
            "{known:?} {unknown:?}"
        );
        assert!(unknown.low < known.value && known.value < unknown.high, "{known:?} {unknown:?}");
    }

    #[test]
    fn rewards_of_sessions_may_be_lower_than_those_of_the_simulation() {
        let policy = trained("simple", false, 1, 5000);
        let mut random = generator(7, 7);
        let mut sessions: Vec<Session> =
            (0..60).map(|_| session(&policy.model, &policy, 0.3, &mut random)).collect();
        sessions[0].steps[0].reward = -90.0;
        let estimate = estimate(&policy, &sessions).unwrap();
        assert!(estimate.low < -5.0 && estimate.low < estimate.value, "{estimate:?}");
    }
}
