//! What models have answered in a session so far, told again from its journal.
//!
//! Reads records only; an answer that never came to its end is left out, as the run asks again
//! for it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{Event, ModelEvent, PhaseEvent, RecordSource, TurnEvent, TurnId, UserError};

/// One answer of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplayedAnswers {
    /// Whose words they are.
    pub agent: String,
    /// Name of the phase.
    pub phase: String,
    /// Attempt of that phase, from 1.
    pub attempt: u32,
    /// The step of the plan that it was about, from 1.
    pub step: Option<u32>,
    /// What was said.
    pub say: String,
    /// Tools that were called, each with the text of its arguments.
    pub calls: Vec<(String, String)>,
}

/// The complete answers in `records`, in order.
///
/// # Errors
/// When the records cannot be read.
pub fn retell(records: &dyn RecordSource) -> Result<Vec<ReplayedAnswers>, UserError> {
    let mut reported = Vec::new();
    // Chats of several steps of a plan may be open side by side.
    let mut phases: BTreeMap<Option<u32>, ReplayedAnswers> = BTreeMap::new();
    let mut turns: BTreeMap<TurnId, ReplayedAnswers> = BTreeMap::new();
    let mut last = None;
    records.each(&mut |record| {
        match &record.event {
            Event::Phase(PhaseEvent::Started { phase, attempt, step, .. }) => {
                let (phase, attempt, step) = (phase.clone(), *attempt, *step);
                let begun = ReplayedAnswers { phase, attempt, step, ..ReplayedAnswers::default() };
                last = Some(begun.clone());
                phases.insert(step, begun);
            }
            Event::Turn(TurnEvent::Started { turn, agent, step }) => {
                // Older records do not name the step.
                let known = step.and_then(|step| phases.get(&Some(step))).or(last.as_ref());
                let agent = agent.as_str().to_owned();
                let open = ReplayedAnswers { agent, ..known.cloned().unwrap_or_default() };
                turns.insert(*turn, open);
            }
            Event::Turn(TurnEvent::TextAdded { turn, text }) => {
                turns.entry(*turn).or_default().say.push_str(text);
            }
            Event::Turn(TurnEvent::ToolCalled { turn, tool, args, .. }) => {
                let args = match args {
                    // Arguments that were no JSON are kept as the model wrote them.
                    Value::String(text) => text.clone(),
                    args => args.to_string(),
                };
                turns.entry(*turn).or_default().calls.push((tool.to_string(), args));
            }
            Event::Model(ModelEvent::Faulted { turn, .. }) => {
                forget(turns.entry(*turn).or_default());
            }
            Event::Turn(TurnEvent::ModelAnswered { turn, .. }) => {
                let open = turns.entry(*turn).or_default();
                reported.push(open.clone());
                forget(open);
            }
            Event::Turn(TurnEvent::Ended { turn, .. }) => _ = turns.remove(turn),
            _ => {}
        }
    })?;
    Ok(reported)
}

fn forget(open: &mut ReplayedAnswers) {
    open.say.clear();
    open.calls.clear();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{CallId, Record, Seq, Timestamp, TurnId, Usage};

    #[test]
    fn only_whole_answers_are_told_again_and_none_twice() {
        let turn = TurnId(1);
        let message = |text: &str| Event::Turn(TurnEvent::TextAdded { turn, text: text.into() });
        let called = |args| {
            Event::Turn(TurnEvent::ToolCalled { turn, call: CallId(1), tool: "read".into(), args })
        };
        let answered =
            || Event::Turn(TurnEvent::ModelAnswered { turn, usage: Usage::default(), state: None });
        let fault = UserError::new("broke off", "", "");
        let events = [
            Event::Phase(PhaseEvent::Started {
                phase: "build".into(),
                title: "build".into(),
                attempt: 2,
                max_attempts: 10,
                step: None,
            }),
            Event::Turn(TurnEvent::Started { turn, agent: "Fixer".into(), step: None }),
            message("half an ans"),
            Event::Model(ModelEvent::Faulted { turn, attempt: 2, most: 6, wait_millis: 0, fault }),
            message("I "),
            message("look."),
            called(json!({ "path": "a.c" })),
            answered(),
            called(json!("{\"path\": ")),
            answered(),
            Event::Turn(TurnEvent::Started { turn, agent: "Reviewer".into(), step: None }),
            message("interrupted"),
            Event::Turn(TurnEvent::Started { turn, agent: "Reviewer".into(), step: None }),
            message("whole"),
            answered(),
        ];
        let record = |(seq, event)| Record { v: 1, seq: Seq(seq), at: Timestamp(0), event };
        let records: Vec<Record> = (1..).zip(events).map(record).collect();
        let answer = |agent: &str, say: &str, args: Option<&str>| ReplayedAnswers {
            agent: agent.into(),
            phase: "build".into(),
            attempt: 2,
            step: None,
            say: say.into(),
            calls: args.map(|args| ("read".to_owned(), args.to_owned())).into_iter().collect(),
        };
        assert_eq!(
            retell(&records).unwrap(),
            [
                answer("Fixer", "I look.", Some(r#"{"path":"a.c"}"#)),
                answer("Fixer", "", Some("{\"path\": ")),
                answer("Reviewer", "whole", None),
            ]
        );
    }
}
