//! What a flash would write where, as lines to read.

use crate::model::{FlashFacts, FlashPlan, Landing};
use crate::text::sanitize;
use crate::ui::line;

use super::board::{self, fact};
use super::body::Body;
use super::body_line::{BodyLine, Ink, LineRole, Piece};

/// The facts of a flash.
#[must_use]
pub fn body(plan: &FlashPlan, facts: Option<&FlashFacts>) -> Body {
    let mut lines = board::target(&plan.board);
    lines.push(fact("build", format!("#{}", plan.build), Ink::Plain));
    lines.push(if plan.touches_boot {
        fact("boot", "bootloader or partition table is written too".to_owned(), Ink::Warning)
    } else {
        fact("boot", "bootloader and partition table stay".to_owned(), Ink::Plain)
    });
    lines.push(BodyLine::of_pieces(LineRole::Note, Vec::new()));
    let heading = "   offset       bytes  hash      image";
    lines.push(BodyLine::of_pieces(LineRole::Note, vec![Piece::new(heading, Ink::Dim)]));
    for (place, image) in plan.images.iter().enumerate() {
        let row = format!(
            "{:>9}  {:>10}  {}  ",
            format!("0x{:x}", image.offset),
            line::grouped(image.bytes),
            image.hash.short()
        );
        let file = sanitize::line(&image.file).into_owned();
        let mut pieces = vec![Piece::new(row, Ink::Plain), Piece::new(file, Ink::Plain)];
        pieces.extend(facts.and_then(|facts| facts.landings.get(place)).map(landing));
        lines.push(BodyLine::of_pieces(LineRole::Fact, pieces));
    }
    let total = format!("{:>9}  {:>10}", "in all", line::grouped(plan.total_bytes()));
    lines.push(BodyLine::of_pieces(LineRole::Note, vec![Piece::new(total, Ink::Dim)]));
    lines.extend(facts.map(memory).unwrap_or_default());
    Body { lines, digits: 1, ..Body::default() }
}

/// Where an image comes to lie, and whether it fits.
fn landing(landing: &Landing) -> Piece {
    let place = sanitize::line(&landing.place).into_owned();
    match (landing.place.is_empty(), landing.overflow) {
        (true, _) => Piece::new("  outside of every partition", Ink::Warning),
        (false, 0) => Piece::new(format!("  → {place}"), Ink::Dim),
        (false, bytes) => {
            let over = line::grouped(bytes);
            Piece::new(format!("  → {place}: {over} bytes too long"), Ink::Warning)
        }
    }
}

/// What is erased, and the partition table with what of it is written.
fn memory(facts: &FlashFacts) -> Vec<BodyLine> {
    let mut lines = vec![BodyLine::of_pieces(LineRole::Note, Vec::new())];
    for landing in &facts.landings {
        let range = format!("0x{:x} – 0x{:x}", landing.erased_from, landing.erased_to);
        lines.push(fact("erases", range, Ink::Plain));
    }
    lines.push(BodyLine::of_pieces(LineRole::Note, Vec::new()));
    lines.extend(table(facts, "written"));
    lines
}

/// The partition table, each partition that is touched marked with `what` happens to it.
pub(super) fn table(facts: &FlashFacts, what: &str) -> Vec<BodyLine> {
    let dim = |text: String| BodyLine::of_pieces(LineRole::Note, vec![Piece::new(text, Ink::Dim)]);
    let source = sanitize::line(&facts.source).into_owned();
    let mut lines = vec![dim(format!("   offset       bytes  partition  ({source})"))];
    for part in &facts.partitions {
        let end = u64::from(part.offset) + u64::from(part.bytes);
        let is_written = facts
            .landings
            .iter()
            .any(|landing| u64::from(landing.erased_from) < end && landing.erased_to > part.offset);
        let text = format!(
            "{:>9}  {:>10}  {} · {} {}",
            format!("0x{:x}", part.offset),
            line::grouped(u64::from(part.bytes)),
            sanitize::line(&part.label),
            sanitize::line(&part.kind),
            sanitize::line(&part.subtype),
        );
        let mark = if is_written { format!("  ← {what}") } else { String::new() };
        let ink = if is_written { Ink::Plain } else { Ink::Dim };
        let pieces = vec![Piece::new(text, ink), Piece::new(mark, Ink::Warning)];
        lines.push(BodyLine::of_pieces(LineRole::Note, pieces));
    }
    lines
}
