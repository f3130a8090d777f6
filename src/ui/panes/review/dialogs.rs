//! What the dialogs about a proposal are opened with.
//!
//! Pure; whether one may be opened now is the decision's business.

use crate::model::{BlobSource, Excerpt, FindingLevel, Proposal, RuleSays, SessionRule, Side};
use crate::text::diff::LineKind;
use crate::text::reverty;
use crate::ui::line;
use crate::ui::overlay::{
    BatchRow, Details, Editor, Overlay, Purpose, RevertyViews, RuleMatches, RuleRow, RulesList,
    WordsInput,
};
use crate::ui::pane::{Effect, OutsideEdit};
use crate::ui::role::Role;
use crate::view::{InquiryState, ProposalView, Review};

use super::change::body::ReviewBody;
use super::edited::{self, proposed_text};
use super::findings;
use super::head;
use super::shown::Shown;

/// Words about a proposal.
pub(super) fn words(purpose: Purpose, view: &ProposalView, shown: &Shown) -> WordsInput {
    let mut what = head::what(&view.proposal.change);
    let (mut text, mut along) = (String::new(), Vec::new());
    match &purpose {
        Purpose::Comment(line) => {
            if let Some((side, line)) = shown.change.body().and_then(|body| body.number_of(*line)) {
                let version = if side == Side::Old { "old line" } else { "line" };
                what.push_str(&format!(" · {version} {line}"));
            }
            text = shown.remarks.get(line).cloned().unwrap_or_default();
        }
        Purpose::Ask(Some(excerpt)) => {
            what.push_str(&format!(" · lines {}–{}", excerpt.first, excerpt.last));
        }
        Purpose::Ask(None) => {}
        Purpose::Reject(_) | Purpose::Tell => {
            (text, along) = (shown.words.clone(), shown.comments());
        }
    }
    WordsInput::new(purpose, shown.for_decision(), what, &text, along)
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
    [Side::New, Side::Old].into_iter().find_map(|side| {
        let numbers = hunk.clone().filter_map(|place| body.number_of(place));
        let mut own = numbers.filter(|(own, _)| *own == side).map(|(_, number)| number);
        let first = own.next()?;
        let last = own.next_back().unwrap_or(first);
        Some(Excerpt { side, first, last, text: text.clone() })
    })
}

/// The text to edit: `start`, else what the person made of it before, else the proposed one.
pub(super) fn editor(
    view: &ProposalView,
    shown: &Shown,
    blobs: &dyn BlobSource,
    start: Option<Vec<u8>>,
) -> Result<Editor, String> {
    let proposed = proposed_text(&view.proposal.change, blobs)?;
    let start = start.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = start.or_else(|| shown.draft.clone()).unwrap_or_else(|| proposed.clone());
    let path = view.proposal.change.path().map_or("", |path| path.as_str()).to_owned();
    let mut editor = Editor::new(shown.for_decision(), path, proposed, &text);
    let first = shown.change.first_changed().and_then(|line| shown.change.body()?.number_of(line));
    if let Some((Side::New, line)) = first {
        editor.go_to(usize::try_from(line).unwrap_or(1).saturating_sub(1));
    }
    Ok(editor)
}

/// The proposed text for the person's own editor.
pub(super) fn outside(
    view: &ProposalView,
    shown: &Shown,
    blobs: &dyn BlobSource,
) -> Result<OutsideEdit, String> {
    let proposed = proposed_text(&view.proposal.change, blobs)?;
    let text = shown.draft.clone().unwrap_or(proposed);
    Ok(edited::outside(shown.for_decision(), &view.proposal.change, text))
}

/// A row of the list of a batch.
pub(super) fn batch_row(view: &ProposalView, shown: &Shown) -> BatchRow {
    let proposal = &view.proposal;
    let count = |level| proposal.findings().filter(|finding| finding.level == level).count();
    let body = shown.change.body();
    let alone = match body {
        _ if shown.edit.is_some() || shown.draft.is_some() => "your edit waits",
        _ if shown.change.load.is_reading() => "still being read",
        None => "cannot be shown",
        Some(_) if proposal.phrase().is_some() => "needs a typed phrase",
        Some(_) => "",
    };
    BatchRow {
        shown: shown.for_decision(),
        what: head::what(&proposal.change),
        detail: body.map_or_else(String::new, |body| head::counts(body)),
        stops: count(FindingLevel::Stop),
        warnings: count(FindingLevel::Warning),
        finding: findings::heaviest(proposal).unwrap_or_default(),
        alone: alone.to_owned(),
    }
}

/// Decisions that a rule is compared with.
const LAST_DECISIONS: usize = 200;

/// Lists the rules that could be made about a proposal, and those that hold.
pub(super) fn rules(on_screen: Option<&Proposal>, review: &Review) -> Vec<Effect> {
    let mut rows = Vec::new();
    if let Some(proposal) = on_screen {
        for says in [RuleSays::Always, RuleSays::Never] {
            rows.extend(candidates(proposal, says).into_iter().map(|rule| {
                let may = |proposal: &Proposal| says == RuleSays::Never || !proposal.needs_person();
                let decides = |proposal: &Proposal| may(proposal) && fits(&rule, proposal);
                let waiting = review.waiting().filter(|view| decides(&view.proposal)).count();
                let last = review.proposals.iter().rev().filter(|view| view.decision.is_some());
                let last: Vec<_> = last.take(LAST_DECISIONS).collect();
                let decided = last.iter().filter(|view| decides(&view.proposal)).count();
                RuleRow::Add(rule, RuleMatches { waiting, decided, of: last.len() })
            }));
        }
    }
    rows.extend(review.rules().map(|view| RuleRow::Revoke(view.id, view.rule.clone())));
    if rows.is_empty() {
        return Effect::info("this session has no rules, and there is no proposal to make one for");
    }
    vec![Effect::open(Overlay::Rules(RulesList::new(rows)))]
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
    let clean = |text: &str| line::clean(text.trim());
    let mut lines = Vec::new();
    for check in &view.proposal.checks {
        let (mark, role) = findings::look(check.level());
        // What was found says it, and not what would be so otherwise.
        let mut words = format!("{mark} {}", check.kind.label());
        if check.level() <= Some(FindingLevel::Note) {
            words.push_str(&format!(" · {}", findings::explains(check.kind)));
        }
        lines.push((words, role));
        for finding in &check.findings {
            let (mark, role) = findings::look(Some(finding.level));
            lines.push((format!("  {mark} {}", findings::sentence(finding)), role));
            if !finding.advice.is_empty() {
                lines.push((format!("    {}", clean(&finding.advice)), Role::Dim));
            }
        }
    }
    let figures: Vec<_> = view.proposal.checks.iter().flat_map(|check| &check.figures).collect();
    if !figures.is_empty() {
        lines.push(("Functions, with the change against before:".to_owned(), Role::Text));
    }
    for function in figures {
        let role = if function.is_changed() { Role::Text } else { Role::Dim };
        lines.push((format!("  {}", clean(&function.words())), role));
    }
    for earlier in &view.earlier {
        lines.push((format!("Changed while it waited: {}", clean(&earlier.why)), Role::Warn));
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
    vec![Effect::open(Overlay::Details(Details::new(lines)))]
}

/// Whether a change is of a program that has a translation to look at.
pub(super) fn is_translated(change: &crate::model::Change) -> bool {
    change.path().is_some_and(|path| reverty::is_program(path.as_str()))
}

/// A proposed program in Reverty with its syntax tree and its Python.
pub(super) fn translation(
    view: &ProposalView,
    blobs: &dyn BlobSource,
) -> Result<Vec<Effect>, String> {
    let change = &view.proposal.change;
    let Some(path) = change.path().filter(|path| reverty::is_program(path.as_str())) else {
        return Err("this is not a program in Reverty (.rev)".to_owned());
    };
    let text = proposed_text(change, blobs)?;
    let views = RevertyViews::new(path.as_str(), &text)?;
    Ok(vec![Effect::open(Overlay::Reverty(views))])
}
