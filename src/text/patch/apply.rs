//! Finds the place of each hunk and puts its lines there.
//!
//! The first search is the one of `git apply`: near the stated line, every line as it is, and at
//! the ends of the text when the hunk has no context there.

use super::PatchError;
use super::parse::{Hunk, Op, Patch};
use crate::text::insert::{Candidate, closest};
use crate::text::lines::{Newline, lines};

/// How one hunk was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The first line of the hunk in the text it was applied to, from 1.
    pub line: usize,
    /// How many lines it was away from where its header says; `None` when that says nothing.
    pub offset: Option<isize>,
    /// Whether white space differs.
    pub is_loose: bool,
    /// Whether the counts in the header were wrong.
    pub is_recounted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patched {
    /// The whole new text.
    pub text: String,
    /// One for each hunk.
    pub hunks: Vec<Applied>,
}

/// Whether a line of the text can be a line of a hunk.
type Fits<'a> = &'a dyn Fn(&str, &str) -> bool;

/// A line of the text that is being changed.
#[derive(Debug, Clone)]
struct PatchLine {
    /// With its end.
    text: String,
    /// Whether it comes from a hunk; another hunk cannot stand on it.
    is_new: bool,
}

/// Applies all hunks of a diff.
///
/// # Errors
/// The first hunk that does not fit; then nothing is applied.
pub fn apply(source: &str, patch: &Patch) -> Result<Patched, PatchError> {
    let newline = Newline::of(source);
    let mut image: Vec<PatchLine> = source
        .split_inclusive('\n')
        .map(|line| PatchLine { text: line.to_owned(), is_new: false })
        .collect();
    let mut applied = Vec::with_capacity(patch.hunks.len());
    for (index, hunk) in patch.hunks.iter().enumerate() {
        let failed =
            |reason| PatchError::Hunk { number: index + 1, header: hunk.header.clone(), reason };
        let old = hunk.old();
        let stated = hunk.starts.map(|(_, new)| new.saturating_sub(1));
        let (at, is_loose) = place(&image, hunk, &old).map_err(failed)?;
        replace(&mut image, at, hunk, if is_loose { Some(newline) } else { None });
        applied.push(Applied {
            line: at + 1,
            offset: stated.map(|stated| at.cast_signed() - stated.cast_signed()),
            is_loose,
            is_recounted: hunk.is_recounted && hunk.starts.is_some(),
        });
    }
    Ok(Patched { text: image.into_iter().map(|line| line.text).collect(), hunks: applied })
}

impl Hunk {
    /// The lines the old text must have.
    fn old(&self) -> Vec<&str> {
        let is_old = |(op, _): &&(Op, String)| matches!(op, Op::Keep | Op::Remove);
        self.lines.iter().filter(is_old).map(|(_, text)| text.as_str()).collect()
    }

    fn has_trailing_context(&self) -> bool {
        self.lines.last().is_some_and(|(op, _)| *op == Op::Keep)
    }
}

/// The index of the first line of a hunk, and whether white space had to be forgiven.
fn place(image: &[PatchLine], hunk: &Hunk, old: &[&str]) -> Result<(usize, bool), String> {
    if let Some(at) = near(image, hunk, old) {
        return Ok((at, false));
    }
    if old.iter().all(|line| line.trim().is_empty()) {
        return Err("it has no line of context that could tell where it belongs".to_owned());
    }
    let everywhere = |fits: Fits<'_>| -> Vec<usize> {
        (0..image.len()).filter(|&at| matches(image, at, old, fits)).collect()
    };
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let searches: [(Fits<'_>, bool); 3] = [
        (&|have, want| have == want, false),
        (&|have, want| have.trim_end() == want.trim_end(), true),
        (&|have, want| squeeze(have) == squeeze(want), true),
    ];
    for (fits, is_loose) in searches {
        match everywhere(fits).as_slice() {
            [] => {}
            [only] => return Ok((*only, is_loose)),
            several => {
                let places: Vec<String> =
                    several.iter().take(5).map(|at| (at + 1).to_string()).collect();
                return Err(format!(
                    "it fits at {} places (lines {}) and not at the stated one",
                    several.len(),
                    places.join(", ")
                ));
            }
        }
    }
    Err(why_not(image, old))
}

/// The search of `git apply`.
fn near(image: &[PatchLine], hunk: &Hunk, old: &[&str]) -> Option<usize> {
    let (old_start, new_start) = hunk.starts?;
    let at_start = old_start <= 1;
    let at_end = !hunk.has_trailing_context();
    // A last line that has no end in the diff may have one here; `git` does not mind either.
    let same = |have: &str, want: &str| {
        have == want
            || (!at_end
                && !want.ends_with('\n')
                && have.strip_prefix(want).is_some_and(|rest| rest.trim().is_empty()))
    };
    let fits = |at: usize| {
        (!at_start || at == 0)
            && (!at_end || at + old.len() == image.len())
            && matches(image, at, old, &same)
    };
    let first = match (at_start, at_end) {
        (true, _) => 0,
        (false, true) => image.len().saturating_sub(old.len()),
        (false, false) => new_start.saturating_sub(1),
    };
    let first = first.min(image.len());
    let farthest = image.len();
    // Forwards before backwards at the same distance.
    (0..=farthest)
        .flat_map(|step| [first.checked_add(step), first.checked_sub(step)])
        .flatten()
        .find(|&at| at <= farthest && fits(at))
}

fn matches(image: &[PatchLine], at: usize, old: &[&str], fits: Fits<'_>) -> bool {
    let Some(window) = image.get(at..at + old.len()) else { return false };
    window.iter().zip(old).all(|(line, want)| !line.is_new && fits(&line.text, want))
}

/// Puts the lines of a hunk in place. With `newline`, lines that stay keep the text's own white
/// space, and lines that come end as the text's lines do.
fn replace(image: &mut Vec<PatchLine>, at: usize, hunk: &Hunk, newline: Option<Newline>) {
    let mut next = at;
    let mut fresh = Vec::with_capacity(hunk.lines.len());
    for (op, text) in &hunk.lines {
        let text = match (op, newline) {
            (Op::Remove, _) => {
                next += 1;
                continue;
            }
            (Op::Keep, Some(_)) => {
                image.get(next).map_or_else(String::new, |line| line.text.clone())
            }
            (Op::Add, Some(newline)) => newline.apply(text),
            (_, None) => text.clone(),
        };
        if *op == Op::Keep {
            next += 1;
        }
        fresh.push(PatchLine { text, is_new: true });
    }
    let has_end = |line: &PatchLine| line.text.ends_with('\n');
    // Where white space was forgiven, two lines must not become one.
    if newline.is_some() {
        let last = fresh.len().saturating_sub(1);
        let is_inner = next < image.len();
        for (index, line) in fresh.iter_mut().enumerate() {
            if (index < last || is_inner) && !has_end(line) {
                line.text.push_str(newline.unwrap_or(Newline::Lf).as_str());
            }
        }
    }
    image.splice(at..next, fresh);
}

/// What comes closest, in words.
fn why_not(image: &[PatchLine], old: &[&str]) -> String {
    let text: String = image.iter().map(|line| line.text.as_str()).collect();
    let candidates = closest(&lines(&text), old);
    let Some(Candidate { after_line, agree, differs }) = candidates.first() else {
        return "none of its lines are in the file".to_owned();
    };
    let total = old.iter().filter(|line| !line.trim().is_empty()).count();
    let place =
        format!("its lines are not in the file; up to line {after_line} {agree} of {total} agree");
    match differs {
        Some((line, has, wants)) => {
            format!("{place}: line {line} is `{has}`, the hunk has `{wants}`")
        }
        None => place,
    }
}
