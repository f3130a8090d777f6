//! What actions do that belong to no pane, and which pane the others go to.

use std::sync::Arc;

use crate::model::Seq;
use crate::view::SessionView;

use super::action::{Action, KeyContext};
use super::input::Now;
use super::layout::PaneId;
use super::overlay::{
    HelpView, JumpTo, ModelList, Overlay, PaletteView, RunOverview, SourceList, ThemeList,
    blackboard_overlay, has_sources, policy_overlay,
};
use super::pane::{Effect, Keys, Mode, UiCommand};
use super::possible::{NO_BLACKBOARD, NO_POLICY, NO_SOURCES};
use super::resize;
use super::screen_kind::ScreenKind;
use super::sizes::Sizes;
use super::{Composing, Ui, possible, run};

impl Ui {
    /// Does what a key asked for.
    pub(super) fn perform(&mut self, action: Action, now: Now<'_>) -> Vec<Effect> {
        if let Some(overlay) = &mut self.controls.overlay {
            let cx = self.scene.cx(now.view, Keys::Elsewhere);
            return overlay.on_action(action, &cx);
        }
        let action = match self.controls.desk.takes(action) {
            Ok(action) => action,
            Err(why) => return Effect::refuse(why),
        };
        match action.home() {
            KeyContext::Global => self.act_globally(action, now),
            KeyContext::Composer => self.act_in_composer(action, now),
            KeyContext::Replay if action == Action::JumpTo && self.scene.mode == Mode::Replay => {
                let last = self.scene.timeline.map_or(Seq(0), |timeline| timeline.last);
                let jump = JumpTo::new(Arc::clone(&self.panes.files.events), last);
                vec![Effect::Open(Box::new(Overlay::JumpTo(jump)))]
            }
            KeyContext::Replay => run::play(action, self.scene.mode),
            KeyContext::Question if action == Action::LookInto => run::look_into(now.view),
            KeyContext::Question => run::answers(now.view),
            KeyContext::Pane
            | KeyContext::Chat
            | KeyContext::Project
            | KeyContext::Review
            | KeyContext::Select
            | KeyContext::Logs
            | KeyContext::Dialog => self.with_front(now, |pane, cx| pane.on_action(action, cx)),
        }
    }

    fn act_globally(&mut self, action: Action, now: Now<'_>) -> Vec<Effect> {
        match action {
            Action::Help => {
                let first = self.contexts(now.view).first().copied().unwrap_or(KeyContext::Global);
                vec![Effect::Open(Box::new(Overlay::Help(HelpView::new(first))))]
            }
            // All of it is kept; there is nothing to ask.
            Action::Quit if self.controls.desk == ScreenKind::Port => {
                vec![Effect::Command(UiCommand::Quit)]
            }
            Action::Quit => run::quit(self.scene.mode, now.view),
            Action::Suspend => vec![Effect::Command(UiCommand::Suspend)],
            Action::ShowRun => vec![Effect::Open(Box::new(Overlay::Run(RunOverview::default())))],
            Action::ShowSources | Action::ShowPolicy | Action::ShowBlackboard => {
                match team_overlay(action, now.view) {
                    Ok(overlay) => vec![Effect::Open(Box::new(overlay))],
                    Err(why) => Effect::refuse(why),
                }
            }
            Action::Redraw => vec![Effect::Command(UiCommand::Redraw)],
            Action::FocusNext => vec![Effect::Focus(self.controls.front.next())],
            Action::FocusPrevious => vec![Effect::Focus(self.controls.front.previous())],
            Action::FocusProject => vec![Effect::Focus(PaneId::Project)],
            Action::FocusChat => vec![Effect::Focus(PaneId::Chat)],
            Action::FocusReview => vec![Effect::Focus(PaneId::Review)],
            Action::FocusLogs => vec![Effect::Focus(PaneId::Logs)],
            Action::Palette => vec![Effect::Open(Box::new(self.palette(now.view)))],
            Action::ChooseTheme => {
                let list = ThemeList::new(self.scene.looks.names.clone(), &self.scene.looks.name);
                vec![Effect::Open(Box::new(Overlay::Themes(list)))]
            }
            Action::ChooseModel => self.choose_model(now.view),
            Action::Wider | Action::Narrower | Action::Taller | Action::Lower => {
                self.resize_pane(action)
            }
            Action::ResetLayout => {
                self.controls.screen.sizes = Sizes::default();
                self.controls.zoom = None;
                Effect::info("the panes have their default sizes again")
            }
            Action::Zoom => {
                let front = self.controls.front;
                self.controls.zoom = if self.controls.zoom.is_some() { None } else { Some(front) };
                Vec::new()
            }
            Action::Compose => vec![Effect::Compose(String::new())],
            Action::Command => vec![Effect::Compose("/".to_owned())],
            Action::TogglePause => run::toggle_pause(self.scene.mode, now.view),
            Action::Back
                if self.controls.zoom.is_some() && self.controls.desk == ScreenKind::Team =>
            {
                self.controls.zoom = None;
                Vec::new()
            }
            Action::Back if self.controls.composing == Composing::Yes => {
                self.leave_composer();
                Vec::new()
            }
            other => self.with_front(now, |pane, cx| pane.on_action(other, cx)),
        }
    }

    fn choose_model(&self, view: &SessionView) -> Vec<Effect> {
        if self.scene.mode == Mode::Replay {
            return Effect::refuse("this is a replay; no model answers");
        }
        if self.panes.models.is_empty() {
            return Effect::refuse("there is no model to choose: `firmhand doctor` shows why");
        }
        if view.head.profile().is_none() {
            return Effect::refuse(
                "a recorded model cannot be changed; start a session with `--profile`",
            );
        }
        let list = ModelList::new(self.panes.models.clone(), &view.head);
        vec![Effect::Open(Box::new(Overlay::Models(list)))]
    }

    fn palette(&self, view: &SessionView) -> Overlay {
        let chain = self.contexts(view);
        let writes = self.controls.composing == Composing::Yes;
        let (front, desk) = (self.controls.front, self.controls.desk);
        let place = possible::PaletteContext { front, desk, chain: &chain, writes };
        let cx = self.scene.cx(view, Keys::Elsewhere);
        let all = possible::entries(&place, |id| self.pane(id), &cx);
        Overlay::Palette(PaletteView::new(all, &self.controls.screen.used))
    }

    fn resize_pane(&mut self, action: Action) -> Vec<Effect> {
        let front = self.controls.front;
        match resize::nudged(self.controls.screen.sizes, front, action, &self.layout) {
            Ok(sizes) => {
                self.controls.screen.sizes = sizes;
                Vec::new()
            }
            Err(why) => Effect::refuse(why),
        }
    }

    fn act_in_composer(&mut self, action: Action, now: Now<'_>) -> Vec<Effect> {
        if action == Action::LeaveComposer {
            if !self.panes.composer.close_list() {
                self.leave_composer();
            }
            return Vec::new();
        }
        let cx = self.scene.cx(now.view, Keys::Here);
        let effects = self.panes.composer.on_action(action, &cx);
        if action == Action::Send && self.panes.composer.is_empty() {
            self.leave_composer();
        }
        effects
    }

    /// From now on keys are actions again, after a moment also those that decide.
    const fn leave_composer(&mut self) {
        self.controls.composing = Composing::No;
        self.controls.typed_at = None;
    }
}

/// What the team laid out and looked up; else why there is nothing.
fn team_overlay(action: Action, view: &SessionView) -> Result<Overlay, &'static str> {
    match action {
        Action::ShowPolicy => policy_overlay(&view.team).ok_or(NO_POLICY),
        Action::ShowBlackboard => blackboard_overlay(&view.team).ok_or(NO_BLACKBOARD),
        _ if has_sources(view) => Ok(Overlay::Sources(SourceList::default())),
        _ => Err(NO_SOURCES),
    }
}
