//! Texts without their comments, for files that are no C.
//!
//! Owns which mark opens a comment in which file. Lengths stay, so that places in the result are
//! places in the text.

use std::borrow::Cow;

/// What opens a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommentMarks {
    /// `#`, at the start of a word.
    Hash,
    /// `#` or `;`.
    HashOrSemicolon,
    /// `//` and `/* */`.
    Slashes,
    /// `rem` and `::` at the start of a line.
    Batch,
    /// Nothing is a comment.
    None,
}

impl CommentMarks {
    /// By the name of a file.
    pub(super) fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let end = name.rsplit_once('.').map_or("", |(_, end)| end);
        match end {
            "ini" | "cfg" | "conf" | "gitconfig" | "config" => Self::HashOrSemicolon,
            "json" | "code-workspace" | "jsonc" | "js" | "ts" | "ld" | "rs" | "gradle" | "go"
            | "java" | "groovy" => Self::Slashes,
            "bat" | "cmd" => Self::Batch,
            "md" | "html" | "xml" | "lock" | "launch" => Self::None,
            _ if name == "Jenkinsfile" => Self::Slashes,
            _ if name == ".gitmodules" => Self::HashOrSemicolon,
            _ => Self::Hash,
        }
    }
}

/// The text with blanks in place of its comments.
pub(super) fn without(text: &str, marks: CommentMarks) -> Cow<'_, str> {
    let marked = match marks {
        CommentMarks::Hash => text.contains('#'),
        CommentMarks::HashOrSemicolon => text.contains(['#', ';']),
        CommentMarks::Slashes => text.contains("//") || text.contains("/*"),
        CommentMarks::Batch => true,
        CommentMarks::None => false,
    };
    if !marked {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut in_block = false;
    for line in text.split_inclusive('\n') {
        let may_open = |byte: u8| match marks {
            CommentMarks::Hash => byte == b'#',
            CommentMarks::HashOrSemicolon => matches!(byte, b'#' | b';'),
            CommentMarks::Slashes => byte == b'/',
            CommentMarks::Batch | CommentMarks::None => true,
        };
        if !in_block && !line.bytes().any(may_open) {
            out.push_str(line);
            continue;
        }
        let keep = kept(line, marks, &mut in_block, &mut out);
        let rest = line.get(keep..).unwrap_or_default();
        out.extend(rest.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    }
    Cow::Owned(out)
}

/// Writes the code of a line and says how many of its bytes were dealt with.
fn kept(line: &str, marks: CommentMarks, in_block: &mut bool, out: &mut String) -> usize {
    if marks == CommentMarks::Batch {
        let start = line.trim_start().to_ascii_lowercase();
        let is_comment = start.starts_with("::") || start.starts_with("rem ");
        let keep = if is_comment { 0 } else { line.len() };
        out.push_str(line.get(..keep).unwrap_or_default());
        return keep;
    }
    let mut quote: Option<char> = None;
    let (mut before, mut skip) = ('\n', false);
    for (at, c) in line.char_indices() {
        let rest = line.get(at..).unwrap_or_default();
        let was = std::mem::replace(&mut before, c);
        if std::mem::take(&mut skip) {
            // The second half of what closes a comment, or what a backslash keeps.
            out.push(if quote.is_none() { ' ' } else { c });
            continue;
        }
        if *in_block {
            if rest.starts_with("*/") {
                *in_block = false;
                skip = true;
                out.push(' ');
            } else if c == '\n' {
                out.push('\n');
            } else {
                out.extend(std::iter::repeat_n(' ', c.len_utf8()));
            }
            continue;
        }
        match (quote, c) {
            (Some(_), '\\') => skip = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => {
                // An apostrophe within a word opens nothing.
                let is_quote = c == '"' || !was.is_alphanumeric();
                quote =
                    is_quote.then_some(c).filter(|c| rest.get(1..).is_some_and(|r| r.contains(*c)));
            }
            (None, '#') if is_hash(marks) && (was.is_whitespace() || was == ')' || was == '(') => {
                return at;
            }
            (None, ';') if marks == CommentMarks::HashOrSemicolon && was.is_whitespace() => {
                return at;
            }
            (None, '/') if marks == CommentMarks::Slashes && rest.starts_with("//") => return at,
            (None, '/') if marks == CommentMarks::Slashes && rest.starts_with("/*") => {
                *in_block = true;
                out.push(' ');
                continue;
            }
            (None, _) => {}
        }
        out.push(c);
    }
    line.len()
}

const fn is_hash(marks: CommentMarks) -> bool {
    matches!(marks, CommentMarks::Hash | CommentMarks::HashOrSemicolon)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_follow_from_the_name_of_a_file() {
        use CommentMarks::{Batch, Hash, HashOrSemicolon, Slashes};
        let cases: [(CommentMarks, &[&str]); 5] = [
            (Hash, &["tools/go.sh", "Makefile", "a.py", "CMakeLists.txt", "conf/Jenkinsfile.txt"]),
            (HashOrSemicolon, &["platformio.ini", "a/.gitmodules", ".gitconfig", "x.cfg"]),
            (Slashes, &["a.json", "ci/Jenkinsfile", "link.ld", "src/main.rs", "b.gradle"]),
            (Batch, &["go.bat", "tools/go.cmd"]),
            (CommentMarks::None, &["README.md", "a/b.html", "Cargo.lock", "pom.xml", "x.launch"]),
        ];
        for (marks, names) in cases {
            for name in names {
                assert_eq!(CommentMarks::of(name), marks, "{name}");
            }
        }
    }

    #[test]
    fn comments_become_blanks_of_the_same_length() {
        let cases = [
            (CommentMarks::Hash, "a # b\nc", "a    \nc"),
            (CommentMarks::Hash, "# a\n\"# b\" c#d", "   \n\"# b\" c#d"),
            (CommentMarks::Hash, "it's # b\n", "it's    \n"),
            (CommentMarks::HashOrSemicolon, "; a\nb = c ; d", "   \nb = c    "),
            (CommentMarks::Slashes, "a // é\n\"http://x\"", "a      \n\"http://x\""),
            (CommentMarks::Slashes, "a /* b\nc */ d", "a     \n     d"),
            (CommentMarks::Batch, "rem a\nb\n", "     \nb\n"),
            (CommentMarks::None, "# a", "# a"),
        ];
        for (marks, text, code) in cases {
            let found = without(text, marks);
            assert_eq!(found.len(), text.len(), "{text}");
            assert_eq!(found, code, "{text}");
        }
    }
}
