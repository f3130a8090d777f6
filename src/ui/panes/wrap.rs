//! Wrapping of sentences.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Cuts `text` into rows of at most `width` columns, between words where that is possible.
#[must_use]
pub fn wrap_words(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut rows = vec![String::new()];
    let mut used = 0;
    for word in text.split_word_bounds() {
        let columns = word.width();
        if used + columns > width && used > 0 {
            rows.push(String::new());
            used = 0;
            if word.trim().is_empty() {
                continue;
            }
        }
        for grapheme in word.graphemes(true) {
            let columns = grapheme.width();
            if used + columns > width && used > 0 {
                rows.push(String::new());
                used = 0;
            }
            if let Some(row) = rows.last_mut() {
                row.push_str(grapheme);
            }
            used += columns;
        }
    }
    for row in &mut rows {
        row.truncate(row.trim_end().len());
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_whole_where_they_can() {
        assert_eq!(wrap_words("adds the header", 8), ["adds the", "header"]);
        assert_eq!(wrap_words("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap_words("", 4), [""]);
    }
}
