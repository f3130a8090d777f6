//! The project folder, which no path leads out of: listing, reading and hashing, never writing.
//!
//! Owns the one handle on the project's folder. The writing half lives in the gate's effects.

mod change_signal;
mod error;
mod folder_watch;
mod list;
mod project_dir;
mod references;
mod registration;
mod sources;
mod watch;

pub use change_signal::{ChangePoll, SETTLE};
pub use error::WorkspaceError;
pub use list::{DEFAULT_LIST_LIMIT, Listing};
pub use project_dir::{Excerpt, MAX_FILE_BYTES, ProjectDir};
pub use references::{Reference, references_to};
pub use registration::{NearestList, Registration, is_compiled, nearest_list, registration};
pub use sources::{ManagedComponents, ManagedFile, Sources, is_source};
pub use watch::{Looked, Next, Watch, WatchStamp};

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;
    use crate::model::{ContentHash, ProjectPath, UserError};

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    #[test]
    fn links_inside_are_followed_and_those_out_are_refused() {
        let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret"), "s").unwrap();
        fs::write(project.path().join("a.c"), "a").unwrap();
        symlink("a.c", project.path().join("near")).unwrap();
        symlink(outside.path(), project.path().join("far")).unwrap();
        symlink(
            format!("../{}", outside.path().file_name().unwrap().to_str().unwrap()),
            project.path().join("up"),
        )
        .unwrap();
        let project_dir = ProjectDir::open(project.path()).unwrap();
        assert_eq!(project_dir.read(&path("near")).unwrap(), b"a");
        for file in ["far/secret", "up/secret"] {
            let error = project_dir.read(&path(file)).unwrap_err();
            assert!(matches!(error, WorkspaceError::Outside(_)), "{file}: {error}");
            assert!(project_dir.hash(&path(file)).is_err());
            assert!(!project_dir.is_file(&path(file)));
        }
    }

    #[test]
    fn what_is_no_file_is_told_apart() {
        let project = tempfile::tempdir().unwrap();
        fs::create_dir(project.path().join("folder")).unwrap();
        fs::write(project.path().join("plain"), "abc").unwrap();
        let project_dir = ProjectDir::open(project.path()).unwrap();
        let kind = |file: &str| project_dir.read(&path(file)).unwrap_err();
        assert!(matches!(kind("folder"), WorkspaceError::NotAFile(_)));
        assert!(matches!(kind("none"), WorkspaceError::Missing(_)));
        assert!(matches!(kind("plain/below"), WorkspaceError::Missing(_)));
        assert_eq!(project_dir.hash(&path("none")).unwrap(), None);
        assert_eq!(project_dir.hash(&path("plain")).unwrap(), Some(ContentHash::of(b"abc")));
        let start = project_dir.read_start(&path("plain"), 2).unwrap();
        assert_eq!((start.content.as_slice(), start.omitted()), (b"ab".as_slice(), 1));
    }

    #[test]
    fn a_missing_project_is_told_with_advice() {
        let project = tempfile::tempdir().unwrap();
        let missing = project.path().join("none");
        let error = UserError::from(ProjectDir::open(&missing).unwrap_err());
        assert!(error.what.contains("none") && !error.why.is_empty() && !error.fix.is_empty());
    }

    #[test]
    fn the_list_skips_links_and_names_that_no_path_may_have() {
        let project = tempfile::tempdir().unwrap();
        for file in ["a.c", "b\u{202e}.c", "back\\slash.c"] {
            fs::write(project.path().join(file), "x").unwrap();
        }
        symlink("a.c", project.path().join("link.c")).unwrap();
        let listing = ProjectDir::open(project.path()).unwrap().list(10);
        let names: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["a.c"]);
    }

    #[test]
    fn ignore_files_that_never_end_do_not_hold_up_the_list() {
        for (place, expected) in [("", vec!["a.c", "sub/b.c"]), ("sub", vec!["a.c"])] {
            for name in [".gitignore", ".ignore"] {
                let project = tempfile::tempdir().unwrap();
                fs::create_dir(project.path().join("sub")).unwrap();
                fs::write(project.path().join("a.c"), "x").unwrap();
                fs::write(project.path().join("sub/b.c"), "x").unwrap();
                let pipe = project.path().join(place).join(name);
                let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
                assert!(made.success());
                let listing = ProjectDir::open(project.path()).unwrap().list(10);
                let names: Vec<&str> = listing.files.iter().map(|f| f.path.as_str()).collect();
                assert_eq!(names, expected, "{}", pipe.display());
                fs::remove_file(&pipe).unwrap();
                fs::write(&pipe, "b.c\n").unwrap();
                assert_eq!(ProjectDir::open(project.path()).unwrap().list(10).files.len(), 1);
            }
        }
    }

    proptest! {
        #[test]
        fn the_version_control_is_protected_however_it_is_written(
            before in "[a-z]{0,3}", upper in any::<[bool; 4]>(), after in "[a-z]{1,3}"
        ) {
            let git: String = ".git".chars().zip(upper)
                .map(|(c, upper)| if upper { c.to_ascii_uppercase() } else { c }).collect();
            let text = format!("{before}/./{git}//{after}").trim_start_matches('/').to_owned();
            prop_assert!(ProjectDir::is_protected(&path(&text)));
            let git = git.trim_start_matches('.');
            let harmless = format!("{before}x/{git}/{after}");
            prop_assert!(!ProjectDir::is_protected(&path(&harmless)));
        }
    }
}
