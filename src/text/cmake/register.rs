//! Adds a source to what a list builds.

use super::sources::{Named, is_path, named, plain, section, variable};
use super::{Argument, CMakeCommand, CmakeError, commands};
use crate::text::lines::{Newline, line_at};

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
    let target = TargetCommand::find(&commands)?;
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
    let target = TargetCommand::find(&commands)?;
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
    let line = line_at(&new, at + breaks);
    Ok(Registered::With { text: new, line })
}

/// The command that says what is built.
struct TargetCommand<'a> {
    command: &'a CMakeCommand,
    kind: TargetKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TargetKind {
    /// `idf_component_register`.
    Component,
    /// `register_component`, with the sources in `COMPONENT_SRCS`.
    OldComponent,
    /// `target_sources`, `add_executable` or `add_library`: sources at the end.
    Plain,
}

impl<'a> TargetCommand<'a> {
    fn find(commands: &'a [CMakeCommand]) -> Result<Self, CmakeError> {
        let of = |names: &[&str]| -> Vec<&'a CMakeCommand> {
            commands.iter().filter(|c| names.contains(&c.name.as_str())).collect()
        };
        let kinds = [
            (of(&["idf_component_register"]), TargetKind::Component),
            (of(&["register_component"]), TargetKind::OldComponent),
            (of(&["target_sources", "add_executable", "add_library"]), TargetKind::Plain),
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
            TargetKind::Component => section(self.command, "SRCS"),
            TargetKind::OldComponent => None,
            TargetKind::Plain => Some((1..self.command.args.len()).collect()),
        }
    }

    fn words(&self, indices: &[usize]) -> Vec<&'a str> {
        let args = &self.command.args;
        indices.iter().filter_map(|&index| args.get(index)).map(|arg| arg.text.as_str()).collect()
    }

    fn names(&self, source: &str, commands: &[CMakeCommand]) -> Named {
        if self.kind == TargetKind::OldComponent {
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

    fn excludes(&self, source: &str, commands: &[CMakeCommand]) -> bool {
        let excluded = section(self.command, "EXCLUDE_SRCS").unwrap_or_default();
        named(self.words(&excluded), source, commands) != Named::No
    }

    /// Where something goes, and what.
    fn place(
        &self,
        text: &str,
        source: &str,
        commands: &[CMakeCommand],
        others: &dyn Fn(&str) -> Vec<String>,
    ) -> Result<(usize, String), CmakeError> {
        let line = self.command.line;
        if self.kind == TargetKind::OldComponent {
            let set = only_set("COMPONENT_SRCS", commands);
            let set =
                set.ok_or_else(|| CmakeError::new(line, "`COMPONENT_SRCS` is not set once"))?;
            return Ok(behind_last(text, set, 1, source));
        }
        if self.kind == TargetKind::Plain && self.command.args.is_empty() {
            return Err(CmakeError::new(line, format!("`{}` names no target", self.command.name)));
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
        commands: &[CMakeCommand],
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
                    .find(|arg| arg.text == "SRCS" || self.kind == TargetKind::Plain);
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
            let why = format!("a keyword is expected instead of `{}`", first.text);
            return Err(CmakeError::new(self.command.line, why));
        }
        let gap = text.get(start..first.range.start).unwrap_or_default();
        // With a comment in between, a blank will do.
        let gap = if gap.trim().is_empty() && !gap.is_empty() { gap } else { " " };
        Ok((first.range.start, format!("SRCS \"{source}\"{gap}")))
    }
}

/// The one unconditional `set(NAME …)` of plain paths; `None` when it is not that simple.
fn only_set<'a>(name: &str, commands: &'a [CMakeCommand]) -> Option<&'a CMakeCommand> {
    let is_of = |command: &&CMakeCommand, at: usize| {
        command.args.get(at).is_some_and(|arg| arg.text == name)
    };
    let mut sets = commands.iter().filter(|c| c.name == "set" && is_of(c, 0));
    let globs = commands.iter().any(|c| c.name == "file" && is_of(&c, 1));
    let set = sets.next().filter(|set| set.depth == 0 && !globs)?;
    let is_plain = sets.next().is_none()
        && set.args.iter().all(|arg| !matches!(arg.text.as_str(), "CACHE" | "PARENT_SCOPE"));
    is_plain.then_some(set)
}

/// Behind the last path of a command's arguments from `first` on, or behind all of them.
fn behind_last(text: &str, command: &CMakeCommand, first: usize, source: &str) -> (usize, String) {
    let values = command.args.get(first..).unwrap_or_default();
    let path = values.iter().rev().find(|arg| is_path(&arg.text));
    match path.or(command.args.last()) {
        Some(anchor) => behind(text, command, anchor, source),
        None => (command.inside.start, format!("\"{source}\"")),
    }
}

/// Behind an argument, written as it is: on its own line if that is, in quotes if that is.
pub(super) fn behind(
    text: &str,
    command: &CMakeCommand,
    anchor: &Argument,
    source: &str,
) -> (usize, String) {
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
#[path = "register_tests.rs"]
mod tests;
