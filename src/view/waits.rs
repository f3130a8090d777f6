//! How long calls waited for decisions, so that what they took themselves can be told.
//!
//! Owns only sums of recorded times; proposals of one call that wait side by side count once.

use std::collections::BTreeMap;

use crate::model::{CallId, Proposal, ProposalId, Timestamp};

/// The waits of calls that have no answer yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waits {
    /// The call of each proposal that waits.
    open: BTreeMap<ProposalId, CallId>,
    calls: BTreeMap<CallId, Wait>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Wait {
    /// Proposals that wait now.
    waiting: u32,
    /// Since when at least one does.
    since: Timestamp,
    /// Waits that are over, in milliseconds.
    millis: u64,
}

impl Waits {
    /// A proposal waits from here on.
    pub fn begin(&mut self, proposal: &Proposal, at: Timestamp) {
        self.open.insert(proposal.id, proposal.call);
        let wait = self.calls.entry(proposal.call).or_default();
        if wait.waiting == 0 {
            wait.since = at;
        }
        wait.waiting += 1;
    }

    /// It was decided.
    pub fn end(&mut self, proposal: ProposalId, at: Timestamp) {
        let Some(call) = self.open.remove(&proposal) else { return };
        let Some(wait) = self.calls.get_mut(&call) else { return };
        wait.waiting = wait.waiting.saturating_sub(1);
        if wait.waiting == 0 {
            wait.millis += at.millis_since(wait.since);
        }
    }

    /// The program was started again: what a call took is counted from here.
    pub fn restart(&mut self, at: Timestamp) {
        for wait in self.calls.values_mut() {
            (wait.since, wait.millis) = (at, 0);
        }
    }

    /// The call has its answer; how long it had waited for decisions.
    pub fn take(&mut self, call: CallId, at: Timestamp) -> u64 {
        let Some(wait) = self.calls.remove(&call) else { return 0 };
        self.open.retain(|_, open| *open != call);
        let running = if wait.waiting > 0 { at.millis_since(wait.since) } else { 0 };
        wait.millis + running
    }
}
