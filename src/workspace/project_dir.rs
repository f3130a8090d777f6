//! The handle on the project folder. Reads through it; hands the folder itself to the gate alone.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File};

use super::WorkspaceError;
use super::change_signal::{ChangePoll, ChangeSignal};
use super::list::{self, FileListing, Listing};
use crate::model::{ContentHash, FileSource, FileStart, ProjectPath, UserError};
use crate::text::mark;

/// Longest file that is read whole, in bytes: sources are far below, and a base has to fit into
/// the session's blobs.
pub const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// The project folder. No path given to it can lead out of it, symbolic links included.
#[derive(Debug)]
pub struct ProjectDir {
    dir: Dir,
    root: PathBuf,
    pub(super) changes: ChangeSignal,
}

/// The beginning of a file, and how much of it there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The bytes from the start of the file.
    pub content: Vec<u8>,
    /// Length of the whole file in bytes.
    pub total: u64,
}

impl Excerpt {
    /// How many bytes were left out.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.total.saturating_sub(self.content.len() as u64)
    }
}

impl ProjectDir {
    /// Opens an existing project folder.
    ///
    /// # Errors
    /// [`WorkspaceError::Root`] when it is missing, is no folder or may not be read.
    pub fn open(root: &Path) -> Result<Self, WorkspaceError> {
        let failed = |source| WorkspaceError::Root { folder: root.display().to_string(), source };
        let root = root.canonicalize().map_err(failed)?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(failed)?;
        Ok(Self { dir, root, changes: ChangeSignal::default() })
    }

    /// Absolute path of the folder, without symbolic links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Lists the regular files, by path and at most `limit` of them. Ignore files, hidden files,
    /// build output and symbolic links are left out, and so are names that are not UTF-8 or hold
    /// characters that [`ProjectPath`] refuses.
    #[must_use]
    pub fn list(&self, limit: usize) -> Listing {
        list::list(&self.root, limit)
    }

    /// What tells of each file whether it changed, for at most `limit` of those that
    /// [`ProjectDir::list`] names, and the folders that were looked into.
    #[must_use]
    pub fn look_over(&self, limit: usize) -> FileListing {
        list::look_over(&self.root, limit)
    }

    /// Hidden files whose names begin with `prefix`, whatever is to be ignored; at most `limit`.
    #[must_use]
    pub fn hidden(&self, prefix: &str, limit: usize) -> Vec<ProjectPath> {
        list::hidden(&self.root, prefix, limit)
    }

    /// Tells when to look at files again that may have changed.
    #[must_use]
    pub fn looks(&self) -> ChangePoll {
        self.changes.looks()
    }

    /// The folder itself, for the gate's effects and nobody else.
    pub fn dir_for_effects(&self) -> &Dir {
        &self.dir
    }

    /// Whether nobody may change what lies there: the history of the version control, and the
    /// program's own folder. A hook planted there would run without being asked about.
    #[must_use]
    pub fn is_protected(path: &ProjectPath) -> bool {
        path.as_str().split('/').any(|part| {
            // Some systems leave out what a name ends with, or know it by a short name as well.
            let part = part.trim_end_matches([' ', '.']).to_ascii_lowercase();
            matches!(part.as_str(), ".git" | ".hg" | ".svn" | ".firmhand" | "git~1" | "firmha~1")
        })
    }

    /// Whether the project was made with this program: its top list of CMake carries the mark.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        let Ok(top) = ProjectPath::new("CMakeLists.txt") else { return false };
        let start = self.read_start(&top, 64 * 1024);
        start.is_ok_and(|start| mark::is_marked(&String::from_utf8_lossy(&start.content)))
    }

    /// Whether a regular file is there.
    #[must_use]
    pub fn is_file(&self, path: &ProjectPath) -> bool {
        self.dir.metadata(path.as_str()).is_ok_and(|metadata| metadata.is_file())
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// Missing, not a file, outside, longer than [`MAX_FILE_BYTES`], or unreadable.
    pub fn read(&self, path: &ProjectPath) -> Result<Vec<u8>, WorkspaceError> {
        let excerpt = self.read_start(path, MAX_FILE_BYTES)?;
        if excerpt.omitted() > 0 {
            let (bytes, limit) = (excerpt.total, MAX_FILE_BYTES);
            return Err(WorkspaceError::TooLarge { path: path.clone(), bytes, limit });
        }
        Ok(excerpt.content)
    }

    /// Reads a whole file; `None` when there is nothing at that path.
    ///
    /// # Errors
    /// As [`ProjectDir::read`], save for a missing file.
    pub fn read_if_there(&self, path: &ProjectPath) -> Result<Option<Vec<u8>>, WorkspaceError> {
        match self.read(path) {
            Ok(content) => Ok(Some(content)),
            Err(WorkspaceError::Missing(_)) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Reads at most `limit` bytes from the start of a file.
    ///
    /// # Errors
    /// Missing, not a file, outside, or unreadable.
    pub fn read_start(&self, path: &ProjectPath, limit: u64) -> Result<Excerpt, WorkspaceError> {
        let (file, total) = self.open_file(path)?;
        let mut content = Vec::new();
        file.take(limit)
            .read_to_end(&mut content)
            .map_err(|source| WorkspaceError::of(path, source))?;
        // The file may have grown or shrunk since its length was asked for.
        let total = if (content.len() as u64) < limit { content.len() as u64 } else { total };
        Ok(Excerpt { content, total })
    }

    /// Hashes a file; `None` when there is nothing at that path.
    ///
    /// # Errors
    /// As [`ProjectDir::read`], save for a missing file.
    pub fn hash(&self, path: &ProjectPath) -> Result<Option<ContentHash>, WorkspaceError> {
        Ok(self.read_if_there(path)?.map(|content| ContentHash::of(&content)))
    }

    fn open_file(&self, path: &ProjectPath) -> Result<(File, u64), WorkspaceError> {
        let failed = |source: io::Error| WorkspaceError::of(path, source);
        // Asked before opening: opening a pipe would wait for its other end.
        let metadata = self.dir.metadata(path.as_str()).map_err(failed)?;
        if !metadata.is_file() {
            return Err(WorkspaceError::NotAFile(path.clone()));
        }
        let file = self.dir.open(path.as_str()).map_err(failed)?;
        Ok((file, metadata.len()))
    }
}

impl FileSource for ProjectDir {
    fn file_start(&self, path: &ProjectPath, limit: u64) -> Result<FileStart, UserError> {
        let Excerpt { content, total } = self.read_start(path, limit)?;
        Ok(FileStart { bytes: content, total })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_read_whole_up_to_the_limit_and_not_beyond() {
        let folder = tempfile::tempdir().unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let path = ProjectPath::new("a.bin").unwrap();
        let file = fs::File::create(folder.path().join("a.bin")).unwrap();
        file.set_len(MAX_FILE_BYTES).unwrap();
        assert_eq!(project_dir.read(&path).unwrap().len() as u64, MAX_FILE_BYTES);
        file.set_len(MAX_FILE_BYTES + 1).unwrap();
        let error = project_dir.read(&path).unwrap_err();
        assert!(matches!(error, WorkspaceError::TooLarge { bytes, .. } if bytes > MAX_FILE_BYTES));
        let start = project_dir.read_start(&path, 10).unwrap();
        assert_eq!((start.content.len(), start.total), (10, MAX_FILE_BYTES + 1));
    }

    #[test]
    fn a_project_with_the_mark_was_made_here_wherever_licences_put_it() {
        let folder = tempfile::tempdir().unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        assert!(!project_dir.is_generated());
        let list = folder.path().join("CMakeLists.txt");
        let licence = format!("# {}\n", "x".repeat(100)).repeat(30);
        fs::write(&list, format!("{licence}project(a)\n")).unwrap();
        assert!(!project_dir.is_generated());
        fs::write(&list, format!("{licence}{}\nproject(a)\n", mark::LINE)).unwrap();
        assert!(project_dir.is_generated());
    }
}
