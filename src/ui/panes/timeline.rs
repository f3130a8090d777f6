//! The timeline of a replay, in the composer's place.
//!
//! Owns the track and its marks. One column stands for the same number of records everywhere, so
//! that a long wait takes no room.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use ratatui::text::{Line, Span};

use super::timeline_signs::{SIGNS, look};
use crate::model::timeline::Playback;
use crate::model::{Seq, TimelineCommand, TimelineView};
use crate::text::sanitize;
use crate::ui::line;
use crate::ui::overlay::{Overlay, RunOverview};
use crate::ui::pane::{Cx, Effect, UiCommand};
use crate::ui::role::Role;
use crate::ui::strip;
use crate::view::{Mark, MarkKind};

/// The bar under the panes of a replay.
#[derive(Debug, Default)]
pub struct TimelineBar {
    marks: Vec<Mark>,
}

/// Columns from which on the meaning of all signs has room behind the time.
const WITH_LEGEND: u16 = 120;

/// Columns left free at each end of the track.
const MARGIN: u16 = 1;

impl TimelineBar {
    /// Rows it takes: where there are few columns, the signs are explained in a row of their own.
    #[must_use]
    pub const fn rows(columns: u16) -> u16 {
        if columns < WITH_LEGEND { 3 } else { 2 }
    }

    /// Rows above them: one for what was asked, which no other part of the screen always shows.
    #[must_use]
    pub const fn task_rows(cx: &Cx<'_>) -> u16 {
        if cx.view.head.runs.is_empty() { 0 } else { 1 }
    }

    /// Takes over the moments of the whole session, also those that lie ahead.
    pub fn set_marks(&mut self, marks: Vec<Mark>) {
        self.marks = marks;
    }

    /// The marks of the whole session, or those of what was shown so far.
    fn known<'v>(&'v self, cx: &Cx<'v>) -> &'v [Mark] {
        if self.marks.is_empty() { cx.view.marks.all() } else { &self.marks }
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let Some(timeline) = cx.timeline else { return };
        let mut rows = area.rows();
        if area.height > Self::rows(area.width)
            && let Some(row) = rows.next()
        {
            line::draw(&task(row.width, cx), row, buf);
        }
        if let Some(row) = rows.next() {
            self.draw_track(timeline, row, buf, cx);
        }
        if let Some(row) = rows.next() {
            let state = state(timeline, cx);
            let Some(below) = rows.next() else {
                let space = usize::from(area.width).saturating_sub(state.width() + 2);
                let inside = Rect { width: row.width.saturating_sub(MARGIN), ..row };
                return line::draw_split(&state, &legend(self.known(cx), space, cx), inside, buf);
            };
            line::draw(&state, row, buf);
            let below = Rect { x: below.x + MARGIN, width: track(below.width), ..below };
            let legend = legend(self.known(cx), usize::from(below.width) + 2, cx);
            line::draw(&legend, below, buf);
        }
    }

    fn draw_track(&self, timeline: &TimelineView, row: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let columns = track(row.width);
        let head = column_of(timeline.position, timeline.last, columns);
        for column in 0..columns {
            let (sign, role) = match column {
                _ if column == head => ("●", Role::TimelineHead),
                _ if column < head => ("━", Role::TimelineHead),
                _ => ("─", Role::Timeline),
            };
            buf.set_string(row.x + MARGIN + column, row.y, sign, cx.style(role));
        }
        let shown = shown(self.known(cx), timeline.last, columns, head);
        for (column, kind) in (0..columns).zip(shown) {
            let Some((sign, role)) = kind.and_then(look).filter(|_| column != head) else {
                continue;
            };
            buf.set_string(row.x + MARGIN + column, row.y, sign, cx.style(role));
        }
    }

    /// A click at a place of the bar, which has that size: to a moment, or to all of what was asked.
    pub fn on_click(
        &mut self,
        at: Position,
        size: Size,
        timeline: Option<&TimelineView>,
    ) -> Vec<Effect> {
        let Some(timeline) = timeline else { return Vec::new() };
        if at.y < size.height.saturating_sub(Self::rows(size.width)) {
            return vec![Effect::open(Overlay::Run(RunOverview::default()))];
        }
        let columns = track(size.width);
        let column = at.x.saturating_sub(MARGIN).min(columns.saturating_sub(1));
        let seq = seq_of(column, timeline.last, columns);
        vec![Effect::Command(UiCommand::Timeline(TimelineCommand::Seek(seq)))]
    }
}

/// What was asked at this place of the session, which may have had several requests.
fn task(columns: u16, cx: &Cx<'_>) -> Line<'static> {
    let task = cx.view.head.run().map_or("", |run| run.task.as_str());
    let label = format!(" {}", strip::task_label(cx));
    let space = usize::from(columns).saturating_sub(line::width(&label) + 1);
    let task = task.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = line::cut(&sanitize::line(&task), space);
    Line::from(vec![cx.span(label, Role::Title), cx.span(words, Role::Text)])
}

/// The mark of each column: the one that tells most. A kind that is left without any takes a column
/// next to one of its own that is free, so that nothing is lost.
fn shown(known: &[Mark], last: Seq, columns: u16, head: u16) -> Vec<Option<MarkKind>> {
    let mut shown: Vec<Option<MarkKind>> = vec![None; usize::from(columns)];
    let place = |mark: &Mark| usize::from(column_of(mark.seq, last, columns));
    for mark in known {
        if let Some(cell) = shown.get_mut(place(mark))
            && cell.is_none_or(|kind| kind.weight() < mark.kind.weight())
        {
            *cell = Some(mark.kind);
        }
    }
    for (kind, ..) in SIGNS {
        let head = usize::from(head);
        if shown.iter().enumerate().any(|(column, cell)| *cell == Some(kind) && column != head) {
            continue;
        }
        let near = |mark: &Mark| [place(mark) + 1, place(mark).wrapping_sub(1)];
        let mut own = known.iter().filter(|mark| mark.kind == kind).flat_map(near);
        let is_free = |column: &usize| {
            let cell = shown.get(*column).copied();
            *column != head && matches!(cell, Some(None | Some(MarkKind::Turn)))
        };
        if let Some(cell) = own.find(is_free).and_then(|column| shown.get_mut(column)) {
            *cell = Some(kind);
        }
    }
    shown
}

const fn track(width: u16) -> u16 {
    width.saturating_sub(2 * MARGIN)
}

/// The column of the track where a record is.
fn column_of(seq: Seq, last: Seq, columns: u16) -> u16 {
    let end = u64::from(columns.saturating_sub(1));
    let column = u128::from(seq.0.min(last.0)) * u128::from(end) / u128::from(last.0.max(1));
    u16::try_from(column).unwrap_or(0)
}

/// The last record of a column of the track.
fn seq_of(column: u16, last: Seq, columns: u16) -> Seq {
    let end = u128::from(columns.saturating_sub(1).max(1));
    let seq = (u128::from(column) * u128::from(last.0)).div_ceil(end);
    Seq(u64::try_from(seq).unwrap_or(last.0).min(last.0))
}

fn state(timeline: &TimelineView, cx: &Cx<'_>) -> Line<'static> {
    let dim = cx.style(Role::Dim);
    let (sign, word) = match timeline.playback {
        Playback::Playing => ("▶", "playing"),
        Playback::Held if timeline.position == timeline.last => ("■", "at the end"),
        Playback::Held => ("❚❚", "paused"),
    };
    let now = line::clock(timeline.at.millis_since(timeline.from));
    let all = line::clock(timeline.until.millis_since(timeline.from));
    let mut spans = vec![
        cx.span(format!(" {sign} {word} "), Role::TimelineHead),
        cx.span(format!("{}  ", timeline.speed), Role::Text),
        cx.span(now, Role::Strong),
        Span::styled(format!(" / {all}  "), dim),
        Span::styled(format!("event {} / {}", timeline.position, timeline.last), dim),
    ];
    if timeline.damaged > 0 {
        let lines = if timeline.damaged == 1 { "line" } else { "lines" };
        let words = format!("  {} unreadable {lines}", timeline.damaged);
        spans.push(cx.span(words, Role::Warn));
    }
    Line::from(spans)
}

/// What the signs of the track mean, as far as they stand on it and `room` columns allow; the ones
/// that tell most go first.
fn legend(marks: &[Mark], space: usize, cx: &Cx<'_>) -> Line<'static> {
    let mut line = Line::default();
    for (kind, words, _) in SIGNS {
        let Some((sign, role)) = look(kind) else { continue };
        if !marks.iter().any(|mark| mark.kind == kind) {
            continue;
        }
        let before = if line.spans.is_empty() { "" } else { "  " };
        let words = format!(" {words}");
        // What has no room is left out, and a sign says so.
        if line.width() + before.len() + line::width(sign) + line::width(&words) + 2 > space {
            if line.width() + 2 <= space {
                line.push_span(cx.span(" …", Role::Dim));
            }
            break;
        }
        line.push_span(Span::raw(before));
        line.push_span(cx.span(sign, role));
        line.push_span(cx.span(words, Role::Dim));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;

    #[test]
    fn of_marks_in_one_column_the_worse_one_shows_and_no_kind_is_lost() {
        let mark = |seq, kind| Mark { seq: Seq(seq), at: Timestamp(0), kind };
        let of = |marks: &[Mark]| shown(marks, Seq(1_000), 11, 0);
        let rejected = of(&[mark(510, MarkKind::Rejection), mark(520, MarkKind::Request)]);
        assert_eq!(rejected[5], Some(MarkKind::Rejection));
        assert!(rejected.contains(&Some(MarkKind::Request)), "{rejected:?}");
        let failed = of(&[mark(510, MarkKind::Rejection), mark(520, MarkKind::Error)]);
        assert_eq!((failed[5], failed[6]), (Some(MarkKind::Error), Some(MarkKind::Rejection)));
    }

    #[test]
    fn a_click_on_the_head_of_a_record_goes_to_it_or_its_neighbours_in_the_column() {
        for (last, columns) in [(7_u64, 80_u16), (80, 80), (10_000, 98), (1, 60), (0, 60)] {
            let last = Seq(last);
            assert_eq!(column_of(last, last, columns), if last.0 == 0 { 0 } else { columns - 1 });
            assert_eq!(seq_of(0, last, columns), Seq(0));
            assert_eq!(seq_of(columns - 1, last, columns), last);
            for column in 0..columns {
                let seq = seq_of(column, last, columns);
                assert!(
                    column_of(seq, last, columns) >= column.min(column_of(last, last, columns))
                );
            }
        }
    }
}
