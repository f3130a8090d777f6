//! Proposals whose file changes on disk while they wait: noticed, merged, stated anew. Those that
//! were proposed together are judged again when one of them is not carried out as proposed.
//!
//! Reads the disk and never writes it. What is decided is always what was stated last.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::examine::Examined;
use super::findings::{self, Subject};
use super::folder::{self, look};
use super::submit::{Gate, GateError, Pending};
use crate::model::{
    BlobRef, Change, Check, CheckKind, Event, Finding, FindingLevel, ProjectPath, Proposal,
    ProposalEvent, UserError,
};
use crate::text::merge::{Merge, merge};

/// A wish against the file as it is now.
struct Rebased {
    change: Change,
    content: Vec<u8>,
    check: Check,
    why: String,
}

/// What becomes of a waiting proposal whose file has changed.
pub(super) enum Moved {
    /// It goes on waiting, compared with the file as it is now; the event tells so.
    Restated(Box<Pending>, Event),
    /// The person took back what it builds on, so that it is denied, for this reason.
    Void(String),
}

impl Gate {
    /// Whether the file of a waiting proposal is no longer the one it is based on. Looks at the
    /// content only when the file's entry has changed since the last look.
    pub(super) fn has_moved(&self, pending: &mut Pending) -> bool {
        let sandbox = &self.parts.sandbox;
        if pending.damage.is_some() {
            return false;
        }
        let Some(path) = pending.proposal.change.path() else { return false };
        // A place that cannot be looked at is told by the effect, with its cause.
        let Ok(identity) = folder::identity(sandbox, path) else { return false };
        if pending.seen == Some(identity) {
            return false;
        }
        let Ok(found) = look(sandbox, path) else { return false };
        pending.seen = Some(identity);
        let base = pending.proposal.change.before().map(|base| base.hash);
        let found = found.map(|found| found.hash);
        // A file that is gone cannot be deleted any more; that is an outcome, not another wish.
        let is_gone = matches!(pending.proposal.change, Change::Delete { .. }) && found.is_none();
        found != base && !is_gone
    }

    /// What the change on disk makes of the proposal; `None` when the file cannot be read, or nothing
    /// of the kind can be said.
    pub(super) fn moved(&self, was: &Pending) -> Result<Option<Moved>, GateError> {
        let Some(path) = was.proposal.change.path().cloned() else { return Ok(None) };
        let Ok(disk) = self.parts.sandbox.read_if_there(&path) else { return Ok(None) };
        let stored = match &disk {
            Some(disk) => Some(self.parts.ledger.store(disk)?),
            None => None,
        };
        let Rebased { change, content, check, why } = match &was.proposal.change {
            Change::Save { .. } | Change::Insert { .. } => {
                let base = match was.proposal.change.before() {
                    Some(base) => Some(self.parts.blobs.blob(&base.hash)?),
                    None => None,
                };
                let (base, disk) = (base.as_deref(), disk.as_deref());
                let (content, check, why) = carry_over(&path, base, &was.content, disk);
                let now = stored.map(|blob| blob.hash);
                if check.level() == Some(FindingLevel::Stop)
                    && let Some(id) = self.history().taken_back(&path, now)
                {
                    return Ok(Some(Moved::Void(format!(
                        "the person took back proposal {id} on the same file; read `{path}` again"
                    ))));
                }
                let after = self.parts.ledger.store(&content)?;
                let change = edit(&was.proposal.change, path, stored, after);
                Rebased { change, content, check, why }
            }
            Change::Delete { .. } => {
                let Some(base) = stored else { return Ok(None) };
                let why = format!("`{path}` was changed on disk; what would be deleted is new");
                let check = note(FindingLevel::Warning, "the file was changed on disk meanwhile");
                Rebased { change: Change::Delete { path, base }, content: Vec::new(), check, why }
            }
            // A file that has come to stand in the way of a reading is told by the effect.
            // So is a board that holds something else now.
            Change::Flash(_)
            | Change::Erase(_)
            | Change::Send(_)
            | Change::Read(_)
            | Change::Nvs(_) => {
                return Ok(None);
            }
        };
        let mut checks = was.proposal.checks.clone();
        checks.retain(|known| known.kind != CheckKind::Merged);
        let (base, facts) = (disk.as_deref(), &was.proposal.facts);
        let (sandbox, context) = (&self.parts.sandbox, &*self.context());
        let subject = Subject::new(&change, (base, &content), facts, sandbox, context);
        let mut checks = findings::complete(&subject, checks);
        checks.insert(0, check);
        let mut proposal = was.proposal.clone();
        proposal.change = change.clone();
        proposal.checks.clone_from(&checks);
        let event = Event::Proposal(ProposalEvent::Restated {
            proposal: proposal.id,
            change: Box::new(change),
            checks,
            why,
        });
        let new =
            Pending { proposal, content, seen: was.seen, damage: None, judged_at: was.judged_at };
        Ok(Some(Moved::Restated(Box::new(new), event)))
    }

    /// Whether there is no finding of level stop when the changes of `others` are left out.
    pub(super) fn stands_without(
        &self,
        proposal: &Proposal,
        content: &[u8],
        others: &BTreeSet<ProjectPath>,
    ) -> bool {
        let mut context = (*self.context()).clone();
        if !context.proposed.leave_out(others) {
            return true;
        }
        let Ok(base) = self.base_of(&proposal.change) else { return false };
        let (texts, facts) = ((base.as_deref(), content), &proposal.facts);
        let subject = Subject::new(&proposal.change, texts, facts, &self.parts.sandbox, &context);
        let checks = findings::complete(&subject, proposal.checks.clone());
        checks.iter().all(|check| check.level() != Some(FindingLevel::Stop))
    }

    /// What is wrong with a partition table that was written, as the project is now; `None` when
    /// that was said of it before, or nothing is.
    pub(super) fn rests_on_others(&self, proposal: &Proposal) -> Option<String> {
        let content = self.parts.blobs.blob(&proposal.change.after()?.hash).ok()?;
        let base = self.base_of(&proposal.change).ok()?;
        let (texts, facts) = ((base.as_deref(), &*content), &proposal.facts);
        let (sandbox, context) = (&self.parts.sandbox, &*self.context());
        let subject = Subject::new(&proposal.change, texts, facts, sandbox, context);
        let is_stop = |finding: &&Finding| finding.level == FindingLevel::Stop;
        let known: Vec<&str> =
            proposal.findings().filter(is_stop).map(|finding| finding.text.as_str()).collect();
        let checks = findings::complete(&subject, Vec::new());
        let table = checks.into_iter().find(|check| check.kind == CheckKind::PartitionTable)?;
        let mut found = table.findings.into_iter().filter(|finding| is_stop(&finding));
        found.find(|finding| !known.contains(&finding.text.as_str())).map(|finding| finding.text)
    }

    fn base_of(&self, change: &Change) -> Result<Option<Arc<[u8]>>, UserError> {
        change.before().map(|base| self.parts.blobs.blob(&base.hash)).transpose()
    }

    /// Makes the checks of a proposal again when others were not carried out as they were proposed,
    /// as what was found rested on them. `None` when nothing else is found now.
    pub(super) async fn judged_again(
        &self,
        pending: &mut Pending,
    ) -> Result<Option<(Pending, Event)>, GateError> {
        let now = *self.watch_set().borrow();
        let was = std::mem::replace(&mut pending.judged_at, now);
        let Proposal { change, checks, facts, .. } = &pending.proposal;
        if was == now || pending.damage.is_some() || change.board().is_some() {
            return Ok(None);
        }
        let base = self.base_of(change)?;
        let is_compiled = |check: &&Check| check.kind == CheckKind::Compiles;
        let mut word = checks.iter().find(is_compiled).cloned();
        if word.is_some() && was.headers != now.headers {
            let (waiting, blobs) = (self.all_waiting(), self.parts.blobs.as_ref());
            let version = (&pending.proposal, pending.content.as_slice());
            word = self.compiler().version(version, &waiting, blobs).await;
        }
        let versions = (change, base.as_deref(), pending.content.as_slice());
        let (sandbox, context) = (&*self.parts.sandbox, &*self.context());
        let Examined { checks: mut new, facts } =
            Examined::of(versions, checks.clone(), facts.clone(), (sandbox, context));
        super::syntax::add_word(&mut new, word, &pending.content);
        if is_same(&new, checks) {
            return Ok(None);
        }
        let proposal = Proposal { checks: new.clone(), facts, ..pending.proposal.clone() };
        let event = Event::Proposal(ProposalEvent::Restated {
            proposal: proposal.id,
            change: Box::new(change.clone()),
            checks: new,
            why: "another change of this set is not made as it was proposed".to_owned(),
        });
        let content = pending.content.clone();
        let new = Pending { proposal, content, seen: pending.seen, damage: None, judged_at: now };
        Ok(Some((new, event)))
    }
}

/// Whether two lists of checks hold the same, in whatever order.
fn is_same(new: &[Check], old: &[Check]) -> bool {
    new.len() == old.len() && new.iter().all(|check| old.contains(check))
}

/// The same kind of wish on another base. An insertion into a file that is gone creates it.
fn edit(was: &Change, path: ProjectPath, base: Option<BlobRef>, content: BlobRef) -> Change {
    match (was, base) {
        (Change::Insert { .. }, Some(base)) => Change::Insert { path, base, content },
        (_, base) => Change::Save { path, base, content },
    }
}

/// Brings the proposed change to the file as it is now, where that is possible. Where it is not, a
/// finding of level stop says so.
fn carry_over(
    path: &ProjectPath,
    base: Option<&[u8]>,
    proposed: &[u8],
    disk: Option<&[u8]>,
) -> (Vec<u8>, Check, String) {
    let kept = |text: &str| {
        (proposed.to_vec(), note(FindingLevel::Stop, text), format!("`{path}`: {text}"))
    };
    match (base, disk) {
        (_, None) => kept("the file was removed on disk; approving would create it again"),
        (_, Some(disk)) if disk == proposed => (
            proposed.to_vec(),
            note(FindingLevel::Warning, "the file on disk holds the proposed content already"),
            format!("`{path}` holds the proposed content already"),
        ),
        (None, Some(_)) => {
            kept("a file has appeared there on disk; approving would replace all of it")
        }
        (Some(base), Some(disk)) => match merge(base, proposed, disk) {
            Merge::Clean(merged) => (
                merged,
                note(
                    FindingLevel::Warning,
                    "the file was changed on disk; both changes were merged",
                ),
                format!("`{path}` was changed on disk; the proposal was merged with it"),
            ),
            Merge::Conflict(lines) => {
                let lines: Vec<String> = lines.iter().take(8).map(ToString::to_string).collect();
                kept(&format!(
                    "the change on disk and the proposal meet at line {}; approving would undo \
                     the change on disk",
                    lines.join(", ")
                ))
            }
        },
    }
}

fn note(level: FindingLevel, text: &str) -> Check {
    Check::of(CheckKind::Merged, level, text)
}
