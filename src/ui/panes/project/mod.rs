//! The project's files as a tree, with what the session and others did and want to do to them.
//!
//! Owns folding, the filter and the selection. Must not read files.

mod row;
mod tree;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use crate::model::{Intent, ProjectPath};
use crate::ui::action::{Action, KeyContext};
use crate::ui::fuzzy;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, FilePlace, Keys, Mode, Pane, TextMode, UiCommand};
use crate::ui::role::Role;
use crate::view::{ContextWish, FileView, Project};

use self::tree::{Node, NodeKind, top_folders, tree};
use crate::ui::input_line::{InputLine, Purpose};

/// With more files than this, folders begin folded.
const MANY_FILES: usize = 200;

/// Least height with a line on the selected file.
const LEAST_HEIGHT_WITH_FOOT: u16 = 6;

/// The project pane.
#[derive(Debug, Default)]
pub struct ProjectPane {
    /// Folders that do not show what is in them.
    folded: BTreeSet<String>,
    nodes: Vec<Node>,
    /// What the rows were made from, see [`fingerprint`].
    made_from: Option<u64>,
    /// The selected file or folder.
    selected: Option<String>,
    top: usize,
    height: usize,
    /// What the names of files shown must match; empty: nothing.
    filter: String,
    typing: Option<InputLine>,
    /// Whether the first list of files was looked at.
    is_begun: bool,
}

impl ProjectPane {
    fn place(&self) -> usize {
        let is_it = |node: &Node| Some(&node.path) == self.selected.as_ref();
        self.nodes.iter().position(is_it).unwrap_or(0)
    }

    fn select(&mut self, place: usize) {
        let place = place.min(self.nodes.len().saturating_sub(1));
        self.selected = self.nodes.get(place).map(|node| node.path.clone());
    }

    fn move_by(&mut self, rows: isize) {
        self.select(self.place().saturating_add_signed(rows));
    }

    /// The selected file; tells why there is none.
    fn file(&self) -> Result<ProjectPath, Vec<Effect>> {
        match self.nodes.get(self.place()) {
            Some(Node { path, kind: NodeKind::File, .. }) => ProjectPath::new(path)
                .map_err(|_| Effect::refuse("this is not a file of the project")),
            Some(_) => Err(Effect::info("this is a folder")),
            None => Err(Effect::info("there are no files yet")),
        }
    }

    /// The selected file, if a file is selected.
    #[must_use]
    pub fn file_at_cursor(&self) -> Option<ProjectPath> {
        self.file().ok()
    }

    /// Folds or unfolds a folder, shows a file.
    fn open(&mut self) -> Vec<Effect> {
        match self.nodes.get(self.place()).cloned() {
            Some(Node { path, kind: NodeKind::Open, .. }) => drop(self.folded.insert(path)),
            Some(Node { path, kind: NodeKind::Folded(_), .. }) => drop(self.folded.remove(&path)),
            Some(Node { kind: NodeKind::File, .. }) => return self.with_file(Effect::Preview),
            None => return Effect::info("there are no files yet"),
        }
        Vec::new()
    }

    fn with_file(&self, effect: impl FnOnce(FilePlace) -> Effect) -> Vec<Effect> {
        match self.file() {
            Ok(path) => vec![effect(FilePlace { path, line: None })],
            Err(effects) => effects,
        }
    }

    /// Wants the file in the team's context, or out of it.
    fn toggle_pin(&self, cx: &Cx<'_>) -> Vec<Effect> {
        let path = match self.file() {
            Ok(path) => path,
            Err(effects) => return effects,
        };
        if cx.mode == Mode::Replay {
            return Effect::refuse("this is a replay: nothing can be pinned");
        }
        if cx.view.head.state.is_over() {
            return Effect::refuse("the run is over: no agent reads files");
        }
        let wanted =
            cx.view.project.files.get(&path).map_or(ContextWish::Unsaid, |file| file.wanted);
        let (add, remove, words) = match wanted {
            ContextWish::In => {
                (Vec::new(), vec![path], "excluded: the team does not read this file")
            }
            ContextWish::Unsaid | ContextWish::Out => {
                (vec![path], Vec::new(), "pinned: the team always reads this file with other files")
            }
        };
        let mut effects = vec![Effect::intent(Intent::EditContext { add, remove })];
        effects.extend(Effect::info(words));
        effects
    }

    /// Folds the folder, or goes to the one that holds what is selected.
    fn fold(&mut self) -> Vec<Effect> {
        let place = self.place();
        let Some(node) = self.nodes.get(place).cloned() else {
            return Effect::info("there are no files yet");
        };
        if node.kind == NodeKind::Open {
            self.folded.insert(node.path);
            return Vec::new();
        }
        let above = self.nodes.iter().take(place).rposition(|above| above.depth < node.depth);
        let Some(above) = above else { return Effect::info("this is at the top of the project") };
        self.select(above);
        Vec::new()
    }

    fn unfold(&mut self) -> Vec<Effect> {
        match self.nodes.get(self.place()) {
            Some(Node { path, kind: NodeKind::Folded(_), .. }) => drop(self.folded.take(path)),
            Some(Node { kind: NodeKind::Open, .. }) => self.move_by(1),
            Some(Node { kind: NodeKind::File, .. }) => return Effect::info("this is a file"),
            None => return Effect::info("there are no files yet"),
        }
        Vec::new()
    }

    /// Leaves the filter; what was selected in it stays so.
    fn end_filter(&mut self) {
        self.filter.clear();
        self.typing = None;
        if let Some(selected) = &self.selected {
            // So that it can be seen in the tree.
            self.folded.retain(|folder| !selected.starts_with(&format!("{folder}/")));
        }
    }

    /// Makes the rows anew if files, folding or filter are not those they were made from.
    fn make_rows(&mut self, project: &Project) {
        if !self.is_begun && !project.files.is_empty() {
            self.is_begun = true;
            if project.files.len() > MANY_FILES {
                self.folded = top_folders(project);
            }
        }
        let made_from = fingerprint(project, &self.folded, &self.filter);
        if self.made_from == Some(made_from) {
            return;
        }
        let before = self.place();
        let is_tree = self.filter.is_empty();
        self.nodes =
            if is_tree { tree(project, &self.folded) } else { filtered(project, &self.filter) };
        let is_typing = self.typing.is_some() && self.made_from.is_some();
        self.made_from = Some(made_from);
        let is_gone = |path: &String| !self.nodes.iter().any(|node| node.path == *path);
        if is_typing {
            self.select(0);
        } else if self.selected.as_ref().is_none_or(is_gone) {
            self.select(before);
        }
    }

    /// Rows below the tree: the filter being typed, or a line on the selected file.
    fn foot_rows(&self, area: Rect, keys: Keys) -> u16 {
        let has_filter = self.typing.is_some() || !self.filter.is_empty();
        u16::from(has_filter || (keys == Keys::Here && area.height >= LEAST_HEIGHT_WITH_FOOT))
    }

    fn draw_foot(&self, row: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        if let Some(typing) = &self.typing {
            return line::draw(&typing.line(cx), row, buf);
        }
        if !self.filter.is_empty() {
            let words = format!(" /{}", line::cut(&self.filter, 40));
            let count = cx.line(format!("{} ", self.nodes.len()), Role::Dim);
            return line::draw_split(&cx.line(words, Role::Key), &count, row, buf);
        }
        let file = self.file().ok();
        let view = file.as_ref().and_then(|path| cx.view.project.files.get(path));
        let words = match (view, self.nodes.get(self.place())) {
            (Some(view), _) => row::about(view),
            (None, Some(node)) => line::cut_start(&node.path, usize::from(row.width)),
            (None, None) => return,
        };
        line::draw(&cx.line(format!(" {words}"), Role::Dim), row, buf);
    }
}

/// Files whose paths match, the best first.
fn filtered(project: &Project, filter: &str) -> Vec<Node> {
    let paths: Vec<&str> = project.files.keys().map(ProjectPath::as_str).collect();
    let found = fuzzy::rank(filter, paths.iter().copied());
    let node = |path: &str| Node { path: path.to_owned(), depth: 0, kind: NodeKind::File };
    found.into_iter().filter_map(|place| paths.get(place).copied()).map(node).collect()
}

/// Tells whether rows have to be made anew, at far less cost than making them.
fn fingerprint(project: &Project, folded: &BTreeSet<String>, filter: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in project.files.keys() {
        path.as_str().hash(&mut hasher);
    }
    (folded, filter).hash(&mut hasher);
    hasher.finish()
}

impl Pane for ProjectPane {
    fn title(&self, cx: &Cx<'_>) -> Line<'static> {
        let files = cx.view.project.files.len();
        let mut spans = vec![Span::raw("Project")];
        if files > 0 {
            let more = if cx.view.project.omitted > 0 { "+" } else { "" };
            spans.push(cx.span(format!(" {files}{more}"), Role::Dim));
        }
        let is_wanted = |file: &&FileView| file.wanted == ContextWish::In;
        let pinned = cx.view.project.files.values().filter(is_wanted);
        let tokens: u64 = pinned.map(FileView::tokens).sum();
        if tokens > 0 {
            let text = format!(" ◈ {} tok", line::count(tokens));
            spans.push(cx.span(text, Role::Accent));
        }
        Line::from(spans)
    }

    fn hints(&self, _cx: &Cx<'_>) -> Vec<Action> {
        vec![Action::Open, Action::EditFile, Action::Pin, Action::Search]
    }

    fn why_not(&self, action: Action, cx: &Cx<'_>) -> Option<String> {
        let is_own = matches!(action.home(), KeyContext::Pane | KeyContext::Project);
        let why = match action {
            Action::NextMatch
            | Action::PreviousMatch
            | Action::NextError
            | Action::PreviousError
            | Action::Follow => "this is a list of files",
            _ if is_own && self.nodes.is_empty() => "there are no files yet",
            Action::Pin if cx.mode == Mode::Replay => "this is a replay: nothing can be pinned",
            Action::Pin if cx.view.head.state.is_over() => "the run is over: no agent reads files",
            Action::Pin | Action::EditFile if self.file().is_err() => "this is a folder",
            _ => return None,
        };
        Some(why.to_owned())
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let page = isize::try_from(self.height.max(2) - 1).unwrap_or(1);
        match action {
            Action::Up => self.move_by(-1),
            Action::Down => self.move_by(1),
            Action::HalfPageUp => self.move_by(-(page / 2).max(1)),
            Action::HalfPageDown => self.move_by((page / 2).max(1)),
            Action::PageUp => self.move_by(-page),
            Action::PageDown => self.move_by(page),
            Action::Top => self.select(0),
            Action::Bottom => self.select(usize::MAX),
            Action::Open => return self.open(),
            Action::EditFile => {
                return self.with_file(|place| Effect::Command(UiCommand::Edit(place)));
            }
            Action::Pin => return self.toggle_pin(cx),
            Action::Search => self.typing = Some(InputLine::new(Purpose::Files, &self.filter)),
            Action::Copy => {
                return self.selected.as_ref().map_or_else(Vec::new, Effect::copy);
            }
            Action::Left => return self.fold(),
            Action::Right => return self.unfold(),
            Action::Follow => return Effect::info("the list of files is always current"),
            Action::Back if !self.filter.is_empty() => self.end_filter(),
            Action::Back => {
                let key = cx.key(KeyContext::Global, Action::FocusChat);
                return Effect::info(format!("nothing is open here; {key} focuses the chat"));
            }
            _ => return Effect::refuse(format!("`{}` does nothing on files", action.name())),
        }
        Vec::new()
    }

    fn prepare(&mut self, area: Rect, cx: &Cx<'_>) {
        self.make_rows(&cx.view.project);
        self.height = usize::from(area.height.saturating_sub(self.foot_rows(area, cx.keys)));
        let place = self.place();
        let last_top = self.nodes.len().saturating_sub(self.height);
        self.top = self.top.clamp(place.saturating_sub(self.height.saturating_sub(1)), place);
        self.top = self.top.min(last_top);
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let foot = self.foot_rows(area, cx.keys).min(area.height);
        let rows = Rect { height: area.height - foot, ..area };
        if foot > 0 {
            self.draw_foot(Rect { y: rows.bottom(), height: foot, ..area }, buf, cx);
        }
        if self.nodes.is_empty() {
            let words = if self.filter.is_empty() { "no files yet" } else { "no file matches" };
            line::draw(&cx.line(format!("  {words}"), Role::Dim), rows, buf);
            return;
        }
        for (node, row) in self.nodes.iter().skip(self.top).zip(rows.rows()) {
            row::draw(node, row, buf, cx);
            let is_selected = Some(&node.path) == self.selected.as_ref();
            if is_selected && (cx.keys == Keys::Here || self.typing.is_some()) {
                buf.set_style(row, cx.selection());
            }
        }
        let omitted = cx.view.project.omitted;
        let free = usize::from(rows.height).saturating_sub(self.nodes.len());
        if omitted > 0 && free > 0 && self.filter.is_empty() {
            let text = format!("   and {} more", line::count(omitted));
            let y = rows.bottom() - u16::try_from(free).unwrap_or(1);
            line::draw(&cx.line(text, Role::Dim), Rect { y, ..rows }, buf);
        }
    }

    fn text_mode(&self) -> TextMode {
        if self.typing.is_some() { TextMode::On } else { TextMode::Off }
    }

    fn on_text(&mut self, key: &KeyEvent, _cx: &Cx<'_>) -> Vec<Effect> {
        match (key.code, &mut self.typing) {
            (KeyCode::Esc, _) => self.end_filter(),
            (KeyCode::Enter, _) => {
                self.typing = None;
                return if self.filter.is_empty() { Vec::new() } else { self.open() };
            }
            (KeyCode::Down, _) => self.move_by(1),
            (KeyCode::Up, _) => self.move_by(-1),
            (_, Some(typing)) => {
                typing.on_key(key);
                self.filter = typing.text();
            }
            (_, None) => {}
        }
        Vec::new()
    }

    fn on_paste(&mut self, text: &str, _cx: &Cx<'_>) -> Vec<Effect> {
        if let Some(typing) = &mut self.typing {
            typing.insert(text);
            self.filter = typing.text();
        }
        Vec::new()
    }

    fn on_click(&mut self, at: Position, _cx: &Cx<'_>) -> Vec<Effect> {
        let place = self.top + usize::from(at.y);
        if place >= self.nodes.len() || usize::from(at.y) >= self.height {
            return Vec::new();
        }
        let was_selected = self.place() == place && self.selected.is_some();
        self.select(place);
        let is_file = matches!(self.nodes.get(place), Some(Node { kind: NodeKind::File, .. }));
        if is_file && !was_selected { Vec::new() } else { self.open() }
    }
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
