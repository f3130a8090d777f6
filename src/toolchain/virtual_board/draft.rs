//! The plan of a project as it shall become: with files that are proposed and not saved yet.
//!
//! Lays the lists of the project and of the proposal out in a temporary folder, with empty files in the
//! place of sources, and reads the plan from there. Where lists are still missing, those are taken
//! that nearly every project begins with. Must not compile anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::cmake;
use super::kit::Kit;
use super::paths::find;
use super::plan::{CompilePlan, is_cxx};
use crate::files;
use crate::text::sketch::EXTENSION;
use crate::toolchain::paths::inside;
use crate::toolchain::sketch::Sketch;
use crate::toolchain::syntax::{Overlay, SyntaxJob};

/// The list of a folder.
const LIST: &str = "CMakeLists.txt";

/// The list of a project that has none yet.
const TOP: &str = "cmake_minimum_required(VERSION 3.16)\n\
                   include($ENV{IDF_PATH}/tools/cmake/project.cmake)\nproject(draft)\n";

/// The component that every project has.
const MAIN: &str = "main";

/// Files of a project that are looked at. A larger project has its lists already.
const MOST_FILES: usize = 4_000;

/// A plan that nobody has built yet.
pub(super) struct DraftPlan {
    pub(super) plan: CompilePlan,
    /// Whether files are still missing: what is not found may come with them.
    pub(super) is_partial: bool,
    /// The tabs of a sketch, the main one first.
    pub(super) tabs: Vec<PathBuf>,
}

/// Whether the project on disk does not tell how the files of the job are compiled.
pub(super) fn is_needed(job: &SyntaxJob, plan: Option<&CompilePlan>) -> bool {
    let Some(plan) = plan else { return true };
    job.files.iter().map(|file| Path::new(file.path.as_str())).any(|path| {
        let is_new = !plan.units.iter().any(|unit| unit.source == path);
        path.file_name().is_some_and(|name| name == LIST) || (is_compiled(path) && is_new)
    })
}

/// The plan of the project with the files of the job; `None` when it is not understood.
pub(super) fn plan(job: &SyntaxJob, kit: &Kit) -> Option<DraftPlan> {
    let mut texts = project_files(&job.project)?;
    for file in job.files.iter() {
        let path = PathBuf::from(file.path.as_str());
        let content = if is_read(&path) { file.content.clone() } else { Vec::new() };
        texts.insert(path, content);
    }
    let is_sketch = texts.keys().any(|path| is_tab(path))
        && !texts.contains_key(Path::new(LIST))
        && !texts.contains_key(Path::new("platformio.ini"));
    let is_partial = if is_sketch { false } else { complete(&mut texts) };
    let listed = texts.iter().map(|(path, text)| (path.as_path(), text.as_slice()));
    let folder = Overlay::make(&job.project, listed, std::iter::empty()).ok()?;
    let mut plan = CompilePlan::read(folder.root(), kit).ok()?;
    for include in plan.units.iter_mut().flat_map(|unit| &mut unit.includes) {
        if let Ok(inside) = include.strip_prefix(folder.root()) {
            *include = job.project.join(inside);
        }
    }
    let tabs = Sketch::read(folder.root()).map(|sketch| sketch.tabs).unwrap_or_default();
    Some(DraftPlan { plan, is_partial, tabs })
}

/// The project's own files below its folder: lists and tabs with their texts, others empty. `None`
/// when there are too many.
fn project_files(root: &Path) -> Option<BTreeMap<PathBuf, Vec<u8>>> {
    let mut texts = BTreeMap::new();
    let is_own = |entry: &ignore::DirEntry| {
        entry.depth() != 1
            || ["build", "managed_components"].iter().all(|it| entry.file_name() != *it)
    };
    let walk =
        WalkBuilder::new(root).standard_filters(false).hidden(true).filter_entry(is_own).build();
    for entry in walk.flatten() {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(path) = entry.path().strip_prefix(root) else { continue };
        if texts.len() >= MOST_FILES {
            return None;
        }
        let text = match is_read(path) {
            true => files::read(entry.path(), files::SOURCE).ok()?,
            false => Vec::new(),
        };
        texts.insert(path.to_owned(), text);
    }
    Some(texts)
}

/// Adds the lists, sources and folders that are still missing; tells whether any were.
fn complete(texts: &mut BTreeMap<PathBuf, Vec<u8>>) -> bool {
    let count = texts.len();
    texts.entry(LIST.into()).or_insert_with(|| TOP.into());
    let mut components: BTreeSet<PathBuf> =
        texts.keys().filter_map(|path| component(path)).collect();
    components.insert(MAIN.into());
    for folder in &components {
        let list = folder.join(LIST);
        if !texts.contains_key(&list) {
            let text = usual_list(folder, texts);
            texts.insert(list.clone(), text.into_bytes());
        }
        let text = texts.get(&list).and_then(|text| std::str::from_utf8(text).ok());
        let glob = |pattern: &str, recurse| match_pattern(folder, pattern, recurse, texts);
        let Some(Ok(Some(found))) = text.map(|text| cmake::registration(text, &glob)) else {
            continue;
        };
        let folders = found.include_dirs.iter().chain(&found.priv_include_dirs);
        let folders = folders.map(|name| format!("{name}/.keep"));
        for name in found.srcs.into_iter().chain(folders) {
            if let Some(path) = inside(folder, &name) {
                let is_there = path.file_name().is_some_and(|name| name == ".keep")
                    && texts.keys().any(|known| known.parent() == path.parent());
                if !is_there {
                    texts.entry(path).or_default();
                }
            }
        }
    }
    texts.len() > count
}

/// The files that a pattern means. Only whole folders are asked for by lists that matter here.
fn match_pattern(
    folder: &Path,
    pattern: &str,
    recurse: cmake::Recurse,
    texts: &BTreeMap<PathBuf, Vec<u8>>,
) -> Vec<String> {
    if !pattern.contains('*') {
        return find(folder, pattern, recurse);
    }
    let sources = texts.keys().filter_map(|path| path.strip_prefix(folder).ok());
    sources.filter(|path| is_compiled(path)).map(|path| path.display().to_string()).collect()
}

/// The folder of the component that a source or header lies in, where components usually are.
fn component(path: &Path) -> Option<PathBuf> {
    let mut parts = path.iter();
    let first = parts.next()?;
    parts.clone().next()?;
    if first == MAIN {
        return Some(first.into());
    }
    let name = parts.next().filter(|_| first == "components")?;
    parts.next().map(|_| Path::new(first).join(name))
}

/// The list of a component that has none yet: all its sources and the folders of its headers.
fn usual_list(folder: &Path, texts: &BTreeMap<PathBuf, Vec<u8>>) -> String {
    let own: Vec<&Path> = texts.keys().filter_map(|path| path.strip_prefix(folder).ok()).collect();
    let sources = own.iter().filter(|path| is_compiled(path));
    let mut sources: Vec<String> = sources.map(|path| format!("\"{}\"", path.display())).collect();
    // It is the one that has to have a source.
    if sources.is_empty() && folder == Path::new(MAIN) {
        sources.push("main.c".to_owned());
    }
    let headers = own.iter().filter(|path| path.extension().is_some_and(|ending| ending == "h"));
    let folders: BTreeSet<&Path> = headers.filter_map(|path| path.parent()).collect();
    let folders = folders.iter().filter(|folder| !folder.as_os_str().is_empty());
    let folders: Vec<String> = folders.map(|path| format!("\"{}\"", path.display())).collect();
    let (sources, folders) = (sources.join(" "), folders.join(" "));
    format!("idf_component_register(SRCS {sources} INCLUDE_DIRS \".\" {folders})\n")
}

fn is_compiled(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "c") || is_cxx(path)
}

/// Whether the text of a file, and not only that it is there, counts for the plan.
fn is_read(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == LIST || name == "platformio.ini") || is_tab(path)
}

fn is_tab(path: &Path) -> bool {
    path.parent() == Some(Path::new("")) && path.extension().is_some_and(|end| end == EXTENSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &str)]) -> BTreeMap<PathBuf, Vec<u8>> {
        files.iter().map(|(path, text)| (path.into(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn lists_that_are_missing_are_those_that_projects_begin_with() {
        let mut all = texts(&[("main/main.c", ""), ("main/include/bus.h", ""), ("README.md", "")]);
        assert!(complete(&mut all));
        let main = String::from_utf8(all[Path::new("main/CMakeLists.txt")].clone()).unwrap();
        assert_eq!(
            main,
            "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \".\" \"include\")\n"
        );
        assert!(all.contains_key(Path::new("CMakeLists.txt")));
    }

    #[test]
    fn what_a_list_names_and_nobody_has_proposed_yet_is_thought_to_come() {
        let list = "idf_component_register(SRCS main.c wifi.c INCLUDE_DIRS . include)";
        let own = [("CMakeLists.txt", TOP), ("main/CMakeLists.txt", list), ("main/main.c", "")];
        let mut all = texts(&own);
        assert!(complete(&mut all));
        assert!(all.contains_key(Path::new("main/wifi.c")));
        assert!(all.contains_key(Path::new("main/include/.keep")));
        let mut whole = texts(&own);
        whole.extend(texts(&[("main/wifi.c", ""), ("main/include/wifi.h", "")]));
        assert!(!complete(&mut whole), "{whole:?}");
    }
}
