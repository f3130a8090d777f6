//! Patterns for paths inside a project.

use std::fmt;

/// A pattern that a whole path must match: `*` is any text within one part, `?` one character of
/// it, `**` any number of parts (none too), and a `/` at the end means everything below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    parts: Vec<String>,
}

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
        let mut parts: Vec<String> = trimmed.split('/').map(str::to_owned).collect();
        if trimmed.len() < text.len() {
            parts.push("**".to_owned());
        }
        if let Some(odd) = parts.iter().find(|part| matches!(part.as_str(), "" | "." | "..")) {
            return Err(format!("`{text}` has the part `{odd}`, which project paths cannot have"));
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// Whether all of `path` matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let path: Vec<&str> = path.split('/').collect();
        let parts: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        wild(&parts, &path, |part| *part == "**", |part, name| part_matches(part, name))
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn part_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    wild(&pattern, &name, |c| *c == '*', |c, given| *c == '?' || c == given)
}

/// Matches with one kind of wildcard. Only the last wildcard seen ever needs another try, so the
/// work is bounded by the product of both lengths.
fn wild<P, T>(
    pattern: &[P],
    text: &[T],
    is_wild: impl Fn(&P) -> bool,
    is_same: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut pos) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(item) = text.get(pos) {
        match pattern.get(at) {
            Some(wanted) if is_wild(wanted) => {
                retry = Some((at + 1, pos));
                at += 1;
            }
            Some(wanted) if is_same(wanted, item) => {
                at += 1;
                pos += 1;
            }
            Some(_) | None => {
                let Some((after, from)) = retry else { return false };
                retry = Some((after, from + 1));
                (at, pos) = (after, from + 1);
            }
        }
    }
    pattern.iter().skip(at).all(is_wild)
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
