//! Where the program keeps its settings and its sessions.

use std::ffi::OsString;
use std::path::PathBuf;

use directories::ProjectDirs;

use crate::model::UserError;

/// Environment variable that overrides [`Dirs::config`].
pub const CONFIG_DIR_VAR: &str = "FIRMHAND_CONFIG_DIR";

/// Environment variable that overrides [`Dirs::data`].
pub const DATA_DIR_VAR: &str = "FIRMHAND_DATA_DIR";

/// The program's folders; neither need exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// Settings and the person's own themes, keymaps and prompts.
    pub config: PathBuf,
    pub data: PathBuf,
}

impl Dirs {
    /// The platform's folders, or what the environment names instead.
    ///
    /// # Errors
    /// When the platform tells no home folder and the environment does not name both folders.
    pub fn find(env: impl Fn(&str) -> Option<OsString>) -> Result<Self, UserError> {
        let named = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let platform = ProjectDirs::from("", "", "firmhand");
        let pick = |name: &str, own: fn(&ProjectDirs) -> PathBuf| {
            named(name).or_else(|| platform.as_ref().map(own)).ok_or_else(|| {
                UserError::new(
                    "Cannot find a place for settings and sessions",
                    "there is no home folder",
                    format!("Set HOME, or {CONFIG_DIR_VAR} and {DATA_DIR_VAR}."),
                )
            })
        };
        Ok(Self {
            config: pick(CONFIG_DIR_VAR, |dirs| dirs.config_dir().to_owned())?,
            data: pick(DATA_DIR_VAR, |dirs| dirs.data_dir().to_owned())?,
        })
    }

    /// [`Dirs::find`] in this process's environment.
    ///
    /// # Errors
    /// As there.
    pub fn from_env() -> Result<Self, UserError> {
        Self::find(|name| std::env::var_os(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_other_folders() {
        let env = |name: &str| match name {
            CONFIG_DIR_VAR => Some("/c".into()),
            DATA_DIR_VAR => Some("/d".into()),
            _ => None,
        };
        let dirs = Dirs::find(env).unwrap();
        assert_eq!(dirs, Dirs { config: "/c".into(), data: "/d".into() });
    }
}
