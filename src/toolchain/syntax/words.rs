//! The words of a command as `compile_commands.json` writes it: quoted as for a POSIX shell.
//!
//! Pure. Nothing is expanded, for CMake writes nothing that would be.

/// Splits a command into its words; `None` when a quote is not closed.
pub(in crate::toolchain) fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => double_quoted(&mut chars, word.get_or_insert_default())?,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn double_quoted(chars: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            '"' => return Some(()),
            '\\' => match chars.next()? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                '\n' => {}
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_are_taken_off_as_a_shell_does() {
        let split = |text| words(text).unwrap();
        assert_eq!(
            split(r#"cc -DV=\"v6\"  -DN="a \"b\"" 'c d' -I"/x y"/z"#),
            ["cc", "-DV=\"v6\"", "-DN=a \"b\"", "c d", "-I/x y/z"]
        );
        assert_eq!(split(r#"a "" '\n' "\n""#), ["a", "", "\\n", "\\n"]);
        assert!(split(" \n").is_empty());
        for open in ["a 'b", "a \"b", "a \\"] {
            assert_eq!(words(open), None, "{open}");
        }
    }
}
