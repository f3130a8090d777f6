//! The review: proposals that wait, and those that were decided.
//!
//! Owns what a decision is about: exactly what is on screen, and all of it was seen. When a key
//! may decide is the guard's business. Must not apply anything; it only asks.

mod board;
mod body;
mod body_line;
mod decide;
mod deciding;
mod diff_draw;
mod draw;
mod edited;
mod findings;
mod flash;
mod foot;
mod gutter;
mod hand;
mod head;
mod items;
mod layout;
mod load;
mod look;
mod moves;
mod nvs;
mod picking;
mod queue;
mod reading;
mod seen;
mod select;
mod shown;
mod table;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use crate::model::{BlobSource, Examiner, ProposalId};
use crate::ui::action::Action;
use crate::ui::guard::Subject;
use crate::ui::layout::WIDE_ENOUGH;
use crate::ui::pane::{Cx, Effect, Keep, Pane};
use crate::view::{ProposalView, Review, SessionView};

use draw::ReviewAreas;
use edited::VersionCheck;
use look::Look;
use picking::ClickTarget;
use queue::Queue;
use select::PickedLines;
use shown::Shown;

/// Proposals that stay at hand with what was seen of them.
const MAX_KEPT: usize = 64;
/// How often to look whether a content was read.
const FRAME: Duration = Duration::from_millis(16);

/// The review pane.
pub struct ReviewPane {
    blobs: Arc<dyn BlobSource>,
    /// Looks at what the person writes; none where nothing can be decided.
    examiner: Option<Arc<dyn Examiner>>,
    queue: Queue,
    kept: Vec<Shown>,
    look: Look,
    /// The proposal that was opened from the list of its batch.
    opened: Option<ProposalId>,
    /// Lines that are being picked, of which proposal.
    picking: Option<(ProposalId, PickedLines)>,
    parts: ReviewAreas,
}

impl ReviewPane {
    /// An empty review that reads contents from `blobs`.
    #[must_use]
    pub fn new(blobs: Arc<dyn BlobSource>) -> Self {
        Self {
            blobs,
            examiner: None,
            queue: Queue::default(),
            kept: Vec::new(),
            look: Look::default(),
            opened: None,
            picking: None,
            parts: ReviewAreas::default(),
        }
    }

    /// Takes note of the columns of the screen: from a width on, two versions stand side by side by
    /// themselves.
    pub const fn set_screen_width(&mut self, columns: u16) {
        self.look.is_wide = columns >= WIDE_ENOUGH;
    }

    /// What a key that decides would be about now.
    #[must_use]
    pub fn subject(&self, view: &SessionView) -> Option<Subject> {
        let id = self.queue.on_screen()?;
        let shown = self.shown(id)?;
        let waits = view.review.waiting.contains(&id) && !self.queue.is_sent(id);
        // What is found later is something else to decide on.
        let is_read = !shown.is_reading() && shown.version_check() != Some(&VersionCheck::Running);
        Some(Subject::Proposal { id, hash: shown.hash, waits, is_read })
    }

    /// Whether changed lines of what is on screen have not been in sight.
    #[must_use]
    pub fn has_unseen(&self) -> bool {
        let shown = self.queue.on_screen().and_then(|id| self.shown(id));
        shown.is_some_and(|shown| shown.unseen() > 0)
    }

    /// When it changes without a record: a content is being read.
    #[must_use]
    pub fn next_wake(&self, view: &SessionView, now: Instant) -> Option<Instant> {
        let shown = self.queue.on_screen().and_then(|id| self.shown(id))?;
        let waits = view.review.waiting.contains(&shown.id);
        if waits && shown.is_news() {
            // What is drawn next counts as seen only once it is noted.
            return Some(now);
        }
        let is_checked = shown.version_check() != Some(&VersionCheck::Running);
        let busy = (shown.is_busy() || !is_checked).then_some(now + FRAME);
        [busy, self.queue.lost_at()].into_iter().flatten().min()
    }

    /// A proposal as it was made.
    fn own(&self, id: ProposalId) -> Option<&Shown> {
        self.kept.iter().find(|shown| shown.id == id)
    }

    /// What is shown for a proposal: itself, or the person's version of it.
    fn shown(&self, id: ProposalId) -> Option<&Shown> {
        let own = self.own(id)?;
        Some(own.edit.as_ref().map_or(own, |edit| &edit.shown))
    }

    fn shown_mut(&mut self) -> Option<&mut Shown> {
        let id = self.queue.on_screen()?;
        let own = self.kept.iter_mut().find(|shown| shown.id == id)?;
        if own.edit.is_some() {
            return own.edit.as_mut().map(|edit| &mut edit.shown);
        }
        Some(own)
    }

    fn selection_of(&self, id: ProposalId) -> Option<&PickedLines> {
        self.picking.as_ref().filter(|(of, _)| *of == id).map(|(_, selection)| selection)
    }

    /// Whether lines are being picked, so that keys pick.
    #[must_use]
    pub const fn is_picking(&self) -> bool {
        self.picking.is_some()
    }

    /// Decisions on these go out; they are not asked for again.
    pub fn note_sent(&mut self, ids: impl Iterator<Item = ProposalId>, now: Instant) {
        for id in ids.filter(|id| !self.queue.is_sent(*id)).collect::<Vec<_>>() {
            self.queue.send(id, now);
        }
        self.picking = None;
    }

    /// Keeps words beside their proposal.
    pub fn keep_words(&mut self, keep: Keep) {
        let (Keep::Remark { proposal, .. }
        | Keep::Draft { proposal, .. }
        | Keep::Words { proposal, .. }) = keep;
        let Some(shown) = self.kept.iter_mut().find(|shown| shown.id == proposal) else { return };
        match keep {
            Keep::Remark { line, words, .. } if words.is_empty() => {
                shown.remarks.remove(&line);
            }
            Keep::Remark { line, words, .. } => {
                shown.remarks.insert(line, words);
            }
            Keep::Draft { text, .. } => {
                if shown.edit.as_ref().is_none_or(|edit| edit.text != text) {
                    shown.edit = None;
                    shown.draft = Some(text);
                }
            }
            Keep::Words { words, .. } => shown.words = words,
        }
    }

    /// Chooses what is on screen, and reads it if it is new there.
    fn choose(&mut self, review: &Review, now: Instant) {
        if self.queue.choose(review, now) {
            self.picking = None;
        }
        if let Some(view) = self.queue.on_screen().and_then(|id| review.get(id)) {
            self.keep(view, review);
            self.follow_edit(view, review);
        }
    }

    fn keep(&mut self, view: &ProposalView, review: &Review) {
        let id = view.proposal.id;
        if let Some(shown) = self.kept.iter_mut().find(|shown| shown.id == id) {
            shown.poll();
            if shown.hash != view.proposal.change.hash() {
                // The file changed on disk: all of it is new, and nothing of it was seen.
                let fresh = Shown::new(&view.proposal, &self.blobs);
                let before = std::mem::replace(shown, fresh);
                shown.inherit(before);
                self.picking = None;
            }
            return;
        }
        self.kept.push(Shown::new(&view.proposal, &self.blobs));
        if self.kept.len() > MAX_KEPT {
            let on_screen = self.queue.on_screen();
            let is_over =
                |shown: &Shown| Some(shown.id) != on_screen && !review.waiting.contains(&shown.id);
            if let Some(place) = self.kept.iter().position(is_over) {
                self.kept.remove(place);
            }
        }
    }

    /// Does what a key for reading asks for.
    fn read(&mut self, action: Action) -> Vec<Effect> {
        let mut look = self.look;
        let mut picking = self.picking.take();
        let done = match self.shown_mut() {
            Some(shown) => picking
                .as_mut()
                .and_then(|(_, selection)| picking::act(action, selection, shown))
                .or_else(|| reading::act(action, shown, &mut look)),
            None => Some(Effect::refuse("there is nothing to review yet")),
        };
        (self.look, self.picking) = (look, picking);
        done.unwrap_or_else(|| {
            Effect::refuse(format!("`{}` does nothing in the review", action.name()))
        })
    }

    /// Turns to the neighbour of what is on screen among all proposals.
    fn turn(&mut self, step: isize, review: &Review) -> Vec<Effect> {
        if self.queue.turn(step, review) {
            return Vec::new();
        }
        let has_older = step < 0 && review.older > 0;
        Effect::info(match has_older {
            true => "`firmhand replay` shows older proposals",
            false => "there is no other proposal",
        })
    }
}

impl Pane for ReviewPane {
    fn title(&self, cx: &Cx<'_>) -> Line<'static> {
        head::title(self, usize::from(self.parts.body.width), cx)
    }

    fn title_within(&self, columns: usize, cx: &Cx<'_>) -> Line<'static> {
        head::title(self, columns, cx)
    }

    fn hints(&self, cx: &Cx<'_>) -> Vec<Action> {
        let mut hints = Vec::new();
        if let Ok(hand) = self.hand(cx) {
            let choices = foot::choices(hand.view, hand.shown, hand.selection, cx);
            let is_short = |action: &Action| !matches!(action, Action::ApproveTell | Action::Ask);
            hints.extend(choices.into_iter().map(|(action, _)| action).filter(is_short));
        }
        hints.extend([Action::NextHunk, Action::PreviousProposal, Action::NextProposal]);
        hints
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        match action {
            Action::Back if self.edit_on_screen().is_some() => {
                return self.put_edit_aside(cx).unwrap_or_default();
            }
            Action::Back if self.picking.is_none() && self.opened.is_some() => {
                return self.return_to_list(cx);
            }
            Action::NextProposal => return self.turn(1, &cx.view.review),
            Action::PreviousProposal => return self.turn(-1, &cx.view.review),
            Action::Back if self.picking.take().is_some() => {}
            Action::Back | Action::Follow => self.queue.back(),
            _ => return self.decide(action, cx).unwrap_or_else(|| self.read(action)),
        }
        Vec::new()
    }

    fn on_click(&mut self, at: Position, cx: &Cx<'_>) -> Vec<Effect> {
        let Some((row, is_right)) = self.parts.spot(at) else { return Vec::new() };
        let picking = self.picking.take();
        let Some(shown) = self.shown_mut() else { return Vec::new() };
        match picking::target(shown, row, is_right) {
            Some(ClickTarget::Folded) => {
                shown.change_context(1);
                self.picking = picking;
            }
            Some(ClickTarget::Changed(line)) => match picking.filter(|(id, _)| *id == shown.id) {
                Some((id, mut selection)) => {
                    picking::click(line, &mut selection, shown);
                    self.picking = Some((id, selection));
                }
                // Looking at what cannot be decided now is no wish to decide.
                None => {
                    let begun = self.hand(cx).and_then(|hand| hand.first_to_pick().map(|_| hand));
                    self.picking = begun.ok().map(|hand| (hand.shown.id, PickedLines::new(line)));
                }
            },
            None => self.picking = picking,
        }
        Vec::new()
    }

    fn prepare(&mut self, area: Rect, cx: &Cx<'_>) {
        let review = &cx.view.review;
        self.choose(review, cx.clock.now);
        // Twice: what is in sight tells what there is to say below it.
        for _ in 0..2 {
            self.parts = draw::parts(self, area, cx);
            let (look, room) = (self.look, self.parts.viewport);
            if let Some(shown) = self.shown_mut() {
                shown.lay_out(look, room);
            }
        }
    }

    fn was_shown(&mut self) {
        if let Some(shown) = self.shown_mut() {
            shown.was_shown();
        }
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        draw::draw(self, area, buf, cx);
    }
}

#[cfg(test)]
mod board_tests;

#[cfg(test)]
#[path = "review_tests.rs"]
mod tests;

#[cfg(test)]
mod deciding_tests;

#[cfg(test)]
mod edit_tests;

#[cfg(test)]
mod findings_tests;

#[cfg(test)]
mod list_tests;
