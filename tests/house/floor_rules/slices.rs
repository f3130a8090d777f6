//! No type whose own methods stand in several files.

use std::collections::BTreeMap;

use super::graph::Graph;
use super::{Rule, Violation};

/// A type and the files that hold `impl` blocks of its own.
pub struct Slices<'a> {
    /// Path of the file that defines it, below `src/`.
    pub home: &'a str,
    pub name: String,
    /// Where the blocks are: (path below `src/`, line), in order.
    pub blocks: Vec<(&'a str, usize)>,
}

impl Slices<'_> {
    /// What is to be said of the type.
    pub fn violation(&self) -> Violation {
        let places: Vec<_> =
            self.blocks.iter().map(|(file, line)| format!("{file}:{line}")).collect();
        let detail =
            format!("{} has its methods in several files: {}", self.name, places.join(", "));
        Violation { file: self.home.to_owned(), line: 1, rule: Rule::SlicedObject, detail }
    }
}

/// Finds the types with `impl` blocks in more than one file.
pub fn find<'a>(graph: &Graph<'a>) -> Vec<Slices<'a>> {
    let mut types: BTreeMap<(&str, String), BTreeMap<&str, usize>> = BTreeMap::new();
    for (file, block) in graph.impls() {
        let written = block.segments.last().cloned().unwrap_or_default();
        let (home, name) =
            graph.definition(&file.module(), &block.segments).unwrap_or((file, written));
        let blocks = types.entry((home.path.as_str(), name)).or_default();
        blocks.entry(&file.path).or_insert(block.line);
    }
    let several = types.into_iter().filter(|(_, blocks)| blocks.len() > 1);
    several
        .map(|((home, name), blocks)| Slices { home, name, blocks: blocks.into_iter().collect() })
        .collect()
}
