//! What actions and effects do to the panes, the dialog, the focus and the sizes.
//!
//! Must not know the terminal's events: which key is which action is found out before.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::model::{Intent, Seq};
use crate::view::{RunState, SessionView};

use super::action::{Action, KeyContext};
use super::areas::Areas;
use super::arrangement::Arrangement;
use super::clock::Clock;
use super::deciding::{self, Deciding};
use super::dialogs::Dialogs;
use super::draw::Picture;
use super::focus::Focus;
use super::guard::{Care, Subject};
use super::key::Key;
use super::layout::PaneId;
use super::notice_line::NoticeLine;
use super::overlay::{
    HelpView, JumpTo, ModelOffer, Overlay, PaletteUses, PaletteView, Preview, RunOverview,
    ThemeList,
};
use super::pane::{
    BuildErrors, Cx, Decides, Effect, FilePlace, Keys, Mode, Notice, Pane, TextMode, UiCommand,
};
use super::pane_set::{PaneSources, Panes};
use super::panes::LogsTab;
use super::pointer::TextSelection;
use super::possible::PaletteContext;
use super::scene::Scene;
use super::screen_kind::ScreenKind;
use super::setup::UiSetup;
use super::sizes::Sizes;
use super::{possible, run};

/// Rows of the logs from which on the first error of a build is among them.
const LEAST_BUILD_ROWS: u16 = 3;

/// The session as it is while an event is dealt with.
#[derive(Clone, Copy)]
pub(super) struct Now<'a> {
    pub view: &'a SessionView,
    pub at: Instant,
}

/// The parts of the screen that actions change.
pub(super) struct Workbench {
    pub scene: Scene,
    pub areas: Areas,
    pub panes: Panes,
    pub focus: Focus,
    pub dialogs: Dialogs,
    pub deciding: Deciding,
    pub notice: NoticeLine,
    /// Models that can be chosen.
    models: Vec<ModelOffer>,
    /// How often each action was chosen in the palette.
    used: PaletteUses,
    /// The theme that the person chose here.
    pub theme: Option<String>,
}

impl Workbench {
    /// One session's; nothing is arranged yet.
    pub(super) fn new(setup: UiSetup) -> Self {
        let UiSetup { looks, keymap, arrangement, mode, size, .. } = setup;
        let UiSetup { blobs, logs, events, files, history, models, .. } = setup;
        let Arrangement { theme, front, sizes, used } = arrangement;
        let focus = Focus::new(front.unwrap_or(PaneId::Chat));
        Self {
            scene: Scene::new(looks, keymap, mode),
            areas: Areas::new(size, sizes, &focus),
            panes: Panes::new(PaneSources { blobs, logs, events, files }, history),
            focus,
            dialogs: Dialogs::default(),
            deciding: Deciding::default(),
            notice: NoticeLine::default(),
            models,
            used,
            theme,
        }
    }

    /// How the person leaves things, to be remembered for the project.
    pub(super) fn arrangement(&self) -> Arrangement {
        Arrangement {
            theme: self.theme.clone(),
            front: Some(self.focus.chosen()),
            sizes: self.areas.sizes,
            used: self.used.clone(),
        }
    }

    /// All parts, to be drawn with that text marked.
    pub(super) fn picture(&self, selection: Option<TextSelection>) -> Picture<'_> {
        let Self { scene, areas, panes, focus, dialogs, notice, .. } = self;
        Picture { scene, areas, panes, focus, dialogs, notice: notice.get(), selection }
    }

    /// The contexts that hold, the most special one first.
    pub(super) fn contexts(&self, view: &SessionView) -> Vec<KeyContext> {
        self.focus.contexts(&self.dialogs, &self.panes.review, self.scene.mode, view)
    }

    /// Whether the pane that is turned to takes text.
    pub(super) fn front_takes_text(&self) -> bool {
        self.panes.pane(self.focus.front()).text_mode() == TextMode::On
    }

    /// Whether a dialog may open by itself: nobody writes, and nothing else has to be done first.
    pub(super) fn is_free(&self, view: &SessionView) -> bool {
        let has_keys_elsewhere =
            self.dialogs.is_open() || self.focus.is_composing() || self.front_takes_text();
        !has_keys_elsewhere
            && self.scene.mode == Mode::Live
            && view.review.waiting.is_empty()
            && self.areas.is_usable()
    }

    /// Whether the screen says why keys do not count, which they still do not.
    pub(super) fn has_refusal_notice(&self) -> bool {
        !self.deciding.guard.is_quiet() && self.notice.is_refusal()
    }

    /// Does what a key asked for, if it may; what decides waits for a moment.
    pub(super) fn act(&mut self, action: Action, key: Option<Key>, now: Now<'_>) -> Vec<Effect> {
        let mode = self.scene.mode;
        let Some(mut care) = deciding::care(action, key, self.dialogs.get(), mode) else {
            return self.perform(action, now);
        };
        // The person's own edit is on screen: it is only opened again.
        let is_edit = matches!(action, Action::Edit | Action::EditOutside);
        if is_edit && !self.dialogs.is_open() && self.panes.review.shows_edit() {
            care = Care::Typed;
        }
        if mode == Mode::Replay && action.is_decision() {
            return Effect::refuse("this is a replay: nothing can be decided");
        }
        if !self.dialogs.is_open() && self.has_question_alone(action, now.view) {
            let key = self.scene.keymap.key_of(&[KeyContext::Global], Action::AnswerOption);
            let key = key.map_or(String::new(), |key| format!(": `{key}` answers the question"));
            return Effect::refuse(format!("no proposal waits{key}"));
        }
        match self.deciding.press((action, key), care, now.at) {
            Err(refusal) => Effect::refuse(refusal.words()),
            Ok(()) => Vec::new(),
        }
    }

    /// Whether a question waits and nothing that this could decide.
    fn has_question_alone(&self, action: Action, view: &SessionView) -> bool {
        let has_question = view.head.question.is_some() && view.review.waiting.is_empty();
        has_question && action.is_decision() && action != Action::Undo
    }

    /// Does what a deciding key asked for whose moment has come.
    pub(super) fn settle(&mut self, now: Now<'_>) -> Vec<UiCommand> {
        let Some(pressed) = self.deciding.take_due(now.at) else { return Vec::new() };
        let effects = self.perform(pressed.action, now);
        let commands = self.carry_out(effects, now);
        if commands.iter().any(|command| matches!(command, UiCommand::Intent(_))) {
            self.deciding.note_decided(pressed);
        }
        commands
    }

    /// Does what the open dialog has found out by itself.
    pub(super) fn go_on(&mut self, now: Now<'_>) -> Vec<UiCommand> {
        let Some(overlay) = self.dialogs.get_mut() else { return Vec::new() };
        let effects = overlay.go_on(&self.scene.cx(now.view, Keys::Elsewhere));
        self.carry_out(effects, now)
    }

    /// Does what a key asked for.
    fn perform(&mut self, action: Action, now: Now<'_>) -> Vec<Effect> {
        if let Some(overlay) = self.dialogs.get_mut() {
            let cx = self.scene.cx(now.view, Keys::Elsewhere);
            return overlay.on_action(action, &cx);
        }
        let action = match self.focus.kind().takes(action) {
            Ok(action) => action,
            Err(why) => return Effect::refuse(why),
        };
        match action.home() {
            KeyContext::Global => self.act_globally(action, now),
            KeyContext::Composer => self.act_in_composer(action, now),
            KeyContext::Replay if action == Action::JumpTo && self.scene.mode == Mode::Replay => {
                let last = self.scene.timeline.map_or(Seq(0), |timeline| timeline.last);
                let jump = JumpTo::new(self.panes.recorded.clone(), last);
                vec![Effect::open(Overlay::JumpTo(jump))]
            }
            KeyContext::Replay => run::play(action, self.scene.mode),
            KeyContext::Question => run::look_into(now.view),
            _ => self.with_front(now, |pane, cx| pane.on_action(action, cx)),
        }
    }

    fn act_globally(&mut self, action: Action, now: Now<'_>) -> Vec<Effect> {
        let (front, mode) = (self.focus.front(), self.scene.mode);
        match action {
            Action::Help => {
                let first = self.contexts(now.view).first().copied().unwrap_or(KeyContext::Global);
                vec![Effect::open(Overlay::Help(HelpView::new(first)))]
            }
            // All of it is kept; there is nothing to ask.
            Action::Quit if self.focus.kind() == ScreenKind::Port => {
                vec![Effect::Command(UiCommand::Quit)]
            }
            Action::Quit => run::quit(mode, now.view),
            Action::Suspend => vec![Effect::Command(UiCommand::Suspend)],
            Action::ShowRun => vec![Effect::open(Overlay::Run(RunOverview::default()))],
            Action::ShowSources | Action::ShowPolicy | Action::ShowBlackboard => {
                run::show_team(action, now.view)
            }
            Action::Redraw => vec![Effect::Command(UiCommand::Redraw)],
            Action::FocusNext => vec![Effect::Focus(front.next())],
            Action::FocusPrevious => vec![Effect::Focus(front.previous())],
            Action::FocusProject => vec![Effect::Focus(PaneId::Project)],
            Action::FocusChat => vec![Effect::Focus(PaneId::Chat)],
            Action::FocusReview => vec![Effect::Focus(PaneId::Review)],
            Action::FocusLogs => vec![Effect::Focus(PaneId::Logs)],
            Action::Palette => vec![Effect::open(self.palette(now.view))],
            Action::ChooseTheme => {
                let list = ThemeList::new(self.scene.looks.names.clone(), &self.scene.looks.name);
                vec![Effect::open(Overlay::Themes(list))]
            }
            Action::ChooseModel => run::choose_model(&self.models, mode, now.view),
            Action::AnswerOption => run::answers(mode, now.view),
            Action::Compose => vec![Effect::Compose(String::new())],
            Action::Command => vec![Effect::Compose("/".to_owned())],
            Action::StopRun => vec![Effect::Compose("/stop".to_owned())],
            Action::TogglePause => run::toggle_pause(mode, now.view),
            _ => self.rearrange(action, now),
        }
    }

    /// Does what changes the places of panes; the pane that is turned to gets the rest.
    fn rearrange(&mut self, action: Action, now: Now<'_>) -> Vec<Effect> {
        match action {
            Action::Wider | Action::Narrower | Action::Taller | Action::Lower => self
                .areas
                .nudge(self.focus.front(), action)
                .map_or_else(Effect::refuse, |()| vec![]),
            Action::ResetLayout => {
                self.areas.sizes = Sizes::default();
                self.focus.unzoom();
                Effect::info("the panes have their default sizes again")
            }
            Action::Zoom => {
                self.focus.toggle_zoom();
                Vec::new()
            }
            Action::Back
                if self.focus.zoom().is_some() && self.focus.kind() == ScreenKind::Team =>
            {
                self.focus.unzoom();
                Vec::new()
            }
            Action::Back if self.focus.is_composing() => {
                self.focus.leave_composer();
                Vec::new()
            }
            other => self.with_front(now, |pane, cx| pane.on_action(other, cx)),
        }
    }

    fn palette(&self, view: &SessionView) -> Overlay {
        let chain = self.contexts(view);
        let writes = self.focus.is_composing();
        let (front, desk) = (self.focus.front(), self.focus.kind());
        let place = PaletteContext { front, desk, chain: &chain, writes };
        let cx = self.scene.cx(view, Keys::Elsewhere);
        let all = possible::entries(&place, |id| self.panes.pane(id), &cx);
        Overlay::Palette(PaletteView::new(all, &self.used))
    }

    fn act_in_composer(&mut self, action: Action, now: Now<'_>) -> Vec<Effect> {
        if action == Action::LeaveComposer {
            if !self.panes.composer.close_list() {
                self.focus.leave_composer();
            }
            return Vec::new();
        }
        let cx = self.scene.cx(now.view, Keys::Here);
        let effects = self.panes.composer.on_action(action, &cx);
        if action == Action::Send && self.panes.composer.is_empty() {
            self.focus.leave_composer();
        }
        effects
    }

    /// Lets the pane that is turned to do something.
    pub(super) fn with_front(
        &mut self,
        now: Now<'_>,
        run: impl FnOnce(&mut dyn Pane, &Cx<'_>) -> Vec<Effect>,
    ) -> Vec<Effect> {
        self.with_pane(self.focus.front(), now, run)
    }

    pub(super) fn with_pane(
        &mut self,
        id: PaneId,
        now: Now<'_>,
        run: impl FnOnce(&mut dyn Pane, &Cx<'_>) -> Vec<Effect>,
    ) -> Vec<Effect> {
        let cx = self.scene.cx(now.view, self.focus.keys_of(id, &self.dialogs));
        run(self.panes.pane_mut(id), &cx)
    }

    /// Makes effects happen; those for the program are left.
    pub(super) fn carry_out(&mut self, effects: Vec<Effect>, now: Now<'_>) -> Vec<UiCommand> {
        let mut commands = Vec::new();
        let mut todo: VecDeque<Effect> = effects.into();
        while let Some(effect) = todo.pop_front() {
            match effect {
                Effect::Command(command) => {
                    if let UiCommand::Intent(intent) = &command {
                        if is_message(intent) {
                            self.panes.chat.follow();
                        }
                        // What comes of a request is told there, and begins at once.
                        let begins = matches!(intent, Intent::StartRun { .. });
                        if begins && !self.areas.shows(PaneId::Chat) {
                            todo.push_back(Effect::Focus(PaneId::Chat));
                        }
                        let cx = self.scene.cx(now.view, Keys::Here);
                        todo.extend(self.panes.review.note_sent(intent, &cx));
                    }
                    commands.push(command);
                }
                Effect::Open(overlay) => self.dialogs.open(*overlay),
                Effect::Close => self.dialogs.close(),
                Effect::Focus(id) => self.focus.turn_to(id),
                Effect::Compose(_) if self.scene.mode == Mode::Replay => {
                    let text = "this is a replay: no agent reads messages";
                    self.notice.tell(Notice::error(text), now.at);
                }
                Effect::Compose(text) => {
                    self.focus.compose(now.at);
                    self.panes.composer.begin(&text);
                }
                Effect::Review(request) => {
                    todo.extend(self.panes.review.on_request(request, &now.view.review));
                }
                Effect::Act(action) => {
                    let used = self.used.entry(action.name().to_owned()).or_default();
                    *used = used.saturating_add(1);
                    todo.extend(self.act(action, None, now));
                }
                Effect::Preview(place) => self.preview(place, now.view),
                Effect::FilterTags(tags) => self.panes.logs.filter_tags(tags),
                Effect::Notice(notice) => self.notice.tell(notice, now.at),
            }
        }
        commands
    }

    /// Puts a task that could not start back into the field, and turns to the chat, which tells why.
    pub(super) fn give_back(&mut self, view: &SessionView) {
        if self.panes.composer.give_back(view) {
            self.panes.chat.follow();
            if !self.areas.shows(PaneId::Chat) {
                self.focus.call_to_chat();
            }
        }
    }

    /// Shows a file; in a replay as it was then, as far as the session kept it.
    fn preview(&mut self, place: FilePlace, view: &SessionView) {
        let kept = match self.scene.mode {
            Mode::Live => None,
            Mode::Replay => view.kept(&place.path),
        };
        let preview = Preview::file(place, kept, &self.panes.files);
        self.dialogs.open(Overlay::Preview(preview));
    }

    /// Closes a dialog about something that no longer waits as it was shown; what was typed is
    /// kept.
    pub(super) fn drop_stale_dialog(&mut self, view: &SessionView, now: Instant) {
        let Some(dropped) = self.dialogs.drop_stale(view) else { return };
        if let Some(keep) = dropped.keep {
            self.panes.review.on_request(keep, &view.review);
        }
        self.notice.tell(Notice::error(dropped.words), now);
    }

    /// Arranges, and brings every part that shows up to date.
    pub(super) fn refresh(&mut self, view: &SessionView, now: Instant) {
        if self.focus.is_composing() {
            let cx = self.scene.cx(view, Keys::Here);
            self.panes.composer.prepare(&cx);
        }
        let cx = self.scene.cx(view, self.focus.keys_of_composer(&self.dialogs));
        let rows = self.panes.bottom_rows(self.focus.kind(), self.areas.size, &cx);
        self.areas.arrange(&self.focus, rows, view);
        let size = self.areas.size;
        self.scene.build_errors = self.build_errors();
        self.panes.review.set_screen_width(size.width);
        self.dialogs.prepare(size);
        self.prepare_panes(view);
        if self.look_at_subject(view, now) {
            self.prepare_panes(view);
        }
    }

    fn build_errors(&self) -> BuildErrors {
        let logs = self.areas.layout.pane(PaneId::Logs);
        let has_rows = logs.is_some_and(|logs| logs.body.height >= LEAST_BUILD_ROWS);
        match has_rows && self.panes.logs.tab() == LogsTab::Build {
            true => BuildErrors::OnScreen,
            false => BuildErrors::Elsewhere,
        }
    }

    fn prepare_panes(&mut self, view: &SessionView) {
        self.panes.prepare(&self.areas, (&self.focus, &self.dialogs), &self.scene, view);
    }

    /// Takes note of what a deciding key is about; tells whether it counts otherwise than before.
    fn look_at_subject(&mut self, view: &SessionView, now: Instant) -> bool {
        let taken_back = self.deciding.look_at(self.subject(view), now);
        self.notice.tell_refusal(taken_back, now);
        let decides = self.deciding.decides(now);
        std::mem::replace(&mut self.scene.decides, decides) != decides
    }

    /// What a deciding key is about now, and whether lines of it have not been in sight.
    fn subject(&self, view: &SessionView) -> Option<(Subject, bool)> {
        if !self.areas.is_usable() || self.scene.mode == Mode::Replay {
            return None;
        }
        if let Some(overlay) = self.dialogs.get() {
            let number = self.dialogs.number()?;
            let is_looked_at = overlay.care() == Some(Care::Looked);
            return is_looked_at.then_some((Subject::Dialog(number), false));
        }
        match self.focus.front() {
            PaneId::Review if !self.focus.is_composing() => self.panes.review.subject(view),
            PaneId::Review | PaneId::Chat | PaneId::Project | PaneId::Logs => None,
        }
    }

    /// What was prepared last has been drawn since: it may count as seen.
    pub(super) fn was_shown(&mut self) {
        self.deciding.note_drawn(&self.dialogs, &self.areas, self.scene.clock.now);
        self.panes.was_shown(&self.areas, &self.dialogs);
    }

    /// When something of it changes although nothing happened.
    pub(super) fn next_wake(&self, view: &SessionView) -> Option<Instant> {
        let synced = self.scene.clock.now;
        let spinner = self.is_busy(view).then_some(synced + Clock::TICK);
        let waiting = self.counts_waiting(view).then_some(synced + Duration::from_secs(1));
        // By then what waits has been on screen, and can be decided.
        let ready =
            self.deciding.guard.ready_at().filter(|_| self.scene.decides == Decides::NotYet);
        let panes = self.panes.next_wake(&self.areas, &self.dialogs, view, synced);
        let own = [self.notice.until(), spinner, waiting, ready, self.deciding.settles_at()];
        own.into_iter().chain([panes, self.dialogs.next_wake(synced)]).flatten().min()
    }

    /// Whether something is under way that the person does not hold up.
    fn is_busy(&self, view: &SessionView) -> bool {
        let builds = view.logs.builds.last().is_some_and(|build| build.outcome.is_none());
        self.scene.mode == Mode::Live
            && matches!(view.head.state, RunState::Running | RunState::Stopping)
            && view.review.waiting.is_empty()
            && view.head.question.is_none()
            && (!view.head.speakers.is_empty() || builds)
    }

    /// Whether the time that the person is waited for is on screen.
    fn counts_waiting(&self, view: &SessionView) -> bool {
        let has_strip = !self.areas.layout.strip.is_empty();
        let shows = has_strip || matches!(self.dialogs.get(), Some(Overlay::Run(_)));
        let goes_on = self.scene.mode == Mode::Live && !view.head.state.is_over();
        shows && goes_on && view.work.is_waiting()
    }
}

/// Whether the person speaks to the team, so that what comes of it is to be seen.
const fn is_message(intent: &Intent) -> bool {
    matches!(intent, Intent::Say { .. } | Intent::StartRun { .. } | Intent::Answer { .. })
}
