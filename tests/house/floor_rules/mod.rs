//! The rules that `tests/house/floors.rs` applies, each a function from a parsed file to violations.

mod effects;
mod graph;
mod imports;
mod paths;
mod reads;
pub mod rings;
mod shape;
pub mod slices;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

pub use graph::Graph;
pub use imports::Floors;

/// A house rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Imports go strictly down.
    Floor,
    /// A file opens with what it owns.
    Header,
    /// At most 600 lines a file; usually 100 to 400.
    FileLength,
    /// At most 60 lines of code a function.
    FunctionLength,
    /// At most 12 fields a struct.
    StructSize,
    /// Live and replay are one code path.
    ReplayFlag,
    /// Colours come from the theme.
    Colour,
    /// A switch in a public function is an enum.
    BoolParameter,
    /// Files and processes are touched in the named files only.
    Effect,
    /// Files are read by the bounded reader.
    Read,
    /// Files of one top module do not import each other.
    ImportRing,
    /// A type's own methods stand in one file.
    SlicedObject,
}

/// A place where a rule is broken.
pub struct Violation {
    /// Path below `src/`.
    pub file: String,
    pub line: usize,
    pub rule: Rule,
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "src/{}:{}: {:?}: {}", self.file, self.line, self.rule, self.detail)
    }
}

/// A source file as text and as a tree.
pub struct SourceFile {
    /// Path below `src/`, with `/`.
    pub path: String,
    pub text: String,
    pub tree: syn::File,
}

impl SourceFile {
    /// Parses `text` as the file at `path`.
    pub fn parse(path: &str, text: String) -> syn::Result<Self> {
        let tree = syn::parse_file(&text)?;
        Ok(Self { path: path.to_owned(), text, tree })
    }

    /// Its module path, e.g. `["ui", "panes", "chat"]`; empty for the roots.
    pub fn module(&self) -> Vec<String> {
        let stem = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let stem = stem.strip_suffix("/mod").unwrap_or(stem);
        match stem {
            // `build.rs` runs before the crate is compiled, and is in no floor.
            "lib" | "base" | "main" | "build" => Vec::new(),
            _ => stem.split('/').map(str::to_owned).collect(),
        }
    }

    fn broken(&self, rule: Rule, line: usize, detail: impl Into<String>) -> Violation {
        Violation { file: self.path.clone(), line, rule, detail: detail.into() }
    }
}

/// Reads every `.rs` file below `root`, in order of path.
pub fn read_tree(root: &Path) -> Vec<SourceFile> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let below = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                let text = std::fs::read_to_string(&path).unwrap();
                files.push(
                    SourceFile::parse(&below, text).unwrap_or_else(|e| panic!("{below}: {e}")),
                );
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The modules that exist for tests only.
fn test_modules(files: &[SourceFile]) -> BTreeSet<Vec<String>> {
    files.iter().flat_map(paths::test_modules).collect()
}

/// Applies every rule that looks at one file at a time to every file.
pub fn check(files: &[SourceFile], floors: &Floors) -> Vec<Violation> {
    let tests = test_modules(files);
    let mut found = Vec::new();
    for file in files {
        found.extend(shape::check(file));
        let module = file.module();
        if (0..=module.len()).any(|depth| tests.contains(&module[..depth])) {
            continue;
        }
        let seen = paths::collect(file);
        found.extend(imports::check(file, &seen, floors));
        found.extend(effects::check(file, &seen));
        found.extend(reads::check(file, &seen));
        found.extend(shape::check_colours(file, &seen));
    }
    found
}
