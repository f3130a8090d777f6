//! The review: proposals that wait, and those that were decided.
//!
//! Owns what a decision is about: exactly what is on screen, and all of it was seen. When a key
//! may decide is the guard's business. Must not apply anything; it only asks.
//!
//! [`queue`] chooses what is on screen, [`shown`] keeps what was seen and written of it,
//! [`change`] shows its lines, [`decision`] says what keys do with it, [`draw`] puts it together.

mod change;
mod decision;
mod dialogs;
mod draw;
mod edited;
mod findings;
mod foot;
mod head;
mod idle;
mod queue;
mod shown;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use crate::model::{BlobSource, Examiner, Intent, ProposalId, Shown as ShownHash, Timestamp};
use crate::ui::action::{Action, KeyContext};
use crate::ui::guard::Subject;
use crate::ui::layout::WIDE_ENOUGH;
use crate::ui::overlay::{BatchList, Overlay};
use crate::ui::pane::{Cx, Effect, Pane, ReviewRequest};
use crate::view::{Review, SessionView};

use change::picking::{self, ClickTarget, PickedLines};
use change::{Look, reading};
use decision::{Decision, KeyStep, Obstacle};
use draw::ReviewAreas;
use queue::Queue;
use shown::{Shown, ShownList};

/// How often to look whether a content was read.
const FRAME: Duration = Duration::from_millis(16);

/// The review pane.
pub struct ReviewPane {
    /// Looks at what the person writes; none where nothing can be decided.
    examiner: Option<Arc<dyn Examiner>>,
    queue: Queue,
    proposals: ShownList,
    look: Look,
    /// Lines that are being picked of what is on screen.
    picking: Option<PickedLines>,
    /// The proposal that was opened from the list of its batch.
    opened: Option<ProposalId>,
    parts: ReviewAreas,
}

impl ReviewPane {
    /// An empty review that reads contents from `blobs`.
    #[must_use]
    pub fn new(blobs: Arc<dyn BlobSource>) -> Self {
        Self {
            examiner: None,
            queue: Queue::default(),
            proposals: ShownList::new(blobs),
            look: Look::default(),
            picking: None,
            opened: None,
            parts: ReviewAreas::default(),
        }
    }

    /// Has what the person writes looked at by `examiner`.
    pub fn examine_by(&mut self, examiner: Arc<dyn Examiner>) {
        self.examiner = Some(examiner);
    }

    /// Takes note of the columns of the screen: from a width on, two versions stand side by side by
    /// themselves.
    pub const fn set_screen_width(&mut self, columns: u16) {
        self.look.is_wide = columns >= WIDE_ENOUGH;
    }

    /// What a key that decides would be about now, and whether changed lines of it have not been
    /// in sight.
    #[must_use]
    pub fn subject(&self, view: &SessionView) -> Option<(Subject, bool)> {
        let own = self.own()?;
        let (id, change) = (own.id, own.visible());
        let hash = own.edit.as_ref().map_or(own.hash, |edit| edit.hash());
        let waits = view.review.waiting.contains(&id) && !self.queue.is_sent(id);
        // What is found later is something else to decide on.
        let is_read = !change.load.is_reading() && !own.is_checking();
        Some((Subject::Proposal { id, hash, waits, is_read }, change.unseen() > 0))
    }

    /// Whether the person's own edit is what is on screen.
    #[must_use]
    pub fn shows_edit(&self) -> bool {
        self.own().is_some_and(|own| own.edit.is_some())
    }

    /// When it changes without a record: a content is being read.
    #[must_use]
    pub fn next_wake(&self, view: &SessionView, now: Instant) -> Option<Instant> {
        let own = self.own()?;
        if view.review.waiting.contains(&own.id) && own.visible().is_new() {
            // What is drawn next counts as seen only once it is noted.
            return Some(now);
        }
        let busy = (own.visible().load.is_busy() || own.is_checking()).then_some(now + FRAME);
        [busy, self.queue.lost_at()].into_iter().flatten().min()
    }

    /// Whether lines are being picked, so that keys pick.
    #[must_use]
    pub const fn is_picking(&self) -> bool {
        self.picking.is_some()
    }

    /// An intent goes out: what it decides is not asked for again. The list of a batch comes back
    /// if it was opened from there.
    pub fn note_sent(&mut self, intent: &Intent, cx: &Cx<'_>) -> Vec<Effect> {
        let decided = intent.decides();
        if decided.is_empty() {
            return Vec::new();
        }
        for id in decided {
            self.queue.send(id, cx.clock.now);
        }
        self.picking = None;
        self.return_to_list(cx)
    }

    /// Does what a dialog asks for.
    pub fn on_request(&mut self, request: ReviewRequest, review: &Review) -> Vec<Effect> {
        match request {
            ReviewRequest::Remark { proposal, line, words } => {
                if let Some(shown) = self.proposals.get_mut(proposal) {
                    shown.remarks.remove(&line);
                    shown.remarks.extend((!words.is_empty()).then_some((line, words)));
                }
            }
            ReviewRequest::Draft { proposal, text } => {
                if let Some(shown) = self.proposals.get_mut(proposal)
                    && shown.edit.as_ref().is_none_or(|edit| edit.text != text)
                {
                    shown.edit = None;
                    shown.draft = Some(text);
                }
            }
            ReviewRequest::Words { proposal, words } => {
                if let Some(shown) = self.proposals.get_mut(proposal) {
                    shown.words = words;
                }
            }
            ReviewRequest::OpenRow(id) => {
                self.opened = Some(id);
                self.picking = None;
                self.queue.look_at(id);
            }
            ReviewRequest::Follow { newest: true } => self.queue.look_at_newest(),
            ReviewRequest::Follow { newest: false } => self.queue.back(),
            ReviewRequest::ShowEdit { shown, text } => return self.edited(shown, text, review),
        }
        Vec::new()
    }

    /// Shows what came of an edit, to be decided by a key of its own.
    pub fn edited(&mut self, of: ShownHash, text: String, review: &Review) -> Vec<Effect> {
        let is_here =
            self.queue.on_screen() == Some(of.proposal) && review.waiting.contains(&of.proposal);
        let view = review.get(of.proposal).filter(|_| is_here);
        let done = self.proposals.edited(of, text, view, self.examiner.as_ref());
        if self.own().is_some_and(|own| own.edit.is_some()) {
            self.picking = None;
        }
        done.map_or_else(Effect::refuse, Effect::info)
    }

    /// The proposal on screen, as it was made.
    fn own(&self) -> Option<&Shown> {
        self.proposals.get(self.queue.on_screen()?)
    }

    fn own_mut(&mut self) -> Option<&mut Shown> {
        self.proposals.get_mut(self.queue.on_screen()?)
    }

    /// What is on screen, with everything that a decision on it needs.
    fn on_screen<'p>(&'p self, cx: &Cx<'p>) -> Option<Decision<'p>> {
        let own = self.own()?;
        let view = match &own.edit {
            Some(edit) => &edit.view,
            None => cx.view.review.get(own.id)?,
        };
        let (picked, blobs) = (self.picking.as_ref(), self.proposals.blobs.as_ref());
        Some(Decision { view, own, picked, obstacle: self.obstacle(cx), blobs })
    }

    /// What keeps a decision on what is on screen from being taken.
    fn obstacle(&self, cx: &Cx<'_>) -> Option<Obstacle> {
        let id = self.queue.on_screen();
        Obstacle::of(id, id.is_some_and(|id| self.queue.is_sent(id)), cx)
    }

    /// What can be decided; else why nothing can.
    fn decision<'p>(&'p self, cx: &Cx<'p>) -> Result<Decision<'p>, String> {
        match self.obstacle(cx) {
            Some(obstacle) => Err(obstacle.words()),
            None => self.on_screen(cx).ok_or_else(|| Obstacle::Nothing.words()),
        }
    }

    /// Chooses what is on screen, and reads it if it is new there.
    fn choose(&mut self, session: &SessionView, now: Instant) {
        let review = &session.review;
        let began = session.head.run().map_or_else(Timestamp::default, |run| run.began_at);
        if self.queue.choose(review, began, now) {
            self.picking = None;
        }
        if let Some(view) = self.queue.on_screen().and_then(|id| review.get(id))
            && self.proposals.update(view, review, view.proposal.id)
        {
            self.picking = None;
        }
    }

    /// Does what a key for decisions asks for; `None` when it is none.
    fn decide(&mut self, action: Action, cx: &Cx<'_>) -> Option<Vec<Effect>> {
        if let Some(why) = self.on_screen(cx).and_then(|on| on.refused_by_edit(action, cx)) {
            return Some(Effect::refuse(why));
        }
        let id = self.queue.on_screen();
        let on_screen = id.and_then(|id| cx.view.review.get(id));
        let done = match action {
            Action::ApproveRest => self.open_list(cx),
            Action::Undo => decision::undo(id, &cx.view.review),
            Action::Rules => {
                Ok(dialogs::rules(on_screen.map(|view| &view.proposal), &cx.view.review))
            }
            Action::Details => match self.on_screen(cx) {
                Some(decision) => Ok(dialogs::details(decision.view)),
                None => Err("there is nothing to review yet".to_owned()),
            },
            Action::Translation => match on_screen {
                Some(view) => dialogs::translation(view, self.proposals.blobs.as_ref()),
                None => Err("there is nothing to review yet".to_owned()),
            },
            _ if !action.is_about_proposal() => return None,
            _ => match self.decision(cx).map(|decision| decision.act(action, cx)) {
                Ok(step) => step?.map(|step| self.take(step)),
                Err(why) => Err(why),
            },
        };
        Some(done.unwrap_or_else(Effect::refuse))
    }

    /// Takes the step that a key came to.
    fn take(&mut self, step: KeyStep) -> Vec<Effect> {
        match step {
            KeyStep::Effects(effects) => return effects,
            KeyStep::ShowUnseen(words) => {
                let effects = self.show_unseen();
                let is_silent = effects.is_empty() && !words.is_empty();
                return if is_silent { Effect::info(words) } else { effects };
            }
            KeyStep::Pick(line) => self.picking = Some(PickedLines::new(line)),
            KeyStep::PickForComment(line) => {
                self.picking = Some(PickedLines::new(line));
                return Effect::info("go to the line, then comment on it");
            }
        }
        Vec::new()
    }

    /// Goes where lines were not on screen yet.
    fn show_unseen(&mut self) -> Vec<Effect> {
        let mut look = self.look;
        let Some(change) = self.own_mut().map(Shown::visible_mut) else { return Vec::new() };
        let went = change.go_to_unseen(&mut look);
        let left_out = change.body().map_or(0, |body| body.left_out);
        let had_folded = self.look != look;
        self.look = look;
        match (went, left_out) {
            (false, 1..) => Effect::refuse(format!(
                "{} too long or too many to be shown here",
                crate::ui::line::counted(left_out, "changed line is", "changed lines are")
            )),
            (true, _) if had_folded => Effect::info("changes of white space are shown again"),
            _ => Vec::new(),
        }
    }

    /// Opens the list of what waits in the batch of what is on screen.
    fn open_list(&mut self, cx: &Cx<'_>) -> Result<Vec<Effect>, String> {
        self.decision(cx)?;
        let list = self.list(cx);
        if list.len() < 2 {
            return Err("no other proposal of this batch waits".to_owned());
        }
        self.opened = None;
        Ok(vec![Effect::open(Overlay::Batch(list))])
    }

    /// Opens the list again from which a proposal was opened, if several of it wait.
    fn return_to_list(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        let Some(opened) = self.opened.take() else { return Vec::new() };
        let mut list = self.list(cx);
        if list.len() == 0 {
            return Vec::new();
        }
        list.select(opened);
        vec![Effect::open(Overlay::Batch(list))]
    }

    /// What waits in the batch of what is on screen.
    fn list(&mut self, cx: &Cx<'_>) -> BatchList {
        let review = &cx.view.review;
        let on_screen = self.queue.on_screen();
        let batch = on_screen.and_then(|id| review.get(id)).map(|view| view.proposal.batch.id);
        let mut rows = Vec::new();
        for view in review.waiting().filter(|view| Some(view.proposal.batch.id) == batch) {
            let id = view.proposal.id;
            if self.queue.is_sent(id) {
                continue;
            }
            self.proposals.update(view, review, on_screen.unwrap_or(id));
            rows.extend(self.proposals.get(id).map(|own| dialogs::batch_row(view, own)));
        }
        BatchList::new(rows)
    }

    /// Does what a key for reading asks for.
    fn read(&mut self, action: Action) -> Vec<Effect> {
        let (mut look, mut picking) = (self.look, self.picking.take());
        let done = match self.own_mut().map(Shown::visible_mut) {
            Some(change) => picking
                .as_mut()
                .and_then(|picked| picking::act(action, picked, change))
                .or_else(|| reading::act(action, change, &mut look)),
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
        if step < 0 && review.older > 0 {
            return Effect::info("`firmhand replay` shows older proposals");
        }
        Effect::info("there is no other proposal")
    }
}

impl Pane for ReviewPane {
    fn title(&self, cx: &Cx<'_>) -> Line<'static> {
        self.title_within(usize::from(self.parts.body.width), cx)
    }

    fn title_within(&self, columns: usize, cx: &Cx<'_>) -> Line<'static> {
        let on_screen = self.on_screen(cx);
        head::title(on_screen.map(|decision| decision.view), columns, cx)
    }

    fn hints(&self, cx: &Cx<'_>) -> Vec<Action> {
        let mut hints = Vec::new();
        // What can be decided stands right below the change, unless there is no room for it.
        let is_cut = self.parts.is_foot_cut;
        if let Some(decision) = self.decision(cx).ok().filter(|_| is_cut) {
            let choices = decision.choices(cx).into_iter().map(|(action, _)| action);
            let is_short = |action: &Action| !matches!(action, Action::ApproveTell | Action::Ask);
            hints.extend(choices.filter(is_short));
        }
        hints.extend([Action::NextHunk, Action::PreviousProposal, Action::NextProposal]);
        if let Some(decision) = self.decision(cx).ok().filter(|_| self.picking.is_none()) {
            // What is decided as a whole has no lines to comment on.
            hints.extend(decision.first_to_pick().is_ok().then_some(Action::Comment));
            hints.push(Action::Rules);
        }
        hints
    }

    fn why_not(&self, action: Action, cx: &Cx<'_>) -> Option<String> {
        let Some(own) = self.own() else {
            let is_own = matches!(action.home(), KeyContext::Pane | KeyContext::Review);
            return is_own.then(|| "there is nothing to review yet".to_owned());
        };
        let needs_waiting = matches!(
            action,
            Action::Edit | Action::EditOutside | Action::PickLines | Action::Comment | Action::Ask
        );
        if needs_waiting && !cx.view.review.waiting.contains(&own.id) {
            return Some(format!("#{} is decided already", own.id));
        }
        let shown = own.visible();
        let (is_missing, why) = match action {
            Action::NextProposal | Action::PreviousProposal => {
                let all = &cx.view.review.proposals;
                let end = if action == Action::NextProposal { all.last() } else { all.first() };
                let is_end = end.is_some_and(|end| end.proposal.id == own.id);
                (is_end, "there is no other proposal")
            }
            Action::NextHunk | Action::PreviousHunk => {
                let step = if action == Action::NextHunk { 1 } else { -1 };
                (shown.top_of_hunk(step).is_none(), "no other change is out of sight")
            }
            Action::Search | Action::NextMatch | Action::PreviousMatch => {
                (true, "a change cannot be searched")
            }
            Action::Translation => {
                let view = cx.view.review.get(own.id);
                let has_one =
                    view.is_some_and(|view| dialogs::is_translated(&view.proposal.change));
                (!has_one, "this is not a program in Reverty (.rev)")
            }
            _ => return None,
        };
        is_missing.then(|| why.to_owned())
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        match action {
            Action::Back if self.own_mut().is_some_and(Shown::put_edit_aside) => {
                let key = cx.key(KeyContext::Review, Action::Edit);
                return Effect::info(format!(
                    "nothing was sent; your edit is kept, {key} goes on with it"
                ));
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
        let Some((row, half)) = self.parts.spot(at) else { return Vec::new() };
        let mut picking = self.picking.take();
        let Some(change) = self.own_mut().map(Shown::visible_mut) else { return Vec::new() };
        match (picking::target(change, row, half), &mut picking) {
            (Some(ClickTarget::Folded), _) => {
                change.change_context(1);
            }
            (Some(ClickTarget::Changed(line)), Some(picked)) => {
                picking::click(line, picked, change);
            }
            // Looking at what cannot be decided now is no wish to decide.
            (Some(ClickTarget::Changed(line)), None) => {
                let begun = self.decision(cx).and_then(|decision| decision.first_to_pick());
                picking = begun.ok().map(|_| PickedLines::new(line));
            }
            (None, _) => {}
        }
        self.picking = picking;
        Vec::new()
    }

    fn prepare(&mut self, area: Rect, cx: &Cx<'_>) {
        self.choose(cx.view, cx.clock.now);
        // Twice: what is in sight tells what there is to say below it.
        for _ in 0..2 {
            self.parts = draw::parts(self.on_screen(cx).as_ref(), area, cx);
            let (look, space) = (self.look, self.parts.viewport);
            if let Some(own) = self.own_mut() {
                own.lay_out(look, space);
            }
        }
    }

    fn was_shown(&mut self) {
        if let Some(own) = self.own_mut() {
            own.visible_mut().was_shown();
        }
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        draw::draw(self.on_screen(cx).as_ref(), &self.parts, area, buf, cx);
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
