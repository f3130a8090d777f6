//! How the tabs Tests and Analysis look: the head, the list, and the selected result.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{TestCase, TestOutcome, TestReport};
use crate::text::sanitize;
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;
use crate::view::{AnalysisRow, AnalysisView, TestRunView};

use super::areas::LogsAreas;
use super::open::Tab;
use super::results::Results;

/// Outcomes of earlier runs that are shown.
const HISTORY: usize = 30;

/// Draws the tab Tests.
pub(super) fn draw_tests(results: &Results, parts: &LogsAreas, buf: &mut Buffer, cx: &Cx<'_>) {
    let Some(run) = results.run(cx.view) else { return };
    let (left, right) = tests_head(run, cx);
    line::draw_split(&left, &right, parts.head, buf);
    let tests = results.tests(cx.view);
    let selected = results.selected(Tab::Tests, cx.view);
    let lines = |place: usize| tests.get(place).map(|test| test_line(test, cx));
    draw_list(lines, (selected, tests.len()), parts.findings, buf, cx);
    let mut detail = Vec::new();
    if let Some(report) = run.report.as_deref() {
        detail.extend(notes(report, cx));
    }
    if let Some(test) = tests.get(selected) {
        detail.push(history(run, test, cx));
        detail.extend(output(test, cx));
    }
    draw_detail(&detail, results.above(Tab::Tests), parts.text, buf);
}

/// Draws the tab Analysis.
pub(super) fn draw_analysis(results: &Results, parts: &LogsAreas, buf: &mut Buffer, cx: &Cx<'_>) {
    let Some(analysis) = results.analysis(cx.view) else { return };
    let (left, right) = analysis_head(analysis, cx);
    line::draw_split(&left, &right, parts.head, buf);
    let rows = results.rows(cx.view);
    let selected = results.selected(Tab::Analysis, cx.view);
    let lines = |place: usize| Some((analysis_line(rows.get(place)?, cx), Line::default()));
    draw_list(lines, (selected, rows.len()), parts.findings, buf, cx);
    let mut detail: Vec<Line<'static>> = Vec::new();
    if rows.is_empty() && analysis.notes.is_empty() {
        detail.push(cx.line(" nothing was found", Role::Ok));
    }
    if analysis.omitted > 0 {
        let text = format!(" {} more are not shown", line::grouped(analysis.omitted));
        detail.push(cx.line(text, Role::Dim));
    }
    if let Some(row) = rows.get(selected) {
        detail.push(cx.line(format!(" {}", sanitize::line(&row.text)), Role::Text));
    }
    let words = |note: &String| format!(" {}", sanitize::line(note));
    detail.extend(analysis.notes.iter().map(|note| cx.line(words(note), Role::Warn)));
    draw_detail(&detail, results.above(Tab::Analysis), parts.text, buf);
}

/// The result at a row of the list.
pub(super) fn result_at(
    results: &Results,
    tab: Tab,
    height: u16,
    row: usize,
    cx: &Cx<'_>,
) -> Option<usize> {
    let count = results.count(tab, cx.view);
    let place = first_in_sight(count, results.selected(tab, cx.view), height) + row;
    (place < count).then_some(place)
}

/// The result of the newest run or analysis, for the title.
pub(super) fn mark(tab: Tab, cx: &Cx<'_>) -> Option<(String, Role)> {
    match tab {
        Tab::Tests => {
            let run = cx.view.logs.tests.runs.last()?;
            Some(match run.report.as_deref() {
                None => ("…".to_owned(), Role::Busy),
                Some(report) if report.has_passed() => ("✓".to_owned(), Role::Ok),
                Some(report) => match report.counts.bad() {
                    0 => ("✗".to_owned(), Role::Error),
                    bad => (format!("✗{bad}"), Role::Error),
                },
            })
        }
        Tab::Analysis => {
            let rows = &cx.view.logs.analyses.all.last()?.rows;
            let count = rows.iter().filter(|row| row.weight > 0).count();
            let role = if count > 0 { Role::Warn } else { Role::Ok };
            Some((if count > 0 { count.to_string() } else { "✓".to_owned() }, role))
        }
        Tab::Build | Tab::Serial | Tab::Events => None,
    }
}

fn tests_head(run: &TestRunView, cx: &Cx<'_>) -> (Line<'static>, Line<'static>) {
    let dim = cx.style(Role::Dim);
    let mut left = vec![cx.span(format!(" #{} ", run.run), Role::Strong)];
    let command = line::clean(&run.command);
    let Some(report) = run.report.as_deref() else {
        let text = format!("{} testing  ", cx.clock.spinner(run.at));
        left.push(cx.span(text, Role::Busy));
        left.push(Span::styled(command, dim));
        return (Line::from(left), Line::default());
    };
    let (word, role) = if report.has_passed() { ("✓", Role::Ok) } else { ("✗", Role::Error) };
    let summary = format!("{word} {}  ", sanitize::line(&report.summary()));
    left.push(cx.span(summary, role));
    let mut about = command;
    if !report.framework.is_empty() {
        about.push_str(&format!(" · {}", sanitize::line(&report.framework)));
    }
    if !report.proposed.is_empty() {
        let count = report.proposed.len();
        let files = if count == 1 { "file" } else { "files" };
        about.push_str(&format!(" · with {count} unsaved {files}"));
    }
    left.push(Span::styled(about, dim));
    let mut right = String::new();
    if let Some(coverage) = report.coverage {
        right.push_str(&format!("{coverage} % covered · "));
    }
    right.push_str(&format!("{} ", line::millis(report.millis)));
    (Line::from(left), Line::styled(right, dim))
}

fn analysis_head(analysis: &AnalysisView, cx: &Cx<'_>) -> (Line<'static>, Line<'static>) {
    let what = match analysis.tool.as_str() {
        "analyze_complexity" => "complexity of functions",
        _ => "linters",
    };
    let count = analysis.rows.len();
    let left = vec![
        cx.span(format!(" {what}"), Role::Strong),
        cx.span(format!("  {count} results"), Role::Dim),
    ];
    let right = format!("{} ", line::millis(analysis.millis));
    (Line::from(left), cx.line(right, Role::Dim))
}

fn test_line(test: &TestCase, cx: &Cx<'_>) -> (Line<'static>, Line<'static>) {
    let (mark, role) = outcome(test.outcome);
    let mut spans =
        vec![cx.span(format!(" {mark} "), role), cx.span(line::clean(&test.name), Role::Text)];
    if test.outcome.is_bad()
        && let Some(file) = &test.file
    {
        let line = test.line.map_or_else(String::new, |line| format!(":{line}"));
        let place = format!("  {}{line}", sanitize::line(file));
        spans.push(cx.span(place, Role::Link));
    }
    if !test.message.is_empty() {
        let message = format!("  {}", sanitize::line(&test.message));
        spans.push(cx.span(message, Role::Dim));
    }
    (Line::from(spans), cx.line(format!("{} ", line::millis(test.millis)), Role::Dim))
}

const fn outcome(outcome: TestOutcome) -> (&'static str, Role) {
    match outcome {
        TestOutcome::Passed => ("✓", Role::Ok),
        TestOutcome::Failed => ("✗", Role::Error),
        TestOutcome::Error => ("!", Role::Error),
        TestOutcome::Skipped => ("○", Role::Dim),
    }
}

fn analysis_line(row: &AnalysisRow, cx: &Cx<'_>) -> Line<'static> {
    let (mark, role) = match row.weight {
        0 => ("·", Role::Dim),
        1 => ("!", Role::LogWarn),
        _ => ("✗", Role::LogError),
    };
    let mut spans = vec![cx.span(format!(" {mark} "), role)];
    if let Some(file) = &row.file {
        let line = row.line.map_or_else(String::new, |line| format!(":{line}"));
        let place = format!("{}{line}  ", sanitize::line(file));
        spans.push(cx.span(place, Role::Link));
    }
    spans.push(cx.span(line::clean(&row.text), Role::Text));
    Line::from(spans)
}

/// What else is to be known of a run.
fn notes(report: &TestReport, cx: &Cx<'_>) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    if report.omitted > 0 {
        let text = format!(" {} more tests are not shown", line::grouped(report.omitted.into()));
        lines.push(cx.line(text, Role::Dim));
    }
    let words = |note: &String| format!(" {}", sanitize::line(note));
    lines.extend(report.notes.iter().map(|note| cx.line(words(note), Role::Warn)));
    lines
}

/// How the selected test ended in this run and those before.
fn history(run: &TestRunView, test: &TestCase, cx: &Cx<'_>) -> Line<'static> {
    let all = cx.view.logs.tests.history(run.run, &test.name);
    let mut spans =
        vec![cx.span(
            format!(" {} · {}", sanitize::line(&test.name), test.outcome.word()),
            Role::Strong,
        )];
    if all.len() > 1 {
        spans.push(cx.span("  history ", Role::Dim));
        let newest = all.get(all.len().saturating_sub(HISTORY)..).unwrap_or_default();
        for ended in newest {
            let (mark, role) = outcome(*ended);
            spans.push(cx.span(mark, role));
        }
    }
    Line::from(spans)
}

fn output(test: &TestCase, cx: &Cx<'_>) -> Vec<Line<'static>> {
    let style = cx.style(Role::Text);
    let message = (!test.message.is_empty()).then_some(test.message.as_str());
    let lines = message.into_iter().chain(test.output.lines());
    lines.map(|line| Line::styled(format!("   {}", sanitize::line(line)), style)).collect()
}

/// The first of `count` results that is shown, so that the selected one is.
fn first_in_sight(count: usize, selected: usize, height: u16) -> usize {
    let height = usize::from(height).max(1);
    selected.saturating_sub(height / 2).min(count.saturating_sub(height))
}

/// Draws as many results as there is room for, the selected one among them.
fn draw_list(
    lines: impl Fn(usize) -> Option<(Line<'static>, Line<'static>)>,
    (selected, count): (usize, usize),
    area: Rect,
    buf: &mut Buffer,
    cx: &Cx<'_>,
) {
    let first = first_in_sight(count, selected, area.height);
    for (place, row) in (first..).zip(area.rows()) {
        let Some((left, mut right)) = lines(place) else { return };
        let is_marked = place == selected && count > 1;
        if is_marked {
            right = Line::from(right.spans);
            right.push_span(cx.span(format!("{}/{count} ", selected + 1), Role::Dim));
        }
        line::draw_split(&left, &right, row, buf);
        if is_marked {
            line::tint(row, Style { fg: None, ..cx.selection() }, buf);
        }
    }
}

fn draw_detail(lines: &[Line<'static>], above: usize, area: Rect, buf: &mut Buffer) {
    let above = above.min(lines.len().saturating_sub(1));
    for (text, row) in lines.iter().skip(above).zip(area.rows()) {
        line::draw(text, row, buf);
    }
}
