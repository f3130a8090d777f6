//! The texts of a project's sources.

use super::Sandbox;
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

impl Sandbox {
    /// Reads the project's sources one after the other; what is no text is left out.
    pub fn sources(&self) -> impl Iterator<Item = (ProjectPath, String)> + '_ {
        let files = self.list(MOST_FILES).files.into_iter().map(|file| file.path);
        files.filter(is_source).filter_map(|path| {
            let content = self.read_start(&path, MOST_BYTES).ok()?.content;
            Some((path, String::from_utf8(content).ok()?))
        })
    }
}
