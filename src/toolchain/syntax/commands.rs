//! What `compile_commands.json` of a build folder says about the project's own sources.
//!
//! The file comes from a build, and a build runs what a project brings: whatever it names is taken
//! only when it is a known compiler with known options.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::de::{Deserializer as _, SeqAccess, Visitor};

use super::entry::{CompileEntry, file_name};
use super::job::{C, CXX, CompileLine, CompileLines, LISTS};
use super::options::{self, Places};

use crate::files;
use crate::toolchain::paths::has_ending;

/// Longest file of further words, in bytes.
const MAX_WORDS: u64 = 1 << 20;

/// Sources of the project that are kept.
const MOST_SOURCES: usize = 20_000;

/// Compilers of this machine, for the target `linux`.
const HOST: &[&str] = &["cc", "gcc", "clang", "c++", "g++", "clang++"];

/// Reads such a file once for each version of it.
#[derive(Debug, Clone, Default)]
pub(in crate::toolchain) struct Commands {
    last: Arc<Mutex<Option<Read>>>,
}

/// What one version of a file holds.
#[derive(Debug)]
struct Read {
    stamp: FileStamp,
    entries: Arc<[CompileEntry]>,
}

/// A version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileStamp {
    file: PathBuf,
    modified: SystemTime,
    bytes: u64,
}

/// Where compilers and files before a source may come from.
pub(in crate::toolchain) struct CompilePaths<'a> {
    pub(in crate::toolchain) framework: &'a Path,
    /// Folder of the compilers that the framework's installer brought.
    pub(in crate::toolchain) tools: Option<&'a Path>,
    /// The `PATH` that builds have.
    pub(in crate::toolchain) path: &'a OsStr,
}

impl Commands {
    /// How the sources of `project` were compiled in its folder `build`; `None` before the first
    /// time. Reads a file of megabytes.
    pub(in crate::toolchain) fn lines(
        &self,
        project: &Path,
        build: &Path,
        known: &CompilePaths<'_>,
    ) -> Option<CompileLines> {
        let entries = self.entries(project, &build.join("compile_commands.json"))?;
        let all = lines_of(entries.iter().cloned(), project, known)?;
        let is_old = is_old(project, build, &all);
        Some(CompileLines { all, is_old, made: Vec::new(), path: Some(known.path.to_owned()) })
    }

    fn entries(&self, project: &Path, file: &Path) -> Option<Arc<[CompileEntry]>> {
        let found = std::fs::metadata(file).ok()?;
        let stamp = FileStamp {
            file: file.to_owned(),
            modified: found.modified().ok()?,
            bytes: found.len(),
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = last.as_ref().filter(|read| read.stamp == stamp) {
            return Some(Arc::clone(&read.entries));
        }
        let entries: Arc<[CompileEntry]> =
            own_entries(&files::read(file, files::BUILD_FACTS).ok()?, project)?.into();
        *last = Some(Read { stamp, entries: Arc::clone(&entries) });
        Some(entries)
    }
}

/// Those of the compilations that may be repeated: by a known compiler with known options. `None`
/// when the project or the framework is not there.
pub(in crate::toolchain) fn lines_of(
    entries: impl Iterator<Item = CompileEntry>,
    project: &Path,
    known: &CompilePaths<'_>,
) -> Option<Vec<CompileLine>> {
    let folders = [project.canonicalize().ok()?, known.framework.canonicalize().ok()?];
    Some(entries.filter_map(|entry| line(&entry, project, &folders, known)).collect())
}

/// The entries of sources below `project`, outside of its build folder; the framework's own are a
/// thousand more.
fn own_entries(text: &[u8], project: &Path) -> Option<Vec<CompileEntry>> {
    struct Own<'a>(&'a Path);
    impl<'de> Visitor<'de> for Own<'_> {
        type Value = Vec<CompileEntry>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of compilations")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<CompileEntry>, A::Error> {
            let mut own = Vec::new();
            while let Some(entry) = list.next_element::<CompileEntry>()? {
                let file = entry.source();
                let is_own = file.strip_prefix(self.0).is_ok_and(|file| {
                    !file.starts_with("build") && (has_ending(file, C) || has_ending(file, CXX))
                });
                if is_own && own.len() < MOST_SOURCES {
                    own.push(entry);
                }
            }
            Ok(own)
        }
    }
    serde_json::Deserializer::from_slice(text).deserialize_seq(Own(project)).ok()
}

fn line(
    entry: &CompileEntry,
    project: &Path,
    known: &[PathBuf],
    places: &CompilePaths<'_>,
) -> Option<CompileLine> {
    let source = entry.source().strip_prefix(project).ok()?.to_owned();
    let all = entry.words()?;
    let compiler = compiler(all.first()?, project, places)?;
    let all = expanded(all.get(1..)?, known)?;
    let places = Places { directory: &entry.directory, known };
    let options = options::taken(&all, &entry.file, &places)?;
    Some(CompileLine { source, compiler, options })
}

/// The compiler that is meant, when it is a known one: of this machine, or of the framework.
fn compiler(message: &str, project: &Path, known: &CompilePaths<'_>) -> Option<PathBuf> {
    let name = file_name(message);
    let is_chip = name
        .strip_suffix("-gcc")
        .or_else(|| name.strip_suffix("-g++"))
        .is_some_and(|kind| kind == "riscv32-esp-elf" || is_xtensa(kind));
    if !is_chip && !HOST.contains(&name) {
        return None;
    }
    let real = Path::new(message).canonicalize().ok();
    if let (Some(real), Some(tools), true) = (&real, known.tools, is_chip)
        && real.starts_with(tools)
    {
        return Path::new(message).is_absolute().then(|| PathBuf::from(message));
    }
    let found = std::env::split_paths(known.path)
        .filter(|folder| folder.is_absolute() && !folder.starts_with(project))
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())?;
    // The name alone could mean another compiler with other headers.
    let is_same = !message.contains('/') || real == found.canonicalize().ok();
    is_same.then_some(found)
}

/// `xtensa-esp32-elf`, `xtensa-esp32s3-elf`, `xtensa-esp-elf`.
fn is_xtensa(kind: &str) -> bool {
    let chip = kind.strip_prefix("xtensa-esp").and_then(|rest| rest.strip_suffix("-elf"));
    chip.is_some_and(|chip| chip.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// The words with those of files (`@file`) in their place, which must lie in known folders.
fn expanded(all: &[String], known: &[PathBuf]) -> Option<Vec<String>> {
    let mut out = Vec::with_capacity(all.len());
    for word in all {
        let Some(file) = word.strip_prefix('@') else {
            out.push(word.clone());
            continue;
        };
        let file = Path::new(file).canonicalize().ok()?;
        if !known.iter().any(|folder| file.starts_with(folder)) {
            return None;
        }
        out.extend(shell_words::split(&files::read_text(&file, MAX_WORDS).ok()?).ok()?);
    }
    Some(out)
}

/// Whether a list of the project is younger than what was made of them.
fn is_old(project: &Path, build: &Path, lines: &[CompileLine]) -> bool {
    let modified = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let Some(made) = modified(&build.join("build.ninja"))
        .or_else(|| modified(&build.join("compile_commands.json")))
    else {
        return true;
    };
    let folders = lines.iter().flat_map(|line| line.source.ancestors().skip(1));
    let folders: std::collections::BTreeSet<&Path> = folders.collect();
    let mut lists: Vec<PathBuf> = folders
        .into_iter()
        .flat_map(|folder| LISTS.iter().map(move |name| folder.join(name)))
        .collect();
    lists.extend(["sdkconfig".into(), "sdkconfig.defaults".into()]);
    lists.iter().filter_map(|list| modified(&project.join(list))).any(|at| at > made)
}

/// The folder that the framework's installer puts compilers into.
pub(in crate::toolchain) fn tools_folder() -> Option<PathBuf> {
    let named = std::env::var_os("IDF_TOOLS_PATH").map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".espressif"));
    named.or_else(usual)?.join("tools").canonicalize().ok()
}

/// The `PATH` among these variables, else that of this program.
pub(in crate::toolchain) fn path_of(variables: &[(OsString, OsString)]) -> OsString {
    let own = variables.iter().rev().find(|(name, _)| name == "PATH");
    own.map(|(_, path)| path.clone()).or_else(|| std::env::var_os("PATH")).unwrap_or_default()
}
