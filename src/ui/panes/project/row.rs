//! How a row of the tree of files looks.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::model::ProjectPath;
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;
use crate::view::{ContextWish, FileMark, FileView};

use super::tree::{Node, NodeKind};

/// Columns that each level is indented by.
const STEP: usize = 2;

/// Draws a row.
pub(super) fn draw(node: &Node, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let file = match node.kind {
        NodeKind::File => ProjectPath::new(&node.path).ok(),
        NodeKind::Open | NodeKind::Folded(_) => None,
    };
    let view = file.as_ref().and_then(|path| cx.view.project.files.get(path));
    let right = match (node.kind, view) {
        (NodeKind::Folded(files), _) => {
            cx.line(line::count(u64::try_from(files).unwrap_or(0)), Role::Dim)
        }
        (_, Some(view)) => words(view, area.width, cx),
        (_, None) => Line::default(),
    };
    let indent = " ".repeat(1 + node.depth * STEP);
    let space = usize::from(area.width).saturating_sub(right.width() + indent.len() + 3);
    let (mark, role) = match node.kind {
        NodeKind::File => (sign(node, view, cx), Role::Text),
        NodeKind::Open => (cx.span("▾ ", Role::Dim), Role::Folder),
        NodeKind::Folded(_) => (cx.span("▸ ", Role::Dim), Role::Folder),
    };
    // Without the tree around it a file is known by its whole path.
    let name = match node.kind {
        NodeKind::File if node.depth == 0 => line::cut_start(&node.path, space.max(4)),
        _ => line::cut(node.path.rsplit('/').next().unwrap_or(&node.path), space.max(4)),
    };
    let left = Line::from(vec![Span::raw(indent), mark, cx.span(name, role)]);
    line::draw_split(&left, &right, area, buf);
}

/// What stands before a file: that a proposal for it waits, that it is pinned or kept out, or
/// that it is in the team's conversation.
fn sign(node: &Node, view: Option<&FileView>, cx: &Cx<'_>) -> Span<'static> {
    let is_about = |path: &ProjectPath| path.as_str() == node.path;
    let waits =
        cx.view.review.waiting().any(|view| view.proposal.change.path().is_some_and(is_about));
    match view {
        _ if waits => cx.span("● ", Role::Warn),
        Some(view) if view.wanted == ContextWish::In => cx.span("◈ ", Role::Accent),
        Some(view) if view.wanted == ContextWish::Out => cx.span("× ", Role::Dim),
        Some(view) if view.context.is_some() => cx.span("· ", Role::Dim),
        Some(_) | None => Span::raw("  "),
    }
}

/// What stands right of a file: findings, what happened to it, its size.
fn words(view: &FileView, width: u16, cx: &Cx<'_>) -> Line<'static> {
    let mut spans = Vec::new();
    if view.errors > 0 {
        spans.push(cx.span(format!("✗{} ", view.errors), Role::Error));
    } else if view.warnings > 0 {
        spans.push(cx.span(format!("!{} ", view.warnings), Role::Warn));
    }
    match (mark(view), view.bytes) {
        (Some((words, role)), _) => spans.push(cx.span(words, role)),
        (None, _) if view.is_changed_before => {
            spans.push(cx.span("earlier", Role::Dim));
        }
        (None, Some(bytes)) if width >= 30 => {
            spans.push(cx.span(line::bytes(bytes), Role::Dim));
        }
        (None, _) => {}
    }
    Line::from(spans)
}

/// What happened to a file, or is to happen, in a word.
fn mark(view: &FileView) -> Option<(&'static str, Role)> {
    if view.is_changed_outside && !view.mark.is_some_and(FileMark::is_proposed) {
        return Some(("outside", Role::Warn));
    }
    Some(match view.mark? {
        FileMark::ProposedNew => ("new", Role::FileNew),
        FileMark::ProposedEdit => ("edit", Role::FileEdit),
        FileMark::ProposedInsert => ("insert", Role::FileEdit),
        FileMark::ProposedDelete => ("delete", Role::FileDelete),
        FileMark::Created => ("new", Role::FileNew),
        FileMark::Edited => ("edited", Role::FileEdit),
        FileMark::Deleted => ("deleted", Role::FileDelete),
    })
}

/// Everything about a file in a line.
pub(super) fn about(view: &FileView) -> String {
    let mut parts = vec![view.bytes.map_or_else(|| "not on disk".to_owned(), line::bytes)];
    match view.wanted {
        ContextWish::In => parts.push(format!("pinned, {} tok", line::count(view.tokens()))),
        ContextWish::Out => parts.push("kept out".to_owned()),
        ContextWish::Unsaid => {}
    }
    if let Some(tokens) = view.context {
        parts.push(format!("{} tok in context", line::count(tokens)));
    }
    for (count, word) in [(view.errors, "error"), (view.warnings, "warning")] {
        let plural = if count == 1 { "" } else { "s" };
        parts.extend((count > 0).then(|| format!("{count} {word}{plural}")));
    }
    if view.is_changed_before {
        parts.push("changed for an earlier request".to_owned());
    }
    if view.is_changed_outside {
        parts.push("changed outside".to_owned());
    }
    parts.join(" · ")
}
