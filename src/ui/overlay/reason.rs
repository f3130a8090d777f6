//! The reason for a rejection: free text, or one of some that are often used.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use tui_textarea::{CursorMove, TextArea, WrapMode};

use crate::model::{ContentHash, Intent, ProposalId, Verdict};
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::role::Role;

/// Reasons that are often used.
const TEMPLATES: [&str; 5] = [
    "Wrong file: ",
    "Too much changed: only do what was asked.",
    "This breaks existing behaviour: ",
    "Use the ESP-IDF API instead: ",
    "Not needed.",
];

/// The reason while it is being written.
#[derive(Debug)]
pub struct ReasonInput {
    proposal: ProposalId,
    shown: ContentHash,
    what: String,
    text: Box<TextArea<'static>>,
    /// Which template is in the field; `None`: the person's own words.
    template: Option<usize>,
}

impl ReasonInput {
    /// Begins an empty reason for the rejection of `proposal`, which was shown with that hash;
    /// `what` names it, e.g. `save main/main.c`.
    #[must_use]
    pub fn new(proposal: ProposalId, shown: ContentHash, what: String) -> Self {
        Self { proposal, shown, what, text: field(""), template: None }
    }

    /// What is rejected.
    #[must_use]
    pub const fn proposal(&self) -> ProposalId {
        self.proposal
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        use crossterm::event::KeyCode;
        match key.code {
            KeyCode::Up => self.take_template(-1),
            KeyCode::Down => self.take_template(1),
            _ => {
                self.text.input(*key);
            }
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.text.insert_str(text.replace(['\r', '\n'], " "));
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Up => self.take_template(-1),
            Action::Down => self.take_template(1),
            Action::Accept => {
                let reason = self.text.lines().join(" ").trim().to_owned();
                let verdict = Verdict::reject(reason);
                let (proposal, shown) = (self.proposal, self.shown);
                let intent = Intent::Decide { proposal, shown, unseen: 0, verdict };
                return vec![Effect::Close, Effect::intent(intent)];
            }
            _ => return Effect::info("write the reason; enter rejects, esc goes back"),
        }
        Vec::new()
    }

    /// Goes through the templates; what the person wrote is never replaced.
    fn take_template(&mut self, step: isize) {
        let current = self.text.lines().join(" ");
        let is_own = !current.is_empty()
            && self
                .template
                .and_then(|place| TEMPLATES.get(place))
                .is_none_or(|text| *text != current);
        if is_own {
            return;
        }
        let count = TEMPLATES.len();
        let place = match (self.template, step < 0) {
            (None, false) => 0,
            (None, true) => count - 1,
            (Some(place), false) => (place + 1) % count,
            (Some(place), true) => (place + count - 1) % count,
        };
        self.template = Some(place);
        self.text = field(TEMPLATES.get(place).copied().unwrap_or_default());
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let hint =
            Line::styled(" enter rejects · ↑↓ templates · esc back ", cx.style(Role::DialogDim));
        let inside = super::frame("Reject", hint, (72, 6), screen, buf, cx);
        let mut rows = inside.rows();
        if let Some(row) = rows.next() {
            let what = line::cut(&self.what, usize::from(row.width));
            Line::styled(what, cx.style(Role::Dialog)).render(row, buf);
        }
        if let Some(row) = rows.next() {
            let text = "Why? The agent reads this in the same turn. It may stay empty.";
            Line::styled(text, cx.style(Role::DialogDim)).render(row, buf);
        }
        let field = Rect {
            y: inside.y.saturating_add(3).min(inside.bottom()),
            height: inside.height.saturating_sub(3),
            ..inside
        };
        let mut text = self.text.clone();
        text.set_style(cx.style(Role::Dialog));
        text.set_cursor_style(cx.style(Role::Cursor));
        text.render(field, buf);
    }
}

fn field(text: &str) -> Box<TextArea<'static>> {
    let mut field = TextArea::new(vec![text.to_owned()]);
    field.set_cursor_line_style(ratatui::style::Style::new());
    field.set_wrap_mode(WrapMode::WordOrGlyph);
    field.move_cursor(CursorMove::End);
    Box::new(field)
}
