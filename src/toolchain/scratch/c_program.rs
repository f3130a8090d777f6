//! Compiles a program in C or C++ in the sandbox.

use std::path::PathBuf;

use super::c_sources::{SourceSet, is_cxx};
use super::captured::Captured;
use super::run_env::RunEnv;
use crate::model::UserError;

const C_COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];
const CXX_COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];

/// What to compile.
#[derive(Debug, Clone)]
pub struct CProgram<'a> {
    /// The source it begins in, absolute or relative to the copy of the project.
    pub first: &'a str,
    pub sources: &'a SourceSet,
    /// Name of the program among the results.
    pub name: &'a str,
    /// Further arguments of the compiler, e.g. libraries.
    pub args: &'a [String],
}

/// What a compiler made.
pub enum Compiled {
    Program(PathBuf),
    /// What it had to say.
    Failed(Box<Captured>),
}

/// Compiles it.
///
/// # Errors
/// When there is no compiler or no sandbox.
pub async fn compile(env: &mut RunEnv<'_>, program: &CProgram<'_>) -> Result<Compiled, UserError> {
    let CProgram { first, sources, name, args } = program;
    let has_cxx = is_cxx(first) || sources.linked.iter().any(|source| is_cxx(source));
    let compiler = find(if has_cxx { CLanguage::Cxx } else { CLanguage::C })?;
    let output = env.scratch.results().join(name);
    let mut all: Vec<String> =
        ["-g", "-O1", "-Wall", "-Wno-unused-function", "-D_GNU_SOURCE", "-I."]
            .map(str::to_owned)
            .into();
    all.push(if has_cxx { "-std=gnu++20" } else { "-std=gnu17" }.to_owned());
    all.extend(
        sources.folders.iter().filter(|folder| !folder.is_empty()).map(|f| format!("-I{f}")),
    );
    // After the project's own: a project with its own Unity uses that.
    all.push(format!("-idirafter{}", env.scratch.support().display()));
    all.push((*first).to_owned());
    // A file whose name begins like an option is none.
    all.extend(sources.linked.iter().map(|source| format!("./{source}")));
    all.extend(["-o".to_owned(), output.display().to_string()]);
    all.extend(args.iter().cloned());
    all.push("-lm".to_owned());
    let command = env.program(compiler, all);
    let captured = env.compile(command).await?;
    Ok(if captured.is_well() {
        env.scratch.allow_run(name);
        Compiled::Program(output)
    } else {
        Compiled::Failed(captured.into())
    })
}

/// The compiler of C of this machine.
///
/// # Errors
/// When there is none.
pub fn c_compiler() -> Result<PathBuf, UserError> {
    find(CLanguage::C)
}

enum CLanguage {
    C,
    Cxx,
}

/// The compiler of this machine.
fn find(language: CLanguage) -> Result<PathBuf, UserError> {
    let (names, language, package) = match language {
        CLanguage::C => (C_COMPILERS, "C", "gcc"),
        CLanguage::Cxx => (CXX_COMPILERS, "C++", "g++"),
    };
    names.into_iter().find_map(on_path).ok_or_else(|| {
        UserError::new(
            format!("Cannot compile {language}"),
            format!("there is no {language} compiler in PATH"),
            format!("Install one, e.g. `sudo apt install {package}`."),
        )
    })
}

/// A program of this machine by its name.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(name));
    found.find(|program| program.is_absolute() && program.is_file())
}
