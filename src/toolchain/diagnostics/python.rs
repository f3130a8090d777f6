//! What Python prints when a script of a build fails: a traceback and an exception.
//!
//! Owns the choice of the place: the last frame in the project, else the last one.

use super::finding::{ToolPlace, diagnostic};
use super::kconfig;
use super::paths::Paths;
use super::patterns::{self, group, number};
use crate::model::{Diagnostic, Severity};

/// How a traceback begins.
const TRACEBACK: &str = "Traceback (most recent call last):";

/// What joins an exception to the one that it came from.
const JOINTS: [&str; 2] = [
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
];

/// What was found in a traceback, and how many lines it took.
pub(super) struct Traceback {
    /// `None` when its exception is said better by another reader.
    pub(super) found: Option<Diagnostic>,
    pub(super) used: usize,
}

/// The traceback that `lines` begin with, and those that are joined to it; the last one counts.
pub(super) fn traceback(lines: &[&str], paths: &Paths) -> Option<Traceback> {
    let mut used = 0;
    let mut frames = Vec::new();
    loop {
        let rest = lines.get(used..)?;
        let one = single(rest, &mut frames, paths)?;
        used += one.used;
        let gap = lines.iter().skip(used).take_while(|line| line.trim().is_empty()).count();
        let next = lines.get(used + gap).map_or("", |line| line.trim());
        let after = lines.iter().skip(used + gap + 1).take_while(|line| line.trim().is_empty());
        let begin = used + gap + 1 + after.count();
        let is_joined =
            JOINTS.contains(&next) && lines.get(begin).is_some_and(|line| line.trim() == TRACEBACK);
        if !is_joined {
            return Some(Traceback { found: one.found, used });
        }
        used = begin;
    }
}

/// One traceback, or what a file that is not Python at all gets.
fn single(lines: &[&str], frames: &mut Vec<ToolPlace>, paths: &Paths) -> Option<Traceback> {
    let first = lines.first()?;
    let mut at = usize::from(first.trim_end() == TRACEBACK);
    let is_bare = at == 0;
    let begin = at;
    while let Some(line) = lines.get(at) {
        if let Some(found) = patterns::FRAME.captures(line) {
            if is_bare && found.get(3).is_some() {
                return None;
            }
            frames.push(ToolPlace::line(group(&found, 1).to_owned(), number(&found, 2)));
        } else if !line.starts_with(' ') {
            break;
        }
        at += 1;
        if is_bare && at == 1 && frames.is_empty() {
            return None;
        }
    }
    if at == begin {
        return None;
    }
    let exception = lines.get(at)?.trim_end();
    if !patterns::EXCEPTION.is_match(exception) {
        return (!is_bare).then_some(Traceback { found: None, used: at });
    }
    if kconfig::is_exception(exception) {
        return Some(Traceback { found: None, used: at });
    }
    let silent = ["KeyboardInterrupt", "BrokenPipeError"];
    if silent.iter().any(|name| exception.starts_with(name)) {
        return Some(Traceback { found: None, used: at + 1 });
    }
    let place = frames.iter().rev().find(|frame| paths.is_own(&frame.file)).or(frames.last());
    let place = place.map(|place| ToolPlace { file: paths.relative(&place.file), ..place.clone() });
    let found = diagnostic(Severity::Error, exception, place);
    Some(Traceback { found: Some(found), used: at + 1 })
}
