//! Keys that decide, pick or take back: whether that may be done now, and what comes of it.

use crate::model::{Intent, Outcome, ProposalId};
use crate::ui::BROKE_OFF;
use crate::ui::action::{Action, Context};
use crate::ui::overlay::{BatchList, BatchRow, Overlay, Purpose};
use crate::ui::pane::{Cx, Effect, Mode};
use crate::view::{ProposalView, Review, RunState};

use super::hand::Hand;
use super::select::Selection;
use super::shown::Shown;
use super::{ReviewPane, decide, head};

impl ReviewPane {
    /// The proposal on screen, if a decision on it can be taken; else why not.
    pub(super) fn decidable(&self, cx: &Cx<'_>) -> Result<&Shown, Vec<Effect>> {
        if cx.mode == Mode::Replay {
            return Err(Effect::refuse("this is a replay; nothing can be decided"));
        }
        if matches!(cx.view.head.state, RunState::BrokenOff(_)) {
            return Err(Effect::refuse(BROKE_OFF));
        }
        let Some(id) = self.queue.on_screen() else {
            return Err(Effect::refuse("nothing waits for a decision"));
        };
        if !cx.view.review.waiting.contains(&id) {
            return Err(Effect::refuse(format!("#{id} is decided already")));
        }
        if self.queue.is_sent(id) {
            return Err(Effect::refuse(format!("the decision on #{id} is on its way")));
        }
        self.shown(id).ok_or_else(Vec::new)
    }

    /// What is at hand to be decided; else why nothing is.
    pub(super) fn hand<'p>(&'p self, cx: &Cx<'p>) -> Result<Hand<'p>, Vec<Effect>> {
        let shown = self.decidable(cx)?;
        let view = cx.view.review.get(shown.id).ok_or_else(Vec::new)?;
        let selection = self.selection_of(shown.id);
        Ok(Hand { shown, view, selection, blobs: self.blobs.as_ref() })
    }

    /// Approves what is on screen if all of it was seen, else goes to what was not.
    fn approve(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        match self.hand(cx).and_then(|hand| Ok((hand.unseen()?, hand.approve()?))) {
            Err(why) => why,
            Ok((0, _)) if self.is_stopped(cx) => {
                let key = cx.key(Context::Review, Action::ApproveUnseen);
                Effect::refuse(format!("a check has failed: {key} approves it all the same"))
            }
            Ok((0, effects)) => effects,
            Ok(_) => self.show_unseen(),
        }
    }

    /// Whether a finding stands against the plain approval, and no phrase is asked for.
    fn is_stopped(&self, cx: &Cx<'_>) -> bool {
        let view = self.queue.on_screen().and_then(|id| cx.view.review.get(id));
        view.is_some_and(|view| view.proposal.stops() > 0 && view.proposal.phrase().is_none())
    }

    /// Goes where lines were not on screen yet.
    fn show_unseen(&mut self) -> Vec<Effect> {
        let mut look = self.look;
        let went = self.shown_mut().is_some_and(|shown| shown.go_to_unseen(&mut look));
        let had_folded = self.look != look;
        self.look = look;
        let left_out = self.shown_mut().and_then(|shown| shown.body().map(|body| body.left_out));
        match (went, left_out) {
            (false, Some(lines)) if lines > 0 => Effect::refuse(format!(
                "{lines} changed lines are too long or too many to be shown here"
            )),
            (true, _) if had_folded => Effect::info("changes of blanks show again"),
            _ => Vec::new(),
        }
    }

    /// What waits in the batch of what is on screen.
    pub(super) fn batch<'v>(&self, review: &'v Review) -> impl Iterator<Item = &'v ProposalView> {
        let shown = self.queue.on_screen().and_then(|id| review.get(id));
        let batch = shown.map(|view| view.proposal.batch.id);
        let open = |view: &&ProposalView| !self.queue.is_sent(view.proposal.id);
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
            if view.proposal.phrase().is_some() {
                let why = "has to be confirmed by typing; decide on it by itself";
                return Effect::refuse(format!("#{id} {why}"));
            }
            let Some(shown) = self.shown(id) else { continue };
            let Some(body) = shown.body() else {
                let why =
                    if shown.is_reading() { "is still being read" } else { "cannot be shown" };
                return Effect::refuse(format!("#{id} {why}; decide on it by itself"));
            };
            rows.push(BatchRow {
                shown: decide::shown_hash(shown),
                what: head::what(&view.proposal.change),
                detail: head::counts(body),
            });
        }
        vec![Effect::Open(Box::new(Overlay::Batch(BatchList::new(rows))))]
    }

    fn comment(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        let hand = match self.hand(cx) {
            Err(why) => return why,
            Ok(hand) => hand,
        };
        if let Some(line) = hand.line().filter(|_| self.is_picking()) {
            return hand.words(Purpose::Comment(line));
        }
        let why_not = self.pick(cx);
        if self.is_picking() {
            return Effect::info("go to the line, then comment on it");
        }
        why_not
    }

    /// Begins to pick lines.
    fn pick(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        match self.hand(cx).and_then(|hand| Ok((hand.shown.id, hand.first_to_pick()?))) {
            Err(why) => why,
            Ok((id, line)) => {
                self.picking = Some((id, Selection::new(line)));
                Vec::new()
            }
        }
    }

    /// Takes back the applied change on screen.
    fn undo(&self, cx: &Cx<'_>) -> Vec<Effect> {
        let review = &cx.view.review;
        match self.queue.on_screen() {
            Some(id) if review.can_undo(id) => {
                let mut effects = vec![Effect::intent(Intent::Undo { proposal: id })];
                effects.extend(Effect::info(format!("asked to take #{id} back")));
                effects
            }
            Some(id) if review.waiting.contains(&id) => {
                Effect::refuse("this still waits; go to an applied change to take it back")
            }
            Some(id) => Effect::refuse(not_undoable(id, review)),
            None => Effect::refuse("nothing was applied yet"),
        }
    }

    /// Does what a key for decisions asks for; `None` when it is none.
    pub(super) fn decide(&mut self, action: Action, cx: &Cx<'_>) -> Option<Vec<Effect>> {
        Some(match action {
            Action::Approve => self.approve(cx),
            Action::ApproveRest => self.approve_rest(cx),
            Action::Comment => self.comment(cx),
            Action::PickLines => self.pick(cx),
            Action::Undo => self.undo(cx),
            Action::Rules => {
                let view = self.queue.on_screen().and_then(|id| cx.view.review.get(id));
                decide::rules(view.map(|view| &view.proposal), &cx.view.review)
            }
            Action::Details => match self.queue.on_screen().and_then(|id| cx.view.review.get(id)) {
                Some(view) => decide::details(view),
                None => Effect::refuse("there is nothing to review yet"),
            },
            _ if !action.is_about_proposal() => return None,
            _ => match self.hand(cx) {
                Err(why) => why,
                Ok(hand) => return hand.act(action),
            },
        })
    }
}

/// Why a change cannot be taken back.
fn not_undoable(id: ProposalId, review: &Review) -> String {
    let Some(view) = review.get(id) else { return format!("there is no #{id}") };
    let is_applied = view.outcome == Some(Outcome::Applied);
    match view.proposal.change.board() {
        Some(_) if is_applied => {
            let kind = view.proposal.change.kind();
            format!("#{id} is done ({kind}): what was done with a board cannot be taken back")
        }
        Some(_) | None if is_applied => format!("#{id} is taken back already"),
        Some(_) | None => format!("#{id} was not applied"),
    }
}
