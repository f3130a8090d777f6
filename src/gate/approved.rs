//! The proof that an effect may happen.
//!
//! Owns the only way to an [`Approved`]: `decide` records the decision, synced, and hands the
//! proof out only if it says so for exactly this content. While the record is on its way to the
//! disk there is only a [`SyncPending`], with which nothing can be done to what is there.

use crate::model::{
    AgentName, Change, ContentHash, Decision, ErasePlan, Event, FlashPlan, Ledger, NvsPlan,
    ProjectPath, Proposal, ProposalEvent, ProposalId, ReadPlan, SendPlan, UserError, Verdict,
};

/// An effect that was approved and whose approval is on disk. Nobody else can make one.
#[derive(Debug)]
pub struct Approved<P> {
    proposal: ProposalId,
    effect: P,
}

impl<P> Approved<P> {
    /// The proposal that was approved.
    pub fn proposal(&self) -> ProposalId {
        self.proposal
    }

    /// What was approved.
    pub fn effect(&self) -> &P {
        &self.effect
    }
}

/// A content that was approved, and whose approval is written but perhaps not yet on the disk:
/// enough to stage the content next to the file, not to put it in place.
#[derive(Debug)]
pub struct SyncPending<'a> {
    proposal: ProposalId,
    place: ContentUse<'a>,
}

/// What a content is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContentUse<'a> {
    pub path: &'a ProjectPath,
    /// What it has to hold before; `None`: it must not exist.
    pub base: Option<ContentHash>,
    /// What it holds afterwards.
    pub content: &'a [u8],
    /// Hash of that content.
    pub hash: ContentHash,
}

impl SyncPending<'_> {
    /// The proposal that was approved.
    pub(super) fn proposal(&self) -> ProposalId {
        self.proposal
    }

    /// Where the content goes.
    pub(super) fn place(&self) -> ContentUse<'_> {
        self.place
    }
}

/// Writes a whole file.
#[derive(Debug)]
pub struct Save {
    pub path: ProjectPath,
    /// What it has to hold before; `None`: it must not exist.
    pub base: Option<ContentHash>,
    /// What it holds afterwards.
    pub content: Vec<u8>,
    /// Hash of that content.
    pub hash: ContentHash,
}

impl Save {
    /// Where the content goes.
    pub(super) fn place(&self) -> ContentUse<'_> {
        ContentUse { path: &self.path, base: self.base, content: &self.content, hash: self.hash }
    }
}

/// Writes an existing file with something inserted.
#[derive(Debug)]
pub struct Insert {
    pub path: ProjectPath,
    /// What it has to hold before.
    pub base: ContentHash,
    /// What it holds afterwards.
    pub content: Vec<u8>,
    /// Hash of that content.
    pub hash: ContentHash,
}

impl Insert {
    /// Where the content goes.
    pub(super) fn place(&self) -> ContentUse<'_> {
        ContentUse {
            path: &self.path,
            base: Some(self.base),
            content: &self.content,
            hash: self.hash,
        }
    }
}

/// Removes a file.
#[derive(Debug)]
pub struct Delete {
    pub path: ProjectPath,
    /// What it has to hold before.
    pub base: ContentHash,
}

/// Writes images to a board.
#[derive(Debug)]
pub struct Flash {
    /// What to write, and where.
    pub plan: FlashPlan,
}

/// Erases a board's flash.
#[derive(Debug)]
pub struct Erase {
    /// What to erase.
    pub plan: ErasePlan,
}

/// Sends text to a board.
#[derive(Debug)]
pub struct SendText {
    /// What to send, and where.
    pub plan: SendPlan,
    /// Who wished for it.
    pub by: AgentName,
}

/// Reads a board's flash into a file.
#[derive(Debug)]
pub struct ReadBack {
    /// What to read, and where to.
    pub plan: ReadPlan,
}

/// Changes entries of a board's non-volatile storage.
#[derive(Debug)]
pub struct EditNvs {
    /// What to change, and where.
    pub plan: NvsPlan,
}

/// What a recorded decision allows.
#[derive(Debug)]
pub(super) enum Ruled {
    Denied,
    /// Writing a file.
    Save(Approved<Save>),
    /// Writing a merged file.
    Insert(Approved<Insert>),
    /// Removing a file.
    Delete(Approved<Delete>),
    /// Writing to a board.
    Flash(Approved<Flash>),
    /// Erasing a board's flash.
    Erase(Approved<Erase>),
    /// Reading a board's flash.
    Read(Approved<ReadBack>),
    /// Changing what a board stores.
    Nvs(Approved<EditNvs>),
    /// Sending to a board.
    Send(Approved<SendText>),
}

/// Records `decision` and hands out what it allows. `content` is what the file shall hold: what was
/// proposed, or what the decision says instead; empty for a change without content. `judged` is the
/// proposal with the findings about just that content. A content that
/// is approved is shown to `stage` while the record is on its way to the disk.
///
/// # Errors
/// When the decision was made on something else, when `content` is not what was decided, or when
/// it could not be recorded; then nothing may happen.
pub(super) fn decide(
    ledger: &dyn Ledger,
    (proposal, judged): (&Proposal, &Proposal),
    decision: &Decision,
    content: Vec<u8>,
    stage: &mut dyn FnMut(&SyncPending<'_>),
) -> Result<Ruled, UserError> {
    let refused = |why: &str| {
        let what = format!("Cannot carry out the decision on proposal {}", proposal.id);
        UserError::new(what, why, "Ask the agent to propose it again.")
    };
    if decision.shown != proposal.change.hash() {
        return Err(refused("it was made for other content"));
    }
    let written = decision.written(&proposal.change);
    if written.is_some_and(|written| written.hash != ContentHash::of(&content)) {
        return Err(refused("the content is not what was decided"));
    }
    let is_approval = decision.verdict.is_approval();
    if is_approval && decision.stops < judged.stops() {
        return Err(refused("it does not list the findings that it accepts"));
    }
    if is_approval
        && let Some(phrase) = judged.phrase()
        && decision.verdict.typed_phrase() != Some(phrase.as_str())
    {
        return Err(refused("the phrase was not typed"));
    }
    let ruled = match decision.verdict {
        Verdict::Approve
        | Verdict::ApproveConfirmed { .. }
        | Verdict::ApproveAndTell { .. }
        | Verdict::ApproveAmended { .. } => approve(proposal, content),
        Verdict::Reject { .. } => Ruled::Denied,
    };
    let decided = Event::Proposal(ProposalEvent::Decided {
        proposal: proposal.id,
        decision: Box::new(decision.clone()),
    });
    match ruled.place() {
        Some(place) => {
            let pending = SyncPending { proposal: proposal.id, place };
            ledger.record_meanwhile(decided, &mut || stage(&pending))?;
        }
        None => _ = ledger.record(decided)?,
    }
    Ok(ruled)
}

impl Ruled {
    /// Where an approved content goes.
    fn place(&self) -> Option<ContentUse<'_>> {
        match self {
            Self::Save(approved) => Some(approved.effect.place()),
            Self::Insert(approved) => Some(approved.effect.place()),
            Self::Denied
            | Self::Delete(_)
            | Self::Flash(_)
            | Self::Erase(_)
            | Self::Read(_)
            | Self::Nvs(_)
            | Self::Send(_) => None,
        }
    }
}

fn approve(proposal: &Proposal, content: Vec<u8>) -> Ruled {
    let id = proposal.id;
    let hash = ContentHash::of(&content);
    match &proposal.change {
        Change::Save { path, base, .. } => {
            let base = base.map(|base| base.hash);
            let effect = Save { path: path.clone(), base, content, hash };
            Ruled::Save(Approved { proposal: id, effect })
        }
        Change::Insert { path, base, .. } => {
            let effect = Insert { path: path.clone(), base: base.hash, content, hash };
            Ruled::Insert(Approved { proposal: id, effect })
        }
        Change::Delete { path, base } => {
            let effect = Delete { path: path.clone(), base: base.hash };
            Ruled::Delete(Approved { proposal: id, effect })
        }
        Change::Flash(plan) => {
            Ruled::Flash(Approved { proposal: id, effect: Flash { plan: plan.clone() } })
        }
        Change::Erase(plan) => {
            Ruled::Erase(Approved { proposal: id, effect: Erase { plan: plan.clone() } })
        }
        Change::Read(plan) => {
            Ruled::Read(Approved { proposal: id, effect: ReadBack { plan: plan.clone() } })
        }
        Change::Nvs(plan) => {
            Ruled::Nvs(Approved { proposal: id, effect: EditNvs { plan: plan.clone() } })
        }
        Change::Send(plan) => {
            let effect = SendText { plan: plan.clone(), by: proposal.agent.clone() };
            Ruled::Send(Approved { proposal: id, effect })
        }
    }
}
