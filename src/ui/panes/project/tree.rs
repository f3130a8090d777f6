//! Rows of the tree of files.

use std::collections::BTreeSet;

use crate::model::ProjectPath;
use crate::view::Project;

/// A row of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// Path of the file or folder.
    pub path: String,
    pub depth: usize,
    pub kind: NodeKind,
}

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    File,
    /// A folder that shows what is in it.
    Open,
    /// Folded, with so many files in it.
    Folded(usize),
}

/// Rows of the tree: folders before files, each by name.
pub(super) fn tree(project: &Project, folded: &BTreeSet<String>) -> Vec<Node> {
    let mut paths: Vec<&str> = project.files.keys().map(ProjectPath::as_str).collect();
    paths.sort_by_cached_key(|path| sort_key(path));
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut hidden: Option<usize> = None;
    for path in paths {
        let mut parts: Vec<&str> = path.split('/').collect();
        parts.pop();
        let same = open.iter().zip(&parts).take_while(|(a, b)| a == b).count();
        open.truncate(same);
        if hidden.is_some_and(|depth| depth >= same) {
            hidden = None;
        }
        for depth in same..parts.len() {
            open.push(parts.get(depth).copied().unwrap_or_default());
            if hidden.is_some() {
                continue;
            }
            let folder = open.join("/");
            let is_folded = folded.contains(&folder);
            let kind = if is_folded { NodeKind::Folded(0) } else { NodeKind::Open };
            nodes.push(Node { path: folder, depth, kind });
            if is_folded {
                hidden = Some(depth);
            }
        }
        if hidden.is_none() {
            nodes.push(Node { path: path.to_owned(), depth: open.len(), kind: NodeKind::File });
        } else if let Some(Node { kind: NodeKind::Folded(files), .. }) = nodes.last_mut() {
            *files += 1;
        }
    }
    nodes
}

/// Sorts folders before the files next to them.
fn sort_key(path: &str) -> Vec<(bool, String)> {
    let count = path.split('/').count();
    path.split('/').enumerate().map(|(place, part)| (place + 1 == count, part.to_owned())).collect()
}

/// The folders at the top of the project, save those in which the session does something.
pub(super) fn top_folders(project: &Project) -> BTreeSet<String> {
    let top = |path: &ProjectPath| Some(path.as_str().split_once('/')?.0.to_owned());
    let marked = project.files.iter().filter(|(_, file)| file.mark.is_some());
    let marked: BTreeSet<String> = marked.filter_map(|(path, _)| top(path)).collect();
    let folders = project.files.keys().filter_map(top);
    folders.filter(|folder| !marked.contains(folder)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::view::FileView;

    fn project(paths: &[&str]) -> Project {
        let files = paths.iter().map(|path| (ProjectPath::new(path).unwrap(), FileView::default()));
        Project { files: Arc::new(files.collect()), omitted: 0 }
    }

    fn shown(paths: &[&str], folded: &[&str]) -> Vec<String> {
        let folded = folded.iter().map(|path| (*path).to_owned()).collect();
        let show = |node: &Node| {
            let name = node.path.rsplit('/').next().unwrap();
            let kind = match node.kind {
                NodeKind::File => String::new(),
                NodeKind::Open => "/".to_owned(),
                NodeKind::Folded(files) => format!("/ ({files})"),
            };
            format!("{}{name}{kind}", "  ".repeat(node.depth))
        };
        tree(&project(paths), &folded).iter().map(show).collect()
    }

    const PATHS: [&str; 6] = [
        "CMakeLists.txt",
        "main/CMakeLists.txt",
        "main/include/a.h",
        "main/src/a.c",
        "main/src/b.c",
        "components/x/y.c",
    ];

    #[test]
    fn folders_come_before_files() {
        let expected = [
            "components/",
            "  x/",
            "    y.c",
            "main/",
            "  include/",
            "    a.h",
            "  src/",
            "    a.c",
            "    b.c",
            "  CMakeLists.txt",
            "CMakeLists.txt",
        ];
        assert_eq!(shown(&PATHS, &[]), expected);
    }

    #[test]
    fn a_folded_folder_hides_and_counts_its_files() {
        let expected = ["components/", "  x/", "    y.c", "main/ (4)", "CMakeLists.txt"];
        assert_eq!(shown(&PATHS, &["main", "main/src"]), expected);
        let expected = [
            "components/",
            "  x/",
            "    y.c",
            "main/",
            "  include/",
            "    a.h",
            "  src/ (2)",
            "  CMakeLists.txt",
            "CMakeLists.txt",
        ];
        assert_eq!(shown(&PATHS, &["main/src"]), expected);
    }
}
