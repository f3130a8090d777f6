//! What CMake writes into a project while it configures it, and the variables that decide which
//! programs it runs.

/// Variables of the environment that decide which programs and which framework a build takes.
const ENVIRONMENT: [&str; 20] = [
    "PATH",
    "IDF_PATH",
    "IDF_TOOLS_PATH",
    "IDF_PYTHON_ENV_PATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "CC",
    "CXX",
    "AS",
    "LD",
    "BASH_ENV",
    "ENV",
    "GIT_SSH_COMMAND",
    "CMAKE_PROGRAM_PATH",
    "PYTHON",
];

/// Variables of CMake that name a program.
const PROGRAMS: [&str; 8] = [
    "PYTHON",
    "PYTHON_EXECUTABLE",
    "Python_EXECUTABLE",
    "Python3_EXECUTABLE",
    "GIT_EXECUTABLE",
    "CMAKE_AR",
    "CMAKE_OBJCOPY",
    "CMAKE_LINKER",
];

/// The variable that decides which programs run, where a command sets one.
pub(super) fn program_variable<'a>(command: &str, args: &'a [String]) -> Option<&'a str> {
    let (name, values) = args.split_first()?;
    let value = values.first().map_or("", String::as_str);
    let inner = name.strip_prefix("ENV{").and_then(|rest| rest.strip_suffix('}'));
    let of_framework = is_of_framework(value) || value.starts_with("${IDF_PATH}");
    let is_it = match (command, name.as_str()) {
        ("list", _) => {
            let name = values.first().map_or("", String::as_str);
            let changes =
                matches!(args.first().map(String::as_str), Some("APPEND" | "PREPEND" | "INSERT"));
            return (changes && name == "CMAKE_PROGRAM_PATH").then_some(name);
        }
        ("set", _) if inner.is_some() => {
            inner.is_some_and(|inner| ENVIRONMENT.contains(&inner)) && !values.is_empty()
        }
        ("set", "CMAKE_TOOLCHAIN_FILE") => !values.is_empty() && !of_framework,
        ("set", "CMAKE_PROGRAM_PATH") => !values.is_empty(),
        ("set", name) if PROGRAMS.contains(&name) => value.contains('/') && !of_framework,
        ("idf_build_set_property", "PYTHON") => true,
        _ => false,
    };
    is_it.then_some(name.as_str())
}

/// The file that `file(VERB …)` writes.
pub(super) fn written<'a>(verb: &str, rest: &'a [String]) -> Option<&'a str> {
    let behind = |word: &str| {
        let at = rest.iter().position(|arg| arg == word)?;
        rest.get(at + 1)
    };
    let target = match verb {
        "WRITE" | "APPEND" => rest.first(),
        "RENAME" | "COPY_FILE" | "CREATE_LINK" => rest.get(1),
        "GENERATE" | "CONFIGURE" => behind("OUTPUT").filter(|target| target.starts_with('$')),
        _ => None,
    };
    target.map(String::as_str)
}

/// Whether a path lies in the framework.
pub(super) fn is_of_framework(path: &str) -> bool {
    ["$ENV{IDF_PATH}", "${IDF_PATH}", "$ENV{ADF_PATH}", "$ENV{IDF_TOOLS_PATH}"]
        .iter()
        .any(|start| path.starts_with(start))
}

/// Whether a path is that of a source, a list or a script of the project; a header may well be made
/// by the build.
pub(super) fn is_source(path: &str) -> bool {
    const FOLDERS: [&str; 7] = [
        "${CMAKE_CURRENT_LIST_DIR}",
        "${CMAKE_CURRENT_SOURCE_DIR}",
        "${CMAKE_SOURCE_DIR}",
        "${PROJECT_SOURCE_DIR}",
        "${PROJECT_DIR}",
        "${COMPONENT_DIR}",
        "${project_dir}",
    ];
    const ENDS: [&str; 11] =
        [".c", ".cpp", ".cc", ".cxx", ".ino", ".S", ".s", ".cmake", ".py", ".sh", "CMakeLists.txt"];
    let is_own = FOLDERS.iter().any(|folder| path.starts_with(folder)) || !path.starts_with('$');
    let of_build =
        ["/build/", "/generated/", "/gen/", "/_build/"].iter().any(|part| path.contains(part))
            || path.starts_with("build/");
    is_own && !of_build && ENDS.iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn variables_that_decide_what_runs_are_known() {
        for (command, args, is) in [
            ("set", "ENV{PATH} /x:$ENV{PATH}", true),
            ("set", "ENV{IDF_TARGET} esp32s3", false),
            ("set", "ENV{TZ} UTC", false),
            ("set", "CMAKE_TOOLCHAIN_FILE ${CMAKE_SOURCE_DIR}/a.cmake", true),
            ("set", "CMAKE_TOOLCHAIN_FILE $ENV{IDF_PATH}/tools/cmake/toolchain-esp32.cmake", false),
            ("set", "PYTHON python3", false),
            ("list", "APPEND CMAKE_PROGRAM_PATH bin", true),
            ("list", "LENGTH CMAKE_PROGRAM_PATH count", false),
            ("list", "APPEND SRCS main.c", false),
            ("set", "CMAKE_PROGRAM_PATH bin", true),
            ("set", "CMAKE_PROGRAM_PATH", false),
            ("set", "CMAKE_TOOLCHAIN_FILE", false),
            ("set", "ENV{PATH}", false),
            ("set", "GIT_EXECUTABLE tools/git", true),
            ("idf_build_set_property", "PYTHON tools/p", true),
            ("idf_build_set_property", "COMPILE_OPTIONS -Wall", false),
            ("set", "SRCS $ENV{IDF_PATH}/a.c", false),
        ] {
            assert_eq!(program_variable(command, &words(args)).is_some(), is, "{args}");
        }
    }

    #[test]
    fn the_file_that_is_written_is_known_by_the_verb() {
        for (verb, rest, is) in [
            ("WRITE", "a.c text", Some("a.c")),
            ("APPEND", "a.c text", Some("a.c")),
            ("RENAME", "a.c b.c", Some("b.c")),
            ("COPY_FILE", "a.c b.c", Some("b.c")),
            ("CREATE_LINK", "a.c b.c SYMBOLIC", Some("b.c")),
            (
                "GENERATE",
                "OUTPUT ${CMAKE_SOURCE_DIR}/b.c CONTENT x",
                Some("${CMAKE_SOURCE_DIR}/b.c"),
            ),
            ("CONFIGURE", "OUTPUT ${D}/b.c CONTENT x", Some("${D}/b.c")),
            ("GENERATE", "OUTPUT b.c CONTENT x", None),
            ("GENERATE", "CONTENT x", None),
            ("READ", "a.c TEXT", None),
        ] {
            assert_eq!(written(verb, &words(rest)), is, "{verb} {rest}");
        }
    }

    #[test]
    fn sources_are_told_from_what_the_build_makes() {
        for (path, is) in [
            ("${CMAKE_CURRENT_LIST_DIR}/app.c", true),
            ("tasks.cpp", true),
            ("${CMAKE_CURRENT_BINARY_DIR}/app.c", false),
            ("${CMAKE_CURRENT_SOURCE_DIR}/version.h", false),
            ("${CMAKE_SOURCE_DIR}/build/gen.c", false),
            ("notes.txt", false),
        ] {
            assert_eq!(is_source(path), is, "{path}");
        }
    }
}
