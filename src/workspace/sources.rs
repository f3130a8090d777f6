//! The texts of a project's sources.

use super::ProjectDir;
use crate::model::ProjectPath;

/// Files that are read at most; a project with more is a framework.
const MOST_FILES: usize = 20_000;
/// Of longer files the beginning is read, in bytes.
const MOST_BYTES: u64 = 512 * 1024;

/// Whether a file is written by hand as part of a firmware.
#[must_use]
pub fn is_source(path: &ProjectPath) -> bool {
    let name = path.file_name();
    let by_name = matches!(
        name,
        "CMakeLists.txt" | "sdkconfig.defaults" | "partitions.csv" | "idf_component.yml"
    );
    by_name
        || name.starts_with("Kconfig")
        || matches!(
            path.extension(),
            Some(
                "c" | "h"
                    | "cpp"
                    | "hpp"
                    | "cc"
                    | "hh"
                    | "cxx"
                    | "hxx"
                    | "S"
                    | "cmake"
                    | "ino"
                    | "py"
            )
        )
}

/// A component that was downloaded, and what it declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedFile {
    /// Path below `managed_components`.
    pub path: String,
    pub text: String,
}

impl ProjectDir {
    /// Reads the headers and options of the components that were downloaded, one after the other.
    pub fn managed_files(&self) -> impl Iterator<Item = ManagedFile> + '_ {
        let top = self.root().join("managed_components");
        let mut walk = ignore::WalkBuilder::new(&top);
        walk.standard_filters(false).follow_links(false).max_depth(Some(12));
        walk.build().flatten().take(MOST_FILES).filter_map(move |entry| {
            let name = entry.file_name().to_str()?;
            let is_header = [".h", ".hpp", ".hh"].iter().any(|end| name.ends_with(end));
            if !entry.file_type()?.is_file() || !(is_header || name.starts_with("Kconfig")) {
                return None;
            }
            let path = entry.path().strip_prefix(&top).ok()?.to_str()?.to_owned();
            let bytes = crate::files::read_start(entry.path(), MOST_BYTES).ok()?;
            Some(ManagedFile { path, text: String::from_utf8_lossy(&bytes).into_owned() })
        })
    }

    /// The names of the components that were downloaded, e.g. `espressif__led_strip`.
    #[must_use]
    pub fn managed_components(&self) -> Vec<String> {
        let folders = std::fs::read_dir(self.root().join("managed_components"));
        let folders = folders.into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
        folders.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Reads the project's sources one after the other; what is no text is left out.
    pub fn sources(&self) -> impl Iterator<Item = (ProjectPath, String)> + '_ {
        let files = self.list(MOST_FILES).files.into_iter().map(|file| file.path);
        files.filter(is_source).filter_map(|path| {
            let text = self.source_text(&path)?;
            Some((path, text))
        })
    }

    /// Reads the beginning of one source; `None` when it is gone or no text.
    #[must_use]
    pub fn source_text(&self, path: &ProjectPath) -> Option<String> {
        let content = self.read_start(path, MOST_BYTES).ok()?.content;
        String::from_utf8(content).ok()
    }
}
