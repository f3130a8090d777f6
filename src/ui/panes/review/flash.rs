//! What a flash would write where, as lines to read.

use crate::model::FlashPlan;
use crate::text::sanitize;
use crate::ui::line;

use super::body::Body;
use super::body_line::{BodyLine, Ink, LineRole, Piece};

/// The facts of a flash.
#[must_use]
pub fn body(plan: &FlashPlan) -> Body {
    let fact = |name: &str, value: String, ink| {
        let name = Piece::new(format!("{name:<9}"), Ink::Dim);
        let value = sanitize::line(&value).into_owned();
        BodyLine::of_pieces(LineRole::Fact, vec![name, Piece::new(value, ink)])
    };
    let board = &plan.board;
    let label = if board.simulated && !board.label.contains("virtual") {
        format!("{} (simulated) · {}", board.label, board.chip)
    } else {
        format!("{} · {}", board.label, board.chip)
    };
    let mut lines = vec![
        fact("board", label, Ink::Plain),
        fact("port", board.port.clone(), Ink::Plain),
        fact("build", format!("#{}", plan.build), Ink::Plain),
    ];
    lines.push(if plan.touches_boot {
        fact("boot", "bootloader or partition table is written too".to_owned(), Ink::Warning)
    } else {
        fact("boot", "bootloader and partition table stay".to_owned(), Ink::Plain)
    });
    lines.push(BodyLine::of_pieces(LineRole::Note, Vec::new()));
    let heading = "   offset       bytes  hash      image";
    lines.push(BodyLine::of_pieces(LineRole::Note, vec![Piece::new(heading, Ink::Dim)]));
    for image in &plan.images {
        let row = format!(
            "{:>9}  {:>10}  {}  ",
            format!("0x{:x}", image.offset),
            line::grouped(image.bytes),
            image.hash.short()
        );
        let file = sanitize::line(&image.file).into_owned();
        let pieces = vec![Piece::new(row, Ink::Plain), Piece::new(file, Ink::Plain)];
        lines.push(BodyLine::of_pieces(LineRole::Fact, pieces));
    }
    let total = format!("{:>9}  {:>10}", "in all", line::grouped(plan.total_bytes()));
    lines.push(BodyLine::of_pieces(LineRole::Note, vec![Piece::new(total, Ink::Dim)]));
    Body { lines, digits: 1, ..Body::default() }
}
