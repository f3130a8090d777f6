//! The line of the start screen in which a task is written.
//!
//! Owns its words and where the task takes place; must not start anything.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
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
    teams: Vec<Option<String>>,
    /// Places of what was chosen, in `teams`, [`TOKENS`] and [`TEMPERATURES`].
    team: usize,
    tokens: usize,
    temperature: usize,
}

/// Limits to choose from; `None`: no limit.
const TOKENS: [Option<u64>; 6] =
    [None, Some(50_000), Some(100_000), Some(200_000), Some(500_000), Some(1_000_000)];

/// Temperatures to choose from, in tenths; `None`: those of the agents.
const TEMPERATURES: [Option<u8>; 6] = [None, Some(0), Some(2), Some(5), Some(7), Some(10)];

impl TaskLine {
    /// A task in the person's own words, in a new folder or one of those.
    pub(super) fn new(text: &str, facts: &StartFacts, project: Option<&str>) -> Self {
        let projects = &facts.projects;
        let teams = std::iter::once(None).chain(facts.teams.iter().cloned().map(Some));
        let teams = teams.collect();
        let mut places = vec![None];
        places.extend(projects.iter().cloned().map(Some));
        let known = places.iter().position(|place| place.as_deref() == project);
        if known.is_none() {
            places.push(project.map(str::to_owned));
        }
        let place = known.unwrap_or(places.len() - 1);
        let (team, tokens, temperature) = (0, 0, 0);
        let (field, example) = (SearchField::with(text), None);
        Self { field, places, place, example, teams, team, tokens, temperature }
    }

    /// The task of an example.
    ///
    /// # Errors
    /// In words for the person, when it changes a project and none is known.
    pub(super) fn of(example: &StartExample, facts: &StartFacts) -> Result<Self, String> {
        let mut line = Self::new(&example.task, facts, None);
        match example.ground {
            ExampleGround::Own => {}
            ExampleGround::Project if facts.projects.is_empty() => {
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
        let mut line = Self::new(task, facts, project.as_deref());
        line.example = known.cloned();
        line.team = line.teams.iter().position(|team| *team == draft.team).unwrap_or(0);
        line.tokens = TOKENS.iter().position(|most| *most == draft.tokens).unwrap_or(0);
        let tenths = TEMPERATURES.iter().position(|tenths| *tenths == draft.temperature);
        line.temperature = tenths.unwrap_or(0);
        line
    }

    /// A key that types, or chooses team, limit and temperature.
    pub(super) fn on_key(&mut self, key: &KeyEvent) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('t') if is_control => {
                self.team = (self.team + 1) % self.teams.len().max(1)
            }
            KeyCode::Char('l') if is_control => self.tokens = (self.tokens + 1) % TOKENS.len(),
            KeyCode::Char('e') if is_control => {
                self.temperature = (self.temperature + 1) % TEMPERATURES.len();
            }
            _ => {
                self.field.on_key(key);
            }
        }
    }

    /// What was chosen besides the place, with the keys that choose, in rows of at most `width`
    /// cells; `model` is the label of the one that answers where another one can be chosen.
    pub(super) fn settings(
        &self,
        model: Option<&str>,
        width: u16,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let team = match (&self.example, self.teams.get(self.team).and_then(Option::as_deref)) {
            (Some(example), _) => format!("team {}", example.team),
            (None, Some(team)) => format!("team {team}"),
            (None, None) => "the team that fits".to_owned(),
        };
        let tokens = TOKENS.get(self.tokens).copied().flatten();
        let tokens = tokens.map_or_else(
            || "no token limit".to_owned(),
            |most| format!("ask after {} tokens", line::grouped(most)),
        );
        let tenths = TEMPERATURES.get(self.temperature).copied().flatten();
        let temperature = tenths.map_or_else(
            || "usual temperature".to_owned(),
            |tenths| format!("temperature {}.{}", tenths / 10, tenths % 10),
        );
        let model = model.map(|label| (line::cut(label, usize::from(width / 2)), "ctrl-o"));
        let settings = [(team, "ctrl-t"), (tokens, "ctrl-l"), (temperature, "ctrl-e")];
        let mut rows: Vec<Line<'static>> = vec![Line::default()];
        for (words, key) in settings.into_iter().chain(model) {
            let setting = [
                Span::styled(format!("{words} "), theme.style(Role::Text)),
                Span::styled(key, theme.style(Role::Key)),
            ];
            let taken: usize = setting.iter().map(Span::width).sum();
            match rows.last_mut() {
                Some(row) if row.width() == 0 => row.extend(setting),
                Some(row) if row.width() + 3 + taken <= usize::from(width) => {
                    row.push_span(Span::raw("   "));
                    row.extend(setting);
                }
                _ => rows.push(Line::from_iter(setting)),
            }
        }
        rows
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
        let team = self.teams.get(self.team).cloned().flatten().filter(|_| example.is_none());
        let tokens = TOKENS.get(self.tokens).copied().flatten();
        let temperature = TEMPERATURES.get(self.temperature).copied().flatten();
        let draft = Draft { task, project, model, example, team, tokens, temperature };
        (!draft.task.is_empty()).then_some(draft)
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
        let space = usize::from(width).saturating_sub(line::width(&lead) + 2);
        let (text, role) = match self.field.text() {
            "" => ("what should the team do?", Role::Dim),
            text => (text, Role::Text),
        };
        Line::from(vec![
            Span::styled(lead, theme.style(Role::Accent)),
            Span::styled(line::cut_start(text, space), theme.style(role)),
            Span::styled(" ", theme.style(Role::Cursor)),
        ])
    }
}
