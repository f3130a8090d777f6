//! Splits program text where declarations begin, and keeps long runs of data out.
//!
//! Pure.

use super::document::{Document, SplitContext};
use crate::knowledge::passage::Passage;

/// Lines longer than this are data, in bytes.
const LONGEST_LINE: usize = 400;
/// Most bytes of one file that are split.
const MOST_BYTES: usize = 200_000;

/// Splits a document.
pub(super) fn split(document: Document<'_>, context: &SplitContext<'_>) -> Vec<Passage> {
    let text = &document.text[..document.text.floor_char_boundary(MOST_BYTES)];
    let readable: Vec<&str> = text
        .lines()
        .map(|line| if line.len() > LONGEST_LINE || is_data(line) { "" } else { line })
        .collect();
    let text = without_licence(&readable.join("\n"));
    let title = title_of(document.path);
    document.windows(&title, &text, context.window)
}

/// The file and the folder of the example it belongs to.
fn title_of(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').filter(|part| *part != "main").collect();
    let name = parts.pop().unwrap_or(path);
    match parts.last() {
        Some(folder) => format!("{folder}: {name}"),
        None => name.to_owned(),
    }
}

/// Whether a line holds numbers and nothing else.
fn is_data(line: &str) -> bool {
    let line = line.trim();
    line.len() > 20
        && line.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b',' | b' ' | b'x' | b'X'))
}

/// The text without a licence at its start; the lines keep their numbers.
fn without_licence(text: &str) -> String {
    let head = &text[..text.floor_char_boundary(3_000)];
    if text.starts_with("/*")
        && let Some(end) = head.find("*/")
        && (head[..end].contains("SPDX") || head[..end].contains("icense"))
    {
        let lines = head[..end].matches('\n').count();
        return format!("{}{}", "\n".repeat(lines), &text[end + 2..]);
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::document::plain_context;
    use super::*;
    use crate::knowledge::chips::ChipSet;
    use crate::knowledge::passage::PassageKind;

    #[test]
    fn licences_and_data_stay_out_and_lines_keep_their_numbers() {
        let mut text = "/*\n * SPDX-License-Identifier: X\n */\n".to_owned();
        text.push_str(&"0x00, 0x01, 0x02, 0x03, 0x04,\n".repeat(300));
        text.push_str("void app_main(void) {}\n");
        let context = plain_context();
        let path = "examples/get-started/blink/main/blink.c";
        let (kind, chips) = (PassageKind::Example, ChipSet::ALL);
        let found = split(Document { path, text: &text, kind, chips }, &context);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].title, "blink: blink.c");
        assert!(found[0].text.contains("app_main") && !found[0].text.contains("SPDX"));
        assert_eq!(found[0].anchor, "L304");
    }
}
