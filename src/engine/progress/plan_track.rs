//! The plan of a run, and how far it is: which steps are done, and which need attention.
//!
//! A fold of the run's events. Must not know who carries a step out.

use std::collections::BTreeSet;

use crate::engine::speaker::plan::shortened;
use crate::model::PlanItem;
use crate::text::cut::cut_at_word;
use crate::text::plan_order::{self, After};

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

/// A step of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PlanStep {
    task: String,
    state: StepState,
    /// Which steps it waits for, where steps are carried out side by side.
    after: After,
}

impl PlanStep {
    /// Whether it is to be carried out.
    const fn is_open(&self) -> bool {
        matches!(self.state, StepState::Open | StepState::SentBack(_))
    }
}

/// The steps of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) struct PlanTrack {
    steps: Vec<PlanStep>,
    /// How often steps were sent back.
    sent_back: u32,
    /// What the last report on the whole called missing.
    missing: Vec<String>,
}

impl PlanTrack {
    /// The plan is now this one. Steps that are in it as they were, but for the numbers of those they
    /// wait for, keep how far they are.
    pub fn replace(&mut self, items: &[PlanItem]) {
        let mut old = std::mem::take(&mut self.steps);
        let step = |item: &PlanItem| {
            let words = plan_order::without(&item.task);
            let place = old.iter().position(|step| plan_order::without(&step.task) == words);
            let state = place.map_or(StepState::Open, |place| old.remove(place).state);
            PlanStep { task: item.task.clone(), state, after: plan_order::read(&item.task) }
        };
        self.steps = items.iter().map(step).collect();
    }

    /// The first step that was not carried out yet.
    pub fn next_open(&self) -> Option<usize> {
        self.steps.iter().position(PlanStep::is_open)
    }

    /// The steps that may begin while those of `under_way` are carried out, so that there are no more
    /// than `most`, in their order. Of steps that wait for each other the first one begins.
    pub fn ready(&self, under_way: &BTreeSet<usize>, most: usize) -> Vec<usize> {
        let free = most.saturating_sub(under_way.len());
        if most <= 1 {
            return self.next_open().into_iter().take(free).collect();
        }
        let is_due = |step: &usize| {
            !under_way.contains(step) && self.steps.get(*step).is_some_and(PlanStep::is_open)
        };
        let holds_up = |step: usize| under_way.contains(&step) || is_due(&step);
        let is_ready = |step: &usize| {
            let after = self.steps.get(*step).map(|known| &known.after);
            after.is_some_and(|after| !after.places(*step).any(holds_up))
        };
        let due = || (0..self.steps.len()).filter(is_due);
        let ready: Vec<usize> = due().filter(is_ready).take(free).collect();
        if ready.is_empty() && under_way.is_empty() { due().take(1).collect() } else { ready }
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
        let task = known.map(|step| shortened(&step.task)).unwrap_or_default();
        let again = match known.map(|step| &step.state) {
            Some(StepState::SentBack(_)) => " again",
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
            let why = cut_at_word(why, MOST_REASON).into_owned();
            self.set(*step, StepState::SentBack(why));
        }
        self.sent_back += u32::from(!known.is_empty());
        !known.is_empty()
    }

    /// Takes what a report on the whole calls missing.
    pub fn report(&mut self, missing: Vec<String>) {
        self.missing = missing;
    }

    /// A step was carried out.
    pub fn done(&mut self, step: usize) {
        self.set(step, StepState::Done);
    }

    /// All attempts at a step failed.
    pub fn failed(&mut self, step: usize, why: &str) {
        let why = cut_at_word(why, MOST_REASON).into_owned();
        self.set(step, StepState::NeedsAttention(why));
    }

    fn set(&mut self, step: usize, state: StepState) {
        if let Some(known) = self.steps.get_mut(step) {
            known.state = state;
        }
    }

    /// Which steps need attention and which point of the request is missing, in words; `None` when
    /// there is neither.
    pub fn attention(&self) -> Option<String> {
        let missing = self.missing.first().map(|first| {
            let first = shortened(first);
            match self.missing.len() - 1 {
                0 => format!("the review found this missing: {first}"),
                more => format!("the review found this missing: {first}, and {more} more"),
            }
        });
        let words: Vec<String> = self.steps_in_need().into_iter().chain(missing).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    fn steps_in_need(&self) -> Option<String> {
        let needs = |step: &PlanStep| matches!(step.state, StepState::NeedsAttention(_));
        let steps = self.steps.iter().enumerate().filter(|(_, step)| needs(step));
        let numbers: Vec<String> = steps.map(|(place, _)| (place + 1).to_string()).collect();
        let of = self.steps.len();
        match numbers.as_slice() {
            [] => None,
            [one] => Some(format!("step {one} of {of} needs attention")),
            more => Some(format!("steps {} of {of} need attention", more.join(", "))),
        }
    }

    /// The plan with how far each step is, `others` being carried out in other chats; `None` without
    /// one.
    pub fn in_words(&self, others: &BTreeSet<usize>) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let line = |(place, PlanStep { task, state, .. }): (usize, &PlanStep)| {
            let number = place + 1;
            if others.contains(&place) {
                return format!("{number}. [carried out by others now] {task}");
            }
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
        self.steps.get(step).map(|step| step.task.as_str())
    }

    /// What a chat about one step is told of it.
    pub fn step_in_words(&self, step: usize) -> Option<String> {
        let PlanStep { task, state, .. } = self.steps.get(step)?;
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
        plan.report(vec!["a game over".to_owned(), "a score".to_owned()]);
        let words =
            "step 3 of 3 needs attention; the review found this missing: a game over, and 1 more";
        assert_eq!(plan.attention().unwrap(), words);
        plan.report(Vec::new());
        assert_eq!(plan.attention().unwrap(), "step 3 of 3 needs attention");
        assert_eq!(
            plan.in_words(&BTreeSet::new()).unwrap(),
            "The plan, and how far it is:\n1. [open] new\n2. [done] a\n\
             3. [needs attention: tests failed] b"
        );
    }

    fn ready(plan: &PlanTrack, under_way: &[usize], most: usize) -> Vec<usize> {
        plan.ready(&under_way.iter().copied().collect(), most)
    }

    #[test]
    fn steps_begin_side_by_side_once_what_they_wait_for_is_carried_out() {
        let mut plan = PlanTrack::default();
        let steps =
            ["the store", "the list (after 1)", "the help (after nothing)", "the program", "x"];
        plan.replace(&items(&steps));
        assert_eq!(ready(&plan, &[], 3), [0, 2], "what says nothing waits for all before it");
        assert!(ready(&plan, &[0, 2], 3).is_empty());
        plan.failed(0, "it needs attention, and the others go on");
        assert_eq!(ready(&plan, &[2], 3), [1]);
        assert_eq!(ready(&plan, &[], 1), [1], "one at a time in the order of the list");
        plan.done(1);
        plan.done(2);
        assert_eq!(ready(&plan, &[], 3), [3]);
        assert!(plan.in_words(&[3].into()).unwrap().contains("4. [carried out by others now]"));
    }

    #[test]
    fn steps_that_wait_for_each_other_begin_with_the_first() {
        let mut plan = PlanTrack::default();
        plan.replace(&items(&["a (after 2)", "b (after 3)", "c (after 1)"]));
        assert_eq!(ready(&plan, &[], 3), [0]);
        plan.done(0);
        assert_eq!(ready(&plan, &[], 3), [2]);
        plan.done(2);
        assert_eq!(ready(&plan, &[], 3), [1]);
        plan.done(1);
        assert!(ready(&plan, &[], 3).is_empty());
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
