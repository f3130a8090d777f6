//! The steps of a plan, read from what a planner wrote.

use crate::engine::speaker::plan::{self, SpeakerPlan};
use crate::model::{AgentName, PlanItem};
use crate::text::plan_order;

/// Most steps of one plan; the last one holds all that come after it.
const MOST: usize = 200;

/// The plan in a message: its numbered or bulleted list, or else its lines `<Agent> : <task>` when
/// there are several. `None` when it holds neither.
pub(in crate::engine) fn read(
    text: &str,
    participants: &[AgentName],
    planner: &AgentName,
) -> Option<Vec<PlanItem>> {
    let (mut items, mut written) = (Vec::new(), Vec::new());
    let mut is_fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        let Some((number, step)) = numbered(line).filter(|_| !is_fenced) else { continue };
        let mut named = SpeakerPlan::read(step, participants, planner).assignments;
        let item = match named.pop() {
            Some(one) => PlanItem { task: one.task, agent: Some(one.agent) },
            None => PlanItem { task: plan::plain(step), agent: None },
        };
        if !item.task.is_empty() {
            items.push(item);
            written.push(number);
        }
    }
    plan_order::by_place(&mut tasks(&mut items), &written);
    if items.len() < 2 {
        let named = SpeakerPlan::read(text, participants, planner).assignments.into_iter();
        items = named.map(|one| PlanItem { task: one.task, agent: Some(one.agent) }).collect();
    }
    items.retain(|item| !item.task.is_empty());
    join_rest(&mut items);
    (items.len() >= 2).then_some(items)
}

/// Makes one step of those that are too many, so that none is lost.
fn join_rest(items: &mut Vec<PlanItem>) {
    if items.len() > MOST {
        let all = items.len();
        let mut rest = items.split_off(MOST - 1);
        rest.iter_mut().for_each(|item| item.task = plan_order::without(&item.task));
        for item in items.iter_mut() {
            let joined = |number: usize| (number <= all).then(|| vec![number.min(MOST)]);
            item.task = plan_order::renumbered(&item.task, joined);
        }
        let task =
            format!("The other {} steps, one after the other:\n{}", rest.len(), in_words(&rest));
        items.push(PlanItem { task, agent: None });
    }
}

/// The words of the steps, to be changed.
fn tasks(items: &mut [PlanItem]) -> Vec<&mut String> {
    items.iter_mut().map(|item| &mut item.task).collect()
}

/// Steps from which on a plan is long: agents are asked for twelve at most.
const LONG: usize = 20;

/// What is wrong with the order of the steps, and with their number, in sentences.
pub(in crate::engine) fn faults(items: &[PlanItem]) -> Vec<String> {
    let order =
        plan_order::faults(&items.iter().map(|item| item.task.as_str()).collect::<Vec<_>>());
    let steps = items.len();
    let long = (steps > LONG)
        .then(|| format!("It has {steps} steps, and each takes at least one turn of an agent."));
    long.into_iter().chain(order).collect()
}

/// The number, and what stands after `1.` or `1)`.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    let number = line.strip_suffix(rest)?.parse().ok()?;
    let words = rest.strip_prefix(['.', ')']).filter(|rest| rest.starts_with(' '))?;
    Some((number, words.trim()))
}

/// The plan as a message to the team.
pub(in crate::engine) fn in_words(items: &[PlanItem]) -> String {
    let steps = items.iter().enumerate().map(|(number, item)| match &item.agent {
        Some(agent) => format!("{}. {agent} : {}", number + 1, item.task),
        None => format!("{}. {}", number + 1, item.task),
    });
    steps.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<(Option<String>, String)> {
        let names = ["PlanningAgent", "BuildAgent", "CodeFixerAgent"].map(AgentName::from);
        let items = read(text, &names, &"PlanningAgent".into()).unwrap_or_default();
        let agent = |agent: Option<AgentName>| agent.map(|agent| agent.as_str().to_owned());
        items.into_iter().map(|item| (agent(item.agent), item.task)).collect()
    }

    #[test]
    fn a_numbered_list_is_the_plan_with_or_without_names() {
        let plan =
            steps("First:\n1. Lay out **the** files\n2) BuildAgent : build it\n\nBuildAgent : go");
        assert_eq!(
            plan,
            [
                (None, "Lay out the files".to_owned()),
                (Some("BuildAgent".to_owned()), "build it".to_owned())
            ]
        );
    }

    #[test]
    fn a_long_plan_says_so_before_it_starts() {
        let plan = |count| {
            let step = |number| PlanItem { task: format!("write part {number}"), agent: None };
            faults(&(0..count).map(step).collect::<Vec<_>>())
        };
        assert_eq!(plan(12), Vec::<String>::new());
        let long = plan(200);
        assert!(long.first().is_some_and(|fault| fault.contains("200 steps")), "{long:?}");
    }

    #[test]
    fn the_numbers_that_the_planner_gave_count_for_what_a_step_waits_for() {
        let tasks =
            |text: &str| -> Vec<String> { steps(text).into_iter().map(|(_, task)| task).collect() };
        assert_eq!(
            tasks("1. A\n5. B (after 1)\n7. C (after 5)"),
            ["A", "B (after 1)", "C (after 2)"]
        );
        assert_eq!(
            tasks("0. A (after nothing)\n1. B (after 0)\n2. BuildAgent : C (after 1)"),
            ["A (after nothing)", "B (after 1)", "C (after 2)"]
        );
        let joined: String =
            (1..=MOST + 50).map(|number| format!("{number}. S (after 240)\n")).collect();
        assert_eq!(tasks(&joined)[0], "S (after 200)");
        assert!(!tasks(&joined)[MOST - 1].contains("after 2"));
    }

    #[test]
    fn steps_that_are_too_many_are_joined_and_none_is_lost() {
        let list = |count: usize| -> String {
            (1..=count).map(|number| format!("{number}. step {number}\n")).collect()
        };
        assert_eq!(steps(&list(MOST)).len(), MOST);
        let plan = steps(&list(MOST + 50));
        assert_eq!(plan.len(), MOST);
        let (_, last) = plan.last().unwrap();
        assert!(last.starts_with("The other 51 steps"), "{last}");
        assert!(last.contains("step 200\n") && last.ends_with("step 250"), "{last}");
    }

    #[test]
    fn without_a_list_several_assignments_are_the_plan_and_one_is_none() {
        assert_eq!(steps("BuildAgent : build\nCodeFixerAgent : mend").len(), 2);
        assert!(steps("BuildAgent : build").is_empty());
        assert!(steps("1. only one step").is_empty());
        assert!(steps("```\n1. a\n2. b\n```").is_empty());
    }
}
