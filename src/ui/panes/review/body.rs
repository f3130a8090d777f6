//! What a proposal would do, as lines ready to be laid out and drawn.
//!
//! Owns reading the contents and comparing them; all text leaves here sanitised. A body holds the
//! whole file where it can, so that what is folded away can be unfolded without reading again.
//! Must not know the terminal's size or a theme.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::model::{BlobRef, BlobSource, Change, Facts, ReferenceKind, UserError};
use crate::text::colouring::Colouring;
use crate::text::diff::{self, DiffLine, Encoding, FileDiff, LineEnd, LineKind, Options};
use crate::text::sanitize;
use crate::text::syntax;
use crate::text::syntax_versions::{self, Changed, Versions};
use crate::ui::line;

use super::body_line::{BodyLine, Ink, LinePiece, LineRole, LineSource};
use super::{board, flash, nvs};

/// Versions longer than this together are shown in parts, in bytes.
const MAX_WHOLE: usize = 4 << 20;
/// Unchanged lines that are kept around a change of such a file.
const AROUND: usize = 25;
/// Changes with no more unchanged lines than this between them are one hunk.
const HUNK_GAP: usize = 6;

/// How unchanged lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Surroundings {
    #[default]
    Coloured,
    /// Standing back, so that an insertion stands out.
    Dimmed,
}

/// How much of the file is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// All of it.
    #[default]
    Whole,
    /// The changes with some lines around each, because the file is long.
    Around,
}

/// Everything that a decision is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReviewBody {
    /// From top to bottom.
    pub lines: Vec<BodyLine>,
    /// Lines that only the new version has.
    pub added: usize,
    /// Lines that only the old version has.
    pub removed: usize,
    /// Places in `lines` of changes that lie close together, from the first changed line to the
    /// last.
    pub hunks: Vec<Range<usize>>,
    /// Digits of the highest line number.
    pub digits: usize,
    /// Changed lines that cannot be shown, or not to their end.
    pub left_out: usize,
    /// How much of the file is there.
    pub extent: Extent,
    /// How unchanged lines look.
    pub surroundings: Surroundings,
}

impl ReviewBody {
    /// How many lines must be seen.
    #[must_use]
    pub fn to_see(&self) -> usize {
        self.lines.iter().filter(|line| line.must_be_seen()).count()
    }

    /// Says something before everything else.
    fn prepend(&mut self, lines: Vec<BodyLine>) {
        for hunk in &mut self.hunks {
            *hunk = hunk.start + lines.len()..hunk.end + lines.len();
        }
        self.lines.splice(0..0, lines);
    }

    /// The changed lines, by their places.
    pub fn changed(&self) -> impl Iterator<Item = usize> {
        let lines = self.lines.iter().enumerate();
        lines.filter(|(_, line)| line.change().is_some()).map(|(place, _)| place)
    }
}

/// What is left to do for the colours of a body.
#[derive(Debug, Clone)]
pub struct ColourJob {
    colouring: Colouring,
    old: Arc<[u8]>,
    new: Arc<[u8]>,
    /// `None`: all of both.
    changes: Option<Vec<Changed>>,
}

/// The coloured pieces of both versions, by line.
#[derive(Debug, Default)]
pub struct Colours(Versions);

impl ColourJob {
    /// Colours both versions; takes its time.
    #[must_use]
    pub fn run(self) -> Colours {
        let (old, new) = (sanitize::decode(&self.old), sanitize::decode(&self.new));
        let all = || {
            let lines = |text: &str| 0..text.split_inclusive('\n').count();
            vec![Changed { old: lines(&old), new: lines(&new) }]
        };
        let changes = self.changes.unwrap_or_else(all);
        Colours(self.colouring.highlight_versions(&old, &new, &changes))
    }

    /// Whether it must not be waited for.
    #[must_use]
    pub const fn is_slow(&self) -> bool {
        self.colouring.is_slow()
    }
}

impl Colours {
    /// The pieces of a line of the body.
    #[must_use]
    pub fn of(&self, role: LineRole) -> &[syntax::Span] {
        let spans = match role {
            LineRole::Diff(LineKind::Removed, Some(no), _) => self.0.old.get(no - 1),
            LineRole::Diff(_, _, Some(no)) => self.0.new.get(no - 1),
            LineRole::Diff(..) | LineRole::Fact | LineRole::Note => None,
        };
        spans.map_or(&[], Vec::as_slice)
    }
}

/// Bytes that have to be read for `change`.
#[must_use]
pub fn size(change: &Change) -> u64 {
    change.before().map_or(0, |blob| blob.bytes) + change.after().map_or(0, |blob| blob.bytes)
}

/// Reads and compares what `change` is about; colours are left to a job.
///
/// # Errors
/// When a content cannot be read.
pub fn load(
    change: &Change,
    facts: &Facts,
    blobs: &dyn BlobSource,
) -> Result<(ReviewBody, Option<ColourJob>), UserError> {
    let read = |blob: Option<BlobRef>| match blob {
        Some(blob) => blobs.blob(&blob.hash).map(Some),
        None => Ok(None),
    };
    let (path, surroundings) = match change {
        Change::Flash(plan) => return Ok((flash::body(plan, facts), None)),
        Change::Erase(plan) => return Ok((board::erasing(plan, facts.flash.as_ref()), None)),
        Change::Send(plan) => return Ok((board::sending(plan), None)),
        Change::Read(plan) => return Ok((board::reading(plan), None)),
        Change::Nvs(plan) => return Ok((nvs::editing(plan), None)),
        Change::Save { path, .. } | Change::Delete { path, .. } => (path, Surroundings::Coloured),
        // The whole file, so that the place of the insertion can be judged.
        Change::Insert { path, .. } => (path, Surroundings::Dimmed),
    };
    let (old, new) = (read(change.before())?, read(change.after())?);
    let (mut body, changes) = of_file(old.as_deref(), new.as_deref());
    body.surroundings = surroundings;
    body.prepend(references(facts));
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let job = Colouring::of(path).map(|colouring| ColourJob { colouring, old, new, changes });
    Ok((body, job))
}

/// The body, and the changes that it shows when it shows all of them.
fn of_file(old: Option<&[u8]>, new: Option<&[u8]>) -> (ReviewBody, Option<Vec<Changed>>) {
    let (before, after) = (old.unwrap_or_default(), new.unwrap_or_default());
    let (context, extent) = if before.len() + after.len() > MAX_WHOLE {
        (AROUND, Extent::Around)
    } else {
        (usize::MAX, Extent::Whole)
    };
    let diff = diff::diff(before, after, Options { context, ..Options::default() });
    let changes = syntax_versions::changes_of(&diff);
    let cut = diff.lines().filter(|l| l.cut > 0 && l.kind != LineKind::Context).count();
    let mut body = ReviewBody {
        added: diff.added,
        removed: diff.removed,
        left_out: diff.left_out + cut,
        extent,
        ..ReviewBody::default()
    };
    body.lines.extend(statements(&diff, &body, [old, new]));
    let crlf_matters = has_mixed_ends(diff.lines());
    let mut highest = 0;
    for line in diff.hunks.into_iter().flat_map(|hunk| hunk.lines) {
        highest = highest.max(line.old_no.unwrap_or(0)).max(line.new_no.unwrap_or(0));
        body.lines.push(body_line(line, crlf_matters));
    }
    body.hunks = hunks(&body);
    body.digits = highest.max(1).to_string().len();
    (body, changes)
}

/// Who still names a file that would go.
fn references(facts: &Facts) -> Vec<BodyLine> {
    let mut lines = Vec::new();
    for found in &facts.references {
        let how = match found.kind {
            ReferenceKind::Include => "included by",
            ReferenceKind::Cmake => "listed in",
        };
        let place = format!("{how} {}:{}", sanitize::line(found.path.as_str()), found.line);
        let text = sanitize::line(&found.text).into_owned();
        let pieces = vec![
            LinePiece::new(format!("{place}  "), Ink::Warning),
            LinePiece::new(text, Ink::Dim),
        ];
        lines.push(BodyLine::of_pieces(LineRole::Fact, pieces));
    }
    lines
}

/// What has to be said of a file before its lines.
fn statements(diff: &FileDiff, body: &ReviewBody, versions: [Option<&[u8]>; 2]) -> Vec<BodyLine> {
    let fact =
        |text: String, ink| BodyLine::of_pieces(LineRole::Fact, vec![LinePiece::new(text, ink)]);
    let mut facts = Vec::new();
    let newest = versions.into_iter().flatten().next_back().unwrap_or_default();
    if diff.encoding == Encoding::Other {
        let what = match newest {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16 text",
            bytes if bytes.contains(&0) => "a binary file",
            _ => "not plain UTF-8",
        };
        let text = format!("{what}: bytes that are no UTF-8 text show as \\x escapes");
        facts.push(fact(text, Ink::Warning));
    }
    if body.left_out > 0 {
        let size = line::bytes(newest.len() as u64);
        let text = format!(
            "{size}: too long to be shown completely; {} changed lines are not shown, or not to \
             their end",
            line::grouped(body.left_out as u64)
        );
        facts.push(fact(text, Ink::Warning));
    }
    if diff.hunks.is_empty() {
        let text = match versions {
            [None, Some(_)] => "an empty file",
            [Some(_), None] => "the file is empty",
            _ => "nothing changes",
        };
        facts.push(fact(text.to_owned(), Ink::Dim));
    }
    facts
}

fn body_line(line: DiffLine, crlf_matters: bool) -> BodyLine {
    let role = LineRole::Diff(line.kind, line.old_no, line.new_no);
    let mut tail = String::new();
    if line.cut > 0 {
        tail = format!(" … {} more of this line", line::bytes(line.cut as u64));
    }
    if line.end == LineEnd::CrLf && crlf_matters {
        tail.push('␍');
    }
    if line.end == LineEnd::Missing && line.kind != LineKind::Context {
        tail.push_str(" ⊣ no line feed at the end");
    }
    BodyLine::of_source(role, line.pair, LineSource::new(line.text, line.emphasis, tail))
}

/// Whether some lines end in CRLF and others do not; where all do, saying so is noise.
fn has_mixed_ends<'a>(lines: impl Iterator<Item = &'a DiffLine>) -> bool {
    let ends: BTreeSet<bool> = lines
        .filter(|line| line.end != LineEnd::Missing)
        .map(|line| line.end == LineEnd::CrLf)
        .collect();
    ends.len() > 1
}

fn hunks(body: &ReviewBody) -> Vec<Range<usize>> {
    let mut hunks: Vec<Range<usize>> = Vec::new();
    for place in body.changed() {
        match hunks.last_mut() {
            Some(last) if place - last.end <= HUNK_GAP => last.end = place + 1,
            _ => hunks.push(place..place + 1),
        }
    }
    hunks
}

#[cfg(test)]
pub(super) mod tests_support {
    use super::{ReviewBody, of_file};

    /// The body of a change from one text to another.
    pub fn body(old: Option<&str>, new: Option<&str>) -> ReviewBody {
        of_file(old.map(str::as_bytes), new.map(str::as_bytes)).0
    }
}

#[cfg(test)]
mod tests {
    use super::super::body_line::Emphasis;
    use super::tests_support::body;
    use super::*;
    use crate::text::syntax::SyntaxKind;

    fn colours(old: &str, new: &str) -> Colours {
        let bytes = |text: &str| Arc::from(text.as_bytes());
        let changes = of_file(Some(old.as_bytes()), Some(new.as_bytes())).1;
        let colouring = Colouring::named("c").unwrap();
        ColourJob { colouring, old: bytes(old), new: bytes(new), changes }.run()
    }

    fn text(line: &BodyLine) -> String {
        line.pieces(None).iter().map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn pieces_carry_colour_and_emphasis_and_put_together_are_the_line() {
        let (old, new) = ("\tint a = 1;\n", "\tint b = 1;\n");
        let body = body(Some(old), Some(new));
        let added = &body.lines[1];
        assert_eq!(added.role, LineRole::Diff(LineKind::Added, None, Some(1)));
        assert_eq!((text(added).as_str(), added.width), ("    int b = 1;", 14));
        let colours = colours(old, new);
        let pieces = added.pieces(Some(&colours));
        let changed: Vec<_> = pieces.iter().filter(|p| p.emphasis == Emphasis::Changed).collect();
        assert_eq!((changed.len(), changed[0].text.as_str()), (1, "b"));
        assert!(pieces.contains(&LinePiece::new("int", Ink::Syntax(SyntaxKind::Type))));
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
        assert_eq!(text(&shown.lines[1]), "a␍");
        let all = body(Some("a\r\nb\r\n"), Some("a\r\nc\r\n"));
        assert!(all.lines.iter().all(|line| !text(line).contains('␍')));
        let last = body(Some("a\n"), Some("a"));
        assert!(text(&last.lines[1]).contains("no line feed"));
    }

    #[test]
    fn even_nothing_is_said() {
        assert_eq!(text(&body(None, Some("")).lines[0]), "an empty file");
        assert_eq!(text(&body(Some(""), None).lines[0]), "the file is empty");
        assert_eq!(text(&body(Some("a\n"), Some("a\n")).lines[0]), "nothing changes");
    }

    #[test]
    fn what_is_no_text_is_named() {
        let of = |bytes: &[u8]| text(&of_file(None, Some(bytes)).0.lines[0]);
        assert!(of(b"\xff\xfei\0n\0t\0").starts_with("UTF-16 text"));
        assert!(of(b"\x7fELF\0\xff\n").starts_with("a binary file"));
        assert!(of(b"caf\xe9\n").starts_with("not plain UTF-8"));
    }

    #[test]
    fn what_is_too_long_says_what_is_missing_and_counts_it() {
        let wide = format!("int a;\nchar x[] = \"{}\";\n", "y".repeat(300_000));
        let body = body(None, Some(&wide));
        assert_eq!(body.left_out, 1);
        assert!(text(&body.lines[0]).contains("1 changed lines are not shown"));
        let last = text(body.lines.last().unwrap());
        assert!(last.ends_with("37.8 kB more of this line"), "{}", &last[last.len() - 60..]);
        let long = "int line_of_a_very_long_file;\n".repeat(250_000);
        let body = of_file(None, Some(long.as_bytes())).0;
        assert_eq!((body.added, body.left_out + body.lines.len() - 1), (250_000, 250_000));
        assert!(body.lines.len() <= 200_001);
    }

    #[test]
    fn a_change_at_the_end_of_a_long_file_is_shown() {
        let mut old = "int line_of_a_very_long_file;\n".repeat(100_000);
        let new = format!("{old}int more;\n");
        old.push_str("int last;\n");
        let body = body(Some(&old), Some(&new));
        assert_eq!((body.extent, body.left_out, body.hunks.len()), (Extent::Around, 0, 1));
        assert!(body.lines.len() < 60);
    }
}
