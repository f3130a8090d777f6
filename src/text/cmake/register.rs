//! Adds a source to what a list builds.

use super::sources::{Named, is_path, named, plain, section, variable};
use super::{Argument, CmakeError, Command, commands};
use crate::text::lines::Newline;

/// What a list says about a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registered {
    /// It builds it already.
    Already {
        /// Whether a `file(GLOB …)` takes it, which CMake looks at when it configures anew.
        by_glob: bool,
    },
    /// It does when it has this text.
    With {
        /// The whole new text.
        text: String,
        /// The line that was added or changed, from 1.
        line: usize,
    },
}

/// Whether a list builds `source`, a path relative to the list's folder.
///
/// # Errors
/// As [`commands`], and when the list builds nothing that is understood.
pub fn builds(text: &str, source: &str) -> Result<bool, CmakeError> {
    let commands = commands(text)?;
    let target = Target::find(&commands)?;
    Ok(target.names(source, &commands) != Named::No)
}

/// Adds `source`, a path relative to the list's folder, to what the list builds. `others` gives
/// the compiled sources that lie in a folder already; it is asked for lists by whole folders.
///
/// # Errors
/// As [`builds`], or when the source cannot be added without changing what else is built.
pub fn register(
    text: &str,
    source: &str,
    others: &dyn Fn(&str) -> Vec<String>,
) -> Result<Registered, CmakeError> {
    let commands = commands(text)?;
    let target = Target::find(&commands)?;
    match target.names(source, &commands) {
        Named::ByPath => return Ok(Registered::Already { by_glob: false }),
        Named::ByGlob => return Ok(Registered::Already { by_glob: true }),
        Named::No => {}
    }
    if source.contains(['"', '$', ';', '\\']) {
        return Err(CmakeError::new(target.command.line, "the name needs escapes in CMake"));
    }
    let (at, added) = target.place(text, source, &commands, others)?;
    let mut new = String::with_capacity(text.len() + added.len());
    new.push_str(text.get(..at).unwrap_or_default());
    new.push_str(&added);
    new.push_str(text.get(at..).unwrap_or_default());
    let breaks = added.len() - added.trim_start_matches(['\r', '\n']).len();
    let before = new.get(..at + breaks).unwrap_or_default();
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    Ok(Registered::With { text: new, line })
}

/// The command that says what is built.
struct Target<'a> {
    command: &'a Command,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `idf_component_register`.
    Component,
    /// `register_component`, with the sources in `COMPONENT_SRCS`.
    OldComponent,
    /// `target_sources`, `add_executable` or `add_library`: sources at the end.
    Plain,
}

impl<'a> Target<'a> {
    fn find(commands: &'a [Command]) -> Result<Self, CmakeError> {
        let of = |names: &[&str]| -> Vec<&'a Command> {
            commands.iter().filter(|c| names.contains(&c.name.as_str())).collect()
        };
        let kinds = [
            (of(&["idf_component_register"]), Kind::Component),
            (of(&["register_component"]), Kind::OldComponent),
            (of(&["target_sources", "add_executable", "add_library"]), Kind::Plain),
        ];
        for (found, kind) in kinds {
            match found.as_slice() {
                [] => {}
                [command] if command.depth == 0 => return Ok(Self { command, kind }),
                [command] => {
                    let why = format!("`{}` stands in a condition, loop or function", command.name);
                    return Err(CmakeError::new(command.line, why));
                }
                [_, second, ..] => {
                    let why = format!("`{}` is there {} times", second.name, found.len());
                    return Err(CmakeError::new(second.line, why));
                }
            }
        }
        Err(CmakeError::new(1, "no `idf_component_register` says what is built"))
    }

    /// The arguments that name sources, by index.
    fn sources(&self) -> Option<Vec<usize>> {
        match self.kind {
            Kind::Component => section(self.command, "SRCS"),
            Kind::OldComponent => None,
            Kind::Plain => Some((1..self.command.args.len()).collect()),
        }
    }

    fn words(&self, indices: &[usize]) -> Vec<&'a str> {
        let args = &self.command.args;
        indices.iter().filter_map(|&index| args.get(index)).map(|arg| arg.text.as_str()).collect()
    }

    fn names(&self, source: &str, commands: &[Command]) -> Named {
        if self.kind == Kind::OldComponent {
            return named(["${COMPONENT_SRCS}"], source, commands);
        }
        if let Some(indices) = self.sources() {
            return named(self.words(&indices), source, commands);
        }
        let Some(folders) = section(self.command, "SRC_DIRS") else { return Named::No };
        let folder = folder_of(source);
        let is_listed = self.words(&folders).iter().any(|word| same_folder(word, folder));
        match is_listed && !self.excludes(source, commands) {
            true => Named::ByPath,
            false => Named::No,
        }
    }

    fn excludes(&self, source: &str, commands: &[Command]) -> bool {
        let excluded = section(self.command, "EXCLUDE_SRCS").unwrap_or_default();
        named(self.words(&excluded), source, commands) != Named::No
    }

    /// Where something goes, and what.
    fn place(
        &self,
        text: &str,
        source: &str,
        commands: &[Command],
        others: &dyn Fn(&str) -> Vec<String>,
    ) -> Result<(usize, String), CmakeError> {
        let line = self.command.line;
        if self.kind == Kind::OldComponent {
            let set = only_set("COMPONENT_SRCS", commands);
            let set =
                set.ok_or_else(|| CmakeError::new(line, "`COMPONENT_SRCS` is not set once"))?;
            return Ok(behind_last(text, set, 1, source));
        }
        if let Some(indices) = self.sources() {
            return Ok(self.among_sources(text, source, &indices, commands));
        }
        if self.excludes(source, commands) {
            return Err(CmakeError::new(line, format!("`EXCLUDE_SRCS` leaves `{source}` out")));
        }
        if let Some(folders) = section(self.command, "SRC_DIRS") {
            let folder = folder_of(source);
            let there = others(folder);
            if !there.is_empty() {
                let why = format!(
                    "it builds whole folders (SRC_DIRS), and `{folder}` holds sources that it \
                     leaves out now: {}",
                    there.join(", ")
                );
                return Err(CmakeError::new(line, why));
            }
            let last = folders.last().and_then(|&index| self.command.args.get(index));
            let anchor = last.ok_or_else(|| CmakeError::new(line, "`SRC_DIRS` is empty"))?;
            return Ok(behind(text, self.command, anchor, folder));
        }
        self.first_source(text, source)
    }

    fn among_sources(
        &self,
        text: &str,
        source: &str,
        indices: &[usize],
        commands: &[Command],
    ) -> (usize, String) {
        let args: Vec<&Argument> =
            indices.iter().filter_map(|&index| self.command.args.get(index)).collect();
        if let Some(anchor) = args.iter().rev().find(|arg| is_path(&arg.text)) {
            return behind(text, self.command, anchor, source);
        }
        // All sources in one variable that is set once: then it belongs there.
        if let [only] = args.as_slice()
            && let Some(name) = variable(&only.text)
            && let Some(set) = only_set(name, commands)
        {
            return behind_last(text, set, 1, source);
        }
        match args.last() {
            Some(anchor) => behind(text, self.command, anchor, source),
            None => {
                let keyword = self
                    .command
                    .args
                    .iter()
                    .find(|arg| arg.text == "SRCS" || self.kind == Kind::Plain);
                let at = keyword.map_or(self.command.inside.start, |arg| arg.range.end);
                (at, format!(" \"{source}\""))
            }
        }
    }

    /// A component without sources so far.
    fn first_source(&self, text: &str, source: &str) -> Result<(usize, String), CmakeError> {
        let start = self.command.inside.start;
        let Some(first) = self.command.args.first() else {
            return Ok((start, format!("SRCS \"{source}\"")));
        };
        if !super::sources::KEYWORDS.contains(&first.text.as_str()) {
            let why = format!("`{}` stands where a keyword is expected", first.text);
            return Err(CmakeError::new(self.command.line, why));
        }
        let gap = text.get(start..first.range.start).unwrap_or_default();
        // With a comment in between, a blank will do.
        let gap = if gap.trim().is_empty() && !gap.is_empty() { gap } else { " " };
        Ok((first.range.start, format!("SRCS \"{source}\"{gap}")))
    }
}

/// The one unconditional `set(NAME …)` of plain paths; `None` when it is not that simple.
fn only_set<'a>(name: &str, commands: &'a [Command]) -> Option<&'a Command> {
    let is_of =
        |command: &&Command, at: usize| command.args.get(at).is_some_and(|arg| arg.text == name);
    let mut sets = commands.iter().filter(|c| c.name == "set" && is_of(c, 0));
    let globs = commands.iter().any(|c| c.name == "file" && is_of(&c, 1));
    let set = sets.next().filter(|set| set.depth == 0 && !globs)?;
    let is_plain = sets.next().is_none()
        && set.args.iter().all(|arg| !matches!(arg.text.as_str(), "CACHE" | "PARENT_SCOPE"));
    is_plain.then_some(set)
}

/// Behind the last path of a command's arguments from `first` on, or behind all of them.
fn behind_last(text: &str, command: &Command, first: usize, source: &str) -> (usize, String) {
    let values = command.args.get(first..).unwrap_or_default();
    let path = values.iter().rev().find(|arg| is_path(&arg.text));
    match path.or(command.args.last()) {
        Some(anchor) => behind(text, command, anchor, source),
        None => (command.inside.start, format!("\"{source}\"")),
    }
}

/// Behind an argument, written as it is: on its own line if that is, in quotes if that is.
fn behind(text: &str, command: &Command, anchor: &Argument, source: &str) -> (usize, String) {
    let is_plain_word = source.chars().all(|c| c.is_ascii_alphanumeric() || "._-/+".contains(c));
    let is_bare = is_path(&anchor.text) && !anchor.is_quoted && is_plain_word;
    let word = if is_bare { source.to_owned() } else { format!("\"{source}\"") };
    let before = text.get(..anchor.range.start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let indent = before.get(line_start..).unwrap_or_default();
    let at = anchor.range.end;
    if !indent.trim().is_empty() || line_start < command.inside.start {
        return (at, format!(" {word}"));
    }
    // A comment behind the argument belongs to it and stays there.
    let tail = text.get(at..).unwrap_or_default().lines().next().unwrap_or_default();
    let at = match tail.trim_start().starts_with('#') && !tail.trim_start().starts_with("#[") {
        true => at + tail.trim_end().len(),
        false => at,
    };
    (at, format!("{}{indent}{word}", Newline::of(text)))
}

fn folder_of(source: &str) -> &str {
    source.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

fn same_folder(word: &str, folder: &str) -> bool {
    let word = plain(word).trim_end_matches('/');
    let here =
        ["", ".", "${CMAKE_CURRENT_SOURCE_DIR}", "${CMAKE_CURRENT_LIST_DIR}", "${COMPONENT_DIR}"];
    word == folder || (folder == "." && here.contains(&word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn none(_: &str) -> Vec<String> {
        Vec::new()
    }

    fn with(text: &str, source: &str) -> String {
        match register(text, source, &none) {
            Ok(Registered::With { text, .. }) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_source_is_added_in_the_style_of_the_list() {
        for (before, after) in [
            (
                "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \".\")\n",
                "idf_component_register(SRCS \"main.c\" \"src/n.c\" INCLUDE_DIRS \".\")\n",
            ),
            (
                "idf_component_register(\n    SRCS\n        main.c # first\n        src/a.c # last\n    REQUIRES driver\n)\n",
                "idf_component_register(\n    SRCS\n        main.c # first\n        src/a.c # last\n        src/n.c\n    REQUIRES driver\n)\n",
            ),
            (
                "idf_component_register(SRCS \"a.c\"\r\n                            \"b.c\"\r\n    INCLUDE_DIRS \".\")\r\n",
                "idf_component_register(SRCS \"a.c\"\r\n                            \"b.c\"\r\n                            \"src/n.c\"\r\n    INCLUDE_DIRS \".\")\r\n",
            ),
            (
                "# Sources.\nset(srcs\n    \"a.c\"\n    \"b.c\")\nif(CONFIG_X)\n    list(APPEND srcs \"x.c\")\nendif()\nidf_component_register(SRCS ${srcs} REQUIRES $<$<BOOL:${X}>:y>)\n",
                "# Sources.\nset(srcs\n    \"a.c\"\n    \"b.c\"\n    \"src/n.c\")\nif(CONFIG_X)\n    list(APPEND srcs \"x.c\")\nendif()\nidf_component_register(SRCS ${srcs} REQUIRES $<$<BOOL:${X}>:y>)\n",
            ),
            (
                "file(GLOB srcs \"lib/*.c\")\nidf_component_register(SRCS ${srcs} INCLUDE_DIRS \".\")\n",
                "file(GLOB srcs \"lib/*.c\")\nidf_component_register(SRCS ${srcs} \"src/n.c\" INCLUDE_DIRS \".\")\n",
            ),
            (
                "idf_component_register(SRCS $<$<CONFIG:Debug>:dbg.c>)",
                "idf_component_register(SRCS $<$<CONFIG:Debug>:dbg.c> \"src/n.c\")",
            ),
            (
                "idf_component_register(INCLUDE_DIRS \"include\")\n",
                "idf_component_register(SRCS \"src/n.c\" INCLUDE_DIRS \"include\")\n",
            ),
            (
                "idf_component_register(\n    INCLUDE_DIRS \"include\"\n)\n",
                "idf_component_register(\n    SRCS \"src/n.c\"\n    INCLUDE_DIRS \"include\"\n)\n",
            ),
            ("idf_component_register()", "idf_component_register(SRCS \"src/n.c\")"),
            (
                "idf_component_register(SRC_DIRS \".\" \"lib\" INCLUDE_DIRS \".\")",
                "idf_component_register(SRC_DIRS \".\" \"lib\" \"src\" INCLUDE_DIRS \".\")",
            ),
            (
                "set(COMPONENT_SRCS \"a.c\")\nregister_component()\n",
                "set(COMPONENT_SRCS \"a.c\" \"src/n.c\")\nregister_component()\n",
            ),
            (
                "target_sources(${COMPONENT_LIB} PRIVATE a.c)\n",
                "target_sources(${COMPONENT_LIB} PRIVATE a.c src/n.c)\n",
            ),
            ("add_executable(host main.c)", "add_executable(host main.c src/n.c)"),
        ] {
            assert_eq!(with(before, "src/n.c"), after, "{before}");
            let again = register(after, "src/n.c", &none);
            assert_eq!(again, Ok(Registered::Already { by_glob: false }), "{after}");
        }
    }

    #[test]
    fn the_changed_line_is_told() {
        let text = "set(srcs\n    a.c\n)\nidf_component_register(SRCS ${srcs})";
        let Ok(Registered::With { line, .. }) = register(text, "n.c", &none) else { panic!() };
        assert_eq!(line, 3);
    }

    #[test]
    fn what_is_built_already_is_left_alone() {
        for (text, expected) in [
            ("idf_component_register(SRCS \"${CMAKE_CURRENT_SOURCE_DIR}/src/n.c\")", Some(false)),
            ("set(s a.c;./src/n.c)\nidf_component_register(SRCS \"${s}\")", Some(false)),
            ("set(a ${b})\nset(b ${a} src/n.c)\nidf_component_register(SRCS ${a})", Some(false)),
            (
                "file(GLOB_RECURSE s CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)\nidf_component_register(SRCS ${s})",
                Some(true),
            ),
            ("file(GLOB s src/*.c)\nidf_component_register(SRCS ${s})", Some(true)),
            ("file(GLOB s *.c */*.cpp)\nidf_component_register(SRCS ${s})", None),
            ("file(GLOB s src/*.c)\nidf_component_register(SRCS a.c)", None),
            ("idf_component_register(SRC_DIRS src)", Some(false)),
            ("idf_component_register(SRCS a.c INCLUDE_DIRS src/n.c)", None),
            ("# src/n.c\nidf_component_register(SRCS a.c #[[ src/n.c ]])", None),
        ] {
            let found =
                match register(text, "src/n.c", &none).unwrap_or_else(|e| panic!("{text}: {e}")) {
                    Registered::Already { by_glob } => Some(by_glob),
                    Registered::With { .. } => None,
                };
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_told_with_its_line() {
        let crowded = |_: &str| vec!["src/old.c".to_owned()];
        for (text, line, words) in [
            ("if(X)\nidf_component_register(SRCS a.c)\nendif()", 2, "condition"),
            (
                "if(X)\nidf_component_register(SRCS a.c)\nelse()\nidf_component_register(SRCS b.c)\nendif()",
                4,
                "2 times",
            ),
            ("my_component(a.c)", 1, "no `idf_component_register`"),
            ("\nidf_component_register(${args})", 2, "`${args}`"),
            ("idf_component_register(SRC_DIRS .)", 1, "src/old.c"),
            ("idf_component_register(SRC_DIRS src EXCLUDE_SRCS src/n.c)", 1, "EXCLUDE_SRCS"),
            ("idf_component_register(SRCS \"a.c)", 1, "quote"),
            ("\n\nidf_component_register(SRCS a.c", 3, "never closed"),
            ("idf_component_register(SRCS a.c)\n}", 2, "something else"),
            (
                "set(COMPONENT_SRCS a.c)\nset(COMPONENT_SRCS b.c)\nregister_component()",
                3,
                "COMPONENT_SRCS",
            ),
        ] {
            let error = register(text, "src/n.c", &crowded).unwrap_err();
            assert!(error.why.contains(words), "{text}: {error}");
            assert_eq!(error.line, line, "{text}: {error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn only_one_word_is_added(
            names in proptest::collection::vec("[a-d]{1,3}", 0..6), is_quoted in any::<bool>(),
            gap in prop_oneof![Just(" "), Just("\n    "), Just("\r\n\t"), Just(" # é ) \"\n  "), Just("\n#[[ x\n]] ")],
            shape in 0_usize..4
        ) {
            let quote = if is_quoted { "\"" } else { "" };
            let list: String = names.iter().map(|name| format!("{gap}{quote}{name}.c{quote}")).collect();
            let text = match shape {
                0 => format!("idf_component_register(SRCS{list}{gap}INCLUDE_DIRS{gap}.)\n"),
                1 => format!("set(all{list}\n)\nidf_component_register(SRCS ${{all}})"),
                2 => format!("idf_component_register(INCLUDE_DIRS .{gap}SRCS{list}\n)"),
                _ => format!("add_executable(x{list}\n)"),
            };
            let new = with(&text, "src/new.c");
            prop_assert!(builds(&new, "src/new.c").unwrap());
            for name in &names {
                prop_assert!(builds(&new, &format!("{name}.c")).unwrap(), "{}", new);
            }
            // The old text is the new one without one word and the blanks before it.
            let common = text.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
            let tail = text.len() - common;
            prop_assert!(new.ends_with(&text[text.len() - tail..]), "{}", new);
            let added = &new.as_bytes()[common..new.len() - tail];
            let added = String::from_utf8_lossy(added);
            prop_assert_eq!(added.matches("src/new.c").count(), 1, "{}", new);
            prop_assert!(added.replace("src/new.c", "").trim().trim_matches('"').trim().is_empty(), "{}", added);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "(idf_component_register\\(|set\\(|SRCS |[a-c.\"#()\\[\\]=${};\\\\ \né]){0,40}") {
            let _ = register(&text, "a.c", &none);
        }
    }
}
