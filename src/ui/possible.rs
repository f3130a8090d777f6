//! What can be done here and now, for the palette.
//!
//! Owns the reasons that the whole session gives; those of a pane are its own.

use crate::view::RunState;

use super::action::{Action, KeyContext};
use super::layout::PaneId;
use super::overlay::{PaletteEntry, has_sources};
use super::pane::{Cx, Mode, Pane};
use super::run::{BROKE_OFF, NO_BLACKBOARD, NO_POLICY, NO_QUESTION, NO_SOURCES};
use super::screen_kind::ScreenKind;

/// Where the person is when the palette opens.
pub(super) struct PaletteContext<'a> {
    /// The pane that is turned to.
    pub front: PaneId,
    /// What the screen is for.
    pub desk: ScreenKind,
    /// The contexts that hold there.
    pub chain: &'a [KeyContext],
    /// Whether a message is being written.
    pub writes: bool,
}

/// Every action with its keys, and whether it can be done.
pub(super) fn entries<'p>(
    place: &PaletteContext<'_>,
    pane: impl Fn(PaneId) -> &'p dyn Pane,
    cx: &Cx<'_>,
) -> Vec<PaletteEntry> {
    // The palette is open already.
    let is_listed =
        |action: &&Action| action.home() != KeyContext::Dialog && **action != Action::Palette;
    let listed = Action::ALL.iter().filter(is_listed);
    let entry = |action: &Action| {
        let home = pane_of(action.home());
        let chain: Vec<KeyContext> = match home {
            Some(_) => vec![action.home(), KeyContext::Pane, KeyContext::Global],
            None if action.home() == KeyContext::Composer => vec![KeyContext::Composer],
            None => place.chain.to_vec(),
        };
        let keys = cx.keymap.keys_of(&chain, *action);
        let keys: Vec<String> = keys.iter().map(|keys| format!("{keys}")).collect();
        let way = why_not(*action, place, cx)
            .map(str::to_owned)
            .or_else(|| pane(home.unwrap_or(place.front)).why_not(*action, cx))
            .map_or_else(|| Ok(home.filter(|id| *id != place.front)), Err);
        PaletteEntry { action: *action, keys: keys.join("  "), way }
    };
    let mut entries: Vec<PaletteEntry> = listed.map(entry).collect();
    // What the pane in front is for comes first, what leads to another pane last.
    entries.sort_by_key(|entry| match pane_of(entry.action.home()) {
        Some(id) if id == place.front => 0,
        None => 1,
        Some(_) => 2,
    });
    entries
}

/// The pane whose actions a context holds.
const fn pane_of(context: KeyContext) -> Option<PaneId> {
    match context {
        KeyContext::Chat | KeyContext::Question => Some(PaneId::Chat),
        KeyContext::Project => Some(PaneId::Project),
        KeyContext::Review | KeyContext::Select => Some(PaneId::Review),
        KeyContext::Logs => Some(PaneId::Logs),
        _ => None,
    }
}

/// Why an action cannot be done now, as far as the whole session tells.
pub(super) fn why_not(
    action: Action,
    place: &PaletteContext<'_>,
    cx: &Cx<'_>,
) -> Option<&'static str> {
    if let Err(why) = place.desk.takes(action) {
        return Some(why);
    }
    let is_replay = cx.mode == Mode::Replay;
    let view = cx.view;
    if action.is_decision() {
        // The palette hides what would be decided on.
        return Some(if is_replay {
            "this is a replay; nothing can be decided"
        } else {
            "decide in the review, with the keys shown there"
        });
    }
    match action.home() {
        KeyContext::Replay if !is_replay => Some("this is not a replay"),
        KeyContext::Composer if !place.writes => Some("no message is being written"),
        KeyContext::Question if is_replay || view.head.question.is_none() => Some(NO_QUESTION),
        KeyContext::Question if action == Action::LookInto && view.pending_list().is_none() => {
            Some("no plan or list of files waits")
        }
        KeyContext::Select if !place.chain.contains(&KeyContext::Select) => {
            Some("no lines are being picked")
        }
        KeyContext::Review if view.review.proposals.is_empty() => Some("nothing was proposed yet"),
        _ => why_not_anywhere(action, cx),
    }
}

/// Why an action that holds in every pane cannot be done now.
fn why_not_anywhere(action: Action, cx: &Cx<'_>) -> Option<&'static str> {
    let (view, is_replay) = (cx.view, cx.mode == Mode::Replay);
    match (action, &view.head.state) {
        (Action::AnswerOption, _) if is_replay || view.head.question.is_none() => Some(NO_QUESTION),
        (Action::ShowPolicy, _) if view.team.policy.is_none() => Some(NO_POLICY),
        (Action::ShowSources, _) if !has_sources(view) => Some(NO_SOURCES),
        (Action::ShowBlackboard, _) if view.team.blackboard.is_empty() => Some(NO_BLACKBOARD),
        (Action::ChooseModel, _) if !is_replay && view.head.profile().is_none() => {
            Some("a recorded model cannot be changed")
        }
        (
            Action::Compose
            | Action::Command
            | Action::StopRun
            | Action::TogglePause
            | Action::ChooseModel,
            _,
        ) if is_replay => Some("this is a replay; there is no run"),
        (Action::StopRun | Action::TogglePause, RunState::Empty) => Some("the run has not begun"),
        (
            Action::StopRun | Action::TogglePause | Action::ChooseModel,
            RunState::Stopping | RunState::Ended(_),
        ) => Some("the run is over"),
        (Action::StopRun | Action::TogglePause | Action::ChooseModel, RunState::BrokenOff(_)) => {
            Some(BROKE_OFF)
        }
        _ => None,
    }
}
