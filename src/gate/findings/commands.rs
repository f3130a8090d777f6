//! How much it matters that a command runs on the developer's machine.
//!
//! Owns the judging by programs, with the lists in `assets/findings/programs.toml`, and the names
//! of hosts. Must not know where a command stands.

mod made;
mod servers;
mod usual;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use self::made::{is_made_here, is_of_build};
use self::usual::{is_list_of_words, is_plain_compilation, is_usual_cargo};
use regex::Regex;
use serde::Deserialize;
pub(super) use servers::{judge_in_container, judge_on_server, judge_source};

use crate::model::FindingLevel;
use crate::text::shipped::shipped_table;

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
    openssl_tools: HashSet<String>,
    git_records: HashSet<String>,
    gh_reads: HashSet<String>,
    container_tools: HashSet<String>,
}

static PROGRAMS: LazyLock<Option<Programs>> =
    LazyLock::new(|| shipped_table(include_str!("../../../assets/findings/programs.toml")));

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

/// All hosts that a text names in addresses with `://`, in their order.
pub(super) fn hosts(text: &str) -> impl Iterator<Item = String> {
    let found = HOST.as_ref().into_iter().flat_map(move |pattern| pattern.captures_iter(text));
    let is_address = |found: &regex::Captures<'_>| {
        found.get(0).is_some_and(|whole| whole.as_str().contains("://"))
    };
    let hosts = found.filter(move |found| is_address(found)).filter_map(|found| found.get(1));
    hosts.map(|host| host.as_str().to_ascii_lowercase())
}

/// A text as it is shown: one line, not long, without control characters.
pub(super) fn shown(text: &str) -> String {
    one_line(text, SHOWN)
}

/// A finding's sentence with its command as it is shown.
pub(super) fn shown_sentence(text: &str) -> String {
    let parts = text.split_once('`').and_then(|(before, rest)| {
        let (command, behind) = rest.rsplit_once('`')?;
        Some((before, command, behind))
    });
    match parts {
        Some((before, command, behind)) => format!("{before}`{}`{behind}", shown(command)),
        None => text.to_owned(),
    }
}

fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
            count += 1;
        }
        let shown = word.chars().filter(|c| !c.is_control() && *c != '`');
        out.extend(shown.inspect(|_| count += 1));
        if count > most {
            let mut short: String = out.chars().take(most - 1).collect();
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
    if reached(command).is_some_and(|host| host != "localhost" && host != "127.0.0.1") {
        return FindingLevel::Stop;
    }
    if without_single_quoted(command).contains('`')
        || ["/dev/tcp", "/dev/sd", "/etc/", "~/.", "$HOME/.", ".ssh", ".bashrc", "\\x"]
            .iter()
            .any(|part| command.contains(part))
    {
        return FindingLevel::Stop;
    }
    // A list of arguments may go over several lines; `[ -f x ]` of a shell is none.
    let is_list = ["[\"", "['", "[sys."].iter().any(|it| command.trim_start().starts_with(it));
    let command = match is_list {
        true => command.replace('\n', " "),
        false => command.to_owned(),
    };
    let mut level = FindingLevel::Note;
    for part in split(&without_variables(&command)) {
        level = level.max(judge_one(programs, part));
    }
    level
}

/// The host that a command reaches: one that is only written out is not reached.
fn reached(command: &str) -> Option<String> {
    let shows = |part: &&str| {
        let program = part.split_whitespace().next().unwrap_or_default();
        matches!(program.trim_start_matches(['@', '(']), "echo" | "printf")
    };
    let is_shown = command.contains("echo") || command.contains("printf");
    match is_shown && !command.contains(['`', '|']) {
        true => split(command).iter().filter(|part| !shows(part)).find_map(|part| host(part)),
        false => host(command),
    }
}

/// A command without what stands in single quotes, which a shell takes as it is.
fn without_single_quoted(command: &str) -> String {
    let mut out = command.to_owned();
    for (range, _) in quoted_parts(command).into_iter().rev().filter(|(_, quote)| *quote == '\'') {
        out.replace_range(range, "");
    }
    out
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
        // `$((a + 1))` only counts.
        if let Some((counted, _)) = rest.strip_prefix("$((").and_then(|rest| rest.split_once("))"))
            && is_arithmetic(counted)
        {
            at += counted.len() + "$(())".len();
            continue;
        }
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

/// Whether a text is a sum and cannot be a command: `SECONDS - start`. What a shell cannot count it runs.
fn is_arithmetic(text: &str) -> bool {
    let is_of_sum = |c: char| c.is_ascii_alphanumeric() || "_ +-*/%".contains(c);
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_sign = |word: &str| !word.is_empty() && word.chars().all(|c| "+-*/%".contains(c));
    let is_joined = |pair: &[&str]| match pair {
        [one, other] => {
            is_sign(one) != is_sign(other)
                && one.chars().all(is_of_sum)
                && (is_sign(one) || is_sign(other))
        }
        _ => false,
    };
    text.chars().all(is_of_sum) && words.windows(2).all(is_joined)
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
    if is_list_of_words(command) {
        return FindingLevel::Note;
    }
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
        if is_variable && is_of_loading(name) {
            return FindingLevel::Warning;
        }
        if !is_keyword && !is_variable {
            break;
        }
        rest = after;
    }
    let Some((program, arguments)) = rest.split_first() else { return FindingLevel::Note };
    let program = program.trim_start_matches(['@', '(']);
    program_level(programs, program, arguments)
}

/// Whether a variable of that name says which programs or libraries a program loads.
fn is_of_loading(name: &str) -> bool {
    const NAMES: [&str; 16] = [
        "PATH",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "COMPILER_PATH",
        "GCC_EXEC_PREFIX",
        "BASH_ENV",
        "ENV",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "PYTHONSTARTUP",
        "PERL5OPT",
        "NODE_OPTIONS",
        "RUSTC",
        "RUSTC_WRAPPER",
        "CMAKE_PROJECT_INCLUDE",
        "PROMPT_COMMAND",
    ];
    NAMES.contains(&name)
}

fn program_level(programs: &Programs, program: &str, arguments: &[&str]) -> FindingLevel {
    let first = arguments.first().copied().unwrap_or_default();
    let is_path = program.contains('/') && !program.starts_with("${");
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let lower = name.to_ascii_lowercase();
    let lower = lower.strip_suffix(".exe").unwrap_or(&lower);
    let is_in = |set: &HashSet<String>| set.contains(lower) || set.contains(program);
    if lower == "git" || program.eq_ignore_ascii_case("${GIT_EXECUTABLE}") {
        return git_level(programs, arguments);
    }
    if lower == "cmake" || program == "${CMAKE_COMMAND}" {
        return cmake(programs, arguments);
    }
    if program == "sys.executable" {
        // The script of a script: both lie in the project.
        let level = python(arguments);
        return if level == FindingLevel::Warning { FindingLevel::Note } else { level };
    }
    if is_in(&programs.interpreters) {
        return python(arguments);
    }
    if is_in(&programs.dangerous) {
        return match (lower, first) {
            // A script that lies in the project is on the screen when it changes.
            ("env" | "exec", _) if arguments.len() > 1 => behind_settings(programs, arguments),
            ("cargo", _) if is_usual_cargo(arguments) => FindingLevel::Note,
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
            ("openssl", verb) if is_local_openssl(programs, verb, arguments) => FindingLevel::Note,
            ("node", script) if is_script_of_node(script) => FindingLevel::Warning,
            ("rm" | "rmdir", _) if arguments.iter().all(|a| is_of_build(a)) => FindingLevel::Note,
            ("rm", _) if arguments.iter().all(|a| matches!(*a, "-f") || is_made_here(a)) => {
                FindingLevel::Note
            }
            _ => FindingLevel::Stop,
        };
    }
    if lower == "find" {
        return find_level(programs, arguments);
    }
    if is_plain_compilation(lower, arguments) && !is_path {
        return FindingLevel::Note;
    }
    if is_in(&programs.harmless)
        && !(is_path && !program.starts_with("/usr/bin/") && !program.starts_with("/bin/"))
    {
        let reaches_out = arguments
            .iter()
            .any(|a| a.starts_with("/etc") || a.starts_with("~") || a.contains(".git/"));
        return if reaches_out { FindingLevel::Warning } else { FindingLevel::Note };
    }
    FindingLevel::Warning
}

/// What only tells is light.
fn git_level(programs: &Programs, arguments: &[&str]) -> FindingLevel {
    let mut words = arguments.iter().filter(|word| !matches!(**word, "-C" | "."));
    let verb = words.find(|word| {
        !word.starts_with("--git-dir") && !word.contains('/') && !word.starts_with('$')
    });
    let reads = verb.is_some_and(|verb| programs.git_reads.contains(*verb));
    if reads { FindingLevel::Note } else { FindingLevel::Stop }
}

/// How much the program weighs that stands behind options and settings: `env -i A=1 sort names`.
fn behind_settings(programs: &Programs, arguments: &[&str]) -> FindingLevel {
    let is_program = |word: &&str| !word.starts_with('-') && !word.contains('=');
    let at = arguments.iter().position(is_program).unwrap_or(arguments.len());
    match arguments.get(at..).and_then(<[_]>::split_first) {
        Some((program, rest)) => program_level(programs, program, rest),
        None => FindingLevel::Stop,
    }
}

/// Whether `openssl` only works on files.
fn is_local_openssl(programs: &Programs, verb: &str, arguments: &[&str]) -> bool {
    let reaches = |word: &&str| word.contains("-connect") || word.contains("-engine");
    programs.openssl_tools.contains(verb) && !arguments.iter().any(reaches)
}

/// Whether an argument of `node` is a script that lies in the project.
fn is_script_of_node(word: &str) -> bool {
    let ends = [".js", ".mjs", ".cjs", ".ts"];
    !word.starts_with(['-', '/', '~']) && ends.iter().any(|end| word.ends_with(end))
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
        [
            "%IDF_PATH%\\tools\\idf.py" | "$IDF_PATH/tools/idf.py" | "${IDF_PATH}/tools/idf.py",
            ..,
        ] => FindingLevel::Note,
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
        ["-m", "espefuse", rest @ ..]
            if PROGRAMS.as_ref().is_some_and(|programs| reads_efuses(programs, rest)) =>
        {
            FindingLevel::Note
        }
        ["-m", ..] => FindingLevel::Stop,
        [script, ..] => {
            let idf = ["${IDF_PATH}", "$IDF_PATH", "$ENV{IDF_PATH}", "$(IDF_PATH)", "${idf_path}"];
            let is_idf = idf.iter().any(|start| script.starts_with(start));
            if is_idf { FindingLevel::Note } else { FindingLevel::Warning }
        }
    }
}

/// A finding's sentence: `runs `x` when …`, with the host it reaches. The command is whole; it is cut
/// by [`shown_sentence`].
pub(super) fn sentence(command: &str, when: &str) -> String {
    let reaches = match reached(command) {
        Some(host) => format!(", which reaches {host},"),
        None => String::new(),
    };
    let command = one_line(command, usize::MAX);
    format!("runs `{command}`{reaches} {when}")
}

#[cfg(test)]
mod tests;
