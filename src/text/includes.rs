//! The includes of C and C++ texts.

use std::fmt;

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

/// The includes of a text, in their order; those in comments are left out.
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
        if let Some(IncludeName { target, is_system }) = IncludeName::bracketed(rest.trim_start()) {
            let line = u32::try_from(index + 1).unwrap_or(u32::MAX);
            found.push(Include { line, target, is_system });
        }
    }
    found
}

/// Whether a block comment is open after a line; strings and line comments are minded.
pub(super) fn ends_in_comment(line: &str, mut in_comment: bool) -> bool {
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

/// What an include names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncludeName {
    /// What stands between the quotes or brackets.
    pub target: String,
    /// Whether it stands in `<…>`.
    pub is_system: bool,
}

impl IncludeName {
    /// Reads `<a.h>`, `"a.h"`, `a.h` or a whole `#include` line; `None` when it is none of them.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = match text.strip_prefix('#') {
            Some(rest) => rest.trim_start().strip_prefix("include")?.trim_start(),
            None => text,
        };
        if text.starts_with(['<', '"']) {
            return Self::bracketed(text);
        }
        let is_fine = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+');
        let is_name = !text.is_empty() && text.chars().all(is_fine);
        is_name.then(|| Self { target: text.to_owned(), is_system: false })
    }

    /// What `text` begins with, in quotes or angle brackets.
    #[must_use]
    pub fn bracketed(text: &str) -> Option<Self> {
        let (close, is_system) = match text.chars().next()? {
            '"' => ('"', false),
            '<' => ('>', true),
            _ => return None,
        };
        let target = text.get(1..)?.split_once(close)?.0.trim();
        let is_name = !target.is_empty() && !target.contains(['\n', '\r', '"', '<', '>']);
        is_name.then(|| Self { target: target.to_owned(), is_system })
    }

    /// The whole line, without its end.
    #[must_use]
    pub fn line(&self) -> String {
        format!("#include {self}")
    }
}

impl fmt::Display for IncludeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_system {
            true => write!(f, "<{}>", self.target),
            false => write!(f, "\"{}\"", self.target),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn names_are_read_as_models_write_them() {
        for (text, line) in [
            ("<a.h>", Some("#include <a.h>")),
            (" \"x/a.h\" ", Some("#include \"x/a.h\"")),
            ("esp_log.h", Some("#include \"esp_log.h\"")),
            ("#include <a.h> // why", Some("#include <a.h>")),
            ("#  include \"a.h\"", Some("#include \"a.h\"")),
            ("<>", None),
            ("#define A", None),
            ("a.h; int x", None),
            ("", None),
        ] {
            assert_eq!(IncludeName::parse(text).map(|name| name.line()).as_deref(), line, "{text}");
        }
    }
}
