//! Which toolchains build a project, by what lies in its folder.
//!
//! Looks at the folder only; whether one of them is installed is for the caller to find out.

use std::path::Path;

use super::platformio;
use super::sketch::Sketch;

/// A toolchain that has to be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolchainKind {
    Idf,
    /// `arduino-cli`.
    Arduino,
    Platformio,
}

/// Those that build the project in that folder, the fittest first.
#[must_use]
pub fn fitting(project: &Path) -> &'static [ToolchainKind] {
    match (platformio::is_at(project), platformio::is_esp_idf(project)) {
        (true, true) => &[ToolchainKind::Idf, ToolchainKind::Platformio],
        (true, false) => &[ToolchainKind::Platformio],
        (false, _) if Sketch::is_at(project) => &[ToolchainKind::Arduino],
        (false, _) => &[ToolchainKind::Idf],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_project_has_its_toolchains() {
        let place = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            std::fs::create_dir_all(place.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(place.path().join(path), "").unwrap();
        };
        assert_eq!(fitting(place.path()), [ToolchainKind::Idf]);
        put("blink.ino");
        assert_eq!(fitting(place.path()), [ToolchainKind::Arduino]);
        put("platformio.ini");
        assert_eq!(fitting(place.path()), [ToolchainKind::Platformio]);
        put("CMakeLists.txt");
        assert_eq!(fitting(place.path()), [ToolchainKind::Platformio]);
        put("main/CMakeLists.txt");
        assert_eq!(fitting(place.path()), [ToolchainKind::Idf, ToolchainKind::Platformio]);
    }
}
