//! The calls that a model is still writing, for those who look on.
//!
//! Nothing of them is recorded, and no run depends on them: what counts is the whole call.

use std::sync::Arc;

use tokio::sync::watch;

use crate::model::{CallId, OpenCall, ToolName, TurnId};
use crate::text::growing_json::GrowingJson;

/// Calls of one answer that are shown while they grow; later ones show once they are whole.
const MOST_CALLS: usize = 8;

/// Tells what is being written in a session.
pub(in crate::engine) type OpenCallsSender = watch::Sender<Arc<[OpenCall]>>;

/// The calls of one answer as far as they have come. Dropping it takes them away.
pub(in crate::engine) struct OpenCalls<'a> {
    published: &'a OpenCallsSender,
    turn: TurnId,
    /// The number of the first call of the answer.
    first: CallId,
    calls: Vec<GrowingCall>,
    /// Calls of the answer that are whole.
    whole: usize,
    /// Whether there is something to tell.
    has_news: bool,
}

struct GrowingCall {
    place: usize,
    tool: ToolName,
    args: GrowingJson,
}

impl<'a> OpenCalls<'a> {
    pub const fn new(published: &'a OpenCallsSender, turn: TurnId, first: CallId) -> Self {
        Self { published, turn, first, calls: Vec::new(), whole: 0, has_news: false }
    }

    /// More of a call has come.
    pub fn grow(&mut self, place: usize, tool: ToolName, args: &str) {
        if place < self.whole || place >= self.whole + MOST_CALLS {
            return;
        }
        self.has_news = true;
        if let Some(call) = self.calls.iter_mut().find(|call| call.place == place) {
            call.tool = tool;
            call.args.push(args);
            return;
        }
        let mut grown = GrowingJson::default();
        grown.push(args);
        self.calls.push(GrowingCall { place, tool, args: grown });
    }

    /// The next call is whole, and recorded.
    pub fn end_first(&mut self) {
        self.whole += 1;
        let before = self.calls.len();
        self.calls.retain(|call| call.place >= self.whole);
        if self.calls.len() < before {
            self.has_news = true;
            self.tell();
        }
    }

    /// What came counts for nothing.
    pub fn forget(&mut self) {
        if !self.calls.is_empty() {
            self.calls.clear();
            self.has_news = true;
            self.tell();
        }
    }

    /// Whether more has come than was told.
    pub const fn has_news(&self) -> bool {
        self.has_news
    }

    /// Tells what there is.
    pub fn tell(&mut self) {
        if !std::mem::take(&mut self.has_news) {
            return;
        }
        let mine = self.calls.iter().map(|call| OpenCall {
            turn: self.turn,
            call: CallId(
                self.first.0.saturating_add(u32::try_from(call.place).unwrap_or(u32::MAX)),
            ),
            tool: call.tool.clone(),
            bytes: call.args.bytes(),
            args: call.args.values(),
        });
        self.published.send_modify(|calls| {
            let others = calls.iter().filter(|call| call.turn != self.turn).cloned();
            *calls = others.chain(mine).collect();
        });
    }
}

impl Drop for OpenCalls<'_> {
    fn drop(&mut self) {
        self.forget();
    }
}
