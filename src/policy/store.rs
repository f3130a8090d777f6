//! Policies on disk: one writer at a time, whole files only, older tables kept.
//!
//! Owns the folder `policy` in the data folder, where agents cannot write. A file is written next to
//! its place, synced, and renamed: a program that is killed leaves the old table or the new one.

#![expect(clippy::disallowed_methods, reason = "keeps policies in the data folder")]

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::files;
use crate::model::UserError;

use super::file::Trained;

/// Older tables that are kept.
const KEPT: usize = 10;

/// The policy of one team on disk.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    team: String,
}

/// The right to write; held as long as this lives.
#[derive(Debug)]
pub struct WriteLock {
    _file: File,
}

impl Store {
    /// The policy of `team` in the data folder; neither need exist.
    ///
    /// # Errors
    /// When the name is not one of a team.
    pub fn new(data: &Path, team: &str) -> Result<Self, UserError> {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if team.is_empty() || team.len() > 60 || !team.chars().all(is_word) {
            return Err(UserError::new(
                "Cannot find the team's policy",
                "a team's name has letters, digits, `-` and `_`",
                "Use e.g. `--team learned`.",
            ));
        }
        Ok(Self { folder: data.join("policy"), team: team.to_owned() })
    }

    /// The file of the present table.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.toml", self.team))
    }

    /// Takes the right to write, or says that another program has it.
    ///
    /// # Errors
    /// When another program writes the policy, or the folder cannot be made.
    pub fn lock(&self) -> Result<WriteLock, UserError> {
        let path = self.folder.join(format!("{}.lock", self.team));
        let failed = |error: io::Error| {
            UserError::from_cause(format!("Cannot lock {}", path.display()), &error)
                .fix("Check that the data folder can be written.")
        };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                self.remove_leftovers();
                Ok(WriteLock { _file: file })
            }
            Err(TryLockError::WouldBlock) => Err(UserError::new(
                format!("Cannot change the policy of the team `{}`", self.team),
                "another program is training it",
                "Wait until it is done, or train another team's policy with `--team`.",
            )),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Removes what a program left behind that was killed while it saved.
    fn remove_leftovers(&self) {
        let prefix = self.temporary_prefix();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                // What cannot be removed harms nothing.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn temporary_prefix(&self) -> String {
        format!(".{}.saving-", self.team)
    }

    /// The present table; `None` when there is none yet.
    ///
    /// # Errors
    /// When it cannot be read, or is not a policy of this team.
    pub fn load(&self) -> Result<Option<Trained>, UserError> {
        self.read(&self.path())
    }

    /// The table, or advice to train one.
    ///
    /// # Errors
    /// As [`Store::load`], and when there is none.
    pub fn require(&self) -> Result<Trained, UserError> {
        self.load()?.ok_or_else(|| {
            UserError::new(
                format!("Cannot read the policy of the team `{}`", self.team),
                "none was trained yet",
                format!("Run `firmhand policy train --team {}`.", self.team),
            )
        })
    }

    /// Puts a table in place; the one before becomes the newest older one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, _: &WriteLock, policy: &Trained) -> Result<(), UserError> {
        let text = policy.to_text()?;
        let path = self.path();
        let failed = |error: io::Error| {
            let what = format!("Cannot save {}", path.display());
            UserError::new(
                what,
                error.kind().to_string(),
                "Free some disk space, and check that the \
                 data folder can be written. Nothing was changed.",
            )
        };
        let made = self.write_new(text.as_bytes()).map_err(failed)?;
        if path.exists() && !self.is_among_older(&path)? {
            let next = self.older()?.last().map_or(1, |last| last + 1);
            // A link, so that there is no moment without a present table.
            fs::hard_link(&path, self.older_path(next)).map_err(failed)?;
        }
        let placed = made.persist(&path).map_err(|error| error.error);
        let sync = || OpenOptions::new().read(true).open(&self.folder)?.sync_all();
        placed.and_then(|_| sync()).map_err(failed)?;
        self.prune()
    }

    /// Whether a table is among the older ones already: a save that was broken off left it there, or
    /// it was restored from there.
    fn is_among_older(&self, path: &Path) -> Result<bool, UserError> {
        let Ok(present) = files::read(path, files::SOURCE) else { return Ok(false) };
        let is_same = |number: &u32| {
            files::read(&self.older_path(*number), files::SOURCE).is_ok_and(|it| it == present)
        };
        Ok(self.older()?.iter().any(is_same))
    }

    /// Removes the oldest tables beyond those that are kept.
    fn prune(&self) -> Result<(), UserError> {
        for number in self.older()?.iter().rev().skip(KEPT) {
            fs::remove_file(self.older_path(*number))
                .map_err(|error| UserError::from_cause("Cannot remove an old table", &error))?;
        }
        Ok(())
    }

    /// Removes the present table; it becomes the newest older one. False when there was none.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub fn reset(&self, _: &WriteLock) -> Result<bool, UserError> {
        let next = self.older()?.last().map_or(1, |last| last + 1);
        let done = match self.is_among_older(&self.path())? {
            true => fs::remove_file(self.path()),
            false => fs::rename(self.path(), self.older_path(next)),
        };
        match done {
            Ok(()) => self.prune().map(|()| true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(UserError::from_cause("Cannot reset the policy", &error)),
        }
    }

    /// Puts an older table in place again.
    ///
    /// # Errors
    /// When there is none of this number, or it cannot be read or written.
    pub fn restore(&self, lock: &WriteLock, number: u32) -> Result<Trained, UserError> {
        let policy = self.older_table(number)?;
        self.save(lock, &policy)?;
        Ok(policy)
    }

    /// An older table.
    ///
    /// # Errors
    /// When there is none of this number, or it cannot be read.
    pub fn older_table(&self, number: u32) -> Result<Trained, UserError> {
        self.look(number)?.ok_or_else(|| {
            let known: Vec<String> =
                self.older().unwrap_or_default().iter().map(ToString::to_string).collect();
            let fix = match known.is_empty() {
                true => "There are no older tables.".to_owned(),
                false => format!("Use one of: {}.", known.join(", ")),
            };
            UserError::new(format!("Cannot use the older table {number}"), "it does not exist", fix)
        })
    }

    /// An older table; `None` when there is none of this number.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn look(&self, number: u32) -> Result<Option<Trained>, UserError> {
        self.read(&self.older_path(number))
    }

    /// The number that a table has among the older ones; `None` when it is not there.
    ///
    /// # Errors
    /// When the older tables cannot be listed.
    pub fn number_of(&self, table: &Trained) -> Result<Option<u32>, UserError> {
        let hash = table.hash()?;
        let is_it = |number: &u32| {
            let older = self.look(*number).ok().flatten();
            older.and_then(|older| older.hash().ok()).as_ref() == Some(&hash)
        };
        Ok(self.older()?.into_iter().rev().find(is_it))
    }

    /// Numbers of the older tables, oldest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn older(&self) -> Result<Vec<u32>, UserError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(UserError::from_cause("Cannot list older tables", &error)),
        };
        let prefix = format!("{}.older-", self.team);
        let number = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_prefix(&prefix)?.strip_suffix(".toml")?.parse().ok()
        };
        let mut numbers: Vec<u32> = entries.flatten().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn older_path(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{}.older-{number}.toml", self.team))
    }

    fn read(&self, path: &Path) -> Result<Option<Trained>, UserError> {
        let name = path.display().to_string();
        let bytes = match files::read(path, files::SOURCE) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(UserError::from_cause(format!("Cannot read {name}"), &error)),
        };
        let text = String::from_utf8_lossy(&bytes);
        Trained::parse(&name, &text, &self.team).map(Some)
    }

    /// A file with that content on the disk, removed unless it is put in place.
    fn write_new(&self, content: &[u8]) -> io::Result<tempfile::NamedTempFile> {
        let mut file =
            tempfile::Builder::new().prefix(&self.temporary_prefix()).tempfile_in(&self.folder)?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        Ok(file)
    }
}

/// Writes a chart where the person asked for it.
///
/// # Errors
/// When it cannot be written.
pub fn write_chart(path: &Path, svg: &str) -> Result<(), UserError> {
    fs::write(path, svg).map_err(|error| {
        UserError::from_cause(format!("Cannot write {}", path.display()), &error)
            .fix("Choose a folder that exists and can be written.")
    })
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::trained;
    use super::*;

    #[test]
    fn a_table_is_replaced_kept_and_restored() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::new(data.path(), "learned").unwrap();
        assert!(store.load().unwrap().is_none());
        assert!(store.require().unwrap_err().fix.contains("policy train"));
        let lock = store.lock().unwrap();
        let first = trained("simple", false, 1, 20);
        store.save(&lock, &first).unwrap();
        for seed in 2..=14 {
            store.save(&lock, &trained("simple", false, seed, 20)).unwrap();
        }
        let older = store.older().unwrap();
        assert_eq!((older.len(), older.last()), (KEPT, Some(&13)));
        assert_eq!(store.older_table(10).unwrap().origin.seed, "10");
        assert!(store.look(99).unwrap().is_none());
        assert!(store.older_table(99).unwrap_err().fix.contains("13"));
        let tenth = store.restore(&lock, 10).unwrap();
        assert_eq!(tenth.origin.seed, "10");
        assert_eq!(store.require().unwrap().table, tenth.table);
        assert!(store.restore(&lock, 1).unwrap_err().fix.contains("13"));
        assert!(store.reset(&lock).unwrap());
        assert!(!store.reset(&lock).unwrap());
        assert!(store.load().unwrap().is_none());
    }

    #[test]
    fn going_back_and_forth_and_saves_that_are_broken_off_push_no_table_out() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::new(data.path(), "learned").unwrap();
        let lock = store.lock().unwrap();
        for seed in 1..=11 {
            store.save(&lock, &trained("simple", false, seed, 20)).unwrap();
        }
        let seeds = || {
            let older = store.older().unwrap().into_iter();
            let mut all: Vec<String> =
                older.map(|number| store.older_table(number).unwrap().origin.seed).collect();
            all.extend(store.load().unwrap().map(|present| present.origin.seed));
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        assert_eq!(seeds(), 11);
        for _ in 0..15 {
            let newest = *store.older().unwrap().last().unwrap();
            store.restore(&lock, newest).unwrap();
        }
        assert_eq!(seeds(), 10, "one more than are kept was saved");
        // Killed between the link and the new table.
        for _ in 0..3 {
            let present = data.path().join("policy/learned.toml");
            if !store.is_among_older(&present).unwrap() {
                let next = store.older().unwrap().last().unwrap() + 1;
                fs::hard_link(&present, store.older_path(next)).unwrap();
            }
        }
        store.save(&lock, &trained("simple", false, 99, 20)).unwrap();
        assert_eq!(seeds(), 11);
        for _ in 0..15 {
            store.reset(&lock).unwrap();
            store.save(&lock, &trained("simple", false, 98, 20)).unwrap();
        }
        assert_eq!(store.older().unwrap().len(), KEPT);
    }

    #[test]
    fn two_programs_cannot_train_at_once() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::new(data.path(), "learned").unwrap();
        let held = store.lock().unwrap();
        let leftover = data.path().join("policy/.learned.saving-x");
        fs::write(&leftover, "half").unwrap();
        let error = store.lock().unwrap_err();
        assert!(leftover.exists(), "it may be that of the program that saves");
        assert!(error.why.contains("another program is training"), "{error}");
        drop(held);
        store.lock().unwrap();
        assert!(!leftover.exists());
        assert!(Store::new(data.path(), "../x").is_err());
    }

    #[test]
    fn a_file_of_another_team_or_damaged_is_refused_and_can_be_replaced() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::new(data.path(), "learned").unwrap();
        let lock = store.lock().unwrap();
        store.save(&lock, &trained("simple", false, 1, 20)).unwrap();
        let other = Store::new(data.path(), "review").unwrap();
        fs::copy(store.path(), other.path()).unwrap();
        assert!(other.load().unwrap_err().why.contains("team `learned`"));
        fs::write(store.path(), b"\xff\x00").unwrap();
        assert!(store.load().is_err());
        store.save(&lock, &trained("simple", false, 2, 20)).unwrap();
        assert_eq!(store.require().unwrap().origin.seed, "2");
    }
}
