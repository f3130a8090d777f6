//! Pieces of text with a look, broken into rows between words.

use ratatui::style::Modifier;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::breaks::code_parts;
use crate::ui::role::Role;

/// A look, before a theme gives it colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Face {
    /// What it means.
    pub role: Role,
    /// What is added to the role's own look.
    pub add: Modifier,
}

impl From<Role> for Face {
    fn from(role: Role) -> Self {
        Self { role, add: Modifier::empty() }
    }
}

/// Text with one look. It holds no line end and nothing that is unsafe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StyledText {
    pub text: String,
    pub face: Face,
}

impl StyledText {
    /// Text with a look.
    pub fn new(text: impl Into<String>, face: impl Into<Face>) -> Self {
        Self { text: text.into(), face: face.into() }
    }

    /// Columns it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        self.text.width()
    }
}

/// One row of cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellRow {
    /// From left to right.
    pub pieces: Vec<StyledText>,
    /// What the rest of the row is filled with.
    pub fill: Option<Role>,
}

impl CellRow {
    /// A row of these pieces.
    #[must_use]
    pub const fn new(pieces: Vec<StyledText>) -> Self {
        Self { pieces, fill: None }
    }

    /// Columns its pieces take.
    #[must_use]
    pub fn width(&self) -> usize {
        self.pieces.iter().map(StyledText::width).sum()
    }

    /// Its text without any look.
    #[must_use]
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }
}

/// Breaks `pieces` into rows of at most `columns`. The first row begins with `first`, the others
/// with `rest`; both should be equally wide. There is always at least one row.
#[must_use]
pub fn wrap(
    pieces: &[StyledText],
    columns: usize,
    first: &[StyledText],
    rest: &[StyledText],
) -> Vec<CellRow> {
    let indent: usize = rest.iter().map(StyledText::width).sum();
    let columns = columns.saturating_sub(indent).max(4);
    let mut breaker = Breaker { columns, row: first.to_vec(), rest, ..Breaker::default() };
    for piece in pieces {
        breaker.take(piece);
    }
    breaker.end_word();
    breaker.end_row();
    breaker.rows
}

#[derive(Default)]
struct Breaker<'a> {
    columns: usize,
    rows: Vec<CellRow>,
    row: Vec<StyledText>,
    rest: &'a [StyledText],
    /// Columns of the row that are taken, the indent not counted.
    used: usize,
    /// The word so far; it may go over several pieces.
    word: Vec<StyledText>,
    word_width: usize,
    /// The space before that word.
    space: Option<Face>,
}

impl Breaker<'_> {
    fn take(&mut self, piece: &StyledText) {
        let mut start = 0;
        for (place, grapheme) in piece.text.grapheme_indices(true) {
            // Scripts without spaces break between any two of their wide characters.
            if !matches!(grapheme, " " | "\n") && grapheme.width() < 2 {
                continue;
            }
            self.add_word(piece.text.get(start..place).unwrap_or_default(), piece.face);
            self.end_word();
            start = place + grapheme.len();
            match grapheme {
                " " => self.space = Some(piece.face),
                "\n" => self.end_row(),
                wide => {
                    self.add_word(wide, piece.face);
                    self.end_word();
                }
            }
        }
        self.add_word(piece.text.get(start..).unwrap_or_default(), piece.face);
    }

    fn add_word(&mut self, text: &str, face: Face) {
        if !text.is_empty() {
            self.word_width += text.width();
            append(&mut self.word, text, face);
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let space = self.space.take();
        let gap = usize::from(space.is_some() && self.used > 0);
        if self.used > 0 && self.used + gap + self.word_width > self.columns {
            self.end_row();
        } else if let (1, Some(face)) = (gap, space) {
            append(&mut self.row, " ", face);
            self.used += 1;
        }
        let word = std::mem::take(&mut self.word);
        if self.word_width > self.columns {
            self.place_wide(&word);
        } else {
            for piece in word {
                append(&mut self.row, &piece.text, piece.face);
            }
            self.used += self.word_width;
        }
        self.word_width = 0;
    }

    /// Puts a word that is wider than a row into an empty one and those after it.
    fn place_wide(&mut self, word: &[StyledText]) {
        let whole: String = word.iter().map(|piece| piece.text.as_str()).collect();
        let mut parts = code_parts(&whole, self.columns).into_iter();
        let mut part = parts.next().unwrap_or_default();
        let mut left = part.len();
        for piece in word {
            let mut rest = piece.text.as_str();
            while !rest.is_empty() {
                if left == 0 {
                    self.end_row();
                    part = parts.next().unwrap_or(rest);
                    left = part.len();
                }
                let (text, tail) = rest.split_at_checked(left).unwrap_or((rest, ""));
                append(&mut self.row, text, piece.face);
                left = left.saturating_sub(text.len());
                rest = tail;
            }
        }
        self.used = part.width();
    }

    fn end_row(&mut self) {
        let row = std::mem::replace(&mut self.row, self.rest.to_vec());
        self.rows.push(CellRow::new(row));
        self.used = 0;
        self.space = None;
    }
}

/// Adds text, to the last piece if that looks the same.
fn append(pieces: &mut Vec<StyledText>, text: &str, face: Face) {
    match pieces.last_mut() {
        Some(last) if last.face == face => last.text.push_str(text),
        _ => pieces.push(StyledText::new(text, face)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str, columns: usize) -> Vec<String> {
        let pieces = [StyledText::new(text, Role::Text)];
        wrap(&pieces, columns, &[], &[]).iter().map(CellRow::text).collect()
    }

    #[test]
    fn rows_break_between_words() {
        assert_eq!(plain("one two three", 8), ["one two", "three"]);
        assert_eq!(plain("one  two", 80), ["one two"]);
        assert_eq!(plain("a\nb", 80), ["a", "b"]);
        assert_eq!(plain("", 80), [""]);
        assert_eq!(plain("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(plain("漢字漢字x", 4), ["漢字", "漢字", "x"]);
    }

    #[test]
    fn a_word_of_several_looks_stays_together() {
        let pieces = [StyledText::new("see bo", Role::Text), StyledText::new("ld", Role::Strong)];
        let rows = wrap(&pieces, 6, &[], &[]);
        assert_eq!(rows.iter().map(CellRow::text).collect::<Vec<_>>(), ["see", "bold"]);
        assert_eq!(rows[1].pieces.len(), 2);
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_character_is_lost(text in "[a-z漢é👩 ]{0,80}", columns in 4usize..30) {
            let rows = plain(&text, columns);
            for row in &rows {
                prop_assert!(row.width() <= columns, "{row}");
            }
            let squeeze = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(squeeze(&rows.concat()), squeeze(&text));
        }
    }
}
