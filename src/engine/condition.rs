//! When an attempt is over: conditions that combine, and the facts they look at.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{AgentName, ToolName};

/// A condition that ends an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// One of them holds.
    Any(Vec<Condition>),
    /// All of them hold.
    All(Vec<Condition>),
    /// A tool was called and answered.
    Tool {
        /// Which.
        tool: ToolName,
        /// How it must have answered.
        answer: Answer,
    },
    /// Some text was said.
    Text {
        /// The text.
        text: String,
        /// By whom; `None`: anyone.
        agent: Option<AgentName>,
    },
    /// So many turns were taken.
    MaxMessages(u32),
    /// So many tokens were used.
    MaxTokens(u64),
    /// Models and tools have worked so many seconds; the person's thinking is not counted.
    MaxSeconds(u64),
}

/// How a tool answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Somehow.
    Any,
    /// With `"ok": true`.
    Ok,
}

/// What happened in an attempt so far, as far as conditions look at it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Facts {
    /// Turns taken.
    pub messages: u32,
    /// Tokens sent and received.
    pub tokens: u64,
    /// Milliseconds models and tools have worked.
    pub worked: u64,
    /// Tools that answered, and whether one of the answers was `ok`.
    tools: BTreeMap<ToolName, bool>,
    /// Texts of conditions that were heard, with the speaker.
    heard: BTreeSet<(String, AgentName)>,
}

impl Facts {
    /// Notes a tool's answer.
    pub fn answered(&mut self, tool: &ToolName, is_ok: Answer) {
        let ok = self.tools.entry(tool.clone()).or_default();
        *ok |= is_ok == Answer::Ok;
    }

    /// Whether that tool answered `ok`.
    pub fn was_ok(&self, tool: &str) -> bool {
        self.tools.get(&ToolName::new(tool)).copied().unwrap_or(false)
    }

    /// Notes what an agent said, as far as `condition` listens for it.
    pub fn heard(&mut self, condition: &Condition, agent: &AgentName, said: &str) {
        match condition {
            Condition::Any(parts) | Condition::All(parts) => {
                for part in parts {
                    self.heard(part, agent, said);
                }
            }
            Condition::Text { text, .. } => {
                if said.contains(text.as_str()) {
                    self.heard.insert((text.clone(), agent.clone()));
                }
            }
            Condition::Tool { .. }
            | Condition::MaxMessages(_)
            | Condition::MaxTokens(_)
            | Condition::MaxSeconds(_) => {}
        }
    }
}

impl Condition {
    /// Whether it holds; if so, which part of it, in words for people.
    pub(super) fn met(&self, facts: &Facts) -> Option<String> {
        match self {
            Self::Any(parts) => parts.iter().find_map(|part| part.met(facts)),
            Self::All(parts) => {
                let met: Option<Vec<String>> = parts.iter().map(|part| part.met(facts)).collect();
                met.map(|words| words.join(" and "))
            }
            Self::Tool { tool, answer } => {
                let ok = *facts.tools.get(tool)?;
                match answer {
                    Answer::Any => Some(format!("{tool} was called")),
                    Answer::Ok => ok.then(|| format!("{tool} succeeded")),
                }
            }
            Self::Text { text, agent } => facts
                .heard
                .iter()
                .find(|(heard, by)| heard == text && agent.as_ref().is_none_or(|a| a == by))
                .map(|(_, by)| format!("{by} said “{text}”")),
            Self::MaxMessages(max) => {
                (facts.messages >= *max).then(|| format!("the limit of {max} messages was reached"))
            }
            Self::MaxTokens(max) => {
                (facts.tokens >= *max).then(|| format!("the limit of {max} tokens was reached"))
            }
            Self::MaxSeconds(max) => (facts.worked / 1_000 >= *max)
                .then(|| format!("the limit of {max} seconds of work was reached")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approve(answer: Answer) -> Condition {
        Condition::Tool { tool: "approve_saved_files".into(), answer }
    }

    #[test]
    fn any_holds_with_one_part_and_all_only_with_all() {
        let mut facts = Facts { messages: 3, ..Facts::default() };
        let parts = vec![approve(Answer::Any), Condition::MaxMessages(3)];
        let any = Condition::Any(parts.clone());
        let all = Condition::All(parts);
        assert_eq!(any.met(&facts).unwrap(), "the limit of 3 messages was reached");
        assert_eq!(all.met(&facts), None);
        facts.answered(&"approve_saved_files".into(), Answer::Any);
        assert_eq!(
            all.met(&facts).unwrap(),
            "approve_saved_files was called and the limit of 3 messages was reached"
        );
    }

    #[test]
    fn a_tool_that_must_succeed_is_not_met_by_a_refusal() {
        let mut facts = Facts::default();
        facts.answered(&"approve_saved_files".into(), Answer::Any);
        assert_eq!(approve(Answer::Ok).met(&facts), None);
        assert!(approve(Answer::Any).met(&facts).is_some());
        facts.answered(&"approve_saved_files".into(), Answer::Ok);
        facts.answered(&"approve_saved_files".into(), Answer::Any);
        assert_eq!(approve(Answer::Ok).met(&facts).unwrap(), "approve_saved_files succeeded");
    }

    #[test]
    fn text_counts_only_from_the_agent_it_is_bound_to() {
        let bound = Condition::Text { text: "TERMINATE".into(), agent: Some("Planner".into()) };
        let open = Condition::Text { text: "TERMINATE".into(), agent: None };
        let mut facts = Facts::default();
        facts.heard(&bound, &"Coder".into(), "I say TERMINATE.");
        assert_eq!(bound.met(&facts), None);
        assert!(open.met(&facts).is_some());
        facts.heard(&bound, &"Planner".into(), "TERMINATE");
        assert_eq!(bound.met(&facts).unwrap(), "Planner said “TERMINATE”");
    }

    #[test]
    fn tokens_and_work_are_limits() {
        let facts = Facts { tokens: 10, worked: 1_999, ..Facts::default() };
        assert!(Condition::MaxTokens(10).met(&facts).is_some());
        assert!(Condition::MaxTokens(11).met(&facts).is_none());
        assert!(Condition::MaxSeconds(1).met(&facts).is_some());
        assert!(Condition::MaxSeconds(2).met(&facts).is_none());
    }
}
