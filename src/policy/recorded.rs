//! What a policy learns from the journal of a session.
//!
//! Owns how records become actions with rewards: those of the simulation, earned by what was there
//! before and after each turn. Must not read files.

use crate::model::{
    AgentName, Event, PhaseEvent, PhaseOutcome, PolicyChoice, SessionEvent, TurnEvent,
};

use super::experience::{End, Session, Step};
use super::file::Trained;
use super::process::Reward;
use super::state::{Facts, State};

/// Reads the records of one session, in order.
#[derive(Debug, Default)]
pub struct JournalReader {
    team: String,
    agents: Vec<AgentName>,
    run: Vec<(AgentName, Box<PolicyChoice>)>,
    runs: Vec<RecordedRun>,
}

/// The choices of one attempt, and how it ended.
#[derive(Debug)]
pub struct RecordedRun {
    pub team: String,
    agents: Vec<AgentName>,
    choices: Vec<(AgentName, Box<PolicyChoice>)>,
    end: End,
}

impl JournalReader {
    /// Takes the next record's event.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Turn(TurnEvent::PolicyTaken(table)) => {
                self.close(End::Stopped);
                self.team.clone_from(&table.team);
                self.agents = table.agents.iter().map(|agent| agent.name.clone()).collect();
            }
            Event::Turn(TurnEvent::SpeakerChosen { agent, choice: Some(choice), .. }) => {
                self.run.push((agent.clone(), choice.clone()));
            }
            Event::Phase(PhaseEvent::Ended { outcome, .. }) => self.close(match outcome {
                PhaseOutcome::Succeeded(_) => End::Success,
                PhaseOutcome::Failed(_) => End::Timeout,
                PhaseOutcome::Stopped => End::Stopped,
            }),
            Event::Session(SessionEvent::Ended { .. }) => self.close(End::Stopped),
            _ => {}
        }
    }

    /// The attempts of the session; one that is still under way is left out.
    #[must_use]
    pub fn finish(self) -> Vec<RecordedRun> {
        self.runs
    }

    fn close(&mut self, end: End) {
        if self.run.is_empty() {
            return;
        }
        self.runs.push(RecordedRun {
            team: self.team.clone(),
            agents: self.agents.clone(),
            choices: std::mem::take(&mut self.run),
            end,
        });
    }
}

impl RecordedRun {
    /// The run as a policy learns from it; `None` where it is one of another team, or of other agents.
    #[must_use]
    pub fn session(&self, policy: &Trained) -> Option<Session> {
        let names = self.agents.iter().map(AgentName::as_str);
        if self.team != policy.origin.team || !names.eq(policy.model.agents.iter()) {
            return None;
        }
        let classes = policy.classes();
        let states: Option<Vec<State>> = self
            .choices
            .iter()
            .map(|(_, choice)| {
                let known = choice.class.as_ref().filter(|_| !classes.is_empty());
                let class = known.map_or_else(String::new, |class| format!("{class},"));
                let state = State::parse(&format!("{class}{}", choice.state), &classes)?;
                (state.index() < policy.table.states()).then_some(state)
            })
            .collect();
        let states = states?;
        let reward = &policy.origin.process.reward;
        let mut steps = Vec::new();
        for (place, ((agent, choice), state)) in self.choices.iter().zip(&states).enumerate() {
            let agent = policy.model.agents.iter().position(|name| name == agent.as_str())?;
            let next = states.get(place + 1).map(|next| next.facts());
            let earned = earned(reward, state.facts(), next, self.end);
            steps.push(Step { state: *state, agent, reward: earned, chance: choice.chance });
        }
        Some(Session { steps, end: self.end })
    }
}

/// What a turn earned; `after` is missing for the last one.
fn earned(reward: &Reward, before: Facts, after: Option<Facts>, end: End) -> f64 {
    let Some(after) = after else {
        let last = match end {
            End::Success => reward.success,
            End::Timeout => reward.timeout,
            End::Stopped => 0.0,
        };
        return reward.action + last;
    };
    let mut sum = reward.action;
    if after.has_plan && !before.has_plan {
        sum += reward.plan;
    }
    if after.has_code && !before.has_code {
        sum += reward.code;
    }
    if after == before {
        sum += reward.redundant;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::choice::{Observed, choose, overruled, snapshot};
    use super::super::file::tests::trained;
    use super::*;
    use crate::model::SessionOutcome;

    fn journal(policy: &Trained) -> Vec<Event> {
        let table = snapshot(policy).unwrap();
        let seen = |has_code, has_error, actions| Observed {
            facts: Facts { has_code, has_error, ..Facts::default() },
            actions,
            class: None,
        };
        let mut events = vec![Event::Turn(TurnEvent::PolicyTaken(Box::new(table.clone())))];
        let mut say = |agent: AgentName, choice| {
            let (reason, choice) = (String::new(), Some(Box::new(choice)));
            events.push(Event::Turn(TurnEvent::SpeakerChosen { agent, reason, choice }));
        };
        for (number, seen) in
            [seen(false, false, 0), seen(true, false, 1), seen(true, true, 2)].iter().enumerate()
        {
            let (agent, choice) = choose(&table, seen, number as u64).unwrap();
            say(agent, choice);
        }
        say("tester".into(), overruled(&table, &seen(true, false, 3)));
        let outcome = PhaseOutcome::Succeeded("the tests passed".into());
        events.push(Event::Phase(PhaseEvent::Ended { phase: "work".into(), attempt: 1, outcome }));
        let outcome = SessionOutcome::Completed;
        events.push(Event::Session(SessionEvent::Ended { outcome }));
        events
    }

    #[test]
    fn a_journal_becomes_actions_with_the_rewards_of_the_simulation() {
        let policy = trained("simple", false, 1, 5000);
        let mut reader = JournalReader::default();
        journal(&policy).iter().for_each(|event| reader.take(event));
        let runs = reader.finish();
        assert_eq!(runs.len(), 1);
        let session = runs[0].session(&policy).unwrap();
        let steps: Vec<(usize, f64)> =
            session.steps.iter().map(|step| (step.agent, (step.reward * 10.0).round())).collect();
        assert_eq!(steps, [(1, 2.0), (2, -1.0), (3, -1.0), (2, 99.0)]);
        assert_eq!(session.end, End::Success);
        let chances: Vec<Option<f64>> = session.steps.iter().map(|step| step.chance).collect();
        assert_eq!(chances, [Some(1.0), Some(1.0), Some(1.0), None]);
        let mut other = trained("simple", false, 1, 10);
        other.origin.team = "review".to_owned();
        assert!(runs[0].session(&other).is_none());
    }
}
