//! A plain search for prototypes, where the grammar gives up.
//!
//! Sees statements that look like the head of a function. Must not be asked where a tree exists.

use std::sync::LazyLock;

use regex::Regex;

use super::declaration::{Declaration, DeclarationKind, bounded};

/// Words before `(` that are no functions.
const KEYWORDS: [&str; 8] =
    ["if", "while", "for", "switch", "return", "sizeof", "defined", "__attribute__"];

/// Finds what looks like prototypes; `first` is the number of the text's first line.
pub(super) fn prototypes(source: &str, first: u32) -> Vec<Declaration> {
    static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^[ \t]*(?:[A-Za-z_]\w*[ \t*]+)+?\**(?P<name>[A-Za-z_]\w*)[ \t]*\([^(){};#]*(?:\([^(){};#]*\)[^(){};#]*)*\)[^(){};=#]{0,80}[;{]").ok()
    });
    let Some(head) = HEAD.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let (mut line, mut at) = (first, 0);
    for captures in head.captures_iter(source) {
        let (Some(whole), Some(name)) = (captures.get(0), captures.name("name")) else { continue };
        let skipped = source.get(at..whole.start()).unwrap_or_default();
        line = line.saturating_add(feeds(skipped));
        at = whole.start();
        let text = whole.as_str().trim();
        if KEYWORDS.contains(&name.as_str())
            || text.starts_with("return")
            || text.starts_with("else")
        {
            continue;
        }
        let kind = match text.ends_with('{') {
            true => DeclarationKind::Inline,
            false => DeclarationKind::Prototype,
        };
        let text = format!("{};", bounded(text.trim_end_matches(['{', ';'])));
        found.push(Declaration { kind, name: name.as_str().to_owned(), line, text });
    }
    found
}

fn feeds(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|&byte| byte == b'\n').count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_functions_are_told_from_statements() {
        let source = "x = f(1);\nif (a) {\nint g(int a,\n  void (*cb)(int)) ;\nreturn f(2);\n\
                      static inline char *h(void) {\n  while (x) {\n";
        let found = prototypes(source, 10);
        let short: Vec<(u32, &str)> = found.iter().map(|d| (d.line, d.name.as_str())).collect();
        assert_eq!(short, [(12, "g"), (15, "h")]);
        assert_eq!(found[0].text, "int g(int a, void (*cb)(int));");
    }
}
