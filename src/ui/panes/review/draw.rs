//! How the review is divided: what and who, checks, the change, and what can be decided or came
//! of it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use crate::text::sanitize;
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::panes::wrap::wrap_words;
use crate::ui::role::Role;
use crate::view::ProposalView;

use super::change::Viewport;
use super::change::draw::{self as change_draw, Gutter, Marks};
use super::change::picking::Half;
use super::decision::Decision;
use super::findings::FindingMarks;
use super::foot;
use super::head::{self, HeadRow, ROOMY};
use super::idle;

/// Least columns for the text of each half.
const LEAST_HALF: usize = 34;

/// Panes of no more rows leave out what follows from a change.
const SMALL: u16 = 10;

/// Where the parts of the pane are.
#[derive(Debug, Clone, Default)]
pub struct ReviewAreas {
    /// What and who.
    head: Vec<HeadRow>,
    pub body: Rect,
    /// What can be decided, or came of it.
    foot: Vec<Line<'static>>,
    /// Whether there was no room for all of it.
    pub is_foot_cut: bool,
    /// Its first row.
    foot_at: u16,
    /// Room for the text of the change.
    pub viewport: Viewport,
    /// Columns before it.
    pub gutter: Gutter,
}

impl ReviewAreas {
    /// Row of the change, counted from the topmost in sight, and its half, at a place of the pane;
    /// `None`: outside of the change.
    pub(super) fn spot(&self, at: Position) -> Option<(usize, Half)> {
        let row = usize::from(at.y).checked_sub(self.head.len())?;
        let half = if at.x >= self.body.width / 2 { Half::Right } else { Half::Left };
        (row < usize::from(self.body.height)).then_some((row, half))
    }
}

/// Divides the area for what is on screen, and makes ready what stands above and below the change.
pub(super) fn parts(on_screen: Option<&Decision<'_>>, area: Rect, cx: &Cx<'_>) -> ReviewAreas {
    let (Some(decision), true) = (on_screen, area.width > 12 && area.height > 3) else {
        return ReviewAreas { body: area, ..ReviewAreas::default() };
    };
    let (view, change) = (decision.view, decision.change());
    let body = change.body();
    let width = usize::from(area.width);
    let mut foot = foot::foot(decision, width, cx);
    let most_foot = usize::from(area.height / 3).max(1);
    let is_foot_cut = foot.len() > most_foot;
    foot.truncate(most_foot);
    if area.height > SMALL {
        let rows = consequence(view, width, cx);
        foot.splice(0..0, rows);
    }
    let mut head = head::head(view, body.map(AsRef::as_ref), (width, area.height), cx);
    if cx.view.review.waiting.contains(&decision.own.id)
        && let Some((text, role)) = decision.own.edit_words(cx)
    {
        let left = cx.line(format!(" {text}"), role);
        head.insert(0, HeadRow { left, right: Line::default() });
    }
    let space = (usize::from(area.height) - foot.len()) / 2;
    if head.len() > space.max(1) {
        head.truncate(space.max(1));
        if let Some(last) = head.last_mut() {
            last.right = cx.line("… more when zoomed", Role::Warn);
        }
    } else if area.height >= ROOMY {
        head.push(HeadRow::default());
    }
    let head_rows = u16::try_from(head.len()).unwrap_or(area.height).min(area.height);
    let foot_rows = u16::try_from(foot.len()).unwrap_or(1).min(area.height - head_rows);
    let body_area =
        Rect { y: area.y + head_rows, height: area.height - head_rows - foot_rows, ..area };
    let gutter = body.map_or(Gutter::None, |body| Gutter::of(body, width));
    // The last column is for the mark that tells where in the change one is, the middle one for
    // the rule between the halves.
    let digits = body.map_or(1, |body| body.digits);
    let half = (width / 2).saturating_sub(Gutter::One(digits).width() + 1);
    let space = Viewport {
        one: width.saturating_sub(gutter.width() + 1),
        half: (half >= LEAST_HALF).then_some(half),
        rows: usize::from(body_area.height),
    };
    // What can be decided stands right below a short change.
    let rows = change.total().max(usize::from(body.is_none()));
    let rows = u16::try_from(rows).unwrap_or(u16::MAX);
    let height = if rows == 0 { body_area.height } else { body_area.height.min(rows) };
    let spare = u16::from(body_area.height > height);
    let foot_at = area.y + head_rows + height + spare;
    let body = Rect { height, ..body_area };
    ReviewAreas { head, body, foot, is_foot_cut, foot_at, viewport: space, gutter }
}

/// What follows from a change that waits, in a row or two above what can be decided.
fn consequence(view: &ProposalView, width: usize, cx: &Cx<'_>) -> Vec<Line<'static>> {
    let text = sanitize::line(view.proposal.facts.consequence.trim());
    if text.is_empty() || view.decision.is_some() || view.outcome.is_some() {
        return Vec::new();
    }
    let words = wrap_words(&text, width.saturating_sub(4)).into_iter().take(2).enumerate();
    let row = |(nth, words): (usize, String)| {
        let lead = if nth == 0 { " → " } else { "   " };
        cx.line(format!("{lead}{words}"), Role::Strong)
    };
    words.map(row).collect()
}

/// Draws the pane as it was prepared.
pub(super) fn draw(
    on_screen: Option<&Decision<'_>>,
    parts: &ReviewAreas,
    area: Rect,
    buf: &mut Buffer,
    cx: &Cx<'_>,
) {
    let Some(decision) = on_screen else {
        return idle::draw(area, buf, cx);
    };
    for (row, at) in parts.head.iter().zip(area.rows()) {
        line::draw_split(&row.left, &row.right, at, buf);
    }
    let found = FindingMarks::of(&decision.view.proposal);
    let own = decision.edit().map(|edit| &edit.lines);
    let marks = Marks { picked: decision.picked, found: &found, own };
    change_draw::draw(decision.change(), marks, parts.gutter, parts.body, buf, cx);
    let height = area.bottom().saturating_sub(parts.foot_at);
    let below = Rect { y: parts.foot_at, height, ..area };
    for (row, at) in parts.foot.iter().zip(below.rows()) {
        line::draw(row, at, buf);
    }
}
