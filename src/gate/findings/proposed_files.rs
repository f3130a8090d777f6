//! What files will hold once the changes are carried out that wait beside a change.
//!
//! Owns the contents that are proposed and not settled. Must not judge them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{Change, ContentHash, Event, ProjectPath, ProposalEvent, ProposalId};
use crate::workspace::ProjectDir;

/// The contents of proposed changes, by their files.
#[derive(Debug, Clone, Default)]
pub(in crate::gate) struct ProposedFiles {
    /// What a file will hold; `None`: it will be gone.
    contents: BTreeMap<ProjectPath, Option<Arc<[u8]>>>,
    /// The proposals without an outcome yet.
    open: BTreeMap<ProposalId, (ProjectPath, Option<ContentHash>)>,
}

impl ProposedFiles {
    /// Notes what a change makes a file hold.
    pub(in crate::gate) fn add(&mut self, change: &Change, content: &[u8]) {
        match change {
            Change::Save { path, .. } | Change::Insert { path, .. } => {
                self.contents.insert(path.clone(), Some(content.into()));
            }
            Change::Delete { path, .. } => {
                self.contents.insert(path.clone(), None);
            }
            Change::Flash(_)
            | Change::Erase(_)
            | Change::Send(_)
            | Change::Read(_)
            | Change::Nvs(_) => {}
        }
    }

    /// Forgets what is settled: from then on the disk tells.
    pub(super) fn observe(&mut self, event: &Event) {
        let Event::Proposal(event) = event else { return };
        if let ProposalEvent::Made(proposal) = event
            && let Some(path) = proposal.change.path()
            && proposal.change.board().is_none()
        {
            let hash = proposal.change.after().map(|content| content.hash);
            self.open.insert(proposal.id, (path.clone(), hash));
        }
        if let ProposalEvent::Settled { proposal, .. } = event
            && let Some((path, hash)) = self.open.remove(proposal)
        {
            let is_same = |content: &Option<Arc<[u8]>>| {
                content.as_ref().map(|content| ContentHash::of(content)) == hash
            };
            if self.contents.get(&path).is_some_and(is_same) {
                self.contents.remove(&path);
            }
        }
    }

    /// Forgets these files; whether there were any.
    pub(in crate::gate) fn leave_out(&mut self, files: &BTreeSet<ProjectPath>) -> bool {
        let before = self.contents.len();
        self.contents.retain(|path, _| !files.contains(path));
        self.contents.len() < before
    }

    /// Whether a change of this file is proposed.
    pub(in crate::gate) fn has(&self, path: &ProjectPath) -> bool {
        self.contents.contains_key(path)
    }

    /// The files that will be gone.
    pub(super) fn gone(&self) -> impl Iterator<Item = &ProjectPath> {
        self.contents.iter().filter(|(_, content)| content.is_none()).map(|(path, _)| path)
    }

    /// The files that change or go.
    pub(super) fn paths(&self) -> impl Iterator<Item = &ProjectPath> {
        self.contents.keys()
    }

    /// The files that will hold text, with it.
    pub(in crate::gate) fn texts(&self) -> impl Iterator<Item = (&ProjectPath, &str)> {
        self.contents.iter().filter_map(|(path, content)| {
            Some((path, std::str::from_utf8(content.as_deref()?).ok()?))
        })
    }

    /// What a file will hold; `None` when it will not be there.
    pub(in crate::gate) fn read(&self, project_dir: &ProjectDir, path: &str) -> Option<Vec<u8>> {
        let path = ProjectPath::new(path).ok()?;
        match self.contents.get(&path) {
            Some(content) => content.as_deref().map(<[u8]>::to_vec),
            None => project_dir.read(&path).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BlobRef;

    #[test]
    fn what_is_proposed_stands_before_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), "old").unwrap();
        std::fs::write(folder.path().join("b.c"), "other").unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let mut files = ProposedFiles::default();
        let path = |path| ProjectPath::new(path).unwrap();
        let blob = |text: &str| BlobRef { hash: ContentHash::of(text.as_bytes()), bytes: 3 };
        let save = Change::Save { path: path("a.c"), base: None, content: blob("new") };
        files.add(&save, b"new");
        files.add(&Change::Delete { path: path("b.c"), base: blob("other") }, b"");
        assert_eq!(files.read(&project_dir, "a.c").as_deref(), Some(b"new".as_slice()));
        assert_eq!(files.read(&project_dir, "b.c"), None);
        assert_eq!(files.texts().collect::<Vec<_>>(), [(&path("a.c"), "new")]);
        assert!(files.has(&path("b.c")) && !files.has(&path("c.c")));
    }
}
