//! The message to the team while it is written: several lines, a history, addresses, commands.
//!
//! Never decides anything: what is typed or pasted here is only ever text until it is sent.

mod commands;
mod completion;
mod next_run;
mod wrapped;

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use ratatui::widgets::Widget;
use tui_textarea::{CursorMove, DataCursor, TextArea, WrapMode};

use crate::model::event::Level;
use crate::model::{AgentName, Intent, ProjectPath, TeamOffers};
use crate::text::sanitize;
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, Keys, Mode, UiCommand};
use crate::ui::role::Role;
use crate::ui::run::BROKE_OFF;
use crate::view::{ChatEntry, ContextWish, RunState, SessionView};

use self::commands::run_command;
use self::completion::Completion;
use self::next_run::NextRun;

/// Most rows it takes for lines that the person began, and for those that are wrapped on a small and on
/// a larger screen.
const MAX_ROWS: u16 = 8;
const MAX_WRAPPED: (u16, u16) = (3, 5);

/// Rows of a screen from which on it is a larger one.
const LARGER: u16 = 30;

/// Stands before what was begun and not sent, while the keys are elsewhere.
const NOT_SENT: &str = "not sent: ";

/// Columns before and behind what is written.
const AROUND: u16 = 4;

/// Messages that are remembered.
const MAX_HISTORY: usize = 100;

/// Where the words of a question that waits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AskedIn {
    /// In no other part of the screen.
    #[default]
    Nothing,
    /// In the chat or in a dialog that is shown.
    Sight,
}

/// The message that is being written.
pub struct Composer {
    text: TextArea<'static>,
    history: Vec<String>,
    /// Which message of the history is in the field, and what was there before.
    recalled: Option<(usize, String)>,
    completion: Option<Completion>,
    /// What the list was made for, also when it was closed: text and cursor.
    completed_for: Option<(String, (usize, usize))>,
    next: NextRun,
    /// The task that was sent last, until its run begins or is refused.
    sent: Option<SentTask>,
    /// Where the words of a question that waits are.
    asked: AskedIn,
}

/// A task on its way, with what the session had when it was sent.
struct SentTask {
    task: String,
    /// Runs of the session.
    runs: usize,
    /// Entries of the chat.
    entries: usize,
}

impl Default for Composer {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Composer {
    /// An empty message; `history` are those sent before in this project, oldest first.
    #[must_use]
    pub fn new(history: Vec<String>) -> Self {
        let (completion, completed_for) = (None, None);
        let (text, recalled, sent) = (field(""), None, None);
        let (next, asked) = (NextRun::default(), AskedIn::Nothing);
        Self { text, history, recalled, completion, completed_for, next, sent, asked }
    }

    /// Takes note of where else a question that waits is shown, so that it is not shown twice.
    pub fn set_asked(&mut self, asked: AskedIn) {
        self.asked = asked;
    }

    /// Lets the person choose the team of the next run among those that `offers` knows.
    pub fn choose_teams_from(&mut self, offers: Arc<dyn TeamOffers>) {
        self.next.offers = Some(offers);
    }

    /// Looks up the teams for the next run, once for each run that is over.
    pub fn look_up_teams(&mut self, view: &SessionView) {
        self.next.look_up(view);
    }

    /// Puts a task that could not start back into the field; whether that was refused just now.
    pub fn give_back(&mut self, view: &SessionView) -> bool {
        let Some(sent) = &self.sent else { return false };
        if view.head.runs.len() > sent.runs {
            self.sent = None;
            return false;
        }
        let new = view.chat.entries.get(sent.entries..).unwrap_or_default();
        let is_refusal = |entry: &Arc<ChatEntry>| {
            matches!(&**entry, ChatEntry::Notice { level: Level::Warning, .. })
        };
        let sent = self.sent.take_if(|_| new.iter().any(is_refusal));
        if let Some(sent) = sent.as_ref().filter(|_| self.text.is_empty()) {
            self.text = field(&sent.task);
        }
        sent.is_some()
    }

    /// Brings the list of completions up to date with the text.
    pub fn prepare(&mut self, cx: &Cx<'_>) {
        let DataCursor(row, column) = self.text.cursor();
        let now = Some((self.text(), (row, column)));
        if now == self.completed_for {
            return;
        }
        self.completed_for = now;
        self.next.suggest(self.text().trim(), cx.view);
        let line = self.text.lines().get(row).map_or("", String::as_str);
        self.completion = Completion::find(line, column, row == 0, cx);
    }

    /// Whether a list of completions is open.
    pub fn has_list(&self) -> bool {
        self.completion.is_some()
    }

    /// Closes the list of completions; tells whether one was open.
    pub fn close_list(&mut self) -> bool {
        self.completion.take().is_some()
    }

    fn complete(&mut self) -> Vec<Effect> {
        let Some(completion) = self.completion.take() else {
            return vec![Effect::Act(Action::FocusNext)];
        };
        let (typed, text) = completion.chosen();
        for _ in 0..typed {
            self.text.delete_char();
        }
        self.text.insert_str(text);
        Vec::new()
    }

    /// Rows it wants on a screen of that size.
    #[must_use]
    pub fn rows(&self, screen: Size, cx: &Cx<'_>) -> u16 {
        let own = u16::try_from(self.text.lines().len()).unwrap_or(MAX_ROWS).clamp(1, MAX_ROWS);
        let most = if screen.height < LARGER { MAX_WRAPPED.0 } else { MAX_WRAPPED.1 };
        if own >= most || self.text.is_empty() {
            return own;
        }
        let taken = self.next.line(screen.width, cx).map_or(0, |line| line.width() + 1);
        let taken = u16::try_from(taken).unwrap_or(0) + AROUND;
        wrapped::rows(&self.text, screen.width.saturating_sub(taken), most)
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text so far.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.lines().join("\n")
    }

    /// Puts `text` into the field if it is empty.
    pub fn begin(&mut self, text: &str) {
        if self.text.is_empty() && !text.is_empty() {
            self.text = field(text);
        }
    }

    /// A key that types or edits.
    pub fn on_text(&mut self, key: &KeyEvent) {
        match (&mut self.completion, key.code) {
            (Some(completion), KeyCode::Up) => return completion.walk(-1),
            (Some(completion), KeyCode::Down) => return completion.walk(1),
            (_, KeyCode::Char('u')) if key.modifiers == KeyModifiers::CONTROL => {
                self.text.delete_line_by_head();
                return;
            }
            (_, _) => {}
        }
        self.text.input(*key);
    }

    /// Pasted text, line ends and all.
    pub fn on_paste(&mut self, text: &str) {
        self.text.insert_str(text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    /// Does what a key asked for.
    pub fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        match action {
            Action::Send if self.completion.as_ref().is_some_and(|list| list.is_walked) => {
                self.complete()
            }
            Action::Complete => self.complete(),
            Action::Send => self.send(cx),
            Action::Newline => {
                self.text.insert_newline();
                Vec::new()
            }
            Action::HistoryPrevious => self.recall_previous(),
            Action::HistoryNext => self.recall_next(),
            Action::NextTeam => self.next.walk(1, cx),
            Action::PreviousTeam => self.next.walk(-1, cx),
            _ => Effect::refuse(format!("`{}` cannot be used while writing", action.name())),
        }
    }

    fn recall_previous(&mut self) -> Vec<Effect> {
        let now = self.recalled.as_ref().map_or(self.history.len(), |(place, _)| *place);
        let Some(place) = now.checked_sub(1) else {
            let is_recalled = self.recalled.is_some();
            return Effect::info(if is_recalled {
                "this is the first message"
            } else {
                "no message was sent yet"
            });
        };
        let draft = self.recalled.take().map_or_else(|| self.text(), |(_, draft)| draft);
        self.text = field(self.history.get(place).map_or("", String::as_str));
        self.recalled = Some((place, draft));
        Vec::new()
    }

    fn recall_next(&mut self) -> Vec<Effect> {
        let Some((place, draft)) = self.recalled.take() else {
            return Effect::info("this is the newest message");
        };
        match self.history.get(place + 1) {
            Some(text) => {
                self.text = field(text);
                self.recalled = Some((place + 1, draft));
            }
            None => self.text = field(&draft),
        }
        Vec::new()
    }

    fn send(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        let text = self.text().trim().to_owned();
        if text.is_empty() {
            return Effect::info("there is nothing to send yet");
        }
        if let Some(asks) = self.next.new_model(&text, cx) {
            return Effect::info(asks);
        }
        let mut effects = match (text.strip_prefix('/'), &cx.view.head.state) {
            (Some(command), _) => match command.strip_prefix("team ") {
                Some(name) => self.next.choose(name.trim(), cx),
                None => run_command(command, &cx.view.head.state),
            },
            (None, _) if cx.mode == Mode::Replay => {
                Effect::refuse("this is a replay: no message can be sent")
            }
            (None, RunState::Ended(_)) => self.start_run(&text, cx),
            (None, RunState::Stopping) => {
                Effect::refuse("the run is stopping; send it again when that is done")
            }
            (None, RunState::BrokenOff(_)) => Effect::refuse(BROKE_OFF),
            (None, RunState::Empty | RunState::Running | RunState::Paused) => message(&text, cx),
        };
        let is_refused = matches!(effects.as_slice(), [Effect::Notice(notice)] if notice.role == Role::NoticeError);
        if !is_refused {
            if self.history.last() != Some(&text) {
                self.history.push(text.clone());
                effects.push(Effect::Command(UiCommand::Remember(text)));
            }
            if self.history.len() > MAX_HISTORY {
                self.history.remove(0);
            }
            self.text = field("");
            (self.recalled, self.completion) = (None, None);
        }
        effects
    }

    /// The next run of the session.
    fn start_run(&mut self, task: &str, cx: &Cx<'_>) -> Vec<Effect> {
        let pinned = mentioned(task, cx);
        let team = self.next.chosen();
        let edit = Intent::EditContext { add: pinned.clone(), remove: Vec::new() };
        let (runs, entries) = (cx.view.head.runs.len(), cx.view.chat.entries.len());
        self.sent = Some(SentTask { task: task.to_owned(), runs, entries });
        let mut effects = vec![Effect::intent(Intent::StartRun { task: task.to_owned(), team })];
        if !pinned.is_empty() {
            effects.push(Effect::intent(edit));
        }
        effects
    }

    /// Draws the team at the right edge; the columns that it takes.
    fn draw_team(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) -> u16 {
        let Some(line) = self.next.line(area.width, cx) else { return 0 };
        let width = u16::try_from(line.width()).unwrap_or(u16::MAX);
        let place = Rect { x: area.right() - width - 1, width, height: 1, ..area };
        line::draw(&line, place, buf);
        width + 1
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let mark = Rect { x: area.x + 1, width: 2.min(area.width), height: 1, ..area };
        let inside = Rect { x: area.x + 3, width: area.width.saturating_sub(AROUND), ..area };
        let is_here = cx.keys == Keys::Here;
        let role = if is_here { Role::Accent } else { Role::Dim };
        cx.span("›", role).render(mark, buf);
        let taken = self.draw_team(area, buf, cx);
        let inside = Rect { width: inside.width.saturating_sub(taken), ..inside };
        if self.text.is_empty() && !is_here {
            let is_broken = matches!(cx.view.head.state, RunState::BrokenOff(_));
            let role = if is_broken { Role::Error } else { Role::Dim };
            line::draw(&cx.line(self.placeholder(cx), role), inside, buf);
            return;
        }
        if !is_here {
            let lead = cx.span(NOT_SENT, Role::Warn);
            let width = u16::try_from(line::width(NOT_SENT)).unwrap_or(0).min(inside.width);
            lead.render(Rect { width, ..inside }, buf);
            let rest =
                Rect { x: inside.x + width, width: inside.width.saturating_sub(width), ..inside };
            return wrapped::draw_beginning(&self.text, rest, buf, cx);
        }
        let mut text = self.text.clone();
        text.set_style(cx.style(Role::Text));
        text.set_cursor_style(cx.style(Role::Cursor));
        if self.text.is_empty() {
            let words =
                line::cut(&self.placeholder(cx), usize::from(inside.width).saturating_sub(1));
            text.set_placeholder_text(words);
            text.set_placeholder_style(cx.style(Role::Dim));
        }
        wrapped::draw(&text, inside, buf, cx);
        if let Some(completion) = &self.completion {
            completion.draw(area, buf, cx);
        }
    }

    /// What stands in it while nothing is written.
    pub fn placeholder(&self, cx: &Cx<'_>) -> String {
        if matches!(cx.view.head.state, RunState::Ended(_)) {
            let leave = cx.key(KeyContext::Global, Action::Quit);
            return match (cx.mode, cx.keys) {
                (Mode::Replay, _) => format!("the run is over · {leave} leaves"),
                (Mode::Live, Keys::Here) => {
                    "what is next? Enter starts it in this session".to_owned()
                }
                // Which key writes the next task, and which leaves, the hints tell.
                (Mode::Live, Keys::Elsewhere) => "the run is over; what is next?".to_owned(),
            };
        }
        if let RunState::BrokenOff(why) = &cx.view.head.state {
            let key = cx.key(KeyContext::Global, Action::Quit);
            // What hindered it stands behind the place where it did, which may be long.
            let cause = why.why.rsplit(": ").next().unwrap_or_default();
            return format!("the run stopped: {} · {key} leaves", sanitize::line(cause));
        }
        match &cx.view.head.question {
            // Which key answers it, the hints tell.
            Some(_) if cx.keys == Keys::Elsewhere && self.asked == AskedIn::Sight => {
                "the team waits for an answer to its question".to_owned()
            }
            Some(question) if cx.keys == Keys::Elsewhere => {
                let who = question.agent.as_ref().map_or("firmhand", AgentName::as_str);
                line::clean(&format!("? {who}: {}", question.text.trim()))
            }
            Some(question) if question.options.is_empty() => "type the answer".to_owned(),
            Some(_) => "type the answer, or the number of one that was offered".to_owned(),
            None => "message the team, @agent or /command".to_owned(),
        }
    }
}

/// A message, or the answer to the question that waits.
fn message(text: &str, cx: &Cx<'_>) -> Vec<Effect> {
    let (to, words) = match address(text, cx) {
        Ok(found) => found,
        Err(effects) => return effects,
    };
    let pinned = mentioned(&words, cx);
    let sent = match (&cx.view.head.question, to) {
        (Some(question), None) => {
            vec![Effect::intent(Intent::Answer { question: question.id, answer: words })]
        }
        (_, to) => vec![Effect::intent(Intent::Say { to, text: words })],
    };
    if pinned.is_empty() {
        return sent;
    }
    let (files, them) = if pinned.len() == 1 { ("file is", "it") } else { ("files are", "them") };
    let count = pinned.len();
    let words = format!("{count} {files} pinned: the team always reads {them} with other files");
    let edit = Intent::EditContext { add: pinned, remove: Vec::new() };
    let mut effects = vec![Effect::intent(edit)];
    effects.extend(sent);
    effects.extend(Effect::info(words));
    effects
}

/// Whether that is the path of a file of the project, in lower case.
fn is_file(name: &str, cx: &Cx<'_>) -> bool {
    cx.view.project.files.keys().any(|path| path.as_str().to_lowercase() == name)
}

/// Files that a message names as `@path` and that are not pinned yet.
fn mentioned(text: &str, cx: &Cx<'_>) -> Vec<ProjectPath> {
    let mut found = Vec::new();
    for word in text.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
        let path = ProjectPath::new(word.trim_end_matches([',', '.', ':', ';', '?', '!'])).ok();
        let known = path.filter(|path| {
            cx.view.project.files.get(path).is_some_and(|file| file.wanted != ContextWish::In)
        });
        found.extend(known.filter(|path| !found.contains(path)));
    }
    found
}

/// Splits `@Agent words`. A unique start of the name is enough, in any case.
fn address(text: &str, cx: &Cx<'_>) -> Result<(Option<AgentName>, String), Vec<Effect>> {
    let Some(rest) = text.strip_prefix('@') else { return Ok((None, text.to_owned())) };
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let name = name.trim_end_matches([':', ',']).to_lowercase();
    if is_file(&name, cx) {
        return Ok((None, text.to_owned()));
    }
    let matches = |agent: &&AgentName| agent.as_str().to_lowercase().starts_with(&name);
    let exact = cx.agents.names().iter().find(|agent| agent.as_str().to_lowercase() == name);
    let found: Vec<&AgentName> = match exact {
        Some(agent) => vec![agent],
        None => cx.agents.names().iter().filter(matches).collect(),
    };
    match found.as_slice() {
        [agent] if words.trim().is_empty() => {
            Err(Effect::refuse(format!("there are no words for @{agent} yet")))
        }
        [agent] => Ok((Some((*agent).clone()), words.trim().to_owned())),
        _ => {
            let known = cx.agents.names().iter().map(|agent| format!("@{agent}"));
            let known = known.collect::<Vec<_>>().join(" ");
            let known = if known.is_empty() { "there are no messages yet" } else { &known };
            Err(Effect::refuse(format!("which agent is `@{name}`? {known}")))
        }
    }
}

fn field(text: &str) -> TextArea<'static> {
    let mut field = TextArea::new(text.split('\n').map(str::to_owned).collect());
    field.set_cursor_line_style(Style::new());
    field.set_wrap_mode(WrapMode::WordOrGlyph);
    field.move_cursor(CursorMove::Bottom);
    field.move_cursor(CursorMove::End);
    field
}
