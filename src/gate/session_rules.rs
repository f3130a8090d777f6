//! The rules that the person made for this session.
//!
//! Owns which of them hold and what they say about a proposal. What a ruling leads to, and that no
//! rule widens what the configuration denies, is decided where the policy is asked.

use crate::config::Glob;
use crate::model::{
    ChangeKind, Event, Proposal, ProposalEvent, Record, RuleId, RuleSays, SessionRule, UserError,
};

/// Every rule that holds.
#[derive(Debug, Default)]
pub(super) struct SessionRules {
    last: RuleId,
    rules: Vec<ActiveRule>,
}

#[derive(Debug)]
struct ActiveRule {
    id: RuleId,
    rule: SessionRule,
    path: Option<Glob>,
}

impl SessionRules {
    /// Number for the next rule.
    pub(super) const fn next(&self) -> RuleId {
        self.last.next()
    }

    /// Whether a rule may be made.
    ///
    /// # Errors
    /// When it says something about everything, its pattern can never match, or it is about files
    /// and a flash at once.
    pub(super) fn check(rule: &SessionRule) -> Result<(), UserError> {
        let refused = |why: String, fix: &str| {
            Err(UserError::new(format!("Cannot make the rule `{rule}`"), why, fix))
        };
        if rule.is_boundless() {
            let fix = "Name a kind of change, a path, a tool or an agent.";
            return refused("it would hold for everything".to_owned(), fix);
        }
        if let Err(why) = rule.path.as_deref().map(Glob::new).transpose() {
            return refused(why, "Use a path or pattern inside the project, such as `main/**`.");
        }
        let touches_no_file = rule.kind.is_some_and(ChangeKind::is_of_board);
        if touches_no_file && rule.path.is_some() {
            let kind = rule.kind.map_or("", ChangeKind::as_str);
            return refused(format!("`{kind}` touches no file"), "Leave the path out.");
        }
        Ok(())
    }

    /// Takes a rule in.
    pub(super) fn add(&mut self, id: RuleId, rule: &SessionRule) {
        self.last = self.last.max(id);
        // A rule whose pattern cannot be read would hold for every path without it.
        let Ok(path) = rule.path.as_deref().map(Glob::new).transpose() else { return };
        self.rules.push(ActiveRule { id, rule: rule.clone(), path });
    }

    /// Ends a rule; tells whether it held.
    pub(super) fn revoke(&mut self, id: RuleId) -> bool {
        let before = self.rules.len();
        self.rules.retain(|known| known.id != id);
        self.rules.len() < before
    }

    /// Folds a record of an earlier start of the program in.
    pub(super) fn recall(&mut self, record: &Record) {
        if let Event::Proposal(ProposalEvent::RuleAdded { rule, says }) = &record.event {
            self.add(*rule, says);
        }
        if let Event::Proposal(ProposalEvent::RuleRevoked { rule }) = &record.event {
            self.revoke(*rule);
        }
    }

    /// What is said about a proposal, and the rule in its own words. `Never` wins wherever it
    /// stands; else the oldest rule that holds.
    pub(super) fn says(&self, proposal: &Proposal) -> Option<(RuleSays, String)> {
        let mut holding = self.rules.iter().filter(|known| known.holds(proposal));
        let first = holding.next()?;
        let never = std::iter::once(first)
            .chain(holding)
            .find(|known| known.rule.says == RuleSays::Never)
            .unwrap_or(first);
        Some((never.rule.says, format!("{} (session rule {})", never.rule, never.id)))
    }
}

impl ActiveRule {
    fn holds(&self, proposal: &Proposal) -> bool {
        let Proposal { tool, agent, change, .. } = proposal;
        self.rule.kind.is_none_or(|kind| kind == change.change_kind())
            && self.rule.tool.as_ref().is_none_or(|wanted| wanted == tool)
            && self.rule.agent.as_ref().is_none_or(|wanted| wanted == agent)
            && self.path.as_ref().is_none_or(|wanted| {
                change.path().is_some_and(|path| wanted.matches(path.as_str()))
            })
    }
}
