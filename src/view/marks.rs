//! Moments worth a mark on the timeline.

use crate::model::{BuildOutcome, Event, Outcome, PortEvent, Record, Seq, Timestamp};

/// A moment of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The record.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: MarkKind,
}

/// What happened at a [`Mark`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// A turn began.
    Turn,
    /// A proposal was made.
    Proposal,
    /// A proposal was refused.
    Rejection,
    /// A build passed.
    BuildPassed,
    /// A build failed, or something else did.
    Error,
    /// A board was flashed.
    Flash,
    /// The firmware on a board failed.
    Panic,
}

/// The mark that `record` leaves, if any. A flash leaves its own when the board connects again.
pub(super) fn mark_of(record: &Record) -> Option<Mark> {
    let kind = match &record.event {
        Event::TurnStarted { .. } => MarkKind::Turn,
        Event::Proposed(_) => MarkKind::Proposal,
        Event::Decided { decision, .. } if decision.verdict.is_approval() => return None,
        Event::Decided { .. } => MarkKind::Rejection,
        Event::Settled { outcome: Outcome::Failed(_) | Outcome::Stale { .. }, .. } => {
            MarkKind::Error
        }
        Event::BuildEnded { outcome: BuildOutcome::Passed, .. } => MarkKind::BuildPassed,
        Event::BuildEnded { .. } => MarkKind::Error,
        Event::BoardConnected(_) => MarkKind::Flash,
        Event::Port { event: PortEvent::Panicked { .. }, .. } => MarkKind::Panic,
        Event::SessionStarted(_)
        | Event::SessionResumed { .. }
        | Event::SessionEnded { .. }
        | Event::ProjectListed { .. }
        | Event::Files(_)
        | Event::PhaseStarted { .. }
        | Event::PhaseEnded { .. }
        | Event::SpeakerChosen { .. }
        | Event::TextAdded { .. }
        | Event::ToolCalled { .. }
        | Event::ToolAnswered { .. }
        | Event::ModelAnswered { .. }
        | Event::Model(_)
        | Event::TurnEnded { .. }
        | Event::Team(_)
        | Event::Settled { .. }
        | Event::FlashProgress { .. }
        | Event::BuildStarted { .. }
        | Event::BuildProgress { .. }
        | Event::LogGrew { .. }
        | Event::BoardLost { .. }
        | Event::SerialOpened { .. }
        | Event::SerialClosed { .. }
        | Event::Port { .. }
        | Event::PersonSaid { .. }
        | Event::Asked { .. }
        | Event::Restated { .. }
        | Event::Inquired { .. }
        | Event::InquiryTextAdded { .. }
        | Event::InquiryEnded { .. }
        | Event::RuleAdded { .. }
        | Event::RuleRevoked { .. }
        | Event::Answered { .. }
        | Event::Paused
        | Event::Unpaused
        | Event::StopRequested
        | Event::Noticed { .. } => return None,
    };
    Some(Mark { seq: record.seq, at: record.at, kind })
}
