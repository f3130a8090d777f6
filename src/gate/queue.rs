//! Where proposals wait for a person.
//!
//! Owns who may decide what, and when. Must not record or perform anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::oneshot;

use crate::model::{
    Change, ContentHash, DecidedBy, FindingLevel, Proposal, ProposalId, Shown, UserError, Verdict,
};

/// Why a decision was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// No such proposal has come to this desk.
    #[error("there is no proposal {0}")]
    Unknown(ProposalId),
    /// It was decided before, or the desk was closed.
    #[error("proposal {0} is already decided")]
    Decided(ProposalId),
    /// What the person saw is not what would be done.
    #[error("proposal {0} is not what was on screen")]
    HashMismatch(ProposalId),
    /// It has to be confirmed by typing this.
    #[error("proposal {0} has to be confirmed by typing `{1}`")]
    Unconfirmed(ProposalId, String),
    /// Checks have failed, and the decision does not say that it is taken in spite of them.
    #[error("proposal {0} has {1} findings that the plain approval does not cover")]
    Stops(ProposalId, u32),
    /// Another content was given for something that has none.
    #[error("proposal {0} has no content that could be written in part or edited")]
    NoContent(ProposalId),
    /// What it is about no longer exists, for this reason.
    #[error("proposal {0} is damaged: {1}")]
    Damaged(ProposalId, String),
}

impl From<QueueError> for UserError {
    fn from(error: QueueError) -> Self {
        let (id, fix) = match &error {
            QueueError::Unknown(id) => (id, ""),
            QueueError::Decided(id) => (id, "Look at it in the Review pane to see how."),
            QueueError::HashMismatch(id) => (id, "Look at it again and decide on what is shown."),
            QueueError::Unconfirmed(id, _) => (id, "Type exactly that, or reject it."),
            QueueError::Stops(id, _) => {
                (id, "Read the findings; then approve it despite them, or reject it.")
            }
            QueueError::NoContent(id) => (id, "Approve or reject it as a whole."),
            QueueError::Damaged(id, _) => (id, "Reject it; the agent can propose it again."),
        };
        Self::new(format!("Cannot accept the decision on proposal {id}"), error.to_string(), fix)
    }
}

/// What the wait for a verdict led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum QueueAnswer {
    /// Somebody, or nobody, has decided.
    Verdict {
        /// What was said.
        verdict: Verdict,
        by: DecidedBy,
        /// Changed lines that had not been on screen.
        unseen: u32,
        /// Findings in spite of which it is approved.
        stops: u32,
    },
    /// The program closes; the proposal goes on waiting in the journal.
    Detached,
}

#[derive(Debug)]
enum Mode {
    Open,
    Closed(String),
    /// Nobody is there: what was found is the reason, else this.
    Unattended(String),
    Detached,
}

/// What a decision on a proposal has to fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DecisionTerms {
    /// [`Change::hash`] of what is shown.
    pub(super) hash: ContentHash,
    phrase: Option<String>,
    /// Findings that an approval has to name.
    stops: u32,
    has_content: bool,
    /// Why it can only be rejected.
    damage: Option<String>,
    /// The first finding of level stop.
    stop: Option<String>,
}

impl DecisionTerms {
    /// The terms of a proposal.
    pub(super) fn of(proposal: &Proposal) -> Self {
        let has_content = match &proposal.change {
            Change::Save { .. } | Change::Insert { .. } => true,
            Change::Delete { .. }
            | Change::Flash(_)
            | Change::Erase(_)
            | Change::Send(_)
            | Change::Read(_)
            | Change::Nvs(_) => false,
        };
        let (hash, phrase) = (proposal.change.hash(), proposal.phrase());
        let stop = proposal.findings().find(|finding| finding.level == FindingLevel::Stop);
        let stop = stop.map(|finding| finding.text.clone());
        Self { hash, phrase, stops: proposal.stops(), has_content, damage: None, stop }
    }

    /// The terms of a proposal whose contents cannot be read: it can only be rejected.
    pub(super) fn damaged(proposal: &Proposal, why: String) -> Self {
        Self { damage: Some(why), ..Self::of(proposal) }
    }

    /// How it is denied when nobody is there.
    fn unattended(&self, why: &str) -> QueueAnswer {
        match (&self.stop, &self.phrase) {
            (Some(found), _) => denial(&format!("refused: {found}")),
            (None, Some(phrase)) => denial(&format!(
                "a person has to type `{phrase}` for it on the screen; no rule can do that"
            )),
            (None, None) => denial(why),
        }
    }

    fn take(&self, shown: &Shown, given: &Verdict) -> Result<(), QueueError> {
        let id = shown.proposal;
        if self.hash != shown.hash {
            return Err(QueueError::HashMismatch(id));
        }
        if let (Some(why), true) = (&self.damage, given.is_approval()) {
            return Err(QueueError::Damaged(id, why.clone()));
        }
        // What an amended content holds is looked at once it is known.
        if given.is_approval() && given.amended().is_none() && shown.stops < self.stops {
            return Err(QueueError::Stops(id, self.stops));
        }
        if given.amended().is_some() && !self.has_content {
            return Err(QueueError::NoContent(id));
        }
        match &self.phrase {
            Some(phrase)
                if given.is_approval()
                    && given.amended().is_none()
                    && given.typed_phrase() != Some(phrase.as_str()) =>
            {
                Err(QueueError::Unconfirmed(id, phrase.clone()))
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[derive(Debug)]
struct Waiting {
    terms: DecisionTerms,
    answer: oneshot::Sender<QueueAnswer>,
}

#[derive(Debug)]
struct Inner {
    mode: Mode,
    waiting: BTreeMap<ProposalId, Waiting>,
    decided: BTreeSet<ProposalId>,
}

/// The deciding end. Once every clone of it is gone, whatever waits is denied.
#[derive(Debug, Clone)]
pub struct ApprovalQueue(Arc<Mutex<Inner>>);

impl Default for ApprovalQueue {
    fn default() -> Self {
        let (waiting, decided) = (BTreeMap::new(), BTreeSet::new());
        Self(Arc::new(Mutex::new(Inner { mode: Mode::Open, waiting, decided })))
    }
}

impl ApprovalQueue {
    /// Decides one proposal as it was on screen.
    ///
    /// # Errors
    /// Unknown, decided before, another hash, or findings that `shown` does not name; then nothing
    /// has changed.
    pub fn decide(&self, shown: Shown, verdict: Verdict) -> Result<(), QueueError> {
        let Shown { proposal, unseen, stops, .. } = shown;
        let mut inner = lock(&self.0);
        let Some(waiting) = inner.waiting.get(&proposal) else {
            return Err(match inner.decided.contains(&proposal) {
                true => QueueError::Decided(proposal),
                false => QueueError::Unknown(proposal),
            });
        };
        waiting.terms.take(&shown, &verdict)?;
        let by = DecidedBy::Person;
        inner.answer(proposal, QueueAnswer::Verdict { verdict, by, unseen, stops });
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

    /// Takes proposals again after [`ApprovalQueue::close`].
    pub fn open_again(&self) {
        let mut inner = lock(&self.0);
        if matches!(inner.mode, Mode::Closed(_)) {
            inner.mode = Mode::Open;
        }
    }

    /// Denies what waits and whatever comes later, because nobody is there. A proposal that no
    /// rule may approve is refused for what was found, anything else for `why`.
    pub fn leave_unattended(&self, why: impl Into<String>) {
        let why = why.into();
        let mut inner = lock(&self.0);
        let waiting: Vec<(ProposalId, QueueAnswer)> = inner
            .waiting
            .iter()
            .map(|(id, waiting)| (*id, waiting.terms.unattended(&why)))
            .collect();
        inner.mode = Mode::Unattended(why);
        for (id, denial) in waiting {
            inner.answer(id, denial);
        }
    }

    /// Leaves everything as it is for the next start of the program: nothing is decided, nothing
    /// recorded, and whoever waits is told to go.
    pub fn detach(&self) {
        let mut inner = lock(&self.0);
        inner.mode = Mode::Detached;
        inner.answer_all(&QueueAnswer::Detached);
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
    pub(super) fn put(&self, proposal: ProposalId, terms: DecisionTerms) -> Ticket {
        let (answer, verdict) = oneshot::channel();
        if let Some(inner) = self.0.upgrade() {
            let mut inner = lock(&inner);
            let unattended = match &inner.mode {
                Mode::Unattended(why) => Some(terms.unattended(why)),
                Mode::Open | Mode::Closed(_) | Mode::Detached => None,
            };
            // On a closed desk the answer is there before the proposal is seen.
            inner.waiting.insert(proposal, Waiting { terms, answer });
            inner.decided.remove(&proposal);
            match &inner.mode {
                Mode::Open | Mode::Unattended(_) => {
                    if let Some(denial) = unattended {
                        inner.answer(proposal, denial);
                    }
                }
                Mode::Closed(why) => {
                    let denial = denial(why);
                    inner.answer(proposal, denial);
                }
                Mode::Detached => inner.answer(proposal, QueueAnswer::Detached),
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
    verdict: oneshot::Receiver<QueueAnswer>,
}

impl Ticket {
    /// Waits for the verdict; may be given up and called again until there is one. A lost desk
    /// denies.
    pub(super) async fn wait(&mut self) -> QueueAnswer {
        (&mut self.verdict).await.unwrap_or_else(|_| denial(LOST))
    }

    /// From now on only a decision on `terms` is taken; `false` when one was taken before.
    pub(super) fn restate(&self, terms: DecisionTerms) -> bool {
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

    /// Denies the proposal for this reason, unless a decision was taken before.
    pub(super) fn deny(&self, why: &str) {
        if let Some(inner) = self.queue.0.upgrade() {
            lock(&inner).answer(self.proposal, denial(why));
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

const LOST: &str = "the program closed before a decision";

impl Inner {
    fn answer(&mut self, proposal: ProposalId, spoken: QueueAnswer) {
        let Some(waiting) = self.waiting.remove(&proposal) else { return };
        if spoken != QueueAnswer::Detached {
            self.decided.insert(proposal);
        }
        // Whoever waited may be gone by now; then there is nothing to decide any more.
        let _ = waiting.answer.send(spoken);
    }

    fn answer_all(&mut self, spoken: &QueueAnswer) {
        let all: Vec<ProposalId> = self.waiting.keys().copied().collect();
        for proposal in all {
            self.answer(proposal, spoken.clone());
        }
    }
}

fn denial(why: &str) -> QueueAnswer {
    let verdict = Verdict::reject("");
    QueueAnswer::Verdict { verdict, by: DecidedBy::Nobody(why.to_owned()), unseen: 0, stops: 0 }
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

    fn terms(text: &str) -> DecisionTerms {
        DecisionTerms {
            hash: hash(text),
            phrase: None,
            stops: 0,
            has_content: true,
            damage: None,
            stop: None,
        }
    }

    fn shown(proposal: u32, text: &str) -> Shown {
        Shown { proposal: ProposalId(proposal), hash: hash(text), unseen: 2, stops: 0 }
    }

    fn approved() -> QueueAnswer {
        QueueAnswer::Verdict {
            verdict: Verdict::Approve,
            by: DecidedBy::Person,
            unseen: 2,
            stops: 0,
        }
    }

    fn nobody(spoken: &QueueAnswer) -> bool {
        matches!(
            spoken,
            QueueAnswer::Verdict { verdict: Verdict::Reject { .. }, by: DecidedBy::Nobody(_), .. }
        )
    }

    #[tokio::test]
    async fn what_nobody_can_decide_is_refused_for_what_was_found() {
        let why = |spoken: QueueAnswer| match spoken {
            QueueAnswer::Verdict { by: DecidedBy::Nobody(why), .. } => why,
            other => panic!("{other:?}"),
        };
        let found =
            || DecisionTerms { stops: 1, stop: Some("contains a password".into()), ..terms("a") };
        let desk = ApprovalQueue::default();
        let mut before = desk.queue().put(ProposalId(1), found());
        desk.leave_unattended("nobody is there");
        let mut later = desk.queue().put(ProposalId(2), found());
        let mut clean = desk.queue().put(ProposalId(3), terms("a"));
        assert_eq!(why(before.wait().await), "refused: contains a password");
        assert_eq!(why(later.wait().await), "refused: contains a password");
        assert_eq!(why(clean.wait().await), "nobody is there");
        let heavy = DecisionTerms { phrase: Some("flash esp32".into()), ..terms("a") };
        let mut heavy = desk.queue().put(ProposalId(4), heavy);
        assert!(why(heavy.wait().await).starts_with("a person has to type `flash esp32`"));
    }

    #[tokio::test]
    async fn a_decision_is_bound_to_what_was_shown() {
        let desk = ApprovalQueue::default();
        let mut ticket = desk.queue().put(ProposalId(1), terms("new"));
        let wrong = desk.decide(shown(1, "old"), Verdict::Approve);
        assert_eq!(wrong, Err(QueueError::HashMismatch(ProposalId(1))));
        assert_eq!(desk.waiting(), [ProposalId(1)]);
        desk.decide(shown(1, "new"), Verdict::Approve).unwrap();
        assert_eq!(ticket.wait().await, approved());
    }

    #[tokio::test]
    async fn an_approval_has_to_name_the_findings() {
        let desk = ApprovalQueue::default();
        let flagged = DecisionTerms { stops: 2, ..terms("new") };
        let mut ticket = desk.queue().put(ProposalId(1), flagged);
        for stops in [0, 1] {
            let plain = desk.decide(Shown { stops, ..shown(1, "new") }, Verdict::Approve);
            assert_eq!(plain, Err(QueueError::Stops(ProposalId(1), 2)));
        }
        desk.decide(Shown { stops: 2, ..shown(1, "new") }, Verdict::Approve).unwrap();
        assert!(matches!(ticket.wait().await, QueueAnswer::Verdict { stops: 2, .. }));
    }

    #[tokio::test]
    async fn each_proposal_is_decided_once() {
        let desk = ApprovalQueue::default();
        let mut ticket = desk.queue().put(ProposalId(1), terms("a"));
        desk.decide(shown(1, "a"), Verdict::Approve).unwrap();
        let again = desk.decide(shown(1, "a"), Verdict::Approve);
        assert_eq!(again, Err(QueueError::Decided(ProposalId(1))));
        let unknown = desk.decide(shown(2, "a"), Verdict::Approve);
        assert_eq!(unknown, Err(QueueError::Unknown(ProposalId(2))));
        assert_eq!(ticket.wait().await, approved());
    }

    #[tokio::test]
    async fn closing_denies_what_waits_and_what_comes() {
        let desk = ApprovalQueue::default();
        let mut before = desk.queue().put(ProposalId(1), terms("a"));
        desk.close("the run was stopped");
        let mut after = desk.queue().put(ProposalId(2), terms("b"));
        assert!(nobody(&before.wait().await));
        assert!(nobody(&after.wait().await));
    }

    #[tokio::test]
    async fn losing_the_desk_denies() {
        let desk = ApprovalQueue::default();
        let queue = desk.queue();
        let mut before = queue.put(ProposalId(1), terms("a"));
        drop(desk);
        assert!(nobody(&before.wait().await));
        assert!(nobody(&queue.put(ProposalId(2), terms("b")).wait().await));
    }

    #[tokio::test]
    async fn leaving_decides_nothing() {
        let desk = ApprovalQueue::default();
        let mut ticket = desk.queue().put(ProposalId(1), terms("a"));
        desk.detach();
        assert_eq!(ticket.wait().await, QueueAnswer::Detached);
        let late = desk.decide(shown(1, "a"), Verdict::Approve);
        assert_eq!(late, Err(QueueError::Unknown(ProposalId(1))));
    }

    #[test]
    fn whoever_gives_up_takes_the_proposal_off_the_desk() {
        let desk = ApprovalQueue::default();
        drop(desk.queue().put(ProposalId(1), terms("a")));
        assert!(desk.waiting().is_empty());
        assert!(desk.decide(shown(1, "a"), Verdict::Approve).is_err());
    }
}
