//! The field of the start screen in which a task is written.
//!
//! Owns its words and where the task takes place; must not start anything.

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::{Line, Span};

use super::line;
use super::overlay::search_field::SearchField;
use super::panes::wrap_words;
use super::role::Role;
use super::start_facts::{Draft, ExampleGround, Outlooks, StartExample, StartFacts, TaskOutlook};
use super::theme::Theme;
use crate::model::{Budget, Cost};
use crate::text::sanitize;

/// Stands at the end of a text while it is wrapped, where the cursor will be.
const AT_END: char = '\u{2588}';

/// A task while it is being written.
#[derive(Debug)]
pub(super) struct TaskLine {
    field: SearchField,
    /// Folders it may take place in; `None`: a new one.
    places: Vec<Option<String>>,
    place: usize,
    example: Option<StartExample>,
    teams: Vec<Option<String>>,
    chosen: TaskChoices,
    /// Limits that are other than in the team's file; those of other teams, too, once they were chosen.
    limits: BTreeMap<String, u32>,
}

/// Places of what was chosen, in the teams, [`TOKENS`], [`CENTS`], [`MINUTES`] and [`TEMPERATURES`],
/// and which limit of the team is shown.
#[derive(Debug, Clone, Copy, Default)]
struct TaskChoices {
    team: usize,
    tokens: usize,
    cents: usize,
    minutes: usize,
    temperature: usize,
    limit: usize,
}

/// Limits to choose from; `None`: no limit.
const TOKENS: [Option<u64>; 6] =
    [None, Some(50_000), Some(100_000), Some(200_000), Some(500_000), Some(1_000_000)];

/// Limits of cost to choose from, in cents, and of time at work, in minutes; `None`: no limit.
const CENTS: [Option<u64>; 6] = [None, Some(10), Some(50), Some(100), Some(500), Some(2_000)];
const MINUTES: [Option<u64>; 6] = [None, Some(5), Some(15), Some(30), Some(60), Some(120)];

/// Temperatures to choose from, in tenths; `None`: those of the agents.
const TEMPERATURES: [Option<u8>; 6] = [None, Some(0), Some(2), Some(5), Some(7), Some(10)];

/// Numbers that a limit of a team can have here.
const NUMBERS: [u32; 14] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 100];

/// The next of them, or the one before; from the last one to the first, and back.
fn next_number(now: u32, is_back: bool) -> u32 {
    let next = match is_back {
        false => NUMBERS.into_iter().find(|number| *number > now),
        true => NUMBERS.into_iter().rfind(|number| *number < now),
    };
    let [first, .., last] = NUMBERS;
    next.unwrap_or(if is_back { last } else { first })
}

/// The place of a choice; the first one where it cannot be chosen.
fn place_of<T: PartialEq>(all: &[T], wanted: &T) -> usize {
    all.iter().position(|one| one == wanted).unwrap_or(0)
}

/// So many cents of a dollar.
fn of_cents(cents: u64) -> Cost {
    Cost(cents.saturating_mul(10_000_000))
}

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
        let (field, example) = (SearchField::with(text), None);
        let (chosen, limits) = (TaskChoices::default(), BTreeMap::new());
        Self { field, places, place, example, teams, chosen, limits }
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

    /// What could not be begun before, to be corrected.
    pub(super) fn again(draft: &Draft, facts: &StartFacts) -> Self {
        let Draft { task, project, example, .. } = draft;
        let known = facts.examples.iter().find(|known| Some(&known.name) == example.as_ref());
        let mut line = Self::new(task, facts, project.as_deref());
        line.example = known.cloned();
        let Budget { tokens, cost, seconds, .. } = &draft.budget;
        line.chosen = TaskChoices {
            team: line.teams.iter().position(|team| *team == draft.team).unwrap_or(0),
            tokens: place_of(&TOKENS, tokens),
            cents: CENTS.iter().position(|cents| cents.map(of_cents) == *cost).unwrap_or(0),
            minutes: place_of(&MINUTES, &seconds.map(|seconds| seconds / 60)),
            temperature: place_of(&TEMPERATURES, &draft.temperature),
            limit: 0,
        };
        line.limits.clone_from(&draft.limits);
        line
    }

    /// The team that takes the task on, as far as it is known.
    fn team(&self, outlooks: &Outlooks) -> Option<String> {
        let of_example = self.example.as_ref().map(|example| example.team.clone());
        let chosen = || self.teams.get(self.chosen.team).cloned().flatten();
        let fits = || {
            let (words, project) = self.words_and_project()?;
            outlooks.of(words, project).map(|outlook| outlook.team)
        };
        of_example.or_else(chosen).or_else(fits)
    }

    /// The limits that its team has, as they were chosen.
    pub(super) fn limits(&self, outlooks: &Outlooks) -> Vec<(String, u32)> {
        let team = self.team(outlooks);
        let mut limits = team.map_or_else(Vec::new, |team| outlooks.limits(&team));
        for (name, number) in &mut limits {
            *number = self.limits.get(name).copied().unwrap_or(*number);
        }
        limits
    }

    /// A key that chooses a limit of the team or its number; whether it does.
    fn on_limit_key(&mut self, key: &KeyEvent, outlooks: &Outlooks) -> bool {
        let is_back = key.modifiers == KeyModifiers::ALT;
        let is_number = match key.code {
            KeyCode::Char('r') => false,
            KeyCode::Char('b') => true,
            _ => return false,
        };
        if !is_back && key.modifiers != KeyModifiers::CONTROL {
            return false;
        }
        let limits = self.limits(outlooks);
        let shown = self.chosen.limit % limits.len().max(1);
        match limits.get(shown) {
            Some((name, number)) if is_number => {
                self.limits.insert(name.clone(), next_number(*number, is_back));
            }
            _ => {
                let step = if is_back { limits.len().saturating_sub(1) } else { 1 };
                self.chosen.limit = (shown + step) % limits.len().max(1);
            }
        }
        true
    }

    /// A key that types, or chooses team, limits and temperature: with control the next one, with alt
    /// the one before.
    pub(super) fn on_key(&mut self, key: &KeyEvent, outlooks: &Outlooks) {
        if self.on_limit_key(key, outlooks) {
            return;
        }
        let teams = self.teams.len();
        let chosen = &mut self.chosen;
        let setting = match key.code {
            KeyCode::Char('t') => Some((&mut chosen.team, teams)),
            KeyCode::Char('l') => Some((&mut chosen.tokens, TOKENS.len())),
            KeyCode::Char('g') => Some((&mut chosen.cents, CENTS.len())),
            KeyCode::Char('n') => Some((&mut chosen.minutes, MINUTES.len())),
            KeyCode::Char('e') => Some((&mut chosen.temperature, TEMPERATURES.len())),
            _ => None,
        };
        let step = |count: usize| match key.modifiers {
            KeyModifiers::CONTROL => Some(1),
            KeyModifiers::ALT => Some(count.saturating_sub(1)),
            _ => None,
        };
        match setting.and_then(|(place, count)| Some((place, count, step(count)?))) {
            Some((place, count, step)) => *place = (*place + step) % count.max(1),
            None => {
                self.field.on_key(key);
            }
        }
    }

    /// What may be used before the person is asked, as it was chosen.
    fn budget(&self) -> Budget {
        let TaskChoices { tokens, cents, minutes, .. } = self.chosen;
        Budget {
            tokens: TOKENS.get(tokens).copied().flatten(),
            cost: CENTS.get(cents).copied().flatten().map(of_cents),
            seconds: MINUTES.get(minutes).copied().flatten().map(|minutes| minutes * 60),
            turns: None,
        }
    }

    /// What was chosen besides the place, with the keys that choose, in rows of at most `width`
    /// cells; `model` is the label of the one that answers where another one can be chosen, `outlook`
    /// what becomes of the words as they are, `limits` are those of the team.
    pub(super) fn settings(
        &self,
        model: Option<&str>,
        (outlook, limits): (Option<&TaskOutlook>, &[(String, u32)]),
        width: u16,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let team = self.teams.get(self.chosen.team).and_then(Option::as_deref);
        let team = match (&self.example, team) {
            (Some(example), _) => format!("team {}", example.team),
            (None, Some(team)) => format!("team {team}"),
            (None, None) => outlook.map_or_else(
                || "the team that fits".to_owned(),
                |outlook| format!("team {} fits", outlook.team),
            ),
        };
        let Budget { tokens, cost, seconds, .. } = self.budget();
        let ask = |most: Option<String>, what: &str| {
            most.map_or(format!("no {what} limit"), |most| format!("ask after {most}"))
        };
        let tokens = ask(tokens.map(|most| format!("{} tokens", line::grouped(most))), "token");
        let cost = ask(cost.map(|most| most.to_string()), "cost");
        let minutes = ask(seconds.map(|seconds| format!("{} min", seconds / 60)), "time");
        let tenths = TEMPERATURES.get(self.chosen.temperature).copied().flatten();
        let temperature = tenths.map_or_else(
            || "usual temperature".to_owned(),
            |tenths| format!("temperature {}.{}", tenths / 10, tenths % 10),
        );
        let model = model.map(|label| (line::cut(label, usize::from(width / 2)), "ctrl-o"));
        let settings = [
            (team, "ctrl-t"),
            (tokens, "ctrl-l"),
            (cost, "ctrl-g"),
            (minutes, "ctrl-n"),
            (temperature, "ctrl-e"),
        ];
        let shown = self.chosen.limit % limits.len().max(1);
        let limit = limits.get(shown).map(|(name, number)| (format!("{name} {number}"), "ctrl-b"));
        let others = (limits.len() > 1)
            .then(|| (format!("limit {} of {}", shown + 1, limits.len()), "ctrl-r"));
        let answered = outlook.and_then(|outlook| outlook.answered.clone());
        let answered = answered.map(|words| (words, ""));
        let mut rows: Vec<Line<'static>> = vec![Line::default()];
        for (words, key) in
            settings.into_iter().chain(limit).chain(others).chain(model).chain(answered)
        {
            let gap = if key.is_empty() { "" } else { " " };
            let setting = [
                Span::styled(format!("{words}{gap}"), theme.style(Role::Text)),
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

    /// The words and the project, once there are words.
    pub(super) fn words_and_project(&self) -> Option<(&str, Option<&str>)> {
        let words = self.field.text().trim();
        let project = self.places.get(self.place).and_then(Option::as_deref);
        (!words.is_empty()).then_some((words, project))
    }

    /// Whether there is another place.
    pub(super) fn has_places(&self) -> bool {
        self.places.len() > 1
    }

    /// What is to be begun, answered by the model of that profile; `None` while nothing is
    /// written.
    pub(super) fn draft(&self, model: Option<&str>, outlooks: &Outlooks) -> Option<Draft> {
        let task = self.field.text().trim().to_owned();
        let project = self.places.get(self.place).cloned().flatten();
        let example = self.example.as_ref().map(|example| example.name.clone());
        let model = model.map(str::to_owned);
        let team = self.teams.get(self.chosen.team).cloned().flatten();
        let team = team.filter(|_| example.is_none());
        let temperature = TEMPERATURES.get(self.chosen.temperature).copied().flatten();
        let budget = self.budget();
        let known = self.team(outlooks).map_or_else(Vec::new, |team| outlooks.limits(&team));
        let limits = known.into_iter().filter_map(|(name, usual)| {
            let number = self.limits.get(&name).copied().filter(|number| *number != usual)?;
            Some((name, number))
        });
        let limits = limits.collect();
        let draft = Draft { task, project, model, example, team, budget, temperature, limits };
        (!draft.task.is_empty()).then_some(draft)
    }

    /// The text behind what it is for, in as many columns and rows at most; `model` is the label of the
    /// one that answers. A text that is longer than one row has rows of its own.
    pub(super) fn draw(
        &self,
        model: Option<&str>,
        (width, most): (u16, u16),
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let place = self.places.get(self.place).and_then(Option::as_deref);
        let place = line::cut_start(place.unwrap_or("in a new folder"), 28);
        let team = self.example.as_ref().map(|example| format!("{} · ", example.team));
        let by = model.map_or_else(String::new, |label| {
            format!(" · {}", line::cut(label, usize::from(width / 4)))
        });
        let lead = format!("{}{place}{by} › ", team.unwrap_or_default());
        let space = usize::from(width).saturating_sub(line::width(&lead) + 1);
        let (text, role) = match self.field.text() {
            "" => ("what should the team do?", Role::Dim),
            text => (text, Role::Text),
        };
        let text = sanitize::line(text);
        let lead = Span::styled(lead, theme.style(Role::Accent));
        let cursor = Span::styled(" ", theme.style(Role::Cursor));
        if line::width(&text) <= space {
            let text = Span::styled(text.into_owned(), theme.style(role));
            return vec![Line::from(vec![lead, text, cursor])];
        }
        let rows = wrap_words(&format!("{text}{AT_END}"), usize::from(width).saturating_sub(2));
        let most = usize::from(most.saturating_sub(1).max(1));
        let hidden = rows.len().saturating_sub(most);
        let mut lines = vec![Line::from(lead)];
        for (nth, row) in rows.iter().skip(hidden).enumerate() {
            let mark = if nth == 0 && hidden > 0 { "… " } else { "  " };
            let words = row.trim_end_matches(AT_END).to_owned();
            let mark = Span::styled(mark, theme.style(Role::Dim));
            lines.push(Line::from(vec![mark, Span::styled(words, theme.style(role))]));
        }
        if let Some(last) = lines.last_mut() {
            last.push_span(cursor);
        }
        lines
    }

    /// Whether the words are the person's own, not just those of an example.
    pub(super) fn is_own(&self) -> bool {
        let example = self.example.as_ref();
        example.is_none_or(|it| SearchField::with(&it.task).text() != self.field.text())
    }

    /// The words as they are.
    pub(super) fn text(&self) -> &str {
        self.field.text().trim()
    }

    /// The same in that project.
    pub(super) fn within(mut self, project: &str) -> Self {
        let is_it = |place: &Option<String>| place.as_deref() == Some(project);
        self.place = self.places.iter().position(is_it).unwrap_or_else(|| {
            self.places.push(Some(project.to_owned()));
            self.places.len() - 1
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Assets;
    use crate::ui::Depth;

    fn outlooks() -> Outlooks {
        let outlooks = Outlooks::new(|task, _| TaskOutlook {
            team: if task == "y" { "mesh" } else { "contract" }.to_owned(),
            answered: None,
        });
        outlooks.with_limits(|team| match team {
            "contract" => vec![("max_checks".to_owned(), 5), ("max_fixes".to_owned(), 3)],
            "mesh" => vec![("max_reviews".to_owned(), 2)],
            _ => Vec::new(),
        })
    }

    fn shown(task: &TaskLine, outlooks: &Outlooks) -> String {
        let theme = Theme::load(&Assets::built_in(), "dark", Depth::True).unwrap();
        let limits = task.limits(outlooks);
        let rows = task.settings(None, (None, &limits), 200, &theme);
        rows.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn limits_of_the_team_are_changed_by_keys() {
        let outlooks = outlooks();
        let mut task = TaskLine::new("", &StartFacts::default(), None);
        assert!(!shown(&task, &outlooks).contains("max_"), "no team is known yet");
        let press = |task: &mut TaskLine, code, held| {
            task.on_key(&KeyEvent::new(code, held), &outlooks);
            shown(task, &outlooks)
        };
        let (b, r, none) = (KeyCode::Char('b'), KeyCode::Char('r'), KeyModifiers::NONE);
        let text = press(&mut task, KeyCode::Char('x'), none);
        assert!(text.contains("max_checks 5 ctrl-b   limit 1 of 2 ctrl-r"), "{text}");
        let text = press(&mut task, b, KeyModifiers::CONTROL);
        assert!(text.contains("max_checks 6"), "{text}");
        press(&mut task, b, KeyModifiers::ALT);
        press(&mut task, r, KeyModifiers::CONTROL);
        for words in ["max_fixes 2", "max_fixes 1", "max_fixes 100"] {
            let text = press(&mut task, b, KeyModifiers::ALT);
            assert!(text.contains(words) && text.contains("limit 2 of 2"), "{words}: {text}");
        }
        assert!(press(&mut task, b, KeyModifiers::CONTROL).contains("max_fixes 1 "));
        let limits = |task: &TaskLine| task.draft(None, &outlooks).unwrap().limits;
        let set = BTreeMap::from([("max_fixes".to_owned(), 1)]);
        assert_eq!(limits(&task), set, "what is as in the file is not given");
        // Those of another team are not taken along, and are there again with their team.
        press(&mut task, KeyCode::Backspace, none);
        let text = press(&mut task, KeyCode::Char('y'), none);
        assert!(text.contains("max_reviews 2 ctrl-b") && !text.contains("ctrl-r"), "{text}");
        assert_eq!(limits(&task), BTreeMap::new());
        press(&mut task, KeyCode::Backspace, none);
        press(&mut task, KeyCode::Char('x'), none);
        let draft = task.draft(None, &outlooks).unwrap();
        let again = TaskLine::again(&draft, &StartFacts::default());
        assert_eq!((limits(&task), limits(&again)), (set.clone(), set));
    }
}
