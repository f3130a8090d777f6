//! What stands between an agent's words without being said by it: thoughts, calls that are made
//! again, and what a model was not given.

use crate::ui::line;
use crate::ui::markdown::StyledText;
use crate::ui::role::Role;
use crate::view::{RetryView, TrimView};

use super::row::{EntryRow, Right, RowContext, indented};

/// Bytes of a thought that are shown at most.
const MOST_SHOWN: usize = 64 << 10;

/// Pieces that are named when something was left out.
const MOST_NAMED: usize = 6;

/// The rows of a thought: one when folded.
pub(super) fn reasoning(text: &str, is_unfolded: bool, place: &RowContext<'_>) -> Vec<EntryRow> {
    let mark = if is_unfolded { "  ▾ " } else { "  ▸ " };
    let size = format!("thinking  {} characters", line::count(text.len() as u64));
    let head = vec![StyledText::new(mark, Role::Dim), StyledText::new(size, Role::Dim)];
    let mut rows = vec![EntryRow::new(head)];
    if is_unfolded {
        let start = text.len().saturating_sub(MOST_SHOWN);
        let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        if start > 0 {
            let cut = format!("… {} characters before are not shown", line::count(start as u64));
            rows.extend(indented(&cut, Role::Dim, place));
        }
        rows.extend(indented(text.get(start..).unwrap_or_default(), Role::Dim, place));
    }
    rows
}

/// The rows of a call that is made again.
pub(super) fn retry(view: &RetryView, place: &RowContext<'_>) -> Vec<EntryRow> {
    let RetryView { attempt, most, due, fault } = view;
    let text = format!("↻ try {attempt} of {most}: {}: {}", fault.what, fault.why);
    let room = RowContext { width: place.width.saturating_sub(10), ..*place };
    let mut rows = indented(&text, Role::Warn, &room);
    if let Some(first) = rows.first_mut() {
        first.right = Right::Countdown(*due);
    }
    rows
}

/// The rows on what a model was not given.
pub(super) fn trimmed(view: &TrimView, place: &RowContext<'_>) -> Vec<EntryRow> {
    let tokens: u64 = view.left_out.iter().map(|piece| piece.tokens).sum();
    let pieces = match view.left_out.len() {
        1 => "1 piece".to_owned(),
        pieces => format!("{pieces} pieces"),
    };
    let (left, given) = (line::count(tokens), line::count(view.tokens));
    let text = format!(
        "left out {pieces} of the conversation ({left} tokens); sent {given} of {} tokens",
        line::count(view.window)
    );
    let mut rows = indented(&text, Role::Warn, place);
    for piece in view.left_out.iter().take(MOST_NAMED) {
        let text = format!("· {} ({} tokens)", piece.what, line::count(piece.tokens));
        rows.extend(indented(&text, Role::Dim, place));
    }
    let more = view.left_out.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        rows.extend(indented(&format!("· and {more} more"), Role::Dim, place));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::ChatPane;
    use crate::model::TurnEvent;
    use crate::model::{Event, LeftOut, ModelEvent, TurnId, UserError};
    use crate::ui::action::Action;
    use crate::ui::panes::pane_bench::PaneBench;

    #[test]
    fn what_stands_beside_the_words_is_there_and_out_of_the_way() {
        let mut desk = PaneBench::new();
        let mut pane = ChatPane::default();
        let turn = TurnId(1);
        desk.record(Event::Turn(TurnEvent::Started { turn, agent: "Coder".into() }));
        let text = "let me see\u{1b}[31m what the pins are".to_owned();
        desk.record(Event::Model(ModelEvent::Reasoned { turn, text }));
        desk.record(Event::Turn(TurnEvent::TextAdded { turn, text: "Half an ans".into() }));
        let fault = UserError::new("host has a fault", "it said “no luck” (503)", "");
        let (attempt, most, wait_millis) = (2, 6, 9_000);
        desk.record(Event::Model(ModelEvent::Faulted { turn, attempt, most, wait_millis, fault }));
        let shown = desk.show(&mut pane, 60, 20);
        assert!(shown.contains("↻ try 2 of 6: host has a fault"), "{shown}");
        assert!(shown.contains("in 9 s") && !shown.contains("Half an ans"), "{shown}");
        desk.wait(4_500);
        let shown = desk.show(&mut pane, 60, 20);
        assert!(shown.contains("in 5 s"), "{shown}");
        let left_out = vec![LeftOut { what: "an old list".into(), tokens: 1_200 }];
        desk.record(Event::Model(ModelEvent::Trimmed {
            turn,
            left_out,
            tokens: 7_000,
            window: 8_000,
        }));
        let text = "let me see what the pins are".to_owned();
        desk.record(Event::Model(ModelEvent::Reasoned { turn, text }));
        let shown = desk.show(&mut pane, 60, 20);
        assert!(shown.contains("left out 1 piece") && shown.contains("an old list"), "{shown}");
        assert!(shown.contains("▸ thinking") && !shown.contains("the pins"), "{shown}");
        desk.press(&mut pane, Action::Open);
        let shown = desk.show(&mut pane, 60, 20);
        assert!(shown.contains("▾ thinking") && shown.contains("what the pins are"), "{shown}");
    }
}
