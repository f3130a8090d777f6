//! Tells what of an entry has changed without comparing all of it.

use crate::view::{CallView, Entry, Part, PlannedFile};

use super::row::Place;

/// Of an entry: another one when its rows are others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    kind: std::mem::Discriminant<Entry>,
    parts: usize,
    bytes: usize,
    done: usize,
    unfolded: usize,
    settled: bool,
    tokens: u64,
}

/// Of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallStamp {
    is_done: bool,
    is_unfolded: bool,
}

impl CallStamp {
    pub fn of(view: &CallView, place: &Place<'_>) -> Self {
        Self { is_done: view.state.succeeded().is_some(), is_unfolded: place.shows_all(view.call) }
    }
}

impl Stamp {
    pub fn of(entry: &Entry, place: &Place<'_>) -> Self {
        let mut stamp = Self {
            kind: std::mem::discriminant(entry),
            parts: 0,
            bytes: 0,
            done: 0,
            unfolded: place.own().count(),
            settled: false,
            tokens: 0,
        };
        match entry {
            Entry::Turn(turn) => {
                stamp.parts = turn.parts.len();
                stamp.settled = turn.ended.is_some();
                stamp.tokens = turn.usage.total();
                for part in &turn.parts {
                    match part {
                        Part::Text(text) | Part::Reasoning(text) => stamp.bytes += text.len(),
                        Part::Retry(_) | Part::Trimmed(_) => {}
                        Part::Call(call) => {
                            stamp.done += usize::from(call.state.succeeded().is_some());
                        }
                    }
                }
            }
            Entry::Question { answer, .. } => stamp.settled = answer.is_some(),
            Entry::FilePlan(plan) => {
                let weigh =
                    |(place, file): (usize, &PlannedFile)| (place + 1) * (file.state as usize);
                stamp.done = plan.files.iter().enumerate().map(weigh).sum();
            }
            Entry::PhaseStarted { .. }
            | Entry::PhaseEnded { .. }
            | Entry::Choice { .. }
            | Entry::Person { .. }
            | Entry::Fact { .. }
            | Entry::Notice { .. }
            | Entry::Ruled(_)
            | Entry::Resumed { .. }
            | Entry::Ended { .. } => {}
        }
        stamp
    }
}
