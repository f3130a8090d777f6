//! The signatures of a source file: the functions and types that other files may use, in one line each.
//!
//! C, C++ and Python; what is private by `static` or by a name with `_` is left out. Must not read files.

use std::time::Duration;

use tree_sitter::Node;

use super::declarations::{DeclarationKind, read_header};
use crate::model::ProjectPath;
use crate::text::tree::{Language, Limits, parse, text};

/// Longest signature, in characters.
const MOST: usize = 200;

/// The signatures in a file, in its order; nothing for other languages than these three.
#[must_use]
pub fn signatures(path: &ProjectPath, source: &str, budget: Duration) -> Vec<String> {
    match path.extension() {
        Some("c" | "h" | "cpp" | "hpp" | "cc" | "hh" | "cxx" | "hxx" | "ino") => {
            of_c(path, source, budget)
        }
        Some("py") => of_python(source, budget),
        Some(_) | None => Vec::new(),
    }
}

fn of_c(path: &ProjectPath, source: &str, budget: Duration) -> Vec<String> {
    let declarations = read_header(path, source, budget).declarations.into_iter();
    let is_header = path.extension().is_some_and(|ending| ending.starts_with('h'));
    let is_listed = |kind: DeclarationKind| match kind {
        DeclarationKind::Prototype | DeclarationKind::Type | DeclarationKind::Macro => is_header,
        DeclarationKind::Inline | DeclarationKind::Variable => true,
    };
    let listed = declarations.filter(|it| is_listed(it.kind));
    // A function of one file alone, and one that a header tells of anyway.
    let listed = listed.filter(|it| is_header || !it.text.starts_with("static"));
    listed.map(|it| short(&it.text)).collect()
}

fn of_python(source: &str, budget: Duration) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(tree) = parse(Language::Python, source, Limits::within(budget)) {
        block(tree.root_node(), source, "", &mut found);
    }
    found
}

/// The functions and classes of a block, and the methods of its classes.
fn block(node: Node<'_>, source: &str, indent: &str, found: &mut Vec<String>) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        let inner = child.child_by_field_name("definition").unwrap_or(child);
        let is_class = inner.kind() == "class_definition";
        if !is_class && inner.kind() != "function_definition" {
            continue;
        }
        let name = inner.child_by_field_name("name").map_or("", |name| text(name, source));
        if name.starts_with('_') && name != "__init__" {
            continue;
        }
        let body = inner.child_by_field_name("body");
        let end = body.map_or(inner.end_byte(), |body| body.start_byte());
        let head = source.get(inner.start_byte()..end).unwrap_or_default();
        let head = head.rsplit_once(':').map_or(head, |(head, _)| head);
        found.push(format!("{indent}{}", short(head)));
        if let Some(body) = body.filter(|_| is_class && indent.is_empty()) {
            block(body, source, "    ", found);
        }
    }
}

/// White space collapsed, and cut where it is too long.
fn short(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match joined.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", joined.get(..end).unwrap_or_default()),
        None => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, source: &str) -> Vec<String> {
        signatures(&ProjectPath::new(path).unwrap(), source, Duration::from_secs(20))
    }

    #[test]
    fn functions_and_methods_of_python_are_told_without_their_bodies() {
        let source = "import os\n\nLIMIT = 3\n\ndef add(a: int,\n        b: int = 2) -> int:\n    \
                      def inner(): pass\n    return a + b\n\nclass Store(dict):\n    \"\"\"x: y\"\"\"\n    \
                      def __init__(self): self.x = 1\n    def _hidden(self): pass\n    @property\n    \
                      def size(self) -> int:\n        return 1\n\nasync def wait(): pass\n";
        assert_eq!(
            of("a.py", source),
            [
                "def add(a: int, b: int = 2) -> int",
                "class Store(dict)",
                "    def __init__(self)",
                "    def size(self) -> int",
                "async def wait()"
            ]
        );
    }

    #[test]
    fn headers_of_c_are_told_whole_and_sources_by_what_is_not_static() {
        let header = "#pragma once\n#define TWICE(x) (2 * (x))\nstruct task { int a; };\nint add(int a, int b);\n";
        let listed = of("a.h", header).join("\n");
        for part in ["TWICE(x)", "struct task", "int add(int a, int b);"] {
            assert!(listed.contains(part), "{listed}");
        }
        let source = "static int hidden(void) { return 1; }\nint add(int a, int b)\n{\n    return a + b;\n}\n";
        assert_eq!(of("a.c", source), ["int add(int a, int b);"]);
        assert_eq!(of("a.cpp", "int Store::size() const { return 1; }").len(), 1);
        assert!(of("a.txt", "int add(int a, int b);").is_empty());
    }

    #[test]
    fn what_is_no_program_has_no_signatures() {
        assert!(of("a.py", "((((\n\u{0}").is_empty());
        assert!(of("a.py", "").is_empty());
        assert_eq!(
            of("a.py", &format!("def f({}): pass", "a, ".repeat(400)))[0].chars().count(),
            MOST + 1
        );
    }
}
