//! Words of the person about a proposal: why it is rejected, what the agent is told or asked, what
//! is to be said of a line.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui_textarea::{CursorMove, TextArea, WrapMode};

use crate::model::{AfterReject, DecisionNote, Excerpt, Intent, LineComment, Shown, Verdict};
use crate::ui::action::Action;
use crate::ui::line;
use crate::ui::pane::{Cx, Effect, ReviewRequest};
use crate::ui::role::Role;

/// Reasons that are often used.
const REASONS: [&str; 5] = [
    "Wrong file: ",
    "Too many changes: only do what was asked.",
    "This breaks existing behaviour: ",
    "Use the ESP-IDF API instead: ",
    "Not needed.",
];
/// Questions that are often asked.
const QUESTIONS: [&str; 4] = [
    "Why is this needed?",
    "What happens when this call fails?",
    "Is there a simpler way?",
    "Where is this documented?",
];

/// What a recording does with words.
const RECORDED: &str = "Why? It is kept in the session; a recorded model does not read it.";

/// What the words are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// They go back with a rejection; then the run goes on or ends.
    Reject(AfterReject),
    /// The change is approved and the agent is told.
    Tell,
    /// They are kept beside a line of the change, by its place in the body.
    Comment(usize),
    /// The agent is asked about these lines, or the whole; the proposal goes on waiting.
    Ask(Option<Excerpt>),
}

impl Purpose {
    const fn title(&self) -> &'static str {
        match self {
            Self::Reject(AfterReject::GoOn) => "Reject",
            Self::Reject(AfterReject::Stop) => "Reject and stop the run",
            Self::Tell => "Approve with a message",
            Self::Comment(_) => "Comment on a line",
            Self::Ask(_) => "Ask the agent",
        }
    }

    const fn does(&self) -> &'static str {
        match self {
            Self::Reject(AfterReject::GoOn) => "rejects",
            Self::Reject(AfterReject::Stop) => "rejects and stops",
            Self::Tell => "approves and sends",
            Self::Comment(_) => "keeps it",
            Self::Ask(_) => "asks",
        }
    }

    const fn explains(&self) -> &'static str {
        match self {
            Self::Reject(AfterReject::GoOn) => {
                "Why? The agent reads this in the same turn. It can be empty."
            }
            Self::Reject(AfterReject::Stop) => "Why? It is recorded, and the run ends.",
            Self::Tell => "The change is applied as shown; the agent reads this in the same turn.",
            Self::Comment(_) => "The agent reads it with your decision. An empty text removes it.",
            Self::Ask(_) => "Nothing is decided; the proposal waits for you.",
        }
    }

    const fn templates(&self) -> &'static [&'static str] {
        match self {
            Self::Reject(_) => &REASONS,
            Self::Ask(_) => &QUESTIONS,
            Self::Tell | Self::Comment(_) => &[],
        }
    }
}

/// Words while they are being written.
#[derive(Debug)]
pub struct WordsInput {
    purpose: Purpose,
    /// What they are about.
    pub shown: Shown,
    /// Others that are decided with the same words.
    others: Vec<Shown>,
    what: String,
    comments: Vec<LineComment>,
    text: Box<TextArea<'static>>,
    /// Which template is in the field; `None`: the person's own words.
    template: Option<usize>,
}

impl WordsInput {
    /// Begins words about what was shown; `what` names it, e.g. `save main/main.c`, `text` is what
    /// was written before, and `comments` go along.
    #[must_use]
    pub fn new(
        purpose: Purpose,
        shown: Shown,
        what: String,
        text: &str,
        comments: Vec<LineComment>,
    ) -> Self {
        let others = Vec::new();
        Self { purpose, shown, others, what, comments, text: field(text), template: None }
    }

    /// Begins words about several proposals at once; `None` when there are none.
    #[must_use]
    pub fn about_all(purpose: Purpose, mut shown: Vec<Shown>, what: String) -> Option<Self> {
        let first = shown.pop()?;
        Some(Self { others: shown, ..Self::new(purpose, first, what, "", Vec::new()) })
    }

    /// Every proposal the words are about.
    #[must_use]
    pub fn all(&self) -> Vec<Shown> {
        self.others.iter().copied().chain([self.shown]).collect()
    }

    /// Whether accepting decides for good.
    #[must_use]
    pub const fn decides(&self) -> bool {
        matches!(self.purpose, Purpose::Tell | Purpose::Reject(_))
    }

    /// What was written so far.
    #[must_use]
    pub fn words(&self) -> String {
        self.text.lines().join(" ").trim().to_owned()
    }

    pub(super) fn on_text(&mut self, key: &KeyEvent) {
        match key.code {
            KeyCode::Up => self.take_template(-1),
            KeyCode::Down => self.take_template(1),
            _ => {
                self.text.input(*key);
            }
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.text.insert_str(text.replace(['\r', '\n'], " "));
    }

    pub(super) fn on_action(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Up => self.take_template(-1),
            Action::Down => self.take_template(1),
            Action::Accept => return self.accept(),
            _ => return Effect::info(format!("enter {}; esc goes back", self.purpose.does())),
        }
        Vec::new()
    }

    fn accept(&self) -> Vec<Effect> {
        let words = self.words();
        let proposal = self.shown.proposal;
        let comments = self.comments.clone();
        let decide = |verdict, unseen| {
            let shown = Shown { unseen, ..self.shown };
            vec![Effect::Close, Effect::intent(Intent::Decide { shown, verdict })]
        };
        match &self.purpose {
            Purpose::Reject(then) if !self.others.is_empty() => {
                let verdict = Verdict::Reject { reason: words, comments, then: *then };
                let shown = self.all();
                vec![Effect::Close, Effect::intent(Intent::DecideAll { shown, verdict })]
            }
            Purpose::Reject(then) => {
                decide(Verdict::Reject { reason: words, comments, then: *then }, 0)
            }
            Purpose::Tell if words.is_empty() && comments.is_empty() => {
                Effect::refuse("the message is empty; esc goes back, to approve without one")
            }
            Purpose::Tell => {
                let note = DecisionNote { words, comments };
                decide(Verdict::ApproveAndTell { note }, self.shown.unseen)
            }
            Purpose::Comment(line) => {
                let remark = ReviewRequest::Remark { proposal, line: *line, words };
                vec![Effect::Close, Effect::Review(remark)]
            }
            Purpose::Ask(_) if words.is_empty() => Effect::refuse("write the question first"),
            Purpose::Ask(excerpt) => {
                let asks = Intent::Inquire { proposal, excerpt: excerpt.clone(), text: words };
                let mut effects = vec![Effect::Close, Effect::intent(asks)];
                effects.extend(Effect::info("asked; nothing was decided"));
                effects
            }
        }
    }

    /// Goes through the templates; what the person wrote is never replaced.
    fn take_template(&mut self, step: isize) {
        let templates = self.purpose.templates();
        let current = self.text.lines().join(" ");
        let template = self.template.and_then(|place| templates.get(place));
        let is_own = !current.is_empty() && template.is_none_or(|text| *text != current);
        if is_own || templates.is_empty() {
            return;
        }
        let count = templates.len();
        let place = match (self.template, step < 0) {
            (None, false) => 0,
            (None, true) => count - 1,
            (Some(place), _) => (place + count).saturating_add_signed(step) % count,
        };
        self.template = Some(place);
        self.text = field(templates.get(place).copied().unwrap_or_default());
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        let templates =
            if self.purpose.templates().is_empty() { "" } else { " · ↑↓ templates" };
        let hint = format!(" enter {}{templates} · esc back ", self.purpose.does());
        let inside = super::frame(self.purpose.title(), &hint, (72, 7), screen, buf, cx);
        let what = match self.comments.len() {
            0 => self.what.clone(),
            1 => format!("{} · with your comment", self.what),
            count => format!("{} · with your {count} comments", self.what),
        };
        let mut rows = inside.rows();
        let is_read = matches!(self.purpose, Purpose::Reject(AfterReject::GoOn) | Purpose::Tell);
        let is_recorded = is_read && cx.view.head.is_scripted();
        let explains = if is_recorded { RECORDED } else { self.purpose.explains() };
        for (text, role) in [(what.as_str(), Role::Dialog), (explains, Role::DialogDim)] {
            if let Some(row) = rows.next() {
                let text = line::cut(text, usize::from(row.width));
                line::draw(&cx.line(text, role), row, buf);
            }
        }
        let field = Rect {
            y: inside.y.saturating_add(3).min(inside.bottom()),
            height: inside.height.saturating_sub(3),
            ..inside
        };
        super::draw_field(TextArea::clone(&self.text), field, buf, cx);
    }
}

fn field(text: &str) -> Box<TextArea<'static>> {
    let mut field = TextArea::new(vec![text.to_owned()]);
    field.set_cursor_line_style(ratatui::style::Style::new());
    field.set_wrap_mode(WrapMode::WordOrGlyph);
    field.move_cursor(CursorMove::End);
    Box::new(field)
}
