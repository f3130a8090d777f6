//! What the team lays out for its own work: plan, files for the context, blackboard, documents.

use std::cmp::Ordering;

use crate::model::{
    AgentName, Artifact, CallId, ContextFile, Document, Event, PhaseEvent, PlanItem, PolicyChoice,
    PolicyTable, ProjectPath, Record, TeamEvent, Timestamp, TurnEvent, TurnId, TurnStop,
};

/// Plan, context and blackboard as they are now.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TeamView {
    /// The plan in force; `None` before the first, and when a phase begins.
    pub plan: Option<PlanView>,
    /// The files a call is about to bring into the chat.
    pub context: Option<ContextView>,
    /// Files the person wants in the context.
    pub added: Vec<ProjectPath>,
    /// Files the person wants out of it.
    pub removed: Vec<ProjectPath>,
    /// Everything that was put on the blackboard, oldest first.
    pub blackboard: Vec<(Artifact, Timestamp)>,
    /// Documents that came with the task.
    pub documents: Vec<Document>,
    /// The learned table that chooses who speaks, and its newest choice.
    pub policy: Option<PolicyView>,
    speaker: Option<(TurnId, AgentName)>,
}

/// A learned table at work.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyView {
    pub table: Box<PolicyTable>,
    /// Who was chosen last, and what the table said of everyone.
    pub choice: Option<(AgentName, Box<PolicyChoice>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanView {
    /// Who made it; `None`: the person changed it.
    pub by: Option<AgentName>,
    /// Its steps, in order.
    pub steps: Vec<(PlanItem, StepState)>,
}

/// How far a step of a plan is, as far as the session tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepState {
    /// Nobody is named in it, so nothing tells when it is done.
    Untold,
    /// Its agent has not spoken yet.
    Open,
    /// Its agent speaks.
    Active,
    /// Its agent has spoken since the plan was made.
    Done,
}

/// How far a list of work is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub total: usize,
    /// What is counted: `steps` or `files`.
    pub unit: &'static str,
    /// What is done now or next; empty when all is done.
    pub current: String,
}

impl PlanView {
    /// How far it is; `None`: nothing tells.
    pub(super) fn progress(&self) -> Option<Progress> {
        let is_told = |state: StepState| state != StepState::Untold;
        if !self.steps.iter().any(|(_, state)| is_told(*state)) {
            return None;
        }
        let done = self.steps.iter().filter(|(_, state)| *state == StepState::Done).count();
        let of = |wanted: StepState| self.steps.iter().find(move |(_, state)| *state == wanted);
        let current = of(StepState::Active).or_else(|| of(StepState::Open));
        let current = current.map_or_else(String::new, |(item, _)| item.task.clone());
        Some(Progress { done, total: self.steps.len(), unit: "steps", current })
    }
}

/// Files on their way into the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextView {
    /// The call that reads them.
    pub call: CallId,
    /// In the order of use.
    pub files: Vec<ContextFile>,
}

/// What waits for the person before the team goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingList<'v> {
    /// A plan, before it is carried out.
    Plan(&'v PlanView),
    /// Files, before they are read.
    Context(&'v ContextView),
}

impl ContextView {
    /// About how many tokens they take together.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.files.iter().map(|file| file.tokens).sum()
    }
}

impl TeamView {
    pub(super) fn apply(&mut self, record: &Record) {
        match &record.event {
            Event::Team(fact) => self.learn(fact, record.at),
            Event::Phase(PhaseEvent::Started { step: Some(step), .. }) => {
                self.context = None;
                self.turn_to(*step);
            }
            Event::Phase(PhaseEvent::Started { .. }) => (self.plan, self.context) = (None, None),
            Event::Turn(TurnEvent::PolicyTaken(table)) => {
                self.policy = Some(PolicyView { table: table.clone(), choice: None });
            }
            Event::Turn(TurnEvent::SpeakerChosen { agent, choice: Some(choice), .. }) => {
                if let Some(policy) = &mut self.policy {
                    policy.choice = Some((agent.clone(), choice.clone()));
                }
            }
            Event::Turn(TurnEvent::Started { turn, agent }) => {
                self.speaker = Some((*turn, agent.clone()));
                self.mark(agent, StepState::Open, StepState::Active);
            }
            Event::Turn(TurnEvent::Ended { turn, stop }) => {
                let Some((_, agent)) = self.speaker.take().filter(|(open, _)| open == turn) else {
                    return;
                };
                let is_done = matches!(stop, TurnStop::Done | TurnStop::Terminated(_));
                let to = if is_done { StepState::Done } else { StepState::Open };
                self.mark(&agent, StepState::Active, to);
            }
            Event::Turn(TurnEvent::ToolAnswered { call, .. }) => {
                if self.context.as_ref().is_some_and(|context| context.call == *call) {
                    self.context = None;
                }
            }
            Event::Session(_)
            | Event::Files(_)
            | Event::Phase(_)
            | Event::Turn(_)
            | Event::Model(_)
            | Event::Proposal(_)
            | Event::Build(_)
            | Event::Test(_)
            | Event::Log(_)
            | Event::Board(_)
            | Event::Port(_)
            | Event::Person(_) => {}
        }
    }

    fn learn(&mut self, fact: &TeamEvent, at: Timestamp) {
        match fact {
            TeamEvent::Attached(document) => self.documents.push(document.clone()),
            TeamEvent::PlanMade { by, items } => {
                let state = |item: &PlanItem| match &item.agent {
                    Some(_) => StepState::Open,
                    None => StepState::Untold,
                };
                let steps = items.iter().map(|item| (item.clone(), state(item))).collect();
                self.plan = Some(PlanView { by: by.clone(), steps });
            }
            TeamEvent::ContextListed { call, files } => {
                self.context = Some(ContextView { call: *call, files: files.clone() });
            }
            TeamEvent::ContextEdited { add, remove } => {
                self.added.retain(|path| !remove.contains(path));
                self.removed.retain(|path| !add.contains(path));
                self.added.extend(add.iter().cloned());
                self.removed.extend(remove.iter().cloned());
            }
            TeamEvent::ArtifactPosted(artifact) => self.blackboard.push((artifact.clone(), at)),
        }
    }

    /// A phase carries out that step, counted from 1; those before it are done.
    fn turn_to(&mut self, step: u32) {
        let steps = self.plan.iter_mut().flat_map(|plan| plan.steps.iter_mut());
        for (number, (_, state)) in (1..).zip(steps) {
            *state = match number.cmp(&step) {
                Ordering::Less => StepState::Done,
                Ordering::Equal => StepState::Active,
                Ordering::Greater => StepState::Open,
            };
        }
    }

    /// Brings the first step of `agent` that is in state `from` to `to`.
    fn mark(&mut self, agent: &AgentName, from: StepState, to: StepState) {
        let steps = self.plan.iter_mut().flat_map(|plan| plan.steps.iter_mut());
        let mut own =
            steps.filter(|(item, state)| item.agent.as_ref() == Some(agent) && *state == from);
        if let Some((_, state)) = own.next() {
            *state = to;
        }
    }
}
