//! What paths say by themselves, without a look at the disk.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = plain.pop(),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Joins a path of the project to another from there on; `None` when that leads out of the project.
pub(super) fn inside(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut joined = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::Normal(name) => joined.push(name),
            Component::CurDir => {}
            Component::ParentDir if joined.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(joined)
}

/// Whether a file's name ends with one of these endings.
pub(super) fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|it| endings.contains(&it))
}
