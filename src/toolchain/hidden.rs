//! What a person keeps that no build needs: keys, passwords, and what browsers and shells remember.
//!
//! Owns the list in `hidden.txt`. Must not know which walls hide it.

use std::path::{Path, PathBuf};

/// The list: one path a line, below the home folder unless it is absolute.
const LIST: &str = include_str!("hidden.txt");

/// All of it that may be there.
pub(super) fn of_person(home: Option<&Path>) -> Vec<PathBuf> {
    let paths = LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let paths = paths.filter(|path| home.is_some() || path.starts_with('/'));
    paths.map(|path| home.unwrap_or(Path::new("/")).join(path)).collect()
}

/// Whether a folder is, holds or lies in something that is hidden, or is around the home folder.
pub(super) fn is_private(folder: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| home.starts_with(folder))
        || of_person(home)
            .iter()
            .any(|hidden| hidden.starts_with(folder) || folder.starts_with(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_whole() {
        let all = of_person(Some(Path::new("/home/me")));
        assert_eq!(all.len(), 77);
        assert!(all.contains(&"/home/me/.ssh".into()) && all.contains(&"/etc/shadow".into()));
        assert!(of_person(None).iter().all(|path| path.starts_with("/etc")));
    }

    #[test]
    fn a_folder_is_private_for_what_it_is_in_and_for_what_is_in_it() {
        for (folder, private) in [
            ("/", true),
            ("/home", true),
            ("/home/me", true),
            ("/home/me/.ssh", true),
            ("/home/me/.ssh/keys", true),
            ("/home/me/.config", true),
            ("/home/me/.local/share", true),
            ("/home/me/.netrc", true),
            ("/etc", true),
            ("/home/me/esp", false),
            ("/home/me/.platformio", false),
            ("/home/me/.local/lib", false),
            ("/opt/esp", false),
            ("/home/other", false),
        ] {
            assert_eq!(
                is_private(Path::new(folder), Some(Path::new("/home/me"))),
                private,
                "{folder}"
            );
        }
    }
}
