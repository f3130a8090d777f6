//! What comes next in a run, and what holds it.

use serde_json::Value;

use super::lanes::{Lane, LaneId};
use crate::engine::concern::{Concern, OtherModels, not_run};
use crate::engine::team::Phase;
use crate::model::{
    AgentName, CallId, Event, PersonEvent, PhaseEvent, PhaseOutcome, QuestionId, SessionEvent,
    SessionOutcome, ToolName, TurnEvent, TurnId, TurnStop,
};

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) enum RunStep {
    /// Nothing, until the person answers or lets the run go on.
    Wait,
    /// This happens, and is to be recorded.
    Record(Event),
    /// The model of the open turn of a chat is asked.
    AskModel(LaneId),
    /// A call of the open turn of a chat is made.
    RunCall(LaneId, CallId),
    /// The files a call is about to bring into the chat are to be listed.
    ListContext(CallId),
    /// The attempt of a chat is over for this reason; whether it succeeded is to be found out.
    Judge(LaneId, String),
    /// The run is over.
    Finish(SessionOutcome),
}

/// The numbers given last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::engine) struct LastNumbers {
    pub run: u32,
    pub turn: TurnId,
    pub call: CallId,
    pub question: QuestionId,
}

/// What holds a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) struct Hold {
    pub is_paused: bool,
    pub is_stopping: bool,
    pub question: Option<OpenQuestion>,
}

/// A question that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct OpenQuestion {
    pub id: QuestionId,
    pub asker: Asker,
    /// Who gets a free answer to it.
    pub words: Words,
}

/// Where a question came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Asker {
    /// In the run as a whole.
    Run,
    /// In a chat, which cannot go on.
    Chat(LaneId),
    /// An agent asks in a chat.
    Agent(LaneId),
}

impl Asker {
    /// Where a question came up: one without an agent is about what holds the run, if something does.
    pub fn of(lane: Option<LaneId>, agent: Option<&AgentName>, of_run: Option<&Concern>) -> Self {
        match (lane, agent) {
            (Some(lane), Some(_)) => Self::Agent(lane),
            (Some(lane), None) if of_run.is_none() => Self::Chat(lane),
            _ => Self::Run,
        }
    }
}

/// What becomes of a free answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::engine) enum Words {
    /// The whole team hears it.
    #[default]
    ToTeam,
    /// It is the answer to the call of an agent.
    ToCall,
    /// None is taken: what would be allowed has to be named.
    NotTaken,
}

impl Words {
    /// What becomes of a free answer to what an agent, or what holds the run or a chat, asks.
    pub fn of(agent: Option<&AgentName>, concern: Option<&Concern>) -> Self {
        match (agent, concern) {
            (Some(_), _) | (_, Some(Concern::Context(_))) => Self::ToCall,
            (None, Some(concern)) if concern.allows_more() => Self::NotTaken,
            (None, _) => Self::ToTeam,
        }
    }
}

/// The person is asked, about the chat of a step if it is one.
pub(in crate::engine) fn of_concern(
    concern: &Concern,
    question: QuestionId,
    lane: Option<LaneId>,
    models: OtherModels,
) -> RunStep {
    let (text, (_, options)) = (concern.words(models), concern.question());
    let (agent, step) = (None, lane.and_then(LaneId::step));
    RunStep::Record(Event::Person(PersonEvent::Asked { question, agent, text, options, step }))
}

/// The program makes a call itself, in the open turn.
pub(in crate::engine) fn of_call(
    turn: Option<TurnId>,
    call: CallId,
    (tool, args): (ToolName, Value),
) -> RunStep {
    let turn = turn.unwrap_or_default();
    RunStep::Record(Event::Turn(TurnEvent::ToolCalled { turn, call, tool, args }))
}

/// Stopping closes what is open, from the inside out.
pub(in crate::engine) fn of_stop(running: Option<(LaneId, &Lane, &Phase)>) -> Event {
    let Some((id, lane, phase)) = running else {
        return Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Stopped });
    };
    match &lane.attempt.turn {
        Some(turn) => match turn.open_call() {
            Some(call) => Event::Turn(TurnEvent::ToolAnswered {
                call: call.id,
                result: not_run("stopped", "the person stopped the run"),
                millis: 0,
            }),
            None => Event::Turn(TurnEvent::Ended { turn: turn.id, stop: TurnStop::Stopped }),
        },
        None => Event::Phase(PhaseEvent::Ended {
            phase: phase.name.clone(),
            attempt: lane.attempt.number,
            outcome: PhaseOutcome::Stopped,
            step: id.step(),
        }),
    }
}
