//! Which list of CMake a source file belongs to, and whether that list builds it.
//!
//! Owns the way from a file to its list. Whether a list builds a file is known to
//! [`cmake`](crate::text::cmake).

use crate::model::ProjectPath;
use crate::text::cmake::builds;

/// What the nearest `CMakeLists.txt` says about a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registration {
    /// That file builds it.
    In(ProjectPath),
    /// That file is the nearest one and does not build it.
    NotIn(ProjectPath),
    /// That file is the nearest one and is not understood, for this reason.
    Unclear(ProjectPath, String),
    /// There is none in the folders above it.
    Nowhere,
}

/// Whether the file's name is that of a source that has to be compiled.
#[must_use]
pub fn is_compiled(path: &ProjectPath) -> bool {
    matches!(path.extension(), Some("c" | "cpp" | "cc" | "cxx" | "S"))
}

/// The nearest list of a source file.
pub struct NearestList {
    /// Its path.
    pub list: ProjectPath,
    /// What it holds.
    pub text: String,
    /// Path of the source from the list's folder.
    pub relative: String,
}

/// Looks for the nearest `CMakeLists.txt` from the file's folder upwards; `read` gives the text of
/// a file as it is or will be.
#[must_use]
pub fn nearest_list(
    path: &ProjectPath,
    read: &dyn Fn(&ProjectPath) -> Option<String>,
) -> Option<NearestList> {
    let mut folder = path.parent();
    loop {
        let list = folder.map_or("CMakeLists.txt".to_owned(), |f| format!("{f}/CMakeLists.txt"));
        if let Some((list, text)) =
            ProjectPath::new(&list).ok().and_then(|list| read(&list).map(|text| (list, text)))
        {
            let skip = folder.map_or(0, |folder| folder.len() + 1);
            let relative = path.as_str().get(skip..).unwrap_or(path.as_str()).to_owned();
            return Some(NearestList { list, text, relative });
        }
        folder = folder?.rsplit_once('/').map(|(outer, _)| outer);
    }
}

/// What the nearest list says about a source file.
#[must_use]
pub fn registration(
    path: &ProjectPath,
    read: &dyn Fn(&ProjectPath) -> Option<String>,
) -> Registration {
    let Some(NearestList { list, text, relative }) = nearest_list(path, read) else {
        return Registration::Nowhere;
    };
    match builds(&text, &relative) {
        Ok(true) => Registration::In(list),
        Ok(false) => Registration::NotIn(list),
        Err(error) => Registration::Unclear(list, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    #[test]
    fn the_nearest_list_counts() {
        let read = |list: &ProjectPath| match list.as_str() {
            "main/CMakeLists.txt" => Some("idf_component_register(SRCS src/a.c)".to_owned()),
            "CMakeLists.txt" => Some("project(x)".to_owned()),
            _ => None,
        };
        let main = path("main/CMakeLists.txt");
        assert_eq!(registration(&path("main/src/a.c"), &read), Registration::In(main.clone()));
        assert_eq!(registration(&path("main/b.c"), &read), Registration::NotIn(main));
        let found = registration(&path("other/c.c"), &read);
        assert!(
            matches!(found, Registration::Unclear(list, _) if list.as_str() == "CMakeLists.txt")
        );
        assert_eq!(registration(&path("c.c"), &|_| None), Registration::Nowhere);
    }
}
