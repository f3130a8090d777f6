//! Puts a person's words into a source file as a comment that they cannot break out of.

/// How a file writes a comment of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `/* … */`
    Block,
    /// `# …`
    Hash,
}

/// The style of the file at `path`; `None` when it is not known.
pub(super) fn style(path: &str) -> Option<Style> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_hash =
        name == "CMakeLists.txt" || name.starts_with("Kconfig") || name.starts_with("sdkconfig");
    if is_hash {
        return Some(Style::Hash);
    }
    match name.rsplit_once('.')?.1 {
        "c" | "h" | "cpp" | "hpp" | "cc" | "hh" => Some(Style::Block),
        "cmake" | "yml" | "yaml" | "csv" | "txt" | "py" | "rev" | "sh" | "toml" => {
            Some(Style::Hash)
        }
        _ => None,
    }
}

/// `code` with the words in a comment at its beginning.
pub(super) fn with_words(path: &str, code: &str, words: &str) -> String {
    let words = one_line(words);
    let words = if words.is_empty() { "no reason was given".to_owned() } else { words };
    match style(path) {
        Some(Style::Block) => format!("/* Reviewed again: {} */\n{code}", uncommented(&words)),
        Some(Style::Hash) | None => format!("# Reviewed again: {words}\n{code}"),
    }
}

/// Words on one line, without control or invisible characters, no longer than a sentence or two.
pub(super) fn one_line(text: &str) -> String {
    const MOST: usize = 200;
    let visible = text.chars().map(|c| if c.is_control() || is_invisible(c) { ' ' } else { c });
    let spaced: String = visible.collect();
    let words = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= MOST {
        return words;
    }
    let mut short: String = words.chars().take(MOST - 1).collect();
    short.push('…');
    short
}

/// Line separators and characters that change the direction or cannot be seen.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Words in which no comment begins or ends, not even together with what follows.
fn uncommented(words: &str) -> String {
    let mut safe = String::with_capacity(words.len());
    // A backslash warns in some compilers and is never needed to understand the words.
    for c in words.chars().map(|c| if c == '\\' { '/' } else { c }) {
        let joins =
            matches!((safe.chars().next_back(), c), (Some('*'), '/') | (Some('/'), '*' | '/'));
        if joins {
            safe.push(' ');
        }
        safe.push(c);
    }
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_stay_within_their_comment() {
        let code = "int main;\n";
        let made = with_words("main/a.c", code, "no */ #error\n/* #include \"x\"\r\u{2028}*//");
        assert_eq!(
            made,
            "/* Reviewed again: no * / #error / * #include \"x\" * / / */\nint main;\n"
        );
        let made = with_words("main/CMakeLists.txt", code, "a\nmessage(FATAL_ERROR x)");
        assert_eq!(made, "# Reviewed again: a message(FATAL_ERROR x)\nint main;\n");
        let made = with_words("main/a.h", code, " \n ");
        assert_eq!(made, "/* Reviewed again: no reason was given */\nint main;\n");
    }

    #[test]
    fn a_file_of_unknown_kind_has_no_style() {
        assert_eq!(style("main/Kconfig.projbuild"), Some(Style::Hash));
        assert_eq!(style("logo.png"), None);
        assert_eq!(style("LICENSE"), None);
    }

    proptest! {
        #[test]
        fn no_words_end_a_block_comment_or_its_line(words in "[*/\\\\\n\r\u{2028}?a ]{0,60}|\\PC*") {
            let made = with_words("a.c", "REST", &words);
            let inside = made.strip_prefix("/*").unwrap().strip_suffix(" */\nREST").unwrap();
            prop_assert!(!inside.contains("*/") && !inside.contains("/*"));
            prop_assert!(!inside.contains(['\n', '\r', '\\']));
        }

        #[test]
        fn no_words_end_a_line_comment(words in any::<String>()) {
            let made = with_words("CMakeLists.txt", "REST", &words);
            prop_assert_eq!(made.lines().count(), 2);
            prop_assert!(made.ends_with("\nREST"));
        }
    }
}
