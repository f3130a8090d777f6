//! The file under the cursor, shown in the review's place while nothing waits there.
//!
//! Owns which file is read; reading is the preview's.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::model::ProjectPath;

use super::overlay::{FileContents, Preview};
use super::pane::{Cx, FilePlace, Mode};
use super::role::Role;

/// A file that is shown beside the list of files.
#[derive(Debug)]
pub(super) struct FileGlance {
    path: ProjectPath,
    /// Proposals that were there when it was read: what they change is read again.
    proposals: usize,
    preview: Preview,
}

impl FileGlance {
    /// Shows `path`, which is read unless `before` has read it already.
    pub(super) fn of(
        path: ProjectPath,
        before: Option<Self>,
        files: &FileContents,
        cx: &Cx<'_>,
    ) -> Self {
        let settled = cx.view.review.proposals.iter().filter(|view| view.outcome.is_some());
        let proposals = settled.count();
        match before {
            Some(known) if known.path == path && known.proposals == proposals => known,
            Some(_) | None => {
                let kept = match cx.mode {
                    Mode::Live => None,
                    Mode::Replay => cx.view.kept(&path),
                };
                let place = FilePlace { path: path.clone(), line: None };
                Self { path, proposals, preview: Preview::file(place, kept, files) }
            }
        }
    }

    /// What stands in the title rule.
    pub(super) fn title(&self) -> Line<'static> {
        Line::raw(format!("File {}", self.preview.title()))
    }

    /// Brings it up to date for so many rows.
    pub(super) fn prepare(&mut self, rows: u16) {
        self.preview.prepare_rows(rows);
    }

    /// When it changes by itself.
    pub(super) fn next_wake(&self, now: std::time::Instant) -> Option<std::time::Instant> {
        self.preview.next_wake(now)
    }

    pub(super) fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
        self.preview.draw_content(inside, Role::Text, buf, cx);
    }
}
