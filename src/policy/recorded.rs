//! What a policy learns from the journal of a session.
//!
//! Owns how records become actions with rewards: those of the simulation, earned by what was there
//! before and after each turn. Must not read files.

use crate::model::{
    AgentName, DecidedBy, Event, PhaseEvent, PhaseOutcome, PolicyChoice, ProposalEvent,
    SessionEvent, TurnEvent,
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
    run: Vec<RecordedTurn>,
    runs: Vec<RecordedRun>,
}

/// The choices of one attempt, and how it ended.
#[derive(Debug)]
pub struct RecordedRun {
    pub team: String,
    agents: Vec<AgentName>,
    choices: Vec<RecordedTurn>,
    end: End,
}

/// A turn that the policy or the person chose, and what it cost.
#[derive(Debug)]
struct RecordedTurn {
    agent: AgentName,
    choice: Box<PolicyChoice>,
    /// Changes that the person rejected.
    rejections: u32,
    tokens: u64,
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
                let (agent, choice) = (agent.clone(), choice.clone());
                self.run.push(RecordedTurn { agent, choice, rejections: 0, tokens: 0 });
            }
            Event::Turn(TurnEvent::ModelAnswered { usage, .. }) => {
                if let Some(turn) = self.run.last_mut() {
                    turn.tokens += usage.input + usage.output;
                }
            }
            Event::Proposal(ProposalEvent::Decided { decision, .. }) => {
                let is_rejection =
                    decision.by == DecidedBy::Person && !decision.verdict.is_approval();
                if let Some(turn) = self.run.last_mut().filter(|_| is_rejection) {
                    turn.rejections += 1;
                }
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
        let states = self.choices.iter().map(|RecordedTurn { choice, .. }| {
            policy.state(choice.class.as_deref(), &choice.state)
        });
        let states = states.collect::<Option<Vec<State>>>()?;
        let reward = &policy.origin.process.reward;
        let mut steps = Vec::new();
        for (place, (turn, state)) in self.choices.iter().zip(&states).enumerate() {
            let name = turn.agent.as_str();
            let agent = policy.model.agents.iter().position(|agent| agent == name)?;
            let next = states.get(place + 1).map(|next| next.facts());
            let earned = earned(reward, state.facts(), next, self.end) + turn.cost(reward);
            let chance = turn.choice.chance;
            steps.push(Step { state: *state, agent, reward: earned, chance });
        }
        Some(Session { steps, end: self.end })
    }
}

impl RecordedTurn {
    /// What its rejections and tokens are worth.
    fn cost(&self, reward: &Reward) -> f64 {
        let tokens = self.tokens as f64 / 1000.0;
        reward.rejection * f64::from(self.rejections) + reward.thousand_tokens * tokens
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
    use crate::model::{ContentHash, Decision, ProposalId, SessionOutcome, TurnId, Usage, Verdict};

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
            events.push(Event::Turn(TurnEvent::SpeakerChosen {
                agent,
                reason,
                choice,
                step: None,
            }));
        };
        for (number, seen) in
            [seen(false, false, 0), seen(true, false, 1), seen(true, true, 2)].iter().enumerate()
        {
            let (agent, choice) = choose(&table, seen, number as u64).unwrap();
            say(agent, choice);
        }
        say("tester".into(), overruled(&table, &seen(true, false, 3)));
        let outcome = PhaseOutcome::Succeeded("the tests passed".into());
        events.push(Event::Phase(PhaseEvent::Ended {
            phase: "work".into(),
            attempt: 1,
            outcome,
            step: None,
        }));
        let outcome = SessionOutcome::Completed;
        events.push(Event::Session(SessionEvent::Ended { outcome }));
        events
    }

    #[test]
    fn rejections_and_tokens_count_where_the_rewards_say_so() {
        let mut policy = trained("simple", false, 1, 5000);
        let mut events = journal(&policy);
        let decided = |verdict, by| {
            let shown = ContentHash::of(b"");
            let decision = Box::new(Decision { verdict, by, shown, unseen: 0, stops: 0 });
            Event::Proposal(ProposalEvent::Decided { proposal: ProposalId(1), decision })
        };
        let usage = Usage { input: 1500, output: 500, ..Usage::default() };
        let model = TurnEvent::ModelAnswered { turn: TurnId(1), usage, state: None };
        // The first turn is the event of this place.
        for event in [
            Event::Turn(model),
            decided(Verdict::reject("no"), DecidedBy::Person),
            decided(Verdict::Approve, DecidedBy::Person),
        ] {
            events.insert(2, event);
        }
        let rewards = |policy: &Trained| -> Vec<f64> {
            let mut reader = JournalReader::default();
            events.iter().for_each(|event| reader.take(event));
            let session = reader.finish()[0].session(policy).unwrap();
            session.steps.iter().map(|step| (step.reward * 100.0).round()).collect()
        };
        assert_eq!(rewards(&policy), [20.0, -10.0, -10.0, 990.0]);
        let reward = &mut policy.origin.process.reward;
        (reward.rejection, reward.thousand_tokens) = (-1.0, -0.05);
        assert_eq!(rewards(&policy), [-90.0, -10.0, -10.0, 990.0]);
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
