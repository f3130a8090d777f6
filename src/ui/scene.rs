//! What every part of the screen may look at beside the session.

use crate::model::TimelineView;
use crate::view::SessionView;

use super::agents::Agents;
use super::clock::Clock;
use super::keymap::Keymap;
use super::looks::ThemeState;
use super::pane::{Cx, Decides, Keys, Mode};

/// What every part of the screen may look at beside the session; apart from the panes, so that
/// one of them can change while it looks.
pub(super) struct Scene {
    pub looks: ThemeState,
    pub keymap: Keymap,
    pub agents: Agents,
    pub clock: Clock,
    pub mode: Mode,
    /// The place in a replay, as of the last [`super::Ui::sync`].
    pub timeline: Option<TimelineView>,
    /// Whether a key that decides would count, as of the last [`super::Ui::sync`] or event.
    pub decides: Decides,
}

impl Scene {
    /// All that a part of the screen may look at.
    pub(super) fn cx<'a>(&'a self, view: &'a SessionView, keys: Keys) -> Cx<'a> {
        Cx {
            view,
            timeline: self.timeline.as_ref(),
            theme: &self.looks.theme,
            keymap: &self.keymap,
            agents: &self.agents,
            clock: &self.clock,
            mode: self.mode,
            keys,
            decides: self.decides,
        }
    }
}
