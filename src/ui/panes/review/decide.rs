//! What a decision says: intents and dialogs made from what is on screen.
//!
//! Pure; whether a decision may be taken now is the pane's business.

use crate::model::{
    Amended, BlobSource, Change, DecisionNote, Excerpt, Intent, LineComment, Proposal, RuleSays,
    SessionRule, Shown as ShownHash, Side, UserError,
};
use crate::text::diff::{DiffLimits, LineKind, Options, diff};
use crate::text::sanitize;
use crate::text::select as text_select;
use crate::ui::overlay::{Details, Editor, Overlay, Purpose, RuleRow, RulesList, WordsInput};
use crate::ui::pane::{Effect, OutsideEdit};
use crate::ui::role::Role;
use crate::view::{InquiryState, ProposalView, Review};

use super::body::ReviewBody;
use super::body_line::LineRole;
use super::findings;
use super::head;
use super::select::PickedLines;
use super::shown::Shown;

/// What of a proposal was on screen, as decisions name it.
pub(super) fn shown_hash(shown: &Shown) -> ShownHash {
    let unseen = u32::try_from(shown.unseen()).unwrap_or(u32::MAX);
    ShownHash { proposal: shown.id, hash: shown.hash, unseen, stops: 0 }
}

/// The person's comments on lines.
pub(super) fn comments(shown: &Shown) -> Vec<LineComment> {
    let Some(body) = shown.body() else { return Vec::new() };
    let comment = |(place, text): (&usize, &String)| {
        let (side, line) = side_of(body, *place)?;
        Some(LineComment { side, line, text: text.clone() })
    };
    shown.remarks.iter().filter_map(comment).collect()
}

fn side_of(body: &ReviewBody, place: usize) -> Option<(Side, u32)> {
    let number = |no: usize| u32::try_from(no).unwrap_or(u32::MAX);
    match body.lines.get(place)?.role {
        LineRole::Diff(LineKind::Removed, Some(old), _) => Some((Side::Old, number(old))),
        LineRole::Diff(_, _, Some(new)) => Some((Side::New, number(new))),
        LineRole::Diff(..) | LineRole::Fact | LineRole::Note => None,
    }
}

/// Opens a dialog for words.
pub(super) fn words(purpose: Purpose, view: &ProposalView, shown: &Shown) -> Vec<Effect> {
    let mut what = head::what(&view.proposal.change);
    let text = match &purpose {
        Purpose::Comment(line) => {
            if let Some((side, line)) = shown.body().and_then(|body| side_of(body, *line)) {
                let version = if side == Side::Old { "old line" } else { "line" };
                what.push_str(&format!(" · {version} {line}"));
            }
            shown.remarks.get(line).cloned().unwrap_or_default()
        }
        Purpose::Ask(Some(excerpt)) => {
            what.push_str(&format!(" · lines {}–{}", excerpt.first, excerpt.last));
            String::new()
        }
        Purpose::Ask(None) => String::new(),
        Purpose::Reject(_) | Purpose::Tell => shown.words.clone(),
    };
    let comments = match purpose {
        Purpose::Reject(_) | Purpose::Tell => comments(shown),
        Purpose::Comment(_) | Purpose::Ask(_) => Vec::new(),
    };
    let input = WordsInput::new(purpose, shown_hash(shown), what, &text, comments);
    vec![Effect::Open(Box::new(Overlay::Words(input)))]
}

/// The lines of the hunk around a changed line.
pub(super) fn excerpt(body: &ReviewBody, line: usize) -> Option<Excerpt> {
    let hunk = body.hunks.iter().find(|hunk| hunk.contains(&line))?;
    let lines = body.lines.get(hunk.clone())?;
    let mut text = String::new();
    for line in lines {
        let sign = match line.change() {
            Some(LineKind::Added) => '+',
            Some(LineKind::Removed) => '-',
            Some(LineKind::Context) | None => ' ',
        };
        text.push(sign);
        text.push_str(line.source());
        text.push('\n');
    }
    let numbers = |side: Side| {
        let mut found = hunk.clone().filter_map(|place| {
            side_of(body, place).filter(|(own, _)| *own == side).map(|(_, number)| number)
        });
        let first = found.next()?;
        Some((first, found.next_back().unwrap_or(first)))
    };
    let (side, (first, last)) = numbers(Side::New)
        .map(|range| (Side::New, range))
        .or_else(|| numbers(Side::Old).map(|range| (Side::Old, range)))?;
    Some(Excerpt { side, first, last, text })
}

/// The file with the picked lines only.
///
/// # Errors
/// When it cannot be put together from what is on screen.
pub(super) fn picked_content(
    change: &Change,
    blobs: &dyn BlobSource,
    body: &ReviewBody,
    selection: &PickedLines,
) -> Result<Vec<u8>, UserError> {
    let read = |blob: Option<crate::model::BlobRef>| {
        blob.map_or_else(|| Ok(Vec::new()), |blob| blobs.blob(&blob.hash).map(|b| b.to_vec()))
    };
    let (old, new) = (read(change.before())?, read(change.after())?);
    let limits = DiffLimits { lines: usize::MAX, line: usize::MAX, bytes: usize::MAX };
    let found = diff(&old, &new, Options { limits, ..Options::default() });
    let (all, accepted) = (accept(body, |_| true), accept(body, |line| selection.is_picked(line)));
    if text_select::LineSelection::all(&found) != all {
        return Err(UserError::new(
            "Cannot pick single lines of this change",
            "it is too long for an exact comparison",
            "Decide on it as a whole, or edit it.",
        ));
    }
    Ok(text_select::select(&old, &new, &found, &accepted))
}

fn accept(body: &ReviewBody, is_picked: impl Fn(usize) -> bool) -> text_select::LineSelection {
    let mut accepted = text_select::LineSelection::default();
    for place in body.changed().filter(|place| is_picked(*place)) {
        match body.lines.get(place).map(|line| line.role) {
            Some(LineRole::Diff(LineKind::Removed, Some(old), _)) => {
                accepted.removed.insert(old);
            }
            Some(LineRole::Diff(LineKind::Added, _, Some(new))) => {
                accepted.added.insert(new);
            }
            Some(LineRole::Diff(..) | LineRole::Fact | LineRole::Note) | None => {}
        }
    }
    accepted
}

/// Approves some of the changed lines.
pub(super) fn amend_lines(shown: &Shown, content: Vec<u8>) -> Intent {
    Intent::Amend {
        // Each of these lines was on screen; that counts.
        shown: ShownHash { unseen: 0, ..shown_hash(shown) },
        how: Amended::Lines,
        content,
        note: DecisionNote { words: String::new(), comments: comments(shown) },
        phrase: None,
    }
}

/// Opens the proposed text for editing, or what the person made of it before.
pub(super) fn edit(
    view: &ProposalView,
    shown: &Shown,
    blobs: &dyn BlobSource,
    start: Option<Vec<u8>>,
) -> Vec<Effect> {
    let proposed = match proposed_text(&view.proposal.change, blobs) {
        Ok(text) => text,
        Err(why) => return Effect::refuse(why),
    };
    let start = start.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = start.or_else(|| shown.draft.clone()).unwrap_or_else(|| proposed.clone());
    let path = view.proposal.change.path().map_or("", |path| path.as_str()).to_owned();
    let mut editor = Editor::new(shown_hash(shown), path, proposed, &text);
    let first = shown.first_changed().and_then(|line| side_of(shown.body()?, line));
    if let Some((Side::New, line)) = first {
        editor.go_to(usize::try_from(line).unwrap_or(1).saturating_sub(1));
    }
    vec![Effect::Open(Box::new(Overlay::Editor(Box::new(editor))))]
}

/// The proposed text for the person's own editor.
pub(super) fn edit_outside(
    view: &ProposalView,
    shown: &Shown,
    blobs: &dyn BlobSource,
) -> Result<OutsideEdit, String> {
    let proposed = proposed_text(&view.proposal.change, blobs)?;
    let text = shown.draft.clone().unwrap_or(proposed);
    let path = view.proposal.change.path();
    let name = path.map_or("proposal", |path| path.file_name()).to_owned();
    Ok(OutsideEdit { shown: shown_hash(shown), name, text })
}

pub(super) fn proposed_text(change: &Change, blobs: &dyn BlobSource) -> Result<String, String> {
    let Some(content) = change.after() else {
        return Err(format!("a {} has no text to edit", change.kind()));
    };
    let bytes = blobs.blob(&content.hash).map_err(|error| error.to_string())?;
    String::from_utf8(bytes.to_vec())
        .map_err(|_| "it is not UTF-8 text, so it cannot be edited here".to_owned())
}

/// Lists the rules that could be made about a proposal, and those that hold.
pub(super) fn rules(on_screen: Option<&Proposal>, review: &Review) -> Vec<Effect> {
    let mut rows = Vec::new();
    if let Some(proposal) = on_screen {
        for says in [RuleSays::Always, RuleSays::Never] {
            rows.extend(candidates(proposal, says).into_iter().map(|rule| {
                let now = review.waiting().filter(|view| fits(&rule, &view.proposal)).count();
                RuleRow::Add(rule, now)
            }));
        }
    }
    rows.extend(review.rules().map(|view| RuleRow::Revoke(view.id, view.rule.clone())));
    if rows.is_empty() {
        return Effect::info("this session has no rules, and there is no proposal to make one for");
    }
    vec![Effect::Open(Box::new(Overlay::Rules(RulesList::new(rows))))]
}

/// Rules that a person may want about a proposal; what is done to hardware is never offered one that
/// approves.
fn candidates(proposal: &Proposal, says: RuleSays) -> Vec<SessionRule> {
    if proposal.needs_person() && says == RuleSays::Always {
        return Vec::new();
    }
    let kind = Some(proposal.change.change_kind());
    let rule = SessionRule { says, kind, path: None, tool: None, agent: None };
    let mut rules = Vec::new();
    if let Some(path) = proposal.change.path() {
        rules.push(SessionRule { path: Some(path.as_str().to_owned()), ..rule.clone() });
        if let Some((folder, _)) = path.as_str().rsplit_once('/') {
            rules.push(SessionRule { path: Some(format!("{folder}/**")), ..rule.clone() });
        }
    }
    rules.push(SessionRule { tool: Some(proposal.tool.clone()), ..rule.clone() });
    rules.push(SessionRule { agent: Some(proposal.agent.clone()), ..rule });
    rules
}

/// Whether a rule made here is about a proposal.
fn fits(rule: &SessionRule, proposal: &Proposal) -> bool {
    let path = proposal.change.path().map_or("", |path| path.as_str());
    rule.kind.is_none_or(|kind| kind == proposal.change.change_kind())
        && rule.tool.as_ref().is_none_or(|tool| *tool == proposal.tool)
        && rule.agent.as_ref().is_none_or(|agent| *agent == proposal.agent)
        && rule.path.as_ref().is_none_or(|pattern| match pattern.strip_suffix("**") {
            Some(folder) => path.starts_with(folder),
            None => path == pattern,
        })
}

/// Everything that is known about a proposal beside its lines.
pub(super) fn details(view: &ProposalView) -> Vec<Effect> {
    let clean = |text: &str| sanitize::line(text.trim()).into_owned();
    let mut lines = Vec::new();
    for check in &view.proposal.checks {
        let (mark, role) = findings::look(check.level());
        lines.push((
            format!("{mark} {} · {}", check.kind.label(), findings::explains(check.kind)),
            role,
        ));
        for finding in &check.findings {
            let (mark, role) = findings::look(Some(finding.level));
            lines.push((format!("  {mark} {}", findings::sentence(finding)), role));
            if !finding.advice.is_empty() {
                lines.push((format!("    {}", clean(&finding.advice)), Role::Dim));
            }
        }
    }
    for earlier in &view.earlier {
        lines.push((format!("Restated: {}", clean(&earlier.why)), Role::Warn));
    }
    if !view.proposal.reason.trim().is_empty() {
        lines.push((format!("The agent says: {}", clean(&view.proposal.reason)), Role::Text));
    }
    for asked in &view.inquiries {
        lines.push((format!("You asked: {}", clean(&asked.text)), Role::Text));
        let answer = match &asked.state {
            InquiryState::Open if asked.answer.is_empty() => "…".to_owned(),
            InquiryState::Answered if asked.answer.trim().is_empty() => {
                "gave no answer; nothing was decided".to_owned()
            }
            InquiryState::Open | InquiryState::Answered => clean(&asked.answer),
            InquiryState::Failed(error) => format!("{} ✗ {error}", clean(&asked.answer)),
        };
        lines.push((format!("  {}: {answer}", clean(asked.agent.as_str())), Role::Dim));
    }
    vec![Effect::Open(Box::new(Overlay::Details(Details::new(lines))))]
}
