//! What would change in a board's stored settings, as lines to read.

use crate::model::{NvsEdit, NvsPlan, NvsSpace};
use crate::text::sanitize;
use crate::ui::line;

use super::board::{fact, range, target};
use super::body::ReviewBody;
use super::body_line::{BodyLine, Ink, LinePiece, LineRole};

/// Names of entries are aligned up to that width.
const ALIGNED: usize = 24;

/// The facts of a change of stored settings.
#[must_use]
pub fn editing(plan: &NvsPlan) -> ReviewBody {
    let mut lines = target(&plan.board);
    lines.push(fact("rewrites", range(&plan.region), Ink::Warning));
    let NvsSpace { used, of, damaged } = plan.space;
    lines.push(fact("room", format!("{used} of {of} entries are used afterwards"), Ink::Plain));
    if damaged > 0 {
        let told = format!("{damaged} damaged entries are removed; the firmware skips them too");
        lines.push(fact("damage", told, Ink::Warning));
    }
    lines.push(BodyLine::of_pieces(LineRole::Note, Vec::new()));
    let heading = "what changes, each as namespace:key; everything else stays";
    lines.push(BodyLine::of_pieces(LineRole::Note, vec![LinePiece::new(heading, Ink::Dim)]));
    let names: Vec<String> =
        plan.edits.iter().map(|edit| sanitize::line(&edit.name()).into_owned()).collect();
    let widest = names.iter().map(|name| line::width(name)).max().unwrap_or_default().min(ALIGNED);
    lines.extend(plan.edits.iter().zip(names).map(|(edit, name)| entry(edit, &name, widest)));
    ReviewBody { lines, digits: 1, ..ReviewBody::default() }
}

fn entry(edit: &NvsEdit, name: &str, widest: usize) -> BodyLine {
    let sign = match (&edit.before, &edit.after) {
        (None, _) => "+ ",
        (Some(_), Some(_)) => "~ ",
        (Some(_), None) => "− ",
    };
    let room = " ".repeat(widest.saturating_sub(line::width(name)));
    let mut pieces = vec![LinePiece::new(format!("{sign}{name}{room}  "), Ink::Plain)];
    let clean = |text: &str| sanitize::line(text).into_owned();
    if let Some(before) = &edit.before {
        pieces.push(LinePiece::new(format!("{} ", before.kind.as_str()), Ink::Dim));
        pieces.push(LinePiece::new(clean(&before.shown), Ink::Plain));
        pieces.push(LinePiece::new(" → ", Ink::Dim));
    }
    match &edit.after {
        Some(after) => {
            if edit.before.as_ref().is_none_or(|before| before.kind != after.kind) {
                pieces.push(LinePiece::new(format!("{} ", after.kind.as_str()), Ink::Dim));
            }
            pieces.push(LinePiece::new(clean(&edit.shown), Ink::Plain));
        }
        None => pieces.push(LinePiece::new("removed", Ink::Warning)),
    }
    BodyLine::of_pieces(LineRole::Fact, pieces)
}
