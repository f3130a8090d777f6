//! The question whether a project's own scripts may run, on a screen of its own.
//!
//! Owns the choice only; whoever shows it writes it down.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Widget};

use super::line;
use super::panes::wrap_words;
use super::role::Role;
use super::theme::Theme;
use crate::text::sanitize;

/// What the person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustAnswer {
    /// The project's scripts may run.
    Trust,
    /// Nothing is begun.
    Leave,
}

/// The question.
#[derive(Debug)]
pub struct TrustDialog {
    theme: Theme,
    project: String,
    why: String,
    selected: usize,
}

/// The answers; the one that changes nothing goes first.
const ANSWERS: [(TrustAnswer, &str, &str); 2] = [
    (TrustAnswer::Leave, "Do not trust it", "nothing is started"),
    (TrustAnswer::Trust, "Trust it", "also in later sessions; `firmhand trust --forget` undoes it"),
];

/// Columns of the dialog.
const COLUMNS: u16 = 76;

impl TrustDialog {
    /// Asks about that project; `why` says what a build of it does.
    #[must_use]
    pub const fn new(theme: Theme, project: String, why: String) -> Self {
        Self { theme, project, why, selected: 0 }
    }

    /// Deals with one event of the terminal; draw afterwards.
    pub fn on_event(&mut self, event: &Event) -> Option<TrustAnswer> {
        let Event::Key(key) = event else { return None };
        if key.kind == KeyEventKind::Release {
            return None;
        }
        self.on_key(key)
    }

    fn on_key(&mut self, key: &KeyEvent) -> Option<TrustAnswer> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.selected = 0,
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => self.selected = 1,
            KeyCode::Esc | KeyCode::Char('q') => return Some(TrustAnswer::Leave),
            KeyCode::Char('c') if is_control => return Some(TrustAnswer::Leave),
            KeyCode::Enter => return ANSWERS.get(self.selected).map(|(answer, ..)| *answer),
            _ => {}
        }
        None
    }

    pub fn draw(&self, frame: &mut Frame<'_>) {
        let screen = frame.area();
        let buf = frame.buffer_mut();
        buf.set_style(screen, self.theme.style(Role::Text));
        let width = COLUMNS.min(screen.width.saturating_sub(6));
        let columns = usize::from(width);
        let dim = self.theme.style(Role::DialogDim);
        let mut rows = vec![
            Line::styled(line::cut_start(&self.project, columns), self.theme.style(Role::Dialog)),
            Line::default(),
        ];
        let why = wrap_words(&sanitize::line(&self.why), columns);
        rows.extend(why.into_iter().map(|words| Line::styled(words, dim)));
        rows.push(Line::default());
        let first = rows.len();
        for (_, title, help) in ANSWERS {
            rows.push(Line::from(vec![
                Span::styled(format!(" {title:<18}"), self.theme.style(Role::Dialog)),
                Span::styled(help, dim),
            ]));
        }
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(2);
        let area = Rect {
            x: screen.width.saturating_sub(width + 4) / 2,
            y: screen.height.saturating_sub(height) / 2,
            width: (width + 4).min(screen.width),
            height: height.min(screen.height),
        };
        let block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(self.theme.style(Role::DialogBorder))
            .style(self.theme.style(Role::Dialog))
            .title(" May this project's scripts run? ")
            .title_bottom(Line::styled(" ↑↓ choose · enter · esc leaves ", dim).right_aligned());
        let inside = block.inner(area);
        block.render(area, buf);
        let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
        for ((place, text), row) in rows.iter().enumerate().zip(inside.rows()) {
            line::draw(text, row, buf);
            if place == first + self.selected {
                buf.set_style(row, self.theme.style(Role::Selection));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Assets;
    use crate::ui::Depth;

    fn dialog() -> TrustDialog {
        let theme = Theme::load(&Assets::built_in(), "dark", Depth::True).unwrap();
        TrustDialog::new(theme, "/home/me/sensor".into(), "a build runs its scripts".into())
    }

    fn press(dialog: &mut TrustDialog, codes: &[KeyCode]) -> Option<TrustAnswer> {
        let key = |code: &KeyCode| Event::Key(KeyEvent::new(*code, KeyModifiers::NONE));
        codes.iter().map(|code| dialog.on_event(&key(code))).last().flatten()
    }

    #[test]
    fn a_project_is_trusted_only_by_choosing_it() {
        use KeyCode::{Char, Down, Enter, Esc, Up};
        assert_eq!(press(&mut dialog(), &[Enter]), Some(TrustAnswer::Leave));
        assert_eq!(press(&mut dialog(), &[Char('y')]), None);
        assert_eq!(press(&mut dialog(), &[Down, Up, Enter]), Some(TrustAnswer::Leave));
        assert_eq!(press(&mut dialog(), &[Down, Enter]), Some(TrustAnswer::Trust));
        assert_eq!(press(&mut dialog(), &[Down, Esc]), Some(TrustAnswer::Leave));
    }

    #[test]
    fn the_project_and_what_its_build_does_are_on_the_screen() {
        for (width, height) in [(60, 16), (80, 24), (200, 60)] {
            let backend = ratatui::backend::TestBackend::new(width, height);
            let mut terminal = ratatui::Terminal::new(backend).unwrap();
            terminal.draw(|frame| dialog().draw(frame)).unwrap();
            let screen = terminal.backend().to_string();
            for words in ["/home/me/sensor", "a build runs its scripts", "Trust it"] {
                assert!(screen.contains(words), "{width}: {screen}");
            }
        }
    }
}
