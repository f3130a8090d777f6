//! The proposals at hand: the change of each on screen, and what the person wrote about it.
//!
//! Owns comments, words and edits that were not sent. Must not decide.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{
    BlobSource, ContentHash, Examiner, Facts, LineComment, Proposal, ProposalId,
    Shown as ShownHash, Verdict,
};
use crate::ui::action::{Action, KeyContext};
use crate::ui::pane::Cx;
use crate::ui::role::Role;
use crate::view::{ProposalView, Review};

use super::change::draw::MARK;
use super::change::{ChangeView, Look, Viewport};
use super::edited::{Edit, VersionCheck, proposed_text};

/// Proposals that stay at hand with what was seen of them.
const MAX_KEPT: usize = 64;

/// A proposal at hand.
#[derive(Debug)]
pub struct Shown {
    pub id: ProposalId,
    /// Of what is on screen; what a decision is bound to while the proposal waits.
    pub hash: ContentHash,
    pub change: ChangeView,
    /// The person's words on lines, not sent yet.
    pub remarks: BTreeMap<usize, String>,
    /// Words that were begun and not sent.
    pub words: String,
    /// The person's version of the text, put aside and not sent.
    pub draft: Option<String>,
    /// The person's version while it is on screen instead of the proposed one.
    pub edit: Option<Box<Edit>>,
}

impl Shown {
    /// Begins to read what `proposal` is about.
    #[must_use]
    pub fn new(proposal: &Proposal, blobs: &Arc<dyn BlobSource>) -> Self {
        Self {
            id: proposal.id,
            hash: proposal.change.hash(),
            change: ChangeView::new(proposal, blobs),
            remarks: BTreeMap::new(),
            words: String::new(),
            draft: None,
            edit: None,
        }
    }

    /// The change on screen: the proposed one, or the person's version of it.
    #[must_use]
    pub fn visible(&self) -> &ChangeView {
        self.edit.as_ref().map_or(&self.change, |edit| &edit.change)
    }

    /// As [`Self::visible`], to be changed.
    pub fn visible_mut(&mut self) -> &mut ChangeView {
        match &mut self.edit {
            Some(edit) => &mut edit.change,
            None => &mut self.change,
        }
    }

    /// Whether the person's version is on screen, and what is in it is not known yet.
    #[must_use]
    pub fn is_checking(&self) -> bool {
        self.edit.as_ref().is_some_and(|edit| edit.check == VersionCheck::Running)
    }

    /// What of it was on screen, as decisions name it.
    #[must_use]
    pub fn for_decision(&self) -> ShownHash {
        let unseen = u32::try_from(self.change.unseen()).unwrap_or(u32::MAX);
        ShownHash { proposal: self.id, hash: self.hash, unseen, stops: 0 }
    }

    /// Lays what is on screen out in that room.
    pub fn lay_out(&mut self, look: Look, space: Viewport) {
        match &mut self.edit {
            Some(edit) => edit.change.lay_out(look, space, &BTreeMap::new()),
            None => self.change.lay_out(look, space, &self.remarks),
        }
    }

    /// The person's comments on lines.
    #[must_use]
    pub fn comments(&self) -> Vec<LineComment> {
        let Some(body) = self.change.body() else { return Vec::new() };
        let comment = |(place, text): (&usize, &String)| {
            let (side, line) = body.number_of(*place)?;
            Some(LineComment { side, line, text: text.clone() })
        };
        self.remarks.iter().filter_map(comment).collect()
    }

    /// What is said of an edit, on screen or put aside.
    #[must_use]
    pub fn edit_words(&self, cx: &Cx<'_>) -> Option<(String, Role)> {
        match (&self.edit, &self.draft) {
            (Some(edit), _) => Some((edit.words(), Role::Person)),
            (None, Some(_)) => {
                let key = cx.key(KeyContext::Review, Action::Edit);
                let text = format!("{MARK} your edit is set aside · {key} goes on with it");
                Some((text, Role::Dim))
            }
            (None, None) => None,
        }
    }

    /// Takes the person's version off the screen; it is kept. Whether there was one.
    pub fn put_edit_aside(&mut self) -> bool {
        let Some(edit) = self.edit.take() else { return false };
        self.draft = Some(edit.text);
        true
    }

    /// Takes over what the person wrote about what it was before: words on lines that are no
    /// longer there become words about the whole.
    fn inherit(&mut self, before: Self) {
        self.draft = before.edit.map(|edit| edit.text).or(before.draft);
        let remarks = before.remarks.into_values();
        let words = std::iter::once(before.words).chain(remarks).filter(|text| !text.is_empty());
        self.words = words.collect::<Vec<_>>().join(" ");
    }
}

/// The proposal with the content that the person had written instead of the proposed one; `None`
/// unless there is such.
fn written(view: &ProposalView) -> Option<Proposal> {
    let (decision, _) = view.decision.as_ref()?;
    let Verdict::ApproveAmended { content, .. } = &decision.verdict else { return None };
    let change = view.proposal.change.with_content(*content)?;
    let (checks, facts) = (Vec::new(), Facts::default());
    Some(Proposal { change, checks, facts, ..view.proposal.clone() })
}

/// The proposals at hand.
pub struct ShownList {
    pub blobs: Arc<dyn BlobSource>,
    list: Vec<Shown>,
}

impl ShownList {
    /// An empty list; contents are read from `blobs`.
    #[must_use]
    pub const fn new(blobs: Arc<dyn BlobSource>) -> Self {
        Self { blobs, list: Vec::new() }
    }

    /// A proposal as it was made.
    #[must_use]
    pub fn get(&self, id: ProposalId) -> Option<&Shown> {
        self.list.iter().find(|shown| shown.id == id)
    }

    /// As [`Self::get`], to be changed.
    pub fn get_mut(&mut self, id: ProposalId) -> Option<&mut Shown> {
        self.list.iter_mut().find(|shown| shown.id == id)
    }

    /// Takes a proposal up, or brings it up to date. Tells whether it was another one before: then
    /// all of it is new, and nothing of it was seen.
    pub fn update(&mut self, view: &ProposalView, review: &Review, on_screen: ProposalId) -> bool {
        let decided = written(view);
        let proposal = decided.as_ref().unwrap_or(&view.proposal);
        if let Some(shown) = self.list.iter_mut().find(|shown| shown.id == proposal.id) {
            shown.change.load.poll();
            let is_changed = shown.hash != proposal.change.hash();
            if is_changed && decided.is_some() {
                // The person's own version is what was approved; the person knows it.
                *shown = Shown::new(proposal, &self.blobs);
                return false;
            }
            if is_changed {
                let before = std::mem::replace(shown, Shown::new(proposal, &self.blobs));
                shown.inherit(before);
            }
            if !review.waiting.contains(&proposal.id) {
                shown.put_edit_aside();
            } else if let Some(edit) = &mut shown.edit {
                edit.follow(view);
            }
            return is_changed;
        }
        self.list.push(Shown::new(proposal, &self.blobs));
        if self.list.len() > MAX_KEPT {
            let is_over =
                |shown: &Shown| shown.id != on_screen && !review.waiting.contains(&shown.id);
            if let Some(place) = self.list.iter().position(is_over) {
                self.list.remove(place);
            }
        }
        false
    }

    /// Shows what came of an edit, to be decided by a key of its own; a text that is about
    /// something else by now is kept. `view` is the proposal if it waits on the screen.
    ///
    /// # Errors
    /// Why it is not shown.
    pub fn edited(
        &mut self,
        of: ShownHash,
        text: String,
        view: Option<&ProposalView>,
        examiner: Option<&Arc<dyn Examiner>>,
    ) -> Result<&'static str, String> {
        let own = self.list.iter_mut().find(|shown| shown.id == of.proposal);
        let own = own.ok_or("the proposal no longer waits; nothing was decided")?;
        own.put_edit_aside();
        own.draft = Some(text.clone());
        let view = view.filter(|_| own.hash == of.hash);
        let view =
            view.ok_or("the proposal changed while you edited; your text is kept for `edit`")?;
        let proposed = proposed_text(&view.proposal.change, self.blobs.as_ref())?;
        if text == proposed {
            own.draft = None;
            return Ok("nothing was edited or decided");
        }
        let examiner =
            Arc::clone(examiner.ok_or("your edit cannot be checked here; it is kept for `edit`")?);
        let about = (view, of, own.comments());
        let edit = Edit::begin(about, (text, proposed), &self.blobs, examiner)
            .ok_or("this writes no text; your text is kept for `edit`")?;
        own.draft = None;
        own.edit = Some(Box::new(edit));
        Ok("nothing is sent yet: this is the result of your edit")
    }
}
