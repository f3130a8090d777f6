//! Where a tree with errors goes wrong, in words.
//!
//! Owns the choice of the place a person should look at. Must not parse.

use tree_sitter::{Node, Tree};

use super::lines::line_at;
use super::sanitize;
use super::tree::walk;

/// The first place where a text does not parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Counted from 1.
    pub line: usize,
    /// In bytes from 1.
    pub column: usize,
    /// What is wrong there, e.g. "`{` is never closed".
    pub message: String,
    /// Whether it is one for sure.
    pub certainty: Certainty,
}

/// Whether a text that does not parse is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// A compiler refuses it.
    Certain,
    /// A macro may make sense of it.
    Possible,
}

/// Longest piece of source that a message quotes, in characters.
const MAX_QUOTE: usize = 24;

/// The place to look at first: a bracket without partner, else the first error of the tree.
pub(super) fn locate(tree: &Tree, source: &str) -> SyntaxError {
    let (at, message) = lone_bracket(tree).unwrap_or_else(|| first_of(tree, source));
    place(source, at, message, Certainty::Certain)
}

/// The first error of a tree, in bytes of its text.
pub(super) fn first_of(tree: &Tree, source: &str) -> (usize, String) {
    let mut found = None;
    walk(tree.root_node(), |node| {
        if found.is_none() && (node.is_error() || node.is_missing()) {
            found = Some(describe(&node, source));
        }
        found.is_none()
    });
    found.unwrap_or((0, "does not parse".to_owned()))
}

fn describe(node: &Node<'_>, source: &str) -> (usize, String) {
    if node.is_missing() {
        // The place before: a missing `;` belongs to the end of its line, not to the next one.
        let before = source.get(..node.start_byte()).unwrap_or_default();
        let what = match node.kind() {
            kind if !node.is_named() => format!("`{kind}`"),
            "identifier" | "type_identifier" | "field_identifier" => "a name".to_owned(),
            "number" | "number_literal" | "string" => "a value".to_owned(),
            kind => kind.replace('_', " "),
        };
        return (before.trim_end().len(), format!("{what} is missing"));
    }
    let text = source.get(node.byte_range()).unwrap_or_default();
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    let mut quote: String = line.chars().take(MAX_QUOTE).collect();
    if quote.len() < line.len() {
        quote.push('…');
    }
    let at = node.start_byte() + (text.len() - text.trim_start().len());
    if quote.is_empty() {
        return (at, "something is missing".to_owned());
    }
    (at, format!("`{}` is not expected here", sanitize::line(&quote)))
}

/// The first bracket that closes nothing or is never closed.
fn lone_bracket(tree: &Tree) -> Option<(usize, String)> {
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut lone = None;
    walk(tree.root_node(), |node| {
        if lone.is_some() || node.child_count() > 0 || node.is_missing() {
            return lone.is_none();
        }
        match node.kind() {
            kind @ ("(" | "[" | "{") => open.push((node.start_byte(), kind)),
            kind @ (")" | "]" | "}") => {
                let fits =
                    |opened: &str| matches!((opened, kind), ("(", ")") | ("[", "]") | ("{", "}"));
                match open.last() {
                    Some((_, opened)) if fits(opened) => {
                        open.pop();
                    }
                    Some((at, opened)) => {
                        lone = Some((*at, format!("`{opened}` is not closed before `{kind}`")));
                    }
                    None => lone = Some((node.start_byte(), format!("`{kind}` closes nothing"))),
                }
            }
            _ => {}
        }
        true
    });
    lone.or_else(|| open.pop().map(|(at, kind)| (at, format!("`{kind}` is never closed"))))
}

/// An error at a place in bytes.
pub(super) fn place(source: &str, at: usize, message: String, certainty: Certainty) -> SyntaxError {
    let before = source.as_bytes().get(..at).unwrap_or_default();
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    SyntaxError { line: line_at(source, at), column: at - line_start + 1, message, certainty }
}

#[cfg(test)]
mod tests {
    use crate::model::ProjectPath;
    use crate::text::syntax::first_error;

    fn error(name: &str, source: &str) -> Option<String> {
        let found = first_error(&ProjectPath::new(name).unwrap(), source)?;
        Some(format!("{}:{} {}", found.line, found.column, found.message))
    }

    #[test]
    fn good_files_have_none() {
        let source = "#include <stdio.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\
            static const char *TAG = \"a\";\nvoid IRAM_ATTR f(void *arg) {\n\
            ESP_ERROR_CHECK(nvs_flash_init());\n    for (int i = 0; i < 3; i++) { ESP_LOGI(TAG, \"%d\" PRIu32, i); }\n\
            i2c_config_t c = { .mode = I2C_MODE_MASTER, .scl_io_num = GPIO_NUM_22 };\n}\n\
            #ifdef __cplusplus\n}\n#endif\n";
        assert_eq!(error("main/a.c", source), None);
        assert_eq!(
            error("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(a)\n"),
            None
        );
        assert_eq!(error("a.json", "{\"a\": [1, 2]}"), None);
        assert_eq!(error("README.md", "} not code {"), None);
    }

    #[test]
    fn bad_files_say_where_and_what() {
        let cases = [
            ("a.c", "int f(void) {\n    return 1\n}\n", "2:13 `;` is missing"),
            ("a.c", "int f(void) {\n  if (1) {\n  return 1;\n}\n", "1:13 `{` is never closed"),
            ("a.c", "int a;\n}\n", "2:1 `}` closes nothing"),
            ("a.c", "int f(void) { g(1; }\n", "1:16 `(` is not closed before `}`"),
            ("a.json", "{\"a\": }", "1:6 a value is missing"),
            ("CMakeLists.txt", "project(a\n", "1:8 `(` is never closed"),
        ];
        for (name, source, expected) in cases {
            assert_eq!(error(name, source).as_deref(), Some(expected), "{source}");
        }
    }
}
