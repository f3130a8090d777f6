//! The whole screen, drawn from what was prepared.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::view::SessionView;

use super::areas::Areas;
use super::dialogs::Dialogs;
use super::focus::Focus;
use super::hints::HintLine;
use super::layout::{LEAST, PaneArea, PaneId, Shape};
use super::pane::{Cx, Keys, Mode, Notice};
use super::pane_set::Panes;
use super::pointer::TextSelection;
use super::role::Role;
use super::scene::Scene;
use super::screen_kind::ScreenKind;
use super::{header, line, strip};

/// What is drawn: the parts of the screen as they are now.
#[derive(Clone, Copy)]
pub(super) struct Picture<'a> {
    pub scene: &'a Scene,
    pub areas: &'a Areas,
    pub panes: &'a Panes,
    pub focus: &'a Focus,
    pub dialogs: &'a Dialogs,
    pub notice: Option<&'a Notice>,
    pub selection: Option<TextSelection>,
}

impl Picture<'_> {
    /// Draws everything, or what can be said on a screen that is too small.
    pub(super) fn draw(&self, area: Rect, buf: &mut Buffer, view: &SessionView) {
        self.clear(area, buf);
        let cx = self.scene.cx(view, Keys::Elsewhere);
        if self.areas.layout.shape == Shape::TooSmall {
            draw_too_small(area, buf, &cx);
            return;
        }
        self.draw_parts(buf, &cx);
        if let Some(selection) = self.selection {
            let style = cx.style(Role::Selection);
            selection.rows().for_each(|row| buf.set_style(row, style));
        }
        if let Some(overlay) = self.dialogs.get() {
            dim(area, buf, &cx);
            self.hints().draw(self.areas.layout.hints, buf, &cx);
            overlay.draw(area, buf, &cx);
        }
    }

    /// Draws nothing but the background.
    pub(super) fn clear(&self, area: Rect, buf: &mut Buffer) {
        buf.set_style(area, self.scene.looks.theme.style(Role::Text));
    }

    /// The text between two places of the screen as it is drawn, without blanks at the ends.
    pub(super) fn text_of(&self, selection: TextSelection, view: &SessionView) -> String {
        let size = self.areas.size;
        let screen = Rect::new(0, 0, size.width, size.height);
        let mut buf = Buffer::empty(screen);
        self.draw(screen, &mut buf, view);
        let row = |row: Rect| {
            let mut text = String::new();
            let mut covered = 0;
            for cell in row.columns().filter_map(|cell| buf.cell(cell.as_position())) {
                // A wide character covers the cells after it.
                if covered == 0 {
                    text.push_str(cell.symbol());
                    covered = line::width(cell.symbol()).max(1);
                }
                covered -= 1;
            }
            text.trim_end().to_owned()
        };
        selection.rows().map(row).collect::<Vec<_>>().join("\n")
    }

    fn hints(&self) -> HintLine<'_> {
        let Self { panes, focus, dialogs, notice, .. } = *self;
        HintLine { panes, focus, dialogs, notice }
    }

    fn draw_parts(&self, buf: &mut Buffer, cx: &Cx<'_>) {
        let layout = &self.areas.layout;
        header::draw(layout.header, buf, cx);
        strip::draw(layout.strip, buf, cx);
        for area in &layout.panes {
            let cx = Cx { keys: self.focus.keys_of(area.id, self.dialogs), ..*cx };
            let pane = self.panes.pane(area.id);
            match self.panes.glance(area.id) {
                Some(glance) => {
                    self.draw_title(area, |_| glance.title(), buf, &cx);
                    glance.draw(area.body, buf, &cx);
                }
                None => {
                    self.draw_title(area, |columns| pane.title_within(columns, &cx), buf, &cx);
                    pane.draw(area.body, buf, &cx);
                }
            }
        }
        let cx = Cx { keys: self.focus.keys_of_composer(self.dialogs), ..*cx };
        match self.scene.mode {
            Mode::Live if layout.bottom.height == 0 => {}
            Mode::Live if self.tells_run(&cx) => {
                let is_shown = self.chat_tells_task();
                let words = is_shown.then(|| format!("› {}", self.panes.composer.placeholder(&cx)));
                strip::draw_short(layout.bottom, words.as_deref(), buf, &cx);
            }
            Mode::Live => self.panes.composer.draw(layout.bottom, buf, &cx),
            Mode::Replay => self.panes.timeline.draw(layout.bottom, buf, &cx),
        }
        self.hints().draw(layout.hints, buf, &cx);
    }

    /// Whether the place of the composer, in which nothing is written, is of more use for the run.
    fn tells_run(&self, cx: &Cx<'_>) -> bool {
        self.areas.layout.shape == Shape::Narrow
            && self.focus.kind() == ScreenKind::Team
            && cx.keys == Keys::Elsewhere
            && self.panes.composer.is_empty()
            && strip::has_task(cx.view)
            && !(cx.view.head.state.is_over() && self.chat_tells_task())
    }

    /// Whether the task stands at the top of the chat.
    fn chat_tells_task(&self) -> bool {
        let chat = self.areas.layout.pane(PaneId::Chat);
        chat.is_some() && self.panes.tells_task()
    }

    /// The rule over a pane, with its title in it. With one pane at a time it also names the
    /// others.
    fn draw_title(
        &self,
        area: &PaneArea,
        title: impl FnOnce(usize) -> Line<'static>,
        buf: &mut Buffer,
        cx: &Cx<'_>,
    ) {
        let is_front = self.focus.front() == area.id;
        let rule = if is_front { Role::BorderFocus } else { Role::Border };
        let rule = cx.style(rule);
        let row = area.title;
        Span::styled("─".repeat(usize::from(row.width)), rule).render(row, buf);
        let others = self.other_panes(area.id, cx);
        let others_width = u16::try_from(others.width()).unwrap_or(u16::MAX);
        let mut row_area = Rect { x: row.x + 1, width: row.width.saturating_sub(2), ..row };
        if others_width > 0 && others_width + 24 < row.width {
            let x = row.right() - others_width - 1;
            others.render(Rect { x, width: others_width, ..row }, buf);
            row_area.width = row_area.width.saturating_sub(others_width + 1);
        }
        let title = title(usize::from(row_area.width.saturating_sub(2)));
        let width = u16::try_from(title.width() + 2).unwrap_or(u16::MAX).min(row_area.width);
        let base = if is_front { Role::TitleFocus } else { Role::Title };
        let mut spans = vec![Span::raw(" ")];
        spans.extend(title.spans);
        spans.push(Span::raw(" "));
        let line = Line::from(spans).style(cx.style(base).patch(title.style));
        line::draw(&line, Rect { width, ..row_area }, buf);
    }

    /// Names of panes that do not show, with their keys.
    fn other_panes(&self, shown: PaneId, cx: &Cx<'_>) -> Line<'static> {
        use super::action::{Action, KeyContext};
        let layout = &self.areas.layout;
        let is_first = layout.panes.first().is_some_and(|first| first.id == shown);
        let is_alone = self.focus.kind() == ScreenKind::Port;
        if !is_first || is_alone || layout.panes.len() == PaneId::ALL.len() {
            return Line::default();
        }
        let mut spans = Vec::new();
        for id in PaneId::ALL.into_iter().filter(|id| layout.pane(*id).is_none()) {
            let action = match id {
                PaneId::Project => Action::FocusProject,
                PaneId::Chat => Action::FocusChat,
                PaneId::Review => Action::FocusReview,
                PaneId::Logs => Action::FocusLogs,
            };
            let Some(key) = cx.keymap.key_of(&[KeyContext::Global], action) else { continue };
            spans.push(cx.span(format!(" {key} "), Role::Key));
            spans.push(cx.span(id.title(), Role::Title));
            let waits = id == PaneId::Review && !cx.view.review.waiting.is_empty();
            let asks = id == PaneId::Chat && cx.view.head.question.is_some();
            if asks && cx.mode == Mode::Live {
                spans.push(cx.span(" ? ", Role::Waiting));
            }
            if waits && cx.mode == Mode::Live {
                spans.push(cx.span(format!(" {} ", cx.view.review.waiting.len()), Role::Waiting));
            }
        }
        if !spans.is_empty() {
            spans.push(Span::raw(" "));
        }
        Line::from(spans)
    }
}

/// Takes the colours from everything behind a dialog.
fn dim(area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let faint = cx.style(Role::Text).patch(cx.style(Role::Faint));
    buf.set_style(area, faint.remove_modifier(Modifier::all()));
}

fn draw_too_small(area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let waiting = cx.view.review.waiting.len();
    let size =
        format!("firmhand needs {}×{}, this is {}×{}", LEAST.0, LEAST.1, area.width, area.height);
    let text = match waiting {
        0 => size,
        count => format!("{size} · {count} waiting"),
    };
    line::draw(&Line::styled(text, cx.style(Role::Warn)), area, buf);
}
