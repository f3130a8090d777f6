//! One line of the journal: its form, and when it must be on disk.

use serde::{Deserialize, Serialize};

use super::event::{Event, PersonEvent, ProposalEvent};
use super::ids::Seq;
use super::time::Timestamp;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the format, [`Record::VERSION`].
    pub v: u16,
    /// Position in the journal.
    pub seq: Seq,
    /// When it was recorded.
    pub at: Timestamp,
    pub event: Event,
}

impl Record {
    /// The version this program writes.
    pub const VERSION: u16 = 1;
}

impl Event {
    /// Whether the record must be on disk before anything relies on it: decisions, and the start
    /// and end of a session.
    #[must_use]
    pub const fn is_synced(&self) -> bool {
        matches!(
            self,
            Event::Session(_)
                | Event::Proposal(ProposalEvent::Decided { .. })
                | Event::Proposal(ProposalEvent::RuleAdded { .. })
                | Event::Proposal(ProposalEvent::RuleRevoked { .. })
                | Event::Person(PersonEvent::StopRequested)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TurnEvent;
    use crate::model::TurnId;

    #[test]
    fn record_has_a_flat_readable_json_form() {
        let event = Event::Turn(TurnEvent::TextAdded { turn: TurnId(3), text: "hi".into() });
        let record = Record { v: 1, seq: Seq(7), at: Timestamp(12), event };
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(
            json,
            r#"{"v":1,"seq":7,"at":12,"event":{"text_added":{"turn":3,"text":"hi"}}}"#
        );
        assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
    }

    #[test]
    fn unit_events_read_back() {
        let json = r#"{"v":1,"seq":1,"at":0,"event":"paused"}"#;
        assert_eq!(
            serde_json::from_str::<Record>(json).unwrap().event,
            Event::Person(PersonEvent::Paused)
        );
    }
}
