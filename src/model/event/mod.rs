//! Every fact of a session, by family.
//!
//! A new event is a variant of its family and the folds that care for it. Its JSON form is part of
//! the journal's format, see `wire.rs`: adding a variant or an optional field keeps
//! [`Record::VERSION`](super::Record::VERSION), anything else raises it. Must not say what follows
//! from an event.

mod board;
mod build;
mod files;
mod person;
mod proposal;
mod session;
mod turn;
mod wire;

pub use board::{BoardEvent, PortEvent};
pub use build::{BuildEvent, LogEvent};
pub use files::{FileSignatures, FilesEvent, ProjectFile};
pub use person::{Level, PersonEvent};
pub use proposal::ProposalEvent;
pub use session::{PhaseEvent, RunStart, SessionChoices, SessionEvent, SessionParts, SessionStart};
pub use turn::TurnEvent;

use super::answering::ModelEvent;
use super::team::TeamEvent;
pub use super::test_run::TestEvent;

/// A fact. What is large and rare is boxed: a long session holds a million, and every
/// fact is moved several times on its way into a view.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The session as a whole.
    Session(SessionEvent),
    Phase(PhaseEvent),
    Turn(TurnEvent),
    /// The model that answers.
    Model(ModelEvent),
    /// The team's own work.
    Team(TeamEvent),
    /// The project's files on disk.
    Files(FilesEvent),
    /// Proposals, decisions and outcomes.
    Proposal(ProposalEvent),
    Build(BuildEvent),
    /// Runs of tests.
    Test(TestEvent),
    Log(LogEvent),
    Board(BoardEvent),
    Port(PortEvent),
    Person(PersonEvent),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_small() {
        assert!(size_of::<Event>() <= 128, "{} bytes", size_of::<Event>());
    }
}
