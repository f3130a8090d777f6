//! The files that an attempt has written so far and that are not in the project yet.
//!
//! A fold of answers and of what tools made of them. Must not touch the project.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::engine::team::{files_in, named_files};

/// Files by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) struct FileSet(BTreeMap<String, HeldFile>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct HeldFile {
    code: String,
    /// Whether the project holds it as it is here.
    is_saved: bool,
}

impl FileSet {
    /// Takes the files of an answer; a file of the same name is replaced.
    pub fn take(&mut self, answer: &Value) {
        for (name, code) in
            files_in(answer).map(Vec::as_slice).map(named_files).into_iter().flatten()
        {
            self.put(name, code);
        }
    }

    fn put(&mut self, name: &str, code: &str) {
        let is_same = self.0.get(name).is_some_and(|held| held.code == code);
        if !is_same {
            let held = HeldFile { code: code.to_owned(), is_saved: false };
            self.0.insert(name.to_owned(), held);
        }
    }

    /// Takes what a tool says of files: those that it made, those that were saved, and what the
    /// person made of them.
    pub fn learn(&mut self, result: &Value) {
        let list = |key: &str| result.get(key).and_then(Value::as_array).map(Vec::as_slice);
        for (name, code) in named_files(list("made").unwrap_or_default()) {
            self.put(name, code);
        }
        for (name, content) in edited(result) {
            self.put(name, content);
        }
        for name in list("saved").unwrap_or_default().iter().filter_map(Value::as_str) {
            if let Some(held) = self.0.get_mut(name) {
                held.is_saved = true;
            }
        }
    }

    /// All of them, as the argument of a tool.
    pub fn all(&self) -> Value {
        Self::list(self.0.iter())
    }

    /// Those that the project does not hold; `None` when it holds all.
    pub fn unsaved(&self) -> Option<Value> {
        let is_unsaved = |(_, held): &(&String, &HeldFile)| !held.is_saved;
        let list = Self::list(self.0.iter().filter(is_unsaved));
        list.as_array().is_some_and(|all| !all.is_empty()).then_some(list)
    }

    /// The names of those that the project does not hold.
    pub fn unsaved_names(&self) -> Vec<String> {
        let unsaved = self.0.iter().filter(|(_, held)| !held.is_saved);
        unsaved.map(|(name, _)| name.clone()).collect()
    }

    fn list<'a>(files: impl Iterator<Item = (&'a String, &'a HeldFile)>) -> Value {
        files.map(|(name, held)| json!({ "file_name": name, "code": held.code })).collect()
    }
}

/// The files that the person has written otherwise than they were proposed, with what was saved.
pub(in crate::engine) fn edited(result: &Value) -> impl Iterator<Item = (&str, &str)> {
    let review = result.get("review").and_then(Value::as_array).into_iter().flatten();
    review.filter_map(|entry| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        Some((text("file_name")?, text("saved_content")?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_versions_replace_older_ones_and_what_is_saved_is_not_proposed_again() {
        let mut files = FileSet::default();
        files.take(
            &json!([{ "file_name": "a.py", "code": "1" }, { "file_name": "b.py", "code": "1" }]),
        );
        files.learn(&json!({ "made": [{ "file_name": "c.py", "code": "1" }] }));
        files.learn(&json!({ "saved": ["a.py", "c.py"] }));
        assert_eq!(files.unsaved(), Some(json!([{ "file_name": "b.py", "code": "1" }])));
        files.take(&json!({ "files": [{ "file_name": "a.py", "code": "1" }, { "file_name": "c.py", "code": "2" }] }));
        let names = |value: Value| -> Vec<String> {
            let all = value.as_array().unwrap().clone();
            all.iter().map(|file| file["file_name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(files.unsaved().unwrap()), ["b.py", "c.py"]);
        assert_eq!(names(files.all()), ["a.py", "b.py", "c.py"]);
        files.learn(&json!({ "saved": ["b.py", "c.py"], "review": [
            { "file_name": "b.py", "decision": "approved, edited", "saved_content": "mine" },
        ] }));
        assert_eq!((files.unsaved(), files.unsaved_names()), (None, Vec::new()));
        assert_eq!(files.all()[1], json!({ "file_name": "b.py", "code": "mine" }));
    }
}
