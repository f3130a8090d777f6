//! What the team lays out for its own work: plan, files for the context, blackboard, documents.

use std::collections::{BTreeMap, BTreeSet};

use super::blackboard::Blackboard;
use crate::model::{
    AgentName, BuildEvent, BuildOutcome, CallId, ContextFile, Document, Event, PassageMarks,
    PhaseEvent, PhaseOutcome, PlanItem, PolicyChoice, PolicyTable, ProjectPath, Record,
    SessionEvent, TeamEvent, Timestamp, TurnEvent, TurnId, TurnStop,
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
    /// What was put on the blackboard.
    pub blackboard: Blackboard,
    /// Passages of the documentation that the person pinned or muted.
    pub marks: PassageMarks,
    /// Documents that came with the task.
    pub documents: Vec<Document>,
    /// The learned table that chooses who speaks, and its newest choice.
    pub policy: Option<PolicyView>,
    /// Whose turns are open.
    speakers: BTreeMap<TurnId, AgentName>,
    /// Whose last build did not pass.
    broken: BTreeSet<AgentName>,
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
    /// The step that a phase of its own has begun last, counted from 0.
    pub turn: Option<usize>,
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
    /// Its agent has spoken since the plan was made, or its phase has reached its goal.
    Done,
    /// Its phase has not reached its goal, or its build did not pass.
    NeedsAttention,
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
    /// The numbers of the steps that are carried out side by side; empty when there are not several.
    pub side_by_side: Vec<usize>,
}

impl PlanView {
    /// The steps that are carried out now, counted from 1.
    fn active(&self) -> Vec<usize> {
        let steps = (1..).zip(&self.steps);
        steps.filter(|(_, (_, state))| *state == StepState::Active).map(|(n, _)| n).collect()
    }

    /// How far it is; `None`: nothing tells.
    pub(super) fn progress(&self) -> Option<Progress> {
        let is_reported = |state: StepState| state != StepState::Untold;
        if !self.steps.iter().any(|(_, state)| is_reported(*state)) {
            return None;
        }
        let done = self.steps.iter().filter(|(_, state)| *state == StepState::Done).count();
        let active = self.active();
        let of = |wanted: StepState| self.steps.iter().find(move |(_, state)| *state == wanted);
        let current = of(StepState::Active).or_else(|| of(StepState::Open));
        let current = current.or_else(|| of(StepState::NeedsAttention));
        let current = current.map_or_else(String::new, |(item, _)| item.task.clone());
        let side_by_side = if active.len() > 1 { active } else { Vec::new() };
        Some(Progress { done, total: self.steps.len(), unit: "steps", current, side_by_side })
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
            Event::Phase(PhaseEvent::Started { .. }) => {
                // Steps that have phases of their own are still told of when all were carried out.
                self.plan.take_if(|plan| plan.turn.is_none());
                self.context = None;
            }
            Event::Phase(PhaseEvent::Ended { outcome, step, .. }) => {
                self.step_ended(outcome, *step);
            }
            Event::Session(SessionEvent::RunStarted(_)) => {
                self.plan = None;
                self.speakers.clear();
                self.broken.clear();
            }
            Event::Build(BuildEvent::Ended { outcome, .. }) => self.built(outcome),
            Event::Session(SessionEvent::Resumed { .. }) => self.speakers.clear(),
            Event::Turn(TurnEvent::PolicyTaken(table)) => {
                self.policy = Some(PolicyView { table: table.clone(), choice: None });
            }
            Event::Turn(TurnEvent::SpeakerChosen { agent, choice: Some(choice), .. }) => {
                if let Some(policy) = &mut self.policy {
                    policy.choice = Some((agent.clone(), choice.clone()));
                }
            }
            Event::Turn(TurnEvent::Started { turn, agent, .. }) => {
                self.speakers.insert(*turn, agent.clone());
                self.mark(agent, StepState::Open, StepState::Active);
            }
            Event::Turn(TurnEvent::Ended { turn, stop }) => {
                let Some(agent) = self.speakers.remove(turn) else { return };
                let is_done = matches!(stop, TurnStop::Done | TurnStop::Terminated(_));
                let to = match is_done {
                    true if self.is_broken(&agent) => StepState::NeedsAttention,
                    true => StepState::Done,
                    false => StepState::Open,
                };
                self.mark(&agent, StepState::Active, to);
            }
            Event::Turn(TurnEvent::ToolAnswered { call, .. }) => {
                self.context.take_if(|context| context.call == *call);
            }
            Event::Session(_)
            | Event::Files(_)
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
                self.plan = Some(PlanView { by: by.clone(), turn: None, steps });
                // Whoever makes it may have a step of its own in it.
                for agent in self.speakers.values().cloned().collect::<Vec<_>>() {
                    self.mark(&agent, StepState::Open, StepState::Active);
                }
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
            TeamEvent::PassageMarked(marked) => self.marks.take(marked),
            TeamEvent::ArtifactPosted(artifact) => self.blackboard.post(artifact.clone(), at),
        }
    }

    /// A phase carries out that step, counted from 1.
    fn turn_to(&mut self, step: u32) {
        let Some(plan) = &mut self.plan else { return };
        for (_, state) in plan.steps.iter_mut().filter(|(_, state)| *state == StepState::Untold) {
            *state = StepState::Open;
        }
        plan.turn = place(step);
        if let Some((_, state)) = plan.turn.and_then(|turn| plan.steps.get_mut(turn)) {
            *state = StepState::Active;
        }
    }

    /// The phase that carries out a step has ended; older records do not name the step.
    fn step_ended(&mut self, outcome: &PhaseOutcome, step: Option<u32>) {
        let Some(plan) = &mut self.plan else { return };
        let ended = step.and_then(place).or(plan.turn);
        if let Some((_, state)) = ended.and_then(|ended| plan.steps.get_mut(ended))
            && *state == StepState::Active
        {
            *state = match outcome {
                PhaseOutcome::Succeeded(_) => StepState::Done,
                PhaseOutcome::Failed(_) => StepState::NeedsAttention,
                PhaseOutcome::Stopped => StepState::Open,
            };
        }
    }

    /// Whether the last build of an agent did not pass. Where steps have phases of their own, those tell
    /// how they came out.
    fn is_broken(&self, agent: &AgentName) -> bool {
        let is_by_phase = self.plan.as_ref().is_some_and(|plan| plan.turn.is_some());
        self.broken.contains(agent) && !is_by_phase
    }

    /// A build of those who speak has ended. One that passes makes good the ones before it.
    fn built(&mut self, outcome: &BuildOutcome) {
        match outcome {
            BuildOutcome::Passed => {
                for agent in std::mem::take(&mut self.broken) {
                    self.mark(&agent, StepState::NeedsAttention, StepState::Done);
                }
            }
            BuildOutcome::Failed | BuildOutcome::TimedOut | BuildOutcome::NotRun(_) => {
                self.broken.extend(self.speakers.values().cloned());
            }
            BuildOutcome::Cancelled => {}
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

/// Where a step is that is counted from 1.
fn place(step: u32) -> Option<usize> {
    usize::try_from(step).ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Seq;

    fn apply(view: &mut TeamView, event: Event) {
        view.apply(&Record { v: 1, seq: Seq(1), at: Timestamp(0), event });
    }

    fn begin(view: &mut TeamView, step: Option<u32>) {
        let (phase, title) = ("step".to_owned(), "step".to_owned());
        let started = PhaseEvent::Started { phase, title, attempt: 1, max_attempts: 1, step };
        apply(view, Event::Phase(started));
    }

    fn end(view: &mut TeamView, outcome: PhaseOutcome) {
        let ended = PhaseEvent::Ended { phase: "step".to_owned(), attempt: 1, outcome, step: None };
        apply(view, Event::Phase(ended));
    }

    fn states(view: &TeamView) -> Vec<StepState> {
        view.plan.iter().flat_map(|plan| &plan.steps).map(|(_, state)| *state).collect()
    }

    #[test]
    fn a_step_whose_build_fails_is_not_done_until_one_passes() {
        use crate::model::BuildId;
        use StepState::{Done, NeedsAttention};
        let mut view = TeamView::default();
        let agent = AgentName::from("BuildAgent");
        let items = vec![PlanItem { task: "build".to_owned(), agent: Some(agent.clone()) }];
        apply(&mut view, Event::Team(TeamEvent::PlanMade { by: None, items }));
        let turn = TurnId(1);
        apply(&mut view, Event::Turn(TurnEvent::Started { turn, agent, step: None }));
        let ended = |outcome| {
            let (diagnostics, build) = (Vec::new(), BuildId(1));
            Event::Build(BuildEvent::Ended { build, outcome, diagnostics, millis: 1, size: None })
        };
        apply(&mut view, ended(BuildOutcome::Failed));
        apply(&mut view, Event::Turn(TurnEvent::Ended { turn, stop: TurnStop::Done }));
        assert_eq!(states(&view), [NeedsAttention]);
        let progress = view.plan.as_ref().unwrap().progress().unwrap();
        assert_eq!((progress.done, progress.current.as_str()), (0, "build"));
        apply(&mut view, ended(BuildOutcome::Passed));
        assert_eq!(states(&view), [Done]);
    }

    #[test]
    fn a_step_of_the_agent_that_makes_the_plan_is_done_when_it_has_spoken() {
        let mut view = TeamView::default();
        let agent = AgentName::from("PlanningAgent");
        let (turn, step) = (TurnId(1), None);
        apply(&mut view, Event::Turn(TurnEvent::Started { turn, agent: agent.clone(), step }));
        let item = |name: &str| PlanItem { task: "a".to_owned(), agent: Some(name.into()) };
        let items = vec![item("PlanningAgent"), item("BuildAgent")];
        apply(&mut view, Event::Team(TeamEvent::PlanMade { by: Some(agent), items }));
        assert_eq!(states(&view), [StepState::Active, StepState::Open]);
        apply(&mut view, Event::Turn(TurnEvent::Ended { turn, stop: TurnStop::Done }));
        assert_eq!(states(&view), [StepState::Done, StepState::Open]);
    }

    #[test]
    fn steps_side_by_side_end_each_for_itself() {
        use StepState::{Active, Done, NeedsAttention};
        let mut view = TeamView::default();
        let item = |task: &str| PlanItem { task: task.to_owned(), agent: None };
        let items = vec![item("a"), item("b"), item("c")];
        apply(&mut view, Event::Team(TeamEvent::PlanMade { by: None, items }));
        (1..=3).for_each(|step| begin(&mut view, Some(step)));
        let progress = view.plan.as_ref().unwrap().progress().unwrap();
        assert_eq!(progress.side_by_side, [1, 2, 3]);
        let end = |view: &mut TeamView, step, outcome| {
            let (phase, attempt) = ("step".to_owned(), 1);
            apply(view, Event::Phase(PhaseEvent::Ended { phase, attempt, outcome, step }));
        };
        end(&mut view, Some(2), PhaseOutcome::Succeeded(String::new()));
        end(&mut view, Some(1), PhaseOutcome::Failed(String::new()));
        assert_eq!(states(&view), [NeedsAttention, Done, Active]);
        assert_eq!(view.plan.unwrap().progress().unwrap().side_by_side, [0; 0]);
    }

    #[test]
    fn steps_that_have_phases_of_their_own_are_told_of_through_a_review_and_back() {
        use StepState::{Active, Done, NeedsAttention, Open};
        let mut view = TeamView::default();
        begin(&mut view, None);
        let item = |task: &str| PlanItem { task: task.to_owned(), agent: None };
        let items = vec![item("a"), item("b"), item("c")];
        apply(&mut view, Event::Team(TeamEvent::PlanMade { by: None, items }));
        begin(&mut view, Some(1));
        assert_eq!(states(&view), [Active, Open, Open]);
        end(&mut view, PhaseOutcome::Failed(String::new()));
        begin(&mut view, Some(2));
        assert_eq!(states(&view), [NeedsAttention, Active, Open]);
        end(&mut view, PhaseOutcome::Succeeded(String::new()));
        begin(&mut view, Some(3));
        end(&mut view, PhaseOutcome::Succeeded(String::new()));
        begin(&mut view, None);
        assert_eq!(states(&view), [NeedsAttention, Done, Done]);
        end(&mut view, PhaseOutcome::Succeeded(String::new()));
        begin(&mut view, Some(2));
        assert_eq!(states(&view), [NeedsAttention, Active, Done]);
        assert_eq!(view.plan.as_ref().unwrap().progress().unwrap().done, 1);
    }
}
