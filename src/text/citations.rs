//! Numbers in a text that name the passages it rests on, as models write them: `[2]`, `[1, 3]`,
//! `[1-3]`, `【2】`, `[^2]`, `[Source 2]`.
//!
//! Pure; must not know which passages there are.

use std::ops::Range;
use std::sync::LazyLock;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use regex::Regex;

use super::lines::blanked;

/// Most numbers that one range names; a longer one is no citation.
const LONGEST_RANGE: u64 = 30;

/// Brackets with numbers in them, and words for a passage before these.
static LISTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let word = r"(?:sources?|passages?|refs?\.?|nos?\.?)";
    let number = r"#?\^?\d{1,3}";
    let gap = format!(r"\s*(?:,|;|&|–|—|-|\band\b)\s*(?:{word}\s*)?");
    let list = format!(
        r"(?i)[\[【]\s*(?:{word}\s*:?\s*)?({number}(?:{gap}{number})*)\s*(?:†[^\]】\n]*)?[\]】]"
    );
    Regex::new(&list).ok()
});

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d+").ok());

/// A number of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// What it names.
    pub number: u64,
    /// Where it stands, in bytes; with its brackets where they hold nothing else.
    pub place: Range<usize>,
}

/// Every number that a text without code names, in order. A range names all its numbers.
#[must_use]
pub fn citations(prose: &str) -> Vec<Citation> {
    let (Some(lists), Some(number)) = (LISTS.as_ref(), NUMBER.as_ref()) else { return Vec::new() };
    let mut found = Vec::new();
    for captures in lists.captures_iter(prose) {
        let (Some(whole), Some(list)) = (captures.get(0), captures.get(1)) else { continue };
        if is_something_else(prose, &whole.range()) {
            continue;
        }
        let mut of_list: Vec<Citation> = Vec::new();
        let mut end = list.start();
        for digits in number.find_iter(list.as_str()) {
            let Ok(value) = digits.as_str().parse() else { continue };
            let place = list.start() + digits.start()..list.start() + digits.end();
            let between = end..place.start;
            let is_range = prose[between.clone()].contains(['-', '–', '—']);
            if let Some(last) = of_list.last().map(|last| last.number).filter(|_| is_range) {
                let span = (last + 1..value).take(LONGEST_RANGE as usize);
                of_list.extend(span.map(|number| Citation { number, place: between.clone() }));
            }
            end = place.end;
            of_list.push(Citation { number: value, place });
        }
        // `[0, 255]` and `[0-9]` are bounds.
        let is_bounds = of_list.len() > 1 && of_list.iter().any(|it| it.number == 0);
        if let [only] = of_list.as_mut_slice() {
            only.place = whole.range();
        }
        if !is_bounds {
            found.append(&mut of_list);
        }
    }
    found
}

/// Whether brackets belong to a name, as an index does, or are the words of a link.
fn is_something_else(prose: &str, place: &Range<usize>) -> bool {
    let before =
        prose[..place.start].rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default();
    prose[place.end..].starts_with('(') || before.contains('_')
}

/// Markdown with blanks in the place of each byte of code.
#[must_use]
pub fn without_code(markdown: &str) -> String {
    let mut code = Vec::new();
    let mut in_code = false;
    for (event, range) in Parser::new(markdown).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                in_code = true;
                code.push(range);
            }
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Code(_) => code.push(range),
            Event::Text(_) if in_code => code.push(range),
            _ => {}
        }
    }
    blanked(markdown, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<u64> {
        citations(text).into_iter().map(|citation| citation.number).collect()
    }

    #[test]
    fn numbers_are_found_in_each_way_they_are_written() {
        assert_eq!(numbers("that [1][2], other [3, 4; 5] and [6 and 7]."), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(
            numbers("【1】 [^2] [Source 3] [sources 4, 5] [passage 6] 【7†source】"),
            [1, 2, 3, 4, 5, 6, 7]
        );
        assert_eq!(numbers("[1-3] [5–6] [Source 8\n and 9]"), [1, 2, 3, 5, 6, 8, 9]);
        assert_eq!(numbers("see [9] and [0]"), [9, 0]);
        let none = "x [a] [12345] 1] [ ] [] buf_of[2] [3](http://a.b) [0-9] [0, 255]";
        assert!(numbers(none).is_empty());
    }

    #[test]
    fn a_number_alone_stands_with_its_brackets() {
        let text = "a [1], [2, 3]";
        let places: Vec<&str> = citations(text).iter().map(|it| &text[it.place.clone()]).collect();
        assert_eq!(places, ["[1]", "2", "3"]);
    }

    #[test]
    fn code_holds_no_citation() {
        let text = "Use `a[1]` [2]:\n\n```c\nint a[3] = {0};\n```\n\n    b[4]\n\nü [5].";
        let prose = without_code(text);
        assert_eq!(prose.len(), text.len());
        assert_eq!(numbers(&prose), [2, 5]);
    }
}
