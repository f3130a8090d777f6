//! The paths that a project's list files name, as files that are there.
//!
//! Must not let one lead out of the project.

use std::fs;
use std::path::{Path, PathBuf};

use super::cmake::Recurse;

/// Files a pattern may match at most.
const MAX_GLOB: usize = 2_000;

/// Whether that is a file of the project, symbolic links followed.
pub(super) fn stays_inside(root: &Path, path: &Path) -> bool {
    let real = root.join(path).canonicalize();
    real.is_ok_and(|real| real.is_file() && root.canonicalize().is_ok_and(|r| real.starts_with(r)))
}

/// Files below `folder` that match a pattern such as `src/*.c`, sorted.
pub(super) fn find(folder: &Path, pattern: &str, recurse: Recurse) -> Vec<String> {
    let pattern = pattern.trim_start_matches("./");
    let (dir, wanted) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let Some((head, tail)) = wanted.split_once('*') else {
        return vec![pattern.to_owned()];
    };
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(dir)];
    while let Some(dir) = open.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&dir)) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = dir.join(&name);
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && recurse == Recurse::Yes && open.len() < MAX_GLOB {
                open.push(path);
            } else if kind.is_file()
                && name.len() >= head.len() + tail.len()
                && name.starts_with(head)
                && name.ends_with(tail)
                && found.len() < MAX_GLOB
            {
                found.push(path.display().to_string());
            }
        }
    }
    found.sort();
    found
}
