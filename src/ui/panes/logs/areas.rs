//! Where the parts of the logs are.

use ratatui::layout::Rect;

/// Most rows of a curve with its title.
const MAX_CHART: u16 = 12;

/// Whether values are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Not at all.
    Hidden,
    /// Below the lines.
    Shown,
}

/// The parts of the pane, from the top.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LogsAreas {
    /// What is shown, and how it goes.
    pub head: Rect,
    /// What a build found.
    pub findings: Rect,
    pub text: Rect,
    /// The values in them.
    pub chart: Rect,
    /// Filter, search, and how much is below.
    pub foot: Rect,
}

impl LogsAreas {
    /// Shares the area out; findings take half of it at most, values a third of what is left.
    pub fn new(area: Rect, head: usize, findings: usize, values: Values) -> Self {
        let foot_rows = u16::from(area.height > 3);
        let head_rows = u16::from(head > 0 && area.height > 1);
        let rest = area.height.saturating_sub(foot_rows + head_rows);
        let found_rows = u16::try_from(findings).unwrap_or(u16::MAX).min(rest.div_ceil(2));
        let chart_rows = match values {
            Values::Hidden => 0,
            Values::Shown => ((rest - found_rows) / 3).min(MAX_CHART),
        };
        let text_rows = rest - found_rows - chart_rows;
        let part = |y: u16, height: u16| Rect { y: area.y + y, height, ..area };
        Self {
            head: part(0, head_rows),
            findings: part(head_rows, found_rows),
            text: part(head_rows + found_rows, text_rows),
            chart: part(head_rows + found_rows + text_rows, chart_rows),
            foot: part(area.height - foot_rows, foot_rows),
        }
    }
}
