//! What the person would write instead of what was proposed, on screen until it is sent.
//!
//! Owns the text, what was found in it, and which of its lines are the person's own. What is sent
//! is exactly the text that is shown, once it was checked on a thread of its own. Must not decide.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{
    Amended, BlobRef, BlobSource, Change, ContentHash, DecisionNote, Examiner, Facts, Intent,
    LineComment, Proposal, Shown as ShownHash, UserError,
};
use crate::text::diff::{DiffLimits, LineKind, Options, diff};
use crate::text::sanitize;
use crate::ui::job::{BackgroundJob, JobState};
use crate::ui::overlay::Editor;
use crate::ui::pane::OutsideEdit;
use crate::view::ProposalView;

use super::change::ChangeView;
use super::change::draw::MARK;

/// The person's version of a proposed text.
#[derive(Debug)]
pub struct Edit {
    /// What it is a version of, as that was on screen.
    pub of: ShownHash,
    /// The proposal as it would be with this text, and what was found in it so far.
    pub view: ProposalView,
    /// How it is shown.
    pub change: ChangeView,
    /// The whole text.
    pub text: String,
    /// The lines, from 1, that differ from the proposed ones.
    pub lines: BTreeSet<usize>,
    /// How far it was checked.
    pub check: VersionCheck,
    /// Checks the text.
    job: BackgroundJob<Result<Proposal, UserError>>,
    /// What was proposed.
    proposed: String,
    /// Comments that go with it.
    note: DecisionNote,
    /// Lines that differ from what was proposed, those included that are gone.
    differ: usize,
}

/// How far a version of the person was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionCheck {
    Running,
    Done,
    /// It could not be, for this reason.
    Failed(String),
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
    /// Begins to show `text` instead of what `view` proposes, which was on screen as `of`, and has
    /// it checked. `None` for a proposal that writes no text.
    pub fn begin(
        (view, of, comments): (&ProposalView, ShownHash, Vec<LineComment>),
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
        let (check, change) = (VersionCheck::Running, ChangeView::new(&proposal, &blobs));
        let note = DecisionNote { words: String::new(), comments };
        let view = ProposalView { proposal, ..view.clone() };
        Some(Self { of, view, change, text, lines, check, job, proposed, note, differ })
    }

    /// What a decision on it is bound to.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.view.proposal.change.hash()
    }

    /// Opens it to be edited further.
    pub fn go_on(&self) -> Editor {
        let path = self.view.proposal.change.path().map_or("", |path| path.as_str()).to_owned();
        let mut editor = Editor::new(self.of, path, self.proposed.clone(), &self.text);
        if let Some(line) = self.lines.first() {
            editor.go_to(line.saturating_sub(1));
        }
        editor
    }

    /// The text for the person's own editor.
    pub fn outside(&self) -> OutsideEdit {
        outside(self.of, &self.view.proposal.change, self.text.clone())
    }

    /// Approves just what is shown, although so many findings stand against it.
    pub fn intent(&self, stops: u32) -> Intent {
        let unseen = u32::try_from(self.change.unseen()).unwrap_or(u32::MAX);
        Intent::Amend {
            shown: ShownHash { unseen, stops, ..self.of },
            how: Amended::Edit,
            content: self.text.clone().into_bytes(),
            note: self.note.clone(),
            phrase: None,
        }
    }

    /// Brings it up to date with what became of the proposal, and of its check.
    pub fn follow(&mut self, view: &ProposalView) {
        let proposal = self.view.proposal.clone();
        self.view = ProposalView { proposal, ..view.clone() };
        self.change.load.poll();
        if self.check != VersionCheck::Running {
            return;
        }
        self.check = match self.job.look() {
            JobState::Running => return,
            JobState::Done(Ok(proposal)) => {
                self.change.go_to_heaviest(&proposal);
                self.view.proposal = proposal;
                VersionCheck::Done
            }
            JobState::Done(Err(error)) => VersionCheck::Failed(error.to_string()),
            JobState::Lost => VersionCheck::Failed("the check was stopped".to_owned()),
        };
    }

    /// How far it is from what was proposed.
    pub fn words(&self) -> String {
        let differ = match self.differ {
            1 => format!("{MARK} your edit: 1 line differs from the proposal"),
            lines => format!("{MARK} your edit: {lines} lines differ from the proposal"),
        };
        match &self.check {
            VersionCheck::Running => format!("{differ} · checking…"),
            VersionCheck::Failed(why) => {
                format!("{differ} · not checked: {}", sanitize::line(why))
            }
            VersionCheck::Done => differ,
        }
    }
}

/// A text for the person's own editor instead of what a change writes.
pub fn outside(shown: ShownHash, change: &Change, text: String) -> OutsideEdit {
    let name = change.path().map_or("proposal", |path| path.file_name()).to_owned();
    OutsideEdit { shown, name, text }
}
/// The proposed text of a change.
///
/// # Errors
/// Why there is none to edit.
pub fn proposed_text(change: &Change, blobs: &dyn BlobSource) -> Result<String, String> {
    let Some(content) = change.after() else {
        return Err(format!("a {} has no text to edit", change.kind()));
    };
    let bytes = blobs.blob(&content.hash).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes.to_vec());
    text.map_err(|_| "it is not UTF-8 text, so it cannot be edited here".to_owned())
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
