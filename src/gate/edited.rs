//! What a person would write instead of what was proposed, looked at like any proposal.
//!
//! Must not store, record or decide anything.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Weak};

use tokio::runtime::Handle;

use super::examine::Examined;
use super::submit::Gate;
use crate::model::{
    BlobRef, Check, CheckKind, ContentHash, Decision, Examiner, Facts, Finding, FindingLevel,
    Proposal, UserError,
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
            let what = format!("Cannot check your version of proposal {}", proposal.id);
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
        let Examined { mut checks, facts } = Examined::of(versions, Vec::new(), facts, around);
        let word = self.version_compiled().of(change.hash()).flatten();
        super::syntax::add_word(&mut checks, word, content);
        Ok(Proposal { change, checks, facts, ..proposal.clone() })
    }

    /// Asks the compiler about another content for a proposal; [`Gate::with_content`] says what it
    /// found.
    pub(super) async fn compile_version(&self, proposal: &Proposal, content: &[u8]) {
        let (waiting, blobs) = (self.all_waiting(), self.parts.blobs.as_ref());
        let word = self.compiler().version((proposal, content), &waiting, blobs).await;
        if let Some(hash) = version_hash(proposal, content) {
            self.version_compiled().keep(hash, word);
        }
    }

    /// The same for a content that was decided on: what was on screen holds, if it was asked then.
    pub(super) async fn compile_decided(&self, proposal: &Proposal, content: &[u8]) {
        let hash = version_hash(proposal, content);
        if hash.is_some_and(|hash| self.version_compiled().of(hash).is_none()) {
            self.compile_version(proposal, content).await;
        }
    }

    /// Looks at versions of the person for as long as the run goes on, and keeps nothing of it
    /// alive. Called on the runtime of the run.
    #[must_use]
    pub fn examiner(self: &Arc<Self>) -> VersionExaminer {
        VersionExaminer { gate: Arc::downgrade(self), runtime: Handle::try_current().ok() }
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
        let words = |check: &Check| {
            let text = &check.findings.iter().find(is_stop)?.text;
            Some(match check.kind == CheckKind::Compiles {
                true => format!("does not compile: {text}"),
                false => text.clone(),
            })
        };
        let first = edited.checks.iter().find_map(words);
        Ok(first.filter(|_| edited.stops() > named))
    }
}

/// What a change is called by that writes another content.
fn version_hash(proposal: &Proposal, content: &[u8]) -> Option<ContentHash> {
    let stored = BlobRef { hash: ContentHash::of(content), bytes: content.len() as u64 };
    proposal.change.with_content(stored).map(|change| change.hash())
}

/// Looks at what the person would write instead of what was proposed.
pub struct VersionExaminer {
    gate: Weak<Gate>,
    /// Where the compiler is waited for.
    runtime: Option<Handle>,
}

impl Examiner for VersionExaminer {
    fn examine(&self, proposal: &Proposal, content: &[u8]) -> Result<Proposal, UserError> {
        let Some(gate) = self.gate.upgrade() else {
            return Err(UserError::new(
                format!("Cannot check your version of proposal {}", proposal.id),
                "the run is over",
                "`firmhand resume` brings back what waits.",
            ));
        };
        if let Some(runtime) = &self.runtime {
            let (done, answer) = sync_channel::<()>(1);
            let (gate, proposal, content) = (Arc::clone(&gate), proposal.clone(), content.to_vec());
            runtime.spawn(async move {
                gate.compile_version(&proposal, &content).await;
                drop(done);
            });
            // Ends when the other side is gone, also with the runtime.
            let _ = answer.recv();
        }
        gate.with_content(proposal, content)
    }
}
