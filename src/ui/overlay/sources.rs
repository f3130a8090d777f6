//! What the agents were given from the documentation: each search with its passages, their score
//! and why they were found, to be read, pinned or muted.
//!
//! Owns where one looks. Reads the session as the screen knows it, so that a replay shows what was
//! so at that moment; must not search itself.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::pick;
use super::preview::Pieces;
use crate::model::{CallId, Intent, MarkedPassage, PassageMark, PassageMarks};
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::markdown::code_rows;
use crate::ui::pane::{Cx, Effect, Mode, PassagePlace, UiCommand};
use crate::ui::panes::wrap_words;
use crate::ui::role::Role;
use crate::view::{CallState, CallView, SessionView};

/// Widest that the dialog gets.
const WIDTH: u16 = 108;

/// Searches that are listed, the newest first.
const MOST_SEARCHES: usize = 20;

/// Rows of an unfolded passage.
const MOST_ROWS: usize = 200;

/// The list of passages.
#[derive(Debug, Default)]
pub struct SourceList {
    selected: usize,
    unfolded: BTreeSet<(CallId, usize)>,
    /// Rows of the selected passage that are scrolled past.
    scrolled: usize,
    /// Of the screen.
    size: Size,
}

/// A search that an agent, or the program for it, made.
struct Search<'v> {
    call: CallId,
    agent: &'v str,
    query: &'v str,
    passages: &'v [Value],
}

/// A passage of a search.
#[derive(Clone, Copy)]
struct PassageRow<'v> {
    call: CallId,
    place: usize,
    passage: &'v Value,
}

impl<'v> PassageRow<'v> {
    fn text(&self, key: &str) -> &'v str {
        self.passage.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    const fn id(&self) -> (CallId, usize) {
        (self.call, self.place)
    }
}

/// The searches of a session, the newest first.
fn searches(view: &SessionView) -> impl Iterator<Item = Search<'_>> {
    let turns = view.chat.entries.iter().rev().filter_map(|entry| entry.turn());
    let calls = turns.flat_map(|turn| {
        let calls: Vec<&CallView> = turn.calls().collect();
        calls.into_iter().rev().map(|call| (turn.agent.as_str(), call))
    });
    calls
        .filter_map(|(agent, call)| {
            let CallState::Done { result, .. } = &call.state else { return None };
            let passages = result.get("chunks")?.as_array()?;
            let query = call.args.get("query").and_then(Value::as_str).unwrap_or_default();
            Some(Search { call: call.call, agent, query, passages })
        })
        .take(MOST_SEARCHES)
}

/// Whether anything was looked up.
#[must_use]
pub fn has_sources(view: &SessionView) -> bool {
    searches(view).next().is_some() || view.team.marks.all().next().is_some()
}

impl SourceList {
    /// The list at a passage of a call, unfolded; `None`: it is not listed.
    #[must_use]
    pub fn at(passage: (CallId, usize), view: &SessionView) -> Option<Self> {
        let selected = passages(view).iter().position(|row| row.id() == passage)?;
        Some(Self { selected, unfolded: BTreeSet::from([passage]), ..Self::default() })
    }

    pub(super) const fn prepare(&mut self, screen: Size) {
        self.size = screen;
    }

    /// Columns and rows inside of the frame.
    fn space(screen: Size) -> (usize, usize) {
        let width = WIDTH.min(screen.width.saturating_sub(6));
        (usize::from(width), usize::from(screen.height.saturating_sub(6)).max(1))
    }

    /// Scrolls through a passage that is longer than the screen; whether it is.
    fn scroll(&mut self, action: Action, cx: &Cx<'_>) -> bool {
        let (width, space) = Self::space(self.size);
        let (_, (first, end)) = self.rows(cx, width);
        let most = (end - first).saturating_sub(space);
        let page = space.saturating_sub(1).max(1);
        self.scrolled = match action {
            Action::PageDown => self.scrolled + page,
            Action::HalfPageDown => self.scrolled + page.div_ceil(2),
            Action::PageUp => self.scrolled.saturating_sub(page),
            Action::HalfPageUp => self.scrolled.saturating_sub(page.div_ceil(2)),
            _ => return false,
        }
        .min(most);
        most > 0
    }

    pub(super) fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        let rows = passages(cx.view);
        self.selected = self.selected.min(rows.len().saturating_sub(1));
        if self.scroll(action, cx) {
            return Vec::new();
        }
        if pick::moved(action, &mut self.selected, rows.len()) {
            self.scrolled = 0;
            return Vec::new();
        }
        let Some(row) = rows.get(self.selected) else {
            return Effect::info("nothing was found; esc goes back");
        };
        match action {
            Action::Accept | Action::Right | Action::Left => {
                self.scrolled = 0;
                if !self.unfolded.remove(&row.id()) {
                    self.unfolded.insert(row.id());
                }
                Vec::new()
            }
            Action::PinSource => mark(row, PassageMark::Pinned, cx),
            Action::MuteSource => mark(row, PassageMark::Muted, cx),
            Action::EditFile => {
                let text = |key: &str| row.text(key).to_owned();
                let [source, documents, kind] = ["source", "version", "kind"].map(text);
                let place = PassagePlace { source, documents, kind, text: text("text") };
                vec![Effect::Command(UiCommand::EditSource(place))]
            }
            _ => {
                let [key, back] = keys(cx);
                Effect::info(format!("{key} unfolds a passage, {back} goes back"))
            }
        }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let (width, _) = Self::space(screen.as_size());
        let (rows, selected) = self.rows(cx, width);
        let pinned = cx.view.team.marks.pinned().count();
        let title =
            if pinned > 0 { format!("Sources · {pinned} pinned") } else { "Sources".into() };
        let size = (super::rows_for(width), super::rows_for(rows.len() + 2));
        let inside = super::frame(&title, &self.hint(cx), size, screen, buf, cx);
        let space = usize::from(inside.height.saturating_sub(2)).max(1);
        // The selected passage is in sight, with as much of its text as there is room for.
        let (first, end) = selected;
        let scrolled = self.scrolled.min((end - first).saturating_sub(space));
        let top = end.saturating_sub(space).min(first) + scrolled;
        let ground = cx.style(Role::Dialog).bg;
        for ((place, row), at) in rows.iter().enumerate().skip(top).take(space).zip(inside.rows()) {
            let is_selected = place == first;
            if is_selected {
                line::tint(at, cx.style(Role::Selection), buf);
            }
            let span = |(text, role): &(String, Role)| {
                let own = Style { bg: ground, ..cx.style(*role) };
                Span::styled(
                    text.clone(),
                    if is_selected { cx.style(Role::Selection) } else { own },
                )
            };
            line::draw(&Line::from(row.iter().map(span).collect::<Vec<_>>()), at, buf);
        }
        let foot = Rect { y: inside.bottom().saturating_sub(1), height: 1, ..inside };
        let keys = match cx.mode {
            Mode::Live => &[Action::EditFile, Action::PinSource, Action::MuteSource][..],
            Mode::Replay => &[Action::EditFile],
        };
        super::draw_keys(keys, foot, buf, cx);
    }

    /// What can be done with the selected passage.
    fn hint(&self, cx: &Cx<'_>) -> String {
        let is_unfolded = passages(cx.view)
            .get(self.selected)
            .is_some_and(|row| self.unfolded.contains(&row.id()));
        let [key, back] = keys(cx);
        let words = if is_unfolded { "fold" } else { "unfold" };
        format!(" {key} {words} · {back} back ")
    }

    /// All rows, and which of them are those of the selected passage.
    fn rows(&self, cx: &Cx<'_>, width: usize) -> (Vec<Pieces>, (usize, usize)) {
        let marks = &cx.view.team.marks;
        let mut rows: Vec<Pieces> = Vec::new();
        let (mut place, mut selected) = (0, (0, 0));
        for search in searches(cx.view) {
            if !rows.is_empty() {
                rows.push(Vec::new());
            }
            rows.push(heading(&search, width));
            for row in of(&search) {
                let first = rows.len();
                rows.push(passage_row(&row, marks, width));
                if self.unfolded.contains(&row.id()) {
                    rows.extend(unfolded(&row, width));
                }
                if place == self.selected {
                    selected = (first, rows.len());
                }
                place += 1;
            }
        }
        let elsewhere: Vec<&MarkedPassage> = {
            let listed: BTreeSet<&str> =
                passages(cx.view).iter().map(|row| row.text("source")).collect();
            marks.all().filter(|marked| !listed.contains(marked.source.as_str())).collect()
        };
        if !elsewhere.is_empty() {
            rows.push(Vec::new());
            rows.push(vec![("Marked before".to_owned(), Role::DialogDim)]);
            rows.extend(elsewhere.into_iter().map(|marked| {
                let text = format!("  {} {} · {}", sign(marked.mark), marked.title, marked.source);
                vec![(line::cut(&line::clean(&text), width), Role::Dialog)]
            }));
        }
        (rows, selected)
    }
}

/// The keys that unfold a passage and go back.
fn keys(cx: &Cx<'_>) -> [String; 2] {
    [Action::Accept, Action::Cancel].map(|action| cx.key(KeyContext::Dialog, action))
}

/// The passages of a search.
fn of<'v>(search: &Search<'v>) -> impl Iterator<Item = PassageRow<'v>> {
    let call = search.call;
    let passages = search.passages.iter().enumerate();
    passages.map(move |(place, passage)| PassageRow { call, place, passage })
}

/// All passages, in the order of the list.
fn passages(view: &SessionView) -> Vec<PassageRow<'_>> {
    searches(view).flat_map(|search| of(&search).collect::<Vec<_>>()).collect()
}

/// Sets the mark of a passage, or takes it back where it has that mark.
fn mark(row: &PassageRow<'_>, mark: PassageMark, cx: &Cx<'_>) -> Vec<Effect> {
    if cx.mode == Mode::Replay {
        return Effect::refuse("this is a replay; nothing can be marked");
    }
    let source = row.text("source").to_owned();
    let mark = if cx.view.team.marks.of(&source) == mark { PassageMark::None } else { mark };
    let (title, text) = (row.text("title").to_owned(), row.text("text").to_owned());
    let marked = MarkedPassage { source, title, text, mark };
    vec![Effect::intent(Intent::MarkPassage(Box::new(marked)))]
}

fn heading(search: &Search<'_>, width: usize) -> Pieces {
    let agent = line::clean(search.agent);
    let found = match search.passages.len() {
        0 => "nothing found".to_owned(),
        count => line::counted(count, "passage", "passages"),
    };
    let space = width.saturating_sub(line::width(&agent) + line::width(&found) + 6);
    let query = line::cut(&line::clean(search.query), space);
    vec![
        (agent, Role::Strong),
        (format!("  “{query}”"), Role::Dialog),
        (format!("  {found}"), Role::DialogDim),
    ]
}

fn passage_row(row: &PassageRow<'_>, marks: &PassageMarks, width: usize) -> Pieces {
    let number = row.passage.get("number").and_then(Value::as_u64);
    let number = number.unwrap_or(row.place as u64 + 1);
    let score = row.passage.get("score").and_then(Value::as_f64);
    let score = score.map_or_else(String::new, |score| format!("{score:.2}"));
    let sign = sign(marks.of(row.text("source")));
    let head = format!("  {sign} [{number}] ");
    let space = width.saturating_sub(line::width(&head) + 7);
    let title = line::cut(&line::clean(row.text("title")), space);
    let space = space.saturating_sub(line::width(&title) + 2);
    // What the person pinned comes without a kind.
    let kind = row.text("kind");
    let kind = if kind.is_empty() { String::new() } else { format!(" · {kind}") };
    let source = line::clean(&format!("{}{kind}", row.text("source")));
    let source = if space >= 8 { line::cut(&source, space) } else { String::new() };
    let used = line::width(&head) + line::width(&title) + 2 + line::width(&source);
    let gap = " ".repeat(width.saturating_sub(used + line::width(&score)));
    vec![
        (head, Role::DialogDim),
        (title, Role::Dialog),
        (format!("  {source}"), Role::DialogDim),
        (format!("{gap}{score}"), Role::DialogDim),
    ]
}

/// The whole path of a passage, why it was found, its version, and its text.
fn unfolded(row: &PassageRow<'_>, width: usize) -> Vec<Pieces> {
    let indent = |text: &str| format!("      {text}");
    let space = width.saturating_sub(8);
    let path = code_rows(row.text("source"), space);
    let mut rows: Vec<Pieces> = path.iter().map(|text| vec![(indent(text), Role::Link)]).collect();
    let version = row.text("version");
    let version = if version.is_empty() { String::new() } else { format!("{version} · ") };
    let why = wrap_words(&line::clean(&format!("{version}{}", row.text("why"))), space);
    rows.extend(why.iter().map(|text| vec![(indent(text), Role::DialogDim)]));
    let mut text: Vec<String> =
        row.text("text").lines().flat_map(|line| wrapped(&line::clean(line), space)).collect();
    let more = text.len().saturating_sub(MOST_ROWS);
    text.truncate(MOST_ROWS);
    rows.extend(text.iter().map(|text| vec![(indent(text), Role::Dialog)]));
    if more > 0 {
        let words = format!("… {more} more rows; the file has them all");
        rows.push(vec![(indent(&words), Role::DialogDim)]);
    }
    rows
}

/// A line as rows; code keeps its blanks, and what is indented stays so in each row.
fn wrapped(text: &str, space: usize) -> Vec<String> {
    let blanks = text.len() - text.trim_start_matches(' ').len();
    if blanks == 0 {
        return wrap_words(text, space);
    }
    if line::width(text) <= space {
        return vec![text.to_owned()];
    }
    let blanks = blanks.min(space / 2);
    let rows = wrap_words(text.trim_start(), space - blanks);
    rows.into_iter().map(|row| format!("{}{row}", " ".repeat(blanks))).collect()
}

const fn sign(mark: PassageMark) -> char {
    match mark {
        PassageMark::None => ' ',
        PassageMark::Pinned => '✓',
        PassageMark::Muted => '✗',
    }
}
