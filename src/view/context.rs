//! Files whose content is in what an agent was told.
//!
//! Knows no tool: any object that names a file and holds its text counts, and any text of files one
//! after the other.

use serde_json::Value;

use crate::model::ProjectPath;
use crate::text::file_blocks;

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
        Value::String(text) => found.extend(
            file_blocks::files(text)
                .into_iter()
                .filter_map(|(path, bytes)| Some((ProjectPath::new(path).ok()?, bytes as u64))),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
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
        ], "text": "### File: main/all.c ###\nint a;\n\n### File: ../no ###\nx\n" });
        let found: Vec<(String, u64)> =
            files_in(&answer).into_iter().map(|(path, bytes)| (path.to_string(), bytes)).collect();
        let expected = [("main/a.c", 5), ("c.h", 1), ("main/all.c", 8)];
        assert_eq!(found, expected.map(|(path, bytes)| (path.to_owned(), bytes)));
    }
}
