//! How the start screen looks.
//!
//! Must not change anything but where its rows were drawn.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use super::details;
use super::foot::StartFoot;
use super::{CHAIN, HelpState, Start, StartExample, StartSession, Verb, verbs};
use crate::model::{Health, HealthLine};
use crate::text::sanitize;
use crate::ui::action::Action;
use crate::ui::layout::LEAST;
use crate::ui::line;
use crate::ui::overlay::ModelOffer;
use crate::ui::panes::wrap_words;
use crate::ui::role::Role;
use crate::ui::start_rows::{ExampleListing, StartRow};
use crate::ui::start_window::window;

/// Columns of a session's title at least, of its state at most, and of all that is right of the title
/// from which on that has a date.
const LEAST_TITLE: usize = 16;
const MOST_STATE: usize = 28;
const WITH_DATE: usize = 50;

/// Columns of a session's task at least, and usually of its folder.
const LEAST_TASK: usize = 14;
const FOLDER: usize = 16;

/// Columns from which on there is space beside the list.
pub(super) const WIDE: u16 = 150;

/// Columns from which on the row of a session has space for what can be done with it.
pub(super) const WITH_VERBS: u16 = 98;

/// Fewest rows for what is new.
const LEAST_NEWS: u16 = 4;

/// What the keys do, in the order of the help.
const KEYS: &[(Action, &str)] = &[
    (Action::Up, "one row up"),
    (Action::Down, "one row down"),
    (Action::Accept, "open what is selected"),
    (Action::Left, "of a session: resume instead of replay"),
    (Action::Right, "of a session: replay, from end or start"),
    (Action::Compose, "write a new task"),
    (Action::Find, "search the sessions"),
    (Action::Change, "rename the session"),
    (Action::Remove, "delete the session"),
    (Action::Suspend, "go back to the shell; `fg` returns"),
    (Action::Cancel, "quit; esc takes two"),
];

impl Start {
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let buf = frame.buffer_mut();
        buf.set_style(area, self.theme.style(Role::Text));
        if area.width < LEAST.0 || area.height < LEAST.1 {
            let (width, height) = LEAST;
            let text =
                format!("firmhand needs {width}×{height}, this is {}×{}", area.width, area.height);
            line::draw(&Line::styled(text, self.theme.style(Role::Warn)), area, buf);
            return;
        }
        let inside = Rect { x: 1, width: area.width.saturating_sub(2), height: 1, y: 0 };
        let version = concat!("firmhand ", env!("CARGO_PKG_VERSION"));
        let head = Line::from(vec![
            self.span(version, Role::Accent),
            self.span(" · teams of agents that write ESP32 firmware", Role::Dim),
        ]);
        line::draw(&head, inside, buf);
        let height = area.height.saturating_sub(3 + StartFoot(self).session_rows(area));
        let (list, side) = self.areas(Rect { y: 1, height, ..inside });
        let below = self.draw_list(list, if side.is_some() { 0 } else { self.news_rows() }, buf);
        match side {
            Some(side) => self.draw_details(side, buf),
            None => {
                let gap = u16::from(below.height > self.news_rows());
                let y = below.y + gap.min(below.height);
                self.draw_news(Rect { y, height: below.bottom() - y, ..below }, buf);
            }
        }
        StartFoot(self).draw(Rect { y: area.height - 2, ..inside }, buf);
        if self.help == HelpState::Open {
            self.draw_help(area, buf);
        }
    }

    /// Draws what of the list has space, `news` rows left out as far as the list can do without them;
    /// what is free below it.
    fn draw_list(&self, list: Rect, news: u16, buf: &mut Buffer) -> Rect {
        let (height, news) = (usize::from(list.height), usize::from(news));
        let window = window(&self.rows, self.selected, height, news);
        let mut places = self.places.borrow_mut();
        places.clear();
        for (&place, at) in window.places.iter().zip(list.rows()) {
            places.push((at, place));
            let cut = window.cut.iter().find(|(heading, _)| *heading == place);
            // What is found is counted in its heading already.
            let cut = cut.filter(|_| !self.sessions.is_searching());
            match (self.rows.get(place), cut) {
                (Some(StartRow::Heading(title, _)), Some((_, shown))) => {
                    line::draw(&self.cut_heading(title, place, *shown, at.width), at, buf);
                }
                (Some(row), _) => self.draw_row(*row, place == self.selected, at, buf),
                (None, _) => {}
            }
        }
        let used = u16::try_from(window.places.len()).unwrap_or(u16::MAX).min(list.height);
        Rect { y: list.y + used, height: list.height - used, ..list }
    }

    /// The heading of a block of which so many rows are shown.
    fn cut_heading(&self, title: &str, place: usize, shown: usize, width: u16) -> Line<'static> {
        let below = self.rows.iter().skip(place + 1);
        let of = below.take_while(|row| row.is_choice()).count();
        let key = self.keymap.key_of(&CHAIN, Action::Find);
        let key = key.filter(|_| matches!(self.rows.get(place + 1), Some(StartRow::Session(_))));
        let search = key.map_or_else(String::new, |key| format!(" · {key} searches all"));
        self.heading(&format!("{title} {shown} of {of}{search}"), width)
    }

    /// Rows that what is new takes below the list, with its heading.
    fn news_rows(&self) -> u16 {
        match self.facts.news.len() {
            _ if self.sessions.is_searching() => 0,
            0 => 0,
            news => u16::try_from(news + 1).unwrap_or(u16::MAX).max(LEAST_NEWS),
        }
    }

    /// The list, and on a wide screen what stands beside it.
    fn areas(&self, all: Rect) -> (Rect, Option<Rect>) {
        if all.width < WIDE {
            return (all, None);
        }
        let width = all.width * 3 / 5;
        let side = Rect { x: all.x + width + 2, width: all.width - width - 2, ..all };
        (Rect { width, ..all }, Some(side))
    }

    fn draw_details(&self, area: Rect, buf: &mut Buffer) {
        let mut used = 0;
        if let Some((title, rows)) =
            self.rows.get(self.selected).and_then(|row| details::of(*row, &self.facts))
        {
            used = self.draw_words(title, &rows, area, buf) + 1;
        }
        let y = area.y + used.min(area.height);
        self.draw_news(Rect { y, height: area.bottom() - y, ..area }, buf);
    }

    /// What is new, as far as there is space.
    fn draw_news(&self, area: Rect, buf: &mut Buffer) {
        if area.height >= LEAST_NEWS && !self.facts.news.is_empty() && !self.sessions.is_searching()
        {
            let news: Vec<_> = self.facts.news.iter().map(|news| ("·", news.clone())).collect();
            self.draw_words("What is new", &news, area, buf);
        }
    }

    /// A heading with words below it, each behind what it is; tells how many rows they take.
    fn draw_words(
        &self,
        title: &str,
        words: &[(&'static str, String)],
        area: Rect,
        buf: &mut Buffer,
    ) -> u16 {
        let mut rows = vec![self.heading(title, area.width)];
        let lead = words.iter().map(|(about, _)| line::width(about)).max().unwrap_or(0);
        let width = usize::from(area.width).saturating_sub(lead + 4).max(8);
        let mut texts = Vec::new();
        for (about, text) in words {
            let wrapped = wrap_words(&sanitize::line(text), width).into_iter().enumerate();
            texts.extend(wrapped.map(|(nth, row)| (if nth == 0 { *about } else { "" }, row)));
        }
        let shown = usize::from(area.height).saturating_sub(rows.len());
        let is_cut = texts.len() > shown;
        texts.truncate(shown);
        if let Some((_, last)) = texts.last_mut().filter(|_| is_cut) {
            *last = line::broken_off(last, width);
        }
        rows.extend(texts.into_iter().map(|(about, words)| {
            let about = self.span(format!("  {about:<lead$} "), Role::Dim);
            Line::from(vec![about, self.span(words, Role::Text)])
        }));
        for (text, row) in rows.iter().zip(area.rows()) {
            line::draw(text, row, buf);
        }
        u16::try_from(rows.len()).unwrap_or(u16::MAX).min(area.height)
    }

    fn heading<'t>(&self, title: &str, width: u16) -> Line<'t> {
        let title = format!("─ {title} ");
        let rest = usize::from(width).saturating_sub(line::width(&title));
        let rule = self.span("─".repeat(rest), Role::Border);
        Line::from(vec![self.span(title, Role::Title), rule])
    }

    /// What every key does here.
    fn draw_help(&self, screen: Rect, buf: &mut Buffer) {
        let width = 64.min(screen.width.saturating_sub(4));
        let height = u16::try_from(KEYS.len()).unwrap_or(0) + 2;
        let (x, y) = ((screen.width - width) / 2, screen.height.saturating_sub(height) / 2);
        let area = Rect { x, y, width, height: height.min(screen.height) };
        Clear.render(area, buf);
        let block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(self.theme.style(Role::DialogBorder))
            .style(self.theme.style(Role::Dialog))
            .title(" Keys of the start screen ")
            .title_bottom(" any key closes ");
        let inside = block.inner(area);
        block.render(area, buf);
        for ((action, words), row) in KEYS.iter().zip(inside.rows()) {
            let keys = self.keymap.keys_of(&CHAIN, *action);
            let mut shown: Vec<String> = Vec::new();
            for key in keys.iter().map(ToString::to_string) {
                if !shown.contains(&key) {
                    shown.push(key);
                }
            }
            shown.truncate(3);
            let text = format!(" {:<18} {words}", shown.join("  "));
            line::draw(&Line::from(self.span(text, Role::Dialog)), row, buf);
        }
    }

    pub(super) fn span<'t>(
        &self,
        text: impl Into<std::borrow::Cow<'t, str>>,
        role: Role,
    ) -> Span<'t> {
        Span::styled(text, self.theme.style(role))
    }

    fn draw_row(&self, row: StartRow, is_selected: bool, at: Rect, buf: &mut Buffer) {
        let (left, right) = match row {
            StartRow::Blank => return,
            StartRow::Heading(title, count) => {
                let count = if count > 0 { format!(" {count}") } else { String::new() };
                (self.heading(&format!("{title}{count}"), at.width), Line::default())
            }
            StartRow::Words(words) => {
                (Line::from(self.span(format!("  {words}"), Role::Dim)), Line::default())
            }
            StartRow::Demo => self.item("Demo", &self.facts.demo),
            StartRow::New => match &self.task.kept {
                Some(task) => self.item("New task", &format!("go on with: {}", task.text())),
                None => self.item("New task", "describe what a team should do"),
            },
            StartRow::Library => {
                let does = match self.library {
                    ExampleListing::Folded => "enter lists them",
                    ExampleListing::Unfolded => "enter folds the list",
                };
                let words = format!("{} example tasks; {does}", self.facts.examples.len());
                self.item("Examples", &words)
            }
            StartRow::Example(place) => match self.facts.examples.get(place) {
                Some(example) => self.example(example, at.width),
                None => return,
            },
            StartRow::Model(place) => match self.facts.models.get(place) {
                Some(offer) => self.model(offer),
                None => return,
            },
            StartRow::Project(place) => {
                let path = self.facts.projects.get(place).map_or("", String::as_str);
                let space = usize::from(at.width).saturating_sub(16);
                let path = line::cut_start(path, space);
                let left = Line::from(self.span(format!("  {path}"), Role::Text));
                (left, Line::from(self.span("new task here", Role::Dim)))
            }
            StartRow::Session(place) => match self.facts.sessions.get(place) {
                Some(session) => self.session(session, is_selected, at.width),
                None => return,
            },
            StartRow::HealthLine(place) => match self.facts.findings.get(place) {
                Some(finding) => self.finding(finding),
                None => return,
            },
        };
        line::draw_split(&left, &right, at, buf);
        if is_selected {
            buf.set_style(at, self.theme.style(Role::Selection));
        }
    }

    fn item(&self, name: &'static str, words: &str) -> (Line<'static>, Line<'static>) {
        let left = Line::from(vec![
            self.span(format!("  {name:<10}"), Role::Strong),
            self.span(line::cut(words, 400), Role::Dim),
        ]);
        (left, Line::default())
    }

    fn example(&self, example: &StartExample, width: u16) -> (Line<'static>, Line<'static>) {
        let note = line::cut(&example.note, usize::from(width) / 3);
        let right = Line::from(vec![
            self.span(format!("{note}  "), Role::Dim),
            self.span(format!("{:<15}", example.team), Role::Text),
        ]);
        let space = usize::from(width).saturating_sub(right.width() + 6);
        let title = format!("    {}", line::cut(&example.title, space));
        (Line::from(self.span(title, Role::Text)), right)
    }

    fn model(&self, offer: &ModelOffer) -> (Line<'static>, Line<'static>) {
        let is_chosen = self.facts.model.as_ref() == Some(&offer.profile);
        let (mark, role) = if is_chosen { ("●", Role::Strong) } else { ("○", Role::Dim) };
        let left = Line::from(vec![
            self.span(format!("  {mark} "), role),
            self.span(line::cut(&offer.label, 48), role),
        ]);
        let words = if is_chosen { "used for new tasks · " } else { "" };
        let right = self.span(format!("{words}{}", line::cut(&offer.profile, 20)), Role::Dim);
        (left, Line::from(right))
    }

    fn session(
        &self,
        session: &StartSession,
        is_selected: bool,
        width: u16,
    ) -> (Line<'static>, Line<'static>) {
        // Where there is little space, what can be done stands below the list.
        let has_verbs = is_selected && width >= WITH_VERBS;
        let offered = if has_verbs { verbs(session) } else { &[] };
        let most = usize::from(width).saturating_sub(LEAST_TITLE + 4);
        let right = self.session_right(session, offered, most);
        let space = usize::from(width).saturating_sub(right.width() + 4);
        // A session of several requests is known by what it began with.
        let begin = session.earlier.first().filter(|_| session.title.is_empty());
        let title = match begin {
            Some(first) => line::cut(&sanitize::line(first), space / 2),
            None => line::cut(&session.title, space),
        };
        let mut left = vec![self.span(format!("  {title}"), Role::Strong)];
        let (gap, role) = if title.is_empty() { ("", Role::Text) } else { (" · ", Role::Dim) };
        let space = space.saturating_sub(line::width(&title) + line::width(gap));
        if space > 8 {
            // Sessions of one task are told apart by where they worked, so that keeps its place.
            let folder = session.project.rsplit('/').find(|part| !part.is_empty());
            let folder = folder.filter(|_| !session.has_own_project());
            let folder = folder.map(|folder| sanitize::line(folder).into_owned());
            let folder = match session.requests {
                0 | 1 => folder,
                requests if begin.is_some() => {
                    let number = format!("request {requests}");
                    let all = line::width(&session.task) + line::width(&number) + 3;
                    (all <= space).then_some(number)
                }
                requests => folder.map(|folder| format!("request {requests} · {folder}")),
            };
            let folder = folder.filter(|_| space > LEAST_TASK + 3).map(|folder| {
                let most = FOLDER.max(space.saturating_sub(line::width(&session.task) + 3));
                format!(" · {}", line::cut(&folder, most.min(space - LEAST_TASK)))
            });
            let folder = folder.unwrap_or_default();
            let task = line::cut(&session.task, space.saturating_sub(line::width(&folder)));
            left.push(self.span(format!("{gap}{task}"), role));
            left.push(self.span(folder, Role::Dim));
        }
        (Line::from(left), right)
    }

    /// What can be done with a session, its state and its date, as far as there is space for them.
    fn session_right(
        &self,
        session: &StartSession,
        offered: &[Verb],
        columns: usize,
    ) -> Line<'static> {
        let words = self.verb_words(session, offered);
        let chosen: &[Verb] = if offered.is_empty() { &[] } else { &[self.verb_of(session)] };
        let short = self.verb_words(session, chosen);
        let short = if offered.len() > 1 { format!("{short} ←→") } else { short };
        // A row that is turned to keeps what it had before: what can be done gets the rest.
        let when = if columns < WITH_DATE { String::new() } else { format!("  {}", session.when) };
        let state = line::cut(&session.state, MOST_STATE);
        let space = columns.saturating_sub(line::width(&state) + line::width(&when) + 2);
        let third = ((columns + LEAST_TITLE + 4) / 3).saturating_sub(LEAST_TITLE);
        let words = match space {
            // All of the words only where the title keeps a third.
            _ if line::width(&words) + third <= space => words,
            _ if line::width(&short) <= space => short,
            _ => line::cut(short.trim_end_matches(" ←→"), space),
        };
        let gap = if words.is_empty() { "" } else { "  " };
        // Before state and date, so that those keep their columns.
        Line::from(vec![
            Span::styled(format!("{words}{gap}"), self.theme.style(Role::Strong)),
            Span::styled(state, self.theme.style(state_role(&session.state))),
            Span::styled(when, self.theme.style(Role::Dim)),
        ])
    }

    /// What can be done with a session, what enter does in brackets.
    pub(super) fn verb_words(&self, session: &StartSession, offered: &[Verb]) -> String {
        let chosen = self.verb_of(session);
        let shown = |verb: &Verb| match *verb == chosen {
            true => format!(" [{}]", verb.words()),
            false => format!("  {} ", verb.words()),
        };
        offered.iter().map(shown).collect()
    }

    fn finding(&self, finding: &HealthLine) -> (Line<'static>, Line<'static>) {
        let (mark, role) = match finding.health {
            Health::Good => ("✓", Role::Ok),
            Health::Absent => ("○", Role::Dim),
            Health::Limited => ("!", Role::Warn),
            Health::Broken => ("✗", Role::Error),
        };
        let all = self.facts.findings.iter().map(|line| line::width(&line.subject));
        let columns = all.max().unwrap_or(0).clamp(10, 20);
        let subject = line::cut(&finding.subject, columns);
        let subject = format!(" {subject:<columns$}");
        let left = Line::from(vec![
            self.span(format!("  {mark}"), role),
            self.span(subject, Role::Text),
            self.span(format!(" {}", line::cut(&finding.detail, 300)), Role::Dim),
        ]);
        (left, Line::default())
    }
}

/// What waits or was left in the middle is to be seen first.
fn state_role(state: &str) -> Role {
    let begins = |word: &str| state.starts_with(word);
    if state.contains(" wait") || begins("unfinished") {
        Role::Warn
    } else if begins("running") {
        Role::Busy
    } else if begins("failed") || begins("cannot") {
        Role::Error
    } else {
        Role::Dim
    }
}
