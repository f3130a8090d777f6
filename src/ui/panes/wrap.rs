//! Wrapping of sentences.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::ui::line;

/// Cuts `text` into rows of at most `width` columns: at blanks, and within a word only where it is
/// longer than a row.
#[must_use]
pub fn wrap_words(text: &str, width: usize) -> Vec<String> {
    let mut rows = Rows { width: width.max(1), rows: vec![String::new()], used: 0 };
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_blank = first.is_whitespace();
        let length = rest.find(|c: char| c.is_whitespace() != is_blank).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(length);
        rest = after;
        let columns = piece.width();
        match (is_blank, rows.fits(columns)) {
            (_, true) => rows.push(piece, columns),
            (true, false) => rows.begin(),
            (false, false) if columns <= rows.width => {
                rows.begin();
                rows.push(piece, columns);
            }
            (false, false) => rows.push_long(piece),
        }
    }
    for row in &mut rows.rows {
        row.truncate(row.trim_end().len());
    }
    rows.rows
}

/// As [`wrap_words`], in so many rows at most; where more would follow, the last one says so.
#[must_use]
pub fn wrap_at_most(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut rows = wrap_words(text, width);
    if rows.len() > most {
        rows.truncate(most);
        if let Some(last) = rows.last_mut() {
            *last = line::broken_off(last, width);
        }
    }
    rows
}

/// Rows that fill up.
struct Rows {
    width: usize,
    rows: Vec<String>,
    /// Columns of the last row that are taken.
    used: usize,
}

impl Rows {
    fn fits(&self, columns: usize) -> bool {
        self.used + columns <= self.width || self.used == 0 && columns == 0
    }

    /// Begins a row; an empty one is used.
    fn begin(&mut self) {
        if self.used > 0 {
            self.rows.push(String::new());
            self.used = 0;
        }
    }

    fn push(&mut self, text: &str, columns: usize) {
        if let Some(row) = self.rows.last_mut() {
            row.push_str(text);
        }
        self.used += columns;
    }

    /// A word that is longer than a row: between its parts where that is possible.
    fn push_long(&mut self, word: &str) {
        for part in word.split_word_bounds() {
            if !self.fits(part.width()) {
                self.begin();
            }
            for grapheme in part.graphemes(true) {
                let columns = grapheme.width();
                if !self.fits(columns) {
                    self.begin();
                }
                self.push(grapheme, columns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_whole_where_they_can() {
        assert_eq!(wrap_words("adds the header", 8), ["adds the", "header"]);
        assert_eq!(wrap_words("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap_words("in main/report.c now.", 14), ["in", "main/report.c", "now."]);
        assert_eq!(wrap_words("see it. Then", 6), ["see", "it.", "Then"]);
        assert_eq!(wrap_words("main/include/press.h", 13), ["main/include/", "press.h"]);
        assert_eq!(wrap_words("", 4), [""]);
    }
}
