//! Fills in what the framework's documents leave open for each chip: `{IDF_TARGET_NAME}`, and values
//! that a document defines as `{IDF_TARGET_X:default="…", esp32c3="…"}`.
//!
//! Pure. An index is for all chips: values that differ are all named. What is not known stays as it is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Most values of other chips that are named beside the usual one.
const MOST_VALUES: usize = 4;

/// What the build of the documents fills in itself.
const KNOWN: [(&str, &str); 4] = [
    ("IDF_TARGET_NAME", "ESP32"),
    ("IDF_TARGET_PATH_NAME", "esp32"),
    ("IDF_TARGET_CFG_PREFIX", "ESP32"),
    ("IDF_TARGET_TOOLCHAIN_PREFIX", "xtensa-esp32-elf"),
];

/// Names with their values.
#[derive(Debug, Default)]
pub(super) struct Substitutions(BTreeMap<String, String>);

impl Substitutions {
    /// Takes the definitions of a text, and fills them in.
    pub fn fill<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        static DEFINITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
            let chips = r#"((?:\s*,\s*[a-z0-9]+(?:\s*,\s*[a-z0-9]+)*\s*=\s*"[^"\n]*")*)"#;
            let default = r#"\{(IDF_TARGET_[A-Z0-9_]+)\s*:\s*default\s*=\s*"([^"\n]*)""#;
            Regex::new(&format!(r"{default}{chips}\s*\}}")).ok()
        });
        static USE: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"\{(IDF_TARGET_[A-Z0-9_]+)\}").ok());
        if !text.contains("{IDF_TARGET_") {
            return Cow::Borrowed(text);
        }
        let (Some(definition), Some(usage)) = (&*DEFINITION, &*USE) else {
            return Cow::Borrowed(text);
        };
        for found in definition.captures_iter(text) {
            self.0.insert(found[1].to_owned(), value(&found[2], &found[3]));
        }
        let without = definition.replace_all(text, "");
        let filled = usage.replace_all(&without, |found: &Captures<'_>| {
            let known = || KNOWN.iter().find(|(name, _)| *name == &found[1]).map(|(_, it)| *it);
            self.0.get(&found[1]).map(String::as_str).or_else(known).unwrap_or(&found[0]).to_owned()
        });
        Cow::Owned(filled.into_owned())
    }
}

/// The usual value, and those of other chips if they are few.
fn value(default: &str, others: &str) -> String {
    static OTHER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"([a-z0-9]+(?:\s*,\s*[a-z0-9]+)*)\s*=\s*"([^"]*)""#).ok());
    let is_open = default.to_lowercase().starts_with("not updated");
    let mut values: Vec<(String, Vec<String>)> = Vec::new();
    for found in OTHER.iter().flat_map(|other| other.captures_iter(others)) {
        let chips = found[1].split(',').map(|chip| chip.trim().to_owned());
        match values.iter_mut().find(|(value, _)| value == &found[2]) {
            Some((_, known)) => known.extend(chips),
            None if found[2] == *default => {}
            None => values.push((found[2].to_owned(), chips.collect())),
        }
    }
    let named = |(value, chips): &(String, Vec<String>)| format!("{}: {value}", chips.join(", "));
    match (is_open, values.as_slice()) {
        (_, []) => default.to_owned(),
        (true, [(only, _)]) => only.clone(),
        (_, many) if many.len() > MOST_VALUES => {
            if is_open {
                many[0].0.clone()
            } else {
                default.to_owned()
            }
        }
        (true, many) => many.iter().map(named).collect::<Vec<_>>().join("; "),
        (false, many) => {
            format!("{default} ({})", many.iter().map(named).collect::<Vec<_>>().join("; "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_of_chips_are_filled_in() {
        let text = "{IDF_TARGET_SIZE:default = \"64 KB\", esp32 = \"48 KB\"}\n\
                    {IDF_TARGET_FUSE:default=\"Not Updated!\", esp32s3=\"A\", esp32c3, esp32c6=\"B\"}\n\
                    {IDF_TARGET_ONE:default=\"x\"}\n\
                    The {IDF_TARGET_NAME} has {IDF_TARGET_SIZE}, {IDF_TARGET_FUSE}, {IDF_TARGET_ONE} \
                    and {IDF_TARGET_OTHER}.";
        let mut known = Substitutions::default();
        assert_eq!(
            known.fill(text).trim(),
            "The ESP32 has 64 KB (esp32: 48 KB), esp32s3: A; esp32c3, esp32c6: B, x and \
             {IDF_TARGET_OTHER}."
        );
        assert_eq!(known.fill("again {IDF_TARGET_ONE}"), "again x");
        assert!(matches!(known.fill("plain {x}"), Cow::Borrowed(_)));
    }
}
