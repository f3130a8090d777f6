//! What the preprocessor would see: includes, and guards that a grammar stumbles over.
//!
//! Every change to a text keeps its length and its lines.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::tree::Grammar;
use crate::model::ProjectPath;

/// One `#include`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Include {
    /// Line, from 1.
    pub line: u32,
    /// What stands between the quotes or brackets.
    pub target: String,
    /// Whether it stands in `<…>`.
    pub is_system: bool,
}

/// The includes of a C or C++ text, in their order; those in comments are left out.
#[must_use]
pub fn includes(source: &str) -> Vec<Include> {
    let (mut found, mut in_comment) = (Vec::new(), false);
    for (index, line) in source.lines().enumerate() {
        let starts_in_comment = in_comment;
        in_comment = ends_in_comment(line, in_comment);
        if starts_in_comment {
            continue;
        }
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("include") else { continue };
        let rest = rest.trim_start();
        let (close, is_system) = match rest.chars().next() {
            Some('"') => ('"', false),
            Some('<') => ('>', true),
            _ => continue,
        };
        let Some(target) = rest.get(1..).and_then(|rest| rest.split_once(close)) else { continue };
        let line = u32::try_from(index + 1).unwrap_or(u32::MAX);
        found.push(Include { line, target: target.0.trim().to_owned(), is_system });
    }
    found
}

/// Whether a block comment is open after a line; strings and line comments are minded.
fn ends_in_comment(line: &str, mut in_comment: bool) -> bool {
    let bytes = line.as_bytes();
    let (mut at, mut quote) = (0, None);
    while let Some(&byte) = bytes.get(at) {
        let pair = bytes.get(at..at + 2).unwrap_or_default();
        match (in_comment, quote) {
            (true, _) if pair == b"*/" => (in_comment, at) = (false, at + 1),
            (true, _) => {}
            (false, Some(_)) if byte == b'\\' => at += 1,
            (false, Some(open)) if byte == open => quote = None,
            (false, Some(_)) => {}
            (false, None) if pair == b"//" => return false,
            (false, None) if pair == b"/*" => (in_comment, at) = (true, at + 1),
            (false, None) if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            (false, None) => {}
        }
        at += 1;
    }
    in_comment
}

/// The grammar for a file by its name, and for a header by what it holds; `None` when there is
/// none.
#[must_use]
pub fn grammar_of(path: &ProjectPath, source: &str) -> Option<Grammar> {
    static CPP_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s*(class\s+\w+|namespace\b|template\s*<|(public|private|protected)\s*:|using\s+\w+)").ok()
    });
    match path.extension()? {
        "c" => Some(Grammar::C),
        "cpp" | "cc" | "cxx" | "hpp" | "hh" | "hxx" | "ino" => Some(Grammar::Cpp),
        "py" => Some(Grammar::Python),
        "h" if CPP_WORDS.as_ref().is_some_and(|words| words.is_match(source)) => Some(Grammar::Cpp),
        "h" => Some(Grammar::C),
        _ => None,
    }
}

/// Blanks the guards `#ifdef __cplusplus extern "C" { #endif`, and the directives around other
/// text for C++ only (for C that text goes too); and words in capitals before a declaration,
/// such as `IRAM_ATTR` or `ESP_DEPRECATED`.
#[must_use]
pub(super) fn tame(source: &str, grammar: Grammar) -> Cow<'_, str> {
    let guarded = if source.contains("__cplusplus") {
        Cow::Owned(without_guards(source, grammar))
    } else {
        Cow::Borrowed(source)
    };
    static LEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^(?:(?:static|extern|inline)[ \t]+)*(?P<w>[A-Z][A-Z0-9_]{3,})[ \t]+(?:const[ \t]+)?(?:struct[ \t]+|enum[ \t]+|unsigned[ \t]+|static[ \t]+|inline[ \t]+)*[A-Za-z_]\w*(?:[ \t]+[A-Za-z_]|[ \t]*\*)").ok()
    });
    static ATTRIBUTE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\b(?P<w>[A-Z][A-Z0-9_]*_ATTR)\b[^(]").ok());
    let step = blank(guarded, LEADING.as_ref());
    blank(step, ATTRIBUTE.as_ref())
}

fn blank<'a>(text: Cow<'a, str>, pattern: Option<&Regex>) -> Cow<'a, str> {
    let Some(pattern) = pattern else { return text };
    let ranges: Vec<std::ops::Range<usize>> = pattern
        .captures_iter(&text)
        .filter_map(|found| found.name("w").map(|word| word.range()))
        .collect();
    if ranges.is_empty() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        // Capitals are single bytes, and so are blanks.
        out.extend(std::iter::repeat_n(' ', range.len()));
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

fn without_guards(source: &str, grammar: Grammar) -> String {
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let Some(end) = guard_end(&lines, at) else {
            out.push_str(line);
            at += 1;
            continue;
        };
        let inner = lines.get(at + 1..end).unwrap_or_default();
        let words: String = inner.concat().split_whitespace().collect();
        let keeps = grammar == Grammar::Cpp && !is_linkage(&words);
        for (index, line) in lines.get(at..=end).unwrap_or_default().iter().enumerate() {
            let is_directive = index == 0 || index == end - at;
            match keeps && !is_directive {
                true => out.push_str(line),
                false => blank_line(line, &mut out),
            }
        }
        at = end + 1;
    }
    out
}

fn is_linkage(words: &str) -> bool {
    matches!(words, "}" | "{" | "") || words.starts_with("extern\"C\"{") || words.starts_with("}/")
}

/// The line of the `#endif` of a block that only C++ sees and that starts at `start`.
fn guard_end(lines: &[&str], start: usize) -> Option<usize> {
    let directive = |line: &str| line.split_whitespace().collect::<String>();
    let first = directive(lines.get(start)?);
    let opens = ["#ifdef__cplusplus", "#ifdefined(__cplusplus)", "#if__cplusplus"];
    if !opens.iter().any(|open| first.starts_with(open)) {
        return None;
    }
    let mut depth = 0_u32;
    for (index, line) in lines.iter().enumerate().skip(start) {
        let line = directive(line);
        if line.starts_with("#if") {
            depth += 1;
        } else if line.starts_with("#endif") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(index);
            }
        } else if depth == 1 && line.starts_with("#el") {
            // Both halves matter; the grammar copes with them.
            return None;
        }
    }
    None
}

fn blank_line(line: &str, out: &mut String) {
    // Bytes, not characters: places are counted in bytes.
    out.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    #[test]
    fn includes_are_read_and_comments_are_not() {
        let source = "#include <stdio.h>\n# include \"a b.h\" // why\n/* #include \"no.h\"\n\
                      #include \"no2.h\"\n*/\n// #include \"no3.h\"\n#include MACRO\n\
                      char *c = \"/*\";\n#include \"d/e.h\"\n";
        let found = includes(source);
        let short: Vec<(u32, &str, bool)> =
            found.iter().map(|i| (i.line, i.target.as_str(), i.is_system)).collect();
        assert_eq!(short, [(1, "stdio.h", true), (2, "a b.h", false), (9, "d/e.h", false)]);
    }

    #[test]
    fn headers_are_told_apart_by_what_they_hold() {
        assert_eq!(grammar_of(&path("a.h"), "int f(void);"), Some(Grammar::C));
        assert_eq!(grammar_of(&path("a.h"), "class A {};"), Some(Grammar::Cpp));
        assert_eq!(grammar_of(&path("a.py"), ""), Some(Grammar::Python));
        assert_eq!(grammar_of(&path("a.txt"), ""), None);
    }

    #[test]
    fn guards_go_and_what_is_for_cpp_stays_for_cpp() {
        let linkage = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n";
        assert_eq!(tame(linkage, Grammar::C).trim(), "int f(void);");
        assert_eq!(tame(linkage, Grammar::Cpp).trim(), "int f(void);");
        let class = "#ifdef __cplusplus\nclass A {};\n#endif\n";
        assert_eq!(tame(class, Grammar::Cpp).trim(), "class A {};");
        assert_eq!(tame(class, Grammar::C).trim(), "");
        let either = "#ifdef __cplusplus\nint a;\n#else\nint b;\n#endif\n";
        assert_eq!(tame(either, Grammar::C), either);
    }

    #[test]
    fn words_in_capitals_before_a_declaration_go() {
        for (source, left) in [
            ("ESP_DEPRECATED esp_err_t f(void);", "esp_err_t f(void);"),
            ("BT_API uint8_t *f(void);", "uint8_t *f(void);"),
            ("void IRAM_ATTR f(void);", "void f(void);"),
            ("FILE *f(void);", "FILE *f(void);"),
            ("UINT8 f(void);", "UINT8 f(void);"),
            ("#define IRAM_ATTR(x) y", "#define IRAM_ATTR(x) y"),
        ] {
            let tamed = tame(source, Grammar::C);
            assert_eq!(tamed.len(), source.len());
            assert_eq!(tamed.split_whitespace().collect::<Vec<_>>().join(" "), left);
        }
    }

    proptest! {
        #[test]
        fn taming_keeps_length_and_lines(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("#ifdef __cplusplus\n".to_owned()), Just("#endif\n".to_owned()),
                    Just("extern \"C\" {\n".to_owned()), Just("#else\n".to_owned()),
                    Just("#if X\n".to_owned()), Just("MAC_RO int é(void);\r\n".to_owned()),
                    "[ -~é]{0,12}\n"
                ], 0..24)
        ) {
            let source = parts.concat();
            for grammar in [Grammar::C, Grammar::Cpp] {
                let tamed = tame(&source, grammar);
                prop_assert_eq!(tamed.len(), source.len());
                prop_assert_eq!(tamed.matches('\n').count(), source.matches('\n').count());
            }
            let _ = includes(&source);
        }
    }
}
