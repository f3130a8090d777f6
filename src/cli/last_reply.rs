//! What the last agent of a run said at its end, for a run without a screen: the answer to a question
//! is the result of that run.
//!
//! Owns how much of it is kept. Must not write.

use serde_json::Value;

use crate::model::{AgentName, Event, SessionEvent, TurnEvent};

/// Bytes that are kept of one reply; what is longer is cut and says so.
const MOST: usize = 64 * 1024;

/// The newest reply, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct LastReply {
    agent: Option<AgentName>,
    text: String,
    is_cut: bool,
}

impl LastReply {
    /// Takes in an event; at the end of a run or of the session, what was said last.
    pub(super) fn take(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Turn(TurnEvent::Started { agent, .. }) => {
                *self = Self { agent: Some(agent.clone()), ..Self::default() };
            }
            // Text before a call is not the answer.
            Event::Turn(TurnEvent::ToolCalled { .. }) => {
                self.text.clear();
                self.is_cut = false;
            }
            Event::Turn(TurnEvent::TextAdded { text, .. }) => {
                let space = MOST - self.text.len();
                let end = text.floor_char_boundary(space);
                self.text.push_str(&text[..end]);
                self.is_cut |= end < text.len();
            }
            Event::Session(SessionEvent::RunStarted(_) | SessionEvent::Ended { .. }) => {
                return std::mem::take(self).shown();
            }
            _ => {}
        }
        None
    }

    /// The reply below the name of its agent; `None` when nothing was said that people read.
    fn shown(self) -> Option<String> {
        let text = self.text.trim();
        let is_data = text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok();
        if text.is_empty() || is_data {
            return None;
        }
        let cut = if self.is_cut { "\n… the session has the rest" } else { "" };
        Some(format!("{}:\n{text}{cut}", self.agent?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CallId, SessionOutcome, TurnId};

    fn started(agent: &str) -> Event {
        let agent = AgentName::new(agent);
        Event::Turn(TurnEvent::Started { turn: TurnId(1), agent, step: None })
    }

    fn text(text: &str) -> Event {
        Event::Turn(TurnEvent::TextAdded { turn: TurnId(1), text: text.to_owned() })
    }

    fn at_the_end(events: &[Event]) -> Option<String> {
        let mut reply = LastReply::default();
        assert!(events.iter().all(|event| reply.take(event).is_none()));
        reply.take(&Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Completed }))
    }

    #[test]
    fn the_last_reply_is_what_was_said_after_the_last_call() {
        let (turn, call) = (TurnId(1), CallId(1));
        let tool = crate::model::ToolName::new("retrieve_docs");
        let args = serde_json::json!({});
        let called = Event::Turn(TurnEvent::ToolCalled { turn, call, tool, args });
        let events = [
            started("A"),
            text("I look it up."),
            called.clone(),
            text("Use `esp_timer` "),
            text("[1].\n"),
        ];
        assert_eq!(at_the_end(&events).as_deref(), Some("A:\nUse `esp_timer` [1]."));
        assert_eq!(at_the_end(&events[..3]), None);
        assert_eq!(at_the_end(&[events[0].clone(), text("{\"verdict\": \"approved\"}")]), None);
        let newer = [&events[..], &[started("B"), text("Done.")]].concat();
        assert_eq!(at_the_end(&newer).as_deref(), Some("B:\nDone."));
    }

    #[test]
    fn a_reply_without_an_end_is_cut() {
        let endless = vec![text(&"é".repeat(1000)); 100];
        let events = [vec![started("A")], endless].concat();
        let shown = at_the_end(&events).unwrap();
        assert!(shown.ends_with("\n… the session has the rest"));
        assert!(shown.len() < MOST + 100);
    }
}
