//! What stands between an agent's words without being said by it: thoughts, calls that are made
//! again, and what a model was not given.

use crate::text::sanitize;
use crate::ui::line;
use crate::ui::markdown::StyledText;
use crate::ui::panes::wrap::wrap_at_most;
use crate::ui::role::Role;
use crate::view::{RetryView, SummaryView, TrimView};

use super::row::{EntryRow, FoldItem, Right, RowContext, indented};

/// Bytes of a thought that are shown at most.
const MOST_SHOWN: usize = 64 << 10;

/// Columns of the time until a call is made again, and before what is indented.
const COUNTDOWN: usize = 10;
const INDENT: usize = 2;

/// Rows of a call that is made again at most.
const MOST_RETRY: usize = 3;

/// Pieces that are named when something was left out.
const MOST_NAMED: usize = 6;

/// The rows of a thought: one when folded.
pub(super) fn reasoning(text: &str, is_unfolded: bool, place: &RowContext<'_>) -> Vec<EntryRow> {
    let mark = if is_unfolded { "  ▾ " } else { "  ▸ " };
    let size = format!("thinking  {} characters", line::count(text.len() as u64));
    let head = vec![StyledText::new(mark, Role::Dim), StyledText::new(size, Role::Dim)];
    let mut rows = vec![EntryRow::new(head)];
    if is_unfolded {
        let start = text.ceil_char_boundary(text.len().saturating_sub(MOST_SHOWN));
        if start > 0 {
            let cut = format!("… {} characters before are not shown", line::count(start as u64));
            rows.extend(indented(&cut, Role::Dim, place));
        }
        rows.extend(indented(text.get(start..).unwrap_or_default(), Role::Dim, place));
    }
    rows
}

/// The rows of a call that is made again; all of the reason is told when the last try has failed.
pub(super) fn retry(view: &RetryView, place: &RowContext<'_>) -> Vec<EntryRow> {
    let RetryView { attempt, most, due, fault } = view;
    let lead = format!("↻ try {attempt} of {most}: ");
    let space = place.width.saturating_sub(COUNTDOWN + INDENT);
    let rest = space.saturating_sub(line::width(&lead));
    // Why it is tried again tells more than what could not be done.
    let whole = format!("{}: {}", fault.what, fault.why);
    let fits = line::width(&sanitize::line(&whole)) <= rest || fault.why.is_empty();
    let words = if fits { whole } else { fault.why.clone() };
    let rows = wrap_at_most(&sanitize::line(&format!("{lead}{words}")), space, MOST_RETRY);
    let row = |text: String| {
        let indent = StyledText::new(" ".repeat(INDENT), Role::Warn);
        EntryRow::new(vec![indent, StyledText::new(text, Role::Warn)])
    };
    let mut rows: Vec<EntryRow> = rows.into_iter().map(row).collect();
    if let Some(first) = rows.first_mut() {
        first.right = Right::Countdown(*due);
    }
    rows
}

/// The rows on an answer that cannot be used.
pub(super) fn refused(fault: &str, place: &RowContext<'_>) -> Vec<EntryRow> {
    let text = format!("✗ this answer cannot be used: {fault}");
    indented(&text, Role::Warn, place)
}

/// The rows on what a model was not given.
pub(super) fn trimmed(view: &TrimView, place: &RowContext<'_>) -> Vec<EntryRow> {
    let mut rows = indented(&trimmed_head(view), Role::Warn, place);
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

/// What a summary is, in one line.
pub(super) fn summary_head(view: &SummaryView) -> String {
    let count = view.summary.messages();
    let messages = if count == 1 { "message" } else { "messages" };
    match &view.summary.failed {
        Some(why) => format!("{count} {messages} could not be summarised: {}", why.why),
        None => {
            let tokens = line::count(view.summary.tokens);
            format!("{count} {messages} summarised for the agents ({tokens} tokens)")
        }
    }
}

/// What a model was not given, in one line.
pub(super) fn trimmed_head(view: &TrimView) -> String {
    let tokens: u64 = view.left_out.iter().map(|piece| piece.tokens).sum();
    let pieces = match view.left_out.len() {
        1 => "1 piece".to_owned(),
        pieces => format!("{pieces} pieces"),
    };
    let (left, given) = (line::count(tokens), line::count(view.tokens));
    format!(
        "left out {pieces} of the conversation ({left} tokens); sent {given} of {} tokens",
        line::count(view.window)
    )
}

/// The rows of a summary: one when folded, else what it says and what it replaces.
pub(super) fn summary(part: usize, view: &SummaryView, place: &RowContext<'_>) -> Vec<EntryRow> {
    let is_unfolded = place.unfolded.contains(&(place.entry, FoldItem::Summary(part)));
    let (mark, role) = match &view.summary.failed {
        Some(_) => ("✗ ", Role::Warn),
        None => (if is_unfolded { "▾ " } else { "▸ " }, Role::Dim),
    };
    let mut rows = indented(&format!("{mark}{}", summary_head(view)), role, place);
    if !is_unfolded || view.summary.failed.is_some() {
        return rows;
    }
    rows.extend(indented(&view.summary.text, Role::Text, place));
    rows.extend(indented("Replaced, in full above:", Role::Dim, place));
    for piece in &view.turns {
        let (agent, words) = match &piece.about {
            Some((agent, words)) => (agent.as_str(), words.as_str()),
            None => ("a turn", "no longer in memory; the replay has it"),
        };
        let count = format!("{:>5} ", piece.messages);
        let agent = line::clean(agent);
        let space = place.width.saturating_sub(line::width(&count) + line::width(&agent) + 4);
        let words = line::cut(&sanitize::line(words), space);
        let pieces = vec![
            StyledText::new(count, Role::Dim),
            StyledText::new(agent, Role::Link),
            StyledText::new(format!("  {words}"), Role::Dim),
        ];
        let item = piece.about.is_some().then_some(FoldItem::Summarised(piece.turn));
        rows.push(EntryRow { item, ..EntryRow::new(pieces) });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::ChatPane;
    use crate::model::TurnEvent;
    use crate::model::{
        ChatSummary, Event, LeftOut, ModelEvent, SummarisedTurn, TurnId, Usage, UserError,
    };
    use crate::ui::action::Action;
    use crate::ui::panes::pane_bench::PaneBench;

    #[test]
    fn what_stands_beside_the_words_is_there_and_out_of_the_way() {
        let mut desk = PaneBench::new();
        let mut pane = ChatPane::default();
        let turn = TurnId(1);
        desk.record(Event::Turn(TurnEvent::Started { turn, agent: "Coder".into(), step: None }));
        let text = "let me see\u{1b}[31m what the pins are".to_owned();
        desk.record(Event::Model(ModelEvent::Reasoned { turn, text }));
        desk.record(Event::Turn(TurnEvent::TextAdded { turn, text: "Half an ans".into() }));
        let fault = UserError::new("host has a fault", "it said “no luck” (503)", "");
        let (attempt, most, wait_millis) = (2, 6, 9_000);
        desk.record(Event::Model(ModelEvent::Faulted { turn, attempt, most, wait_millis, fault }));
        let shown = desk.show(&mut pane, 60, 20);
        assert!(shown.contains("↻ try 2 of 6: it said “no luck” (503)"), "{shown}");
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

    #[test]
    fn why_a_call_is_made_again_is_told_on_as_many_rows_as_it_takes() {
        let mut desk = PaneBench::new();
        let mut pane = ChatPane::default();
        let turn = TurnId(1);
        desk.record(Event::Turn(TurnEvent::Started { turn, agent: "Coder".into(), step: None }));
        let why = "it answered “overloaded, try again later” (status 529)";
        let fault = UserError::new("the service has a fault", why, "");
        let (attempt, most, wait_millis) = (3, 6, 9_000);
        desk.record(Event::Model(ModelEvent::Faulted { turn, attempt, most, wait_millis, fault }));
        let shown = desk.show(&mut pane, 46, 20);
        assert!(shown.contains("try 3 of 6") && shown.contains("in 9 s"), "{shown}");
        assert!(shown.contains("(status 529)") && !shown.contains('…'), "{shown}");
    }

    fn summarised(failed: Option<UserError>) -> Event {
        let replaces = vec![SummarisedTurn { turn: TurnId(1), messages: 3 }];
        let (text, usage) = ("The pin is\u{1b}[31m GPIO 5.".to_owned(), Usage::default());
        let summary = ChatSummary { turn: TurnId(2), replaces, tokens: 2_100, text, usage, failed };
        Event::Model(ModelEvent::Summarised(Box::new(summary)))
    }

    #[test]
    fn a_summary_is_one_line_that_opens_and_leads_to_what_it_replaces() {
        let mut desk = PaneBench::new();
        let mut pane = ChatPane::default();
        for (turn, text) in [(1, "I look at the first pins.\n\n"), (2, "later words")] {
            let turn = TurnId(turn);
            desk.record(Event::Turn(TurnEvent::Started {
                turn,
                agent: "Coder".into(),
                step: None,
            }));
            if turn == TurnId(2) {
                desk.record(summarised(None));
            }
            let text = text.repeat(if turn == TurnId(1) { 30 } else { 1 });
            desk.record(Event::Turn(TurnEvent::TextAdded { turn, text }));
        }
        let shown = desk.show(&mut pane, 60, 14);
        assert!(shown.contains("▸ 3 messages summarised for the agents (2.1k tokens)"), "{shown}");
        assert!(!shown.contains("GPIO 5") && shown.contains("later words"), "{shown}");
        desk.press(&mut pane, Action::Open);
        desk.press(&mut pane, Action::Bottom);
        let shown = desk.show(&mut pane, 60, 14);
        assert!(shown.contains("▾ 3 messages") && shown.contains("GPIO 5."), "{shown}");
        assert!(shown.contains("3 Coder  I look at the first pins."), "{shown}");
        desk.press(&mut pane, Action::NextFold);
        desk.show(&mut pane, 60, 14);
        desk.press(&mut pane, Action::Open);
        let shown = desk.show(&mut pane, 60, 14);
        assert!(shown.contains("◆ Coder") && !shown.contains("later words"), "{shown}");
    }

    #[test]
    fn a_summary_that_failed_says_why() {
        let mut desk = PaneBench::new();
        let mut pane = ChatPane::default();
        let turn = TurnId(2);
        desk.record(Event::Turn(TurnEvent::Started { turn, agent: "Coder".into(), step: None }));
        desk.record(summarised(Some(UserError::new("x", "the service is down", "y"))));
        let shown = desk.show(&mut pane, 70, 12);
        assert!(
            shown.contains("3 messages could not be summarised: the service is down"),
            "{shown}"
        );
    }
}
