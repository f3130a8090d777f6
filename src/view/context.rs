//! Files whose content is in what an agent was told.
//!
//! Knows no tool: any object that names a file and holds its text counts.

use serde_json::Value;

use crate::model::ProjectPath;

/// How deep answers are looked into.
const DEPTH: u8 = 6;

/// Files in a tool's answer, with the bytes of text that came with each.
pub(super) fn files_in(answer: &Value) -> Vec<(ProjectPath, u64)> {
    let mut found = Vec::new();
    look(answer, DEPTH, &mut found);
    found
}

fn look(value: &Value, depth: u8, found: &mut Vec<(ProjectPath, u64)>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Array(items) => items.iter().for_each(|item| look(item, depth, found)),
        Value::Object(fields) => {
            let text = |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key)?.as_str());
            let path = text(&["path", "file_name", "file"]);
            let content = text(&["content", "code", "text", "declarations"]);
            if let (Some(path), Some(content)) = (path, content)
                && let Ok(path) = ProjectPath::new(path)
            {
                found.push((path, content.len() as u64));
            }
            fields.values().for_each(|field| look(field, depth, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_found_at_any_depth_and_only_with_their_text() {
        let answer = json!({ "ok": true, "files": [
            { "path": "main/a.c", "content": "12345" },
            { "file_name": "b.c", "bytes": 7 },
            { "deep": [{ "file_name": "c.h", "code": "x" }] },
            { "path": "../outside", "content": "no" },
        ] });
        let found: Vec<(String, u64)> =
            files_in(&answer).into_iter().map(|(path, bytes)| (path.to_string(), bytes)).collect();
        assert_eq!(found, [("main/a.c".to_owned(), 5), ("c.h".to_owned(), 1)]);
    }
}
