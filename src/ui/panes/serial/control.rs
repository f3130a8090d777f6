//! What a person does with the port that is shown: connect, send, reset, change its speed.
//!
//! Owns the line being typed. Each act is the person's own key on the Serial tab; nothing else
//! comes this way.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::Line;

use crate::model::{SerialCommand, SerialControl};
use crate::ui::action::{Action, KeyContext};
use crate::ui::pane::{Cx, Effect, Mode, UiCommand};
use crate::view::SerialView;

use super::send_line::SendLine;

/// Speeds in the order of the key.
const BAUDS: [u32; 6] = [115_200, 230_400, 460_800, 921_600, 9_600, 74_880];

/// The person's hands on ports.
#[derive(Debug, Default)]
pub struct SerialActions {
    line: SendLine,
    is_typing: bool,
}

impl SerialActions {
    /// Whether an action is for a port.
    pub const fn knows(action: Action) -> bool {
        matches!(
            action,
            Action::SerialConnect
                | Action::SerialSend
                | Action::SerialEnding
                | Action::SerialBaud
                | Action::SerialReset
                | Action::SerialBootLoader
        )
    }

    /// Whether a line is being typed.
    pub const fn is_typing(&self) -> bool {
        self.is_typing
    }

    /// Leaves the line as it is.
    pub const fn leave(&mut self) {
        self.is_typing = false;
    }

    /// Pasted text for the line.
    pub fn paste(&mut self, text: &str) {
        self.line.insert(text);
    }

    /// The row to type in.
    pub fn row(&self, cx: &Cx<'_>) -> Line<'static> {
        self.line.line(&cx.key(KeyContext::Logs, Action::SerialEnding), cx)
    }

    /// A key for the line; `serial` is the port that is shown.
    pub fn on_key(&mut self, key: &KeyEvent, serial: Option<&SerialView>) -> Vec<Effect> {
        match key.code {
            KeyCode::Esc => self.is_typing = false,
            KeyCode::Enter => {
                let Some(serial) = serial.filter(|serial| is_there(serial)) else {
                    return Effect::refuse("the board is not connected; your text is kept");
                };
                let (port, text) = (serial.port.clone(), self.line.take());
                let send = SerialCommand::Send { port, text };
                return vec![Effect::Command(UiCommand::Serial(send))];
            }
            _ => self.line.on_key(key),
        }
        Vec::new()
    }

    /// Does what a key asked for.
    pub fn act(&mut self, action: Action, serial: Option<&SerialView>, cx: &Cx<'_>) -> Vec<Effect> {
        if action == Action::SerialEnding {
            self.line.ending = self.line.ending.next();
            return Effect::info(format!("lines end with {}", self.line.ending.name()));
        }
        if cx.mode == Mode::Replay {
            return Effect::refuse("this is a replay; no board is connected to it");
        }
        let Some(serial) = serial else {
            return Effect::refuse("this key is for the Serial tab, once a port was opened");
        };
        let port = serial.port.clone();
        let command = match action {
            Action::SerialConnect if serial.closed.is_some() => {
                SerialCommand::Open { port, baud: serial.baud.max(1) }
            }
            Action::SerialConnect => SerialCommand::Close { port },
            _ if !is_there(serial) => {
                let key = cx.key(KeyContext::Logs, Action::SerialConnect);
                return Effect::refuse(match serial.closed {
                    Some(_) => format!("the port is closed; `{key}` opens it"),
                    None => "the board is not connected".to_owned(),
                });
            }
            Action::SerialSend => {
                self.is_typing = true;
                return Vec::new();
            }
            Action::SerialBaud => {
                let place = BAUDS.iter().position(|baud| *baud == serial.baud);
                let next = place.map_or(0, |place| (place + 1) % BAUDS.len());
                let baud = BAUDS.get(next).copied().unwrap_or(serial.baud);
                SerialCommand::Control { port, control: SerialControl::Baud(baud) }
            }
            Action::SerialReset => SerialCommand::Control { port, control: SerialControl::Reset },
            _ => SerialCommand::Control { port, control: SerialControl::BootLoader },
        };
        vec![Effect::Command(UiCommand::Serial(command))]
    }
}

fn is_there(serial: &SerialView) -> bool {
    serial.closed.is_none() && serial.away.is_none()
}
