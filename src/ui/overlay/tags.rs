//! Which tags of a port's log show, and up to which level; each change is shown at once.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::pick;
use crate::text::esp_log::{ANY, LogLevel, TagFilter};
use crate::text::sanitize;
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::panes::TagCount;
use crate::ui::role::Role;

/// Rows of tags.
const ROWS: u16 = 14;

/// Columns of a tag.
const NAME: usize = 28;

/// The tags of a log with their levels.
#[derive(Debug)]
pub struct TagList {
    count: TagCount,
    tags: Vec<(String, u64)>,
    filter: TagFilter,
    /// The filter from before, which comes back when nothing is chosen.
    before: TagFilter,
    /// 0 stands for every tag without a level of its own.
    selected: usize,
}

impl TagList {
    /// A list of the tags that `count` finds.
    #[must_use]
    pub fn new(mut count: TagCount, filter: TagFilter) -> Self {
        count.advance();
        let tags = count.tags();
        Self { count, tags, before: filter.clone(), filter, selected: 0 }
    }

    /// Whether lines are still being counted.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.count.is_busy()
    }

    /// Takes over what was counted meanwhile; the selected tag stays selected.
    pub fn prepare(&mut self) {
        if !self.count.is_busy() {
            return;
        }
        self.count.advance();
        let tag = self.tag().to_owned();
        self.tags = self.count.tags();
        let place = self.tags.iter().position(|(name, _)| *name == tag);
        self.selected = place.map_or(0, |place| place + 1);
    }

    fn tag(&self) -> &str {
        let place = self.selected.checked_sub(1).and_then(|place| self.tags.get(place));
        place.map_or(ANY, |(tag, _)| tag.as_str())
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        if pick::paged(action, &mut self.selected, self.tags.len(), usize::from(ROWS - 1)) {
            return Vec::new();
        }
        match action {
            Action::Left => self.step(-1),
            Action::Right => self.step(1),
            Action::Toggle => self.toggle(),
            Action::Accept => vec![Effect::Close],
            Action::Cancel => vec![Effect::Close, Effect::FilterTags(self.before.clone())],
            _ => Effect::info("space hides or shows a tag, left and right set its level"),
        }
    }

    /// Shows a level less or more of the selected tag; none at all is the least.
    fn step(&mut self, by: isize) -> Vec<Effect> {
        let tag = self.tag().to_owned();
        let level = self.filter.level_of(&tag);
        let shown = LogLevel::ALL.iter().filter(|one| Some(**one) <= level).count();
        let next = shown.saturating_add_signed(by).min(LogLevel::ALL.len());
        self.set(&tag, next.checked_sub(1).and_then(|place| LogLevel::ALL.get(place)).copied())
    }

    fn toggle(&mut self) -> Vec<Effect> {
        let tag = self.tag().to_owned();
        let next = match self.filter.level_of(&tag) {
            Some(_) => None,
            None => Some(self.filter.level_of(ANY).unwrap_or(LogLevel::Verbose)),
        };
        self.set(&tag, next)
    }

    fn set(&mut self, tag: &str, level: Option<LogLevel>) -> Vec<Effect> {
        self.filter.set(tag, level);
        vec![Effect::FilterTags(self.filter.clone())]
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let hint = " space hide/show · ←→ level · enter keeps · esc back ";
        let rows = super::rows_for(self.tags.len() + 1).clamp(3, ROWS);
        let inside = super::frame("Tags", hint, (60, rows + 2), screen, buf, cx);
        let space = usize::from(inside.height.saturating_sub(2)).max(1);
        let top = (self.selected + 1).saturating_sub(space);
        let every = ("every other tag".to_owned(), 0);
        let all = std::iter::once(&every).chain(&self.tags);
        let mut areas = inside.rows();
        for ((place, (tag, count)), row) in all.enumerate().skip(top).take(space).zip(&mut areas) {
            let rule = if place == 0 { ANY } else { tag };
            self.draw_row((rule, tag, *count), row, buf, cx);
            super::mark_selected(place == self.selected, row, buf, cx);
        }
        let foot = Rect { y: inside.bottom().saturating_sub(1), height: 1, ..inside };
        let words = match self.count.others() {
            _ if self.is_busy() => "counting…".to_owned(),
            1 => "1 line without a tag is always shown".to_owned(),
            others => format!("{} lines without a tag are always shown", line::grouped(others)),
        };
        line::draw(&cx.line(words, Role::DialogDim), foot, buf);
    }

    fn draw_row(
        &self,
        (rule, name, count): (&str, &str, u64),
        row: Rect,
        buf: &mut Buffer,
        cx: &Cx<'_>,
    ) {
        let level = self.filter.level_of(rule);
        let role = if level.is_some() { Role::Dialog } else { Role::DialogDim };
        let name = line::cut(&sanitize::line(name), NAME);
        let pad = " ".repeat((NAME + 2).saturating_sub(line::width(&name)));
        let mut spans = vec![cx.span(format!("{name}{pad}"), role)];
        for one in LogLevel::ALL {
            let role = match one {
                LogLevel::Error => Role::LogError,
                LogLevel::Warning => Role::LogWarn,
                LogLevel::Info | LogLevel::Debug | LogLevel::Verbose => Role::Dialog,
            };
            let is_shown = Some(one) <= level;
            let (letter, role) =
                if is_shown { (one.letter(), role) } else { ('·', Role::DialogDim) };
            spans.push(cx.span(format!("{letter} "), role));
        }
        let right = if count > 0 { line::grouped(count) } else { String::new() };
        line::draw_split(&Line::from(spans), &cx.line(right, role), row, buf);
    }
}
