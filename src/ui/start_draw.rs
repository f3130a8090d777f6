//! How the start screen looks.
//!
//! Must not change anything but where its rows were drawn.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{CHAIN, SessionAccess, Start, StartExample, StartSession, Verb};
use crate::model::{Health, HealthLine};
use crate::ui::action::Action;
use crate::ui::layout::LEAST;
use crate::ui::line;
use crate::ui::overlay::ModelOffer;
use crate::ui::role::Role;
use crate::ui::start_rows::{ExampleListing, StartRow};

impl Start {
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let buf = frame.buffer_mut();
        buf.set_style(area, self.theme.style(Role::Text));
        if area.width < LEAST.0 || area.height < LEAST.1 {
            let (width, height) = LEAST;
            let text =
                format!("firmhand needs {width}×{height}, this is {}×{}", area.width, area.height);
            line::draw(&Line::styled(text, self.theme.style(Role::Warn)), area, buf);
            return;
        }
        let inside = Rect { x: 1, width: area.width.saturating_sub(2), height: 1, y: 0 };
        let version = concat!("firmhand ", env!("CARGO_PKG_VERSION"));
        let head = Line::from(vec![
            self.span(version, Role::Accent),
            self.span(" · teams of agents that write ESP32 firmware", Role::Dim),
        ]);
        line::draw(&head, inside, buf);
        let height = area.height.saturating_sub(3);
        let list = Rect { y: 1, height, ..inside };
        let top = self.selected.saturating_sub(usize::from(height).saturating_sub(3));
        let mut places = self.places.borrow_mut();
        places.clear();
        for ((place, row), at) in self.rows.iter().enumerate().skip(top).zip(list.rows()) {
            places.push((at, place));
            self.draw_row(*row, place == self.selected, at, buf);
        }
        self.draw_foot(Rect { y: area.height - 2, ..inside }, buf);
    }

    fn span<'t>(&self, text: impl Into<std::borrow::Cow<'t, str>>, role: Role) -> Span<'t> {
        Span::styled(text, self.theme.style(role))
    }

    fn draw_row(&self, row: StartRow, is_selected: bool, at: Rect, buf: &mut Buffer) {
        let (left, right) = match row {
            StartRow::Blank => return,
            StartRow::Heading(title, count) => {
                let count = if count > 0 { format!(" {count}") } else { String::new() };
                let title = format!("─ {title}{count} ");
                let rest = usize::from(at.width).saturating_sub(line::width(&title));
                let rule = self.span("─".repeat(rest), Role::Border);
                (Line::from(vec![self.span(title, Role::Title), rule]), Line::default())
            }
            StartRow::Words(words) => {
                (Line::from(self.span(format!("  {words}"), Role::Dim)), Line::default())
            }
            StartRow::Demo => self.item("Demo", &self.facts.demo),
            StartRow::New => self.item("New task", "describe what a team should do"),
            StartRow::Library => {
                let does = match self.library {
                    ExampleListing::Folded => "enter lists them",
                    ExampleListing::Unfolded => "enter folds the list",
                };
                let words = format!("{} example tasks; {does}", self.facts.examples.len());
                self.item("Examples", &words)
            }
            StartRow::Example(place) => match self.facts.examples.get(place) {
                Some(example) => self.example(example, at.width),
                None => return,
            },
            StartRow::Model(place) => match self.facts.models.get(place) {
                Some(offer) => self.model(offer),
                None => return,
            },
            StartRow::Project(place) => {
                let path = self.facts.projects.get(place).map_or("", String::as_str);
                let room = usize::from(at.width).saturating_sub(16);
                let path = line::cut_start(path, room);
                let left = Line::from(self.span(format!("  {path}"), Role::Text));
                (left, Line::from(self.span("new task here", Role::Dim)))
            }
            StartRow::Session(place) => match self.facts.sessions.get(place) {
                Some(session) => self.session(session, is_selected, at.width),
                None => return,
            },
            StartRow::HealthLine(place) => match self.facts.findings.get(place) {
                Some(finding) => self.finding(finding),
                None => return,
            },
        };
        line::draw_split(&left, &right, at, buf);
        if is_selected {
            buf.set_style(at, self.theme.style(Role::Selection));
        }
    }

    fn item(&self, name: &'static str, words: &str) -> (Line<'static>, Line<'static>) {
        let left = Line::from(vec![
            self.span(format!("  {name:<10}"), Role::Strong),
            self.span(line::cut(words, 400), Role::Dim),
        ]);
        (left, Line::default())
    }

    fn example(&self, example: &StartExample, width: u16) -> (Line<'static>, Line<'static>) {
        let note = line::cut(&example.note, usize::from(width) / 3);
        let right = Line::from(vec![
            self.span(format!("{note}  "), Role::Dim),
            self.span(format!("{:<15}", example.team), Role::Text),
        ]);
        let room = usize::from(width).saturating_sub(right.width() + 6);
        let title = format!("    {}", line::cut(&example.title, room));
        (Line::from(self.span(title, Role::Text)), right)
    }

    fn model(&self, offer: &ModelOffer) -> (Line<'static>, Line<'static>) {
        let is_chosen = self.facts.model.as_ref() == Some(&offer.profile);
        let (mark, role) = if is_chosen { ("●", Role::Strong) } else { ("○", Role::Dim) };
        let left = Line::from(vec![
            self.span(format!("  {mark} "), role),
            self.span(line::cut(&offer.label, 48), role),
        ]);
        let words = if is_chosen { "used for new tasks · " } else { "" };
        let right = self.span(format!("{words}{}", line::cut(&offer.profile, 20)), Role::Dim);
        (left, Line::from(right))
    }

    fn session(
        &self,
        session: &StartSession,
        is_selected: bool,
        width: u16,
    ) -> (Line<'static>, Line<'static>) {
        let verb = match (session.open, self.verb, is_selected) {
            (_, _, false) => "",
            (SessionAccess::ResumeOrReplay, Verb::Resume, true) => " [resume]  replay ",
            (SessionAccess::ResumeOrReplay, Verb::Replay, true) => "  resume  [replay]",
            (SessionAccess::Replay, _, true) => " [replay]",
        };
        let is_open = session.open == SessionAccess::ResumeOrReplay;
        let role = if is_open { Role::Warn } else { Role::Dim };
        let right = Line::from(vec![
            self.span(line::cut(&session.state, 24), role),
            self.span(format!("  {}", session.when), Role::Dim),
            self.span(verb, Role::Strong),
        ]);
        let room = usize::from(width).saturating_sub(right.width() + 4);
        let left =
            Line::from(self.span(format!("  {}", line::cut(&session.task, room)), Role::Text));
        (left, right)
    }

    fn finding(&self, finding: &HealthLine) -> (Line<'static>, Line<'static>) {
        let (mark, role) = match finding.health {
            Health::Good => ("✓", Role::Ok),
            Health::Absent => ("○", Role::Dim),
            Health::Limited => ("!", Role::Warn),
            Health::Broken => ("✗", Role::Error),
        };
        let subject = format!(" {:<10}", line::cut(&finding.subject, 24));
        let left = Line::from(vec![
            self.span(format!("  {mark}"), role),
            self.span(subject, Role::Text),
            self.span(format!(" {}", line::cut(&finding.detail, 300)), Role::Dim),
        ]);
        (left, Line::default())
    }

    /// Label of the model that answers new tasks.
    fn model_label(&self) -> Option<&str> {
        let chosen = |offer: &&ModelOffer| self.facts.model.as_ref() == Some(&offer.profile);
        self.facts.models.iter().find(chosen).map(|offer| offer.label.as_str())
    }

    /// Two rows: the text that is being written or the advice, and the keys.
    fn draw_foot(&self, first: Rect, buf: &mut Buffer) {
        let second = Rect { y: first.y + 1, ..first };
        if let Some(task) = &self.task {
            line::draw(&task.draw(self.model_label(), first.width, &self.theme), first, buf);
        } else if let Some(StartRow::HealthLine(place)) = self.rows.get(self.selected)
            && let Some(finding) = self.facts.findings.get(*place)
            && !finding.fix.is_empty()
        {
            line::draw(
                &Line::from(self.span(format!("fix: {}", finding.fix), Role::Text)),
                first,
                buf,
            );
        }
        if let Some(notice) = &self.notice {
            let text = line::cut(notice, usize::from(second.width));
            buf.set_style(second, self.theme.style(Role::NoticeError));
            line::draw(&Line::from(self.span(text, Role::NoticeError)), second, buf);
            return;
        }
        let open = match self.rows.get(self.selected) {
            Some(StartRow::Model(_)) => "use this model",
            _ => "open",
        };
        let hints: &[(&str, Action)] = match &self.task {
            Some(_) => &[],
            None => &[
                ("choose", Action::Down),
                (open, Action::Accept),
                ("new task", Action::Compose),
                ("leave", Action::Cancel),
            ],
        };
        let mut spans = Vec::new();
        if let Some(task) = &self.task {
            let place = task.has_places().then_some(("tab", " elsewhere   "));
            let keys = [("enter", " starts   ")].into_iter().chain(place).chain([("esc", " back")]);
            for (key, words) in keys {
                spans.extend([self.span(key, Role::Key), self.span(words, Role::KeyHelp)]);
            }
        }
        for (words, action) in hints {
            let Some(key) = self.keymap.key_of(&CHAIN, *action) else { continue };
            spans.extend([
                self.span(key, Role::Key),
                self.span(format!(" {words}   "), Role::KeyHelp),
            ]);
        }
        if matches!(self.rows.get(self.selected), Some(StartRow::Session(_))) && self.task.is_none()
        {
            spans.extend([
                self.span("← →", Role::Key),
                self.span(" resume or replay", Role::KeyHelp),
            ]);
        }
        line::draw(&Line::from(spans), second, buf);
    }
}
