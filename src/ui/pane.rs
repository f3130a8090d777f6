//! What every pane offers, and what it may ask for.

use std::borrow::Cow;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{
    Intent, LogId, ProjectPath, ProposalId, Seq, SerialCommand, Shown, TimelineCommand,
    TimelineView,
};
use crate::text::esp_log::TagFilter;
use crate::text::sanitize;
use crate::view::SessionView;

use super::action::{Action, KeyContext};
use super::agents::Agents;
use super::clock::Clock;
pub use super::clock::Mode;
use super::keymap::Keymap;
use super::layout::PaneId;
use super::overlay::Overlay;
use super::role::Role;
use super::theme::Theme;

/// A text for the person's own editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideEdit {
    /// What it is a version of.
    pub shown: Shown,
    /// Name of the file, for its ending.
    pub name: String,
    pub text: String,
}

/// What the screen asks of the program.
#[derive(Debug, Clone, PartialEq)]
pub enum UiCommand {
    /// A wish for the engine.
    Intent(Intent),
    /// A wish for a serial port.
    Serial(SerialCommand),
    /// A wish for the replay.
    Timeline(TimelineCommand),
    /// Open a text in the person's own editor; what comes of it is given to
    /// [`Ui::edited`](super::Ui::edited).
    EditOutside(OutsideEdit),
    /// Leave the program.
    Quit,
    /// Go back to the shell until continued.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Put this text into the terminal's clipboard.
    Copy(String),
    /// Show the theme of that name for now.
    ShowTheme(String),
    /// Show the theme of that name from now on.
    KeepTheme(String),
    /// Open a file of the project in the person's editor.
    Edit(FilePlace),
    /// Open the file of a passage of the documentation in the person's editor.
    EditSource(PassagePlace),
    /// Keep a message for the history of the project.
    Remember(String),
    /// Write a copy of a log to a file that does not exist yet.
    Save {
        /// What is saved.
        what: Saved,
        /// Where to, as the person typed it.
        to: String,
    },
}

/// Where a passage of the documentation is from, as the search told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassagePlace {
    /// Relative to the root of its documents, with `#section` where there is one.
    pub source: String,
    /// Name and version of the documents, such as `esp-idf 5.4.1`; empty when they have no version.
    pub documents: String,
    /// The kind of the passage; empty when it is not known.
    pub kind: String,
    pub text: String,
}

/// A place in a file of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    pub path: ProjectPath,
    /// From 1; `None`: no certain line.
    pub line: Option<u32>,
}

/// What of a session can be saved to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// So many bytes of a raw log.
    Log(LogId, u64),
    /// The records up to that one, as they are in the journal.
    Events(Seq),
}

/// Most bytes that are copied; terminals take no more than some tens of kilobytes.
const MAX_COPY: usize = 64 * 1024;

/// Where keys go, as a pane sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// To this pane.
    Here,
    /// To another one, the composer or a dialog.
    Elsewhere,
}

/// A word to the person at the edge of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub text: String,
    /// [`Role::Notice`] or [`Role::NoticeError`].
    pub role: Role,
}

impl Notice {
    /// Good to know.
    pub fn info(text: impl Into<String>) -> Self {
        Self { text: text.into(), role: Role::Notice }
    }

    /// Something went wrong or was refused.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), role: Role::NoticeError }
    }
}

/// What a dialog about proposals asks of the review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewRequest {
    /// Keep a comment on a line of the change, by its place in the body; empty takes it away.
    Remark {
        proposal: ProposalId,
        /// Place of the line.
        line: usize,
        words: String,
    },
    /// Keep the person's version of the text.
    Draft {
        proposal: ProposalId,
        /// The whole text.
        text: String,
    },
    /// Keep words that were begun.
    Words { proposal: ProposalId, words: String },
    /// Show one proposal of the list of a batch; the list comes back after it.
    OpenRow(ProposalId),
    /// Show the newest proposal, or the oldest that waits: in a replay, after a step.
    Follow { newest: bool },
    /// Show what the person would write instead of what was proposed, to be decided there.
    ShowEdit {
        /// What it is a version of, as it was shown.
        shown: Shown,
        /// The whole text.
        text: String,
    },
}

/// What a pane, a dialog or the composer wants to happen.
#[derive(Debug)]
pub enum Effect {
    /// Something of the program.
    Command(UiCommand),
    /// Open a dialog.
    Open(Box<Overlay>),
    /// Close the dialog that is open.
    Close,
    /// Turn to a pane.
    Focus(PaneId),
    /// Turn to the composer, with this text in it.
    Compose(String),
    /// Go on as if the person had asked for this.
    Act(Action),
    /// Something of the review.
    Review(ReviewRequest),
    /// Show a file of the project.
    Preview(FilePlace),
    /// Show only what this lets through of what ports print.
    FilterTags(TagFilter),
    /// Tell the person.
    Notice(Notice),
}

impl Effect {
    /// A wish for the engine.
    #[must_use]
    pub const fn intent(intent: Intent) -> Self {
        Self::Command(UiCommand::Intent(intent))
    }

    /// Opens a dialog.
    #[must_use]
    pub fn open(overlay: Overlay) -> Self {
        Self::Open(Box::new(overlay))
    }

    /// Copies text, without anything in it that a terminal could take for a command.
    pub fn copy(text: impl AsRef<str>) -> Vec<Self> {
        let clean = sanitize::block(text.as_ref());
        let clean = clean.trim_end_matches('\n');
        if clean.is_empty() {
            return Self::info("there is nothing to copy here");
        }
        let mut end = clean.len().min(MAX_COPY);
        while !clean.is_char_boundary(end) {
            end -= 1;
        }
        let lines = clean.lines().count();
        let what = match (end < clean.len(), lines) {
            (true, _) => format!("the first {} kB were copied", MAX_COPY / 1024),
            (false, 1) => "copied".to_owned(),
            (false, lines) => format!("{lines} lines copied"),
        };
        let text = clean.get(..end).unwrap_or_default().to_owned();
        let mut effects = vec![Self::Command(UiCommand::Copy(text))];
        effects.extend(Self::info(what));
        effects
    }

    /// Tells the person something.
    pub fn info(text: impl Into<String>) -> Vec<Self> {
        vec![Self::Notice(Notice::info(text))]
    }

    /// Tells the person why something does not happen.
    pub fn refuse(text: impl Into<String>) -> Vec<Self> {
        vec![Self::Notice(Notice::error(text))]
    }
}

/// Everything a pane may look at.
#[derive(Clone, Copy)]
pub struct Cx<'a> {
    pub view: &'a SessionView,
    /// The place in a replay.
    pub timeline: Option<&'a TimelineView>,
    /// The name that the person gave the session; empty: none.
    pub title: &'a str,
    /// How things look.
    pub theme: &'a Theme,
    /// Which key does what.
    pub keymap: &'a Keymap,
    /// Who has which colour.
    pub agents: &'a Agents,
    /// What time it is.
    pub clock: &'a Clock,
    /// Whether the session runs.
    pub mode: Mode,
    /// Whether the keys come here.
    pub keys: Keys,
    /// Whether a key that decides would count now.
    pub decides: Decides,
    /// Whether the last build's errors are on screen in the logs.
    pub build_errors: BuildErrors,
}

/// Whether the last build's errors are on screen in the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BuildErrors {
    OnScreen,
    #[default]
    Elsewhere,
}

/// Whether a key that decides would count now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decides {
    Now,
    /// What is to be decided has to be on screen for a moment first.
    #[default]
    NotYet,
}

impl Cx<'_> {
    /// The look of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// Text in the look of a role.
    pub fn span<'t>(&self, text: impl Into<Cow<'t, str>>, role: Role) -> Span<'t> {
        Span::styled(text, self.style(role))
    }

    /// A line in the look of a role.
    pub fn line<'t>(&self, text: impl Into<Cow<'t, str>>, role: Role) -> Line<'t> {
        Line::styled(text, self.style(role))
    }

    /// The look of a selected line.
    #[must_use]
    pub fn selection(&self) -> Style {
        match self.keys {
            Keys::Here => self.style(Role::Selection),
            Keys::Elsewhere => self.style(Role::SelectionDim),
        }
    }

    /// The first key of an action in a pane, e.g. for advice such as "`r` rejects".
    #[must_use]
    pub fn key(&self, context: KeyContext, action: Action) -> String {
        let chain = [context, KeyContext::Pane, KeyContext::Global];
        self.keymap.key_of(&chain, action).unwrap_or_else(|| "no key".to_owned())
    }
}

/// Whether a pane takes text at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextMode {
    /// Keys are actions.
    Off,
    /// Keys that type or edit text, enter and escape go to [`Pane::on_text`].
    On,
}

/// A pane of the screen. Drawing is pure; whatever depends on the area is made ready before.
pub trait Pane {
    /// What stands in its title rule, without the rule itself.
    fn title(&self, cx: &Cx<'_>) -> Line<'static>;

    /// As [`Pane::title`], for so many columns.
    fn title_within(&self, _columns: usize, cx: &Cx<'_>) -> Line<'static> {
        self.title(cx)
    }

    /// Actions for the line of hints, the most useful first.
    fn hints(&self, cx: &Cx<'_>) -> Vec<Action>;

    /// Does what a key asked for. An action that makes no sense now answers with a notice that
    /// says why; nothing happens silently.
    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect>;

    /// Brings caches up to date for the area it will be drawn in. Called after every change of
    /// the session, the size or the pane itself, before it is drawn.
    fn prepare(&mut self, area: Rect, cx: &Cx<'_>);

    /// What was last prepared has really been on screen. Called before anything else changes.
    fn was_shown(&mut self) {}

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>);

    /// Why an action of this pane cannot be done now, for the palette; `None` when it can.
    fn why_not(&self, _action: Action, _cx: &Cx<'_>) -> Option<String> {
        None
    }

    /// Whether it takes text, e.g. a filter.
    fn text_mode(&self) -> TextMode {
        TextMode::Off
    }

    /// A key for its text field.
    fn on_text(&mut self, _key: &KeyEvent, _cx: &Cx<'_>) -> Vec<Effect> {
        Vec::new()
    }

    /// Pasted text for its text field.
    fn on_paste(&mut self, _text: &str, _cx: &Cx<'_>) -> Vec<Effect> {
        Vec::new()
    }

    /// A click at a place of its area, from the area's upper left corner.
    fn on_click(&mut self, _at: Position, _cx: &Cx<'_>) -> Vec<Effect> {
        Vec::new()
    }

    /// A click into its title rule, counted in columns from the start of [`Pane::title`].
    fn on_title_click(&mut self, _column: u16, _cx: &Cx<'_>) -> Vec<Effect> {
        Vec::new()
    }
}
