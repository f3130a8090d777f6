//! The Arduino core for the ESP32 as arduino-cli or the Arduino IDE has installed it.
//!
//! Reads folders and their lists; must not start arduino-cli.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Names the folder of installed cores; the same for arduino-cli and the IDE.
const DATA: &str = "ARDUINO_DIRECTORIES_DATA";

/// Where cores are installed when nobody says otherwise, below the home folder.
const HOMES: &[&str] = &[".arduino15", "Library/Arduino15", "snap/arduino-cli/current/.arduino15"];

/// The core, below the data folder.
const CORE: &str = "packages/esp32/hardware/esp32";

/// The folder in which cores are installed; `None` when there is none.
pub(super) fn data_folder(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = env(DATA).filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = env("HOME").map(PathBuf::from);
    let usual = home.iter().flat_map(|home| HOMES.iter().map(|place| home.join(place)));
    named.into_iter().chain(usual).find(|folder| folder.is_dir())
}

/// The newest installed version, e.g. `3.2.0`; `None` when there is none.
pub(super) fn installed_version(data: &Path) -> Option<String> {
    let entries = std::fs::read_dir(data.join(CORE)).ok()?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| Some((numbers(&name)?, name))).max().map(|(_, name)| name)
}

/// The numbers of a version; a preview comes before its release.
fn numbers(version: &str) -> Option<(Vec<u32>, bool)> {
    let (plain, rest) = version.split_once('-').unwrap_or((version, ""));
    let numbers: Option<Vec<u32>> = plain.split('.').map(|part| part.parse().ok()).collect();
    Some((numbers?, rest.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_installed_core_counts() {
        let home = tempfile::tempdir().unwrap();
        let env = |name: &str| (name == "HOME").then(|| home.path().as_os_str().to_owned());
        assert_eq!(data_folder(&env), None);
        let data = home.path().join(".arduino15");
        std::fs::create_dir_all(&data).unwrap();
        assert_eq!(installed_version(&data), None);
        for version in ["2.0.17", "3.0.10", "3.0.9", "3.0.10-rc1", "notes"] {
            std::fs::create_dir_all(data.join(CORE).join(version)).unwrap();
        }
        assert_eq!(data_folder(&env).as_deref(), Some(data.as_path()));
        assert_eq!(installed_version(&data).as_deref(), Some("3.0.10"));
    }
}
