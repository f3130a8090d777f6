//! Finds what is known about a change beside the change itself: who still names a file that would
//! go, and what a flash does to the board's memory. Reads the project and never writes it.

use crate::model::{
    Change, ErasePlan, Facts, FlashFacts, FlashPlan, ProjectPath, Reference, ReferenceKind,
};
use crate::text::references::MentionKind;
use crate::toolchain::partitions;
use crate::workspace::Sandbox;

/// Most references that are kept.
const MOST_REFERENCES: usize = 100;

/// Adds what can be found out about `change`.
pub(super) fn find(sandbox: &Sandbox, change: &Change, mut facts: Facts) -> Facts {
    match change {
        Change::Delete { path, .. } => facts.references = references(sandbox, path),
        Change::Flash(plan) => facts.flash = flash(sandbox, plan),
        Change::Erase(plan) => facts.flash = erased(sandbox, plan),
        Change::Save { .. }
        | Change::Insert { .. }
        | Change::Send(_)
        | Change::Read(_)
        | Change::Nvs(_) => {}
    }
    facts
}

fn references(sandbox: &Sandbox, gone: &ProjectPath) -> Vec<Reference> {
    let found = sandbox.references_to(std::slice::from_ref(gone));
    let kind = |by| match by {
        MentionKind::Include => ReferenceKind::Include,
        MentionKind::Cmake => ReferenceKind::Cmake,
    };
    let all = found.into_iter().take(MOST_REFERENCES).map(|named| Reference {
        path: named.file,
        line: named.mention.line,
        kind: kind(named.mention.by),
        text: named.mention.text,
    });
    all.collect()
}

/// The table is that of the plan's own image if it writes one, else the one that the project has.
fn flash(sandbox: &Sandbox, plan: &FlashPlan) -> Option<FlashFacts> {
    let read = |file: &str| sandbox.read(&ProjectPath::new(file).ok()?).ok();
    let own = plan.images.iter().find(|image| image.offset == partitions::TABLE_OFFSET);
    let own = own.map_or("", |image| image.file.as_str());
    let (source, partitions) = partitions::of_project(own, read)?;
    let landings = partitions::landings(plan, &partitions);
    Some(FlashFacts { source, partitions, landings })
}

/// The partitions that would lose what they hold.
fn erased(sandbox: &Sandbox, plan: &ErasePlan) -> Option<FlashFacts> {
    let read = |file: &str| sandbox.read(&ProjectPath::new(file).ok()?).ok();
    let (source, partitions) = partitions::of_project("", read)?;
    let landings = partitions::erased(plan, &partitions);
    Some(FlashFacts { source, partitions, landings })
}
