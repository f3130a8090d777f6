//! Whether a source file is part of what CMake builds, as far as its text tells.

use crate::model::ProjectPath;

/// What the nearest `CMakeLists.txt` says about a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Registration {
    /// That file builds it.
    In(ProjectPath),
    /// That file is the nearest one and does not mention it.
    NotIn(ProjectPath),
    /// There is none in the folders above it.
    Nowhere,
}

/// Whether the file's name is that of a source that has to be compiled.
pub(super) fn is_compiled(path: &ProjectPath) -> bool {
    matches!(path.extension(), Some("c" | "cpp" | "cc" | "cxx" | "S"))
}

/// Looks for the nearest `CMakeLists.txt` from the file's folder upwards; `read` gives the text of
/// a file as it is or will be.
pub(super) fn registration(
    path: &ProjectPath,
    read: &dyn Fn(&ProjectPath) -> Option<String>,
) -> Registration {
    let mut folder = path.parent();
    loop {
        let list = folder.map_or("CMakeLists.txt".to_owned(), |f| format!("{f}/CMakeLists.txt"));
        if let Some((list, text)) =
            ProjectPath::new(&list).ok().and_then(|list| read(&list).map(|text| (list, text)))
        {
            let skip = folder.map_or(0, |folder| folder.len() + 1);
            let relative = path.as_str().get(skip..).unwrap_or(path.as_str());
            return match builds(&text, relative) {
                true => Registration::In(list),
                false => Registration::NotIn(list),
            };
        }
        match folder {
            Some(inner) => folder = inner.rsplit_once('/').map(|(outer, _)| outer),
            None => return Registration::Nowhere,
        }
    }
}

/// Whether the text names the file, its folder in `SRC_DIRS`, or a pattern that takes it.
fn builds(text: &str, relative: &str) -> bool {
    let words = words(text);
    let (folder, name) = relative.rsplit_once('/').unwrap_or((".", relative));
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let mut in_folders = false;
    let mut glob: Option<&str> = None;
    for word in &words {
        match word.as_str() {
            "SRC_DIRS" => in_folders = true,
            "GLOB" | "GLOB_RECURSE" => glob = Some(word),
            "SRCS" | "INCLUDE_DIRS" | "PRIV_INCLUDE_DIRS" | "REQUIRES" | "PRIV_REQUIRES"
            | "EXCLUDE_SRCS" | "EMBED_FILES" | "EMBED_TXTFILES" | ")" => {
                in_folders = false;
                if word == ")" {
                    glob = None;
                }
            }
            word if in_folders && word.trim_end_matches('/') == folder => return true,
            word => {
                let taken = glob.is_some_and(|glob| takes(glob, word, folder, extension));
                if taken || word == relative {
                    return true;
                }
            }
        }
    }
    false
}

/// Whether a pattern such as `src/*.c` takes a file with that extension of that folder.
fn takes(glob: &str, pattern: &str, folder: &str, extension: &str) -> bool {
    let (place, last) = pattern.rsplit_once('/').unwrap_or((".", pattern));
    let below = glob == "GLOB_RECURSE"
        && (place == "." || folder.strip_prefix(place).is_some_and(|rest| rest.starts_with('/')));
    let right_place = place == folder || place == "*" || below;
    right_place && (last == "*" || last == "*.*" || last == format!("*.{extension}"))
}

/// The words of a CMake text without comments, quotes and the folder the text lies in; a closing
/// parenthesis is a word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().replace(')', " ) ").replace('(', " ");
        for word in line.split(|c: char| c.is_whitespace() || matches!(c, '"' | ';')) {
            let word = word.strip_prefix("${CMAKE_CURRENT_SOURCE_DIR}/").unwrap_or(word);
            let word = word.strip_prefix("${CMAKE_CURRENT_LIST_DIR}/").unwrap_or(word);
            let word = word.strip_prefix("${COMPONENT_DIR}/").unwrap_or(word);
            let word = word.strip_prefix("./").unwrap_or(word);
            if !word.is_empty() {
                words.push(word.to_owned());
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    #[test]
    fn every_way_to_name_a_source_is_known() {
        let cases = [
            ("idf_component_register(SRCS \"main.c\" \"src/a.c\" INCLUDE_DIRS \".\")", true),
            ("idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \"src\")", false),
            ("idf_component_register(SRC_DIRS \".\" \"src\" INCLUDE_DIRS \"include\")", true),
            ("idf_component_register(SRC_DIRS . INCLUDE_DIRS src)", false),
            ("file(GLOB sources \"src/*.c\")\nidf_component_register(SRCS ${sources})", true),
            ("file(GLOB sources \"*.c\")", false),
            ("file(GLOB_RECURSE sources ${CMAKE_CURRENT_LIST_DIR}/*.c)", true),
            ("set(srcs\n  main.c # and src/a.c\n)", false),
            ("idf_component_register(SRCS ${CMAKE_CURRENT_SOURCE_DIR}/src/a.c)", true),
        ];
        for (text, expected) in cases {
            assert_eq!(builds(text, "src/a.c"), expected, "{text}");
        }
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
        let root = path("CMakeLists.txt");
        assert_eq!(registration(&path("other/c.c"), &read), Registration::NotIn(root));
        assert_eq!(registration(&path("c.c"), &|_| None), Registration::Nowhere);
    }
}
