//! Lines that make something run or be fetched, file by file: the rules of `assets/findings/host.toml`.
//!
//! Owns the reading of the rules and which file they are for. Must not hold a rule itself.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex, RegexBuilder};
use serde::Deserialize;

use super::commands;
use super::host_code_place::{HostCode, HostDeed};
use super::network_use;
use super::plain_values;
use super::source::SourceText;
use crate::model::FindingLevel;
use crate::text::shipped::shipped_table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    rule: Vec<HostRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostRule {
    files: Vec<String>,
    /// Folders of which one must be in the path.
    #[serde(default)]
    only: Vec<String>,
    pattern: String,
    #[serde(default)]
    skip: Option<String>,
    /// What must not stand before the match in its line.
    #[serde(default)]
    not_after: Option<String>,
    #[serde(default)]
    kind: RuleKind,
    /// Group 1 begins an argument of a call, and no more than that is told.
    #[serde(default)]
    argument: bool,
    #[serde(default)]
    when: String,
    level: FindingLevel,
    #[serde(default)]
    text: String,
    /// Only one place of a file is told: the first that is new, or the first.
    #[serde(default)]
    once: bool,
    /// Compiled when a file is first looked at.
    #[serde(skip)]
    compiled: OnceLock<Option<CompiledRules>>,
}

/// What group 1 of a rule is, which says how it is judged.
#[derive(Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RuleKind {
    /// Something with a sentence of its own.
    #[default]
    Other,
    /// A command on the machine itself.
    Command,
    /// A command in a container.
    ContainerCommand,
    /// The hosts that the file names say how much it matters.
    Network,
    /// An address from which code comes.
    Fetch,
    /// Something that is done to files of the developer.
    Files,
}

impl RuleKind {
    const fn is_command(self) -> bool {
        matches!(self, Self::Command | Self::ContainerCommand)
    }
}

struct CompiledRules {
    pattern: Regex,
    skip: Option<Regex>,
    not_after: Option<Regex>,
}

static RULES: LazyLock<Option<Rules>> =
    LazyLock::new(|| shipped_table(include_str!("../../../assets/findings/host.toml")));

/// What the rules find in a file.
pub(super) fn find(source: &SourceText<'_>) -> Vec<HostCode> {
    let mut found = Vec::new();
    let Some(rules) = RULES.as_ref() else { return found };
    for rule in rules.rule.iter().filter(|rule| rule.is_for(source.path.as_str())) {
        let Some(compiled) = rule.compiled() else { continue };
        let code = source.code();
        let mut all = compiled
            .pattern
            .captures_iter(code)
            .filter_map(|captures| rule.apply(compiled, code, &captures));
        if !rule.once {
            found.extend(all);
        } else if let Some(first) = all.next() {
            let is_new = |found: &HostCode| source.is_new(&found.range);
            let new = match is_new(&first) {
                true => None,
                false => all.find(is_new),
            };
            found.push(new.unwrap_or(first));
        }
    }
    found
}

impl HostRule {
    fn is_for(&self, path: &str) -> bool {
        self.files.iter().any(|pattern| is_for(pattern, path))
            && (self.only.is_empty() || self.only.iter().any(|folder| is_for(folder, path)))
    }

    fn compiled(&self) -> Option<&CompiledRules> {
        let build = || {
            let regex = |text: &str| RegexBuilder::new(text).multi_line(true).build().ok();
            let optional = |text: &Option<String>| match text {
                Some(text) => regex(text).map(Some),
                None => Some(None),
            };
            let (skip, not_after) = (optional(&self.skip)?, optional(&self.not_after)?);
            Some(CompiledRules { pattern: regex(&self.pattern)?, skip, not_after })
        };
        self.compiled.get_or_init(build).as_ref()
    }

    fn apply(
        &self,
        compiled: &CompiledRules,
        code: &str,
        captures: &Captures<'_>,
    ) -> Option<HostCode> {
        let group = captures.iter().skip(1).flatten().next()?;
        let is_open = |text: &str| text.matches('[').count() > text.matches(']').count();
        let whole = match self.argument && is_open(group.as_str()) {
            true => code.get(group.start()..).map_or(group.as_str(), whole_list),
            false => group.as_str(),
        };
        let part = if self.argument { argument(whole) } else { whole };
        if part.trim().is_empty() || compiled.skip.as_ref().is_some_and(|skip| skip.is_match(part))
        {
            return None;
        }
        let before = code.get(..group.start())?.rsplit('\n').next().unwrap_or_default();
        if compiled.not_after.as_ref().is_some_and(|pattern| pattern.is_match(before)) {
            return None;
        }
        let range: Range<usize> = group.range();
        if self.kind.is_command() {
            // A line that ends with a backslash goes on.
            let unescaped = |text: &str| text.replace("\\\n", " ").replace("\\\"", "\"");
            let (command, written) = (unescaped(part), unescaped(whole));
            let judged = match self.kind {
                RuleKind::ContainerCommand => commands::judge_in_container(&written),
                // What is deleted counts by its name.
                _ if written.contains("rm ") => {
                    commands::judge(&plain_values::of_make(&written, code))
                }
                _ => commands::judge(&written),
            };
            let level = self.level.max(judged);
            return Some(HostCode::runs(range, level, (&command, &self.when)));
        }
        if self.kind == RuleKind::Network {
            let (level, text) = network_use::of(code, whole);
            return Some(HostCode::new(range, (level, text), HostDeed::Talks));
        }
        let host = commands::host(whole).unwrap_or_else(|| "another place".to_owned());
        let text = self.text.replace("{1}", &commands::shown(part)).replace("{host}", &host);
        let deed = match self.kind {
            RuleKind::Fetch => HostDeed::Fetches,
            RuleKind::Files => HostDeed::TouchesFiles,
            _ if self.text.contains("{1}") => HostDeed::Does(part.to_owned()),
            _ => HostDeed::Other,
        };
        Some(HostCode::new(range, (self.level, text), deed))
    }
}

/// The first line of a text, and the next ones as long as a list that it opens is not closed.
fn whole_list(text: &str) -> &str {
    const MOST_LINES: usize = 8;
    let mut end = 0;
    for line in text.split_inclusive('\n').take(MOST_LINES) {
        end += line.len();
        let so_far = text.get(..end).unwrap_or_default();
        if so_far.matches('[').count() <= so_far.matches(']').count() {
            break;
        }
    }
    text.get(..end).unwrap_or(text).trim_end()
}

/// The first argument in a line of code: up to its comma, or to what closes the call.
fn argument(text: &str) -> &str {
    let (mut depth, mut quote, mut is_kept) = (0_usize, None::<char>, false);
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut is_kept) {
            continue;
        }
        match (quote, c) {
            (Some(_), '\\') => is_kept = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}' | ',') if depth == 0 => {
                return text.get(..at).unwrap_or(text);
            }
            (None, ')' | ']' | '}') => depth -= 1,
            (None, _) => {}
        }
    }
    text
}

/// Whether a pattern of the table is for a path.
fn is_for(pattern: &str, path: &str) -> bool {
    if pattern.ends_with('/') {
        return path.starts_with(pattern) || path.contains(&format!("/{pattern}"));
    }
    if pattern.contains('/') {
        return path == pattern || path.ends_with(&format!("/{pattern}"));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name.eq_ignore_ascii_case(pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_right() {
        let rules: Rules =
            shipped_table(include_str!("../../../assets/findings/host.toml")).unwrap();
        for rule in &rules.rule {
            let compiled = rule.compiled();
            assert!(compiled.is_some(), "{}", rule.pattern);
            let groups = compiled.unwrap().pattern.captures_len();
            assert!(groups >= 2, "{} has no group", rule.pattern);
            let is_command = rule.kind.is_command();
            assert!(is_command != rule.when.is_empty(), "{}", rule.pattern);
            let has_words = !is_command && rule.kind != RuleKind::Network;
            assert!(has_words != rule.text.is_empty(), "{}", rule.pattern);
        }
    }

    #[test]
    fn an_argument_ends_with_its_comma_or_the_call() {
        for (text, wanted) in [
            ("cmd, check=True)", "cmd"),
            ("[\"git\", \"log\"], cwd=x)", "[\"git\", \"log\"]"),
            ("\"sh a), b\")", "\"sh a), b\""),
            ("b64decode(TABLE), \"t\", \"exec\"))", "b64decode(TABLE)"),
            ("[", "["),
        ] {
            assert_eq!(argument(text), wanted, "{text}");
        }
    }

    #[test]
    fn rules_are_for_names_and_folders() {
        for (pattern, path, is) in [
            (".envrc", ".envrc", true),
            (".envrc", "a/.envrc", true),
            (".vscode/tasks.json", "x/.vscode/tasks.json", true),
            (".vscode/tasks.json", "tasks.json", false),
            ("*.py", "tools/a.py", true),
            ("Kconfig*", "main/Kconfig.projbuild", true),
            (".git/", ".git/hooks/pre-commit", true),
            (".git/", ".github/x", false),
        ] {
            assert_eq!(is_for(pattern, path), is, "{pattern} {path}");
        }
    }
}
