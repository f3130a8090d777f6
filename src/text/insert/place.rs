//! Where an insertion goes: the place a context names, and the block an include belongs to.

use std::fmt;

use crate::text::includes::{self, IncludeName};
use crate::text::lines::{TextLine, lines};

/// How exactly a context was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// Every line as given.
    Exact,
    /// With other white space, or with blank lines more or less.
    Whitespace,
}

/// How many candidates are named.
const MOST_CANDIDATES: usize = 5;

/// A place that could be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The insertion would stand after this line, from 1.
    pub after_line: usize,
    /// How many lines of the context agree.
    pub agree: usize,
    /// The lowest line that does not agree: its number, what the file has, what the context has.
    pub differs: Option<(usize, String, String)>,
}

/// Why a place is not certain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceError {
    /// The context has no line with text.
    Empty,
    /// It is at several places.
    Ambiguous {
        /// How many there are.
        count: usize,
        /// The first of them.
        candidates: Vec<Candidate>,
    },
    /// It is nowhere.
    Absent {
        /// How many lines with text the context has.
        lines: usize,
        /// What comes closest, best first.
        candidates: Vec<Candidate>,
    },
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the context is empty"),
            Self::Ambiguous { count, candidates } => {
                write!(f, "the context is at {count} places:")?;
                for (index, candidate) in candidates.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma} after line {}", candidate.after_line)?;
                }
                if *count > candidates.len() { f.write_str(", …") } else { Ok(()) }
            }
            Self::Absent { lines, candidates } => {
                f.write_str("the context is not in the file")?;
                for candidate in candidates {
                    let Candidate { after_line, agree, differs } = candidate;
                    write!(f, "; after line {after_line} {agree} of {lines} lines agree")?;
                    if let Some((line, has, wants)) = differs {
                        write!(f, " (line {line} is `{has}`, the context has `{wants}`)")?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Finds the one place a context names: the number of the line before it.
///
/// # Errors
/// The context is empty, ambiguous or absent.
pub(super) fn find(lines: &[TextLine<'_>], context: &str) -> Result<(usize, Match), PlaceError> {
    let wanted: Vec<&str> = context.lines().collect();
    if wanted.iter().all(|line| line.trim().is_empty()) {
        return Err(PlaceError::Empty);
    }
    let exact: Vec<usize> = lines
        .windows(wanted.len())
        .enumerate()
        .filter(|(_, window)| window.iter().zip(&wanted).all(|(line, want)| line.text == *want))
        .map(|(start, _)| start + wanted.len())
        .collect();
    if !exact.is_empty() {
        return only(exact).map(|after| (after, Match::Exact));
    }
    let wanted = squeezed(&wanted);
    let there = numbered(lines);
    let loose: Vec<usize> = there
        .windows(wanted.len())
        .filter(|window| window.iter().zip(&wanted).all(|((_, line), (want, _))| line == want))
        .filter_map(|window| window.last().map(|(number, _)| *number))
        .collect();
    if !loose.is_empty() {
        return only(loose).map(|after| (after, Match::Whitespace));
    }
    let candidates = nearest(lines, &there, &wanted);
    Err(PlaceError::Absent { lines: wanted.len(), candidates })
}

fn only(places: Vec<usize>) -> Result<usize, PlaceError> {
    if let [place] = places.as_slice() {
        return Ok(*place);
    }
    let candidate = |&after_line: &usize| Candidate { after_line, agree: 0, differs: None };
    let candidates = places.iter().take(MOST_CANDIDATES).map(candidate).collect();
    Err(PlaceError::Ambiguous { count: places.len(), candidates })
}

/// Lines without the white space in them, beside the lines themselves. Blank ones do not count.
fn squeezed<'a>(lines: &[&'a str]) -> Vec<(String, &'a str)> {
    let squeezed = lines.iter().map(|line| (squeeze(line), line.trim_end_matches(['\r', '\n'])));
    squeezed.filter(|(line, _)| !line.is_empty()).collect()
}

fn numbered(lines: &[TextLine<'_>]) -> Vec<(usize, String)> {
    let numbered = lines.iter().enumerate().map(|(index, line)| (index + 1, squeeze(line.text)));
    numbered.filter(|(_, line)| !line.is_empty()).collect()
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}

/// What comes closest to lines that are not in a text, best first.
pub(in crate::text) fn closest(lines: &[TextLine<'_>], wanted: &[&str]) -> Vec<Candidate> {
    nearest(lines, &numbered(lines), &squeezed(wanted))
}

/// The places where most lines agree, counted from the line right before the place upwards.
fn nearest(
    lines: &[TextLine<'_>],
    there: &[(usize, String)],
    wanted: &[(String, &str)],
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for last in 0..there.len() {
        let mut agree = 0;
        let mut differs = None;
        for (back, (want, shown)) in wanted.iter().rev().enumerate() {
            let Some((number, line)) = last.checked_sub(back).and_then(|at| there.get(at)) else {
                break;
            };
            if line == want {
                agree += 1;
            } else if differs.is_none() {
                let has = lines.get(number - 1).map_or("", |line| line.text);
                differs = Some((*number, quote(has), quote(shown)));
            }
        }
        if agree * 2 >= wanted.len().min(4) && agree > 0 {
            let after_line = there.get(last).map_or(0, |(number, _)| *number);
            found.push(Candidate { after_line, agree, differs });
        }
    }
    found.sort_by_key(|candidate| std::cmp::Reverse(candidate.agree));
    found.truncate(3);
    found
}

/// A line, short enough for a message.
fn quote(line: &str) -> String {
    let line = crate::text::sanitize::line(line.trim()).to_string();
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// The number of the line after which an include belongs; `None` when it is there already.
pub(super) fn include(source: &str, wanted: &IncludeName) -> Option<usize> {
    let all = includes::includes(source);
    if all.iter().any(|include| include.target == wanted.target) {
        return None;
    }
    let head = FileHead::of(source);
    let top: Vec<_> = all.iter().filter(|i| head.plain.contains(&(i.line as usize))).collect();
    let last_alike = top.iter().rev().find(|include| include.is_system == wanted.is_system);
    if let Some(include) = last_alike {
        return Some(include.line as usize);
    }
    match (top.first(), top.last()) {
        // The system's own headers come first.
        (Some(first), _) if wanted.is_system => Some((first.line as usize).saturating_sub(1)),
        (_, Some(last)) => Some(last.line as usize),
        (_, None) => Some(head.opening),
    }
}

/// What stands before the first line of code.
struct FileHead {
    /// Lines of includes that no condition guards, save the guard of the whole file.
    plain: Vec<usize>,
    /// Last line of what opens the file: comments, `#pragma once`, the guard.
    opening: usize,
}

impl FileHead {
    fn of(source: &str) -> Self {
        let mut head = Self { plain: Vec::new(), opening: 0 };
        let (mut depth, mut guard, mut in_comment) = (0_u32, None, false);
        let mut is_opening = true;
        for (index, line) in lines(source).iter().enumerate() {
            let number = index + 1;
            let was_comment = in_comment;
            in_comment = includes::ends_in_comment(line.text, in_comment);
            let text = line.text.trim();
            if was_comment || text.starts_with("//") || text.starts_with("/*") {
                if is_opening {
                    head.opening = number;
                }
                continue;
            }
            let directive: String =
                text.split_whitespace().collect::<Vec<_>>().join(" ").replacen("# ", "#", 1);
            if text.is_empty() {
                continue;
            }
            if !directive.starts_with('#') {
                if depth == 0 {
                    break;
                }
                is_opening = false;
            } else if let Some(name) =
                directive.strip_prefix("#ifndef ").filter(|_| is_opening && guard.is_none())
            {
                guard = Some(name.to_owned());
                continue;
            } else if directive.starts_with("#pragma once")
                || guard.as_ref().is_some_and(|name| {
                    directive.strip_prefix("#define ").is_some_and(|d| d.starts_with(name.as_str()))
                })
            {
                head.opening = number;
            } else if directive.starts_with("#if") {
                depth += 1;
                is_opening = false;
            } else if directive.starts_with("#endif") {
                depth = depth.saturating_sub(1);
            } else if directive.starts_with("#include") && depth == 0 {
                head.plain.push(number);
                is_opening = false;
            } else {
                is_opening = false;
            }
        }
        head
    }
}
