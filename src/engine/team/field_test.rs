//! Tests of a field of an answer: what sends agents back, and what chooses among instructions.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A test as it is written: exactly one of the keys besides `field`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct FieldTestFile {
    /// Its name; a field within another is `outer.inner`.
    pub field: String,
    pub filled: Option<bool>,
    pub equals: Option<Value>,
    pub at_least: Option<i64>,
    pub at_most: Option<i64>,
}

/// A test of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTest {
    /// Names from the outside in.
    path: Vec<String>,
    wanted: FieldWish,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum FieldWish {
    /// Whether something is in it: a text, an entry, a number, a yes.
    Filled(bool),
    Equals(Value),
    AtLeast(i64),
    AtMost(i64),
}

impl FieldTest {
    /// Reads a test; `None` unless exactly one thing is asked of the field.
    pub(in crate::engine) fn read(file: FieldTestFile) -> Option<Self> {
        let FieldTestFile { field, filled, equals, at_least, at_most } = file;
        let mut wanted: Vec<FieldWish> = Vec::new();
        wanted.extend(filled.map(FieldWish::Filled));
        wanted.extend(equals.map(FieldWish::Equals));
        wanted.extend(at_least.map(FieldWish::AtLeast));
        wanted.extend(at_most.map(FieldWish::AtMost));
        let path: Vec<String> = field.split('.').map(|name| name.trim().to_owned()).collect();
        let is_named = path.iter().all(|name| !name.is_empty());
        match (wanted.pop(), wanted.is_empty() && is_named) {
            (Some(wanted), true) => Some(Self { path, wanted }),
            (Some(_) | None, _) => None,
        }
    }

    /// Whether it holds for an answer. Of a field that is not there only emptiness holds.
    pub(in crate::engine) fn holds(&self, answer: Option<&Value>) -> bool {
        let Some(answer) = answer else { return false };
        let found = self.path.iter().try_fold(answer, |value, name| value.get(name));
        match (&self.wanted, found) {
            (FieldWish::Filled(wanted), found) => found.is_some_and(is_filled) == *wanted,
            (FieldWish::Equals(wanted), found) => found == Some(wanted),
            (FieldWish::AtLeast(least), Some(found)) => {
                found.as_f64().is_some_and(|number| number >= *least as f64)
            }
            (FieldWish::AtMost(most), Some(found)) => {
                found.as_f64().is_some_and(|number| number <= *most as f64)
            }
            (FieldWish::AtLeast(_) | FieldWish::AtMost(_), None) => false,
        }
    }

    /// What holds, in words.
    pub(in crate::engine) fn in_words(&self) -> String {
        let field = self.path.join(".");
        match &self.wanted {
            FieldWish::Filled(true) => format!("{field} is not empty"),
            FieldWish::Filled(false) => format!("{field} is empty"),
            FieldWish::Equals(Value::String(text)) => format!("{field} is {text}"),
            FieldWish::Equals(value) => format!("{field} is {value}"),
            FieldWish::AtLeast(least) => format!("{field} is at least {least}"),
            FieldWish::AtMost(most) => format!("{field} is at most {most}"),
        }
    }
}

fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(all) => !all.is_empty(),
        Value::Object(all) => !all.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn test(toml: &str) -> Option<FieldTest> {
        FieldTest::read(toml::from_str(toml).unwrap())
    }

    fn holds(toml: &str, answer: Value) -> bool {
        test(toml).unwrap().holds(Some(&answer))
    }

    #[test]
    fn fields_are_tested_for_being_filled_equal_or_large() {
        let verdict = json!({ "code": ["a"], "tests": [], "level": 6, "on": { "language": "c" } });
        for (toml, wanted) in [
            ("field = \"code\"\nfilled = true", true),
            ("field = \"tests\"\nfilled = true", false),
            ("field = \"tests\"\nfilled = false", true),
            ("field = \"nowhere\"\nfilled = false", true),
            ("field = \"level\"\nat_least = 6", true),
            ("field = \"level\"\nat_most = 5", false),
            ("field = \"nowhere\"\nat_most = 5", false),
            ("field = \"on.language\"\nequals = \"c\"", true),
            ("field = \"level\"\nequals = 6", true),
        ] {
            assert_eq!(holds(toml, verdict.clone()), wanted, "{toml}");
        }
        assert!(!test("field = \"level\"\nat_least = 1").unwrap().holds(None));
    }

    #[test]
    fn a_test_asks_exactly_one_thing() {
        assert!(test("field = \"a\"").is_none());
        assert!(test("field = \"a\"\nat_least = 1\nat_most = 2").is_none());
        assert!(test("field = \"a..b\"\nfilled = true").is_none());
    }
}
