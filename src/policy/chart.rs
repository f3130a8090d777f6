//! A comparison as text with bars, and as a picture.
//!
//! Bars go from the lowest value of the comparison, or 0 where none is below, to the highest.

use std::fmt::Write;

use super::compare::{Comparison, Row};
use super::heat_map::{svg_start, svg_text};

/// Columns of a full bar, at most.
const BAR: usize = 24;

/// What a bar shows.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(comparison: &Comparison) -> Self {
        let values = || comparison.policies.iter().map(|row| row.value);
        let low = values().fold(0.0, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        Self { low, high }
    }

    /// As [`Scale::of`], with the ends of all intervals on it.
    fn with_intervals(comparison: &Comparison) -> Self {
        let ends = || comparison.policies.iter().flat_map(|row| row.interval);
        let values = Self::of(comparison);
        Self { low: ends().fold(values.low, f64::min), high: ends().fold(values.high, f64::max) }
    }

    /// Where a value is, 0 to 1.
    fn share(&self, value: f64) -> f64 {
        if self.high <= self.low {
            return 1.0;
        }
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// A name and a bar for each policy in so many columns: value, its interval, success and calls. Where
/// the columns do not suffice, the figures continue on the next line.
#[must_use]
pub fn comparison_text(comparison: &Comparison, width: usize) -> String {
    let scale = Scale::of(comparison);
    let columns = BAR.min(width.saturating_sub(4)).max(1);
    let mut text = String::new();
    for row in &comparison.policies {
        let filled = (scale.share(row.value) * columns as f64).round() as usize;
        let bar = "█".repeat(filled) + &"·".repeat(columns - filled);
        let [low, high] = row.interval;
        push_wrapped(&mut text, "", row.name.split(' ').map(str::to_owned), " ", width);
        let figures = [
            bar,
            format!("{:.2} ({low:.2} to {high:.2})", row.value),
            format!("{:.1} % solved", 100.0 * row.success),
            format!("{:.2} calls", row.calls),
        ];
        push_wrapped(&mut text, "  ", figures.into_iter(), "  ", width);
        let own = row.optimum.map(|optimum| distance(row.value, optimum, "of its own tasks"));
        let is_own = row.name == "saved" && own.is_none();
        let own = own.or_else(|| is_own.then(|| distance(row.value, comparison.optimum, "")));
        if let Some(own) = own {
            push_wrapped(&mut text, "  ", own.split(' ').map(str::to_owned), " ", width);
        }
    }
    text
}

fn distance(value: f64, optimum: f64, of: &str) -> String {
    let below = (optimum - value).max(0.0);
    let share = match optimum.abs() {
        size if size > 0.0 => format!(" ({:.1} %)", 100.0 * below / size),
        _ => String::new(),
    };
    format!("{below:.2} points{share} below the exact optimum {of}").trim_end().to_owned()
}

/// Adds pieces in lines of so many columns.
fn push_wrapped(
    text: &mut String,
    indent: &str,
    pieces: impl Iterator<Item = String>,
    gap: &str,
    width: usize,
) {
    let mut line = String::new();
    for piece in pieces {
        let columns = |text: &str| text.chars().count();
        if line.is_empty() {
            line = format!("{indent}{piece}");
        } else if columns(&line) + columns(gap) + columns(&piece) <= width {
            line = format!("{line}{gap}{piece}");
        } else {
            let _ = writeln!(text, "{line}");
            line = format!("{indent}{piece}");
        }
    }
    let _ = writeln!(text, "{line}");
}

/// The same as a picture in SVG.
#[must_use]
pub fn comparison_svg(comparison: &Comparison) -> String {
    const ROW: usize = 40;
    const HEAD: usize = 50;
    const WIDTH: f64 = 500.0;
    let bars = Scale::with_intervals(comparison);
    let scale = |value: f64| bars.share(value) * WIDTH;
    let mut svg = svg_start((720, HEAD + ROW * comparison.policies.len() + 10));
    svg_text(&mut svg, (4, 16), "Points of reward of a task, with their 95 % interval");
    svg_text(&mut svg, (4, 38), &format!("{:.1}", bars.low));
    svg_text(&mut svg, (480, 38), &format!("{:.1}", bars.high));
    svg_text(&mut svg, (530, 38), "points · solved · calls per task");
    let _ = writeln!(svg, "<line x1=\"4\" x2=\"504\" y1=\"44\" y2=\"44\" stroke=\"black\"/>");
    for (number, row) in comparison.policies.iter().enumerate() {
        let y = HEAD + number * ROW;
        svg_text(&mut svg, (4, y + 16), &row_name(row));
        let (width, [low, high]) = (scale(row.value), row.interval.map(scale));
        let (top, middle) = (y + 20, y + 27);
        let _ = writeln!(
            svg,
            "<rect x=\"4\" y=\"{top}\" width=\"{width:.1}\" height=\"14\" fill=\"#3a7\"/>\n<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{middle}\" y2=\"{middle}\" stroke=\"black\"/>",
            low + 4.0,
            high + 4.0
        );
        let words =
            format!("{:.3} · {:.1} % · {:.2} calls", row.value, 100.0 * row.success, row.calls);
        svg_text(&mut svg, (530, y + 32), &words);
    }
    svg + "</svg>\n"
}

fn row_name(row: &Row) -> String {
    match row.optimum {
        Some(optimum) => format!("{}; the optimum of its own tasks is {optimum:.3}", row.name),
        None => row.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::FiveTasks;
    use super::*;

    fn row(name: &str, value: f64) -> Row {
        let interval = [value - 0.1, value + 0.1];
        Row { name: name.to_owned(), success: 1.0, calls: 2.0, value, interval, optimum: None }
    }

    fn comparison(policies: Vec<Row>, optimum: f64) -> Comparison {
        let five_tasks = FiveTasks::default();
        Comparison { policies, optimum, five_tasks, episodes_per_second: 1.0 }
    }

    fn bars(comparison: &Comparison) -> Vec<usize> {
        let text = comparison_text(comparison, 80);
        let bars = text.lines().filter(|line| line.contains(['█', '·']));
        bars.map(|line| line.matches('█').count()).collect()
    }

    #[test]
    fn bars_are_as_long_as_values() {
        let rows = vec![row("a", 9.0), row("b", 4.5), row("<c>", 0.0)];
        let comparison = comparison(rows, 9.0);
        assert_eq!(bars(&comparison), [24, 12, 0]);
        // The interval of the highest value is on the picture as a whole.
        let svg = comparison_svg(&comparison);
        assert!(svg.contains("x2=\"504.0\"") && svg.contains("&lt;c&gt;"), "{svg}");
        assert!(
            svg.contains(">Points of reward of a task") && svg.contains(">9.1</text>"),
            "{svg}"
        );
    }

    #[test]
    fn the_worse_is_the_shorter_also_where_all_are_below_zero() {
        let rows = vec![row("optimum", -4.0), row("middle", -6.0), row("random", -8.0)];
        let comparison = comparison(rows, -4.0);
        assert_eq!(bars(&comparison), [24, 12, 0]);
        let svg = comparison_svg(&comparison);
        let widths: Vec<f64> = svg
            .split("width=\"")
            .filter_map(|part| part.split_once("\" height=\"14\"")?.0.parse().ok())
            .collect();
        assert!(widths.is_sorted_by(|one, other| one > other), "{widths:?}");
        assert_eq!(widths.len(), 3);
    }

    #[test]
    fn a_comparison_fits_the_columns_and_names_the_distance_of_the_saved_table() {
        let long = "best fixed pipeline of up to 4: coder → tester → debugger → tester";
        let saved = Row { optimum: Some(9.5), ..row("saved", 9.0) };
        let comparison = comparison(vec![row(long, 9.0), row("saved", 8.0), saved], 9.0);
        for width in [80, 60, 40] {
            let text = comparison_text(&comparison, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}\n{text}");
        }
        let text = comparison_text(&comparison, 80);
        assert!(text.contains("1.00 points (11.1 %) below the exact optimum\n"), "{text}");
        assert!(
            text.contains("0.50 points (5.3 %) below the exact optimum of its own tasks"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 8, "{text}");
    }
}
