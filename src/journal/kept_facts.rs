//! What was read of journals for the list of sessions, kept for the next list.
//!
//! A journal of the same length and time of change is not read again: with hundreds of sessions,
//! reading their ends takes longer than the first frame may. Only speed depends on this file: one that
//! is missing, damaged or of another format is made again. Must not tell whether a program runs a
//! session: only its lock does.

#![expect(clippy::disallowed_methods, reason = "the program's own data folder")]

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::dir::SessionDir;
use super::facts::JournalFacts;
use crate::files;

/// Name of the file in the data folder.
const FILE: &str = "session-list.json";

/// Counts up whenever other facts are read of a journal.
const FORMAT: u32 = 2;

/// Journals that a list has to read itself before the file is written again.
const MANY: usize = 16;

/// By what a journal is recognised as unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    bytes: u64,
    /// Seconds and nanoseconds of its last change.
    changed: (i64, i64),
}

impl Stamp {
    pub fn of(journal: &Metadata) -> Self {
        Self { bytes: journal.len(), changed: (journal.mtime(), journal.mtime_nsec()) }
    }
}

/// What is known of one journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Known {
    pub stamp: Stamp,
    pub facts: JournalFacts,
}

/// What is known of all journals, by the names of their sessions.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct KeptFacts {
    format: u32,
    sessions: HashMap<String, Known>,
}

impl KeptFacts {
    /// Reads what a list before has kept.
    pub fn read(data: &Path) -> Self {
        let text = files::read(&path(data), files::SOURCE).unwrap_or_default();
        let kept: Self = serde_json::from_slice(&text).unwrap_or_default();
        if kept.format == FORMAT { kept } else { Self::default() }
    }

    /// What is known of a session whose journal has that stamp.
    pub fn get(&self, dir: &SessionDir, stamp: Stamp) -> Option<&JournalFacts> {
        let known = self.sessions.get(dir.id().as_str())?;
        (known.stamp == stamp).then_some(&known.facts)
    }

    /// As much as a list has found out.
    pub fn new(sessions: HashMap<String, Known>) -> Self {
        Self { format: FORMAT, sessions }
    }

    /// Whether a list that had to read `read` of `total` journals should be kept: many were read, or
    /// a session is gone that is still in here.
    pub fn is_worth_writing(&self, read: usize, total: usize) -> bool {
        read >= MANY || self.sessions.len() > total
    }

    /// Keeps this for the next list. When that fails, the next list takes longer, and nothing else is
    /// lost.
    pub fn write(&self, data: &Path) {
        let Ok(text) = serde_json::to_vec(self) else { return };
        if text.len() as u64 > files::SOURCE {
            return;
        }
        // Nobody else may read it: tasks stand in it.
        let written = tempfile::NamedTempFile::new_in(data)
            .and_then(|mut file| file.write_all(&text).map(|()| file));
        if let Ok(file) = written {
            let _ = file.persist(path(data));
        }
    }

    /// Forgets all of them, so that nothing of a deleted session stays.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn forget(data: &Path) -> std::io::Result<()> {
        match fs::remove_file(path(data)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }
}

fn path(data: &Path) -> PathBuf {
    data.join(FILE)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::journal::{JournalWriter, SessionState, SessionSummary, delete, list_sessions};
    use crate::model::event::{SessionParts, SessionStart};
    use crate::model::{Event, SessionEvent, SessionOutcome, Timestamp};

    /// Sessions with the tasks `task 0`, `task 1`, …
    fn sessions(data: &Path, count: usize) -> Vec<SessionDir> {
        let one = |number: usize| {
            let task = format!("task {number}");
            let dir = SessionDir::create(data, &task, Timestamp(0)).unwrap();
            let start = SessionStart {
                id: dir.id().clone(),
                task,
                team: "generate".into(),
                project: "/p".into(),
                model: "m".into(),
                toolchain: "t".into(),
                program: "0.1.0".into(),
                parts: SessionParts::default(),
            };
            let started = Event::Session(SessionEvent::Started(Box::new(start)));
            JournalWriter::create(&dir).unwrap().append(Timestamp(1), started).unwrap();
            dir
        };
        (0..count).map(one).collect()
    }

    fn list(data: &Path) -> Vec<SessionSummary> {
        list_sessions(data).unwrap()
    }

    fn tasks(data: &Path) -> Vec<String> {
        let mut tasks: Vec<String> =
            list(data).into_iter().filter_map(|one| Some(one.facts.start?.task)).collect();
        tasks.sort();
        tasks
    }

    #[test]
    fn journals_that_have_not_changed_are_not_read_again_and_others_are() {
        let data = tempfile::tempdir().unwrap();
        let dirs = sessions(data.path(), MANY);
        assert_eq!(tasks(data.path()).len(), MANY);
        let text = fs::read_to_string(path(data.path())).unwrap();
        fs::write(path(data.path()), text.replace("task 3", "kept 3")).unwrap();
        assert!(tasks(data.path()).contains(&"kept 3".to_owned()), "it was not read again");
        let mut writer = JournalWriter::reopen(&dirs[3]).unwrap().0;
        let ended = Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Stopped });
        writer.append(Timestamp(9), ended).unwrap();
        let first = list(data.path()).remove(0);
        assert_eq!(first.facts.start.unwrap().task, "task 3");
        assert_eq!(first.state, SessionState::Open(Some(std::process::id())));
        drop(writer);
        let _held = JournalWriter::reopen(&dirs[5]).unwrap();
        let states: Vec<SessionState> =
            list(data.path()).into_iter().map(|one| one.state).collect();
        assert_eq!(states[0], SessionState::Ended(SessionOutcome::Stopped));
        let running = SessionState::Running(Some(std::process::id()));
        assert_eq!(states.iter().filter(|state| **state == running).count(), 1);
    }

    #[test]
    fn what_cannot_be_used_is_made_again() {
        let data = tempfile::tempdir().unwrap();
        sessions(data.path(), MANY);
        let right = tasks(data.path());
        let text = fs::read_to_string(path(data.path())).unwrap();
        let format = format!("\"format\":{FORMAT}");
        let older = text.replace("task 3", "older").replacen(&format, "\"format\":0", 1);
        for wrong in ["", "{", "[]", "\0\0\0", older.as_str(), &text[..text.len() / 2]] {
            fs::write(path(data.path()), wrong).unwrap();
            assert_eq!(tasks(data.path()), right);
            assert_eq!(fs::read_to_string(path(data.path())).unwrap().len(), text.len());
        }
        fs::remove_file(path(data.path())).unwrap();
        fs::create_dir(path(data.path())).unwrap();
        assert_eq!(tasks(data.path()), right, "a folder of its name");
    }

    #[test]
    fn nothing_of_a_deleted_session_stays() {
        let data = tempfile::tempdir().unwrap();
        let dirs = sessions(data.path(), MANY);
        list(data.path());
        delete(&dirs[2]).unwrap();
        assert!(!path(data.path()).exists());
        list(data.path());
        list(data.path());
        fs::write(path(data.path()), "{}").unwrap();
        let more = sessions(data.path(), 2);
        assert_eq!(list(data.path()).len(), MANY + 1);
        assert!(fs::read_to_string(path(data.path())).unwrap().contains("task 4"));
        // Removed by hand, without the program.
        fs::remove_dir_all(more[0].root()).unwrap();
        fs::remove_dir_all(dirs[4].root()).unwrap();
        list(data.path());
        assert!(!fs::read_to_string(path(data.path())).unwrap().contains("task 4"));
    }

    #[test]
    fn a_list_is_kept_only_where_that_is_worth_it() {
        let data = tempfile::tempdir().unwrap();
        sessions(data.path(), MANY);
        list(data.path());
        let kept = KeptFacts::read(data.path());
        assert!(kept.is_worth_writing(MANY, 10 * MANY) && kept.is_worth_writing(0, MANY - 1));
        assert!(!kept.is_worth_writing(MANY - 1, MANY) && !kept.is_worth_writing(0, MANY + 1));
        KeptFacts::forget(data.path()).unwrap();
        KeptFacts::forget(data.path()).unwrap();
        fs::create_dir(path(data.path())).unwrap();
        assert!(KeptFacts::forget(data.path()).is_err(), "it is still there");
    }

    #[test]
    fn a_journal_with_the_same_length_and_another_time_is_read_again() {
        let data = tempfile::tempdir().unwrap();
        let dirs = sessions(data.path(), MANY);
        list(data.path());
        let journal = dirs[7].journal();
        let text = fs::read_to_string(&journal).unwrap();
        fs::write(&journal, text.replace("task 7", "TASK 7")).unwrap();
        let later = fs::metadata(&journal).unwrap().modified().unwrap()
            + std::time::Duration::from_millis(1);
        File::options().append(true).open(&journal).unwrap().set_modified(later).unwrap();
        assert!(tasks(data.path()).contains(&"TASK 7".to_owned()));
    }
}
