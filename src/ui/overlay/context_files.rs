//! The files that an agent is about to read, with their sizes: taken out, put in, read, or sent
//! back with words.
//!
//! Every change goes to the run at once, which lists anew; what is shown is always its list.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::pick;
use super::search_field::{SearchField, fuzzy};
use crate::model::{ChosenBy, ContextFile, Intent, ProjectPath, QuestionId, READ_FILES};
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::role::Role;
use crate::view::SessionView;

/// Files that fit what is typed, at most.
const MOST_FOUND: usize = 5;

/// The list of files that waits.
#[derive(Debug)]
pub struct ContextDesk {
    /// The question it answers.
    pub(super) question: QuestionId,
    selected: usize,
    typing: Option<FileInput>,
}

/// What is being typed.
#[derive(Debug)]
enum FileInput {
    /// A file to put in, and which of those found is selected.
    File(SearchField, usize),
    /// Why the files are sent back.
    Refusal(SearchField),
}

/// A line of the list.
enum FileRow<'v> {
    /// It will be read.
    In(&'v ContextFile),
    /// The person has taken it out.
    Out(&'v ProjectPath),
}

impl ContextDesk {
    /// The files that the question is about.
    #[must_use]
    pub const fn new(question: QuestionId) -> Self {
        Self { question, selected: 0, typing: None }
    }

    pub(in crate::ui) const fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        match &mut self.typing {
            Some(FileInput::File(field, place)) => {
                *place = if field.on_key(key) { 0 } else { *place }
            }
            Some(FileInput::Refusal(field)) => drop(field.on_key(key)),
            None => {}
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) -> bool {
        match &mut self.typing {
            Some(FileInput::File(field, _) | FileInput::Refusal(field)) => field.on_paste(text),
            None => return false,
        }
        true
    }

    pub(in crate::ui) fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        if self.typing.is_some() {
            return self.on_action_while_typing(action, cx);
        }
        let rows = rows(cx.view);
        self.selected = self.selected.min(rows.len().saturating_sub(1));
        if pick::moved(action, &mut self.selected, rows.len()) {
            return Vec::new();
        }
        match action {
            Action::Toggle | Action::Remove => {
                let Some(row) = rows.get(self.selected) else {
                    return Effect::refuse("there is no file to remove");
                };
                let (add, remove) = match row {
                    FileRow::In(file) => (Vec::new(), vec![file.path.clone()]),
                    FileRow::Out(path) if action == Action::Toggle => {
                        (vec![(*path).clone()], Vec::new())
                    }
                    FileRow::Out(_) => return Effect::refuse("it is already removed"),
                };
                return vec![Effect::intent(Intent::EditContext { add, remove })];
            }
            Action::Add => self.typing = Some(FileInput::File(SearchField::default(), 0)),
            Action::Refuse => self.typing = Some(FileInput::Refusal(SearchField::default())),
            Action::Accept if rows.iter().any(|row| matches!(row, FileRow::In(_))) => {
                return super::answered(self.question, READ_FILES);
            }
            Action::Accept => {
                return Effect::refuse("no file is left to read: add one, or send the list back");
            }
            _ => return Effect::info("enter reads them, esc leaves them waiting"),
        }
        Vec::new()
    }

    fn on_action_while_typing(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let count = match &self.typing {
            Some(FileInput::File(field, _)) => found(field, cx.view).len(),
            Some(FileInput::Refusal(_)) | None => 0,
        };
        match (action, &mut self.typing) {
            (Action::Cancel, _) => self.typing = None,
            (Action::Up | Action::Down, Some(FileInput::File(_, place))) => {
                pick::moved(action, place, count);
            }
            (Action::Accept, Some(FileInput::File(field, place))) => {
                let Some(path) = found(field, cx.view).get(*place).cloned() else {
                    return Effect::refuse("the project has no file of that name");
                };
                self.typing = None;
                let (add, remove) = (vec![path], Vec::new());
                return vec![Effect::intent(Intent::EditContext { add, remove })];
            }
            (Action::Accept, Some(FileInput::Refusal(field))) => {
                let answer = field.text().trim();
                if answer.is_empty() {
                    return Effect::refuse("name other files, or press esc");
                }
                return super::answered(self.question, answer);
            }
            _ => return Effect::info("enter selects it, esc goes back to the list"),
        }
        Vec::new()
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let rows = rows(cx.view);
        let context = cx.view.team.context.as_ref();
        let tokens = context.map_or(0, |context| context.tokens());
        let count = rows.iter().filter(|row| matches!(row, FileRow::In(_))).count();
        let title = format!("Files for the context: {count} · about {tokens} tokens");
        let keys = match self.typing {
            Some(_) => " enter selects it · esc back to the list ",
            None => " enter reads them · esc leaves them waiting ",
        };
        let height = super::rows_for(rows.len()).clamp(4, 20) + 4;
        let inside = super::frame(&title, keys, (92, height), screen, buf, cx);
        let space = usize::from(inside.height.saturating_sub(3)).max(1);
        let selected = self.selected.min(rows.len().saturating_sub(1));
        let top = selected.saturating_sub(space - 1);
        match &self.typing {
            Some(FileInput::File(field, place)) => {
                let paths = found(field, cx.view);
                for ((at, path), row) in paths.iter().enumerate().zip(inside.rows()) {
                    let style = cx.style(if at == *place { Role::Selection } else { Role::Dialog });
                    line::tint(row, style, buf);
                    line::draw(&Line::styled(format!(" {path}"), style), row, buf);
                }
            }
            Some(FileInput::Refusal(_)) | None => {
                let shown = rows.iter().enumerate().skip(top).take(space);
                for ((at, item), row) in shown.zip(inside.rows()) {
                    draw_row(item, at == selected && self.typing.is_none(), row, buf, cx);
                }
            }
        }
        self.draw_foot(inside, buf, cx);
    }

    fn draw_foot(&self, inside: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let [first, second] = super::foot_rows(inside);
        let (title, field) = match &self.typing {
            None => {
                let keys = [Action::Toggle, Action::Add, Action::Refuse];
                return super::draw_keys(&keys, second, buf, cx);
            }
            Some(FileInput::File(field, _)) => ("Which file of the project?", field),
            Some(FileInput::Refusal(field)) => ("Which other files, and why?", field),
        };
        line::draw(&cx.line(title, Role::DialogDim), first, buf);
        field.draw("", second, buf, cx);
    }
}

fn draw_row(item: &FileRow<'_>, is_selected: bool, row: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let (role, left, right) = match item {
        FileRow::In(file) => {
            let by = if file.by == ChosenBy::Person { "  your choice" } else { "" };
            let size = match file.bytes {
                Some(_) => format!("{} tokens", file.tokens),
                None => "no such file".to_owned(),
            };
            let gap = if file.reason.is_empty() { "" } else { "  " };
            (Role::Dialog, format!(" ✓ {}{by}{gap}{}", file.path, file.reason), format!("{size} "))
        }
        FileRow::Out(path) => (Role::DialogDim, format!(" · {path}"), "left out ".to_owned()),
    };
    let style = cx.style(if is_selected { Role::Selection } else { role });
    line::tint(row, style, buf);
    let space = usize::from(row.width).saturating_sub(line::width(&right) + 2);
    let left = line::clean(&left);
    let left = Line::styled(line::cut(&left, space), style);
    line::draw_split(&left, &Line::styled(right, style), row, buf);
}

/// The files on the list, then those the person has taken out of it.
fn rows(view: &SessionView) -> Vec<FileRow<'_>> {
    let listed = view.team.context.iter().flat_map(|context| &context.files);
    let is_listed = |path: &ProjectPath| listed.clone().any(|file| file.path == *path);
    let out = view.team.removed.iter().filter(|path| !is_listed(path));
    listed.clone().map(FileRow::In).chain(out.map(FileRow::Out)).collect()
}

/// Files of the project that fit what is typed, the best first.
fn found(field: &SearchField, view: &SessionView) -> Vec<ProjectPath> {
    let paths: Vec<&ProjectPath> = view.project.files.keys().collect();
    let places = fuzzy(field.text(), paths.iter().map(|path| path.as_str()));
    let best = places.into_iter().take(MOST_FOUND);
    best.filter_map(|place| paths.get(place).map(|path| (*path).clone())).collect()
}
