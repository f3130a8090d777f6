//! Proposals whose file changes on disk while they wait: noticed, merged, restated.
//!
//! Reads the disk and never writes it. What is decided is always what was stated last.

use std::sync::{Arc, Mutex};

use super::examinations::Examinations;
use super::folder::{self, look};
use super::history::ChangeHistory;
use super::parts::{GateError, GateParts, lock};
use super::proposing::Pending;
use crate::model::{
    BlobRef, Change, Check, CheckKind, Event, FindingLevel, ProjectPath, ProposalEvent,
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

/// Compares what waits with the disk.
pub(super) struct Restatements {
    parts: Arc<GateParts>,
    examinations: Arc<Examinations>,
    history: Arc<Mutex<ChangeHistory>>,
}

impl Restatements {
    pub(super) fn new(
        parts: &Arc<GateParts>,
        examinations: &Arc<Examinations>,
        history: &Arc<Mutex<ChangeHistory>>,
    ) -> Self {
        Self {
            parts: Arc::clone(parts),
            examinations: Arc::clone(examinations),
            history: Arc::clone(history),
        }
    }

    /// Whether the file of a waiting proposal is no longer the one it is based on. Looks at the
    /// content only when the file's entry has changed since the last look.
    pub(super) fn has_moved(&self, pending: &mut Pending) -> bool {
        let project_dir = &self.parts.project_dir;
        if pending.damage.is_some() {
            return false;
        }
        let Some(path) = pending.proposal.change.path() else { return false };
        // A place that cannot be looked at is told by the effect, with its cause.
        let Ok(identity) = folder::identity(project_dir, path) else { return false };
        if pending.seen == Some(identity) {
            return false;
        }
        let Ok(found) = look(project_dir, path) else { return false };
        pending.seen = Some(identity);
        let base = pending.proposal.change.before().map(|base| base.hash);
        let found = found.map(|found| found.hash);
        // A file that is gone cannot be deleted again; that is an outcome, not another wish.
        let is_gone = matches!(pending.proposal.change, Change::Delete { .. }) && found.is_none();
        found != base && !is_gone
    }

    /// What the change on disk makes of the proposal; `None` when the file cannot be read, or nothing
    /// of the kind can be said.
    pub(super) fn moved(&self, was: &Pending) -> Result<Option<Moved>, GateError> {
        let Some(path) = was.proposal.change.path().cloned() else { return Ok(None) };
        let Ok(disk) = self.parts.project_dir.read_if_there(&path) else { return Ok(None) };
        let stored = match &disk {
            Some(disk) => Some(self.parts.ledger.store(disk)?),
            None => None,
        };
        let Rebased { change, content, check, why } = match &was.proposal.change {
            Change::Save { .. } | Change::Insert { .. } => {
                let base = self.examinations.base_of(&was.proposal.change)?;
                let (base, disk) = (base.as_deref(), disk.as_deref());
                let (content, check, why) = carry_over(&path, base, &was.content, disk);
                let now = stored.map(|blob| blob.hash);
                if check.level() == Some(FindingLevel::Stop)
                    && let Some(id) = lock(&self.history).taken_back(&path, now)
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
        let versions = (&change, disk.as_deref(), content.as_slice());
        let mut checks = self.examinations.checks(versions, checks, &was.proposal.facts);
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
