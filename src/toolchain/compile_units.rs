//! How the sources of a project are compiled, by the `compile_commands.json` of its build folder.
//!
//! Owns which options of a compiler are passed on to an analyser: those that change how C is read
//! and cannot run a program or write a file. The file is the project's, so nothing else of it is
//! believed. Reads files only.

use std::path::{Path, PathBuf};

use super::paths::plain;
use super::syntax::{CompileEntry, CompileLine};

use crate::files;

/// Where builds leave the file, the likeliest first; the last is PlatformIO's.
const PLACES: [&str; 3] =
    ["build/compile_commands.json", "build/arduino/compile_commands.json", "compile_commands.json"];

/// A larger file is not read, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// One source and how it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileUnit {
    /// The source, absolute.
    pub file: PathBuf,
    /// Options that change how it is read, in their order; paths in them are absolute.
    pub flags: Vec<String>,
    /// The compiler, as the build names it.
    pub compiler: PathBuf,
}

impl CompileUnit {
    /// A compilation as a toolchain knows it, for a reader that is another compiler.
    pub(super) fn of(line: CompileLine, project: &Path) -> Self {
        let CompileLine { source, compiler, options } = line;
        Self { file: project.join(source), flags: taken(options, project), compiler }
    }
}

/// The sources within `project` that its last configuration compiles; none without one.
#[must_use]
pub fn of_build(project: &Path) -> Vec<CompileUnit> {
    let lists = PLACES.iter().map(|place| project.join(place));
    let texts = lists.filter_map(|path| files::read_text(&path, MAX_BYTES).ok());
    let entries =
        texts.filter_map(|text| serde_json::from_str::<Vec<CompileEntry>>(&text).ok()).next();
    let units = entries.into_iter().flatten().filter_map(|entry| unit(project, &entry));
    units.collect()
}

fn unit(project: &Path, entry: &CompileEntry) -> Option<CompileUnit> {
    let file = plain(&entry.source());
    if !file.starts_with(project) {
        return None;
    }
    let mut all = entry.words()?.into_iter();
    let compiler = PathBuf::from(all.next()?);
    Some(CompileUnit { file, flags: taken(all, &entry.directory), compiler })
}

/// The options that pass.
fn taken(words: impl IntoIterator<Item = String>, folder: &Path) -> Vec<String> {
    let mut flags = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if let Some((option, path)) = path_option(&word) {
            let path = if path.is_empty() { words.next() } else { Some(path.to_owned()) };
            let Some(path) = path.filter(|path| !path.is_empty()) else { continue };
            flags.push(option.to_owned());
            flags.push(plain(&folder.join(path)).display().to_string());
        } else if let Some(option @ ("-D" | "-U")) = word.get(..2) {
            let rest = word.get(2..).unwrap_or_default();
            let name = if rest.is_empty() { words.next() } else { Some(rest.to_owned()) };
            flags.extend(name.map(|name| format!("{option}{name}")));
        } else if let Some(standard) = word.strip_prefix("-std=") {
            flags.push(format!("-std={}", known_standard(standard)));
        } else if READING.contains(&word.as_str()) {
            flags.push(word);
        }
    }
    flags
}

/// Options without a value that change what the code means.
const READING: [&str; 6] =
    ["-fno-exceptions", "-fexceptions", "-fno-rtti", "-frtti", "-funsigned-char", "-fsigned-char"];

/// Splits an option that names a path for headers.
fn path_option(word: &str) -> Option<(&'static str, &str)> {
    const OPTIONS: [&str; 5] = ["-isystem", "-iquote", "-idirafter", "-include", "-I"];
    OPTIONS.into_iter().find_map(|option| Some((option, word.strip_prefix(option)?)))
}

/// Names of standards that analysers of some years ago know.
fn known_standard(name: &str) -> &str {
    match name {
        "gnu23" => "gnu2x",
        "c23" => "c2x",
        "gnu++23" | "gnu++26" | "gnu++2c" => "gnu++2b",
        "c++23" | "c++26" | "c++2c" => "c++2b",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(words: &[&str]) -> Vec<String> {
        taken(words.iter().map(|&word| word.to_owned()), Path::new("/p/build"))
    }

    #[test]
    fn only_options_that_read_pass() {
        let given = [
            "-mlongcalls",
            "-Iconfig",
            "-I",
            "../main/include",
            "-isystem",
            "/idf/soc",
            "-DA=1",
            "-D",
            "B",
            "-UC",
            "-std=gnu++26",
            "-fno-rtti",
            "-fplugin=/p/evil.so",
            "-Xclang",
            "-load",
            "-Xclang",
            "/p/evil.so",
            "@/p/response",
            "-o",
            "out.o",
            "-MF",
            "out.d",
            "-wrapper",
            "sh",
            "-B/p/bin",
            "-include",
            "pre.h",
            "-fno-jump-tables",
            "--config=/p/evil.cfg",
            "-c",
            "a.c",
        ];
        let expected = [
            "-I",
            "/p/build/config",
            "-I",
            "/p/main/include",
            "-isystem",
            "/idf/soc",
            "-DA=1",
            "-DB",
            "-UC",
            "-std=gnu++2b",
            "-fno-rtti",
            "-include",
            "/p/build/pre.h",
        ];
        assert_eq!(flags(&given), expected);
        assert!(flags(&["-I", "-D", "-isystem"]).len() <= 2);
    }

    #[test]
    fn the_projects_own_sources_are_found() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path();
        std::fs::create_dir(root.join("build")).unwrap();
        let (main, build) = (root.join("main/main.c"), root.join("build"));
        let database = serde_json::json!([
            { "directory": build, "file": "../main/main.c", "command": "ccache gcc -DX -c main.c" },
            { "directory": build, "file": "/idf/log.c", "command": "gcc -c /idf/log.c" },
            { "directory": build, "file": main, "arguments": ["/t/riscv32-esp-elf-gcc", "-Ia"] },
            { "directory": build, "file": main },
        ]);
        std::fs::write(root.join("build/compile_commands.json"), database.to_string()).unwrap();
        let found = of_build(root);
        assert_eq!(found.len(), 2);
        assert_eq!((&found[0].file, &found[0].flags), (&main, &vec!["-DX".to_owned()]));
        assert_eq!(found[0].compiler, Path::new("gcc"));
        assert_eq!(found[1].flags, ["-I".to_owned(), build.join("a").display().to_string()]);
        std::fs::write(root.join("build/compile_commands.json"), "[{").unwrap();
        assert!(of_build(root).is_empty());
    }
}
