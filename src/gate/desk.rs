//! Where proposals wait for a person.
//!
//! Owns who may decide what, and when. Must not record or perform anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::oneshot;

use crate::model::{Change, ContentHash, DecidedBy, ProposalId, UserError, Verdict};

/// Why a decision was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeskError {
    /// No such proposal has come to this desk.
    #[error("there is no proposal {0}")]
    Unknown(ProposalId),
    /// It was decided before, or the desk was closed.
    #[error("proposal {0} is decided already")]
    Decided(ProposalId),
    /// What the person saw is not what would be done.
    #[error("proposal {0} is not what was on screen")]
    HashMismatch(ProposalId),
    /// It has to be confirmed by typing this.
    #[error("proposal {0} has to be confirmed by typing `{1}`")]
    Unconfirmed(ProposalId, String),
    /// Another content was given for something that has none.
    #[error("proposal {0} has no content that could be written in part or edited")]
    NoContent(ProposalId),
}

impl From<DeskError> for UserError {
    fn from(error: DeskError) -> Self {
        let (id, fix) = match &error {
            DeskError::Unknown(id) => (id, ""),
            DeskError::Decided(id) => (id, "Look at it in the Review pane to see how."),
            DeskError::HashMismatch(id) => (id, "Look at it again and decide on what is shown."),
            DeskError::Unconfirmed(id, _) => (id, "Type exactly that, or reject it."),
            DeskError::NoContent(id) => (id, "Approve or reject it as a whole."),
        };
        Self::new(format!("The decision on proposal {id} was not taken"), error.to_string(), fix)
    }
}

/// What the wait for a verdict led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Spoken {
    /// Somebody, or nobody, has decided.
    Verdict {
        /// What was said.
        verdict: Verdict,
        /// By whom.
        by: DecidedBy,
        /// Changed lines that had not been on screen.
        unseen: u32,
    },
    /// The program leaves; the proposal goes on waiting in the journal.
    Detached,
}

#[derive(Debug)]
enum Mode {
    Open,
    Closed(String),
    Detached,
}

/// What a decision on a proposal has to fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Terms {
    /// [`Change::hash`] of what is shown.
    pub(super) hash: ContentHash,
    phrase: Option<String>,
    has_content: bool,
}

impl Terms {
    /// The terms of a change.
    pub(super) fn of(change: &Change) -> Self {
        let has_content = match change {
            Change::Save { .. } | Change::Insert { .. } => true,
            Change::Delete { .. }
            | Change::Flash(_)
            | Change::Erase(_)
            | Change::Send(_)
            | Change::Read(_)
            | Change::Nvs(_) => false,
        };
        Self { hash: change.hash(), phrase: change.phrase(), has_content }
    }

    fn take(&self, id: ProposalId, shown: ContentHash, said: &Verdict) -> Result<(), DeskError> {
        if self.hash != shown {
            return Err(DeskError::HashMismatch(id));
        }
        if said.amended().is_some() && !self.has_content {
            return Err(DeskError::NoContent(id));
        }
        match &self.phrase {
            Some(phrase) if said.is_approval() => match said {
                Verdict::ApproveConfirmed { phrase: typed } if typed == phrase => Ok(()),
                _ => Err(DeskError::Unconfirmed(id, phrase.clone())),
            },
            Some(_) | None => Ok(()),
        }
    }
}

#[derive(Debug)]
struct Waiting {
    terms: Terms,
    answer: oneshot::Sender<Spoken>,
}

#[derive(Debug)]
struct Inner {
    mode: Mode,
    waiting: BTreeMap<ProposalId, Waiting>,
    decided: BTreeSet<ProposalId>,
}

/// The deciding end. Once every clone of it is gone, whatever waits is denied.
#[derive(Debug, Clone)]
pub struct Desk(Arc<Mutex<Inner>>);

impl Default for Desk {
    fn default() -> Self {
        let (waiting, decided) = (BTreeMap::new(), BTreeSet::new());
        Self(Arc::new(Mutex::new(Inner { mode: Mode::Open, waiting, decided })))
    }
}

impl Desk {
    /// Decides one proposal. `shown` is the hash of what was on screen, `unseen` how many of its
    /// changed lines had not been.
    ///
    /// # Errors
    /// Unknown, decided before, or another hash; then nothing has changed.
    pub fn decide(
        &self,
        proposal: ProposalId,
        shown: ContentHash,
        verdict: Verdict,
        unseen: u32,
    ) -> Result<(), DeskError> {
        let mut inner = lock(&self.0);
        let Some(waiting) = inner.waiting.get(&proposal) else {
            return Err(match inner.decided.contains(&proposal) {
                true => DeskError::Decided(proposal),
                false => DeskError::Unknown(proposal),
            });
        };
        waiting.terms.take(proposal, shown, &verdict)?;
        let by = DecidedBy::Person;
        inner.answer(proposal, Spoken::Verdict { verdict, by, unseen });
        Ok(())
    }

    /// Denies what waits and whatever comes later; `why` is recorded with each.
    pub fn close(&self, why: impl Into<String>) {
        let why = why.into();
        let mut inner = lock(&self.0);
        let denial = denial(&why);
        inner.mode = Mode::Closed(why);
        inner.answer_all(&denial);
    }

    /// Leaves everything as it is for the next start of the program: nothing is decided, nothing
    /// recorded, and whoever waits is told to go.
    pub fn detach(&self) {
        let mut inner = lock(&self.0);
        inner.mode = Mode::Detached;
        inner.answer_all(&Spoken::Detached);
    }

    /// The proposals that wait, oldest first.
    #[must_use]
    pub fn waiting(&self) -> Vec<ProposalId> {
        lock(&self.0).waiting.keys().copied().collect()
    }

    /// The waiting end for the gate, which does not keep the desk alive.
    pub(super) fn queue(&self) -> Queue {
        Queue(Arc::downgrade(&self.0))
    }
}

/// The end at which proposals arrive.
#[derive(Debug, Clone)]
pub(super) struct Queue(Weak<Mutex<Inner>>);

impl Queue {
    /// Puts a proposal on the desk. It is taken off again when the ticket is dropped.
    pub(super) fn put(&self, proposal: ProposalId, terms: Terms) -> Ticket {
        let (answer, verdict) = oneshot::channel();
        if let Some(inner) = self.0.upgrade() {
            let mut inner = lock(&inner);
            // On a closed desk the answer is there before the proposal is seen.
            inner.waiting.insert(proposal, Waiting { terms, answer });
            inner.decided.remove(&proposal);
            match &inner.mode {
                Mode::Open => {}
                Mode::Closed(why) => {
                    let denial = denial(why);
                    inner.answer(proposal, denial);
                }
                Mode::Detached => inner.answer(proposal, Spoken::Detached),
            }
        }
        Ticket { queue: self.clone(), proposal, verdict }
    }

    /// Notes what was decided without the desk, so that a late key is told the truth.
    pub(super) fn note_decided(&self, proposal: ProposalId) {
        if let Some(inner) = self.0.upgrade() {
            lock(&inner).decided.insert(proposal);
        }
    }
}

/// A proposal's place on the desk.
#[derive(Debug)]
pub(super) struct Ticket {
    queue: Queue,
    proposal: ProposalId,
    verdict: oneshot::Receiver<Spoken>,
}

impl Ticket {
    /// Waits for the verdict; may be given up and called again until there is one. A lost desk
    /// denies.
    pub(super) async fn wait(&mut self) -> Spoken {
        (&mut self.verdict).await.unwrap_or_else(|_| denial(LOST))
    }

    /// From now on only a decision on `terms` is taken; `false` when one was taken before.
    pub(super) fn restate(&self, terms: Terms) -> bool {
        let Some(inner) = self.queue.0.upgrade() else { return false };
        let mut inner = lock(&inner);
        match inner.waiting.get_mut(&self.proposal) {
            Some(waiting) => {
                waiting.terms = terms;
                true
            }
            None => false,
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(inner) = self.queue.0.upgrade() {
            lock(&inner).waiting.remove(&self.proposal);
        }
    }
}

const LOST: &str = "the desk was lost before anybody decided";

impl Inner {
    fn answer(&mut self, proposal: ProposalId, spoken: Spoken) {
        let Some(waiting) = self.waiting.remove(&proposal) else { return };
        if spoken != Spoken::Detached {
            self.decided.insert(proposal);
        }
        // Whoever waited may be gone by now; then there is nothing to decide any more.
        let _ = waiting.answer.send(spoken);
    }

    fn answer_all(&mut self, spoken: &Spoken) {
        let all: Vec<ProposalId> = self.waiting.keys().copied().collect();
        for proposal in all {
            self.answer(proposal, spoken.clone());
        }
    }
}

fn denial(why: &str) -> Spoken {
    let verdict = Verdict::reject("");
    Spoken::Verdict { verdict, by: DecidedBy::Nobody(why.to_owned()), unseen: 0 }
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    // No method leaves the maps half changed, so a panic elsewhere does not make them wrong.
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> ContentHash {
        ContentHash::of(text.as_bytes())
    }

    fn terms(text: &str) -> Terms {
        Terms { hash: hash(text), phrase: None, has_content: true }
    }

    fn approved() -> Spoken {
        Spoken::Verdict { verdict: Verdict::Approve, by: DecidedBy::Person, unseen: 2 }
    }

    fn nobody(spoken: &Spoken) -> bool {
        matches!(
            spoken,
            Spoken::Verdict { verdict: Verdict::Reject { .. }, by: DecidedBy::Nobody(_), .. }
        )
    }

    #[tokio::test]
    async fn a_decision_is_bound_to_what_was_shown() {
        let desk = Desk::default();
        let mut ticket = desk.queue().put(ProposalId(1), terms("new"));
        let wrong = desk.decide(ProposalId(1), hash("old"), Verdict::Approve, 2);
        assert_eq!(wrong, Err(DeskError::HashMismatch(ProposalId(1))));
        assert_eq!(desk.waiting(), [ProposalId(1)]);
        desk.decide(ProposalId(1), hash("new"), Verdict::Approve, 2).unwrap();
        assert_eq!(ticket.wait().await, approved());
    }

    #[tokio::test]
    async fn each_proposal_is_decided_once() {
        let desk = Desk::default();
        let mut ticket = desk.queue().put(ProposalId(1), terms("a"));
        desk.decide(ProposalId(1), hash("a"), Verdict::Approve, 2).unwrap();
        let again = desk.decide(ProposalId(1), hash("a"), Verdict::Approve, 2);
        assert_eq!(again, Err(DeskError::Decided(ProposalId(1))));
        let unknown = desk.decide(ProposalId(2), hash("a"), Verdict::Approve, 2);
        assert_eq!(unknown, Err(DeskError::Unknown(ProposalId(2))));
        assert_eq!(ticket.wait().await, approved());
    }

    #[tokio::test]
    async fn closing_denies_what_waits_and_what_comes() {
        let desk = Desk::default();
        let mut before = desk.queue().put(ProposalId(1), terms("a"));
        desk.close("the run was stopped");
        let mut after = desk.queue().put(ProposalId(2), terms("b"));
        assert!(nobody(&before.wait().await));
        assert!(nobody(&after.wait().await));
    }

    #[tokio::test]
    async fn losing_the_desk_denies() {
        let desk = Desk::default();
        let queue = desk.queue();
        let mut before = queue.put(ProposalId(1), terms("a"));
        drop(desk);
        assert!(nobody(&before.wait().await));
        assert!(nobody(&queue.put(ProposalId(2), terms("b")).wait().await));
    }

    #[tokio::test]
    async fn leaving_decides_nothing() {
        let desk = Desk::default();
        let mut ticket = desk.queue().put(ProposalId(1), terms("a"));
        desk.detach();
        assert_eq!(ticket.wait().await, Spoken::Detached);
        let late = desk.decide(ProposalId(1), hash("a"), Verdict::Approve, 2);
        assert_eq!(late, Err(DeskError::Unknown(ProposalId(1))));
    }

    #[test]
    fn whoever_gives_up_takes_the_proposal_off_the_desk() {
        let desk = Desk::default();
        drop(desk.queue().put(ProposalId(1), terms("a")));
        assert!(desk.waiting().is_empty());
        assert!(desk.decide(ProposalId(1), hash("a"), Verdict::Approve, 2).is_err());
    }
}
