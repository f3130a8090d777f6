//! The conversation: turns as they stream, tool calls folded to a line, questions, phases.
//!
//! Only what is looked at is laid out, and of a growing text only its end; scrolling costs the
//! rows on screen, not those of the session.

mod anchor;
mod aside;
mod call;
mod card;
mod citations;
mod copy;
mod entry;
mod fact;
mod jump;
mod layouts;
mod open_call;
mod paint;
mod row;
mod scroll;
mod search;
mod seek;
mod stamp;
mod task_head;

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use crate::model::CallId;
use crate::ui::action::{Action, KeyContext};
use crate::ui::input_line::{InputLine, Purpose};
use crate::ui::job;
use crate::ui::line;
use crate::ui::overlay::{Overlay, Preview, SourceList};
use crate::ui::pane::{Cx, Effect, Keys, Pane, TextMode};
use crate::ui::role::Role;
use crate::view::ChatEntry;
use crate::view::line_scan::matcher;

use anchor::Anchor;
use copy::CopyRange;
use jump::JumpTarget;
use layouts::Layouts;
use row::FoldItem;
use scroll::Scroll;
use search::ChatSearch;
use seek::{MAX_SEARCHED, Seek, Way};
use task_head::TaskHead;

/// Why the chat opens no file.
const NO_FILE: &str = "files are opened from the project, or a finding in the logs";

/// The chat pane.
#[derive(Debug, Default)]
pub struct ChatPane {
    task: TaskHead,
    layouts: Layouts,
    scroll: Scroll,
    selected: Option<(usize, FoldItem)>,
    /// Whether colours of rows on screen are still to come.
    is_colouring: bool,
    /// The row that was jumped to.
    mark: Option<Anchor>,
    search: Option<ChatSearch>,
    typing: Option<InputLine>,
}

impl ChatPane {
    /// When it has more to look through, or colours to show, although nothing new came.
    #[must_use]
    pub fn next_wake(&self, now: Instant) -> Option<Instant> {
        let is_searching = self.search.as_ref().is_some_and(ChatSearch::is_busy);
        (is_searching || self.is_colouring).then(|| now + job::LOOK)
    }

    /// Goes to the end, and stays there as more comes.
    pub fn follow(&mut self) {
        self.mark = None;
        self.scroll.follow();
    }

    /// A walk from where `at` is, if that is in sight, else from the edge of the screen that lies
    /// behind.
    fn seek<'a, 'c>(&'a mut self, at: Option<Anchor>, way: Way, cx: &'a Cx<'c>) -> Seek<'a, 'c> {
        let at = at.filter(|at| self.scroll.is_in_sight(*at));
        let edge = match way {
            Way::Forward => self.scroll.visible().first(),
            Way::Back => self.scroll.visible().last(),
        };
        let from = at.or(edge.copied()).unwrap_or_default();
        Seek { layouts: &mut self.layouts, cx, way, from, is_taken: at.is_some() }
    }

    /// Goes to a row and marks it.
    fn show(&mut self, anchor: Anchor, cx: &Cx<'_>) {
        self.mark = Some(anchor);
        self.selected = self.layouts.item_at(anchor);
        self.scroll.reveal(anchor, 4, &mut self.layouts, cx);
    }

    fn select_item(&mut self, way: Way, cx: &Cx<'_>) -> Vec<Effect> {
        let selected = self.selected.and_then(|(entry, item)| {
            let items = self.layouts.items(entry, cx);
            let (row, _) = items.into_iter().find(|(_, known)| *known == item)?;
            Some(Anchor { entry, row })
        });
        let taken = self.selected.map(|(_, item)| item);
        let Some((anchor, item)) = self.seek(selected, way, cx).item(taken) else {
            return Effect::info(match way {
                Way::Forward => "nothing to unfold below",
                Way::Back => "nothing to unfold above",
            });
        };
        self.mark = None;
        self.selected = Some((anchor.entry, item));
        self.scroll.reveal(anchor, 3, &mut self.layouts, cx);
        Vec::new()
    }

    fn jump(&mut self, target: Option<JumpTarget>, way: Way, cx: &Cx<'_>) -> Vec<Effect> {
        let mut seek = self.seek(self.mark, way, cx);
        let Some(target) = target.or_else(|| seek.agent().map(JumpTarget::Agent)) else {
            return Effect::info("there are no messages yet");
        };
        let Some(anchor) = seek.target(&target) else {
            let side = if way == Way::Forward { "after" } else { "before" };
            return Effect::info(format!("there is no {} {side} this", target.words()));
        };
        self.show(anchor, cx);
        Vec::new()
    }

    /// Goes to the next row that the search found.
    fn hit(&mut self, way: Way, cx: &Cx<'_>) -> Vec<Effect> {
        let Some(search) = &self.search else {
            return Effect::info("there is no search yet");
        };
        let (hits, pattern) = (search.hits().to_vec(), search.pattern().cloned());
        let found = pattern.and_then(|pattern| self.seek(self.mark, way, cx).hit(&hits, &pattern));
        let Some(anchor) = found else { return Effect::info("no match yet") };
        self.show(anchor, cx);
        Vec::new()
    }

    fn start_search(&mut self, cx: &Cx<'_>) {
        let Some(typing) = self.typing.take() else { return };
        match matcher(&typing.text()) {
            Ok(found) => {
                self.mark = None;
                self.search = found.map(ChatSearch::new);
                if let Some(search) = &mut self.search {
                    search.sync(&cx.view.chat.entries);
                }
                if self.search.as_ref().is_some_and(|search| !search.hits().is_empty()) {
                    self.hit(Way::Back, cx);
                }
            }
            Err(wrong) => self.typing = Some(typing.refused(wrong)),
        }
    }

    /// The cells of a row that are selected: of a number of a source its own, else all.
    fn selected_place(&self, anchor: Anchor, row: Rect) -> Option<Rect> {
        let selected = self.selected.filter(|it| self.layouts.has_item(anchor, *it))?;
        let cited = self.layouts.get(anchor.entry)?.cited_at(anchor.row);
        let own = cited.into_iter().find(|(item, _)| *item == selected.1);
        Some(own.map_or(row, |(_, columns)| {
            let width = columns.end - columns.start;
            Rect { x: row.x + columns.start, width, ..row }.intersection(row)
        }))
    }

    /// Unfolds or folds the selected item, or else the last one on screen.
    fn toggle_item(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        let on_screen = |wanted: &(usize, FoldItem)| {
            self.scroll.visible().iter().any(|anchor| self.layouts.has_item(*anchor, *wanted))
        };
        let selected = self.selected.filter(on_screen);
        let last =
            || self.scroll.visible().iter().rev().find_map(|anchor| self.layouts.item_at(*anchor));
        match selected.or_else(last) {
            Some(item) => self.toggle(item, cx),
            None => Effect::info("nothing to unfold is on screen"),
        }
    }

    fn toggle(&mut self, item: (usize, FoldItem), cx: &Cx<'_>) -> Vec<Effect> {
        self.selected = Some(item);
        if let (entry, FoldItem::Source(call, number) | FoldItem::Cited((call, number), _)) = item {
            return match SourceList::at((call, number), cx.view) {
                Some(list) => vec![Effect::open(Overlay::Sources(list))],
                None => open_source(entry, call, number, cx),
            };
        }
        if let (_, FoldItem::Summarised(turn)) = item {
            let Some(entry) = cx.view.chat.place_of(turn) else {
                return Effect::info("this turn is no longer in memory; the replay has it");
            };
            let row = self.layouts.first_row(entry, cx);
            self.show(Anchor { entry, row }, cx);
            return Vec::new();
        }
        // What is unfolded grows downwards, from where it is.
        self.scroll.leave_bottom(&mut self.layouts, cx);
        self.layouts.toggle(item);
        Vec::new()
    }

    /// The entry that is meant when one is to be copied: of what is selected or was jumped to,
    /// else the last one on screen that says something.
    fn entry_here(&self, cx: &Cx<'_>) -> Option<usize> {
        let in_sight =
            |entry: &usize| self.scroll.visible().iter().any(|anchor| anchor.entry == *entry);
        let marked = self.selected.map(|(entry, _)| entry).or(self.mark.map(|mark| mark.entry));
        let says = |anchor: &&Anchor| {
            let entry = cx.view.chat.entries.get(anchor.entry);
            entry.is_some_and(|entry| !copy::message(entry).is_empty())
        };
        let last = || self.scroll.visible().iter().rev().find(says).map(|anchor| anchor.entry);
        marked.filter(in_sight).or_else(last)
    }

    fn copy(&self, cx: &Cx<'_>) -> Vec<Effect> {
        let place = self.entry_here(cx);
        let Some(entry) = place.and_then(|place| cx.view.chat.entries.get(place)) else {
            return Effect::info("there is nothing to copy yet");
        };
        let selected = self.selected.filter(|(entry, _)| Some(*entry) == place);
        let selection = selected.map_or(CopyRange::Message, |(_, item)| CopyRange::Item(item));
        Effect::copy(copy::text(entry, selection))
    }

    /// The code of the nearest message before that has any.
    fn code_here(&self, cx: &Cx<'_>) -> Option<String> {
        let from = self.entry_here(cx).unwrap_or(0);
        let code = |entry: &Arc<ChatEntry>| copy::code_blocks(&copy::message(entry)).pop();
        let before = cx.view.chat.entries.iter().take(from + 1).rev();
        before.take(MAX_SEARCHED).find_map(code)
    }

    fn copy_code(&self, cx: &Cx<'_>) -> Vec<Effect> {
        let code = self.code_here(cx);
        code.map_or_else(|| Effect::info("there is no code above"), Effect::copy)
    }

    /// Whether there is, or may be, something to unfold below what is selected; of so many entries.
    fn has_fold_below(&self, all: usize) -> bool {
        let visible = self.scroll.visible();
        if visible.last().is_none_or(|last| last.entry + 1 < all) || !self.scroll.follows() {
            return true;
        }
        let selected = self.selected.and_then(|selected| {
            visible.iter().position(|at| self.layouts.has_item(*at, selected))
        });
        let below = visible.iter().skip(selected.map_or(0, |row| row + 1));
        let is_cited = matches!(self.selected, Some((_, FoldItem::Cited(..))));
        is_cited || below.into_iter().any(|at| self.layouts.item_at(*at).is_some())
    }

    /// Finds which rows are in sight below the request that they belong to.
    fn find_visible(&mut self, area: Rect, cx: &Cx<'_>) {
        // The rows in sight tell which request it is, and that takes rows of its own.
        for _ in 0..2 {
            let shown = self.request_in_sight(cx);
            self.task = TaskHead::new(self.request_in_sight(cx), area, cx);
            let below = self.below_task(area);
            self.scroll.set_height(below.height.saturating_sub(self.foot_rows()));
            self.scroll.find_visible(&mut self.layouts, cx);
            if self.request_in_sight(cx) == shown {
                break;
            }
        }
        self.task = TaskHead::new(self.request_in_sight(cx), area, cx);
    }

    /// The place of the request that the top of the screen belongs to, among those of the session.
    fn request_in_sight(&self, cx: &Cx<'_>) -> usize {
        let last = cx.view.head.runs.len().saturating_sub(1);
        let top = self.scroll.visible().first().filter(|_| last > 0 && !self.scroll.follows());
        let Some(top) = top else { return last };
        let before = cx.view.chat.entries.iter().take(top.entry + 1);
        before.filter(|entry| matches!(***entry, ChatEntry::RunStarted { .. })).count().min(last)
    }

    /// Whether the task stands at its top.
    pub fn tells_task(&self) -> bool {
        self.task.rows() > 0
    }

    /// What is below the task.
    fn below_task(&self, area: Rect) -> Rect {
        let rows = u16::try_from(self.task.rows()).unwrap_or(0).min(area.height);
        Rect { y: area.y + rows, height: area.height - rows, ..area }
    }

    fn foot_rows(&self) -> u16 {
        u16::from(self.typing.is_some() || self.search.is_some())
    }

    fn draw_foot(&self, at: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let here = self.mark.map(|mark| mark.entry);
        let line = match (&self.typing, &self.search) {
            (Some(typing), _) => typing.line(cx),
            (None, Some(search)) => search.line(here, usize::from(at.width), cx),
            (None, None) => return,
        };
        line::draw(&line, at, buf);
    }

    fn draw_marker(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        if self.scroll.follows() {
            return;
        }
        let text = match self.scroll.new_rows() {
            0 => format!(" ↓ {} ", cx.key(KeyContext::Chat, Action::Follow)),
            1 => " ↓ 1 new line ".to_owned(),
            rows => format!(" ↓ {rows} new lines "),
        };
        let width = u16::try_from(line::width(&text)).unwrap_or(area.width).min(area.width);
        let corner =
            Rect { x: area.right() - width, y: area.bottom().saturating_sub(1), width, height: 1 };
        line::draw(&cx.line(text, Role::Notice), corner, buf);
    }
}

/// Opens a source that a call found.
fn open_source(entry: usize, id: CallId, number: usize, cx: &Cx<'_>) -> Vec<Effect> {
    let turn = cx.view.chat.entries.get(entry).and_then(|entry| entry.turn());
    let found = turn.and_then(|turn| call::source(turn.call(id)?, number));
    let Some((title, text)) = found else { return Vec::new() };
    vec![Effect::open(Overlay::Preview(Preview::text(&title, &text)))]
}

impl Pane for ChatPane {
    fn title(&self, _cx: &Cx<'_>) -> Line<'static> {
        Line::raw("Chat")
    }

    fn hints(&self, _cx: &Cx<'_>) -> Vec<Action> {
        let turn = if self.scroll.follows() { Action::PreviousTurn } else { Action::NextTurn };
        let mut hints = vec![turn, Action::NextFold, Action::Open, Action::Search];
        if !self.scroll.follows() {
            hints.insert(0, Action::Follow);
        }
        hints
    }

    fn why_not(&self, action: Action, cx: &Cx<'_>) -> Option<String> {
        let all = cx.view.chat.entries.len();
        let unfolds = || self.scroll.visible().iter().any(|at| self.layouts.item_at(*at).is_some());
        let is_all_shown = self.scroll.visible().first() == Some(&Anchor::default())
            && self.scroll.visible().last().is_some_and(|last| last.entry + 1 == all);
        let why = match action {
            Action::Left | Action::Right => "long lines are wrapped here",
            Action::EditFile => NO_FILE,
            Action::ShowTask if cx.view.head.run().is_none() => "there is no task yet",
            _ if all == 0 && matches!(action.home(), KeyContext::Chat | KeyContext::Pane) => {
                "there are no messages yet"
            }
            Action::Open if !unfolds() => "nothing to unfold is on screen",
            Action::NextFold | Action::PreviousFold if is_all_shown && !unfolds() => {
                "there is nothing to unfold"
            }
            Action::NextFold if !self.has_fold_below(all) => "nothing to unfold below",
            Action::CopyCode if self.code_here(cx).is_none() => "there is no code above",
            Action::NextTurn | Action::Follow if self.scroll.follows() => "this is the end",
            Action::NextMatch | Action::PreviousMatch if self.search.is_none() => {
                "there is no search yet"
            }
            Action::NextChange | Action::PreviousChange if cx.view.review.proposals.is_empty() => {
                "nothing was proposed yet"
            }
            _ => return None,
        };
        Some(why.to_owned())
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let (scroll, layouts) = (&mut self.scroll, &mut self.layouts);
        let page = isize::try_from(scroll.height().saturating_sub(2).max(1)).unwrap_or(1);
        match action {
            Action::Up => scroll.move_by(-1, layouts, cx),
            Action::Down => scroll.move_by(1, layouts, cx),
            Action::HalfPageUp => scroll.move_by(-(page / 2).max(1), layouts, cx),
            Action::HalfPageDown => scroll.move_by((page / 2).max(1), layouts, cx),
            Action::PageUp => scroll.move_by(-page, layouts, cx),
            Action::PageDown => scroll.move_by(page, layouts, cx),
            Action::Top => scroll.go_to(Anchor::default(), layouts, cx),
            Action::Bottom | Action::Follow => self.follow(),
            Action::NextTurn => return scroll.next_turn(layouts, cx),
            Action::PreviousTurn => return scroll.previous_turn(layouts, cx),
            Action::NextOfAgent => return self.jump(None, Way::Forward, cx),
            Action::PreviousOfAgent => return self.jump(None, Way::Back, cx),
            Action::NextChange => return self.jump(Some(JumpTarget::Proposal), Way::Forward, cx),
            Action::PreviousChange => return self.jump(Some(JumpTarget::Proposal), Way::Back, cx),
            Action::NextError => return self.jump(Some(JumpTarget::Error), Way::Forward, cx),
            Action::PreviousError => return self.jump(Some(JumpTarget::Error), Way::Back, cx),
            Action::NextFold => return self.select_item(Way::Forward, cx),
            Action::PreviousFold => return self.select_item(Way::Back, cx),
            Action::Open => return self.toggle_item(cx),
            Action::Search => self.typing = Some(InputLine::new(Purpose::Search, "")),
            Action::NextMatch => return self.hit(Way::Forward, cx),
            Action::PreviousMatch => return self.hit(Way::Back, cx),
            Action::ShowTask => return task_head::open(cx),
            Action::Copy => return self.copy(cx),
            Action::CopyCode => return self.copy_code(cx),
            Action::Back if self.search.is_some() => self.search = None,
            Action::Back if self.selected.is_some() || self.mark.is_some() => {
                (self.selected, self.mark) = (None, None);
            }
            Action::Back if !self.scroll.follows() => self.scroll.follow(),
            Action::Back => return Effect::info("nothing is open here"),
            Action::Left | Action::Right => {
                return Effect::info("long lines are wrapped here: nothing to scroll to the side");
            }
            Action::EditFile => return Effect::info(NO_FILE),
            _ => return Effect::refuse(format!("`{}` does nothing in the chat", action.name())),
        }
        Vec::new()
    }

    fn prepare(&mut self, area: Rect, cx: &Cx<'_>) {
        let entries = &cx.view.chat.entries;
        self.layouts.resize(area.width, entries.len());
        if let Some(search) = &mut self.search {
            search.sync(entries);
        }
        self.find_visible(area, cx);
        self.is_colouring = false;
        for anchor in self.scroll.visible() {
            if let Some(entry) = entries.get(anchor.entry) {
                self.is_colouring |= self.layouts.prepare_row(*anchor, entry);
            }
        }
        if let (Some(first), Some(last)) =
            (self.scroll.visible().first(), self.scroll.visible().last())
        {
            self.layouts.forget(&(first.entry..=last.entry));
        }
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        self.task.draw(area, buf, cx);
        let area = self.below_task(area);
        if cx.view.chat.entries.is_empty() {
            let text = cx.line("  the team is starting", Role::Dim);
            line::draw(&text, area, buf);
            return;
        }
        for (anchor, row) in self.scroll.visible().iter().zip(area.rows()) {
            let Some(entry) = cx.view.chat.entries.get(anchor.entry) else { continue };
            let Some(layout) = self.layouts.get(anchor.entry) else { continue };
            layout.draw_row(entry, anchor.row, row, buf, cx);
            if cx.keys == Keys::Here {
                let marked = (self.mark == Some(*anchor)).then_some(row);
                let place = marked.or_else(|| self.selected_place(*anchor, row));
                buf.set_style(place.unwrap_or_default(), cx.style(Role::Selection));
            }
            if let Some(search) = &self.search {
                let (text, left) = layout.row_text(entry, anchor.row);
                search.paint(&text, left, row, buf, cx);
            }
        }
        let foot = self.foot_rows().min(area.height);
        let rest = Rect { height: area.height - foot, ..area };
        self.draw_marker(rest, buf, cx);
        self.draw_foot(Rect { y: rest.bottom(), height: foot, ..area }, buf, cx);
    }

    fn text_mode(&self) -> TextMode {
        if self.typing.is_some() { TextMode::On } else { TextMode::Off }
    }

    fn on_text(&mut self, key: &KeyEvent, cx: &Cx<'_>) -> Vec<Effect> {
        match (key.code, &mut self.typing) {
            (KeyCode::Esc, _) => self.typing = None,
            (KeyCode::Enter, _) => self.start_search(cx),
            (_, Some(typing)) => typing.on_key(key),
            (_, None) => {}
        }
        Vec::new()
    }

    fn on_paste(&mut self, text: &str, _cx: &Cx<'_>) -> Vec<Effect> {
        if let Some(typing) = &mut self.typing {
            typing.insert(text);
        }
        Vec::new()
    }

    fn on_click(&mut self, at: Position, cx: &Cx<'_>) -> Vec<Effect> {
        let Some(row) = usize::from(at.y).checked_sub(self.task.rows()) else {
            return task_head::open(cx);
        };
        let anchor = self.scroll.visible().get(row).copied();
        match anchor.and_then(|anchor| self.layouts.item_near(anchor, at.x)) {
            Some(item) => self.toggle(item, cx),
            None => Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
