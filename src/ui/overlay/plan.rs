//! A plan before it is carried out: its steps, to be accepted, changed, or sent back with words.
//!
//! Owns the steps as the person has them; whoever runs the team has its own until it is told.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::pick;
use super::search_field::SearchField;
use crate::model::{AgentName, Intent, PlanItem, QuestionId, START_PLAN};
use crate::text::{plan_order, sanitize};
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::panes::wrap_words;
use crate::ui::role::Role;
use crate::view::PlanView;

/// Columns of the dialog, and rows of steps, at most.
const COLUMNS: u16 = 92;
const MOST_ROWS: u16 = 24;
/// Keys that are told at its foot.
const KEYS: [Action; 6] = {
    use Action::{Add, Change, MoveDown, MoveUp, Refuse, Remove};
    [Change, Add, Remove, MoveDown, MoveUp, Refuse]
};

/// A plan that waits.
#[derive(Debug)]
pub struct PlanDesk {
    /// The question it answers.
    pub(super) question: QuestionId,
    shown: Vec<PlanItem>,
    steps: Vec<PlanItem>,
    selected: usize,
    typing: Option<PlanInput>,
    /// What is wrong with the order of the steps, in sentences.
    faults: Vec<String>,
}

/// What is being typed.
#[derive(Debug)]
struct PlanInput {
    kind: InputKind,
    field: SearchField,
}
/// What it is typed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputKind {
    /// The selected step anew.
    Step,
    /// A step behind the selected one.
    More,
    /// Why the plan is sent back.
    Refusal,
}

/// What the steps of a plan say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepForm {
    /// Who does it, and what.
    WithAgent,
    /// What is to be done; the team knows who does it.
    TaskOnly,
}

impl PlanInput {
    fn new(kind: InputKind, text: &str) -> Option<Self> {
        Some(Self { kind, field: SearchField::with(text) })
    }

    /// What is asked for, in a plan whose steps name their agents or do not.
    const fn title(&self, plan: StepForm) -> &'static str {
        match (self.kind, plan) {
            (InputKind::Step, _) => "This step",
            (InputKind::More, StepForm::WithAgent) => "A step after it, as `Agent : what to do`",
            (InputKind::More, StepForm::TaskOnly) => {
                "A step after it: what it makes, in which files, how one sees that it works"
            }
            (InputKind::Refusal, _) => "What should change?",
        }
    }
}

impl PlanDesk {
    /// The plan that the question is about.
    #[must_use]
    pub fn new(question: QuestionId, plan: &PlanView) -> Self {
        let steps: Vec<PlanItem> = plan.steps.iter().map(|(item, _)| item.clone()).collect();
        let faults = faults(&steps);
        Self { question, shown: steps.clone(), steps, selected: 0, typing: None, faults }
    }

    pub(in crate::ui) const fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        if let Some(typing) = &mut self.typing {
            typing.field.on_key(key);
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) -> bool {
        let Some(typing) = &mut self.typing else { return false };
        typing.field.on_paste(text);
        true
    }

    pub(in crate::ui) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        if self.typing.is_some() {
            match action {
                Action::Cancel => self.typing = None,
                Action::Accept => return self.take_typed(),
                _ => return Effect::info("enter keeps the text, esc discards it"),
            }
            return Vec::new();
        }
        if pick::moved(action, &mut self.selected, self.steps.len()) {
            return Vec::new();
        }
        match action {
            Action::Change => {
                let text = self.steps.get(self.selected).map(written).unwrap_or_default();
                self.typing = PlanInput::new(InputKind::Step, &text);
            }
            Action::Add => self.typing = PlanInput::new(InputKind::More, ""),
            Action::Refuse => self.typing = PlanInput::new(InputKind::Refusal, ""),
            Action::Remove if self.steps.len() > 1 => {
                let gone = self.steps.remove(self.selected);
                plan_order::removed(&mut tasks(&mut self.steps), self.selected, &gone.task);
                self.selected = self.selected.min(self.steps.len() - 1);
            }
            Action::Remove => return Effect::refuse("a plan needs a step; reject it instead"),
            Action::MoveUp if self.selected > 0 => self.swap(self.selected - 1),
            Action::MoveDown if self.selected + 1 < self.steps.len() => {
                self.swap(self.selected + 1)
            }
            Action::MoveUp | Action::MoveDown => return Effect::refuse("it cannot move further"),
            Action::Accept => return self.accept(),
            _ => return Effect::info("enter starts the plan, esc leaves it waiting"),
        }
        self.faults = faults(&self.steps);
        Vec::new()
    }

    /// Lets the selected step and another one change places.
    fn swap(&mut self, other: usize) {
        self.steps.swap(self.selected, other);
        plan_order::swapped(&mut tasks(&mut self.steps), self.selected, other);
        self.selected = other;
    }

    fn take_typed(&mut self) -> Vec<Effect> {
        let Some(typing) = &self.typing else { return Vec::new() };
        let words = typing.field.text().trim().to_owned();
        if words.is_empty() {
            return Effect::refuse("write something first, or press esc");
        }
        match typing.kind {
            InputKind::Refusal => {
                return super::answered(self.question, words);
            }
            InputKind::Step => {
                let item = self.read(&words);
                if let Some(step) = self.steps.get_mut(self.selected) {
                    *step = item;
                }
            }
            InputKind::More => {
                let place = (self.selected + 1).min(self.steps.len());
                let item = self.read(&words);
                self.steps.insert(place, item);
                plan_order::added(&mut tasks(&mut self.steps), place);
                self.selected = place;
            }
        }
        self.faults = faults(&self.steps);
        self.typing = None;
        Vec::new()
    }

    /// A step as it is written; only agents of the plan are taken for one.
    fn read(&self, words: &str) -> PlanItem {
        let known = |name: &str| {
            let agents = self.shown.iter().filter_map(|item| item.agent.as_ref());
            agents.into_iter().find(|agent| agent.as_str() == name).cloned()
        };
        match words.split_once(':').map(|(name, task)| (known(name.trim()), task.trim())) {
            Some((Some(agent), task)) if !task.is_empty() => {
                PlanItem { task: task.to_owned(), agent: Some(agent) }
            }
            _ => PlanItem { task: words.to_owned(), agent: None },
        }
    }

    fn accept(&self) -> Vec<Effect> {
        let mut effects = super::answered(self.question, START_PLAN);
        if self.steps != self.shown {
            effects.insert(1, Effect::intent(Intent::EditPlan { items: self.steps.clone() }));
        }
        effects
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let keys = match self.typing {
            Some(_) => " enter keeps it · esc discards it ",
            None => " enter starts · esc leaves it waiting ",
        };
        let changed = if self.steps == self.shown { "" } else { " · changed" };
        let title =
            format!("The plan: {}{changed}", line::counted(self.steps.len(), "step", "steps"));
        let columns = COLUMNS.min(screen.width.saturating_sub(6));
        let rows = self.rows(usize::from(columns));
        let height = super::rows_for(rows.len()).clamp(1, MOST_ROWS) + 4;
        let inside = super::frame(&title, keys, (COLUMNS, height), screen, buf, cx);
        let space = usize::from(inside.height.saturating_sub(3)).max(1);
        // The selected step is on the screen with all its rows, or with its first ones.
        let of_selected = |(place, _): &(usize, String)| *place == self.selected;
        let first = rows.iter().position(of_selected).unwrap_or(0);
        let last = rows.iter().rposition(of_selected).unwrap_or(0);
        let top = (last + 1).saturating_sub(space).min(first);
        for ((place, text), row) in rows.iter().skip(top).take(space).zip(inside.rows()) {
            let refuses = |typing: &PlanInput| typing.kind == InputKind::Refusal;
            let is_selected = *place == self.selected && !self.typing.as_ref().is_some_and(refuses);
            let style = cx.style(if is_selected { Role::Selection } else { Role::Dialog });
            line::tint(row, style, buf);
            line::draw(&Line::styled(text.clone(), style), row, buf);
        }
        self.draw_foot(inside, buf, cx);
    }

    fn form(&self) -> StepForm {
        let has_agent = self.steps.iter().any(|item| item.agent.is_some());
        if has_agent { StepForm::WithAgent } else { StepForm::TaskOnly }
    }

    /// The steps in rows of that many columns, each with the place of its step.
    fn rows(&self, columns: usize) -> Vec<(usize, String)> {
        let form = self.form();
        let mut rows = Vec::new();
        for (place, item) in self.steps.iter().enumerate() {
            let agent = item.agent.as_ref().map_or("", AgentName::as_str);
            let agent = match form {
                StepForm::WithAgent => format!("{:<24} ", line::cut(&sanitize::line(agent), 24)),
                StepForm::TaskOnly => String::new(),
            };
            let lead = format!(" {:>2}  {agent}", place + 1);
            let indent = line::width(&lead);
            let words =
                wrap_words(&sanitize::line(&item.task), columns.saturating_sub(indent + 1).max(16));
            let mut words = words.into_iter();
            rows.push((place, format!("{lead}{}", words.next().unwrap_or_default())));
            rows.extend(words.map(|text| (place, format!("{}{text}", " ".repeat(indent)))));
        }
        rows
    }

    fn draw_foot(&self, inside: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let [first, second] = super::foot_rows(inside);
        if self.typing.is_none()
            && let Some(fault) = self.faults.first()
        {
            let more = match self.faults.len() - 1 {
                0 => String::new(),
                more => format!(" And {more} more."),
            };
            let text = line::cut(&format!("{fault}{more}"), usize::from(first.width));
            line::draw(&cx.line(text, Role::DialogDim), first, buf);
        }
        match &self.typing {
            None => super::draw_keys(&KEYS, second, buf, cx),
            Some(typing) => {
                let title = typing.title(self.form());
                line::draw(&cx.line(title, Role::DialogDim), first, buf);
                typing.field.draw("", second, buf, cx);
            }
        }
    }
}

/// The words of the steps, to be changed.
fn tasks(steps: &mut [PlanItem]) -> Vec<&mut String> {
    steps.iter_mut().map(|step| &mut step.task).collect()
}

fn faults(steps: &[PlanItem]) -> Vec<String> {
    plan_order::faults(&steps.iter().map(|step| step.task.as_str()).collect::<Vec<_>>())
}

/// A step as it is typed.
fn written(item: &PlanItem) -> String {
    match &item.agent {
        Some(agent) => format!("{agent} : {}", item.task),
        None => item.task.clone(),
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyModifiers};

    use super::*;
    use crate::ui::pane::UiCommand;
    use crate::view::StepState;

    fn desk() -> PlanDesk {
        let step = |agent: &str, task: &str| {
            let item = PlanItem { task: task.to_owned(), agent: Some(AgentName::from(agent)) };
            (item, StepState::Open)
        };
        let steps = vec![step("Writer", "write it"), step("Builder", "build it")];
        PlanDesk::new(QuestionId(4), &PlanView { by: Some("Planner".into()), turn: None, steps })
    }

    fn type_in(desk: &mut PlanDesk, words: &str) {
        for letter in words.chars() {
            desk.on_text(&KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
        }
        assert!(desk.on_action(Action::Accept).is_empty());
    }

    fn sent(effects: Vec<Effect>) -> Vec<Intent> {
        let intents = effects.into_iter().filter_map(|effect| match effect {
            Effect::Command(UiCommand::Intent(intent)) => Some(intent),
            _ => None,
        });
        intents.collect()
    }

    fn written_of(desk: &PlanDesk) -> Vec<String> {
        desk.steps.iter().map(written).collect()
    }

    #[test]
    fn a_plan_that_is_taken_as_it_is_says_nothing_but_that() {
        let answer = START_PLAN.to_owned();
        let wanted = Intent::Answer { question: QuestionId(4), answer };
        assert_eq!(sent(desk().on_action(Action::Accept)), [wanted]);
    }

    #[test]
    fn steps_are_written_anew_added_moved_and_taken_out() {
        let mut desk = desk();
        desk.on_action(Action::Change);
        type_in(&mut desk, " well");
        desk.on_action(Action::Add);
        type_in(&mut desk, "Builder : look at it");
        assert_eq!(
            written_of(&desk),
            ["Writer : write it well", "Builder : look at it", "Builder : build it"]
        );
        desk.on_action(Action::MoveDown);
        desk.on_action(Action::Top);
        desk.on_action(Action::Remove);
        assert_eq!(written_of(&desk), ["Builder : build it", "Builder : look at it"]);
        desk.on_action(Action::Add);
        type_in(&mut desk, "Stranger : do it");
        assert_eq!(desk.steps[1].agent, None, "nobody outside of the plan is named");
        let intents = sent(desk.on_action(Action::Accept));
        assert!(
            matches!(&intents[0], Intent::EditPlan { items } if items.len() == 3),
            "{intents:?}"
        );
        assert!(matches!(&intents[1], Intent::Answer { .. }), "{intents:?}");
    }

    #[test]
    fn what_a_step_waits_for_follows_when_the_plan_changes() {
        let mut desk = desk();
        desk.on_action(Action::Change);
        type_in(&mut desk, " (after nothing)");
        desk.on_action(Action::Bottom);
        desk.on_action(Action::Change);
        type_in(&mut desk, " (after 1)");
        desk.on_action(Action::Add);
        type_in(&mut desk, "look at it (after 2)");
        desk.on_action(Action::MoveUp);
        assert_eq!(
            tasks_of(&desk),
            ["write it (after nothing)", "look at it (after 3)", "build it (after 1)"]
        );
        desk.on_action(Action::MoveDown);
        desk.on_action(Action::Top);
        desk.on_action(Action::Remove);
        assert_eq!(tasks_of(&desk), ["build it (after nothing)", "look at it (after 1)"]);
        assert!(desk.faults.is_empty());
        desk.on_action(Action::Change);
        type_in(&mut desk, " (after 2)");
        assert_eq!(desk.faults, ["Steps 1 and 2 wait for each other."]);
    }

    fn tasks_of(desk: &PlanDesk) -> Vec<&str> {
        desk.steps.iter().map(|step| step.task.as_str()).collect()
    }

    #[test]
    fn the_last_step_stays_and_words_send_the_plan_back() {
        let mut desk = desk();
        desk.on_action(Action::Remove);
        desk.on_action(Action::Remove);
        assert_eq!(written_of(&desk), ["Builder : build it"]);
        desk.on_action(Action::Refuse);
        assert!(sent(desk.on_action(Action::Accept)).is_empty(), "no words, no answer");
        for letter in "shorter".chars() {
            desk.on_text(&KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
        }
        let wanted = Intent::Answer { question: QuestionId(4), answer: "shorter".to_owned() };
        assert_eq!(sent(desk.on_action(Action::Accept)), [wanted]);
        desk.on_action(Action::Cancel);
        assert!(!desk.is_typing());
    }
}
