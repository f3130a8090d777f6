//! Where a text names a file of the project: by an include, or in a list of CMake.
//!
//! Pure; must not resolve include paths of a build. A name that could mean another file of the
//! same name is found as well: the person decides, and a place too many costs a look only.

use super::cmake::commands;
use super::includes::includes;
use super::lines::lines;
use crate::model::ProjectPath;

/// A line that names a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Counted from 1.
    pub line: u32,
    /// How it names the file.
    pub by: MentionKind,
    /// That line, without the spaces around it.
    pub text: String,
}

/// How a line names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MentionKind {
    /// By an `#include`.
    Include,
    /// In a list of CMake.
    Cmake,
}

/// Whether a file can name others in a way that [`mentions`] finds.
#[must_use]
pub fn can_mention(path: &ProjectPath) -> bool {
    is_cmake(path)
        || matches!(
            path.extension(),
            Some("c" | "h" | "cpp" | "hpp" | "cc" | "hh" | "cxx" | "hxx" | "inc" | "S" | "ino")
        )
}

/// The lines of the file `in_file` with this text that name `target`.
#[must_use]
pub fn mentions(target: &ProjectPath, in_file: &ProjectPath, text: &str) -> Vec<Mention> {
    // Most files do not even hold the name.
    if in_file == target || !text.contains(target.file_name()) {
        return Vec::new();
    }
    match is_cmake(in_file) {
        true => in_cmake(target, in_file, text),
        false => in_source(target, in_file, text),
    }
}

fn is_cmake(path: &ProjectPath) -> bool {
    path.file_name() == "CMakeLists.txt" || path.extension() == Some("cmake")
}

fn in_source(target: &ProjectPath, in_file: &ProjectPath, text: &str) -> Vec<Mention> {
    let all = lines(text);
    let line_text = |line: u32| {
        let index = (line as usize).checked_sub(1);
        index.and_then(|index| all.get(index)).map_or("", |line| line.text.trim()).to_owned()
    };
    includes(text)
        .into_iter()
        .filter(|include| can_mean(&include.target, in_file, target))
        .map(|include| Mention {
            line: include.line,
            by: MentionKind::Include,
            text: line_text(include.line),
        })
        .collect()
}

/// Whether a written path can mean the target: relative to the file it stands in, or the end of
/// the target's path, as seen from some include folder.
fn can_mean(written: &str, in_file: &ProjectPath, target: &ProjectPath) -> bool {
    if resolve(in_file.parent().unwrap_or(""), written).as_deref() == Some(target.as_str()) {
        return true;
    }
    let plain: Vec<&str> =
        written.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let ending = plain.join("/");
    !ending.is_empty() && ends_with_parts(target.as_str(), &ending)
}

fn ends_with_parts(path: &str, ending: &str) -> bool {
    path.strip_suffix(ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// A relative path with its `.` and `..` parts worked out; `None` when it leaves the project.
#[must_use]
pub fn resolve(folder: &str, written: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

fn in_cmake(target: &ProjectPath, in_file: &ProjectPath, text: &str) -> Vec<Mention> {
    let folder = in_file.parent().unwrap_or("");
    let names = |word: &str| {
        let word =
            ["${CMAKE_CURRENT_SOURCE_DIR}/", "${CMAKE_CURRENT_LIST_DIR}/", "${COMPONENT_DIR}/"]
                .iter()
                .find_map(|prefix| word.strip_prefix(prefix))
                .unwrap_or(word);
        if resolve(folder, word).as_deref() == Some(target.as_str()) {
            return true;
        }
        // Behind another variable the rest of the path has to do.
        word.rsplit_once('}').is_some_and(|(_, rest)| {
            let rest = rest.trim_start_matches('/');
            !rest.is_empty() && ends_with_parts(target.as_str(), rest)
        })
    };
    let all = lines(text);
    // A list that does not parse may name it anywhere.
    let places: Vec<_> = commands(text).map_or_else(
        |_| std::iter::once(0..text.len()).collect(),
        |commands| commands.into_iter().flat_map(|it| it.args).map(|arg| arg.range).collect(),
    );
    let mut found: Vec<Mention> = Vec::new();
    for place in places {
        let words = text.get(place.clone()).unwrap_or_default();
        let words =
            words.split(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | ';' | '(' | ')'));
        let mut at = place.start;
        for word in words {
            let index = all.partition_point(|line| line.end <= at);
            at += word.len() + 1;
            let line = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let is_new = found.last().is_none_or(|last| last.line < line);
            if is_new && !word.is_empty() && names(word) {
                let text = all.get(index).map_or("", |line| line.text.trim()).to_owned();
                found.push(Mention { line, by: MentionKind::Cmake, text });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    fn found(target: &str, file: &str, text: &str) -> Vec<u32> {
        mentions(&path(target), &path(file), text).into_iter().map(|m| m.line).collect()
    }

    #[test]
    fn includes_that_can_mean_the_file_are_found() {
        let source = "#include \"led.h\"\n#include <drv/led.h>\n#include \"../include/led.h\"\n\
                      #include \"other/led.h\"\n// #include \"led.h\"\n#include \"bled.h\"\n";
        assert_eq!(found("main/include/drv/led.h", "main/src/a.c", source), [1, 2]);
        assert_eq!(found("main/include/led.h", "main/src/a.c", source), [1, 3]);
        assert_eq!(found("main/led.h", "main/led.h", source), Vec::<u32>::new());
    }

    #[test]
    fn lists_of_cmake_are_read_without_comments() {
        let text = "idf_component_register(\n  SRCS \"main.c\" \"src/a.c\" # src/a.c\n  # src/a.c\n\
                    #[[ src/a.c\n ]] ${COMPONENT_DIR}/src/a.c\n  ${dir}/a.c;xa.c ./src/../src/a.c)\n";
        assert_eq!(found("main/src/a.c", "main/CMakeLists.txt", text), [2, 5, 6]);
        let mention = &mentions(&path("main/main.c"), &path("main/CMakeLists.txt"), text)[0];
        assert_eq!(mention.text, "SRCS \"main.c\" \"src/a.c\" # src/a.c");
        assert_eq!(mention.by, MentionKind::Cmake);
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_lines_exist(text in "[a-c/.\"#<>(){}$\\[\\]; \né]{0,80}(#include \"b/a.c\"\n)?") {
            for file in ["CMakeLists.txt", "b/x.c"] {
                let all = mentions(&path("b/a.c"), &path(file), &text);
                let count = u32::try_from(lines(&text).len()).unwrap();
                prop_assert!(all.iter().all(|m| m.line >= 1 && m.line <= count));
            }
        }
    }
}
