//! The upper part of the Build tab: how the build goes, and what it found.
//!
//! Owns which finding is selected. Must not read logs.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{BuildOutcome, Diagnostic, ProgramSize, Severity};
use crate::text::sanitize;
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;
use crate::view::BuildView;

/// A memory is nearly full from this many percent on.
const TIGHT: u64 = 95;

/// Cells of the bar.
const BAR: u32 = 16;

/// Where a finding is, e.g. `main/a.c:14:5`; empty when no file is named.
#[must_use]
pub fn place(found: &Diagnostic) -> String {
    let Some(file) = &found.file else { return String::new() };
    let mut text = file.clone();
    for number in [found.line, found.line.and(found.column)].into_iter().flatten() {
        text.push_str(&format!(":{number}"));
    }
    text
}

/// The row that says how a build goes.
pub(super) fn head(build: &BuildView, cx: &Cx<'_>) -> (Line<'static>, Line<'static>) {
    let dim = cx.style(Role::Dim);
    let mut left = vec![
        cx.span(format!(" #{} ", build.build), Role::Strong),
        Span::styled(line::clean(&build.command), dim),
    ];
    let running = build.outcome.is_none();
    if let (Some((done, total)), true) = (build.progress, running) {
        let full = u64::from(done.min(total)) * u64::from(BAR) / u64::from(total.max(1));
        let full = usize::try_from(full).unwrap_or(0);
        left.push(Span::raw("  "));
        left.push(cx.span("━".repeat(full), Role::Busy));
        left.push(cx.span("╌".repeat(BAR as usize - full), Role::Faint));
        left.push(Span::styled(format!(" [{done}/{total}]"), dim));
    }
    let (state, role) = match &build.outcome {
        None => (format!("{} building", cx.clock.spinner(build.at)), Role::Busy),
        Some(BuildOutcome::Passed) if build.has_changed_since => {
            ("✓ passed, files changed since".to_owned(), Role::Dim)
        }
        Some(BuildOutcome::Passed) => ("✓ passed".to_owned(), Role::Ok),
        Some(BuildOutcome::Failed) => ("✗ failed".to_owned(), Role::Error),
        Some(BuildOutcome::TimedOut) => ("✗ reached the time limit".to_owned(), Role::Error),
        Some(BuildOutcome::Cancelled) => ("stopped".to_owned(), Role::Warn),
        Some(BuildOutcome::NotRun(error)) => {
            (format!("✗ {}", sanitize::line(&error.why)), Role::Error)
        }
    };
    left.push(Span::raw("  "));
    left.push(cx.span(state, role));
    let since = u64::try_from(cx.clock.since(build.at).as_millis()).unwrap_or(u64::MAX);
    let millis = if running { since } else { build.millis };
    let mut right = Vec::new();
    for (severity, word, role) in
        [(Severity::Error, "error", Role::Error), (Severity::Warning, "warning", Role::Warn)]
    {
        let count = build.count(severity);
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            right.push(cx.span(format!("{count} {word}{plural}"), role));
            right.push(Span::styled(" · ", dim));
        }
    }
    right.push(Span::styled(format!("{} ", line::millis(millis)), dim));
    (Line::from(left), Line::from(right))
}

/// Rows that the size and the findings of a build take.
pub(super) fn rows(build: &BuildView) -> usize {
    usize::from(build.size.now.is_some()) + build.diagnostics.iter().map(height).sum::<usize>()
}

/// Rows that the size takes where there are `height`: none when that would hide all findings.
fn size_rows(build: &BuildView, height: u16) -> u16 {
    u16::from(build.size.now.is_some() && (height > 1 || build.diagnostics.is_empty()))
}

fn height(found: &Diagnostic) -> usize {
    1 + usize::from(!found.hint.is_empty())
}

/// The finding in a row of the area that shows them.
pub(super) fn finding_at(
    build: &BuildView,
    selected: usize,
    height: u16,
    row: usize,
) -> Option<usize> {
    let over = size_rows(build, height);
    let (row, height) = (row.checked_sub(usize::from(over))?, height - over);
    let mut end = 0;
    let first = first_shown(build, selected, height);
    build
        .diagnostics
        .iter()
        .skip(first)
        .position(|found| {
            end += self::height(found);
            row < end
        })
        .map(|place| first + place)
}

/// The first finding that is shown, so that the selected one is among them.
fn first_shown(build: &BuildView, selected: usize, height: u16) -> usize {
    let found = &build.diagnostics;
    let space = usize::from(height);
    let selected = selected.min(found.len().saturating_sub(1));
    let mut first = selected;
    let mut used = found.get(selected).map_or(0, self::height);
    while let Some(before) = first.checked_sub(1).and_then(|place| found.get(place)) {
        if used + self::height(before) > space {
            break;
        }
        used += self::height(before);
        first -= 1;
    }
    first
}

/// Draws as many findings as there is room for, the selected one among them.
pub(super) fn draw(build: &BuildView, selected: usize, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let over = size_rows(build, area.height);
    if let (Some(size), 1..) = (&build.size.now, over) {
        line::draw(&size_line(size, build.size.before.as_ref(), cx), area, buf);
    }
    let area = Rect { y: area.y + over, height: area.height - over, ..area };
    let found = &build.diagnostics;
    let selected = selected.min(found.len().saturating_sub(1));
    let first = first_shown(build, selected, area.height);
    let mut rows = area.rows();
    for (place, found) in found.iter().enumerate().skip(first) {
        let Some(row) = rows.next() else { return };
        let (left, hint) = texts(found, cx);
        let more = build.diagnostics.len();
        let is_marked = place == selected && more > 1;
        let counted = is_marked.then(|| cx.line(format!("{}/{more} ", place + 1), Role::Dim));
        line::draw_split(&left, &counted.unwrap_or_default(), row, buf);
        if is_marked {
            line::tint(row, Style { fg: None, ..cx.selection() }, buf);
        }
        if let Some(hint) = hint {
            let Some(row) = rows.next() else { return };
            line::draw(&hint, row, buf);
        }
    }
}

/// What a program takes, e.g. `flash 182 kB (+1.2 kB) of 1.0 MB · dram 12.0 kB`.
fn size_line(size: &ProgramSize, before: Option<&ProgramSize>, cx: &Cx<'_>) -> Line<'static> {
    let dim = cx.style(Role::Dim);
    let mut spans = vec![Span::raw("   ")];
    if !size.host.is_empty() {
        spans.push(Span::styled(format!("{}: ", sanitize::line(&size.host)), dim));
    }
    for (place, used) in size.uses.iter().enumerate() {
        if place > 0 {
            spans.push(Span::styled(" · ", dim));
        }
        spans.push(Span::styled(format!("{} ", used.memory.label()), dim));
        spans.push(cx.span(line::bytes(used.bytes), Role::Text));
        let growth = before.and_then(|before| size.growth(before, used.memory)).unwrap_or(0);
        if growth != 0 {
            let sign = if growth > 0 { '+' } else { '−' };
            spans.push(Span::styled(
                format!(" ({sign}{})", line::bytes(growth.unsigned_abs())),
                dim,
            ));
        }
        if let Some(of) = used.of {
            let is_tight = used.bytes > of / 100 * TIGHT;
            let role = if is_tight { Role::Warn } else { Role::Dim };
            let share = used.bytes.saturating_mul(100) / of.max(1);
            spans.push(cx.span(format!(" of {}, {share} %", line::bytes(of)), role));
        }
    }
    Line::from(spans)
}

fn texts(found: &Diagnostic, cx: &Cx<'_>) -> (Line<'static>, Option<Line<'static>>) {
    let (mark, role) = match found.severity {
        Severity::Error => ("✗", Role::LogError),
        Severity::Warning => ("!", Role::LogWarn),
        Severity::Note => ("·", Role::Dim),
    };
    let place = place(found);
    let mut spans = vec![cx.span(format!(" {mark} "), role)];
    if !place.is_empty() {
        let place = line::clean(&place);
        spans.push(cx.span(place, Role::Link));
        spans.push(Span::raw("  "));
    }
    spans.push(cx.span(line::clean(&found.message), Role::Text));
    let hint = (!found.hint.is_empty()).then(|| {
        let text = format!("   {}", sanitize::line(&found.hint));
        cx.line(text, Role::Dim)
    });
    (Line::from(spans), hint)
}
