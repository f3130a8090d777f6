//! How complex functions are: decisions, nesting and lines, per function.
//!
//! Cyclomatic complexity after McCabe (decisions + 1), cognitive complexity after Campbell
//! (decisions weighed by nesting). Owns which nodes of which grammar count.

use std::collections::HashMap;
use std::time::Duration;

use tree_sitter::{Node, Tree};

use super::preprocess::{grammar_of, tame};
use crate::model::ProjectPath;
use crate::text::tree::{Language, Limits, line, parse, text, walk};

/// The figures of one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complexity {
    pub name: String,
    /// Line it starts on, from 1.
    pub line: u32,
    /// Lines from its first to its last.
    pub lines: u32,
    /// Decisions + 1.
    pub cyclomatic: u32,
    /// Decisions weighed by how deep they are nested.
    pub cognitive: u32,
    /// Deepest nesting of decisions and loops.
    pub nesting: u32,
}

/// Measures all functions of a C, C++ or Python text by their place; `None` when the name
/// suggests none of these or the budget is over.
#[must_use]
pub fn complexity(path: &ProjectPath, source: &str, budget: Duration) -> Option<Vec<Complexity>> {
    let grammar = grammar_of(path, source)?;
    let tamed = match grammar {
        Language::C | Language::Cpp => tame(source, grammar),
        Language::Python | Language::Cmake | Language::Json => source.into(),
    };
    let tree = parse(grammar, &tamed, Limits::within(budget))?;
    Some(MeasuredFunctions::of(&tree, &tamed).all())
}

/// The figures of the functions of a text that is parsed already.
pub struct MeasuredFunctions<'s> {
    /// Each that lies in no other one: its text, and the figures of it and of those in it.
    outer: Vec<(&'s str, Vec<Complexity>)>,
}

impl<'s> MeasuredFunctions<'s> {
    /// Measures all functions.
    #[must_use]
    pub fn of(tree: &Tree, source: &'s str) -> Self {
        Self::with(tree, source, &HashMap::new())
    }

    /// The functions of another version of the text: what reads the same has the same figures.
    #[must_use]
    pub fn of_version<'o>(&self, tree: &Tree, source: &'o str) -> MeasuredFunctions<'o> {
        let known = self.outer.iter().map(|(text, figures)| (*text, figures.as_slice()));
        MeasuredFunctions::with(tree, source, &known.collect())
    }

    fn with(tree: &Tree, source: &'s str, known: &HashMap<&str, &[Complexity]>) -> Self {
        let mut outer = Vec::new();
        walk(tree.root_node(), |node| {
            let is_function = is_function(node);
            if is_function {
                let text = text(node, source);
                let figures = match known.get(text) {
                    Some(figures) => moved(figures, line(node)),
                    None => measure_all(node, source),
                };
                outer.push((text, figures));
            }
            !is_function
        });
        Self { outer }
    }

    /// The figures of all functions by their place.
    #[must_use]
    pub fn all(&self) -> Vec<Complexity> {
        let all = self.outer.iter().flat_map(|(_, figures)| figures);
        // An unnamed function is part of the one around it.
        let mut found: Vec<Complexity> =
            all.filter(|function| !function.name.is_empty()).cloned().collect();
        found.sort_by_key(|function| function.line);
        found
    }
}

/// The same figures for functions of which the first starts at `line`.
fn moved(figures: &[Complexity], line: u32) -> Vec<Complexity> {
    let first = figures.first().map_or(line, |function| function.line);
    let at_line = |of: &Complexity| Complexity { line: of.line - first + line, ..of.clone() };
    figures.iter().map(at_line).collect()
}

fn is_function(node: Node<'_>) -> bool {
    node.child_count() > 0
        && matches!(node.kind(), "function_definition" | "lambda_expression" | "lambda")
}

/// Measures a function and those in it, in their order.
fn measure_all(function: Node<'_>, source: &str) -> Vec<Complexity> {
    let mut found = Vec::new();
    let mut open = vec![function];
    while let Some(node) = open.pop() {
        let mut inner = Vec::new();
        found.push(measure(node, source, &mut inner));
        // What is in a lambda was met in the function around it.
        if node == function || node.kind() == "function_definition" {
            open.extend(inner.into_iter().rev());
        }
    }
    found
}

/// Measures one function; `inner` gets the functions that are met in it.
fn measure<'tree>(function: Node<'tree>, source: &str, inner: &mut Vec<Node<'tree>>) -> Complexity {
    let last = u32::try_from(function.end_position().row).unwrap_or(u32::MAX).saturating_add(1);
    let first = line(function);
    let mut counts = Counts { decisions: 0, cognitive: 0, nesting: 0 };
    counts.add_below(function, source, inner);
    Complexity {
        name: name(function, source),
        line: first,
        lines: last.saturating_sub(first).saturating_add(1),
        cyclomatic: counts.decisions + 1,
        cognitive: counts.cognitive,
        nesting: counts.nesting,
    }
}

struct Counts {
    decisions: u32,
    cognitive: u32,
    nesting: u32,
}

impl Counts {
    /// Counts everything in a function but the functions in it, which `inner` gets.
    fn add_below<'tree>(
        &mut self,
        function: Node<'tree>,
        source: &str,
        inner: &mut Vec<Node<'tree>>,
    ) {
        let mut cursor = function.walk();
        // For each level how deep its nodes are nested, and whether they are those of an `else`.
        let mut levels = Vec::new();
        if cursor.goto_first_child() {
            levels.push((0, false));
        }
        while let Some((depth, is_in_else)) = levels.last().copied() {
            let node = cursor.node();
            // What has nothing in it decides nothing.
            let is_read = node.is_named() && node.child_count() > 0;
            if is_read && is_function(node) {
                inner.push(node);
            }
            if is_read && node.kind() != "function_definition" {
                let is_else_if = is_in_else && node.kind() == "if_statement";
                let inner = self.add(node, depth, is_else_if, source);
                levels.push((inner, node.kind() == "else_clause"));
                cursor.goto_first_child();
                continue;
            }
            while !cursor.goto_next_sibling() {
                levels.pop();
                if levels.is_empty() || !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// Counts one node; returns how deep its children are nested.
    fn add(&mut self, node: Node<'_>, depth: u32, is_else_if: bool, source: &str) -> u32 {
        match node.kind() {
            "if_statement" if !is_else_if => return self.branch(depth),
            "for_statement"
            | "while_statement"
            | "do_statement"
            | "for_range_loop"
            | "conditional_expression"
            | "except_clause"
            | "catch_clause" => return self.branch(depth),
            // A switch weighs once however many cases it has, and each case is a way through.
            "switch_statement" | "match_statement" => return self.nest(depth),
            "if_statement" | "elif_clause" | "for_in_clause" | "if_clause" => {
                self.decisions += 1;
                self.cognitive += 1;
            }
            "case_statement" | "case_clause" => {
                let is_default = text(node, source).trim_start().starts_with("default");
                self.decisions += u32::from(!is_default);
            }
            "else_clause" => {
                let continues = node.named_child(0).is_some_and(|c| c.kind() == "if_statement");
                self.cognitive += u32::from(!continues);
            }
            "goto_statement" => self.cognitive += 1,
            "binary_expression" | "boolean_operator" => self.logical(node),
            _ => {}
        }
        depth
    }

    fn branch(&mut self, depth: u32) -> u32 {
        self.decisions += 1;
        self.nest(depth)
    }

    fn nest(&mut self, depth: u32) -> u32 {
        self.cognitive += 1 + depth;
        self.nesting = self.nesting.max(depth + 1);
        depth + 1
    }

    /// Each `&&` and `||` is a decision; a run of the same one weighs once.
    fn logical(&mut self, node: Node<'_>) {
        let Some(operator) = operator(node) else { return };
        self.decisions += 1;
        let continues = node.parent().and_then(self::operator) == Some(operator);
        self.cognitive += u32::from(!continues);
    }
}

fn operator(node: Node<'_>) -> Option<&'static str> {
    let kind = node.child_by_field_name("operator")?.kind();
    ["&&", "||", "and", "or"].into_iter().find(|known| *known == kind)
}

fn name(function: Node<'_>, source: &str) -> String {
    if let Some(name) = function.child_by_field_name("name") {
        return text(name, source).to_owned();
    }
    let mut node = function;
    while let Some(inner) = node.child_by_field_name("declarator").or_else(|| {
        // A reference or a parenthesis has its declarator as a plain child.
        let is_wrapper = matches!(node.kind(), "reference_declarator" | "parenthesized_declarator");
        is_wrapper.then(|| node.named_child(0)).flatten()
    }) {
        node = inner;
    }
    if node == function { String::new() } else { text(node, source).to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn figures(name: &str, source: &str) -> Vec<(String, u32, u32, u32, u32)> {
        let path = ProjectPath::new(name).unwrap();
        complexity(&path, source, Duration::from_secs(10))
            .unwrap()
            .into_iter()
            .map(|c| (c.name, c.lines, c.cyclomatic, c.cognitive, c.nesting))
            .collect()
    }

    #[test]
    fn c_is_measured_per_function() {
        let source = "static int f(int a) {\n  if (a && b && c || d) {\n    for (;;) {\n      if (x) { goto out; }\n    }\n  } else if (y) {\n    z();\n  } else {\n    w();\n  }\nout:\n  return a ? 1 : 2;\n}\n\
            int *g(void) { switch (a) { case 1: break; case 2: break; default: break; } return 0; }\nint h(void);\n";
        // f: if, &&, &&, ||, for, if, else if, ?: → 8 + 1; weighed 1 + 1 + 1 + 2 + 3 + 1 (goto) + 1 + 1 + 1.
        assert_eq!(
            figures("a.c", source),
            [("f".to_owned(), 13, 9, 12, 3), ("g".to_owned(), 1, 3, 1, 1)]
        );
    }

    #[test]
    fn python_and_cpp_are_measured_too() {
        let source = "def f(a):\n    for x in a:\n        if x and y:\n            pass\n        elif z:\n            pass\n    return [q for q in a if q]\n\nclass C:\n    def g(self):\n        try:\n            pass\n        except E:\n            pass\n";
        assert_eq!(
            figures("a.py", source),
            [("f".to_owned(), 7, 7, 7, 2), ("g".to_owned(), 5, 2, 1, 1)]
        );
        let source = "class A { int g() { while (a) { } return 1; } };\nvoid A::h() { for (auto x : y) { } }\n";
        assert_eq!(
            figures("a.cpp", source),
            [("g".to_owned(), 1, 2, 1, 1), ("A::h".to_owned(), 1, 2, 1, 1)]
        );
        assert_eq!(
            complexity(&ProjectPath::new("a.txt").unwrap(), "", Duration::from_secs(1)),
            None
        );
    }

    proptest! {
        #[test]
        fn any_text_is_measured_without_harm(source in "(if|for|else|int f\\(\\)|def g\\(\\):|[(){};:&|?a-c \n])[(){};:&|?a-c \n]{0,100}") {
            for name in ["a.c", "a.cpp", "a.py"] {
                for (_, lines, cyclomatic, _, _) in figures(name, &source) {
                    prop_assert!(lines >= 1 && cyclomatic >= 1);
                }
            }
        }
    }
}
