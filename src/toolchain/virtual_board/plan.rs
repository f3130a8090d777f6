//! From a project's list files to what has to be compiled, and with which folders.
//!
//! Reads the project; writes nothing. Whatever CMake would refuse is refused in CMake's words, so
//! that the same diagnostics come out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::cmake::{self, CmakeError, Recurse, Registration};
use super::kit::Kit;
use super::paths::{find, stays_inside};
use crate::files;
use crate::text::sketch;
use crate::toolchain::arduino::default_fqbn;
use crate::toolchain::paths::{has_ending, inside};
use crate::toolchain::sketch::Sketch;
use crate::toolchain::{chip_of_fqbn, platformio};

/// What has to be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompilePlan {
    /// The project's name.
    pub name: String,
    /// Sources of the project's components.
    pub units: Vec<Unit>,
    /// The source that an Arduino sketch is joined into; `None`: it is an ESP-IDF project.
    pub joined: Option<Joined>,
    /// The chip that a sketch names for its board; `None`: the one that is simulated.
    pub chip: Option<String>,
}

/// One source that the build writes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// Path relative to the project.
    pub path: PathBuf,
    /// What it holds.
    pub text: String,
}

/// One source of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub component: String,
    /// Path relative to the project.
    pub source: PathBuf,
    /// Path relative to its component.
    pub name: String,
    /// Include folders, absolute, in order of search.
    pub includes: Vec<PathBuf>,
    /// Components of the kit whose headers it sees.
    pub kit_components: BTreeSet<String>,
    /// Further options of the compiler.
    pub options: Vec<String>,
}

/// A configuration error as CMake prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigureError(pub String);

impl ConfigureError {
    fn of(message: impl std::fmt::Display) -> Self {
        Self(format!("CMake Error: {message}\n"))
    }
}

struct PlanPart {
    name: String,
    folder: PathBuf,
    registration: Registration,
}

impl CompilePlan {
    /// Reads the project below `root`, an absolute path.
    ///
    /// # Errors
    /// When it is neither an ESP-IDF project nor an Arduino sketch, a list file is not understood,
    /// or a file or component it names does not exist.
    pub fn read(root: &Path, kit: &Kit) -> Result<Self, ConfigureError> {
        if let Some(sketch) = Sketch::read(root) {
            return of_sketch(root, &sketch, kit);
        }
        let top = root.join("CMakeLists.txt");
        if platformio::is_at(root) && !platformio::is_esp_idf(root) {
            let message = "this is a project of PlatformIO, which the virtual board does not support; install PlatformIO (`pip install platformio`) and choose \
                           `--toolchain platformio`";
            return Err(ConfigureError::of(message));
        }
        let text = files::read_text(&top, files::SOURCE).map_err(|error| {
            let what = "The source directory does not contain a readable CMakeLists.txt";
            ConfigureError::of(format!("{what} ({error})."))
        })?;
        let name = cmake::project_name(&text).map_err(|error| at("CMakeLists.txt", &error))?;
        let parts = parts(root)?;
        if !parts.iter().any(|part| part.name == "main") {
            let message = "the project has no component `main` with a CMakeLists.txt";
            return Err(ConfigureError::of(message));
        }
        let by_name: BTreeMap<&str, &PlanPart> =
            parts.iter().map(|part| (part.name.as_str(), part)).collect();
        let mut units = Vec::new();
        for part in &parts {
            units.extend(part_units(root, part, &by_name, kit)?);
        }
        if units.iter().all(|unit| unit.component != "main") {
            return Err(ConfigureError::of("the component `main` registers no source"));
        }
        Ok(Self { name, units, joined: None, chip: None })
    }
}

impl CompilePlan {
    /// Whether there is C++ to compile.
    #[must_use]
    pub fn has_cxx(&self) -> bool {
        self.units.iter().any(|unit| is_cxx(&unit.source))
    }
}

/// The plan of an Arduino sketch: its tabs as one source, and what lies beside them.
fn of_sketch(root: &Path, sketch: &Sketch, kit: &Kit) -> Result<CompilePlan, ConfigureError> {
    let mut tabs = Vec::new();
    for tab in &sketch.tabs {
        let path = root.join(tab);
        let text = files::read_text(&path, files::SOURCE)
            .map_err(|error| ConfigureError(format!("Error: {}: {error}\n", tab.display())))?;
        tabs.push((path.display().to_string(), text));
    }
    let tabs: Vec<sketch::Tab<'_>> =
        tabs.iter().map(|(name, text)| sketch::Tab { name, text }).collect();
    let path = PathBuf::from(format!("build/sketch/{}.ino.cpp", sketch.name));
    let unit = |source: PathBuf, name: String| Unit {
        component: "sketch".to_owned(),
        source,
        name,
        includes: vec![root.to_owned(), root.join("src")],
        kit_components: kit.components.keys().cloned().collect(),
        options: Vec::new(),
    };
    let mut units = vec![unit(path.clone(), format!("{}.ino.cpp", sketch.name))];
    units.extend(sketch.sources.iter().map(|source| {
        let name = source.display().to_string();
        unit(source.clone(), name)
    }));
    let joined = Some(Joined { path, text: sketch::join(&tabs) });
    let chip = default_fqbn(root).and_then(|fqbn| chip_of_fqbn(&fqbn).map(str::to_owned));
    Ok(CompilePlan { name: sketch.name.clone(), units, joined, chip })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// All components of the project.
fn parts(root: &Path) -> Result<Vec<PlanPart>, ConfigureError> {
    let mut folders = vec![PathBuf::from("main")];
    if let Ok(entries) = fs::read_dir(root.join("components")) {
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        folders.extend(names.into_iter().map(|name| Path::new("components").join(name)));
    }
    let mut parts = Vec::new();
    for folder in folders {
        let list = folder.join("CMakeLists.txt");
        let text = match files::read_text(&root.join(&list), files::SOURCE) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => continue,
            Err(error) => {
                return Err(ConfigureError::of(format!("{}: {error}.", list.display())));
            }
        };
        let glob = |pattern: &str, recurse| find(&root.join(&folder), pattern, recurse);
        let registered = cmake::registration(&text, &glob)
            .map_err(|error| at(&list.display().to_string(), &error))?;
        if let Some(registration) = registered {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            parts.push(PlanPart { name, folder, registration });
        }
    }
    Ok(parts)
}

fn part_units(
    root: &Path,
    part: &PlanPart,
    parts: &BTreeMap<&str, &PlanPart>,
    kit: &Kit,
) -> Result<Vec<Unit>, ConfigureError> {
    let here = &part.registration;
    let problem = |message: String| {
        let list = part.folder.join("CMakeLists.txt").display().to_string();
        let command = "idf_component_register".to_owned();
        at(&list, &CmakeError { line: here.line, command, message })
    };
    let folder = |dir: &str| -> Result<PathBuf, ConfigureError> {
        let path = inside(&part.folder, dir)
            .ok_or_else(|| problem(format!("`{dir}` is outside of the project")))?;
        match root.join(&path).is_dir() {
            true => Ok(root.join(path)),
            false => Err(problem(format!("Include directory '{dir}' is not a directory."))),
        }
    };
    let mut includes = Vec::new();
    for dir in here.include_dirs.iter().chain(&here.priv_include_dirs) {
        includes.push(folder(dir)?);
    }
    let (others, kit_components) = visible(part, parts, kit, &problem)?;
    for other in others {
        let dirs = other.registration.include_dirs.iter();
        includes.extend(dirs.filter_map(|dir| Some(root.join(inside(&other.folder, dir)?))));
    }
    let mut units = Vec::new();
    for name in sources(root, part) {
        let source = inside(&part.folder, &name)
            .ok_or_else(|| problem(format!("`{name}` is outside of the project")))?;
        if !stays_inside(root, &source) {
            return Err(problem(format!("Cannot find source file: {name}")));
        }
        if !has_ending(&source, &["c"]) {
            return Err(problem(format!("the virtual board compiles C only, not `{name}`")));
        }
        units.push(Unit {
            component: part.name.clone(),
            source,
            name,
            includes: includes.clone(),
            kit_components: kit_components.clone(),
            options: here.options.clone(),
        });
    }
    Ok(units)
}

fn sources(root: &Path, part: &PlanPart) -> Vec<String> {
    let here = &part.registration;
    let mut sources = here.srcs.clone();
    for dir in &here.src_dirs {
        sources.extend(find(&root.join(&part.folder), &format!("{dir}/*.c"), Recurse::No));
    }
    sources.retain(|source| !here.exclude_srcs.contains(source));
    let mut seen = BTreeSet::new();
    sources.retain(|source| seen.insert(source.clone()));
    sources
}

/// The project's and the kit's components whose headers `part` sees.
fn visible<'a>(
    part: &PlanPart,
    parts: &BTreeMap<&str, &'a PlanPart>,
    kit: &Kit,
    problem: &dyn Fn(String) -> ConfigureError,
) -> Result<(Vec<&'a PlanPart>, BTreeSet<String>), ConfigureError> {
    let here = &part.registration;
    let mut open: Vec<&str> =
        here.requires.iter().chain(&here.priv_requires).map(String::as_str).collect();
    for name in &open {
        if !parts.contains_key(name) && !kit.components.contains_key(*name) {
            return Err(problem(format!(
                "Failed to resolve component '{name}' required by component '{}': unknown name.",
                part.name
            )));
        }
    }
    // As in ESP-IDF, `main` sees every component unless it says which.
    if part.name == "main" && open.is_empty() {
        open.extend(parts.keys());
        open.extend(kit.components.keys().map(String::as_str));
    }
    open.extend(kit.common.iter().map(String::as_str));
    let (mut others, mut kits, mut seen) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    while let Some(name) = open.pop() {
        if name == part.name || !seen.insert(name.to_owned()) {
            continue;
        }
        match parts.get(name) {
            Some(other) => {
                others.push(*other);
                open.extend(other.registration.requires.iter().map(String::as_str));
            }
            None => kits.extend(kit.closure([name]).into_iter().map(str::to_owned)),
        }
    }
    Ok((others, kits))
}

fn at(list: &str, error: &CmakeError) -> ConfigureError {
    let CmakeError { line, command, message } = error;
    let command = if command.is_empty() { String::new() } else { format!(" ({command})") };
    ConfigureError(format!("CMake Error at {list}:{line}{command}:\n  {message}\n\n"))
}

/// Whether a source is C++, by its name.
pub(super) fn is_cxx(source: &Path) -> bool {
    has_ending(source, &["cpp", "cc", "cxx"])
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test makes its own project")]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn kit() -> Kit {
        let file = |path: &str, text: &'static str| (path.to_owned(), Cow::from(text.as_bytes()));
        let components = "common: log\nlog:\nesp_driver_i2c:\n";
        Kit::new([
            file("components.txt", components),
            file("sdkconfig.txt", ""),
            file("unsupported.txt", ""),
        ])
        .unwrap()
    }

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let top = "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\nproject(demo)";
        for (path, text) in [("CMakeLists.txt", top)].iter().chain(files) {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn components_see_their_own_and_required_folders() {
        let dir = project(&[
            ("main/CMakeLists.txt", "idf_component_register(SRCS main.c INCLUDE_DIRS .)"),
            ("main/main.c", ""),
            (
                "components/bus/CMakeLists.txt",
                "idf_component_register(SRC_DIRS src INCLUDE_DIRS include REQUIRES esp_driver_i2c)",
            ),
            ("components/bus/src/bus.c", ""),
            ("components/bus/include/bus.h", ""),
        ]);
        let plan = CompilePlan::read(dir.path(), &kit()).unwrap();
        assert_eq!(plan.name, "demo");
        let sources: Vec<_> =
            plan.units.iter().map(|unit| unit.source.display().to_string()).collect();
        assert_eq!(sources, ["main/main.c", "components/bus/src/bus.c"]);
        assert!(plan.units[0].includes.contains(&dir.path().join("components/bus/include")));
        assert!(plan.units[1].kit_components.contains("esp_driver_i2c"));
        assert!(!plan.units[1].includes.contains(&dir.path().join("main")));
    }

    #[test]
    fn what_cmake_would_refuse_is_refused() {
        for (list, word) in [
            ("idf_component_register(SRCS gone.c)", "Cannot find source file: gone.c"),
            ("idf_component_register(SRCS ../../x.c)", "outside of the project"),
            (
                "idf_component_register(SRCS main.c REQUIRES ssd1306)",
                "'ssd1306' required by component 'main'",
            ),
            ("idf_component_register(SRCS main.c INCLUDE_DIRS nope)", "'nope' is not a directory"),
            ("idf_component_register(SRCS main.cpp)", "C only"),
        ] {
            let dir = project(&[
                ("main/CMakeLists.txt", list),
                ("main/main.c", ""),
                ("main/main.cpp", ""),
            ]);
            let error = CompilePlan::read(dir.path(), &kit()).unwrap_err();
            assert!(error.0.contains(word), "{list}: {}", error.0);
            assert!(error.0.contains("main/CMakeLists.txt:1"), "{list}: {}", error.0);
        }
    }

    #[test]
    fn a_project_of_platformio_is_told_what_builds_it() {
        let dir = project(&[("platformio.ini", "[env:a]"), ("src/main.cpp", "")]);
        fs::remove_file(dir.path().join("CMakeLists.txt")).ok();
        let error = CompilePlan::read(dir.path(), &kit()).unwrap_err();
        assert!(error.0.contains("--toolchain platformio"), "{}", error.0);
    }

    #[test]
    fn a_source_behind_a_link_out_of_the_project_is_not_there() {
        let outside = tempfile::NamedTempFile::with_suffix(".c").unwrap();
        let dir = project(&[("main/CMakeLists.txt", "idf_component_register(SRCS link.c)")]);
        std::os::unix::fs::symlink(outside.path(), dir.path().join("main/link.c")).unwrap();
        assert!(
            CompilePlan::read(dir.path(), &kit())
                .unwrap_err()
                .0
                .contains("Cannot find source file")
        );
    }
}
