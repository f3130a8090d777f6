//! What a person would write instead of what was proposed, looked at like any proposal.
//!
//! Must not store, record or decide anything.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, Weak};

use tokio::runtime::Handle;

use super::examinations::Examinations;
use super::examine::Examined;
use super::parts::{GateParts, lock};
use super::rulings::Rulings;
use super::syntax::VersionCompiled;
use crate::model::{
    BlobRef, Check, CheckKind, ContentHash, Decision, Examiner, Facts, Finding, FindingLevel,
    Proposal, UserError,
};

/// Looks at the person's versions, and keeps what the compiler said of the last one.
pub(super) struct EditedVersions {
    parts: Arc<GateParts>,
    examinations: Arc<Examinations>,
    rulings: Arc<Rulings>,
    compiled: Mutex<VersionCompiled>,
}

impl EditedVersions {
    pub(super) fn new(
        parts: &Arc<GateParts>,
        examinations: &Arc<Examinations>,
        rulings: &Arc<Rulings>,
    ) -> Self {
        Self {
            parts: Arc::clone(parts),
            examinations: Arc::clone(examinations),
            rulings: Arc::clone(rulings),
            compiled: Mutex::default(),
        }
    }

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
        let base = self.examinations.base_of(&proposal.change)?;
        // What the tool said of its own text does not hold for another one.
        let facts = Facts { held_rule: String::new(), ..proposal.facts.clone() };
        let versions = (&change, base.as_deref(), content);
        let Examined { mut checks, facts } = self.examinations.examine(versions, Vec::new(), facts);
        let word = lock(&self.compiled).of(change.hash()).flatten();
        super::syntax::add_word(&mut checks, word, content);
        Ok(Proposal { change, checks, facts, ..proposal.clone() })
    }

    /// Asks the compiler about another content for a proposal; [`Self::with_content`] says what it
    /// found.
    async fn compile(&self, proposal: &Proposal, content: &[u8]) {
        let (waiting, blobs) = (self.rulings.all_waiting(), self.parts.blobs.as_ref());
        let compiler = self.examinations.compiler();
        let word = compiler.version((proposal, content), &waiting, blobs).await;
        if let Some(hash) = version_hash(proposal, content) {
            lock(&self.compiled).keep(hash, word);
        }
    }

    /// The same for a content that was decided on: what was on screen holds, if it was asked then.
    pub(super) async fn compile_decided(&self, proposal: &Proposal, content: &[u8]) {
        let hash = version_hash(proposal, content);
        if hash.is_some_and(|hash| lock(&self.compiled).of(hash).is_none()) {
            self.compile(proposal, content).await;
        }
    }

    /// Looks at versions for as long as the run goes on, and keeps nothing of it alive. Called on the
    /// runtime of the run.
    pub(super) fn examiner(self: &Arc<Self>) -> VersionExaminer {
        VersionExaminer { versions: Arc::downgrade(self), runtime: Handle::try_current().ok() }
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
            let stop = check.findings.iter().find(is_stop)?;
            let line = stop.place.as_ref().filter(|_| check.kind == CheckKind::Compiles);
            let at = line.map_or_else(String::new, |place| format!(" (line {})", place.line));
            Some(format!("{}{at}", stop.text))
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
    versions: Weak<EditedVersions>,
    /// Where the compiler is waited for.
    runtime: Option<Handle>,
}

impl Examiner for VersionExaminer {
    fn examine(&self, proposal: &Proposal, content: &[u8]) -> Result<Proposal, UserError> {
        let Some(versions) = self.versions.upgrade() else {
            return Err(UserError::new(
                format!("Cannot check your version of proposal {}", proposal.id),
                "the run is over",
                "`firmhand resume` brings back what waits.",
            ));
        };
        if let Some(runtime) = &self.runtime {
            let (done, answer) = sync_channel::<()>(1);
            let (waited, proposal, content) =
                (Arc::clone(&versions), proposal.clone(), content.to_vec());
            runtime.spawn(async move {
                waited.compile(&proposal, &content).await;
                drop(done);
            });
            // Ends when the other side is gone, also with the runtime.
            let _ = answer.recv();
        }
        versions.with_content(proposal, content)
    }
}
