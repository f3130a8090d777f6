//! The grammars of the languages, and what their captures mean.

use std::sync::OnceLock;

use serde::Deserialize;
use tree_sitter::Query;

use super::tree::Language;

/// What a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyntaxKind {
    /// A word of the language.
    Keyword,
    /// Name of a type.
    Type,
    /// Name of a function or command.
    Function,
    /// Text in quotes.
    String,
    Number,
    /// Words for people.
    Comment,
    /// A fixed value with a name.
    Constant,
    /// A directive of the preprocessor.
    Preprocessor,
    Operator,
    /// Name of a variable.
    Variable,
    /// Name of a field or key.
    Property,
    /// Brackets and separators.
    Punctuation,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Kind(SyntaxKind),
    /// Takes away what an outer capture has painted.
    Clear,
    Skip,
}

pub(super) struct Grammar {
    pub query: Query,
    /// By index of capture.
    pub paints: Vec<Paint>,
    /// By index of pattern: false when it has a condition that cannot be tested here.
    pub usable: Vec<bool>,
}

/// What the grammar's own query lacks for C.
const MORE_C: &str = r##"
["(" ")" "[" "]" "{" "}" "," ":"] @punctuation
["+" "-" "*" "/" "%" "<=" ">=" "<<" ">>" "|" "^" "!" "~" "?" "|=" "&="] @operator
["goto" "#define" "#elif" "#else" "#endif" "#if" "#ifdef" "#ifndef" "#include"] @keyword
["#define" "#elif" "#else" "#endif" "#if" "#ifdef" "#ifndef" "#include"] @preprocessor
(preproc_directive) @preprocessor
[(char_literal) (escape_sequence)] @string
[(true) (false)] @constant
(preproc_def name: (identifier) @constant)
(enumerator name: (identifier) @constant)
"##;
const MORE_CMAKE: &str = r##"
((unquoted_argument) @constant (#match? @constant "^[A-Z][A-Z0-9_]+$"))
(variable_ref) @variable
"##;
const MORE_JSON: &str = r##"
(pair key: (string) @property)
["{" "}" "[" "]" ":" ","] @punctuation
"##;
const MORE_PYTHON: &str = r##"
["(" ")" "[" "]" "{" "}" "," ":" "."] @punctuation
"##;

pub(super) fn grammar(language: Language) -> Option<&'static Grammar> {
    static GRAMMARS: [OnceLock<Option<Grammar>>; 5] = [const { OnceLock::new() }; 5];
    let c = tree_sitter_c::HIGHLIGHT_QUERY;
    let queries = match language {
        Language::C => [c, "", MORE_C],
        // The queries of C++ say only what C does not have.
        Language::Cpp => [c, tree_sitter_cpp::HIGHLIGHT_QUERY, MORE_C],
        Language::Cmake => [tree_sitter_cmake::HIGHLIGHTS_QUERY, "", MORE_CMAKE],
        Language::Json => [tree_sitter_json::HIGHLIGHTS_QUERY, "", MORE_JSON],
        Language::Python => [tree_sitter_python::HIGHLIGHTS_QUERY, "", MORE_PYTHON],
    };
    GRAMMARS[language as usize].get_or_init(|| build(language, &queries.join("\n"))).as_ref()
}

fn build(language: Language, query: &str) -> Option<Grammar> {
    let query = Query::new(&language.grammar(), query).ok()?;
    let paints = query.capture_names().iter().map(|name| paint(name)).collect();
    let usable = (0..query.pattern_count())
        .map(|pattern| {
            let conditions = query.general_predicates(pattern);
            !conditions.iter().any(|condition| condition.operator.as_ref() == "lua-match?")
        })
        .collect();
    Some(Grammar { query, paints, usable })
}

fn paint(capture: &str) -> Paint {
    let family = capture.split('.').next().unwrap_or(capture);
    Paint::Kind(match (family, capture) {
        ("preprocessor", _) | (_, "keyword.directive") => SyntaxKind::Preprocessor,
        ("keyword", _) => SyntaxKind::Keyword,
        ("type", _) => SyntaxKind::Type,
        ("function", _) => SyntaxKind::Function,
        ("property", _) | (_, "string.special.key") => SyntaxKind::Property,
        ("string" | "escape", _) => SyntaxKind::String,
        ("number", _) => SyntaxKind::Number,
        ("comment", _) => SyntaxKind::Comment,
        ("constant" | "boolean" | "label" | "module", _) => SyntaxKind::Constant,
        ("operator", _) => SyntaxKind::Operator,
        ("variable", _) => SyntaxKind::Variable,
        ("punctuation" | "delimiter", _) => SyntaxKind::Punctuation,
        ("none", _) => return Paint::Clear,
        _ => return Paint::Skip,
    })
}
