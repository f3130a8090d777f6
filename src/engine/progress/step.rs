//! What comes next in a run, and what holds it.

use serde_json::Value;

use crate::engine::attempt::Attempt;
use crate::engine::concern::{Concern, not_run};
use crate::engine::team::Phase;
use crate::model::{
    CallId, Event, PersonEvent, PhaseEvent, PhaseOutcome, QuestionId, SessionEvent, SessionOutcome,
    ToolName, TurnEvent, TurnId, TurnStop,
};

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) enum RunStep {
    /// Nothing, until the person answers or lets the run go on.
    Wait,
    /// This happens, and is to be recorded.
    Record(Event),
    /// The model of the open turn is asked.
    AskModel,
    /// A call of the open turn is made.
    RunCall(CallId),
    /// The files a call is about to bring into the chat are to be listed.
    ListContext(CallId),
    /// An attempt is over for this reason; whether it succeeded is to be found out.
    Judge(String),
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
    pub question: Option<QuestionId>,
    /// Who gets the answer to it.
    pub words: Words,
}

/// What becomes of a free answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::engine) enum Words {
    /// The whole team hears it.
    #[default]
    ToTeam,
    /// It is the answer to the call of an agent.
    ToCall,
}

/// The person is asked.
pub(in crate::engine) fn of_concern(concern: &Concern, question: QuestionId) -> RunStep {
    let (text, options) = concern.question();
    let agent = None;
    RunStep::Record(Event::Person(PersonEvent::Asked { question, agent, text, options }))
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
pub(in crate::engine) fn of_stop(running: Option<(&Attempt, &Phase)>) -> Event {
    let Some((attempt, phase)) = running else {
        return Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Stopped });
    };
    match &attempt.turn {
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
            attempt: attempt.number,
            outcome: PhaseOutcome::Stopped,
        }),
    }
}
