//! Reads whom a selector chose.

use serde_json::Value;

use super::plan::Assignment;
use crate::model::AgentName;
use crate::text::{recover, sanitize};

/// What a selector is told to answer with.
pub(in crate::engine) const HOW: &str = "Answer with one JSON object and nothing else: \
     {\"next\": \"<Agent>\", \"why\": \"<one sentence>\"}.";

/// The agent a selector's answer names, and why: a JSON object with `next`, a line
/// `<Agent> : <why>`, or the only name in the text.
///
/// # Errors
/// The name that nobody has, or nothing when no single name is there.
pub(in crate::engine) fn read(
    text: &str,
    participants: &[AgentName],
    selector: &AgentName,
) -> Result<Assignment, String> {
    let others = || participants.iter().filter(|agent| *agent != selector);
    let known = |name: &str| others().find(|agent| agent.as_str().eq_ignore_ascii_case(name));
    if let Some(chosen) = recover::structured(text).ok().filter(Value::is_object) {
        let word = |key: &str| chosen.get(key).and_then(Value::as_str).map(str::trim);
        let name = word("next").unwrap_or_default();
        return match known(name) {
            Some(agent) => {
                let task = word("why").unwrap_or_default().to_owned();
                Ok(Assignment { agent: agent.clone(), task })
            }
            None => Err(sanitize::line(name).chars().take(60).collect()),
        };
    }
    let mut plan = super::plan::SpeakerPlan::read(text, participants, selector);
    if plan.assignments.len() == 1
        && let Some(only) = plan.assignments.pop()
    {
        return Ok(only);
    }
    let mut named = others().filter(|agent| text.contains(agent.as_str()));
    match (named.next(), named.next()) {
        (Some(agent), None) => Ok(Assignment { agent: agent.clone(), task: String::new() }),
        _ => Err(plan.unknown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names() -> Vec<AgentName> {
        ["SelectorAgent", "BuildAgent", "CodeFixerAgent"].map(AgentName::from).to_vec()
    }

    fn read_all(text: &str) -> Result<(String, String), String> {
        let chosen = read(text, &names(), &"SelectorAgent".into())?;
        Ok((chosen.agent.as_str().to_owned(), chosen.task))
    }

    #[test]
    fn json_a_line_or_one_name_alone_will_do() {
        let build = |why: &str| Ok(("BuildAgent".to_owned(), why.to_owned()));
        assert_eq!(
            read_all(r#"{"next": "BuildAgent", "why": "it is saved"}"#),
            build("it is saved")
        );
        assert_eq!(read_all("```json\n{\"next\":\"buildagent\"}\n```"), build(""));
        assert_eq!(read_all("BuildAgent : it is saved"), build("it is saved"));
        assert_eq!(read_all("I choose BuildAgent."), build(""));
    }

    #[test]
    fn nonsense_names_nobody_and_says_whom_it_meant() {
        assert_eq!(read_all(r#"{"next": "TestAgent"}"#), Err("TestAgent".to_owned()));
        assert_eq!(read_all("BuildAgent or CodeFixerAgent"), Err(String::new()));
        assert_eq!(read_all("SelectorAgent"), Err(String::new()));
        assert_eq!(read_all("TestAgent : go"), Err("TestAgent".to_owned()));
        assert_eq!(read_all(r#"{"next": 7}"#), Err(String::new()));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "\\PC{0,80}") {
            if let Ok(chosen) = read(&text, &names(), &"SelectorAgent".into()) {
                prop_assert!(chosen.agent.as_str() != "SelectorAgent");
            }
        }
    }
}
