//! Inserts code into an existing text after a given context, and includes where they belong.
//!
//! Everything outside of the insertions stays as it is, byte for byte. A place that is not certain
//! is an error that names the candidates, never a guess.

mod place;

use std::fmt;

use super::includes::IncludeName;
use super::lines::{Newline, TextLine, lines};
pub(super) use place::closest;
pub use place::{Candidate, Match, PlaceError};

/// One wish: code behind a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    /// The lines right before the place, as the file has them.
    pub context: String,
    /// The code; may be empty when only includes are wanted.
    pub code: String,
    /// Headers the code needs, as `<a.h>`, `"a.h"`, `a.h` or a whole `#include` line.
    pub includes: Vec<String>,
}

/// What became of one wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The line of the old text after which the code stands; 0 when there was no code.
    pub after_line: usize,
    /// How the context was found.
    pub matched: Match,
    /// Whether the code stands there already, so that nothing was inserted.
    pub is_present: bool,
}

/// The result of all wishes for one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The whole new text.
    pub text: String,
    /// For each wish, in their order.
    pub placed: Vec<Placed>,
    /// Includes that were not there and are now.
    pub includes: Vec<String>,
}

/// Why a wish cannot be granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertError {
    /// Which wish, from 0.
    pub index: usize,
    pub kind: InsertErrorKind,
}

/// The cause of an [`InsertError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InsertErrorKind {
    /// The place is not certain.
    Place(PlaceError),
    /// This is no include.
    NotAnInclude(String),
    /// There is neither code nor an include.
    Nothing,
}

impl fmt::Display for InsertErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(error) => error.fmt(f),
            Self::NotAnInclude(text) => write!(f, "`{}` is not an include", text.escape_debug()),
            Self::Nothing => f.write_str("give code, an include or both"),
        }
    }
}

/// Grants all wishes for one text. Places are those of the old text; wishes for the same place
/// stand in their order.
///
/// # Errors
/// The first wish that cannot be granted; then none is.
pub fn insert(source: &str, wishes: &[Insertion]) -> Result<Merged, InsertError> {
    let lines = lines(source);
    let newline = Newline::of(source);
    let mut edits: Vec<(usize, String)> = Vec::new();
    let mut placed = Vec::with_capacity(wishes.len());
    let mut wanted: Vec<IncludeName> = Vec::new();
    for (index, wish) in wishes.iter().enumerate() {
        let failed = |kind| InsertError { index, kind };
        for text in &wish.includes {
            let name = IncludeName::parse(text)
                .ok_or_else(|| failed(InsertErrorKind::NotAnInclude(text.clone())))?;
            if !wanted.contains(&name) {
                wanted.push(name);
            }
        }
        if wish.code.trim().is_empty() {
            if wish.includes.is_empty() {
                return Err(failed(InsertErrorKind::Nothing));
            }
            placed.push(Placed { after_line: 0, matched: Match::Exact, is_present: true });
            continue;
        }
        let (after_line, matched) = place::find(&lines, &wish.context)
            .map_err(|error| failed(InsertErrorKind::Place(error)))?;
        let is_present = stands_there(&lines, after_line, &wish.code);
        if !is_present {
            edits.push(edit(source, &lines, after_line, &newline.apply(&wish.code), newline));
        }
        placed.push(Placed { after_line, matched, is_present });
    }
    let mut added = Vec::new();
    for name in wanted {
        if let Some(after_line) = place::include(source, &name) {
            edits.push(edit(source, &lines, after_line, &name.line(), newline));
            added.push(name.to_string());
        }
    }
    Ok(Merged { text: splice(source, edits), placed, includes: added })
}

/// Whether the lines after a place are those of the code already.
fn stands_there(lines: &[TextLine<'_>], after: usize, code: &str) -> bool {
    let mut there = lines.iter().skip(after).map(|line| line.text);
    code.trim_end()
        .lines()
        .all(|line| there.next().is_some_and(|t| t.trim_end() == line.trim_end()))
}

/// The bytes to put in, and where.
fn edit(
    source: &str,
    lines: &[TextLine<'_>],
    after: usize,
    code: &str,
    newline: Newline,
) -> (usize, String) {
    let at = after.checked_sub(1).and_then(|last| lines.get(last)).map_or(0, |line| line.end);
    let code = code.trim_end_matches(['\n', '\r']);
    // A last line without its end stays the last line without one.
    let is_open = at == source.len() && at > 0 && !source.ends_with('\n');
    let text = match is_open {
        true => format!("{newline}{code}"),
        false => format!("{code}{newline}"),
    };
    (at, text)
}

fn splice(source: &str, mut edits: Vec<(usize, String)>) -> String {
    edits.sort_by_key(|(at, _)| *at);
    let extra: usize = edits.iter().map(|(_, text)| text.len()).sum();
    let mut out = String::with_capacity(source.len() + extra);
    let mut from = 0;
    for (at, text) in edits {
        out.push_str(source.get(from..at).unwrap_or_default());
        out.push_str(&text);
        from = at;
    }
    out.push_str(source.get(from..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wish(context: &str, code: &str, includes: &[&str]) -> Insertion {
        let includes = includes.iter().map(|&include| include.to_owned()).collect();
        Insertion { context: context.to_owned(), code: code.to_owned(), includes }
    }

    const SOURCE: &str = "// Blinks.\n#include <stdio.h>\n#include \"led.h\"\n\nvoid a(void) {\n    led_on();\n}\n\nvoid b(void) {\n    led_on();\n}\n";

    #[test]
    fn code_goes_behind_its_context_and_includes_into_their_block() {
        let context = "#include \"led.h\"\n\nvoid a(void) {\n    led_on();\n";
        let wishes =
            [wish(context, "    wait(1);", &["<string.h>", "wait.h", "#include <stdio.h>"])];
        let merged = insert(SOURCE, &wishes).unwrap();
        assert_eq!(merged.includes, ["<string.h>", "\"wait.h\""]);
        assert_eq!(
            merged.text,
            "// Blinks.\n#include <stdio.h>\n#include <string.h>\n#include \"led.h\"\n#include \"wait.h\"\n\n\
             void a(void) {\n    led_on();\n    wait(1);\n}\n\nvoid b(void) {\n    led_on();\n}\n"
        );
        assert_eq!((merged.placed[0].after_line, merged.placed[0].matched), (6, Match::Exact));
        let context = "#include \"wait.h\"\n\nvoid a(void) {\n    led_on();\n";
        let again = insert(&merged.text, &[wish(context, "    wait(1);", &["wait.h"])]).unwrap();
        assert_eq!((again.text == merged.text, again.placed[0].is_present), (true, true));
    }

    #[test]
    fn other_white_space_is_tolerated_and_said() {
        let merged = insert(SOURCE, &[wish("void b( void )\n\n{\n\tled_on();", "x();\n", &[])]);
        // The brace on its own line is another line, not other white space.
        assert!(matches!(merged, Err(InsertError { index: 0, .. })));
        let merged =
            insert(SOURCE, &[wish("void b( void ) {\n\n\tled_on();", "    x();\n", &[])]).unwrap();
        assert_eq!(
            (merged.placed[0].after_line, merged.placed[0].matched),
            (10, Match::Whitespace)
        );
        assert!(merged.text.ends_with("    led_on();\n    x();\n}\n"));
    }

    #[test]
    fn what_is_not_certain_is_told_with_the_candidates() {
        let error = insert(SOURCE, &[wish("    led_on();\n", "x();", &[])]).unwrap_err();
        let reported = error.kind.to_string();
        assert!(
            reported.contains("after line 6") && reported.contains("after line 10"),
            "{reported}"
        );
        let error =
            insert(SOURCE, &[wish("\nvoid b(void) {\n    led_of();\n", "x();", &[])]).unwrap_err();
        let reported = error.kind.to_string();
        assert!(
            reported.contains("line 10")
                && reported.contains("led_on();")
                && reported.contains("led_of();"),
            "{reported}"
        );
        for (wish, words) in [
            (wish("", "x();", &[]), "context"),
            (wish(" \n", "x();", &[]), "context"),
            (wish("x", "", &[]), "give code"),
            (wish("void a(void) {", "x", &["a b"]), "not an include"),
        ] {
            let reported = insert(SOURCE, &[wish]).unwrap_err().kind.to_string();
            assert!(reported.contains(words), "{reported}");
        }
    }

    #[test]
    fn line_ends_are_those_of_the_file() {
        let crlf = SOURCE.replace('\n', "\r\n");
        let merged =
            insert(&crlf, &[wish("void b(void) {\n    led_on();", "x();\ny();\n", &["<a.h>"])])
                .unwrap();
        assert_eq!(merged.text.matches('\n').count(), merged.text.matches("\r\n").count());
        let open = "int a;\nint b;";
        let merged = insert(open, &[wish("int b;", "int c;\n", &[])]).unwrap();
        assert_eq!(merged.text, "int a;\nint b;\nint c;");
    }

    #[test]
    fn includes_find_their_place_without_a_block() {
        for (source, include, expected) in [
            (
                "#ifndef A_H\n#define A_H\nint a;\n#endif\n",
                "<b.h>",
                "#ifndef A_H\n#define A_H\n#include <b.h>\nint a;\n#endif\n",
            ),
            ("#pragma once\n\nint a;\n", "<b.h>", "#pragma once\n#include <b.h>\n\nint a;\n"),
            (
                "/* L */\n/*\n * M\n */\nint a;\n",
                "b.h",
                "/* L */\n/*\n * M\n */\n#include \"b.h\"\nint a;\n",
            ),
            ("int a;\n", "b.h", "#include \"b.h\"\nint a;\n"),
            ("", "b.h", "#include \"b.h\"\n"),
            ("#include \"a.h\"\n", "<b.h>", "#include <b.h>\n#include \"a.h\"\n"),
            (
                "#include <a.h>\n#if X\n#include <x.h>\n#endif\nint a;\n",
                "<b.h>",
                "#include <a.h>\n#include <b.h>\n#if X\n#include <x.h>\n#endif\nint a;\n",
            ),
            (
                "#include <a.h>\nint a;\n#include <late.h>\n",
                "<b.h>",
                "#include <a.h>\n#include <b.h>\nint a;\n#include <late.h>\n",
            ),
            ("#include <b.h>\n", "\"b.h\"", "#include <b.h>\n"),
        ] {
            let merged = insert(source, &[wish("", "", &[include])]).unwrap();
            assert_eq!(merged.text, expected, "{source}");
        }
    }

    fn source() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            3 => "[a-d]{1,2};", 1 => Just(String::new()), 1 => "  [ab]\\(\\) \\{",
            1 => Just("#include <a.h>".to_owned()), 1 => Just("#include \"é.h\"".to_owned()),
        ];
        (
            proptest::collection::vec((line, prop_oneof![Just("\n"), Just("\r\n")]), 1..30),
            any::<bool>(),
        )
            .prop_map(|(lines, ends)| {
                let text: String =
                    lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect();
                if ends { text } else { text.trim_end().to_owned() }
            })
    }

    /// How many texts are tried; `FIRMHAND_INSERT_CASES` says otherwise.
    fn cases() -> u32 {
        let reported = std::env::var("FIRMHAND_INSERT_CASES").ok();
        reported.and_then(|count| count.parse().ok()).unwrap_or(3000)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases()))]

        #[test]
        fn all_else_stays_byte_for_byte(
            source in source(), start in 0_usize..30, length in 1_usize..20, is_loose in any::<bool>()
        ) {
            let all: Vec<&str> = source.lines().collect();
            let start = start.min(all.len().saturating_sub(1));
            let end = (start + length).min(all.len());
            let context = all[start..end].join("\n");
            let context = if is_loose { context.replace(';', " ;").replace("(", " (") } else { context };
            let code = "marker_1();\nmarker_2();";
            match insert(&source, &[wish(&context, code, &["<new.h>"])]) {
                Ok(merged) => {
                    // Without the lines that were put in, the old text is back.
                    let at = merged.text.find("marker_1").unwrap();
                    prop_assert_eq!(merged.text.matches("marker_1").count(), 1);
                    prop_assert_eq!(merged.text.matches("#include <new.h>").count(), 1);
                    let before = merged.text[..at].lines().filter(|l| *l != "#include <new.h>").count();
                    prop_assert_eq!(before, merged.placed[0].after_line);
                    let newline = if merged.text.contains("marker_1();\r\n") { "\r\n" } else { "\n" };
                    let mut back = merged.text.clone();
                    for line in ["marker_1();", "marker_2();", "#include <new.h>"] {
                        back = back.replacen(&format!("{line}{newline}"), "", 1);
                        back = back.replacen(&format!("{newline}{line}"), "", 1);
                    }
                    prop_assert_eq!(back, source);
                }
                Err(error) => {
                    let reported = error.kind.to_string();
                    // A context that is cut out of the text is there; it can only be ambiguous.
                    prop_assert!(context.trim().is_empty() || reported.contains("places"), "{}", reported);
                }
            }
        }
    }
}
