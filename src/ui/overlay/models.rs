//! The choice of the model that answers from the next turn on.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::model::{Intent, MODEL_ANSWER, QuestionId};
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::role::Role;
use crate::view::Head;

use super::pick;

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOffer {
    /// Name of its profile.
    pub profile: String,
    /// What the screen calls the model.
    pub label: String,
}

/// The list of models.
#[derive(Debug)]
pub struct ModelList {
    offers: Vec<ModelOffer>,
    /// Place of the one that answers; `None`: it is another one.
    current: Option<usize>,
    selected: usize,
    /// The question that the choice answers; `None`: it only changes the model.
    answers: Option<QuestionId>,
}

impl ModelList {
    /// A list of these, turned to the one that answers.
    #[must_use]
    pub fn new(offers: Vec<ModelOffer>, head: &Head) -> Self {
        let profile = head.profile();
        let current = offers.iter().position(|offer| Some(offer.profile.as_str()) == profile);
        let waits = head.question.as_ref().filter(|asked| asked.text.contains(MODEL_ANSWER));
        let answers = waits.filter(|asked| asked.agent.is_none()).map(|asked| asked.id);
        Self { offers, current, selected: current.unwrap_or(0), answers }
    }

    /// Whether a choice decides how the run goes on.
    pub(super) const fn decides(&self) -> bool {
        self.answers.is_some()
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        if pick::moved(action, &mut self.selected, self.offers.len()) {
            return Vec::new();
        }
        match action {
            Action::Accept => {
                let Some(offer) = self.offers.get(self.selected) else {
                    return vec![Effect::Close];
                };
                // The header tells when it is so; the choice may still be refused.
                let profile = offer.profile.clone();
                match self.answers {
                    Some(question) => super::answered(question, format!("model {profile}")),
                    None => vec![Effect::Close, Effect::intent(Intent::UseModel { profile })],
                }
            }
            _ => Effect::info("choose with up and down, enter selects it, esc goes back"),
        }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let (title, hint) = match self.answers {
            Some(_) => ("Go on with which model?", " enter goes on with it · esc back "),
            None => ("Model", " enter selects · esc back "),
        };
        let height = super::rows_for(self.offers.len()).min(screen.height.saturating_sub(6));
        let inside = super::frame(title, hint, (56, height), screen, buf, cx);
        let top = self.selected.saturating_sub(usize::from(inside.height).saturating_sub(1));
        for ((place, offer), row) in self.offers.iter().enumerate().skip(top).zip(inside.rows()) {
            let mark = if self.current == Some(place) { "● " } else { "  " };
            let left = Line::from(vec![
                cx.span(mark, Role::DialogDim),
                cx.span(line::cut(&offer.label, 36), Role::Dialog),
            ]);
            let name = line::cut(&offer.profile, 16);
            let right = Line::from(cx.span(name, Role::DialogDim));
            line::draw_split(&left, &right, row, buf);
            super::mark_selected(place == self.selected, row, buf, cx);
        }
    }
}
