//! The screen: a function of the session view and the state of the person's eyes and hands.
//!
//! Must not know the engine, read files or start processes.

pub mod action;
mod agents;
mod areas;
pub mod arrangement;
mod attention;
mod clock;
pub mod colour;
mod data_file;
mod deciding;
mod dialogs;
mod draw;
mod file_glance;
mod focus;
mod follow_up;
mod fuzzy;
pub mod guard;
mod header;
mod hints;
pub mod input_line;
mod job;
pub mod key;
pub mod keymap;
pub mod layout;
pub mod line;
mod looks;
pub mod markdown;
mod mouse;
mod notice_line;
pub mod overlay;
pub mod pane;
mod pane_set;
pub mod panes;
pub mod pointer;
pub mod ports;
mod possible;
mod resize;
pub mod role;
mod run;
mod scene;
pub mod schema;
mod screen_kind;
pub mod scroll;
pub mod search;
mod setup;
pub mod sizes;
pub mod start;
mod start_facts;
mod start_rows;
mod start_sessions;
mod start_task;
mod start_window;
mod strip;
pub mod theme;
pub mod trust_dialog;
mod workbench;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, MouseEvent, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Size;

use crate::model::{Examiner, TeamOffers, TimelineCommand, TimelineView, UserError};
use crate::text::esp_log::TagFilter;
use crate::view::{Mark, SessionView};

pub use arrangement::Arrangement;
pub use colour::Depth;
pub use keymap::Keymap;
pub use looks::{ThemeChoice, ThemeState};
pub use overlay::{FileContents, ModelOffer};
pub use pane::{FilePlace, Mode, OutsideEdit, PassagePlace, Saved, UiCommand};
pub use run::BROKE_OFF;
pub use setup::UiSetup;
pub use theme::Theme;

use action::{Action, KeyContext};
use follow_up::FollowUp;
use key::Key;
use keymap::Lookup;
use mouse::Mouse;
use overlay::Overlay;
use pane::{Effect, Notice};
use panes::LogsTab;
use pointer::{Pointed, WheelTurn};
use screen_kind::ScreenKind;
use workbench::{Now, Workbench};

/// Rows that one notch of the wheel scrolls.
const WHEEL_ROWS: usize = 3;

/// The screen: passes on what the terminal and the session bring.
pub struct Ui {
    bench: Workbench,
    mouse: Mouse,
    follow_up: FollowUp,
    /// Whether what was prepared last has been drawn since.
    drawn: Cell<bool>,
}

impl Ui {
    /// A screen for one session; nothing is drawn yet.
    #[must_use]
    pub fn new(setup: UiSetup) -> Self {
        Self {
            bench: Workbench::new(setup),
            mouse: Mouse::default(),
            follow_up: FollowUp::default(),
            drawn: Cell::new(false),
        }
    }

    /// How the person leaves things, to be remembered for the project.
    #[must_use]
    pub fn arrangement(&self) -> Arrangement {
        self.bench.arrangement()
    }

    /// Another look from now on; `ThemeChoice` ones are remembered.
    pub fn set_theme(&mut self, theme: Theme, name: &str, chosen: ThemeChoice) {
        self.bench.scene.looks.theme = theme;
        name.clone_into(&mut self.bench.scene.looks.name);
        if chosen == ThemeChoice::Yes {
            self.bench.theme = Some(name.to_owned());
        }
    }

    /// Names of all themes, which may have become others.
    pub fn set_theme_names(&mut self, names: Vec<String>) {
        self.bench.scene.looks.names = names;
    }

    /// Name of the theme in use.
    #[must_use]
    pub fn theme_name(&self) -> &str {
        &self.bench.scene.looks.name
    }

    /// What to call out to a person who looks elsewhere; once each.
    pub fn take_call(&mut self) -> Option<String> {
        self.follow_up.attention.take()
    }

    /// What the terminal's own title may say, safe to print.
    #[must_use]
    pub fn terminal_title(&self, view: &SessionView) -> String {
        header::terminal_title(view, &self.bench.scene.title, self.bench.scene.mode)
    }

    /// Calls the session by the name that the person gave it.
    pub fn set_title(&mut self, title: String) {
        self.bench.scene.title = title;
    }

    /// Turns to the output of ports, on the whole screen; there is nothing else.
    pub fn show_serial(&mut self) {
        self.bench.panes.logs.show(LogsTab::Serial);
        self.bench.focus.be_monitor();
    }

    /// Shows only what `tags` lets through of what ports print.
    pub fn filter_tags(&mut self, tags: TagFilter) {
        self.bench.panes.logs.filter_tags(tags);
    }

    /// Has what the person writes instead of a proposed text looked at by `examiner`.
    pub fn examine_by(&mut self, examiner: Arc<dyn Examiner>) {
        self.bench.panes.review.examine_by(examiner);
    }

    /// Lets the person choose the team of the next run among those that `teams` knows.
    pub fn choose_teams_from(&mut self, teams: Arc<dyn TeamOffers>) {
        self.bench.panes.composer.choose_teams_from(teams);
    }

    /// Says that a wish could not be passed on, and why.
    pub fn refuse(&mut self, why: &str, now: Instant) {
        self.bench.notice.tell(Notice::error(why), now);
    }

    /// Takes over the moments of the whole session, which a replay's timeline marks.
    pub fn set_marks(&mut self, marks: &[Mark]) {
        self.bench.panes.timeline.set_marks(marks.to_vec());
    }

    /// Tells the person what came of something that was done besides.
    pub fn tell_result(&mut self, done: Result<String, UserError>, now: Instant) {
        let notice = match done {
            Ok(text) => Notice::info(text),
            Err(error) => Notice::error(error.to_string()),
        };
        self.bench.notice.tell(notice, now);
    }

    /// Tells the person why a wish changed nothing in a replay.
    pub fn tell_unmoved(&mut self, command: TimelineCommand, now: Instant) {
        self.bench.notice.tell(Notice::info(run::unmoved(command)), now);
    }

    /// Takes note of what is new in the session. Call it after records were folded in, and
    /// whenever [`Ui::next_wake`] says so; then draw.
    pub fn sync(&mut self, view: &SessionView, timeline: Option<&TimelineView>, now: Instant) {
        self.note_shown();
        let bench = &mut self.bench;
        bench.scene.advance(view, timeline, now);
        let mode = bench.scene.mode;
        self.follow_up.follow(view, now, (&mut bench.focus, &bench.areas, mode));
        bench.drop_stale_dialog(view, now);
        bench.panes.composer.look_up_teams(view);
        bench.give_back(view);
        bench.notice.expire(now);
        if mode == Mode::Live {
            bench.notice.repeat_warning(view, &bench.areas, now);
        }
        self.refresh(view, now);
    }

    /// When it wants [`Ui::sync`] and a new frame although nothing happened; `None`: never. The
    /// moment may have passed already.
    #[must_use]
    pub fn next_wake(&self, view: &SessionView, _now: Instant) -> Option<Instant> {
        let Workbench { scene, focus, deciding, .. } = &self.bench;
        let is_due = scene.mode == Mode::Live && self.follow_up.is_due(view);
        let idle = focus.typed_until().filter(|_| is_due);
        let is_noted = self.drawn.get() && deciding.guard.waits_to_be_drawn();
        let noted = is_noted.then_some(scene.clock.now);
        [idle, noted, self.bench.next_wake(view)].into_iter().flatten().min()
    }

    /// Lets a deciding key take effect whose moment has come, and goes where a search was to lead that
    /// took its time. Call it when [`Ui::next_wake`] says
    /// so and no event waits to be dealt with: an event that waits may be the rest of pasted text.
    pub fn settle(&mut self, view: &SessionView, now: Instant) -> Vec<UiCommand> {
        let mut commands = self.bench.go_on(Now { view, at: now });
        if self.bench.deciding.settles_at().is_none_or(|due| now < due) {
            return commands;
        }
        self.note_shown();
        self.bench.scene.clock.now = now;
        commands.extend(self.bench.settle(Now { view, at: now }));
        self.refresh(view, now);
        commands
    }

    /// Takes back what came of [`UiCommand::EditOutside`].
    pub fn edited(
        &mut self,
        edit: &OutsideEdit,
        result: Result<String, String>,
        view: &SessionView,
        now: Instant,
    ) -> Vec<UiCommand> {
        self.bench.scene.clock.now = now;
        let effects = match result {
            Ok(text) => self.bench.panes.review.edited(edit.shown, text, &view.review),
            Err(why) => Effect::refuse(why),
        };
        let commands = self.bench.carry_out(effects, Now { view, at: now });
        self.refresh(view, now);
        commands
    }

    /// Draws the session. Nothing but the note that something was drawn changes.
    pub fn draw(&self, frame: &mut Frame<'_>, view: &SessionView) {
        let area = frame.area();
        let picture = self.bench.picture(self.mouse.selection);
        if area.as_size() != self.bench.areas.size {
            // The size has just changed; the event that says so is on its way.
            picture.clear(area, frame.buffer_mut());
            return;
        }
        picture.draw(area, frame.buffer_mut(), view);
        self.drawn.set(true);
    }

    /// Deals with one event of the terminal; draw afterwards. Events that came in one batch are
    /// best given one by one with the time they were read.
    pub fn on_event(&mut self, event: &Event, view: &SessionView, now: Instant) -> Vec<UiCommand> {
        self.note_shown();
        self.bench.scene.clock.now = now;
        let now = Now { view, at: now };
        let effects = match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => return Vec::new(),
            Event::Key(key) => self.on_key(key, now),
            Event::Paste(text) => self.on_paste(text, now),
            Event::Mouse(mouse) => self.on_mouse(*mouse, now),
            Event::Resize(width, height) => {
                self.bench.areas.size = Size { width: *width, height: *height };
                Vec::new()
            }
            // A key that was meant for another window must not decide here.
            Event::FocusGained => {
                self.bench.deciding.guard.begin(now.at);
                self.follow_up.attention.came();
                Vec::new()
            }
            Event::FocusLost => {
                self.follow_up.attention.focus_lost();
                Vec::new()
            }
        };
        let commands = self.bench.carry_out(effects, now);
        self.refresh(view, now.at);
        commands
    }

    fn on_key(&mut self, event: &KeyEvent, now: Now<'_>) -> Vec<Effect> {
        let bench = &mut self.bench;
        bench.deciding.guard.watch(event, now.at);
        // Who presses a key is here, whatever the terminal said.
        self.follow_up.attention.came();
        // Why keys do not count stays to be read while they are typed.
        let is_explained = bench.has_refusal_notice();
        if !is_explained {
            bench.notice.clear();
        }
        let overtaken = bench.deciding.overtake();
        bench.notice.tell_refusal(overtaken, now.at);
        self.mouse.selection = None;
        let key = Key::of(event);
        if !bench.areas.is_usable() {
            return self.on_key_too_small(key, now);
        }
        if let Some(overlay) = bench.dialogs.text_field(key, &bench.scene.keymap) {
            overlay.on_text(event);
            return Vec::new();
        }
        bench.dialogs.make_way(key, &bench.scene.keymap);
        let writes = !bench.dialogs.is_open() && bench.focus.is_composing();
        if writes {
            bench.focus.note_typed(now.at);
            let own = bench.scene.keymap.look_up(&[KeyContext::Composer], &[key]);
            if key.is_text() && own == Lookup::Unbound {
                bench.panes.composer.on_text(event);
                return Vec::new();
            }
        } else if !bench.dialogs.is_open()
            && bench.front_takes_text()
            && (key.is_text() || matches!(event.code, KeyCode::Enter | KeyCode::Esc))
        {
            return bench.with_front(now, |pane, cx| pane.on_text(event, cx));
        }
        if bench.deciding.guard.is_rest_of_paste() {
            return Vec::new();
        }
        bench.focus.push(key);
        let chain = bench.contexts(now.view);
        match bench.scene.keymap.look_up(&chain, bench.focus.pending()) {
            Lookup::Action(action) => {
                bench.focus.take_pending();
                bench.act(action, Some(key), now)
            }
            Lookup::Prefix(_) => Vec::new(),
            Lookup::Unbound => {
                let pressed = bench.focus.take_pending();
                if writes {
                    bench.panes.composer.on_text(event);
                }
                if writes || is_explained {
                    return Vec::new();
                }
                Effect::refuse(hints::unbound(&pressed, &chain, &bench.scene.keymap))
            }
        }
    }

    /// With too little space nothing can be seen, so nothing but leaving can be done.
    fn on_key_too_small(&mut self, key: Key, now: Now<'_>) -> Vec<Effect> {
        match self.bench.scene.keymap.look_up(&[KeyContext::Global], &[key]) {
            Lookup::Action(action @ (Action::Quit | Action::Suspend | Action::Redraw)) => {
                self.bench.act(action, Some(key), now)
            }
            Lookup::Action(_) | Lookup::Prefix(_) | Lookup::Unbound => Vec::new(),
        }
    }

    /// Pasted text goes into a text field and nowhere else.
    fn on_paste(&mut self, text: &str, now: Now<'_>) -> Vec<Effect> {
        let bench = &mut self.bench;
        bench.focus.take_pending();
        let overtaken = bench.deciding.pasted(now.at);
        bench.notice.tell_refusal(overtaken, now.at);
        if let Some(overlay) = bench.dialogs.get_mut() {
            if overlay.on_paste(text) {
                return Vec::new();
            }
            return Effect::refuse("this dialog does not accept pasted text");
        }
        if !bench.focus.is_composing() && bench.front_takes_text() {
            return bench.with_front(now, |pane, cx| pane.on_paste(text, cx));
        }
        if bench.scene.mode == Mode::Replay {
            return Effect::refuse("this is a replay: no agent reads messages");
        }
        if bench.focus.kind() == ScreenKind::Port {
            let key = bench.scene.keymap.key_of(&[KeyContext::Logs], Action::SerialSend);
            let key = key.unwrap_or_else(|| "no key".to_owned());
            return Effect::refuse(format!("nothing was sent; `{key}` writes a line to the board"));
        }
        bench.focus.note_typed(now.at);
        let mut effects = vec![Effect::Compose(String::new())];
        bench.panes.composer.on_paste(text);
        effects.extend(Effect::info("pasted into the message; nothing was sent"));
        effects
    }

    fn on_mouse(&mut self, mouse: MouseEvent, now: Now<'_>) -> Vec<Effect> {
        let bench = &mut self.bench;
        if bench.dialogs.is_open() || !bench.areas.is_usable() {
            return match (mouse.kind, bench.areas.is_usable()) {
                (MouseEventKind::ScrollUp, true) => bench.act(Action::Up, None, now),
                (MouseEventKind::ScrollDown, true) => bench.act(Action::Down, None, now),
                _ => Vec::new(),
            };
        }
        let Some(pointed) = self.mouse.on(mouse, &bench.areas) else { return Vec::new() };
        match pointed {
            Pointed::Wheel(Some(id), turn) => {
                let action = match turn {
                    WheelTurn::Up => Action::Up,
                    WheelTurn::Down => Action::Down,
                };
                bench.with_pane(id, now, |pane, cx| {
                    for _ in 0..WHEEL_ROWS {
                        pane.on_action(action, cx);
                    }
                    Vec::new()
                })
            }
            Pointed::Wheel(None, _) | Pointed::Select(_) => Vec::new(),
            Pointed::Title(id, column) => {
                let clicked = bench.with_pane(id, now, |pane, cx| pane.on_title_click(column, cx));
                std::iter::once(Effect::Focus(id)).chain(clicked).collect()
            }
            Pointed::Body(id, inside) => {
                let clicked = bench.with_pane(id, now, |pane, cx| pane.on_click(inside, cx));
                std::iter::once(Effect::Focus(id)).chain(clicked).collect()
            }
            Pointed::Bottom(_) if bench.scene.mode == Mode::Live => {
                vec![Effect::Compose(String::new())]
            }
            Pointed::Bottom(at) => {
                let area = bench.areas.layout.bottom;
                let place = bench.scene.timeline.as_ref();
                bench.panes.timeline.on_click(at, area.as_size(), place)
            }
            Pointed::Resize(sizes) => {
                bench.areas.sizes = sizes;
                Vec::new()
            }
            // The marks themselves are no text.
            Pointed::Copy(marked) => mouse::copy(bench.picture(None).text_of(marked, now.view)),
        }
    }

    /// Opens the answers to a question once, by itself, when nothing else has the keys; whoever
    /// writes a message answers with it. Then brings everything up to date.
    fn refresh(&mut self, view: &SessionView, now: Instant) {
        if self.bench.is_free(view)
            && let Some(answers) = self.follow_up.new_answers(view)
        {
            self.bench.focus.take_pending();
            self.bench.dialogs.open(Overlay::Question(answers));
        }
        self.bench.refresh(view, now);
    }

    /// What was prepared last has been drawn since.
    fn note_shown(&mut self) {
        if self.drawn.replace(false) {
            self.bench.was_shown();
        }
    }
}

#[cfg(test)]
mod fixture;

#[cfg(test)]
#[path = "ui_tests.rs"]
mod tests;

#[cfg(test)]
mod composer_tests;

#[cfg(test)]
mod sources_tests;

#[cfg(test)]
#[path = "shell_tests.rs"]
mod shell_tests;

#[cfg(test)]
#[path = "broken_off_tests.rs"]
mod broken_off_tests;

#[cfg(test)]
#[path = "question_tests.rs"]
mod question_tests;
#[cfg(test)]
#[path = "serial_tests.rs"]
mod serial_tests;

#[cfg(test)]
mod replay_tests;
#[cfg(test)]
mod trial_tests;
#[cfg(test)]
mod useful_tests;
