//! The mouse from one event to the next, and the text that is selected with it.
//!
//! Must not decide anything: no click is a decision.

use crossterm::event::{MouseEvent, MouseEventKind};

use super::areas::Areas;
use super::pane::{Effect, UiCommand};
use super::pointer::{Pointed, Pointer, TextSelection};
use crate::view::plural;

/// The mouse, and what it marked.
#[derive(Debug, Default)]
pub(super) struct Mouse {
    pointer: Pointer,
    /// Text that is or was selected.
    pub selection: Option<TextSelection>,
}

impl Mouse {
    /// What an event of the mouse is about. A selection stays marked until the next key or click.
    pub(super) fn on(&mut self, mouse: MouseEvent, areas: &Areas) -> Option<Pointed> {
        if matches!(mouse.kind, MouseEventKind::Down(_)) {
            self.selection = None;
        }
        let pointed = self.pointer.on(mouse, &areas.layout, areas.sizes);
        if let Some(Pointed::Select(selection) | Pointed::Copy(selection)) = pointed {
            self.selection = Some(selection);
        }
        pointed
    }
}

/// Copies the text of a selection.
pub(super) fn copy(text: String) -> Vec<Effect> {
    if text.trim().is_empty() {
        return Effect::info("there is no text in the selection");
    }
    let words = plural(text.lines().count(), "line");
    let mut effects = Effect::info(format!("{words} copied, if the terminal allows it (OSC 52)"));
    effects.push(Effect::Command(UiCommand::Copy(text)));
    effects
}
