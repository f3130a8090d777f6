//! What of the conversation can be taken away as text: a message, a block of code, a call.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::model::CallId;
use crate::view::{CallState, CallView, ChatEntry, PlannedFile, TurnPart};

use super::call::source;
use super::row::FoldItem;

/// What of an entry is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyRange {
    /// What it says.
    Message,
    /// Something in it that was taken hold of.
    Item(FoldItem),
}

/// What is meant of an entry as text.
pub(super) fn text(entry: &ChatEntry, selection: CopyRange) -> String {
    let CopyRange::Item(item) = selection else { return message(entry) };
    let part = |place: usize| entry.turn()?.parts.get(place);
    let call_of = |wanted: CallId| entry.turn()?.call(wanted);
    let found = match item {
        FoldItem::Call(id) => call_of(id).map(call),
        FoldItem::Source(id, number) | FoldItem::Cited((id, number), _) => {
            call_of(id).and_then(|view| source(view, number)).map(|(_, text)| text)
        }
        FoldItem::Thought(place) | FoldItem::Summary(place) => match part(place) {
            Some(TurnPart::Reasoning(text)) => Some(text.clone()),
            Some(TurnPart::Summary(view)) => Some(view.summary.text.clone()),
            _ => None,
        },
        FoldItem::Summarised(_) => None,
        FoldItem::Code(place, fold) => {
            let source = part(place).and_then(|part| part.text()?.get(fold.start..));
            source.and_then(|source| code_blocks(source).into_iter().next())
        }
    };
    found.unwrap_or_else(|| message(entry))
}

/// What an entry says, without what stands between its words.
pub(super) fn message(entry: &ChatEntry) -> String {
    match entry {
        ChatEntry::Turn(turn) => {
            let texts: Vec<&str> = turn.parts.iter().filter_map(TurnPart::text).collect();
            if !texts.is_empty() {
                return texts.join("\n");
            }
            turn.calls().map(call).collect::<Vec<_>>().join("\n\n")
        }
        ChatEntry::Person { text, .. } | ChatEntry::Question { text, .. } => text.clone(),
        ChatEntry::RunStarted { start, .. } => start.task.clone(),
        ChatEntry::Notice { notice, .. } => notice.to_string(),
        ChatEntry::Choice { agent, reason } => format!("{agent}: {reason}"),
        ChatEntry::PhaseStarted { title, .. } => title.clone(),
        ChatEntry::PhaseEnded { phase, .. } => phase.clone(),
        ChatEntry::FilePlan(plan) => {
            let line = |file: &PlannedFile| {
                format!("{} {} – {}", file.state.sign(), file.path, file.purpose)
            };
            plan.files.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        ChatEntry::Ruled(ruled) => ruled.sentence(),
        ChatEntry::Fact { .. } | ChatEntry::Resumed { .. } | ChatEntry::Ended { .. } => {
            String::new()
        }
    }
}

/// A call with its arguments and its answer.
pub(super) fn call(view: &CallView) -> String {
    let json = |value| serde_json::to_string_pretty(value).unwrap_or_default();
    let answer = match &view.state {
        CallState::Running { .. } => "no answer yet".to_owned(),
        CallState::Done { result, .. } => json(result),
    };
    format!("{} {}\n{answer}", view.tool, json(&view.args))
}

/// The blocks of code in a text, in order.
pub(super) fn code_blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => open = Some(String::new()),
            Event::Text(text) => {
                if let Some(block) = &mut open {
                    block.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => blocks.extend(open.take()),
            _ => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_taken_without_its_fences() {
        let text = "Use\n```c\nint x;\n\n```\nor `y`:\n\n    indented\n";
        assert_eq!(code_blocks(text), ["int x;\n\n", "indented\n"]);
    }
}
