//! The last rows of the review: what can be decided, or what came of it, in words.
//!
//! Must not say that something is done before it is.

use ratatui::text::{Line, Span};

use crate::model::{Change, DecidedBy, Decision as Recorded, Outcome, Timestamp, Verdict};
use crate::text::sanitize;
use crate::ui::action::{Action, KeyContext};
use crate::ui::line;
use crate::ui::pane::{Cx, Decides, Keys, Mode};
use crate::ui::panes::wrap::wrap_words;
use crate::ui::role::Role;
use crate::view::{ProposalView, rule_words};

use super::decision::{Decision, Obstacle};

/// Cells of the bar of a flash.
const BAR: u64 = 20;

/// The last rows.
pub(super) fn foot(decision: &Decision<'_>, width: usize, cx: &Cx<'_>) -> Vec<Line<'static>> {
    let view = decision.view;
    if let Some((recorded, at)) = &view.decision {
        return came_of_it(view, recorded, *at, width, cx);
    }
    if let Some(outcome) = &view.outcome {
        return wrapped(&[outcome_words(&view.proposal.change, outcome)], width, cx);
    }
    let (text, role) = match decision.obstacle {
        Some(Obstacle::Replay) => ("waiting · this is a replay, nothing can be decided", Role::Dim),
        Some(Obstacle::BrokenOff) => {
            ("waits here · the run stopped unexpectedly, nothing can be decided", Role::Dim)
        }
        Some(Obstacle::Sent(_)) => ("sending your decision…", Role::Busy),
        Some(Obstacle::Nothing | Obstacle::Decided(_)) => return Vec::new(),
        None => {
            let rows = steady_keys(decision, width, cx);
            return match cx.keys {
                Keys::Here => rows,
                Keys::Elsewhere => keys_elsewhere(rows.len(), cx),
            };
        }
    };
    wrapped(&[(text.to_owned(), role)], width, cx)
}

/// While the keys go elsewhere none of them decides here. As many rows, so that nothing moves.
fn keys_elsewhere(rows: usize, cx: &Cx<'_>) -> Vec<Line<'static>> {
    let badge = cx.span(" waits for your decision ", Role::Waiting);
    let mut lines = vec![Line::from(vec![Span::raw(" "), badge])];
    lines.resize(rows.max(1), Line::default());
    lines
}

/// The keys in as many rows as they take once every line was on screen: rows that came then would hide a
/// line that was there for a moment only.
fn steady_keys(decision: &Decision<'_>, width: usize, cx: &Cx<'_>) -> Vec<Line<'static>> {
    let unseen = decision.change().unseen_elsewhere();
    let mut rows = keys(decision, unseen, width, cx);
    if unseen > 0 {
        let later = keys(decision, 0, width, cx).len();
        rows.resize(rows.len().max(later), Line::default());
    }
    rows
}

/// Which key decides what, with so many lines that were not on screen. In the first moment, while keys
/// are dead, all of it stands back.
fn keys(decision: &Decision<'_>, unseen: usize, width: usize, cx: &Cx<'_>) -> Vec<Line<'static>> {
    let change = decision.change();
    let (badge, key_role, help_role) = match cx.decides {
        Decides::Now => (Role::Waiting, Role::Key, Role::KeyHelp),
        Decides::NotYet => (Role::Dim, Role::Dim, Role::Dim),
    };
    let what = match (decision.picked, change.body()) {
        (Some(picked), Some(body)) => format!(
            " approves {} of {} ",
            picked.picked().len(),
            line::counted(body.changed().count(), "changed line", "changed lines")
        ),
        _ if change.load.is_reading() => " still being read ".to_owned(),
        _ if decision.own.is_checking() => " checking your edit… ".to_owned(),
        _ if decision.edit().is_some() => " your edit ".to_owned(),
        // The keys for lines out of sight need the room.
        _ if unseen > 0 => " decide ".to_owned(),
        _ => " your decision ".to_owned(),
    };
    let mut used = line::width(&what) + 1;
    let mut rows = vec![vec![Span::raw(" "), cx.span(what, badge)]];
    for (action, words) in decision.choices_with(unseen, cx) {
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
            row.push(cx.span(format!("  {key}"), key_role));
            row.push(cx.span(format!(" {words}"), help_role));
        }
    }
    rows.into_iter().map(Line::from).collect()
}

/// Words with their role.
type Words = (String, Role);

fn came_of_it(
    view: &ProposalView,
    decision: &Recorded,
    at: Timestamp,
    width: usize,
    cx: &Cx<'_>,
) -> Vec<Line<'static>> {
    let when = line::clock(at.millis_since(cx.view.started_at));
    let by = match &decision.by {
        DecidedBy::Person => "by you".to_owned(),
        DecidedBy::Policy(rule) => format!("by rule \"{}\"", sanitize::line(rule_words(rule))),
        DecidedBy::Nobody(why) => line::clean(why),
    };
    let mut words: Vec<Words> = Vec::new();
    match &decision.verdict {
        verdict if verdict.is_approval() => {
            words.push((format!("{} {by} {when}", verdict.label()), Role::Dim));
            if decision.unseen > 0 {
                let unseen = usize::try_from(decision.unseen).unwrap_or(usize::MAX);
                let lines = line::counted(unseen, "line", "lines");
                words.push((format!("{lines} unseen"), Role::Warn));
            }
        }
        _ if matches!(decision.by, DecidedBy::Nobody(_)) => {
            words.push((format!("not decided {when} · {by}"), Role::Warn));
        }
        verdict => words.push((format!("{} {by} {when}", verdict.label()), Role::Error)),
    }
    let words_of_verdict = sanitize::line(decision.verdict.words().trim());
    if !words_of_verdict.is_empty() {
        words.push((format!("“{words_of_verdict}”"), Role::Text));
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
        Outcome::Stale { found } => {
            let why = match found {
                _ if matches!(change, Change::Nvs(_)) => {
                    "the board's content changed since it was shown".to_owned()
                }
                Some(hash) => format!("the file had changed since (now {})", hash.short()),
                None => "the file was gone".to_owned(),
            };
            (format!("✗ not done: {why}"), Role::Error)
        }
        Outcome::Failed(error) => {
            let dot = if error.fix.is_empty() { "" } else { " · " };
            let [what, why, fix] =
                [&error.what, &error.why, &error.fix].map(|text| line::clean(text));
            (format!("✗ {what}: {why}{dot}{fix}"), Role::Error)
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
                row.push(cx.span(" · ", Role::Dim));
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
                row.push(cx.span(part, *role));
            }
        }
    }
    rows.into_iter().map(Line::from).collect()
}
