//! The forms of answers that the engine reads: files, and fields.
//!
//! Owns how an answer is taken out of what a model wrote, and the words for one that is not as it
//! is to be. Must not ask a model.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::fields::{self, Field, FieldKind, kind_of};
use crate::model::ProjectPath;
use crate::text::{recover, toon};

/// What an agent's whole answer is.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerShape {
    /// A list of files with their content.
    Files,
    /// An object with these fields.
    Fields(Vec<Field>),
}

/// The notation of an answer with fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchange {
    #[default]
    Json,
    Toon,
}

impl Exchange {
    /// Ending of its files.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Toon => "toon",
        }
    }

    /// A value in this notation; JSON where the other would lose something.
    #[must_use]
    pub fn encode(self, value: &Value) -> String {
        let toon = (self == Self::Toon).then(|| toon::encode(value)).flatten();
        toon.unwrap_or_else(|| format!("{value:#}"))
    }

    /// What a model is given of a tool's answer: JSON, or this notation where that is shorter.
    #[must_use]
    pub fn compact(self, value: &Value) -> String {
        let json = value.to_string();
        let toon = (self == Self::Toon).then(|| toon::encode(value)).flatten();
        toon.filter(|toon| toon.len() < json.len()).unwrap_or(json)
    }
}

impl AnswerShape {
    /// Takes the answer out of what an agent wrote.
    ///
    /// # Errors
    /// What is wrong with it: the place, what is there, and what was expected.
    pub(in crate::engine) fn read(&self, text: &str, exchange: Exchange) -> Result<Value, String> {
        // Its lengths, such as `[2]`, would pass for a list of JSON.
        let is_plain = exchange == Exchange::Toon && !text.contains("```");
        let whole = is_plain.then(|| toon::decode(text.trim()).ok()).flatten();
        if let Some(value) = whole.filter(|value| value.is_object() && self.fault(value).is_none())
        {
            return Ok(value);
        }
        let value = match (recover::structured(text), exchange) {
            (Ok(value), _) => value,
            (Err(error), Exchange::Toon) if !text.contains("```") => {
                match toon::decode(text.trim()) {
                    Ok(value) if value.is_object() => value,
                    Ok(_) | Err(_) => return Err(error.to_string()),
                }
            }
            (Err(error), _) => return Err(error.to_string()),
        };
        match self.fault(&value) {
            Some(fault) => Err(fault),
            None => Ok(value),
        }
    }

    /// What is wrong with a value.
    pub(in crate::engine) fn fault(&self, value: &Value) -> Option<String> {
        match self {
            Self::Fields(fields) => fields::fault(fields, value, ""),
            Self::Files => match files_in(value) {
                Some(files) => files_fault(files),
                None => {
                    let found = kind_of(value);
                    Some(format!("the answer: {found} instead of a list of files"))
                }
            },
        }
    }

    /// Whether it has a list of that name whose entries hold the number of a `step` and a `reason`.
    pub(super) fn names_steps(&self, list: &str) -> bool {
        let Self::Fields(fields) = self else { return false };
        let list = fields.iter().find(|it| it.name == list && it.kind == FieldKind::List);
        let has = |name: &str, kind: FieldKind| {
            list.is_some_and(|it| it.fields.iter().any(|it| it.name == name && it.kind == kind))
        };
        has("step", FieldKind::Integer) && has("reason", FieldKind::Text)
    }

    /// What an agent is told about it; `None` where its own instructions say it.
    pub(in crate::engine) fn in_words(&self, exchange: Exchange) -> Option<String> {
        match (self, exchange) {
            (Self::Fields(fields), Exchange::Toon) => Some(format!(
                "Answer with one ```toon block that holds these fields and nothing else, described \
                 here as a JSON schema:\n`{}`\nIn TOON an object is `key: value` lines, indented by \
                 two blanks below their key; a list of texts is `key[2]: one,two`; a list of alike \
                 objects is `key[2]{{a,b}}:` with one line `1,2` for each below it. The number in \
                 brackets is that of the entries. A text with a comma, a colon, a line break or \
                 quotes is written as in JSON.",
                fields::schema(fields)
            )),
            (Self::Fields(_) | Self::Files, _) => None,
        }
    }
}

/// The files in an answer: a list, or an object that holds one.
pub(in crate::engine) fn files_in(answer: &Value) -> Option<&Vec<Value>> {
    match answer {
        Value::Array(files) => Some(files),
        Value::Object(fields) => fields.get("files")?.as_array(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The names and contents of a list of files.
pub(in crate::engine) fn named_files(files: &[Value]) -> impl Iterator<Item = (&str, &str)> {
    files.iter().filter_map(|file| {
        let text = |key: &str| file.get(key).and_then(Value::as_str);
        Some((text("file_name")?, text("code")?))
    })
}

fn files_fault(files: &[Value]) -> Option<String> {
    let mut seen = BTreeSet::new();
    files.iter().enumerate().find_map(|(index, file)| {
        let Value::Object(fields) = file else {
            let found = kind_of(file);
            return Some(format!("[{index}]: {found} instead of `file_name` and `code`"));
        };
        for key in ["file_name", "code"] {
            match fields.get(key) {
                Some(Value::String(_)) => {}
                Some(other) => {
                    return Some(format!("[{index}].{key}: {} instead of a text", kind_of(other)));
                }
                None => return Some(format!("[{index}].{key}: missing; a text was expected")),
            }
        }
        let name = fields.get("file_name").and_then(Value::as_str).unwrap_or_default();
        if let Err(error) = ProjectPath::new(name) {
            return Some(format!("[{index}].file_name: {error}"));
        }
        (!seen.insert(name)).then(|| format!("[{index}].file_name: `{name}` is listed twice"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::team::fields::FieldKind;

    #[test]
    fn files_are_found_in_a_list_and_in_the_form() {
        let list = json!([{ "file_name": "a.c", "code": "" }]);
        assert_eq!(files_in(&list), list.as_array());
        assert_eq!(files_in(&json!({ "files": list })), list.as_array());
        assert_eq!(files_in(&json!({ "file_name": "a.c" })), None);
        assert_eq!(files_in(&json!("files")), None);
    }

    #[test]
    fn a_list_of_files_that_is_cut_off_or_not_one_is_told_with_its_place() {
        let read = |text: &str| AnswerShape::Files.read(text, Exchange::Json);
        assert!(read(r#"[{"file_name": "a.c", "code": "int a;"}]"#).is_ok());
        assert!(read("Nothing is to be changed: []").is_ok());
        for (text, words) in [
            ("I have written it.", "the answer holds no JSON value"),
            (r#"[{"file_name": "a.c", "code": "int a;"}, {"file_name": "b.c", "co"#, "is cut off"),
            (r#"{"file_name": "a.c", "code": ""}"#, "an object of 2 instead of a list of files"),
            (r#"[{"file_name": "a.c"}]"#, "[0].code: missing; a text was expected"),
            (r#"[{"file_name": "a.c", "code": ["int a;"]}]"#, "[0].code: a list of 1 instead of"),
            (r#"["a.c"]"#, "[0]: the text “a.c” instead of `file_name` and `code`"),
            (r#"[{"file_name": "../a.c", "code": ""}]"#, "[0].file_name: "),
            (
                r#"[{"file_name": "a.c", "code": "1"}, {"file_name": "a.c", "code": "2"}]"#,
                "[1].file_name: `a.c` is listed twice",
            ),
        ] {
            let fault = read(text).unwrap_err();
            assert!(fault.contains(words), "{text}: {fault}");
        }
    }

    #[test]
    fn toon_is_read_in_a_block_and_bare_and_json_is_taken_too() {
        let field = Field {
            name: "complexity".into(),
            kind: FieldKind::Integer,
            about: String::new(),
            minimum: Some(1),
            maximum: Some(10),
            choices: Vec::new(),
            fields: Vec::new(),
        };
        let shape = AnswerShape::Fields(vec![field]);
        let read = |text: &str| shape.read(text, Exchange::Toon);
        for text in ["```toon\ncomplexity: 4\n```", "complexity: 4\n", r#"{"complexity": 4}"#] {
            assert_eq!(read(text), Ok(json!({ "complexity": 4 })), "{text}");
        }
        assert!(read("It is easy.").unwrap_err().contains("no JSON value"));
        assert!(read("```toon\ncomplexity: easy\n```").unwrap_err().contains("the text “easy”"));
        assert!(shape.in_words(Exchange::Toon).is_some_and(|words| words.contains("complexity")));
    }
}
