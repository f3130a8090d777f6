//! Facts of proposals, from the wish to its outcome.

use serde::{Deserialize, Serialize};

use crate::model::check::Check;
use crate::model::decision::Decision;
use crate::model::error::UserError;
use crate::model::ids::{AgentName, InquiryId, ProposalId, RuleId, TurnId};
use crate::model::intent::Excerpt;
use crate::model::message::Usage;
use crate::model::proposal::{Change, Outcome, Proposal};
use crate::model::rule::SessionRule;

/// What agents wish to do, what the person asks about it, what is decided, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ProposalEvent {
    /// A tool wishes for an effect.
    #[serde(rename = "proposed")]
    Made(Box<Proposal>),
    /// The file changed on disk while the proposal waited: from here on this is what waits.
    #[serde(rename = "restated")]
    Restated {
        proposal: ProposalId,
        /// The wish against the file as it is now.
        change: Box<Change>,
        /// Findings about it, which replace those known before.
        checks: Vec<Check>,
        /// What happened, in a sentence for people.
        why: String,
    },
    /// The wish was decided. Synced before the effect begins.
    #[serde(rename = "decided")]
    Decided { proposal: ProposalId, decision: Box<Decision> },
    /// What came of it.
    #[serde(rename = "settled")]
    Settled { proposal: ProposalId, outcome: Outcome },
    /// Bytes of a flash that were written so far.
    #[serde(rename = "flash_progress")]
    FlashProgress {
        proposal: ProposalId,
        /// Written and verified bytes.
        done: u64,
        /// Bytes to write and to verify.
        total: u64,
    },
    /// The person asks the agent about its proposal, which goes on waiting.
    #[serde(rename = "inquired")]
    Inquired {
        /// Number of the question.
        inquiry: InquiryId,
        proposal: ProposalId,
        /// Who is asked.
        agent: AgentName,
        /// The turn in which it was proposed; older records do not name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        /// The lines it is about; `None`: the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        excerpt: Option<Excerpt>,
        text: String,
    },
    /// The agent answered some more.
    #[serde(rename = "inquiry_text_added")]
    InquiryTextAdded {
        inquiry: InquiryId,
        /// What to append.
        text: String,
    },
    /// The answer is complete, or did not come.
    #[serde(rename = "inquiry_ended")]
    InquiryEnded {
        inquiry: InquiryId,
        /// Tokens it cost.
        usage: Usage,
        /// Why there is no whole answer; `None` when there is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<UserError>,
    },
    /// The person made a rule for the session. Synced before it decides anything.
    #[serde(rename = "rule_added")]
    RuleAdded {
        rule: RuleId,
        /// What it says, about what.
        says: SessionRule,
    },
    /// The person ended a rule of the session.
    #[serde(rename = "rule_revoked")]
    RuleRevoked { rule: RuleId },
}
