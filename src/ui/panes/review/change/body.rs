//! What a proposal would do, as lines ready to be laid out and drawn.
//!
//! Owns reading the contents and comparing them, off the thread that draws when they are long; all
//! text leaves here sanitised. A body holds the whole file where it can, so that what is folded away
//! can be unfolded without reading again. Must not know the terminal's size or a theme.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::model::{BlobRef, BlobSource, Change, Facts, Reference, ReferenceKind, Side, UserError};
use crate::text::colouring::Colouring;
use crate::text::diff::{self, DiffLine, Encoding, FileDiff, LineEnd, LineKind, Options};
use crate::text::sanitize;
use crate::text::syntax;
use crate::text::syntax_versions::{self, Changed, Versions};
use crate::ui::job::{BackgroundJob, JobState};
use crate::ui::line;

use super::facts;
use super::line::{BodyLine, Ink, LinePiece, LineRole, LineSource};

/// Contents up to this size are compared at once, in bytes.
const SMALL: u64 = 64 * 1024;
/// Contents up to this size are coloured at once too.
const TINY: u64 = 8 * 1024;

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

    /// The number of a line, in the version that it is of.
    #[must_use]
    pub fn number_of(&self, place: usize) -> Option<(Side, u32)> {
        let number = |no: usize| u32::try_from(no).unwrap_or(u32::MAX);
        match self.lines.get(place)?.role {
            LineRole::Diff(LineKind::Removed, Some(old), _) => Some((Side::Old, number(old))),
            LineRole::Diff(_, _, Some(new)) => Some((Side::New, number(new))),
            LineRole::Diff(..) | LineRole::Fact | LineRole::Note => None,
        }
    }

    /// The changed lines, by their places.
    pub fn changed(&self) -> impl Iterator<Item = usize> {
        let lines = self.lines.iter().enumerate();
        lines.filter(|(_, line)| line.change().is_some()).map(|(place, _)| place)
    }
}

/// What is left to do for the colours of a body.
#[derive(Debug, Clone)]
struct ColourJob {
    colouring: Colouring,
    old: Arc<[u8]>,
    new: Arc<[u8]>,
    /// `None`: all of both.
    changes: Option<Vec<Changed>>,
}

impl ColourJob {
    /// Colours both versions; takes its time.
    fn run(self) -> Versions {
        let (old, new) = (sanitize::decode(&self.old), sanitize::decode(&self.new));
        let all = || {
            let lines = |text: &str| 0..text.split_inclusive('\n').count();
            vec![Changed { old: lines(&old), new: lines(&new) }]
        };
        let changes = self.changes.unwrap_or_else(all);
        self.colouring.highlight_versions(&old, &new, &changes)
    }
}

/// A body, and what is left to do for its colours.
type Content = (ReviewBody, Option<ColourJob>);

/// The content of one proposal, as far as it was read: first the comparison, then its colours.
#[derive(Debug, Default)]
pub struct Load {
    /// `None`: it is being read.
    body: Option<Result<Rc<ReviewBody>, UserError>>,
    /// The coloured pieces of both versions, by line.
    colours: Option<Versions>,
    reading: Option<BackgroundJob<Result<Content, UserError>>>,
    colouring: Option<BackgroundJob<Versions>>,
}

impl Load {
    /// Begins to read what `change` is about; what is small is there at once.
    #[must_use]
    pub fn begin(change: &Change, facts: &Facts, blobs: &Arc<dyn BlobSource>) -> Self {
        let blob = |blob: Option<BlobRef>| blob.map_or(0, |blob| blob.bytes);
        let size = blob(change.before()) + blob(change.after());
        let mut load = Self::default();
        if size > SMALL {
            let (change, facts) = (change.clone(), facts.clone());
            let blobs = Arc::clone(blobs);
            let read = move || read(&change, &facts, blobs.as_ref());
            load.reading = Some(BackgroundJob::start(read));
        } else {
            load.take(read(change, facts, blobs.as_ref()), size);
        }
        load
    }

    fn take(&mut self, content: Result<Content, UserError>, size: u64) {
        self.body = Some(content.map(|(body, job)| {
            match job {
                Some(job) if size <= TINY && !job.colouring.is_slow() => {
                    self.colours = Some(job.run())
                }
                Some(job) => self.colouring = Some(BackgroundJob::start(|| job.run())),
                None => {}
            }
            Rc::new(body)
        }));
    }

    /// Takes over what was done off the thread.
    pub fn poll(&mut self) {
        match self.reading.as_ref().map(BackgroundJob::look) {
            Some(JobState::Running) | None => {}
            Some(JobState::Done(content)) => {
                self.reading = None;
                self.take(content, u64::MAX);
            }
            Some(JobState::Lost) => {
                self.reading = None;
                self.body = Some(Err(UserError::new(
                    "Cannot show the change",
                    "comparing the two versions failed",
                    "Reject it, or look at the file itself.",
                )));
            }
        }
        match self.colouring.as_ref().map(BackgroundJob::look) {
            Some(JobState::Running) | None => {}
            Some(JobState::Done(colours)) => (self.colours, self.colouring) = (Some(colours), None),
            Some(JobState::Lost) => self.colouring = None,
        }
    }

    /// Whether a thread is at work on it.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        self.reading.is_some() || self.colouring.is_some()
    }

    /// Whether there is nothing to show yet.
    #[must_use]
    pub const fn is_reading(&self) -> bool {
        self.body.is_none()
    }

    /// Why it cannot be shown.
    #[must_use]
    pub fn error(&self) -> Option<&UserError> {
        self.body.as_ref()?.as_ref().err()
    }

    /// What it would do, once it is read.
    #[must_use]
    pub fn body(&self) -> Option<&Rc<ReviewBody>> {
        self.body.as_ref()?.as_ref().ok()
    }

    /// The coloured pieces of a line, once they are known.
    #[must_use]
    pub fn colours_of(&self, role: LineRole) -> &[syntax::Span] {
        let Some(colours) = &self.colours else { return &[] };
        let spans = match role {
            LineRole::Diff(LineKind::Removed, Some(no), _) => colours.old.get(no - 1),
            LineRole::Diff(_, _, Some(no)) => colours.new.get(no - 1),
            LineRole::Diff(..) | LineRole::Fact | LineRole::Note => None,
        };
        spans.map_or(&[], Vec::as_slice)
    }
}

/// Reads and compares what `change` is about; colours are left to a job.
fn read(change: &Change, facts: &Facts, blobs: &dyn BlobSource) -> Result<Content, UserError> {
    let read = |blob: Option<BlobRef>| match blob {
        Some(blob) => blobs.blob(&blob.hash).map(Some),
        None => Ok(None),
    };
    if let Some(lines) = facts::lines(change, facts) {
        return Ok((ReviewBody { lines, digits: 1, ..ReviewBody::default() }, None));
    }
    let (old, new) = (read(change.before())?, read(change.after())?);
    let (mut body, changes) = of_file(old.as_deref(), new.as_deref());
    if matches!(change, Change::Insert { .. }) {
        body.surroundings = Surroundings::Dimmed;
    }
    body.prepend(references(facts));
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let colouring = change.path().and_then(Colouring::of);
    let job = colouring.map(|colouring| ColourJob { colouring, old, new, changes });
    Ok((body, job))
}

/// The body, and the changes that it shows when it shows all of them.
fn of_file(old: Option<&[u8]>, new: Option<&[u8]>) -> (ReviewBody, Option<Vec<Changed>>) {
    let (before, after) = (old.unwrap_or_default(), new.unwrap_or_default());
    let is_whole = before.len() + after.len() <= MAX_WHOLE;
    let (context, extent) =
        if is_whole { (usize::MAX, Extent::Whole) } else { (AROUND, Extent::Around) };
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
    let line = |found: &Reference| {
        let how = match found.kind {
            ReferenceKind::Include => "included by",
            ReferenceKind::Cmake => "listed in",
        };
        let place = format!("{how} {}:{}", sanitize::line(found.path.as_str()), found.line);
        let text = line::clean(&found.text);
        let place = LinePiece::new(format!("{place}  "), Ink::Warning);
        BodyLine::of_pieces(LineRole::Fact, vec![place, LinePiece::new(text, Ink::Dim)])
    };
    facts.references.iter().map(line).collect()
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
            "{size}: too long to be shown completely; {} not shown, or not to the \
             end",
            line::counted(body.left_out, "changed line is", "changed lines are")
        );
        facts.push(fact(text, Ink::Warning));
    }
    if diff.hunks.is_empty() {
        let (text, role) = match versions {
            [None, Some(_)] => ("an empty file", LineRole::Fact),
            [Some(_), None] => ("the file is empty", LineRole::Fact),
            // There is no line of it that could be missed.
            _ => ("nothing changes", LineRole::Note),
        };
        facts.push(BodyLine::of_pieces(role, vec![LinePiece::new(text.to_owned(), Ink::Dim)]));
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
    let mut ends = lines.map(|line| line.end).filter(|end| *end != LineEnd::Missing);
    let first = ends.next();
    ends.any(|end| Some(end) != first)
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
#[path = "body_tests.rs"]
mod tests;
