//! Who speaks next as a learned table chooses, by the state of the run.
//!
//! Owns what is observed of an attempt: a plan, code, an error, and the turns taken. Must not know
//! where a table comes from.

use std::sync::Arc;

use super::next::NextSpeaker;
use crate::model::{AgentName, PolicyTable};
use crate::policy::{Observed, choose, overruled};

/// What was observed, and the table that judges it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct LearnedSpeakers {
    table: Option<Arc<PolicyTable>>,
    seen: Observed,
    /// Whom the person wants to speak next.
    named: Option<AgentName>,
    /// Differs from attempt to attempt, so that each draws its own numbers.
    salt: u64,
}

impl LearnedSpeakers {
    /// An attempt begins.
    pub fn begin(&mut self, table: Arc<PolicyTable>, class: &str, salt: u64) {
        let seen = Observed { class: Some(class.to_owned()), ..Observed::default() };
        *self = Self { table: Some(table), seen, named: None, salt };
    }

    /// Whether a table chooses in this attempt.
    pub const fn is_learned(&self) -> bool {
        self.table.is_some()
    }

    /// Who speaks next, and what the table says of everyone.
    pub fn next(&self) -> NextSpeaker {
        let Some(table) = &self.table else {
            return NextSpeaker::Over("there is no policy that chooses who speaks".to_owned());
        };
        if let Some(agent) = &self.named {
            return NextSpeaker::Learned(agent.clone(), Box::new(overruled(table, &self.seen)));
        }
        let number = self.salt.wrapping_add(u64::from(self.seen.actions));
        match choose(table, &self.seen, number) {
            Some((agent, choice)) => NextSpeaker::Learned(agent, Box::new(choice)),
            None => NextSpeaker::Over("no agent of this phase can act".to_owned()),
        }
    }

    /// The person wants this agent to speak next.
    pub fn name(&mut self, agent: &AgentName) {
        self.named = Some(agent.clone());
    }

    /// Somebody was chosen.
    pub fn chosen(&mut self) {
        self.named = None;
    }

    /// There is a plan.
    pub const fn planned(&mut self) {
        self.seen.facts.has_plan = true;
    }

    /// There is code that nobody has tested yet.
    pub const fn coded(&mut self) {
        self.seen.facts.has_code = true;
        self.seen.facts.has_error = false;
    }

    /// The tests ran, and failed or not. That they pass is no state to choose in: what is left to do
    /// then is as before them.
    pub const fn tested(&mut self, have_failed: Failed) {
        self.seen.facts.has_error = matches!(have_failed, Failed::Yes);
    }

    /// A turn ended.
    pub const fn ended(&mut self) {
        self.seen.actions += 1;
    }
}

/// Whether tests failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Failed {
    No,
    Yes,
}
