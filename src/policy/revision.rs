//! A table learned from sessions, and whether it replaces the present one.
//!
//! Owns which sessions teach and which judge, and the decision. A new table is taken only where it is
//! shown to be no worse. Two questions have to be answered so:
//!
//! - Where the tables part in sessions that were kept back, the 95 % interval of the difference must
//!   not reach below 0. Comparing two estimates with each other would take half of all equal tables,
//!   and many worse ones.
//! - In states that none of these sessions reached with the choices of both tables, sessions say
//!   nothing, and the simulation decides: a table that makes the choices of the new one there, and
//!   those of the present one elsewhere, must not be worth less than the present one.
//!
//! Sessions that judged teach the next time: a table that also learned from them would be another one
//! than that which was judged.

use std::collections::BTreeSet;

use super::exact::{Choice, Policy, evaluate};
use super::experience::{Session, available, learn};
use super::file::Trained;
use super::model::Model;
use super::offpolicy::{Estimate, difference, estimate};
use super::state::State;

/// Sums that differ by less are the same.
const ROUNDING: f64 = 1e-9;

/// A new table next to the present one.
#[derive(Debug, Clone)]
pub struct Revision {
    pub new: Trained,
    /// What the present table, and the new one, would have reached; `None` with too few sessions.
    pub before: Option<Estimate>,
    pub after: Option<Estimate>,
    /// How much more the new one would have reached.
    pub difference: Estimate,
    pub judgement: Judgement,
}

/// What comes out of a comparison of a new table with the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It is no worse.
    NoWorse,
    /// There are too few sessions to say.
    TooFew,
    /// Sessions do not show that it is no worse.
    NotShown,
    /// In states that no session reached, it is worse in the simulation.
    WorseUnseen,
}

/// Learns from `lessons`, each as much as from `weight` simulated tasks, and judges by `judges`.
#[must_use]
pub fn revise(present: &Trained, lessons: &[Session], judges: &[Session], weight: u32) -> Revision {
    let mut new = present.clone();
    learn(&mut new, lessons, weight);
    let (before, after) = (estimate(present, judges), estimate(&new, judges));
    let difference = difference(&new, present, judges);
    let judgement = if before.is_none() || after.is_none() {
        Judgement::TooFew
    } else if difference.low < -ROUNDING * present.model.value_range[1].abs().max(1.0) {
        Judgement::NotShown
    } else if is_worse_unseen(&new, present, judges) {
        Judgement::WorseUnseen
    } else {
        Judgement::NoWorse
    };
    Revision { new, before, after, difference, judgement }
}

/// The new table where sessions say nothing, the present one elsewhere.
struct Mixed<'a> {
    new: &'a Trained,
    present: &'a Trained,
    reached: BTreeSet<State>,
}

impl Policy for Mixed<'_> {
    fn choices(&self, model: &Model, situation: u32, memory: usize) -> Vec<Choice> {
        let is_reached = self.reached.contains(&model.state(situation));
        let by = if is_reached { self.present } else { self.new };
        by.table.choices(model, situation, memory)
    }
}

fn is_worse_unseen(new: &Trained, present: &Trained, judges: &[Session]) -> bool {
    let choice = |policy: &Trained, state| {
        policy.table.best(state, available(policy, state)).map(|best| best.agent)
    };
    let mut reached = BTreeSet::new();
    for session in judges {
        for step in &session.steps {
            reached.insert(step.state);
            let is_common = [new, present]
                .into_iter()
                .all(|policy| choice(policy, step.state) == Some(step.agent));
            if !is_common {
                break;
            }
        }
    }
    let mixed = Mixed { new, present, reached };
    let model = &present.model;
    evaluate(model, &mixed).value < evaluate(model, &present.table).value - ROUNDING
}
