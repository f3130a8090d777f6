//! What the screen is made with.

use std::sync::Arc;

use ratatui::layout::Size;

use crate::model::{BlobSource, EventSource, FileSource, LogSource};

use super::arrangement::Arrangement;
use super::keymap::Keymap;
use super::looks::ThemeState;
use super::overlay::ModelOffer;
use super::pane::Mode;

/// What the screen needs to begin.
pub struct UiSetup {
    /// How things look, and could look.
    pub looks: ThemeState,
    /// Which key does what.
    pub keymap: Keymap,
    /// How the person left things the last time.
    pub arrangement: Arrangement,
    /// Whether the session runs or is played back.
    pub mode: Mode,
    /// Size of the terminal.
    pub size: Size,
    /// Contents of files, as proposals name them.
    pub blobs: Arc<dyn BlobSource>,
    pub logs: Arc<dyn LogSource>,
    /// The session's own records.
    pub events: Arc<dyn EventSource>,
    /// The project's files; `None`: its folder no longer exists.
    pub files: Option<Arc<dyn FileSource>>,
    /// Models that can be chosen.
    pub models: Vec<ModelOffer>,
    /// Messages sent before in this project, oldest first.
    pub history: Vec<String>,
}
