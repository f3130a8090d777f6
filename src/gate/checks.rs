//! The checks that every proposal gets, whatever its tool looked at before.
//!
//! Owns what is found in the content and at the place of a change, so that no tool can leave it
//! out. A check informs and never decides.

use super::folder::{PlaceError, look};
use crate::model::{
    Change, Check, CheckKind, CheckStatus, ContentHash, Facts, ProjectPath, Reference,
};
use crate::text::diff::{Options, diff};
use crate::text::inspect::{self, Charset, Place};
use crate::text::syntax;
use crate::workspace::Sandbox;

/// Places that a note names one by one.
const NAMED_PLACES: usize = 5;

/// A file shorter than this is quickly read, however much of it changes.
const LONG: usize = 40;

/// What is looked at.
pub(super) struct Subject<'a> {
    /// The change.
    pub(super) change: &'a Change,
    /// What the file holds; `None`: it is not there.
    pub(super) base: Option<&'a [u8]>,
    /// What it shall hold; empty for a deletion.
    pub(super) content: &'a [u8],
    /// What is known beside it.
    pub(super) facts: &'a Facts,
}

/// Adds what is found here to what the tool has looked at itself; what both have looked at is
/// told as it is found here.
pub(super) fn complete(sandbox: &Sandbox, subject: &Subject<'_>, known: Vec<Check>) -> Vec<Check> {
    let found = match subject.change {
        Change::Save { path, base, .. } => {
            let mut found = content(path, subject, sandbox);
            found.extend(place(sandbox, path, base.as_ref().map(|base| base.hash)));
            found
        }
        Change::Insert { path, base, .. } => {
            let mut found = content(path, subject, sandbox);
            found.extend(place(sandbox, path, Some(base.hash)));
            found
        }
        Change::Delete { path, base } => {
            let mut found = place(sandbox, path, Some(base.hash));
            found.push(unreferenced(&subject.facts.references));
            found
        }
        Change::Flash(plan) => {
            let mut found = vec![match plan.touches_boot {
                true => warned(
                    CheckKind::BootUntouched,
                    "bootloader or partition table are among the images",
                ),
                false => passed(CheckKind::BootUntouched),
            }];
            found.extend(fits(subject.facts));
            found
        }
        // What there is to know is on screen: the region and whose it is, or every character.
        Change::Erase(_) | Change::Send(_) | Change::Nvs(_) => Vec::new(),
        Change::Read(plan) => place(sandbox, &plan.path, None),
    };
    let mut all = known;
    all.retain(|known| !is_made_here(known.kind) || found.iter().any(|f| f.kind == known.kind));
    for check in found {
        match all.iter_mut().find(|known| known.kind == check.kind) {
            Some(known) => *known = check,
            None => all.push(check),
        }
    }
    all
}

/// Findings about the content and the place, which a restated proposal gets anew.
const fn is_made_here(kind: CheckKind) -> bool {
    match kind {
        CheckKind::Encoding
        | CheckKind::LineEnds
        | CheckKind::Lookalikes
        | CheckKind::Size
        | CheckKind::Secrets
        | CheckKind::BaseUnchanged
        | CheckKind::Compiles
        | CheckKind::InProject => true,
        CheckKind::Parses
        | CheckKind::Name
        | CheckKind::InCmake
        | CheckKind::Text
        | CheckKind::BuildFresh
        | CheckKind::BootUntouched
        | CheckKind::Unreferenced
        | CheckKind::Fits
        | CheckKind::Merged => false,
    }
}

fn content(path: &ProjectPath, subject: &Subject<'_>, sandbox: &Sandbox) -> Vec<Check> {
    let Subject { base, content, .. } = *subject;
    let mut found = Vec::new();
    let text = std::str::from_utf8(content);
    if let Ok(text) = text {
        found.extend(parses(path, text));
        let hidden = inspect::hidden(text);
        found.push(places(CheckKind::Text, CheckStatus::Failed, "hidden characters", &hidden));
    }
    found.push(encoding(base, content));
    found.extend(line_ends(base, content));
    let in_text = text.map(inspect::lookalikes).unwrap_or_default();
    found.extend(lookalikes(path, &in_text, sandbox));
    found.push(size(base, content));
    if let Ok(text) = text {
        let secrets = inspect::secrets(text);
        found.push(places(CheckKind::Secrets, CheckStatus::Failed, "what looks secret", &secrets));
    }
    found
}

fn parses(path: &ProjectPath, text: &str) -> Option<Check> {
    syntax::language_of(path)?;
    Some(match syntax::first_error(path, text) {
        None => passed(CheckKind::Parses),
        Some(error) => {
            let note = format!("{}:{}: {}", error.line, error.column, error.message);
            check(CheckKind::Parses, CheckStatus::Failed, note)
        }
    })
}

fn encoding(base: Option<&[u8]>, content: &[u8]) -> Check {
    let failed = |note: String| check(CheckKind::Encoding, CheckStatus::Failed, note);
    let now = inspect::charset(content);
    match now {
        Charset::Binary(at) => {
            return failed(format!("no text: there is a NUL byte at offset {at}"));
        }
        Charset::Other(at) => return failed(format!("no UTF-8 from offset {at} on")),
        Charset::Utf16 => return failed("UTF-16, which compilers do not read".to_owned()),
        Charset::Utf8 | Charset::Utf8Bom => {}
    }
    match (base.map(inspect::charset), now) {
        (Some(Charset::Utf16), _) => {
            warned(CheckKind::Encoding, "the file is UTF-16; this would make it UTF-8")
        }
        (Some(Charset::Binary(_) | Charset::Other(_)), _) => {
            warned(CheckKind::Encoding, "the file is no UTF-8; this would make it so")
        }
        (Some(Charset::Utf8Bom), Charset::Utf8) => {
            warned(CheckKind::Encoding, "drops the byte order mark at the start")
        }
        (Some(Charset::Utf8) | None, Charset::Utf8Bom) => {
            warned(CheckKind::Encoding, "begins with a byte order mark")
        }
        _ => passed(CheckKind::Encoding),
    }
}

/// A finding only when there is one: ends that change, or that are mixed.
fn line_ends(base: Option<&[u8]>, content: &[u8]) -> Option<Check> {
    let now = inspect::line_ends(content);
    let was = base.map(inspect::line_ends).unwrap_or_default();
    let note = if was.crlf > 0 && was.lf == 0 && now.lf > 0 {
        format!("the file has CRLF line ends; lines that would end with LF: {}", now.lf)
    } else if was.lf > 0 && was.crlf == 0 && now.crlf > 0 {
        format!("the file has LF line ends; lines that would end with CRLF: {}", now.crlf)
    } else if now.lf > 0 && now.crlf > 0 {
        format!("mixed: {} lines end with LF, {} with CRLF", now.lf, now.crlf)
    } else {
        return None;
    };
    Some(check(CheckKind::LineEnds, CheckStatus::Warned, note))
}

/// A finding only when there is one. A name that reads like that of another file is wrong; other
/// posing letters are worth a look.
fn lookalikes(path: &ProjectPath, in_text: &[Place], sandbox: &Sandbox) -> Option<Check> {
    let name = path.as_str();
    if let Some(c) = name.chars().find(|c| inspect::poses_as(*c).is_some()) {
        let reads = inspect::skeleton(name);
        let twin = ProjectPath::new(&reads).ok().filter(|twin| sandbox.is_file(twin));
        let (status, of) = match twin {
            Some(twin) => (CheckStatus::Failed, format!("the name reads like `{twin}`")),
            None => (CheckStatus::Warned, format!("the name reads like `{reads}`")),
        };
        let note = format!("{of} but holds U+{:04X}", u32::from(c));
        return Some(check(CheckKind::Lookalikes, status, note));
    }
    (!in_text.is_empty())
        .then(|| places(CheckKind::Lookalikes, CheckStatus::Warned, "posing letters", in_text))
}

fn size(base: Option<&[u8]>, content: &[u8]) -> Check {
    let Some(base) = base else { return passed(CheckKind::Size) };
    let lines = |bytes: &[u8]| bytes.split_inclusive(|&byte| byte == b'\n').count();
    let before = lines(base);
    if before < LONG || base == content {
        return passed(CheckKind::Size);
    }
    let budget = std::time::Duration::from_millis(100);
    let found = diff(base, content, Options { context: 0, budget, ..Options::default() });
    let share = found.removed * 100 / before;
    let after = lines(content);
    if after * 2 < before {
        let note = format!("drops {} of {before} lines", before - after);
        check(CheckKind::Size, CheckStatus::Warned, note)
    } else if share >= 60 {
        let note = format!("rewrites {} of {before} lines ({share} %)", found.removed);
        check(CheckKind::Size, CheckStatus::Warned, note)
    } else {
        passed(CheckKind::Size)
    }
}

fn place(sandbox: &Sandbox, path: &ProjectPath, base: Option<ContentHash>) -> Vec<Check> {
    let inside = passed(CheckKind::InProject);
    match look(sandbox, path) {
        Ok(found) if found.as_ref().map(|found| found.hash) == base => {
            vec![inside, passed(CheckKind::BaseUnchanged)]
        }
        Ok(_) => {
            let note = "the file has changed since the agent read it".to_owned();
            vec![inside, check(CheckKind::BaseUnchanged, CheckStatus::Failed, note)]
        }
        Err(PlaceError::Disk(error)) => {
            vec![inside, warned(CheckKind::BaseUnchanged, &error.to_string())]
        }
        Err(error) => {
            vec![check(CheckKind::InProject, CheckStatus::Failed, error.to_string())]
        }
    }
}

fn unreferenced(references: &[Reference]) -> Check {
    if references.is_empty() {
        return passed(CheckKind::Unreferenced);
    }
    let named = references.iter().take(NAMED_PLACES).map(|r| format!("{}:{}", r.path, r.line));
    let named: Vec<String> = named.collect();
    let more = match references.len().checked_sub(NAMED_PLACES) {
        Some(more) if more > 0 => format!(" and {more} more"),
        _ => String::new(),
    };
    let note = format!("still named in {}{more}", named.join(", "));
    check(CheckKind::Unreferenced, CheckStatus::Warned, note)
}

fn fits(facts: &Facts) -> Option<Check> {
    let flash = facts.flash.as_ref()?;
    let wrong: Vec<String> = flash
        .landings
        .iter()
        .filter_map(|landing| match (landing.place.is_empty(), landing.overflow) {
            (true, _) => Some(format!("`{}` is outside of every partition", landing.file)),
            (false, 0) => None,
            (false, bytes) => {
                Some(format!("`{}` is {bytes} bytes too long for {}", landing.file, landing.place))
            }
        })
        .collect();
    Some(match wrong.is_empty() {
        true => passed(CheckKind::Fits),
        false => check(CheckKind::Fits, CheckStatus::Failed, wrong.join("; ")),
    })
}

/// What was found where, as one check.
fn places(kind: CheckKind, status: CheckStatus, what: &str, places: &[Place]) -> Check {
    if places.is_empty() {
        return passed(kind);
    }
    let named = places
        .iter()
        .take(NAMED_PLACES)
        .map(|place| format!("{}:{}: {}", place.line, place.column, place.what));
    let named: Vec<String> = named.collect();
    let more = match places.len().checked_sub(NAMED_PLACES) {
        Some(more) if more > 0 => format!("; and {more} more places"),
        _ => String::new(),
    };
    check(kind, status, format!("{}{more} ({what})", named.join("; ")))
}

fn passed(kind: CheckKind) -> Check {
    check(kind, CheckStatus::Passed, String::new())
}

fn warned(kind: CheckKind, note: &str) -> Check {
    check(kind, CheckStatus::Warned, note.to_owned())
}

fn check(kind: CheckKind, status: CheckStatus, note: String) -> Check {
    Check { kind, status, note }
}
