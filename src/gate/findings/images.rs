//! The images of a flash by what they hold: for which chip, for which place, and whether the board
//! can start them.
//!
//! Contents are read from the project and compared with the hashes of the plan. Must not look at
//! the board.

use super::Subject;
use super::limit::limited;
use super::partition_data::{self, amount};
use super::partition_table;
use crate::model::{
    BoardFacts, CheckKind, ContentHash, Finding, FindingLevel, FlashArea, FlashFacts, FlashImage,
    FlashPlan, Landing, Partition, ProjectPath,
};
use crate::toolchain::esp_image::{Chip, ImageHeader, ImageRole, chosen_slot, looks_encrypted};
use crate::toolchain::partition_csv::{is_app, is_data};
use crate::toolchain::partitions;
use crate::workspace::ProjectDir;

/// Longer images than the largest flash are none.
const MOST_BYTES: u64 = 128 << 20;

/// What an image holds, or why that is not known.
pub(super) struct Read(Result<Vec<u8>, String>);

impl Read {
    fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The header at its beginning.
    pub(super) fn header(&self) -> Option<ImageHeader> {
        ImageHeader::read(self.bytes())
    }

    /// What it puts at an address.
    fn at(&self, image: &FlashImage, address: u32) -> Option<&[u8]> {
        let start = address.checked_sub(image.offset)?;
        self.bytes().get(start as usize..).filter(|rest| !rest.is_empty())
    }

    /// Whether it holds bootloader, table and all else in one piece.
    pub(super) fn is_merged(&self, image: &FlashImage, flash: &FlashFacts) -> bool {
        let table = flash.table_offset.filter(|table| *table > image.offset);
        let held = table.and_then(|table| self.at(image, table));
        held.is_some_and(|held| partitions::from_image(held).is_some())
    }
}

/// Reads an image of the plan.
pub(super) fn read(image: &FlashImage, subject: &Subject<'_>) -> Read {
    let content = content_of(subject.project_dir, &image.file);
    Read(match content {
        Some(content) if ContentHash::of(&content) == image.hash => Ok(content),
        Some(_) => Err(format!("`{}` has changed since the flash was planned", image.file)),
        None => Err(format!("`{}` cannot be read, so that it is not checked", image.file)),
    })
}

/// The whole content of an image in the project; `None` when it cannot be read.
pub(in crate::gate) fn content_of(project_dir: &ProjectDir, file: &str) -> Option<Vec<u8>> {
    let path = ProjectPath::new(file).ok()?;
    let read = project_dir.read_start(&path, MOST_BYTES).ok()?;
    (read.omitted() == 0).then_some(read.content)
}

fn stop(text: impl Into<String>) -> Finding {
    Finding::new(FindingLevel::Stop, text)
}

fn warning(text: impl Into<String>) -> Finding {
    Finding::new(FindingLevel::Warning, text)
}

/// What is found in the images.
pub(super) fn find(
    plan: &FlashPlan,
    flash: &FlashFacts,
    contents: &[Read],
    subject: &Subject<'_>,
) -> Vec<Finding> {
    let board = subject.facts.board.as_ref();
    let mut found = Vec::new();
    for ((image, landing), read) in plan.images.iter().zip(&flash.landings).zip(contents) {
        if image.same {
            continue;
        }
        if image.hash == ContentHash::NONE {
            // Only its place is known.
            continue;
        }
        if let Err(why) = &read.0 {
            found.push(stop(why));
            continue;
        }
        found.extend(for_board(plan, image, read, board));
        let mut own = for_place(plan, flash, image, landing, read);
        if names_settings(image, landing, flash, subject) {
            let warnings = own.iter_mut().filter(|finding| finding.level == FindingLevel::Warning);
            warnings.for_each(|finding| finding.level = FindingLevel::Note);
        }
        found.extend(own);
    }
    found.extend(apps(plan, flash, contents));
    if let Some(board) = board {
        found.extend(moved(flash, board));
    }
    limited(CheckKind::Images, found).findings
}

/// Whether the task names the file and the partition of settings that it is written to.
fn names_settings(
    image: &FlashImage,
    landing: &Landing,
    flash: &FlashFacts,
    subject: &Subject<'_>,
) -> bool {
    let of = flash.partitions.iter().find(|part| part.label == landing.place);
    let task = subject.context.person_words();
    let has = |name: &str| {
        let mut words = task.split(|c: char| c.is_whitespace() || ",;:()`\"'".contains(c));
        words.any(|word| word == name.to_lowercase())
    };
    let is_settings =
        |part: &Partition| is_data(&part.kind) && part.subtype == "nvs" && part.label != "nvs";
    of.is_some_and(is_settings) && has(&landing.place) && has(&image.file)
}

/// An image against the chip and what the board is set to.
fn for_board(
    plan: &FlashPlan,
    image: &FlashImage,
    read: &Read,
    board: Option<&BoardFacts>,
) -> Vec<Finding> {
    let (file, chip) = (&image.file, &plan.board.chip);
    let Some(header) = read.header() else { return Vec::new() };
    let mut found = Vec::new();
    if let Some(known) = Chip::named(chip)
        && known.id != header.chip
    {
        let made_for = match Chip::with_id(header.chip) {
            Some(other) => format!("an {}", other.name),
            None => format!("a chip with the number {}", header.chip),
        };
        found.push(stop(format!("`{file}` is made for {made_for}, and the board is an {chip}")));
    }
    let Some(board) = board else { return found };
    if let (Some(has), Some(needs)) = (board.flash_bytes, header.flash_bytes)
        && needs > has
    {
        let (needs, has) = (amount(needs), amount(has));
        found.push(stop(format!("`{file}` is made for {needs} of flash, and the board has {has}")));
    }
    let is_encrypted = plan.options.iter().any(|option| option == "--encrypt");
    if board.flash_encryption == Some(true) && !is_encrypted {
        let text = format!("`{file}` is not encrypted, and the board decrypts its flash");
        found.push(stop(text).advice("The board would not start it."));
    }
    found
}

/// An image against what belongs where it lands.
fn for_place(
    plan: &FlashPlan,
    flash: &FlashFacts,
    image: &FlashImage,
    landing: &Landing,
    read: &Read,
) -> Vec<Finding> {
    if read.is_merged(image, flash) {
        return Vec::new();
    }
    let partition = flash.partitions.iter().find(|part| part.label == landing.place);
    let begins_at =
        |area: &FlashArea| landing.touches.first() == Some(area) && area.name() == landing.place;
    if begins_at(&FlashArea::Bootloader) {
        return bootloader(plan, image, read);
    }
    if begins_at(&FlashArea::PartitionTable) {
        return table(image, read);
    }
    match partition {
        Some(partition) if is_app(&partition.kind) => application(image, partition, read),
        Some(partition) if is_data(&partition.kind) => data(image, partition, read),
        Some(_) | None => Vec::new(),
    }
}

fn bootloader(plan: &FlashPlan, image: &FlashImage, read: &Read) -> Vec<Finding> {
    let (file, offset) = (&image.file, image.offset);
    let Some(chip) = Chip::named(&plan.board.chip) else { return Vec::new() };
    let Some(held) = read.at(image, chip.boot).filter(|_| offset == chip.boot) else {
        let text = format!(
            "`{file}` begins at 0x{offset:x}, and an {} looks for its bootloader at 0x{:x}",
            chip.name, chip.boot
        );
        return vec![stop(text)];
    };
    let text = match ImageHeader::read(held).map(|header| header.role) {
        Some(ImageRole::App) => {
            format!("puts an application, `{file}`, in place of the bootloader")
        }
        Some(ImageRole::Bootloader | ImageRole::Unknown) => return Vec::new(),
        None if looks_encrypted(held) => {
            format!("`{file}` is not a readable bootloader: it looks encrypted")
        }
        None => format!("`{file}` is not a bootloader, but is written in its place"),
    };
    vec![stop(text).advice("The board would no longer start.")]
}

fn table(image: &FlashImage, read: &Read) -> Vec<Finding> {
    let file = &image.file;
    match partitions::from_image(read.bytes()) {
        None => {
            vec![stop(format!("`{file}` is not a partition table, but is written in its place"))]
        }
        Some(table) => partition_table::unsound(&table, image.offset)
            .into_iter()
            .map(|text| stop(format!("the partition table `{file}`: {text}")))
            .collect(),
    }
}

fn application(image: &FlashImage, partition: &Partition, read: &Read) -> Vec<Finding> {
    let (file, label) = (&image.file, &partition.label);
    let mut found = Vec::new();
    match read.header().map(|header| header.role) {
        Some(ImageRole::Bootloader) => {
            found
                .push(stop(format!("`{file}` is a bootloader, and `{label}` is for applications")));
        }
        Some(ImageRole::App | ImageRole::Unknown) => {}
        None => {
            let text = match looks_encrypted(read.bytes()) {
                true => format!("`{file}` looks encrypted, and is put into `{label}`"),
                false => {
                    format!("`{file}` is not an application, and `{label}` is for applications")
                }
            };
            found.push(stop(text).advice("The board would not start it."));
        }
    }
    if image.offset != partition.offset {
        let (at, begin) = (image.offset, partition.offset);
        let text = format!("`{file}` begins at 0x{at:x}, and `{label}` at 0x{begin:x}");
        found.push(
            stop(text).advice("An application is started at the beginning of its partition."),
        );
    }
    found
}

fn data(image: &FlashImage, partition: &Partition, read: &Read) -> Vec<Finding> {
    let (file, label, subtype) = (&image.file, &partition.label, partition.subtype.as_str());
    if read.header().is_some_and(|header| header.role != ImageRole::Unknown) {
        return vec![stop(format!("`{file}` is a program, and `{label}` is for data"))];
    }
    if partitions::from_image(read.bytes()).is_some() {
        return vec![stop(format!("`{file}` is a partition table, and `{label}` is for data"))];
    }
    match subtype {
        "nvs" => vec![warning(format!("replaces the settings stored in `{label}`"))],
        "nvs_keys" => vec![stop(format!("replaces the keys stored in `{label}`"))],
        _ => Vec::new(),
    }
}

/// The applications and the data that chooses between them.
fn apps(plan: &FlashPlan, flash: &FlashFacts, contents: &[Read]) -> Vec<Finding> {
    let of = |landing: &Landing| {
        flash.partitions.iter().find(|partition| partition.label == landing.place)
    };
    let all = || plan.images.iter().zip(&flash.landings).zip(contents);
    let written: Vec<(&FlashImage, &Partition)> = all()
        .filter(|((image, _), read)| !image.same && read.header().is_some())
        .filter_map(|((image, landing), _)| Some((image, of(landing)?)))
        .filter(|(_, partition)| is_app(&partition.kind))
        .collect();
    let mut found = Vec::new();
    if let [(one, first), .., (two, last)] = written.as_slice() {
        let text = format!(
            "writes {} applications: `{}` into `{}` and `{}` into `{}`",
            written.len(),
            one.file,
            first.label,
            two.file,
            last.label
        );
        found.push(warning(text));
    }
    let is_slot = |part: &&Partition| is_app(&part.kind) && part.subtype.starts_with("ota_");
    let slots: Vec<&Partition> = flash.partitions.iter().filter(is_slot).collect();
    let has_factory = flash.partitions.iter().any(|part| part.subtype == "factory");
    let is_otadata = |part: &Partition| is_data(&part.kind) && part.subtype == "ota";
    let otadata = all().find(|((_, landing), _)| of(landing).is_some_and(is_otadata));
    let count = u32::try_from(slots.len()).unwrap_or(u32::MAX);
    match otadata {
        Some(((image, _), read)) if !image.same => {
            found.extend(chosen(read, image, &slots, count, &written));
        }
        Some(_) => {}
        None => found.extend(not_started(&written, has_factory, flash, is_otadata)),
    }
    found
}

/// Data that makes another application start than the one that is written.
fn chosen(
    read: &Read,
    image: &FlashImage,
    slots: &[&Partition],
    count: u32,
    written: &[(&FlashImage, &Partition)],
) -> Option<Finding> {
    let slot = slots.get(chosen_slot(read.bytes(), count)? as usize)?;
    let is_written = written.iter().any(|(_, partition)| partition.label == slot.label);
    (!is_written && !written.is_empty()).then(|| {
        let (file, label) = (&image.file, &slot.label);
        warning(format!("`{file}` makes `{label}` start, and this flash does not write `{label}`"))
    })
}

/// An application in a slot that the board has no reason to start.
fn not_started(
    written: &[(&FlashImage, &Partition)],
    has_factory: bool,
    flash: &FlashFacts,
    is_otadata: impl Fn(&Partition) -> bool,
) -> Vec<Finding> {
    let is_later = |partition: &Partition| {
        partition.subtype.starts_with("ota_") && (has_factory || partition.subtype != "ota_0")
    };
    let has_otadata = flash.partitions.iter().any(is_otadata);
    let tell = |(image, partition): &(&FlashImage, &Partition)| {
        let (file, label) = (&image.file, &partition.label);
        let why = match has_otadata {
            true => "the data that makes the board start it is not written",
            false => "there is no `otadata` partition that makes the board start it",
        };
        warning(format!("writes `{file}` into `{label}`, and {why}"))
    };
    written.iter().filter(|(_, partition)| is_later(partition)).map(tell).collect()
}

/// Stored data that a new table does not find again.
fn moved(flash: &FlashFacts, board: &BoardFacts) -> Vec<Finding> {
    if board.partitions.is_empty() {
        return Vec::new();
    }
    let lost = partition_data::lost(board.partitions.iter(), flash.partitions.iter());
    lost.into_iter().map(|(_, text)| stop(format!("the new partition table {text}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_told_in_whole_megabytes_or_in_bytes() {
        for (bytes, text) in
            [(4 << 20, "4 MB"), (1 << 20, "1 MB"), (0x18_0000, "1572864 bytes"), (0, "0 bytes")]
        {
            assert_eq!(amount(bytes), text);
        }
    }
}
