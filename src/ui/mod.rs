//! The screen: a function of the session view and the state of the person's eyes and hands.
//!
//! Must not know the engine, read files or start processes.

pub mod action;
pub mod arrangement;
mod attention;
pub mod colour;
mod data_file;
mod desk;
mod dialog_news;
mod draw;
mod fuzzy;
pub mod guard;
mod header;
mod hints;
mod input;
mod job;
pub mod key;
pub mod keymap;
pub mod layout;
pub mod line;
mod looks;
pub mod markdown;
mod mouse;
pub mod overlay;
pub mod pane;
pub mod panes;
pub mod pointer;
pub mod ports;
mod possible;
pub mod role;
mod run;
mod setup;
pub mod start;
mod start_facts;
mod start_rows;
mod start_task;
pub mod theme;

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::layout::{Rect, Size};

use crate::model::{ContentHash, ProposalId, TimelineView, Timestamp, UserError};
use crate::text::esp_log::TagFilter;
use crate::view::{Entry, Mark, RunState, SessionView};

pub use arrangement::Arrangement;
pub use colour::Depth;
pub use keymap::Keymap;
pub use looks::{Chosen, Looks};
pub use overlay::{Files, ModelOffer};
pub use pane::{Command, FilePlace, Mode, OutsideEdit, Saved};
pub use setup::UiSetup;
pub use theme::Theme;

use attention::Attention;
use desk::Desk;
use guard::Guard;
use key::Key;
use layout::{Layout, LogsWish, PaneId, Shape, Sizes, Wish};
use overlay::Overlay;
use pane::{Agents, Clock, Cx, Keys, Notice, Pane};
use panes::{ChatPane, Composer, LogsPane, LogsTab, ProjectPane, ReviewPane, TimelineBar};
use pointer::{Pointer, Selection};

/// The screen.
pub struct Ui {
    looks: Looks,
    keymap: Keymap,
    mode: Mode,
    size: Size,
    layout: Layout,
    panes: Panes,
    hands: Hands,
    agents: Agents,
    clock: Clock,
    memory: Memory,
    /// The place in a replay, as of the last [`Ui::sync`].
    timeline: Option<TimelineView>,
    /// Whether what was prepared last has been drawn since.
    drawn: Cell<bool>,
}

/// The panes.
struct Panes {
    project: ProjectPane,
    chat: ChatPane,
    review: ReviewPane,
    logs: LogsPane,
    composer: Composer,
    timeline: TimelineBar,
    /// What files are read from when one is shown.
    files: Files,
    /// Models that can be chosen.
    models: Vec<ModelOffer>,
}

/// Where keys go, and what they did so far.
struct Hands {
    desk: Desk,
    front: PaneId,
    /// The pane that was turned to before a proposal called the person to the review.
    before: Option<PaneId>,
    composing: Composing,
    zoom: Option<PaneId>,
    overlay: Option<Overlay>,
    /// Keys of a sequence that is not complete.
    pending: Vec<Key>,
    guard: Guard,
    notice: Option<(Notice, Instant)>,
    /// When a key last went to the composer.
    typed_at: Option<Instant>,
    /// What the mouse and the keys made of the panes' places.
    room: Room,
    attention: Attention,
}

/// The panes' sizes, and the mouse that changes them.
#[derive(Default)]
struct Room {
    sizes: Sizes,
    pointer: Pointer,
    /// Text that is or was selected.
    selection: Option<Selection>,
    /// The theme that the person chose here.
    theme: Option<String>,
}

/// Whether a message is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Composing {
    Yes,
    No,
}

/// What the screen remembers of the session from one time to the next.
#[derive(Default)]
struct Memory {
    seq: u64,
    entries: usize,
    /// The proposal that can be decided on screen.
    current: Option<(ProposalId, ContentHash)>,
    waiting: Vec<ProposalId>,
    question: Option<crate::model::QuestionId>,
}

/// How long a notice stays.
const NOTICE_TIME: Duration = Duration::from_secs(4);

/// How long after the last key the person still counts as writing.
const TYPING_TIME: Duration = Duration::from_secs(1);

impl Ui {
    /// A screen for one session; nothing is drawn yet.
    #[must_use]
    pub fn new(setup: UiSetup) -> Self {
        let now = Instant::now();
        let UiSetup { looks, keymap, arrangement, mode, size, blobs, logs, .. } = setup;
        let UiSetup { events, files, history, models, .. } = setup;
        let files = Files { disk: files, blobs: Arc::clone(&blobs), events: Arc::clone(&events) };
        let panes = Panes {
            project: ProjectPane::default(),
            chat: ChatPane::default(),
            review: ReviewPane::new(blobs),
            logs: LogsPane::new(logs, events),
            composer: Composer::new(history),
            timeline: TimelineBar::default(),
            files,
            models,
        };
        let hands = Hands {
            desk: Desk::Team,
            front: arrangement.front.unwrap_or(PaneId::Chat),
            before: None,
            composing: Composing::No,
            zoom: None,
            overlay: None,
            pending: Vec::new(),
            guard: Guard::default(),
            notice: None,
            typed_at: None,
            room: Room { sizes: arrangement.sizes, theme: arrangement.theme, ..Room::default() },
            attention: Attention::default(),
        };
        let clock = Clock { now, anchor: (now, Timestamp(0)), mode };
        let layout = Layout::new(&wish(size, &hands, 1, LogsWish::Quiet));
        Self {
            looks,
            keymap,
            mode,
            size,
            layout,
            panes,
            hands,
            agents: Agents::default(),
            clock,
            memory: Memory::default(),
            timeline: None,
            drawn: Cell::new(false),
        }
    }

    /// How the person leaves things, to be remembered for the project.
    #[must_use]
    pub fn arrangement(&self) -> Arrangement {
        Arrangement {
            theme: self.hands.room.theme.clone(),
            front: Some(self.hands.before.unwrap_or(self.hands.front)),
            sizes: self.hands.room.sizes,
        }
    }

    /// Another look from now on; `Chosen` ones are remembered.
    pub fn set_theme(&mut self, theme: Theme, name: &str, chosen: Chosen) {
        self.looks.theme = theme;
        name.clone_into(&mut self.looks.name);
        if chosen == Chosen::Yes {
            self.hands.room.theme = Some(name.to_owned());
        }
    }

    /// Names of all themes, which may have become others.
    pub fn set_theme_names(&mut self, names: Vec<String>) {
        self.looks.names = names;
    }

    /// Name of the theme in use.
    #[must_use]
    pub fn theme_name(&self) -> &str {
        &self.looks.name
    }

    /// What to call out to a person who looks elsewhere; once each.
    pub fn take_call(&mut self) -> Option<String> {
        self.hands.attention.take()
    }

    /// What the terminal's own title may say, safe to print.
    #[must_use]
    pub fn terminal_title(&self, view: &SessionView) -> String {
        header::terminal_title(view, self.mode)
    }

    /// Turns to the output of ports, on the whole screen; there is nothing else.
    pub fn show_serial(&mut self) {
        self.panes.logs.show(LogsTab::Serial);
        self.hands.desk = Desk::Port;
        // How the panes of a team were left is not forgotten.
        self.hands.before = Some(self.hands.front);
        self.hands.front = PaneId::Logs;
        self.hands.zoom = Some(PaneId::Logs);
    }

    /// Shows only what `tags` lets through of what ports print.
    pub fn filter_tags(&mut self, tags: TagFilter) {
        self.panes.logs.filter_tags(tags);
    }

    /// Says that a wish could not be passed on, and why.
    pub fn refuse(&mut self, why: &str, now: Instant) {
        self.tell(Notice::error(why), now);
    }

    /// Takes over the moments of the whole session, which a replay's timeline marks.
    pub fn set_marks(&mut self, marks: &[Mark]) {
        self.panes.timeline.set_marks(marks.to_vec());
    }

    /// Takes note of what is new in the session. Call it after records were folded in, and
    /// whenever [`Ui::next_wake`] says so; then draw.
    pub fn sync(&mut self, view: &SessionView, timeline: Option<&TimelineView>, now: Instant) {
        self.note_shown();
        self.clock.now = now;
        self.timeline = timeline.copied();
        if view.seq.0 != self.memory.seq {
            self.clock.anchor = (now, view.at);
        }
        self.learn_agents(view);
        self.follow_proposals(view, now);
        if self.hands.notice.as_ref().is_some_and(|(_, until)| now >= *until) {
            self.hands.notice = None;
        }
        self.memory.seq = view.seq.0;
        self.refresh(view, now);
    }

    /// Tells the person what came of something that was done besides.
    pub fn tell_result(&mut self, done: Result<String, UserError>, now: Instant) {
        let notice = match done {
            Ok(text) => Notice::info(text),
            Err(error) => Notice::error(error.to_string()),
        };
        self.tell(notice, now);
    }

    /// When it wants [`Ui::sync`] and a new frame although nothing happened; `None`: never. The
    /// moment may have passed already.
    #[must_use]
    pub fn next_wake(&self, view: &SessionView, _now: Instant) -> Option<Instant> {
        let notice = self.hands.notice.as_ref().map(|(_, until)| *until);
        let typed = self.hands.typed_at.map(|at| at + TYPING_TIME);
        let idle = typed.filter(|_| self.mode == Mode::Live && self.has_new_proposal(view));
        let spinner = self.is_busy(view).then_some(self.clock.now + Clock::TICK);
        // By then what waits has been on screen, and can be decided.
        let alive = self
            .hands
            .guard
            .alive_at(self.clock.now)
            .filter(|_| self.memory.current.is_some() || view.head.question.is_some());
        let shows = |id| self.layout.pane(id).is_some() && self.hands.overlay.is_none();
        let synced = self.clock.now;
        let review = self.panes.review.next_wake(view, synced).filter(|_| shows(PaneId::Review));
        let logs = self.panes.logs.next_wake(view, synced).filter(|_| shows(PaneId::Logs));
        let chat = self.panes.chat.next_wake(synced).filter(|_| shows(PaneId::Chat));
        let overlay = self.hands.overlay.as_ref().and_then(|overlay| overlay.next_wake(synced));
        [notice, idle, spinner, alive, review, logs, chat, overlay].into_iter().flatten().min()
    }

    /// Whether something is under way that the person does not hold up.
    fn is_busy(&self, view: &SessionView) -> bool {
        let builds = view.logs.builds.last().is_some_and(|build| build.outcome.is_none());
        self.mode == Mode::Live
            && matches!(view.head.state, RunState::Running | RunState::Stopping)
            && view.review.waiting.is_empty()
            && view.head.question.is_none()
            && (view.head.speaker.is_some() || builds)
    }

    /// Whether a proposal waits that the person was not called to yet.
    fn has_new_proposal(&self, view: &SessionView) -> bool {
        view.review.waiting.iter().any(|waiting| !self.memory.waiting.contains(waiting))
    }

    /// Whether the person has only just typed something.
    fn is_typing(&self, now: Instant) -> bool {
        self.hands.composing == Composing::Yes
            && self.hands.typed_at.is_some_and(|at| now < at + TYPING_TIME)
    }

    /// What was prepared last has been drawn since: the panes may count it as seen.
    fn note_shown(&mut self) {
        if !self.drawn.replace(false) {
            return;
        }
        for area in &self.layout.panes {
            match area.id {
                PaneId::Project => self.panes.project.was_shown(),
                PaneId::Chat => self.panes.chat.was_shown(),
                PaneId::Review if self.hands.overlay.is_none() => self.panes.review.was_shown(),
                PaneId::Review => {}
                PaneId::Logs => self.panes.logs.was_shown(),
            }
        }
    }

    fn learn_agents(&mut self, view: &SessionView) {
        let entries = &view.chat.entries;
        // Agents that were seen stay known, also when a replay goes back.
        let from = if entries.len() < self.memory.entries { 0 } else { self.memory.entries };
        self.agents.learn(entries.iter().skip(from).filter_map(|entry| match &**entry {
            Entry::Turn(turn) => Some(&turn.agent),
            Entry::Choice { agent, .. } => Some(agent),
            Entry::PhaseStarted { .. }
            | Entry::PhaseEnded { .. }
            | Entry::Person { .. }
            | Entry::Question { .. }
            | Entry::Fact { .. }
            | Entry::Notice { .. }
            | Entry::FilePlan(_)
            | Entry::Resumed { .. }
            | Entry::Ended { .. } => None,
        }));
        self.memory.entries = entries.len();
    }

    /// Turns to the review when a proposal appears, and back when none waits any more. While the
    /// person writes, nothing moves; the keys never leave the message by themselves.
    fn follow_proposals(&mut self, view: &SessionView, now: Instant) {
        let is_new = self.has_new_proposal(view) && !self.is_typing(now);
        let asks = view.head.question.as_ref().map(|question| question.id);
        if is_new || (asks.is_some() && asks != self.memory.question) {
            self.hands.guard.arm(now);
        }
        if self.mode == Mode::Live {
            let (known, asked) = (&self.memory.waiting, self.memory.question);
            self.hands.attention.look(view, known, asked);
        }
        self.memory.question = asks;
        if self.mode == Mode::Live {
            if is_new && self.hands.front != PaneId::Review {
                self.hands.before = Some(self.hands.front);
                self.hands.front = PaneId::Review;
                self.hands.zoom = None;
                self.hands.pending.clear();
            } else if view.review.waiting.is_empty()
                && !self.memory.waiting.is_empty()
                && let Some(before) = self.hands.before.take()
                && self.hands.front == PaneId::Review
            {
                self.hands.front = before;
            }
        }
        if !self.is_typing(now) {
            self.memory.waiting.clone_from(&view.review.waiting);
        }
        self.drop_stale_overlay(view, now);
    }

    /// Lays out, and brings every pane that shows up to date.
    fn refresh(&mut self, view: &SessionView, now: Instant) {
        self.prepare_composer(view);
        let rows = match (self.mode, self.hands.desk) {
            (Mode::Live, Desk::Team) => self.panes.composer.rows(),
            (Mode::Live, Desk::Port) => 0,
            (Mode::Replay, _) => TimelineBar::ROWS,
        };
        let is_quiet = view.logs.builds.is_empty() && view.logs.serials.is_empty();
        let logs = if is_quiet { LogsWish::Quiet } else { LogsWish::Full };
        self.layout = Layout::new(&wish(self.size, &self.hands, rows, logs));
        if let Some(overlay) = &mut self.hands.overlay {
            overlay.prepare(self.size);
        }
        let areas = self.layout.panes.clone();
        for area in areas {
            let keys = self.keys_of(area.id);
            let cx = Cx {
                view,
                timeline: self.timeline.as_ref(),
                theme: &self.looks.theme,
                keymap: &self.keymap,
                agents: &self.agents,
                clock: &self.clock,
                mode: self.mode,
                keys,
            };
            match area.id {
                PaneId::Project => self.panes.project.prepare(area.body, &cx),
                PaneId::Chat => self.panes.chat.prepare(area.body, &cx),
                PaneId::Review => self.panes.review.prepare(area.body, &cx),
                PaneId::Logs => self.panes.logs.prepare(area.body, &cx),
            }
        }
        let current = self.panes.review.current(view);
        if current != self.memory.current {
            self.memory.current = current;
            self.hands.guard.arm(now);
        }
    }

    fn keys_of(&self, id: PaneId) -> Keys {
        let here = self.hands.front == id
            && self.hands.composing == Composing::No
            && self.hands.overlay.is_none();
        if here { Keys::Here } else { Keys::Elsewhere }
    }

    fn tell(&mut self, notice: Notice, now: Instant) {
        self.hands.notice = Some((notice, now + NOTICE_TIME));
    }

    /// Whether the terminal is large enough to decide anything in it.
    fn is_usable(&self) -> bool {
        self.layout.shape != Shape::TooSmall
    }
}

fn wish(size: Size, hands: &Hands, bottom_rows: u16, logs: LogsWish) -> Wish {
    let screen = Rect::new(0, 0, size.width, size.height);
    let zoom = hands.zoom.map(|_| hands.front);
    let sizes = hands.room.sizes;
    Wish { screen, front: hands.front, zoom, bottom_rows, logs, sizes }
}

#[cfg(test)]
mod fixture;

#[cfg(test)]
#[path = "ui_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "shell_tests.rs"]
mod shell_tests;

#[cfg(test)]
#[path = "serial_tests.rs"]
mod serial_tests;
