//! Scripts, component manifests and the files of CI servers, read line by line.

use std::sync::LazyLock;

use regex::Regex;

use super::commands::{self, shown};
use super::host_code_place::HostCode;
use super::host_docker;
use super::host_includes::is_outside;
use super::host_tools::{self, ToolFile};
use super::shell_lines::{ShellCommand, ShellLines};
use super::source::SourceText;
use crate::model::FindingLevel;
use crate::text::lines::line_starts;

/// Ends of names of scripts for a shell.
const SCRIPTS: [&str; 11] =
    [".sh", ".bash", ".zsh", ".fish", ".ksh", ".ps1", ".psm1", ".bat", ".cmd", ".command", ".csh"];

/// What such a file runs and fetches.
pub(super) fn find(source: &SourceText<'_>) -> Vec<HostCode> {
    let (path, text) = (source.path.as_str(), source.text);
    let name = path.rsplit('/').next().unwrap_or(path);
    // `#![no_std]` begins a source of Rust.
    let has_shebang = text.starts_with("#!") && !text.starts_with("#![") && !name.ends_with(".py");
    if let Some(file) = ToolFile::of(name) {
        let found = file.find(source.code());
        let is_silent = found.is_empty() && file != ToolFile::Gdb;
        let whole =
            is_silent.then(|| at_first_line(source.code(), "changes what the build tools run"));
        return found.into_iter().chain(whole.flatten()).collect();
    }
    let is_script = SCRIPTS.iter().any(|end| name.to_ascii_lowercase().ends_with(end));
    if is_script || has_shebang || host_tools::is_hook(path) {
        return script(name, text, source.code());
    }
    if matches!(name, "idf_component.yml" | "idf_component.yaml" | "dependencies.lock") {
        return manifest(path, source.code());
    }
    if host_docker::is_docker(name) {
        let found = host_docker::find(source.code());
        let is_silent = found.is_empty();
        let whole =
            is_silent.then(|| at_first_line(source.code(), "changes the container that is built"));
        return found.into_iter().chain(whole.flatten()).collect();
    }
    if is_ci(path, name) {
        return ci(source.code());
    }
    Vec::new()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The commands of a script; one that only does what is harmless is told as a note.
fn script(name: &str, text: &str, code: &str) -> Vec<HostCode> {
    let ends = [".ps1", ".psm1", ".bat", ".cmd"];
    let is_windows = ends.iter().any(|end| name.to_ascii_lowercase().ends_with(end));
    let mut found = Vec::new();
    let mut lines = ShellLines::default();
    let mut add = |command: ShellCommand| {
        let ShellCommand { range, text } = command;
        if text.starts_with('-') || is_windows && is_windows_structure(&text) {
            return;
        }
        let behind = batch_condition(&text).filter(|_| is_windows);
        if behind.is_some_and(|behind| matches!(behind, "(" | "")) {
            return;
        }
        let level = commands::judge(behind.unwrap_or(&text));
        if level > FindingLevel::Note {
            found.push(HostCode::runs(range, level, (&text, "when the script runs")));
        }
    };
    for (start, line) in line_starts(code) {
        // A backslash ends a name of a folder there.
        let line = if is_windows { line.trim_end_matches('\\') } else { line };
        lines.read(start, line).map(&mut add);
    }
    lines.finish().map(&mut add);
    if found.is_empty() {
        found.extend(at_first_line(text, "is a script that runs on your machine"));
    }
    found
}

/// Whether a line of PowerShell only declares, sets a plain value or asks.
fn is_windows_structure(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let is_plain = !line.contains(['|', ';', '&', '`']) && !lower.contains("invoke-");
    let is_literal = |value: &str| {
        let value = value.trim();
        value.starts_with(['"', '\''])
            || value.starts_with('$') && !value.contains('(')
            || value.bytes().all(|byte| byte.is_ascii_digit())
    };
    let assigns = line.starts_with('$') && !line.contains("$(");
    let sets = assigns && line.split_once('=').is_some_and(|(_, value)| is_literal(value));
    let starts =
        ["param(", "param (", "[cmdletbinding(", "[parameter(", "[string]", "[int]", "[switch]"];
    let asks =
        lower.starts_with("if (") || lower.starts_with("} else") || lower.starts_with("elseif (");
    let is_test = asks && line.ends_with('{') && !lower.contains("http");
    is_plain && (sets || is_test || starts.iter().any(|start| lower.starts_with(start)))
}

/// What stands behind the condition of a batch file: `exit /b 1` of `if "%~1"=="" exit /b 1`.
fn batch_condition(line: &str) -> Option<&str> {
    static CONDITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let value = r#"(?:"[^"&|<>]*"|[^\s"&|<>=()]+)"#;
        let pattern = format!(
            r"(?i)^(?:\)\s*else\s+)?if\s+(?:/i\s+)?(?:not\s+)?(?:(?:exist|defined|errorlevel)\s+{value}|{value}\s*(?:==|\b(?:equ|neq|lss|leq|gtr|geq)\b)\s*{value})(?:\s+|$)"
        );
        Regex::new(&pattern).ok()
    });
    let end = CONDITION.as_ref()?.find(line)?.end();
    Some(line.get(end..)?.trim())
}

/// Hosts from which components come by themselves.
const REGISTRIES: [&str; 4] = [
    "components.espressif.com",
    "api.components.espressif.com",
    "components-file.espressif.com",
    "components.espressif.cn",
];

/// Where a dependency comes from unless it says something else.
const FROM_REGISTRY: &str = " from the component registry";

/// The dependencies of a component.
fn manifest(path: &str, code: &str) -> Vec<HostCode> {
    let mut found = Vec::new();
    let (mut inside, mut child) = (false, None::<usize>);
    // The dependency that the lines are about, as long as nothing says where it comes from.
    let mut open: Option<usize> = None;
    for (start, line) in line_starts(code) {
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        let depth = indent(line);
        let range = start + depth..start + line.len();
        if depth == 0 {
            inside = words.starts_with("dependencies:") || words.starts_with("\"dependencies\"");
            child = None;
            if !inside && !words.starts_with("registry_url") && !words.contains("service_url") {
                continue;
            }
        }
        if !inside && depth > 0 {
            continue;
        }
        let is_direct = depth > 0 && *child.get_or_insert(depth) == depth;
        if is_direct {
            open = None;
        }
        if let Some((level, text)) = dependency(path, words, is_direct) {
            if text.ends_with(FROM_REGISTRY) {
                open = Some(found.len());
            } else if let Some(other) = open.take() {
                // It says itself where it comes from.
                found.remove(other);
            }
            found.push(HostCode::other(range, (level, text)));
        }
    }
    found
}

fn dependency(path: &str, words: &str, is_direct: bool) -> Option<(FindingLevel, String)> {
    let flat = words.replace(['"', '\''], "");
    let value_of = |key: &str| {
        let at = flat.find(&format!("{key}:"))?;
        let before = flat.get(..at)?;
        let is_key = before.is_empty() || before.ends_with([' ', '{', ',', '-']);
        let value = flat.get(at + key.len() + 1..)?.trim();
        is_key.then(|| scalar(value).trim().to_owned())
    };
    for key in ["git", "url", "service_url", "registry_url", "storage_url", "repository"] {
        if let Some(value) = value_of(key).filter(|value| !value.is_empty()) {
            let host = commands::host(&value);
            let Some(host) = host else {
                let outside = is_outside(path, &value);
                let level = if outside { FindingLevel::Warning } else { FindingLevel::Note };
                return (key == "git")
                    .then(|| (level, format!("builds a component from `{}`", shown(&value))));
            };
            if REGISTRIES.contains(&host.as_str()) {
                return None;
            }
            let level = match value.starts_with("http://") {
                true => FindingLevel::Stop,
                false => FindingLevel::Warning,
            };
            return Some((level, format!("downloads a component from {host} at build time")));
        }
    }
    for key in ["path", "override_path"] {
        if let Some(value) = value_of(key).filter(|value| !value.is_empty()) {
            let (level, from) = match is_outside(path, &value) {
                true => (FindingLevel::Warning, ", which is outside of the project"),
                false => (FindingLevel::Note, ""),
            };
            return Some((level, format!("builds a component from `{}`{from}", shown(&value))));
        }
    }
    let name = flat.split(':').next().unwrap_or_default().trim();
    let is_key = is_direct && flat.contains(':') && name != "idf" && !name.is_empty();
    is_key.then(|| (FindingLevel::Note, format!("adds `{}`{FROM_REGISTRY}", shown(name))))
}

/// A value up to the end of it in a list or map on one line; `${NAME}` is part of it.
fn scalar(text: &str) -> &str {
    let mut depth = 0_usize;
    let end = text.char_indices().find(|(at, c)| {
        match c {
            '{' if text.get(..*at).is_some_and(|before| before.ends_with('$')) => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' => return true,
            _ => {}
        }
        false
    });
    text.get(..end.map_or(text.len(), |(at, _)| at)).unwrap_or(text)
}

fn is_ci(path: &str, name: &str) -> bool {
    let folders = [
        ".github/workflows/",
        ".github/actions/",
        ".gitlab/",
        ".circleci/",
        ".buildkite/",
        ".woodpecker/",
        ".gitea/",
        ".forgejo/",
    ];
    let names = [
        ".gitlab-ci.yml",
        ".travis.yml",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        ".drone.yml",
        ".woodpecker.yml",
        "appveyor.yml",
        ".appveyor.yml",
        ".cirrus.yml",
        "cloudbuild.yaml",
        "action.yml",
        "action.yaml",
        ".builds.yml",
        ".gitlab-ci.yaml",
    ];
    folders.iter().any(|folder| path.starts_with(folder) || path.contains(&format!("/{folder}")))
        || names.contains(&name)
}

/// When a CI server does something.
const WHEN: &str = "on the CI server";

/// What a setting of a CI server takes from elsewhere, or allows; `item`: the line it stands on.
fn of_setting(key: &str, value: &str, item: &str) -> Option<(FindingLevel, String)> {
    match key {
        "uses" | "image" | "container" | "include" | "remote" | "pull_request_target" => {
            let what = if value.is_empty() { key } else { value };
            let level = match key {
                "uses" | "image" | "container" => commands::judge_source(what),
                _ => FindingLevel::Warning,
            };
            Some((level, format!("uses `{}` {WHEN}", shown(what))))
        }
        _ if matches!(value, "write" | "write-all") => {
            Some((FindingLevel::Warning, format!("allows `{}` {WHEN}", shown(item))))
        }
        _ => None,
    }
}

/// A text without the quotes around the whole of it.
fn unquoted(text: &str) -> &str {
    let inside = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

/// What a CI server runs.
fn ci(code: &str) -> Vec<HostCode> {
    let mut found = Vec::new();
    // How deep the block of commands stands that is being read.
    let mut block: Option<usize> = None;
    let mut shell = ShellLines::default();
    let on_server = |command: ShellCommand| {
        let level = commands::judge_on_server(&command.text);
        HostCode::runs(command.range, level, (&command.text, WHEN))
    };
    for (start, line) in line_starts(code) {
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        let depth = indent(line);
        let range = start + depth..start + line.len();
        let item = words.trim_start_matches("- ").trim();
        if let Some(base) = block {
            if depth > base || (depth == base && words.starts_with("- ")) {
                let command = unquoted(item);
                let from = start + line.find(command).unwrap_or(depth);
                found.extend(shell.read(from, command).map(on_server));
                continue;
            }
            found.extend(std::mem::take(&mut shell).finish().map(on_server));
            block = None;
        }
        let Some((key, value)) = item.split_once(':') else { continue };
        let value = value.trim();
        match key.trim_matches(['"', '\'']) {
            "run" | "script" | "before_script" | "after_script" | "command" | "commands"
            | "entrypoint" => {
                let is_block = value.is_empty() || value.starts_with(['|', '>']);
                if is_block {
                    block = Some(depth);
                } else {
                    let text = value.trim_matches(['[', ']', '"', '\'']).to_owned();
                    found.push(on_server(ShellCommand { range, text }));
                }
            }
            // Further rows of a matrix.
            "include" if depth > 0 && value.is_empty() => {}
            key => {
                let found_here = of_setting(key, value, item);
                found.extend(found_here.map(|reported| HostCode::other(range, reported)));
            }
        }
    }
    found.extend(shell.finish().map(on_server));
    if found.is_empty() {
        found.extend(at_first_line(code, "changes what the CI server does"));
    }
    found
}

/// A note about a whole file, at the first line that is not empty.
fn at_first_line(text: &str, what: &str) -> Option<HostCode> {
    let (start, line) = line_starts(text).find(|(_, line)| !line.is_empty())?;
    let range = start..start + line.len();
    Some(HostCode::other(range, (FindingLevel::Note, what)))
}
