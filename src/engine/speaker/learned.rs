//! Who speaks next as a learned table chooses, by the state of the run.
//!
//! Owns what is observed of an attempt: a plan, code, an error, and the turns taken. Must not know
//! where a table comes from.

use std::sync::Arc;

use serde_json::Value;

use crate::model::{AgentName, PolicyChoice, PolicyTable};
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
    ///
    /// # Errors
    /// Why nobody does.
    pub fn next(&self) -> Result<(AgentName, PolicyChoice), &'static str> {
        let table = self.table.as_ref().ok_or("there is no policy that chooses who speaks")?;
        if let Some(agent) = &self.named {
            return Ok((agent.clone(), overruled(table, &self.seen)));
        }
        let number = self.salt.wrapping_add(u64::from(self.seen.actions));
        choose(table, &self.seen, number).ok_or("no agent of this phase can act")
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

    /// Takes a tool's answer: results of tests, and files that the person sent back.
    pub fn answered(&mut self, tool: &str, result: &Value) {
        let is_ok = result.get("ok").and_then(Value::as_bool) == Some(true);
        let rejected = result.get("rejected").and_then(Value::as_array);
        match tool {
            "run_tests" if is_ok => self.tested(ChoiceFailed::No),
            "run_tests" if result.get("counts").is_some() => self.tested(ChoiceFailed::Yes),
            "generate_code" if rejected.is_some_and(|all| !all.is_empty()) => {
                self.tested(ChoiceFailed::Yes);
            }
            _ => {}
        }
    }

    /// The tests ran, and failed or not; a file that the person rejects counts as a failed test. That they pass is no state to choose in: what is left to do
    /// then is as before them.
    const fn tested(&mut self, have_failed: ChoiceFailed) {
        self.seen.facts.has_error = matches!(have_failed, ChoiceFailed::Yes);
    }

    /// A turn ended.
    pub const fn ended(&mut self) {
        self.seen.actions += 1;
    }
}

/// Whether tests failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChoiceFailed {
    No,
    Yes,
}
