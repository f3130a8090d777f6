//! Which sources a list builds, as far as its text tells.

use globset::GlobBuilder;

use super::CMakeCommand;

/// Keywords of `idf_component_register`.
pub(super) const KEYWORDS: [&str; 13] = [
    "SRCS",
    "SRC_DIRS",
    "EXCLUDE_SRCS",
    "INCLUDE_DIRS",
    "PRIV_INCLUDE_DIRS",
    "REQUIRES",
    "PRIV_REQUIRES",
    "LDFRAGMENTS",
    "REQUIRED_IDF_TARGETS",
    "EMBED_FILES",
    "EMBED_TXTFILES",
    "KCONFIG",
    "KCONFIG_PROJBUILD",
];

/// Folders that stand for the one the list lies in.
const HERE: [&str; 4] =
    ["${CMAKE_CURRENT_SOURCE_DIR}/", "${CMAKE_CURRENT_LIST_DIR}/", "${COMPONENT_DIR}/", "./"];

/// How a list names a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// It does not.
    No,
    /// By its path.
    ByPath,
    /// By a pattern of `file(GLOB …)`.
    ByGlob,
}

impl Named {
    fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self == Self::No { other() } else { self }
    }
}

/// A path without what stands for the list's own folder.
pub(super) fn plain(text: &str) -> &str {
    let mut text = text;
    while let Some(rest) = HERE.iter().find_map(|here| text.strip_prefix(here)) {
        text = rest;
    }
    text
}

/// Whether an argument is the path of a source, with nothing to be replaced in it.
pub(super) fn is_path(text: &str) -> bool {
    let text = plain(text);
    !text.contains(['$', ';', '*']) && text.contains('.') && !text.starts_with('-')
}

/// The arguments of one section, by index: those after `keyword` up to the next keyword.
pub(super) fn section(command: &CMakeCommand, keyword: &str) -> Option<Vec<usize>> {
    let start = command.args.iter().position(|arg| !arg.is_quoted && arg.text == keyword)?;
    let rest = command.args.iter().enumerate().skip(start + 1);
    let is_keyword = |text: &str| KEYWORDS.contains(&text) || text == "WHOLE_ARCHIVE";
    Some(
        rest.take_while(|(_, arg)| arg.is_quoted || !is_keyword(&arg.text))
            .map(|(i, _)| i)
            .collect(),
    )
}

/// Whether words of a list name `source`, variables followed.
pub(super) fn named<'a>(
    words: impl IntoIterator<Item = &'a str>,
    source: &str,
    commands: &[CMakeCommand],
) -> Named {
    // Variables may name one another in a circle.
    follow(words, source, commands, 8)
}

fn follow<'a>(
    words: impl IntoIterator<Item = &'a str>,
    source: &str,
    commands: &[CMakeCommand],
    depth: usize,
) -> Named {
    let mut found = Named::No;
    for word in words.into_iter().flat_map(|word| word.split(';')) {
        found = found.or(|| match variable(word) {
            Some(name) if depth > 0 => of_variable(name, source, commands, depth - 1),
            Some(_) => Named::No,
            None if plain(word) == source => Named::ByPath,
            None => Named::No,
        });
    }
    found
}

/// The name in a word that is nothing but `${NAME}`.
pub(super) fn variable(word: &str) -> Option<&str> {
    let name = word.strip_prefix("${")?.strip_suffix('}')?;
    (!name.contains(['$', '{', '}'])).then_some(name)
}

fn of_variable(name: &str, source: &str, commands: &[CMakeCommand], depth: usize) -> Named {
    let mut found = Named::No;
    for command in commands {
        let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
        found = found.or(|| match (command.name.as_str(), words.as_slice()) {
            ("set", [set, values @ ..]) if *set == name => {
                follow(values.iter().copied(), source, commands, depth)
            }
            ("list", ["APPEND" | "PREPEND", list, values @ ..]) if *list == name => {
                follow(values.iter().copied(), source, commands, depth)
            }
            ("file", [kind @ ("GLOB" | "GLOB_RECURSE"), list, patterns @ ..]) if *list == name => {
                match patterns.iter().any(|pattern| takes(kind, plain(pattern), source)) {
                    true => Named::ByGlob,
                    false => Named::No,
                }
            }
            _ => Named::No,
        });
    }
    found
}

/// Whether a pattern takes a path; one of `GLOB_RECURSE` also looks below its folder.
pub(super) fn takes(kind: &str, pattern: &str, source: &str) -> bool {
    let mut parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    if kind == "GLOB_RECURSE" {
        parts.insert(parts.len().saturating_sub(1), "**");
    }
    let glob = GlobBuilder::new(&parts.join("/")).literal_separator(true).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(source))
}
