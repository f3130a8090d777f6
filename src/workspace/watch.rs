//! Notices files that change on disk.
//!
//! Owns what the files looked like last. The system says when to look, where it can; what changed
//! is found by comparing lengths and times, which works on every file system. Must not know who
//! changed a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ProjectDir;
use super::folder_watch::{FolderWatch, WatchCoverage};
use super::list::FileListing;
pub use super::list::WatchStamp;
use crate::model::{OutsideChange, ProjectPath};

/// The files as they were last.
#[derive(Debug)]
pub struct Watch {
    project_dir: Arc<ProjectDir>,
    limit: usize,
    known: BTreeMap<ProjectPath, WatchStamp>,
    folders: FolderWatch,
}

/// What a look has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// What changed since the look before.
    pub changed: Vec<OutsideChange>,
    /// When the next one is due.
    pub next: Next,
}

/// When to look again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Soon: something may have gone unheard.
    Soon,
    /// When the system says so.
    WhenNotified,
    /// Now and then: the system says nothing.
    NowAndThen,
}

impl Watch {
    /// Remembers the files as they are now, at most `limit` of them, and calls `told` when it is
    /// time to look, where the system says so.
    #[must_use]
    pub fn new(
        project_dir: Arc<ProjectDir>,
        limit: usize,
        reported: impl Fn() + Send + 'static,
    ) -> Self {
        let known = project_dir.look_over(limit).files;
        let signal = project_dir.changes.clone();
        let folders = FolderWatch::new(move || {
            signal.notify();
            reported();
        });
        Self { project_dir, limit, known, folders }
    }

    /// What changed since the last call. Files for which `keeps` says so are left as they were,
    /// and looked at again next time.
    pub fn look(&mut self, keeps: impl Fn(&ProjectPath) -> bool) -> Looked {
        let FileListing { files: now, folders } = self.project_dir.look_over(self.limit);
        let hearing = self.folders.listen(folders);
        self.project_dir.changes.set_events_available(hearing != WatchCoverage::Deaf);
        let mut changed = Vec::new();
        let gone = self.known.keys().filter(|path| !now.contains_key(*path));
        // With a list that is full a file may only have been crowded out.
        let gone = gone.filter(|path| !self.project_dir.is_file(path));
        changed.extend(gone.map(|path| OutsideChange { path: path.clone(), bytes: None }));
        let differs =
            |(path, stamp): &(&ProjectPath, &WatchStamp)| self.known.get(*path) != Some(*stamp);
        changed.extend(
            now.iter().filter(differs).map(|(path, stamp)| OutsideChange {
                path: path.clone(),
                bytes: Some(stamp.bytes),
            }),
        );
        let all = changed.len();
        changed.retain(|change| !keeps(&change.path));
        for change in &changed {
            match now.get(&change.path) {
                Some(stamp) => self.known.insert(change.path.clone(), *stamp),
                None => self.known.remove(&change.path),
            };
        }
        let next = match hearing {
            WatchCoverage::Deaf => Next::NowAndThen,
            WatchCoverage::All if changed.len() == all => Next::WhenNotified,
            WatchCoverage::All | WatchCoverage::AllFromNow => Next::Soon,
        };
        Looked { changed, next }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.project_dir.changes.set_events_available(false);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    fn change(path: &str, bytes: impl Into<Option<u64>>) -> OutsideChange {
        OutsideChange { path: ProjectPath::new(path).unwrap(), bytes: bytes.into() }
    }

    #[test]
    fn changes_are_noticed_once_and_what_is_kept_is_looked_at_again() {
        let project = tempfile::tempdir().unwrap();
        let file = |name: &str| project.path().join(name);
        fs::write(file("a.c"), "a").unwrap();
        fs::write(file("b.c"), "b").unwrap();
        let mut watch = Watch::new(Arc::new(ProjectDir::open(project.path()).unwrap()), 100, || ());
        assert_eq!(watch.look(|_| false).changed, []);
        fs::write(file("a.c"), "longer").unwrap();
        fs::write(file("new.c"), "n").unwrap();
        fs::remove_file(file("b.c")).unwrap();
        fs::create_dir(file("build")).unwrap();
        fs::write(file("build/out.o"), "x").unwrap();
        let keeps = |path: &ProjectPath| path.as_str() == "new.c";
        let looked = watch.look(keeps);
        assert_eq!(looked.changed, [change("b.c", None), change("a.c", 6)]);
        assert_ne!(looked.next, Next::WhenNotified, "a file was left for the next look");
        assert_eq!(watch.look(|_| false).changed, [change("new.c", 1)]);
        assert_eq!(watch.look(|_| false).changed, []);
    }

    #[test]
    fn the_system_says_when_to_look_and_reading_is_no_reason() {
        let project = tempfile::tempdir().unwrap();
        let file = |name: &str| project.path().join(name);
        fs::create_dir(file("main")).unwrap();
        fs::write(file("main/main.c"), "a").unwrap();
        let (tell, reported) = std::sync::mpsc::channel();
        let (soon, never) = (Duration::from_secs(10), Duration::from_millis(200));
        let project_dir = Arc::new(ProjectDir::open(project.path()).unwrap());
        let mut watch = Watch::new(project_dir, 100, move || _ = tell.send(()));
        assert_eq!(watch.look(|_| false), Looked { changed: vec![], next: Next::Soon });
        assert_eq!(watch.look(|_| false), Looked { changed: vec![], next: Next::WhenNotified });
        fs::read(file("main/main.c")).unwrap();
        assert!(reported.recv_timeout(never).is_err());
        // A folder that comes later is listened at too; what is in it by then is found by looking.
        fs::create_dir_all(file("components/bus")).unwrap();
        reported.recv_timeout(soon).unwrap();
        assert_eq!(watch.look(|_| false).next, Next::Soon);
        while reported.try_recv().is_ok() {}
        fs::write(file("components/bus/bus.c"), "b").unwrap();
        reported.recv_timeout(soon).unwrap();
        assert_eq!(watch.look(|_| false).changed, [change("components/bus/bus.c", 1)]);
        fs::remove_dir_all(file("components")).unwrap();
        reported.recv_timeout(soon).unwrap();
        assert_eq!(watch.look(|_| false).changed, [change("components/bus/bus.c", None)]);
    }
}
