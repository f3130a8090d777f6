//! The question whether a project's own scripts may run, on a screen of its own.
//!
//! Owns the choice only; whoever shows it writes it down.

use std::time::Instant;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Widget};

use super::guard::{Care, Guard, Subject};
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

#[derive(Debug)]
pub struct TrustDialog {
    theme: Theme,
    project: String,
    why: String,
    selected: usize,
    guard: Guard,
    /// Why the last key did not decide.
    refused: &'static str,
    /// Whether the answers are on the screen.
    is_whole: bool,
}

/// The answers; the one that changes nothing goes first.
const ANSWERS: [(TrustAnswer, &str, &str); 2] = [
    (TrustAnswer::Leave, "Do not trust it", "nothing is started"),
    (TrustAnswer::Trust, "Trust it", "permanently; `firmhand trust --forget` undoes it"),
];

/// Columns of the dialog.
const COLUMNS: u16 = 76;

impl TrustDialog {
    /// Asks about that project; `why` says what a build of it does.
    #[must_use]
    pub fn new(theme: Theme, project: String, why: String, now: Instant) -> Self {
        let mut guard = Guard::default();
        guard.look_at(Some(Subject::Dialog(0)), now);
        Self { theme, project, why, selected: 0, guard, refused: "", is_whole: false }
    }

    /// Deals with one event of the terminal; draw afterwards.
    pub fn on_event(&mut self, event: &Event, now: Instant) -> Option<TrustAnswer> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.on_key(key, now),
            Event::Paste(_) => {
                self.guard.pasted(now);
                None
            }
            _ => None,
        }
    }

    /// Letters do nothing, so that a sentence typed ahead cannot choose.
    fn on_key(&mut self, key: &KeyEvent, now: Instant) -> Option<TrustAnswer> {
        self.guard.watch(key, now);
        self.refused = "";
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Up => self.selected = 0,
            KeyCode::Down => self.selected = 1,
            KeyCode::Esc => return Some(TrustAnswer::Leave),
            KeyCode::Char('c') if is_control => return Some(TrustAnswer::Leave),
            KeyCode::Enter if !self.is_whole => self.refused = "make the window larger first",
            KeyCode::Enter => match self.guard.check(Care::Looked, now) {
                Ok(_) => return ANSWERS.get(self.selected).map(|(answer, ..)| *answer),
                Err(refusal) => self.refused = refusal.words(),
            },
            _ => {}
        }
        None
    }

    pub fn draw(&mut self, frame: &mut Frame<'_>, now: Instant) {
        self.guard.drawn(now);
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
        // The answers have to be seen; of the reason as much as there is room for.
        let around = rows.len() + ANSWERS.len() + 4;
        let space = usize::from(screen.height).saturating_sub(around);
        self.is_whole = usize::from(screen.height) > around && columns >= 40;
        rows.extend(why.into_iter().take(space).map(|words| Line::styled(words, dim)));
        rows.push(Line::default());
        let first = rows.len();
        for (_, title, help) in ANSWERS {
            rows.push(Line::from(vec![
                Span::styled(format!(" {title:<18}"), self.theme.style(Role::Dialog)),
                Span::styled(line::cut(help, columns.saturating_sub(19)), dim),
            ]));
        }
        rows.push(Line::styled(line::cut(self.refused, columns), dim));
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
    use std::time::Duration;

    use super::*;
    use crate::config::Assets;
    use crate::ui::Depth;

    fn dialog() -> TrustDialog {
        let theme = Theme::load(&Assets::built_in(), "dark", Depth::True).unwrap();
        let why = "a build runs its scripts".to_owned();
        TrustDialog::new(theme, "/home/me/sensor".into(), why, Instant::now())
    }

    fn show(dialog: &mut TrustDialog, (width, height): (u16, u16), now: Instant) -> String {
        let backend = ratatui::backend::TestBackend::new(width, height);
        let mut terminal = ratatui::Terminal::new(backend).unwrap();
        terminal.draw(|frame| dialog.draw(frame, now)).unwrap();
        terminal.backend().to_string()
    }

    /// Keys so many milliseconds apart, the first one as long after the dialog appeared.
    fn press_every(dialog: &mut TrustDialog, gap: u64, codes: &[KeyCode]) -> Option<TrustAnswer> {
        let mut now = Instant::now();
        show(dialog, (80, 24), now);
        let mut press = |code: &KeyCode| {
            now += Duration::from_millis(gap);
            dialog.on_event(&Event::Key(KeyEvent::new(*code, KeyModifiers::NONE)), now)
        };
        codes.iter().find_map(&mut press)
    }

    fn press(dialog: &mut TrustDialog, codes: &[KeyCode]) -> Option<TrustAnswer> {
        press_every(dialog, 500, codes)
    }

    #[test]
    fn what_is_typed_ahead_does_not_decide() {
        use KeyCode::{Char, Down, Enter};
        let words: Vec<KeyCode> = "just fix it".chars().map(Char).chain([Enter]).collect();
        assert_eq!(press_every(&mut dialog(), 90, &words), None);
        assert_eq!(press_every(&mut dialog(), 1, &words), None);
        assert_eq!(press_every(&mut dialog(), 100, &[Down, Enter]), None);
        let mut small = dialog();
        let now = Instant::now();
        show(&mut small, (60, 7), now);
        let enter = Event::Key(KeyEvent::new(Enter, KeyModifiers::NONE));
        assert_eq!(small.on_event(&enter, now + Duration::from_secs(2)), None);
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
            let screen = show(&mut dialog(), (width, height), Instant::now());
            for words in ["/home/me/sensor", "a build runs its scripts", "Trust it"] {
                assert!(screen.contains(words), "{width}: {screen}");
            }
        }
    }
}
