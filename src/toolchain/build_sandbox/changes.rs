//! What a build changes in the project beside the folder that it builds in.
//!
//! Owns the comparison of before and after. Reads names, times and lengths.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use super::places::{BuildPlaces, is_guarded, is_made};
use crate::model::{Diagnostic, Severity};

/// Names shown at most.
const SHOWN: usize = 8;

/// What is compared of a file: its number, length, and when it was changed; of a folder its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    File { number: u64, bytes: u64, changed: (i64, i64) },
    Folder { number: u64 },
}

/// What is at the top of a project, before a build.
#[derive(Debug)]
pub(in crate::toolchain) struct Changes(BTreeMap<String, Seen>);

impl Changes {
    /// Looks at a project.
    pub(in crate::toolchain) fn before(places: &BuildPlaces) -> Self {
        Self(seen(places))
    }

    /// Lines about what is new, different or gone now; empty when nothing is. Folders that builds
    /// make are left out.
    pub(in crate::toolchain) fn lines(&self, places: &BuildPlaces) -> String {
        let now = seen(places);
        let mut changed = names(&now, |name, found| self.0.get(name) != Some(found));
        // What nobody expects comes first.
        changed.sort_by_key(|name| {
            let plain = name.trim_end_matches('/').as_ref();
            (!is_guarded(plain), is_made(plain, places))
        });
        let gone = names(&self.0, |name, _| !now.contains_key(name));
        let written = line("Written into", &changed);
        written.into_iter().chain(line("Removed from", &gone)).collect()
    }

    /// A warning about what is new and makes other programs of the person do something.
    pub(in crate::toolchain) fn warning(&self, places: &BuildPlaces) -> Option<Diagnostic> {
        let is_new =
            |name: &str, found: &Seen| is_guarded(name.as_ref()) && self.0.get(name) != Some(found);
        let new = names(&seen(places), is_new);
        (!new.is_empty()).then(|| {
            let message = format!("this build wrote {} into the project", new.join(", "));
            let hint = "other programs act on it: look at it, or remove it, before you go on";
            Diagnostic { hint: hint.to_owned(), ..Diagnostic::new(Severity::Warning, message) }
        })
    }
}

/// The names that are chosen, those of folders with a slash.
fn names(all: &BTreeMap<String, Seen>, chosen: impl Fn(&str, &Seen) -> bool) -> Vec<String> {
    let chosen = all.iter().filter(|(name, found)| chosen(name, found));
    let shown = chosen.map(|(name, found)| match found {
        Seen::Folder { .. } => format!("{name}/"),
        Seen::File { .. } => name.clone(),
    });
    shown.collect()
}

fn line(what: &str, names: &[String]) -> Option<String> {
    let (shown, rest) = names.split_at(names.len().min(SHOWN));
    let more = match rest.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    (!names.is_empty())
        .then(|| format!("-- {what} the project by this build: {}{more}\n", shown.join(", ")))
}

fn seen(places: &BuildPlaces) -> BTreeMap<String, Seen> {
    let entries = std::fs::read_dir(&places.project).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let found = entry.metadata().ok()?;
        let number = found.ino();
        let name = entry.file_name();
        let seen = match found.is_dir() {
            true if is_made(&name, places) => return None,
            true => Seen::Folder { number },
            false => {
                let changed = (found.ctime(), found.ctime_nsec());
                Seen::File { number, bytes: found.len(), changed }
            }
        };
        Some((crate::text::sanitize::line(&name.to_string_lossy()).into_owned(), seen))
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_leaves_beside_its_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let make = |name: &str| std::fs::create_dir(folder.path().join(name)).unwrap();
        write("CMakeLists.txt", "x");
        write("sdkconfig", "x");
        write("sdkconfig.old", "x");
        make("main");
        let places = BuildPlaces {
            project: folder.path().to_owned(),
            made: vec!["build", "sdkconfig"],
            ..BuildPlaces::default()
        };
        let before = Changes::before(&places);
        assert_eq!((before.lines(&places).as_str(), before.warning(&places)), ("", None));
        make("build");
        write("main/main.c", "what is in a folder that was there is not looked at");
        write("sdkconfig", "longer");
        write("surprise.sh", "x");
        assert_eq!(
            before.lines(&places),
            "-- Written into the project by this build: surprise.sh, sdkconfig\n"
        );
        assert_eq!(before.warning(&places), None);
        make(".vscode");
        make("tool");
        std::fs::remove_file(folder.path().join("sdkconfig.old")).unwrap();
        assert_eq!(
            before.lines(&places),
            "-- Written into the project by this build: .vscode/, surprise.sh, tool/, sdkconfig\n\
             -- Removed from the project by this build: sdkconfig.old\n"
        );
        assert!(before.warning(&places).unwrap().message.contains("wrote .vscode/ into"));
        (0..9).for_each(|number| write(&format!("x{number}"), ""));
        assert!(before.lines(&places).contains("x4 and 5 more\n"), "{}", before.lines(&places));
    }
}
