//! The calls that a model without tools writes into its words, told from its text while they come.
//!
//! What begins like a call is given on as a growing call and not as text. Whether it is one is
//! decided at the end, by [`words::calls`]; what turned out to be none is text after all.

use super::Delta;
use super::words::{self, CallStart};
use crate::model::{ToolName, ToolSpec};

/// Bytes that may stand before the arguments of a call.
const MOST_HELD: usize = 600;

/// An answer in words as far as it came.
#[derive(Debug)]
pub(super) struct WordedStream {
    all: String,
    state: State,
    /// The newest that was given on as calls, with what stands around them.
    taken: String,
    /// The same of those before, which are complete.
    settled: String,
    calls: usize,
}

#[derive(Debug)]
enum State {
    Text(LineStart),
    /// A code block without calls, and its newest line.
    Code(String),
    /// It may become a call.
    Held(String),
    /// In the arguments of a call.
    Arguments(ArgumentText, Around),
    /// Behind the arguments of a call.
    Behind(String, Around),
}

/// Whether a line has anything but blanks so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineStart {
    Blank,
    Begun,
}

/// What is open around arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Around {
    brackets: usize,
    has_fence: bool,
}

/// How much of the JSON of arguments is open.
#[derive(Debug, Clone)]
struct ArgumentText {
    tool: ToolName,
    depth: usize,
    string: InString,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InString {
    No,
    Yes,
    Escaped,
}

/// What a letter is to arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamStep {
    /// A part of them.
    Inside,
    /// A part of what is not shown while it comes: blanks before them, or text instead of an object.
    Unshown,
    /// Their last letter.
    Last,
    /// The first letter behind them.
    Behind,
}

impl ArgumentText {
    fn next(&mut self, letter: char) -> StreamStep {
        let is_shown = self.depth > 0;
        match (self.string, letter) {
            (InString::Escaped, _) => self.string = InString::Yes,
            (InString::Yes, '\\') => self.string = InString::Escaped,
            (InString::Yes, '"') => self.string = InString::No,
            (InString::Yes, _) => {}
            (InString::No, '"') => self.string = InString::Yes,
            (InString::No, '{' | '[') => self.depth += 1,
            (InString::No, '}' | ']' | ',') if self.depth == 0 => return StreamStep::Behind,
            (InString::No, '}' | ']') => self.depth -= 1,
            (InString::No, _) => {}
        }
        match (is_shown, self.depth) {
            (true, 0) => StreamStep::Last,
            (false, 0) => StreamStep::Unshown,
            _ => StreamStep::Inside,
        }
    }
}

impl Around {
    fn next(&mut self, letter: char) {
        match letter {
            '{' | '[' => self.brackets += 1,
            '}' | ']' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }
}

impl WordedStream {
    /// Before the first piece.
    pub fn new() -> Self {
        let state = State::Text(LineStart::Blank);
        Self { all: String::new(), state, taken: String::new(), settled: String::new(), calls: 0 }
    }

    /// Takes the next piece of text and adds what is shown of it.
    pub fn pass(&mut self, text: &str, out: &mut Vec<Delta>) {
        self.all.push_str(text);
        for letter in text.chars() {
            let state = std::mem::replace(&mut self.state, State::Text(LineStart::Begun));
            self.state = self.after(state, letter, out);
        }
    }

    /// The text that is still to be shown once the answer is complete, and its calls.
    pub fn end(self, tools: &[ToolSpec]) -> (String, Vec<(String, String)>) {
        let calls = words::calls(&self.all, tools);
        let held = match self.state {
            State::Held(held) => held,
            _ => String::new(),
        };
        let rest =
            if calls.is_empty() { self.settled + &self.taken + &held } else { String::new() };
        (rest, calls)
    }

    fn after(&mut self, state: State, letter: char, out: &mut Vec<Delta>) -> State {
        match state {
            State::Text(LineStart::Blank) if matches!(letter, '`' | '{' | '[') => {
                State::Held(letter.into())
            }
            State::Text(start) => {
                add_text(out, letter.encode_utf8(&mut [0; 4]));
                State::Text(line_start(start, letter))
            }
            State::Code(line) => {
                add_text(out, letter.encode_utf8(&mut [0; 4]));
                code(line, letter)
            }
            State::Held(mut held) => {
                held.push(letter);
                match words::call_start(&held) {
                    CallStart::Open if held.len() < MOST_HELD => State::Held(held),
                    CallStart::Open | CallStart::None => {
                        add_text(out, &held);
                        released(&held)
                    }
                    CallStart::Call { tool, brackets, has_fence } => {
                        self.taken.push_str(&held);
                        self.begin(&tool, Around { brackets, has_fence }, out)
                    }
                }
            }
            State::Arguments(args, around) => {
                self.taken.push(letter);
                self.argument(args, around, letter, out)
            }
            State::Behind(rest, around) => {
                self.taken.push(letter);
                self.behind(rest, around, letter, out)
            }
        }
    }

    fn begin(&mut self, tool: &str, around: Around, out: &mut Vec<Delta>) -> State {
        let tool = ToolName::new(tool);
        out.push(Delta::CallPart { place: self.calls, tool: tool.clone(), args: String::new() });
        self.calls += 1;
        State::Arguments(ArgumentText { tool, depth: 0, string: InString::No }, around)
    }

    fn argument(
        &mut self,
        mut args: ArgumentText,
        around: Around,
        letter: char,
        out: &mut Vec<Delta>,
    ) -> State {
        let step = args.next(letter);
        if matches!(step, StreamStep::Inside | StreamStep::Last) {
            let place = self.calls.saturating_sub(1);
            match out.last_mut() {
                Some(Delta::CallPart { place: last, args, .. }) if *last == place => {
                    args.push(letter);
                }
                _ => {
                    let (tool, args) = (args.tool.clone(), letter.to_string());
                    out.push(Delta::CallPart { place, tool, args });
                }
            }
        }
        match step {
            StreamStep::Inside | StreamStep::Unshown => State::Arguments(args, around),
            StreamStep::Last => State::Behind(String::new(), around),
            StreamStep::Behind => self.behind(String::new(), around, letter, out),
        }
    }

    fn behind(
        &mut self,
        rest: String,
        around: Around,
        letter: char,
        out: &mut Vec<Delta>,
    ) -> State {
        match behind_letter(rest, around, letter) {
            State::Behind(rest, around) => {
                let next = rest.trim_start_matches(|letter: char| {
                    letter.is_whitespace() || matches!(letter, '}' | ']' | ',')
                });
                match words::call_start(next) {
                    CallStart::Call { tool, .. } => self.begin(&tool, around, out),
                    CallStart::Open | CallStart::None => State::Behind(rest, around),
                }
            }
            over => {
                self.settle(out);
                over
            }
        }
    }

    /// What only began like a call is text, at its place.
    fn settle(&mut self, out: &mut Vec<Delta>) {
        let taken = std::mem::take(&mut self.taken);
        match words::has_calls(&taken) {
            true => self.settled.push_str(&taken),
            false => add_text(out, &taken),
        }
    }
}

/// One more letter behind arguments; text again when all that was open is closed.
fn behind_letter(mut rest: String, mut around: Around, letter: char) -> State {
    around.next(letter);
    rest.push(letter);
    let is_over = match around.has_fence {
        true => rest.ends_with("```"),
        false => around.brackets == 0,
    };
    if is_over { State::Text(LineStart::Begun) } else { State::Behind(rest, around) }
}

/// What follows a text that was no call.
fn released(held: &str) -> State {
    let line = held.rsplit('\n').next().unwrap_or(held);
    if held.starts_with("```") {
        return State::Code(if held.contains('\n') { line.to_owned() } else { String::new() });
    }
    let start = if line.trim().is_empty() { LineStart::Blank } else { LineStart::Begun };
    State::Text(start)
}

fn code(mut line: String, letter: char) -> State {
    if letter != '\n' {
        line.push(letter);
        return State::Code(line);
    }
    match line.trim_start().starts_with("```") {
        true => State::Text(LineStart::Blank),
        false => State::Code(String::new()),
    }
}

fn line_start(start: LineStart, letter: char) -> LineStart {
    match letter {
        '\n' => LineStart::Blank,
        letter if letter.is_whitespace() => start,
        _ => LineStart::Begun,
    }
}

fn add_text(out: &mut Vec<Delta>, text: &str) {
    match out.last_mut() {
        Some(Delta::Text(last)) => last.push_str(text),
        _ => out.push(Delta::Text(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tools and their arguments.
    type Calls = Vec<(String, String)>;

    /// What is shown, with all text joined and all parts of a call joined, and what is called.
    fn shown(pieces: &[&str]) -> (String, Calls, Calls) {
        let tools = ["read_file", "write_file"].map(|name| ToolSpec {
            name: name.into(),
            description: String::new(),
            schema: serde_json::json!({}),
        });
        let (mut stream, mut out) = (WordedStream::new(), Vec::new());
        pieces.iter().for_each(|piece| stream.pass(piece, &mut out));
        let (rest, calls) = stream.end(&tools);
        let (mut text, mut parts) = (String::new(), Calls::new());
        for delta in out {
            match delta {
                Delta::Text(more) => text += &more,
                Delta::CallPart { place, tool, args } => {
                    if parts.len() == place {
                        parts.push((tool.to_string(), String::new()));
                    }
                    parts[place].1 += &args;
                }
                other => panic!("{other:?}"),
            }
        }
        (text + &rest, parts, calls)
    }

    /// The same, whole and letter by letter.
    fn both(text: &str) -> (String, Calls, Calls) {
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        let whole = shown(&[text]);
        assert_eq!(shown(&letters), whole, "{text}");
        whole
    }

    #[test]
    fn a_call_is_told_as_it_grows_and_never_as_text() {
        let args = r#"{"path": "a.c", "content": "int a[] = {1};\n\"}\""}"#;
        for (before, call, after) in [
            ("", format!(r#"{{"tool": "write_file", "arguments": {args}}}"#), ""),
            (
                "I write.\n",
                format!("```json\n{{\"tool\": \"write_file\",\n \"arguments\": {args}}}\n```"),
                "\n",
            ),
            ("So:\n\n  ", format!(r#"[{{"name":"write_file","parameters":{args}}}]"#), ""),
            (
                "",
                format!(
                    r#"{{"tool_calls": [{{"id": "1", "type": "function", "function": {{"name": "write_file", "arguments": {args}}}}}]}}"#
                ),
                "",
            ),
        ] {
            let (text, parts, calls) = both(&format!("{before}{call}{after}"));
            assert_eq!(text, format!("{before}{after}"), "{call}");
            assert_eq!(parts, [("write_file".to_owned(), args.to_owned())], "{call}");
            assert_eq!(calls.len(), 1, "{call}");
        }
    }

    #[test]
    fn each_call_of_a_list_grows_in_its_place() {
        let (text, parts, calls) = both(
            "Both.\n```json\n[{\"tool\": \"read_file\", \"arguments\": {\"path\": \"a\"}},\n \
             {\"tool\": \"write_file\", \"arguments\": {}}]\n```\n",
        );
        assert_eq!(text, "Both.\n\n");
        let reported = [("read_file", r#"{"path": "a"}"#), ("write_file", "{}")];
        assert_eq!(parts, reported.map(|(tool, args)| (tool.to_owned(), args.to_owned())));
        assert_eq!(calls.len(), 2);
    }

    #[test]
    fn what_is_no_call_is_text_to_the_last_letter() {
        for text in [
            "",
            "No tool.\n",
            "```c\nstruct a {\n{\"tool\": 1}\n[1]\n```\nDone `x` {1}",
            "```json\n[{\"file_name\": \"a.c\", \"code\": \"int a[] = {1};\"}]\n```",
            "[note] this\n{ not json",
            "```json\n{\"tool\": 1}\n```\n",
            "{\"tool\": \"read_file\", \"arguments\": {}} and {\"tool\"",
            "`{`\n```",
            "[{\"tool\": \"read_file\", \"arguments\": {}}, {\"file_name\": \"a.c\"}]",
        ] {
            let (shown, _, calls) = both(text);
            if calls.is_empty() {
                assert_eq!(shown, text);
            }
        }
    }

    #[test]
    fn a_call_that_was_cut_off_is_told_and_handed_on() {
        let (text, parts, calls) =
            both("I read.\n{\"tool\": \"read_file\", \"arguments\": {\"path\": \"a.c\"");
        assert_eq!(text, "I read.\n");
        assert_eq!(parts, [("read_file".to_owned(), "{\"path\": \"a.c\"".to_owned())]);
        assert_eq!(calls.len(), 1);
    }

    #[test]
    fn arguments_written_as_text_are_not_shown_as_they_come() {
        let text = r#"{"name": "read_file", "arguments": "{\"path\": \"a.c\"}"}"#;
        let (text, parts, calls) = both(text);
        assert_eq!((text.as_str(), parts[0].1.as_str()), ("", ""));
        assert_eq!(calls[0].1, r#"{"path": "a.c"}"#);
    }
}
