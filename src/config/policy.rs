//! Rules that decide for the person, or refuse to.
//!
//! Owns which rule wins. What a ruling leads to is the gate's business.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::{AgentName, ChangeKind, ProjectPath, ToolName};

use super::glob::Glob;
use super::origin::Origin;

/// What a rule says about an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// Approve without asking.
    Allow,
    /// Ask the person.
    Ask,
    /// Refuse without asking.
    Deny,
}

impl fmt::Display for Ruling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// One rule; a condition that is `None` holds for everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRule {
    /// What it says.
    pub decide: Ruling,
    /// Kind of effect.
    pub kind: Option<ChangeKind>,
    /// Tool that wishes for it.
    pub tool: Option<ToolName>,
    /// Agent that wishes for it.
    pub agent: Option<AgentName>,
    /// File it touches; a flash touches none.
    pub path: Option<Glob>,
    /// Where the rule stands.
    pub origin: Origin,
}

impl PolicyRule {
    fn holds(
        &self,
        kind: &str,
        tool: &ToolName,
        agent: &AgentName,
        path: Option<&ProjectPath>,
    ) -> bool {
        self.kind.is_none_or(|wanted| wanted.as_str() == kind)
            && self.tool.as_ref().is_none_or(|wanted| wanted == tool)
            && self.agent.as_ref().is_none_or(|wanted| wanted == agent)
            && self
                .path
                .as_ref()
                .is_none_or(|wanted| path.is_some_and(|path| wanted.matches(path.as_str())))
    }
}

impl PolicyRule {
    /// The rule without its origin, e.g. `allow save main/** by generate_code`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = self.decide.to_string();
        let conditions = [
            ("", self.kind.map(|kind| kind.as_str().to_owned())),
            ("", self.path.as_ref().map(ToString::to_string)),
            ("by ", self.tool.as_ref().map(ToString::to_string)),
            ("of ", self.agent.as_ref().map(ToString::to_string)),
        ];
        for (lead, value) in conditions {
            if let Some(value) = value {
                words.push_str(&format!(" {lead}{value}"));
            }
        }
        words
    }
}

impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.words(), self.origin)
    }
}

/// All rules in force. Without any, everything is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    rules: Vec<PolicyRule>,
}

impl Policy {
    /// Puts rules in order of precedence: the project's go first, because the loader lets them
    /// only tighten; then those in the order given.
    #[must_use]
    pub fn new(mut rules: Vec<PolicyRule>) -> Self {
        rules.sort_by_key(|rule| !matches!(rule.origin, Origin::Project { .. }));
        Self { rules }
    }

    /// The rules in order of precedence.
    #[must_use]
    pub fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    /// What holds for an effect, and the rule in its own words. `kind` is
    /// [`Change::kind`](crate::model::Change::kind). A `deny` wins wherever it stands; else the
    /// first rule that holds; else the person is asked.
    #[must_use]
    pub fn decide(
        &self,
        kind: &str,
        tool: &ToolName,
        agent: &AgentName,
        path: Option<&ProjectPath>,
    ) -> (Ruling, String) {
        let mut holding = self.rules.iter().filter(|rule| rule.holds(kind, tool, agent, path));
        let first = holding.next();
        let denial = first.into_iter().chain(holding).find(|rule| rule.decide == Ruling::Deny);
        match denial.or(first) {
            Some(rule) => (rule.decide, rule.to_string()),
            None => (Ruling::Ask, "ask (default)".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rule(decide: Ruling, path: Option<&str>, origin: Origin) -> PolicyRule {
        let path = path.map(|path| Glob::new(path).unwrap());
        PolicyRule { decide, kind: None, tool: None, agent: None, path, origin }
    }

    fn user(line: usize) -> Origin {
        Origin::User { file: "config.toml".into(), line }
    }

    fn decide(policy: &Policy, kind: &str, path: Option<&str>) -> (Ruling, String) {
        let path = path.map(|path| ProjectPath::new(path).unwrap());
        policy.decide(kind, &"generate_code".into(), &"CodeReviewerAgent".into(), path.as_ref())
    }

    #[test]
    fn without_a_rule_the_person_is_asked() {
        let ruled = decide(&Policy::default(), "save", Some("main/a.c"));
        assert_eq!(ruled, (Ruling::Ask, "ask (default)".to_owned()));
    }

    #[test]
    fn the_first_rule_wins_but_a_denial_wins_over_all() {
        let policy = Policy::new(vec![
            rule(Ruling::Ask, Some("main/main.c"), user(1)),
            rule(Ruling::Allow, Some("main/**"), user(2)),
            rule(Ruling::Deny, Some("**/secret.h"), user(3)),
        ]);
        assert_eq!(decide(&policy, "save", Some("main/main.c")).0, Ruling::Ask);
        let allowed = decide(&policy, "save", Some("main/src/a.c"));
        assert_eq!(allowed, (Ruling::Allow, "allow main/** (config.toml:2)".to_owned()));
        assert_eq!(decide(&policy, "save", Some("main/secret.h")).0, Ruling::Deny);
    }

    #[test]
    fn each_condition_must_hold() {
        let mut only = rule(Ruling::Allow, None, user(1));
        only.kind = Some(ChangeKind::Save);
        only.tool = Some("generate_code".into());
        only.agent = Some("SomeoneElse".into());
        let policy = Policy::new(vec![only.clone()]);
        assert_eq!(decide(&policy, "save", Some("a.c")).0, Ruling::Ask);
        only.agent = Some("CodeReviewerAgent".into());
        let policy = Policy::new(vec![only]);
        assert_eq!(decide(&policy, "save", Some("a.c")).0, Ruling::Allow);
        assert_eq!(decide(&policy, "delete", Some("a.c")).0, Ruling::Ask);
    }

    #[test]
    fn a_rule_with_a_path_never_holds_for_a_flash() {
        let policy = Policy::new(vec![rule(Ruling::Allow, Some("**"), user(1))]);
        assert_eq!(decide(&policy, "flash", None).0, Ruling::Ask);
    }

    #[test]
    fn the_projects_rules_go_first() {
        let project = Origin::Project { file: ".firmhand/config.toml".into(), line: 1 };
        let policy = Policy::new(vec![
            rule(Ruling::Allow, None, Origin::FlagFile { file: "p.toml".into(), line: 1 }),
            rule(Ruling::Ask, Some("main/**"), project),
        ]);
        assert_eq!(decide(&policy, "save", Some("main/a.c")).0, Ruling::Ask);
        assert_eq!(decide(&policy, "save", Some("b.c")).0, Ruling::Allow);
    }

    proptest! {
        #[test]
        fn a_denial_that_holds_is_final(before in 0usize..5, after in 0usize..5) {
            let allow = |line| rule(Ruling::Allow, None, user(line));
            let mut rules: Vec<PolicyRule> = (0..before).map(allow).collect();
            rules.push(rule(Ruling::Deny, Some("main/*"), user(99)));
            rules.extend((0..after).map(allow));
            let policy = Policy::new(rules);
            prop_assert_eq!(decide(&policy, "save", Some("main/a.c")).0, Ruling::Deny);
        }
    }
}
