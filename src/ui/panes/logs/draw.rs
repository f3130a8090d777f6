//! How the logs look.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::model::Severity;
use crate::text::sanitize;
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::{Cx, Keys, Mode};
use crate::ui::role::Role;

use super::build;
use super::digest::Tone;
use super::events::{EventLog, EventRow};
use super::missing_start;
use super::open::Tab;
use super::position::LogView;
use super::result_rows;
use super::row::{draw_row, draw_stamp};
use super::state::LogsPane;
use super::text::LogText;
use super::wrap::{self, Wrapping};
use crate::ui::panes::serial::{card, head};
use crate::ui::scroll::Follow;
use crate::ui::search::LogSearch;

/// Between two tabs in the title.
const BETWEEN: &str = " ─ ";

/// The tabs with their state.
pub(super) fn title(pane: &LogsPane, cx: &Cx<'_>) -> Line<'static> {
    let mut spans = Vec::new();
    for tab in Tab::shown(cx.view) {
        if !spans.is_empty() {
            spans.push(cx.span(BETWEEN, Role::Border));
        }
        // The line below it tells which one is shown where colours do not.
        let shown = Modifier::BOLD | Modifier::UNDERLINED;
        let look = match (tab == pane.tab, cx.keys) {
            (true, Keys::Here) => cx.style(Role::TitleFocus).add_modifier(shown),
            (true, Keys::Elsewhere) => cx.style(Role::Title).add_modifier(shown),
            (false, _) => cx.style(Role::Dim).remove_modifier(shown),
        };
        spans.push(Span::styled(tab.name(), look));
        if let Some((mark, role)) = state(tab, cx) {
            spans.push(cx.span(format!(" {mark}"), role));
        }
    }
    Line::from(spans)
}

/// What can be done, the most useful first.
pub(super) fn hints(pane: &LogsPane, cx: &Cx<'_>) -> Vec<Action> {
    let mut hints = Vec::new();
    if pane.place_to_open(cx.view).is_some() {
        hints.push(Action::Open);
    }
    let is_port = pane.tab == Tab::Serial && pane.open_logs.serial(cx.view).is_some();
    if is_port && cx.mode == Mode::Live {
        hints.extend([Action::SerialSend, Action::HoldLog]);
    }
    if pane.log_view(cx.view).is_some() {
        hints.extend([Action::Search, Action::FilterLog]);
    }
    if is_port {
        hints.extend([Action::LogLess, Action::LogTags, Action::LogValues]);
    }
    hints.extend([Action::NextError, Action::NextTab]);
    if is_port && cx.mode == Mode::Live {
        hints.extend([Action::SerialReset, Action::SerialConnect]);
    }
    hints.extend([Action::Follow, Action::PreviousSource]);
    hints
}

/// The tab at a column of the title.
pub(super) fn tab_at(column: u16, cx: &Cx<'_>) -> Option<Tab> {
    let mut end = 0;
    for tab in Tab::shown(cx.view) {
        end += tab.name().width() + state(tab, cx).map_or(0, |(mark, _)| mark.width() + 1);
        if usize::from(column) < end {
            return Some(tab);
        }
        end += BETWEEN.width();
    }
    None
}

fn state(tab: Tab, cx: &Cx<'_>) -> Option<(String, Role)> {
    use crate::model::BuildOutcome;
    let logs = &cx.view.logs;
    match tab {
        Tab::Build => {
            let build = logs.builds.last()?;
            Some(match (&build.outcome, build.progress) {
                (None, Some((done, total))) => (format!("{done}/{total}"), Role::Busy),
                (None, None) => ("…".to_owned(), Role::Busy),
                (Some(BuildOutcome::Passed), _) if build.has_changed_since => {
                    ("✓ outdated".to_owned(), Role::Dim)
                }
                (Some(BuildOutcome::Passed), _) => ("✓".to_owned(), Role::Ok),
                (Some(BuildOutcome::Cancelled), _) => ("stopped".to_owned(), Role::Dim),
                (Some(_), _) => match build.count(Severity::Error) {
                    0 => ("✗".to_owned(), Role::Error),
                    errors => (format!("✗{errors}"), Role::Error),
                },
            })
        }
        Tab::Serial => {
            let serial = logs.serials.last()?;
            if serial.closed.is_none() && !serial.panics.is_empty() {
                return Some((format!("☇{}", serial.panics.len()), Role::Error));
            }
            let is_open = serial.closed.is_none() && serial.away.is_none();
            Some(if is_open { ("●".to_owned(), Role::Ok) } else { ("○".to_owned(), Role::Dim) })
        }
        Tab::Tests | Tab::Analysis => result_rows::mark(tab, cx),
        Tab::Events => None,
    }
}

/// Draws the pane as it was prepared.
pub(super) fn draw(pane: &LogsPane, buf: &mut Buffer, cx: &Cx<'_>) {
    let parts = &pane.parts;
    match pane.tab {
        Tab::Build => {
            let Some(build) = pane.open_logs.build(cx.view) else {
                return empty("No build yet.", parts.text, buf, cx);
            };
            let (left, mut right) = build::head(build, cx);
            if let Some(gone) = gone(pane, cx) {
                right.spans.insert(0, cx.span(format!("{gone} · "), Role::Warn));
            }
            line::draw_split(&left, &right, parts.head, buf);
            build::draw(build, pane.findings.place, parts.findings, buf, cx);
        }
        Tab::Serial => {
            let Some(serial) = pane.open_logs.serial(cx.view) else {
                let text = "Cannot find a board yet; its output appears here.";
                return empty(text, parts.text, buf, cx);
            };
            head::draw(serial, &pane.look, gone(pane, cx), parts.head, buf, cx);
            card::draw(serial, pane.findings.place, parts.findings, buf, cx);
            if let Some(chart) = &pane.look.chart {
                chart.draw(parts.chart, buf, cx);
            }
            if let Some(hex) = &pane.look.hex {
                hex.draw(parts.text, buf, cx);
                return draw_foot(pane, parts.foot, buf, cx);
            }
        }
        Tab::Tests => result_rows::draw_tests(&pane.results, parts, buf, cx),
        Tab::Analysis => result_rows::draw_analysis(&pane.results, parts, buf, cx),
        Tab::Events => draw_events(&pane.events, parts.text, buf, cx),
    }
    if let Some(text) = pane.text(cx.view) {
        draw_text(text, pane.wrapping, parts.text, buf, cx);
    }
    draw_foot(pane, parts.foot, buf, cx);
}

/// What is said of the output that is no longer kept.
fn gone(pane: &LogsPane, cx: &Cx<'_>) -> Option<String> {
    missing_start::words(pane.text(cx.view)?.start(), cx.view.started_at)
}

fn empty(text: &str, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    line::draw(&cx.line(format!(" {text}"), Role::Dim), area, buf);
}

/// Lines as one text to take away.
pub(super) fn lines_of(lines: impl Iterator<Item = impl AsRef<str>>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line.as_ref());
        text.push('\n');
    }
    text
}

fn draw_text(text: &LogText, wrapping: Wrapping, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    if let Some(error) = &text.error {
        let error = line::cut(&format!(" {error}"), usize::from(area.width));
        line::draw(&cx.line(error, Role::Error), area, buf);
        return;
    }
    let stamps = u16::try_from(text.stamps.columns()).unwrap_or(0).min(area.width / 2);
    let whole = area;
    let area = Rect { x: area.x + stamps, width: area.width - stamps, ..area };
    match wrapping {
        Wrapping::Cut => {
            for (row, at) in text.rows().iter().zip(area.rows()) {
                draw_stamp(row, Rect { x: whole.x, width: stamps, ..at }, buf, cx);
                draw_row(row, text.view.scroll.first_column(), at, buf, cx);
            }
        }
        Wrapping::Wrapped => wrap::draw(text, stamps, area, buf, cx),
    }
    if text.rows().is_empty() {
        let words = match text.view.filter() {
            Some(_) if text.is_busy() => " filtering…",
            Some(_) => " no line passes the filter",
            None if text.view.is_empty() && text.start().bytes > 0 => {
                " the output before this is no longer kept"
            }
            None if text.view.is_empty() => return,
            None => " counting lines…",
        };
        line::draw(&cx.line(words, Role::Busy), area, buf);
    }
}

fn draw_events(events: &EventLog, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    if let Some(error) = &events.error {
        let error = line::cut(&format!(" {error}"), usize::from(area.width));
        line::draw(&cx.line(error, Role::Error), area, buf);
        return;
    }
    if events.rows().is_empty() && events.view.filter().is_some() {
        let words = if events.is_busy() { " filtering…" } else { " no record passes the filter" };
        line::draw(&cx.line(words, Role::Busy), area, buf);
    }
    let digits = events.last.to_string().len().max(3);
    for (row, at) in events.rows().iter().zip(area.rows()) {
        line::draw(&event_line(row, events.view.search(), digits, cx), at, buf);
    }
}

fn event_line(
    row: &EventRow,
    search: Option<&LogSearch>,
    digits: usize,
    cx: &Cx<'_>,
) -> Line<'static> {
    let dim = cx.style(Role::Dim);
    let millis = row.at.millis_since(cx.view.started_at);
    let time = format!("{}.{:03}", line::clock(millis), millis % 1000);
    let tone = match row.digest.tone {
        Tone::Plain => Role::Text,
        Tone::Good => Role::Ok,
        Tone::Bad => Role::Error,
    };
    let is_hit = search.is_some_and(|search| search.place(row.seq.0.saturating_sub(1)).is_some());
    let number = if is_hit { cx.style(Role::Match) } else { dim };
    Line::from(vec![
        Span::styled(format!(" {:>digits$}", row.seq), number),
        Span::styled(format!(" {time:>9}  "), dim),
        cx.span(format!("{:<18}", row.digest.kind), Role::LogTag),
        cx.span(row.digest.text.clone(), tone),
    ])
}

/// The last row: the search, or how much is below.
fn draw_foot(pane: &LogsPane, at: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    if at.height == 0 {
        return;
    }
    if let Some(row) = pane.foot.row(cx) {
        return line::draw(&row, at, buf);
    }
    let left = search_line(pane, cx);
    let right = match (paused(pane, cx), pane.log_view(cx.view)) {
        (Some(paused), _) => paused,
        (None, Some(content)) => below(content, cx),
        (None, None) => Line::default(),
    };
    line::draw_split(&left, &right, at, buf);
}

/// What can be taken away: the selected finding, or the lines in sight.
pub(super) fn taken_away(pane: &LogsPane, cx: &Cx<'_>) -> String {
    if let Some(hex) = pane.look.hex.as_ref().filter(|_| pane.tab == Tab::Serial) {
        return lines_of(hex.text());
    }
    if let Some(text) = pane.results.text(pane.tab, cx.view) {
        return text;
    }
    match (pane.selected(cx.view), pane.text(cx.view)) {
        (Some(found), _) => format!("{}: {}", build::place(found), found.message),
        (None, Some(text)) => lines_of(text.rows().iter().map(|row| &row.text)),
        (None, None) => {
            let rows = pane.events.rows().iter();
            lines_of(rows.map(|row| format!("{} {}", row.digest.kind, row.digest.text)))
        }
    }
}

/// The filter and the search that are on.
fn search_line(pane: &LogsPane, cx: &Cx<'_>) -> Line<'static> {
    let Some(content) = pane.log_view(cx.view) else { return Line::default() };
    let dim = cx.style(Role::Dim);
    let mut spans = Vec::new();
    if let Some(filter) = content.filter() {
        let words = line::clean(filter.matcher().words());
        spans.push(Span::styled(" only ", dim));
        spans.push(cx.span(words, Role::Key));
        let (total, kept) = (filter.total(), filter.kept());
        let last =
            if total > kept { format!("last {} of ", line::grouped(kept)) } else { String::new() };
        let count = format!("  {last}{}", line::grouped(total));
        spans.push(cx.span(count, Role::Text));
    }
    if let Some(search) = content.search() {
        let total = line::grouped(search.total());
        let found = match (search.total(), search.place(content.here())) {
            (0, _) if content.is_busy() => "searching…".to_owned(),
            (0, _) => "not found".to_owned(),
            (_, Some(place)) => format!("{}/{total}", line::grouped(place)),
            (_, None) => format!("{total} found"),
        };
        let key = |action| cx.key(KeyContext::Logs, action);
        let keys =
            format!("  {} {} next, before", key(Action::NextMatch), key(Action::PreviousMatch));
        let words = format!(" /{}  ", sanitize::line(search.matcher().words()));
        spans.push(cx.span(words, Role::Key));
        spans.push(cx.span(found, Role::Text));
        spans.push(Span::styled(keys, dim));
    }
    if content.is_busy() && !spans.is_empty() {
        spans.push(cx.span(format!("  {} %", content.percent()), Role::Busy));
    }
    Line::from(spans)
}

/// How much came while the output of a port stands still.
fn paused(pane: &LogsPane, cx: &Cx<'_>) -> Option<Line<'static>> {
    let (log, now) = pane.open_logs.log(pane.tab, cx.view).filter(|_| pane.tab == Tab::Serial)?;
    let missed = pane.look.missed(log, now)?;
    let key = cx.key(KeyContext::Logs, Action::HoldLog);
    let lines = if missed == 1 { "line" } else { "lines" };
    let words = format!("paused · {} new {lines} · {key} goes on ", line::grouped(missed));
    Some(cx.line(words, Role::Warn))
}

/// What is below the lines in sight.
fn below(content: &LogView, cx: &Cx<'_>) -> Line<'static> {
    let len = content.len();
    let more = len - content.scroll.range(len).end.min(len);
    match content.scroll.follow() {
        Follow::End => Line::default(),
        Follow::Held => {
            let key = cx.key(KeyContext::Logs, Action::Follow);
            let style: Style = cx.style(if more > 0 { Role::Warn } else { Role::Dim });
            Line::styled(format!("held · {} below · {key} follows ", line::grouped(more)), style)
        }
    }
}
