//! From the tabs of an Arduino sketch to the one C++ source that is compiled.
//!
//! Owns what Arduino adds: the include of its core, and prototypes of functions that are called
//! above their definition. Lines keep their files and numbers, so that findings name the sketch.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::lines::line_at;
use super::tree::{Language, Limits, parse, walk};

/// Ending of a sketch's tabs.
pub const EXTENSION: &str = "ino";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tab<'a> {
    /// How the compiler shall call it.
    pub name: &'a str,
    /// What it holds.
    pub text: &'a str,
}

/// Joins the tabs, the main one first, into one C++ source.
#[must_use]
pub fn join(tabs: &[Tab<'_>]) -> String {
    let mut source = String::from("#include <Arduino.h>\n");
    let mut places = Vec::new();
    for tab in tabs {
        source.push_str(&line_mark(1, tab.name));
        let start = source.len();
        source.push_str(tab.text);
        places.push((start..source.len(), *tab));
        source.push('\n');
    }
    let Some(tree) = parse(Language::Cpp, &source, Limits::sketch()) else { return source };
    let functions = functions(&tree);
    let Some(first) = functions.first() else { return source };
    let mut prototypes = String::new();
    for function in &functions {
        if let (Some(text), Some((line, name))) =
            (prototype(*function, &source), place(&places, function.start_byte()))
        {
            prototypes.push_str(&format!("{}{text}\n", line_mark(line, name)));
        }
    }
    let Some((line, name)) = place(&places, first.start_byte()) else { return source };
    let (before, after) = source.split_at_checked(first.start_byte()).unwrap_or_default();
    let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
    // What stands before it on its line stays where it is.
    let indent = " ".repeat(column);
    format!("{before}\n{prototypes}{}{indent}{after}", line_mark(line, name))
}

fn line_mark(line: usize, name: &str) -> String {
    format!("#line {line} \"{}\"\n", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Line and tab of a place in the joined source.
fn place<'a>(places: &[(Range<usize>, Tab<'a>)], at: usize) -> Option<(usize, &'a str)> {
    let (range, tab) = places.iter().find(|(range, _)| range.contains(&at))?;
    Some((line_at(tab.text, at - range.start), tab.name))
}

/// The functions that are defined outside of everything else, in order; each with the `template`
/// before it.
fn functions(tree: &Tree) -> Vec<Node<'_>> {
    let root = tree.root_node();
    let mut cursor = root.walk();
    let nodes = root.named_children(&mut cursor);
    let kinds = ["function_definition", "template_declaration"];
    nodes.filter(|node| kinds.contains(&node.kind())).collect()
}

/// The declaration of a function; `None` where Arduino makes none either: for templates, members
/// of classes and defaults of parameters, which may not be said twice.
fn prototype(function: Node<'_>, source: &str) -> Option<String> {
    if function.kind() != "function_definition" {
        return None;
    }
    let body = function.child_by_field_name("body")?;
    let declarator = function.child_by_field_name("declarator")?;
    if body.kind() != "compound_statement" || declarator.has_error() || is_unrepeatable(declarator)
    {
        return None;
    }
    let text = source.get(function.start_byte()..body.start_byte())?;
    let words: Vec<&str> =
        text.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
    let text = words.join(" ");
    let text = text.trim();
    let is_plain = !text.is_empty() && !text.contains('#') && !text.contains("constexpr");
    is_plain.then(|| format!("{text};"))
}

fn is_unrepeatable(declarator: Node<'_>) -> bool {
    let mut found = false;
    walk(declarator, |node| {
        match node.kind() {
            "optional_parameter_declaration" => found = true,
            // A type with a namespace may be repeated; the name of a member may not.
            "qualified_identifier" => {
                found |= node.parent().is_some_and(|it| it.kind() == "function_declarator");
                return false;
            }
            _ => {}
        }
        !found
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> String {
        join(&[Tab { name: "/p/a.ino", text }])
    }

    #[test]
    fn functions_are_declared_before_the_first_of_them() {
        let source = "int led = 2;\nvoid setup() { blink(3); }\nvoid loop() {}\n\
                      void blink(int times) // how often\n{\n}\n";
        let joined = joined(source);
        let (head, tail) = joined.split_once("#line 2 \"/p/a.ino\"\nvoid setup() {").unwrap();
        assert!(head.starts_with("#include <Arduino.h>\n#line 1 \"/p/a.ino\"\nint led"), "{head}");
        assert!(tail.contains("blink(3)"), "{tail}");
        let declared = "#line 4 \"/p/a.ino\"\nvoid blink(int times);\n";
        assert!(head.contains(declared), "{joined}");
        assert!(!head.contains("void blink(int times) //"), "{joined}");
    }

    #[test]
    fn what_may_not_be_declared_twice_is_not() {
        let source = "template <typename T> T twice(T a) { return a; }\n\
                      void wait(int ms = 5) {}\nvoid Led::on() {}\n\
                      std::string name(const String &of) { return \"\"; }\nvoid setup() {}\n";
        let joined = joined(source);
        assert!(joined.contains("std::string name(const String &of);"), "{joined}");
        for never in ["wait(int ms = 5);", "Led::on();", "twice(T a);"] {
            assert!(!joined.contains(never), "{never}: {joined}");
        }
        let first = joined.find("template").unwrap();
        assert!(joined.find("void setup();").unwrap() < first, "{joined}");
    }

    #[test]
    fn tabs_keep_their_names_and_lines() {
        let tabs = [
            Tab { name: "a.ino", text: "void setup() {}" },
            Tab { name: "b \"q\".ino", text: "\nvoid loop() {}" },
        ];
        let joined = join(&tabs);
        assert!(joined.contains("#line 1 \"b \\\"q\\\".ino\"\n\nvoid loop() {}"), "{joined}");
        assert!(joined.contains("#line 2 \"b \\\"q\\\".ino\"\nvoid loop();"), "{joined}");
    }

    #[test]
    fn broken_sketches_are_passed_on_as_they_are() {
        for text in [
            "",
            "void setup( {",
            "}}}}",
            "int x = \"",
            "void loop() { if (",
            "#if 1\nvoid a() {}\n",
        ] {
            assert!(joined(text).contains(text), "{text}");
        }
    }
}
