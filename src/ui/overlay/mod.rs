//! Dialogs over the panes: help, palette, themes, leaving, a reason, a list to decide, a file.
//!
//! While one is open it has all keys. Closing one without an answer never decides anything.

mod batch;
mod confirm;
mod context_files;
mod details;
mod editor;
mod frame;
mod help;
mod jump_to;
mod learned;
mod models;
mod palette;
mod pick;
mod plan;
mod preview;
mod question;
mod quit;
mod recorded;
mod reverty_views;
mod rules;
mod run_overview;
pub(super) mod search_field;
mod sources;
mod tags;
mod themes;
mod words;

pub use batch::{BatchList, BatchRow};
pub use confirm::Confirm;
pub use context_files::ContextDesk;
pub use details::Details;
pub use editor::Editor;
pub use help::{HelpView, key_table};
pub use jump_to::JumpTo;
pub use learned::{blackboard_overlay, policy_overlay};
pub use models::{ModelList, ModelOffer};
pub use palette::{PaletteEntry, PaletteUses, PaletteView};
pub use plan::PlanDesk;
pub use preview::{FileContents, Preview};
pub use question::AnswerList;
pub use quit::QuitChoice;
pub use recorded::Recorded;
pub use reverty_views::RevertyViews;
pub use rules::{RuleMatches, RuleRow, RulesList};
pub use run_overview::RunOverview;
pub use sources::{SourceList, has_sources};
pub use tags::TagList;
pub use themes::ThemeList;
pub use words::{Purpose, WordsInput};

use std::time::Instant;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use crate::model::{ContentHash, Intent, ProposalId, QuestionId, Shown};

use super::action::Action;
use super::guard::Care;
use super::job::LOOK;
use super::pane::{Cx, Effect, ReviewRequest};
use frame::{draw_field, draw_keys, foot_rows, frame, mark_selected, rows_for};

/// Closes a dialog with an answer to its question.
fn answered(question: QuestionId, answer: impl Into<String>) -> Vec<Effect> {
    let answer = answer.into();
    vec![Effect::Close, Effect::intent(Intent::Answer { question, answer })]
}

#[derive(Debug)]
pub enum Overlay {
    /// What every key does.
    Help(HelpView),
    /// Every action by its words.
    Palette(PaletteView),
    /// How things look.
    Themes(ThemeList),
    /// Which model answers.
    Models(ModelList),
    /// Leave while a run goes on?
    Quit(QuitChoice),
    /// Words about a proposal.
    Words(WordsInput),
    /// What is about to be decided together.
    Batch(BatchList),
    /// A proposed text that is edited; what came of it is shown before it is sent.
    Editor(Box<Editor>),
    /// A phrase that confirms a decision.
    Confirm(Confirm),
    /// Rules of the session.
    Rules(RulesList),
    /// Details about a proposal.
    Details(Details),
    /// A program in Reverty, its syntax tree and its Python.
    Reverty(RevertyViews),
    /// The run at a glance.
    Run(RunOverview),
    /// What was found in the documentation.
    Sources(SourceList),
    /// What is in a file.
    Preview(Preview),
    /// To where in a replay?
    JumpTo(JumpTo),
    /// Which tags of a port show?
    Tags(Box<TagList>),
    /// A plan before it is carried out.
    Plan(PlanDesk),
    /// Files before they are read.
    Context(ContextDesk),
    /// A question with answers to choose from.
    Question(AnswerList),
}

/// Which keys a dialog takes as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKeys {
    None,
    /// Digits that select one of its rows.
    Digits,
    /// Those that type or edit a line.
    Line,
    /// Those that type or edit a line, but not the ones that go up and down.
    Alongside,
    /// All but those that accept or leave a whole text.
    Page,
}

impl Overlay {
    /// How much care accepting it takes, if that decides something for good.
    #[must_use]
    pub const fn care(&self) -> Option<Care> {
        match self {
            Self::Batch(_) | Self::Rules(_) | Self::Question(_) => Some(Care::Looked),
            Self::Plan(plan) if !plan.is_typing() => Some(Care::Looked),
            Self::Context(list) if !list.is_typing() => Some(Care::Looked),
            Self::Words(words) if !words.decides() => None,
            Self::Models(list) if list.decides() => Some(Care::Looked),
            Self::Plan(_)
            | Self::Context(_)
            | Self::Words(_)
            | Self::Confirm(_)
            | Self::Quit(_) => Some(Care::Typed),
            Self::Editor(_)
            | Self::Help(_)
            | Self::Palette(_)
            | Self::Themes(_)
            | Self::Models(_)
            | Self::Details(_)
            | Self::Reverty(_)
            | Self::Run(_)
            | Self::Sources(_)
            | Self::Preview(_)
            | Self::Tags(_)
            | Self::JumpTo(_) => None,
        }
    }

    /// The proposals it is about as they were shown; it no longer makes sense when one of them
    /// is decided or changed.
    #[must_use]
    pub fn proposals(&self) -> Vec<(ProposalId, ContentHash)> {
        let of = |shown: &Shown| vec![(shown.proposal, shown.hash)];
        match self {
            Self::Words(words) => words.all().iter().flat_map(of).collect(),
            Self::Editor(editor) => of(&editor.shown),
            Self::Confirm(confirm) => of(&confirm.shown),
            Self::Batch(batch) => batch.proposals(),
            _ => Vec::new(),
        }
    }

    /// The question it answers; it no longer makes sense when that is answered.
    #[must_use]
    pub const fn question(&self) -> Option<QuestionId> {
        match self {
            Self::Plan(plan) => Some(plan.question),
            Self::Context(context) => Some(context.question),
            Self::Question(list) => Some(list.question),
            _ => None,
        }
    }

    /// Which keys it takes as text.
    #[must_use]
    pub fn text_keys(&self) -> TextKeys {
        match self {
            Self::Words(_) | Self::Confirm(_) | Self::Palette(_) => TextKeys::Line,
            // Up and down walk through what was found.
            Self::JumpTo(_) => TextKeys::Alongside,
            Self::Editor(_) => TextKeys::Page,
            Self::Question(_) => TextKeys::Digits,
            Self::Help(help) if help.is_searching() => TextKeys::Line,
            Self::Plan(plan) if plan.is_typing() => TextKeys::Line,
            Self::Context(context) if context.is_typing() => TextKeys::Alongside,
            _ => TextKeys::None,
        }
    }

    /// What was typed and must not be lost when it closes by itself.
    #[must_use]
    pub fn keep(&self) -> Option<ReviewRequest> {
        match self {
            Self::Editor(editor) => Some(editor.keep()),
            Self::Words(words) if !words.words().is_empty() => {
                let (proposal, words) = (words.shown.proposal, words.words());
                Some(ReviewRequest::Words { proposal, words })
            }
            _ => None,
        }
    }

    /// A key that types or edits text.
    pub fn on_text(&mut self, key: &KeyEvent) {
        match self {
            Self::Words(words) => words.on_text(key),
            Self::Editor(editor) => editor.on_text(key),
            Self::Confirm(confirm) => confirm.on_text(key),
            Self::Palette(palette) => palette.on_text(key),
            Self::Help(help) => help.on_text(key),
            Self::JumpTo(jump) => jump.on_text(key),
            Self::Plan(plan) => plan.on_text(key),
            Self::Context(context) => context.on_text(key),
            Self::Question(list) => list.on_text(key),
            _ => {}
        }
    }

    /// Pasted text; tells whether there was a place for it.
    pub fn on_paste(&mut self, text: &str) -> bool {
        match self {
            Self::Words(words) => words.on_paste(text),
            Self::Palette(palette) => palette.on_paste(text),
            Self::Editor(editor) => editor.on_paste(text),
            Self::JumpTo(jump) => jump.on_paste(text),
            Self::Plan(plan) => return plan.on_paste(text),
            Self::Context(context) => return context.on_paste(text),
            // What must be typed to confirm must not be pasted.
            _ => return false,
        }
        true
    }

    /// Does what a key asked for.
    pub fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Vec<Effect> {
        match self {
            Self::Editor(editor) => editor.on_action(action),
            Self::Help(help) => help.on_action(action, cx),
            Self::Themes(themes) => themes.on_action(action),
            Self::Tags(tags) => tags.on_action(action),
            Self::Plan(plan) if plan.is_typing() => plan.on_action(action),
            Self::Context(context) if context.is_typing() => context.on_action(action, cx),
            _ if action == Action::Cancel => {
                std::iter::once(Effect::Close).chain(self.keep().map(Effect::Review)).collect()
            }
            Self::Palette(palette) => palette.on_action(action),
            Self::Models(models) => models.on_action(action),
            Self::Quit(quit) => quit.on_action(action),
            Self::Words(words) => words.on_action(action),
            Self::Batch(batch) => batch.on_action(action, cx),
            Self::Confirm(confirm) => confirm.on_action(action),
            Self::Rules(rules) => rules.on_action(action),
            Self::Details(details) => details.on_action(action),
            Self::Reverty(views) => views.on_action(action),
            Self::Run(run) => run.on_action(action),
            Self::Sources(sources) => sources.on_action(action, cx),
            Self::Preview(preview) => preview.on_action(action),
            Self::JumpTo(jump) => jump.on_action(action, cx),
            Self::Plan(plan) => plan.on_action(action),
            Self::Context(context) => context.on_action(action, cx),
            Self::Question(list) => list.on_action(action),
        }
    }

    /// Brings it up to date for a screen of that size.
    pub fn prepare(&mut self, screen: Size) {
        match self {
            Self::Preview(preview) => preview.prepare(screen),
            Self::JumpTo(jump) => jump.prepare(),
            Self::Tags(tags) => tags.prepare(),
            Self::Sources(sources) => sources.prepare(screen),
            _ => {}
        }
    }

    /// What it does by itself, now that it has found what was asked for.
    pub fn go_on(&mut self, cx: &Cx<'_>) -> Vec<Effect> {
        match (self, cx.timeline) {
            (Self::JumpTo(jump), Some(timeline)) => {
                jump.prepare();
                jump.go_found(timeline)
            }
            _ => Vec::new(),
        }
    }

    /// When it changes by itself.
    #[must_use]
    pub fn next_wake(&self, now: Instant) -> Option<Instant> {
        match self {
            Self::Preview(preview) => preview.next_wake(now),
            Self::JumpTo(jump) => jump.is_busy().then(|| now + LOOK),
            Self::Tags(tags) => tags.is_busy().then(|| now + LOOK),
            _ => None,
        }
    }

    /// Draws it over everything else.
    pub fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        match self {
            Self::Help(help) => help.draw(screen, buf, cx),
            Self::Palette(palette) => palette.draw(screen, buf, cx),
            Self::Themes(themes) => themes.draw(screen, buf, cx),
            Self::Models(models) => models.draw(screen, buf, cx),
            Self::Quit(quit) => quit.draw(screen, buf, cx),
            Self::Words(words) => words.draw(screen, buf, cx),
            Self::Batch(batch) => batch.draw(screen, buf, cx),
            Self::Editor(editor) => editor.draw(screen, buf, cx),
            Self::Confirm(confirm) => confirm.draw(screen, buf, cx),
            Self::Rules(rules) => rules.draw(screen, buf, cx),
            Self::Details(details) => details.draw(screen, buf, cx),
            Self::Reverty(views) => views.draw(screen, buf, cx),
            Self::Run(run) => run.draw(screen, buf, cx),
            Self::Sources(sources) => sources.draw(screen, buf, cx),
            Self::Preview(preview) => preview.draw(screen, buf, cx),
            Self::JumpTo(jump) => jump.draw(screen, buf, cx),
            Self::Tags(tags) => tags.draw(screen, buf, cx),
            Self::Plan(plan) => plan.draw(screen, buf, cx),
            Self::Context(context) => context.draw(screen, buf, cx),
            Self::Question(list) => list.draw(screen, buf, cx),
        }
    }
}
