//! Plans, files for the context, documents, and what was cut, as rows of the chat.

use crate::model::{AgentName, ChosenBy, ContextFile, PassageMark, PlanItem, TeamEvent, Timestamp};
use crate::text::plan_order;
use crate::ui::line;
use crate::ui::markdown::StyledText;
use crate::ui::role::Role;
use crate::view::{ChatEntry, TurnPart};

use super::row::{EntryRow, RowContext, marked};

/// The rows of a fact.
pub(super) fn rows(fact: &TeamEvent, at: Timestamp, whole: &RowContext<'_>) -> Vec<EntryRow> {
    // The first row ends with the time, which nothing may run into.
    let time = whole.time(at);
    let space = line::width(&time) + 1;
    let place = &RowContext { width: whole.width.saturating_sub(space), ..*whole };
    let mut rows = match fact {
        TeamEvent::Attached(document) => {
            let cut = match document.omitted {
                0 => String::new(),
                bytes => format!(", {} left out", line::bytes(bytes)),
            };
            let pages = match document.pages {
                None => String::new(),
                Some(1) => "1 page, ".to_owned(),
                Some(pages) => format!("{} pages, ", line::count(u64::from(pages))),
            };
            let bytes = line::bytes(document.bytes);
            let text = format!("source {}, {pages}{bytes}{cut}", document.name);
            marked("▤", Role::Title, &text, Role::Text, place)
        }
        TeamEvent::PlanMade { by, items } => plan(by.as_ref(), items, place),
        TeamEvent::ContextListed { files, .. } => context(files, place),
        TeamEvent::ContextEdited { add, remove } => {
            let added = add.iter().map(|path| format!("+{path}"));
            let removed = remove.iter().map(|path| format!("-{path}"));
            let paths: Vec<String> = added.chain(removed).collect();
            let text = format!("you changed the context: {}", paths.join(" "));
            marked("▤", Role::Person, &text, Role::Text, place)
        }
        TeamEvent::PassageMarked(marked_passage) => {
            let done = match marked_passage.mark {
                PassageMark::Pinned => "you pinned",
                PassageMark::Muted => "you muted",
                PassageMark::None => "you removed the mark of",
            };
            let text = format!("{done} {} · {}", marked_passage.title, marked_passage.source);
            marked("▤", Role::Person, &text, Role::Text, place)
        }
        TeamEvent::ArtifactPosted(artifact) => {
            let text = format!("{}: {}", artifact.kind.word(), artifact.title);
            marked("▪", Role::Dim, &text, Role::Dim, place)
        }
    };
    if let Some(first) = rows.first_mut() {
        let time = StyledText::new(time, Role::Dim);
        *first = std::mem::take(first).with_right(time);
    }
    rows
}

/// Whether the message just before says all of it: nothing has to be read twice.
pub(super) fn stated_before<'t>(
    parts: impl Iterator<Item = &'t str>,
    place: &RowContext<'_>,
) -> bool {
    let bare = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    let Some(turn) = place.before.and_then(ChatEntry::turn) else { return false };
    let message: String = turn.parts.iter().filter_map(TurnPart::text).map(bare).collect();
    let mut parts = parts.map(bare).filter(|part| !part.is_empty()).peekable();
    parts.peek().is_some() && parts.all(|part| message.contains(&part))
}

fn plan(by: Option<&AgentName>, items: &[PlanItem], place: &RowContext<'_>) -> Vec<EntryRow> {
    let head = match by {
        Some(agent) => format!("plan of {agent}"),
        None => "the plan as you changed it".to_owned(),
    };
    let tasks = || items.iter().map(|item| item.task.as_str());
    let is_stated = by.is_some() && stated_before(tasks(), place);
    let steps = line::counted(items.len(), "step", "steps");
    let head = if is_stated { format!("{head}: {steps}, as above") } else { head };
    let mut rows = marked("≡", Role::Title, &head, Role::Title, place);
    for (number, item) in items.iter().enumerate().filter(|_| !is_stated) {
        let who = item.agent.as_ref().map_or(String::new(), |agent| format!("{agent}: "));
        let step = format!("{}. {who}{}", number + 1, item.task);
        rows.extend(marked(" ", Role::Dim, &step, Role::Text, place));
    }
    let tasks: Vec<&str> = tasks().collect();
    for fault in plan_order::faults(&tasks) {
        rows.extend(marked("!", Role::Warn, &fault, Role::Text, place));
    }
    rows
}

fn context(files: &[ContextFile], place: &RowContext<'_>) -> Vec<EntryRow> {
    let tokens: u64 = files.iter().map(|file| file.tokens).sum();
    let count = line::counted(files.len(), "file", "files");
    let head = format!("{count} for the context, about {tokens} tokens");
    let mut rows = marked("▤", Role::Title, &head, Role::Title, place);
    for file in files {
        let size = match file.bytes {
            Some(_) => format!("{:>6} tok", file.tokens),
            None => "not there".to_owned(),
        };
        let by = if file.by == ChosenBy::Person { "  (you)" } else { "" };
        let text = format!("{size}  {}{by}", file.path);
        rows.extend(marked(" ", Role::Dim, &text, Role::Text, place));
    }
    rows
}
