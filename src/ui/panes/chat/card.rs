//! Entries other than turns: phases, choices, the person's words, questions, notices, the end.

use crate::model::event::{Level, RunStart};
use crate::model::{PhaseOutcome, SessionOutcome, Timestamp, UserError};
use crate::text::sanitize;
use crate::ui::line;
use crate::ui::markdown::{MarkdownDocument, StyledText, wrap};
use crate::ui::role::Role;
use crate::view::{
    ChatEntry, FileNames, FilePlan, PlannedFile, PlannedState, Ruled, RuledView, RunWork, summary,
};

use super::fact;
use super::row::{EntryRow, RowContext, indented, marked, plain};

/// The rows of an entry that is no turn.
pub(super) fn lay_out(entry: &ChatEntry, place: &RowContext<'_>) -> Vec<EntryRow> {
    match entry {
        ChatEntry::Turn(_) => Vec::new(),
        ChatEntry::PhaseStarted { title, attempt, max_attempts, at } => {
            vec![phase_started(title, (*attempt, *max_attempts), *at, place)]
        }
        ChatEntry::PhaseEnded { phase, attempt, outcome } => match outcome {
            PhaseOutcome::Succeeded(condition) => {
                marked("✓", Role::Ok, &format!("{phase}: {condition}"), Role::Dim, place)
            }
            PhaseOutcome::Failed(why) => {
                let text = format!("{phase}, attempt {attempt}: {why}");
                marked("✗", Role::Error, &text, Role::Dim, place)
            }
            PhaseOutcome::Stopped => {
                let text = format!("the phase `{phase}` was stopped");
                marked("■", Role::Warn, &text, Role::Dim, place)
            }
        },
        ChatEntry::Choice { agent, reason } => {
            // The reason often names the agent already.
            let is_named = reason.contains(agent.as_str());
            let lead = if is_named { String::new() } else { format!("{agent}: ") };
            marked("→", Role::Dim, &format!("{lead}{reason}"), Role::Dim, place)
        }
        ChatEntry::RunStarted { start, at } => run_started(start, *at, place),
        ChatEntry::Person { to, text, at } => {
            let to = to.as_ref().map_or(String::new(), |to| format!(" to @{to}"));
            let name = line::cut(&format!("You{to}"), place.width.saturating_sub(12));
            let head = EntryRow::new(vec![
                StyledText::new("◆ ", Role::Person),
                StyledText::new(name, Role::Person),
            ]);
            let mut rows = vec![head.with_right(StyledText::new(place.time(*at), Role::Dim))];
            rows.extend(indented(text, Role::Text, place));
            rows
        }
        ChatEntry::Question { agent, text, options, answer, .. } => {
            let who = agent.as_ref().map_or("firmhand".to_owned(), ToString::to_string);
            question(&who, text, options, answer.as_deref(), place)
        }
        ChatEntry::Fact { fact, at } => fact::rows(fact, *at, place),
        ChatEntry::Notice { level, notice } => notice_rows(*level, notice, place),
        ChatEntry::Ruled(ruled) => ruled_rows(ruled, place),
        ChatEntry::FilePlan(plan) => plan_rows(plan, place),
        ChatEntry::Resumed { at } => {
            vec![rule("opened again", &place.time(*at), Role::Title, place)]
        }
        ChatEntry::Ended { outcome, work } => {
            let undone = work.as_ref().map_or(0, |work| work.left_undone().count());
            let mut rows = ended_rows(outcome, undone, place);
            rows.extend(work.iter().flat_map(|work| work_rows(work, place)));
            rows
        }
    }
}

/// A phase, and which attempt of how many it is.
fn phase_started(
    title: &str,
    (attempt, most): (u32, u32),
    at: Timestamp,
    place: &RowContext<'_>,
) -> EntryRow {
    let attempt = match most {
        0 | 1 => String::new(),
        most => format!(", attempt {attempt}/{most}"),
    };
    rule(&format!("{title}{attempt}"), &place.time(at), Role::Heading, place)
}

/// What the person asked for next.
fn run_started(start: &RunStart, at: Timestamp, place: &RowContext<'_>) -> Vec<EntryRow> {
    let words = format!("request {}", start.number);
    let mut rows = vec![rule(&words, &place.time(at), Role::Title, place)];
    rows.push(EntryRow::new(vec![StyledText::new("◆ You", Role::Person)]));
    rows.extend(indented(&start.task, Role::Text, place));
    let why = if start.why.is_empty() { String::new() } else { format!(": {}", start.why) };
    rows.extend(indented(&format!("team {}{why}", start.team), Role::Dim, place));
    rows
}

/// How the run ended; `undone`: how much of what was approved could not be done.
fn ended_rows(outcome: &SessionOutcome, undone: usize, place: &RowContext<'_>) -> Vec<EntryRow> {
    match outcome {
        SessionOutcome::Completed if undone > 0 => {
            let changes = line::counted(undone, "change", "changes");
            let words = format!("completed, but {changes} could not be made");
            vec![rule(&words, "", Role::Warn, place)]
        }
        SessionOutcome::Completed => vec![rule("completed", "", Role::Ok, place)],
        SessionOutcome::Stopped => vec![rule("stopped", "", Role::Warn, place)],
        SessionOutcome::Failed(error) => {
            let mut rows = vec![rule("failed", "", Role::Error, place)];
            rows.extend(notice_rows(Level::Error, error, place));
            rows
        }
    }
}

/// What a run came to.
fn work_rows(work: &RunWork, place: &RowContext<'_>) -> Vec<EntryRow> {
    let lines = summary(work, FileNames::Few);
    let row = |(about, text): (&str, String)| {
        let first = [StyledText::new(format!("  {about:<11}"), Role::Dim)];
        let rest = [StyledText::new(" ".repeat(13), Role::Text)];
        let pieces = [StyledText::new(sanitize::line(&text), Role::Text)];
        wrap(&pieces, place.width.saturating_sub(1), &first, &rest)
    };
    lines.into_iter().flat_map(row).map(plain).collect()
}

/// What a rule decided, or left to the person.
fn ruled_rows(ruled: &RuledView, place: &RowContext<'_>) -> Vec<EntryRow> {
    let (mark, role, text) = match ruled.ruled {
        Ruled::Done => ("✓", Role::Ok, Role::Dim),
        Ruled::Refused | Ruled::NotDone => ("✗", Role::Error, Role::Dim),
        Ruled::LeftToPerson(_) => ("!", Role::Warn, Role::Warn),
    };
    marked(mark, role, &ruled.sentence(), text, place)
}

/// The plan as a list that is ticked off.
fn plan_rows(plan: &FilePlan, place: &RowContext<'_>) -> Vec<EntryRow> {
    let count = format!("{}/{} written", plan.done(), plan.files.len());
    let head = EntryRow::new(vec![StyledText::new("  Files of the plan", Role::Heading)]);
    let mut rows = vec![head.with_right(StyledText::new(count, Role::Dim))];
    let is_stated = fact::stated_before(plan.files.iter().map(|file| file.path.as_str()), place);
    // Named just above: what became of them is still to be told.
    let is_news = |file: &&PlannedFile| !is_stated || file.state != PlannedState::Open;
    for file in plan.files.iter().filter(is_news) {
        let (role, text) = match file.state {
            PlannedState::Open => (Role::Dim, Role::Text),
            PlannedState::Proposed => (Role::Warn, Role::Text),
            PlannedState::Refused => (Role::Error, Role::Text),
            PlannedState::Done => (Role::Ok, Role::Dim),
        };
        let space = place.width.saturating_sub(6);
        let path = line::cut_start(file.path.as_str(), space);
        let left = space.saturating_sub(line::width(&path) + 3);
        let mut pieces = vec![
            StyledText::new(format!("  {} ", file.state.sign()), role),
            StyledText::new(path, text),
        ];
        if left >= 8 {
            let purpose = line::cut(&file.purpose, left);
            pieces.push(StyledText::new(format!("  {purpose}"), Role::Dim));
        }
        rows.push(EntryRow::new(pieces));
    }
    rows
}

/// A rule over the whole width with words in it.
fn rule(words: &str, right: &str, role: Role, place: &RowContext<'_>) -> EntryRow {
    let right_width = if right.is_empty() { 0 } else { line::width(right) + 1 };
    let words = line::cut(words, place.width.saturating_sub(right_width + 8));
    let used = 4 + line::width(&words) + right_width + 1;
    let fill = "─".repeat(place.width.saturating_sub(used));
    let row = EntryRow::new(vec![
        StyledText::new("── ", Role::Border),
        StyledText::new(words, role),
        StyledText::new(format!(" {fill}"), Role::Border),
    ]);
    if right.is_empty() { row } else { row.with_right(StyledText::new(right, Role::Dim)) }
}

fn question(
    who: &str,
    text: &str,
    options: &[String],
    answer: Option<&str>,
    place: &RowContext<'_>,
) -> Vec<EntryRow> {
    let role = if answer.is_none() { Role::Warn } else { Role::Dim };
    let mut rows = vec![EntryRow::new(vec![
        StyledText::new("? ", role),
        StyledText::new(line::cut(&format!("{who} asks"), place.width.saturating_sub(3)), role),
    ])];
    let mut document = MarkdownDocument::new(place.text_width());
    document.update(text);
    rows.extend((0..document.rows()).map(|index| {
        let mut row = document.row(text, index);
        row.pieces.insert(0, StyledText::new("  ", Role::Text));
        plain(row)
    }));
    for (number, option) in options.iter().enumerate() {
        let is_chosen = answer == Some(option.as_str());
        let (key, words) = match answer {
            None => (Role::Key, Role::Strong),
            Some(_) if is_chosen => (Role::Ok, Role::Text),
            Some(_) => (Role::Faint, Role::Dim),
        };
        let mark = if is_chosen { "✓".to_owned() } else { (number + 1).to_string() };
        rows.extend(marked(&format!("  {mark} "), key, option, words, place));
    }
    match answer {
        Some(answer) if !options.iter().any(|option| option == answer) => {
            rows.extend(marked("  ✓ ", Role::Ok, answer, Role::Text, place));
        }
        Some(_) => {}
        None => {
            let what = if options.is_empty() { "the run" } else { "this" };
            rows.extend(indented(&format!("{what} waits for your answer"), Role::Dim, place));
        }
    }
    rows
}

fn notice_rows(level: Level, notice: &UserError, place: &RowContext<'_>) -> Vec<EntryRow> {
    let (mark, role) = match level {
        Level::Info => ("·", Role::Dim),
        Level::Warning => ("!", Role::Warn),
        Level::Error => ("✗", Role::Error),
    };
    let colon = if notice.why.is_empty() { "" } else { ": " };
    let text = format!("{}{colon}{}", notice.what, notice.why);
    let mut rows = marked(mark, role, &text, role, place);
    if !notice.fix.is_empty() {
        rows.extend(indented(&notice.fix, Role::Dim, place));
    }
    rows
}
