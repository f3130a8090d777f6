//! Finds what is known about a change beside the change itself: who still names a file that would
//! go, and what a flash does to the board's memory. Reads the project and never writes it.

use super::findings::{self, ProposedFiles};
use super::table_offset::table_offset;
use crate::model::{
    BoardFacts, Change, ErasePlan, Facts, FlashFacts, FlashImage, FlashPlan, Partition,
    ProjectPath, Reference, ReferenceKind,
};
use crate::text::references::{Mention, MentionKind, can_mention, mentions};
use crate::toolchain::esp_image::Chip;
use crate::toolchain::flash_map::FlashMap;
use crate::toolchain::partitions;
use crate::workspace::{ProjectDir, references_to};

/// Most references that are kept.
const MOST_REFERENCES: usize = 100;

/// Adds what can be found out about `change`, in the project with what is proposed beside it.
pub(super) fn find(
    (project_dir, proposed): (&ProjectDir, &ProposedFiles),
    change: &Change,
    mut facts: Facts,
) -> Facts {
    match change {
        Change::Delete { path, .. } => facts.references = references(project_dir, proposed, path),
        Change::Flash(plan) => facts.flash = flash(project_dir, plan, facts.board.as_ref()),
        Change::Erase(plan) => facts.flash = erased(project_dir, plan),
        Change::Save { .. }
        | Change::Insert { .. }
        | Change::Send(_)
        | Change::Read(_)
        | Change::Nvs(_) => {}
    }
    facts
}

fn references(
    project_dir: &ProjectDir,
    proposed: &ProposedFiles,
    gone: &ProjectPath,
) -> Vec<Reference> {
    let on_disk = references_to(project_dir, std::slice::from_ref(gone)).into_iter();
    let on_disk = on_disk.filter(|named| !proposed.has(&named.file));
    let mut found: Vec<(ProjectPath, Mention)> =
        on_disk.map(|named| (named.file, named.mention)).collect();
    for (path, text) in proposed.texts().filter(|(path, _)| can_mention(path) && *path != gone) {
        found.extend(mentions(gone, path, text).into_iter().map(|it| (path.clone(), it)));
    }
    // A list of CMake may make the file with each build: `${CMAKE_CURRENT_BINARY_DIR}/table.h`.
    let made = format!("BINARY_DIR}}/{}", gone.file_name());
    if found.iter().any(|(_, it)| it.text.contains(&made)) {
        return Vec::new();
    }
    // What includes a file by its name finds the new one that takes its place.
    let is_new = |path: &ProjectPath| matches!(project_dir.read_if_there(path), Ok(None));
    let mut same_name = proposed.texts().map(|(path, _)| path);
    let moves = same_name.any(|path| path.file_name() == gone.file_name() && is_new(path));
    let finds = |mention: &Mention| {
        let name = mention.text.split(['"', '<', '>']).nth(1).unwrap_or_default();
        mention.by == MentionKind::Include && name == gone.file_name()
    };
    found.retain(|(_, mention)| !moves || !finds(mention));
    found.sort_by(|(a, one), (b, two)| (a, one.line).cmp(&(b, two.line)));
    let kind = |by| match by {
        MentionKind::Include => ReferenceKind::Include,
        MentionKind::Cmake => ReferenceKind::Cmake,
    };
    let all = found.into_iter().take(MOST_REFERENCES).map(|(path, mention)| Reference {
        path,
        line: mention.line,
        kind: kind(mention.by),
        text: mention.text,
    });
    all.collect()
}

/// What a flash touches. The table is that of the plan's own image if it writes one, else the one on
/// the board, else the one that the project has.
fn flash(
    project_dir: &ProjectDir,
    plan: &FlashPlan,
    board: Option<&BoardFacts>,
) -> Option<FlashFacts> {
    let chip = &plan.board.chip;
    if plan.board.simulated && Chip::named(chip).is_none() {
        // A program of this machine: there is no flash behind it.
        return None;
    }
    let place = FlashMap::new(chip, table_offset(project_dir), Vec::new()).table;
    let read = |file: &str| project_dir.read(&ProjectPath::new(file).ok()?).ok();
    let on_board = || {
        let held = board.map(|board| board.partitions.clone()).unwrap_or_default();
        (!held.is_empty()).then(|| (ON_BOARD.to_owned(), held))
    };
    let found = own_table(project_dir, plan, place)
        .or_else(on_board)
        .or_else(|| partitions::of_project("", read));
    let (source, partitions) = found.unwrap_or_default();
    let map = FlashMap::new(chip, Some(place), partitions);
    let landings = map.landings(plan);
    Some(FlashFacts { source, partitions: map.partitions, table_offset: Some(map.table), landings })
}

/// What the source of a table is called that the board holds.
const ON_BOARD: &str = "the board";

/// The table among the bytes that a plan writes, and the file that they are of.
fn own_table(
    project_dir: &ProjectDir,
    plan: &FlashPlan,
    place: u32,
) -> Option<(String, Vec<Partition>)> {
    let writes = |image: &&FlashImage| {
        let from = u64::from(image.offset);
        (from..from.saturating_add(image.bytes)).contains(&u64::from(place))
    };
    let image = plan.written().find(writes)?;
    let content = findings::content_of(project_dir, &image.file)?;
    let table = content.get((place - image.offset) as usize..)?;
    Some((image.file.clone(), partitions::from_image(table)?))
}

/// The partitions that would lose what they hold.
fn erased(project_dir: &ProjectDir, plan: &ErasePlan) -> Option<FlashFacts> {
    let read = |file: &str| project_dir.read(&ProjectPath::new(file).ok()?).ok();
    let (source, partitions) = partitions::of_project("", read)?;
    let landings = partitions::erased(plan, &partitions);
    Some(FlashFacts { source, partitions, table_offset: None, landings })
}
