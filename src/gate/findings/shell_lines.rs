//! The commands of a shell script, line by line: a line that is continued is one with the next, and
//! the patterns of `case` are none.
//!
//! Owns the form of a script. Must not judge commands.

use std::ops::Range;

/// A command, and where it stands: up to the end of its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellCommand {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// What is open while a script is read.
#[derive(Debug, Default)]
pub(super) struct ShellLines {
    /// What a line says that is continued.
    continued: Option<ShellCommand>,
    /// The word that ends a text within the script.
    text_end: Option<String>,
    /// For each `case` whether a pattern comes next.
    cases: Vec<bool>,
    functions: Vec<String>,
}

/// Words that are the form of a script and run nothing.
const FORM: [&str; 10] = ["{", "}", "(", ")", "esac", ";;", "fi", "done", "else", "then"];

impl ShellLines {
    /// Reads a line without its comment, which starts at the byte `start`.
    pub(super) fn read(&mut self, start: usize, line: &str) -> Option<ShellCommand> {
        let bare = line.trim();
        if let Some(end) = &self.text_end {
            if bare == end {
                self.text_end = None;
            }
            return None;
        }
        let is_continued = bare.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        let part = bare.strip_suffix('\\').filter(|_| is_continued).unwrap_or(bare).trim_end();
        let from = start + line.len() - line.trim_start().len();
        let whole = match self.continued.take() {
            Some(before) => {
                let text = format!("{} {part}", before.text).trim().to_owned();
                ShellCommand { text, ..before }
            }
            None => ShellCommand { range: from..from + part.len(), text: part.to_owned() },
        };
        if is_continued {
            self.continued = Some(whole);
            return None;
        }
        self.command(whole)
    }

    /// What the last line says when the script ends in the middle of it.
    pub(super) fn finish(&mut self) -> Option<ShellCommand> {
        let last = self.continued.take()?;
        self.command(last)
    }

    fn command(&mut self, whole: ShellCommand) -> Option<ShellCommand> {
        self.text_end = end_of_text(&whole.text);
        let ShellCommand { mut range, mut text } = self.without_pattern(whole);
        if let Some((name, body)) = function(&text) {
            self.functions.push(name.to_owned());
            let body = body.trim().trim_start_matches('{').trim();
            range.start = (range.start + text.len() - body.len()).min(range.end);
            return (!body.is_empty()).then(|| ShellCommand { range, text: body.to_owned() });
        }
        let program = text.split_whitespace().next().unwrap_or_default();
        if self.functions.iter().any(|name| name == program) {
            let at = within(&text)?;
            range.start = (range.start + at).min(range.end);
            return Some(ShellCommand { range, text: text.get(at..)?.to_owned() });
        }
        // `[ $# -eq 1 ] || usage` with a function of the script.
        if let Some((before, last)) = text.rsplit_once("||").or_else(|| text.rsplit_once("&&"))
            && self.functions.iter().any(|name| name == last.trim())
        {
            text.truncate(before.trim_end().len());
        }
        let program = text.split_whitespace().next().unwrap_or_default();
        let is_form = text.is_empty() || is_form(program, &text) || is_assignment(&text);
        (!is_form).then_some(ShellCommand { range, text })
    }

    /// A command without the pattern of a `case` in front of it and the `;;` behind it.
    fn without_pattern(&mut self, whole: ShellCommand) -> ShellCommand {
        let ShellCommand { mut range, mut text } = whole;
        if let Some(awaits) = self.cases.last_mut() {
            if text.split(|c: char| !c.is_alphanumeric()).next() == Some("esac") {
                self.cases.pop();
                let ends_branch = text.ends_with(";;");
                if let Some(outer) = self.cases.last_mut() {
                    *outer |= ends_branch;
                }
                let text = text.trim_end_matches(";;").trim_end().to_owned();
                return ShellCommand { range, text };
            }
            if *awaits && let Some(end) = end_of_pattern(&text) {
                let rest = text.get(end..).unwrap_or_default().trim_start();
                range.start = (range.start + text.len() - rest.len()).min(range.end);
                text = rest.to_owned();
                *awaits = false;
            }
            if let Some(rest) = text.strip_suffix(";;").or_else(|| text.strip_suffix(";&")) {
                text = rest.trim_end().to_owned();
                *awaits = true;
            }
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.first() == Some(&"case") && words.last() == Some(&"in") {
            self.cases.push(true);
        }
        ShellCommand { range, text }
    }
}

/// Where the first command starts that is carried out for the arguments of another one or behind it.
fn within(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let is_kept = std::mem::replace(&mut before, c) == '\\';
        match (quote, c) {
            _ if is_kept => before = ' ',
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None | Some('"'), _) if rest.starts_with("$(") && !rest.starts_with("$((") => {
                return Some(at);
            }
            (None | Some('"'), '`') | (None, '|' | ';') => return Some(at),
            (None, '<' | '>') if rest.get(1..2) == Some("(") => return Some(at),
            // Not `2>&1`, `&>file`.
            (None, '&') if rest.starts_with("&&") || rest.starts_with("& ") => return Some(at),
            _ => {}
        }
    }
    None
}

/// The name of a function that a line begins to define, and what stands behind it.
fn function(text: &str) -> Option<(&str, &str)> {
    let (name, body) = text.split_once("()")?;
    let name = name.trim().trim_start_matches("function ").trim_start();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.');
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, body))
}

/// Whether a line is nothing but form, or form and where it reads from and writes to.
fn is_form(program: &str, text: &str) -> bool {
    let rest = text.strip_prefix(program).unwrap_or_default().trim_start();
    let is_redirected = rest.trim_start_matches('2').starts_with(['<', '>']);
    FORM.contains(&program)
        && (rest.is_empty() || is_redirected && !rest.contains(['|', '(', ';', '&', '`']))
}

/// Whether a command only gives a name to a text, and runs nothing for it: `base="https://a.example"`.
fn is_assignment(text: &str) -> bool {
    let Some((name, value)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    // `IMAGES=(0x10000 build/app.bin)`
    let listed = value.strip_prefix('(').and_then(|value| value.strip_suffix(')'));
    let is_list = listed.is_some_and(|inside| !inside.contains(['(', ')']));
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let inside = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
    let (quoted, is_quoted) = match inside('"').or_else(|| inside('\'')) {
        Some(quoted) => (quoted, true),
        None => (value, false),
    };
    let ends = ['`', '"', '\'', ';', '|', '&', '<', '>'];
    // Those by which programs find what they run.
    let is_of_programs = ["PATH", "PRELOAD", "STARTUP", "IFS", "ENV", "COMMAND", "EDITOR", "PAGER"]
        .iter()
        .chain(&["OPTIONS", "FLAGS", "WRAPPER", "SHELL", "PROXY"])
        .any(|part| name.to_ascii_uppercase().contains(part));
    is_name
        && !is_of_programs
        && !quoted.contains("$(")
        && !quoted.contains(ends)
        && (is_quoted || is_list || !value.contains(char::is_whitespace))
}

/// The word that ends a text which a command takes from the next lines: `cat <<EOF`.
fn end_of_text(command: &str) -> Option<String> {
    let (_, end) = command.split_once("<<")?;
    let end = end.strip_prefix('-').unwrap_or(end);
    if end.starts_with('<') {
        return None;
    }
    let end = end.split_whitespace().next()?.split([';', '|', '&', '>', ')']).next()?;
    let end = end.trim_matches(['\'', '"']);
    (!end.is_empty()).then(|| end.to_owned())
}

/// The byte behind the bracket that ends a pattern.
fn end_of_pattern(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, ')') => return Some(at + 1),
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lines::line_starts;

    fn commands(script: &str) -> Vec<String> {
        let mut lines = ShellLines::default();
        let mut all: Vec<ShellCommand> =
            line_starts(script).filter_map(|(start, line)| lines.read(start, line)).collect();
        all.extend(lines.finish());
        for command in &all {
            let there = script.get(command.range.clone()).unwrap();
            assert!(command.text.starts_with(there.split(['\\', ';']).next().unwrap().trim_end()));
        }
        all.into_iter().map(|command| command.text).collect()
    }

    #[test]
    fn lines_that_are_continued_are_one_command() {
        assert_eq!(commands("a b \\\n  --c 1 \\\n  d\ne\n"), ["a b --c 1 d", "e"]);
        assert_eq!(commands("echo a\\\\\nb\n"), ["echo a\\\\", "b"], "it stands for itself");
        assert_eq!(commands("a \\\n"), ["a"]);
        assert_eq!(commands("  \\\n\n"), [] as [String; 0]);
    }

    #[test]
    fn patterns_of_a_case_are_no_commands() {
        let script = "while getopts b:f opt; do\n  case \"$opt\" in\n    b) BAUD=\"$OPTARG\" ;;\n    \
                      f|\"a)\") curl x | sh ;;\n    *)\n      exit 2\n      ;;\n  esac\ndone\n(a; b)\n";
        assert_eq!(
            commands(script),
            ["while getopts b:f opt; do", "case \"$opt\" in", "curl x | sh", "exit 2", "(a; b)"]
        );
        let within = "case a in\n a)\n  case b in\n   c) d;;\n  esac;;\n e) f;;\nesac\ng\n";
        assert_eq!(commands(within), ["case a in", "case b in", "d", "f", "g"]);
    }

    #[test]
    fn texts_and_functions_of_the_script_are_no_commands() {
        let script =
            "cat <<'EOF' >a.txt\nrm -rf /\nEOF\ngo() {\n  ls\n}\ngo fast\ncat <<< \"$a\"\nb\n";
        assert_eq!(commands(script), ["cat <<'EOF' >a.txt", "ls", "cat <<< \"$a\"", "b"]);
        assert_eq!(commands("die() { curl x | sh; }\ndie\n"), ["curl x | sh; }"]);
        let hidden = "curl x | sh; echo \"()\"";
        assert_eq!(commands(hidden), [hidden], "brackets in a command define nothing");
        assert_eq!(commands("function go () {\n ls\n}\ngo\n"), ["ls"]);
    }

    #[test]
    fn what_runs_for_the_arguments_of_a_function_is_a_command() {
        let script = |call: &str| commands(&format!("die() {{\n  exit 1\n}}\n{call}\n"));
        for (call, wanted) in [
            ("die \"$(curl a.example | sh)\"", "$(curl a.example | sh)\""),
            ("die `curl a.example`", "`curl a.example`"),
            ("die x && rm -rf ~", "&& rm -rf ~"),
            ("die 'a' | sh", "| sh"),
            ("die < <(curl a.example)", "<(curl a.example)"),
        ] {
            assert_eq!(script(call), ["exit 1", wanted], "{call}");
        }
        for call in [
            "die",
            "die 'a; b | c $(d)' >&2",
            "die \"a; b | c\" 2>&1",
            "die \"\\$(a)\" $((1 + 2)) &>log.txt",
        ] {
            assert_eq!(script(call), ["exit 1"], "{call}");
        }
    }

    #[test]
    fn form_runs_nothing_and_what_follows_it_does() {
        assert_eq!(commands("then\ndone < a.txt\n} >a 2>b\nfi\n"), [] as [String; 0]);
        let runs = ["then curl x | sh", "done < <(curl x)", "else rm -rf ~"];
        assert_eq!(commands(&runs.join("\n")), runs);
    }
}
