//! What was said and done, in order: phases, choices of speaker, turns with text and tool calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::model::{
    AgentName, CallId, Event, PhaseOutcome, QuestionId, Record, SessionOutcome, Timestamp,
    ToolName, TurnId, TurnStop, Usage, UserError, event::Level,
};

/// The conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chat {
    /// Oldest first.
    pub entries: Vec<Arc<Entry>>,
    /// Turns that have not ended, by their place in `entries`.
    open_turns: BTreeMap<TurnId, usize>,
    /// Calls without an answer: place of the turn, place of the part in it.
    open_calls: BTreeMap<CallId, (usize, usize)>,
}

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A phase or attempt began.
    PhaseStarted {
        /// Name for people.
        title: String,
        /// From 1.
        attempt: u32,
        /// How many there may be.
        max_attempts: u32,
        /// When.
        at: Timestamp,
    },
    /// It ended.
    PhaseEnded {
        /// Name of the phase.
        phase: String,
        /// From 1.
        attempt: u32,
        /// How.
        outcome: PhaseOutcome,
    },
    /// The next speaker was chosen.
    Choice {
        /// Who.
        agent: AgentName,
        /// Why.
        reason: String,
    },
    /// An agent's turn.
    Turn(TurnView),
    /// The person said something.
    Person {
        /// `None`: to everyone.
        to: Option<AgentName>,
        /// The words.
        text: String,
        /// When.
        at: Timestamp,
    },
    /// The run asked the person.
    Question {
        /// Its number.
        id: QuestionId,
        /// Who asked.
        agent: Option<AgentName>,
        /// The question.
        text: String,
        /// Answers to choose from.
        options: Vec<String>,
        /// The answer, once there is one.
        answer: Option<String>,
    },
    /// Something the person should know.
    Notice {
        /// How important.
        level: Level,
        /// What, why, how to mend.
        notice: UserError,
    },
    /// The program opened the session again.
    Resumed {
        /// When.
        at: Timestamp,
    },
    /// The run is over.
    Ended {
        /// How.
        outcome: SessionOutcome,
    },
}

/// One turn of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnView {
    /// Its number.
    pub turn: TurnId,
    /// Who speaks.
    pub agent: AgentName,
    /// When it began.
    pub at: Timestamp,
    /// Text and tool calls as they came.
    pub parts: Vec<Part>,
    /// Tokens so far.
    pub usage: Usage,
    /// Why it ended and when; `None` while it goes on.
    pub ended: Option<(TurnStop, Timestamp)>,
}

/// A piece of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Markdown as the model wrote it; only ever grows while the turn goes on.
    Text(String),
    /// A tool call.
    Call(CallView),
}

/// One tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallView {
    /// Its number.
    pub call: CallId,
    /// The tool.
    pub tool: ToolName,
    /// The arguments as given.
    pub args: Value,
    /// How far it is.
    pub state: CallState,
}

/// How far a tool call is.
#[derive(Debug, Clone, PartialEq)]
pub enum CallState {
    /// No answer yet.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// Answered.
    Done {
        /// The JSON object with `ok`.
        result: Value,
        /// How long it took.
        millis: u64,
    },
}

impl CallState {
    /// Whether the tool said `"ok": true`; `None` while it runs.
    #[must_use]
    pub fn succeeded(&self) -> Option<bool> {
        match self {
            Self::Running { .. } => None,
            Self::Done { result, .. } => {
                Some(result.get("ok").and_then(Value::as_bool).unwrap_or(false))
            }
        }
    }
}

impl Chat {
    #[expect(clippy::too_many_lines, reason = "one arm for each event")]
    pub(super) fn apply(&mut self, record: &Record) {
        let at = record.at;
        match &record.event {
            Event::PhaseStarted { title, attempt, max_attempts, .. } => {
                self.push(Entry::PhaseStarted {
                    title: title.clone(),
                    attempt: *attempt,
                    max_attempts: *max_attempts,
                    at,
                });
            }
            Event::PhaseEnded { phase, attempt, outcome } => self.push(Entry::PhaseEnded {
                phase: phase.clone(),
                attempt: *attempt,
                outcome: outcome.clone(),
            }),
            Event::SpeakerChosen { agent, reason } => {
                self.push(Entry::Choice { agent: agent.clone(), reason: reason.clone() });
            }
            Event::TurnStarted { turn, agent } => self.start_turn(*turn, agent, at),
            Event::TextAdded { turn, text } => self.add_text(*turn, text),
            Event::ToolCalled { turn, call, tool, args } => {
                let state = CallState::Running { since: at };
                let view = CallView { call: *call, tool: tool.clone(), args: args.clone(), state };
                self.add_call(*turn, view);
            }
            Event::ToolAnswered { call, result, millis } => {
                self.answer_call(
                    *call,
                    CallState::Done { result: result.clone(), millis: *millis },
                );
            }
            Event::ModelAnswered { turn, usage, .. } => {
                self.with_turn(*turn, |view| view.usage += *usage);
            }
            Event::TurnEnded { turn, stop } => {
                self.with_turn(*turn, |view| view.ended = Some((stop.clone(), at)));
                self.open_turns.remove(turn);
            }
            Event::PersonSaid { to, text } => {
                self.push(Entry::Person { to: to.clone(), text: text.clone(), at });
            }
            Event::Asked { question, agent, text, options } => self.push(Entry::Question {
                id: *question,
                agent: agent.clone(),
                text: text.clone(),
                options: options.clone(),
                answer: None,
            }),
            Event::Answered { question, answer } => self.answer_question(*question, answer),
            Event::Noticed { level, notice } => {
                self.push(Entry::Notice { level: *level, notice: notice.clone() });
            }
            Event::SessionResumed { .. } => self.push(Entry::Resumed { at }),
            Event::SessionEnded { outcome } => self.push(Entry::Ended { outcome: outcome.clone() }),
            Event::SessionStarted(_)
            | Event::ProjectListed { .. }
            | Event::Proposed(_)
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
            | Event::Paused
            | Event::Unpaused
            | Event::StopRequested => {}
        }
    }

    fn push(&mut self, entry: Entry) {
        self.entries.push(Arc::new(entry));
    }

    fn start_turn(&mut self, turn: TurnId, agent: &AgentName, at: Timestamp) {
        self.open_turns.insert(turn, self.entries.len());
        self.push(Entry::Turn(TurnView {
            turn,
            agent: agent.clone(),
            at,
            parts: Vec::new(),
            usage: Usage::default(),
            ended: None,
        }));
    }

    fn with_turn<R>(&mut self, turn: TurnId, change: impl FnOnce(&mut TurnView) -> R) -> Option<R> {
        let place = *self.open_turns.get(&turn)?;
        self.turn_at(place).map(change)
    }

    fn turn_at(&mut self, place: usize) -> Option<&mut TurnView> {
        match Arc::make_mut(self.entries.get_mut(place)?) {
            Entry::Turn(view) => Some(view),
            Entry::PhaseStarted { .. }
            | Entry::PhaseEnded { .. }
            | Entry::Choice { .. }
            | Entry::Person { .. }
            | Entry::Question { .. }
            | Entry::Notice { .. }
            | Entry::Resumed { .. }
            | Entry::Ended { .. } => None,
        }
    }

    fn add_text(&mut self, turn: TurnId, text: &str) {
        self.with_turn(turn, |view| match view.parts.last_mut() {
            Some(Part::Text(so_far)) => so_far.push_str(text),
            Some(Part::Call(_)) | None => view.parts.push(Part::Text(text.to_owned())),
        });
    }

    fn add_call(&mut self, turn: TurnId, call: CallView) {
        let id = call.call;
        let part = self.with_turn(turn, |view| {
            view.parts.push(Part::Call(call));
            view.parts.len() - 1
        });
        if let (Some(part), Some(place)) = (part, self.open_turns.get(&turn)) {
            self.open_calls.insert(id, (*place, part));
        }
    }

    fn answer_call(&mut self, call: CallId, state: CallState) {
        let Some((place, part)) = self.open_calls.remove(&call) else { return };
        let Some(view) = self.turn_at(place) else { return };
        if let Some(Part::Call(view)) = view.parts.get_mut(part) {
            view.state = state;
        }
    }

    fn answer_question(&mut self, question: QuestionId, given: &str) {
        let asked = |entry: &&mut Arc<Entry>| matches!(&***entry, Entry::Question { id, .. } if *id == question);
        if let Some(entry) = self.entries.iter_mut().rev().find(asked)
            && let Entry::Question { answer, .. } = Arc::make_mut(entry)
        {
            *answer = Some(given.to_owned());
        }
    }
}
