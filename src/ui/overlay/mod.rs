//! Dialogs over the panes: help, palette, themes, leaving, a reason, a list to decide, a file.
//!
//! While one is open it has all keys. Closing one without an answer never decides anything.

mod batch;
mod help;
mod jump_to;
mod palette;
mod preview;
mod quit;
mod reason;
pub(super) mod search_field;
mod themes;

pub use batch::{BatchList, BatchRow};
pub use help::{HelpView, key_table};
pub use jump_to::JumpTo;
pub use palette::{PaletteEntry, PaletteView};
pub use preview::{Files, Preview};
pub use quit::QuitChoice;
pub use reason::ReasonInput;
pub use themes::ThemeList;

use std::time::Instant;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType, Borders, Clear, Padding, Widget};

use crate::model::ProposalId;

use super::action::Action;
use super::job::LOOK;
use super::key::Key;
use super::pane::{Cx, Effect};
use super::role::Role;

/// A dialog.
#[derive(Debug)]
pub enum Overlay {
    /// What every key does.
    Help(HelpView),
    /// Every action by its words.
    Palette(PaletteView),
    /// How things look.
    Themes(ThemeList),
    /// Leave while a run goes on?
    Quit(QuitChoice),
    /// Why is it rejected?
    Reason(ReasonInput),
    /// What is about to be decided together.
    Batch(BatchList),
    /// What is in a file.
    Preview(Preview),
    /// To where in a replay?
    JumpTo(JumpTo),
}

impl Overlay {
    /// Whether accepting it decides something for good.
    #[must_use]
    pub const fn is_decision(&self) -> bool {
        match self {
            Self::Batch(_) => true,
            Self::Help(_)
            | Self::Palette(_)
            | Self::Themes(_)
            | Self::Quit(_)
            | Self::Reason(_)
            | Self::Preview(_)
            | Self::JumpTo(_) => false,
        }
    }

    /// The proposals it is about; it makes no sense any more when one of them is decided.
    #[must_use]
    pub fn proposals(&self) -> Vec<ProposalId> {
        match self {
            Self::Help(_)
            | Self::Palette(_)
            | Self::Themes(_)
            | Self::Quit(_)
            | Self::Preview(_)
            | Self::JumpTo(_) => Vec::new(),
            Self::Reason(reason) => vec![reason.proposal()],
            Self::Batch(batch) => batch.proposals(),
        }
    }

    /// Whether it wants this key as text.
    #[must_use]
    pub fn wants_text(&self, key: Key) -> bool {
        match self {
            Self::Reason(_) | Self::Palette(_) => key.is_text(),
            // Up and down walk through what was found.
            Self::JumpTo(_) => key.is_text() && !key.is_vertical(),
            Self::Help(help) => help.is_searching() && key.is_text(),
            Self::Themes(_) | Self::Quit(_) | Self::Batch(_) | Self::Preview(_) => false,
        }
    }

    /// A key that types or edits text.
    pub fn on_text(&mut self, key: &KeyEvent) {
        match self {
            Self::Reason(reason) => reason.on_text(key),
            Self::JumpTo(jump) => jump.on_text(key),
            Self::Palette(palette) => palette.on_text(key),
            Self::Help(help) => help.on_text(key),
            Self::Themes(_) | Self::Quit(_) | Self::Batch(_) | Self::Preview(_) => {}
        }
    }

    /// Pasted text; tells whether there was a place for it.
    pub fn on_paste(&mut self, text: &str) -> bool {
        match self {
            Self::Reason(reason) => {
                reason.on_paste(text);
                true
            }
            Self::Palette(palette) => {
                palette.on_paste(text);
                true
            }
            Self::JumpTo(jump) => {
                jump.on_paste(text);
                true
            }
            Self::Help(_) | Self::Themes(_) | Self::Quit(_) | Self::Batch(_) | Self::Preview(_) => {
                false
            }
        }
    }

    /// Does what a key asked for.
    pub fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        match self {
            Self::Help(help) => help.on_action(action, cx),
            Self::Themes(themes) => themes.on_action(action),
            _ if action == Action::Cancel => vec![Effect::Close],
            Self::Palette(palette) => palette.on_action(action),
            Self::Quit(quit) => quit.on_action(action),
            Self::Reason(reason) => reason.on_action(action),
            Self::Batch(batch) => batch.on_action(action, cx),
            Self::Preview(preview) => preview.on_action(action),
            Self::JumpTo(jump) => jump.on_action(action, cx),
        }
    }

    /// Brings it up to date for a screen of that size.
    pub fn prepare(&mut self, screen: Size) {
        match self {
            Self::Preview(preview) => preview.prepare(screen),
            Self::JumpTo(jump) => jump.prepare(),
            Self::Help(_)
            | Self::Palette(_)
            | Self::Themes(_)
            | Self::Quit(_)
            | Self::Reason(_)
            | Self::Batch(_) => {}
        }
    }

    /// When it changes by itself.
    #[must_use]
    pub fn next_wake(&self, now: Instant) -> Option<Instant> {
        match self {
            Self::Preview(preview) => preview.next_wake(now),
            Self::JumpTo(jump) => jump.is_busy().then(|| now + LOOK),
            Self::Help(_)
            | Self::Palette(_)
            | Self::Themes(_)
            | Self::Quit(_)
            | Self::Reason(_)
            | Self::Batch(_) => None,
        }
    }

    /// Draws it over everything else.
    pub fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        match self {
            Self::Help(help) => help.draw(screen, buf, cx),
            Self::Palette(palette) => palette.draw(screen, buf, cx),
            Self::Themes(themes) => themes.draw(screen, buf, cx),
            Self::Quit(quit) => quit.draw(screen, buf, cx),
            Self::Reason(reason) => reason.draw(screen, buf, cx),
            Self::Batch(batch) => batch.draw(screen, buf, cx),
            Self::Preview(preview) => preview.draw(screen, buf, cx),
            Self::JumpTo(jump) => jump.draw(screen, buf, cx),
        }
    }
}

/// Draws the frame of a dialog in the middle of the screen and tells where its inside is.
fn frame(
    title: &str,
    bottom: Line<'static>,
    (width, height): (u16, u16),
    screen: Rect,
    buf: &mut Buffer,
    cx: &Cx<'_>,
) -> Rect {
    let width = width.saturating_add(4).min(screen.width.saturating_sub(2));
    let height = height.saturating_add(2).min(screen.height.saturating_sub(2));
    let area = Rect {
        x: screen.x + (screen.width - width) / 2,
        y: screen.y + (screen.height - height) / 2,
        width,
        height,
    };
    Clear.render(area, buf);
    let block = Block::new()
        .borders(Borders::ALL)
        .border_type(BorderType::Rounded)
        .border_style(cx.style(Role::DialogBorder))
        .style(cx.style(Role::Dialog))
        .title(format!(" {title} "))
        .title_bottom(bottom.right_aligned())
        .padding(Padding::horizontal(1));
    let inside = block.inner(area);
    block.render(area, buf);
    inside
}
