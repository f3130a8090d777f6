//! The fields of an answer as an agent's file lists them: what services are asked for, and what is
//! wrong with an answer that does not have them.
//!
//! Must not know whose answer it is.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A field of an answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: FieldKind,
    /// What it is, for the model.
    #[serde(default)]
    pub about: String,
    /// The smallest number, the fewest characters, or the fewest entries.
    pub minimum: Option<i64>,
    /// The largest of these.
    pub maximum: Option<i64>,
    /// The only texts there may be.
    #[serde(default)]
    pub choices: Vec<String>,
    /// Of an object, or of each entry of a list; a list without them holds texts.
    #[serde(default)]
    pub fields: Vec<Field>,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    Text,
    Integer,
    Number,
    YesNo,
    List,
    Object,
}

/// The schema of an object with these fields and no others, as the strictest service wants it.
pub(super) fn schema(fields: &[Field]) -> Value {
    object(fields.iter().map(|field| (field.name.clone(), field.schema())).collect())
}

/// The schema of an object with exactly these fields.
pub(super) fn object(properties: Map<String, Value>) -> Value {
    let names: Vec<&String> = properties.keys().collect();
    let required = json!(names);
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// What is wrong with a value that is to have these fields: the place, what is there, and what was
/// expected. Fields that nobody asked for are no fault.
pub(super) fn fault(fields: &[Field], value: &Value, place: &str) -> Option<String> {
    let Value::Object(found) = value else {
        let place = if place.is_empty() { "the answer" } else { place };
        return Some(format!("{place}: {} instead of an object", kind_of(value)));
    };
    fields.iter().find_map(|field| {
        let place = match place.is_empty() {
            true => field.name.clone(),
            false => format!("{place}.{}", field.name),
        };
        match found.get(&field.name) {
            Some(value) => field.fault(value, &place),
            None => Some(format!("{place}: missing; {} was expected", field.expected())),
        }
    })
}

impl Field {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            FieldKind::Text => json!({ "type": "string" }),
            FieldKind::Integer => json!({ "type": "integer" }),
            FieldKind::Number => json!({ "type": "number" }),
            FieldKind::YesNo => json!({ "type": "boolean" }),
            FieldKind::Object => schema(&self.fields),
            FieldKind::List if self.fields.is_empty() => {
                json!({ "type": "array", "items": { "type": "string" } })
            }
            FieldKind::List => json!({ "type": "array", "items": schema(&self.fields) }),
        };
        if !self.choices.is_empty() {
            schema["enum"] = json!(self.choices);
        }
        // Bounds go into words: the strictest service takes none in a schema.
        let about = match (self.about.is_empty(), self.bounds()) {
            (true, None) => return schema,
            (true, Some(bounds)) => bounds,
            (false, None) => self.about.clone(),
            (false, Some(bounds)) => format!("{} ({bounds})", self.about),
        };
        schema["description"] = json!(about);
        schema
    }

    /// What is to be there, in words.
    fn expected(&self) -> String {
        let kind = match self.kind {
            FieldKind::Text if !self.choices.is_empty() => {
                return format!("one of {}", self.choices.join(", "));
            }
            FieldKind::Text => "a text",
            FieldKind::Integer => "an integer",
            FieldKind::Number => "a number",
            FieldKind::YesNo => "true or false",
            FieldKind::List => "a list",
            FieldKind::Object => "an object",
        };
        match self.bounds() {
            Some(bounds) => format!("{kind}, {bounds},"),
            None => kind.to_owned(),
        }
    }

    fn bounds(&self) -> Option<String> {
        let unit = match self.kind {
            FieldKind::Text => " characters",
            FieldKind::List => " entries",
            FieldKind::Integer | FieldKind::Number | FieldKind::YesNo | FieldKind::Object => "",
        };
        Some(match (self.minimum, self.maximum) {
            (Some(least), Some(most)) => format!("{least} to {most}{unit}"),
            (Some(least), None) => format!("at least {least}{unit}"),
            (None, Some(most)) => format!("at most {most}{unit}"),
            (None, None) => return None,
        })
    }

    fn fault(&self, value: &Value, place: &str) -> Option<String> {
        let is_kind = match self.kind {
            FieldKind::Text => value.is_string(),
            FieldKind::Integer => value.is_i64() || value.is_u64(),
            FieldKind::Number => value.is_number(),
            FieldKind::YesNo => value.is_boolean(),
            FieldKind::List => value.is_array(),
            FieldKind::Object => value.is_object(),
        };
        if !is_kind {
            let expected = self.expected();
            return Some(format!("{place}: {} instead of {expected}", kind_of(value)));
        }
        self.inner_fault(value, place).or_else(|| {
            let (size, shown) = match value {
                Value::String(text) => (text.trim().chars().count() as f64, kind_of(value)),
                Value::Array(all) => (all.len() as f64, format!("{} entries", all.len())),
                Value::Number(number) => (number.as_f64()?, number.to_string()),
                Value::Null | Value::Bool(_) | Value::Object(_) => return None,
            };
            let is_low = self.minimum.is_some_and(|least| size < least as f64);
            let is_high = self.maximum.is_some_and(|most| size > most as f64);
            let expected = self.expected();
            (is_low || is_high).then(|| format!("{place}: {shown} instead of {expected}"))
        })
    }

    /// What is wrong within it.
    fn inner_fault(&self, value: &Value, place: &str) -> Option<String> {
        match value {
            Value::String(text) => {
                let is_known = self.choices.is_empty() || self.choices.contains(text);
                let expected = self.expected();
                (!is_known).then(|| format!("{place}: {} instead of {expected}", kind_of(value)))
            }
            Value::Object(_) => fault(&self.fields, value, place),
            Value::Array(all) => all.iter().enumerate().find_map(|(index, entry)| {
                let place = format!("{place}[{index}]");
                match self.fields.is_empty() {
                    true if entry.is_string() => None,
                    true => Some(format!("{place}: {} instead of a text", kind_of(entry))),
                    false => fault(&self.fields, entry, &place),
                }
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
}

/// What a value is, with its beginning.
pub(super) fn kind_of(value: &Value) -> String {
    const MOST: usize = 40;
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.trim().is_empty() => "an empty text".to_owned(),
        Value::String(text) => {
            let text = crate::text::sanitize::line(text);
            let short: String = text.chars().take(MOST).collect();
            format!("the text “{short}{}”", if short.len() < text.len() { "…" } else { "" })
        }
        Value::Array(all) => format!("a list of {}", all.len()),
        Value::Object(all) => format!("an object of {}", all.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(toml: &str) -> Vec<Field> {
        #[derive(Deserialize)]
        struct TestForm {
            form: Vec<Field>,
        }
        toml::from_str::<TestForm>(toml).unwrap().form
    }

    fn wrong(toml: &str, value: Value) -> String {
        fault(&fields(toml), &value, "").unwrap_or_default()
    }

    const SCALE: &str =
        "[[form]]\nname = \"complexity\"\ntype = \"integer\"\nminimum = 1\nmaximum = 10";

    #[test]
    fn a_fault_names_place_value_and_what_was_expected() {
        assert_eq!(wrong(SCALE, json!({ "complexity": 4 })), "");
        for (value, words) in [
            (json!({ "complexity": 11 }), "complexity: 11 instead of an integer, 1 to 10,"),
            (json!({ "complexity": 0 }), "complexity: 0 instead of an integer, 1 to 10,"),
            (json!({ "complexity": 4.5 }), "complexity: 4.5 instead of an integer, 1 to 10,"),
            (json!({ "complexity": "4" }), "complexity: the text “4” instead of"),
            (json!({ "level": 4 }), "complexity: missing; an integer, 1 to 10, was expected"),
            (json!([4]), "the answer: a list of 1 instead of an object"),
        ] {
            let fault = wrong(SCALE, value);
            assert!(fault.starts_with(words), "{words}: {fault}");
        }
    }

    #[test]
    fn faults_within_lists_and_objects_have_their_path() {
        let form = "[[form]]\nname = \"signatures\"\ntype = \"list\"\nminimum = 1\n\
                    [[form.fields]]\nname = \"name\"\ntype = \"text\"\nminimum = 1\n\
                    [[form.fields]]\nname = \"kind\"\ntype = \"text\"\nchoices = [\"function\", \"class\"]";
        let one = |name: &str, kind: &str| json!({ "name": name, "kind": kind });
        assert_eq!(wrong(form, json!({ "signatures": [one("f", "class")], "more": 1 })), "");
        assert_eq!(
            wrong(form, json!({ "signatures": [] })),
            "signatures: 0 entries instead of a list, at least 1 entries,"
        );
        assert_eq!(
            wrong(form, json!({ "signatures": [one("f", "class"), one("g", "void")] })),
            "signatures[1].kind: the text “void” instead of one of function, class"
        );
        let empty = wrong(form, json!({ "signatures": [one(" ", "class")] }));
        assert!(empty.starts_with("signatures[0].name: an empty text instead of"), "{empty}");
        assert!(wrong(form, json!({ "signatures": "f" })).starts_with("signatures: the text “f”"));
        let texts = "[[form]]\nname = \"goals\"\ntype = \"list\"";
        assert_eq!(wrong(texts, json!({ "goals": ["a", 2] })), "goals[1]: 2 instead of a text");
    }
}
