//! The review: proposals that wait, and those that were decided.
//!
//! Owns the guards of a decision: it is about exactly what is on screen, was there for a moment,
//! and all of it was seen. Must not apply anything; it only asks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::model::{BlobSource, ContentHash, Intent, ProposalId, Verdict};
use crate::ui::action::Action;
use crate::ui::overlay::{BatchList, BatchRow, Overlay, ReasonInput};
use crate::ui::pane::{Cx, Effect, Mode, Pane};
use crate::view::{ProposalView, Review, SessionView};

use super::review_draw::{self, Parts};
use super::review_shown::Shown;

/// Proposals that stay at hand with what was seen of them.
const MAX_KEPT: usize = 64;
/// A decision that is not recorded by then did not arrive.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often to look whether a content was read.
const FRAME: Duration = Duration::from_millis(16);

/// Which proposal is on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The oldest that waits.
    Queue,
    /// One that waits, which the person turned to; when it is decided the queue goes on.
    Waiting(ProposalId),
    /// One that is decided already, which the person looks at again.
    Decided(ProposalId),
}

/// The review pane.
pub struct ReviewPane {
    blobs: Arc<dyn BlobSource>,
    choice: Choice,
    pub(super) on_screen: Option<ProposalId>,
    pub(super) kept: Vec<Shown>,
    /// Decisions that are not recorded yet.
    sent: Vec<(ProposalId, Instant)>,
    pub(super) parts: Parts,
}

/// Whether lines that were not on screen stand against an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unseen {
    Forbidden,
    Recorded,
}

impl ReviewPane {
    /// An empty review that reads contents from `blobs`.
    #[must_use]
    pub fn new(blobs: Arc<dyn BlobSource>) -> Self {
        Self {
            blobs,
            choice: Choice::Queue,
            on_screen: None,
            kept: Vec::new(),
            sent: Vec::new(),
            parts: Parts::default(),
        }
    }

    /// The proposal that a key would decide now, and the hash of what is shown of it.
    #[must_use]
    pub fn current(&self, view: &SessionView) -> Option<(ProposalId, ContentHash)> {
        let id = self.on_screen.filter(|id| view.review.waiting.contains(id))?;
        self.shown(id).filter(|_| !self.is_sent(id)).map(|shown| (id, shown.hash))
    }

    /// When it changes without a record: a content is being read, or the moment passes in which
    /// keys are dead.
    #[must_use]
    pub fn next_wake(&self, view: &SessionView, now: Instant) -> Option<Instant> {
        let shown = self.on_screen.and_then(|id| self.shown(id))?;
        if shown.is_reading() {
            return Some(now + FRAME);
        }
        let sent = self.sent.iter().map(|(_, at)| *at + PATIENCE).min();
        let waits = view.review.waiting.contains(&shown.id);
        if waits && shown.is_news() {
            // What is drawn next counts as seen only once it is noted.
            return Some(now);
        }
        let dead = (waits && !shown.is_awake(now)).then(|| shown.awake_at(now));
        [sent, dead].into_iter().flatten().min()
    }

    pub(super) fn shown(&self, id: ProposalId) -> Option<&Shown> {
        self.kept.iter().find(|shown| shown.id == id)
    }

    fn shown_mut(&mut self) -> Option<&mut Shown> {
        let id = self.on_screen?;
        self.kept.iter_mut().find(|shown| shown.id == id)
    }

    /// Whether a decision on it is on its way.
    pub(super) fn is_sent(&self, id: ProposalId) -> bool {
        self.sent.iter().any(|(sent, _)| *sent == id)
    }

    /// Chooses what is on screen, and reads it if it is new there.
    fn choose(&mut self, review: &Review, now: Instant) {
        self.sent.retain(|(id, at)| {
            review.waiting.contains(id) && now.saturating_duration_since(*at) < PATIENCE
        });
        let is_there = match self.choice {
            Choice::Queue => true,
            Choice::Waiting(id) => review.waiting.contains(&id),
            Choice::Decided(id) => review.get(id).is_some(),
        };
        if !is_there {
            self.choice = Choice::Queue;
        }
        let next = match self.choice {
            Choice::Waiting(id) | Choice::Decided(id) => Some(id),
            Choice::Queue => self
                .next_in_queue(review)
                .or(self.on_screen.filter(|id| review.waiting.contains(id)))
                .or(review.proposals.last().map(|view| view.proposal.id)),
        };
        if next != self.on_screen {
            self.on_screen = next;
            if let Some(shown) = self.shown_mut() {
                shown.reappear();
            }
        }
        if let Some(view) = next.and_then(|id| review.get(id)) {
            self.keep(view, review);
        }
    }

    fn next_in_queue(&self, review: &Review) -> Option<ProposalId> {
        review.waiting.iter().copied().find(|id| !self.is_sent(*id))
    }

    fn keep(&mut self, view: &ProposalView, review: &Review) {
        if let Some(shown) = self.kept.iter_mut().find(|shown| shown.id == view.proposal.id) {
            shown.poll();
            return;
        }
        self.kept.push(Shown::new(&view.proposal, &self.blobs));
        if self.kept.len() > MAX_KEPT {
            let on_screen = self.on_screen;
            let is_over =
                |shown: &Shown| Some(shown.id) != on_screen && !review.waiting.contains(&shown.id);
            if let Some(place) = self.kept.iter().position(is_over) {
                self.kept.remove(place);
            }
        }
    }

    /// The proposal on screen, if a decision on it can be taken; else why not.
    fn decidable(&self, cx: &Cx<'_>) -> Result<&Shown, Vec<Effect>> {
        if cx.mode == Mode::Replay {
            return Err(Effect::refuse("this is a replay; nothing can be decided"));
        }
        let Some(id) = self.on_screen else {
            return Err(Effect::refuse("nothing waits for a decision"));
        };
        if !cx.view.review.waiting.contains(&id) {
            return Err(Effect::refuse(format!("#{id} is decided already")));
        }
        if self.is_sent(id) {
            return Err(Effect::refuse(format!("the decision on #{id} is on its way")));
        }
        let Some(shown) = self.shown(id) else { return Err(Vec::new()) };
        // Too early a key was meant for something else: it does nothing, and says nothing.
        if shown.is_awake(cx.clock.now) || shown.error().is_some() {
            Ok(shown)
        } else {
            Err(Vec::new())
        }
    }

    fn approve(&mut self, policy: Unseen, cx: &Cx<'_>) -> Vec<Effect> {
        let (id, hash, unseen) = match self.decidable(cx) {
            Err(why) => return why,
            Ok(shown) if shown.error().is_some() => {
                return Effect::refuse("it cannot be shown, so it cannot be approved");
            }
            Ok(shown) => (shown.id, shown.hash, shown.unseen()),
        };
        if unseen > 0 && policy == Unseen::Forbidden {
            if let Some(shown) = self.shown_mut() {
                shown.go_to_unseen();
            }
            return Vec::new();
        }
        self.send(id, cx.clock.now);
        vec![Effect::intent(Intent::Decide {
            proposal: id,
            shown: hash,
            unseen: u32::try_from(unseen).unwrap_or(u32::MAX),
            verdict: Verdict::Approve,
        })]
    }

    fn send(&mut self, id: ProposalId, now: Instant) {
        self.sent.push((id, now));
        self.choice = Choice::Queue;
    }

    /// What waits in the batch of what is on screen.
    fn batch<'v>(&self, review: &'v Review) -> impl Iterator<Item = &'v ProposalView> {
        let shown = self.on_screen.and_then(|id| review.get(id));
        let batch = shown.map(|view| view.proposal.batch.id);
        let open = |view: &&ProposalView| !self.is_sent(view.proposal.id);
        review.waiting().filter(move |view| Some(view.proposal.batch.id) == batch).filter(open)
    }

    /// Opens the exact list of what waits in the batch of what is on screen.
    fn approve_rest(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        if let Err(why) = self.decidable(cx) {
            return why;
        }
        let review = &cx.view.review;
        let rest: Vec<&ProposalView> = self.batch(review).collect();
        let mut rows = Vec::new();
        for view in rest {
            let id = view.proposal.id;
            self.keep(view, review);
            let Some(shown) = self.shown(id) else { continue };
            let Some(body) = shown.body() else {
                let why =
                    if shown.is_reading() { "is still being read" } else { "cannot be shown" };
                return Effect::refuse(format!("#{id} {why}; decide on it by itself"));
            };
            rows.push(BatchRow {
                proposal: id,
                shown: shown.hash,
                unseen: u32::try_from(shown.unseen()).unwrap_or(u32::MAX),
                what: review_draw::what(&view.proposal.change),
                detail: review_draw::counts(body),
            });
        }
        vec![Effect::Open(Box::new(Overlay::Batch(BatchList::new(rows))))]
    }

    fn reject(&self, cx: &Cx<'_>) -> Vec<Effect> {
        match self.decidable(cx) {
            Err(why) => why,
            Ok(shown) => {
                let view = cx.view.review.get(shown.id);
                let what = view.map(|view| review_draw::what(&view.proposal.change));
                let input = ReasonInput::new(shown.id, shown.hash, what.unwrap_or_default());
                vec![Effect::Open(Box::new(Overlay::Reason(input)))]
            }
        }
    }

    /// Turns to the neighbour of what is on screen among all proposals.
    fn turn(&mut self, step: isize, review: &Review) -> Vec<Effect> {
        let place = self
            .on_screen
            .and_then(|id| review.proposals.iter().position(|view| view.proposal.id == id));
        let next = place.and_then(|place| place.checked_add_signed(step));
        let Some(view) = next.and_then(|place| review.proposals.get(place)) else {
            return Effect::info("there is no further proposal");
        };
        let id = view.proposal.id;
        self.choice = match self.next_in_queue(review) {
            Some(first) if first == id => Choice::Queue,
            Some(_) | None if review.waiting.contains(&id) => Choice::Waiting(id),
            Some(_) | None => Choice::Decided(id),
        };
        Vec::new()
    }

    fn scroll(&mut self, action: Action) {
        let Some(shown) = self.shown_mut() else { return };
        let page = shown.page();
        shown.scroll(match action {
            Action::Up => -1,
            Action::Down => 1,
            Action::HalfPageUp => -(page / 2).max(1),
            Action::HalfPageDown => (page / 2).max(1),
            Action::PageUp => -page,
            Action::PageDown => page,
            Action::Top => i64::MIN,
            _ => i64::MAX,
        });
    }

    fn hunk(&mut self, step: i64) -> Vec<Effect> {
        if self.shown_mut().is_some_and(|shown| shown.go_to_hunk(step)) {
            return Vec::new();
        }
        Effect::info("there is no further change in this direction")
    }
}

impl Pane for ReviewPane {
    fn title(&self, cx: &Cx<'_>) -> Line<'static> {
        review_draw::title(self, cx)
    }

    fn hints(&self, cx: &Cx<'_>) -> Vec<Action> {
        let mut hints = Vec::new();
        if self.decidable(cx).is_ok() {
            hints.extend([Action::Approve, Action::Reject]);
            if self.batch(&cx.view.review).count() > 1 {
                hints.push(Action::ApproveRest);
            }
        }
        hints.extend([Action::NextHunk, Action::PreviousProposal, Action::NextProposal]);
        hints
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        match action {
            Action::Approve => return self.approve(Unseen::Forbidden, cx),
            Action::ApproveUnseen => return self.approve(Unseen::Recorded, cx),
            Action::ApproveRest => return self.approve_rest(cx),
            Action::Reject => return self.reject(cx),
            Action::NextHunk => return self.hunk(1),
            Action::PreviousHunk => return self.hunk(-1),
            Action::NextProposal => return self.turn(1, &cx.view.review),
            Action::PreviousProposal => return self.turn(-1, &cx.view.review),
            Action::Back | Action::Follow => self.choice = Choice::Queue,
            Action::Up
            | Action::Down
            | Action::HalfPageUp
            | Action::HalfPageDown
            | Action::PageUp
            | Action::PageDown
            | Action::Top
            | Action::Bottom => self.scroll(action),
            Action::Left | Action::Right => {
                return Effect::info("long lines are wrapped; there is nothing to the side");
            }
            _ => return Effect::refuse(format!("`{}` does nothing in the review", action.name())),
        }
        Vec::new()
    }

    fn prepare(&mut self, area: Rect, cx: &Cx<'_>) {
        let review = &cx.view.review;
        self.choose(review, cx.clock.now);
        // Twice: what is in sight tells what there is to say below it.
        for _ in 0..2 {
            self.parts = review_draw::parts(self, area, cx);
            let (width, height) = (self.parts.text_width, usize::from(self.parts.body.height));
            if let Some(shown) = self.shown_mut() {
                shown.lay_out(width, height, cx.clock.now);
            }
        }
    }

    fn was_shown(&mut self) {
        if let Some(shown) = self.shown_mut() {
            shown.was_shown();
        }
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        review_draw::draw(self, area, buf, cx);
    }
}

#[cfg(test)]
#[path = "review_tests.rs"]
mod tests;
