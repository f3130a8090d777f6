//! What a person would write instead of what was proposed, looked at like any proposal.
//!
//! Must not store, record or decide anything.

use std::sync::Weak;

use super::examine::Examined;
use super::submit::Gate;
use crate::model::{
    BlobRef, ContentHash, Examiner, Facts, Finding, FindingLevel, Proposal, UserError,
};

impl Gate {
    /// The proposal as it would be if it wrote `content`, with the checks and facts of that.
    fn with_content(&self, proposal: &Proposal, content: &[u8]) -> Result<Proposal, UserError> {
        let stored = BlobRef { hash: ContentHash::of(content), bytes: content.len() as u64 };
        let Some(change) = proposal.change.with_content(stored) else {
            let what = format!("Cannot look at your version of proposal {}", proposal.id);
            let why = format!("a {} writes no text", proposal.change.kind());
            return Err(UserError::new(what, why, "Approve or reject it as a whole."));
        };
        let base = proposal.change.before();
        let base = base.map(|base| self.parts.blobs.blob(&base.hash)).transpose()?;
        // What the tool said of its own text does not hold for another one.
        let facts = Facts { held_rule: String::new(), ..proposal.facts.clone() };
        let versions = (&change, base.as_deref(), content);
        let context = self.context();
        let around = (&*self.parts.sandbox, &*context);
        let Examined { checks, facts } = Examined::of(versions, Vec::new(), facts, around);
        Ok(Proposal { change, checks, facts, ..proposal.clone() })
    }

    /// The first finding of level stop in another content for a proposal, if there are more of
    /// them than `named`.
    pub(super) fn first_stop(
        &self,
        proposal: &Proposal,
        content: &[u8],
        named: u32,
    ) -> Result<Option<String>, UserError> {
        let edited = self.with_content(proposal, content)?;
        let is_stop = |finding: &&Finding| finding.level == FindingLevel::Stop;
        let first = edited.findings().find(is_stop).map(|finding| finding.text.clone());
        Ok(first.filter(|_| edited.stops() > named))
    }
}

/// Looks for as long as the run goes on, and keeps nothing of it alive.
impl Examiner for Weak<Gate> {
    fn examine(&self, proposal: &Proposal, content: &[u8]) -> Result<Proposal, UserError> {
        match self.upgrade() {
            Some(gate) => gate.with_content(proposal, content),
            None => Err(UserError::new(
                format!("Cannot look at your version of proposal {}", proposal.id),
                "the run is over",
                "`firmhand resume` brings back what waits.",
            )),
        }
    }
}
