//! A question of the team: its answers to choose from.
//!
//! Owns the selection only. A digit selects an answer and never gives it: that takes the key that
//! accepts, so that a digit meant for a pane cannot stop a run. A key that means nothing here closes
//! it and does what it does elsewhere.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::model::{MODEL_ANSWER, MODEL_HINT, QuestionId};
use crate::text::sanitize;
use crate::ui::action::Action;
use crate::ui::key::Key;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::panes::wrap_words;
use crate::ui::role::Role;
use crate::view::{PendingList, PersonQuestion, SessionView};

use super::pick;

/// The answers to a question that waits.
#[derive(Debug)]
pub struct AnswerList {
    /// The question it answers.
    pub(super) question: QuestionId,
    title: String,
    text: String,
    /// The steps or the files that it is about, one in a row.
    list: Vec<String>,
    rows: Vec<AnswerRow>,
    selected: usize,
}

/// Stands before each step or file.
const MARK: &str = "•  ";

/// What a question is about, each step or file in a row.
fn rows_of(list: PendingList<'_>) -> Vec<String> {
    match list {
        // Numbers are those of the answers.
        PendingList::Plan(plan) => plan
            .steps
            .iter()
            .map(|(item, _)| {
                let agent =
                    item.agent.as_ref().map_or_else(String::new, |agent| format!("{agent}: "));
                format!("{MARK}{agent}{}", item.task)
            })
            .collect(),
        PendingList::Context(context) => context
            .files
            .iter()
            .map(|file| format!("{MARK}{}  {} tok", file.path, line::count(file.tokens)))
            .collect(),
    }
}

/// Opens what the question is about.
fn look() -> Vec<Effect> {
    vec![Effect::Close, Effect::Act(Action::LookInto)]
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum AnswerRow {
    /// One of the answers that are offered.
    Offered(String),
    /// First look at the plan or the files that it is about.
    Look,
    /// Go on with another model.
    Model,
    /// An answer in the person's own words.
    Write,
}

/// Columns of the dialog, and rows of the question's text at most.
const COLUMNS: u16 = 92;
const TEXT_ROWS: usize = 8;

/// Columns before each step or file that it is about.
const INDENT: usize = 4;

impl AnswerList {
    /// The answers to the question that waits; `None`: there is none with answers to choose from.
    #[must_use]
    pub fn of(view: &SessionView) -> Option<Self> {
        let question = view.head.question.as_ref().filter(|asked| !asked.options.is_empty())?;
        let PersonQuestion { id, agent, text, options } = question;
        let mut rows: Vec<AnswerRow> = options.iter().cloned().map(AnswerRow::Offered).collect();
        // A recording has no other model.
        if text.contains(MODEL_ANSWER) && agent.is_none() && view.head.profile().is_some() {
            rows.push(AnswerRow::Model);
        }
        if view.pending_list().is_some() {
            rows.push(AnswerRow::Look);
        }
        rows.push(AnswerRow::Write);
        let title = agent.as_ref().map_or_else(
            || "The run waits for you".to_owned(),
            |agent| format!("{} asks", sanitize::line(agent.as_str())),
        );
        let list = view.pending_list().map(|(_, list)| rows_of(list)).unwrap_or_default();
        // Another model is one of the rows.
        let text = text.replace(MODEL_HINT, "");
        Some(Self { question: *id, title, text, list, rows, selected: 0 })
    }

    /// How many answers are offered: these have the numbers that they have in the chat.
    fn offered(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row, AnswerRow::Offered(_))).count()
    }

    /// A digit selects the answer of that number.
    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        let place = Key::of(key).digit().and_then(|digit| digit.checked_sub(1));
        self.selected = place.filter(|place| *place < self.offered()).unwrap_or(self.selected);
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        if pick::moved(action, &mut self.selected, self.rows.len()) {
            return Vec::new();
        }
        match (action, self.rows.get(self.selected)) {
            (Action::Accept, Some(AnswerRow::Offered(answer))) => {
                super::answered(self.question, answer)
            }
            (Action::Accept, Some(AnswerRow::Look)) => look(),
            (Action::Change, _) if self.rows.contains(&AnswerRow::Look) => look(),
            (Action::Accept, Some(AnswerRow::Model)) => {
                vec![Effect::Close, Effect::Act(Action::ChooseModel)]
            }
            (Action::Accept, Some(AnswerRow::Write)) => {
                vec![Effect::Close, Effect::Compose(String::new())]
            }
            _ => Effect::info(
                "choose with a digit or the arrows, enter answers, esc leaves it waiting",
            ),
        }
    }

    /// What it is about in that many rows: in full where that fits, else each in a row, the last of
    /// which tells how many are left out.
    fn list_within(&self, rows: usize, columns: usize) -> Vec<String> {
        let whole = self.list.iter().flat_map(|text| {
            let text = sanitize::line(text);
            let words =
                wrap_words(text.trim_start_matches(MARK), columns.saturating_sub(INDENT + 1));
            let lead = |nth: usize| if nth == 0 { format!(" {MARK}") } else { " ".repeat(INDENT) };
            words.into_iter().enumerate().map(move |(nth, words)| format!("{}{words}", lead(nth)))
        });
        let whole: Vec<String> = whole.take(rows + 1).collect();
        if whole.len() <= rows {
            return whole;
        }
        let shown = if self.list.len() > rows { rows.saturating_sub(1) } else { self.list.len() };
        let row = |text: &String| {
            format!(" {}", line::cut(&sanitize::line(text), columns.saturating_sub(2)))
        };
        let mut list: Vec<String> = self.list.iter().take(shown).map(row).collect();
        let left_out = self.list.len() - shown;
        if left_out > 0 && rows > 0 {
            list.push(format!(" … and {left_out} more"));
        }
        list
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let width = COLUMNS.min(screen.width.saturating_sub(6));
        let mut words = wrap_words(&sanitize::line(self.text.trim()), usize::from(width));
        let most = usize::from(screen.height).saturating_sub(self.rows.len() + 6);
        let most = most.clamp(1, TEXT_ROWS);
        if words.len() > most {
            // What is asked stands at the end.
            let last = words.split_off(words.len() - most.div_ceil(2));
            words.truncate(most - last.len());
            if let Some(cut) = words.last_mut() {
                *cut = line::cut(&format!("{cut} …"), usize::from(width));
            }
            words.extend(last);
        }
        let free = usize::from(screen.height).saturating_sub(self.rows.len() + words.len() + 7);
        let list = self.list_within(free, usize::from(width));
        let listed = if list.is_empty() { 0 } else { list.len() + 1 };
        let rows = super::rows_for(words.len() + listed + 1 + self.rows.len());
        let last = self.offered().min(9);
        let hint = format!(" 1–{last} ↑↓ select · enter answers · esc leaves it waiting ");
        let inside = super::frame(&self.title, &hint, (width, rows), screen, buf, cx);
        let mut at = inside.rows();
        for (text, row) in words.into_iter().zip(at.by_ref()) {
            line::draw(&cx.line(text, Role::Dialog), row, buf);
        }
        if !list.is_empty() {
            at.next();
        }
        for (text, row) in list.into_iter().zip(at.by_ref()) {
            line::draw(&cx.line(text, Role::DialogDim), row, buf);
        }
        for ((place, answer), row) in self.rows.iter().enumerate().zip(at.skip(1)) {
            let number = (place + 1).to_string();
            let (mark, words, role) = match answer {
                AnswerRow::Offered(answer) => (number.as_str(), answer.as_str(), Role::Dialog),
                AnswerRow::Look => ("·", "look at it first, and change it", Role::DialogDim),
                AnswerRow::Model => ("·", "choose another model", Role::Dialog),
                AnswerRow::Write => ("·", "write another answer", Role::DialogDim),
            };
            let line = Line::from(vec![
                cx.span(format!(" {mark}  "), Role::DialogDim),
                cx.span(line::clean(words), role),
            ]);
            line::draw(&line, row, buf);
            super::mark_selected(place == self.selected, row, buf, cx);
        }
    }
}
