//! The project's files as a tree, with what the session did and wants to do to them.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use crate::model::ProjectPath;
use crate::ui::action::{Action, Context};
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, Pane};
use crate::ui::role::Role;
use crate::view::{FileMark, FileView, Project};

/// Columns that each level is indented by.
const STEP: usize = 2;

/// The project pane.
#[derive(Debug, Default)]
pub struct ProjectPane {
    /// Folders that do not show what is in them.
    folded: BTreeSet<String>,
    nodes: Vec<Node>,
    /// What the tree was made from, see [`fingerprint`].
    made_from: Option<(u64, usize)>,
    /// The selected file or folder.
    selected: Option<String>,
    top: usize,
    height: usize,
}

/// A row of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    /// Path of the file or folder.
    path: String,
    depth: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Open,
    /// Folded, with so many files in it.
    Folded(usize),
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

    fn toggle(&mut self) -> Vec<Effect> {
        match self.nodes.get(self.place()).cloned() {
            Some(Node { path, kind: Kind::Open, .. }) => drop(self.folded.insert(path)),
            Some(Node { path, kind: Kind::Folded(_), .. }) => drop(self.folded.remove(&path)),
            Some(Node { path, kind: Kind::File, .. }) => {
                return Effect::info(line::cut(&path, 200));
            }
            None => return Effect::info("there are no files yet"),
        }
        Vec::new()
    }

    /// Folds the folder, or goes to the one that holds what is selected.
    fn fold(&mut self) -> Vec<Effect> {
        let place = self.place();
        let Some(node) = self.nodes.get(place).cloned() else {
            return Effect::info("there are no files yet");
        };
        if node.kind == Kind::Open {
            self.folded.insert(node.path);
            return Vec::new();
        }
        let above = self.nodes.iter().take(place).rposition(|above| above.depth < node.depth);
        match above {
            Some(above) => self.select(above),
            None => return Effect::info("this is at the top of the project"),
        }
        Vec::new()
    }

    fn unfold(&mut self) -> Vec<Effect> {
        match self.nodes.get(self.place()) {
            Some(Node { path, kind: Kind::Folded(_), .. }) => {
                let path = path.clone();
                self.folded.remove(&path);
            }
            Some(Node { kind: Kind::Open, .. }) => self.move_by(1),
            Some(Node { kind: Kind::File, .. }) => return Effect::info("this is a file"),
            None => return Effect::info("there are no files yet"),
        }
        Vec::new()
    }

    fn draw_node(&self, node: &Node, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let name = node.path.rsplit('/').next().unwrap_or(&node.path);
        let indent = " ".repeat(1 + node.depth * STEP);
        let right = match node.kind {
            Kind::File => {
                let file = ProjectPath::new(&node.path).ok();
                let view = file.and_then(|path| cx.view.project.files.get(&path));
                view.map_or_else(Line::default, |view| file_words(view, area.width, cx))
            }
            Kind::Open => Line::default(),
            Kind::Folded(files) => {
                Line::styled(line::count(u64::try_from(files).unwrap_or(0)), cx.style(Role::Dim))
            }
        };
        let room = usize::from(area.width).saturating_sub(right.width() + indent.len() + 3);
        let (mark, role) = match node.kind {
            Kind::File => (self.file_mark(node, cx), Role::Text),
            Kind::Open => (Span::styled("▾ ", cx.style(Role::Dim)), Role::Folder),
            Kind::Folded(_) => (Span::styled("▸ ", cx.style(Role::Dim)), Role::Folder),
        };
        let left = Line::from(vec![
            Span::raw(indent),
            mark,
            Span::styled(line::cut(name, room.max(4)), cx.style(role)),
        ]);
        line::draw_split(&left, &right, area, buf);
    }

    /// A dot before a file that a waiting proposal is about.
    fn file_mark(&self, node: &Node, cx: &Cx<'_>) -> Span<'static> {
        let is_about = |path: &ProjectPath| path.as_str() == node.path;
        let waits =
            cx.view.review.waiting().any(|view| view.proposal.change.path().is_some_and(is_about));
        if waits { Span::styled("● ", cx.style(Role::Warn)) } else { Span::raw("  ") }
    }
}

/// What stands right of a file: errors, the mark, the size.
fn file_words(view: &FileView, width: u16, cx: &Cx<'_>) -> Line<'static> {
    let mut spans = Vec::new();
    if view.errors > 0 {
        spans.push(Span::styled(format!("✗{} ", view.errors), cx.style(Role::Error)));
    } else if view.warnings > 0 {
        spans.push(Span::styled(format!("!{} ", view.warnings), cx.style(Role::Warn)));
    }
    let mark = view.mark.map(|mark| match mark {
        FileMark::ProposedNew => ("new", Role::FileNew),
        FileMark::ProposedEdit => ("edit", Role::FileEdit),
        FileMark::ProposedDelete => ("delete", Role::FileDelete),
        FileMark::Created => ("new", Role::FileNew),
        FileMark::Edited => ("edited", Role::FileEdit),
        FileMark::Deleted => ("deleted", Role::FileDelete),
    });
    match (mark, view.bytes) {
        (Some((words, role)), _) => spans.push(Span::styled(words, cx.style(role))),
        (None, Some(bytes)) if width >= 30 => {
            spans.push(Span::styled(line::bytes(bytes), cx.style(Role::Dim)));
        }
        (None, _) => {}
    }
    Line::from(spans)
}

/// Tells whether files came or went, at far less cost than a new tree.
fn fingerprint(project: &Project) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in project.files.keys() {
        path.as_str().hash(&mut hasher);
    }
    hasher.finish()
}

/// Rows of the tree: folders before files, each by name.
fn tree(project: &Project, folded: &BTreeSet<String>) -> Vec<Node> {
    let mut paths: Vec<&str> = project.files.keys().map(ProjectPath::as_str).collect();
    paths.sort_by_cached_key(|path| sort_key(path));
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut hidden: Option<usize> = None;
    for path in paths {
        let mut parts: Vec<&str> = path.split('/').collect();
        parts.pop();
        let same = open.iter().zip(&parts).take_while(|(a, b)| a == b).count();
        open.truncate(same);
        if hidden.is_some_and(|depth| depth >= same) {
            hidden = None;
        }
        for depth in same..parts.len() {
            open.push(parts.get(depth).copied().unwrap_or_default());
            if hidden.is_some() {
                continue;
            }
            let folder = open.join("/");
            let is_folded = folded.contains(&folder);
            let kind = if is_folded { Kind::Folded(0) } else { Kind::Open };
            nodes.push(Node { path: folder, depth, kind });
            if is_folded {
                hidden = Some(depth);
            }
        }
        if hidden.is_none() {
            nodes.push(Node { path: path.to_owned(), depth: open.len(), kind: Kind::File });
        } else if let Some(Node { kind: Kind::Folded(files), .. }) = nodes.last_mut() {
            *files += 1;
        }
    }
    nodes
}

/// Sorts folders before the files next to them.
fn sort_key(path: &str) -> Vec<(bool, String)> {
    let count = path.split('/').count();
    path.split('/').enumerate().map(|(place, part)| (place + 1 == count, part.to_owned())).collect()
}

impl Pane for ProjectPane {
    fn title(&self, cx: &Cx<'_>) -> Line<'static> {
        let files = cx.view.project.files.len();
        let mut spans = vec![Span::raw("Project")];
        if files > 0 {
            let more = if cx.view.project.omitted > 0 { "+" } else { "" };
            spans.push(Span::styled(format!(" {files}{more}"), cx.style(Role::Dim)));
        }
        Line::from(spans)
    }

    fn hints(&self, _cx: &Cx<'_>) -> Vec<Action> {
        vec![Action::Open, Action::Down, Action::Up]
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
            Action::Open => return self.toggle(),
            Action::Left => return self.fold(),
            Action::Right => return self.unfold(),
            Action::Follow => return Effect::info("the list of files is always up to date"),
            Action::Back => {
                let key = cx.key(Context::Global, Action::FocusChat);
                return Effect::info(format!("nothing is open here; {key} turns to the chat"));
            }
            _ => return Effect::refuse(format!("`{}` does nothing on files", action.name())),
        }
        Vec::new()
    }

    fn prepare(&mut self, area: Rect, cx: &Cx<'_>) {
        let before = self.place();
        let made_from = Some((fingerprint(&cx.view.project), self.folded.len()));
        if self.made_from != made_from {
            self.nodes = tree(&cx.view.project, &self.folded);
            self.made_from = made_from;
        }
        let is_gone = |path: &String| !self.nodes.iter().any(|node| node.path == *path);
        if self.selected.as_ref().is_none_or(is_gone) {
            self.select(before);
        }
        self.height = usize::from(area.height);
        let place = self.place();
        let last_top = self.nodes.len().saturating_sub(self.height);
        self.top = self.top.clamp(place.saturating_sub(self.height.saturating_sub(1)), place);
        self.top = self.top.min(last_top);
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        if self.nodes.is_empty() {
            let text = Line::styled("  no files yet", cx.style(Role::Dim));
            line::draw(&text, area, buf);
            return;
        }
        for (node, row) in self.nodes.iter().skip(self.top).zip(area.rows()) {
            self.draw_node(node, row, buf, cx);
            let is_selected = Some(&node.path) == self.selected.as_ref();
            if is_selected && cx.keys == crate::ui::pane::Keys::Here {
                buf.set_style(row, cx.selection());
            }
        }
        let omitted = cx.view.project.omitted;
        let free = usize::from(area.height).saturating_sub(self.nodes.len());
        if omitted > 0 && free > 0 {
            let text = format!("   and {} more", line::count(omitted));
            let y = area.bottom() - u16::try_from(free).unwrap_or(1);
            line::draw(&Line::styled(text, cx.style(Role::Dim)), Rect { y, ..area }, buf);
        }
    }

    fn on_click(&mut self, at: Position, _cx: &Cx<'_>) -> Vec<Effect> {
        let place = self.top + usize::from(at.y);
        if place < self.nodes.len() {
            self.select(place);
            if !matches!(self.nodes.get(place), Some(Node { kind: Kind::File, .. })) {
                return self.toggle();
            }
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn project(paths: &[&str]) -> Project {
        let files = paths.iter().map(|path| (ProjectPath::new(path).unwrap(), FileView::default()));
        Project { files: Arc::new(files.collect()), omitted: 0 }
    }

    fn shown(paths: &[&str], folded: &[&str]) -> Vec<String> {
        let folded = folded.iter().map(|path| (*path).to_owned()).collect();
        let show = |node: &Node| {
            let name = node.path.rsplit('/').next().unwrap();
            let kind = match node.kind {
                Kind::File => String::new(),
                Kind::Open => "/".to_owned(),
                Kind::Folded(files) => format!("/ ({files})"),
            };
            format!("{}{name}{kind}", "  ".repeat(node.depth))
        };
        tree(&project(paths), &folded).iter().map(show).collect()
    }

    const PATHS: [&str; 6] = [
        "CMakeLists.txt",
        "main/CMakeLists.txt",
        "main/include/a.h",
        "main/src/a.c",
        "main/src/b.c",
        "components/x/y.c",
    ];

    #[test]
    fn folders_come_before_files() {
        let expected = [
            "components/",
            "  x/",
            "    y.c",
            "main/",
            "  include/",
            "    a.h",
            "  src/",
            "    a.c",
            "    b.c",
            "  CMakeLists.txt",
            "CMakeLists.txt",
        ];
        assert_eq!(shown(&PATHS, &[]), expected);
    }

    #[test]
    fn a_folded_folder_hides_and_counts_its_files() {
        let expected = ["components/", "  x/", "    y.c", "main/ (4)", "CMakeLists.txt"];
        assert_eq!(shown(&PATHS, &["main", "main/src"]), expected);
        let expected = [
            "components/",
            "  x/",
            "    y.c",
            "main/",
            "  include/",
            "    a.h",
            "  src/ (2)",
            "  CMakeLists.txt",
            "CMakeLists.txt",
        ];
        assert_eq!(shown(&PATHS, &["main/src"]), expected);
    }
}
