//! The steps of a plan, read from what a planner wrote.

use crate::engine::speaker::plan::{self, SpeakerPlan};
use crate::model::{AgentName, PlanItem};

/// Most steps of one plan; the last one holds all that come after it.
const MOST: usize = 200;

/// The plan in a message: its numbered or bulleted list, or else its lines `<Agent> : <task>` when
/// there are several. `None` when it holds neither.
pub(in crate::engine) fn read(
    text: &str,
    participants: &[AgentName],
    planner: &AgentName,
) -> Option<Vec<PlanItem>> {
    let mut items = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        let Some(step) = numbered(line).filter(|_| !is_fenced) else { continue };
        let mut named = SpeakerPlan::read(step, participants, planner).assignments;
        items.push(match named.pop() {
            Some(one) => PlanItem { task: one.task, agent: Some(one.agent) },
            None => PlanItem { task: plan::plain(step), agent: None },
        });
    }
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
        let rest = items.split_off(MOST - 1);
        let task =
            format!("The other {} steps, one after the other:\n{}", rest.len(), in_words(&rest));
        items.push(PlanItem { task, agent: None });
    }
}

/// What stands after `1.` or `1)`.
fn numbered(line: &str) -> Option<&str> {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    rest.strip_prefix(['.', ')']).filter(|rest| rest.starts_with(' ')).map(str::trim)
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
