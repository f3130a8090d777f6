//! The last row: which keys do what just now, or a word to the person.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use crate::view::RunState;

use super::action::{Action, KeyContext};
use super::dialogs::Dialogs;
use super::focus::Focus;
use super::key::{Key, KeySequence};
use super::keymap::{Keymap, Lookup};
use super::layout::PaneId;
use super::line;
use super::overlay::Overlay;
use super::pane::{Cx, Keys, Mode, Notice};
use super::pane_set::Panes;
use super::possible::{self, PaletteContext};
use super::role::Role;

/// What the row is about.
#[derive(Clone, Copy)]
pub(super) struct HintLine<'a> {
    pub panes: &'a Panes,
    pub focus: &'a Focus,
    pub dialogs: &'a Dialogs,
    pub notice: Option<&'a Notice>,
}

impl HintLine<'_> {
    /// Draws the row.
    pub(super) fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        buf.set_style(area, cx.style(Role::Text));
        if let Some(notice) = self.notice {
            let text = line::cut(&notice.text, usize::from(area.width.saturating_sub(2)));
            let style = cx.style(notice.role);
            buf.set_style(area, style);
            line::draw(&Line::styled(text, style), inside, buf);
            return;
        }
        let chain = self.contexts(cx);
        if !self.focus.pending().is_empty() {
            draw_which_key(self.focus.pending(), &chain, inside, buf, cx);
            return;
        }
        let help = self.first_key(&chain, Action::Help, cx).map_or_else(Line::default, |key| {
            Line::from(vec![cx.span(key, Role::Key), cx.span(" help", Role::KeyHelp)])
        });
        let mut space = usize::from(inside.width).saturating_sub(help.width() + 3);
        let mut spans: Vec<Span<'static>> = Vec::new();
        for action in self.actions(cx) {
            let Some(key) = self.first_key(&chain, action, cx) else { continue };
            let words = match (action, self.dialogs.get()) {
                (Action::Accept, Some(Overlay::Sources(_))) => "unfold or fold",
                _ => words_of(action, cx),
            };
            let width = line::width(&key) + 1 + line::width(words);
            let gap = if spans.is_empty() { 0 } else { 3 };
            if width + gap > space {
                break;
            }
            space -= width + gap;
            if gap > 0 {
                spans.push(Span::raw("   "));
            }
            spans.push(cx.span(key, Role::Key));
            spans.push(cx.span(format!(" {words}"), Role::KeyHelp));
        }
        line::draw_split(&Line::from(spans), &help, inside, buf);
    }

    /// The contexts that hold, the most special one first.
    fn contexts(&self, cx: &Cx<'_>) -> Vec<KeyContext> {
        self.focus.contexts(self.dialogs, &self.panes.review, cx.mode, cx.view)
    }

    fn first_key(&self, chain: &[KeyContext], action: Action, cx: &Cx<'_>) -> Option<String> {
        let writes = self.focus.keys_of_composer(self.dialogs) == Keys::Here;
        // While a message is written, keys that are text only have a meaning of the composer's own.
        let works = |keys: &&KeySequence| {
            let is_text = keys.keys().first().is_some_and(|key| key.is_text());
            !writes || !is_text || action.home() == KeyContext::Composer
        };
        cx.keymap.keys_of(chain, action).into_iter().find(works).map(ToString::to_string)
    }

    fn actions(&self, cx: &Cx<'_>) -> Vec<Action> {
        if let Some(overlay) = self.dialogs.get() {
            return of_dialog(overlay, cx);
        }
        if self.focus.is_composing() {
            let completes = self.panes.composer.has_list().then_some(Action::Complete);
            let mut actions = vec![Action::Send, Action::Newline];
            actions.extend(completes);
            actions.extend([Action::HistoryPrevious, Action::LeaveComposer]);
            return actions;
        }
        let mut actions = Vec::new();
        let is_over = matches!(cx.view.head.state, RunState::Ended(_)) && cx.mode == Mode::Live;
        if is_over {
            actions.push(Action::Compose);
        }
        if cx.view.head.state == RunState::Paused && cx.mode == Mode::Live {
            actions.push(Action::TogglePause);
        }
        if cx.view.head.question.is_some() && cx.mode == Mode::Live {
            actions.push(Action::AnswerOption);
        }
        if self.contexts(cx).contains(&KeyContext::Question) {
            actions.extend(cx.view.pending_list().map(|_| Action::LookInto));
        }
        if self.focus.front() != PaneId::Review && !cx.view.review.waiting.is_empty() {
            // What waits is decided there, and by no key here.
            actions.push(Action::FocusReview);
        }
        let is_replay = self.contexts(cx).contains(&KeyContext::Replay);
        // What a replay is for comes before what a pane can do.
        actions.extend(is_replay.then_some(Action::PlayPause));
        actions.extend(self.panes.pane(self.focus.front()).hints(cx));
        if is_replay {
            actions.extend([Action::JumpTo, Action::StepForward, Action::StepBack]);
        } else if !cx.view.head.state.is_over() && cx.view.head.state != RunState::Stopping {
            actions.push(Action::Compose);
            let is_offered = actions.contains(&Action::TogglePause);
            actions.extend((!is_offered).then_some(Action::TogglePause));
        }
        actions.extend([Action::FocusNext, Action::Zoom, Action::Quit]);
        let chain = self.contexts(cx);
        let (front, desk) = (self.focus.front(), self.focus.kind());
        let place = PaletteContext { front, desk, chain: &chain, writes: false };
        let is_useful = |action: &Action| {
            desk.takes(*action) == Ok(*action)
            // What decides is offered by the pane that shows what is decided.
            && (action.is_decision() || possible::why_not(*action, &place, cx).is_none())
            && self.panes.pane(front).why_not(*action, cx).is_none()
        };
        actions.retain(is_useful);
        actions
    }
}

fn words_of(action: Action, cx: &Cx<'_>) -> &'static str {
    match (action, &cx.view.head.state) {
        (Action::TogglePause, RunState::Paused) => "go on",
        _ => action.hint(),
    }
}

/// What the keys of a dialog do; the others name their keys themselves.
fn of_dialog(overlay: &Overlay, cx: &Cx<'_>) -> Vec<Action> {
    match overlay {
        Overlay::Sources(_) => {
            let mut actions = vec![Action::Accept, Action::EditFile];
            if cx.mode == Mode::Live {
                actions.extend([Action::PinSource, Action::MuteSource]);
            }
            actions.push(Action::Cancel);
            actions
        }
        Overlay::Reverty(_) => vec![Action::Down, Action::Right, Action::Cancel],
        Overlay::Preview(_) => vec![Action::Down, Action::EditFile, Action::Cancel],
        _ => Vec::new(),
    }
}

/// Columns of one key that may follow, with what it does.
const NEXT_KEY: usize = 26;

/// What may follow the keys pressed so far: in the row if there is room, else in a list over it.
fn draw_which_key(
    pending: &[Key],
    chain: &[KeyContext],
    inside: Rect,
    buf: &mut Buffer,
    cx: &Cx<'_>,
) {
    let pressed: Vec<String> = pending.iter().map(ToString::to_string).collect();
    let lead = cx.span(format!("{} …", pressed.join(" ")), Role::Key);
    let Lookup::Prefix(next) = cx.keymap.look_up(chain, pending) else { return };
    let part = |(key, action): &(Key, Action)| {
        let key = cx.span(format!("{key}"), Role::Key);
        [key, cx.span(format!(" {}", action.hint()), Role::KeyHelp)]
    };
    let mut spans = vec![lead.clone()];
    for next in &next {
        spans.push(Span::raw("   "));
        spans.extend(part(next));
    }
    let row = Line::from(spans);
    if row.width() <= usize::from(inside.width) {
        line::draw(&row, inside, buf);
        return;
    }
    line::draw(&Line::from(lead), inside, buf);
    let columns = (usize::from(inside.width) / NEXT_KEY).max(1);
    let rows = next.len().div_ceil(columns);
    let Ok(height) = u16::try_from(rows) else { return };
    let y = inside.y.saturating_sub(height + 1);
    let list = Rect { x: inside.x - 1, y, width: inside.width + 2, height: height + 1 };
    Clear.render(list, buf);
    buf.set_style(list, cx.style(Role::Text));
    cx.span("─".repeat(usize::from(list.width)), Role::BorderFocus).render(list, buf);
    for (place, next) in next.iter().enumerate() {
        let (column, row) = (place / rows, place % rows);
        let x = inside.x + u16::try_from(column * NEXT_KEY).unwrap_or(0);
        let y = y + 1 + u16::try_from(row).unwrap_or(0);
        let width = u16::try_from(NEXT_KEY - 2).unwrap_or(24).min(inside.right().saturating_sub(x));
        line::draw(&Line::from(part(next).to_vec()), Rect { x, y, width, height: 1 }, buf);
    }
}

/// What keys without a meaning get: their own names, and the key that explains the others.
pub(super) fn unbound(pressed: &[Key], chain: &[KeyContext], keymap: &Keymap) -> String {
    let keys: Vec<String> = pressed.iter().map(ToString::to_string).collect();
    let keys = keys.join(" ");
    let pressed = KeySequence::parse(&keys).map_or(keys, |keys| keys.to_string());
    let help = keymap.key_of(chain, Action::Help);
    let help = help.map_or(String::new(), |key| format!(" · {key} help"));
    format!("`{pressed}` does nothing here{help}")
}
