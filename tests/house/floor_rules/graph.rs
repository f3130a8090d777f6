//! Which file of the program names what of which other file.
//!
//! A name that a `mod.rs` only passes on is taken to stand in the file that defines it; `mod x;`
//! is no import, and what exists for tests only is left out.

use std::collections::{BTreeMap, BTreeSet};

use super::SourceFile;
use super::paths::{self, SeenImpl, SeenImport, SeenPath};

/// How far re-exports are followed.
const MAX_HOPS: usize = 16;

/// A file that names something of another file of the same top module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The line of the first such name.
    pub line: usize,
    /// Every such name.
    pub names: BTreeSet<String>,
}

/// The files of the program and what they name of each other.
pub struct Graph<'a> {
    modules: BTreeMap<Vec<String>, Module<'a>>,
}

/// What one file brings in and defines.
struct Module<'a> {
    file: &'a SourceFile,
    paths: Vec<SeenPath>,
    imports: Vec<SeenImport>,
    impls: Vec<SeenImpl>,
    defined: BTreeSet<String>,
}

impl<'a> Graph<'a> {
    /// Reads what `files` name.
    pub fn new(files: &'a [SourceFile]) -> Self {
        let tests = super::test_modules(files);
        let program = files.iter().filter(|file| {
            let module = file.module();
            !module.is_empty() && !(0..=module.len()).any(|depth| tests.contains(&module[..depth]))
        });
        let modules = program.map(|file| {
            let paths::Seen { paths, imports, impls, .. } = paths::collect(file);
            let module = Module { file, paths, imports, impls, defined: defined(&file.tree) };
            (file.module(), module)
        });
        Self { modules: modules.collect() }
    }

    /// For each file, by its path, the files of the same top module that it names.
    pub fn edges(&self) -> BTreeMap<&'a str, BTreeMap<&'a str, Edge>> {
        self.modules
            .iter()
            .map(|(at, module)| (module.file.path.as_str(), self.edges_of(at, module)))
            .collect()
    }

    /// Every `impl` block of a type's own, with the file that holds it.
    pub fn impls(&self) -> impl Iterator<Item = (&'a SourceFile, &SeenImpl)> {
        self.modules
            .values()
            .flat_map(|module| module.impls.iter().map(|block| (module.file, block)))
    }

    fn edges_of(&self, at: &[String], module: &Module<'a>) -> BTreeMap<&'a str, Edge> {
        let mut edges: BTreeMap<&str, Edge> = BTreeMap::new();
        for path in module.paths.iter().filter(|path| !module.only_passes_on(path)) {
            let Some((target, _)) = self.definition(at, &path.segments) else { continue };
            if target.path == module.file.path || target.module()[0] != at[0] {
                continue;
            }
            let new = Edge { line: path.line, names: BTreeSet::new() };
            let edge = edges.entry(target.path.as_str()).or_insert(new);
            edge.line = edge.line.min(path.line);
            edge.names.extend(path.segments.last().cloned());
        }
        edges
    }

    /// The file that defines what `segments` stand for in the module `at`, and the name there.
    pub fn definition(
        &self,
        at: &[String],
        segments: &[String],
    ) -> Option<(&'a SourceFile, String)> {
        self.follow(at, segments, 0)
    }

    fn follow(
        &self,
        at: &[String],
        segments: &[String],
        hops: usize,
    ) -> Option<(&'a SourceFile, String)> {
        if hops > MAX_HOPS {
            return None;
        }
        if segments[0] != "crate" {
            return self.follow_local(at, segments, hops);
        }
        let path = &segments[1..];
        let depth =
            (1..=path.len()).rev().find(|depth| self.modules.contains_key(&path[..*depth]))?;
        let (home, rest) = (&path[..depth], &path[depth..]);
        let module = &self.modules[home];
        let here = |name: Option<&String>| Some((module.file, name.cloned().unwrap_or_default()));
        let Some(name) = rest.first().filter(|name| !module.defined.contains(*name)) else {
            return here(rest.first());
        };
        let import = module.imports.iter().find(|import| import.name == *name);
        let passed_on = import.and_then(|import| {
            let full = [&import.segments[..], &rest[1..]].concat();
            self.follow(home, &full, hops + 1)
        });
        passed_on.or_else(|| self.behind_globs(home, name, hops)).or_else(|| here(Some(name)))
    }

    /// A path that begins with a name of the module itself: one of its own modules or imports.
    fn follow_local(
        &self,
        at: &[String],
        segments: &[String],
        hops: usize,
    ) -> Option<(&'a SourceFile, String)> {
        let own = self.modules.get(at)?;
        let child = [at, &segments[..1]].concat();
        if self.modules.contains_key(&child) {
            let full = [&["crate".to_owned()], at, segments].concat();
            return self.follow(at, &full, hops + 1);
        }
        let import = own.imports.iter().find(|import| import.name == segments[0])?;
        if import.segments[0] == segments[0] {
            return None;
        }
        let full = [&import.segments[..], &segments[1..]].concat();
        self.follow(at, &full, hops + 1)
    }

    /// The file that defines `name`, if the module at `home` brings in everything of it.
    fn behind_globs(
        &self,
        home: &[String],
        name: &str,
        hops: usize,
    ) -> Option<(&'a SourceFile, String)> {
        let globs = self.modules[home].imports.iter().filter(|import| import.name == "*");
        globs.into_iter().find_map(|glob| {
            let from = &glob.segments[..glob.segments.len() - 1];
            let (target, _) = self.follow(home, from, hops + 1)?;
            let module = &self.modules[&target.module()];
            module.defined.contains(name).then(|| (target, name.to_owned()))
        })
    }
}

impl Module<'_> {
    /// Whether `path` is a `pub use` of something that the file itself does not use.
    fn only_passes_on(&self, path: &SeenPath) -> bool {
        let Some(name) = &path.passed_on else { return false };
        !self.paths.iter().any(|other| other.passed_on.is_none() && other.segments[0] == *name)
    }
}

/// Names of the items that stand in a file.
fn defined(tree: &syn::File) -> BTreeSet<String> {
    let names = tree.items.iter().filter_map(|item| match item {
        syn::Item::Const(item) => Some(&item.ident),
        syn::Item::Enum(item) => Some(&item.ident),
        syn::Item::Fn(item) => Some(&item.sig.ident),
        syn::Item::Mod(item) => item.content.is_some().then_some(&item.ident),
        syn::Item::Static(item) => Some(&item.ident),
        syn::Item::Struct(item) => Some(&item.ident),
        syn::Item::Trait(item) => Some(&item.ident),
        syn::Item::Type(item) => Some(&item.ident),
        syn::Item::Union(item) => Some(&item.ident),
        syn::Item::Macro(item) => item.ident.as_ref(),
        _ => None,
    });
    names.map(ToString::to_string).collect()
}
