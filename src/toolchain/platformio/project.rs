//! What a PlatformIO project says of itself, as `pio project config` reads its `platformio.ini`.
//!
//! Owns the choice of an environment. Must not read `platformio.ini` itself: what `extends`, `${…}`
//! and further files mean is PlatformIO's affair.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::model::UserError;
use crate::text::sanitize;

/// The file that makes a folder a project of PlatformIO.
pub(super) const FILE: &str = "platformio.ini";

/// What cannot be done when something here goes wrong.
pub(super) const WHAT: &str = "Cannot build with PlatformIO";

/// Where environments are built when the project does not say.
const BUILD: &str = ".pio/build";

/// Options that leave sources out, the second of older projects.
const FILTERS: [&str; 2] = ["build_src_filter", "src_filter"];

/// Most environments that are named in a message.
const MOST_NAMED: usize = 12;

/// Whether a folder holds a project of PlatformIO.
#[must_use]
pub fn is_at(root: &Path) -> bool {
    root.join(FILE).is_file()
}

/// Whether ESP-IDF builds that folder without PlatformIO.
#[must_use]
pub fn is_esp_idf(root: &Path) -> bool {
    ["CMakeLists.txt", "main/CMakeLists.txt"].iter().all(|list| root.join(list).is_file())
}

/// Framework, platform and board as the project's file says them, before PlatformIO was asked: what
/// several environments say differently is left out.
pub(super) fn as_written(root: &Path) -> (String, String) {
    let text =
        crate::files::read_text(&root.join(FILE), crate::files::SETTINGS).unwrap_or_default();
    let value = |name: &str| {
        let values = text.lines().filter_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == name).then(|| value.split(';').next().unwrap_or_default().trim())
        });
        let values: std::collections::BTreeSet<&str> = values.collect();
        match (values.len(), values.first()) {
            (1, Some(value)) => sanitize::line(value).into_owned(),
            _ => String::new(),
        }
    };
    let parts = [value("platform"), value("framework")];
    let parts: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    (parts.join(" · "), value("board"))
}

/// One `[env:NAME]` with everything it takes from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Environment {
    pub(super) name: String,
    /// `native` and others have none.
    pub(super) board: String,
    platform: String,
    pub(super) framework: String,
    /// The port that the project names for its board.
    pub(super) port: Option<String>,
    /// Bits per second of writing that the project names.
    pub(super) upload_speed: Option<u32>,
    /// Bits per second of the console that the project names.
    pub(super) monitor_speed: Option<u32>,
    /// Whether every source in its folder is compiled: no filter and no list chooses.
    pub(super) takes_all: bool,
}

impl Environment {
    /// What it builds for, for people, e.g. `esp32dev · espressif32 · arduino`.
    pub(super) fn label(&self) -> String {
        let parts = [&self.board, &self.platform, &self.framework];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        sanitize::line(&parts.join(" · ")).into_owned()
    }
}

/// A computed configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Config {
    /// In the order of the file.
    pub(super) environments: Vec<Environment>,
    /// Those that are built when nobody chooses.
    defaults: Vec<String>,
    /// Absolute folder of the builds.
    pub(super) build: PathBuf,
    /// Absolute folder of the project's own sources.
    pub(super) sources: PathBuf,
    /// Absolute folder of installed compilers and frameworks.
    pub(super) packages: PathBuf,
    /// Whether other files say something, too.
    pub(super) has_more_files: bool,
}

impl Config {
    /// Finds the answer of `pio project config --json-output` in what it printed; `core` is the
    /// folder in which PlatformIO keeps what it installs unless it is told otherwise.
    pub(super) fn parse(output: &[u8], project: &Path, core: &Path) -> Option<Self> {
        let text = String::from_utf8_lossy(output);
        let json = text.lines().find(|line| line.starts_with("[["))?;
        let sections: Vec<(String, Vec<(String, Value)>)> = serde_json::from_str(json).ok()?;
        let mut config = Self {
            build: project.join(BUILD),
            sources: project.join("src"),
            packages: core.join("packages"),
            ..Self::default()
        };
        for (section, options) in &sections {
            let message = |name: &str| {
                options.iter().find(|(key, _)| key == name).map(|(_, value)| words(value))
            };
            if section == "platformio" {
                config.take_folders(project, &message);
                config.defaults = message("default_envs").unwrap_or_default();
                config.has_more_files = message("extra_configs").is_some_and(|all| !all.is_empty());
            } else if let Some(name) = section.strip_prefix("env:") {
                let joined = |name: &str| message(name).unwrap_or_default().join(", ");
                let speed = |name: &str| joined(name).parse().ok().filter(|baud| *baud > 0);
                config.environments.push(Environment {
                    name: name.to_owned(),
                    board: joined("board"),
                    platform: short(&joined("platform")),
                    framework: joined("framework"),
                    takes_all: FILTERS.iter().all(|name| message(name).is_none())
                        && !joined("framework").contains("espidf"),
                    upload_speed: speed("upload_speed"),
                    monitor_speed: speed("monitor_speed"),
                    port: Some(joined("upload_port")).filter(|port| is_device(port)),
                });
            }
        }
        Some(config)
    }

    fn take_folders(&mut self, project: &Path, message: &dyn Fn(&str) -> Option<Vec<String>>) {
        let folder = |name: &str| {
            message(name)?.first().filter(|path| !path.is_empty()).map(|p| project.join(p))
        };
        if let Some(core) = folder("core_dir") {
            self.packages = core.join("packages");
        }
        if let Some(workspace) = folder("workspace_dir") {
            self.build = workspace.join("build");
        }
        for (name, place) in [
            ("packages_dir", &mut self.packages),
            ("build_dir", &mut self.build),
            ("src_dir", &mut self.sources),
        ] {
            if let Some(path) = folder(name) {
                *place = path;
            }
        }
    }

    /// The environment of that name, else the first default one, else the first.
    ///
    /// # Errors
    /// When there is none, none of that name, or its name could not be that of a folder.
    pub(super) fn choose(&self, name: Option<&str>) -> Result<&Environment, UserError> {
        let wrong = |why: String, fix: String| Err(UserError::new(WHAT, why, fix));
        let wanted = name.or_else(|| self.defaults.first().map(String::as_str));
        let found = match wanted {
            Some(wanted) => self.environments.iter().find(|one| one.name == wanted),
            None => self.environments.first(),
        };
        match (found, wanted) {
            (Some(found), _) if is_name(&found.name) => Ok(found),
            (Some(found), _) => wrong(
                format!("the environment `{}` has a name that PlatformIO refuses", found.name),
                "Use letters, digits, `_` and `-` in `[env:NAME]`.".to_owned(),
            ),
            (None, Some(wanted)) if !self.environments.is_empty() => {
                let names = self.environments.iter().map(|one| one.name.as_str());
                let names: Vec<&str> = names.take(MOST_NAMED).collect();
                wrong(
                    format!("{FILE} has no environment `{}`", sanitize::line(wanted)),
                    format!("Use one of its environments: {}.", names.join(", ")),
                )
            }
            (None, _) => wrong(
                format!("{FILE} has no environment to build"),
                "Write a section `[env:NAME]` with `platform`, `board` and `framework` into it."
                    .to_owned(),
            ),
        }
    }
}

/// A value, or all of a list.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) => all.iter().flat_map(words).collect(),
        Value::Number(number) => vec![number.to_string()],
        Value::Bool(_) | Value::Null | Value::Object(_) => Vec::new(),
    }
}

/// The name of a platform that may be given by its address.
fn short(platform: &str) -> String {
    let name = platform.trim_end_matches('/').rsplit('/').next().unwrap_or(platform);
    name.trim_end_matches(".git").to_owned()
}

/// As PlatformIO wants names of environments, which are names of folders, too.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        && !name.starts_with('-')
}

/// Whether an `upload_port` is one device, and neither a pattern nor an address.
fn is_device(port: &str) -> bool {
    port.starts_with("/dev/") && !port.contains(['*', '?', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORTED: &str = include_str!("../../../tests/data/platformio/config.txt");

    fn config(text: &str) -> Config {
        Config::parse(text.as_bytes(), Path::new("/p"), Path::new("/home/.platformio")).unwrap()
    }

    #[test]
    fn what_pio_computes_is_found_behind_its_other_words() {
        let config = config(REPORTED);
        let names: Vec<&str> = config.environments.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["base", "s3", "host"]);
        assert_eq!(config.choose(None).unwrap().name, "s3", "the first of default_envs");
        assert_eq!(config.choose(Some("host")).unwrap().label(), "platform-native");
        let s3 = config.choose(Some("s3")).unwrap();
        assert_eq!(s3.label(), "esp32-s3-devkitc-1 · espressif32 @ 6.13.0 · arduino");
        assert_eq!((s3.port.as_deref(), config.has_more_files), (Some("/dev/ttyUSB7"), false));
        assert_eq!(config.environments[0].port, None, "a pattern is no port");
        let takes_all: Vec<bool> = config.environments.iter().map(|one| one.takes_all).collect();
        assert_eq!(takes_all, [true, false, true], "the second has a filter");
        assert_eq!(config.build, Path::new("/p/.pio/build"));
        assert_eq!(config.sources, Path::new("/p/main"));
        assert_eq!(config.packages, Path::new("/opt/pio/packages"));
    }

    #[test]
    fn an_environment_that_is_not_there_is_told_with_those_that_are() {
        let all = config(REPORTED);
        let error = all.choose(Some("esp32")).unwrap_err();
        assert!(error.why.contains("`esp32`") && error.fix.contains("base, s3, host"), "{error:?}");
        let plain = config(r#"[["env:one", []], ["env:two", []]]"#);
        assert_eq!(plain.choose(None).unwrap().name, "one", "the first in the file");
        let none = config(r#"[["common", [["x", "1"]]]]"#).choose(None).unwrap_err();
        assert!(none.fix.contains("[env:NAME]"), "{none:?}");
        let gone = config(r#"[["platformio", [["default_envs", ["b"]]]], ["env:a", []]]"#);
        assert!(gone.choose(None).unwrap_err().why.contains("no environment `b`"));
        for bad in ["../x", "a b", "", "-e"] {
            let text = serde_json::json!([[format!("env:{bad}"), []]]).to_string();
            assert!(config(&text).choose(None).is_err(), "{bad}");
        }
    }

    #[test]
    fn folders_may_lie_elsewhere_and_other_answers_are_none() {
        let text = r#"[["platformio", [["workspace_dir", "/w"], ["extra_configs", ["a.ini"]],
            ["packages_dir", "pk"]]]]"#
            .replace('\n', "");
        let moved = config(&text);
        assert_eq!(
            (moved.build.as_path(), moved.packages.as_path(), moved.has_more_files),
            (Path::new("/w/build"), Path::new("/p/pk"), true)
        );
        for other in ["", "Error: no", "[[\"env:a\"", "{}", "[[1, 2]]"] {
            assert!(Config::parse(other.as_bytes(), Path::new("/p"), Path::new("/c")).is_none());
        }
    }

    proptest::proptest! {
        #[test]
        fn no_answer_of_another_form_is_taken_for_a_folder_outside(
            name in "\\PC{0,20}", value in "\\PC{0,20}",
        ) {
            let text = serde_json::json!([[format!("env:{name}"), [["board", value]]]]).to_string();
            let config = Config::parse(text.as_bytes(), Path::new("/p"), Path::new("/c")).unwrap();
            if let Ok(found) = config.choose(None) {
                let folder = config.build.join(&found.name);
                proptest::prop_assert_eq!(folder.parent(), Some(config.build.as_path()));
            }
        }
    }

    #[test]
    fn a_project_is_known_by_its_file() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        assert!(!is_at(root) && !is_esp_idf(root));
        std::fs::write(root.join(FILE), "").unwrap();
        std::fs::write(root.join("CMakeLists.txt"), "").unwrap();
        assert!(is_at(root) && !is_esp_idf(root), "PlatformIO writes such a list itself");
        std::fs::create_dir(root.join("main")).unwrap();
        std::fs::write(root.join("main/CMakeLists.txt"), "").unwrap();
        assert!(is_esp_idf(root));
    }
}
