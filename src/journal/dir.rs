//! Where a session lies on disk, and what it is called.

#![expect(clippy::disallowed_methods, reason = "makes the session's folder")]

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::model::{LogId, Record, RecordSource, SessionId, Timestamp, UserError};
use crate::text::sanitize;

use super::blobs::Blobs;
use super::error::JournalError;
use super::logs::{self, LogFiles};
use super::parse::ReadItem;
use super::scan::scan;

/// Words of a task that tell nothing about it.
const DULL: &str = "a add an and build code create driver's esp esp-idf esp32 firmware for from \
    generate idf implement in into it make my of on please program project that the this to using \
    via which with write";

/// Longest slug in bytes.
const MAX_SLUG: usize = 24;

/// Longest name that a person can give a session, in characters.
pub const LONGEST_TITLE: usize = 80;

/// Most bytes of such a name that are read.
const MOST_TITLE: u64 = 1_024;

/// Starts the name of a folder that is being removed.
pub(super) const REMOVED: &str = ".removed-";

/// The folder of one session: journal, blobs, logs, lock, and for demos a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDir {
    id: SessionId,
    root: PathBuf,
}

impl SessionDir {
    /// Makes the folder of a new session below `data`, named after the moment and the task, e.g.
    /// `2026-11-21-0744-i2c-driver`; a number is appended when that name is taken.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn create(data: &Path, task: &str, now: Timestamp) -> Result<Self, JournalError> {
        let sessions = sessions_dir(data);
        let doing = "make a folder for the session";
        // Folders above that are made now must outlive a power cut too.
        let is_new = |folder: &&Path| !folder.exists();
        let new: Vec<&Path> = sessions.ancestors().take_while(is_new).collect();
        fs::create_dir_all(&sessions).map_err(JournalError::io(doing, &sessions))?;
        let stem = format!("{}-{}", stamp(now), slug(task));
        for number in 1_u32.. {
            let name = if number == 1 { stem.clone() } else { format!("{stem}-{number}") };
            let root = sessions.join(&name);
            match fs::create_dir(&root) {
                Ok(()) => {
                    let logs = root.join("logs");
                    fs::create_dir(&logs).map_err(JournalError::io(doing, &logs))?;
                    // The name must outlive a power cut as what is recorded below it does.
                    let above = new.iter().filter_map(|folder| folder.parent());
                    let named = above.filter(|folder| !folder.as_os_str().is_empty());
                    for folder in named.chain([data, &sessions]) {
                        let synced = File::open(folder).and_then(|folder| folder.sync_all());
                        synced.map_err(JournalError::io(doing, folder))?;
                    }
                    return Ok(Self { id: SessionId::new(name), root });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(JournalError::io(doing, &root)(error)),
            }
        }
        Err(JournalError::io(doing, &sessions)(ErrorKind::AlreadyExists.into()))
    }

    /// Finds a session by its name, by the one that the person gave it, or by a part of its name
    /// that no other session has.
    ///
    /// # Errors
    /// When none or several match; names the nearest.
    pub fn find(data: &Path, name: &str) -> Result<Self, JournalError> {
        let mut all = Self::all(data)?;
        if let Some(exact) = all.iter().position(|dir| dir.id.as_str() == name) {
            return Ok(all.swap_remove(exact));
        }
        let named = |dir: &Self| {
            dir.title().is_some_and(|title| title.to_lowercase() == name.to_lowercase())
        };
        let titled: Vec<usize> =
            all.iter().enumerate().filter(|(_, dir)| named(dir)).map(|(place, _)| place).collect();
        if let [only] = titled[..] {
            return Ok(all.swap_remove(only));
        }
        all.retain(|dir| !name.is_empty() && dir.id.as_str().contains(name));
        if all.len() == 1 {
            return Ok(all.remove(0));
        }
        let candidates = all.into_iter().rev().take(5).map(|dir| dir.id).collect();
        Err(JournalError::Unknown { name: name.to_owned(), candidates })
    }

    /// All sessions below `data`, oldest first by name.
    ///
    /// # Errors
    /// When the folder is there but cannot be read.
    pub fn all(data: &Path) -> Result<Vec<Self>, JournalError> {
        let sessions = sessions_dir(data);
        let entries = match fs::read_dir(&sessions) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(JournalError::io("list the sessions", &sessions)(error)),
        };
        let mut all: Vec<Self> = entries
            .flatten()
            .filter_map(|entry| Self::at(entry.path()))
            .filter(|dir| !dir.id.as_str().starts_with(REMOVED) && dir.journal().is_file())
            .collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }

    /// The session in the folder `root`, wherever that lies; `None` when its name is not UTF-8.
    #[must_use]
    pub fn at(root: PathBuf) -> Option<Self> {
        let id = SessionId::new(root.file_name()?.to_str()?);
        Some(Self { id, root })
    }

    /// The session's name.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of records.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal.jsonl")
    }

    /// The file of the name that the person gave the session.
    #[must_use]
    pub fn title_file(&self) -> PathBuf {
        self.root.join("title")
    }

    /// The name that the person gave the session; `None`: it has none, or none that can be read.
    #[must_use]
    pub fn title(&self) -> Option<String> {
        let mut text = String::new();
        let file = File::open(self.title_file()).ok()?;
        file.take(MOST_TITLE).read_to_string(&mut text).ok()?;
        Some(clean_title(&text)).filter(|title| !title.is_empty())
    }

    /// The file whose lock the running program holds.
    #[must_use]
    pub fn lock_file(&self) -> PathBuf {
        self.root.join("lock")
    }

    /// The raw bytes of a log, or their beginning; [`LogFiles`] knows the files after it.
    #[must_use]
    pub fn log_file(&self, log: LogId) -> PathBuf {
        logs::log_file(&self.log_folder(), log)
    }

    fn log_folder(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Where a demo keeps its project; nobody makes this folder here.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// The session's content store.
    #[must_use]
    pub fn blobs(&self) -> Blobs {
        Blobs::new(self.root.join("blobs.pack"))
    }

    /// The session's raw logs.
    #[must_use]
    pub fn logs(&self) -> LogFiles {
        LogFiles::new(self.log_folder())
    }
}

/// The text as a session's name: one line without control characters, not too long; empty: none.
#[must_use]
pub fn clean_title(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    sanitize::line(&line).chars().take(LONGEST_TITLE).collect::<String>().trim().to_owned()
}

impl RecordSource for SessionDir {
    /// A line that cannot be read is passed over.
    fn each(&self, fold: &mut dyn FnMut(&Record)) -> Result<(), UserError> {
        scan(&self.journal(), |item, _| match item {
            ReadItem::Record(record) => fold(&record),
            ReadItem::Damaged(_) => {}
        })?;
        Ok(())
    }
}

fn sessions_dir(data: &Path) -> PathBuf {
    data.join("sessions")
}

/// Local date and time to the minute.
fn stamp(now: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
    let local = moment.to_zoned(jiff::tz::TimeZone::system());
    local.strftime("%Y-%m-%d-%H%M").to_string()
}

/// The telling words of a task in lower case, e.g. `i2c-driver`.
fn slug(task: &str) -> String {
    let lower = task.to_lowercase();
    let is_dull = |word: &str| DULL.split(' ').any(|dull| dull == word);
    let words = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !is_dull(word));
    let mut slug = String::new();
    for word in words {
        let word = word.get(..MAX_SLUG).unwrap_or(word);
        if !slug.is_empty() {
            if slug.len() + 1 + word.len() > MAX_SLUG {
                break;
            }
            slug.push('-');
        }
        slug.push_str(word);
    }
    if slug.is_empty() { "session".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_tell_moment_and_task() {
        assert_eq!(slug("Generate an I2C driver for the ESP32"), "i2c-driver");
        assert_eq!(slug("Führe aus: ../../etc"), "f-hre-aus-etc");
        assert_eq!(slug("  write the code "), "session");
        assert_eq!(slug("wifi scanner over bluetooth"), "wifi-scanner-over", "24 letters");
        assert_eq!(slug("aaaaaaaaaaa bbbbbbbbbbbb cc"), "aaaaaaaaaaa-bbbbbbbbbbbb");
        assert_eq!(slug("aaaaaaaaaaa bbbbbbbbbbbbb"), "aaaaaaaaaaa");
        assert_eq!(slug(&"a".repeat(30)), "a".repeat(24));
        let data = tempfile::tempdir().unwrap();
        let now = Timestamp(1_795_000_000_000);
        let first = SessionDir::create(data.path(), "Blink a LED", now).unwrap();
        let second = SessionDir::create(data.path(), "Blink a LED", now).unwrap();
        assert!(first.id().as_str().ends_with("-blink-led"), "{first:?}");
        assert!(first.id().as_str().starts_with("2026-"), "{first:?}");
        assert_eq!(second.id().as_str(), format!("{}-2", first.id()));
        assert!(first.root().join("logs").is_dir());
    }

    #[test]
    fn sessions_are_found_by_a_part_of_their_name() {
        let data = tempfile::tempdir().unwrap();
        let made: Vec<SessionDir> = ["wifi scan", "i2c scan"]
            .iter()
            .map(|task| SessionDir::create(data.path(), task, Timestamp(0)).unwrap())
            .collect();
        for dir in &made {
            fs::write(dir.journal(), "").unwrap();
        }
        assert_eq!(SessionDir::find(data.path(), "wifi").unwrap(), made[0]);
        assert_eq!(SessionDir::find(data.path(), made[1].id().as_str()).unwrap(), made[1]);
        let error = SessionDir::find(data.path(), "scan").unwrap_err();
        assert!(matches!(error, JournalError::Unknown { candidates, .. } if candidates.len() == 2));
        assert!(SessionDir::find(data.path(), "../x").is_err());
        assert!(SessionDir::all(&data.path().join("none")).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn any_task_gives_a_harmless_name(task in any::<String>()) {
            let slug = slug(&task);
            prop_assert!(!slug.is_empty() && slug.len() <= MAX_SLUG);
            prop_assert!(slug.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        }
    }
}
