//! Where PlatformIO Core is installed.
//!
//! Owns the places in which it is looked for. Starts nothing.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::model::UserError;

/// The program by its names, the usual one first.
const NAMES: [&str; 2] = ["pio", "platformio"];

/// Where PlatformIO's own installer puts programs, below the folder of what it installs.
const PROGRAMS: &str = "penv/bin";

/// The program and the folder in which it keeps what it installs. `env` gives the variables.
///
/// # Errors
/// When it is neither on the PATH nor where PlatformIO's installer puts it.
pub(super) fn find(
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<(PathBuf, PathBuf), UserError> {
    let core = core_folder(env);
    let path = env("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let folders = on_path.chain([core.join(PROGRAMS)]);
    let mut files = folders.flat_map(|folder| NAMES.map(|name| folder.join(name)));
    match files.find(|file| file.is_file()) {
        Some(found) => Ok((found, core)),
        None => Err(UserError::new(
            super::project::WHAT,
            "`pio` is neither on the PATH nor in PlatformIO's own folder",
            "Install PlatformIO Core: `pip install platformio`, or see \
             https://platformio.org/install/cli.",
        )),
    }
}

/// Where PlatformIO keeps what it installs.
fn core_folder(env: &dyn Fn(&str) -> Option<OsString>) -> PathBuf {
    let home = || PathBuf::from(env("HOME").unwrap_or_default()).join(".platformio");
    env("PLATFORMIO_CORE_DIR").filter(|named| !named.is_empty()).map_or_else(home, PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_on_the_path_else_where_its_installer_puts_it() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().to_owned();
        let env = |name: &str| match name {
            "HOME" => Some(root.clone().into_os_string()),
            "PATH" => Some(format!(":relative:{}", root.join("bin").display()).into()),
            _ => None,
        };
        let error = find(&env).unwrap_err();
        assert!(error.fix.contains("pip install platformio"), "{error:?}");
        let put = |path: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        };
        let own = put(".platformio/penv/bin/platformio");
        assert_eq!(find(&env).unwrap(), (own, root.join(".platformio")));
        let usual = put("bin/pio");
        assert_eq!(find(&env).unwrap().0, usual);
        let moved = |name: &str| match name {
            "PLATFORMIO_CORE_DIR" => Some("/elsewhere".into()),
            _ => env(name),
        };
        assert_eq!(find(&moved).unwrap().1, PathBuf::from("/elsewhere"));
        let empty = |name: &str| match name {
            "PLATFORMIO_CORE_DIR" => Some("".into()),
            _ => env(name),
        };
        assert_eq!(find(&empty).unwrap().1, root.join(".platformio"));
    }
}
