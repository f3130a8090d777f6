//! A learned policy as a session knows it: its table, and what it said at each choice.
//!
//! Owns the form in journals. Values are rounded, so that a table is the same after it was read
//! again. Must not know how a table is learned, nor how one is chosen from.

use serde::{Deserialize, Serialize};

use super::ids::AgentName;

/// What an agent does for the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentRole {
    Plan,
    Code,
    Test,
    Fix,
    /// Nothing that is observed.
    Other,
}

/// An agent that a table has a column for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyAgent {
    pub name: AgentName,
    pub role: AgentRole,
}

/// What a table says of one agent in one state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PolicyValue {
    /// Estimated value.
    pub value: f64,
    /// Half of the 95 % interval of the value.
    pub spread: f64,
    /// How often it was tried there.
    pub visits: u64,
}

/// A state that was visited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyRow {
    /// The class of the task, where the table knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// E.g. `plan,code,error,2`: what is true of the work, and the bucket of actions taken.
    pub state: String,
    /// By agent; `None`: never tried there.
    pub values: Vec<Option<PolicyValue>>,
}

/// The table that chooses who speaks in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyTable {
    /// The team whose policy it is.
    pub team: String,
    /// Of the file it comes from.
    pub hash: String,
    /// Start of its random numbers; as text, since not every reader has 64 bits.
    pub seed: String,
    /// Simulated tasks it was trained on.
    pub episodes: u64,
    /// Sessions it has learned from.
    pub sessions: u64,
    /// First number of actions of buckets 1, 2 and 3.
    pub buckets: [u32; 3],
    /// Classes of tasks that its states know; none: it does not tell tasks apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    pub agents: Vec<PolicyAgent>,
    /// States that were visited.
    pub rows: Vec<PolicyRow>,
}

/// How a choice came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChosenHow {
    /// It has the highest value.
    Best,
    /// It may still be the best, and was drawn to find out.
    Explored,
    /// Nothing is known of the state nor of a similar one.
    Unknown,
    /// The person named it.
    Person,
}

/// What a table says of one agent at a choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentValue {
    pub agent: AgentName,
    /// `None`: never tried there, or it cannot act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    #[serde(default)]
    pub visits: u64,
    /// Why it cannot act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A choice of a learned policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyChoice {
    /// [`PolicyTable::hash`] of the table.
    pub table: String,
    /// The state of the run.
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The state whose values were used, when this one was never visited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    pub how: ChosenHow,
    /// With what chance this agent was chosen; `None` when a person chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// Every agent, the highest value first.
    pub values: Vec<AgentValue>,
}

impl PolicyChoice {
    /// One line, e.g. `coder 8.5 ± 0.02 (1,204×) · planner 8.1 · tester: no code yet`.
    #[must_use]
    pub fn line(&self) -> String {
        let parts: Vec<String> = self.values.iter().map(AgentValue::words).collect();
        let instead = self.instead.as_ref();
        let note = instead.map_or_else(String::new, |state| format!(" · as in `{state}`"));
        let how = match self.how {
            ChosenHow::Best => "",
            ChosenHow::Explored => " · tried to find out",
            ChosenHow::Unknown => " · nothing is known of this state",
            ChosenHow::Person => " · you named it",
        };
        let state = state_words(&self.state);
        format!("{state} (`{}`): {}{note}{how}", self.state, parts.join(" · "))
    }
}

/// A state in words: what is there, and how far the work is by the number of actions taken.
///
/// Words that are none of a state's stay as they are: classes of tasks, for instance.
#[must_use]
pub fn state_words(state: &str) -> String {
    let word = |word: &str| match word {
        "start" => "no plan or code".to_owned(),
        "plan" => "planned".to_owned(),
        "code" => "code written".to_owned(),
        "error" => "tests failed".to_owned(),
        "pass" => "tests passed".to_owned(),
        "0" => "at the start".to_owned(),
        "1" => "early".to_owned(),
        "2" => "later".to_owned(),
        "3" => "late".to_owned(),
        other => other.to_owned(),
    };
    state.split(',').map(word).collect::<Vec<_>>().join(", ")
}

impl AgentValue {
    /// Its value with spread and visits, or why it has none.
    #[must_use]
    pub fn words(&self) -> String {
        match (self.value, self.spread, &self.reason) {
            (_, _, Some(reason)) => format!("{}: {reason}", self.agent),
            (Some(value), Some(spread), None) => {
                format!("{} {value:.1} ± {spread:.2} ({}×)", self.agent, grouped(self.visits))
            }
            (Some(value), None, None) => format!("{} {value:.1}", self.agent),
            (None, _, None) => format!("{}: never tried", self.agent),
        }
    }
}

/// A number with commas between its thousands.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_one_line_with_every_agent() {
        let value = |agent: &str, value, reason: Option<&str>| AgentValue {
            agent: agent.into(),
            value,
            spread: value.map(|_| 0.019),
            visits: 1204,
            reason: reason.map(str::to_owned),
        };
        let mut choice = PolicyChoice {
            table: "ab".to_owned(),
            state: "start,0".to_owned(),
            class: None,
            instead: None,
            how: ChosenHow::Best,
            chance: Some(1.0),
            values: vec![
                value("coder", Some(8.5), None),
                value("planner", None, None),
                value("tester", None, Some("no code yet")),
            ],
        };
        let all = "no plan or code, at the start (`start,0`): coder 8.5 ± 0.02 (1,204×) · planner: never tried · tester: no code yet";
        assert_eq!(choice.line(), all);
        (choice.how, choice.instead) = (ChosenHow::Person, Some("start,1".to_owned()));
        assert_eq!(choice.line(), format!("{all} · as in `start,1` · you named it"));
        assert_eq!(state_words("plan,code,error,2"), "planned, code written, tests failed, later");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!((grouped(204), grouped(0)), ("204".to_owned(), "0".to_owned()));
    }
}
