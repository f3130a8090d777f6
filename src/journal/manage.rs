//! Names that the person gives to sessions, and the end of sessions that are not wanted any more.
//!
//! A name lies beside the journal, so that a session can be named while a program runs it.

#![expect(clippy::disallowed_methods, reason = "names and removes the folders of sessions")]

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::dir::{REMOVED, SessionDir, clean_title};
use super::error::JournalError;
use super::kept_facts::KeptFacts;
use super::lock::SessionLock;

/// Gives the session a name, or takes it away with an empty one; the name as it is kept. A program
/// that runs the session is not disturbed.
///
/// # Errors
/// When the name cannot be written.
pub fn rename(dir: &SessionDir, name: &str) -> Result<String, JournalError> {
    let (name, path) = (clean_title(name), dir.title_file());
    let failed = || JournalError::io("rename the session", &path);
    if name.is_empty() {
        return match fs::remove_file(&path) {
            Ok(()) => Ok(name),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(name),
            Err(error) => Err(failed()(error)),
        };
    }
    let new = dir.root().join(format!("title.{}", std::process::id()));
    fs::write(&new, format!("{name}\n")).map_err(failed())?;
    fs::rename(&new, &path).map_err(failed())?;
    Ok(name)
}

/// Removes the session with all that lies in its folder. It vanishes from the list at once, also
/// when the program is ended in the middle.
///
/// # Errors
/// When a program runs it, or the folder cannot be removed.
pub fn delete(dir: &SessionDir) -> Result<(), JournalError> {
    let lock = SessionLock::acquire(dir)?;
    let failed = || JournalError::io("delete the session", dir.root());
    let aside = dir.root().with_file_name(format!("{REMOVED}{}", dir.id()));
    fs::rename(dir.root(), &aside).map_err(failed())?;
    if let Some(data) = dir.root().parent().and_then(Path::parent) {
        KeptFacts::forget(data).map_err(failed())?;
    }
    drop(lock);
    fs::remove_dir_all(&aside).map_err(failed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::dir::LONGEST_TITLE;
    use crate::journal::list_sessions;
    use crate::model::Timestamp;

    fn session(data: &Path, task: &str) -> SessionDir {
        let dir = SessionDir::create(data, task, Timestamp(0)).unwrap();
        fs::write(dir.journal(), "").unwrap();
        fs::create_dir(dir.project()).unwrap();
        fs::write(dir.project().join("main.c"), "int a;").unwrap();
        dir
    }

    #[test]
    fn a_session_is_found_by_the_name_that_it_was_given_also_while_it_runs() {
        let data = tempfile::tempdir().unwrap();
        let dir = session(data.path(), "wifi scan");
        session(data.path(), "i2c scan");
        let _held = SessionLock::acquire(&dir).unwrap();
        assert_eq!(dir.title(), None);
        let kept = rename(&dir, "  Kitchen\x1b[2J\n lamp ").unwrap();
        assert_eq!(Some(kept), dir.title());
        assert!(!dir.title().unwrap().contains('\x1b'));
        rename(&dir, "Kitchen lamp").unwrap();
        assert_eq!(SessionDir::find(data.path(), "kitchen LAMP").unwrap(), dir);
        let listed = list_sessions(data.path()).unwrap();
        let named: Vec<_> = listed.iter().filter_map(|one| one.title.as_deref()).collect();
        assert_eq!(named, ["Kitchen lamp"]);
        assert_eq!(rename(&dir, " ").unwrap(), "");
        assert_eq!((dir.title(), rename(&dir, "").unwrap()), (None, String::new()));
        assert_eq!(rename(&dir, &"ö".repeat(500)).unwrap().chars().count(), LONGEST_TITLE);
        assert_eq!(fs::read_dir(dir.root()).unwrap().count(), 5, "nothing is left over");
    }

    #[test]
    fn a_session_is_deleted_whole_but_not_while_a_program_runs_it() {
        let data = tempfile::tempdir().unwrap();
        let (gone, stays) = (session(data.path(), "wifi scan"), session(data.path(), "i2c scan"));
        let held = SessionLock::acquire(&gone).unwrap();
        assert!(matches!(delete(&gone), Err(JournalError::Locked { .. })));
        assert!(gone.journal().exists());
        drop(held);
        delete(&gone).unwrap();
        assert_eq!(SessionDir::all(data.path()).unwrap(), std::slice::from_ref(&stays));
        assert_eq!(fs::read_dir(data.path().join("sessions")).unwrap().count(), 1);
        // What was left in the middle is no session.
        let aside = stays.root().with_file_name(format!("{REMOVED}{}", stays.id()));
        fs::rename(stays.root(), aside).unwrap();
        assert!(SessionDir::all(data.path()).unwrap().is_empty());
    }
}
