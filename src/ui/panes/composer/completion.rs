//! What a word of a message may be completed to: agents and files after `@`, commands after `/`.
//!
//! Owns the list and the selection in it. Must not know of keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use crate::ui::fuzzy;
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;

use super::commands::{COMMANDS, works_now};

/// Rows of the list.
const ROWS: usize = 7;

/// Choices that are kept.
const MAX_CHOICES: usize = 50;

/// Something a word may be completed to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CompletionItem {
    /// With its sign, e.g. `@main/main.c`.
    text: String,
    about: String,
}

/// The list for the word at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Completion {
    choices: Vec<CompletionItem>,
    selected: usize,
    /// Characters of the word as it was typed.
    typed: usize,
    /// Whether the person went through the list.
    pub is_walked: bool,
}

/// Columns next to the list in which what is behind it still says something.
const LEAST_BEHIND: u16 = 8;

impl Completion {
    /// The list for the word that ends at `column` of `line`, in characters; `None`: it is no word
    /// that could be completed, or nothing matches.
    pub fn find(line: &str, column: usize, is_first_line: bool, cx: &Cx<'_>) -> Option<Self> {
        let before: String = line.chars().take(column).collect();
        let word = before.rsplit(char::is_whitespace).next()?.to_owned();
        let sign = word.chars().next()?;
        let known = match sign {
            '@' => addresses(cx),
            '/' if is_first_line && word.len() == before.len() => commands(cx),
            _ => return None,
        };
        let wanted = word.get(sign.len_utf8()..)?;
        let texts = known.iter().map(|choice| choice.text.get(1..).unwrap_or_default());
        let found = fuzzy::rank(wanted, texts);
        let found = found.into_iter().take(MAX_CHOICES);
        let choices: Vec<_> = found.filter_map(|place| known.get(place).cloned()).collect();
        let is_done = choices.iter().any(|choice| choice.text == word);
        if choices.is_empty() || is_done {
            return None;
        }
        Some(Self { choices, selected: 0, typed: word.chars().count(), is_walked: false })
    }

    /// Selects the next or previous choice, round the end.
    pub fn walk(&mut self, step: isize) {
        let count = self.choices.len();
        let step = if step < 0 { count - 1 } else { 1 };
        self.selected = (self.selected + step) % count;
        self.is_walked = true;
    }

    /// How many characters to take back, and what to put in their place.
    pub fn chosen(&self) -> (usize, String) {
        let text = self.choices.get(self.selected).map_or("", |choice| choice.text.as_str());
        (self.typed, format!("{text} "))
    }

    /// Draws the list above `field`.
    pub fn draw(&self, field: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let rows = self.choices.len().min(ROWS);
        let height = u16::try_from(rows).unwrap_or(0).min(field.y);
        let widest = |width: usize, choice: &CompletionItem| {
            width.max(line::width(&choice.text) + line::width(&choice.about) + 5)
        };
        let width = self.choices.iter().fold(24, widest);
        let (width, most) =
            (u16::try_from(width).unwrap_or(u16::MAX), field.width.saturating_sub(2));
        // No single letters of what is behind stay to be seen next to it.
        let width = if width.saturating_add(LEAST_BEHIND) > most { most } else { width };
        let area = Rect { x: field.x + 2, y: field.y - height, width, height };
        Clear.render(area, buf);
        buf.set_style(area, cx.style(Role::Dialog));
        let first = self.selected.saturating_sub(rows.saturating_sub(1));
        for ((place, choice), row) in self.choices.iter().enumerate().skip(first).zip(area.rows()) {
            let space = usize::from(width).saturating_sub(line::width(&choice.about) + 4);
            let left = Line::from(vec![
                Span::raw(" "),
                cx.span(line::cut_start(&choice.text, space), Role::Dialog),
            ]);
            let about = cx.line(format!("{} ", choice.about), Role::DialogDim);
            line::draw_split(&left, &about, row, buf);
            if place == self.selected {
                buf.set_style(row, cx.style(Role::Selection));
            }
        }
    }
}

fn addresses(cx: &Cx<'_>) -> Vec<CompletionItem> {
    let agents = cx.agents.names().iter();
    let agents =
        agents.map(|agent| CompletionItem { text: format!("@{agent}"), about: "agent".into() });
    let files = cx.view.project.files.iter().map(|(path, file)| CompletionItem {
        text: format!("@{path}"),
        about: file.bytes.map_or_else(String::new, line::bytes),
    });
    agents.chain(files).collect()
}

/// The commands that do something now.
fn commands(cx: &Cx<'_>) -> Vec<CompletionItem> {
    let choice = |(name, about): &(&str, &str)| CompletionItem {
        text: format!("/{name}"),
        about: (*about).to_owned(),
    };
    let state = &cx.view.head.state;
    COMMANDS.iter().filter(|(name, _)| works_now(name, state)).map(choice).collect()
}
