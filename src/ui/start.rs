//! The screen before a session: what there is to begin, to go on with, to look at, to mend.
//!
//! Owns the list and the choice only; whoever shows it has gathered the facts and does what is
//! chosen.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use crate::model::{Finding, Health};

use super::action::{Action, Context};
use super::key::Key;
use super::keymap::{Keymap, Lookup};
use super::layout::LEAST;
use super::line;
use super::overlay::ModelOffer;
use super::role::Role;
pub use super::start_facts::{
    Draft, ExampleGround, Open, StartChoice, StartExample, StartFacts, StartSession,
};
use super::start_rows::{Library, MOST, Row, rows_of};
use super::start_task::TaskLine;
use super::theme::Theme;

/// The screen.
pub struct Start {
    theme: Theme,
    keymap: Keymap,
    facts: StartFacts,
    rows: Vec<Row>,
    /// Place in `rows` of the row that is turned to.
    selected: usize,
    verb: Verb,
    task: Option<TaskLine>,
    library: Library,
    /// Where each row was drawn last.
    places: std::cell::RefCell<Vec<(Rect, usize)>>,
    notice: Option<String>,
}

/// What enter does with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Resume,
    Replay,
}

const CHAIN: [Context; 3] = [Context::Dialog, Context::Pane, Context::Global];

impl Start {
    /// The screen with the first thing to do turned to.
    #[must_use]
    pub fn new(theme: Theme, keymap: Keymap, facts: StartFacts) -> Self {
        let rows = rows_of(&facts, Library::Folded);
        let notice = facts.error.clone();
        let task = facts.draft.as_ref().map(|draft| TaskLine::again(draft, &facts));
        let places = std::cell::RefCell::default();
        let mut start = Self {
            theme,
            keymap,
            facts,
            rows,
            selected: 0,
            verb: Verb::Resume,
            task,
            library: Library::Folded,
            places,
            notice,
        };
        start.step(1);
        start
    }

    /// Deals with one event of the terminal; draw afterwards.
    pub fn on_event(&mut self, event: &Event) -> Option<StartChoice> {
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => None,
            Event::Key(key) => self.on_key(key),
            Event::Paste(text) => {
                match &mut self.task {
                    Some(task) => task.on_paste(text),
                    None => self.notice = Some("there is no place for pasted text here".to_owned()),
                }
                None
            }
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollUp => self.act(Action::Up),
                MouseEventKind::ScrollDown => self.act(Action::Down),
                MouseEventKind::Down(MouseButton::Left) => {
                    self.on_click(Position::new(mouse.column, mouse.row))
                }
                _ => None,
            },
            Event::Resize(..) | Event::FocusGained | Event::FocusLost => None,
        }
    }

    fn on_key(&mut self, event: &KeyEvent) -> Option<StartChoice> {
        self.notice = None;
        if let Some(task) = &mut self.task {
            match event.code {
                KeyCode::Esc => self.task = None,
                KeyCode::Enter => {
                    let draft = task.draft(self.facts.model.as_deref());
                    if draft.is_none() {
                        self.notice = Some("say what the team shall do, or esc".to_owned());
                    }
                    return draft.map(StartChoice::New);
                }
                KeyCode::Tab => {
                    if !task.turn_place() {
                        self.notice = Some("no other project is known here".to_owned());
                    }
                }
                _ => task.on_key(event),
            }
            return None;
        }
        let key = Key::of(event);
        match self.keymap.look_up(&CHAIN, &[key]) {
            Lookup::Action(action) => self.act(action),
            Lookup::Prefix(_) | Lookup::Unbound => {
                self.notice = Some(format!("`{key}` does nothing here"));
                None
            }
        }
    }

    fn act(&mut self, action: Action) -> Option<StartChoice> {
        match action {
            Action::Up => self.step(-1),
            Action::Down | Action::FocusNext => self.step(1),
            Action::PageUp | Action::HalfPageUp => (0..MOST).for_each(|_| self.step(-1)),
            Action::PageDown | Action::HalfPageDown => (0..MOST).for_each(|_| self.step(1)),
            Action::Top => (0..self.rows.len()).for_each(|_| self.step(-1)),
            Action::Bottom => (0..self.rows.len()).for_each(|_| self.step(1)),
            Action::Left => self.turn(Verb::Resume),
            Action::Right => self.turn(Verb::Replay),
            Action::Accept | Action::Open => return self.choose(),
            Action::Compose => self.task = Some(self.own_task(None)),
            Action::Cancel | Action::Quit | Action::Back => return Some(StartChoice::Quit),
            Action::Suspend => return Some(StartChoice::Suspend),
            _ => self.notice = Some(format!("`{}` does nothing here", action.name())),
        }
        None
    }

    fn turn(&mut self, verb: Verb) {
        match (self.rows.get(self.selected), verb) {
            (Some(Row::Session(_)), verb) => self.verb = verb,
            (Some(Row::Library), Verb::Replay) => self.fold(Library::Unfolded),
            (Some(Row::Library | Row::Example(_)), Verb::Resume) => self.fold(Library::Folded),
            _ => self.notice = Some("there is nothing to the side of this".to_owned()),
        }
    }

    /// Lists the examples, or leaves only the row that opens the list.
    fn fold(&mut self, to: Library) {
        self.library = to;
        self.rows = rows_of(&self.facts, to);
        let library = self.rows.iter().position(|row| *row == Row::Library);
        self.selected = library.unwrap_or(self.selected);
    }

    /// A task still to be written, in that project or a new one.
    fn own_task(&self, project: Option<&str>) -> TaskLine {
        TaskLine::new("", &self.facts.projects, project)
    }

    fn step(&mut self, way: isize) {
        let mut place = self.selected;
        while let Some(next) = place.checked_add_signed(way).filter(|next| *next < self.rows.len())
        {
            place = next;
            if self.rows.get(place).is_some_and(|row| row.is_choice()) {
                self.selected = place;
                self.verb = Verb::Resume;
                return;
            }
        }
    }

    fn choose(&mut self) -> Option<StartChoice> {
        match self.rows.get(self.selected).copied()? {
            Row::Demo => Some(StartChoice::Demo),
            Row::New => {
                self.task = Some(self.own_task(None));
                None
            }
            Row::Library => {
                self.fold(match self.library {
                    Library::Folded => Library::Unfolded,
                    Library::Unfolded => Library::Folded,
                });
                None
            }
            Row::Example(place) => {
                let example = self.facts.examples.get(place)?;
                match TaskLine::of(example, &self.facts.projects) {
                    Ok(task) => self.task = Some(task),
                    Err(words) => self.notice = Some(words),
                }
                None
            }
            Row::Model(place) => {
                let offer = self.facts.models.get(place)?;
                self.facts.model = Some(offer.profile.clone());
                None
            }
            Row::Project(place) => {
                let project = self.facts.projects.get(place).map(String::as_str);
                self.task = Some(self.own_task(project));
                None
            }
            Row::Session(place) => {
                let session = self.facts.sessions.get(place)?;
                let name = session.name.clone();
                Some(match (session.open, self.verb) {
                    (Open::ResumeOrReplay, Verb::Resume) => StartChoice::Resume(name),
                    (Open::ResumeOrReplay, Verb::Replay) | (Open::Replay, _) => {
                        StartChoice::Replay(name)
                    }
                })
            }
            Row::Finding(place) => {
                let finding = self.facts.findings.get(place)?;
                let is_well = finding.fix.is_empty();
                let words = if is_well { "there is nothing to mend" } else { &finding.fix };
                self.notice = Some(words.to_owned());
                None
            }
            Row::Heading(..) | Row::Words(_) | Row::Blank => None,
        }
    }

    fn on_click(&mut self, at: Position) -> Option<StartChoice> {
        self.notice = None;
        let places = self.places.borrow();
        let row = places.iter().find(|(area, _)| area.contains(at)).map(|(_, row)| *row);
        drop(places);
        let row = row.filter(|row| self.rows.get(*row).is_some_and(|row| row.is_choice()))?;
        if row == self.selected {
            return self.choose();
        }
        self.selected = row;
        self.verb = Verb::Resume;
        None
    }

    /// Draws it.
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
            self.span(" · a desk for teams of agents that write ESP32 firmware", Role::Dim),
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

    fn draw_row(&self, row: Row, is_selected: bool, at: Rect, buf: &mut Buffer) {
        let (left, right) = match row {
            Row::Blank => return,
            Row::Heading(title, count) => {
                let count = if count > 0 { format!(" {count}") } else { String::new() };
                let title = format!("─ {title}{count} ");
                let rest = usize::from(at.width).saturating_sub(line::width(&title));
                let rule = self.span("─".repeat(rest), Role::Border);
                (Line::from(vec![self.span(title, Role::Title), rule]), Line::default())
            }
            Row::Words(words) => {
                (Line::from(self.span(format!("  {words}"), Role::Dim)), Line::default())
            }
            Row::Demo => self.item("Demo", &self.facts.demo),
            Row::New => self.item("New task", "say what a team shall do"),
            Row::Library => {
                let does = match self.library {
                    Library::Folded => "enter lists them",
                    Library::Unfolded => "enter folds the list",
                };
                let words = format!("{} tasks to begin with; {does}", self.facts.examples.len());
                self.item("Examples", &words)
            }
            Row::Example(place) => match self.facts.examples.get(place) {
                Some(example) => self.example(example, at.width),
                None => return,
            },
            Row::Model(place) => match self.facts.models.get(place) {
                Some(offer) => self.model(offer),
                None => return,
            },
            Row::Project(place) => {
                let path = self.facts.projects.get(place).map_or("", String::as_str);
                let room = usize::from(at.width).saturating_sub(16);
                let path = line::cut_start(path, room);
                let left = Line::from(self.span(format!("  {path}"), Role::Text));
                (left, Line::from(self.span("new task here", Role::Dim)))
            }
            Row::Session(place) => match self.facts.sessions.get(place) {
                Some(session) => self.session(session, is_selected, at.width),
                None => return,
            },
            Row::Finding(place) => match self.facts.findings.get(place) {
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
        let words = if is_chosen { "answers new tasks · " } else { "" };
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
            (Open::ResumeOrReplay, Verb::Resume, true) => " [resume]  replay ",
            (Open::ResumeOrReplay, Verb::Replay, true) => "  resume  [replay]",
            (Open::Replay, _, true) => " [replay]",
        };
        let is_open = session.open == Open::ResumeOrReplay;
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

    fn finding(&self, finding: &Finding) -> (Line<'static>, Line<'static>) {
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
        } else if let Some(Row::Finding(place)) = self.rows.get(self.selected)
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
            Some(Row::Model(_)) => "let it answer",
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
        if matches!(self.rows.get(self.selected), Some(Row::Session(_))) && self.task.is_none() {
            spans.extend([
                self.span("← →", Role::Key),
                self.span(" resume or replay", Role::KeyHelp),
            ]);
        }
        line::draw(&Line::from(spans), second, buf);
    }
}

#[cfg(test)]
#[path = "start_tests.rs"]
mod tests;
