//! The simulated work of a team: its file, read and checked.
//!
//! Owns the format of `assets/policy/process.toml` and its limits. Chances, rewards and agents are
//! data; what the roles do is in `model.rs`.

use serde::{Deserialize, Serialize};
use toml::Spanned;

pub use crate::model::AgentRole as Role;
use crate::model::UserError;
use crate::text::lines::line_at;

/// Where the file is among the program's data.
pub const PROCESS: &str = "assets/policy/process.toml";

/// The format of files that this program reads.
const FORMAT: u32 = 1;

/// Agents of a team, at most.
pub const MOST_AGENTS: usize = 32;

/// Classes of tasks, at most.
const MOST_CLASSES: usize = 8;

/// Actions of a task, at most.
const MOST_ACTIONS: u32 = 100;

/// Rewards go from its negative to it.
const MOST_REWARD: f64 = 1000.0;

/// All classes, by their shares.
pub const MIXED: &str = "mixed";

/// An agent of the team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    pub name: String,
    pub role: Role,
}

/// What is earned when.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reward {
    pub success: f64,
    pub timeout: f64,
    pub plan: f64,
    pub code: f64,
    pub redundant: f64,
    pub action: f64,
    /// For each change that the person rejected, in sessions; the simulation has no person.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub rejection: f64,
    /// For every thousand tokens that a turn took, in sessions.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub thousand_tokens: f64,
}

fn is_nothing(reward: &f64) -> bool {
    *reward == 0.0
}

/// How a table learns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Learning {
    /// Share of a new target that is taken over, α.
    pub rate: f64,
    /// What a reward one action later is worth, γ.
    pub discount: f64,
}

/// The chances of one class of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Class {
    pub name: String,
    /// Its share among mixed tasks; the shares need not sum up to 1.
    pub share: f64,
    pub planner_makes_plan: f64,
    pub coder_success_without_plan: f64,
    pub coder_success_with_plan: f64,
    pub debugger_fixes_error: f64,
}

/// The simulated work of a team.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Process {
    pub max_actions: u32,
    /// First number of actions of buckets 1, 2 and 3.
    pub buckets: [u32; 3],
    /// The class that is trained on when nothing else is asked for.
    pub train_on: String,
    pub reward: Reward,
    pub learning: Learning,
    pub agents: Vec<Agent>,
    pub classes: Vec<Class>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParametersFile {
    format: Spanned<u32>,
    max_actions: Spanned<u32>,
    buckets: Spanned<[u32; 3]>,
    train_on: Spanned<String>,
    reward: Spanned<Reward>,
    learning: LearningFile,
    agent: Vec<Spanned<Agent>>,
    class: Vec<Spanned<ClassFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LearningFile {
    rate: Spanned<f64>,
    discount: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassFile {
    name: String,
    share: Spanned<f64>,
    planner_makes_plan: Spanned<Probability>,
    coder_success_without_plan: Spanned<Probability>,
    coder_success_with_plan: Spanned<Probability>,
    debugger_fixes_error: Spanned<Probability>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Probability {
    chance: Spanned<f64>,
    source: Spanned<String>,
}

impl Process {
    /// Reads a file's text; `name` is what its errors call it.
    ///
    /// # Errors
    /// When it is not a file of this form, or a number is outside its limits; with the line.
    pub fn parse(name: &str, text: &str) -> Result<Self, UserError> {
        let reader = Reader { name, text };
        let file: ParametersFile = toml::from_str(text).or_else(|error| {
            let fix = "Compare it with the one that ships with the program.";
            reader.refuse(error.span().map_or(0, |span| span.start), error.message(), fix)
        })?;
        if *file.format.get_ref() != FORMAT {
            let why =
                format!("its format is {}, this program reads {FORMAT}", file.format.get_ref());
            return reader.refuse(file.format.span().start, why, "Update the program or the file.");
        }
        reader.limits(&file)?;
        let agents = reader.agents(&file.agent)?;
        let classes = reader.classes(&file.class)?;
        let train_on = file.train_on.get_ref();
        if train_on != MIXED && !classes.iter().any(|class| class.name == *train_on) {
            let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
            let why = format!("there is no class `{train_on}`");
            let fix = format!("Write one of: {}, {MIXED}.", names.join(", "));
            return reader.refuse(file.train_on.span().start, why, fix);
        }
        Ok(Self {
            max_actions: *file.max_actions.get_ref(),
            buckets: *file.buckets.get_ref(),
            train_on: file.train_on.into_inner(),
            reward: *file.reward.get_ref(),
            learning: Learning {
                rate: *file.learning.rate.get_ref(),
                discount: *file.learning.discount.get_ref(),
            },
            agents,
            classes,
        })
    }

    /// The classes that `tasks` names: one, or all for [`MIXED`], with shares that sum up to 1.
    ///
    /// # Errors
    /// When there is no such class.
    pub fn select(&self, tasks: &str) -> Result<Vec<Class>, UserError> {
        let mut chosen: Vec<Class> = self
            .classes
            .iter()
            .filter(|class| tasks == MIXED || class.name == tasks)
            .cloned()
            .collect();
        if chosen.is_empty() {
            let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
            return Err(UserError::new(
                format!("Cannot simulate tasks `{tasks}`"),
                "there is no class with this name",
                format!("Use one of: {}, {MIXED}.", names.join(", ")),
            ));
        }
        let total: f64 = chosen.iter().map(|class| class.share).sum();
        for class in &mut chosen {
            class.share /= total;
        }
        Ok(chosen)
    }

    /// Checks the limits of a process that was read from a policy's file.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_share = |number: f64| (0.0..=1.0).contains(&number);
        let chances = self.classes.iter().flat_map(|class| {
            [
                class.share,
                class.planner_makes_plan,
                class.coder_success_without_plan,
                class.coder_success_with_plan,
                class.debugger_fixes_error,
            ]
        });
        let mut fractions = chances.chain([self.learning.rate, self.learning.discount]);
        if !fractions.all(is_share) {
            return Err("a parameter is not between 0 and 1".to_owned());
        }
        if !(1..=MOST_ACTIONS).contains(&self.max_actions) {
            return Err(format!("`max_actions` is not between 1 and {MOST_ACTIONS}"));
        }
        let is_small = (1..=MOST_AGENTS).contains(&self.agents.len())
            && (1..=MOST_CLASSES).contains(&self.classes.len());
        if !is_small {
            return Err("it has too many agents or classes".to_owned());
        }
        Ok(())
    }

    /// Whether its simulation is that of another; rewards of sessions only are no part of it.
    #[must_use]
    pub fn is_same_work(&self, other: &Self) -> bool {
        let simulated = |process: &Self| {
            let mut process = process.clone();
            (process.reward.rejection, process.reward.thousand_tokens) = (0.0, 0.0);
            process
        };
        simulated(self) == simulated(other)
    }

    /// Names of the agents, in order.
    #[must_use]
    pub fn agent_names(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.name.clone()).collect()
    }
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn refuse<T>(
        &self,
        at: usize,
        why: impl Into<String>,
        fix: impl Into<String>,
    ) -> Result<T, UserError> {
        let line = line_at(self.text, at);
        Err(UserError::new(format!("Cannot use {}, line {line}", self.name), why, fix))
    }

    fn limits(&self, file: &ParametersFile) -> Result<(), UserError> {
        let most = *file.max_actions.get_ref();
        if !(1..=MOST_ACTIONS).contains(&most) {
            let why = format!("`max_actions` is {most}, which is not between 1 and {MOST_ACTIONS}");
            return self.refuse(file.max_actions.span().start, why, "Write e.g. 10.");
        }
        let [first, second, third] = *file.buckets.get_ref();
        if !(0 < first && first < second && second < third) {
            let why = "the limits of the buckets do not rise";
            return self.refuse(file.buckets.span().start, why, "Write e.g. [2, 4, 7].");
        }
        let reward = file.reward.get_ref();
        let rewards = [
            reward.success,
            reward.timeout,
            reward.plan,
            reward.code,
            reward.redundant,
            reward.action,
            reward.rejection,
            reward.thousand_tokens,
        ];
        if rewards.iter().any(|reward| !reward.is_finite() || reward.abs() > MOST_REWARD) {
            let why = format!("a reward is not between -{MOST_REWARD} and {MOST_REWARD}");
            return self.refuse(file.reward.span().start, why, "Write e.g. 10.0.");
        }
        if reward.success <= reward.timeout {
            let why = "success is worth no more than a timeout";
            return self.refuse(file.reward.span().start, why, "Make `success` the largest.");
        }
        self.fraction("rate", &file.learning.rate)?;
        self.fraction("discount", &file.learning.discount)?;
        if *file.learning.rate.get_ref() == 0.0 {
            let why = "`rate` is 0: nothing would be learned";
            return self.refuse(file.learning.rate.span().start, why, "Write e.g. 0.1.");
        }
        Ok(())
    }

    fn fraction(&self, key: &str, value: &Spanned<f64>) -> Result<f64, UserError> {
        let number = *value.get_ref();
        if (0.0..=1.0).contains(&number) {
            return Ok(number);
        }
        let why = format!("`{key}` is {number}, which is not between 0 and 1");
        self.refuse(value.span().start, why, "Write a number from 0 to 1, e.g. 0.6.")
    }

    fn agents(&self, agents: &[Spanned<Agent>]) -> Result<Vec<Agent>, UserError> {
        if agents.is_empty() || agents.len() > MOST_AGENTS {
            let why = format!("a team has 1 to {MOST_AGENTS} agents, not {}", agents.len());
            let at = agents.get(MOST_AGENTS).map_or(0, |agent| agent.span().start);
            return self.refuse(at, why, "Remove some.");
        }
        let mut known: Vec<Agent> = Vec::new();
        for agent in agents {
            let (at, agent) = (agent.span().start, agent.get_ref());
            let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
            if agent.name.is_empty() || agent.name.len() > 40 || !agent.name.chars().all(is_word) {
                let why = "an agent's name has 1 to 40 letters, digits, `-` and `_`";
                return self.refuse(at, why, "Rename the agent.");
            }
            if known.iter().any(|other| other.name == agent.name) {
                let why = format!("the agent `{}` is listed twice", agent.name);
                return self.refuse(at, why, "Remove one.");
            }
            known.push(agent.clone());
        }
        for (role, word) in [(Role::Code, "code"), (Role::Test, "test")] {
            if !known.iter().any(|agent| agent.role == role) {
                let why = format!("no agent has the role `{word}`: no task could be completed");
                return self.refuse(0, why, "Give one agent this role.");
            }
        }
        Ok(known)
    }

    fn classes(&self, classes: &[Spanned<ClassFile>]) -> Result<Vec<Class>, UserError> {
        if classes.is_empty() || classes.len() > MOST_CLASSES {
            let why = format!("there are 1 to {MOST_CLASSES} classes, not {}", classes.len());
            return self.refuse(0, why, "Write a `[[class]]` for each kind of task.");
        }
        let mut known: Vec<Class> = Vec::new();
        for class in classes {
            let (at, class) = (class.span().start, class.get_ref());
            if known.iter().any(|other| other.name == class.name) || class.name == MIXED {
                let why = format!("a class cannot be called `{}` here", class.name);
                return self.refuse(at, why, "Every class has a name of its own.");
            }
            let share = self.fraction("share", &class.share)?;
            if share <= 0.0 {
                return self.refuse(class.share.span().start, "`share` is 0", "Write e.g. 0.4.");
            }
            known.push(Class {
                name: class.name.clone(),
                share,
                planner_makes_plan: self.chance("planner_makes_plan", &class.planner_makes_plan)?,
                coder_success_without_plan: self
                    .chance("coder_success_without_plan", &class.coder_success_without_plan)?,
                coder_success_with_plan: self
                    .chance("coder_success_with_plan", &class.coder_success_with_plan)?,
                debugger_fixes_error: self
                    .chance("debugger_fixes_error", &class.debugger_fixes_error)?,
            });
        }
        Ok(known)
    }

    fn chance(&self, key: &str, value: &Spanned<Probability>) -> Result<f64, UserError> {
        let Probability { chance, source } = value.get_ref();
        if source.get_ref().trim().is_empty() {
            let why = format!("`{key}` does not say where its number comes from");
            return self.refuse(source.span().start, why, "Write it as `source`.");
        }
        self.fraction(key, chance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../assets/policy/process.toml");

    fn error(from: &str, to: &str) -> UserError {
        assert!(SHIPPED.contains(from), "{from}");
        let text = SHIPPED.replacen(from, to, 1);
        Process::parse("process.toml", &text).expect_err(to)
    }

    #[test]
    fn the_shipped_file_is_taken() {
        let process = Process::parse("process.toml", SHIPPED).unwrap();
        assert_eq!((process.agents.len(), process.classes.len()), (4, 3));
        let simple = process.select("simple").unwrap();
        assert_eq!((simple.len(), simple[0].coder_success_without_plan), (1, 0.60));
        assert!((simple[0].share - 1.0).abs() < 1e-12);
        let planned: Vec<f64> =
            process.classes.iter().map(|class| class.planner_makes_plan).collect();
        assert_eq!(planned, [0.95, 0.75, 0.90], "the sources compare them with each other");
        assert_eq!(process.select(MIXED).unwrap().len(), 3);
        assert!(process.select("hard").unwrap_err().fix.contains("simple"));
    }

    #[test]
    fn a_number_outside_its_limits_is_refused_by_its_line() {
        for (from, to, words) in [
            ("chance = 0.60", "chance = 1.2", "not between 0 and 1"),
            ("chance = 0.60", "chance = -0.1", "not between 0 and 1"),
            ("chance = 0.60", "chance = nan", "not between 0 and 1"),
            ("rate = 0.1", "rate = 0.0", "nothing would be learned"),
            ("discount = 0.95", "discount = 1.5", "`discount` is 1.5"),
            ("share = 0.2", "share = 0.0", "`share` is 0"),
            ("max_actions = 10", "max_actions = 0", "between 1 and 100"),
            ("buckets = [2, 4, 7]", "buckets = [2, 2, 7]", "do not rise"),
            ("success = 10.0", "success = inf", "a reward"),
            ("rejection = 0.0", "rejection = 1e9", "a reward"),
            ("thousand_tokens = 0.0", "thousand_tokens = nan", "a reward"),
            ("success = 10.0", "success = -6.0", "no more than a timeout"),
            ("source = \"published\"", "source = \" \"", "where its number comes from"),
            ("format = 1", "format = 2", "its format is 2"),
            ("train_on = \"simple\"", "train_on = \"hard\"", "no class `hard`"),
            ("name = \"tester\"", "name = \"coder\"", "listed twice"),
            ("name = \"tester\"", "name = \"a b\"", "letters, digits"),
            ("role = \"test\"", "role = \"other\"", "role `test`"),
            ("role = \"test\"", "role = \"sleep\"", "unknown variant"),
            ("timeout = -5.0", "timeout = -5.0\nluck = 1.0", "luck"),
        ] {
            let error = error(from, to);
            let line = SHIPPED.split(from).next().unwrap().matches('\n').count() + 1;
            let is_exact = ![
                "role `test`",
                "listed twice",
                "letters, digits",
                "a reward",
                "no more than a timeout",
                "luck",
            ]
            .contains(&words);
            if is_exact {
                assert_eq!(error.what, format!("Cannot use process.toml, line {line}"), "{to}");
            }
            assert!(error.why.contains(words), "{to}: {error}");
            assert!(!error.fix.is_empty(), "{to}");
        }
    }

    #[test]
    fn a_team_may_have_twelve_agents_but_not_forty() {
        let more = |count: usize| {
            (0..count)
                .map(|number| format!("[[agent]]\nname = \"helper{number}\"\nrole = \"other\"\n"))
                .collect::<String>()
        };
        let with = |count| SHIPPED.replacen("[[class]]", &format!("{}\n[[class]]", more(count)), 1);
        assert_eq!(Process::parse("p", &with(8)).unwrap().agents.len(), 12);
        let error = Process::parse("p", &with(36)).unwrap_err();
        assert!(error.why.contains("1 to 32 agents"), "{error}");
    }
}
