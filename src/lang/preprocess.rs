//! What the preprocessor would make of a text: guards and macros that a grammar stumbles over.
//!
//! Every change to a text keeps its length and its lines.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::model::ProjectPath;
use crate::text::lines::blanked;
use crate::text::tree::Language;

/// The grammar for a file by its name, and for a header by what it holds; `None` when there is
/// none.
#[must_use]
pub fn grammar_of(path: &ProjectPath, source: &str) -> Option<Language> {
    static CPP_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s*(class\s+\w+|namespace\b|template\s*<|(public|private|protected)\s*:|using\s+\w+)").ok()
    });
    match path.extension()? {
        "c" => Some(Language::C),
        "cpp" | "cc" | "cxx" | "hpp" | "hh" | "hxx" | "ino" => Some(Language::Cpp),
        "py" => Some(Language::Python),
        "h" if CPP_WORDS.as_ref().is_some_and(|words| words.is_match(source)) => {
            Some(Language::Cpp)
        }
        "h" => Some(Language::C),
        _ => None,
    }
}

/// Blanks the guards `#ifdef __cplusplus extern "C" { #endif`, and the directives around other
/// text for C++ only (for C that text goes too); and words in capitals before a declaration,
/// such as `IRAM_ATTR` or `ESP_DEPRECATED`.
#[must_use]
pub(super) fn tame(source: &str, grammar: Language) -> Cow<'_, str> {
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
    Cow::Owned(blanked(&text, ranges))
}

fn without_guards(source: &str, grammar: Language) -> String {
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
        let keeps = grammar == Language::Cpp && !is_linkage(&words);
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
    fn headers_are_told_apart_by_what_they_hold() {
        assert_eq!(grammar_of(&path("a.h"), "int f(void);"), Some(Language::C));
        assert_eq!(grammar_of(&path("a.h"), "class A {};"), Some(Language::Cpp));
        assert_eq!(grammar_of(&path("a.py"), ""), Some(Language::Python));
        assert_eq!(grammar_of(&path("a.txt"), ""), None);
    }

    #[test]
    fn guards_go_and_what_is_for_cpp_stays_for_cpp() {
        let linkage = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n";
        assert_eq!(tame(linkage, Language::C).trim(), "int f(void);");
        assert_eq!(tame(linkage, Language::Cpp).trim(), "int f(void);");
        let class = "#ifdef __cplusplus\nclass A {};\n#endif\n";
        assert_eq!(tame(class, Language::Cpp).trim(), "class A {};");
        assert_eq!(tame(class, Language::C).trim(), "");
        let either = "#ifdef __cplusplus\nint a;\n#else\nint b;\n#endif\n";
        assert_eq!(tame(either, Language::C), either);
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
            let tamed = tame(source, Language::C);
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
            for grammar in [Language::C, Language::Cpp] {
                let tamed = tame(&source, grammar);
                prop_assert_eq!(tamed.len(), source.len());
                prop_assert_eq!(tamed.matches('\n').count(), source.matches('\n').count());
            }
        }
    }
}
