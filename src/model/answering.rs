//! Facts about the models that answer: what they thought, how their services failed, what they
//! were not given, and what may be spent on them.
//!
//! Part of the journal's format like the events around them; see [`Event`](super::Event).

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::error::UserError;
use super::ids::TurnId;
use super::message::Usage;

/// A fact about a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelEvent {
    /// It thought aloud before or between its words; never part of the chat.
    Reasoned {
        turn: TurnId,
        /// What to append.
        text: String,
    },
    /// Its service failed. What this model call had said so far counts for nothing: it is made
    /// again after a pause.
    Faulted {
        turn: TurnId,
        /// The try that comes next, from 2.
        attempt: u32,
        /// How many tries there may be.
        most: u32,
        /// The pause before it.
        wait_millis: u64,
        /// What went wrong.
        fault: UserError,
    },
    /// The conversation was too long for it, and this was left out.
    Trimmed {
        turn: TurnId,
        /// What was left out, oldest first.
        left_out: Vec<LeftOut>,
        /// Tokens of what it was given.
        tokens: u64,
        /// Tokens it can take.
        window: u64,
    },
    /// The oldest part of the conversation was to be replaced by a summary.
    Summarised(Box<ChatSummary>),
    /// The model that answers, as its service names it; recorded when it changes.
    Named { model: String },
    /// From here on this model answers for the team.
    Chosen {
        /// How to get it again, as in [`SessionParts`](super::event::SessionParts).
        provider: String,
        /// What the screen calls it.
        label: String,
    },
    /// From here on the session may use this much.
    Budgeted(Budget),
}

/// A piece of the conversation that a model was not given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// What it is, for people.
    pub what: String,
    /// Its length in tokens.
    pub tokens: u64,
}

/// What a model made of the oldest part of a conversation, or why it could not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatSummary {
    /// The turn that needed the room.
    pub turn: TurnId,
    /// What the summary replaces from here on, oldest first.
    pub replaces: Vec<SummarisedTurn>,
    /// Tokens of what it replaces.
    pub tokens: u64,
    pub text: String,
    /// What it cost.
    pub usage: Usage,
    /// Why there is none; then nothing is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<UserError>,
}

impl ChatSummary {
    /// How many messages it replaces.
    #[must_use]
    pub fn messages(&self) -> u32 {
        self.replaces.iter().map(|piece| piece.messages).sum()
    }
}

/// The part of a turn that a summary replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummarisedTurn {
    pub turn: TurnId,
    /// So many of its oldest messages: answers of the model, and of its tools.
    pub messages: u32,
}

/// How much may be used; `None`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Tokens sent and received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Time that models and tools work, the person's thinking not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Turns of agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
}

impl Budget {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// These limits, and those of `other` for what they leave open.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.or(other.tokens),
            cost: self.cost.or(other.cost),
            seconds: self.seconds.or(other.seconds),
            turns: self.turns.or(other.turns),
        }
    }

    /// The limit that was reached, in words; `None` while there is something left.
    #[must_use]
    pub fn reached(&self, spent: &Spent) -> Option<String> {
        if let Some(most) = self.tokens.filter(|most| spent.tokens >= *most) {
            return Some(format!("{} of {most} tokens are used", spent.tokens));
        }
        if let Some(most) = self.cost.filter(|most| spent.cost >= *most) {
            let cost = spent.cost;
            let spent = if spent.is_estimated { cost.about() } else { cost.to_string() };
            return Some(format!("{spent} of {most} are spent"));
        }
        let seconds = spent.millis / 1_000;
        if let Some(most) = self.seconds.filter(|most| seconds >= *most) {
            return Some(format!("{seconds} of {most} seconds of work are over"));
        }
        // The one that is open counts, so that the last of them may end.
        let most = self.turns.filter(|most| spent.turns > *most)?;
        Some(format!("{most} of {most} turns are over"))
    }
}

/// What was used of a [`Budget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Tokens sent and received.
    pub tokens: u64,
    pub cost: Cost,
    /// Whether the money, or a part of it, is estimated.
    pub is_estimated: bool,
    /// Milliseconds that models and tools worked.
    pub millis: u64,
    /// Turns that were begun.
    pub turns: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_tells_which_limit_was_reached() {
        let (tokens, cost) = (Some(10), Some(Cost(5)));
        let budget = Budget { tokens, cost, seconds: Some(2), turns: Some(3) };
        let spent = |tokens, cost, millis| Spent {
            tokens,
            cost: Cost(cost),
            is_estimated: false,
            millis,
            turns: 3,
        };
        let begun = Spent { turns: 4, ..spent(0, 0, 0) };
        assert_eq!(budget.reached(&begun).as_deref(), Some("3 of 3 turns are over"));
        assert_eq!(budget.reached(&spent(9, 4, 1_999)), None);
        assert!(budget.reached(&spent(10, 0, 0)).is_some_and(|why| why.contains("tokens")));
        assert!(budget.reached(&spent(0, 5, 0)).is_some_and(|why| why.contains("spent")));
        assert!(budget.reached(&spent(0, 0, 2_000)).is_some_and(|why| why.contains("seconds")));
        assert_eq!(Budget::default().reached(&spent(u64::MAX, u64::MAX, u64::MAX)), None);
    }

    #[test]
    fn the_json_form_is_flat_and_readable() {
        let event = ModelEvent::Reasoned { turn: TurnId(3), text: "hm".into() };
        let json = serde_json::to_string(&super::super::Event::Model(event)).unwrap();
        assert_eq!(json, r#"{"model":{"reasoned":{"turn":3,"text":"hm"}}}"#);
    }
}
