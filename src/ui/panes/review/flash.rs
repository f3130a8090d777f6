//! What a flash would write where, as lines to read.
//!
//! All of it comes from the facts that the checks were made of; an earlier journal has fewer.

use crate::model::{BoardFacts, Facts, FlashFacts, FlashImage, FlashPlan, Landing};
use crate::text::sanitize;
use crate::ui::line;

use super::board::{self, fact};
use super::body::ReviewBody;
use super::body_line::{BodyLine, Ink, LinePiece, LineRole};
use super::table::{Align, Cell, TableStep, table};

/// The facts of a flash.
#[must_use]
pub fn body(plan: &FlashPlan, facts: &Facts) -> ReviewBody {
    let flash = facts.flash.as_ref();
    let mut lines = board::target(&plan.board);
    lines.extend(facts.board.as_ref().map(about).unwrap_or_default());
    lines.push(fact("build", format!("#{}", plan.build), Ink::Plain));
    lines.push(boot(plan, flash));
    lines.extend(facts.board.as_ref().and_then(compared));
    lines.push(empty());
    lines.extend(images(plan, flash));
    lines.extend(flash.map(memory).unwrap_or_default());
    ReviewBody { lines, digits: 1, ..ReviewBody::default() }
}

fn empty() -> BodyLine {
    BodyLine::of_pieces(LineRole::Note, Vec::new())
}

/// What the board said of itself.
fn about(board: &BoardFacts) -> Vec<BodyLine> {
    let mut said = Vec::new();
    said.extend((!board.revision.is_empty()).then(|| board.revision.clone()));
    // Sizes of flash are told in units of 1,048,576 bytes.
    said.extend(board.flash_bytes.map(|bytes| format!("{} MB of flash", bytes >> 20)));
    said.extend((!board.mac.is_empty()).then(|| board.mac.clone()));
    let is_on = |state: Option<bool>| state == Some(true);
    said.extend(is_on(board.secure_boot).then(|| "secure boot is on".to_owned()));
    said.extend(is_on(board.flash_encryption).then(|| "flash is encrypted".to_owned()));
    if said.is_empty() { Vec::new() } else { vec![fact("chip", said.join(" · "), Ink::Plain)] }
}

/// What happens to what the board starts from.
fn boot(plan: &FlashPlan, flash: Option<&FlashFacts>) -> BodyLine {
    let landings = flash.map_or(&[][..], |flash| flash.landings.as_slice());
    let mut areas: Vec<&str> = Vec::new();
    for area in landings.iter().flat_map(|landing| &landing.touches) {
        if area.is_boot() && !areas.contains(&area.name()) {
            areas.push(area.name());
        }
    }
    match (areas.as_slice(), plan.touches_boot) {
        ([], Some(true)) => {
            fact("boot", "bootloader or partition table is written too".to_owned(), Ink::Warning)
        }
        ([], _) => fact("boot", "bootloader and table are kept".to_owned(), Ink::Plain),
        (areas, _) => {
            let verb = if areas.len() == 1 { "is" } else { "are" };
            fact("boot", format!("{} {verb} written", areas.join(" and ")), Ink::Warning)
        }
    }
}

/// Whether the board was asked what it holds.
fn compared(board: &BoardFacts) -> Option<BodyLine> {
    (!board.not_asked.is_empty()).then(|| {
        let why = &board.not_asked;
        fact("compared", format!("no: {why}"), Ink::Dim)
    })
}

/// The images by rising offset.
fn images(plan: &FlashPlan, flash: Option<&FlashFacts>) -> Vec<BodyLine> {
    let dim = |text: &str| Cell::new(text, Ink::Dim);
    let heading = ["offset", "bytes", "hash", "image", ""];
    let mut rows = vec![(LineRole::Note, heading.iter().map(|text| dim(text)).collect())];
    let has_table = flash.is_some_and(|flash| !flash.partitions.is_empty());
    for (place, image) in plan.images.iter().enumerate() {
        let ink = if image.same { Ink::Dim } else { Ink::Plain };
        let file = sanitize::line(&image.file).into_owned();
        let short = file.rsplit('/').next().unwrap_or_default().to_owned();
        let landing = flash.and_then(|flash| flash.landings.get(place));
        rows.push((
            LineRole::Fact,
            vec![
                Cell::new(format!("0x{:x}", image.offset), ink),
                Cell::new(line::grouped(image.bytes), ink),
                Cell::new(image.hash.short(), ink),
                Cell::new(file, ink).or(short),
                becomes(image, landing.filter(|_| has_table)),
            ],
        ));
    }
    let total = line::grouped(plan.total_bytes());
    rows.push((LineRole::Note, vec![dim("written"), dim(&total), dim(""), dim(""), dim("")]));
    let aligns = [Align::Right, Align::Right, Align::Left, Align::Left, Align::Left];
    table(
        &rows,
        &aligns,
        &[TableStep::Drop(2), TableStep::Shorten(3), TableStep::Shorten(4), TableStep::Drop(1)],
    )
}

/// What becomes of an image: its partition and whether it fits; empty where no partition table is
/// known.
fn becomes(image: &FlashImage, landing: Option<&Landing>) -> Cell {
    if image.same {
        return Cell::new("same as on the board, skipped", Ink::Dim).or("same, skipped");
    }
    let Some(landing) = landing else { return Cell::new("", Ink::Dim) };
    let place = sanitize::line(&landing.place).into_owned();
    match (landing.place.is_empty(), landing.overflow) {
        (true, _) => Cell::new("outside of every partition", Ink::Warning).or("outside"),
        (false, 0) => Cell::new(format!("→ {place}"), Ink::Dim),
        (false, bytes) => {
            let over = line::grouped(bytes);
            Cell::new(format!("→ {place}: {over} bytes too long"), Ink::Warning)
                .or(format!("→ {place}: too long"))
        }
    }
}

/// What is erased, and the partition table with what of it is written.
fn memory(facts: &FlashFacts) -> Vec<BodyLine> {
    let mut lines = vec![empty()];
    for landing in facts.landings.iter().filter(|landing| landing.erased_to > landing.erased_from) {
        let range = format!("0x{:x} – 0x{:x}", landing.erased_from, landing.erased_to);
        lines.push(fact("erases", range, Ink::Plain));
    }
    if !facts.partitions.is_empty() {
        lines.push(empty());
        lines.extend(partitions(facts, "written"));
    }
    lines
}

/// The partition table, each partition that is touched marked with `what` happens to it.
pub(super) fn partitions(facts: &FlashFacts, what: &str) -> Vec<BodyLine> {
    let dim = |text: &str| Cell::new(text, Ink::Dim);
    let source = sanitize::line(&facts.source).into_owned();
    let heading = vec![dim("offset"), dim("bytes"), dim("partition"), dim("type"), dim("")];
    let title = vec![LinePiece::new(format!("partitions of {source}"), Ink::Dim)];
    let mut rows = vec![(LineRole::Note, heading)];
    for part in &facts.partitions {
        let end = u64::from(part.offset) + u64::from(part.bytes);
        let is_touched = facts
            .landings
            .iter()
            .any(|landing| u64::from(landing.erased_from) < end && landing.erased_to > part.offset);
        let ink = if is_touched { Ink::Plain } else { Ink::Dim };
        let (kind, subtype) = (sanitize::line(&part.kind), sanitize::line(&part.subtype));
        let mark = if is_touched { format!("← {what}") } else { String::new() };
        rows.push((
            LineRole::Note,
            vec![
                Cell::new(format!("0x{:x}", part.offset), ink),
                Cell::new(line::grouped(u64::from(part.bytes)), ink),
                Cell::new(sanitize::line(&part.label).into_owned(), ink),
                Cell::new(format!("{kind} {subtype}"), ink),
                Cell::new(mark, Ink::Warning),
            ],
        ));
    }
    let aligns = [Align::Right, Align::Right, Align::Left, Align::Left, Align::Left];
    let mut lines = vec![BodyLine::of_pieces(LineRole::Note, title)];
    lines.extend(table(&rows, &aligns, &[TableStep::Drop(1), TableStep::Drop(3)]));
    lines
}
