//! The one proposal on screen: its body, where it is scrolled to, and since when it is there.
//!
//! Owns loading (long ones on a thread of their own), and what has been seen. Must not decide.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Instant;

use crate::model::{BlobSource, ContentHash, Proposal, ProposalId, UserError};
use crate::ui::guard::DEAD_TIME;

use super::review_body::{self, Body};
use super::review_layout::{Layout, Seen};

/// Contents up to this size are read at once, in bytes.
const SMALL: u64 = 64 * 1024;

/// A body, or what is there instead.
#[derive(Debug)]
enum Load {
    Reading(Receiver<Result<Body, UserError>>),
    Ready(Rc<Body>),
    Failed(UserError),
}

/// A proposal on screen.
#[derive(Debug)]
pub struct Shown {
    /// Which.
    pub id: ProposalId,
    /// What a decision is bound to.
    pub hash: ContentHash,
    load: Load,
    layout: Option<Layout>,
    seen: Seen,
    top: usize,
    height: usize,
    prepared_at: Option<Instant>,
    drawn_since: Option<Instant>,
}

impl Shown {
    /// Begins to read what `proposal` is about.
    #[must_use]
    pub fn new(proposal: &Proposal, blobs: &Arc<dyn BlobSource>) -> Self {
        let change = &proposal.change;
        let load = if review_body::size(change) <= SMALL {
            match review_body::load(change, blobs.as_ref()) {
                Ok(body) => Load::Ready(Rc::new(body)),
                Err(error) => Load::Failed(error),
            }
        } else {
            let (send, receive) = channel();
            let (change, blobs) = (change.clone(), Arc::clone(blobs));
            std::thread::spawn(move || {
                // Nobody waits any more when the person went on to another proposal.
                let _ = send.send(review_body::load(&change, blobs.as_ref()));
            });
            Load::Reading(receive)
        };
        Self {
            id: proposal.id,
            hash: change.hash(),
            load,
            layout: None,
            seen: Seen::default(),
            top: 0,
            height: 0,
            prepared_at: None,
            drawn_since: None,
        }
    }

    /// Takes over what the thread has read. Whether something new is there.
    pub fn poll(&mut self) -> bool {
        let Load::Reading(receive) = &self.load else { return false };
        self.load = match receive.try_recv() {
            Ok(Ok(body)) => Load::Ready(Rc::new(body)),
            Ok(Err(error)) => Load::Failed(error),
            Err(TryRecvError::Empty) => return false,
            Err(TryRecvError::Disconnected) => Load::Failed(UserError::new(
                "cannot show the change",
                "comparing the two versions broke off",
                "reject it, or look at the file itself",
            )),
        };
        true
    }

    /// Whether it is still being read.
    #[must_use]
    pub const fn is_reading(&self) -> bool {
        matches!(self.load, Load::Reading(_))
    }

    /// Why it cannot be shown.
    #[must_use]
    pub const fn error(&self) -> Option<&UserError> {
        match &self.load {
            Load::Failed(error) => Some(error),
            Load::Reading(_) | Load::Ready(_) => None,
        }
    }

    /// What it would do, once it is read.
    #[must_use]
    pub const fn body(&self) -> Option<&Rc<Body>> {
        match &self.load {
            Load::Ready(body) => Some(body),
            Load::Reading(_) | Load::Failed(_) => None,
        }
    }

    /// It comes back to the screen: keys that decide are dead again.
    pub const fn reappear(&mut self) {
        (self.prepared_at, self.drawn_since) = (None, None);
    }

    /// Whether it has been on screen long enough for a decision.
    #[must_use]
    pub fn is_awake(&self, now: Instant) -> bool {
        self.drawn_since.is_some_and(|since| now.saturating_duration_since(since) >= DEAD_TIME)
    }

    /// When it will have been there long enough.
    #[must_use]
    pub fn awake_at(&self, now: Instant) -> Instant {
        self.drawn_since.unwrap_or(now) + DEAD_TIME
    }

    /// How many lines that must be seen were not yet.
    #[must_use]
    pub fn unseen(&self) -> usize {
        self.body().map_or(0, |body| match &self.layout {
            Some(_) => self.seen.unseen(body),
            None => body.to_see(),
        })
    }

    /// As [`Shown::unseen`], for when what is laid out has been drawn.
    #[must_use]
    pub fn unseen_elsewhere(&self) -> usize {
        let (Some(body), Some(layout)) = (self.body(), &self.layout) else { return self.unseen() };
        let mut seen = self.seen.clone();
        seen.mark(layout, self.top, self.top + self.height);
        seen.unseen(body)
    }

    /// Lays the body out at `width` columns of text with `height` rows in sight.
    pub fn lay_out(&mut self, width: usize, height: usize, now: Instant) {
        self.height = height;
        let Some(body) = self.body().cloned() else { return };
        if !self.layout.as_ref().is_some_and(|layout| layout.fits(&body, width)) {
            let new = Layout::new(Rc::clone(&body), width);
            match self.layout.take() {
                None => {
                    self.seen = Seen::new(&new);
                    self.top = first_row(&body, &new, height);
                }
                Some(old) => {
                    // The line at the top stays there.
                    let line = old.line_at(self.top).map_or(0, |(line, _)| line);
                    self.top = new.row_of(line);
                    self.seen.relayout(&new);
                }
            }
            self.layout = Some(new);
        }
        self.top = self.top.min(self.last_top());
        self.prepared_at = Some(now);
    }

    /// The rows in sight: for each the line and which of its rows it is.
    pub fn rows(&self) -> impl Iterator<Item = (usize, usize)> {
        let rows = self.top..self.total().min(self.top + self.height);
        rows.filter_map(|row| self.layout.as_ref()?.line_at(row))
    }

    /// The first row in sight.
    #[must_use]
    pub const fn top(&self) -> usize {
        self.top
    }

    /// How many rows there are in all.
    #[must_use]
    pub fn total(&self) -> usize {
        self.layout.as_ref().map_or(0, Layout::rows)
    }

    /// The pieces in one row of a line, as laid out last.
    #[must_use]
    pub fn pieces(&self, line: usize, row: usize) -> Vec<review_body::Piece> {
        self.layout.as_ref().map_or_else(Vec::new, |layout| layout.pieces(line, row))
    }

    /// Whether what is laid out still has to be noted as seen.
    #[must_use]
    pub fn is_news(&self) -> bool {
        self.layout.is_some()
            && (self.drawn_since.is_none() || !self.seen.knows(self.top, self.top + self.height))
    }

    /// What was laid out has been on screen.
    pub fn was_shown(&mut self) {
        let Some(layout) = &self.layout else { return };
        self.seen.mark(layout, self.top, self.top + self.height);
        if self.drawn_since.is_none() {
            self.drawn_since = self.prepared_at;
        }
    }

    fn last_top(&self) -> usize {
        self.total().saturating_sub(self.height)
    }

    /// Moves by rows; negative is up.
    pub fn scroll(&mut self, rows: i64) {
        let by = isize::try_from(rows).unwrap_or(if rows < 0 { isize::MIN } else { isize::MAX });
        self.top = self.top.saturating_add_signed(by).min(self.last_top());
    }

    /// Rows in one screen, without the one that overlaps.
    #[must_use]
    pub fn page(&self) -> i64 {
        i64::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(1)
    }

    /// Goes to the next changed place, or with a negative `step` to the one before. Whether there
    /// is one.
    pub fn go_to_hunk(&mut self, step: i64) -> bool {
        let (Some(body), Some(layout)) = (self.body(), &self.layout) else { return false };
        let top = self.top;
        let mut rows = body.hunks.iter().map(|&line| layout.row_of(line));
        let found =
            if step > 0 { rows.find(|&row| row > top) } else { rows.rfind(|&row| row < top) };
        let Some(row) = found else { return false };
        self.top = row.min(self.last_top());
        self.top != top
    }

    /// Goes to the first line that must be seen and was not.
    pub fn go_to_unseen(&mut self) {
        let Some(layout) = &self.layout else { return };
        let Some(row) = self.seen.next_unseen(layout) else { return };
        // One line of context above, unless there is hardly any room.
        let row = if self.height > 3 { row.saturating_sub(1) } else { row };
        self.top = row.min(self.last_top());
    }
}

/// Where to start: with the first change in sight when the body begins with much that stays.
fn first_row(body: &Body, layout: &Layout, height: usize) -> usize {
    let first = body.lines.iter().position(review_body::BodyLine::must_be_seen).unwrap_or(0);
    let row = layout.row_of(first);
    if row < height { 0 } else { row.saturating_sub(height / 3) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::{
        AgentName, Batch, BatchId, BlobRef, CallId, Change, ProjectPath, ToolName, TurnId,
    };

    struct Contents(Vec<Vec<u8>>);

    impl BlobSource for Contents {
        fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
            let found = self.0.iter().find(|bytes| ContentHash::of(bytes) == *hash);
            found
                .map(|bytes| bytes.as_slice().into())
                .ok_or_else(|| UserError::new("no", "blob", ""))
        }
    }

    fn shown(content: &str) -> Shown {
        let bytes = content.as_bytes().to_vec();
        let content = BlobRef { hash: ContentHash::of(&bytes), bytes: bytes.len() as u64 };
        let proposal = Proposal {
            id: ProposalId(1),
            turn: TurnId(1),
            call: CallId(1),
            agent: AgentName::from("a"),
            tool: ToolName::from("t"),
            reason: String::new(),
            batch: Batch { id: BatchId(1), index: 1, of: 1 },
            change: Change::Save { path: ProjectPath::new("a.c").unwrap(), base: None, content },
            checks: Vec::new(),
            facts: crate::model::Facts::default(),
        };
        let blobs: Arc<dyn BlobSource> = Arc::new(Contents(vec![bytes]));
        Shown::new(&proposal, &blobs)
    }

    #[test]
    fn keys_wake_only_after_the_change_was_drawn_for_a_while() {
        let mut shown = shown("int a;\n");
        let start = Instant::now();
        assert!(!shown.is_awake(start + DEAD_TIME * 10));
        shown.lay_out(40, 10, start);
        assert!(!shown.is_awake(start + DEAD_TIME * 10), "laid out is not drawn");
        shown.was_shown();
        assert!(!shown.is_awake(start + DEAD_TIME / 2));
        assert!(shown.is_awake(start + DEAD_TIME));
        shown.reappear();
        assert!(!shown.is_awake(start + DEAD_TIME * 2));
    }

    #[test]
    fn going_to_the_unseen_ends_with_all_seen() {
        let text: String = (0..100).map(|n| format!("int line_{n};\n")).collect();
        let mut shown = shown(&text);
        assert_eq!(shown.unseen(), 100);
        let now = Instant::now();
        let mut rounds = 0;
        loop {
            shown.lay_out(40, 10, now);
            shown.was_shown();
            rounds += 1;
            if shown.unseen() == 0 {
                break;
            }
            shown.go_to_unseen();
        }
        assert_eq!((shown.unseen(), rounds), (0, 11));
    }

    #[test]
    fn a_large_change_is_read_aside() {
        let text = "int a_line_of_source;\n".repeat(5_000);
        let mut shown = shown(&text);
        assert!(shown.is_reading() && shown.body().is_none());
        let start = Instant::now();
        while !shown.poll() && start.elapsed() < Duration::from_secs(60) {
            std::thread::yield_now();
        }
        assert_eq!(shown.body().unwrap().added, 5_000);
    }

    #[test]
    fn a_missing_content_says_so() {
        let bytes: Arc<dyn BlobSource> = Arc::new(Contents(Vec::new()));
        let mut other = shown("x");
        let blob = BlobRef { hash: ContentHash::of(b"gone"), bytes: 4 };
        let path = ProjectPath::new("a.c").unwrap();
        let error =
            review_body::load(&Change::Delete { path, base: blob }, bytes.as_ref()).unwrap_err();
        assert_eq!(error.why, "blob");
        assert!(!other.poll());
    }
}
