//! The Arduino core for the ESP32 as arduino-cli or the Arduino IDE has installed it.
//!
//! Reads folders and their lists; must not start arduino-cli.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::files;
use crate::text::sanitize;
use crate::toolchain::BoardName;

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

/// The plain boards of the core's releases since 3.0, for a machine without a core: board and name.
const USUAL: &[(&str, &str)] = &[
    ("esp32", "ESP32 Dev Module"),
    ("esp32c3", "ESP32C3 Dev Module"),
    ("esp32c5", "ESP32C5 Dev Module"),
    ("esp32c6", "ESP32C6 Dev Module"),
    ("esp32h2", "ESP32H2 Dev Module"),
    ("esp32p4", "ESP32P4 Dev Module"),
    ("esp32s2", "ESP32S2 Dev Module"),
    ("esp32s3", "ESP32S3 Dev Module"),
];

/// Where the boards of Espressif's chips are installed from. Source: the documentation of arduino-esp32.
const BOARD_MANAGER: &str = "https://espressif.github.io/arduino-esp32/package_esp32_index.json";

/// The boards of the core with their names, without asking arduino-cli: those of the installed core,
/// else the plain ones.
#[must_use]
pub fn known_boards() -> Vec<BoardName> {
    let data = data_folder(&|name| std::env::var_os(name));
    data.and_then(|data| installed_boards(&data)).unwrap_or_else(|| {
        let named = |(board, name): &(&str, &str)| BoardName {
            name: (*name).to_owned(),
            fqbn: format!("esp32:esp32:{board}"),
        };
        USUAL.iter().map(named).collect()
    })
}

/// Where arduino-cli finds boards: what the person has configured, and Espressif's own address.
#[must_use]
pub fn board_manager_urls() -> Vec<String> {
    let data = data_folder(&|name| std::env::var_os(name));
    let text = data
        .and_then(|data| files::read_text(&data.join("arduino-cli.yaml"), files::SETTINGS).ok());
    let mut urls: Vec<String> = Vec::new();
    for line in text.unwrap_or_default().lines() {
        let word = line.trim().trim_start_matches("- ").trim_matches(['"', '\'']);
        if word.starts_with("https://") && word.ends_with("_index.json") {
            urls.push(word.to_owned());
        }
    }
    if !urls.iter().any(|url| url == BOARD_MANAGER) {
        urls.push(BOARD_MANAGER.to_owned());
    }
    urls
}

/// The boards of the newest installed core, by its list.
fn installed_boards(data: &Path) -> Option<Vec<BoardName>> {
    let list = data.join(CORE).join(installed_version(data)?).join("boards.txt");
    let text = files::read_text(&list, files::BUILD_FACTS).ok()?;
    let boards = text.lines().filter_map(|line| {
        let (key, name) = line.split_once('=')?;
        let board = key.trim().strip_suffix(".name").filter(|board| !board.contains('.'))?;
        let name = sanitize::line(name.trim()).into_owned();
        Some(BoardName { name, fqbn: format!("esp32:esp32:{board}") })
    });
    let boards: Vec<BoardName> = boards.collect();
    (!boards.is_empty()).then_some(boards)
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

    #[test]
    fn boards_are_those_of_the_installed_core() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(installed_boards(data.path()), None);
        let core = data.path().join(CORE).join("3.2.0");
        std::fs::create_dir_all(&core).unwrap();
        let list = "menu.PSRAM=PSRAM\nesp32s3.name=ESP32S3 Dev Module\nesp32s3.vid.0=0x303a\n\
                    esp32s3.menu.PSRAM.opi.name=x\nlolin32.name=WEMOS LOLIN32\n";
        std::fs::write(core.join("boards.txt"), list).unwrap();
        let found = installed_boards(data.path()).unwrap();
        let names: Vec<(&str, &str)> =
            found.iter().map(|board| (board.fqbn.as_str(), board.name.as_str())).collect();
        let expected = [
            ("esp32:esp32:esp32s3", "ESP32S3 Dev Module"),
            ("esp32:esp32:lolin32", "WEMOS LOLIN32"),
        ];
        assert_eq!(names, expected);
        assert!(board_manager_urls().iter().any(|url| url == BOARD_MANAGER));
    }
}
