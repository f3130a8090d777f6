//! Whether a text can ask a compiler for the existence of files outside of the project.
//!
//! `__has_include` and its like answer without reading; what depends on the answer shows in the
//! errors. Only the plain forms pass, with a name that stays inside. Errs on the side of no.

use std::collections::{BTreeMap, BTreeSet};

/// Operators that answer whether a file is there.
const OPERATORS: [&str; 4] =
    ["__has_include_next", "__has_include__", "__has_include", "__has_embed"];

/// Words of pragmas that lead to other files.
const PRAGMAS: [&str; 6] =
    ["dependency", "pch_preprocess", "include_alias", "module", "import", "load"];

/// How the name of a file is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    /// `"…"`
    Double,
    /// `<…>`
    Angle,
}

/// A name in quotes at the beginning of `text`, and what follows it on the line.
pub(super) fn quoted(text: &str) -> Option<(Quote, &str, &str)> {
    let (quote, close) = match text.chars().next()? {
        '"' => (Quote::Double, '"'),
        '<' => (Quote::Angle, '>'),
        _ => return None,
    };
    let (name, rest) = text.get(1..)?.split_once(close)?;
    (!name.contains('\n')).then_some((quote, name, rest))
}

/// Whether the text, its spliced lines joined, asks for nothing but names for which `is_inside`
/// says yes.
pub(super) fn asks_inside(text: &str, is_inside: &dyn Fn(Quote, &str) -> bool) -> bool {
    let is_built = is_built_of_parts(&words(text)) || passes_on_a_part(text);
    let leads_by_pragma =
        text.contains("ragma") && PRAGMAS.iter().any(|word| is_in_pragma(text, word));
    if is_built || leads_by_pragma || text.contains("incbin") {
        return false;
    }
    operators_are_plain(text, is_inside) && conditions_are_plain(text)
}

/// Every operator is only asked after, or asks for a name that stays inside.
fn operators_are_plain(text: &str, is_inside: &dyn Fn(Quote, &str) -> bool) -> bool {
    let mut from = 0;
    while let Some(at) = OPERATORS.iter().filter_map(|name| find(text, name, from)).min() {
        let rest = text.get(at..).unwrap_or_default();
        let name = OPERATORS.iter().find(|name| rest.starts_with(**name)).map_or("", |name| name);
        let after = rest.get(name.len()..).unwrap_or_default();
        if after.starts_with(is_word) {
            // Part of a longer name, which is no operator.
            from = at + name.len();
            continue;
        }
        if !(is_only_asked_after(text.get(..at).unwrap_or_default())
            || asked(after).is_some_and(|(quote, target)| is_inside(quote, target)))
        {
            return false;
        }
        from = at + name.len();
    }
    true
}

/// What stands in the parentheses after an operator.
fn asked(after: &str) -> Option<(Quote, &str)> {
    let blank = |c: char| c == ' ' || c == '\t';
    let inner = after.trim_start_matches(blank).strip_prefix('(')?.trim_start_matches(blank);
    quoted(inner).map(|(quote, target, _)| (quote, target))
}

/// `defined(X)`, `defined X`, `#ifdef X`: whether the compiler knows the operator at all.
fn is_only_asked_after(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    let before = before.strip_suffix('(').unwrap_or(before).trim_end_matches([' ', '\t']);
    ["defined", "ifdef", "ifndef", "undef"].iter().any(|word| before.ends_with(word))
}

/// Whether pasting can make an operator of the words of the text.
fn is_built_of_parts(words: &BTreeSet<&str>) -> bool {
    OPERATORS.iter().any(|name| {
        let mut reached = vec![false; name.len() + 1];
        reached[0] = true;
        for start in 0..name.len() {
            if !reached[start] {
                continue;
            }
            for end in start + 1..=name.len() {
                let is_whole = start == 0 && end == name.len();
                if !is_whole && words.contains(&name[start..end]) {
                    reached[end] = true;
                }
            }
        }
        reached[name.len()]
    })
}

/// Whether a macro is given the second half of an operator: it may have the first.
fn passes_on_a_part(text: &str) -> bool {
    ["include", "include_next", "has_include", "embed", "has_embed"].iter().any(|part| {
        let mut from = 0;
        while let Some(at) = find(text, part, from) {
            from = at + part.len();
            let before = text.get(..at).unwrap_or_default().trim_end();
            let after = text.get(from..).unwrap_or_default().trim_start();
            if before.ends_with(['(', ',']) && after.starts_with([')', ',']) {
                return true;
            }
        }
        false
    })
}

fn is_in_pragma(text: &str, word: &str) -> bool {
    let names = |line: &str| words(line).contains(word);
    match text.contains("_Pragma") || text.contains("__pragma") {
        // Its words may come through a macro.
        true => names(text),
        false => text.lines().any(|line| line.contains("pragma") && names(line)),
    }
}

/// No condition has a text or a path in it, also not through a macro of the text.
fn conditions_are_plain(text: &str) -> bool {
    let mut macros: BTreeMap<&str, &str> = BTreeMap::new();
    let mut conditions = Vec::new();
    for line in text.lines() {
        let Some((name, operand)) = directive(line) else { continue };
        match name {
            "define" => {
                let operand = operand.trim_start();
                let end = operand.find(|c| !is_word(c)).unwrap_or(operand.len());
                let (name, replacement) = operand.split_at(end);
                macros.insert(name, replacement);
            }
            "if" | "elif" => conditions.push(without_operators(operand)),
            _ => {}
        }
    }
    let mut leading: BTreeSet<&str> = BTreeSet::new();
    // As often as there are macros: each may only lead through the next.
    for _ in 0..=macros.len() {
        let before = leading.len();
        for (name, replacement) in &macros {
            if names_a_file(replacement) || !words(replacement).is_disjoint(&leading) {
                leading.insert(name);
            }
        }
        if leading.len() == before {
            break;
        }
    }
    conditions
        .iter()
        .all(|condition| !names_a_file(condition) && words(condition).is_disjoint(&leading))
}

/// A directive's name and what follows it.
fn directive(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let rest = ["#", "%:", "??="].iter().find_map(|mark| line.strip_prefix(mark))?.trim_start();
    let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    Some(rest.split_at(end))
}

/// A condition without what is asked after (`defined(X)`) and without plain operators.
fn without_operators(condition: &str) -> String {
    let mut left = String::with_capacity(condition.len());
    let mut rest = condition;
    while let Some((before, name, after)) = next_word(rest) {
        left.push_str(before);
        if name == "defined" {
            let after = after.trim_start().trim_start_matches('(').trim_start();
            rest = after.trim_start_matches(is_word);
        } else if OPERATORS.contains(&name) {
            let inner = after.trim_start().trim_start_matches('(').trim_start();
            rest = quoted(inner).map_or("", |(_, _, rest)| rest);
        } else {
            left.push_str(name);
            rest = after;
        }
    }
    left.push_str(rest);
    left
}

fn next_word(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(is_word)?;
    let end = text.get(start..)?.find(|c| !is_word(c)).map_or(text.len(), |end| start + end);
    Some((text.get(..start)?, text.get(start..end)?, text.get(end..)?))
}

fn names_a_file(text: &str) -> bool {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    dense.contains('"')
        || ["</", "<.", "(/", ",/"].iter().any(|start| {
            // `/*` and `//` begin comments.
            let mut parts = dense.split(start).skip(1);
            parts.any(|rest| !rest.starts_with(['*', '/']))
        })
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The next place of `name` as the beginning of a word.
fn find(text: &str, name: &str, from: usize) -> Option<usize> {
    let places = text.get(from..)?.match_indices(name).map(|(at, _)| from + at);
    places.into_iter().find(|at| !text.get(..*at).is_some_and(|before| before.ends_with(is_word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(text: &str) -> bool {
        asks_inside(text, &|_, target| !target.starts_with('/') && !target.contains(".."))
    }

    #[test]
    fn what_firmware_asks_is_plain() {
        for text in [
            "#if __has_include(\"esp_idf_version.h\")\n#include \"esp_idf_version.h\"\n#endif\n",
            "#if defined(__has_include) && __has_include(<optional>)\n#endif\n",
            "#ifdef __has_include\n# if __has_include ( <a/b.h> )\n# endif\n#endif\n",
            "#define MOUNT \"/spiffs\"\n#if defined(MOUNT) && !defined MOUNT\n#endif\n",
            "#if ESP_IDF_VERSION >= ESP_IDF_VERSION_VAL(5, 0, 0)\n#endif\n",
            "#define CAT(a, b) a##b\n#define LT(a, b) ((a) < (b))\n#if LT(1, 2) /* a \"b\" */ 0\n#endif\n",
            "int has(int i) { return i; } // include, embed (or not)\n#pragma once\n",
            "#pragma GCC diagnostic push\n#define P(x) _Pragma(#x)\n",
            "#if A / B > 2 // as it was\n#endif\nint my__has_include_x;\n",
        ] {
            // A condition with a text in a comment is given up as well.
            assert_eq!(asks(text), !text.contains("a \"b\""), "{text}");
        }
    }

    #[test]
    fn what_asks_for_files_elsewhere_does_not_pass() {
        for text in [
            "#if __has_include(\"/etc/passwd\")\n#error yes\n#endif\n",
            "#if __has_include(</etc/passwd>)\n#endif\n",
            "#if __has_include ( \"../../x\" )\n#endif\n",
            "#if __has_include_next(</etc/passwd>)\n#endif\n",
            "#if __has_embed(\"/etc/passwd\")\n#endif\n",
            "#define P \"/etc/passwd\"\n#if __has_include(P)\n#endif\n",
            "#define ASK(x) __has_include(x)\n#if ASK(\"/etc/passwd\")\n#endif\n",
            "#define ASK __has_include\n",
            "#if __has_include/**/(\"/etc/passwd\")\n#endif\n",
            "#define CAT(a, b) a##b\n#if CAT(__has_, include)(\"/etc/passwd\")\n#endif\n",
            "#define C(a, b, c) a##b##c\n#define Q C(__ha, s_inc, lude)\n",
            "#if OURS(include)(P)\n#endif\n",
            "#if OURS(\"/etc/passwd\")\n#endif\n",
            "#if OURS(</etc/passwd>)\n#endif\n",
            "#if OURS( < / etc/passwd>)\n#endif\n",
            "#if OURS(/etc/passwd)\n#endif\n",
            "#define P \"/etc/passwd\"\n#define Q P\n#if 1 && OURS(Q)\n#endif\n",
            "#define F(n) OURS(\"/etc/passwd\")\n#elif F(1)\n",
            "#pragma GCC dependency \"/etc/passwd\"\n",
            "_Pragma(\"GCC dependency \\\"/etc/passwd\\\"\")\n",
            "#define D(x) _Pragma(#x)\nD(GCC dependency \"/etc/passwd\")\n",
            "#pragma clang module import x\n",
            "__asm__(\".incbin \\\"/etc/passwd\\\"\");\n",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}
