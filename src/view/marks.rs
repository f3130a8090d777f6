//! Moments worth a mark on the timeline.
//!
//! Owns how many are kept: their number is bounded however long the session is. Must not know how
//! a mark is drawn.

use crate::model::{
    BoardEvent, BuildEvent, BuildOutcome, DecidedBy, Event, Outcome, PhaseEvent, PhaseOutcome,
    PortChange, PortEvent, ProposalEvent, Record, Seq, SessionEvent, SessionOutcome, TestEvent,
    Timestamp, TurnEvent, TurnStop,
};

/// A moment of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub seq: Seq,
    pub at: Timestamp,
    pub kind: MarkKind,
}

/// What happened at a [`Mark`], the least telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// A turn began.
    Turn,
    /// A proposal was made.
    Proposal,
    /// A build passed.
    BuildPassed,
    /// A board was flashed.
    Flash,
    /// The person asked for more: the next run of the session began.
    Request,
    /// A proposal was refused.
    Rejection,
    /// A build failed, or something else did.
    Error,
    /// The firmware on a board failed.
    Panic,
}

impl MarkKind {
    /// How much it tells: of two marks in one place the heavier one is shown.
    #[must_use]
    pub const fn weight(self) -> u8 {
        self as u8
    }
}

/// Most marks that are kept; several times the columns of a wide screen.
const MOST: usize = 4_096;

/// The marks of a session. In a long one those of neighbouring records share a place, which the
/// heaviest of them has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marks {
    /// Oldest first; at most one in each place.
    kept: Vec<Mark>,
    /// Records that share a place.
    width: u64,
}

impl Default for Marks {
    fn default() -> Self {
        Self { kept: Vec::new(), width: 1 }
    }
}

impl Marks {
    /// Oldest first.
    #[must_use]
    pub fn all(&self) -> &[Mark] {
        &self.kept
    }

    /// Those up to a record.
    #[must_use]
    pub fn until(&self, seq: Seq) -> Self {
        let count = self.kept.partition_point(|mark| mark.seq <= seq);
        let kept = self.kept.get(..count).unwrap_or_default().to_vec();
        Self { kept, width: self.width }
    }

    pub(super) fn apply(&mut self, record: &Record) {
        let Some(mark) = mark_of(record) else { return };
        self.add(mark);
        while self.kept.len() > MOST {
            self.width *= 2;
            for mark in std::mem::take(&mut self.kept) {
                self.add(mark);
            }
        }
    }

    fn add(&mut self, mark: Mark) {
        match self.kept.last_mut() {
            Some(last) if last.seq.0 / self.width == mark.seq.0 / self.width => {
                if last.kind.weight() < mark.kind.weight() {
                    *last = mark;
                }
            }
            _ => self.kept.push(mark),
        }
    }
}

/// The mark that `record` leaves, if any. A flash leaves its own when the board connects again.
#[must_use]
pub fn mark_of(record: &Record) -> Option<Mark> {
    let kind = match &record.event {
        Event::Session(SessionEvent::RunStarted(_)) => MarkKind::Request,
        Event::Turn(TurnEvent::Started { .. }) => MarkKind::Turn,
        Event::Proposal(ProposalEvent::Made(_)) => MarkKind::Proposal,
        // What nobody decided is not rejected: the run ended first.
        Event::Proposal(ProposalEvent::Decided { decision, .. })
            if decision.verdict.is_approval() || matches!(decision.by, DecidedBy::Nobody(_)) =>
        {
            return None;
        }
        Event::Proposal(ProposalEvent::Decided { .. }) => MarkKind::Rejection,
        Event::Proposal(ProposalEvent::Settled {
            outcome: Outcome::Failed(_) | Outcome::Stale { .. },
            ..
        }) => MarkKind::Error,
        Event::Build(BuildEvent::Ended { outcome: BuildOutcome::Passed, .. }) => {
            MarkKind::BuildPassed
        }
        Event::Build(BuildEvent::Ended { .. })
        | Event::Turn(TurnEvent::Ended { stop: TurnStop::Failed(_), .. })
        | Event::Phase(PhaseEvent::Ended { outcome: PhaseOutcome::Failed(_), .. })
        | Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Failed(_) }) => {
            MarkKind::Error
        }
        Event::Test(TestEvent::Ended { report, .. }) if !report.has_passed() => MarkKind::Error,
        Event::Board(BoardEvent::Connected(_)) => MarkKind::Flash,
        Event::Port(PortEvent::Changed { event: PortChange::Panicked { .. }, .. }) => {
            MarkKind::Panic
        }
        Event::Session(_)
        | Event::Files(_)
        | Event::Phase(_)
        | Event::Turn(_)
        | Event::Model(_)
        | Event::Team(_)
        | Event::Proposal(_)
        | Event::Build(_)
        | Event::Test(_)
        | Event::Log(_)
        | Event::Board(_)
        | Event::Port(_)
        | Event::Person(_) => return None,
    };
    Some(Mark { seq: record.seq, at: record.at, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AgentName, TurnId};

    fn marks(records: u64, failed: &[u64]) -> Marks {
        let mut marks = Marks::default();
        for seq in 1..=records {
            let event = match failed.contains(&seq) {
                true => Event::Build(BuildEvent::Ended {
                    build: crate::model::BuildId(1),
                    outcome: BuildOutcome::Failed,
                    diagnostics: vec![],
                    millis: 1,
                    size: None,
                }),
                false => Event::Turn(TurnEvent::Started {
                    turn: TurnId(1),
                    agent: AgentName::from("A"),
                    step: None,
                }),
            };
            marks.apply(&Record { v: 1, seq: Seq(seq), at: Timestamp(0), event });
        }
        marks
    }

    #[test]
    fn a_short_session_keeps_every_mark() {
        let marks = marks(4_000, &[7]);
        assert_eq!(marks.all().len(), 4_000);
        assert_eq!(marks.all()[6].kind, MarkKind::Error);
        assert_eq!(marks.until(Seq(10)).all(), &marks.all()[..10]);
    }

    #[test]
    fn what_failed_leaves_a_mark_of_an_error() {
        use crate::model::UserError;
        let failed = [
            Event::Turn(TurnEvent::Ended {
                turn: TurnId(1),
                stop: TurnStop::Failed(UserError::new("a", "b", "c")),
            }),
            Event::Phase(PhaseEvent::Ended {
                phase: "draft".into(),
                attempt: 1,
                outcome: PhaseOutcome::Failed("no list".into()),
                step: None,
            }),
            Event::Session(SessionEvent::Ended {
                outcome: SessionOutcome::Failed(UserError::new("a", "b", "c")),
            }),
        ];
        for event in failed {
            let mark = mark_of(&Record { v: 1, seq: Seq(1), at: Timestamp(0), event });
            assert_eq!(mark.map(|mark| mark.kind), Some(MarkKind::Error));
        }
        let stopped = Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Stopped });
        let record = Record { v: 1, seq: Seq(1), at: Timestamp(0), event: stopped };
        assert_eq!(mark_of(&record), None);
    }

    #[test]
    fn what_the_end_of_a_run_left_undecided_is_not_rejected() {
        use crate::model::{AfterReject, ContentHash, Decision, ProposalId, Verdict};
        let kind = |by| {
            let (reason, then) = (String::new(), AfterReject::GoOn);
            let verdict = Verdict::Reject { reason, comments: Vec::new(), then };
            let shown = ContentHash::of(b"");
            let decision = Box::new(Decision { verdict, by, shown, unseen: 0, stops: 0 });
            let proposal = ProposalId(1);
            let event = Event::Proposal(ProposalEvent::Decided { proposal, decision });
            let record = Record { v: 1, seq: Seq(1), at: Timestamp(0), event };
            mark_of(&record).map(|mark| mark.kind)
        };
        assert_eq!(kind(DecidedBy::Person), Some(MarkKind::Rejection));
        assert_eq!(kind(DecidedBy::Nobody("the run was stopped".into())), None);
    }

    #[test]
    fn a_long_one_keeps_so_many_evenly_and_the_heavier_ones() {
        let failed = [3, 40_000, 79_999, 200_000];
        let marks = marks(200_000, &failed);
        assert!((MOST / 2..=MOST).contains(&marks.all().len()), "{}", marks.all().len());
        let kept: Vec<u64> = marks
            .all()
            .iter()
            .filter(|mark| mark.kind == MarkKind::Error)
            .map(|mark| mark.seq.0)
            .collect();
        assert_eq!(kept, failed);
        let early = marks.until(Seq(100_000)).all().len();
        assert!((marks.all().len() / 2 - 2..=marks.all().len() / 2 + 2).contains(&early));
    }
}
