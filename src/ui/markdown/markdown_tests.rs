//! Tests of the layout of Markdown.

use proptest::prelude::*;

use super::*;

fn rows(source: &str, width: usize) -> Vec<String> {
    let mut document = MarkdownDocument::new(width);
    document.update(source);
    (0..document.rows()).map(|row| document.row(source, row).text().trim_end().to_owned()).collect()
}

/// As [`rows`], with the text arriving in pieces of `step` characters.
fn rows_streamed(source: &str, width: usize, step: usize) -> Vec<String> {
    let mut document = MarkdownDocument::new(width);
    let mut so_far = String::new();
    for (place, c) in source.chars().enumerate() {
        so_far.push(c);
        if place % step == 0 {
            document.update(&so_far);
            document.prepare(&so_far, 0, 20);
        }
    }
    document.update(source);
    (0..document.rows()).map(|row| document.row(source, row).text().trim_end().to_owned()).collect()
}

const SAMPLE: &str = "\
# Plan

The scan uses the **master** driver, but its *header* is missing. See [docs](https://x.y/z).

1. add `driver/i2c_master.h`
2. drop one that is unused
   - nested item
3. build

> quoted words that go on

```c
#include \"driver/i2c_master.h\"
static int x = 1;
```

| pin | use |
|----:|-----|
| 21 | SDA |
| 22 | SCL |

Done.
";

#[test]
fn a_document_of_every_kind() {
    insta::assert_snapshot!(rows(SAMPLE, 40).join("\n"), @r#"
    Plan

    The scan uses the master driver, but its
    header is missing. See docs
    ‹https://x.y/z›.

    1. add driver/i2c_master.h
    2. drop one that is unused
       • nested item
    3. build

    ▎ quoted words that go on

     c
     #include "driver/i2c_master.h"
     static int x = 1;

    pin  use
    ────────
     21  SDA
     22  SCL

    Done.
    "#);
}

#[test]
fn a_text_looks_the_same_however_it_arrives() {
    for step in [1, 3, 7, 50] {
        assert_eq!(rows_streamed(SAMPLE, 40, step), rows(SAMPLE, 40), "{step}");
    }
}

#[test]
fn code_is_never_cut_off() {
    let source = "```c\nint a_very_long_name = 12345;\n\tx;\n```\n";
    let expected = [" c", " int", " a_very_long_", " name =", " 12345;", "     x;"];
    assert_eq!(rows(source, 14), expected);
}

#[test]
fn text_within_json_is_broken_at_its_own_lines() {
    let source = "```json\n{\"code\": \"int a;\\nint b = 'x';\\n\\\\no\"}\n```\n";
    assert_eq!(
        rows(source, 18),
        [" json", " {\"code\": \"int", " a;\\n", " int b = 'x';\\n", " \\\\no\"}"]
    );
}

#[test]
fn long_code_is_folded_once_complete() {
    let code: String = (1..=40).map(|line| format!("x{line};\n")).collect();
    let open = format!("```c\n{code}");
    assert_eq!(rows(&open, 40).len(), 41);
    let source = format!("{open}```\nend\n");
    let folded = rows(&source, 40);
    assert_eq!(folded[..3], [" c", " x1;", " x2;"]);
    assert_eq!(folded[8..], [" x8;", " ▸ 32 more lines", "", "end"]);
    let mut document = MarkdownDocument::new(40);
    document.update(&source);
    let (row, fold) = document.folds()[0];
    assert_eq!((row, document.fold_at(row), document.fold_at(row - 1)), (9, Some(fold), None));
    document.set_unfolded([fold].into());
    assert_eq!(document.rows(), 41 + 2);
    assert_eq!(document.row(&source, 40).text(), " x40;");
    assert_eq!(document.folds(), [(0, fold)]);
}

#[test]
fn files_within_json_are_shown_as_files() {
    let json = r#"[{"file_name": "main/a.c", "code": "int a;\nint b;\n"}, {"file_name": "b.txt", "code": "one"}]"#;
    let source = format!("Here:\n\n```json\n{json}\n```\n\nDone.\n");
    let expected = ["Here:", "", "▸ main/a.c  2 lines", "▸ b.txt  1 line", "", "Done."];
    assert_eq!(rows(&source, 40), expected);
    let mut document = MarkdownDocument::new(40);
    document.update(&source);
    let folds = document.folds();
    assert_eq!(folds.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [2, 3]);
    document.set_unfolded([folds[0].1].into());
    document.prepare(&source, 0, 20);
    let shown: Vec<String> =
        (0..document.rows()).map(|row| document.row(&source, row).text()).collect();
    assert_eq!(shown[2..6], ["▾ main/a.c  2 lines", " int a;", " int b;", "▸ b.txt  1 line"]);
    assert!(document.row(&source, 3).pieces.len() > 2, "coloured");
    // Anything that is more than a list of files is shown as it is.
    let other = "```json\n[{\"file_name\": \"a\", \"code\": \"b\", \"run\": true}]\n```\n";
    assert!(rows(other, 80)[1].contains("run"));
}

#[test]
fn files_show_as_files_while_they_come() {
    let code: String = (1..=30).map(|line| format!("x{line};\\n")).collect();
    let source = format!(
        "```json\n[{{\"file_name\": \"a.h\", \"code\": \"int a;\\n\"}},\n{{\"file_name\": \"main/a.c\", \"code\": \"{code}\"}}]\n```\n"
    );
    let mut document = MarkdownDocument::new(40);
    for end in "```json\n".len()..source.len() {
        document.update(&source[..end]);
        let shown: Vec<String> =
            (0..document.rows()).map(|row| document.row(&source[..end], row).text()).collect();
        let text = shown.join("\n");
        assert!(!text.contains("file_name") && !text.contains("\\n"), "{end}: {text}");
    }
    let end = source.find("x21").unwrap();
    let expected = ["▸ a.h  1 line", "▾ main/a.c  20 lines so far", " x13;", " x14;"];
    assert_eq!(rows(&source[..end], 40)[..4], expected);
    assert_eq!(rows(&source, 40), ["▸ a.h  1 line", "▸ main/a.c  30 lines"]);
}

#[test]
fn an_open_fence_shows_what_is_there() {
    assert_eq!(rows("```c\nint a;\nint", 20), [" c", " int a;", " int"]);
    assert_eq!(rows("```", 20), Vec::<String>::new());
}

#[test]
fn escapes_are_shown_and_not_obeyed() {
    let rows = rows("a\u{1b}[2J `b\u{1b}]0;x\u{7}`\n\n```\n\u{1b}[31m\n```\n", 40);
    assert_eq!(rows, ["a␛[2J b␛]0;x␇", "", " ␛[31m"]);
}

#[test]
fn a_link_says_where_it_leads() {
    assert_eq!(rows("[here](https://evil.example)", 60), ["here ‹https://evil.example›"]);
    assert_eq!(rows("<https://x.example>", 60), ["https://x.example"]);
}

#[test]
fn colours_come_with_what_is_looked_at() {
    let source = "```c\nstatic int x = 1; // one\n```\n";
    let mut document = MarkdownDocument::new(60);
    document.update(source);
    let plain = document.row(source, 1).pieces.len();
    document.prepare(source, 0, 10);
    let row = document.row(source, 1);
    assert!(row.pieces.len() > plain);
    assert_eq!(row.text().trim_end(), " static int x = 1; // one");
}

#[test]
fn a_long_paragraph_is_cut_into_chunks_without_losing_a_line() {
    let source: String = (0..300).map(|line| format!("line {line}\n")).collect();
    let text = rows(&source, 60).join(" ");
    for line in 0..300 {
        assert!(text.contains(&format!("line {line}")));
    }
    assert_eq!(rows_streamed(&source, 60, 17), rows(&source, 60));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn anything_can_stream_in(
        lines in proptest::collection::vec(
            prop_oneof![
                Just("```c"), Just("```"), Just("- item"), Just("  more"), Just(""), Just("# head"),
                Just("| a | b |"), Just("|---|---|"), Just("plain words"), Just("> quote"),
                Just("1. one"), Just("    code"), Just("~~~"), Just("漢字漢字"), Just("***")
            ], 0..20),
        step in 1usize..9,
    ) {
        let source = lines.join("\n");
        let whole = rows(&source, 20);
        prop_assert_eq!(rows_streamed(&source, 20, step), whole);
    }

    #[test]
    fn no_row_is_wider_than_the_screen(source in "[a-z `*|#>\\-\n1.漢]{0,200}", width in 12usize..40) {
        let mut document = MarkdownDocument::new(width);
        document.update(&source);
        for row in 0..document.rows() {
            let row = document.row(&source, row);
            prop_assert!(row.width() <= width || row.text().contains('─') || source.contains('|'), "{row:?}");
        }
    }
}

#[test]
fn fields_in_toon_read_as_a_list_once_they_are_complete() {
    let open = "```toon\npoints[1]{point,state}:\n  list,done\nrating: 7\n";
    assert!(rows(open, 60).iter().any(|row| row.contains("points[1]")), "{:?}", rows(open, 60));
    let whole = format!("{open}```\n");
    let shown = rows(&whole, 60).join("\n");
    assert!(shown.contains("point: list · state: done") && shown.contains("rating: 7"), "{shown}");
    assert!(!shown.contains("points[1]"), "{shown}");
    assert_eq!(rows_streamed(&whole, 60, 7).join("\n"), shown);
    let other = rows("```toon\npoints[3]:\n```\n", 60).join("\n");
    assert!(other.contains("points[3]"), "what cannot be read stays as it is: {other}");
}
