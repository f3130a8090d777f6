//! What the person would write instead of what was proposed, on screen until it is sent.
//!
//! Owns the text, what was found in it, and which of its lines are the person's own. What is sent
//! is exactly the text that is shown, once it was checked on a thread of its own. Must not decide.

use std::collections::BTreeSet;
use std::sync::Arc;

use ratatui::text::Line;

use crate::model::{
    Amended, BlobRef, BlobSource, ContentHash, DecisionNote, Examiner, Facts, Intent, Proposal,
    Shown as ShownHash, UserError,
};
use crate::text::diff::{DiffLimits, LineKind, Options, diff};
use crate::text::sanitize;
use crate::ui::action::{Action, KeyContext};
use crate::ui::job::{BackgroundJob, JobState};
use crate::ui::overlay::Editor;
use crate::ui::pane::{Cx, Effect, OutsideEdit};
use crate::ui::role::Role;
use crate::view::{ProposalView, Review};

use super::ReviewPane;
use super::decide;
use super::head::HeadRow;
use super::shown::Shown;

/// Stands before lines that the person wrote.
pub(super) const MARK: &str = "✎";

/// The person's version of a proposed text.
#[derive(Debug)]
pub struct Edit {
    /// What it is a version of, as that was on screen.
    of: ShownHash,
    /// The proposal as it would be with this text, and what was found in it so far.
    pub view: ProposalView,
    /// Looks at the text.
    job: BackgroundJob<Result<Proposal, UserError>>,
    /// How it is shown.
    pub shown: Shown,
    /// The whole text.
    pub text: String,
    /// What was proposed.
    proposed: String,
    /// Comments that go with it.
    note: DecisionNote,
    /// Lines that differ from what was proposed.
    differ: usize,
}

/// How far a version of the person was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionCheck {
    /// Not yet.
    Running,
    /// It was.
    Done,
    /// It could not be, for this reason.
    Failed(String),
}

/// What is particular of the person's version.
#[derive(Debug)]
pub struct OwnVersion {
    /// The lines, from 1, that differ from the proposed ones.
    pub lines: BTreeSet<usize>,
    /// How far it was looked at.
    pub check: VersionCheck,
}

/// The session's contents, and one that is not stored yet.
struct WithText {
    stored: Arc<dyn BlobSource>,
    hash: ContentHash,
    text: Arc<[u8]>,
}

impl BlobSource for WithText {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        if *hash == self.hash { Ok(Arc::clone(&self.text)) } else { self.stored.blob(hash) }
    }
}

impl Edit {
    /// Begins to show `text` instead of what `view` proposes, which was on screen as `own`, and has
    /// it looked at. `None` for a proposal that writes no text.
    fn begin(
        (view, own, of): (&ProposalView, &Shown, ShownHash),
        (text, proposed): (String, String),
        blobs: &Arc<dyn BlobSource>,
        examiner: Arc<dyn Examiner>,
    ) -> Option<Self> {
        let bytes: Arc<[u8]> = text.as_bytes().into();
        let hash = ContentHash::of(&bytes);
        let stored = BlobRef { hash, bytes: bytes.len() as u64 };
        let change = view.proposal.change.with_content(stored)?;
        let job = {
            let (of, bytes) = (view.proposal.clone(), Arc::clone(&bytes));
            BackgroundJob::start(move || examiner.examine(&of, &bytes))
        };
        let (checks, facts) = (Vec::new(), Facts::default());
        let proposal = Proposal { change, checks, facts, ..view.proposal.clone() };
        let with_text = WithText { stored: Arc::clone(blobs), hash, text: bytes };
        let blobs: Arc<dyn BlobSource> = Arc::new(with_text);
        let (lines, differ) = own_lines(&proposed, &text);
        let mut shown = Shown::new(&proposal, &blobs);
        shown.own = Some(OwnVersion { lines, check: VersionCheck::Running });
        let note = DecisionNote { words: String::new(), comments: decide::comments(own) };
        let view = ProposalView { proposal, ..view.clone() };
        Some(Self { of, view, job, shown, text, proposed, note, differ })
    }

    /// What it is a version of, as that was on screen.
    pub const fn of(&self) -> ShownHash {
        self.of
    }

    /// Opens it to be edited further.
    pub fn go_on(&self) -> Editor {
        let path = self.view.proposal.change.path().map_or("", |path| path.as_str()).to_owned();
        let mut editor = Editor::new(self.of, path, self.proposed.clone(), &self.text);
        if let Some(line) = self.shown.own.as_ref().and_then(|own| own.lines.first()) {
            editor.go_to(line.saturating_sub(1));
        }
        editor
    }

    /// The text for the person's own editor.
    pub fn outside(&self) -> OutsideEdit {
        let path = self.view.proposal.change.path();
        let name = path.map_or("proposal", |path| path.file_name()).to_owned();
        OutsideEdit { shown: self.of, name, text: self.text.clone() }
    }

    /// Approves just what is shown, although so many findings stand against it.
    pub fn intent(&self, stops: u32) -> Intent {
        let unseen = u32::try_from(self.shown.unseen()).unwrap_or(u32::MAX);
        Intent::Amend {
            shown: ShownHash { unseen, stops, ..self.of },
            how: Amended::Edit,
            content: self.text.clone().into_bytes(),
            note: self.note.clone(),
            phrase: None,
        }
    }

    /// Brings it up to date with what became of the proposal.
    fn follow(&mut self, view: &ProposalView) {
        let proposal = self.view.proposal.clone();
        self.view = ProposalView { proposal, ..view.clone() };
        self.shown.poll();
        if self.shown.version_check() != Some(&VersionCheck::Running) {
            return;
        }
        let check = match self.job.look() {
            JobState::Running => return,
            JobState::Done(Ok(proposal)) => {
                self.shown.go_to_heaviest(&proposal);
                self.view.proposal = proposal;
                VersionCheck::Done
            }
            JobState::Done(Err(error)) => VersionCheck::Failed(error.to_string()),
            JobState::Lost => VersionCheck::Failed("the check was broken off".to_owned()),
        };
        if let Some(own) = &mut self.shown.own {
            own.check = check;
        }
    }

    /// How far it is from what was proposed.
    fn words(&self) -> String {
        let differ = match self.differ {
            1 => format!("{MARK} your edit: 1 line differs from the proposal"),
            lines => format!("{MARK} your edit: {lines} lines differ from the proposal"),
        };
        match self.shown.version_check() {
            Some(VersionCheck::Running) => format!("{differ} · checking…"),
            Some(VersionCheck::Failed(why)) => {
                format!("{differ} · not checked: {}", sanitize::line(why))
            }
            Some(VersionCheck::Done) | None => differ,
        }
    }
}

/// The lines of `text`, from 1, that are not as in `proposed`, and how many lines differ in all.
fn own_lines(proposed: &str, text: &str) -> (BTreeSet<usize>, usize) {
    let limits = DiffLimits { lines: usize::MAX, line: usize::MAX, bytes: usize::MAX };
    let options = Options { context: 0, limits, ..Options::default() };
    let found = diff(proposed.as_bytes(), text.as_bytes(), options);
    let (mut own, mut differ) = (BTreeSet::new(), 0);
    for hunk in &found.hunks {
        let added = hunk.lines.iter().filter(|line| line.kind == LineKind::Added);
        let removed = hunk.lines.iter().filter(|line| line.kind == LineKind::Removed).count();
        differ += added.clone().count().max(removed);
        own.extend(added.filter_map(|line| line.new_no));
    }
    (own, differ)
}

impl ReviewPane {
    /// Has what the person writes looked at by `examiner`.
    pub fn examine_by(&mut self, examiner: Arc<dyn Examiner>) {
        self.examiner = Some(examiner);
    }

    /// The person's version that is on screen instead of a proposal.
    pub(super) fn edit_on_screen(&self) -> Option<&Edit> {
        let id = self.queue.on_screen()?;
        self.own(id).and_then(|own| own.edit.as_deref())
    }

    /// What is on screen and decided on: a proposal, or the person's version of it.
    pub(super) fn view_on_screen<'v>(&'v self, review: &'v Review) -> Option<&'v ProposalView> {
        let edit = self.edit_on_screen().map(|edit| &edit.view);
        edit.or_else(|| self.queue.on_screen().and_then(|id| review.get(id)))
    }

    /// Shows what came of an edit, to be decided by a key of its own; a text that is about
    /// something else by now is kept.
    pub fn edited(&mut self, of: ShownHash, text: String, review: &Review) -> Vec<Effect> {
        let (id, draft) = (of.proposal, text.clone());
        let Some(own) = self.kept.iter_mut().find(|shown| shown.id == id) else {
            return Effect::refuse("the proposal no longer waits; nothing was decided");
        };
        own.put_edit_aside();
        own.draft = Some(draft);
        let is_same = self.queue.on_screen() == Some(id) && own.hash == of.hash;
        let Some(view) = review.get(id).filter(|_| is_same && review.waiting.contains(&id)) else {
            return Effect::refuse(
                "the proposal changed while you edited; your text is kept for `edit`",
            );
        };
        let proposed = match decide::proposed_text(&view.proposal.change, self.blobs.as_ref()) {
            Ok(proposed) => proposed,
            Err(why) => return Effect::refuse(why),
        };
        if text == proposed {
            own.draft = None;
            return Effect::info("nothing was edited or decided");
        }
        let Some(examiner) = &self.examiner else {
            return Effect::refuse("your edit cannot be checked here; it is kept for `edit`");
        };
        let (texts, examiner) = ((text, proposed), Arc::clone(examiner));
        let Some(edit) = Edit::begin((view, own, of), texts, &self.blobs, examiner) else {
            return Effect::refuse("this writes no text; your text is kept for `edit`");
        };
        own.draft = None;
        own.edit = Some(Box::new(edit));
        self.picking = None;
        Effect::info("nothing is sent yet: this is the result of your edit")
    }

    /// Takes the person's version off the screen; `None` when there is none.
    pub(super) fn put_edit_aside(&mut self, cx: &Cx<'_>) -> Option<Vec<Effect>> {
        let id = self.queue.on_screen()?;
        let own = self.kept.iter_mut().find(|shown| shown.id == id)?;
        own.put_edit_aside().then(|| {
            let key = cx.key(KeyContext::Review, Action::Edit);
            Effect::info(format!("nothing was sent; your edit is kept, {key} goes on with it"))
        })
    }

    /// Brings the person's version up to date, or puts it aside when nothing waits any more.
    pub(super) fn follow_edit(&mut self, view: &ProposalView, review: &Review) {
        let id = view.proposal.id;
        let Some(own) = self.kept.iter_mut().find(|shown| shown.id == id) else { return };
        if !review.waiting.contains(&id) {
            own.put_edit_aside();
        } else if let Some(edit) = &mut own.edit {
            edit.follow(view);
        }
    }

    /// Why a key that is about the proposal does nothing while the person's version is on screen.
    pub(super) fn refused_by_edit(&self, action: Action, cx: &Cx<'_>) -> Option<Vec<Effect>> {
        let is_about_it = matches!(
            action,
            Action::Approve
                | Action::ApproveUnseen
                | Action::ApproveDespite
                | Action::Edit
                | Action::EditOutside
        );
        let is_held = action.is_decision()
            || action.begins_decision()
            || matches!(action, Action::ApproveRest | Action::Rules);
        if is_about_it || !is_held || self.edit_on_screen().is_none() {
            return None;
        }
        let (send, back) =
            (cx.key(KeyContext::Review, Action::Approve), cx.key(KeyContext::Review, Action::Back));
        Some(Effect::refuse(format!(
            "your edit waits here: {send} sends it, {back} sets it aside first"
        )))
    }

    /// The row that tells of an edit, on screen or put aside.
    pub(super) fn edit_row(&self, cx: &Cx<'_>) -> Option<HeadRow> {
        let id = self.queue.on_screen().filter(|id| cx.view.review.waiting.contains(id))?;
        let own = self.own(id)?;
        let (text, role) = match (&own.edit, &own.draft) {
            (Some(edit), _) => (edit.words(), Role::Person),
            (None, Some(_)) => {
                let key = cx.key(KeyContext::Review, Action::Edit);
                (format!("{MARK} your edit is set aside · {key} goes on with it"), Role::Dim)
            }
            (None, None) => return None,
        };
        let left = Line::styled(format!(" {text}"), cx.style(role));
        Some(HeadRow { left, right: Line::default() })
    }
}
