//! What the gate says about a change, whether or not it is proposed.
//!
//! The one way from a draft to its checks and facts: proposals take it, and so does whoever only
//! asks. Must not record or perform anything.

use super::facts;
use super::findings::{self, FindingsContext, Subject};
use crate::model::{AgentName, Batch, BatchId, CallId, ProposalId, ToolName, TurnId};
use crate::model::{BlobRef, Change, Check, ContentHash, Draft, DraftChange, Facts, Proposal};
use crate::workspace::ProjectDir;

/// A draft with its contents stored.
pub(super) struct Stated {
    /// The change, which names its contents by their hashes.
    pub(super) change: Change,
    /// What the file holds; `None`: it is not there, or the change has no file.
    pub(super) base: Option<Vec<u8>>,
    /// What it will hold; empty for a deletion or what is done to a board.
    pub(super) content: Vec<u8>,
}

/// Stores the contents of a draft.
pub(super) fn state<E>(
    change: DraftChange,
    store: impl Fn(&[u8]) -> Result<BlobRef, E>,
) -> Result<Stated, E> {
    let on_board = |change| Stated { change, base: None, content: Vec::new() };
    Ok(match change {
        DraftChange::Save { path, base, content } => {
            let stored = base.as_deref().map(&store).transpose()?;
            let change = Change::Save { path, base: stored, content: store(&content)? };
            Stated { change, base, content }
        }
        DraftChange::Insert { path, base, content } => {
            let stored = store(&base)?;
            let change = Change::Insert { path, base: stored, content: store(&content)? };
            Stated { change, base: Some(base), content }
        }
        DraftChange::Delete { path, base } => {
            let change = Change::Delete { path, base: store(&base)? };
            Stated { change, base: Some(base), content: Vec::new() }
        }
        DraftChange::Flash(plan) => on_board(Change::Flash(plan)),
        DraftChange::Erase(plan) => on_board(Change::Erase(plan)),
        DraftChange::Send(plan) => on_board(Change::Send(plan)),
        DraftChange::Read(plan) => on_board(Change::Read(plan)),
        DraftChange::Nvs(plan) => on_board(Change::Nvs(plan)),
    })
}

/// What was found about a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Examined {
    /// What was looked at, the heaviest findings first.
    pub(super) checks: Vec<Check>,
    pub(super) facts: Facts,
}

impl Examined {
    /// Looks at a change and its two versions; `known` is what its tool has looked at.
    pub(super) fn of(
        (change, base, content): (&Change, Option<&[u8]>, &[u8]),
        known: Vec<Check>,
        facts: Facts,
        (project_dir, context): (&ProjectDir, &FindingsContext),
    ) -> Self {
        let facts = facts::find((project_dir, &context.proposed), change, facts);
        let (checks, consequence) = {
            let subject = Subject::new(change, (base, content), &facts, project_dir, context);
            (findings::complete(&subject, known), findings::consequence(&subject))
        };
        Self { checks, facts: Facts { consequence, ..facts } }
    }
}

/// What a proposal of these drafts would look like; nothing is stored, recorded or decided. The
/// proposals have numbers from 1, and belong to no turn.
#[must_use]
pub fn examine(
    project_dir: &ProjectDir,
    drafts: Vec<Draft>,
    context: &FindingsContext,
) -> Vec<Proposal> {
    let of = u32::try_from(drafts.len()).unwrap_or(u32::MAX);
    let store = |content: &[u8]| {
        let (hash, bytes) = (ContentHash::of(content), content.len() as u64);
        Ok::<_, std::convert::Infallible>(BlobRef { hash, bytes })
    };
    let stated: Vec<(Stated, String, Vec<Check>)> = drafts
        .into_iter()
        .map(|Draft { change, reason, checks }| {
            let Ok(stated) = state(change, store);
            (stated, reason, checks)
        })
        .collect();
    let mut context = context.clone();
    for (stated, ..) in &stated {
        context.proposed.add(&stated.change, &stated.content);
    }
    let proposal = |(index, (stated, reason, checks)): (u32, (Stated, String, Vec<Check>))| {
        let Stated { change, base, content } = stated;
        let versions = (&change, base.as_deref(), content.as_slice());
        let around = (project_dir, &context);
        let Examined { checks, facts } = Examined::of(versions, checks, Facts::default(), around);
        Proposal {
            id: ProposalId(index),
            turn: TurnId(0),
            call: CallId(0),
            agent: AgentName::new(""),
            tool: ToolName::new(""),
            reason,
            batch: Batch { id: BatchId(1), index, of },
            change,
            checks,
            facts,
        }
    };
    (1..).zip(stated).map(proposal).collect()
}
