//! The request at the top of the chat.
//!
//! Owns how many rows it gets and where it is cut. Must not know which request is in sight.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::text::sanitize;
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::overlay::{Overlay, Preview};
use crate::ui::pane::{Cx, Effect, Mode};
use crate::ui::panes::wrap_words;
use crate::ui::role::Role;

/// Columns of a task at least.
const LEAST_TASK: usize = 5;

/// Columns of the task from which on it is told what the key for the rest does.
const LEAST_KEY_HELP: usize = 30;

/// Panes of no more rows have none for the task, and of no more than these one.
const SMALL: u16 = 11;
const MIDDLE: u16 = 24;

/// The request that what is on screen belongs to.
#[derive(Debug, Default)]
pub(super) struct TaskHead {
    /// Which one it is, where there are several.
    label: String,
    /// Its words, on as many rows as there are for them.
    rows: Vec<String>,
}

impl TaskHead {
    /// The request of that place among those of the session, at the top of an area.
    pub fn new(number: usize, area: Rect, cx: &Cx<'_>) -> Self {
        let label = match cx.view.head.runs.len() {
            0 | 1 => "Task ".to_owned(),
            _ => format!("Request {} ", number + 1),
        };
        let run = cx.view.head.runs.get(number).or(cx.view.head.run());
        let task = run.map_or("", |run| run.task.trim());
        let rows = task_rows(task, &label, area, cx);
        Self { label, rows }
    }

    /// Rows that it takes.
    pub const fn rows(&self) -> usize {
        self.rows.len()
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let blanks = " ".repeat(line::width(&self.label));
        for ((nth, words), row) in self.rows.iter().enumerate().zip(area.rows()) {
            let lead = if nth == 0 { &self.label } else { &blanks };
            let spans = vec![cx.span(lead.clone(), Role::Title), cx.span(words.clone(), Role::Dim)];
            line::draw(&Line::from(spans), row, buf);
        }
    }
}

/// Rows for a task at the top of an area.
fn task_rows(task: &str, label: &str, area: Rect, cx: &Cx<'_>) -> Vec<String> {
    // The bar of a replay tells it too, unless another request is in sight.
    let is_shown_elsewhere = cx.mode == Mode::Replay && cx.view.head.runs.len() < 2;
    let most = match area.height {
        ..=MIDDLE if is_shown_elsewhere => 0,
        // The place of the timeline cannot tell it.
        height if height <= SMALL => usize::from(cx.mode == Mode::Replay),
        height if height <= MIDDLE => 1,
        _ => 3,
    };
    let task = task.split_whitespace().collect::<Vec<_>>().join(" ");
    let width = usize::from(area.width).saturating_sub(line::width(label) + 1);
    if most == 0 || task.is_empty() || width < LEAST_TASK {
        return Vec::new();
    }
    let mut rows = wrap_words(&sanitize::line(&task), width);
    if rows.len() > most {
        let rest = rows.split_off(most - 1).join(" ");
        let key = cx.key(KeyContext::Chat, Action::ShowTask);
        let help = if width < LEAST_KEY_HELP { "" } else { " all" };
        let more = format!("… {key}{help}");
        let space = width.saturating_sub(line::width(&more) + 1);
        let rest = line::cut(&rest, space);
        rows.push(format!("{}{more}", rest.trim_end_matches('…')));
    }
    rows
}

/// The whole task to read.
pub(super) fn open(cx: &Cx<'_>) -> Vec<Effect> {
    let tasks: Vec<&str> = cx.view.head.runs.iter().map(|run| run.task.trim()).collect();
    let (title, text) = match tasks.as_slice() {
        [] => return Effect::info("there is no task yet"),
        [task] => ("Task", (*task).to_owned()),
        all => {
            let all = all.iter().enumerate();
            let all: Vec<_> = all.map(|(at, task)| format!("Request {}\n{task}", at + 1)).collect();
            ("Requests", all.join("\n\n"))
        }
    };
    vec![Effect::open(Overlay::Preview(Preview::text(title, &text)))]
}
