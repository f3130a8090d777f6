//! How far a run has come: a fold of its own events, and the one place that says what comes next.
//!
//! The live run applies each event it records, a resumed run those of the journal: both know the
//! same afterwards. Must not read a clock, wait or record anything itself.

use std::sync::Arc;

use serde_json::{Value, json};

use super::attempt::{Attempt, Move, WRONG_CALLS};
use super::chat;
use super::guard::Guard;
use super::team::{ContextPart, Phase, Team};
use crate::model::event::ProjectFile;
use crate::model::{
    AgentName, CallId, Event, ModelEvent, PhaseOutcome, QuestionId, SessionOutcome, TurnId,
    TurnStop, UserError,
};

/// Why the run cannot go on without the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Concern {
    /// An agent came up with the same files as before.
    SameFiles(AgentName),
    /// A build failed in the same way as before.
    SameBuild,
    /// An agent called tools wrongly again and again.
    WrongCalls(AgentName),
    /// What was approved could not be carried out again and again, for this cause.
    NothingDone(AgentName, String),
    /// The planner named nobody again and again.
    NobodyNamed(AgentName),
    /// The model of an agent failed.
    Failed(AgentName, UserError),
}

impl Concern {
    /// The question, and the answers to choose from; the last one always ends the run.
    #[must_use]
    pub fn question(&self) -> (String, Vec<String>) {
        let go_on = || vec!["go on".to_owned(), STOP.to_owned()];
        match self {
            Self::SameFiles(agent) => {
                (format!("{agent} wrote the same files as the time before. Go on?"), go_on())
            }
            Self::SameBuild => {
                ("The build fails just as it did before. Go on?".to_owned(), go_on())
            }
            Self::WrongCalls(agent) => {
                (format!("{agent} called its tools wrongly three times in a row. Go on?"), go_on())
            }
            Self::NothingDone(agent, why) => (
                format!("Nothing that {agent} was allowed to do could be done: {why}. Go on?"),
                go_on(),
            ),
            Self::NobodyNamed(agent) => {
                (format!("{agent} named nobody to go on, three times in a row. Go on?"), go_on())
            }
            Self::Failed(agent, error) => (
                format!("The model did not answer {agent}: {}. Try again?", error.why),
                vec!["retry".to_owned(), STOP.to_owned()],
            ),
        }
    }
}

/// The answer that ends a run.
pub(super) const STOP: &str = "stop";

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Nothing, until the person answers or lets the run go on.
    Wait,
    /// This happens, and is to be recorded.
    Record(Event),
    /// The model of the open turn is asked.
    AskModel,
    /// A call of the open turn is made.
    RunCall(CallId),
    /// An attempt is over for this reason; whether it succeeded is to be found out.
    Judge(String),
    /// The run is over.
    Finish(SessionOutcome),
}

#[derive(Debug, Clone, PartialEq)]
enum Stage {
    /// This attempt of this phase begins.
    Before {
        phase: usize,
        attempt: u32,
    },
    Running(Box<Attempt>),
    Over(SessionOutcome),
}

/// What holds a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Hold {
    is_paused: bool,
    is_stopping: bool,
    question: Option<QuestionId>,
}

/// The numbers given last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Numbers {
    turn: TurnId,
    call: CallId,
    question: QuestionId,
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Progress {
    team: Arc<Team>,
    max_attempts: Option<u32>,
    task: String,
    stage: Stage,
    ended: Option<SessionOutcome>,
    hold: Hold,
    concern: Option<Concern>,
    numbers: Numbers,
    guard: Guard,
    memory: Memory,
}

/// What outlives an attempt.
#[derive(Debug, Clone, PartialEq, Default)]
struct Memory {
    files: Vec<ProjectFile>,
    /// Errors of the last build, if it failed.
    errors: Option<String>,
    /// What the person said.
    said: Vec<(Option<AgentName>, String)>,
    /// What the provider wants back.
    state: Option<String>,
}

impl Progress {
    pub fn new(team: Arc<Team>, max_attempts: Option<u32>) -> Self {
        Self {
            team,
            max_attempts,
            task: String::new(),
            stage: Stage::Before { phase: 0, attempt: 1 },
            ended: None,
            hold: Hold::default(),
            concern: None,
            numbers: Numbers::default(),
            guard: Guard::default(),
            memory: Memory::default(),
        }
    }

    pub fn next_turn(&self) -> TurnId {
        self.numbers.turn.next()
    }

    pub fn next_call(&self) -> CallId {
        self.numbers.call.next()
    }

    /// The attempt that runs, and its phase.
    pub fn running(&self) -> Option<(&Attempt, &Phase)> {
        match &self.stage {
            Stage::Running(attempt) => Some((attempt, self.team.phases.get(attempt.phase)?)),
            Stage::Before { .. } | Stage::Over(_) => None,
        }
    }

    pub fn provider_state(&self) -> Option<String> {
        self.memory.state.clone()
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

    /// The question that waits, and the answers offered.
    pub fn question(&self) -> Option<(QuestionId, Vec<String>)> {
        let options = self.concern.as_ref().map(|concern| concern.question().1);
        self.hold.question.map(|id| (id, options.unwrap_or_default()))
    }

    /// Adds to the time that models and tools have worked.
    pub fn worked(&mut self, millis: u64) {
        if let Stage::Running(attempt) = &mut self.stage {
            attempt.facts.worked += millis;
        }
    }

    fn attempts(&self, phase: &Phase) -> u32 {
        match self.max_attempts {
            Some(max) if phase.attempts > 1 => max.max(1),
            Some(_) | None => phase.attempts,
        }
    }

    /// What comes next.
    pub fn next(&self) -> Step {
        if let Some(outcome) = &self.ended {
            return Step::Finish(outcome.clone());
        }
        if self.hold.is_stopping {
            return Step::Record(self.next_of_stop());
        }
        if self.hold.is_paused || self.hold.question.is_some() {
            return Step::Wait;
        }
        if let Some(concern) = &self.concern {
            let (text, options) = concern.question();
            let question = self.numbers.question.next();
            return Step::Record(Event::Asked { question, agent: None, text, options });
        }
        match &self.stage {
            Stage::Before { phase, attempt } => self.next_phase(*phase, *attempt),
            Stage::Running(attempt) => self.next_in(attempt),
            Stage::Over(outcome) => Step::Record(Event::SessionEnded { outcome: outcome.clone() }),
        }
    }

    fn next_phase(&self, phase: usize, attempt: u32) -> Step {
        let Some(phase) = self.team.phases.get(phase) else {
            return Step::Record(Event::SessionEnded { outcome: SessionOutcome::Completed });
        };
        Step::Record(Event::PhaseStarted {
            phase: phase.name.clone(),
            title: phase.title.clone(),
            attempt,
            max_attempts: self.attempts(phase),
        })
    }

    fn next_in(&self, attempt: &Attempt) -> Step {
        // A running attempt always belongs to a phase of its team.
        let Some(phase) = self.team.phases.get(attempt.phase) else { return Step::Wait };
        let turn = attempt.turn.as_ref().map(|turn| turn.id);
        match attempt.next(phase) {
            Move::Choose(agent, reason) => Step::Record(Event::SpeakerChosen { agent, reason }),
            Move::Begin(agent) => {
                Step::Record(Event::TurnStarted { turn: self.next_turn(), agent })
            }
            Move::AskModel => Step::AskModel,
            Move::RunCall(call) => Step::RunCall(call),
            Move::EndTurn(stop) => {
                Step::Record(Event::TurnEnded { turn: turn.unwrap_or_default(), stop })
            }
            Move::End(why) => Step::Judge(why),
        }
    }

    /// Stopping closes what is open, from the inside out.
    fn next_of_stop(&self) -> Event {
        let Some((attempt, phase)) = self.running() else {
            return Event::SessionEnded { outcome: SessionOutcome::Stopped };
        };
        match &attempt.turn {
            Some(turn) => match turn.open_call() {
                Some(call) => Event::ToolAnswered {
                    call: call.id,
                    result: not_run("stopped", "the person stopped the run"),
                    millis: 0,
                },
                None => Event::TurnEnded { turn: turn.id, stop: TurnStop::Stopped },
            },
            None => Event::PhaseEnded {
                phase: phase.name.clone(),
                attempt: attempt.number,
                outcome: PhaseOutcome::Stopped,
            },
        }
    }

    /// Folds one event in.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::SessionStarted(start) => self.task.clone_from(&start.task),
            // A person who goes on after all means it, whatever held the run before.
            Event::SessionResumed { .. } => self.hold = Hold::default(),
            Event::SessionEnded { outcome } => self.ended = Some(outcome.clone()),
            Event::ProjectListed { files, .. } => self.memory.files.clone_from(files),
            Event::PhaseStarted { phase, attempt, .. } => self.start_phase(phase, *attempt),
            Event::PhaseEnded { outcome, .. } => self.end_phase(outcome),
            Event::SpeakerChosen { agent, .. } => self.in_attempt(|a| a.chosen(agent)),
            Event::TurnStarted { turn, agent } => {
                self.numbers.turn = *turn;
                self.in_attempt(|attempt| attempt.begun(*turn, agent));
            }
            Event::TextAdded { text, .. } => self.in_attempt(|attempt| attempt.added(text)),
            Event::ToolCalled { call, tool, args, .. } => {
                self.numbers.call = *call;
                self.in_attempt(|attempt| attempt.called(*call, tool, args));
            }
            Event::ModelAnswered { usage, state, .. } => {
                self.memory.state.clone_from(state);
                if let Stage::Running(attempt) = &mut self.stage {
                    let concern = attempt.completed(*usage, &mut self.guard);
                    self.concern = self.concern.take().or(concern);
                }
            }
            Event::Model(event) => self.model_event(event),
            Event::ToolAnswered { call, result, .. } => self.tool_answered(*call, result),
            Event::TurnEnded { stop, .. } => {
                if let Stage::Running(attempt) = &mut self.stage
                    && let Some(phase) = self.team.phases.get(attempt.phase)
                {
                    let concern = attempt.ended(stop, phase);
                    self.concern = self.concern.take().or(concern);
                }
            }
            Event::PersonSaid { to, text } => {
                self.memory.said.push((to.clone(), text.clone()));
                self.in_attempt(|attempt| attempt.told(to.clone(), text.clone()));
            }
            Event::Asked { question, .. } => {
                self.numbers.question = *question;
                self.hold.question = Some(*question);
            }
            Event::Answered { question, answer } => self.person_answered(*question, answer),
            Event::Paused => self.hold.is_paused = true,
            Event::Unpaused => self.hold.is_paused = false,
            Event::StopRequested => self.hold.is_stopping = true,
            Event::Proposed(_)
            | Event::Decided { .. }
            | Event::Settled { .. }
            | Event::FlashProgress { .. }
            | Event::BuildStarted { .. }
            | Event::BuildProgress { .. }
            | Event::BuildEnded { .. }
            | Event::LogGrew { .. }
            | Event::BoardConnected(_)
            | Event::BoardLost { .. }
            | Event::SerialOpened { .. }
            | Event::SerialClosed { .. }
            | Event::Noticed { .. } => {}
        }
    }

    fn model_event(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Faulted { .. } => self.in_attempt(Attempt::taken_back),
            ModelEvent::Reasoned { .. }
            | ModelEvent::Trimmed { .. }
            | ModelEvent::Named { .. }
            | ModelEvent::Chosen { .. }
            | ModelEvent::Budgeted(_) => {}
        }
    }

    fn in_attempt(&mut self, change: impl FnOnce(&mut Attempt)) {
        if let Stage::Running(attempt) = &mut self.stage {
            change(attempt);
        }
    }

    fn start_phase(&mut self, name: &str, number: u32) {
        let place = self.team.phases.iter().position(|phase| phase.name == name);
        let Some((place, phase)) = place.and_then(|at| Some((at, self.team.phases.get(at)?)))
        else {
            return;
        };
        let mut attempt = Attempt::new(place, number);
        attempt.chat.tell(None, self.task.clone());
        for part in &phase.context {
            let text = match part {
                ContextPart::Files => chat::file_list(&self.memory.files),
                ContextPart::BuildErrors => {
                    self.memory.errors.as_ref().map(|errors| chat::build_errors(errors))
                }
            };
            if let Some(text) = text {
                attempt.chat.tell(None, text);
            }
        }
        for (to, text) in &self.memory.said {
            attempt.chat.tell(to.clone(), text.clone());
        }
        self.stage = Stage::Running(Box::new(attempt));
    }

    fn end_phase(&mut self, outcome: &PhaseOutcome) {
        let Some((attempt, phase)) = self.running() else { return };
        let (place, number, most) = (attempt.phase, attempt.number, self.attempts(phase));
        self.stage = match outcome {
            PhaseOutcome::Succeeded(_) if place + 1 < self.team.phases.len() => {
                Stage::Before { phase: place + 1, attempt: 1 }
            }
            PhaseOutcome::Succeeded(_) => Stage::Over(SessionOutcome::Completed),
            PhaseOutcome::Failed(_) if number < most => {
                Stage::Before { phase: place, attempt: number + 1 }
            }
            PhaseOutcome::Failed(why) => {
                Stage::Over(SessionOutcome::Failed(failure(&phase.title, number, why)))
            }
            PhaseOutcome::Stopped => Stage::Over(SessionOutcome::Stopped),
        };
    }

    fn tool_answered(&mut self, call: CallId, result: &Value) {
        let Stage::Running(attempt) = &mut self.stage else { return };
        let Some((tool, mut concern)) = attempt.answered(call, result, &mut self.guard) else {
            return;
        };
        let code = result.pointer("/error/code").and_then(Value::as_str).unwrap_or_default();
        let was_made = !WRONG_CALLS.contains(&code) && code != "stopped";
        if tool.as_str() == "build_project" && was_made {
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
        if self.hold.question == Some(question) {
            self.hold.question = None;
            self.concern = None;
            self.hold.is_stopping |= answer == STOP;
        }
    }
}

/// The answer to a call that was not made.
pub(super) fn not_run(code: &str, why: &str) -> Value {
    json!({ "ok": false, "error": { "code": code, "message": why } })
}

fn failure(title: &str, attempts: u32, why: &str) -> UserError {
    let after = if attempts > 1 { format!(" after {attempts} attempts") } else { String::new() };
    UserError::new(
        format!("The phase “{title}” did not reach its goal{after}"),
        why,
        "Look at its last messages and logs, then start again with a more precise task.",
    )
}
