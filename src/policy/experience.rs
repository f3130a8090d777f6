//! What a team did in past sessions, as a policy learns from it.
//!
//! Owns the format: one session per line, a JSON object with the team, its agents, how it ended, and
//! for each action the state, the agent, the reward and the chance with which it was chosen. An action
//! without a chance was chosen by a person: it is learned from, but its session says nothing about
//! what another policy would have reached.

use serde::{Deserialize, Serialize};

use crate::model::UserError;

use super::file::Trained;
use super::model::{AgentSet, can_act, reason_against};
use super::state::State;
use super::table::{Ending, Successor};

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    Success,
    Timeout,
    /// A person stopped it: what its last action led to is not known.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    pub state: State,
    pub agent: usize,
    pub reward: f64,
    /// With what chance it was chosen; `None` when a person chose.
    pub chance: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub steps: Vec<Step>,
    pub end: End,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalLine {
    team: String,
    agents: Vec<String>,
    end: End,
    #[serde(default)]
    class: Option<String>,
    steps: Vec<StepLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepLine {
    state: String,
    agent: String,
    reward: f64,
    #[serde(default)]
    chance: Option<f64>,
}

/// Reads sessions for a policy; `name` is what errors call the file.
///
/// # Errors
/// When a line is not a session, or one of another team; with its number.
pub fn parse(name: &str, text: &str, policy: &Trained) -> Result<Vec<Session>, UserError> {
    let mut sessions = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let refuse = |why: String| {
            let what = format!("Cannot learn from {name}, line {}", number + 1);
            UserError::new(what, why, "Remove the line, or use sessions of this team.")
        };
        if is_journal_record(line) {
            let what = format!("Cannot learn from {name}");
            let why = "it is the journal of a session";
            let fix = "Leave out `--from`: sessions of this team are found without it.";
            return Err(UserError::new(what, why, fix));
        }
        let line: JournalLine =
            serde_json::from_str(line).map_err(|error| refuse(error.to_string()))?;
        sessions.push(session(line, policy).map_err(refuse)?);
    }
    if sessions.is_empty() {
        let why = "it holds no session";
        return Err(UserError::new(format!("Cannot learn from {name}"), why, "Use another file."));
    }
    Ok(sessions)
}

/// Whether a line is a record of a session's journal.
fn is_journal_record(line: &str) -> bool {
    let record = serde_json::from_str::<serde_json::Value>(line).unwrap_or_default();
    ["v", "seq", "event"].iter().all(|key| record.get(key).is_some())
}

fn session(line: JournalLine, policy: &Trained) -> Result<Session, String> {
    if line.team != policy.origin.team {
        return Err(format!(
            "it is a session of the team `{}`, not of `{}`",
            line.team, policy.origin.team
        ));
    }
    if line.agents != policy.model.agents {
        return Err(format!("its agents are {}", line.agents.join(", ")));
    }
    if line.steps.is_empty() {
        return Err("it has no actions".to_owned());
    }
    let mut steps = Vec::new();
    for step in line.steps {
        let state = policy.state(line.class.as_deref(), &step.state);
        let state = state.ok_or_else(|| format!("`{}` is not a state", step.state))?;
        let agent = line.agents.iter().position(|name| *name == step.agent);
        let agent = agent.ok_or_else(|| format!("`{}` is not an agent of it", step.agent))?;
        if let Some(reason) = reason_against(policy.role(agent), state.facts()) {
            return Err(format!("`{}` cannot act in `{}`: {reason}", step.agent, step.state));
        }
        if !step.reward.is_finite() || step.reward.abs() > 1000.0 {
            return Err(format!("a reward of {} cannot be", step.reward));
        }
        if step.chance.is_some_and(|chance| !(chance > 0.0 && chance <= 1.0)) {
            return Err("a chance is not above 0 and at most 1".to_owned());
        }
        steps.push(Step { state, agent, reward: step.reward, chance: step.chance });
    }
    Ok(Session { steps, end: line.end })
}

/// The agents that can act in an observed state.
#[must_use]
pub fn available(policy: &Trained, state: State) -> AgentSet {
    let agents = policy.origin.process.agents.iter().enumerate();
    let able = agents.filter(|(_, agent)| can_act(agent.role, state.facts()));
    able.fold(0, |set, (number, _)| set | 1 << number)
}

/// Learns from sessions, each `weight` times: so much more than from a simulated one.
pub fn learn(policy: &mut Trained, sessions: &[Session], weight: u32) {
    for session in sessions {
        for _ in 0..weight {
            learn_once(policy, session);
        }
    }
    policy.origin.sessions += sessions.len() as u64;
}

fn learn_once(policy: &mut Trained, session: &Session) {
    for (place, step) in session.steps.iter().enumerate() {
        // A person may name an agent that the table never chooses there.
        if available(policy, step.state) >> step.agent & 1 == 0 {
            continue;
        }
        let successor = match (session.steps.get(place + 1), session.end) {
            (Some(next), _) => Successor::State(next.state, available(policy, next.state)),
            (None, End::Success | End::Timeout) => Successor::End,
            (None, End::Stopped) => continue,
        };
        policy.table.update(step.state, step.agent, step.reward, successor);
    }
    let ending = match session.end {
        End::Success => Ending::Success,
        End::Timeout => Ending::Timeout,
        End::Stopped => return,
    };
    for step in &session.steps {
        policy.table.credit(step.state, step.agent, ending);
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::trained;
    use super::*;

    const GOOD: &str = r#"{"team":"learned","agents":["planner","coder","tester","debugger"],"end":"success","steps":[{"state":"start,0","agent":"coder","reward":0.2,"chance":0.9},{"state":"code,0","agent":"tester","reward":9.9}]}"#;

    #[test]
    fn sessions_are_learned_from() {
        let mut policy = trained("simple", false, 1, 100);
        let sessions = parse("x.jsonl", &format!("{GOOD}\n\n{GOOD}\n"), &policy).unwrap();
        assert_eq!((sessions.len(), sessions[0].steps[1].chance), (2, None));
        let state = sessions[0].steps[1].state;
        let before = *policy.table.entry(state, 2);
        learn(&mut policy, &sessions, 3);
        let after = policy.table.entry(state, 2);
        assert_eq!(after.visits, before.visits + 6);
        assert!((after.value - 9.9).abs() < (before.value - 9.9).abs());
        assert_eq!(policy.origin.sessions, 2);
    }

    #[test]
    fn an_agent_that_cannot_act_but_was_named_is_not_learned_of() {
        let mut policy = trained("simple", false, 1, 100);
        let mut session = parse("x.jsonl", GOOD, &policy).unwrap().remove(0);
        session.steps[0].agent = 3;
        let state = session.steps[0].state;
        learn(&mut policy, &[session], 10);
        assert_eq!(policy.table.entry(state, 3).visits, 0);
    }

    #[test]
    fn a_session_of_another_team_and_bad_lines_are_refused_by_line() {
        let policy = trained("simple", false, 1, 10);
        for (from, to, words) in [
            ("\"learned\"", "\"review\"", "the team `review`"),
            ("\"planner\",", "", "its agents are coder"),
            ("start,0", "start,7", "not a state"),
            ("\"agent\":\"coder\"", "\"agent\":\"cook\"", "`cook`"),
            ("\"agent\":\"coder\"", "\"agent\":\"debugger\"", "no error"),
            ("0.9}", "1.5}", "a chance"),
            ("0.9}", "0}", "a chance"),
            ("0.2", "1e300", "cannot be"),
            ("\"end\":\"success\"", "\"end\":\"won\"", "unknown variant"),
            ("{\"team\"", "{\"luck\":1,\"team\"", "luck"),
            ("{\"team\"", "[", "expected value"),
        ] {
            let bad = GOOD.replacen(from, to, 1);
            let error = parse("x.jsonl", &format!("{GOOD}\n{bad}"), &policy).expect_err(to);
            assert_eq!(error.what, "Cannot learn from x.jsonl, line 2", "{to}");
            assert!(error.why.contains(words), "{to}: {error}");
        }
        let journal = r#"{"v":1,"seq":1,"at":5,"event":{"phase_ended":{}}}"#;
        let error = parse("x.jsonl", journal, &policy).unwrap_err();
        assert!(error.why.contains("journal") && error.fix.contains("Leave out"), "{error}");
        assert!(parse("x", "\n", &policy).unwrap_err().why.contains("no session"));
    }
}
