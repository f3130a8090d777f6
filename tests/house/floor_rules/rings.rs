//! No files of one top module that import each other in a ring.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Edge, Graph};
use super::{Rule, Violation};

type Edges<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Edge>>;

/// Files that import each other, directly or by way of others of them.
#[derive(Debug)]
pub struct Ring<'a> {
    /// Paths below `src/`, in order.
    pub files: BTreeSet<&'a str>,
    /// For each file one import that leads to another file of the ring: (from, to, where).
    pub imports: Vec<(&'a str, &'a str, Edge)>,
}

impl Ring<'_> {
    /// What is to be said of the ring.
    pub fn violation(&self) -> Violation {
        let (first, _, edge) = &self.imports[0];
        let imports = self.imports.iter().map(|(from, to, edge)| {
            let names: Vec<_> = edge.names.iter().map(String::as_str).collect();
            format!("\n    {from}:{} names {} of {to}", edge.line, names.join(", "))
        });
        let detail =
            format!("{} files import each other:{}", self.files.len(), imports.collect::<String>());
        Violation { file: (*first).to_owned(), line: edge.line, rule: Rule::ImportRing, detail }
    }
}

/// Finds every ring, in order of its first file.
pub fn find<'a>(graph: &Graph<'a>) -> Vec<Ring<'a>> {
    let edges = graph.edges();
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|file| (*file, reachable(file, &edges))).collect();
    let mut rings = Vec::new();
    let mut placed = BTreeSet::new();
    for (file, there) in reach.iter().filter(|(file, there)| there.contains(*file)) {
        if placed.contains(file) {
            continue;
        }
        let files: BTreeSet<&str> =
            there.iter().copied().filter(|other| reach[other].contains(file)).collect();
        placed.extend(files.iter().copied());
        rings.push(ring_of(files, &edges));
    }
    rings
}

fn reachable<'a>(from: &str, edges: &Edges<'a>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = edges[from].keys().copied().collect();
    while let Some(file) = open.pop() {
        if found.insert(file) {
            open.extend(edges[file].keys().copied());
        }
    }
    found
}

fn ring_of<'a>(files: BTreeSet<&'a str>, edges: &Edges<'a>) -> Ring<'a> {
    let imports = files.iter().filter_map(|from| {
        let (to, edge) = edges[from].iter().find(|(to, _)| files.contains(*to))?;
        Some((*from, *to, edge.clone()))
    });
    let imports = imports.collect();
    Ring { files, imports }
}
