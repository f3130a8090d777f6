//! Reads the CMake lists of an ESP-IDF-shaped project: enough to know what to compile.
//!
//! Understands `project`, `idf_component_register`, `set`, `file(GLOB …)`, and a few commands that
//! change nothing here. Anything else is an error that names file and line, never a guess.

use std::collections::BTreeMap;

use super::options;
use crate::text::cmake::{self, CMakeCommand};

/// What is wrong with a list file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmakeError {
    /// Line, from 1.
    pub line: usize,
    /// The command it happened in; empty outside of one.
    pub command: String,
    /// What is wrong.
    pub message: String,
}

impl CmakeError {
    pub(super) fn new(command: &CMakeCommand, message: impl Into<String>) -> Self {
        Self { line: command.line, command: command.name.clone(), message: message.into() }
    }
}

fn parse(text: &str) -> Result<Vec<CMakeCommand>, CmakeError> {
    cmake::commands(text).map_err(|cmake::CmakeError { line, why }| CmakeError {
        line,
        command: String::new(),
        message: format!("Parse error: {why}"),
    })
}

/// What one component registers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Registration {
    /// Line of the command.
    pub line: usize,
    /// Source files as written, relative to the component.
    pub srcs: Vec<String>,
    /// Folders all of whose sources belong to it.
    pub src_dirs: Vec<String>,
    /// Source files left out of `src_dirs`.
    pub exclude_srcs: Vec<String>,
    /// Include folders that others see too.
    pub include_dirs: Vec<String>,
    /// Include folders for itself.
    pub priv_include_dirs: Vec<String>,
    /// Components it needs, also for those that use it.
    pub requires: Vec<String>,
    /// Components it needs for itself.
    pub priv_requires: Vec<String>,
    /// Options that only its own sources are compiled with.
    pub options: Vec<String>,
}

/// The project's name from its top list file.
///
/// # Errors
/// When the file is not that of an ESP-IDF project.
pub fn project_name(text: &str) -> Result<String, CmakeError> {
    let commands = parse(text)?;
    let includes_framework = commands.iter().any(|command| {
        command.name == "include"
            && command.args.iter().any(|arg| arg.text.ends_with("tools/cmake/project.cmake"))
    });
    let Some(project) = commands.iter().find(|command| command.name == "project") else {
        let message = "there is no `project(NAME)`";
        return Err(CmakeError { line: 1, command: String::new(), message: message.to_owned() });
    };
    let problem = |message: &str| CmakeError::new(project, message);
    if !includes_framework {
        return Err(problem(
            "`include($ENV{IDF_PATH}/tools/cmake/project.cmake)` must come before `project`",
        ));
    }
    let name = project.args.first().map(|arg| arg.text.as_str()).unwrap_or_default();
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_fine) {
        return Err(problem("the name of the project must be letters, digits, `_`, `-` or `.`"));
    }
    Ok(name.to_owned())
}

/// Finds the files that match a `file(GLOB …)` pattern relative to the component.
pub type Glob<'a> = &'a dyn Fn(&str, Recurse) -> Vec<String>;

/// Whether a pattern looks into folders below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recurse {
    /// Only where it says.
    No,
    /// Everywhere below too.
    Yes,
}

/// What the component with this list file registers; `None` when it registers nothing.
///
/// # Errors
/// When something in it is not understood.
pub fn registration(text: &str, glob: Glob<'_>) -> Result<Option<Registration>, CmakeError> {
    let mut variables = Variables::default();
    let mut found: Option<Registration> = None;
    let mut options = Vec::new();
    for command in parse(text)? {
        let args = variables.expand(&command)?;
        match command.name.as_str() {
            "set" => variables.set(&args),
            "list" => variables.append(&command, &args)?,
            "file" => variables.glob(&command, &args, glob)?,
            "idf_component_register" => found = Some(register(&command, args)?),
            name @ ("component_compile_options" | "target_compile_options") => {
                let before = usize::from(name == "target_compile_options");
                let taken = options::taken(args.into_iter().skip(before));
                options.extend(taken.map_err(|why| CmakeError::new(&command, why))?);
            }
            "target_compile_definitions" => {
                options.extend(args.iter().skip(2).map(|name| definition(name)));
            }
            // They change how things are compiled in ways that do not matter here.
            "cmake_minimum_required"
            | "target_compile_features"
            | "set_source_files_properties"
            | "message"
            | "include_guard" => {}
            other => {
                let message = format!(
                    "the virtual board does not support `{other}`; it supports \
                     idf_component_register, set, list(APPEND) and file(GLOB)"
                );
                return Err(CmakeError::new(&command, message));
            }
        }
    }
    Ok(found.map(|registration| Registration { options, ..registration }))
}

fn definition(name: &str) -> String {
    format!("-D{}", name.strip_prefix("-D").unwrap_or(name))
}

fn register(command: &CMakeCommand, args: Vec<String>) -> Result<Registration, CmakeError> {
    let mut registration = Registration { line: command.line, ..Registration::default() };
    let mut ignored = Vec::new();
    let mut section: Option<&mut Vec<String>> = None;
    for arg in args {
        section = Some(match arg.as_str() {
            "SRCS" => &mut registration.srcs,
            "SRC_DIRS" => &mut registration.src_dirs,
            "EXCLUDE_SRCS" => &mut registration.exclude_srcs,
            "INCLUDE_DIRS" => &mut registration.include_dirs,
            "PRIV_INCLUDE_DIRS" => &mut registration.priv_include_dirs,
            "REQUIRES" => &mut registration.requires,
            "PRIV_REQUIRES" => &mut registration.priv_requires,
            "WHOLE_ARCHIVE" | "KCONFIG" | "KCONFIG_PROJBUILD" | "REQUIRED_IDF_TARGETS" => {
                &mut ignored
            }
            "EMBED_FILES" | "EMBED_TXTFILES" | "LDFRAGMENTS" => {
                let message = format!("the virtual board does not have `{arg}`");
                return Err(CmakeError::new(command, message));
            }
            _ => match section {
                Some(section) => {
                    section.push(arg);
                    section
                }
                None => {
                    let message =
                        format!("`{arg}` comes before SRCS, INCLUDE_DIRS or another keyword");
                    return Err(CmakeError::new(command, message));
                }
            },
        });
    }
    Ok(registration)
}

/// Variables of one list file.
#[derive(Default)]
struct Variables(BTreeMap<String, Vec<String>>);

impl Variables {
    fn set(&mut self, args: &[String]) {
        if let Some((name, values)) = args.split_first() {
            let values = values.iter().take_while(|value| *value != "PARENT_SCOPE");
            self.0.insert(name.clone(), values.cloned().collect());
        }
    }

    fn append(&mut self, command: &CMakeCommand, args: &[String]) -> Result<(), CmakeError> {
        match args {
            [verb, name, values @ ..] if verb == "APPEND" => {
                self.0.entry(name.clone()).or_default().extend_from_slice(values);
                Ok(())
            }
            _ => Err(CmakeError::new(command, "only `list(APPEND NAME …)` is supported here")),
        }
    }

    fn glob(
        &mut self,
        command: &CMakeCommand,
        args: &[String],
        glob: Glob<'_>,
    ) -> Result<(), CmakeError> {
        let recurse = match args.first().map(String::as_str) {
            Some("GLOB") => Recurse::No,
            Some("GLOB_RECURSE") => Recurse::Yes,
            _ => return Err(CmakeError::new(command, "only `file(GLOB …)` is supported here")),
        };
        let Some(name) = args.get(1) else {
            return Err(CmakeError::new(command, "the name of a variable is missing"));
        };
        let mut patterns = args.iter().skip(2).filter(|arg| *arg != "CONFIGURE_DEPENDS").peekable();
        if patterns.peek().is_some_and(|arg| *arg == "RELATIVE") {
            patterns.nth(1);
        }
        let files = patterns.flat_map(|pattern| glob(pattern, recurse)).collect();
        self.0.insert(name.clone(), files);
        Ok(())
    }

    /// Arguments with variables replaced and lists split.
    fn expand(&self, command: &CMakeCommand) -> Result<Vec<String>, CmakeError> {
        let mut expanded = Vec::new();
        for argument in command.args.iter().filter(|argument| !argument.is_parenthesis()) {
            let text = self.replace(command, &argument.value())?;
            if argument.is_quoted {
                expanded.push(text);
            } else {
                expanded.extend(text.split(';').filter(|part| !part.is_empty()).map(str::to_owned));
            }
        }
        Ok(expanded)
    }

    fn replace(&self, command: &CMakeCommand, text: &str) -> Result<String, CmakeError> {
        let mut replaced = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            replaced.push_str(&rest[..start]);
            let Some(length) = rest[start..].find('}') else {
                return Err(CmakeError::new(command, "`${` is never closed"));
            };
            let name = &rest[start + 2..start + length];
            match (name, self.0.get(name)) {
                (_, Some(values)) => replaced.push_str(&values.join(";")),
                // Everything is relative to the component's own folder.
                ("CMAKE_CURRENT_SOURCE_DIR" | "CMAKE_CURRENT_LIST_DIR" | "COMPONENT_DIR", None) => {
                    replaced.push('.');
                }
                ("COMPONENT_LIB" | "COMPONENT_TARGET" | "COMPONENT_NAME", None) => {
                    replaced.push_str("component");
                }
                (_, None) => {
                    let message = format!("the variable `{name}` is not set here");
                    return Err(CmakeError::new(command, message));
                }
            }
            rest = &rest[start + length + 1..];
        }
        replaced.push_str(rest);
        if replaced.contains("$<") {
            return Err(CmakeError::new(command, "generator expressions are not supported here"));
        }
        Ok(replaced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(_: &str, _: Recurse) -> Vec<String> {
        Vec::new()
    }

    #[test]
    fn compile_options_of_a_component_are_kept() {
        let text = "idf_component_register(SRCS a.c)\n\
                    target_compile_options(${COMPONENT_LIB} PRIVATE -Wno-format)\n\
                    target_compile_definitions(${COMPONENT_LIB} PRIVATE A=1 -DB)";
        let found = registration(text, &none).unwrap().unwrap();
        assert_eq!(found.options, ["-Wno-format", "-DA=1", "-DB"]);
    }

    #[test]
    fn a_component_tells_its_sources_and_folders() {
        let text = "# comment\nset(srcs main.c \"src/a b.c\")\nlist(APPEND srcs src/c.c)\n\
                    idf_component_register(SRCS ${srcs}\n  INCLUDE_DIRS \".\" \"include\" # here\n  REQUIRES driver)";
        let found = registration(text, &none).unwrap().unwrap();
        assert_eq!(found.srcs, ["main.c", "src/a b.c", "src/c.c"]);
        assert_eq!(found.include_dirs, [".", "include"]);
        assert_eq!(found.requires, ["driver"]);
        assert_eq!(found.line, 4);
    }

    #[test]
    fn a_glob_is_looked_up_in_the_component() {
        let text = "file(GLOB_RECURSE all CONFIGURE_DEPENDS \"${CMAKE_CURRENT_SOURCE_DIR}/src/*.c\")\n\
                    idf_component_register(SRCS ${all})";
        let glob = |pattern: &str, recurse: Recurse| {
            assert_eq!((pattern, recurse), ("./src/*.c", Recurse::Yes));
            vec!["src/x.c".to_owned()]
        };
        assert_eq!(registration(text, &glob).unwrap().unwrap().srcs, ["src/x.c"]);
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_line() {
        for (text, line, word) in [
            ("\nif(FOO)\nendif()", 2, "`if`"),
            ("idf_component_register(SRCS ${nope})", 1, "nope"),
            ("idf_component_register(main.c)", 1, "main.c"),
            ("idf_component_register(SRCS \"main.c)", 1, "quote"),
            ("\n\nidf_component_register(SRCS main.c", 3, "never closed"),
            ("idf_component_register(SRCS a.c EMBED_FILES x)", 1, "EMBED_FILES"),
            ("\ncomponent_compile_options(-B./bin)", 2, "`-B./bin`"),
        ] {
            let error = registration(text, &none).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error:?}");
            assert!(error.message.contains(word), "{text}: {error:?}");
        }
    }

    #[test]
    fn a_project_needs_the_framework_and_a_name() {
        let include = "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\n";
        assert_eq!(project_name(&format!("{include}project(i2c-scan)")).unwrap(), "i2c-scan");
        assert!(project_name("project(x)").is_err());
        assert!(project_name(include).is_err());
        assert!(project_name(&format!("{include}project(../x)")).is_err());
    }
}
