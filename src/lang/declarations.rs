//! The declarations of a header: what other files may use of it.
//!
//! Owns the choice of what counts as a declaration and how it is put in one line. What the grammar
//! does not understand is searched by [`super::scan`] instead of being lost.

use std::collections::BTreeSet;
use std::time::Duration;

use tree_sitter::Node;

use super::declaration::bounded;
pub use super::declaration::{Declaration, DeclarationKind};
use super::preprocess::{grammar_of, tame};
use super::scan;
use crate::model::ProjectPath;
use crate::text::includes::{Include, includes};
use crate::text::tree::{Language, Limits, line, parse, text, walk};

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeaderSummary {
    /// Sorted by line.
    pub declarations: Vec<Declaration>,
    /// In their order.
    pub includes: Vec<Include>,
    /// How many places the grammar did not understand.
    pub unclear: usize,
    /// Whether time ran out, so that only a plain search for prototypes was made.
    pub in_haste: bool,
}

/// Reads the declarations of a C or C++ text, within `budget` for the grammar.
#[must_use]
pub fn read_header(path: &ProjectPath, source: &str, budget: Duration) -> HeaderSummary {
    let is_cpp = grammar_of(path, source) == Some(Language::Cpp);
    let grammar = if is_cpp { Language::Cpp } else { Language::C };
    let tamed = tame(source, grammar);
    let mut header = HeaderSummary { includes: includes(source), ..HeaderSummary::default() };
    match parse(grammar, &tamed, Limits::within(budget)) {
        Some(tree) => {
            collect(tree.root_node(), &tamed, &mut header);
            if tree.root_node().has_error() {
                complete(&tamed, &mut header);
            }
        }
        None => {
            header.in_haste = true;
            header.declarations = scan::prototypes(&tamed, 1);
        }
    }
    header.declarations.sort_by(|a, b| (a.line, &a.name).cmp(&(b.line, &b.name)));
    // Both halves of an `#if` often declare the same.
    let mut seen = BTreeSet::new();
    header.declarations.retain(|found| seen.insert((found.kind, found.text.clone())));
    header
}

fn collect<'tree>(root: Node<'tree>, source: &str, header: &mut HeaderSummary) {
    walk(root, |node| {
        header.unclear += usize::from(node.is_error());
        let found = declaration(node, source);
        let goes_on = found.is_none() && holds_declarations(node);
        header.declarations.extend(found);
        goes_on
    });
}

/// Adds what the tree does not show: an error can swallow whatever is around it.
fn complete(source: &str, header: &mut HeaderSummary) {
    let known: BTreeSet<String> = header.declarations.iter().map(|d| d.name.clone()).collect();
    let found = scan::prototypes(source, 1);
    header.declarations.extend(found.into_iter().filter(|d| !known.contains(&d.name)));
}

/// Whether declarations can be inside a node: not inside those of the bodies of functions.
fn holds_declarations(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "translation_unit"
            | "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
            | "preproc_elif"
            | "preproc_elifdef"
            | "linkage_specification"
            | "namespace_definition"
            | "declaration_list"
    )
}

fn declaration(node: Node<'_>, source: &str) -> Option<Declaration> {
    let (kind, name) = match node.kind() {
        "preproc_function_def" => {
            let name = text(node.child_by_field_name("name")?, source).to_owned();
            let parameters = text(node.child_by_field_name("parameters")?, source);
            let text = bounded(&format!("#define {name}{parameters}"));
            let (kind, line) = (DeclarationKind::Macro, line(node));
            return Some(Declaration { kind, name, line, text });
        }
        "function_definition" => (DeclarationKind::Inline, declared_name(node, source)?),
        "template_declaration" => {
            let mut cursor = node.walk();
            let inner = node.named_children(&mut cursor).last()?;
            let found = declaration(inner, source)?;
            (found.kind, found.name)
        }
        "declaration" => plain(node, source)?,
        "type_definition" | "alias_declaration" => {
            (DeclarationKind::Type, declared_name(node, source)?)
        }
        "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier" => {
            node.child_by_field_name("body")?;
            let name = node.child_by_field_name("name");
            (DeclarationKind::Type, name.map_or("", |name| text(name, source)).to_owned())
        }
        _ => return None,
    };
    Some(Declaration { kind, name, line: line(node), text: compact(node, source) })
}

/// A declaration that ends with a semicolon: of a function, a type or a variable.
fn plain(node: Node<'_>, source: &str) -> Option<(DeclarationKind, String)> {
    let declarator = node.child_by_field_name("declarator");
    if let Some(declarator) = declarator
        && has_function(declarator)
    {
        return Some((DeclarationKind::Prototype, innermost(declarator, source)?));
    }
    if let Some(specifier) = node.child_by_field_name("type")
        && specifier.child_by_field_name("body").is_some()
    {
        let name = specifier.child_by_field_name("name");
        return Some((
            DeclarationKind::Type,
            name.map_or("", |name| text(name, source)).to_owned(),
        ));
    }
    let starts_extern = text(node, source).trim_start().starts_with("extern");
    let name = innermost(declarator?, source)?;
    starts_extern.then_some((DeclarationKind::Variable, name))
}

/// Whether a declarator is that of a function; a pointer to one is a variable.
fn has_function(declarator: Node<'_>) -> bool {
    let mut node = declarator;
    loop {
        match node.kind() {
            "function_declarator" => {
                let inner = node.child_by_field_name("declarator");
                return inner.is_none_or(|i| i.kind() != "parenthesized_declarator");
            }
            "pointer_declarator" | "reference_declarator" | "attributed_declarator" => {
                let inner = node.child_by_field_name("declarator").or_else(|| node.named_child(0));
                match inner {
                    Some(inner) => node = inner,
                    None => return false,
                }
            }
            _ => return false,
        }
    }
}

fn declared_name(node: Node<'_>, source: &str) -> Option<String> {
    if let Some(name) = node.child_by_field_name("name") {
        return Some(text(name, source).to_owned());
    }
    innermost(node.child_by_field_name("declarator")?, source)
}

/// The name in the middle of a declarator such as `(*name)(int)`.
fn innermost(declarator: Node<'_>, source: &str) -> Option<String> {
    let mut node = declarator;
    // As deep as a declarator is nested, which its text bounds.
    loop {
        let inner = node.child_by_field_name("declarator").or_else(|| {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).find(|child| {
                child.kind().ends_with("declarator") || child.kind().ends_with("identifier")
            })
        });
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    let is_name = node.kind().ends_with("identifier") || node.kind().ends_with("_name");
    is_name.then(|| text(node, source).to_owned())
}

/// The text in one line, without comments and without the bodies of functions.
fn compact(node: Node<'_>, source: &str) -> String {
    let mut out = String::new();
    let mut at = node.start_byte();
    walk(node, |inner| {
        let is_body = matches!(inner.kind(), "compound_statement" | "field_initializer_list");
        let is_left_out = inner.kind() == "comment" || is_body;
        if is_left_out {
            out.push_str(source.get(at..inner.start_byte()).unwrap_or_default());
            out.push_str(if is_body { ";" } else { " " });
            at = inner.end_byte().max(at);
        }
        !is_left_out
    });
    out.push_str(source.get(at..node.end_byte()).unwrap_or_default());
    bounded(&out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(name: &str, source: &str) -> HeaderSummary {
        read_header(&ProjectPath::new(name).unwrap(), source, Duration::from_secs(20))
    }

    fn lines(name: &str, source: &str) -> Vec<String> {
        let header = read(name, source);
        header
            .declarations
            .iter()
            .map(|d| format!("{:?} {} | {}", d.kind, d.name, d.text))
            .collect()
    }

    const C: &str = r#"#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
/** A handle. */
typedef struct led_s *led_handle_t;
typedef void (*led_cb_t)(int level, void *ctx);
typedef enum { LED_OFF, /* dark */ LED_ON } led_state_t;
struct led_config { int gpio; // pin
  bool inverted; };
#define LED_COUNT 3
#define LED_MASK(n) \
    (1u << (n))
#if CONFIG_LED
esp_err_t led_new(const struct led_config *config,
                  led_handle_t *out);
#else
esp_err_t led_new(const struct led_config *config, led_handle_t *out);
#endif
const char *led_name(led_handle_t led) __attribute__((const));
static inline int led_twice(int a) { if (a) { return a * 2; } return 0; }
void IRAM_ATTR led_isr(void *arg);
LED_API int led_exported(void);
extern const uint8_t led_table[3];
ESP_EVENT_DECLARE_BASE(LED_EVENT);
#ifdef __cplusplus
}
#endif
"#;

    #[test]
    fn a_c_header_tells_all_it_declares() {
        insta::assert_snapshot!(lines("led.h", C).join("\n"));
    }

    #[test]
    fn a_cpp_header_tells_all_it_declares() {
        let source = "#include \"led.h\"\nnamespace app {\nclass Led : public Base {\n public:\n  \
            explicit Led(int pin) : pin_(pin) { init(); }\n  int level() const;\n private:\n  int pin_;\n};\n\
            template <typename T> T twice(T a) { return a + a; }\nint plain(int a = 3);\nusing Cb = void (*)(int);\n\
            inline int one() { return 1; }\n}\nextern \"C\" void app_main(void);\nextern \"C\" {\nint c_too(void);\n}\n";
        insta::assert_snapshot!(lines("led.hpp", source).join("\n"));
        assert_eq!(read("led.hpp", source).includes[0].target, "led.h");
    }

    #[test]
    fn macros_that_break_the_grammar_hide_nothing_else() {
        let source = "int before(void);\nBEGIN_DECLS(x) {{{ %% \nint inside(int a);\n} }\n\
                      WEIRD(a, b) c(\nint after(void);\n";
        let names: Vec<String> =
            read("a.h", source).declarations.into_iter().map(|found| found.name).collect();
        for name in ["before", "inside", "after"] {
            assert!(names.contains(&name.to_owned()), "{name} is not in {names:?}");
        }
    }

    #[test]
    fn a_header_of_50_000_lines_is_read_whole() {
        let source: String = (0..50_000).map(|n| format!("int f{n}(int a, char *b);\n")).collect();
        let header = read("big.h", &source);
        assert_eq!(header.declarations.len(), 50_000);
        assert!(!header.in_haste);
    }

    #[test]
    fn without_time_prototypes_are_still_found() {
        let path = ProjectPath::new("a.h").unwrap();
        let source = format!("{}int last(void);\n", "/* long */ int g(void);\n".repeat(40_000));
        let header = read_header(&path, &source, Duration::ZERO);
        assert!(header.in_haste);
        assert!(header.declarations.iter().any(|found| found.name == "last"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(source in "[a-z(){};*#\"/\\\\\n <>=,é]{0,160}") {
            let header = read("a.h", &source);
            let lines = u32::try_from(source.lines().count().max(1)).unwrap();
            prop_assert!(header.declarations.iter().all(|d| d.line >= 1 && d.line <= lines));
            let _ = read("a.hpp", &source);
        }

        #[test]
        fn every_prototype_is_found(names in proptest::collection::btree_set("[a-z]{3,8}_x", 1..12)) {
            let source: String = names.iter().map(|name|
                format!("/* about {name}(1) */\nesp_err_t {name}(int a,\n    const char *b);\n")).collect();
            let found: BTreeSet<String> =
                read("a.h", &source).declarations.into_iter().map(|d| d.name).collect();
            prop_assert_eq!(found, names);
        }
    }
}
