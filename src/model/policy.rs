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
    /// 1.96 standard errors of the average that the value is: how far it may be off by chance alone. What
    /// it lags behind, since later values were still being learned, is not part of it.
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
    /// Why `agent` speaks: it has the highest value, is tried, or was named.
    #[must_use]
    pub fn why(&self, agent: &AgentName) -> String {
        let known = self.able();
        let own = known.iter().find(|value| value.agent == *agent);
        let own = own.map_or_else(|| "none is known".to_owned(), |value| value.figures());
        let best = known.first().map_or_else(String::new, |best| best.words());
        match self.how {
            ChosenHow::Best => format!("{agent} has the highest value, {own}"),
            ChosenHow::Explored => {
                format!("{agent} is tried to find out whether it is better, {own}")
            }
            ChosenHow::Unknown => {
                format!("{agent} is next in the usual order: nothing is known of this state")
            }
            ChosenHow::Person if known.first().is_some_and(|best| best.agent == *agent) => {
                format!("{agent}, named by you, has the highest value, {own}")
            }
            ChosenHow::Person => {
                format!("{agent}, named by you; its value: {own}; the highest: {best}")
            }
        }
    }

    /// The agents that can act, the highest value first.
    fn able(&self) -> Vec<&AgentValue> {
        self.values.iter().filter(|value| value.reason.is_none()).collect()
    }

    /// Why `agent` speaks, with what the others are worth: e.g. `coder has the highest value, 8.5 ± 0.02 (1,204×) ·
    /// planner 8.1 · cannot act: tester (no code yet) · no plan or code, at the start`.
    #[must_use]
    pub fn line(&self, agent: &AgentName) -> String {
        let known = self.able();
        let others = known.iter().filter(|value| value.agent != *agent);
        let mut parts = vec![self.why(agent)];
        let shown = others
            .clone()
            .filter(|other| !matches!(self.how, ChosenHow::Person) || known.first() != Some(other));
        parts.extend(shown.take(MOST_OTHERS).map(|other| other.brief()));
        let count = others.count();
        if count > MOST_OTHERS {
            parts.push(format!("and {} more", count - MOST_OTHERS));
        }
        let blocked: Vec<&AgentValue> =
            self.values.iter().filter(|value| value.reason.is_some()).collect();
        parts.extend(blocked_words(&blocked));
        let seen = match &self.instead {
            Some(state) => format!("{} (as in `{state}`)", state_words(&self.state)),
            None => state_words(&self.state),
        };
        parts.push(match &self.class {
            Some(class) => format!("{seen} ({class} task)"),
            None => seen,
        });
        parts.join(" · ")
    }
}

/// Agents that a choice names with their values, without the one that speaks.
const MOST_OTHERS: usize = 3;

/// Agents that cannot act, with the reasons of the first two.
fn blocked_words(blocked: &[&AgentValue]) -> Option<String> {
    let named: Vec<String> = blocked
        .iter()
        .take(2)
        .map(|value| format!("{} ({})", value.agent, value.reason.as_deref().unwrap_or_default()))
        .collect();
    let more = match blocked.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    (!named.is_empty()).then(|| format!("cannot act: {}{more}", named.join(", ")))
}

/// Names in so many letters each, cut so that they still differ.
#[must_use]
pub fn short_names(names: &[&str], width: usize) -> Vec<String> {
    let width = width.max(3);
    let cut = |name: &str, tail: usize| -> String {
        let letters: Vec<char> = name.chars().collect();
        if letters.len() <= width {
            return name.to_owned();
        }
        let last = letters.len().saturating_sub(tail);
        let first = letters.iter().take(width - 1 - tail);
        first.chain(&['…']).chain(letters.iter().skip(last)).collect()
    };
    // The longest beginning with which all of them differ.
    let differ =
        |short: &[String]| (1..short.len()).all(|place| !short[..place].contains(&short[place]));
    let tries = (0..width - 1)
        .map(|tail| -> Vec<String> { names.iter().map(|name| cut(name, tail)).collect() });
    tries.into_iter().find(|short| differ(short)).unwrap_or_else(|| {
        let numbered = |number: usize| format!("#{}", number + 1);
        (0..names.len()).map(numbered).collect()
    })
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
        "error" => "to be fixed".to_owned(),
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
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.agent),
            None if self.value.is_none() => format!("{}: never tried", self.agent),
            None => format!("{} {}", self.agent, self.figures()),
        }
    }

    fn figures(&self) -> String {
        match (self.value, self.spread) {
            (Some(value), Some(spread)) => {
                format!("{value:.1} ± {spread:.2} ({}×)", grouped(self.visits))
            }
            (Some(value), None) => format!("{value:.1}"),
            (None, _) => "never tried".to_owned(),
        }
    }

    /// Its name with its value alone.
    fn brief(&self) -> String {
        match self.value {
            Some(value) => format!("{} {value:.1}", self.agent),
            None => format!("{}: never tried", self.agent),
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
    fn a_choice_is_a_short_line_that_says_why() {
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
        let tail = "cannot act: tester (no code yet) · no plan or code, at the start";
        assert_eq!(
            choice.line(&"coder".into()),
            format!(
                "coder has the highest value, 8.5 ± 0.02 (1,204×) · planner: never tried · {tail}"
            )
        );
        (choice.how, choice.instead) = (ChosenHow::Person, Some("start,1".to_owned()));
        assert_eq!(
            choice.line(&"planner".into()),
            format!(
                "planner, named by you; its value: never tried; the highest: coder 8.5 ± 0.02 (1,204×) · \
                 {tail} (as in `start,1`)"
            )
        );
        choice.how = ChosenHow::Explored;
        let line = choice.line(&"planner".into());
        assert!(line.contains("tried to find out") && line.contains("· coder 8.5 ·"), "{line}");
        for number in 0..9 {
            choice.values.push(value(&format!("helper-number-{number}"), Some(8.0), None));
        }
        choice.how = ChosenHow::Best;
        let line = choice.line(&"coder".into());
        assert!(line.contains("and 7 more") && line.chars().count() < 240, "{line}");
        assert_eq!(state_words("plan,code,error,2"), "planned, code written, to be fixed, later");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!((grouped(204), grouped(0)), ("204".to_owned(), "0".to_owned()));
    }

    #[test]
    fn short_names_differ() {
        let names = ["verification-agent-1", "verification-agent-2", "coder"];
        assert_eq!(short_names(&names, 10), ["verifica…1", "verifica…2", "coder"]);
        assert_eq!(short_names(&["planner", "coder"], 10), ["planner", "coder"]);
        assert_eq!(short_names(&["documenter", "reviewer"], 6), ["docum…", "revie…"]);
        assert_eq!(short_names(&["abcd1xxcd", "abcd2xxcd"], 4), ["#1", "#2"]);
    }
}
