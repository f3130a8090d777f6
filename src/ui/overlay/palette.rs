//! Every action by its words: those that can be done now, the ones that are used most first.
//!
//! Owns the choice only; what is chosen is done as if its key had been pressed.

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::ui::action::Action;
use crate::ui::layout::PaneId;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect};
use crate::ui::role::Role;

use super::pick;
use super::search_field::{SearchField, fuzzy};

/// One action of the list.
#[derive(Debug, Clone)]
pub struct PaletteEntry {
    pub action: Action,
    /// Its keys where it holds; may be empty.
    pub keys: String,
    /// The pane to turn to first, if it needs one; or why it cannot be done now.
    pub way: Result<Option<PaneId>, String>,
}

/// The list with what is searched for.
#[derive(Debug)]
pub struct PaletteView {
    /// What can be done.
    entries: Vec<PaletteEntry>,
    texts: Vec<String>,
    /// What cannot be done now; it is only named when nothing else is found.
    others: Vec<PaletteEntry>,
    field: SearchField,
    /// Places in `entries`, the best first.
    found: Vec<usize>,
    selected: usize,
}

/// How often each action was chosen in the palette, by name.
pub type PaletteUses = BTreeMap<String, u32>;

/// Rows of the list.
const ROWS: u16 = 14;

/// Letters from which on what is typed may name an action.
const LEAST_NAME: usize = 4;

/// Columns of an action's name.
const NAME: usize = 20;

impl PaletteView {
    /// The palette with nothing searched for; what was chosen most often comes first.
    #[must_use]
    pub fn new(all: Vec<PaletteEntry>, uses: &PaletteUses) -> Self {
        let (mut entries, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|entry| entry.way.is_ok());
        let used = |entry: &PaletteEntry| uses.get(entry.action.name()).copied().unwrap_or(0);
        entries.sort_by_key(|entry| std::cmp::Reverse(used(entry)));
        let texts = entries.iter().map(text).collect();
        let found = (0..entries.len()).collect();
        Self { entries, texts, others, field: SearchField::default(), found, selected: 0 }
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        let action = match key.code {
            KeyCode::Up => Action::Up,
            KeyCode::Down => Action::Down,
            KeyCode::Home => Action::Top,
            KeyCode::End => Action::Bottom,
            _ => {
                if self.field.on_key(key) {
                    self.search();
                }
                return;
            }
        };
        self.go(action);
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.field.on_paste(text);
        self.search();
    }

    fn search(&mut self) {
        self.found = fuzzy(self.field.text(), self.texts.iter().map(String::as_str));
        self.selected = 0;
        // A name that begins so comes before words that are found somewhere.
        let wanted = self.field.text().trim().to_lowercase();
        let entries = &self.entries;
        let rank = |place: &usize| {
            let name = entries.get(*place).map_or("", |entry| entry.action.name());
            (name != wanted, !name.starts_with(&wanted))
        };
        self.found.sort_by_key(rank);
        // Whoever names what cannot be done now wants to know why, and nothing else instead.
        let typed = self.field.text().trim();
        let is_named = |entry: &PaletteEntry| entry.action.name().starts_with(typed);
        if typed.len() >= LEAST_NAME
            && self.others.iter().any(is_named)
            && !self.entries.iter().any(is_named)
        {
            self.found.clear();
        }
    }

    /// Goes through what was found; whether `action` does so.
    fn go(&mut self, action: Action) -> bool {
        let last = self.found.len().saturating_sub(1);
        pick::paged(action, &mut self.selected, last, usize::from(ROWS - 1))
    }

    fn chosen(&self) -> Option<&PaletteEntry> {
        self.found.get(self.selected).and_then(|place| self.entries.get(*place))
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Accept => self.accept(),
            _ if self.go(action) => Vec::new(),
            _ => Effect::info("type to search, choose with up and down, enter does it"),
        }
    }

    /// Why nothing was found: what was meant cannot be done now, or there is no such action.
    fn why_nothing(&self) -> String {
        let texts: Vec<String> = self.others.iter().map(text).collect();
        let meant = fuzzy(self.field.text(), texts.iter().map(String::as_str));
        let named = |entry: &&PaletteEntry| entry.action.name() == self.field.text().trim();
        let meant = meant.first().and_then(|place| self.others.get(*place));
        let meant = self.others.iter().find(named).or(meant);
        match meant.map(|entry| (entry.action.name(), &entry.way)) {
            Some((name, Err(why))) => format!("{name} is not possible now: {why}"),
            Some((_, Ok(_))) | None => "no action has that name".to_owned(),
        }
    }

    fn accept(&self) -> Vec<Effect> {
        let Some(entry) = self.chosen() else {
            return Effect::refuse(self.why_nothing());
        };
        match &entry.way {
            Err(why) => Effect::refuse(format!("{}: {why}", entry.action.name())),
            Ok(pane) => {
                let mut effects = vec![Effect::Close];
                effects.extend(pane.map(Effect::Focus));
                effects.push(Effect::Act(entry.action));
                effects
            }
        }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let hint = format!(" {} actions · enter does it · esc ", self.found.len());
        let inside = super::frame("Palette", &hint, (92, ROWS + 2), screen, buf, cx);
        let mut rows = inside.rows();
        if let Some(row) = rows.next() {
            self.field.draw("type an action", row, buf, cx);
        }
        let space = usize::from(inside.height).saturating_sub(2);
        let top = self.selected.saturating_sub(space.saturating_sub(1));
        let mut rows = rows.skip(1);
        if self.found.is_empty()
            && let Some(row) = rows.next()
        {
            let text = cx.line(self.why_nothing(), Role::DialogDim);
            line::draw(&text, row, buf);
        }
        for ((place, entry), row) in self.found.iter().enumerate().skip(top).zip(rows) {
            let Some(entry) = self.entries.get(*entry) else { continue };
            draw_entry(entry, row, buf, cx);
            super::mark_selected(place == self.selected, row, buf, cx);
        }
    }
}

/// What is searched of an action.
fn text(entry: &PaletteEntry) -> String {
    format!("{} {} {}", entry.action.name(), entry.action.hint(), entry.action.help())
}

fn draw_entry(entry: &PaletteEntry, row: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    let keys = cx.line(line::cut(&entry.keys, 18), Role::Dialog);
    let space = usize::from(row.width).saturating_sub(keys.width() + NAME + 2);
    let name = format!("{:<NAME$} ", line::cut(entry.action.name(), NAME));
    let left = Line::from(vec![
        cx.span(name, Role::Dialog),
        cx.span(line::cut(entry.action.help(), space), Role::DialogDim),
    ]);
    line::draw_split(&left, &keys, row, buf);
}
