//! How far a run has come: a fold of its own events, and the one place that says what comes next.
//!
//! Live and resumed runs apply the same events. Must not read a clock, wait or record anything itself.

use std::sync::Arc;

use serde_json::{Value, json};

use super::attempt_limit::AttemptLimit;
use super::blackboard::Blackboard;
use super::budget_meter::BudgetMeter;
use super::lanes::{DueAttempt, Lane, LaneId, Lanes};
use super::memory::PhaseMemory;
use super::side_work::{Hearsay, SideWork};
use super::stage::{self, AfterAttempt, EndedAttempt, RunStage};
use super::step::{Asker, Hold, LastNumbers, OpenQuestion, Words};
use crate::engine::attempt::listing::Listing;
use crate::engine::attempt::repetition::Guard;
use crate::engine::attempt::{Attempt, WRONG_CALLS, chat, plan_steps};
use crate::engine::concern::{Concern, OUT_OF_TIME, STOP, Waiting, failure};
use crate::engine::setup::{EngineLimits, Supervision};
use crate::engine::team::{Phase, Team};
use crate::model::event::RunStart;
use crate::model::{
    AgentName, ArtifactKind, CallId, ChosenBy, Event, FilesEvent, ModelEvent, PersonEvent,
    PhaseEvent, PhaseOutcome, ProjectPath, ProposalEvent, QuestionId, SessionEvent, SessionOutcome,
    Spent, TeamEvent, TurnEvent, TurnId, TurnStop, Usage,
};

/// How far a run has come.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct RunProgress {
    pub(super) team: Arc<Team>,
    pub(super) attempt_limit: AttemptLimit,
    supervision: Supervision,
    task: String,
    pub(super) stage: RunStage,
    pub(super) ended: Option<SessionOutcome>,
    pub(super) hold: Hold,
    pub(super) concern: Option<Concern>,
    pub(super) numbers: LastNumbers,
    guard: Guard,
    pub(super) memory: PhaseMemory,
    pub(super) budget_meter: BudgetMeter,
}

impl RunProgress {
    pub fn new(team: Arc<Team>, limits: &EngineLimits) -> Self {
        Self {
            team,
            attempt_limit: AttemptLimit::of(limits),
            supervision: limits.supervision,
            task: String::new(),
            stage: RunStage::At(Lanes::before(0, vec![DueAttempt::first(None)])),
            ended: None,
            hold: Hold::default(),
            concern: None,
            numbers: LastNumbers::default(),
            guard: Guard::default(),
            memory: PhaseMemory::default(),
            budget_meter: BudgetMeter::new(limits.budgets),
        }
    }

    /// The run that is recorded next is one of that team.
    pub fn expect_run(&mut self, team: Arc<Team>) {
        self.memory.team.next = Some(team);
    }

    /// How many runs have begun.
    pub const fn runs(&self) -> u32 {
        self.numbers.run
    }

    pub fn team(&self) -> &Team {
        &self.team
    }

    pub fn next_turn(&self) -> TurnId {
        self.numbers.turn.next()
    }

    pub fn next_call(&self) -> CallId {
        self.numbers.call.next()
    }

    pub fn next_question(&self) -> QuestionId {
        self.numbers.question.next()
    }

    /// What the person does beside the run.
    pub const fn side_work(&self) -> &SideWork {
        &self.memory.side_work
    }

    pub fn person_messages(&self) -> &[(Option<AgentName>, String)] {
        &self.memory.person_messages
    }

    pub const fn board(&self) -> &Blackboard {
        &self.memory.board
    }

    /// The files the open call is about to read, and who wants each.
    pub fn listed(&self, id: CallId) -> Vec<(ProjectPath, ChosenBy)> {
        let turns = self.lanes().filter_map(|(_, lane, _)| lane.attempt.turn.as_ref());
        let mut open = turns.filter_map(|turn| Some((turn.open_call()?, turn)));
        let open = open.find(|(call, _)| call.id == id);
        open.map_or_else(Vec::new, |(call, turn)| self.memory.pins.list(call, &turn.agent))
    }

    /// Why a file was found relevant; empty when nothing said so.
    pub fn reason(&self, path: &ProjectPath) -> String {
        self.memory.pins.reason(path)
    }

    /// The phase that runs.
    pub fn phase(&self) -> Option<&Phase> {
        self.lanes().next().map(|(.., phase)| phase)
    }

    /// The open chats with their phase, in the order of their steps.
    pub fn lanes(&self) -> impl Iterator<Item = (LaneId, &Lane, &Phase)> {
        let lanes = self.stage.lanes();
        let phase = lanes.and_then(|lanes| Some((lanes, self.team.phases.get(lanes.phase)?)));
        phase
            .into_iter()
            .flat_map(|(lanes, phase)| lanes.open().map(move |(id, lane)| (id, lane, phase)))
    }

    /// An open chat with its phase.
    pub fn lane(&self, id: LaneId) -> Option<(&Lane, &Phase)> {
        self.lanes().find(|(known, ..)| *known == id).map(|(_, lane, phase)| (lane, phase))
    }

    /// The chat in which that turn is open.
    pub fn lane_of_turn(&self, turn: TurnId) -> Option<LaneId> {
        self.at(|lanes| lanes.of_turn(turn))
    }

    /// How to get the model again that was chosen last; `None`: as the session began.
    pub fn provider(&self) -> Option<&str> {
        self.memory.model.provider.as_deref()
    }

    /// The model that answered last.
    pub fn model(&self) -> Option<&String> {
        self.memory.model.name.as_ref()
    }

    pub fn budget_meter(&self) -> &BudgetMeter {
        &self.budget_meter
    }

    pub fn has_plan(&self) -> bool {
        !self.memory.plan.is_empty()
    }

    pub fn ended(&self) -> Option<&SessionOutcome> {
        self.ended.as_ref()
    }

    pub fn is_paused(&self) -> bool {
        self.hold.is_paused
    }

    pub fn is_stopping(&self) -> bool {
        self.hold.is_stopping
    }

    /// The question that waits, the answers offered, and who gets a free one.
    pub fn question(&self) -> Option<(QuestionId, Vec<String>, Words)> {
        let open = self.hold.question.as_ref()?;
        let concern = match open.asker {
            Asker::Run => self.concern.as_ref(),
            Asker::Chat(id) => self.lane(id).and_then(|(lane, _)| lane.concern.as_ref()),
            Asker::Agent(_) => None,
        };
        let options = concern.map(|concern| concern.question().1);
        Some((open.id, options.unwrap_or_default(), open.words))
    }

    /// Adds to the time that models and tools have worked in a chat, or in all of them, which may use
    /// up the session's budget.
    pub fn worked(&mut self, id: Option<LaneId>, millis: u64) {
        self.budget_meter.worked(id, millis);
        let mut has_concern = self.concern.is_some();
        if let RunStage::At(lanes) = &mut self.stage {
            let is_it = |known: LaneId| id.is_none_or(|id| id == known);
            for (_, lane) in lanes.open_mut().filter(|(known, _)| is_it(*known)) {
                lane.attempt.facts.worked += millis;
                has_concern |= lane.concern.is_some();
            }
        }
        if !has_concern {
            self.concern = self.budget_meter.session_reached().map(Concern::Spent);
        }
    }

    /// Folds one event in.
    #[expect(clippy::too_many_lines, reason = "one arm for each event")]
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Session(SessionEvent::Started(start)) => {
                (self.numbers.run, self.memory.team.session) = (1, start.id.to_string());
                self.task.clone_from(&start.task);
                self.memory.model.set_profile(&start.parts.provider);
                let task = &start.task;
                self.memory.board.post(ArtifactKind::Task, task, None, task.clone());
            }
            Event::Session(SessionEvent::RunStarted(start)) => self.start_run(start),
            // A person who goes on after all means it, whatever held the run before.
            Event::Session(SessionEvent::Resumed { .. }) => self.hold = Hold::default(),
            Event::Session(SessionEvent::Ended { outcome }) => self.ended = Some(outcome.clone()),
            Event::Files(FilesEvent::Listed { files, signatures, .. }) => {
                self.memory.listed.files.clone_from(files);
                self.memory.listed.signatures.clone_from(signatures);
            }
            Event::Phase(PhaseEvent::Started { phase, attempt, step, .. }) => {
                let step = step.and_then(|step| usize::try_from(step).ok()?.checked_sub(1));
                self.start_phase(phase, *attempt, step)
            }
            Event::Phase(PhaseEvent::Ended { outcome, step, .. }) => {
                if let Some(id) = self.at(|lanes| lanes.of_step(*step)) {
                    self.end_phase(id, outcome);
                }
            }
            Event::Turn(TurnEvent::SpeakerChosen { agent, step, .. }) => {
                let id = self.at(|lanes| lanes.of_step(*step));
                self.in_lane(id, |lane, phase| {
                    // A run that went on without asking has no plan that waits.
                    lane.concern.take_if(|concern| matches!(concern, Concern::Plan(..)));
                    lane.attempt.chosen(agent, phase);
                });
            }
            Event::Turn(TurnEvent::PolicyTaken(table)) => self.memory.team.take(table),
            Event::Turn(TurnEvent::Started { turn, agent, step }) => {
                self.numbers.turn = *turn;
                let Some(id) = self.at(|lanes| lanes.of_step(*step)) else { return };
                let spent = self.budget_meter.turn_begun(id);
                self.over_spent(Some(id), spent);
                self.in_lane(Some(id), |lane, phase| lane.attempt.begun(*turn, agent, phase));
            }
            Event::Turn(TurnEvent::TextAdded { turn, text }) => {
                self.in_turn(*turn, |lane, _| lane.attempt.added(text));
            }
            Event::Turn(TurnEvent::ToolCalled { turn, call, tool, args }) => {
                self.numbers.call = *call;
                self.in_turn(*turn, |lane, _| lane.attempt.called(*call, tool, args));
            }
            Event::Turn(TurnEvent::ModelAnswered { turn, usage, state }) => {
                self.model_answered(*turn, *usage, state);
            }
            Event::Model(event) => self.model_event(event),
            Event::Turn(TurnEvent::ToolAnswered { call, result, millis }) => {
                self.tool_answered(*call, result, *millis);
            }
            Event::Turn(TurnEvent::Ended { turn, stop }) => self.end_turn(*turn, stop),
            Event::Team(fact) => self.learned(fact),
            Event::Person(PersonEvent::Wrote { to, text }) => {
                self.guard.begin_anew();
                self.memory.person_messages.push((to.clone(), text.clone()));
                self.memory.board.post(ArtifactKind::Feedback, text, None, text.clone());
                self.in_all(|lane, _| {
                    lane.guard.begin_anew();
                    lane.attempt.add_person_message(to.clone(), text.clone());
                });
            }
            Event::Person(PersonEvent::Asked { question, agent, step, .. }) => {
                self.asked(*question, agent.as_ref(), *step)
            }
            Event::Person(PersonEvent::Answered { question, answer }) => {
                self.person_answered(*question, answer)
            }
            Event::Person(PersonEvent::SpeakerNamed { agent }) => {
                self.in_all(|lane, _| lane.attempt.speaker_named(agent))
            }
            Event::Person(PersonEvent::Paused) => self.hold.is_paused = true,
            Event::Person(PersonEvent::Unpaused) => self.hold.is_paused = false,
            Event::Person(PersonEvent::StopRequested) => self.hold.is_stopping = true,
            Event::Proposal(fact) => self.happened_meanwhile(event, fact),
            Event::Session(SessionEvent::Sandboxed { .. })
            | Event::Files(_)
            | Event::Build(_)
            | Event::Test(_)
            | Event::Log(_)
            | Event::Board(_)
            | Event::Port(_)
            | Event::Person(_) => {}
        }
    }

    /// Begins the next run of the session: numbers, budget and what is known of the project go on.
    fn start_run(&mut self, start: &RunStart) {
        if let Some(team) = self.memory.team.next.take().filter(|team| team.name == start.team) {
            self.team = team;
        }
        let before = std::mem::replace(&mut self.task, start.task.clone());
        self.memory.start_run((&before, self.ended.take().as_ref()), start);
        self.numbers.run = start.number;
        self.stage = RunStage::At(Lanes::before(0, vec![DueAttempt::first(None)]));
        self.hold = Hold::default();
        self.guard = Guard::default();
        (self.budget_meter.turns, self.budget_meter.phase) = Default::default();
        // What was allowed before may be used up already.
        self.concern = self.budget_meter.session_reached().map(Concern::Spent);
    }

    /// Follows what happens beside the run.
    fn happened_meanwhile(&mut self, event: &Event, fact: &ProposalEvent) {
        if let ProposalEvent::InquiryEnded { inquiry, usage, .. } = fact {
            let turn = self.memory.side_work.turn_of(*inquiry);
            // Older records do not name the turn.
            let id = match turn {
                Some(turn) => self.lane_of_turn(turn),
                None => self.lanes().next().map(|(id, ..)| id),
            };
            self.in_lane(id, |lane, _| lane.attempt.facts.tokens += usage.total());
        }
        if let Some(Hearsay { to, turn, words }) = self.memory.side_work.apply(event) {
            let hear = |lane: &mut Lane, _: &Phase| {
                lane.attempt.add_person_message(to.clone(), words.clone())
            };
            match turn {
                Some(turn) => self.in_turn(turn, hear),
                None => self.in_all(hear),
            }
        }
    }

    fn asked(&mut self, id: QuestionId, agent: Option<&AgentName>, step: Option<u32>) {
        self.numbers.question = id;
        let lane = self.at(|lanes| lanes.of_step(step));
        let asker = Asker::of(lane, agent, self.concern.as_ref());
        let of_chat = || lane.and_then(|id| self.lane(id)?.0.concern.as_ref());
        let words = Words::of(agent, self.concern.as_ref().or_else(of_chat));
        self.hold.question = Some(OpenQuestion { id, asker, words });
    }

    /// Asks the person because the session has used what it may, whatever else there is to ask.
    fn over_spent(&mut self, id: Option<LaneId>, spent: Option<String>) {
        let Some(what) = spent else { return };
        self.concern = Some(Concern::Spent(what));
        self.in_lane(id, |lane, _| lane.concern = None);
    }

    fn model_answered(&mut self, turn: TurnId, usage: Usage, state: &Option<String>) {
        self.memory.model.state.clone_from(state);
        let id = self.lane_of_turn(turn);
        let spent = self.budget_meter.used(id, usage);
        self.over_spent(id, spent);
        let steps = self.memory.plan.len();
        let (Some(id), RunStage::At(lanes)) = (id, &mut self.stage) else { return };
        let Some(phase) = self.team.phases.get(lanes.phase) else { return };
        let Some(lane) = lanes.get_mut(id) else { return };
        lane.model_state.clone_from(state);
        let (concern, fault) = lane.attempt.completed(usage, &mut lane.guard, (phase, steps));
        self.memory.board.answer_ended(lane.board_chat, lane.attempt.turn.as_ref(), fault);
        if self.concern.is_none() {
            lane.worry(concern);
        }
    }

    fn model_event(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Summarised(summary) => {
                let id = self.lane_of_turn(summary.turn);
                let spent = self.budget_meter.used(id, summary.usage);
                self.over_spent(id, spent);
                self.in_lane(id, |lane, _| lane.attempt.summarised(summary));
            }
            ModelEvent::Faulted { turn, .. } => {
                self.in_turn(*turn, |lane, _| lane.attempt.taken_back())
            }
            ModelEvent::Named { model } => self.memory.model.name = Some(model.clone()),
            ModelEvent::Budgeted(budget) => {
                self.budget_meter.set(*budget);
                self.concern.take_if(|it| matches!(it, Concern::Spent(_)));
            }
            ModelEvent::Chosen { provider, .. } => {
                self.memory.model.change_to(provider);
                if let RunStage::At(lanes) = &mut self.stage {
                    lanes.forget_model();
                }
            }
            ModelEvent::Reasoned { .. } | ModelEvent::Trimmed { .. } => {}
        }
    }

    /// Takes what the team laid out for its own work.
    fn learned(&mut self, fact: &TeamEvent) {
        let is_asked = self.supervision == Supervision::Ask;
        match fact {
            TeamEvent::Attached(document) => self.memory.documents.push(document.clone()),
            TeamEvent::PlanMade { by, items } => {
                let text = plan_steps::in_words(items);
                self.memory.plan.replace(items);
                let title = format!("{} steps", items.len());
                self.memory.board.post(ArtifactKind::Plan, &title, by.as_ref(), text);
                self.in_all(|lane, phase| {
                    let concern = lane.attempt.planned(by.as_ref(), items, phase);
                    lane.worry(concern.filter(|_| is_asked));
                });
            }
            TeamEvent::ContextListed { call, files } => {
                let id = self.at(|lanes| lanes.of_call(*call));
                self.in_lane(id, |lane, _| {
                    let Some(turn) = lane.attempt.turn.as_mut() else { return };
                    if turn.open_call().is_some_and(|open| open.id == *call) {
                        turn.listing = Listing::Shown(files.clone());
                        let concern = is_asked.then(|| Concern::Context(turn.agent.clone()));
                        lane.worry(concern);
                    }
                });
            }
            TeamEvent::ContextEdited { add, remove } => {
                self.memory.pins.edit(add, remove);
                // What was listed is out of date.
                self.in_all(|lane, _| {
                    let is_open = matches!(lane.concern, Some(Concern::Context(_)));
                    if let Some(turn) = lane.attempt.turn.as_mut().filter(|_| is_open) {
                        turn.listing = Listing::None;
                    }
                });
            }
            TeamEvent::PassageMarked(_) => {}
            TeamEvent::ArtifactPosted(artifact) => self.memory.board.recorded(artifact),
        }
    }

    /// Ends an open turn, and keeps its answer.
    fn end_turn(&mut self, turn: TurnId, stop: &TurnStop) {
        let RunStage::At(lanes) = &mut self.stage else { return };
        let Some(phase) = self.team.phases.get(lanes.phase) else { return };
        let Some(lane) = lanes.of_turn(turn).and_then(|id| lanes.get_mut(id)) else { return };
        let turn = lane.attempt.turn.as_ref();
        self.memory.board.turn_ended(lane.board_chat, turn, stop, phase);
        let concern = lane.attempt.ended(stop, &mut lane.guard, phase);
        if self.concern.is_none() {
            lane.worry(concern);
        }
    }

    /// Looks something up in the phase that runs.
    fn at<T>(&self, look: impl FnOnce(&Lanes) -> Option<T>) -> Option<T> {
        let RunStage::At(lanes) = &self.stage else { return None };
        look(lanes)
    }

    fn in_lane(&mut self, id: Option<LaneId>, change: impl FnOnce(&mut Lane, &Phase)) {
        let RunStage::At(lanes) = &mut self.stage else { return };
        let Some(phase) = self.team.phases.get(lanes.phase) else { return };
        if let Some(lane) = id.and_then(|id| lanes.get_mut(id)) {
            change(lane, phase);
        }
    }

    fn in_turn(&mut self, turn: TurnId, change: impl FnOnce(&mut Lane, &Phase)) {
        let id = self.lane_of_turn(turn);
        self.in_lane(id, change);
    }

    fn in_all(&mut self, mut change: impl FnMut(&mut Lane, &Phase)) {
        let RunStage::At(lanes) = &mut self.stage else { return };
        let Some(phase) = self.team.phases.get(lanes.phase) else { return };
        lanes.open_mut().for_each(|(_, lane)| change(lane, phase));
    }

    fn start_phase(&mut self, name: &str, number: u32, step: Option<usize>) {
        let place = self.team.phases.iter().position(|phase| phase.name == name);
        let Some((place, phase)) = place.and_then(|at| Some((at, self.team.phases.get(at)?)))
        else {
            return;
        };
        self.attempt_limit.begin(number);
        // The steps of a plan share what their phase may use.
        if number == 1 && step.is_none_or(|step| step == 0) {
            self.budget_meter.phase = Spent::default();
        }
        if !matches!(&self.stage, RunStage::At(lanes) if lanes.phase == place) {
            self.stage = RunStage::At(Lanes::before(place, Vec::new()));
        }
        let RunStage::At(lanes) = &mut self.stage else { return };
        let due = lanes.take_due(number, step);
        let mut lane = Lane { attempt: Attempt::new(place, number, step), ..Lane::default() };
        lane.guard.clone_from(&self.guard);
        lane.guard.begin_anew();
        let now = self.memory.model.state.as_ref();
        lane.model_state = match (phase.steps.parallel, due.model_state) {
            (1, _) => now.cloned(),
            (_, Some(own)) => own,
            (_, None) => lanes.begin_with(now),
        };
        let others = lanes.open().filter_map(|(_, lane)| lane.attempt.step).collect();
        let (attempt, parts) = (&mut lane.attempt, &phase.context);
        lane.board_chat =
            self.memory.open_chat(&self.task, parts, (step, &others), &mut attempt.chat);
        let subject = step.and_then(|step| self.memory.plan.task(step)).unwrap_or(&self.task);
        attempt.is_about(subject.to_owned());
        self.memory.team.teach(attempt, phase, (self.numbers.run, &self.task));
        let failed = due.failed.filter(|_| number > 1);
        if let Some(why) = failed.filter(|_| phase.goal.is_of_plan()) {
            attempt.chat.tell(None, format!("The attempt before this one failed: {why}."));
        }
        lanes.insert(LaneId::of_step(step), lane);
    }

    fn end_phase(&mut self, id: LaneId, outcome: &PhaseOutcome) {
        let RunStage::At(lanes) = &mut self.stage else { return };
        let (place, mut lanes) = (lanes.phase, std::mem::take(lanes));
        let Some((lane, phase)) = lanes.close(id).zip(self.team.phases.get(place)) else { return };
        let Lane { attempt, guard, model_state, board_chat, .. } = lane;
        let (number, step) = (attempt.number, attempt.step);
        let (most, title) = (self.attempt_limit.of_phase(phase), phase.title.clone());
        let words = attempt.chat.last_words().to_owned();
        let is_used_up = self.budget_meter.phase_reached().is_some();
        self.guard = guard;
        self.memory.board.end_chat(board_chat);
        let ended = EndedAttempt { number, step, most, model_state };
        let next = match outcome {
            PhaseOutcome::Stopped => ended.stopped(lanes),
            PhaseOutcome::Failed(why) if is_used_up => ended.used_up(&mut self.memory, lanes, why),
            PhaseOutcome::Failed(why) => ended.failed(&self.team, &mut self.memory, lanes, why),
            PhaseOutcome::Succeeded(_) => {
                AfterAttempt::At(stage::after_success(&self.team, &mut self.memory, step, lanes))
            }
        };
        self.stage = match next {
            AfterAttempt::At(stage) => stage,
            AfterAttempt::GivenUp(why, lanes) if self.attempt_limit.asks() => {
                self.concern = Some(Concern::AttemptsUsedUp(title, number, why));
                RunStage::At(lanes)
            }
            AfterAttempt::GivenUp(why, _) => {
                RunStage::Over(SessionOutcome::Failed(failure(&title, number, &why)))
            }
        };
        stage::leave_teams(&self.team, &mut self.memory, &self.stage, (place, outcome, &words));
    }

    fn tool_answered(&mut self, call: CallId, result: &Value, millis: u64) {
        let RunStage::At(lanes) = &mut self.stage else { return };
        let Some(phase) = self.team.phases.get(lanes.phase) else { return };
        let Some(lane) = lanes.of_call(call).and_then(|id| lanes.get_mut(id)) else { return };
        lane.concern.take_if(|concern| matches!(concern, Concern::Context(_)));
        let answered = lane.attempt.answered(call, (result, millis), &mut lane.guard, phase);
        let Some((call, agent, mut concern)) = answered else { return };
        let tool = &call.tool;
        self.memory.board.answered((lane.board_chat, &agent), (tool, &call.args), result);
        self.memory.pins.learn(tool, result);
        let code = result.pointer("/error/code").and_then(Value::as_str).unwrap_or_default();
        let was_made = !WRONG_CALLS.contains(&code) && !["stopped", OUT_OF_TIME].contains(&code);
        if ["build_project", "build_arduino"].contains(&tool.as_str()) && was_made {
            match chat::errors_of(result) {
                None => {
                    lane.guard.passed();
                    self.memory.errors = None;
                }
                Some(errors) => {
                    let is_same = lane.guard.repeats_failure(&json!(errors));
                    concern = concern.or(is_same.then_some(Concern::SameBuild));
                    self.memory.errors = Some(errors);
                }
            }
        }
        if self.concern.is_none() {
            lane.worry(concern);
        }
    }

    fn person_answered(&mut self, question: QuestionId, answer: &str) {
        let Some(open) = self.hold.question.take_if(|asked| asked.id == question) else { return };
        let (mut id, mut concern) = (None, None);
        match open.asker {
            Asker::Run => concern = self.concern.take(),
            Asker::Chat(lane) => id = Some(lane),
            Asker::Agent(lane) => {
                return self.in_lane(Some(lane), |lane, _| lane.attempt.replied(answer));
            }
        }
        self.in_lane(id, |lane, _| concern = lane.concern.take());
        let Some(concern) = concern else { return };
        if !concern.takes(answer) {
            return self.concern = Some(concern);
        }
        self.hold.is_stopping |= answer == STOP;
        let is_taken = concern.question().1.first().is_some_and(|go_on| go_on == answer);
        if matches!(concern, Concern::Spent(_)) && is_taken {
            self.budget_meter.raise();
        }
        if self.attempt_limit.answered((&concern, answer), &mut self.stage, &self.team) {
            self.budget_meter.phase = Spent::default();
        }
        self.in_lane(id, |lane, _| match concern.waits_for() {
            Waiting::Plan => lane.attempt.plan_judged(is_taken),
            Waiting::Context if !is_taken => lane.attempt.refuse_listing(answer),
            Waiting::Context | Waiting::Nothing => {}
        });
    }
}
