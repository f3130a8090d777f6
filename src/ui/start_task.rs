//! The line of the start screen in which a task is written.
//!
//! Owns its words and where the task takes place; must not start anything.

use crossterm::event::KeyEvent;
use ratatui::text::{Line, Span};

use super::line;
use super::overlay::search_field::SearchField;
use super::role::Role;
use super::start_facts::{Draft, ExampleGround, StartExample, StartFacts};
use super::theme::Theme;

/// A task while it is being written.
#[derive(Debug)]
pub(super) struct TaskLine {
    field: SearchField,
    /// Folders it may take place in; `None`: a new one.
    places: Vec<Option<String>>,
    place: usize,
    example: Option<StartExample>,
}

impl TaskLine {
    /// A task in the person's own words, in a new folder or one of those.
    pub(super) fn new(text: &str, projects: &[String], project: Option<&str>) -> Self {
        let mut places = vec![None];
        places.extend(projects.iter().cloned().map(Some));
        let known = places.iter().position(|place| place.as_deref() == project);
        if known.is_none() {
            places.push(project.map(str::to_owned));
        }
        let place = known.unwrap_or(places.len() - 1);
        Self { field: SearchField::with(text), places, place, example: None }
    }

    /// The task of an example.
    ///
    /// # Errors
    /// In words for the person, when it changes a project and none is known.
    pub(super) fn of(example: &StartExample, projects: &[String]) -> Result<Self, String> {
        let mut line = Self::new(&example.task, projects, None);
        match example.ground {
            ExampleGround::Own => {}
            ExampleGround::Project if projects.is_empty() => {
                return Err(format!(
                    "{} changes a project, and none is known: firmhand new --example {} --project DIR",
                    example.title, example.name
                ));
            }
            ExampleGround::Project => {
                line.places.remove(0);
            }
        }
        line.example = Some(example.clone());
        Ok(line)
    }

    /// What could not be begun before, to be mended.
    pub(super) fn again(draft: &Draft, facts: &StartFacts) -> Self {
        let Draft { task, project, example, .. } = draft;
        let known = facts.examples.iter().find(|known| Some(&known.name) == example.as_ref());
        let mut line = Self::new(task, &facts.projects, project.as_deref());
        line.example = known.cloned();
        line
    }

    /// A key that types.
    pub(super) fn on_key(&mut self, key: &KeyEvent) {
        self.field.on_key(key);
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.field.on_paste(text);
    }

    /// Turns to the next place; tells whether there is another one.
    pub(super) fn turn_place(&mut self) -> bool {
        self.place = (self.place + 1) % self.places.len().max(1);
        self.places.len() > 1
    }

    /// Whether there is another place.
    pub(super) fn has_places(&self) -> bool {
        self.places.len() > 1
    }

    /// What is to be begun, answered by the model of that profile; `None` while nothing is
    /// written.
    pub(super) fn draft(&self, model: Option<&str>) -> Option<Draft> {
        let task = self.field.text().trim().to_owned();
        let project = self.places.get(self.place).cloned().flatten();
        let example = self.example.as_ref().map(|example| example.name.clone());
        let model = model.map(str::to_owned);
        (!task.is_empty()).then_some(Draft { task, project, model, example })
    }

    /// The line, `width` cells wide at most; `model` is the label of the one that answers.
    pub(super) fn draw(&self, model: Option<&str>, width: u16, theme: &Theme) -> Line<'static> {
        let place = self.places.get(self.place).and_then(Option::as_deref);
        let place = line::cut_start(place.unwrap_or("in a new folder"), 28);
        let team = self.example.as_ref().map(|example| format!("{} · ", example.team));
        let by = model.map_or_else(String::new, |label| {
            format!(" · {}", line::cut(label, usize::from(width / 4)))
        });
        let lead = format!("{}{place}{by} › ", team.unwrap_or_default());
        let room = usize::from(width).saturating_sub(line::width(&lead) + 2);
        let (text, role) = match self.field.text() {
            "" => ("what should the team do?", Role::Dim),
            text => (text, Role::Text),
        };
        Line::from(vec![
            Span::styled(lead, theme.style(Role::Accent)),
            Span::styled(line::cut_start(text, room), theme.style(role)),
            Span::styled(" ", theme.style(Role::Cursor)),
        ])
    }
}
