//! Keys that concern the run or the replay as a whole: hold, leave, answer, play.

use crate::model::{Intent, TimelineCommand};
use crate::view::{PendingList, RunState, SessionView};

use super::action::Action;
use super::layout::PaneId;
use super::overlay::{
    AnswerList, ContextDesk, ModelList, ModelOffer, Overlay, PlanDesk, QuitChoice, SourceList,
    blackboard_overlay, has_sources, policy_overlay,
};
use super::pane::{Effect, Mode, ReviewRequest, UiCommand};

/// What a wish gets when the run stopped unexpectedly.
pub const BROKE_OFF: &str =
    "the run stopped unexpectedly; `firmhand resume` brings back what waits";

/// Why there is no heat map.
pub(super) const NO_POLICY: &str = "no learned policy chooses who speaks in this run";

/// Why there is nothing to answer.
pub(super) const NO_QUESTION: &str = "the team asks nothing";

/// Why there is no blackboard.
pub(super) const NO_BLACKBOARD: &str = "there is nothing on the blackboard yet";

/// Why there are no sources.
pub(super) const NO_SOURCES: &str = "nothing was looked up in the documentation yet";

/// Leaves, or asks first while a run goes on.
pub(super) fn quit(mode: Mode, view: &SessionView) -> Vec<Effect> {
    let goes_on =
        matches!(view.head.state, RunState::Running | RunState::Paused | RunState::Stopping);
    if mode == Mode::Live && goes_on {
        vec![Effect::open(Overlay::Quit(QuitChoice::default()))]
    } else {
        vec![Effect::Command(UiCommand::Quit)]
    }
}

/// Holds the run, or continues the run.
pub(super) fn toggle_pause(mode: Mode, view: &SessionView) -> Vec<Effect> {
    match (&view.head.state, mode) {
        (_, Mode::Replay) => Effect::refuse("this is a replay: there is no run to pause"),
        (RunState::Running, Mode::Live) => {
            let mut effects = vec![Effect::intent(Intent::Pause)];
            effects.extend(Effect::info("the run pauses once what is under way has ended"));
            effects
        }
        (RunState::Paused, Mode::Live) => vec![Effect::intent(Intent::Resume)],
        (RunState::Empty, Mode::Live) => Effect::refuse("the run has not begun yet"),
        (RunState::Stopping | RunState::Ended(_), Mode::Live) => {
            Effect::refuse("the run is over: there is nothing to pause")
        }
        (RunState::BrokenOff(_), Mode::Live) => Effect::refuse(BROKE_OFF),
    }
}

/// Opens the answers to the question that waits, or the field for an answer in words.
pub(super) fn answers(mode: Mode, view: &SessionView) -> Vec<Effect> {
    match AnswerList::of(view) {
        _ if mode == Mode::Replay => Effect::refuse("this is a replay: no agent reads an answer"),
        Some(list) => vec![Effect::open(Overlay::Question(list))],
        None if view.head.question.is_some() => {
            vec![Effect::Focus(PaneId::Chat), Effect::Compose(String::new())]
        }
        None => Effect::refuse(NO_QUESTION),
    }
}

/// Opens what the question that waits is about.
pub(super) fn look_into(view: &SessionView) -> Vec<Effect> {
    let overlay = match view.pending_list() {
        Some((question, PendingList::Plan(plan))) => Overlay::Plan(PlanDesk::new(question, plan)),
        Some((question, PendingList::Context(_))) => Overlay::Context(ContextDesk::new(question)),
        None => return Effect::refuse("there is nothing to look into for this question"),
    };
    vec![Effect::open(overlay)]
}

/// Opens the models to choose from, if one can be chosen.
pub(super) fn choose_model(models: &[ModelOffer], mode: Mode, view: &SessionView) -> Vec<Effect> {
    if mode == Mode::Replay {
        return Effect::refuse("this is a replay; no model answers");
    }
    if models.is_empty() {
        return Effect::refuse("there is no model to choose: `firmhand doctor` shows why");
    }
    if view.head.profile().is_none() {
        return Effect::refuse(
            "a recorded model cannot be changed; start a session with `--profile`",
        );
    }
    let list = ModelList::new(models.to_vec(), &view.head);
    vec![Effect::open(Overlay::Models(list))]
}

/// Opens what the team laid out and looked up, if there is anything.
pub(super) fn show_team(action: Action, view: &SessionView) -> Vec<Effect> {
    let overlay = match action {
        Action::ShowPolicy => policy_overlay(&view.team).ok_or(NO_POLICY),
        Action::ShowBlackboard => blackboard_overlay(&view.team).ok_or(NO_BLACKBOARD),
        _ if has_sources(view) => Ok(Overlay::Sources(SourceList::default())),
        _ => Err(NO_SOURCES),
    };
    match overlay {
        Ok(overlay) => vec![Effect::open(overlay)],
        Err(why) => Effect::refuse(why),
    }
}

/// Moves in a replay.
pub(super) fn play(action: Action, mode: Mode) -> Vec<Effect> {
    use crate::model::Direction::{Back, Forward};
    if mode == Mode::Live {
        return Effect::refuse("this is not a replay");
    }
    let command = match action {
        Action::PlayPause => TimelineCommand::TogglePlay,
        Action::Faster => TimelineCommand::Faster,
        Action::Slower => TimelineCommand::Slower,
        Action::StepForward => TimelineCommand::StepEvent(Forward),
        Action::StepBack => TimelineCommand::StepEvent(Back),
        Action::TurnForward => TimelineCommand::StepTurn(Forward),
        Action::TurnBack => TimelineCommand::StepTurn(Back),
        Action::ProposalForward => TimelineCommand::StepProposal(Forward),
        Action::ProposalBack => TimelineCommand::StepProposal(Back),
        Action::ReplayStart => TimelineCommand::Start,
        Action::ReplayEnd => TimelineCommand::End,
        _ => return Vec::new(),
    };
    let newest = matches!(command, TimelineCommand::StepProposal(_));
    let follow = Effect::Review(ReviewRequest::Follow { newest });
    let mut effects = vec![Effect::Command(UiCommand::Timeline(command)), follow];
    // A small screen shows one pane only.
    effects.extend(newest.then_some(Effect::Focus(PaneId::Review)));
    effects
}

/// Why a wish changed nothing in a replay.
pub(super) const fn unmoved(command: TimelineCommand) -> &'static str {
    use crate::model::Direction::{Back, Forward};
    match command {
        TimelineCommand::StepEvent(Forward) | TimelineCommand::End => {
            "this is the end of the session"
        }
        TimelineCommand::StepEvent(Back) | TimelineCommand::Start => {
            "this is the start of the session"
        }
        TimelineCommand::StepTurn(Forward) => "there is no later turn",
        TimelineCommand::StepTurn(Back) => "there is no earlier turn",
        TimelineCommand::StepProposal(Forward) => "there is no later proposal",
        TimelineCommand::StepProposal(Back) => "there is no earlier proposal",
        TimelineCommand::Faster => "this is the highest speed",
        TimelineCommand::Slower => "this is the lowest speed",
        TimelineCommand::Seek(_) | TimelineCommand::SeekTime(_) => "this is the current position",
        TimelineCommand::TogglePlay => "there is nothing to play",
    }
}
