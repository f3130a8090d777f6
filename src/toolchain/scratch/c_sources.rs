//! Which sources belong to a program in C or C++, told from what it includes.
//!
//! A header brings the source of the same name with it. Must not run anything.

use std::collections::{BTreeSet, VecDeque};

use super::folder::ScratchFolder;
use crate::model::ProjectPath;

/// Files that are looked into for one program, at most.
const MOST: usize = 500;

/// Bytes of a source that are looked at.
const LIMIT: u64 = 1 << 20;

const ENDINGS: [&str; 4] = ["c", "cpp", "cc", "cxx"];

/// What a program is compiled from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceSet {
    /// The sources that are linked to it, without the first one.
    pub linked: BTreeSet<String>,
    /// Folders of headers.
    pub folders: BTreeSet<String>,
    /// Headers that the project does not have.
    pub foreign: BTreeSet<String>,
}

impl SourceSet {
    /// Follows the includes from one source on.
    #[must_use]
    pub fn of(scratch: &ScratchFolder, first: &str) -> Self {
        let known: Vec<&str> = scratch.files().map(ProjectPath::as_str).collect();
        let mut found = Self::default();
        let mut seen = BTreeSet::from([first.to_owned()]);
        let mut open = VecDeque::from([first.to_owned()]);
        while let Some(path) = open.pop_front().filter(|_| seen.len() < MOST) {
            let text = scratch.text(&path, LIMIT).unwrap_or_default();
            for name in includes(&text) {
                let Some(header) = resolve(&known, &path, name) else {
                    found.foreign.insert(name.to_owned());
                    continue;
                };
                // The way an include is written decides which folder it is found from.
                let folder = header.strip_suffix(name).unwrap_or_else(|| folder_of(header));
                found.folders.insert(folder.trim_end_matches('/').to_owned());
                let mut next = vec![header.to_owned()];
                next.extend(source_of(&known, header).filter(|source| {
                    // A program has one beginning.
                    scratch.text(source, LIMIT).is_some_and(|text| !has_main(&text))
                }));
                for path in next {
                    if seen.insert(path.clone()) {
                        if is_source(&path) && path != *header {
                            found.linked.insert(path.clone());
                        }
                        open.push_back(path);
                    }
                }
            }
        }
        found
    }
}

/// Whether a file is compiled.
pub fn is_source(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// Whether a source is of C++.
pub fn is_cxx(path: &str) -> bool {
    is_source(path) && !path.ends_with(".c")
}

/// Whether a program begins in it.
pub fn has_main(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        ["int main(", "int main (", "void main(", "int app_main(", "void app_main(", "auto main("]
            .iter()
            .any(|start| line.strip_prefix("extern \"C\" ").unwrap_or(line).starts_with(start))
    })
}

fn includes(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        let rest = rest.trim_start();
        let end = if rest.starts_with('<') { '>' } else { '"' };
        let (name, _) = rest.strip_prefix(['<', '"'])?.split_once(end)?;
        (!name.is_empty()).then_some(name)
    })
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The file of the project that an include means: next to the source, else the one that ends so.
fn resolve<'a>(known: &[&'a str], from: &str, name: &str) -> Option<&'a str> {
    let near = normal(&format!("{}/{name}", folder_of(from)));
    if let Some(found) = known.iter().find(|path| **path == near) {
        return Some(found);
    }
    let plain = normal(name);
    let ending = format!("/{plain}");
    let fits = |path: &&&str| **path == plain || path.ends_with(&ending);
    known.iter().filter(fits).min_by_key(|path| path.len()).copied()
}

/// Without `.` and `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The source of a header: of the same name, the nearer the better.
fn source_of(known: &[&str], header: &str) -> Option<String> {
    if is_source(header) {
        return None;
    }
    let common =
        |path: &str| path.split('/').zip(header.split('/')).take_while(|(a, b)| a == b).count();
    let named = known.iter().filter(|path| is_source(path) && stem(path) == stem(header));
    named.max_by_key(|path| common(path)).map(|path| (*path).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(files: &[(&str, &str)]) -> ScratchFolder {
        let mut scratch = ScratchFolder::new().unwrap();
        for (path, text) in files {
            scratch.put(&ProjectPath::new(path).unwrap(), text.as_bytes()).unwrap();
        }
        scratch
    }

    #[test]
    fn a_header_brings_its_source_and_what_that_needs() {
        let scratch = scratch(&[
            ("test/test_ring.c", "#include <unity.h>\n#include \"ring.h\"\n"),
            ("components/ring/include/ring.h", "#pragma once\n#include \"common/types.h\"\n"),
            ("components/ring/ring.c", "# include \"ring.h\"\n#include \"../util/bits.h\"\n"),
            ("components/util/bits.h", ""),
            ("components/util/bits.c", ""),
            ("main/common/types.h", ""),
            ("main/ring.c", "void app_main(void)\n{\n}\n"),
        ]);
        let found = SourceSet::of(&scratch, "test/test_ring.c");
        let linked: Vec<&str> = found.linked.iter().map(String::as_str).collect();
        assert_eq!(linked, ["components/ring/ring.c", "components/util/bits.c"]);
        assert!(
            found.folders.contains("components/ring/include") && found.folders.contains("main")
        );
        assert_eq!(found.foreign, BTreeSet::from(["unity.h".to_owned()]));
    }

    #[test]
    fn a_source_that_is_included_is_not_linked_and_neither_is_another_beginning() {
        let scratch = scratch(&[
            ("t.c", "#include \"a.c\"\n#include \"main.h\"\n"),
            ("a.c", "#include \"b.h\"\n"),
            ("b.h", ""),
            ("b.c", ""),
            ("main.h", ""),
            ("main.c", "int main(void)\n{ return 0; }\n"),
        ]);
        let found = SourceSet::of(&scratch, "t.c");
        assert_eq!(found.linked, BTreeSet::from(["b.c".to_owned()]));
    }
}
