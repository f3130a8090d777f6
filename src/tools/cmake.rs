//! Which list of CMake a source file belongs to, and what it takes to be built by it.

use crate::model::ProjectPath;
use crate::text::cmake::{Registered, register, with_include_folder};
use crate::workspace::{DEFAULT_LIST_LIMIT, NearestList, ProjectDir, is_compiled, nearest_list};

/// Folders that hold the headers of a component by convention.
const HEADER_FOLDERS: [&str; 2] = ["include", "inc"];

/// The folder of a component's headers that a new header lies in, e.g. `main/include` for
/// `main/include/net/wifi.h`; `None` for one that lies beside its sources.
fn header_folder(path: &ProjectPath) -> Option<&str> {
    if !matches!(path.extension(), Some("h" | "hpp" | "hh" | "hxx")) {
        return None;
    }
    let mut end = 0;
    for part in path.parent()?.split('/') {
        end += part.len();
        if HEADER_FOLDERS.contains(&part) {
            return path.as_str().get(..end);
        }
        end += 1;
    }
    None
}

/// Whether a list has to name a new file, or its folder, so that it takes part in a build.
pub(super) fn needs_list(path: &ProjectPath) -> bool {
    is_compiled(path) || header_folder(path).is_some()
}

/// The one of `lists` that is nearest to the file, from its folder upwards.
pub(super) fn nearest_of<'a>(
    path: &ProjectPath,
    lists: &'a [ProjectPath],
) -> Option<&'a ProjectPath> {
    let is_above = |list: &&ProjectPath| match list.parent() {
        Some(folder) => {
            path.as_str().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        }
        None => true,
    };
    lists.iter().filter(is_above).max_by_key(|list| list.as_str().len())
}

/// A list that shall build more sources than it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListEdit {
    pub(super) path: ProjectPath,
    /// What it holds now.
    pub(super) base: String,
    /// What it shall hold.
    pub(super) text: String,
    /// The sources that are added, and the headers whose folder is.
    pub(super) sources: Vec<ProjectPath>,
}

/// A source that no list will build, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unregistered {
    pub(super) source: ProjectPath,
    /// The nearest list; `None` when there is none.
    pub(super) list: Option<ProjectPath>,
    /// Why it could not be added.
    pub(super) why: String,
}

/// What it takes to have new sources built.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CMakePlan {
    /// Lists that have to change.
    pub(super) edits: Vec<ListEdit>,
    /// Sources that a person has to decide about.
    pub(super) unregistered: Vec<Unregistered>,
}

/// Plans the registration of `sources`, none of which exists yet, and of the folders of new headers. Lists that are `written` in the
/// same call are taken as they are: whoever writes a list says what it builds.
pub(super) fn plan(
    project_dir: &ProjectDir,
    sources: &[ProjectPath],
    written: &dyn Fn(&ProjectPath) -> bool,
) -> CMakePlan {
    let mut plan = CMakePlan::default();
    for source in sources {
        let read = |list: &ProjectPath| {
            if let Some(edit) = plan.edits.iter().find(|edit| edit.path == *list) {
                return Some(edit.text.clone());
            }
            if written(list) {
                return Some(String::new());
            }
            String::from_utf8(project_dir.read(list).ok()?).ok()
        };
        let near = nearest_list(source, &read);
        if let Some(folder) = header_folder(source) {
            if let Some(near) = near.filter(|near| !written(&near.list)) {
                plan.add_header(source, folder, near);
            }
            continue;
        }
        let Some(near) = near else {
            let why = "there is no CMakeLists.txt in the folders above it".to_owned();
            plan.unregistered.push(Unregistered { source: source.clone(), list: None, why });
            continue;
        };
        if written(&near.list) {
            continue;
        }
        let others = |folder: &str| siblings(project_dir, &near.list, folder, sources);
        match register(&near.text, &near.relative, &others) {
            Ok(Registered::Already { .. }) => {}
            Ok(Registered::With { text, .. }) => plan.add(source, near, text),
            Err(error) => plan.unregistered.push(Unregistered {
                source: source.clone(),
                list: Some(near.list),
                why: error.to_string(),
            }),
        }
    }
    plan
}

impl CMakePlan {
    /// A list that is not understood, or is not that of a component, stays as it is: the header may be
    /// found by other ways.
    fn add_header(&mut self, header: &ProjectPath, folder: &str, near: NearestList) {
        let above = near.list.parent().map_or(0, |list| list.len() + 1);
        let Some(relative) = folder.get(above..) else { return };
        if let Ok(Some(text)) = with_include_folder(&near.text, relative) {
            self.add(header, near, text);
        }
    }

    fn add(&mut self, source: &ProjectPath, near: NearestList, text: String) {
        match self.edits.iter_mut().find(|edit| edit.path == near.list) {
            Some(edit) => {
                edit.text = text;
                edit.sources.push(source.clone());
            }
            None => self.edits.push(ListEdit {
                path: near.list,
                base: near.text,
                text,
                sources: vec![source.clone()],
            }),
        }
    }
}

/// Compiled sources that lie in a folder below a list's folder, save those that are new.
fn siblings(
    project_dir: &ProjectDir,
    list: &ProjectPath,
    folder: &str,
    new: &[ProjectPath],
) -> Vec<String> {
    let place = match (list.parent(), folder) {
        (None, ".") => None,
        (None, inner) => Some(inner.to_owned()),
        (Some(outer), ".") => Some(outer.to_owned()),
        (Some(outer), inner) => Some(format!("{outer}/{inner}")),
    };
    let files = project_dir.list(DEFAULT_LIST_LIMIT).files.into_iter().map(|file| file.path);
    files
        .filter(|path| path.parent() == place.as_deref() && is_compiled(path))
        .filter(|path| !new.contains(path))
        .map(|path| path.to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    #[test]
    fn sources_of_several_components_go_into_their_own_lists() {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("main/CMakeLists.txt", "idf_component_register(SRCS main.c)"),
            ("components/led/CMakeLists.txt", "idf_component_register(SRC_DIRS src)"),
            ("components/odd/CMakeLists.txt", "odd(a.c)"),
            ("components/led/src/led.c", ""),
            ("components/led/more/old.c", ""),
        ] {
            let file = folder.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let sources = [
            "main/a.c",
            "main/src/b.c",
            "components/led/src/n.c",
            "components/led/more/n.c",
            "components/odd/n.c",
            "x.c",
        ]
        .map(path);
        let found = plan(&project_dir, &sources, &|_| false);
        let edits: Vec<_> =
            found.edits.iter().map(|edit| (edit.path.as_str(), edit.text.as_str())).collect();
        assert_eq!(
            edits,
            [("main/CMakeLists.txt", "idf_component_register(SRCS main.c a.c src/b.c)")]
        );
        assert_eq!(found.edits[0].sources.len(), 2);
        let open: Vec<_> =
            found.unregistered.iter().map(|u| (u.source.as_str(), u.why.as_str())).collect();
        assert_eq!(open.len(), 3, "{open:?}");
        assert!(
            open[0].1.contains("components/led/more/old.c")
                && open[1].1.contains("no `idf_component_register`")
        );
        assert!(open[2].1.contains("no CMakeLists.txt"), "{open:?}");
        let headers = ["main/include/net/n.h", "main/n.h", "components/odd/include/o.h", "y.h"];
        let headers: Vec<_> = headers.map(path).into_iter().filter(needs_list).collect();
        assert_eq!(headers.len(), 2);
        let found = plan(&project_dir, &headers, &|_| false);
        assert!(found.unregistered.is_empty(), "{found:?}");
        let edits: Vec<_> = found.edits.iter().map(|edit| edit.text.as_str()).collect();
        assert_eq!(edits, ["idf_component_register(SRCS main.c INCLUDE_DIRS \"include\")"]);
        let own = plan(&project_dir, &sources[..2], &|list| list.as_str() == "main/CMakeLists.txt");
        assert_eq!(own, CMakePlan::default());
    }
}
