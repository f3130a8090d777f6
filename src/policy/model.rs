//! The simulated work as a Markov decision process, compiled to arrays.
//!
//! Owns what an action of each role does, what it earns, and what a policy observes of it; sampling
//! and exact calculations share these arrays. Draws no random numbers.
//!
//! A situation is more than a policy observes: the exact number of actions taken, and whether the
//! debugger changed the code, which decides the chance of its tests. The planner plans what is not yet
//! written, the coder writes code where there is none, the debugger changes code whose tests failed,
//! and only the tester finds out whether code is right. Anything else is redundant and changes nothing.

use crate::model::UserError;

use super::process::{Class, Process, Role};
use super::state::{Facts, State, bucket};

/// Bit set of agents, by their number.
pub type AgentSet = u32;

/// Whether a policy knows the class of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassFeature {
    Off,
    On,
}

/// How the present code was made, and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    None,
    /// As the coder wrote it, untested.
    Written,
    /// As the debugger changed it, untested.
    Changed,
    /// The tests failed.
    Failing,
}

const CODES: [Code; 4] = [Code::None, Code::Written, Code::Changed, Code::Failing];

#[derive(Debug, Clone, Copy)]
struct Situation {
    class: usize,
    actions: u32,
    has_plan: bool,
    code: Code,
}

/// Where an action leads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// To the situation of this number.
    Situation(u32),
    /// The tests pass.
    Success,
    /// There are no actions left.
    Timeout,
}

/// One outcome of an action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    pub reward: f64,
    pub next: Next,
}

/// The two outcomes of an action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Action {
    /// Chance of the first outcome.
    pub chance: f64,
    pub outcomes: [Outcome; 2],
}

/// The compiled process.
#[derive(Debug, Clone)]
pub struct Model {
    pub agents: Vec<String>,
    pub discount: f64,
    /// Largest and smallest value that a situation can have.
    pub value_range: [f64; 2],
    /// Number of observed states.
    pub states: usize,
    /// Classes: chance that a task is of this class, and the situation it begins with.
    pub starts: Vec<(f64, u32)>,
    /// What is observed of each situation.
    pub observed: Vec<State>,
    /// Agents that can act in each situation.
    pub available: Vec<AgentSet>,
    /// By situation, then by agent.
    actions: Vec<Action>,
}

impl Model {
    /// Compiles the process for the tasks that `tasks` names.
    ///
    /// # Errors
    /// When there is no such class.
    pub fn new(process: &Process, tasks: &str, feature: ClassFeature) -> Result<Self, UserError> {
        let classes = process.select(tasks)?;
        let compiler = Compiler { process, classes: &classes };
        let reward = &process.reward;
        let most = f64::from(process.max_actions);
        let bonus = reward.plan.max(0.0) + reward.code.max(0.0) + reward.action.max(0.0) * most;
        let cost = (reward.action.min(0.0) + reward.redundant.min(0.0)) * most;
        let mut model = Self {
            agents: process.agent_names(),
            discount: process.learning.discount,
            value_range: [reward.timeout.min(0.0) + cost, reward.success.max(0.0) + bonus],
            states: super::state::STATES,
            starts: Vec::new(),
            observed: Vec::new(),
            available: Vec::new(),
            actions: Vec::new(),
        };
        if feature == ClassFeature::On {
            model.states *= classes.len();
        }
        for (number, class) in classes.iter().enumerate() {
            let start = Situation { class: number, actions: 0, has_plan: false, code: Code::None };
            model.starts.push((class.share, compiler.index(start)));
        }
        for situation in compiler.situations() {
            let known_class = if feature == ClassFeature::On { situation.class } else { 0 };
            model.observed.push(compiler.observe(situation, known_class));
            let mut available = 0;
            for (number, agent) in process.agents.iter().enumerate() {
                if can_act(agent.role, facts(situation)) {
                    available |= 1 << number;
                }
                model.actions.push(compiler.action(situation, agent.role));
            }
            model.available.push(available);
        }
        Ok(model)
    }

    /// What the agent does in the situation.
    #[must_use]
    pub fn action(&self, situation: u32, agent: usize) -> &Action {
        &self.actions[situation as usize * self.agents.len() + agent]
    }

    /// Number of situations.
    #[must_use]
    pub fn situations(&self) -> usize {
        self.observed.len()
    }

    /// What is observed of a situation.
    #[must_use]
    pub fn state(&self, situation: u32) -> State {
        self.observed[situation as usize]
    }
}

/// Whether an agent of this role can act.
#[must_use]
pub const fn can_act(role: Role, facts: Facts) -> bool {
    match role {
        Role::Plan | Role::Code | Role::Other => true,
        Role::Test => facts.has_code,
        Role::Fix => facts.has_error,
    }
}

/// Why an agent of this role cannot act, where it cannot.
#[must_use]
pub const fn reason_against(role: Role, facts: Facts) -> Option<&'static str> {
    match role {
        Role::Test if !facts.has_code => Some("no code yet"),
        Role::Fix if !facts.has_error => Some("no error"),
        Role::Plan | Role::Code | Role::Test | Role::Fix | Role::Other => None,
    }
}

const fn facts(situation: Situation) -> Facts {
    Facts {
        has_plan: situation.has_plan,
        has_code: !matches!(situation.code, Code::None),
        has_error: matches!(situation.code, Code::Failing),
        tests_pass: false,
    }
}

struct Compiler<'a> {
    process: &'a Process,
    classes: &'a [Class],
}

impl Compiler<'_> {
    /// All situations, those with fewer actions first within a class.
    fn situations(&self) -> Vec<Situation> {
        let mut all = Vec::new();
        for class in 0..self.classes.len() {
            for actions in 0..self.process.max_actions {
                for has_plan in [false, true] {
                    for code in CODES {
                        all.push(Situation { class, actions, has_plan, code });
                    }
                }
            }
        }
        all
    }

    fn index(&self, situation: Situation) -> u32 {
        let class = u32::try_from(situation.class).unwrap_or_default();
        let row = class * self.process.max_actions + situation.actions;
        (row * 2 + u32::from(situation.has_plan)) * 4 + situation.code as u32
    }

    fn observe(&self, situation: Situation, class: usize) -> State {
        let bucket = bucket(&self.process.buckets, situation.actions);
        State::new(facts(situation), bucket, class)
    }

    fn action(&self, now: Situation, role: Role) -> Action {
        let class = &self.classes[now.class];
        let reward = &self.process.reward;
        let same = |extra: f64| self.outcome(now, extra);
        let changed = |code: Code, extra: f64| {
            let outcome = self.outcome(Situation { code, ..now }, extra);
            Action { chance: 1.0, outcomes: [outcome; 2] }
        };
        match (role, now.code) {
            (Role::Plan, Code::None) if !now.has_plan => Action {
                chance: class.planner_makes_plan,
                outcomes: [
                    self.outcome(Situation { has_plan: true, ..now }, reward.plan),
                    same(0.0),
                ],
            },
            (Role::Code, Code::None) => changed(Code::Written, reward.code),
            (Role::Fix, Code::Failing) => changed(Code::Changed, 0.0),
            (Role::Test, Code::Written | Code::Changed) => {
                let chance = match (now.code, now.has_plan) {
                    (Code::Changed, _) => class.debugger_fixes_error,
                    (_, true) => class.coder_success_with_plan,
                    (_, false) => class.coder_success_without_plan,
                };
                let success = reward.action + reward.success;
                let failed = self.outcome(Situation { code: Code::Failing, ..now }, 0.0);
                Action {
                    chance,
                    outcomes: [Outcome { reward: success, next: Next::Success }, failed],
                }
            }
            (Role::Plan | Role::Code | Role::Fix | Role::Test | Role::Other, _) => {
                Action { chance: 1.0, outcomes: [same(reward.redundant); 2] }
            }
        }
    }

    /// The outcome that leads to `after`, whose actions are still those of before.
    fn outcome(&self, after: Situation, extra: f64) -> Outcome {
        let reward = self.process.reward.action + extra;
        let actions = after.actions + 1;
        if actions >= self.process.max_actions {
            return Outcome { reward: reward + self.process.reward.timeout, next: Next::Timeout };
        }
        let next = Next::Situation(self.index(Situation { actions, ..after }));
        Outcome { reward, next }
    }
}
