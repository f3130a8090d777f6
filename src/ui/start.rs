//! The screen before a session: what there is to begin, to go on with, to look at, to mend.
//!
//! Owns the list and the choice only; whoever shows it has gathered the facts and does what is
//! chosen.

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use ratatui::layout::{Position, Rect};

use super::action::{Action, KeyContext};
use super::key::Key;
use super::keymap::{Keymap, Lookup};
use super::overlay::ModelOffer;
pub use super::start_facts::{
    Draft, ExampleGround, Outlooks, SessionAccess, StartChoice, StartExample, StartFacts,
    StartSession, TaskOutlook,
};
use super::start_rows::{ExampleListing, MOST, StartRow, rows_of};
use super::start_sessions::SessionList;
use super::start_task::TaskLine;
use super::theme::Theme;
use crate::model::HealthLine;

#[path = "start_details.rs"]
mod details;
#[path = "start_draw.rs"]
mod draw;
#[path = "start_foot.rs"]
mod foot;

pub struct Start {
    theme: Theme,
    keymap: Keymap,
    facts: StartFacts,
    rows: Vec<StartRow>,
    /// Place in `rows` of the row that is turned to.
    selected: usize,
    verb: Verb,
    task: OwnTask,
    library: ExampleListing,
    sessions: SessionList,
    help: HelpState,
    /// Where each row was drawn last.
    places: std::cell::RefCell<Vec<(Rect, usize)>>,
    notice: Option<String>,
}

/// The person's own task.
struct OwnTask {
    /// While it is written.
    open: Option<TaskLine>,
    /// As it was left, to be gone on with.
    kept: Option<TaskLine>,
}

/// Whether the keys are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HelpState {
    Closed,
    Open,
}

/// What a key does that is for other screens.
const NOTHING: &str = "this does nothing here";

/// What the first `esc` says.
const LEAVE: &str = "press esc again, or q, to quit";

/// What enter does with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Resume,
    /// As it ended.
    Replay,
    /// From its first event on.
    ReplayFromStart,
}

/// What can be done with a session, the usual first.
const fn verbs(session: &StartSession) -> &'static [Verb] {
    match session.open {
        SessionAccess::ResumeOrReplay => &[Verb::Resume, Verb::Replay, Verb::ReplayFromStart],
        SessionAccess::Replay => &[Verb::Replay, Verb::ReplayFromStart],
    }
}

impl Verb {
    const fn words(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Replay => "replay",
            Self::ReplayFromStart => "from start",
        }
    }
}

const CHAIN: [KeyContext; 3] = [KeyContext::Dialog, KeyContext::Pane, KeyContext::Global];

impl Start {
    /// The screen with the first thing to do turned to.
    #[must_use]
    pub fn new(theme: Theme, keymap: Keymap, facts: StartFacts) -> Self {
        let rows = rows_of(&facts, ExampleListing::Folded, &SessionList::default());
        let notice = facts.error.clone();
        let open = facts.draft.as_ref().map(|draft| TaskLine::again(draft, &facts));
        let places = std::cell::RefCell::default();
        let mut start = Self {
            theme,
            keymap,
            facts,
            rows,
            selected: 0,
            verb: Verb::Resume,
            task: OwnTask { open, kept: None },
            library: ExampleListing::Folded,
            sessions: SessionList::default(),
            help: HelpState::Closed,
            places,
            notice,
        };
        start.step(1);
        start
    }

    /// Adds a line to what the doctor says, below what is shown.
    pub fn add_health(&mut self, line: HealthLine) {
        self.facts.findings.push(line);
        self.rows = rows_of(&self.facts, self.library, &self.sessions);
    }

    /// Deals with one event of the terminal; draw afterwards.
    pub fn on_event(&mut self, event: &Event) -> Option<StartChoice> {
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => None,
            Event::Key(key) => self.on_key(key),
            Event::Paste(text) => {
                match &mut self.task.open {
                    Some(task) => task.on_paste(text),
                    None if self.sessions.takes_keys() => {
                        self.sessions.on_paste(text);
                        self.list_anew();
                    }
                    None => self.notice = Some("text cannot be pasted here".to_owned()),
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
        let before = self.notice.take();
        if self.help == HelpState::Open {
            self.help = HelpState::Closed;
            return None;
        }
        if let Some(task) = &mut self.task.open {
            match event.code {
                KeyCode::Esc => self.leave_task(),
                KeyCode::Enter => {
                    let draft = task.draft(self.facts.model.as_deref(), &self.facts.outlooks);
                    if draft.is_none() {
                        self.notice =
                            Some("write what the team should do, or press esc".to_owned());
                    }
                    return draft.map(StartChoice::New);
                }
                KeyCode::Tab => {
                    if !task.turn_place() {
                        self.notice = Some("no other project is known here".to_owned());
                    }
                }
                KeyCode::Char('o') if event.modifiers.contains(KeyModifiers::CONTROL) => {
                    self.next_model();
                }
                _ => task.on_key(event, &self.facts.outlooks),
            }
            return None;
        }
        if self.sessions.takes_keys() {
            let choice = self.sessions.on_key(event);
            self.list_anew();
            return choice;
        }
        if event.code == KeyCode::Esc && before.as_deref() != Some(LEAVE) {
            match self.sessions.is_searching() {
                true => {
                    self.sessions.end_search();
                    self.list_anew();
                }
                false => self.notice = Some(LEAVE.to_owned()),
            }
            return None;
        }
        let key = Key::of(event);
        match self.keymap.look_up(&CHAIN, &[key]) {
            Lookup::Action(action) => {
                let choice = self.act(action);
                // The name of an action that is for other screens says nothing here.
                if self.notice.as_deref() == Some(NOTHING) {
                    self.notice = Some(format!("`{key}` does nothing here"));
                }
                choice
            }
            Lookup::Prefix(_) | Lookup::Unbound => {
                self.notice = Some(format!("`{key}` does nothing here"));
                None
            }
        }
    }

    fn act(&mut self, action: Action) -> Option<StartChoice> {
        match action {
            Action::Up => self.step(-1),
            Action::Down => self.step(1),
            Action::FocusNext => self.turn_to_block(1),
            Action::FocusPrevious => self.turn_to_block(-1),
            Action::PageUp | Action::HalfPageUp => (0..MOST).for_each(|_| self.step(-1)),
            Action::PageDown | Action::HalfPageDown => (0..MOST).for_each(|_| self.step(1)),
            Action::Top => (0..self.rows.len()).for_each(|_| self.step(-1)),
            Action::Bottom => (0..self.rows.len()).for_each(|_| self.step(1)),
            Action::Left => self.turn(-1),
            Action::Right => self.turn(1),
            Action::Accept | Action::Open => return self.choose(),
            Action::Compose => self.task.open = Some(self.own_task(None)),
            Action::Cancel | Action::Quit | Action::Back => return Some(StartChoice::Quit),
            Action::Suspend => return Some(StartChoice::Suspend),
            Action::Help => self.help = HelpState::Open,
            Action::Search | Action::Find => {
                self.sessions.search();
                self.list_anew();
            }
            Action::Change | Action::Remove => match self.selected_session() {
                Some(session) if action == Action::Change => {
                    self.sessions.begin_rename(&session.clone())
                }
                Some(session) => self.sessions.begin_delete(&session.clone()),
                None => self.notice = Some("choose a session first".to_owned()),
            },
            _ => self.notice = Some(NOTHING.to_owned()),
        }
        None
    }

    /// Selects the row of a session, if it is listed.
    pub fn select_session(&mut self, name: &str) {
        let sessions = &self.facts.sessions;
        let is_it = |row: &StartRow| match row {
            StartRow::Session(place) => sessions.get(*place).is_some_and(|it| it.name == name),
            _ => false,
        };
        self.selected = self.rows.iter().position(is_it).unwrap_or(self.selected);
    }

    /// The session that is turned to.
    fn selected_session(&self) -> Option<&StartSession> {
        match self.rows.get(self.selected)? {
            StartRow::Session(place) => self.facts.sessions.get(*place),
            _ => None,
        }
    }

    /// Lists again what there is, and turns to the first row that can be chosen when what was
    /// turned to has gone.
    fn list_anew(&mut self) {
        self.rows = rows_of(&self.facts, self.library, &self.sessions);
        let is_choice = |row: &StartRow| row.is_choice();
        self.selected = self.selected.min(self.rows.len().saturating_sub(1));
        if !self.rows.get(self.selected).is_some_and(is_choice) || self.sessions.takes_keys() {
            let first = self.rows.iter().position(is_choice).unwrap_or(0);
            if self.sessions.is_searching() {
                self.selected = first;
            } else if !self.rows.get(self.selected).is_some_and(is_choice) {
                let before = self.rows.get(..self.selected).unwrap_or_default();
                self.selected = before.iter().rposition(is_choice).unwrap_or(first);
            }
        }
    }

    /// Whether sessions are searched, which takes all that was asked in them.
    #[must_use]
    pub const fn is_searching(&self) -> bool {
        self.sessions.is_searching()
    }

    /// All requests of the sessions are known from now on. Whether that shows.
    pub fn know_all_requests(&mut self) -> bool {
        let is_new = self.sessions.know_all_requests();
        if is_new {
            self.list_anew();
        }
        is_new
    }

    /// Takes over which sessions there are now; what is selected stays selected. Whether anything
    /// has changed.
    pub fn list_sessions(&mut self, sessions: Vec<StartSession>) -> bool {
        if self.facts.sessions == sessions {
            return false;
        }
        let row = self.rows.get(self.selected).copied();
        let name = self.selected_session().map(|session| session.name.clone());
        self.facts.sessions = sessions;
        self.list_anew();
        match (name, row) {
            (Some(name), _) => self.select_session(&name),
            (None, Some(row)) => {
                let same = self.rows.iter().position(|other| *other == row);
                self.selected = same.unwrap_or(self.selected);
            }
            (None, None) => {}
        }
        true
    }

    /// Takes note of the title that a session got.
    pub fn renamed(&mut self, name: &str, title: &str) {
        let own = self.facts.sessions.iter_mut().find(|session| session.name == name);
        if let Some(session) = own {
            title.clone_into(&mut session.title);
        }
        self.notice = None;
        self.list_anew();
        // What was renamed stays selected, also in a list that is searched.
        self.select_session(name);
    }

    /// Takes note that a session is gone.
    pub fn deleted(&mut self, name: &str) {
        self.facts.sessions.retain(|session| session.name != name);
        self.notice = Some(format!("{name} is deleted"));
        self.list_anew();
    }

    /// Tells why something was not done.
    pub fn refuse(&mut self, why: String) {
        self.notice = Some(why);
    }

    /// Lets the next model of those that there are answer new tasks.
    fn next_model(&mut self) {
        let offers = &self.facts.models;
        if offers.len() < 2 {
            self.notice = Some("no other model is configured".to_owned());
            return;
        }
        let is_it = |offer: &ModelOffer| self.facts.model.as_ref() == Some(&offer.profile);
        let next = offers.iter().position(is_it).map_or(0, |place| (place + 1) % offers.len());
        self.facts.model = offers.get(next).map(|offer| offer.profile.clone());
    }

    fn turn(&mut self, way: isize) {
        match self.rows.get(self.selected) {
            Some(StartRow::Session(place)) => {
                let verbs = self.facts.sessions.get(*place).map_or(&[][..], verbs);
                let now = verbs.iter().position(|verb| *verb == self.verb).unwrap_or(0);
                let next = now.saturating_add_signed(way).min(verbs.len().saturating_sub(1));
                self.verb = verbs.get(next).copied().unwrap_or(self.verb);
            }
            Some(StartRow::Library) if way > 0 => self.fold(ExampleListing::Unfolded),
            Some(StartRow::Library | StartRow::Example(_)) if way < 0 => {
                self.fold(ExampleListing::Folded)
            }
            _ => self.notice = Some("there is nothing to unfold here".to_owned()),
        }
    }

    /// What enter does with that session.
    fn verb_of(&self, session: &StartSession) -> Verb {
        let verbs = verbs(session);
        if verbs.contains(&self.verb) { self.verb } else { verbs[0] }
    }

    /// Lists the examples, or leaves only the row that opens the list.
    fn fold(&mut self, to: ExampleListing) {
        self.library = to;
        self.rows = rows_of(&self.facts, to, &self.sessions);
        let library = self.rows.iter().position(|row| *row == StartRow::Library);
        self.selected = library.unwrap_or(self.selected);
    }

    /// A task to be written, in that project or a new one; what was written before is still there.
    fn own_task(&mut self, project: Option<&str>) -> TaskLine {
        match (self.task.kept.take(), project) {
            (Some(kept), Some(project)) => kept.within(project),
            (Some(kept), None) => kept,
            (None, _) => TaskLine::new("", &self.facts, project),
        }
    }

    /// A task that an earlier program left unsent.
    pub fn keep_task(&mut self, draft: &Draft) {
        self.task.kept = Some(TaskLine::again(draft, &self.facts));
    }

    /// A task in the person's own words that was not begun yet.
    #[must_use]
    pub fn unsent(&self) -> Option<Draft> {
        let open = self.task.open.as_ref().filter(|task| task.is_own());
        open.or(self.task.kept.as_ref())?.draft(None, &self.facts.outlooks)
    }

    /// Goes back to the list; what was written is kept. An example has its own words at any time.
    fn leave_task(&mut self) {
        if let Some(task) = self.task.open.take().filter(TaskLine::is_own) {
            self.task.kept = Some(task).filter(|task| !task.text().is_empty());
        }
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

    /// Turns to the first row of the next block or the one before, as a block may be long.
    fn turn_to_block(&mut self, way: isize) {
        let is_heading = |row: &StartRow| matches!(row, StartRow::Heading(..));
        let rows = self.rows.iter().enumerate();
        let headings: Vec<usize> =
            rows.filter(|(_, row)| is_heading(row)).map(|(place, _)| place).collect();
        let now = headings.iter().rposition(|heading| *heading < self.selected).unwrap_or(0);
        let next = now.saturating_add_signed(way).min(headings.len().saturating_sub(1));
        let Some(heading) = headings.get(next).filter(|_| next != now) else { return };
        let below = self.rows.iter().skip(*heading).position(|row| row.is_choice());
        self.selected = below.map_or(self.selected, |below| heading + below);
        self.verb = Verb::Resume;
    }

    fn choose(&mut self) -> Option<StartChoice> {
        match self.rows.get(self.selected).copied()? {
            StartRow::Demo => Some(StartChoice::Demo),
            StartRow::New => {
                self.task.open = Some(self.own_task(None));
                None
            }
            StartRow::Library => {
                self.fold(match self.library {
                    ExampleListing::Folded => ExampleListing::Unfolded,
                    ExampleListing::Unfolded => ExampleListing::Folded,
                });
                None
            }
            StartRow::Example(place) => {
                let example = self.facts.examples.get(place)?;
                match TaskLine::of(example, &self.facts) {
                    Ok(task) => self.task.open = Some(task),
                    Err(words) => self.notice = Some(words),
                }
                None
            }
            StartRow::Model(place) => {
                let offer = self.facts.models.get(place)?;
                self.facts.model = Some(offer.profile.clone());
                None
            }
            StartRow::Project(place) => {
                let project = self.facts.projects.get(place).cloned();
                self.task.open = Some(self.own_task(project.as_deref()));
                None
            }
            StartRow::Session(place) => {
                let session = self.facts.sessions.get(place)?;
                let name = session.name.clone();
                Some(match self.verb_of(session) {
                    Verb::Resume => StartChoice::Resume(name),
                    Verb::Replay => StartChoice::Replay(name),
                    Verb::ReplayFromStart => StartChoice::ReplayFromStart(name),
                })
            }
            StartRow::HealthLine(place) => {
                let finding = self.facts.findings.get(place)?;
                let is_well = finding.fix.is_empty();
                let words = if is_well { "there is nothing to fix" } else { &finding.fix };
                self.notice = Some(words.to_owned());
                None
            }
            StartRow::Heading(..) | StartRow::Words(_) | StartRow::Blank => None,
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
}

#[cfg(test)]
#[path = "start_tests.rs"]
mod tests;
