//! What the build of a container runs, read from a `Dockerfile`.
//!
//! Owns the commands over several lines. The programs are judged in [`commands`](super::commands).

use super::commands;
use super::host_code_place::HostCode;
use crate::model::FindingLevel;
use crate::text::lines::line_starts;

/// Whether a file says how a container is built, by its name.
pub(super) fn is_docker(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.starts_with("dockerfile") || lower.ends_with(".dockerfile") || lower == "containerfile"
}

/// What it runs that is not usual.
pub(super) fn find(code: &str) -> Vec<HostCode> {
    let mut found = Vec::new();
    // The command that goes on in the next line, with how heavy it is so far.
    let mut open: Option<(String, FindingLevel)> = None;
    for (start, line) in line_starts(code) {
        let words = line.trim();
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let written = match &open {
            Some(_) => words,
            None if runs(first, rest) => rest,
            None => continue,
        };
        let piece = written.trim_end_matches('\\').trim();
        let begins = ["&&", "||", ";", "|"].iter().any(|mark| piece.starts_with(mark));
        let before = open.take();
        let ended = before.as_ref().is_none_or(|(text, _)| text.ends_with(['&', '|', ';']));
        let (command, least) = match before {
            Some((text, level)) if !begins && !ended => (format!("{text} {piece}"), level),
            _ => (piece.to_owned(), FindingLevel::Note),
        };
        let judged = command.trim_start_matches(['&', '|', ';', ' ']);
        let level = commands::judge_in_container(judged.trim_end_matches(['&', '|', ';', ' ']));
        if level > least {
            let range =
                start + (line.len() - line.trim_start().len())..start + line.trim_end().len();
            found.push(HostCode::runs(range, level, (piece, "when the container is built")));
        }
        if written.ends_with('\\') {
            open = Some((command, level.max(least)));
        }
    }
    found
}

/// Whether an instruction runs or fetches something: a shell for the person alone does not.
fn runs(instruction: &str, rest: &str) -> bool {
    let is = |name: &str| instruction.eq_ignore_ascii_case(name);
    let bare: String = rest.chars().filter(|c| !"[]\"' ".contains(*c)).collect();
    let is_shell =
        matches!(bare.as_str(), "bash" | "sh" | "/bin/bash" | "/bin/sh" | "/opt/esp/entrypoint.sh");
    is("RUN")
        || (is("CMD") || is("ENTRYPOINT")) && !is_shell
        || is("ADD") && commands::host(rest).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(code: &str) -> Vec<(usize, FindingLevel)> {
        let line = |found: &HostCode| code[..found.range.start].matches('\n').count() + 1;
        find(code).iter().map(|found| (line(found), found.level)).collect()
    }

    #[test]
    fn what_a_container_is_usually_built_with_is_left_out_and_the_rest_is_on_its_line() {
        use FindingLevel::Stop;
        let usual = "FROM espressif/idf:v5.4.1\nRUN apt-get update \\\n    && apt-get install -y \\\n      git \\\n      ninja-build \\\n    && rm -rf /var/lib/apt/lists/*\nWORKDIR /project\nCMD [\"/bin/bash\"]\n";
        assert_eq!(levels(usual), []);
        let bad = "FROM x\nRUN apt-get update \\\n    && curl -s https://example.com/x | sh\n";
        assert_eq!(levels(bad), [(3, Stop)]);
        assert_eq!(levels("ADD https://example.com/x /x\nADD . /y\n"), [(1, Stop)]);
    }
}
