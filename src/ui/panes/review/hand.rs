//! What is at hand to be decided: a proposal as it is on screen, with what was picked of it.
//!
//! Turns keys into intents and dialogs. Whether a decision may be taken now was settled before.

use crate::model::{AfterReject, BlobSource, Intent, Shown as ShownHash, Verdict};
use crate::ui::action::Action;
use crate::ui::overlay::{Confirm, Overlay, Purpose};
use crate::ui::pane::{Effect, UiCommand};
use crate::view::ProposalView;

use super::decide;
use super::edited::{Edit, VersionCheck};
use super::head;
use super::select::PickedLines;
use super::shown::Shown;

/// A proposal that can be decided now.
#[derive(Clone, Copy)]
pub(super) struct Hand<'a> {
    pub shown: &'a Shown,
    pub view: &'a ProposalView,
    /// The person's version, when that is what is shown.
    pub edit: Option<&'a Edit>,
    pub selection: Option<&'a PickedLines>,
    pub blobs: &'a dyn BlobSource,
}

/// Effects, or why there are none.
type ActResult = Result<Vec<Effect>, Vec<Effect>>;

impl Hand<'_> {
    /// Does what a key for decisions asks for; `None` when it is none.
    pub fn act(self, action: Action) -> Option<Vec<Effect>> {
        let done = match action {
            Action::ApproveUnseen => self.approve_unseen(),
            Action::ApprovePicked => self.approve_picked(),
            Action::ApproveTell => self.tell(),
            Action::Reject => Ok(self.words(Purpose::Reject(AfterReject::GoOn))),
            Action::RejectStop => Ok(self.words(Purpose::Reject(AfterReject::Stop))),
            Action::Ask => Ok(self.ask()),
            Action::Edit => self.edit(),
            Action::EditOutside => self.edit_outside(),
            _ => return None,
        };
        Some(done.unwrap_or_else(|why| why))
    }

    /// Whether it can be approved at all.
    fn check(&self) -> Result<(), Vec<Effect>> {
        if self.shown.error().is_some() {
            return Err(Effect::refuse("it cannot be shown, so it cannot be approved"));
        }
        if self.shown.is_reading() {
            return Err(Effect::refuse("it is still being read"));
        }
        match self.shown.version_check() {
            Some(VersionCheck::Running) => {
                Err(Effect::refuse("not decided: your edit is still being checked"))
            }
            Some(VersionCheck::Failed(why)) => {
                Err(Effect::refuse(format!("not decided: your edit could not be checked: {why}")))
            }
            Some(VersionCheck::Done) | None => Ok(()),
        }
    }

    /// Whether all of it was on screen, as it must be before it is approved in another form.
    fn check_seen(&self) -> Result<(), Vec<Effect>> {
        self.check()?;
        if self.shown.unseen() > 0 {
            return Err(Effect::refuse(
                "some changed lines were not on screen; look at them first",
            ));
        }
        Ok(())
    }

    /// Approves it as it is; how much of it was not on screen, and what was found, is said along.
    pub fn approve(&self) -> ActResult {
        self.check()?;
        let stops = self.view.proposal.stops();
        let what = ShownHash { stops, ..decide::shown_hash(self.shown) };
        if let Some(phrase) = self.view.proposal.phrase() {
            let proposal = &self.view.proposal;
            let stake = proposal.stake().unwrap_or_default();
            let of = self.edit.map_or(what, Edit::of);
            let confirm = Confirm::new(of, head::what(&proposal.change), stake, phrase);
            let confirm = match self.edit {
                Some(edit) => confirm.sending(edit.intent(stops)),
                None => confirm,
            };
            return Ok(vec![Effect::Open(Box::new(Overlay::Confirm(confirm)))]);
        }
        let intent = match self.edit {
            Some(edit) => edit.intent(stops),
            None => Intent::Decide { shown: what, verdict: Verdict::Approve },
        };
        Ok(vec![Effect::intent(intent)])
    }

    /// Approves it although lines of it were not on screen.
    fn approve_unseen(&self) -> ActResult {
        if self.unseen()? == 0 {
            return Err(Effect::refuse("all of it was on screen; use the normal key to approve"));
        }
        self.approve()
    }

    /// How many lines stand against the plain approval.
    pub fn unseen(&self) -> Result<usize, Vec<Effect>> {
        self.check().map(|()| self.shown.unseen())
    }

    fn approve_picked(&self) -> ActResult {
        self.check()?;
        let Some(selection) = self.selection else {
            return Err(Effect::refuse("no lines are being picked"));
        };
        if selection.picked().is_empty() {
            return Err(Effect::refuse("no line is picked yet"));
        }
        let unseen = self.shown.unseen_of(selection.picked().iter().copied());
        if unseen > 0 {
            let words = "of the picked lines were not on screen; look at them first";
            return Err(Effect::refuse(format!("{unseen} {words}")));
        }
        let content = self.picked_content(selection)?;
        Ok(vec![Effect::intent(decide::amend_lines(self.shown, content))])
    }

    fn picked_content(&self, selection: &PickedLines) -> Result<Vec<u8>, Vec<Effect>> {
        let body = self.shown.body().cloned().unwrap_or_default();
        decide::picked_content(&self.view.proposal.change, self.blobs, &body, selection)
            .map_err(|error| Effect::refuse(error.to_string()))
    }

    fn tell(&self) -> ActResult {
        self.check_seen()?;
        if self.view.proposal.phrase().is_some() {
            return Err(Effect::refuse("this needs a typed phrase; use the normal key to approve"));
        }
        Ok(self.words(Purpose::Tell))
    }

    /// Opens a dialog for words.
    pub fn words(&self, purpose: Purpose) -> Vec<Effect> {
        decide::words(purpose, self.view, self.shown)
    }

    /// The changed line that words are about: the one under the cursor, else the first in sight.
    pub fn line(&self) -> Option<usize> {
        self.selection.map(PickedLines::cursor).or_else(|| self.shown.first_changed())
    }

    fn ask(&self) -> Vec<Effect> {
        let body = self.shown.body();
        let excerpt = body.and_then(|body| decide::excerpt(body, self.line()?));
        self.words(Purpose::Ask(excerpt))
    }

    /// Where picking lines begins.
    pub fn first_to_pick(&self) -> Result<usize, Vec<Effect>> {
        self.check()?;
        if self.edit.is_some() {
            return Err(Effect::refuse(
                "lines are picked from the proposal; set your edit aside first",
            ));
        }
        if self.view.proposal.change.after().is_none() {
            let kind = self.view.proposal.change.kind();
            return Err(Effect::refuse(format!("a {kind} is decided as a whole")));
        }
        let none = || Effect::refuse("no line changes, so there is none to pick");
        self.shown.first_changed().ok_or_else(none)
    }

    /// Opens the text for editing: what the picked lines make of it, else the proposed one.
    fn edit(&self) -> ActResult {
        if let Some(edit) = self.edit {
            let editor = Overlay::Editor(Box::new(edit.go_on()));
            return Ok(vec![Effect::Open(Box::new(editor))]);
        }
        self.check_seen()?;
        let picked = self.selection.filter(|selection| !selection.picked().is_empty());
        let start = picked.map(|selection| self.picked_content(selection)).transpose()?;
        Ok(decide::edit(self.view, self.shown, self.blobs, start))
    }

    fn edit_outside(&self) -> ActResult {
        if let Some(edit) = self.edit {
            return Ok(vec![Effect::Command(UiCommand::EditOutside(edit.outside()))]);
        }
        self.check_seen()?;
        decide::edit_outside(self.view, self.shown, self.blobs)
            .map(|edit| vec![Effect::Command(UiCommand::EditOutside(edit))])
            .map_err(Effect::refuse)
    }
}
