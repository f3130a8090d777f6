//! What a flash does to the board's memory: judged by addresses and contents, never by file names.
//!
//! Where each image lands was computed once, in the facts; what is on the screen, what is found
//! here and what has to be typed come from that. Must not look at the board.

use super::images::{self, Read};
use super::partition_data::{amount, keeps_data};
use super::{Subject, scope};
use crate::model::{
    Check, CheckKind, Finding, FindingLevel, FlashArea, FlashFacts, FlashImage, FlashPlan, Landing,
    SendPlan,
};
use crate::toolchain::esp_image::{Chip, erased};
use crate::toolchain::flash_map::{SECTOR, addresses};

/// The checks of a flash.
pub(super) fn find(plan: &FlashPlan, subject: &Subject<'_>) -> Vec<Check> {
    let facts = subject.facts;
    let mut checks = vec![boot(plan, subject)];
    checks.extend(scope::of_board(subject));
    let Some(flash) = &facts.flash else { return checks };
    if plan.board.simulated && Chip::named(&plan.board.chip).is_some() {
        // Its program is one of this machine, whatever its size.
        return checks;
    }
    let contents: Vec<Read> =
        plan.images.iter().map(|image| images::read(image, subject)).collect();
    let size = flash_size(plan, subject, &contents);
    let mut fits = overlaps(plan);
    for ((image, landing), content) in plan.images.iter().zip(&flash.landings).zip(&contents) {
        if !image.same {
            fits.extend(landed(image, landing, flash, content));
            fits.extend(beyond(image, size.as_ref()));
        }
    }
    fits.extend(table_beyond(flash, size.as_ref()));
    checks.push(Check::with(CheckKind::Fits, fits));
    checks.push(Check::with(CheckKind::Images, images::find(plan, flash, &contents, subject)));
    checks.extend(options(plan));
    checks
}

fn stop(text: impl Into<String>) -> Finding {
    Finding::new(FindingLevel::Stop, text)
}

/// What the board starts from. It needs a typed phrase.
fn boot(plan: &FlashPlan, subject: &Subject<'_>) -> Check {
    let chip = &plan.board.chip;
    let mut found = Vec::new();
    if plan.options.iter().any(|option| ERASES_ALL.contains(&option.as_str())) {
        let text = "erases the whole flash before it writes, stored settings too";
        found.push(stop(text).phrase(format!("erase {chip} all")));
    }
    let not_compared = subject.facts.board.as_ref().map(|board| board.not_asked.as_str());
    let landings = subject.facts.flash.iter().flat_map(|flash| &flash.landings);
    for landing in landings {
        let areas: Vec<String> = landing
            .touches
            .iter()
            .filter(|area| area.is_boot())
            .map(|area| format!("the {}", area.name()))
            .collect();
        if areas.is_empty() {
            continue;
        }
        let (what, Landing { file, erased_from, erased_to, .. }) = (areas.join(" and "), landing);
        let text = format!("writes {what}: `{file}` erases 0x{erased_from:x} to 0x{erased_to:x}");
        let advice = match not_compared {
            Some(why) if !why.is_empty() => format!(
                "Not compared with the board ({why}). If it is broken, the board does not start."
            ),
            _ => "If it is broken, the board does not start.".to_owned(),
        };
        let finding = Finding::new(FindingLevel::Warning, text).advice(advice);
        found.push(finding.phrase(format!("flash {chip} boot")));
    }
    Check::with(CheckKind::BootUntouched, found)
}

/// Options by which everything is erased.
const ERASES_ALL: [&str; 3] = ["--erase-all", "--erase_all", "-e"];

/// Options by which checks of the loader are passed over.
const FORCES: [&str; 4] = [
    "--force",
    "--ignore-flash-encryption-efuse-setting",
    "--ignore-flash-enc-efuse",
    "--encrypt-files",
];

/// What the loader is told besides.
fn options(plan: &FlashPlan) -> Option<Check> {
    let mut found = Vec::new();
    for option in &plan.options {
        if FORCES.contains(&option.as_str()) {
            found.push(stop(format!("passes `{option}` to the loader, which then checks less")));
        } else if option == "--encrypt" {
            let text = "makes the chip encrypt what is written: this uses its flash encryption";
            let chip = &plan.board.chip;
            found.push(stop(text).phrase(format!("encrypt {chip} flash")));
        }
    }
    (!found.is_empty()).then(|| Check::with(CheckKind::Irreversible, found))
}

/// Commands that change the chip for good, as `espefuse` and consoles of firmware know them.
const BURNS: [&str; 8] = [
    "espefuse",
    "burn_efuse",
    "burn_key",
    "burn_bit",
    "burn_block",
    "burn_custom_mac",
    "protect_efuse",
    "set_flash_voltage",
];

/// The check of what is sent to a board.
pub(super) fn sent(plan: &SendPlan) -> Option<Check> {
    let text = plan.text.to_ascii_lowercase().replace('-', "_");
    let found = BURNS.iter().find(|command| text.contains(*command));
    let is_efuse =
        text.contains("efuse") && ["burn", "write", "set"].iter().any(|w| text.contains(w));
    let command = found.copied().or(is_efuse.then_some("efuse"))?;
    let finding = stop(format!("sends `{command}`, which burns eFuses permanently"))
        .phrase(format!("burn {} efuses", plan.board.chip));
    Some(Check::with(CheckKind::Irreversible, vec![finding]))
}

/// Images that get in each other's way.
fn overlaps(plan: &FlashPlan) -> Vec<Finding> {
    let range = |image: &FlashImage| erased(image.offset, image.bytes, SECTOR);
    let mut found = Vec::new();
    for (place, image) in plan.images.iter().enumerate() {
        for other in plan.images.iter().skip(place + 1) {
            let (a, b) = (range(image), range(other));
            if a.start < b.end && b.start < a.end {
                let at = a.start.max(b.start);
                let (one, two) = (&image.file, &other.file);
                let text = format!("writes `{one}` and `{two}` over each other from 0x{at:x} on");
                found.push(stop(text));
            }
        }
    }
    found
}

/// One image against the area it lands in.
fn landed(
    image: &FlashImage,
    landing: &Landing,
    flash: &FlashFacts,
    content: &Read,
) -> Vec<Finding> {
    let (file, offset) = (&image.file, image.offset);
    let mut found = Vec::new();
    if !offset.is_multiple_of(SECTOR) {
        let text = format!(
            "`{file}` starts within a sector, at 0x{offset:x}: the data before it from 0x{:x} on is erased",
            landing.erased_from
        );
        found.push(stop(text));
    }
    if landing.place.is_empty() {
        if !flash.partitions.is_empty() {
            found.push(stop(format!("`{file}` is outside of every partition, at 0x{offset:x}")));
        }
        return found;
    }
    let others: Vec<&FlashArea> =
        landing.touches.iter().filter(|area| area.name() != landing.place).collect();
    if content.is_merged(image, flash) {
        found.extend(lost(file, &others, flash));
    } else if landing.overflow > 0 {
        let Landing { place, overflow, .. } = landing;
        let text = match others.is_empty() {
            true => format!("`{file}` is {overflow} bytes too long for {place}"),
            false => format!(
                "`{file}` is {overflow} bytes too long for {place} and runs into {}",
                names(&others)
            ),
        };
        found.push(stop(text));
    } else if !others.is_empty() {
        found.push(stop(format!("`{file}` erases the beginning of {}", names(&others))));
    }
    found
}

/// What a single image that holds everything writes over.
fn lost(file: &str, others: &[&FlashArea], flash: &FlashFacts) -> Option<Finding> {
    let keeps = |area: &&&FlashArea| {
        let partition = flash.partitions.iter().find(|partition| partition.label == area.name());
        partition.is_some_and(keeps_data)
    };
    let kept: Vec<&FlashArea> = others.iter().filter(keeps).copied().collect();
    (!kept.is_empty()).then(|| {
        let text = format!("writes `{file}` over {}: the stored data is lost", names(&kept));
        stop(text).advice("Flash the parts of the build, or read the partition back first.")
    })
}

fn names(areas: &[&FlashArea]) -> String {
    let names: Vec<&str> = areas.iter().map(|area| area.name()).collect();
    names.join(", ")
}

/// How large the flash is, and how that is known.
struct Size {
    bytes: u64,
    source: String,
}

/// What the board says; else what the images are made for.
fn flash_size(plan: &FlashPlan, subject: &Subject<'_>, contents: &[Read]) -> Option<Size> {
    let on_board = subject.facts.board.as_ref().and_then(|board| board.flash_bytes);
    if let Some(bytes) = on_board {
        return Some(Size { bytes, source: format!("the board has {} of flash", amount(bytes)) });
    }
    let made_for = plan.images.iter().zip(contents).filter(|(image, _)| !image.same);
    let bytes = made_for.filter_map(|(_, content)| content.header()?.flash_bytes).min()?;
    let source = format!("the images are made for {} of flash", amount(bytes));
    Some(Size { bytes, source })
}

fn beyond(image: &FlashImage, size: Option<&Size>) -> Option<Finding> {
    let (end, size) = (u64::from(image.offset).saturating_add(image.bytes), size?);
    (end > size.bytes).then(|| {
        let text = format!("`{}` ends at 0x{end:x}, and {}", image.file, size.source);
        stop(text).advice("Choose the flash size of this board and build again.")
    })
}

fn table_beyond(flash: &FlashFacts, size: Option<&Size>) -> Option<Finding> {
    let last = flash.partitions.iter().max_by_key(|partition| addresses(partition).end)?;
    let (end, size) = (addresses(last).end, size?);
    (end > size.bytes).then(|| {
        let (label, source) = (&last.label, &size.source);
        let text = format!("the partition `{label}` ends at 0x{end:x}, and {source}");
        stop(text).advice("Choose a partition table for this flash size and build again.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BoardInfo, BuildId, ContentHash, FlashFacts, Timestamp};

    fn image(file: &str, offset: u32, bytes: u64) -> FlashImage {
        FlashImage { file: file.into(), offset, bytes, hash: ContentHash::of(b""), same: false }
    }

    fn over_each_other(images: [FlashImage; 2]) -> usize {
        let board = BoardInfo {
            label: String::new(),
            chip: "esp32".into(),
            port: String::new(),
            simulated: false,
        };
        overlaps(&FlashPlan::new(board, images.into(), BuildId(1), Timestamp(0))).len()
    }

    #[test]
    fn images_that_share_a_sector_overlap_and_those_side_by_side_do_not() {
        let first = || image("a.bin", 0x1_0000, 0x1001);
        assert_eq!(over_each_other([first(), image("b.bin", 0x1_1000, 16)]), 1);
        assert_eq!(over_each_other([first(), image("b.bin", 0x1_2000, 16)]), 0);
        assert_eq!(over_each_other([image("b.bin", 0x1_2000, 16), first()]), 0);
    }

    #[test]
    fn what_ends_with_the_flash_is_not_beyond_it() {
        let size = Size { bytes: 0x40_0000, source: "the board has 4 MB of flash".into() };
        assert!(beyond(&image("a.bin", 0x3f_0000, 0x1_0000), Some(&size)).is_none());
        assert!(beyond(&image("a.bin", 0x3f_0000, 0x1_0001), Some(&size)).is_some());
        let table = |bytes| {
            let partition = crate::model::Partition {
                label: "storage".into(),
                kind: "data".into(),
                subtype: "spiffs".into(),
                offset: 0x3f_0000,
                bytes,
            };
            FlashFacts {
                source: String::new(),
                partitions: vec![partition],
                table_offset: None,
                landings: Vec::new(),
            }
        };
        assert!(table_beyond(&table(0x1_0000), Some(&size)).is_none());
        assert!(table_beyond(&table(0x1_1000), Some(&size)).is_some());
    }
}
