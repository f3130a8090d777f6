//! Takes secrets out of a text, for those who let it out.
//!
//! Must not decide what is a secret.

use std::borrow::Cow;
use std::ops::Range;

use super::secrets;
use crate::text::redact::REMOVED;

/// How often a text is looked through: each time, one secret of each line is found.
const MOST_TIMES: usize = 16;
/// How a key in PEM form begins, and the line that ends it.
const PEM_BEGIN: &str = "-----BEGIN";
const PEM_END: &str = "-----END";

/// The text of a file with dots in the place of every secret; of a key in PEM form, nothing stays.
/// A text with secrets on one line that do not come to an end is emptied.
#[must_use]
pub fn without<'a>(path: &str, text: &'a str) -> Cow<'a, str> {
    let mut clean = Cow::Borrowed(text);
    for _ in 0..MOST_TIMES {
        let found = secrets(path, &clean);
        let mut ranges: Vec<Range<usize>> =
            found.into_iter().map(|secret| whole(&clean, secret.range)).collect();
        // What was taken out before may look like a secret itself.
        ranges.retain(|range| !clean[range.clone()].contains(REMOVED));
        if ranges.is_empty() {
            return clean;
        }
        ranges.sort_by_key(|range| range.start);
        let (mut next, mut from) = (String::with_capacity(clean.len()), 0);
        for range in ranges {
            if range.start >= from {
                next.push_str(&clean[from..range.start]);
                next.push_str(REMOVED);
                from = range.end;
            }
        }
        next.push_str(&clean[from..]);
        clean = Cow::Owned(next);
    }
    Cow::Borrowed("")
}

/// A key in PEM form goes on to its end, or to that of the text.
fn whole(text: &str, range: Range<usize>) -> Range<usize> {
    if !text[range.clone()].contains(PEM_BEGIN) {
        return range;
    }
    let rest = &text[range.end..];
    let end = rest.find(PEM_END).map_or(text.len(), |end| {
        let line = &rest[end..];
        range.end + end + line.find('\n').unwrap_or(line.len())
    });
    range.start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_secret_stays() {
        let cases = [
            ("main/a.c", "const char *password = \"hunter2222\"; int a;"),
            (
                "README.md",
                "The password is `hunter2222`, the token ghp_abcdefghijklmnopqrstuvwxyz0123456789.",
            ),
            ("a.ini", "password=hunter2222\nother=1\n"),
        ];
        for (path, text) in cases {
            let clean = without(path, text);
            assert!(!clean.contains("hunter2222") && !clean.contains("ghp_"), "{clean}");
            assert!(clean.contains(REMOVED), "{clean}");
        }
        let key = "a\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nabcdef\n-----END PRIVATE KEY-----\nb\n";
        let clean = without("key.txt", key);
        assert!(!clean.contains("MIIE") && !clean.contains("abcdef"), "{clean}");
        assert!(clean.starts_with("a\n") && clean.ends_with("b\n"), "{clean}");
        let cut = without("key.txt", "-----BEGIN PRIVATE KEY-----\nQIBADANBgkq");
        assert_eq!(cut, REMOVED);
        assert!(matches!(without("a.c", "int a;\n"), Cow::Borrowed(_)));
    }
}
