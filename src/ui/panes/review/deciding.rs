//! Keys that decide, pick or take back: whether that may be done now, and what comes of it.

use crate::model::{Change, FindingLevel, Intent, Outcome, Proposal, ProposalId};
use crate::text::sanitize;
use crate::ui::BROKE_OFF;
use crate::ui::action::{Action, KeyContext};
use crate::ui::overlay::{BatchList, BatchRow, Overlay, Purpose};
use crate::ui::pane::{Cx, Effect, Mode};
use crate::view::{ProposalView, Review, RunState};

use super::hand::Hand;
use super::select::PickedLines;
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
            return Err(Effect::refuse("no proposal waits for a decision"));
        };
        if !cx.view.review.waiting.contains(&id) {
            return Err(Effect::refuse(format!("#{id} is decided already")));
        }
        if self.queue.is_sent(id) {
            return Err(Effect::refuse(format!("the decision on #{id} is being sent")));
        }
        self.shown(id).ok_or_else(Vec::new)
    }

    /// What is at hand to be decided; else why nothing is.
    pub(super) fn hand<'p>(&'p self, cx: &Cx<'p>) -> Result<Hand<'p>, Vec<Effect>> {
        let shown = self.decidable(cx)?;
        let view = self.view_on_screen(&cx.view.review).ok_or_else(Vec::new)?;
        let selection = self.selection_of(shown.id);
        let edit = self.edit_on_screen();
        Ok(Hand { shown, view, edit, selection, blobs: self.blobs.as_ref() })
    }

    /// Approves what is on screen if all of it was seen, else goes to what was not.
    fn approve(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        match self.hand(cx).and_then(|hand| Ok((hand.unseen()?, hand.approve()?))) {
            Err(why) => why,
            Ok((0, _)) if self.is_stopped(cx) => self.refuse_stopped(cx),
            Ok((0, effects)) => effects,
            Ok(_) => self.show_unseen(),
        }
    }

    /// Whether a finding stands against the plain approval, and no phrase is asked for.
    fn is_stopped(&self, cx: &Cx<'_>) -> bool {
        let view = self.view_on_screen(&cx.view.review);
        view.is_some_and(|view| is_stopped(&view.proposal))
    }

    /// Says what stands against the approval, and which key approves all the same.
    fn refuse_stopped(&self, cx: &Cx<'_>) -> Vec<Effect> {
        let view = self.view_on_screen(&cx.view.review);
        let found = view.and_then(|view| first_stop(&view.proposal)).unwrap_or_default();
        let key = cx.key(KeyContext::Review, Action::ApproveDespite);
        Effect::refuse(format!("not decided: this {found} · {key} approves it anyway"))
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
            (true, _) if had_folded => Effect::info("changes of white space are shown again"),
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

    /// Opens the list of what waits in the batch of what is on screen.
    fn approve_rest(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        if let Err(why) = self.decidable(cx) {
            return why;
        }
        if self.batch(&cx.view.review).count() < 2 {
            return Effect::refuse("no other proposal of this batch waits");
        }
        self.opened = None;
        vec![Effect::Open(Box::new(Overlay::Batch(self.list(cx))))]
    }

    fn list(&mut self, cx: &Cx<'_>) -> BatchList {
        let review = &cx.view.review;
        let rest: Vec<&ProposalView> = self.batch(review).collect();
        let mut rows = Vec::new();
        for view in rest {
            self.keep(view, review);
            rows.extend(self.own(view.proposal.id).map(|own| row(view, own)));
        }
        BatchList::new(rows)
    }

    /// Shows one proposal of the list of its batch.
    pub fn open_row(&mut self, id: ProposalId) {
        self.opened = Some(id);
        self.picking = None;
        self.queue.look_at(id);
    }

    /// Opens the list again from which a proposal was opened, if several of it wait.
    pub fn return_to_list(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        let Some(opened) = self.opened.take() else { return Vec::new() };
        let mut list = self.list(cx);
        if list.is_empty() {
            return Vec::new();
        }
        list.select(opened);
        vec![Effect::Open(Box::new(Overlay::Batch(list)))]
    }

    /// Approves what is on screen although findings stand against it, once all of it was seen.
    fn approve_despite(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        let key = cx.key(KeyContext::Review, Action::Approve);
        let hidden = match self.hand(cx).and_then(|hand| Ok((hand, hand.unseen()?))) {
            Err(why) => return why,
            Ok((hand, _)) if hand.view.proposal.stops() == 0 => {
                return Effect::refuse(format!("no check found a problem; {key} approves it"));
            }
            Ok((hand, unseen)) => {
                unseen.saturating_sub(hand.shown.body().map_or(0, |body| body.left_out))
            }
        };
        if hidden > 0 {
            return self.show_unseen();
        }
        self.hand(cx).and_then(|hand| hand.approve()).unwrap_or_else(|why| why)
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
                self.picking = Some((id, PickedLines::new(line)));
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
                effects.extend(Effect::info(format!("asked to undo #{id}")));
                effects
            }
            Some(id) if review.waiting.contains(&id) => {
                Effect::refuse("this still waits; select an applied change to undo it")
            }
            Some(id) => Effect::refuse(match review.get(id) {
                Some(view) => why_no_undo(view),
                None => format!("#{id} is not known"),
            }),
            None => Effect::refuse("nothing was applied yet"),
        }
    }

    /// Does what a key for decisions asks for; `None` when it is none.
    pub(super) fn decide(&mut self, action: Action, cx: &Cx<'_>) -> Option<Vec<Effect>> {
        if let Some(why) = self.refused_by_edit(action, cx) {
            return Some(why);
        }
        Some(match action {
            Action::Approve => self.approve(cx),
            Action::ApproveRest => self.approve_rest(cx),
            Action::ApproveDespite => self.approve_despite(cx),
            Action::ApproveUnseen | Action::ApproveTell if self.is_stopped(cx) => {
                match self.decidable(cx) {
                    Ok(_) => self.refuse_stopped(cx),
                    Err(why) => why,
                }
            }
            Action::Comment => self.comment(cx),
            Action::PickLines => self.pick(cx),
            Action::Undo => self.undo(cx),
            Action::Rules => {
                let view = self.queue.on_screen().and_then(|id| cx.view.review.get(id));
                decide::rules(view.map(|view| &view.proposal), &cx.view.review)
            }
            Action::Details => match self.view_on_screen(&cx.view.review) {
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

/// Whether a finding stands against the plain approval, and no phrase is asked for.
pub(super) fn is_stopped(proposal: &Proposal) -> bool {
    proposal.stops() > 0 && proposal.phrase().is_none()
}

/// The first finding that stands against an approval, in words.
pub(super) fn first_stop(proposal: &Proposal) -> Option<String> {
    let stop = proposal.findings().find(|finding| finding.level == FindingLevel::Stop)?;
    Some(sanitize::line(&stop.text).into_owned())
}

/// A row of the list of a batch.
fn row(view: &ProposalView, shown: &Shown) -> BatchRow {
    let proposal = &view.proposal;
    let count = |level| proposal.findings().filter(|finding| finding.level == level).count();
    let alone = if shown.edit.is_some() || shown.draft.is_some() {
        "your edit waits"
    } else if shown.is_reading() {
        "still being read"
    } else if shown.body().is_none() {
        "cannot be shown"
    } else if proposal.phrase().is_some() {
        "needs a typed phrase"
    } else {
        ""
    };
    BatchRow {
        shown: decide::shown_hash(shown),
        what: head::what(&proposal.change),
        detail: shown.body().map_or_else(String::new, |body| head::counts(body)),
        stops: count(FindingLevel::Stop),
        warnings: count(FindingLevel::Warning),
        alone: alone.to_owned(),
    }
}

/// Why what was decided cannot be taken back.
fn why_no_undo(view: &ProposalView) -> String {
    let id = view.proposal.id;
    match (&view.proposal.change, &view.outcome) {
        (_, None) => format!("#{id} is not done yet"),
        (_, Some(outcome)) if *outcome != Outcome::Applied => format!("#{id} was not done"),
        (Change::Flash(_), Some(_)) => {
            "a flash cannot be undone: the old content of the board is gone".to_owned()
        }
        (Change::Erase(_), Some(_)) => "erased content cannot be restored".to_owned(),
        (Change::Send(_), Some(_)) => "text sent to a board cannot be undone".to_owned(),
        (Change::Nvs(_), Some(_)) => {
            "settings of a board cannot be undone; ask for another edit".to_owned()
        }
        (
            Change::Save { .. } | Change::Insert { .. } | Change::Delete { .. } | Change::Read(_),
            Some(_),
        ) => format!("#{id} is already undone"),
    }
}
