//! What every key does, made from the keymap and the table of actions.

use std::cell::Cell;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

use crate::ui::action::{Action, KeyContext};
use crate::ui::key::KeySequence;
use crate::ui::keymap::Keymap;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, Mode};
use crate::ui::panes::{timeline_signs, wrap_words};
use crate::ui::role::Role;

use super::search_field::SearchField;

/// The help, scrolled to some line.
#[derive(Debug)]
pub struct HelpView {
    /// The context whose keys come first.
    first: KeyContext,
    top: usize,
    search: Option<HelpSearch>,
    /// The columns that the frame had when it was drawn last.
    columns: Cell<u16>,
}

/// What is searched for.
#[derive(Debug, Default)]
struct HelpSearch {
    field: SearchField,
    typing: bool,
}

/// Columns of the frame where there is room.
const MOST_COLUMNS: u16 = 92;

/// Columns of the keys, with the space around them.
const KEY_COLUMNS: usize = 24;

/// Rows that a page holds, as far as scrolling is concerned.
const PAGE: usize = 10;

impl HelpView {
    /// The help with the keys of one context first.
    #[must_use]
    pub const fn new(first: KeyContext) -> Self {
        Self { first, top: 0, search: None, columns: Cell::new(MOST_COLUMNS) }
    }

    /// Whether keys go to the search.
    pub(super) fn is_searching(&self) -> bool {
        self.search.as_ref().is_some_and(|search| search.typing)
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        match key.code {
            KeyCode::Up => self.top = self.top.saturating_sub(1),
            KeyCode::Down => self.top += 1,
            _ => {
                if self.search.as_mut().is_some_and(|search| search.field.on_key(key)) {
                    self.top = 0;
                }
            }
        }
    }

    pub(super) fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let last = self.rows(cx).len().saturating_sub(PAGE);
        self.top = match action {
            Action::Up => self.top.saturating_sub(1),
            Action::Down => self.top + 1,
            Action::PageUp => self.top.saturating_sub(PAGE),
            Action::PageDown => self.top + PAGE,
            Action::Top => 0,
            Action::Bottom => last,
            Action::Find => {
                self.search.get_or_insert_default().typing = true;
                0
            }
            Action::Accept if self.is_searching() => {
                self.search.iter_mut().for_each(|search| search.typing = false);
                self.top
            }
            Action::Cancel if self.search.is_some() => {
                self.search = None;
                0
            }
            _ => return vec![Effect::Close],
        }
        .min(last);
        Vec::new()
    }

    fn contexts(&self, mode: Mode) -> Vec<KeyContext> {
        let belongs = |context: &KeyContext| match context {
            KeyContext::Replay => mode == Mode::Replay,
            KeyContext::Composer | KeyContext::Question | KeyContext::Select => mode == Mode::Live,
            _ => true,
        };
        let mut contexts: Vec<KeyContext> = KeyContext::ALL.into_iter().filter(belongs).collect();
        // What a replay has of its own comes right after.
        contexts.sort_by_key(|context| (*context != self.first, *context != KeyContext::Replay));
        contexts
    }

    fn rows(&self, cx: &Cx<'_>) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        let query = self.search.as_ref().map_or("", |search| search.field.text()).to_lowercase();
        for context in self.contexts(cx.mode) {
            let mut bindings = cx.keymap.bindings(context);
            bindings.retain(|(action, keys)| {
                let keys = keys.iter().map(|keys| keys.to_string().to_lowercase());
                let words = [action.help(), action.name(), context.title()].map(str::to_lowercase);
                let is_found = |text: &String| query.split(' ').all(|word| text.contains(word));
                is_found(&words.join(" ")) || keys.into_iter().any(|keys| keys == query)
            });
            if bindings.is_empty() {
                continue;
            }
            if !rows.is_empty() {
                rows.push(Line::default());
            }
            let heading = cx.style(Role::Dialog).add_modifier(Modifier::BOLD);
            rows.push(Line::styled(context.title(), heading));
            rows.extend(bindings.iter().flat_map(|(action, keys)| {
                let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
                self.binding(action.help(), &keys.join("  "), cx)
            }));
            if context == KeyContext::Replay && query.is_empty() {
                rows.push(Line::default());
                rows.push(Line::styled("Signs on the timeline", heading));
                rows.extend(timeline_signs().flat_map(|(sign, help)| self.binding(help, sign, cx)));
            }
        }
        rows
    }

    /// A key and what it does, in as many rows as the frame needs.
    fn binding(&self, help: &str, keys: &str, cx: &Cx<'_>) -> Vec<Line<'static>> {
        let columns = usize::from(self.columns.get()).saturating_sub(KEY_COLUMNS);
        let texts = wrap_words(help, columns).into_iter().enumerate();
        texts
            .map(|(at, text)| {
                let keys = if at == 0 { line::cut(keys, KEY_COLUMNS - 3) } else { String::new() };
                Line::from(vec![
                    cx.span(format!("  {keys:<width$}", width = KEY_COLUMNS - 2), Role::Dialog),
                    cx.span(text, Role::DialogDim),
                ])
            })
            .collect()
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let keys = match &self.search {
            None => " ↑↓ scroll · / search · esc closes ",
            Some(HelpSearch { typing: true, .. }) => " enter keeps the search · esc ends it ",
            Some(HelpSearch { typing: false, .. }) => " ↑↓ scroll · esc ends the search ",
        };
        self.columns.set(MOST_COLUMNS.min(screen.width.saturating_sub(6)));
        let rows = self.rows(cx);
        // The frame keeps its size while the search finds less and less.
        let wanted = if self.search.is_some() { u16::MAX } else { super::rows_for(rows.len()) };
        let height = wanted.min(screen.height.saturating_sub(6));
        let mut inside = super::frame("Help", keys, (MOST_COLUMNS, height), screen, buf, cx);
        if let Some(search) = &self.search {
            let row = Rect { height: inside.height.min(1), ..inside };
            search.field.draw("words or a key", row, buf, cx);
            inside.y += row.height;
            inside.height -= row.height;
            if rows.is_empty() {
                let text = cx.line("no key matches", Role::DialogDim);
                line::draw(&text, inside, buf);
            }
        }
        let top = self.top.min(rows.len().saturating_sub(usize::from(inside.height)));
        for (text, row) in rows.iter().skip(top).zip(inside.rows()) {
            line::draw(text, row, buf);
        }
    }
}

/// A key table in Markdown, for the documentation.
#[must_use]
pub fn key_table(keymap: &Keymap) -> String {
    let mut out = String::new();
    for context in KeyContext::ALL {
        let bindings = keymap.bindings(context);
        if bindings.is_empty() {
            continue;
        }
        out.push_str(&format!("## {}\n\n| Key | Action | |\n|---|---|---|\n", context.title()));
        for (action, keys) in bindings {
            let shown = |keys: &&KeySequence| format!("`{}`", keys.to_string().replace('|', "\\|"));
            let keys = keys.iter().map(shown).collect::<Vec<_>>().join(" ");
            out.push_str(&format!("| {keys} | `{}` | {} |\n", action.name(), action.help()));
        }
        out.push('\n');
    }
    out
}
