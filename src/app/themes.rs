//! Themes while the program runs: looked up by name, and read anew when their files change.
//!
//! Waits for the system's word on the folder; asks nothing by itself, so that idling costs
//! nothing.

use std::path::Path;
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::config::Assets;
use crate::model::UserError;
use crate::ui::{Depth, Theme};

/// Editors write a file in several steps; after the first, this long is waited for the others.
const SETTLE: Duration = Duration::from_millis(60);

/// The themes there are.
pub struct Themes {
    assets: Assets,
    depth: Depth,
    /// Kept: it stops watching when dropped. `None`: there is no folder to watch.
    watcher: Option<RecommendedWatcher>,
    changes: mpsc::Receiver<()>,
    /// When a change that was heard of has come to rest.
    rests_at: Option<Instant>,
}

impl Themes {
    /// The themes of `assets`, watching the person's own ones below `config`.
    #[must_use]
    pub fn new(assets: Assets, config: &Path, depth: Depth) -> Self {
        let (changed, changes) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading a file is an event too, and must not lead to reading it again.
            let is_change = event.is_ok_and(|event| {
                let kind = event.kind;
                matches!(kind, EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_))
            });
            if is_change {
                // A full channel knows already.
                let _ = changed.try_send(());
            }
        });
        // Without a folder, or where watching is not possible, themes are read when chosen.
        let watcher = watcher.ok().and_then(|mut watcher| {
            let folder = config.join("themes");
            watcher.watch(&folder, RecursiveMode::NonRecursive).ok().map(|()| watcher)
        });
        Self { assets, depth, watcher, changes, rests_at: None }
    }

    /// The theme of that name.
    ///
    /// # Errors
    /// As [`Theme::load`].
    pub fn load(&self, name: &str) -> Result<Theme, UserError> {
        Theme::load(&self.assets, name, self.depth)
    }

    /// Names of all themes.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        Theme::names(&self.assets)
    }

    /// Resolves when one of the person's own files has changed and rests. Safe to drop and call
    /// again.
    pub async fn changed(&mut self) {
        let rests_at = match self.rests_at {
            Some(at) => at,
            None => {
                if self.watcher.is_none() || self.changes.recv().await.is_none() {
                    std::future::pending::<()>().await;
                }
                let at = Instant::now() + SETTLE;
                // Whoever drops this wait finds the change again with the next one.
                self.rests_at = Some(at);
                at
            }
        };
        tokio::time::sleep_until(rests_at).await;
        self.rests_at = None;
        while self.changes.try_recv().is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn a_changed_file_is_told_once_and_reading_it_is_no_change() {
        let config = tempfile::tempdir().unwrap();
        let folder = config.path().join("themes");
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("own.toml");
        std::fs::write(&file, "inherits = 'dark'").unwrap();
        let assets = Assets::with_user_folder(config.path());
        let mut themes = Themes::new(assets, config.path(), Depth::True);
        assert!(themes.names().contains(&"own".to_owned()));
        std::fs::write(&file, "inherits = 'nord'").unwrap();
        // A wait that is given up for something else loses nothing.
        for _ in 0..20 {
            let _ = timeout(Duration::from_millis(10), themes.changed()).await;
            if themes.rests_at.is_some() {
                break;
            }
        }
        timeout(SOON, themes.changed()).await.unwrap();
        themes.load("own").unwrap();
        assert!(timeout(Duration::from_millis(300), themes.changed()).await.is_err());
        std::fs::remove_file(&file).unwrap();
        timeout(SOON, themes.changed()).await.unwrap();
        assert!(themes.load("own").is_err());
    }

    #[tokio::test]
    async fn without_a_folder_there_is_nothing_to_wait_for() {
        let config = tempfile::tempdir().unwrap();
        let mut themes = Themes::new(Assets::built_in(), config.path(), Depth::True);
        assert!(timeout(Duration::from_millis(50), themes.changed()).await.is_err());
    }
}
