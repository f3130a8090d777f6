//! What a person would write instead of what was proposed, looked at like any proposal.
//!
//! Must not store, record or decide anything.

use std::sync::Weak;

use super::examine::Examined;
use super::submit::Gate;
use crate::model::{
    BlobRef, ContentHash, Decision, Examiner, Facts, Finding, FindingLevel, Proposal, UserError,
};

impl Gate {
    /// The proposal as it would be if it wrote `content`, with the checks and facts of that.
    pub(super) fn with_content(
        &self,
        proposal: &Proposal,
        content: &[u8],
    ) -> Result<Proposal, UserError> {
        let stored = BlobRef { hash: ContentHash::of(content), bytes: content.len() as u64 };
        let Some(change) = proposal.change.with_content(stored) else {
            let what =
                format!("Cannot ask the service at your version of proposal {}", proposal.id);
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

    /// Why a decision does not cover another content for a proposal: there are more findings of
    /// level stop in it than the decision names, or it asks for a phrase that was not typed.
    pub(super) fn objection(
        &self,
        proposal: &Proposal,
        content: &[u8],
        decision: &Decision,
    ) -> Result<Option<String>, UserError> {
        let edited = self.with_content(proposal, content)?;
        if let Some(phrase) = edited.phrase()
            && decision.verdict.typed_phrase() != Some(phrase.as_str())
        {
            let stake = edited.stake().unwrap_or_default();
            return Ok(Some(format!("needs the typed phrase `{phrase}`: {stake}")));
        }
        let named = decision.stops;
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
                format!("Cannot ask the service at your version of proposal {}", proposal.id),
                "the run is over",
                "`firmhand resume` brings back what waits.",
            )),
        }
    }
}
