//! What a proposal would do, as lines ready to be wrapped and drawn.
//!
//! Owns reading the contents, comparing and colouring them; all text leaves here sanitised. Must
//! not know the terminal's size or a theme.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr;

use crate::model::{BlobRef, BlobSource, Change, FlashPlan, ProjectPath, UserError};
use crate::text::diff::{self, DiffLine, Encoding, LineEnd, LineKind, Options};
use crate::text::sanitize;
use crate::text::syntax::{self, Span, SyntaxKind};

/// The colour of a piece, by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Plain text.
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
pub struct Piece {
    /// Sanitised text.
    pub text: String,
    /// Its colour.
    pub ink: Ink,
    /// Whether it differs from the line's other version.
    pub emphasis: Emphasis,
}

impl Piece {
    fn new(text: impl Into<String>, ink: Ink) -> Self {
        Self { text: text.into(), ink, emphasis: Emphasis::None }
    }
}

/// Whether a piece differs from the line's other version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// It does not, or there is no other version.
    None,
    /// It does.
    Changed,
}

/// What a line of the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineRole {
    /// A line of the file, with its numbers in the old and the new version.
    Diff(LineKind, Option<usize>, Option<usize>),
    /// Head of a hunk.
    Hunk,
    /// A statement about the change that belongs to what is decided.
    Fact,
    /// A remark.
    Note,
}

/// One line, not wrapped yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyLine {
    /// What it is.
    pub role: LineRole,
    /// Its pieces in order.
    pub pieces: Vec<Piece>,
    /// Its width in columns.
    pub width: usize,
}

impl BodyLine {
    fn new(role: LineRole, pieces: Vec<Piece>) -> Self {
        let width = pieces.iter().map(|piece| piece.text.width()).sum();
        Self { role, pieces, width }
    }

    /// Whether a person must have had it on screen before approving.
    #[must_use]
    pub const fn must_be_seen(&self) -> bool {
        match self.role {
            LineRole::Diff(LineKind::Added | LineKind::Removed, ..) | LineRole::Fact => true,
            LineRole::Diff(LineKind::Context, ..) | LineRole::Hunk | LineRole::Note => false,
        }
    }
}

/// Everything that a decision is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Body {
    /// In order.
    pub lines: Vec<BodyLine>,
    /// Lines that only the new version has.
    pub added: usize,
    /// Lines that only the old version has.
    pub removed: usize,
    /// Places in `lines` where hunks begin.
    pub hunks: Vec<usize>,
    /// Digits of the highest line number.
    pub digits: usize,
}

impl Body {
    /// How many lines must be seen.
    #[must_use]
    pub fn to_see(&self) -> usize {
        self.lines.iter().filter(|line| line.must_be_seen()).count()
    }
}

/// Bytes that have to be read for `change`.
#[must_use]
pub fn size(change: &Change) -> u64 {
    change.before().map_or(0, |blob| blob.bytes) + change.after().map_or(0, |blob| blob.bytes)
}

/// Reads and compares what `change` is about.
///
/// # Errors
/// When a content cannot be read.
pub fn load(change: &Change, blobs: &dyn BlobSource) -> Result<Body, UserError> {
    let read = |blob: Option<BlobRef>| match blob {
        Some(blob) => blobs.blob(&blob.hash).map(Some),
        None => Ok(None),
    };
    let (path, context) = match change {
        Change::Flash(plan) => return Ok(of_flash(plan)),
        Change::Save { path, .. } | Change::Delete { path, .. } => (path, 3),
        // The whole file, so that the place of the insertion can be judged.
        Change::Insert { path, .. } => (path, usize::MAX),
    };
    let (old, new) = (read(change.before())?, read(change.after())?);
    Ok(of_file(path, old.as_deref(), new.as_deref(), context))
}

fn of_file(path: &ProjectPath, old: Option<&[u8]>, new: Option<&[u8]>, context: usize) -> Body {
    let (before, after) = (old.unwrap_or_default(), new.unwrap_or_default());
    let diff = diff::diff(before, after, Options { context, ..Options::default() });
    let spans = |bytes: &[u8]| {
        let language = syntax::language_of(path);
        language.map_or_else(Vec::new, |found| syntax::highlight(found, &sanitize::decode(bytes)))
    };
    let (old_spans, new_spans) = (spans(before), spans(after));
    let mut body = Body { added: diff.added, removed: diff.removed, ..Body::default() };
    if diff.encoding == Encoding::Other {
        let text = "not plain UTF-8: bytes that are no text show as \\x escapes";
        body.lines.push(BodyLine::new(LineRole::Fact, vec![Piece::new(text, Ink::Warning)]));
    }
    if diff.hunks.is_empty() {
        let text = match (old, new) {
            (None, Some(_)) => "an empty file",
            (Some(_), None) => "the file is empty",
            _ => "nothing changes",
        };
        body.lines.push(BodyLine::new(LineRole::Fact, vec![Piece::new(text, Ink::Dim)]));
    }
    let crlf_matters = has_mixed_ends(diff.lines());
    let mut highest = 0;
    for hunk in &diff.hunks {
        body.hunks.push(body.lines.len());
        // Of a file that comes or goes as a whole there is nothing to say here.
        if old.is_some() && new.is_some() {
            let head = Piece::new(hunk.header(), Ink::Dim);
            body.lines.push(BodyLine::new(LineRole::Hunk, vec![head]));
        }
        for line in &hunk.lines {
            let spans = match line.kind {
                LineKind::Removed => line.old_no.and_then(|no| old_spans.get(no - 1)),
                LineKind::Added | LineKind::Context => {
                    line.new_no.and_then(|no| new_spans.get(no - 1))
                }
            };
            highest = highest.max(line.old_no.unwrap_or(0)).max(line.new_no.unwrap_or(0));
            let mut pieces = pieces(line, spans.map_or(&[][..], Vec::as_slice));
            if line.end == LineEnd::CrLf && crlf_matters {
                pieces.push(Piece::new("␍", Ink::Dim));
            }
            let role = LineRole::Diff(line.kind, line.old_no, line.new_no);
            if line.end == LineEnd::Missing && line.kind != LineKind::Context {
                pieces.push(Piece::new(" ⊣ no line feed at the end", Ink::Dim));
            }
            body.lines.push(BodyLine::new(role, pieces));
        }
    }
    body.digits = highest.max(1).to_string().len();
    body
}

/// Whether some lines end in CRLF and others do not; where all do, saying so is noise.
fn has_mixed_ends<'a>(lines: impl Iterator<Item = &'a DiffLine>) -> bool {
    let ends: BTreeSet<bool> = lines
        .filter(|line| line.end != LineEnd::Missing)
        .map(|line| line.end == LineEnd::CrLf)
        .collect();
    ends.len() > 1
}

/// Cuts a line where colour or emphasis changes.
fn pieces(line: &DiffLine, spans: &[Span]) -> Vec<Piece> {
    let mut cuts: BTreeSet<usize> = [0, line.text.len()].into();
    cuts.extend(spans.iter().flat_map(|span| [span.range.start, span.range.end]));
    cuts.extend(line.emphasis.iter().flat_map(|range| [range.start, range.end]));
    let cuts: Vec<usize> = cuts.into_iter().filter(|&at| line.text.is_char_boundary(at)).collect();
    let mut column = 0;
    let mut pieces = Vec::new();
    for two in cuts.windows(2) {
        let &[start, end] = two else { continue };
        let text = sanitize::line_from(line.text.get(start..end).unwrap_or_default(), column);
        column += text.width();
        let span = spans.iter().find(|span| span.range.start <= start && end <= span.range.end);
        let is_changed = line.emphasis.iter().any(|r| r.start <= start && end <= r.end);
        pieces.push(Piece {
            text: text.into_owned(),
            ink: span.map_or(Ink::Plain, |span| Ink::Syntax(span.kind)),
            emphasis: if is_changed { Emphasis::Changed } else { Emphasis::None },
        });
    }
    pieces
}

fn of_flash(plan: &FlashPlan) -> Body {
    let fact = |name: &str, value: String, ink| {
        let name = Piece::new(format!("{name:<9}"), Ink::Dim);
        let value = sanitize::line(&value).into_owned();
        BodyLine::new(LineRole::Fact, vec![name, Piece::new(value, ink)])
    };
    let board = &plan.board;
    let label = if board.simulated && !board.label.contains("virtual") {
        format!("{} (simulated) · {}", board.label, board.chip)
    } else {
        format!("{} · {}", board.label, board.chip)
    };
    let mut lines = vec![
        fact("board", label, Ink::Plain),
        fact("port", board.port.clone(), Ink::Plain),
        fact("build", format!("#{}", plan.build), Ink::Plain),
    ];
    lines.push(if plan.touches_boot {
        fact("boot", "bootloader or partition table is written too".to_owned(), Ink::Warning)
    } else {
        fact("boot", "bootloader and partition table stay".to_owned(), Ink::Plain)
    });
    lines.push(BodyLine::new(LineRole::Note, Vec::new()));
    let heading = "   offset       bytes  hash      image";
    lines.push(BodyLine::new(LineRole::Note, vec![Piece::new(heading, Ink::Dim)]));
    for image in &plan.images {
        let row = format!(
            "{:>9}  {:>10}  {}  ",
            format!("0x{:x}", image.offset),
            grouped(image.bytes),
            image.hash.short()
        );
        let file = sanitize::line(&image.file).into_owned();
        let pieces = vec![Piece::new(row, Ink::Plain), Piece::new(file, Ink::Plain)];
        lines.push(BodyLine::new(LineRole::Fact, pieces));
    }
    let total = format!("{:>9}  {:>10}", "in all", grouped(plan.total_bytes()));
    lines.push(BodyLine::new(LineRole::Note, vec![Piece::new(total, Ink::Dim)]));
    Body { lines, digits: 1, ..Body::default() }
}

/// A number with `,` between groups of three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(old: Option<&str>, new: Option<&str>) -> Body {
        let path = ProjectPath::new("main/a.c").unwrap();
        of_file(&path, old.map(str::as_bytes), new.map(str::as_bytes), 3)
    }

    fn text(line: &BodyLine) -> String {
        line.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn pieces_carry_colour_and_emphasis_and_put_together_are_the_line() {
        let body = body(Some("\tint a = 1;\n"), Some("\tint b = 1;\n"));
        let added = &body.lines[2];
        assert_eq!(added.role, LineRole::Diff(LineKind::Added, None, Some(1)));
        assert_eq!((text(added).as_str(), added.width), ("    int b = 1;", 14));
        let changed: Vec<_> =
            added.pieces.iter().filter(|p| p.emphasis == Emphasis::Changed).collect();
        assert_eq!((changed.len(), changed[0].text.as_str()), (1, "b"));
        assert!(added.pieces.contains(&Piece::new("int", Ink::Syntax(SyntaxKind::Type))));
    }

    #[test]
    fn escapes_in_a_file_stay_visible_and_harmless() {
        let body = body(None, Some("a\u{1b}[2J\u{202e}\n"));
        assert_eq!(text(&body.lines[0]), "a␛[2J\\u{202e}");
        assert_eq!(body.to_see(), 1);
    }

    #[test]
    fn only_a_change_of_line_ends_shows_them() {
        let shown = body(Some("a\nb\n"), Some("a\r\nb\n"));
        assert_eq!(text(&shown.lines[2]), "a␍");
        let all = body(Some("a\r\nb\r\n"), Some("a\r\nc\r\n"));
        assert!(all.lines.iter().all(|line| !text(line).contains('␍')));
        let last = body(Some("a\n"), Some("a"));
        assert!(text(&last.lines[2]).contains("no line feed"));
    }

    #[test]
    fn even_nothing_is_said() {
        assert_eq!(text(&body(None, Some("")).lines[0]), "an empty file");
        assert_eq!(text(&body(Some(""), None).lines[0]), "the file is empty");
        assert_eq!(text(&body(Some("a\n"), Some("a\n")).lines[0]), "nothing changes");
        assert_eq!((grouped(1_234_567), grouped(12)), ("1,234,567".into(), "12".into()));
    }
}
