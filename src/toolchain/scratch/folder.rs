//! A folder for one run of what an agent wrote: a copy of the project with the proposed files in
//! it, and places for what the run leaves behind.
//!
//! Owns the folder. What ran in it may have put links and pipes everywhere, so that nothing here
//! follows one out of it or waits at one.

#![expect(clippy::disallowed_methods, reason = "the copy of the project is written here")]

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt, PermissionsExt};
use rustix::fs::OFlags;

use crate::model::{ContentHash, ProjectPath, UserError};

/// Name of the copy.
const PROJECT: &str = "project";
/// Name of the folder for results.
const RESULTS: &str = "results";
/// Name of the folder for temporary files.
const TEMPORARY: &str = "tmp";
/// Name of the folder for what the run needs from this program.
const SUPPORT: &str = "support";

/// How programs begin.
const ELF: &[u8] = b"\x7fELF";

/// The right of a file's owner to run it.
const OWN_RUN: u32 = 0o100;

/// Entries of a folder of results that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// One such folder. Dropping it removes it.
#[derive(Debug)]
pub struct ScratchFolder {
    top: tempfile::TempDir,
    dir: Dir,
    /// What was last written to each file of the copy.
    written: BTreeMap<ProjectPath, ContentHash>,
    /// What this program has put there, in bytes.
    copied: u64,
}

impl ScratchFolder {
    /// Makes an empty one.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> Result<Self, UserError> {
        let made = || -> io::Result<Self> {
            let top = tempfile::Builder::new().prefix("firmhand-run-").tempdir()?;
            let dir = Dir::open_ambient_dir(top.path(), ambient_authority())?;
            for name in [PROJECT, RESULTS, TEMPORARY, SUPPORT] {
                dir.create_dir(name)?;
            }
            Ok(Self { top, dir, written: BTreeMap::new(), copied: 0 })
        };
        made().map_err(|error| {
            UserError::from_cause("Cannot make a folder for the run", &error)
                .fix("Free some disk space, or set TMPDIR to a folder that can be written.")
        })
    }

    /// The copy of the project.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.path(PROJECT)
    }

    /// Where a run leaves its results.
    #[must_use]
    pub fn results(&self) -> PathBuf {
        self.path(RESULTS)
    }

    /// Where a run keeps temporary files.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.path(TEMPORARY)
    }

    /// What a run needs from this program, to read.
    #[must_use]
    pub fn support(&self) -> PathBuf {
        self.path(SUPPORT)
    }

    fn path(&self, name: &str) -> PathBuf {
        // Links on the way to the temporary folder are not seen by who runs in it.
        let top = std::fs::canonicalize(self.top.path());
        top.unwrap_or_else(|_| self.top.path().to_owned()).join(name)
    }

    /// Writes a file of the copy, unless the same was written there last: what a run made of it
    /// since is kept then.
    ///
    /// # Errors
    /// When it cannot be written, e.g. because a run has put something else in its place.
    pub fn put(&mut self, path: &ProjectPath, content: &[u8]) -> Result<(), UserError> {
        let hash = ContentHash::of(content);
        if self.written.get(path) == Some(&hash) {
            return Ok(());
        }
        self.write(&format!("{PROJECT}/{path}"), content)?;
        self.written.insert(path.clone(), hash);
        self.copied = self.copied.saturating_add(content.len() as u64);
        Ok(())
    }

    /// Bytes of the files that were put into the copy.
    #[must_use]
    pub const fn copied(&self) -> u64 {
        self.copied
    }

    /// Removes a file of the copy that was removed from the project.
    pub fn remove(&mut self, path: &ProjectPath) {
        // It may be gone already.
        let _ = self.dir.remove_file(format!("{PROJECT}/{path}"));
        self.written.remove(path);
    }

    /// Writes a file that the run needs from this program.
    ///
    /// # Errors
    /// As [`ScratchFolder::put`].
    pub fn put_support(&self, name: &str, content: &str) -> Result<(), UserError> {
        self.write(&format!("{SUPPORT}/{name}"), content.as_bytes())
    }

    fn write(&self, path: &str, content: &[u8]) -> Result<(), UserError> {
        let written = || -> io::Result<()> {
            if let Some(parent) = Path::new(path).parent() {
                self.dir.create_dir_all(parent)?;
            }
            // A link in its place is replaced, not followed.
            match self.dir.remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
            self.dir.write(path, content)
        };
        written().map_err(|error| {
            UserError::from_cause(format!("Cannot copy {path} for the run"), &error)
                .fix("Run again without `keep`, in a new folder.")
        })
    }

    /// Forgets the results of the run before.
    pub fn clear_results(&self) {
        // What cannot be removed is overwritten or not read.
        let _ = self.dir.remove_dir_all(RESULTS).or_else(|_| self.dir.remove_file(RESULTS));
        let _ = self.dir.create_dir(RESULTS);
    }

    /// Lets a program among the results be run. Its linker does so itself, but where no namespaces
    /// stand between, nothing in the sandbox may change who may use a file.
    pub fn allow_run(&self, name: &str) {
        let allow = |path: &str| -> io::Result<()> {
            // Follows no link, and waits for the other end of no pipe.
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let flags = i32::try_from(flags.bits()).unwrap_or_default();
            let file =
                self.dir.open_with(path, OpenOptions::new().read(true).custom_flags(flags))?;
            let found = file.metadata()?;
            // A second name may be that of a file elsewhere.
            if !found.is_file() || found.nlink() != 1 {
                return Ok(());
            }
            let mode = found.permissions().mode() | OWN_RUN;
            file.set_permissions(cap_std::fs::Permissions::from_mode(mode))
        };
        // What cannot be run is said when it is started.
        let _ = allow(&format!("{RESULTS}/{name}"));
    }

    /// Does so for each program in a folder of the results, at any depth.
    pub fn allow_run_below(&self, folder: &str) {
        let mut folders = vec![folder.to_owned()];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = self.dir.read_dir(format!("{RESULTS}/{folder}")) else { continue };
            for entry in entries.flatten() {
                seen += 1;
                let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string())
                else {
                    continue;
                };
                let path = format!("{folder}/{name}");
                if seen > MOST_ENTRIES {
                    return;
                } else if kind.is_dir() {
                    folders.push(path);
                } else if self.result(&path, 4).is_some_and(|begin| begin == ELF) {
                    self.allow_run(&path);
                }
            }
        }
    }

    /// The beginning of a result, at most `limit` bytes; `None` when there is no such file.
    #[must_use]
    pub fn result(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        self.read(&format!("{RESULTS}/{name}"), limit)
    }

    /// The beginning of a file of the copy as text, as [`ScratchFolder::result`].
    #[must_use]
    pub fn text(&self, path: &str, limit: u64) -> Option<String> {
        let content = self.read(&format!("{PROJECT}/{path}"), limit)?;
        Some(crate::text::sanitize::decode(&content).into_owned())
    }

    /// The start of a regular file; no link is followed.
    fn read(&self, path: &str, limit: u64) -> Option<Vec<u8>> {
        // Asked before opening: a pipe would wait for its other end.
        if !self.dir.symlink_metadata(path).ok()?.is_file() {
            return None;
        }
        let mut content = Vec::new();
        self.dir.open(path).ok()?.take(limit).read_to_end(&mut content).ok()?;
        Some(content)
    }

    /// The files of the copy that were written by this program.
    pub fn files(&self) -> impl Iterator<Item = &ProjectPath> {
        self.written.keys()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    #[test]
    fn what_a_run_changed_is_kept_until_the_project_changes() {
        let mut scratch = ScratchFolder::new().unwrap();
        scratch.put(&path("data/list.txt"), b"one").unwrap();
        let file = scratch.project().join("data/list.txt");
        fs::write(&file, "saved").unwrap();
        scratch.put(&path("data/list.txt"), b"one").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "saved");
        scratch.put(&path("data/list.txt"), b"two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        scratch.remove(&path("data/list.txt"));
        assert!(!file.exists());
    }

    #[test]
    fn links_that_a_run_leaves_lead_nowhere() {
        let outside = tempfile::tempdir().unwrap();
        let victim = outside.path().join("victim");
        fs::write(&victim, "secret").unwrap();
        let mut scratch = ScratchFolder::new().unwrap();
        symlink(&victim, scratch.project().join("a.py")).unwrap();
        scratch.put(&path("a.py"), b"new").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "secret");
        symlink(outside.path(), scratch.project().join("src")).unwrap();
        assert!(scratch.put(&path("src/victim"), b"new").is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "secret");
        symlink(&victim, scratch.results().join("report")).unwrap();
        assert_eq!(scratch.result("report", 100), None);
        let parts: Vec<&str> =
            victim.to_str().unwrap().trim_start_matches('/').split('/').collect();
        let up = format!("{}{}", "../".repeat(12), parts.join("/"));
        symlink(up, scratch.results().join("up")).unwrap();
        assert_eq!(scratch.result("up", 100), None);
        scratch.clear_results();
        assert!(victim.exists() && scratch.results().is_dir());
        fs::remove_dir(scratch.results()).unwrap();
        symlink(outside.path(), scratch.results()).unwrap();
        assert_eq!(scratch.result("victim", 100), None);
        scratch.clear_results();
        assert!(victim.exists());
    }

    #[test]
    fn a_pipe_in_the_place_of_a_result_is_no_result() {
        let scratch = ScratchFolder::new().unwrap();
        let pipe = scratch.results().join("report");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(scratch.result("report", 100), None);
    }

    #[test]
    fn only_a_program_of_the_results_may_be_run_afterwards() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let scratch = ScratchFolder::new().unwrap();
        let outside = tempfile::tempdir_in(scratch.temporary()).unwrap();
        let victim = outside.path().join("victim");
        fs::create_dir_all(scratch.results().join("build/deep")).unwrap();
        let (program, text) = ("build/deep/program", "build/notes.txt");
        for (path, content) in [
            (victim.clone(), "\x7fELF elsewhere"),
            (scratch.results().join(program), "\x7fELF"),
            (scratch.results().join("single"), "\x7fELF"),
            (scratch.results().join(text), "notes"),
        ] {
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        symlink(&victim, scratch.results().join("build/link")).unwrap();
        fs::hard_link(&victim, scratch.results().join("build/second_name")).unwrap();
        let pipe = scratch.results().join("build/pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        scratch.allow_run_below("build");
        for name in ["single", "build/link", "build/second_name", "build/pipe", "not there"] {
            scratch.allow_run(name);
        }
        assert_eq!(mode(&scratch.results().join(program)), 0o744);
        assert_eq!(mode(&scratch.results().join("single")), 0o744);
        assert_eq!(mode(&scratch.results().join(text)), 0o644);
        assert_eq!(mode(&victim), 0o644);
    }
}
