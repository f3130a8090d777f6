//! What changed between two versions of a file, as plain data.
//!
//! Owns the comparison of lines, the pairing of changed lines, and the unified form. Lines are
//! compared as bytes, so that no change hides behind the way it is shown; their texts are raw and
//! must be sanitised before they reach a screen.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, group_diff_ops};

use super::align::{align, byte_lines};
use super::diff_line::LinePair;
pub use super::diff_line::{DiffLine, Hunk, LineEnd, LineKind};
use super::line_pairs;
use super::sanitize;

/// What to compare how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Unchanged lines to keep around each change.
    pub context: usize,
    /// After this time the rest is found in a coarser way: still right, but with longer changes.
    pub budget: Duration,
    /// How much is kept of what was found.
    pub limits: DiffLimits,
}

/// Most that is kept of a comparison; what is beyond is only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLimits {
    /// Lines in all.
    pub lines: usize,
    /// Bytes of one line; more of it is cut off.
    pub line: usize,
    /// Bytes in all.
    pub bytes: usize,
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self { lines: 200_000, line: 256 * 1024, bytes: 16 * 1024 * 1024 }
    }
}

impl Default for Options {
    fn default() -> Self {
        // Tests are about what is found, and may run on a busy machine.
        let budget = Duration::from_millis(if cfg!(test) { 60_000 } else { 500 });
        Self { context: 3, budget, limits: DiffLimits::default() }
    }
}

/// How the bytes of a version read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As UTF-8 text.
    Utf8,
    /// Not as UTF-8; the bytes that are not show as `\x` escapes.
    Other,
}

/// All changes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// In order of lines; empty when nothing changed.
    pub hunks: Vec<Hunk>,
    /// How many lines only the new version has.
    pub added: usize,
    /// How many lines only the old version has.
    pub removed: usize,
    /// How the worse of the two versions reads.
    pub encoding: Encoding,
    /// Changed lines that are in no hunk because there are too many.
    pub left_out: usize,
}

impl FileDiff {
    /// The unified form, as `patch` takes it; empty when nothing changed. Exact for UTF-8 texts;
    /// other bytes stand as `\x` escapes.
    #[must_use]
    pub fn unified(&self, old_label: &str, new_label: &str) -> String {
        if self.hunks.is_empty() {
            return String::new();
        }
        let mut out = format!("--- {old_label}\n+++ {new_label}\n");
        for hunk in &self.hunks {
            out.push_str(&hunk.header());
            out.push('\n');
            for line in &hunk.lines {
                out.push(match line.kind {
                    LineKind::Context => ' ',
                    LineKind::Removed => '-',
                    LineKind::Added => '+',
                });
                out.push_str(&line.text);
                out.push_str(match line.end {
                    LineEnd::Lf => "\n",
                    LineEnd::CrLf => "\r\n",
                    LineEnd::Missing => "\n\\ No newline at end of file\n",
                });
            }
        }
        out
    }

    /// All lines of all hunks in order.
    pub fn lines(&self) -> impl Iterator<Item = &DiffLine> {
        self.hunks.iter().flat_map(|hunk| &hunk.lines)
    }
}

/// Compares two versions of a file.
#[must_use]
pub fn diff(old: &[u8], new: &[u8], options: Options) -> FileDiff {
    let (old_lines, new_lines) = (byte_lines(old), byte_lines(new));
    let deadline = Instant::now().checked_add(options.budget);
    let ops = align(Algorithm::Patience, &old_lines, &new_lines, deadline);
    let changed = |op: &&DiffOp| !matches!(op, DiffOp::Equal { .. });
    let added = ops.iter().filter(changed).map(|op| op.new_range().len()).sum();
    let removed = ops.iter().filter(changed).map(|op| op.old_range().len()).sum();
    let is_text = std::str::from_utf8(old).is_ok() && std::str::from_utf8(new).is_ok();
    let mut builder =
        Builder { old: &old_lines, new: &new_lines, limits: options.limits, left_out: 0 };
    let groups = group_diff_ops(ops, options.context.min(1 << 24));
    let mut hunks: Vec<Hunk> = groups
        .iter()
        .filter(|ops| ops.iter().any(|op| !matches!(op, DiffOp::Equal { .. })))
        .map(|ops| builder.hunk(ops))
        .collect();
    let left_out = builder.left_out;
    hunks.retain(|hunk| !hunk.lines.is_empty());
    line_pairs::find(&mut hunks, deadline);
    FileDiff {
        added,
        removed,
        encoding: if is_text { Encoding::Utf8 } else { Encoding::Other },
        left_out,
        hunks,
    }
}

/// Which lines two versions of a file have for themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedLines {
    /// Parts of the old version, as indices of lines from 0.
    pub removed: Vec<Range<usize>>,
    /// Parts of the new version, likewise.
    pub added: Vec<Range<usize>>,
}

/// The lines that [`diff`] tells as changed, without their texts and pairs: much cheaper.
#[must_use]
pub fn changed_lines(old: &[u8], new: &[u8], budget: Duration) -> ChangedLines {
    let deadline = Instant::now().checked_add(budget);
    let ops = align(Algorithm::Patience, &byte_lines(old), &byte_lines(new), deadline);
    let changed = || ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    ChangedLines {
        removed: changed().map(DiffOp::old_range).filter(|range| !range.is_empty()).collect(),
        added: changed().map(DiffOp::new_range).filter(|range| !range.is_empty()).collect(),
    }
}

struct Builder<'a> {
    old: &'a [&'a [u8]],
    new: &'a [&'a [u8]],
    /// What is left of them.
    limits: DiffLimits,
    left_out: usize,
}

impl Builder<'_> {
    fn hunk(&mut self, ops: &[DiffOp]) -> Hunk {
        let mut lines = Vec::new();
        for op in ops {
            let (old, new) = (op.old_range(), op.new_range());
            if matches!(op, DiffOp::Equal { .. }) {
                for (old, new) in old.zip(new) {
                    self.push(&mut lines, Some(old), Some(new));
                }
                continue;
            }
            for old in old {
                self.push(&mut lines, Some(old), None);
            }
            for new in new {
                self.push(&mut lines, None, Some(new));
            }
        }
        let span = |range: fn(&DiffOp) -> Range<usize>| {
            let start = ops.first().map_or(0, |op| range(op).start);
            let end = ops.last().map_or(0, |op| range(op).end);
            (if end > start { start + 1 } else { start }, end - start)
        };
        let (old_start, old_len) = span(DiffOp::old_range);
        let (new_start, new_len) = span(DiffOp::new_range);
        Hunk { old_start, old_len, new_start, new_len, lines }
    }

    fn push(&mut self, lines: &mut Vec<DiffLine>, old: Option<usize>, new: Option<usize>) {
        let (kind, bytes) = match (old, new) {
            (Some(at), None) => (LineKind::Removed, self.old.get(at)),
            (None, Some(at)) => (LineKind::Added, self.new.get(at)),
            (at, _) => (LineKind::Context, at.and_then(|at| self.old.get(at))),
        };
        let (text, end) = without_end(bytes.copied().unwrap_or_default());
        let size = boundary(text, self.limits.line);
        if self.limits.lines == 0 || size > self.limits.bytes {
            // Once something was left out all that follows is, so that no gap looks like none.
            self.limits.lines = 0;
            self.left_out += usize::from(kind != LineKind::Context);
            return;
        }
        self.limits.lines -= 1;
        self.limits.bytes -= size;
        lines.push(DiffLine {
            kind,
            old_no: old.map(|at| at + 1),
            new_no: new.map(|at| at + 1),
            text: sanitize::decode(text.get(..size).unwrap_or(text)).into_owned(),
            end,
            emphasis: Vec::new(),
            pair: LinePair::None,
            cut: text.len() - size,
        });
    }
}

/// The longest start of `text` of at most `most` bytes that does not end within a letter.
fn boundary(text: &[u8], most: usize) -> usize {
    let mut end = text.len().min(most);
    while end > 0 && text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    end
}

fn without_end(line: &[u8]) -> (&[u8], LineEnd) {
    if let Some(text) = line.strip_suffix(b"\r\n") {
        (text, LineEnd::CrLf)
    } else if let Some(text) = line.strip_suffix(b"\n") {
        (text, LineEnd::Lf)
    } else {
        (line, LineEnd::Missing)
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
