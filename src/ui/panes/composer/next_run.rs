//! The run that begins with the next task: its team, and whose model answers it.
//!
//! Owns what fits, what was chosen, and that the person agreed to a model that answers in place of a
//! recording. Must not start anything.

use std::sync::Arc;

use ratatui::text::{Line, Span};

use crate::model::{NextSuggestion, TeamOffer, TeamOffers};
use crate::text::sanitize;
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, Keys, Mode};
use crate::ui::role::Role;
use crate::view::{RunState, SessionView};

/// Why no team can be chosen.
const NO_TEAMS: &str = "the team is chosen for the next task, once this run is over";

/// Columns for what is written, next to the team.
const LEAST_FIELD: usize = 24;

/// Most columns of a profile's name.
const PROFILE: usize = 16;

/// What the next task would begin.
#[derive(Default)]
pub(super) struct NextRun {
    /// Knows the teams that it could have.
    pub offers: Option<Arc<dyn TeamOffers>>,
    /// How many runs were over when its teams were last looked up.
    offered: usize,
    /// Teams that it could have; empty while a run goes on.
    teams: Vec<TeamOffer>,
    /// Which of them was chosen; `None`: the one that fits best.
    team: Option<usize>,
    /// What the words of the message suggest.
    suggested: NextSuggestion,
    /// The task that was sent once, and the profile that the person was asked about then.
    asked: Option<(String, String)>,
}

impl NextRun {
    /// Looks up its teams, once for each run that is over.
    pub fn look_up(&mut self, view: &SessionView) {
        let is_over = matches!(view.head.state, RunState::Ended(_));
        let over = if is_over { view.head.runs.len() } else { 0 };
        if over == self.offered {
            return;
        }
        self.offered = over;
        let offers = self.offers.as_ref().filter(|_| over > 0);
        (self.teams, self.team) = (offers.map_or_else(Vec::new, |teams| teams.offers()), None);
    }

    /// Finds what the words of the message suggest.
    pub fn suggest(&mut self, task: &str, view: &SessionView) {
        let offers = self.offers.as_ref().filter(|_| !self.teams.is_empty());
        let provider = view.head.provider().unwrap_or_default();
        self.suggested =
            offers.map_or_else(NextSuggestion::default, |it| it.suggested(task, provider));
    }

    /// The team that was chosen by name or key.
    pub fn chosen(&self) -> Option<String> {
        self.team.and_then(|_| self.team()).map(|team| team.name.clone())
    }

    /// The chosen team, else the one that would begin now.
    fn team(&self) -> Option<&TeamOffer> {
        let suggested = self.suggested.team.as_ref().filter(|_| self.team.is_none());
        let suggested =
            suggested.and_then(|name| self.teams.iter().find(|team| team.name == *name));
        suggested.or_else(|| self.teams.get(self.team.unwrap_or(0)))
    }

    /// Whether the team can be chosen now.
    fn has_teams(&self, cx: &Cx<'_>) -> bool {
        matches!(cx.view.head.state, RunState::Ended(_)) && !self.teams.is_empty()
    }

    /// Chooses the team so many places further on.
    pub fn walk(&mut self, step: isize, cx: &Cx<'_>) -> Vec<Effect> {
        if !self.has_teams(cx) {
            return Effect::refuse(NO_TEAMS);
        }
        let (now, all) = (self.team.unwrap_or(0), self.teams.len());
        self.take((now + all).saturating_add_signed(step) % all)
    }

    /// Chooses the team of that name.
    pub fn choose(&mut self, name: &str, cx: &Cx<'_>) -> Vec<Effect> {
        if !self.has_teams(cx) {
            return Effect::refuse(NO_TEAMS);
        }
        let Some(place) = self.teams.iter().position(|team| team.name == name) else {
            let names: Vec<&str> = self.teams.iter().map(|team| team.name.as_str()).collect();
            let names = names.join(", ");
            return Effect::refuse(format!("no team `{name}` fits here; use {names}"));
        };
        self.take(place)
    }

    fn take(&mut self, place: usize) -> Vec<Effect> {
        self.team = Some(place);
        let team = self.team();
        team.map_or_else(Vec::new, |team| {
            Effect::info(format!("{}: {}", team.name, team.description))
        })
    }

    /// What to ask before `task` goes to a model where a recording has answered so far: it may cost
    /// money. `None`: the same task is sent again, or nothing changes.
    pub fn new_model(&mut self, task: &str, cx: &Cx<'_>) -> Option<String> {
        let is_task = !task.starts_with('/') && cx.mode == Mode::Live && self.has_teams(cx);
        let profile = self.suggested.profile.clone().filter(|_| is_task)?;
        let asks = (task.to_owned(), profile);
        if self.asked.as_ref() == Some(&asks) {
            self.asked = None;
            return None;
        }
        let name = line::clean(&asks.1);
        self.asked = Some(asks);
        Some(format!(
            "no recording has this task: your model `{name}` would answer, which may cost money; \
             Enter again sends it"
        ))
    }

    /// Its team, and its model where that is another one, where there are so many columns.
    pub fn line(&self, columns: u16, cx: &Cx<'_>) -> Option<Line<'static>> {
        let next = self.team().filter(|_| matches!(cx.view.head.state, RunState::Ended(_)));
        let team = next?;
        let key = cx.keymap.key_of(&[KeyContext::Composer], Action::NextTeam);
        let key = key.filter(|_| cx.keys == Keys::Here).unwrap_or_default();
        let does = if key.is_empty() { "" } else { " other team" };
        let of = |lead: &'static str, does: &'static str| {
            let mut spans = self.model(cx);
            spans.extend([
                cx.span(lead, Role::Dim),
                cx.span(format!("{} ", team.name), Role::Accent),
                cx.span(key.clone(), Role::Key),
                cx.span(does, Role::KeyHelp),
            ]);
            Line::from(spans)
        };
        let fits = |line: &Line<'_>| line.width() + LEAST_FIELD <= usize::from(columns);
        let forms = [of(" team ", does), of(" team ", ""), of(" ", "")];
        forms.into_iter().find(fits)
    }

    /// The model that would answer in place of a recording.
    fn model(&self, cx: &Cx<'_>) -> Vec<Span<'static>> {
        let Some(profile) = &self.suggested.profile else { return Vec::new() };
        let name = line::cut(&sanitize::line(profile), PROFILE);
        vec![cx.span(" model ", Role::Dim), cx.span(name, Role::Warn), cx.span(" ·", Role::Faint)]
    }
}
