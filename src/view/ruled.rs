//! What rules decided, and what they left to the person.
//!
//! Owns the words for it. Must not judge anything: the gate has recorded who decided.

use crate::model::{
    Change, ChangeKind, DecidedBy, Decision, FindingLevel, Outcome, Proposal, ProposalId, Timestamp,
};

/// A rule and a proposal that it was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuledView {
    pub proposal: ProposalId,
    /// What it would do.
    pub kind: ChangeKind,
    /// To what: a path, or a board.
    pub target: String,
    /// The rule in its own words.
    pub rule: String,
    /// What the rule led to.
    pub ruled: Ruled,
    pub at: Timestamp,
}

/// What a rule led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruled {
    /// It was done.
    Done,
    /// It was refused.
    Refused,
    /// It was allowed and could not be done.
    NotDone,
    /// The person is asked all the same, for this reason.
    LeftToPerson(String),
}

impl RuledView {
    /// What is said when a proposal comes that a rule would have approved, had nothing stood
    /// against it.
    #[must_use]
    pub fn open(proposal: &Proposal, at: Timestamp) -> Option<Self> {
        let rule = proposal.facts.held_rule.as_str();
        if rule.is_empty() {
            return None;
        }
        let ruled = Ruled::LeftToPerson(against(proposal));
        Some(Self::new(proposal.id, &proposal.change, rule, ruled, at))
    }

    /// What is said once a proposal that a rule decided is settled; `None`: no rule has.
    #[must_use]
    pub fn settled(
        (id, change): (ProposalId, &Change),
        decision: &Decision,
        outcome: &Outcome,
        at: Timestamp,
    ) -> Option<Self> {
        let DecidedBy::Policy(rule) = &decision.by else { return None };
        let ruled = match outcome {
            _ if !decision.verdict.is_approval() => Ruled::Refused,
            Outcome::Applied => Ruled::Done,
            Outcome::Denied => Ruled::Refused,
            Outcome::Stale { .. } | Outcome::Failed(_) | Outcome::Interrupted(_) => Ruled::NotDone,
        };
        Some(Self::new(id, change, rule, ruled, at))
    }

    fn new(proposal: ProposalId, change: &Change, rule: &str, ruled: Ruled, at: Timestamp) -> Self {
        let path = change.path().map(|path| path.as_str().to_owned());
        let board = || change.board().map(|board| board.label.clone());
        let target = path.or_else(board).unwrap_or_default();
        let rule = rule_words(rule).to_owned();
        Self { proposal, kind: change.change_kind(), target, rule, ruled, at }
    }

    /// It in one sentence, not made safe for a terminal yet.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { proposal, kind, target, rule, .. } = self;
        let what = kind.as_str();
        match &self.ruled {
            Ruled::Done => format!("{} {target} by rule \"{rule}\"", done(*kind)),
            Ruled::Refused => format!("refused to {what} {target} by rule \"{rule}\""),
            Ruled::NotDone => format!("did not {what} {target}, which rule \"{rule}\" allowed"),
            Ruled::LeftToPerson(why) => {
                format!("rule \"{rule}\" does not decide #{proposal}, {what} {target}: {why}")
            }
        }
    }
}

/// A rule without what only the journal needs of it.
#[must_use]
pub fn rule_words(rule: &str) -> &str {
    rule.rsplit_once(" (session rule ").map_or(rule, |(words, _)| words)
}

/// Why no rule may approve a proposal.
#[must_use]
pub fn against(proposal: &Proposal) -> String {
    let stop = proposal.findings().find(|finding| finding.level == FindingLevel::Stop);
    match (stop, proposal.phrase()) {
        (Some(finding), _) => format!("it {}", finding.text),
        (None, Some(_)) => "it needs a typed phrase".to_owned(),
        (None, None) => "actions on a real board are always asked".to_owned(),
    }
}

const fn done(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Save => "saved",
        ChangeKind::Delete => "deleted",
        ChangeKind::Insert => "inserted into",
        ChangeKind::Flash => "flashed",
        ChangeKind::Erase => "erased",
        ChangeKind::Send => "sent to",
        ChangeKind::Read => "read from",
        ChangeKind::Nvs => "edited the settings of",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_told_without_its_number() {
        assert_eq!(rule_words("always save main/** (session rule 1)"), "always save main/**");
        assert_eq!(rule_words("allow main/** (p.toml:2)"), "allow main/** (p.toml:2)");
    }
}
