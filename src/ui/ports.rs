//! The screen before a port is opened: the ports there are, as they come and go.
//!
//! Owns the list and the choice only; whoever shows it looks for ports and opens what is chosen.

use crossterm::event::{Event, KeyEvent, KeyEventKind};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::text::sanitize;

use super::action::{Action, KeyContext};
use super::key::Key;
use super::keymap::{Keymap, Lookup};
use super::layout::LEAST;
use super::line;
use super::role::Role;
use super::theme::Theme;

/// A port as the list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortRow {
    /// Its path or address.
    pub port: String,
    /// What it is called.
    pub label: String,
    /// The chip that may be behind it; empty when nothing tells.
    pub chip: String,
    /// Whether it can be opened.
    pub presence: Presence,
}

/// Whether a port is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is, or may be: an address is only known when it is opened.
    There,
    /// It is not; it was asked for and is waited for.
    Awaited,
}

/// What the person chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortChoice {
    /// Listen to this one.
    Open(String),
    Quit,
    /// Back to the shell until continued.
    Suspend,
}

pub struct PortList {
    theme: Theme,
    keymap: Keymap,
    rows: Vec<PortRow>,
    selected: usize,
    notice: Option<String>,
}

const CHAIN: [KeyContext; 3] = [KeyContext::Dialog, KeyContext::Pane, KeyContext::Global];

/// Columns of a port's name.
const NAME: usize = 34;

impl PortList {
    /// The screen with these ports; `error`: why the one that was chosen before cannot be opened.
    #[must_use]
    pub const fn new(
        theme: Theme,
        keymap: Keymap,
        rows: Vec<PortRow>,
        error: Option<String>,
    ) -> Self {
        Self { theme, keymap, rows, selected: 0, notice: error }
    }

    /// Takes over the ports there are now; tells whether anything is different. The selected port
    /// stays selected.
    pub fn set(&mut self, rows: Vec<PortRow>) -> bool {
        if rows == self.rows {
            return false;
        }
        let port = self.rows.get(self.selected).map(|row| row.port.clone());
        let place = rows.iter().position(|row| Some(&row.port) == port.as_ref());
        self.selected = place.unwrap_or(self.selected.min(rows.len().saturating_sub(1)));
        self.rows = rows;
        self.notice = None;
        true
    }

    /// Deals with one event of the terminal; draw afterwards.
    pub fn on_event(&mut self, event: &Event) -> Option<PortChoice> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.on_key(key),
            _ => None,
        }
    }

    fn on_key(&mut self, event: &KeyEvent) -> Option<PortChoice> {
        self.notice = None;
        let key = Key::of(event);
        let action = match self.keymap.look_up(&CHAIN, &[key]) {
            Lookup::Action(action) => action,
            Lookup::Prefix(_) | Lookup::Unbound => {
                self.notice = Some(format!("`{key}` does nothing here"));
                return None;
            }
        };
        let last = self.rows.len().saturating_sub(1);
        match action {
            Action::Up => self.selected = self.selected.saturating_sub(1),
            Action::Down | Action::FocusNext => self.selected = (self.selected + 1).min(last),
            Action::Top | Action::PageUp | Action::HalfPageUp => self.selected = 0,
            Action::Bottom | Action::PageDown | Action::HalfPageDown => self.selected = last,
            Action::Accept | Action::Open => return self.choose(),
            Action::Cancel | Action::Quit | Action::Back => return Some(PortChoice::Quit),
            Action::Suspend => return Some(PortChoice::Suspend),
            _ => self.notice = Some("choose with up and down, enter opens, esc leaves".to_owned()),
        }
        None
    }

    fn choose(&mut self) -> Option<PortChoice> {
        match self.rows.get(self.selected) {
            Some(row) if row.presence == Presence::There => {
                Some(PortChoice::Open(row.port.clone()))
            }
            Some(_) => {
                self.notice = Some("it is not there yet".to_owned());
                None
            }
            None => {
                self.notice = Some("there is no port yet".to_owned());
                None
            }
        }
    }

    pub fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        self.paint(area, frame.buffer_mut());
    }

    fn paint(&self, area: Rect, buf: &mut Buffer) {
        let style = |role| self.theme.style(role);
        buf.set_style(area, style(Role::Text));
        if area.width < LEAST.0 || area.height < LEAST.1 {
            let (width, height) = LEAST;
            let text =
                format!("firmhand needs {width}×{height}, this is {}×{}", area.width, area.height);
            line::draw(&Line::styled(text, style(Role::Warn)), area, buf);
            return;
        }
        let inside = Rect { x: 1, width: area.width.saturating_sub(2), height: 1, y: 0 };
        let head = Line::from(vec![
            Span::styled("firmhand", style(Role::Accent)),
            Span::styled(" · monitor", style(Role::Dim)),
        ]);
        line::draw(&head, inside, buf);
        let rule = "─".repeat(usize::from(area.width));
        line::draw(&Line::styled(rule, style(Role::Border)), Rect { y: 1, ..area }, buf);
        let title = Line::styled(self.title(), style(Role::TitleFocus));
        let width = u16::try_from(title.width()).unwrap_or(0).min(inside.width);
        line::draw(&title, Rect { y: 1, x: 2, width, ..inside }, buf);
        let list = Rect { y: 3, height: area.height - 5, ..inside };
        let top = (self.selected + 1).saturating_sub(usize::from(list.height));
        for ((place, row), at) in self.rows.iter().enumerate().skip(top).zip(list.rows()) {
            self.draw_row(row, at, buf);
            if place == self.selected {
                buf.set_style(at, style(Role::Selection));
            }
        }
        self.draw_foot(Rect { y: area.height - 1, ..inside }, buf);
    }

    /// What is waited for, or that there is a choice.
    fn title(&self) -> String {
        let is_there = |row: &&PortRow| row.presence == Presence::There;
        match (self.rows.as_slice(), self.rows.iter().filter(is_there).count()) {
            ([], _) => " waiting for a board … ".to_owned(),
            ([only], 0) => format!(" waiting for {} … ", sanitize::line(&only.port)),
            (_, 0) => " waiting for one of these … ".to_owned(),
            (_, _) => " Choose a port ".to_owned(),
        }
    }

    fn draw_row(&self, row: &PortRow, at: Rect, buf: &mut Buffer) {
        let style = |role| self.theme.style(role);
        let (mark, role) = match row.presence {
            Presence::There => (Span::styled(" ● ", style(Role::Ok)), Role::Strong),
            Presence::Awaited => (Span::styled(" ○ ", style(Role::Warn)), Role::Dim),
        };
        let name = line::cut(&row.port, NAME);
        let pad = " ".repeat((NAME + 2).saturating_sub(line::width(&name)));
        let label = sanitize::line(&row.label).into_owned();
        let left = Line::from(vec![
            mark,
            Span::styled(format!("{name}{pad}"), style(role)),
            Span::styled(label, style(Role::Dim)),
        ]);
        let right = Line::styled(format!("{} ", row.chip), style(Role::Dim));
        line::draw_split(&left, &right, at, buf);
    }

    fn draw_foot(&self, at: Rect, buf: &mut Buffer) {
        if let Some(notice) = &self.notice {
            let text = line::cut(notice, usize::from(at.width));
            return line::draw(&Line::styled(text, self.theme.style(Role::NoticeError)), at, buf);
        }
        let mut spans = Vec::new();
        for (key, words) in [("↑↓", "choose"), ("enter", "listen"), ("esc", "leave")] {
            spans.push(Span::styled(key, self.theme.style(Role::Key)));
            spans.push(Span::styled(format!(" {words}   "), self.theme.style(Role::KeyHelp)));
        }
        line::draw(&Line::from(spans), at, buf);
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyModifiers};

    use super::*;
    use crate::config::Assets;
    use crate::ui::Depth;

    fn row(port: &str, presence: Presence) -> PortRow {
        let (label, chip) = ("CP210x · CP2102N USB to UART".to_owned(), "esp32?".to_owned());
        PortRow { port: port.to_owned(), label, chip, presence }
    }

    fn list(rows: Vec<PortRow>) -> PortList {
        let assets = Assets::built_in();
        let theme = Theme::load(&assets, "dark", Depth::True).unwrap();
        PortList::new(theme, Keymap::load(&assets, "default").unwrap(), rows, None)
    }

    fn screen(list: &PortList, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        list.paint(area, &mut buf);
        let row = |y| (0..width).map(|x| buf[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| format!("{}\n", row(y).trim_end())).collect()
    }

    fn press(list: &mut PortList, code: KeyCode) -> Option<PortChoice> {
        list.on_event(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    #[test]
    fn ports_come_and_go_and_the_selected_one_stays_selected() {
        let mut list = list(Vec::new());
        assert!(screen(&list, 80, 24).contains("waiting for a board …"));
        assert_eq!(press(&mut list, KeyCode::Enter), None);
        let (a, b) = (row("/dev/ttyUSB0", Presence::There), row("/dev/ttyUSB1", Presence::There));
        assert!(list.set(vec![b.clone()]) && !list.set(vec![b.clone()]));
        assert!(list.set(vec![a, b.clone()]));
        for (width, height) in [(80, 24), (120, 40), (200, 60)] {
            insta::assert_snapshot!(
                format!("ports_{width}x{height}"),
                screen(&list, width, height)
            );
        }
        assert_eq!(
            press(&mut list, KeyCode::Enter),
            Some(PortChoice::Open("/dev/ttyUSB1".to_owned()))
        );
        list.set(vec![row("rfc2217://lab:4000", Presence::Awaited)]);
        assert!(screen(&list, 80, 24).contains("waiting for rfc2217://lab:4000 …"));
        assert_eq!(press(&mut list, KeyCode::Enter), None);
        assert!(screen(&list, 80, 24).contains("it is not there yet"));
        assert_eq!(press(&mut list, KeyCode::Char('q')), Some(PortChoice::Quit));
        assert!(screen(&list, 40, 10).contains("needs 60×16"));
    }
}
