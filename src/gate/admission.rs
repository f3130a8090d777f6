//! Which changes are not even put before a person: those that could not be carried out, and names
//! that would be another file, or none, on another system.
//!
//! Looks at the places of drafts before they become proposals, and never writes. The effects look
//! again for themselves.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Access, AtFlags, Dir, Mode, OFlags, accessat, openat};
use rustix::io::Errno;

use super::folder::{PlaceError, look};
use crate::model::{Draft, DraftChange, ProjectPath, UserError};
use crate::workspace::ProjectDir;

/// Entries of a folder that are compared with a new name, at most.
const MOST_ENTRIES: usize = 20_000;

/// Names that Windows gives to devices, with any ending.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];

/// Characters that names on Windows cannot have, beside those that no project path has.
const NOT_ON_WINDOWS: &[char] = &['<', '>', ':', '"', '|', '?', '*'];

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Whether the drafts of a call may be put before a person.
///
/// # Errors
/// What is wrong with the first that may not, for the agent that made it.
pub(super) fn admit(project_dir: &ProjectDir, drafts: &[Draft]) -> Result<(), UserError> {
    let mut new: Vec<&ProjectPath> = Vec::new();
    for draft in drafts {
        let (path, is_new, verb) = match &draft.change {
            DraftChange::Save { path, base, .. } => (path, base.is_none(), "save"),
            DraftChange::Insert { path, .. } => (path, false, "change"),
            DraftChange::Delete { path, .. } => (path, false, "delete"),
            DraftChange::Read(plan) => (&plan.path, true, "save"),
            DraftChange::Flash(_)
            | DraftChange::Erase(_)
            | DraftChange::Send(_)
            | DraftChange::Nvs(_) => continue,
        };
        look(project_dir, path).map_err(|error| error.tell(verb, path))?;
        if is_new {
            name(path)?;
            new.iter().try_for_each(|other| differs(path, other))?;
            new.push(path);
        }
        place(project_dir, path, is_new)?;
    }
    Ok(())
}

/// Why a new file cannot have its name; `None` when it can, or the disk does not tell.
pub(super) fn name_conflict(project_dir: &ProjectDir, path: &ProjectPath) -> Option<UserError> {
    name(path).err().or_else(|| other_case_on_disk(project_dir, path).ok().flatten())
}

/// Whether every part of a new path can be a name on every usual system.
fn name(path: &ProjectPath) -> Result<(), UserError> {
    let what = || format!("Cannot make `{path}`");
    let fix = "Choose a plain name of letters, digits, `_`, `-` and dots.";
    for part in path.as_str().split('/') {
        if part.starts_with(char::is_whitespace) || part.ends_with(char::is_whitespace) {
            let why = format!("the name `{part}` begins or ends with a blank");
            return Err(UserError::new(what(), why, fix));
        }
        if part.ends_with('.') {
            let why = format!("the name `{part}` ends with a dot, which some systems leave out");
            return Err(UserError::new(what(), why, fix));
        }
        if let Some(bad) = part.chars().find(|c| NOT_ON_WINDOWS.contains(c)) {
            let why = format!("the name `{part}` holds `{bad}`, which Windows does not allow");
            return Err(UserError::new(what(), why, fix));
        }
        if is_device(part) {
            let why = format!("`{part}` names a device on Windows, whatever its ending");
            return Err(UserError::new(what(), why, fix));
        }
    }
    Ok(())
}

fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_lowercase();
    let numbered = |port: &str| {
        let mut rest = stem.strip_prefix(port).unwrap_or_default().chars();
        let digit = |c: char| c.is_ascii_digit() || matches!(c, '¹' | '²' | '³');
        rest.next().is_some_and(digit) && rest.next().is_none()
    };
    DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}

/// Two names alike where upper and lower case are the same.
fn folded(name: &str) -> String {
    // Twice: `ẞ` becomes `ß` first, and `SS` then.
    name.to_lowercase().to_uppercase()
}

/// Whether two new files of one call stay two files where case does not count.
fn differs(path: &ProjectPath, other: &ProjectPath) -> Result<(), UserError> {
    let (ours, theirs) = (path.as_str().split('/'), other.as_str().split('/'));
    for (one, two) in ours.zip(theirs) {
        if one == two {
            continue;
        }
        return match folded(one) == folded(two) {
            true => Err(case_conflict(path, one, two)),
            false => Ok(()),
        };
    }
    Ok(())
}

fn case_conflict(path: &ProjectPath, name: &str, there: &str) -> UserError {
    UserError::new(
        format!("Cannot make `{path}`"),
        format!("`{name}` and `{there}` differ only in upper and lower case"),
        format!("Write `{there}`, or choose another name: on some systems both are one."),
    )
}

/// The name on the disk that a new path has in another case.
fn other_case_on_disk(
    project_dir: &ProjectDir,
    path: &ProjectPath,
) -> Result<Option<UserError>, Errno> {
    let mut folder = openat(project_dir.dir_for_effects().as_fd(), ".", FOLDER, Mode::empty())?;
    for part in path.as_str().split('/') {
        if let Some(there) = other_case_in(&folder, part)? {
            return Ok(Some(case_conflict(path, part, &there)));
        }
        match openat(&folder, part, FOLDER, Mode::empty()) {
            Ok(next) => folder = next,
            Err(_) => break,
        }
    }
    Ok(None)
}

/// Goes down to the place of a change: whether it can be written there, and whether a new name has a
/// twin.
fn place(project_dir: &ProjectDir, path: &ProjectPath, is_new: bool) -> Result<(), UserError> {
    let failed = |errno: Errno| PlaceError::from(errno).tell("save", path);
    if is_new && let Some(conflict) = other_case_on_disk(project_dir, path).map_err(failed)? {
        return Err(conflict);
    }
    let root = project_dir.dir_for_effects();
    let mut folder = openat(root.as_fd(), ".", FOLDER, Mode::empty()).map_err(failed)?;
    for part in path.as_str().split('/') {
        match openat(&folder, part, FOLDER, Mode::empty()) {
            Ok(next) => folder = next,
            // A file, or the first part that is not there.
            Err(_) => break,
        }
    }
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    accessat(&folder, ".", wanted, AtFlags::empty()).map_err(failed)
}

/// The entry of a folder that differs from `name` only in case; `None` when `name` itself is there.
fn other_case_in(folder: &OwnedFd, name: &str) -> Result<Option<String>, Errno> {
    let wanted = folded(name);
    let mut found = None;
    for entry in Dir::read_from(folder)?.take(MOST_ENTRIES) {
        let entry = entry?;
        let Ok(there) = entry.file_name().to_str() else { continue };
        if there == name {
            return Ok(None);
        }
        if folded(there) == wanted {
            found = Some(there.to_owned());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn draft(path: &str, base: Option<&str>) -> Draft {
        let base = base.map(|base| base.as_bytes().to_vec());
        let path = ProjectPath::new(path).unwrap();
        let change = DraftChange::Save { path, base, content: b"x".to_vec() };
        Draft { change, reason: String::new(), checks: Vec::new() }
    }

    fn project() -> (tempfile::TempDir, ProjectDir) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("main/Inc")).unwrap();
        fs::write(folder.path().join("main/led.h"), "x").unwrap();
        fs::write(folder.path().join("main/aux.c"), "x").unwrap();
        fs::write(folder.path().join("main/grün.c"), "x").unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        (folder, project_dir)
    }

    #[test]
    fn ordinary_changes_are_admitted() {
        let (_folder, project_dir) = project();
        for (path, base) in [
            ("main/new.c", None),
            ("main/led.h", Some("x")),
            // What is there already may have the name it has.
            ("main/aux.c", Some("x")),
            ("main/led.c", None),
            ("main/Inc/console.h", None),
            ("main/auxiliary.c", None),
            ("main/com10.c", None),
            ("components/a/src/a.c", None),
            (".gitignore", None),
            ("main/ä ö.c", None),
            ("sdkconfig.defaults.esp32s3", None),
        ] {
            let reported = admit(&project_dir, &[draft(path, base)]);
            assert_eq!(reported, Ok(()), "{path}");
        }
        let both = [draft("a/b.c", None), draft("a/c.c", None), draft("b/b.c", None)];
        assert_eq!(admit(&project_dir, &both), Ok(()));
    }

    #[test]
    fn names_that_mean_another_file_elsewhere_are_refused() {
        let (_folder, project_dir) = project();
        for (path, word) in [
            ("main/Led.h", "`led.h`"),
            ("Main/x.c", "`main`"),
            ("main/inc/x.h", "`Inc`"),
            ("main/GRÜN.c", "`grün.c`"),
            ("main/led.h ", "blank"),
            ("main /x.c", "blank"),
            (" main/x.c", "blank"),
            ("main/x.c\u{a0}", "blank"),
            ("main/led.h.", "dot"),
            ("main./x.c", "dot"),
            ("main/con.h", "device"),
            ("main/AUX.h", "device"),
            ("nul/x.c", "device"),
            ("main/com1.c", "device"),
            ("main/Lpt9.tar.gz", "device"),
            ("main/con .h", "device"),
            ("main/a:b.c", "Windows"),
            ("main/a?.c", "Windows"),
        ] {
            let error = admit(&project_dir, &[draft(path, None)]).unwrap_err();
            assert!(error.to_string().contains(word), "{path}: {error}");
            assert!(!error.fix.is_empty());
        }
        for (one, two) in [("x/Led.c", "x/led.c"), ("New/a.c", "new/b.c"), ("x", "X")] {
            let error = admit(&project_dir, &[draft(one, None), draft(two, None)]).unwrap_err();
            assert!(error.why.contains("only in upper and lower case"), "{error}");
        }
    }

    #[test]
    fn what_could_not_be_carried_out_is_refused() {
        let (folder, project_dir) = project();
        let at = |path: &str| folder.path().join(path);
        let outside = tempfile::tempdir().unwrap();
        symlink(outside.path(), at("out")).unwrap();
        symlink("led.h", at("main/link.h")).unwrap();
        fs::create_dir(at("main/folder.c")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(at("main/pipe.c")).status().unwrap();
        assert!(made.success());
        fs::write(at("main/long.c"), vec![b'x'; 9 << 20]).unwrap();
        for (path, base, word) in [
            (".git/hooks/pre-commit", None, "version control"),
            ("sub/.GIT/config", None, "version control"),
            ("sub/.git ./config", None, "version control"),
            ("GIT~1/config", None, "version control"),
            (".firmhand/config.toml", None, "this program"),
            ("out/x.c", None, "symbolic link"),
            ("main/link.h", Some("x"), "symbolic link"),
            ("main/led.h/x.c", None, "not a folder"),
            ("main/folder.c", None, "regular file"),
            ("main/pipe.c", None, "regular file"),
            ("main/long.c", Some("x"), "bytes"),
        ] {
            let error = admit(&project_dir, &[draft(path, base)]).unwrap_err();
            assert!(error.to_string().contains(word), "{path}: {error}");
        }
    }
}
