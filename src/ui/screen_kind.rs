//! What a person sits at: a team's desk, or a port alone.
//!
//! Owns what keys mean where there is but a port.

use super::action::Action;

/// What the screen is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ScreenKind {
    /// A team and what it does.
    #[default]
    Team,
    /// The output of ports, on the whole screen.
    Port,
}

impl ScreenKind {
    /// What an action comes to here: itself, another one, or why it makes no sense.
    pub(super) const fn takes(self, action: Action) -> Result<Action, &'static str> {
        match (self, action) {
            (Self::Team, _) => Ok(action),
            (Self::Port, Action::Compose) => Ok(Action::SerialSend),
            (Self::Port, Action::Command | Action::TogglePause | Action::ShowRun) => {
                Err("this is the monitor: no team works here")
            }
            (
                Self::Port,
                Action::FocusNext
                | Action::FocusPrevious
                | Action::FocusProject
                | Action::FocusChat
                | Action::FocusReview
                | Action::FocusLogs
                | Action::Zoom
                | Action::Wider
                | Action::Narrower
                | Action::Taller
                | Action::Lower
                | Action::ResetLayout,
            ) => Err("this is the monitor: the port has the whole screen"),
            (Self::Port, _) => Ok(action),
        }
    }
}
