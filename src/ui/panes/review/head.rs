//! What stands above a change: what and who, what was found, the reason.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{
    Change, Check, CheckKind, DecidedBy, Finding, FindingLevel, Outcome, Proposal, Timestamp,
};
use crate::text::sanitize;
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::{BuildErrors, Cx, Keys};
use crate::ui::panes::wrap::{wrap_at_most, wrap_words};
use crate::ui::role::Role;
use crate::view::{InquiryState, ProposalView, against, rule_words};

use super::change::body::ReviewBody;
use super::findings;

/// Most findings that take rows of their own.
const MAX_FINDINGS: usize = 6;

/// Most rows of one of them.
const MAX_FINDING_ROWS: usize = 2;

/// Panes with fewer rows have none to spare.
pub(super) const ROOMY: u16 = 24;

/// Most rows for the agent's reason.
const MAX_REASON: usize = 3;

/// Least columns for the reason beside the summary of the checks.
const LEAST_REASON: usize = 24;

/// Least columns for a path in the title.
const LEAST_PATH: usize = 16;

/// A row with something at its right end.
#[derive(Debug, Clone, Default)]
pub(super) struct HeadRow {
    pub left: Line<'static>,
    pub right: Line<'static>,
}

/// What stands in the title rule, in so many columns.
pub(super) fn title(view: Option<&ProposalView>, columns: usize, cx: &Cx<'_>) -> Line<'static> {
    let look = cx.style(match cx.keys {
        Keys::Here => Role::TitleFocus,
        Keys::Elsewhere => Role::Title,
    });
    let review = &cx.view.review;
    let waiting = review.waiting.len();
    let Some(view) = view else {
        // A question may wait all the same.
        let rest = cx.span(" · no change waits", Role::Dim);
        return Line::from(vec![Span::styled("Review", look), rest]);
    };
    let id = view.proposal.id;
    let place = review.waiting.iter().position(|waiting| *waiting == id);
    let place = match place {
        Some(place) => format!(" {}/{waiting}", place + 1),
        None => format!(" · #{id}{}", end_words(view)),
    };
    let begin = format!("Review{place}");
    let mut after = Vec::new();
    // What was decided is judged no more.
    let asked = findings::asked(&view.proposal).filter(|_| view.outcome.is_none());
    if let Some((words, role)) = asked {
        after.push(cx.span(format!(" · {words}"), role));
    }
    if !review.waiting.contains(&id) && waiting > 0 {
        after.push(Span::styled(" ", look));
        after.push(cx.span(format!(" {waiting} waiting "), Role::Waiting));
    }
    let used = line::width(&begin) + 3 + after.iter().map(Span::width).sum::<usize>();
    let space = columns.saturating_sub(used);
    let stop = findings::weighty(&view.proposal).into_iter().next();
    let stop = stop.filter(|finding| finding.level == FindingLevel::Stop);
    let stop = stop.map(|finding| format!(" · ✗ {}", findings::sentence(finding)));
    let what = what(&view.proposal.change);
    // The finding matters more than the middle of a long path.
    let least = line::width(&what).min(LEAST_PATH.max(space / 2)).min(space);
    let stop = stop.map(|stop| line::cut(&stop, space - least)).unwrap_or_default();
    let what = line::cut_middle(&what, (space - line::width(&stop)).max(LEAST_PATH));
    let mut spans =
        vec![Span::styled(begin, look), cx.span(" · ", Role::Dim), Span::styled(what, look)];
    spans.extend(after);
    if !stop.is_empty() {
        spans.push(cx.span(stop, Role::Error));
    }
    Line::from(spans)
}

/// What became of a proposal, in a word or two; empty before that.
fn end_words(view: &ProposalView) -> &'static str {
    let by = view.decision.as_ref().map(|(decision, _)| &decision.by);
    match (&view.outcome, by) {
        (None, _) => "",
        (Some(Outcome::Applied), _) => " done",
        (Some(Outcome::Denied), Some(DecidedBy::Nobody(_))) => " not decided",
        (Some(Outcome::Denied), _) => " rejected",
        (Some(Outcome::Failed(_) | Outcome::Stale { .. } | Outcome::Interrupted(_)), _) => {
            " not done"
        }
    }
}

/// A change in a few words, e.g. `save main/main.c`.
pub(super) fn what(change: &Change) -> String {
    let what = match change {
        Change::Flash(plan) => format!("flash {}", plan.board.label),
        Change::Erase(plan) => format!("erase {} of {}", plan.name(), plan.board.label),
        Change::Read(plan) => format!("read {} of {}", plan.region.name(), plan.board.label),
        Change::Nvs(plan) => format!("edit {} of {}", plan.region.name(), plan.board.label),
        Change::Send(plan) => format!("send to {}", plan.board.label),
        Change::Save { path, .. } | Change::Delete { path, .. } | Change::Insert { path, .. } => {
            format!("{} {path}", change.kind())
        }
    };
    line::clean(&what)
}

/// How many lines change, e.g. `+1 −1 · 1 hunk`.
pub(super) fn counts(body: &ReviewBody) -> String {
    match body.hunks.len() {
        0 => String::new(),
        1 => format!("+{} −{} · 1 hunk", body.added, body.removed),
        hunks => format!("+{} −{} · {hunks} hunks", body.added, body.removed),
    }
}

/// The rows above a change, in a pane of that many columns and rows.
pub(super) fn head(
    view: &ProposalView,
    body: Option<&ReviewBody>,
    (width, height): (usize, u16),
    cx: &Cx<'_>,
) -> Vec<HeadRow> {
    let right = body.map_or_else(Line::default, |body| counts_line(view, body, cx));
    let mut rows = who(view, right, width, cx);
    rows.extend(finding_rows(&view.proposal, width, cx));
    rows.extend(reason(view, (width, height), cx));
    rows.extend(failed_build(view, width, cx));
    rows.extend(story(view, (width, height), cx));
    rows
}

/// Who asks by which tool, and how much changes; on two rows where one cannot hold both.
fn who(view: &ProposalView, right: Line<'static>, width: usize, cx: &Cx<'_>) -> Vec<HeadRow> {
    let proposal = &view.proposal;
    let role = cx.agents.role(&proposal.agent);
    let space = width.saturating_sub(6);
    let tool = line::cut_middle(proposal.tool.as_str(), space / 2);
    let agent = line::cut_middle(proposal.agent.as_str(), space.saturating_sub(line::width(&tool)));
    let left = Line::from(vec![
        Span::raw(" "),
        cx.span(agent, role),
        cx.span(" via ", Role::Dim),
        cx.span(tool, Role::Text),
    ]);
    if right.width() == 0 || left.width() + right.width() + 2 <= width {
        return vec![HeadRow { left, right }];
    }
    let mut counts = right;
    counts.spans.insert(0, Span::raw(" "));
    vec![HeadRow { left, right: Line::default() }, HeadRow { left: counts, right: Line::default() }]
}

/// The rows of the findings that matter.
fn finding_rows(proposal: &Proposal, width: usize, cx: &Cx<'_>) -> Vec<HeadRow> {
    let found = findings::weighty(proposal);
    let mut rows = Vec::new();
    for finding in found.iter().take(MAX_FINDINGS) {
        let (mark, role) = findings::look(Some(finding.level));
        let sentence = findings::sentence(finding);
        let words = wrap_at_most(&sentence, width.saturating_sub(4), MAX_FINDING_ROWS);
        rows.extend(words.into_iter().enumerate().map(|(nth, row)| {
            let mark = if nth == 0 { mark } else { " " };
            plain(format!(" {mark} {row}"), cx.style(role))
        }));
    }
    if let Some(more) = found.len().checked_sub(MAX_FINDINGS).filter(|more| *more > 0) {
        let key = cx.key(KeyContext::Review, Action::Details);
        rows.push(plain(format!("   {more} more · {key} shows all"), cx.style(Role::Warn)));
    }
    rows
}

/// How a finding about tests ends; it goes without saying next to the change.
const WITH_CONTENT: &str = " with this content";

/// The checks that found nothing that matters, in a few words: `✓ 11 checks · 2 notes`.
fn summary(checks: &[Check], cx: &Cx<'_>) -> Option<Line<'static>> {
    if checks.is_empty() {
        return None;
    }
    let (dim, key) = (cx.style(Role::Dim), cx.key(KeyContext::Review, Action::Details));
    let clean = checks.iter().filter(|check| check.level() <= Some(FindingLevel::Note)).count();
    let mut spans = Vec::new();
    if clean > 0 {
        let what = if clean == 1 { "check" } else { "checks" };
        spans.push(cx.span("✓", Role::Ok));
        spans.push(Span::styled(format!(" {clean} {what} · "), dim));
    }
    if let Some(check) = checks.iter().find(|check| check.kind == CheckKind::Tests)
        && let Some(finding) = check.findings.first()
    {
        let (mark, role) = match finding.level {
            FindingLevel::Note => ("✓", Role::Ok),
            FindingLevel::Warning | FindingLevel::Stop => ("✗", Role::Error),
        };
        let words = finding.text.strip_suffix(WITH_CONTENT).unwrap_or(&finding.text);
        let words = words.strip_suffix(" passed").unwrap_or(words);
        spans.push(cx.span(mark, role));
        spans.push(Span::styled(format!(" {} · ", sanitize::line(words)), dim));
    }
    let is_note = |finding: &&Finding| finding.level == FindingLevel::Note;
    let others =
        checks.iter().filter(|check| !matches!(check.kind, CheckKind::Scope | CheckKind::Tests));
    match others.flat_map(|check| &check.findings).filter(is_note).count() {
        0 => {}
        1 => spans.push(Span::styled("1 note · ", dim)),
        notes => spans.push(Span::styled(format!("{notes} notes · "), dim)),
    }
    spans.push(Span::styled(format!("{key} details "), dim));
    Some(Line::from(spans))
}

/// The agent's reason, with the summary of the checks at its right end where there is room.
fn reason(view: &ProposalView, (width, height): (usize, u16), cx: &Cx<'_>) -> Vec<HeadRow> {
    let summary = summary(&view.proposal.checks, cx);
    let reason = sanitize::line(view.proposal.reason.trim());
    let indented = |mut line: Line<'static>| {
        line.spans.insert(0, Span::raw(" "));
        HeadRow { left: line, right: Line::default() }
    };
    if reason.is_empty() {
        return summary.map(indented).into_iter().collect();
    }
    let text = format!("“{reason}”");
    let summary_width = summary.as_ref().map_or(0, |summary| summary.width() + 2);
    let space = width.saturating_sub(summary_width + 1);
    let most = if height < ROOMY { 1 } else { MAX_REASON };
    let style = cx.style(Role::Text);
    let fits = line::width(&text) <= space;
    if fits || (most == 1 && space >= LEAST_REASON) {
        let left = Line::styled(format!(" {}", line::cut(&text, space)), style);
        return vec![HeadRow { left, right: summary.unwrap_or_default() }];
    }
    let words = wrap_at_most(&text, width.saturating_sub(2), most);
    let rows = words.into_iter().map(|row| plain(format!(" {row}"), style));
    rows.chain(summary.map(indented)).collect()
}

/// Why the last build failed, which a change that waits is likely to be about, unless the logs show it.
fn failed_build(view: &ProposalView, width: usize, cx: &Cx<'_>) -> Vec<HeadRow> {
    let is_needed = view.decision.is_none() && cx.build_errors == BuildErrors::Elsewhere;
    let build = cx.view.logs.builds.last().filter(|_| is_needed);
    let Some(error) = build.and_then(|build| build.first_error()) else { return Vec::new() };
    let file = error.file.as_deref().map(|file| match error.line {
        Some(line) => format!("{file}:{line}: "),
        None => format!("{file}: "),
    });
    let text = format!("build failed: {}{}", file.unwrap_or_default(), error.message);
    let words = wrap_at_most(&sanitize::line(&text), width.saturating_sub(2), MAX_FINDING_ROWS);
    words.into_iter().map(|row| plain(format!(" {row}"), cx.style(Role::Error))).collect()
}

/// What happened to it while it waited: the file changed, a question was asked.
fn story(view: &ProposalView, (width, height): (usize, u16), cx: &Cx<'_>) -> Vec<HeadRow> {
    let mut remarks: Vec<(String, Role)> = Vec::new();
    let rule = rule_words(&view.proposal.facts.held_rule);
    if !rule.is_empty() && view.decision.is_none() {
        let why = against(&view.proposal);
        let text = format!("rule \"{rule}\" does not decide this: {why}");
        remarks.push((line::clean(&text), Role::Warn));
    }
    if let Some(undone) = view.proposal.facts.undoes {
        remarks.push((format!("undoes #{undone}"), Role::Warn));
    }
    if let Some(earlier) = view.earlier.last() {
        remarks.push((
            format!("changed while it waited: {}", sanitize::line(earlier.why.trim())),
            Role::Warn,
        ));
    }
    if let Some(asked) = view.inquiries.last() {
        remarks.push((format!("you asked: {}", sanitize::line(asked.text.trim())), Role::Dim));
        let answer = line::clean(asked.answer.trim());
        let agent = line::clean(asked.agent.as_str());
        remarks.push(match &asked.state {
            InquiryState::Open if answer.is_empty() => {
                (format!("{agent} is thinking…"), Role::Busy)
            }
            InquiryState::Answered if answer.is_empty() => {
                (format!("{agent} gave no answer; nothing was decided"), Role::Warn)
            }
            InquiryState::Open | InquiryState::Answered => {
                (format!("{agent}: {answer}"), Role::Text)
            }
            InquiryState::Failed(error) => {
                (format!("no answer: {}", sanitize::line(&error.to_string())), Role::Error)
            }
        });
    }
    let mut rows = Vec::new();
    for (text, role) in remarks {
        let mut words = wrap_words(&text, width.saturating_sub(2));
        let most = MAX_REASON.max(usize::from(height) / 6);
        if words.len() > most {
            words.truncate(most);
            if let Some(last) = words.last_mut() {
                let key = cx.key(KeyContext::Review, Action::Details);
                let more = format!("… {key} shows all");
                let space = width.saturating_sub(3 + line::width(&more));
                let cut = line::cut(last, space);
                *last = format!("{}{more}", cut.trim_end_matches('…'));
            }
        }
        rows.extend(words.into_iter().map(|row| plain(format!(" {row}"), cx.style(role))));
    }
    rows
}

/// When a build was made: a time of the session, as an age would have to tick.
fn built(at: Timestamp, cx: &Cx<'_>) -> String {
    if at < cx.view.started_at {
        return "· built before this session ".to_owned();
    }
    format!("· built at {} ", line::clock(at.millis_since(cx.view.started_at)))
}

fn counts_line(view: &ProposalView, body: &ReviewBody, cx: &Cx<'_>) -> Line<'static> {
    let added = cx.span(format!("+{}", body.added), Role::FileNew);
    let removed = cx.span(format!("−{}", body.removed), Role::FileDelete);
    let hunks = match body.hunks.len() {
        1 => " · 1 hunk ".to_owned(),
        hunks => format!(" · {hunks} hunks "),
    };
    let hunks = cx.span(hunks, Role::Dim);
    let spans = match &view.proposal.change {
        Change::Save { base: None, .. } => {
            vec![cx.span("new file  ", Role::FileNew), added, Span::raw(" ")]
        }
        Change::Delete { .. } => {
            let words = cx.span("the whole file is deleted  ", Role::FileDelete);
            vec![words, removed, Span::raw(" ")]
        }
        Change::Insert { .. } => {
            let words = cx.span("insertion  ", Role::FileEdit);
            vec![words, added, Span::raw(" "), removed, hunks]
        }
        Change::Save { .. } => vec![added, Span::raw(" "), removed, hunks],
        Change::Flash(plan) => {
            let (count, bytes) = (plan.images.len(), line::bytes(plan.total_bytes()));
            let images = if count == 1 { "image" } else { "images" };
            let mut text = format!("{count} {images} · {bytes} ");
            if view.decision.is_none() {
                text.push_str(&built(plan.built_at, cx));
            }
            vec![cx.span(text, Role::Dim)]
        }
        Change::Erase(plan) => {
            let bytes = plan.region.as_ref().map(|region| line::bytes(u64::from(region.bytes)));
            let text = bytes.unwrap_or_else(|| "the whole flash".to_owned());
            vec![cx.span(format!("{text} is lost permanently "), Role::FileDelete)]
        }
        Change::Read(plan) => {
            let text = format!("{} into a new file ", line::bytes(plan.region.bytes.into()));
            vec![cx.span(text, Role::FileNew)]
        }
        Change::Nvs(plan) => {
            let (new, changed, gone) = plan.counts();
            [
                (new, "new", Role::FileNew),
                (changed, "changed", Role::Dim),
                (gone, "removed", Role::FileDelete),
            ]
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, what, role)| cx.span(format!("{count} {what} "), role))
            .collect()
        }
        Change::Send(plan) => {
            let text = format!("{} ", line::bytes(plan.text.len() as u64));
            vec![cx.span(text, Role::Dim)]
        }
    };
    Line::from(spans)
}

fn plain(text: String, style: Style) -> HeadRow {
    HeadRow { left: Line::styled(text, style), right: Line::default() }
}
