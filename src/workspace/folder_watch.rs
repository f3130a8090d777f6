//! Listens, by the system's means, at the folders of the project.
//!
//! Owns one watch for each folder. Where the system cannot watch them all it is deaf, and says so.

use std::collections::BTreeSet;
use std::path::PathBuf;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// Folders that are listened at; the system bounds how many there may be.
const LIMIT: usize = 4_096;

/// Listens as long as it is kept.
#[derive(Debug)]
pub(super) struct FolderWatch {
    /// `None`: the system does not tell.
    watcher: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
}

/// What an ear hears after it was told which folders there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchCoverage {
    /// Nothing: it is up to others to look.
    Deaf,
    /// Everything, in these folders as before.
    All,
    /// Everything from now on; what happened in new folders before this may have gone unheard.
    AllFromNow,
}

impl FolderWatch {
    /// Calls `told` whenever something happens in a folder that is listened at. Reading a file is
    /// nothing.
    pub fn new(reported: impl Fn() + Send + 'static) -> Self {
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // An error may hide any change.
            if !event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
                reported();
            }
        });
        Self { watcher: watcher.ok(), folders: BTreeSet::new() }
    }

    /// Listens at these folders and no others.
    pub fn listen(&mut self, folders: BTreeSet<PathBuf>) -> WatchCoverage {
        let Some(watcher) = &mut self.watcher else { return WatchCoverage::Deaf };
        for gone in self.folders.difference(&folders) {
            // The system has let go of a removed folder by itself.
            let _ = watcher.unwatch(gone);
        }
        let mut new = folders.difference(&self.folders);
        let is_new = folders.len() > self.folders.len() || new.clone().next().is_some();
        let hears = folders.len() <= LIMIT
            && new.all(|folder| watcher.watch(folder, RecursiveMode::NonRecursive).is_ok());
        if !hears {
            // Half of the news would look like all of it.
            self.watcher = None;
            return WatchCoverage::Deaf;
        }
        self.folders = folders;
        if is_new { WatchCoverage::AllFromNow } else { WatchCoverage::All }
    }
}
