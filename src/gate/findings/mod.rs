//! The one engine of findings: everything that is looked at before a change is decided.
//!
//! Every proposal gets these checks, whoever or whatever decides it, so that no tool, rule or batch
//! can leave them out. One file per family. A finding informs and never decides; nothing here may
//! write, and nothing may wait for a process.

mod context;
mod flash;
mod images;
mod partition_table;
mod place;
mod secrets;
mod text;

use crate::model::{Change, Check, CheckKind, Facts, Finding, FindingLevel, ProjectPath};
use crate::workspace::Sandbox;

pub(super) use context::Context;
pub(super) use images::content;

/// Places of one kind that are named one by one.
const NAMED_PLACES: usize = 5;

/// What is looked at.
#[expect(dead_code, reason = "read by the findings about pins and scope")]
pub(super) struct Subject<'a> {
    /// The change.
    pub(super) change: &'a Change,
    /// What the file holds; `None`: it is not there, or the change has no file.
    pub(super) base: Option<&'a [u8]>,
    /// What it will hold; empty for a deletion or what is done to a board.
    pub(super) content: &'a [u8],
    /// What is known besides.
    pub(super) facts: &'a Facts,
    /// The project.
    pub(super) sandbox: &'a Sandbox,
    /// The chip, the task and what else was said about the run.
    pub(super) context: &'a Context,
}

impl Subject<'_> {
    /// The new content as text; `None` when it is not UTF-8.
    pub(super) fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.content).ok()
    }

    /// What the file holds as text; `None` when it is not there or not UTF-8.
    pub(super) fn base_text(&self) -> Option<&str> {
        std::str::from_utf8(self.base?).ok()
    }
}

/// Adds what is found here to what the tool has looked at itself; what both have looked at is
/// told as it is found here. The heaviest come first.
pub(super) fn complete(subject: &Subject<'_>, known: Vec<Check>) -> Vec<Check> {
    let found = match subject.change {
        Change::Save { path, .. } | Change::Insert { path, .. } => file(path, subject),
        Change::Delete { path, base } => {
            let mut found = place::find(subject.sandbox, path, Some(base.hash));
            found.push(place::unreferenced(&subject.facts.references));
            found
        }
        Change::Flash(plan) => flash::find(plan, subject),
        // What there is to know is on screen: the region and whose it is, or every character.
        Change::Erase(_) | Change::Nvs(_) => Vec::new(),
        Change::Send(plan) => flash::sent(plan).into_iter().collect(),
        Change::Read(plan) => place::find(subject.sandbox, &plan.path, None),
    };
    let mut all = known;
    all.retain(|known| !is_made_here(known.kind) || found.iter().any(|f| f.kind == known.kind));
    for check in found {
        match all.iter_mut().find(|known| known.kind == check.kind) {
            Some(known) => *known = check,
            None => all.push(check),
        }
    }
    all.sort_by_key(|check| std::cmp::Reverse(check.level()));
    all
}

/// The checks of a file's new content and its place.
fn file(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Check> {
    let base = subject.change.before().map(|base| base.hash);
    let mut found = text::find(path, subject);
    found.extend(secrets::find(subject));
    found.extend(partition_table::find(path, subject));
    found.extend(place::find(subject.sandbox, path, base));
    found
}

/// Checks of the content and the place, which are made again when a proposal is restated.
const fn is_made_here(kind: CheckKind) -> bool {
    match kind {
        CheckKind::Encoding
        | CheckKind::LineEnds
        | CheckKind::Lookalikes
        | CheckKind::Size
        | CheckKind::Secrets
        | CheckKind::BaseUnchanged
        | CheckKind::Compiles
        | CheckKind::Irreversible
        | CheckKind::PartitionTable
        | CheckKind::HostCode
        | CheckKind::Origin
        | CheckKind::Pins
        | CheckKind::Scope
        | CheckKind::InProject => true,
        CheckKind::Parses
        | CheckKind::Name
        | CheckKind::InCmake
        | CheckKind::Text
        | CheckKind::BuildFresh
        | CheckKind::BootUntouched
        | CheckKind::Unreferenced
        | CheckKind::Fits
        | CheckKind::Images
        | CheckKind::Merged => false,
    }
}

/// The first few findings one by one, and one more that counts the others.
fn limited(kind: CheckKind, mut findings: Vec<Finding>) -> Check {
    let level = findings.iter().map(|finding| finding.level).max().unwrap_or(FindingLevel::Note);
    let more = findings.len().saturating_sub(NAMED_PLACES);
    if more > 1 {
        findings.truncate(NAMED_PLACES);
        findings.push(Finding::new(level, format!("the same in {more} more places")));
    }
    Check::with(kind, findings)
}
