//! The values that a port prints, as a curve below its lines.
//!
//! Owns the newest of them, so many and no more. Must not read what is not new.

use std::collections::VecDeque;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Widget};

use crate::model::{LogId, LogSource};
use crate::text::{sanitize, values};
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;

/// Values that are kept of each name.
const KEEP: usize = 600;

/// Names that are told apart.
const MAX_SERIES: usize = 32;

/// Bytes looked through in a frame: a few milliseconds.
const BUDGET: u64 = 192 << 10;

/// How far back it looks, at first and when a port is too fast.
const BACKLOG: u64 = 1 << 20;

/// A line without an end is not waited for beyond this.
const MAX_LINE: usize = 4096;

#[derive(Debug)]
struct Series {
    name: String,
    values: VecDeque<f64>,
}

/// What a log has in values.
#[derive(Debug)]
pub struct ValueChart {
    log: LogId,
    /// Bytes looked at.
    scanned: u64,
    /// Bytes there are.
    end: u64,
    partial: Vec<u8>,
    series: Vec<Series>,
    /// The name that shows.
    shown: usize,
    /// Whether the person chose it; until then it is the one with the most values.
    is_chosen: bool,
}

impl ValueChart {
    /// Nothing is known yet.
    pub const fn new(log: LogId) -> Self {
        Self {
            log,
            scanned: 0,
            end: 0,
            partial: Vec::new(),
            series: Vec::new(),
            shown: 0,
            is_chosen: false,
        }
    }

    /// Turns to the next name, round the end; `None` when there is no other.
    pub fn next(&mut self) -> Option<&str> {
        self.shown = (self.shown + 1) % self.series.len().max(1);
        self.is_chosen = true;
        let shown = self.series.get(self.shown).filter(|_| self.series.len() > 1)?;
        Some(&shown.name)
    }

    /// Whether there is more to look through although nothing new came.
    pub const fn is_busy(&self) -> bool {
        self.scanned < self.end
    }

    /// Goes on in the first `end` bytes of a log; from anew when it is another one, or shorter.
    pub fn sync(&mut self, source: &dyn LogSource, log: LogId, end: u64) {
        if log != self.log || end < self.end {
            let wanted = self.series.get(self.shown).filter(|_| self.is_chosen);
            let wanted = wanted.map(|series| series.name.clone());
            let is_chosen = wanted.is_some();
            *self = Self { is_chosen, ..Self::new(log) };
            // The same name shows again as soon as it comes.
            self.series.extend(wanted.map(|name| Series { name, values: VecDeque::new() }));
        }
        self.end = end;
        let gone = source.start(log).unwrap_or_default().bytes.min(end);
        let first = gone.max(end.saturating_sub(BACKLOG));
        if self.scanned < first {
            self.scanned = first;
            self.partial.clear();
        }
        let until = end.min(self.scanned + BUDGET);
        if until == self.scanned {
            return;
        }
        // What cannot be read is not drawn; the lines above say why.
        let bytes = source.read_log(log, self.scanned..until).unwrap_or_default();
        self.scanned = until;
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.partial.len() > MAX_LINE {
                let whole = std::mem::take(&mut self.partial);
                self.take(&sanitize::log_line(&whole));
            }
        }
        self.choose();
    }

    /// Shows the name with the most values, the first of several, unless the person chose one.
    fn choose(&mut self) {
        if self.is_chosen {
            return;
        }
        let count = |place: usize| self.series.get(place).map_or(0, |series| series.values.len());
        for place in 0..self.series.len() {
            if count(place) > count(self.shown) {
                self.shown = place;
            }
        }
    }

    fn take(&mut self, text: &str) {
        for (name, value) in values::values(text) {
            if !self.series.iter().any(|series| series.name == name)
                && self.series.len() < MAX_SERIES
            {
                self.series.push(Series { name: name.to_owned(), values: VecDeque::new() });
            }
            let known = self.series.iter_mut().find(|series| series.name == name);
            let Some(series) = known else { continue };
            if series.values.len() >= KEEP {
                series.values.pop_front();
            }
            series.values.push_back(value);
        }
    }

    /// Draws the name with its newest, least and greatest value, and the curve below.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let Some(title) = area.rows().next() else { return };
        let dim = cx.style(Role::Dim);
        let next = cx.key(KeyContext::Logs, Action::NextValue);
        let close = cx.key(KeyContext::Logs, Action::LogValues);
        let Some(series) = self.series.get(self.shown).filter(|series| !series.values.is_empty())
        else {
            let words = if self.is_busy() {
                " looking for values…".to_owned()
            } else {
                format!(" no value yet; one looks like temp=23.4 or temp: 23.4 C · {close} closes")
            };
            return line::draw(&Line::styled(words, dim), title, buf);
        };
        let last = series.values.back().copied().unwrap_or_default();
        let low = series.values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = series.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let left = Line::from(vec![
            cx.span(format!(" {}", sanitize::line(&series.name)), Role::Strong),
            cx.span(format!("  {}", short(last)), Role::Text),
            Span::styled(
                format!("  {} … {} · {} values", short(low), short(high), series.values.len()),
                dim,
            ),
        ]);
        let right = match self.series.len() {
            1 => format!("{close} closes "),
            count => format!("{}/{count} · {next} next · {close} closes ", self.shown + 1),
        };
        line::draw_split(&left, &Line::styled(right, dim), title, buf);
        let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
        draw_curve(series, (low, high), body, buf, cx);
    }
}

fn draw_curve(series: &Series, (low, high): (f64, f64), area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    if area.height == 0 {
        return;
    }
    // A value that never changes has its line in the middle.
    let (low, high) = if low < high { (low, high) } else { (low - 1.0, high + 1.0) };
    let points: Vec<(f64, f64)> =
        (0_u32..).map(f64::from).zip(series.values.iter().copied()).collect();
    let end = points.last().map_or(1.0, |last| last.0.max(1.0));
    let dim = cx.style(Role::Dim);
    let data = Dataset::default()
        .marker(Marker::Braille)
        .graph_type(GraphType::Line)
        .style(cx.style(Role::Accent))
        .data(&points);
    let labels = [short(low), short(high)].map(|label| Span::styled(label, dim));
    Chart::new(vec![data])
        .x_axis(Axis::default().bounds([0.0, end]).style(dim))
        .y_axis(Axis::default().bounds([low, high]).labels(labels).style(dim))
        .legend_position(None)
        .render(Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }, buf);
}

/// A value in few characters.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1.0e7 => format!("{value:.3e}"),
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::model::{LogKind, UserError};

    struct MemoryLog(Vec<u8>);

    impl LogSource for MemoryLog {
        fn read_log(&self, _: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
            Ok(self.0[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
                .to_vec())
        }
    }

    const LOG: LogId = LogId { kind: LogKind::Serial, number: 1 };

    fn read(chart: &mut ValueChart, source: &MemoryLog, end: usize) {
        chart.sync(source, LOG, end as u64);
        while chart.is_busy() {
            chart.sync(source, LOG, end as u64);
        }
    }

    fn last(chart: &ValueChart, name: &str) -> Option<(usize, f64)> {
        let series = chart.series.iter().find(|series| series.name == name)?;
        Some((series.values.len(), *series.values.back()?))
    }

    #[test]
    fn the_newest_values_are_kept_whatever_the_pieces_and_no_more() {
        let text: String = (0..100_000)
            .map(|n| format!("\x1b[0;32mI ({n}) app: n={n} half: {}.5 C\x1b[0m\r\n", n / 2))
            .collect();
        let source = MemoryLog(text.into_bytes());
        let mut chart = ValueChart::new(LOG);
        for end in [0, 7, 40, 90, source.0.len() / 2, source.0.len()] {
            read(&mut chart, &source, end);
        }
        assert_eq!(last(&chart, "n"), Some((KEEP, 99_999.0)));
        assert_eq!(last(&chart, "half"), Some((KEEP, 49_999.5)));
        assert_eq!(chart.next(), Some("half"));
        // A replay that went back: only what was there then, and the same name.
        read(&mut chart, &source, 90);
        assert!(last(&chart, "half").is_some_and(|(_, value)| value < 5.0));
        assert_eq!(chart.series[chart.shown].name, "half");
    }

    #[test]
    fn garbage_makes_no_more_than_a_bounded_number_of_names() {
        let text: String = (0..5_000).map(|n| format!("n{n}={n}\n")).collect();
        let source = MemoryLog([text.into_bytes(), vec![b'x'; 3 << 20]].concat());
        let mut chart = ValueChart::new(LOG);
        read(&mut chart, &source, 60_000);
        assert_eq!(chart.series.len(), MAX_SERIES);
        read(&mut chart, &source, source.0.len());
        assert!(chart.partial.capacity() < 1 << 20);
    }

    #[test]
    fn values_are_short() {
        let all = [23.4, 0.0, -67.0, 263_248.0, 0.000_12, 1.5e9].map(short);
        assert_eq!(all, ["23.40", "0", "-67", "263248", "1.20e-4", "1.500e9"]);
    }

    #[test]
    fn the_name_with_the_most_values_shows_until_one_is_chosen() {
        let mut text = "boot=1 heap: 5\n".to_owned();
        text.push_str(&"temp=20\nheap: 6\ntemp=21\n".repeat(4));
        let source = MemoryLog(text.clone().into_bytes());
        let mut chart = ValueChart::new(LOG);
        read(&mut chart, &source, text.len());
        let shown = |chart: &ValueChart| chart.series[chart.shown].name.clone();
        assert_eq!(shown(&chart), "temp");
        assert_eq!(chart.next(), Some("boot"));
        let more = format!("{text}temp=1\ntemp=2\n");
        read(&mut chart, &MemoryLog(more.clone().into_bytes()), more.len());
        assert_eq!(shown(&chart), "boot");
    }
}
