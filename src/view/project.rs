//! The project's files with what the session did to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{
    BuildEvent, Change, Diagnostic, Event, FileEvent, FilesEvent, Outcome, PhaseEvent, ProjectPath,
    ProposalEvent, ProposalId, Record, SessionEvent, Severity, TeamEvent, TurnEvent,
    estimated_tokens,
};

use super::context;
use super::review::Review;

/// The project's files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Project {
    /// By path; files that are only proposed are among them.
    pub files: Arc<BTreeMap<ProjectPath, FileView>>,
    /// How many more files there are than were listed.
    pub omitted: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileView {
    /// Its length on disk; `None` while it is not there.
    pub bytes: Option<u64>,
    /// What this request did or wants to do to it.
    pub mark: Option<FileMark>,
    /// Whether the session changed it, for an earlier request.
    pub is_changed_before: bool,
    /// Errors and warnings the last build found in it.
    pub errors: u32,
    /// Warnings the last build found in it.
    pub warnings: u32,
    /// Whether somebody else changed it since the session last wrote it.
    pub is_changed_outside: bool,
    /// What the person wants of it for the context.
    pub wanted: ContextWish,
    /// Tokens of it, about, that are in the conversation of this attempt.
    pub context: Option<u64>,
    /// The mark that applied proposals left, also while another one covers it.
    lasting: Option<FileMark>,
}

/// What the session did, or wants to do, to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMark {
    /// A proposal that would create it waits.
    ProposedNew,
    /// A proposal that would change it waits.
    ProposedEdit,
    /// A proposal that would insert something into it waits.
    ProposedInsert,
    /// A proposal that would remove it waits.
    ProposedDelete,
    /// Created for this request.
    Created,
    /// Changed for this request.
    Edited,
    /// Removed for this request.
    Deleted,
}

/// What the person wants of a file for the team's context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextWish {
    /// Nothing: the agents choose.
    #[default]
    Unsaid,
    /// The team shall read it.
    In,
    /// The team shall not.
    Out,
}

impl FileMark {
    /// Whether the mark is that of a proposal that waits.
    #[must_use]
    pub const fn is_proposed(self) -> bool {
        use FileMark::{ProposedDelete, ProposedEdit, ProposedInsert, ProposedNew};
        matches!(self, ProposedNew | ProposedEdit | ProposedInsert | ProposedDelete)
    }
}

impl FileView {
    /// Tokens the whole file takes, about.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        estimated_tokens(self.bytes.unwrap_or(0))
    }

    const fn is_of_interest(&self) -> bool {
        self.bytes.is_some() || self.mark.is_some() || matches!(self.wanted, ContextWish::In)
    }
}

impl Project {
    pub(super) fn apply(&mut self, record: &Record, review: &Review) {
        match &record.event {
            Event::Files(FilesEvent::Listed { files, omitted, .. }) => {
                let known = Arc::make_mut(&mut self.files);
                for view in known.values_mut() {
                    view.bytes = None;
                }
                for file in files {
                    known.entry(file.path.clone()).or_default().bytes = Some(file.bytes);
                }
                known.retain(|_, view| view.is_of_interest());
                self.omitted = *omitted;
            }
            Event::Files(FilesEvent::Disk(FileEvent::ChangedOutside { files })) => {
                let known = Arc::make_mut(&mut self.files);
                for change in files {
                    let view = known.entry(change.path.clone()).or_default();
                    view.bytes = change.bytes;
                    view.is_changed_outside = true;
                    if !view.is_of_interest() {
                        known.remove(&change.path);
                    }
                }
            }
            Event::Team(fact) => self.apply_team(fact),
            Event::Phase(PhaseEvent::Started { .. }) => self.forget_context(),
            Event::Turn(TurnEvent::ToolAnswered { result, .. }) => {
                for (path, bytes) in context::files_in(result) {
                    self.add_context(&path, estimated_tokens(bytes));
                }
            }
            Event::Proposal(ProposalEvent::Made(proposal)) => self.propose(&proposal.change),
            Event::Proposal(ProposalEvent::Restated { change, .. }) => self.propose(change),
            Event::Proposal(ProposalEvent::Settled { proposal, outcome }) => {
                self.settle(*proposal, outcome, review)
            }
            Event::Build(BuildEvent::Ended { diagnostics, .. }) => self.count(diagnostics),
            Event::Session(SessionEvent::RunStarted(_)) => self.begin_request(),
            Event::Session(_)
            | Event::Phase(_)
            | Event::Turn(_)
            | Event::Model(_)
            | Event::Proposal(_)
            | Event::Build(_)
            | Event::Test(_)
            | Event::Log(_)
            | Event::Board(_)
            | Event::Port(_)
            | Event::Person(_) => {}
        }
    }

    /// Counts the errors and warnings of the last build for each file.
    fn count(&mut self, diagnostics: &[Diagnostic]) {
        let known = Arc::make_mut(&mut self.files);
        for view in known.values_mut() {
            (view.errors, view.warnings) = (0, 0);
        }
        for diagnostic in diagnostics {
            let path = diagnostic.file.as_deref().and_then(|f| ProjectPath::new(f).ok());
            let Some(view) = path.and_then(|path| known.get_mut(&path)) else { continue };
            match diagnostic.severity {
                Severity::Error => view.errors += 1,
                Severity::Warning => view.warnings += 1,
                Severity::Note => {}
            }
        }
    }

    /// What was done for earlier requests is the ground of this one.
    fn begin_request(&mut self) {
        let files = Arc::make_mut(&mut self.files);
        for view in files.values_mut() {
            if let Some(mark) = view.lasting.take() {
                view.is_changed_before = mark != FileMark::Deleted;
            }
            view.mark = view.mark.filter(|mark| mark.is_proposed());
        }
        files.retain(|_, view| view.is_of_interest());
    }

    fn propose(&mut self, change: &Change) {
        if let Some((path, mark)) = wish(change) {
            Arc::make_mut(&mut self.files).entry(path.clone()).or_default().mark = Some(mark);
        }
        if let Change::Save { path, content, .. } | Change::Insert { path, content, .. } = change {
            self.add_context(path, estimated_tokens(content.bytes));
        }
    }

    fn apply_team(&mut self, fact: &TeamEvent) {
        match fact {
            TeamEvent::ContextEdited { add, remove } => {
                let known = Arc::make_mut(&mut self.files);
                for path in remove {
                    known.entry(path.clone()).or_default().wanted = ContextWish::Out;
                }
                for path in add {
                    known.entry(path.clone()).or_default().wanted = ContextWish::In;
                }
            }
            TeamEvent::ContextListed { files, .. } => {
                for file in files.iter().filter(|file| file.bytes.is_some()) {
                    self.add_context(&file.path, file.tokens);
                }
            }
            _ => {}
        }
    }

    /// Takes note that so many tokens of a file are in the conversation.
    fn add_context(&mut self, path: &ProjectPath, tokens: u64) {
        if let Some(view) = Arc::make_mut(&mut self.files).get_mut(path) {
            view.context = view.context.max(Some(tokens));
        }
    }

    /// An attempt begins with an empty conversation.
    fn forget_context(&mut self) {
        if self.files.values().any(|view| view.context.is_some()) {
            for view in Arc::make_mut(&mut self.files).values_mut() {
                view.context = None;
            }
        }
    }

    fn settle(&mut self, id: ProposalId, outcome: &Outcome, review: &Review) {
        let Some(settled) = review.get(id) else { return };
        let Some(path) = settled.proposal.change.path() else { return };
        let applied = *outcome == Outcome::Applied;
        let files = Arc::make_mut(&mut self.files);
        let view = files.entry(path.clone()).or_default();
        if applied {
            view.bytes = match &settled.proposal.change {
                Change::Read(plan) => Some(plan.region.bytes.into()),
                _ => settled.written().map(|blob| blob.bytes),
            };
            view.is_changed_outside = false;
            view.lasting = lasting_mark(view.lasting, &settled.proposal.change);
        }
        let wishes = review.waiting().filter_map(|waiting| wish(&waiting.proposal.change));
        let wished = wishes.filter(|(of, _)| *of == path).map(|(_, mark)| mark).last();
        view.mark = wished.or(view.lasting);
        if !view.is_of_interest() {
            files.remove(path);
        }
    }
}

/// The file that a change touches, and the mark it sets while it waits.
fn wish(change: &Change) -> Option<(&ProjectPath, FileMark)> {
    match change {
        Change::Save { path, base: None, .. } => Some((path, FileMark::ProposedNew)),
        Change::Save { path, base: Some(_), .. } => Some((path, FileMark::ProposedEdit)),
        Change::Insert { path, .. } => Some((path, FileMark::ProposedInsert)),
        Change::Delete { path, .. } => Some((path, FileMark::ProposedDelete)),
        Change::Read(plan) => Some((&plan.path, FileMark::ProposedNew)),
        Change::Flash(_) | Change::Erase(_) | Change::Send(_) | Change::Nvs(_) => None,
    }
}

/// The mark that an applied change leaves on a file that had `before`. What the session itself
/// created stays created when edited, and leaves nothing when removed.
fn lasting_mark(before: Option<FileMark>, change: &Change) -> Option<FileMark> {
    let was_created = before == Some(FileMark::Created);
    match change {
        Change::Save { base: None, .. } | Change::Read(_) => Some(FileMark::Created),
        Change::Save { .. } | Change::Insert { .. } if was_created => Some(FileMark::Created),
        Change::Save { .. } | Change::Insert { .. } => Some(FileMark::Edited),
        Change::Delete { .. } if was_created => None,
        Change::Delete { .. } => Some(FileMark::Deleted),
        Change::Flash(_) | Change::Erase(_) | Change::Send(_) | Change::Nvs(_) => before,
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{
        Batch, BatchId, BlobRef, CallId, ContentHash, Proposal, Seq, Timestamp, TurnId,
        event::ProjectFile,
    };

    use super::*;
    use crate::view::SessionView;

    fn blob(bytes: u64) -> BlobRef {
        BlobRef { hash: ContentHash::of(&bytes.to_le_bytes()), bytes }
    }

    fn path() -> ProjectPath {
        ProjectPath::new("main/a.c").unwrap()
    }

    fn save(base: Option<u64>) -> Change {
        Change::Save { path: path(), base: base.map(blob), content: blob(9) }
    }

    fn proposed(id: u32, change: Change) -> Event {
        Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
            id: ProposalId(id),
            turn: TurnId(1),
            call: CallId(1),
            agent: "A".into(),
            tool: "generate_code".into(),
            reason: String::new(),
            batch: Batch { id: BatchId(1), index: 1, of: 1 },
            change,
            checks: vec![],
            facts: crate::model::Facts::default(),
        })))
    }

    fn settled(id: u32, outcome: Outcome) -> Event {
        Event::Proposal(ProposalEvent::Settled { proposal: ProposalId(id), outcome })
    }

    /// The mark and length of `main/a.c` after each event.
    fn marks(events: Vec<Event>) -> Vec<Option<(Option<FileMark>, Option<u64>)>> {
        let mut view = SessionView::default();
        let follow = |(seq, event)| {
            view.apply(&Record { v: 1, seq: Seq(seq), at: Timestamp(0), event });
            view.project.files.get(&path()).map(|file| (file.mark, file.bytes))
        };
        (1..).zip(events).map(follow).collect()
    }

    #[test]
    fn what_the_session_created_stays_created_until_it_is_removed() {
        use FileMark::{Created, ProposedDelete, ProposedEdit, ProposedNew};
        let delete = Change::Delete { path: path(), base: blob(9) };
        let shown = marks(vec![
            proposed(1, save(None)),
            settled(1, Outcome::Applied),
            proposed(2, save(Some(9))),
            settled(2, Outcome::Denied),
            proposed(3, save(Some(9))),
            settled(3, Outcome::Applied),
            proposed(4, delete),
            settled(4, Outcome::Applied),
        ]);
        let expected = [
            Some((Some(ProposedNew), None)),
            Some((Some(Created), Some(9))),
            Some((Some(ProposedEdit), Some(9))),
            Some((Some(Created), Some(9))),
            Some((Some(ProposedEdit), Some(9))),
            Some((Some(Created), Some(9))),
            Some((Some(ProposedDelete), Some(9))),
            None,
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_an_earlier_request_changed_is_told_as_earlier() {
        use FileMark::{Created, Edited};
        let start = crate::model::event::RunStart {
            number: 2,
            task: "more".into(),
            team: "x".into(),
            why: String::new(),
            changed: vec![],
        };
        let mut view = SessionView::default();
        let mut apply = |event| {
            let seq = view.seq.next();
            view.apply(&Record { v: 1, seq, at: Timestamp(0), event });
            view.project.files.get(&path()).map(|file| (file.mark, file.is_changed_before))
        };
        apply(proposed(1, save(None)));
        assert_eq!(apply(settled(1, Outcome::Applied)), Some((Some(Created), false)));
        let next = apply(Event::Session(SessionEvent::RunStarted(Box::new(start))));
        assert_eq!(next, Some((None, true)));
        apply(proposed(2, save(Some(9))));
        assert_eq!(apply(settled(2, Outcome::Applied)), Some((Some(Edited), true)));
    }

    #[test]
    fn a_file_is_marked_as_proposed_while_any_proposal_for_it_waits() {
        use FileMark::{Edited, ProposedDelete};
        let files = vec![ProjectFile { path: path(), bytes: 5 }];
        let delete = Change::Delete { path: path(), base: blob(5) };
        let shown = marks(vec![
            Event::Files(FilesEvent::Listed { files, omitted: 0, signatures: Vec::new() }),
            proposed(1, save(Some(5))),
            proposed(2, delete),
            settled(1, Outcome::Applied),
            settled(2, Outcome::Denied),
        ]);
        assert_eq!(shown[0], Some((None, Some(5))));
        assert_eq!(shown[3], Some((Some(ProposedDelete), Some(9))));
        assert_eq!(shown[4], Some((Some(Edited), Some(9))));
    }
}
