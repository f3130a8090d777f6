//! A comparison as text with bars, and as a picture.

use std::fmt::Write;

use super::compare::Comparison;
use super::explain::{svg_start, svg_text};

/// Columns of a full bar.
const BAR: f64 = 30.0;

/// A line for each policy: value as a bar, its interval, success and calls.
#[must_use]
pub fn comparison_text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for row in &comparison.policies {
        let share = (row.value / comparison.optimum).clamp(0.0, 1.0);
        let filled = (share * BAR).round() as usize;
        let bar = "█".repeat(filled) + &"·".repeat(BAR as usize - filled);
        let [low, high] = row.interval;
        let _ = writeln!(text, "{}", row.name);
        let _ = writeln!(
            text,
            "  {bar} value {:.3} ({low:.3} to {high:.3}), success {:.2} %, {:.2} calls per task",
            row.value,
            100.0 * row.success,
            row.calls
        );
    }
    text
}

/// The same as a picture in SVG.
#[must_use]
pub fn comparison_svg(comparison: &Comparison) -> String {
    const ROW: usize = 40;
    const WIDTH: f64 = 500.0;
    let scale = |value: f64| (value / comparison.optimum).clamp(0.0, 1.2) * WIDTH;
    let mut svg = svg_start((720, ROW * comparison.policies.len() + 10));
    for (number, row) in comparison.policies.iter().enumerate() {
        let y = number * ROW;
        svg_text(&mut svg, (4, y + 16), &row.name);
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

#[cfg(test)]
mod tests {
    use super::super::compare::{FiveTasks, Row};
    use super::*;

    #[test]
    fn bars_are_as_long_as_values() {
        let row = |name: &str, value| Row {
            name: name.to_owned(),
            success: 1.0,
            calls: 2.0,
            value,
            interval: [value - 0.1, value + 0.1],
        };
        let comparison = Comparison {
            policies: vec![row("a", 9.0), row("b", 4.5), row("<c>", -1.0)],
            optimum: 9.0,
            five_tasks: FiveTasks::default(),
            episodes_per_second: 1.0,
        };
        let text = comparison_text(&comparison);
        let lengths: Vec<usize> = text.lines().map(|line| line.matches('█').count()).collect();
        assert_eq!(lengths, [0, 30, 0, 15, 0, 0]);
        let svg = comparison_svg(&comparison);
        assert!(svg.contains("width=\"500.0\"") && svg.contains("&lt;c&gt;"), "{svg}");
    }
}
