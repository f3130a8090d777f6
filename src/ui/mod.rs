//! The screen: a function of the session view and the state of the person's eyes and hands.
//!
//! Must not know the engine, read files or start processes.

mod act;
pub mod action;
mod agents;
pub mod arrangement;
mod attention;
mod clock;
pub mod colour;
mod data_file;
mod deciding;
mod dialog_news;
mod draw;
mod file_glance;
mod fuzzy;
pub mod guard;
mod header;
mod hints;
mod input;
pub mod input_line;
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
mod resize;
pub mod role;
mod run;
mod scene;
pub mod schema;
mod screen_kind;
pub mod scroll;
pub mod search;
mod setup;
pub mod sizes;
pub mod start;
mod start_facts;
mod start_rows;
mod start_sessions;
mod start_task;
mod strip;
mod sync;
pub mod theme;
pub mod trust_dialog;

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::layout::Size;

use crate::model::{
    Examiner, ProposalId, QuestionId, TeamOffers, TimelineCommand, Timestamp, UserError,
};
use crate::text::esp_log::TagFilter;
use crate::view::{Mark, SessionView};

pub use arrangement::Arrangement;
pub use colour::Depth;
pub use keymap::Keymap;
pub use looks::{ThemeChoice, ThemeState};
pub use overlay::{FileContents, ModelOffer};
pub use pane::{FilePlace, Mode, OutsideEdit, Saved, UiCommand};
pub use run::BROKE_OFF;
pub use setup::UiSetup;
pub use theme::Theme;

use agents::Agents;
use attention::Attention;
use clock::Clock;
use deciding::Pressed;
use file_glance::FileGlance;
use guard::Guard;
use key::Key;
use layout::{Layout, LogsWish, PaneId, ReviewWish, Shape, StripWish};
use overlay::{Overlay, PaletteUses};
use pane::{Decides, Notice};
use panes::{ChatPane, Composer, LogsPane, LogsTab, ProjectPane, ReviewPane, TimelineBar};
use pointer::{Pointer, TextSelection};
use scene::Scene;
use screen_kind::ScreenKind;
use sizes::Sizes;

/// The screen.
pub struct Ui {
    scene: Scene,
    size: Size,
    layout: Layout,
    panes: Panes,
    controls: Controls,
    memory: UiMemory,
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
    /// The file under the cursor, while it is shown.
    glance: Option<FileGlance>,
    /// What files are read from when one is shown.
    files: FileContents,
    /// Models that can be chosen.
    models: Vec<ModelOffer>,
    /// Knows the teams that the next run could have.
    teams: Option<Arc<dyn TeamOffers>>,
}

/// Where keys go, and what they did so far.
struct Controls {
    desk: ScreenKind,
    front: PaneId,
    /// The pane that was turned to before a proposal or a question called the person away from it.
    before: Option<PaneId>,
    composing: Composing,
    zoom: Option<PaneId>,
    overlay: Option<Overlay>,
    /// Keys of a sequence that is not complete.
    pending: Vec<Key>,
    deciding: Deciding,
    notice: Option<(Notice, Instant)>,
    /// When a key last went to the composer.
    typed_at: Option<Instant>,
    /// What the mouse and the keys made of the panes' places.
    screen: ScreenState,
    attention: Attention,
}

/// When a key may decide.
#[derive(Default)]
struct Deciding {
    guard: Guard,
    /// A deciding key that has no effect yet.
    pressed: Option<Pressed>,
    /// Dialogs that were opened so far.
    dialogs: u32,
    /// Whether the proposal on screen had lines that were not in sight yet.
    unseen: Option<bool>,
}

/// The panes' sizes, and the mouse that changes them.
#[derive(Default)]
struct ScreenState {
    sizes: Sizes,
    pointer: Pointer,
    /// Text that is or was selected.
    selection: Option<TextSelection>,
    /// The theme that the person chose here.
    theme: Option<String>,
    /// How often each action was chosen in the palette.
    used: PaletteUses,
}

/// Whether a message is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Composing {
    Yes,
    No,
}

/// What the screen remembers of the session from one time to the next.
#[derive(Default)]
struct UiMemory {
    seq: u64,
    entries: usize,
    waiting: Vec<ProposalId>,
    question: Option<QuestionId>,
    /// How many runs were over when teams for the next one were last looked up.
    offered: usize,
    /// The question that the person was turned to last, if it still waits.
    turned_to: Option<QuestionId>,
    /// The question whose answers were opened by themselves last.
    opened: Option<QuestionId>,
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
        let files =
            FileContents { disk: files, blobs: Arc::clone(&blobs), events: Arc::clone(&events) };
        let panes = Panes {
            project: ProjectPane::default(),
            chat: ChatPane::default(),
            review: ReviewPane::new(blobs),
            logs: LogsPane::new(logs, events),
            composer: Composer::new(history),
            timeline: TimelineBar::default(),
            glance: None,
            files,
            models,
            teams: None,
        };
        let controls = Controls {
            desk: ScreenKind::Team,
            front: arrangement.front.unwrap_or(PaneId::Chat),
            before: None,
            composing: Composing::No,
            zoom: None,
            overlay: None,
            pending: Vec::new(),
            deciding: Deciding::default(),
            notice: None,
            typed_at: None,
            screen: ScreenState {
                sizes: arrangement.sizes,
                theme: arrangement.theme,
                used: arrangement.used,
                ..ScreenState::default()
            },
            attention: Attention::default(),
        };
        let clock = Clock { now, anchor: (now, Timestamp(0)), mode };
        let quiet = (LogsWish::Quiet, ReviewWish::Quiet, StripWish::Quiet);
        let layout = Layout::new(&sync::wish(size, &controls, 1, quiet));
        let (agents, decides) = (Agents::default(), Decides::NotYet);
        Self {
            scene: Scene { looks, keymap, agents, clock, mode, timeline: None, decides },
            size,
            layout,
            panes,
            controls,
            memory: UiMemory::default(),
            drawn: Cell::new(false),
        }
    }

    /// How the person leaves things, to be remembered for the project.
    #[must_use]
    pub fn arrangement(&self) -> Arrangement {
        Arrangement {
            theme: self.controls.screen.theme.clone(),
            front: Some(self.controls.before.unwrap_or(self.controls.front)),
            sizes: self.controls.screen.sizes,
            used: self.controls.screen.used.clone(),
        }
    }

    /// Another look from now on; `ThemeChoice` ones are remembered.
    pub fn set_theme(&mut self, theme: Theme, name: &str, chosen: ThemeChoice) {
        self.scene.looks.theme = theme;
        name.clone_into(&mut self.scene.looks.name);
        if chosen == ThemeChoice::Yes {
            self.controls.screen.theme = Some(name.to_owned());
        }
    }

    /// Names of all themes, which may have become others.
    pub fn set_theme_names(&mut self, names: Vec<String>) {
        self.scene.looks.names = names;
    }

    /// Name of the theme in use.
    #[must_use]
    pub fn theme_name(&self) -> &str {
        &self.scene.looks.name
    }

    /// What to call out to a person who looks elsewhere; once each.
    pub fn take_call(&mut self) -> Option<String> {
        self.controls.attention.take()
    }

    /// What the terminal's own title may say, safe to print.
    #[must_use]
    pub fn terminal_title(&self, view: &SessionView) -> String {
        header::terminal_title(view, self.scene.mode)
    }

    /// Turns to the output of ports, on the whole screen; there is nothing else.
    pub fn show_serial(&mut self) {
        self.panes.logs.show(LogsTab::Serial);
        self.controls.desk = ScreenKind::Port;
        // How the panes of a team were left is not forgotten.
        self.controls.before = Some(self.controls.front);
        self.controls.front = PaneId::Logs;
        self.controls.zoom = Some(PaneId::Logs);
    }

    /// Shows only what `tags` lets through of what ports print.
    pub fn filter_tags(&mut self, tags: TagFilter) {
        self.panes.logs.filter_tags(tags);
    }

    /// Has what the person writes instead of a proposed text looked at by `examiner`.
    pub fn examine_by(&mut self, examiner: Arc<dyn Examiner>) {
        self.panes.review.examine_by(examiner);
    }

    /// Lets the person choose the team of the next run among those that `teams` knows.
    pub fn choose_teams_from(&mut self, teams: Arc<dyn TeamOffers>) {
        self.panes.teams = Some(teams);
    }

    /// Says that a wish could not be passed on, and why.
    pub fn refuse(&mut self, why: &str, now: Instant) {
        self.tell(Notice::error(why), now);
    }

    /// Takes over the moments of the whole session, which a replay's timeline marks.
    pub fn set_marks(&mut self, marks: &[Mark]) {
        self.panes.timeline.set_marks(marks.to_vec());
    }

    /// Tells the person what came of something that was done besides.
    pub fn tell_result(&mut self, done: Result<String, UserError>, now: Instant) {
        let notice = match done {
            Ok(text) => Notice::info(text),
            Err(error) => Notice::error(error.to_string()),
        };
        self.tell(notice, now);
    }

    /// Tells the person why a wish changed nothing in a replay.
    pub fn tell_unmoved(&mut self, command: TimelineCommand, now: Instant) {
        self.tell(Notice::info(run::unmoved(command)), now);
    }

    fn tell(&mut self, notice: Notice, now: Instant) {
        self.controls.notice = Some((notice, now + NOTICE_TIME));
    }

    /// Whether the terminal is large enough to decide anything in it.
    fn is_usable(&self) -> bool {
        self.layout.shape != Shape::TooSmall
    }
}

#[cfg(test)]
mod fixture;

#[cfg(test)]
#[path = "ui_tests.rs"]
mod tests;

#[cfg(test)]
mod composer_tests;

#[cfg(test)]
mod sources_tests;

#[cfg(test)]
#[path = "shell_tests.rs"]
mod shell_tests;

#[cfg(test)]
#[path = "broken_off_tests.rs"]
mod broken_off_tests;

#[cfg(test)]
#[path = "question_tests.rs"]
mod question_tests;
#[cfg(test)]
#[path = "serial_tests.rs"]
mod serial_tests;

#[cfg(test)]
mod trial_tests;
#[cfg(test)]
mod useful_tests;
