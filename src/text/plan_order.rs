//! Which steps of a plan a step waits for, read from its line, and kept right when the plan changes.
//!
//! Owns the words for it. Steps are numbered from 1, as they are shown. Must not know how far a step
//! is.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Which steps a step waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// Its line does not say: all before it.
    AllBefore,
    /// Those of these numbers; none when it is empty.
    Steps(Vec<usize>),
}

impl After {
    /// The places, counted from 0, of the steps that the one at `own` waits for.
    pub fn places(&self, own: usize) -> impl Iterator<Item = usize> {
        let (all, named) = match self {
            Self::AllBefore => (0..own, [].as_slice()),
            Self::Steps(named) => (0..0, named.as_slice()),
        };
        let named = named.iter().filter_map(|number| number.checked_sub(1));
        all.chain(named.filter(move |place| *place != own))
    }
}

/// `(after 1, 3)`, `(after step 2 and step 4)`, `(after nothing)`: in brackets, so that no word of a task
/// is taken for it. A number with `?` names no step.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)[(\[]\s*after:?\s+(nothing|none|no steps?|(?:(?:(?:steps?|items?|tasks?|and|#|&|,)\s*)*\d{1,4}\??\s*,?\s*)+)\s*[)\]]",
    )
    .ok()
});

static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(\d+)(\??)").ok());

/// The numbers in words such as `1, 3?`, and whether each may name a step.
fn numbers(words: &str) -> Vec<(usize, bool)> {
    let Some(numbers) = NUMBERS.as_ref() else { return Vec::new() };
    let found = numbers.captures_iter(words).filter_map(|found| {
        let (_, [number, mark]) = found.extract();
        Some((number.parse().ok()?, mark.is_empty()))
    });
    found.collect()
}

/// What the line of a step says last; `None` when it says nothing.
fn named_in(task: &str) -> Option<Vec<(usize, bool)>> {
    let found = WORDS.as_ref()?.captures_iter(task).last()?;
    Some(numbers(found.get(1)?.as_str()))
}

/// Reads the line of a step; what it says last counts.
#[must_use]
pub fn read(task: &str) -> After {
    named_in(task).map_or(After::AllBefore, |known| {
        After::Steps(
            known.into_iter().filter_map(|(number, names)| names.then_some(number)).collect(),
        )
    })
}

/// The line of a step with other numbers: those that `new` has for each, or the number with `?` when
/// it has none.
#[must_use]
pub fn renumbered(task: &str, new: impl Fn(usize) -> Option<Vec<usize>>) -> String {
    let Some(words) = WORDS.as_ref() else { return task.to_owned() };
    let replaced = words.replace_all(task, |found: &Captures<'_>| {
        let before = found.get(1).map_or("", |words| words.as_str());
        let known = numbers(before);
        let mut now: Vec<String> = Vec::new();
        for (number, names) in &known {
            match new(*number).filter(|_| *names) {
                Some(steps) => now.extend(steps.iter().map(ToString::to_string)),
                None => now.push(format!("{number}?")),
            }
        }
        let mut seen = BTreeSet::new();
        now.retain(|number| seen.insert(number.clone()));
        let same = known.len() == now.len()
            && known.iter().zip(&now).all(|((number, _), now)| number.to_string() == *now);
        match (same || known.is_empty(), now.is_empty()) {
            (true, _) => found.get(0).map_or("", |whole| whole.as_str()).to_owned(),
            (false, true) => "(after nothing)".to_owned(),
            (false, false) => format!("(after {})", now.join(", ")),
        }
    });
    replaced.into_owned()
}

/// The line of a step without the words about what it waits for.
#[must_use]
pub fn without(task: &str) -> String {
    let Some(words) = WORDS.as_ref() else { return task.to_owned() };
    words.replace_all(task, "").trim_end().to_owned()
}

/// Gives the steps the numbers of their places, where the plan had these; a plan in which a number
/// stands twice is numbered by place already.
pub fn by_place(tasks: &mut [&mut String], written: &[usize]) {
    if written.iter().collect::<BTreeSet<_>>().len() < written.len() {
        return;
    }
    follow(tasks, |number| Some(vec![written.iter().position(|known| *known == number)? + 1]));
}

/// A step was taken in at `place`, which is in `tasks` already and has the old numbers as they all do.
pub fn added(tasks: &mut [&mut String], place: usize) {
    let last = tasks.len().saturating_sub(1);
    follow(tasks, |number| (number <= last).then(|| vec![number + usize::from(number > place)]));
}

/// The step at `place`, whose line was `gone`, was taken out. What waited for it waits for what it
/// waited for.
pub fn removed(tasks: &mut [&mut String], place: usize, gone: &str) {
    let before = tasks.len() + 1;
    let now = |number: usize| number - usize::from(number > place + 1);
    let waited: Vec<usize> = read(gone).places(place).map(|place| now(place + 1)).collect();
    follow(tasks, |number| match number {
        0 => None,
        number if number == place + 1 => Some(waited.clone()),
        number => (number <= before).then(|| vec![now(number)]),
    });
}

/// The steps at these two places have changed places.
pub fn swapped(tasks: &mut [&mut String], one: usize, other: usize) {
    let all = tasks.len();
    follow(tasks, |number| match number {
        number if number == one + 1 => Some(vec![other + 1]),
        number if number == other + 1 => Some(vec![one + 1]),
        number => (1..=all).contains(&number).then(|| vec![number]),
    });
}

fn follow(tasks: &mut [&mut String], new: impl Fn(usize) -> Option<Vec<usize>>) {
    for task in tasks {
        **task = renumbered(task, &new);
    }
}

/// What is wrong with the order, a sentence each: numbers that no step has, and steps that wait for
/// each other.
#[must_use]
pub fn faults(tasks: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, task) in (1..).zip(tasks) {
        for (named, names) in named_in(task).unwrap_or_default() {
            if !names || !(1..=tasks.len()).contains(&named) {
                found.push(format!(
                    "Step {number} waits for step {named}, which is not in the plan."
                ));
            } else if named == number {
                found.push(format!("Step {number} waits for itself."));
            }
        }
    }
    for circle in circles(tasks) {
        let numbers: Vec<String> = circle.iter().map(|place| (place + 1).to_string()).collect();
        let Some((last, others)) = numbers.split_last() else { continue };
        let others = others.join(", ");
        found.push(format!("Steps {others} and {last} wait for each other."));
    }
    found
}

/// Steps, counted from 0, that wait for each other.
fn circles(tasks: &[&str]) -> Vec<Vec<usize>> {
    let after: Vec<Vec<usize>> =
        tasks.iter().enumerate().map(|(own, task)| read(task).places(own).collect()).collect();
    // Without a step that waits for a later one there is no circle.
    if !after.iter().enumerate().any(|(own, steps)| steps.iter().any(|step| *step > own)) {
        return Vec::new();
    }
    let reached: Vec<BTreeSet<usize>> = (0..tasks.len()).map(|own| reached(&after, own)).collect();
    let reaches = |from: usize, to: usize| reached.get(from).is_some_and(|all| all.contains(&to));
    let mut circles = Vec::new();
    let mut reported = BTreeSet::new();
    for own in 0..tasks.len() {
        if reported.contains(&own) || !reaches(own, own) {
            continue;
        }
        let circle: Vec<usize> =
            (0..tasks.len()).filter(|other| reaches(own, *other) && reaches(*other, own)).collect();
        reported.extend(circle.iter().copied());
        circles.push(circle);
    }
    circles
}

/// What the step at `own` waits for, directly or by way of others.
fn reached(after: &[Vec<usize>], own: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<usize> = after.get(own).cloned().unwrap_or_default();
    while let Some(step) = open.pop() {
        if step < after.len() && reached.insert(step) {
            open.extend(after.get(step).into_iter().flatten().filter(|s| !reached.contains(s)));
        }
    }
    reached
}

#[cfg(test)]
#[path = "plan_order_tests.rs"]
mod tests;
