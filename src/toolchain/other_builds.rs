//! Finds builds of a project that the person, or an editor of theirs, runs at this moment.
//!
//! Looks through the system's list of processes, which Linux has at `/proc`; elsewhere nothing is
//! found. Processes of other people cannot be looked into. Must not end any of them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::files;

/// Programs that write into a folder of output. What starts them (`idf.py`, an editor) waits for
/// them, and is named in the message.
const BUILDERS: &str = "ninja samu make gmake cmake scons arduino-cli arduino-builder platformio";

/// Targets that stay open for hours beside any number of builds, as `idf.py` names them.
const NO_BUILDS: [&str; 8] =
    ["menuconfig", "confserver", "guiconfig", "monitor", "openocd", "gdb", "gdbui", "gdbtui"];

/// A build that somebody else runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherBuild {
    /// The program, as the system names it.
    pub program: String,
    /// The number of its process.
    pub process: u32,
    /// The program that started it, where that can be told.
    pub started_by: Option<String>,
}

impl OtherBuild {
    /// It in a few words.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { program, process, started_by } = self;
        match started_by {
            Some(by) => format!("`{program}` (process {process}, started by {by})"),
            None => format!("`{program}` (process {process})"),
        }
    }
}

/// A build below `project` that is none of this program's own; `None` when nothing is found.
#[must_use]
pub fn running(project: &Path) -> Option<OtherBuild> {
    running_in(Path::new("/proc"), project)
}

fn running_in(processes: &Path, project: &Path) -> Option<OtherBuild> {
    let project = fs::canonicalize(project).ok()?;
    let own = std::process::id();
    for entry in fs::read_dir(processes).ok()?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let folder = entry.path();
        let Some(program) = first_line(&folder.join("comm")) else { continue };
        let is_builder = BUILDERS.split(' ').any(|builder| builder == program);
        if !is_builder || !is_below(&folder, &project) {
            continue;
        }
        let parents = parents(processes, process);
        if parents.contains(&own) {
            continue;
        }
        let by = parents.iter().find_map(|parent| starter(&processes.join(parent.to_string())));
        return Some(OtherBuild { program, process, started_by: by });
    }
    None
}

/// Whether a process works at output of the project, and builds.
fn is_below(folder: &Path, project: &Path) -> bool {
    let arguments = arguments(folder);
    if arguments.iter().any(|it| NO_BUILDS.iter().any(|target| it == target)) {
        return false;
    }
    let Ok(here) = fs::read_link(folder.join("cwd")) else { return false };
    here.starts_with(project) || named(&arguments).any(|path| here.join(path).starts_with(project))
}

/// The folders that a command names to work in.
fn named(arguments: &[String]) -> impl Iterator<Item = PathBuf> {
    let next = arguments.iter().zip(arguments.iter().skip(1));
    let apart = next
        .filter(|(option, _)| ["-C", "-B", "--build", "-S", "--directory"].contains(&&***option))
        .map(|(_, folder)| PathBuf::from(folder));
    let joined = arguments.iter().filter_map(|it| {
        let rest = it.strip_prefix("-C").or_else(|| it.strip_prefix("-B"))?;
        (!rest.is_empty()).then(|| PathBuf::from(rest))
    });
    let plain = arguments.iter().filter(|it| it.starts_with('/')).map(PathBuf::from);
    apart.chain(joined).chain(plain).collect::<Vec<_>>().into_iter()
}

fn arguments(folder: &Path) -> Vec<String> {
    let bytes = files::read(&folder.join("cmdline"), files::SETTINGS).unwrap_or_default();
    let parts = bytes.split(|byte| *byte == 0).skip(1);
    parts.map(|part| OsStr::from_bytes(part).to_string_lossy().into_owned()).collect()
}

/// The processes above one, the nearest first.
fn parents(processes: &Path, mut process: u32) -> Vec<u32> {
    /// No tree of processes is deeper.
    const DEPTH: usize = 64;
    let mut parents = Vec::new();
    while parents.len() < DEPTH {
        let stat =
            files::read_text(&processes.join(process.to_string()).join("stat"), files::SETTINGS);
        // The name stands in parentheses and may hold any.
        let after = stat.as_deref().ok().and_then(|stat| stat.rsplit_once(')'));
        let parent = after.and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        match parent.filter(|parent| *parent > 1) {
            Some(parent) => parents.push(parent),
            None => break,
        }
        process = *parents.last().unwrap_or(&process);
    }
    parents
}

/// What a person calls a program that starts builds.
fn starter(folder: &Path) -> Option<String> {
    let is_script = |name: &str| name.ends_with(".py") || name == "pio" || name == "platformio";
    let names = arguments(folder).into_iter().take(4);
    let mut names = names.filter_map(|it| Some(Path::new(&it).file_name()?.to_str()?.to_owned()));
    names.find(|name| is_script(name)).or_else(|| {
        first_line(&folder.join("comm")).filter(|name| name == "code" || name == "clion")
    })
}

fn first_line(path: &Path) -> Option<String> {
    let text = files::read_text(path, files::SETTINGS).ok()?;
    text.lines().next().map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Processes {
        root: tempfile::TempDir,
    }

    impl Processes {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("blink/build")).unwrap();
            fs::create_dir_all(root.path().join("blink-two/build")).unwrap();
            Self { root }
        }

        fn add(&self, (process, parent): (u32, u32), command: &[&str], folder: &str) {
            let place = self.root.path().join("proc").join(process.to_string());
            fs::create_dir_all(&place).unwrap();
            let name = Path::new(command[0]).file_name().unwrap().to_str().unwrap();
            fs::write(place.join("comm"), format!("{name}\n")).unwrap();
            fs::write(place.join("cmdline"), command.join("\0")).unwrap();
            fs::write(place.join("stat"), format!("{process} ({name} :)) S {parent} 1 1")).unwrap();
            let here = fs::canonicalize(self.root.path()).unwrap().join(folder);
            symlink(here, place.join("cwd")).unwrap();
        }

        fn found(&self) -> Option<String> {
            let root = self.root.path();
            running_in(&root.join("proc"), &root.join("blink")).map(|found| found.words())
        }
    }

    #[test]
    fn a_build_of_the_same_project_is_found_and_who_started_it() {
        let system = Processes::new();
        system.add((40, 1), &["python", "/opt/idf/tools/idf.py", "build"], "blink");
        assert_eq!(system.found(), None, "it has started nothing yet");
        system.add((41, 40), &["ninja", "all"], "blink/build");
        let words = system.found().unwrap();
        assert_eq!(words, "`ninja` (process 41, started by idf.py)");
    }

    #[test]
    fn a_folder_that_is_named_counts_as_much_as_the_one_it_works_in() {
        for command in [
            &["ninja", "-C", "blink/build"][..],
            &["/usr/bin/make", "-Cblink/build"],
            &["cmake", "--build", "blink/build"],
        ] {
            let system = Processes::new();
            system.add((7, 1), command, "");
            assert!(system.found().is_some(), "{command:?}");
        }
    }

    #[test]
    fn other_projects_programs_and_menus_are_no_builds_of_it() {
        let system = Processes::new();
        system.add((7, 1), &["ninja", "all"], "blink-two/build");
        system.add((8, 1), &["vim", "main.c"], "blink");
        system.add((9, 1), &["ninja", "menuconfig"], "blink/build");
        system.add((10, std::process::id()), &["ninja", "all"], "blink/build");
        assert_eq!(system.found(), None);
    }
}
