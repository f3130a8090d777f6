//! The panes, and the row below them.
//!
//! Owns which of them shows what: the file under the cursor stands in the review's place while
//! nothing waits there.

use std::sync::Arc;
use std::time::Instant;

use ratatui::layout::Size;

use crate::model::{BlobSource, EventSource, FileSource, LogSource};
use crate::view::SessionView;

use super::areas::Areas;
use super::dialogs::Dialogs;
use super::file_glance::FileGlance;
use super::focus::Focus;
use super::layout::PaneId;
use super::overlay::{FileContents, Overlay, Recorded};
use super::pane::{Cx, Keys, Mode, Pane};
use super::panes::{AskedIn, ChatPane, Composer, LogsPane, ProjectPane, ReviewPane, TimelineBar};
use super::scene::Scene;
use super::screen_kind::ScreenKind;

/// All panes, shown or not.
pub(super) struct Panes {
    project: ProjectPane,
    pub chat: ChatPane,
    pub review: ReviewPane,
    pub logs: LogsPane,
    pub composer: Composer,
    pub timeline: TimelineBar,
    /// The file under the cursor, while it is shown.
    glance: Option<FileGlance>,
    /// What files are read from when one is shown.
    pub files: FileContents,
    /// What words are looked for in, in a replay.
    pub recorded: Recorded,
}

/// What panes read from.
pub(super) struct PaneSources {
    pub blobs: Arc<dyn BlobSource>,
    pub logs: Arc<dyn LogSource>,
    pub events: Arc<dyn EventSource>,
    /// The project's files; `None`: its folder no longer exists.
    pub files: Option<Arc<dyn FileSource>>,
}

impl Panes {
    /// Panes that show nothing yet; `history` are messages sent before, oldest first.
    pub(super) fn new(sources: PaneSources, history: Vec<String>) -> Self {
        let PaneSources { blobs, logs, events, files } = sources;
        let (own_blobs, own_events) = (Arc::clone(&blobs), Arc::clone(&events));
        let recorded = Recorded {
            events: Arc::clone(&events),
            logs: Arc::clone(&logs),
            blobs: Arc::clone(&blobs),
        };
        Self {
            project: ProjectPane::default(),
            chat: ChatPane::default(),
            review: ReviewPane::new(blobs),
            logs: LogsPane::new(logs, events),
            composer: Composer::new(history),
            timeline: TimelineBar::default(),
            glance: None,
            files: FileContents { disk: files, blobs: own_blobs, events: own_events },
            recorded,
        }
    }

    pub(super) fn pane(&self, id: PaneId) -> &dyn Pane {
        match id {
            PaneId::Project => &self.project,
            PaneId::Chat => &self.chat,
            PaneId::Review => &self.review,
            PaneId::Logs => &self.logs,
        }
    }

    pub(super) fn pane_mut(&mut self, id: PaneId) -> &mut dyn Pane {
        match id {
            PaneId::Project => &mut self.project,
            PaneId::Chat => &mut self.chat,
            PaneId::Review => &mut self.review,
            PaneId::Logs => &mut self.logs,
        }
    }

    /// The file that stands in the place of a pane.
    pub(super) fn glance(&self, id: PaneId) -> Option<&FileGlance> {
        self.glance.as_ref().filter(|_| id == PaneId::Review)
    }

    /// Rows that the message or the timeline needs on a screen of that size.
    pub(super) fn bottom_rows(&self, kind: ScreenKind, screen: Size, cx: &Cx<'_>) -> u16 {
        match (cx.mode, kind) {
            (Mode::Live, ScreenKind::Team) => self.composer.rows(screen, cx),
            (Mode::Live, ScreenKind::Port) => 0,
            (Mode::Replay, ScreenKind::Team) => {
                TimelineBar::task_rows(cx) + TimelineBar::rows(screen.width)
            }
            (Mode::Replay, ScreenKind::Port) => TimelineBar::rows(screen.width),
        }
    }

    /// Whether the chat has the task at its top.
    pub(super) fn tells_task(&self) -> bool {
        self.chat.tells_task()
    }

    /// Brings every pane that shows up to date.
    pub(super) fn prepare(
        &mut self,
        areas: &Areas,
        (focus, dialogs): (&Focus, &Dialogs),
        scene: &Scene,
        view: &SessionView,
    ) {
        self.look_at_file(areas, focus, scene, view);
        self.composer.set_asked(match dialogs.get() {
            Some(Overlay::Question(_)) => AskedIn::Sight,
            Some(_) | None => AskedIn::Nothing,
        });
        for area in &areas.layout.panes {
            let cx = scene.cx(view, focus.keys_of(area.id, dialogs));
            self.pane_mut(area.id).prepare(area.body, &cx);
        }
    }

    /// Shows the file under the cursor next to the list of files while nothing waits.
    fn look_at_file(&mut self, areas: &Areas, focus: &Focus, scene: &Scene, view: &SessionView) {
        let before = self.glance.take();
        let Some(area) = areas.layout.pane(PaneId::Review) else { return };
        if focus.front() != PaneId::Project || !view.review.waiting.is_empty() {
            return;
        }
        let Some(path) = self.project.file_at_cursor() else { return };
        let cx = scene.cx(view, Keys::Elsewhere);
        let mut glance = FileGlance::of(path, before, &self.files, &cx);
        glance.prepare(area.body.height);
        self.glance = Some(glance);
    }

    /// What was prepared last has been drawn since: the panes may count it as seen.
    pub(super) fn was_shown(&mut self, areas: &Areas, dialogs: &Dialogs) {
        let hides_review = dialogs.is_open() || self.glance.is_some();
        let shown = areas.layout.panes.iter().map(|area| area.id);
        for id in shown.filter(|id| *id != PaneId::Review || !hides_review) {
            self.pane_mut(id).was_shown();
        }
    }

    /// When one of those that show changes by itself.
    pub(super) fn next_wake(
        &self,
        areas: &Areas,
        dialogs: &Dialogs,
        view: &SessionView,
        now: Instant,
    ) -> Option<Instant> {
        let shows = |id| areas.shows(id) && !dialogs.is_open();
        let review = self.review.next_wake(view, now).filter(|_| shows(PaneId::Review));
        let logs = self.logs.next_wake(view, now).filter(|_| shows(PaneId::Logs));
        let chat = self.chat.next_wake(now).filter(|_| shows(PaneId::Chat));
        let glance = self.glance.as_ref().and_then(|glance| glance.next_wake(now));
        [review, logs, chat, glance].into_iter().flatten().min()
    }
}
