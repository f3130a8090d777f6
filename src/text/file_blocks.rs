//! Files one after the other in a text, each after a line with its path.
//!
//! Owns the form of that line, for those who write such a text and those who read it.

/// What stands before and after a path.
const BEFORE: &str = "### File: ";
const AFTER: &str = " ###";

/// The line that stands before the content of a file.
#[must_use]
pub fn head(path: &str) -> String {
    format!("{BEFORE}{path}{AFTER}")
}

/// The paths in a text that begins with such a line, each with the bytes up to the next one.
#[must_use]
pub fn files(text: &str) -> Vec<(&str, usize)> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let path = line.trim_end().strip_prefix(BEFORE).and_then(|rest| rest.strip_suffix(AFTER));
        match (path, found.last_mut()) {
            (Some(path), _) => found.push((path, 0)),
            (None, Some((_, bytes))) => *bytes += line.len(),
            (None, None) => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let text = format!("{}\nint a;\n\n{}\nx", head("main/a b.c"), head("CMakeLists.txt"));
        assert_eq!(files(&text), [("main/a b.c", 8), ("CMakeLists.txt", 1)]);
        assert_eq!(files("see ### File: a.c ###\n"), []);
        assert_eq!(files(""), []);
    }
}
