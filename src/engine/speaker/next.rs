//! Who speaks next in an attempt, and why: the state behind each way of choosing.
//!
//! A fold of the attempt's turns. Must not know chats or tools beyond what a turn reports.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::learned::LearnedSpeakers;
use super::plan::{Assignment, SpeakerPlan, shortened};
use super::selector;
use crate::engine::concern::Concern;
use crate::engine::team::{Failure, FieldTest, LogSigns, Phase, Rework, SpeakerSelection};
use crate::model::{AgentName, PolicyChoice, ToolName};

/// How often somebody may name nobody before the person is asked.
const PATIENCE: u32 = 3;

/// What comes next as far as speaking goes.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) enum NextSpeaker {
    /// This agent speaks, for this reason.
    Speak(AgentName, String),
    /// This agent speaks, as a learned table or the person over it chose.
    Learned(AgentName, Box<PolicyChoice>),
    /// Nobody does; the attempt is over for this reason.
    Over(String),
}

/// What a turn that ended tells.
pub(in crate::engine) struct Spoken<'a> {
    pub agent: &'a AgentName,
    /// What it said last.
    pub text: &'a str,
    /// Its answer, if it has a form.
    pub answer: Option<&'a Value>,
    /// Tools it called whose last answer was not `ok`.
    pub failed: &'a [ToolName],
    /// What the serial output that it brought calls for.
    pub log: Option<LogSigns>,
}

/// What comes of a turn besides the next speaker.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::engine) struct Aftermath {
    /// A word of the program to one agent.
    pub note: Option<(AgentName, String)>,
    /// Why the person has to be asked.
    pub concern: Option<Concern>,
}

/// The state of the selection.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct Speakers {
    /// Where a learned table chooses.
    pub learned: LearnedSpeakers,
    /// Those who were named and have not spoken yet.
    queue: VecDeque<Assignment>,
    last: Option<AgentName>,
    /// How often nobody was named in a row.
    nameless: u32,
    /// Steps of the pipeline that were begun.
    place: usize,
    /// How often in a row each agent's turn led to a rework.
    reworks: BTreeMap<AgentName, u32>,
    /// Whether the person wants another plan.
    wants_plan: bool,
}

impl Speakers {
    /// Who speaks next.
    pub fn next(&self, phase: &Phase) -> NextSpeaker {
        if let Some(planner) = phase.plan.planner.as_ref().filter(|_| self.wants_plan) {
            let reason = format!("you want {planner} to plan again");
            return NextSpeaker::Speak(planner.clone(), reason);
        }
        let (agent, reason) = match &phase.selection {
            SpeakerSelection::Planner(planner) => self.planned(planner),
            SpeakerSelection::RoundRobin => {
                let place = |name| phase.participants.iter().position(|agent| agent == name);
                let next = self.last.as_ref().and_then(place).map_or(0, |last| last + 1);
                let next = next % phase.participants.len().max(1);
                // A checked team has participants in every phase.
                let agent = phase.participants.get(next).cloned();
                let agent = agent.unwrap_or_else(|| AgentName::from(""));
                (agent, "the agents of this phase speak in turn".to_owned())
            }
            SpeakerSelection::Pipeline { order, .. } => {
                match (self.queue.front(), order.get(self.place)) {
                    (Some(next), _) => (next.agent.clone(), next.task.clone()),
                    (None, Some(agent)) => {
                        let reason =
                            format!("agent {} of {} in this phase", self.place + 1, order.len());
                        (agent.clone(), reason)
                    }
                    (None, None) => {
                        return NextSpeaker::Over("the pipeline is complete".to_owned());
                    }
                }
            }
            SpeakerSelection::Selector(selector) => self.selected(selector),
            SpeakerSelection::HandOff(first) => self.handed(first),
            SpeakerSelection::Policy(_) => {
                return match self.learned.next() {
                    Ok((agent, choice)) => NextSpeaker::Learned(agent, Box::new(choice)),
                    Err(why) => NextSpeaker::Over(why.to_owned()),
                };
            }
        };
        NextSpeaker::Speak(agent, reason)
    }

    fn planned(&self, planner: &AgentName) -> (AgentName, String) {
        let reason = match &self.last {
            None => format!("{planner} opens the chat"),
            Some(last) if last != planner => format!("{planner} speaks after every other agent"),
            Some(_) => match self.queue.front() {
                Some(next) => {
                    let task = shortened(&next.task);
                    let reason = format!("{planner} asked {} to “{task}”", next.agent);
                    return (next.agent.clone(), reason);
                }
                None => format!("{planner} named nobody, so it is asked again"),
            },
        };
        (planner.clone(), reason)
    }

    fn selected(&self, selector: &AgentName) -> (AgentName, String) {
        let reason = match (&self.last, self.queue.front()) {
            (Some(last), Some(next)) if last == selector => {
                let why = shortened(&next.task);
                let reason = if why.is_empty() {
                    format!("{selector} chose {}", next.agent)
                } else {
                    format!("{selector} chose {}: {why}", next.agent)
                };
                return (next.agent.clone(), reason);
            }
            (Some(last), None) if last == selector => {
                format!("{selector} chose nobody, so it is asked again")
            }
            _ => format!("{selector} chooses who speaks next"),
        };
        (selector.clone(), reason)
    }

    fn handed(&self, first: &AgentName) -> (AgentName, String) {
        let reason = match (&self.last, self.queue.front()) {
            (Some(last), Some(next)) => {
                let task = shortened(&next.task);
                let reason = format!("{last} handed over to {}: “{task}”", next.agent);
                return (next.agent.clone(), reason);
            }
            (Some(last), None) if last == first => format!("{first} handed over to nobody yet"),
            (Some(last), None) => format!("{last} handed over to nobody, so {first} goes on"),
            (None, _) => format!("{first} opens the chat"),
        };
        (first.clone(), reason)
    }

    /// An agent was chosen.
    pub fn chosen(&mut self, agent: &AgentName, phase: &Phase) {
        let plans_again = std::mem::take(&mut self.wants_plan);
        self.learned.chosen();
        if self.queue.front().is_some_and(|next| next.agent == *agent) {
            self.queue.pop_front();
        } else if let SpeakerSelection::Pipeline { .. } = phase.selection
            && !plans_again
        {
            self.place += 1;
        }
    }

    /// An agent handed over to another.
    pub fn hand_over(&mut self, agent: AgentName, task: String) {
        self.queue.clear();
        self.queue.push_back(Assignment { agent, task });
    }

    /// The person has changed the plan: those named in it speak, in that order.
    pub fn replace_plan(&mut self, plan: Vec<Assignment>) {
        // Steps that name nobody change what is done, not who goes on.
        if plan.is_empty() && !self.queue.is_empty() {
            return;
        }
        self.wants_plan = plan.is_empty();
        self.queue = plan.into();
    }

    /// The person wants another plan.
    pub fn plan_anew(&mut self) {
        self.wants_plan = true;
        self.queue.clear();
    }

    /// A turn ended.
    pub fn ended(&mut self, turn: &Spoken<'_>, phase: &Phase) -> Aftermath {
        self.last = Some(turn.agent.clone());
        self.learned.ended();
        match &phase.selection {
            SpeakerSelection::Planner(planner) if planner == turn.agent => {
                let plan = SpeakerPlan::read(turn.text, &phase.participants, planner);
                let unknown = plan.unknown.join(", ");
                plan.merge_into(&mut self.queue);
                self.named(planner, phase, &unknown)
            }
            SpeakerSelection::Selector(selector) if selector == turn.agent => {
                let chosen = selector::read(turn.text, &phase.participants, selector);
                self.queue.clear();
                match chosen {
                    Ok(chosen) => {
                        self.queue.push_back(chosen);
                        self.named(selector, phase, "")
                    }
                    Err(unknown) => self.named(selector, phase, &unknown),
                }
            }
            SpeakerSelection::HandOff(first) if first == turn.agent => self.named(first, phase, ""),
            SpeakerSelection::Pipeline { reworks, .. } => self.reworked(turn, reworks),
            _ => Aftermath::default(),
        }
    }

    /// Whoever has to name the next speaker has done so, or is told what was wrong.
    fn named(&mut self, by: &AgentName, phase: &Phase, unknown: &str) -> Aftermath {
        if !self.queue.is_empty() {
            self.nameless = 0;
            return Aftermath::default();
        }
        let others = phase.participants.iter().filter(|agent| *agent != by);
        let others: Vec<&str> = others.map(AgentName::as_str).collect();
        let what = if unknown.is_empty() {
            "Nobody was named to go on.".to_owned()
        } else {
            format!("Nobody here is called {unknown}.")
        };
        let how = match &phase.selection {
            SpeakerSelection::Selector(_) => selector::HOW,
            SpeakerSelection::HandOff(_) => "Call `hand_off` with the name of the next agent.",
            _ => "End your message with a line `<Agent> : <task>`.",
        };
        let note = format!("{what} {how} Agents in this chat: {}.", others.join(", "));
        self.nameless += 1;
        let is_stuck = self.nameless >= PATIENCE;
        if is_stuck {
            self.nameless = 0;
        }
        let concern = is_stuck.then(|| Concern::NobodyNamed(by.clone()));
        Aftermath { note: Some((by.clone(), note)), concern }
    }

    fn reworked(&mut self, turn: &Spoken<'_>, reworks: &[Rework]) -> Aftermath {
        let own = reworks.iter().filter(|rework| rework.after == *turn.agent);
        let Some((rework, why)) =
            own.filter_map(|rework| Some((rework, why(rework, turn)?))).next()
        else {
            self.reworks.remove(turn.agent);
            return Aftermath::default();
        };
        let mut aftermath = Aftermath::default();
        let count = self.reworks.entry(turn.agent.clone()).or_default();
        *count += 1;
        if *count > rework.most {
            *count = 1;
            aftermath.concern = Some(Concern::ReworkUsedUp(rework.after.clone(), rework.most));
        }
        let times = format!("{count} of {}", rework.most);
        let again = std::iter::once(&rework.after);
        for agent in rework.through.iter().chain(again).rev() {
            let task = format!("{why}, rework {times}");
            self.queue.push_front(Assignment { agent: agent.clone(), task });
        }
        aftermath
    }
}

/// Why a turn leads to a rework; `None` when it does not.
fn why(rework: &Rework, turn: &Spoken<'_>) -> Option<String> {
    match &rework.when {
        Failure::Tool(tool) => turn.failed.contains(tool).then(|| format!("{tool} failed")),
        Failure::Text(text) => {
            let is_in_text = turn.text.contains(text.as_str());
            is_in_text.then(|| format!("{} said “{text}”", rework.after))
        }
        Failure::Log(sign) => {
            turn.log.is_some_and(|log| log.has(*sign)).then(|| sign.reason().to_owned())
        }
        Failure::Answer(tests) => tests.iter().all(|test| test.holds(turn.answer)).then(|| {
            let words: Vec<String> = tests.iter().map(FieldTest::in_words).collect();
            format!("{} answered: {}", rework.after, words.join(", "))
        }),
    }
}
