//! Which way to a verdict is the shortest safe one.
//!
//! Owns what the build folder of a project says about itself. Reads files only.
//!
//! `idf.py build` checks the whole Python environment before it calls ninja, which takes ten times
//! as long as ninja needs to find that one file has changed. Once a project is configured, ninja
//! alone does the same work: it runs CMake again by itself when a `CMakeLists.txt`, the
//! `sdkconfig` or a component's manifest has changed. What it cannot see is a source that a
//! wildcard would find, and another target or installation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use serde::Deserialize;

use crate::files;
use crate::toolchain::paths::has_ending;

/// The folder of builds within the project.
pub(super) const BUILD: &str = "build";

/// Endings of files that a component compiles.
const COMPILED: &[&str] = &["c", "cc", "cpp", "cxx", "S", "s"];

/// A way to build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// `idf.py build`: not configured yet, or by somebody else.
    Configure,
    /// `idf.py reconfigure build`: configured, but CMake would not notice what has changed.
    Reconfigure,
    /// `ninja`: everything that has changed is something it watches.
    Ninja,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Configure => "idf.py build",
            Self::Reconfigure => "idf.py reconfigure build",
            Self::Ninja => "ninja -C build",
        })
    }
}

/// The part of `build/project_description.json` that matters here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Description {
    project_path: PathBuf,
    idf_path: PathBuf,
    /// Chip, or `linux`.
    pub(super) target: String,
    /// The program, below the build folder.
    pub(super) app_elf: String,
    /// Bits per second of the console, as text.
    monitor_baud: String,
    build_component_info: BTreeMap<String, Component>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Component {
    dir: PathBuf,
    sources: Vec<PathBuf>,
}

/// What the last configuration left; `None` before the first one.
pub(super) fn description(project: &Path) -> Option<Description> {
    let text =
        files::read_text(&project.join(BUILD).join("project_description.json"), files::BUILD_FACTS)
            .ok()?;
    serde_json::from_str(&text).ok()
}

/// The chip that the project is made for: what its `sdkconfig` says, else its defaults, else the
/// last configuration.
pub(in crate::toolchain) fn target(project: &Path) -> Option<String> {
    configured(project, "CONFIG_IDF_TARGET=")
        .or_else(|| description(project).map(|found| found.target))
        .filter(|target| !target.is_empty())
}

/// Bits per second at which the firmware's console talks: as it was built, else as the project is
/// configured.
pub(in crate::toolchain) fn monitor_baud(project: &Path) -> Option<u32> {
    let built = description(project).map(|found| found.monitor_baud);
    let built = built.filter(|baud| !baud.is_empty());
    built.or_else(|| configured(project, "CONFIG_ESP_CONSOLE_UART_BAUDRATE="))?.parse().ok()
}

/// The value behind `option` in the project's configuration, else in its defaults.
fn configured(project: &Path, option: &str) -> Option<String> {
    ["sdkconfig", "sdkconfig.defaults"].into_iter().find_map(|name| {
        let text = files::read_text(&project.join(name), files::SOURCE).ok()?;
        text.lines().find_map(|line| {
            let value = line.trim().strip_prefix(option)?;
            Some(value.trim_matches('"').to_owned())
        })
    })
}

/// Whether the last configuration was for `project` where it lies, and for its target. What ESP-IDF
/// before v5 does not write down is taken to be so.
pub(super) fn is_configured(project: &Path) -> bool {
    description(project).is_some_and(|found| {
        let is_here =
            found.project_path.as_os_str().is_empty() || is_same(&found.project_path, project);
        is_here && (found.target.is_empty() || target(project) == Some(found.target))
    })
}

/// The way for `project` with the installation at `root`.
pub(super) fn route(project: &Path, root: &Path) -> Route {
    let build = project.join(BUILD);
    let is_configured = ["build.ninja", "CMakeCache.txt", ".ninja_log"]
        .iter()
        .all(|name| build.join(name).is_file());
    let Some(description) = description(project).filter(|_| is_configured) else {
        return Route::Configure;
    };
    let is_ours = is_same(&description.project_path, project)
        && is_same(&description.idf_path, root)
        && target(project).as_deref() == Some(&description.target);
    if !is_ours {
        return Route::Configure;
    }
    if is_complete(&description, project) { Route::Ninja } else { Route::Reconfigure }
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Whether the sources that were configured are those that are there.
fn is_complete(description: &Description, project: &Path) -> bool {
    let Ok(project) = project.canonicalize() else { return false };
    let own = description.build_component_info.values().filter(|component| {
        component.dir.canonicalize().is_ok_and(|dir| dir.starts_with(&project))
    });
    own.into_iter().all(|component| {
        let known: BTreeSet<PathBuf> =
            component.sources.iter().filter_map(|source| source.canonicalize().ok()).collect();
        let is_whole = known.len() == component.sources.len()
            || component.sources.iter().all(|source| source.exists());
        is_whole && (!has_wildcard(&component.dir) || sources(&component.dir).is_subset(&known))
    })
}

/// Whether a component looks for its sources itself.
fn has_wildcard(component: &Path) -> bool {
    let text =
        files::read_text(&component.join("CMakeLists.txt"), files::SOURCE).unwrap_or_default();
    text.contains("SRC_DIRS") || text.to_ascii_uppercase().contains("GLOB")
}

fn sources(component: &Path) -> BTreeSet<PathBuf> {
    let walk = WalkBuilder::new(component).standard_filters(false).max_depth(Some(8)).build();
    let files = walk.flatten().filter(|entry| has_ending(entry.path(), COMPILED));
    files.filter_map(|entry| entry.path().canonicalize().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct ProjectFolder {
        folder: tempfile::TempDir,
    }

    impl ProjectFolder {
        /// A configured project with one component of one source.
        fn new(cmake: &str) -> Self {
            let place = Self { folder: tempfile::tempdir().unwrap() };
            let project = place.project();
            for folder in ["main", "build", "idf"] {
                std::fs::create_dir_all(project.join(folder)).unwrap();
            }
            place.write("main/CMakeLists.txt", cmake);
            place.write("main/a.c", "");
            place.write("sdkconfig", "# x\nCONFIG_IDF_TARGET=\"esp32c3\"\n");
            for name in ["build.ninja", "CMakeCache.txt", ".ninja_log"] {
                place.write(&format!("build/{name}"), "");
            }
            place.describe("esp32c3");
            place
        }

        fn project(&self) -> &Path {
            self.folder.path()
        }

        fn write(&self, path: &str, text: &str) {
            std::fs::write(self.project().join(path), text).unwrap();
        }

        fn describe(&self, target: &str) {
            let at = |path: &str| self.project().join(path);
            let description = serde_json::json!({
                "project_path": self.project(), "idf_path": at("idf"), "target": target,
                "build_component_info": { "main": { "dir": at("main"), "sources": [at("main/a.c")] } },
            });
            self.write("build/project_description.json", &description.to_string());
        }

        fn route(&self) -> Route {
            route(self.project(), &self.project().join("idf"))
        }
    }

    #[test]
    fn a_configured_project_goes_straight_to_ninja() {
        let place = ProjectFolder::new("idf_component_register(SRCS a.c)");
        assert_eq!(place.route(), Route::Ninja);
        // A list names its sources: another file beside them is nobody's.
        place.write("main/b.c", "");
        assert_eq!(place.route(), Route::Ninja);
    }

    #[test]
    fn what_ninja_cannot_see_is_configured_again() {
        let place = ProjectFolder::new("idf_component_register(SRC_DIRS .)");
        assert_eq!(place.route(), Route::Ninja);
        place.write("main/b.c", "");
        assert_eq!(place.route(), Route::Reconfigure);
        let place = ProjectFolder::new("idf_component_register(SRCS a.c)");
        std::fs::remove_file(place.project().join("main/a.c")).unwrap();
        assert_eq!(place.route(), Route::Reconfigure);
    }

    #[test]
    fn a_configuration_speaks_for_its_place_and_target_in_all_versions() {
        let place = ProjectFolder::new("");
        assert!(is_configured(place.project()));
        place.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32\"\n");
        assert!(!is_configured(place.project()), "another target was chosen");
        // As v4.4 writes it: no path of the framework, no components.
        let old = |path: &str| format!("{{\"project_path\": \"{path}\", \"target\": \"esp32\"}}");
        place.write("build/project_description.json", &old(&place.project().display().to_string()));
        assert!(is_configured(place.project()) && place.route() == Route::Configure);
        place.write("build/project_description.json", &old("/elsewhere"));
        assert!(!is_configured(place.project()), "the project was moved");
        place.write("build/project_description.json", "{ cut off");
        assert!(!is_configured(place.project()));
    }

    #[test]
    fn another_target_installation_or_a_first_build_takes_the_long_way() {
        let place = ProjectFolder::new("");
        place.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32\"\n");
        assert_eq!(place.route(), Route::Configure);
        assert_eq!(target(place.project()).as_deref(), Some("esp32"));
        let place = ProjectFolder::new("");
        assert_eq!(route(place.project(), place.project()), Route::Configure);
        std::fs::remove_file(place.project().join("build/build.ninja")).unwrap();
        assert_eq!(place.route(), Route::Configure);
        let place = ProjectFolder::new("");
        place.write("build/project_description.json", "{ cut off");
        assert_eq!(place.route(), Route::Configure);
    }
}
