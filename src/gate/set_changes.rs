//! Proposals of one set, judged again when one of them is not carried out as it was proposed.
//!
//! Owns the count of such proposals. Must not decide anything.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::examinations::Examinations;
use super::examine::Examined;
use super::parts::{GateError, GateParts};
use super::rulings::Rulings;
use crate::model::{Check, CheckKind, Event, Proposal, ProposalEvent};

/// How long nothing more of a set is decided before the rest is judged again.
const QUIET: Duration = Duration::from_millis(150);

/// How many proposals were not carried out as they were proposed, so that what was found about the
/// others may no longer be so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SetCount {
    all: u32,
    /// Those that other sources may include.
    headers: u32,
}

impl SetCount {
    const fn after(self, is_header: bool) -> Self {
        let headers = self.headers.wrapping_add(if is_header { 1 } else { 0 });
        Self { all: self.all.wrapping_add(1), headers }
    }
}

/// Judges the rest of a set again.
pub(super) struct SetChanges {
    parts: Arc<GateParts>,
    examinations: Arc<Examinations>,
    rulings: Arc<Rulings>,
    count: watch::Sender<SetCount>,
}

impl SetChanges {
    pub(super) fn new(
        parts: &Arc<GateParts>,
        examinations: &Arc<Examinations>,
        rulings: &Arc<Rulings>,
    ) -> Self {
        Self {
            parts: Arc::clone(parts),
            examinations: Arc::clone(examinations),
            rulings: Arc::clone(rulings),
            count: watch::Sender::default(),
        }
    }

    /// The count now.
    pub(super) fn count(&self) -> SetCount {
        *self.count.borrow()
    }

    /// Reports every proposal that is not carried out as it was proposed from now on.
    pub(super) fn watch(&self) -> watch::Receiver<SetCount> {
        self.count.subscribe()
    }

    /// A proposal was not carried out as it was proposed.
    pub(super) fn note(&self, proposal: &Proposal) {
        const HEADERS: [&str; 5] = [".h", ".hpp", ".hh", ".hxx", ".inc"];
        let Some(path) = proposal.change.path() else { return };
        let is_header = HEADERS.iter().any(|end| path.as_str().ends_with(end));
        self.count.send_modify(|count| *count = count.after(is_header));
    }

    /// Makes the checks of a proposal again if others were not carried out as they were proposed
    /// since `judged_at`, as what was found rested on them. The proposal with them, and the event
    /// that reports it; `None` when nothing else is found now.
    pub(super) async fn judged_again(
        &self,
        was: &Proposal,
        content: &[u8],
        judged_at: SetCount,
    ) -> Result<Option<(Proposal, Event)>, GateError> {
        let now = self.count();
        let Proposal { change, checks, facts, .. } = was;
        if judged_at == now || change.board().is_some() {
            return Ok(None);
        }
        let base = self.examinations.base_of(change)?;
        let is_compiled = |check: &&Check| check.kind == CheckKind::Compiles;
        let mut word = checks.iter().find(is_compiled).cloned();
        if word.is_some() && judged_at.headers != now.headers {
            let (waiting, blobs) = (self.rulings.all_waiting(), self.parts.blobs.as_ref());
            word = self.examinations.compiler().version((was, content), &waiting, blobs).await;
        }
        let versions = (change, base.as_deref(), content);
        let Examined { checks: mut new, facts } =
            self.examinations.examine(versions, checks.clone(), facts.clone());
        super::syntax::add_word(&mut new, word, content);
        if is_same(&new, checks) {
            return Ok(None);
        }
        let proposal = Proposal { checks: new.clone(), facts, ..was.clone() };
        let event = Event::Proposal(ProposalEvent::Restated {
            proposal: proposal.id,
            change: Box::new(change.clone()),
            checks: new,
            why: "another change of the batch was rejected or edited".to_owned(),
        });
        Ok(Some((proposal, event)))
    }
}

/// Whether two lists of checks hold the same, in whatever order.
fn is_same(new: &[Check], old: &[Check]) -> bool {
    new.len() == old.len() && new.iter().all(|check| old.contains(check))
}

/// Resolves when proposals were not carried out as proposed since `judged_at`, and no more of them
/// for a while. Safe to drop and call again.
pub(super) async fn changed_and_quiet(set: &mut watch::Receiver<SetCount>, judged_at: SetCount) {
    loop {
        let is_judged = *set.borrow_and_update() == judged_at;
        let next = match is_judged {
            true => set.changed().await,
            false => match tokio::time::timeout(QUIET, set.changed()).await {
                Ok(next) => next,
                Err(_) => return,
            },
        };
        if next.is_err() {
            // The gate is gone.
            return std::future::pending().await;
        }
    }
}
