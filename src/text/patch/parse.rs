//! From the text of a diff to its hunks.

use std::sync::LazyLock;

use regex::Regex;

use super::PatchError;
use crate::text::sanitize;

/// What a line of a hunk does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Keep,
    Remove,
    Add,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The header as written.
    pub header: String,
    /// First line in the old and in the new text, from 1, 0 for an empty text; `None` when the
    /// header has no numbers.
    pub starts: Option<(usize, usize)>,
    /// The lines with their ends; a last line without end has none.
    pub lines: Vec<(Op, String)>,
    /// Whether the counts in the header are not those of the lines.
    pub is_recounted: bool,
}

/// A diff of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// The old file as the header names it; `None` without one.
    pub old: Option<String>,
    /// The new file as the header names it; `None` without one.
    pub new: Option<String>,
    /// At least one.
    pub hunks: Vec<Hunk>,
}

impl Patch {
    /// Whether the diff makes a file.
    #[must_use]
    pub fn creates(&self) -> bool {
        self.old.as_deref() == Some("/dev/null")
    }

    /// Whether the diff removes the file.
    #[must_use]
    pub fn deletes(&self) -> bool {
        self.new.as_deref() == Some("/dev/null")
    }
}

/// Reads a diff; words before the first header are skipped.
///
/// # Errors
/// No hunk, several files, or lines in a hunk that belong to no diff.
pub fn parse(diff: &str) -> Result<Patch, PatchError> {
    let lines: Vec<&str> = diff.split_inclusive('\n').collect();
    let mut patch = Patch::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if is_file_header(&lines, at) {
            if patch.old.is_some() {
                return Err(PatchError::SeveralFiles);
            }
            patch.old = Some(name(line));
            patch.new = lines.get(at + 1).map(|line| name(line));
            at += 2;
        } else if let Some((starts, counts)) = hunk_header(line) {
            at = hunk(&lines, at, starts, counts, &mut patch)?;
        } else {
            at += 1;
        }
    }
    if patch.hunks.is_empty() { Err(PatchError::Empty) } else { Ok(patch) }
}

fn is_file_header(lines: &[&str], at: usize) -> bool {
    let starts = |index: usize, with: &str| lines.get(index).is_some_and(|l| l.starts_with(with));
    starts(at, "--- ") && starts(at + 1, "+++ ")
}

/// The name after `--- `, without a time behind a tab.
fn name(line: &str) -> String {
    let name = line.get(4..).unwrap_or_default().trim_end();
    name.split('\t').next().unwrap_or_default().trim_matches('"').to_owned()
}

/// First lines, and counts of lines, in the old and the new text.
type HunkNumbers = (Option<(usize, usize)>, Option<(usize, usize)>);

fn hunk_header(line: &str) -> Option<HunkNumbers> {
    static HEADER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@").ok()
    });
    if !line.starts_with("@@") {
        return None;
    }
    let Some(found) = HEADER.as_ref().and_then(|header| header.captures(line)) else {
        return Some((None, None));
    };
    let number = |index: usize| found.get(index).and_then(|n| n.as_str().parse::<usize>().ok());
    let starts = number(1).zip(number(3));
    Some((starts, Some((number(2).unwrap_or(1), number(4).unwrap_or(1)))))
}

/// Reads one hunk; returns the index of the line after it.
fn hunk(
    lines: &[&str],
    header: usize,
    starts: Option<(usize, usize)>,
    counts: Option<(usize, usize)>,
    patch: &mut Patch,
) -> Result<usize, PatchError> {
    let counted = counts.and_then(|counts| by_count(lines, header + 1, counts));
    let is_recounted = counted.is_none();
    let end = match counted {
        Some(end) => end,
        None => to_the_end(lines, header + 1)?,
    };
    // In a diff whose own lines end with CR LF a carriage return belongs to the end of each line;
    // in others the line of the file has it.
    let is_crlf = lines.get(header).is_some_and(|line| line.ends_with("\r\n"));
    let mut body: Vec<(Op, String)> = Vec::new();
    for line in lines.get(header + 1..end).unwrap_or_default() {
        match op(line) {
            Some((op, text)) => body.push((op, text.to_owned())),
            // `\ No newline at end of file`.
            None => {
                if let Some((_, text)) = body.last_mut() {
                    let without = text.strip_suffix('\n').unwrap_or(text);
                    let bare = without.strip_suffix('\r').filter(|_| is_crlf);
                    text.truncate(bare.unwrap_or(without).len());
                }
            }
        }
    }
    let header = sanitize::line(lines.get(header).map_or("", |line| line.trim_end())).to_string();
    patch.hunks.push(Hunk { header, starts, lines: body, is_recounted });
    Ok(end)
}

/// What a line of a hunk does, and its text with its end; `None` for a remark.
fn op(line: &str) -> Option<(Op, &str)> {
    match line.chars().next()? {
        ' ' => Some((Op::Keep, line.get(1..)?)),
        '-' => Some((Op::Remove, line.get(1..)?)),
        '+' => Some((Op::Add, line.get(1..)?)),
        // An editor has taken the blank away.
        '\n' | '\r' => Some((Op::Keep, line)),
        _ => None,
    }
}

/// The end of a hunk that has as many lines as its header says; `None` when it has not.
fn by_count(lines: &[&str], start: usize, counts: (usize, usize)) -> Option<usize> {
    let (mut old, mut new) = counts;
    let mut at = start;
    while old > 0 || new > 0 {
        let line = lines.get(at)?;
        match op(line) {
            Some((Op::Keep, _)) => (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?),
            Some((Op::Remove, _)) => old = old.checked_sub(1)?,
            Some((Op::Add, _)) => new = new.checked_sub(1)?,
            None if line.starts_with('\\') => {}
            None => return None,
        }
        at += 1;
    }
    if lines.get(at).is_some_and(|line| line.starts_with('\\')) {
        at += 1;
    }
    // The signature of a mailed patch is no line of the hunk, nor is a blank line.
    let goes_on = lines.get(at).is_some_and(|line| {
        let is_over = line.starts_with("-- ") || line.trim() == "--" || is_file_header(lines, at);
        line.starts_with(['+', '-', ' ']) && !is_over && !line.trim().is_empty()
    });
    (!goes_on).then_some(at)
}

/// The end of a hunk whose header does not count right: where the next hunk or the text ends.
fn to_the_end(lines: &[&str], start: usize) -> Result<usize, PatchError> {
    let mut at = start;
    while let Some(line) = lines.get(at) {
        let is_next = line.starts_with("@@")
            || line.starts_with("diff --git ")
            || line.starts_with("-- ")
            || is_file_header(lines, at);
        if is_next {
            break;
        }
        if op(line).is_none() && !line.starts_with('\\') {
            // The fence of Markdown around the diff.
            if line.starts_with("```") {
                break;
            }
            return Err(PatchError::Line(at + 1, sanitize::line(line.trim_end()).to_string()));
        }
        at += 1;
    }
    // Blank lines behind the last line belong to what surrounds the diff.
    while at > start
        && lines.get(at - 1).is_some_and(|line| line.trim_end_matches(['\n', '\r']).is_empty())
    {
        at -= 1;
    }
    Ok(at)
}
