//! The texts of a project's sources, and of the components that were downloaded for it.

use std::path::PathBuf;

use super::ProjectDir;
use crate::model::ProjectPath;

/// Files that are read at most; a project with more is a framework.
const MOST_FILES: usize = 20_000;
/// Of longer files the beginning is read, in bytes.
const MOST_BYTES: u64 = 512 * 1024;

/// Whether a file is written by hand as part of a firmware.
#[must_use]
pub fn is_source(path: &ProjectPath) -> bool {
    const NAMES: [&str; 4] =
        ["CMakeLists.txt", "sdkconfig.defaults", "partitions.csv", "idf_component.yml"];
    const ENDINGS: [&str; 12] =
        ["c", "h", "cpp", "hpp", "cc", "hh", "cxx", "hxx", "S", "cmake", "ino", "py"];
    let name = path.file_name();
    NAMES.contains(&name)
        || name.starts_with("Kconfig")
        || path.extension().is_some_and(|ending| ENDINGS.contains(&ending))
}

/// A component that was downloaded, and what it declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedFile {
    /// Path below `managed_components`.
    pub path: String,
    pub text: String,
}

/// The components that were downloaded into a project.
#[derive(Debug, Clone)]
pub struct ManagedComponents {
    folder: PathBuf,
}

impl ManagedComponents {
    /// Those of a project.
    #[must_use]
    pub fn of(project_dir: &ProjectDir) -> Self {
        Self { folder: project_dir.root().join("managed_components") }
    }

    /// Their names, e.g. `espressif__led_strip`.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let folders = std::fs::read_dir(&self.folder);
        let folders = folders.into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
        folders.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Reads their headers and options, one after the other.
    pub fn files(&self) -> impl Iterator<Item = ManagedFile> + '_ {
        let mut walk = ignore::WalkBuilder::new(&self.folder);
        walk.standard_filters(false).follow_links(false).max_depth(Some(12));
        walk.build().flatten().take(MOST_FILES).filter_map(|entry| {
            let name = entry.file_name().to_str()?;
            let is_header = [".h", ".hpp", ".hh"].iter().any(|end| name.ends_with(end));
            if !entry.file_type()?.is_file() || !(is_header || name.starts_with("Kconfig")) {
                return None;
            }
            let path = entry.path().strip_prefix(&self.folder).ok()?.to_str()?.to_owned();
            let bytes = crate::files::read_start(entry.path(), MOST_BYTES).ok()?;
            Some(ManagedFile { path, text: String::from_utf8_lossy(&bytes).into_owned() })
        })
    }
}

/// The texts of a project's sources.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    project_dir: &'a ProjectDir,
}

impl<'a> Sources<'a> {
    /// Those of a project.
    #[must_use]
    pub const fn of(project_dir: &'a ProjectDir) -> Self {
        Self { project_dir }
    }

    /// Reads them one after the other; what is no text is left out.
    pub fn texts(self) -> impl Iterator<Item = (ProjectPath, String)> + 'a {
        let files = self.project_dir.list(MOST_FILES).files.into_iter().map(|file| file.path);
        files.filter(is_source).filter_map(move |path| {
            let text = self.text(&path)?;
            Some((path, text))
        })
    }

    /// Reads the beginning of one; `None` when it is gone or no text.
    #[must_use]
    pub fn text(self, path: &ProjectPath) -> Option<String> {
        let content = self.project_dir.read_start(path, MOST_BYTES).ok()?.content;
        String::from_utf8(content).ok()
    }
}
