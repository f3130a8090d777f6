//! What a tool hands to the gate, and what the gate hands back.

use super::check::Check;
use super::decision::Decision;
use super::ids::ProposalId;
use super::proposal::{EffectOf, Outcome};

/// A proposal in the making: contents are still bytes, numbers are not given yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub change: DraftChange,
    /// The agent's stated reason; may be empty.
    pub reason: String,
    /// Findings made so far.
    pub checks: Vec<Check>,
}

/// The effect of a [`Draft`].
pub type DraftChange = EffectOf<Vec<u8>>;

/// How one draft ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The number it was given.
    pub proposal: ProposalId,
    /// What was decided, and by whom.
    pub decision: Decision,
    /// What came of it.
    pub outcome: Outcome,
}
