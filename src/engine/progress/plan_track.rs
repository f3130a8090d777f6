//! The plan of a run, and how far it is: which steps are done, and which need attention.
//!
//! A fold of the run's events. Must not know who carries a step out.

use crate::engine::speaker::plan::shortened;
use crate::model::PlanItem;

/// Most characters of the reason why a step needs attention.
const MOST_REASON: usize = 300;

/// How far a step is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum StepState {
    Open,
    /// It was carried out and is to be done again, for this reason.
    SentBack(String),
    Done,
    /// All attempts at it failed, for this reason.
    NeedsAttention(String),
}

/// The steps of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) struct PlanTrack {
    steps: Vec<(String, StepState)>,
    /// How often steps were sent back.
    sent_back: u32,
}

impl PlanTrack {
    /// The plan is now this one. Steps that are in it as they were keep how far they are.
    pub fn replace(&mut self, items: &[PlanItem]) {
        let mut old = std::mem::take(&mut self.steps);
        let step = |item: &PlanItem| {
            let place = old.iter().position(|(task, _)| *task == item.task);
            let state = place.map_or(StepState::Open, |place| old.remove(place).1);
            (item.task.clone(), state)
        };
        self.steps = items.iter().map(step).collect();
    }

    /// The first step that was not carried out yet.
    pub fn next_open(&self) -> Option<usize> {
        self.steps
            .iter()
            .position(|(_, state)| matches!(state, StepState::Open | StepState::SentBack(_)))
    }

    /// How many steps it has.
    pub const fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is a plan.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The title of a chat about a step.
    pub fn title(&self, title: &str, step: usize) -> String {
        let known = self.steps.get(step);
        let task = known.map(|(task, _)| shortened(task)).unwrap_or_default();
        let again = match known {
            Some((_, StepState::SentBack(_))) => " again",
            Some(_) | None => "",
        };
        format!("{title} {} of {}{again}: {task}", step + 1, self.steps.len())
    }

    /// Steps are to be carried out again; when that was so often enough, they need attention
    /// instead. Tells whether there is one to carry out.
    pub fn send_back(&mut self, steps: &[(usize, String)], most: u32) -> bool {
        if self.sent_back >= most {
            steps.iter().for_each(|(step, why)| self.failed(*step, why));
            return false;
        }
        let known = steps.iter().filter(|(step, _)| *step < self.steps.len());
        let known: Vec<&(usize, String)> = known.collect();
        for (step, why) in &known {
            let why = why.chars().take(MOST_REASON).collect();
            self.set(*step, StepState::SentBack(why));
        }
        self.sent_back += u32::from(!known.is_empty());
        !known.is_empty()
    }

    /// A step was carried out.
    pub fn done(&mut self, step: usize) {
        self.set(step, StepState::Done);
    }

    /// All attempts at a step failed.
    pub fn failed(&mut self, step: usize, why: &str) {
        let why = why.chars().take(MOST_REASON).collect();
        self.set(step, StepState::NeedsAttention(why));
    }

    fn set(&mut self, step: usize, state: StepState) {
        if let Some((_, now)) = self.steps.get_mut(step) {
            *now = state;
        }
    }

    /// Which steps need attention, in words; `None` when none does.
    pub fn attention(&self) -> Option<String> {
        let needs = |state: &StepState| matches!(state, StepState::NeedsAttention(_));
        let steps = self.steps.iter().enumerate().filter(|(_, (_, state))| needs(state));
        let numbers: Vec<String> = steps.map(|(place, _)| (place + 1).to_string()).collect();
        let of = self.steps.len();
        match numbers.as_slice() {
            [] => None,
            [one] => Some(format!("step {one} of {of} needs attention")),
            more => Some(format!("steps {} of {of} need attention", more.join(", "))),
        }
    }

    /// The plan with how far each step is; `None` without one.
    pub fn in_words(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let line = |(place, (task, state)): (usize, &(String, StepState))| {
            let number = place + 1;
            match state {
                StepState::Open => format!("{number}. [open] {task}"),
                StepState::SentBack(why) => format!("{number}. [sent back: {why}] {task}"),
                StepState::Done => format!("{number}. [done] {task}"),
                StepState::NeedsAttention(why) => {
                    format!("{number}. [needs attention: {why}] {task}")
                }
            }
        };
        let lines: Vec<String> = self.steps.iter().enumerate().map(line).collect();
        Some(format!("The plan, and how far it is:\n{}", lines.join("\n")))
    }

    /// What a step is to do.
    pub fn task(&self, step: usize) -> Option<&str> {
        self.steps.get(step).map(|(task, _)| task.as_str())
    }

    /// What a chat about one step is told of it.
    pub fn step_in_words(&self, step: usize) -> Option<String> {
        let (task, state) = self.steps.get(step)?;
        let (number, of) = (step + 1, self.steps.len());
        let back = match state {
            StepState::SentBack(why) => format!(
                "\nIt was carried out before, and the review sent it back: {why}\nChange what this \
                 takes, and nothing else."
            ),
            StepState::Open | StepState::Done | StepState::NeedsAttention(_) => String::new(),
        };
        Some(format!("This chat is about step {number} of {of} alone:\n{task}{back}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(tasks: &[&str]) -> Vec<PlanItem> {
        tasks.iter().map(|task| PlanItem { task: (*task).to_owned(), agent: None }).collect()
    }

    #[test]
    fn a_changed_plan_keeps_how_far_its_steps_are() {
        let mut plan = PlanTrack::default();
        plan.replace(&items(&["a", "b", "c"]));
        plan.done(0);
        plan.failed(1, "tests failed");
        plan.replace(&items(&["new", "a", "b"]));
        assert_eq!(plan.next_open(), Some(0));
        assert_eq!(plan.attention().unwrap(), "step 3 of 3 needs attention");
        assert_eq!(
            plan.in_words().unwrap(),
            "The plan, and how far it is:\n1. [open] new\n2. [done] a\n\
             3. [needs attention: tests failed] b"
        );
    }

    #[test]
    fn the_same_words_twice_are_two_steps() {
        let mut plan = PlanTrack::default();
        plan.replace(&items(&["test", "test"]));
        plan.done(0);
        plan.replace(&items(&["test", "test"]));
        assert_eq!(plan.next_open(), Some(1));
    }
}
