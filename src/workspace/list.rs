//! The list of the project's files, ignore rules honoured.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::WalkBuilder;

use crate::files;
use crate::model::event::ProjectFile;
use crate::model::{Event, FilesEvent, ProjectPath};

/// What tells that a file is not what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchStamp {
    /// Length in bytes.
    pub bytes: u64,
    /// When it was written last.
    pub modified: Option<SystemTime>,
}

/// How many files are listed when nothing else is said.
pub const DEFAULT_LIST_LIMIT: usize = 2_000;

/// Folders that hold what tools make of the project, wherever they are in it.
const OUTPUT_FOLDERS: [&str; 4] = ["build", "managed_components", ".git", ".firmhand"];

/// How many more entries are counted once the list is full.
const COUNT_LIMIT: u64 = 100_000;

/// How many entries are looked at for hidden files.
const HIDDEN_LIMIT: usize = 200_000;

/// What was found by looking over a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileListing {
    pub files: BTreeMap<ProjectPath, WatchStamp>,
    /// Its folders, absolute, its own among them.
    pub folders: BTreeSet<PathBuf>,
}

/// The files of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// By path.
    pub files: Vec<ProjectFile>,
    /// How many more there are than could be listed.
    pub omitted: u64,
}

impl Listing {
    /// The list as a fact of the session.
    #[must_use]
    pub fn into_event(self) -> Event {
        let signatures = Vec::new();
        Event::Files(FilesEvent::Listed { files: self.files, omitted: self.omitted, signatures })
    }
}

/// Whether the ignore files of a folder can be read whole: a pipe or an endless device in their
/// place would hold up whoever lists the project.
fn has_plain_rules(folder: &Path) -> bool {
    [".gitignore", ".ignore"].iter().all(|name| {
        let file = folder.join(name);
        files::is_readable(&file, files::SETTINGS) || file.metadata().is_err() || file.is_dir()
    })
}

/// Lists the regular files, by path and at most `limit` of them. Ignore files, hidden files,
/// build output and symbolic links are left out, and so are names that are not UTF-8 or hold
/// characters that [`ProjectPath`] refuses.
pub(super) fn list(root: &Path, limit: usize) -> Listing {
    let mut listing = Listing::default();
    for entry in walk(root) {
        // An unreadable folder leaves a gap rather than hiding the rest.
        let Ok(entry) = entry else { continue };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let Some(path) = project_path(root, entry.path()) else { continue };
        if listing.files.len() < limit {
            let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
            listing.files.push(ProjectFile { path, bytes });
        } else if listing.omitted < COUNT_LIMIT {
            listing.omitted += 1;
        } else {
            break;
        }
    }
    listing.files.sort_by(|a, b| a.path.cmp(&b.path));
    listing
}

/// What tells of each file whether it changed, for at most `limit` of those that
/// [`list`] names, and the folders that were looked into.
pub(super) fn look_over(root: &Path, limit: usize) -> FileListing {
    let mut seen = FileListing::default();
    for entry in walk(root).filter_map(Result::ok) {
        if seen.files.len() >= limit {
            break;
        }
        let Some(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            seen.folders.insert(entry.into_path());
        } else if kind.is_file()
            && let Some(path) = project_path(root, entry.path())
            && let Ok(data) = entry.metadata()
        {
            let stamp = WatchStamp { bytes: data.len(), modified: data.modified().ok() };
            seen.files.insert(path, stamp);
        }
    }
    seen
}

/// Hidden files whose names begin with `prefix`, whatever is to be ignored; at most `limit`.
pub(super) fn hidden(root: &Path, prefix: &str, limit: usize) -> Vec<ProjectPath> {
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .follow_links(false)
        .filter_entry(|entry| !is_inner_folder(entry) || !is_output(entry))
        .build();
    let named = |entry: &ignore::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix))
            && entry.file_type().is_some_and(|kind| kind.is_file())
    };
    let entries = walk.filter_map(Result::ok).take(HIDDEN_LIMIT).filter(named);
    entries.filter_map(|entry| project_path(root, entry.path())).take(limit).collect()
}

fn walk(root: &Path) -> ignore::Walk {
    WalkBuilder::new(root)
        .follow_links(false)
        .require_git(false)
        // What a person ignores in this copy alone lies behind files that lead anywhere.
        .git_exclude(false)
        .git_ignore(has_plain_rules(root))
        .ignore(has_plain_rules(root))
        // What a person ignores everywhere must not change what an agent sees here.
        .git_global(false)
        .parents(false)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(|entry| {
            !is_inner_folder(entry) || !is_output(entry) && has_plain_rules(entry.path())
        })
        .build()
}

fn is_inner_folder(entry: &ignore::DirEntry) -> bool {
    entry.depth() > 0 && entry.file_type().is_some_and(|kind| kind.is_dir())
}

fn is_output(entry: &ignore::DirEntry) -> bool {
    entry.file_name().to_str().is_some_and(|name| OUTPUT_FOLDERS.contains(&name))
}

fn project_path(root: &Path, path: &Path) -> Option<ProjectPath> {
    let text = path.strip_prefix(root).ok()?.to_str()?;
    ProjectPath::new(text).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn hidden_files_are_found_by_how_their_names_begin() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["main/.mine-1", "main/.other", ".mine-2", "build/.mine-3", ".mine-4/a.c"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(folder.path().join("build.c"), "").unwrap();
        let mut found = hidden(folder.path(), ".mine-", 9);
        found.sort();
        let names: Vec<&str> = found.iter().map(ProjectPath::as_str).collect();
        assert_eq!(names, [".mine-2", "main/.mine-1"], "files, and none of what a build made");
        assert_eq!(hidden(folder.path(), ".mine-", 1).len(), 1);
    }

    #[test]
    fn files_beyond_the_limit_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..7 {
            fs::write(folder.path().join(format!("{number}.c")), "int a;").unwrap();
        }
        let all = list(folder.path(), 7);
        assert_eq!((all.files.len(), all.omitted, all.files[0].bytes), (7, 0, 6));
        let some = list(folder.path(), 4);
        assert_eq!((some.files.len(), some.omitted), (4, 3));
    }
}
