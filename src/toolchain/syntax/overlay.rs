//! A temporary folder that stands before the project: files as they shall become at their places.
//!
//! Beside a proposed file lie links to the other headers of its folder, so that whatever includes
//! one by a relative name finds it changed. Writes nothing below the project.

#![expect(clippy::disallowed_methods, reason = "a temporary folder is filled")]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::job::HEADERS;
use crate::toolchain::paths::has_ending;

/// Links that are made at most for one folder.
const MOST_LINKS: usize = 2_000;

/// The temporary folder.
pub(in crate::toolchain) struct Overlay {
    folder: TempDir,
    root: PathBuf,
    project: PathBuf,
}

impl Overlay {
    /// Puts `files` and links to `sources`, all with paths relative to the project, before it.
    ///
    /// # Errors
    /// When the temporary folder cannot be filled.
    pub(in crate::toolchain) fn make<'a>(
        project: &Path,
        files: impl Iterator<Item = (&'a Path, &'a [u8])>,
        sources: impl Iterator<Item = &'a Path>,
    ) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("firmhand-").tempdir()?;
        let root = folder.path().canonicalize()?;
        let made = Self { folder, root, project: project.to_owned() };
        let mut mirrored = BTreeSet::new();
        for (path, content) in files {
            let parent = path.parent().unwrap_or(Path::new(""));
            if mirrored.insert(parent) {
                made.mirror(parent)?;
            }
            let at = made.root.join(path);
            // A link must not be written through.
            match fs::remove_file(&at) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => fs::write(&at, content)?,
            }
        }
        for source in sources {
            let at = made.root.join(source);
            if fs::symlink_metadata(&at).is_err() {
                fs::create_dir_all(at.parent().unwrap_or(&made.root))?;
                symlink(made.project.join(source), at)?;
            }
        }
        Ok(made)
    }

    /// Makes a folder with links to the headers of the project's own.
    fn mirror(&self, folder: &Path) -> io::Result<()> {
        let at = self.root.join(folder);
        fs::create_dir_all(&at)?;
        let entries = fs::read_dir(self.project.join(folder)).into_iter().flatten().flatten();
        let is_header = |path: &Path| has_ending(path, HEADERS) && path.is_file();
        let headers = entries.filter(|entry| is_header(&entry.path()));
        for header in headers.take(MOST_LINKS) {
            symlink(header.path(), at.join(header.file_name()))?;
        }
        Ok(())
    }

    /// Where it is, symbolic links resolved.
    pub(in crate::toolchain) fn root(&self) -> &Path {
        &self.root
    }

    /// An empty folder to run a compiler in: what it writes there is gone with the overlay.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the compiler finds a source.
    pub(super) fn source(&self, source: &Path) -> PathBuf {
        self.root.join(source)
    }

    /// The options with every folder of the project preceded by its stand-in, and at last the folder
    /// that `source` really lies in.
    pub(super) fn options(&self, options: &[String], source: &Path) -> Vec<String> {
        let mut all = Vec::with_capacity(options.len() + 1);
        for option in options {
            let folder = ["-I", "-isystem", "-iquote", "-idirafter"]
                .iter()
                .find_map(|name| Some((*name, Path::new(option.strip_prefix(name)?))));
            if let Some((name, folder)) = folder
                && let Some(stand_in) = self.stand_in(folder)
            {
                all.push(format!("{name}{}", stand_in.display()));
            }
            all.push(option.clone());
        }
        let own = self.project.join(source.parent().unwrap_or(Path::new("")));
        all.push(format!("-iquote{}", own.display()));
        all
    }

    fn stand_in(&self, folder: &Path) -> Option<PathBuf> {
        let inside = match folder.canonicalize() {
            Ok(real) => real.strip_prefix(self.project.canonicalize().ok()?).ok()?.to_owned(),
            // It comes with the files, or with the first build.
            Err(_) => folder.strip_prefix(&self.project).ok()?.to_owned(),
        };
        Some(self.root.join(inside)).filter(|stand_in| stand_in.is_dir())
    }
}
