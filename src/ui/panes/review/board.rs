//! What would be sent to a board, and what would be erased on it, as lines to read.

use crate::model::{BoardInfo, ErasePlan, FlashFacts, FlashRegion, ReadPlan, SendPlan};
use crate::text::sanitize;
use crate::ui::line;

use super::body::ReviewBody;
use super::body_line::{BodyLine, Ink, LinePiece, LineRole};
use super::flash;

/// A statement that belongs to what is decided.
pub(super) fn fact(name: &str, value: String, ink: Ink) -> BodyLine {
    let name = LinePiece::new(format!("{name:<9}"), Ink::Dim);
    let value = sanitize::line(&value).into_owned();
    BodyLine::of_pieces(LineRole::Fact, vec![name, LinePiece::new(value, ink)])
}

/// The board that something is done to.
pub(super) fn target(board: &BoardInfo) -> Vec<BodyLine> {
    let simulated =
        if board.simulated && !board.label.contains("virtual") { " (simulated)" } else { "" };
    let chip = if board.chip.is_empty() { String::new() } else { format!(" · {}", board.chip) };
    vec![
        fact("board", format!("{}{simulated}{chip}", board.label), Ink::Plain),
        fact("port", board.port.clone(), Ink::Plain),
    ]
}

fn empty() -> BodyLine {
    BodyLine::of_pieces(LineRole::Note, Vec::new())
}

/// The facts of an erasing.
#[must_use]
pub fn erasing(plan: &ErasePlan, facts: Option<&FlashFacts>) -> ReviewBody {
    let mut lines = target(&plan.board);
    match &plan.region {
        None => {
            let what = match plan.board.simulated {
                true => "all of its memory: program and settings",
                false => "the whole flash: bootloader, partition table, program and settings",
            };
            lines.push(fact("erases", what.to_owned(), Ink::Warning));
            lines.push(fact("then", "nothing runs until it is flashed".to_owned(), Ink::Plain));
        }
        Some(region) => lines.push(fact("erases", range(region), Ink::Warning)),
    }
    if let Some(facts) = facts {
        lines.push(empty());
        lines.extend(flash::partitions(facts, "erased"));
    }
    ReviewBody { lines, digits: 1, ..ReviewBody::default() }
}

/// E.g. `nvs · 0x9000 – 0xf000 · 24,576 bytes`.
pub(super) fn range(region: &FlashRegion) -> String {
    let end = u64::from(region.offset) + u64::from(region.bytes);
    let bytes = line::grouped(u64::from(region.bytes));
    format!("{} · 0x{:x} – 0x{end:x} · {bytes} bytes", region.name(), region.offset)
}

/// The facts of a reading.
#[must_use]
pub fn reading(plan: &ReadPlan) -> ReviewBody {
    let mut lines = target(&plan.board);
    lines.push(fact("reads", range(&plan.region), Ink::Plain));
    lines.push(fact("into", plan.path.as_str().to_owned(), Ink::Plain));
    lines.push(empty());
    let meanwhile = match plan.board.simulated {
        true => "The firmware keeps running.",
        false => "The board is restarted before and after.",
    };
    let notes = [meanwhile, "Stored settings may hold passwords: the file will hold them too."];
    lines.extend(
        notes.map(|note| BodyLine::of_pieces(LineRole::Note, vec![LinePiece::new(note, Ink::Dim)])),
    );
    ReviewBody { lines, digits: 1, ..ReviewBody::default() }
}

/// The facts of a sending: every character of it, those that cannot be seen as escapes.
#[must_use]
pub fn sending(plan: &SendPlan) -> ReviewBody {
    let mut lines = target(&plan.board);
    lines.push(fact("bytes", line::grouped(plan.text.len() as u64), Ink::Plain));
    lines.push(empty());
    let heading = "the text to send, line by line, with line ends";
    lines.push(BodyLine::of_pieces(LineRole::Note, vec![LinePiece::new(heading, Ink::Dim)]));
    lines.extend(plan.visible().into_iter().map(|text| {
        let text = sanitize::line(&text).into_owned();
        BodyLine::of_pieces(LineRole::Fact, vec![LinePiece::new(text, Ink::Plain)])
    }));
    ReviewBody { lines, digits: 1, ..ReviewBody::default() }
}
