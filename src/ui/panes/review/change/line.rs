//! One line of a body: its pieces with colour and emphasis, whole or in parts.
//!
//! Owns the cutting of lines. Long lines are never cut into pieces by colour, so that one of
//! 100,000 columns costs no more than what of it is in sight.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::text::diff::LineKind;
use crate::text::line_pairs::LinePair;
use crate::text::sanitize;
use crate::text::syntax::{Span, SyntaxKind};
use crate::ui::markdown::code_parts;

/// Longer lines have neither colours nor emphasis, in bytes.
const MAX_COLOURED: usize = 4_000;

/// The colour of a piece, by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Plain,
    /// Text that stands back.
    Dim,
    /// Something to look at twice.
    Warning,
    /// A piece of source.
    Syntax(SyntaxKind),
}

/// A piece of a line with one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinePiece {
    /// Sanitised: safe for the terminal.
    pub text: String,
    pub ink: Ink,
    /// Whether it differs from the line's other version.
    pub emphasis: Emphasis,
}

impl LinePiece {
    /// A piece without emphasis.
    pub fn new(text: impl Into<String>, ink: Ink) -> Self {
        Self { text: text.into(), ink, emphasis: Emphasis::None }
    }
}

/// Whether a piece differs from the line's other version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// It does not, or there is no other version.
    None,
    Changed,
    /// A check found something here.
    Found,
}

/// What a line of the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineRole {
    /// A line of the file, with its numbers in the old and the new version.
    Diff(LineKind, Option<usize>, Option<usize>),
    /// A statement about the change that belongs to what is decided.
    Fact,
    Note,
}

/// One line, not laid out yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyLine {
    /// What it is.
    pub role: LineRole,
    /// The line of the other version that it belongs to.
    pub pair: LinePair,
    /// Its width in columns.
    pub width: usize,
    content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Pieces(Vec<LinePiece>),
    Source(LineSource),
    /// The same at several widths, the widest first, each with the columns that it needs.
    Forms(Vec<(usize, Vec<LinePiece>)>),
}

/// The text of a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineSource {
    text: String,
    form: SourceForm,
    /// Byte ranges of `text` to stress.
    emphasis: Vec<Range<usize>>,
    /// What is said after the text.
    tail: String,
}

/// How the text of a [`Source`] is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceForm {
    /// It is the same raw and sanitised.
    Clean,
    /// Raw; it is sanitised piece by piece.
    Raw,
    /// Sanitised, and too long for pieces of different looks.
    Long,
}

impl LineSource {
    /// Takes a raw line without its end, what of it differs, and what is to be said after it.
    #[must_use]
    pub fn new(raw: String, emphasis: Vec<Range<usize>>, tail: String) -> Self {
        let form = match sanitize::line(&raw) {
            clean if raw.len() > MAX_COLOURED => {
                let (text, form) = (clean.into_owned(), SourceForm::Long);
                return Self { text, form, emphasis: Vec::new(), tail };
            }
            Cow::Borrowed(_) => SourceForm::Clean,
            Cow::Owned(_) => SourceForm::Raw,
        };
        Self { text: raw, form, emphasis, tail }
    }
    /// The text, safe to show.
    fn clean(&self) -> Cow<'_, str> {
        match self.form {
            SourceForm::Clean | SourceForm::Long => Cow::Borrowed(&self.text),
            SourceForm::Raw => sanitize::line(&self.text),
        }
    }

    /// Cuts the line where colour or emphasis changes.
    fn pieces(&self, spans: &[Span], found: &[Range<usize>]) -> Vec<LinePiece> {
        let mut pieces = self.cut(spans, &self.bytes_of(found));
        if !self.tail.is_empty() {
            pieces.push(LinePiece::new(self.tail.clone(), Ink::Dim));
        }
        pieces
    }

    /// Byte ranges of these characters.
    fn bytes_of(&self, characters: &[Range<usize>]) -> Vec<Range<usize>> {
        let at = |nth: usize| {
            self.text.char_indices().nth(nth).map_or(self.text.len(), |(place, _)| place)
        };
        characters.iter().map(|range| at(range.start)..at(range.end)).collect()
    }

    fn cut(&self, spans: &[Span], found: &[Range<usize>]) -> Vec<LinePiece> {
        let mut pieces = Vec::new();
        let mut cuts: BTreeSet<usize> = [0, self.text.len()].into();
        cuts.extend(spans.iter().flat_map(|span| [span.range.start, span.range.end]));
        let ranges = self.emphasis.iter().chain(found);
        cuts.extend(ranges.flat_map(|range| [range.start, range.end]));
        let cuts: Vec<usize> =
            cuts.into_iter().filter(|&at| self.text.is_char_boundary(at)).collect();
        let mut column = 0;
        for two in cuts.windows(2) {
            let &[start, end] = two else { continue };
            let text = sanitize::line_from(self.text.get(start..end).unwrap_or_default(), column);
            column += text.width();
            let span = spans.iter().find(|s| s.range.start <= start && end <= s.range.end);
            let within = |r: &Range<usize>| r.start <= start && end <= r.end;
            let emphasis = match (found.iter().any(within), self.emphasis.iter().any(within)) {
                (true, _) => Emphasis::Found,
                (false, true) => Emphasis::Changed,
                (false, false) => Emphasis::None,
            };
            pieces.push(LinePiece {
                text: text.into_owned(),
                ink: span.map_or(Ink::Plain, |span| Ink::Syntax(span.kind)),
                emphasis,
            });
        }
        pieces
    }
}

impl BodyLine {
    /// A line that was put together here.
    #[must_use]
    pub fn of_pieces(role: LineRole, pieces: Vec<LinePiece>) -> Self {
        let width = pieces.iter().map(|piece| piece.text.width()).sum();
        Self { role, pair: LinePair::None, width, content: Content::Pieces(pieces) }
    }

    /// A line that takes the first of these forms for which there is room, each given with the
    /// columns that it needs.
    #[must_use]
    pub fn of_forms(role: LineRole, forms: Vec<(usize, Vec<LinePiece>)>) -> Self {
        let width = forms.first().map_or(0, |(width, _)| *width);
        Self { role, pair: LinePair::None, width, content: Content::Forms(forms) }
    }

    /// A line of a file.
    #[must_use]
    pub fn of_source(role: LineRole, pair: LinePair, source: LineSource) -> Self {
        let width = columns(&source.clean()) + source.tail.width();
        Self { role, pair, width, content: Content::Source(source) }
    }

    /// Whether a person must have had it on screen before approving.
    #[must_use]
    pub const fn must_be_seen(&self) -> bool {
        match self.role {
            LineRole::Diff(LineKind::Added | LineKind::Removed, ..) | LineRole::Fact => true,
            LineRole::Diff(LineKind::Context, ..) | LineRole::Note => false,
        }
    }

    /// What happens to it, if it is a line that changes.
    #[must_use]
    pub const fn change(&self) -> Option<LineKind> {
        match self.role {
            LineRole::Diff(kind @ (LineKind::Added | LineKind::Removed), ..) => Some(kind),
            LineRole::Diff(LineKind::Context, ..) | LineRole::Fact | LineRole::Note => None,
        }
    }

    /// Its text as it is in the file; empty for what was put together here.
    #[must_use]
    pub fn source(&self) -> &str {
        match &self.content {
            Content::Source(source) => &source.text,
            Content::Pieces(_) | Content::Forms(_) => "",
        }
    }

    /// All its pieces, without colours.
    #[cfg(test)]
    pub fn pieces(&self) -> Vec<LinePiece> {
        self.part(&LinePart::at(0..self.width), &[], &[])
    }

    /// The pieces in these columns, with these colours of the source, and these characters of the
    /// line as found by a check.
    #[must_use]
    pub fn part(
        &self,
        part: &LinePart,
        colours: &[Span],
        found: &[Range<usize>],
    ) -> Vec<LinePiece> {
        let pieces = match &self.content {
            Content::Source(source) if source.form == SourceForm::Long => {
                return long_part(source, part);
            }
            Content::Source(source) => source.pieces(colours, found),
            Content::Pieces(pieces) => pieces.clone(),
            Content::Forms(forms) => {
                let form = forms.get(part.start).or_else(|| forms.first());
                form.map(|(_, pieces)| pieces.clone()).unwrap_or_default()
            }
        };
        if part.columns == (0..self.width) { pieces } else { slice(pieces, &part.columns) }
    }

    /// Columns that must have been drawn so that all of it was on screen, in the form that `part`
    /// is of.
    #[must_use]
    pub fn needed(&self, part: &LinePart) -> usize {
        match &self.content {
            Content::Forms(forms) => forms.get(part.start).map_or(self.width, |(_, pieces)| {
                pieces.iter().map(|piece| columns(&piece.text)).sum()
            }),
            Content::Source(_) | Content::Pieces(_) => self.width,
        }
    }

    /// Cuts it into parts of at most `width` columns, as code is cut: within a name only where the
    /// name alone is wider.
    #[must_use]
    pub fn wrap(&self, width: usize) -> Vec<LinePart> {
        let text: String = match &self.content {
            Content::Forms(forms) => return fitting(forms, width),
            Content::Pieces(pieces) => pieces.iter().map(|piece| piece.text.as_str()).collect(),
            Content::Source(source) => format!("{}{}", source.clean(), source.tail),
        };
        wrap(&text, width)
    }
}

/// A part of a line that is drawn in one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinePart {
    pub columns: Range<usize>,
    /// Bytes of the sanitised line where it begins; only a hint for long lines. Which form it is of
    /// a line that has several.
    start: usize,
}

impl LinePart {
    /// The columns from `columns.start` on, wherever they are in the text.
    #[must_use]
    pub const fn at(columns: Range<usize>) -> Self {
        Self { columns, start: usize::MAX }
    }
}

/// The first form for which there is room, or the last one in parts.
fn fitting(forms: &[(usize, Vec<LinePiece>)], width: usize) -> Vec<LinePart> {
    let fits = forms.iter().position(|(needs, _)| *needs <= width);
    let start = fits.unwrap_or(forms.len().saturating_sub(1));
    let Some((needs, pieces)) = forms.get(start) else { return Vec::new() };
    match fits {
        Some(_) => vec![LinePart { columns: 0..*needs, start }],
        None => {
            let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
            wrap(&text, width).into_iter().map(|part| LinePart { start, ..part }).collect()
        }
    }
}

/// Columns that a sanitised text takes.
fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

fn wrap(text: &str, width: usize) -> Vec<LinePart> {
    let (mut start, mut column) = (0, 0);
    let part = |text: &str| {
        let wide = |grapheme: &str| if grapheme.len() == 1 { 1 } else { grapheme.width() };
        let len: usize = text.graphemes(true).map(wide).sum();
        let part = LinePart { columns: column..column + len, start };
        (start, column) = (start + text.len(), column + len);
        part
    };
    code_parts(text, width).into_iter().map(part).collect()
}

/// The part of a long line.
fn long_part(source: &LineSource, part: &LinePart) -> Vec<LinePiece> {
    let end = part.columns.end;
    let (start, mut column) = if part.start <= source.text.len() {
        (part.start, part.columns.start)
    } else if source.text.is_ascii() {
        let start = part.columns.start.min(source.text.len());
        (start, start)
    } else {
        (0, 0)
    };
    let mut text = String::new();
    let rest = source.text.get(start..).unwrap_or_default();
    for grapheme in rest.graphemes(true).chain(source.tail.graphemes(true)) {
        let columns = grapheme.width();
        if column >= end {
            break;
        }
        if column >= part.columns.start && column + columns <= end {
            text.push_str(grapheme);
        }
        column += columns;
    }
    vec![LinePiece::new(text, Ink::Plain)]
}

/// Those parts of pieces that lie within `columns`.
fn slice(pieces: Vec<LinePiece>, columns: &Range<usize>) -> Vec<LinePiece> {
    let mut column = 0;
    let mut kept = Vec::new();
    for piece in pieces {
        let mut text = String::new();
        for grapheme in piece.text.graphemes(true) {
            let width = grapheme.width();
            if column >= columns.start && column + width <= columns.end {
                text.push_str(grapheme);
            } else if column < columns.end && column + width > columns.start {
                // A wide letter that is cut by the edge leaves a blank.
                text.push(' ');
            }
            column += width;
        }
        if !text.is_empty() {
            kept.push(LinePiece { text, ..piece });
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(text: &str) -> BodyLine {
        let source = LineSource::new(text.to_owned(), Vec::new(), String::new());
        BodyLine::of_source(LineRole::Diff(LineKind::Added, None, Some(1)), LinePair::None, source)
    }

    fn text(pieces: &[LinePiece]) -> String {
        pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn a_long_line_costs_only_what_is_in_sight() {
        let line = line(&"漢字 ab".repeat(20_000));
        assert_eq!(line.width, 7 * 20_000);
        let parts = line.wrap(70);
        let last: String =
            parts[parts.len() - 2..].iter().map(|part| text(&line.part(part, &[], &[]))).collect();
        assert!(last.ends_with("ab漢字 ab"), "{last}");
        assert_eq!(text(&line.part(&LinePart::at(7..14), &[], &[])), "漢字 ab");
    }

    #[test]
    fn what_a_check_found_is_marked_by_characters() {
        let line = line("\tä = \"x\u{202e}y\"; // é");
        let one = |range: Range<usize>| std::iter::once(range).collect::<Vec<_>>();
        let found = |found: &[Range<usize>]| {
            let pieces = line.part(&LinePart::at(0..line.width), &[], found);
            let marked = pieces.into_iter().filter(|piece| piece.emphasis == Emphasis::Found);
            marked.map(|piece| piece.text).collect::<Vec<_>>()
        };
        assert_eq!(found(&one(1..2)), ["ä"]);
        assert_eq!(found(&one(7..8)), ["\\u{202e}"]);
        assert_eq!(found(&[0..1, 90..99]), ["    "]);
    }

    #[test]
    fn a_wide_letter_at_the_edge_leaves_a_blank() {
        assert_eq!(text(&line("a漢b").part(&LinePart::at(0..2), &[], &[])), "a ");
        assert_eq!(text(&line("a漢b").part(&LinePart::at(2..4), &[], &[])), " b");
    }

    proptest! {
        #[test]
        fn parts_put_together_are_the_line(
            raw in "[a-c \t漢é\u{1b}]{0,60}",
            width in 2_usize..12,
            times in 1_usize..3,
        ) {
            let line = line(&raw.repeat(times));
            let parts = line.wrap(width);
            prop_assert!(parts.iter().all(|part| part.columns.len() <= width));
            prop_assert!(parts.windows(2).all(|two| two[0].columns.end == two[1].columns.start));
            prop_assert_eq!(parts.last().unwrap().columns.end, line.width);
            let rows: Vec<String> = parts.iter().map(|part| text(&line.part(part, &[], &[]))).collect();
            prop_assert_eq!(rows.concat(), text(&line.pieces()));
        }
    }
}
