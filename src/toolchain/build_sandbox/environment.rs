//! The variables of a build: the person's own, without keys and ways to running programs.
//!
//! Owns which names are left out. Must not know what is built.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::toolchain::process::{ProcessSpec, key_variables};

/// Variables that lead to running programs of the person.
const WAYS: [&str; 5] =
    ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "ICEAUTHORITY", "XDG_RUNTIME_DIR"];

/// Beginnings of names of the same kind, and of those that belong to clouds.
const WAYS_BEGIN: [&str; 6] = ["AWS_", "DBUS_", "SSH_", "GPG_", "AZURE_", "DOCKER_"];

/// Ends of names that hold keys; the whole name may be it, too.
const KEYS_END: [&str; 9] =
    ["TOKEN", "TOKENS", "KEY", "KEYS", "APIKEY", "SECRET", "SECRETS", "PASS", "PAT"];

/// Parts of names that hold keys.
const KEYS_HOLD: [&str; 5] = ["PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "_SECRET_"];

/// Variables that name the folder for temporary files.
const TEMPORARY: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// The variables of a build.
///
/// # Errors
/// Which of them is not text.
pub(super) fn environment(job: &ProcessSpec) -> Result<BTreeMap<String, String>, String> {
    let keys: Vec<OsString> = key_variables().collect();
    let own = std::env::vars_os().filter(|(name, _)| !keys.contains(name) && !is_private(name));
    let mut env = BTreeMap::new();
    for (name, value) in own.chain(job.env.iter().cloned()) {
        let shown = name.to_string_lossy().into_owned();
        let text = |text: OsString| {
            text.into_string().map_err(|_| format!("the variable {shown} is not UTF-8"))
        };
        env.insert(text(name)?, text(value)?);
    }
    env.retain(|name, _| !TEMPORARY.contains(&name.as_str()));
    env.insert("TMPDIR".to_owned(), "/tmp".to_owned());
    Ok(env)
}

/// Whether a variable holds a key, or leads to a running program, by its name.
fn is_private(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let ends = |end: &&str| {
        name.strip_suffix(*end).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    };
    WAYS.contains(&name.as_str())
        || WAYS_BEGIN.iter().any(|begin| name.starts_with(begin))
        || KEYS_END.iter().any(ends)
        || KEYS_HOLD.iter().any(|part| name.contains(part))
}

/// The program that a name means in this environment.
pub(super) fn found(program: &OsStr, env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let program = Path::new(program);
    if program.components().count() > 1 {
        return Some(program.to_owned());
    }
    let path = env.get("PATH")?;
    std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_ways_to_running_programs_are_told_by_their_names() {
        for name in [
            "GH_TOKEN",
            "GITLAB_TOKEN",
            "NPM_TOKEN",
            "CARGO_REGISTRY_TOKEN",
            "GEMINI_API_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "AWS_ACCESS_KEY_ID",
            "AWS_PROFILE",
            "CLIENT_SECRET",
            "PGPASSWORD",
            "DB_PASS",
            "TOKEN",
            "npm_config_token",
            "SSH_AUTH_SOCK",
            "GPG_AGENT_INFO",
            "DBUS_SESSION_BUS_ADDRESS",
            "XAUTHORITY",
            "DISPLAY",
            "DOCKER_HOST",
        ] {
            assert!(is_private(name.as_ref()), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "IDF_PATH",
            "IDF_TOOLS_PATH",
            "ESP_IDF_VERSION",
            "https_proxy",
            "NO_PROXY",
            "CCACHE_DIR",
            "PLATFORMIO_CORE_DIR",
            "PYTHONPATH",
            "LANG",
            "MONKEY",
            "COMPASS",
            "DISPLAY_DRIVER",
        ] {
            assert!(!is_private(name.as_ref()), "{name}");
        }
    }
}
