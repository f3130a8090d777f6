//! How much a run keeps on the disk.
//!
//! No limit of the system bounds what several files take together. Free space and free files are
//! asked for often, which costs nothing; the folders are walked when these have gone down, and now
//! and then, for others on the machine may free what the run takes.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files and folders that a run may keep.
const MOST_FILES: u64 = 300_000;

/// The folders are walked at least so often.
const EVERY: Duration = Duration::from_secs(2);

/// But walking takes no more of the time than one part of this many.
const SHARE: u32 = 50;

/// Bytes of a block as the system counts them.
const BLOCK: u64 = 512;

/// Watches the folders that a run may write in.
#[derive(Debug)]
pub(super) struct DiskWatch {
    folders: Vec<PathBuf>,
    limit: u64,
    /// What was free when the folders were walked last.
    seen: Vec<FreeSpace>,
    /// When they are walked again at the latest.
    due: Instant,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct FreeSpace {
    bytes: u64,
    files: u64,
}

/// What a run keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Kept {
    bytes: u64,
    files: u64,
}

impl Kept {
    fn is_over(self, limit: u64) -> bool {
        self.bytes > limit || self.files > MOST_FILES
    }
}

impl DiskWatch {
    /// Watches folders in which a run may keep `limit` bytes.
    pub fn new(folders: &[PathBuf], limit: u64) -> Self {
        let seen = folders.iter().map(|folder| free(folder)).collect();
        Self { folders: folders.to_vec(), limit, seen, due: Instant::now() + EVERY }
    }

    /// Whether the run keeps more than it may. `holders` are its processes: what they hold open
    /// counts, also when it no longer has a name.
    pub fn is_over(&mut self, holders: impl FnOnce() -> Vec<i32>) -> bool {
        let now: Vec<FreeSpace> = self.folders.iter().map(|folder| free(folder)).collect();
        let step = FreeSpace { bytes: self.limit / 4, files: MOST_FILES / 4 };
        let has_shrunk = self.seen.iter().zip(&now).any(|(seen, now)| {
            seen.bytes.saturating_sub(now.bytes) >= step.bytes
                || seen.files.saturating_sub(now.files) >= step.files
        });
        let began = Instant::now();
        if !has_shrunk && began < self.due {
            return false;
        }
        self.seen = now;
        let kept = self.kept(holders);
        self.due = Instant::now() + EVERY.max(began.elapsed() * SHARE);
        kept.is_over(self.limit)
    }

    fn kept(&self, holders: impl FnOnce() -> Vec<i32>) -> Kept {
        let mut kept = Kept::default();
        let mut counted = BTreeSet::new();
        for folder in &self.folders {
            walk(folder, self.limit, &mut kept, &mut counted);
        }
        if !kept.is_over(self.limit) {
            let devices =
                self.folders.iter().filter_map(|folder| Some(fs::metadata(folder).ok()?.dev()));
            let devices: BTreeSet<u64> = devices.collect();
            for holder in holders() {
                count_nameless(holder, &devices, &mut kept, &mut counted);
            }
        }
        kept
    }
}

fn free(folder: &Path) -> FreeSpace {
    let Ok(found) = rustix::fs::statvfs(folder) else { return FreeSpace::default() };
    FreeSpace { bytes: found.f_bfree.saturating_mul(found.f_frsize), files: found.f_ffree }
}

/// Adds what lies below a folder, no link followed, until it is too much.
fn walk(folder: &Path, limit: u64, kept: &mut Kept, counted: &mut BTreeSet<(u64, u64)>) {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(found) = entry.metadata() else { continue };
            if found.nlink() > 1 && !found.is_dir() && !counted.insert((found.dev(), found.ino())) {
                continue;
            }
            kept.bytes = kept.bytes.saturating_add(found.blocks().saturating_mul(BLOCK));
            kept.files += 1;
            if kept.is_over(limit) {
                return;
            }
            if found.is_dir() {
                open.push(entry.path());
            }
        }
    }
}

/// Adds the files that a process holds open and that have no name.
fn count_nameless(
    process: i32,
    devices: &BTreeSet<u64>,
    kept: &mut Kept,
    counted: &mut BTreeSet<(u64, u64)>,
) {
    let Ok(open) = fs::read_dir(format!("/proc/{process}/fd")) else { return };
    for entry in open.flatten() {
        let Ok(found) = fs::metadata(entry.path()) else { continue };
        let is_one = found.is_file() && found.nlink() == 0 && devices.contains(&found.dev());
        if is_one && counted.insert((found.dev(), found.ino())) {
            kept.bytes = kept.bytes.saturating_add(found.blocks().saturating_mul(BLOCK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_the_folders_is_counted_once_and_without_following_links() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("large"), vec![1; 200_000]).unwrap();
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("a/b")).unwrap();
        fs::write(place.path().join("a/b/one"), vec![1; 40_000]).unwrap();
        fs::hard_link(place.path().join("a/b/one"), place.path().join("two")).unwrap();
        std::os::unix::fs::symlink(outside.path(), place.path().join("way")).unwrap();
        let mut kept = Kept::default();
        walk(place.path(), u64::MAX, &mut kept, &mut BTreeSet::new());
        assert!((40_000..80_000).contains(&kept.bytes), "{kept:?}");
        assert_eq!(kept.files, 4);
    }

    #[test]
    fn a_file_without_a_name_counts_while_somebody_holds_it() {
        let mut held = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut held, &vec![1; 40_000]).unwrap();
        let devices = BTreeSet::from([held.metadata().unwrap().dev()]);
        let (mut kept, own) = (Kept::default(), i32::try_from(std::process::id()).unwrap());
        count_nameless(own, &devices, &mut kept, &mut BTreeSet::new());
        assert!(kept.bytes >= 40_000, "{kept:?}");
    }
}
