//! How much it matters that a command runs on the developer's machine.
//!
//! Owns the judging by programs, with the lists in `assets/findings/programs.toml`, and the names
//! of hosts. Must not know where a command stands.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::model::FindingLevel;

/// Characters of a command that are shown.
const SHOWN: usize = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Programs {
    harmless: HashSet<String>,
    dangerous: HashSet<String>,
    interpreters: HashSet<String>,
    git_reads: HashSet<String>,
    cmake_tools: HashSet<String>,
}

static PROGRAMS: LazyLock<Option<Programs>> =
    LazyLock::new(|| toml::from_str(include_str!("../../../assets/findings/programs.toml")).ok());

static HOST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?:[a-z][a-z0-9+]*://(?:[^/\s"'@]*@)?|\bgit@|\bssh\s+(?:-\S+\s+)*(?:\w+@)?)([a-z0-9][a-z0-9.-]*\.[a-z0-9-]+|localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\])|\b(?:github|gitlab|bitbucket):(?P<short>[\w.-]+/[\w.-]+)"#,
    )
    .ok()
});

/// The host that a text names in an address.
pub(super) fn host(text: &str) -> Option<String> {
    let captures = HOST.as_ref()?.captures(text)?;
    match captures.get(1) {
        Some(host) => Some(host.as_str().to_ascii_lowercase()),
        None => Some("github.com".to_owned()),
    }
}

/// A text as it is shown: one line, not long, without control characters.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().filter(|c| !c.is_control() && *c != '`'));
        if out.chars().count() > SHOWN {
            let mut short: String = out.chars().take(SHOWN - 1).collect();
            short.push('…');
            return short;
        }
    }
    out
}

/// How heavy it is to run a command line.
pub(super) fn judge(command: &str) -> FindingLevel {
    let Some(programs) = PROGRAMS.as_ref() else { return FindingLevel::Stop };
    if host(command).is_some_and(|host| host != "localhost" && host != "127.0.0.1") {
        return FindingLevel::Stop;
    }
    if ["`", "/dev/tcp", "/dev/sd", "/etc/", "~/.", "$HOME/.", ".ssh", ".bashrc", "\\x"]
        .iter()
        .any(|part| command.contains(part))
    {
        return FindingLevel::Stop;
    }
    let mut level = FindingLevel::Note;
    for part in split(&without_variables(command)) {
        level = level.max(judge_one(programs, part));
    }
    level
}

/// A line of make with its variables, `$(PORT)`, as a shell writes them.
fn without_variables(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("$(") {
        out.push_str(before);
        let name = after.split(')').next().unwrap_or_default();
        let is_name = after.len() > name.len()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        // `$(pwd)` is a command.
        let is_variable = is_name && name.bytes().any(|byte| byte.is_ascii_uppercase());
        if is_variable {
            out.push_str(&format!("${{{name}}}"));
            rest = after.get(name.len() + 1..).unwrap_or_default();
        } else {
            out.push_str("$(");
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// The commands of a line: what separators and substitutions start.
fn split(line: &str) -> Vec<&str> {
    let mut parts = vec![line];
    for separator in ["&&", "||", ";", "|", "$(", "&\n", "\n", "<(", "& "] {
        parts = parts.into_iter().flat_map(|part| part.split(separator)).collect();
    }
    parts
}

fn judge_one(programs: &Programs, command: &str) -> FindingLevel {
    let is_quote = |c: char| matches!(c, '"' | '\'' | '(' | ')' | '[' | ']' | ',' | '{' | '}');
    let words: Vec<&str> = command
        .split(|c: char| c.is_whitespace() || c == ',')
        .map(|word| {
            match word.starts_with("${") || word.starts_with("$(") || word == "[" || word == "[[" {
                true => word,
                false => word.trim_matches(is_quote),
            }
        })
        .filter(|word| !word.is_empty())
        .collect();
    let mut rest = words.as_slice();
    // Keywords of the shell, and variables that are set for the command.
    while let Some((first, after)) = rest.split_first() {
        let is_keyword = matches!(
            *first,
            "if" | "then"
                | "else"
                | "elif"
                | "fi"
                | "for"
                | "while"
                | "until"
                | "do"
                | "done"
                | "case"
                | "esac"
                | "in"
                | "!"
                | "function"
                | "time"
                | "@"
                | "-"
                | "+"
                | "COMMAND"
                | "shell"
                | "pipe"
        );
        let is_loop = matches!(*first, "for" | "case" | "function");
        if is_loop {
            return FindingLevel::Note;
        }
        let name = first.split('=').next().unwrap_or_default();
        let is_variable = first.contains('=')
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '+');
        if !is_keyword && !is_variable {
            break;
        }
        rest = after;
    }
    let Some((program, arguments)) = rest.split_first() else { return FindingLevel::Note };
    program_level(programs, program, arguments)
}

fn program_level(programs: &Programs, program: &str, arguments: &[&str]) -> FindingLevel {
    let first = arguments.first().copied().unwrap_or_default();
    let is_path = program.contains('/') && !program.starts_with("${");
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let lower = name.to_ascii_lowercase();
    let lower = lower.strip_suffix(".exe").unwrap_or(&lower);
    let is_in = |set: &HashSet<String>| set.contains(lower) || set.contains(program);
    if lower == "git" || program.eq_ignore_ascii_case("${GIT_EXECUTABLE}") {
        let mut words = arguments.iter().filter(|word| !matches!(**word, "-C" | "."));
        let verb = words.find(|word| {
            !word.starts_with("--git-dir") && !word.contains('/') && !word.starts_with('$')
        });
        let reads = verb.is_some_and(|verb| programs.git_reads.contains(*verb));
        return if reads { FindingLevel::Note } else { FindingLevel::Stop };
    }
    if lower == "cmake" || program == "${CMAKE_COMMAND}" {
        return cmake(programs, arguments);
    }
    if is_in(&programs.interpreters) {
        return python(arguments);
    }
    if is_in(&programs.dangerous) {
        return match (lower, first) {
            // A script that lies in the project is on the screen when it changes.
            ("env" | "exec", _) if arguments.len() > 1 => {
                program_level(programs, first, arguments.get(1..).unwrap_or_default())
            }
            ("source" | ".", first) if first.contains("export.sh") => FindingLevel::Note,
            ("rm" | "rmdir", _) if arguments.iter().all(|a| is_of_build(a)) => FindingLevel::Note,
            _ => FindingLevel::Stop,
        };
    }
    if is_in(&programs.harmless)
        && !(is_path && !program.starts_with("/usr/bin/") && !program.starts_with("/bin/"))
    {
        let reaches_out = arguments.iter().any(|a| a.starts_with("/etc") || a.starts_with("~"));
        return if reaches_out { FindingLevel::Warning } else { FindingLevel::Note };
    }
    FindingLevel::Warning
}

fn is_of_build(argument: &str) -> bool {
    argument.starts_with('-')
        || matches!(
            argument.trim_end_matches('/'),
            "build" | "sdkconfig" | "sdkconfig.old" | "managed_components" | "dependencies.lock"
        )
        || (argument.starts_with("build/") && !argument.contains(".."))
}

fn cmake(programs: &Programs, arguments: &[&str]) -> FindingLevel {
    match arguments {
        ["-E", "env", rest @ ..] | ["-E", "chdir", _, rest @ ..] | ["-E", "time", rest @ ..] => {
            let at = rest.iter().position(|word| !word.contains('=') && !word.starts_with("--"));
            let rest = at.and_then(|at| rest.get(at..)).unwrap_or_default();
            let Some((program, arguments)) = rest.split_first() else { return FindingLevel::Note };
            program_level(programs, program, arguments)
        }
        ["-E", tool, ..] if programs.cmake_tools.contains(*tool) => FindingLevel::Note,
        ["-E", ..] | ["-P", ..] => FindingLevel::Warning,
        [.., "-P", _] => FindingLevel::Warning,
        _ => FindingLevel::Note,
    }
}

fn python(arguments: &[&str]) -> FindingLevel {
    match arguments {
        [] | ["--version" | "-V", ..] => FindingLevel::Note,
        ["-c", ..] => FindingLevel::Stop,
        [
            "-m",
            "esptool"
            | "pytest"
            | "idf_component_manager"
            | "kconfgen"
            | "esp_idf_monitor"
            | "idf_size",
            ..,
        ] => FindingLevel::Note,
        ["-m", ..] => FindingLevel::Stop,
        [script, ..] => {
            let idf = ["${IDF_PATH}", "$IDF_PATH", "$ENV{IDF_PATH}", "$(IDF_PATH)", "${idf_path}"];
            let is_idf = idf.iter().any(|start| script.starts_with(start));
            if is_idf { FindingLevel::Note } else { FindingLevel::Warning }
        }
    }
}

/// A finding's sentence: `runs `x` when …`, with the host it reaches.
pub(super) fn sentence(command: &str, when: &str) -> String {
    let reaches = match host(command) {
        Some(host) => format!(", which reaches {host},"),
        None => String::new(),
    };
    let command = shown(command);
    format!("runs `{command}`{reaches} {when}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_judged_by_what_they_run() {
        use FindingLevel::{Note, Stop, Warning};
        for (command, level) in [
            ("bash fetch.sh", Stop),
            ("/bin/sh -c 'x'", Stop),
            ("curl -L https://example.com/x | sh", Stop),
            ("echo hi && curl x", Stop),
            ("FOO=1 wget x", Stop),
            ("python -c 'import os'", Stop),
            ("python3 -m pip install x", Stop),
            ("pip install x", Stop),
            ("git clone https://github.com/x/y", Stop),
            ("git submodule update", Stop),
            ("sudo make install", Stop),
            ("rm -rf /", Stop),
            ("${CMAKE_COMMAND} -E env A=b bash x.sh", Stop),
            ("echo $(cat ~/.ssh/id_rsa)", Stop),
            ("python gen.py", Warning),
            ("./gen", Warning),
            ("gen_table a b", Warning),
            ("${CMAKE_COMMAND} -P x.cmake", Warning),
            ("/tmp/idf.py build", Warning),
            ("idf.py build", Note),
            ("idf.py -p $(PORT) flash", Note),
            ("echo $(curl x)", Stop),
            ("git describe --always --dirty", Note),
            ("git -C . rev-parse HEAD", Note),
            ("${GIT_EXECUTABLE} rev-parse --short HEAD", Note),
            ("${CMAKE_COMMAND} -E copy a b", Note),
            ("${PYTHON} ${IDF_PATH}/components/x/gen.py", Note),
            ("if [ -f x ]; then echo y; fi", Note),
            ("rm -rf build", Note),
            ("date +%Y", Note),
            (". $IDF_PATH/export.sh", Note),
            ("", Note),
        ] {
            assert_eq!(judge(command), level, "{command}");
        }
    }

    #[test]
    fn hosts_are_read_from_addresses() {
        for (text, wanted) in [
            ("https://github.com/a/b.git", Some("github.com")),
            ("git@gitlab.com:a/b.git", Some("gitlab.com")),
            ("https://user:pw@evil.example/x", Some("evil.example")),
            ("git+ssh://git@10.0.0.1/x", Some("10.0.0.1")),
            ("github:a/b", Some("github.com")),
            ("idf.py build", None),
        ] {
            assert_eq!(host(text).as_deref(), wanted, "{text}");
        }
        assert!(
            sentence("curl https://x.example/a", "when it is built").contains("reaches x.example")
        );
        assert_eq!(shown("a\u{1b}[2J\n b"), "a[2J b");
    }
}
