//! Numbers like `[2]` in an answer that lead to the sources its turn was given.
//!
//! Owns where on the screen such a number stands. Must not know how a source is opened.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use crate::text::citations::{Citation, citations};
use crate::ui::line;
use crate::ui::markdown::{CellRow, MarkdownDocument};
use crate::ui::role::Role;
use crate::view::{CallState, TurnView};

use super::row::{CitedAt, FoldItem, Passage};

/// A number of a source, where it stands in the rows of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CitedNumber {
    pub row: usize,
    /// Columns of the row, counted from the left end of the text.
    pub columns: Range<usize>,
    pub item: FoldItem,
}

/// The sources that a turn was given, by their numbers; of two with one number the newer counts.
pub(super) fn given(turn: &TurnView) -> BTreeMap<u64, Passage> {
    let mut given = BTreeMap::new();
    for call in turn.calls() {
        let CallState::Done { result, .. } = &call.state else { continue };
        let chunks = result.get("chunks").and_then(Value::as_array).into_iter().flatten();
        given.extend(chunks.enumerate().filter_map(|(place, chunk)| {
            let number = chunk.get("number").and_then(Value::as_u64)?;
            Some((number, (call.call, place)))
        }));
    }
    given
}

/// The sources that a part of a turn cites, as they come; each place is a stop of its own.
pub(super) fn in_document(
    part: usize,
    (document, source): (&MarkdownDocument, &str),
    given: &BTreeMap<u64, Passage>,
) -> Vec<CitedNumber> {
    if given.is_empty() {
        return Vec::new();
    }
    let rows: Vec<String> =
        (0..document.rows()).map(|row| prose(&document.row(source, row))).collect();
    let starts: Vec<usize> = rows
        .iter()
        .scan(0, |next, row| {
            let start = *next;
            *next += row.len() + 1;
            Some(start)
        })
        .collect();
    // In one piece, because a row may end between the brackets.
    let all = rows.join("\n");
    let known = citations(&all).into_iter().filter_map(|it| Some((*given.get(&it.number)?, it)));
    let stop = |(nth, (passage, Citation { place, .. })): (usize, (Passage, Citation))| {
        let row = starts.partition_point(|start| *start <= place.start).checked_sub(1)?;
        let (start, text) = (*starts.get(row)?, rows.get(row)?);
        let end = place.end.min(start + text.len()) - start;
        let left = line::width(text.get(..place.start - start)?);
        let columns = left..line::width(text.get(..end)?);
        let item = FoldItem::Cited(passage, CitedAt { part, nth });
        Some(CitedNumber { row, columns, item })
    };
    known.enumerate().filter_map(stop).collect()
}

/// The text of a row, in which code has no brackets; as wide as it was.
fn prose(row: &CellRow) -> String {
    let is_code = |role| row.fill.is_some() || role == Role::InlineCode;
    let pieces = row.pieces.iter().map(|piece| match is_code(piece.face.role) {
        true => piece.text.replace('[', "(").replace('【', "(("),
        false => piece.text.clone(),
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CallId;

    fn found(text: &str, width: usize) -> Vec<(usize, Range<usize>, usize)> {
        let given = (1..=5).map(|number| (number, (CallId(4), number as usize - 1))).collect();
        let mut document = MarkdownDocument::new(width);
        document.update(text);
        let cited = in_document(0, (&document, text), &given);
        let place = |it: CitedNumber| match it.item {
            FoldItem::Cited((_, place), _) => (it.row, it.columns, place + 1),
            other => panic!("{other:?}"),
        };
        cited.into_iter().map(place).collect()
    }

    #[test]
    fn each_number_of_a_source_that_was_given_is_a_place_of_its_own() {
        assert_eq!(
            found("Probe ü [1][7]. See [3, 1].", 60),
            [(0, 8..11, 1), (0, 21..22, 3), (0, 24..25, 1)]
        );
        assert_eq!(found("a\n\nb [2]\n\n- [Source 3]", 60), [(2, 2..5, 2), (4, 2..12, 3)]);
    }

    #[test]
    fn brackets_may_go_over_two_rows() {
        assert_eq!(found("Probe it [Source 2].", 16), [(0, 9..16, 2)]);
    }

    #[test]
    fn code_cites_nothing() {
        assert_eq!(found("```c\nint a[3] = {0};\n```\nand `b[1]` [2]", 60), [(3, 9..12, 2)]);
    }
}
