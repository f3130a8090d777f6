//! What every part of the screen may look at beside the session.

use std::time::Instant;

use crate::model::{TimelineView, Timestamp};
use crate::view::{ChatEntry, SessionView};

use super::agents::Agents;
use super::clock::Clock;
use super::keymap::Keymap;
use super::looks::ThemeState;
use super::pane::{BuildErrors, Cx, Decides, Keys, Mode};

/// What every part of the screen may look at beside the session; apart from the panes, so that
/// one of them can change while it looks.
pub(super) struct Scene {
    pub looks: ThemeState,
    pub keymap: Keymap,
    agents: Agents,
    pub clock: Clock,
    pub mode: Mode,
    /// The name that the person gave the session; empty: none.
    pub title: String,
    /// The place in a replay, as of the last [`super::Ui::sync`].
    pub timeline: Option<TimelineView>,
    /// Whether a key that decides would count, as of the last [`super::Ui::sync`] or event.
    pub decides: Decides,
    /// Whether the logs show the last build's errors, as they were last arranged.
    pub build_errors: BuildErrors,
    /// The newest record that was seen.
    seq: u64,
    /// Entries of the chat whose agents are known.
    entries: usize,
}

impl Scene {
    pub(super) fn new(looks: ThemeState, keymap: Keymap, mode: Mode) -> Self {
        let now = Instant::now();
        Self {
            looks,
            keymap,
            agents: Agents::default(),
            clock: Clock { now, anchor: (now, Timestamp(0)), mode },
            mode,
            title: String::new(),
            timeline: None,
            decides: Decides::NotYet,
            build_errors: BuildErrors::default(),
            seq: 0,
            entries: 0,
        }
    }

    /// Takes note of what time it is and of who speaks.
    pub(super) fn advance(
        &mut self,
        view: &SessionView,
        timeline: Option<&TimelineView>,
        now: Instant,
    ) {
        self.clock.now = now;
        self.timeline = timeline.copied();
        if view.seq.0 != self.seq {
            self.clock.anchor = (now, view.at);
        }
        self.seq = view.seq.0;
        self.learn_agents(view);
    }

    fn learn_agents(&mut self, view: &SessionView) {
        let entries = &view.chat.entries;
        // Agents that were seen stay known, also when a replay goes back.
        let from = if entries.len() < self.entries { 0 } else { self.entries };
        let new = entries.iter().skip(from);
        self.agents.learn(new.filter_map(|entry| match &**entry {
            ChatEntry::Choice { agent, .. } => Some(agent),
            entry => entry.turn().map(|turn| &turn.agent),
        }));
        self.entries = entries.len();
    }

    /// All that a part of the screen may look at.
    pub(super) fn cx<'a>(&'a self, view: &'a SessionView, keys: Keys) -> Cx<'a> {
        Cx {
            view,
            timeline: self.timeline.as_ref(),
            title: &self.title,
            theme: &self.looks.theme,
            keymap: &self.keymap,
            agents: &self.agents,
            clock: &self.clock,
            mode: self.mode,
            keys,
            decides: self.decides,
            build_errors: self.build_errors,
        }
    }
}
