//! What builds write: names at the top of the project, and folders elsewhere.
//!
//! Owns the difference between what a build makes and what is the person's. Must not know walls.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::toolchain::output_folder;

/// The settings of `ccache`, in its folder: they name programs that it runs.
const CCACHE_SETTINGS: &str = "ccache.conf";

/// What builds make under several names: the plain one, and with an ending.
const WITH_ENDING: [&str; 2] = ["sdkconfig", "dependencies.lock"];

/// Endings of sources: the defaults of a configuration, and those of tests.
const SOURCES: [&str; 2] = [".defaults", ".ci"];

/// Names at the top of a project that other programs of the person act on.
const GUARDED: &str = ".git .gitmodules .github .gitlab .vscode .idea .envrc .firmhand \
    .devcontainer .husky .pre-commit-config.yaml";

/// What builds of one kind write.
#[derive(Debug, Clone, Default)]
pub(in crate::toolchain) struct BuildPlaces {
    /// Absolute path of the project.
    pub(in crate::toolchain) project: PathBuf,
    /// Names of what they write at the top of the project. Everything else that is there stays as
    /// it is.
    pub(in crate::toolchain) made: Vec<&'static str>,
    /// Files and folders that they write elsewhere; those that are not there are left out.
    pub(in crate::toolchain) folders: Vec<PathBuf>,
    /// What stays as it is in those.
    pub(in crate::toolchain) fixed: Vec<PathBuf>,
}

impl BuildPlaces {
    /// Adds what builds write elsewhere, and what stays as it is there.
    pub(in crate::toolchain) fn add(&mut self, caches: Caches) {
        self.folders.extend(caches.folders);
        self.fixed.extend(caches.fixed);
    }
}

/// Folders of caches, and the files in them that no build changes.
#[derive(Debug, Default)]
pub(in crate::toolchain) struct Caches {
    folders: Vec<PathBuf>,
    fixed: Vec<PathBuf>,
}

/// The folder that a variable names, else the one below the home folder.
fn named_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|named| !named.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(below_home)))
}

/// The tool's own cache, which is made when it is not there yet.
pub(in crate::toolchain) fn tool_cache(variable: &str, name: &str) -> Caches {
    let around = named_folder("XDG_CACHE_HOME", ".cache");
    let named = std::env::var_os(variable).map(PathBuf::from);
    let own = named.or_else(|| Some(around?.join(name)));
    if let Some(own) = own.as_ref().filter(|own| own.is_absolute()) {
        let below = own.strip_prefix("/").unwrap_or(own);
        // Without it the tool says itself what it misses.
        let _ = output_folder::make_folder(Path::new("/"), below);
    }
    Caches { folders: own.into_iter().collect(), fixed: Vec::new() }
}

/// The folders of `ccache` that are there.
pub(in crate::toolchain) fn compiler_caches() -> Caches {
    let around = named_folder("XDG_CACHE_HOME", ".cache").map(|around| around.join("ccache"));
    let all = around.into_iter().chain(named_folder("CCACHE_DIR", ".ccache"));
    ccache(all.filter(|folder| folder.is_dir()).collect())
}

/// Those folders with their settings, which are made when they are not there: only what is there can
/// be kept as it is.
fn ccache(folders: Vec<PathBuf>) -> Caches {
    let settings = folders.iter().map(|folder| {
        // It is there already, or the folder is not the person's to write, nor the build's.
        let _ = output_folder::write_new(folder, Path::new(CCACHE_SETTINGS), b"");
        folder.join(CCACHE_SETTINGS)
    });
    let fixed = settings.collect();
    Caches { folders, fixed }
}

/// What lies at the top of the project and is not made by builds. A link is left out: what it leads to
/// is elsewhere.
///
/// # Errors
/// When the project cannot be listed.
pub(super) fn fixed_of_project(
    project: &Path,
    places: &BuildPlaces,
    writable: &[PathBuf],
) -> io::Result<Vec<PathBuf>> {
    let mut fixed = Vec::new();
    for entry in std::fs::read_dir(project)? {
        let entry = entry?;
        let is_link = entry.file_type()?.is_symlink();
        let is_allowed = writable.iter().any(|path| project.join(path) == entry.path());
        if !is_link && !is_allowed && !is_made(&entry.file_name(), places) {
            fixed.push(entry.path());
        }
    }
    Ok(fixed)
}

/// Whether something at the top of the project is made by builds.
pub(super) fn is_made(name: &OsStr, places: &BuildPlaces) -> bool {
    let name = name.to_string_lossy();
    places.made.iter().any(|made| {
        name.strip_prefix(made).is_some_and(|rest| match rest.is_empty() {
            true => true,
            false => {
                WITH_ENDING.contains(made)
                    && rest.starts_with('.')
                    && !SOURCES.iter().any(|ending| rest.starts_with(ending))
            }
        })
    })
}

/// Whether other programs of the person act on what has that name at the top of a project.
pub(in crate::toolchain) fn is_guarded(name: &OsStr) -> bool {
    GUARDED.split(' ').any(|guarded| name == guarded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_makes_is_told_from_sources_by_its_name() {
        let places = BuildPlaces {
            made: vec!["build", ".pio", "sdkconfig", "dependencies.lock"],
            ..BuildPlaces::default()
        };
        for (name, made) in [
            ("build", true),
            ("sdkconfig", true),
            ("sdkconfig.old", true),
            ("sdkconfig.esp32dev", true),
            ("dependencies.lock.esp32", true),
            ("sdkconfig.defaults", false),
            ("sdkconfig.defaults.esp32", false),
            ("sdkconfig.ci.release", false),
            ("build.sh", false),
            ("build.py", false),
            (".pio.ini", false),
            ("build_tools", false),
            ("main", false),
            (".git", false),
        ] {
            assert_eq!(is_made(name.as_ref(), &places), made, "{name}");
        }
    }

    #[test]
    fn the_settings_of_a_cache_are_there_so_that_they_can_be_kept() {
        let (new, old) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(old.path().join(CCACHE_SETTINGS), "max_size = 1G\n").unwrap();
        let folders = vec![new.path().to_owned(), old.path().to_owned()];
        let caches = ccache(folders.clone());
        assert_eq!(caches.folders, folders);
        let texts: Vec<String> =
            caches.fixed.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
        assert_eq!(texts, ["", "max_size = 1G\n"]);
    }

    #[test]
    fn a_project_that_cannot_be_listed_is_an_error() {
        let gone = Path::new("/none/project");
        assert!(fixed_of_project(gone, &BuildPlaces::default(), &[]).is_err());
    }
}
