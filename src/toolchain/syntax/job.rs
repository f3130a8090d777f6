//! The files that a compiler is asked about, and how the sources of a project are compiled.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::model::ProjectPath;
use crate::sandbox::Runner;

pub(super) const C: &[&str] = &["c"];

pub(super) const CXX: &[&str] = &["cc", "cpp", "cxx"];

pub(super) const HEADERS: &[&str] = &["h", "hh", "hpp", "hxx", "inc", "ipp", "tpp", "ino"];

/// Files whose change makes the last configuration of a build old, in the folder of a component.
pub(super) const LISTS: &[&str] =
    &["CMakeLists.txt", "idf_component.yml", "Kconfig", "Kconfig.projbuild"];

/// A file as it shall become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewText {
    /// Where it goes.
    pub path: ProjectPath,
    /// What it shall hold.
    pub content: Vec<u8>,
}

/// Files to look at, all of which are thought to be approved.
#[derive(Debug, Clone)]
pub struct SyntaxJob {
    /// Absolute path of the project.
    pub project: PathBuf,
    /// The files of one batch, also those that no compiler reads.
    pub files: Arc<[NewText]>,
    /// What is not answered after this stays without an answer.
    pub limit: Duration,
    /// Runs the compilers in the sandbox; `None`, or where there is none: as programs of the person.
    pub runner: Option<Runner>,
}

/// How one source of a project is compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::toolchain) struct CompileLine {
    /// Relative to the project.
    pub(in crate::toolchain) source: PathBuf,
    /// An absolute path.
    pub(in crate::toolchain) compiler: PathBuf,
    /// Without input and output.
    pub(in crate::toolchain) options: Vec<String>,
}

/// How the sources of a project are compiled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::toolchain) struct CompileLines {
    /// One for each source.
    pub(in crate::toolchain) all: Vec<CompileLine>,
    /// Whether lists of the project have changed since these were made.
    pub(in crate::toolchain) is_old: bool,
    /// Sources that a build would write, with what they would hold.
    pub(in crate::toolchain) made: Vec<(PathBuf, Vec<u8>)>,
    /// Variables of the compiler beside a plain `PATH`.
    pub(in crate::toolchain) path: Option<OsString>,
}

pub(super) fn has_ending(path: &ProjectPath, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.contains(&ending))
}
