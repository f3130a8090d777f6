//! The mouse: where it points decides which pane is told, and what is turned, drawn out or copied.
//!
//! Must not decide anything: no click is a decision.

use crossterm::event::{MouseEvent, MouseEventKind};

use crate::view::SessionView;

use super::Ui;
use super::action::Action;
use super::input::Now;
use super::layout::PaneId;
use super::pane::{Effect, Mode, UiCommand};
use super::pointer::{Pointed, TextSelection, WheelTurn};

/// Rows that one notch of the wheel scrolls.
const WHEEL_ROWS: usize = 3;

impl Ui {
    pub(super) fn on_mouse(&mut self, mouse: MouseEvent, now: Now<'_>) -> Vec<Effect> {
        if self.controls.overlay.is_some() || !self.is_usable() {
            return match (mouse.kind, self.is_usable()) {
                (MouseEventKind::ScrollUp, true) => self.act(Action::Up, None, now),
                (MouseEventKind::ScrollDown, true) => self.act(Action::Down, None, now),
                _ => Vec::new(),
            };
        }
        if matches!(mouse.kind, MouseEventKind::Down(_)) {
            self.controls.screen.selection = None;
        }
        let sizes = self.controls.screen.sizes;
        let Some(pointed) = self.controls.screen.pointer.on(mouse, &self.layout, sizes) else {
            return Vec::new();
        };
        match pointed {
            Pointed::Wheel(Some(id), WheelTurn::Up) => self.wheel(id, Action::Up, now),
            Pointed::Wheel(Some(id), WheelTurn::Down) => self.wheel(id, Action::Down, now),
            Pointed::Wheel(None, _) => Vec::new(),
            Pointed::Title(id, column) => {
                let mut effects = vec![Effect::Focus(id)];
                effects.extend(self.with_pane(id, now, |pane, cx| pane.on_title_click(column, cx)));
                effects
            }
            Pointed::Body(id, inside) => {
                let mut effects = vec![Effect::Focus(id)];
                effects.extend(self.with_pane(id, now, |pane, cx| pane.on_click(inside, cx)));
                effects
            }
            Pointed::Bottom(_) if self.scene.mode == Mode::Live => {
                vec![Effect::Compose(String::new())]
            }
            Pointed::Bottom(column) => {
                let width = self.layout.bottom.width;
                self.panes.timeline.on_click(column, width, now.view, self.scene.timeline.as_ref())
            }
            Pointed::Resize(sizes) => {
                self.controls.screen.sizes = sizes;
                Vec::new()
            }
            Pointed::Select(selection) => {
                self.controls.screen.selection = Some(selection);
                Vec::new()
            }
            Pointed::Copy(selection) => self.copy(selection, now.view),
        }
    }

    /// Copies the text of a selection, which stays marked until the next key or click.
    fn copy(&mut self, selection: TextSelection, view: &SessionView) -> Vec<Effect> {
        // The marks themselves are no text.
        self.controls.screen.selection = None;
        let text = self.text_of(selection, view);
        self.controls.screen.selection = Some(selection);
        if text.trim().is_empty() {
            return Effect::info("there is no text in the selection");
        }
        let lines = text.lines().count();
        let words = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
        let mut effects =
            Effect::info(format!("{words} copied, if the terminal allows it (OSC 52)"));
        effects.push(Effect::Command(UiCommand::Copy(text)));
        effects
    }

    fn wheel(&mut self, id: PaneId, action: Action, now: Now<'_>) -> Vec<Effect> {
        self.with_pane(id, now, |pane, cx| {
            for _ in 0..WHEEL_ROWS {
                pane.on_action(action, cx);
            }
            Vec::new()
        })
    }
}
