//! Notices files that change on disk.
//!
//! Owns what the files looked like last. Compares lengths and times instead of asking the system
//! to be told: that works on every file system, and costs no watch for each folder. Must not
//! know who changed a file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::Sandbox;
use crate::model::{OutsideChange, ProjectPath};

/// What tells that a file is not what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its length.
    pub bytes: u64,
    /// When it was written last.
    pub modified: Option<SystemTime>,
}

/// The files as they were last.
#[derive(Debug)]
pub struct Watch {
    sandbox: Arc<Sandbox>,
    limit: usize,
    known: BTreeMap<ProjectPath, Stamp>,
}

impl Watch {
    /// Remembers the files as they are now, at most `limit` of them.
    #[must_use]
    pub fn new(sandbox: Arc<Sandbox>, limit: usize) -> Self {
        let known = sandbox.stamps(limit);
        Self { sandbox, limit, known }
    }

    /// What changed since the last call. Files for which `keeps` says so are left as they were,
    /// and looked at again next time.
    pub fn look(&mut self, keeps: impl Fn(&ProjectPath) -> bool) -> Vec<OutsideChange> {
        let now = self.sandbox.stamps(self.limit);
        let mut changed = Vec::new();
        let gone = self.known.keys().filter(|path| !now.contains_key(*path));
        // With a list that is full a file may only have been crowded out.
        let gone = gone.filter(|path| !self.sandbox.is_file(path));
        changed.extend(gone.map(|path| OutsideChange { path: path.clone(), bytes: None }));
        let differs =
            |(path, stamp): &(&ProjectPath, &Stamp)| self.known.get(*path) != Some(*stamp);
        changed.extend(
            now.iter().filter(differs).map(|(path, stamp)| OutsideChange {
                path: path.clone(),
                bytes: Some(stamp.bytes),
            }),
        );
        changed.retain(|change| !keeps(&change.path));
        for change in &changed {
            match now.get(&change.path) {
                Some(stamp) => self.known.insert(change.path.clone(), *stamp),
                None => self.known.remove(&change.path),
            };
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn changes_are_noticed_once_and_what_is_kept_is_looked_at_again() {
        let project = tempfile::tempdir().unwrap();
        let file = |name: &str| project.path().join(name);
        fs::write(file("a.c"), "a").unwrap();
        fs::write(file("b.c"), "b").unwrap();
        let mut watch = Watch::new(Arc::new(Sandbox::open(project.path()).unwrap()), 100);
        assert_eq!(watch.look(|_| false), []);
        fs::write(file("a.c"), "longer").unwrap();
        fs::write(file("new.c"), "n").unwrap();
        fs::remove_file(file("b.c")).unwrap();
        fs::create_dir(file("build")).unwrap();
        fs::write(file("build/out.o"), "x").unwrap();
        let change =
            |path: &str, bytes| OutsideChange { path: ProjectPath::new(path).unwrap(), bytes };
        let keeps = |path: &ProjectPath| path.as_str() == "new.c";
        assert_eq!(watch.look(keeps), [change("b.c", None), change("a.c", Some(6))]);
        assert_eq!(watch.look(|_| false), [change("new.c", Some(1))]);
        assert_eq!(watch.look(|_| false), []);
    }
}
