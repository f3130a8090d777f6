//! Tells what of an entry has changed without comparing all of it.

use crate::model::OpenCall;
use crate::view::{CallView, ChatEntry, PlannedFile, TurnPart};

use super::row::RowContext;

/// Of an entry: another one when its rows are others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntryStamp {
    kind: std::mem::Discriminant<ChatEntry>,
    parts: usize,
    bytes: usize,
    done: usize,
    unfolded: usize,
    settled: bool,
    tokens: u64,
    /// Of calls that are still being written.
    open: usize,
}

/// Of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallStamp {
    is_done: bool,
    is_unfolded: bool,
}

impl CallStamp {
    pub fn of(view: &CallView, place: &RowContext<'_>) -> Self {
        Self { is_done: view.state.succeeded().is_some(), is_unfolded: place.shows_all(view.call) }
    }
}

impl EntryStamp {
    pub fn of(entry: &ChatEntry, place: &RowContext<'_>) -> Self {
        let mut stamp = Self {
            kind: std::mem::discriminant(entry),
            parts: 0,
            bytes: 0,
            done: 0,
            unfolded: place.own().count(),
            settled: false,
            tokens: 0,
            open: 0,
        };
        match entry {
            ChatEntry::Turn(turn) => {
                stamp.parts = turn.parts.len();
                stamp.settled = turn.ended.is_some();
                stamp.tokens = turn.usage.total();
                let weigh = |call: &OpenCall| 1 + call.bytes + call.tool.as_str().len();
                stamp.open = place.open_calls(turn).map(weigh).sum();
                for part in &turn.parts {
                    match part {
                        TurnPart::Text(text) | TurnPart::Reasoning(text) => {
                            stamp.bytes += text.len()
                        }
                        // The next one takes the place of the one before.
                        TurnPart::Retry(retry) => {
                            stamp.bytes += usize::try_from(retry.attempt).unwrap_or(0);
                        }
                        TurnPart::Refused(_) | TurnPart::Trimmed(_) | TurnPart::Summary(_) => {}
                        TurnPart::Call(call) => {
                            stamp.done += usize::from(call.state.succeeded().is_some());
                        }
                    }
                }
            }
            ChatEntry::Question { answer, .. } => stamp.settled = answer.is_some(),
            ChatEntry::FilePlan(plan) => {
                let weigh = |(nth, file): (usize, &PlannedFile)| nth * file.state as usize;
                stamp.done = (1..).zip(&plan.files).map(weigh).sum();
            }
            _ => {}
        }
        stamp
    }
}
