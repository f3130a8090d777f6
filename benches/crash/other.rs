//! Somebody else who saves files of the project while the session works on them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use firmhand::model::ContentHash;

use super::Chance;
use super::world::paths;

/// One file that was saved.
#[derive(Debug, Clone)]
pub struct Save {
    pub path: String,
    pub hash: ContentHash,
}

/// One who saves now and then, as an editor does: a whole file, put in place by a rename.
pub struct Other {
    stop: Arc<AtomicBool>,
    work: JoinHandle<Vec<Save>>,
}

impl Other {
    /// Begins. Contents are told apart by `chance`.
    pub fn start(root: &Path, project: PathBuf, mut chance: Chance) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (is_over, draft) = (Arc::clone(&stop), root.join("draft"));
        let work = thread::spawn(move || {
            let mut saves = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(5 + chance.below(120)));
                let path = paths().swap_remove(chance.index(paths().len()));
                let place = project.join(&path);
                let text = format!("// saved by somebody else: {}\n", chance.below(1 << 31));
                // Only where the session has made the folder.
                if fs::write(&draft, &text).and_then(|()| fs::rename(&draft, &place)).is_ok() {
                    saves.push(Save { path, hash: ContentHash::of(text.as_bytes()) });
                }
            }
            saves
        });
        Self { stop, work }
    }

    /// Ends, and tells what was saved.
    pub fn end(self) -> Vec<Save> {
        self.stop.store(true, Ordering::Relaxed);
        self.work.join().unwrap_or_default()
    }
}
