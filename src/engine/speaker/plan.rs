//! Who speaks next, read from what the planner wrote.

use std::collections::VecDeque;

use crate::model::AgentName;

/// An agent and what the planner wants of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct Assignment {
    pub agent: AgentName,
    /// What, in the planner's words.
    pub task: String,
}

/// What a planner's message says about who comes next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) struct SpeakerPlan {
    /// In the order of the lines.
    pub assignments: Vec<Assignment>,
    /// Names on such lines that nobody in the phase has.
    pub unknown: Vec<String>,
}

impl SpeakerPlan {
    /// Reads every line `<Agent> : <task>` outside of code fences. List numbers, bullets, bold,
    /// code marks and angle brackets around the name do not matter.
    pub fn read(text: &str, participants: &[AgentName], planner: &AgentName) -> Self {
        let mut plan = Self::default();
        let mut is_fenced = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                is_fenced = !is_fenced;
                continue;
            }
            let Some((name, task)) = split_assignment(line).filter(|_| !is_fenced) else {
                continue;
            };
            let known = participants.iter().find(|p| p.as_str().eq_ignore_ascii_case(name));
            match known {
                Some(agent) if agent == planner => {}
                Some(agent) => plan
                    .assignments
                    .push(Assignment { agent: agent.clone(), task: task.to_owned() }),
                None if name.ends_with("Agent") => plan.unknown.push(name.to_owned()),
                None => {}
            }
        }
        plan
    }

    /// Puts this plan before what was queued: agents it names come first, in its order; those
    /// queued before and not named again follow.
    pub fn merge_into(self, queue: &mut VecDeque<Assignment>) {
        queue.retain(|old| !self.assignments.iter().any(|new| new.agent == old.agent));
        for assignment in self.assignments.into_iter().rev() {
            queue.push_front(assignment);
        }
    }
}

/// Name and task of a line, if it has that shape.
fn split_assignment(line: &str) -> Option<(&str, &str)> {
    const MARKS: [char; 5] = ['*', '_', '`', '<', '>'];
    let line = skip_list_mark(line.trim());
    let line = line.trim_start_matches(MARKS);
    let end = line
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
        .unwrap_or(line.len());
    let (name, rest) = line.split_at_checked(end)?;
    let name = name.trim_end_matches('_');
    let rest = rest.trim_start_matches(MARKS).trim_start().strip_prefix(':')?;
    let task = rest.trim_start_matches(MARKS).trim().trim_end_matches(['*', '_']).trim_end();
    (!name.is_empty()).then_some((name, task))
}

fn skip_list_mark(line: &str) -> &str {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() < line.len()
        && let Some(rest) = digits.strip_prefix(['.', ')'])
    {
        return rest.trim_start();
    }
    ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim()
}

/// A line without marks of emphasis and code.
pub(in crate::engine) fn plain(line: &str) -> String {
    line.replace("**", "").replace('`', "").trim().to_owned()
}

/// The first line of a task, short enough for a sentence.
pub(in crate::engine) fn shortened(task: &str) -> String {
    const MOST: usize = 100;
    if task.chars().count() <= MOST {
        return task.to_owned();
    }
    let mut short: String = task.chars().take(MOST - 1).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names() -> Vec<AgentName> {
        ["PlanningAgent", "BuildAgent", "CodeFixerAgent"].map(AgentName::from).to_vec()
    }

    fn read(text: &str) -> SpeakerPlan {
        SpeakerPlan::read(text, &names(), &"PlanningAgent".into())
    }

    fn pairs(plan: &SpeakerPlan) -> Vec<(&str, &str)> {
        plan.assignments.iter().map(|a| (a.agent.as_str(), a.task.as_str())).collect()
    }

    #[test]
    fn tolerates_the_ways_models_write_the_line() {
        for line in [
            "BuildAgent : build it",
            "BuildAgent: build it",
            "<BuildAgent> : build it",
            "**BuildAgent**: build it",
            "**BuildAgent:** build it",
            "**BuildAgent : build it**",
            "1. BuildAgent : build it",
            "2) `BuildAgent`: build it",
            "- **BuildAgent** : build it",
            "* BuildAgent: build it",
            "  10. buildagent: build it",
            "__BuildAgent__: build it",
        ] {
            assert_eq!(pairs(&read(line)), [("BuildAgent", "build it")], "{line}");
        }
    }

    #[test]
    fn prose_code_and_the_planner_itself_name_nobody() {
        let text = "Now BuildAgent should build: go\n```\nBuildAgent: x\n```\nPlanningAgent: wait\n\
                    Note: nothing";
        assert_eq!(read(text), SpeakerPlan::default());
    }

    #[test]
    fn unknown_agents_are_told_apart_from_other_lines_with_a_colon() {
        assert_eq!(read("TestAgent : test\nSummary: all well").unknown, ["TestAgent"]);
    }

    #[test]
    fn a_newer_plan_goes_before_the_rest_of_the_old_one() {
        let mut queue = VecDeque::new();
        read("BuildAgent: a\nCodeFixerAgent: b").merge_into(&mut queue);
        read("CodeFixerAgent: c").merge_into(&mut queue);
        let now: Vec<_> = queue.iter().map(|a| (a.agent.as_str(), a.task.as_str())).collect();
        assert_eq!(now, [("CodeFixerAgent", "c"), ("BuildAgent", "a")]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "[-*_`<>:. 0-9A-Za-zä\n]{0,80}") {
            let plan = read(&text);
            prop_assert!(plan.assignments.iter().all(|a| a.agent.as_str() != "PlanningAgent"));
        }
    }
}
