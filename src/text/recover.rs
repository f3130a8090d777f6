//! Finds the structured answer in what a model wrote.
//!
//! Models wrap JSON in prose and code fences. [`structured`] takes it out again, and where there
//! is none it says what is wrong in words that go back to the model. It never repairs: a value
//! that is cut off or malformed is an error, so that nobody acts on half an answer.

use std::fmt;

use serde_json::Value;

/// A place in a text, for people and models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why no structured answer could be taken out of a text, in words for the model that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// There is nothing but blanks.
    #[error("the answer is empty; a JSON value was expected")]
    Empty,
    /// Nothing in it looks like JSON.
    #[error(
        "the answer holds no JSON value: nothing in it begins like an object or a list; it begins \
         with `{begins}`"
    )]
    Missing {
        /// Its first words.
        begins: String,
    },
    /// A value begins and the text ends within it.
    #[error(
        "the JSON value that begins at {start} is cut off: {open}; give the whole value again, \
         closed"
    )]
    CutOff {
        /// Where the value begins.
        start: Place,
        /// What was still open at the end.
        open: String,
    },
    /// A value begins and ends, but what is between is not JSON.
    #[error("the JSON value that begins at {start} is wrong at {at}: {cause}, near `{found}`")]
    Malformed {
        /// Where the value begins.
        start: Place,
        /// Where it goes wrong.
        at: Place,
        /// What is wrong, with advice where a mistake is common.
        cause: String,
        /// What stands there.
        found: String,
    },
}

/// Takes the structured answer out of `text`. Tried in this order: the whole text as JSON; the
/// fenced code blocks, an object or list before a bare word or number; the first `{` to the last
/// `}` (or `[` to `]` if that comes first); the longest of the values that a scan for matching
/// brackets finds.
///
/// # Errors
/// When nothing in it is JSON, or the value that most looks like the answer is cut off or
/// malformed; then no smaller value within or beside it is taken instead.
pub fn structured(text: &str) -> Result<Value, RecoverError> {
    if text.trim().is_empty() {
        return Err(RecoverError::Empty);
    }
    whole(text)
        .or_else(|| fenced(text))
        .or_else(|| first_to_last(text))
        .map_or_else(|| scanned(text), Ok)
}

fn whole(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim_start_matches('\u{feff}').trim()).ok()
}

/// The value in a fenced block, whatever the block calls itself.
fn fenced(text: &str) -> Option<Value> {
    let mut single = None;
    for block in blocks(text) {
        match whole(block) {
            Some(value) if value.is_object() || value.is_array() => return Some(value),
            Some(value) => single = single.or(Some(value)),
            None => {}
        }
    }
    single
}

/// The insides of all fenced blocks; one that is not closed goes to the end.
fn blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    // Where the open block's content begins, and the mark that closes it.
    let mut open: Option<(usize, char, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim();
        let Some(mark) = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~')) else {
            continue;
        };
        let run = trimmed.chars().take_while(|&c| c == mark).count();
        match open {
            None if run >= 3 && !trimmed.get(run..).is_some_and(|rest| rest.contains('`')) => {
                open = Some((at, mark, run));
            }
            Some((from, closes, least)) if mark == closes && run >= least => {
                // A closing fence has nothing after its mark.
                if trimmed.len() == run {
                    blocks.extend(text.get(from..start));
                    open = None;
                }
            }
            None | Some(_) => {}
        }
    }
    blocks.extend(open.and_then(|(from, _, _)| text.get(from..)));
    blocks
}

fn first_to_last(text: &str) -> Option<Value> {
    let curly = text.find('{');
    let square = text.match_indices('[').map(|(at, _)| at).find(|&at| begins_value(text, at));
    // What begins within another value is a part of it, not the answer.
    let (start, end) = match (curly, square) {
        (Some(curly), Some(square)) if square < curly => (square, text.rfind(']')?),
        (Some(curly), _) => (curly, text.rfind('}')?),
        (None, square) => (square?, text.rfind(']')?),
    };
    serde_json::from_str(text.get(start..=end)?).ok()
}

/// Whether the bracket at `at` is followed by what may follow it in JSON.
fn begins_value(text: &str, at: usize) -> bool {
    let mut rest = text.get(at..).unwrap_or_default().chars();
    let bracket = rest.next();
    let next = rest.find(|c| !c.is_whitespace());
    match (bracket, next) {
        (Some('{'), Some(next)) => matches!(next, '"' | '}'),
        (Some('['), Some(next)) => {
            matches!(next, '"' | '{' | '[' | ']' | '-' | 't' | 'f' | 'n') || next.is_ascii_digit()
        }
        // The text ends right behind the bracket.
        (Some('{' | '['), None) => true,
        _ => false,
    }
}

/// The longest value that matching brackets enclose.
fn scanned(text: &str) -> Result<Value, RecoverError> {
    let mut best: Option<(usize, Result<Value, RecoverError>)> = None;
    let mut from = 0;
    while let Some(start) = next_value(text, from) {
        let end = closing(text, start)?;
        let span = text.get(start..end).unwrap_or_default();
        if best.as_ref().is_none_or(|(length, _)| span.len() > *length) {
            let parsed = serde_json::from_str(span);
            best = Some((span.len(), parsed.map_err(|error| malformed(text, start, &error))));
        }
        from = end;
    }
    best.map_or_else(|| Err(missing(text)), |(_, result)| result)
}

fn next_value(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.match_indices(['{', '[']).map(|(at, _)| from + at).find(|&at| begins_value(text, at))
}

/// The end of the value whose bracket is at `start`; brackets in strings do not count.
fn closing(text: &str, start: usize) -> Result<usize, RecoverError> {
    // Brackets that are open, with their places.
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut string: Option<usize> = None;
    let mut is_escaped = false;
    for (offset, c) in text.get(start..).unwrap_or_default().char_indices() {
        let at = start + offset;
        if string.is_some() {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => string = None,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => string = Some(at),
            '{' | '[' => open.push((c, at)),
            '}' | ']' => {
                // A wrong kind of bracket is for the parser to complain about.
                open.pop();
                if open.is_empty() {
                    return Ok(at + c.len_utf8());
                }
            }
            _ => {}
        }
    }
    let open = match (string, open.last()) {
        (Some(at), _) => {
            format!("the text ends within the string that begins at {}", place(text, at))
        }
        (None, Some((bracket, at))) => {
            format!("the `{bracket}` at {} is never closed", place(text, *at))
        }
        (None, None) => "the text ends within it".to_owned(),
    };
    Err(RecoverError::CutOff { start: place(text, start), open })
}

fn malformed(text: &str, start: usize, error: &serde_json::Error) -> RecoverError {
    let at = offset_of(text, start, error);
    let said = error.to_string();
    let cause = said.rsplit_once(" at line ").map_or(said.as_str(), |(cause, _)| cause);
    let advice = if cause.starts_with("control character") {
        "; inside a string a line break is written `\\n` and a tab `\\t`"
    } else if cause.starts_with("invalid escape") {
        "; inside a string a backslash is written `\\\\`"
    } else if cause.starts_with("trailing comma") {
        "; remove the comma before the closing bracket"
    } else {
        ""
    };
    RecoverError::Malformed {
        start: place(text, start),
        at: place(text, at),
        cause: format!("{cause}{advice}"),
        found: near(text, at),
    }
}

/// Where the parser stopped, as an offset in the whole text.
fn offset_of(text: &str, start: usize, error: &serde_json::Error) -> usize {
    let mut line_start = start;
    for _ in 1..error.line() {
        let rest = text.get(line_start..).unwrap_or_default();
        line_start += rest.find('\n').map_or(0, |at| at + 1);
    }
    floor_boundary(text, (line_start + error.column().saturating_sub(1)).min(text.len()))
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn place(text: &str, at: usize) -> Place {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    Place { line, column }
}

/// A few characters around a place, on one line.
fn near(text: &str, at: usize) -> String {
    const AROUND: usize = 12;
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let skip = before.chars().count().saturating_sub(AROUND);
    let found = before.chars().skip(skip).chain(after.chars().take(AROUND));
    found.flat_map(char::escape_debug).collect::<String>().replace("\\\"", "\"").replace("\\'", "'")
}

fn missing(text: &str) -> RecoverError {
    const FIRST: usize = 40;
    let text = text.trim();
    let mut begins: String = text.chars().take(FIRST).flat_map(char::escape_debug).collect();
    if text.chars().count() > FIRST {
        begins.push('…');
    }
    RecoverError::Missing { begins }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_step_takes_its_own_kind_of_answer() {
        let files = json!([{ "file_name": "main/a.c", "code": "int a[] = {1};\n" }]);
        for text in [
            r#"[{"file_name":"main/a.c","code":"int a[] = {1};\n"}]"#.to_owned(),
            format!("Here it is:\n```json\n{files:#}\n```\nDone, see [1]."),
            format!("```c\nint x[] = {{1}};\n```\nand\n~~~\n{files}\n~~~"),
            format!("Here: {files} as asked"),
            format!("In [1] and {{this}} I found: {files} - see `a[0]`."),
            format!("````toon\n{files}\n````"),
            format!("```json\n{files}"),
        ] {
            assert_eq!(structured(&text).as_ref(), Ok(&files), "{text}");
        }
    }

    #[test]
    fn a_list_of_one_is_not_taken_for_its_element() {
        assert_eq!(structured("x [{\"a\": 1}] y"), Ok(json!([{ "a": 1 }])));
        assert_eq!(structured("[1]: {\"a\": [1]}."), Ok(json!({ "a": [1] })));
    }

    #[test]
    fn half_an_answer_is_an_error_that_says_where_it_is_open() {
        let error = structured("Files:\n[{\"a\": 1}, {\"b\":").unwrap_err().to_string();
        assert_eq!(
            error,
            "the JSON value that begins at line 2, column 1 is cut off: the `{` at line 2, column \
             12 is never closed; give the whole value again, closed"
        );
        let error = structured("{\"a\": [1], \"b\": \"int").unwrap_err().to_string();
        assert!(error.contains("within the string that begins at line 1, column 17"), "{error}");
    }

    #[test]
    fn a_malformed_value_is_reported_with_place_cause_and_what_stands_there() {
        let error = structured("ä\n[{\"a\": 1,},\n {\"b\": 2}]").unwrap_err().to_string();
        assert_eq!(
            error,
            "the JSON value that begins at line 2, column 1 is wrong at line 2, column 10: \
             trailing comma; remove the comma before the closing bracket, near `ä\\n[{\"a\": 1,},\\n \
             {\"b\": 2}`"
        );
        let error = structured("{\"code\": \"a\nb\"}").unwrap_err().to_string();
        assert!(error.contains("a line break is written `\\n`"), "{error}");
    }

    #[test]
    fn prose_alone_is_an_error_that_quotes_it() {
        assert_eq!(structured(" \n"), Err(RecoverError::Empty));
        let error = structured("I could not { do } that.").unwrap_err().to_string();
        assert!(error.ends_with("begins with `I could not { do } that.`"), "{error}");
    }

    #[test]
    fn many_open_brackets_cost_no_more_than_a_look() {
        for bracket in ["[", "{", "{\"", "[ ", "{ x"] {
            assert!(structured(&bracket.repeat(200_000)).is_err());
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[ -~äß\n\t`{}\\[\\]\"]{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-z\"`]{0,6}", inner), 0..5)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    fn laid_out(value: &Value, is_pretty: bool) -> String {
        if is_pretty { format!("{value:#}") } else { value.to_string() }
    }

    proptest! {
        #[test]
        fn any_value_comes_out_of_a_fence(
            value in any_json(),
            is_pretty: bool,
            name in prop_oneof![
                Just(""), Just("json"), Just("c"), Just("python"), Just("reverty"), Just("toon"),
            ],
            before in "[A-Za-z ,.:{}\\[\\]\"\n]{0,40}",
            after in "[A-Za-z ,.:{}\\[\\]\"\n]{0,40}",
        ) {
            let json = laid_out(&value, is_pretty);
            let text = format!("{before}\n```{name}\n{json}\n```\n{after}");
            prop_assert_eq!(structured(&text), Ok(value));
        }

        #[test]
        fn any_object_or_list_comes_out_of_prose(
            value in any_json().prop_filter("a bare word is prose", |v| v.is_object() || v.is_array()),
            is_pretty: bool,
            before in "[A-Za-z ,.:\"\n-]{0,40}",
            after in "[A-Za-z ,.:\"\n-]{0,40}",
        ) {
            let text = format!("{before}{}{after}", laid_out(&value, is_pretty));
            // Within quotes it is a piece of text, and an answer as a whole.
            let whole = serde_json::from_str::<Value>(&text);
            prop_assume!(!whole.is_ok_and(|whole| whole.is_string()));
            prop_assert_eq!(structured(&text), Ok(value));
        }

        #[test]
        fn no_text_does_harm(text in any::<String>()) {
            let _ = structured(&text);
        }

        #[test]
        fn no_text_of_brackets_does_harm(text in "[\\[\\]{}\",:0tfn\\\\ \n`ä-]{0,60}") {
            if let Err(error) = structured(&text) {
                prop_assert!(!error.to_string().is_empty());
            }
        }

        #[test]
        fn a_cut_off_answer_is_never_taken_for_its_beginning(
            values in prop::collection::vec(any_json(), 2..4), cut in 1_usize..200,
        ) {
            let json = Value::from(values).to_string();
            let cut = floor_boundary(&json, cut.min(json.len() - 1));
            prop_assume!(cut > 0);
            prop_assert!(structured(&json[..cut]).is_err());
        }
    }
}
