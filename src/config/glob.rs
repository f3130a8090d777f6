//! Patterns for paths inside a project.

use std::fmt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// A pattern that a whole path must match: `*` is any text within one part, `?` one character of
/// it, `**` any number of parts (none too), and a `/` at the end means everything below.
#[derive(Debug, Clone)]
pub struct Glob {
    text: String,
    set: GlobSet,
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Says why when it could never match: it is empty, absolute, or has `..`, `.` or a backslash.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the pattern is empty".to_owned());
        }
        if text.starts_with(['/', '~']) {
            return Err(format!("`{text}` is absolute; patterns are relative to the project"));
        }
        if text.contains('\\') {
            return Err(format!("`{text}` has a backslash; parts are separated by `/`"));
        }
        let trimmed = text.trim_end_matches('/');
        if let Some(odd) = trimmed.split('/').find(|part| matches!(*part, "" | "." | "..")) {
            return Err(format!("`{text}` has the part `{odd}`, which project paths cannot have"));
        }
        let folder = if trimmed.len() < text.len() { "/**" } else { "" };
        let whole = format!("{trimmed}{folder}");
        let mut set = GlobSetBuilder::new();
        // `**` at the end also takes the folder itself: no parts are a number of parts too.
        for pattern in [whole.as_str(), whole.trim_end_matches("/**")] {
            let glob = GlobBuilder::new(&literal(pattern)).literal_separator(true).build();
            set.add(glob.map_err(|error| format!("`{text}`: {error}"))?);
        }
        let set = set.build().map_err(|error| format!("`{text}`: {error}"))?;
        Ok(Self { text: text.to_owned(), set })
    }

    /// Whether all of `path` matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        self.set.is_match(path)
    }
}

/// The pattern with brackets and braces as characters like any other.
fn literal(pattern: &str) -> String {
    let mut out = String::new();
    for c in pattern.chars() {
        match c {
            '[' | ']' | '{' | '}' => out.extend(['[', c, ']']),
            _ => out.push(c),
        }
    }
    out
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(glob: &str, path: &str) -> bool {
        Glob::new(glob).unwrap().matches(path)
    }

    #[test]
    fn wildcards_keep_to_their_parts() {
        assert!(matches("main/*.c", "main/a.c"));
        assert!(!matches("main/*.c", "main/src/a.c"));
        assert!(!matches("*.c", "main/a.c"));
        assert!(matches("main/**", "main/src/deep/a.c"));
        assert!(matches("main/", "main/src/a.c"));
        assert!(matches("**/CMakeLists.txt", "CMakeLists.txt"));
        assert!(matches("**/CMakeLists.txt", "main/CMakeLists.txt"));
        assert!(matches("main/**/test_?.c", "main/a/b/test_1.c"));
        assert!(!matches("main/**/test_?.c", "main/a/b/test_10.c"));
        assert!(!matches("main", "main/a.c"));
        assert!(matches("main/**", "main") && matches("a**b.c", "axb.c"));
        assert!(!matches("a**b.c", "x/a/b.c") && !matches("**b.c", "a/b.c"));
        assert!(matches("main/[a]{b,c}.c", "main/[a]{b,c}.c"));
        assert!(!matches("main/[a].c", "main/a.c") && !matches("{a,b}.c", "a.c"));
    }

    #[test]
    fn patterns_that_never_match_are_refused() {
        for text in ["", "/etc/*", "../x", "a//b", "a\\b", "~/x", "./a"] {
            assert!(Glob::new(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_same_rule_as_a_regular_expression(
            glob in "[ab*?]{1,6}(/([ab*?]{1,3}|\\*\\*)){0,3}",
            path in "[ab]{1,4}(/[ab]{1,3}){0,4}",
        ) {
            let mut expression = String::from("^");
            let parts: Vec<&str> = glob.split('/').collect();
            for (place, part) in parts.iter().enumerate() {
                let is_last = place + 1 == parts.len();
                match (*part, is_last) {
                    ("**", false) => expression.push_str("(?:[^/]+/)*"),
                    ("**", true) => expression.push_str("(?:[^/]+(?:/[^/]+)*)?"),
                    (part, _) => {
                        let part = part.replace('*', "[^/]*").replace('?', "[^/]");
                        expression.push_str(&part);
                        if !is_last { expression.push('/'); }
                    }
                }
            }
            expression.push('$');
            let regex = regex::Regex::new(&expression).unwrap();
            // `x/**` also takes `x` itself: no parts are a number of parts too.
            let with_slash = format!("{path}/");
            let wanted = regex.is_match(&path) || (glob.ends_with("/**") && regex.is_match(&with_slash));
            prop_assert_eq!(matches(&glob, &path), wanted, "{}", expression);
        }
    }
}
