//! Keys and pasted text: what the person does becomes actions, and those commands.

use std::time::Instant;

use crossterm::event::{Event, KeyEvent, KeyEventKind};
use ratatui::layout::Size;

use crate::view::SessionView;

use super::action::{Action, KeyContext};
use super::guard::KeyRefusal;
use super::key::Key;
use super::keymap::Lookup;
use super::layout::PaneId;
use super::overlay::{Overlay, Preview, TextKeys};
use super::pane::{Cx, Effect, Keys, Mode, Notice, Pane, TextMode, UiCommand};
use super::screen_kind::ScreenKind;
use super::{Composing, Ui, hints};

/// The session as it is while an event is dealt with.
#[derive(Clone, Copy)]
pub(super) struct Now<'a> {
    pub view: &'a SessionView,
    pub at: Instant,
}

impl Ui {
    /// Deals with one event of the terminal; draw afterwards. Events that came in one batch are
    /// best given one by one with the time they were read.
    pub fn on_event(&mut self, event: &Event, view: &SessionView, now: Instant) -> Vec<UiCommand> {
        self.note_shown();
        self.scene.clock.now = now;
        let now = Now { view, at: now };
        let effects = match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => return Vec::new(),
            Event::Key(key) => self.on_key(key, now),
            Event::Paste(text) => self.on_paste(text, now),
            Event::Mouse(mouse) => self.on_mouse(*mouse, now),
            Event::Resize(width, height) => {
                self.size = Size { width: *width, height: *height };
                Vec::new()
            }
            // A key that was meant for another window must not decide here.
            Event::FocusGained => {
                self.controls.deciding.guard.begin(now.at);
                self.controls.attention.came();
                Vec::new()
            }
            Event::FocusLost => {
                self.controls.attention.focus_lost();
                Vec::new()
            }
        };
        let commands = self.carry_out(effects, now);
        self.refresh(view, now.at);
        commands
    }

    /// The contexts that hold, the most special one first.
    pub(super) fn contexts(&self, view: &SessionView) -> Vec<KeyContext> {
        if self.controls.overlay.is_some() {
            return vec![KeyContext::Dialog];
        }
        if self.controls.composing == Composing::Yes {
            return vec![KeyContext::Composer, KeyContext::Global];
        }
        let mut chain = Vec::new();
        let has_options =
            view.head.question.as_ref().is_some_and(|question| !question.options.is_empty());
        if has_options && self.controls.front == PaneId::Chat && self.scene.mode == Mode::Live {
            chain.push(KeyContext::Question);
        }
        if self.controls.front == PaneId::Review && self.panes.review.is_picking() {
            chain.push(KeyContext::Select);
        }
        chain.push(match self.controls.front {
            PaneId::Project => KeyContext::Project,
            PaneId::Chat => KeyContext::Chat,
            PaneId::Review => KeyContext::Review,
            PaneId::Logs => KeyContext::Logs,
        });
        chain.push(KeyContext::Pane);
        if self.scene.mode == Mode::Replay {
            chain.push(KeyContext::Replay);
        }
        chain.push(KeyContext::Global);
        chain
    }

    fn on_key(&mut self, event: &KeyEvent, now: Now<'_>) -> Vec<Effect> {
        self.controls.deciding.guard.watch(event, now.at);
        // Who presses a key is here, whatever the terminal said.
        self.controls.attention.came();
        // Why keys do not count stays to be read while they are typed.
        let is_told = self.has_refusal_notice();
        if !is_told {
            self.controls.notice = None;
        }
        self.overtake(now.at);
        self.controls.screen.selection = None;
        let key = Key::of(event);
        if !self.is_usable() {
            return self.on_key_too_small(key, now);
        }
        if self.is_text_for_overlay(key)
            && let Some(overlay) = &mut self.controls.overlay
        {
            overlay.on_text(event);
            return Vec::new();
        }
        // Answers that opened by themselves stand in nobody's way.
        let is_answers = matches!(self.controls.overlay, Some(Overlay::Question(_)));
        if is_answers && !self.is_bound_in(KeyContext::Dialog, key) {
            self.controls.overlay = None;
        }
        let is_open = self.controls.overlay.is_some();
        if !is_open && self.controls.composing == Composing::Yes {
            self.controls.typed_at = Some(now.at);
            if key.is_text() && !self.is_bound_in(KeyContext::Composer, key) {
                self.panes.composer.on_text(event);
                return Vec::new();
            }
        } else if !is_open && self.pane(self.controls.front).text_mode() == TextMode::On {
            use crossterm::event::KeyCode;
            if key.is_text() || matches!(event.code, KeyCode::Enter | KeyCode::Esc) {
                return self.with_front(now, |pane, cx| pane.on_text(event, cx));
            }
        }
        if self.controls.deciding.guard.is_rest_of_paste() {
            return Vec::new();
        }
        self.controls.pending.push(key);
        let chain = self.contexts(now.view);
        match self.scene.keymap.look_up(&chain, &self.controls.pending) {
            Lookup::Action(action) => {
                self.controls.pending.clear();
                self.act(action, Some(key), now)
            }
            Lookup::Prefix(_) => Vec::new(),
            Lookup::Unbound => {
                let pressed = hints::words(&std::mem::take(&mut self.controls.pending));
                if !is_open && self.controls.composing == Composing::Yes {
                    self.panes.composer.on_text(event);
                    return Vec::new();
                }
                if is_told {
                    return Vec::new();
                }
                let help = self.scene.keymap.key_of(&chain, Action::Help);
                let help = help.map_or(String::new(), |key| format!(" · {key} help"));
                Effect::refuse(format!("`{pressed}` does nothing here{help}"))
            }
        }
    }

    /// Whether the dialog that is open takes this key as text.
    fn is_text_for_overlay(&self, key: Key) -> bool {
        let Some(overlay) = &self.controls.overlay else { return false };
        match overlay.text_keys() {
            TextKeys::None => false,
            TextKeys::Digits => key.digit().is_some(),
            TextKeys::Line => key.is_text(),
            TextKeys::Beside => key.is_text() && !key.is_vertical(),
            TextKeys::Page => {
                let found = self.scene.keymap.look_up(&[KeyContext::Dialog], &[key]);
                key.is_text()
                    || !matches!(found, Lookup::Action(Action::AcceptText | Action::Cancel))
            }
        }
    }

    /// With too little room nothing can be seen, so nothing but leaving can be done.
    fn on_key_too_small(&mut self, key: Key, now: Now<'_>) -> Vec<Effect> {
        match self.scene.keymap.look_up(&[KeyContext::Global], &[key]) {
            Lookup::Action(action @ (Action::Quit | Action::Suspend | Action::Redraw)) => {
                self.act(action, Some(key), now)
            }
            Lookup::Action(_) | Lookup::Prefix(_) | Lookup::Unbound => Vec::new(),
        }
    }

    fn is_bound_in(&self, context: KeyContext, key: Key) -> bool {
        self.scene.keymap.look_up(&[context], &[key]) != Lookup::Unbound
    }

    /// Lets the pane that is turned to do something.
    pub(super) fn with_front(
        &mut self,
        now: Now<'_>,
        run: impl FnOnce(&mut dyn Pane, &Cx<'_>) -> Vec<Effect>,
    ) -> Vec<Effect> {
        self.with_pane(self.controls.front, now, run)
    }

    pub(super) fn with_pane(
        &mut self,
        id: PaneId,
        now: Now<'_>,
        run: impl FnOnce(&mut dyn Pane, &Cx<'_>) -> Vec<Effect>,
    ) -> Vec<Effect> {
        let keys = self.keys_of(id);
        let cx = self.scene.cx(now.view, keys);
        let pane: &mut dyn Pane = match id {
            PaneId::Project => &mut self.panes.project,
            PaneId::Chat => &mut self.panes.chat,
            PaneId::Review => &mut self.panes.review,
            PaneId::Logs => &mut self.panes.logs,
        };
        run(pane, &cx)
    }

    /// Brings the list of completions up to date while a message is written.
    pub(super) fn prepare_composer(&mut self, view: &SessionView) {
        if self.controls.composing == Composing::Yes {
            let cx = self.scene.cx(view, Keys::Here);
            self.panes.composer.prepare(&cx);
        }
    }

    /// Pasted text goes into a text field and nowhere else.
    fn on_paste(&mut self, text: &str, now: Now<'_>) -> Vec<Effect> {
        self.controls.pending.clear();
        self.controls.deciding.guard.pasted(now.at);
        self.take_back(KeyRefusal::Pasted, now.at);
        if let Some(overlay) = &mut self.controls.overlay {
            if overlay.on_paste(text) {
                return Vec::new();
            }
            return Effect::refuse("this dialog does not accept pasted text");
        }
        if self.controls.composing == Composing::No
            && self.pane(self.controls.front).text_mode() == TextMode::On
        {
            return self.with_front(now, |pane, cx| pane.on_paste(text, cx));
        }
        if self.scene.mode == Mode::Replay {
            return Effect::refuse("this is a replay: no agent reads messages");
        }
        if self.controls.desk == ScreenKind::Port {
            let key = self.scene.keymap.key_of(&[KeyContext::Logs], Action::SerialSend);
            let key = key.unwrap_or_else(|| "no key".to_owned());
            return Effect::refuse(format!("nothing was sent; `{key}` writes a line to the board"));
        }
        self.controls.typed_at = Some(now.at);
        let mut effects = vec![Effect::Compose(String::new())];
        self.panes.composer.on_paste(text);
        effects.extend(Effect::info("pasted into the message; nothing was sent"));
        effects
    }

    /// Makes effects happen; those for the program are left.
    pub(super) fn carry_out(&mut self, effects: Vec<Effect>, now: Now<'_>) -> Vec<UiCommand> {
        let mut commands = Vec::new();
        let mut todo: std::collections::VecDeque<Effect> = effects.into();
        while let Some(effect) = todo.pop_front() {
            match effect {
                Effect::Command(command) => {
                    if let UiCommand::Intent(intent) = &command {
                        let cx = self.scene.cx(now.view, Keys::Here);
                        todo.extend(self.panes.review.note_sent(intent, &cx));
                    }
                    commands.push(command);
                }
                Effect::Open(overlay) => {
                    self.controls.deciding.dialogs += 1;
                    self.controls.overlay = Some(*overlay);
                }
                Effect::Close => self.controls.overlay = None,
                Effect::Focus(id) => {
                    self.controls.front = id;
                    self.controls.before = None;
                    self.controls.composing = Composing::No;
                }
                Effect::Compose(_) if self.scene.mode == Mode::Replay => {
                    let text = "this is a replay: no agent reads messages";
                    self.tell(Notice::error(text), now.at);
                }
                Effect::Compose(text) => {
                    self.controls.composing = Composing::Yes;
                    self.controls.typed_at = Some(now.at);
                    self.panes.composer.begin(&text);
                }
                Effect::Review(request) => {
                    todo.extend(self.panes.review.on_request(request, &now.view.review));
                }
                Effect::Act(action) => {
                    let used = &mut self.controls.screen.used;
                    let used = used.entry(action.name().to_owned()).or_default();
                    *used = used.saturating_add(1);
                    todo.extend(self.act(action, None, now));
                }
                Effect::Preview(place) => {
                    // In a replay a file is shown as it was then, as far as the session kept it.
                    let kept = match self.scene.mode {
                        Mode::Live => None,
                        Mode::Replay => now.view.kept(&place.path),
                    };
                    let preview = Preview::file(place, kept, &self.panes.files);
                    self.controls.overlay = Some(Overlay::Preview(preview));
                }
                Effect::FilterTags(tags) => self.panes.logs.filter_tags(tags),
                Effect::Notice(notice) => self.tell(notice, now.at),
            }
        }
        commands
    }
}
