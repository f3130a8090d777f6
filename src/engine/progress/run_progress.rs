//! How far a run has come: a fold of its own events, and the one place that says what comes next.
//!
//! Live and resumed runs apply the same events. Must not read a clock, wait or record anything itself.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::attempt_limit::AttemptLimit;
use super::blackboard::Blackboard;
use super::budget_meter::BudgetMeter;
use super::memory::PhaseMemory;
use super::side_work::SideWork;
use super::stage::{self, RunStage};
use super::step::{self, Hold, LastNumbers, RunStep, Words};
use crate::engine::attempt::listing::Listing;
use crate::engine::attempt::repetition::Guard;
use crate::engine::attempt::{Attempt, Move, WRONG_CALLS, chat, plan_steps};
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
    team: Arc<Team>,
    attempt_limit: AttemptLimit,
    supervision: Supervision,
    task: String,
    stage: RunStage,
    ended: Option<SessionOutcome>,
    hold: Hold,
    concern: Option<Concern>,
    numbers: LastNumbers,
    guard: Guard,
    memory: PhaseMemory,
    budget_meter: BudgetMeter,
}

impl RunProgress {
    pub fn new(team: Arc<Team>, limits: &EngineLimits) -> Self {
        Self {
            team,
            attempt_limit: AttemptLimit::of(limits),
            supervision: limits.supervision,
            task: String::new(),
            stage: RunStage::Before { phase: 0, attempt: 1, step: None },
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

    /// What was produced so far.
    pub const fn board(&self) -> &Blackboard {
        &self.memory.board
    }

    /// The files the open call is about to read, and who wants each.
    pub fn listed(&self, id: CallId) -> Vec<(ProjectPath, ChosenBy)> {
        let turn = self.running().and_then(|(attempt, _)| attempt.turn.as_ref());
        let open = turn.and_then(|turn| Some((turn.open_call()?, turn)));
        let open = open.filter(|(call, _)| call.id == id);
        open.map_or_else(Vec::new, |(call, turn)| self.memory.pins.list(call, &turn.agent))
    }

    /// Why a file was found relevant; empty when nothing said so.
    pub fn reason(&self, path: &ProjectPath) -> String {
        self.memory.pins.reason(path)
    }

    /// The attempt that runs, and its phase.
    pub fn running(&self) -> Option<(&Attempt, &Phase)> {
        match &self.stage {
            RunStage::Running(attempt) => Some((attempt, self.team.phases.get(attempt.phase)?)),
            RunStage::Before { .. } | RunStage::Over(_) => None,
        }
    }

    pub fn provider_state(&self) -> Option<String> {
        self.memory.model.state.clone()
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

    /// Why the open turn ends before its agent is done: the budget that is used up.
    pub fn cut(&self) -> Option<String> {
        let (attempt, phase) = self.running()?;
        matches!(attempt.next(phase), Move::AskModel).then(|| self.budget_meter.cut()).flatten()
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
        let options = self.concern.as_ref().map(|concern| concern.question().1);
        self.hold.question.map(|id| (id, options.unwrap_or_default(), self.hold.words))
    }

    /// Adds to the time that models and tools have worked, which may use up the session's budget.
    pub fn worked(&mut self, millis: u64) {
        self.budget_meter.worked(millis);
        if let RunStage::Running(attempt) = &mut self.stage {
            attempt.facts.worked += millis;
        }
        let spent = self.budget_meter.session_reached().map(Concern::Spent);
        self.concern = self.concern.take().or(spent);
    }

    /// How long the open turn may work on; `None`: as long as it takes.
    pub fn time_left(&self) -> Option<Duration> {
        let condition =
            self.running().and_then(|(attempt, phase)| phase.terminate.time_left(&attempt.facts));
        self.budget_meter.time_left().into_iter().chain(condition).min()
    }

    /// Which time is over, and how the open turn ends for it.
    pub fn time_over(&self) -> (String, TurnStop) {
        if let Some(what) = self.budget_meter.session_reached() {
            let why = format!("the budget of the session is used up: {what}");
            return (why, TurnStop::Interrupted);
        }
        let met =
            || self.running().and_then(|(attempt, phase)| phase.terminate.met(&attempt.facts));
        if let Some(why) = self.budget_meter.phase_reached().or_else(met) {
            return (why.clone(), TurnStop::Terminated(why));
        }
        (self.budget_meter.cut().unwrap_or_else(|| "its time is over".to_owned()), TurnStop::Done)
    }

    /// What comes next.
    pub fn next(&self) -> RunStep {
        if let Some(outcome) = &self.ended {
            return RunStep::Finish(outcome.clone());
        }
        if self.hold.is_stopping {
            return RunStep::Record(step::of_stop(self.running()));
        }
        if let Some(event) = self.memory.board.due() {
            return RunStep::Record(event);
        }
        if self.hold.is_paused {
            return RunStep::Wait;
        }
        // A list that the person has changed is shown anew although a question waits.
        if let Some((attempt, phase)) = self.running()
            && let Move::ListContext(call) = attempt.next(phase)
        {
            return RunStep::ListContext(call);
        }
        if self.hold.question.is_some() {
            return RunStep::Wait;
        }
        if let Some(raised) = self.budget_meter.raised {
            return RunStep::Record(Event::Model(ModelEvent::Budgeted(raised)));
        }
        if let Some(concern) = &self.concern {
            return step::of_concern(concern, self.numbers.question.next());
        }
        match &self.stage {
            RunStage::Before { phase, attempt, step } => self.next_phase(*phase, *attempt, *step),
            RunStage::Running(attempt) => self.next_in(attempt),
            RunStage::Over(outcome) => {
                RunStep::Record(Event::Session(SessionEvent::Ended { outcome: outcome.clone() }))
            }
        }
    }

    fn next_phase(&self, phase: usize, attempt: u32, step: Option<usize>) -> RunStep {
        let Some(phase) = self.team.phases.get(phase) else {
            let outcome = SessionOutcome::Completed;
            return RunStep::Record(Event::Session(SessionEvent::Ended { outcome }));
        };
        if let Some(event) = self.memory.team.due(phase) {
            return RunStep::Record(event);
        }
        let max_attempts = self.attempt_limit.of_phase(phase);
        RunStep::Record(stage::start(phase, (attempt, max_attempts), step, &self.memory.plan))
    }

    fn next_in(&self, attempt: &Attempt) -> RunStep {
        // A running attempt always belongs to a phase of its team.
        let Some(phase) = self.team.phases.get(attempt.phase) else { return RunStep::Wait };
        let turn = attempt.turn.as_ref().map(|turn| turn.id);
        let next = match attempt.next(phase) {
            // A turn ends early between model calls only, so that every call has its answer.
            Move::AskModel if self.budget_meter.cut().is_some() => Move::EndTurn(TurnStop::Done),
            Move::Choose(..) | Move::Begin(_) if self.budget_meter.phase_reached().is_some() => {
                Move::End(self.budget_meter.phase_reached().unwrap_or_default())
            }
            next => next,
        };
        match next {
            Move::Choose(agent, reason, choice) => {
                RunStep::Record(Event::Turn(TurnEvent::SpeakerChosen { agent, reason, choice }))
            }
            Move::Begin(agent) => {
                RunStep::Record(Event::Turn(TurnEvent::Started { turn: self.next_turn(), agent }))
            }
            Move::AskModel => RunStep::AskModel,
            Move::RunCall(call) => RunStep::RunCall(call),
            Move::ListContext(call) => RunStep::ListContext(call),
            Move::Call(tool, args) => step::of_call(turn, self.next_call(), (tool, args)),
            Move::Answer(call, result) => {
                RunStep::Record(Event::Turn(TurnEvent::ToolAnswered { call, result, millis: 0 }))
            }
            Move::ShowPlan(agent, items) => {
                RunStep::Record(Event::Team(TeamEvent::PlanMade { by: Some(agent), items }))
            }
            Move::EndTurn(stop) => RunStep::Record(Event::Turn(TurnEvent::Ended {
                turn: turn.unwrap_or_default(),
                stop,
            })),
            Move::End(why) => RunStep::Judge(why),
        }
    }

    /// Folds one event in.
    #[expect(clippy::too_many_lines, reason = "one arm for each event")]
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Session(SessionEvent::Started(start)) => {
                (self.numbers.run, self.memory.team.session) = (1, start.id.to_string());
                self.task.clone_from(&start.task);
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
            Event::Phase(PhaseEvent::Ended { outcome, .. }) => self.end_phase(outcome),
            Event::Turn(TurnEvent::SpeakerChosen { agent, .. }) => {
                // A run that went on without asking has no plan that waits.
                self.concern.take_if(|concern| matches!(concern, Concern::Plan(_)));
                self.in_phase(|attempt, phase| attempt.chosen(agent, phase));
            }
            Event::Turn(TurnEvent::PolicyTaken(table)) => self.memory.team.take(table),
            Event::Turn(TurnEvent::Started { turn, agent }) => {
                let spent = self.budget_meter.turn_begun().map(Concern::Spent);
                self.concern = spent.or(self.concern.take());
                self.numbers.turn = *turn;
                self.in_phase(|attempt, phase| attempt.begun(*turn, agent, phase));
            }
            Event::Turn(TurnEvent::TextAdded { text, .. }) => {
                self.in_attempt(|attempt| attempt.added(text))
            }
            Event::Turn(TurnEvent::ToolCalled { call, tool, args, .. }) => {
                self.numbers.call = *call;
                self.in_attempt(|attempt| attempt.called(*call, tool, args));
            }
            Event::Turn(TurnEvent::ModelAnswered { usage, state, .. }) => {
                self.memory.model.state.clone_from(state);
                self.spend(*usage);
                if let RunStage::Running(attempt) = &mut self.stage
                    && let Some(phase) = self.team.phases.get(attempt.phase)
                {
                    let (concern, fault) = attempt.completed(*usage, &mut self.guard, phase);
                    self.memory.board.answer_ended(attempt.turn.as_ref(), fault);
                    self.concern = self.concern.take().or(concern);
                }
            }
            Event::Model(event) => self.model_event(event),
            Event::Turn(TurnEvent::ToolAnswered { call, result, millis }) => {
                self.concern.take_if(|concern| matches!(concern, Concern::Context(_)));
                self.tool_answered(*call, result, *millis);
            }
            Event::Turn(TurnEvent::Ended { stop, .. }) => {
                let concern = self.end_turn(stop);
                self.concern = self.concern.take().or(concern);
            }
            Event::Team(fact) => self.learned(fact),
            Event::Person(PersonEvent::Said { to, text }) => {
                self.guard.begin_anew();
                self.memory.person_messages.push((to.clone(), text.clone()));
                self.memory.board.post(ArtifactKind::Feedback, text, None, text.clone());
                self.in_attempt(|attempt| attempt.person_said(to.clone(), text.clone()));
            }
            Event::Person(PersonEvent::Asked { question, agent, .. }) => {
                self.asked(*question, agent.as_ref())
            }
            Event::Person(PersonEvent::Answered { question, answer }) => {
                self.person_answered(*question, answer)
            }
            Event::Person(PersonEvent::SpeakerNamed { agent }) => {
                self.in_attempt(|attempt| attempt.speaker_named(agent))
            }
            Event::Person(PersonEvent::Paused) => self.hold.is_paused = true,
            Event::Person(PersonEvent::Unpaused) => self.hold.is_paused = false,
            Event::Person(PersonEvent::StopRequested) => self.hold.is_stopping = true,
            Event::Proposal(_) => self.happened_beside(event),
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
        self.stage = RunStage::Before { phase: 0, attempt: 1, step: None };
        self.hold = Hold::default();
        self.guard = Guard::default();
        (self.budget_meter.turn, self.budget_meter.phase) = Default::default();
        // What was allowed before may be used up already.
        self.concern = self.budget_meter.session_reached().map(Concern::Spent);
    }

    fn happened_beside(&mut self, event: &Event) {
        if let Event::Proposal(ProposalEvent::InquiryEnded { usage, .. }) = event {
            self.in_attempt(|attempt| attempt.facts.tokens += usage.total());
        }
        if let Some((to, words)) = self.memory.side_work.apply(event) {
            self.in_attempt(|attempt| attempt.person_said(to, words));
        }
    }

    fn asked(&mut self, question: QuestionId, agent: Option<&AgentName>) {
        self.numbers.question = question;
        self.hold.question = Some(question);
        let is_call = agent.is_some() || matches!(self.concern, Some(Concern::Context(_)));
        self.hold.words = if is_call { Words::ToCall } else { Words::ToTeam };
    }

    fn spend(&mut self, usage: Usage) {
        let spent = self.budget_meter.used(usage).map(Concern::Spent);
        self.concern = spent.or(self.concern.take());
    }

    fn model_event(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Summarised(summary) => {
                self.spend(summary.usage);
                self.in_attempt(|attempt| attempt.summarised(summary));
            }
            ModelEvent::Faulted { .. } => self.in_attempt(Attempt::taken_back),
            ModelEvent::Named { model } => self.memory.model.name = Some(model.clone()),
            ModelEvent::Budgeted(budget) => self.budget_meter.set(*budget),
            ModelEvent::Chosen { provider, .. } => {
                self.memory.model.provider = Some(provider.clone());
                self.memory.model.name = None;
                self.memory.model.state = None;
            }
            ModelEvent::Reasoned { .. } | ModelEvent::Trimmed { .. } => {}
        }
    }

    /// Takes what the team laid out for its own work.
    fn learned(&mut self, fact: &TeamEvent) {
        match fact {
            TeamEvent::Attached(document) => self.memory.documents.push(document.clone()),
            TeamEvent::PlanMade { by, items } => {
                let text = plan_steps::in_words(items);
                self.memory.plan.replace(items);
                let title = format!("{} steps", items.len());
                self.memory.board.post(ArtifactKind::Plan, &title, by.as_ref(), text);
                let is_asked = self.supervision == Supervision::Ask;
                let concern = self.in_phase(|a, phase| a.planned(by.as_ref(), items, phase));
                let concern = concern.flatten().filter(|_| is_asked);
                self.concern = self.concern.take().or(concern);
            }
            TeamEvent::ContextListed { call, files } => {
                let is_asked = self.supervision == Supervision::Ask;
                let RunStage::Running(attempt) = &mut self.stage else { return };
                let Some(turn) = attempt.turn.as_mut() else { return };
                if turn.open_call().is_some_and(|open| open.id == *call) {
                    turn.listing = Listing::Shown(files.clone());
                    let concern = is_asked.then(|| Concern::Context(turn.agent.clone()));
                    self.concern = self.concern.take().or(concern);
                }
            }
            TeamEvent::ContextEdited { add, remove } => {
                self.memory.pins.edit(add, remove);
                // What was listed is out of date.
                let is_open = matches!(self.concern, Some(Concern::Context(_)));
                self.in_attempt(|attempt| {
                    if let Some(turn) = attempt.turn.as_mut().filter(|_| is_open) {
                        turn.listing = Listing::None;
                    }
                });
            }
            TeamEvent::PassageMarked(_) => {}
            TeamEvent::ArtifactPosted(artifact) => self.memory.board.recorded(artifact),
        }
    }

    /// Ends the open turn, and keeps its answer.
    fn end_turn(&mut self, stop: &TurnStop) -> Option<Concern> {
        let RunStage::Running(attempt) = &mut self.stage else { return None };
        let phase = self.team.phases.get(attempt.phase)?;
        self.memory.board.turn_ended(attempt.turn.as_ref(), stop, phase);
        attempt.ended(stop, &mut self.guard, phase)
    }

    fn in_phase<R>(&mut self, change: impl FnOnce(&mut Attempt, &Phase) -> R) -> Option<R> {
        let RunStage::Running(attempt) = &mut self.stage else { return None };
        let phase = self.team.phases.get(attempt.phase)?;
        Some(change(attempt, phase))
    }

    fn in_attempt(&mut self, change: impl FnOnce(&mut Attempt)) {
        if let RunStage::Running(attempt) = &mut self.stage {
            change(attempt);
        }
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
        self.guard.begin_anew();
        let mut attempt = Attempt::new(place, number, step);
        self.memory.open_chat(&self.task, &phase.context, step, &mut attempt.chat);
        let subject = step.and_then(|step| self.memory.plan.task(step)).unwrap_or(&self.task);
        attempt.is_about(subject.to_owned());
        self.memory.team.teach(&mut attempt, phase, (self.numbers.run, &self.task));
        let failed = self.memory.failed_attempt.take().filter(|_| number > 1);
        if let Some(why) = failed.filter(|_| phase.goal.is_of_plan()) {
            attempt.chat.tell(None, format!("The attempt before this one failed: {why}."));
        }
        self.stage = RunStage::Running(Box::new(attempt));
    }

    fn end_phase(&mut self, outcome: &PhaseOutcome) {
        let Some((attempt, phase)) = self.running() else { return };
        let (place, number, step) = (attempt.phase, attempt.number, attempt.step);
        let (most, title) = (self.attempt_limit.of_phase(phase), phase.title.clone());
        let words = attempt.chat.last_words().to_owned();
        let is_used_up = self.budget_meter.phase_reached().is_some();
        self.stage = match outcome {
            PhaseOutcome::Stopped => RunStage::Over(SessionOutcome::Stopped),
            PhaseOutcome::Failed(why) if number < most && !is_used_up => {
                self.memory.failed_attempt = Some(why.clone());
                RunStage::Before { phase: place, attempt: number + 1, step }
            }
            PhaseOutcome::Failed(why) => match step.filter(|_| !is_used_up) {
                Some(step) => {
                    self.memory.plan.failed(step, why);
                    RunStage::after_step(&self.team, &self.memory.plan, place)
                }
                None if self.attempt_limit.asks() => {
                    self.concern = Some(Concern::AttemptsUsedUp(title, number, why.clone()));
                    self.memory.failed_attempt = Some(why.clone());
                    RunStage::Before { phase: place, attempt: number + 1, step }
                }
                None => RunStage::Over(SessionOutcome::Failed(failure(&title, number, why))),
            },
            PhaseOutcome::Succeeded(_) => {
                stage::after_success(&self.team, &mut self.memory, (place, step))
            }
        };
        stage::leave_teams(&self.team, &mut self.memory, &self.stage, (place, outcome, &words));
    }

    fn tool_answered(&mut self, call: CallId, result: &Value, millis: u64) {
        let RunStage::Running(attempt) = &mut self.stage else { return };
        let Some(phase) = self.team.phases.get(attempt.phase) else { return };
        let Some((call, agent, mut concern)) =
            attempt.answered(call, (result, millis), &mut self.guard, phase)
        else {
            return;
        };
        let tool = &call.tool;
        self.memory.board.answered(&agent, tool, &call.args, result);
        self.memory.pins.learn(tool, result);
        let code = result.pointer("/error/code").and_then(Value::as_str).unwrap_or_default();
        let was_made = !WRONG_CALLS.contains(&code) && !["stopped", OUT_OF_TIME].contains(&code);
        if ["build_project", "build_arduino"].contains(&tool.as_str()) && was_made {
            match chat::errors_of(result) {
                None => {
                    self.guard.passed();
                    self.memory.errors = None;
                }
                Some(errors) => {
                    let is_same = self.guard.repeats_failure(&json!(errors));
                    concern = concern.or(is_same.then_some(Concern::SameBuild));
                    self.memory.errors = Some(errors);
                }
            }
        }
        self.concern = self.concern.take().or(concern);
    }

    fn person_answered(&mut self, question: QuestionId, answer: &str) {
        if self.hold.question.take_if(|asked| *asked == question).is_none() {
            return;
        }
        match self.concern.take() {
            Some(concern) => {
                self.hold.is_stopping |= answer == STOP;
                if matches!(concern, Concern::Spent(_)) && answer != STOP {
                    self.budget_meter.raise();
                }
                if self.attempt_limit.answered((&concern, answer), &mut self.stage, &self.team) {
                    self.budget_meter.phase = Spent::default();
                }
                let is_taken = concern.question().1.first().is_some_and(|go_on| go_on == answer);
                self.in_attempt(|attempt| match concern.waits_for() {
                    Waiting::Plan => attempt.plan_judged(is_taken),
                    Waiting::Context if !is_taken => attempt.refuse_listing(answer),
                    Waiting::Context | Waiting::Nothing => {}
                });
            }
            None => self.in_attempt(|attempt| attempt.replied(answer)),
        }
    }
}
