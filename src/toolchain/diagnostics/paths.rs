//! How the files that a build names are called in the project.
//!
//! Owns the folders that count as the project's: its own, and the one that a log names when it was
//! made elsewhere, such as in a container. Reads no files.

use std::path::{Component, Path, PathBuf};

use crate::text::sanitize;

/// Folders of the project that builds write.
const BUILDS: [&str; 3] = ["build/", ".pio/build/", "cmake-build-"];

/// Where the virtual board builds.
const VIRTUAL_BOARD: &str = "build/virtual/";

/// Folders of the project with what was fetched.
const FETCHED: [&str; 2] = ["managed_components/", ".pio/"];

/// How CMake says where a build is.
const BUILD_FOLDER: &str = "-- Build files have been written to: ";

/// What precedes the project's folder in a log, and what follows it in that line.
const NAMED: [(&str, &str); 4] = [
    ("-- Project sdkconfig file ", "/sdkconfig"),
    ("Running cmake in directory ", "/build"),
    ("Running ninja in directory ", "/build"),
    ("ninja: Entering directory `", "/build'"),
];

/// The folder of the project that a log was made for, as the log itself names it.
#[must_use]
pub fn project_in(log: &str) -> Option<PathBuf> {
    let line_names = |line: &str| {
        let line = line.trim_end().replace('\\', "/");
        let line = line.as_str();
        let named = NAMED.iter().find_map(|(before, after)| {
            let rest = line.strip_prefix(before)?;
            rest.find(after).and_then(|at| rest.get(..at))
        });
        // The last word of `Executing "cmake -G Ninja … FOLDER"...` is the project.
        let called = || {
            let call = line.strip_prefix("Executing \"cmake ")?.strip_suffix("\"...")?;
            call.rsplit(' ').next()
        };
        let folder = named.or_else(called)?;
        is_absolute(folder).then(|| PathBuf::from(folder))
    };
    log.lines().find_map(line_names)
}

/// The folders of a project, and where a build within the build works.
#[derive(Debug, Default)]
pub(super) struct Paths {
    roots: Vec<PathBuf>,
    /// The name of the build within the build that prints now, e.g. `bootloader`.
    inner: Option<String>,
    /// The folder of the project that make works in now.
    folder: Option<PathBuf>,
    /// The folders that the log says builds are in.
    builds: Vec<PathBuf>,
    /// Where the log says that the framework is.
    framework: Option<String>,
}

impl Paths {
    /// For the project at those absolute paths, and the output of its build.
    pub(super) fn new(roots: &[&Path], log: &str) -> Self {
        let mut all: Vec<PathBuf> = roots.iter().map(|&root| with_slashes(root)).collect();
        let is_named = |root: &&Path| log.contains(&*root.to_string_lossy());
        if !roots.iter().any(is_named)
            && let Some(named) = project_in(log)
        {
            all.push(named);
        }
        let framework = log.find("/tools/cmake/").and_then(|end| {
            let start = log.get(..end)?.rfind(|c: char| c.is_whitespace() || "\"';:=".contains(c));
            log.get(start.map_or(0, |at| at + 1)..end).map(str::to_owned)
        });
        let builds = log.lines().filter_map(|line| line.strip_prefix(BUILD_FOLDER));
        let builds = builds.map(|folder| PathBuf::from(folder.trim_end())).collect();
        Self { roots: all, builds, framework, ..Self::default() }
    }

    /// Programs that are started next work in that folder, or in the project's.
    pub(super) fn work_in(&mut self, folder: Option<String>) {
        // In folders of builds, names without a folder are those of sources.
        let is_build = |folder: &Path| self.builds.iter().any(|build| folder.starts_with(build));
        self.folder = folder
            .filter(|folder| self.is_own(&format!("{folder}/")))
            .map(PathBuf::from)
            .filter(|folder| !is_build(folder));
    }

    /// What is printed next is of the build within the build with that name, or of none.
    pub(super) fn enter(&mut self, inner: Option<String>) {
        self.inner = inner;
    }

    /// The path as the project's files are called, if it lies in the project.
    pub(super) fn relative(&self, file: &str) -> String {
        // Paths of Windows are compared in the form that CMake gives them.
        let file = file.replace('\\', "/");
        let path = Path::new(&file);
        let path = match &self.inner {
            // It works in a folder of the build folder.
            Some(name) if path.starts_with("..") => {
                clean(&Path::new("build").join(name).join(path))
            }
            None if let Some(folder) = &self.folder
                && !is_absolute(&file) =>
            {
                clean(&folder.join(path))
            }
            // Compilers run in the build folder, one below the project.
            Some(_) | None => clean(path.strip_prefix("..").unwrap_or(path)),
        };
        let inside = self.roots.iter().find_map(|root| path.strip_prefix(root).ok());
        let inside = inside.unwrap_or(&path);
        sanitize::line(&inside.to_string_lossy()).into_owned()
    }

    /// The path of a file that CMake names: relative to the folder of what it configures.
    pub(super) fn of_cmake(&self, file: &str) -> String {
        match &self.inner {
            Some(name) if !is_absolute(file) => {
                let framework =
                    self.framework.as_deref().map_or_else(String::new, |root| format!("{root}/"));
                format!("{framework}components/{name}/subproject/{file}")
            }
            Some(_) | None => self.relative(file),
        }
    }

    /// Whether a file is the project's own, neither made by a build nor fetched.
    pub(super) fn is_own(&self, file: &str) -> bool {
        let relative = self.relative(file);
        !is_absolute(&relative)
            && !relative.starts_with('<')
            && !BUILDS.iter().chain(&FETCHED).any(|folder| relative.starts_with(folder))
    }

    /// Whether a file is one that the project's build made; what the virtual board puts there for its
    /// own use is none.
    pub(super) fn is_generated(&self, file: &str) -> bool {
        let relative = self.relative(file);
        !relative.starts_with(VIRTUAL_BOARD)
            && BUILDS.iter().any(|folder| relative.starts_with(folder))
    }

    /// As [`Self::is_own`], for a file that CMake names.
    pub(super) fn is_own_list(&self, file: &str) -> bool {
        (self.inner.is_none() || is_absolute(file)) && self.is_own(file)
    }
}

/// Whether a file is what a compiler wrote for the assembler.
pub(super) fn is_for_assembler(file: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    is_absolute(file) && name.starts_with("cc") && name.ends_with(".s")
}

/// A path of Windows in the form that CMake gives it; others as they are.
fn with_slashes(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    match is_absolute(&text) && !text.starts_with('/') {
        true => PathBuf::from(text.replace('\\', "/")),
        false => path.to_owned(),
    }
}

/// Whether a path begins at the root of a file system, here or on Windows.
#[must_use]
pub fn is_absolute(path: &str) -> bool {
    let mut letters = path.chars();
    let is_drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && matches!(letters.next(), Some('/' | '\\'));
    is_drive || path.starts_with('/')
}

/// The path without `.` and without `..` where that is possible.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if clean.file_name().is_some() => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}
