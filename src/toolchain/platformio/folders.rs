//! What a build by PlatformIO writes outside of the places that every project has.
//!
//! Owns which folders of a `platformio.ini` a build may write: those in the project and in PlatformIO's
//! own folder. Anything else has to be allowed by the person. Starts nothing.

use std::path::{Component, Path, PathBuf};

use super::project::{Config, Environment};
use crate::toolchain::build_sandbox::is_guarded;

/// Where PlatformIO's installer puts PlatformIO itself, below its folder.
const PROGRAM: &str = "penv";

/// Environments of Python that builds of ESP-IDF make beside it.
const OF_ESP_IDF: &str = ".espidf-";

/// Beginning of the names of the packages that bring `esptool`, which flashes run.
const FLASHER: &str = "tool-esptool";

/// Folders that a build writes besides what every build does, and what stays as it is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct BuildFolders {
    pub(super) written: Vec<PathBuf>,
    pub(super) fixed: Vec<PathBuf>,
    /// Those that the project names and builds do not write, because they lie elsewhere.
    pub(super) refused: Vec<PathBuf>,
}

/// The folders of one environment; without one those of PlatformIO itself. `core` is its folder, `pio`
/// its program.
pub(super) fn folders_of(
    project: &Path,
    core: &Path,
    pio: &Path,
    chosen: Option<(&Config, &Environment)>,
) -> BuildFolders {
    let is_esp_idf = chosen.is_some_and(|(_, one)| one.framework.contains("espidf"));
    let mut all = BuildFolders { written: vec![core.to_owned()], ..BuildFolders::default() };
    let mut packages = vec![core.join("packages")];
    if let Some((config, _)) = chosen {
        packages.push(config.packages.clone());
        let of_builds = [&config.packages, &config.build];
        let of_builds = of_builds.map(|folder| (folder, holds_no_sources(config, folder)));
        // PlatformIO writes the lists of ESP-IDF that a project has not.
        let lists = [project.join("CMakeLists.txt"), config.sources.join("CMakeLists.txt")];
        let has_no_lists = is_esp_idf && lists.iter().any(|list| !list.exists());
        let sources = has_no_lists.then_some((&config.sources, true));
        for (folder, may_be_written) in of_builds.into_iter().chain(sources) {
            match may_be_written && is_own(folder, project, core) {
                true => all.written.push(folder.clone()),
                false => all.refused.push(folder.clone()),
            }
        }
    }
    all.fixed.extend(program(core, pio, is_esp_idf));
    all.fixed.extend(packages.iter().flat_map(|folder| flashers(folder)));
    all
}

/// Whether a folder lies within the project, where no other program acts on it, or within PlatformIO's
/// own; links and `..` are followed.
fn is_own(folder: &Path, project: &Path, core: &Path) -> bool {
    let Some(folder) = real(folder) else { return false };
    let within = |around: &Path| {
        let around = real(around)?;
        folder.strip_prefix(around).ok().map(Path::to_owned)
    };
    let in_project = within(project)
        .is_some_and(|inside| !inside.components().any(|part| is_guarded(part.as_os_str())));
    in_project || within(core).is_some()
}

/// Whether the project's own sources are not in that folder.
fn holds_no_sources(config: &Config, folder: &Path) -> bool {
    match (real(&config.sources), real(folder)) {
        (Some(sources), Some(folder)) => !sources.starts_with(folder),
        _ => false,
    }
}

/// A path without links and `..`, also when its end is not there yet.
fn real(path: &Path) -> Option<PathBuf> {
    let there = path.ancestors().find(|around| around.symlink_metadata().is_ok())?;
    let rest = path.strip_prefix(there).ok()?;
    let is_plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
    let there = std::fs::canonicalize(there).ok().filter(|_| is_plain)?;
    Some(there.join(rest))
}

/// The files of PlatformIO itself within its folder: they run outside of the sandbox, too.
fn program(core: &Path, pio: &Path, is_esp_idf: bool) -> Vec<PathBuf> {
    let own = core.join(PROGRAM);
    let mut fixed = match is_esp_idf {
        false => vec![own],
        true => {
            let entries = std::fs::read_dir(&own).into_iter().flatten().flatten();
            let is_fixed = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                !name.starts_with(OF_ESP_IDF)
            };
            entries.map(|entry| entry.path()).filter(is_fixed).collect()
        }
    };
    let file = std::fs::canonicalize(pio).ok();
    let folder = file.as_deref().and_then(Path::parent).map(Path::to_owned);
    fixed.extend(folder.filter(|folder| {
        real(core).is_some_and(|core| folder.starts_with(&core) && *folder != core)
    }));
    fixed
}

fn flashers(packages: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(packages).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(FLASHER));
    named.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str, project: &Path, core: &Path) -> Config {
        let text =
            format!("[[\"platformio\", [{text}]], [\"env:a\", [[\"framework\", \"espidf\"]]]]");
        Config::parse(text.as_bytes(), project, core).unwrap()
    }

    #[test]
    fn only_folders_of_the_project_and_of_platformio_are_written() {
        let place = tempfile::tempdir().unwrap();
        let [project, core, home] = ["project", "core", "home"].map(|name| place.path().join(name));
        for folder in [&project.join("src"), &core.join("packages"), &home] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::os::unix::fs::symlink(&home, project.join("link")).unwrap();
        let refused = |option: &str, value: &str| {
            let text = serde_json::json!([option, value]).to_string();
            let config = config(&text, &project, &core);
            let chosen = config.choose(None).unwrap();
            let folders = folders_of(&project, &core, &core.join("pio"), Some((&config, chosen)));
            !folders.refused.is_empty()
        };
        let home = home.display().to_string();
        for (option, value) in [
            ("build_dir", home.as_str()),
            ("packages_dir", &home),
            ("workspace_dir", &home),
            ("core_dir", &home),
            ("build_dir", "/"),
            ("build_dir", "../elsewhere"),
            ("build_dir", "link"),
            ("build_dir", "link/new"),
            ("build_dir", "none/../../home"),
            ("build_dir", ".git"),
            ("workspace_dir", ".git"),
            ("build_dir", ".git/hooks"),
            ("build_dir", "src"),
            ("build_dir", "."),
            ("src_dir", &home),
            ("src_dir", ".vscode"),
        ] {
            assert!(refused(option, value), "{option} = {value}");
        }
        for (option, value) in [
            ("build_dir", "out"),
            ("build_dir", "src/../out"),
            ("workspace_dir", ".work"),
            ("packages_dir", "vendor/packages"),
            ("src_dir", "app"),
            ("src_dir", "."),
        ] {
            assert!(!refused(option, value), "{option} = {value}");
        }
    }

    #[test]
    fn what_runs_outside_of_the_sandbox_stays_as_it_is() {
        let core = tempfile::tempdir().unwrap();
        let core = std::fs::canonicalize(core.path()).unwrap();
        for file in ["penv/bin/pio", "penv/pyvenv.cfg", "penv/.espidf-5.3/x"] {
            let file = core.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        for folder in ["tool-esptoolpy", "tool-esptoolpy@1.4.0", "framework-espidf"] {
            std::fs::create_dir_all(core.join("packages").join(folder)).unwrap();
        }
        let of = |chosen| {
            let all = folders_of(Path::new("/p"), &core, &core.join("penv/bin/pio"), chosen);
            let mut fixed: Vec<String> = all
                .fixed
                .iter()
                .map(|path| path.strip_prefix(&core).unwrap().display().to_string())
                .collect();
            fixed.sort();
            fixed.dedup();
            fixed.join(" ")
        };
        assert_eq!(of(None), "packages/tool-esptoolpy packages/tool-esptoolpy@1.4.0 penv penv/bin");
        let config = config("", Path::new("/p"), &core);
        let esp_idf = of(Some((&config, config.choose(None).unwrap())));
        assert_eq!(
            esp_idf,
            "packages/tool-esptoolpy packages/tool-esptoolpy@1.4.0 penv/bin penv/pyvenv.cfg"
        );
    }
}
