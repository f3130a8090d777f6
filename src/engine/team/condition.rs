//! When an attempt is over: conditions that combine, and the facts they look at.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::log_signs::LogSigns;
use crate::model::{AgentName, Cost, ToolCall, ToolName};

/// A condition that ends an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// One of them holds.
    Any(Vec<Condition>),
    /// All of them hold.
    All(Vec<Condition>),
    /// A tool was called and answered.
    Tool {
        tool: ToolName,
        /// How it must have answered.
        answer: CallResult,
    },
    /// Some text was said.
    Text {
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
    /// Models have cost so much.
    MaxCost(Cost),
    /// An agent has spoken.
    Spoke(AgentName),
    /// Somebody handed over to this agent.
    HandOff(AgentName),
    /// The board was flashed, and then its serial output was watched for so many seconds without a
    /// panic, a reset or a line that reports an error.
    Stable(u64),
    /// Every file of the list that `file_name_checker` took was saved in this phase.
    FilesSaved,
    /// The last tests of this phase passed.
    TestsPassed,
}

// How a tool answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AnswerWord")]
pub enum CallResult {
    Any,
    // With `"ok": true`.
    Ok,
}

/// What happened in an attempt so far, as far as conditions look at it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) struct Facts {
    pub messages: u32,
    /// Tokens sent and received.
    pub tokens: u64,
    /// Milliseconds models and tools have worked.
    pub worked: u64,
    /// Tools that answered, and whether one of the answers was `ok`.
    tools: BTreeMap<ToolName, bool>,
    /// What models have cost.
    pub cost: Cost,
    /// Who has spoken.
    spoke: BTreeSet<AgentName>,
    /// Who was handed over to.
    handed: BTreeSet<AgentName>,
    /// The files of the accepted list, and those that were saved.
    files: PlannedFiles,
    /// Whether the last build is on the board, and how long it ran without fault, in milliseconds.
    board: (bool, Option<u64>),
    /// What became of runs and proposals.
    tries: LastTries,
    /// Texts of conditions that were heard, with the speaker.
    observed: BTreeSet<(String, AgentName)>,
}

/// Files that were planned and files that are there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct PlannedFiles {
    planned: BTreeSet<String>,
    saved: BTreeSet<String>,
}

/// How the last runs and proposals went; `None`: there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct LastTries {
    /// Whether the tests passed.
    tests: Option<bool>,
    /// Whether the program or the tests that ran last passed.
    ran: Option<bool>,
    /// Whether all that was proposed last was saved.
    saved: Option<bool>,
}

impl Facts {
    /// Notes that an agent has spoken.
    pub fn spoke(&mut self, agent: &AgentName) {
        self.spoke.insert(agent.clone());
    }

    /// Notes that an agent was handed over to.
    pub fn handed(&mut self, agent: &AgentName) {
        self.handed.insert(agent.clone());
    }

    /// Notes the list of files that was accepted; it replaces the one before.
    fn planned(&mut self, files: impl Iterator<Item = String>) {
        self.files.planned = files.collect();
    }

    /// Notes files that were saved.
    fn saved(&mut self, files: impl Iterator<Item = String>) {
        self.files.saved.extend(files);
    }

    /// Whether the present build was seen to run without fault.
    pub const fn is_stable(&self) -> bool {
        self.board.1.is_some()
    }

    /// Whether something was run, built or saved, and what was run or proposed last has not failed.
    pub fn runs_passed(&self) -> bool {
        self.has_results() && self.tries.ran != Some(false) && self.tries.saved != Some(false)
    }

    /// Whether anything was run, built or proposed.
    pub fn has_results(&self) -> bool {
        let is_built = ["build_project", "build_arduino"].iter().any(|tool| self.was_ok(tool));
        self.tries.ran.is_some() || self.tries.saved.is_some() || is_built
    }

    /// Takes what a tool's answer says about files, runs and the board.
    pub fn learn(&mut self, call: &ToolCall, result: &Value, millis: u64) {
        let is_ok = result.get("ok").and_then(Value::as_bool).unwrap_or(false);
        if is_ok && call.tool.as_str() == "file_name_checker" {
            let files = call.args.get("files").and_then(Value::as_array).into_iter().flatten();
            let names = files.filter_map(|file| file.get("file_name")?.as_str());
            self.planned(names.map(str::to_owned));
        }
        match call.tool.as_str() {
            "run_code" => self.tries.ran = Some(is_ok),
            "generate_code" | "write_file" => {
                let rejected = result.get("rejected").and_then(Value::as_array);
                self.tries.saved = Some(is_ok && rejected.is_none_or(Vec::is_empty));
            }
            "build_project" | "build_arduino" => self.board = (false, None),
            "flash_project" | "flash_arduino" => {
                self.board = (result.get("flashed") == Some(&Value::Bool(true)), None);
            }
            "monitor_serial" => {
                let is_stable = self.board.0 && !LogSigns::of(result).is_faulty;
                self.board.1 = is_stable.then_some(millis);
            }
            "run_tests" => {
                self.tries.ran = Some(is_ok);
                self.tries.tests = Some(is_ok);
            }
            _ => {}
        }
        let saved = result.get("saved").and_then(Value::as_array).into_iter().flatten();
        self.saved(saved.filter_map(Value::as_str).map(str::to_owned));
    }

    /// Whether every planned file was saved; without a plan none was.
    pub fn files_saved(&self) -> bool {
        !self.files.planned.is_empty() && self.files.planned.is_subset(&self.files.saved)
    }

    /// Whether all files that were handed in after the tests passed were saved, where no list says
    /// which are wanted.
    fn hand_in_saved(&self) -> bool {
        let is_tested = self.files.planned.is_empty() && self.tries.tests == Some(true);
        is_tested && self.tries.saved == Some(true)
    }

    /// Notes a tool's answer.
    pub fn answered(&mut self, tool: &ToolName, is_ok: CallResult) {
        let ok = self.tools.entry(tool.clone()).or_default();
        *ok |= is_ok == CallResult::Ok;
    }

    /// Whether that tool answered `ok`.
    pub fn was_ok(&self, tool: &str) -> bool {
        self.tools.get(&ToolName::new(tool)).copied().unwrap_or(false)
    }

    /// Notes what an agent said, as far as `condition` listens for it.
    pub fn observe_text(&mut self, condition: &Condition, agent: &AgentName, message: &str) {
        match condition {
            Condition::Any(parts) | Condition::All(parts) => {
                for part in parts {
                    self.observe_text(part, agent, message);
                }
            }
            Condition::Text { text, .. } if message.contains(text.as_str()) => {
                self.observed.insert((text.clone(), agent.clone()));
            }
            _ => {}
        }
    }
}

impl Condition {
    /// How long models and tools may work on until it holds by that alone.
    pub(in crate::engine) fn time_left(&self, facts: &Facts) -> Option<Duration> {
        match self {
            Self::MaxSeconds(max) => {
                Some(Duration::from_secs(*max).saturating_sub(Duration::from_millis(facts.worked)))
            }
            Self::Any(parts) => parts.iter().filter_map(|part| part.time_left(facts)).min(),
            _ => None,
        }
    }

    /// Whether it holds; if so, which part of it, in words for people.
    pub(in crate::engine) fn met(&self, facts: &Facts) -> Option<String> {
        match self {
            Self::Any(parts) => parts.iter().find_map(|part| part.met(facts)),
            Self::All(parts) => {
                let met: Option<Vec<String>> = parts.iter().map(|part| part.met(facts)).collect();
                met.map(|words| words.join(" and "))
            }
            Self::Tool { tool, answer } => {
                let ok = *facts.tools.get(tool)?;
                (ok || *answer == CallResult::Any).then(|| format!("the agents ended it ({tool})"))
            }
            Self::Text { text, agent } => facts
                .observed
                .iter()
                .find(|(line, by)| line == text && agent.as_ref().is_none_or(|a| a == by))
                .map(|(_, by)| format!("{by} said “{text}”")),
            Self::MaxMessages(max) => {
                (facts.messages >= *max).then(|| format!("the limit of {max} messages was reached"))
            }
            Self::MaxTokens(max) => {
                (facts.tokens >= *max).then(|| format!("the limit of {max} tokens was reached"))
            }
            Self::MaxSeconds(max) => (facts.worked / 1_000 >= *max)
                .then(|| format!("the limit of {max} seconds of work was reached")),
            Self::MaxCost(max) => {
                (facts.cost >= *max).then(|| format!("the limit of {max} was reached"))
            }
            Self::Spoke(agent) => facts.spoke.contains(agent).then(|| format!("{agent} spoke")),
            Self::HandOff(agent) => {
                facts.handed.contains(agent).then(|| format!("it was handed over to {agent}"))
            }
            Self::Stable(seconds) => (facts.board.1? >= seconds * 1_000)
                .then(|| format!("the serial output was stable for {seconds} seconds")),
            Self::FilesSaved => facts
                .files_saved()
                .then(|| "every planned file was saved".to_owned())
                .or_else(|| facts.hand_in_saved().then(|| "all files were saved".to_owned())),
            Self::TestsPassed => {
                (facts.tries.tests == Some(true)).then(|| "the tests passed".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approve(answer: CallResult) -> Condition {
        Condition::Tool { tool: "approve_saved_files".into(), answer }
    }

    #[test]
    fn any_holds_with_one_part_and_all_only_with_all() {
        let mut facts = Facts { messages: 3, ..Facts::default() };
        let parts = vec![approve(CallResult::Any), Condition::MaxMessages(3)];
        let any = Condition::Any(parts.clone());
        let all = Condition::All(parts);
        assert_eq!(any.met(&facts).unwrap(), "the limit of 3 messages was reached");
        assert_eq!(all.met(&facts), None);
        facts.answered(&"approve_saved_files".into(), CallResult::Any);
        assert_eq!(
            all.met(&facts).unwrap(),
            "the agents ended it (approve_saved_files) and the limit of 3 messages was reached"
        );
    }

    #[test]
    fn a_tool_that_must_succeed_is_not_met_by_a_refusal() {
        let mut facts = Facts::default();
        facts.answered(&"approve_saved_files".into(), CallResult::Any);
        assert_eq!(approve(CallResult::Ok).met(&facts), None);
        assert!(approve(CallResult::Any).met(&facts).is_some());
        facts.answered(&"approve_saved_files".into(), CallResult::Ok);
        facts.answered(&"approve_saved_files".into(), CallResult::Any);
        assert_eq!(
            approve(CallResult::Ok).met(&facts).unwrap(),
            "the agents ended it (approve_saved_files)"
        );
    }

    #[test]
    fn text_counts_only_from_the_agent_it_is_bound_to() {
        let bound = Condition::Text { text: "TERMINATE".into(), agent: Some("Planner".into()) };
        let open = Condition::Text { text: "TERMINATE".into(), agent: None };
        let mut facts = Facts::default();
        facts.observe_text(&bound, &"Coder".into(), "I say TERMINATE.");
        assert_eq!(bound.met(&facts), None);
        assert!(open.met(&facts).is_some());
        facts.observe_text(&bound, &"Planner".into(), "TERMINATE");
        assert_eq!(bound.met(&facts).unwrap(), "Planner said “TERMINATE”");
    }

    #[test]
    fn only_the_last_tests_count() {
        let mut facts = Facts::default();
        let call = ToolCall {
            id: crate::model::CallId(1),
            tool: "run_tests".into(),
            args: serde_json::json!({}),
        };
        assert_eq!(Condition::TestsPassed.met(&facts), None);
        facts.learn(&call, &serde_json::json!({ "ok": true }), 1);
        assert_eq!(Condition::TestsPassed.met(&facts).unwrap(), "the tests passed");
        facts.learn(&call, &serde_json::json!({ "ok": false }), 1);
        assert_eq!(Condition::TestsPassed.met(&facts), None);
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
