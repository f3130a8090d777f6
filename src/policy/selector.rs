//! A model that chooses who speaks next, as it was recorded: a baseline of comparisons.
//!
//! Owns the file `assets/policy/selector.toml`. The calls of that model itself are not counted.

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use crate::model::UserError;
use crate::text::lines::line_at;
use crate::text::recover;

use super::exact::{Choice, Policy};
use super::file::Trained;
use super::model::Model;
use super::state::{BUCKETS, Facts, State};

/// Where the file is among the program's data.
pub const SELECTOR: &str = "assets/policy/selector.toml";

/// The format that this program reads.
const FORMAT: u32 = 1;

/// The recorded answers of a selector.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSelector {
    situations: Vec<AskedState>,
}

/// What it named in one situation.
#[derive(Debug, Clone, PartialEq)]
struct AskedState {
    facts: Facts,
    last: Option<String>,
    class: Option<String>,
    named: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SelectorFile {
    format: u32,
    situation: Vec<Spanned<SituationFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SituationFile {
    facts: Vec<String>,
    last: Option<String>,
    class: Option<String>,
    answers: Vec<String>,
}

impl RecordedSelector {
    /// Reads a file's text; `name` is what its errors call it.
    ///
    /// # Errors
    /// When it is not a file of this form, with the line; or a situation of the work is not in it.
    pub fn parse(name: &str, text: &str) -> Result<Self, UserError> {
        let refuse = |at: usize, why: String| {
            let line = line_at(text, at);
            let fix = "Compare it with the one that ships with the program.";
            UserError::new(format!("Cannot use {name}, line {line}"), why, fix)
        };
        let file: SelectorFile = toml::from_str(text).map_err(|error| {
            refuse(error.span().map_or(0, |span| span.start), error.message().to_owned())
        })?;
        if file.format != FORMAT {
            let why = format!("its format is {}, this program reads {FORMAT}", file.format);
            return Err(refuse(0, why));
        }
        let mut situations = Vec::new();
        for situation in file.situation {
            let at = situation.span().start;
            let situation = AskedState::read(situation.into_inner());
            situations.push(situation.map_err(|why| refuse(at, why))?);
        }
        let selector = Self { situations };
        for state in (0..super::state::STATES / (2 * BUCKETS)).map(State::from_index) {
            let facts = state.facts();
            if (facts.has_code || !facts.has_error) && selector.named(facts, None, None).is_none() {
                let why = format!(
                    "it has no answer for the state `{state}` that holds for every last speaker"
                );
                return Err(refuse(0, why));
            }
        }
        Ok(selector)
    }

    fn named(&self, facts: Facts, last: Option<&str>, class: Option<&str>) -> Option<&[String]> {
        let fits =
            |wanted: &Option<String>, is: Option<&str>| wanted.is_none() || wanted.as_deref() == is;
        let situation = self.situations.iter().find(|situation| {
            situation.facts == facts && fits(&situation.last, last) && fits(&situation.class, class)
        });
        situation.map(|situation| situation.named.as_slice())
    }

    /// The selector in the work of a policy; `None` where it names somebody whom that team lacks.
    pub(super) fn of<'a>(&'a self, policy: &Trained) -> Option<SelectorPolicy<'a>> {
        let agents = &policy.model.agents;
        let mut named = self.situations.iter().flat_map(|situation| &situation.named);
        let process = &policy.origin.process;
        let classes = process.select(&policy.origin.tasks).ok()?;
        let starts = policy.model.starts.iter().map(|(_, start)| *start);
        named.all(|name| agents.contains(name)).then(|| SelectorPolicy {
            selector: self,
            agents: agents.len(),
            classes: starts.zip(classes.into_iter().map(|class| class.name)).collect(),
        })
    }
}

impl AskedState {
    fn read(file: SituationFile) -> Result<Self, String> {
        let mut facts = Facts::default();
        for fact in &file.facts {
            match fact.as_str() {
                "plan" => facts.has_plan = true,
                "code" => facts.has_code = true,
                "error" => facts.has_error = true,
                _ => return Err(format!("`{fact}` is not one of plan, code, error")),
            }
        }
        let named: Result<Vec<String>, String> = file
            .answers
            .iter()
            .map(|answer| {
                let answer = recover::structured(answer).ok();
                let next = answer.as_ref().and_then(|answer| answer.get("next"));
                let name = next.and_then(Value::as_str).filter(|name| !name.trim().is_empty());
                name.map(str::to_owned).ok_or("an answer names nobody as `next`".to_owned())
            })
            .collect();
        let named = named?;
        if named.is_empty() {
            return Err("it has no answers".to_owned());
        }
        Ok(Self { facts, last: file.last, class: file.class, named })
    }
}

/// The selector in the work of one policy. It remembers who spoke last.
#[derive(Debug)]
pub(super) struct SelectorPolicy<'a> {
    selector: &'a RecordedSelector,
    agents: usize,
    /// Where the situations of each class begin, and its name.
    classes: Vec<(u32, String)>,
}

impl Policy for SelectorPolicy<'_> {
    fn memories(&self) -> usize {
        self.agents + 1
    }

    fn choices(&self, model: &Model, situation: u32, memory: usize) -> Vec<Choice> {
        let last = memory.checked_sub(1).and_then(|agent| model.agents.get(agent));
        let class = self.classes.iter().rev().find(|(start, _)| *start <= situation);
        let facts = model.state(situation).facts();
        let class = class.map(|(_, name)| name.as_str());
        let named = self.selector.named(facts, last.map(String::as_str), class).unwrap_or_default();
        let chance = 1.0 / named.len().max(1) as f64;
        let place = |name: &String| model.agents.iter().position(|agent| agent == name);
        let agents = named.iter().filter_map(place);
        agents.map(|agent| Choice { chance, agent, memory: agent + 1 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::exact::evaluate;
    use super::super::file::tests::trained;
    use super::*;

    const SHIPPED: &str = include_str!("../../assets/policy/selector.toml");

    #[test]
    fn the_recorded_answers_choose_in_every_situation_and_make_no_wonder() {
        let selector = RecordedSelector::parse("selector.toml", SHIPPED).unwrap();
        for (tasks, knows_classes) in [("simple", false), ("mixed", true)] {
            let policy = trained(tasks, knows_classes, 1, 5000);
            let chosen = selector.of(&policy).unwrap();
            for situation in 0..u32::try_from(policy.model.situations()).unwrap() {
                for memory in 0..chosen.memories() {
                    let choices = chosen.choices(&policy.model, situation, memory);
                    let sum: f64 = choices.iter().map(|choice| choice.chance).sum();
                    assert!((sum - 1.0).abs() < 1e-9, "{situation} {memory}: {choices:?}");
                }
            }
            let reached = evaluate(&policy.model, &chosen);
            let learned = evaluate(&policy.model, &policy.table);
            assert!(reached.value < learned.value, "{tasks}: {reached:?} {learned:?}");
            assert!(reached.success > 0.5 && reached.calls > 3.0, "{tasks}: {reached:?}");
        }
    }

    #[test]
    fn the_last_speaker_the_class_and_several_answers_count() {
        let named = |situation: &str, names: &[&str]| {
            let answers: Vec<String> =
                names.iter().map(|name| format!("'{{\"next\": \"{name}\"}}'")).collect();
            format!("[[situation]]\n{situation}\nanswers = [{}]\n", answers.join(", "))
        };
        let text = [
            "format = 1\n".to_owned(),
            named("facts = [\"plan\"]\nlast = \"coder\"", &["planner"]),
            named("facts = [\"plan\"]", &["coder", "planner"]),
            SHIPPED.replacen("format = 1", "", 1),
        ];
        let selector = RecordedSelector::parse("x", &text.concat()).unwrap();
        let policy = trained("mixed", true, 1, 10);
        let chosen = selector.of(&policy).unwrap();
        let model = &policy.model;
        let agents = |facts: Facts, class: usize, memory: usize| -> Vec<usize> {
            let all = 0..u32::try_from(model.situations()).unwrap();
            let situation = all
                .filter(|situation| *situation >= model.starts[class].1)
                .find(|situation| model.state(*situation).facts() == facts)
                .unwrap();
            let choices = chosen.choices(model, situation, memory);
            choices.iter().map(|choice| choice.agent).collect()
        };
        let plan = Facts { has_plan: true, ..Facts::default() };
        assert_eq!(agents(Facts::default(), 0, 0), [1], "a trivial task begins with code");
        assert_eq!(agents(Facts::default(), 2, 0), [0], "a complex one with a plan");
        assert_eq!(agents(plan, 1, 1), [1, 0]);
        assert_eq!(agents(plan, 1, 2), [0], "after the coder");
    }

    #[test]
    fn a_team_that_lacks_an_agent_has_no_such_baseline() {
        let selector = RecordedSelector::parse("selector.toml", SHIPPED).unwrap();
        let mut policy = trained("simple", false, 1, 10);
        policy.origin.process.agents[3].name = "mender".to_owned();
        assert!(selector.of(&Trained::new(policy.origin).unwrap()).is_none());
    }

    #[test]
    fn files_that_cannot_be_used_are_refused_with_the_line() {
        for (from, to, why, line) in [
            ("format = 1", "format = 3", "its format is 3", 1),
            ("facts = [\"plan\"]", "facts = [\"tests\"]", "`tests`", 25),
            ("\"next\": \"coder\"", "\"then\": \"coder\"", "names nobody", 12),
            ("answers = ['{\"next\": \"tester\"", "luck = ['{\"next\": \"tester\"", "luck", 30),
        ] {
            assert!(SHIPPED.contains(from), "{from}");
            let error = RecordedSelector::parse("s.toml", &SHIPPED.replacen(from, to, 1));
            let error = error.expect_err(why);
            assert!(error.why.contains(why), "{error}");
            let at: usize = error.what.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(at.abs_diff(line) <= 3, "{error}");
        }
        let without =
            SHIPPED.split("[[situation]]\nfacts = [\"plan\", \"code\", \"error\"]").next();
        let error = RecordedSelector::parse("s.toml", without.unwrap()).unwrap_err();
        assert!(error.why.contains("plan,code,error"), "{error}");
    }
}
