//! What was carried out in this session, so that it can be taken back.
//!
//! A fold of decisions and outcomes; must not look at the disk.

use crate::model::Change;
use std::collections::BTreeMap;

use crate::model::{
    BlobRef, CallId, ContentHash, Decision, Event, Outcome, ProjectPath, Proposal, ProposalEvent,
    ProposalId, Record, TurnId, UserError,
};

/// Changes that can still be taken back, the newest ones.
const MOST: usize = 10_000;

/// A file change that was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Carried {
    pub(super) path: ProjectPath,
    /// What it held before; `None`: it was not there.
    pub(super) before: Option<BlobRef>,
    /// What it held afterwards; `None`: it was gone.
    pub(super) after: Option<BlobRef>,
    /// The turn the change came from.
    pub(super) turn: TurnId,
    /// The tool call it came from.
    pub(super) call: CallId,
    /// The proposal that took it back.
    undone_by: Option<ProposalId>,
    /// The change that this one took back.
    undoes: Option<ProposalId>,
}

/// Every file change that was carried out.
#[derive(Debug, Default)]
pub(super) struct ChangeHistory {
    carried: BTreeMap<ProposalId, Carried>,
    /// The newest of those that are too old to be taken back.
    given_up: Option<ProposalId>,
    /// What was done to boards, which cannot be taken back, in a word each.
    on_boards: BTreeMap<ProposalId, &'static str>,
    /// Proposals of an earlier start of the program on their way to an outcome.
    under_way: BTreeMap<ProposalId, (Proposal, Option<Decision>)>,
}

impl ChangeHistory {
    /// Notes what came of a proposal.
    pub(super) fn settled(&mut self, proposal: &Proposal, decision: &Decision, outcome: &Outcome) {
        if *outcome != Outcome::Applied {
            return;
        }
        let files = proposal.change.path().filter(|_| proposal.change.board().is_none());
        let Some(path) = files else {
            self.on_boards.insert(proposal.id, proposal.change.kind());
            if self.on_boards.len() > MOST {
                self.on_boards.pop_first();
            }
            return;
        };
        if let Some(undone) = proposal.facts.undoes.and_then(|id| self.carried.get_mut(&id)) {
            undone.undone_by = Some(proposal.id);
        }
        let carried = Carried {
            path: path.clone(),
            before: proposal.change.before(),
            after: decision.written(&proposal.change),
            turn: proposal.turn,
            call: proposal.call,
            undone_by: None,
            undoes: proposal.facts.undoes,
        };
        self.carried.insert(proposal.id, carried);
        if self.carried.len() > MOST
            && let Some((id, _)) = self.carried.pop_first()
        {
            self.given_up = Some(id);
        }
    }

    /// The change that the person took back last, if that is why a file holds `now`: nothing was
    /// done to it since.
    pub(super) fn taken_back(
        &self,
        path: &ProjectPath,
        now: Option<ContentHash>,
    ) -> Option<ProposalId> {
        let newest = self.carried.values().rev().find(|carried| carried.path == *path)?;
        newest.undoes.filter(|_| newest.after.map(|blob| blob.hash) == now)
    }

    /// Folds a record of an earlier start of the program in.
    pub(super) fn recall(&mut self, record: &Record) {
        if let Event::Proposal(ProposalEvent::Made(proposal)) = &record.event {
            self.under_way.insert(proposal.id, (Proposal::clone(proposal), None));
        }
        if let Event::Proposal(ProposalEvent::Restated { proposal, change, .. }) = &record.event
            && let Some((known, _)) = self.under_way.get_mut(proposal)
        {
            known.change = Change::clone(change);
        }
        if let Event::Proposal(ProposalEvent::Decided { proposal, decision }) = &record.event
            && let Some((_, decided)) = self.under_way.get_mut(proposal)
        {
            *decided = Some(Decision::clone(decision));
        }
        if let Event::Proposal(ProposalEvent::Settled { proposal, outcome }) = &record.event
            && let Some((proposal, Some(decision))) = self.under_way.remove(proposal)
        {
            self.settled(&proposal, &decision, outcome);
        }
    }

    /// The undoing proposals that an earlier start of the program did not bring to an end.
    pub(super) fn unfinished_undos(&mut self) -> Vec<(Proposal, Option<Decision>)> {
        let all = std::mem::take(&mut self.under_way);
        all.into_values().filter(|(proposal, _)| proposal.facts.undoes.is_some()).collect()
    }

    /// The change to take back.
    ///
    /// # Errors
    /// When nothing of that number was carried out on a file, or it was taken back before.
    pub(super) fn undoable(&self, id: ProposalId) -> Result<&Carried, UserError> {
        let refused =
            |why: String, fix: &str| UserError::new(format!("Cannot undo proposal {id}"), why, fix);
        if let Some(kind) = self.on_boards.get(&id) {
            let why = format!("it was a {kind}: an action on a board cannot be undone");
            return Err(refused(why, "Flash the firmware that should be on the board."));
        }
        if self.given_up.is_some_and(|newest| id <= newest) && !self.carried.contains_key(&id) {
            let why = format!("it is older than the {MOST} newest changes of the session");
            return Err(refused(why, "Take the earlier content from `firmhand replay`."));
        }
        let Some(carried) = self.carried.get(&id) else {
            let why = "no change of a file has that number".to_owned();
            return Err(refused(why, "Choose a change that was applied in this session."));
        };
        match carried.undone_by {
            None => Ok(carried),
            Some(by) => {
                let why = format!("proposal {by} has already undone it");
                Err(refused(why, &format!("Undo proposal {by} to restore it.")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::gate_tests::world::proposal;
    use crate::model::{BoardInfo, DecidedBy, ErasePlan, Verdict};

    fn note(history: &mut ChangeHistory, id: u32, change: Change, outcome: &Outcome) {
        let shown = change.hash();
        let proposal = proposal(id, change);
        let by = DecidedBy::Person;
        let decision = Decision { verdict: Verdict::Approve, by, shown, unseen: 0, stops: 0 };
        history.settled(&proposal, &decision, outcome);
    }

    fn save() -> Change {
        let content = BlobRef { hash: ContentHash::of(b"new"), bytes: 3 };
        Change::Save { path: ProjectPath::new("a.c").unwrap(), base: None, content }
    }

    fn erase() -> Change {
        let board = BoardInfo {
            label: "board".to_owned(),
            chip: "esp32".to_owned(),
            port: "/dev/ttyUSB0".to_owned(),
            simulated: false,
        };
        Change::Erase(ErasePlan { board, region: None })
    }

    fn why(history: &ChangeHistory, id: u32) -> Option<String> {
        history.undoable(ProposalId(id)).err().map(|error| error.why)
    }

    #[test]
    fn the_newest_changes_can_be_undone_and_the_others_are_known_to_be_older() {
        let mut history = ChangeHistory::default();
        let most = u32::try_from(MOST).unwrap();
        for id in 1..=most {
            note(&mut history, 2 * id, save(), &Outcome::Applied);
        }
        assert_eq!((why(&history, 2), why(&history, 2 * most)), (None, None));
        let unknown = Some("no change of a file has that number".to_owned());
        assert_eq!([why(&history, 1), why(&history, 3)], [unknown.clone(), unknown.clone()]);
        for id in most + 1..=most + 2 {
            note(&mut history, 2 * id, save(), &Outcome::Applied);
        }
        let is_older = |id| why(&history, id).is_some_and(|why| why.starts_with("it is older"));
        assert!(is_older(1) && is_older(2) && is_older(3) && is_older(4));
        assert_eq!((why(&history, 6), why(&history, 7)), (None, unknown));
    }

    #[test]
    fn what_was_not_carried_out_or_was_done_to_a_board_cannot_be_undone() {
        let mut history = ChangeHistory::default();
        note(&mut history, 1, save(), &Outcome::Denied);
        assert!(why(&history, 1).is_some_and(|why| why.starts_with("no change of a file")));
        let most = u32::try_from(MOST).unwrap();
        for id in 1..=most {
            note(&mut history, id, erase(), &Outcome::Applied);
        }
        let is_of_board = |history: &ChangeHistory, id| {
            why(history, id)
                .is_some_and(|why| why.contains("an action on a board cannot be undone"))
        };
        assert!(is_of_board(&history, 1) && is_of_board(&history, most));
        note(&mut history, most + 1, erase(), &Outcome::Applied);
        assert!(!is_of_board(&history, 1) && is_of_board(&history, 2));
    }
}
