//! Where a text uses names that a framework would declare: calls, types, constants, options,
//! headers, components; and which names the text declares itself.
//!
//! Pure. Must not know what exists.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::source::SourceText;
use crate::knowledge::{COMPONENT, HEADER};
use crate::text::c_tokens::{Style, Token, TokenKind, tokens};
use crate::text::includes::includes;

/// What a name is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UseKind {
    /// A call of a function or a macro, a type or a constant.
    Symbol,
    /// An option, `CONFIG_…`.
    Option,
    /// A header, as an `#include` names it.
    Header,
    /// A component that another one requires.
    Component,
}

/// The names that a text uses, each as it is looked up, with all its places.
pub(super) type Uses = BTreeMap<(UseKind, String), Vec<Range<usize>>>;

/// Words before a name that do not make a declaration of it.
const NO_TYPES: [&str; 16] = [
    "return",
    "else",
    "case",
    "goto",
    "sizeof",
    "do",
    "in",
    "throw",
    "new",
    "delete",
    "co_return",
    "co_await",
    "and",
    "or",
    "not",
    "typeof",
];

/// Words before a type that say how something is declared, not what.
const QUALIFIERS: [&str; 8] =
    ["static", "const", "extern", "volatile", "register", "inline", "typedef", "constexpr"];

/// What a source uses.
pub(super) fn of_code(source: &SourceText<'_>) -> Uses {
    let tokens = source.tokens();
    let mut uses = Uses::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Word {
            continue;
        }
        let near = |step: isize| at.checked_add_signed(step).and_then(|at| tokens.get(at));
        let is_pasted = [near(-1), near(1)].into_iter().flatten().any(|token| token.is("#"));
        let is_member = near(-1).is_some_and(|token| token.is(".") || token.is(">"))
            && near(-2).is_some_and(|token| near(-1).is_some_and(|t| t.is(".")) || token.is("-"))
            || near(-1).is_some_and(|token| token.is(":"));
        let name = token.raw;
        // What a macro is called with may be pasted to another name there.
        let is_for_macro = near(-1).is_some_and(|token| token.is("("))
            && near(-2).is_some_and(|token| token.raw.ends_with("_VAL"));
        if is_pasted || is_for_macro || name.contains('\\') {
            continue;
        }
        let is_call = near(1).is_some_and(|token| token.is("("));
        if name.starts_with("CONFIG_") {
            if name.len() > "CONFIG_".len() && !is_call {
                add(&mut uses, UseKind::Option, name.to_owned(), token.range());
            }
        } else if !is_member
            && !token.in_directive
            && (is_call || name.ends_with("_t") || is_constant(name))
        {
            add(&mut uses, UseKind::Symbol, name.to_owned(), token.range());
        }
    }
    of_includes(source.text, &mut uses);
    uses
}

/// What the include lines of a source use.
fn of_includes(text: &str, uses: &mut Uses) {
    if text.contains("__has_include") {
        return;
    }
    let starts: Vec<usize> = std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
        .collect();
    for include in includes(text) {
        let line = usize::try_from(include.line).unwrap_or(1).saturating_sub(1);
        let start = starts.get(line).copied().unwrap_or(0);
        let at = text[start..].find(&include.target).map_or(start, |at| start + at);
        let name = format!("{HEADER}{}", include.target.trim_start_matches("./"));
        add(uses, UseKind::Header, name, at..at + include.target.len());
    }
}

/// An error code or another constant of three words: shorter ones are everywhere.
fn is_constant(name: &str) -> bool {
    !name.contains(char::is_lowercase) && name.trim_matches('_').matches('_').count() >= 2
}

fn add(uses: &mut Uses, kind: UseKind, name: String, range: Range<usize>) {
    uses.entry((kind, name)).or_default().push(range);
}

/// The options that a file of defaults sets.
pub(super) fn of_defaults(text: &str) -> Uses {
    let mut uses = Uses::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let name = line.split('=').next().unwrap_or_default().trim();
        let is_set = line.contains('=') && name.starts_with("CONFIG_");
        if is_set && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            let start = at + line.find("CONFIG_").unwrap_or(0);
            add(&mut uses, UseKind::Option, name.to_owned(), start..start + name.len());
        }
        at += line.len();
    }
    uses
}

/// The components and options that a `CMakeLists.txt` names.
pub(super) fn of_cmake(text: &str) -> Uses {
    let mut uses = Uses::new();
    let (mut in_list, mut at) = (false, 0);
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | ';');
        let mut from = 0;
        for piece in code.split_inclusive(is_end) {
            let start = at + from;
            from += piece.len();
            let word = piece.trim_end_matches(is_end);
            let ends_call = piece.ends_with(')');
            if matches!(word, "REQUIRES" | "PRIV_REQUIRES") {
                in_list = true;
            } else if word.len() > 1 && !word.contains(char::is_lowercase) {
                in_list &= word.contains(|c: char| !c.is_ascii_uppercase() && c != '_');
            } else if in_list && is_component(word) {
                let name = format!("{COMPONENT}{word}");
                add(&mut uses, UseKind::Component, name, start..start + word.len());
            }
            if word.starts_with("CONFIG_") && word.len() > 7 && is_component(word) {
                add(&mut uses, UseKind::Option, word.to_owned(), start..start + word.len());
            }
            in_list &= !ends_call;
        }
        at += line.len();
    }
    uses
}

fn is_component(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// What an open brace belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brace {
    Enumeration,
    /// `extern "C"`, or a namespace: what is inside is at the top all the same.
    Top,
    Other,
}

/// The names that a source declares: what follows a type, what is defined, values of enumerations,
/// and all that is called or ended by a semicolon outside of functions, but for values.
pub(super) fn declared_in(text: &str) -> BTreeSet<String> {
    let tokens = tokens(text, Style::C);
    let mut found = BTreeSet::new();
    let mut open: Vec<Brace> = Vec::new();
    let mut next = Brace::Other;
    // Whether this is the value of a variable: between `=` and what ends the declaration.
    let mut in_value = false;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        match token.raw {
            "=" => in_value = open.iter().all(|brace| *brace == Brace::Top),
            "enum" => next = Brace::Enumeration,
            "namespace" => next = Brace::Top,
            "{" => {
                let is_linkage = before.is_some_and(|token| token.kind == TokenKind::Text);
                let brace = std::mem::replace(&mut next, Brace::Other);
                open.push(if is_linkage { Brace::Top } else { brace });
            }
            "}" => _ = open.pop(),
            ";" => (next, in_value) = (Brace::Other, false),
            ")" => next = Brace::Other,
            _ if token.kind == TokenKind::Word => {
                let is_value = open.last() == Some(&Brace::Enumeration)
                    && before.is_some_and(|before| {
                        before.is("{") || before.is(",") || before.kind == TokenKind::DirectiveEnd
                    });
                let is_at_top = open.iter().all(|brace| *brace == Brace::Top)
                    && !token.in_directive
                    && !in_value
                    && tokens.get(at + 1).is_some_and(|after| after.is("(") || after.is(";"));
                let is_declared = before.is_some_and(|before| declares(before, &tokens, at));
                if is_value || is_at_top || is_declared {
                    found.insert(token.raw.to_owned());
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether the token before a name makes a declaration of it: a type, or a star after one.
fn declares(before: &Token<'_>, tokens: &[Token<'_>], at: usize) -> bool {
    let is_type = |token: &Token<'_>| {
        token.kind == TokenKind::Word && !NO_TYPES.iter().any(|word| token.is_word(word))
    };
    let second = at.checked_sub(2).and_then(|at| tokens.get(at));
    match before.raw {
        "*" | "&" => second.is_some_and(|token| is_type(token) || token.is("*") || token.is("(")),
        ">" => second.is_some_and(|token| !token.is("-")),
        // What ends a type, e.g. `typedef struct { … } name_t;`.
        "}" => true,
        // Macros that define a name, e.g. `ESP_EVENT_DEFINE_BASE(NAME)`, and `typedef void (name)(…)`.
        "(" => {
            let is_macro = second.is_some_and(|token| {
                ["DEFINE", "DECLARE", "HEAD"].iter().any(|word| token.raw.contains(word))
            });
            let after = |step: usize, mark: &str| tokens.get(at + step).is_some_and(|t| t.is(mark));
            is_macro || second.is_some_and(is_type) && after(1, ")") && after(2, "(")
        }
        // Of directives only `#define NAME` declares, not `#if NAME`.
        _ if before.in_directive => before.raw.trim_start_matches(['#', ' ']) == "define",
        // What a name follows that is declared is its type.
        _ if QUALIFIERS.iter().any(|word| before.is_word(word)) => {
            let after = tokens.get(at + 1);
            !after.is_some_and(|after| after.kind == TokenKind::Word || after.is("*"))
        }
        _ => is_type(before),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(uses: &Uses) -> Vec<&str> {
        uses.keys().map(|(_, name)| name.as_str()).collect()
    }

    #[test]
    fn a_source_uses_calls_types_options_and_headers() {
        let text = "#include \"driver/foo.h\"\n#if CONFIG_A_B\n#endif\nvoid f(void) {\n  foo_t x;\n  \
                    // gone(1)\n  x.member(1); y->other(2); esp_go(ESP_ERR_X, \"quoted(1)\");\n}\n";
        let path = crate::model::ProjectPath::new("main/a.c").unwrap();
        let found = of_code(&SourceText::new(&path, text));
        assert_eq!(
            names(&found),
            ["ESP_ERR_X", "esp_go", "f", "foo_t", "CONFIG_A_B", "header:driver/foo.h"]
        );
        assert!(declared_in(text).contains("f") && !declared_in(text).contains("esp_go"));
    }

    #[test]
    fn declarations_of_every_form_are_seen() {
        let text = "#define A_B_C 1\ntypedef enum { E_ONE_X, E_TWO_X = 2 } e_t;\nstatic int *p_f(void);\n\
                    ESP_EVENT_DEFINE_BASE(MY_EV_BASE);\ntypedef void (my_call_t)(int);\nint g(void) { return esp_no(1) + other_x(2); }\n";
        let found = declared_in(text);
        for name in ["A_B_C", "E_ONE_X", "E_TWO_X", "e_t", "p_f", "MY_EV_BASE", "my_call_t", "g"] {
            assert!(found.contains(name), "{name}: {found:?}");
        }
        assert!(!found.contains("esp_no") && !found.contains("other_x"));
        let spaces = declared_in(
            "namespace lamp {\nint led_on(int);\nenum class Way { UP_X, DOWN_X };\n}\n\
             int (*hook_a)(int) = used_b;\nstatic const char *name_c = text_d;\n\
             void h(enum way_e way, int n_f) { if (n_f < less_g(1)) { do_i(); } }\n",
        );
        for name in ["led_on", "UP_X", "DOWN_X", "name_c", "h", "n_f"] {
            assert!(spaces.contains(name), "{name}: {spaces:?}");
        }
        for name in ["used_b", "text_d", "less_g", "do_i"] {
            assert!(!spaces.contains(name), "{name}: {spaces:?}");
        }
        let asked =
            declared_in("#if CONFIG_A\n#elif defined(CONFIG_B)\n#endif\n#ifdef CONFIG_C\n#endif\n");
        assert!(asked.is_empty(), "{asked:?}");
    }

    #[test]
    fn lists_of_cmake_name_components() {
        let text = "idf_component_register(SRCS \"main.c\" # x\n  INCLUDE_DIRS \".\"\n  REQUIRES driver \
                    esp_wifi ${extra}\n  PRIV_REQUIRES nvs_flash)\nif(CONFIG_X_Y)\nset(a b)\n";
        let expected =
            ["CONFIG_X_Y", "component:driver", "component:esp_wifi", "component:nvs_flash"];
        assert_eq!(names(&of_cmake(text)), expected);
        assert_eq!(names(&of_defaults("# CONFIG_A is not set\nCONFIG_B=y\n")), ["CONFIG_B"]);
    }
}
