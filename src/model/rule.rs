//! Rules that the person makes for one session.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ids::{AgentName, ToolName};
use super::proposal::ChangeKind;

/// What a rule of the session says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSays {
    /// Approve without asking.
    Always,
    /// Refuse without asking.
    Never,
}

/// A rule that holds until it is revoked or the session ends. A condition that is `None` holds
/// for everything; one at least must be there.
///
/// It can never widen what the configuration denies, and never approves what is done to a board
/// that is not simulated, nor what has to be confirmed by a phrase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRule {
    /// What it says.
    pub says: RuleSays,
    /// Kind of effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ChangeKind>,
    /// A path or pattern inside the project, e.g. `main/**`; what is done to a board has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Tool that wishes for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// Agent that wishes for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
}

impl SessionRule {
    /// Whether it says something about everything, which no rule may.
    #[must_use]
    pub const fn is_boundless(&self) -> bool {
        self.kind.is_none() && self.path.is_none() && self.tool.is_none() && self.agent.is_none()
    }
}

impl fmt::Display for SessionRule {
    /// E.g. `always save main/** by generate_code of CodeFixerAgent`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.says {
            RuleSays::Always => "always",
            RuleSays::Never => "never",
        })?;
        if let Some(kind) = self.kind {
            write!(f, " {}", kind.as_str())?;
        }
        if let Some(path) = &self.path {
            write!(f, " {path}")?;
        }
        if let Some(tool) = &self.tool {
            write!(f, " by {tool}")?;
        }
        if let Some(agent) = &self.agent {
            write!(f, " of {agent}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_reads_as_a_sentence() {
        let rule = SessionRule {
            says: RuleSays::Never,
            kind: Some(ChangeKind::Delete),
            path: Some("main/**".into()),
            tool: Some("delete_files".into()),
            agent: Some("CodeFixerAgent".into()),
        };
        assert_eq!(rule.to_string(), "never delete main/** by delete_files of CodeFixerAgent");
        let none = SessionRule { kind: None, path: None, tool: None, agent: None, ..rule };
        assert!(none.is_boundless());
    }
}
