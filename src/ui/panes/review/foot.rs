//! The last rows of the review: what can be decided, or what came of it, in words.
//!
//! Must not say that something is done before it is.

use ratatui::text::{Line, Span};

use crate::model::{Change, DecidedBy, Decision, Outcome, Proposal, Timestamp, Verdict};
use crate::text::sanitize;
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::{Cx, Decides, Keys, Mode};
use crate::ui::panes::wrap::wrap_words;
use crate::ui::role::Role;
use crate::view::{ProposalView, RunState, rule_words};

use super::ReviewPane;
use super::deciding::{first_stop, is_stopped};
use super::edited::VersionCheck;
use super::select::PickedLines;
use super::shown::Shown;

/// Cells of the bar of a flash.
const BAR: u64 = 20;

/// The last rows.
pub(super) fn foot(
    pane: &ReviewPane,
    view: &ProposalView,
    shown: Option<&Shown>,
    width: usize,
    cx: &Cx<'_>,
) -> Vec<Line<'static>> {
    if let Some((decision, at)) = &view.decision {
        return came_of_it(view, decision, *at, width, cx);
    }
    if let Some(outcome) = &view.outcome {
        return wrapped(&[outcome_words(&view.proposal.change, outcome)], width, cx);
    }
    if cx.mode == Mode::Replay {
        let text = "waiting · this is a replay, nothing can be decided".to_owned();
        return wrapped(&[(text, Role::Dim)], width, cx);
    }
    if matches!(cx.view.head.state, RunState::BrokenOff(_)) {
        let text = "waits here · the run stopped unexpectedly, nothing can be decided".to_owned();
        return wrapped(&[(text, Role::Dim)], width, cx);
    }
    if pane.queue.is_sent(view.proposal.id) {
        return vec![Line::styled(" sending your decision…", cx.style(Role::Busy))];
    }
    let Some(shown) = shown else { return Vec::new() };
    let rows = keys(view, shown, pane.selection_of(view.proposal.id), width, cx);
    match cx.keys {
        Keys::Here => rows,
        Keys::Elsewhere => keys_elsewhere(rows.len(), cx),
    }
}

/// While the keys go elsewhere none of them decides here. As many rows, so that nothing moves.
fn keys_elsewhere(rows: usize, cx: &Cx<'_>) -> Vec<Line<'static>> {
    let badge = Span::styled(" waits for your decision ", cx.style(Role::Waiting));
    let mut lines = vec![Line::from(vec![Span::raw(" "), badge])];
    lines.resize(rows.max(1), Line::default());
    lines
}

/// Which key decides what. In the first moment, while keys are dead, all of it stands back.
fn keys(
    view: &ProposalView,
    shown: &Shown,
    selection: Option<&PickedLines>,
    width: usize,
    cx: &Cx<'_>,
) -> Vec<Line<'static>> {
    let is_awake = cx.decides == Decides::Now;
    let (badge, key_role, help_role) = if is_awake {
        (Role::Waiting, Role::Key, Role::KeyHelp)
    } else {
        (Role::Dim, Role::Dim, Role::Dim)
    };
    let what = match (selection, shown.body()) {
        (Some(selection), Some(body)) => format!(
            " approves {} of {} changed lines ",
            selection.picked().len(),
            body.changed().count()
        ),
        _ if shown.is_reading() => " still being read ".to_owned(),
        _ if is_checking(shown) => " checking your edit… ".to_owned(),
        _ if shown.own.is_some() => " your edit ".to_owned(),
        // The keys for lines out of sight need the room.
        _ if shown.unseen_elsewhere() > 0 => " decide ".to_owned(),
        _ => " your decision ".to_owned(),
    };
    let mut used = line::width(&what) + 1;
    let mut rows = vec![vec![Span::raw(" "), Span::styled(what, cx.style(badge))]];
    for (action, words) in choices(view, shown, selection, cx) {
        let context = match action.home() {
            KeyContext::Select => KeyContext::Select,
            _ => KeyContext::Review,
        };
        let key = cx.key(context, action);
        let columns = line::width(&key) + line::width(&words) + 3;
        if used + columns >= width {
            rows.push(vec![Span::raw(" ")]);
            used = 1;
        }
        used += columns;
        if let Some(row) = rows.last_mut() {
            row.push(Span::styled(format!("  {key}"), cx.style(key_role)));
            row.push(Span::styled(format!(" {words}"), cx.style(help_role)));
        }
    }
    rows.into_iter().map(Line::from).collect()
}

/// What can be done now: just these keys work.
pub(super) fn choices(
    view: &ProposalView,
    shown: &Shown,
    selection: Option<&PickedLines>,
    cx: &Cx<'_>,
) -> Vec<(Action, String)> {
    let words = |action: Action| (action, action.hint().to_owned());
    if shown.is_reading() || shown.error().is_some() {
        return [Action::Reject, Action::Ask].map(words).into();
    }
    if let Some(selection) = selection {
        return while_picking(shown, selection);
    }
    if shown.own.is_some() {
        return of_edit(view, shown);
    }
    let (unseen, proposal) = (shown.unseen_elsewhere(), &view.proposal);
    let is_stopped = is_stopped(proposal);
    let mut choices = Vec::new();
    if unseen > 0 {
        choices.push((Action::Approve, format!("show {unseen} unseen")));
        choices.push(words(Action::Reject));
        if !is_stopped {
            choices.push(words(Action::ApproveUnseen));
        }
    } else if is_stopped {
        choices.push(words(Action::Reject));
        choices.push((Action::ApproveDespite, approve_although(proposal)));
    } else {
        choices.extend([Action::Approve, Action::Reject].map(words));
    }
    if proposal.change.after().is_some() && shown.first_changed().is_some() {
        choices.push(words(Action::PickLines));
        choices.extend((unseen == 0).then(|| words(Action::Edit)));
    }
    if unseen == 0 && !is_stopped && proposal.phrase().is_none() {
        choices.push((Action::ApproveTell, "approve + tell".to_owned()));
    }
    choices.push((Action::Ask, "ask".to_owned()));
    let batch = proposal.batch.id;
    let waiting = cx.view.review.waiting().filter(|w| w.proposal.batch.id == batch).count();
    if waiting > 1 {
        choices.push((Action::ApproveRest, format!("list all {waiting} of this batch")));
    }
    choices
}

/// Whether it is the person's version, and what is in it is not known yet.
fn is_checking(shown: &Shown) -> bool {
    shown.version_check() == Some(&VersionCheck::Running)
}

/// What can be done with the person's own version.
fn of_edit(view: &ProposalView, shown: &Shown) -> Vec<(Action, String)> {
    let (unseen, is_stopped) = (shown.unseen_elsewhere(), is_stopped(&view.proposal));
    let mut choices = Vec::new();
    if shown.version_check() != Some(&VersionCheck::Done) {
        // Nothing can be decided before it was checked.
    } else if unseen > 0 {
        choices.push((Action::Approve, format!("show {unseen} unseen")));
        choices.extend((!is_stopped).then(|| (Action::ApproveUnseen, "approve unseen".to_owned())));
    } else if is_stopped {
        choices.push((Action::ApproveDespite, approve_although(&view.proposal)));
    } else {
        choices.push((Action::Approve, "approve your edit".to_owned()));
    }
    choices.push((Action::Edit, "edit further".to_owned()));
    choices.push((Action::Back, "set aside".to_owned()));
    choices
}

/// What can be done while lines are picked.
fn while_picking(shown: &Shown, selection: &PickedLines) -> Vec<(Action, String)> {
    let words = |action: Action| (action, action.hint().to_owned());
    let mut choices = Vec::new();
    if !selection.picked().is_empty() {
        choices.push(words(Action::ApprovePicked));
    }
    choices.extend(
        [Action::ToggleLine, Action::ToggleSingle, Action::ToggleHunk, Action::ToggleAll]
            .map(words),
    );
    if shown.unseen_elsewhere() == 0 {
        choices.push((Action::Edit, "preview and edit".to_owned()));
    }
    choices.extend([Action::Comment, Action::Ask, Action::Back].map(words));
    choices
}

/// Which findings the key passes over.
fn approve_although(proposal: &Proposal) -> String {
    let first = first_stop(proposal).unwrap_or_default();
    match proposal.stops() {
        0 | 1 => format!("approve although it {first}"),
        stops => format!("approve although it {first}, and {} more", stops - 1),
    }
}

/// Words with their role.
type Words = (String, Role);

fn came_of_it(
    view: &ProposalView,
    decision: &Decision,
    at: Timestamp,
    width: usize,
    cx: &Cx<'_>,
) -> Vec<Line<'static>> {
    let when = line::clock(at.millis_since(cx.view.started_at));
    let by = match &decision.by {
        DecidedBy::Person => "by you".to_owned(),
        DecidedBy::Policy(rule) => format!("by rule \"{}\"", sanitize::line(rule_words(rule))),
        DecidedBy::Nobody(why) => format!("by nobody: {}", sanitize::line(why)),
    };
    let mut words: Vec<Words> = Vec::new();
    match &decision.verdict {
        verdict if verdict.is_approval() => {
            words.push((format!("{} {by} {when}", verdict.label()), Role::Dim));
            if decision.unseen > 0 {
                words.push((format!("{} lines unseen", decision.unseen), Role::Warn));
            }
        }
        verdict => words.push((format!("{} {by} {when}", verdict.label()), Role::Error)),
    }
    let said = sanitize::line(decision.verdict.words().trim());
    if !said.is_empty() {
        words.push((format!("“{said}”"), Role::Text));
    }
    let undone = view.undone_by.iter().rev().find(|id| {
        let by = cx.view.review.get(**id);
        by.is_some_and(|by| by.outcome == Some(Outcome::Applied))
    });
    match (&view.outcome, &decision.verdict) {
        (Some(Outcome::Denied), Verdict::Reject { .. }) => {}
        (Some(outcome), _) => words.push(outcome_words(&view.proposal.change, outcome)),
        (None, Verdict::Reject { .. }) => {}
        (None, _) => words.push(under_way(view)),
    }
    if let Some(by) = undone {
        words.push((format!("undone by #{by}"), Role::Warn));
    } else if cx.mode == Mode::Live && cx.view.review.can_undo(view.proposal.id) {
        let key = cx.key(KeyContext::Review, Action::Undo);
        words.push((format!("{key} undoes it"), Role::Dim));
    }
    wrapped(&words, width, cx)
}

fn under_way(view: &ProposalView) -> Words {
    let text = match (&view.proposal.change, view.progress) {
        (Change::Flash(_) | Change::Nvs(_), Some((done, total))) => {
            let share = |of: u64| done.min(total).saturating_mul(of) / total.max(1);
            let full = usize::try_from(share(BAR)).unwrap_or(0);
            let bar = format!("{}{}", "━".repeat(full), "╌".repeat(BAR as usize - full));
            format!("writing {bar} {} % of {}", share(100), line::bytes(total))
        }
        (Change::Flash(_), None) => "connecting…".to_owned(),
        (Change::Erase(_), _) => "erasing…".to_owned(),
        (Change::Send(_), _) => "sending…".to_owned(),
        (Change::Read(_), _) => "reading…".to_owned(),
        (Change::Nvs(_), None) => "reading the settings…".to_owned(),
        (Change::Save { .. } | Change::Insert { .. } | Change::Delete { .. }, _) => {
            "applying…".to_owned()
        }
    };
    (text, Role::Busy)
}

fn outcome_words(change: &Change, outcome: &Outcome) -> Words {
    let done = match change {
        Change::Save { base: None, .. } => "file created",
        Change::Save { .. } => "file saved",
        Change::Insert { .. } => "inserted and saved",
        Change::Delete { .. } => "file deleted",
        Change::Flash(_) => "flashed",
        Change::Erase(_) => "erased",
        Change::Send(_) => "sent",
        Change::Read(_) => "read and saved",
        Change::Nvs(_) => "settings changed",
    };
    match outcome {
        Outcome::Applied => (format!("✓ {done}"), Role::Ok),
        Outcome::Denied => ("not done".to_owned(), Role::Dim),
        Outcome::Stale { .. } if matches!(change, Change::Nvs(_)) => {
            let text = "✗ not done: the board's content changed since it was shown";
            (text.to_owned(), Role::Error)
        }
        Outcome::Stale { found: Some(hash) } => {
            let text = format!("✗ not done: the file had changed since (now {})", hash.short());
            (text, Role::Error)
        }
        Outcome::Stale { found: None } => ("✗ not done: the file was gone".to_owned(), Role::Error),
        Outcome::Failed(error) => {
            let mut text =
                format!("✗ {}: {}", sanitize::line(&error.what), sanitize::line(&error.why));
            if !error.fix.is_empty() {
                text = format!("{text} · {}", sanitize::line(&error.fix));
            }
            (text, Role::Error)
        }
        Outcome::Interrupted(found) => {
            (format!("! interrupted: {}", sanitize::line(found)), Role::Warn)
        }
    }
}

/// Words one after the other with ` · ` between, on as many rows as they need.
fn wrapped(words: &[Words], width: usize, cx: &Cx<'_>) -> Vec<Line<'static>> {
    let width = width.saturating_sub(2).max(4);
    let mut rows: Vec<Vec<Span<'static>>> = vec![vec![Span::raw(" ")]];
    let mut used = 0;
    for (place, (text, role)) in words.iter().enumerate() {
        let between = if place > 0 { 3 } else { 0 };
        if used + between + line::width(text) <= width {
            if let (Some(row), true) = (rows.last_mut(), place > 0) {
                row.push(Span::styled(" · ", cx.style(Role::Dim)));
            }
            used += between;
        } else if used > 0 {
            rows.push(vec![Span::raw(" ")]);
            used = 0;
        }
        for (nth, part) in wrap_words(text, width - used).into_iter().enumerate() {
            if nth > 0 {
                rows.push(vec![Span::raw(" ")]);
                used = 0;
            }
            used += line::width(&part);
            if let Some(row) = rows.last_mut() {
                row.push(Span::styled(part, cx.style(*role)));
            }
        }
    }
    rows.into_iter().map(Line::from).collect()
}
