//! Answers of agents in words for people: files by name and length, fields as lines.
//!
//! Owns what stands for a block of JSON or TOON in a conversation. Must not change anything else of
//! a text.

use serde_json::{Map, Value};

use super::toon;

/// Whether a text is the answer of an agent that only chooses who speaks next, or may become it: whom
/// it chose and why is recorded besides.
#[must_use]
pub fn is_choice(text: &str) -> bool {
    const START: &str = "{\"next\":";
    let text = text.trim();
    let text = text.strip_prefix("```json").or(text.strip_prefix("```")).unwrap_or(text);
    let start: String =
        text.chars().filter(|c| !c.is_whitespace()).take(START.chars().count()).collect();
    !start.is_empty() && START.starts_with(&start)
}

/// A message with each block of files or fields in words.
#[must_use]
pub fn in_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let mark = fence(line);
        let Some((mark, language)) = mark else {
            out.push_str(line);
            continue;
        };
        let mut block = String::new();
        let mut end = None;
        for line in lines.by_ref() {
            if line.trim() == mark {
                end = Some(line);
                break;
            }
            block.push_str(line);
        }
        match block_in_words(language, &block).filter(|_| end.is_some()) {
            Some(words) => out.push_str(&words),
            None => {
                out.push_str(line);
                out.push_str(&block);
                out.push_str(end.unwrap_or_default());
            }
        }
    }
    out
}

/// The mark and the language of the first line of a fence.
fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let language = line.trim_start_matches('`');
    let mark = line.get(..line.len() - language.len())?;
    (mark.len() >= 3 && !language.contains('`')).then_some((mark, language.trim()))
}

/// A block in words; `None` where it holds neither files nor fields.
fn block_in_words(language: &str, block: &str) -> Option<String> {
    match language.to_ascii_lowercase().as_str() {
        "json" => files_in_words(&serde_json::from_str(block).ok()?),
        "toon" => fields_in_words(&toon::decode(block.trim_matches(['\n', '\r'])).ok()?),
        _ => None,
    }
}

/// A list of files, each by its name and how long it is; `None` for anything else.
fn files_in_words(value: &Value) -> Option<String> {
    let list = value.as_array().or_else(|| value.get("files")?.as_array())?;
    let line = |file: &Value| {
        let (name, code) = (file.get("file_name")?.as_str()?, file.get("code")?.as_str()?);
        let lines = code.lines().count();
        let noun = if lines == 1 { "line" } else { "lines" };
        Some(format!("- {name}, {lines} {noun}\n"))
    };
    let lines: Option<Vec<String>> = list.iter().map(line).collect();
    lines.filter(|lines| !lines.is_empty()).map(|lines| lines.concat())
}

/// Fields as Markdown: each on a line, what has parts as a list; `None` for anything else.
#[must_use]
pub fn fields_in_words(value: &Value) -> Option<String> {
    let mut out = String::new();
    for (name, value) in value.as_object()? {
        field(name, value, 0, &mut out);
    }
    (!out.is_empty()).then_some(out)
}

fn field(name: &str, value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let name = name.replace('_', " ");
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push_str(&format!("{indent}- **{name}**\n"));
            items.iter().for_each(|item| entry(item, depth + 1, out));
        }
        Value::Object(fields) if !fields.is_empty() => {
            out.push_str(&format!("{indent}- **{name}**\n"));
            fields.iter().for_each(|(name, value)| field(name, value, depth + 1, out));
        }
        _ => out.push_str(&format!("{indent}- **{name}**: {}\n", scalar(value))),
    }
}

/// An entry of a list on a line of its own; that of an object with all its plain fields.
fn entry(item: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match item {
        Value::Object(fields) => {
            out.push_str(&format!("{indent}- {}\n", in_one_line(fields)));
            for (name, value) in fields.iter().filter(|(_, value)| has_parts(value)) {
                field(name, value, depth + 1, out);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(scalar).collect();
            out.push_str(&format!("{indent}- {}\n", items.join(", ")));
        }
        _ => out.push_str(&format!("{indent}- {}\n", scalar(item))),
    }
}

fn in_one_line(fields: &Map<String, Value>) -> String {
    let plain = fields.iter().filter(|(_, value)| !has_parts(value));
    let words = plain.map(|(name, value)| format!("{}: {}", name.replace('_', " "), scalar(value)));
    words.collect::<Vec<_>>().join(" · ")
}

fn has_parts(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// A value without parts, on one line.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if text.trim().is_empty() => "none".to_owned(),
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Array(_) | Value::Object(_) | Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_answer_of_a_selector_is_known_while_it_comes_and_after() {
        let answer = "```json\n{ \"next\": \"BuildAgent\", \"why\": \"it is saved\" }\n```";
        for end in ["```json\n{".len(), answer.len()] {
            assert!(is_choice(&answer[..end]), "{}", &answer[..end]);
        }
        for text in ["", "I choose BuildAgent.", "{\"files\": []}", "```c\nint a;\n```"] {
            assert!(!is_choice(text), "{text}");
        }
    }

    #[test]
    fn a_report_in_toon_reads_as_lines() {
        let text = "It is done.\n\n```toon\npoints[2]{point,state,seen}:\n  \"add, tasks\",done,todo.py\n  list,open,\"\"\nagain[0]:\nrating: 7\nchecks[2]: a,b\n```\nBye.\n";
        assert_eq!(
            in_words(text),
            "It is done.\n\n- **points**\n  - point: add, tasks · state: done · seen: todo.py\n  \
             - point: list · state: open · seen: none\n- **again**: none\n- **rating**: 7\n\
             - **checks**\n  - a\n  - b\nBye.\n"
        );
    }

    #[test]
    fn files_are_named_and_other_code_stays() {
        let text = "```json\n[{\"file_name\":\"a.c\",\"code\":\"x\\ny\\n\"}]\n```\n```json\n{\"a\":1}\n```\n```c\nint x;\n```\n";
        assert_eq!(in_words(text), "- a.c, 2 lines\n```json\n{\"a\":1}\n```\n```c\nint x;\n```\n");
        let half = "```toon\npoints[2]:\n";
        assert_eq!(in_words(half), half, "what has no end yet stays as it is");
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "(```(toon|json)?\n|[a-z:\\[\\]{},\"0-9 -]{0,12}\n?){0,12}") {
            let _ = in_words(&text);
        }
    }
}
