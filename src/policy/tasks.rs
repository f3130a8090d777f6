//! Small tasks with recorded answers, to try an order of agents where code is really run.
//!
//! Owns the file `assets/policy/tasks.toml`, who answers what, and how calls are counted. Whether an
//! answer is right is not looked up: it is asked of a judge that runs it.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::model::UserError;

use super::experience::available;
use super::file::Trained;
use super::model::can_act;
use super::process::{Class, Process, Role};
use super::state::{Facts, State, bucket};
use super::train::generator;

/// Where the file is among the program's data.
pub const TASKS: &str = "assets/policy/tasks.toml";

/// The format that this program reads.
const FORMAT: u32 = 1;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedTask {
    pub name: String,
    pub class: String,
    /// What is asked for.
    pub task: String,
    /// Whether it stands for one of the published ones.
    #[serde(default)]
    pub published: bool,
    /// Whether the first answer that follows a plan is wrong, where it is a published one.
    #[serde(default)]
    pub misled: bool,
    /// Python expressions that hold when the code is right.
    pub checks: Vec<String>,
    /// Answers that do what they should.
    right: Vec<String>,
    /// And such that do not.
    wrong: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TasksFile {
    format: u32,
    task: Vec<RecordedTask>,
}

/// Tells whether the code of a task passes its checks, by running it.
pub trait Judge {
    /// # Errors
    /// When nothing can be run.
    fn passes(&mut self, task: &RecordedTask, code: &str) -> Result<bool, UserError>;
}

/// Who speaks next in a task.
#[derive(Debug, Clone, Copy)]
pub enum Order<'a> {
    /// As a policy chooses.
    Learned(&'a Trained),
    /// These roles again and again; who cannot act is skipped.
    Fixed(&'a [Role]),
}

/// What came of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Played {
    /// Agents that were called.
    pub calls: u32,
    pub solved: u32,
    pub tasks: u32,
}

/// The order planner, coder, tester, debugger.
pub const USUAL_ORDER: [Role; 4] = [Role::Plan, Role::Code, Role::Test, Role::Fix];

/// Reads the file's text.
///
/// # Errors
/// When it is not one of this form.
pub fn tasks(name: &str, text: &str) -> Result<Vec<RecordedTask>, UserError> {
    let refuse = |why: String| {
        let fix = "Compare it with the one that ships with the program.";
        UserError::new(format!("Cannot use {name}"), why, fix)
    };
    let file: TasksFile = toml::from_str(text).map_err(|error| refuse(error.to_string()))?;
    if file.format != FORMAT {
        return Err(refuse(format!("its format is {}, this program reads {FORMAT}", file.format)));
    }
    let bad = |task: &&RecordedTask| {
        task.right.is_empty() || task.wrong.is_empty() || task.checks.is_empty()
    };
    match file.task.iter().find(bad) {
        Some(task) => {
            Err(refuse(format!("`{}` lacks right or wrong answers, or checks", task.name)))
        }
        None => Ok(file.task),
    }
}

/// Lets an order work on tasks; answers are drawn by the seed, except for published tasks.
///
/// # Errors
/// When nothing can be run, or a task is of a class that the process does not have.
pub fn play(
    tasks: &[RecordedTask],
    process: &Process,
    order: Order<'_>,
    seed: u64,
    judge: &mut dyn Judge,
) -> Result<Played, UserError> {
    let mut played = Played::default();
    for (number, task) in tasks.iter().enumerate() {
        let class = process.select(&task.class)?.remove(0);
        let mut random = generator(seed, number as u64);
        let mut run = TaskRun { task, class, work: TaskWork::default() };
        while run.work.actions < process.max_actions && !run.work.passed {
            let Some(role) = run.next(process, order) else { break };
            run.act(role, &mut random, judge)?;
            run.work.actions += 1;
        }
        played.calls += run.work.actions;
        played.solved += u32::from(run.work.passed);
        played.tasks += 1;
    }
    Ok(played)
}

/// A task that is worked on.
struct TaskRun<'a> {
    task: &'a RecordedTask,
    class: Class,
    work: TaskWork<'a>,
}

/// What there is of it so far.
#[derive(Debug, Default)]
struct TaskWork<'a> {
    facts: Facts,
    code: &'a str,
    passed: bool,
    actions: u32,
    /// Place in a fixed order.
    place: usize,
    /// Answers of the coder.
    written: u32,
    /// Wrong answers that were given, by their places.
    mistakes: Vec<usize>,
}

impl<'a> TaskRun<'a> {
    fn next(&mut self, process: &Process, order: Order<'_>) -> Option<Role> {
        let facts = self.work.facts;
        match order {
            Order::Fixed(roles) => {
                let count = roles.len();
                let places = (0..count).map(|step| (self.work.place + step) % count);
                let place = places.into_iter().find(|place| can_act(roles[*place], facts))?;
                self.work.place = place + 1;
                roles.get(place).copied()
            }
            Order::Learned(policy) => {
                let bucket = bucket(&process.buckets, self.work.actions);
                let classes = policy.classes();
                let class = classes.iter().position(|class| *class == self.task.class);
                let state = State::new(facts, bucket, class.unwrap_or(0));
                let best = policy.table.best(state, available(policy, state))?;
                Some(policy.role(best.agent))
            }
        }
    }

    fn act(
        &mut self,
        role: Role,
        random: &mut impl Rng,
        judge: &mut dyn Judge,
    ) -> Result<(), UserError> {
        let class = &self.class;
        match role {
            Role::Plan => {
                let is_usable = random.random::<f64>() < class.planner_makes_plan;
                self.work.facts.has_plan |= self.task.published || is_usable;
            }
            Role::Code => {
                let has_plan = self.work.facts.has_plan;
                let chance = match has_plan {
                    true => class.coder_success_with_plan,
                    false => class.coder_success_without_plan,
                };
                let is_first = self.work.written == 0;
                let recorded = !(self.task.misled && has_plan && is_first);
                self.work.written += 1;
                self.answer(recorded, chance, random);
            }
            Role::Fix => self.answer(true, class.debugger_fixes_error, random),
            Role::Test => {
                self.work.passed = judge.passes(self.task, self.work.code)?;
                self.work.facts.has_error = !self.work.passed;
            }
            Role::Other => {}
        }
        Ok(())
    }

    /// Takes the next answer: the recorded one of a published task, or one that is drawn. A wrong answer
    /// that was tested is not given again.
    fn answer(&mut self, recorded: bool, chance: f64, random: &mut impl Rng) {
        let drawn = random.random::<f64>() < chance;
        let is_right = if self.task.published { recorded } else { drawn };
        let wrong = 0..self.task.wrong.len();
        let unused: Vec<usize> = wrong.filter(|it| !self.work.mistakes.contains(it)).collect();
        let mistake = unused.get(random.random_range(0..unused.len().max(1))).copied();
        let answer = match mistake.filter(|_| !is_right) {
            Some(mistake) => {
                self.work.mistakes.push(mistake);
                self.task.wrong.get(mistake)
            }
            None => self.task.right.get(random.random_range(0..self.task.right.len().max(1))),
        };
        self.work.code = answer.map_or("", String::as_str);
        self.work.facts.has_code = true;
        self.work.facts.has_error = false;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::file::tests::trained;
    use super::*;

    /// Looks the answers up, so that a policy can be tried where nothing can be run.
    pub struct ByHeart;

    impl Judge for ByHeart {
        fn passes(&mut self, task: &RecordedTask, code: &str) -> Result<bool, UserError> {
            Ok(task.right.iter().any(|right| right == code))
        }
    }

    pub fn shipped() -> Vec<RecordedTask> {
        tasks("tasks.toml", include_str!("../../assets/policy/tasks.toml")).unwrap()
    }

    #[test]
    fn five_tasks_take_the_published_calls_in_each_of_twenty_seeds() {
        let five: Vec<_> = shipped().into_iter().filter(|task| task.published).collect();
        for seed in 1..=20 {
            let policy = trained("simple", false, seed, 5000);
            let process = &policy.origin.process;
            let learned = play(&five, process, Order::Learned(&policy), seed, &mut ByHeart);
            assert_eq!(learned.unwrap(), Played { calls: 10, solved: 5, tasks: 5 }, "seed {seed}");
            let fixed = play(&five, process, Order::Fixed(&USUAL_ORDER), seed, &mut ByHeart);
            assert_eq!(fixed.unwrap(), Played { calls: 23, solved: 5, tasks: 5 });
        }
    }

    #[test]
    fn all_tasks_take_fewer_calls_by_a_policy_that_knows_their_classes_and_wrong_files_are_refused()
    {
        let all = shipped();
        assert_eq!(all.len(), 25);
        let (mut learned, mut fixed) = (Played::default(), Played::default());
        for seed in 1..=20 {
            let policy = trained("mixed", true, seed, 5000);
            let process = &policy.origin.process;
            for (order, sum) in
                [(Order::Learned(&policy), &mut learned), (Order::Fixed(&USUAL_ORDER), &mut fixed)]
            {
                let played = play(&all, process, order, seed, &mut ByHeart).unwrap();
                sum.calls += played.calls;
                sum.solved += played.solved;
            }
        }
        assert!(
            learned.calls < fixed.calls && learned.solved > fixed.solved,
            "{learned:?} {fixed:?}"
        );
        assert_eq!(learned.solved, 500, "{learned:?}");
        for (text, why) in [
            ("format = 2\ntask = []\n", "its format is 2"),
            ("format = 1\n", "missing field"),
            (
                "format = 1\n[[task]]\nname = \"a\"\nclass = \"simple\"\ntask = \"t\"\nchecks = []\nright = []\nwrong = []\n",
                "`a` lacks",
            ),
        ] {
            assert!(tasks("x.toml", text).unwrap_err().why.contains(why), "{why}");
        }
    }
}
