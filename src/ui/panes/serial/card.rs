//! The card of the newest panic above the output of a port.
//!
//! Owns its rows. Must not read logs.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{ElfMatch, PanicFrame, PanicReport};
use crate::text::sanitize;
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;
use crate::view::{PanicView, SerialView};

/// Notes that are shown.
const MAX_NOTES: usize = 2;

/// The panic that is shown: the newest.
pub fn shown(serial: &SerialView) -> Option<&PanicView> {
    serial.panics.last().map(AsRef::as_ref)
}

/// Rows that the card takes.
pub fn rows(serial: &SerialView) -> usize {
    shown(serial).map_or(0, |panic| {
        1 + panic.report.frames().count() + panic.report.notes.len().min(MAX_NOTES)
    })
}

/// Draws as many rows as there is room for, the selected frame among them.
pub fn draw(serial: &SerialView, selected: usize, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let Some(panic) = shown(serial) else { return };
    let mut areas = area.rows();
    let Some(head_area) = areas.next() else { return };
    let (left, right) = head(&panic.report, serial.panics.len(), cx);
    line::draw_split(&left, &right, head_area, buf);
    let notes = panic.report.notes.iter().take(MAX_NOTES);
    let frames: Vec<&PanicFrame> = panic.report.frames().collect();
    let space = usize::from(area.height.saturating_sub(1));
    let first = (selected + 1).saturating_sub(space).min(frames.len());
    for (place, frame) in frames.iter().enumerate().skip(first) {
        let Some(row) = areas.next() else { return };
        line::draw(&frame_line(frame, cx), row, buf);
        if place == selected {
            line::tint(row, Style { fg: None, ..cx.selection() }, buf);
        }
    }
    for note in notes {
        let Some(row) = areas.next() else { return };
        let text = format!("   {}", sanitize::line(note));
        line::draw(&cx.line(text, Role::Warn), row, buf);
    }
}

fn head(report: &PanicReport, count: usize, cx: &Cx<'_>) -> (Line<'static>, Line<'static>) {
    let dim = cx.style(Role::Dim);
    let mut left = vec![cx.span(" ☇ ", Role::Error), cx.span(report.kind.words(), Role::LogError)];
    if let Some(task) = &report.task {
        left.push(cx.span(format!(" in task {}", sanitize::line(task)), Role::Text));
    }
    left.push(Span::styled(format!("  {}", sanitize::line(&report.message)), dim));
    let mut right = String::new();
    if let Some(elf) = &report.elf {
        right.push_str(match elf.matches {
            ElfMatch::Same => "in ",
            ElfMatch::Different => "in another build: ",
            ElfMatch::Unknown => "maybe in ",
        });
        right.push_str(&sanitize::line(&elf.file));
        right.push(' ');
    }
    if count > 1 {
        right.push_str(&format!("· panic {count} "));
    }
    (Line::from(left), Line::styled(right, dim))
}

fn frame_line(frame: &PanicFrame, cx: &Cx<'_>) -> Line<'static> {
    let dim = cx.style(Role::Dim);
    let address =
        if frame.inlined { "  └ inlined  ".to_owned() } else { format!("   0x{:08x}", frame.pc) };
    let function = frame.function.as_deref().unwrap_or("?");
    let mut spans = vec![
        Span::styled(format!("{address:<15}"), dim),
        cx.span(line::clean(function), Role::Text),
    ];
    let place = frame.place();
    if !place.is_empty() {
        spans.push(Span::raw("  "));
        spans.push(cx.span(line::clean(&place), Role::Link));
    }
    Line::from(spans)
}
