//! Which files of the project name other files of it.

use super::ProjectDir;
use crate::model::ProjectPath;
use crate::text::references::{Mention, can_mention, mentions};

/// Files that are searched at most; a project with more is a framework.
const MOST_FILES: usize = 20_000;
/// Longer files are no hand-written sources, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// A line of the project that names a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The file that is named.
    pub target: ProjectPath,
    /// The file that names it.
    pub file: ProjectPath,
    pub mention: Mention,
}

/// Finds the includes and CMake lists that name one of `targets`; those inside the targets
/// themselves do not count. By file, then by line.
#[must_use]
pub fn references_to(project_dir: &ProjectDir, targets: &[ProjectPath]) -> Vec<Reference> {
    let mut found = Vec::new();
    if targets.is_empty() {
        return found;
    }
    for file in project_dir.list(MOST_FILES).files.into_iter().map(|file| file.path) {
        if !can_mention(&file) || targets.contains(&file) {
            continue;
        }
        let Ok(excerpt) = project_dir.read_start(&file, MOST_BYTES) else { continue };
        let text = String::from_utf8_lossy(&excerpt.content);
        for target in targets {
            let lines = mentions(target, &file, &text).into_iter();
            found.extend(lines.map(|mention| Reference {
                target: target.clone(),
                file: file.clone(),
                mention,
            }));
        }
    }
    found
}
