//! When a way on from a step is taken.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use super::situation::Situation;

/// What is asked of a tool's answer, at one place in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Test<'a> {
    /// Whether there is something.
    Exists(bool),
    /// Equal to this value.
    Equals(&'a Value),
    /// A text with this in it, capitals aside; lists and objects count as their JSON text.
    Contains(&'a str),
}

/// Conditions that must all hold.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct When {
    pub agent: Option<String>,
    pub phase: Option<String>,
    pub attempt: Option<u32>,
    pub step: Option<u32>,
    pub mentions: Option<String>,
    #[serde(rename = "said")]
    pub has_message: Option<bool>,
    pub tool: Option<String>,
    /// A JSON pointer; the whole answer when left out.
    pub at: Option<String>,
    pub exists: Option<bool>,
    pub equals: Option<Value>,
    pub contains: Option<String>,
}

impl When {
    /// What is asked of what is at the pointer: one thing at most in a script that was checked.
    pub fn tests(&self) -> Vec<Test<'_>> {
        let equals = self.equals.as_ref().map(Test::Equals);
        let contains = self.contains.as_deref().map(Test::Contains);
        self.exists.map(Test::Exists).into_iter().chain(equals).chain(contains).collect()
    }

    /// The pointer with what is asked there.
    fn test(&self) -> Option<(&str, Test<'_>)> {
        Some((self.at.as_deref().unwrap_or_default(), self.tests().pop()?))
    }

    /// Whether all of it holds for a request.
    pub fn holds(&self, at: &Situation<'_>) -> bool {
        let request = at.request;
        let is = |wanted: &Option<String>, actual: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == actual)
        };
        is(&self.agent, request.agent.as_str())
            && is(&self.phase, &request.phase)
            && self.attempt.is_none_or(|wanted| wanted == request.attempt)
            && self.step.is_none_or(|wanted| Some(wanted) == request.step)
            && self.has_message.is_none_or(|wanted| wanted != at.written.is_empty())
            && self.mentions.as_ref().is_none_or(|text| mentions(at.last_message(), text))
            && self.answer_holds(at)
    }

    fn answer_holds(&self, at: &Situation<'_>) -> bool {
        if self.tool.is_none() && self.test().is_none() {
            return true;
        }
        let Some(answer) = at.answer(self.tool.as_deref()) else { return false };
        let Some((pointer, test)) = self.test() else { return true };
        let found = answer.pointer(pointer);
        match test {
            Test::Exists(wanted) => found.is_some() == wanted,
            Test::Equals(wanted) => found == Some(wanted),
            Test::Contains(text) => found.is_some_and(|found| match found {
                Value::String(found) => mentions(found, text),
                other => mentions(&other.to_string(), text),
            }),
        }
    }
}

fn mentions(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.agent.as_ref().map(|agent| format!("{agent} asks")));
        parts.extend(self.phase.as_ref().map(|phase| format!("phase `{phase}`")));
        parts.extend(self.attempt.map(|attempt| format!("attempt {attempt}")));
        parts.extend(self.step.map(|step| format!("step {step} of the plan")));
        parts.extend(self.mentions.as_ref().map(|text| format!("the last message has “{text}”")));
        parts.extend(self.has_message.map(|has_message| match has_message {
            true => "the person spoke".to_owned(),
            false => "the person did not speak".to_owned(),
        }));
        parts.extend(self.tool.as_ref().map(|tool| format!("`{tool}` answered")));
        parts.extend(self.test().map(|(at, test)| match test {
            Test::Exists(true) => format!("with something at `{at}`"),
            Test::Exists(false) => format!("with nothing at `{at}`"),
            Test::Equals(value) => format!("with {value} at `{at}`"),
            Test::Contains(text) => format!("with “{text}” at `{at}`"),
        }));
        f.write_str(&parts.join(", "))
    }
}
