//! Projects whose own scripts may run: a build by ESP-IDF, arduino-cli or PlatformIO runs what a
//! project brings.
//!
//! Owns the person's list, `trusted.toml` of the data folder. Nothing within a project can put
//! itself on it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::own_file;
use crate::model::UserError;
use crate::sandbox::Consent;

/// The trusted projects.
#[derive(Debug, Clone)]
pub struct Trust {
    file: PathBuf,
    /// Projects that begin inside of sessions; the person approves every file of them.
    own: PathBuf,
}

/// The file as it is written.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustFile {
    #[serde(default)]
    projects: Vec<PathBuf>,
    /// Projects whose programs may run where there is no sandbox.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without_sandbox: Vec<PathBuf>,
}

impl Trust {
    /// The list below the data folder.
    #[must_use]
    pub fn of(data: &Path) -> Self {
        Self { file: data.join("trusted.toml"), own: real(&data.join("sessions")) }
    }

    /// The projects on it, in the order they came.
    ///
    /// # Errors
    /// When the file cannot be read; then nothing is trusted.
    pub fn projects(&self) -> Result<Vec<PathBuf>, UserError> {
        self.page().map(|page| page.projects)
    }

    /// Whether programs of that project may run where there is no sandbox.
    ///
    /// # Errors
    /// As [`Trust::projects`].
    pub fn consent(&self, project: &Path) -> Result<Consent, UserError> {
        let real = real(project);
        let is_listed = self.page()?.without_sandbox.iter().any(|known| real.starts_with(known));
        Ok(if is_listed { Consent::Given } else { Consent::Missing })
    }

    fn page(&self) -> Result<TrustFile, UserError> {
        own_file::read(&self.file, "Correct or remove it; then trust its projects again.")
    }

    /// Puts a project on it, with all that is below. Whether it was not there before.
    ///
    /// # Errors
    /// When there is no such folder, or the list cannot be read or written.
    pub fn add(&self, project: &Path) -> Result<bool, UserError> {
        self.put_on(project, |page| &mut page.projects)
    }

    /// Lets programs of that project run where there is no sandbox. Whether they could not before.
    ///
    /// # Errors
    /// As [`Trust::add`].
    pub fn run_without_sandbox(&self, project: &Path) -> Result<bool, UserError> {
        self.put_on(project, |page| &mut page.without_sandbox)
    }

    fn put_on(
        &self,
        project: &Path,
        list: impl Fn(&mut TrustFile) -> &mut Vec<PathBuf>,
    ) -> Result<bool, UserError> {
        let project = fs::canonicalize(project).map_err(|error| {
            let what = format!("Cannot trust {}", project.display());
            UserError::from_cause(what, &error).fix("Name the folder of a project.")
        })?;
        own_file::change(&self.file, self.unwritten(), || {
            let mut page = self.page()?;
            let known = list(&mut page);
            if known.contains(&project) {
                return Ok(false);
            }
            known.push(project);
            self.keep(&page).map(|()| true)
        })
    }

    /// Takes a project off it. Whether it was there.
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn forget(&self, project: &Path) -> Result<bool, UserError> {
        let project = real(project);
        own_file::change(&self.file, self.unwritten(), || {
            let mut page = self.page()?;
            let before = page.projects.len() + page.without_sandbox.len();
            page.projects.retain(|known| *known != project);
            page.without_sandbox.retain(|known| *known != project);
            if page.projects.len() + page.without_sandbox.len() == before {
                return Ok(false);
            }
            self.keep(&page).map(|()| true)
        })
    }

    /// Checks that a project's own scripts may run.
    ///
    /// # Errors
    /// When it is not on the list, or the list cannot be read.
    pub fn check(&self, project: &Path) -> Result<(), UserError> {
        let real = real(project);
        if real.starts_with(&self.own)
            || self.projects()?.iter().any(|known| real.starts_with(known))
        {
            return Ok(());
        }
        let project = real.display();
        Err(UserError::new(
            format!("Cannot build the project {project}: it is not trusted"),
            "a build by ESP-IDF, arduino-cli or PlatformIO runs the project's own scripts (CMakeLists.txt, Kconfig, sketch.yaml, platformio.ini and everything they refer to), which use \
             the network and, where `firmhand doctor` finds no sandbox for builds, all your rights",
            format!(
                "Look at it, then run `firmhand trust {project}`; with `--toolchain virtual` it is \
                 built without its scripts, and its firmware runs only where `firmhand doctor` finds \
                 a sandbox, unless you allow more."
            ),
        ))
    }

    fn keep(&self, page: &TrustFile) -> Result<(), UserError> {
        let written = toml::to_string(page)
            .map_err(std::io::Error::other)
            .and_then(|text| own_file::put(&self.file, &text));
        written.map_err(self.unwritten())
    }

    fn unwritten(&self) -> impl FnOnce(std::io::Error) -> UserError {
        let what = format!("Cannot write {}", self.file.display());
        |error| UserError::from_cause(what, &error).fix("Make the data folder writable.")
    }
}

/// Whether there is nothing at all in a folder, or no folder yet: also no file that lists of a
/// project leave out, because it is hidden or ignored.
#[must_use]
pub fn is_untouched(project: &Path) -> bool {
    match fs::read_dir(project) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// The folder itself, whatever links lead to it.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_trusted_with_what_is_below_it_until_it_is_taken_back() {
        let data = tempfile::tempdir().unwrap();
        let place = tempfile::tempdir().unwrap();
        let trust = Trust::of(data.path());
        let inner = place.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let error = trust.check(&inner).unwrap_err();
        assert!(error.what.contains("not trusted") && error.fix.contains("firmhand trust"));
        assert!(trust.add(place.path()).unwrap());
        assert!(!trust.add(&inner.join("..")).unwrap(), "the same folder by another name");
        trust.check(&inner).unwrap();
        let sibling = place.path().with_extension("sibling");
        assert!(trust.check(&sibling).is_err(), "a name that begins alike is another project");
        assert!(trust.forget(place.path()).unwrap());
        assert!(!trust.forget(place.path()).unwrap());
        assert!(trust.check(&inner).is_err());
    }

    #[test]
    fn projects_that_are_trusted_at_once_are_all_on_the_list() {
        let data = tempfile::tempdir().unwrap();
        let place = tempfile::tempdir().unwrap();
        let projects: Vec<PathBuf> = (0..30).map(|n| place.path().join(n.to_string())).collect();
        std::thread::scope(|scope| {
            for project in &projects {
                fs::create_dir(project).unwrap();
                let data = data.path();
                scope.spawn(move || assert!(Trust::of(data).add(project).unwrap()));
            }
        });
        let mut listed = Trust::of(data.path()).projects().unwrap();
        listed.sort();
        let mut expected: Vec<PathBuf> = projects.iter().map(|path| real(path)).collect();
        expected.sort();
        assert_eq!(listed, expected);
    }

    #[test]
    fn programs_run_without_a_sandbox_only_where_that_was_said() {
        let (data, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let trust = Trust::of(data.path());
        trust.add(place.path()).unwrap();
        assert_eq!(trust.consent(place.path()).unwrap(), Consent::Missing, "that is another word");
        assert!(trust.run_without_sandbox(place.path()).unwrap());
        assert!(!trust.run_without_sandbox(place.path()).unwrap());
        assert_eq!(trust.consent(&place.path().join("sub")).unwrap(), Consent::Given);
        trust.check(place.path()).unwrap();
        assert!(trust.forget(place.path()).unwrap());
        assert_eq!(trust.consent(place.path()).unwrap(), Consent::Missing);
        assert!(trust.check(place.path()).is_err());
    }

    #[test]
    fn a_link_out_of_a_trusted_project_is_not_trusted() {
        let data = tempfile::tempdir().unwrap();
        let (place, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let trust = Trust::of(data.path());
        trust.add(place.path()).unwrap();
        let link = place.path().join("link");
        std::os::unix::fs::symlink(other.path(), &link).unwrap();
        assert!(trust.check(&link).is_err());
    }

    #[test]
    fn projects_of_sessions_need_no_word_and_a_damaged_list_trusts_nothing() {
        let data = tempfile::tempdir().unwrap();
        let own = data.path().join("sessions/one/project");
        fs::create_dir_all(&own).unwrap();
        let trust = Trust::of(data.path());
        trust.check(&own).unwrap();
        let place = tempfile::tempdir().unwrap();
        trust.add(place.path()).unwrap();
        fs::write(&trust.file, "projects = 7").unwrap();
        let error = trust.check(place.path()).unwrap_err();
        assert!(error.what.contains("trusted.toml"), "{error:?}");
        assert!(trust.add(place.path()).is_err(), "a list that cannot be read is not overwritten");
    }

    #[test]
    fn a_folder_with_hidden_and_ignored_files_only_is_no_new_project() {
        let place = tempfile::tempdir().unwrap();
        assert!(is_untouched(place.path()) && is_untouched(&place.path().join("none")));
        fs::write(place.path().join(".gitignore"), "*\n").unwrap();
        assert!(!is_untouched(place.path()));
        assert!(!is_untouched(&place.path().join(".gitignore")), "a file is no folder");
    }

    #[test]
    fn the_way_around_is_told_with_what_it_runs() {
        let (data, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let error = Trust::of(data.path()).check(place.path()).unwrap_err();
        let around = error.fix.split_once("--toolchain virtual").unwrap().1;
        assert!(around.contains("firmware") && around.contains("sandbox"), "{around}");
        assert!(!error.fix.contains("runs none of it"));
    }

    #[test]
    fn what_is_not_there_cannot_be_trusted() {
        let data = tempfile::tempdir().unwrap();
        let error = Trust::of(data.path()).add(Path::new("/no/such/project")).unwrap_err();
        assert!(error.what.contains("/no/such/project"), "{error:?}");
    }
}
