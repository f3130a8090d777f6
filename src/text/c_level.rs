//! Which lines of C start outside of everything.
//!
//! Owns a reading of brackets, quotes, comments and conditions, and nothing finer. Must not parse.

/// For each line of `source`: whether it starts at the outermost level, after something complete: in
/// no bracket, comment or condition of the preprocessor. Never true again once brackets do not match.
#[must_use]
pub(super) fn outer(source: &str) -> Vec<bool> {
    let mut level = BraceLevel { is_complete: true, ..BraceLevel::default() };
    let lines = source.split_inclusive('\n').map(|line| {
        let is_outer = level.is_outer();
        level.pass(line);
        is_outer
    });
    lines.collect()
}

#[derive(Default)]
struct BraceLevel {
    brackets: u32,
    conditions: u32,
    is_comment: bool,
    /// The line before ends in a backslash.
    goes_on: bool,
    /// What came before needs nothing that is still to come.
    is_complete: bool,
    is_lost: bool,
}

impl BraceLevel {
    const fn is_outer(&self) -> bool {
        self.brackets == 0
            && self.conditions == 0
            && !self.is_comment
            && !self.goes_on
            && self.is_complete
            && !self.is_lost
    }

    fn pass(&mut self, line: &str) {
        let text = line.trim_end();
        let is_directive = !self.is_comment && !self.goes_on && text.trim_start().starts_with('#');
        if is_directive {
            self.directive(text.trim_start().trim_start_matches('#').trim_start());
        }
        // The body of a macro need not be balanced.
        let is_macro = is_directive || self.goes_on && self.conditions == 0 && self.is_complete;
        let last = self.brackets_of(text, is_macro);
        self.goes_on = text.ends_with('\\');
        if let Some(last) = last.filter(|_| !is_macro) {
            self.is_complete = matches!(last, '}' | ';');
        }
    }

    fn directive(&mut self, words: &str) {
        if words.starts_with("if") {
            self.conditions += 1;
        } else if words.starts_with("endif") {
            self.is_lost |= self.conditions == 0;
            self.conditions = self.conditions.saturating_sub(1);
        }
    }

    /// Counts brackets unless the line belongs to a macro; the last character that is no comment.
    fn brackets_of(&mut self, text: &str, is_macro: bool) -> Option<char> {
        let mut last = None;
        let mut quote = None;
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            if self.is_comment {
                if letter == '*' && letters.next_if_eq(&'/').is_some() {
                    self.is_comment = false;
                }
                continue;
            }
            if let Some(open) = quote {
                match letter {
                    '\\' => drop(letters.next()),
                    _ if letter == open => quote = None,
                    _ => {}
                }
                continue;
            }
            match letter {
                '/' if letters.next_if_eq(&'/').is_some() => break,
                '/' if letters.next_if_eq(&'*').is_some() => {
                    self.is_comment = true;
                    continue;
                }
                // The rules for raw strings are others.
                'R' if letters.peek() == Some(&'"') => self.is_lost = true,
                '"' | '\'' => quote = Some(letter),
                '{' | '(' | '[' if !is_macro => self.brackets += 1,
                '}' | ')' | ']' if !is_macro => {
                    self.is_lost |= self.brackets == 0;
                    self.brackets = self.brackets.saturating_sub(1);
                }
                _ => {}
            }
            if !letter.is_whitespace() {
                last = Some(letter);
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outer_lines(source: &str) -> Vec<usize> {
        let lines = outer(source).into_iter().enumerate();
        lines.filter(|(_, is_outer)| *is_outer).map(|(line, _)| line + 1).collect()
    }

    #[test]
    fn lines_between_definitions_are_outer() {
        let source = "#include <a.h>\nint a;\nstatic int\nf(void)\n{\n  g();\n}\n\nint b[] = {\n  1,\n};\nint c;\n";
        assert_eq!(outer_lines(source), [1, 2, 3, 8, 9, 12]);
    }

    #[test]
    fn comments_quotes_and_macros_do_not_count() {
        let source = "/* {\n } */\nchar a = '{'; // }\nchar *b = \"\\\"{\";\n\
                      #define BEGIN {\\\n  (\nint c;\n#if A\nint d;\n#endif\nint e;\n";
        assert_eq!(outer_lines(source), [1, 3, 4, 5, 7, 8, 11]);
    }

    #[test]
    fn where_brackets_do_not_match_nothing_is_outer_any_more() {
        assert_eq!(outer_lines("int a;\n}\nint b;\nint c;\n"), [1, 2]);
        assert_eq!(outer_lines("auto a = R\"({)\";\nint b;\n"), [1]);
        assert_eq!(outer_lines("#endif\nint b;\n"), [1]);
    }
}
