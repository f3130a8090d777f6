//! C as firmware writes it, made palatable for a grammar that knows no macros.
//!
//! Owns the list of constructs that compile but do not parse before preprocessing. Every change
//! keeps the length and the lines, so that places in the result are places in the source.

use std::borrow::Cow;
use std::collections::HashMap;

/// Replaces by blanks what only the preprocessor can make sense of: attribute macros such as
/// `IRAM_ATTR`, and the blocks that `#ifdef __cplusplus` guards. A macro that stands for the head
/// of a function, such as `TEST_CASE("name", "[tag]")`, becomes such a head.
#[must_use]
pub fn tame(source: &str) -> Cow<'_, str> {
    let heads = macro_heads(source);
    if heads.is_empty() && !source.contains("_ATTR") && !source.contains("__cplusplus") {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    let mut depth = 0_u32;
    for (number, line) in source.split_inclusive('\n').enumerate() {
        if let Some(end) = heads.get(&number).filter(|_| depth == 0) {
            out.push_str(HEAD);
            out.extend(std::iter::repeat_n(' ', end - HEAD.len()));
            out.push_str(line.get(*end..).unwrap_or_default());
            continue;
        }
        let directive: String = line.split_whitespace().collect();
        let opens = directive.starts_with("#ifdef__cplusplus")
            || directive.starts_with("#ifdefined(__cplusplus)")
            || directive.starts_with("#if__cplusplus");
        if opens || (depth > 0 && directive.starts_with("#if")) {
            depth += 1;
        }
        if depth > 0 {
            // Bytes, not characters: places are counted in bytes.
            out.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            if directive.starts_with("#endif") {
                depth -= 1;
            }
        } else {
            without_attributes(line, &mut out);
        }
    }
    Cow::Owned(out)
}

/// What stands in for a head.
const HEAD: &str = "int f()";

/// The lines that are macros in place of a function's head, with the bytes that the macro takes:
/// in capitals, at the start of a line, and followed by a body.
fn macro_heads(source: &str) -> HashMap<usize, usize> {
    let mut heads = HashMap::new();
    let mut lines = source.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let name =
            line.bytes().take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
        let name = name.count();
        if name < 2 || !line.get(name..).is_some_and(|rest| rest.starts_with('(')) {
            continue;
        }
        let head = line.trim_end();
        let body_follows =
            lines.peek().is_some_and(|(_, next)| next.trim_end() == "{" || next.starts_with("{ "));
        let (head, has_body) = match head.strip_suffix('{') {
            Some(head) => (head.trim_end(), true),
            None => (head, body_follows),
        };
        if has_body && head.ends_with(')') && head.len() >= HEAD.len() {
            heads.insert(number, head.len());
        }
    }
    heads
}

fn without_attributes(line: &str, out: &mut String) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = line;
    while let Some(start) = rest.find(is_part) {
        let (before, tail) = rest.split_at(start);
        let end = tail.find(|c| !is_part(c)).unwrap_or(tail.len());
        let (word, after) = tail.split_at(end);
        out.push_str(before);
        let is_macro = word.ends_with("_ATTR") && word.bytes().all(|b| !b.is_ascii_lowercase());
        if is_macro && !line.trim_start().starts_with('#') {
            out.extend(std::iter::repeat_n(' ', word.len()));
        } else {
            out.push_str(word);
        }
        rest = after;
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_and_guards_become_blanks_of_the_same_length() {
        let source = "#ifdef __cplusplus\nextern \"C\" { // é\n#endif\nvoid IRAM_ATTR f(void);\n";
        let tamed = tame(source);
        assert_eq!(tamed.len(), source.len());
        assert_eq!(tamed.lines().nth(3), Some("void           f(void);"));
        assert_eq!(tamed.lines().take(3).collect::<String>().trim(), "");
        assert!(matches!(tame("int a;\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn macros_that_are_heads_of_functions_become_such() {
        let source =
            "TEST_CASE(\"adds\", \"[math]\")\n{\n    ok();\n}\nTEST(Group, one) {\n}\nCALL(a);\n";
        let tamed = tame(source);
        assert_eq!(tamed.len(), source.len());
        assert_eq!(tamed.lines().next().map(str::trim_end), Some("int f()"));
        assert_eq!(tamed.lines().nth(4), Some("int f()          {"));
        assert_eq!(tamed.lines().nth(6), Some("CALL(a);"));
    }
}
